"""From whole numbers and strata to the smallest problem with the same bootstrap distribution.

A bootstrap resample draws from each stratum, with replacement, as many units as it has. The resampled sum X* is a
constant plus a step times K, a sum of independent draws of small whole numbers k >= 0; equal numbers of a stratum are
one row, and strata without variation are part of the constant.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

WINDOW_LOSS = 1e-17
"""Bound on the probability outside the window of a law."""
_NEGLIGIBLE = -60.0
"""Logarithm of the size below which the characteristic function is taken as 0: all grids together stay below 1e-17."""
_BLOCK = 2**16
"""Terms of the characteristic function evaluated at a time: they stay in the cache."""


class DrawLattice(NamedTuple):
    """The bootstrap sum X* = offset + scale K, with K the sum of all draws, from 0 to `top`."""

    values: np.ndarray
    """[row] int64: distinct k = (x - smallest x of the stratum) / scale, ascending from 0 within each stratum."""
    counts: np.ndarray
    """[row] int64: units of the stratum with this value."""
    strata: np.ndarray
    """[row] int64: ascending codes 0, 1, ... of strata; those without variation are left out."""
    offset: int
    """The smallest value of X*."""
    scale: int
    """Greatest common divisor of all differences within strata; 1 if there are none."""

    @property
    def starts(self) -> np.ndarray:
        """First row of each stratum, `[stratum]`."""
        return np.flatnonzero(self.values == 0)

    @property
    def sizes(self) -> np.ndarray:
        """Units, and so draws, of each stratum, `[stratum]`."""
        return np.add.reduceat(self.counts, self.starts) if self.counts.size else self.counts

    @property
    def tops(self) -> np.ndarray:
        """The largest value of one draw of each stratum, `[stratum]`."""
        return np.maximum.reduceat(self.values, self.starts) if self.values.size else self.values

    @property
    def top(self) -> int:
        """The largest value of K."""
        return int((self.sizes * self.tops).sum())

    @property
    def total(self) -> int:
        """The value of X* in the data, which is also its mean."""
        return self.offset + self.scale * int((self.counts * self.values).sum())

    def mirrored(self) -> DrawLattice:
        """The lattice of -X*, whose upper tail is the lower tail of X*."""
        # Reversed rows ascend again; their strata are numbered from the other end.
        values = (self.tops[self.strata] - self.values)[::-1]
        strata = len(self.sizes) - 1 - self.strata[::-1]
        return DrawLattice(values, self.counts[::-1], strata, -(self.offset + self.scale * self.top), self.scale)


def draw_lattice(values: np.ndarray, strata: np.ndarray) -> DrawLattice:
    """Reduce one whole number per unit, `[unit]` int64; `strata` `[unit]` holds ascending codes from 0.

    Example:
        >>> draw_lattice(np.array([5, 1, 5, 9, 7, 7]), np.array([0, 0, 0, 0, 1, 1]))
        DrawLattice(values=array([0, 1, 2]), counts=array([1, 2, 1]), strata=array([0, 0, 0]), offset=18, scale=4)
    """
    starts = np.flatnonzero(np.diff(strata, prepend=-1))
    sizes = np.diff(starts, append=len(values))
    lowest = np.minimum.reduceat(values, starts)
    above = values - np.repeat(lowest, sizes)
    scale = int(np.gcd.reduce(above)) or 1
    order = np.lexsort((above, strata))
    above, strata = above[order] // scale, strata[order]
    first = np.flatnonzero((np.diff(above, prepend=-1) != 0) | (np.diff(strata, prepend=-1) != 0))
    varies = np.isin(strata[first], strata[above > 0])
    return DrawLattice(
        values=above[first][varies],
        counts=np.diff(first, append=len(above))[varies],
        strata=np.unique(strata[first][varies], return_inverse=True)[1],
        offset=int(sizes @ lowest),
        scale=scale,
    )


class Tilt(NamedTuple):
    """Draws with chances proportional to c_v exp(theta v) within each stratum; theta = 0 is the bootstrap itself."""

    theta: float
    chances: np.ndarray
    """[row]: chance of the row's value in one draw."""
    mean: float
    """Mean of K."""
    variance: float
    """Variance of K."""
    centres: np.ndarray
    """[stratum] int64: whole number nearest to the mean of one draw."""


def tilt(lattice: DrawLattice, theta: float = 0.0) -> Tilt:
    """Chances and moments under a tilt by `theta`; the lattice has rows.

    Example:
        >>> lattice = draw_lattice(np.array([0, 0, 1]), np.zeros(3, int))
        >>> tilt(lattice, np.log(2.0)).chances
        array([0.5, 0.5])
    """
    sizes, starts, strata = lattice.sizes, lattice.starts, lattice.strata
    # Measured from the end that the tilt favours, no exponential overflows.
    favoured = lattice.tops if theta > 0 else np.zeros_like(sizes)
    weights = lattice.counts * np.exp(theta * (lattice.values - favoured[strata]))
    chances = weights / np.add.reduceat(weights, starts)[strata]
    means = np.add.reduceat(chances * lattice.values, starts)
    variances = np.add.reduceat(chances * (lattice.values - means[strata]) ** 2, starts)
    centres = np.rint(means).astype(np.int64)
    return Tilt(theta, chances, float(sizes @ means), float(sizes @ variances), centres)


