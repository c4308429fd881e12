"""Mistakes that programs for significance tests are known to make, each with a test that fails where sigjax makes it.

Most pass unnoticed, because the wrong numbers look like right ones. Oracles are closed forms, enumeration, SciPy and
statsmodels; random numbers have fixed seeds.
"""

import math

import numpy as np
import pytest
import scipy.stats
from oracles import STATSMODELS, enumerate_tables, montecarlo_error, random_counts
from statsmodels.stats.multitest import multipletests

from sigjax import (
    Evaluation,
    InputError,
    SampleMetric,
    association_test,
    bootstrap_test,
    classical_tests,
    compare,
    permutation_test,
)

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(20)
X = RNG.normal(0.0, 5.0, 12).round(2)
PLAIN_MEAN = SampleMetric("plain mean", lambda x: x.mean(), ("value",))


def of(**arrays):
    return Evaluation.from_arrays(arrays)


def sampled(evaluation, **options):
    """Both tests by Monte Carlo, without intervals."""
    tests = {"test": ("permutation", "bootstrap"), "method": "montecarlo", "interval": "none", "resamples": 1000}
    return compare(evaluation, **(tests | options))


def first_right(*counts, size=40):
    """0/1 results of systems that are right on the first so many instances: all differences have one sign."""
    return {name: (np.arange(size) < count).astype(int) for name, count in zip("abcdef", counts, strict=False)}


def both_replicates(comparison):
    """The two replicates behind the percentile interval, at level 0.95, of two resamples."""
    low, high = comparison.interval
    beyond = (high - low) * 0.025 / 0.95
    return low - beyond, high + beyond


# p-values


def test_one_differing_instance_has_p_1():
    """Ties that do not count: every swap of one instance is as extreme as every other.

    Of the bootstrap test only resamples that draw the instance once, as the data do, are less extreme.
    """
    a = np.arange(20) == 3
    permutation, bootstrap = sampled(of(a=a, b=0 * a), resamples=20_000)
    assert (permutation.exceed, permutation.p_value) == (20_000, 1.0)
    assert permutation_test(a, 0 * a, method="exact").p_value == 1.0
    expected = 1.0 - (1.0 - 1.0 / 20) ** 19
    assert bootstrap_test(a, 0 * a, method="exact").p_value == pytest.approx(expected, rel=1e-12)
    assert abs(bootstrap.p_value - expected) < 4.5 * montecarlo_error(expected, 20_000)


def per_cent(sums):
    """Not a number where the second sum is 0."""
    return 100.0 * sums[..., 0] / sums[..., 1]


PER_CENT = SampleMetric("per cent", lambda part, whole: 100.0 * part.sum() / whole.sum(), ("part", "whole"))
UNDEFINED = {
    "all swaps": (per_cent, {"method": "exact"}),
    "swaps": (per_cent, {"method": "montecarlo"}),
    "swaps on JAX": (per_cent, {"method": "montecarlo", "device": "cpu"}),
    "largest of swaps": (per_cent, {"method": "montecarlo", "correction": "maxt"}),
    "draws": (per_cent, {"test": "bootstrap"}),
    "draws for intervals": (per_cent, {"interval": "percentile"}),
    "all swaps of arrays": (PER_CENT, {"method": "exact"}),
    "swaps of arrays": (PER_CENT, {"method": "montecarlo"}),
    "draws of arrays": (PER_CENT, {"test": "bootstrap"}),
}


