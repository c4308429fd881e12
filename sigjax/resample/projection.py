"""Projection: the weights of all resamples, multiplied by the statistics of all systems, without rounding.

Statistics are whole numbers (see `units`). So sums are exact in any order, if their type holds whole numbers of this
size; the type is chosen accordingly. A `Projection` has `sums`, which turns rows `[row, 3]` into sums `[column, row]`
(floats) over the units that each row draws. Its `width` is the number of values (of 32 bits or more) that a row needs
in memory; the tile size depends on it.

*Few columns* are added up as words are drawn. (A matrix product would need the weights of all units in memory; for one
pair of systems, this takes longer than the sums.) Several columns share a word. Each column has a field of bits that
its sum cannot exceed, so one addition serves all columns. Resamples are the last axis, so that operations are on long
vectors. Swap: whole numbers are split into binary digits; the sum of a digit over the units in a mask is the number of
bits that mask and digit share. Bootstrap: the statistics of each drawn unit are looked up.

*Many columns* are multiplied by the weights in one matrix product: in floating point, or as bytes whose products are
added up in 32-bit integers.

*Several outputs (runs) per system and unit.* `crossed` gives each of two systems a random half of all their outputs of
a unit; `choice` chooses units likewise. `nested_draws` draw units with replacement, then outputs of each drawn unit
with replacement. Words belong to units and runs, so padding changes nothing. For a mean over n units with R outputs
each, nested draws have the variance between unit means over n, plus the mean variance within units over n R. Unit means
already vary with their outputs, so draws of whole units have both parts of the variance. Nested draws add the second
term once more, which is on the safe side. References: Davison and Hinkley (1997), "Bootstrap methods and their
application", section 3.8; for runs that affect all units alike, Owen (2007), "The pigeonhole bootstrap".
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.draws import (
    Draws,
    by_word,
    lane_pair,
    lane_words,
    padded_draws,
    padded_units,
    scaled,
    swap,
    words,
    words_by_lane,
)
from sigjax.run import loops

MOST_WORDS = 2
"""Most words for sums of few columns. Each word draws all random numbers; with more, a product is faster (measured)."""
_WIDTH = 32
"""Width of a row without weights, chosen so that vectors of some thousand rows stay in the cache."""
_UNROLLED = 8
"""Lanes per step of a loop; with fewer lanes, the overhead of a step would dominate."""


class Fields(NamedTuple):
    """The place of each column's sum in words of 32 or 64 bits. `shift` and `mask` have the type of the words."""

    word: np.ndarray
    """[column] int32: the index of its word."""
    shift: np.ndarray
    """[column]: the lowest bit of its field."""
    mask: np.ndarray
    """[column]: a number with as many 1 bits as the field has bits."""
    offset: np.ndarray
    """[column] float64: the sum that the value 0 in the field stands for."""

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
    """Fields for columns whose sums lie between these whole numbers `[column]`; None if too many words are needed.

    >>> make_fields(np.array([-500, 0, 7]), np.array([500, 2**40, 7])).word.tolist()
    [0, 0, 0]
    """
    needed = [int(high - low).bit_length() for low, high in zip(lowest, highest, strict=True)]
    dtype, length = (np.uint32, 32) if sum(needed) <= 32 else (np.uint64, 64)
    if max(needed) > length:
        return None
    used: list[int] = []
    words, shifts, masks = np.zeros(len(needed), np.int32), np.zeros(len(needed), dtype), np.zeros(len(needed), dtype)
    for column, width in enumerate(needed):
        word = next((i for i, taken in enumerate(used) if taken + width <= length), len(used))
        used += [0] * (word == len(used))
        # A shift by the full length of a word is undefined, so the shift is limited.
        words[column], shifts[column], masks[column] = word, min(used[word], length - 1), 2**width - 1
        used[word] += width
    return None if len(used) > MOST_WORDS else Fields(words, shifts, masks, lowest.astype(np.float64))


