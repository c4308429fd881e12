"""Intervals without resamples: which kind each score and each delta gets, and the intervals themselves.

**The rule** of `auto`, and of `simultaneous`, which are the same intervals at a level at which all of them hold
together:

- Answers that are right or wrong, one per unit, without strata: Wilson's score interval of a score, Tango's of a delta.
- Other metrics of sums: t of the jackknife for a delta, the same with a correction for skewness for a score.
- Metrics of whole columns, and runs drawn within units (design nested): the bootstrap, `percentile` for `auto`.
- Runs that are trained models (design models): `two-way`, as `compare` has it.

Standard errors are those of the jackknife, but for the last. Units that are all alike have a standard error of 0 and an
interval by t of no length, which says nothing of other units; a note says so.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Spread
from sigjax.bootstrap.jackknife_t import (
    degrees_of_freedom,
    influences,
    pair_errors,
    skewed_interval,
    skewness,
    system_errors,
)
from sigjax.bootstrap.joint_level import joint_level, normal_maxima
from sigjax.bootstrap.proportions import tango_interval, wilson_interval
from sigjax.bootstrap.student import t_quantile
from sigjax.metrics.ratios import mean_score
from sigjax.records import Interval, IntervalKind, Metric, SampleMetric, Settings
from sigjax.testing.problem import Case, SampleCase

Kind = IntervalKind | Literal["wilson", "tango", "t", "skew-t"]

_CLOSED = ("auto", "simultaneous")
_WHOLE = ("together", "crossed")
"""Designs whose intervals take units with all their runs."""

_FEW_UNITS = 10
"""Of fewer the correlations of deltas are known too little to take account of them."""


class Kinds(NamedTuple):
    """The kinds of the intervals of all scores, and of all deltas; None where none were asked for."""

    systems: Kind | None
    pairs: Kind | None


def in_closed_form(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals take no resamples."""
    return settings.interval in _CLOSED and isinstance(metric, Metric) and settings.design in _WHOLE


def draws_intervals(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals take bootstrap resamples, or their exact law."""
    return settings.interval != "none" and not in_closed_form(metric, settings)


def interval_kinds(case: Case | SampleCase) -> Kinds:
    """The rule at the top of this file."""
    kind = case.settings.interval
    if kind == "none":
        return Kinds(None, None)
    if kind == "inversion":
        return Kinds("percentile", "inversion")
    if isinstance(case, SampleCase) or not in_closed_form(case.metric, case.settings):
        kind = "percentile" if kind == "auto" else kind
        return Kinds(kind, kind)
    return Kinds("wilson", "tango") if _right_or_wrong(case) else Kinds("skew-t", "t")


def _right_or_wrong(case: Case) -> bool:
    """Whether each unit is one answer, 0 or 1, and the score is the share of ones."""
    units = case.units
    if case.metric.score is not mean_score or units.divisors is not None or units.strata.any():
        return False
    answers, counts = units.values[:, :, 0], units.values[:, :, 1]
    return bool((counts == 1).all() and ((answers == 0) | (answers == 1)).all())


def effective_degrees(case: Case) -> float:
    """Degrees of freedom of the jackknife of a case."""
    return degrees_of_freedom(case.units.sizes, case.units.strata)


def closed_spreads(case: Case) -> tuple[list[Spread], list[Spread]]:
    """Standard errors and intervals of all scores, and of all deltas, in the order of the question.

    Raises:
        NotFinite: the metric gave NaN or infinity where a unit was left out.
    """
    question, settings, kinds = case.question, case.settings, interval_kinds(case)
    moves, degrees = influences(case), effective_degrees(case)
    errors = system_errors(moves, question.tolerances), pair_errors(moves, question.members, question.rounding)
    levels = settings.level, settings.level
    if settings.interval == "simultaneous":
        systems = np.stack([np.arange(len(moves)), np.full(len(moves), len(moves))], axis=1)
        levels = tuple(
            _level_together(case, moves, targets, of_targets > 0.0)
            for targets, of_targets in zip((systems, question.members), errors, strict=True)
        )
    if kinds.systems == "wilson":
        intervals = _of_proportions(case, *levels)
    else:
        intervals = (
            _of_systems(case, moves, errors[0], levels[0], degrees),
            _of_pairs(case, errors[1], levels[1], degrees),
        )
    systems, pairs = (
        [Spread(error, interval) for error, interval in zip(of_errors.tolist(), found, strict=True)]
        for of_errors, found in zip(errors, intervals, strict=True)
    )
    return systems, pairs


def _level_together(case: Case, moves: np.ndarray, targets: np.ndarray, varies: np.ndarray) -> float:
    """The level at which all intervals of some targets `[target, 2]` hold together.

    A score interval of a proportion has a length also where no answer varies: it counts as independent of the others.
    T intervals of few units get Bonferroni's level.
    """
    settings, proportions = case.settings, interval_kinds(case).systems == "wilson"
    if len(case.units.strata) < _FEW_UNITS and not proportions:
        return 1.0 - (1.0 - settings.level) / max(int(varies.sum()), 1)
    others = int((~varies).sum()) if proportions else 0
    maxima = np.zeros(1)
    if varies.any():
        if varies.sum() == 1 and not others:
            return settings.level
        maxima = normal_maxima(moves, targets[varies], settings.fixed_resamples, settings.seed)
    found = joint_level(maxima, settings.level, others) if varies.any() or others else settings.level
    return max(found, settings.level)  # draws may put it just below


def _of_proportions(case: Case, of_scores: float, of_deltas: float) -> tuple[list[Interval], list[Interval]]:
    """Wilson's intervals of all scores and Tango's of all deltas, at two levels."""
    answers = case.units.values[:, :, 0].astype(np.float64)
    right, both, num_units = answers.sum(axis=1), answers @ answers.T, answers.shape[1]
    first, second = case.question.members.T
    only_a, only_b = right[first] - both[first, second], right[second] - both[first, second]
    # Many pairs of a large leaderboard have the same counts.
    counts, places = np.unique(only_a * (num_units + 1.0) + only_b, return_inverse=True)
    only_a, only_b = np.divmod(counts, num_units + 1.0)
    systems = wilson_interval(right, num_units, of_scores)
    pairs = (ends[places] for ends in tango_interval(only_a, only_b, num_units, of_deltas))
    return _intervals(*systems), _intervals(*pairs)


def _intervals(low: np.ndarray, high: np.ndarray) -> list[Interval]:
    return [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def _of_systems(
    case: Case, moves: np.ndarray, errors: np.ndarray, level: float, degrees: float
) -> list[Interval | None]:
    found = []
    for score, row, error in zip(case.question.scores, moves, errors.tolist(), strict=True):
        skewed = skewness(row) if error > 0.0 else 0.0
        found.append(skewed_interval(score, error, skewed, level, degrees) if degrees > 0.0 else None)
    return found


def _of_pairs(case: Case, errors: np.ndarray, level: float, degrees: float) -> list[Interval | None]:
    if degrees == 0.0:
        return [None] * len(errors)
    half = t_quantile(level, degrees) * errors
    return list(_intervals(case.question.deltas - half, case.question.deltas + half))
