"""The bootstrap without sampling, against enumeration, whole numbers, closed forms, SciPy and the sampled bootstrap."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sigjax.exact.bootstrap import (
    bootstrap_p,
    draw_lattice,
    quantile,
    standard_error,
    sum_distribution,
    tail,
)

ALTERNATIVES = ("two-sided", "greater", "less")
TABLES = st.lists(st.lists(st.integers(-7, 7), min_size=1, max_size=6), min_size=1, max_size=3).filter(
    lambda groups: math.prod(len(group) ** len(group) for group in groups) <= 6**6
)


def log_tail(lattice, edge):
    return tail(lattice, edge)[0]


def lattice_of(*groups):
    """The lattice of one list of values a stratum."""
    return draw_lattice(np.concatenate(groups).astype(int), np.repeat(np.arange(len(groups)), list(map(len, groups))))


def enumerate_sums(groups):
    """The sums of all equally likely resamples: n^n of each stratum, and their combinations."""
    draws = [np.asarray(group) for group in groups for _ in group]
    return functools.reduce(lambda sums, draw: np.add.outer(sums, draw).ravel(), draws)


def count_tails(groups, edges):
    """How many resamples have a sum of at least each edge, and of how many, in whole numbers of any length.

    A polynomial with whole coefficients is one long number, and so are its powers; the sum of its high coefficients is
    the remainder of the number's high part by the base less 1.
    """
    total = math.prod(len(group) ** len(group) for group in groups)
    bits = total.bit_length() + 1
    product, lowest = 1, 0
    for group in groups:
        smallest = int(min(group))
        product *= sum(1 << bits * (int(x) - smallest) for x in group) ** len(group)
        lowest += smallest * len(group)
    return [(product >> bits * max(0, edge - lowest)) % (2**bits - 1) for edge in edges], total


def log_fraction(count, total):
    """log(count / total); the quotient of Python's whole numbers is rounded once."""
    if 2 * count > total:
        return math.log1p(-((total - count) / total))
    return math.log(count / total) if count / total > 1e-290 else math.log(count) - math.log(total)


def assert_tails_are_exact(groups, edges):
    lattice, (counts, total) = lattice_of(*groups), count_tails(groups, edges)
    for edge, count in zip(edges, counts, strict=True):
        expected = log_fraction(count, total) if count else -math.inf
        # The logarithms of the oracle are rounded, too, where the quotient would underflow.
        error = tail(lattice, edge)[1] + 4e-16 * math.log(total) * (expected < -600)
        assert log_tail(lattice, edge) == pytest.approx(expected, rel=0, abs=error)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.integers(-60, 60), st.floats(-1.5, 1.5))
