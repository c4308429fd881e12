"""Random 32-bit words for each resample, and the weights of a resample, which are made from these words.

The generator is threefry2x32 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), which `jax.random`
also uses. It is a cipher: with a key, it turns two counters into two random words. Resample k belongs to block k //
BLOCK. The key of a block is `jax.random.fold_in(jax.random.key(seed), block)`. The first counter is k % BLOCK. The
second counter is the lane; each lane 0, 1, ... gives two words of the resample. So a word depends only on the key and
its counters. It does not depend on the number of instances or resamples, nor on tiles, devices or processes. NumPy, CPU
and GPU give the same words. A row is one resample in an array of resamples.

`swap` tosses a fair coin for each unit: heads means that the outputs of the two systems are exchanged. (Under the null
hypothesis of the permutation test, all such exchanges are equally likely.) `bootstrap` draws units with replacement
within each stratum, as many as the stratum has, and counts how often each unit is drawn. Both functions are `(rows,
draws, dtype) -> weights [row, padded unit]`.
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.run.loops import barrier, count_draws, expect, in_cache

BLOCK = 1024
"""Number of resamples per block. It must never change, because the random numbers depend on it."""

_CACHED_WORDS = 2**17
"""NumPy draws at most this many words at a time. Then its arrays stay in the cache, which is twice as fast."""
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry2x32(key0: Array, key1: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """Turn two uint32 counters into two uint32 words, with a key of two uint32: Threefry-2x32 with 20 rounds.

    All four arrays are uint32, have at least one axis, and broadcast against each other. The results have the broadcast
    shape.

    >>> zero = np.zeros(1, np.uint32)
    >>> [hex(int(word[0])) for word in threefry2x32(zero, zero, zero, zero)]
    ['0x6b200159', '0x99ba4efe']
    """
    keys = (key0, key1, key0 ^ key1 ^ np.uint32(_PARITY))
    # In NumPy, augmented assignments (such as +=) reuse memory, which is three times faster. In JAX, they rebind names.
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
    """Return the key `[2]` (uint32) of a 64-bit seed, as in `jax.random.key(seed)`."""
    return np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)


def rows_of(key: Array, resamples: Array) -> Array:
    """Return three numbers `[row, 3]` (uint32) per resample, which determine its random words.

    `resamples` `[row]` (int64) are the indices of the resamples. The first two numbers are the key of the resample's
    block, `jax.random.fold_in(key, block)`. The third number is the index of the resample in its block. There are at
    most 2**32 blocks.
    """
    xp = resamples.__array_namespace__()
    blocks = (resamples // BLOCK).astype(xp.uint32)
    keys = threefry2x32(key[:1], key[1:], blocks ^ blocks, blocks)
    return xp.stack([*keys, (resamples % BLOCK).astype(xp.uint32)], axis=1)


def row_keys(seed: int, resamples: np.ndarray) -> np.ndarray:
    """Return three numbers `[row, 3]` per resample, which determine its random words under `seed` (see `rows_of`).

    >>> row_keys(0, np.array([0, 1, 2000]))[:, 2]
    array([  0,   1, 976], dtype=uint32)
    """
    return np.asarray(rows_of(seed_key(seed), resamples))


class Stream(NamedTuple):
    """A range of resample numbers that is reserved for one use of a seed: `first` to `first + size - 1`.

    Each number gives its own random words. The bits `flipped_bits` of the seed are flipped, so that a stream may use
    the same numbers as another stream.
    """

    first: int
    size: int
    flipped_bits: int = 0

    def keys(self, seed: int, rows: np.ndarray) -> np.ndarray:
        """Return three numbers `[row, 3]` per resample (see `row_keys`).

        `rows` `[row]` are the resamples of the stream, counted from 0.

        >>> bool((STREAMS["trials"].keys(7, np.arange(3)) == row_keys(7, 2**41 + np.arange(3))).all())
        True
        """
        return row_keys(seed ^ self.flipped_bits, self.first + rows)


STREAMS = {
    "resamples": Stream(0, 2**41),
    "trials": Stream(2**41, 2**38),
    "orders": Stream(2**41 + 2**38, 2**38),
    "labels": Stream(2**41 + 2**39, 2**39),
    "vectors": Stream(0, 2**41, flipped_bits=2**63),
}
"""All streams of a seed (ranges of resample numbers, each with its own random words). They do not overlap. "resamples"
is for the resamples of tests, "trials" for simulated trials, "orders" for random orders of instances, "labels" for
permutations of labels, and "vectors" for importance sampling.

