"""The cost of tests in NumPy, and the budget of tests without sampling, by the table in `run.costs`."""

from __future__ import annotations

from sigjax.exact.lattice import NotEligible
from sigjax.exact.plans import Pair
from sigjax.records import Settings
from sigjax.run.costs import (
    COUNTED_UNIT,
    MASKED_UNIT,
    MASKED_UNIT_OF_FEW_COLUMNS,
    RESAMPLE,
    SAMPLED_PAIR,
    SCORED_STATISTIC,
    WEIGHTED_NUMBER,
    Cost,
)
from sigjax.testing.problem import NotExact, SumsProblem

AUTO_BUDGET = 10.0
"""Nominal seconds that method="auto" may spend on the exact tests of an evaluation."""
EXACT_BUDGET = 600.0
"""Nominal seconds for an exact method that the user chose."""
_FEW_COLUMNS = 6
"""Up to this many columns are added up while masks are drawn."""


def exact_budget(settings: Settings) -> float:
    """Nominal seconds that the exact tests of an evaluation may take."""
    if settings.budget is not None:
        return settings.budget
    return EXACT_BUDGET if settings.method in ("exact", "dp", "tree") else AUTO_BUDGET


def free_seconds(settings: Settings) -> float:
    """Nominal seconds that an exact test may take without charge: the cost of sampling, unless the user set a limit."""
    limited = settings.method != "auto" or settings.budget is not None or settings.resamples == "auto"
    return 0.0 if limited else (SAMPLED_PAIR * settings.fixed_resamples).seconds


def over_budget(costs: dict[Pair, Cost], settings: Settings) -> dict[Pair, NotEligible]:
    """The pairs that exceed the budget, which pays for the cheapest exact tests first."""
    budget, seconds = exact_budget(settings), {pair: cost.seconds for pair, cost in costs.items()}
    refused: dict[Pair, NotEligible] = {}
    free, spent = free_seconds(settings), 0.0
    if sum(each for each in seconds.values() if each > free) <= budget:
        return refused
    for pair in sorted(seconds, key=lambda pair: seconds[pair]):
        spent += seconds[pair] if seconds[pair] > free else 0.0
        if spent <= budget:
            continue
        if settings.method != "auto":
            tests = "an exact test takes" if len(costs) == 1 else "the exact tests take"
            raise NotExact(pair, f"{tests} about {sum(seconds.values()):,.3g} s, over the budget of {budget:g} s")
        others = "" if seconds[pair] > budget else " with those of cheaper pairs"
        reason = f"an exact test takes about {seconds[pair]:,.2g} s,{others} over the budget of {budget:g} s"
        refused[pair] = NotEligible(reason)
    return refused


def swap_cost(problem: SumsProblem, num_pairs: int) -> Cost:
    """The cost of swapping so many pairs in NumPy."""
    num_systems, num_units, num_stats = problem.units.values.shape
    # If outputs or runs are exchanged, they are chosen for both systems one by one, which takes about as long as
    # counting draws.
    one_by_one = problem.exchanges != "units"
    width = 2 * _num_outputs(problem) // (num_units if problem.exchanges == "runs" else 1) if one_by_one else num_units
    columns, scored = num_systems * num_stats, num_pairs * num_stats
    if problem.studentizes:  # one column more per product, and two scores more per statistic
        columns, scored = columns + scored * num_stats, scored * (2 * num_stats + 1)
    return numpy_cost(
        resamples=problem.settings.fixed_resamples,
        units=width,
        columns=columns,
        scored=scored,
        counted=one_by_one,
    )


def draw_cost(problem: SumsProblem) -> Cost:
    """The cost of drawing all systems in NumPy."""
    num_systems, num_units, num_stats = problem.units.values.shape
    width = num_units + (_num_outputs(problem) if problem.draws == "outputs" else 0)
    columns = num_systems * num_stats
    return numpy_cost(
        resamples=problem.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=True
    )


def _num_outputs(problem: SumsProblem) -> int:
    return 0 if problem.units.outputs is None else int(problem.units.outputs.sizes.sum())


def numpy_cost(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> Cost:
    """The cost in NumPy, from the costs of its parts.

    `columns` of statistics are multiplied with weights of `units`; `scored` is the number of statistics per resample
    that enter scores; `counted` is true for bootstrap counts, false for swap masks.
    """
    masked = MASKED_UNIT_OF_FEW_COLUMNS if columns <= _FEW_COLUMNS else MASKED_UNIT
    weights = COUNTED_UNIT if counted else masked
    return resamples * (RESAMPLE + units * (weights + WEIGHTED_NUMBER * columns) + SCORED_STATISTIC * scored)
