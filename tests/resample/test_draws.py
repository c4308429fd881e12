"""Random words are those of JAX and of the paper; masks are fair coins, counts multinomial, in NumPy and JAX alike."""

import itertools
import math
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from scipy.stats import chisquare

import sigjax
from sigjax.records.options import options_of
from sigjax.resample.draws import (
    BLOCK,
    STREAMS,
    bootstrap,
    draws_from_strata,
    padded_units,
    row_keys,
    swap,
    threefry2x32,
    words,
)
from sigjax.resample.projection import choice
from sigjax.studies.replays import StoppingOptions
from sigjax.studies.subsets import SlicesOptions
from sigjax.studies.trials import TrialOptions

# Known answers of threefry2x32 with 20 rounds, from the Random123 distribution (kat_vectors).
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


def test_streams_of_a_seed_never_meet_and_hold_what_is_asked_for():
    """By name, so that nobody takes rows that another use has; what `compare` cannot draw has its bit of the seed."""
    for one, other in itertools.combinations(STREAMS.values(), 2):
        ends = [(each.first, each.first + each.size) for each in (one, other)]
        assert one.flipped_bits != other.flipped_bits or ends[0][1] <= ends[1][0] or ends[1][1] <= ends[0][0]
    assert max(each.first + each.size for each in STREAMS.values()) <= 2**32 * BLOCK, "blocks have 32 bits"
    named = {"trials": (TrialOptions, "repetitions", 1), "orders": (StoppingOptions, "orders", 2)}
    named |= {"labels": (SlicesOptions, "permutations", 1)}
    for name, (options, option, each) in named.items():
        assert each * options_of(options)[option].metadata["option"].most <= STREAMS[name].size
    first = {name: stream.keys(12345, np.arange(2)).tobytes() for name, stream in STREAMS.items()}
    assert len(set(first.values())) == len(STREAMS)
    assert first["resamples"] == row_keys(12345, np.arange(2)).tobytes()


def test_no_words_are_drawn_beside_the_register():
    """`row_keys` counts resamples from 0, and streams are made by nothing else."""
    for path in (Path(sigjax.__file__).parent).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "draws.py":
            assert not re.search(r"row_keys\([^)]*(\^|2\*\*|_FIRST)", text), path.name


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


NUM_ROWS = 20_000


def draw(plan, num_units, *, rows=NUM_ROWS, strata=None, seed=11):
    strata = np.zeros(num_units, int) if strata is None else strata
    return plan(row_keys(seed, np.arange(rows)), draws_from_strata(strata), np.dtype(np.float32))


@pytest.mark.parametrize("plan", [swap, bootstrap])
@pytest.mark.parametrize("num_units", [1, 2, 31, 64, 65, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numpy_and_jax_draw_the_same(plan, num_units, dtype):
    rows, draws = row_keys(0, np.arange(1000, 1100)), draws_from_strata(np.arange(num_units) * 3 // num_units)
    expected = plan(rows, draws, np.dtype(dtype))
    with jax.enable_x64(True):
        drawn = jax.jit(lambda r, d: plan(r, d, np.dtype(dtype)))(jnp.asarray(rows), jax.tree.map(jnp.asarray, draws))
    assert drawn.dtype == expected.dtype == dtype
    np.testing.assert_array_equal(expected, np.asarray(drawn))
    assert expected.shape == (100, padded_units(num_units))


@pytest.mark.parametrize("num_units", [1, 5, 64, 100])
def test_masks_are_fair_and_independent(num_units):
    mask = draw(swap, num_units)[:, :num_units]
    assert set(np.unique(mask)) <= {0.0, 1.0}
    assert np.abs(mask.mean(axis=0) - 0.5).max() < 5 * 0.5 / math.sqrt(NUM_ROWS)
    agree = np.cov(mask.T).reshape(num_units, num_units) - 0.25 * np.eye(num_units)
    assert np.abs(agree).max() < 5 * 0.25 / math.sqrt(NUM_ROWS)


def test_every_mask_of_few_units_is_equally_likely():
    mask = draw(swap, 4)[:, :4]
    codes = (mask @ [8, 4, 2, 1]).astype(int)
    assert chisquare(np.bincount(codes, minlength=16)).pvalue > 1e-4


@pytest.mark.parametrize("num_units", [1, 2, 7, 63, 130])
def test_counts_are_complete(num_units):
    counts = draw(bootstrap, num_units, rows=500)
    assert (counts[:, :num_units].sum(axis=1) == num_units).all()
    assert (counts[:, num_units:] == 0).all()
    assert (counts >= 0).all()


def test_counts_have_multinomial_moments():
    num_units = 40
    counts = draw(bootstrap, num_units)[:, :num_units].astype(float)
    expected = np.eye(num_units) - 1.0 / num_units
    assert np.abs(counts.mean(axis=0) - 1.0).max() < 5 / math.sqrt(NUM_ROWS)
    # The standard error of a sample (co)variance of counts with variance about 1 and kurtosis about 4.
    assert np.abs(np.cov(counts.T) - expected).max() < 5 * math.sqrt(3.0 / NUM_ROWS)


def test_counts_of_few_units_are_multinomial():
    num_units = 4
    counts = draw(bootstrap, num_units)[:, :num_units].astype(int)
    cells = [c for c in itertools.product(range(num_units + 1), repeat=num_units) if sum(c) == num_units]
    chance = [math.factorial(4) / math.prod(map(math.factorial, c)) / 4**4 for c in cells]
    place = {cell: i for i, cell in enumerate(cells)}
    seen = np.bincount([place[tuple(row)] for row in counts.tolist()], minlength=len(cells))
    assert chisquare(seen, np.array(chance) * NUM_ROWS).pvalue > 1e-4


def test_strata_keep_their_size():
    strata = np.array([0] * 3 + [1] * 10 + [2])
    counts = draw(bootstrap, 14, rows=2000, strata=strata)
    for code, size in enumerate((3, 10, 1)):
        assert (counts[:, :14][:, strata == code].sum(axis=1) == size).all()
    assert np.unique(counts[:, :3], axis=0).shape[0] == 10  # all ways to spread three draws over three units


@pytest.mark.parametrize("num_units", [1, 2, 31, 32, 33, 100])
def test_a_choice_is_one_unit_after_another(num_units):
    """Against a loop over units in Python's whole numbers, on NumPy and JAX."""
    values, size = np.random.default_rng(num_units).integers(-(2**40), 2**40, (num_units, 2)), (num_units + 1) // 3
    rows = row_keys(0, np.arange(1000, 1050))
    expected = np.zeros((2, len(rows)), object)
    for row, random in enumerate(words(rows, num_units + num_units % 2)[:, :num_units].tolist()):
        needed = size
        for unit, word in enumerate(random):
            if word * (num_units - unit) >> 32 < needed:
                expected[:, row] += values[unit].astype(object)
                needed -= 1
        assert needed == 0
    one = choice(size, values)
    with jax.enable_x64(True):
        on_jax = jax.jit(lambda one, rows: one.sums(rows))(one, rows)
    assert one.sums(rows).tolist() == np.asarray(on_jax).tolist() == expected.tolist()
