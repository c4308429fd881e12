"""Several tasks in one report, and the suite score: oracles are statsmodels, SciPy's enumeration, and brute force."""

import json
from dataclasses import replace

import logs
import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.weightstats import DescrStatsW

from sigjax import Evaluation, InputError, Report, compare, read
from sigjax.cli import main
from sigjax.formats import read_data
from sigjax.metrics import MEAN
from sigjax.metrics.suites import suite_of
from sigjax.records.metric import Note
from sigjax.resample.units import make_units
from sigjax.testing.jackknife import degrees_of_freedom

RNG = np.random.default_rng(7)
FILE = "samples_{}_2026-01-21T03-44-18.458309.jsonl"


def right(count, *shares):
    """Answers of systems "A", "B", ... that are right with these probabilities."""
    return {name: (RNG.random(count) < share).astype(int) for name, share in zip("ABC", shares, strict=False)}


ARRAYS = {"arc": right(40, 0.8, 0.6), "gsm8k": right(25, 0.5, 0.4), "mmlu": right(70, 0.6, 0.5)}


def evaluations(arrays, metric="accuracy", **options):
    return {task: Evaluation.from_arrays(own, metric=metric, **options) for task, own in arrays.items()}


def quick(data, **options):
    return compare(data, device="numpy", progress=False, **options)


@pytest.mark.parametrize("shift", [0, 0.25])  # whole numbers, and reals
def test_the_suite_score_and_its_error_are_those_of_a_stratified_mean(shift):
    arrays = {task: {name: values + shift for name, values in own.items()} for task, own in ARRAYS.items()}
    report = quick(evaluations(arrays, "mean"), resamples=4000)
    suite = {one.name: one for one in report.systems if one.metric == "suite: mean"}
    of_deltas = [DescrStatsW(own["A"] - own["B"]).std_mean for own in arrays.values()]
    for name, one in suite.items():
        of_tasks = [DescrStatsW(own[name]) for own in arrays.values()]
        assert one.score == pytest.approx(np.mean([task.mean for task in of_tasks]), rel=1e-12)
        assert one.standard_error == pytest.approx(np.hypot.reduce([task.std_mean for task in of_tasks]) / 3, rel=1e-9)
    pair = report["A", "B", "suite: mean"]
    assert pair.standard_error == pytest.approx(np.hypot.reduce(of_deltas) / 3, rel=1e-9)
    drawn = quick(evaluations(arrays, "mean"), resamples=4000, interval="percentile", method="montecarlo")
    sizes = np.array([len(own["A"]) for own in arrays.values()])
    biased = np.hypot.reduce(of_deltas * np.sqrt(1 - 1 / sizes)) / 3  # the bootstrap divides by n
    assert drawn["A", "B", "suite: mean"].standard_error == pytest.approx(biased, rel=0.04)
    sections = [one.metric for one in report]
    assert sections == ["suite: mean", "arc: mean", "gsm8k: mean", "mmlu: mean"]
    alone = quick(evaluations(arrays, "mean")["arc"], resamples=4000)
    assert (report[1].p_value, report[1].interval) == (alone[0].p_value, alone[0].interval)


def test_degrees_of_freedom_weigh_tasks_by_their_part_of_the_variance():
    sizes = np.array([5, 40, 1000])
    suite, *_ = suite_of({f"t{n}": [Evaluation.from_arrays(right(n, 0.5, 0.5))] for n in sizes.tolist()})
    units = make_units(suite)
    variances = 1.0 / sizes
    expected = variances.sum() ** 2 / (variances**2 / (sizes - 1)).sum()  # Satterthwaite, of equal variances
    assert degrees_of_freedom(units.sizes, units.strata) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_permutation_p_value_is_that_of_all_swaps(alternative):
    arrays = {"x": right(6, 0.8, 0.4), "y": right(4, 0.9, 0.3)}
    weights = np.repeat([1 / 6, 1 / 4], [6, 4]) / 2
    a, b = (np.concatenate([own[name] for own in arrays.values()]) for name in "AB")

    def delta(a, b, axis=-1):
        return np.round(((a - b) * weights).sum(axis=axis), 12)

    expected = scipy.stats.permutation_test((a, b), delta, permutation_type="samples", alternative=alternative)
    found = quick(evaluations(arrays), alternative=alternative)["A", "B", "suite: accuracy"]
    assert (found.method, found.p_value) == ("exact", pytest.approx(expected.pvalue, rel=1e-12))


