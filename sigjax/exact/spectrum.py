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

LARGEST_EXPONENT = 600.0
"""Of weights, which might overflow."""
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


class Points(NamedTuple):
    """What is to be added up of the probabilities of a pair: times exp(left - right - scale) of each point."""

    times: np.ndarray
    """[first, second] int8."""
    left: np.ndarray
    """[first] float64."""
    right: np.ndarray
    """[second] float64."""
    scale: float
    begin: tuple[int, ...]
    """[axis]: where the points begin among the probabilities."""


def on_device(
    sums: Sequence[SignSums],
    kept: Sequence[np.ndarray],
    lengths: tuple[int, ...],
    platform: str,
    points: Sequence[Points] = (),
) -> np.ndarray:
    """The same by JAX, from batches of one pair and the frequencies that count `[axis, frequency]` of each.

    With `points` of each pair, what `added_up` says of them.
    """
    most = [
        padded_size(max(sizes))
        for sizes in zip(
            *((len(each.rows[0]), part.shape[1]) for each, part in zip(sums, kept, strict=True)), strict=True
        )
    ]
    width = min(padded_size(1 + max(int(part[-1].max()) for part in kept)), lengths[-1] // 2 + 1)
    axes, number = len(lengths), len(sums)
    count = padded_size(number) if axes == 1 and number > 1 else padded_size(64 * number) // 64
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
    padded = _padded(points, count) if points else ()
    return np.asarray(run(rows, multiplicity, lean, first, frequencies, place, *padded))[:number]


def _padded(points: Sequence[Points], count: int) -> tuple[np.ndarray, ...]:
    """Points of so many pairs, as the columns of `Points`."""
    height, width = (padded_size(max(each.times.shape[axis] for each in points)) for axis in range(2))
    times, left, right = np.zeros((count, height, width), np.int8), np.zeros((count, height)), np.zeros((count, width))
    scale, begin = np.zeros(count), np.zeros((count, 2), np.int64)
    for pair, each in enumerate(points):
        rows, columns = map(slice, each.times.shape)
        times[pair, rows, columns], left[pair, rows], right[pair, columns] = each[:3]
        scale[pair], begin[pair] = each.scale, each.begin
    return times, left, right, scale, begin


def _inverted(
    rows: Array,
    multiplicity: Array,
    lean: Array,
    first: Array,
    frequencies: Array,
    place: Array,
    *points: Array,
    lengths: tuple[int, ...],
) -> Array:
    """The kernel: probabilities `[pair, *lengths]`, or what points of them add up to."""
    sums = SignSums(rows, multiplicity, lean, first)
    found = inverse(characteristic(sums, frequencies, lengths), place, lengths)
    return added_up(found, *points) if points else found


def added_up(probability: Array, times: Array, left: Array, right: Array, scale: Array, begin: Array) -> Array:
    """Sums and maxima `[pair, 6]` of weights and probabilities `[pair, *lengths]`, from columns of `Points`.

    They are the 2-norm of all probabilities, the sum of weight times probability, that of the squares of weights, the
    largest weight, and of points that have no probability the largest weight and the sum of weights.
    """
    xp = times.__array_namespace__()
    weight = xp.exp(xp.minimum(left[:, :, None] - right[:, None] - scale[:, None, None], LARGEST_EXPONENT))
    weight *= times.astype(xp.float64)
    row, column = (xp.arange(size) + begin[:, axis, None] for axis, size in enumerate(times.shape[1:]))
    here = ((row >= 0) & (row < probability.shape[1]))[:, :, None] & ((column >= 0) & (column < probability.shape[2]))[
        :, None
    ]
    at = xp.clip(row, 0, probability.shape[1] - 1)[:, :, None], xp.clip(column, 0, probability.shape[2] - 1)[:, None]
    held, outside = xp.where(here, weight, 0.0), xp.where(here, 0.0, weight)
    parts = (
        xp.sqrt((probability * probability).sum(axis=(1, 2))),
        (held * probability[(xp.arange(len(times))[:, None, None], *at)]).sum(axis=(1, 2)),
        (held * held).sum(axis=(1, 2)),
        held.max(axis=(1, 2)),
        outside.max(axis=(1, 2)),
        outside.sum(axis=(1, 2)),
    )
    return xp.stack(parts, axis=1)


def centred(number: Array, whole: int) -> Array:
    """Whole numbers (float64, below 2^53) modulo `whole`, between -whole / 2 and whole / 2."""
    return number - whole * number.__array_namespace__().rint(number / whole)
