"""What tests cost in NumPy, and the budget of those without sampling, by the table of `run.costs`."""

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
"""Nominal seconds that method="auto" spends on the exact tests of an evaluation."""
EXACT_BUDGET = 600.0
"""The same for an exact method asked for by name."""
_FEW_COLUMNS = 6
"""Up to this many columns are added up as masks are drawn."""


def exact_budget(settings: Settings) -> float:
    """Nominal seconds that the exact tests of an evaluation may take."""
    if settings.budget is not None:
        return settings.budget
    return EXACT_BUDGET if settings.method in ("exact", "dp", "tree") else AUTO_BUDGET


def free_seconds(settings: Settings) -> float:
    """Nominal seconds up to which an exact test is not charged: what sampling costs, unless a limit was given."""
    limited = settings.method != "auto" or settings.budget is not None or settings.resamples == "auto"
    return 0.0 if limited else (SAMPLED_PAIR * settings.fixed_resamples).seconds


def over_budget(costs: dict[Pair, Cost], settings: Settings) -> dict[Pair, NotEligible]:
    """The pairs beyond the budget, which pays for the cheapest exact tests first."""
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
    """What NumPy takes to swap so many pairs."""
    num_systems, num_units, num_stats = problem.units.values.shape
    # Where outputs or runs are exchanged, those of both systems are chosen one by one, which takes about as long
    # as counting draws.
    one_by_one = problem.exchanges != "units"
    width = 2 * _num_outputs(problem) // (num_units if problem.exchanges == "runs" else 1) if one_by_one else num_units
    columns, scored = num_systems * num_stats, num_pairs * num_stats
    if problem.studentizes:  # a column per product, and two scores more per statistic
        columns, scored = columns + scored * num_stats, scored * (2 * num_stats + 1)
    return numpy_cost(
        resamples=problem.settings.fixed_resamples,
        units=width,
        columns=columns,
        scored=scored,
        counted=one_by_one,
    )


def draw_cost(problem: SumsProblem) -> Cost:
    """What NumPy takes to draw all systems."""
    num_systems, num_units, num_stats = problem.units.values.shape
    width = num_units + (_num_outputs(problem) if problem.draws == "outputs" else 0)
    columns = num_systems * num_stats
    return numpy_cost(
        resamples=problem.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=True
    )


def _num_outputs(problem: SumsProblem) -> int:
    return 0 if problem.units.outputs is None else int(problem.units.outputs.sizes.sum())


def numpy_cost(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> Cost:
    """What NumPy takes, from the costs of its parts.

    `columns` of statistics are multiplied with weights of `units`, `scored` statistics a resample enter scores, and
    `counted` tells bootstrap counts from swap masks.
    """
    masked = MASKED_UNIT_OF_FEW_COLUMNS if columns <= _FEW_COLUMNS else MASKED_UNIT
    weights = COUNTED_UNIT if counted else masked
    return resamples * (RESAMPLE + units * (weights + WEIGHTED_NUMBER * columns) + SCORED_STATISTIC * scored)
