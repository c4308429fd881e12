"""Letters, clusters, ranks, the top group, ranks on resamples: by definitions, enumeration, SciPy and simulation."""

import math
import random
import re
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import f1, random_counts
from scipy.stats import rankdata

from sigjax import Evaluation, compare
from sigjax.multiple.decisions import (
    LETTERS,
    compact_letters,
    rank_intervals,
    rank_quantiles,
    significance_clusters,
    top_group,
)
from sigjax.records import CORRECTIONS, Metric, Settings
from sigjax.report.html import to_html
from sigjax.report.markup import to_markdown
from sigjax.report.text import to_text

SIZES = st.integers(1, 11)


@st.composite
def decisions(draw):
    """Any symmetric matrix of decisions."""
    size = draw(SIZES)
    differs = np.zeros((size, size), bool)
    for i, j in combinations(range(size), 2):
        differs[i, j] = differs[j, i] = draw(st.booleans())
    return differs


def threshold_decisions(scores, apart):
    return abs(scores[:, None] - scores) >= apart


@settings(max_examples=300, deadline=None)
@given(decisions())
def test_systems_share_a_letter_if_and_only_if_they_do_not_differ(differs):
    letters = compact_letters(differs)
    for i, j in combinations(range(len(differs)), 2):
        assert bool(set(letters[i]) & set(letters[j])) != differs[i, j]
    assert all(letters)
    used = list(dict.fromkeys("".join(letters)))
    assert used == list(LETTERS[: len(used)])  # the best system has an a, and each letter begins after those before it


@settings(max_examples=300, deadline=None)
@given(decisions())
def test_no_letter_can_be_left_out(differs):
    letters = compact_letters(differs)
    assert letters is not None
    for letter in set("".join(letters)):
        rest = [set(each) - {letter} for each in letters]
        pairs = combinations(range(len(differs)), 2)
        covered = all(differs[i, j] or rest[i] & rest[j] for i, j in pairs)
        assert not (covered and all(rest))


def fewest_cliques(differs):
    """By trying all sets of maximal cliques."""
    size = len(differs)
    subsets = [
        set(each)
        for count in range(1, size + 1)
        for each in combinations(range(size), count)
        if not any(differs[i, j] for i, j in combinations(each, 2))
    ]
    maximal = [each for each in subsets if not any(each < other for other in subsets)]
    pairs = [{i, j} for i in range(size) for j in range(i, size) if not differs[i, j]]
    for count in range(1, len(maximal) + 1):
        for some in combinations(maximal, count):
            if all(any(pair <= each for each in some) for pair in pairs):
                return count
    raise AssertionError


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=7), st.integers(1, 10))
def test_letters_are_the_fewest_where_distance_decides(scores, apart):
    differs = threshold_decisions(np.sort(scores)[::-1], apart)
    assert len(set("".join(compact_letters(differs)))) == fewest_cliques(differs)


def test_letters_of_overlapping_groups_and_of_a_system_apart():
    differs = threshold_decisions(np.array([9.0, 7.5, 7.0, 5.5, 1.0]), 2.0)
    assert compact_letters(differs) == ("a", "ab", "bc", "c", "d")


@settings(max_examples=200, deadline=None)
@given(decisions())
def test_clusters_are_the_most_that_beat_all_later_ones(differs):
    """Boundaries by their definition, pair by pair."""
    clusters = significance_clusters(np.triu(differs))
    for place in range(1, len(differs)):
        apart = all(differs[i, j] for i in range(place) for j in range(place, len(differs)))
        assert clusters[place] - clusters[place - 1] == apart
    assert clusters[0] == 1


