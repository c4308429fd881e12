"""The permutation test without sampling: the method for each pair, and its p-value."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from sigjax.exact.bracket import BRACKET_WIDTH, Bracket, Tail, bracket_tail, find_edges, threshold_p
from sigjax.exact.convolution import dp_null, tree_error, tree_null
from sigjax.exact.counted import pair_lattices
from sigjax.exact.lattice import Lattice, NotEligible
from sigjax.exact.lines import line_ps
from sigjax.exact.null import Criterion, Delta, ExactP, bracketed_p, full_p, signs_p
from sigjax.exact.plan import Plan, plan_pair, plan_signs
from sigjax.exact.planes import plane_ps
from sigjax.exact.signs import count_extreme, count_from, few_units, log_share
from sigjax.records import Metric, Settings
from sigjax.testing.p_values import Outcome
from sigjax.testing.problem import Case, NotExact, Pair, check_finite

AUTO_BUDGET = 10.0
"""Nominal seconds that method="auto" spends on the exact tests of an evaluation."""
EXACT_BUDGET = 600.0
"""The same for an exact method asked for by name."""
_EPSILON = float(np.finfo(np.float64).eps)
_TOGETHER = 2**21
"""Largest number of grid values of pairs that are computed together on one axis."""
SMALLEST_DP = 1e-280
"""Below this, the dynamic program has lost probabilities to underflow."""

_WAYS = {
    "identical": "no unit differs",
    "line": "one statistic differs",
    "plane": "two statistics differ",
    "halves": "few units differ",
    "signs": "few units differ",
    "extreme": "few swaps are as extreme",
    "bracket": "one statistic differs",
    "dp": "dynamic program over units",
    "tree": "tree of products",
}


def exact_tests(case: Case, pairs: Sequence[Pair], platform: str | None = None) -> list[Outcome | NotEligible]:
    """The exact test of each of some pairs, or why there is none; a test whose error turns out too large says so.

    JAX computes characteristic functions and their FFTs on `platform`; without one, NumPy does.

    Raises:
        NotExact: an exact method was asked for, and some pair has no exact test or all take too long.
    """
    plans = plan_exact(case, pairs)
    found = _p_values(case, {pair: plan for pair, plan in plans.items() if isinstance(plan, Plan)}, platform)
    return [_outcome(case, pair, plan, found[pair]) if isinstance(plan, Plan) else plan for pair, plan in plans.items()]


def plan_exact(case: Case, pairs: Sequence[Pair]) -> dict[Pair, Plan | NotEligible]:
    """How to test each pair exactly, or why not; the budget is for all of them.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
    """
    units, settings = case.units, case.settings
    if settings.method == "montecarlo":
        return dict.fromkeys(pairs, NotEligible("as asked"))
    plans: dict[Pair, Plan | NotEligible] = {}
    lattices = pair_lattices(units.values, pairs, case.metric.stat_names)
    for (a, b), lattice in zip(pairs, lattices, strict=True):
        plan = _plan(units.values[a], units.values[b], lattice, case)
        if settings.method != "auto" and isinstance(plan, NotEligible):
            raise NotExact((a, b), plan.reason)
        plans[a, b] = plan
    costs = {pair: plan.seconds for pair, plan in plans.items() if isinstance(plan, Plan)}
    refused = {pair: plan for pair, plan in plans.items() if isinstance(plan, NotEligible) and plan.seconds}
    total = sum(costs.values()) + sum(plan.seconds for plan in refused.values())
    refused |= over_budget(costs, settings)
    return plans | {pair: plan._replace(seconds=total) for pair, plan in refused.items()}


def _plan(a: np.ndarray, b: np.ndarray, found: Lattice | NotEligible, case: Case) -> Plan | NotEligible:
    """The method for one pair of statistics `[unit, stat]`; where few units differ, all signs may be the cheapest."""
    method, num_bytes = case.settings.method, case.settings.memory * 2**30
    plan = found
    if isinstance(plan, Lattice):
        plan = plan_pair(plan, method, rounded=not case.units.exact, num_bytes=num_bytes)
    named = method in ("dp", "tree")
    if named or (isinstance(plan, Plan) and plan.way != "plane") or (few := few_units(a, b)) is None:
        return plan
    signs = plan_signs(few)
    if signs.num_bytes <= num_bytes and (isinstance(plan, NotEligible) or signs.seconds < plan.seconds):
        return signs
    return plan


def exact_budget(settings: Settings) -> float:
    """Nominal seconds that the exact tests of an evaluation may take."""
    if settings.budget is not None:
        return settings.budget
    return EXACT_BUDGET if settings.method in ("exact", "dp", "tree") else AUTO_BUDGET


def over_budget(costs: dict[Pair, float], settings: Settings) -> dict[Pair, NotEligible]:
    """The pairs beyond the budget, which pays for the cheapest exact tests first; costs are nominal seconds.

    Raises:
        NotExact: an exact method was asked for, and all take too long.
    """
    budget = exact_budget(settings)
    refused = {}
    spent = 0.0
    for pair in sorted(costs, key=lambda pair: costs[pair]):
        spent += costs[pair]
        if spent <= budget:
            continue
        if settings.method != "auto":
            tests = "an exact test takes" if len(costs) == 1 else "the exact tests take"
            raise NotExact(pair, f"{tests} about {sum(costs.values()):,.3g} s, over the budget of {budget:g} s")
        others = "" if costs[pair] > budget else " with those of cheaper pairs"
        reason = f"an exact test takes about {costs[pair]:,.2g} s,{others} over the budget of {budget:g} s"
        refused[pair] = NotEligible(reason, sum(costs.values()))
    return refused


def _p_values(case: Case, plans: dict[Pair, Plan], platform: str | None) -> dict[Pair, ExactP | NotEligible]:
    """Carry out the exact tests."""
    found: dict[Pair, ExactP | NotEligible] = {}
    lines = {pair: plan for pair, plan in plans.items() if plan.way == "line"}
    for pairs in _groups(lines):
        lattices = [lines[pair].lattice for pair in pairs]
        answers = line_ps(lattices, pair_deltas(case, pairs, lines), _asked(case, pairs), platform)
        found |= zip(pairs, answers, strict=True)
    planes = {pair: plan for pair, plan in plans.items() if plan.way == "plane"}
    # On a GPU, as many as fit into half of the memory, or one pair.
    held = np.cumsum([plan.num_bytes for plan in planes.values()])
    groups = held // (case.settings.memory * 2**29) if platform else np.arange(len(held))
    for _, group in groupby(zip(planes, groups.tolist(), strict=True), key=itemgetter(1)):
        pairs = [pair for pair, _ in group]
        deltas = [pair_deltas(case, [pair], planes) for pair in pairs]
        asked = [_asked(case, [pair]) for pair in pairs]
        found |= zip(pairs, plane_ps([planes[pair].lattice for pair in pairs], deltas, asked, platform), strict=True)
    return found | {pair: _one(case, pair, plan) for pair, plan in plans.items() if pair not in found}


def _outcome(case: Case, pair: Pair, plan: Plan, found: ExactP | NotEligible) -> Outcome | NotEligible:
    if isinstance(found, ExactP) and not found.error_bound <= BRACKET_WIDTH:
        found = NotEligible(f"the rounding error of the exact test may exceed {BRACKET_WIDTH:.0%} of p")
    if isinstance(found, ExactP):
        method = plan.way if plan.way in ("dp", "tree") else "exact"
        reason = _reason(plan, case.metric)
        return Outcome(found.p_value, found.log10_p, method, reason, None, found.error_bound, found.bracket)
    if case.settings.method != "auto":
        raise NotExact(pair, found.reason)
    return found


def _reason(plan: Plan, metric: Metric) -> str:
    """The method, and the statistics that differ: more than the axes where they are linearly related."""
    lattice, reason = plan.lattice, _WAYS[plan.way]
    basis = lattice.basis[lattice.rows.any(axis=0)] if plan.way == "signs" else lattice.basis
    varying = np.flatnonzero(basis.any(axis=0))
    if varying.size:
        related = ": linearly related" if varying.size > lattice.rows.shape[1] else ""
        reason += f" ({', '.join(metric.stat_names[i] for i in varying)}{related})"
    return reason + (f"; bracket narrower than {BRACKET_WIDTH:.0%}" if plan.way == "bracket" else "")


def _groups(plans: dict[Pair, Plan]) -> Iterator[list[Pair]]:
    """Pairs with one axis, grouped by grid and number of rows; groups are small enough to be computed together."""
    sizes = {pair: (plan.length, (len(plan.lattice.rows) - 1).bit_length()) for pair, plan in plans.items()}
    for (length, rows), alike in groupby(sorted(plans, key=sizes.__getitem__), key=sizes.__getitem__):
        pairs = list(alike)
        many = max(1, _TOGETHER // (length * 2**rows))
        yield from (pairs[start : start + many] for start in range(0, len(pairs), many))


def _asked(case: Case, pairs: Sequence[Pair]) -> Criterion:
    return Criterion(*case.question.observed(pairs), case.settings.alternative, case.settings.mid_p)


def pair_deltas(case: Case, pairs: Sequence[Pair], plans: dict[Pair, Plan]) -> Delta:
    """Differences of scores as a function of S: swaps keep a* + b*, and a* - b* is S times the basis.

    The function raises NotFinite where the metric gives NaN or infinity.
    """
    systems = np.array(pairs).T
    half = 0.5 * (case.units.totals[systems[0]] + case.units.totals[systems[1]])
    basis = 0.5 * np.array([plans[pair].lattice.basis for pair in pairs])

    def delta(*axes: np.ndarray) -> np.ndarray:
        if not axes:  # identical systems
            return np.zeros((len(pairs), 1))
        # In memory, each statistic is an array by itself: scores take them one by one.
        sums = np.empty((half.shape[1], 2, *np.broadcast_shapes(*(each.shape for each in axes))))
        of_pair = (slice(None), *(None,) * (axes[0].ndim - 1))
        for stat, (of_a, of_b) in enumerate(sums):
            *others, last = (each * basis[:, axis, stat][of_pair] for axis, each in enumerate(axes))
            np.add(half[:, stat][of_pair] + sum(others), last, out=of_a)
            np.subtract(half[:, stat][of_pair] - sum(others), last, out=of_b)
        of_a, of_b = case.scores(np.moveaxis(sums, 0, -1))
        with np.errstate(all="ignore"):
            found = of_a - of_b
        check_finite(found, pairs)
        return found

    return delta


def _one(case: Case, pair: Pair, plan: Plan) -> ExactP | NotEligible:
    """The exact test of one pair by itself."""
    lattice = plan.lattice
    asked, delta = _asked(case, [pair]), pair_deltas(case, [pair], {pair: plan})
    if plan.way == "identical":
        return ExactP(1.0, 0.0, 0.0)
    if plan.way == "signs":
        return signs_p(lattice, delta, asked)
    if plan.way == "dp":
        found = full_p(lattice, dp_null(lattice), lambda p: lattice.coins * _EPSILON * p, delta, asked)
        if found.p_value < SMALLEST_DP:
            return NotEligible("the p-value is too small for the dynamic program")
        return found
    if plan.way == "tree":
        error = tree_error(lattice)
        return full_p(lattice, tree_null(lattice), lambda p: error, delta, asked)
    return _tail_p(plan, asked, delta)


def _tail_p(plan: Plan, asked: Criterion, delta: Delta) -> ExactP | NotEligible:
    """The test by the tail of a monotone score: few units, few swaps as extreme, or a bracket."""
    lattice = plan.lattice
    edges = find_edges(
        lattice,
        lambda values: delta(values[None])[0],
        float(asked.delta[0]),
        float(asked.tolerance[0]),
        asked.alternative,
    )
    if edges is None:
        return NotEligible("the score is not monotone in the statistic that differs")
    found = threshold_p(edges, _tail(plan), asked.alternative, mid_p=asked.mid_p)
    return bracketed_p(found, None if plan.way == "bracket" else lattice.coins)


def _tail(plan: Plan) -> Tail:
    lattice, step = plan.lattice, plan.step
    if step is not None:
        return lambda edge: bracket_tail(lattice, edge, step)

    def counted(edge: float) -> Bracket:
        count = (count_extreme if plan.way == "extreme" else count_from)(lattice, int(edge))
        if count is None:  # so many are ties with the observed sum
            return Bracket(-math.inf, 0.0)
        return Bracket(*2 * (log_share(count, lattice.coins),))

    return counted
