"""Tail probabilities of all pairs of a board for any score, from the probabilities of all points of a grid.

If the score is not monotone in each axis, the extreme values of the sum S have no edge, and the geometric series of
`tails` do not apply. Then the score is evaluated on all points of a grid, which holds the sums within `DEVIATIONS`
standard deviations. One inverse FFT per pair gives the probabilities of these points (`jnp.fft` on a device). It starts
from the characteristic function, computed at the frequencies at which it is not negligible. The p-value adds up the
probabilities of the extreme points. There is no tilt, so probabilities far below 1e-16 are only rounding errors. Their
error bounds are larger than these probabilities.

**Errors** are worst cases, as in `tails`; u is the unit roundoff. The error of an FFT of n numbers is at most 7 u
log2(n) times their 2-norm (Higham 2002, theorem 24.2).
"""

import math
from typing import Any

import numpy as np

from sigjax.exact.board import Board, Tails
from sigjax.exact.characteristic import (
    CharacteristicTables,
    Real,
    characteristic_functions,
    characteristic_tables,
    find_angles,
    find_frequencies,
    unit,
)
from sigjax.exact.distributions import DEVIATIONS, fft_length
from sigjax.exact.edges import DeltaOfPairs, is_extreme
from sigjax.exact.lattice import Lattice, hull
from sigjax.exact.null import Delta
from sigjax.exact.tails import OUTSIDE, TERMS, groups_of_equal, run_kernel, size_classes

_FFT_ERROR = 7.0
"""Bound on the relative error of an FFT in the 2-norm for each doubling of its length, in multiples of the unit
roundoff."""


