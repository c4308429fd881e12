"""Boards of many systems: records from columns, text in pieces, problems computed once, estimates and refusals."""

import json
import logging
import math
import pickle
import sys
from dataclasses import fields, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import STRANGE, make_report, with_pair, without_intervals
from scipy.stats import binomtest

from sigjax import Comparison, Evaluation, InputError, compare
from sigjax.cli import _run
from sigjax.comparison import checks as workload_module
from sigjax.records import Comparisons, Interval, Settings
from sigjax.report import data as programs
from sigjax.report import data as tables
from sigjax.report.data import PAIR_KEYS, csv_pieces, json_pieces
from sigjax.report.html import to_html
from sigjax.report.markup import to_markdown
from sigjax.report.text import to_text
from sigjax.testing.problem import num_problems, ones_of


def two_valued(systems, instances, seed=0):
    """0/1 results of systems that are ever better."""
    rng = np.random.default_rng(seed)
    right = np.linspace(0.3, 0.9, systems)
    return {f"s{i}": (rng.random(instances) < right[i]).astype(int) for i in range(systems)}


def quick(evaluations, **options):
    return compare(evaluations, device="numpy", progress=False, **({"resamples": 300} | options))


ACCURACY = Evaluation.from_arrays(two_valued(5, 40), metric="accuracy")
MEAN = Evaluation.from_arrays(
    {name: np.random.default_rng(i).normal(size=40) for i, name in enumerate(ACCURACY.systems)}, metric="mean"
)
REPORTS = {
    "made by hand": make_report(list(STRANGE)),
    "without intervals": without_intervals(make_report(4)),
    "exact and sampled": with_pair(make_report(4), exceed=7, resamples=99, p_interval=Interval(0.1, 0.2)),
    "both tests": quick(ACCURACY, test=["permutation", "bootstrap"]),
    "two metrics": quick([ACCURACY, MEAN], method="montecarlo", family="report"),
    "baseline": quick(ACCURACY, baseline="s2", alternative="greater"),
    "auto": quick(ACCURACY, resamples="auto", method="montecarlo", interval="none"),
    "clusters": quick(Evaluation.from_arrays(two_valued(3, 40), metric="accuracy", clusters=np.arange(40) // 4)),
    "maxt": quick(ACCURACY, correction="maxt"),
}
EVERY_REPORT = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


@EVERY_REPORT
def test_columns_hold_the_records(report):
    """Records are read one by one, and columns are made of them once more."""
    records = list(report)
    again = Comparisons.of(records)
    assert all(isinstance(one, Comparison) for one in records)
    assert report.comparisons == again
    assert hash(report.comparisons) == hash(again)
    assert [report.comparisons[place] for place in range(-len(records), 0)] == records
    assert list(report.comparisons[1:3]) == records[1:3]
    assert records[0] in report.comparisons
    assert report.comparisons.index(records[-1]) == len(records) - 1
    assert pickle.loads(pickle.dumps(report.comparisons)) == again
    for field in fields(Comparison):
        values = [getattr(one, field.name) for one in records]
        assert again.values(field.name) == values
        assert {type(value) for value in report.comparisons.values(field.name)} == {type(value) for value in values}
    with pytest.raises(IndexError):
        report.comparisons[len(records)]


@EVERY_REPORT
def test_json_is_that_of_the_records_and_alike_in_pieces_of_any_size(report, monkeypatch):
    lines = [json.dumps({key: getattr(one, key) for key in PAIR_KEYS}, ensure_ascii=False) for one in report]
    text = report.to_json()
    written = report.to_json(keep_scores="never").splitlines()
    start = written.index('  "pairs": [') + 1
    assert written[start : start + len(lines) + 1] == [
        *(f"    {line}{'' if line is lines[-1] else ','}" for line in lines),
        "  ],",
    ]
    assert "".join(json_pieces(report)) == text
    monkeypatch.setattr(programs, "_BLOCK", 2)
    pieces = list(json_pieces(report))
    assert "".join(pieces) == text
    assert len(pieces) > math.ceil(len(lines) / 2)
    whole = report.to_csv()
    monkeypatch.setattr(tables, "_BLOCK", 2)
    assert "".join(csv_pieces(report)) == whole


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 10**6))
def test_problems_computed_once_have_the_p_values_of_sign_tests(systems, instances, seed):
    """The sign test of SciPy knows every pair by itself; equal systems and few instances have many equal problems."""
    scores = two_valued(systems, instances, seed)
    report = quick(Evaluation.from_arrays(scores, metric="accuracy"), interval="none", method="exact")
    for one in report:
        ahead, behind = ((scores[x] > scores[y]).sum() for x, y in ((one.a, one.b), (one.b, one.a)))
        expected = binomtest(ahead, ahead + behind).pvalue if ahead + behind else 1.0
        assert one.p_value == pytest.approx(expected, rel=1e-12), (one.a, one.b)
    stats = np.stack(list(scores.values()))
    if (ones := ones_of(stats[:, :, None])) is not None:
        keys = {((x > y).sum(), (y > x).sum()) for x, y in combinations(stats, 2)}
        assert num_problems(ones) == len(keys)


