"""The random words are those of JAX and of the paper, and depend on nothing but their place."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32

from sigjax.resample.draws import BLOCK, row_keys, threefry2x32, words

# Known answers of threefry2x32 with 20 rounds, from the Random123 distribution (kat_vectors).
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
@pytest.mark.parametrize("xp", [np, jnp])
def test_known_answers(xp, key, counter, expected):
    arrays = [xp.asarray([value], dtype=xp.uint32) for value in (*key, *counter)]
    assert tuple(int(word[0]) for word in threefry2x32(*arrays)) == expected


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1, 2**40 + 7, 2**63 - 1])
def test_block_keys_are_those_of_jax(seed):
    with jax.enable_x64(True):
        folded = [jax.random.key_data(jax.random.fold_in(jax.random.key(seed), b)) for b in (0, 1, 2, 1000)]
    rows = row_keys(seed, BLOCK * np.array([0, 1, 2, 1000]))
    np.testing.assert_array_equal(rows[:, :2], np.array(folded))


def test_words_are_those_of_jax():
    rows = row_keys(7, np.arange(3 * BLOCK + 5)[::500])
    drawn = words(rows, 10)
    for row, expected in zip(rows, drawn, strict=True):
        counters = jnp.concatenate([jnp.full(5, row[2], jnp.uint32), jnp.arange(5, dtype=jnp.uint32)])
        np.testing.assert_array_equal(np.asarray(threefry_2x32(jnp.asarray(row[:2]), counters)), expected)


def test_words_are_equal_in_numpy_and_jax():
    rows = row_keys(12345, np.arange(BLOCK - 3, BLOCK + 300))
    with jax.enable_x64(True):
        drawn = jax.jit(words, static_argnums=1)(jnp.asarray(rows), 700)
    np.testing.assert_array_equal(words(rows, 700), np.asarray(drawn))


def test_bits_are_fair_and_independent_of_their_neighbours():
    drawn = words(row_keys(3, np.arange(4096)), 8)
    bits = np.unpackbits(drawn.view(np.uint8), axis=1).astype(float)
    count = bits.size
    assert abs(bits.mean() - 0.5) < 5 * 0.5 / np.sqrt(count)
    for shift in (1, 2, 31, 32, 33):
        together = (bits[:, shift:] == bits[:, :-shift]).mean()
        assert abs(together - 0.5) < 5 * 0.5 / np.sqrt(bits[:, shift:].size)
    assert abs((bits[1:] == bits[:-1]).mean() - 0.5) < 5 * 0.5 / np.sqrt(bits[1:].size)
