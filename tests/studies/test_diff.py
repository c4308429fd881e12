"""What changed between two reports, and the gate: verdicts by the limits, error rates at the margin, exit codes."""

import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from reports import make_report, without_intervals

from sigjax import Evaluation, InputError, Report, compare, diff, equivalence_test, read
from sigjax.cli import _run
from sigjax.guide import markdown
from sigjax.metrics import MEAN
from sigjax.records import Interval
from sigjax.testing.intervals import tango_interval
from sigjax.testing.special import t_quantile

Z = 1.6448536269514722


def evaluation(metric="accuracy", **systems):
    return Evaluation.from_arrays(systems, metric=metric)


def report(metric="accuracy", **systems):
    """A report as JSON without scores of instances gives it."""
    return replace(
        compare(evaluation(metric, **systems), device="numpy", progress=False, resamples=200), evaluations=()
    )


def answers(right, size=100):
    return [1] * right + [0] * (size - right)


def wilson(right, size, z):
    """Newcombe (1998), formula 3, written out."""
    p = right / size
    half = z * np.sqrt(p * (1 - p) / size + z * z / (4 * size * size))
    return [(p + z * z / (2 * size) + sign * half) / (1 + z * z / size) for sign in (-1, 1)]


def test_two_reports_of_answers_are_compared_by_newcombes_hybrid_score_interval():
    """Method 10 of Newcombe (1998), whose table II has 56/70 - 48/80 at 95%: [0.0524, 0.3339]."""
    old, new = (report(A=answers(right, size), B=answers(30, size)) for right, size in ((48, 80), (56, 70)))
    (one,) = diff(old, new, margin=0.1, confidence_level=0.975, only=["A"]).changes
    np.testing.assert_allclose(one.limits, [0.0524, 0.3339], atol=5e-5)
    (l1, u1), (l2, u2) = wilson(48, 80, Z), wilson(56, 70, Z)
    d = 56 / 70 - 48 / 80
    expected = d - np.hypot(56 / 70 - l2, u1 - 48 / 80), d + np.hypot(u2 - 56 / 70, 48 / 80 - l1)
    (one,) = diff(old, new, margin=0.1, only=["A"]).changes
    np.testing.assert_allclose(one.limits, expected, rtol=1e-12)
    assert (one.old, one.new, one.verdict) == (0.6, 0.8, "no worse")


@pytest.mark.slow
def test_limits_of_means_are_those_of_independent_results_and_of_the_paired_test():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=40), rng.normal(size=40)
    noise = 0.1 * rng.normal(size=20)
    # Symmetric differences: skewed ones would move a limit outwards.
    old, new = ({"A": a, "B": b}, {"A": a + 0.01 + np.concatenate([noise, -noise]), "B": b})
    reports = [replace_intervals(report("mean", **side), 39) for side in (old, new)]
    (one,) = [each for each in diff(*reports, margin=1.0).changes if each.name == "A"]
    errors = [np.std(side["A"], ddof=1) / np.sqrt(40) for side in (old, new)]
    quantiles = [t_quantile(1 - 2 * tail, 39) for tail in (0.05, 0.025)]
    d = np.mean(new["A"]) - np.mean(old["A"])
    wider = t_quantile(0.95, 39) * Z / 1.959963984540054  # the interval narrowed as a normal one is, not as one by t
    expected = [d - wider * np.hypot(*errors), d + quantiles[1] * np.hypot(*errors)]
    np.testing.assert_allclose(one.limits, expected, rtol=1e-9)
    (one, same) = diff(evaluation("mean", **old), evaluation("mean", **new), margin=1.0).changes
    error = np.std(new["A"] - old["A"], ddof=1) / np.sqrt(40)
    np.testing.assert_allclose(one.limits, [d - quantiles[0] * error, d + quantiles[1] * error], rtol=1e-9)
    assert (same.limits, same.verdict) == (Interval(0.0, 0.0), "no worse")
    assert one.limits.low == equivalence_test(new["A"], old["A"], margin=1.0).interval.low


def replace_intervals(report, degrees):
    """Symmetric intervals by t in place of those corrected for skewness."""
    half = t_quantile(0.95, degrees)
    systems = (
        replace(one, interval=Interval(one.score - half * one.standard_error, one.score + half * one.standard_error))
        for one in report.systems
    )
    return replace(report, systems=tuple(systems))


