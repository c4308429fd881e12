r"""Standard errors by the delta method.

These are standard errors for new units; `two_way` extends them to new units and new runs. The standard error is
$\sqrt{\sum_h \sum_{i \in h} (g \cdot (s_i - \bar s_h))^2}$. Here g is the gradient of the score at the sums, $s_i$ are
the statistics of unit i, and $\bar s_h$ is their mean over the $n_h$ units of stratum h. Gradients are central
differences in NumPy, so that no number depends on the device. If the score is linear, the bootstrap standard error
approaches this number as the number of resamples grows. For a mean, the delta-method standard error is the standard
deviation (ddof = 0) divided by the root of the number of units. With the factor $n_h / (n_h - 1)$ for each square (ddof
= 1), errors of instances are comparable with the jackknife's errors of clusters. References: Efron and Tibshirani
(1993), section 21; Davison and Hinkley (1997), section 2.7.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from sigjax.exact.plans import Pair
from sigjax.records import Score
from sigjax.resample.units import norms, total
from sigjax.testing.jackknife import map_pairs

STEP = 2.0**-17
"""Gradients are central differences. Half their width is this share of the sum of a statistic's absolute values. It
makes the truncation error and the rounding error of a gradient about equal, 1e-10 of the gradient."""
NO_VARIANCE = 2.0**-40
"""A variance below this share of the sum of its absolute terms is only rounding."""


def slope(score: Callable[[np.ndarray], np.ndarray], at: np.ndarray, stat: int, step: float) -> np.ndarray:
    """The derivative `[row]` of a score with respect to the sum of a statistic, by a central difference.

    `score` computes scores `[row]` from sums `[stat, row]`, `at` `[stat, row]` are the sums, `stat` is the index of the
    statistic, and `step` is half the width of the difference.

    >>> slope(lambda sums: sums[0] / sums[1], np.array([[3.0], [4.0]]), 0, 2.0**-17)
    array([0.25])
    """
    moved = np.zeros((len(at), 1))
    moved[stat] = step
    ahead, here, behind = (score(at + sign * moved) for sign in (1.0, 0.0, -1.0))
    # At the edge of the score's domain, take a one-sided difference.
    lower, upper = (np.where(np.isfinite(each), each, here) for each in (behind, ahead))
    width = (np.isfinite(behind) * step + np.isfinite(ahead) * step).clip(min=step)
    return (upper - lower) / width


def delta_method_errors(
    values: np.ndarray, strata: np.ndarray, score: Score, pairs: Sequence[Pair], *, ddof: Literal[0, 1] = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays: standard errors of the scores of systems, `[system]`, and of the deltas of pairs, `[pair]`.

    With `ddof` = 1, squares are divided by the number of units of a stratum minus 1, as in a sample variance. `values`
    are `[system, unit, stat]` float64, with units sorted by stratum. `strata` `[unit]` are the numbers of the units'
    strata, ascending from 0. `score` computes scores from sums `[..., stat]`.

    >>> values = np.array([[[1.0], [2], [3], [6]], [[1], [1], [2], [8]]])
    >>> strata, mean = np.zeros(4, int), lambda sums: sums[..., 0] / 4
    >>> systems, deltas = delta_method_errors(values, strata, mean, [(0, 1)])
    >>> systems.round(6), deltas.round(6)
    (array([0.935414, 1.457738]), array([0.612372]))
    """
    influence, largest = delta_method_influences(values, strata, score)
    influence = influence * np.sqrt(sample_factors(strata)) if ddof else influence
    members = np.array(pairs, np.int64).reshape(-1, 2)
    return _errors(influence, largest), map_pairs(_errors, influence, members, largest[members].sum(axis=1))


def delta_method_influences(values: np.ndarray, strata: np.ndarray, score: Score) -> tuple[np.ndarray, np.ndarray]:
    """Return each unit's influence on each score, `[system, unit]`, and a scale `[system]` for their rounding errors.

    An influence is a sum of one term per statistic: the slope of the score times the statistic's deviation from its
    stratum mean. The scale is the 2-norm, over units, of the sums of absolute terms. `values` `[system, unit, stat]`
    have units sorted by stratum, `strata` `[unit]` are the numbers of the units' strata, and `score` computes scores
    from sums `[..., stat]`.
    """
    starts = np.searchsorted(strata, np.arange(int(strata[-1]) + 1))
    # The first unit of each stratum is subtracted, so that values that do not vary are exactly 0.
    apart = values - values[:, starts][:, strata]
    sizes = np.bincount(strata)[:, None]
    apart = apart - (np.add.reduceat(apart, starts, axis=1) / sizes)[:, strata]
    by_stat = values.swapaxes(1, 2)
    totals, steps = total(by_stat), STEP * total(np.abs(by_stat))
    found, bounds = np.zeros(values.shape[:2]), np.zeros(values.shape[:2])
    with np.errstate(all="ignore"):
        for system, at in enumerate(totals[:, :, None]):
            for stat in np.flatnonzero(steps[system]).tolist():
                gradient = slope(lambda sums: np.asarray(score(sums.T)), at, stat, float(steps[system, stat]))
                term = gradient * apart[system, :, stat]
                found[system] += term
                bounds[system] += np.abs(term)
    return found, norms(bounds)


def _errors(influence: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return standard errors `[row]`: the 2-norm of each row of influences `[row, unit]`; 0 if it is only rounding.

    `largest` `[row]` is the scale with which the norm is compared to decide this, see `delta_method_influences`.
    """
    errors = norms(influence)
    return np.where(errors > math.sqrt(NO_VARIANCE) * largest, errors, 0.0)


def sample_factors(strata: np.ndarray) -> np.ndarray:
    """The factor n / (n - 1) of each unit, `[unit]`, where n is the number of units in its stratum.

    The factor of a single unit is 1, because its term is 0.
    """
    sizes = np.bincount(strata)[strata]
    return sizes / np.maximum(sizes - 1, 1)
