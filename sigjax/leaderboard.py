"""All evaluations, all their pairs: from units to named, corrected records, a leaderboard for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sigjax.checkpoint import Stage
from sigjax.inference.answer import Answers, answer, interval_notes, will_draw
from sigjax.inference.families import Judged, judged, others_of, resampled_together
from sigjax.inference.intervals import Spread
from sigjax.inference.maxt import StepDown
from sigjax.inference.outcome import Case, NotFinite, Pair, Question, SampleCase
from sigjax.inference.positions import Position, positions
from sigjax.inference.pvalues import p_intervals
from sigjax.inference.sample import answer_sample
from sigjax.inference.together import SharedDraws
from sigjax.metrics import check_score, check_standards, check_weights, sample_scores, standardized, system_roundings
from sigjax.notes import identical_systems, lone_units, out_of_reach, stops, too_few_units, without_positions
from sigjax.records import (
    Comparison,
    Device,
    Evaluation,
    InputError,
    SampleMetric,
    Settings,
    SystemScore,
    Test,
)
from sigjax.refusals import named_errors
from sigjax.standings import standings
from sigjax.unclustered import with_unclustered
from sigjax.units import make_sample, make_units, observed_scores, tolerances


class Leaderboard(NamedTuple):
    """The part of a report that comes from one evaluation."""

    systems: tuple[SystemScore, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    num_units: int


class _Answered(NamedTuple):
    """One evaluation with the answers of its tests."""

    evaluation: Evaluation
    case: Case | SampleCase
    answers: Answers
    positions: list[Position] | None = None


def leaderboards(
    evaluations: Sequence[Evaluation], settings: Settings, device: Device, *, progress: bool, stage: Stage
) -> list[Leaderboard]:
    """Test the pairs of all evaluations, and then adjust their p-values; `stage` is where their states are kept.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    cases: list[Case | SampleCase] = []
    for each in evaluations:
        with named_errors([each], settings, device):
            cases.append(make_case(each, settings))
    several = [case for case in cases if isinstance(case, Case) and len(cases) > 1]
    draws = SharedDraws([case for case in several if will_draw(case)])
    found: list[_Answered] = []
    for each, case in zip(evaluations, cases, strict=True):
        others = others_of([one.answers for one in found], len(cases), len(case.question.pairs), settings)
        asked = case._replace(question=case.question._replace(others=others))
        with named_errors([each], settings, device):
            part = stage.part(each.metric.name)
            found.append(_answered(each, asked, draws, device, progress=progress, stage=part))
    families = [[one] for one in found] if settings.family == "metric" else [found]
    reach = [note for family in families for note in out_of_reach([one.answers for one in family], settings)]
    num_hypotheses = len(families[0]) * len(cases[0].question.pairs)
    reach += too_few_units(len(cases[0].units.strata), num_hypotheses, settings)
    boards: list[Leaderboard] = []
    for family in families:
        counted = _counted(family, settings, device, progress=progress, stage=stage)
        told = judged([one.answers for one in family], counted, settings)
        boards += [_leaderboard(one, of_tests, reach) for one, of_tests in zip(family, told, strict=True)]
    return boards


def _counted(
    family: Sequence[_Answered], settings: Settings, device: Device, *, progress: bool, stage: Stage
) -> StepDown | None:
    """What maxt or minp has counted over the pairs of a family; None for other corrections."""
    if settings.correction == "minp" or (settings.correction == "maxt" and settings.family == "report"):
        part = stage.part(family[0].evaluation.metric.name) if settings.family == "metric" else stage
        cases = [one.case for one in family if isinstance(one.case, Case)]
        with named_errors([one.evaluation for one in family], settings, device):
            return resampled_together(cases, settings, device, progress=progress, stage=part)
    return family[0].answers.maxt


