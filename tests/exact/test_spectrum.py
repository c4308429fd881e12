"""Characteristic functions and their inverse FFTs: by NumPy and by JAX, against convolution, coin by coin."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import enumerate_swaps, f1, random_counts

from sigjax import Evaluation, compare
from sigjax.exact.distributions import line_probabilities, plane_probabilities
from sigjax.exact.lattice import Lattice
from sigjax.exact.null import _grid_tails
from sigjax.run.context import Context

PLATFORMS = [None, "cpu"]


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


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("theta", [(0.0, 0.0), (0.03, -0.02)])
@pytest.mark.parametrize(
    "rows", [[(1, 2), (3, 1), (1, -1), (0, 1)], [(2, 0), (0, 2), (1, 1)], [(4, 4), (4, 0), (1, 0)]]
)
def test_two_axes_are_convolution(rows, theta, platform):
    """Also where most rows are even, so that the function is large far from frequency 0, too."""
    rows, multiplicity = np.array(rows), np.array([40, 30, 1, 50])[: len(rows)]
    first, lengths, theta = np.array([20, -10]), (320, 288), np.array(theta)
    found = plane_probabilities(rows, multiplicity, theta, lengths, first, platform)
    expected = np.roll(law(rows, multiplicity, theta, lengths), tuple(-first), axis=(0, 1))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-16 * 400)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("length", [96, 2**14])
def test_several_pairs_with_one_axis_are_convolution(length, platform):
    steps, multiplicity = np.array([[1, 2, 3], [1, 4, 5], [2, 3, 0]]), np.array([[9, 9, 9], [8, 3, 6], [5, 5, 0]])
    theta, first = np.array([0.1, 0.0, -0.2]), np.array([3, 0, 5])
    found = line_probabilities(steps, multiplicity, theta, length, first, platform)
    for pair in range(3):
        expected = law(steps[pair, :, None], multiplicity[pair], theta[pair, None], (length,))
        np.testing.assert_allclose(found[pair], np.roll(expected, -first[pair]), rtol=0, atol=1e-14)


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
        found = line_probabilities(rows[None], counts[None], np.array([theta]), length, np.array([5]))
        expected = law(rows[:, None], counts, np.array([theta]), (length,))
        np.testing.assert_allclose(found[0], np.roll(expected, -5), rtol=0, atol=3e-14)


@pytest.mark.parametrize("coins", [8, 90, 400])
@pytest.mark.parametrize(
    "shares", [(0.0, 0.0), (0.0, 0.01), (0.03, 0.04), (0.2, 0.21), (0.5, 0.51), (1.0, 1.1), (1.1, 1.2)]
)
def test_tails_beyond_two_edges_are_counts(coins, shares):
    """Within the error stated, which is small; 400 coins reach further than the grid."""
    rows, counts = np.unique(np.random.default_rng(coins).integers(1, 8, coins), return_counts=True)
    lattice = Lattice(rows[:, None], counts, np.zeros(1, np.int64), np.ones((1, 1), np.int64))
    reach = int(lattice.reach[0])
    ways = np.array([1], object)  # of every sum from -reach to reach in steps of 2
    for step in np.repeat(rows, counts):
        ways = np.append(ways, [0] * step) + np.append([0] * step, ways)
    edges = [math.floor(share * reach) - 0.5 for share in shares]
    for edge, (log_p, log_error) in zip(edges, _grid_tails(lattice, *edges), strict=True):
        expected = Fraction(int(ways[max(math.ceil((edge + reach) / 2), (reach + 1) // 2) :].sum()), 2**coins)
        if not expected:
            assert (log_p, log_error) == (-math.inf, -math.inf)
            continue
        expected = math.log(expected.numerator) - math.log(expected.denominator)
        assert log_p == pytest.approx(expected, rel=1e-13, abs=1e-11)
        assert abs(math.expm1(log_p - expected)) <= math.exp(log_error - expected) < 1e-5


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_exact_tests_are_enumeration_on_jax(monkeypatch, alternative):
    """As on a GPU, of one statistic and of two; some pairs of systems are identical."""
    monkeypatch.setattr(Context, "gpu", lambda self: "cpu")
    monkeypatch.setattr("sigjax.testing.exact.few_units", lambda *_: None)
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
