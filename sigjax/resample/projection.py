"""Projections: the weights of resamples, multiplied by the statistics of all systems, without rounding errors.

Statistics are whole numbers (see `units`). The type of the sums is chosen so that it holds all these whole numbers.
Then sums are exact in any order. A column is one statistic of one system, with a number for each unit. A row is one
resample. The method `sums` of a `Projection` takes `rows` `[row, 3]`: the three numbers per row from which its random
words are made (see `draws.rows_of`). It returns the sums `[column, row]` (floats) over the units that each row draws or
swaps. Its `width` is the number of values (of 32 bits or more) that a row needs in memory. The tile size depends on the
width.

*Few columns* are added up while random words are drawn. (A matrix product would need the weights of all units in
memory. For one pair of systems, writing and reading them takes longer than the sums.) The sums of several columns are
stored in one word. Each column has a field of bits in the word. The field is so wide that the sum fits into it, so one
addition adds up all columns. The last axis of arrays is the row, so that operations are on long vectors. For swaps,
whole numbers are split into binary digits. For each digit, the units with a 1 at this digit form a set of bits. The sum
of the digit over the swapped units is the number of bits that this set and the mask have in common. For the bootstrap,
the statistics of each drawn unit are looked up in a table.

*Many columns* are multiplied by the weights in one matrix product. It is computed in floating point, or with bytes
whose products are added up in 32-bit integers.

*Several outputs (runs) per system and unit.* For a pair of systems, `crossed` gives each system a random half of all
outputs of both systems for a unit. `choice` chooses a random set of units in the same way. `nested_draws` draws units
with replacement, then outputs of each drawn unit with replacement. Each random word belongs to a unit and a run, so
padding does not change any draw.

For a mean over n units with R outputs each, the variance under nested draws is the variance between unit means divided
by n, plus the mean variance within units divided by n R. The variance between unit means already contains the variance
of their outputs, so draws of whole units would suffice. Nested draws add the second term once more, so they
overestimate the variance (which is on the safe side). References: Davison and Hinkley (1997), "Bootstrap methods and
their application", section 3.8; for runs that affect all units alike, Owen (2007), "The pigeonhole bootstrap".
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
"""Columns (statistics of systems) count as few if their sums fit into at most this many words of 32 or 64 bits. For
each word, all random numbers are drawn again. With more words, a matrix product is faster (measured)."""
_WIDTH = 32
"""The `width` (number of values in memory per resample) of projections that keep no weights in memory. With this
number, a tile (resamples that are computed together) has a few thousand resamples, so that its arrays stay in the
cache."""
_UNROLLED = 8
"""Number of lanes (two random words each) per step of a loop. With fewer lanes, the overhead of a step would take most
of the time."""


class Fields(NamedTuple):
    """For each column (one statistic of one system), the field of bits in a word of 32 or 64 bits that holds its sum.

    `shift` and `mask` have the type of the words.
    """

    word: np.ndarray
    """[column] int32: the index of the word that contains the column's bit field."""
    shift: np.ndarray
    """[column]: the position, in its word, of the lowest bit of the column's bit field, counted from 0."""
    mask: np.ndarray
    """[column]: a mask that selects the column's bit field after the word was shifted by `shift`. Its lowest bits are
    1, one for each bit of the field."""
    offset: np.ndarray
    """[column] float64: the lowest possible sum. The column's bit field contains the sum minus this number."""

    def pack(self, values: np.ndarray) -> np.ndarray:
        """Return words `[word, ...]` that contain whole numbers `[column, ...]` (int64) in their fields.

        Negative numbers are in two's complement.
        """
        words = np.zeros((int(self.word.max()) + 1, *values.shape[1:]), self.mask.dtype)
        for word, shift, column in zip(self.word, self.shift, values, strict=True):
            words[word] += column.astype(self.mask.dtype) << shift
        return words

    def sums(self, words: Array) -> Array:
        """Return the sums `[column, row]` (float64) that the words `[word, row]` contain."""
        xp = words.__array_namespace__()
        fields = (words[self.word] >> self.shift[:, None]) & self.mask[:, None]
        return fields.astype(xp.float64) + self.offset[:, None]


