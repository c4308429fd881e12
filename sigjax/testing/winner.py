r"""The interval of the best score, corrected for choosing the best system by this score: the zoom correction.

The largest of m scores $x_i$, with true scores $\theta_i$ and normal errors of known standard deviations $\sigma_i$, is
too large on average. A test accepts the vector $\theta$ if each error $|x_i - \theta_i| / \sigma_i$ is at most the
larger of r and $g_i = \Delta_i / (\sigma_i + \max_j \sigma_j)$, with the gaps $\Delta_i = \max_j \theta_j - \theta_i$.
So the limit is wider for a system that is far behind. r is the least radius with

$$P(|x_i - \theta_i| \le \max(r, g_i)\, \sigma_i \text{ for all } i) \ge 1 - \alpha,$$

It is at most the radius of simultaneous intervals. With this probability the winner w is within $r \sigma_w$ of its
true score. Otherwise, if $g_w$ were above r, its score would be below $\max_j \theta_j - r \max_j \sigma_j$, and so
below that of the truly best system, whose gap is 0. The interval holds every t that is the winner's true score in some
accepted $\theta$. For each t the least favourable gaps give $g_i = \max(0, t - x_i) / (2 \sigma_i + \max_j \sigma_j)$,
and $g_w = 0$: if $g_i > r$, then $\theta_i \le x_i + g_i \sigma_i$ and $\max_j \theta_j \ge t$ show that the limit is
at least so large; if not, both are at most r. So t is in the interval if $|x_w - t| \le r(t)\, \sigma_w$. For equal
$\sigma$ this is the method of Zrnic and Fithian, whose slack is $\Delta_i / 2$.

From below, $t_0$ is the end of the simultaneous interval, and $t_{k+1} = x_w - r(t_k)\, \sigma_w$: r falls as t rises,
so no t before the limit is in the interval. From above, $t - r(t)\, \sigma_w$ rises, and the end is the t at which it
equals $x_w$. If all standard errors are equal, the lower end is nearer than the end of simultaneous intervals when all
other systems are some 12 standard errors behind; the upper end is nearer from 6 on.

Errors have the covariances of the scores of systems on the same instances, taken as known. Both radii are converted to
levels of the usual interval of the score (Wilson's, or t). Reference: Zrnic and Fithian (2024), "A flexible defense
against the winner's curse".
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.records.settings import bonferroni_level
from sigjax.testing.intervals import normal_errors

_FEW_UNITS, _MOST = 10, 2**24
"""With fewer units than this, or fewer than systems, correlations are too uncertain to be used; and most normal
numbers."""
_HALVINGS, _STEPS = 24, 1000


def winner_levels(
    scores: np.ndarray, influence: np.ndarray, level: float, draws: int, seed: int
) -> tuple[float, float]:
    """The levels of the two intervals that give the lower and the upper end of the interval of the largest score.

    `scores` `[system]` (larger is better) have the influences `[system, unit]`. With few units, or if some system does
    not vary (its error is not known to be 0), the levels come from Bonferroni's inequality.
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
    """How many standard errors the interval of the largest score reaches below and above it.

    `sizes` `[system]` are the standard errors, and `errors` `[system, draw]` the absolute errors, divided by them.

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