def grid_tails(
    board: Board, delta_of: DeltaOfPairs, thresholds: np.ndarray, device: Any, real: Real, *, strict: bool
) -> Tails:
    """Return P(delta >= threshold), or P(delta > threshold) if `strict`, for any score, by one inverse FFT per pair.

    Args:
        board: the pairs, with one or two axes (numbers per difference).
        delta_of: takes indices of pairs, and returns a function that maps sums S of these pairs to differences of
            scores.
        thresholds: `[pair]` thresholds of delta.
        device: a platform of JAX, or None for NumPy.
        real: the type of `log_p`; the probabilities are computed in float64.
        strict: whether delta must be above the threshold.
    """
    deviation = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2)
    reach = board.counts @ np.abs(board.rows)
    found = Tails(np.full(len(board), -np.inf, real), np.zeros(len(board)))
    for group in groups_of_equal(*map(size_classes, deviation.T)):
        most = np.minimum(DEVIATIONS * deviation[group].max(axis=0), reach[group].max(axis=0))
        lengths = tuple(fft_length(int(each) + 2) for each in most)
        frequencies = find_frequencies(board.rows, board.counts[group].min(axis=0) * 0.25, lengths)
        angles = find_angles(board.rows, frequencies, np.float64)
        characteristic = characteristic_tables(board.rows, np.zeros(board.axes), angles)
        place = np.full((*lengths[:-1], lengths[-1] // 2 + 1), len(frequencies))
        place[tuple(frequencies.number)] = np.arange(len(frequencies))
        phase_steps, scale = frequencies.phase_steps.astype(np.float64), frequencies.weights / math.prod(lengths)
        tables = characteristic, phase_steps, scale, place.reshape(-1)
        static = ("half_turn", frequencies.half_turn), ("lengths", lengths)
        batch = max(1, TERMS // math.prod(lengths))
        for pairs in (group[begin : begin + batch] for begin in range(0, len(group), batch)):
            counts = board.counts[pairs]
            totals = counts @ board.rows
            low = (totals - np.array(lengths)) // 2
            extreme = _extreme_values(
                board.subset(pairs), delta_of(pairs), 2 * low - totals, lengths, thresholds[pairs], strict=strict
            )
            arrays = counts.astype(np.float64), low.astype(np.float64), extreme.astype(np.float64)
            of_rows, noise = run_kernel(device, _grid_kernel, static, arrays, tables, batch)
            summed, points = of_rows.sum(axis=1), extreme.sum(axis=(1, 2))
            absolute = noise * np.sqrt(points) + frequencies.left_out * points + 2.0 * OUTSIDE
            absolute += unit(real) * sum(extreme.shape[1:]) * np.abs(of_rows).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                found.log_p[pairs] = np.log(summed)
                found.error[pairs] = 1.001 * (absolute / np.maximum(summed, 0.0) + 16.0 * unit(real))
    return found


def _extreme_values(
    board: Board, delta: Delta, start: np.ndarray, lengths: tuple[int, ...], thresholds: np.ndarray, *, strict: bool
) -> np.ndarray:
    """Return a mask `[pair, first, second]` of the extreme grid values of the sum S; only possible values are scored.

    `start` `[pair, axis]` is the first value of the grid. `lengths` are the numbers of values on its axes. A difference
    of scores is extreme if it is at least the pair's threshold in `thresholds` `[pair]` (or above it, if `strict`).
    """
    first, second = (
        start[:, axis, None] + 2 * np.arange(length)
        for axis, length in zip((0, -1), (lengths[0], lengths[-1]), strict=True)
    )
    if board.axes == 1:
        inside = np.abs(first) <= (board.counts @ np.abs(board.rows[:, 0]))[:, None]
        met = is_extreme(delta(np.where(inside, first, board.observed)), thresholds[:, None], strict=strict)
        return (met & inside)[:, None]
    inside = np.empty((len(board), *lengths), bool)
    for pair, (values, others) in enumerate(zip(first, second, strict=True)):
        used = board.counts[pair] > 0
        lattice = Lattice(board.rows[used], board.counts[pair, used], board.observed[pair], board.basis)
        order = np.abs(values) <= lattice.reach[0]
        lowest, highest = hull(lattice, values)
        inside[pair] = order[:, None] & (others >= lowest[:, None]) & (others <= highest[:, None])
    values = [
        np.where(inside, each, board.observed[:, axis, None, None])
        for axis, each in enumerate((first[:, :, None], second[:, None, :]))
    ]
    return is_extreme(delta(*values), thresholds[:, None, None], strict=strict) & inside


def _grid_kernel(
    counts: Any,
    low: Any,
    extreme: Any,
    tables: CharacteristicTables,
    phase_steps: Any,
    scale: Any,
    place: Any,
    *,
    half_turn: int,
    lengths: Any,
) -> tuple[Any, Any]:
    """Return the probability `[pair, row]` of the extreme points in each row of the grid, and error bounds `[pair]`.

    A point is a value of the random-sign sum S. An error bound is for the 2-norm of the errors of all probabilities of
    the grid. All arguments are made in `grid_tails`: `counts` to `extreme` have one row per pair, and all pairs share
    the other arrays.
    """
    xp = counts.__array_namespace__()
    re, im, modulus, error = characteristic_functions(xp, counts, low @ phase_steps, tables, half_turn)
    error = error + unit(counts.dtype) * _FFT_ERROR * math.log2(math.prod(lengths))
    noise = xp.sqrt((scale * (modulus * error) ** 2).sum(axis=1))
    # The imaginary part is negated, because inverse FFTs have the opposite sign in the exponent.
    parts = (xp.concatenate([part, 0.0 * part[:, :1]], axis=1)[:, place] for part in (re, -im))
    real, imaginary = (xp.asarray(part, dtype=xp.complex128) for part in parts)
    characteristic = real + 1j * imaginary
    characteristic = characteristic.reshape(len(counts), *lengths[:-1], -1)
    probabilities = xp.fft.irfft(
        characteristic if len(lengths) == 1 else xp.fft.ifft(characteristic, axis=1), lengths[-1]
    )
    return (probabilities.reshape(extreme.shape) * extreme).sum(axis=2), noise