class FusedSwap(NamedTuple):
    """Sums over swapped units, for few columns, computed by binary digits."""

    digits: np.ndarray
    """[step, lane, digit] uint64: bits of the units that have the digit; a lane holds two words of 32 bits."""
    worth: np.ndarray
    """[word, digit] uint32 or uint64: the number that a unit with this digit adds to the word, in two's complement."""
    starts: np.ndarray
    """[word]: the packed fields of sums over no units."""
    num_steps: np.ndarray
    """[] int32: the number of steps; later steps are padding."""
    fields: Fields

    width = _WIDTH

    def sums(self, rows: Array) -> Array:
        """Sums of the units that the mask of each row marks."""

        def add(total: Array, word: int, lane: Array, digits: Array) -> Array:
            drawn = lane_words(rows, lane)
            for digit, worth in zip(digits, self.worth[word], strict=True):
                total = total + loops.popcount(drawn & digit).astype(worth.dtype) * worth
            return total

        return self.fields.sums(_sum_over_lanes(add, rows, self.starts, self.num_steps, self.digits))


class FusedDraws(NamedTuple):
    """Sums over drawn units (bootstrap), for few columns: the statistics of each drawn unit are looked up."""

    tables: np.ndarray
    """[word, unit] uint32 or uint64; zeros for padding, up to the number of padded draws."""
    draws: np.ndarray
    """[step, lane, half, 2] uint64: for each draw, the first unit and the size of its stratum."""
    num_steps: np.ndarray
    fields: Fields

    width = _WIDTH

    def sums(self, rows: Array) -> Array:
        """Sums of the units that each row draws."""

        def add(total: Array, word: int, lane: Array, draws: Array) -> Array:
            for drawn, (start, size) in zip(lane_pair(rows, lane), draws, strict=True):
                total = total + loops.look_up(self.tables[word], scaled(drawn, size) + start)
            return total

        return self.fields.sums(_sum_over_lanes(add, rows, self.tables[:, -1], self.num_steps, self.draws))


