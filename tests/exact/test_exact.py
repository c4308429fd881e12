"""Exact tests against enumeration and SciPy."""

import math
import re
from typing import get_args
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import enumerate_swaps, f1, random_counts
from scipy.stats import binomtest, wilcoxon

from sigjax import InputError, SampleMetric, permutation_test
from sigjax.exact import plans
from sigjax.records import Column
from sigjax.records.settings import Alternative, Method
from sigjax.resample.extreme import Extreme
from sigjax.testing.problem import exact_columns

pytestmark = pytest.mark.slow

ALTERNATIVES = get_args(Alternative)
METHODS = [method for method in get_args(Method) if method not in ("auto", "montecarlo")]
"""A new one is tested against enumeration below."""


def wavy(sums):
    """A score that is monotone in nothing."""
    return np.sin(0.7 * sums[..., 0]) + 0.1 * sums[..., 1] ** 2


def ratio(sums):
    return sums[..., 0] / (2.0 + sums[..., 1])


def product(sums):
    return sums[..., 0] * sums[..., 1]


def not_all_signs():
    """Keep pairs of few units from being enumerated, so that the grid of two axes is tested."""
    return mock.patch.object(plans, "few_units", return_value=None)


SCORES = (wavy, ratio, product)
ROWS = st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=1, max_size=10)


@settings(max_examples=80, deadline=None)
@given(ROWS, st.sampled_from(ALTERNATIVES), st.sampled_from(SCORES), st.sampled_from(METHODS))
def test_two_statistics_are_enumeration(rows, alternative, score, method):
    a, b = np.array(rows)[:, :2], np.array(rows)[:, 2:]
    with not_all_signs():
        result = permutation_test(a, b, metric=score, method=method, alternative=alternative)
    assert result.method == method or (a == b).all()
    assert result.p_value == pytest.approx(enumerate_swaps(a, b, score, alternative), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_score_need_not_be_a_number_where_no_swap_leads(method):
    """One axis at its end would need the other at 2 + s_1 = 0."""
    a, b = np.array([[0, 0], [0, 0], [1, 0]]), np.array([[0, 3], [1, 0], [0, 5]])
    with not_all_signs():
        result = permutation_test(a, b, metric=ratio, method=method)
    assert (result.method, result.p_value) == (method, enumerate_swaps(a, b, ratio, "two-sided"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=11),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from([None, lambda sums: sums[..., 0] ** 2 - 3 * sums[..., 0]]),
)
def test_one_statistic_is_enumeration(table, alternative, metric):
    """Also for a score that is not monotone in the sum."""
    a, b = np.array(table).T[:, :, None]
    result = permutation_test(a, b, metric=metric or "mean", method="exact", alternative=alternative)
    score = metric or (lambda sums: sums[..., 0] / len(a))
    assert result.method == "exact"
    assert result.p_value == pytest.approx(enumerate_swaps(a, b, score, alternative), rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", range(1, 17))
def test_enumeration_up_to_16_units(size, alternative):
    """Counts of F1, all 2^n swaps."""
    a, b = random_counts(np.random.default_rng(size), 2, size).values()
    with not_all_signs():
        result = permutation_test(a, b, metric="fscore", method="exact", alternative=alternative)
    assert result.p_value == pytest.approx(enumerate_swaps(a, b, f1, alternative), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 5)] * 6), min_size=1, max_size=9),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from([1, 10**7 + 1, 0.1, 1 / 3]),
)
def test_all_signs_of_three_statistics_are_enumeration(rows, alternative, unit):
    """Also numbers so large, or so many digits, that no grid could hold them."""

    def score(sums):
        return sums[..., 0] * sums[..., 1] - sums[..., 2] * unit

    a, b = np.array(rows)[:, :3] * unit, np.array(rows)[:, 3:] * unit
    result = permutation_test(a, b, metric=score, method="exact", alternative=alternative)
    # Ties of reals: rounding is relative to the products of sums.
    tolerance = 1e-12 * (max(unit, 1) * 50) ** 2
    assert result.method == "exact"
    assert result.p_value == enumerate_swaps(a, b, score, alternative, tolerance)


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (5, 3), (30, 30), (31, 30), (400, 20), (1000, 0), (3000, 1000)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_test(wins, losses, alternative):
    """For 0/1 data the exact test is the sign test, which is the exact McNemar test when two-sided."""
    a = np.r_[np.ones(wins), np.zeros(losses), np.ones(5)]
    b = np.r_[np.zeros(wins), np.ones(losses), np.ones(5)]
    expected = binomtest(wins, wins + losses, alternative=alternative).pvalue
    result = permutation_test(a, b, metric="accuracy", alternative=alternative)
    assert result.method == "exact"
    assert result.p_value == pytest.approx(expected, rel=5e-10, abs=0.0)  # ten digits


