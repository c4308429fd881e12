"""Bootstrap standard errors and intervals from replicates."""

from typing import NamedTuple

import numpy as np

from sigjax.records import Interval


class Spread(NamedTuple):
    """How a score or a delta varies over bootstrap resamples; None where nothing asks for it, or there is one unit."""

    standard_error: float | None = None
    interval: Interval | None = None


def standard_error(replicates: np.ndarray) -> float:
    """Bootstrap standard error: the standard deviation (ddof = 1) of the replicates `[resample]`.

    Example:
        >>> standard_error(np.array([1.0, 2.0, 3.0]))
        1.0
    """
    return float(np.std(replicates, ddof=1))


def percentile_interval(replicates: np.ndarray, level: float) -> Interval:
    """Percentile interval: the quantiles (1 - level) / 2 and (1 + level) / 2 of the replicates `[resample]`.

    Quantiles interpolate linearly between order statistics, as `numpy.quantile` and
    `scipy.stats.bootstrap(method="percentile")` do. Reference: Efron and Tibshirani (1993), chapter 13.

    Example:
        >>> percentile_interval(np.arange(101.0), 0.5)
        Interval(low=25.0, high=75.0)
    """
    low, high = np.quantile(replicates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(low), float(high))


def replicate_spread(replicates: np.ndarray, level: float) -> Spread:
    """Standard error and percentile interval of replicates `[resample]`."""
    return Spread(standard_error(replicates), percentile_interval(replicates, level))
