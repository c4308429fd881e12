"""All metrics of a report: their tests, p-values adjusted family by family, and named results with notes.

A family holds the hypotheses whose p-values are adjusted together; each test has its own. The pairs of all metrics are
one family where the settings say "report": then the correction bounds the errors of all statements of a test together,
which is what a table of several metrics is read for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.comparison.analysis import CostIfExact, Subset, TestResults, run_tests, subsets_of
from sigjax.comparison.checks import check_units, named_errors
from sigjax.comparison.notes import (
    Precision,
    common_instances,
    identical_systems,
    interval_notes,
    lone_units,
    precision_of,
    stops,
    unclustered_errors,
    without_bootstrap_ranks,
)
from sigjax.multiple.adjustment import adjusted_pairs, known_bounds, most_resamples
from sigjax.multiple.ranks import significance_ranks
from sigjax.multiple.westfall_young import maxt
from sigjax.records import (
    CORRECTIONS,
    DESIGNS,
    Column,
    Comparisons,
    Evaluation,
    Hint,
    Interval,
    Settings,
    SystemScore,
    Test,
)
from sigjax.records.corrections import adjust
from sigjax.resample.units import units_of_instances
from sigjax.run.context import Context
from sigjax.testing.bootstrap import draw_all
from sigjax.testing.exact import exact_budget
from sigjax.testing.problem import Problem, SumsProblem, problem_of


@dataclass(frozen=True, slots=True, eq=False)
class SubsetResults:
    """Named results of the tests of one subset of the instances, without its statistics."""

    pairs: np.ndarray
    """[pair] the index of each pair among those of the evaluation."""
    pairs_by: dict[Test, Comparisons]
    """For each test, its columns of the pairs."""
    systems: list[SystemScore]
    """Scores and their uncertainty, without what decisions say of them."""
    standing: list[float]
    """Of these systems: scores for their order, which those on their own scale may be too large to show."""
    precision: Precision
    lone: list[str]
    """Notes on strata with one unit."""
    is_ranked: bool
    """Whether there are bootstrap ranks."""
    costs_if_exact: list[CostIfExact]
    """As in `TestResults`; the seconds are for all subsets, of which this has its share."""
    problem: Problem | None
    """None where the subset is not the whole evaluation."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricResults:
    """What a report says of one metric."""

    systems: tuple[SystemScore, ...]
    comparisons: list[Comparisons]
    """Those of each test."""
    notes: tuple[str, ...]
    num_units: int


