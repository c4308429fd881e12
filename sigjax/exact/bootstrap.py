r"""The exact bootstrap distribution, without sampling, for sums of one integer statistic.

A bootstrap resample draws from each stratum, with replacement, as many units as the stratum has. The resampled sum X*
is a constant plus a step times K, where K is a sum of independent draws of small integers k >= 0 (`draw_lattice`).
Equal numbers in a stratum are stored as one row with a count. Strata without variation are part of the constant.

Stratum h has $N_h$ units, $c_{hv}$ of them with the value v. The characteristic function of K is $\prod_h (\sum_v
c_{hv} / N_h\, e^{iwv})^{N_h}$. One inverse FFT gives the probabilities in a window (a range of values around the mean),
from which p-values and quantiles follow. An FFT has an absolute error of about 1e-16, which is too large for small
probabilities. So tails are computed under a tilt: the draws get other probabilities, so that the mean of the sum moves
to the edge of the tail.

References: Davison and Hinkley (1988), "Saddlepoint approximations in resampling methods" (the same tilt, but the
results here are not approximations); Clark and Warr (2021), "Bootstrapping through discrete convolutional methods"
(arXiv 2107.08019).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.digits import PValue
from sigjax.records import Alternative, Variant

WINDOW_LOSS = 1e-17
"""Bound on the probability outside the window, the range of sums whose probabilities are computed."""
_NEGLIGIBLE = -60.0
"""Limit for the logarithm of the modulus of the characteristic function. At frequencies at which the logarithm is
smaller, the function is set to 0. On any grid, this causes a total error below 1e-17."""
_BLOCK = 2**16
"""At most this many terms of the characteristic function are computed at a time, so that they stay in the cache."""


class DrawLattice(NamedTuple):
    """The bootstrap sum X* = offset + scale K, where K is the sum of all draws, an integer from 0 to `top`."""

    values: np.ndarray
    """`[row]` int64: the distinct values k = (x - smallest x of the stratum) / scale, where x is the value of a unit.
    They ascend from 0 within each stratum."""
    counts: np.ndarray
    """`[row]` int64: the number of units with this value in this stratum. (A row is one value in one stratum.)"""
    strata: np.ndarray
    """`[row]` int64: the code (0, 1, ..., ascending) of the stratum to which the value in `values` belongs. Strata in
    which all units have the same value have no rows."""
    offset: int
    """The smallest possible value of the bootstrap sum X*."""
    scale: int
    """Greatest common divisor of the differences between values of units of the same stratum; 1 if all these values are
    equal."""

    @property
    def starts(self) -> np.ndarray:
        """The index of the first row of each stratum, `[stratum]`."""
        return np.flatnonzero(self.values == 0)

    @property
    def sizes(self) -> np.ndarray:
        """The number of units of each stratum `[stratum]`, which is also the number of draws from it."""
        return np.add.reduceat(self.counts, self.starts) if self.counts.size else self.counts

    @property
    def tops(self) -> np.ndarray:
        """The largest value k of one draw from each stratum, `[stratum]`; the smallest is 0."""
        return np.maximum.reduceat(self.values, self.starts) if self.values.size else self.values

    @property
    def top(self) -> int:
        """The largest possible value of K, the sum of all draws."""
        return int((self.sizes * self.tops).sum())

    @property
    def total(self) -> int:
        """The sum of the original sample, which is also the mean of the bootstrap sum X*."""
        return self.offset + self.scale * int((self.counts * self.values).sum())

    def mirrored(self) -> DrawLattice:
        """Return the lattice of -X*, where X* is the bootstrap sum. Its upper tail is the lower tail of X*."""
        # Negated values ascend if the rows are reversed. Then the strata are in reverse order, too.
        values = (self.tops[self.strata] - self.values)[::-1]
        strata = len(self.sizes) - 1 - self.strata[::-1]
        return DrawLattice(values, self.counts[::-1], strata, -(self.offset + self.scale * self.top), self.scale)


def draw_lattice(values: np.ndarray, strata: np.ndarray) -> DrawLattice:
    """Describe the bootstrap sum of `values` `[unit]` (int64), one integer per unit.

    `strata` `[unit]` are the codes of the units' strata, ascending from 0.

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
    """The distribution of draws under a tilt theta.

    A draw from a stratum has the value v with a probability proportional to c_v exp(theta v), where c_v is the number
    of units of the stratum with this value. So theta = 0 is the bootstrap.
    """

    theta: float
    chances: np.ndarray
    """`[row]`: the probability, under the tilt, that a draw from this stratum has this value. (A row is one value in
    one stratum.)"""
    mean: float
    """Mean of K, the sum of all draws, under the tilt."""
    variance: float
    """Variance of K, the sum of all draws, under the tilt."""
    centres: np.ndarray
    """`[stratum]` int64: the mean of one draw from the stratum, rounded to an integer."""


