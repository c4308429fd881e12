"""All evaluations, all their pairs: from units to named, corrected records, a leaderboard for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Spread
from sigjax.bootstrap.registry import interval_kinds
from sigjax.bootstrap.shared_draws import SharedDraws
from sigjax.comparison.adjust import Adjusted, adjust_all, others_of, step_down
from sigjax.comparison.errors import check_units, named_errors
from sigjax.comparison.kinds import Kind, OfSums, kind_of
from sigjax.comparison.notes import (
    identical_systems,
    interval_notes,
    lone_units,
    out_of_reach,
    stops,
    too_few_runs,
    too_few_units,
    without_positions,
)
from sigjax.comparison.run_tests import Answers, run_tests
from sigjax.comparison.unclustered import with_unclustered
from sigjax.metrics import check_score, check_standards, check_weights, sample_scores, standardized, system_roundings
from sigjax.multiple.decision import SETTLED
from sigjax.multiple.maxt import StepDown
from sigjax.ranking.bootstrap_ranks import Position
from sigjax.ranking.significance_ranks import standings
from sigjax.records import (
    Column,
    Comparisons,
    Evaluation,
    Repeated,
    SampleMetric,
    Settings,
    SystemScore,
    Test,
)
from sigjax.testing.p_values import p_intervals
from sigjax.testing.problem import Case, NotFinite, Question, SampleCase
from sigjax.testing.result import Outcomes
from sigjax.testing.runner import Runner
from sigjax.units.units import make_sample, make_units, observed_scores, tolerances


class Leaderboard(NamedTuple):
    """The part of a report that comes from one evaluation."""

    systems: tuple[SystemScore, ...]
    comparisons: Comparisons
    notes: tuple[str, ...]
    num_units: int


class _Answered(NamedTuple):
    """One evaluation with the answers of its tests."""

    evaluation: Evaluation
    case: Case | SampleCase
    answers: Answers


def leaderboards(evaluations: Sequence[Evaluation], runner: Runner) -> list[Leaderboard]:
    """Test the pairs of all evaluations, and then adjust their p-values.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    settings = runner.settings
    kinds: list[Kind] = []
    for each in evaluations:
        with named_errors([each], runner):
            kinds.append(kind_of(make_case(each, settings)))
    draws = SharedDraws([kind.case for kind in kinds if isinstance(kind, OfSums) and kind.shares_draws])
    found: list[_Answered] = []
    for each, kind in zip(evaluations, kinds, strict=True):
        others = others_of([one.answers for one in found], len(kinds), len(kind.case.question.members), settings)
        with named_errors([each], runner):
            _check(each, kind.case, runner.part(each.metric.name))
            answers = run_tests(kind, runner.part(each.metric.name), draws, others)
        found.append(_Answered(each, kind.case, answers))
    families = [[one] for one in found] if settings.family == "metric" else [found]
    reach = _reach(families, settings)
    boards: list[Leaderboard] = []
    for family in families:
        steps = _steps(family, runner)
        adjusted = adjust_all([one.answers for one in family], steps, settings)
        boards += [_leaderboard(one, of_tests, reach) for one, of_tests in zip(family, adjusted, strict=True)]
    return boards


def _check(evaluation: Evaluation, case: Case | SampleCase, runner: Runner) -> None:
    """Refuse what cannot be tested, or is not what the run that is to go on has tested."""
    by_name = sorted(zip(evaluation.systems, case.question.scores, strict=True))
    runner.stage.part("scores").check_scores(np.array([score for _, score in by_name]))
    if "bootstrap" in case.settings.tests:
        check_units(len(case.units.strata), "the bootstrap test", "; use --test permutation")


def _reach(families: Sequence[Sequence[_Answered]], settings: Settings) -> list[str]:
    """Notes on significance that is out of reach."""
    notes = [note for family in families for note in out_of_reach([one.answers for one in family], settings)]
    first = families[0][0]
    num_hypotheses = len(families[0]) * len(first.case.question.members)
    notes += too_few_units(len(first.case.units.strata), num_hypotheses, settings)
    if settings.design == "models":
        notes += too_few_runs(len(set(first.evaluation.runs or ())), num_hypotheses, settings)
    return notes


def _steps(family: Sequence[_Answered], runner: Runner) -> StepDown | None:
    """What maxt or minp counts over the pairs of a family; None for other corrections."""
    settings = runner.settings
    if settings.correction not in ("maxt", "minp"):
        return None
    cases = [one.case for one in family if isinstance(one.case, Case)]
    own = runner.part(family[0].evaluation.metric.name) if settings.family == "metric" else runner
    with named_errors([one.evaluation for one in family], runner):
        return step_down(cases, own)


def _leaderboard(answered: _Answered, of_tests: Mapping[Test, Adjusted], reach: Sequence[str]) -> Leaderboard:
    """Named records of one evaluation, and its notes; `reach` are those on significance that is out of reach."""
    evaluation, case, answers = answered
    settings, num_units = case.settings, len(case.units.strata)
    notes = list(evaluation.notes) + identical_systems(evaluation)
    if num_units == 1:
        notes.append("one unit: no standard errors and no intervals")
    elif settings.interval != "none" or "bootstrap" in settings.tests:
        notes += lone_units(evaluation)
    if settings.leaderboard and answers.positions is None and num_units > 1:
        notes.append(without_positions(len(evaluation.systems), settings))
    comparisons = _comparisons(answered, of_tests)
    notes += [*reach, *stops(evaluation.metric.name, comparisons, settings), *interval_notes(case, answers)]
    positions = answers.positions or [Position()] * len(evaluation.systems)
    systems = _systems(evaluation, case, answers.systems, positions, comparisons)
    shown = with_unclustered(evaluation, systems, comparisons, settings.design)
    return Leaderboard(*shown, tuple(notes), num_units)


