"""Boards that keep no pairs: against the comparison that keeps them, and SciPy."""

from importlib import import_module

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control

from sigjax import Evaluation, InputError, compare, studies
from sigjax.records.settings import CORRECTIONS, adjust
from sigjax.run.backend import Backend, choose_backend, compiled
from sigjax.run.costs import Cost
from sigjax.studies.ranking import _pairs_of_cells

CHANCE = np.random.default_rng(31)


def board_of(systems=40, instances=300, spread=0.3):
    hard = CHANCE.normal(0.0, 0.2, instances)
    rates = np.linspace(0.5 - spread, 0.5 + spread, systems)
    return {f"s{i}": CHANCE.random(instances) < rate + hard for i, rate in enumerate(rates)}


def decisions(report):
    """Better and worse, by name, of the systems of a report that keeps its pairs."""
    better, worse = ({each.name: 0 for each in report.systems} for _ in range(2))
    for pair in report:
        if pair.p_adjusted < 0.05:
            first, second = (pair.a, pair.b) if pair.delta > 0 else (pair.b, pair.a)
            better[first] += 1
            worse[second] += 1
    return better, worse


@pytest.mark.parametrize("tile", [7, 16, 1024])
@pytest.mark.parametrize("correction", [name for name, each in CORRECTIONS.items() if each.adjust is not None])
def test_decisions_are_those_of_all_pairs(monkeypatch, correction, tile):
    monkeypatch.setattr(import_module("sigjax.studies.ranking"), "_TILE", {"numpy": tile})
    data = board_of()
    data["twin"] = data["s7"]
    data["none"], data["all"] = np.zeros(300, bool), np.ones(300, bool)
    board = studies.rank(data, correction=correction)
    report = compare(Evaluation.from_arrays(data, metric="accuracy"), correction=correction)
    kept = {each.name: each for each in report.systems}
    better, worse = decisions(report)
    assert board.num_significant == sum(better.values()) > 0
    assert [each.score for each in board.systems] == sorted((each.score for each in report.systems), reverse=True)
    for place in board.systems:
        own = kept[place.system]
        assert (place.better, place.worse) == (better[place.system], worse[place.system])
        assert place.rank_interval == tuple(own.rank_interval)
        assert (place.cluster, place.in_top_group) == (own.rank_cluster, own.in_top_group)
        assert place.interval == pytest.approx(tuple(own.interval), rel=1e-12)
    pairs = {frozenset((pair.a, pair.b)): pair for pair in report}
    for place, after in zip(board.systems[:-1], board.systems[1:], strict=True):
        pair = pairs[frozenset((place.system, after.system))]
        assert place.delta == pytest.approx(abs(pair.delta), abs=1e-15)
        assert place.p_value == pair.p_value
        assert place.p_adjusted == pytest.approx(pair.p_adjusted, rel=5e-10)
    significant = [pair.p_value for pair in report if pair.p_adjusted < 0.05]
    assert board.threshold == max(significant)


def test_p_is_that_of_scipy():
    data = board_of(systems=12, instances=2000, spread=0.05)
    board = studies.rank(data, correction="none")
    for place, after in zip(board.systems[:-1], board.systems[1:], strict=True):
        a, b = data[place.system], data[after.system]
        only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
        assert place.p_value == pytest.approx(binomtest(only_a, only_a + only_b).pvalue, rel=1e-9)


@pytest.mark.parametrize("correction", [name for name, each in CORRECTIONS.items() if each.adjust is not None])
def test_adjusting_with_counts_is_adjusting_each(correction):
    p, counts = CHANCE.random(200) ** 3, CHANCE.integers(1, 9, 200)
    expanded = adjust(np.repeat(p, counts), correction)
    assert adjust(p, correction, counts) == pytest.approx(expanded[np.cumsum(counts) - 1], rel=1e-14)
    if correction in ("bh", "by"):
        assert expanded == pytest.approx(false_discovery_control(np.repeat(p, counts), method=correction), rel=1e-12)


def test_two_systems_and_no_difference():
    (first, second) = studies.rank({"A": np.ones(9, bool), "B": np.ones(9, bool)}).systems
    assert (first.p_value, first.p_adjusted, first.delta, second.p_value) == (1.0, 1.0, 0.0, None)
    assert (first.rank_interval, second.rank_interval) == ((1, 2), (1, 2))
    board = studies.rank({"A": np.ones(9, bool), "B": np.zeros(9, bool)})
    assert board.systems[0].p_value == 2 / 2**9
    assert (board.num_significant, board.num_pairs, board.threshold) == (1, 1, 2 / 2**9)