@settings(max_examples=100, deadline=None)
@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=15, max_size=15))
def test_rank_intervals_hold_all_orders_that_decisions_allow(order, decided):
    """Decisions that agree with a true order; the ranks of all orders that agree with them are within."""
    rank = np.argsort(order)
    beats = np.zeros((6, 6), bool)
    for (i, j), known in zip(combinations(range(6), 2), decided, strict=True):
        if known:
            beats[(i, j) if rank[i] < rank[j] else (j, i)] = True
    allowed = [
        each
        for each in permutations(range(6))
        if all(each.index(i) < each.index(j) for i, j in np.argwhere(beats).tolist())
    ]
    for system, ((low, high), in_group) in enumerate(zip(rank_intervals(beats), top_group(beats), strict=True)):
        places = [each.index(system) + 1 for each in allowed]
        assert low <= min(places)
        assert max(places) <= high
        assert in_group == (min(places) == 1)


def test_rank_intervals_hold_together_with_the_probability_of_the_level():
    """Normal scores of known means, Bonferroni at 0.9: the share of misses is below 0.1 but for binomial error."""
    from scipy.stats import norm

    generator, means, trials = np.random.default_rng(3), np.array([2.0, 2.0, 1.9, 1.0, 0.0, 0.0]), 2000
    size = len(means)
    limit = norm.isf(0.1 / (size * (size - 1) / 2) / 2) * math.sqrt(2.0)
    best, worst = 1 + (means > means[:, None]).sum(axis=1), size - (means < means[:, None]).sum(axis=1)
    missed = decided = 0
    for _ in range(trials):
        drawn = means + generator.normal(size=size) * 0.5
        beats = drawn[:, None] - drawn > limit * 0.5
        low, high = np.array(rank_intervals(beats)).T
        missed += bool(np.any((low > best) | (high < worst)))
        decided += int(beats.sum())
    assert missed / trials <= 0.1 + 4 * math.sqrt(0.1 * 0.9 / trials)
    assert decided > trials  # the intervals say something


def run(data, **options):
    return compare(data, progress=False, **({"leaderboard": True, "interval": "none", "resamples": 4000} | options))


def told(report):
    return {one.name: one.bootstrap_ranks for one in report.systems}


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("drawn", [333, 12])
def test_rank_intervals_are_quantiles_of_the_best_and_the_worst_ranks(level, drawn):
    values = np.random.default_rng(0).integers(0, 12, (7, drawn)) + 2.0 * np.arange(7)[:, None]
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


RIGHT = {"low": [0] * 30, "top": [1] * 28 + [0] * 2, "mid": [1] * 15 + [0] * 15, "near": [1] * 27 + [0] * 3}


@pytest.fixture(scope="module")
def board():
    return compare(Evaluation.from_arrays(RIGHT, metric="accuracy"))


def test_standings_of_a_report(board):
    """`top` and `near` differ on one instance; both beat `mid`, and all beat `low`."""
    names = ("name", "rank_interval", "letters", "rank_cluster", "in_top_group")
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


@pytest.mark.parametrize("format_", [to_text, to_markdown, to_html])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_top_group_promises_what_its_correction_does(board, format_, correction):
    text = format_(replace(board, settings=Settings(correction=correction, confidence_level=0.9)))
    words = " ".join(re.sub(r"<[^>]+>", " ", text).replace("\\", "").split())
    familywise = CORRECTIONS[correction].bounds == "familywise"
    assert re.search(r"Best: top \(\S+\)\. Not significantly worse: near \(\S+\)\.", words)
    assert words.lower().count("in about 90% of test sets all ranks are right") == familywise
    assert words.count("has every truly best system") == familywise


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
    for seed in range(3):
        shuffled = {f"s{j}": random.Random(seed * count + j).sample(TIES[name], len(TIES[name])) for j in range(count)}
        board = compare(shuffled, read={"metric": metric}, leaderboard=True, resamples=99)
        assert len({one.score for one in board.systems}) == 1
        assert all(one.in_top_group and one.rank_interval == (1, count) for one in board.systems)
        assert all(1 <= one.bootstrap_ranks[0] <= one.bootstrap_ranks[1] <= count for one in board.systems)
        assert ("all ranks are right" in " ".join(to_text(board).split())) == (count > 2)


