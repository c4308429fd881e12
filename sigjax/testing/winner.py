r"""The interval of the best score, corrected for choosing the best system by this score: the zoom correction.

Let $x_i$ be m scores with true scores $\theta_i$ and normal errors of known standard deviations $\sigma_i$. The largest
score is too large on average. Let $\Delta_i = \max_j \theta_j - \theta_i$ be the gap between system i and the truly
best system, and $g_i = \Delta_i / (\sigma_i + \max_j \sigma_j)$. A test accepts the vector $\theta$ of true scores if
each error $|x_i - \theta_i| / \sigma_i$ is at most the larger of a radius r and $g_i$. So the limit of the error is
wider for a system that is far behind. The radius r is the least number with

$$P(|x_i - \theta_i| \le \max(r, g_i)\, \sigma_i \text{ for all } i) \ge 1 - \alpha.$$

r is at most the radius of simultaneous intervals. With probability at least $1 - \alpha$, all errors are within these
limits. Then the score of the winner w (the system with the largest score) is within $r \sigma_w$ of its true score. The
reason: if $g_w$ were above r, the score of w would be below $\max_j \theta_j - r \max_j \sigma_j$. The truly best
system has the gap 0, so its score is not below this number: it would be larger than the score of w.

The interval contains every t that is the winner's true score in some accepted $\theta$. For each t, let $g_i(t) =
\max(0, t - x_i) / (2 \sigma_i + \max_j \sigma_j)$ with $g_w(t) = 0$, and let r(t) be the radius for these numbers in
place of $g_i$. Then r(t) is at least the radius r of every accepted $\theta$ with $\theta_w = t$. The reason: $\Delta_i
\ge t - \theta_i \ge t - x_i - \max(r, g_i)\, \sigma_i$ and $\Delta_i \le \max(r, g_i)\, (\sigma_i + \max_j \sigma_j)$,
so $\max(r, g_i) \ge g_i(t)$. If r(t) were below r, the limits $\max(r(t), g_i(t))$ would be at most $\max(r, g_i)$, and
the limit of w would be smaller, because $g_w(t) = 0$ and $g_w \le r$. So their probability would be below $1 - \alpha$,
which contradicts the choice of r(t). So it is safe to use the interval of all t with $|x_w - t| \le r(t)\, \sigma_w$.
For equal $\sigma$ this is the method of Zrnic and Fithian, where $g_i \sigma = \Delta_i / 2$.

The lower end is the limit of $t_{k+1} = x_w - r(t_k)\, \sigma_w$, where $t_0$ is the lower end of the simultaneous
interval: r(t) falls (or stays) as t rises, so no t below the limit is in the interval. The upper end is the t with $t -
r(t)\, \sigma_w = x_w$; there is only one such t, because the left side rises with t. Suppose all standard errors are
equal. Then the lower end is nearer to the score than the end of a simultaneous interval if all other systems are at
least about 12 standard errors behind. The upper end is nearer if they are at least about 6 standard errors behind.

Errors have the covariances of the systems' scores on the same instances, which are treated as known. Both radii (for
the lower and the upper end) are converted to confidence levels. The interval at such a level is Clopper and Pearson's
for right-or-wrong answers, and else the usual interval of the score. Reference: Zrnic and Fithian (2024), "A flexible
defense against the winner's curse".
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sigjax.records import Interval
from sigjax.records.settings import bonferroni_level
from sigjax.testing.intervals import normal_errors
from sigjax.testing.special import clopper_pearson

_FEW_UNITS, _MOST = 10, 2**24
"""`_FEW_UNITS`: the smallest number of units for which correlations of scores are used. (There must also be at least as
many units as systems.) `_MOST`: the largest number of normal numbers that are drawn."""
_HALVINGS, _STEPS = 24, 1000
"""`_HALVINGS`: the number of bisection steps for the upper end of the winner's interval. `_STEPS`: the largest number
of steps for its lower end."""
_FEW_ANSWERS, SKEWED = 30, 0.2
"""`_FEW_ANSWERS`: with fewer right answers, or fewer wrong answers, the score of the best system is not nearly normal,
so its interval has Bonferroni's level. `SKEWED`: a mean is not nearly normal if its skewness is above this number; then
the interval is left out, or comes with a warning."""


def winner_interval(
    scores: np.ndarray,
    influence: np.ndarray,
    level: float,
    interval_at: Callable[[float], Interval | None],
    *,
    sign: float = 1.0,
    right: int | None = None,
    draws: int,
    seed: int,
) -> Interval | None:
    """The interval for the best score, corrected for choosing the system by this score.

    `scores` `[system]` are all scores, and `influence` `[system, unit]` the influences of units on them. If `sign` is
    -1, the lowest score is the best. `interval_at` returns the usual interval of the best score at a level, and `draws`
    is the number of random draws of the scores' normal errors. If units are right or wrong answers, `right` is the
    number of right answers of the best system. Then the interval is Clopper and Pearson's at the corrected level. This
    level is near 1, where Wilson's interval is too short if few answers are right.
    """
    if right is not None and min(right, influence.shape[1] - right) < _FEW_ANSWERS:
        levels = (bonferroni_level(level, len(scores)),) * 2
    else:
        levels = winner_levels(sign * scores, sign * influence, level, draws, seed)
    ends = list[Interval]()
    for own in levels if sign > 0.0 else levels[::-1]:
        if right is None:
            found = interval_at(own)
        else:
            found = Interval(*(float(end[0]) for end in clopper_pearson(np.array([right]), influence.shape[1], own)))
        if found is None:
            return None
        ends.append(found)
    return Interval(ends[0].low, ends[1].high)


def winner_levels(
    scores: np.ndarray, influence: np.ndarray, level: float, draws: int, seed: int
) -> tuple[float, float]:
    """Return two confidence levels, at which the usual interval of the largest score has the winner's interval ends.

    At the first level, the usual interval has the lower end of the winner's interval, and at the second level its upper
    end. `draws` is the number of random draws of the scores' normal errors, `scores` `[system]` (larger is better) are
    all scores, and `influence` `[system, unit]` the influences of units on them. The levels come from Bonferroni's
    inequality if there are few units, or if the standard error of some score is 0 (its true error need not be 0).
    """
    (count, units), sizes = influence.shape, np.sqrt((influence**2).sum(axis=1))
    if units < max(_FEW_UNITS, count) or not sizes.all():
        return bonferroni_level(level, count), bonferroni_level(level, count)
    number = max(1, min(draws, _MOST // count))
    errors = np.concatenate([np.abs(block) for block in normal_errors(influence, number, seed)], axis=1)
    errors /= sizes[:, None]
    low, high = (math.erf(each / math.sqrt(2.0)) for each in winner_radii(scores, sizes, errors, level))
    return max(low, level), max(high, level)  # quantiles of draws may lie just below


def winner_radii(scores: np.ndarray, sizes: np.ndarray, errors: np.ndarray, level: float) -> tuple[float, float]:
    """Return how many standard errors the winner's interval extends below and above the largest score.

    `sizes` `[system]` are the standard errors of scores. `errors` `[system, draw]` are absolute values of normal errors
    of scores, divided by the standard errors.

    >>> errors = np.abs(np.random.default_rng(1).standard_normal((4, 100_000)))
    >>> for ahead in (1.0, 9.0, 20.0):
    ...     [round(each, 1) for each in winner_radii(np.array([ahead, 0.0, 0.0, 0.0]), np.ones(4), errors, 0.95)]
    [2.5, 2.5]
    [2.5, 2.0]
    [2.0, 2.0]
    """
    winner, spreads = int(np.argmax(scores)), 2.0 * sizes + sizes.max()
    best, own = float(scores[winner]), float(sizes[winner])

    def radius(t: float) -> float:
        gaps = np.maximum(0.0, t - scores) / spreads
        gaps[winner] = 0.0
        counted = np.where(errors > gaps[:, None], errors, 0.0).max(axis=0)
        return float(np.quantile(counted, level, method="higher"))

    below = float(np.quantile(errors.max(axis=0), level, method="higher"))
    low, high = 0.0, below
    for _ in range(_STEPS):
        if (nearer := radius(best - below * own)) >= below:
            break
        below = nearer
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if middle <= radius(best + middle * own) else (low, middle)
    return below, high
