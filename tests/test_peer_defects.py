"""Mistakes that programs for significance tests are known to make, each with a test that fails where sigjax makes it.

Most pass unnoticed, because the wrong numbers look like right ones. Oracles are closed forms, enumeration, SciPy and
statsmodels; random numbers have fixed seeds.
"""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
import scipy.stats
from oracles import STATSMODELS, enumerate_tables, montecarlo_error, random_counts, random_sign_counts
from statsmodels.stats.multitest import multipletests

from sigjax import (
    Evaluation,
    InputError,
    SampleMetric,
    association_test,
    bootstrap_test,
    classical_tests,
    compare,
    equivalence_test,
    permutation_test,
)
from sigjax.resample.draws import draws_from_strata, row_keys, swap

pytestmark = pytest.mark.slow

DEVICES = ("numpy", "cpu")
ALTERNATIVES = ("two-sided", "greater", "less")
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


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_equal_scores_have_a_bootstrap_p_of_1(method):
    """The absolute value before the centre is taken away: p is capped near 0.42."""
    assert bootstrap_test([1, 0] * 9, [0, 1] * 9, method=method, resamples=999).p_value == 1.0


def test_a_p_value_that_stopped_early_is_larger_than_the_share_of_hits():
    """Hits / resamples at a stop that was chosen by looking at the hits."""
    report = compare(
        Evaluation.from_arrays(first_right(0, 4, 8, 40), metric="accuracy"), resamples="auto", method="montecarlo"
    )
    assert min(c.resamples for c in report) < 2**20
    for c in report:
        assert c.p_value > (c.exceed + 1) / (c.resamples + 1)
    assert min(c.exceed for c in report) == 0


def test_a_pair_may_stop_without_any_hit():
    """A stopping rule that is looked at only after a hit: the clearest pairs never stop."""
    pairs = [(np.ones(200), np.zeros(200)), ([1, 0] * 50, [0, 1] * 50)]
    clear, even = (permutation_test(a, b, resamples="auto", method="montecarlo") for a, b in pairs)
    assert (clear.exceed, clear.resamples, clear.decided) == (0, 8192, True)
    assert (even.exceed, even.resamples, even.decided) == (8192, 8192, True)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_nan_is_refused_and_not_counted(wrong):
    """NaN is less extreme than everything when it is compared: p would be 0."""
    tests = [permutation_test, bootstrap_test, classical_tests, lambda a, b: equivalence_test(a, b, margin=1.0)]
    for test in tests:
        with pytest.raises(InputError, match="at instance 2"):
            test([1.0, wrong, 2.0], [0.5, 1.0, 1.0])
    with pytest.raises(InputError, match="finite"):
        association_test([1.0, 0.0], [1.0, wrong])


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


def test_ties_do_not_depend_on_how_large_the_scores_are():
    """Sums in single precision, in which one among 2^25 is lost."""
    a, b = np.random.default_rng(3).integers(0, 3, (2, 40))
    small = sampled(of(a=a, b=b))
    for device in DEVICES:
        large = sampled(of(a=a + 2**25, b=b + 2**25), device=device)
        assert [c.exceed for c in small] == [c.exceed for c in large]
    ties = permutation_test(a, b, method="exact").p_value
    assert abs(small.comparisons[0].p_value - ties) < 4.5 * montecarlo_error(ties, 1000)


@pytest.mark.parametrize("method", ["auto", "montecarlo"])
def test_the_bootstrap_draws_the_same_instances_for_both_systems(method):
    """A bootstrap called paired that draws each system by itself: a constant difference would vary."""
    x = np.rint(100 * X)
    for metric in ("mean", "median") if method == "montecarlo" else ("mean",):
        found = bootstrap_test(x + 1, x, metric=metric, method=method, resamples=500)
        assert found.standard_error == pytest.approx(0.0, abs=1e-12)
        assert found.interval == pytest.approx((1.0, 1.0), abs=1e-12)
        assert found.exceed == 0


WAYS = {
    "exact permutation": lambda a, b, side: permutation_test(a, b, alternative=side),
    "permutation": lambda a, b, side: permutation_test(a, b, alternative=side, method="montecarlo", resamples=999),
    "median": lambda a, b, side: permutation_test(a, b, metric="median", alternative=side, resamples=999),
    "bootstrap, shift": lambda a, b, side: bootstrap_test(a, b, alternative=side, resamples=999),
    "bootstrap, flip": lambda a, b, side: bootstrap_test(a, b, alternative=side, variant="flip", resamples=999),
}