def make_fields(lowest: np.ndarray, highest: np.ndarray) -> Fields | None:
    """Make fields for columns with sums from `lowest` to `highest` `[column]`.

    Returns None if a sum does not fit into a word of 64 bits, or if more than `MOST_WORDS` words are needed.

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
        # Limit the shift, because a shift by the full length of a word is undefined.
        words[column], shifts[column], masks[column] = word, min(used[word], length - 1), 2**width - 1
        used[word] += width
    return None if len(used) > MOST_WORDS else Fields(words, shifts, masks, lowest.astype(np.float64))


class FusedSwap(NamedTuple):
    """Sums over swapped units, for few columns (statistics of systems), computed from binary digits.

    The numbers of each column are split into binary digits. The axis `digit` of the fields below contains every binary
    digit of every column.
    """

    digits: np.ndarray
    """[step, lane, digit] uint64: for one binary digit of one column, a bit for each of 64 units. The bit is 1 if the
    unit's number in this column has a 1 at this digit. A step is `_UNROLLED` lanes. A lane uses two random words, with
    a bit for each of its units, which says whether the unit is swapped."""
    worth: np.ndarray
    """[word, digit] uint32 or uint64: the value of the binary digit (a power of two, negative for the sign), shifted to
    its column's bit field in the word. It is added to the word for each swapped unit with a 1 at this digit."""
    starts: np.ndarray
    """[word]: the value of each word before any unit is added: the bit field of a column then contains 0 minus the
    column's lowest possible sum."""
    num_steps: np.ndarray
    """[] int32: the number of steps (of `_UNROLLED` lanes) that contain units. Later steps are only padding."""
    fields: Fields

    width = _WIDTH

    def sums(self, rows: Array) -> Array:
        """Return the sums `[column, row]` over the swapped units of each resample in `rows` `[row, 3]`."""

        def add(total: Array, word: int, lane: Array, digits: Array) -> Array:
            drawn = lane_words(rows, lane)
            for digit, worth in zip(digits, self.worth[word], strict=True):
                total = total + loops.popcount(drawn & digit).astype(worth.dtype) * worth
            return total

        return self.fields.sums(_sum_over_lanes(add, rows, self.starts, self.num_steps, self.digits))


class FusedDraws(NamedTuple):
    """Bootstrap sums (over drawn units), for few columns (statistics of systems), looked up in tables."""

    tables: np.ndarray
    """[word, unit] uint32 or uint64: the statistics of each unit, packed into words; zeros for units that are only
    padding."""
    draws: np.ndarray
    """[step, lane, word of a lane, 2] uint64: each random word draws one unit from a stratum. The two numbers are the
    index of the stratum's first unit, and its number of units. A lane is two random words, and a step is `_UNROLLED`
    lanes."""
    num_steps: np.ndarray
    fields: Fields

    width = _WIDTH

    def sums(self, rows: Array) -> Array:
        """Return the sums `[column, row]` over the drawn units of each resample in `rows` `[row, 3]`."""

        def add(total: Array, word: int, lane: Array, draws: Array) -> Array:
            for drawn, (start, size) in zip(lane_pair(rows, lane), draws, strict=True):
                total = total + loops.look_up(self.tables[word], scaled(drawn, size) + start)
            return total

        return self.fields.sums(_sum_over_lanes(add, rows, self.tables[:, -1], self.num_steps, self.draws))


