"""Few columns: the sums of a resample without its weights, word by word as they are drawn.

A matrix product needs the weights of all units in memory, which for one pair of systems costs more than the sums. Here
the sums are added up while the random words are still in registers. Several columns share a word, each in a field that
its sum cannot leave, so one addition serves all of them. Resamples are the last axis: operations are on long vectors.

Swap: whole numbers are split into binary digits; the sum of a digit over the units in a mask is the number of bits that
mask and digit share. Bootstrap: the statistics of each drawn unit are looked up.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import lane_pair, lane_words
from sigjax.resample.plans import Draws, by_word, padded_units, scaled
from sigjax.run.loops import expect, look_up, popcount, repeat

MOST_WORDS = 2
"""With more words a matrix product is faster (measured): each word draws the random numbers anew."""
_WIDTH = 32
"""Width of a row without weights: vectors of some thousand rows stay in cache."""
_UNROLLED = 8
"""Lanes per step of a loop: enough work to pay for the step."""


class Fields(NamedTuple):
    """The bits of each column's sum in words of 32 or 64 bits, the type of `shift` and `mask`."""

    word: np.ndarray
    """[column] int32."""
    shift: np.ndarray
    """[column]."""
    mask: np.ndarray
    """[column]: one bits, as many as the field has."""
    offset: np.ndarray
    """[column] float64: the sum that a field of 0 stands for."""

    def pack(self, values: np.ndarray) -> np.ndarray:
        """Words `[word, ...]` with whole numbers `[column, ...]` (int64) in their fields, in two's complement."""
        words = np.zeros((int(self.word.max()) + 1, *values.shape[1:]), self.mask.dtype)
        for word, shift, column in zip(self.word, self.shift, values, strict=True):
            words[word] += column.astype(self.mask.dtype) << shift
        return words

    def sums(self, words: Array) -> Array:
        """Sums `[column, row]` float64 from words `[word, row]`."""
        xp = words.__array_namespace__()
        fields = (words[self.word] >> self.shift[:, None]) & self.mask[:, None]
        return fields.astype(xp.float64) + self.offset[:, None]


def make_fields(lowest: np.ndarray, highest: np.ndarray) -> Fields | None:
    """Fields for columns whose sums lie between these whole numbers `[column]`; None if they take too many words.

    Example:
        >>> make_fields(np.array([-500, 0, 7]), np.array([500, 2**40, 7])).word.tolist()
        [0, 0, 0]
    """
    needed = [int(high - low).bit_length() for low, high in zip(lowest, highest, strict=True)]
    dtype, length = (np.uint32, 32) if sum(needed) <= 32 else (np.uint64, 64)
    used: list[int] = []
    fields = []
    for width in needed:
        word = next((i for i, taken in enumerate(used) if taken + width <= length), len(used))
        used += [0] * (word == len(used))
        fields.append((word, min(used[word], length - 1), 2**width - 1))  # no shift by a whole word
        used[word] += width
    if max(needed) > length or len(used) > MOST_WORDS:
        return None
    word, shift, mask = zip(*fields, strict=True)
    return Fields(np.array(word, np.int32), np.array(shift, dtype), np.array(mask, dtype), lowest.astype(np.float64))