def test_p_at_the_threshold_is_no_decision():
    """Five differences of one sign: p is 2 / 32, and so is 1 - level."""
    evaluation = Evaluation.from_arrays({"A": [1] * 5, "B": [0] * 5, "C": [0] * 5})
    for level, ranks in ((0.9375, (1, 3)), (0.9374, (1, 1))):
        report = compare(evaluation, confidence_level=level, correction="none")
        assert report.comparisons[0].p_value == 0.0625
        assert report.systems[0].rank_interval == ranks


@pytest.mark.parametrize(("level", "resamples"), [(0.95, 19), (0.9, 9), (0.99, 99), (0.975, 39), (0.999, 999)])
def test_p_that_is_1_less_the_level_as_a_decimal_is_no_decision(level, resamples):
    """No resample is extreme: p is 1 / (resamples + 1). 1 - 0.95 of doubles is above 0.05."""
    evaluation = Evaluation.from_arrays({"A": [1] * 40, "B": [0] * 40})
    for drawn, significant in ((resamples, False), (resamples + 1, True)):
        report = compare(evaluation, confidence_level=level, resamples=drawn, method="montecarlo", seed=1)
        assert report.comparisons[0].p_value == 1 / (drawn + 1)
        assert report.systems[0].rank_interval == ((1, 1) if significant else (1, 2))


def test_more_than_52_letters_are_refused():
    apart = ~np.eye(53, dtype=bool)
    assert compact_letters(apart) is None
    assert compact_letters(apart[1:, 1:])[-1] == "Z"


@pytest.mark.slow
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


@pytest.mark.slow
def test_where_lower_is_better_the_lowest_is_first():
    rng = np.random.default_rng(6)
    values = {name: rng.normal(k / 4, 1.0, 40) for k, name in enumerate("abcd")}
    lower = Metric("lower", lambda s: s[..., 0] / 40, ("x",), lambda x: x[:, None], ("x",), higher_is_better=False)
    turned = {name: -each for name, each in values.items()}
    assert told(run(Evaluation.from_arrays(turned, metric=lower))) == told(run(Evaluation.from_arrays(values)))


@pytest.mark.parametrize("metric", ["fscore", "median"])
def test_the_same_on_every_device_and_resumed(metric, tmp_path):
    counts = random_counts(np.random.default_rng(2), 4, 40)
    given = counts if metric == "fscore" else {name: each[:, 0] for name, each in counts.items()}
    data = Evaluation.from_arrays(given, metric=metric)
    expected = run(data, device="numpy", resamples=1000).to_json()
    assert run(data, device="cpu", resamples=1000, checkpoint=tmp_path / "state").to_json() == expected
    assert run(data, resamples=1000, checkpoint=tmp_path / "state").to_json() == expected


@pytest.mark.parametrize("exponent", [-700, -530, 440])
def test_positions_do_not_depend_on_the_unit_of_the_scores(exponent):
    values = {name: np.random.default_rng(k).integers(-9, 9 + 4 * k, 30) / 4.0 for k, name in enumerate("abc")}
    scaled = {name: np.ldexp(each, exponent) for name, each in values.items()}
    expected = told(run(Evaluation.from_arrays(values)))
    assert len(set(expected.values())) > 1
    assert told(run(Evaluation.from_arrays(scaled))) == expected


def test_studentized_replicates_rank_systems_too():
    data = Evaluation.from_arrays(random_counts(np.random.default_rng(2), 4, 40), metric="fscore")
    assert told(run(data, interval="studentized")) == told(run(data))


def test_where_lower_is_better_the_lowest_ranks_first():
    errors = Evaluation.from_arrays({name: [1 - each for each in values] for name, values in RIGHT.items()})
    flipped = replace(errors, metric=replace(errors.metric, higher_is_better=False))
    ranks = [(one.name, one.rank_interval) for one in compare(flipped).systems]
    assert ranks == [("top", (1, 2)), ("near", (1, 2)), ("mid", (3, 3)), ("low", (4, 4))]


PROMISE = 'n about 95% of test sets all ranks are right, and the group "best" has every truly best system.'
CONDITION = "If systems of equal score could exchange outputs (sigjax help studentized), i"


