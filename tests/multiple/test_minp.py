"""Westfall-Young minP: against the definition on the same masks, complete enumeration, Sidak, and its error."""

import itertools
import math

import numpy as np
import pytest
from oracles import f1, random_counts, swapped_deltas

from sigjax import Evaluation, InputError, compare
from sigjax.records import Metric
from sigjax.resample import engine as sampling
from sigjax.resample.draws import draws_from_strata, row_keys, swap

pytestmark = pytest.mark.slow

RESAMPLES = 1200
SIGNS = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


@pytest.fixture(scope="module")
def evaluation():
    arrays = random_counts(np.random.default_rng(1), 4, 60)
    twin = next(iter(arrays.values()))  # ties of whole pairs, and a pair without any difference
    return Evaluation.from_arrays(arrays | {"twin": twin}, metric="fscore")


def run(evaluation, **options):
    options = {"correction": "minp", "method": "montecarlo", "resamples": RESAMPLES, "interval": "none"} | options
    return compare(evaluation, progress=False, **options)


def algorithm_2_8(statistics, errors=0.0):
    """Free step-down minP from statistics `[hypothesis, resample]`, the first of which are observed; all count.

    With `errors`, a value whose share is that many of its standard errors above the observed p is a tie with it, if no
    value that is less extreme than the observed p lies between.
    """
    at_least = (statistics[:, None, :] >= statistics[:, :, None] - 1e-9).sum(axis=2)
    larger = (statistics[:, None, :] > statistics[:, :, None] + 1e-9).sum(axis=2)
    size = statistics.shape[1]
    low = at_least - errors * np.sqrt(at_least * (1 - at_least / size))
    observed = at_least[:, 0]
    order, found = np.argsort(observed, kind="stable"), np.empty(len(statistics))
    for rank, place in enumerate(order):
        of_rest = at_least[order[rank:]] <= observed[place]
        of_rest |= (larger < observed[place])[order[rank:]] & (low <= observed[place])[order[rank:]]
        found[place] = np.mean(of_rest.any(axis=0))
    found[order] = np.maximum.accumulate(found[order])
    return found


@pytest.mark.parametrize("alternative", SIGNS)
@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_adjusted_p_values_are_those_of_algorithm_2_8_on_the_same_masks(evaluation, alternative, device):
    """The observed data are one of the K + 1 permutations, in every p-value and in every count."""
    masks = swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(60, int)), np.dtype(float))[:, :60]
    nothing = np.zeros((1, 60))
    deltas = [
        swapped_deltas(np.concatenate([nothing, masks]), a, b, f1)
        for a, b in itertools.combinations(evaluation.stats, 2)
    ]
    found = [one.p_adjusted for one in run(evaluation, alternative=alternative, device=device)]
    np.testing.assert_allclose(found, algorithm_2_8(SIGNS[alternative](np.array(deltas)), errors=5.0), rtol=1e-12)
    assert len(set(found)) > 3


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_adjusted_p_values_come_near_those_of_all_swaps(alternative):
    """All 2^11 swaps of eleven instances, whose differences have laws of different shapes."""
    values = np.random.default_rng(8).normal(size=(4, 11)).round(3) + np.array([1.6, 0.5, 0.7, 0.0])[:, None]
    values[1, 0] += 4  # one instance decides
    evaluation = Evaluation.from_arrays(dict(zip("abcd", values, strict=True)))
    signs = np.array(list(itertools.product([1, -1], repeat=11)))
    differences = np.array([a - b for a, b in itertools.combinations(values, 2)])
    exact = algorithm_2_8(SIGNS[alternative](differences @ signs.T))
    assert np.ptp(exact) > 0.3
    # The six pairs attain the same p-values, multiples of 1/2^11 or 2/2^11, which resamples only come near.
    for one, p in zip(run(evaluation, resamples=40_000, alternative=alternative), exact, strict=True):
        assert abs(one.p_adjusted - p) <= 5 * math.sqrt(p * (1 - p) / 40_000) + 6 * 2 / 2**11


def discrete(case):
    """Small whole differences `[pair, unit]` to a baseline, on few units, so that pairs attain the same p-values."""
    rng = np.random.default_rng(case)
    shape = int(rng.integers(2, 5)), int(rng.integers(6, 13))
    if case % 4 == 0:
        return rng.integers(-1, 2, shape)
    if case % 4 == 1:
        return rng.integers(0, 2, shape) - (rng.random(shape) < 0.2)
    if case % 4 == 2:
        return rng.integers(-3, 6, shape) * (rng.random(shape) < 0.6)
    return np.where(rng.random(shape) < 0.7, rng.choice([-1, 1, 1, 1], shape), 0)


