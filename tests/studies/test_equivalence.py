"""Tests of equivalence against statsmodels, enumeration, and their intervals."""

import json
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run
from sigjax.metrics.columns import MEDIAN


def normal_pair(size, effect, seed=0):
    """Scores whose differences are spread as a normal distribution, with just this mean."""
    differences = stats.norm.ppf((np.arange(size) + 0.5) / size)
    base = np.random.default_rng(seed).normal(size=size)
    return base + effect + 0.8 * differences / differences.std(), base


@pytest.mark.parametrize(("margin", "effect"), [(0.1, 0.03), (0.1, -0.04), (0.06, 0.06), (0.08, 0.0)])
@pytest.mark.slow
def test_bootstrap_tests_of_means_agree_with_the_t_test(margin, effect):
    a, b = normal_pair(500, effect)
    found = sigjax.equivalence_test(a, b, margin=margin, method="bootstrap", resamples=30_000)
    p_value, (_, lower, _), (_, upper, _) = ttost_paired(a, b, -margin, margin)
    for ours, theirs in ((found.p_value, p_value), (found.p_lower, lower), (found.p_upper, upper)):
        # Monte Carlo error, and that of a normal distribution beside t with 499 degrees of freedom.
        assert abs(ours - theirs) < 4 * np.sqrt(theirs / 30_000) + 0.003 * np.sqrt(theirs) + 1e-4


@pytest.mark.parametrize("margin", [0.5, 0.75, 1.0, 2.0])
def test_few_units_agree_with_enumeration(margin):
    a, b = np.array([3, 2, 4, 1, 5]), np.array([2, 2, 3, 2, 3])
    differences = a - b
    delta = differences.mean()
    replicates = np.array([differences[list(draw)].mean() for draw in product(range(5), repeat=5)])
    known = (
        np.mean(replicates - delta >= delta + margin - 1e-12),
        np.mean(replicates - delta <= delta - margin + 1e-12),
    )
    found = sigjax.equivalence_test(a, b, margin=margin, method="bootstrap", resamples=19_999)
    for p_value, exact in zip((found.p_lower, found.p_upper), known, strict=True):
        count = round(p_value * 20_000) - 1
        assert stats.binomtest(count, 19_999, exact).pvalue > 1e-4
    assert found.p_value == max(found.p_lower, found.p_upper)


@pytest.mark.parametrize("size", [6, 15, 500])
@pytest.mark.parametrize("margin", [0.1, 0.5, 2.0])
def test_means_have_t_tests_of_statsmodels(size, margin):
    a, b = normal_pair(size, 0.04)
    found = sigjax.equivalence_test(a, b, margin=margin)
    p_value, (_, lower, _), (_, upper, _) = ttost_paired(a, b, -margin, margin)
    assert [found.p_value, found.p_lower, found.p_upper] == pytest.approx([p_value, lower, upper], rel=1e-9)
    assert tuple(found.interval) == pytest.approx(tuple(stats.ttest_rel(a, b).confidence_interval(0.9)), rel=1e-9)
    assert (found.method, found.exceed, found.p_interval) == ("conservative-t", None, None)