def fused_swap(columns: np.ndarray, *, compiled: bool = True) -> FusedSwap | None:
    """Make a projection (sums over swapped units) of few columns `[column, unit]` (int64), computed from bits.

    Returns None if the sums need more than `MOST_WORDS` words of 64 bits, or more than one word in NumPy (not
    `compiled`).
    """
    lowest, highest = np.minimum(columns, 0).sum(axis=1), np.maximum(columns, 0).sum(axis=1)
    fields = make_fields(lowest, highest)
    if fields is None or not (compiled or fields.word.max() == 0):
        return None
    digits, worth = list[np.ndarray](), list[np.ndarray]()
    for index, column in enumerate(columns):
        # The last digit is the sign, so its value is negative (two's complement).
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
    """Make a projection (sums over drawn units) of few columns `[column, unit]` (int64), looked up in tables.

    Returns None if the sums need more than `MOST_WORDS` words of 64 bits.
    """
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
    """Divide values `[lane, ...]` into steps of `_UNROLLED` lanes (two random words each).

    Returns the values `[step, lane, ...]`, and the number of steps `[]` (int32) that are not only padding.

    With padding, the number of steps is a power of two, so that few programs are compiled.
    """
    count = -(-len(lanes) // _UNROLLED)
    padded = np.empty((2 ** (count - 1).bit_length() * _UNROLLED, *lanes.shape[1:]), lanes.dtype)
    padded[: len(lanes)], padded[len(lanes) :] = lanes, padding
    return padded.reshape(-1, _UNROLLED, *lanes.shape[1:]), np.array(count, np.int32)


def _bits_of_lanes(marked: np.ndarray) -> np.ndarray:
    """Pack marks of units `[unit]` (0 or 1) into bits of lanes `[lane]` uint64, in the same order as in `swap`.

    A lane is two random words, with a bit for each of 64 units.
    """
    width = padded_units(len(marked))
    bits = np.zeros(width, np.uint32)
    bits[: len(marked)] = marked
    words = (bits.reshape(32, -1) << np.arange(32, dtype=np.uint32)[:, None]).sum(axis=0).astype(np.uint64)
    first, second = words.reshape(2, -1)
    return first | second << np.uint64(32)


def _sum_over_lanes(add: Callable[..., Array], rows: Array, starts: Array, num_steps: Array, data: Array) -> Array:
    """Return the totals `[word, row]` after `add` was called for each lane (two random words) of all steps.

    `add(total [row], word, lane, data of the lane)` returns the new total of the word with the index `word`; `lane` is
    the index of the lane. The first totals are `starts` `[word]`. `data` are `[step, lane, ...]`.
    """
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
"""Sums are computed in float32 if they are below this number, because float32 holds all whole numbers up to it."""
_COLUMN_MULTIPLE = 4
"""Columns of zeros are appended until the number of columns is a multiple of this, because XLA on CPU is ten times
slower for 1 to 3 columns."""
Draw = Callable[[Array], Array]
"""Type of a function that draws units (or outputs). It takes three numbers for each resample, `[row, 3]` (see
`draws.rows_of`), and returns the indices of the drawn units (or outputs), `[row, draw]` (int32)."""


class Floats(NamedTuple):
    """Columns of whole numbers, for matrix products in a floating-point type in which their sums are exact."""

    matrix: np.ndarray
    """[padded unit, column] float32 or float64: the columns, with zeros for units that are only padding."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the weights by which the columns are multiplied."""
        return self.matrix.dtype

    @property
    def num_columns(self) -> int:
        """The number of columns (statistics of systems), padding included."""
        return self.matrix.shape[1]

    @property
    def width(self) -> int:
        """The number of values (of 32 bits or more) that the weights of a resample need in memory."""
        return len(self.matrix)

    def sums(self, weights: Array) -> Array:
        """Return sums `[column, row]` for the weights `[row, padded unit]` of each resample.

        Weights and sums have the type of the matrix.
        """
        return loops.product(weights, self.matrix)

    def drawn(self, draw: Draw, rows: Array) -> Array:
        """Return the sums `[column, row]` over the units that `draw` draws for each of `rows` (resamples)."""
        return self.sums(loops.count_draws(draw, rows, len(self.matrix), self.dtype))


class ByteColumns(NamedTuple):
    """Columns of whole numbers as bytes, for products that are added up in 32-bit integers."""

    matrix: np.ndarray
    """[digit and column, padded unit] int8: the numbers in base 256, with digits from -128 to 127. The lowest digits of
    all columns come first, then the next digits, and so on. Padding is 0. In a product, this matrix is on the left of
    the weights. Then the sums of each column are contiguous, which is fastest in XLA on CPU (measured)."""
    worth: np.ndarray
    """[digit] int64: the value of a 1 at each digit of a number in base 256: 1, 256, ...."""
    totals: np.ndarray
    """[column] int64: the sum of the column over all units."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the weights by which the columns are multiplied."""
        return self.matrix.dtype

    @property
    def num_columns(self) -> int:
        """The number of columns (statistics of systems), padding included."""
        return len(self.totals)

    @property
    def width(self) -> int:
        """The number of 32-bit values that the weights of a resample need in memory."""
        return self.matrix.shape[1] // 4

    def sums(self, weights: Array) -> Array:
        """Return sums `[column, row]` for the weights `[row, padded unit]` (int8) of each resample.

        The sums have the type int32 if each number of the columns is one byte, else int64.
        """
        sums = loops.byte_product(self.matrix, weights)
        if len(self.worth) == 1:
            return sums
        of_digits = sums.reshape(len(self.worth), -1, len(weights)).astype(np.int64)
        return (of_digits * self.worth[:, None, None]).sum(axis=0)

    def drawn(self, draw: Draw, rows: Array) -> Array:
        """Return the sums `[column, row]` (float64) over the units that `draw` draws for each of `rows` (resamples)."""
        sums = self.sums(loops.byte_counts(draw(rows), self.matrix.shape[1])).astype(np.int64)
        return (sums - loops.ZERO_COUNT * self.totals[:, None]).astype(np.float64)


def bytes_of(columns: np.ndarray, most: int, *, largest: int, padded: int) -> ByteColumns | None:
    """Convert columns `[column, unit]` (int64) to bytes, with at most `most` bytes per number.

    A resample has `padded` weights (padding included), each at most `largest`. Returns None if a column needs more
    bytes, or if a sum of its digits (bytes) times weights may not fit into a 32-bit integer.

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
    """Convert columns `[column, unit]` (int64) to floats, padded with zeros to `padded` units.

    The type is float32 if sums, which are at most `bound`, are exact in it, else float64.
    """
    return Floats(np.ascontiguousarray(_padded(columns, np.float32 if bound < _LAST_WHOLE else np.float64, padded).T))


def _padded(columns: np.ndarray, dtype: Any, padded: int) -> np.ndarray:
    count, num_units = columns.shape
    matrix = np.zeros((-(-count // _COLUMN_MULTIPLE) * _COLUMN_MULTIPLE, padded), dtype)
    matrix[:count, :num_units] = columns
    return matrix


_UNROLLED_OUTPUTS = 16
"""Number of outputs that are visited in one step of a loop on a GPU."""


class NestedDraws(NamedTuple):
    """Units and their outputs, for nested draws: units are drawn first, then outputs of each drawn unit."""

    draws: Draws
    first: np.ndarray
    """[unit] uint64: the index of the unit's first output. For units that are only padding, it is the index of the
    first output that is only padding."""
    sizes: np.ndarray
    """[unit] uint64: the number of outputs of the unit."""
    slots: np.ndarray
    """[slot] uint64: the numbers 0, 1, ... of the outputs of a unit. There are as many slots as the largest unit has
    outputs."""

    @property
    def lanes(self) -> int:
        """The number of lanes (two random words each) per drawn unit.

        Each drawn unit needs 1 + m words, where m is the number of outputs of the largest unit. The first word chooses
        the unit, and each of the other m words chooses one output of this unit. So there are (1 + m) / 2 lanes, rounded
        up.
        """
        return len(self.slots) // 2 + 1

    @property
    def num_words(self) -> int:
        """The number of random 32-bit integers (words) that a resample uses."""
        return 2 * self.lanes * len(self.draws.size)

    def drawn(self, rows: Array) -> Array:
        """Return the output that each draw chooses, `[row, draw]` int32, for the resamples `rows` `[row, 3]`.

        There are as many draws for each drawn unit as the largest unit has outputs. If the drawn unit has fewer
        outputs, the surplus draws choose the first output that is only padding. Counts fit into a byte: for all sizes
        of units, an output is drawn 256 times with a probability below 1e-155. (This is Chernoff's bound exp(e^(u - 1)
        - 1 - 256 log u) with u = 4.95.)
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
    """Return the number of outputs of each unit that are left before each visit, `[slot, unit]` uint64.

    The outputs of a unit are visited one after another; slot k is the visit of the k-th output of every unit. `sizes`
    `[unit]` are the numbers of outputs. Units are padded to `num_units` units.

    >>> outputs_left(np.array([2, 1]), 3)
    array([[2, 1, 0],
           [1, 0, 0]], dtype=uint64)
    """
    left = np.zeros((int(sizes.max()), num_units), np.int64)
    left[:, : len(sizes)] = np.maximum(sizes - np.arange(len(left))[:, None], 0)
    return left.astype(np.uint64)


