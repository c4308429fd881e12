"""Intervals of proportions and of paired differences of them, by inverting score tests: they hold for few instances.

A bootstrap of 20 right answers out of 20 never draws a wrong one, so its interval is [1, 1], of every kind. The score
test takes the variance that the proportion in question would have, not the observed one, and has no such end.

References: Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Tango (1998),
"Equivalence test and confidence interval for the difference in proportions for the paired-sample design"; Fagerland,
Lydersen and Laake (2014), "Recommended tests and confidence intervals for paired binomial proportions".
"""

import math
from statistics import NormalDist

import numpy as np

_HALVINGS = 60
"""An end is sought between -1 and 1: after so many halvings it is as precise as a double."""


def wilson_interval(successes: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Wilson's score interval of a proportion.

    All $p$ with $|\hat p - p| \le z \sqrt{p (1 - p) / n}$, for $\hat p$ = successes / $n$ and the normal quantile $z$.

    Args:
        successes: `[...]` how many of the trials are 1.
        trials: their number $n$, at least 1.
        level: confidence level.

    Returns:
        The low and the high ends `[...]`, in [0, 1].

    Example:
        >>> low, high = wilson_interval(np.array([10, 20]), 20, 0.95)
        >>> low.round(4), high.round(4)
        (array([0.2993, 0.8389]), array([0.7007, 1.    ]))
    """
    square = _normal_quantile(level) ** 2
    failures = trials - successes
    middle = successes + square / 2.0
    half = np.sqrt(square * (successes * (failures / trials) + square / 4.0))
    low = np.where(successes == 0, 0.0, (middle - half) / (trials + square))
    high = np.where(failures == 0, 1.0, (middle + half) / (trials + square))
    return low, high


def tango_interval(only_a: np.ndarray, only_b: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Tango's score interval of the difference of two proportions on the same instances.

    All $\delta$ with $|b - c - n \delta| \le z \sqrt{n (2 q + \delta (1 - \delta))}$, where $b$ and $c$ are the numbers
    of instances that only a, and only b, has right, and $q$ is the maximum-likelihood probability of the latter, given
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
    z = _normal_quantile(level)
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

    $1 - \Phi((b - c - n \delta) / \sqrt{n (2 q + \delta (1 - \delta))})$, as in `tango_interval`: what is observed, and
    more. 0 for a delta below -1, which no difference can have, and 1 for one above 1.

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


def _normal_quantile(level: float) -> float:
    return NormalDist().inv_cdf((1.0 + level) / 2.0)