def test_law_and_tails_are_enumeration(groups, edge, theta):
    """The law, its tails, its standard deviation, and the law under a tilt."""
    lattice, sums = lattice_of(*groups), enumerate_sums(groups)
    first, probabilities, step = sum_distribution(lattice)
    assert not ((sums - first) % step).any()
    counts = np.bincount((sums - first) // step, minlength=len(probabilities))
    np.testing.assert_allclose(probabilities, counts / len(sums), rtol=0, atol=1e-14)
    weights = counts * np.exp(theta * np.arange(len(counts)))
    np.testing.assert_allclose(
        sum_distribution(lattice, theta).probabilities, weights / weights.sum(), rtol=0, atol=1e-14
    )
    assert math.exp(log_tail(lattice, edge)) == pytest.approx((sums >= edge).mean(), rel=1e-12, abs=0)
    assert math.exp(log_tail(lattice.mirrored(), -edge)) == pytest.approx((sums <= edge).mean(), rel=1e-12, abs=0)
    assert standard_error(lattice) == pytest.approx(np.std(sums), rel=1e-12, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from(ALTERNATIVES), st.sampled_from(["shift", "flip"]), st.integers(-3, 3))
def test_p_is_enumeration(groups, alternative, variant, shift):
    """Also where the observed sum is not the mean of the resampled ones."""
    sums, x = enumerate_sums(groups), sum(map(sum, groups)) + shift
    null = sums - x if variant == "shift" else x - sums
    extreme = {"two-sided": np.abs(null) >= abs(x), "greater": null >= x, "less": null <= x}[alternative]
    p_value, log10_p, error_bound, *_ = bootstrap_p(lattice_of(*groups), x, alternative, variant)
    assert p_value == pytest.approx(extreme.mean(), rel=error_bound + 1e-15, abs=0)
    assert log10_p == pytest.approx(math.log10(extreme.mean()) if extreme.any() else -math.inf, rel=1e-12, abs=1e-12)
    assert error_bound < 1e-11
    assert str(log10_p) != "-0.0"


@settings(max_examples=60, deadline=None)
@given(TABLES, st.floats(0.001, 0.999))
def test_quantiles_are_those_of_the_enumerated_list(groups, q):
    expected = np.quantile(enumerate_sums(groups), q, method="inverted_cdf")
    assert quantile(sum_distribution(lattice_of(*groups)), q) == expected


def _rounding(units, log_p):
    """Relative rounding error of a tail from N units: of the exponent, and of undoing a tilt of sqrt(-2 log p)."""
    return (
        32.0 * np.finfo(float).eps * (math.sqrt(units) * (1.0 + math.sqrt(-2.0 * log_p)) - log_p)
        if log_p > -math.inf
        else 0.0
    )


@pytest.mark.parametrize(("size", "ones"), [(50, 1), (50, 25), (50, 40), (1000, 3), (1000, 500), (10**6, 400_000)])
@pytest.mark.parametrize("z", [-33.0, -10.0, -3.0, -0.5, 0.0, 0.01, 1.0, 4.0, 20.0, 33.0])
def test_binary_data_is_binomial(size, ones, z):
    """Upper and lower tails down to 1e-250 and below."""
    lattice = lattice_of(np.repeat([0, 1], [size - ones, ones]))
    chance, k = ones / size, round(ones + z * math.sqrt(ones * (1 - ones / size)))
    for got, expected in (
        (log_tail(lattice, k), float(binom.logsf(k - 1, size, chance))),
        (log_tail(lattice.mirrored(), -k), float(binom.logcdf(k, size, chance))),
    ):
        # SciPy's own error is of the same kind: its exponents round, and so does the chance.
        assert got == pytest.approx(expected, rel=0, abs=2.0 * _rounding(size, expected))


@pytest.mark.parametrize("k", [50_020, 51_000, 55_300])
def test_many_coins_by_whole_numbers(k):
    """The first term is one quotient of whole numbers; the ratios of the others are known."""
    size = 10**5
    lattice = lattice_of(np.repeat([0, 1], size // 2))
    after = np.arange(k, k + 10_000)
    expected = math.log(math.comb(size, k) / 2**size) + math.log1p(np.cumprod((size - after) / (after + 1)).sum())
    assert log_tail(lattice, k) == pytest.approx(expected, rel=0, abs=tail(lattice, k)[1])


@pytest.mark.parametrize(("size", "ones"), [(150, 75), (200, 3), (200, 190)])
def test_every_tail_of_binary_data_by_whole_numbers(size, ones):
    assert_tails_are_exact([np.repeat([0, 1], [size - ones, ones])], range(size + 2))


@pytest.mark.parametrize("seed", range(12))
def test_tails_by_whole_numbers(seed):
    """Counts, rare large values, a single outlier and unequal strata, over the whole range."""
    rng = np.random.default_rng(seed)
    size, reach = int(rng.integers(2, 70)), int(rng.integers(2, 90))
    group = [
        rng.integers(0, reach, size),
        rng.integers(0, 3, size) + reach * (rng.random(size) < 0.1),
        np.r_[rng.integers(0, 2, size), -reach],
        reach - np.minimum(reach, rng.geometric(0.5, size)),
    ][seed % 4]
    groups = [group] if seed < 8 else [group, rng.integers(-3, 3, 20), np.full(3, 5)]
    lattice, end = lattice_of(*groups), sum(int(max(group)) * len(group) for group in groups)
    near = [end - reach, end - reach // 2, end - 1, end, lattice.offset + 1, lattice.total, lattice.total + 1]
    assert_tails_are_exact(groups, [*np.linspace(lattice.offset - 1, end + 1, 25).astype(int).tolist(), *near])


@pytest.mark.parametrize(("size", "reach"), [(300, 1000), (20, 20_000), (10**6, 1)])
def test_only_one_unit_reaches_the_tail(size, reach):
    """The sum is not positive only when that unit fills the resample; with a wide gap to the next sum, or with none."""
    others = reach + np.random.default_rng(0).integers(0, reach, size - 1)
    lattice, expected = lattice_of(np.r_[-(reach // size), others]), -size * math.log(size)
    _, log10_p, error_bound, *_ = bootstrap_p(lattice, lattice.total, "greater", "flip")
    assert log10_p * math.log(10) == pytest.approx(expected, rel=0, abs=error_bound)


@pytest.mark.parametrize("groups", [[[4, 4, 4]], [[7]], [[0]], [[5, 5], [-2], [1, 1, 1]]])
def test_values_without_variation_are_a_point(groups):
    lattice, total = lattice_of(*groups), sum(map(sum, groups))
    assert (sum_distribution(lattice).first, sum_distribution(lattice).probabilities.tolist()) == (total, [1.0])
    assert (log_tail(lattice, total), log_tail(lattice, total + 1)) == (0.0, -math.inf)
    assert (standard_error(lattice), quantile(sum_distribution(lattice), 0.5)) == (0.0, total)
    assert bootstrap_p(lattice, total, "two-sided", "shift")[:2] == ((0.0, -math.inf) if total else (1.0, 0.0))


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1, 5]], [[3, 1, 4, 1]], [[0, 2], [1, 1, 7]], [[-2, 0, 0, 0, 9]]])
def test_quantiles_at_exact_ties(groups):
    """At q equal to a cumulative sum, that value is the quantile; just above, the next one."""
    sums, exact = np.sort(enumerate_sums(groups)), sum_distribution(lattice_of(*groups))
    for end in np.flatnonzero(np.diff(sums)):
        q = float(Fraction(int(end) + 1, len(sums)))
        assert quantile(exact, q) == sums[end]
        assert quantile(exact, q + 1e-9) == sums[end + 1]


@pytest.mark.parametrize("outlier", [100, 5000, -2000])
def test_window_of_skewed_data_loses_nothing(outlier):
    """One unit holds nearly all the variance: the sum is far from normal, and a window of 9 deviations would not do."""
    values = np.r_[np.random.default_rng(1).integers(0, 3, 2000), outlier]
    lattice, centred = lattice_of(values), values - values.mean()
    first, probabilities, step = sum_distribution(lattice)
    distance = first + step * np.arange(len(probabilities)) - values.sum()
    assert len(probabilities) < lattice.top / 10
    assert probabilities.sum() == pytest.approx(1.0, rel=0, abs=1e-13)
    assert probabilities @ distance**2 == pytest.approx((centred**2).sum(), rel=1e-11)
    assert probabilities @ distance**3 == pytest.approx((centred**3).sum(), rel=1e-10)


def test_nearly_everything_is_one_less_the_rest():
    """A difference of 1 among a million noisy units: all resamples are extreme but those equal to the observed."""
    half, size = 500_000, 1_000_001
    # Stirling's series of the binomial probability of its mean, to 1 / size^3.
    middle = math.exp((1 / size - 1 / half - 1 / (half + 1)) / 12) / math.sqrt(2 * math.pi * half * (half + 1) / size)
    p_value, log10_p, *_ = bootstrap_p(lattice_of(np.repeat([-1, 1], [half, half + 1])), 1, "two-sided", "shift")
    assert p_value == pytest.approx(1 - middle, rel=1e-15)
    assert log10_p * math.log(10) == pytest.approx(math.log1p(-middle), rel=7e-12)  # 32 epsilon times the root of N
    _, greater, *_ = bootstrap_p(lattice_of(np.repeat([0, 1], [1, 999])), 498, "greater", "shift")
    assert greater * math.log(10) == pytest.approx(math.log1p(-binom.sf(4, 1000, 0.001)), rel=1e-12)
    assert str(bootstrap_p(lattice_of([0, 2]), 1, "two-sided", "shift")[:2]) == "(1.0, 0.0)"