def test_clusters_of_different_size_change_the_number_of_instances():
    sizes = {"x": [1, 5, 2, 2, 6, 1, 3, 2], "y": [4, 4, 1, 9, 2, 2]}
    clusters = {task: np.repeat(np.arange(len(own)), own) for task, own in sizes.items()}
    arrays = {task: right(len(own), 0.7, 0.5) for task, own in clusters.items()}
    tasks = {task: Evaluation.from_arrays(own, clusters=clusters[task]) for task, own in arrays.items()}
    report = quick(tasks, resamples=500)

    def without(task, cluster):
        kept = {each: np.full(len(own), True) if each != task else own != cluster for each, own in clusters.items()}
        means = [[own[name][kept[each]].mean() for each, own in arrays.items()] for name in "AB"]
        return np.mean(means[0]) - np.mean(means[1])

    whole, squares = without(None, None), 0.0
    for task, own in sizes.items():
        left_out = [without(task, cluster) for cluster in range(len(own))]
        squares += (len(own) - 1) / len(own) * sum((whole - each) ** 2 for each in left_out)
    pair = report["A", "B", "suite: mean"]
    assert (pair.delta, pair.standard_error) == (
        pytest.approx(whole, rel=1e-12),
        pytest.approx(np.sqrt(squares), rel=1e-9),
    )
    assert [one.units for one in report.measured] == [14, 8, 6]


KINDS = {
    "plain": {},
    "clusters": {"clusters": np.repeat(range(8), 3)},
    "runs": {"ids": np.repeat(range(12), 2), "runs": np.tile(range(2), 12)},
    "ids": {"ids": range(24)},
}


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_tasks_keep_their_units_whatever_those_of_others_are(first, second):
    tasks = {
        f"t{k}": Evaluation.from_arrays(right(24, 0.7, 0.5), **KINDS[kind]) for k, kind in enumerate((first, second))
    }
    report = quick(tasks, resamples=500)
    suite, *own = (one.units for one in report.measured)
    assert suite == sum(own)
    whole, *parts = (one.standard_error for one in report)
    assert whole == pytest.approx(np.hypot(*parts) / 2, rel=1e-9)


def test_one_family_per_task_or_of_the_report():
    arrays = {task: right(len(own["A"]), 0.7, 0.5, 0.4) for task, own in ARRAYS.items()}
    by_metric, together = (quick(evaluations(arrays), family=family) for family in ("metric", "report"))
    raw = [one.p_value for one in together]
    for report, groups in ((by_metric, [range(i, i + 3) for i in (0, 3, 6, 9)]), (together, [range(12)])):
        for group in groups:
            ranked = sorted(group, key=raw.__getitem__)
            holm = np.maximum.accumulate([min(1, (len(ranked) - i) * raw[place]) for i, place in enumerate(ranked)])
            assert [report[place].p_adjusted for place in ranked] == pytest.approx(holm)
    with pytest.raises(InputError, match="correction maxt needs the same instances; use holm, or family metric"):
        quick(evaluations(arrays), family="report", correction="maxt")
    assert len(quick(evaluations(arrays), correction="maxt", resamples=200)) == 12


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"x": {"A": [1, 0], "B": [0, 0]}}, "a suite needs at least two tasks, got 1"),
        ({"x": {"A": [1, 0], "B": [0, 0]}, "y": {"B": [1, 0], "A": [1, 0]}}, "task 'y' has the systems B, A, but task"),
    ],
)
def test_refused(tasks, message):
    with pytest.raises(InputError, match=message):
        quick({name: Evaluation.from_arrays(own) for name, own in tasks.items()})


def test_what_is_no_mean_has_no_suite_score():
    counts = {"A": [[1, 2, 3], [2, 2, 2]] * 9, "B": [[1, 3, 3], [2, 4, 2]] * 9}
    f1 = Evaluation.from_arrays(counts, metric="fscore")
    report = quick({"x": Evaluation.from_arrays(ARRAYS["arc"]), "y": f1})
    assert [one.title for one in report.measured] == ["x: mean", "y: fscore"]
    assert "no suite score: fscore of y is no mean over instances" in " ".join(report.notes)
    ratio, wrong = ({"A": [0.2, 0.3], "B": [0.1, 0.5]} for _ in range(2))
    errors = Evaluation.from_arrays(wrong, metric=replace(MEAN, name="errors", higher_is_better=False))
    report = quick({"x": Evaluation.from_arrays(ratio), "y": errors})
    assert "no suite score: higher is better in some tasks and lower in others" in " ".join(report.notes)


# Logs


def answers(*shares, count=30):
    return [(RNG.random(count) < share).astype(int).tolist() for share in shares]


@pytest.fixture
def lm_eval(tmp_path):
    """Two systems, three tasks: two with acc, one with two filters."""
    for system, share in (("org__a", 0.8), ("org__b", 0.5)):
        for task in ("arc", "mmlu"):
            (folder := tmp_path / "results" / system).mkdir(parents=True, exist_ok=True)
            (folder / FILE.format(task)).write_text(logs.lm_eval(*answers(share)))
        content = logs.lm_eval(*answers(share), metric="exact_match", filters=("strict", "flexible"))
        (folder / FILE.format("gsm8k")).write_text(content)
    return tmp_path / "results"


