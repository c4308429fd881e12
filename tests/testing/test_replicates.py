"""What replicates say: NumPy's figures where all are kept, and counts alone where they are not."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import extreme, random_counts

from sigjax import Evaluation, compare
from sigjax.records import Settings
from sigjax.resample.tally import Deltas
from sigjax.run.backend import NUMPY, choose_backend
from sigjax.run.context import Run
from sigjax.run.costs import Cost
from sigjax.testing import summaries
from sigjax.testing.summaries import summarize
from sigjax.testing.uncertainty import Percentile, Targets

LEVEL = 0.9
TESTED = [(0, 1), (1, 2), (0, 3)]
TARGETS = [(0, 4), (1, 4), (2, 4), (3, 4), *TESTED]


DELTAS = Deltas(np.array(TESTED, np.int32), np.array([29.0, 70.0, 0.0]), np.full(3, 1e-9))


def percentile(members, num_systems, level):
    observed = np.zeros(len(members))
    case = SimpleNamespace(settings=Settings(confidence_level=level))
    return Percentile(case, Targets(np.array(members, np.int32), observed, observed, num_systems))


def pieces_of(values, *sizes):
    def pieces(run):
        start, place = run.start, 0
        while start < run.resamples:
            end = min(start + sizes[place % len(sizes)], run.resamples)
            yield start, values[:, start:end]
            start, place = end, place + 1

    return pieces


def all_of(values, settings, *sizes):
    by = percentile(TARGETS, 4, LEVEL)
    return summarize(pieces_of(values, *sizes), DELTAS, by, Run(values.shape[1], 0, NUMPY), settings)


def counts_of(values, settings, backend, *sizes):
    """Without memory for the replicates, and so without intervals."""
    alone = percentile([], 4, LEVEL)
    alone.targets = alone.targets._replace(members=np.zeros((0, 2), np.int32))
    run, settings = Run(values.shape[1], 0, backend), replace(settings, memory=1e-6)
    return summarize(pieces_of(values, *sizes), DELTAS, alone, run, settings)[0]


def sample(resamples):
    """Four systems: smooth, skewed and correlated, of few values, and the first again."""
    rng = np.random.default_rng(0)
    first = rng.normal(100.0, 3.0, resamples)
    return np.stack([first, rng.gamma(2.0, 1.0, resamples) + 0.7 * first, rng.integers(0, 5, resamples) / 4.0, first])


def test_all_that_is_kept_is_numpy():
    values = sample(3000)
    uncertainty = all_of(values, Settings(), 7, 500)[1][4]
    delta = values[0] - values[1]
    assert uncertainty[1:].tolist() == np.quantile(delta, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    assert uncertainty[0] == np.std(delta, ddof=1)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("variant", ["shift", "flip"])
def test_counts_are_those_of_the_definition(alternative, variant):
    values, settings = sample(40_000), Settings(alternative=alternative, variant=variant)
    expected = []
    for (a, b), observed in zip(TESTED, DELTAS.delta, strict=True):
        null = values[a] - values[b] - observed
        expected.append(extreme(null if variant == "shift" else -null, observed, alternative, 1e-9).sum())
    assert all_of(values, settings, 4000)[0].tolist() == expected
    for backend in (NUMPY, choose_backend("cpu", Cost(1.0))):
        assert counts_of(values, settings, backend, 4000).tolist() == expected


def test_grouping_and_device_change_no_bit(monkeypatch):
    values = sample(40_000)
    expected = all_of(values, Settings(), values.shape[1])[1].tobytes()
    assert all_of(values, Settings(), 1, 333, 20_000)[1].tobytes() == expected
    monkeypatch.setattr(summaries, "_MANY", 1)
    assert all_of(values, Settings(), 8192)[1].tobytes() == expected


@pytest.mark.parametrize("device", ["numpy", "cpu"])
@pytest.mark.slow
def test_a_small_memory_counts_replicates_and_draws_again_for_intervals(device):
    """The same on all devices; counts and intervals are those of all replicates."""
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(3), 4, 40), metric="fscore")
    options = {"test": "bootstrap", "method": "montecarlo", "resamples": 140_000, "device": device}
    kept = compare(evaluation, interval="percentile", **options)
    small = compare(evaluation, interval="none", memory=1e-3, **options)
    assert [one.exceed for one in small] == [one.exceed for one in kept]
    again = compare(evaluation, interval="percentile", memory=1e-3, **options)
    assert [one.exceed for one in again] == [one.exceed for one in kept]
    assert [(one.interval, one.standard_error) for one in again] == [(one.interval, one.standard_error) for one in kept]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("resamples", [8192, 8200])
def test_many_pairs_are_counted_alike_where_the_last_piece_is_padded(resamples, alternative):
    arrays = {f"s{i}": np.random.default_rng(i).integers(0, 2, 60) for i in range(10)}
    evaluation = Evaluation.from_arrays(arrays, metric="accuracy")
    options = {"test": "bootstrap", "method": "montecarlo", "resamples": resamples, "alternative": alternative}
    counts = [[pair.exceed for pair in compare(evaluation, device=device, **options)] for device in ("numpy", "cpu")]
    assert counts[0] == counts[1]
    assert any(0 < count < resamples for count in counts[0])