def nested_draws(draws: Draws, sizes: np.ndarray, num_units: int) -> NestedDraws:
    """Make nested draws from `draws` of units with `sizes` `[unit]` outputs, padded to `num_units` draws and units."""
    more = num_units - len(sizes)
    start, first = np.pad(draws.start, (0, more), constant_values=len(sizes)), np.cumsum(sizes) - sizes
    return NestedDraws(
        Draws(start, np.pad(draws.size, (0, more))),
        np.pad(first, (0, more + 1), constant_values=sizes.sum()).astype(np.uint64),
        np.pad(sizes, (0, more + 1)).astype(np.uint64),
        np.arange(sizes.max(), dtype=np.uint64),
    )


def crossed(rows: Array, left: Array) -> tuple[Array, Array]:
    """Exchange outputs within units; return two masks `[slot, row, unit]` (bool).

    Slot k is the k-th output of each unit, and a row is a resample. The first mask marks the outputs that leave the
    first system of a pair. The second mask marks the outputs of the second system that replace them.

    The two systems have 2 R outputs for a unit. A random set of R outputs becomes the outputs of the second system; all
    sets have the same probability, up to 2**-32. The outputs are visited in order. Each output joins the set with the
    probability needed / left, computed with whole numbers: `needed` outputs are still missing in the set, and `left`
    outputs were not visited yet. The second system's outputs that are not in the set become outputs of the first
    system. `rows` `[row, 3]` are as in `draws.rows_of`; `left` `[slot, unit]` is the result of `outputs_left`.
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
    """A random choice of units without replacement. The units are visited one after another."""

    size: np.ndarray
    """[] uint64: the number of units to choose."""
    left: np.ndarray
    """[word of a lane, lane] uint64: each random word decides whether one unit is chosen. The number says how many
    units (this unit included) were not visited before; it is 0 for padding. A lane is two random words."""
    values: np.ndarray
    """[word of a lane, lane, column] float64: the statistics of the unit about which the random word decides."""

    @property
    def width(self) -> int:
        """The number of values in memory per resample, from which the number of resamples in a tile follows.

        It is an eighth of the number of random words. A resample does not need memory for all its random words at once,
        because units are visited one after another. With a smaller width, tiles have more resamples.
        """
        return -(-self.left.size // 8)

    def sums(self, rows: Array) -> Array:
        """Return, for each resample, the sum of each column over the chosen units, `[column, row]`.

        `rows` `[row, 3]` are three integers per resample, from which its random words come.
        """
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
    """Make a choice of `size` units; their statistics are `values` `[unit, column]`.

    >>> from sigjax.resample.draws import row_keys
    >>> choice(2, np.ones((5, 1))).sums(row_keys(0, np.arange(3)))
    array([[2., 2., 2.]])
    """
    lanes = -(-len(values) // (2 * _UNROLLED_OUTPUTS)) * _UNROLLED_OUTPUTS
    left = by_word(np.arange(len(values), 0, -1, dtype=np.uint64), 0, lanes)
    return Choice(np.array(size, np.uint64), left, by_word(values.astype(np.float64), 0.0, lanes))


def _choose(needed: Array, random: Array, pool: Array) -> tuple[Array, Array]:
    """Choose `needed` `[row, unit]` outputs of each unit at random, for each resample (row).

    The outputs of a unit are visited one after another, and each is chosen or not; slot k is the k-th output of every
    unit. `pool` `[slot, unit]` is how many outputs were not visited before this slot. `random` `[slot, row, unit]` are
    random words. Returns how many outputs are still needed at the end `[row, unit]`, and masks of the chosen outputs
    `[slot, row, unit]`.
    """

    def step(needed: Array, of_slot: tuple[Array, Array]) -> tuple[Array, Array]:
        word, size = of_slot
        chosen = _is_next_needed(word, size, needed)
        return needed - chosen.astype(np.uint64), chosen

    return loops.scan(step, needed, (random, pool), unroll=_UNROLLED_OUTPUTS)


def _is_next_needed(word: Array, left: Array, needed: Array) -> Array:
    """Whether the random `word` chooses the next unit or output; the probability is `needed` / `left`.

    `needed` units or outputs must still be chosen, and `left` units or outputs were not visited yet.
    """
    return (scaled(word, left) < needed) & (left > 0)


Matrix = Floats | ByteColumns


class ColumnIndices(NamedTuple):
    """For each statistic of each system, the column with its sum, and a constant to add to the column's sum."""

    column: np.ndarray
    """[system, stat] int32: the index of the column whose sum gives the sum of the statistic."""
    offset: np.ndarray
    """[system, stat] float64: the constant that is added to the column's sum to give the sum of the statistic."""

    @classmethod
    def of(cls, column: np.ndarray) -> "ColumnIndices":
        """Make `ColumnIndices` from the indices of columns `[system, stat]`, with 0 as all constants to add."""
        return cls(column, np.zeros(column.shape))


