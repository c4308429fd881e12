"""Intervals by t corrected for skewness: against Hall's cubic by SciPy, how far they may be from those of t, and cut at
the bounds of a metric."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from sigjax import Evaluation, compare, one_sample
from sigjax.testing.jackknife import skewed_ends, skewed_tail

OPTIONS = {"device": "numpy", "resamples": 2}
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
    report = compare(Evaluation.from_arrays(arrays, **options.pop("data", {})), **OPTIONS, **options)
    (one,) = (one for one in report.systems if one.name == "A")
    assert one.interval is not None
    return one


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_the_cubic_within_bounds(level):
    rng = np.random.default_rng(1)
    for values in (NINE, *(sign * rng.lognormal(sigma=1.5, size=n) for n in (2, 3, 5, 12, 40) for sign in (1, -1))):
        one = interval_of(np.array(values), level=level)
        assert tuple(one.interval) == pytest.approx(known(values, level), rel=1e-6)
        assert one.interval_kind == "skew-t"


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
RIGHT = np.array([1] * 11 + [0] + [1] * 15 + [0] * 3)


@pytest.mark.parametrize("data", [TWO, TWO | {"metric": "accuracy"}])
@pytest.mark.parametrize("kind", ["auto", "simultaneous"])
def test_shares_are_from_0_to_1(data, kind):
    """Also where the metric of answers right or wrong is called a mean."""
    report = compare(
        Evaluation.from_arrays({"A": RIGHT, "B": 1 - RIGHT}, **data), interval=kind, device="numpy", resamples=99
    )
    assert min(one.interval.low for one in report.systems) == 0.0
    assert max(one.interval.high for one in report.systems) == 1.0
    (pair,) = report
    assert -1.0 < pair.interval.low < pair.delta < pair.interval.high == 1.0


def test_p_is_that_of_the_interval():
    """9 documents by F1: against the end of an interval at the bound of twice t, p is 0.05."""
    counts = [[1, 9, 9], *([[9, 10, 10 + i % 3] for i in range(8)])]
    report = compare(Evaluation.from_arrays({"A": counts, "B": counts[::-1]}, metric="fscore"), **OPTIONS)
    one = report.systems[0]
    half = stats.t.ppf(0.975, 8) * one.standard_error
    assert one.score - one.interval.low == pytest.approx(2.0 * half)
    for end in (one.interval.low, one.interval.high):
        (found,) = one_sample({"A": counts}, against=end, metric="fscore", device="numpy")
        assert found.p_value == pytest.approx(0.05, rel=1e-9)
