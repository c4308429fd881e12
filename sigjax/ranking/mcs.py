r"""The model confidence set: the systems that may be the best, by elimination (Hansen, Lunde and Nason 2011).

Let g be the scores, or their negatives where lower is better. For the systems M that are left,

$$d_i = \bar g_M - g_i, \quad t_i = d_i / s_i, \quad T = \max_{i \in M} t_i$$

where $s_i^2$ is the mean of $(d^*_i - d_i)^2$ over the bootstrap resamples, which all systems share. The p-value of the
hypothesis that all systems of M are equally good is $(e + 1) / (K + 1)$, with e the number of K resamples on which
$\max_i (d^*_i - d_i) / s_i \ge T$. The system with the largest t is then left out, and so on. Its MCS p-value is the
largest p-value so far; that of the last system is 1. The systems with a p-value of at least 1 - level are the set,
which holds the best system, or all of several best ones, with a probability of at least the level as the number of
units grows.

Systems with the same t, as identical ones have, are left out together. Where d does not vary, t is 0, or infinite where
there is a difference.

Reference: Hansen, Lunde and Nason (2011), "The model confidence set", Econometrica 79, section 3.1.2 (T_max).
"""

from collections.abc import Iterator

import numpy as np

from sigjax.units.sums import total

_ROUNDING = 1e-9
"""Statistics that differ by less than this part of themselves are ties."""
_CACHED = 2**18
"""Deviations that are looked at together."""


def mcs_p(deviations: np.ndarray, goodness: np.ndarray, rounding: np.ndarray) -> list[float]:
    """MCS p-value `[system]` of each system.

    Args:
        deviations: `[system, resample]`, replicates of the goodness minus what was observed.
        goodness: `[system]` scores, or their negatives where lower is better.
        rounding: `[system]` rounding error of a score.

    Example:
        >>> mcs_p(np.array([[0.1, -0.1, 0.0], [-0.1, 0.1, 0.0]]), np.array([0.9, 0.1]), np.zeros(2))
        [1.0, 0.25]
    """
    resamples = deviations.shape[1]
    found, largest, left = np.ones(len(goodness)), 0.0, np.arange(len(goodness))
    while len(left) > 1:
        behind, tolerance = goodness[left].mean() - goodness[left], 2.0 * (rounding[left] + rounding[left].max())
        spread = np.sqrt(_squares(deviations, left) / resamples)
        varies = spread > tolerance
        scale = np.divide(1.0, spread, out=np.zeros(len(left)), where=varies)
        constant = np.where(np.abs(behind) > tolerance, np.copysign(np.inf, behind), 0.0)
        t = np.where(varies, behind * scale, constant)
        limit = t.max() * (1.0 - _ROUNDING)
        worst = t >= limit
        if worst.all():
            break
        largest = max(largest, (_exceed(deviations, left, scale, limit) + 1) / (resamples + 1))
        found[left[worst]] = largest
        left = left[~worst]
    return found.tolist()


def _squares(deviations: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Sums `[left]` of squares of d* - d."""
    return sum((total(np.square(block)) for block in _blocks(deviations, left)), np.zeros(len(left)))


def _exceed(deviations: np.ndarray, left: np.ndarray, scale: np.ndarray, limit: float) -> int:
    """On how many resamples the largest t* is at least the limit."""
    blocks = _blocks(deviations, left)
    return sum(int(np.count_nonzero((block * scale[:, None]).max(axis=0) >= limit)) for block in blocks)


def _blocks(deviations: np.ndarray, left: np.ndarray) -> Iterator[np.ndarray]:
    """d* - d `[left, resample]` of some resamples at a time."""
    width = max(1, _CACHED // len(left))
    for start in range(0, deviations.shape[1], width):
        some = deviations[left, start : start + width]
        yield some.mean(axis=0) - some
