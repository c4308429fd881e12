"""Reports read back from JSON: every value to the bit, the same renderings, the schema, and refusals of damage."""

import json
import math
import re
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from reports import make_report, with_pair
from test_load import REPORTS

from sigjax import Evaluation, InputError, Report, compare
from sigjax.cli import _run
from sigjax.metrics import MEAN
from sigjax.records import Interval, Settings
from sigjax.report.sections import blocks

SCHEMA = Report.json_schema()
TERRIBLE = ("\ud800", 'quote " and \\', "line\nbreak\u2028", "{", "", "名")


def quick(values, **options):
    how = {name: options.pop(name) for name in ("metric", "missing") if name in options}
    return compare(Evaluation.from_arrays(values, **how), device="numpy", progress=False, **options)


def lower():
    noise = np.random.default_rng(3).normal(size=(3, 30))
    metric = replace(MEAN, name="errors", higher_is_better=False)
    return quick(
        dict(zip("ABC", noise, strict=True)), metric=metric, resamples=200, leaderboard=True, confidence_level=0.9
    )


ALL = REPORTS | {
    "strange names": make_report(TERRIBLE),
    "no pair": replace(make_report(1), notes=()),
    "smallest numbers": with_pair(
        make_report(2), p_value=5e-324, log10_p=-323.3, delta=-0.0, interval=Interval(-0.0, 5e-324), better=None
    ),
    "p of 0": make_report(2, p_of=lambda i, j: 0.0),
    "lower is better": lower(),
    "one unit": quick({"A": [1], "B": [0]}),
    "identical": quick({"A": [1, 0, 1], "B": [1, 0, 1]}, test=["permutation", "bootstrap"], resamples=50),
    "seventy systems": make_report(70),
    "pairs of their own": quick(
        {"A": {"x": 1, "y": 0, "z": 1}, "B": {"x": 0, "y": 0, "z": 1}, "C": {"x": 1, "y": 0}}, missing="pairwise"
    ),
}
EVERY_REPORT = pytest.mark.parametrize("report", ALL.values(), ids=ALL)


def bits(value):
    """A value that differs where any bit of a number does: 0.0 and -0.0, or 1 and 1.0."""
    return repr(value)


@EVERY_REPORT
def test_a_report_read_back_is_the_report(report):
    again = Report.from_json(report.to_json())
    assert again == report
    for field in fields(Report):
        if field.name not in ("comparisons", "again", "compute_distribution", "evaluations"):
            assert bits(getattr(again, field.name)) == bits(getattr(report, field.name))
    assert [bits(one) for one in again] == [bits(one) for one in report]


@EVERY_REPORT
def test_it_renders_the_same_bytes(report):
    again = Report.from_json(report.to_json())
    for render in (str, Report.to_json, Report.to_markdown, Report.to_latex, Report.to_html, Report.to_csv):
        assert render(again) == render(report)
    assert again.to_csv(of="systems") == report.to_csv(of="systems")


@EVERY_REPORT
def test_reports_have_the_schema(report):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(report.to_json()))


def changed(path, value):
    report = json.loads(make_report(3).to_json())
    *before, last = path
    inner = report
    for key in before:
        inner = inner[key]
    if value is None and last in inner:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(report)


