"""What changed between two reports, and the gate: verdicts by the limits, error rates at the margin, exit codes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from reports import make_report, without_intervals

from sigjax import Evaluation, InputError, compare, diff, equivalence_test
from sigjax.cli import _run
from sigjax.records import Interval
from sigjax.studies.diff import diff_text
from sigjax.testing.jackknife import tango_interval
from sigjax.testing.p_values import t_quantile

Z = 1.6448536269514722


def evaluation(metric="accuracy", **systems):
    return Evaluation.from_arrays(systems, metric=metric)


def report(metric="accuracy", **systems):
    return compare(evaluation(metric, **systems), device="numpy", progress=False, resamples=200)


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
    (one,) = diff(old, new, margin=0.1, level=0.975, only=["A"]).changes
    np.testing.assert_allclose(one.limits, [0.0524, 0.3339], atol=5e-5)
    (l1, u1), (l2, u2) = wilson(48, 80, Z), wilson(56, 70, Z)
    d = 56 / 70 - 48 / 80
    expected = d - np.hypot(56 / 70 - l2, u1 - 48 / 80), d + np.hypot(u2 - 56 / 70, 48 / 80 - l1)
    (one,) = diff(old, new, margin=0.1, only=["A"]).changes
    np.testing.assert_allclose(one.limits, expected, rtol=1e-12)
    assert (one.old, one.new, one.verdict) == (0.6, 0.8, "no worse")


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
        assert _run(["compare", *read, "-o", f"{name}.json", "--device", "numpy"], debug=True) == 0
        assert _run(["extract", *read, "-o", f"{name}.npz"], debug=True) == 0
    return tmp_path


def test_the_exit_code_is_the_verdict(runs, capsys):
    def code(*words):
        return _run(["diff", *words], debug=False)

    assert code("old.json", "bad.json") == 0  # nothing is tested without a margin
    assert code("old.json", "old.json", "--margin", "0.01") == 0
    assert code("old.json", "bad.json", "--margin", "0.05") == 3
    assert code("old.json", "new.json", "--margin", "0.05") == 4  # independent results vary too much
    assert "The paired test takes both evaluations" in capsys.readouterr().out.replace("\n", " ")
    assert code("old.npz", "new.npz", "--margin", "0.05") == 0
    assert code("old.npz", "bad.npz", "--margin", "0.05") == 3
    assert code("old.npz", "new.npz", "--margin", "0.02") == 4
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
    assert capsys.readouterr() == ("", "")
    assert _run(["diff", "old.json", "bad.json", "-o", "old.json"], debug=False) == 2
    assert _run(["diff", "old.json", "bad.json", "-o", "d.tex"], debug=False) == 2
    assert _run(["compare", "old.tsv", "-o", "c.github.md"], debug=False) == 2


def test_tasks_of_a_suite_have_limits_by_their_own_instances():
    """Once all tasks were judged as if each had the instances of the whole suite: limits were far too narrow."""
    sizes = {"arc": 40, "gsm": 400}
    tasks = {name: evaluation(A=answers(size // 2, size), B=answers(size // 4, size)) for name, size in sizes.items()}
    suite, *alone = (compare(given, progress=False, device="numpy") for given in (tasks, *tasks.values()))
    moved = {name: replace(each, stats=each.stats[::-1]) for name, each in tasks.items()}
    after, *others = (compare(given, progress=False, device="numpy") for given in (moved, *moved.values()))
    found = {(one.name, one.metric): one for one in diff(suite, after, margin=0.1).changes}
    level = 1 - 0.05 / 3  # six changes instead of two share the error probability
    for task, old, new in zip(tasks, alone, others, strict=True):
        for one, joint in zip(
            diff(old, new, margin=0.1).changes, diff(old, new, margin=0.1, level=level).changes, strict=True
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
        lines = diff_text(diff(old, new), width=width).splitlines()
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


def test_of_many_systems_all_must_be_no_worse_and_any_is_worse_with_5_percent_in_all():
    rng = np.random.default_rng(11)
    verdicts = []
    for _ in range(100):
        old = {f"{k}": rng.normal(size=30) for k in range(8)}
        new = {name: values - 0.5 + rng.normal(size=30) for name, values in old.items()}
        verdicts.append(diff(evaluation("mean", **old), evaluation("mean", **new), margin=0.5).verdict)
    assert rates(verdicts)["worse"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert rates(verdicts)["no worse"] <= 0.02
