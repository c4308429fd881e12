"""Plans of exact tests. A plan says which algorithm tests a pair, what it costs, and why it was chosen.

`plan_pairs` makes plans before any test is computed, `planned_p` carries them out. Costs (time and memory) are
estimated from the table in `run.costs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from sigjax.exact.board_tests import NEARLY_ROUNDED, long_p, pair_p
from sigjax.exact.digits import PValue, has_small_grid, nearest_p, p_of_outcomes, reference_p, with_zero_axis
from sigjax.exact.distributions import (
    EPSILON,
    MANY_SIGNS,
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
    MOST_SPLIT_SIGNS,
    Delta,
    Tail,
    UncertainP,
    bound_tail,
    bounded_p,
    choose_step,
    count_small_tail,
    count_tail,
    extreme_edges,
    few_units,
    p_of_distribution,
    signs_p,
    threshold_p,
)
from sigjax.exact.planes import plane_p
from sigjax.resample.extreme import Extreme
from sigjax.run import costs
from sigjax.run.costs import Cost, gib_of

_SECONDS_BEFORE_BOUNDS = 1.0
"""Largest estimated time of an exact p-value, in seconds (see `run.costs`). If every algorithm takes longer, bounds on
p are allowed instead."""
_BOX_EXPONENT = 80.0
"""With two axes, the cost is estimated for a box of sums that suffices for a p-value near 1e-20. Outside it, the
probability is below exp(-`_BOX_EXPONENT`) on each side."""
_LARGEST_STEP = 2**40
"""Limit for the differences of a pair with one axis. For larger differences, characteristic functions are not used,
because their angles would not be exact."""
_FEW_SIGNS = 16
"""Limit for counting sign vectors: the systems differ on at most this many units. Counting (0.2 ms) is then faster than
the Fourier sum (0.5 ms)."""
SMALLEST_DP = 1e-280
"""Smallest p for which the dynamic program can be used. For a smaller p, some of its probabilities underflow."""

Pair = tuple[int, int]
"""(a, b): indices of two systems."""


class Scoring(NamedTuple):
    """The delta (difference of scores) of a pair as a function of the sum S, and which deltas are extreme.

    S is the sum of the differences of two systems on the units, with random signs.
    """

    delta: Delta
    """Function from values of the random-sign sum S to deltas (differences of scores)."""
    criterion: Extreme
    """The criterion that defines which deltas are extreme."""
    monotone: bool
    """Whether the score is a ratio of sums. The tests of `exact.tails` are valid only for such scores."""


PairTest = Callable[[Lattice, Scoring], PValue | UncertainP | NotEligible]


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """The plan of an exact test of one pair."""

    lattice: Lattice
    cost: Cost
    reason: str
    """Why this method is used. The text contains {}, which is replaced by the names of the statistics that differ."""
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
    """Make a plan for each pair, from the statistics `[system, unit, stat]` (int64) of all systems.

    `method` is "dp" or "tree"; for any other method, the fastest algorithm is chosen. `rounded` says that the
    statistics are rounded real numbers. Then the differences between the systems are multiples of a tiny step. A grid
    of their sums would be far too large. `num_bytes` is the memory that may be used.
    """
    plans: dict[Pair, Plan | NotEligible] = {}
    for a, b in pairs:
        plan = pair_lattice(values[a], values[b], stat_names)
        if isinstance(plan, Lattice):
            plan = plan_pair(plan, method, rounded=rounded, num_bytes=num_bytes)
        if method not in ("dp", "tree") and not (isinstance(plan, Plan) and plan.lattice.axes < 2):
            few = few_units(values[a], values[b])
            signs = few and _plan_signs(few)  # with few units, listing all signs may be cheapest
            cheaper = signs and (isinstance(plan, NotEligible) or signs.cost.seconds < plan.cost.seconds)
            plan = signs if signs and cheaper and signs.cost.num_bytes <= num_bytes else plan
        plans[a, b] = plan
    return plans


def plan_pair(lattice: Lattice, method: str, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """Return the fastest plan that fits into memory for the exact test of a pair, or the reason why there is none.

    `method`, `rounded` and `num_bytes` are as in `plan_pairs`. With one axis (one statistic differs), bounds of p are
    allowed if an exact value takes too much time or memory.
    """
    named = method in ("dp", "tree")
    if lattice.axes == 0:
        return Plan(lattice, Cost(), "no unit differs", _identical)
    if rounded and named:
        return NotEligible(f"the statistics are reals, held rounded; {method} takes whole numbers or decimals")
    if rounded and lattice.axes == 2:
        return NotEligible("two statistics differ and are reals, held rounded; exact tests of two take whole numbers")
    if named:
        plans = [_plan_dynamic_program(lattice) if method == "dp" else _plan_tree(lattice)]
    elif lattice.axes == 2:
        plans = [_plan_plane(lattice)]
    else:
        plans = _plan_halves(lattice) if rounded else [*_plan_halves(lattice), _plan_line(lattice)]
        if not any(plan.cost.seconds <= _SECONDS_BEFORE_BOUNDS and plan.cost.num_bytes <= num_bytes for plan in plans):
            plans = [*plans, *_plan_few_extreme(lattice), _plan_bounds(lattice)]
    if fitting := [plan for plan in plans if plan.cost.num_bytes <= num_bytes]:
        return min(fitting, key=lambda plan: plan.cost.seconds)
    least = min(plan.cost.num_bytes for plan in plans)
    return NotEligible(f"an exact test takes about {gib_of(least)} GiB, more than {gib_of(num_bytes)}")


def _characteristic_cost(lattice: Lattice, length: float) -> Cost:
    """Return the cost of computing the pair's characteristic function at `length` frequencies."""
    return (costs.TERM if lattice.num_signs < MANY_SIGNS else costs.TERM_OF_MANY) * (length * len(lattice.rows))


