"""The audit against enumeration, SciPy, and itself on other devices."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

import sigjax
from sigjax import Evaluation, InputError
from sigjax.metrics.columns import MEDIAN
from sigjax.resample.draws import draws_from_strata, row_keys, swap
from sigjax.studies.formulas import uniformity
from sigjax.studies.trials import make_pilot, swapped


def few_reals(size, seed=0):
    rng = np.random.default_rng(seed)
    return {"A": rng.normal(size=size), "B": rng.normal(size=size)}


def counts(size, seed=0, names=("A", "B")):
    """True positives, predicted and gold of some systems."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 6, size)
    systems = {}
    for name in names:
        found = rng.binomial(gold, 0.7)
        systems[name] = np.column_stack([found, found + rng.poisson(1, size), gold])
    return Evaluation.from_arrays(systems, metric="fscore")


def signed(differences):
    """Differences under all swaps `[swap, instance]`."""
    return np.array(list(product([1, -1], repeat=len(differences)))) * differences


def size_of_permutation_test(differences, alpha):
    deltas = np.abs(signed(differences).mean(axis=1))
    p_values = np.array([np.mean(deltas >= each - 1e-12) for each in deltas])
    return np.mean(p_values <= alpha)


def size_of_bootstrap_test(differences, alpha):
    """Of endless resamples: all draws, for all swaps."""
    draws = np.array(list(product(range(len(differences)), repeat=len(differences))))
    p_values = []
    for one in signed(differences):
        delta = one.mean()
        p_values.append(np.mean(np.abs(one[draws].mean(axis=1) - delta) >= abs(delta) - 1e-12))
    return np.mean(np.array(p_values) <= alpha), np.array(p_values)


@pytest.mark.slow
def test_size_of_the_permutation_test_is_that_of_enumeration():
    data = few_reals(7)
    study = sigjax.audit(Evaluation.from_arrays(data), test="permutation", repetitions=1500)
    for rate in study.tests[0].errors:
        exact = size_of_permutation_test(data["A"] - data["B"], rate.alpha)
        assert stats.binomtest(rate.rejected, 1500, exact).pvalue > 1e-3


@pytest.mark.slow
def test_size_of_the_bootstrap_test_is_that_of_enumeration():
    data = few_reals(5, seed=1)
    study = sigjax.audit(Evaluation.from_arrays(data), test="bootstrap", repetitions=1500, resamples=4999)
    (one,) = study.tests
    differences = data["A"] - data["B"]
    checked = 0
    for rate in one.errors:
        exact, p_values = size_of_bootstrap_test(differences, rate.alpha)
        if np.abs(p_values - rate.alpha).min() > 4 * np.sqrt(rate.alpha / 4999):
            assert stats.binomtest(rate.rejected, 1500, exact).pvalue > 1e-3
            checked += 1
    assert checked
    assert one.errors[2].interval.low > 0.1  # with five instances the bootstrap is known to reject too often
    assert "too many false positives" in str(study)


def test_intervals_of_rates_are_those_of_scipy():
    (one,) = sigjax.audit(counts(40), test="bootstrap", repetitions=150, resamples=199).tests
    assert one.methods == {"montecarlo": 150}
    for rate in one.errors:
        known = stats.binomtest(rate.rejected, 150).proportion_ci(0.95, method="exact")
        assert rate.interval == pytest.approx((known.low, known.high))
        assert rate.rejected == np.count_nonzero(np.array(one.p_values) <= rate.alpha)


@pytest.mark.parametrize("size", [1, 7, 200])
def test_excess_of_continuous_p_values_is_that_of_scipy(size):
    p_values = np.random.default_rng(size).beta(0.9, 1, size)
    known = stats.kstest(p_values, "uniform", alternative="greater", method="exact")
    assert uniformity(p_values)[:2] == pytest.approx((known.statistic, known.pvalue))


@pytest.mark.slow
def test_it_cannot_see_that_units_depend_on_each_other():
    """As its report says: tests that ignore the clusters of such data reject in more than 20%, and audits find 5%."""
    rng = np.random.default_rng(5)
    sets = (rng.normal(size=(200, 2, 40, 1)) + rng.normal(size=(200, 2, 40, 5))).reshape(200, 2, -1)
    assert (stats.ttest_rel(sets[:, 0], sets[:, 1], axis=1).pvalue <= 0.05).sum() > 40
    evaluation = Evaluation.from_arrays(dict(zip("AB", sets[0], strict=True)))
    study = sigjax.audit(evaluation, test="permutation", repetitions=500, resamples=199)
    assert stats.binomtest(study.tests[0].errors[1].rejected, 500, 0.05).pvalue > 1e-4
    assert "cannot be seen here" in " ".join(str(study).split())
    clustered = replace(evaluation, clusters=tuple(str(k // 5) for k in range(200)))
    assert "cannot be seen" not in str(sigjax.audit(clustered, test="permutation", repetitions=20, resamples=99))


def test_bad_input():
    evaluation = counts(12, names=("A", "B", "C"))
    with pytest.raises(InputError, match="two systems, got 3"):
        sigjax.audit(evaluation)
    with pytest.raises(InputError, match="'D' is not a system"):
        sigjax.audit(evaluation, read={"only": ["A", "D"]})
    with pytest.raises(InputError, match="repetitions must be a whole number from 1"):
        sigjax.audit(evaluation, read={"only": ["A", "C"]}, repetitions=0)
    with pytest.raises(InputError, match="resamples must be a whole number"):
        sigjax.audit(evaluation, read={"only": ["A", "C"]}, resamples="auto")
    with pytest.raises(InputError, match="resamples must be at least 99"):
        sigjax.audit(evaluation, read={"only": ["A", "C"]}, resamples=98)
    with pytest.raises(InputError, match="at least two units"):
        sigjax.audit(counts(1))
    with pytest.raises(InputError, match="'median' is computed from all instances"):
        sigjax.audit(Evaluation.from_arrays(few_reals(9), metric=MEDIAN))
    assert sigjax.audit(evaluation, read={"only": ["C", "A"]}, repetitions=5, resamples=99).systems == ("C", "A")


def test_trials_swap_whole_units_and_share_no_bits_with_tests():
    evaluation = counts(64)
    pilot = make_pilot(evaluation)
    made = swapped(pilot, 7)(np.arange(400))
    assert (made.sum(axis=1) == pilot.units.values.sum(axis=0)).all()
    changed = (made[:, 0] != pilot.units.values[0]).any(axis=-1)
    differ = (pilot.units.values[0] != pilot.units.values[1]).any(axis=-1)
    assert (changed[:, ~differ] == 0).all()
    shares = changed[:, differ].mean(axis=0)
    assert np.abs(shares - 0.5).max() < 4.5 * 0.5 / 20
    tested = swap(row_keys(7, np.arange(400)), draws_from_strata(np.zeros(64, int)), np.bool_)[:, :64]
    assert not (tested[:, None, differ] == changed[None, :, differ]).all(axis=-1).any()
