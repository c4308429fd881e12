"""Flips: recounts in plain Python, leave-out numbers by `compare` on what is left, and the fewest by trying all."""

import csv
import gzip
import itertools
import json
import os
import pathlib
from dataclasses import replace
from html.parser import HTMLParser
from math import comb

import logs
import numpy as np
import pytest
from scipy.stats import spearmanr

from sigjax import Evaluation, InputError, Report, compare, diff, read
from sigjax.cli import _run
from sigjax.studies import flips, slices

DATA = pathlib.Path(os.environ.get("SIGJAX_DATA", "none"))


def sign_p(wins, losses):
    """The two-sided sign test, by counting."""
    n = wins + losses
    return min(1.0, 2 * sum(comb(n, k) for k in range(max(wins, losses), n + 1)) / 2**n)


def answers(wins, losses, same=6):
    return [1] * wins + [0] * losses + [1] * same, [0] * wins + [1] * losses + [1] * same


@pytest.mark.skipif(not DATA.is_dir(), reason="SIGJAX_DATA is not set")
def test_flips_of_swebench_are_those_of_a_recount_in_plain_python():
    path = DATA / "swebench_bashonly" / "resolved.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    a, b = list(rows[0])[1], list(rows[0])[7]
    result = flips(path, read={"only": [a, b], "metric": "accuracy"})
    of_a = [row["instance_id"] for row in rows if row[a] > row[b]]
    of_b = [row["instance_id"] for row in rows if row[a] < row[b]]
    assert [one.id for one in result.flips if one.part > 0] == of_a
    assert [one.id for one in result.flips if one.part < 0] == of_b
    assert f"{len(of_a)} for it and {len(of_b)} against it" in result.headline
    few = next(k for k in range(99) if sign_p(len(of_a) - k, len(of_b)) >= 0.05)
    assert (result.fewest_not_significant, result.fewest_no_lead) == (few, len(of_a) - len(of_b))
    for one in result.left_out:
        np.testing.assert_allclose(one.p_value, sign_p(len(of_a) - one.removed, len(of_b)), rtol=5e-10)
        np.testing.assert_allclose(one.delta, (len(of_a) - one.removed - len(of_b)) / (500 - one.removed))


@pytest.mark.parametrize("lower", [False, True])
def test_parts_of_a_mean_are_shares_of_delta_and_what_is_left_is_compared_anew(lower):
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 9, size=(2, 30)) + np.array([[2], [0]])
    metric = "mae" if lower else "mean"
    gold = np.zeros(30)
    if lower:
        given = Evaluation.from_predictions(gold, {"A": a, "B": b}, metric=metric)
    else:
        given = Evaluation.from_arrays({"A": a, "B": b})
    result = flips(given)
    assert {one.id: (one.a, one.b) for one in result.flips} == {
        f"number {i + 1}": (a[i], b[i]) for i in range(30) if a[i] != b[i]
    }
    np.testing.assert_allclose(sum(one.part for one in result.flips), np.mean(a) - np.mean(b))
    order = [int(one.id.split()[1]) - 1 for one in result.flips if one.part > 0]
    assert [abs(a[i] - b[i]) for i in order] == sorted((abs(a[i] - b[i]) for i in order), reverse=True)
    more, less = (a > b).sum(), (a < b).sum()
    wins, losses = (more, less) if a.sum() > b.sum() else (less, more)
    assert f"{wins} for it and {losses} against it" in result.headline
    assert result.headline.startswith("B is ahead" if lower else "A is ahead")
    for one in result.left_out:
        kept = np.delete(np.arange(30), order[: one.removed])
        (again,) = compare({"A": a[kept], "B": b[kept]})
        assert (one.delta, one.p_value, one.interval) == (again.delta, again.p_value, again.interval)


def test_the_numbers_are_the_fewest_of_all_subsets():
    """Answers: by trying all subsets. Means: the sign, by trying all; p in the order of the parts, one by one."""
    a, b = answers(8, 1, 1)
    result = flips({"A": a, "B": b}, read={"metric": "accuracy"}, confidence_level=0.9)

    def fewest(is_so):
        sizes = range(1, 9)
        return next(
            k for k in sizes for out in itertools.combinations(range(10), k) if is_so(*np.delete([a, b], out, axis=1))
        )

    expected = fewest(lambda a, b: sign_p((a > b).sum(), (a < b).sum()) >= 0.1 or a.sum() <= b.sum())
    assert result.fewest_not_significant == expected
    assert result.fewest_no_lead == fewest(lambda a, b: a.sum() <= b.sum()) == 7
    a, b = [9, 4, 3, 5, 2, 2, 1, 0, 1, 4], [1, 1, 1, 2, 1, 1, 2, 3, 3, 1]
    result = flips({"A": a, "B": b})
    assert result.fewest_no_lead == fewest(lambda a, b: a.sum() <= b.sum())