def test_what_is_no_board_is_refused():
    ratings = {"A": [1, 2, 3], "B": [2, 2, 1]}
    with pytest.raises(InputError, match="answers right .1. or wrong .0., and mean is no share"):
        studies.rank(ratings)
    grouped = Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]}, metric="accuracy", clusters=["x", "x", "y"])
    with pytest.raises(InputError, match="without clusters; see compare"):
        studies.rank(grouped)
    with pytest.raises(InputError, match="different numbers of answers"):
        studies.rank({"A": np.ones(3, bool), "B": np.ones(4, bool)})
    with pytest.raises(InputError, match="two systems or more"):
        studies.rank({"A": np.ones(3, bool)})


def test_the_text_says_what_was_decided():
    text = str(studies.rank(board_of(60)))
    assert "60 systems" in text
    assert "of 1,770 pairs differ significantly: exact" in text
    assert "10 more systems: -o FILE.json has all of them." in text


@pytest.mark.parametrize(("systems", "instances"), [(2, 1), (9, 63), (70, 64), (300, 1025)])
def test_devices_give_the_same_board(monkeypatch, systems, instances):
    """The programs of a GPU run on the CPU here, by tiles of eight systems."""
    data = board_of(systems, instances)
    expected = studies.rank(data, device="numpy")
    assert studies.rank(data, device="cpu") == expected
    module = import_module("sigjax.studies.ranking")
    gpu = Backend("gpu", choose_backend("cpu", Cost(1.0)).devices)
    monkeypatch.setattr(module, "choose_backend", lambda *_, **__: gpu)
    monkeypatch.setattr(module, "compiled", lambda kernel, static, *_, **__: compiled(kernel, static))
    monkeypatch.setattr(module, "_TILE", {"gpu": 8})
    assert studies.rank(data, device="gpu") == expected


@pytest.mark.slow
def test_more_pairs_than_2_to_the_31_are_counted():
    """Counts were int32: of 66,001 systems, nearly all equal, the corrected p of the others was too small."""
    cells = np.zeros(2**20, np.int32)
    assert _pairs_of_cells((cells for _ in range(2**11)), 2).tolist() == [2**31, 0]


def test_one_instance_has_no_interval():
    """As in `compare`."""
    board = studies.rank(Evaluation.from_arrays({"A": [1], "B": [0]}, metric="accuracy"))
    report = compare(Evaluation.from_arrays({"A": [1], "B": [0]}, metric="accuracy"))
    assert [each.interval for each in board.systems] == [each.interval for each in report.systems] == [None, None]
    assert "–" in str(board)


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_real_differences_are_those_of_the_comparison_that_keeps_its_pairs(correction):
    data = board_of(systems=25, instances=120)
    report = compare(Evaluation.from_arrays(data, metric="accuracy"), correction=correction)
    board = studies.rank(data, correction=correction)
    assert board.num_real == report.true_discoveries()
    assert board.num_real > 0
    (note,) = [each for each in report.notes if getattr(each, "code", "") == "discoveries"]
    assert note.text in " ".join(str(board).split())  # the same words
    assert board.num_real_of_all == note.values["real_of_all"]


def test_errors_are_ranked_from_the_fewest():
    """As `compare` orders them, and with the decisions on right answers."""
    right = {name: each.astype(int) for name, each in board_of(12, 80).items()}
    errors = {name: 1 - each for name, each in right.items()}
    board = studies.rank(errors, read={"metric": "mean", "lower_is_better": True})
    of_right = studies.rank(right, read={"metric": "mean"})
    assert board.lower_is_better
    assert not of_right.lower_is_better
    for one, other in zip(board.systems, of_right.systems, strict=True):
        for name in ("system", "rank_interval", "cluster", "in_top_group", "better", "worse", "p_value", "p_adjusted"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.score == pytest.approx(1.0 - other.score)
        assert [*one.interval] == pytest.approx([1.0 - other.interval.high, 1.0 - other.interval.low])
        assert one.delta == (None if other.delta is None else -other.delta)
    report = compare(errors, read={"metric": "mean", "lower_is_better": True})
    assert [each.score for each in report.systems] == [each.score for each in board.systems]
    assert board.systems[0].system == report.systems[0].name
    assert "lower is better" in str(board)