def metric_results(
    evaluations: Sequence[Evaluation], settings: Settings, context: Context, *, of_suite: bool
) -> list[MetricResults]:
    """Test the pairs of all evaluations, which may be the tasks of a suite, and then adjust their p-values.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    tested = _test_all(evaluations, settings, context, of_suite=of_suite)
    pairs = _adjusted(evaluations, tested, settings, context)
    reach = _reach(evaluations, tested, pairs, settings, of_suite=of_suite)
    each = zip(evaluations, tested, pairs, strict=True)
    return [_of_metric(evaluation, settings, subsets, pairs_by, reach) for evaluation, subsets, pairs_by in each]


def comparisons_of(evaluation: Evaluation, settings: Settings, context: Context) -> Comparisons:
    """The comparisons of the pairs of one evaluation by the first test, without ranks and notes.

    Raises:
        InputError: as `metric_results`.
    """
    tested = _test_all([evaluation], settings, context, of_suite=False)
    return _adjusted([evaluation], tested, settings, context)[0][settings.tests[0]]


def _test_all(
    evaluations: Sequence[Evaluation], settings: Settings, context: Context, *, of_suite: bool
) -> list[list[SubsetResults]]:
    """All tests of the subsets of all evaluations."""
    subsets = [subsets_of(each, settings) for each in evaluations]
    problems = [_problem(own[0], own[0].evaluation) if own[0].number is None else None for own in subsets]
    shared = [problem for problem in problems if isinstance(problem, SumsProblem) and problem.shares_draws]
    drawn = {} if of_suite else _drawn(shared, settings, context)  # tasks have other instances
    tested: list[list[SubsetResults]] = []
    for number, (own, problem) in enumerate(zip(subsets, problems, strict=True), 1):
        labelled = replace(context, label=f"({number} of {len(problems)})") if len(problems) > 1 else context
        tested.append([])
        for subset in own:
            others = None
            if settings.resamples == "auto":
                family = (tested, subsets) if settings.family == "report" else (tested[-1:], [own])
                others = bounds_of_others(*family)
            scores = drawn.pop(subset.whole.metric.name, None)
            tested[-1].append(_test(subset, problem, labelled, scores, others))
    return tested


def _problem(subset: Subset, evaluation: Evaluation) -> Problem:
    """The problem of a subset, whose evaluation is this."""
    with named_errors([evaluation], subset.settings):
        return problem_of(evaluation, subset.settings, subset.members)


def _drawn(problems: Sequence[SumsProblem], settings: Settings, context: Context) -> dict[str, np.ndarray]:
    """Bootstrap scores of these metrics, drawn together where that can be."""
    if len(problems) < 2:
        return {}
    context = context.sized(sum(problem.draw_seconds() for problem in problems))
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        return draw_all(problems, run)


def bounds_of_others(tested: Sequence[Sequence[SubsetResults]], subsets: Sequence[Sequence[Subset]]) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of the other pairs of a family, some subsets of which are tested.

    The next subset is the one that is tested now; nothing is known of those after it.
    """
    before = [one for own in tested for one in own]
    to_come = sum(len(subset.pairs) for subset in [subset for own in subsets for subset in own][len(before) + 1 :])
    known = [known_bounds(one.pairs_by["permutation"]) for one in before if one.pairs_by]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _test(
    subset: Subset, whole: Problem | None, context: Context, drawn: np.ndarray | None, others: np.ndarray | None
) -> SubsetResults:
    """The tests of a subset, refused where they are not those of the run that is to go on.

    `whole` is the problem of a subset that is the whole evaluation, and `drawn` are its bootstrap scores, if any.
    """
    evaluation = subset.evaluation
    problem = whole or _problem(subset, evaluation)
    scores, num_units = np.array(problem.observed_scores), len(problem.units.strata)
    by_name = sorted(range(len(scores)), key=evaluation.systems.__getitem__)
    context = context.at(evaluation.metric.name)
    if subset.number is not None:
        context = context.at(f"instances {subset.number + 1}")
    context.checkpoint.at("scores").check_scores(scores[by_name])
    if "bootstrap" in subset.settings.tests:
        check_units(num_units, "the bootstrap test", f"; use {Hint('test', 'permutation')}")
    with named_errors([evaluation], subset.settings):
        results = run_tests(problem, context, drawn, others)
    return _named(subset, evaluation, problem, scores, results)


def _named(
    subset: Subset, evaluation: Evaluation, problem: Problem, scores: np.ndarray, results: TestResults
) -> SubsetResults:
    """The results of a subset, whose evaluation and observed scores these are, as named columns and records."""
    settings, hypotheses, num_units = problem.settings, problem.hypotheses, len(problem.units.strata)
    of_systems, of_pairs = np.full(len(evaluation.systems), np.nan), np.full(len(hypotheses.members), np.nan)
    has_errors = evaluation.clusters is not None and results.systems[0].standard_error is not None
    if has_errors and isinstance(problem, SumsProblem):
        of_systems, of_pairs = unclustered_errors(evaluation, hypotheses.members, settings.design)
    draws = settings.interval != "none" or "bootstrap" in settings.tests
    columns = _columns(evaluation, problem, scores, results, of_pairs) if results.pairs_by else {}
    unclustered = Column.unless_nan(of_systems).tolist()
    # Subsets have origins of their own.
    standing = scores if subset.number is not None else hypotheses.scores
    uncertainty = [results.systems[k] for k in subset.scored], results.pairs if len(subset.pairs) else []
    kind, zeros = results.interval_kinds.systems, np.zeros(len(subset.pairs), np.int8)
    systems = [
        SystemScore(
            name=evaluation.systems[system],
            metric=evaluation.metric.name,
            score=float(scores[system]),
            standard_error=results.systems[system].standard_error,
            interval=results.systems[system].interval,
            bootstrap_ranks=None if results.ranks is None else results.ranks[system],
            standard_error_unclustered=unclustered[system],
            interval_kind=kind if results.systems[system].interval else None,
        )
        for system in subset.scored
    ]
    return SubsetResults(
        pairs=subset.pairs,
        pairs_by={
            test: pairs.with_columns({**columns, "test": Column(zeros, None, (test,))})
            for test, pairs in results.pairs_by.items()
        },
        systems=systems,
        standing=[standing[system] for system in subset.scored],
        precision=precision_of(problem, results.interval_kinds, *uncertainty),
        lone=lone_units(evaluation) if draws and num_units > 1 else [],
        is_ranked=results.ranks is not None or num_units == 1,
        costs_if_exact=[cost and (cost[0] / subset.share, cost[1]) for cost in results.costs_if_exact],
        problem=problem if subset.number is None else None,
    )


