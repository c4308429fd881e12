"""Slices: each against `compare` on its instances, p against statsmodels, and interactions by listing permutations."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import logs
import numpy as np
import pytest
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from sigjax import Evaluation, InputError, compare, true_discoveries
from sigjax.cli import _run
from sigjax.report.words import format_p
from sigjax.studies import slices
from sigjax.studies.subsets import SlicesOptions, _interactions


def made(rng, sizes, metric="mean", **more):
    labels = np.concatenate([[name] * size for name, size in zip("xyz", sizes, strict=False)])
    labels = rng.permutation(labels)
    arrays = {name: rng.integers(0, 9, size=len(labels)) for name in "ABC"}
    return arrays, labels, Evaluation.from_arrays(arrays, strata=labels, metric=metric, **more)


def listed_p(statistic, labels):
    """The share of distinct assignments of labels whose statistic is at least as large."""
    observed = statistic(labels)
    values = [statistic(each) for each in set(itertools.permutations(labels))]
    return Fraction(sum(value >= observed for value in values), len(values)), observed


def between(deltas, weights):
    mean = sum(d * w for d, w in zip(deltas, weights, strict=True)) / sum(weights)
    return sum(w * (d - mean) ** 2 for d, w in zip(deltas, weights, strict=True))


def spread(numbers):
    """The sum of squares about the mean."""
    mean = sum(numbers) / len(numbers)
    return sum((x - mean) ** 2 for x in numbers)


def of_means(groups):
    """The statistic for differences, in the arithmetic of its numbers."""
    every = [x for group in groups for x in group]
    variance = spread(every) / (len(every) - 1)
    weights = [len(group) ** 2 / (spread(group) + variance) for group in groups]
    return between([sum(group) / len(group) for group in groups], weights)


@pytest.mark.parametrize("correction", ["holm", "bh"])
@pytest.mark.slow
def test_each_slice_is_compare_on_its_instances_and_p_is_adjusted_over_all(correction):
    arrays, labels, evaluation = made(np.random.default_rng(1), (15, 12, 30))
    result = slices(evaluation, correction=correction, permutations=99)
    assert [one.slice for one in result.slices[:4]] == [None, *dict.fromkeys(labels.tolist())]
    for one in result.slices:
        kept = np.arange(57) if one.slice is None else np.flatnonzero(labels == one.slice)
        (pair,) = compare({name: arrays[name][kept] for name in (one.a, one.b)})
        assert (one.score_a, one.score_b, one.delta) == (pair.score_a, pair.score_b, pair.delta)
        assert (one.p_value, one.interval, one.num_instances) == (pair.p_value, pair.interval, len(kept))
    names = {"holm": "holm", "bh": "fdr_bh"}
    for part in ([one for one in result.slices if one.slice], [one for one in result.slices if not one.slice]):
        expected = multipletests([one.p_value for one in part], method=names[correction])[1]
        np.testing.assert_allclose([one.p_adjusted for one in part], expected, rtol=1e-12)
    expected = multipletests([one.p_value for one in result.interactions], method=names[correction])[1]
    np.testing.assert_allclose([one.p_adjusted for one in result.interactions], expected, rtol=1e-12)
    against = slices(evaluation, baseline="B", permutations=99)
    assert [(one.a, one.b) for one in against.interactions] == [("A", "B"), ("C", "B")]


def test_an_interaction_is_that_of_all_assignments_of_labels():
    """In rational arithmetic, ties included."""
    arrays, labels, evaluation = made(np.random.default_rng(2), (3, 2, 3))
    result = slices(evaluation, least=1)
    for one in result.interactions:
        d = [Fraction(int(x)) for x in arrays[one.a] - arrays[one.b]]

        def statistic(given, d=d):
            groups = [[x for x, label in zip(d, given, strict=True) if label == name] for name in "xyz"]
            return of_means(groups)

        p, observed = listed_p(statistic, labels.tolist())
        assert (one.p_value, one.permutations) == (float(p), None)
        np.testing.assert_allclose(one.statistic, float(observed), rtol=1e-8)


def test_interactions_agree_with_scipy():
    arrays, labels, evaluation = made(np.random.default_rng(3), (6, 5))
    d = arrays["A"] - arrays["B"]

    def statistic(*groups, axis=-1):
        every = np.concatenate(groups, axis=axis)
        variance = every.var(axis=axis, ddof=1)
        sizes = [group.shape[axis] for group in groups]
        weights = [n**2 / (n * g.var(axis=axis) + variance) for n, g in zip(sizes, groups, strict=True)]
        return between([group.mean(axis=axis) for group in groups], weights)

    groups = [d[labels == name] for name in "xy"]
    how = {"permutation_type": "independent", "alternative": "greater", "n_resamples": np.inf, "vectorized": True}
    expected = permutation_test(groups, statistic, **how)
    result = slices(evaluation, least=2).interactions[0]
    np.testing.assert_allclose([result.p_value, result.statistic], [expected.pvalue, expected.statistic], rtol=1e-8)
    arrays, labels, evaluation = made(np.random.default_rng(4), (30, 50, 25))
    d = arrays["A"] - arrays["B"]
    groups = [d[labels == name] for name in "xyz"]
    expected = permutation_test(groups, statistic, **how | {"n_resamples": 20_000, "rng": 1}).pvalue
    one = slices(evaluation, read={"only": None}, permutations=20_000).interactions[0]
    assert one.p_value == round(one.p_value * 20_001) / 20_001
    assert abs(one.p_value - expected) < 4 * np.sqrt(2 * expected * (1 - expected) / 20_000)
    assert slices(evaluation, permutations=20_000).interactions[0] == one
    assert slices(evaluation, permutations=20_000, seed=1).interactions[0] != one


def test_interactions_of_f1_and_of_clusters_permute_whole_units():
    rng = np.random.default_rng(5)
    gold = rng.integers(1, 6, size=14)
    counts = {
        name: np.stack([rng.binomial(gold, q), gold + rng.integers(0, 3, 14), gold], axis=1)
        for name, q in (("A", 0.9), ("B", 0.5))
    }
    clusters = np.repeat(range(7), 2)
    of_cluster = list("xxxyyyy")
    labels = np.repeat(of_cluster, 2)
    evaluation = Evaluation.from_arrays(counts, metric="fscore", clusters=clusters, strata=labels)

    def influences(sums, rows):
        """The gradient of F1 at sums, times rows."""
        sizes = sums[1] + sums[2]
        return 2 * (rows[:, 0] - sums[0] / sizes * (rows[:, 1] + rows[:, 2])) / sizes

    rows = [np.array([each[clusters == k].sum(axis=0) for k in range(7)], float) for each in counts.values()]
    u = np.subtract(*(influences(each.sum(axis=0), each) for each in rows))

    def statistic(given):
        deltas, weights = [], []
        for name in "xy":
            kept = np.array([label == name for label in given])
            a, b = (2 * sums[0] / (sums[1] + sums[2]) for sums in (each[kept].sum(axis=0) for each in rows))
            deltas.append(a - b)
            weights.append((kept.sum() / 7) ** 2 / (kept.sum() * u[kept].var() + u.var(ddof=1)))
        return round(between(deltas, weights), 9)

    p, observed = listed_p(statistic, of_cluster)
    (one,) = slices(evaluation, least=2).interactions
    assert (one.p_value, one.permutations) == (float(p), None)
    np.testing.assert_allclose(one.statistic, observed, rtol=1e-7)


def test_large_numbers_have_the_interactions_of_small_ones():
    arrays, labels, small = made(np.random.default_rng(6), (5, 6))
    large = Evaluation.from_arrays({name: each + 1e9 for name, each in arrays.items()}, strata=labels)
    p_values = [[one.p_value for one in slices(each, least=2).interactions] for each in (small, large)]
    assert p_values[0] == p_values[1]


@pytest.mark.parametrize(
    ("sizes", "spreads", "permutations", "slack"),
    [
        ((5, 5), (1, 1), 9999, 0.0),
        ((20, 20), (1, 1), 99, 0.0),
        ((20, 60), (4, 1), 99, 0.01),
        ((20, 60), (1, 4), 99, 0.02),
    ],
)
@pytest.mark.slow
def test_interactions_keep_their_level_and_have_power(sizes, spreads, permutations, slack):
    """1,000 draws whose deltas are the same in both slices: listed (252 assignments), sampled, of other variances."""
    rng, options = np.random.default_rng(7), SlicesOptions(permutations=permutations)
    labels, scale = np.repeat(["x", "y"], sizes), np.repeat(spreads, sizes)

    def p_value(shift):
        d = np.round(rng.standard_t(6, size=len(labels)) * scale + 1.0, 3)
        d[sizes[0] :] += shift
        evaluation = Evaluation.from_arrays({"A": d, "B": np.zeros(len(d))}, strata=labels)
        return _interactions(evaluation, [("A", "B")], options)[0].p_value

    rejected = np.mean([p_value(0.0) <= 0.05 for _ in range(1000)])
    assert abs(rejected - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 1000) + slack
    assert np.mean([p_value(4.0 * max(spreads)) <= 0.05 for _ in range(20)]) > 0.8


def test_where_all_differ_alike_nothing_changes_from_slice_to_slice():
    given = Evaluation.from_arrays({"A": [2.5] * 24, "B": [1.5] * 24}, strata=["x"] * 12 + ["y"] * 12)
    result = slices(given)
    assert (result.interactions[0].p_value, result.interactions[0].statistic) == (1.0, 0.0)
    assert json.loads(result.to_json())["interactions"][0]["statistic"] == 0.0  # it was no number, which JSON refuses


def test_small_slices_are_named_and_what_has_no_interaction_says_why():
    arrays = {"A": [1, 0] * 12, "B": [0, 0] * 12}
    labels = ["x"] * 11 + ["y"] * 10 + ["z"] * 2 + ["w"]
    evaluation = Evaluation.from_arrays(arrays, strata=labels, metric="accuracy")
    result = slices(evaluation)
    assert result.small == {"z": 2, "w": 1}
    assert result.slices[0].num_instances == 21
    assert "Too small, and left out: z (2), w (1)." in str(result)
    crossing = Evaluation.from_arrays(arrays, strata=labels, metric="accuracy", clusters=[k % 6 for k in range(24)])
    assert "No test of whether delta is the same: some clusters lie in several slices." in str(slices(crossing))
    ranked = {name: np.random.default_rng(8).normal(size=24) for name in "AB"}
    ranked = Evaluation.from_predictions(np.arange(24.0), ranked, metric="spearman", strata=labels)
    assert slices(ranked, resamples=99).no_interaction == "the metric is not a function of sums"


def test_the_text_says_what_is_not_adjusted_and_where_interval_and_p_part():
    up = [1] * 7 + [-1] + [0] * 4  # p is 9 / 128, and 0.07 below 0.1; adjusted over two slices it is 0.14
    arrays = {"A": up + up, "B": [0] * 24}
    arrays["C"] = arrays["A"][::-1]
    given = {"strata": ["x"] * 12 + ["y"] * 12}
    pair = slices(Evaluation.from_arrays({name: arrays[name] for name in "AB"}, **given), confidence_level=0.9)
    assert [one.p_value for one in pair.slices[1:]] == [9 / 128] * 2
    assert all(one.interval.low > 0 and one.p_adjusted == 9 / 64 for one in pair.slices[1:])
    (every,) = (line for line in str(pair).splitlines() if line.startswith("all"))
    assert every.endswith(f"{format_p(pair.slices[0].p_value)} (raw)")
    assert "In 2 rows the interval excludes 0 and p does not reject" in str(pair)
    assert "does not reject" not in str(slices(Evaluation.from_arrays({"A": [0, 1] * 12, "B": [1, 0] * 12}, **given)))
    for other in (slices(Evaluation.from_arrays(arrays, **given)), replace(pair, correction="none")):
        assert "(raw)" not in str(other)


def test_instances_count_with_all_their_runs():
    rng = np.random.default_rng(11)
    arrays = {name: rng.integers(0, 2, size=72) for name in "AB"}
    ids, runs = np.array([f"q{k // 3}" for k in range(72)]), np.array([1, 2, 3] * 24)
    labels = np.repeat(["x", "y", "z"], [33, 30, 9])
    given = {"ids": ids, "runs": runs}
    for metric in ("accuracy", "pass^2"):
        result = slices(Evaluation.from_arrays(arrays, strata=labels, metric=metric, **given), permutations=99)
        assert [(one.slice, one.num_instances) for one in result.slices] == [(None, 21), ("x", 11), ("y", 10)]
        assert result.small == {"z": 3}
        assert "|instances:21|runs:3|slices:2|" in result.signature
        kept = labels == "y"
        left = {name: each[kept] for name, each in arrays.items()}
        (alone,) = compare(Evaluation.from_arrays(left, metric=metric, ids=ids[kept], runs=runs[kept]))
        assert (result.slices[2].delta, result.slices[2].p_value) == (alone.delta, alone.p_value)
        with pytest.raises(InputError, match="by: the runs of instance 'q0' lie in different slices; take a field"):
            slices(Evaluation.from_arrays(arrays, strata=runs, metric=metric, **given))


def test_refusals(tmp_path):
    arrays = {"A": [1, 0] * 12, "B": [0, 0] * 12}
    with pytest.raises(InputError, match="needs a label for each instance: give by"):
        slices(arrays)
    evaluation = Evaluation.from_arrays(arrays, strata=[*range(24)])
    with pytest.raises(InputError, match="two slices of 10 instances or more, got 0 among 24 labels"):
        slices(evaluation)
    with pytest.raises(InputError, match="give by or strata, not both"):
        slices("table.csv", by="x", read={"strata": "y"})
    with pytest.raises(InputError, match="this study takes one metric, got 2"):
        slices([evaluation, evaluation])
    with pytest.raises(InputError, match="this study takes one metric, got 0"):
        slices([])
    with pytest.raises(InputError, match="by means nothing for an Evaluation, which is read already"):
        slices([], by="x")
    table = tmp_path / "t.csv"
    table.write_text("id,kind,A,B\ni,x,1,0\nj,y,0,0\n")
    for option in ("by", "strata"):
        with pytest.raises(InputError, match=f": {option}: no column and no file 'nofield'"):
            slices(table, **({"by": "nofield"} if option == "by" else {"read": {"strata": "nofield"}}))
        with pytest.raises(InputError) as refused:
            _run(["slices", str(table), f"--{option}", "nofield", "-q"], debug=True)
        assert f": --{option}: no column and no file 'nofield'" in refused.value.flags


def test_the_command_reads_a_field_draws_a_forest_and_folds_details(tmp_path, capsys):
    arrays, labels, _ = made(np.random.default_rng(9), (12, 14, 3))
    table = tmp_path / "t.csv"
    rows = zip(labels, *arrays.values(), strict=True)
    table.write_text(
        "id,kind,A,B,C\n" + "".join(f"i{k}," + ",".join(map(str, row)) + "\n" for k, row in enumerate(rows))
    )
    out, figure = tmp_path / "o.json", tmp_path / "forest.svg"
    command = ["slices", str(table), "--by", "kind", "-q"]
    _run([*command, "-o", str(out), "--figure", str(figure)], debug=True)
    read = json.loads(out.read_text(encoding="utf-8"))
    assert (read["schema"], read["by"], read["small"], len(read["slices"])) == ("sigjax-slices/1", "kind", {"z": 3}, 9)
    assert read == json.loads(slices(table, by="kind").to_json())
    drawn = figure.read_text(encoding="utf-8")
    assert all(f"<!-- {text} -->" in drawn for text in ("all (26)", "x (12)", "y (14)"))
    capsys.readouterr()
    _run([*command, "--only", "A", "B", "--format", "github"], debug=True)
    first, _, details = capsys.readouterr().out.partition("<details>")
    assert "| all | 26 |" in first
    assert "left out: z (3)" in details
    _run([*command, "--only", "A", "B"], debug=True)
    assert "from slice to slice (p = " in " ".join(capsys.readouterr().out.split())


def test_the_slices_of_the_task_that_has_the_metric_need_no_field_in_other_tasks(tmp_path, capsys):
    folders = [tmp_path / name for name in "ab"]
    rng, day = np.random.default_rng(1), "2025-01-01T00-00-00.000000"
    for folder in folders:
        folder.mkdir()
        lines = map(json.loads, logs.lm_eval(rng.integers(0, 2, 40).tolist(), metric="exact_match").splitlines())
        lines = [line | {"doc": {"category": "xy"[i % 2]}} for i, line in enumerate(lines)]
        (folder / f"samples_gsm8k_{day}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / f"samples_arc_{day}.jsonl").write_text(logs.lm_eval(rng.integers(0, 2, 40).tolist()))
    words = ["slices", *map(str, folders), "-m", "exact_match", "--by", "category"]
    assert _run(words, debug=True) == 0
    with_others = capsys.readouterr().out
    for folder in folders:
        (folder / f"samples_arc_{day}.jsonl").unlink()
    assert _run(words, debug=True) == 0
    assert capsys.readouterr().out == with_others
    for folder in folders:  # now the task that lacks the field has the metric, too
        (folder / f"samples_arc_{day}.jsonl").write_text(logs.lm_eval([1, 0] * 20, metric="exact_match"))
    assert _run(words, debug=True) == 0
    named = with_others.replace("EM;", "gsm8k: EM;").replace("metric:exact_match", "metric:gsm8k: exact_match")
    assert capsys.readouterr().out.split() == named.split()
    assert slices(folders, by="category", read={"metric": "exact_match"}).metric == "gsm8k: exact_match"
    with pytest.raises(InputError, match=r"by: no field 'cat' in 'arc', 'gsm8k'; fields of arc: .*, gsm8k: 'category'"):
        _run([*words[:-1], "cat"], debug=True)


def test_wins_count_the_slices_in_which_a_system_is_better():
    rng = np.random.default_rng(11)
    labels = np.repeat([f"s{k}" for k in range(8)], 40)
    chance = np.where(labels < "s6", 0.85, 0.4)
    arrays = {"A": (rng.random(320) < chance).astype(int), "B": (rng.random(320) < 0.55).astype(int)}
    result = slices(Evaluation.from_arrays(arrays, strata=labels, metric="accuracy"), permutations=99)
    rows = [one for one in result.slices if one.slice is not None]
    p_values, deltas = (np.array([getattr(one, name) for one in rows]) for name in ("p_value", "delta"))
    (found,) = result.wins
    for side, ahead, better in ((1, found.ahead_a, found.better_a), (-1, found.ahead_b, found.better_b)):
        leads = np.sign(deltas) == side
        assert ahead == leads.sum()
        assert better == true_discoveries(np.where(leads, p_values, 1.0), chosen=leads)
    assert found.better_a >= sum(one.p_adjusted < 0.05 and one.delta > 0.0 for one in rows) > 0
    said = f"A is better than B on at least {found.better_a} of the {found.ahead_a} slices on which it is ahead"
    assert said in " ".join(result.to_text().split())
    assert json.loads(result.to_json())["wins"][0]["better_a"] == found.better_a
    header, whole, *others = (line.split(",") for line in result.to_csv().splitlines())
    assert header[-4:] == ["ahead_a", "better_a", "ahead_b", "better_b"]
    assert list(map(int, whole[-4:])) == [found.ahead_a, found.better_a, found.ahead_b, found.better_b]
    assert {tuple(row[-4:]) for row in others} == {("", "", "", "")}