@pytest.mark.parametrize(("metric", "options"), UNDEFINED.values(), ids=UNDEFINED)
def test_a_resample_without_a_score_is_refused_and_not_passed_over(metric, options):
    """A replicate that is NaN is less extreme than everything when it is compared: p is too small."""
    a, b = [[1.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]
    evaluation = Evaluation.from_arrays({"a": a, "b": b}, metric=metric)
    with pytest.raises(InputError, match="is not a finite number for 'a'"):
        compare(evaluation, **({"interval": "none", "resamples": 500} | options))


@pytest.mark.parametrize("method", ["auto", "montecarlo"])
def test_the_bootstrap_draws_the_same_instances_for_both_systems(method):
    """A bootstrap called paired that draws each system by itself: a constant difference would vary."""
    x = np.rint(100 * X)
    for metric in ("mean", "median") if method == "montecarlo" else ("mean",):
        found = bootstrap_test(x + 1, x, metric=metric, method=method, resamples=500)
        assert found.standard_error == pytest.approx(0.0, abs=1e-12)
        assert found.interval == pytest.approx((1.0, 1.0), abs=1e-12)
        assert found.exceed == 0


def test_threads_lose_no_count():
    """Counters that threads share without a lock. A pair alone is counted without threads."""
    arrays = random_counts(np.random.default_rng(6), 9, 30)
    options = {"test": "bootstrap", "resamples": 9000}
    together = sampled(Evaluation.from_arrays(arrays, metric="fscore"), device="cpu", **options)
    assert len(together) == 36
    for c in together:
        pair = Evaluation.from_arrays({name: arrays[name] for name in (c.a, c.b)}, metric="fscore")
        assert sampled(pair, device="numpy", **options).comparisons[0].exceed == c.exceed


@pytest.mark.parametrize("metric", ["mean", "median"])
def test_the_null_swaps_within_instances(metric):
    """Observed with pairs, and compared with shuffles that ignore them: then instances hide a constant difference."""
    score = {"mean": np.mean, "median": np.median}[metric]
    a, b = X[:9, None] + 1.0, X[:9, None]
    expected = enumerate_tables(a, b, score, "two-sided")
    assert permutation_test(a, b, metric=metric).p_value == pytest.approx(expected, rel=1e-12)
    found = permutation_test(a, b, metric=metric, method="montecarlo", resamples=5000).p_value
    assert abs(found - expected) < 4.5 * montecarlo_error(expected, 5000)
    assert metric != "mean" or expected == 2**-8  # shuffled over instances, about 1


def test_tests_that_ignore_pairs_are_marked():
    """An unpaired test of paired results: what instances have in common hides the difference."""
    a = X + 0.5 + 0.1 * np.sin(np.arange(12))
    result = classical_tests(a, X, resamples=99)
    assert {test.name for test in result if not test.paired} == {"two-sample t"}
    assert result["two-sample t"].p_value == pytest.approx(scipy.stats.ttest_ind(a, X).pvalue, rel=1e-12)
    assert result["two-sample t"].p_value > 0.5
    assert max(test.p_value for test in result if test.paired) < 0.001


# corrections


@pytest.mark.parametrize("correction", STATSMODELS)
def test_corrections_are_unsorted_by_the_inverse_permutation(correction):
    """Adjusted p-values put back by the sort itself: three pairs in a circle get each other's."""
    report = compare(Evaluation.from_arrays(first_right(20, 24, 32), metric="accuracy"), correction=correction)
    p_values = [c.p_value for c in report]
    assert p_values == [2**-3, 2**-11, 2**-7]
    expected = multipletests(p_values, method=STATSMODELS[correction])[1]
    assert [c.p_adjusted for c in report] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("correction", [*STATSMODELS, "maxt"])
def test_the_baseline_is_no_pair_of_its_own(correction):
    """The baseline compared with itself: its p, NaN or 1, goes into the correction of the others."""
    right = first_right(20, 20, 26, 32)
    report = sampled(
        Evaluation.from_arrays(right, metric="accuracy"), test="permutation", baseline="b", correction=correction
    )
    assert [(c.a, c.b) for c in report] == [("a", "b"), ("c", "b"), ("d", "b")]
    assert all(math.isfinite(c.p_adjusted) for c in report)
    assert (report.comparisons[0].p_value, report.comparisons[0].p_adjusted) == (1.0, 1.0)
    if correction == "bonferroni":
        assert report.comparisons[1].p_adjusted == pytest.approx(3 * report.comparisons[1].p_value, rel=1e-12)


# standard errors and intervals


# determinism and numerics


def test_a_seed_of_zero_is_a_seed():
    """`seed or default`: 0 is taken for no seed, or for another one."""
    counts = {
        seed: [[c.exceed for c in sampled(of(a=X, b=X[::-1] ** 2), seed=seed)] for _ in range(2)]
        for seed in (0, 1, 12345)
    }
    assert all(first == second for first, second in counts.values())
    assert counts[0] != counts[12345]
    assert counts[0] != counts[1]
    assert "seed:0" in compare(of(a=X, b=X + 1), seed=0, resamples=99).signature.split("|")


def test_the_global_random_state_is_neither_read_nor_set():
    """A seed that is accepted, and draws from the global state of NumPy."""
    found = []
    for state in (1, 2):
        np.random.seed(state)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        report = sampled(of(a=X, b=X[::-1] ** 2), interval="percentile")
        median = bootstrap_test(X, X[::-1] ** 2, metric="median", resamples=300)
        agreement = association_test(list("aabbab"), list("ababab"), method="montecarlo", resamples=300)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
        found.append((report.to_json(), median, agreement))
    assert found[0] == found[1]


@pytest.mark.parametrize("metric", ["mean", PLAIN_MEAN], ids=["sums", "arrays"])
def test_neighbouring_seeds_share_no_resamples(metric):
    """Resample k seeded with seed + k: seeds that follow each other have all but one resample in common."""
    a = np.random.default_rng(9).normal(size=51)
    drawn = []
    for seed in range(10):
        drawn += both_replicates(bootstrap_test(a, 0 * a, metric=metric, method="montecarlo", resamples=2, seed=seed))
    assert len(set(np.round(drawn, 9))) == 20
