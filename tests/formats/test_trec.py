"""Retrieval: trec_eval's own output and published tables, a second computation of the measures, and bad files."""

import csv
import json
import re
import sys

import numpy as np
import pytest
from mutations import values

from sigjax import InputError, compare, read
from sigjax.formats import trec as measures
from sigjax.formats.trec import parse_measure

QRELS = "7 0 d1 2\n7 0.5 d2\t0\n7 Q0 d3 1\n9 0 d1 1\n9 0 d9 -2\n8 0 d4 0\n"
RUN = "7 Q0 d2 1 0.5 x\n7\tQ0\td1\t2\t1e1\tx\n9 Q0 d9 1 3 x\n9 Q0 d1 2 2 x\n8 Q0 d4 1 1 x\n5 Q0 d4 1 1 x\n"
OTHER = "9 Q0 d1 1 1 x\n7 Q0 d3 9 2 x\n"
EVAL = "runid \tall\tx\nmap \t7\t0.5\nP_5 \t7\t0.2\nnum_q \tall\t1\n"


@pytest.fixture
def scorer():
    """The library that measures runs is there."""
    return pytest.importorskip("pytrec_eval")


def test_published_means_of_raw_runs(data, compared, scorer):
    folder = data / "trec_covid_r1"
    runs = sorted((folder / "raw_runs").iterdir())
    report = compared(folder / "qrels-rnd1.txt", "-i", *runs, "-m", "ap", "ndcg@10", "P@5")
    scores = {(each["name"], each["metric"]): f"{each['score']:.4f}" for each in report["systems"]}
    with (folder / "leaderboard.csv").open(newline="") as lines:
        rows = {row["run"]: row for row in csv.DictReader(lines)}
    columns = {"ap": "MAP", "ndcg@10": "ndcg@10", "P@5": "p@5"}
    names = [path.name.removesuffix(".gz") for path in runs]
    assert scores == {(name, metric): rows[name][column] for name in names for metric, column in columns.items()}


@pytest.mark.parametrize(
    ("metric", "measure"),
    [
        ("ap", "map"), ("ap@100", "map_cut_100"), ("ndcg", "ndcg"), ("ndcg@20", "ndcg_cut_20"), ("p@30", "P_30"),
        ("recall@100", "recall_100"), ("rr", "recip_rank"), ("bpref", "bpref"), ("rprec", "Rprec"),
        ("success@5", "success_5"),
    ],
)  # fmt: skip
def test_topics_are_those_of_trec_eval(data, write, scorer, metric, measure):
    folder = data / "format_fixtures" / "trec_eval"
    copy = write("copy.eval", (folder / "out.test.aq").read_bytes())
    run = read(
        folder / "qrels.test", input=[folder / "results.test", write("b", RUN.replace("7", "301"))], metric=metric
    )
    output = read(folder / "out.test.aq", copy, metric=metric)
    assert output.metric.name == measure
    assert run.ids == output.ids == ("301", "302", "303")
    assert values(run)["results.test"] == pytest.approx(values(output)["copy"], abs=5.1e-5)
    assert values(output)["copy"] == values(read(folder / "out.test.aq", copy, metric=measure))["out.test.aq"]
    (whole,) = [
        float(text)
        for name, topic, text in map(str.split, (folder / "out.test.aq").read_text().splitlines())
        if (name, topic) == (measure, "all")
    ]
    assert np.mean(values(output)["copy"]) == pytest.approx(whole, abs=1e-4)


def by_hand(relevance, run, name, cutoff, level=1):
    """A measure of one topic, by its textbook formula; ties go to the later name."""
    if level > 1:
        relevance = {document: gain * (gain >= level) for document, gain in relevance.items()}
    ranked = sorted(run, key=lambda document: (run[document], document), reverse=True)
    gains = [max(relevance.get(document, 0), 0) for document in ranked]
    best = sorted((max(gain, 0) for gain in relevance.values()), reverse=True)
    hits = [gain > 0 for gain in gains]
    num_relevant = sum(gain > 0 for gain in best)
    discounts = 1 / np.log2(np.arange(2, 200))
    if name == "ap":
        precisions = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits[:cutoff]) if hit]
        return sum(precisions) / max(num_relevant, 1)
    if name == "ndcg":
        ideal = (np.array(best[:cutoff]) * discounts[: len(best[:cutoff])]).sum()
        return (np.array(gains[:cutoff]) * discounts[: len(gains[:cutoff])]).sum() / ideal if ideal else 0.0
    if name == "rr":
        return next((1 / (i + 1) for i, hit in enumerate(hits[:cutoff]) if hit), 0.0)
    if name == "p":
        return sum(hits[:cutoff]) / cutoff
    return sum(hits[:cutoff]) / num_relevant if num_relevant else 0.0


