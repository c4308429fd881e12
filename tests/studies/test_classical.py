"""The classical tests against SciPy, statsmodels, enumeration and the worked example of Yeh (2000)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportions_ztest

from sigjax.studies.tests import (
    LeftOut,
    binomial_z,
    chi_square,
    dependence,
    mcnemar,
    paired_t,
    sign_test,
    two_sample_t,
    wald_z,
    wilcoxon,
)

ALTERNATIVES = ("two-sided", "greater", "less")
TINY = 1e-300


def differences(size, seed, spread=1000, shift=100):
    return np.random.default_rng(seed).integers(-spread, spread, size) + shift


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [2, 5, 40, 700])
def test_t_tests_are_those_of_scipy(size, alternative):
    a, b = differences(size, 1), differences(size, 2, shift=0)
    for ours, theirs in (
        (paired_t(a - b, alternative), scipy.stats.ttest_rel(a, b, alternative=alternative)),
        (two_sample_t(a, b, alternative), scipy.stats.ttest_ind(a, b, alternative=alternative)),
    ):
        assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12, abs=TINY)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wald_is_the_z_of_the_mean(alternative):
    d = differences(30, 3)
    z = d.mean() / scipy.stats.sem(d)
    tail = {"two-sided": 2 * scipy.stats.norm.sf(abs(z)), "greater": scipy.stats.norm.sf(z)}
    result = wald_z(d, alternative)
    assert result.statistic == pytest.approx(z, rel=1e-13)
    assert result.p_value == pytest.approx(tail.get(alternative, scipy.stats.norm.cdf(z)), rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("above", "below"), [(0, 1), (3, 0), (5, 5), (12, 4), (4, 12), (900, 100), (0, 0)])
def test_sign_test_is_the_binomial_test(above, below, alternative):
    d = np.repeat([7, -2, 0], [above, below, 3])
    expected = scipy.stats.binomtest(above, above + below, 0.5, alternative=alternative).pvalue if above + below else 1
    result = sign_test(d, alternative)
    assert result.statistic == above
    assert result.p_value == pytest.approx(expected, rel=1e-11, abs=TINY)
    assert ("3 zeros are left out") in result.assumes


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [1, 2, 7, 30, 50])
def test_wilcoxon_without_ties_is_exact_as_in_scipy(size, alternative):
    rng = np.random.default_rng(size)
    d = (rng.permutation(size) + 1) * rng.choice([-1, 1], size, p=[0.3, 0.7])
    theirs = scipy.stats.wilcoxon(d, alternative=alternative, method="exact")
    result = wilcoxon(d, alternative)
    assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert result.statistic == d[d > 0].sum()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("d", [[1, 1, -1, 2, 0, 3], [5, -5, 5, 5], [-3, -3, 1, 0, 0, 2, 7, 7, -7, 4]])
def test_wilcoxon_with_ties_and_zeros_is_the_enumeration_of_signs(d, alternative):
    kept = [each for each in d if each]
    ranks = [Fraction(int(2 * rank), 2) for rank in scipy.stats.rankdata(np.abs(kept))]
    sums = [
        sum((rank for rank, sign in zip(ranks, signs, strict=True) if sign), Fraction())
        for signs in itertools.product((0, 1), repeat=len(kept))
    ]
    observed = sum((rank for rank, each in zip(ranks, kept, strict=True) if each > 0), Fraction())
    greater, less = (
        Fraction(sum(hits), len(sums)) for hits in ([s >= observed for s in sums], [s <= observed for s in sums])
    )
    expected = {"greater": greater, "less": less, "two-sided": min(Fraction(1), 2 * min(greater, less))}
    result = wilcoxon(np.array(d), alternative)
    assert (result.statistic, result.p_value) == (float(observed), float(expected[alternative]))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_of_many_is_the_normal_approximation_of_scipy(alternative):
    d = differences(2000, 5, spread=50, shift=1)
    theirs = scipy.stats.wilcoxon(d, alternative=alternative, method="asymptotic", correction=False)
    result = wilcoxon(d, alternative)
    assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert "normal approximation" in result.assumes


def test_wilcoxon_keeps_small_tails():
    """scipy#26026: the exact p was 0 where it is about 8e-17. All plus: p = 2 / 2^n."""
    assert wilcoxon(np.arange(1, 101), "two-sided").p_value == 2.0**-99
    assert sign_test(np.arange(1, 901), "greater").p_value == pytest.approx(2.0**-900, rel=1e-10, abs=TINY)


