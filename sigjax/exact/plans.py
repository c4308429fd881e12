"""The plan of an exact test, known before anything is computed: which algorithm a pair gets, what it costs, and why.

A cost is in nominal seconds: terms times constants measured once on a slow core. They do not depend on the machine, so
the same data take the same algorithm everywhere. `plan_pairs` makes the plans, `planned_ps` carries them out; what is
scored, and what counts as extreme, is asked of the caller once for each group of pairs that are computed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import Literal

import numpy as np

from sigjax.exact.distributions import (
    EPSILON,
    dp_cost,
    dp_null,
    grid_lengths,
    tree_cost,
    tree_error,
    tree_null,
    windows,
)
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattices
from sigjax.exact.null import (
    BOUNDS_WIDTH,
    MOST_COINS,
    Criterion,
    Delta,
    ExactP,
    Tail,
    TailBounds,
    bound_tail,
    bounded_p,
    choose_step,
    count_extreme,
    count_from,
    few_units,
    find_edges,
    full_p,
    line_ps,
    signs_p,
    threshold_p,
)
from sigjax.exact.planes import plane_p

_PATIENCE = 1.0
"""Nominal seconds that an exact value may take where bounds would be near enough."""
_BOX = 80.0
"""Exponent of the two-axis box whose cost is counted: that of a p-value near 1e-20."""
_MANY = 200
"""From this many coins on, the characteristic function is near exp(-coins / 4) at a random frequency."""
_LARGEST_STEP = 2**40
"""Differences beyond this are not exact in the arithmetic of a grid."""
_TOGETHER = 2**21
"""Largest number of grid values of pairs that are computed together on one axis."""
SMALLEST_DP = 1e-280
"""Below this, the dynamic program has lost probabilities to underflow."""

Pair = tuple[int, int]
"""(a, b), positions of two systems."""
ExactResult = ExactP | NotEligible
Scoring = Callable[[Sequence[Pair], Sequence[Lattice]], tuple[Delta, Criterion]]
"""Some pairs and their lattices -> differences of scores as a function of S, and which of them are extreme."""
PairTest = Callable[[Lattice, Delta, Criterion], ExactResult]


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """How to test a pair exactly."""

    lattice: Lattice
    seconds: float
    """Nominal."""
    num_bytes: float
    words: str
    """What the reason of the result says, with {} for the statistics that differ."""
    test: PairTest | None
    """None for pairs that are computed together, by `line_ps`."""
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
    for (a, b), plan in zip(pairs, pair_lattices(values, pairs, stat_names), strict=True):
        if isinstance(plan, Lattice):
            plan = plan_pair(plan, method, rounded=rounded, num_bytes=num_bytes)
        if method not in ("dp", "tree") and not (isinstance(plan, Plan) and plan.lattice.axes < 2):
            few = few_units(values[a], values[b])
            signs = few and _signs(few)  # where few units differ, all signs may be the cheapest
            cheaper = signs and (isinstance(plan, NotEligible) or signs.seconds < plan.seconds)
            plan = signs if signs and cheaper and signs.num_bytes <= num_bytes else plan
        plans[a, b] = plan
    return plans


def plan_pair(lattice: Lattice, method: str, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The fastest algorithm that fits into memory; on one axis bounds, where exact values take too long or too much."""
    named = method in ("dp", "tree")
    if lattice.axes == 0:
        return Plan(lattice, 0.0, 0.0, "no unit differs", _identical)
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
        if not any(plan.seconds <= _PATIENCE and plan.num_bytes <= num_bytes for plan in plans):
            plans = [*plans, *_extreme(lattice), _by_bounds(lattice)]
    if fitting := [plan for plan in plans if plan.num_bytes <= num_bytes]:
        return min(fitting, key=lambda plan: plan.seconds)
    least = min(plan.num_bytes for plan in plans)
    return NotEligible(f"an exact test takes about {gib_of(least)} GiB, more than {gib_of(num_bytes)}")


