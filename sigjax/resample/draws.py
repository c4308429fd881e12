"""Random words (32 bits) by seed, block, row and lane (a pair of words); and the weights of a resample, made of them.

The generator is threefry2x32 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), which `jax.random`
uses, too. Resample k belongs to block k // BLOCK; the block's key is `jax.random.fold_in(jax.random.key(seed), block)`;
the words of the resample are the cipher of the counters (k % BLOCK, lane). So a word depends only on the key and its
counters: not on the number of instances or resamples, nor on tiles, devices or processes. NumPy, CPU and GPU give the
same words.

`swap` tosses a fair coin for each unit, and exchanges the outputs of the two systems or not. (Under the null hypothesis
of the permutation test, all such exchanges are equally likely.) `bootstrap` draws as many units as there are, with
replacement, within each stratum, and counts how often each unit is drawn. Both are `(rows, draws, dtype) -> weights
[row, padded unit]`.
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.run.loops import barrier, counts, expect, in_cache

BLOCK = 1024
"""Resamples per block. The random numbers depend on it, so it cannot be tuned."""

_CACHED_WORDS = 2**17
"""Most words that NumPy draws at a time. So its arrays stay in the cache, which is twice as fast."""
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry2x32(key0: Array, key1: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds: it turns two uint32 counters into two uint32 words, with a key of two uint32.

    All four arrays are uint32 of at least one axis and broadcast; the results have the broadcast shape.

    >>> zero = np.zeros(1, np.uint32)
    >>> [hex(int(word[0])) for word in threefry2x32(zero, zero, zero, zero)]
    ['0x6b200159', '0x99ba4efe']
    """
    keys = (key0, key1, key0 ^ key1 ^ np.uint32(_PARITY))
    # In NumPy, augmented assignments reuse memory (three times faster). In JAX, they only rebind the names.
    x0 = x0 + keys[0] + (x1 ^ x1)
    x1 = x1 + keys[1] + (x0 ^ x0)
    for i in range(5):
        for rotation in _ROTATIONS[i % 2]:
            x0 += x1
            carried = x1 >> np.uint32(32 - rotation)
            x1 <<= np.uint32(rotation)
            x1 |= carried
            x1 ^= x0
        x0 += keys[(i + 1) % 3]
        x1 += keys[(i + 2) % 3] + np.uint32(i + 1)
    return x0, x1


def seed_key(seed: int) -> np.ndarray:
    """The key `[2]` (uint32) of a 64-bit seed, as in `jax.random.key(seed)`."""
    return np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)


