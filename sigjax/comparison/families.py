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
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

import numpy as np

from sigjax.comparison.analysis import Answers, MetricKind, OfSums, Part, kind_of, make_case, parts_of, run_tests
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
from sigjax.multiple.decision import SETTLED, Decisions, decisions, known_bounds
from sigjax.multiple.ranks import SignificanceRank, significance_ranks
from sigjax.multiple.westfall_young import StepDown, maxt
from sigjax.records import CORRECTIONS, Column, Comparisons, Evaluation, Hint, Repeated, Settings, SystemScore, Test
from sigjax.records.corrections import adjust, log10_adjusted
from sigjax.resample.units import units_of_instances
from sigjax.run.context import Context
from sigjax.testing.bootstrap import SharedDraws
from sigjax.testing.exact import exact_budget
from sigjax.testing.p_values import Outcomes, montecarlo_p, most_resamples, p_intervals
from sigjax.testing.problem import Case, SampleCase

Wanting = tuple[float, float] | None
"""Nominal seconds and GiB with which sampled tests would be exact; None where nothing makes them so."""


def out_of_reach(
    outcomes: dict[Test, Outcomes], of_what: str, settings: Settings, wanting: Sequence[Wanting] = (None,)
) -> list[str]:
    """A note for each test whose Monte Carlo p-values cannot become significant, however small, in one family.

    `wanting` is what would make the permutation tests of the family exact.
    """
    notes: list[str] = []
    if CORRECTIONS[settings.correction].is_resampled:
        return notes  # an adjusted p-value is as small as a p-value, however many pairs there are
    for test, of_test in outcomes.items():
        if not of_test.is_sampled.any():
            continue
        drawn = most_resamples(settings) if test == "permutation" else settings.fixed_resamples
        needed = _needed(of_test, drawn, settings)
        if drawn < needed:
            sampled = int(of_test.is_sampled.sum())
            of_all = "" if sampled == len(of_test.p_value) else f" of {len(of_test.p_value):,}"
            exact = _made_exact(wanting, settings) if test == "permutation" else ""
            use = f"{exact}, which makes all exact, or --resamples {needed}" if exact else f"--resamples {needed}"
            notes.append(
                f"warning: {sampled:,}{of_all} {of_what} cannot become significant at {settings.alpha:.3g} in the "
                f"{test} test with {drawn:,} resamples; use {use}"
            )
    return notes


def _needed(outcomes: Outcomes, drawn: int, settings: Settings) -> int:
    """The number of resamples, no fewer than `drawn`, with which the least sampled p-value is significant."""
    while True:
        least = 1.0 / (drawn + 1)
        p_values = np.where(outcomes.is_sampled, least, outcomes.p_value)
        times = adjust(p_values, settings.correction)[outcomes.is_sampled].min() / least
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


def mixed_floors(found: Comparisons, wanting: Sequence[Wanting], settings: Settings) -> list[str]:
    """A note where p-values of sampled pairs end at a floor that exact ones are below, and what makes all exact.

    Args:
        found: all permutation tests of a metric.
        wanting: what would make the sampled tests exact.
        settings: of the report.
    """
    p, log10_p, exceed = found.columns("p_value", "log10_p", "exceed")
    lowest, exact = p[exceed == 0], log10_p[exceed < 0]
    if not (len(lowest) and len(exact) and exact.min() < math.log10(lowest.min())):
        return []
    least = 10.0 ** (exact.min() % 1.0), math.floor(exact.min())
    what = f"p of {len(lowest):,} sampled pair{'' if len(lowest) == 1 else 's'} is the least there can be"
    note = f"{found.column('metric').values[0]}: {what}, {lowest.min():.2g}"
    note += f", beside exact p down to {least[0]:.1f}e{least[1]}"
    options = _made_exact(wanting, settings)
    return [f"{note}; {options} makes all exact" if options else note]


