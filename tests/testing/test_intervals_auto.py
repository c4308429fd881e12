"""The default intervals: which kind each score and delta gets, and those by the jackknife against statsmodels, SciPy,
and the matrices of Pustejovsky and Tipton (2018)."""

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from oracles import random_counts
from scipy import optimize, stats

from sigjax import Evaluation, compare
from sigjax.metrics.columns import MEDIAN
from sigjax.testing.intervals import KINDS
from sigjax.testing.jackknife import degrees_of_freedom

OPTIONS = {"test": "bootstrap", "method": "montecarlo", "resamples": 2, "device": "numpy"}
"""No resample has a part in these intervals."""
SIZES = np.array([1, 1, 2, 3, 3, 5, 8, 13, 40])


def by_name(report):
    return sorted(report.systems, key=lambda one: one.name)


@pytest.mark.parametrize("size", [2, 3, 12, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_deltas_of_means_have_the_t_interval_where_differences_are_symmetric(size, level):
    rng = np.random.default_rng(size)
    values = np.cumsum(rng.lognormal(size=(3, size)) - rng.permuted(rng.lognormal(size=(3, size)), axis=1), axis=0)
    for apart in (values[0] - values[1], values[1] - values[2], values[0] - values[2]):
        mirrored = np.concatenate([apart, -apart]) + 0.3
        (one,) = compare(Evaluation.from_arrays({"A": mirrored, "B": np.zeros(2 * size)}), level=level, **OPTIONS)
        known = stats.ttest_1samp(mirrored, 0.0)
        assert tuple(one.interval) == pytest.approx(tuple(known.confidence_interval(level)), rel=1e-9)
        assert one.standard_error == pytest.approx(one.delta / known.statistic, rel=1e-9)
        assert one.interval_kind == "wide-t"


@pytest.mark.parametrize("size", [2, 3, 12, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_deltas_of_skewed_means_have_the_cubic_on_the_side_of_the_long_tail(size, level):
    """On the other side, the end of SciPy's t; at most twice as far as that, and of many pairs at once."""
    values = np.random.default_rng(size).lognormal(size=(3, size))
    report = compare(Evaluation.from_arrays(dict(zip("ABC", values, strict=True))), level=level, **OPTIONS)
    for one in report:
        apart = values["ABC".index(one.a)] - values["ABC".index(one.b)]
        by_t = stats.ttest_1samp(apart, 0.0).confidence_interval(level)
        error, g = stats.sem(apart), stats.skew(apart) / math.sqrt(size)
        quantile = stats.t.ppf((1.0 + level) / 2.0, size - 1)
        for end, t, sign in ((one.interval.low, by_t.low, 1.0), (one.interval.high, by_t.high, -1.0)):
            x = optimize.brentq(
                lambda x, s=sign, g=g, q=quantile: x + g * x**2 / 3 + g**2 * x**3 / 27 + g / 6 - s * q, -1e5, 1e5
            )
            longest = one.delta + 2.0 * (t - one.delta)
            known = np.clip(one.delta - x * error, *sorted((t, longest)))
            assert end == pytest.approx(known, rel=1e-7, abs=1e-9 * error)
            if sign * g > 1e-9:
                assert end == pytest.approx(t, rel=1e-9)
        assert one.standard_error == pytest.approx(error, rel=1e-9)
        assert one.interval_kind == "wide-t"


def test_systems_of_skewed_scores_have_their_standard_error():
    values = np.random.default_rng(12).lognormal(size=(3, 12))
    report = compare(Evaluation.from_arrays(dict(zip("ABC", values, strict=True))), **OPTIONS)
    for one, row in zip(by_name(report), values, strict=True):
        assert one.standard_error == pytest.approx(stats.sem(row), rel=1e-10)
        assert one.interval_kind == "skew-t"


def test_scores_have_halls_transformation():
    """Its ends are roots of the cubic, and without skewness those of t."""
    values = np.random.default_rng(1).lognormal(size=30)
    evaluation = Evaluation.from_arrays({"A": values, "B": np.concatenate([values, -values])[15:45]})
    one = by_name(compare(evaluation, **OPTIONS))[0]
    error, g = stats.sem(values), stats.skew(values) / math.sqrt(30)
    quantile = stats.t.ppf(0.975, 29)
    for end, sign in ((one.interval.low, 1.0), (one.interval.high, -1.0)):
        x = optimize.brentq(lambda x, sign=sign: x + g * x**2 / 3 + g**2 * x**3 / 27 + g / 6 - sign * quantile, -50, 50)
        assert end == pytest.approx(values.mean() - x * error, rel=1e-9)
    half = np.random.default_rng(2).normal(size=20)
    one = by_name(compare(Evaluation.from_arrays({"A": np.concatenate([half, -half]), "B": np.zeros(40)}), **OPTIONS))[
        0
    ]
    known = stats.ttest_1samp(np.concatenate([half, -half]), 0.0).confidence_interval()
    assert tuple(one.interval) == pytest.approx(tuple(known), rel=1e-7)


def clusters_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def test_standard_errors_of_clusters_are_hc3_of_statsmodels():
    """The ratio of sums is a regression of the sums on the sizes, weighted by 1 / size: its HC3 is CR3 of clusters."""
    rng = np.random.default_rng(3)
    codes = clusters_of(SIZES)
    values = rng.normal(size=(2, len(codes))) + rng.normal(size=(2, len(SIZES)))[:, codes] + codes / 5
    (one,) = compare(Evaluation.from_arrays(dict(zip("AB", values, strict=True)), clusters=codes.tolist()), **OPTIONS)
    sums = np.bincount(codes, values[0] - values[1])
    known = sm.WLS(sums, SIZES.astype(float), weights=1.0 / SIZES).fit(cov_type="HC3")
    assert one.delta == pytest.approx(known.params[0], rel=1e-12)
    assert one.standard_error == pytest.approx(known.bse[0] * math.sqrt(8 / 9), rel=1e-10)
    degrees = by_matrices(SIZES)
    half = stats.t.ppf(0.975, degrees) * one.standard_error
    near, far = sorted(np.abs(np.array(one.interval) - one.delta))
    assert near == pytest.approx(half, rel=1e-10)
    assert half < far < 2.0 * half


def by_matrices(sizes):
    """Satterthwaite's degrees of freedom of CR3, by the matrices of Pustejovsky and Tipton (2018), section 2, for the
    regression of instances on a constant, if all instances of a cluster vary as one."""
    codes = clusters_of(sizes)
    design = np.ones((len(codes), 1))
    bread = np.linalg.inv(design.T @ design)
    residual = np.eye(len(codes)) - design @ bread @ design.T
    working = (codes[:, None] == codes).astype(float)
    rows = []
    for cluster in range(len(sizes)):
        mine = codes == cluster
        adjusted = np.linalg.inv(residual[np.ix_(mine, mine)])
        rows.append((residual[mine].T @ adjusted @ design[mine] @ bread)[:, 0])
    products = np.array(rows) @ working @ np.array(rows).T
    return np.trace(products) ** 2 / (products**2).sum()


@pytest.mark.parametrize("sizes", [SIZES, np.full(7, 4), np.array([30, 1, 1]), np.array([2, 1])])
def test_degrees_of_freedom_are_those_of_the_matrices(sizes):
    found = degrees_of_freedom(sizes, np.zeros(len(sizes), int))
    assert found == pytest.approx(by_matrices(sizes), rel=1e-9)
    assert found <= (len(sizes) - 1) * (1 + 1e-9)


def test_strata_add_up_and_a_unit_alone_in_one_does_not_vary():
    """The variance of a stratified mean, for strata of 9, 14 and 1 units; degrees of freedom of 8 and 13 together."""
    rng, strata = np.random.default_rng(4), np.repeat([0, 1, 2], [9, 14, 1])
    values = rng.normal(size=(2, 24)) + strata
    report = compare(Evaluation.from_arrays(dict(zip("AB", values, strict=True)), strata=strata.tolist()), **OPTIONS)
    apart = values[0] - values[1]
    variance = sum(n * apart[strata == h].var(ddof=1) for h, n in ((0, 9), (1, 14))) / 24**2
    assert report.comparisons[0].standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)
    degrees = 23**2 / (9**2 / 8 + 14**2 / 13)
    near, far = sorted(np.abs(np.array(report.comparisons[0].interval) - report.comparisons[0].delta))
    assert near < far < 2.0 * near
    assert near == pytest.approx(stats.t.ppf(0.975, degrees) * math.sqrt(variance), rel=1e-9)


def test_any_metric_of_sums_is_left_out_unit_by_unit():
    arrays = random_counts(np.random.default_rng(5), 2, 20)
    (one,) = compare(Evaluation.from_arrays(arrays, metric="fscore"), **OPTIONS)

    def f1(stats):
        tp, predicted, gold = stats.sum(axis=0)
        return 2 * tp / (predicted + gold)

    a, b = arrays.values()
    without = np.array([f1(np.delete(a, i, 0)) - f1(np.delete(b, i, 0)) for i in range(20)])
    known = math.sqrt(19 / 20 * ((without - one.delta) ** 2).sum())
    assert one.standard_error == pytest.approx(known, rel=1e-10)


RIGHT = {"A": [1] * 20, "B": [1] * 17 + [0] * 3, "C": [0, 1] * 10}


IDS = {"ids": [str(i // 2) for i in range(20)], "runs": [str(i % 2) for i in range(20)]}


@pytest.mark.parametrize(
    ("metric", "labels", "options", "kinds"),
    [
        ("mean", {}, {}, ("wilson", "tango")),
        ("mean", {}, {"interval": "simultaneous"}, ("wilson", "tango")),
        ("mean", {"clusters": [i // 2 for i in range(20)]}, {}, ("skew-t", "wide-t")),
        ("mean", {"clusters": list(range(20))}, {}, ("wilson", "tango")),
        ("mean", {"strata": [i // 10 for i in range(20)]}, {}, ("skew-t", "wide-t")),
        ("mean", IDS, {}, ("skew-t", "wide-t")),
        ("mean", IDS, {"test": "permutation", "design": "crossed"}, ("skew-t", "wide-t")),
        ("mean", IDS, {"design": "nested"}, ("percentile", "percentile")),
        (MEDIAN, {}, {}, ("percentile", "percentile")),
        (MEDIAN, {}, {"interval": "simultaneous"}, ("simultaneous", "simultaneous")),
        ("mean", {}, {"interval": "basic"}, ("basic", "basic")),
        ("mean", {}, {"interval": "none"}, (None, None)),
    ],
)
def test_the_report_names_the_kinds(metric, labels, options, kinds):
    report = compare(Evaluation.from_arrays(RIGHT, metric=metric, **labels), **(OPTIONS | {"resamples": 200} | options))
    found = [{one.interval_kind for one in records if one.interval} for records in (report.systems, report)]
    assert found == [set() if kind is None else {kind} for kind in kinds]
    record = json.loads(report.to_json())
    assert [one["interval_kind"] for one in (record["systems"][1], record["pairs"][0])] == list(kinds)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.needs == "replicates"])
def test_the_exact_law_gives_the_interval_that_resamples_come_near(kind):
    """Ends within 5% of the length, which is many times the Monte Carlo error of 50,000 resamples."""
    values = np.random.default_rng(3).lognormal(sigma=1.2, size=(2, 12)).round(1)
    evaluation = Evaluation.from_arrays(dict(zip("AB", values, strict=True)))
    options = {"interval": kind, "test": "bootstrap", "device": "numpy", "resamples": 50_000}
    exact, sampled = (compare(evaluation, method=method, **options) for method in ("auto", "montecarlo"))
    for one, other in zip((*exact.systems, *exact), (*sampled.systems, *sampled), strict=True):
        length = other.interval.high - other.interval.low
        assert one.interval == pytest.approx(other.interval, abs=0.05 * length)