class SwapProduct(NamedTuple):
    """Sums over swapped units, computed by a matrix product."""

    draws: Draws
    matrix: Matrix

    @property
    def width(self) -> int:
        """The number of values that the mask of a resample needs in memory."""
        return self.matrix.width

    def sums(self, rows: Array) -> Array:
        """Return the sums `[column, row]` (float64) over the swapped units of each resample in `rows` `[row, 3]`."""
        return self.matrix.sums(swap(rows, self.draws, self.matrix.dtype)).astype(np.float64)


class DrawsProduct(NamedTuple):
    """Bootstrap sums, computed by a matrix product: over drawn units, or over outputs drawn within drawn units."""

    draws: Draws | NestedDraws
    matrix: Matrix

    @property
    def width(self) -> int:
        """The number of values in memory per resample: its random words or its counts, whichever are more.

        A random word is a random 32-bit integer. A count says how often a unit or output is drawn.
        """
        return max(self.draws.num_words, self.matrix.width)

    def sums(self, rows: Array) -> Array:
        """Return the sums `[column, row]` (float64) over the draws of each resample in `rows` `[row, 3]`."""
        return self.matrix.drawn(self.draws.drawn, rows)


class CrossedProduct(NamedTuple):
    """Sums over outputs that are exchanged within units, computed by a matrix product."""

    left: np.ndarray
    """[slot, unit]: how many outputs of the unit were not visited before its k-th output, for slot k (`outputs_left`).
    The outputs are visited one after another, to choose those that are exchanged."""
    matrix: Matrix
    """The statistics of all outputs. Its axis of outputs contains the first output of every unit, then the second
    output of every unit, and so on."""

    @property
    def width(self) -> int:
        """The number of random 32-bit integers (words) that a resample uses."""
        return 2 * self.left.size

    def sums(self, rows: Array) -> Array:
        """Return sums `[2 * padded column, row]` (float64) for each resample.

        A resample swaps some outputs of the first system with outputs of the second system. The first half of the sums
        is over the outputs that move from the first system to the second, the other half over the outputs that move to
        the first. `rows` `[row, 3]` are three integers per resample, from which its random words come.
        """
        xp = rows.__array_namespace__()
        masks = (xp.moveaxis(mask, 1, 0).reshape(len(rows), -1) for mask in crossed(rows, self.left))
        return xp.concatenate([self.matrix.sums(mask.astype(self.matrix.dtype)) for mask in masks]).astype(np.float64)


