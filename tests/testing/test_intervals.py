"""Basic and BCa intervals, against SciPy on the same replicates, enumeration, and in simulations."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from scipy.stats._resampling import BootstrapResult  # a public result, of a private module

from sigjax import Evaluation, SampleMetric, bootstrap_test, compare
from sigjax.records import Settings
from sigjax.run.backend import NUMPY
from sigjax.run.context import Run
from sigjax.testing.bootstrap import replicate_pieces
from sigjax.testing.replicates import acceleration, bca_levels
from sigjax.testing.tests import problem_of
from sigjax.testing.uncertainty import fraction_below

RESAMPLES = 4000
SAMPLED = {"method": "montecarlo", "resamples": RESAMPLES, "device": "numpy"}


def deltas(evaluation):
    """Bootstrap replicates of delta of the first two systems."""
    case = problem_of(evaluation, Settings())
    pieces = [piece for _, piece in replicate_pieces(case, Run(RESAMPLES, Settings.seed, NUMPY))]
    found = np.concatenate(pieces, axis=1)
    return found[0] - found[1]


def of_scipy(replicates, data, statistic, kind, **options):
    """The interval that SciPy makes of replicates that are not its own."""
    earlier = BootstrapResult(None, replicates, None)
    found = scipy.stats.bootstrap(
        data, statistic, n_resamples=0, bootstrap_result=earlier, method=kind, vectorized=False, **options
    )
    return list(found.confidence_interval)


def f1(counts):
    tp, predicted, gold = np.sum(counts, axis=-1)
    return 2.0 * tp / (predicted + gold)


def skewed(seed, num_units):
    """Counts of two systems: tp, predicted, gold."""
    rng = np.random.default_rng(seed)
    gold = 1 + rng.geometric(0.2, num_units)
    systems = {}
    for name, share in (("A", 0.7), ("B", 0.5)):
        tp = rng.binomial(gold, share)
        systems[name] = np.stack([tp, tp + rng.poisson(1.0, num_units), gold], axis=1)
    return systems


@pytest.mark.parametrize("kind", ["percentile", "basic", "BCa"])
def test_a_mean_has_the_intervals_of_scipy(kind):
    a, b = np.random.default_rng(1).gamma(0.5, size=(2, 25))
    evaluation = Evaluation.from_arrays({"A": a, "B": b})
    (ours,) = compare(evaluation, interval=kind.lower(), confidence_level=0.9, **SAMPLED)
    expected = of_scipy(
        deltas(evaluation), (a, b), lambda x, y: x.mean() - y.mean(), kind, paired=True, confidence_level=0.9
    )
    assert list(ours.interval) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["percentile", "basic", "BCa"])
def test_a_ratio_has_the_intervals_of_scipy(kind):
    arrays = skewed(2, 20)
    evaluation = Evaluation.from_arrays(arrays, metric="fscore")
    (ours,) = compare(evaluation, interval=kind.lower(), **SAMPLED)
    columns = [*arrays["A"].T, *arrays["B"].T]
    expected = of_scipy(deltas(evaluation), columns, lambda *x: f1(x[:3]) - f1(x[3:]), kind, paired=True)
    assert list(ours.interval) == pytest.approx(expected, rel=1e-12)


def test_strata_are_the_samples_of_scipy():
    """Its acceleration is that of several samples, of sizes 9 and 16, drawn apart."""
    rng = np.random.default_rng(3)
    a, b = rng.exponential(size=(2, 25)) * np.repeat([1.0, 4.0], [9, 16])
    evaluation = Evaluation.from_arrays({"A": a, "B": b}, strata=["x"] * 9 + ["y"] * 16)
    (ours,) = compare(evaluation, interval="bca", **SAMPLED)
    d = a - b
    expected = of_scipy(deltas(evaluation), (d[:9], d[9:]), lambda x, y: (x.sum() + y.sum()) / 25, "BCa")
    assert list(ours.interval) == pytest.approx(expected, rel=1e-12)


def test_clusters_are_left_out_whole():
    """Clusters of a sum are units whose counts are its statistics."""
    arrays = skewed(4, 30)
    clusters = [str(i // 3) for i in range(30)]
    sums = {name: each.reshape(10, 3, 3).sum(axis=1) for name, each in arrays.items()}
    found = [
        compare(Evaluation.from_arrays(each, metric="fscore", clusters=labels), interval="bca", **SAMPLED)
        for each, labels in ((arrays, clusters), (sums, None))
    ]
    assert [one.interval for one in found[0].systems] == [one.interval for one in found[1].systems]
    assert found[0].comparisons[0].interval == found[1].comparisons[0].interval


def test_a_metric_of_whole_arrays_has_the_same_intervals():
    """The mean, once as a function of sums and once of all instances; clusters of unequal size and strata, too."""
    a, b = np.random.default_rng(5).gamma(0.5, size=(2, 24))
    labels = {"clusters": [str(i * i // 40) for i in range(24)], "strata": ["x"] * 12 + ["y"] * 12}
    for where in ({}, labels | {"clusters": [f"{s}{c}" for s, c in zip(labels["strata"], labels["clusters"])]}):  # noqa: B905
        mean = SampleMetric("mean of all", lambda x: x.mean(), ("value",))
        weighted = SampleMetric("weighted", lambda x, w: (w * x).sum() / w.sum(), ("value",), weighted=True)
        found = [
            compare(Evaluation.from_arrays({"A": a, "B": b}, metric=metric, **where), interval="bca", **SAMPLED)
            for metric in ("mean", mean, weighted)
        ]
        for other in found[1:]:
            for ours, expected in zip([*other.systems, *other], [*found[0].systems, *found[0]], strict=True):
                assert list(ours.interval) == pytest.approx(list(expected.interval), rel=1e-12)


def enumerated(values, kind, level):
    """The interval from all n^n resamples of a mean, as the definitions say; quantiles without interpolation."""
    values = np.asarray(values, float)
    count = len(values)
    sums = np.sort(np.array(list(itertools.product(values, repeat=count))).sum(axis=1))
    levels = [(1 - level) / 2, (1 + level) / 2]
    total = values.sum()
    if kind == "bca":
        bias = scipy.stats.norm.ppf(((sums < total).mean() + (sums <= total).mean()) / 2)
        apart = values - values.mean()
        a = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
        z = bias + scipy.stats.norm.ppf(levels)
        levels = scipy.stats.norm.cdf(bias + z / (1 - a * z))
    low, high = (sums[math.ceil(each * len(sums) - 1e-6) - 1] / count for each in levels)
    centre = 2 * total / count
    return [centre - high, centre - low] if kind == "basic" else [low, high]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kind", ["percentile", "basic", "bca"])
def test_without_sampling_intervals_are_those_of_all_resamples(kind, sign):
    """Also of a score that falls where its sum rises."""

    def score(sums):
        return sign * sums[..., 0] / 6.0

    a, b = [0, 1, 1, 2, 9, 3], [2, 1, 0, 0, 1, 2]
    evaluation = Evaluation.from_arrays({"A": a, "B": b}, metric=score)
    report = compare(evaluation, test="bootstrap", method="exact", interval=kind, confidence_level=0.9)
    found = [
        *(one.interval for one in sorted(report.systems, key=lambda one: one.name)),
        report.comparisons[0].interval,
    ]
    for interval, values in zip(found, (a, b, np.subtract(a, b)), strict=True):
        expected = enumerated(values, kind, 0.9)
        assert list(interval) == pytest.approx(expected if sign > 0 else [-expected[1], -expected[0]], abs=1e-12)


def test_no_bca_interval_where_all_replicates_lie_on_one_side():
    """SciPy gives NaN there, and a correction of 0 (scikit-hep's) would give an interval without the observed score.

    The score of A is how far its sum is from what it is on the data; that of B is an ordinary one.
    """
    a, b = np.random.default_rng(12).gamma(0.5, size=(2, 21))

    def distance(sums):
        return abs(sums[..., 0] - a.sum())

    evaluation = Evaluation.from_arrays({"A": a, "B": b + 2.0}, metric=distance)
    options = SAMPLED
    report = compare(evaluation, interval="bca", **options)
    assert {one.name: one.interval is None for one in report.systems} == {"A": True, "B": False}
    assert report.systems[0].standard_error > 0.0
    assert any("no interval of this kind for 1 system: all resamples lie on one side" in note for note in report.notes)
    assert "null" in report.to_json()
    assert compare(evaluation, interval="basic", **options).systems[1].interval is not None


def test_the_jackknife_leaves_out_one_unit():
    arrays = skewed(9, 12)
    found = problem_of(Evaluation.from_arrays(arrays, metric="fscore"), Settings()).jackknife_scores()
    expected = [[f1(np.delete(counts, i, axis=0).T) for i in range(12)] for counts in arrays.values()]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_bca_counts_ties_half(method):
    """Ties as above, or as below: a law that is symmetric around what was observed gets a correction for bias."""
    a, b = [1] * 5 + [0] * 5, [0] * 10
    options = {"method": method, "resamples": 50_000, "confidence_level": 0.9}
    plain, bca = (bootstrap_test(a, b, interval=kind, **options) for kind in ("percentile", "bca"))
    assert plain.interval == bca.interval == pytest.approx(scipy.stats.binom.ppf([0.05, 0.95], 10, 0.5) / 10, rel=1e-12)


def test_what_does_not_vary_has_an_interval_of_no_length():
    values = np.random.default_rng(8).gamma(0.5, size=30)
    evaluation = Evaluation.from_arrays({"A": values, "B": values, "C": values + 1.0})
    for kind in ("basic", "bca"):
        report = compare(evaluation, interval=kind, **SAMPLED)
        assert [c.interval for c in report][0] == (0.0, 0.0)
        assert list(report.comparisons[1].interval) == pytest.approx([-1.0, -1.0], rel=1e-12)


def test_one_unit_has_no_interval():
    report = compare(Evaluation.from_arrays({"A": [1], "B": [0]}), interval="bca")
    assert report.comparisons[0].interval is None
    assert report.notes == ("one unit: no standard errors and no intervals",)


def test_acceleration_does_not_depend_on_the_unit_of_the_score():
    """Cubes of numbers near the ends of the range of a double would leave it."""
    scores = np.random.default_rng(10).gamma(0.5, size=30)
    found = [acceleration(np.ldexp(scores, exponent), np.zeros(30, int)) for exponent in (0, -900, 900)]
    apart = scores.mean() - scores
    assert found == pytest.approx([(apart**3).sum() / (6 * (apart**2).sum() ** 1.5)] * 3, rel=1e-12)


def test_levels_stay_within_0_and_1_past_the_pole():
    """1 - a (z0 + z) is 0 at z0 + z = 6 for the largest acceleration, 1/6."""
    assert bca_levels(0.5, 1 / 6, 1 - 1e-12)[1] == 1.0
    assert bca_levels(0.5, -1 / 6, 1 - 1e-12)[0] == 0.0
    assert bca_levels(0.0, 0.0, 0.95) is None is bca_levels(1.0, 0.0, 0.95)


def test_bca_intervals_miss_both_sides_more_evenly_than_percentile_intervals():
    """2,000 samples of 30 from an exponential distribution, whose mean is 1. A percentile interval of nominal 5% on
    either side lies above it far less often than below; BCa intervals are right to second order."""
    rng = np.random.default_rng(11)
    simulations, num_units, resamples = 2000, 30, 499
    missed = np.zeros((2, 2))
    for _ in range(simulations):
        sample = rng.exponential(size=num_units)
        replicates = rng.choice(sample, (resamples, num_units)).mean(axis=1)
        without = (sample.sum() - sample) / (num_units - 1)
        a = acceleration(without, np.zeros(num_units, int))
        levels = bca_levels(fraction_below(replicates, sample.mean(), 1e-12), a, 0.9)
        bca = np.quantile(replicates, levels) if levels else (math.nan, math.nan)
        for place, (low, high) in enumerate((bca, np.quantile(replicates, [0.05, 0.95]))):
            missed[place] += low > 1.0, high < 1.0
    share = missed / simulations
    error = math.sqrt(0.05 * 0.95 / simulations)
    assert np.abs(share[0] - 0.05).max() < 0.03 + 3 * error  # 30 skewed units are few for any bootstrap
    assert share[0].sum() < share[1].sum() + 2 * error
    assert abs(share[0, 1] - share[0, 0]) < abs(share[1, 1] - share[1, 0]) - 2 * error
