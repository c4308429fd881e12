"""The plan of an exact test, known before anything is computed: which algorithm a pair gets, what it costs, and why.

Costs are those of the table in `run.costs`. `plan_pairs` makes the plans, `planned_p` carries them out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from sigjax.exact.boards import NEAR, long_p, pair_p
from sigjax.exact.digits import PValue, nearest, reference_p, takes_more_digits, whole_outcomes, with_axis
from sigjax.exact.distributions import (
    EPSILON,
    MANY_COINS,
    dp_cost,
    dp_null,
    grid_lengths,
    tree_cost,
    tree_error,
    tree_null,
    windows,
)
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import (
    BOUNDS_WIDTH,
    MOST_COINS,
    Delta,
    Tail,
    Unsettled,
    bound_tail,
    bounded_p,
    choose_step,
    count_extreme,
    count_from,
    few_units,
    find_edges,
    full_p,
    signs_p,
    threshold_p,
)
from sigjax.exact.planes import plane_p
from sigjax.resample.extreme import Extreme
from sigjax.run import costs
from sigjax.run.costs import Cost, gib_of

_PATIENCE = 1.0
"""Nominal seconds that an exact value may take where bounds would be near enough."""
_BOX = 80.0
"""Exponent of the two-axis box whose cost is counted: that of a p-value near 1e-20."""
_LARGEST_STEP = 2**40
"""Differences beyond this are not exact in the arithmetic of a grid."""
_FEW_COINS = 16
"""Their signs are counted faster (0.2 ms) than their waves are added up (0.5 ms)."""
SMALLEST_DP = 1e-280
"""Below this, the dynamic program has lost probabilities to underflow."""

Pair = tuple[int, int]
"""(a, b), positions of two systems."""


class Scoring(NamedTuple):
    """What is asked of the sums of a pair."""

    delta: Delta
    """Differences of scores as a function of S."""
    criterion: Extreme
    """Which of them are extreme."""
    monotone: bool
    """Whether the score is a ratio of sums, as `exact.tails` asks."""


PairTest = Callable[[Lattice, Scoring], PValue | Unsettled | NotEligible]


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """How to test a pair exactly."""

    lattice: Lattice
    cost: Cost
    words: str
    """What the reason of the result says, with {} for the statistics that differ."""
    test: PairTest
    method: Literal["exact", "dp", "tree"] = "exact"


def plan_pairs(
    values: np.ndarray,
    pairs: Sequence[Pair],
    stat_names: tuple[str, ...],
    method: str,
    *,
    rounded: bool,
    num_bytes: float,
) -> dict[Pair, Plan | NotEligible]:
    """The plan of each of some pairs, from the statistics `[system, unit, stat]` (int64) of all systems.

    `method` is "dp", "tree", or anything else for the fastest; where the statistics are `rounded` reals, their lattice
    means nothing. `num_bytes` may be used.
    """
    plans: dict[Pair, Plan | NotEligible] = {}
    for a, b in pairs:
        plan = pair_lattice(values[a], values[b], stat_names)
        if isinstance(plan, Lattice):
            plan = plan_pair(plan, method, rounded=rounded, num_bytes=num_bytes)
        if method not in ("dp", "tree") and not (isinstance(plan, Plan) and plan.lattice.axes < 2):
            few = few_units(values[a], values[b])
            signs = few and _signs(few)  # where few units differ, all signs may be the cheapest
            cheaper = signs and (isinstance(plan, NotEligible) or signs.cost.seconds < plan.cost.seconds)
            plan = signs if signs and cheaper and signs.cost.num_bytes <= num_bytes else plan
        plans[a, b] = plan
    return plans


def plan_pair(lattice: Lattice, method: str, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The fastest algorithm that fits into memory; on one axis bounds, where exact values take too long or too much."""
    named = method in ("dp", "tree")
    if lattice.axes == 0:
        return Plan(lattice, Cost(), "no unit differs", _identical)
    if rounded and named:
        return NotEligible(f"the statistics are reals, held rounded; {method} takes whole numbers or decimals")
    if rounded and lattice.axes == 2:
        return NotEligible("two statistics differ and are reals, held rounded; exact tests of two take whole numbers")
    if named:
        plans = [_dynamic_program(lattice) if method == "dp" else _tree(lattice)]
    elif lattice.axes == 2:
        plans = [_plane(lattice)]
    else:
        plans = _halves(lattice) if rounded else [*_halves(lattice), _line(lattice)]
        if not any(plan.cost.seconds <= _PATIENCE and plan.cost.num_bytes <= num_bytes for plan in plans):
            plans = [*plans, *_extreme(lattice), _by_bounds(lattice)]
    if fitting := [plan for plan in plans if plan.cost.num_bytes <= num_bytes]:
        return min(fitting, key=lambda plan: plan.cost.seconds)
    least = min(plan.cost.num_bytes for plan in plans)
    return NotEligible(f"an exact test takes about {gib_of(least)} GiB, more than {gib_of(num_bytes)}")