Projection = FusedSwap | FusedDraws | SwapProduct | DrawsProduct | CrossedProduct | Choice


def distinct_columns(values: np.ndarray) -> tuple[np.ndarray, ColumnIndices]:
    """Return the distinct columns `[column, unit]` of statistics `[system, unit, stat]` (int64), and their indices.

    A column is one statistic of one system. If columns are equal (gold sizes, equal systems), only one is kept.
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
    """Return distinct columns `[column, unit]` for bootstrap draws, and their indices.

    Because the number of draws is known, a constant that is added to a column adds a known number to its sum. So the
    smallest number of each column is subtracted, and columns that differ only by a constant are kept once. For example,
    if no text is shorter than the n-gram orders, the n-gram totals of all orders need only one column.

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
    """Return the fastest projection (sums over swapped units) of columns `[column, unit]` (int64).

    It is the fastest in JAX if `compiled`, else in NumPy. A column is one statistic of one system. A matrix is stored
    as bytes only if `most_bytes` bytes per number suffice, else as floats.
    """
    if (fused := fused_swap(columns, compiled=compiled)) is not None:
        return fused
    return SwapProduct(padded_draws(draws), _mask_matrix(columns, most_bytes, padded_units(columns.shape[1])))


def draws_projection(
    columns: np.ndarray, draws: Draws, *, compiled: bool, most_bytes: int = 0
) -> FusedDraws | DrawsProduct:
    """Return the fastest projection (sums over drawn units) of columns `[column, unit]` (int64).

    It is the fastest in JAX if `compiled`, else in NumPy. In NumPy, a matrix product with the counts of drawn units is
    faster (measured), because `FusedDraws` would write and read memory for every step of every word. A matrix is stored
    as bytes only if `most_bytes` bytes per number suffice, else as floats.
    """
    if compiled and (fused := fused_draws(columns, draws)) is not None:
        return fused
    count = columns.shape[1]
    matrix = _count_matrix(columns, most_bytes, padded_units(count), most=count)
    return DrawsProduct(padded_draws(draws) if compiled else draws, matrix)


