r"""At which level must every interval be, so that all of them hold together?

Let $u_{ki}$ be the influence of unit i on the score of system k (see `jackknife_t`). Scores and deltas are jointly
normal, nearly, with covariances $\sum_i u_{ki} u_{li}$. The quantile c, at the level asked for, of the largest $|Z|$ of
such normal numbers is taken from draws; each interval is then of the level $P(|Z| \le c)$ of one of them. As all pairs
share their draws, that takes account of how they depend on each other, and is less than Bonferroni's level. Intervals
of t have its quantile at that level: their standard errors are taken to depend on each other no more than their deltas
do. Covariances are taken as known, which with fewer than ten units is too bold (at a level of 90%, ten deltas of five
systems of eight independent normal numbers held together in 86%, of five in 83%), so that `closed` takes Bonferroni's
level there.

Reference: Hothorn, Bretz and Westfall (2008), "Simultaneous inference in general parametric models".
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.resample.bits import row_keys, words

_ROWS = 2**10
"""Draws that are held at a time."""
_RIDGE = 1e-12
"""Part of each variance that is added to it, so that systems which are sums of others have a root."""


def normal_maxima(moves: np.ndarray, targets: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """The largest |Z| of all targets `[draw]`.

    Args:
        moves: `[system, unit]` influences.
        targets: `[target, 2]` (a, b): the delta of two systems, or the score of a where b is the number of systems. All
            of them vary.
        draws: how many.
        seed: of the draws.
    """
    from scipy.special import ndtri

    num_systems = len(moves)
    covariance = moves @ moves.T
    variances = np.diag(covariance)
    ridge = np.diag(_RIDGE * np.where(variances > 0.0, variances, 1.0))
    root = np.concatenate([np.linalg.cholesky(covariance + ridge), np.zeros((1, num_systems))])
    lengths = np.linalg.norm(root[targets[:, 0]] - root[targets[:, 1]], axis=1)
    of_first = {a: np.flatnonzero(targets[:, 0] == a) for a in np.unique(targets[:, 0]).tolist()}
    num_words = num_systems + num_systems % 2
    found = np.zeros(draws)
    for start in range(0, draws, _ROWS):
        rows = np.arange(start, min(start + _ROWS, draws))
        uniform = (words(row_keys(seed, rows), num_words)[:, :num_systems] + 0.5) * 2.0**-32
        values = root @ ndtri(uniform.T)
        largest = found[start : start + len(rows)]
        for a, places in of_first.items():
            sizes = np.abs(values[a] - values[targets[places, 1]]) / lengths[places, None]
            np.maximum(largest, sizes.max(axis=0), out=largest)
    return found


def joint_level(maxima: np.ndarray, level: float, others: int = 0) -> float:
    """The level of each interval.

    Args:
        maxima: `[draw]`, as above.
        level: at which all intervals shall hold together.
        others: how many more intervals there are, independent of these.

    Example:
        >>> maxima = np.array([0.3, 0.7, 1.1, 1.5])
        >>> round(joint_level(maxima, 0.75), 3), round(joint_level(maxima, 0.75, others=1), 3)
        (0.729, 0.866)
    """
    ordered = np.sort(maxima)
    levels = np.array([math.erf(each / math.sqrt(2.0)) for each in ordered.tolist()])
    held = np.arange(1, len(ordered) + 1) / len(ordered) * levels**others
    enough = np.flatnonzero(held >= level)
    if enough.size:
        return float(levels[enough[0]])
    return max(float(levels[-1]), level ** (1.0 / max(others, 1)))
