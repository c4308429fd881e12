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
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sigjax.exact.lattice import Lattice
from sigjax.exact.spectrum import MOST_LEAN, Points, SignSums, centred, characteristic, inverse, on_device, places

DEVIATIONS = 9.0
"""Half-width of the window in standard deviations of S."""
EPSILON = float(np.finfo(np.float64).eps)
_NEGLIGIBLE = 42.0
"""Frequencies where the characteristic function is below exp(-42) = 6e-19 are left out."""
_CELL = 1.0
"""With two axes: how much the root of the exponent may grow over the frequencies between those computed first."""
_ENOUGH = 256.0
"""Weight of the rows that are looked at first: most frequencies are negligible by these alone."""
_DENSE = 2**14
"""Terms up to which the bound costs more than it saves."""
_ON_ONE_THREAD, _FEWEST = 2**18, 32
"""Products of so few terms BLAS computes on one thread: waking others takes longer. Terms added at a time, at least."""
_BLOCK = 2**15
"""Terms computed at a time, to stay in cache."""


def grid_lengths(lattice: Lattice) -> tuple[int, ...]:
    """Lengths, in steps of 2 of S, of a grid that holds the window around any mean of S, or all that S can reach.

    By Hoeffding's inequality the mass outside is at most 2 exp(-c^2 / 2) an axis with c = 9 standard deviations, 6e-18,
    under any tilt, since each term keeps the range [-v, v].
    """
    return tuple(map(fft_length, grid_values(lattice.reach, lattice.deviation).tolist()))


