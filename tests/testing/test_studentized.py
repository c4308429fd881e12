"""Studentized intervals and standard errors of the delta method, against definitions, gradients of JAX, simulations."""

import math

import jax
import numpy as np
import pytest
import scipy.stats

from sigjax import Evaluation, InputError, compare
from sigjax.records import Settings
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys
from sigjax.testing.replicates import Studentized
from sigjax.testing.tests import problem_of
from sigjax.testing.uncertainty import targets_of

RESAMPLES = 3000
SAMPLED = {"method": "montecarlo", "resamples": RESAMPLES, "device": "numpy", "interval": "studentized"}


def errors_of(problem):
    """Standard errors of both scores and of delta."""
    return Studentized(problem, targets_of(problem.hypotheses)).standard_errors()


def counts_of(strata):
    """How often each unit is drawn, `[resample, unit]`."""
    draws = draws_from_strata(np.asarray(strata))
    return bootstrap(row_keys(Settings.seed, np.arange(RESAMPLES)), draws, np.int64)[:, : len(strata)].astype(float)


def by_definition(values, influences, weights, strata, level=0.95):
    """The interval from scores `[resample]`, the observed one last, and influences `[resample, unit]` alike.

    The standard error of a resample is that of its linear part within each stratum.
    """
    variance = 0.0
    for stratum in np.unique(strata):
        of, w = influences[:, strata == stratum], weights[:, strata == stratum]
        mean = (w * of).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
        variance += (w * (of - mean) ** 2).sum(axis=1)
    errors = np.sqrt(variance)
    t = (values[:-1] - values[-1]) / errors[:-1]
    low, high = np.quantile(t, [(1 - level) / 2, (1 + level) / 2])
    return [values[-1] - high * errors[-1], values[-1] - low * errors[-1]]


def ratio(top, bottom, weights):
    """A ratio of sums and its influences, by the quotient rule."""
    sums = weights @ bottom
    values = weights @ top / sums
    return values, (top - values[:, None] * bottom) / sums[:, None]


def f1_counts(seed, num_units):
    rng = np.random.default_rng(seed)
    gold = 1 + rng.geometric(0.2, num_units)
    tp = rng.binomial(gold, [[0.7], [0.5]])
    return {
        name: np.stack([t, t + rng.poisson(1.0, num_units), gold], axis=1) for name, t in zip("AB", tp, strict=True)
    }


@pytest.mark.parametrize("strata", [np.zeros(24, int), np.repeat([0, 1, 2], [9, 14, 1])], ids=["one", "three"])
def test_intervals_of_f1_are_those_of_the_definition(strata):
    arrays = f1_counts(1, 24)
    evaluation = Evaluation.from_arrays(arrays, metric="fscore", strata=[f"s{each}" for each in strata])
    report = compare(evaluation, **SAMPLED)
    weights = np.vstack([counts_of(strata), np.ones(24)])
    found = {name: ratio(2.0 * each[:, 0], each[:, 1] + 1.0 * each[:, 2], weights) for name, each in arrays.items()}
    for system in report.systems:
        expected = by_definition(*found[system.name], weights, strata)
        assert list(system.interval) == pytest.approx(expected, rel=1e-7)
    delta = [a - b for a, b in zip(found["A"], found["B"], strict=True)]
    assert list(report.comparisons[0].interval) == pytest.approx(by_definition(*delta, weights, strata), rel=1e-7)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e12])
def test_intervals_of_the_mean_of_reals_are_those_of_the_definition(scale):
    """Reals of many digits: their products are held in coarser steps."""
    strata = np.zeros(20, int)
    a, b = scale * np.random.default_rng(2).gamma(0.5, size=(2, 20))
    (ours,) = compare(Evaluation.from_arrays({"A": a, "B": b}), **SAMPLED)
    weights = np.vstack([counts_of(strata), np.ones(20)])
    expected = by_definition(*ratio(a - b, np.ones(20), weights), weights, strata)
    assert list(ours.interval) == pytest.approx(expected, rel=1e-6)


