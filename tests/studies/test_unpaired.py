"""Unpaired tests against SciPy, enumeration and published figures."""

import itertools
import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sigjax import Evaluation, InputError, read, unpaired
from sigjax.cli import _run
from sigjax.exact.choices import sample_distribution
from sigjax.metrics import METRICS
from sigjax.records import CORRECTIONS
from sigjax.resample import engine

ALTERNATIVES = ("two-sided", "greater", "less")


def tail(deltas, observed, alternative):
    if alternative == "two-sided":
        return np.mean(np.abs(deltas) >= abs(observed) - 1e-9)
    return np.mean(deltas >= observed - 1e-9 if alternative == "greater" else deltas <= observed + 1e-9)


def enumerated(units, first, score, alternative):
    """The p-value by all choices of `first` of the units `[unit, stat]`."""
    both = units.sum(axis=0)
    sums = [units[list(own)].sum(axis=0) for own in itertools.combinations(range(len(units)), first)]
    deltas = np.array([float(score(own) - score(both - own)) for own in sums])
    return tail(deltas, deltas[0], alternative)


_KINDS = {
    "whole": lambda rng: rng.integers(0, 9, 30).astype(float),
    "tenths": lambda rng: np.round(rng.normal(2.3, 1, 30), 1),
    "thousandths": lambda rng: np.round(rng.normal(2.3, 1, 30), 3),
    "real": lambda rng: rng.normal(2.3, 1, 30),
}


@pytest.mark.parametrize("offset", [1e6, -1e9])
@pytest.mark.parametrize("kinds", [*itertools.product(_KINDS, repeat=2)], ids="-".join)
@pytest.mark.slow
def test_numbers_of_two_kinds_are_measured_from_one_offset(kinds, offset):
    """An offset of the one that the other rounded moved its score, and so delta, by up to a half."""
    rng = np.random.default_rng(4)
    numbers = dict(zip("AB", (_KINDS[kind](rng) + offset for kind in kinds), strict=True))
    how = {"read": {"metric": "mean"}, "resamples": 200, "progress": False}
    (one,) = unpaired(numbers, **how)
    means = {name: sum(map(Fraction, own.tolist())) / len(own) for name, own in numbers.items()}
    near = {  # the difference of neighbours has no rounding, but for that of decimals that were meant
        name: own - offset if kind == "real" else np.round(own - offset, 3)
        for (name, own), kind in zip(numbers.items(), kinds, strict=True)
    }
    (by_near,) = unpaired(near, **how)
    error = math.sqrt(sum(np.var(own, ddof=1) / len(own) for own in near.values()))
    assert one.delta == pytest.approx(float(means["A"] - means["B"]), abs=2e-7)  # two ulps of 1e9
    assert (one.score_a, one.score_b) == pytest.approx([float(each) for each in means.values()], rel=4e-16)
    assert one.standard_error == pytest.approx(error, rel=1e-9)
    assert one.p_value == pytest.approx(by_near.p_value, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(3))
