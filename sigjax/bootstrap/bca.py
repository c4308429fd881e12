"""BCa intervals: percentile intervals whose levels are corrected for bias and for a spread that changes with the score.

Reference: Efron (1987), "Better bootstrap confidence intervals"; Efron and Tibshirani (1993), section 14.3.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Spread, quantile, standard_errors
from sigjax.records import Interval
from sigjax.units.sums import total

_NORMAL = NormalDist()


class Bca(NamedTuple):
    """What BCa intervals need besides replicates, for each target."""

    observed: np.ndarray
    """[target] float64: scores and deltas on all units."""
    tolerance: np.ndarray
    """[target] float64: replicates closer than this are ties."""
    acceleration: np.ndarray
    """[target] float64, see `acceleration`."""

    def part(self, places: slice) -> Bca:
        """The same of some targets."""
        return Bca(*(each[places] for each in self))


def acceleration(jackknife: np.ndarray, strata: np.ndarray, rounding: float = 0.0) -> float:
    r"""How fast the standard error changes with the score, from the scores without one unit at a time.

    With $U_i = (n_h - 1)(\bar\theta_h - \theta_{(i)})$ for unit i of stratum h, of $n_h$ units whose jackknife scores
    have the mean $\bar\theta_h$: $a = \frac{1}{6} \sum_i U_i^3 n_h^{-3} / (\sum_i U_i^2 n_h^{-2})^{3/2}$, and 0 where
    no score differs. Equivalent to `scipy.stats.bootstrap(method="BCa")`, whose samples are strata. Reference: Efron
    and Tibshirani (1993), equation 14.15; for strata Davison and Hinkley (1997), section 5.4.

    Args:
        jackknife: `[unit]` scores.
        strata: `[unit]` codes of the strata, ascending from 0.
        rounding: scores that differ by less do not differ.

    Example:
        >>> round(acceleration(np.array([1.0, 1.0, 1.0, 0.0]), np.zeros(4, int)), 6)
        0.096225
    """
    sizes = np.bincount(strata)
    first = jackknife[np.searchsorted(strata, strata)]
    apart = jackknife - first  # of scores that are all alike nothing is left, which their mean could not promise
    apart = ((np.bincount(strata, apart) / sizes)[strata] - apart) * ((sizes - 1.0) / sizes)[strata]
    largest = float(np.abs(apart).max())
    if largest <= rounding:
        return 0.0
    apart /= largest  # cubes of very small numbers would leave the range of a double
    squares = apart * apart  # products and roots round alike everywhere, powers do not
    cubes, spread = float(total(squares * apart)), float(total(squares))
    return cubes / (6.0 * spread * math.sqrt(spread))


def bca_levels(below: float, acceleration: float, level: float) -> tuple[float, float] | None:
    r"""Which quantiles of the replicates are the ends of the interval; None where there are none.

    $\Phi(z_0 + \frac{z_0 + z}{1 - a (z_0 + z)})$ with $z_0 = \Phi^{-1}$ of the share `below`, for the two normal
    quantiles z of the level. With all replicates on one side of the observed score $z_0$ is infinite, and there is no
    interval.

    Args:
        below: share of the replicates below the observed score, ties counted half (mid-rank).
        acceleration: a, as above.
        level: confidence level.

    Example:
        >>> [round(each, 6) for each in bca_levels(0.5, 0.0, 0.95)]
        [0.025, 0.975]
    """
    if not 0.0 < below < 1.0:
        return None
    bias = _NORMAL.inv_cdf(below)
    half = _NORMAL.inv_cdf((1.0 + level) / 2.0)
    low, high = (_corrected(bias, bias + z, acceleration) for z in (-half, half))
    return low, high


def _corrected(bias: float, z: float, acceleration: float) -> float:
    """The level for the normal quantile z; past the pole of the formula its limit there."""
    shrink = 1.0 - acceleration * z
    return _NORMAL.cdf(bias + z / shrink) if shrink > 0.0 else float(z > 0.0)


def bca_spreads(replicates: np.ndarray, bca: Bca, level: float) -> list[Spread]:
    """Standard error and BCa interval of each row of replicates `[target, resample]`, whose order is lost."""
    errors = standard_errors(replicates)
    spreads = []
    for row, error, observed, tolerance, of_target in zip(replicates, errors.tolist(), *bca, strict=True):
        levels = bca_levels(share_below(row, observed, tolerance), float(of_target), level)
        spreads.append(Spread(error, levels and Interval(*quantile(row, levels))))
    return spreads


def share_below(replicates: np.ndarray, observed: float, tolerance: float) -> float:
    """Share of the replicates `[resample]` below the observed score, ties counted half.

    Example:
        >>> share_below(np.array([1.0, 2.0, 2.0, 3.0, 5.0]), 2.0, 1e-12)
        0.4
    """
    less = np.count_nonzero(replicates < observed - tolerance)
    return float(less + np.count_nonzero(replicates <= observed + tolerance)) / (2.0 * len(replicates))
