"""Notes on p-values that cannot be small enough: for a decision, or beside those of other pairs.

The leaderboard of one evaluation: answers and adjusted p-values of its parts -> named records, ranks and notes.

All evaluations: test their pairs, adjust p-values family by family, and make a leaderboard of each metric.

A family holds the hypotheses whose p-values are adjusted together; each test has its own. The pairs of all metrics are
one family where the settings say "report": then the correction bounds the errors of all statements of a test together,
which is what a table of several metrics is read for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.comparison.analysis import Part, TestResults, parts_of, run_tests
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
from sigjax.metrics.suites import is_part
from sigjax.multiple.adjustment import adjusted_pairs, known_bounds, most_resamples
from sigjax.multiple.ranks import SignificanceRank, significance_ranks
from sigjax.multiple.westfall_young import maxt
from sigjax.records import CORRECTIONS, Column, Comparisons, Evaluation, Hint, Interval, Settings, SystemScore, Test
from sigjax.records.corrections import adjust
from sigjax.resample.units import units_of_instances
from sigjax.run.context import Context
from sigjax.testing.bootstrap import draw_all
from sigjax.testing.exact import exact_budget
from sigjax.testing.problem import Problem, SumsProblem, problem_of

CostIfExact = tuple[float, float] | None
"""Nominal seconds and GiB with which sampled tests would be exact; None where nothing makes them so."""


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
        is_sampled = pairs.column("exceed").where_present
        if not is_sampled.any():
            continue
        drawn = most_resamples(settings) if test == "permutation" else settings.fixed_resamples
        needed = _needed(pairs.column("p_value").values, is_sampled, drawn, settings)
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
    swaps = "permutation" in settings.tests and settings.design not in ("crossed", "models")
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
    p, log10_p, exceed = found.arrays("p_value", "log10_p", "exceed")
    is_sampled = found.column("exceed").where_present
    lowest, exact = p[is_sampled & (exceed == 0)], log10_p[~is_sampled]
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


class Tested(NamedTuple):
    """What the tests say of a part of an evaluation, without its statistics."""

    metric: str
    pairs: np.ndarray
    """[pair] the position of each pair among those of the evaluation."""
    pairs_by: dict[Test, Comparisons]
    """For each test, its columns of the pairs."""
    systems: list[SystemScore]
    """Scores and their spread, without what decisions say of them."""
    standing: list[float]
    """Of these systems: scores for their order, which those on their own scale may be too large to show."""
    precision: Precision
    lone: list[str]
    """Notes on strata with one unit."""
    ranked: bool
    """Whether there are bootstrap ranks."""
    cost_if_exact: CostIfExact
    """As in `TestResults`; the seconds are for all parts, of which this has its share."""
    case: Problem | None
    """None where the part is not the whole evaluation."""


class Leaderboard(NamedTuple):
    """The part of a report that comes from one evaluation."""

    systems: tuple[SystemScore, ...]
    comparisons: list[Comparisons]
    """Those of each test."""
    notes: tuple[str, ...]
    num_units: int


def costs_if_exact(tested: Sequence[Tested]) -> list[CostIfExact]:
    """What would make the permutation tests exact of each part that has sampled some."""
    tests = [(one.cost_if_exact, one.pairs_by.get("permutation")) for one in tested]
    return [cost for cost, pairs in tests if pairs and pairs.column("exceed").where_present.any()]


def described(part: Part, evaluation: Evaluation, case: Problem, results: TestResults) -> Tested:
    """The results of a part, whose evaluation is this, as named records."""
    settings, hypotheses, num_units = case.settings, case.hypotheses, len(case.units.strata)
    unclustered = np.full(len(evaluation.systems), np.nan), np.full(len(hypotheses.members), np.nan)
    if (
        isinstance(case, SumsProblem)
        and evaluation.clusters is not None
        and results.systems[0].standard_error is not None
    ):
        unclustered = unclustered_errors(evaluation, hypotheses.members, settings.design)
    draws = settings.interval != "none" or "bootstrap" in settings.tests
    of_pairs = results.pairs if len(part.pairs) else []
    # Parts have origins of their own.
    standing = hypotheses.scores if part.number is None else case.observed_scores
    columns = _columns(evaluation, case, results, unclustered[1])
    return Tested(
        metric=evaluation.metric.name,
        pairs=part.pairs,
        pairs_by={
            test: pairs.with_columns(columns | {"test": Column.constant(test, len(pairs))})
            for test, pairs in results.pairs_by.items()
        },
        systems=[_system(evaluation, case, results, unclustered[0], system) for system in part.scored],
        standing=[standing[system] for system in part.scored],
        precision=precision_of(case, results.interval_kinds, [results.systems[k] for k in part.scored], of_pairs),
        lone=lone_units(evaluation) if draws and num_units > 1 else [],
        ranked=results.ranks is not None or num_units == 1,
        cost_if_exact=results.cost_if_exact and (results.cost_if_exact[0] / part.share, results.cost_if_exact[1]),
        case=case if part.number is None else None,
    )


def leaderboard(
    evaluation: Evaluation,
    settings: Settings,
    tested: Sequence[Tested],
    comparisons: Mapping[Test, Comparisons],
    reach: Sequence[str],
) -> Leaderboard:
    """Named records of one evaluation from those of its parts, and its notes.

    `reach` are those on significance that is out of reach.
    """
    first = comparisons[settings.tests[0]]
    notes = [*evaluation.notes, *common_instances(evaluation, first), *identical_systems(evaluation)]
    precisions, fewest = [one.precision for one in tested], min(one.precision.num_units for one in tested)
    if fewest == 1:
        where = "one unit" if evaluation.present is None else "where there is one unit, p can show nothing"
        notes.append(f"{where}: no standard errors and no intervals")
    notes += next((one.lone for one in tested if one.lone), [])
    if settings.leaderboard and not tested[0].ranked:
        notes.append(without_bootstrap_ranks(len(evaluation.systems), settings))
    notes += reach
    if settings.resamples == "auto":
        notes += stops(evaluation.metric.name, comparisons["permutation"])
    if "permutation" in settings.tests:
        notes += mixed_floors(comparisons["permutation"], costs_if_exact(tested), settings)
    notes += interval_notes(evaluation.metric.name, settings, precisions)
    systems = _ranked(evaluation, settings, tested, first)
    num_units = len(units_of_instances(replace(evaluation, present=None))[1])
    return Leaderboard(systems, list(comparisons.values()), tuple(notes), num_units)


def _system(
    evaluation: Evaluation, case: Problem, results: TestResults, unclustered: np.ndarray, system: int
) -> SystemScore:
    """The score of a system, without what decisions say of it."""
    return SystemScore(
        evaluation.systems[system],
        evaluation.metric.name,
        case.observed_scores[system],
        *results.systems[system],
        *SignificanceRank(),
        None if results.ranks is None else results.ranks[system],
        None if math.isnan(unclustered[system]) else float(unclustered[system]),
        results.interval_kinds.systems if results.systems[system].interval else None,
    )


def _ranked(
    evaluation: Evaluation, settings: Settings, tested: Sequence[Tested], pairs: Comparisons
) -> tuple[SystemScore, ...]:
    """The systems with what decisions on all pairs say of them, best first (ties in the order of the data)."""
    by_name = {system.name: system for one in tested for system in one.systems}
    standing = {system.name: each for one in tested for system, each in zip(one.systems, one.standing, strict=True)}
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    systems = [by_name[name] for name in sorted(evaluation.systems, key=lambda name: sign * standing[name])]
    if settings.baseline is not None or settings.alternative != "two-sided":
        return tuple(systems)
    position = {system.name: place for place, system in enumerate(systems)}
    p_adjusted, deltas = pairs.arrays("p_adjusted", "delta")
    found = pairs.at(np.flatnonzero((p_adjusted < settings.alpha) & (deltas != 0)))
    a, b = (found.column(name).mapped(position.__getitem__) for name in ("a", "b"))
    a_wins = sign * found.column("delta").values < 0
    ranks = significance_ranks(np.where(a_wins, a, b), np.where(a_wins, b, a), len(systems))
    return tuple(replace(system, **rank._asdict()) for system, rank in zip(systems, ranks, strict=True))


def _columns(evaluation: Evaluation, case: Problem, results: TestResults, unclustered: np.ndarray) -> dict[str, Column]:
    """The columns of the pairs of a part that are the same for all tests."""
    hypotheses = case.hypotheses
    higher, names, (a, b) = evaluation.metric.higher_is_better, evaluation.systems, hypotheses.members.T
    scores, deltas, count = np.array(case.observed_scores), hypotheses.deltas, len(hypotheses.members)
    interval = Column.of((each.interval for each in results.pairs), Interval)
    return {
        "a": Column(a, None, names),
        "b": Column(b, None, names),
        "metric": Column.constant(evaluation.metric.name, count),
        "score_a": Column(scores[a]),
        "score_b": Column(scores[b]),
        "delta": Column(deltas),
        "better": Column(np.where((deltas > 0) == higher, a, b), deltas != 0, names),
        "standard_error": Column.of((each.standard_error for each in results.pairs), float),
        "standard_error_unclustered": Column.unless_nan(unclustered),
        "interval": interval,
        "interval_kind": Column(np.zeros(count, np.int8), interval.present, (results.interval_kinds.pairs,)),
    }


def leaderboards(evaluations: Sequence[Evaluation], settings: Settings, context: Context) -> list[Leaderboard]:
    """Test the pairs of all evaluations, and then adjust their p-values.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    tested = _test_all(evaluations, settings, context)
    pairs = _adjusted(evaluations, tested, settings, context)
    reach = _reach(evaluations, tested, pairs, settings)
    each = zip(evaluations, tested, pairs, strict=True)
    return [leaderboard(evaluation, settings, own, own_pairs, reach) for evaluation, own, own_pairs in each]


