"""Ranks, letters, clusters and the top group in whole reports: those of the decisions, in every format."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from sigjax import Evaluation, compare
from sigjax.records import CORRECTIONS, Settings
from sigjax.report import to_html, to_latex, to_markdown, to_text

RIGHT = {"low": [0] * 30, "top": [1] * 28 + [0] * 2, "mid": [1] * 15 + [0] * 15, "near": [1] * 27 + [0] * 3}


@pytest.fixture(scope="module")
def board():
    return compare(Evaluation.from_arrays(RIGHT, metric="accuracy"))


def test_standings_of_a_report(board):
    """`top` and `near` differ on one instance; both beat `mid`, and all beat `low`."""
    names = ("name", "rank_interval", "letters", "cluster", "in_top_group")
    assert [tuple(getattr(one, name) for name in names) for one in board.systems] == [
        ("top", (1, 2), "a", 1, True),
        ("near", (1, 2), "a", 1, True),
        ("mid", (3, 3), "b", 2, False),
        ("low", (4, 4), "c", 3, False),
    ]


def test_standings_are_those_of_the_adjusted_p_values():
    """Counted from the comparisons, in both tests; the standing is that of the first one asked for."""
    generator = np.random.default_rng(5)
    right = {f"s{i}": generator.random(60) < 0.3 + 0.05 * i for i in range(9)}
    report = compare(
        Evaluation.from_arrays(right, metric="accuracy"),
        test=["bootstrap", "permutation"],
        resamples=2000,
        correction="none",
    )
    decided = [one for one in report if one.test == "bootstrap" and one.p_value < 0.05]
    assert 0 < len(decided) < 36
    share = {one.name: set(one.letters) for one in report.systems}
    for one in report.systems:
        wins = sum(each.better == one.name for each in decided)
        losses = sum(one.name in (each.a, each.b) and each.better != one.name for each in decided)
        assert one.rank_interval == (1 + losses, 9 - wins)
    apart = {frozenset((one.a, one.b)) for one in decided}
    assert all(bool(share[one.a] & share[one.b]) != (frozenset((one.a, one.b)) in apart) for one in report)


@pytest.mark.parametrize("format_", [to_text, to_markdown, to_html, to_latex])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_top_group_promises_what_its_correction_does(board, format_, correction):
    text = format_(replace(board, settings=Settings(correction=correction, level=0.9)))
    words = " ".join(re.sub(r"<[^>]+>", " ", text).replace("\\", "").split())
    promise = "; it holds every best system with 90% confidence"
    familywise = CORRECTIONS[correction].bounds == "familywise"
    assert words.count("Top group") == 1
    assert f"Top group (no system is significantly better): top and near{promise if familywise else ''}." in words
    assert words.count("90% confidence") == 2 * familywise


def test_the_top_group_follows_from_the_decisions_alone():
    """By its definition from the pairs, of many boards: ties, both directions, all corrections, missing results."""
    rng, sizes = np.random.default_rng(8), set()
    for trial in range(120):
        correction, lower = ("holm", "bh", "maxt", "none")[trial % 4], bool(trial // 4 % 2)
        chances = rng.uniform(0.2, 0.9, 5).round(1)
        answers = (rng.random((5, 40)) < chances[:, None]).astype(int)
        data = Evaluation.from_arrays(dict(zip("abcde", answers, strict=True)), metric="accuracy")
        data = replace(data, metric=replace(data.metric, higher_is_better=not lower))
        report = compare(data, correction=correction, interval="none", resamples=999)
        worse = {one.a if one.better == one.b else one.b for one in report if one.better and one.p_adjusted < 0.05}
        found = {one.name for one in report.systems if one.in_top_group}
        assert found == {*"abcde"} - worse
        assert {one.name for one in report.systems if one.rank_interval[0] == 1} == found
        best = report.systems[0].score
        assert found >= {one.name for one in report.systems if one.score == best}
        sizes.add(len(found))
    assert len(sizes) >= 4


TIES = {
    "7 of 10": [1] * 7 + [0] * 3,
    "1 of 3": [1, 0, 0],
    "1 of 10": [1] + [0] * 9,
    "29 of 41": [1] * 29 + [0] * 12,
    "tenths": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
    "thirds": [1 / 3, 2 / 3, 1 / 7, 0.1, 1e-9],
    "large": [1e6 + 0.1, 1e6 + 0.2, 1e6 + 0.7, 3.3],
    "small": [1e-12, 3e-12, 7e-12, 1e-13, 0.0],
    "signs": [0.1, -0.1, 0.3, -0.7, 0.9],
}


@pytest.mark.parametrize("name", TIES)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_leaderboards_of_tied_systems_end_with_all_of_them_on_top(name, count):
    """The same numbers in other orders: a mean of equal scores may round below the score."""
    metric = "accuracy" if {*TIES[name]} <= {0, 1} else "mean"
    for seed in range(8):
        shuffled = {f"s{j}": random.Random(seed * count + j).sample(TIES[name], len(TIES[name])) for j in range(count)}
        board = compare(shuffled, metric=metric, leaderboard=True, resamples=99)
        assert len({one.score for one in board.systems}) == 1
        assert all(one.in_top_group and one.rank_interval == (1, count) for one in board.systems)
        assert all(1 <= one.bootstrap_ranks[0] <= one.bootstrap_ranks[1] <= count for one in board.systems)
        assert ("Top group (" in " ".join(to_text(board).split())) == (count > 2)


def test_p_at_the_threshold_is_no_decision():
    """Five differences of one sign: p is 2 / 32, and so is 1 - level."""
    evaluation = Evaluation.from_arrays({"A": [1] * 5, "B": [0] * 5, "C": [0] * 5})
    for level, ranks in ((0.9375, (1, 3)), (0.9374, (1, 1))):
        report = compare(evaluation, level=level, correction="none")
        assert report.comparisons[0].p_value == 0.0625
        assert report.systems[0].rank_interval == ranks
