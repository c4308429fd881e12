"""Whole laws: spectra and inverse FFTs, dp and tree, random signs; against convolution, counting and enumeration."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import enumerate_swaps, f1, random_counts, random_sign_counts
from scipy.stats import binom

from sigjax import Evaluation, compare
from sigjax.exact import null as exact_null
from sigjax.exact.distributions import (
    dp_cost,
    dp_null,
    grid_probabilities,
    tree_cost,
    tree_error,
    tree_null,
)
from sigjax.exact.lattice import Lattice, pair_lattice
from sigjax.exact.null import _grid_tails, sign_distribution


def law(rows, multiplicity, theta, lengths):
    """P_theta(K = k) modulo the lengths: a step for each coin that shows heads."""
    found = np.zeros(lengths)
    found[(0,) * len(lengths)] = 1.0
    for row, count in zip(rows, multiplicity, strict=True):
        heads = 1.0 / (1.0 + np.exp(-2.0 * row @ theta))
        for _ in range(count):
            moved = np.roll(found, tuple(row), axis=tuple(range(len(lengths))))
            found = (1.0 - heads) * found + heads * moved
    return found


@pytest.mark.parametrize("theta", [(0.0, 0.0), (0.03, -0.02)])
@pytest.mark.parametrize(
    "rows", [[(1, 2), (3, 1), (1, -1), (0, 1)], [(2, 0), (0, 2), (1, 1)], [(4, 4), (4, 0), (1, 0)]]
)
def test_two_axes_are_convolution(rows, theta):
    """Also where most rows are even, so that the function is large far from frequency 0, too."""
    rows, multiplicity = np.array(rows), np.array([40, 30, 1, 50])[: len(rows)]
    first, lengths, theta = np.array([20, -10]), (320, 288), np.array(theta)
    found = grid_probabilities(rows, multiplicity, theta, first, lengths)
    expected = np.roll(law(rows, multiplicity, theta, lengths), tuple(-first), axis=(0, 1))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-16 * 400)


@pytest.mark.parametrize("length", [96, 2**14])
def test_one_axis_is_convolution(length):
    pairs = [((1, 2, 3), (9, 9, 9), 0.1, 3), ((1, 4, 5), (8, 3, 6), 0.0, 0), ((2, 3, 0), (5, 5, 0), -0.2, 5)]
    for steps, multiplicity, theta, first in pairs:
        rows, counts, tilt = np.array(steps)[:, None], np.array(multiplicity), np.array([theta])
        found = grid_probabilities(rows, counts, tilt, np.array([first]), (length,))
        expected = law(rows, counts, tilt, (length,))
        np.testing.assert_allclose(found, np.roll(expected, -first), rtol=0, atol=1e-14)


@pytest.mark.parametrize("unit", [1, 2, 6, 1000])
@pytest.mark.parametrize("theta", [0.0, 0.01])
@pytest.mark.parametrize("others", [(), (1, 7)])
def test_one_axis_with_many_coins_is_convolution(unit, theta, others):
    """Where most rows have a divisor, the function is large at many frequencies, also those that are looked at last."""
    for length in (2**11, 2**13):
        rng = np.random.default_rng([unit, length])
        steps = np.append(unit * rng.integers(1, 60, 2100), others).astype(int)
        rows, counts = np.unique(steps, return_counts=True)
        rows, counts = np.append(rows, np.zeros(300, int)), np.append(counts, np.zeros(300, int))  # padding
        found = grid_probabilities(rows[:, None], counts, np.array([theta]), np.array([5]), (length,))
        expected = law(rows[:, None], counts, np.array([theta]), (length,))
        np.testing.assert_allclose(found, np.roll(expected, -5), rtol=0, atol=3e-14)


@pytest.mark.parametrize("num_signs", [8, 90, 400])
@pytest.mark.parametrize(
    "shares", [(0.0, 0.0), (0.0, 0.01), (0.03, 0.04), (0.2, 0.21), (0.5, 0.51), (1.0, 1.1), (1.1, 1.2)]
)
def test_tails_beyond_two_edges_are_counts(num_signs, shares):
    """Within the error stated, which is small; 400 coins reach further than the grid."""
    rows, counts = np.unique(np.random.default_rng(num_signs).integers(1, 8, num_signs), return_counts=True)
    lattice = Lattice(rows[:, None], counts, np.zeros(1, np.int64), np.ones((1, 1), np.int64))
    reach = int(lattice.reach[0])
    ways = np.array([1], object)  # of every sum from -reach to reach in steps of 2
    for step in np.repeat(rows, counts):
        ways = np.append(ways, [0] * step) + np.append([0] * step, ways)
    edges = [math.floor(share * reach) - 0.5 for share in shares]
    for edge, (log_p, log_error) in zip(edges, _grid_tails(lattice, *edges), strict=True):
        expected = Fraction(int(ways[max(math.ceil((edge + reach) / 2), (reach + 1) // 2) :].sum()), 2**num_signs)
        if not expected:
            assert (log_p, log_error) == (-math.inf, -math.inf)
            continue
        expected = math.log(expected.numerator) - math.log(expected.denominator)
        assert log_p == pytest.approx(expected, rel=1e-13, abs=1e-11)
        assert abs(math.expm1(log_p - expected)) <= math.exp(log_error - expected) < 1e-5


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_exact_tests_are_enumeration(monkeypatch, alternative):
    """Of one statistic and of two; some pairs of systems are identical."""
    monkeypatch.setattr("sigjax.exact.plans.few_units", lambda *_: None)
    counts = random_counts(np.random.default_rng(5), 3, 13)
    counts["copy"] = counts[next(iter(counts))]
    for metric, score, columns in (("fscore", f1, 3), ("mean", lambda sums: sums[..., 0], 1)):
        arrays = {name: each[:, :columns] for name, each in counts.items()}
        report = compare(
            Evaluation.from_arrays(arrays, metric=metric), method="exact", interval="none", alternative=alternative
        )
        for one in report:
            expected = enumerate_swaps(arrays[one.a], arrays[one.b], score, alternative)
            assert one.p_value == pytest.approx(expected, rel=1e-12), (metric, one.a, one.b)


EPS = np.finfo(np.float64).eps
TINY = np.finfo(np.float64).tiny


class Rows(NamedTuple):
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
    return Rows(rows, np.array(list(seen.values()), np.int64))


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


@pytest.mark.parametrize("null", [dp_null, tree_null])
@pytest.mark.parametrize("num_axes", [0, 1, 2])
def test_without_units_zero_is_certain(null, num_axes):
    empty = Rows(np.zeros((0, num_axes), np.int64), np.zeros(0, np.int64))
    certain = null(empty)
    assert certain.shape == (1,) * num_axes
    assert certain == 1.0


def test_costs_and_bound():
    """Four units of one: a square of 4 coefficients, which is a factor twice, and one of 6. One unit: none."""
    four = Rows(np.array([[1]]), np.array([4]))
    assert dp_cost(four) == 4 * 5
    assert dp_cost(Rows(np.array([[1, -2], [0, 1]]), np.array([3, 1]))) == 4 * 4 * 8
    last = math.log2(6)
    assert tree_cost(four) == pytest.approx(4 * 2 + 6 * last, abs=1)
    assert tree_error(four) == pytest.approx(12 * EPS * (2 * 2 * 2 + last * math.sqrt(6)), rel=1e-12, abs=0)
    lone = Rows(np.array([[5]]), np.array([1]))
    assert (tree_cost(lone), tree_error(lone)) == (0, 0)


def sums_of_signs(differences):
    """How many of the 2^n signs give each sum, in whole numbers."""
    sums = Counter({(0,) * differences.shape[1]: 1})
    for row in differences.tolist():
        after = Counter()
        for value, count in sums.items():
            for sign in (1, -1):
                after[tuple(v + sign * d for v, d in zip(value, row, strict=True))] += count
        sums = after
    return sums


@pytest.mark.parametrize("most_signs", [20, 0], ids=["signs", "grid"])
@pytest.mark.parametrize(("num_units", "axes"), [(1, 1), (4, 1), (30, 1), (3, 2), (9, 2), (40, 2)])
def test_laws_are_those_of_all_signs(num_units, axes, most_signs, monkeypatch):
    monkeypatch.setattr(exact_null, "MOST_LISTED_SIGNS", most_signs)
    differences = np.random.default_rng(num_units).integers(-3, 4, (num_units, axes))
    lattice = pair_lattice(differences, np.zeros_like(differences), ("x", "y")[:axes])
    (sums, shares), chances = sign_distribution(lattice), Counter()
    for value, chance in zip((sums @ lattice.basis).tolist(), shares.tolist(), strict=True):
        chances[tuple(value)] += chance
    for value, count in sums_of_signs(differences).items():
        assert chances.pop(value, 0.0) == pytest.approx(count / 2.0**num_units, abs=1e-14)
    assert sum(chances.values()) < 1e-14


def test_a_window_holds_all_that_counts():
    ones = np.ones((20_000, 1), int)
    sums, chances = sign_distribution(pair_lattice(ones, np.zeros_like(ones), ("x",)))
    heads = (sums[:, 0] + 20_000) // 2
    assert len(heads) < 3_000
    np.testing.assert_allclose(chances, binom.pmf(heads, 20_000, 0.5), rtol=0, atol=1e-14)
    assert chances.sum() == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("most", [1, 2, 6, 300])
def test_all_pairs_are_enumeration(most, alternative):
    """Lattices of all pairs at once: 0/1, few values, a common divisor, and too many values to count."""
    values = np.random.default_rng(most).integers(0, most + 1, (5, 11)) * (3 if most == 6 else 1)
    values[4] = values[3]
    arrays = {name: each[:, None] for name, each in zip("abcde", values, strict=True)}
    report = compare(Evaluation.from_arrays(arrays), method="exact", interval="none", alternative=alternative)
    for one in report:
        expected = enumerate_swaps(arrays[one.a], arrays[one.b], lambda sums: sums[..., 0], alternative)
        assert one.p_value == pytest.approx(expected, rel=1e-12), (one.a, one.b)