def tilt(lattice: DrawLattice, theta: float = 0.0) -> Tilt:
    """Compute the probabilities of draws under the tilt `theta`, and the mean and variance of their sum.

    The tilt multiplies the probability of drawing a value v by exp(theta v), up to a constant. The lattice must have at
    least one row.

    >>> lattice = draw_lattice(np.array([0, 0, 1]), np.zeros(3, int))
    >>> tilt(lattice, np.log(2.0)).chances
    array([0.5, 0.5])
    """
    sizes, starts, strata = lattice.sizes, lattice.starts, lattice.strata
    # Subtract the value at the end that the tilt favours. Then no exponent is positive, and no exponential overflows.
    favoured = lattice.tops if theta > 0 else np.zeros_like(sizes)
    weights = lattice.counts * np.exp(theta * (lattice.values - favoured[strata]))
    chances = weights / np.add.reduceat(weights, starts)[strata]
    means = np.add.reduceat(chances * lattice.values, starts)
    variances = np.add.reduceat(chances * (lattice.values - means[strata]) ** 2, starts)
    centres = np.rint(means).astype(np.int64)
    return Tilt(theta, chances, float(sizes @ means), float(sizes @ variances), centres)


def standard_error(lattice: DrawLattice) -> float:
    r"""Bootstrap standard error of the sum of all units: $\sqrt{\sum_h N_h \sigma_h^2}$.

    Stratum h has $N_h$ units and the population variance $\sigma_h^2$. The result is the limit of the standard
    deviation (ddof = 1) of the resampled sums for infinitely many resamples. Reference: Efron and Tibshirani (1993),
    chapter 5.

    >>> standard_error(draw_lattice(np.array([1, 5, 1, 5]), np.zeros(4, int)))
    4.0
    """
    return lattice.scale * math.sqrt(tilt(lattice).variance) if lattice.values.size else 0.0


def tilt_to(lattice: DrawLattice, mean: int) -> Tilt:
    """Find the tilt theta >= 0 under which K, the sum of all draws, has the mean `mean`, by bisection.

    If `mean` is the largest value of K, no finite tilt has this mean exactly. Then the result is a tilt whose mean is
    close to it.
    """
    # At the upper end of the search, the mean of K is within 1 of `top`: with n units and a range R of one draw, the
    # mean of each draw is at most R n exp(-theta) below its largest value.
    units = int(lattice.sizes.sum())
    low, high = 0.0, 2.0 * math.log(units) + math.log(int(lattice.tops.max())) + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if tilt(lattice, middle).mean < mean else (low, middle)
    return tilt(lattice, 0.5 * (low + high))


def log_moment(lattice: DrawLattice, tilted: Tilt, edge: int) -> float:
    """Return log E exp(theta (K - edge)) of the bootstrap, for the theta of `tilted`; K is the sum of all draws.

    The centre of a draw is subtracted from its values. So terms are as small as the result, and few digits cancel.
    """
    sizes, starts, theta = lattice.sizes, lattice.starts, tilted.theta
    chances = lattice.counts / sizes[lattice.strata]
    exponents = theta * (lattice.values - tilted.centres[lattice.strata])
    excess = np.add.reduceat(chances * np.expm1(exponents), starts)
    direct = np.log(np.add.reduceat(chances * np.exp(exponents), starts))
    # For weak tilts, log1p is accurate. For strong tilts, the plain logarithm is accurate.
    log_moments = np.where(excess > -0.5, np.log1p(np.maximum(excess, -0.5)), direct)
    return float(sizes @ log_moments) - theta * (edge - int(sizes @ tilted.centres))


