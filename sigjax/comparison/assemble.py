"""The leaderboard of one evaluation: answers and adjusted p-values of its parts -> named records, ranks and notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.comparison.notes import (
    Precision,
    common_instances,
    identical_systems,
    interval_notes,
    lone_units,
    precision_of,
    stops,
    without_bootstrap_ranks,
)
from sigjax.comparison.parts import Part
from sigjax.comparison.reach import Wanting, mixed_floors
from sigjax.comparison.run_tests import Answers
from sigjax.comparison.unclustered import unclustered_errors
from sigjax.multiple.decision import SETTLED, Decisions
from sigjax.ranking.significance_ranks import SignificanceRank, significance_ranks
from sigjax.records import Column, Comparisons, Evaluation, Repeated, Settings, SystemScore, Test
from sigjax.testing.p_values import Outcomes
from sigjax.testing.problem import Case, SampleCase
from sigjax.units.instances import units_of_instances


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
