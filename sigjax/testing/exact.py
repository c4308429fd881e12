"""The permutation test without sampling: the plan for each pair, its cost, and its p-value.

A plan is known before anything is computed. Its cost is in nominal seconds: terms times constants measured once on a
slow core. They do not depend on the machine, so the same data take the same algorithm everywhere.

**Repeated runs**: outputs change places within units (crossed), or whole runs do. A run of design "models" is a trained
model: good or bad on all instances at once. Where two training procedures do not differ, of the 2 R models that they
made every R are as likely to be the first one's, whatever the instances are and however a model's results on them
depend on each other. So the test is that of two samples of R, the results of a model being one of their members.
Reference: Pitman (1937), "Significance tests which may be applied to samples from any populations".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

import numpy as np

from sigjax.exact.choices import chosen_sums, exchange_distribution, find_choices, find_patterns
from sigjax.exact.distributions import dp_cost, dp_null, grid_lengths, tree_cost, tree_error, tree_null, windows
from sigjax.exact.lattice import Lattice, NotEligible, OverBudget, pair_lattices
from sigjax.exact.null import (
    BRACKET_WIDTH,
    MOST_COINS,
    Bracket,
    Criterion,
    Delta,
    ExactP,
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
    log_fraction,
    signs_p,
    threshold_p,
)
from sigjax.exact.planes import plane_ps
from sigjax.records import Metric, Settings
from sigjax.resample.units import Outputs, whole_runs
from sigjax.testing.hypotheses import NotExact, Pair, SumsData, check_finite

_PATIENCE = 1.0
"""Nominal seconds that an exact value may take where a bracket would be narrow enough."""
_BOX = 80.0
"""Exponent of the two-axis box whose cost is counted: that of a p-value near 1e-20."""
_MANY = 200
"""From this many coins on, the characteristic function is near exp(-coins / 4) at a random frequency."""
_LARGEST_STEP = 2**40
"""Differences beyond this are not exact in the arithmetic of a grid."""
_TOGETHER = 2**21
"""Largest number of grid values of pairs that are computed together on one axis."""
_EPSILON = float(np.finfo(np.float64).eps)
SMALLEST_DP = 1e-280
"""Below this, the dynamic program has lost probabilities to underflow."""
AUTO_BUDGET = 10.0
"""Nominal seconds that method="auto" spends on the exact tests of an evaluation."""
EXACT_BUDGET = 600.0
"""The same for an exact method asked for by name."""

ExactResult = ExactP | NotEligible
Algorithm = Callable[[SumsData, Mapping[Pair, "Plan"], str | None], Iterable[tuple[Pair, ExactResult]]]
"""(problem, plans of some pairs, platform of JAX or None) -> the p-value of each pair."""
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
    algorithm: Algorithm
    """Pairs whose plans have the same function are computed together."""
    method: Literal["exact", "dp", "tree"] = "exact"


def plan_pair(lattice: Lattice, method: str, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
    """The algorithm for a lattice, if one fits into memory.

    Args:
        lattice: the pair.
        method: "dp", "tree", or anything else for the fastest.
        rounded: the statistics are rounded reals, so their lattice means nothing.
        num_bytes: memory that may be used.
    """
    if lattice.axes == 0:
        return Plan(lattice, 0.0, 0.0, "no unit differs", _identical)
    if method in ("dp", "tree"):
        plan = _dynamic_program(lattice) if method == "dp" else _tree(lattice)
        if rounded:
            return NotEligible(f"the statistics are reals, held rounded; {method} takes whole numbers or decimals")
        return plan if plan.num_bytes <= num_bytes else _too_large(plan, num_bytes)
    if lattice.axes == 1:
        return _plan_axis(lattice, rounded=rounded, num_bytes=num_bytes)
    if rounded:
        return NotEligible("two statistics differ and are reals, held rounded; exact tests of two take whole numbers")
    plan = _plane(lattice)
    return plan if plan.num_bytes <= num_bytes else _too_large(plan, num_bytes)


def _plan_axis(lattice: Lattice, *, rounded: bool, num_bytes: float) -> Plan | NotEligible:
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


def _too_large(plan: Plan, num_bytes: float) -> OverBudget:
    """The reason, with the memory needed."""
    reason = f"an exact test takes about {_gib(plan.num_bytes)} GiB, more than {_gib(num_bytes)}"
    return OverBudget(reason, plan.seconds, plan.num_bytes / 2**30)


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
    return Plan(lattice, seconds, 150.0 * values if usable else math.inf, "one statistic differs{}", _on_lines)


def _halves(lattice: Lattice) -> list[Plan]:
    if lattice.coins > MOST_COINS:
        return []
    sums = 2 ** (lattice.coins // 2 + 1)  # to sort and to look up
    algorithm = _singly(partial(_by_count, count_from))
    return [Plan(lattice, 3e-4 + 1.5e-8 * sums, 40.0 * sums, "few units differ{}", algorithm)]


def _extreme(lattice: Lattice) -> list[Plan]:
    count = count_extreme(lattice, abs(int(lattice.observed[0])))
    if count is None:
        return []
    algorithm = _singly(partial(_by_count, count_extreme))
    return [Plan(lattice, 2e-4 + 1e-6 * (count + lattice.coins), 40.0 * count, "few swaps are as extreme{}", algorithm)]


def _bracket(lattice: Lattice) -> Plan:
    step, length = choose_step(lattice, abs(float(lattice.observed[0])))

    def test(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactResult:
        return _by_tail(lattice, delta, criterion, lambda edge: bracket_tail(lattice, edge, step), None)

    seconds = 3e-3 + 4e-7 * length + _terms(lattice, length)
    words = f"one statistic differs{{}}; bracket narrower than {BRACKET_WIDTH:.0%}"
    return Plan(lattice, seconds, 250.0 * length, words, _singly(test))


def plan_signs(lattice: Lattice) -> Plan:
    """All signs of few units, see `few_units`."""
    cost = lattice.axes * math.ldexp(0.5, lattice.coins)  # outcomes times statistics
    return Plan(lattice, 5e-4 + 1e-7 * cost, 100.0 * cost, "few units differ{}", _singly(signs_p))


def _plane(lattice: Lattice) -> Plan:
    box = windows(lattice.rows, lattice.multiplicity, np.zeros(2), _BOX).max(axis=1)
    points = float(np.prod(np.minimum(box, lattice.reach) + 1.0))
    seconds = 2.5e-3 + 6e-8 * points + _terms(lattice, points)
    return Plan(lattice, seconds, 40.0 * points, "two statistics differ{}", _on_planes)


def _dynamic_program(lattice: Lattice) -> Plan:
    """Algorithm 3 of Zmigrod et al.; like the next, it holds every value that the sum can reach."""

    def test(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactResult:
        found = full_p(lattice, dp_null(lattice), lambda p: lattice.coins * _EPSILON * p, delta, criterion)
        return (
            found if found.p_value >= SMALLEST_DP else NotEligible("the p-value is too small for the dynamic program")
        )

    seconds, words = 0.2 + 1.5e-9 * dp_cost(lattice), "dynamic program over units{}"
    return Plan(lattice, seconds, 60.0 * _num_points(lattice), words, _singly(test), "dp")


def _tree(lattice: Lattice) -> Plan:
    """Algorithm 4."""

    def test(lattice: Lattice, delta: Delta, criterion: Criterion) -> ExactResult:
        return full_p(lattice, tree_null(lattice), lambda _: tree_error(lattice), delta, criterion)

    seconds, words = 1.0 + 1e-8 * tree_cost(lattice), "tree of products{}"
    return Plan(lattice, seconds, 320.0 * _num_points(lattice), words, _singly(test), "tree")


def _num_points(lattice: Lattice) -> float:
    return float(np.prod(lattice.reach.astype(np.float64) + 1.0))


def _identical(
    problem: SumsData, plans: Mapping[Pair, Plan], platform: str | None
) -> Iterator[tuple[Pair, ExactResult]]:
    del problem, platform
    for pair in plans:
        yield pair, ExactP(1.0, 0.0, 0.0)


def _on_lines(
    problem: SumsData, plans: Mapping[Pair, Plan], platform: str | None
) -> Iterator[tuple[Pair, ExactResult]]:
    """Pairs with one axis are grouped by grid and number of rows, in groups small enough to be computed together."""

    def size(pair: Pair) -> tuple[int, int]:
        lattice = plans[pair].lattice
        return grid_lengths(lattice)[0], (len(lattice.rows) - 1).bit_length()

    for (length, rows), group in groupby(sorted(plans, key=size), key=size):
        pairs, many = list(group), max(1, _TOGETHER // (length * 2**rows))
        for some in (pairs[start : start + many] for start in range(0, len(pairs), many)):
            lattices = [plans[pair].lattice for pair in some]
            deltas, criterion = pair_deltas(problem, some, lattices), _criterion(problem, some)
            yield from zip(some, line_ps(lattices, deltas, criterion, platform), strict=True)


def _on_planes(
    problem: SumsData, plans: Mapping[Pair, Plan], platform: str | None
) -> Iterator[tuple[Pair, ExactResult]]:
    """Pairs with two axes; on a GPU as many at a time as fit into half of the memory, else one."""
    groups = np.arange(len(plans))
    if platform:
        groups = np.cumsum([plan.num_bytes for plan in plans.values()]) // (problem.settings.memory * 2**29)
    group_of = dict(zip(plans, groups.tolist(), strict=True))
    for _, group in groupby(plans, key=group_of.__getitem__):
        pairs = list(group)
        lattices = [plans[pair].lattice for pair in pairs]
        deltas = [pair_deltas(problem, [pair], [plans[pair].lattice]) for pair in pairs]
        criteria = [_criterion(problem, [pair]) for pair in pairs]
        yield from zip(pairs, plane_ps(lattices, deltas, criteria, platform), strict=True)


def _singly(test: PairTest) -> Algorithm:
    """Pairs are tested by themselves."""

    def algorithm(
        problem: SumsData, plans: Mapping[Pair, Plan], platform: str | None
    ) -> Iterator[tuple[Pair, ExactResult]]:
        del platform
        for pair, plan in plans.items():
            yield pair, test(plan.lattice, pair_deltas(problem, [pair], [plan.lattice]), _criterion(problem, [pair]))

    return algorithm


def _by_count(
    count: Callable[[Lattice, int], int | None], lattice: Lattice, delta: Delta, criterion: Criterion
) -> ExactResult:
    """The test by the number of sign vectors in the tail."""

    def tail(edge: float) -> Bracket:
        number = count(lattice, int(edge))
        if number is None:  # so many are ties with the observed sum
            return Bracket(-math.inf, 0.0)
        log_p = log_fraction(number, lattice.coins)
        return Bracket(log_p, log_p)

    return _by_tail(lattice, delta, criterion, tail, lattice.coins)


def _by_tail(lattice: Lattice, delta: Delta, criterion: Criterion, tail: Tail, coins: int | None) -> ExactResult:
    """The test by the tail of a monotone score; `coins` where tails are whole numbers of outcomes."""
    observed, tolerance = float(criterion.delta[0]), float(criterion.tolerance[0])
    edges = find_edges(lattice, lambda sums: delta(sums[None])[0], observed, tolerance, criterion.alternative)
    if edges is None:
        return NotEligible("the score is not monotone in the statistic that differs")
    return bracketed_p(threshold_p(edges, tail, criterion.alternative, mid_p=criterion.mid_p), coins)


def exact_tests(problem: SumsData, pairs: Sequence[Pair], platform: str | None = None) -> list[ExactResult]:
    """The exact test of each of some pairs, or why there is none; a test whose error turns out too large says so.

    JAX computes characteristic functions and their FFTs on `platform`; without one, NumPy does.

    Raises:
        NotExact: an exact method was asked for, and some pair has no exact test or all take too long.
    """
    plans = plan_exact(problem, pairs)
    groups: dict[Algorithm, dict[Pair, Plan]] = defaultdict(dict)
    for pair, plan in plans.items():
        if isinstance(plan, Plan):
            groups[plan.algorithm][pair] = plan
    found = dict(result for algorithm, group in groups.items() for result in algorithm(problem, group, platform))
    results = {
        pair: _named(plan, found[pair], problem.metric) if isinstance(plan, Plan) else plan
        for pair, plan in plans.items()
    }
    _require(problem, results)
    return list(results.values())


def _require(problem: SumsData, results: Mapping[Pair, object]) -> None:
    """Refuse a pair without an exact test where an exact method was asked for.

    Raises:
        NotExact: as said.
    """
    for pair, result in results.items():
        if isinstance(result, NotEligible) and problem.settings.method not in ("auto", "montecarlo"):
            raise NotExact(pair, result.reason)


def plan_exact(problem: SumsData, pairs: Sequence[Pair]) -> dict[Pair, Plan | NotEligible]:
    """How to test each pair exactly, or why not; the budget is for all of them.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
    """
    units, settings = problem.units, problem.settings
    if settings.method == "montecarlo":
        return dict.fromkeys(pairs, NotEligible("as asked"))
    plans: dict[Pair, Plan | NotEligible] = {}
    lattices = pair_lattices(units.values, pairs, problem.metric.stat_names)
    for pair, lattice in zip(pairs, lattices, strict=True):
        plans[pair] = _plan(problem, pair, lattice)
    _require(problem, plans)
    costs = {pair: plan.seconds for pair, plan in plans.items() if isinstance(plan, Plan)}
    refused = {pair: plan for pair, plan in plans.items() if isinstance(plan, OverBudget)}
    total = sum(costs.values()) + sum(plan.seconds for plan in refused.values())
    refused |= over_budget(costs, settings)
    return plans | {pair: replace(plan, seconds=total) for pair, plan in refused.items()}


def _plan(problem: SumsData, pair: Pair, lattice: Lattice | NotEligible) -> Plan | NotEligible:
    """The plan for one pair; where few units differ, all signs may be the cheapest."""
    settings, plan = problem.settings, lattice
    num_bytes = settings.memory * 2**30
    if isinstance(plan, Lattice):
        plan = plan_pair(plan, settings.method, rounded=not problem.units.exact, num_bytes=num_bytes)
    if settings.method in ("dp", "tree") or (isinstance(plan, Plan) and plan.lattice.axes < 2):
        return plan
    few = few_units(*problem.units.values[list(pair)])
    if few is None:
        return plan
    signs = plan_signs(few)
    cheaper = isinstance(plan, NotEligible) or signs.seconds < plan.seconds
    return signs if cheaper and signs.num_bytes <= num_bytes else plan


def exact_budget(settings: Settings) -> float:
    """Nominal seconds that the exact tests of an evaluation may take."""
    if settings.budget is not None:
        return settings.budget
    return EXACT_BUDGET if settings.method in ("exact", "dp", "tree") else AUTO_BUDGET


def over_budget(costs: dict[Pair, float], settings: Settings) -> dict[Pair, OverBudget]:
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
        refused[pair] = OverBudget(reason, sum(costs.values()), 0.0)
    return refused


def _named(plan: Plan, result: ExactResult, metric: Metric) -> ExactResult:
    if isinstance(result, NotEligible):
        return result
    if not result.error_bound <= BRACKET_WIDTH:
        return NotEligible(f"the rounding error of the exact test may exceed {BRACKET_WIDTH:.0%} of p")
    return result._replace(reason=_reason(plan, metric), method=plan.method)


def _reason(plan: Plan, metric: Metric) -> str:
    """The method, and the statistics that differ: more than the axes where they are linearly related."""
    lattice = plan.lattice
    varying = np.flatnonzero(lattice.basis[lattice.rows.any(axis=0)].any(axis=0))
    related = ": linearly related" if varying.size > lattice.axes else ""
    names = ", ".join(metric.stat_names[stat] for stat in varying)
    return plan.words.format(f" ({names}{related})" if names else "")


def _criterion(problem: SumsData, pairs: Sequence[Pair]) -> Criterion:
    return Criterion(*problem.hypotheses.observed(pairs), problem.settings.alternative, problem.settings.mid_p)


def pair_deltas(problem: SumsData, pairs: Sequence[Pair], lattices: Sequence[Lattice]) -> Delta:
    """Differences of scores as a function of S: swaps keep a* + b*, and a* - b* is S times the basis.

    The function raises NotFinite where the metric gives NaN or infinity.
    """
    systems = np.array(pairs).T
    half = 0.5 * (problem.units.totals[systems[0]] + problem.units.totals[systems[1]])
    basis = 0.5 * np.array([lattice.basis for lattice in lattices])

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
        of_a, of_b = problem.scores(np.moveaxis(sums, 0, -1))
        with np.errstate(all="ignore"):
            found = of_a - of_b
        check_finite(found, pairs)
        return found

    return delta


@dataclass(frozen=True, eq=False, slots=True)
class Exchange:
    """An exact test of runs: all deltas that exchanges can give."""

    seconds: float
    """Nominal."""
    num_bytes: float
    words: str
    deltas: Callable[[], tuple[np.ndarray, np.ndarray, float]] | None
    """Deltas and their chances, each `[value]`, and a bound on the relative error of a chance; None where no output
    varies within a unit."""
    least: float = 0.0
    """Smaller p-values are lost to underflow."""


def exchanged_tests(problem: SumsData) -> list[ExactResult]:
    """The exact test of each pair of design crossed or models, or why there is none.

    Raises:
        NotExact: an exact method was asked for, and some pair is not eligible or all take too long.
        NotFinite: the metric gave NaN or infinity.
    """
    plans = {pair: _plan_exchange(problem, pair) for pair in problem.hypotheses.pairs}
    _require(problem, plans)
    costs = {pair: plan.seconds for pair, plan in plans.items() if isinstance(plan, Exchange)}
    plans |= over_budget(costs, problem.settings)
    results = {pair: _exchanged(problem, pair, plan) for pair, plan in plans.items()}
    _require(problem, results)
    return list(results.values())


def exchanged_deltas(problem: SumsData, pair: Pair, seconds: float) -> tuple[np.ndarray, np.ndarray] | None:
    """All deltas that exchanges can give, and their chances, each `[value]`; None if it takes longer (nominal).

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    plan = _plan_exchange(problem, pair)
    if isinstance(plan, NotEligible) or plan.seconds > seconds:
        return None
    return (np.zeros(1), np.ones(1)) if plan.deltas is None else plan.deltas()[:2]