def grid_values(reach: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """How many values the grid has to hold, for each reach and standard deviation of S."""
    return np.minimum(reach, np.ceil(DEVIATIONS * deviation)).astype(np.int64) + 1


def window_mass(reach: np.ndarray, length: int) -> np.ndarray:
    """Bound on the mass outside a grid with one axis, for each reach of S."""
    return np.where(length > reach, 0.0, 2.0 * math.exp(-(DEVIATIONS**2) / 2))


def line_probabilities(
    steps: np.ndarray,
    multiplicity: np.ndarray,
    theta: np.ndarray,
    length: int,
    first: np.ndarray,
    platform: str | None = None,
) -> np.ndarray:
    """P_theta(K = first + k) `[pair, k]`, k = 0 ... length - 1, for several pairs with one axis.

    Args:
        steps: `[pair, row]` int64; rows that are padding have multiplicity 0.
        multiplicity: `[pair, row]`.
        theta: `[pair]` tilts.
        length: values of the grid; K is taken modulo this.
        first: `[pair]` int64: the first value of K.
        platform: where JAX computes; None for NumPy.

    Returns:
        Probabilities. They carry rounding noise, see `rounding`.

    Example:
        >>> rows, multiplicity = np.array([[1, 2]]), np.array([[2, 1]])
        >>> line_probabilities(rows, multiplicity, np.zeros(1), 6, np.zeros(1, int))[:, :5].round(12)
        array([[0.125, 0.25 , 0.25 , 0.25 , 0.125]])
    """
    half = length // 2 + 1
    if platform is None and steps.size * half <= _DENSE * len(steps):
        frequencies, lean = np.arange(half, dtype=np.float64)[None, None], theta[:, None] * steps
        sums = SignSums(steps[:, :, None], multiplicity, lean if theta.any() else None, first[:, None])
        return np.fft.irfft(characteristic(sums, frequencies, (length,)), length)
    each = zip(steps[:, :, None], multiplicity, theta[:, None], first[:, None], strict=True)
    return _probabilities([_sum_of(*one) for one in each], (length,), platform)


def plane_probabilities(
    rows: np.ndarray,
    multiplicity: np.ndarray,
    theta: np.ndarray,
    lengths: tuple[int, ...],
    first: np.ndarray,
    platform: str | None = None,
) -> np.ndarray:
    """P_theta(K = first + k), of shape `lengths`, for one pair with one or two axes and many frequencies.

    Args:
        rows: `[row, axis]` int64.
        multiplicity: `[row]`.
        theta: `[axis]`: the tilt.
        lengths: number of values on each axis.
        first: `[axis]` int64: the first value of K.
        platform: where JAX computes; None for NumPy.
    """
    return _probabilities([_sum_of(rows, multiplicity, theta, first)], lengths, platform)[0]


def plane_sums(
    sums: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
    lengths: tuple[int, ...],
    points: Sequence[Points],
    platform: str,
) -> np.ndarray:
    """What JAX adds up of `points` of the probabilities of several pairs `[pair, 6]`, see `spectrum.added_up`.

    Each of `sums` has the arguments rows, multiplicity, theta and first of `plane_probabilities`.
    """
    signs = [_sum_of(*each) for each in sums]
    return on_device(signs, [_significant(each, lengths) for each in signs], lengths, platform, points)


def _sum_of(rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, first: np.ndarray) -> SignSums:
    lean = rows @ theta
    return SignSums(rows[None], multiplicity[None], lean[None] if lean.any() else None, first[None])


def _probabilities(sums: Sequence[SignSums], lengths: tuple[int, ...], platform: str | None) -> np.ndarray:
    """Of several pairs, each of which is a batch of one; NumPy takes them one by one, and stays in its cache."""
    kept = [_significant(each, lengths) for each in sums]
    if platform is not None:
        return on_device(sums, kept, lengths, platform)
    found = []
    for each, frequencies in zip(sums, kept, strict=True):
        held = _characteristic(each, frequencies, lengths)
        found.append(inverse(held, places(frequencies, lengths)[None], lengths))
    return np.concatenate(found)


def line_spectrum(
    steps: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, length: int, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What `line_probabilities` of one pair, `[1, row]`, are the inverse FFT of: the frequencies that count, ascending.

    Returns:
        `[frequency]` whole numbers from 0 to length / 2, and the function `[frequency]`.
    """
    sums = _sum_of(steps[0, :, None], multiplicity[0], theta, first)
    frequencies = _significant(sums, (length,))
    return frequencies[0], _characteristic(sums, frequencies, (length,))[0]


def _characteristic(sums: SignSums, frequencies: np.ndarray, lengths: tuple[int, ...]) -> np.ndarray:
    """The function `[1, frequency]` of one pair at some frequencies `[axis, frequency]`, block by block."""
    block = max(1, _BLOCK // sums.rows.shape[1])
    parts = (frequencies[None, :, start : start + block] for start in range(0, frequencies.shape[1], block))
    return np.concatenate([characteristic(sums, part.astype(np.float64), lengths) for part in parts], axis=1)


def rounding(coins: Any, lengths: tuple[int, ...]) -> Any:
    """Bound on the rounding error of the probabilities, in the 2-norm and relative to their own 2-norm.

    Two parts: the FFT, whose error is below a few epsilon for each doubling of its length (Higham 2002, theorem 24.2),
    and the characteristic function, a sum of logarithms and angles over coins, whose roundings grow like the square
    root of their number at the frequencies that count.
    """
    return EPSILON * (4.0 * math.log2(math.prod(lengths)) + 4.0 * np.sqrt(coins) + 16.0)


@lru_cache(2**12)
def fft_length(values: int) -> int:
    """A fast FFT length of at least `values`: even, and a power of two times 1, 9/8, 5/4 or 3/2.

    Example:
        >>> [fft_length(n) for n in (1, 3, 17, 1000, 1100)]
        [2, 4, 18, 1024, 1152]
    """
    power = 2 ** max(1, (values - 1).bit_length())
    lengths = (9 * power // 16, 5 * power // 8, 3 * power // 4, power)
    return next(length for length in lengths if length >= values and length % 2 == 0)


def _significant(sums: SignSums, lengths: tuple[int, ...]) -> np.ndarray:
    """The frequencies `[axis, frequency]`, in the half spectrum, at which the bound on the function is not negligible.

    The root of the exponent is the 2-norm of a vector over rows, in proportion to the sines of half the angles, so it
    grows by no more than a known slope from one frequency to the next, and is no less for more rows. So it is first
    computed of some rows and at every few frequencies, and then at those that these leave.
    """
    (rows,), (multiplicity,), half = sums.rows, sums.multiplicity, lengths[-1] // 2 + 1
    lean = np.zeros(len(rows)) if sums.lean is None else sums.lean[0]
    weight = multiplicity / (4.0 * np.cosh(np.minimum(np.abs(lean), MOST_LEAN)) ** 2)
    if len(lengths) == 1:
        return _significant_on_line(rows, weight, lengths[0])[None]
    slope = np.sqrt(0.5 * (weight @ rows.astype(np.float64) ** 2)) * 2.0 * math.pi / np.array(lengths)
    stride = np.clip(_CELL / np.maximum(slope, 1e-300), 1, lengths).astype(np.int64)
    some = tuple(np.arange(0, end, step) for end, step in zip((lengths[0], half), stride.tolist(), strict=True))
    limit = (math.sqrt(_NEGLIGIBLE) + float(slope @ (stride - 1))) ** 2
    near = _exponents(rows, weight, lengths, some) < limit
    left = tuple(
        (each[near.any(axis=1 - axis)][:, None] + np.arange(stride[axis])).ravel() for axis, each in enumerate(some)
    )
    left = left[0][left[0] < lengths[0]], left[1][left[1] < half]
    kept = np.nonzero(_exponents(rows, weight, lengths, left) < _NEGLIGIBLE)
    return np.stack([left[0][kept[0]], left[1][kept[1]]])


def _significant_on_line(rows: np.ndarray, weight: np.ndarray, length: int) -> np.ndarray:
    """The same `[frequency]` on one axis. A frequency is a multiple of a stride and an offset; so is a multiple."""
    half, every = length // 2 + 1, max(1, int(weight.sum() / _ENOUGH))
    few, light = rows[::every], weight[::every]
    slope = math.sqrt(0.5 * float(light @ few[:, 0].astype(np.float64) ** 2)) * 2.0 * math.pi / length
    # Where waves are out of step, the exponent is about the weight, and may be less by a little.
    root = math.sqrt(_NEGLIGIBLE)
    spare = max(0.75 * math.sqrt(light.sum()) - root, 0.0)
    reach = int(min(spare / max(slope, 1e-300), half)) or math.isqrt(half) // 2
    stride = 2 * reach + 1
    count = (half + reach) // stride + 1
    low = 2 ** (count.bit_length() // 2)
    multiples = stride * np.arange(0, count, low), stride * np.arange(low)
    near = _exponents(few[:, [0, 0]], light, (length, length), multiples).ravel() < (root + slope * reach) ** 2
    centres, offsets = stride * np.flatnonzero(near), np.arange(-reach, reach + 1)
    kept = _exponents(rows[:, [0, 0]], weight, (length, length), (centres, offsets)) < _NEGLIGIBLE
    found = (centres[:, None] + offsets)[kept]
    return found[(found >= 0) & (found < half)]


def _exponents(
    rows: np.ndarray, weight: np.ndarray, lengths: tuple[int, ...], frequencies: tuple[np.ndarray, ...]
) -> np.ndarray:
    """The sum over rows of weight times 1 - cos(w.v), for each frequency of one axis with each of the other.

    cos(x + y) = cos x cos y - sin x sin y makes it one matrix product.
    """
    left, right = (
        centred(np.outer(rows[:, axis] % length, each.astype(np.float64)), length) * (2.0 * math.pi / length)
        for axis, (length, each) in enumerate(zip(lengths, frequencies, strict=True))
    )
    waves = np.concatenate([weight[:, None] * np.cos(left), -weight[:, None] * np.sin(left)])
    others = np.concatenate([np.cos(right), np.sin(right)])
    few = _ON_ONE_THREAD // (waves.shape[1] * others.shape[1])
    if few < _FEWEST:
        return weight.sum() - waves.T @ others
    parts = (slice(start, start + few) for start in range(0, len(waves), few))
    return weight.sum() - sum(waves[part].T @ others[part] for part in parts)
