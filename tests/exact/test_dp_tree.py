"""Algorithms 3 and 4 of Zmigrod et al. (2022) against counting in whole numbers, enumeration and each other."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import random_sign_counts

from sigjax.exact import distributions as convolution
from sigjax.exact.distributions import dp_cost, dp_null, tree_cost, tree_error, tree_null

EPS = np.finfo(np.float64).eps
TINY = np.finfo(np.float64).tiny


class Lattice(NamedTuple):
    """The fields of `sigjax.exact.lattice.Lattice` that the two methods use."""

    rows: np.ndarray
    multiplicity: np.ndarray

    @property
    def reach(self):
        return (np.abs(self.rows) * self.multiplicity[:, None]).sum(axis=0)


def lattice_of(table):
    """Differences `[unit][axis]` -> the distinct rows, each with the sign in which it was seen first."""
    seen = Counter()
    for row in map(tuple, np.asarray(table).tolist()):
        negative = tuple(-value for value in row)
        if any(row):
            seen[negative if negative in seen else row] += 1
    num_axes = np.shape(table)[1]
    rows = np.array(list(seen), np.int64).reshape(-1, num_axes)
    return Lattice(rows, np.array(list(seen.values()), np.int64))


def counted(sizes):
    """P(S = 2k - reach) for every k, as fractions."""
    counts, reach = random_sign_counts(sizes), sum(map(abs, sizes))
    return [Fraction(counts.get(2 * k - reach, 0), 2 ** len(sizes)) for k in range(reach + 1)]


def enumerated(table):
    """The same for two axes, from all sign vectors; the probabilities have few bits and are exact."""
    table = np.asarray(table)
    reach = np.abs(table).sum(axis=0)
    null = np.zeros(reach + 1)
    for signs in itertools.product([-1, 1], repeat=len(table)):
        null[tuple((signs @ table + reach) // 2)] += 0.5 ** len(table)
    return null


def assert_digits(null, expected):
    """The bound of `dp_null`: relative, down to where probabilities underflow."""
    num_units = Fraction(expected[0]).denominator.bit_length() - 1
    for computed, chance in zip(null.tolist(), expected, strict=True):
        assert abs(Fraction(computed) - chance) <= num_units * (Fraction(EPS) * chance + Fraction(TINY))


def assert_sum_of_errors(lattice, null, expected):
    assert null.shape == np.shape(expected)
    assert null.min() >= 0
    assert np.abs(null - np.array(expected, float)).sum() <= tree_error(lattice) + EPS


one_axis = st.lists(st.integers(-40, 40).filter(bool), min_size=1, max_size=60)
two_axes = st.lists(st.tuples(st.integers(-3, 3), st.integers(-4, 4)).filter(any), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(one_axis)
def test_one_axis_by_whole_numbers(sizes):
    lattice = lattice_of(np.array(sizes)[:, None])
    expected = counted(sizes)
    assert_digits(dp_null(lattice), expected)
    assert_sum_of_errors(lattice, tree_null(lattice), expected)


@settings(max_examples=60, deadline=None)
@given(two_axes)
def test_two_axes_by_enumeration(table):
    """Any signs in either column, rows on one axis only, and columns that are zero."""
    lattice = lattice_of(table)
    expected = enumerated(table)
    np.testing.assert_array_equal(dp_null(lattice), expected)
    assert_sum_of_errors(lattice, tree_null(lattice), expected)


@pytest.mark.parametrize(
    "table",
    [
        [(1, -2), (2, 1), (0, -3), (0, 1), (1, 0), (-3, 3), (1, -2), (2, 2), (-1, -1), (1, -1)],
        [(1, 0), (2, 0), (-2, 0)],
        [(0, 1), (0, -1), (0, 3)],
        [(1, -1)] * 9,
    ],
)
def test_two_axes_where_signs_differ_or_a_column_is_zero(table):
    expected = enumerated(table)
    np.testing.assert_array_equal(dp_null(lattice_of(table)), expected)
    assert_sum_of_errors(lattice_of(table), tree_null(lattice_of(table)), expected)


def test_small_probabilities_keep_their_digits():
    sizes = np.random.default_rng(5).integers(1, 4, 700).tolist()
    expected = counted(sizes)
    assert 0 < expected[-1] < 1e-210
    assert_digits(dp_null(lattice_of(np.array(sizes)[:, None])), expected)


@pytest.mark.parametrize("sizes", [[1] * 400 + [1000], [1, 1, 3, 4000], [2**12] * 5 + [7], [1000, 999, 998]])
def test_unequal_units(sizes):
    lattice = lattice_of(np.array(sizes)[:, None])
    expected = counted(sizes)
    assert_digits(dp_null(lattice), expected)
    assert_sum_of_errors(lattice, tree_null(lattice), expected)
    widest = max(
        convolution._padded_nodes(level.nodes) * math.prod(level.lengths) for level in convolution._levels(lattice)
    )
    assert widest <= 8 * (sum(sizes) + 1)


@pytest.mark.parametrize("null", [dp_null, tree_null])
@pytest.mark.parametrize("num_axes", [0, 1, 2])
def test_without_units_zero_is_certain(null, num_axes):
    empty = Lattice(np.zeros((0, num_axes), np.int64), np.zeros(0, np.int64))
    certain = null(empty)
    assert certain.shape == (1,) * num_axes
    assert certain == 1.0


def test_costs_and_bound():
    """Four units of one: two products of 4 coefficients, one of 8. One unit: none."""
    four = Lattice(np.array([[1]]), np.array([4]))
    assert dp_cost(four) == 4 * 5
    assert dp_cost(Lattice(np.array([[1, -2], [0, 1]]), np.array([3, 1]))) == 4 * 4 * 8
    assert tree_cost(four) == 2 * 4 * 2 + 8 * 3
    assert tree_error(four) == pytest.approx(12 * EPS * (2 * 2 * 2 + 3 * math.sqrt(8)), rel=1e-12, abs=0)
    lone = Lattice(np.array([[5]]), np.array([1]))
    assert (tree_cost(lone), tree_error(lone)) == (0, 0)
