"""Components of variance of repeated runs against analyses of variance and mixed models of others."""

import json
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from sigjax import Evaluation, Metric, Report, compare
from sigjax.comparison.analysis import run_variances

pd = pytest.importorskip("pandas")


def table(seed, sizes, num_systems=3, spread=1.0, noise=0.7):
    """Long data frame: system, id, run, value; instances have so many runs, the same for all systems."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(len(sizes)), sizes)
    runs = np.concatenate([np.arange(n) for n in sizes])
    ease = rng.normal(0, spread, len(sizes))
    taste = rng.normal(0, 0.5, (num_systems, len(sizes)))
    values = ease[ids] + taste[:, ids] + rng.normal(0, noise, (num_systems, len(ids)))
    return ids, runs, values


def evaluation(ids, runs, values, **labels):
    systems = {f"s{k}": own for k, own in enumerate(values)}
    return Evaluation.from_arrays(systems, ids=ids, runs=runs, **labels)


def anova(ids, values):
    """Mean squares of instances and of runs within them, by statsmodels."""
    fit = smf.ols("value ~ C(id)", pd.DataFrame({"value": values, "id": ids})).fit()
    found = sm.stats.anova_lm(fit)
    return found.mean_sq["C(id)"], found.mean_sq["Residual"]


@pytest.mark.parametrize("sizes", [[4] * 20, [2, 3, 5, 4, 1, 3, 3, 6, 2, 4, 2, 2]])
def test_components_are_those_of_an_analysis_of_variance(sizes):
    ids, runs, values = table(1, sizes)
    found = run_variances(evaluation(ids, runs, values))
    between, within = np.mean([anova(ids, own) for own in values], axis=0)
    total = len(ids)
    n0 = (total - np.square(sizes).sum() / total) / (len(sizes) - 1)
    assert found.runs == pytest.approx(within, rel=1e-8)
    assert found.instances == pytest.approx((between - within) / n0, rel=1e-8)
    assert found.icc == pytest.approx((between - within) / (between + (n0 - 1) * within), rel=1e-8)
    pairs = [(0, 1), (0, 2), (1, 2)]
    apart = np.mean([anova(ids, values[a] - values[b])[0] for a, b in pairs])
    assert found.instances_of_delta == pytest.approx((apart - 2 * within) / n0, rel=1e-8)
    if len(set(sizes)) == 1:
        assert found.runs_in_score == pytest.approx(within / between, rel=1e-8)
        assert found.runs_in_delta == pytest.approx(2 * within / apart, rel=1e-8)


def test_components_of_one_system_are_those_of_a_mixed_model():
    ids, runs, values = table(2, [5] * 60, num_systems=2)
    found = run_variances(evaluation(ids, runs, np.stack([values[0], values[0]])))
    frame = pd.DataFrame({"value": values[0], "id": ids})
    fit = smf.mixedlm("value ~ 1", frame, groups=frame["id"]).fit(reml=True)
    assert found.instances == pytest.approx(fit.cov_re.iloc[0, 0], rel=1e-3)  # REML is ANOVA where runs are as many
    assert found.runs == pytest.approx(fit.scale, rel=1e-3)
    assert (found.instances_of_delta, found.runs_in_delta) == (pytest.approx(-2 * found.runs / 5), 0.0)


def test_icc_is_the_published_one():
    rated = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    ids, runs = np.indices((6, 4)).reshape(2, -1)
    found = run_variances(evaluation(ids, runs, np.stack([np.ravel(rated)] * 2)))
    # Shrout and Fleiss (1979), tables 2 to 4: BMS 11.24, WMS 6.26, ICC(1, 1) .17.
    assert (round(found.runs, 2), round(found.icc, 2)) == (6.26, 0.17)
    assert round(found.runs + 4 * found.instances, 2) == 11.24


def test_shares_are_those_of_simulated_means():
    many = 4000
    rng = np.random.default_rng(3)
    ease, noise = rng.normal(0, 1.0, (many, 40)), rng.normal(0, 1.5, (many, 40, 3))
    means = ease.mean(axis=1) + noise.mean(axis=(1, 2))
    true = 1.5**2 / 3 / (1 + 1.5**2 / 3)
    assert noise.mean(axis=(1, 2)).var() / means.var() == pytest.approx(true, rel=0.08)
    ids, runs = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    shares = [
        run_variances(evaluation(ids, runs, np.stack([(ease[i][:, None] + noise[i]).ravel()] * 2))).runs_in_score
        for i in range(200)
    ]
    # Of MS_W / MS_B the mean is that of 1 / F, so (39 / 37) times the true share.
    error = np.std(shares) / np.sqrt(200)
    assert np.mean(shares) == pytest.approx(true * 39 / 37, abs=4 * error)


def test_clusters_make_the_share_of_runs_smaller_and_leave_the_components():
    ids, runs, values = table(4, [3] * 24)
    values = values + np.repeat(np.random.default_rng(0).normal(0, 2, 6), 12)
    grouped = evaluation(ids, runs, values, clusters=ids // 4)
    alone, clustered = (run_variances(each) for each in (evaluation(ids, runs, values), grouped))
    assert clustered.icc == alone.icc
    squares = np.mean([each.standard_error**2 for each in compare(grouped).systems])
    assert clustered.runs_in_score == pytest.approx(alone.runs / len(ids) / squares, rel=1e-6)
    assert clustered.runs_in_score < alone.runs_in_score


def test_other_metrics_of_sums_go_by_their_influence():
    ids, runs, values = table(5, [3] * 15, num_systems=2)
    names = ("v", "n")
    double = Metric("double", lambda sums: 2.0 * sums[..., 0] / sums[..., 1], names, lambda *v: np.stack(v, -1), names)
    numbers = {f"s{k}": np.column_stack([own, np.ones(len(own))]) for k, own in enumerate(values)}
    twice = run_variances(Evaluation.from_arrays(numbers, metric=double, ids=ids, runs=runs))
    once = run_variances(evaluation(ids, runs, values))
    assert twice.runs == pytest.approx(4 * once.runs, rel=1e-7)
    assert twice.icc == pytest.approx(once.icc, rel=1e-7)
    large = run_variances(evaluation(ids, runs, np.round(values * 1000) + 1e12))
    assert large.icc == pytest.approx(run_variances(evaluation(ids, runs, np.round(values * 1000))).icc, rel=1e-6)


def test_reports_say_where_the_noise_is_and_keep_it():
    ids, runs, values = table(6, [4] * 12)
    report = compare(evaluation(ids, runs, values))
    (note,) = [each for each in report.notes if getattr(each, "code", "") == "noise"]
    found = run_variances(evaluation(ids, runs, values))
    assert note.values["icc"] == found.icc
    assert f"{found.runs_in_score:.0%} of the variance of a score, and" in str(report)
    facts = json.loads(report.to_json())["facts"]
    assert [fact["values"]["runs"] for fact in facts if fact["code"] == "noise"] == [found.runs]
    again = Report.from_json(report.to_json())
    assert again.to_json() == report.to_json()


@pytest.mark.parametrize("sizes", [[1] * 8, [3]])
def test_none_without_repeated_runs_or_instances(sizes):
    ids, runs, values = table(7, sizes)
    assert run_variances(evaluation(ids, runs, values)) is None
    assert run_variances(evaluation(*table(8, [3] * 8)[:2], np.ones((2, 24)))) is None
    assert not [each for each in compare(evaluation(*table(9, [3] * 8)), design="models").notes if "ICC" in each]


def test_none_for_metrics_of_whole_instances_and_missing_results():
    ids, runs = np.indices((6, 3)).reshape(2, -1)
    right = np.random.default_rng(1).integers(0, 2, (2, 18))
    trials = evaluation(ids, runs, right, metric="pass^2")
    for report in (compare(trials), compare({"x": [trials], "y": [trials]})):
        assert not [each for each in report.notes if "ICC" in each]
    missing = replace(evaluation(ids, runs, right), present=np.arange(36).reshape(2, 18) != 4)
    assert run_variances(missing) is None
