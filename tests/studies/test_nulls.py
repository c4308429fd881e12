"""Splits and classical tests in the audit: sizes in closed form, and the same p-values as elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import sigjax
from sigjax import Evaluation, InputError, classical_tests
from sigjax.studies.trials import dealt, make_pilot, split, swapped

ALPHAS = (0.01, 0.05, 0.10)


def rates(study, test, system=None):
    (one,) = [one for one in study.tests if one.test == test and one.system == system]
    return one.errors


def agrees(rate, size, repetitions):
    """Fails by chance once in a thousand times."""
    return stats.binomtest(rate.rejected, repetitions, size).pvalue > 1e-3


def sign_test_size(num_units, alpha):
    """Of continuous differences: all p-values by the binomial law."""
    above = np.arange(num_units + 1)
    p_values = np.array([stats.binomtest(int(k), num_units).pvalue for k in above])
    return stats.binom.pmf(above, num_units, 0.5)[p_values <= alpha].sum()


def test_a_split_deals_each_stratum_into_two_halves():
    strata = [f"s{i % 3}" for i in range(23)]
    ids = np.arange(1, 24)
    evaluation = Evaluation.from_arrays({"A": ids, "B": ids * 100}, strata=strata)
    pilot = make_pilot(evaluation)
    made = split(pilot, 0, 5)(np.arange(2000))[..., 0]
    halves, pairs = dealt(pilot.units.strata)
    assert made.shape == (2000, 2, 11) == (2000, *halves.shape)
    assert np.bincount(pairs).tolist() == [4, 4, 3]
    assert all(len(set(trial.ravel().tolist())) == 22 for trial in made)
    assert ((made[:, 0] - made[:, 1]) % 3 == 0).all()  # both of a pair are of one stratum
    for unit in (1, 2, 3, 22, 23):
        size = sum((unit - other) % 3 == 0 for other in range(1, 24))
        places = (made == unit).any(axis=2).sum(axis=0)
        for place in places:
            assert stats.binomtest(int(place), 2000, (size // 2) / size).pvalue > 1e-3
    partners = made[:, 1][made[:, 0] == 3]
    assert stats.chisquare(np.bincount(partners)[6::3]).pvalue > 1e-3  # any other unit of the stratum, all alike


def test_sizes_of_exact_tests_are_those_of_enumeration_whatever_the_data():
    """Continuous differences: of h pairs p takes the multiples of 2^(1 - h), all of them alike."""
    rng, repetitions = np.random.default_rng(1), 1500
    evaluation = Evaluation.from_arrays({"A": rng.normal(size=24), "B": rng.exponential(size=24)})
    study = sigjax.audit(evaluation, test="permutation", null="splits", classical=True, repetitions=repetitions)
    assert {one.system for one in study.tests} == {"A", "B"}
    for system in ("A", "B"):
        for rate, alpha in zip(rates(study, "permutation", system), ALPHAS, strict=True):
            assert agrees(rate, np.floor(alpha * 2**11) / 2**11, repetitions)
        for rate, alpha in zip(rates(study, "sign (exact)", system), ALPHAS, strict=True):
            assert agrees(rate, sign_test_size(12, alpha), repetitions)
    assert study.tests[0].methods == {"exact": repetitions}


@pytest.mark.parametrize("metric", ["accuracy", "recall", "mean"])
def test_p_values_are_those_of_the_tests_command_on_the_same_pair(metric):
    rng = np.random.default_rng(3)
    gold = rng.integers(1, 6, 40)
    found = rng.binomial(gold, [[0.6], [0.7]])
    arrays = {
        "accuracy": rng.integers(0, 2, (2, 40)),
        "recall": np.stack([found, found + rng.integers(0, 3, (2, 40)), [gold] * 2], axis=-1),
        "mean": rng.normal(size=(2, 40)).round(3),
    }[metric]
    evaluation = Evaluation.from_arrays(dict(zip("AB", arrays, strict=True)), metric=metric)
    options = {"null": ["swaps", "splits"], "classical": True, "repetitions": 4, "resamples": 99}
    study = sigjax.audit(evaluation, test="permutation", **options)
    pilot = make_pilot(evaluation)
    scale = 1.0 if pilot.units.divisors is None else pilot.units.divisors
    names = set()
    for system, make in ((None, swapped(pilot, 12345)), ("A", split(pilot, 0, 12345)), ("B", split(pilot, 1, 12345))):
        audited = {one.test: one.p_values for one in study.tests if one.system == system and one.test != "permutation"}
        names |= set(audited)
        for trial, (a, b) in enumerate(make(np.arange(4)) / scale):
            pair = replace(
                evaluation, stats=np.stack([a, b]).astype(evaluation.stats.dtype), ids=tuple(map(str, range(len(a))))
            )
            known = {one.name: one.p_value for one in classical_tests(pair, resamples=99)}
            assert {name: p[trial] for name, p in audited.items()} == pytest.approx(known, abs=1e-12)
    assert "paired t" in names
    assert ("McNemar (exact)" in names) == (metric == "accuracy")


def test_one_system_may_be_split_alone_and_clusters_stay_whole():
    rng = np.random.default_rng(2)
    scores = {name: rng.normal(size=60) for name in "ABC"}
    clusters = [f"c{i // 3}" for i in range(60)]
    options = {"test": "permutation", "null": "splits", "repetitions": 30, "resamples": 99}
    study = sigjax.audit(Evaluation.from_arrays(scores, clusters=clusters), only=["B"], **options)
    assert (study.systems, study.num_units, [one.system for one in study.tests]) == (("B",), 20, ["B"])
    summed = {name: values.reshape(20, 3).sum(axis=1) for name, values in scores.items()}
    alone = sigjax.audit(Evaluation.from_arrays(summed), only=["B"], **options)
    assert alone.tests[0].p_values == pytest.approx(study.tests[0].p_values)
    assert "of random halves of the units of B: neither is better, and they are independent" in str(study)


def test_bad_input():
    evaluation = Evaluation.from_arrays({"A": [1.0, 2.0, 4.0], "B": [2.0, 2.0, 1.0]})
    with pytest.raises(InputError, match="null must be one or more of swaps, splits"):
        sigjax.audit(evaluation, null="halves")
    with pytest.raises(InputError, match="random splits need units for two pairs or more.* got 3 units"):
        sigjax.audit(evaluation, null="splits")
    with pytest.raises(InputError, match="'D' is not a system"):
        sigjax.audit(evaluation, only=["D"], null="splits")
    with pytest.raises(InputError, match="two systems, got 1"):
        sigjax.audit(evaluation, only=["A"], null=["swaps", "splits"])


def correlated(r, size, seed=0):
    """Two systems with means of 0, variances of 1 and this correlation, just so."""
    x, y = np.random.default_rng(seed).normal(size=(2, size))
    x = (x - x.mean()) / x.std()
    y -= y.mean() + x * (x @ y) / size
    return {"A": x, "B": r * x + np.sqrt(1 - r * r) * y / y.std()}


@pytest.mark.parametrize(("r", "verdict"), [(0.6, "conservative"), (-0.6, "too many false positives")])
def test_tests_of_independent_systems_lose_their_level_under_swaps_alone(r, verdict):
    """Their standard error is too large by 1 / sqrt(1 - r), or too small; halves of one system are independent."""
    repetitions = 600
    study = sigjax.audit(
        Evaluation.from_arrays(correlated(r, 600)),
        test="permutation",
        null=["swaps", "splits"],
        classical=True,
        repetitions=repetitions,
        resamples=199,
        device="numpy",
    )
    for place, alpha in enumerate(ALPHAS):
        size = 2 * stats.norm.sf(stats.norm.isf(alpha / 2) / np.sqrt(1 - r))
        assert agrees(rates(study, "two-sample t")[place], size, repetitions)
        assert agrees(rates(study, "paired t")[place], alpha, repetitions)
        for system in ("A", "B"):
            assert agrees(rates(study, "two-sample t", system)[place], alpha, repetitions)
            assert agrees(rates(study, "paired t", system)[place], alpha, repetitions)
    (line,) = [line for line in str(study).splitlines() if verdict in line and line.endswith(": two-sample t")]
    assert "5%" in line