def _columns(
    evaluation: Evaluation, problem: Problem, scores: np.ndarray, results: TestResults, unclustered: np.ndarray
) -> dict[str, Column]:
    """The columns of the pairs of a subset that are the same for all tests."""
    higher, names, members = evaluation.metric.higher_is_better, evaluation.systems, problem.hypotheses.members
    errors = [uncertainty.standard_error for uncertainty in results.pairs]
    ends = [uncertainty.interval for uncertainty in results.pairs]
    (a, b), deltas, count = members.T, problem.hypotheses.deltas, len(members)
    interval = Column.of(ends, Interval)
    return {
        "a": Column(a, None, names),
        "b": Column(b, None, names),
        "metric": Column(np.zeros(count, np.int8), None, (evaluation.metric.name,)),
        "score_a": Column(scores[a]),
        "score_b": Column(scores[b]),
        "delta": Column(deltas),
        "better": Column(np.where((deltas > 0) == higher, a, b), deltas != 0, names),
        "standard_error": Column.of(errors, float),
        "standard_error_unclustered": Column.unless_nan(unclustered),
        "interval": interval,
        "interval_kind": Column(np.zeros(count, np.int8), interval.present, (results.interval_kinds.pairs,)),
    }


def _adjusted(
    evaluations: Sequence[Evaluation],
    tested: Sequence[Sequence[SubsetResults]],
    settings: Settings,
    context: Context,
) -> list[dict[Test, Comparisons]]:
    """The comparisons of each evaluation by each test, in the order of its pairs, adjusted within their families."""
    tables = [_joined(own, settings) for own in tested]
    apart = settings.family == "metric" or len(tables) == 1
    for family in [[number] for number in range(len(tables))] if apart else [list(range(len(tables)))]:
        steps = None
        if CORRECTIONS[settings.correction].is_resampled:
            problems = [each.problem for number in family for each in tested[number]]
            of_sums = [problem for problem in problems if isinstance(problem, SumsProblem)]
            at = context if settings.family == "report" else context.at(evaluations[family[0]].metric.name)
            with named_errors([evaluations[number] for number in family], settings):
                steps = maxt(of_sums, at)
        for test in settings.tests:
            if len(family) == 1:
                tables[family[0]][test] = adjusted_pairs(tables[family[0]][test], settings, steps)
                continue
            pairs = adjusted_pairs(Comparisons.joined([tables[number][test] for number in family]), settings, steps)
            start = 0
            for number in family:
                end = start + len(tables[number][test])
                tables[number][test], start = pairs.at(slice(start, end)), end
    return tables


def _joined(tested: Sequence[SubsetResults], settings: Settings) -> dict[Test, Comparisons]:
    """The columns of the pairs of an evaluation by each test, in the order of the pairs."""
    order = np.argsort(np.concatenate([subset.pairs for subset in tested]))
    parts = [subset.pairs_by for subset in tested if subset.pairs_by]
    columns, joined = {"settings": Column(np.zeros(len(order), np.int8), None, (settings,))}, {}
    for test in settings.tests:
        pairs = parts[0][test]
        if len(parts) > 1:
            pairs = Comparisons.joined([each[test] for each in parts]).at(order)
        joined[test] = pairs.with_columns(columns)
    return joined


def _of_metric(
    evaluation: Evaluation,
    settings: Settings,
    tested: Sequence[SubsetResults],
    pairs_by: Mapping[Test, Comparisons],
    reach: Sequence[str],
) -> MetricResults:
    """What the report says of one metric; `reach` are notes on significance that is out of reach."""
    first = pairs_by[settings.tests[0]]
    notes = [*evaluation.notes, *common_instances(evaluation, first), *identical_systems(evaluation)]
    precisions, fewest = [each.precision for each in tested], min(each.precision.num_units for each in tested)
    if fewest == 1:
        where = "one unit" if evaluation.present is None else "where there is one unit, p can show nothing"
        notes.append(f"{where}: no standard errors and no intervals")
    notes += next((each.lone for each in tested if each.lone), [])
    if settings.leaderboard and not tested[0].is_ranked:
        notes.append(without_bootstrap_ranks(len(evaluation.systems), settings))
    notes += reach
    if settings.resamples == "auto":
        notes += stops(evaluation.metric.name, pairs_by["permutation"])
    if costs := [cost for each in tested for cost in each.costs_if_exact]:
        notes += mixed_floors(pairs_by["permutation"], costs, settings)
    notes += interval_notes(evaluation.metric.name, settings, precisions)
    systems = _ranked(evaluation, settings, tested, first)
    num_units = tested[0].precision.num_units
    if evaluation.present is not None:
        num_units = len(units_of_instances(replace(evaluation, present=None))[1])
    return MetricResults(systems, list(pairs_by.values()), tuple(notes), num_units)


