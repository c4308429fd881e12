"""Scores of segments from other tools of translation: mt-metrics-eval and COMET."""

import json

import numpy as np
import pytest

from sigjax import compare
from sigjax.cli import _run
from sigjax.readers import read
from sigjax.records import InputError

SCORES = "A\t0.5\nA\t-2\nA\t1.25\nB\t0.25\nB\t-1\nB\t1\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


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
    with pytest.raises(InputError, match="'B' lacks 1 of 3 .*--missing drop"):
        read(path)
    found = read(path, missing="drop", cluster=str(docs))
    assert found.stats[:, :, 0].tolist() == [[0.5, 1.25], [0.25, 1]]
    assert found.clusters == ("news d1", "social d2")


def test_systems_without_any_score_are_left_out_by_name(write):
    path = write("x.seg.score", SCORES + "refA\tNone\n" * 3)
    with pytest.raises(InputError, match="no instance is left .*'refA' lacks 3 of 3"):
        read(path, missing="drop")
    assert read(path, systems=["B", "A"]).systems == ("B", "A")


def test_large_files(write):
    """14 systems on 57,755 segments: as many as WMT has ever had."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(14, 57_755)).round(6)
    path = write("x.seg.score", "".join(f"s{k}\t{value}\n" for k, row in enumerate(values.tolist()) for value in row))
    assert read(path).stats[:, :, 0].tolist() == values.tolist()


BAD_SCORES = {
    "fields": ("A 1\nA 2 3\n", r"x.seg.score, line 2: expected SYSTEM SCORE, got 'A 2 3'"),
    "one field": ("A 1\nA\n", r"line 2: expected SYSTEM SCORE, got 'A'"),
    "empty line": ("A 1\n\nB 1\n", r"line 2: expected SYSTEM SCORE, got ''"),
    "text": ("A 1\nB good\n", r"line 2, column 'SCORE': expected a number, got 'good'; write None where it is missing"),
    "nan": ("A 1\nB nan\n", r"line 2, column 'SCORE': expected a finite number"),
    "large": ("A 1\nB 1e400\n", r"line 2, column 'SCORE': expected a finite number"),
    "lengths": ("A 1\nA 2\nB 1\n", r"system 'B' has 1 scores, 'A' has 2; expected one for each segment"),
    "one system": ("A 1\nA 2\n", r"a comparison needs at least two systems, got 1"),
    "empty": ("", r"is empty"),
    "latin": (b"A 1\nB\xe9 1\n", r"line 2: expected UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), BAD_SCORES.values(), ids=BAD_SCORES)
def test_bad_segment_scores(write, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(write("x.seg.score", content))
    assert "\n" not in str(caught.value)


# COMET


def test_comet_scores_are_averaged(write, capsys):
    path = write("scores.json", json.dumps(comet(A=[0.5, 0.75, 1], B=[0.25, 0.5, 0.75]), indent=4))
    found = read(path)
    assert (found.systems, found.ids) == (("A", "B"), None)
    assert [system.score for system in compare(found, resamples=50).systems] == [0.75, 0.5]
    assert _run(["compare", str(path), "-m", "COMET", "--format", "json"], debug=False) == 0
    report = json.loads(capsys.readouterr().out)
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


def other_source():
    content = comet(A=[1, 0], B=[0, 0])
    content["out/B.txt"][1]["src"] = "another"
    return content


BAD_COMET = {
    "cut": ('{"A": [{"COMET": 0.5},\n {"CO', r"c.json, line 2, character 3: not readable as JSON"),
    "list": ('[{"COMET": 1}]', r"c.json: expected an object, got a list"),
    "deep": ('{"A": [{"COMET": 1, "x": ' + "[" * 100_000, r"nested too deeply"),
    "twice": ('{"A": [{"COMET": 1}], "A": [{"COMET": 1}]}', r"field 'A' occurs twice"),
    "no list": ('{"A": {"COMET": 1}}', r"field 'A': expected a list, got an object"),
    "no segments": ('{"A": [], "B": [{"COMET": 1}]}', r"system 'B' has 1 scores, 'A' has 0; expected one for each"),
    "no systems": ("{}", r'expected an object such as {"system.txt": '),
    "no score": (
        '{"A": [{"COMET": 1}, {"mt": "x"}]}',
        r"system 'A', segment 2: no field 'COMET'; fields: 'mt'",
    ),
    "nan": ('{"A": [{"COMET": NaN}]}', r"system 'A', segment 1, field 'COMET': expected a finite number, got nan"),
    "large": ('{"A": [{"COMET": 1e400}]}', r"expected a finite number, got inf"),
    "digits": ('{"A": [{"COMET": ' + "9" * 5000 + "}]}", r"holds a number of thousands of digits; repair it"),
    "text": ('{"A": [{"COMET": "1"}]}', r"expected a number, got the text '1'"),
    "truth": ('{"A": [{"COMET": true}]}', r"field 'COMET': expected a number, got true or false"),
    "lengths": (json.dumps(comet(A=[1, 0], B=[1])), r"system 'B' has 1 scores, 'A' has 2; expected one"),
    "source": (json.dumps(other_source()), r"instance '2' of 'B' has another source or reference than of 'A'"),
    "one system": (json.dumps(comet(A=[1, 0])), r"a comparison needs at least two systems, got 1"),
}


@pytest.mark.parametrize(("content", "message"), BAD_COMET.values(), ids=BAD_COMET)
def test_bad_comet_scores(write, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(write("c.json", content), reader="comet")
    assert "\n" not in str(caught.value)