def rates(verdicts):
    return {name: np.mean([each == name for each in verdicts]) for name in ("no worse", "worse", "cannot tell")}


def drawn(rng, shared, old, new, size):
    """Answers before and after, which agree beyond chance on a share of the instances."""
    together = rng.random(size) < shared
    u, v = rng.random((2, size))
    return (u < old).astype(int), (np.where(together, u, v) < new).astype(int)


@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize("paired", [False, True])
def test_at_the_margin_a_worse_system_passes_and_a_good_one_fails_with_5_percent_at_most(shared, paired):
    """3,000 draws whose new system is worse by just the margin, of a score near 1, where Wald's limits fail."""
    rng, size, margin = np.random.default_rng(7), 200, 0.1
    results = np.array([drawn(rng, shared, 0.95, 0.85, size) for _ in range(3000)])
    old, new = results[:, 0].sum(axis=1), results[:, 1].sum(axis=1)
    if paired:
        only_new, only_old = (results[:, 1] > results[:, 0]).sum(axis=1), (results[:, 0] > results[:, 1]).sum(axis=1)
        low, high = tango_interval(only_new, only_old, size, 0.9)
    else:
        of_old, of_new = (np.array(wilson(right, size, Z)) for right in (old, new))
        low = (new - old) / size - np.hypot(new / size - of_new[0], of_old[1] - old / size)
        high = (new - old) / size + np.hypot(of_new[1] - new / size, old / size - of_old[0])
    verdicts = np.where(low > -margin, "no worse", np.where(high < -margin, "worse", "cannot tell"))
    for kind in ("no worse", "worse"):
        assert (verdicts == kind).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(results))
    if not paired and shared:
        assert (verdicts == "no worse").mean() < 0.03  # conservative
    side = evaluation if paired else report  # and these are the verdicts of `diff`
    for one, verdict in list(zip(results, verdicts, strict=True))[:10]:
        sides = [side(A=each, B=answers(60, size)) for each in one]
        assert diff(*sides, margin=margin, only=["A"]).verdict == verdict


def test_what_cannot_be_told():
    old, new = make_report(3), make_report(3, step=0.02, data="other")
    assert diff(without_intervals(old), new, margin=0.5).verdict == "cannot tell"
    assert diff(old, new, margin=0.5).verdict == "no worse"
    gone = replace(new, systems=new.systems[:2], comparisons=tuple(new.comparisons)[:1])
    result = diff(old, gone, margin=0.5)
    assert (result.verdict, result.removed) == ("cannot tell", (("system-3", "accuracy"),))
    assert "system-3 has no new score; all others are no worse" in str(result)
    assert diff(old, gone, margin=0.5, only=["system-1"]).verdict == "no worse"
    assert diff(gone, old, margin=0.5).added == result.removed
    constant = evaluation("mean", A=[1.0] * 9, B=[2.0] * 9), evaluation("mean", A=[0.9] * 9, B=[2.0] * 9)
    assert [one.verdict for one in diff(*constant, margin=0.5).changes] == ["cannot tell", "no worse"]


def test_instances_are_joined_by_id():
    ids = [f"q{i}" for i in range(30)]
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, 30))
    old = Evaluation.from_arrays({"A": a, "B": b}, metric="accuracy", ids=ids)
    new = Evaluation.from_arrays({"B": b[::-1], "A": a[::-1]}, metric="accuracy", ids=ids[::-1])
    assert diff(old, new, margin=0.01).same_data
    other = Evaluation.from_arrays({"A": a, "B": b}, metric="accuracy", ids=[*ids[:-1], "q99"])
    with pytest.raises(InputError, match=r"1 of 30 instances are only on the old side \(the first is 'q29'\)"):
        diff(old, other, margin=0.01)
    for labels in ("clusters", "strata"):
        with pytest.raises(InputError, match=f"the {labels} of the instances differ"):
            diff(old, replace(old, **{labels: tuple(ids)}), margin=0.01)
    with pytest.raises(InputError, match="other statistics on both sides"):
        diff(old, replace(old, metric=replace(old.metric, stat_names=("x", "y"))), margin=0.01)