class FusedSwap(NamedTuple):
    """Swap sums of few columns, by binary digits."""

    digits: np.ndarray
    """[step, lane, digit] uint64: which units have the digit, two words of 32 bits to a lane."""
    worth: np.ndarray
    """[word, digit] uint32 or uint64: what a unit with the digit adds to the word, in two's complement."""
    starts: np.ndarray
    """[word]: packed value of an empty sum."""
    num_steps: np.ndarray
    """[] int32: steps beyond are padding."""
    fields: Fields

    width = _WIDTH

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` float64 over the units that the mask of each row `[row, 3]` marks."""

        def add(total: Array, word: int, lane: Array, digits: Array) -> Array:
            drawn = lane_words(rows, lane)
            for digit, worth in zip(digits, self.worth[word], strict=True):
                total = total + popcount(drawn & digit).astype(worth.dtype) * worth
            return total

        return self.fields.sums(_loop(add, rows, self.starts, self.num_steps, self.digits))


class FusedDraws(NamedTuple):
    """Bootstrap sums of few columns, by looking up the drawn units."""

    tables: np.ndarray
    """[word, unit] uint32 or uint64; zeros for padding, up to the number of padded draws."""
    draws: np.ndarray
    """[step, lane, half, 2] uint64: first unit and size of the stratum of each draw."""
    num_steps: np.ndarray
    fields: Fields

    width = _WIDTH

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` float64 over the units that each row `[row, 3]` draws."""

        def add(total: Array, word: int, lane: Array, draws: Array) -> Array:
            for drawn, (start, size) in zip(lane_pair(rows, lane), draws, strict=True):
                total = total + look_up(self.tables[word], scaled(drawn, size) + start)
            return total

        return self.fields.sums(_loop(add, rows, self.tables[:, -1], self.num_steps, self.draws))


def fused_swap(columns: np.ndarray, *, compiled: bool = True) -> FusedSwap | None:
    """For columns `[column, unit]` (int64); None where they take too many words: for NumPy, more than one."""
    lowest, highest = np.minimum(columns, 0).sum(axis=1), np.maximum(columns, 0).sum(axis=1)
    fields = make_fields(lowest, highest)
    if fields is None or not (compiled or fields.word.max() == 0):
        return None
    digits, worth = [], []
    for index, column in enumerate(columns):
        # The last digit, of the sign, counts negative.
        count = int(max(column.max(), -1 - column.min())).bit_length() + 1
        for digit in range(count):
            unit = np.zeros(len(columns), np.int64)
            unit[index] = 2**digit if digit < count - 1 else -(2**digit)
            marked = column >> digit & 1
            if marked.any():
                digits.append(_bits_of_lanes(marked))
                worth.append(fields.pack(unit))
    if not digits:
        digits, worth = [_bits_of_lanes(0 * columns[0])], [fields.pack(0 * columns[:, 0])]
    steps, number = _in_steps(np.stack(digits, axis=1), np.uint64(0))
    return FusedSwap(steps, np.stack(worth, axis=1), fields.pack(-lowest), number, fields)


def fused_draws(columns: np.ndarray, draws: Draws) -> FusedDraws | None:
    """For columns `[column, unit]` (int64); None where they take too many words."""
    num_units = columns.shape[1]
    least = columns.min(axis=1)
    fields = make_fields(num_units * least, num_units * columns.max(axis=1))
    if fields is None:
        return None
    values = columns - least[:, None]
    start, size = (part.astype(np.uint64) for part in draws)
    nobody = np.array([num_units, 0], np.uint64)
    lanes = by_word(np.stack([start, size], axis=1), nobody, lanes=-(-num_units // 2)).swapaxes(0, 1)
    steps, number = _in_steps(lanes, nobody)
    table = 2 * math.prod(steps.shape[:2]) + 1
    return FusedDraws(fields.pack(np.pad(values, [(0, 0), (0, table - num_units)])), steps, number, fields)


def _in_steps(lanes: np.ndarray, nothing: Any) -> tuple[np.ndarray, np.ndarray]:
    """Values of lanes `[lane, ...]` as `[step, lane, ...]`, and the number of steps `[]` (int32) that are not padding.

    `nothing` pads them to a power of two of steps, so that few programs are compiled.
    """
    count = -(-len(lanes) // _UNROLLED)
    padded = np.empty((2 ** (count - 1).bit_length() * _UNROLLED, *lanes.shape[1:]), lanes.dtype)
    padded[: len(lanes)], padded[len(lanes) :] = lanes, nothing
    return padded.reshape(-1, _UNROLLED, *lanes.shape[1:]), np.array(count, np.int32)


def _bits_of_lanes(marked: np.ndarray) -> np.ndarray:
    """Marks of units `[unit]` (0 or 1) as bits of lanes `[lane]` uint64, in the order of `swap`."""
    width = padded_units(len(marked))
    bits = np.zeros(width, np.uint32)
    bits[: len(marked)] = marked
    words = (bits.reshape(32, -1) << np.arange(32, dtype=np.uint32)[:, None]).sum(axis=0).astype(np.uint64)
    first, second = words.reshape(2, -1)
    return first | second << np.uint64(32)


def _loop(add: Callable[..., Array], rows: Array, starts: Array, num_steps: Array, data: Array) -> Array:
    """Words `[word, row]`: `add(total [row], word, lane, data of the lane)` over the lanes of all steps."""
    expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    # Made from the rows, so that JAX knows that words differ between devices.
    none = (rows[:, 0] ^ rows[:, 0]).astype(starts.dtype)
    first = tuple(none + start for start in starts)

    def step(index: Array, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        of_step = data[index]
        for i in range(_UNROLLED):
            lane = xp.asarray(index * _UNROLLED + i, dtype=xp.uint32)
            totals = tuple(add(total, word, lane, of_step[i]) for word, total in enumerate(totals))
        return totals

    return xp.stack(repeat(step, num_steps, first))
