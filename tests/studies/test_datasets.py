"""Tests of many data sets and of folds against SciPy, published examples, and the formulas of their authors."""

import json
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
import scipy.stats

from sigjax import Evaluation, InputError, classical_tests, read
from sigjax.cli import _run
from sigjax.studies.datasets import corrected_t, five_by_two, fold_tests, rank_tests
from sigjax.studies.tests import delong, wilcoxon

# Demšar (2006), table 6: AUC of C4.5 and its variants (m, cf, both) on 14 data sets.
DEMSAR = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
    "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
    "C4.5+cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946],
    "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
}


THREE = {"A": [1, 2, 3], "B": [2, 1, 3], "C": [3, 1, 2]}
TWO = {name: THREE[name] for name in "AB"}


def test_the_example_of_demsar():
    """Section 3.2.2: chi-square 9.28 (no correction for ties), F 3.69, ranks 3.143, 2.000, 2.893, 1.964, CD 1.25."""
    result = rank_tests(Evaluation.from_arrays(DEMSAR))
    ranks = dict(zip(result.systems, result.mean_ranks, strict=True))
    expected = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    assert ranks == pytest.approx(expected, abs=6e-4)
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    uncorrected = 12 * 14 / 20 * (sum(rank**2 for rank in ranks.values()) - 4 * 25 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.01)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.01)
    assert result.friedman == pytest.approx(scipy.stats.friedmanchisquare(*DEMSAR.values()).statistic)