@pytest.mark.parametrize("claim", ["equivalence", "non-inferiority"])
def test_score_tests_of_proportions_and_their_interval_say_the_same(claim):
    """Both ends of the interval are margins that the tests just reject; beyond -1 and 1 there is nothing to reject."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        a, b = (rng.random((2, 15)) < rng.uniform(0.6, 1.0, (2, 1))).astype(int)
        low, high = sigjax.equivalence_test(a, b, metric="accuracy", margin=0.5).interval
        reach = -low if claim == "non-inferiority" else max(-low, high)
        for margin, holds in ((reach + 1e-6, True), (reach - 1e-6, False)):
            if margin > 0.0:
                found = sigjax.equivalence_test(a, b, metric="accuracy", margin=margin, claim=claim)
                assert (found.holds, found.method) == (holds, "tango")
                assert found.p_value == pytest.approx(0.05, abs=1e-3)
    assert sigjax.equivalence_test([1, 1, 0], [1, 0, 0], metric="accuracy", margin=1.1).p_value == 0.0


def test_units_that_differ_alike_show_nothing_by_t():
    """Its standard error would be 0: a few units without a difference do not prove that others have none."""
    documents = {"clusters": ["x", "x", "y", "y"], "metric": "accuracy"}
    evaluation = Evaluation.from_arrays({"A": [1, 1, 0, 1], "B": [1, 1, 0, 1]}, **documents)
    (found,) = results = sigjax.equivalence(evaluation, margin=1e-9)
    assert (found.p_value, found.holds, found.interval, found.method) == (1.0, False, (0.0, 0.0), "conservative-t")
    assert "differ alike" in str(results)
    assert sigjax.equivalence_test([1.5, 2.5], [0.5, 1.5], margin=1.01).p_value == 1.0


def test_a_metric_of_whole_columns_agrees_with_enumeration():
    a, b, margin = np.array([3, 2, 4, 1, 5]), np.array([2, 2, 3, 2, 3]), 1.5
    draws = np.array(list(product(range(5), repeat=5)))
    deltas, delta = np.median(a[draws], axis=1) - np.median(b[draws], axis=1), 1.0
    shares = np.mean(deltas - delta - margin >= delta), np.mean(deltas - delta + margin <= delta)
    found = sigjax.equivalence_test(a, b, margin=margin, metric=MEDIAN, method="bootstrap", resamples=20_000)
    assert found.delta == delta
    assert max(shares) > 0.05
    for ours, share in zip((found.p_lower, found.p_upper), shares, strict=True):
        assert abs(ours - share) < 4 * np.sqrt(share * (1 - share) / 20_000) + 1e-4


def test_bad_input():
    for wrong, message in (
        ({"margin": 0.0}, "margin must be a number above 0"),
        ({"margin": float("nan")}, "margin must be a number above 0"),
        ({"margin": 1.0, "claim": "superiority"}, "claim must be one of"),
        ({"margin": 1.0, "confidence_level": 0.5}, "level must be a number between 0.5 and 1, such as 0.95"),
        ({"margin": 1.0, "method": "exact"}, "method must be one of auto, bootstrap, got 'exact'"),
    ):
        with pytest.raises(InputError, match=message):
            sigjax.equivalence_test([1, 2, 3], [1, 2, 4], **wrong)
    with pytest.raises(InputError, match="at least two units"):
        sigjax.equivalence_test([1], [2], margin=1.0)
    with pytest.raises(InputError, match="correction must be one of holm, .*, got 'maxt'"):
        sigjax.equivalence(Evaluation.from_arrays({"A": [1, 2], "B": [2, 1]}), margin=1.0, correction="maxt")


def test_command(capsys, table):
    common = [
        "equivalence",
        str(table),
        "--only",
        "A",
        "B",
        "-m",
        "accuracy",
        "--margin",
        "0.3",
        "--resamples",
        "999",
    ]
    for options, what, how in (
        ([], "Tango's score tests", "|method:tango|correction"),
        (["--method", "bootstrap"], "bootstrap", "|method:bootstrap|n:999|seed:12345|null:shift|ties:ge|correction"),
    ):
        assert _run([*common, *options], debug=True) == 0
        shown = capsys.readouterr().out
        assert f"equivalence test ({what}): |delta| < 0.3" in shown
        assert how in shown
    assert _run([*common, "--format", "json", "--claim", "non-inferiority"], debug=True) == 0
    found = json.loads(capsys.readouterr().out)
    (known,) = sigjax.equivalence(
        sigjax.read(table, metric="accuracy", only=["A", "B"]), margin=0.3, resamples=999, claim="non-inferiority"
    )
    assert (found["schema"], found["pairs"][0]["p_value"]) == ("sigjax-equivalence/1", known.p_value)
    assert _run(["equivalence", str(table), "--margin", "-1"], debug=False) == 2
    assert "margin must be a number above 0" in capsys.readouterr().err


def test_the_claim_holds_where_the_interval_is_within_the_margins():
    rng = np.random.default_rng(3)
    a = rng.exponential(size=60)
    b = a + rng.exponential(size=60) - 1.1
    free = sigjax.equivalence_test(a, b, margin=1.0, method="bootstrap")
    assert free.interval_level == 0.9
    reach = max(-free.interval.low, free.interval.high)
    for margin, holds in ((reach * 1.02, True), (reach * 0.98, False)):
        found = sigjax.equivalence_test(a, b, margin=margin, method="bootstrap")
        assert found.holds is holds


def test_non_inferiority_knows_which_score_is_better():
    a, b = normal_pair(200, -0.3)
    claim = {"claim": "non-inferiority", "margin": 0.1, "resamples": 999}
    worse = sigjax.equivalence_test(a, b, **claim)
    better = sigjax.equivalence_test(b, a, **claim)
    assert (worse.holds, worse.p_value) == (False, worse.p_lower)
    assert (better.holds, better.p_value) == (True, better.p_lower)
    mean = sigjax.Metric("cost", lambda s: s[..., 0], ("x",), lambda x: x[:, None], ("x",), higher_is_better=False)
    cheap = sigjax.equivalence_test(a / 200, b / 200, metric=mean, **claim)
    assert (cheap.holds, cheap.p_value) == (True, cheap.p_upper)


def test_identical_systems_are_equivalent_by_the_bootstrap_and_ties_count():
    options = {"method": "bootstrap", "resamples": 99}
    found = sigjax.equivalence_test([1, 2, 3], [1, 2, 3], margin=1e-9, **options)
    assert (found.p_value, found.holds) == (0.01, True)
    tied = sigjax.equivalence_test([2, 1, 1], [1, 0, 0], margin=1.0, **options)
    assert (tied.p_value, tied.p_upper, tied.p_lower) == (1.0, 1.0, 0.01)