def test_means_agree_with_enumeration_and_scipy(seed, alternative):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, 4 + seed) / 2, rng.integers(1, 7, 6) / 2
    (one,) = unpaired({"A": a, "B": b}, alternative=alternative)
    units = np.stack([np.r_[a, b], np.ones(10 + seed)], axis=1)
    known = enumerated(units, len(a), METRICS["mean"].score, alternative)
    assert (one.method, one.exceed, one.p_interval, one.pvalue) == ("exact", None, None, one.p_value)
    assert one.p_value == pytest.approx(known, rel=1e-12)
    assert one.log10_p == pytest.approx(math.log10(known), abs=1e-12)
    if alternative != "two-sided":  # SciPy's two-sided p is twice the smaller tail
        scipy = stats.permutation_test(
            (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True, alternative=alternative
        )
        assert one.p_value == pytest.approx(scipy.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_right_or_wrong_answers_get_fishers_exact_test(alternative):
    a, b = np.repeat([1, 0], [31, 9]), np.repeat([1, 0], [33, 30])
    (one,) = unpaired({"A": a, "B": b}, read={"metric": "accuracy"}, alternative=alternative)
    if alternative == "two-sided":
        right = np.arange(40 + 1)
        deltas = right / 40 - (64 - right) / 63
        chances = stats.hypergeom.pmf(right, 103, 64, 40)
        known = chances[np.abs(deltas) >= abs(31 / 40 - 33 / 63) - 1e-12].sum()
    else:
        known = stats.fisher_exact([[31, 9], [33, 30]], alternative=alternative).pvalue
    assert one.p_value == pytest.approx(known, rel=1e-11)
    assert one.reason == "one statistic differs (value)"


def test_the_law_of_a_sum_is_that_of_all_choices():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = rng.integers(-3, rng.integers(-2, 6), rng.integers(2, 9)) * int(rng.integers(1, 4))
        size = int(rng.integers(1, len(values)))
        sums = np.array([sum(own) for own in itertools.combinations(values.tolist(), size)])
        law = sample_distribution(values, size)
        assert set(law.sums.tolist()) == set(sums.tolist())
        for edge in np.unique(sums):
            assert law.tail(law.sums >= edge)[0] == pytest.approx(np.mean(sums >= edge), rel=1e-14)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_rank_sums_without_ties_are_those_of_scipy(alternative):
    rng = np.random.default_rng(5)
    for sizes, method in (((7, 9), "exact"), ((300, 250), "asymptotic")):
        a, b = (np.round(rng.normal(size=size), 6) for size in sizes)
        (one,) = unpaired({"A": a, "B": b}, alternative=alternative, resamples=50)
        known = stats.mannwhitneyu(a, b, alternative=alternative, method=method)
        assert one.rank_sum.p_value == pytest.approx(known.pvalue, rel=1e-10)
        assert one.rank_sum.statistic == known.statistic
        assert one.rank_sum.assumes.endswith({"exact": "; exact", "asymptotic": "; normal"}[method])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_rank_sums_with_ties_are_those_of_all_choices(alternative):
    a, b = [1, 2, 2, 5], [2, 3, 5, 5, 6]
    (one,) = unpaired({"A": a, "B": b}, alternative=alternative)
    ranks = stats.rankdata([*a, *b])
    sums = np.array([sum(own) for own in itertools.combinations(ranks.tolist(), 4)])
    above, below = np.mean(sums >= sums[0]), np.mean(sums <= sums[0])
    known = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]
    assert one.rank_sum.p_value == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("sizes", [(5, 7), (7, 5)])
def test_metrics_of_several_statistics_are_enumerated_or_sampled(alternative, sizes):
    """Whichever sample is the larger: the smaller one is drawn."""
    rng = np.random.default_rng(2)
    counts = [np.array([[min(p, g), p, g] for p, g in rng.integers(0, 5, (size, 2))]) for size in sizes]
    data = dict(zip("AB", counts, strict=True))
    (one,) = exact = unpaired(data, read={"metric": "fscore"}, alternative=alternative)
    known = enumerated(np.concatenate(counts), sizes[0], METRICS["fscore"].score, alternative)
    assert (one.method, one.rank_sum, one.reason) == ("exact", None, "all 792 choices of units")
    assert one.p_value == pytest.approx(known, rel=1e-12)
    (sampled,) = drawn = unpaired(
        data, read={"metric": "fscore"}, alternative=alternative, method="montecarlo", resamples=20_000
    )
    assert sampled.p_value == (sampled.exceed + 1) / 20_001
    assert stats.binomtest(sampled.exceed, 20_000, known).pvalue > 1e-4
    assert sampled.p_interval.low < sampled.exceed / 20_000 < sampled.p_interval.high
    widest = max(sampled.p_interval.high - sampled.p_value, sampled.p_value - sampled.p_interval.low)
    (shown,) = re.findall(r"with a 95% interval of p ±([0-9.]+)", " ".join(str(drawn).split()))
    assert float(shown) == pytest.approx(widest, rel=0.1)
    assert "interval of p" not in str(exact)


def test_the_interval_is_that_of_newcombe():
    (one,) = unpaired({"A": np.repeat([1, 0], [56, 14]), "B": np.repeat([1, 0], [48, 32])}, read={"metric": "accuracy"})
    assert one.interval is not None
    assert [round(end, 4) for end in one.interval] == [0.0524, 0.3339]  # Newcombe (1998), table II, (a), method 10


def test_clusters_and_runs_are_exchanged_whole():
    numbers = {"A": [1, 2, 2, 4, 5], "B": [0, 1, 3, 1, 0, 2]}
    labels = {"A": list("ppqqr"), "B": list("sstuuv")}
    samples = {}
    for name, own in numbers.items():
        both = {name: own, "other": own}
        samples[name] = read_alone(Evaluation.from_arrays(both, clusters=labels[name]), name)
    (one,) = unpaired(samples)
    units = np.array([(3, 2), (6, 2), (5, 1), (1, 2), (3, 1), (1, 2), (2, 1)])
    assert (one.units_a, one.units_b, one.rank_sum) == (3, 4, None)
    assert one.p_value == pytest.approx(enumerated(units, 3, METRICS["mean"].score, "two-sided"))
    assert one.notes[0] == "'A': 3 units of 5 instances, taken whole"
    runs = Evaluation.from_arrays({"A": [1, 2, 2, 4], "x": [0] * 4}, ids="aabb", runs=[1, 2, 1, 2])
    (one,) = unpaired({"A": read_alone(runs, "A"), "B": samples["B"]})
    assert one.units_a == 2


def read_alone(evaluation, name):
    place = evaluation.systems.index(name)
    return Evaluation(**{**vars(evaluation), "systems": (name,), "stats": evaluation.stats[place : place + 1]})


def test_all_pairs_of_a_table_are_tested_and_adjusted(tmp_path):
    table = tmp_path / "long.csv"
    rows = [(name, f"{name}{i}", (i * k) % 7 + 3 * k) for k, name in enumerate("ABC", 1) for i in range(5 + k)]
    table.write_text("system,id,score\n" + "".join(f"{name},{id},{score}\n" for name, id, score in rows))
    pairs = unpaired(read(table, missing="pairwise"))
    assert [(one.a, one.b, one.units_a, one.units_b) for one in pairs] == [
        ("A", "B", 6, 7),
        ("A", "C", 6, 8),
        ("B", "C", 7, 8),
    ]
    assert unpaired(table) == pairs
    p_values = sorted(one.p_value for one in pairs)
    assert min(one.p_adjusted for one in pairs) == pytest.approx(3 * p_values[0])
    assert [(one.a, one.b) for one in unpaired(table, baseline="1")] == [("B", "A"), ("C", "A")]


SAME = Evaluation.from_arrays({"A": [1, 2, 3], "B": [3, 4, 4]})
STRATA = Evaluation.from_arrays({"A": [1, 2, 3], "B": [3, 4, 4]}, strata="aab", ids="xyz")
OF_P_VALUES = "correction must be one of " + ", ".join(
    each for each, own in CORRECTIONS.items() if not own.is_resampled
)
REFUSED = {
    "the same instances": (SAME, {}, "have 3 instances in common.*`sigjax compare`.*give overlap$"),
    "some": ({"A": {"x": 1, "y": 2}, "B": {"y": 1, "z": 2}}, {}, "have 1 instances in common"),
    "strata": (STRATA, {"overlap": True}, "exchanges instances of all strata; leave out strata"),
    "one system": ({"A": [1, 2]}, {}, "needs at least two systems, got 1; `sigjax one-sample` tests one"),
    "nothing": ({}, {}, "there is no system"),
    "a list": ([1, 2], {}, "expected an Evaluation, as sigjax.read and Evaluation.from_arrays give it, .* got int"),
    "whole columns": ({"A": [1, 2], "B": [1]}, {"read": {"metric": "median"}}, "'median' is not a function of sums"),
    "two metrics": (SAME, {"read": {"metric": "mean"}}, "metric means nothing for an Evaluation, which is read"),
    "not exact": (
        {"A": np.sqrt(np.arange(20)), "B": np.arange(30)},
        {"method": "exact"},
        "no exact test for 'A' and 'B': the sums have too many values for an exact test; use method auto",
    ),
    "maxt": ({"A": [1], "B": [2]}, {"correction": "maxt"}, OF_P_VALUES),
}


@pytest.mark.parametrize(("data", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_unpaired_test_is_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        unpaired(data, **options)


def test_instances_in_common_are_taken_for_different_ones_when_asked():
    (one,) = unpaired(SAME, overlap=True)
    assert one.notes == ("warning: 'A' and 'B' have 3 instances in common, taken for different ones",)
    (alike,) = unpaired({"A": [1, 2, 3], "B": [3, 4, 4]})
    assert alike.p_value == one.p_value
    assert "as many instances without ids" in alike.notes[0]
    several = str(unpaired({name: {"x": 1, "y": 2, "z": 4} for name in "ABCDE"}, overlap=True))
    assert several.count("in common, taken for different ones") == 6
    assert "warning: 4 more like these; --format json has them all" in several
    assert unpaired({"A": [1], "B": [2, 3, 4]})[0].interval is None  # the 1 is no right answer
    (same,) = unpaired({"A": [1, 1, 1], "B": [1]})
    assert (same.p_value, same.log10_p, same.standard_error, same.rank_sum.p_value) == (1.0, 0.0, None, 1.0)


def test_the_command_takes_one_file_per_system(capsys, tmp_path):
    for name, scores in (("a", [0.5, 1, 3, 2.5]), ("b", [1, 0, 0.5])):
        (tmp_path / f"{name}.txt").write_text("".join(f"{score}\n" for score in scores))
        table = "".join(f"{name}{i},{score}\n" for i, score in enumerate(scores))
        (tmp_path / f"{name}.csv").write_text(f"id,score\n{table}")
    for ending in ("txt", "csv"):
        files = [str(tmp_path / f"{name}.{ending}") for name in "ab"]
        assert _run(["unpaired", *files, "--format", "json"], debug=False) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["schema"] == "sigjax-unpaired/1"
        (pair,) = found["pairs"]
        assert (pair["a"], pair["b"], pair["units_a"], pair["units_b"], pair["delta"]) == ("a", "b", 4, 3, 1.25)
        assert pair["p_value"] == unpaired({"a": [0.5, 1, 3, 2.5], "b": [1, 0, 0.5]})[0].p_value
    assert _run(["unpaired", *files], debug=False) == 0
    text = capsys.readouterr().out
    assert re.search(r"^a +4 +1.750\nb +3 +0.500\n(?s:.*)^a  b +\+1.250 ", text, re.M)
    assert "rank-sum: Wilcoxon-Mann-Whitney (exact)" in text
    assert _run(["unpaired", files[0], str(tmp_path / "none.csv")], debug=False) == 2
    for name, file in zip("ab", files, strict=True):
        assert _run(["extract", "-i", file, "-o", str(tmp_path / f"{name}.npz")], debug=False) == 0
    capsys.readouterr()
    assert _run(["unpaired", str(tmp_path / "a.npz"), str(tmp_path / "b.npz")], debug=False) == 0
    assert capsys.readouterr().out.splitlines()[:4] == text.splitlines()[:4]


def test_tiny_probabilities_of_large_samples_have_their_logarithm():
    answers = {"A": np.repeat([1, 0], [3900, 100]), "B": np.repeat([1, 0], [3000, 3000])}
    (one,) = unpaired(answers, read={"metric": "accuracy"}, alternative="greater")
    known = stats.hypergeom.logsf(3899, 10_000, 6_900, 4_000) / math.log(10)
    assert one.p_value == 0.0
    assert one.log10_p == pytest.approx(known, rel=1e-10)


def test_samples_do_not_depend_on_the_device_nor_on_how_many_are_drawn_at_a_time(monkeypatch):
    rng = np.random.default_rng(3)
    data = {"A": rng.normal(size=20), "B": rng.normal(size=30)}
    (one,) = unpaired(data, resamples=2_000, method="montecarlo", device="numpy")
    assert unpaired(data, resamples=2_000, method="montecarlo", device="cpu") == (one,)
    monkeypatch.setattr(engine, "_TILE_ELEMENTS", {"numpy": 50 * 7})
    assert unpaired(data, resamples=2_000, method="montecarlo", device="numpy") == (one,)
    assert unpaired(data, resamples=2_000, method="montecarlo", device="numpy", seed=1) != (one,)
    turned = dict(reversed(data.items()))
    assert unpaired(turned, resamples=2_000, method="montecarlo", device="numpy")[0].p_value == one.p_value


@pytest.mark.slow
def test_the_tests_keep_their_level():
    """Systems that do not differ, on samples of unequal size: at most 5% of 500 have p <= 0.05, up to chance."""
    rng = np.random.default_rng(8)
    rejected = np.zeros(3)
    for _ in range(500):
        a, b = rng.exponential(size=12).round(2), rng.exponential(size=25).round(2)
        (one,) = unpaired({"A": a, "B": b}, resamples=199)
        (right,) = unpaired({"A": a > 1, "B": b > 1}, read={"metric": "accuracy"})
        rejected += np.array([one.p_value, one.rank_sum.p_value, right.p_value]) <= 0.05
    assert (rejected < stats.binom.ppf(0.9999, 500, 0.05)).all()
    assert (rejected[:2] > stats.binom.ppf(0.0001, 500, 0.04)).all()
