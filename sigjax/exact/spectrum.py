"""Characteristic functions and their inverse FFTs, of many pairs at once: written once, for NumPy and for JAX.

Only the frequencies that count come in, as a list for each pair; where each stands in the spectrum comes with them, so
that a GPU gathers and does not scatter. For JAX, pairs are padded to few sizes, so that few programs are compiled.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigjax.exact.convolution import padded_size
from sigjax.records import Array
from sigjax.run.backend import compiled

MOST_LEAN = 300.0
"""Coins with a larger lean are certain, and cosh would overflow."""


class SignSums(NamedTuple):
    """Random-sign sums of several pairs, tilted."""

    rows: Array
    """[pair, row, axis] int64."""
    multiplicity: Array
    """[pair, row]; 0 for padding."""
    lean: Array | None
    """[pair, row]: theta.v; None where there is no tilt."""
    first: Array
    """[pair, axis] int64: the first value of K."""


def characteristic(sums: SignSums, frequencies: Array, lengths: tuple[int, ...]) -> Array:
    """The conjugate of E exp(i w.(K - first)) `[pair, frequency]`.

    irfft carries the other sign in its exponent; the probabilities are real, so the conjugate serves.

    Args:
        sums: see there.
        frequencies: `[pair, axis, frequency]` float64, in turns per step of K times the length of the axis.
        lengths: number of values on each axis.
    """
    # Angles are fractions of a turn over a common denominator, reduced as whole numbers: no digits are lost.
    xp, whole = frequencies.__array_namespace__(), math.lcm(*lengths)
    scaled = [frequencies[:, axis] * float(whole // length) for axis, length in enumerate(lengths)]
    turns = [
        (sums.rows[..., i] % n).astype(xp.float64)[..., None] * each[:, None]
        for i, (n, each) in enumerate(zip(lengths, scaled, strict=True))
    ]
    begins = [
        (sums.first[:, i] % n).astype(xp.float64)[:, None] * each
        for i, (n, each) in enumerate(zip(lengths, scaled, strict=True))
    ]
    half_turn = centred(sum(turns[1:], turns[0]), whole) * (math.pi / whole)
    count, tangent = sums.multiplicity[..., None].astype(xp.float64), xp.tan(half_turn)
    # With x half the angle, 1 - pi + pi e^{2ix} = e^{ix} (cos x + i tanh(theta.v) sin x), and cos x >= 0 here.
    square = tangent * tangent
    square /= 1.0 + square
    angle = (count * half_turn).sum(axis=-2) - centred(sum(begins[1:], begins[0]), whole) * (2.0 * math.pi / whole)
    if (lean := sums.lean) is not None:
        square *= 1.0 / xp.cosh(xp.minimum(abs(lean), MOST_LEAN))[..., None] ** 2
        angle += (count * xp.arctan(xp.tanh(lean)[..., None] * tangent)).sum(axis=-2)
    with np.errstate(divide="ignore"):
        log_size = 0.5 * (count * xp.log1p(-xp.minimum(square, 1.0))).sum(axis=-2)
    size = xp.exp(log_size)
    return (size * xp.cos(angle)).astype(xp.complex128) - 1j * (size * xp.sin(angle)).astype(xp.complex128)


def places(frequencies: np.ndarray, lengths: tuple[int, ...]) -> np.ndarray:
    """Which of the `frequencies` `[axis, frequency]` stands where in the half spectrum; their number where none does.

    Of the last axis only as much as is needed, which spares the FFT of the first most of its work.
    """
    count = frequencies.shape[1]
    place = np.full((*lengths[:-1], int(frequencies[-1].max()) + 1), count, np.int32)
    place[tuple(frequencies)] = np.arange(count)
    return place


def inverse(held: Array, place: Array, lengths: tuple[int, ...]) -> Array:
    """Probabilities `[pair, *lengths]` from the function at some frequencies `[pair, frequency]` and their places."""
    xp = held.__array_namespace__()
    held = xp.concatenate([held, xp.zeros_like(held[:, :1])], axis=1)
    spectrum = xp.take_along_axis(held, place.reshape(len(place), -1), axis=1).reshape(place.shape)
    return xp.fft.irfft(spectrum if len(lengths) == 1 else xp.fft.ifft(spectrum, axis=1), n=lengths[-1])


def on_device(
    sums: Sequence[SignSums], kept: Sequence[np.ndarray], lengths: tuple[int, ...], platform: str
) -> np.ndarray:
    """The same by JAX, from batches of one pair and the frequencies that count `[axis, frequency]` of each."""
    most = [
        padded_size(max(sizes))
        for sizes in zip(
            *((len(each.rows[0]), part.shape[1]) for each, part in zip(sums, kept, strict=True)), strict=True
        )
    ]
    width = min(padded_size(1 + max(int(part[-1].max()) for part in kept)), lengths[-1] // 2 + 1)
    count, axes = padded_size(len(sums)) if len(sums) > 1 else 1, len(lengths)
    rows, multiplicity = np.zeros((count, most[0], axes), np.int64), np.zeros((count, most[0]), np.int64)
    lean, first = np.zeros((count, most[0])), np.zeros((count, axes), np.int64)
    frequencies = np.zeros((count, axes, most[1]))
    place = np.full((count, *lengths[:-1], width), most[1], np.int32)
    for pair, (each, part) in enumerate(zip(sums, kept, strict=True)):
        own = slice(each.rows.shape[1])
        rows[pair, own], multiplicity[pair, own], first[pair] = each.rows[0], each.multiplicity[0], each.first[0]
        lean[pair, own] = 0.0 if each.lean is None else each.lean[0]
        frequencies[pair, :, : part.shape[1]] = part
        place[(pair, *part)] = np.arange(part.shape[1])
    # With the wide vectors that `compiled` sets for a CPU, XLA's arc tangent is wrong (JAX 0.10.2).
    run = compiled(_inverted, (("lengths", lengths),), platform=None if platform == "cpu" else platform)
    return np.asarray(run(rows, multiplicity, lean, first, frequencies, place))[: len(sums)]


def _inverted(
    rows: Array,
    multiplicity: Array,
    lean: Array,
    first: Array,
    frequencies: Array,
    place: Array,
    *,
    lengths: tuple[int, ...],
) -> Array:
    """The kernel: probabilities `[pair, *lengths]`."""
    return inverse(characteristic(SignSums(rows, multiplicity, lean, first), frequencies, lengths), place, lengths)


def centred(number: Array, whole: int) -> Array:
    """Whole numbers (float64, below 2^53) modulo `whole`, between -whole / 2 and whole / 2."""
    return number - whole * number.__array_namespace__().rint(number / whole)
