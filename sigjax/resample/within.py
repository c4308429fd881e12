"""Plans within units: random words -> which outputs of a unit are exchanged, or how often each is drawn.

`crossed` gives each of two systems a random set of all outputs that both have for a unit, as many as it had. `nested`
draws units with replacement, and for each unit drawn as many of its outputs as it has, with replacement. The words
belong to units and runs, so that units that do not exist (padding) change nothing.

Nested draws of a mean of n units with R outputs each have the variance between the means of units, over n, and the mean
variance within units, over n R. Means of units vary with their outputs, too, so that the first alone (whole units
drawn) holds both in a sample of units; nested draws are on the safe side by the second. References: Davison and Hinkley
(1997), "Bootstrap methods and their application", section 3.8; for runs that act on all units alike, another matter,
Owen (2007), "The pigeonhole bootstrap".
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import words
from sigjax.resample.plans import Draws, padded_units, scaled

_CACHED_DRAWS = 2**17
"""Draws that NumPy counts at a time."""


class NestedDraws(NamedTuple):
    """What a nested plan needs to know of units and their outputs."""

    draws: Draws
    """For each draw, the run of units that it chooses from."""
    first: np.ndarray
    """[unit] uint64: its first output; of units that do not exist, the first output that does not exist."""
    sizes: np.ndarray
    """[unit] uint64: how many outputs it has."""
    places: np.ndarray
    """[place] uint64: 0, 1, ..., as many as a unit has outputs at most."""

    @property
    def lanes(self) -> int:
        """Pairs of random words that a draw takes: one for the unit, and one for each of its outputs."""
        return len(self.places) // 2 + 1


def outputs_left(sizes: np.ndarray, num_units: int) -> np.ndarray:
    """How many outputs a unit has from each place on, `[place, unit]` uint64: 0 from where it has none.

    There are `num_units` of them, of which those without `sizes` `[unit]` do not exist.

    Example:
        >>> outputs_left(np.array([2, 1]), 3)
        array([[2, 1, 0],
               [1, 0, 0]], dtype=uint64)
    """
    left = np.zeros((int(sizes.max()), num_units), np.int64)
    left[:, : len(sizes)] = np.maximum(sizes - np.arange(len(left))[:, None], 0)
    return left.astype(np.uint64)


def nested_draws(draws: Draws, sizes: np.ndarray, num_units: int) -> NestedDraws:
    """`draws` of units that have so many outputs `[unit]`, filled up to `num_units` draws and units."""
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
    """Masks `[place, row, unit]` (bool) of the outputs that go from the first system of a pair, and that come for them.

    Of all 2 R outputs of a unit, a random set of R is the second system's, each with the same probability: output after
    output belongs to it with probability (how many it still needs) / (how many are left), by whole numbers, so that it
    differs by less than 2**-32. Those of its outputs that are not in the set come: as many as go.

    Args:
        rows: `[row, 3]`, see `bits`.
        left: `[place, unit]` of `outputs_left`.
    """
    xp = rows.__array_namespace__()
    num_places, num_units = left.shape
    random = words(rows, 2 * left.size).reshape(len(rows), 2, num_units, num_places)
    random = xp.transpose(random, (1, 3, 0, 2))
    sizes = left[0] + xp.zeros_like(random[0, 0], dtype=xp.uint64)
    still, goes = _choose(sizes, random[0], xp.where(left > 0, left + left[0], left))
    _, comes = _choose(sizes - still, random[1], left)
    return goes, comes


def _choose(needed: Array, random: Array, pool: Array) -> tuple[Array, Array]:
    """Sequential selection: how many are still needed in the end, and masks `[place, row, unit]` of what is chosen.

    Args:
        needed: `[row, unit]` uint64, how many are to be chosen.
        random: words `[place, row, unit]`.
        pool: `[place, unit]` uint64: how many there are to choose from here on; 0 where there is nothing to choose.
    """

    def step(needed: Array, of_place: tuple[Array, Array]) -> tuple[Array, Array]:
        word, size = of_place
        chosen = (scaled(word, size) < needed) & (size > 0)
        return needed - chosen.astype(np.uint64), chosen

    return _over_places(step, needed, random, pool)


def _over_places(step: Callable[..., tuple[Array, Array]], carry: Array, *parts: Array) -> tuple[Array, Array]:
    """`carry, result = step(carry, parts)` place by place: the last carry, and all results."""
    if not isinstance(carry, np.ndarray):
        from jax.lax import scan

        return scan(step, carry, parts)
    found = []
    for of_place in zip(*parts, strict=True):
        carry, result = step(carry, of_place)
        found.append(result)
    return carry, np.stack(found)


def nested(rows: Array, drawn: NestedDraws, dtype: type) -> Array:
    """Counts `[row, padded output]`: how often each output is drawn."""
    xp = rows.__array_namespace__()
    width = padded_outputs(drawn)
    if xp is not np:
        row = xp.arange(len(rows))[:, None]
        return xp.zeros((len(rows), width), dtype).at[row, drawn_outputs(rows, drawn)].add(1)
    counts = np.empty((len(rows), width), dtype)
    step = max(1, _CACHED_DRAWS // width)
    for start in range(0, len(rows), step):
        outputs = drawn_outputs(rows[start : start + step], drawn)
        outputs += np.arange(0, len(outputs) * width, width)[:, None]
        counts[start : start + step] = np.bincount(outputs.ravel(), minlength=len(outputs) * width).reshape(-1, width)
    return counts


def padded_outputs(drawn: NestedDraws) -> int:
    """Width of the counts: all places of all units, with one output at least that does not exist."""
    return padded_units(len(drawn.draws.size) * len(drawn.places) + 1)


def drawn_outputs(rows: Array, drawn: NestedDraws) -> Array:
    """The output of each draw, `[row, draw]` int64: units drawn have as many draws as any unit has outputs at most.

    Draws that there are not go to the first output that does not exist.
    """
    xp = rows.__array_namespace__()
    draws, lanes = drawn.draws, drawn.lanes
    random = words(rows, 2 * len(draws.size) * lanes).reshape(len(rows), 2, len(draws.size), lanes)
    random = xp.transpose(random, (0, 2, 1, 3)).reshape(len(rows), len(draws.size), 2 * lanes)
    unit = (scaled(random[..., 0], draws.size) + draws.start.astype(np.uint64)).astype(xp.int32)
    sizes = drawn.sizes[unit][..., None]
    chosen = drawn.first[unit][..., None] + scaled(random[..., 1 : 1 + len(drawn.places)], sizes)
    chosen = xp.where(drawn.places < sizes, chosen, drawn.first[-1])
    return chosen.reshape(len(rows), -1).astype(xp.int64)