def _ranked(
    evaluation: Evaluation, settings: Settings, tested: Sequence[SubsetResults], pairs: Comparisons
) -> tuple[SystemScore, ...]:
    """The systems with what decisions on all pairs say of them, best first (ties in the order of the data)."""
    by_name = {system.name: system for each in tested for system in each.systems}
    standing = {
        system.name: score for each in tested for system, score in zip(each.systems, each.standing, strict=True)
    }
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    systems = [by_name[name] for name in sorted(evaluation.systems, key=lambda name: sign * standing[name])]
    if settings.baseline is not None or settings.alternative != "two-sided":
        return tuple(systems)
    rank = {system.name: index for index, system in enumerate(systems)}
    a, b, delta, p_adjusted = pairs.columns("a", "b", "delta", "p_adjusted")
    differs = (p_adjusted.values < settings.alpha) & (delta.values != 0)
    first, second = (
        np.array([rank[name] for name in column.labels or ()], np.int64)[column.values[differs]] for column in (a, b)
    )
    a_wins = sign * delta.values[differs] < 0
    ranks = significance_ranks(np.where(a_wins, first, second), np.where(a_wins, second, first), len(systems))
    return tuple(replace(system, **each._asdict()) for system, each in zip(systems, ranks, strict=True))


def _reach(
    evaluations: Sequence[Evaluation],
    tested: Sequence[Sequence[SubsetResults]],
    pairs: Sequence[Mapping[Test, Comparisons]],
    settings: Settings,
    *,
    of_suite: bool,
) -> list[str]:
    """Notes on significance that is out of reach, of which few units and runs are those of the first family."""
    joined = settings.family == "report"
    every = [subset for own in tested for subset in own]
    families = [every] if joined else [list(own) for own in tested]
    of_what = "pairs of all metrics" if joined and len(evaluations) > 1 else "pairs"
    notes: list[str] = []
    for number, family in enumerate(families):
        by_test: Mapping[Test, Comparisons] = pairs[number]
        if of_what != "pairs":
            by_test = {test: Comparisons.joined([each[test] for each in pairs]) for test in settings.tests}
        costs = [cost for each in family for cost in each.costs_if_exact]
        notes += out_of_reach(by_test, of_what, settings, costs)
    num_hypotheses = sum(len(subset.pairs) for subset in families[0])
    for evaluation, family in list(zip(evaluations, families, strict=False))[: None if of_suite else 1]:
        num_units = min(subset.precision.num_units for subset in family if subset.pairs_by)
        named = f"warning: {evaluation.metric.name}: " if len(families) > 1 else "warning: "
        few = too_few_units(num_units, num_hypotheses, settings)
        notes += [note.replace("warning: ", named) for note in few] if of_suite else few
    if settings.design == "models":
        notes += too_few_runs(len(set(evaluations[0].runs or ())), num_hypotheses, settings)
    return notes


def out_of_reach(
    family: Mapping[Test, Comparisons], of_what: str, settings: Settings, costs: Sequence[CostIfExact] = (None,)
) -> list[str]:
    """A note for each test whose Monte Carlo p-values cannot become significant, however small, in one family.

    `costs` is what would make the permutation tests of the family exact.
    """
    notes: list[str] = []
    if CORRECTIONS[settings.correction].is_resampled:
        return notes  # an adjusted p-value is as small as a p-value, however many pairs there are
    for test, pairs in family.items():
        p_values, exceed = pairs.columns("p_value", "exceed")
        is_sampled = exceed.where_present
        if not is_sampled.any():
            continue
        drawn = most_resamples(settings) if test == "permutation" else settings.fixed_resamples
        needed = _needed(p_values.values, is_sampled, drawn, settings)
        if drawn < needed:
            sampled = int(is_sampled.sum())
            of_all = "" if sampled == len(pairs) else f" of {len(pairs):,}"
            exact = _made_exact(costs, settings) if test == "permutation" else ""
            use = f"{exact}, which makes all exact, or --resamples {needed}" if exact else f"--resamples {needed}"
            notes.append(
                f"warning: {sampled:,}{of_all} {of_what} cannot become significant at {settings.alpha:.3g} in the "
                f"{test} test with {drawn:,} resamples; use {use}"
            )
    return notes


