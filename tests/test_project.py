"""The product is exact: equal to Python's whole numbers, in the smallest type that can hold the bound."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sigjax.resample.plans import padded_units
from sigjax.resample.project import distinct_columns, project


@pytest.mark.parametrize(("largest", "dtype"), [(3, np.float32), (2**20, np.float64), (2**40, np.float64)])
def test_products_are_exact(largest, dtype):
    rng = np.random.default_rng(0)
    values = rng.integers(-largest, largest + 1, (3, 50, 2))
    columns = distinct_columns(values)
    assert columns.matrix.dtype == dtype
    mask = np.zeros((20, padded_units(50)), dtype)
    mask[:, :50] = rng.integers(0, 2, (20, 50))
    expected = [
        [[sum(int(v) for v, w in zip(values[k, :, s], row[:50], strict=True) if w) for row in mask] for s in range(2)]
        for k in range(3)
    ]
    np.testing.assert_array_equal(project(mask, columns.matrix)[columns.places], expected)
    with jax.enable_x64(True):
        on_device = project(jnp.asarray(mask), jnp.asarray(columns.matrix))
    np.testing.assert_array_equal(np.asarray(on_device)[columns.places], expected)


def test_the_type_follows_the_bound():
    column = np.full((1, 2, 1), 2**23 - 1)
    assert distinct_columns(column).matrix.dtype == np.float32
    assert distinct_columns(column + 1).matrix.dtype == np.float64
    assert distinct_columns(column // 2 - 1, largest_weight_sum=4).matrix.dtype == np.float32
    assert distinct_columns(column // 2 + 2, largest_weight_sum=4).matrix.dtype == np.float64


def test_equal_columns_are_kept_once():
    values = np.stack([np.stack([np.arange(9), np.ones(9, int)], axis=-1)] * 4)
    values[3, 0, 0] = 5
    columns = distinct_columns(values)
    assert columns.places.tolist() == [[0, 1], [0, 1], [0, 1], [2, 1]]
    assert np.count_nonzero(columns.matrix.any(axis=0)) == 3
