"""Random words by (seed, block, row, lane): the same in NumPy, on CPU and on GPU, in any order and grouping.

The generator is threefry2x32 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), the one behind
`jax.random`. Resample k belongs to block k // BLOCK; the block's key is `jax.random.fold_in(jax.random.key(seed),
block)`; the words of the resample are the cipher of the counters (k % BLOCK, lane). A word therefore depends only
on its counters: not on the number of instances or resamples, nor on tiles, devices or processes.
"""

from functools import partial

import numpy as np

from sigjax.records import Array
from sigjax.run.loops import barrier, expect, in_cache

BLOCK = 1024
"""Resamples per block. Part of the definition of the random numbers, not a tuning knob."""

_CACHED_WORDS = 2**17
"""Words that NumPy draws at a time, so that its passes stay in the cache (twice as fast)."""
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry2x32(key0: Array, key1: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds: two uint32 counters -> two uint32 words, under a key of two uint32.

    All four arrays are uint32 of at least one axis and broadcast; the results have the broadcast shape.

    Example:
        >>> zero = np.zeros(1, np.uint32)
        >>> [hex(int(word[0])) for word in threefry2x32(zero, zero, zero, zero)]
        ['0x6b200159', '0x99ba4efe']
    """
    keys = (key0, key1, key0 ^ key1 ^ np.uint32(_PARITY))
    # Augmented assignments reuse memory in NumPy (three times faster) and merely rebind the names in JAX.
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
    """What resamples `[row]` (int64) draw their words from: `[row, 3]` uint32 = (key, key, index in the block).

    The keys are those of the blocks, `jax.random.fold_in(key, block)`; there are at most 2**32 of them.
    """
    xp = resamples.__array_namespace__()
    blocks = (resamples // BLOCK).astype(xp.uint32)
    keys = threefry2x32(key[:1], key[1:], blocks ^ blocks, blocks)
    return xp.stack([*keys, (resamples % BLOCK).astype(xp.uint32)], axis=1)


def row_keys(seed: int, resamples: np.ndarray) -> np.ndarray:
    """`rows_of` for a seed.

    Example:
        >>> row_keys(0, np.array([0, 1, 2000]))[:, 2]
        array([  0,   1, 976], dtype=uint32)
    """
    return rows_of(seed_key(seed), resamples)


def lane_pair(rows: Array, lane: Array) -> tuple[Array, Array]:
    """Both words of a lane for the rows `[..., 3]`: two uint32 arrays `[...]`."""
    return threefry2x32(rows[..., 0], rows[..., 1], rows[..., 2], lane)


def lane_words(rows: Array, lane: Array) -> Array:
    """Both words of a lane in one: `[...]` uint64, the first in the low half.

    XLA fuses no two outputs into one loop and would compute the cipher twice.
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
    if xp is np:
        return in_cache(partial(_write_words, lanes), rows, np.empty((len(rows), num_words), np.uint32), _CACHED_WORDS)
    # Both halves come straight from the cipher: XLA on CPU may fail to vectorize words taken apart from 64 bits (up to
    # twenty times slower). The barrier keeps a GPU from drawing a word anew for each use, or each half by itself.
    return xp.concatenate(barrier(lane_pair(rows[:, None, :], lanes)), axis=1)


def words_by_lane(rows: Array, num_lanes: int) -> tuple[Array, Array]:
    """The same words: the first ones `[lane, row]` and the second ones of all lanes."""
    expect(rows, (None, 3), np.uint32)
    xp = rows.__array_namespace__()
    lanes = xp.arange(num_lanes, dtype=xp.uint32)[:, None]
    if xp is not np:
        return barrier(lane_pair(rows, lanes))

    def write(lanes: np.ndarray, out: np.ndarray) -> None:
        out[:, : len(rows)], out[:, len(rows) :] = lane_pair(rows, lanes)

    both = in_cache(write, lanes, np.empty((num_lanes, 2 * len(rows)), np.uint32), _CACHED_WORDS)
    return both[:, : len(rows)], both[:, len(rows) :]


def _write_words(lanes: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    out[:, : lanes.size], out[:, lanes.size :] = lane_pair(rows[:, None, :], lanes)