def fused_swap(columns: np.ndarray, *, compiled: bool = True) -> FusedSwap | None:
    """The projection of columns `[column, unit]` (int64); None if too many words are needed (NumPy: over 1)."""
    lowest, highest = np.minimum(columns, 0).sum(axis=1), np.maximum(columns, 0).sum(axis=1)
    fields = make_fields(lowest, highest)
    if fields is None or not (compiled or fields.word.max() == 0):
        return None
    digits, worth = list[np.ndarray](), list[np.ndarray]()
    for index, column in enumerate(columns):
        # The last digit is the sign, which has a negative worth.
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
    """The projection of columns `[column, unit]` (int64); None if they need too many words."""
    num_units, least = columns.shape[1], columns.min(axis=1)
    fields = make_fields(num_units * least, num_units * columns.max(axis=1))
    if fields is None:
        return None
    values = columns - least[:, None]
    padding = np.array([num_units, 0], np.uint64)
    ranges = np.stack([draws.start.astype(np.uint64), draws.size.astype(np.uint64)], axis=1)
    lanes = by_word(ranges, padding, lanes=-(-num_units // 2)).swapaxes(0, 1)
    steps, number = _in_steps(lanes, padding)
    table = 2 * math.prod(steps.shape[:2]) + 1
    return FusedDraws(fields.pack(np.pad(values, [(0, 0), (0, table - num_units)])), steps, number, fields)


def _in_steps(lanes: np.ndarray, padding: Any) -> tuple[np.ndarray, np.ndarray]:
    """Values `[lane, ...]` as `[step, lane, ...]`, and how many steps `[]` (int32) are not padding.

    The number of steps is a power of two, so that few programs are compiled.
    """
    count = -(-len(lanes) // _UNROLLED)
    padded = np.empty((2 ** (count - 1).bit_length() * _UNROLLED, *lanes.shape[1:]), lanes.dtype)
    padded[: len(lanes)], padded[len(lanes) :] = lanes, padding
    return padded.reshape(-1, _UNROLLED, *lanes.shape[1:]), np.array(count, np.int32)


def _bits_of_lanes(marked: np.ndarray) -> np.ndarray:
    """Marks of units `[unit]` (0 or 1) as bits of lanes `[lane]` uint64, in the order of `swap`."""
    width = padded_units(len(marked))
    bits = np.zeros(width, np.uint32)
    bits[: len(marked)] = marked
    words = (bits.reshape(32, -1) << np.arange(32, dtype=np.uint32)[:, None]).sum(axis=0).astype(np.uint64)
    first, second = words.reshape(2, -1)
    return first | second << np.uint64(32)


def _sum_over_lanes(add: Callable[..., Array], rows: Array, starts: Array, num_steps: Array, data: Array) -> Array:
    """Words `[word, row]`: `add(total [row], word, lane, data of the lane)` over the lanes of all steps."""
    loops.expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    first = tuple(xp.broadcast_to(start, (len(rows),)) for start in starts)

    def step(index: Array, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        of_step = data[index]
        for i in range(_UNROLLED):
            lane = xp.asarray(index * _UNROLLED + i, dtype=xp.uint32)
            totals = tuple(add(total, word, lane, of_step[i]) for word, total in enumerate(totals))
        return totals

    return xp.stack(loops.repeat(step, num_steps, first))


_LAST_SUM = 2**31
_LAST_WHOLE = 2**24
"""Largest bound on sums in float32, which holds all whole numbers up to this number."""
_COLUMN_MULTIPLE = 4
"""Columns are padded with zeros to a multiple of this number. XLA on CPU is ten times slower for 1 to 3 columns."""
Draw = Callable[[Array], Array]
"""Rows `[row, 3]` -> the indices that each row draws, `[row, draw]` (int32)."""


class Floats(NamedTuple):
    """Columns of whole numbers in a floating-point type in which their sums are exact."""

    matrix: np.ndarray
    """[padded unit, column] float32 or float64, zeros for padding."""

    @property
    def dtype(self) -> np.dtype:
        """The type of weights."""
        return self.matrix.dtype

    @property
    def num_columns(self) -> int:
        """The number of columns, padding included."""
        return self.matrix.shape[1]

    @property
    def width(self) -> int:
        """Number of values (of 32 bits or more) that the weights of a row need in memory."""
        return len(self.matrix)

    def sums(self, weights: Array) -> Array:
        """Sums `[column, row]` from weights `[row, padded unit]`, of the matrix's type."""
        return loops.product(weights, self.matrix)

    def drawn(self, draw: Draw, rows: Array) -> Array:
        """The sums `[column, row]` of the draws of each row."""
        return self.sums(loops.counts(draw, rows, len(self.matrix), self.dtype))


class ByteColumns(NamedTuple):
    """Columns of whole numbers as bytes, for products that are added up in 32-bit integers."""

    matrix: np.ndarray
    """[digit and column, padded unit] int8: digits of base 256, from -128 to 127; first the lowest digits of all
    columns. Padding is 0. In a product, the matrix is on the left of the weights. So each column's sums are contiguous,
    which is fastest in XLA on CPU (measured)."""
    worth: np.ndarray
    """[digit] int64: powers of 256."""
    totals: np.ndarray
    """[column] int64: the sum over all units."""

    @property
    def dtype(self) -> np.dtype:
        """The type of weights."""
        return self.matrix.dtype

    @property
    def num_columns(self) -> int:
        """The number of columns, padding included."""
        return len(self.totals)

    @property
    def width(self) -> int:
        """Number of 32-bit values that the weights of a row need in memory."""
        return self.matrix.shape[1] // 4

    def sums(self, weights: Array) -> Array:
        """Sums `[column, row]` from weights `[row, padded unit]` int8: int32 for columns of one digit, else int64."""
        sums = loops.byte_product(self.matrix, weights)
        if len(self.worth) == 1:
            return sums
        of_digits = sums.reshape(len(self.worth), -1, len(weights)).astype(np.int64)
        return (of_digits * self.worth[:, None, None]).sum(axis=0)

    def drawn(self, draw: Draw, rows: Array) -> Array:
        """The sums `[column, row]` (float64) of the draws of each row."""
        sums = self.sums(loops.byte_counts(draw(rows), self.matrix.shape[1])).astype(np.int64)
        return (sums - loops.ZERO_COUNT * self.totals[:, None]).astype(np.float64)


def bytes_of(columns: np.ndarray, most: int, *, largest: int, padded: int) -> ByteColumns | None:
    """Columns `[column, unit]` (int64) as bytes, at most `most` per column, for `padded` weights of at most `largest`.

    None if a column needs more bytes, or if sums may exceed 32 bits.

    >>> bytes_of(np.array([[1, 300], [-2, 128]]), 2, largest=1, padded=64).matrix[[0, 1, 4, 5], :2].tolist()
    [[1, 44], [-2, -128], [0, 1], [0, 1]]
    """
    digits, rest = list[np.ndarray](), columns
    while np.any(rest) or not digits:
        digits.append((rest + 128) % 256 - 128)
        rest = (rest - digits[-1]) // 256
        if len(digits) > most or largest * np.abs(digits[-1]).sum(axis=1).max() >= _LAST_SUM:
            return None
    matrix = np.concatenate([_padded(digit, np.int8, padded) for digit in digits])
    totals = np.zeros(len(matrix) // len(digits), np.int64)
    totals[: len(columns)] = columns.sum(axis=1)
    return ByteColumns(matrix, 256 ** np.arange(len(digits)), totals)


def floats_of(columns: np.ndarray, bound: int, padded: int) -> Floats:
    """Columns `[column, unit]` (int64) as floats, for weights of width `padded` and sums up to `bound`."""
    return Floats(np.ascontiguousarray(_padded(columns, np.float32 if bound < _LAST_WHOLE else np.float64, padded).T))


def _padded(columns: np.ndarray, dtype: Any, padded: int) -> np.ndarray:
    count, num_units = columns.shape
    matrix = np.zeros((-(-count // _COLUMN_MULTIPLE) * _COLUMN_MULTIPLE, padded), dtype)
    matrix[:count, :num_units] = columns
    return matrix


_UNROLLED_OUTPUTS = 16
"""Choices of outputs per step of a loop on a GPU."""


class NestedDraws(NamedTuple):
    """Units and their outputs, for nested draws."""

    draws: Draws
    first: np.ndarray
    """[unit] uint64: its first output; for padding units, the first padding output."""
    sizes: np.ndarray
    """[unit] uint64: its number of outputs."""
    slots: np.ndarray
    """[slot] uint64: 0, 1, ...: numbers of the outputs within a unit, as many as the largest unit has outputs."""

    @property
    def lanes(self) -> int:
        """Number of pairs of words per drawn unit: one word chooses the unit, and each other word an output."""
        return len(self.slots) // 2 + 1

    @property
    def num_words(self) -> int:
        """The number of random words of a row."""
        return 2 * self.lanes * len(self.draws.size)

    def drawn(self, rows: Array) -> Array:
        """The output of each draw, `[row, draw]` int32; a drawn unit has as many draws as the largest unit has outputs.

        Padding draws choose the first padding output. Whatever the sizes, an output is drawn 256 times with a chance
        below 1e-155, by Chernoff's bound exp(e^(u - 1) - 1 - 256 log u), with u = 4.95.
        """
        xp, draws, lanes = rows.__array_namespace__(), self.draws, self.lanes
        random = words(rows, 2 * len(draws.size) * lanes).reshape(len(rows), 2, len(draws.size), lanes)
        random = xp.transpose(random, (0, 2, 1, 3)).reshape(len(rows), len(draws.size), 2 * lanes)
        unit = (scaled(random[..., 0], draws.size) + draws.start.astype(np.uint64)).astype(xp.int32)
        sizes = self.sizes[unit][..., None]
        chosen = self.first[unit][..., None] + scaled(random[..., 1 : 1 + len(self.slots)], sizes)
        chosen = xp.where(self.slots < sizes, chosen, self.first[-1])
        return chosen.reshape(len(rows), -1).astype(xp.int32)


def outputs_left(sizes: np.ndarray, num_units: int) -> np.ndarray:
    """The number of outputs of each unit that are left at each slot, `[slot, unit]` uint64; padded to `num_units`.

    >>> outputs_left(np.array([2, 1]), 3)
    array([[2, 1, 0],
           [1, 0, 0]], dtype=uint64)
    """
    left = np.zeros((int(sizes.max()), num_units), np.int64)
    left[:, : len(sizes)] = np.maximum(sizes - np.arange(len(left))[:, None], 0)
    return left.astype(np.uint64)


def nested_draws(draws: Draws, sizes: np.ndarray, num_units: int) -> NestedDraws:
    """`draws` of units with `sizes` `[unit]` outputs, padded to `num_units` draws and units."""
    more = num_units - len(sizes)
    start, first = np.pad(draws.start, (0, more), constant_values=len(sizes)), np.cumsum(sizes) - sizes
    return NestedDraws(
        Draws(start, np.pad(draws.size, (0, more))),
        np.pad(first, (0, more + 1), constant_values=sizes.sum()).astype(np.uint64),
        np.pad(sizes, (0, more + 1)).astype(np.uint64),
        np.arange(sizes.max(), dtype=np.uint64),
    )


def crossed(rows: Array, left: Array) -> tuple[Array, Array]:
    """Masks `[slot, row, unit]` (bool): the outputs that leave a pair's first system; the outputs that replace them.

    The two systems have 2 R outputs for a unit. A random set of R of them becomes the second system's; all sets have
    the same probability, up to 2**-32. The outputs are visited in order, and each joins the set with probability (still
    needed) / (left), computed in whole numbers. The second system's outputs outside of the set become the first
    system's outputs. `rows` are `[row, 3]`, see `bits`; `left` `[slot, unit]` is the result of `outputs_left`.
    """
    loops.expect(rows, (None, 3), np.uint32)
    loops.expect(left, (None, None), np.uint64)
    xp = rows.__array_namespace__()
    num_slots, num_units = left.shape
    random = words(rows, 2 * left.size).reshape(len(rows), 2, num_units, num_slots)
    random = xp.transpose(random, (1, 3, 0, 2))
    sizes = left[0] + xp.zeros_like(random[0, 0], dtype=xp.uint64)
    still, goes = _choose(sizes, random[0], xp.where(left > 0, left + left[0], left))
    _, comes = _choose(sizes - still, random[1], left)
    return goes, comes


class Choice(NamedTuple):
    """A random choice of units, which visits one unit after another, as `crossed` does with outputs."""

    size: np.ndarray
    """[] uint64: the number of units to choose."""
    left: np.ndarray
    """[word of a lane, lane] uint64: how many units are left to choose from; 0 for padding."""
    values: np.ndarray
    """[word of a lane, lane, column] float64: the statistics of the unit."""

    @property
    def width(self) -> int:
        """An eighth of the number of words, because units are visited one after another, for many rows at a time."""
        return -(-self.left.size // 8)

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` of the values that each row `[row, 3]` chooses."""
        loops.expect(rows, (None, 3), np.uint32)
        xp = rows.__array_namespace__()
        carry = xp.full(len(rows), self.size), xp.zeros((self.values.shape[2], len(rows)))

        def step(carry: tuple[Array, Array], of_unit: tuple[Array, Array, Array]) -> tuple[tuple[Array, Array], Any]:
            (needed, sums), (word, left, values) = carry, of_unit
            chosen = _is_next_needed(word, left, needed)
            return (needed - chosen.astype(xp.uint64), sums + chosen.astype(xp.float64) * values[:, None]), ()

        for items in zip(words_by_lane(rows, self.left.shape[1]), self.left, self.values, strict=True):
            carry, _ = loops.scan(step, carry, items, unroll=_UNROLLED_OUTPUTS)
        return carry[1]


def choice(size: int, values: np.ndarray) -> Choice:
    """A choice of `size` units with `values` `[unit, column]`.

    >>> from sigjax.resample.draws import row_keys
    >>> choice(2, np.ones((5, 1))).sums(row_keys(0, np.arange(3)))
    array([[2., 2., 2.]])
    """
    lanes = -(-len(values) // (2 * _UNROLLED_OUTPUTS)) * _UNROLLED_OUTPUTS
    left = by_word(np.arange(len(values), 0, -1, dtype=np.uint64), 0, lanes)
    return Choice(np.array(size, np.uint64), left, by_word(values.astype(np.float64), 0.0, lanes))


def _choose(needed: Array, random: Array, pool: Array) -> tuple[Array, Array]:
    """Sequential selection: how many are still `needed` `[row, unit]` at the end, and masks `[slot, row, unit]`.

    `pool` `[slot, unit]` is the number of items left to choose from; `random` `[slot, row, unit]` are random words.
    """

    def step(needed: Array, of_slot: tuple[Array, Array]) -> tuple[Array, Array]:
        word, size = of_slot
        chosen = _is_next_needed(word, size, needed)
        return needed - chosen.astype(np.uint64), chosen

    return loops.scan(step, needed, (random, pool), unroll=_UNROLLED_OUTPUTS)


def _is_next_needed(word: Array, left: Array, needed: Array) -> Array:
    """Whether the next item is chosen, if `needed` of the `left` items must still be chosen."""
    return (scaled(word, left) < needed) & (left > 0)


Matrix = Floats | ByteColumns


class ColumnIndices(NamedTuple):
    """The column of each statistic of each system."""

    column: np.ndarray
    """[system, stat] int32: the index of the column."""
    offset: np.ndarray
    """[system, stat] float64: added to the column's sum."""

    @classmethod
    def of(cls, column: np.ndarray) -> "ColumnIndices":
        """Columns `[system, stat]` without offsets."""
        return cls(column, np.zeros(column.shape))


class SwapProduct(NamedTuple):
    """Sums over swapped units, computed by a matrix product."""

    draws: Draws
    matrix: Matrix

    @property
    def width(self) -> int:
        """The width of its masks."""
        return self.matrix.width

    def sums(self, rows: Array) -> Array:
        """Sums (float64) of the units that the mask of each row marks."""
        return self.matrix.sums(swap(rows, self.draws, self.matrix.dtype)).astype(np.float64)


class DrawsProduct(NamedTuple):
    """Bootstrap sums by a matrix product: sums over drawn units, or over outputs drawn within drawn units."""

    draws: Draws | NestedDraws
    matrix: Matrix

    @property
    def width(self) -> int:
        """The width of its random words or of its counts, whichever is larger."""
        return max(self.draws.num_words, self.matrix.width)

    def sums(self, rows: Array) -> Array:
        """The sums of the draws of each row."""
        return self.matrix.drawn(self.draws.drawn, rows)


class CrossedProduct(NamedTuple):
    """Sums of outputs exchanged within units, by a matrix product."""

    left: np.ndarray
    """[slot, unit], see `outputs_left`."""
    matrix: Matrix
    """The statistics of slots and units."""

    @property
    def width(self) -> int:
        """The number of random words of a row."""
        return 2 * self.left.size

    def sums(self, rows: Array) -> Array:
        """Sums `[2 * padded column, row]` float64, over the outputs that leave, then over their replacements."""
        xp = rows.__array_namespace__()
        masks = (xp.moveaxis(mask, 1, 0).reshape(len(rows), -1) for mask in crossed(rows, self.left))
        return xp.concatenate([self.matrix.sums(mask.astype(self.matrix.dtype)) for mask in masks]).astype(np.float64)


Projection = FusedSwap | FusedDraws | SwapProduct | DrawsProduct | CrossedProduct | Choice


def distinct_columns(values: np.ndarray) -> tuple[np.ndarray, ColumnIndices]:
    """Distinct columns `[column, unit]` of statistics `[system, unit, stat]` (int64), and the columns of each system.

    Equal columns (gold sizes, equal systems) are kept once.
    """
    seen: dict[bytes, int] = {}
    indices = np.empty((len(values), values.shape[2]), np.int32)
    kept: list[np.ndarray] = []
    for system, stat in np.ndindex(*indices.shape):
        column = np.ascontiguousarray(values[system, :, stat])
        indices[system, stat] = index = seen.setdefault(column.tobytes(), len(kept))
        if index == len(kept):
            kept.append(column)
    return np.stack(kept), ColumnIndices.of(indices)


def drawn_columns(values: np.ndarray) -> tuple[np.ndarray, ColumnIndices]:
    """Distinct columns `[column, unit]` if the number of draws is known: up to a constant, columns count as equal.

    For example, if no text is shorter than the n-gram orders, the n-gram totals of all orders need only one column.

    >>> columns, indices = drawn_columns(np.array([[[3, 2], [5, 4]], [[1, 0], [7, 6]]]))
    >>> columns.tolist(), indices.column.tolist(), indices.offset.tolist()
    ([[0, 2], [0, 6]], [[0, 0], [1, 1]], [[6.0, 4.0], [2.0, 0.0]])
    """
    least = values.min(axis=1)
    columns, indices = distinct_columns(values - least[:, None])
    return columns, ColumnIndices(indices.column, least.astype(np.float64) * values.shape[1])


def swap_projection(
    columns: np.ndarray, draws: Draws, *, compiled: bool, most_bytes: int = 0
) -> FusedSwap | SwapProduct:
    """The fastest swap projection of columns `[column, unit]` (int64), in NumPy or `compiled`."""
    if (fused := fused_swap(columns, compiled=compiled)) is not None:
        return fused
    return SwapProduct(padded_draws(draws), _mask_matrix(columns, most_bytes, padded_units(columns.shape[1])))


def draws_projection(
    columns: np.ndarray, draws: Draws, *, compiled: bool, most_bytes: int = 0
) -> FusedDraws | DrawsProduct:
    """The fastest bootstrap projection of columns `[column, unit]` (int64), in NumPy or `compiled`.

    In NumPy, fused sums would write and read memory for every step of every word, so counting is faster (measured).
    """
    if compiled and (fused := fused_draws(columns, draws)) is not None:
        return fused
    count = columns.shape[1]
    matrix = _count_matrix(columns, most_bytes, padded_units(count), most=count)
    return DrawsProduct(padded_draws(draws) if compiled else draws, matrix)


def crossed_projection(
    columns: np.ndarray, sizes: np.ndarray, *, compiled: bool, most_bytes: int = 0
) -> CrossedProduct:
    """Exchanges of columns `[column, output]` (int64) within units with `sizes` `[unit]` outputs."""
    count = len(sizes)
    left = outputs_left(sizes, padded_units(count) if compiled else count)
    grid = np.zeros((len(columns), *left.shape), np.int64)
    grid.swapaxes(1, 2)[:, left.T > 0] = columns  # outputs are ordered by unit
    return CrossedProduct(left, _mask_matrix(grid.reshape(len(columns), -1), most_bytes, left.size))


def nested_projection(
    columns: np.ndarray, draws: Draws, sizes: np.ndarray, *, compiled: bool, most_bytes: int = 0
) -> DrawsProduct:
    """Nested draws of columns `[column, output]` (int64) of units with `sizes` `[unit]` outputs."""
    count, most = len(sizes), len(sizes) * int(sizes.max())
    drawn = nested_draws(draws, sizes, padded_units(count) if compiled else count)
    width = padded_units(len(drawn.draws.size) * len(drawn.slots) + 1)  # with at least one padding output
    return DrawsProduct(drawn, _count_matrix(columns, most_bytes, width, most=most))


def _mask_matrix(columns: np.ndarray, most_bytes: int, padded: int) -> Matrix:
    """The matrix for products with masks of width `padded`."""
    in_bytes = bytes_of(columns, most_bytes, largest=1, padded=padded)
    return in_bytes or floats_of(columns, int(np.abs(columns).sum(axis=1).max()), padded)


def _count_matrix(columns: np.ndarray, most_bytes: int, padded: int, *, most: int) -> Matrix:
    """The matrix for products with counts of width `padded`; the counts of a row add up to `most`."""
    in_bytes = bytes_of(columns, most_bytes, largest=-loops.ZERO_COUNT, padded=padded)
    return in_bytes or floats_of(columns, most * int(np.abs(columns).max()), padded)
