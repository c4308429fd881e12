"""All metrics of a report: their tests, p-values adjusted family by family, and named results.

A family holds the hypotheses whose p-values are adjusted together; each test has its own. The pairs of all metrics are
one family where the settings say "report": then the correction bounds the errors of all statements of a test together,
which is what a table of several metrics is read for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.comparison.analysis import Subset, TestResults, run_tests, subsets_of
from sigjax.comparison.checks import check_units, named_errors
from sigjax.comparison.notes import Draft, Precision, lone_strata
from sigjax.metrics import origins
from sigjax.multiple.adjustment import adjusted_pairs, known_bounds
from sigjax.multiple.ranks import significance_ranks
from sigjax.multiple.westfall_young import maxt
from sigjax.records import (
    CORRECTIONS,
    Column,
    Comparisons,
    Design,
    EvaluationRecord,
    Hint,
    Interval,
    Metric,
    Settings,
    SystemScore,
    Test,
)
from sigjax.resample.units import make_units, units_of_instances
from sigjax.run.context import Context
from sigjax.testing.bootstrap import draw_all
from sigjax.testing.jackknife import degrees_of_freedom, delta_method_errors, two_way_errors
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
    is_ranked: bool
    """Whether there are bootstrap ranks."""
    problem: Problem | None
    """None where the subset is not the whole evaluation."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricResults:
    """What a report says of one metric."""

    systems: tuple[SystemScore, ...]
    num_units: int
    draft: Draft
    """The comparisons by each test, and what notes are made of."""


def metric_results(
    evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context, *, of_suite: bool
) -> list[MetricResults]:
    """Test the pairs of all evaluations, which may be the tasks of a suite, and then adjust their p-values.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    tested = _test_all(evaluations, settings, context, of_suite=of_suite)
    pairs = _adjusted(evaluations, tested, settings, context)
    each = zip(evaluations, tested, pairs, strict=True)
    return [_of_metric(evaluation, settings, subsets, pairs_by) for evaluation, subsets, pairs_by in each]


def comparisons_of(evaluation: EvaluationRecord, settings: Settings, context: Context) -> Comparisons:
    """The comparisons of the pairs of one evaluation by the first test, without ranks and notes.

    Raises:
        InputError: as `metric_results`.
    """
    tested = _test_all([evaluation], settings, context, of_suite=False)
    return _adjusted([evaluation], tested, settings, context)[0][settings.tests[0]]


def _test_all(
    evaluations: Sequence[EvaluationRecord], settings: Settings, context: Context, *, of_suite: bool
) -> list[list[SubsetResults]]:
    """All tests of the subsets of all evaluations."""
    subsets = [subsets_of(each, settings) for each in evaluations]
    problems = [_problem(own[0], own[0].evaluation) if own[0].number is None else None for own in subsets]
    # Tasks have other instances.
    drawn = {} if of_suite or len(problems) == 1 else _drawn(problems, settings, context)
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
            tested[-1].append(_test(subset, problem, settings, labelled, scores, others))
    return tested


def _problem(subset: Subset, evaluation: EvaluationRecord) -> Problem:
    """The problem of a subset, whose evaluation is this."""
    with named_errors([evaluation], subset.settings):
        return problem_of(evaluation, subset.settings, subset.members)


def _drawn(problems: Sequence[Problem | None], settings: Settings, context: Context) -> dict[str, np.ndarray]:
    """Bootstrap scores of the metrics of these problems, drawn together where that can be."""
    shared = [problem for problem in problems if isinstance(problem, SumsProblem) and problem.shares_draws]
    if len(shared) < 2:
        return {}
    context = context.sized(sum(problem.draw_seconds() for problem in shared))
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        return draw_all(shared, run)


def bounds_of_others(tested: Sequence[Sequence[SubsetResults]], subsets: Sequence[Sequence[Subset]]) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of the other pairs of a family, some subsets of which are tested.

    The next subset is the one that is tested now; nothing is known of those after it.
    """
    before = [one for own in tested for one in own]
    to_come = sum(len(subset.pairs) for subset in [subset for own in subsets for subset in own][len(before) + 1 :])
    known = [known_bounds(one.pairs_by["permutation"]) for one in before if one.pairs_by]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _test(
    subset: Subset,
    whole: Problem | None,
    settings: Settings,
    context: Context,
    drawn: np.ndarray | None,
    others: np.ndarray | None,
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
    return _named(subset, evaluation, problem, scores, results, settings)


def _named(
    subset: Subset,
    evaluation: EvaluationRecord,
    problem: Problem,
    scores: np.ndarray,
    results: TestResults,
    asked: Settings,
) -> SubsetResults:
    """The results of a subset, whose evaluation and observed scores these are, as named columns and records.

    `asked` are the settings of the report, of whose budget those of the subset have a share.
    """
    settings, hypotheses, num_units = problem.settings, problem.hypotheses, len(problem.units.strata)
    of_systems, of_pairs = np.full(len(evaluation.systems), np.nan), np.full(len(hypotheses.members), np.nan)
    has_errors = evaluation.clusters is not None and results.systems[0].standard_error is not None
    if has_errors and isinstance(problem, SumsProblem):
        of_systems, of_pairs = unclustered_errors(evaluation, hypotheses.members, settings.design)
    draws = settings.interval != "none" or "bootstrap" in settings.tests
    pairs_by, columns = {}, _columns(evaluation, problem, scores, results, of_pairs) if results.pairs_by else {}
    for test, pairs in results.pairs_by.items():
        constant = np.zeros(len(subset.pairs), np.int8)
        named = {"test": Column(constant, None, (test,)), "settings": Column(constant, None, (asked,))}
        pairs_by[test] = pairs.with_columns({**columns, **named})
    unclustered = Column.unless_nan(of_systems).tolist()
    # Subsets have origins of their own.
    standing = scores if subset.number is not None else hypotheses.scores
    uncertainty = [results.systems[k] for k in subset.scored], results.pairs if len(subset.pairs) else []
    by_t = results.interval_kinds.pairs == "wide-t" and isinstance(problem, SumsProblem)
    kind = results.interval_kinds.systems
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
        pairs_by=pairs_by,
        systems=systems,
        standing=[standing[system] for system in subset.scored],
        precision=Precision(
            results.interval_kinds,
            num_units,
            degrees_of_freedom(problem.units.sizes, problem.units.strata) if by_t else math.inf,
            *uncertainty,
            lone_strata(evaluation) if draws and num_units > 1 else [],
            [cost and (cost[0] / subset.share, cost[1]) for cost in results.costs_if_exact],
        ),
        is_ranked=results.ranks is not None or num_units == 1,
        problem=problem if subset.number is None else None,
    )