def test_parts_of_other_metrics_are_what_leaving_one_out_changes():
    rng = np.random.default_rng(3)
    gold = rng.integers(1, 9, size=25)
    hits = {"A": rng.binomial(gold, 0.9), "B": rng.binomial(gold, 0.5)}
    counts = {name: np.stack([tp, gold + rng.integers(0, 3, 25), gold], axis=1) for name, tp in hits.items()}
    result = flips(Evaluation.from_arrays(counts, metric="fscore"))
    scores = [2 * c[:, 0].sum() / (c[:, 1].sum() + c[:, 2].sum()) for c in counts.values()]
    order = []
    for one in result.flips:
        i = int(one.id.split()[1]) - 1
        order.append(i)
        left = [np.delete(c, i, axis=0).sum(axis=0) for c in counts.values()]
        f = [2 * s[0] / (s[1] + s[2]) for s in left]
        np.testing.assert_allclose(one.part, scores[0] - scores[1] - (f[0] - f[1]), atol=1e-12)
        np.testing.assert_allclose(one.a, 2 * counts["A"][i, 0] / counts["A"][i, 1:].sum())
    assert not result.additive
    by_part = sorted(zip(result.flips, order, strict=True), key=lambda each: -each[0].part)
    leading = [i for _, i in by_part]
    for one in result.left_out:
        left = {name: np.delete(c, leading[: one.removed], axis=0) for name, c in counts.items()}
        (again,) = compare(Evaluation.from_arrays(left, metric="fscore"))
        assert (one.delta, one.p_value, one.interval) == (again.delta, again.p_value, again.interval)
    x, y = rng.normal(size=(2, 12))
    ranked = Evaluation.from_predictions(x, {"A": x + 0.5 * y, "B": y}, metric="spearman")
    by_rank = flips(ranked, resamples=500, most=3)
    assert (len(by_rank.flips), by_rank.flips[0].a, by_rank.bound) == (12, None, 3)