@pytest.mark.parametrize("way", WAYS)
def test_greater_is_small_for_the_winner_and_near_1_for_the_loser(way):
    """The wrong tail is counted: a clear winner gets a p near 1."""
    a = X + 3.0 + np.sin(np.arange(12))
    for first, second, better, worse in ((a, X, "greater", "less"), (X, a, "less", "greater")):
        assert WAYS[way](first, second, better).p_value < 0.05
        assert WAYS[way](first, second, worse).p_value > 0.95


def test_one_sided_p_values_of_classical_tests_look_at_the_sign():
    """Half of the two-sided p, also where the difference points the other way."""
    a = X + 3.0 + np.sin(np.arange(12))
    (winner, loser) = (classical_tests(*pair, alternative="greater", resamples=99) for pair in ((a, X), (X, a)))
    assert len(winner.tests) == len(loser.tests) >= 4
    for up, down in zip(winner, loser, strict=True):
        assert up.p_value < 0.5 < down.p_value
        assert up.p_value + down.p_value >= 1.0 - 1e-12
    theirs = scipy.stats.ttest_rel(X, a, alternative="greater").pvalue
    assert loser["paired t"].p_value == pytest.approx(theirs, rel=1e-12)


def test_wins_losses_and_ties_are_counted_apart():
    """A win that is a tie as well."""
    a, b = np.repeat([1, 0, 1], [9, 4, 7]), np.repeat([0, 1, 1], [9, 4, 7])
    sign = classical_tests(a, b, read={"metric": "accuracy"})["sign (exact)"]
    assert (sign.statistic, "7 zeros are left out" in sign.assumes) == (9.0, True)
    assert sign.p_value == pytest.approx(scipy.stats.binomtest(9, 13).pvalue, rel=1e-12)
    for exchanged, better in ((False, "a"), (True, "b"), (None, None)):
        pair = (a, a) if exchanged is None else (b, a) if exchanged else (a, b)
        assert permutation_test(*pair, metric="accuracy").better == better


SWAPPED = {
    "sums": ("mean", np.mean),
    "weights": ("median", np.median),
    "arrays": (SampleMetric("plain median", lambda x: float(np.median(x)), ("value",)), np.median),
}


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("metric", "score"), SWAPPED.values(), ids=SWAPPED)
def test_swapped_systems_hold_every_number_once(metric, score, alternative):
    """Three runs an instance, and a second system that is not what the first leaves: numbers twice, or not at all."""
    a, b = np.random.default_rng(5).integers(0, 9, (2, 6, 3))
    evaluation = Evaluation.from_arrays(
        {"a": a.ravel(), "b": b.ravel()},
        metric=metric,
        ids=np.repeat(list("uvwxyz"), 3).tolist(),
        runs=np.tile(["1", "2", "3"], 6).tolist(),
    )
    (exact,) = compare(evaluation, alternative=alternative, interval="none", method="exact")
    (drawn,) = sampled(evaluation, alternative=alternative, test="permutation", resamples=3000)
    masks = np.repeat(list(itertools.product([0, 1], repeat=6)), 3, axis=1)
    columns = a.reshape(-1, 1) * 1.0, b.reshape(-1, 1) * 1.0
    expected = enumerate_tables(*columns, score, alternative, masks=masks)
    assert exact.p_value == expected
    assert abs(drawn.p_value - expected) < 4.5 * montecarlo_error(expected, 3000)


def test_threads_lose_no_count():
    """Counters that threads share without a lock. A pair alone is counted without threads."""
    arrays = random_counts(np.random.default_rng(6), 9, 30)
    options = {"test": "bootstrap", "resamples": 9000}
    together = sampled(Evaluation.from_arrays(arrays, metric="fscore"), device="cpu", **options)
    assert len(together) == 36
    for c in together:
        pair = Evaluation.from_arrays({name: arrays[name] for name in (c.a, c.b)}, metric="fscore")
        assert sampled(pair, device="numpy", **options).comparisons[0].exceed == c.exceed


