"""BCa intervals: percentile intervals whose levels are corrected for bias and for a spread that changes with the score.

Reference: Efron (1987), "Better bootstrap confidence intervals"; Efron and Tibshirani (1993), section 14.3.
"""

from __future__ import annotations

import math

import numpy as np

from sigjax.bootstrap.intervals import Percentile, Spread, Targets, quantiles, standard_errors
from sigjax.bootstrap.replicates import of_targets
from sigjax.metrics import sample_scores
from sigjax.records import Interval
from sigjax.testing.problem import Case, SampleCase, check_finite
from sigjax.testing.tails import normal_below, normal_quantile
from sigjax.units.sums import total

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""Bound of the relative rounding error of a jackknife score."""


class Bca(Percentile):
    """BCa intervals.

    Raises:
        NotFinite: the metric gave NaN or infinity where a unit was left out.
    """

    by_share = True

    def __init__(self, case: Case | SampleCase, targets: Targets) -> None:
        super().__init__(case, targets)
        self.accelerations = accelerations(case, targets.members)

    def levels(self, place: int, below: float) -> tuple[float, float] | None:
        """The corrected levels."""
        return bca_levels(below, self.accelerations[place], self.level)

    def spreads(self, rows: np.ndarray, places: slice) -> list[Spread]:
        """Standard errors, and intervals except where all replicates are on one side of the observed score."""
        observed, tolerance = self.targets.observed[places], self.targets.tolerance[places]
        below = map(share_below, rows, observed.tolist(), tolerance.tolist())
        levels = [self.levels(place, share) for place, share in enumerate(below, places.start)]
        found = []
        for row, error, ends in zip(rows, standard_errors(rows).tolist(), levels, strict=True):
            interval = ends and Interval(*(float(each[0]) for each in quantiles(row[None], ends)))
            found.append(Spread(error, interval))
        return found


def accelerations(case: Case | SampleCase, members: np.ndarray) -> list[float]:
    """The acceleration of each target, from `members` `[target, 2]` as in `Targets`.

    Raises:
        NotFinite: the metric gave NaN or infinity where a unit was left out.
    """
    observed, strata = np.abs([*case.question.scores, 0.0]), case.units.strata
    rounding = _ROUNDING * (observed[members[:, 0]] + observed[members[:, 1]])

    def of_rows(rows: np.ndarray, places: slice) -> list[float]:
        return [acceleration(row, strata, least) for row, least in zip(rows, rounding[places].tolist(), strict=True)]

    return of_targets(of_rows, jackknife_scores(case), members)


def jackknife_scores(case: Case | SampleCase) -> np.ndarray:
    """Scores of all systems without one unit at a time, `[system, unit]`: for sums, of the totals less those of a unit.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    if isinstance(case, SampleCase):
        sample = case.units
        kept = (np.flatnonzero(sample.unit != unit) for unit in range(len(sample.strata)))
        with np.errstate(all="ignore"):
            found = np.stack([sample_scores(case.metric, sample.columns[:, :, each]) for each in kept], axis=1)
    else:
        of_systems = zip(case.units.totals, case.units.values, strict=True)
        found = np.stack([case.scores(totals - values) for totals, values in of_systems])
    check_finite(found)
    return found


def acceleration(jackknife: np.ndarray, strata: np.ndarray, rounding: float = 0.0) -> float:
    r"""How fast the standard error changes with the score, from the scores without one unit at a time.

    With $U_i = (n_h - 1)(\bar\theta_h - \theta_{(i)})$ for unit i of stratum h, of $n_h$ units whose jackknife scores
    have the mean $\bar\theta_h$: $a = \frac{1}{6} \sum_i U_i^3 n_h^{-3} / (\sum_i U_i^2 n_h^{-2})^{3/2}$, and 0 where
    all scores are equal. Equivalent to `scipy.stats.bootstrap(method="BCa")`, whose samples are strata. Reference:
    Efron and Tibshirani (1993), equation 14.15; for strata Davison and Hinkley (1997), section 5.4.

    Args:
        jackknife: `[unit]` scores.
        strata: `[unit]` codes of the strata, ascending from 0.
        rounding: smaller differences of scores do not count.

    Example:
        >>> round(acceleration(np.array([1.0, 1.0, 1.0, 0.0]), np.zeros(4, int)), 6)
        0.096225
    """
    sizes = np.bincount(strata)
    first = jackknife[np.searchsorted(strata, strata)]
    apart = jackknife - first  # equal scores differ from the first by 0, but from their mean by rounding
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
    bias = normal_quantile(below)
    half = normal_quantile((1.0 + level) / 2.0)
    low, high = (_corrected(bias, bias + z, acceleration) for z in (-half, half))
    return low, high


def _corrected(bias: float, z: float, acceleration: float) -> float:
    """The level for the normal quantile z; past the pole of the formula its limit there."""
    shrink = 1.0 - acceleration * z
    return normal_below(bias + z / shrink) if shrink > 0.0 else float(z > 0.0)


def share_below(replicates: np.ndarray, observed: float, tolerance: float) -> float:
    """Share of the replicates `[resample]` below the observed score, ties counted half.

    Example:
        >>> share_below(np.array([1.0, 2.0, 2.0, 3.0, 5.0]), 2.0, 1e-12)
        0.4
    """
    less = np.count_nonzero(replicates < observed - tolerance)
    return float(less + np.count_nonzero(replicates <= observed + tolerance)) / (2.0 * len(replicates))