def test_clusters_and_runs_keep_their_units():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 6, size=(2, 24)) + np.array([[1], [0]])
    clusters = np.repeat(list("uvwxyz"), 4)
    given = Evaluation.from_arrays(
        {"A": a, "B": b}, clusters=clusters, ids=[f"i{k // 2}" for k in range(24)], runs=[1, 2] * 12
    )
    result = flips(given)
    assert result.left_out[0].p_value == list(compare(given))[0].p_value
    of_a, of_b = a.reshape(12, 2).sum(axis=1), b.reshape(12, 2).sum(axis=1)
    assert {one.id: (one.a, one.b) for one in result.flips} == {
        f"i{k}": (of_a[k] / 2, of_b[k] / 2) for k in range(12) if of_a[k] != of_b[k]
    }
    for one in result.flips:
        np.testing.assert_allclose(one.part, (of_a - of_b)[int(one.id[1:])] / 24, rtol=1e-12)
    order = sorted(range(12), key=lambda k: -(of_a - of_b)[k] * np.sign((of_a - of_b).sum()))
    for one in result.left_out[:2]:
        kept = ~np.isin(np.arange(24) // 2, order[: one.removed])
        ids, runs = (np.array(each)[kept] for each in (given.ids, given.runs))
        left = {"A": a[kept], "B": b[kept]}
        (again,) = compare(Evaluation.from_arrays(left, clusters=clusters[kept], ids=ids, runs=runs))
        assert (one.delta, one.p_value, one.interval) == (again.delta, again.p_value, again.interval)


def test_an_instance_has_all_its_runs():
    """Runs of B are those of A in another order on q0, which does not differ; also in `diff` and by metrics of runs."""
    passed = {
        "A": [[1, 0, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]],
        "B": [[0, 1, 1], [0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]],
    }
    ids, runs = [f"q{k // 3}" for k in range(15)], [1, 2, 3] * 5

    def made(metric, **sides):
        arrays = {name: np.ravel(rows) for name, rows in (sides or passed).items()}
        return Evaluation.from_arrays(arrays, ids=ids, runs=runs, metric=metric)

    result = flips(made("accuracy"))
    assert [(one.id, round(15 * one.part)) for one in result.flips] == [("q1", 3), ("q2", 1), ("q3", -1), ("q4", 1)]
    assert (result.num_instances, result.fewest_no_lead) == (5, 2)
    assert "4 of 5 instances differ, 3 for it and 1 against it." in result.headline
    assert (result.flips[1].a, result.flips[1].b) == (2 / 3, 1 / 3)
    assert "|instances:5|runs:3|" in result.signature
    (changed,) = diff(made("accuracy", A=passed["B"], B=passed["B"]), made("accuracy")).flips
    assert changed.flips == result.flips
    every = flips(made("pass^3"))  # all runs of q1 and q4
    assert [(one.id, one.a, one.b) for one in every.flips] == [("q1", 1.0, 0.0), ("q4", 1.0, 0.0)]
    np.testing.assert_allclose([one.part for one in every.flips], 1 / 5)
    assert every.instances() == ["Only A is right (2): q1, q4."]
    rate = flips(made("flip-rate"))  # 2 c (3 - c) / 6
    assert [(one.id, round(15 * one.part)) for one in rate.flips] == [("q3", -2), ("q4", -2)]
    counts = {name: np.stack([np.ravel(rows), [1, 2, 1] * 5, [2] * 15], axis=1) for name, rows in passed.items()}
    by_f1 = flips(Evaluation.from_arrays(counts, ids=ids, runs=runs, metric="fscore"))
    for one in by_f1.flips:
        left = [np.delete(each, [k for k in range(15) if ids[k] == one.id], axis=0) for each in counts.values()]
        scores = [2 * c[:, 0].sum() / c[:, 1:].sum() for c in (*counts.values(), *left)]
        np.testing.assert_allclose(one.part, scores[0] - scores[1] - (scores[2] - scores[3]), atol=1e-12)
    x, y = np.random.default_rng(2).normal(size=(2, 24))
    outputs, names = {"A": x + 0.5 * y, "B": y}, np.array([f"q{k // 2}" for k in range(24)])
    outputs["B"][4:6] = outputs["A"][4:6]
    ranked = Evaluation.from_predictions(x, outputs, metric="spearman", ids=names, runs=[1, 2] * 12)
    by_rank = flips(ranked, resamples=99, most=3)
    assert (len(by_rank.flips), by_rank.num_instances) == (11, 12)
    for one in by_rank.flips:
        rho = [
            [spearmanr(x[kept], each[kept])[0] for each in outputs.values()] for kept in (names != "", names != one.id)
        ]
        np.testing.assert_allclose(one.part, np.subtract(*rho[0]) - np.subtract(*rho[1]), atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "metric", "is_listed"),
    [
        ([1, 1, 1, 0], [0, 0, 1, 1], "accuracy", True),
        ([1, 1, 1, 0], [0, 0, 1, 1], "mean", True),
        ([1, 1, 2, 0], [0, 0, 1, 1], "mean", False),  # not all are right or wrong
        ([1, 1, 1, 0], [0, 0, 1, 1], "mae", False),  # 1 is an error
        ([[1, 1, 1], [1, 2, 1]], [[0, 1, 1], [1, 2, 1]], "fscore", False),  # no mean
    ],
)
def test_only_right_or_wrong_answers_are_listed_by_the_system_that_is_right(a, b, metric, is_listed):
    if metric == "mae":
        data = Evaluation.from_predictions(np.zeros(len(a)), {"A": a, "B": b}, metric=metric)
    else:
        data = Evaluation.from_arrays({"A": np.array(a), "B": np.array(b)}, metric=metric)
    first = flips(data).instances()[0]
    assert (isinstance(first, str) and first.startswith("Only A is right")) == is_listed


