"""Plans: random words -> the weights of a resample.

`swap` gives each unit's pair of outputs a fair coin: under the null hypothesis of the permutation test, system names
carry no information within a unit. `bootstrap` counts how often each unit is drawn: as many draws as units, with
replacement, within each stratum. Both are `(rows, draws, dtype) -> weights [row, padded unit]`.

Two plans work within units that have several outputs (runs) per system. `crossed` gives each of two systems a random
half of all their outputs of a unit. `nested` draws units with replacement, then outputs of each drawn unit with
replacement. Words belong to units and runs, so padding changes nothing. For a mean over n units with R outputs each,
nested draws have the variance between unit means over n, plus the mean variance within units over n R. Unit means
already vary with their outputs, so whole-unit draws hold both; nested draws err on the safe side by the second term.
References: Davison and Hinkley (1997), "Bootstrap methods and their application", section 3.8; for runs that affect all
units alike, Owen (2007), "The pigeonhole bootstrap".
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import words
from sigjax.run.loops import counts, expect, scan

_UNROLLED = 8
"""Choices per step of a loop."""


class Draws(NamedTuple):
    """For each draw, the range of units it chooses from."""

    start: np.ndarray
    """[unit] int32: the first unit of the stratum."""
    size: np.ndarray
    """[unit] uint64: number of units in the stratum."""

    @property
    def num_words(self) -> int:
        """Random words of a row."""
        return len(self.size)

    def drawn(self, rows: Array) -> Array:
        """`drawn_units`."""
        return drawn_units(rows, self)


def draws_from_strata(strata: np.ndarray) -> Draws:
    """`strata` `[unit]`: sorted codes 0, 1, ... -> `Draws`.

    Example:
        >>> draws_from_strata(np.array([0, 0, 1])).size
        array([2, 2, 1], dtype=uint64)
    """
    sizes = np.bincount(strata)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return Draws(start=starts[strata].astype(np.int32), size=sizes[strata].astype(np.uint64))


def padded_units(num_units: int) -> int:
    """Width of the weights: the units, padded to whole lanes of two 32-bit words."""
    return -(-num_units // 64) * 64


def padded_draws(draws: Draws) -> Draws:
    """Pad draws to the width of the weights, so that one compiled program serves all numbers of units up to it.

    Each draw keeps its word. Padding draws choose the first padding unit.

    Example:
        >>> padded_draws(draws_from_strata(np.array([0, 0, 0]))).size.nonzero()
        (array([ 0,  1, 32]),)
    """
    num_units = len(draws.size)
    lanes = padded_units(num_units) // 2
    return Draws(
        *(by_word(part, of_nobody, lanes).ravel() for part, of_nobody in zip(draws, (num_units, 0), strict=True))
    )


def by_word(of_draws: np.ndarray, of_nobody: Any, lanes: int) -> np.ndarray:
    """Values of draws `[draw, ...]` -> `[word of a lane, lane, ...]`; draws take the first words of lanes first."""
    first = -(-len(of_draws) // 2)
    values = np.empty((2, lanes, *of_draws.shape[1:]), of_draws.dtype)
    values[:] = of_nobody
    values[0, :first], values[1, : len(of_draws) - first] = of_draws[:first], of_draws[first:]
    return values


def swap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Masks `[row, padded unit]` of 0 and 1, each 1 with probability 1/2.

    Unit i has bit `i // num_words` of word `i % num_words`: in this order NumPy and XLA unpack words without a
    transpose (thirty times faster in XLA on CPU than word by word).
    """
    xp = rows.__array_namespace__()
    random = words(rows, padded_units(len(draws.size)) // 32)
    bits = [((random >> xp.uint32(bit)) & xp.uint32(1)).astype(dtype) for bit in range(32)]
    return xp.concatenate(bits, axis=1)


def bootstrap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Counts `[row, padded unit]`: multinomial, as many draws as units, within each stratum.

    Each draw is `start + floor(word * size / 2**32)`, so a unit's probability differs from 1/size by less than 2**-32.
    """
    # No unit is drawn 256 times: among more units the chance is below 1e-500.
    return counts(draws.drawn, rows, padded_units(len(draws.size)), dtype)


def drawn_units(rows: Array, draws: Draws) -> Array:
    """The unit of each draw, `[row, draw]` int32."""
    xp = rows.__array_namespace__()
    num_units = len(draws.size)
    random = words(rows, num_units + num_units % 2)[:, :num_units]
    return scaled(random, draws.size).astype(xp.int32) + draws.start


def scaled(words: Array, sizes: Array) -> Array:
    """Random words (uint32) as uint64 numbers from 0 to below `sizes` (uint64): floor(word * size / 2**32)."""
    return words.astype(np.uint64) * sizes >> np.uint64(32)


class NestedDraws(NamedTuple):
    """Units and their outputs, for nested draws."""

    draws: Draws
    first: np.ndarray
    """[unit] uint64: its first output; for padding units, the first padding output."""
    sizes: np.ndarray
    """[unit] uint64: its number of outputs."""
    slots: np.ndarray
    """[slot] uint64: 0, 1, ..., up to the largest number of outputs of a unit."""

    @property
    def lanes(self) -> int:
        """Pairs of words per draw: one word for the unit and one for each of its outputs."""
        return len(self.slots) // 2 + 1

    @property
    def num_words(self) -> int:
        """Random words of a row."""
        return 2 * self.lanes * len(self.draws.size)

    def drawn(self, rows: Array) -> Array:
        """`drawn_outputs`."""
        return drawn_outputs(rows, self)


def outputs_left(sizes: np.ndarray, num_units: int) -> np.ndarray:
    """How many outputs a unit has from each slot on, `[slot, unit]` uint64; `sizes` are padded to `num_units`.

    Example:
        >>> outputs_left(np.array([2, 1]), 3)
        array([[2, 1, 0],
               [1, 0, 0]], dtype=uint64)
    """
    left = np.zeros((int(sizes.max()), num_units), np.int64)
    left[:, : len(sizes)] = np.maximum(sizes - np.arange(len(left))[:, None], 0)
    return left.astype(np.uint64)


def nested_draws(draws: Draws, sizes: np.ndarray, num_units: int) -> NestedDraws:
    """`draws` of units with `sizes` `[unit]` outputs, padded to `num_units` draws and units."""
    count, more = len(sizes), num_units - len(sizes)
    nobody = sizes.sum()
    return NestedDraws(
        Draws(
            np.concatenate([draws.start, np.full(more, count, draws.start.dtype)]),
            np.concatenate([draws.size, np.zeros(more, draws.size.dtype)]),
        ),
        np.concatenate([np.cumsum(sizes) - sizes, np.full(more + 1, nobody)]).astype(np.uint64),
        np.concatenate([sizes, np.zeros(more + 1, sizes.dtype)]).astype(np.uint64),
        np.arange(sizes.max(), dtype=np.uint64),
    )


def crossed(rows: Array, left: Array) -> tuple[Array, Array]:
    """Masks `[slot, row, unit]` (bool) of the outputs that leave the first system of a pair, and that replace them.

    Of all 2 R outputs of a unit, a random set of R becomes the second system's, all sets with the same probability up
    to 2**-32: one output after another joins it with probability (still needed) / (left), in whole numbers. The second
    system's outputs outside of the set replace those that leave: as many.

    Args:
        rows: `[row, 3]`, see `bits`.
        left: `[slot, unit]` of `outputs_left`.
    """
    expect(rows, (None, 3), np.uint32)
    expect(left, (None, None), np.uint64)
    xp = rows.__array_namespace__()
    num_slots, num_units = left.shape
    random = words(rows, 2 * left.size).reshape(len(rows), 2, num_units, num_slots)
    random = xp.transpose(random, (1, 3, 0, 2))
    sizes = left[0] + xp.zeros_like(random[0, 0], dtype=xp.uint64)
    still, goes = _choose(sizes, random[0], xp.where(left > 0, left + left[0], left))
    _, comes = _choose(sizes - still, random[1], left)
    return goes, comes


def chosen(rows: Array, size: Any, of: int) -> Array:
    """Masks `[unit, row]` (bool) of a random choice of `size` of all `of` units, as `crossed` chooses outputs.

    Example:
        >>> from sigjax.resample.bits import row_keys
        >>> chosen(row_keys(0, np.arange(3)), 2, 5).sum(axis=0)
        array([2, 2, 2])
    """
    expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    random = words(rows, of + of % 2)[:, :of].T[:, :, None]
    left = xp.arange(of, 0, -1).astype(np.uint64)[:, None]
    # Made from the rows, so that JAX knows that it differs between devices.
    needed = (rows[:, :1] ^ rows[:, :1]).astype(np.uint64) + xp.asarray(size, dtype=np.uint64)
    return _choose(needed, random, left)[1][:, :, 0]


def _choose(needed: Array, random: Array, pool: Array) -> tuple[Array, Array]:
    """Sequential selection: how many are still needed at the end, and masks `[slot, row, unit]` of the chosen.

    Args:
        needed: `[row, unit]` uint64, how many to choose.
        random: words `[slot, row, unit]`.
        pool: `[slot, unit]` uint64: how many are left to choose from; 0 where there is nothing to choose.
    """

    def step(needed: Array, of_slot: tuple[Array, Array]) -> tuple[Array, Array]:
        word, size = of_slot
        chosen = (scaled(word, size) < needed) & (size > 0)
        return needed - chosen.astype(np.uint64), chosen

    return scan(step, needed, (random, pool), unroll=_UNROLLED)


def padded_outputs(drawn: NestedDraws) -> int:
    """Width of the counts: all slots of all units and at least one padding output."""
    return padded_units(len(drawn.draws.size) * len(drawn.slots) + 1)


def drawn_outputs(rows: Array, drawn: NestedDraws) -> Array:
    """The output of each draw, `[row, draw]` int32: each drawn unit has as many draws as the largest unit has outputs.

    Padding draws choose the first padding output. Whatever the sizes, an output is drawn 256 times with a chance below
    1e-155, by Chernoff's bound exp(e^(u - 1) - 1 - 256 log u), with u = 4.95.
    """
    xp = rows.__array_namespace__()
    draws, lanes = drawn.draws, drawn.lanes
    random = words(rows, 2 * len(draws.size) * lanes).reshape(len(rows), 2, len(draws.size), lanes)
    random = xp.transpose(random, (0, 2, 1, 3)).reshape(len(rows), len(draws.size), 2 * lanes)
    unit = (scaled(random[..., 0], draws.size) + draws.start.astype(np.uint64)).astype(xp.int32)
    sizes = drawn.sizes[unit][..., None]
    chosen = drawn.first[unit][..., None] + scaled(random[..., 1 : 1 + len(drawn.slots)], sizes)
    chosen = xp.where(drawn.slots < sizes, chosen, drawn.first[-1])
    return chosen.reshape(len(rows), -1).astype(xp.int32)
