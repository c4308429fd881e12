"""Runs that are trained models: whole runs exchanged, and two-way intervals, against enumeration and closed forms."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from oracles import extreme, f1, montecarlo_error, random_counts
from scipy import stats
from statsmodels.formula.api import ols

from sigjax import Evaluation, InputError, SampleMetric, compare, read
from sigjax.comparison.notes import _varies_by_run

QUICK = {"design": "models", "device": "numpy"}


def evaluation_of(values, metric="mean", order=None, **labels):
    """An evaluation of `values` [system, instance, run] or [system, instance, run, stat], rows in any order."""
    num_instances, num_runs = values.shape[1:3]
    order = np.arange(num_instances * num_runs) if order is None else order
    rows = [values[k].reshape(len(order), *values.shape[3:])[order] for k in range(len(values))]
    labels = {name: np.repeat(np.array(each), num_runs)[order].tolist() for name, each in labels.items()}
    return Evaluation.from_arrays(
        dict(zip("ABCDEFGH", rows, strict=False)),
        metric=metric,
        ids=np.repeat(np.arange(num_instances), num_runs)[order].tolist(),
        runs=np.tile(np.arange(num_runs), num_instances)[order].tolist(),
        **labels,
    )


def trained(rng, *, instances=1000, runs=5, models=0.15, systems=2):
    """A score per instance, which a model moves on all of them."""
    difficulty = rng.normal(size=(1, instances, 1))
    return difficulty + models * rng.normal(size=(systems, 1, runs)) + rng.normal(size=(systems, instances, runs))


def enumerate_runs(a, b, score, alternative):
    """The p-value over all C(2R, R) ways to deal out whole runs `[instance, run, stat]`, in plain Python."""
    runs = [*a.sum(axis=0), *b.sum(axis=0)]
    both, hits, count = sum(runs), 0, 0
    observed = float(score(sum(runs[: len(runs) // 2])) - score(sum(runs[len(runs) // 2 :])))
    for chosen in itertools.combinations(range(len(runs)), len(runs) // 2):
        of_a = sum(runs[place] for place in chosen)
        hits += bool(extreme(float(score(of_a) - score(both - of_a)), observed, alternative))
        count += 1
    return hits / count


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("num_runs", [2, 3, 5])
@pytest.mark.parametrize("name", ["fscore", "function", "mean"])
def test_p_is_that_of_all_exchanges_of_whole_runs(name, num_runs, alternative):
    rng = np.random.default_rng(num_runs)
    table = random_counts(rng, 3, 40 * num_runs)
    values = np.array(list(table.values())).reshape(3, 40, num_runs, -1).astype(float)
    metric, score = {
        "fscore": ("fscore", f1),
        "function": (lambda sums: sums[..., 0] ** 2 / (1.0 + sums[..., 1]),) * 2,
        "mean": ("mean", lambda sums: sums[..., 0]),
    }[name]
    values = values[..., :1] if name == "mean" else values
    given = values[..., 0] if name == "mean" else values
    evaluation = evaluation_of(given, metric, order=rng.permutation(40 * num_runs))
    options = QUICK | {"alternative": alternative, "interval": "none", "correction": "none"}
    exact, sampled = (compare(evaluation, method=m, resamples=20_000, **options) for m in ("auto", "montecarlo"))
    for one, other in zip(exact, sampled, strict=True):
        expected = enumerate_runs(*(values["ABC".index(each)] for each in (one.a, one.b)), score, alternative)
        assert (one.method, one.p_value) == ("exact", pytest.approx(expected, rel=1e-12))
        assert one.reason == f"all {math.comb(2 * num_runs, num_runs)} exchanges of whole runs"
        assert abs(other.p_value - expected) < 4.5 * montecarlo_error(expected, 20_000)


@pytest.mark.parametrize("num_runs", [2, 4, 5, 8])
def test_a_mean_of_reals_is_scipys_test_of_run_scores(num_runs):
    values = trained(np.random.default_rng(7), runs=num_runs)
    values[0] += 0.1
    for alternative in ("two-sided", "greater", "less"):
        (found,) = compare(evaluation_of(values), alternative=alternative, interval="none", **QUICK)
        expected = stats.permutation_test(
            tuple(values.mean(axis=1)), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True,
            permutation_type="independent", n_resamples=np.inf, alternative=alternative,
        )  # fmt: skip
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


def mean_squares(table):
    """Those of instances, runs and the rest, of a table [instance, run], by statsmodels."""
    instance, run = np.indices(table.shape)
    frame = pd.DataFrame({"y": table.ravel(), "i": instance.ravel(), "r": run.ravel()})
    found = sm.stats.anova_lm(ols("y ~ C(i) + C(r)", frame).fit())
    return found["mean_sq"].to_numpy()


@pytest.mark.parametrize(("instances", "runs", "models"), [(40, 5, 0.5), (25, 3, 0.0), (12, 2, 1.0)])
def test_standard_errors_are_those_of_the_analysis_of_variance(instances, runs, models):
    values = trained(np.random.default_rng(runs), instances=instances, runs=runs, models=models)
    report = compare(evaluation_of(values), **QUICK)
    squares = np.array([mean_squares(table) for table in values]) / (instances * runs)
    of_delta = np.var(values.mean(axis=2)[0] - values.mean(axis=2)[1], ddof=1) / instances
    expected = {}
    for name, (own, of_runs, rest) in {
        "A": squares[0], "B": squares[1], "A - B": (of_delta, *squares[:, 1:].sum(axis=0)),
    }.items():  # fmt: skip
        expected[name] = max(own + of_runs - rest, own, of_runs)
    for one in report.systems:
        assert one.standard_error**2 == pytest.approx(expected[one.name], rel=1e-7)
    (pair,) = report
    assert pair.standard_error**2 == pytest.approx(expected["A - B"], rel=1e-7)
    (own, rest), freedom = (of_delta, squares[:, 2]), (instances - 1, runs - 1)
    terms = own**2 / freedom[0] + (squares[:, 1] ** 2).sum() / freedom[1] + (rest**2).sum() / math.prod(freedom)
    t = stats.t.ppf(0.975, expected["A - B"] ** 2 / terms)
    half = t * math.sqrt(expected["A - B"])
    assert pair.interval == pytest.approx((pair.delta - half, pair.delta + half), rel=1e-6)


def test_without_instances_that_differ_it_is_the_interval_of_welch():
    scores = np.random.default_rng(3).normal(size=(2, 1, 5)) * np.array([1.0, 3.0]).reshape(2, 1, 1)
    (found,) = compare(evaluation_of(scores.repeat(30, axis=1)), confidence_level=0.9, **QUICK)
    expected = stats.ttest_ind(*scores[:, 0], equal_var=False).confidence_interval(0.9)
    assert found.interval == pytest.approx((expected.low, expected.high), rel=1e-7)


def test_without_runs_that_differ_it_is_the_paired_t_interval():
    scores = np.random.default_rng(3).normal(size=(2, 30, 1))
    (found,) = compare(evaluation_of(scores.repeat(4, axis=2)), confidence_level=0.9, **QUICK)
    expected = stats.ttest_rel(*scores[:, :, 0]).confidence_interval(0.9)
    assert found.interval == pytest.approx((expected.low, expected.high), rel=1e-7)


def test_a_ratio_is_its_linear_part():
    """F1 as a mean of what each cell moves it by, from its formula."""
    rng = np.random.default_rng(5)
    counts = np.array(list(random_counts(rng, 2, 400).values())).reshape(2, 100, 4, -1)
    parts = []
    for tp, predicted, gold in np.moveaxis(counts.astype(float), -1, 1):
        bottom = (predicted + gold).sum()
        parts.append((2 * tp - 2 * tp.sum() / bottom * (predicted + gold)) / bottom * 400)
    found, expected = (
        compare(evaluation_of(*each), **QUICK) for each in ((counts, "fscore"), (np.array(parts), "mean"))
    )
    by_name = [{one.name: one.standard_error for one in report.systems} for report in (found, expected)]
    assert by_name[0] == pytest.approx(by_name[1], rel=1e-5)
    assert found.comparisons[0].standard_error == pytest.approx(expected.comparisons[0].standard_error, rel=1e-5)


def test_a_metric_without_a_slope_is_refused():
    """Runs have sums of 0, and cells large ones."""
    values = 1000.0 * trained(np.random.default_rng(3), instances=12, runs=3).round(6)
    evaluation = evaluation_of(np.concatenate([values, -values], axis=1), lambda sums: 1e307 * sums[..., 0])
    with pytest.raises(InputError, match="is not a finite number for 'A' on the data"):
        compare(evaluation, **QUICK)


def test_strata_have_variances_of_their_own():
    """Where runs do not differ: the paired variance of each stratum, by its share."""
    rng = np.random.default_rng(8)
    scores, strata = rng.normal(size=(2, 30, 1)), np.arange(30) % 5 // 2
    scores += 5.0 * strata[:, None]
    (found,) = compare(evaluation_of(scores.repeat(3, axis=2), strata=strata), **QUICK)
    apart = (scores[0] - scores[1])[:, 0]
    variance = sum((strata == each).sum() * np.var(apart[strata == each], ddof=1) / 30**2 for each in np.unique(strata))
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-7)


WHOLE = evaluation_of(np.arange(12.0).reshape(2, 3, 2))
RANGE = evaluation_of(np.arange(12.0).reshape(2, 3, 2), SampleMetric("range", np.ptp, ("x",)))
RAGGED = Evaluation.from_arrays({"A": [1, 2, 3], "B": [2, 1, 0]}, ids=["x", "x", "y"], runs=["r1", "r2", "r1"])
ONE_RUN = Evaluation.from_arrays({"A": [1, 2], "B": [2, 1]}, ids=["x", "y"], runs=["r1", "r1"])
NO_RUNS = Evaluation.from_arrays({"A": [1, 2], "B": [2, 1]})
CUT = Evaluation.from_arrays(
    {"A": [1, 0, 1, 1], "B": [0, 0, 1, 0]}, ids=[1, 1, 2, 2], runs=["x", "y"] * 2, clusters=["x", "y"] * 2
)
TEN_RUNS = evaluation_of(np.arange(100.0).reshape(2, 5, 10))
MANY = evaluation_of(np.arange(120.0).reshape(2, 5, 12))


@pytest.mark.parametrize(
    ("evaluation", "options", "message"),
    [
        (NO_RUNS, {}, "design models needs repeated runs, and every instance was run once"),
        (ONE_RUN, {}, "design models needs two runs or more, and there is only 'r1'"),
        (RAGGED, {}, "instance 'y' has no run 'r2': design models exchanges whole runs"),
        (RANGE, {}, "design models needs a metric of sums, and 'range' is none"),
        (CUT, {}, "design models needs all runs of an instance in one cluster"),
        (WHOLE, {"test": "bootstrap"}, "design models has no bootstrap test"),
        (WHOLE, {"test": ["permutation", "bootstrap"]}, "design models has no bootstrap test"),
        (WHOLE, {"correction": "maxt"}, "maxt swaps whole instances; use holm with design models"),
        (WHOLE, {"leaderboard": True}, "the leaderboard draws instances, not runs"),
        (WHOLE, {"interval": "bca"}, "interval bca is not for trained models; use two-way"),
        (WHOLE, {"design": "together", "interval": "two-way"}, "two-way is for runs that are trained models"),
        (WHOLE, {"method": "dp"}, "'A' and 'B': dp swaps whole units, and design models does not"),
        (TEN_RUNS, {"method": "exact", "memory": 0.001}, "GiB, more than 0.001; use method auto"),
        (WHOLE, {"method": "exact", "budget": 1e-9}, "over the budget of 1e-09 s"),
        (MANY, {"method": "exact"}, "more than 1,000,000 choices of 12 of 24 runs; use method auto"),
    ],
)
def test_what_cannot_be_had(evaluation, options, message):
    with pytest.raises(InputError, match=message):
        compare(evaluation, **{"design": "models"} | options)


def test_ties_count_and_identical_systems_have_p_1():
    values = np.random.default_rng(0).integers(0, 2, (1, 50, 4)).repeat(2, axis=0)
    (found,) = compare(evaluation_of(values, "accuracy"), **QUICK)
    assert (found.delta, found.p_value) == (0.0, 1.0)
    same = np.zeros((2, 50, 4), int)
    same[0, :10] = 1
    (found,) = compare(evaluation_of(same, "accuracy"), **QUICK)
    assert found.p_value == pytest.approx(2 / 70, rel=1e-12)
    assert found.standard_error > 0.0
    (half,) = compare(evaluation_of(same, "accuracy"), method="exact", mid_p=True, **QUICK)
    assert half.p_value == pytest.approx(1 / 70, rel=1e-12)


def test_every_device_has_the_same_report():
    evaluation = evaluation_of(trained(np.random.default_rng(2), instances=40, runs=6, systems=3))
    options = {"design": "models", "method": "montecarlo", "resamples": 3000}
    report = compare(evaluation, device="numpy", **options)
    assert compare(evaluation, device="cpu", **options).to_json() == report.to_json()
    assert compare(evaluation, device="numpy", **options | {"resamples": 1000}).extend(3000) == report


def errors(report):
    return [*(one.standard_error for one in report.systems), report.comparisons[0].standard_error]


@pytest.mark.parametrize("factor", [1e139, 1e-200])
def test_squares_may_leave_the_range_of_a_double(factor):
    values = trained(np.random.default_rng(3), instances=12, runs=3).round(6)
    labels = {"clusters": np.arange(12) // 2}
    reports = [compare(evaluation_of(each, **labels), **QUICK) for each in (values, values * factor)]
    (own, unclustered), (found, of_instances) = (
        (np.array(errors(report)), report.comparisons[0].standard_error_unclustered) for report in reports
    )
    assert found / factor == pytest.approx(own, rel=1e-9)
    assert of_instances / factor == pytest.approx(unclustered, rel=1e-9)


def test_clusters_are_units_and_the_test_does_not_see_them():
    rng = np.random.default_rng(6)
    values = trained(rng, instances=40, runs=4) + rng.normal(size=(2, 20, 1)).repeat(2, axis=1)
    report = compare(evaluation_of(values, clusters=np.arange(40) // 2), **QUICK)
    paired = compare(evaluation_of(values.reshape(2, 20, 2, 4).mean(axis=2)), **QUICK)
    alone = compare(evaluation_of(values), **QUICK)
    assert errors(report) == pytest.approx(errors(paired), rel=1e-7)
    unclustered = [*(one.standard_error_unclustered for one in report.systems), report.comparisons[0]]
    assert [*unclustered[:2], unclustered[2].standard_error_unclustered] == pytest.approx(errors(alone), rel=1e-12)
    assert report.comparisons[0].interval == pytest.approx(paired.comparisons[0].interval, rel=1e-6)
    assert report.comparisons[0].p_value == alone.comparisons[0].p_value
    assert "Std. error: for new clusters and runs" in report.to_text()


@pytest.mark.slow
def test_models_of_equal_procedures_are_not_told_apart():
    """The default, which takes instances for all there is to chance, finds a difference in most."""
    rng, p_values, covered = np.random.default_rng(9), [], 0
    for trial in range(60):
        evaluation = evaluation_of(trained(rng))
        (found,) = compare(evaluation, **QUICK)
        (default,) = compare(
            evaluation, method="montecarlo", resamples=199, seed=trial, interval="none", device="numpy"
        )
        p_values.append((found.p_value, default.p_value))
        covered += found.interval.low <= 0.0 <= found.interval.high
    rejected = (np.array(p_values) <= 0.05).sum(axis=0)
    assert rejected[0] <= stats.binom.ppf(1 - 1e-4, 60, 0.05)
    assert covered >= stats.binom.ppf(1e-4, 60, 0.95)
    assert rejected[1] > 30


def test_runs_that_seem_to_be_trained_models_are_warned_of(tmp_path):
    """By the F test of runs, that of statsmodels; or by the name of their column."""
    rng = np.random.default_rng(3)
    remedy = "if the runs are trained models (seeds, fine-tunings), p is too small: add --design models"
    for models, warned in ((0.0, ""), (0.5, "warning: some runs are better than others on all instances, ")):
        evaluation = evaluation_of(trained(rng, instances=40, models=models, systems=1).repeat(2, axis=0))
        frame = pd.DataFrame({"x": evaluation.stats[0, :, 0], "id": evaluation.ids, "run": evaluation.runs})
        table = sm.stats.anova_lm(ols("x ~ C(id) + C(run)", frame).fit())
        assert _varies_by_run(replace(evaluation, systems=("A",), stats=evaluation.stats[:1])) == pytest.approx(
            table.loc["C(run)", "PR(>F)"], rel=1e-9
        )
        (note,) = (note for note in compare(evaluation, device="numpy").notes if remedy in note)
        assert note.startswith(warned or "if the runs are trained models (seeds, fine-tunings), p is too small: add")
        assert "now p and intervals are for new instances (40 here), with runs as samples" in note
        assert not any(remedy in note for note in compare(evaluation, **QUICK).notes)
    path = tmp_path / "runs.tsv"
    rows = [f"{s}\t{i}\t{r}\t{rng.normal():.3f}" for s in "AB" for i in range(9) for r in range(3)]
    for column, warned in (("seed", True), ("epoch", False)):
        path.write_text("\n".join([f"system\tid\t{column}\tscore", *rows]) + "\n")
        report = compare(read(path, runs=column, score_column="score"), device="numpy")
        assert any(note.startswith("warning: if the runs are trained models") for note in report.notes) == warned
        assert "mean on 9 instances with 3 runs, 2 systems" in str(report)


@pytest.mark.parametrize(
    ("models", "tastes", "low", "high"),
    [
        ((0.15, 0.15), 0.0, 0.04, 12 / 252),
        ((0.2, 1.0), 0.0, 0.07, 0.09),
        ((0.15, 0.15), 0.3, 0.055, 0.075),
        ((0.15, 0.15), 1.0, 0.2, 0.245),
    ],
)
def test_few_instances_are_rejected_as_often_as_documented(models, tastes, low, high):
    """60 instances and 5 runs, 5,000 data sets, by all 252 exchanges; p of the first few is that of `compare`.

    Where laws of runs are equal, no more than the attainable 12 of 252; where one varies more, or the systems have
    strengths of their own on these instances, runs cannot be exchanged.
    """
    rng, chosen = np.random.default_rng(11), np.zeros((252, 10))
    for row, runs in zip(chosen, itertools.combinations(range(10), 5), strict=True):
        row[list(runs)] = 1.0
    p_values = []
    for part in range(10):
        values = rng.normal(size=(500, 1, 60, 1)) + rng.normal(size=(500, 2, 60, 5))
        values += np.array(models)[:, None, None] * rng.normal(size=(500, 2, 1, 5))
        values += tastes * rng.normal(size=(500, 2, 60, 1))
        of_runs = values.mean(axis=2).reshape(500, 10)
        deltas = 2.0 * of_runs @ chosen.T - of_runs.sum(axis=1, keepdims=True)
        p_values.append((np.abs(deltas) >= np.abs(deltas[:, :1]) * (1.0 - 1e-12)).mean(axis=1))
        if part == 0:
            for data, known in zip(values[:3], p_values[0], strict=False):
                (one,) = compare(evaluation_of(data), **QUICK)
                assert one.p_value == pytest.approx(known, rel=1e-12)
    share = (np.concatenate(p_values) <= 0.05).mean()
    error = math.sqrt(high / 5000)
    assert low - 3.0 * error < share < high + 3.0 * error