@pytest.mark.parametrize(
    ("device", "resamples", "alternative"),
    [
        *((*numpy, alternative) for numpy in (("numpy", 1023), ("numpy", 150_001)) for alternative in ALTERNATIVES),
        ("cpu", 40_001, "two-sided"),
    ],
)
def test_identical_systems_have_p_1_by_every_resample_once(device, resamples, alternative):
    """Ties that do not count give 1 / (K + 1); and resamples count again with the next batch or an extension, or never.

    Half of the resamples are drawn first, and the report is extended by the others.
    """
    options = {"device": device, "alternative": alternative}
    first = sampled(of(a=X, b=X), resamples=resamples // 2, **options)
    for report in (sampled(of(a=X, b=X), resamples=resamples, extend=each, **options) for each in (None, first)):
        assert {(c.exceed, c.p_value, c.delta) for c in report} == {(resamples, 1.0, 0.0)}
    assert {c.exceed for c in first} == {resamples // 2}


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


@pytest.mark.parametrize("correction", [*STATSMODELS, "maxt"])
def test_the_smallest_p_value_is_not_0_for_corrections(correction):
    """The least p that so many resamples can give is replaced by 0 before it is adjusted."""
    evaluation = Evaluation.from_arrays(first_right(0, 12, 26, 40), metric="accuracy")
    tests = ("permutation",) if correction == "maxt" else ("permutation", "bootstrap")
    report = sampled(evaluation, resamples=99, correction=correction, test=tests)
    for test in tests:
        found = [c for c in report if c.test == test]
        p_values = [c.p_value for c in found]
        assert min(p_values) == 0.01
        assert min(c.p_adjusted for c in found) >= 0.01
        if correction != "maxt":
            expected = multipletests(p_values, method=STATSMODELS[correction])[1]
            assert [c.p_adjusted for c in found] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_ties_count_on_both_sides(method):
    """`less` as 1 - p of `greater`: ties count once, for one of the two, and p can be 0."""
    a, b = np.repeat([1, 0], [6, 2]), np.repeat([0, 1], [6, 2])
    greater, less = (
        permutation_test(a, b, metric="accuracy", method=method, alternative=side, resamples=20_000)
        for side in ("greater", "less")
    )
    ties = math.comb(8, 2) / 2**8
    if method == "exact":
        assert greater.p_value + less.p_value == 1.0 + ties
    else:
        assert abs((greater.exceed + less.exceed) / 20_000 - 1.0 - ties) < 4.5 * montecarlo_error(ties, 20_000)


def test_no_monte_carlo_p_value_is_0():
    """Hits / resamples without the + 1: p is 0 for clear differences."""
    a, b = np.ones(60), np.zeros(60)
    options = {"method": "montecarlo", "resamples": 99}
    found = [
        permutation_test(a, b, **options),
        permutation_test(a, b, metric=PLAIN_MEAN, **options),
        bootstrap_test(a, b, **options),
        bootstrap_test(a, b, variant="flip", alternative="greater", **options),
        bootstrap_test(a, b, metric=PLAIN_MEAN, **options),
        association_test(a.tolist() + b.tolist(), a.tolist() + b.tolist(), **options),
        equivalence_test(a, b, margin=5.0, method="bootstrap", resamples=99),
    ]
    assert [each.p_value for each in found] == [0.01] * 7
    (adjusted,) = sampled(of(a=a, b=b), test="permutation", correction="maxt", resamples=99)
    assert adjusted.p_adjusted == 0.01
    assert permutation_test(a, b, method="montecarlo", resamples="auto").p_value > 2.0**-20


# corrections


@pytest.mark.parametrize("correction", STATSMODELS)
def test_corrections_are_unsorted_by_the_inverse_permutation(correction):
    """Adjusted p-values put back by the sort itself: three pairs in a circle get each other's."""
    report = compare(Evaluation.from_arrays(first_right(20, 24, 32), metric="accuracy"), correction=correction)
    p_values = [c.p_value for c in report]
    assert p_values == [2**-3, 2**-11, 2**-7]
    expected = multipletests(p_values, method=STATSMODELS[correction])[1]
    assert [c.p_adjusted for c in report] == pytest.approx(expected, rel=1e-12)


def test_holm_keeps_the_order_of_p_values():
    """Holm's products without the running maximum: a larger p becomes the smaller one."""
    wins, losses = (6, 8, 9), (0, 1, 2)
    base = np.repeat([0, 1], [20, 20])
    arrays = {"base": base}
    for name, won, lost in zip("abc", wins, losses, strict=True):
        arrays[name] = np.where((np.arange(40) < won) | ((np.arange(40) >= 20) & (np.arange(40) < 20 + lost)), 1, 0)
        arrays[name][20:] = 1 - arrays[name][20:]
    report = compare(Evaluation.from_arrays(arrays, metric="accuracy"), baseline="base", correction="holm")
    p_values = [scipy.stats.binomtest(won, won + lost).pvalue for won, lost in zip(wins, losses, strict=True)]
    assert [c.p_value for c in report] == pytest.approx(p_values, rel=1e-12)
    assert 3 * p_values[0] > max(2 * p_values[1], p_values[2])
    assert [c.p_adjusted for c in report] == pytest.approx([3 * p_values[0]] * 3, rel=1e-12)


def test_one_sided_maxt_keeps_the_sign():
    """Sizes of statistics in a one-sided correction: a system that is clearly worse becomes significantly better."""
    evaluation = Evaluation.from_arrays(first_right(0, 20, 40), metric="accuracy")
    options = {"test": "permutation", "correction": "maxt", "resamples": 999}
    worse, better = (sampled(evaluation, alternative=side, **options) for side in ("greater", "less"))
    assert [c.p_adjusted for c in worse] == [1.0] * 3
    assert max(c.p_adjusted for c in better) < 0.01
    for side in ("greater", "less"):
        (alone,) = sampled(Evaluation.from_arrays(first_right(20, 24), metric="accuracy"), alternative=side, **options)
        assert alone.p_adjusted == alone.p_value


@pytest.mark.parametrize("correction", STATSMODELS)
def test_equal_p_values_are_adjusted_alike(correction):
    """Average ranks for equal p-values: each is multiplied by a fraction between those that Holm has."""
    right = first_right(20, 26, 26, 26, 32)
    report = compare(Evaluation.from_arrays(right, metric="accuracy"), baseline="a", correction=correction)
    p_values = [2**-5, 2**-5, 2**-5, 2**-11]
    assert [c.p_value for c in report] == p_values
    expected = multipletests(p_values, method=STATSMODELS[correction])[1]
    assert [c.p_adjusted for c in report] == pytest.approx(expected, rel=1e-12)
    assert len({c.p_adjusted for c in report.comparisons[:3]}) == 1


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


@pytest.mark.parametrize("strata", [None, "uuuuuvvvvwww"])
def test_a_resample_has_as_many_instances_as_the_data(strata):
    """Half of the instances, or a random number of them: what counts the instances drawn must not vary."""
    ones = np.ones(12)
    metrics = (lambda sums: sums[..., 0], SampleMetric("number", lambda x: float(len(x)), ("value",)))
    for metric in metrics:
        evaluation = Evaluation.from_arrays({"a": ones, "b": ones}, metric=metric, strata=strata and list(strata))
        report = compare(evaluation, method="montecarlo", resamples=300, interval="percentile")
        for system in report.systems:
            assert (system.score, system.standard_error, system.interval) == (12.0, 0.0, (12.0, 12.0))


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
@pytest.mark.parametrize("size", [2, 40])
def test_an_instance_may_be_drawn_more_than_once(size, method):
    """Halves without replacement, or draws that skip the zeros: one instance is drawn binomially often, or not at all.

    Of two instances it is drawn 0, 1 or 2 times with probability 1/4, 1/2, 1/4.
    """
    a = (np.arange(size) == 1) * size
    law = scipy.stats.binom(size, 1 / size)
    for level in (0.4, 0.7, 0.97):
        found = bootstrap_test(a, 0 * a, method=method, resamples=20_000, confidence_level=level)
        assert found.interval == pytest.approx(law.ppf([(1 - level) / 2, (1 + level) / 2]), abs=1e-12)


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_intervals_have_two_ends_and_the_level_asked_for(method):
    """An interval as one half-width, or of a fixed level, or of numbers sorted as texts: 10 before 9.

    a is 400 on 1 of 40 instances, so that 40 means have a Poisson-like law with a long tail above.
    """
    a = 8 + 400 * (np.arange(40) == 1)
    for level in (0.5, 0.9, 0.99):
        found = bootstrap_test(a, np.zeros(40), method=method, resamples=20_000, confidence_level=level)
        counts = scipy.stats.binom.ppf([(1 - level) / 2, (1 + level) / 2], 40, 1 / 40)
        assert found.interval == pytest.approx(8 + 10 * counts, rel=1e-12)
    assert found.interval.high - found.delta > 2 * (found.delta - found.interval.low) > 0


def test_intervals_are_not_rounded():
    """Two decimals, inside the computation: small differences get an interval of no length."""
    a, b = X, X[::-1]
    for interval in ("percentile", "basic", "bca", "studentized"):
        whole, small = (
            bootstrap_test(scale * a, scale * b, method="montecarlo", resamples=999, interval=interval)
            for scale in (1.0, 2.0**-20)
        )
        assert small.interval == pytest.approx(np.array(whole.interval) * 2.0**-20, rel=1e-9)
        assert small.standard_error == pytest.approx(whole.standard_error * 2.0**-20, rel=1e-9)


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_bca_counts_ties_half(method):
    """Ties as above, or as below: a law that is symmetric around what was observed gets a correction for bias."""
    a, b = [1] * 5 + [0] * 5, [0] * 10
    plain, bca = (
        bootstrap_test(a, b, method=method, resamples=50_000, interval=kind, confidence_level=0.9)
        for kind in ("percentile", "bca")
    )
    assert plain.interval == bca.interval == pytest.approx(scipy.stats.binom.ppf([0.05, 0.95], 10, 0.5) / 10, rel=1e-12)


def test_standard_deviations_divide_by_one_less():
    """ddof = 0 in an interval, a t test or a standard error: too small for few."""
    a, b = np.array([[3.0, 7.0, 4.0], [1.0, 1.0, 3.0]])
    expected = scipy.stats.ttest_rel(a, b)
    result = classical_tests(a, b, resamples=99)
    assert result["paired t"].statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result["Wald z"].statistic == pytest.approx(expected.statistic, rel=1e-12)
    two = bootstrap_test(X, X[::-1] ** 2, method="montecarlo", resamples=2)
    low, high = both_replicates(two)
    assert two.standard_error == pytest.approx((high - low) / math.sqrt(2), rel=1e-9)


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
    assert "seed:0" in compare(of(a=X, b=X + 1), seed=0, resamples=99, method="montecarlo").signature.split("|")


def test_same_seed_same_report_on_every_device():
    """A seed that one thread or one device knows: reports differ from run to run."""
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(8), 4, 50), metric="fscore")
    options = {"interval": "percentile", "resamples": 3000, "seed": 0}
    first, *rest = (sampled(evaluation, device=device, **options).to_json() for device in ("numpy", "cpu", "numpy"))
    assert rest == [first] * 2


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


