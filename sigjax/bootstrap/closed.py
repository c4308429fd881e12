"""Intervals without resamples: score intervals of answers right or wrong, else Student's t by the jackknife.

A bootstrap of 20 right answers out of 20 never draws a wrong one, so all its intervals are [1, 1]. A score test takes
the variance that the proportion in question would have, not the observed one, and has no such end: Wilson's interval of
a score and Tango's of a delta invert it. Intervals by t and standard errors are in `jackknife`: units that are all
alike have a standard error of 0 and an interval by t of no length, which says nothing of other units.

References: Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Tango (1998),
"Equivalence test and confidence interval for the difference in proportions for the paired-sample design"; Fagerland,
Lydersen and Laake (2014), "Recommended tests and confidence intervals for paired binomial proportions".
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.bootstrap.intervals import Spread, with_ends
from sigjax.bootstrap.jackknife import (
    degrees_of_freedom,
    influences,
    joint_level,
    normal_maxima,
    pair_errors,
    pair_skewness,
    skewed_ends,
    skewness,
    system_errors,
)
from sigjax.metrics.ratios import mean_score
from sigjax.testing.problem import Case
from sigjax.testing.tails import normal_quantile, t_quantile

_FEW_UNITS = 10
"""With fewer, or fewer than systems, correlations of deltas are too uncertain to be used."""
_Both = tuple[np.ndarray, np.ndarray]
"""Numbers of all scores `[system]`, and of all deltas `[pair]`."""
_HALVINGS = 60
"""An end lies between -1 and 1: after this many halvings it is as precise as a double."""


def right_or_wrong(case: Case) -> bool:
    """Whether each unit is one answer, 0 or 1, and the score is the share of ones, without strata."""
    units = case.units
    if case.moved or case.metric.score is not mean_score or units.divisors is not None or units.strata.any():
        return False
    answers, counts = units.values[:, :, 0], units.values[:, :, 1]
    return bool((counts == 1).all() and ((answers == 0) | (answers == 1)).all())


def closed_spreads(case: Case, *, answers: bool = True) -> tuple[list[Spread], list[Spread]]:
    """Standard errors and intervals of all scores, and of all deltas, in the order of the question.

    Without `answers`, numbers that are all 0 or 1 are not taken for answers right or wrong.

    Raises:
        NotFinite: the metric gave NaN or infinity where a unit was left out.
    """
    question, settings, proportions = case.question, case.settings, answers and right_or_wrong(case)
    centred = case.centred
    rounding = 2.0 * np.array(centred.question.tolerances), centred.question.rounding
    moves = influences(centred)
    errors = system_errors(moves, rounding[0]), pair_errors(moves, question.members, rounding[1])
    levels = settings.level, settings.level
    if settings.interval == "simultaneous":
        systems = np.stack([np.arange(len(moves)), np.full(len(moves), len(moves))], axis=1)
        levels = tuple(
            _joint_level(case, moves, targets, of_targets > 0.0, proportions=proportions)
            for targets, of_targets in zip((systems, question.members), errors, strict=True)
        )
    return _of_proportions(case, errors, levels) if proportions else _by_t(case, moves, errors, levels)


def _joint_level(case: Case, moves: np.ndarray, targets: np.ndarray, varies: np.ndarray, *, proportions: bool) -> float:
    """The level at which all intervals of some targets `[target, 2]` hold together.

    A score interval of a proportion has a length also where no answer varies: it counts as independent of the others.
    Those of few answers are long enough for correlations that are uncertain.
    """
    settings, num_units = case.settings, len(case.units.strata)
    if num_units < max(_FEW_UNITS, len(moves)) and not proportions:
        return 1.0 - (1.0 - settings.level) / max(int(varies.sum()), 1)  # Bonferroni
    others = int((~varies).sum()) if proportions else 0
    maxima = np.zeros(1)
    if varies.any():
        if varies.sum() == 1 and not others:
            return settings.level
        maxima = normal_maxima(moves, targets[varies], settings.fixed_resamples, settings.seed)
    found = joint_level(maxima, settings.level, others) if varies.any() or others else settings.level
    return max(found, settings.level)  # draws may put it just below


def _of_proportions(case: Case, errors: _Both, levels: tuple[float, ...]) -> tuple[list[Spread], list[Spread]]:
    """Wilson's intervals of all scores and Tango's of all deltas."""
    answers = case.units.values[:, :, 0].astype(np.float64)
    right, both, num_units = answers.sum(axis=1), answers @ answers.T, answers.shape[1]
    first, second = case.question.members.T
    only_a, only_b = right[first] - both[first, second], right[second] - both[first, second]
    # Many pairs of a large leaderboard have the same counts.
    counts, places = np.unique(only_a * (num_units + 1.0) + only_b, return_inverse=True)
    only_a, only_b = np.divmod(counts, num_units + 1.0)
    pairs = (ends[places] for ends in tango_interval(only_a, only_b, num_units, levels[1]))
    return with_ends(errors[0], *wilson_interval(right, num_units, levels[0])), with_ends(errors[1], *pairs)


def _by_t(case: Case, moves: np.ndarray, errors: _Both, levels: tuple[float, ...]) -> tuple[list[Spread], list[Spread]]:
    """Intervals by t of all scores and deltas, corrected for skewness and cut at the bounds of the metric.

    There are none where no stratum has two units.
    """
    question, degrees = case.question, degrees_of_freedom(case.units.sizes, case.units.strata)
    if degrees == 0.0:
        systems, pairs = ([Spread(error) for error in each.tolist()] for each in errors)
        return systems, pairs
    (lowest, highest), scores = case.metric.bounds, np.array(question.scores)
    low, high = skewed_ends(skewness(moves, errors[0]), t_quantile(levels[0], degrees), nearer=True)
    ends = np.maximum(scores - errors[0] * low, np.minimum(lowest, scores))
    systems = with_ends(errors[0], ends, np.minimum(scores - errors[0] * high, np.maximum(highest, scores)))
    deltas, largest = question.deltas, highest - lowest
    skewed = pair_skewness(moves, question.members, errors[1])
    low, high = skewed_ends(skewed, t_quantile(levels[1], degrees), nearer=False)
    low, high = deltas - errors[1] * low, deltas - errors[1] * high
    return systems, with_ends(errors[1], np.maximum(low, -largest), np.minimum(high, largest))


def wilson_interval(successes: np.ndarray, trials: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Wilson's score interval of a proportion.

    All $p$ with $|\hat p - p| \le z \sqrt{p (1 - p) / n}$, for $\hat p$ = successes / $n$ and the normal quantile $z$.

    Args:
        successes: `[...]` number of successes.
        trials: number $n$ of trials, at least 1.
        level: confidence level.

    Returns:
        The low and the high ends `[...]`, in [0, 1].

    Example:
        >>> low, high = wilson_interval(np.array([10, 20]), 20, 0.95)
        >>> low.round(4), high.round(4)
        (array([0.2993, 0.8389]), array([0.7007, 1.    ]))
    """
    z = normal_quantile((1.0 + level) / 2.0)
    square = z * z
    failures = trials - successes
    middle = successes + square / 2.0
    half = np.sqrt(square * (successes * (failures / trials) + square / 4.0))
    low = np.where(successes == 0, 0.0, (middle - half) / (trials + square))
    high = np.where(failures == 0, 1.0, (middle + half) / (trials + square))
    return low, high


