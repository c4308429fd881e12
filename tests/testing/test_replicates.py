"""What replicates say: NumPy's figures where all are kept, and a summary near them where they are not."""

from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import extreme

from sigjax.records import Settings
from sigjax.resample.tally import Deltas
from sigjax.run.backend import NUMPY, choose_backend
from sigjax.run.context import Run
from sigjax.testing import replicates
from sigjax.testing.bootstrap import tell_summary
from sigjax.testing.replicates import Wanted, tell_all
from sigjax.testing.uncertainty import PILOT, Percentile, Targets

LEVEL = 0.9
TESTED = [(0, 1), (1, 2), (0, 3)]
TARGETS = [(0, 4), (1, 4), (2, 4), (3, 4), *TESTED]


def wanted(alternative="two-sided", variant="shift"):
    delta = np.array([29.0, 70.0, 0.0])
    deltas = Deltas(np.array(TESTED, np.int32), delta, np.full(3, 1e-9))
    return Wanted(deltas, alternative, variant, percentile(TARGETS, 4, LEVEL))


def percentile(members, num_systems, level):
    observed = np.zeros(len(members))
    case = SimpleNamespace(settings=Settings(level=level))
    return Percentile(case, Targets(np.array(members, np.int32), observed, observed, num_systems))


def pieces_of(values, *sizes):
    def pieces(resamples):
        start, place = resamples.start, 0
        while start < resamples.stop:
            end = min(start + sizes[place % len(sizes)], resamples.stop)
            yield start, values[:, start:end]
            start, place = end, place + 1

    return pieces


def all_of(values, asked, *sizes):
    return tell_all(pieces_of(values, *sizes), asked, Run(values.shape[1], 0, NUMPY))


def summary(values, asked, backend, *sizes):
    return tell_summary(pieces_of(values, *sizes), asked, Run(values.shape[1], 0, backend))


def sample(resamples):
    """Four systems: smooth, skewed and correlated, of few values, and the first again."""
    rng = np.random.default_rng(0)
    first = rng.normal(100.0, 3.0, resamples)
    return np.stack([first, rng.gamma(2.0, 1.0, resamples) + 0.7 * first, rng.integers(0, 5, resamples) / 4.0, first])


def share_of_sampling(quantile):
    """The largest standard deviation of the error of a quantile, as a part of that of the quantile itself."""
    return np.sqrt(5 / 6) * (quantile * (1 - quantile) * PILOT) ** -0.25


@pytest.mark.parametrize("resamples", [PILOT, 300_001])
def test_a_summary_is_near_to_numpy(resamples):
    values = sample(resamples)
    told = summary(values, wanted(), NUMPY, 5000, 1, 70_000)
    kept = all_of(values, wanted(), 999)
    assert told.exceed == kept.exceed
    for target, near, expected in zip(TARGETS, told.spreads, kept.spreads, strict=True):
        assert near.standard_error == pytest.approx(expected.standard_error, rel=1e-5, abs=1e-12)
        # Part of the standard error of a quantile at 5%, where the density is that of a normal distribution or half of
        # it, 6 times; for few values, the distance of two.
        step = 6 * share_of_sampling(0.05) * np.sqrt(0.0475 / resamples) / 0.05 * expected.standard_error
        step = 0.25 if target == (2, 4) else step + 1e-12
        assert list(near.interval) == pytest.approx(list(expected.interval), abs=step)


@pytest.mark.parametrize("resamples", [100_000, 300_000])
def test_the_error_of_a_quantile_is_a_small_part_of_that_of_sampling(resamples):
    """Of 40 normal samples, and of their cubes far from 0, which are skewed."""
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(40, resamples))
    values = np.concatenate([normal, (normal + 10.0) ** 3])
    nothing = Deltas(np.zeros((0, 2), np.int32), np.zeros(0), np.zeros(0))
    by = percentile([(system, 80) for system in range(80)], 80, 0.95)
    told = summary(values, Wanted(nothing, "two-sided", "shift", by), NUMPY, 50_000)
    errors = np.array([each.interval for each in told.spreads]) - np.quantile(values, [0.025, 0.975], axis=1).T
    z = NormalDist().inv_cdf(0.975)
    errors[40:] /= 3.0 * np.array([10.0 - z, 10.0 + z]) ** 2
    allowed = share_of_sampling(0.025) * np.sqrt(0.025 * 0.975 / resamples) / NormalDist().pdf(z)
    assert np.sqrt((errors**2).mean()) < allowed
    assert np.abs(errors).max() < 6 * allowed
    assert np.abs(errors[:40].mean(axis=0)).max() < 5 / np.sqrt(40) * allowed


def test_all_that_is_kept_is_numpy():
    values = sample(3000)
    told = all_of(values, wanted(), 7, 500)
    delta = values[0] - values[1]
    assert list(told.spreads[4].interval) == np.quantile(delta, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    assert told.spreads[4].standard_error == np.std(delta, ddof=1)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("variant", ["shift", "flip"])
def test_counts_are_those_of_the_definition(alternative, variant):
    values, asked = sample(PILOT + 5000), wanted(alternative, variant)
    expected = []
    for (a, b), observed in zip(TESTED, asked.tested.delta, strict=True):
        null = values[a] - values[b] - observed
        expected.append(extreme(null if variant == "shift" else -null, observed, alternative, 1e-9).sum())
    assert all_of(values, asked, 4000).exceed == expected
    for backend in (NUMPY, choose_backend("cpu", numpy_seconds=1.0)):
        assert summary(values, asked, backend, 4000).exceed == expected


def test_grouping_and_device_change_no_bit_of_a_summary(monkeypatch):
    values = sample(PILOT + 60_000)
    expected = summary(values, wanted(), NUMPY, values.shape[1])
    assert summary(values, wanted(), NUMPY, 1, 333, 20_000) == expected
    assert summary(values, wanted(), choose_backend("cpu", numpy_seconds=1.0), 8192) == expected
    monkeypatch.setattr(replicates, "_MANY", 1)
    assert summary(values, wanted(), NUMPY, 8192) == expected