@pytest.mark.parametrize(("wins", "losses"), [(17, 1), (22, 2), (39, 1), (30, 30), (1, 29)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_a_score_that_is_not_known_to_be_monotone_has_the_sign_test_too(wins, losses, alternative):
    """The sum of a and b is the same in all swaps, so that the difference of squares is n times that of sums."""
    a, b = np.r_[np.ones(wins), np.zeros(losses)], np.r_[np.zeros(wins), np.ones(losses)]
    expected = binomtest(wins, wins + losses, alternative=alternative).pvalue
    result = permutation_test(a, b, metric=lambda sums: sums[..., 0] ** 2, method="exact", alternative=alternative)
    assert result.p_value == pytest.approx(expected, rel=5e-10, abs=0.0)  # ten digits


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [5, 30, 50])
def test_signed_rank_sum_is_wilcoxon(size, alternative):
    differences = np.random.default_rng(size).normal(0.3, 1.0, size)
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    result = permutation_test(ranks * np.sign(differences), np.zeros(size), method="exact", alternative=alternative)
    expected = wilcoxon(differences, method="exact", alternative=alternative).pvalue
    assert result.p_value == pytest.approx(expected, rel=5e-10)


def test_p_values_below_the_smallest_double():
    result = permutation_test(np.ones(2000), np.zeros(2000))
    assert result.p_value == 0.0
    assert result.log10_p == float(f"{-1999 * math.log10(2):.9e}")
    # Two statistics whose product is largest when all signs are equal, 2^-1999 again.
    both = np.column_stack([np.ones(2000), 1 + np.arange(2000) % 3])
    twice = permutation_test(both, 0 * both, metric=product, method="exact")
    assert twice.p_value == 0.0
    assert twice.log10_p == result.log10_p


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mid_p_counts_ties_half(alternative):
    """For 0/1 data it is the mid-p McNemar test: P(X > x) + P(X = x) / 2."""
    a, b = np.r_[np.ones(14), np.zeros(5)], np.r_[np.zeros(14), np.ones(5)]
    whole = permutation_test(a, b, method="exact", alternative=alternative).p_value
    result = permutation_test(a, b, method="exact", alternative=alternative, mid_p=True)
    tie = math.comb(19, 5) / 2**19 * (2 if alternative == "two-sided" else 1)
    assert result.p_value == pytest.approx(whole - tie / 2, rel=1e-12)
    assert permutation_test(a, a, method="exact", mid_p=True).p_value == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_mid_p_of_two_statistics(method):
    a, b = random_counts(np.random.default_rng(3), 2, 9).values()
    masks = np.array(np.meshgrid(*[[0, 1]] * 9)).reshape(9, -1).T[:, :, None]
    deltas = f1(np.where(masks, b, a).sum(axis=1) * 1.0) - f1(np.where(masks, a, b).sum(axis=1) * 1.0)
    observed = abs(float(f1(a.sum(axis=0) * 1.0) - f1(b.sum(axis=0) * 1.0)))
    expected = (np.abs(deltas) > observed + 1e-12).mean() + 0.5 * (np.abs(np.abs(deltas) - observed) <= 1e-12).mean()
    assert permutation_test(a, b, metric="fscore", method=method, mid_p=True).p_value == pytest.approx(expected)


def test_three_statistics_are_not_eligible():
    a, b = (np.tile(each, (7, 1)) for each in ([[3, 4, 5], [1, 1, 1], [0, 0, 2]], [[2, 3, 5], [1, 0, 1], [0, 0, 1]]))
    with pytest.raises(
        InputError,
        match=r"no exact test for 'a' and 'b': more than two statistics differ .*s2.*few units; use method auto",
    ):
        permutation_test(a, b, metric=wavy, method="exact")
    assert permutation_test(a, b, metric=wavy, resamples=500).method == "tilted"


def test_dependent_statistics_are_one():
    """Right and wrong answers out of a fixed number: two columns, but one axis."""
    right = np.array([[3], [5], [2], [7], [4]]), np.array([[2], [5], [4], [3], [3]])
    a, b = (np.column_stack([hits, 8 - hits, 2 * hits]) for hits in right)
    result = permutation_test(a, b, metric=lambda sums: sums[..., 0] / sums[..., 1], method="exact")
    assert result.reason == "one statistic differs (s0, s1, s2: linearly related)"
    assert result.p_value == enumerate_swaps(a, b, lambda sums: sums[..., 0] / sums[..., 1], "two-sided")


def test_decimals_are_exact():
    """0.1 + 0.2 and 0.3 tie, though their doubles differ."""
    a, b = np.array([0.1, 0.2, 0.0, 0.5]), np.array([0.0, 0.0, 0.3, 0.0])
    assert permutation_test(a, b).p_value == permutation_test([1, 2, 0, 5], [0, 0, 3, 0]).p_value


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14), st.integers(0, 10**6), st.sampled_from(ALTERNATIVES), st.booleans())
def test_few_reals_are_enumeration(size, seed, alternative, decimals):
    values = np.random.default_rng(seed).normal(0.2, 1.0, (2, size, 1))
    a, b = values.round(6) if decimals else values
    result = permutation_test(a, b, method="exact", alternative=alternative)
    assert result.error_bound == 0.0
    assert result.p_value == enumerate_swaps(a, b, lambda sums: sums[..., 0] / size, alternative)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("shift", [0.0, 0.05, 0.3, 1.0])