def _plan_line(lattice: Lattice) -> Plan:
    (length,) = grid_lengths(lattice)
    values = length + float(np.abs(lattice.observed[0])) / 2.0
    usable = float(lattice.rows.max()) < _LARGEST_STEP
    cost = costs.LINE + costs.LINE_VALUE * values + 0.25 * _characteristic_cost(lattice, length)
    return Plan(
        lattice,
        cost if usable else replace(cost, num_bytes=math.inf),
        "one statistic differs{}",
        _by_characteristic_function,
    )


def _plan_halves(lattice: Lattice) -> list[Plan]:
    if lattice.num_signs > MOST_SPLIT_SIGNS:
        return []
    sums = 2 ** (lattice.num_signs // 2 + 1)  # number of sums to sort and to look up
    test = partial(_by_count, count_tail)
    return [Plan(lattice, costs.LISTED + costs.LISTED_SUM * sums, "few units differ{}", test)]


def _plan_few_extreme(lattice: Lattice) -> list[Plan]:
    count = count_small_tail(lattice, abs(int(lattice.observed[0])))
    if count is None:
        return []
    cost = costs.EXTREME + costs.EXTREME_SWAP * (count + lattice.num_signs) + costs.EXTREME_HELD * count
    test = partial(_by_count, count_small_tail)
    return [Plan(lattice, cost, "few swaps are as extreme{}", test)]


def _plan_bounds(lattice: Lattice) -> Plan:
    step, length = choose_step(lattice, abs(float(lattice.observed[0])))

    def test(lattice: Lattice, scoring: Scoring) -> PValue | NotEligible:
        return _by_tail(lattice, scoring, lambda edge: bound_tail(lattice, edge, step))

    cost = costs.BOUNDS + costs.BOUNDS_VALUE * length + _characteristic_cost(lattice, length)
    reason = f"one statistic differs{{}}; bounds of p at most {BOUNDS_WIDTH:.0%} apart"
    return Plan(lattice, cost, reason, test)


def _plan_signs(lattice: Lattice) -> Plan:
    numbers = lattice.axes * math.ldexp(0.5, lattice.num_signs)  # number of outcomes times number of statistics
    return Plan(lattice, costs.SIGNS + costs.SIGNS_STATISTIC * numbers, "few units differ{}", _by_signs)


def _plan_plane(lattice: Lattice) -> Plan:
    box = windows(lattice.rows, lattice.multiplicity, np.zeros(2), _BOX_EXPONENT).max(axis=1)
    points = float(np.prod(np.minimum(box, lattice.reach) + 1.0))
    cost = costs.PLANE + costs.PLANE_POINT * points + _characteristic_cost(lattice, points)
    return Plan(lattice, cost, "two statistics differ{}", _by_characteristic_function)


def _plan_dynamic_program(lattice: Lattice) -> Plan:
    """Plan the dynamic program (Algorithm 3 of Zmigrod et al.), which keeps the probabilities of all possible sums."""

    def test(lattice: Lattice, scoring: Scoring) -> PValue | UncertainP | NotEligible:
        found = p_of_distribution(lattice, dp_null(lattice), lambda p: lattice.num_signs * EPSILON * p, *scoring[:2])
        log_p = found.log_p if isinstance(found, UncertainP) else found[1] * math.log(10.0)
        too_small = NotEligible("the p-value is too small for the dynamic program")
        return found if log_p >= math.log(SMALLEST_DP) else too_small

    cost = costs.DYNAMIC_PROGRAM + costs.DYNAMIC_STEP * dp_cost(lattice) + costs.DYNAMIC_POINT * _num_points(lattice)
    return Plan(lattice, cost, "dynamic program over units{}", test, "dp")


def _plan_tree(lattice: Lattice) -> Plan:
    """Plan the tree (Algorithm 4 of Zmigrod et al.), which keeps the probabilities of all possible sums."""

    def test(lattice: Lattice, scoring: Scoring) -> PValue | UncertainP:
        return p_of_distribution(lattice, tree_null(lattice), lambda _: tree_error(lattice), *scoring[:2])

    cost = costs.TREE + costs.TREE_STEP * tree_cost(lattice) + costs.TREE_POINT * _num_points(lattice)
    return Plan(lattice, cost, "tree of products{}", test, "tree")


def _num_points(lattice: Lattice) -> float:
    return float(np.prod(lattice.reach.astype(np.float64) + 1.0))


NOT_KNOWN: PValue = (math.nan, math.nan, math.nan)
"""The `PValue` of a pair without an exact p-value: NaN three times."""


def planned_p(plan: Plan, scoring: Scoring, stat_names: tuple[str, ...]) -> tuple[PValue, str]:
    """Carry out a plan. Returns the p-value, and a text that says why this method was chosen.

    If the test fails, or its error may exceed 1% of p, the p-value is NaN, and the text says why. `scoring` defines
    which sums are extreme.
    """
    found = plan.test(plan.lattice, scoring)
    if isinstance(found, NotEligible):
        return NOT_KNOWN, found.reason
    if not (found.error_bound if isinstance(found, UncertainP) else found[2]) <= BOUNDS_WIDTH:
        return NOT_KNOWN, f"the rounding error of the exact test may exceed {BOUNDS_WIDTH:.0%} of p"
    if isinstance(found, UncertainP):
        enough = has_small_grid(plan.lattice, found.log_p)
        known = reference_p(plan.lattice, *scoring[:2], found.log_p) if enough else nearest_p(*found)
        return known, _reason(plan, stat_names)
    return found, _reason(plan, stat_names)


def _reason(plan: Plan, stat_names: tuple[str, ...]) -> str:
    """Return the text that says why the plan uses its method, with the names of the statistics that differ.

    If more statistics differ than the lattice has axes, the text says that these statistics are linearly related.
    """
    lattice = plan.lattice
    varying = np.flatnonzero(lattice.basis[lattice.rows.any(axis=0)].any(axis=0))
    related = ": linearly related" if varying.size > lattice.axes else ""
    names = ", ".join(stat_names[stat] for stat in varying)
    return plan.reason.format(f" ({names}{related})" if names else "")


def _identical(*_: object) -> PValue:
    return 1.0, 0.0, 0.0


def _by_signs(lattice: Lattice, scoring: Scoring) -> PValue:
    return signs_p(lattice, *scoring[:2])


def _by_characteristic_function(lattice: Lattice, scoring: Scoring) -> PValue | UncertainP:
    """Return the p-value, computed with characteristic functions.

    If the score is monotone or S has one axis, the pair is tested on a board with only this pair. Otherwise, or if the
    last digit of p is uncertain and its error is at least `NEARLY_ROUNDED`, it is tested by `plane_p`. If the last
    digit is uncertain in both tests, long doubles are tried. With one axis and at most `_FEW_SIGNS` units that differ,
    sign vectors are counted instead, which is faster.
    """
    ordered = scoring.monotone or lattice.axes == 1
    if lattice.axes == 1 and lattice.num_signs <= _FEW_SIGNS:
        counted = _by_count(count_tail, lattice, scoring)
        if not isinstance(counted, UncertainP | NotEligible):
            return counted
    if ordered:
        found = pair_p(lattice, *scoring[:2], monotone=scoring.monotone)
        if not isinstance(found, UncertainP) or found.error_bound < NEARLY_ROUNDED:
            return found
    plane, delta = (
        (lattice, scoring.delta) if lattice.axes == 2 else (with_zero_axis(lattice), _on_second_axis(scoring.delta))
    )
    found = plane_p(plane, delta, scoring.criterion)
    return long_p(lattice, *scoring[:2]) or found if ordered and isinstance(found, UncertainP) else found


def _on_second_axis(delta: Delta) -> Delta:
    """Turn a function of a sum S with one axis into one of two coordinates: the first is always 0, the second is S."""

    def of_second(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return delta(first + second)

    return of_second


def _by_count(
    count: Callable[[Lattice, int], int | None], lattice: Lattice, scoring: Scoring
) -> PValue | UncertainP | NotEligible:
    """Return the p-value of a score that is monotone in the sum S, from the number of sign vectors in the tail.

    `count` returns this number from a lattice and the edge, the smallest sum in the tail. Returns `NotEligible` if the
    score is not monotone, and `UncertainP` if too many sign vectors are in the tail to count them.
    """
    edges = _edges_of_tail(lattice, scoring)
    if isinstance(edges, NotEligible):
        return edges
    criterion, every = scoring.criterion, 2**lattice.num_signs
    total = 0
    for edge in edges if criterion.mid_p else edges[:1] * 2:
        two_sided = criterion.alternative == "two-sided"
        if two_sided and edge <= 0.0:
            total += every
            continue
        # P(S >= edge) = 1 - P(S <= edge - 1), and the distribution of S is symmetric.
        number = count(lattice, int(edge if edge > 0.0 else 1.0 - edge))
        if number is None:  # too many ties with the observed sum to count
            return UncertainP(0.0, 1.0)
        total += min(2 * number, every) if two_sided else number if edge > 0.0 else every - number
    return p_of_outcomes(total, lattice.num_signs)


def _by_tail(lattice: Lattice, scoring: Scoring, tail: Tail) -> PValue | NotEligible:
    """Return the `PValue` of bounds on p (see `bounded_p`), for a score that is monotone in the random-sign sum S.

    `tail` takes an edge, and returns bounds on P(S >= edge). Returns `NotEligible` if the score is not monotone.
    """
    edges = _edges_of_tail(lattice, scoring)
    if isinstance(edges, NotEligible):
        return edges
    return bounded_p(threshold_p(edges, tail, scoring.criterion.alternative, mid_p=scoring.criterion.mid_p))


def _edges_of_tail(lattice: Lattice, scoring: Scoring) -> tuple[float, float] | NotEligible:
    """Return the smallest value of the sum S that is extreme, and the smallest that is more extreme than observed.

    Both are from `extreme_edges`. Returns `NotEligible` if the score is not monotone in S.
    """
    delta, criterion, _ = scoring
    found = extreme_edges(lattice, lambda sums: delta(sums[None])[0], criterion)
    return found or NotEligible("the score is not monotone in the statistic that differs")
