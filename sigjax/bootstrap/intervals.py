"""Bootstrap standard errors and intervals from replicates."""

import math
from typing import NamedTuple

import numpy as np

from sigjax.records import Interval
from sigjax.units.sums import variance

_SAFE = 1e-140
"""Standard errors above this have squares that are as precise as any number."""


class Spread(NamedTuple):
    """How a score or a delta varies over bootstrap resamples; None where nothing asks for it, or there is one unit.

    A standard error without an interval: there is no interval of this kind.
    """

    standard_error: float | None = None
    interval: Interval | None = None


class Ranks(NamedTuple):
    """Which order statistics of replicates are the ends of an interval."""

    rank: int
    """The end is so many values from the least, and the other one from the largest; the outermost has rank 1."""
    without: np.ndarray
    """[resample] int64: resamples that are left out."""


def standard_error(replicates: np.ndarray) -> float:
    """Bootstrap standard error: the standard deviation (ddof = 1) of the replicates `[resample]`.

    Example:
        >>> standard_error(np.array([1.0, 2.0, 3.0]))
        1.0
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = math.sqrt(variance(replicates))
    if _SAFE < found < math.inf:
        return found
    # Squares of very large or very small numbers leave the range of a double; a power of two rounds nothing.
    exponent = math.frexp(float(np.abs(replicates).max()))[1]
    return math.ldexp(math.sqrt(variance(np.ldexp(replicates, -exponent))), exponent)


def percentile_interval(replicates: np.ndarray, level: float) -> Interval:
    """Percentile interval: the quantiles (1 - level) / 2 and (1 + level) / 2 of the replicates `[resample]`.

    Quantiles interpolate linearly between order statistics, as `numpy.quantile` and
    `scipy.stats.bootstrap(method="percentile")` do. Reference: Efron and Tibshirani (1993), chapter 13.

    Example:
        >>> percentile_interval(np.arange(101.0), 0.5)
        Interval(low=25.0, high=75.0)
    """
    (low,), (high,) = _ends(replicates[None].copy(), level)
    return Interval(float(low), float(high))


def replicate_spreads(replicates: np.ndarray, level: float) -> list[Spread]:
    """Standard error and percentile interval of each row of replicates `[target, resample]`, whose order is lost."""
    errors = standard_errors(replicates).tolist()
    found = zip(errors, *(end.tolist() for end in _ends(replicates, level)), strict=True)
    return [Spread(error, Interval(low, high)) for error, low, high in found]


def standard_errors(replicates: np.ndarray) -> np.ndarray:
    """Standard error of each row of replicates `[target, resample]`."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.sqrt(variance(replicates))
    for row in np.flatnonzero(~((_SAFE < errors) & (errors < math.inf))):
        errors[row] = standard_error(replicates[row])
    return errors


def basic_spread(percentile: Spread, observed: float) -> Spread:
    r"""The spread with the basic (reverse percentile) interval, from that with the percentile interval.

    $[2 \hat\theta - q_{high}, 2 \hat\theta - q_{low}]$: the ends are turned around the observed score or delta, as it
    is the law of $\theta^* - \hat\theta$ that is taken to be that of $\hat\theta - \theta$. Equivalent to
    `scipy.stats.bootstrap(method="basic")`. Reference: Davison and Hinkley (1997), section 5.2.

    Example:
        >>> basic_spread(Spread(0.2, Interval(0.25, 1.0)), 0.5).interval
        Interval(low=0.0, high=0.75)
    """
    if percentile.interval is None:
        return percentile
    low, high = percentile.interval
    return percentile._replace(interval=Interval(2.0 * observed - high, 2.0 * observed - low))


def ranked_spreads(replicates: np.ndarray, ranks: Ranks) -> list[Spread]:
    """Standard deviation and interval by ranks of each row of replicates `[target, resample]`, whose order is lost.

    Example:
        >>> ranked_spreads(np.array([[5.0, 1.0, 9.0, 2.0, 3.0]]), Ranks(2, np.array([2])))[0].interval
        Interval(low=2.0, high=3.0)
    """
    kept = np.delete(replicates, ranks.without, axis=1) if ranks.without.size else replicates
    errors, first = standard_errors(kept), ranks.rank - 1
    low = _of_rank(kept, first, 0)
    high = _of_rank(kept, kept.shape[1] - 1 - first, first)
    found = zip(errors.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Spread(error, Interval(*ends)) for error, *ends in found]


def quantile(replicates: np.ndarray, levels: tuple[float, float]) -> tuple[float, float]:
    """Two quantiles, the lower first, of replicates `[resample]`, whose order is lost; as NumPy interpolates."""
    last = len(replicates) - 1
    low = _of_rank(replicates[None], levels[0] * last, 0)
    high = _of_rank(replicates[None], levels[1] * last, math.floor(levels[0] * last))
    return float(low[0]), float(high[0])


def _ends(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the percentile intervals of `values` `[target, resample]`, whose order is lost: two `[target]`."""
    last = values.shape[1] - 1
    low, high = ((1.0 - level) / 2.0 * last, (1.0 + level) / 2.0 * last)
    return _of_rank(values, low, 0), _of_rank(values, high, math.floor(low))


def _of_rank(values: np.ndarray, rank: float, start: int) -> np.ndarray:
    """The values `[target]` of a rank, from 0, between two ranks as `numpy.quantile` has them.

    The values `[target, resample]` are in order as far as that those from `start` on have the ranks from `start` on;
    afterwards the same is so for `floor(rank)`. NumPy partitions by one rank several times faster than by two.
    """
    whole, part = math.floor(rank), rank - math.floor(rank)
    values[:, start:].partition(whole - start, axis=1)
    low = values[:, whole].copy()
    high = values[:, whole + 1 :].min(axis=1) if whole + 1 < values.shape[1] else low
    # As NumPy interpolates, to the last bit.
    return high - (high - low) * (1.0 - part) if part >= 0.5 else low + (high - low) * part