def test_standard_errors_of_a_mean_are_those_of_scipy():
    a, b = np.random.default_rng(3).normal(size=(2, 50))
    problem = problem_of(Evaluation.from_arrays({"A": a, "B": b}), Settings())
    expected = [scipy.stats.sem(each, ddof=0) for each in (a, b, a - b)]
    assert errors_of(problem) == pytest.approx(expected, rel=1e-6)


def curved(sums):
    """A geometric mean of two ratios, with a penalty."""
    return (sums[..., 0] * sums[..., 1]) ** 0.5 / sums[..., 2] - 0.1 * sums[..., 2] / sums[..., 0]


def test_standard_errors_are_those_of_gradients_by_jax():
    rng = np.random.default_rng(4)
    stats = rng.integers(1, 50, (2, 40, 3))
    problem = problem_of(Evaluation.from_arrays({"A": stats[0], "B": stats[1]}, metric=curved), Settings())
    with jax.enable_x64(True):
        gradients = [np.asarray(jax.grad(curved)(each.sum(axis=0) * 1.0)) for each in stats]
    a, b = (each @ gradient for each, gradient in zip(stats, gradients, strict=True))
    expected = [math.sqrt(40) * np.std(each) for each in (a, b, a - b)]
    assert errors_of(problem) == pytest.approx(expected, rel=1e-8)


def test_without_enough_memory_it_is_refused():
    evaluation = Evaluation.from_arrays(f1_counts(8, 30), metric="fscore")
    with pytest.raises(InputError, match=r"give memory=0\.01 \(GiB\)"):
        compare(evaluation, memory=1e-3, **(SAMPLED | {"resamples": 100_000}))
    compare(evaluation, memory=0.01, **(SAMPLED | {"resamples": 100_000}))


@pytest.mark.parametrize("exponent", [-700, 450])
def test_very_small_and_very_large_numbers_have_the_same_interval(exponent):
    """Their squares are no doubles."""
    scores = np.random.default_rng(2).gamma(0.5, size=(2, 20))
    (plain,), (scaled,) = (
        compare(Evaluation.from_arrays({"A": a, "B": b}), **SAMPLED) for a, b in (scores, np.ldexp(scores, exponent))
    )
    assert list(np.ldexp(scaled.interval, -exponent)) == pytest.approx(list(plain.interval), rel=1e-6)


def test_no_interval_where_many_resamples_do_not_vary():
    """One unit of 20 differs: a resample without it has no variance, and those are more than a third."""
    report = compare(Evaluation.from_arrays({"A": [1] * 20, "B": [1] * 19 + [0]}), **SAMPLED)
    assert report.comparisons[0].interval is None
    text = "no interval of this kind for 1 system and 1 pair: too many resamples have a standard error of 0; "
    assert any(text in note for note in report.notes)


@pytest.mark.slow
def test_studentized_intervals_cover_the_mean_of_few_skewed_units():
    """200 samples of 12 pairs whose difference is exponential with mean 1: the level is 0.9, and percentile intervals
    have about 0.82."""
    rng = np.random.default_rng(9)
    covered = {"studentized": 0, "percentile": 0}
    simulations = 200
    for _ in range(simulations):
        a = rng.exponential(size=12)
        evaluation = Evaluation.from_arrays({"A": a, "B": np.zeros(12)})
        for kind in covered:
            (found,) = compare(evaluation, **(SAMPLED | {"resamples": 500, "interval": kind, "confidence_level": 0.9}))
            covered[kind] += found.interval.low <= 1.0 <= found.interval.high
    error = math.sqrt(0.9 * 0.1 / simulations)
    assert abs(covered["studentized"] / simulations - 0.9) < 4 * error
    assert covered["percentile"] / simulations < 0.9 - 2 * error