@pytest.mark.parametrize(("above", "below"), [(9, 1), (1, 9), (28, 6), (5, 4), (400, 300)])
def test_mcnemar_is_that_of_statsmodels(above, below):
    exact, mid, plain, corrected = mcnemar(above, below, "two-sided")
    table = [[3, above], [below, 11]]
    assert exact.p_value == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-11)
    for ours, correction in ((plain, False), (corrected, True)):
        theirs = statsmodels_mcnemar(table, exact=False, correction=correction)
        assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-11)
    point = scipy.stats.binom.pmf(above, above + below, 0.5)
    assert mid.p_value == pytest.approx(exact.p_value - point, rel=1e-9)


def test_mcnemar_one_sided():
    for above, below in ((9, 1), (3, 8), (4, 4)):
        law = scipy.stats.binom(above + below, 0.5)
        exact, mid, plain, corrected = mcnemar(above, below, "greater")
        assert exact.p_value == pytest.approx(law.sf(above - 1), rel=1e-12)
        assert mid.p_value == pytest.approx(law.sf(above - 1) - 0.5 * law.pmf(above), rel=1e-12)
        assert isinstance(plain, LeftOut)
        assert isinstance(corrected, LeftOut)
        assert [t.p_value for t in mcnemar(below, above, "less")[:2]] == [exact.p_value, mid.p_value]


@pytest.mark.parametrize("equal", [0, 1, 5, 1000])
def test_mcnemar_without_a_difference_gives_one(equal):
    """A division by b + c = 0, and a correction that makes p < 1 of b = c."""
    exact, mid, *chi_squares = (test.p_value for test in mcnemar(equal, equal, "two-sided"))
    assert [exact, *chi_squares] == [1.0] * 3
    assert mid == pytest.approx(1.0 - 0.5 * scipy.stats.binom.pmf(equal, 2 * equal, 0.5) if equal else 1.0)
    assert mcnemar(0, 0, "greater")[1].p_value == 1.0


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 1), (2, 3), (3, 3), (2, 6)])
def test_mid_p_counts_half_of_what_is_as_extreme(above, below):
    sizes = np.abs(2 * np.arange(above + below + 1) - above - below)
    chances = scipy.stats.binom.pmf(np.arange(above + below + 1), above + below, 0.5)
    size = abs(above - below)
    expected = chances[sizes > size].sum() + 0.5 * chances[sizes == size].sum()
    assert mcnemar(above, below, "two-sided")[1].p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("successes", "trials"), [((47, 25), (103, 103)), ((47, 25), (95, 39)), ((0, 3), (9, 9))])
def test_binomial_z_is_that_of_statsmodels(successes, trials, alternative):
    names = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
    z, p = proportions_ztest(successes, trials, alternative=names[alternative])
    result = binomial_z(successes, trials, alternative)
    assert (result.statistic, result.p_value) == pytest.approx((z, p), rel=1e-12)


@pytest.mark.parametrize("table", [[[47, 48], [25, 14]], [[1, 2], [3, 4]], [[0, 5], [2, 5]]])
def test_chi_square_is_that_of_scipy(table):
    theirs = scipy.stats.chi2_contingency(table, correction=False)
    relevant, spurious = zip(*table, strict=True)
    result = chi_square(relevant, spurious, "two-sided")
    assert (result.statistic, result.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def test_tables_that_scipy_refuses():
    assert chi_square((3, 4), (0, 0), "two-sided").p_value == 1.0
    assert chi_square((0, 0), (3, 4), "two-sided").p_value == 1.0
    assert isinstance(chi_square((0, 1), (0, 2), "two-sided"), LeftOut)
    assert binomial_z((5, 9), (5, 9), "two-sided").p_value == 1.0
    assert isinstance(binomial_z((0, 1), (0, 2), "two-sided"), LeftOut)


def test_no_difference_gives_one_and_no_deviation_none():
    zeros = np.zeros(6, int)
    for alternative in ALTERNATIVES:
        for test in (paired_t, wald_z, sign_test, wilcoxon):
            assert test(zeros, alternative).p_value == 1.0
    for test in (paired_t, wald_z):
        assert test(zeros + 3, "two-sided").reason == "all differences are equal: their standard deviation is 0"
        assert "one" in test(zeros[:1], "two-sided").reason
    assert isinstance(two_sample_t(zeros + 1, zeros, "two-sided"), LeftOut)
    assert isinstance(two_sample_t(zeros[:1], zeros[:1], "two-sided"), LeftOut)


@pytest.mark.parametrize(("correlation", "factor"), [(0.38, 1.27), (0.5, 1.41), (0.8, 2.24)])
def test_the_table_of_yeh_on_what_independence_costs(correlation, factor):
    """Section 2.1: standard deviations of equal size and the correlations of his table."""
    x, y = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    found, cost = dependence(x, correlation * x + math.sqrt(1 - correlation**2) * y)
    assert found == pytest.approx(correlation, rel=1e-12)
    assert cost == pytest.approx(factor, abs=0.005)
