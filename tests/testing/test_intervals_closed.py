"""Intervals in closed form: t corrected for skewness, clusters, proportions; against statsmodels, SciPy and papers."""

import itertools
import json
import math
from functools import partial
from typing import get_args

import numpy as np
import pytest
import statsmodels.api as sm
from oracles import random_counts
from scipy import optimize, stats
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, multinomial, norm
from statsmodels.stats.proportion import proportion_confint
from test_intervals import enumerated

from sigjax import Evaluation, SampleMetric, compare, one_sample, read
from sigjax.metrics import MEAN
from sigjax.metrics.columns import MEDIAN
from sigjax.records import DESIGNS, Settings
from sigjax.records.settings import Design, IntervalKind, IntervalName
from sigjax.resample.units import Units
from sigjax.testing.intervals import INTERVALS, jackknife_intervals, tango_interval, wilson_interval
from sigjax.testing.jackknife import degrees_of_freedom
from sigjax.testing.problem import SumsProblem
from sigjax.testing.skewed_t import skewed_ends, skewed_tail, skewness

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
        (one,) = compare(
            Evaluation.from_arrays({"A": mirrored, "B": np.zeros(2 * size)}), confidence_level=level, **OPTIONS
        )
        known = stats.ttest_1samp(mirrored, 0.0)
        assert tuple(one.interval) == pytest.approx(tuple(known.confidence_interval(level)), rel=1e-9)
        assert one.standard_error == pytest.approx(one.delta / known.statistic, rel=1e-9)
        assert one.interval_kind == "conservative-t"


