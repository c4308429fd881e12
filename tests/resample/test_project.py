"""Sums are exact: equal to Python's whole numbers, by products in the smallest type that holds the bound, or fused."""

from functools import partial

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigjax.resample import projection as by_bytes
from sigjax.resample import projection as fused
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys, swap
from sigjax.resample.projection import (
    ByteColumns,
    bytes_of,
    crossed_projection,
    draws_projection,
    fused_draws,
    fused_swap,
    nested_projection,
    swap_projection,
)

pytestmark = pytest.mark.slow

ROWS = row_keys(3, np.arange(1000, 1100))


def on_both(projection):
    """Sums on NumPy, after asserting that JAX gives the same."""
    with jax.enable_x64(True):
        on_device = jax.jit(lambda projection, rows: projection.sums(rows))(projection, ROWS)
    found = projection.sums(ROWS)
    np.testing.assert_array_equal(found, np.asarray(on_device))
    return found


def by_whole_numbers(plan, columns, draws):
    """Sums in Python's whole numbers, from the weights that a plan draws."""
    weights = plan(ROWS, draws, np.dtype(np.float64))[:, : columns.shape[1]].astype(int)
    return (weights.astype(object) @ columns.T.astype(object)).T.tolist()


@pytest.mark.parametrize("strata", [1, 3])
@pytest.mark.parametrize("num_units", [1, 2, 31, 64, 65, 200, 1001])
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_fused_sums_are_those_of_the_weights(num_units, columns, strata):
    values = np.random.default_rng(num_units).integers(-40, 41, (columns, num_units))
    draws = draws_from_strata(np.arange(num_units) * strata // num_units)
    for plan, make in ((swap, fused_swap), (bootstrap, fused_draws)):
        assert on_both(make(values, draws) if plan is bootstrap else make(values)).tolist() == by_whole_numbers(
            plan, values, draws
        )


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 2**10, 2**31, 2**44]), min_size=1, max_size=4),
    st.integers(1, 60),
    st.integers(0, 1000),
)
def test_fields_hold_the_largest_sums(sizes, num_units, seed):
    """Columns of very different size in common words; also none but negative numbers, and constants."""
    rng = np.random.default_rng(seed)
    values = np.stack(
        [
            rng.integers(-size, size + 1, num_units) if rng.random() < 0.7 else np.full(num_units, -size)
            for size in sizes
        ]
    )
    draws = draws_from_strata(np.zeros(num_units, int))
    for plan, projection in ((swap, fused_swap(values)), (bootstrap, fused_draws(values, draws))):
        if projection is not None:
            assert projection.sums(ROWS).tolist() == by_whole_numbers(plan, values, draws)


@pytest.mark.parametrize("num_units", [50, 64, 65, 99])
@pytest.mark.parametrize(("largest", "dtype"), [(3, np.float32), (2**20, np.float64), (2**40, np.float64)])
def test_products_are_exact(largest, dtype, num_units):
    values = np.random.default_rng(0).integers(-largest, largest + 1, (20, num_units))
    draws = draws_from_strata(np.arange(num_units) * 3 // num_units)
    for plan, projection in (
        (swap, swap_projection(values, draws, compiled=True)),
        (bootstrap, draws_projection(values, draws, compiled=True)),
    ):
        assert projection.matrix.dtype == dtype
        assert on_both(projection)[:20].tolist() == by_whole_numbers(plan, values, draws)


@pytest.mark.parametrize("num_units", [1, 50, 64, 65, 300])
@pytest.mark.parametrize("count", [5, 8, 21])
def test_products_of_bytes_are_exact(count, num_units):
    """Up to the largest bytes of either sign, and columns whose sums are as far from 0 as can be."""
    values = np.random.default_rng(count).integers(-127, 128, (count, num_units))
    values[0], values[1] = 127, -127
    draws = draws_from_strata(np.zeros(num_units, int))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fused, "MOST_WORDS", 0)
        projection = swap_projection(values, draws, compiled=True, most_bytes=1)
    assert isinstance(projection.matrix, ByteColumns)
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(lambda projection, rows: projection.sums(rows))(projection, ROWS))
    assert found[:count].tolist() == by_whole_numbers(swap, values, draws)
    assert not found[count:].any()