def complete_enumeration(differences, alternative):
    """The same as R's `multtest::mt.minP` with B=0: all swaps, none of them twice."""
    signs = np.array(list(itertools.product([1, -1], repeat=differences.shape[1])))
    statistics = SIGNS[alternative](differences @ signs.T)
    ascending = np.sort(statistics, axis=1)
    counts = np.array([len(signs) - np.searchsorted(*each) for each in zip(ascending, statistics, strict=True)])
    order, found = np.argsort(counts[:, 0], kind="stable"), np.empty(len(counts))
    for rank, place in enumerate(order):
        found[place] = np.mean(counts[order[rank:]].min(axis=0) <= counts[place, 0])
    found[order] = np.maximum.accumulate(found[order])
    return found


def errors_from_enumeration(case, method, resamples, seed):
    """Adjusted p-values of a discrete case minus those of complete enumeration, in binomial standard errors."""
    differences, alternative = discrete(case), ("two-sided", "greater", "less")[case % 3]
    expected = complete_enumeration(differences, alternative)
    systems = {"base": np.zeros(differences.shape[1])} | {f"s{i}": row for i, row in enumerate(differences)}
    options = {"baseline": "base", "alternative": alternative, "resamples": resamples, "seed": seed}
    report = run(Evaluation.from_arrays(systems), method=method, device="numpy", **options)
    error = np.sqrt(expected * (1 - expected) / resamples) + 1 / resamples
    return (np.array([one.p_adjusted for one in report]) - expected) / error


def test_the_example_of_two_pairs_that_attain_the_same_p():
    """1/32 + 1/32 - 1/32^2 by complete enumeration and by R's mt.minP, whatever the seed."""
    values = {"base": np.zeros(12), "s1": [1] * 6 + [0] * 6, "s2": [0] * 6 + [1] * 5 + [-1]}
    expected = complete_enumeration(np.array([values["s1"], values["s2"]]), "two-sided")
    assert expected == pytest.approx([63 / 1024, 7 / 32])
    for method in ("auto", "montecarlo"):
        for seed in range(12):
            options = {"baseline": "base", "resamples": 20_000, "seed": seed, "device": "numpy"}
            one, other = run(Evaluation.from_arrays(values), method=method, **options)
            found = np.array([one.p_adjusted, other.p_adjusted])
            assert (abs(found - expected) < 5 * np.sqrt(expected / 20_000)).all()


@pytest.mark.parametrize(
    ("cases", "seeds"), [(range(24), range(2)), pytest.param(range(24, 124), range(3), marks=pytest.mark.slow)]
)
def test_discrete_pairs_are_adjusted_as_by_complete_enumeration(cases, seeds):
    """Where laws are exact, whatever the seed, but for the binomial error of the resamples."""
    errors = [errors_from_enumeration(case, "auto", 10_000, seed) for case in cases for seed in seeds]
    assert abs(np.concatenate(errors)).max() < 5


def test_discrete_pairs_that_are_sampled_come_near_from_above():
    """1,000 resamples cannot tell many p-values apart, which are then ties; 64,000 can."""
    few, many = (
        np.concatenate([errors_from_enumeration(case, "montecarlo", resamples, 1) for case in range(12)])
        for resamples in (1_000, 64_000)
    )
    assert min(few.min(), many.min()) > -5
    assert few.max() > 5 > many.max()


def apart(sizes):
    """Systems that differ from `base` on units of their own only, so that their tests are independent."""
    num_units = sum(map(len, sizes))
    arrays, start = {"base": np.zeros(num_units)}, 0
    for place, each in enumerate(sizes):
        row = np.zeros(num_units)
        row[start : start + len(each)] = each
        arrays[f"s{place}"], start = row, start + len(each)
    return Evaluation.from_arrays(arrays)


def test_independent_pairs_are_adjusted_as_by_sidak():
    """Step-down Sidak (Holland and Copenhaver 1987), although one law is nearly normal and others are far from it."""
    rng = np.random.default_rng(4)
    cubes = rng.normal(size=14) ** 3
    sizes = [rng.normal(1.0, 1.0, 14), cubes, rng.normal(0.3, 1.0, 14), np.abs(cubes[::-1]) ** 0.5 - 0.4]
    report = run(apart(sizes), resamples=60_000, baseline="base")
    p = np.array([one.p_value for one in report])
    order, expected = np.argsort(p), np.empty(4)
    for rank, place in enumerate(order):
        expected[place] = 1 - (1 - p[place]) ** (4 - rank)
    expected[order] = np.maximum.accumulate(expected[order])
    assert p.min() < 0.05
    # Ranks of attainable p-values: 2^13 of them, and the binomial error of 60,000 resamples.
    for one, sidak in zip(report, expected, strict=True):
        assert abs(one.p_adjusted - sidak) <= 5 * math.sqrt(sidak * (1 - sidak) / 60_000) + 4 / 2**13


