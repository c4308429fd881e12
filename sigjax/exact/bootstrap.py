r"""The bootstrap without sampling, for one-dimensional sums of whole numbers.

The characteristic function of the bootstrap sum is $\prod_h (\sum_v c_{hv} / N_h\, e^{iwv})^{N_h}$. One inverse FFT on
a window gives its law, and from that come p-values and quantiles. The FFT errs by about 1e-16 whatever the size of a
probability, so tails are computed under an exponential tilt that puts the mean of the sum at their edge. Tilting as in
Davison and Hinkley (1988), "Saddlepoint approximations in resampling methods", but with no approximation.
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.exact.draws import (
    DrawLattice,
    Tilt,
    log_characteristic,
    log_moment,
    significant_frequencies,
    smooth_length,
    tilt,
    tilt_to,
    window,
)
from sigjax.exact.null import ExactP
from sigjax.records import Alternative, Variant

_QUANTILE_TOLERANCE = 1e-12
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
"""Relative rounding error of a few dozen operations; error bounds are multiples of it."""


class Tail(NamedTuple):
    """The probability p of a tail."""

    log_p: float
    """Natural logarithm; -inf where X* cannot reach the tail."""
    error_bound: float
    """Bound on the relative error."""


class Law(NamedTuple):
    """Probabilities of X* = first, first + step, first + 2 step, ..."""

    first: int
    probabilities: np.ndarray
    """[value]; values left out have probability below 1e-17. Values that no draws reach have rounding noise around 0:
    cutting it off on one side would add up over a wide grid."""
    step: int


def law(lattice: DrawLattice, theta: float = 0.0) -> Law:
    """The law of X*, or of its draws tilted by `theta` (per step of the lattice), on a window around its mean.

    The absolute error of a probability is a few units of rounding times the square root of the number of units.

    Example:
        >>> from sigjax.exact.draws import draw_lattice
        >>> first, probabilities, step = law(draw_lattice(np.array([1, 3]), np.array([0, 0])))
        >>> first, probabilities.round(12), step
        (2, array([0.25, 0.5 , 0.25]), 2)
    """
    if not lattice.values.size:
        return Law(lattice.offset, np.ones(1), lattice.scale)
    tilted = tilt(lattice, theta)
    first, last = window(lattice, tilted)
    return Law(lattice.offset + lattice.scale * first, _probabilities(lattice, tilted, first, last), lattice.scale)


def quantile(law: Law, q: float) -> int:
    """The smallest x with P(X* <= x) >= q, for q in (0, 1): the generalised inverse, without interpolation.

    In small samples q is often exactly a cumulative sum, and rounding must not move the answer to the next value. The
    tolerance of 1e-12 is well above the rounding of the sum and far below any probability that matters.

    Example:
        >>> quantile(Law(first=2, probabilities=np.array([0.25, 0.5, 0.25]), step=2), 0.75)
        4
    """
    index = int(np.searchsorted(np.cumsum(law.probabilities), q - _QUANTILE_TOLERANCE))
    return law.first + law.step * min(index, len(law.probabilities) - 1)


def below(law: Law, x: int) -> float:
    """P(X* < x) + P(X* = x) / 2 (mid-rank), for an x in reach of X*.

    Example:
        >>> below(Law(first=2, probabilities=np.array([0.25, 0.5, 0.25]), step=2), 4)
        0.5
    """
    index = (x - law.first) // law.step
    return float(law.probabilities[:index].sum() + 0.5 * law.probabilities[index])


def tail(lattice: DrawLattice, edge: int) -> Tail:
    """P(X* >= edge), also far below the smallest double, with a bound on its rounding error.

    P(K >= k) is E exp(theta (K - k)) times the sum over j >= 0 of exp(-theta j) P_theta(K = k + j). Undoing a tilt of
    z = sqrt(-2 log p) standard deviations adds an error of z roots of N, and the exponent its own rounding. Use
    `lattice.mirrored()` and -edge for P(X* <= edge).

    Example:
        >>> from sigjax.exact.draws import draw_lattice
        >>> coin = draw_lattice(np.repeat([0, 1], 500), np.zeros(1000, int))
        >>> round(tail(coin, 1000).log_p / math.log(2.0), 9)
        -1000.0
    """
    steps = _steps_to(lattice, edge)
    if steps <= 0:
        return Tail(0.0, 0.0)
    if steps > lattice.top:
        return Tail(-math.inf, 0.0)
    if edge <= lattice.total:
        # The tail is the larger part: its complement is more accurate.
        below = tail(lattice.mirrored(), 1 - edge)
        missing = math.exp(below.log_p)
        return Tail(math.log1p(-missing), _ROUNDING + below.error_bound * missing / (1.0 - missing))
    tilted = tilt_to(lattice, steps)
    first, last = window(lattice, tilted)
    index = np.arange(first - steps, last - steps + 1)
    weights = np.where(index >= 0, np.exp(-tilted.theta * np.maximum(index, 0)), 0.0)
    mass, error = _weighted(lattice, _probabilities(lattice, tilted, first, last), weights)
    log_p = min(log_moment(lattice, tilted, steps) + math.log(mass), 0.0)
    undoing = math.sqrt(-2.0 * log_p * int(lattice.sizes.sum())) - log_p
    return Tail(log_p, error / mass + _ROUNDING * undoing)


def bootstrap_p(lattice: DrawLattice, observed_sum: int, alternative: Alternative, variant: Variant) -> ExactP:
    r"""The p-value of the bootstrap test that infinitely many resamples would give; ties count.

    Args:
        lattice: the law of X*, a positive multiple of the bootstrap replicate $\delta^*$.
        observed_sum: x, the same multiple of the observed $\delta$.
        alternative: two-sided $|X^* - x| \ge |x|$; greater: the null replicate $\ge x$; less: $\le x$.
        variant: the null replicate is $X^* - x$ (shift) or $x - X^*$ (flip); the same for two-sided tests.

    Returns:
        The p-value, in [0, 1], its base-10 logarithm, and a bound on the relative error of the p-value.

    Example:
        >>> from sigjax.exact.draws import draw_lattice
        >>> lattice = draw_lattice(np.array([-1, 1, 1]), np.zeros(3, int))
        >>> round(bootstrap_p(lattice, 1, "greater", "flip").p_value * 27, 9)
        7.0
    """
    x = observed_sum
    if alternative == "two-sided":
        return _outside(lattice, x - abs(x), x + abs(x))
    edge = 2 * x if variant == "shift" else 0
    upper = (alternative == "greater") == (variant == "shift")
    return _as_p(tail(lattice, edge) if upper else tail(lattice.mirrored(), -edge))


def cost(lattice: DrawLattice) -> int:
    """Terms of the characteristic function, rows times grid, of the law and of a two-sided test of the data.

    An upper limit: with many units most frequencies drop out early, and one FFT per stratum is the main work, hundreds
    of times less for many rows.

    Example:
        >>> from sigjax.exact.draws import draw_lattice
        >>> cost(draw_lattice(np.repeat([0, 1], 50), np.zeros(100, int)))
        174
    """
    if not lattice.values.size:
        return 0
    tilts = [tilt(lattice)]
    for each in (lattice, lattice.mirrored()):
        # The edges of the tests are 0 and twice the observed sum, which are as far from it on either side.
        steps = _steps_to(each, each.total + abs(each.total))
        if steps <= each.top:
            tilts.append(tilt_to(each, steps))
    return len(lattice.values) * sum(grid_length(lattice, each) // 2 + 1 for each in tilts)


def grid_length(lattice: DrawLattice, tilted: Tilt) -> int:
    """Length of the FFT of a law: the least fast length that holds the window."""
    first, last = window(lattice, tilted)
    return smooth_length(last - first + 1)


def _outside(lattice: DrawLattice, low: int, high: int) -> ExactP:
    """P(X* <= low or X* >= high), for low <= high."""
    if low == high:
        return ExactP(1.0, 0.0)
    below, above = tail(lattice.mirrored(), -low), tail(lattice, high)
    log_p = float(np.logaddexp(below.log_p, above.log_p))
    if log_p <= math.log(0.5):
        return _as_p(Tail(log_p, max(below.error_bound, above.error_bound)))
    first, probabilities, step = law(lattice)
    value = first + step * np.arange(len(probabilities))
    between, error = _weighted(lattice, probabilities, np.where((value > low) & (value < high), 1.0, 0.0))
    between = max(between, 0.0)
    return _as_p(Tail(math.log1p(-between), _ROUNDING + error / (1.0 - between)))


def _as_p(of: Tail) -> ExactP:
    # Adding 0 makes the -0.0 of a certain event a plain 0.
    return ExactP(math.exp(of.log_p), of.log_p / math.log(10.0) + 0.0, of.error_bound)


def _weighted(lattice: DrawLattice, probabilities: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The sum of weights times probabilities, and a bound on its rounding error.

    Where the characteristic function is not negligible, rounding moves it by at most a few times the root of the N
    units, as a fraction of itself. By the theorem of Parseval and the inequality of Cauchy and Schwarz the sum moves by
    no more than that fraction of the norm of the probabilities times the norm of the weights.
    """
    norms = float(np.linalg.norm(probabilities) * np.linalg.norm(weights))
    return float(weights @ probabilities), _ROUNDING * math.sqrt(int(lattice.sizes.sum())) * norms


def _steps_to(lattice: DrawLattice, edge: int) -> int:
    """The least value of K at which X* >= edge."""
    return -((lattice.offset - edge) // lattice.scale)


def _probabilities(lattice: DrawLattice, tilted: Tilt, first: int, last: int) -> np.ndarray:
    """P(K = first), ..., P(K = last) under a tilt."""
    length = smooth_length(last - first + 1)
    frequencies = significant_frequencies(lattice, tilted, length)
    log_size, angle = log_characteristic(lattice, tilted, frequencies, length)
    shift = (int(lattice.sizes @ tilted.centres) - first) % length
    angle += frequencies * shift % length * (2.0 * math.pi / length)
    size = np.exp(log_size)
    spectrum = np.zeros(length // 2 + 1, np.complex128)
    # irfft carries the other sign in its exponent; the probabilities are real, so the conjugate serves.
    spectrum[frequencies] = size * (np.cos(angle) - 1j * np.sin(angle))
    return np.fft.irfft(spectrum, length)[: last - first + 1]
