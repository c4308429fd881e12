"""Tails and quantiles of known laws: formulas in rational numbers, numbers of 60 digits, SciPy, binomial intervals."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import gammaincinv
from scipy.stats import beta, binom

from sigjax.testing.special import (
    binomial_upper,
    chi_square_tail,
    clopper_pearson,
    log_upper,
    normal_below,
    normal_quantile,
    normal_tail,
    t_quantile,
    t_tail,
)


def tail_of_t(t, degrees):
    """P(T >= t) for an even number of degrees of freedom (Abramowitz and Stegun 26.7.4), `Decimal`."""
    with localcontext() as context:
        context.prec = 500
        square = Decimal(degrees) / (degrees + Decimal(t) ** 2)
        term = found = Decimal(1)
        for k in range(1, degrees // 2):
            term *= square * (2 * k - 1) / (2 * k)
            found += term
        return (1 - (1 - square).sqrt() * found) / 2


@pytest.mark.parametrize("degrees", [2, 8, 98, 2032])
@pytest.mark.parametrize("t", ["1e-6", "0.3", "2", "8", "30", "35"])
def test_tails_of_t_are_right_where_they_are_tiny(t, degrees):
    """Down to 1e-200 for t = 35 and 2,032 degrees of freedom."""
    upper = tail_of_t(t, degrees)
    assert t_tail(float(t), degrees, "greater") == pytest.approx(float(upper), rel=1e-12, abs=0.0)
    assert t_tail(-float(t), degrees, "two-sided") == pytest.approx(float(2 * upper), rel=1e-12, abs=0.0)
    assert t_tail(float(t), degrees, "less") == pytest.approx(float(1 - upper), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("degrees", [0.3, 1.35, 2.5, 9.0, 2033.0, 1e5, 1e8])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.9999, 1.0 - 1e-9])
def test_quantiles_of_t_have_their_tail(level, degrees):
    assert t_tail(t_quantile(level, degrees), degrees, "two-sided") == pytest.approx(1.0 - level, rel=1e-12)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.9999, 1.0 - 1e-9])
def test_quantiles_of_t_in_closed_form(level):
    """The laws of Cauchy, of two and of infinitely many degrees of freedom, and sums of 60 digits."""
    tail = 1.0 - level
    assert t_quantile(level, 1.0) == pytest.approx(1.0 / math.tan(math.pi * tail / 2.0), rel=1e-13)
    assert t_quantile(level, 2.0) == pytest.approx(level * math.sqrt(2.0 / (tail * (1.0 + level))), rel=1e-13)
    assert t_quantile(level, 1e13) == pytest.approx(-NormalDist().inv_cdf(tail / 2.0), rel=1e-12)
    for degrees in (4, 30, 1998):
        assert float(2 * tail_of_t(t_quantile(level, degrees), degrees)) == pytest.approx(tail, rel=2e-13)


@pytest.mark.parametrize("z", [1e-4, 0.5, 4.0, 10.0, 30.0, 37.0])
def test_tails_of_the_normal_and_chi_square_laws(z):
    both = math.erfc(z / math.sqrt(2.0))
    assert normal_tail(-z, "two-sided") == pytest.approx(both, rel=1e-12, abs=0.0)
    assert normal_tail(z, "greater") == normal_tail(-z, "less") == pytest.approx(both / 2.0, rel=1e-12, abs=0.0)
    assert chi_square_tail(z * z) == pytest.approx(both, rel=1e-12, abs=0.0)


def below(z):
    """The probability of a normal variable below z, a `Fraction` with an error below 1e-40 for |z| <= 8.

    Integral of the Taylor series of the density (Abramowitz and Stegun 26.2.10); pi by Machin's formula.
    """
    z, one = Fraction(z), 10**100
    arcs = [sum((-1) ** k * one // ((2 * k + 1) * n ** (2 * k + 1)) for k in range(80)) for n in (5, 239)]
    root = Fraction(math.isqrt(2 * 4 * (4 * arcs[0] - arcs[1]) * one), one)
    step, total, term = -(round(z * z * one)), 0, round(z * one)
    for k in range(300):
        total += term // (2 * k + 1)
        term = term * step // (2 * one * (k + 1))
    return Fraction(1, 2) + Fraction(total, one) / root


@pytest.mark.parametrize("scale", [1e-9, 0.5, 2.0, 4.5, 8.0])
def test_the_normal_law_is_correctly_rounded(scale):
    """So that it cannot depend on a library: `NormalDist.cdf` of Python 3.13 and of 3.14 fail, and differ."""
    for k in range(-20, 21):
        z = scale * math.sin(k * k * k)
        assert normal_below(z) == float(below(z))
    assert (normal_below(-math.inf), normal_below(-1e300), normal_below(8.1)) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "p", [1e-15, 1e-9, 0.005, 0.025, 0.0749, 0.0751, 1 / 3, 0.5 - 2**-30, 0.5, 0.9, 0.975, 1 - 1e-9]
)
def test_quantiles_of_the_normal_law_are_correctly_rounded(p):
    z = normal_quantile(p)
    low, high = ((Fraction(z) + Fraction(math.nextafter(z, end))) / 2 for end in (-math.inf, math.inf))
    assert below(low) <= Fraction(p) <= below(high)


def test_quantiles_of_the_normal_law_where_it_ends():
    assert [normal_quantile(p) for p in (1e-300, 1e-17)] == [NormalDist().inv_cdf(p) for p in (1e-300, 1e-17)]


@pytest.mark.parametrize(("successes", "trials"), [(9, 10), (77, 100), (900, 1000), (700, 700)])
def test_binomial_tails_are_sums_of_coefficients(successes, trials):
    expected = Fraction(sum(math.comb(trials, k) for k in range(successes, trials + 1)), 2**trials)
    assert binomial_upper(successes, trials) == pytest.approx(float(expected), rel=1e-12, abs=0.0)


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


@pytest.mark.parametrize("trials", [7, 999, 1_048_576])
def test_a_count_has_the_same_interval_whatever_others_are_there(trials):
    counts = many(trials)
    low, high = clopper_pearson(counts, trials, 0.95)
    for place in range(0, len(counts), max(1, len(counts) // 40)):
        alone = clopper_pearson(counts[place : place + 1], trials, 0.95)
        assert (alone[0][0], alone[1][0]) == (low[place], high[place])
    backwards = clopper_pearson(counts[::-3], trials, 0.95)
    np.testing.assert_array_equal(backwards, [low[::-3], high[::-3]])


def log_factorial(n):
    """By Stirling's series, `Decimal`; for large n."""
    x = Decimal(n)
    tau = 2 * Decimal("3.14159265358979323846264338327950288419716939937510")
    return (tau * x).ln() / 2 + x * (x.ln() - 1) + 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)