def _plan_exchange(problem: SumsData, pair: Pair) -> Exchange | NotEligible:
    method, design, memory = problem.settings.method, problem.settings.design, problem.settings.memory
    if method == "montecarlo":
        return NotEligible("as asked")
    if method in ("dp", "tree"):
        return NotEligible(f"{method} swaps whole units, and design {design} does not")
    plan = (_plan_patterns if problem.exchanges == "outputs" else _plan_choices)(problem, pair)
    if isinstance(plan, Exchange) and plan.num_bytes > memory * 2**30:
        return NotEligible(f"an exact test takes about {_gib(plan.num_bytes)} GiB, more than {memory:,.3g}")
    return plan


def _exchanged(problem: SumsData, pair: Pair, plan: Exchange | NotEligible) -> ExactResult:
    if isinstance(plan, NotEligible):
        return plan
    if plan.deltas is None:
        return ExactP(1.0, 0.0, 0.0, reason=plan.words)
    found = chances_p(*plan.deltas(), _criterion(problem, [pair]))
    if found.p_value < plan.least:
        return NotEligible("the p-value is too small for sums of probabilities")
    return found._replace(reason=plan.words)


def _plan_patterns(problem: SumsData, pair: Pair) -> Exchange | NotEligible:
    """All exchanges of outputs within units."""
    outputs = _outputs(problem, pair)
    values, sizes = outputs.values, outputs.sizes
    patterns = find_patterns(values[0], values[1], sizes)
    if isinstance(patterns, NotEligible):
        return patterns
    if not patterns.varying.size:
        return Exchange(patterns.seconds, patterns.num_bytes, "no output varies within a unit", None)

    def deltas() -> tuple[np.ndarray, np.ndarray, float]:
        sums, chances, error = exchange_distribution(patterns)
        # Of the statistics that do not vary within units, both systems have the same, whatever is exchanged.
        of_a = np.tile(problem.units.totals[list(pair)].sum(axis=0) / 2.0, (len(sums), 1))
        of_a[:, patterns.varying] = sums
        return _deltas_of(problem, pair, of_a), chances, error

    names = ", ".join(problem.metric.stat_names[stat] for stat in patterns.varying)
    return Exchange(patterns.seconds, patterns.num_bytes, f"all exchanges of outputs ({names})", deltas, SMALLEST_DP)


