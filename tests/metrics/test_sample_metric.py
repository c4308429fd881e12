"""Metrics that are no functions of sums: against NumPy, SciPy, enumeration, and sums where they would have done."""

import itertools

import jax
import numpy as np
import pytest
import scipy.stats
from oracles import enumerate_tables, extreme, montecarlo_error
from samples import ORACLES, RANGE, exchanged, make, make_columns, numbers, run

from sigjax import Evaluation, SampleMetric, bootstrap_test, compare, permutation_test
from sigjax.metrics.columns import CORRELATION, VARIANCE
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys, swap
from sigjax.resample.gathered import can_compile
from sigjax.run.costs import Cost
from sigjax.testing import columns as sample

pytestmark = pytest.mark.slow

ALTERNATIVES = ("two-sided", "greater", "less")
PLAIN_MEAN = SampleMetric("mean", lambda x: x.sum() / x.shape[0], ("value",))
WEIGHTED_MEAN = SampleMetric("mean", lambda x, w: (w * x).sum() / w.sum(), ("value",), weighted=True)


def mann_whitney(score, label):
    positive, negative = score[label == 1], score[label == 0]
    return scipy.stats.mannwhitneyu(positive, negative).statistic / (len(positive) * len(negative))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["median", "variance", "correlation", "spearman", "kendall", "auc"])
def test_functions_are_those_of_scipy_for_repeated_instances(name, seed):
    """Any weights, of several resamples at a time too."""
    rng = np.random.default_rng(seed)
    metric, oracle = ORACLES[name]
    oracle = {"correlation": lambda p, g: scipy.stats.pearsonr(p, g).statistic, "auc": mann_whitney}.get(name, oracle)
    columns = next(iter(make_columns(name, rng, 1, 17).values())).reshape(17, -1).T.astype(float)
    weights = rng.integers(0, 4, (3, 17))
    expected = [oracle(*np.repeat(columns, row, axis=1)) for row in weights]
    assert metric.function(*columns, weights * 1.0) == pytest.approx(expected, rel=1e-12)
    assert [metric.function(*columns, row * 1.0) for row in weights] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", [VARIANCE, CORRELATION])
def test_moments_are_compiled_too(metric):
    import jax

    columns, weights = (
        np.random.default_rng(0).normal(size=(len(metric.inputs), 17)),
        np.arange(34.0).reshape(2, 17) % 3,
    )
    with jax.enable_x64(True):
        found = jax.jit(metric.function)(*columns, weights)
    assert found == pytest.approx(metric.function(*columns, weights), rel=1e-12)


@pytest.mark.parametrize("error", [RuntimeError, AssertionError])
def test_nothing_is_compiled_where_jax_has_no_cpu(monkeypatch, error):
    def refuse(backend=None):
        raise error(f"Unknown backend {backend}")

    assert can_compile(lambda x: x.mean(), 1, 10, vectorized=False)
    monkeypatch.setattr(jax, "local_devices", refuse)
    assert not can_compile(lambda x: x.mean(), 1, 10, vectorized=False)


def test_equal_values_have_no_variance_and_no_correlation():
    """Also where their mean is rounded."""
    equal, weights = np.array([0.1, 0.1, 0.1, 7.0]), np.array([1.0, 1.0, 1.0, 0.0])
    assert VARIANCE.function(equal, weights) == 0.0
    with np.errstate(invalid="ignore"):
        assert np.isnan(CORRELATION.function(equal, np.arange(4.0), weights))


def test_a_mean_far_from_zero_costs_no_digits():
    x, y = np.random.default_rng(0).normal(size=(2, 40)).round(3)
    ones = np.ones(40)
    assert VARIANCE.function(x + 2.0**30, ones) == pytest.approx(np.var(x + 2.0**30, ddof=1), rel=1e-12)
    expected = scipy.stats.pearsonr((x + 2.0**30) - 2.0**30, y).statistic
    assert CORRELATION.function(x + 2.0**30, y, ones) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("name", ORACLES)
def test_permutation_p_is_that_of_all_swaps(name, alternative):
    evaluation = make(name, num_instances=10, seed=3)
    report = compare(evaluation, method="exact", alternative=alternative, interval="none")
    for c in report:
        a, b = (exchanged(name, evaluation.stats[evaluation.systems.index(system)]) for system in (c.a, c.b))
        expected = enumerate_tables(a, b, lambda table: ORACLES[name][1](*table.T), alternative)
        assert (c.method, c.p_value) == ("exact", expected)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_permutation_p_is_that_of_scipy(alternative):
    """SciPy's two-sided p is another: twice the smaller tail."""
    a, b = np.random.default_rng(5).normal(size=(2, 9))
    theirs = scipy.stats.permutation_test(
        (a, b), lambda x, y: np.median(x) - np.median(y), permutation_type="samples", alternative=alternative
    )
    assert permutation_test(a, b, metric="median", alternative=alternative).p_value == theirs.pvalue


@pytest.mark.parametrize("name", ["correlation", "range"])
def test_clusters_are_swapped_whole(name):
    clusters = np.array(list("abacbbcddd"))
    evaluation = make(name, num_systems=2, num_instances=10, seed=1, clusters=clusters)
    (c,) = compare(evaluation, method="exact", interval="none")
    a, b = (exchanged(name, table) for table in evaluation.stats)
    unit = np.unique(clusters, return_inverse=True)[1]
    masks = np.array(list(itertools.product([0, 1], repeat=4)))[:, unit]
    expected = enumerate_tables(a, b, lambda table: ORACLES[name][1](*table.T), "two-sided", masks=masks)
    assert c.p_value == expected