def window(lattice: DrawLattice, tilted: Tilt) -> tuple[int, int]:
    """Return the first and the last value of the window: the values of K whose probabilities are computed.

    K is the sum of all draws. The window is a range around its mean, or the range of all values of K if this range is
    smaller.

    Bernstein's inequality: P(|K - mean| >= x) <= 2 exp(-x^2 / (2 V + 2/3 R x)), where V is the variance of K and R is
    the range of one draw. The half-width is the x for which this bound is WINDOW_LOSS.
    """
    exponent = math.log(2.0 / WINDOW_LOSS)
    linear = int(lattice.tops.max()) * exponent / 3.0
    half = linear + math.sqrt(linear**2 + 2.0 * tilted.variance * exponent)
    return max(0, math.floor(tilted.mean - half)), min(lattice.top, math.ceil(tilted.mean + half))


def grid_length(lattice: DrawLattice, tilted: Tilt) -> int:
    """Return the length of the FFT: the smallest length with prime factors 2, 3 and 5 that holds the whole window.

    The window contains the values of K, the sum of all draws, whose probabilities are computed (see `window`).
    """
    import scipy.fft  # pyright: ignore[reportMissingTypeStubs]

    first, last = window(lattice, tilted)
    length: Any = scipy.fft.next_fast_len(last - first + 1, real=True)  # pyright: ignore[reportUnknownMemberType]
    return length