@pytest.mark.parametrize(
    "metric",
    [
        "ap", "ap@5", "ndcg", "ndcg@1", "ndcg@7", "rr", "rr@1", "MRR@3", "p@1", "p@20", "recall@5", "R@50", "ap(rel=2)",
        "AP@5(rel=3)", "ap(rel=2)@5", "recall@5(rel=2)", "R(rel=3)@50", "p@20(rel=2)", "rr(rel=3)", "MRR@3(rel=2)",
    ],
)  # fmt: skip
def test_measures_by_their_formulas(write, scorer, metric):
    rng = np.random.default_rng(1)
    judged = {f"q{i}": {f"d{j}": int(rng.integers(-1, 4)) for j in rng.permutation(30)[:9]} for i in range(25)}
    judged["none"] = {"d1": 0, "d2": -1}
    runs = {
        name: {topic: {f"d{j}": float(rng.integers(0, 5)) for j in rng.permutation(30)[:12]} for topic in judged}
        for name in "ab"
    }
    level = int((re.search(r"rel=(\d)", metric) or "11")[1])
    name, _, cut = re.sub(r"\(.*\)", "", metric.lower()).partition("@")
    name, cutoff = {"mrr": "rr", "r": "recall"}.get(name, name), int(cut) if cut else None
    expected = {
        system: [by_hand(judged[topic], run[topic], name, cutoff, level) for topic in judged]
        for system, run in runs.items()
    }
    lines = {
        system: "".join(f"{q} Q0 {d} 1 {score} x\n" for q, docs in run.items() for d, score in docs.items())
        for system, run in runs.items()
    }
    qrels = "".join(f"{q} 0 {d} {relevance}\n" for q, docs in judged.items() for d, relevance in docs.items())
    trec = read(write("qrels", qrels), input=[write(f"{s}.run", text) for s, text in lines.items()], metric=metric)
    files = [write(f"{system}.json", json.dumps(run, indent=1)) for system, run in runs.items()]
    ranx = read(write("qrels.json", json.dumps(judged)), input=files, metric=metric)
    for evaluation in (trec, ranx):
        assert evaluation.ids == tuple(judged)
        for system, column in values(evaluation).items():
            assert column == pytest.approx(expected[system], abs=1e-12)


def test_topics_that_a_run_lacks_count_zero(write, scorer):
    files = [write("qrels", QRELS), [write("a.run", RUN), write("b.run", OTHER)]]
    evaluation = read(files[0], input=files[1], cluster="topic")
    assert (evaluation.metric.name, evaluation.ids) == ("ap", ("7", "9", "8"))
    assert evaluation.clusters == evaluation.ids
    assert values(evaluation) == {"a": [0.5, 0.5, 0.0], "b": [0.5, 1.0, 0.0]}
    lacks = "warning: topics that a run lacks count 0, as with trec_eval -c: 'b' lacks 1 of 3"
    assert evaluation.notes[:-1] == ("ap: trec_eval -m map", lacks)
    dropped = read(files[0], input=files[1], missing="drop")
    assert (dropped.ids, len(dropped.notes)) == (("7", "9"), 3)
    high = read(files[0], input=files[1], metric="ap(rel=2)")
    assert values(high) == {"a": [1.0, 0.0, 0.0], "b": [0.0, 0.0, 0.0]}
    assert "|trec_eval:map -l 2|" in compare(high, device="numpy").signature


@pytest.mark.parametrize(
    "name",
    [
        *"p recall p@0 p@-1 p@1.5 ndcg@ ndcg@1000000".split(),
        *"ndcg(rel=2) ndcg@5(rel=2) ap(rel=0) p(rel=2)@5(rel=2) rprec@5 __import__ @".split(),
    ],
)
def test_names_that_are_no_measures(write, name):
    assert parse_measure(name) is None
    with pytest.raises(InputError, match=r"trec-run has no metric .*; it gives ap, ndcg@10"):
        read(write("qrels", QRELS), input=[write("a", RUN), write("b", OTHER)], metric=name, reader="trec-run")