Only this file contains first numbers or flipped bits of streams. `row_keys` uses the stream "resamples". So do tests,
studies without a stream of their own, and the normal random numbers for joint confidence levels."""


def lane_pair(rows: Array, lane: Array) -> tuple[Array, Array]:
    """Return the two random words of a lane, as two uint32 arrays `[...]`.

    `rows` `[..., 3]` are the three numbers of each resample (see `rows_of`). `lane` is the index 0, 1, ... of the lane;
    each lane gives two words of a resample.
    """
    return threefry2x32(rows[..., 0], rows[..., 1], rows[..., 2], lane)


def lane_words(rows: Array, lane: Array) -> Array:
    """Return the two random words of a lane as one number, `[...]` uint64, with the first word in the low 32 bits.

    A lane gives two words of a resample. They are returned as one number, because XLA would compute the cipher twice
    for two separate outputs: it would not fuse them into one loop.
    """
    first, second = lane_pair(rows, lane)
    xp = rows.__array_namespace__()
    return first.astype(xp.uint64) | second.astype(xp.uint64) << xp.uint64(32)


def words(rows: Array, num_words: int) -> Array:
    """Return random words `[row, word]` (uint32) for `rows` `[row, 3]` (see `rows_of`); `num_words` is even.

    Each lane (call of the cipher) gives two words. In the result, the first words of all lanes come first, and the
    second words of all lanes follow.
    """
    expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    lanes = xp.arange(num_words // 2, dtype=xp.uint32)[None, :]
    if isinstance(rows, np.ndarray):

        def write(rows: np.ndarray, out: np.ndarray) -> None:
            out[:, : lanes.size], out[:, lanes.size :] = lane_pair(rows[:, None, :], lanes)

        return in_cache(write, rows, np.empty((len(rows), num_words), np.uint32), _CACHED_WORDS)
    # Take both words directly from the cipher. If they were taken from a 64-bit number, XLA on CPU might not vectorize
    # the program (up to twenty times slower). Without the barrier, a GPU would compute a word again for each use, or
    # compute the two words of a lane separately.
    return xp.concatenate(barrier(lane_pair(rows[:, None, :], lanes)), axis=1)


def words_by_lane(rows: Array, num_lanes: int) -> tuple[Array, Array]:
    """Return random words for `rows` `[row, 3]` (see `rows_of`), as two arrays `[lane, row]`.

    Each lane (call of the cipher) gives two words. The first array has the first words of all lanes, the second array
    their second words.
    """
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
    """For each draw of the bootstrap, the range of units (a stratum) from which it chooses."""

    start: np.ndarray
    """[draw] int32: the index of the first unit in the stratum of the draw. (There are as many draws as units.)"""
    size: np.ndarray
    """[draw] uint64: the number of units in the stratum of the draw."""

    @property
    def num_words(self) -> int:
        """The number of random 32-bit integers (words) that a resample uses."""
        return len(self.size)

    def drawn(self, rows: Array) -> Array:
        """Return the unit that each draw chooses, `[row, draw]` int32, for the resamples `rows` `[row, 3]`."""
        num_units = len(self.size)
        random = words(rows, num_units + num_units % 2)[:, :num_units]
        return scaled(random, self.size).astype(np.int32) + self.start


def draws_from_strata(strata: np.ndarray) -> Draws:
    """Return the draws of a bootstrap within `strata` `[unit]`, which are sorted codes 0, 1, ...

    >>> draws_from_strata(np.array([0, 0, 1])).size
    array([2, 2, 1], dtype=uint64)
    """
    sizes = np.bincount(strata)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return Draws(start=starts[strata].astype(np.int32), size=sizes[strata].astype(np.uint64))


def padded_units(num_units: int) -> int:
    """Return the number of units after padding: a multiple of 64, the number of bits (units) in two random words."""
    return -(-num_units // 64) * 64


def padded_draws(draws: Draws) -> Draws:
    """Pad draws to the number of `padded_units`, so that one compiled program can be used for many numbers of units.

    Each draw keeps its random word. Draws that are only padding choose the first unit that is only padding.

    >>> padded_draws(draws_from_strata(np.array([0, 0, 0]))).size.nonzero()
    (array([ 0,  1, 32]),)
    """
    num_units = len(draws.size)
    lanes = padded_units(num_units) // 2
    return Draws(start=by_word(draws.start, num_units, lanes).ravel(), size=by_word(draws.size, 0, lanes).ravel())


def by_word(values: np.ndarray, padding: Any, lanes: int) -> np.ndarray:
    """Rearrange values of draws `[draw, ...]` to `[word of a lane, lane, ...]`, filled up with `padding`.

    A lane is two random words. The first draws use the first words of all lanes, the other draws use the second words.
    """
    first = -(-len(values) // 2)
    by_lane = np.empty((2, lanes, *values.shape[1:]), values.dtype)
    by_lane[:] = padding
    by_lane[0, :first], by_lane[1, : len(values) - first] = values[:first], values[first:]
    return by_lane


def swap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Return masks `[row, padded unit]`: 1 for units that are swapped (with probability 1/2), else 0.

    Unit i uses bit `i // num_words` of word `i % num_words`. In this order, NumPy and XLA unpack words without a
    transpose. In XLA on CPU, this is thirty times faster than unpacking one word after another.
    """
    xp = rows.__array_namespace__()
    random = words(rows, padded_units(len(draws.size)) // 32)
    bits = [((random >> xp.uint32(bit)) & xp.uint32(1)).astype(dtype) for bit in range(32)]
    return xp.concatenate(bits, axis=1)


def bootstrap(rows: Array, draws: Draws, dtype: Any) -> Array:
    """Return how often each unit is drawn, `[row, padded unit]`, with as many draws as units in each stratum.

    Counts are multinomial. Each draw is start + floor(word * size / 2**32), where `start` and `size` are the first unit
    and the number of units of the stratum. So the probability of a unit differs from 1/size by less than 2**-32.
    """
    # A count fits into a byte: the probability that a unit is drawn more than 255 times is below 1e-500, and it is 0 if
    # there are at most 255 draws.
    return count_draws(draws.drawn, rows, padded_units(len(draws.size)), dtype)


def scaled(words: Array, sizes: Array) -> Array:
    """Convert random words (uint32) to numbers from 0 to below `sizes` (uint64): floor(word * size / 2**32)."""
    return words.astype(np.uint64) * sizes >> np.uint64(32)