@pytest.mark.parametrize("method", ["auto", "exact", "dp", "tree", "montecarlo"])
def test_nothing_is_left_of_identical_systems_and_that_is_no_error(method):
    """A recursion, a product or a division over the instances that differ, where there are none."""
    for values, metric in ((X, "mean"), (random_counts(RNG, 1, 12)["s0"], "fscore")):
        assert permutation_test(values, values, metric=metric, method=method, resamples=99).p_value == 1.0
    assert permutation_test(X, X, metric="median", resamples=99).p_value == 1.0
    assert permutation_test(X, X, resamples="auto", method="montecarlo").p_value == 1.0
    assert {test.p_value for test in classical_tests(X, X, resamples=99)} == {1.0}


@pytest.mark.parametrize("method", ["exact", "dp", "tree"])
def test_small_exact_p_values_are_not_cut_off(method):
    """Probabilities below a tolerance that are dropped on the way: p is 0, or wrong, where it is small.

    The tree of products has an absolute error: it refuses what it cannot tell.
    """
    a, b = np.ones(80), np.zeros(80)
    if method == "tree":
        with pytest.raises(InputError, match="rounding error"):
            permutation_test(a, b, method=method)
        a, b = a[:20], b[:20]
    found = permutation_test(a, b, method=method)
    assert found.p_value == pytest.approx(2.0 ** (1 - len(a)), rel=1e-9, abs=0.0)
    assert found.log10_p == pytest.approx((1 - len(a)) * math.log10(2), rel=1e-9)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_memory_does_not_grow_with_the_resamples(test):
    """Indices of all resamples at once: 3,000 instances and 8,000 resamples would be 190 MB."""
    a, b = np.random.default_rng(10).integers(0, 9, (2, 3000))
    peaks = []
    for resamples in (2000, 8000):
        tracemalloc.start()
        sampled(of(a=a, b=b), test=test, resamples=resamples, device="numpy")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 1e6


