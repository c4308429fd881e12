"""Reports of several commands as one: what one command of all metrics says."""

import json
import re

import numpy as np
import pytest

from sigjax import Evaluation, InputError, Report, compare
from sigjax.cli import _run

RNG = np.random.default_rng(8)
RIGHT = {name: (RNG.random(60) < p).astype(int).tolist() for name, p in (("A", 0.8), ("B", 0.6), ("C", 0.5))}
POINTS = {name: (RNG.normal(i, 2, 60).round(2)).tolist() for i, name in enumerate("CAB")}
HOW = {"device": "numpy", "progress": False, "resamples": 500}


def reports(**options):
    """One for each metric, and one of both."""
    right = Evaluation.from_arrays(RIGHT, metric="accuracy")
    points = Evaluation.from_arrays({name: POINTS[name] for name in RIGHT}, metric="mean")
    return [compare(each, **HOW, **options) for each in (right, points, [right, points])]


@pytest.mark.parametrize("options", [{}, {"baseline": "B"}, {"test": ["permutation", "bootstrap"]}])
def test_reports_together_are_the_report_of_all_metrics(options):
    right, points, both = reports(**options)
    joined = Report.together(right, points)
    assert joined.systems == both.systems
    assert list(joined) == list(both)
    assert (joined.num_instances, joined.lower_is_better) == (60, both.lower_is_better)
    assert set(joined.notes) == set(both.notes)
    assert joined.signature == f"{right.signature}; {points.signature}"

    def plain(text):
        return re.sub(r"^.*(signature|metric:).*$", "", text, flags=re.MULTILINE)

    for write in (Report.to_csv, Report.to_latex, Report.to_markdown, str):
        assert plain(write(joined)) == plain(write(both))
    assert joined.to_dataframe().equals(both.to_dataframe())


def test_what_does_not_belong_into_one_table_is_refused():
    right, points, both = reports()
    other = compare({**RIGHT, "D": RIGHT["A"]}, **HOW)
    shorter = compare({name: own[:50] for name, own in POINTS.items()}, **HOW)
    with pytest.raises(InputError, match="report 2: has accuracy, and so has report 1; expected .* different metrics"):
        Report.together(right, both)
    with pytest.raises(InputError, match="report 2: has 'D' besides, compared with report 1; .* the same systems"):
        Report.together(right, other)
    with pytest.raises(InputError, match="report 2: has 50 instances, and report 1 has 60; "):
        Report.together(right, shorter)
    with pytest.raises(InputError, match="report 2: baseline is 'B', and in report 1 'None'"):
        Report.together(right, reports(baseline="B")[1])
    with pytest.raises(InputError, match="report 2: correction is 'bh', and in report 1 'holm'"):
        Report.together(right, reports(correction="bh")[1])
    with pytest.raises(InputError, match="adjusted over all metrics of a report"):
        Report.together(*(reports(family="report")[:2]))
    with pytest.raises(InputError, match="expected one report or more"):
        Report.together()
    assert Report.together(points) == points


def test_show_makes_one_table_of_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, report in zip(("right", "points", "both"), reports(baseline="B"), strict=True):
        report.to_json(tmp_path / f"{name}.json")
    assert _run(["show", "right.json", "points.json", "-o", "table.tex", "-o", "table.csv", "-q"], debug=True) == 0
    assert _run(["show", "both.json", "-o", "one.tex", "-o", "one.csv", "-q"], debug=True) == 0
    assert (tmp_path / "table.csv").read_text() == (tmp_path / "one.csv").read_text()
    table, one = ((tmp_path / name).read_text() for name in ("table.tex", "one.tex"))
    body = [re.search(r"\\toprule.*\\bottomrule", text, re.DOTALL) for text in (table, one)]
    assert body[0] is not None
    assert body[1] is not None
    assert body[0][0] == body[1][0]
    capsys.readouterr()
    assert _run(["show", "right.json", "right.json"], debug=False) == 2
    assert "right.json: has accuracy, and so has right.json" in capsys.readouterr().err
    assert _run(["show", "right.json", "points.json", "-o", "x.json"], debug=False) == 2
    assert "keep theirs" in capsys.readouterr().err
    assert json.loads((tmp_path / "both.json").read_text())["settings"]["baseline"] == "B"


def test_the_methods_of_reports_together_name_each_seed_and_the_version_alone():
    right = compare(Evaluation.from_arrays(RIGHT, metric="accuracy"), **HOW, method="montecarlo", seed=1)
    points = compare(POINTS, **HOW | {"resamples": 700}, method="montecarlo", seed=9, interval="percentile")
    again = compare(Evaluation.from_arrays(RIGHT, metric="accuracy"), **HOW, interval="percentile", method="montecarlo")
    text = Report.together(right, compare(POINTS, **HOW | {"resamples": 700}, method="montecarlo", seed=9)).to_methods()
    assert "from 500 to 700 random permutations (seeds 1 and 9)" in text
    assert re.search(r"We used sigjax [\d.]+~\\cite", text)
    assert "(up to 700 resamples, seeds 12345 and 9)" in Report.together(again, points).to_methods()
    assert "(seed 1)" in right.to_methods()


def test_reports_of_other_instances_sides_or_strata_are_refused(tmp_path):
    def named(arrays, prefix="q"):
        return {name: {f"{prefix}{i}": number for i, number in enumerate(own)} for name, own in arrays.items()}

    right = compare(named(RIGHT), **HOW, read={"metric": "accuracy"})
    Report.together(right, compare(named(POINTS), **HOW))
    Report.together(right, compare(POINTS, **HOW))  # without ids: by position
    with pytest.raises(InputError, match="report 2: its instances have other ids .* only one of them has 'z0'"):
        Report.together(right, compare(named(POINTS, "z"), **HOW))
    up = HOW | {"alternative": "greater"}
    with pytest.raises(InputError, match="report 2: its one-sided tests are of 'C' minus 'A', and .* 'A' minus 'C'"):
        Report.together(compare(RIGHT, **up), compare(POINTS, **up, read={"metric": "median"}))
    strata = ["x", "y"] * 30
    layered = compare(Evaluation.from_arrays(POINTS, metric="mean", strata=strata), **HOW)
    with pytest.raises(InputError, match="report 2: strata is '2', and in report 1 'None'"):
        Report.together(compare(Evaluation.from_arrays(RIGHT, metric="accuracy"), **HOW), layered)