def _terms(lattice: Lattice, length: float) -> Cost:
    """The characteristic function."""
    return (costs.TERM if lattice.coins < MANY_COINS else costs.TERM_OF_MANY) * (length * len(lattice.rows))


def _line(lattice: Lattice) -> Plan:
    (length,) = grid_lengths(lattice)
    values = length + float(np.abs(lattice.observed[0])) / 2.0
    usable = float(lattice.rows.max()) < _LARGEST_STEP
    cost = costs.LINE + costs.LINE_VALUE * values + 0.25 * _terms(lattice, length)
    return Plan(lattice, cost if usable else replace(cost, num_bytes=math.inf), "one statistic differs{}", _by_waves)


def _halves(lattice: Lattice) -> list[Plan]:
    if lattice.coins > MOST_COINS:
        return []
    sums = 2 ** (lattice.coins // 2 + 1)  # to sort and to look up
    test = partial(_by_count, count_from)
    return [Plan(lattice, costs.LISTED + costs.LISTED_SUM * sums, "few units differ{}", test)]


def _extreme(lattice: Lattice) -> list[Plan]:
    count = count_extreme(lattice, abs(int(lattice.observed[0])))
    if count is None:
        return []
    cost = costs.EXTREME + costs.EXTREME_SWAP * (count + lattice.coins) + costs.EXTREME_HELD * count
    test = partial(_by_count, count_extreme)
    return [Plan(lattice, cost, "few swaps are as extreme{}", test)]


def _by_bounds(lattice: Lattice) -> Plan:
    step, length = choose_step(lattice, abs(float(lattice.observed[0])))

    def test(lattice: Lattice, scoring: Scoring) -> PValue | NotEligible:
        return _by_tail(lattice, scoring, lambda edge: bound_tail(lattice, edge, step))

    cost = costs.BOUNDS + costs.BOUNDS_VALUE * length + _terms(lattice, length)
    words = f"one statistic differs{{}}; bounds of p at most {BOUNDS_WIDTH:.0%} apart"
    return Plan(lattice, cost, words, test)


def _signs(lattice: Lattice) -> Plan:
    numbers = lattice.axes * math.ldexp(0.5, lattice.coins)  # outcomes times statistics
    return Plan(lattice, costs.SIGNS + costs.SIGNS_STATISTIC * numbers, "few units differ{}", _by_signs)


def _plane(lattice: Lattice) -> Plan:
    box = windows(lattice.rows, lattice.multiplicity, np.zeros(2), _BOX).max(axis=1)
    points = float(np.prod(np.minimum(box, lattice.reach) + 1.0))
    cost = costs.PLANE + costs.PLANE_POINT * points + _terms(lattice, points)
    return Plan(lattice, cost, "two statistics differ{}", _by_waves)


def _dynamic_program(lattice: Lattice) -> Plan:
    """Algorithm 3 of Zmigrod et al.; like the next, it holds every value that the sum can reach."""

    def test(lattice: Lattice, scoring: Scoring) -> PValue | Unsettled | NotEligible:
        found = full_p(lattice, dp_null(lattice), lambda p: lattice.coins * EPSILON * p, *scoring[:2])
        log_p = found.log_p if isinstance(found, Unsettled) else found[1] * math.log(10.0)
        too_small = NotEligible("the p-value is too small for the dynamic program")
        return found if log_p >= math.log(SMALLEST_DP) else too_small

    cost = costs.DYNAMIC_PROGRAM + costs.DYNAMIC_STEP * dp_cost(lattice) + costs.DYNAMIC_POINT * _num_points(lattice)
    return Plan(lattice, cost, "dynamic program over units{}", test, "dp")


def _tree(lattice: Lattice) -> Plan:
    """Algorithm 4."""

    def test(lattice: Lattice, scoring: Scoring) -> PValue | Unsettled:
        return full_p(lattice, tree_null(lattice), lambda _: tree_error(lattice), *scoring[:2])

    cost = costs.TREE + costs.TREE_STEP * tree_cost(lattice) + costs.TREE_POINT * _num_points(lattice)
    return Plan(lattice, cost, "tree of products{}", test, "tree")


def _num_points(lattice: Lattice) -> float:
    return float(np.prod(lattice.reach.astype(np.float64) + 1.0))


NOT_KNOWN: PValue = (math.nan, math.nan, math.nan)
"""Stands where there is no exact test."""


def planned_p(plan: Plan, scoring: Scoring, stat_names: tuple[str, ...]) -> tuple[PValue, str]:
    """The p-value of a pair by its plan, and why there is one; a test whose error turns out too large says so."""
    found = plan.test(plan.lattice, scoring)
    if isinstance(found, NotEligible):
        return NOT_KNOWN, found.reason
    if not (found.error_bound if isinstance(found, Unsettled) else found[2]) <= BOUNDS_WIDTH:
        return NOT_KNOWN, f"the rounding error of the exact test may exceed {BOUNDS_WIDTH:.0%} of p"
    if isinstance(found, Unsettled):
        enough = takes_more_digits(plan.lattice, found.log_p)
        known = reference_p(plan.lattice, *scoring[:2], found.log_p) if enough else nearest(*found)
        return known, _reason(plan, stat_names)
    return found, _reason(plan, stat_names)


def _reason(plan: Plan, stat_names: tuple[str, ...]) -> str:
    """The method, and the statistics that differ: more than the axes where they are linearly related."""
    lattice = plan.lattice
    varying = np.flatnonzero(lattice.basis[lattice.rows.any(axis=0)].any(axis=0))
    related = ": linearly related" if varying.size > lattice.axes else ""
    names = ", ".join(stat_names[stat] for stat in varying)
    return plan.words.format(f" ({names}{related})" if names else "")


def _identical(*_: object) -> PValue:
    return 1.0, 0.0, 0.0


def _by_signs(lattice: Lattice, scoring: Scoring) -> PValue:
    return signs_p(lattice, *scoring[:2])


def _by_waves(lattice: Lattice, scoring: Scoring) -> PValue | Unsettled:
    """By `boards`, where that pays; else by as many tilts as it needs, whose last digit long doubles settle."""
    ordered = scoring.monotone or lattice.axes == 1
    if lattice.axes == 1 and lattice.coins <= _FEW_COINS:
        counted = _by_count(count_from, lattice, scoring)
        if not isinstance(counted, Unsettled | NotEligible):
            return counted
    if ordered:
        found = pair_p(lattice, *scoring[:2], monotone=scoring.monotone)
        if not isinstance(found, Unsettled) or found.error_bound < NEAR:
            return found
    plane, delta = (lattice, scoring.delta) if lattice.axes == 2 else (with_axis(lattice), _of_second(scoring.delta))
    found = plane_p(plane, delta, scoring.criterion)
    return long_p(lattice, *scoring[:2]) or found if ordered and isinstance(found, Unsettled) else found


def _of_second(delta: Delta) -> Delta:
    """A score of one axis as one of two, the first of which is 0."""

    def of_second(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return delta(first + second)

    return of_second


def _by_count(
    count: Callable[[Lattice, int], int | None], lattice: Lattice, scoring: Scoring
) -> PValue | Unsettled | NotEligible:
    """The test by the number of sign vectors in the tail."""
    edges = _edges(lattice, scoring)
    if isinstance(edges, NotEligible):
        return edges
    criterion, every = scoring.criterion, 2**lattice.coins
    total = 0
    for edge in edges if criterion.mid_p else edges[:1] * 2:
        two_sided = criterion.alternative == "two-sided"
        if two_sided and edge <= 0.0:
            total += every
            continue
        # P(S >= edge) = 1 - P(S <= edge - 1), and S is symmetric.
        number = count(lattice, int(edge if edge > 0.0 else 1.0 - edge))
        if number is None:  # so many are ties with the observed sum
            return Unsettled(0.0, 1.0)
        total += min(2 * number, every) if two_sided else number if edge > 0.0 else every - number
    return whole_outcomes(total, lattice.coins)


def _by_tail(lattice: Lattice, scoring: Scoring, tail: Tail) -> PValue | NotEligible:
    """Bounds by those of the tail of a monotone score."""
    edges = _edges(lattice, scoring)
    if isinstance(edges, NotEligible):
        return edges
    return bounded_p(threshold_p(edges, tail, scoring.criterion.alternative, mid_p=scoring.criterion.mid_p))


def _edges(lattice: Lattice, scoring: Scoring) -> tuple[float, float] | NotEligible:
    """Where the extreme sums of a monotone score begin, and the more extreme ones."""
    delta, criterion, _ = scoring
    found = find_edges(lattice, lambda sums: delta(sums[None])[0], criterion)
    return found or NotEligible("the score is not monotone in the statistic that differs")
