"""All evaluations, all their pairs: from units to named, corrected records, a leaderboard for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.sampled import SharedDraws
from sigjax.comparison.adjust import Adjusted, adjust_all, others_of, step_down
from sigjax.comparison.errors import check_units, named_errors
from sigjax.comparison.metric_kinds import MetricKind, OfSums, kind_of, make_case
from sigjax.comparison.notes import (
    identical_systems,
    interval_notes,
    lone_units,
    out_of_reach,
    stops,
    too_few_runs,
    too_few_units,
    without_bootstrap_ranks,
)
from sigjax.comparison.run_tests import Answers, run_tests
from sigjax.comparison.unclustered import unclustered_errors
from sigjax.multiple.decision import SETTLED
from sigjax.multiple.maxt import StepDown
from sigjax.ranking.bootstrap_ranks import BootstrapRank
from sigjax.ranking.significance_ranks import SignificanceRank, significance_ranks
from sigjax.records import (
    Column,
    Comparisons,
    Evaluation,
    Repeated,
    Settings,
    SystemScore,
    Test,
)
from sigjax.testing.p_values import Outcomes, p_intervals
from sigjax.testing.problem import Case, Question, SampleCase
from sigjax.testing.runner import Runner


class Leaderboard(NamedTuple):
    """The part of a report that comes from one evaluation."""

    systems: tuple[SystemScore, ...]
    comparisons: list[Comparisons]
    """Those of each test."""
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
    kinds: list[MetricKind] = []
    for each in evaluations:
        with named_errors([each], runner):
            kinds.append(kind_of(make_case(each, settings)))
    draws = SharedDraws([kind.case for kind in kinds if isinstance(kind, OfSums) and kind.shares_draws])
    found: list[_Answered] = []
    for each, kind in zip(evaluations, kinds, strict=True):
        others = others_of([one.answers for one in found], len(kinds), len(kind.case.question.members), settings)
        with named_errors([each], runner):
            own = runner.part(each.metric.name)
            _check(each, kind.case, own)
            answers = run_tests(kind, own, draws, others)
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
    by_name = sorted(range(len(evaluation.systems)), key=evaluation.systems.__getitem__)
    runner.stage.part("scores").check_scores(np.array(case.question.scores)[by_name])
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
    if settings.leaderboard and answers.ranks is None and num_units > 1:
        notes.append(without_bootstrap_ranks(len(evaluation.systems), settings))
    unclustered = np.full(len(evaluation.systems), np.nan), np.full(len(case.question.members), np.nan)
    if isinstance(case, Case) and evaluation.clusters is not None and answers.systems[0].standard_error is not None:
        unclustered = unclustered_errors(evaluation, case.question.members, settings.design)
    p_adjusted = of_tests[settings.tests[0]].p_adjusted
    comparisons = _comparisons(answered, of_tests, unclustered[1])
    notes += reach
    if settings.resamples == "auto":
        notes += stops(evaluation.metric.name, comparisons["permutation"])
    notes += interval_notes(case, answers)
    systems = _systems(answered, p_adjusted, unclustered[0])
    return Leaderboard(systems, list(comparisons.values()), tuple(notes), num_units)


def _systems(answered: _Answered, p_adjusted: np.ndarray, unclustered: np.ndarray) -> tuple[SystemScore, ...]:
    """Scores with their spread and ranks, best first (ties in the order of the data)."""
    evaluation, case, answers = answered
    question, metric = case.question, evaluation.metric
    sign, count = -1.0 if metric.higher_is_better else 1.0, len(evaluation.systems)
    order = sorted(range(count), key=lambda system: sign * question.scores[system])
    significant = [SignificanceRank()] * count
    if case.settings.baseline is None and case.settings.alternative == "two-sided":
        significant = _significance_ranks(question, order, p_adjusted < case.settings.alpha)
    ranks = answers.ranks or [BootstrapRank()] * count
    return tuple(
        SystemScore(
            evaluation.systems[system],
            metric.name,
            question.scores[system],
            *answers.systems[system],
            *significance,
            *ranks[system],
            None if math.isnan(unclustered[system]) else float(unclustered[system]),
            answers.interval_kinds.systems if answers.systems[system].interval else None,
        )
        for system, significance in zip(order, significant, strict=True)
    )


def _significance_ranks(question: Question, order: Sequence[int], decided: np.ndarray) -> list[SignificanceRank]:
    """What the decisions `[pair]` say of the systems in this order, best first."""
    scores, position = np.array(question.scores), np.argsort(order)
    a, b = question.members.T
    pairs = position[question.members[decided & (scores[a] != scores[b])]]  # the better system has the lower position
    return significance_ranks(pairs.min(axis=1), pairs.max(axis=1), len(order))


_NONE = (np.nan, np.nan)


def _comparisons(
    answered: _Answered, of_tests: Mapping[Test, Adjusted], unclustered: np.ndarray
) -> dict[Test, Comparisons]:
    """The comparisons of all pairs, test by test."""
    evaluation, case, answers = answered
    question, settings = case.question, case.settings
    higher, names, (a, b) = evaluation.metric.higher_is_better, evaluation.systems, question.members.T
    scores, deltas, count = np.array(question.scores), question.deltas, len(question.members)
    intervals = np.array([each.interval or _NONE for each in answers.pairs], np.float64)
    better = np.where(deltas == 0, len(names), np.where((deltas > 0) == higher, a, b))
    same = np.zeros(count, np.int8)
    of_pairs: dict[str, Column] = {
        "a": Repeated(names, a),
        "b": Repeated(names, b),
        "metric": Repeated((evaluation.metric.name,), same),
        "score_a": scores[a],
        "score_b": scores[b],
        "delta": deltas,
        "better": Repeated((*names, None), better.astype(np.int32)),
        "standard_error": np.array([each.standard_error for each in answers.pairs], np.float64),
        "standard_error_unclustered": unclustered,
        "interval": intervals,
        "interval_kind": Repeated((answers.interval_kinds.pairs, None), np.isnan(intervals[:, 0]).astype(np.int8)),
        "settings": Repeated((settings,), same),
    }
    return {
        test: Comparisons(of_pairs | {"test": Repeated((test,), same)} | _of_test(outcomes, of_tests[test], settings))
        for test, outcomes in answers.outcomes.items()
    }


def _of_test(outcomes: Outcomes, adjusted: Adjusted, settings: Settings) -> dict[str, Column]:
    """The columns of all pairs that a test gives."""
    drawn = np.where(outcomes.resamples < 0, settings.fixed_resamples, outcomes.resamples)
    return {
        "p_value": outcomes.p_value,
        "log10_p": outcomes.log10_p,
        "p_interval": p_intervals(outcomes, settings),
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