def make_case(evaluation: Evaluation, settings: Settings) -> Case | SampleCase:
    """What is asked of the units of an evaluation, with the observed scores.

    Raises:
        InputError: the metric does not work on the data.
        NotFinite: a score is NaN or infinite.
    """
    metric = evaluation.metric
    if isinstance(metric, SampleMetric):
        given = make_sample(evaluation)
        sample = replace(given, columns=standardized(metric, given.columns))
        check_standards(metric, given.columns, sample.columns)
        check_weights(metric, sample.columns)
        scores, errors = sample_scores(metric, sample.columns), system_roundings(metric, sample.columns)
        return SampleCase(sample, metric, _question(evaluation, settings, scores, errors), settings)
    units = make_units(evaluation, settings.design)
    check_score(metric, units.unscaled(units.totals))
    scores, errors = observed_scores(units, metric), tolerances(units, metric)
    return Case(units, metric, _question(evaluation, settings, scores, errors), settings)


def _question(evaluation: Evaluation, settings: Settings, scores: np.ndarray, errors: np.ndarray) -> Question:
    wrong = np.flatnonzero(~np.isfinite(scores))
    if wrong.size:
        raise NotFinite((int(wrong[0]),))
    return Question(pairs_of(evaluation, settings), tuple(scores.tolist()), tuple(errors.tolist()))


def pairs_of(evaluation: Evaluation, settings: Settings) -> np.ndarray:
    """Positions (a, b) `[pair, 2]` int32: all pairs in the order of the data, or each system against the baseline."""
    count = len(evaluation.systems)
    if settings.baseline is None:
        return np.stack(np.triu_indices(count, 1), axis=1).astype(np.int32)
    others, base = np.arange(count, dtype=np.int32), evaluation.systems.index(settings.baseline)
    return np.stack([np.delete(others, base), np.full(count - 1, base, np.int32)], axis=1)


def _systems(
    evaluation: Evaluation,
    case: Case | SampleCase,
    spreads: Sequence[Spread],
    positions: Sequence[Position],
    comparisons: Comparisons,
) -> tuple[SystemScore, ...]:
    """Scores with their spread and standing, best first (ties in the order of the data)."""
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    question, kind = case.question, interval_kinds(case).systems
    order = sorted(range(len(question.scores)), key=lambda system: sign * question.scores[system])
    names, metric = [evaluation.systems[system] for system in order], evaluation.metric.name
    return tuple(
        SystemScore(
            name,
            metric,
            question.scores[system],
            *spreads[system],
            *standing,
            *positions[system],
            interval_kind=kind if spreads[system].interval else None,
        )
        for system, name, standing in zip(order, names, standings(names, comparisons, case.settings), strict=True)
    )


_NONE = (np.nan, np.nan)


def _comparisons(answered: _Answered, of_tests: Mapping[Test, Adjusted]) -> Comparisons:
    """The comparisons of all pairs, test by test."""
    evaluation, case, answers = answered
    question, settings, kind = case.question, case.settings, interval_kinds(case).pairs
    higher, names, (a, b) = evaluation.metric.higher_is_better, evaluation.systems, question.members.T
    scores, deltas, count = np.array(question.scores), question.deltas, len(question.members)
    intervals = np.array([each.interval or _NONE for each in answers.pairs], np.float64)
    better = np.where(deltas == 0, len(names), np.where((deltas > 0) == higher, a, b))
    of_pairs = {
        "a": Repeated(names, a),
        "b": Repeated(names, b),
        "metric": Repeated.constant(evaluation.metric.name, count),
        "score_a": scores[a],
        "score_b": scores[b],
        "delta": deltas,
        "better": Repeated((*names, None), better.astype(np.int32)),
        "standard_error": np.array([each.standard_error for each in answers.pairs], np.float64),
        "standard_error_unclustered": np.broadcast_to(np.nan, count),
        "interval": intervals,
        "interval_kind": Repeated((kind, None), np.isnan(intervals[:, 0]).astype(np.int8)),
        "settings": Repeated.constant(settings, count),
    }
    return Comparisons.joined(
        [
            Comparisons(of_pairs | _of_test(test, outcomes, of_tests[test], settings))
            for test, outcomes in answers.outcomes.items()
        ]
    )


def _of_test(test: Test, outcomes: Outcomes, adjusted: Adjusted, settings: Settings) -> dict[str, Column]:
    """The columns of all pairs that a test gives."""
    drawn = np.where(outcomes.resamples < 0, settings.fixed_resamples, outcomes.resamples)
    return {
        "test": Repeated.constant(test, len(drawn)),
        "p_value": outcomes.p_value,
        "log10_p": outcomes.log10_p,
        "p_interval": p_intervals(outcomes, settings),
        "p_adjusted": adjusted.p_adjusted,
        "log10_p_adjusted": adjusted.log10_adjusted,
        "error_bound": outcomes.error_bound,
        "method": Repeated.of(method for method, _ in outcomes.way.values).at(outcomes.way.codes),
        "reason": Repeated.of(reason for _, reason in outcomes.way.values).at(outcomes.way.codes),
        "exceed": outcomes.exceed,
        "resamples": np.where(outcomes.is_sampled, drawn, -1),
        "settled": Repeated(SETTLED, adjusted.decisions.settled),
        "resamples_needed": adjusted.decisions.resamples_needed,
    }