def test_what_is_said_where_little_is_left():
    same = flips({"A": [1, 0, 1], "B": [1, 0, 1]}, read={"metric": "accuracy"})
    assert same.headline == "A and B have the same score: 0 of 3 instances differ."
    assert [each.removed for each in same.left_out] == [0]
    assert same.flips == ()
    counts = {"A": [[3, 4, 4], [0, 2, 2], [2, 4, 4]], "B": [[0, 4, 4], [2, 2, 2], [3, 4, 4]]}  # both have 5 of 10
    equal = flips(Evaluation.from_arrays({name: np.array(each) for name, each in counts.items()}, metric="fscore"))
    assert (len(equal.flips), equal.bound, [each.removed for each in equal.left_out]) == (3, 0, [0])
    a, b = answers(60, 1)
    strong = flips({"A": a, "B": b}, read={"metric": "accuracy"}, most=5)
    assert (strong.fewest_not_significant, strong.fewest_no_lead, strong.bound) == (None, None, 5)
    assert strong.headline.endswith("Without the 5 most influential, p stays below 0.05.")
    weak = flips({"A": [1, 1, 1, 0, 0], "B": [0, 0, 1, 1, 0]}, read={"metric": "accuracy"})
    assert weak.headline.endswith("2 for it and 1 against it. Without 1, A does not lead.")
    a, b = answers(9, 1)  # p is 0.039 without 1, and 0.07 without 2
    ends = {1: "Without the 1 most influential, p stays below 0.05."} | {
        most: f"Leaving out the 2 most influential makes p 0.05 or more; {lead}."
        for most, lead in (
            (2, "even then A still leads"),
            (3, "even without 3, A still leads"),
            (8, "without 8, A does not lead"),
        )
    }
    for most, end in ends.items():
        assert flips({"A": a, "B": b}, read={"metric": "accuracy"}, most=most).headline.endswith(f"against it. {end}")
    turn = flips({"A": [8, 3, 0, 1], "B": [0, 0, 4, 1]}, confidence_level=0.2)  # p is 3/4
    assert turn.headline.endswith("against it. Without 1, A does not lead.")
    counts = {"A": [[3, 4, 4], [1, 2, 2], [2, 4, 4]], "B": [[1, 4, 4], [2, 4, 4], [2, 4, 4]]}  # F1 is 1/2 on the second
    by_f1 = flips(Evaluation.from_arrays({name: np.array(each) for name, each in counts.items()}, metric="fscore"))
    assert "2 of 3 instances differ, 1 for it, 0 against it and 1 for neither." in by_f1.headline
    own = {"A": [1, 1, 0, 0, 1, 0, 1], "B": [0, 1, 0, 1, 1, 1, 1]}  # MCC of a single instance is 0, whoever is right
    by_mcc = flips(Evaluation.from_predictions([1, 1, 0, 0, 1, 0, 0], own, metric="mcc"))
    assert "): 3 of 7 instances differ. " in by_mcc.headline
    two = flips({"A": [1, 1], "B": [0, 0]}, read={"metric": "accuracy"})
    assert (two.bound, two.left_out[0].removed) == (0, 0)
    assert two.headline.endswith(
        "2 of 2 instances differ, 2 for it and 0 against it. They are too few to leave one out."
    )
    one = flips({"A": [1, 1], "B": [0, 1]}, read={"metric": "accuracy"})
    assert one.headline.endswith(
        "1 of 2 instances differ, 1 for it and 0 against it. Without that one no difference is left."
    )


def test_refusals():
    with pytest.raises(InputError, match="takes two systems, got 3"):
        flips({"A": [1, 0], "B": [1, 1], "C": [0, 0]})
    with pytest.raises(InputError, match="this study takes one metric, got 2"):
        flips([Evaluation.from_arrays({"A": [1, 0], "B": [1, 1]}, metric=name) for name in ("mean", "accuracy")])
    with pytest.raises(InputError, match="missing pairwise is for the tests"):
        flips(Evaluation.from_arrays({"A": {"x": 1, "y": 0}, "B": {"x": 1}}, missing="pairwise"))


def test_diff_names_the_instances_that_changed_the_systems_that_changed_most(tmp_path, capsys):
    a, b = answers(9, 2, 20)
    ids = [f"q{k}" for k in range(31)]
    old, new = (
        Evaluation.from_arrays({"A": a, "B": b, "C": each}, metric="accuracy", ids=ids)
        for a, each in ((b, b), (a, [1 - b[0], *b[1:]]))
    )
    result = diff(old, new)
    assert [one.a for one in result.flips] == ["A (new)", "C (new)"]
    first = result.flips[0]
    assert [one.id for one in first.flips if one.part < 0] == ["q9", "q10"]
    assert (len(first.flips), first.fewest_no_lead) == (11, 7)
    assert [len(diff(old, new, flips=k).flips) for k in (0, 1)] == [0, 1]
    assert json.loads(result.to_json())["flips"][1]["flips"] == [{"id": "q0", "a": 1.0, "b": 0.0, "part": 1 / 31}]
    folded = result.to_github().partition("<details>")[2]
    assert "Only A (old) is right (2): q9, q10." in folded
    for name, side in (("old", old), ("new", new)):
        side.save(tmp_path / f"{name}.npz")
    _run(["diff", str(tmp_path / "old.npz"), str(tmp_path / "new.npz")], debug=True)
    assert "accuracy, what changed C:" in capsys.readouterr().out
    assert diff(old, old).flips == ()
    sides = (
        Evaluation.from_arrays(
            {name: np.array([[x, 4], [1, 4], [0, 0], [0, 0]]) for name, x in zip("AB", tops, strict=True)},
            metric=lambda sums: sums[..., 0] / sums[..., 1],
        )
        for tops in ((3, 1), (1, 3))
    )
    undefined = diff(*sides)  # 0 / 0 without the first two
    assert ([one.change for one in undefined.changes], undefined.flips) == ([-0.25, 0.25], ())