def rows_of(key: Array, resamples: Array) -> Array:
    """The keys of resamples `[row]` (int64): `[row, 3]` uint32 = (key, key, index in the block).

    Each block of resamples has its own key, `jax.random.fold_in(key, block)`. There are at most 2**32 blocks.
    """
    xp = resamples.__array_namespace__()
    blocks = (resamples // BLOCK).astype(xp.uint32)
    keys = threefry2x32(key[:1], key[1:], blocks ^ blocks, blocks)
    return xp.stack([*keys, (resamples % BLOCK).astype(xp.uint32)], axis=1)


def row_keys(seed: int, resamples: np.ndarray) -> np.ndarray:
    """`rows_of` for a seed.

    >>> row_keys(0, np.array([0, 1, 2000]))[:, 2]
    array([  0,   1, 976], dtype=uint32)
    """
    return np.asarray(rows_of(seed_key(seed), resamples))


class Stream(NamedTuple):
    """A range of `size` rows from `first` on for one use of a seed; some bits of the seed may be flipped for it."""

    first: int
    size: int
    turned: int = 0

    def keys(self, seed: int, rows: np.ndarray) -> np.ndarray:
        """`row_keys` of rows of the stream, counted from 0.

        >>> bool((STREAMS["trials"].keys(7, np.arange(3)) == row_keys(7, 2**41 + np.arange(3))).all())
        True
        """
        return row_keys(seed ^ self.turned, self.first + rows)


STREAMS = {
    "resamples": Stream(0, 2**41),
    "trials": Stream(2**41, 2**38),
    "orders": Stream(2**41 + 2**38, 2**38),
    "labels": Stream(2**41 + 2**39, 2**39),
    "vectors": Stream(0, 2**41, turned=2**63),
}
"""All streams of a seed, which do not overlap: resamples of tests, simulated trials, random orders of instances,
permutations of labels, and vectors of importance sampling.

No other file names first rows or flipped bits. `row_keys` without a stream belong to "resamples". Tests, the normal
draws of joint levels, and studies that draw something else all use the stream "resamples"."""


def lane_pair(rows: Array, lane: Array) -> tuple[Array, Array]:
    """Both words of a lane for the rows `[..., 3]`: two uint32 arrays `[...]`."""
    return threefry2x32(rows[..., 0], rows[..., 1], rows[..., 2], lane)


def lane_words(rows: Array, lane: Array) -> Array:
    """Both words of a lane in one number: `[...]` uint64, the first word in the low half.

    If a program had two outputs, XLA would not fuse them into one loop, and would compute the cipher twice.
    """
    first, second = lane_pair(rows, lane)
    xp = rows.__array_namespace__()
    return first.astype(xp.uint64) | second.astype(xp.uint64) << xp.uint64(32)


def words(rows: Array, num_words: int) -> Array:
    """Random words `[row, word]` (uint32) for the rows `[row, 3]` of `row_keys`; `num_words` is even.

    Each counter gives two words: first come the first words of all lanes, then the second words.
    """
    expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    lanes = xp.arange(num_words // 2, dtype=xp.uint32)[None, :]
    if isinstance(rows, np.ndarray):

        def write(rows: np.ndarray, out: np.ndarray) -> None:
            out[:, : lanes.size], out[:, lanes.size :] = lane_pair(rows[:, None, :], lanes)

        return in_cache(write, rows, np.empty((len(rows), num_words), np.uint32), _CACHED_WORDS)
    # Take both words directly from the cipher. If they were split from 64 bits, XLA on CPU might not vectorize (up to
    # twenty times slower). Without the barrier, a GPU would compute a word again for each use, or each half separately.
    return xp.concatenate(barrier(lane_pair(rows[:, None, :], lanes)), axis=1)


def words_by_lane(rows: Array, num_lanes: int) -> tuple[Array, Array]:
    """The random words by lane: the first words `[lane, row]` of all lanes, and the second words."""
    expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    lanes = xp.arange(num_lanes, dtype=xp.uint32)[:, None]
    if xp is not np:
        return barrier(lane_pair(rows, lanes))

    def write(lanes: np.ndarray, out: np.ndarray) -> None:
        out[:, : len(rows)], out[:, len(rows) :] = lane_pair(rows, lanes)

    both = in_cache(write, lanes, np.empty((num_lanes, 2 * len(rows)), np.uint32), _CACHED_WORDS)
    return both[:, : len(rows)], both[:, len(rows) :]


class Draws(NamedTuple):
    """For each draw, the range of units from which it chooses."""

    start: np.ndarray
    """[unit] int32: the first unit of the stratum."""
    size: np.ndarray
    """[unit] uint64: number of units in the stratum."""

    @property
    def num_words(self) -> int:
        """The number of random words of a row."""
        return len(self.size)

    def drawn(self, rows: Array) -> Array:
        """The unit of each draw, `[row, draw]` int32."""
        num_units = len(self.size)
        random = words(rows, num_units + num_units % 2)[:, :num_units]
        return scaled(random, self.size).astype(np.int32) + self.start


def draws_from_strata(strata: np.ndarray) -> Draws:
    """`strata` `[unit]`: sorted codes 0, 1, ... -> `Draws`.

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
    """Pad draws to the width of the weights, so that one compiled program serves all numbers of units up to this width.

    Each draw keeps its random word. Padding draws choose the first padding unit.

    >>> padded_draws(draws_from_strata(np.array([0, 0, 0]))).size.nonzero()
    (array([ 0,  1, 32]),)
    """
    num_units = len(draws.size)
    lanes = padded_units(num_units) // 2
    return Draws(start=by_word(draws.start, num_units, lanes).ravel(), size=by_word(draws.size, 0, lanes).ravel())


def by_word(values: np.ndarray, padding: Any, lanes: int) -> np.ndarray:
    """Values of draws `[draw, ...]` -> `[word of a lane, lane, ...]`. Draws use the first words of all lanes first."""
    first = -(-len(values) // 2)
    by_lane = np.empty((2, lanes, *values.shape[1:]), values.dtype)
    by_lane[:] = padding
    by_lane[0, :first], by_lane[1, : len(values) - first] = values[:first], values[first:]
    return by_lane


def swap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Masks `[row, padded unit]` of 0 and 1, each 1 with probability 1/2.

    Unit i takes bit `i // num_words` of word `i % num_words`. With this order, NumPy and XLA unpack words without a
    transpose. In XLA on CPU, this is thirty times faster than to unpack one word after another.
    """
    xp = rows.__array_namespace__()
    random = words(rows, padded_units(len(draws.size)) // 32)
    bits = [((random >> xp.uint32(bit)) & xp.uint32(1)).astype(dtype) for bit in range(32)]
    return xp.concatenate(bits, axis=1)


def bootstrap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Counts `[row, padded unit]`: multinomial, as many draws as units, within each stratum.

    Each draw is `start + floor(word * size / 2**32)`, so a unit's probability differs from 1/size by less than 2**-32.
    """
    # Bytes suffice: a unit is drawn more than 255 times with probability below 1e-500, and never in 255 draws.
    return counts(draws.drawn, rows, padded_units(len(draws.size)), dtype)


def scaled(words: Array, sizes: Array) -> Array:
    """Random words (uint32) as uint64 numbers from 0 to below `sizes` (uint64): floor(word * size / 2**32)."""
    return words.astype(np.uint64) * sizes >> np.uint64(32)
