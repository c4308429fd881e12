"""Probabilities of a random-sign sum from its characteristic function, by one inverse FFT.

With K = (S + sum of all rows) / 2 the sum becomes K = sum of v times Binomial(c_v, pi_v), whose characteristic function
is the product over rows v of (1 - pi_v + pi_v e^{iw.v})^{c_v}. Fair coins have pi = 1/2; tilted ones (see `tilt`) have
pi_v = 1 / (1 + exp(-2 theta.v)). The method is the exact test of Zmigrod, Vieira and Cotterell (2022), without their
recursion over sentences.

Most of the work is saved by a bound. Since log(1 - x) <= -x, the modulus of the characteristic function is at most
exp(-sum of c_v pi_v (1 - pi_v) (1 - cos w.v)). That exponent, for all frequencies at once, is one matrix product, and
the function itself is only computed where it is not negligible.
"""

import math
from typing import Any

import numpy as np

from sigjax.exact.lattice import Lattice

DEVIATIONS = 9.0
"""Half-width of the window in standard deviations of S."""
EPSILON = float(np.finfo(np.float64).eps)
_NEGLIGIBLE = 42.0
"""Frequencies where the characteristic function is below exp(-42) = 6e-19 are left out."""
_DENSE = 2**14
"""Terms up to which the bound costs more than it saves."""
_BLOCK = 2**18
"""Terms computed at a time, to stay in cache."""
_MOST_LEAN = 300.0
"""Coins with a larger lean are certain, and cosh would overflow."""


def grid_lengths(lattice: Lattice) -> tuple[int, ...]:
    """Lengths, in steps of 2 of S, of a grid that holds the window around any mean of S, or all that S can reach.

    By Hoeffding's inequality the mass outside is at most 2 exp(-c^2 / 2) an axis with c = 9 standard deviations, 6e-18,
    under any tilt, since each term keeps the range [-v, v].
    """
    deviation = np.sqrt((lattice.rows.astype(np.float64) ** 2).T @ lattice.multiplicity)
    values = np.minimum(lattice.reach, np.ceil(DEVIATIONS * deviation)).astype(np.int64) + 1
    return tuple(fft_length(int(count)) for count in values)


def window_mass(lattice: Lattice, lengths: tuple[int, ...]) -> float:
    """Bound on the mass outside the grid."""
    held = np.array(lengths) > lattice.reach
    return float(2.0 * np.count_nonzero(~held) * math.exp(-(DEVIATIONS**2) / 2))


def line_probabilities(
    steps: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, length: int, first: np.ndarray
) -> np.ndarray:
    """P_theta(K = first + k) `[pair, k]`, k = 0 ... length - 1, for several pairs with one axis.

    Args:
        steps: `[pair, row]` int64; rows that are padding have multiplicity 0.
        multiplicity: `[pair, row]`.
        theta: `[pair]` tilts.
        length: values of the grid; K is taken modulo this.
        first: `[pair]` int64: the first value of K.

    Returns:
        Probabilities. They carry rounding noise, see `rounding`.

    Example:
        >>> rows, multiplicity = np.array([[1, 2]]), np.array([[2, 1]])
        >>> line_probabilities(rows, multiplicity, np.zeros(1), 6, np.zeros(1, int))[:, :5].round(12)
        array([[0.125, 0.25 , 0.25 , 0.25 , 0.125]])
    """
    half = length // 2 + 1
    lean = theta[:, None] * steps
    if steps.size * half <= _DENSE * len(steps):
        frequency = np.arange(half, dtype=np.float64)
        turn = _centred(steps[:, :, None] % length * frequency, length)
        origin = _centred(first[:, None] % length * frequency, length)
        spectrum = _characteristic(turn, origin, length, multiplicity, lean)
        return np.fft.irfft(spectrum, length)
    each = [
        plane_probabilities(steps[pair, :, None], multiplicity[pair], theta[pair, None], (length,), first[pair, None])
        for pair in range(len(steps))
    ]
    return np.stack(each)