def test_the_command_writes_text_json_and_a_folded_comment(tmp_path, capsys):
    a, b = answers(9, 2)
    table = tmp_path / "t.csv"
    table.write_text("id,A,B,C\n" + "".join(f"x{i},{p},{q},0\n" for i, (p, q) in enumerate(zip(a, b, strict=True))))
    starts = {"o.md": "**A is ahead", "o.github.md": "> [!NOTE]", "o.json": "{", "o.html": "<!DOCTYPE html>"}
    for name, start in starts.items():
        _run(["flips", str(table), "-m", "accuracy", "--only", "A", "B", "-o", str(tmp_path / name), "-q"], debug=True)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["schema"] == "sigjax-flips/1"
    assert "Only A is right (9)" in (tmp_path / "o.github.md").read_text(encoding="utf-8").partition("<details>")[2]
    capsys.readouterr()
    _run(["flips", str(table), "-m", "mean", "--only", "A", "B"], debug=True)
    out = capsys.readouterr().out
    assert out.startswith("A is ahead of B by")
    assert max(map(len, out.splitlines()[:-1])) <= 100


class Cells(HTMLParser):
    """The texts of a page: those of the cells of each row, of paragraphs, and of what is folded."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.paragraphs, self.folded, self.inside = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.inside.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        while self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self.inside and self.inside[-1] in ("td", "th"):
            self.rows[-1].append(data)
        elif self.inside and self.inside[-1] == "p":
            (self.folded if "details" in self.inside else self.paragraphs).append(data)


@pytest.mark.parametrize("metric", ["accuracy", "mean"])
def test_the_web_page_has_the_sentences_and_tables_of_the_text(metric):
    a, b = (np.array(each, float) for each in answers(9, 2))
    scale = 1.0 if metric == "accuracy" else 0.3
    ids = [f"<script>&{i}" for i in range(len(a))]
    data = Evaluation.from_arrays({"<b>A": scale * a, "B": scale * b}, ids=ids, metric=metric)
    halves = replace(data, strata=tuple("x" if i % 2 else "<y>" for i in range(len(a))))
    later = Evaluation.from_arrays({"<b>A": scale * b, "B": scale * b}, ids=ids, metric=metric)
    results = [flips(data), slices(halves, least=1), diff(data, later)]
    for result in results:
        page = Cells(source := result.to_html())
        made = result.document()
        first, details = made.blocks, made.details
        tables = [part for part in (*first, *details) if not isinstance(part, str)]
        assert page.rows == [[cell for cell in row if cell] for table in tables for row in (table.header, *table.rows)]
        texts = [[each for each in part if isinstance(each, str)] for part in (first, details)]
        sentences = [[each for each in part if each and each[-1] != ":"] for part in texts]
        assert page.paragraphs == [result.headline, *sentences[0]]
        assert page.folded == sentences[1]
        assert "<b>A" not in source
        assert "<script>&" not in source


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0.1, 0.2, -0.3, 0.5], [-0.3, 0.2, 0.1, 0.5]),
        ([1 / 3, 1 / 3, 1 / 3, 0.0], [1.0, 0.0, 0.0, 0.0]),
        ([0.1, 0.2, 0.0], [0.3, 0.0, 0.0]),
    ],
)
def test_scores_that_are_equal_up_to_rounding_have_no_lead(a, b):
    for one, other in ((a, b), (b, a)):
        report = compare({"A": one, "B": other}, progress=False)
        result = flips({"A": one, "B": other})
        assert (report[0].delta, report[0].better) == (0.0, None)
        assert Report.from_json(report.to_json())[0].better is None
        assert result.headline.startswith("A and B have the same score: ")
        assert (result.left_out[0].delta, result.fewest_no_lead, result.fewest_not_significant) == (0.0, None, None)


def test_leaving_out_what_is_left_of_a_lead_by_rounding_is_no_lead():
    """Without the instance of the lead, both sum to 0.3: of .1 and .2, and of .3 and 0."""
    result = flips({"A": [5.0, 0.1, 0.2, 0.0], "B": [0.0, 0.3, 0.0, 0.0]})
    assert result.left_out[1].delta == 0.0
    assert result.fewest_no_lead == 1


@pytest.fixture
def quiz(tmp_path):
    table = tmp_path / "quiz.csv"
    rows = [f'{i},"What is {"=" * (i == 3)}{i}, now?",{"AB"[i % 2]},{int(i % 3 > 0)},{i % 2}' for i in range(90)]
    table.write_text("id,question,target,A,B\n" + "\n".join(rows) + "\n")
    return table


def test_fields_are_shown_beside_each_instance(quiz, tmp_path, capsys):
    names = ["txt", "json", "csv", "md", "html"]
    files = [word for name in names for word in ("-o", str(tmp_path / f"out.{name}"))]
    assert _run(["flips", str(quiz), "-m", "accuracy", "--show", "question", "target", "-q", *files], debug=True) == 0
    assert _run(["flips", str(quiz), "-m", "accuracy", "--show", "question", "target"], debug=True) == 0
    shown = capsys.readouterr().out
    differ = [i for i in range(90) if int(i % 3 > 0) != i % 2]
    assert len(differ) > 20
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["id"]) for row in rows] == differ
    assert [row["question"] for row in rows] == [f"What is {'=' * (i == 3)}{i}, now?" for i in differ]
    assert [row["target"] for row in rows] == ["AB"[i % 2] for i in differ]
    held = json.loads((tmp_path / "out.json").read_text())["texts"]
    assert held == {name: [row[name] for row in rows] for name in ("question", "target")}
    for name in names:
        text = (tmp_path / f"out.{name}").read_text()
        assert all(f"What is {'=' * (i == 3)}{i}, now?" in text for i in differ), name
    assert f"What is {differ[19]}, now?" in shown
    assert f"What is {differ[20]}, now?" not in shown
    assert f"Files (-o) have {len(differ) - 20} more." in shown
    result = flips(quiz, read={"metric": "accuracy"}, show=["question", "target"])
    assert {name: list(texts) for name, texts in result.texts.items()} == held
    assert result.to_dataframe(columns="all")["question"].tolist() == held["question"]
    assert "show" not in result.signature


def test_files_name_all_instances_that_differ(quiz, tmp_path, capsys):
    files = [word for name in ("txt", "md", "html", "csv") for word in ("-o", str(tmp_path / f"out.{name}"))]
    assert _run(["flips", str(quiz), "-m", "accuracy", "-q", *files], debug=True) == 0
    result = flips(quiz, read={"metric": "accuracy"})
    for name in ("txt", "md", "html", "csv"):
        text = (tmp_path / f"out.{name}").read_text()
        assert " more." not in text
        assert all(f"{one.id}" in text for one in result.flips)
    with (tmp_path / "out.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == [one.id for one in result.flips]
    assert " more." in str(result)


def test_fields_that_are_not_there_or_not_read_are_refused(quiz, capsys):
    with pytest.raises(InputError, match="show: no column and no file 'answer'; columns: 'id', 'question', 'target'"):
        flips(quiz, read={"metric": "accuracy"}, show=["answer"])
    with pytest.raises(InputError, match="show reads fields of files, and these are read already"):
        flips(read(quiz, metric="accuracy"), show=["question"])
    assert _run(["flips", str(quiz), "-m", "accuracy", "--show", "answer"], debug=False) == 2
    assert "quiz.csv: --show: no column and no file 'answer'" in capsys.readouterr().err


def test_the_target_of_lm_evaluation_harness_is_shown(tmp_path):
    files = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for file, values in zip(files, ([1, 0, 1, 1], [1, 1, 0, 0]), strict=True):
        file.write_text(logs.lm_eval(values))
    result = flips(files, read={"metric": "acc"}, show=["target", "question"])
    assert result.texts == {"target": ("A",) * 3, "question": ("q1", "q2", "q3")}