def test_a_chosen_metric_is_the_only_one_that_is_compared():
    results = {"A": answers(36, 40), "B": answers(4, 40)}
    old, new = (
        compare([evaluation(name, A=a, B=b) for name in ("accuracy", "mean")], progress=False, device="numpy")
        for a, b in (results.values(), list(results.values())[::-1])
    )
    top = (("A",), ("B",))
    assert diff(old, new).top_groups == {"accuracy": top, "mean": top}
    chosen = diff(old, new, metric=["mean"])
    assert (chosen.top_groups, {one.metric for one in chosen.changes}) == ({"mean": top}, {"mean"})
    assert diff(old, new, metric=["Accuracy_Score"]).top_groups == {"accuracy": top}
    by_alias = diff(*(each.evaluations for each in (old, new)), metric=["accuracy_score"], margin=0.1)
    assert {one.metric for one in by_alias.changes} == {"accuracy"}
    # The system has no score by the metric: once nothing was compared, and the gate passed.
    kept = (("A", "accuracy"), ("B", "mean"))
    sides = (
        replace(each, evaluations=(), systems=tuple(one for one in each.systems if (one.name, one.metric) in kept))
        for each in (old, new)
    )
    with pytest.raises(InputError, match="no system with a score by the same metric is on both sides"):
        diff(*sides, only=["A"], metric=["mean"], margin=0.1)


REFUSED = {
    "two kinds": ((make_report(2), evaluation(A=[1, 0], B=[0, 1])), {}, "give two reports, or two evaluations"),
    "neither": ((make_report(2), 3), {}, "new must be a Report, an Evaluation, or the path of one"),
    "other systems": ((make_report(2), make_report(["x", "y"])), {}, "no system with a score by the same metric"),
    "no such system": ((make_report(2),) * 2, {"only": ["z"]}, "no system 'z' on both sides; those on both are"),
    "no such metric": ((make_report(2),) * 2, {"metric": ["bleu"]}, "no metric 'bleu' on both sides"),
    "margin of 0": ((make_report(2),) * 2, {"margin": 0}, "margin must be a number above 0, got 0"),
    "direction": (
        (make_report(2), replace(make_report(2), lower_is_better=("accuracy",))),
        {},
        "lower scores by accuracy are better on one side only",
    ),
}


@pytest.mark.parametrize(("sides", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(sides, options, message):
    with pytest.raises(InputError, match=message):
        diff(*sides, **options)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Results of two versions, as tables, reports and saved statistics."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    b = (rng.random(300) < 0.7).astype(int)
    for name, flipped in (("old", 0), ("new", 9), ("bad", 90)):
        a = b.copy()
        a[:flipped] = 0
        lines = [f"q{i}\t{x}\t{y}" for i, (x, y) in enumerate(zip(a, b[::-1], strict=True))]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["id\tA\tB", *lines]) + "\n")
        read = [f"{name}.tsv", "-m", "accuracy"]
        assert _run(["compare", *read, "-o", f"{name}.json", "--device", "numpy", "-q"], debug=True) == 0
        bare = ["-o", f"{name}.bare.json", "--keep-scores", "never", "-q"]
        assert _run(["show", f"{name}.json", *bare], debug=True) == 0
        assert _run(["extract", *read, "-o", f"{name}.npz"], debug=True) == 0
    return tmp_path


def test_the_exit_code_is_the_verdict(runs, capsys):
    def code(*words):
        return _run(["diff", *words], debug=False)

    assert code("old.json", "bad.json") == 0  # nothing is tested without a margin
    assert code("old.json", "old.json", "--margin", "0.01") == 0
    assert code("old.json", "bad.json", "--margin", "0.05") == 3
    assert code("old.bare.json", "new.json", "--margin", "0.05") == 4  # independent results vary too much
    said = "Not paired: the old report holds no scores of instances; write it anew with --keep-scores always"
    assert said in " ".join(capsys.readouterr().out.split())
    for ending in ("json", "npz"):
        assert code(f"old.{ending}", f"new.{ending}", "--margin", "0.05") == 0
        assert code(f"old.{ending}", f"bad.{ending}", "--margin", "0.05") == 3
        assert code(f"old.{ending}", f"new.{ending}", "--margin", "0.02") == 4
    assert capsys.readouterr().err == ""
    assert code("old.json") == code("old.json", "new.npz") == code("old.json", "old.tsv") == 2
    assert [line[:15] for line in capsys.readouterr().err.splitlines()] == ["sigjax: error: "] * 3