def tango_interval(only_a: np.ndarray, only_b: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Tango's score interval of the difference of two proportions on the same instances.

    All $\delta$ with $|b - c - n \delta| \le z \sqrt{n (2 q + \delta (1 - \delta))}$, where $b$ and $c$ are the numbers
    of instances that only a and only b has right, and $q$ is the maximum-likelihood probability of the latter, given
    $\delta$: the root of $2 n q^2 - (b + c - (2 n - b + c) \delta) q - c \delta (1 - \delta)$ that is a probability.
    It excludes 0 exactly where McNemar's chi-square, uncorrected, rejects.

    Args:
        only_a: `[...]` $b$, the instances on which system a is right and b is wrong.
        only_b: `[...]` $c$, those on which b is right and a is wrong.
        trials: the number $n$ of all instances, at least 1.
        level: confidence level.

    Returns:
        The low and the high ends `[...]` of the interval of a - b, in [-1, 1].

    Example:
        >>> low, high = tango_interval(np.array([0, 1]), np.array([0, 7]), 21, 0.95)
        >>> low.round(4), high.round(4)
        (array([-0.1546, -0.5172]), array([ 0.1546, -0.026 ]))
    """
    z = normal_quantile((1.0 + level) / 2.0)
    only_a, only_b = np.broadcast_arrays(np.asarray(only_a, np.float64), np.asarray(only_b, np.float64))
    return _tango_low(only_a, only_b, trials, z), -_tango_low(only_b, only_a, trials, z)


def _tango_low(b: np.ndarray, c: np.ndarray, n: int, z: float) -> np.ndarray:
    """The least delta that is not rejected, by bisection: the test statistic falls as delta grows."""
    low, high = np.full(b.shape, -1.0), (b - c) / n
    for _ in range(_HALVINGS):
        delta = (low + high) / 2.0
        rejected = b - c - n * delta > z * _tango_deviation(b, c, n, delta)
        low, high = np.where(rejected, delta, low), np.where(rejected, high, delta)
    return high


def _tango_deviation(b: np.ndarray | float, c: np.ndarray | float, n: int, delta: np.ndarray | float) -> np.ndarray:
    """The standard deviation of b - c, given a difference of delta from -1 to 1."""
    linear = b + c - (2 * n - b + c) * delta
    product = delta * (1.0 - delta)
    q = (np.sqrt(np.maximum(linear * linear + 8.0 * n * c * product, 0.0)) + linear) / (4 * n)
    return np.sqrt(np.maximum(n * (2.0 * q + product), 0.0))


def tango_tail(only_a: int, only_b: int, trials: int, delta: float) -> float:
    r"""The one-sided p-value of Tango's score test, of a difference of at most delta.

    $1 - \Phi((b - c - n \delta) / \sqrt{n (2 q + \delta (1 - \delta))})$, as in `tango_interval`; 0 for a delta
    below -1, which no difference can have, and 1 for one above 1.

    Example:
        >>> round(tango_tail(1, 7, 21, -0.5172), 3), tango_tail(0, 0, 21, 0.0)
        (0.025, 1.0)
    """
    if abs(delta) > 1.0:
        return float(delta > 0.0)
    distance = only_a - only_b - trials * delta
    deviation = float(_tango_deviation(only_a, only_b, trials, delta))
    if deviation == 0.0:
        return float(distance <= 0.0)
    return 0.5 * math.erfc(distance / deviation / math.sqrt(2.0))