@pytest.mark.parametrize("num_units", [1, 65])
@pytest.mark.parametrize("largest", [127, 128, 2**15, 2**31 - 2**24])
def test_products_of_several_bytes_are_exact(largest, num_units):
    """As on a GPU: masks and counts, of numbers of one to four bytes, with strata."""
    values = np.random.default_rng(largest).integers(-largest, largest + 1, (7, num_units))
    values[0], values[1] = largest, -largest
    draws = draws_from_strata(np.arange(num_units) * 3 // num_units)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fused, "MOST_WORDS", 0)
        swapped = swap_projection(values, draws, compiled=True, most_bytes=4)
        drawn = draws_projection(values, draws, compiled=True, most_bytes=4)
    assert isinstance(drawn.matrix, ByteColumns)
    digits = 1 if largest <= 127 else 2 if largest < 2**15 else 3 if largest < 2**23 else 4
    assert len(swapped.matrix.worth) == digits
    for plan, projection in ((swap, swapped), (bootstrap, drawn)):
        with jax.enable_x64(True):
            found = np.asarray(jax.jit(lambda projection, rows: projection.sums(rows))(projection, ROWS))
        assert found.dtype == np.float64
        assert found[:7].tolist() == by_whole_numbers(plan, values, draws)
        assert not found[7:].any()


@pytest.mark.parametrize("largest", [1, 128])
def test_sums_of_bytes_stay_below_two_to_the_31(largest):
    """-128 as often as fits, weighted by what is most: one more would pass the last int32."""
    fits = (2**31 - 1) // (128 * largest)
    column = np.full((1, fits + 1), -128, np.int64)
    assert bytes_of(column, 1, largest=largest, padded=fits + 1) is None
    column[0, 0] = -127
    matrix = bytes_of(column, 1, largest=largest, padded=fits + 1).matrix
    assert -(2**31) < largest * int(matrix[0].astype(np.int64).sum()) < 2**31


def test_sums_of_bytes_stay_within_their_type(monkeypatch):
    """The bound is on the sum of sizes, so that it holds for either sign and every mask."""
    monkeypatch.setattr(fused, "MOST_WORDS", 0)
    columns, draws = np.array([[127, -127, 0], [1, 1, 1]]), draws_from_strata(np.zeros(3, int))
    for bound, fits in ((255, True), (254, False)):
        monkeypatch.setattr(by_bytes, "_LAST_SUM", bound)
        assert isinstance(swap_projection(columns, draws, compiled=True, most_bytes=1).matrix, ByteColumns) == fits


@pytest.mark.parametrize("most", [127, 128, 255])
def test_counts_of_draws_pass_the_largest_byte(most):
    """Also where those of a number that is worth nothing pass 255, as of padding."""
    draws = np.repeat(np.arange(6), [most, 0, 3, 255, 128, 1000])[None]
    columns = np.random.default_rng(most).integers(-(2**20), 2**20, (3, 5))
    matrix = bytes_of(columns, 4, largest=128, padded=8)
    with jax.enable_x64(True):
        found = jax.jit(lambda matrix, rows: matrix.drawn(lambda rows: rows, rows))(matrix, draws)
    counts = np.bincount(draws[0])[:5].tolist()
    assert found[:3, 0].tolist() == [sum(x * n for x, n in zip(row, counts, strict=True)) for row in columns.tolist()]


@pytest.mark.parametrize("sizes", [[3, 3], [1, 4, 2]])
def test_with_runs_the_type_follows_the_largest_sum_of_outputs(sizes):
    """An exchange takes each output once at most, a nested draw all outputs from one output of the largest unit."""
    count, draws = sum(sizes), draws_from_strata(np.zeros(len(sizes), int))
    for most, make in (
        (count, partial(crossed_projection, sizes=np.array(sizes))),
        (len(sizes) * max(sizes), partial(nested_projection, draws=draws, sizes=np.array(sizes))),
    ):
        for value, dtype in (((2**24 - 1) // most, np.float32), (2**24 // most + 1, np.float64)):
            column = np.full((1, count), -value)
            assert make(column, compiled=True).matrix.dtype == make(column, compiled=False).matrix.dtype == dtype
