"""Westfall-Young maxT: against the definition on the same masks, all swaps, and the familywise error by simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import f1, random_counts, swapped_deltas

from sigjax import Evaluation, InputError, SampleMetric, compare
from sigjax.records import Metric
from sigjax.resample.draws import draws_from_strata, row_keys, swap

pytestmark = pytest.mark.slow

RESAMPLES = 3000  # not a multiple of any tile
SIGNS = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


@pytest.fixture(scope="module")
def evaluation():
    arrays = random_counts(np.random.default_rng(1), 5, 70)
    twin = next(iter(arrays.values()))  # ties of whole pairs, and a pair without any difference
    return Evaluation.from_arrays(arrays | {"twin": twin}, metric="fscore")


def run(evaluation, **options):
    options = {"correction": "maxt", "method": "montecarlo", "resamples": RESAMPLES, "interval": "none"} | options
    return compare(evaluation, **options)


def deviation(a, b, score):
    """First-order standard deviation of delta under swaps: one unit at a time, from the middle."""
    middle, square = (a.sum(axis=0) + b.sum(axis=0)) / 2.0, 0.0
    for of_a, of_b in zip(a, b, strict=True):
        half = (of_a - of_b) / 2.0
        square += float(score(middle + half) - score(middle - half)) ** 2
    return math.sqrt(square)


def step_down(observed, resampled):
    """Adjusted p-values `[pair]` by the definition, from statistics `[pair]` and `[pair, resample]`."""
    order = sorted(range(len(observed)), key=lambda pair: -observed[pair])
    adjusted, largest = np.empty(len(observed)), 0.0
    for place, pair in enumerate(order):
        rest = resampled[order[place:]].max(axis=0)
        exceed = int((rest >= observed[pair] * (1 - 1e-9) - 1e-9).sum())
        largest = max(largest, (exceed + 1) / (resampled.shape[1] + 1))
        adjusted[pair] = largest
    return adjusted


def by_definition(evaluation, masks, score, alternative):
    observed, resampled = [], []
    for a, b in itertools.combinations(evaluation.stats, 2):
        sd = deviation(a, b, score) or math.inf
        deltas = [float(score(a.sum(axis=0)) - score(b.sum(axis=0))), *swapped_deltas(masks, a, b, score)]
        first, *rest = SIGNS[alternative](np.array(deltas)) / sd
        observed.append(first)
        resampled.append(rest)
    return step_down(observed, np.array(resampled))


@pytest.mark.parametrize("alternative", SIGNS)
@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_adjusted_p_values_are_those_of_the_definition_on_the_same_masks(evaluation, alternative, device):
    masks = swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(70, int)), np.dtype(np.float64))
    expected = by_definition(evaluation, masks[:, :70], f1, alternative)
    found = [one.p_adjusted for one in run(evaluation, alternative=alternative, device=device)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(set(found)) > 4


@pytest.mark.parametrize("family", ["metric", "report"])
@pytest.mark.parametrize(("divisor", "levels"), [(7, [0] * 3), (1, [10**6] * 3), (1, [0, 0, 10**6, 10**6])])
def test_statistics_of_different_pairs_tie_where_they_are_equal_as_real_numbers(divisor, levels, family):
    """t^2 = (sum of differences)^2 / (sum of their squares), in fractions, on the same masks."""
    rng, tied = np.random.default_rng(2), 0
    for seed in range(8):
        steps = rng.integers(-6, 7, 12)
        steps[0] += 1 - steps.sum() % 2  # the sum is not 0
        values = np.stack([0 * steps, steps, rng.choice([3, 5, 7, 11]) * rng.permutation(steps), 0 * steps])
        # The last two are another pair of the same steps, of which some have the other sign.
        values[3] = values[2] - rng.choice([-1, 1], 12) * rng.permutation(steps)
        values = values[: len(levels)] + np.array(levels)[:, None]
        masks = swap(row_keys(seed, np.arange(RESAMPLES)), draws_from_strata(np.zeros(12, int)), np.dtype(np.int64))
        signs, squares = 1 - 2 * masks[:, :12], []
        for a, b in itertools.combinations(values, 2):
            norm = int(((a - b) ** 2).sum())
            squares.append([Fraction(int(each) ** 2, norm) for each in [(a - b).sum(), *(signs @ (a - b))]])
        order = sorted(range(len(squares)), key=lambda pair: -squares[pair][0])
        expected, largest = {}, 0
        for place, pair in enumerate(order):
            most = [max(squares[other][k] for other in order[place:]) for k in range(1, RESAMPLES + 1)]
            observed = squares[pair][0]
            tied += sum(observed == each != squares[pair][k] for k, each in enumerate(most, start=1))
            largest = max(largest, sum(each >= observed for each in most))
            expected[pair] = (largest + 1) / (RESAMPLES + 1)
        numbers = dict(zip("abcd", values / divisor, strict=False))
        report = run(Evaluation.from_arrays(numbers), seed=seed, family=family)
        assert [one.p_adjusted for one in report] == [expected[pair] for pair in range(len(squares))]
    assert tied > 100  # another pair has just the observed statistic


def test_adjusted_p_values_come_near_those_of_all_swaps():
    """All 2^9 swaps of nine instances, with the binomial error of 100,000 resamples."""
    values = np.random.default_rng(8).integers(0, 9, (4, 9)) + np.array([0, 0, 2, 5])[:, None]
    evaluation = Evaluation.from_arrays(dict(zip("abcd", values, strict=True)))
    signs = np.array(list(itertools.product([1, -1], repeat=9)))
    differences = np.array([a - b for a, b in itertools.combinations(values, 2)])
    standardised = np.abs(differences @ signs.T) / np.sqrt((differences**2).sum(axis=1, keepdims=True))
    exact = (step_down(standardised[:, 0], standardised) * 513 - 1) / 512  # of all swaps there is no + 1
    assert np.ptp(exact) > 0.4
    for one, p in zip(run(evaluation, resamples=100_000), exact, strict=True):
        assert abs(one.p_adjusted - p) <= 4 * math.sqrt(p * (1 - p) / 100_000) + 2e-5


def familywise_error(draw, is_true, trials):
    """How many of the data sets have a significant difference between systems that are equally good."""
    wrong = 0
    for _ in range(trials):
        report = run(Evaluation.from_arrays(draw()), resamples=199, device="numpy", progress=False)
        wrong += any(one.p_adjusted <= 0.05 for one in report if is_true(one.a, one.b))
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["symmetric", "one-hot", "one better"])
def test_the_familywise_error_is_at_most_alpha(kind):
    """Symmetric differences: alpha, neither more nor much less. Skewed ones, and a false hypothesis: at most alpha."""
    generator, trials = np.random.default_rng(17), 240 if kind == "symmetric" else 100

    def draw():
        if kind == "one-hot":  # exactly one system is right on each instance
            values = np.eye(4, dtype=int)[generator.integers(0, 4, 60)].T
        else:
            values = generator.normal(size=60) + generator.normal(size=(4, 60)).round(2)
            values[3] += 0.7 if kind == "one better" else 0.0
        return dict(zip("abcd", values, strict=True))

    wrong = familywise_error(draw, lambda a, b: kind != "one better" or "d" not in (a, b), trials)
    error = 4 * math.sqrt(0.05 * 0.95 / trials)
    assert wrong / trials <= 0.05 + error
    if kind == "symmetric":
        assert wrong / trials >= 0.05 - error


def test_one_pair_needs_no_adjustment():
    arrays = random_counts(np.random.default_rng(2), 2, 50)
    (one,) = run(Evaluation.from_arrays(arrays, metric="fscore"))
    assert one.p_adjusted == one.p_value


def test_exact_pairs_are_sampled_for_the_adjusted_p_alone(evaluation):
    sampled = {(one.a, one.b): one.p_adjusted for one in run(evaluation)}
    for one in run(evaluation, method="auto"):
        assert one.method == "exact"
        assert one.exceed is None
        assert one.p_adjusted == max(one.p_value, sampled[one.a, one.b])
    text = "maxT over 15 pairs on 3,000 resamples"
    assert text in " ".join(str(run(evaluation, method="auto")).split())
    assert text not in " ".join(str(run(evaluation)).split())


def test_no_adjusted_p_value_is_below_the_exact_one():
    evaluation = Evaluation.from_arrays({"a": [5.0, 3.0, 8.0, 2.0, 9.0, 4.0], "b": [1.0, 2.0, 9.0, 2.5, 3.0, 1.0]})
    below = 0
    for seed in range(8):
        ((exact,), (sampled,)) = (run(evaluation, method=method, seed=seed) for method in ("auto", "montecarlo"))
        assert exact.method == "exact"
        assert exact.p_adjusted == max(exact.p_value, sampled.p_value)
        below += sampled.p_value < exact.p_value
    assert 0 < below < 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": ["permutation", "bootstrap"]}, "belongs to the permutation test"),
        ({"method": "exact"}, "use method auto or montecarlo"),
        ({"resamples": "auto"}, "a number of resamples, not auto"),
    ],
)
def test_what_has_no_maximum_on_each_resample_is_refused(evaluation, options, message):
    with pytest.raises(InputError, match=message):
        run(evaluation, **options)


def test_metrics_without_sums_and_scores_in_steps_are_refused():
    values = {"a": [1.0, 2.0, 7.0], "b": [2.0, 2.0, 3.0]}
    median = SampleMetric("median", np.median, ("value",))
    with pytest.raises(InputError, match="needs a metric of sums"):
        run(Evaluation.from_arrays(values, metric=median))
    step = Metric("step", lambda sums: 1.0 * (sums[..., 0] > 40.0), ("x",), lambda x: x[:, None], ("x",))
    apart = {"a": [5.0] * 10, "b": [1.0] * 10}  # 40 lies between the sums and far from their middle
    with pytest.raises(InputError, match="single instances change"):
        run(Evaluation.from_arrays(apart, metric=step))


@pytest.mark.parametrize("exponent", [-700, -530, 440])
@pytest.mark.parametrize("family", ["metric", "report"])
def test_adjusted_p_does_not_depend_on_the_unit_of_the_scores(exponent, family):
    values = {name: np.random.default_rng(k).integers(-9, 9 + 4 * k, 30) / 4.0 for k, name in enumerate("abc")}
    scaled = {name: np.ldexp(each, exponent) for name, each in values.items()}
    expected, found = (run(Evaluation.from_arrays(each), family=family) for each in (values, scaled))
    assert [one.p_adjusted for one in found] == [one.p_adjusted for one in expected]