def test_bounds_of_reals_hold_the_p_value(shift, alternative):
    """Against Monte Carlo, and, where p is small, against the exact test of the numbers cut to few decimals."""
    values = np.random.default_rng(2).normal(0.0, 1.0, 400) + shift
    result = permutation_test(values, np.zeros(400), method="exact", alternative=alternative)
    assert result.p_interval is not None
    low, high = result.p_interval
    assert result.p_value == high
    assert 1.0 - low / high == pytest.approx(result.error_bound, rel=1e-9)
    assert 0.0 < result.error_bound <= 0.01
    mid = permutation_test(values, np.zeros(400), method="exact", alternative=alternative, mid_p=True)
    assert mid.p_interval == pytest.approx(result.p_interval, rel=1e-12)
    close = permutation_test(values.round(3), np.zeros(400), method="exact", alternative=alternative)
    assert close.p_interval is None
    # Cutting moves the standardised sum by less than sqrt(400) 5e-4 / 20, and log p by that times the slope.
    slope = 1.0 + math.sqrt(2.0 * abs(close.log10_p) * math.log(10.0))
    assert abs(close.log10_p - result.log10_p) * math.log(10.0) < 0.01 + 3 * 5e-4 * slope
    if close.p_value > 1e-3:
        sampled = permutation_test(values, np.zeros(400), method="montecarlo", alternative=alternative)
        assert sampled.p_interval is not None
        least, most = sampled.p_interval
        assert least * 0.97 < high
        assert low < most * 1.03


def test_work_beyond_the_budget_is_sampled_or_refused():
    a, b = random_counts(np.random.default_rng(0), 2, 800).values()
    sampled = permutation_test(a, b, metric="fscore", resamples=500, budget=1e-3)
    assert sampled.method == "montecarlo"
    assert re.fullmatch(r"an exact test takes about \S+ s, over the budget of 0.001 s", sampled.reason)
    assert permutation_test(a, b, metric="fscore", budget=1).method == "exact"
    with pytest.raises(InputError, match=r"an exact test takes about \S+ s, over the budget of 0.001 s; use method"):
        permutation_test(a, b, metric="fscore", method="exact", budget=1e-3)
    with pytest.raises(InputError, match=r"an exact test takes about \S+ GiB, more than 0.0001; use method auto"):
        permutation_test(a, b, metric="fscore", method="exact", memory=1e-4)
    with pytest.raises(InputError, match="budget must be a number above 0, got -1"):
        permutation_test(a, b, metric="fscore", budget=-1)


def test_a_score_that_is_not_monotone_has_no_bounds():
    a, b = np.random.default_rng(0).normal(size=(2, 100, 2))
    a[:, 1] = b[:, 1]
    assert permutation_test(a, b, metric=wavy, resamples=500).method == "montecarlo"
    with pytest.raises(InputError, match="not monotone"):
        permutation_test(a, b, metric=wavy, method="exact")


