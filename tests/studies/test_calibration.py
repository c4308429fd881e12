"""Calibration against closed forms for normal means, and against separate comparisons of the same test sets."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

import sigjax
from sigjax import Evaluation, InputError
from sigjax.resample.draws import Draws, row_keys
from sigjax.studies import calibration
from sigjax.studies.formulas import clustered_proportion
from sigjax.studies.trials import _FIRST_ROW, make_pilot, winners


def population(size=2000, effects=(0.0, 0.06, 0.12), seed=5, **labels):
    """Scores with a shared difficulty, and normal differences with these means and standard deviation 1."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=size)
    noise = [norm.ppf((rng.permutation(size) + 0.5) / size) for _ in effects]
    scores = {f"s{i}": base + effect + each for i, (effect, each) in enumerate(zip(effects, noise, strict=True))}
    return Evaluation.from_arrays(scores, **labels)


def expected_shares(evaluation, size, low, high):
    """Over all pairs, P(one-sided p of the winner in the range) and P(that, and the winner is right), for normals.

    The winner's p lies in [low, high] if its z lies in [z(high), z(low)]; it is right if the sign is the true one.
    """
    values = evaluation.stats[:, :, 0]
    near, far = max(norm.isf(high), 0.0), norm.isf(low)
    inside = right = 0.0
    for a, b in zip(*np.triu_indices(len(values), 1), strict=True):
        apart = values[a] - values[b]
        z = abs(apart.mean()) / apart.std() * np.sqrt(size)
        hit = norm.cdf(far - z) - norm.cdf(near - z)
        right += hit
        inside += hit + norm.cdf(-near - z) - norm.cdf(-far - z)
    return inside, right


@pytest.mark.parametrize("alternative", ["one-sided", "two-sided"])
def test_the_share_of_right_winners_is_that_of_normal_means(alternative):
    evaluation, size, draws = population(), 100, 1500
    study = calibration(evaluation, instances=size, repetitions=draws, resamples=1999, alternative=alternative)
    assert [(one.test, one.variant) for one in study.ranges[::9]] == [
        ("permutation", None), ("bootstrap", "shift"), ("bootstrap", "flip"),
    ]  # fmt: skip
    sides = 2.0 if alternative == "two-sided" else 1.0
    for one in study.ranges:
        inside, right = expected_shares(evaluation, size, one.low / sides, one.high / sides)
        if one.low >= 0.02:
            # The bootstrap takes a normal for a t distribution, and finds a few more differences.
            spread = 5 * np.sqrt(draws * inside) + 0.1 * draws * inside
            assert abs(one.tests - draws * inside) < spread
            assert abs(one.share - right / inside) < 5 * np.sqrt(0.25 / one.tests) * (1 - one.share + 0.3)
            assert one.interval.low < one.share < one.interval.high
        if one.tests:
            assert one.low <= sides * (1.0 - one.nominal) <= one.high
    assert study.methods["mean, permutation"] == {"montecarlo": 4500}


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_tests_are_those_of_separate_comparisons(test):
    evaluation, size, draws = population(60, effects=(0.0, 0.3, 0.4)), 20, 6
    options = {"test": test, "variant": "flip", "resamples": 199, "alternative": "two-sided", "p_range": (0.01, 0.9)}
    study = calibration(evaluation, instances=size, repetitions=draws, **options)
    (method,) = study.methods["mean, permutation" if test == "permutation" else "mean, bootstrap flip"]
    truth = winners(make_pilot(evaluation))
    any_of = Draws(np.zeros(size, np.int32), np.full(size, 60, np.uint64))
    chosen = any_of.drawn(row_keys(12345, _FIRST_ROW + np.arange(draws)))
    found = []
    for index in chosen:
        part = Evaluation.from_arrays(dict(zip(evaluation.systems, evaluation.stats[:, index, 0], strict=True)))
        options = {"test": test, "variant": "flip", "method": method, "resamples": 199, "interval": "none"}
        compared = zip(truth, sigjax.compare(part, **options), strict=True)
        found += [(one.p_value, np.sign(one.delta) == sign) for sign, one in compared]
    assert len(found) == 3 * draws
    for one in study.ranges:
        asked = (one.low, one.high) == (0.01, 0.9)  # both ends belong to it
        inside = [(p, right) for p, right in found if one.low < p <= one.high or (asked and p == one.low)]
        assert (one.tests, one.right) == (len(inside), sum(right for _, right in inside))
        assert not inside or one.nominal == pytest.approx(1.0 - np.mean([p for p, _ in inside]) / 2.0)
    assert sum(one.tests for one in study.ranges[1:]) == len(found)


def test_clusters_are_drawn_whole_and_strata_keep_their_shares():
    groups = [f"c{i // 4}" for i in range(400)]
    study = calibration(population(400, clusters=groups), instances=30, repetitions=10, resamples=99)
    assert (study.num_instances, study.num_units) == (400, 100)
    assert "10 test sets of 30 clusters" in str(study)
    strata = ["x"] * 100 + ["y"] * 300
    assert (
        "|strata:2|" in calibration(population(400, strata=strata), instances=40, repetitions=5, resamples=99).signature
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p_range": (0.06, 0.04)}, "p_range must be the lowest and the highest p"),
        ({"p_range": (0.06,)}, "p_range must be the lowest and the highest p"),
        ({"alternative": "less"}, "alternative must be one of one-sided, two-sided"),
        ({"resamples": 9}, "resamples must be at least 24"),
        ({"only": ["s0"]}, "calibration needs two systems or more"),
        ({"only": ["s0", "x"]}, "'x' is not a system"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        calibration(population(20), **({"instances": 10, "resamples": 99} | options))


def test_lower_is_better_makes_no_difference_and_equal_systems_are_left_out():
    values = population(400).stats[:, :, 0].round(1) + 5.0
    study = calibration(
        Evaluation.from_arrays({"A": values[0], "B": values[2], "C": values[0]}),
        instances=40,
        repetitions=20,
        resamples=199,
    )
    assert (study.num_pairs, study.pairs) == (3, {"mean": 2})
    assert sum(one.tests for one in study.ranges[1:9]) >= 2 * 20 - 2
    assert "mean: 1 pair with equal scores left out" in str(study)


def test_the_interval_of_a_share_covers_it():
    rng, share, held = np.random.default_rng(8), 0.9, 0
    for _ in range(2000):
        # Half of the clusters answer as one: trials depend on each other.
        trials = rng.integers(0, 9, 200)
        alone = rng.binomial(trials, share)
        together = trials * (rng.random(200) < share)
        low, high = clustered_proportion(np.where(rng.random(200) < 0.5, alone, together), trials, 0.95)
        held += low <= share <= high
    assert 0.92 < held / 2000 < 0.98
    assert clustered_proportion(np.array([1, 0]), np.array([1, 0]), 0.95) == pytest.approx((0.2065, 1.0), abs=1e-4)


def test_clusters_of_one_size_count_by_the_variance_of_their_shares():
    """Wilson's interval for the trials that give the variance (ddof = 1) of the mean share of a cluster."""
    successes = np.array([3, 5, 1, 4, 2])
    variance = np.var(successes / 6, ddof=1) / 5
    trials = 0.5 * 0.5 / variance
    expected = proportion_confint(trials / 2, trials, method="wilson")
    assert clustered_proportion(successes, np.full(5, 6), 0.95) == pytest.approx(expected, rel=1e-12)