def test_every_format_is_written(runs, capsys):
    files = [word for name in ("d.json", "d.txt", "d.md", "d.github.md") for word in ("-o", name)]
    assert _run(["diff", "old.json", "bad.json", "--margin", "0.05", *files], debug=True) == 3
    result = diff("old.json", "bad.json", margin=0.05)
    for name, text in (("json", result.to_json()), ("md", result.to_markdown()), ("github.md", result.to_github())):
        assert (runs / f"d.{name}").read_text() == text
    assert (runs / "d.txt").read_text() == str(result)
    assert [one["verdict"] for one in json.loads(result.to_json())["changes"] if one["name"] == "A"] == ["worse"]
    comment = result.to_github()
    assert comment.startswith("> [!CAUTION]\n> **Worse: A by more than 0.05 (95% confidence).**\n\n| system |")
    assert comment.count("<details>") == comment.count("</details>") == 1
    said = "Worse: A by more than 0.05 (95% confidence).\nWritten: d.json, d.txt, d.md, d.github.md\n"
    assert capsys.readouterr() == ("", said)
    assert _run(["diff", "old.json", "bad.json", "-o", "old.json"], debug=False) == 2
    assert _run(["diff", "old.json", "bad.json", "-o", "d.bib"], debug=False) == 2


def test_tasks_of_a_suite_have_limits_by_their_own_instances():
    """Once all tasks were judged as if each had the instances of the whole suite: limits were far too narrow."""
    sizes = {"arc": 40, "gsm": 400}
    tasks = {name: evaluation(A=answers(size // 2, size), B=answers(size // 4, size)) for name, size in sizes.items()}
    suite, *alone = (
        replace(compare(given, progress=False, device="numpy"), evaluations=()) for given in (tasks, *tasks.values())
    )
    moved = {name: replace(each, stats=each.stats[::-1]) for name, each in tasks.items()}
    after, *others = (
        replace(compare(given, progress=False, device="numpy"), evaluations=()) for given in (moved, *moved.values())
    )
    found = {(one.name, one.metric): one for one in diff(suite, after, margin=0.1).changes}
    level = 1 - 0.05 / 3  # six changes instead of two share the error probability
    for task, old, new in zip(tasks, alone, others, strict=True):
        for one, joint in zip(
            diff(old, new, margin=0.1).changes, diff(old, new, margin=0.1, confidence_level=level).changes, strict=True
        ):
            limits = found[one.name, f"{task}: accuracy"].limits
            np.testing.assert_allclose(limits, (one.limits.low, joint.limits.high), rtol=1e-9)


def test_the_decisions_fit_a_terminal():
    sides = [
        {f"organisation/model-{name}-instruct": answers(n) for name, n in zip("ABC", right, strict=True)}
        for right in ((90, 45, 40), (90, 85, 40))
    ]
    old, new = (
        compare({f"task_{i}": evaluation(**side) for i in range(2)}, device="numpy", progress=False) for side in sides
    )
    for width, numbers in ((120, 2), (80, 2), (60, 0)):
        lines = diff(old, new).to_text(width=width).splitlines()
        (head,) = [line for line in lines if line.startswith("a  ")]
        assert "Decisions that changed, 4 of 9 pairs:" in lines
        assert max(map(len, lines)) <= width
        assert head.count(" p") == numbers


def test_an_interval_that_ends_at_a_bound_of_the_metric_does_not_shrink():
    """Without the bound it would end farther away, and so would that of the lower level."""
    sides = []
    for score, interval in ((0.9, Interval(0.7, 1.0)), (0.95, Interval(0.75, 1.0))):
        one = report("mean", A=np.full(40, score) + np.tile([0.01, -0.01], 20), B=np.arange(40.0))
        first = next(each for each in one.systems if each.name == "A")
        sides.append(replace(one, systems=(replace(first, interval=interval),)))
    (one,) = diff(*sides, margin=1.0).changes
    shorter = Z / 1.959963984540054
    expected = [0.05 - np.hypot(0.2 * shorter, 0.1), 0.05 + np.hypot(0.05, 0.2 * shorter)]
    np.testing.assert_allclose(one.limits, expected, rtol=1e-9)


@pytest.mark.slow
def test_of_many_systems_all_must_be_no_worse_and_any_is_worse_with_5_percent_in_all():
    rng = np.random.default_rng(11)
    verdicts = []
    for _ in range(60):
        old = {f"{k}": rng.normal(size=30) for k in range(8)}
        new = {name: values - 0.5 + rng.normal(size=30) for name, values in old.items()}
        verdicts.append(diff(evaluation("mean", **old), evaluation("mean", **new), margin=0.5).verdict)
    assert rates(verdicts)["worse"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    assert rates(verdicts)["no worse"] <= 0.02


@pytest.fixture(scope="module")
def boards(tmp_path_factory, data):
    """The board of SWE-bench: as it is, with a system that lost 33 of its 500 answers, and with others reshuffled."""
    folder = tmp_path_factory.mktemp("gate")
    with gzip.open(data / "swebench_bashonly/resolved.tsv.gz", "rt") as file:
        header, *rows = [line.rstrip("\n").split("\t") for line in file]
    lost = [index for index, row in enumerate(rows) if row[4] == "1"][:33]
    worse = [[*row[:4], "0", *row[5:]] if index in lost else row for index, row in enumerate(rows)]
    for name, of_side in (("main", rows), ("worse", worse), ("shuffled", rows[::-1])):
        (folder / f"{name}.tsv").write_text("\n".join("\t".join(row) for row in (header, *of_side)) + "\n")
        assert (
            _run(["compare", f"{folder}/{name}.tsv", "-m", "accuracy", "-o", f"{folder}/{name}.json", "-q"], debug=True)
            == 0
        )
    return folder


@pytest.mark.slow
def test_the_step_of_github_actions_runs_as_it_stands(boards, tmp_path):
    """The shell part of `sigjax help regressions`, as GitHub runs it: bash -e."""
    step = markdown("regressions").partition("- run: |\n")[2].partition("```")[0]
    program = tmp_path / "sigjax"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m sigjax "$@"\n')
    program.chmod(0o755)
    shutil.copy(boards / "main.json", tmp_path)
    for name, code, said in (
        ("worse", 3, "**Worse: mini-v1.0.0"),
        ("shuffled", 0, "**No worse: all results are the same"),
    ):
        shutil.copy(boards / f"{name}.tsv", tmp_path / "scores.tsv")
        summary = tmp_path / f"{name}.md"
        more = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}
        run = subprocess.run(
            ["bash", "-e", "-c", step], cwd=tmp_path, env=os.environ | more, capture_output=True, text=True
        )
        assert run.returncode == code, run.stderr
        assert said in summary.read_text()
        assert "Unchanged on every instance: 2" in summary.read_text()


def test_a_loss_of_33_answers_is_found_and_all_others_are_unchanged_in_one_line(boards):
    found = diff(boards / "main.json", boards / "worse.json", margin=0.03)
    assert (found.verdict, found.paired, [one.unchanged for one in found.changes].count(True)) == ("worse", True, 24)
    (lost,) = [one for one in found.changes if not one.unchanged]
    assert round(lost.change, 9) == -0.066
    assert [line for line in str(found).splitlines() if line.startswith("Unchanged")] == [
        "Unchanged on every instance: 24 systems."
    ]
    sides = [read(f"{boards}/{name}.tsv", metric="accuracy") for name in ("main", "worse")]
    assert diff(*sides, margin=0.03).changes == found.changes
    # Straight from the raw data: old and new results as two systems of one evaluation.
    new, old = (side.stats[side.systems.index(lost.name), :, 0] for side in sides[::-1])
    each, together = (
        equivalence_test(new, old, margin=0.03, metric="accuracy", confidence_level=1 - tail).interval
        for tail in (0.05, 0.05 / 25)
    )
    assert lost.limits == Interval(each.low, together.high)
    union = compare({"new": new, "old": old}, read={"metric": "accuracy"}, confidence_level=0.9)
    assert union[0].interval.low == pytest.approx(each.low, abs=1e-12)


@pytest.mark.parametrize("size", [3, 6, 9])
@pytest.mark.slow
def test_verdicts_from_json_are_those_of_score_tests_by_brute_force(size):
    """Every table of answers won and lost: Tango's score test, its likelihood maximized on a grid."""
    margin, z = 0.3, NormalDist().inv_cdf(0.95)

    def statistic(won, lost, delta):
        """(won - lost - n delta) / sd under the likeliest q = P(lost) for P(won) = q + delta."""
        q = np.linspace(max(0.0, -delta), (1.0 - delta) / 2.0, 200_001)[1:-1]
        with np.errstate(divide="ignore"):
            fit = won * np.log(q + delta) + lost * np.log(q) + (size - won - lost) * np.log1p(-2.0 * q - delta)
        best = q[np.argmax(fit)]
        return (won - lost - size * delta) / np.sqrt(size * (2.0 * best + delta - delta**2))

    for won, lost in itertools.product(range(size + 1), repeat=2):
        if won + lost > size or won + lost == 0:
            continue
        old = [0] * won + [1] * lost + [1] * (size - won - lost)
        new = [1] * won + [0] * lost + [1] * (size - won - lost)
        sides = [
            Report.from_json(compare(evaluation(A=one, B=[0, *[1] * (size - 1)]), progress=False).to_json())
            for one in (old, new)
        ]
        found = diff(*sides, margin=margin, only=["A"])
        least = statistic(won, lost, -margin)
        if abs(abs(least) - z) > 1e-3:
            assert found.verdict == ("no worse" if least > z else "worse" if least < -z else "cannot tell")


def test_why_results_are_not_paired():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, (2, 30))
    ids = [f"q{i}" for i in range(30)]
    made = {
        "old": Evaluation.from_arrays({"A": a, "B": b}, metric="accuracy", ids=ids),
        "others": Evaluation.from_arrays({"A": 1 - a, "B": b}, metric="accuracy", ids=[*ids[:-1], "q99"]),
        "fewer": Evaluation.from_arrays({"A": a[:9], "B": b[:9]}, metric="accuracy"),
        **{
            labels: Evaluation.from_arrays({"A": 1 - a, "B": b}, metric="accuracy", ids=ids, **{labels: ids[:15] * 2})
            for labels in ("clusters", "strata")
        },
    }
    reports = {name: Report.from_json(compare(each, progress=False).to_json()) for name, each in made.items()}
    reasons = {
        "others": "1 of 30 instances are only on the old side",
        "fewer": "30 of 30 instances are only on the old side",
        "clusters": "the clusters of the instances differ",
        "strata": "the strata of the instances differ",
    }
    for name, reason in reasons.items():
        found = diff(reports["old"], reports[name], margin=0.1)
        assert (found.paired, found.unpaired_reason.startswith(reason)) == (False, True)
        assert "Not paired: " in str(found)


def test_scores_are_kept_where_they_are_few_and_come_back_to_the_last_bit():
    rng = np.random.default_rng(4)
    small = {"counts": rng.integers(0, 300, (2, 20)), "reals": rng.normal(size=(2, 20))}
    for values in small.values():
        made = compare({"A": values[0], "B": values[1]}, progress=False)
        (kept,) = Report.from_json(made.to_json()).evaluations
        assert kept == made.evaluations[0]
        assert Report.from_json(made.to_json()).to_json() == made.to_json()
        assert Report.from_json(made.to_json(keep_scores="never")).evaluations == ()
        assert made.to_json(keep_scores="never") != made.to_json() == made.to_json(keep_scores="always")
    large = compare({"A": rng.normal(size=50_000), "B": rng.normal(size=50_000)}, progress=False)
    assert "statistics" not in json.loads(large.to_json())
    assert Report.from_json(large.to_json(keep_scores="always")).evaluations == large.evaluations
    with pytest.raises(InputError, match="keep_scores must be one of auto, always, never, got 'yes'"):
        large.to_json(keep_scores="yes")
    ratio = compare(
        {"A": rng.random((9, 2)), "B": rng.random((9, 2))}, read={"metric": lambda s: s[..., 0] / s[..., 1]}
    )
    assert "statistics" not in json.loads(ratio.to_json())
    tasks = {
        name: evaluation(A=rng.integers(0, 2, size), B=rng.integers(0, 2, size))
        for name, size in zip("ab", (8, 9), strict=True)
    }
    suite = compare(tasks, progress=False)
    assert Report.from_json(suite.to_json()).evaluations == suite.evaluations
    changed = json.loads(suite.to_json())
    changed["statistics"][0]["systems"]["A"] = changed["statistics"][0]["systems"]["B"]
    with pytest.raises(InputError, match="'statistics': are not those of this report"):
        Report.from_json(json.dumps(changed))


@pytest.mark.parametrize("lower", [False, True])
def test_a_loss_that_is_sure_and_of_which_only_the_size_is_open_is_called_worse(lower):
    """Of 1,000 answers, 40 are lost and 10 won: limits of about [-.045, -.015], which hold 0.03 and not 0."""
    old, new = [1] * 40 + [0] * 10 + [1] * 950, [0] * 40 + [1] * 10 + [1] * 950
    same = [1, 0] * 500
    sides = [evaluation("mean", A=each, B=same) for each in (old, new)]
    if lower:
        sides = [
            replace(evaluation("mean", A=[1 - x for x in each], B=same), metric=replace(MEAN, higher_is_better=False))
            for each in (old, new)
        ]
    found = diff(*sides, margin=0.03)
    one = found.changes[0]
    assert (found.verdict, one.verdict) == ("cannot tell", "cannot tell")
    low, high = sorted((-one.limits.low, -one.limits.high)) if lower else one.limits  # pyright: ignore
    assert low < -0.03 < high < 0
    for text in (str(found), found.to_markdown(), found.to_github(), found.to_html()):
        assert "worse, by 0.03 or less?" in text
        assert "Worse by some amount: A." in " ".join(text.split())
    assert json.loads(found.to_json())["verdict"] == "cannot tell"
    wide = diff(*(evaluation(A=answers(right, 20), B=same[:20]) for right in (11, 10)), margin=0.03)
    assert wide.verdict == "cannot tell"
    assert "or less?" not in str(wide)


def test_one_comment_has_one_name_of_a_metric():
    metric = "gsm8k: exact_match"
    sides = [{"A": answers(right), "B": answers(50), "C": answers(c)} for right, c in ((90, 50), (30, 51))]
    named = [replace(evaluation("mean", **side), metric=replace(MEAN, name=metric)) for side in sides]
    old, new = (compare(each, progress=False, resamples=200) for each in named)
    gone = compare(
        replace(Evaluation.from_arrays(sides[1] | {"D": answers(3)}), metric=named[0].metric), progress=False
    )
    for result in (diff(old, new, margin=0.05), diff(old, gone, margin=0.05), diff(old, new)):
        for text in (result.to_github(), str(result), result.to_markdown()):
            assert "gsm8k: EM" in text
            assert "exact_match" not in text.replace("\\_", "_")


@pytest.mark.parametrize("score", [1.5, -0.5, 1e308, -1e308])
def test_scores_that_no_interval_fits_are_refused(score):
    """A share beyond 1 has no interval of Wilson; the limits of scores of 1e308 are beyond doubles."""
    made = compare({"A": [1, 0, 1, 1, 0], "B": [0, 1, 0, 1, 0]}, read={"metric": "accuracy"}, progress=False)
    report = json.loads(made.to_json(keep_scores="never"))
    del report["checksum"]
    report["systems"][0 if score > 0 else 1]["score"] = score
    with pytest.raises(InputError, match=r"systems, entry [12]: 'interval_kind' is 'wilson', of scores from 0 to 1"):
        Report.from_json(json.dumps(report))
    for system in report["systems"]:
        system |= {"interval_kind": "hall-t", "interval": [-1e308, 1e308]}
    changed = Report.from_json(json.dumps(report))
    if abs(score) > 2:
        with pytest.raises(InputError, match="are too large for limits; rescale them"):
            diff(changed, made, margin=0.1)
    else:
        assert "nan" not in diff(changed, made, margin=0.1).to_json().lower()