def _needed(p_values: np.ndarray, is_sampled: np.ndarray, drawn: int, settings: Settings) -> int:
    """The number of resamples, no fewer than `drawn`, with which the least sampled p-value is significant."""
    while True:
        least = 1.0 / (drawn + 1)
        least_p = np.where(is_sampled, least, p_values)
        times = adjust(least_p, settings.correction)[is_sampled].min() / least
        # m / (K + 1) < alpha from K = floor(m / alpha) on, but for rounding.
        needed = math.floor(times / settings.alpha * (1.0 + 1e-12))
        if needed <= drawn:
            return drawn
        drawn = needed  # a smaller least p-value, which fewer exact ones are below


def too_few_units(num_units: int, num_hypotheses: int, settings: Settings) -> list[str]:
    """A note where permutation tests of so many units cannot become significant, however far apart systems are.

    The least p-value is that of one swap in all 2^N, and of its mirror image where the test is two-sided.

    Example:
        >>> print(*too_few_units(6, 3, Settings()))
        warning: permutation test: 6 units are too few for a decision at 0.05: p is at least 0.0312,
        adjusted at least 0.0938
        >>> too_few_units(7, 3, Settings())
        []
    """
    swaps = "permutation" in settings.tests and DESIGNS[settings.design].exchanges == "units"
    if not swaps or settings.mid_p or num_units == 1:
        return []
    return _too_few(f"{num_units} units", 2.0**-num_units, num_hypotheses, settings)


def too_few_runs(num_runs: int, num_hypotheses: int, settings: Settings) -> list[str]:
    """The same of runs that are exchanged whole, so many of each system.

    Example:
        >>> too_few_runs(3, 1, Settings(design="models"))
        ['warning: permutation test: 3 runs of each system are too few for a decision at 0.05: p is at least 0.1']
        >>> too_few_runs(4, 1, Settings(design="models"))
        []
    """
    least = (0.5 if settings.mid_p else 1.0) / math.comb(2 * num_runs, num_runs)
    return _too_few(f"{num_runs} runs of each system", least, num_hypotheses, settings)


def _too_few(what: str, least: float, num_hypotheses: int, settings: Settings) -> list[str]:
    """A note where the chance `least` of one exchange, and of its mirror image, is too large for a decision."""
    least *= 2 if settings.alternative == "two-sided" else 1
    joint = CORRECTIONS[settings.correction].is_resampled
    of_all = least if joint else adjust(np.full(num_hypotheses, least), settings.correction).min()
    if of_all < settings.alpha:
        return []
    adjusted = f", adjusted at least {of_all:.3g}" if of_all > least else ""
    few = f"{what} are too few for a decision at {settings.alpha:.3g}"
    return [f"warning: permutation test: {few}: p is at least {least:.3g}{adjusted}"]


def mixed_floors(found: Comparisons, costs: Sequence[CostIfExact], settings: Settings) -> list[str]:
    """A note where p-values of sampled pairs end at a floor that exact ones are below, and what makes all exact.

    Args:
        found: all permutation tests of a metric.
        costs: what would make the sampled tests exact.
        settings: of the report.
    """
    p, log10_p, exceed = found.columns("p_value", "log10_p", "exceed")
    is_sampled = exceed.where_present
    lowest, exact = p.values[is_sampled & (exceed.values == 0)], log10_p.values[~is_sampled]
    if not (len(lowest) and len(exact) and exact.min() < math.log10(lowest.min())):
        return []
    least = 10.0 ** (exact.min() % 1.0), math.floor(exact.min())
    what = f"p of {len(lowest):,} sampled pair{'' if len(lowest) == 1 else 's'} is the least there can be"
    note = f"{found.column('metric').distinct()[0]}: {what}, {lowest.min():.2g}"
    note += f", beside exact p down to {least[0]:.1f}e{least[1]}"
    options = _made_exact(costs, settings)
    return [f"{note}; {options} makes all exact" if options else note]


def _made_exact(costs: Sequence[CostIfExact], settings: Settings) -> str:
    """The options with which all tests are exact; "" where none do."""
    if not all(costs):
        return ""
    seconds, gib = np.max([each or (0.0, 0.0) for each in costs], axis=0).tolist()
    asked = ("memory", gib, settings.memory), ("budget", 1.05 * seconds, exact_budget(settings))
    return " ".join(f"--{name} {_upward(need):g}" for name, need, given in asked if need > given)


def _upward(number: float) -> float:
    """The least number of two digits that is no smaller.

    Example:
        >>> _upward(12.1), _upward(0.0123)
        (13.0, 0.013)
    """
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return float(f"{math.ceil(number / unit * (1.0 - 1e-12)) * unit:.6g}")