def significant_frequencies(lattice: DrawLattice, tilted: Tilt, length: int) -> np.ndarray:
    """Return the frequencies from 0 to `length // 2` at which the characteristic function may exceed exp(-60).

    They are selected by an FFT of the distribution of one draw. Its error of 1e-16 is small enough for this selection.
    (But it is too large to compute the characteristic function of the sum, a power of the result.) Usually few
    frequencies remain, because the sum of many draws is smooth.
    """
    log_size = np.zeros(length // 2 + 1)
    for rows, size in _by_stratum(lattice):
        chances = np.bincount(lattice.values[rows] % length, tilted.chances[rows], length)
        log_size += size * np.log(np.maximum(np.abs(np.fft.rfft(chances)), np.finfo(np.float64).tiny))
    return np.flatnonzero(log_size > _NEGLIGIBLE)


def log_characteristic(
    lattice: DrawLattice, tilted: Tilt, frequencies: np.ndarray, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log modulus and the angle `[frequency]` of the characteristic function E exp(iw(K - C)).

    K is the sum of all draws under the tilt of `tilted`, and C is the sum of the centres (rounded means) of all draws.
    The frequencies w are 2 pi / length times `frequencies` (integers).

    Let z = 1 + a + ib be the characteristic function of one draw minus its centre, so |z|^2 = 1 + 2a + a^2 + b^2.
    Because the centre is near the mean, b^2 is at most about as large as -2a, and few digits cancel. With N draws, the
    log modulus and the angle of z are multiplied by N.
    """
    log_size, angle = np.zeros(len(frequencies)), np.zeros(len(frequencies))
    for (rows, size), centre in zip(_by_stratum(lattice), tilted.centres, strict=True):
        values, chances = (lattice.values[rows] - centre) % length, tilted.chances[rows]
        block = max(1, _BLOCK // len(values))
        for start in range(0, len(frequencies), block):
            here = slice(start, start + block)
            # Angles are integers in units of 1 / length of a turn. They are reduced to between -1/2 and 1/2 turn, so
            # that small angles keep their digits.
            turn = (frequencies[here, None] * values + length // 2) % length - length // 2
            sine, cosine = np.sin(turn * (math.pi / length)), np.cos(turn * (math.pi / length))
            a, b = -2.0 * (sine * sine @ chances), 2.0 * (sine * cosine @ chances)
            with np.errstate(divide="ignore"):  # if z = 0, its logarithm is -inf
                log_size[here] += 0.5 * size * np.log1p(np.maximum(2.0 * a + a * a + b * b, -1.0))
            angle[here] += size * np.arctan2(b, 1.0 + a)
    return log_size, angle


def _by_stratum(lattice: DrawLattice) -> list[tuple[slice, int]]:
    """Return the rows of the lattice (a slice) and the number of draws of each stratum."""
    ends = [*lattice.starts.tolist(), len(lattice.values)]
    return [(slice(*rows), size) for rows, size in zip(pairwise(ends), lattice.sizes.tolist(), strict=True)]


_QUANTILE_TOLERANCE = 1e-12
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
"""Relative rounding error of a few dozen operations. Error bounds are multiples of this number."""


class SumDistribution(NamedTuple):
    """The probabilities that the bootstrap sum X* is first, first + step, first + 2 step, ..."""

    first: int
    probabilities: np.ndarray
    """`[value]`: the probabilities. The values that are not in the list have a total probability below 1e-17. The
    numbers for impossible values are rounding errors, positive or negative. (If negative numbers were set to 0, the
    errors would no longer cancel in sums.)"""
    step: int


def sum_distribution(lattice: DrawLattice, theta: float = 0.0) -> SumDistribution:
    """Return the distribution of the bootstrap sum X*, in a window of values around its mean.

    Returns the first value of the window, the probabilities of its values, and the step between values. `theta` is a
    tilt: it changes the probabilities of draws (see `Tilt`). With theta = 0, this is the bootstrap distribution. The
    absolute error of a probability is a few units of roundoff times the square root of the number of units.

    >>> first, probabilities, step = sum_distribution(draw_lattice(np.array([1, 3]), np.array([0, 0])))
    >>> first, probabilities.round(12), step
    (2, array([0.25, 0.5 , 0.25]), 2)
    """
    if not lattice.values.size:
        return SumDistribution(lattice.offset, np.ones(1), lattice.scale)
    first, probabilities = _probabilities(lattice, tilt(lattice, theta))
    return SumDistribution(lattice.offset + lattice.scale * first, probabilities, lattice.scale)


def quantile(of_sum: SumDistribution, q: float) -> int:
    """Return the q-quantile of the bootstrap sum X*, for q in (0, 1): the smallest x with P(X* <= x) >= q.

    It is not interpolated. In small samples, q is often exactly a cumulative probability. A tolerance of 1e-12 then
    prevents rounding errors from moving the result to the next value. The tolerance is well above rounding errors and
    far below any probability that matters.

    >>> quantile(SumDistribution(first=2, probabilities=np.array([0.25, 0.5, 0.25]), step=2), 0.75)
    4
    """
    index = int(np.searchsorted(np.cumsum(of_sum.probabilities), q - _QUANTILE_TOLERANCE))
    return of_sum.first + of_sum.step * min(index, len(of_sum.probabilities) - 1)


def below(of_sum: SumDistribution, x: int) -> float:
    """Return P(X* < x) + P(X* = x) / 2 (mid-rank) for the bootstrap sum X* and one of its possible values x.

    >>> below(SumDistribution(first=2, probabilities=np.array([0.25, 0.5, 0.25]), step=2), 4)
    0.5
    """
    index = (x - of_sum.first) // of_sum.step
    return float(of_sum.probabilities[:index].sum() + 0.5 * of_sum.probabilities[index])


def tail(lattice: DrawLattice, edge: int) -> tuple[float, float]:
    """Return the natural logarithm of P(X* >= edge) for the bootstrap sum X*, and a bound on the error.

    The bound is on the relative error of the probability. The logarithm is -inf if X* cannot reach the edge. For P(X*
    <= edge), use `lattice.mirrored()` and -edge.

    Let K = (X* - offset) / scale be the sum of all draws. P(K >= k) is E exp(theta (K - k)) times the sum over j >= 0
    of exp(-theta j) P_theta(K = k + j), where P_theta is the probability under the tilt theta. The factor E exp(theta
    (K - k)) adds rounding errors: about z sqrt(N) units of roundoff for N units and a tilt of z = sqrt(-2 log p)
    standard deviations, and the rounding error of log p.

    >>> coin = draw_lattice(np.repeat([0, 1], 500), np.zeros(1000, int))
    >>> round(tail(coin, 1000)[0] / math.log(2.0), 9)
    -1000.0
    """
    steps = _lattice_value(lattice, edge)
    if steps <= 0:
        return 0.0, 0.0
    if steps > lattice.top:
        return -math.inf, 0.0
    if edge <= lattice.total:
        # The probability of the tail is more than about 1/2, so 1 minus this probability is more accurate.
        log_rest, error_bound = tail(lattice.mirrored(), 1 - edge)
        missing = math.exp(log_rest)
        return math.log1p(-missing), _ROUNDING + error_bound * missing / (1.0 - missing)
    tilted = tilt_to(lattice, steps)
    first, probabilities = _probabilities(lattice, tilted)
    index = np.arange(len(probabilities)) + (first - steps)
    weights = np.where(index >= 0, np.exp(-tilted.theta * np.maximum(index, 0)), 0.0)
    mass, error = _weighted_sum(lattice, probabilities, weights)
    log_p = min(log_moment(lattice, tilted, steps) + math.log(mass), 0.0)
    undoing = math.sqrt(-2.0 * log_p * int(lattice.sizes.sum())) - log_p
    return log_p, error / mass + _ROUNDING * undoing


def bootstrap_p(lattice: DrawLattice, observed_sum: int, alternative: Alternative, variant: Variant) -> PValue:
    r"""Return the exact p-value of the bootstrap test, the limit for infinitely many resamples; ties are extreme.

    The bootstrap sum X* (described by `lattice`) is a positive multiple of the bootstrap replicate $\delta^*$. The
    observed sum x is the same multiple of the observed $\delta$. For a two-sided test, a resample is extreme if $|X^* -
    x| \ge |x|$. For a one-sided test, the replicate under the null hypothesis is $X^* - x$ (`variant` "shift") or $x -
    X^*$ ("flip"). It is extreme if it is $\ge x$ (`alternative` "greater") or $\le x$ ("less").

    >>> lattice = draw_lattice(np.array([-1, 1, 1]), np.zeros(3, int))
    >>> round(bootstrap_p(lattice, 1, "greater", "flip")[0] * 27, 9)
    7.0
    """
    x = observed_sum
    if alternative == "two-sided":
        # Compute p for x >= 0, so that p is the same to the last bit if the systems are exchanged.
        return _two_tails_p(lattice if x >= 0 else lattice.mirrored(), 0, 2 * abs(x))
    edge = 2 * x if variant == "shift" else 0
    upper = (alternative == "greater") == (variant == "shift")
    return _exact_p(*(tail(lattice, edge) if upper else tail(lattice.mirrored(), -edge)))


def _two_tails_p(lattice: DrawLattice, low: int, high: int) -> PValue:
    """Return the p-value P(X* <= low or X* >= high) of the bootstrap sum X*, for low <= high."""
    if low == high:
        return 1.0, 0.0, 0.0
    (below, *errors), (above, error) = tail(lattice.mirrored(), -low), tail(lattice, high)
    log_p = float(np.logaddexp(below, above))
    if log_p <= math.log(0.5):
        return _exact_p(log_p, max(*errors, error))
    first, probabilities, step = sum_distribution(lattice)
    value = first + step * np.arange(len(probabilities))
    between, error = _weighted_sum(lattice, probabilities, np.where((value > low) & (value < high), 1.0, 0.0))
    between = max(between, 0.0)
    return _exact_p(math.log1p(-between), _ROUNDING + error / (1.0 - between))


def _exact_p(log_p: float, error_bound: float) -> PValue:
    # Adding 0.0 turns -0.0 into 0.0.
    return math.exp(log_p), log_p / math.log(10.0) + 0.0, error_bound


def _weighted_sum(lattice: DrawLattice, probabilities: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the sum of `weights` times `probabilities`, and a bound on the rounding error of this sum.

    If the characteristic function is not negligible, its relative rounding error is a few units of roundoff times
    sqrt(N), for N units. By Parseval's theorem and the Cauchy-Schwarz inequality, the error of the sum is at most this
    relative error times the 2-norm of the probabilities times the 2-norm of the weights.
    """
    norms = float(np.linalg.norm(probabilities) * np.linalg.norm(weights))
    return float(weights @ probabilities), _ROUNDING * math.sqrt(int(lattice.sizes.sum())) * norms


def _lattice_value(lattice: DrawLattice, edge: int) -> int:
    """Return the smallest integer K for which the bootstrap sum X* = offset + scale K is at least `edge`."""
    return -((lattice.offset - edge) // lattice.scale)


def _probabilities(lattice: DrawLattice, tilted: Tilt) -> tuple[int, np.ndarray]:
    """Return the first value of the window, and the probabilities `[value]` of all values of the window under the tilt.

    The values are those of K, the sum of all draws. The window is the range that the function `window` returns.
    """
    first, last = window(lattice, tilted)
    length = grid_length(lattice, tilted)
    frequencies = significant_frequencies(lattice, tilted, length)
    log_size, angle = log_characteristic(lattice, tilted, frequencies, length)
    shift = (int(lattice.sizes @ tilted.centres) - first) % length
    angle += frequencies * shift % length * (2.0 * math.pi / length)
    size = np.exp(log_size)
    spectrum = np.zeros(length // 2 + 1, np.complex128)
    # The inverse FFT has the opposite sign in its exponent. Because probabilities are real, it needs the conjugate.
    spectrum[frequencies] = size * (np.cos(angle) - 1j * np.sin(angle))
    return first, np.fft.irfft(spectrum, length)[: last - first + 1]