def standard_error(lattice: DrawLattice) -> float:
    r"""Bootstrap standard error of X*: $\sqrt{\sum_h N_h \sigma_h^2}$, with the population variance of each stratum.

    The limit of the standard deviation (ddof = 1) for infinitely many resamples. Reference: Efron and Tibshirani
    (1993), chapter 5.

    Example:
        >>> standard_error(draw_lattice(np.array([1, 5, 1, 5]), np.zeros(4, int)))
        4.0
    """
    return lattice.scale * math.sqrt(tilt(lattice).variance) if lattice.values.size else 0.0


def tilt_to(lattice: DrawLattice, mean: int) -> Tilt:
    """The tilt, theta >= 0, under which K has this mean (at the ends 0, or nearly `top`), by bisection."""
    # At this theta the mean is within 1 of the top: each draw falls short by at most R n exp(-theta).
    units = int(lattice.sizes.sum())
    low, high = 0.0, 2.0 * math.log(units) + math.log(int(lattice.tops.max())) + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if tilt(lattice, middle).mean < mean else (low, middle)
    return tilt(lattice, 0.5 * (low + high))


def log_moment(lattice: DrawLattice, tilted: Tilt, edge: int) -> float:
    """The logarithm of E exp(theta (K - edge)) under the bootstrap.

    Terms are measured from the centres of the draws, so they have the size of the result, not of theta times the sum.
    """
    sizes, starts, theta = lattice.sizes, lattice.starts, tilted.theta
    chances = lattice.counts / sizes[lattice.strata]
    exponents = theta * (lattice.values - tilted.centres[lattice.strata])
    excess = np.add.reduceat(chances * np.expm1(exponents), starts)
    direct = np.log(np.add.reduceat(chances * np.exp(exponents), starts))
    # log1p keeps the digits of weak tilts, the plain logarithm those of strong ones.
    log_moments = np.where(excess > -0.5, np.log1p(np.maximum(excess, -0.5)), direct)
    return float(sizes @ log_moments) - theta * (edge - int(sizes @ tilted.centres))


def window(lattice: DrawLattice, tilted: Tilt) -> tuple[int, int]:
    """First and last value of K to keep: around the mean, or the whole range if that is smaller.

    Bernstein's inequality: P(|K - mean| >= x) <= 2 exp(-x^2 / (2 V + 2/3 R x)), with V the variance and R the range of
    one draw. The half-width is the x at which this is WINDOW_LOSS.
    """
    exponent = math.log(2.0 / WINDOW_LOSS)
    linear = int(lattice.tops.max()) * exponent / 3.0
    half = linear + math.sqrt(linear**2 + 2.0 * tilted.variance * exponent)
    return max(0, math.floor(tilted.mean - half)), min(lattice.top, math.ceil(tilted.mean + half))


def smooth_length(at_least: int) -> int:
    """The least number from `at_least` on with no prime factors but 2, 3 and 5: a fast FFT length."""
    best = 1 << (at_least - 1).bit_length()
    five = 1
    while five < best:
        odd = five
        while odd < best:
            best = min(best, odd << (-(-at_least // odd) - 1).bit_length())
            odd *= 3
        five *= 5
    return best


def significant_frequencies(lattice: DrawLattice, tilted: Tilt, length: int) -> np.ndarray:
    """Frequencies from 0 to `length // 2` at which the characteristic function may exceed exp(-60).

    An FFT of the chances of one draw selects them: its error of 1e-16 is too large for a power of a million, but not
    for this choice. Few usually remain, since the sum of many draws is smooth.
    """
    log_size = np.zeros(length // 2 + 1)
    for rows, size in _by_stratum(lattice):
        chances = np.bincount(lattice.values[rows] % length, tilted.chances[rows], length)
        log_size += size * np.log(np.maximum(np.abs(np.fft.rfft(chances)), np.finfo(np.float64).tiny))
    return np.flatnonzero(log_size > _NEGLIGIBLE)


def log_characteristic(
    lattice: DrawLattice, tilted: Tilt, frequencies: np.ndarray, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Logarithm of the size, and angle, of E exp(iw(K - centres)) at w = 2 pi / length times `[frequency]`.

    With z = 1 + a + ib for one draw, |z|^2 = 1 + 2a + a^2 + b^2. Measured from the whole number nearest to its mean,
    a draw has b^2 of at most the size of -2a, so that few digits cancel, and powers are multiples of logarithms.
    """
    log_size, angle = np.zeros(len(frequencies)), np.zeros(len(frequencies))
    for (rows, size), centre in zip(_by_stratum(lattice), tilted.centres, strict=True):
        values, chances = (lattice.values[rows] - centre) % length, tilted.chances[rows]
        block = max(1, _BLOCK // len(values))
        for start in range(0, len(frequencies), block):
            here = slice(start, start + block)
            # Turns are reduced as whole numbers, to half a circle on either side of 0: small ones keep their digits.
            turn = (frequencies[here, None] * values + length // 2) % length - length // 2
            sine, cosine = np.sin(turn * (math.pi / length)), np.cos(turn * (math.pi / length))
            a, b = -2.0 * (sine * sine @ chances), 2.0 * (sine * cosine @ chances)
            with np.errstate(divide="ignore"):  # a zero of z has the logarithm -inf, and the power 0
                log_size[here] += 0.5 * size * np.log1p(np.maximum(2.0 * a + a * a + b * b, -1.0))
            angle[here] += size * np.arctan2(b, 1.0 + a)
    return log_size, angle


def _by_stratum(lattice: DrawLattice) -> list[tuple[slice, int]]:
    """Rows and number of draws of each stratum."""
    ends = [*lattice.starts[1:].tolist(), len(lattice.values)]
    rows = [slice(start, end) for start, end in zip(lattice.starts.tolist(), ends, strict=True)]
    return list(zip(rows, lattice.sizes.tolist(), strict=True))
