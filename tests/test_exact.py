"""Exact tests against enumeration, whole-number counting and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import enumerate_swaps, log10_tail, random_sign_counts
from scipy.stats import binomtest

from sigjax import InputError, permutation_test
from sigjax.exact.charfun import upper_tail
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import exact_p

ALTERNATIVES = ("two-sided", "greater", "less")


def squared(sums):
    return sums[..., 0] ** 2 - 3 * sums[..., 0]


def lattice_of(differences):
    lattice = pair_lattice(np.array(differences)[:, None], np.zeros((len(differences), 1), int), ("value",))
    assert isinstance(lattice, Lattice)
    return lattice


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=11),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from([None, squared]),
)
def test_exact_is_enumeration(table, alternative, metric):
    """Also for a score that is not monotone in the sum."""
    a, b = np.array(table).T[:, :, None]
    result = permutation_test(a, b, metric=metric or "mean", method="exact", alternative=alternative)
    score = squared if metric else (lambda sums: sums[..., 0] / len(a))
    assert result.method == "exact"
    assert result.p_value == pytest.approx(enumerate_swaps(a, b, score, alternative), rel=1e-12)


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (5, 3), (30, 30), (31, 30), (400, 20), (1000, 0), (3000, 1000)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_test(wins, losses, alternative):
    """For 0/1 data the exact test is the sign test, which is the exact McNemar test when two-sided."""
    a = np.r_[np.ones(wins), np.zeros(losses), np.ones(5)]
    b = np.r_[np.zeros(wins), np.ones(losses), np.ones(5)]
    expected = binomtest(wins, wins + losses, alternative=alternative).pvalue
    result = permutation_test(a, b, metric="accuracy", alternative=alternative)
    assert result.method == "exact"
    assert result.p_value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(40))
def test_log10_p_by_whole_numbers(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    shift = rng.integers(0, size + 1)  # from no difference to all in one direction
    differences = rng.integers(-size, size + 1, int(rng.integers(1, 250))) + shift
    result = permutation_test(differences, np.zeros_like(differences), method="exact")
    expected = log10_tail(differences)
    assert result.log10_p == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_p_values_below_the_smallest_double():
    result = permutation_test(np.ones(2000), np.zeros(2000))
    assert result.p_value == 0.0
    assert result.log10_p == pytest.approx(-1999 * math.log10(2), rel=1e-12)


def test_probabilities_of_the_tilted_sum():
    differences = [3, 3, -5, 7, 1, 1, 1, 9]
    lattice = lattice_of(differences)
    counts = random_sign_counts(differences)
    for edge in range(0, lattice.reach + 1, 2):
        tail = upper_tail(lattice, edge)
        for k, tilted in enumerate(tail.probabilities):
            chance = math.exp(tail.log_scale - 2 * tail.theta * k) * tilted
            assert chance == pytest.approx(counts.get(edge + 2 * k, 0) / 2**8, abs=1e-15)


def test_extreme_cases():
    assert permutation_test([1], [0]).p_value == 1.0
    assert permutation_test([1], [0], alternative="greater").p_value == 0.5
    assert permutation_test([0, 1, 0], [0, 1, 0]).p_value == 1.0
    assert permutation_test([5] * 10, [0] * 10).p_value == 2**-9
    assert permutation_test([1, -1], [0, 0], alternative="less").p_value == 0.75


def test_large_steps_are_divided_by_their_common_divisor():
    lattice = lattice_of([1000, -3000, 7000, 0])
    assert (lattice.steps.tolist(), lattice.observed, lattice.scale) == ([1, 3, 7], 5, 1000)


def test_pairs_with_two_varying_statistics_are_not_eligible():
    a, b = np.array([[3, 4, 5], [1, 1, 1]]), np.array([[2, 3, 5], [1, 1, 1]])
    refused = pair_lattice(a, b, ("tp", "predicted", "gold"))
    assert isinstance(refused, NotEligible)
    assert "tp, predicted" in refused.reason
    with pytest.raises(InputError, match="no exact test for 'a' and 'b': 2 statistics differ"):
        permutation_test(a, b, metric="fscore", method="exact")


def test_all_values_extreme_is_one():
    assert exact_p(lattice_of([2, 3, 4]), lambda s: s > -100).p_value == 1.0


def test_decimals_are_exact():
    """0.1 + 0.2 and 0.3 tie, though their doubles differ."""
    a, b = np.array([0.1, 0.2, 0.0, 0.5]), np.array([0.0, 0.0, 0.3, 0.0])
    whole = permutation_test(a * 10 // 1, b * 10 // 1, method="exact").p_value
    assert permutation_test(a, b).p_value == permutation_test([1, 2, 0, 5], [0, 0, 3, 0]).p_value
    assert whole > 0


def test_work_beyond_the_budget_is_sampled_or_refused():
    """Six decimals on many instances: the grid would be enormous."""
    a, b = np.random.default_rng(0).random((2, 500)).round(6)
    sampled = permutation_test(a, b, resamples=500)
    assert sampled.method == "montecarlo"
    assert "over the budget" in sampled.reason
    with pytest.raises(InputError, match="an exact test takes .* terms, over the budget"):
        permutation_test(a, b, method="exact")
