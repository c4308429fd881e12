"""Scores of segments from other tools of translation: mt-metrics-eval and COMET."""

import json

import numpy as np
import pytest

from sigjax import compare
from sigjax.formats import read
from sigjax.records import InputError

SCORES = "A\t0.5\nA\t-2\nA\t1.25\nB\t0.25\nB\t-1\nB\t1\n"


def comet(**systems):
    """As comet-score writes it."""
    return {
        f"out/{name}.txt": [
            {"src": f"s{i}", "mt": f"{name}{i}", "ref": f"r{i}", "COMET": score} for i, score in enumerate(scores)
        ]
        for name, scores in systems.items()
    }


# mt-metrics-eval


def test_segment_scores_by_position(write):
    found = read(write("en-de.human.seg.score", SCORES))
    assert (found.systems, found.ids, found.metric.name) == (("A", "B"), None, "mean")
    assert found.stats[:, :, 0].tolist() == [[0.5, -2, 1.25], [0.25, -1, 1]]
    assert read(write("blanks.seg.score", SCORES.replace("\t", "  "))).stats.tolist() == found.stats.tolist()
    assert read(write("named", SCORES), reader="mt-metrics-eval", metric="score").metric.name == "score"


def test_missing_scores_and_documents(write, tmp_path):
    path = write("x.seg.score", SCORES.replace("B\t-1", "B\tNone"))
    docs = write("en-de.docs", "news d1\nnews d1\nsocial d2\n")
    with pytest.raises(InputError, match="'B' lacks 1 of 3 .*missing=.drop."):
        read(path)
    found = read(path, missing="drop", cluster=str(docs))
    assert found.stats[:, :, 0].tolist() == [[0.5, 1.25], [0.25, 1]]
    assert found.clusters == ("news d1", "social d2")


def test_systems_without_any_score_are_left_out_by_name(write):
    path = write("x.seg.score", SCORES + "refA\tNone\n" * 3)
    with pytest.raises(InputError, match="no instance is left .*'refA' lacks 3 of 3"):
        read(path, missing="drop")
    assert read(path, systems=["B", "A"]).systems == ("B", "A")


def test_files_of_several_annotators_are_refused_by_what_they_are(write):
    paths = [str(write(f"en-de.mqm-{k}.seg.score", SCORES)) for k in (1, 2)]
    with pytest.raises(InputError, match=r"mqm-2.seg.score: a .seg.score file has all systems in it; .*runs="):
        read(*paths)


def test_large_files(write):
    """14 systems on 57,755 segments: as many as WMT has ever had."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(14, 57_755)).round(6)
    path = write("x.seg.score", "".join(f"s{k}\t{value}\n" for k, row in enumerate(values.tolist()) for value in row))
    assert read(path).stats[:, :, 0].tolist() == values.tolist()


# COMET


def test_comet_scores_are_averaged(write, compared):
    path = write("scores.json", json.dumps(comet(A=[0.5, 0.75, 1], B=[0.25, 0.5, 0.75]), indent=4))
    found = read(path)
    assert (found.systems, found.ids) == (("A", "B"), None)
    assert [system.score for system in compare(found, resamples=50).systems] == [0.75, 0.5]
    report = compared(path, "-m", "COMET")
    assert {(s["name"], s["metric"], s["score"]) for s in report["systems"]} == {
        ("A", "COMET", 0.75),
        ("B", "COMET", 0.5),
    }


def test_without_references_and_with_spans(write):
    content = comet(A=[1, 0], B=[0, 0])
    for segments in content.values():
        for segment in segments:
            del segment["ref"]
    content["out/A.txt"][0]["errors"] = [{"text": "x", "severity": "major", "start": 0, "end": 1}]
    assert read(write("c.json", json.dumps(content))).stats[0, :, 0].tolist() == [1, 0]