@pytest.mark.parametrize("seed", range(20))
def test_ranks_against_scipy(seed):
    rng = np.random.default_rng(seed)
    systems, number = int(rng.integers(3, 8)), int(rng.integers(3, 60))
    scores = {f"s{j}": rng.integers(0, 30, number) / 10 + j / 9 for j in range(systems)}
    result = rank_tests(Evaluation.from_arrays(scores))
    theirs = scipy.stats.friedmanchisquare(*scores.values())
    assert (result.friedman, result.friedman_p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    ranks = scipy.stats.rankdata(-np.array(list(scores.values())), axis=0).mean(axis=1)
    assert dict(zip(result.systems, result.mean_ranks, strict=True)) == pytest.approx(
        dict(zip(scores, ranks, strict=True))
    )
    for pair in result.pairs:
        q = pair.rank_difference / np.sqrt(systems * (systems + 1) / (6 * number)) * np.sqrt(2)
        assert pair.nemenyi_p == pytest.approx(scipy.stats.studentized_range.sf(q, systems, np.inf))
        assert pair.p_adjusted >= pair.wilcoxon_p


def test_wilcoxon_of_data_sets_is_that_of_scipy():
    """Without ties and zeros SciPy's exact distribution holds, too."""
    rng = np.random.default_rng(4)
    scores = {f"s{j}": np.round(rng.normal(j / 3, 1, 15), 6) for j in range(3)}
    for pair in rank_tests(Evaluation.from_arrays(scores)).pairs:
        theirs = scipy.stats.wilcoxon(scores[pair.a], scores[pair.b], method="exact").pvalue
        assert pair.wilcoxon_p == pytest.approx(theirs, rel=1e-12)


def test_identical_systems_have_p_1():
    scores = [0.5, 0.25, 0.75, 0.5]
    result = rank_tests(Evaluation.from_arrays({"A": scores, "B": scores, "C": scores}))
    assert (result.friedman, result.friedman_p, result.iman_davenport_p) == (0.0, 1.0, 1.0)
    assert {(pair.nemenyi_p, pair.wilcoxon_p) for pair in result.pairs} == {(1.0, 1.0)}
    (test,) = fold_tests(Evaluation.from_arrays({"A": scores, "B": scores}))
    assert (test.delta, test.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("rows", [[(3, 2, 1)] * 2, [(3, 2, 1)] * 3, [(2, 2, 1)] * 4])
def test_where_data_sets_rank_alike_p_is_exact(rows):
    """F is infinite there, and its p was 0, also on two data sets: enumerate all orders of all data sets."""
    observed = scipy.stats.friedmanchisquare(*np.transpose(rows)).statistic
    orders = product(*(sorted({*permutations(row)}) for row in rows))
    null = [scipy.stats.friedmanchisquare(*np.transpose(each)).statistic for each in orders]
    result = rank_tests(Evaluation.from_arrays(dict(zip("ABC", np.transpose(rows).tolist(), strict=True))))
    assert result.iman_davenport_p == pytest.approx(np.mean(np.array(null) >= observed - 1e-9), rel=1e-12)


@pytest.mark.parametrize(("factor", "offset"), [(1e-12, 0.0), (1e-30, 0.0), (1e30, 0.0), (1.0, 1e11), (1e-3, 1e8)])
def test_ranks_of_small_and_of_large_numbers_are_those_of_scipy(factor, offset):
    """Means kept 12 decimals for Wilcoxon's test (p .124 for .034), and 12 digits for all ranks."""
    steps = np.random.default_rng(3).integers(0, 40, (3, 12)) + np.array([[0], [4], [9]])
    steps[:, 0] = steps[0, 0]
    result = rank_tests(Evaluation.from_arrays(dict(zip("ABC", steps * factor + offset, strict=True))))
    theirs = scipy.stats.friedmanchisquare(*steps)
    assert (result.friedman, result.friedman_p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    for pair in result.pairs:
        d = steps["ABC".index(pair.a)] - steps["ABC".index(pair.b)]
        assert pair.wilcoxon_p == pytest.approx(wilcoxon(d, "two-sided").p_value, rel=1e-12)


def test_folds_of_small_numbers_and_folds_that_differ_alike():
    """Scores times 1e-11 had t = inf, p = 0 and an interval of no width. Without any variance there is no t."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(0.1, 1.0, 10) * 1e-11, rng.normal(0.0, 1.0, 10) * 1e-11
    (test,) = fold_tests(Evaluation.from_arrays({"A": a, "B": b}))
    d = a - b
    t = d.mean() / np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    assert (test.statistic, test.p_value) == pytest.approx((t, 2 * scipy.stats.t.sf(abs(t), 9)), rel=1e-9)
    half = scipy.stats.t.ppf(0.975, 9) * d.mean() / t
    assert test.interval == pytest.approx((d.mean() - half, d.mean() + half), rel=1e-9)
    alike = fold_tests(Evaluation.from_arrays({"A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.6]}))
    assert (alike[0].statistic, alike[0].p_value, alike[0].interval) == (None, None, None)
    assert "no t is defined" in str(alike)


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_the_corrected_t_is_the_formula_of_its_authors(folds):
    d = np.random.default_rng(folds).normal(0.3, 1.0, 3 * folds)
    k, train, test = len(d), folds - 1, 1
    t = d.mean() / np.sqrt((1 / k + test / train) * np.var(d, ddof=1))
    assert corrected_t(d, folds)[:2] == pytest.approx((t, 2 * scipy.stats.t.sf(abs(t), k - 1)))


def test_alpaydins_f_is_his_formula():
    p = np.random.default_rng(5).normal(0.2, 1.0, (5, 2))
    s = [(one - (one + two) / 2) ** 2 + (two - (one + two) / 2) ** 2 for one, two in p]
    f = (p**2).sum() / (2 * sum(s))
    assert five_by_two(p) == pytest.approx((f, scipy.stats.f.sf(f, 10, 5)))


@pytest.mark.parametrize("power", [-600, 600])
def test_alpaydins_f_does_not_depend_on_the_scale(power):
    """Squares of these differences are no doubles; one difference is 0."""
    p = np.random.default_rng(5).normal(0.2, 1.0, (5, 2))
    p[3, 1] = 0.0
    assert five_by_two(np.ldexp(p, power)) == five_by_two(p)


def test_scores_of_folds_are_sums_divided_by_counts():
    scores = np.random.default_rng(6).normal(size=(2, 10))
    plain = Evaluation.from_arrays(dict(zip("AB", scores, strict=True)))
    counts = np.arange(1, 11)[:, None]
    assert fold_tests(replace(plain, stats=plain.stats * 2.0 ** (counts % 3))) == fold_tests(plain)


def test_level_of_the_corrected_t():
    """Ten-fold cross-validation of nearest centroids on noise: the labels are random, and both learners equal."""
    rng, rejected, plain, repetitions = np.random.default_rng(1), 0, 0, 400
    for _ in range(repetitions):
        x, y = rng.normal(size=(100, 8)), rng.permutation(np.arange(100) % 2)
        fold = np.arange(100) % 10
        scores = []
        for half in (slice(0, 4), slice(4, 8)):
            own = []
            for k in range(10):
                train, held = fold != k, fold == k
                means = [x[train & (y == label)][:, half].mean(axis=0) for label in (0, 1)]
                far = [((x[held][:, half] - mean) ** 2).sum(axis=1) for mean in means]
                own.append(np.mean((far[1] < far[0]) == y[held]))
            scores.append(own)
        d = np.subtract(*scores)
        rejected += corrected_t(d, 10)[1] < 0.05
        plain += scipy.stats.ttest_1samp(d, 0).pvalue < 0.05
    # Three and a half standard errors above 5% of 400; the corrected test is conservative here.
    assert rejected <= 0.05 * repetitions + 3.5 * np.sqrt(0.05 * 0.95 * repetitions)
    assert plain >= rejected


def test_five_by_two_needs_its_design(write, capsys):
    rng = np.random.default_rng(6)
    rows = ["learner,data,repeat,fold,accuracy"]
    for data in ("iris", "wine"):
        for learner in ("svm", "tree"):
            rows += [f"{learner},{data},{r},{f},{rng.random():.3f}" for r in range(5) for f in range(2)]
    path = write("cv.csv", "\n".join(rows) + "\n")
    options = {"system_column": "learner", "id_column": "data", "runs": "repeat,fold", "score_column": "accuracy"}
    tests = classical_tests(read(path, **options), design="folds")
    assert [(test.data_set, test.folds, test.results) for test in tests] == [("iris", 2, 10), ("wine", 2, 10)]
    values = np.array([float(row.split(",")[4]) for row in rows[1:]]).reshape(2, 2, 5, 2)
    for test, (a, b) in zip(tests, values, strict=True):
        assert (test.f_statistic, test.f_p_value) == pytest.approx(five_by_two(a - b))
        assert (test.statistic, test.p_value) == pytest.approx(corrected_t((a - b).ravel(), 2)[:2])
    flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    assert _run(["classical", str(path), *flags, "--design", "folds", "--format", "json"], debug=True) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [each["p_value"] for each in shown["tests"]] == [test.p_value for test in tests]
    assert _run(["classical", str(path), *flags, "--design", "folds"], debug=True) == 0
    assert "folds share training data" in capsys.readouterr().out


@pytest.mark.parametrize("repeat", [True, False])
@pytest.mark.parametrize("data", [True, False])
@pytest.mark.parametrize("long", [True, False])
@pytest.mark.parametrize("flags", [(), ("--ignore", "fold"), ("--id-column", "fold")])
def test_columns_of_folds_are_found(write, capsys, repeat, data, long, flags):
    """Repetitions were taken for folds where the table had one data set: 100-fold, p = 0.23 instead of 0.62."""
    rng = np.random.default_rng(3)
    values = {(r, f): rng.random(2).round(3) for r in range(3 if repeat else 1) for f in range(4)}
    head = ["data"] * data + ["repeat"] * repeat + ["fold"]
    keys = {(r, f): ["iris"] * data + [r] * repeat + [f] for r, f in values}
    if long:
        rows = [["classifier", *head, "accuracy"]]
        rows += [[name, *keys[key], own[j]] for j, name in enumerate(("svm", "tree")) for key, own in values.items()]
    else:
        rows = [[*head, "svm", "tree"], *([*keys[key], *own] for key, own in values.items())]
    path = write("cv.csv", "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    assert _run(["classical", str(path), "--design", "folds", *flags, "--format", "json"], debug=True) == 0
    (test,) = json.loads(capsys.readouterr().out)["tests"]
    expected = corrected_t(np.array([a - b for a, b in values.values()]), 4)
    assert (test["folds"], test["results"]) == (4, len(values))
    assert (test["statistic"], test["p_value"]) == pytest.approx(expected[:2])
    (again,) = classical_tests(path, design="folds")
    assert again.p_value == test["p_value"]


def test_long_names_fit_the_figure():
    """They were cut off: all of the text lies within the figure."""
    Text = pytest.importorskip("matplotlib.text").Text
    rng = np.random.default_rng(0)
    figure = rank_tests(
        Evaluation.from_arrays({f"a-long-name-of-{j}": rng.normal(j / 9, 1, 30) for j in range(12)})
    ).plot()
    figure.draw_without_rendering()
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [text.get_window_extent() for text in shown]
    assert sum("a-long-name-of" in text.get_text() for text in shown) == 12
    assert min(box.x0 for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= figure.bbox.x1


def test_ranks_on_the_command_line(write, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        "data," + ",".join(DEMSAR),
        *(",".join(map(str, row)) for row in zip(range(14), *DEMSAR.values(), strict=True)),
    ]
    path = write("auc.csv", "\n".join(rows) + "\n")
    assert (
        _run(["classical", str(path), "--id-column", "data", "--figure", str(tmp_path / "x.cd.pdf")], debug=True) == 0
    )
    assert "C4.5+m+cf      1.964" in capsys.readouterr().out
    assert (tmp_path / "x.cd.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"A": [1], "B": [0], "C": [1]}, {}, "two data sets or more, got 3 on 1"),
        ({"A": [1], "B": [0]}, {"design": "folds"}, "has 1 fold; a test takes two or more"),
        ({"A": [1, 2]}, {}, "at least two systems"),
        ({"A": [1, 2], "B": [2, 1]}, {"folds": 2}, "folds is for design folds; give both, or neither"),
        (THREE, {"folds": 2}, "folds is for design folds"),
        (THREE, {"alternative": "less"}, 'by ranks, are two-sided and draw nothing; leave out alternative="less"'),
        (THREE, {"method": "exact"}, "leave out method"),
        (
            TWO,
            {"design": "folds", "alternative": "greater"},
            "tests of folds are two-sided and draw nothing; leave out",
        ),
        (TWO, {"design": "folds", "resamples": 99}, "leave out resamples=99"),
        (TWO, {"design": "folds", "seed": 1}, "leave out seed=1"),
        (
            Evaluation.from_arrays(TWO, clusters="xyx"),
            {"design": "folds"},
            "each data set by itself; leave out cluster",
        ),
        (Evaluation.from_arrays(THREE, strata="xyx"), {}, "each data set by itself; leave out strata"),
    ],
)
def test_refused(arrays, options, message):
    with pytest.raises(InputError, match=message):
        classical_tests(arrays, **options)


# DeLong


def slow_delong(scores, label):
    """Pair by pair, as DeLong et al. write it."""
    positive, negative = np.flatnonzero(label == 1), np.flatnonzero(label == 0)
    kernel = [[[1.0 * (s[i] > s[j]) + 0.5 * (s[i] == s[j]) for j in negative] for i in positive] for s in scores]
    kernel = np.array(kernel)
    areas, v10, v01 = kernel.mean(axis=(1, 2)), kernel.mean(axis=2), kernel.mean(axis=1)
    covariance = np.cov(v10) / len(positive) + np.cov(v01) / len(negative)
    contrast = np.array([1, -1])
    return (areas[0] - areas[1]) / np.sqrt(contrast @ covariance @ contrast)


@pytest.mark.parametrize("seed", range(10))
def test_delong_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(60) % 3 == 0).astype(int)
    scores = np.stack([label + rng.integers(0, 6, 60), label + rng.normal(0, 2, 60).round(1)])
    z = slow_delong(scores, label)
    test = delong(scores, label, "two-sided")
    assert (test.statistic, test.p_value) == pytest.approx((z, 2 * scipy.stats.norm.sf(abs(z))), rel=1e-10)


def test_delong_of_proc(data):
    """pROC 1.18: roc.test(roc(outcome, wfns), roc(outcome, s100b)): Z = 2.209, p = 0.02718; and the other pairs."""
    expected = {("wfns", "s100b"): 0.02717578, ("wfns", "ndka"): 0.00514558, ("s100b", "ndka"): 0.1642952}
    for pair, p_value in expected.items():
        path = data / "proc_asah" / "aSAH.csv"
        evaluation = read(path, gold="outcome=Poor", prediction=list(pair), metric="auc")
        assert classical_tests(evaluation, resamples=999)["DeLong"].p_value == pytest.approx(p_value, rel=1e-6)


def test_folds_of_baycomp(data):
    """Its documentation and R's correctR, by SOURCE.md: audiology p = 0.622 where a t test of 100 folds has 0.088."""
    evaluation = read(
        data / "cv_accuracies" / "accuracies.csv.gz",
        system_column="classifier",
        id_column="data",
        runs="repeat,fold",
        score_column="accuracy",
        where="data in ['audiology', 'anneal', 'iris']",
        only=["nbc", "aode"],
    )
    tests = {test.data_set: test for test in classical_tests(evaluation, design="folds")}
    assert tests["audiology"].statistic == pytest.approx(-0.495015, abs=1e-6)
    expected = {"audiology": 0.621686, "anneal": 0.000653815, "iris": 0.683839}
    assert {name: test.p_value for name, test in tests.items()} == pytest.approx(expected, rel=2e-6)


def test_the_bars_of_the_diagram_join_what_the_critical_difference_does_not_tell_apart():
    result = rank_tests(Evaluation.from_arrays(DEMSAR))
    names, ranks, groups = result._named()
    for i, j in combinations(range(len(names)), 2):
        together = any({i, j} <= set(group) for group in groups)
        assert together == (ranks[j] - ranks[i] <= result.critical_difference)
    assert not any(set(one) < set(other) for one in groups for other in groups)
