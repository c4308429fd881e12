"""Formats for programs and the figure: what goes in comes out."""

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace

import narwhals
import numpy as np
import pytest
from reports import NOTE, SIGNATURE, STRANGE, make_report, read_back, with_pair, without_intervals
from scipy import stats

from sigjax import Evaluation, compare, read, studies
from sigjax.metrics.suites import suite_of
from sigjax.records import InputError, Interval
from sigjax.report import Report
from sigjax.report.data import to_dataframe
from sigjax.report.words import count, p_interval_label


def test_json_holds_the_records_and_exactly_the_agreed_keys():
    report = with_pair(
        make_report(["数学", "b"], p_of=lambda i, j: 1 / 3),
        p_interval=Interval(0.33, 0.34),
        method="montecarlo",
        resamples=99_999,
        exceed=33_333,
    )
    text = report.to_json()
    loaded = json.loads(text)
    assert (
        " ".join(loaded) == "schema settings signature versions notes lower_is_better headlines systems pairs checksum"
    )
    assert loaded["schema"] == "sigjax/1"
    assert loaded["signature"] == SIGNATURE
    assert loaded["notes"] == [NOTE]
    assert loaded["settings"] == json.loads(json.dumps(report.settings_dict()))
    assert loaded["settings"]["seed"] == 12345
    assert loaded["systems"] == [
        {"name": one.name, "metric": one.metric, "score": one.score}
        | {"standard_error": 0.0092, "standard_error_unclustered": None}
        | {
            "interval": list(one.interval or ()),
            "interval_kind": None,
            "rank_interval": None,
            "letters": None,
            "rank_cluster": None,
            "in_top_group": None,
            "bootstrap_ranks": None,
        }
        for one in report.systems
    ]
    (pair,) = loaded["pairs"]
    assert set(pair) == {
        *("a", "b", "metric", "test", "delta", "p_value", "log10_p", "p_interval", "p_adjusted", "method", "reason"),
        *("error_bound", "resamples", "exceed", "decided", "resamples_needed", "standard_error", "interval"),
        *("standard_error_unclustered", "interval_kind", "joint_pairs", "log10_p_adjusted"),
    }
    for key, value in pair.items():
        expected = getattr(report.comparisons[0], key)
        assert value == (list(expected) if isinstance(expected, tuple) else expected), key
    assert "数学" in text


def test_csv_gives_names_and_numbers_back():
    changes = {"p_interval": Interval(0.1, 0.2), "error_bound": 0.5}
    report = with_pair(make_report(STRANGE, p_of=lambda i, j: 1 / 3), **changes)
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [(read_back(row["a"]), read_back(row["b"])) for row in rows] == [(one.a, one.b) for one in report]
    assert [float(row["p_value"]) for row in rows] == [1 / 3] * 21
    assert [float(row["interval_low"]) for row in rows] == [one.interval and one.interval.low for one in report]
    assert (rows[0]["p_interval_low"], rows[0]["p_interval_high"], rows[1]["p_interval_low"]) == ("0.1", "0.2", "")
    assert [row["error_bound"] for row in rows[:2]] == ["0.5", ""]
    for name in ("log10_p", "log10_p_adjusted"):
        assert float(rows[0][name]) == getattr(report.comparisons[0], name)


def cell(comparison, column):
    """What a table for programs has in a column."""
    name, _, end = column.rpartition("_")
    if end in ("low", "high"):
        interval = getattr(comparison, name)
        return None if interval is None else getattr(interval, end)
    return getattr(comparison, column)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_dataframes_of_all_libraries_hold_the_same(monkeypatch, library):
    pytest.importorskip(library)
    report = with_pair(without_intervals(make_report(5)), exceed=7, resamples=99)
    for name in ("pandas", "polars", "pyarrow"):
        if name != library:
            monkeypatch.setitem(sys.modules, name, None)
    frame = narwhals.from_native(report.to_dataframe(columns="all"), eager_only=True)
    assert frame.implementation.name.lower() == library
    assert type(to_dataframe(report, library)) is type(report.to_dataframe())
    for name in frame.columns:
        expected = [cell(one, name) for one in report]
        known = (~frame.get_column(name).is_null()).to_list()
        assert known == [value is not None for value in expected], name
        found = frame.get_column(name).to_list()
        assert [value for value, is_known in zip(found, known, strict=True) if is_known] == [
            value for value in expected if value is not None
        ]


