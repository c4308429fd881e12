"""Plans: random words -> the weights of a resample.

`swap` gives each unit's pair of outputs a fair coin: under the null hypothesis of the permutation test, system names
carry no information within a unit. `bootstrap` counts how often each unit is drawn: as many draws as units, with
replacement, within each stratum. Both are `(rows, draws, dtype) -> weights [row, padded unit]`.
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import words
from sigjax.run.loops import counts


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