def gib_of(num_bytes: float) -> str:
    """Bytes in GiB, with three digits."""
    return f"{num_bytes / 2**30:,.3g}"


def _terms(lattice: Lattice, length: float) -> float:
    """Seconds for the characteristic function; of many units it is negligible at most frequencies."""
    return (1e-9 if lattice.coins < _MANY else 4e-11) * length * len(lattice.rows)


def _line(lattice: Lattice) -> Plan:
    (length,) = grid_lengths(lattice)
    values = length + float(np.abs(lattice.observed[0])) / 2.0
    usable = float(lattice.rows.max()) < _LARGEST_STEP
    seconds = 4e-5 + 2e-7 * values + 0.25 * _terms(lattice, length)
    return Plan(lattice, seconds, 150.0 * values if usable else math.inf, "one statistic differs{}", None)


def _halves(lattice: Lattice) -> list[Plan]:
    if lattice.coins > MOST_COINS:
        return []
    sums = 2 ** (lattice.coins // 2 + 1)  # to sort and to look up
    test = partial(_by_count, count_from)
    return [Plan(lattice, 3e-4 + 1.5e-8 * sums, 40.0 * sums, "few units differ{}", test)]


def _extreme(lattice: Lattice) -> list[Plan]:
    count = count_extreme(lattice, abs(int(lattice.observed[0])))
    if count is None:
        return []
    seconds, test = 2e-4 + 1e-6 * (count + lattice.coins), partial(_by_count, count_extreme)
    return [Plan(lattice, seconds, 40.0 * count, "few swaps are as extreme{}", test)]


def _by_bounds(lattice: Lattice) -> Plan:
    step, length = choose_step(lattice, abs(float(lattice.observed[0])))

    def test(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactResult:
        return _by_tail(lattice, delta, criterion, lambda edge: bound_tail(lattice, edge, step), None)

    seconds = 3e-3 + 4e-7 * length + _terms(lattice, length)
    words = f"one statistic differs{{}}; bounds of p at most {BOUNDS_WIDTH:.0%} apart"
    return Plan(lattice, seconds, 250.0 * length, words, test)


def _signs(lattice: Lattice) -> Plan:
    cost = lattice.axes * math.ldexp(0.5, lattice.coins)  # outcomes times statistics
    return Plan(lattice, 5e-4 + 1e-7 * cost, 100.0 * cost, "few units differ{}", signs_p)


def _plane(lattice: Lattice) -> Plan:
    box = windows(lattice.rows, lattice.multiplicity, np.zeros(2), _BOX).max(axis=1)
    points = float(np.prod(np.minimum(box, lattice.reach) + 1.0))
    seconds = 2.5e-3 + 6e-8 * points + _terms(lattice, points)
    return Plan(lattice, seconds, 40.0 * points, "two statistics differ{}", plane_p)


def _dynamic_program(lattice: Lattice) -> Plan:
    """Algorithm 3 of Zmigrod et al.; like the next, it holds every value that the sum can reach."""

    def test(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactResult:
        found = full_p(lattice, dp_null(lattice), lambda p: lattice.coins * EPSILON * p, delta, criterion)
        too_small = NotEligible("the p-value is too small for the dynamic program")
        return found if found.p_value >= SMALLEST_DP else too_small

    seconds, words = 1e-3 + 1.5e-9 * dp_cost(lattice), "dynamic program over units{}"
    return Plan(lattice, seconds, 60.0 * _num_points(lattice), words, test, "dp")


def _tree(lattice: Lattice) -> Plan:
    """Algorithm 4."""

    def test(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactResult:
        return full_p(lattice, tree_null(lattice), lambda _: tree_error(lattice), delta, criterion)

    seconds, words = 1e-3 + 1e-8 * tree_cost(lattice), "tree of products{}"
    return Plan(lattice, seconds, 320.0 * _num_points(lattice), words, test, "tree")


def _num_points(lattice: Lattice) -> float:
    return float(np.prod(lattice.reach.astype(np.float64) + 1.0))


def planned_ps(
    plans: Mapping[Pair, Plan], scoring: Scoring, stat_names: tuple[str, ...], advance: Callable[[int], object]
) -> dict[Pair, ExactResult]:
    """The p-value of each pair by its plan, with the reason; a test whose error turns out too large says so.

    `advance` takes how many pairs are done so far.
    """
    alone = (
        (pair, plan.test(plan.lattice, *scoring([pair], [plan.lattice])))
        for pair, plan in plans.items()
        if plan.test is not None
    )
    together = _on_lines({pair: plan for pair, plan in plans.items() if plan.test is None}, scoring)
    results: dict[Pair, ExactResult] = {}
    for pair, result in chain(alone, together):
        if isinstance(result, ExactP):
            if result.error_bound <= BOUNDS_WIDTH:
                result = result._replace(reason=_reason(plans[pair], stat_names), method=plans[pair].method)
            else:
                result = NotEligible(f"the rounding error of the exact test may exceed {BOUNDS_WIDTH:.0%} of p")
        results[pair] = result
        advance(len(results))
    return results


def _reason(plan: Plan, stat_names: tuple[str, ...]) -> str:
    """The method, and the statistics that differ: more than the axes where they are linearly related."""
    lattice = plan.lattice
    varying = np.flatnonzero(lattice.basis[lattice.rows.any(axis=0)].any(axis=0))
    related = ": linearly related" if varying.size > lattice.axes else ""
    names = ", ".join(stat_names[stat] for stat in varying)
    return plan.words.format(f" ({names}{related})" if names else "")


def _identical(*_: object) -> ExactP:
    return ExactP(1.0, 0.0, 0.0)


def _on_lines(plans: Mapping[Pair, Plan], scoring: Scoring) -> Iterator[tuple[Pair, ExactResult]]:
    """Pairs with one axis, grouped by grid and number of rows, in groups small enough to be computed together."""

    def size(pair: Pair) -> tuple[int, int]:
        lattice = plans[pair].lattice
        return grid_lengths(lattice)[0], (len(lattice.rows) - 1).bit_length()

    for (length, rows), group in groupby(sorted(plans, key=size), key=size):
        pairs, many = list(group), max(1, _TOGETHER // (length * 2**rows))
        for some in (pairs[start : start + many] for start in range(0, len(pairs), many)):
            lattices = [plans[pair].lattice for pair in some]
            yield from zip(some, line_ps(lattices, *scoring(some, lattices)), strict=True)


def _by_count(
    count: Callable[[Lattice, int], int | None], lattice: Lattice, delta: Delta, criterion: Criterion
) -> ExactResult:
    """The test by the number of sign vectors in the tail."""

    def tail(edge: float) -> TailBounds:
        number = count(lattice, int(edge))
        if number is None:  # so many are ties with the observed sum
            return TailBounds(-math.inf, 0.0)
        log_p = math.log(number) - lattice.coins * math.log(2.0) if number else -math.inf
        return TailBounds(log_p, log_p)

    return _by_tail(lattice, delta, criterion, tail, lattice.coins)


def _by_tail(lattice: Lattice, delta: Delta, criterion: Criterion, tail: Tail, coins: int | None) -> ExactResult:
    """The test by the tail of a monotone score; `coins` where tails are whole numbers of outcomes."""
    observed, tolerance = float(criterion.delta[0]), float(criterion.tolerance[0])
    edges = find_edges(lattice, lambda sums: delta(sums[None])[0], observed, tolerance, criterion.alternative)
    if edges is None:
        return NotEligible("the score is not monotone in the statistic that differs")
    return bounded_p(threshold_p(edges, tail, criterion.alternative, mid_p=criterion.mid_p), coins)