@pytest.mark.parametrize("library", [None, "pandas", "polars", "pyarrow"])
def test_systems_as_a_table(library):
    one, *others = make_report(STRANGE).systems
    board = {
        "rank_interval": (1, 2),
        "letters": "ab",
        "rank_cluster": 1,
        "in_top_group": True,
        "bootstrap_ranks": (1, 3),
    }
    report = replace(make_report(STRANGE), systems=(replace(one, **board), *others))
    if library is None:
        rows = list(csv.DictReader(io.StringIO(report.to_csv(of="systems"))))
    else:
        rows = narwhals.from_native(report.to_dataframe(library, of="systems", columns="all"), eager_only=True).rows(
            named=True
        )
    names = [row["name"] if library else read_back(row["name"]) for row in rows]
    assert names == [system.name for system in report.systems]
    assert [float(row["score"]) for row in rows] == [system.score for system in report.systems]
    first = {name: rows[0][name] for name in ("rank_interval_high", "letters", "bootstrap_ranks_high")}
    assert [str(value) for value in first.values()] == ["2", "ab", "3"]
    assert str(rows[0]["in_top_group"]) == "True"
    missing = [row[name] for row in rows[1:] for name in ("rank_interval_low", "bootstrap_ranks_low", "in_top_group")]
    assert {str(value) for value in missing} <= {"", "None", "nan", "<NA>"}
    assert "standard_error_unclustered" not in rows[0]
    assert "bootstrap_ranks_low" not in make_report(2).to_dataframe(of="systems")
    usual = "a b metric score_a score_b delta interval_low interval_high p_value p_adjusted"
    assert sorted(make_report(2).to_dataframe()) == sorted(usual.split())
    with pytest.raises(InputError, match="columns: expected usual or all, got 'few'"):
        report.to_dataframe(columns="few")
    with pytest.raises(InputError, match="of must be one of pairs, systems, got 'units'"):
        report.to_csv(of="units")


@pytest.mark.parametrize(
    ("format_", "modules", "hint"),
    [
        (to_dataframe, ["pandas", "polars", "pyarrow"], "install pandas"),
        (lambda report: to_dataframe(report, "pandas"), ["pandas"], "of pandas needs pandas, which is not installed"),
        (lambda report: to_dataframe(report, "R"), [], "library: expected one of pandas, polars, pyarrow, got 'R'"),
        (Report.plot, ["matplotlib.figure"], "install matplotlib"),
    ],
)
def test_missing_extras_say_what_to_install(monkeypatch, format_, modules, hint):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=hint):
        format_(make_report(2))