def test_more_pairs_than_the_memory_holds_are_refused_before_anything_is_made():
    evaluation = Evaluation.from_arrays(two_valued(300, 5), metric="accuracy")
    with pytest.raises(InputError) as refused:
        quick(evaluation, memory=0.01)
    assert str(refused.value) == (
        "44,850 pairs of 300 systems take about 0.02 GiB, more than the memory of 0.01 GiB; compare with one system "
        "(baseline), compare fewer (only), or give memory=0.02"
    )
    assert len(quick(evaluation, memory=0.01, baseline="s0", interval="none")) == 299
    stats = np.broadcast_to(np.array([[[1.0]], [[0.0]]] * 50_000), (100_000, 3, 1))
    many = replace(ACCURACY, systems=tuple(map(str, range(100_000))), stats=stats, ids=("x", "y", "z"))
    with pytest.raises(InputError, match=r"^4,999,950,000 pairs of 100,000 systems take about .* GiB, more than"):
        workload_module.check_workload([many], Settings(), warns=False)


def test_long_work_is_said_before_it_is_begun(monkeypatch, caplog, capsys, tmp_path):
    evaluation = Evaluation.from_arrays(two_valued(6, 20), metric="accuracy")
    with caplog.at_level(logging.WARNING, "sigjax"):
        compare(evaluation, resamples=100)
        assert caplog.messages == []
        monkeypatch.setattr(sys.modules["sigjax.comparison.checks"], "_WORTH_A_LINE", 0.0)
        compare(evaluation, resamples=100, progress=False)
        assert caplog.messages == []
        compare(evaluation, resamples=100)
    assert caplog.messages == ["15 pairs of 6 systems: about 0 min and 0.0 GiB"]
    path = tmp_path / "table.csv"
    path.write_text("id,A,B\n1,1,0\n2,0,1\n3,1,1\n")
    assert _run(["compare", str(path), "--format", "json"], debug=False) == 0
    out, _ = capsys.readouterr()
    assert len(json.loads(out)["pairs"]) == 1
    assert caplog.messages[1:] == ["1 pairs of 2 systems: about 0 min and 0.0 GiB"]


def test_formats_for_people_are_bounded_and_say_what_they_leave_out():
    """130 systems are 8,385 pairs, and 16,900 cells of a grid."""
    report = make_report(130, p_of=lambda i, j: 0.2, step=0.001)
    text, page, markdown = to_text(report, width=100, verbose=True), to_html(report), to_markdown(report)
    assert "The 8,385 pairs are left out here; --format csv or json gives them all." in text
    assert "The grid shows the first 60 of 130 systems; to_json() gives every pair." in page
    left_out = "The 8,385 pairs are left out here; --format csv or json gives them all."
    assert left_out in markdown
    assert f"% {left_out}" in report.to_latex(appendix=True)
    assert markdown.count("\n| ") == 2 + 130  # one table of systems, none of pairs
    assert page.count("<td") < 130 * 12 + 60 * 60 + 100
    assert len(text) < 40_000


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca", "none"])
@pytest.mark.parametrize("strata", [None, "abcd" * 15])
@pytest.mark.slow
def test_pairs_that_share_a_problem_have_what_they_have_alone(interval, strata):
    """Sixteen systems on ten units are 120 pairs of few problems."""
    scores = two_valued(16, 10, seed=3)
    scores = {name: np.tile(values, 6) for name, values in scores.items()}
    together = quick(
        Evaluation.from_arrays(scores, metric="accuracy", strata=strata), interval=interval, correction="none",
        test=["permutation", "bootstrap"], budget=1e9,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    for place in rng.integers(len(together), size=6).tolist():
        one = together.comparisons[place]
        pair = Evaluation.from_arrays({x: scores[x] for x in (one.a, one.b)}, metric="accuracy", strata=strata)
        alone = quick(pair, interval=interval, correction="none", test=["permutation", "bootstrap"], budget=1e9)
        own = next(each for each in alone if each.test == one.test)
        # Of a board one pair of which was sampled, all decisions are judged.
        assert one == replace(own, settings=one.settings, decided=one.decided)


def test_what_is_not_told_apart_by_counting_is_not_shared():
    """Three values, two statistics that differ, and a score that is not linear."""
    values = np.array([[0, 1, 2], [1, 1, 0]])
    assert ones_of(values[:, :, None]) is None
    assert ones_of(np.stack([values % 2, values % 2], axis=2)) is None
    assert ones_of((values % 2)[:, :, None]).tolist() == [[0, 1, 0], [1, 1, 0]]
    data = {f"s{i}": np.stack([row, np.full(12, 2)], 1) for i, row in enumerate(two_valued(4, 12).values())}
    bent = Evaluation.from_arrays(data, metric=lambda sums: (sums[..., 0] / sums[..., 1]) ** 2)
    linear = Evaluation.from_arrays(data, metric=lambda sums: sums[..., 0] / sums[..., 1])
    p_values = [[one.p_value for one in quick(each, interval="none")] for each in (bent, linear)]
    assert p_values[0] == pytest.approx(p_values[1], rel=1e-12)  # squares of means have the order of the means
