"""Plans: random words -> the weights of a resample, `[row, padded unit]`.

`swap` gives each unit's pair of outputs a fair coin (the null hypothesis of the permutation test: within a unit, the
systems' names carry no information). `bootstrap` gives how often each unit is drawn: units are drawn with replacement,
as many as there are, within each stratum. A plan has one signature, `(rows, draws, dtype) -> weights`, and adding one
changes nothing else.
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import words

_CACHED_DRAWS = 2**17
"""Draws that NumPy counts at a time."""


class Draws(NamedTuple):
    """What a plan needs to know of the units: for each draw, the run of units that it chooses from."""

    start: np.ndarray
    """[unit] int32: the first unit of the stratum."""
    size: np.ndarray
    """[unit] uint64: the number of units in the stratum."""


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
    """Width of the weights: the units, then units that do not exist, up to whole lanes of two words of 32 bits."""
    return -(-num_units // 64) * 64


def padded_draws(draws: Draws) -> Draws:
    """As many draws as weights are wide, so that one compiled program serves all numbers of units up to the next width.

    Each draw keeps its word. The draws that there are not go to the first unit that does not exist.

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
    """What belongs to each draw `[draw, ...]` -> `[word of a lane, lane, ...]`; draws take first words first."""
    first = -(-len(of_draws) // 2)
    found = np.empty((2, lanes, *of_draws.shape[1:]), of_draws.dtype)
    found[:] = of_nobody
    found[0, :first], found[1, : len(of_draws) - first] = of_draws[:first], of_draws[first:]
    return found


def swap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Masks `[row, padded unit]` of 0 and 1, each 1 with probability 1/2.

    Unit i has bit `i // num_words` of word `i % num_words`: bit by bit is the order in which both NumPy and XLA unpack
    words without a transpose (thirty times faster in XLA on CPU than word by word).
    """
    xp = rows.__array_namespace__()
    random = words(rows, padded_units(len(draws.size)) // 32)
    bits = [((random >> xp.uint32(bit)) & xp.uint32(1)).astype(dtype) for bit in range(32)]
    return xp.concatenate(bits, axis=1)


def bootstrap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Counts `[row, padded unit]`: multinomial, as many draws as units, within each stratum.

    Each draw is `start + floor(word * size / 2**32)`, so a unit's probability differs from 1/size by less than 2**-32.
    """
    xp = rows.__array_namespace__()
    if xp is np:
        return _count_in_cache(rows, draws, dtype)
    row = xp.arange(len(rows))[:, None]
    # Bytes stay closer to the core. A unit is not drawn 256 times: of more units than that the chance is below 1e-500.
    counts = xp.zeros((len(rows), padded_units(len(draws.size))), xp.uint8)
    return counts.at[row, drawn_units(rows, draws)].add(1).astype(dtype)


def drawn_units(rows: Array, draws: Draws) -> Array:
    """The unit of each draw, `[row, draw]` int32."""
    xp = rows.__array_namespace__()
    num_units = len(draws.size)
    random = words(rows, num_units + num_units % 2)[:, :num_units]
    return scaled(random, draws.size).astype(xp.int32) + draws.start


def scaled(words: Array, sizes: Array) -> Array:
    """Random words (uint32) as uint64 numbers from 0 to below `sizes` (uint64): floor(word * size / 2**32)."""
    return words.astype(np.uint64) * sizes >> np.uint64(32)


def _count_in_cache(rows: np.ndarray, draws: Draws, dtype: Any) -> np.ndarray:
    """Count the draws a few rows at a time, so that NumPy's passes stay in the cache."""
    width = padded_units(len(draws.size))
    counts = np.empty((len(rows), width), dtype)
    step = max(1, _CACHED_DRAWS // width)
    for start in range(0, len(rows), step):
        units = drawn_units(rows[start : start + step], draws)
        units += np.arange(0, len(units) * width, width, dtype=np.int32)[:, None]
        counts[start : start + step] = np.bincount(units.ravel(), minlength=len(units) * width).reshape(-1, width)
    return counts