@pytest.mark.parametrize(
    ("count", "trials", "level"),
    [(500_000_123, 10**9, 0.95), (30_000, 10**9, 0.99), (999_900_000, 10**9, 0.2), (12_345, 10**6, 0.999)],
)
def test_ends_of_very_many_trials_are_right_in_forty_digits(count, trials, level):
    """The tail at ends 1e-11 below and above holds the level between them."""
    low, _ = clopper_pearson(np.array([count]), trials, level)

    def at_least(x):
        total = term = Decimal(1)
        j = 0
        while term > Decimal("1e-25") * total:
            term *= x / (1 - x) * (trials - count - j) / (count + j + 1)
            total, j = total + term, j + 1
        of_count = log_factorial(trials) - log_factorial(count) - log_factorial(trials - count)
        return (of_count + count * x.ln() + (trials - count) * (1 - x).ln() + total.ln()).exp()

    with localcontext() as context:
        context.prec = 40
        end, tail = Decimal(float(low[0])), Decimal((1.0 - level) / 2.0)
        assert at_least(end * (1 - Decimal("1e-11"))) < tail < at_least(end * (1 + Decimal("1e-11")))


@pytest.mark.parametrize("odds", [Fraction(1), Fraction(3), Fraction(1, 40), Fraction(9)])
@pytest.mark.parametrize("trials", [4, 40, 300])
def test_upper_tails_have_all_digits_on_both_sides(trials, odds):
    """Logarithms of sums of fractions, near 1 those of the complement, to 12 digits."""
    chance = odds / (1 + odds)
    masses = [math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
    with localcontext() as context:
        context.prec = 60
        for successes in {1, 2, trials // 4, round(trials * chance), round(trials * chance) + 1, trials - 1, trials}:
            tail = sum(masses[successes:], Fraction(0))
            if not 1 <= successes <= trials:
                continue
            expected = (Decimal(tail.numerator) / Decimal(tail.denominator)).ln()
            assert log_upper(successes, trials, float(odds)) == pytest.approx(float(expected), rel=1e-11)
