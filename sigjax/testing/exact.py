"""Which exact algorithm a pair takes, and its cost, known before anything is computed.

Costs are nominal seconds: terms times constants measured once on a slow core. They do not depend on the machine, so
the same data take the same algorithm everywhere.

The permutation test without sampling: the method for each pair, and its p-value.

Permutation tests of repeated runs without sampling: outputs change places within units (crossed), or whole runs do.

A run of design "models" is a trained model: good or bad on all instances at once. Where two training procedures do not
differ, of the 2 R models that they made every R are as likely to be the first one's, whatever the instances are and
however a model's results on them depend on each other. So the test is that of two samples of R, the results of a model
being one of their members. Reference: Pitman (1937), "Significance tests which may be applied to samples from any
populations".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from sigjax.exact.choices import Choices, Patterns, chosen_sums, find_choices, find_patterns, sum_law
from sigjax.exact.distributions import dp_cost, dp_null, grid_lengths, tree_cost, tree_error, tree_null, windows
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattices
from sigjax.exact.null import (
    BRACKET_WIDTH,
    MOST_COINS,
    Bracket,
    Criterion,
    Delta,
    ExactP,
    Step,
    Tail,
    bracket_tail,
    bracketed_p,
    chances_p,
    choose_step,
    count_extreme,
    count_from,
    few_units,
    find_edges,
    full_p,
    line_ps,
    log_share,
    signs_p,
    threshold_p,
)
from sigjax.exact.planes import plane_ps
from sigjax.records import Metric, Settings
from sigjax.resample.units import Outputs, whole_runs
from sigjax.testing.problem import Case, NotExact, Pair, check_finite

Way = Literal["identical", "line", "plane", "halves", "signs", "extreme", "bracket", "dp", "tree"]

_PATIENCE = 1.0
"""Nominal seconds that an exact value may take where a bracket would be narrow enough."""
_BOX = 80.0
"""Exponent of the two-axis box whose cost is counted: that of a p-value near 1e-20."""
_MANY = 200
"""From this many coins on, the characteristic function is near exp(-coins / 4) at a random frequency."""
_LARGEST_STEP = 2**40
"""Differences beyond this are not exact in the arithmetic of a grid."""


class Plan(NamedTuple):
    """How to test a pair exactly."""

    way: Way
    lattice: Lattice
    seconds: float
    """Nominal."""
    num_bytes: float
    step: Step | None = None
    """For a bracket."""
    length: int = 0
    """Values of the grid on one axis."""


def plan_pair(lattice: Lattice, method: str, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The algorithm for a lattice, if one fits into memory.

    Args:
        lattice: the pair.
        method: "dp", "tree", or anything else for the fastest.
        rounded: the statistics are rounded reals, so their lattice means nothing.
        num_bytes: memory that may be used.
    """
    if lattice.axes == 0:
        return Plan("identical", lattice, 0.0, 0.0)
    if method in ("dp", "tree"):
        plan = _named(lattice, "dp" if method == "dp" else "tree")
        if rounded:
            return NotEligible(f"the statistics are reals, held rounded; {method} takes whole numbers or decimals")
        return plan if plan.num_bytes <= num_bytes else _too_large(plan, num_bytes)
    if lattice.axes == 1:
        return _on_one_axis(lattice, rounded=rounded, num_bytes=num_bytes)
    if rounded:
        return NotEligible("two statistics differ and are reals, held rounded; exact tests of two take whole numbers")
    plan = _plane(lattice)
    return plan if plan.num_bytes <= num_bytes else _too_large(plan, num_bytes)


