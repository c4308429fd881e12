"""What systems exchange by metrics of whole columns: p does not depend on the scale that a score ignores."""

import numpy as np
import pytest
import scipy.stats
from oracles import enumerate_tables
from samples import numbers, run

from sigjax import Evaluation, InputError, SampleMetric, compare, permutation_test
from sigjax.metrics.columns import CORRELATION, standardized


def pearson(x, y):
    return scipy.stats.pearsonr(x, y).statistic


def tables(num_instances, *, labels=False):
    """Gold values, and a system that is much closer to them than another."""
    gold, a, b = np.random.default_rng(2).normal(size=(3, num_instances)).round(3)
    shared = (gold > 0) * 1.0 if labels else gold
    return [np.column_stack([column, shared]) for column in (0.2 * gold + a, 1.5 * gold + b)]


def changed(table, change):
    return np.column_stack([change(table[:, 0]), table[:, 1]])


SCALES = {"offset": lambda x: x + 10.0, "scale": lambda x: 100.0 * x, "both": lambda x: 0.001 * x - 6.0}
ORDERS = SCALES | {"monotone": lambda x: np.exp(x) ** 3}


@pytest.mark.parametrize("num_instances", [12, 60])
@pytest.mark.parametrize("change", SCALES)
def test_correlation_ignores_the_scale_of_a_system(change, num_instances):
    """For 40 instances, p was 1e-4 as it is, 0.054 with 10 more for one system, and 0.001 for 100 times as much."""
    a, b = tables(num_instances)
    plain = permutation_test(a, b, metric="correlation", resamples=4000)
    moved = permutation_test(a, changed(b, SCALES[change]), metric="correlation", resamples=4000)
    assert moved.delta == pytest.approx(plain.delta, rel=1e-12)
    assert moved.p_value == plain.p_value < (0.01 if num_instances > 12 else 1.0)


@pytest.mark.parametrize("num_instances", [12, 60])
@pytest.mark.parametrize("change", ORDERS)
@pytest.mark.parametrize("metric", ["auc", "spearman", "kendall"])
def test_ranks_ignore_the_scale_of_a_system(metric, change, num_instances):
    a, b = tables(num_instances, labels=metric == "auc")
    plain = permutation_test(a, b, metric=metric, resamples=2000)
    moved = permutation_test(a, changed(b, ORDERS[change]), metric=metric, resamples=2000)
    assert (moved.delta, moved.p_value) == (plain.delta, plain.p_value)
    assert plain.p_value < (0.01 if num_instances > 12 else 1.0)


def test_variance_ignores_the_mean_of_a_system():
    a, b = np.random.default_rng(0).normal(0.0, [[1.0], [1.6]], (2, 60)).round(2)
    plain, moved = (permutation_test(a, b + shift, metric="variance", resamples=2000) for shift in (0.0, 1e12 // 7))
    assert moved.p_value == pytest.approx(plain.p_value, abs=0.02)  # the numbers themselves are rounded there
    assert permutation_test(a, b + 50.0, metric="variance", resamples=2000).p_value == plain.p_value < 0.05


@pytest.mark.parametrize("standardize", ["zscore", "rank", "center"])
def test_own_metrics_may_declare_it(standardize):
    own = SampleMetric("own", lambda p, g: np.corrcoef(p, g)[0, 1], ("p", "g"), standardize=(standardize, "none"))
    ways = {"zscore": scipy.stats.zscore, "rank": scipy.stats.rankdata, "center": lambda x: x - x.mean()}
    a, b = (table[:9] for table in tables(9))
    if standardize == "rank":  # of which the score depends
        with pytest.raises(InputError, match=r"'own' gives .* but .* once they are standardized \(rank, none\)"):
            permutation_test(a, b, metric=own)
        return
    expected = enumerate_tables(
        *(changed(table, ways[standardize]) for table in (a, b)), lambda table: pearson(*table.T), "two-sided"
    )
    assert permutation_test(a, b, metric=own).p_value == expected


@pytest.mark.parametrize("standardize", ["zscore", ("zscore",), ("zscore", "log")])
def test_unknown_ways_are_refused(standardize):
    own = SampleMetric("own", pearson, ("p", "g"), standardize=standardize)
    with pytest.raises(InputError, match="standardize must be one of none, center, zscore, rank for each of p, g"):
        permutation_test(*tables(9), metric=own)


@pytest.mark.parametrize(("scale", "offset"), [(3.0, 1.0), (0.1, 0.7), (1e-9, 0.0), (7.0, 1e12), (0.1, -1e12)])
def test_equal_numbers_stay_equal(scale, offset):
    """However they are written as decimals."""
    base = np.array([0, 1, 1, 3, 7.0])
    other = [float(f"{scale * value + offset:.14g}") for value in base]
    columns = np.array([[base], [other]])
    one, two = standardized(SampleMetric("own", np.ptp, ("x",), standardize=("zscore",)), columns)[:, 0]
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, scipy.stats.zscore(base), rtol=1e-15)


def test_numbers_beyond_the_range_are_refused():
    huge = np.array([[-1.7e308, 1.7e308, 1.7e308], [1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match="value: the spread of the numbers is beyond the range of a double; rescale"):
        permutation_test(*huge, metric="variance")


def test_vectorized_functions_are_checked():
    def of_one(x, weights):
        return (weights * x).sum() / weights.sum()

    own = SampleMetric("own", of_one, ("x",), weighted=True, vectorized=True)
    with pytest.raises(InputError, match=r"'own' must turn weights \[..., instance\] into scores"):
        permutation_test([1.0, 2.0, 3.0], [5.0, 1.0, 2.0], metric=own)
    of_many = SampleMetric(
        "many", lambda x, w: (w * x).sum(axis=-1) / w.sum(axis=-1), ("x",), weighted=True, vectorized=True
    )
    arrays = dict(zip("ABC", np.random.default_rng(0).integers(0, 9, (3, 40)), strict=True))
    found, expected = (
        run(Evaluation.from_arrays(arrays, metric=metric), test=["permutation", "bootstrap"])
        for metric in (of_many, "mean")
    )
    assert numbers(found)[0] == numbers(expected)[0]


def test_the_reference_is_scipy_for_thousands_of_instances():
    gold, a, b = np.random.default_rng(3).normal(size=(3, 4000)).round(2)
    systems = {"A": np.column_stack([gold + a, gold]), "B": np.column_stack([100.0 * (gold + 2.0 * b), gold])}
    for name, oracle in (("spearman", scipy.stats.spearmanr), ("kendall", scipy.stats.kendalltau)):
        report = compare(Evaluation.from_arrays(systems, metric=name), resamples=50, interval="none")
        for system in report.systems:
            assert system.score == pytest.approx(oracle(*systems[system.name].T).statistic, rel=1e-13)
    assert CORRELATION.standardize == ("zscore", "zscore")
