"""The bootstrap without sampling, as `compare` gives it: against enumeration of all draws and against sampling."""

import itertools

import numpy as np
import pytest
from oracles import montecarlo_error

from sigjax import Evaluation, InputError, bootstrap_test, compare


def enumerated(differences, alternative, variant):
    """p, standard error and 95 % interval of a mean, over all n^n draws."""
    draws = np.array(list(itertools.product(differences, repeat=len(differences)))).mean(axis=1)
    delta = float(np.mean(differences))
    centred = draws - delta if variant == "shift" else delta - draws
    extreme = {
        "two-sided": np.abs(centred) >= abs(delta) - 1e-12,
        "greater": centred >= delta - 1e-12,
        "less": centred <= delta + 1e-12,
    }[alternative]
    return extreme.mean(), draws.std(), np.quantile(draws, [0.025, 0.975], method="inverted_cdf")


@pytest.mark.parametrize("variant", ["shift", "flip"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("seed", range(4))
def test_bootstrap_is_all_draws(seed, alternative, variant):
    a, b = np.random.default_rng(seed).integers(0, 5, (2, 6)) / 10
    result = bootstrap_test(a, b, method="exact", alternative=alternative, variant=variant)
    p_value, error, interval = enumerated(a - b, alternative, variant)
    assert result.method == "exact"
    assert result.resamples is None
    assert result.p_value == pytest.approx(p_value, rel=1e-10)
    assert result.standard_error == pytest.approx(error, rel=1e-10)
    assert tuple(result.interval or ()) == pytest.approx(tuple(interval), abs=1e-12)


@pytest.mark.parametrize("variant", ["shift", "flip"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_sampling_agrees(alternative, variant):
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 6, (2, 60))
    strata = np.repeat(["x", "y", "z"], 20)
    evaluation = Evaluation.from_arrays({"a": a, "b": b}, strata=strata)
    options = {"test": "bootstrap", "alternative": alternative, "variant": variant, "resamples": 40_000}
    options["interval"] = "percentile"
    (exact,) = compare(evaluation, **options)
    (sampled,) = compare(evaluation, method="montecarlo", **options)
    assert (exact.method, sampled.method) == ("exact", "montecarlo")
    assert abs(exact.p_value - sampled.p_value) < 4.5 * montecarlo_error(exact.p_value, 40_000)
    assert exact.standard_error == pytest.approx(sampled.standard_error, rel=4.5 / np.sqrt(2 * 40_000))


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        (lambda sums: sums[..., 0] / sums[..., 1], "2 statistics vary"),
        (lambda sums: sums[..., 0] + sums[..., 1], "2 statistics vary"),
    ],
)
def test_what_is_not_linear_in_one_statistic_is_sampled(metric, reason):
    a, b = np.random.default_rng(1).integers(1, 9, (2, 30, 2))
    result = bootstrap_test(a, b, metric=metric, resamples=500)
    assert result.method == "montecarlo"
    assert reason in result.reason
    with pytest.raises(InputError, match="no exact bootstrap test: 2 statistics vary .*; use method auto"):
        bootstrap_test(a, b, metric=metric, method="exact")


def test_reals_and_budgets_are_sampled():
    a, b = np.random.default_rng(1).normal(size=(2, 30))
    assert "held rounded" in bootstrap_test(a, b, resamples=500).reason
    evaluation = Evaluation.from_arrays({"a": a.round(2), "b": b.round(2)})
    assert compare(evaluation, test="bootstrap").comparisons[0].method == "exact"
    (small,) = compare(evaluation, test="bootstrap", budget=1e-3, resamples=500)
    assert "more than the budget" in small.reason
    (narrow,) = compare(evaluation, test="bootstrap", memory=1e-6, resamples=500)
    assert "GiB" in narrow.reason


@pytest.mark.parametrize("variant", ["shift", "flip"])
def test_a_p_value_of_zero_is_sampled(variant):
    """Every difference is 1: no resample can have twice the delta, nor the other sign; the intervals stay exact."""
    a, b = np.ones(20), np.zeros(20)
    result = bootstrap_test(a, b, alternative="greater", variant=variant, resamples=999)
    assert (result.method, result.p_value, result.exceed) == ("montecarlo", 1 / 1000, 0)
    assert result.standard_error == 0.0
    with pytest.raises(InputError, match="no exact test for 'a' and 'b': no resample at all is as extreme"):
        bootstrap_test(a, b, alternative="greater", variant=variant, method="exact")


def test_systems_have_the_law_of_their_own_mean():
    values = np.array([1, 0, 1, 1, 0, 1])
    report = compare(Evaluation.from_arrays({"a": values, "b": 1 - values}, metric="accuracy"), interval="percentile")
    draws = np.array(list(itertools.product(values, repeat=6))).mean(axis=1)
    best = report.systems[0]
    assert best.standard_error == pytest.approx(draws.std(), rel=1e-10)
    assert tuple(best.interval or ()) == tuple(np.quantile(draws, [0.025, 0.975], method="inverted_cdf"))


def test_a_score_that_falls_with_its_statistic():
    """Errors instead of right answers: the same p-value, and delta with the other sign."""
    a, b = np.random.default_rng(1).integers(0, 2, (2, 30, 1))
    for alternative, other in (("two-sided", "two-sided"), ("greater", "less")):
        right = bootstrap_test(a, b, metric=lambda sums: sums[..., 0] / 30, alternative=alternative)
        wrong = bootstrap_test(a, b, metric=lambda sums: 1 - sums[..., 0] / 30, alternative=other)
        assert (right.method, wrong.method) == ("exact", "exact")
        assert wrong.p_value == pytest.approx(right.p_value, rel=1e-12)
        low, high = right.interval or (0.0, 0.0)
        # Quantiles of a discrete law are not symmetric: the generalised inverse jumps at the other side of a step.
        assert tuple(wrong.interval or ()) == pytest.approx((-high, -low), abs=1 / 30 + 1e-12)
