r"""Intervals by Student's t with a correction for skewness, of the errors of the `jackknife`.

**Interval.** Student's t with Hall's transformation, $g = \sum_i u_i^3 / s^3$ in place of the skewness of $\hat\theta$:
all $\theta$ with $|x + g x^2 / 3 + g^2 x^3 / 27 + g / 6| \le t$, $x = (\hat\theta - \theta) / s$. On the side of the
long tail the end is kept between t s and 2 t s from $\hat\theta$, on the other, of a score, between t s / 2 and t s:
the cubic has slope 0 at $x = -3 / g$, so its inverse is infinitely steep where |g| t is near 1, and one end of nine
numbers could be 4.1 t s away. At 95%, bounds are met where the skewness of the units themselves, $g \sqrt n$, is above
1.2 of 9 units, 2.4 of 30 and 4.5 of 100. Intervals are cut at the bounds of the metric.

Of a delta, the end on the other side stays t s away. Differences of two systems are often symmetric, with heavy tails,
or few of them are not 0: g is noise then, and follows the outlier that has moved $\hat\delta$, too. Taking the other
end nearer misses such deltas in 7 to 10% with 10 to 50 units, and of 50 units of which 3 differ in 20%, where t misses
3 to 5%. Moved outwards only, intervals never miss more often than those of t, and of lognormal differences 10, 7 and 5%
in place of 16, 12 and 9% (10, 30 and 100 units). Reference: Hall (1992), "On the removal of skewness by
transformation".
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.records import Alternative
from sigjax.resample.units import total
from sigjax.testing.jackknife import degrees_of_freedom, of_pairs
from sigjax.testing.problem import SumsProblem
from sigjax.testing.special import t_quantile, t_tail

_STRETCH = 2.0
"""How many times as far from the score as by t, or how many times nearer, an end corrected for skewness may be; of a
delta no end is nearer."""


def skewed_ends(skewness: np.ndarray, quantile: float, *, nearer: bool) -> tuple[np.ndarray, np.ndarray]:
    """How many standard errors the low and the high end are below the score `[target]`, by t with Hall's correction.

    `skewness` `[target]` is g, and `quantile` t, above 0; `nearer`: the end on the side of the short tail may be nearer
    than t.

    >>> [each.round(3) for each in skewed_ends(np.array([0.0, 0.3, 0.8]), 2.26, nearer=True)]
    [array([2.26 , 1.848, 1.473]), array([-2.26 , -3.254, -4.52 ])]
    >>> [each.round(3) for each in skewed_ends(np.array([0.0, 0.3, 0.8]), 2.26, nearer=False)]
    [array([2.26, 2.26, 2.26]), array([-2.26 , -3.254, -4.52 ])]
    """
    is_small = np.abs(skewness) < 1e-9
    third = np.where(is_small, 1.0, skewness) / 3.0

    def end(t: float) -> np.ndarray:
        """The x with x + g x^2 / 3 + g^2 x^3 / 27 + g / 6 = t, between t and twice, or half, of it."""
        x = (np.cbrt(1.0 + 3.0 * third * (t - skewness / 6.0)) - 1.0) / third
        bound = np.where(t * skewness < 0.0, t * _STRETCH, t / _STRETCH if nearer else t)
        return np.clip(np.where(is_small, t, x), np.minimum(t, bound), np.maximum(t, bound))

    return end(quantile), end(-quantile)


def skewed_tail(
    observed: float,
    error: float,
    skewness: float,
    value: float,
    degrees: float,
    alternative: Alternative,
    *,
    nearer: bool,
) -> float:
    """The p-value of the test against a value whose intervals have the ends `skewed_ends`.

    >>> from sigjax.testing.special import t_quantile
    >>> for nearer in (True, False):
    ...     low, high = 0.5 - 0.1 * np.array(skewed_ends(np.float64(0.3), t_quantile(0.95, 9.0), nearer=nearer))
    ...     [round(skewed_tail(0.5, 0.1, 0.3, x, 9.0, "two-sided", nearer=nearer), 12) for x in (low, high)]
    [0.05, 0.05]
    [0.05, 0.05]
    """
    x = min(max((observed - value) / error, -1e90), 1e90)  # its cube is a double
    cubic = x + skewness * x**2 / 3.0 + skewness**2 * x**3 / 27.0 + skewness / 6.0
    inner = _STRETCH if nearer else 1.0
    bound = x * inner if x * skewness > 0.0 else x / _STRETCH  # the value is nearer than an end, or farther
    return t_tail(sorted((x, cubic, bound))[1], degrees, alternative)


def skewness(influence: np.ndarray, errors: np.ndarray) -> np.ndarray:
    r"""$g = \sum_i (u_i / s)^3$ `[...]` of influences `[..., unit]` with standard errors s; 0 where s is 0."""
    scaled = influence / np.where(errors > 0.0, errors, math.inf)[..., None]
    return total(np.square(scaled) * scaled)


def skewed_t_intervals(
    problem: SumsProblem, influence: np.ndarray, errors: tuple[np.ndarray, np.ndarray], levels: tuple[float, ...]
) -> np.ndarray:
    """Intervals by t of all scores and deltas, corrected for skewness and cut at the bounds of the metric.

    There are none where no stratum has two units.
    """
    hypotheses, degrees = problem.hypotheses, degrees_of_freedom(problem.units.sizes, problem.units.strata)
    if degrees == 0.0:
        known = np.concatenate(errors)
        return np.stack([known, *np.full((2, len(known)), math.nan)], axis=1)
    (lowest, highest), scores = problem.metric.bounds, np.array(hypotheses.scores)
    low, high = skewed_ends(skewness(influence, errors[0]), t_quantile(levels[0], degrees), nearer=True)
    ends = np.maximum(scores - errors[0] * low, np.minimum(lowest, scores))
    systems = errors[0], ends, np.minimum(scores - errors[0] * high, np.maximum(highest, scores))
    deltas, largest = hypotheses.deltas, highest - lowest
    skewed = of_pairs(skewness, influence, hypotheses.members, errors[1])
    low, high = skewed_ends(skewed, t_quantile(levels[1], degrees), nearer=False)
    low, high = deltas - errors[1] * low, deltas - errors[1] * high
    pairs = errors[1], np.maximum(low, -largest), np.minimum(high, largest)
    return np.concatenate([np.stack(systems, axis=1), np.stack(pairs, axis=1)])
