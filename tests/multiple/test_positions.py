"""Ranks on bootstrap resamples: against SciPy, and a bootstrap by NumPy."""

import numpy as np
import pytest
from oracles import f1, random_counts
from scipy.stats import rankdata

from sigjax import Evaluation, compare
from sigjax.multiple.ranks import rank_quantiles
from sigjax.testing import replicates


def run(data, **options):
    return compare(data, progress=False, **({"leaderboard": True, "interval": "none", "resamples": 4000} | options))


def told(report):
    return {one.name: one.bootstrap_ranks for one in report.systems}


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_rank_intervals_are_quantiles_of_the_best_and_the_worst_ranks(level):
    values = np.random.default_rng(0).integers(0, 12, (7, 333)) + 2.0 * np.arange(7)[:, None]
    best, worst = (rankdata(-values, method=method, axis=0) for method in ("min", "max"))
    low = np.quantile(best, (1 - level) / 2, axis=1, method="lower")
    high = np.quantile(worst, (1 + level) / 2, axis=1, method="higher")
    found = rank_quantiles(values, np.full(7, 1e-9), level)
    np.testing.assert_array_equal(found, np.stack([low, high], axis=1))
    assert len(set(map(tuple, found.tolist()))) > 4


def test_whole_reports_come_near_a_bootstrap_of_ones_own():
    """Counts of the units drawn by NumPy, F1 of each, then ranks."""
    counts = random_counts(np.random.default_rng(2), 5, 80)
    stats, num_resamples = np.array(list(counts.values()), float), 20_000
    drawn = np.random.default_rng(9).multinomial(80, np.full(80, 1 / 80), num_resamples).astype(float)
    ranks = rankdata(-f1(np.einsum("ru,sut->srt", drawn, stats)), axis=0)
    report = told(run(Evaluation.from_arrays(counts, metric="fscore"), resamples=num_resamples))
    for name, of_system in zip(counts, ranks, strict=True):
        assert report[name] == pytest.approx(np.quantile(of_system, [0.025, 0.975]), abs=0.51)
    assert len(set(report.values())) > 2


def test_identical_systems_stand_alike_and_constant_differences_decide():
    values = np.random.default_rng(4).integers(0, 9, 40).astype(float)
    better = values + np.random.default_rng(5).normal(0.7, 1.5, 40).round(1)
    systems = {"a": better, "twin": better, "b": values, "less": values - 2, "least": values - 3}
    found = told(run(Evaluation.from_arrays(systems), resamples=999))
    assert found["a"] == found["twin"] == (1, found["a"][1])
    assert found["a"][1] >= 2
    assert found["least"] == (5, 5)
    shifted = told(run(Evaluation.from_arrays({"b": values, "less": values - 2, "least": values - 3}), resamples=999))
    assert shifted == {"b": (1, 1), "less": (2, 2), "least": (3, 3)}
    same = told(run(Evaluation.from_arrays({"x": values, "y": values}), resamples=999))
    assert set(same.values()) == {(1, 2)}


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca", "simultaneous"])
@pytest.mark.parametrize("metric", ["fscore", "median"])
def test_replicates_of_intervals_are_not_drawn_again(metric, interval, monkeypatch, tmp_path):
    counts = random_counts(np.random.default_rng(2), 4, 40)
    given = counts if metric == "fscore" else {name: each[:, 0] for name, each in counts.items()}
    data, quick = Evaluation.from_arrays(given, metric=metric), {"device": "numpy", "resamples": 1000}
    expected, draws = told(run(data, **quick)), []
    monkeypatch.setattr(
        replicates, "_finite", lambda *given, inner=replicates._finite: draws.append(0) or inner(*given)
    )
    assert told(run(data, interval=interval, **quick)) == expected
    assert len(draws) == 1
    state = {"checkpoint": tmp_path / "state", "interval": interval}
    assert told(run(data, **quick, **state)) == told(run(data, **quick, **state)) == expected


def test_replicates_that_memory_does_not_hold_are_told():
    data = Evaluation.from_arrays(random_counts(np.random.default_rng(2), 3, 40), metric="fscore")
    report = run(data, memory=1e-5)
    assert set(told(report).values()) == {None}
    (note,) = (note for note in report.notes if "no bootstrap ranks" in note)
    assert "all 4,000 replicates of 3 systems; give --memory 0.01 (GiB) or more" in note
    assert "boot. ranks" not in str(report)


def test_one_unit_has_no_position():
    report = run(Evaluation.from_arrays({"a": [1], "b": [0], "c": [1]}))
    assert set(told(report).values()) == {None}
    assert report.notes[-1] == "one unit: no standard errors and no intervals"