@pytest.mark.parametrize("size", [2, 3, 12, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_deltas_of_skewed_means_have_the_cubic_on_the_side_of_the_long_tail(size, level):
    """On the other side, the end of SciPy's t; at most twice as far as that, and of many pairs at once."""
    values = np.random.default_rng(size).lognormal(size=(3, size))
    report = compare(Evaluation.from_arrays(dict(zip("ABC", values, strict=True))), confidence_level=level, **OPTIONS)
    joint = 1.0 - (1.0 - level) / 3.0
    for one in report:
        apart = values["ABC".index(one.a)] - values["ABC".index(one.b)]
        by_t = stats.ttest_1samp(apart, 0.0).confidence_interval(joint)
        error, g = stats.sem(apart), stats.skew(apart) / math.sqrt(size)
        quantile = stats.t.ppf((1.0 + joint) / 2.0, size - 1)
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
        assert one.interval_kind == "conservative-t"


def test_systems_of_skewed_scores_have_their_standard_error():
    values = np.random.default_rng(12).lognormal(size=(3, 12))
    report = compare(Evaluation.from_arrays(dict(zip("ABC", values, strict=True))), **OPTIONS)
    for one, row in zip(by_name(report), values, strict=True):
        assert one.standard_error == pytest.approx(stats.sem(row), rel=1e-10)
        assert one.interval_kind == "hall-t"


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
        ("mean", {"clusters": [i // 2 for i in range(20)]}, {}, ("hall-t", "conservative-t")),
        ("mean", {"clusters": list(range(20))}, {}, ("wilson", "tango")),
        ("mean", {"strata": [i // 10 for i in range(20)]}, {}, ("hall-t", "conservative-t")),
        ("mean", IDS, {}, ("hall-t", "conservative-t")),
        ("mean", IDS, {"test": "permutation", "design": "crossed"}, ("hall-t", "conservative-t")),
        ("mean", IDS, {"design": "nested"}, ("percentile", "simultaneous")),
        ("mean", IDS, {"design": "nested", "correction": "none"}, ("percentile", "percentile")),
        (MEDIAN, {}, {}, ("percentile", "simultaneous")),
        (MEDIAN, {}, {"correction": "bh"}, ("percentile", "percentile")),
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


@pytest.mark.parametrize("kind", [name for name, kind in INTERVALS.items() if kind.needs == "replicates"])
def test_the_exact_law_gives_the_interval_that_resamples_come_near(kind):
    """Ends within 5% of the length, which is many times the Monte Carlo error of 50,000 resamples."""
    values = np.random.default_rng(3).lognormal(sigma=1.2, size=(2, 12)).round(1)
    evaluation = Evaluation.from_arrays(dict(zip("AB", values, strict=True)))
    options = {"interval": kind, "test": "bootstrap", "device": "numpy", "resamples": 50_000}
    exact, sampled = (compare(evaluation, method=method, **options) for method in ("auto", "montecarlo"))
    for one, other in zip((*exact.systems, *exact), (*sampled.systems, *sampled), strict=True):
        length = other.interval.high - other.interval.low
        assert one.interval == pytest.approx(other.interval, abs=0.05 * length)


QUICK = {"device": "numpy", "resamples": 2}
LEVELS = (1e-6, 0.05, 0.5, 0.9, 0.95, 0.99, 0.9999)
NINE = [0.21, 0.64, 0.78, 0.81, 0.82, 0.84, 0.85, 0.88, 0.88]
"""Nine tasks, one of them much harder: Hall's transformation alone has an interval from 0.15 to 0.86."""


def cubic(x, g):
    return x + g * x**2 / 3.0 + g**2 * x**3 / 27.0 + g / 6.0


def known(values, level):
    """The interval of a mean by a root finder: an end is up to twice as far as that of SciPy's t where the tail is
    long, and up to half as far on the other side."""
    mean, error, g = np.mean(values), stats.sem(values), stats.skew(values) / math.sqrt(len(values))
    ends = []
    for t in stats.t.ppf([(1.0 + level) / 2.0, (1.0 - level) / 2.0], len(values) - 1):
        x = optimize.brentq(lambda x, t=t: cubic(x, g) - t, -1e4, 1e4, xtol=1e-12)
        ends.append(mean - error * np.clip(x, *sorted((t, 2.0 * t if g * t < 0.0 else t / 2.0))))
    return ends


def interval_of(values, **options):
    """By `compare`; the other system is any."""
    arrays = {"A": values, "B": np.zeros(len(values))}
    report = compare(Evaluation.from_arrays(arrays, **options.pop("data", {})), **QUICK, **options)
    (one,) = (one for one in report.systems if one.name == "A")
    assert one.interval is not None
    return one


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_the_cubic_within_bounds(level):
    rng = np.random.default_rng(1)
    for values in (NINE, *(sign * rng.lognormal(sigma=1.5, size=n) for n in (2, 3, 5, 12, 40) for sign in (1, -1))):
        one = interval_of(np.array(values), confidence_level=level)
        assert tuple(one.interval) == pytest.approx(known(values, level), rel=1e-6)
        assert one.interval_kind == "hall-t"


def test_an_outlier_among_few_units_does_not_stretch_an_interval_without_limit():
    one = interval_of(np.array(NINE))
    half = stats.t.ppf(0.975, 8) * one.standard_error
    assert one.interval.low == pytest.approx(one.score - 2.0 * half) == pytest.approx(0.417, abs=5e-4)
    assert one.interval.high == pytest.approx(0.858, abs=5e-4)


@pytest.mark.parametrize("nearer", [True, False])
@pytest.mark.parametrize("degrees", [0.7, 1.0, 4.0, 29.0, 1e4])
def test_intervals_grow_with_the_level_around_the_score_and_invert_the_test(degrees, nearer):
    quantiles = stats.t.ppf((1.0 + np.array(LEVELS)) / 2.0, degrees)
    skewed = np.array([-1.0, -0.47, -0.1, 0.0, 0.3, 0.56, 1.0])
    ends = np.array([skewed_ends(skewed, t, nearer=nearer) for t in quantiles])
    assert ends[:, 0] == pytest.approx(-np.array([skewed_ends(-skewed, t, nearer=nearer)[1] for t in quantiles]))
    for g, low, high in zip(skewed.tolist(), *(3.0 - 0.1 * ends.transpose(1, 2, 0)), strict=True):
        assert (np.diff(low) < 0.0).all()
        assert (np.diff(high) > 0.0).all()
        assert low[0] <= 3.0 <= high[0]
        for level, *both in zip(LEVELS, low, high, strict=True):
            for end, side in zip(both, ("greater", "less"), strict=True):
                p = [skewed_tail(3.0, 0.1, g, end, degrees, each, nearer=nearer) for each in ("two-sided", side)]
                assert p == pytest.approx([1.0 - level, (1.0 - level) / 2.0], rel=1e-6)
        assert skewed_tail(3.0, 0.1, g, 3.0, degrees, "two-sided", nearer=nearer) == 1.0
    if not nearer:
        assert (np.abs(ends) >= quantiles[:, None, None] * (1.0 - 1e-12)).all()


TWO = {"clusters": ["x"] * 12 + ["y"] * 18}
"""Two clusters have one degree of freedom: intervals by t are 25 standard errors long."""
ANSWERS = np.array([1] * 11 + [0] + [1] * 15 + [0] * 3)


@pytest.mark.parametrize("data", [TWO, TWO | {"metric": "accuracy"}])
@pytest.mark.parametrize("kind", ["auto", "simultaneous"])
def test_shares_are_from_0_to_1(data, kind):
    """Also where the metric of answers right or wrong is called a mean."""
    report = compare(
        Evaluation.from_arrays({"A": ANSWERS, "B": 1 - ANSWERS}, **data), interval=kind, device="numpy", resamples=99
    )
    assert min(one.interval.low for one in report.systems) == 0.0
    assert max(one.interval.high for one in report.systems) == 1.0
    (pair,) = report
    assert -1.0 < pair.interval.low < pair.delta < pair.interval.high == 1.0


def test_p_is_that_of_the_interval():
    """9 documents by F1: against the end of an interval at the bound of twice t, p is 0.05."""
    counts = [[1, 9, 9], *([[9, 10, 10 + i % 3] for i in range(8)])]
    report = compare(Evaluation.from_arrays({"A": counts, "B": counts[::-1]}, metric="fscore"), **QUICK)
    one = report.systems[0]
    half = stats.t.ppf(0.975, 8) * one.standard_error
    assert one.score - one.interval.low == pytest.approx(2.0 * half)
    for end in (one.interval.low, one.interval.high):
        (found,) = one_sample({"A": counts}, against=end, read={"metric": "fscore"}, device="numpy")
        assert found.p_value == pytest.approx(0.05, rel=1e-9)


def _tables(num_instances):
    """All numbers of instances that only one of two systems has right."""
    return np.array([(b, c) for b in range(num_instances + 1) for c in range(num_instances + 1 - b)]).T


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 20, 57_755])
def test_wilson_is_that_of_statsmodels(trials, level):
    successes = np.unique(np.linspace(0, trials, 5000).astype(int))
    low, high = wilson_interval(successes, trials, level)
    expected = proportion_confint(successes, trials, alpha=1.0 - level, method="wilson")
    np.testing.assert_allclose(low, expected[0], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(high, expected[1], rtol=1e-10)
    assert low[0] == 0.0
    assert high[-1] == 1.0


def test_tango_is_that_of_papers():
    # Tango (1998), disinfection of soft contact lenses: 43, 0, 1 and 0 of 44 pairs, 90%.
    np.testing.assert_allclose(tango_interval(0, 1, 44, 0.9), (-0.096, 0.037), atol=5e-4)
    # Fagerland, Lydersen and Laake (2014), airway hyper-responsiveness: 1, 1, 7 and 12 of 21 children.
    np.testing.assert_allclose(tango_interval(1, 7, 21, 0.95), (-0.517, -0.026), atol=5e-4)


@pytest.mark.parametrize(("trials", "level"), [(10, 0.95), (20, 0.9), (23, 0.99)])
def test_the_ends_are_just_not_rejected_by_the_score_test_with_numerical_maximum_likelihood(trials, level):
    b, c = _tables(trials)
    for end in tango_interval(b, c, trials, level):
        inside = np.abs(end) < 1.0 - 1e-12
        for only_a, only_b, delta in zip(b[inside][::7], c[inside][::7], end[inside][::7], strict=True):
            least = max(0.0, -delta)

            def deviance(q, only_a=only_a, only_b=only_b, delta=delta):
                chances = np.array([q + delta, q, 1.0 - 2.0 * q - delta])
                counts = np.array([only_a, only_b, trials - only_a - only_b])
                return -np.sum(np.where(counts > 0, counts * np.log(np.maximum(chances, 1e-300)), 0.0))

            most = (1.0 - delta) / 2.0
            q = minimize_scalar(deviance, bounds=(least, most), method="bounded", options={"xatol": 1e-12}).x
            q = min((least, q, most), key=deviance)
            z = (only_a - only_b - trials * delta) / np.sqrt(trials * (2.0 * q + delta - delta**2))
            assert abs(z) == pytest.approx(norm.ppf((1.0 + level) / 2.0), rel=2e-5)


@pytest.mark.parametrize("trials", [20, 150])
def test_tango_excludes_0_where_mcnemar_rejects(trials):
    b, c = _tables(trials)
    low, high = tango_interval(b, c, trials, 0.95)
    rejects = (b - c) ** 2 > chi2.ppf(0.95, 1) * (b + c)
    np.testing.assert_array_equal((low > 0.0) | (high < 0.0), rejects)
    np.testing.assert_allclose(tango_interval(c, b, trials, 0.95), (-high, -low), atol=1e-15)
    assert (low >= -1.0).all()
    assert (high <= 1.0).all()
    assert (low < (b - c) / trials + 1e-15).all()


def test_every_kind_that_can_be_asked_for_is_declared():
    assert {name for name, kind in INTERVALS.items() if kind.about} == set(get_args(IntervalKind))
    assert set(INTERVALS) == {*get_args(IntervalKind), *get_args(IntervalName)}
    assert set(DESIGNS) == set(get_args(Design))


FEW = np.array([0.0, 1.0, 1.0, 2.0, 9.0, 3.0])
"""Six differences of systems, of which there are 46,656 resamples."""
EVEN = np.array([-4.0, -3.0, -1.0, 1.0, 3.0, 4.0]) + 0.5
CHILDREN = {"A": [0] * 8 + [1] * 13, "B": [1] * 7 + [0] + [1] * 12 + [0]}
"""Fagerland, Lydersen and Laake (2014), airway hyper-responsiveness: 7, 1, 12 and 1 of 21."""
RUNS = dict(zip("AB", np.random.default_rng(3).normal(size=(2, 5)) * [[1.0], [3.0]], strict=True))
"""Scores of five trained models of two systems, which are those of every instance."""


def all_resamples():
    return FEW[np.array(list(itertools.product(range(len(FEW)), repeat=len(FEW))))]


def by_t():
    return stats.ttest_1samp(EVEN, 0.0).confidence_interval()


def by_studentized_resamples():
    """Resamples that do not vary have no t."""
    rows = all_resamples()
    rows = rows[np.ptp(rows, axis=1) > 0.0]
    low, high = np.quantile((rows.mean(axis=1) - FEW.mean()) / rows.std(axis=1), [0.025, 0.975])
    return FEW.mean() - high * FEW.std(), FEW.mean() - low * FEW.std()


def by_distance():
    far = np.quantile(np.abs(all_resamples().mean(axis=1) - FEW.mean()), 0.95)
    return FEW.mean() - far, FEW.mean() + far


def by_welch():
    return stats.ttest_ind(RUNS["A"], RUNS["B"], equal_var=False).confidence_interval()


WHOLE = SampleMetric("mean of all", lambda x: x.mean(axis=-1), ("value",))
ORACLES = {
    "auto": (EVEN, "mean", {}, by_t, 1e-9),
    "conservative-t": (EVEN, "mean", {}, by_t, 1e-9),
    "hall-t": (NINE, "mean", {}, lambda: known(NINE, 0.95), 1e-6),
    "wilson": (CHILDREN, "accuracy", {}, lambda: proportion_confint(13, 21, method="wilson"), 1e-9),
    "tango": (CHILDREN, "accuracy", {}, lambda: (-0.517, -0.026), 1e-3),
    **{
        kind: (FEW, "mean", {"method": "exact"}, partial(enumerated, FEW, kind, 0.95), 1e-12)
        for kind in ("percentile", "basic", "bca")
    },
    "studentized": (FEW, "mean", {"resamples": 40_000}, by_studentized_resamples, 0.05),
    "simultaneous": (FEW, WHOLE, {"resamples": 40_000}, by_distance, 0.02),
    "two-way": (RUNS, "mean", {"design": "models"}, by_welch, 1e-7),
    "none": (EVEN, "mean", {}, lambda: None, 0.0),
}
"""Data, metric, options, the interval by SciPy, statsmodels, a paper or all resamples, and its error in lengths."""


@pytest.mark.parametrize("kind", INTERVALS)
def test_every_kind_has_an_interval_that_is_not_from_here(kind):
    assert kind in ORACLES, f"interval {kind!r} is tested against nothing: add it to ORACLES"
    data, metric, options, oracle, error = ORACLES[kind]
    arrays = data if isinstance(data, dict) else {"A": data, "B": np.zeros(len(data))}
    labels = {}
    if kind == "two-way":
        arrays = {name: np.tile(scores, 30) for name, scores in data.items()}
        labels = {"ids": np.repeat(np.arange(30), 5).tolist(), "runs": [*range(5)] * 30}
    chosen = {"interval": kind} if INTERVALS[kind].about else {}
    report = compare(Evaluation.from_arrays(arrays, metric=metric, **labels), device="numpy", **chosen, **options)
    one = by_name(report)[0] if kind in ("hall-t", "wilson") else report[0]
    expected = oracle()
    if expected is None:
        assert one.interval is None
    else:
        assert one.interval == pytest.approx(tuple(expected), abs=error * (expected[1] - expected[0]))
        assert chosen or one.interval_kind == kind


def test_what_does_not_vary_has_intervals_of_zero_width_and_a_note():
    """Units that are all alike say nothing of others. Thirds are no doubles: rounding must not look like variation."""
    a = np.random.default_rng(6).integers(0, 9, 50) / 3
    report = compare(Evaluation.from_arrays({"A": a, "same": a, "more": a + 1.0}), **OPTIONS)
    for one in report:
        assert one.standard_error == 0.0
        assert one.interval == (one.delta, one.delta)
    said = "intervals of width zero for {}: all units are alike here; this does not mean that they always are"
    assert said.format("3 pairs") in report.notes
    right = {"A": [1] * 20, "B": [0] * 3 + [1] * 17}
    assert said.format("1 system") in compare(Evaluation.from_arrays(right, clusters=list("abcde") * 4)).notes
    tiny = compare(Evaluation.from_arrays({"A": a * 1e-200, "B": a[::-1] * 1e-200}), **OPTIONS).comparisons[0]
    large = compare(Evaluation.from_arrays({"A": a * 1e139, "B": a[::-1] * 1e139}), **OPTIONS).comparisons[0]
    assert tiny.standard_error * 1e200 == pytest.approx(large.standard_error * 1e-139, rel=1e-9)


@pytest.mark.parametrize("kind", ["percentile", "basic", "bca"])
def test_intervals_of_the_bootstrap_of_zero_width_have_the_note(kind):
    report = compare({"A": [1] * 10, "B": [0] * 10}, **{**OPTIONS, "interval": kind})
    assert report[0].interval == (1.0, 1.0)
    width = "intervals of width zero for 2 systems and 1 pair: all units are alike here; this does not mean that they"
    assert f"{width} always are" in report.notes
    other = compare({"A": [1, 0] * 10, "B": [0, 0] * 10}, **{**OPTIONS, "interval": kind})
    assert not any("width zero" in note and "pair" in note for note in other.notes)


def test_answers_right_or_wrong_have_score_intervals():
    report = compare(Evaluation.from_arrays(RIGHT, metric="accuracy"), **OPTIONS)
    low, high = wilson_interval(np.array([20, 17, 10]), 20, 0.95)
    assert [tuple(one.interval) for one in by_name(report)] == list(zip(low, high, strict=True))
    assert by_name(report)[0].interval.low < 0.85
    low, high = tango_interval(np.array([3, 10, 9]), np.array([0, 0, 2]), 20, 1.0 - (1.0 - 0.95) / 3)
    assert [tuple(one.interval) for one in report] == list(zip(low, high, strict=True))


def test_no_stratum_of_two_units_has_no_interval():
    report = compare(Evaluation.from_arrays({"A": [1, 2, 4], "B": [3, 1, 5]}, strata=["x", "y", "z"]), **OPTIONS)
    assert [one.interval for one in (*report, *report.systems)] == [None] * 3
    assert [one.interval_kind for one in (*report, *report.systems)] == [None] * 3
    assert any("no stratum has two units" in note for note in report.notes)


def test_few_unequal_clusters_are_held():
    """30 clusters of 1 to 200 instances whose size goes with their difficulty, two systems alike: the intervals of 400
    deltas hold 0 within binomial error (percentile intervals of such data miss it in 9%); they may be too long."""
    rng, missed = np.random.default_rng(8), 0
    for _ in range(400):
        sizes = np.floor(np.exp(rng.uniform(0.0, math.log(201.0), 30))).astype(int)
        chance = stats.norm.cdf(2.0 - 0.35 * np.log(sizes) + rng.normal(size=(2, 30)))
        values = np.stack([rng.binomial(sizes, chance), np.tile(sizes, (2, 1))], axis=-1)
        units = Units(values, None, np.zeros(30, int), sizes, 1e-14, rounded=np.zeros(values.shape[2], bool))
        _, low, high = jackknife_intervals(SumsProblem.of(units, MEAN, np.array([[0, 1]]), Settings()))[2]
        missed += not low <= 0.0 <= high
    assert missed <= stats.binom.ppf(0.999, 400, 0.05)


@pytest.mark.parametrize(("trials", "least"), [(10, 0.96), (20, 0.95), (30, 0.94)])
def test_tango_holds_for_few_instances(trials, least):
    b, c = _tables(trials)
    low, high = tango_interval(b, c, trials, 0.95)
    for right_a in (0.8, 0.9, 0.95, 1.0):
        for right_b in (0.8, 0.9, 0.95):
            for correlation in (0.0, 0.5, 0.9):
                both = right_a * right_b + correlation * (min(right_a, right_b) - right_a * right_b)
                only_a, only_b = right_a - both, right_b - both
                holds = (low <= right_a - right_b + 1e-12) & (right_a - right_b - 1e-12 <= high)
                counts = np.stack([b, c, trials - b - c], axis=1)
                chances = multinomial.pmf(counts, trials, [only_a, only_b, 1.0 - only_a - only_b])
                assert chances[holds].sum() >= least


def test_skewness_of_many_units_has_no_bounds():
    values = np.random.default_rng(2).lognormal(size=400)
    g, error, t = stats.skew(values) / 20.0, stats.sem(values), stats.t.ppf(0.975, 399)
    ends = interval_of(values).interval
    assert cubic((values.mean() - ends.low) / error, g) == pytest.approx(t, rel=1e-9)
    assert cubic((values.mean() - ends.high) / error, g) == pytest.approx(-t, rel=1e-9)


def deltas(kind, rng, shape):
    """Differences whose mean in the population is 0."""
    if kind == "lognormal":
        return np.exp(rng.normal(size=shape)) - math.exp(0.5)
    if kind == "exponential":
        return rng.standard_exponential(shape) - 1.0
    if kind == "heavy tails":
        return np.exp(rng.normal(size=shape)) - np.exp(rng.normal(size=shape))
    if kind == "few differ":
        return rng.choice([-1.0, 0.0, 1.0], shape, p=[0.03, 0.94, 0.03])
    return rng.normal(size=shape)


@pytest.mark.parametrize(
    ("kind", "size", "most"),
    [
        ("lognormal", 10, 0.105),
        ("lognormal", 30, 0.075),
        ("lognormal", 100, 0.06),
        ("exponential", 10, 0.07),
        ("exponential", 30, 0.05),
        *((kind, size, 0.05) for kind in ("normal", "heavy tails", "few differ") for size in (10, 30, 50, 100)),
    ],
)
def test_intervals_of_deltas_hold_their_level_as_far_as_documented(kind, size, most):
    """20,000 data sets, within three binomial errors; t misses 16, 12 and 9% of lognormal differences, and the
    correction of scores 20% of 50 units of which few differ. No interval is shorter than that of t."""
    values = deltas(kind, np.random.default_rng(size), (20_000, size))
    means, errors, t = values.mean(axis=1), stats.sem(values, axis=1), stats.t.ppf(0.975, size - 1)
    low, high = skewed_ends(skewness(values - means[:, None], errors * math.sqrt(size * (size - 1.0))), t, nearer=False)
    assert (low >= t * (1.0 - 1e-12)).all()
    assert (high <= -t * (1.0 - 1e-12)).all()
    assert (low - high <= 3.0 * t * (1.0 + 1e-12)).all()
    low, high = means - errors * low, means - errors * high
    share = np.mean((low > 1e-12) | (high < -1e-12))
    assert share <= most + 3.0 * math.sqrt(most / len(values))


@pytest.mark.parametrize(
    ("kind", "clusters"),
    [
        *((kind, None) for kind in sorted({*get_args(IntervalKind)} - {"two-way", "none"})),
        *((kind, [i // 3 for i in range(40)]) for kind in ("auto", "bca")),
    ],
)
@pytest.mark.slow
def test_intervals_are_in_the_unit_of_the_numbers(kind, clusters):
    """Squares of such numbers are beyond the range of a double; a power of two changes no digit."""
    numbers = np.random.default_rng(0).integers(-(2**20), 2**20, (3, 40)) / 2.0**18

    def found(exponent):
        data = dict(zip("ABC", np.ldexp(numbers, exponent), strict=True))
        report = compare(Evaluation.from_arrays(data, clusters=clusters), interval=kind, resamples=300, device="numpy")
        ends = [(one.standard_error, *one.interval) for one in (*report.systems, *report)]
        return np.ldexp(np.array(ends), -exponent)

    expected = found(0)
    for exponent in (-600, 440):
        np.testing.assert_allclose(found(exponent), expected, rtol=1e-9)


def test_numbers_without_bounds_are_not_cut():
    """Ratings from 1, and 0 or 1 beside other ratings."""
    assert interval_of(ANSWERS + 1.0, data=TWO).interval.high > 2.0
    numbers = {"A": [1, 1, 0], "B": [4, 3, 5]}
    assert one_sample(numbers, against=3, device="numpy")[0].interval.high > 1.0


def test_f1_of_two_documents_is_from_0_to_1():
    counts = {"A": [[9, 10, 10], [50, 80, 70]], "B": [[3, 10, 10], [40, 80, 70]]}
    report = compare(Evaluation.from_arrays(counts, metric="fscore"), **OPTIONS)
    assert all(0.0 <= one.interval.low < one.score < one.interval.high <= 1.0 for one in report.systems)
    (pair,) = report
    assert -1.0 <= pair.interval.low < pair.delta < pair.interval.high <= 1.0


def test_error_rates_end_at_0_only():
    report = compare(Evaluation.from_arrays({"A": [[1, 10], [9, 8]], "B": [[3, 10], [9, 8]]}, metric="wer"), **OPTIONS)
    assert all(one.interval.low == 0.0 and one.interval.high > 1.0 for one in report.systems)


def test_nine_tasks_of_mteb(data):
    evaluation = read(str(data / "mteb"), missing="drop")
    for one in compare(evaluation, **OPTIONS).systems:
        assert one.score - one.interval.low <= 2.0 * 2.307 * one.standard_error
        assert one.interval.low > 0.3