def test_mid_p_counts_ties_half():
    a, b = np.array([[1.0, 2.0, 3.0, 9.0], [1.0, 1.0, 1.0, 1.0]])
    whole = permutation_test(a, b, metric=RANGE, method="exact")
    half = permutation_test(a, b, metric=RANGE, method="exact", mid_p=True)
    masks = np.array(list(itertools.product([0, 1], repeat=4)), bool)
    delta = np.array([np.ptp(np.where(m, b, a)) - np.ptp(np.where(m, a, b)) for m in masks])
    assert whole.p_value == (abs(delta) >= 8.0).mean()
    assert half.p_value == (abs(delta) > 8.0).mean() + 0.5 * (abs(delta) == 8.0).mean()


@pytest.mark.parametrize("name", ORACLES)
def test_monte_carlo_counts_are_those_of_the_masks(name):
    evaluation = make(name)
    masks = swap(row_keys(12345, np.arange(1500)), draws_from_strata(np.zeros(30, int)), np.dtype(bool))[:, :30]
    for c in run(evaluation, interval="none"):
        a, b = (exchanged(name, evaluation.stats[evaluation.systems.index(system)]) for system in (c.a, c.b))
        sides = [np.where(masks[:, :, None], *pair) for pair in ((b, a), (a, b))]
        delta = np.subtract(*([ORACLES[name][1](*table.T) for table in side] for side in sides))
        assert c.exceed == extreme(delta, c.delta, "two-sided").sum()


@pytest.mark.parametrize("name", ORACLES)
def test_replicates_are_those_of_the_draws(name):
    """Counts and draws are two views of the same words."""
    evaluation, draws = make(name), draws_from_strata(np.zeros(30, int))
    keys = row_keys(12345, np.arange(1500))
    drawn = draws.drawn(keys)
    assert (np.apply_along_axis(np.bincount, 1, drawn, minlength=30) == bootstrap(keys, draws, np.int32)[:, :30]).all()
    scores = np.array([[ORACLES[name][1](*table[each].T) for each in drawn] for table in evaluation.stats])
    for c in run(evaluation, test="bootstrap", correction="none"):
        delta = scores[evaluation.systems.index(c.a)] - scores[evaluation.systems.index(c.b)]
        assert c.exceed == extreme(delta - c.delta, c.delta, "two-sided").sum()
        assert c.standard_error == pytest.approx(delta.std(ddof=1), rel=1e-9)
        assert c.interval == pytest.approx(np.quantile(delta, [0.025, 0.975]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_bootstrap_is_all_draws_but_for_sampling(alternative):
    a, b = np.array([[3.0, 1.0, 4.0, 1.0, 5.0], [2.0, 1.0, 3.0, 2.0, 4.0]])
    draws = np.array(list(itertools.product(range(5), repeat=5)))
    delta = np.median(a[draws], axis=1) - np.median(b[draws], axis=1)
    result = bootstrap_test(a, b, metric="median", alternative=alternative, resamples=20_000)
    expected = extreme(delta - 1.0, 1.0, alternative).mean()
    assert abs(result.p_value - expected) < 4.5 * montecarlo_error(expected, 20_000)
    error = np.sqrt(scipy.stats.kurtosis(delta, fisher=False) / (4 * 20_000))
    assert result.standard_error == pytest.approx(delta.std(), rel=4.5 * error)


def test_bootstrap_has_the_standard_error_of_scipy():
    gold, noise, other = np.random.default_rng(1).normal(size=(3, 60))
    a, b = np.stack([gold + noise, gold], axis=1), np.stack([gold + other, gold], axis=1)

    def delta(p, q, g):
        return ORACLES["correlation"][1](p, g) - ORACLES["correlation"][1](q, g)

    theirs = scipy.stats.bootstrap(
        (a[:, 0], b[:, 0], gold), delta, paired=True, vectorized=False, n_resamples=2000, method="percentile", rng=0
    )
    ours = bootstrap_test(a, b, metric="correlation", resamples=20_000)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=4.5 * np.sqrt(1 / 4000))
    assert ours.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.3 * ours.standard_error)


LABELS = {
    "instances": {},
    "strata": {"strata": [i * i % 3 for i in range(36)]},
    "even clusters": {"clusters": [i * 7 % 12 for i in range(36)]},
    "uneven clusters": {"clusters": [i * i % 17 for i in range(36)]},
    "clusters in strata": {"clusters": [i * i % 17 for i in range(36)], "strata": [i * i % 17 % 2 for i in range(36)]},
}


@pytest.mark.parametrize("way", ["numpy", "compiled"])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("metric", [PLAIN_MEAN, WEIGHTED_MEAN], ids=["plain", "weighted"])
def test_a_mean_is_the_mean(metric, labels, way, monkeypatch):
    """The same resamples as with sums, so the same counts."""
    if way == "compiled":
        monkeypatch.setattr(sample, "COMPILING_METRIC", Cost())
    rng = np.random.default_rng(2)
    arrays = {name: rng.integers(0, 4, 36) for name in "ABC"}
    evaluations = [Evaluation.from_arrays(arrays, metric=kind, **LABELS[labels]) for kind in ("mean", metric)]
    for options in ({}, {"alternative": "less", "variant": "flip"}, {"resamples": "auto", "test": "permutation"}):
        options = {"test": ["permutation", "bootstrap"], "interval": "percentile"} | options
        of_sums, of_arrays = (numbers(run(evaluation, **options)) for evaluation in evaluations)
        assert of_arrays[0] == of_sums[0]
        np.testing.assert_allclose(of_arrays[1], of_sums[1], rtol=1e-9, atol=1e-12)
