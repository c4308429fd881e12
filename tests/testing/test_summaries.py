"""Summaries of replicates that stay on a device, or are drawn twice: the bytes of those that are kept on the host."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import random_counts

from sigjax import Evaluation, InputError, compare
from sigjax.records import Settings
from sigjax.resample import summaries as kernels
from sigjax.resample.tally import Deltas
from sigjax.resample.units import PiecewiseTotal, total
from sigjax.run import context
from sigjax.run.backend import NUMPY, Backend, choose_backend, compiled
from sigjax.run.context import Run
from sigjax.run.costs import Cost
from sigjax.testing import bootstrap, summaries
from sigjax.testing.problem import NotFinite
from sigjax.testing.replicates import JointDeltas, Simultaneous
from sigjax.testing.uncertainty import Basic, Percentile, Targets

CHANCE = np.random.default_rng(42)
RESAMPLES = 4000
PAIRS = np.array([(0, 1), (1, 2), (0, 3), (2, 3), (0, 4)], np.int32)
MEMBERS = np.concatenate([[(k, 5) for k in range(5)], PAIRS]).astype(np.int32)


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch):
    monkeypatch.setattr(summaries, "_ALWAYS_KEPT", 1000)


@pytest.fixture(scope="module")
def one_device():
    return Backend("cpu", choose_backend("cpu", Cost(1.0)).devices[:1])


def rows_of(scale=1.0, shift=0.0):
    """Smooth, skewed and correlated, of few values, and the first again; and one that never varies."""
    first = CHANCE.normal(0.0, 3.0, RESAMPLES)
    skewed = CHANCE.gamma(2.0, 1.0, RESAMPLES) + 0.7 * first
    few = CHANCE.integers(0, 5, RESAMPLES) / 4.0
    return scale * (np.stack([first, skewed, few, first, np.full(RESAMPLES, 0.1)]) + shift)


class Shifted(Percentile):
    """Quantiles at levels of their own for each target, as those of BCa; none for the second target."""

    takes_shares = True

    def levels(self, below, block):
        shift = np.where(np.arange(block.start, block.stop) == 1, np.nan, 0.1)[:, None]
        return np.clip(np.stack([below / 9, (9 + below) / 10], axis=1) + shift / 100, 0, 1)


def targets(values, num_rows=5):
    first, second = MEMBERS.T
    padded = np.concatenate([values, np.zeros((1, values.shape[1]))])
    observed = padded[first, 7] - padded[second, 7]
    return Targets(MEMBERS, observed, np.full(len(MEMBERS), 1e-12 * np.abs(values).max()), num_rows)


def summarized(kind, values, backend, *, memory, sizes=(300, 1, 900), **settings):
    own = Settings(confidence_level=0.9, memory=memory, **settings)
    by = kind(SimpleNamespace(settings=own), targets(values))

    def pieces(run):
        start, number = run.start, 0
        while start < run.resamples:
            end = min(start + sizes[number % len(sizes)], run.resamples)
            yield start, values[:, start:end]
            start, number = end, number + 1

    tested = Deltas(PAIRS, by.targets.observed[5:], by.targets.tolerance[5:])
    exceed, spreads, _ = summaries.summarize(pieces, tested, by, Run(values.shape[1], 0, backend), own)
    return exceed.tolist(), spreads.tobytes()


KINDS = [Percentile, Basic, Shifted, Simultaneous, partial(JointDeltas, joint_pairs=9)]


@pytest.mark.parametrize("kind", KINDS, ids=["percentile", "basic", "levels", "simultaneous", "joint"])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.slow
def test_all_ways_give_the_same_bytes(monkeypatch, one_device, kind, scale):
    values = rows_of(scale)
    expected = summarized(kind, values, one_device, memory=1.0)
    monkeypatch.setattr(summaries, "_SAMPLE", 200)
    assert summarized(kind, values, one_device, memory=0.00015) == expected
    monkeypatch.setattr(summaries, "room", lambda _: 1.0)
    assert summarized(kind, values, one_device, memory=1.0) == expected


@pytest.mark.parametrize("far", [0.01, 6.0])
def test_quantiles_far_from_those_of_the_sample_are_drawn_again(monkeypatch, one_device, far):
    """The first replicates are the smallest."""
    values = np.sort(rows_of(), axis=1)
    expected = summarized(Percentile, values, one_device, memory=1.0)
    monkeypatch.setattr(summaries, "_SAMPLE", 200)
    monkeypatch.setattr(summaries, "_FAR", far)
    assert summarized(Percentile, values, one_device, memory=1e-5) == expected


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("variant", ["shift", "flip"])
def test_counts_are_the_same_in_all_ways(monkeypatch, one_device, alternative, variant):
    values, how = rows_of(), {"alternative": alternative, "variant": variant}
    expected = summarized(Percentile, values, one_device, memory=1.0, **how)
    monkeypatch.setattr(summaries, "room", lambda _: 1.0)
    assert summarized(Percentile, values, one_device, memory=1.0, **how) == expected
    assert any(expected[0])


def test_deviations_are_divided_not_multiplied():
    """Compilers make a reciprocal of what all are divided by."""
    values, observed, errors = CHANCE.normal(size=(2, 2**12)), CHANCE.normal(size=(1, 1)), CHANCE.uniform(size=(1, 1))
    found = compiled(kernels.largest_deviations)(values, np.array([[[0, 1]]], np.int32), observed, errors)
    assert np.asarray(found).tolist() == (np.abs(values[0] - values[1] - observed[0]) / errors[0]).tolist()


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65, 1000, 1024, 1025, 4097])
def test_sums_are_those_of_one_order(count):
    numbers = CHANCE.normal(size=(3, count)) * 10.0 ** CHANCE.integers(-9, 9, (3, count))
    piecewise = PiecewiseTotal(count)
    for start in range(0, count, 7):
        piecewise.add(start, numbers[0, start : start + 7])
    assert piecewise.total() == total(numbers[0])
    padded = np.pad(numbers, ((0, 0), (0, 2**13 - count)), constant_values=np.nan)
    assert np.asarray(compiled(kernels.row_totals)(padded, np.array(count))).tolist() == total(numbers).tolist()


@pytest.mark.parametrize(
    "numbers",
    [
        CHANCE.normal(size=300),
        CHANCE.integers(-2, 3, 300).astype(float),
        np.full(300, 0.1),
        CHANCE.normal(size=300) * 10.0 ** CHANCE.integers(-300, 300, 300),
        np.concatenate([np.zeros(150), np.nextafter(0, 1) * np.arange(-75, 75)]),
        np.array([1.5, -np.finfo(float).max, np.finfo(float).max]),
        np.array([7.0]),
    ],
    ids=["normal", "few", "one", "all sizes", "smallest", "largest", "single"],
)
def test_order_statistics_are_those_of_sorting(numbers):
    values = np.full((1, 512), np.nan)
    values[0, : len(numbers)] = numbers
    ranks = np.resize(np.arange(len(numbers)), (10, 16, 2))
    members = np.broadcast_to(np.array([0, 1], np.int32), (10, 16, 2))
    found, following = (np.asarray(each) for each in compiled(kernels.order_statistics)(values, members, ranks))
    ordered = np.sort(numbers)
    assert np.array_equal(
        np.sort(np.asarray(compiled(kernels.target_replicates)(values, members[0]))[0])[: len(ordered)], ordered
    )
    assert np.array_equal(found, ordered[ranks])
    has_next = ranks + 1 < len(numbers)
    assert np.array_equal(following[has_next], ordered[ranks[has_next] + 1])


KEPT = {"test": "bootstrap", "method": "montecarlo", "resamples": 3000, "device": "cpu"}


def evaluation_of(**labels):
    return Evaluation.from_arrays(random_counts(np.random.default_rng(3), 4, 120), metric="fscore", **labels)


def numbers_of(report):
    pairs = [(each.exceed, each.standard_error, each.interval) for each in report]
    return pairs, [(each.standard_error, each.interval) for each in report.systems]


NESTED = {"ids": (np.arange(120) // 4).tolist(), "runs": (np.arange(120) % 4).tolist()}


@pytest.mark.parametrize(
    ("interval", "labels", "design"),
    [
        ("bca", {}, "together"),
        ("studentized", {"clusters": (np.arange(120) // 8).tolist()}, "together"),
        ("simultaneous", {"strata": (np.arange(120) // 40).tolist()}, "together"),
        ("basic", NESTED, "nested"),
    ],
    ids=["bca", "studentized, clusters", "simultaneous, strata", "basic, runs"],
)
@pytest.mark.slow
def test_reports_are_the_same(monkeypatch, one_device, interval, labels, design):
    options = KEPT | {"interval": interval, "design": design, "resamples": 3000}
    expected = compare(evaluation_of(**labels), **options | {"device": "numpy"})
    monkeypatch.setattr(summaries, "room", lambda _: 1.0)
    monkeypatch.setattr(bootstrap, "room", lambda _: 1.0)
    monkeypatch.setattr(context, "choose_backend", lambda *_, **__: one_device)
    assert numbers_of(compare(evaluation_of(**labels), **options)) == numbers_of(expected)


@pytest.mark.slow
def test_several_metrics_stay_on_the_device(monkeypatch, one_device):
    data = [
        Evaluation.from_arrays(random_counts(np.random.default_rng(5), 4, 120), metric=metric)
        for metric in ("fscore", "precision", "recall")
    ]
    options = KEPT | {"interval": "percentile", "leaderboard": True, "resamples": 3000}
    expected = compare(data, **options)
    monkeypatch.setattr(summaries, "room", lambda _: 1.0)
    monkeypatch.setattr(bootstrap, "room", lambda _: 1.0)
    monkeypatch.setattr(context, "choose_backend", lambda *_, **__: one_device)
    assert compare(data, **options).to_json() == expected.to_json()


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
def test_reports_of_what_does_not_fit_are_the_same(interval):
    options = KEPT | {"interval": interval}
    expected = compare(evaluation_of(), **options)
    assert numbers_of(compare(evaluation_of(), memory=1e-4, **options)) == numbers_of(expected)


def test_largest_deviations_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"deviations of 4,000 resamples; give memory=0\.01 \(GiB\) or more"):
        summarized(Simultaneous, rows_of(), NUMPY, memory=5e-5)


def test_scores_that_are_not_finite_are_refused_with_their_system(monkeypatch, one_device):
    values = rows_of()
    values[2, 1234] = np.nan
    monkeypatch.setattr(summaries, "room", lambda _: 1.0)
    with pytest.raises(NotFinite) as error:
        summarized(Percentile, values, one_device, memory=1.0)
    assert error.value.systems == (2,)
