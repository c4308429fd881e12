r"""The level of each interval at which all of them hold together.

Scores and deltas are jointly normal, nearly, with covariances $\sum_i u_{ki} u_{li}$ of systems k and l. Draws of such
normal variables, which all pairs share, give the quantile c of the largest $|Z|$ at the level asked for; each interval
is then of the level $P(|Z| \le c)$ of one of them, narrower than Bonferroni's by some 3%. Covariances are taken as
known, so intervals would be too narrow with fewer than ten units, or fewer than systems (with 25 systems of ten normal
numbers some delta was missed in 9%): there, Bonferroni's level is used. Reference: Hothorn, Bretz and Westfall (2008),
"Simultaneous inference in general parametric models".
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sigjax.resample.draws import row_keys, words
from sigjax.testing.special import scipy_special

_ROWS = 2**10
"""Normal draws that are held at a time."""
_RIDGE = 1e-12
"""Part of each variance that is added to it: the covariance of systems that are sums of others has a root then."""


def bonferroni_level(level: float, count: float) -> float:
    """The level of each of so many intervals, for all of them to hold together however they depend on each other.

    >>> round(bonferroni_level(0.95, 10), 6), bonferroni_level(0.95, 1)
    (0.995, 0.95)
    """
    return level if count <= 1 else 1.0 - (1.0 - level) / count


def normal_maxima(influence: np.ndarray, targets: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """The largest |Z| of all targets, `[draw]`.

    `influence` `[system, unit]` is that on scores, and `targets` `[target, 2]` (a, b): the delta of two systems, or the
    score of a where b is the number of systems. All of them vary.
    """
    root = np.concatenate([_root(influence), np.zeros((1, len(influence)))])
    lengths = np.linalg.norm(root[targets[:, 0]] - root[targets[:, 1]], axis=1)
    of_first = {a: np.flatnonzero(targets[:, 0] == a) for a in np.unique(targets[:, 0]).tolist()}
    found = np.zeros(draws)
    for block, values in enumerate(_normal(root, draws, seed)):
        largest = found[block * _ROWS : (block + 1) * _ROWS]
        for a, places in of_first.items():
            sizes = np.abs(values[a] - values[targets[places, 1]]) / lengths[places, None]
            np.maximum(largest, sizes.max(axis=0), out=largest)
    return found


def normal_errors(influence: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Normal errors of scores `[system, draw]`, some at a time, with the covariances of these influences."""
    return (values * _scale(influence) for values in _normal(_root(influence), draws, seed))


def _normal(root: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Products of a root `[row, system]` with standard normal numbers, `[row, draw]`, some at a time."""
    num_systems = root.shape[1]
    num_words = num_systems + num_systems % 2
    for start in range(0, draws, _ROWS):
        rows = np.arange(start, min(start + _ROWS, draws))
        uniform = (words(row_keys(seed, rows), num_words)[:, :num_systems] + 0.5) * 2.0**-32
        yield root @ scipy_special().ndtri(uniform.T)


def _root(influence: np.ndarray) -> np.ndarray:
    """A root of the covariances of scores, divided by `_scale`."""
    influence = influence / _scale(influence)
    covariance = influence @ influence.T
    variances = np.diag(covariance)
    return np.linalg.cholesky(covariance + np.diag(_RIDGE * np.where(variances > 0.0, variances, 1.0)))


def _scale(influence: np.ndarray) -> float:
    """A power of two, which rounds nothing, so that squares stay within the range of a double."""
    return math.ldexp(1.0, math.frexp(float(np.abs(influence).max()))[1])


def joint_level(maxima: np.ndarray, level: float, others: int = 0) -> float:
    """The level of each interval, for all of them to hold together at `level`.

    `maxima` `[draw]` are those of `normal_maxima`; `others` are intervals that are independent of these.

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