GOOD = make_report(3).to_json()
REFUSED = {
    "not JSON": (GOOD[:-20], "not JSON; give a report that was written as JSON"),
    "not even text": ("{" * 100_000, "not JSON"),
    "another schema": (changed(["schema"], "sigjax-audit/1"), "has the schema 'sigjax-audit/1', expected 'sigjax/1'"),
    "no schema": ('{"score": 1}', "has no schema, expected 'sigjax/1'"),
    "no pairs": (changed(["pairs"], None), "has no 'pairs'; expected a report"),
    "no delta": (changed(["pairs", 1, "delta"], None), "pairs, entry 2: has no 'delta'"),
    "p as text": (changed(["pairs", 2, "p_value"], "0.5"), "pairs, entry 3: 'p_value' is '0.5'; expected a number"),
    "p is true": (changed(["pairs", 0, "p_value"], True), "pairs, entry 1: 'p_value' is True; expected a number"),
    "NaN": (changed(["pairs", 0, "delta"], math.nan), "pairs, entry 1: 'delta' is nan; expected a number"),
    "half a count": (changed(["pairs", 0, "exceed"], 1.5), "'exceed' is 1.5; expected a whole number from 0 or null"),
    "method": (changed(["pairs", 0, "method"], "guess"), "expected one of exact, dp, tree, montecarlo"),
    "an interval of one end": (changed(["systems", 0, "interval"], [1.0]), r"systems, entry 1: 'interval' is \[1.0\]"),
    "pairs as an object": (changed(["pairs"], {}), "'pairs' is {}; expected a list"),
    "a pair as a number": (changed(["pairs", 0], 7), r"'pairs' is \[7, .*; expected a list of objects"),
    "unknown system": (changed(["pairs", 0, "b"], "X"), "pairs, entry 1: 'X' has no score by 'accuracy' in systems"),
    "newer option": (changed(["settings", "power"], 1), "settings: this version of sigjax has no option 'power'"),
    "no units": (changed(["settings", "units"], None), "settings: has no 'units'; expected a report"),
    "level": (
        changed(["settings", "confidence_level"], 95),
        "settings: confidence_level must be a number between 0 and 1",
    ),
    "tests": (changed(["settings", "tests"], ["t"]), "settings: test must be one or more of permutation, bootstrap"),
    "tests as a number": (changed(["settings", "tests"], 1), "settings: 'tests' is 1; expected a list of text"),
    "units": (changed(["settings", "units"], "many"), "settings: 'units' is 'many'; expected a whole number"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_report_is_refused_in_one_line(text, message, tmp_path, capsys):
    with pytest.raises(InputError, match=f"^the text: .*{message}"):
        Report.from_json(text)
    path = tmp_path / "out.json"
    path.write_text(text)
    assert _run(["show", str(path)], debug=False) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert re.match(f"sigjax: error: {re.escape(str(path))}: ", err)


@pytest.mark.parametrize("name", asdict(Settings()))
def test_a_setting_that_an_earlier_version_did_not_have_had_its_default(name):
    report = make_report(3)
    older = json.loads(report.to_json())
    del older["checksum"]
    older["settings"][name] = json.loads(json.dumps(asdict(Settings())))[name]
    expected = Report.from_json(json.dumps(older))
    del older["settings"][name]
    assert Report.from_json(json.dumps(older)) == expected


def digits(text):
    """The text with another digit in place of one, for every digit."""
    for index, character in enumerate(text):
        if character.isdigit():
            yield text[:index] + str((int(character) + 1) % 10) + text[index + 1 :]


def test_no_changed_digit_is_shown():
    values = {name: [int(i * k % 7 < 2 + k) for i in range(24)] for k, name in enumerate("ABC", 1)}
    text = compare(
        values, read={"metric": "accuracy"}, resamples=200, method="montecarlo", test=["permutation", "bootstrap"]
    ).to_json()
    changes = list(digits(text))
    read = []
    for other in changes:
        with suppress(InputError):
            Report.from_json(other)
            read.append(json.loads(other))
    assert len(read) < 0.02 * len(changes)  # the 17th digit of a number may not matter
    assert all(other == json.loads(text) for other in read)


CHANGES = {
    "a p-value": lambda report: report["pairs"][0].update(p_value=0.25),
    "a note": lambda report: report["notes"].append("all is well"),
    "names": lambda report: report["pairs"][0].update(a=report["pairs"][0]["b"], b=report["pairs"][0]["a"]),
    "fewer pairs": lambda report: report["pairs"].pop(),
    "versions": lambda report: report["versions"].update(numpy="1"),
    "the checksum": lambda report: report.update(checksum="0" * 16),
    "no checksum": lambda report: report.update(checksum=7),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_report_that_was_changed_is_refused_until_its_checksum_is_left_out(name, tmp_path, capsys):
    report, path = json.loads(GOOD), tmp_path / "out.json"
    CHANGES[name](report)
    path.write_text(json.dumps(report))
    assert _run(["show", str(path)], debug=False) == 2
    assert capsys.readouterr().err == (
        f"sigjax: error: {path}: a number or a word has changed since the report was written, by its 'checksum'; "
        "compare anew, or leave out 'checksum' if you changed it on purpose\n"
    )
    del report["checksum"]
    path.write_text(json.dumps(report))
    assert _run(["show", str(path)], debug=False) == 0


@pytest.mark.parametrize("layout", [{"indent": 4}, {"separators": (",", ":")}, {"ensure_ascii": False}])
def test_other_lines_and_blanks_do_not_matter(layout):
    report = make_report(["数学\u202e", "b\x7f"])
    assert Report.from_json(json.dumps(json.loads(report.to_json()), **layout)) == report


def test_show_writes_what_compare_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = [
        "r.json",
        "r.txt",
        "r.md",
        "results.tex",
        "r.appendix.tex",
        "r.methods.tex",
        "r.csv",
        "r.systems.csv",
        "r.html",
    ]
    files = [word for name in names for word in ("-o", name)]
    assert _run(["demo", *files], debug=True) == 0
    (tmp_path / "again").mkdir()
    again = [word for name in names for word in ("-o", f"again/{name}")]
    assert _run(["show", "r.json", *again], debug=True) == 0
    for name in [*names, "r.methods.bib"]:
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    out, err = capsys.readouterr()
    assert (out, err.count("Written: r.json, r.txt,"), err.count("Written: again/r.json, ")) == ("", 1, 1)
    assert _run(["show", "r.json", "--format", "tex"], debug=True) == 0
    assert capsys.readouterr().out == (tmp_path / "results.tex").read_text()
    assert _run(["show", "r.json", "-o", "r.json"], debug=False) == 2
    assert "is read and would be written over" in capsys.readouterr().err
    assert _run(["show"], debug=False) == 2
    assert "expected a report, REPORT.json, or several of the same systems, got none" in capsys.readouterr().err


TABLE = "id\tA\tB\tC\n" + "".join(f"q{i}\t{i % 3}\t{i % 4}\t{i * i % 5}\n" for i in range(30))


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A report, written as JSON, and a function that verifies it after a change."""
    monkeypatch.chdir(tmp_path)
    Path("t.tsv").write_text(TABLE)
    options = ("--test", "permutation", "bootstrap", "--resamples", "500", "--method", "montecarlo")
    assert _run(["compare", "t.tsv", *options, "--device", "numpy", "-o", "r.json"], debug=True) == 0
    return Path("r.json")


def verified(capsys, *words):
    code = _run(["verify", *words, "--device", "numpy"], debug=False)
    return code, *capsys.readouterr()


def test_verify_runs_a_report_again(written, capsys):
    same = "r.json: the same data, and the same numbers to the last bit\n"
    assert verified(capsys, "r.json", "t.tsv") == (0, same, "")
    report = json.loads(written.read_text())
    report["pairs"][0]["standard_error"] *= 1 + 1e-12
    written.write_text(json.dumps(report))
    rounded = "r.json: the same data, and the same numbers up to rounding (1e-9)\n"
    assert verified(capsys, "r.json", "t.tsv") == (0, rounded, "")


def _scale(row, key, factor):
    row[key] *= factor


CHANGED = {
    "p": (
        lambda report: report["pairs"][1].update(p_value=0.01),
        "p_value of 'A' and 'C' by mean (permutation) is 0.01",
    ),
    "a digit": (lambda report: _scale(report["pairs"][0], "standard_error", 1 + 1e-8), "standard_error of "),
    "a digit beside 0": (lambda report: report["systems"][2].update(score=1e-10), "score of 'A' by mean is 1e-10"),
    "a limit": (lambda report: report["systems"][2]["interval"].__setitem__(1, 9.0), "interval of "),
    "a rank": (lambda report: report["systems"][0].update(letters="c"), "letters of 'C' by mean is c there and a here"),
    "the seed": (lambda report: report["settings"].update(seed=7), "the same data, but other numbers: "),
    "a pair": (lambda report: report["pairs"].pop(), "3 systems and 5 pairs there, 3 and 6 here"),
    "the data": (
        lambda report: report["settings"].update(data=report.pop("statistics") and "0" * 16),
        "other data: the report holds no scores of instances, so that ids, clusters and strata cannot be compared",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_verify_says_what_differs(written, capsys, name):
    change, message = CHANGED[name]
    report = json.loads(written.read_text())
    change(report)
    written.write_text(json.dumps(report))
    code, out, err = verified(capsys, "r.json", "t.tsv")
    assert (code, out.count("\n"), err) == (3, 1, "")
    assert message in out


def test_verify_notes_other_files(written, capsys):
    Path("t.tsv").write_text(TABLE.replace("q7\t1", "q7\t2"))
    said = "other data: numbers differ: 'A on q7 by mean: [1, 1]' only there and 'A on q7 by mean: [2, 1]' only here"
    assert verified(capsys, "r.json", "t.tsv")[:2] == (3, f"r.json: {said}\n")
    assert verified(capsys, "r.json")[0] == 2
    assert verified(capsys)[0] == 2
    assert verified(capsys, "t.tsv", "t.tsv")[2] == (
        "sigjax: error: t.tsv: not JSON; give a report that was written as JSON\n"
    )


def test_it_can_be_extended_with_the_data():
    evaluation = Evaluation.from_arrays({"A": [1, 1, 0, 1, 1, 0], "B": [0, 0, 1, 0, 1, 0]})
    options = {"device": "numpy", "progress": False, "method": "montecarlo"}
    old = Report.from_json(compare(evaluation, resamples=300, **options).to_json())
    assert compare(evaluation, resamples=500, extend=old, **options) == compare(evaluation, resamples=500, **options)
    with pytest.raises(InputError, match="this report has no data any more"):
        old.extend(500)


def test_json_has_the_headline_of_each_metric_and_task_which_is_made_anew_when_read():
    chance = np.random.default_rng(5)
    systems = {"A": 0.9, "B": 0.6, "C": 0.55}
    tasks = {
        task: Evaluation.from_arrays(
            {name: (chance.random(80) < rate).astype(int) for name, rate in systems.items()}, metric="accuracy"
        )
        for task in ("easy", "hard")
    }
    suite = compare(tasks, progress=False)
    values = {"A": [1] * 20, "B": [1, 0] * 10}
    pair = compare(values, read={"metric": "accuracy"}, progress=False)
    both = compare(tasks["easy"], test=["permutation", "bootstrap"], progress=False, resamples=200)
    for report in (suite, pair, both):
        written = json.loads(report.to_json())
        said = [(one["metric"], one["text"]) for one in written["headlines"]]
        assert said == [(section.metric, line) for section in blocks(report) for line in section.headlines]
        assert {metric for metric, _ in said} == {one.metric for one in report.systems}
        older = {key: value for key, value in written.items() if key not in ("headlines", "checksum")}
        for source in (written, older):
            read = Report.from_json(json.dumps(source))
            assert read == report
            assert read.to_json() == report.to_json()
        jsonschema.validate(written, Report.json_schema())
        jsonschema.validate(older, Report.json_schema())
    assert [one["metric"] for one in json.loads(suite.to_json())["headlines"]] == [
        "suite: accuracy",
        "easy: accuracy",
        "hard: accuracy",
    ]
    with pytest.raises(InputError, match="headlines, entry 1: has no 'text'"):
        Report.from_json(json.dumps(json.loads(pair.to_json()) | {"headlines": [{"metric": "accuracy"}]}))