@pytest.mark.parametrize("metric", ["mean", PLAIN_MEAN], ids=["sums", "arrays"])
def test_ties_are_found_where_large_differences_cancel(metric):
    """A tolerance in proportion to the observed difference, which is small beside the numbers: rounding breaks ties."""
    rng = np.random.default_rng(11)
    large = rng.integers(10**6, 10**7, 4)
    tenths, base = np.concatenate([large, -large, [1, 2, 3, 4]]), rng.integers(10**6, 10**7, 12)
    law = random_sign_counts(tenths.tolist())
    expected = sum(count for value, count in law.items() if abs(value) >= 10) / 2**12
    a, b = (base + tenths) / 10, base / 10
    assert permutation_test(a, b, metric=metric, method="exact").p_value == expected
    found = permutation_test(a, b, metric=metric, method="montecarlo", resamples=2000)
    masks = swap(row_keys(12345, np.arange(2000)), draws_from_strata(np.zeros(12, int)), np.dtype(int))[:, :12]
    assert found.exceed == np.count_nonzero(abs((1 - 2 * masks) @ tenths) >= 10)


@pytest.mark.parametrize("metric", ["mean", PLAIN_MEAN], ids=["sums", "arrays"])
def test_small_numbers_are_no_ties(metric):
    """A fixed tolerance such as 1e-8: differences on the scale of 1e-9 are all alike."""
    a, b = X, X[::-1] ** 2
    for method in ("exact", "montecarlo"):
        whole, small = (
            permutation_test(scale * a, scale * b, metric=metric, method=method, resamples=999)
            for scale in (1.0, 2.0**-40)
        )
        assert (small.p_value, small.exceed) == (whole.p_value, whole.exceed)
        assert whole.p_value < 0.9


