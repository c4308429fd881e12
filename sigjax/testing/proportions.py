r"""Score intervals of proportions: Wilson's of a score, Tango's of a delta.

They are for right-or-wrong answers. A bootstrap of 20 right answers out of 20 never draws a wrong one, so all its
intervals are [1, 1]. A score test takes the variance that the proportion in question would have, not the observed one,
and has no such end: Wilson's interval of a score and Tango's of a delta invert it. References: Wilson (1927), "Probable
inference, the law of succession, and statistical inference"; Tango (1998), "Equivalence test and confidence interval
for the difference in proportions for the paired-sample design"; Fagerland, Lydersen and Laake (2014), "Recommended
tests and confidence intervals for paired binomial proportions".
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.metrics.ratios import mean_score
from sigjax.testing.problem import SumsProblem
from sigjax.testing.special import normal_quantile

_CACHED = 2**12
"""Intervals whose ends are computed in one block."""
_TANGO_WIDTH = 1e-14
"""Precision of their ends, for differences from -1 to 1."""


def right_or_wrong(problem: SumsProblem) -> bool:
    """Whether each unit is one answer, 0 or 1, and the score is the share of ones, without strata."""
    units = problem.units
    if problem.is_shifted or problem.metric.score is not mean_score or units.divisors is not None or units.strata.any():
        return False
    answers, counts = units.values[:, :, 0], units.values[:, :, 1]
    return bool((counts == 1).all() and ((answers == 0) | (answers == 1)).all())


def proportion_intervals(
    problem: SumsProblem, errors: tuple[np.ndarray, np.ndarray], levels: tuple[float, ...]
) -> np.ndarray:
    """Wilson's intervals of all scores and Tango's of all deltas."""
    num_units, (only_a, only_b, which) = problem.units.values.shape[1], _only(problem)
    pairs = [ends[which] for ends in tango_interval(only_a, only_b, num_units, levels[1])]
    systems = wilson_interval(problem.units.totals[:, 0].astype(np.float64), num_units, levels[0])
    return np.concatenate([np.stack([errors[0], *systems], axis=1), np.stack([errors[1], *pairs], axis=1)])


def _only(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of instances on which only a, and only b, is right, `[problem]` float64; and the problem of each pair."""
    counted = problem.counted
    if counted is None:  # no two systems differ
        return np.zeros(1), np.zeros(1), np.zeros(len(problem.hypotheses.members), np.int64)
    assert counted.counts is not None
    only_a, only_b = counted.counts.T.astype(np.float64)
    return only_a, only_b, counted.which


def errors_of_proportions(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors from counts; the sums of squares of differences, and of their mean, are whole numbers."""
    num_units, (only_a, only_b, which) = float(problem.units.values.shape[1]), _only(problem)
    right = problem.units.totals[:, 0]
    scale = num_units**2 * max(num_units - 1.0, 1.0)
    of_pairs = np.sqrt((num_units * (only_a + only_b) - (only_a - only_b) ** 2) / scale)
    return np.sqrt(right * (num_units - right) / scale), of_pairs[which]


def wilson_interval(successes: np.ndarray, trials: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Wilson's score interval of a proportion.

    All $p$ with $|\hat p - p| \le z \sqrt{p (1 - p) / n}$, for $\hat p$ = successes / $n$ and the normal quantile $z$.
    Successes and both ends are `[...]`; trials are 1 or more, and ends in [0, 1].

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
    of instances on which only a, and only b, is right. $q$ is the maximum-likelihood probability that only b is right,
    given $\delta$: the root of $2 n q^2 - (b + c - (2 n - b + c) \delta) q - c \delta (1 - \delta)$ that is a
    probability. The interval excludes 0 exactly if McNemar's chi-square test, uncorrected, rejects. Counts and both
    ends are `[...]`; trials n are 1 or more, and ends, of a - b, in [-1, 1].

    >>> low, high = tango_interval(np.array([0, 1]), np.array([0, 7]), 21, 0.95)
    >>> low.round(4), high.round(4)
    (array([-0.1546, -0.5172]), array([ 0.1546, -0.026 ]))
    """
    z = normal_quantile((1.0 + level) / 2.0)
    only_a, only_b = np.broadcast_arrays(np.asarray(only_a, np.float64), np.asarray(only_b, np.float64))
    low, high = np.empty(only_a.shape), np.empty(only_a.shape)
    for at in range(0, max(only_a.size, 1), _CACHED):
        b, c = (each.ravel()[at : at + _CACHED] for each in (only_a, only_b))
        low.ravel()[at : at + _CACHED] = _tango_low(b, c, trials, z)
        high.ravel()[at : at + _CACHED] = -_tango_low(c, b, trials, z)
    return low, high


def _tango_low(b: np.ndarray, c: np.ndarray, n: int, z: float) -> np.ndarray:
    """The least delta that is not rejected: the test statistic falls as delta grows.

    The method is inverse quadratic interpolation if it is safe, else bisection. Reference: Chandrupatla (1997), "A new
    hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives".
    """

    def excess(delta: np.ndarray) -> np.ndarray:
        return b - c - n * delta - z * _tango_deviation(b, c, n, delta)

    last, other, step = (b - c) / n, np.full(b.shape, -1.0), 0.5
    at_last, at_other = excess(last), excess(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        while True:
            new = last + step * (other - last)
            at_new = excess(new)
            kept = (at_new > 0.0) == (at_last > 0.0)  # the root is between the new point and the last point
            before, at_before = np.where(kept, last, other), np.where(kept, at_last, at_other)
            other, at_other = np.where(kept, other, last), np.where(kept, at_other, at_last)
            last, at_last = new, at_new
            width = np.abs(other - last)
            if (width <= _TANGO_WIDTH).all():
                return np.where(np.abs(at_last) < np.abs(at_other), last, other)
            x, y = (last - other) / (before - other), (at_last - at_other) / (at_before - at_other)
            guess = at_last / (at_other - at_last) * at_before / (at_other - at_before)
            guess += (
                at_last / (at_before - at_last) * at_other / (at_before - at_other) * (before - last) / (other - last)
            )
            safe = (1.0 - np.sqrt(1.0 - x) < y) & (y < np.sqrt(x)) & np.isfinite(guess)
            least = np.minimum(0.5 * _TANGO_WIDTH / width, 0.5)
            # Ends that are found stay fixed, so that an end does not depend on the other intervals of its block.
            step = np.where(width <= _TANGO_WIDTH, 0.0, np.clip(np.where(safe, guess, 0.5), least, 1.0 - least))


def _tango_deviation(b: np.ndarray | float, c: np.ndarray | float, n: int, delta: np.ndarray | float) -> np.ndarray:
    """The standard deviation of b - c if the true difference is delta, from -1 to 1."""
    linear = b + c - (2 * n - b + c) * delta
    product = delta * (1.0 - delta)
    q = (np.sqrt(np.maximum(linear * linear + 8.0 * n * c * product, 0.0)) + linear) / (4 * n)
    return np.sqrt(np.maximum(n * (2.0 * q + product), 0.0))


def tango_tail(only_a: int, only_b: int, trials: int, delta: float) -> float:
    r"""The one-sided p-value of Tango's score test of the null hypothesis that the difference is at most delta.

    $1 - \Phi((b - c - n \delta) / \sqrt{n (2 q + \delta (1 - \delta))})$, as in `tango_interval`; 0 for a delta
    below -1, which no difference can have, and 1 for one above 1.

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