def _made_exact(wanting: Sequence[Wanting], settings: Settings) -> str:
    """The options with which all tests are exact; "" where none do."""
    if not all(wanting):
        return ""
    seconds, gib = np.max([each or (0.0, 0.0) for each in wanting], axis=0).tolist()
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
    outcomes: dict[Test, Outcomes]
    """For each test, those of the pairs."""
    systems: list[SystemScore]
    """Scores and their spread, without what decisions say of them."""
    standing: list[float]
    """Of these systems: scores for their order, which those on their own scale may be too large to show."""
    columns: dict[str, Column]
    """Those of the comparisons that are the same for all tests."""
    precision: Precision
    lone: list[str]
    """Notes on strata with one unit."""
    ranked: bool
    """Whether there are bootstrap ranks."""
    wanting: Wanting
    """As in `Answers`; the seconds are for all parts, of which this has its share."""
    case: Case | SampleCase | None
    """None where the part is not the whole evaluation."""


class Adjusted(NamedTuple):
    """Adjusted p-values, intervals of p-values and decisions of one metric by one test."""

    p_adjusted: np.ndarray
    """[pair]"""
    log10_adjusted: np.ndarray
    """[pair]"""
    p_intervals: np.ndarray
    """[pair, 2]"""
    decisions: Decisions


class Leaderboard(NamedTuple):
    """The part of a report that comes from one evaluation."""

    systems: tuple[SystemScore, ...]
    comparisons: list[Comparisons]
    """Those of each test."""
    notes: tuple[str, ...]
    num_units: int


def wanting_of(tested: Sequence[Tested]) -> list[Wanting]:
    """What would make the permutation tests exact of each part that has sampled some."""
    tests = [(one.wanting, one.outcomes.get("permutation")) for one in tested]
    return [wanting for wanting, outcomes in tests if outcomes and outcomes.is_sampled.any()]


def described(part: Part, evaluation: Evaluation, case: Case | SampleCase, answers: Answers) -> Tested:
    """The answers of a part, whose evaluation is this, as named records."""
    settings, question, num_units = case.settings, case.question, len(case.units.strata)
    unclustered = np.full(len(evaluation.systems), np.nan), np.full(len(question.members), np.nan)
    if isinstance(case, Case) and evaluation.clusters is not None and answers.systems[0].standard_error is not None:
        unclustered = unclustered_errors(evaluation, question.members, settings.design)
    draws = settings.interval != "none" or "bootstrap" in settings.tests
    of_pairs = answers.pairs if len(part.pairs) else []
    # Parts have origins of their own.
    standing = question.scores if part.number is None else case.observed_scores
    return Tested(
        metric=evaluation.metric.name,
        pairs=part.pairs,
        outcomes=answers.outcomes,
        systems=[_system(evaluation, case, answers, unclustered[0], system) for system in part.scored],
        standing=[standing[system] for system in part.scored],
        columns=_columns(evaluation, case, answers, unclustered[1]),
        precision=precision_of(case, answers.interval_kinds, [answers.systems[k] for k in part.scored], of_pairs),
        lone=lone_units(evaluation) if draws and num_units > 1 else [],
        ranked=answers.ranks is not None or num_units == 1,
        wanting=answers.wanting and (answers.wanting[0] / part.share, answers.wanting[1]),
        case=case if part.number is None else None,
    )


def leaderboard(
    evaluation: Evaluation,
    settings: Settings,
    tested: Sequence[Tested],
    of_tests: Sequence[Mapping[Test, Adjusted]],
    reach: Sequence[str],
) -> Leaderboard:
    """Named records of one evaluation from those of its parts, and its notes.

    `reach` are those on significance that is out of reach.
    """
    comparisons = {test: comparisons_by(tested, of_tests, test, settings) for test in settings.tests}
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
        notes += mixed_floors(comparisons["permutation"], wanting_of(tested), settings)
    notes += interval_notes(evaluation.metric.name, settings, precisions)
    systems = _ranked(evaluation, settings, tested, first)
    num_units = len(units_of_instances(replace(evaluation, present=None))[1])
    return Leaderboard(systems, list(comparisons.values()), tuple(notes), num_units)