def _columns(
    evaluation: EvaluationRecord, problem: Problem, scores: np.ndarray, results: TestResults, unclustered: np.ndarray
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
    evaluations: Sequence[EvaluationRecord],
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
    joined = {}
    for test in settings.tests:
        pairs = parts[0][test]
        if len(parts) > 1:
            pairs = Comparisons.joined([each[test] for each in parts]).at(order)
        joined[test] = pairs
    return joined


def _of_metric(
    evaluation: EvaluationRecord,
    settings: Settings,
    tested: Sequence[SubsetResults],
    pairs_by: Mapping[Test, Comparisons],
) -> MetricResults:
    """What the report says of one metric."""
    systems = _ranked(evaluation, settings, tested, pairs_by[settings.tests[0]])
    num_units = tested[0].precision.num_units
    if evaluation.present is not None:
        num_units = len(units_of_instances(replace(evaluation, present=None))[1])
    precisions, is_ranked = [each.precision for each in tested], tested[0].is_ranked
    return MetricResults(systems, num_units, Draft(evaluation, settings, pairs_by, precisions, is_ranked))


def _ranked(
    evaluation: EvaluationRecord, settings: Settings, tested: Sequence[SubsetResults], pairs: Comparisons
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


def unclustered_errors(
    evaluation: EvaluationRecord, members: np.ndarray, design: Design
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors `[system]` and `[pair]` as if instances were independent; NaN where they are not finite.

    Instances are the units then, or ids with all their runs; where the design draws runs within units (nested), the
    variance between the runs of an id is added, and where runs are trained models both errors are two-way errors.

    Example:
        >>> from sigjax import Evaluation
        >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
        >>> clustered = Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"])
        >>> unclustered_errors(clustered, np.array([[0, 1]]), "together")[0].round(6)
        array([0.25    , 0.216506])
    """
    if (nearer := origins(evaluation)) is not None:
        return _errors(nearer.scores, members, design)[0], _errors(nearer.deltas, members, design)[1]
    return _errors(evaluation, members, design)


def _errors(evaluation: EvaluationRecord, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The same of numbers that are not large."""
    metric, pairs = evaluation.metric, [(a, b) for a, b in members.tolist()]
    assert isinstance(metric, Metric)
    if design == "models":
        alone = make_units(replace(evaluation, clusters=None), design)
        of_systems, of_pairs = (
            np.array([one.standard_error for one in found]) for found in two_way_errors(alone, metric.score, pairs)
        )
    else:
        of_systems, of_pairs = delta_method_errors(*_independent(evaluation), metric.score, pairs)
    if design == "nested":
        within = delta_method_errors(*_within(evaluation), metric.score, pairs)
        of_systems, of_pairs = np.hypot(of_systems, within[0]), np.hypot(of_pairs, within[1])
    of_systems[~np.isfinite(of_systems)], of_pairs[~np.isfinite(of_pairs)] = np.nan, np.nan
    return of_systems, of_pairs


def _independent(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, unit, stat]` and strata `[unit]` without the clusters, units of a stratum together."""
    unit, strata = units_of_instances(replace(evaluation, clusters=None))
    stats = evaluation.stats
    values = np.zeros((stats.shape[0], len(strata), stats.shape[2]))
    np.add.at(values.swapaxes(0, 1), unit, stats.swapaxes(0, 1))
    return values, strata


def _within(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, output, stat]`, and the id `[output]` of each as its stratum, outputs of an id together."""
    unit, _ = units_of_instances(replace(evaluation, clusters=None, strata=None))
    order = np.argsort(unit, kind="stable")
    return evaluation.stats[:, order].astype(np.float64), unit[order]