def cli(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        main([*map(str, arguments)])
    return done.value.code, *capsys.readouterr()


def test_a_folder_of_lm_eval(lm_eval, capsys, tmp_path):
    command = ["compare", "--device", "numpy", "--filter", "strict"]
    code, _, _ = cli(capsys, *command, lm_eval, "-o", tmp_path / "all.json")
    report = Report.from_json(tmp_path / "all.json")
    assert (code, [one.title for one in report.measured]) == (
        0,
        ["suite, mean of 3 tasks", "arc: acc", "gsm8k: exact_match", "mmlu: acc"],
    )
    assert report.systems[0].name == "org__a"
    assert cli(capsys, *command, lm_eval / "org__a", lm_eval / "org__b", "--format", "json")[1] == report.to_json()
    assert compare(read_data(str(lm_eval), {"filter": "strict"}, tasks=True), device="numpy") == report
    assert compare(str(lm_eval), read={"filter": "strict"}, device="numpy") == report
    both = cli(capsys, *command, lm_eval, "-m", "acc", "exact_match", "--format", "json")[1]
    assert json.loads(both)["pairs"] == json.loads(report.to_json())["pairs"]
    code, said, _ = cli(capsys, "verify", tmp_path / "all.json", lm_eval, "--filter", "strict")
    assert (code, said.partition(": ")[2]) == (0, "the same data, and the same numbers to the last bit\n")
    code, _, error = cli(capsys, "research", "audit", lm_eval, "--filter", "strict")
    assert (code, "several tasks ('arc: acc', 'gsm8k: exact_match', 'mmlu: acc'); only compare" in error) == (2, True)
    with pytest.raises(InputError, match="the files are of several tasks"):
        read(lm_eval / "org__a", lm_eval / "org__b", filter="strict")


def test_a_folder_of_inspect_with_epochs(tmp_path):
    for model, share in (("lab/a", 0.8), ("lab/b", 0.4)):
        for task in ("gpqa", "math"):
            values = [list(each) for each in zip(*answers(share, share), strict=True)]
            log = logs.inspect_zip(logs.inspect(values, model=model, task=task))
            (tmp_path / f"2026_{task}_{model[-1]}.eval").write_bytes(log)
    report = compare(str(tmp_path), device="numpy")
    assert [(one.title, one.instances, one.units) for one in report.measured] == [
        ("suite: choice, mean of 2 tasks", 60, 60),
        ("gpqa: choice", 30, 30),
        ("math: choice", 30, 30),
    ]
    assert {one.name for one in report.systems} == {"lab/a", "lab/b"}


@pytest.mark.parametrize("clusters", [None, [0, 0, 1]], ids=["weights", "clusters of several sizes"])
@pytest.mark.parametrize("values", [(1, 0, 1), (0.5, 1, 0), (0.25, 0.5, 0.75), (2, 1.5, 3)])
def test_no_score_of_a_suite_is_rounded_to_a_whole_number(values, clusters):
    tasks = {
        "a": Evaluation.from_arrays({"A": values, "B": (1, 0, 0)}, metric="mean", clusters=clusters),
        "b": Evaluation.from_arrays({"A": (1, 0), "B": (0, 0)}, metric="mean"),
    }
    (suite,) = (
        each for each in suite_of({task: [each] for task, each in tasks.items()}) if each.metric.name == "suite: mean"
    )
    found = suite.metric.score(suite.stats.sum(axis=1))
    assert found.tolist() == pytest.approx([(np.mean(values) + 0.5) / 2, 1 / 6], rel=1e-15)


@pytest.mark.parametrize(("sizes", "has_suite"), [((30, 30), True), ((30, 20), False)])
def test_large_numbers_make_a_suite_where_no_weight_rounds_them(sizes, has_suite):
    """Of tasks of one size the suite is measured from what systems share, as tasks are; else there is none, and why."""
    rng = np.random.default_rng(3)
    small = {str(size): rng.integers(0, 9, (2, count)) for size, count in zip("ab", sizes, strict=True)}

    def report(offset):
        tasks = {
            name: [Evaluation.from_arrays({"A": each[0] + offset, "B": each[1] + offset}, metric="mean")]
            for name, each in small.items()
        }
        return compare(suite_of(tasks))

    moved, plain = report(10**12), report(0)
    expected = {one.metric: [one.p_value, one.delta] for one in plain}
    found = {one.metric: [one.p_value, one.delta] for one in moved}
    assert ("suite: mean" in found) == has_suite
    for name in found:
        assert found[name] == pytest.approx(expected[name], rel=1e-9), name
    assert any("large beside their differences" in note for note in moved.notes) != has_suite


def test_notes_of_tasks_keep_their_numbers():
    """A sentence gets the names of the tasks before it, and the numbers that programs read stay with it."""
    note = Note("dropped 2 of 9 instances", code="dropped", values={"instances": 9, "dropped": 2})
    tasks = {task: replace(each, notes=(note,)) for task, each in evaluations(ARRAYS).items()}
    found = [each for each in quick(tasks).notes if note in each]
    assert found
    assert {(each.code, *each.values.items()) for each in found} == {(note.code, *note.values.items())}
