"""Tests of a system against a number: binomial tests, sign flips by enumeration, t tests by their intervals."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from sigjax import Evaluation, InputError, compare, one_sample, read, unpaired
from sigjax.cli import _run
from sigjax.records import CORRECTIONS

ALTERNATIVES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("number", [0.5, 0.7, 0.05, 0.35])
def test_right_or_wrong_answers_get_the_binomial_test(number, alternative):
    for right, count in ((14, 20), (1, 7), (0, 9), (9, 9), (61, 100)):
        answers = np.repeat([1, 0], [right, count - right])
        (one,) = one_sample(answers, against=number, alternative=alternative, read={"metric": "accuracy"})
        assert (one.test, one.method, one.score, one.units) == ("binomial", "exact", right / count, count)
        if alternative != "two-sided" or number == 0.5:
            known = stats.binomtest(right, count, number, alternative=alternative).pvalue
        else:
            counts = np.arange(count + 1)
            far = np.abs(counts - count * number) >= abs(right - count * number) - 1e-9
            known = stats.binom.pmf(counts, count, number)[far].sum()
        assert one.p_value == pytest.approx(known, rel=1e-11)
    assert one.interval == pytest.approx(stats.binomtest(61, 100).proportion_ci(method="wilson"))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_means_are_tested_by_sign_flips(alternative):
    ratings = np.array([4, 5, 3, 4.5, 2, 5, 4, 3.5])
    (one,) = one_sample(ratings, against=3.1, alternative=alternative)
    sums = np.array(list(itertools.product((1, -1), repeat=8))) @ (ratings - 3.1)
    far = {
        "two-sided": np.abs(sums) >= abs(sums[0]) - 1e-9,
        "greater": sums >= sums[0] - 1e-9,
        "less": sums <= sums[0] + 1e-9,
    }
    assert (one.test, one.method, one.p_value) == ("sign-flip", "exact", far[alternative].mean())
    assert one.delta == pytest.approx(0.775)
    (sampled,) = one_sample(ratings, against=3.1, alternative=alternative, method="montecarlo", resamples=2_000)
    assert sampled.p_value == (sampled.exceed + 1) / 2_001
    assert sampled.p_interval.low < one.p_value < sampled.p_interval.high


def test_sums_of_clusters_are_flipped():
    numbers, clusters = np.array([4, 1, 5, 2, 2, 5, 5, 4]), list("aabbbcdd")
    evaluation = Evaluation.from_arrays({"A": numbers, "B": numbers[::-1]}, clusters=clusters)
    one, _ = one_sample(evaluation, against=3)
    sums = np.array([sum(numbers[np.array(clusters) == c] - 3) for c in "abcd"])
    flipped = np.array(list(itertools.product((1, -1), repeat=4))) @ sums
    assert one.p_value == np.mean(np.abs(flipped) >= abs(sums.sum()))
    assert one.notes[0] == "'A': 4 units of 8 instances, taken whole"


def test_shares_of_clusters_are_symmetric_about_one_half_only():
    answers = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1])
    evaluation = Evaluation.from_arrays({"A": answers, "B": answers}, metric="accuracy", clusters=list("aabbccddeeff"))
    assert [one_sample(evaluation, against=number)[0].test for number in (0.5, 0.7)] == ["sign-flip", "t"]


COUNTS = [[1, 2, 1], [2, 2, 3], [0, 1, 1], [3, 3, 4], [2, 4, 2], [1, 1, 1]]


def test_win_rates_of_battles_are_tested_against_one_half(tmp_path):
    table = tmp_path / "battles.csv"
    rows = ["x,y,model_a"] * 9 + ["y,x,model_a"] * 2 + ["x,z,tie", "z,y,tie", "y,z,model_b"]
    table.write_text("model_a,model_b,winner\n" + "\n".join(rows) + "\n")
    found = {one.system: one for one in one_sample(read(table), against=0.5)}
    assert [(name, one.units) for name, one in found.items()] == [("x", 12), ("y", 13), ("z", 3)]
    assert found["x"].p_value == pytest.approx(stats.binomtest(9, 11).pvalue)
    assert found["y"].p_value == pytest.approx(stats.binomtest(2, 12).pvalue)
    assert found["x"].p_adjusted == pytest.approx(2 * found["x"].p_value)


def test_ties_are_those_of_the_fraction_that_is_meant():
    (one,) = one_sample([1] * 6 + [0] * 9, against=1 / 3)
    counts = np.arange(16)
    assert one.p_value == pytest.approx(stats.binom.pmf(counts, 15, 1 / 3)[abs(3 * counts - 15) >= 3].sum())


def test_a_probability_too_small_for_t_is_shown(capsys, tmp_path):
    counts = tmp_path / "t.tsv"
    counts.write_text("system\tid\terrors\twords\n" + "".join(f"A\t{i}\t{i % 4}\t{9 + i % 3}\n" for i in range(60)))
    command = ["one-sample", str(counts), "-m", "ratio", "--counts", "numerator=errors", "denominator=words"]
    assert _run([*command, "--against", "1e300"], debug=False) == 0
    assert "<1e-300" in capsys.readouterr().out
    assert _run([*command, "--against", "1e300", "--format", "json"], debug=False) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["systems"][0]["log10_p"] is None


OF_P_VALUES = "correction must be one of " + ", ".join(
    each for each, own in CORRECTIONS.items() if not own.is_resampled
)
REFUSED = {
    "whole columns": ([1, 2], {"read": {"metric": "median"}}, "'median' is not a function of sums"),
    "1": (
        [1, 0],
        {"against": 1, "read": {"metric": "accuracy"}},
        "against must be above 0 and below 1 for answers right or wrong, got 1",
    ),
    "auc": (
        Evaluation.from_predictions([1, 0, 1, 0], {"A": [0.9, 0.1, 0.4, 0.5]}, metric="auc"),
        {},
        "'auc' is not a function of sums; leave out against for its interval by the bootstrap, or test two systems",
    ),
    "nan": ([1, 2], {"against": math.nan}, "against must be a finite number, got nan"),
    "text": ([1, 2], {"against": "x"}, "against must be a finite number, got 'x'"),
    "one unit": (
        {"F": COUNTS[:1]},
        {"read": {"metric": "fscore"}},
        "a test of fscore against a number needs at least two units",
    ),
    "maxt": ([1, 2], {"correction": "maxt"}, OF_P_VALUES),
    "letters": ("abc.csv", {}, "abc.csv"),
}


@pytest.mark.parametrize(("data", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_test_against_a_number_is_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        one_sample(data, **{"against": 0.5, **options})


FILES = {
    "a column": (["t.csv"], {"t.csv": "id,score\nx,1\ny,0\nz,1\n"}, "score", 2 / 3),
    "a table of one": (["-i", "t.csv"], {"t.csv": "id,score\nx,1\ny,0\nz,1\n"}, "t", 2 / 3),
    "long": (["t.csv"], {"t.csv": "system,id,score\nA,x,1\nA,y,0\n"}, "A", 0.5),
    "numbers": (["n.txt"], {"n.txt": "1\n0\n0\n"}, "n", 1 / 3),
    "labels": (["g.txt", "-i", "s.txt"], {"g.txt": "a\nb\na\n", "s.txt": "a\nb\nb\n"}, "s", 2 / 3),
    "npz": (["e.npz"], {}, "A", 0.75),
}


@pytest.mark.parametrize(("arguments", "files", "name", "score"), FILES.values(), ids=FILES)
def test_the_command_takes_one_system(capsys, tmp_path, monkeypatch, arguments, files, name, score):
    monkeypatch.chdir(tmp_path)
    for file, content in files.items():
        (tmp_path / file).write_text(content)
    np.savez(tmp_path / "e.npz", A=[1, 1, 0, 1])
    command = ["one-sample", *arguments, "--against", "0.6", "-m", "accuracy"]
    assert _run([*command, "--format", "json"], debug=False) == 0
    found = json.loads(capsys.readouterr().out)
    (one,) = found["systems"]
    assert (found["schema"], one["system"], one["score"], one["test"]) == (
        "sigjax-one-sample/1",
        name,
        pytest.approx(score),
        "binomial",
    )
    assert _run(command, debug=False) == 0
    assert re.search(rf"^{name} +\d .* binomial$", capsys.readouterr().out, re.M)
    assert _run(["compare", *arguments, "-m", "accuracy"], debug=False) == 2
    assert "a comparison needs at least two systems, got 1" in capsys.readouterr().err


def test_tiny_probabilities_have_their_logarithm():
    (one,) = one_sample(np.ones(3000), against=0.5)
    assert (one.p_value, one.log10_p) == (0.0, pytest.approx(-2999 * math.log10(2)))


def test_ratings_that_are_all_one_are_no_answers():
    alone, *beside = *one_sample([1] * 8, against=3), *one_sample({"A": [1] * 8, "B": [1, 2, 5] * 2}, against=3)
    assert [(one.test, one.interval) for one in (alone, beside[0])] == [("sign-flip", (1.0, 1.0))] * 2
    assert (alone.p_value, beside[0].p_value) == (2 / 2**8, 2 / 2**8)
    assert alone.notes[-1] == "warning: all numbers of 'a' are 0 or 1: is 3 on this scale?"
    assert [one.test for one in one_sample({"A": [1] * 8, "B": [1, 2, 5]}, against=0.7)] == ["sign-flip"] * 2


def test_a_list_of_one_table_has_all_of_its_systems(write):
    """As the path alone: only of several paths, each is a system."""
    path = write("t.csv", "id,A,B\n" + "".join(f"q{k},{k % 2},{k % 3}\n" for k in range(9)))
    assert [one.system for one in one_sample([path], against=0.5)] == ["A", "B"]
    assert [one.p_value for one in one_sample([path], against=0.5)] == [
        one.p_value for one in one_sample(path, against=0.5)
    ]


def _predicted(metric, size=90):
    """Two systems' predictions, the second one's worse, as the metric takes them; some of them tie."""
    draws = np.random.default_rng(7)
    gold = draws.integers(0, 3 if metric == "macro-fscore" else 2, size)
    if metric == "macro-fscore":
        systems = {name: np.where(draws.random(size) < p, gold, draws.integers(0, 3, size)) for name, p in SKILLS}
    else:
        systems = {name: np.round(p * gold + draws.random(size), 2) for name, p in SKILLS}
    return gold, systems


SKILLS = (("A", 0.6), ("B", 0.3))
LABELS = {
    "none": {},
    "clusters": {"clusters": [k // 3 for k in range(90)]},
    "strata": {"strata": [k % 2 for k in range(90)]},
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("metric", ["auc", "average-precision", "correlation", "spearman", "kendall", "macro-fscore"])
def test_intervals_of_whole_columns_are_those_of_compare(metric, labels):
    gold, systems = _predicted(metric)
    evaluation = Evaluation.from_predictions(gold, systems, metric=metric, **labels)
    both = {each.name: each for each in compare(evaluation, resamples=999, seed=3, device="numpy").systems}
    rows = one_sample(evaluation, resamples=999, seed=3, device="numpy")
    of_both = [(row.score, row.standard_error, *row.interval) for row in rows]
    wanted = [both[row.system] for row in rows]
    for found, known in zip(of_both, wanted, strict=True):
        assert found == pytest.approx((known.score, known.standard_error, *known.interval), rel=1e-12, abs=1e-12)
    alone = Evaluation.from_predictions(gold, {"B": systems["B"]}, metric=metric, **labels)
    (row,) = one_sample(alone, resamples=999, seed=3, device="numpy")
    assert (row.score, row.standard_error, *row.interval) == pytest.approx(of_both[1], rel=1e-12, abs=1e-12)
    assert (row.test, row.p_value, row.against, row.delta) == ("none", None, None, None)


@pytest.mark.slow
def test_the_interval_of_an_auc_is_that_of_a_bootstrap_and_of_delong():
    gold, systems = _predicted("auc", 240)
    (row,) = one_sample(Evaluation.from_predictions(gold, {"A": systems["A"]}, metric="auc"), resamples=20_000)
    ones, zeros = systems["A"][gold == 1], systems["A"][gold == 0]
    above = (ones[:, None] > zeros) + 0.5 * (ones[:, None] == zeros)
    assert row.score == pytest.approx(above.mean(), abs=1e-12)
    delong = math.sqrt(above.mean(axis=1).var(ddof=1) / len(ones) + above.mean(axis=0).var(ddof=1) / len(zeros))
    assert row.standard_error == pytest.approx(delong, rel=0.03)
    counts = np.random.default_rng(5).multinomial(240, np.full(240, 1 / 240), 20_000)
    of_ones, of_zeros = counts[:, gold == 1], counts[:, gold == 0]
    scores = ((of_ones @ above) * of_zeros).sum(axis=1) / (of_ones.sum(axis=1) * of_zeros.sum(axis=1))
    assert row.standard_error == pytest.approx(scores.std(ddof=1), rel=0.03)
    assert tuple(row.interval) == pytest.approx(np.quantile(scores, [0.025, 0.975]), abs=0.1 * delong)


def test_metrics_of_whole_columns_say_that_they_are_bootstrapped(capsys, tmp_path):
    table = tmp_path / "p.csv"
    gold, systems = _predicted("auc")
    rows = zip(gold, systems["A"], strict=True)
    table.write_text("y_true,A\n" + "".join(f"{y},{score}\n" for y, score in rows))
    command = ["one-sample", str(table), "--gold", "y_true", "-m", "auc", "--resamples", "999"]
    assert _run(command, debug=False) == 0
    shown = capsys.readouterr().out
    assert "percentile intervals are those of the bootstrap" in shown
    assert "|n:999|seed:12345|" in shown
    assert _run([*command, "--against", "0.5"], debug=False) == 2
    assert "leave out --against for its interval" in capsys.readouterr().err
    apart = ([0, 1] * 9, {"A": [0.1, 0.9] * 9})
    (perfect,) = one_sample(Evaluation.from_predictions(*apart, metric="auc"), resamples=99)
    assert perfect.interval == (1.0, 1.0)
    assert "all bootstrap resamples have this score" in perfect.notes[-1]


def test_whole_columns_have_no_unpaired_test_and_no_resample_of_one_class():
    few = Evaluation.from_predictions([1, 0, 0, 0, 0], {"A": [5, 1, 2, 3, 4]}, metric="auc")
    with pytest.raises(InputError, match="of it; where instances that are all alike are drawn, draw within strata"):
        one_sample(few)
    with pytest.raises(InputError, match="`sigjax one-sample` gives the interval of each score"):
        unpaired({"A": few, "B": few})


RAGAS = "user_input,response,faithfulness,answer_relevancy\n" + "".join(
    f"question {k}?,answer {k}.,{k / 8},{k % 3 / 4}\n" for k in range(8)
)
COUNTED = "id,tp,predicted,gold\nx,1,2,2\ny,2,2,3\nz,3,3,3\n"
OF_ONE = {
    "a score": (RAGAS, ["-m", "faithfulness"], 3.5 / 8),
    "in other case": (RAGAS, ["-m", "Faithfulness"], 3.5 / 8),
    "named by an option": (RAGAS, ["-m", "mean", "--score-column", "answer_relevancy"], 1.75 / 8),
    "a metric of texts": ("id,bleu,comet\nx,1,0.5\ny,0,0.7\nz,1,0.9\n", ["-m", "bleu"], 2 / 3),
    "counts": (COUNTED, ["-m", "fscore"], 12 / 15),
    "named counts": (
        COUNTED.replace("predicted,gold", "sys,ref"),
        ["-m", "fscore", "--counts", "tp=tp", "predicted=sys", "gold=ref"],
        12 / 15,
    ),
}


@pytest.mark.parametrize(("content", "options", "score"), OF_ONE.values(), ids=OF_ONE)
def test_a_table_of_one_system_is_read_as_one_of_several(capsys, tmp_path, content, options, score):
    """The columns of a single file mean what they mean beside another file."""
    for name in ("one", "other"):
        (tmp_path / f"{name}.csv").write_text(content)
    one, other = (str(tmp_path / f"{name}.csv") for name in ("one", "other"))
    assert _run(["one-sample", one, *options, "--format", "json"], debug=False) == 0
    (found,) = json.loads(capsys.readouterr().out)["systems"]
    assert (found["system"], found["score"]) == ("one", pytest.approx(score))
    assert _run(["one-sample", one, other, *options, "--format", "json"], debug=False) == 0
    assert json.loads(capsys.readouterr().out)["systems"][0] == found
    assert _run(["compare", one, other, *options, "-q"], debug=False) == 0
    assert _run(["unpaired", one, *options], debug=False) == 2
    assert "needs at least two systems, got 1; `sigjax one-sample`" in capsys.readouterr().err


@pytest.mark.parametrize("case", ["a score", "counts"])
def test_a_comparison_says_that_a_table_holds_one_system(capsys, tmp_path, case):
    content, options, _ = OF_ONE[case]
    (tmp_path / "one.csv").write_text(content)
    assert _run(["compare", str(tmp_path / "one.csv"), *options], debug=False) == 2
    said = capsys.readouterr().err
    assert "so the table holds one system, and a comparison needs at least two" in said
    assert "sigjax one-sample scores one" in said
    assert "known: mean" not in said


def test_a_frame_of_one_system_is_scored_by_its_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"user_input": list("abcd"), "faithfulness": [0.5, 1, 0, 1], "answer_relevancy": [1, 1, 0, 0]}
    )
    assert [row.score for row in one_sample(frame, read={"metric": "faithfulness"})] == [0.625]
    assert [(row.system, row.score) for row in one_sample({"R": frame}, read={"metric": "faithfulness"})] == [
        ("R", 0.625)
    ]


def test_f1_of_one_system_is_that_of_the_class_that_is_named(write):
    rows = "1,Y,Y\n2,Y,N\n3,N,N\n4,N,Y\n5,Y,Y\n6,N,N\n7,Y,N\n"
    table = write("t.csv", f"id,gold,prediction\n{rows}")
    for positive, (tp, predicted, gold) in {"N": (2, 4, 3), "Y": (2, 3, 4)}.items():
        (found,) = one_sample(table, against=0.4, read={"metric": "fscore", "gold": f"gold={positive}"})
        assert found.score == pytest.approx(2 * tp / (predicted + gold))