def plane_probabilities(
    rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, lengths: tuple[int, ...], first: np.ndarray
) -> np.ndarray:
    """P_theta(K = first + k), of shape `lengths`, for one pair with one or two axes and many frequencies.

    Args:
        rows: `[row, axis]` int64.
        multiplicity: `[row]`.
        theta: `[axis]`: the tilt.
        lengths: number of values on each axis.
        first: `[axis]` int64: the first value of K.
    """
    shape = (*lengths[:-1], lengths[-1] // 2 + 1)
    lean = rows @ theta
    weight = multiplicity / (4.0 * np.cosh(np.minimum(np.abs(lean), _MOST_LEAN)) ** 2)
    kept = np.flatnonzero(_exponents(rows, weight, lengths) < _NEGLIGIBLE)
    spectrum = np.zeros(math.prod(shape), np.complex128)
    whole = math.lcm(*lengths)
    block = max(1, _BLOCK // len(rows))
    for start in range(0, len(kept), block):
        part = kept[start : start + block]
        # Angles are fractions of a turn over a common denominator, reduced as whole numbers: no digits are lost.
        scaled = [
            frequency * float(whole // length)
            for frequency, length in zip(np.unravel_index(part, shape), lengths, strict=True)
        ]
        turn = (rows % np.array(lengths)) @ np.stack(scaled)
        origin = (first % np.array(lengths)) @ np.stack(scaled)
        spectrum[part] = _characteristic(_centred(turn, whole), _centred(origin, whole), whole, multiplicity, lean)
    return np.fft.irfftn(spectrum.reshape(shape), lengths, axes=range(len(lengths)))


def rounding(coins: Any, lengths: tuple[int, ...]) -> Any:
    """Bound on the rounding error of the probabilities, in the 2-norm and relative to their own 2-norm.

    Two parts: the FFT, whose error is below a few epsilon for each doubling of its length (Higham 2002, theorem 24.2),
    and the characteristic function, a sum of logarithms and angles over coins, whose roundings grow like the square
    root of their number at the frequencies that count.
    """
    return EPSILON * (4.0 * math.log2(math.prod(lengths)) + 4.0 * np.sqrt(coins) + 16.0)


def fft_length(values: int) -> int:
    """A fast FFT length of at least `values`: even, and a power of two times 1, 9/8, 5/4 or 3/2.

    Example:
        >>> [fft_length(n) for n in (1, 3, 17, 1000, 1100)]
        [2, 4, 18, 1024, 1152]
    """
    power = 2 ** max(1, (values - 1).bit_length())
    lengths = (9 * power // 16, 5 * power // 8, 3 * power // 4, power)
    return next(length for length in lengths if length >= values and length % 2 == 0)


def _centred(number: np.ndarray, whole: int) -> np.ndarray:
    """Whole numbers (float64, below 2^53) modulo `whole`, between -whole / 2 and whole / 2."""
    return number - whole * np.rint(number / whole)


def _exponents(rows: np.ndarray, weight: np.ndarray, lengths: tuple[int, ...]) -> np.ndarray:
    """For each frequency of the half spectrum, the sum over rows of weight times 1 - cos(w.v); flat.

    cos(x + y) = cos x cos y - sin x sin y makes it one matrix product. With one axis, a frequency is split into a high
    and a low part.
    """
    half = lengths[-1] // 2 + 1
    low = 2 ** (half.bit_length() // 2)
    if len(lengths) == 2:
        left, right = _angles(rows[:, 0], np.arange(lengths[0] * 1.0), lengths[0]), np.arange(half * 1.0)
    else:
        left, right = _angles(rows[:, 0], np.arange(0.0, half, low), lengths[0]), np.arange(low * 1.0)
    right = _angles(rows[:, -1], right, lengths[-1])
    waves = np.concatenate([weight[:, None] * np.cos(left), -weight[:, None] * np.sin(left)])
    exponents = weight.sum() - waves.T @ np.concatenate([np.cos(right), np.sin(right)])
    return exponents.ravel()[: math.prod(lengths[:-1]) * half]


def _angles(steps: np.ndarray, frequency: np.ndarray, length: int) -> np.ndarray:
    """2 pi frequency step / length `[row, frequency]`."""
    return _centred(np.outer(steps % length, frequency), length) * (2.0 * math.pi / length)


def _characteristic(
    turn: np.ndarray, origin: np.ndarray, whole: int, multiplicity: np.ndarray, lean: np.ndarray
) -> np.ndarray:
    """The conjugate of E exp(i w.(K - first)) `[..., frequency]`.

    irfft carries the other sign in its exponent; the probabilities are real, so the conjugate serves.

    Args:
        turn: `[..., row, frequency]`: w.v in turns times `whole`.
        origin: `[..., frequency]`: w.first in turns times `whole`.
        whole: the denominator.
        multiplicity: `[..., row]`.
        lean: `[..., row]`: theta.v.
    """
    count, lean = multiplicity[..., None].astype(np.float64), lean[..., None]
    half_turn = turn * (math.pi / whole)
    tangent = np.tan(half_turn)
    # With x half the angle, 1 - pi + pi e^{2ix} = e^{ix} (cos x + i tanh(theta.v) sin x), and cos x >= 0 here.
    square = tangent * tangent
    square /= 1.0 + square
    square *= 1.0 / np.cosh(np.minimum(np.abs(lean), _MOST_LEAN)) ** 2
    with np.errstate(divide="ignore"):
        log_size = 0.5 * (count * np.log1p(-np.minimum(square, 1.0))).sum(axis=-2)
    angle = (count * half_turn).sum(axis=-2) - origin * (2.0 * math.pi / whole)
    if lean.any():
        angle += (count * np.arctan(np.tanh(lean) * tangent)).sum(axis=-2)
    return np.exp(log_size) * (np.cos(angle) - 1j * np.sin(angle))