def comparisons_of(evaluation: Evaluation, settings: Settings, context: Context) -> Comparisons:
    """The comparisons of the pairs of one evaluation by the first test, without ranks and notes.

    Raises:
        InputError: as `leaderboards`.
    """
    tested = _test_all([evaluation], settings, context)
    return _adjusted([evaluation], tested, settings, context)[0][settings.tests[0]]


def _test_all(evaluations: Sequence[Evaluation], settings: Settings, context: Context) -> list[list[Tested]]:
    """All tests of the parts of all evaluations."""
    parts = [parts_of(each, settings) for each in evaluations]
    problems = [_problem(own[0], own[0].evaluation) if own[0].number is None else None for own in parts]
    shared = [problem for problem in problems if isinstance(problem, SumsProblem) and problem.shares_draws]
    drawn = {} if is_part(evaluations[0]) else _drawn(shared, settings, context)  # tasks have other instances
    tested: list[list[Tested]] = []
    for number, (own, problem) in enumerate(zip(parts, problems, strict=True), 1):
        at = replace(context, label=f"({number} of {len(problems)})" if len(problems) > 1 else "")
        tested.append([])
        for part in own:
            others = None
            if settings.resamples == "auto":
                family = (tested, parts) if settings.family == "report" else (tested[-1:], [own])
                others = bounds_of_others(*family)
            tested[-1].append(_tested(part, problem, at, drawn.pop(part.whole.metric.name, None), others))
    return tested


