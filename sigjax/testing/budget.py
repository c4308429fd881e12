"""How long tests take in NumPy, about, and the budget of those without sampling.

Seconds are nominal: numbers of operations times constants that were measured once. They depend on the size of the data,
not on the machine, and so do the tests that are chosen by them.
"""

from __future__ import annotations

from sigjax.exact.lattice import NotEligible
from sigjax.records import Settings
from sigjax.testing.problem import NotExact, Pair, SumsProblem

AUTO_BUDGET = 10.0
"""Nominal seconds that method="auto" spends on the exact tests of an evaluation."""
EXACT_BUDGET = 600.0
"""The same for an exact method asked for by name."""
RESAMPLE_SECONDS = 3e-9
"""Nominal, of one resample of one pair."""
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
    return 0.0 if limited else RESAMPLE_SECONDS * settings.fixed_resamples


def over_budget(costs: dict[Pair, float], settings: Settings) -> dict[Pair, NotEligible]:
    """The pairs beyond the budget, which pays for the cheapest exact tests first; costs are nominal seconds."""
    budget = exact_budget(settings)
    refused: dict[Pair, NotEligible] = {}
    free, spent = free_seconds(settings), 0.0
    if sum(cost for cost in costs.values() if cost > free) <= budget:
        return refused
    for pair in sorted(costs, key=lambda pair: costs[pair]):
        spent += costs[pair] if costs[pair] > free else 0.0
        if spent <= budget:
            continue
        if settings.method != "auto":
            tests = "an exact test takes" if len(costs) == 1 else "the exact tests take"
            raise NotExact(pair, f"{tests} about {sum(costs.values()):,.3g} s, over the budget of {budget:g} s")
        others = "" if costs[pair] > budget else " with those of cheaper pairs"
        reason = f"an exact test takes about {costs[pair]:,.2g} s,{others} over the budget of {budget:g} s"
        refused[pair] = NotEligible(reason)
    return refused


def swap_seconds(problem: SumsProblem, num_pairs: int) -> float:
    """About how long NumPy takes to swap so many pairs."""
    num_systems, num_units, num_stats = problem.units.values.shape
    # Where outputs or runs are exchanged, those of both systems are chosen one by one, which takes about as long
    # as counting draws.
    one_by_one = problem.exchanges != "units"
    width = 2 * _num_outputs(problem) // (num_units if problem.exchanges == "runs" else 1) if one_by_one else num_units
    columns, scored = num_systems * num_stats, num_pairs * num_stats
    if problem.studentizes:  # a column per product, and two scores more per statistic
        columns, scored = columns + scored * num_stats, scored * (2 * num_stats + 1)
    return numpy_seconds(
        resamples=problem.settings.fixed_resamples,
        units=width,
        columns=columns,
        scored=scored,
        counted=one_by_one,
    )


def draw_seconds(problem: SumsProblem) -> float:
    """About how long NumPy takes to draw all systems."""
    num_systems, num_units, num_stats = problem.units.values.shape
    width = num_units + (_num_outputs(problem) if problem.draws == "outputs" else 0)
    columns = num_systems * num_stats
    return numpy_seconds(
        resamples=problem.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=True
    )


def _num_outputs(problem: SumsProblem) -> int:
    return 0 if problem.units.outputs is None else int(problem.units.outputs.sizes.sum())


def numpy_seconds(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> float:
    """About how long NumPy takes, from the cost of its parts (measured, see benchmarks/README.md).

    `columns` of statistics are multiplied with weights of `units`, `scored` statistics a resample enter scores, and
    `counted` tells bootstrap counts from swap masks.
    """
    weights = 7e-9 if counted else 0.8e-9
    if columns <= _FEW_COLUMNS and not counted:
        weights = 0.3e-9
    return resamples * (0.15e-6 + units * (weights + 0.02e-9 * columns) + 6e-9 * scored)
