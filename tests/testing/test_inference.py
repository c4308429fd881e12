"""p-values, intervals and corrections against SciPy, statsmodels and NumPy."""

import json
import math
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import STATSMODELS, adjusted_p
from scipy.stats import binomtest

from sigjax import Evaluation, compare
from sigjax.records import CORRECTIONS, Correction, Settings
from sigjax.records.settings import adjust, log10_adjusted
from sigjax.testing.problem import _first_of_each
from sigjax.testing.special import clopper_pearson
from sigjax.testing.summaries import bootstrap_exceed
from sigjax.testing.tests import problem_of
from sigjax.testing.uncertainty import quantile_levels, quantiles, standard_errors


def test_every_correction_has_its_record_and_its_name_in_statsmodels():
    assert get_args(Correction) == tuple(CORRECTIONS)
    resampled = {name for name, each in CORRECTIONS.items() if each.is_resampled}
    assert {*STATSMODELS, "none"} == {*CORRECTIONS} - resampled, "add what statsmodels calls it to oracles.STATSMODELS"
    assert resampled == {"maxt"}, "give a new one a definition by enumeration, as that of maxt in test_maxt.py"


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(sorted(STATSMODELS)))
@pytest.mark.slow
def test_corrections_are_those_of_statsmodels(p_values, correction):
    expected = adjusted_p(p_values, correction)
    np.testing.assert_allclose(adjust(np.array(p_values), correction), expected, rtol=1e-12, atol=1e-300)


def test_corrections_keep_the_order_of_unsorted_p_values():
    """A three-cycle tells the inverse of the sort from the sort itself."""
    np.testing.assert_allclose(adjust(np.array([0.03, 0.01, 0.02]), "holm"), [0.04, 0.03, 0.04])
    np.testing.assert_allclose(adjust(np.array([0.03, 0.01, 0.04]), "hochberg"), [0.04, 0.03, 0.04])
    np.testing.assert_array_equal(adjust(np.array([0.03, 0.01]), "none"), [0.03, 0.01])


def adjusted_fractions(p_values, correction):
    """Those that multiply p-values by their ranks, by the definitions, in rational arithmetic."""
    count = len(p_values)
    if correction in ("none", "bonferroni"):
        return [min(Fraction(1), p * (1 if correction == "none" else count)) for p in p_values]
    order = sorted(range(count), key=lambda place: p_values[place])
    harmonic = sum(Fraction(1, rank) for rank in range(1, count + 1)) if correction == "by" else 1
    rising = correction in ("bh", "by")
    assert rising or correction in ("holm", "hochberg"), f"add the definition of {correction} here"
    steps = [
        p_values[place] * (Fraction(count, rank) * harmonic if rising else count - rank + 1)
        for rank, place in enumerate(order, 1)
    ]
    found = [Fraction(0)] * count
    for rank, place in enumerate(order):
        found[place] = min(Fraction(1), max(steps[: rank + 1]) if correction == "holm" else min(steps[rank:]))
    return found


@pytest.mark.parametrize("correction", [*STATSMODELS, "none"])
def test_logarithms_of_adjusted_p_values_are_those_of_rational_arithmetic(correction):
    """Some p-values are far below the smallest double, some are equal, some are adjusted to 1."""
    rng = np.random.default_rng(7)
    for size in (1, 2, 7, 40):
        exponents = rng.choice([0, 1, 2, 5, 250, 299, 300, 308, 320, 700, 5000], size)
        p_values = [Fraction(int(rng.integers(1, 10)), 10 ** (1 + int(exponent))) for exponent in exponents]
        expected = [
            math.log10(p.numerator) - math.log10(p.denominator) for p in adjusted_fractions(p_values, correction)
        ]
        log10_p = np.array([math.log10(p.numerator) - math.log10(p.denominator) for p in p_values])
        adjusted = adjust(np.array([float(p) for p in p_values]), correction)
        np.testing.assert_allclose(log10_adjusted(adjusted, log10_p, correction), expected, rtol=1e-12, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(1e-200, 1), min_size=1, max_size=12), st.sampled_from(sorted(STATSMODELS)))
@pytest.mark.slow
def test_logarithms_of_adjusted_p_values_are_those_of_statsmodels(p_values, correction):
    expected = np.log10(adjusted_p(p_values, correction))
    p_values = np.array(p_values)
    found = log10_adjusted(adjust(p_values, correction), np.log10(p_values), correction)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("correction", ["holm", "bh", "maxt"])
def test_reports_give_adjusted_p_values_below_the_smallest_double(correction):
    """2,000 and 1,500 swaps all one way, by whole numbers: 2 / 2^n, to ten digits; maxt has its own from resamples."""
    values = {"A": [1] * 2000, "B": [0] * 2000, "C": [1] * 500 + [0] * 1500}
    report = compare(
        Evaluation.from_arrays(values), correction=correction, resamples=999, interval="none", device="numpy"
    )
    pairs = {one["a"] + one["b"]: one for one in json.loads(report.to_json())["pairs"]}
    if correction == "maxt":
        assert {one["log10_p_adjusted"] for one in pairs.values()} == {-3.0}
        return
    assert [pairs[pair]["p_adjusted"] for pair in ("AB", "AC")] == [0.0, 0.0]
    two = math.log10(2.0)
    assert pairs["AB"]["log10_p_adjusted"] == pytest.approx(math.log10(3) - 1999 * two, rel=5e-10)
    factor = 2 if correction == "holm" else 3 / 2
    assert pairs["AC"]["log10_p_adjusted"] == pytest.approx(math.log10(factor) - 1499 * two, rel=5e-10)
    assert pairs["BC"]["log10_p_adjusted"] == pytest.approx(-499 * two, rel=5e-10)
    assert "<0.0001*" in str(report)
    assert "5.2e-602*" in report.to_text()
    assert "5.23e-602*" in report.to_markdown()
    assert list(report.to_dataframe(columns="all")["log10_p_adjusted"]) == [one.log10_p_adjusted for one in report]