def _drawn(cases: Sequence[SumsProblem], settings: Settings, context: Context) -> dict[str, np.ndarray]:
    """Bootstrap scores of these metrics, drawn together where that can be."""
    if len(cases) < 2:
        return {}
    with context.sized(sum(case.draw_seconds() for case in cases)).run(
        "bootstrap", settings.fixed_resamples, settings.seed
    ) as run:
        return draw_all(cases, run)


def _adjusted(
    evaluations: Sequence[Evaluation], tested: Sequence[Sequence[Tested]], settings: Settings, context: Context
) -> list[dict[Test, Comparisons]]:
    """The comparisons of each evaluation by each test, in the order of its pairs, adjusted within their families."""
    tables: list[dict[Test, Comparisons]] = []
    for own in tested:
        order = np.argsort(np.concatenate([one.pairs for one in own]))
        parts = [one.pairs_by for one in own if one.pairs_by]
        asked = {"settings": Column.constant(settings, len(order))}
        joined: dict[Test, Comparisons] = {
            test: Comparisons.joined([each[test] for each in parts]) for test in settings.tests
        }
        joined = {test: pairs.with_columns(asked) for test, pairs in joined.items()}
        tables.append(joined if len(parts) == 1 else {test: pairs.at(order) for test, pairs in joined.items()})
    each = [range(len(tables))] if settings.family == "report" else [range(i, i + 1) for i in range(len(tables))]
    for family in each:
        steps = None
        if CORRECTIONS[settings.correction].is_resampled:
            cases = [one.case for number in family for one in tested[number] if isinstance(one.case, SumsProblem)]
            at = context if settings.family == "report" else context.at(evaluations[family[0]].metric.name)
            with named_errors([evaluations[number] for number in family], settings):
                steps = maxt(cases, at)
        for test in settings.tests:
            pairs = adjusted_pairs(Comparisons.joined([tables[number][test] for number in family]), settings, steps)
            start = 0
            for number in family:
                end = start + len(tables[number][test])
                tables[number][test], start = pairs.at(slice(start, end)), end
    return tables