def _answered(
    evaluation: Evaluation, case: Case | SampleCase, draws: SharedDraws, device: Device, *, progress: bool, stage: Stage
) -> _Answered:
    """What the tests say of one evaluation."""
    by_name = sorted(zip(evaluation.systems, case.question.scores, strict=True))
    stage.part("scores").check_scores(np.array([score for _, score in by_name]))
    if len(case.units.strata) == 1 and "bootstrap" in case.settings.tests:
        raise InputError("the bootstrap test needs at least two units, got one; use --test permutation")
    if isinstance(case, SampleCase):
        answers = answer_sample(case, device, progress=progress, stage=stage)
    else:
        answers = answer(case, device, progress=progress, stage=stage, draws=draws)
    asked = case.settings.leaderboard
    found = positions(case, device, progress=progress, stage=stage.part("leaderboard")) if asked else None
    return _Answered(evaluation, case, answers, found)


def _leaderboard(answered: _Answered, of_tests: Mapping[Test, Judged], reach: Sequence[str]) -> Leaderboard:
    """Named records of one evaluation, and its notes; `reach` are those on significance that is out of reach."""
    evaluation, case, answers, found = answered
    settings, num_units = case.settings, len(case.units.strata)
    notes = list(evaluation.notes) + identical_systems(evaluation)
    if num_units == 1:
        notes.append("one unit: no standard errors and no intervals")
    elif settings.interval != "none" or "bootstrap" in settings.tests:
        notes += lone_units(evaluation)
    if settings.leaderboard and found is None and num_units > 1:
        notes.append(without_positions(len(evaluation.systems), settings))
    comparisons = _comparisons(answered, of_tests)
    notes += [*reach, *stops(evaluation.metric.name, comparisons, settings), *interval_notes(answers, settings)]
    placed = found or [Position()] * len(evaluation.systems)
    systems = _systems(evaluation, case.question, answers.systems, placed, comparisons, settings)
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


def pairs_of(evaluation: Evaluation, settings: Settings) -> tuple[Pair, ...]:
    """Positions (a, b): all pairs in the order of the data, or each system against the baseline."""
    count = len(evaluation.systems)
    if settings.baseline is None:
        return tuple(combinations(range(count), 2))
    base = evaluation.systems.index(settings.baseline)
    return tuple((system, base) for system in range(count) if system != base)


def _systems(
    evaluation: Evaluation,
    question: Question,
    spreads: Sequence[Spread],
    placed: Sequence[Position],
    comparisons: Sequence[Comparison],
    settings: Settings,
) -> tuple[SystemScore, ...]:
    """Scores with their spread and standing, best first (ties in the order of the data)."""
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    order = sorted(range(len(question.scores)), key=lambda system: sign * question.scores[system])
    names, metric = [evaluation.systems[system] for system in order], evaluation.metric.name
    return tuple(
        SystemScore(name, metric, question.scores[system], *spreads[system], *standing, *placed[system])
        for system, name, standing in zip(order, names, standings(names, comparisons, settings), strict=True)
    )


def _comparisons(answered: _Answered, of_tests: Mapping[Test, Judged]) -> tuple[Comparison, ...]:
    """Named records of all pairs, test by test."""
    evaluation, (_, _, question, settings), answers, _ = answered
    records: list[Comparison] = []
    for test, of_test in answers.outcomes.items():
        intervals, told = p_intervals(of_test, settings), of_tests[test]
        for pair, outcome, spread, p_adjusted, decision, p_interval in zip(
            question.pairs, of_test, answers.pairs, told.p_adjusted, told.decisions, intervals, strict=True
        ):
            a, b = (evaluation.systems[i] for i in pair)
            delta = question.delta(pair)
            records.append(
                Comparison(
                    a=a,
                    b=b,
                    metric=evaluation.metric.name,
                    test=test,
                    score_a=question.scores[pair[0]],
                    score_b=question.scores[pair[1]],
                    delta=delta,
                    better=None if delta == 0 else a if (delta > 0) == evaluation.metric.higher_is_better else b,
                    p_value=outcome.p_value,
                    log10_p=outcome.log10_p,
                    p_interval=p_interval,
                    p_adjusted=float(p_adjusted),
                    error_bound=outcome.error_bound,
                    method=outcome.method,
                    reason=outcome.reason,
                    exceed=outcome.exceed,
                    resamples=None if outcome.exceed is None else outcome.resamples or settings.fixed_resamples,
                    standard_error=spread.standard_error,
                    interval=spread.interval,
                    settings=settings,
                    settled=decision.settled,
                    resamples_needed=decision.resamples_needed,
                )
            )
    return tuple(records)
