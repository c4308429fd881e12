"""Tests of a system against a number: binomial tests, sign flips by enumeration, t tests by their intervals."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from sigjax import Evaluation, InputError, one_sample, read
from sigjax.cli import _run
from sigjax.records import CORRECTIONS

ALTERNATIVES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("number", [0.5, 0.7, 0.05, 0.35])
def test_right_or_wrong_answers_get_the_binomial_test(number, alternative):
    for right, count in ((14, 20), (1, 7), (0, 9), (9, 9), (61, 100)):
        answers = np.repeat([1, 0], [right, count - right])
        (one,) = one_sample(answers, against=number, alternative=alternative, metric="accuracy")
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
    "whole columns": ([1, 2], {"metric": "median"}, "'median' is not a function of sums"),
    "1": (
        [1, 0],
        {"against": 1, "metric": "accuracy"},
        "against must be above 0 and below 1 for answers right or wrong, got 1",
    ),
    "nan": ([1, 2], {"against": math.nan}, "against must be a finite number, got nan"),
    "text": ([1, 2], {"against": "x"}, "against must be a finite number, got 'x'"),
    "one unit": ({"F": COUNTS[:1]}, {"metric": "fscore"}, "a test of fscore against a number needs at least two units"),
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
