"""Intervals by inversion of the swap test: against tests of shifted differences by enumeration, in fractions, and of
SciPy; against subsets drawn by the engine's masks; and by the coverage that theory says."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from oracles import f1, random_counts
from test_laws import REGISTRY, make

from sigjax import Evaluation, InputError, SampleMetric, compare
from sigjax.comparison.analysis import make_case
from sigjax.records import Settings
from sigjax.resample.draws import draws_from_strata, row_keys, swap
from sigjax.testing import inversion
from sigjax.testing.inversion import degree, rank_of_ends

pytestmark = pytest.mark.slow

NUMPY = {"device": "numpy", "interval": "inversion"}
SAMPLED = NUMPY | {"method": "montecarlo", "resamples": 999}


def masks_of(num_units, resamples):
    """The sets that are swapped, `[resample, unit]`."""
    draws = draws_from_strata(np.zeros(num_units, int))
    return swap(row_keys(Settings.seed, np.arange(resamples)), draws, np.int64)[:, :num_units]


def all_masks(num_units):
    return np.arange(2**num_units)[:, None] >> np.arange(num_units) & 1


def p_values(d, theta, masks):
    """One-sided p-values (greater, less) of whole d less theta by swaps of the masks, ties counted, in fractions.

    Monte Carlo masks are counted with the +1; all masks without.
    """
    shifted = [Fraction(int(each)) - theta for each in d]
    observed = sum(shifted)
    sums = [sum(-each if swapped else each for each, swapped in zip(shifted, mask, strict=True)) for mask in masks]
    one = 0 if len(masks) == 2 ** len(d) else 1
    extreme = [sum(each >= observed for each in sums), sum(each <= observed for each in sums)]
    return [Fraction(count + one, len(masks) + one) for count in extreme]


def holds(d, theta, masks, level):
    return all(p > (1 - Fraction(str(level))) / 2 for p in p_values(d, theta, masks))


def check_ends(interval, d, masks, level):
    """Both ends are in the interval, and nothing beyond them is; ends are means of some of few whole numbers."""
    low, high = (Fraction(end).limit_denominator(len(d)) for end in interval)
    assert [float(low), float(high)] == pytest.approx(list(interval), abs=1e-12)
    step = Fraction(1, 10**6)
    assert [holds(d, theta, masks, level) for theta in (low - step, low, high, high + step)] == [0, 1, 1, 0]


@pytest.mark.parametrize("level", [0.95, 0.9, 0.5, 0.9999, 0.01])
@pytest.mark.parametrize("d", [[3, -1, 4, 1, -5, 9, 2, 6], [1, 0, 0, 1, 1, 0, -1, 1, 1], [2, 2, 2, 2, 2, 2]])
def test_all_sets_give_the_shifts_that_the_exact_test_does_not_reject(d, level):
    (ours,) = compare(Evaluation.from_arrays({"A": d, "B": [0] * len(d)}), level=level, **NUMPY)
    alpha = (1 - Fraction(str(level))) / 2
    if Fraction(1, 2 ** len(d)) > alpha:
        assert ours.interval is None
        assert holds(d, Fraction(10**9), all_masks(len(d)), level)
    else:
        check_ends(ours.interval, d, all_masks(len(d)), level)


@pytest.mark.parametrize(("resamples", "level"), [(199, 0.9), (200, 0.9), (99, 0.5), (100, 0.5), (79, 0.95)])
@pytest.mark.parametrize("num_units", [3, 4, 9])
def test_sampled_sets_give_the_shifts_that_the_monte_carlo_test_does_not_reject(num_units, resamples, level):
    """The +1, and the sets without any unit: of 3 units they are an eighth, of 4 a sixteenth or so."""
    d = np.random.default_rng(num_units).integers(-9, 20, num_units).tolist()
    evaluation = Evaluation.from_arrays({"A": d, "B": [0] * num_units})
    (ours,) = compare(evaluation, level=level, **(SAMPLED | {"resamples": resamples}))
    masks = masks_of(num_units, resamples)
    if holds(d, Fraction(10**9), masks, level):
        assert ours.interval is None
    else:
        check_ends(ours.interval, d, masks, level)
    if level == 0.9 and num_units != 4:
        assert (ours.interval is None) == (num_units == 3)


def test_shifts_within_and_beyond_are_those_of_scipy():
    a, b = np.random.default_rng(1).gamma(0.5, size=(2, 8))
    (ours,) = compare(Evaluation.from_arrays({"A": a, "B": b}), level=0.9, **NUMPY)

    def p_value(theta, alternative):
        found = scipy.stats.permutation_test(
            (a - b - theta,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=alternative
        )
        return found.pvalue

    step = 1e-9
    for end, alternative, inward in zip(ours.interval, ("greater", "less"), (step, -step), strict=True):
        assert p_value(end + inward, alternative) > 0.05 >= p_value(end - inward, alternative)


@pytest.mark.parametrize("method", ["exact", "montecarlo"])
def test_zero_is_in_the_interval_where_neither_one_sided_test_rejects(method):
    """Also of a metric with a count of its own, and of clusters: the same resamples, the same decision."""
    rng = np.random.default_rng(2)
    decisions = set()
    for seed in range(60):
        values = rng.integers(0, 2, (2, 14)) | np.array([[seed % 3 == 0], [False]])
        evaluation = Evaluation.from_arrays(
            {"A": values[0], "B": values[1]}, metric="accuracy", clusters=[f"c{i * i // 20}" for i in range(14)]
        )
        options = NUMPY | {"method": method, "resamples": 999, "level": 0.8}
        greater, less = (
            compare(evaluation, alternative=each, **options).comparisons[0] for each in ("greater", "less")
        )
        assert greater.interval == less.interval
        rejected = min(greater.p_value, less.p_value) <= 0.1
        assert rejected != (greater.interval.low <= 1e-12 and greater.interval.high >= -1e-12)
        decisions.add(rejected)
    assert decisions == {True, False}


def of_sets(masks, left, right, score, level):
    """The interval from deltas of scores over all sets that are not empty, by ranks."""
    some = masks[masks.any(axis=1)]
    found = np.sort(score(some @ left) - score(some @ right))
    num_empty, plus = len(masks) - len(some), len(masks) + 1
    if len(masks) == 2 ** masks.shape[1]:
        num_empty, plus = 0, len(masks)
    rank = math.floor(round((1 - level) / 2 * plus, 9)) - num_empty
    return [found[rank - 1], found[-rank]]


@pytest.mark.parametrize("method", ["auto", "montecarlo"])
def test_ratios_are_scored_over_sets(method):
    arrays = random_counts(np.random.default_rng(3), 3, 10)
    report = compare(Evaluation.from_arrays(arrays, metric="fscore"), **(SAMPLED | {"method": method}))
    # 999 resamples are fewer than all sets of 10.
    for ours in report:
        expected = of_sets(masks_of(10, 999), arrays[ours.a], arrays[ours.b], f1, 0.95)
        assert list(ours.interval) == pytest.approx(expected, abs=1e-14)
    report = compare(Evaluation.from_arrays(arrays, metric="fscore"), **(NUMPY | {"resamples": 1023}))
    for ours in report:
        expected = of_sets(all_masks(10), arrays[ours.a], arrays[ours.b], f1, 0.95)
        assert list(ours.interval) == pytest.approx(expected, abs=1e-14)


def test_clusters_are_in_a_set_whole():
    a, b = np.random.default_rng(4).gamma(0.5, size=(2, 24))
    clusters = np.array([i * i // 60 for i in range(24)])
    (ours,) = compare(Evaluation.from_arrays({"A": a, "B": b}, clusters=clusters.tolist()), **NUMPY)
    tables = [
        np.stack([np.bincount(clusters, each), np.bincount(clusters)], axis=1)[np.bincount(clusters) > 0]
        for each in (a, b)
    ]
    expected = of_sets(all_masks(len(tables[0])), *tables, lambda sums: sums[:, 0] / sums[:, 1], 0.95)
    assert list(ours.interval) == pytest.approx(expected, abs=1e-9)


def test_strata_do_not_matter_to_swaps():
    a, b = np.random.default_rng(5).gamma(0.5, size=(2, 12))
    found = [
        compare(Evaluation.from_arrays({"A": a, "B": b}, strata=strata), **NUMPY)
        for strata in (None, [f"s{i % 3}" for i in range(12)])
    ]
    assert list(found[0].comparisons[0].interval) == pytest.approx(list(found[1].comparisons[0].interval), abs=1e-12)
    assert found[0].systems[0].interval != found[1].systems[0].interval


@pytest.mark.parametrize("method", ["auto", "montecarlo"])
@pytest.mark.parametrize("reals", [False, True])
def test_a_plain_sum_has_so_many_times_the_interval_of_the_mean(method, reals):
    a, b = np.random.default_rng(6).gamma(5.0, size=(2, 13)).round(12 if reals else 0)

    def total(sums):
        return 2.0 * sums[..., 0]

    found = [
        compare(Evaluation.from_arrays({"A": a, "B": b}, metric=metric), **(NUMPY | {"method": method}))
        for metric in (total, "mean")
    ]
    expected = 26.0 * np.array(found[1].comparisons[0].interval)
    assert list(found[0].comparisons[0].interval) == pytest.approx(expected.tolist(), rel=1e-9)


@pytest.mark.parametrize("name", REGISTRY)
def test_how_a_score_depends_on_the_scale_of_sums(name):
    """Of all metrics: one is linear, and the one that is refused has a 1 in its denominator."""
    evaluation = make(name)
    if isinstance(evaluation.metric, SampleMetric):
        with pytest.raises(InputError, match="interval inversion needs a metric of sums"):
            compare(evaluation, **SAMPLED)
    elif name == "function":
        with pytest.raises(InputError, match="'product' is none; use interval bca"):
            compare(evaluation, **SAMPLED)
    else:
        assert degree(make_case(evaluation, Settings())) == (name == "fused function")


def test_a_sum_of_nothing_is_still_proportional():
    """Of both systems the sum is 0, which would be so at every scale."""

    def total(sums):
        return sums[..., 0]

    evaluation = Evaluation.from_arrays({"A": [1, -1, 2, -2], "B": [3, -3, 1, -1]}, metric=total)
    assert degree(make_case(evaluation, Settings())) == 1


@pytest.mark.parametrize(("num_units", "interval"), [(5, None), (6, (-5.0, 7.0))])
def test_few_units_have_no_interval(num_units, interval):
    """Of 6 units, 2^-6 is below 0.025: the ends are the extreme means, which are those of one unit."""
    d = [7, -5, 3, 2, 1, 1][:num_units]
    report = compare(Evaluation.from_arrays({"A": d, "B": [0] * num_units}), **NUMPY)
    assert report.comparisons[0].interval == interval
    assert report.comparisons[0].standard_error > 0.0
    assert all(one.interval is not None for one in report.systems)
    text = "no interval of this kind for 1 pair: there are too few units or resamples for the level; --interval"
    assert any(text in note for note in report.notes) == (interval is None)


def test_one_unit_has_neither_an_interval_nor_a_note_on_it():
    report = compare(Evaluation.from_arrays({"A": [1], "B": [0]}), **NUMPY)
    assert report.comparisons[0].interval is None
    assert report.notes == ("one unit: no standard errors and no intervals",)


def test_ranks_do_not_hang_on_rounding():
    """0.07 * 2400 / 2 is 84, and the product of doubles is a little more or less than whole at other levels."""
    for percent in range(1, 100):
        for resamples in (199, 2399, 99_999):
            assert rank_of_ends(percent / 100, resamples, 0) == percent * (resamples + 1) // 200


@pytest.mark.parametrize("method", ["auto", "montecarlo"])
def test_the_kind_of_interval_changes_nothing_else(method):
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(7), 3, 12), metric="fscore")
    options = SAMPLED | {"test": ["permutation", "bootstrap"], "method": method}
    ours, plain = (compare(evaluation, **(options | {"interval": kind})) for kind in ("inversion", "percentile"))
    assert ours.systems == plain.systems
    assert any("intervals of scores are percentile intervals" in note for note in ours.notes)
    for one, other in zip(ours, plain, strict=True):
        assert (one.p_value, one.standard_error, one.exceed) == (other.p_value, other.standard_error, other.exceed)
        assert one.interval != other.interval
    assert "interval:inversion" in ours.signature


@pytest.mark.parametrize("metric", ["fscore", "precision", lambda sums: sums[..., 0] / 3.0 - 0.1 * sums[..., 2]])
@pytest.mark.parametrize("num_units", [5, 70])
def test_devices_agree(metric, num_units):
    arrays = random_counts(np.random.default_rng(8), 3, num_units)
    evaluation = Evaluation.from_arrays(arrays, metric=metric)
    options = SAMPLED | {"resamples": 3001, "level": 0.6}
    found = [compare(evaluation, **(options | {"device": device})).to_json() for device in ("numpy", "cpu")]
    assert found[0] == found[1]


def test_parts_change_no_bit(monkeypatch):
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(8), 3, 6), metric="fscore")
    options = [NUMPY, SAMPLED | {"level": 0.6}]
    expected = [compare(evaluation, **each).to_json() for each in options]
    monkeypatch.setattr(inversion, "_ROWS", 37)
    assert [compare(evaluation, **each).to_json() for each in options] == expected


@pytest.mark.parametrize("num_units", [9, 80])
def test_a_summary_has_nearly_the_same_interval(num_units):
    """Limits are off by a sixth of their error from sampling, which is a hundredth of the standard error of delta; of
    9 units, 512 resamples or so are of the empty set."""
    arrays = random_counts(np.random.default_rng(9), 3, num_units)
    evaluation = Evaluation.from_arrays(arrays, metric="fscore")
    options = SAMPLED | {"resamples": 140_000}
    kept, small, other = (
        compare(evaluation, **(options | changes))
        for changes in ({}, {"memory": 1e-3}, {"memory": 1e-3, "device": "cpu"})
    )
    assert small.to_json() == other.to_json()
    for near, expected in zip(small, kept, strict=True):
        gap = 0.01 if num_units > 64 else 0.1  # few units have few sets: steps from one to the next
        assert list(near.interval) == pytest.approx(list(expected.interval), abs=gap * expected.standard_error)
        assert near.interval != expected.interval


def test_little_memory_samples_instead_of_all_sets():
    """All sets of 17 of three systems take 3 MiB."""
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(10), 3, 17), metric="fscore")
    options = NUMPY | {"resamples": 140_000}
    every, small, sampled = (
        compare(evaluation, **(options | changes)).comparisons[0].interval
        for changes in ({}, {"memory": 5e-3}, {"memory": 5e-3, "method": "montecarlo"})
    )
    assert small == sampled != every
    assert list(small) == pytest.approx(list(every), abs=0.01)


def test_coverage_is_what_theory_says():
    """The shift of a symmetric law lies in each of the 2^N gaps between sorted means of subsets with the same
    probability (Hartigan 1969): of 7 units, 6 means are cut off on either side at 0.9."""
    simulations, rng = 1500, np.random.default_rng(11)
    systems = {f"s{place}": rng.laplace(0.3, 1.0, 7) for place in range(simulations)}
    evaluation = Evaluation.from_arrays(systems | {"none": np.zeros(7)})
    options = NUMPY | {"baseline": "none", "resamples": 127, "budget": 1e-9, "correction": "none"}
    report = compare(evaluation, level=0.9, **options)
    covered = sum(ours.interval.low <= 0.3 <= ours.interval.high for ours in report)
    expected = 1 - 2 * 6 / 2**7
    assert abs(covered / simulations - expected) < 3.5 * math.sqrt(expected * (1 - expected) / simulations)


def test_intervals_of_many_units_are_those_of_a_normal_law():
    """The means of subsets have the variance of the mean of d without its correction for the sample, and are normal."""
    a, b = np.random.default_rng(12).normal(size=(2, 5000))
    (ours,) = compare(Evaluation.from_arrays({"A": a, "B": b}), **(SAMPLED | {"resamples": 20_000}))
    error = scipy.stats.sem(a - b, ddof=0)
    expected = np.mean(a - b) + np.array([-1.0, 1.0]) * scipy.stats.norm.ppf(0.975) * error
    quantile_error = error * math.sqrt(0.025 * 0.975 / 20_000) / scipy.stats.norm.pdf(1.96)
    assert list(ours.interval) == pytest.approx(expected.tolist(), abs=4 * quantile_error)