def bounds_of_others(tested: Sequence[Sequence[Tested]], parts: Sequence[Sequence[Part]]) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of the other pairs of a family, some parts of which are tested.

    The next part is the one that is tested now; nothing is known of those after it.
    """
    before = [one for own in tested for one in own]
    to_come = sum(len(part.pairs) for part in [part for own in parts for part in own][len(before) + 1 :])
    known = [known_bounds(one.pairs_by["permutation"]) for one in before if one.pairs_by]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _problem(part: Part, evaluation: Evaluation) -> Problem:
    """The case of a part, whose evaluation is this."""
    with named_errors([evaluation], part.settings):
        return problem_of(evaluation, part.settings, part.members)


def _tested(
    part: Part, whole: Problem | None, context: Context, drawn: np.ndarray | None, others: np.ndarray | None
) -> Tested:
    """The tests of a part; `whole` is the case of the part that is a whole evaluation."""
    evaluation = part.evaluation
    problem = whole or _problem(part, evaluation)
    context = context.at(evaluation.metric.name)
    if part.number is not None:
        context = context.at(f"instances {part.number + 1}")
    with named_errors([evaluation], part.settings):
        _check(evaluation, problem, context)
        results = run_tests(problem, context, drawn, others)
    return described(part, evaluation, problem, results)


def _check(evaluation: Evaluation, case: Problem, context: Context) -> None:
    """Refuse what cannot be tested, or is not what the run that is to go on has tested."""
    by_name = sorted(range(len(evaluation.systems)), key=evaluation.systems.__getitem__)
    context.checkpoint.at("scores").check_scores(np.array(case.observed_scores)[by_name])
    if "bootstrap" in case.settings.tests:
        check_units(len(case.units.strata), "the bootstrap test", f"; use {Hint('test', 'permutation')}")


def _reach(
    evaluations: Sequence[Evaluation],
    tested: Sequence[Sequence[Tested]],
    pairs: Sequence[Mapping[Test, Comparisons]],
    settings: Settings,
) -> list[str]:
    """Notes on significance that is out of reach, of which few units and runs are those of the first family."""
    first, together = evaluations[0], settings.family == "report"
    num_hypotheses = sum(len(one.pairs) for own in (tested if together else tested[:1]) for one in own)
    notes = []
    families: Sequence[tuple[Mapping[Test, Comparisons], list[Tested]]] = list(
        zip(pairs, map(list, tested), strict=True)
    )
    of_what = "pairs"
    if together and len(evaluations) > 1:
        joined: dict[Test, Comparisons] = {
            test: Comparisons.joined([each[test] for each in pairs]) for test in settings.tests
        }
        families, of_what = [(joined, [one for own in tested for one in own])], "pairs of all metrics"
    for family, own in families:
        notes += out_of_reach(family, of_what, settings, costs_if_exact(own))
    apart = is_part(first) and not together
    for evaluation, own in list(zip(evaluations, tested, strict=True))[: None if apart else 1]:
        members = tested if together else [own]
        num_units = min(one.precision.num_units for each in members for one in each if one.pairs_by)
        named = f"warning: {evaluation.metric.name}: " if apart and len(evaluations) > 1 else "warning: "
        few = too_few_units(num_units, num_hypotheses, settings)
        notes += [note.replace("warning: ", named) for note in few] if is_part(first) else few
    if settings.design == "models":
        notes += too_few_runs(len(set(first.runs or ())), num_hypotheses, settings)
    return notes