def _on_one_axis(lattice: Lattice, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The fastest exact algorithm; a bracket where all take too long or too much memory."""
    plans = [*_halves(lattice)] if rounded else [*_halves(lattice), _line(lattice)]
    quick = [plan for plan in plans if plan.seconds <= _PATIENCE and plan.num_bytes <= num_bytes]
    if quick:
        return min(quick, key=lambda plan: plan.seconds)
    plans += [*_extreme(lattice), _bracket(lattice)]
    fitting = [plan for plan in plans if plan.num_bytes <= num_bytes]
    if not fitting:
        return _too_large(min(plans, key=lambda plan: plan.num_bytes), num_bytes)
    return min(fitting, key=lambda plan: plan.seconds)


def _too_large(plan: Plan, num_bytes: float) -> NotEligible:
    """The reason, with the memory needed."""
    reason = f"an exact test takes about {_gib(plan.num_bytes)} GiB, more than {_gib(num_bytes)}"
    return NotEligible(reason, plan.seconds, plan.num_bytes / 2**30)


def _gib(num_bytes: float) -> str:
    return f"{num_bytes / 2**30:,.3g}"


def _terms(lattice: Lattice, length: float) -> float:
    """Seconds for the characteristic function; of many units it is negligible at most frequencies."""
    return (1e-9 if lattice.coins < _MANY else 4e-11) * length * len(lattice.rows)


def _line(lattice: Lattice) -> Plan:
    (length,) = grid_lengths(lattice)
    values = length + float(np.abs(lattice.observed[0])) / 2.0
    usable = float(lattice.rows.max()) < _LARGEST_STEP
    seconds = 4e-5 + 2e-7 * values + 0.25 * _terms(lattice, length)
    return Plan("line", lattice, seconds, 150.0 * values if usable else math.inf, length=length)


def _halves(lattice: Lattice) -> list[Plan]:
    if lattice.coins > MOST_COINS:
        return []
    sums = 2 ** (lattice.coins // 2 + 1)  # to sort and to look up
    return [Plan("halves", lattice, 3e-4 + 1.5e-8 * sums, 40.0 * sums)]


def _extreme(lattice: Lattice) -> list[Plan]:
    count = count_extreme(lattice, abs(int(lattice.observed[0])))
    return [] if count is None else [Plan("extreme", lattice, 2e-4 + 1e-6 * (count + lattice.coins), 40.0 * count)]


def _bracket(lattice: Lattice) -> Plan:
    step = choose_step(lattice, abs(float(lattice.observed[0])))
    seconds = 3e-3 + 4e-7 * step.length + _terms(lattice, step.length)
    return Plan("bracket", lattice, seconds, 250.0 * step.length, step)


def plan_signs(lattice: Lattice) -> Plan:
    """All signs of few units, see `few_units`."""
    cost = lattice.axes * math.ldexp(0.5, lattice.coins)  # outcomes times statistics
    return Plan("signs", lattice, 5e-4 + 1e-7 * cost, 100.0 * cost)


def _plane(lattice: Lattice) -> Plan:
    box = windows(lattice.rows, lattice.multiplicity, np.zeros(2), _BOX).max(axis=1)
    points = float(np.prod(np.minimum(box, lattice.reach) + 1.0))
    return Plan("plane", lattice, 2.5e-3 + 6e-8 * points + _terms(lattice, points), 40.0 * points)


def _named(lattice: Lattice, way: Literal["dp", "tree"]) -> Plan:
    """The algorithms of Zmigrod et al. hold every value that the sum can reach."""
    points = float(np.prod(lattice.reach.astype(np.float64) + 1.0))
    if way == "dp":
        return Plan("dp", lattice, 0.2 + 1.5e-9 * dp_cost(lattice), 60.0 * points)
    return Plan("tree", lattice, 1.0 + 1e-8 * tree_cost(lattice), 320.0 * points)


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


def exact_tests(case: Case, pairs: Sequence[Pair], platform: str | None = None) -> list[ExactP | NotEligible]:
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


def _outcome(case: Case, pair: Pair, plan: Plan, found: ExactP | NotEligible) -> ExactP | NotEligible:
    if isinstance(found, ExactP) and not found.error_bound <= BRACKET_WIDTH:
        found = NotEligible(f"the rounding error of the exact test may exceed {BRACKET_WIDTH:.0%} of p")
    if isinstance(found, ExactP):
        method = plan.way if plan.way in ("dp", "tree") else "exact"
        return found._replace(method=method, reason=_reason(plan, case.metric))
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


ExchangePlan = Patterns | Choices | NotEligible
Finder = Callable[[Case, Pair], ExchangePlan]
_Found = TypeVar("_Found", ExchangePlan, ExactP | NotEligible)


def exchanged_tests(case: Case) -> list[ExactP | NotEligible]:
    """The exact test of each pair of design crossed or models, or why there is none.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
        NotFinite: the metric gave NaN or infinity.
    """
    settings, find = case.settings, _find_patterns if case.settings.design == "crossed" else _find_choices

    def allowed(pair: Pair, found: _Found) -> _Found:
        if isinstance(found, NotEligible) and settings.method not in ("auto", "montecarlo"):
            raise NotExact(pair, found.reason)
        return found

    plans = {pair: allowed(pair, _plan_exchange(case, pair, find)) for pair in case.question.pairs}
    costs = {pair: plan.seconds for pair, plan in plans.items() if not isinstance(plan, NotEligible)}
    plans |= over_budget(costs, settings)
    return [
        plan if isinstance(plan, NotEligible) else allowed(pair, _test(case, pair, plan))
        for pair, plan in plans.items()
    ]


def _plan_exchange(case: Case, pair: Pair, find: Finder) -> ExchangePlan:
    method, design = case.settings.method, case.settings.design
    if method == "montecarlo":
        return NotEligible("as asked")
    if method in ("dp", "tree"):
        return NotEligible(f"{method} swaps whole units, and design {design} does not")
    plan = find(case, pair)
    if not isinstance(plan, NotEligible) and plan.num_bytes > case.settings.memory * 2**30:
        needed = plan.num_bytes / 2**30
        return NotEligible(f"an exact test takes about {needed:,.3g} GiB, more than {case.settings.memory:,.3g}")
    return plan


def _find_patterns(case: Case, pair: Pair) -> Patterns | NotEligible:
    values, sizes = _outputs(case, pair)
    return find_patterns(values[0], values[1], sizes)


def _find_choices(case: Case, pair: Pair) -> Choices | NotEligible:
    values, sizes = _outputs(case, pair)
    return find_choices(int(sizes[0]), 2 * int(sizes[0]), values.shape[2])


def _outputs(case: Case, pair: Pair) -> Outputs:
    """The outputs of two systems."""
    outputs = case.units.outputs
    assert outputs is not None
    return outputs._replace(values=outputs.values[list(pair)])


def exchanged_law(case: Case, pair: Pair, seconds: float) -> tuple[np.ndarray, np.ndarray] | None:
    """All deltas that exchanges can give, and their chances, each `[value]`; None if it takes longer (nominal).

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    plan = _plan_exchange(case, pair, _find_patterns if case.settings.design == "crossed" else _find_choices)
    if isinstance(plan, NotEligible) or plan.seconds > seconds:
        return None
    return (np.zeros(1), np.ones(1)) if _nothing_varies(plan) else _law(case, pair, plan)[:2]


def _nothing_varies(plan: Patterns | Choices) -> bool:
    return isinstance(plan, Patterns) and not plan.varying.size


def _test(case: Case, pair: Pair, plan: Patterns | Choices) -> ExactP | NotEligible:
    if _nothing_varies(plan):
        return ExactP(1.0, 0.0, 0.0, reason="no output varies within a unit")
    settings = case.settings
    asked = Criterion(*case.question.observed([pair]), settings.alternative, settings.mid_p)
    found = chances_p(*_law(case, pair, plan), asked)
    if isinstance(plan, Choices):
        reason = f"all {plan.number:,} exchanges of whole runs"
    elif found.p_value < SMALLEST_DP:
        return NotEligible("the p-value is too small for sums of probabilities")
    else:
        names = ", ".join(case.metric.stat_names[stat] for stat in plan.varying)
        reason = f"all exchanges of outputs ({names})"
    return found._replace(reason=reason)


def _law(case: Case, pair: Pair, plan: Patterns | Choices) -> tuple[np.ndarray, np.ndarray, float]:
    """Deltas and their chances, each `[value]`, and a bound on the relative error of a chance.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    both = case.units.totals[pair[0]] + case.units.totals[pair[1]]
    if isinstance(plan, Choices):
        both_runs = np.concatenate(whole_runs(_outputs(case, pair)).values)
        of_a = chosen_sums(both_runs, len(both_runs) // 2).astype(np.float64)
        chances, error = np.full(plan.number, 1.0 / plan.number), 0.0
    else:
        sums, chances, error = sum_law(plan)
        # Of the statistics that do not vary within units, both systems have the same, whatever is exchanged.
        of_a = np.tile(both / 2.0, (len(sums), 1))
        of_a[:, plan.varying] = sums
    first, second = case.scores(np.stack([of_a, both - of_a]))
    with np.errstate(all="ignore"):
        deltas = first - second
    check_finite(deltas[None], [pair])
    return deltas, chances, error
