"""The leaderboard of one evaluation: answers and adjusted p-values -> named records, ranks and notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.delta_method import delta_method_errors, two_way_errors
from sigjax.comparison.notes import identical_systems, interval_notes, lone_units, stops, without_bootstrap_ranks
from sigjax.comparison.run_tests import Answers
from sigjax.multiple.decision import SETTLED, Decisions
from sigjax.ranking.bootstrap_ranks import BootstrapRank
from sigjax.ranking.significance_ranks import SignificanceRank, significance_ranks
from sigjax.records import Column, Comparisons, Design, Evaluation, Metric, Repeated, Settings, SystemScore, Test
from sigjax.testing.p_values import Outcomes
from sigjax.testing.problem import Case, Question, SampleCase
from sigjax.units.instances import units_of_instances
from sigjax.units.units import make_units


class Answered(NamedTuple):
    """One evaluation with the answers of its tests."""

    evaluation: Evaluation
    case: Case | SampleCase
    answers: Answers


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


def leaderboard(answered: Answered, of_tests: Mapping[Test, Adjusted], reach: Sequence[str]) -> Leaderboard:
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
        unclustered = _unclustered_errors(evaluation, case.question.members, settings.design)
    p_adjusted = of_tests[settings.tests[0]].p_adjusted
    comparisons = _comparisons(answered, of_tests, unclustered[1])
    notes += reach
    if settings.resamples == "auto":
        notes += stops(evaluation.metric.name, comparisons["permutation"])
    notes += interval_notes(case, answers)
    systems = _systems(answered, p_adjusted, unclustered[0])
    return Leaderboard(systems, list(comparisons.values()), tuple(notes), num_units)


def _systems(answered: Answered, p_adjusted: np.ndarray, unclustered: np.ndarray) -> tuple[SystemScore, ...]:
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
    answered: Answered, of_tests: Mapping[Test, Adjusted], unclustered: np.ndarray
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


def _unclustered_errors(evaluation: Evaluation, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors `[system]` and `[pair]` as if instances were independent; NaN where they are not finite.

    Instances are the units then, or ids with all their runs; where the design draws runs within units (nested), the
    variance between the runs of an id is added, and where runs are trained models both errors are two-way errors.

    Example:
        >>> from sigjax import Evaluation
        >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
        >>> clustered = Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"])
        >>> _unclustered_errors(clustered, np.array([[0, 1]]), "together")[0].round(6)
        array([0.25    , 0.216506])
    """
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


def _independent(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, unit, stat]` and strata `[unit]` without the clusters, units of a stratum together."""
    unit, strata = units_of_instances(replace(evaluation, clusters=None))
    stats = evaluation.stats
    values = np.zeros((stats.shape[0], len(strata), stats.shape[2]))
    np.add.at(values.swapaxes(0, 1), unit, stats.swapaxes(0, 1))
    return values, strata


def _within(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, output, stat]`, and the id `[output]` of each as its stratum, outputs of an id together."""
    unit, _ = units_of_instances(replace(evaluation, clusters=None, strata=None))
    order = np.argsort(unit, kind="stable")
    return evaluation.stats[:, order].astype(np.float64), unit[order]