def test_small_tails_are_not_one_minus_large_ones():
    """The large tail is added up and taken from 1: nothing below 1e-16 is left."""
    d = np.arange(1, 101)
    result = classical_tests(d, 0 * d, resamples=99)
    t = d.mean() / scipy.stats.sem(d)
    expected = {
        "paired t": 2 * scipy.stats.t.sf(t, 99),
        "Wald z": 2 * scipy.stats.norm.sf(t),
        "sign (exact)": 2.0**-99,
        "Wilcoxon signed rank": 2.0**-99,
    }
    assert {name: result[name].p_value for name in expected} == pytest.approx(expected, rel=1e-9, abs=0.0)
    wins = classical_tests(np.ones(100), np.zeros(100), read={"metric": "accuracy"}, resamples=99)
    assert wins["McNemar (chi-square)"].p_value == pytest.approx(scipy.stats.chi2.sf(100, 1), rel=1e-9, abs=0.0)
    assert wins["McNemar (exact)"].p_value == pytest.approx(2.0**-99, rel=1e-9, abs=0.0)
    assert permutation_test(d, 0 * d, method="exact").p_value == pytest.approx(2.0**-99, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(("a", "b"), [([1], [0]), ([4, 4, 4], [3, 3, 3]), ([0, 1], [0, 1])])
def test_what_has_no_p_value_is_left_out(a, b):
    """A number that stands for "none", such as -1 or NaN, in the place of a p-value."""
    result = classical_tests(a, b, resamples=99)
    for each in (*result, *result.comparisons, *result.second):
        assert 0.0 < each.p_value <= 1.0
    assert all(each.reason and not hasattr(each, "p_value") for each in result.left_out)
    if a == [4, 4, 4]:
        assert "paired t" in {each.name for each in result.left_out}
