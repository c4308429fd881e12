"""Plans within units that have several outputs (runs) per system, and random choices of units.

`crossed` gives each of two systems a random half of all their outputs of a unit; `choice` chooses units likewise.
`nested_draws` draw units with replacement, then outputs of each drawn unit with replacement. Words belong to units and
runs, so padding changes nothing. For a mean over n units with R outputs each, nested draws have the variance between
unit means over n, plus the mean variance within units over n R. Unit means already vary with their outputs, so
whole-unit draws hold both; nested draws err on the safe side by the second term. References: Davison and Hinkley
(1997), "Bootstrap methods and their application", section 3.8; for runs that affect all units alike, Owen (2007), "The
pigeonhole bootstrap".
"""

from typing import NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import words, words_by_lane
from sigjax.resample.plans import Draws, by_word, padded_units, scaled
from sigjax.run.loops import expect, scan

_UNROLLED = 16
"""Choices per step of a loop on a GPU."""


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


class Choice(NamedTuple):
    """Some of all units, chosen one after another as `crossed` chooses outputs."""

    size: np.ndarray
    """[] uint64: how many."""
    left: np.ndarray
    """[word of a lane, lane] uint64: how many are left to choose from; 0 for padding."""
    values: np.ndarray
    """[word of a lane, lane, column] float64: the statistics of the unit."""

    @property
    def width(self) -> int:
        """An eighth of the words: units are chosen one after another, for many rows at a time."""
        return -(-self.left.size // 8)

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` of the values that each row `[row, 3]` chooses."""
        expect(rows, (None, 3), np.uint32)
        xp = rows.__array_namespace__()
        # Made from the rows, so that JAX knows that it differs between devices.
        none = (rows[:, 0] ^ rows[:, 0]).astype(xp.uint64)
        carry = none + self.size, none.astype(xp.float64) + xp.zeros_like(self.values[0, 0])[:, None]

        def step(carry: tuple[Array, Array], of_unit: tuple[Array, ...]) -> tuple[tuple[Array, Array], tuple[()]]:
            (needed, sums), (word, left, values) = carry, of_unit
            chosen = _joins(word, left, needed)
            return (needed - chosen.astype(xp.uint64), sums + chosen.astype(xp.float64) * values[:, None]), ()

        for items in zip(words_by_lane(rows, self.left.shape[1]), self.left, self.values, strict=True):
            carry, _ = scan(step, carry, items, unroll=_UNROLLED)
        return carry[1]


def choice(size: int, values: np.ndarray) -> Choice:
    """A choice of `size` units with `values` `[unit, column]`.

    Example:
        >>> from sigjax.resample.bits import row_keys
        >>> choice(2, np.ones((5, 1))).sums(row_keys(0, np.arange(3)))
        array([[2., 2., 2.]])
    """
    lanes = -(-len(values) // (2 * _UNROLLED)) * _UNROLLED
    left = by_word(np.arange(len(values), 0, -1, dtype=np.uint64), 0, lanes)
    return Choice(np.array(size, np.uint64), left, by_word(values.astype(np.float64), 0.0, lanes))


def _choose(needed: Array, random: Array, pool: Array) -> tuple[Array, Array]:
    """Sequential selection: how many are still needed at the end, and masks `[slot, row, unit]` of the chosen.

    Args:
        needed: `[row, unit]` uint64, how many to choose.
        random: words `[slot, row, unit]`.
        pool: `[slot, unit]` uint64: how many are left to choose from; 0 where there is nothing to choose.
    """

    def step(needed: Array, of_slot: tuple[Array, Array]) -> tuple[Array, Array]:
        word, size = of_slot
        chosen = _joins(word, size, needed)
        return needed - chosen.astype(np.uint64), chosen

    return scan(step, needed, (random, pool), unroll=_UNROLLED)


def _joins(word: Array, left: Array, needed: Array) -> Array:
    """Whether the next one of `left` is among the `needed`."""
    return (scaled(word, left) < needed) & (left > 0)


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
