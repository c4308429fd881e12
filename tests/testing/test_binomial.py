"""Ends of binomial intervals at thousands of counts: SciPy, closed forms, the Poisson limit, rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaincinv
from scipy.stats import beta, binom

from sigjax.testing.p_values import clopper_pearson

OF_A_STOP = 1.0 - 1e-3 / (300 * 8)
"""The level of an interval at a look of `resamples="auto"` for 300 pairs."""


def many(trials):
    """All small counts, and thousands of others."""
    return np.unique(np.concatenate([np.arange(min(trials, 2000) + 1), np.linspace(0, trials, 3000).astype(int)]))


@pytest.mark.parametrize("level", [0.5, 0.95, OF_A_STOP, 1.0 - 1e-12])
@pytest.mark.parametrize("trials", [1, 7, 999, 100_000, 1_048_576])
def test_thousands_of_counts_in_one_call_are_as_in_scipy(trials, level):
    counts, tail = many(trials), (1.0 - level) / 2.0
    low, high = clopper_pearson(counts, trials, level)
    some, others = counts > 0, counts < trials
    assert (low[~some] == 0.0).all()
    assert (high[~others] == 1.0).all()
    # SciPy 1.17 is off by 2e-8 where a count or its successor is 1000; elsewhere it is far closer.
    tolerance = np.where(abs(counts - 999.5) < 1.0, 1e-7, 1e-10)
    expected = beta.ppf(tail, counts[some], trials - counts[some] + 1)
    assert (abs(low[some] / expected - 1.0) < tolerance[some]).all()
    expected = beta.isf(tail, counts[others] + 1, trials - counts[others])
    assert (abs(high[others] / expected - 1.0) < tolerance[others]).all()
    np.testing.assert_allclose(binom.sf(counts[some] - 1, trials, low[some]), tail, rtol=1e-7)
    others &= high < 0.99  # closer to 1 a double cannot hold the end as closely
    np.testing.assert_allclose(binom.cdf(counts[others], trials, high[others]), tail, rtol=1e-7)


@pytest.mark.parametrize("trials", [1, 10, 1000, 10**7, 10**9])
def test_no_and_one_success_have_closed_forms(trials):
    low, high = clopper_pearson(np.array([0, 1, trials - 1, trials]), trials, 0.95)
    assert high[0] == pytest.approx(-math.expm1(math.log(0.025) / trials), rel=1e-13)
    assert low[1] == pytest.approx(-math.expm1(math.log1p(-0.025) / trials), rel=1e-13)
    assert 1.0 - high[2] == pytest.approx(-math.expm1(math.log1p(-0.025) / trials), rel=1e-13, abs=3e-16)
    assert low[3] == pytest.approx(0.025 ** (1.0 / trials), rel=1e-14)


def test_few_successes_of_very_many_trials_are_poisson():
    """SciPy's own interval is off by half here."""
    low, high = clopper_pearson(np.array([1000]), 10**9, 0.95)
    assert low[0] == pytest.approx(gammaincinv(1000, 0.025) / 1e9, rel=1e-5)
    assert high[0] == pytest.approx(gammaincinv(1001, 0.975) / 1e9, rel=1e-5)


@pytest.mark.parametrize(("count", "trials"), [(1, 3), (5, 10), (17, 40), (39, 40), (3, 99)])
def test_the_ends_are_right_to_the_last_digits_in_rational_arithmetic(count, trials):
    low, _ = clopper_pearson(np.array([count]), trials, 0.95)

    def at_least(x):
        return sum(math.comb(trials, j) * x**j * (1 - x) ** (trials - j) for j in range(count, trials + 1))

    tail = Fraction((1.0 - 0.95) / 2.0)
    below, above = (Fraction(float(low[0])) * (1 + Fraction(sign, 10**13)) for sign in (-1, 1))
    assert at_least(below) < tail < at_least(above)