@pytest.mark.parametrize("size", [2, 4, 12, 30])
@pytest.mark.parametrize("largest", [10**7, 3 * 10**8, 10**12])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_large_counts_end_in_a_p_value_or_a_refusal(size, largest, method):
    rng = np.random.default_rng(size)
    gold = rng.integers(1, largest, size)
    a, b = (np.column_stack([rng.integers(0, gold + 1), gold + rng.integers(0, largest, size), gold]) for _ in "ab")
    try:
        result = permutation_test(a, b, metric="fscore", method=method, resamples=1000)
    except InputError as error:
        assert method != "auto"  # noqa: PT017
        assert re.search("too large|GiB|budget", str(error))  # noqa: PT017
    else:
        assert result.method == "montecarlo" if size > 12 else result.method != "montecarlo"
        if size <= 12:
            assert result.p_value == pytest.approx(enumerate_swaps(a, b, f1, "two-sided"), rel=1e-9)


def test_a_million_units():
    """The sum of a million signs is a binomial count."""
    wins, losses = 502_000, 498_000
    a, b = np.r_[np.ones(wins), np.zeros(losses)], np.r_[np.zeros(wins), np.ones(losses)]
    result = permutation_test(a, b, metric="accuracy")
    assert result.p_value == pytest.approx(binomtest(wins, wins + losses).pvalue, rel=1e-9, abs=0.0)


def test_extreme_cases():
    assert permutation_test([1], [0]).p_value == 1.0
    assert permutation_test([1], [0], alternative="greater").p_value == 0.5
    assert permutation_test([0, 1, 0], [0, 1, 0]).p_value == 1.0
    assert permutation_test([5] * 10, [0] * 10).p_value == 2**-9
    assert permutation_test([1, -1], [0, 0], alternative="less").p_value == 0.75
    one = permutation_test([[3, 4, 5]], [[1, 3, 5]], metric="fscore", alternative="greater", method="exact")
    assert one.p_value == 0.5
    same = permutation_test([[3, 4, 5]] * 3, [[3, 4, 5]] * 3, metric="fscore", method="exact")
    assert same.p_value == 1.0
    assert permutation_test([1e-3] * 60, [0.0] * 60, method="exact").log10_p == pytest.approx(-59 * math.log10(2))


@pytest.mark.parametrize("method", ["dp", "tree"])
@pytest.mark.parametrize("metric", ["fscore", "recall"])
def test_the_algorithms_agree(method, metric):
    a, b = random_counts(np.random.default_rng(8), 2, 200).values()
    exact = permutation_test(a, b, metric=metric, method="exact")
    other = permutation_test(a, b, metric=metric, method=method)
    assert other.method == method
    assert other.p_value == pytest.approx(exact.p_value, rel=exact.error_bound + other.error_bound)
    assert other.error_bound < 1e-3


def test_dp_and_tree_refuse_what_they_cannot_hold():
    with pytest.raises(InputError, match=r"too small for the dynamic program; use method exact or auto$"):
        permutation_test(np.ones(1500), np.zeros(1500), method="dp")
    with pytest.raises(InputError, match="rounding error of the exact test may exceed 1% of p"):
        permutation_test(np.ones(200), np.zeros(200), method="tree")


WHOLE = SampleMetric("mean of all", lambda x: x.mean(axis=-1), ("value",))


@pytest.mark.parametrize(("method", "metric"), [*((method, "mean") for method in METHODS), ("exact", WHOLE)])
def test_a_criterion_that_leaves_out_ties_is_an_internal_error(method, metric):
    """p of an exact test cannot be 0: what was observed is one of the outcomes."""
    for size in (3, 12, 60) if metric == "mean" else (3,):
        result = permutation_test(np.arange(size) + 1, np.zeros(size), metric=metric, method="exact")
        assert result.log10_p == pytest.approx((1 - size) * math.log10(2))
        with (
            mock.patch.object(Extreme, "met", lambda self, values: abs(values) > abs(self.observed)[..., None]),
            pytest.raises(RuntimeError, match="internal error of sigjax: the observed outcome is not at least as extr"),
        ):
            permutation_test(np.arange(size) + 1, np.zeros(size), metric=metric, method=method)


def test_an_exact_test_whose_p_is_0_is_an_internal_error():
    with pytest.raises(RuntimeError, match="internal error of sigjax: an exact test left out the observed outcome"):
        exact_columns([(0.5, -0.3, 0.0), (0.0, -math.inf, 0.0)], Column.constant("few units", 2))
    assert exact_columns([(0.0, -400.0, 0.0)], Column.constant("few units", 1)).column("log10_p").tolist() == [-400.0]