def test_pairs_of_one_law_are_adjusted_as_by_maxt():
    rng = np.random.default_rng(2)
    values = dict(
        zip("abcd", rng.normal(size=200) + rng.normal(0, 1, (4, 200)) + [[0], [0.1], [0.25], [0]], strict=True)
    )
    evaluation = Evaluation.from_arrays(values)
    by_p, by_t = (run(evaluation, correction=each, resamples=30_000) for each in ("minp", "maxt"))
    assert min(one.p_adjusted for one in by_p) < 0.1
    for one, other in zip(by_p, by_t, strict=True):
        assert one.p_adjusted == pytest.approx(other.p_adjusted, abs=0.015)


def test_a_coarse_pair_costs_others_nothing():
    """Three units differ, so p is at least 1/4: minP of the other pair is its own p-value where that is smaller."""
    rng = np.random.default_rng(0)
    fine, coarse = run(apart([rng.normal(0.7, 1.0, 16), [5.0, 6.0, 7.5]]), resamples=20_000, baseline="base")
    assert fine.p_value < 0.2 < coarse.p_value
    assert fine.p_adjusted == fine.p_value
    holm = run(apart([rng.normal(0.7, 1.0, 16), [5.0, 6.0, 7.5]]), baseline="base", correction="holm")
    assert holm.comparisons[0].p_adjusted > holm.comparisons[0].p_value


def test_minp_over_metrics_is_that_of_all_hypotheses_together():
    """A metric and one that falls where it rises have the same two-sided p on every resample: one hypothesis."""
    values = {
        name: each.astype(float)
        for name, each in zip("ab", np.random.default_rng(3).integers(0, 9, (2, 40)), strict=True)
    }
    lower = Metric("lower", lambda sums: -3.0 * sums[..., 0], ("x",), lambda x: x[:, None], ("x",))
    data = [Evaluation.from_arrays(values), Evaluation.from_arrays(values, metric=lower)]
    together, apart_ = run(data, family="report"), run(data)
    assert [one.p_adjusted for one in together] == [one.p_value for one in together]
    assert [one.p_adjusted for one in apart_] == [one.p_value for one in apart_]


def test_the_same_on_every_device_and_for_every_piece_and_resumed(evaluation, monkeypatch, tmp_path):
    expected = run(evaluation, device="numpy").to_json()
    assert run(evaluation, device="cpu", checkpoint=tmp_path / "state").to_json() == expected
    assert run(evaluation, checkpoint=tmp_path / "state").to_json() == expected
    monkeypatch.setattr(sampling, "_PIECE", 2**8)
    assert run(evaluation, device="numpy").to_json() == expected
    assert run(evaluation, extend=run(evaluation, resamples=500)).to_json() == expected


def test_what_cannot_be_ranked_is_refused(evaluation):
    with pytest.raises(InputError, match=r"ranks all 1,200 resamples of each pair; give memory=0\.\d+ \(GiB\)"):
        run(evaluation, memory=1e-6)
    with pytest.raises(InputError, match="minp needs a metric of sums"):
        run(Evaluation.from_arrays({"a": [1.0, 2.0, 7.0], "b": [2.0, 2.0, 3.0]}, metric="median"))
    with pytest.raises(InputError, match="minp belongs to the permutation test"):
        run(evaluation, test="bootstrap")


@pytest.mark.slow
def test_the_familywise_error_is_at_most_alpha():
    """Three true hypotheses and a false one, on two metrics of very different laws."""
    rng, trials, wrong = np.random.default_rng(17), 300, 0
    cubes = Metric("cubes", lambda sums: sums[..., 0], ("x",), lambda x: x[:, None], ("x",))
    for _ in range(trials):
        noise = rng.normal(size=(3, 30)).round(2)
        noise[2] += 1.0
        data = [
            Evaluation.from_arrays(dict(zip("abc", noise, strict=True))),
            Evaluation.from_arrays(dict(zip("abc", noise**3, strict=True)), metric=cubes),
        ]
        report = run(data, resamples=399, family="report", device="numpy")
        wrong += any(one.p_adjusted <= 0.05 for one in report if (one.a, one.b) == ("a", "b"))
    assert wrong / trials <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / trials)
    assert wrong > 0
