"""Simultaneous intervals by the bootstrap, for metrics that are not sums and runs drawn within units: against NumPy
from the engine's counts, critical values of normal distributions, and a simulation. Of sums: `test_joint_level.py`."""

import math

import numpy as np
import pytest
import scipy.stats
from oracles import f1, random_counts
from samples import with_covariance

from sigjax import Evaluation, InputError, SampleMetric, compare
from sigjax.records import Settings
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys

pytestmark = pytest.mark.slow

RESAMPLES = 3000
SAMPLED = {"method": "montecarlo", "resamples": RESAMPLES, "device": "numpy", "interval": "simultaneous"}
F1 = SampleMetric(
    "f1 of all",
    lambda tp, predicted, gold: 2.0 * tp.sum(axis=-1) / (predicted.sum(axis=-1) + gold.sum(axis=-1)),
    ("tp", "predicted", "gold"),
)
MEAN = SampleMetric("mean of all", lambda x: x.mean(axis=-1), ("value",))


def nested_counts():
    """Two runs of 40 instances, which design nested draws within them."""
    arrays, ids = random_counts(np.random.default_rng(8), 5, 80), [str(i // 2) for i in range(80)]
    return Evaluation.from_arrays(arrays, metric="fscore", ids=ids, runs=[str(i % 2) for i in range(80)])


def counts_of(strata):
    """How often each unit is drawn, `[resample, unit]`."""
    draws = draws_from_strata(np.asarray(strata))
    return bootstrap(row_keys(Settings.seed, np.arange(RESAMPLES)), draws, np.int64)[:, : len(strata)].astype(float)


def by_definition(replicates, observed, level):
    """Intervals `[target, 2]` from replicates `[target, resample]`."""
    errors = replicates.std(axis=1, ddof=1)
    varies = errors > 1e-9
    t = np.abs(replicates - observed[:, None])[varies] / errors[varies, None]
    c = np.quantile(t.max(axis=0), level)
    return observed[:, None] + np.outer(errors, [-c, c])


def intervals(records):
    return np.array([list(each.interval) for each in records])


def by_name(report):
    return sorted(report.systems, key=lambda one: one.name)


@pytest.mark.parametrize("strata", [np.zeros(24, int), np.repeat([0, 1, 2], [9, 14, 1])], ids=["one", "three"])
@pytest.mark.parametrize("baseline", [None, "s2"])
def test_intervals_of_f1_are_those_of_the_definition(strata, baseline):
    arrays = random_counts(np.random.default_rng(1), 4, 24)
    evaluation = Evaluation.from_arrays(arrays, metric=F1, strata=[f"s{each}" for each in strata])
    report = compare(evaluation, confidence_level=0.9, baseline=baseline, **SAMPLED)
    weights = counts_of(strata)
    drawn = np.stack([f1(weights @ each) for each in arrays.values()])
    scores = np.array([f1(each.sum(axis=0)) for each in arrays.values()])
    np.testing.assert_allclose(intervals(by_name(report)), by_definition(drawn, scores, 0.9), rtol=1e-11)
    a, b = np.array([[int(c.a[1:]), int(c.b[1:])] for c in report]).T
    expected = by_definition(drawn[a] - drawn[b], scores[a] - scores[b], 0.9)
    np.testing.assert_allclose(intervals(report), expected, rtol=1e-11)
    assert len(report) == (6 if baseline is None else 3)


def test_clusters_are_drawn_whole():
    arrays = random_counts(np.random.default_rng(2), 3, 30)
    sums = {name: each.reshape(10, 3, 3).sum(axis=1) for name, each in arrays.items()}
    found = [
        compare(Evaluation.from_arrays(each, metric=F1, clusters=labels), **SAMPLED)
        for each, labels in ((arrays, [i // 3 for i in range(30)]), (sums, None))
    ]
    assert [one.interval for one in found[0]] == [one.interval for one in found[1]]
    assert [one.interval for one in found[0].systems] == [one.interval for one in found[1].systems]


def critical(record, value):
    """Half the interval, in standard errors; the other half is as long."""
    low, high = record.interval
    assert high - value == pytest.approx(value - low, rel=1e-9)
    return (high - low) / 2 / record.standard_error


def near_level(share, resamples, level=0.95):
    """The share that a normal law has within a sampled critical value: Monte Carlo error, and 2000 units."""
    return abs(share - level) < 4 * math.sqrt(level * (1 - level) / resamples) + 1e-3


def box(c, correlations):
    """How likely normal numbers with these correlations are all within c."""
    size = len(correlations)
    law = scipy.stats.multivariate_normal(np.zeros(size), correlations, seed=1, abseps=1e-5, maxpts=10**6)
    return law.cdf(np.full(size, c), lower_limit=np.full(size, -c))


def test_critical_values_are_those_of_normal_laws():
    """Scores: the largest of correlated normal numbers. All pairs of independent systems: Tukey's studentized range.
    Pairs with a baseline: Dunnett's, whose correlations are a half."""
    options = SAMPLED | {"resamples": 20_000}
    covariance = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    one = compare(with_covariance(covariance, 2000, 3, MEAN), **options).systems[0]
    assert near_level(box(critical(one, one.score), covariance), 20_000)
    alike = with_covariance(np.eye(4), 2000, 4, MEAN)
    pair = compare(alike, **options).comparisons[5]
    tukey = scipy.stats.studentized_range.cdf(critical(pair, pair.delta) * math.sqrt(2.0), 4, np.inf)
    assert near_level(tukey, 20_000)
    pair = compare(alike, baseline="s1", **options).comparisons[0]
    assert near_level(box(critical(pair, pair.delta), (np.eye(3) + 1.0) / 2.0), 20_000)


def test_one_pair_of_symmetric_differences_has_a_normal_interval():
    """And nearly the basic and the percentile one."""
    half = np.random.default_rng(5).normal(size=1000)
    evaluation = Evaluation.from_arrays({"A": np.concatenate([half, -half]) + 0.1, "B": np.zeros(2000)}, metric=MEAN)
    options = SAMPLED | {"resamples": 20_000}
    (ours,) = compare(evaluation, **options)
    error = ours.standard_error
    expected = 0.1 + np.array([-1, 1]) * scipy.stats.norm.ppf(0.975) * error
    close = 4 * error * math.sqrt(0.05 * 0.95 / 20_000) / (2 * scipy.stats.norm.pdf(1.96))
    assert list(ours.interval) == pytest.approx(expected.tolist(), abs=close)
    for kind in ("basic", "percentile"):
        (other,) = compare(evaluation, **(options | {"interval": kind}))
        assert list(ours.interval) == pytest.approx(list(other.interval), abs=2 * close)


def test_without_enough_memory_it_is_refused():
    options = SAMPLED | {"design": "nested", "resamples": 400_000}
    with pytest.raises(InputError, match=r"deviations of 400,000 resamples; give memory=0\.0\d+ \(GiB\)"):
        compare(nested_counts(), memory=1e-3, **options)
    compare(nested_counts(), memory=0.1, **options)


def test_one_pair_has_the_quantile_of_the_distance():
    """Skewed: the interval is as long on both sides, and the level is that of both together."""
    a, b = np.random.default_rng(6).gamma(0.5, size=(2, 20))
    (ours,) = compare(Evaluation.from_arrays({"A": a, "B": b}, metric=MEAN), **SAMPLED)
    apart = np.abs(counts_of(np.zeros(20, int)) @ (a - b) / 20 - np.mean(a - b))
    assert ours.delta - ours.interval.low == pytest.approx(np.quantile(apart, 0.95), rel=1e-9)
    assert ours.interval.high - ours.delta == pytest.approx(np.quantile(apart, 0.95), rel=1e-9)


def test_devices_agree():
    options = SAMPLED | {"design": "nested"}
    found = [compare(nested_counts(), **(options | {"device": device})).to_json() for device in ("numpy", "cpu")]
    assert found[0] == found[1]