@pytest.mark.parametrize("metric", [None, "ap"])
def test_a_run_in_the_place_of_judgments_is_refused(write, metric):
    with pytest.raises(InputError, match=r"a, line 1: expected 4 fields .*, got 6"):
        read(write("a", RUN), input=[write("b", OTHER), write("c", RUN)], metric=metric)


@pytest.mark.parametrize("judgment", [1000, -1000, 1001, -1001])
def test_judgments_up_to_1000_are_taken(write, scorer, judgment):
    files = [write("a", RUN), write("b", OTHER)]
    qrels = write("qrels", f"7 0 d1 1\n7 0 d2 {judgment}\n")
    if abs(judgment) > 1000:
        with pytest.raises(InputError, match=f"relevance: expected a whole number up to 1000, got {judgment}"):
            read(qrels, input=files, metric="ap")
    else:
        assert read(qrels, input=files, metric="ap").ids == ("7",)


def test_without_the_library(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    with pytest.raises(InputError, match="install pytrec-eval-terrier"):
        measures.topic_scorer(measures.RankingMeasure("map"), {"7": {"d1": 1}})


def test_outputs_of_trec_eval(write):
    first = EVAL + "gm_map \tall\t-2.5\nnum_rel_ret \t7\t3\nrelstring \t7\t'0110'\nmap\t8\t0.25\nP_5 \t8\t1\n"
    second = first.replace("0.5", "0.75").replace("map\t8\t0.25", "map \t9\t1").replace("\n", "\r\n")
    evaluation = read(write("a.eval", first), write("b.eval", second), metric="AP", missing="zero", cluster="topic")
    assert (evaluation.metric.name, evaluation.ids) == ("map", ("7", "8", "9"))
    assert values(evaluation) == {"a": [0.5, 0.25, 0.0], "b": [0.75, 0.0, 1.0]}
    with pytest.raises(InputError, match=r"'a' lacks 1 of 3 \(first: '9'\), 'b' lacks 1 of 3"):
        read(write("a.eval", first), write("b.eval", second), metric="map")
    for name in ("num_rel_ret", "gm_map", "relstring"):
        with pytest.raises(InputError, match=f"no score or metric '{name}'"):
            read(write("a.eval", first), write("b.eval", second), metric=name)
    with pytest.raises(InputError, match=r"metric 'mean' needs value: which of 'map', 'P_5'\? .*metric=.NAME."):
        read(write("a.eval", first), write("b.eval", second))


def test_measures_by_other_programs(write):
    """ir_measures --by_query, whose lines begin with the topic, and what pytrec_eval returns, as JSON."""
    lines = {"a": (0.5, 0.25), "b": (0.75, 1)}
    columns = [
        write(name, "".join(f"{t}\tAP\t{x}\n{t}\tRBP\t0\n" for t, x in zip("78", own, strict=True)))
        for name, own in lines.items()
    ]
    objects = [
        write(
            f"{name}.json", json.dumps({t: {"num_ret": 9, "map": x, "P_5": 0} for t, x in zip("78", own, strict=True)})
        )
        for name, own in lines.items()
    ]
    for files in (columns, objects):
        found = read(*files, metric="ap")
        assert found.ids == ("7", "8")
        assert values(found) == {"a": [0.5, 0.25], "b": [0.75, 1.0]}
        with pytest.raises(InputError, match="no score or metric '7'"):
            read(*files, metric="7")
    with pytest.raises(InputError, match=r"c.json, field '7', field 'map': expected a number, got the text 'x'"):
        read(objects[0], write("c.json", '{"7": {"P_5": 1, "map": "x"}}'), metric="map")


def test_other_things_that_cannot_be_used(write):
    qrels, runs = write("qrels", QRELS), [write("a", RUN), write("b", OTHER)]
    with pytest.raises(InputError, match=r"qrels2: is a second gold file; expected one"):
        read(qrels, write("qrels2", QRELS), input=runs)
    with pytest.raises(InputError, match=r"runs are scored by a measure's name, such as ap, ndcg@10"):
        read(qrels, input=runs, metric=lambda sums: sums[..., 0])
    with pytest.raises(InputError, match=r"the format trec-run has no metric 'bleu'; it gives ap, "):
        read(qrels, input=runs, metric="bleu")