@pytest.mark.parametrize("trials", [1, 2, 10, 999, 100_000, 1_000_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_clopper_pearson_is_that_of_scipy(trials, level):
    successes = np.unique([0, 1, min(5, trials), trials // 3, trials // 2, trials - 1, trials])
    low, high = clopper_pearson(successes, trials, level)
    for count, least, most in zip(successes.tolist(), low, high, strict=True):
        expected = binomtest(count, trials).proportion_ci(level, method="exact")
        assert least == pytest.approx(expected.low, rel=1e-7)
        assert most == pytest.approx(expected.high, rel=1e-7)


@pytest.mark.parametrize(
    ("variant", "alternative", "expected"),
    # delta = 1; centred deltas: -1.5, -1, -0.5, 0, 1, 1.5
    [("shift", "two-sided", 4), ("shift", "greater", 2), ("shift", "less", 5)]
    + [("flip", "two-sided", 4), ("flip", "greater", 2), ("flip", "less", 5)],
)
def test_bootstrap_test_centres_first(variant, alternative, expected):
    replicates = np.array([-0.5, 0.0, 0.5, 1.0, 2.0, 2.5])
    assert bootstrap_exceed(replicates, 1.0, 1e-12, alternative, variant) == expected


def test_variants_of_the_bootstrap_test_look_at_opposite_tails():
    """delta = 1: shift asks for delta* >= 2, flip for delta* <= 0."""
    replicates = np.array([0.5, 1.0, 1.5, 2.0, 2.5, -0.5])
    assert bootstrap_exceed(replicates, 1.0, 1e-12, "greater", "shift") == 2
    assert bootstrap_exceed(replicates, 1.0, 1e-12, "greater", "flip") == 1


def standard_error(replicates):
    return standard_errors(replicates[None])[0]


def percentile_interval(replicates, level):
    return [ends.item() for ends in quantiles(replicates[None].copy(), quantile_levels(level))]


def test_standard_error_uses_n_minus_one():
    assert standard_error(np.array([1.0, 3.0])) == pytest.approx(np.sqrt(2))


def test_percentile_interval_is_not_forced_to_be_symmetric():
    replicates = np.random.default_rng(0).exponential(size=5000)
    low, high = percentile_interval(replicates, 0.9)
    assert (low, high) == pytest.approx(np.quantile(replicates, [0.05, 0.95]), rel=1e-12)
    assert high - 1.0 > 1.0 - low


@pytest.mark.parametrize("size", [1, 2, 100, 2**14 - 1, 2**14, 30_001, 100_000])
@pytest.mark.parametrize("level", [0.123, 0.5, 0.9, 0.95, 0.999, 0.9999])
def test_percentile_intervals_are_quantiles_to_the_last_bit(size, level):
    """Many values are not sorted whole; also where they are in some order, or few are distinct."""
    values = np.random.default_rng(size).normal(size=size)
    for each in (values, np.sort(values), np.sort(values)[::-1], np.rint(values), 0.0 * values):
        expected = np.quantile(each, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        assert tuple(percentile_interval(each, level)) == tuple(expected)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_interval_of_p_has_the_level_that_is_asked_for(level):
    values = np.random.default_rng(3).integers(0, 9, (2, 30))
    (one,) = compare(dict(zip("AB", values, strict=True)), method="montecarlo", resamples=999, confidence_level=level)
    expected = binomtest(one.exceed, 999).proportion_ci(level, method="exact")
    assert one.p_interval == pytest.approx((expected.low, expected.high), rel=1e-7)


@pytest.mark.parametrize("exponent", [-1040, -900, -500, 480, 600, 1022])
def test_standard_error_is_in_the_unit_of_the_numbers(exponent):
    """Squares of such numbers are beyond the range of a double; a power of two changes no digit."""
    replicates = np.random.default_rng(1).integers(-32, 32, 200) / 32.0
    found = np.ldexp(standard_error(np.ldexp(replicates, exponent)), -exponent)
    assert found == pytest.approx(np.std(replicates, ddof=1), rel=1e-8)
    assert standard_error(np.full(9, np.ldexp(1.0, exponent))) == 0.0


@pytest.mark.parametrize("largest", [9, 2**40, 2**57 - 1, 2**57, 2**58, 2**62, 2**63 - 1])
def test_different_keys_are_numbered_in_the_order_of_their_first_rows(largest):
    """Also where a key and its row do not fit into 63 bits: 50 rows take 6 of them."""
    keys = np.random.default_rng(0).choice([0, 1, 5, largest - 1, largest], 50)
    first, which = _first_of_each(keys)
    order = list(dict.fromkeys(keys.tolist()))
    assert first.tolist() == [keys.tolist().index(key) for key in order]
    assert which.tolist() == [order.index(key) for key in keys.tolist()]


def test_sign_counts_of_a_million_pairs_are_those_of_each_pair():
    """More than fit into a block of 2^20."""
    answers = np.random.default_rng(1).integers(0, 2, (1450, 5)).astype(bool)
    evaluation = Evaluation.from_arrays({f"s{i}": own for i, own in enumerate(answers)}, metric="accuracy")
    problem = problem_of(evaluation, Settings())
    found, (a, b) = problem.equivalent_pairs, answers[problem.hypotheses.members.T]
    assert len(a) > 2**20
    expected = np.stack([(a & ~b).sum(axis=1), (b & ~a).sum(axis=1)], axis=1)
    np.testing.assert_array_equal(found.counts[found.which], expected)