def _plan_choices(problem: SumsData, pair: Pair) -> Exchange | NotEligible:
    """All exchanges of whole runs."""
    outputs = _outputs(problem, pair)
    values, sizes = outputs.values, outputs.sizes
    choices = find_choices(int(sizes[0]), 2 * int(sizes[0]), values.shape[2])
    if isinstance(choices, NotEligible):
        return choices

    def deltas() -> tuple[np.ndarray, np.ndarray, float]:
        of_both = np.concatenate(whole_runs(_outputs(problem, pair)).values)
        of_a = chosen_sums(of_both, len(of_both) // 2).astype(np.float64)
        return _deltas_of(problem, pair, of_a), np.full(choices.number, 1.0 / choices.number), 0.0

    return Exchange(choices.seconds, choices.num_bytes, f"all {choices.number:,} exchanges of whole runs", deltas)


def _outputs(problem: SumsData, pair: Pair) -> Outputs:
    """The outputs of two systems."""
    outputs = problem.units.outputs
    assert outputs is not None
    return replace(outputs, values=outputs.values[list(pair)])


def _deltas_of(problem: SumsData, pair: Pair, of_a: np.ndarray) -> np.ndarray:
    """Deltas `[value]` where the first system has the sums `[value, stat]`.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    both = problem.units.totals[pair[0]] + problem.units.totals[pair[1]]
    first, second = problem.scores(np.stack([of_a, both - of_a]))
    with np.errstate(all="ignore"):
        deltas = first - second
    check_finite(deltas[None], [pair])
    return deltas