def crossed_projection(
    columns: np.ndarray, sizes: np.ndarray, *, compiled: bool, most_bytes: int = 0
) -> CrossedProduct:
    """Make the projection (sums over exchanged outputs) of columns `[column, output]` (int64).

    Outputs are exchanged within units, which have `sizes` `[unit]` outputs per system. The matrix is stored as bytes
    only if `most_bytes` bytes per number suffice, else as floats.
    """
    count = len(sizes)
    left = outputs_left(sizes, padded_units(count) if compiled else count)
    grid = np.zeros((len(columns), *left.shape), np.int64)
    grid.swapaxes(1, 2)[:, left.T > 0] = columns  # the outputs of a unit are adjacent
    return CrossedProduct(left, _mask_matrix(grid.reshape(len(columns), -1), most_bytes, left.size))


def nested_projection(
    columns: np.ndarray, draws: Draws, sizes: np.ndarray, *, compiled: bool, most_bytes: int = 0
) -> DrawsProduct:
    """Make a projection (sums over nested draws) of columns `[column, output]` (int64).

    Nested draws choose units, then outputs of each drawn unit. `draws` choose the units, which have `sizes` `[unit]`
    outputs. The matrix is stored as bytes only if `most_bytes` bytes per number suffice, else as floats.
    """
    count, most = len(sizes), len(sizes) * int(sizes.max())
    drawn = nested_draws(draws, sizes, padded_units(count) if compiled else count)
    width = padded_units(len(drawn.draws.size) * len(drawn.slots) + 1)  # with at least one padding output
    return DrawsProduct(drawn, _count_matrix(columns, most_bytes, width, most=most))


def _mask_matrix(columns: np.ndarray, most_bytes: int, padded: int) -> Matrix:
    """Return the matrix of `columns` for products with masks (0 or 1), as bytes or as floats.

    It is stored as bytes only if `most_bytes` bytes per number suffice. `padded` is the number of units or outputs,
    padding included.
    """
    in_bytes = bytes_of(columns, most_bytes, largest=1, padded=padded)
    return in_bytes or floats_of(columns, int(np.abs(columns).sum(axis=1).max()), padded)


def _count_matrix(columns: np.ndarray, most_bytes: int, padded: int, *, most: int) -> Matrix:
    """Return the matrix of `columns` for products with counts, as bytes or as floats.

    It is stored as bytes only if `most_bytes` bytes per number suffice. `padded` is the number of units or outputs,
    padding included. The counts of a resample add up to at most `most`.
    """
    in_bytes = bytes_of(columns, most_bytes, largest=-loops.ZERO_COUNT, padded=padded)
    return in_bytes or floats_of(columns, most * int(np.abs(columns).max()), padded)