def _system(
    evaluation: Evaluation, case: Case | SampleCase, answers: Answers, unclustered: np.ndarray, system: int
) -> SystemScore:
    """The score of a system, without what decisions say of it."""
    return SystemScore(
        evaluation.systems[system],
        evaluation.metric.name,
        case.observed_scores[system],
        *answers.systems[system],
        *SignificanceRank(),
        None if answers.ranks is None else answers.ranks[system],
        None if math.isnan(unclustered[system]) else float(unclustered[system]),
        answers.interval_kinds.systems if answers.systems[system].interval else None,
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
    found = pairs.at(np.flatnonzero((pairs.column("p_adjusted") < settings.alpha) & (pairs.column("delta") != 0)))
    a, b = (found.column(name).mapped(position.__getitem__) for name in ("a", "b"))
    a_wins = sign * found.column("delta") < 0
    ranks = significance_ranks(np.where(a_wins, a, b), np.where(a_wins, b, a), len(systems))
    return tuple(replace(system, **rank._asdict()) for system, rank in zip(systems, ranks, strict=True))


_NONE = (np.nan, np.nan)


def _columns(
    evaluation: Evaluation, case: Case | SampleCase, answers: Answers, unclustered: np.ndarray
) -> dict[str, Column]:
    """The columns of the pairs of a part that are the same for all tests."""
    question = case.question
    higher, names, (a, b) = evaluation.metric.higher_is_better, evaluation.systems, question.members.T
    scores, deltas, count = np.array(case.observed_scores), question.deltas, len(question.members)
    intervals = np.array([each.interval or _NONE for each in answers.pairs], np.float64)
    better = np.where(deltas == 0, len(names), np.where((deltas > 0) == higher, a, b))
    return {
        "a": Repeated(names, a),
        "b": Repeated(names, b),
        "metric": Repeated.constant(evaluation.metric.name, count),
        "score_a": scores[a],
        "score_b": scores[b],
        "delta": deltas,
        "better": Repeated((*names, None), better.astype(np.int32)),
        "standard_error": np.array([each.standard_error for each in answers.pairs], np.float64),
        "standard_error_unclustered": unclustered,
        "interval": intervals,
        "interval_kind": Repeated((answers.interval_kinds.pairs, None), np.isnan(intervals[:, 0]).astype(np.int8)),
    }


def comparisons_by(
    tested: Sequence[Tested], of_tests: Sequence[Mapping[Test, Adjusted]], test: Test, settings: Settings
) -> Comparisons:
    """The comparisons of all pairs of an evaluation by a test, in their order."""
    parts = [
        Comparisons(
            one.columns
            | {"test": Repeated.constant(test, len(one.pairs)), "settings": Repeated.constant(settings, len(one.pairs))}
            | _of_test(one.outcomes[test], adjusted[test], settings)
        )
        for one, adjusted in zip(tested, of_tests, strict=True)
        if one.outcomes
    ]
    order = np.argsort(np.concatenate([one.pairs for one in tested]))
    return parts[0] if len(parts) == 1 else Comparisons.joined(parts).at(order)


def _of_test(outcomes: Outcomes, adjusted: Adjusted, settings: Settings) -> dict[str, Column]:
    """The columns of all pairs that a test gives."""
    drawn = np.where(outcomes.resamples < 0, settings.fixed_resamples, outcomes.resamples)
    return {
        "p_value": outcomes.p_value,
        "log10_p": outcomes.log10_p,
        "p_interval": adjusted.p_intervals,
        "p_adjusted": adjusted.p_adjusted,
        "log10_p_adjusted": adjusted.log10_adjusted,
        "error_bound": outcomes.error_bound,
        "method": outcomes.method,
        "reason": outcomes.reason,
        "exceed": outcomes.exceed,
        "resamples": np.where(outcomes.is_sampled, drawn, -1),
        "settled": Repeated(SETTLED, adjusted.decisions.settled),
        "resamples_needed": adjusted.decisions.resamples_needed,
    }


class Family(NamedTuple):
    """The pairs whose p-values are adjusted together."""

    members: list[tuple[Evaluation, list[Tested]]]
    """The evaluations, and what the tests say of the parts of each."""
    outcomes: dict[Test, Outcomes]
    """Of all pairs, by test."""
    adjusted: list[list[dict[Test, Adjusted]]]
    """The same by evaluation and part, adjusted."""


def leaderboards(evaluations: Sequence[Evaluation], settings: Settings, context: Context) -> list[Leaderboard]:
    """Test the pairs of all evaluations, and then adjust their p-values.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    families = _families(evaluations, settings, context)
    reach = _reach(families, settings)
    return [
        leaderboard(each, settings, own, of_tests, reach)
        for family in families
        for (each, own), of_tests in zip(family.members, family.adjusted, strict=True)
    ]


def comparisons_of(evaluation: Evaluation, settings: Settings, context: Context) -> Comparisons:
    """The comparisons of the pairs of one evaluation by the first test, without ranks and notes.

    Raises:
        InputError: as `leaderboards`.
    """
    ((((_, tested),), _, (adjusted,)),) = _families([evaluation], settings, context)
    return comparisons_by(tested, adjusted, settings.tests[0], settings)


def _families(evaluations: Sequence[Evaluation], settings: Settings, context: Context) -> list[Family]:
    """All tests of all evaluations."""
    parts = [parts_of(each, settings) for each in evaluations]
    kinds = [_kind(own[0], own[0].evaluation) if own[0].number is None else None for own in parts]
    shared = [kind.case for kind in kinds if isinstance(kind, OfSums) and kind.shares_draws]
    draws = SharedDraws([] if is_part(evaluations[0]) else shared)  # tasks have other instances
    found: list[list[Tested]] = []
    for number, (own, kind) in enumerate(zip(parts, kinds, strict=True), 1):
        at = replace(context, label=f"({number} of {len(kinds)})" if len(kinds) > 1 else "")
        tested: list[Tested] = []
        found.append(tested)
        for part in own:
            mates = (found, parts) if settings.family == "report" else ([tested], [own])
            others = others_of([one.outcomes for each in mates[0] for one in each], _to_come(*mates), settings)
            tested.append(_tested(part, kind, at, draws, others))
    members = list(zip(evaluations, found, strict=True))
    families = [members] if settings.family == "report" else [[each] for each in members]
    joined = [_joined([one for _, own in family for one in own], settings) for family in families]
    return [
        Family(family, outcomes, _adjust_all([own for _, own in family], outcomes, counted, settings))
        for family, outcomes, counted in zip(
            families, joined, (_steps(each, settings, context) for each in families), strict=True
        )
    ]


def others_of(before: Sequence[dict[Test, Outcomes]], to_come: int, settings: Settings) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of other pairs of the family, those `before` known."""
    if "permutation" not in settings.tests:
        return np.zeros((0, 2))
    known = [known_bounds(outcomes["permutation"]) for outcomes in before if outcomes]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _to_come(found: Sequence[Sequence[Tested]], parts: Sequence[Sequence[Part]]) -> int:
    """How many pairs of some parts are tested after the part that is next."""
    done = sum(map(len, found))
    return sum(len(part.pairs) for part in [part for own in parts for part in own][done + 1 :])


def _kind(part: Part, evaluation: Evaluation) -> MetricKind:
    """The case of a part, whose evaluation is this."""
    with named_errors([evaluation], part.settings):
        return kind_of(make_case(evaluation, part.settings, part.members))


def _tested(part: Part, whole: MetricKind | None, context: Context, draws: SharedDraws, others: np.ndarray) -> Tested:
    """The tests of a part; `whole` is the case of the part that is a whole evaluation."""
    evaluation = part.evaluation
    kind = whole or _kind(part, evaluation)
    context = context.at(evaluation.metric.name)
    if part.number is not None:
        context = context.at(f"instances {part.number + 1}")
    with named_errors([evaluation], part.settings):
        _check(evaluation, kind.case, context)
        answers = run_tests(kind, context, draws if whole else None, others)
    return described(part, evaluation, kind.case, answers)


def _check(evaluation: Evaluation, case: Case | SampleCase, context: Context) -> None:
    """Refuse what cannot be tested, or is not what the run that is to go on has tested."""
    by_name = sorted(range(len(evaluation.systems)), key=evaluation.systems.__getitem__)
    context.checkpoint.at("scores").check_scores(np.array(case.observed_scores)[by_name])
    if "bootstrap" in case.settings.tests:
        check_units(len(case.units.strata), "the bootstrap test", f"; use {Hint('test', 'permutation')}")


def _joined(family: Sequence[Tested], settings: Settings) -> dict[Test, Outcomes]:
    """The outcomes of a family, by test."""
    return {test: Outcomes.joined([one.outcomes[test] for one in family if one.outcomes]) for test in settings.tests}


def _reach(families: Sequence[Family], settings: Settings) -> list[str]:
    """Notes on significance that is out of reach, of which few units and runs are those of the first family."""
    members = families[0].members
    first, num_hypotheses = members[0][0], sum(len(one.pairs) for _, own in members for one in own)
    of_what = "pairs" if len(members) == 1 else "pairs of all metrics"
    notes = []
    for family, outcomes, _ in families:
        notes += out_of_reach(outcomes, of_what, settings, wanting_of([one for _, own in family for one in own]))
    for family in families if is_part(first) else families[:1]:
        num_units = min(one.precision.num_units for _, own in family.members for one in own if one.outcomes)
        named = f"warning: {family.members[0][0].metric.name}: " if len(families) > 1 else "warning: "
        few = too_few_units(num_units, num_hypotheses, settings)
        notes += [note.replace("warning: ", named) for note in few] if is_part(first) else few
    if settings.design == "models":
        notes += too_few_runs(len(set(first.runs or ())), num_hypotheses, settings)
    return notes


def _steps(
    family: Sequence[tuple[Evaluation, Sequence[Tested]]], settings: Settings, context: Context
) -> StepDown | None:
    """What maxt counts over the pairs of a family; None for other corrections."""
    if not CORRECTIONS[settings.correction].is_resampled:
        return None
    cases = [one.case for _, own in family for one in own if isinstance(one.case, Case)]
    context = context.at(family[0][0].metric.name) if settings.family == "metric" else context
    with named_errors([each for each, _ in family], settings):
        return maxt(cases, context)


def _adjust_all(
    family: Sequence[Sequence[Tested]], joined: dict[Test, Outcomes], counted: StepDown | None, settings: Settings
) -> list[list[dict[Test, Adjusted]]]:
    """Adjusted p-values, intervals of p-values and decisions of a family, by metric, part and test.

    `counted` holds the counts of maxt over the family, where that is the correction.
    """
    ends = list(accumulate(len(one.pairs) for own in family for one in own))
    found: list[dict[Test, Adjusted]] = [{} for _ in ends]
    for test, outcomes in joined.items():
        p_adjusted = _adjusted(outcomes, counted, settings)
        log10 = log10_adjusted(p_adjusted, outcomes.log10_p, settings.correction)
        intervals = p_intervals(outcomes, settings)
        decided = decisions(outcomes, counted, settings)
        for of_part, (start, end) in zip(found, pairwise([0, *ends]), strict=True):
            some = Decisions(*(column[start:end] for column in decided))
            of_part[test] = Adjusted(p_adjusted[start:end], log10[start:end], intervals[start:end], some)
    parts = iter(found)
    return [list(islice(parts, len(own))) for own in family]


def _adjusted(outcomes: Outcomes, counted: StepDown | None, settings: Settings) -> np.ndarray:
    """Adjusted p-values `[pair]` of a family."""
    p_values = outcomes.p_value
    if counted is None:
        return adjust(p_values, settings.correction)
    # An exact p-value may be just above the adjusted one, which comes from resamples.
    return np.maximum(counted.adjusted(np.asarray(montecarlo_p(counted.exceed, settings.fixed_resamples))), p_values)