def _fscores(seed):
    rng = np.random.default_rng(seed)
    tp = rng.integers(0, 4, (3, 40))
    table = np.stack([tp, tp + rng.integers(0, 3, tp.shape), np.full(tp.shape, 4)], axis=-1)
    return Evaluation.from_arrays(dict(zip("abc", table, strict=True)), metric="fscore")


def test_what_is_promised_of_ranks_has_its_condition():
    """Means of one number per unit keep their level (benchmarks: boards); F1 of two balances does not (balances)."""

    def said(data, **settings):
        return " ".join(str(compare(data, device="numpy", progress=False, **settings)).split())

    rng = np.random.default_rng(1)
    answers = {name: rng.integers(0, 2, 40) for name in "abc"}
    assert f"* p < 0.05 I{PROMISE}" in said(Evaluation.from_arrays(answers, metric="accuracy"))
    assert f"* p < 0.05 I{PROMISE}" in said(answers)
    assert f"* p < 0.05 {CONDITION}{PROMISE}" in said(_fscores(2))
    assert f"* p < 0.05 I{PROMISE}" in said(_fscores(2), statistic="studentized", resamples=999)
    assert "studentized" in " ".join(compare(_fscores(2), device="numpy", progress=False).notes)
    for others in ({"test": "bootstrap", "resamples": 99}, {"mid_p": True, "method": "exact"}, {"correction": "bh"}):
        assert PROMISE not in said(_fscores(2), **others)


def test_error_rates_of_a_shared_reference_are_means():
    """WER: the words of the reference are the same for all systems, so swaps change the errors alone."""
    rng = np.random.default_rng(4)
    words = rng.integers(5, 20, 30)
    counts = {name: np.stack([rng.integers(0, 5, 30), words], axis=1) for name in "abc"}
    report = compare(Evaluation.from_arrays(counts, metric="wer"), device="numpy", progress=False)
    assert f"* p < 0.05 I{PROMISE}" in " ".join(str(report).split())


def test_nothing_is_promised_of_trained_models_and_undecided_pairs():
    rng = np.random.default_rng(7)
    models = {name: (rng.random(6)[:, None] + 0.01 * rng.random((6, 20))).T.ravel() for name in "abc"}
    ids, runs = [k // 6 for k in range(120)], [k % 6 for k in range(120)]
    data = Evaluation.from_arrays(models, ids=ids, runs=runs)
    report = compare(data, resamples=999, device="numpy", progress=False)
    assert any("trained models" in note and note.startswith("warning") for note in report.notes)
    assert PROMISE not in " ".join(str(report).split())
    assert PROMISE not in " ".join(str(compare(data, design="models", device="numpy", progress=False)).split())
    board = compare({name: rng.integers(0, 2, 40) for name in "abc"}, read={"metric": "accuracy"}, device="numpy")
    open_ = replace(board.comparisons[0], decided=False, resamples_needed=10**6, method="montecarlo", resamples=999)
    undecided = replace(board, comparisons=(open_, *board.comparisons[1:]))
    assert PROMISE in " ".join(str(board).split())
    assert PROMISE not in " ".join(str(undecided).split())


def test_a_star_beside_a_joint_interval_with_zero_is_explained():
    """Holm rejects the second of two pairs at 0.05, Bonferroni's interval is at 0.975."""
    contradicts: list[bool] = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        base = rng.normal(size=40)
        data = {"a": base, "b": base + rng.normal(3.0, 1.0, 40), "c": base + rng.normal(0.35, 1.0, 40)}
        report = compare(data, baseline="a", device="numpy", progress=False)
        contradicts = [p.p_adjusted < 0.05 and p.interval.low <= 0.0 <= p.interval.high for p in report]
        text = " ".join(str(report).split())
        assert ("1 pair with * has 0 in the joint interval: Holm decides more pairs" in text) == (sum(contradicts) == 1)
        if any(contradicts):
            break
    assert any(contradicts)