def test_importing_the_formats_imports_nothing_heavy():
    code = (
        "import sys, sigjax.report; print(sorted({'rich', 'pandas', 'matplotlib', 'jax', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


QUICK = {"read": {"metric": "accuracy"}, "device": "numpy"}
THREE = {"A": [1, 1, 1, 1, 0, 1, 1, 1] * 3, "B": [0, 1, 0, 0, 1, 0, 0, 1] * 3, "C": [1, 0, 1, 0, 1, 0, 1, 0] * 3}


@pytest.mark.parametrize(
    ("options", "draws"),
    [
        ({}, False),
        ({"test": "bootstrap"}, False),
        ({"interval": "percentile"}, False),
        ({"method": "montecarlo", "resamples": 99}, True),
        ({"method": "montecarlo", "resamples": "auto"}, True),
        ({"correction": "maxt", "resamples": 99}, True),
        ({"leaderboard": True, "resamples": 99}, True),
        ({"interval": "bca"}, False),
        ({"interval": "studentized", "resamples": 99}, True),
    ],
)
def test_the_signature_names_resamples_and_seed_where_something_is_drawn(options, draws):
    """What no draw decides is the same by every seed, and so is its signature."""
    report, other = (compare(THREE, seed=seed, **QUICK, **options) for seed in (1, 2))
    words = dict(word.partition(":")[::2] for word in report.signature.split("|"))
    assert ("seed" in words, "n" in words) == (draws, draws)
    assert (report.signature == other.signature) is not draws
    if not draws:
        assert list(report) == [replace(pair, settings=report.settings) for pair in other]


def test_runs_are_said_as_instances_with_runs():
    ids, runs = [str(i // 5) for i in range(40)], [i % 5 for i in range(40)]
    numbers = {name: (own * 2)[:40] for name, own in THREE.items()}
    made = {"metric": "accuracy", "ids": ids, "runs": runs}
    report = compare(Evaluation.from_arrays(numbers, **made))
    assert "|units:8 instances|runs:5|" in report.signature
    assert (report.num_instances, report.runs, report.num_units) == (8, (5, 5), 8)
    first = "accuracy on 8 instances with 5 runs, 3 systems"
    assert first in str(report).splitlines()
    assert str(Report.from_json(report.to_json())) == str(report)
    assert report.to_methods().startswith("We compared all pairs of 3 systems by accuracy on 8 instances with 5 runs")
    assert "All runs of an instance were exchanged together." in report.to_methods()
    assert "on 8 instances with 5 runs" in report.to_html()
    for text in (str(report), report.to_methods(), report.to_markdown(), report.to_latex(), repr(report)):
        assert "40 instances" not in text
        assert "cluster" not in text
    clustered = compare(Evaluation.from_arrays(numbers, clusters=[str(i // 10) for i in range(40)], **made))
    assert "|units:4 clusters|instances:8|runs:5|" in clustered.signature
    assert "\naccuracy on 8 instances with 5 runs in 4 clusters, 3 systems\n" in str(clustered)
    ragged = {name: own[:38] for name, own in numbers.items()}
    last = compare(Evaluation.from_arrays(ragged, metric="accuracy", ids=ids[:38], runs=runs[:38]))
    assert "accuracy on 8 instances with up to 5 runs, 3 systems" in str(last).splitlines()
    assert ("|runs:3-5|" in last.signature, last.runs) == (True, (3, 5))


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("titled", [False, True])
def test_instances_and_runs_are_counted_alike_in_all_outputs(clustered, titled):
    """Of a log with epochs, too, which names its task: 90 questions with 5 epochs are never 450 instances."""
    ids, rng = [f"q{i // 5}" for i in range(450)], np.random.default_rng(0)
    clusters = [f"c{i // 30}" for i in range(450)] if clustered else None
    right = {name: (rng.random(450) < chance).astype(int) for name, chance in zip("ABC", (0.5, 0.6, 0.7), strict=True)}
    frame = {"metric": "accuracy", "ids": ids, "runs": [i % 5 for i in range(450)], "clusters": clusters}
    evaluation = replace(Evaluation.from_arrays(right, **frame), title="gpqa: choice" if titled else None)
    report, size = compare(evaluation), "90 instances with 5 runs"
    assert (report.num_instances, report.runs, report.num_units) == (90, (5, 5), 15 if clustered else 90)
    loaded = json.loads(report.to_json())
    assert [loaded["settings"][name] for name in ("instances", "runs")] == [90, [5, 5]]
    assert [(one["instances"], one["runs"]) for one in loaded.get("measured", ())] == [(90, [5, 5])] * titled
    again = Report.from_json(report.to_json())
    assert again == report
    texts = [str(report), report.to_methods(), report.to_html(), report.to_markdown(), report.to_latex(), repr(report)]
    quick = {"progress": False, "seed": 1}
    pair = {"read": {"only": ["A", "B"]}, "repetitions": 20, "resamples": 99} | quick
    mix = studies.power(evaluation, instances=[20], **pair)
    made = [mix, studies.audit(evaluation, **pair), studies.stopping(evaluation, orders=2, **quick)]
    assert [study.num_instances for study in made] == [90, 90, 90]
    texts += [str(study) for study in made]
    for text in texts:
        assert size in text
        assert "450 instances" not in text
    clusters_of = [f"in {count(15, 'cluster')}" in str(study) for study in made]
    assert clusters_of == [clustered] * 3
    (alone, *_) = studies.one_sample(evaluation, against=0.5, progress=False)
    whole = f"15 units of {size}" if clustered else "90 units of 450 runs"
    assert f"{alone.system!r}: {whole}, taken whole" in alone.notes


def test_a_suite_counts_the_instances_of_all_tasks_once():
    tasks = {"x": 3, "y": 1}
    made, rng = [], np.random.default_rng(1)
    for task, runs in tasks.items():
        ids = [f"{task}{i // runs}" for i in range(20 * runs)]
        right = {name: rng.integers(0, 2, len(ids)) for name in "AB"}
        labels = {"ids": ids, "runs": [i % runs for i in range(len(ids))], "clusters": [f"{one[:2]}" for one in ids]}
        made.append(Evaluation.from_arrays(right, metric="accuracy", **labels))
    report = compare(suite_of({"x": made[:1], "y": made[1:]}), progress=False)
    assert (report.num_instances, report.runs) == (40, (1, 3))
    assert [(one.instances, one.runs) for one in report.measured] == [(40, (1, 3)), (20, (3, 3)), (20, (1, 1))]
    for text in ("40 instances with up to 3 runs", "20 instances with 3 runs", "20 instances with 1 run"):
        assert text in report.to_markdown()
    assert report.to_methods().startswith(
        "We compared 2 systems by suite: accuracy, x: accuracy and y: accuracy on 40 inst"
    )


def test_what_is_left_out_of_runs_is_counted_in_runs(tmp_path):
    rows = [f"q{i},{run},{name},1" for i in range(4) for run in range(3) for name in "AB"]
    (tmp_path / "runs.csv").write_text("\n".join(["id,run,system,score", *rows[:-1]]))
    evaluation = read(tmp_path / "runs.csv", metric="mean", runs="run", missing="drop")
    report = compare(evaluation)
    assert "dropped 1 of 12 runs of instances that some system lacks" in report.notes
    assert "Of 12 runs of instances, 1 that some system lacks were left out." in report.to_methods()
    several = compare(read(tmp_path / "runs.csv", metric="mean", runs="run", missing="pairwise"))
    assert any("11 of 12 runs of instances" in note for note in several.notes)


def test_without_a_correction_p_stands_once():
    report = compare(THREE, correction="none", **QUICK)
    texts = [str(report), report.to_text(), report.to_markdown(), report.to_latex(appendix=True)]
    for text in [*texts, report._repr_html_()]:
        assert "adjusted p" not in text
    assert '"decides":"p"' in report.to_html()
    assert "| a | b | test | delta (a - b) | 95% interval, each pair alone | p | method |" in report.to_markdown()
    assert "| p | adjusted p | method |" in compare(THREE, **QUICK).to_markdown()


def test_the_interval_of_p_has_the_level_that_its_label_names():
    """That of resamples="auto" is for tests that stop by themselves; the bootstrap draws a number of resamples."""
    rng = np.random.default_rng(0)
    data = Evaluation.from_arrays({name: rng.normal(0.2 * k, 1.0, 40) for k, name in enumerate("AB")})
    settings = {"test": ["permutation", "bootstrap"], "method": "montecarlo", "interval": "none"}
    report = compare(data, **settings, resamples="auto", confidence_level=0.9)
    levels = {one.test: re.fullmatch(r"([\d.]+)% interval of p", p_interval_label(one))[1] for one in report}
    assert levels == {"permutation": "99.9", "bootstrap": "90"}
    one = report["A", "B", "bootstrap"]
    expected = stats.binomtest(one.exceed, one.resamples).proportion_ci(0.9, method="exact")
    assert one.p_interval == pytest.approx(tuple(expected), rel=1e-9)
