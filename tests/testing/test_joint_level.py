"""Simultaneous intervals of metrics of sums: against SciPy's studentized range and multivariate normal laws, and in a
simulation."""

import math
from itertools import combinations

import numpy as np
import pytest
from oracles import random_counts
from samples import with_covariance
from scipy import stats

from sigjax import Evaluation, SampleMetric, compare
from sigjax.records import CORRECTIONS, Settings
from sigjax.records.settings import adjust
from sigjax.resample.units import make_units
from sigjax.testing.intervals import jackknife_intervals, joint_level, normal_maxima, tango_interval, wilson_interval
from sigjax.testing.problem import SumsProblem

DRAWS = 20_000
OPTIONS = {
    "interval": "simultaneous",
    "test": "bootstrap",
    "method": "montecarlo",
    "resamples": DRAWS,
    "device": "numpy",
}


def critical(record, degrees):
    """How far the nearer end is, which skewness leaves alone, in standard errors, as a normal quantile of t's level."""
    nearer = min(record.interval.high - record.delta, record.delta - record.interval.low)
    return float(stats.norm.isf(stats.t.sf(nearer / record.standard_error, degrees)))


def near_level(share, level=0.95):
    return abs(share - level) < 4 * math.sqrt(level * (1 - level) / DRAWS) + 1e-3


@pytest.mark.parametrize("num_units", [10, 15, 500])
def test_levels_are_those_of_normal_laws(num_units):
    """All pairs of independent systems: Tukey's studentized range. Pairs with a baseline: Dunnett's, whose correlations
    are a half."""
    alike = with_covariance(np.eye(4), num_units, 4)
    every = [critical(one, num_units - 1) for one in compare(alike, **OPTIONS)]
    assert max(every) == pytest.approx(min(every), rel=1e-9)
    assert near_level(stats.studentized_range.cdf(min(every) * math.sqrt(2.0), 4, np.inf))
    c = critical(compare(alike, baseline="s1", **OPTIONS).comparisons[0], num_units - 1)
    law = stats.multivariate_normal(np.zeros(3), (np.eye(3) + 1.0) / 2.0, seed=1)
    assert near_level(law.cdf(np.full(3, c), lower_limit=np.full(3, -c)))


@pytest.mark.parametrize(("num_systems", "num_units"), [(3, 3), (3, 9), (12, 11), (20, 19)])
def test_few_units_get_the_level_of_bonferroni(num_systems, num_units):
    """With so few, or fewer than systems, the correlations of deltas are not known well enough."""
    values = np.random.default_rng(4).normal(size=(num_systems, num_units))
    few = Evaluation.from_arrays({str(place): each for place, each in enumerate(values)})
    report = compare(few, **OPTIONS | {"resamples": 2000})
    expected = [stats.norm.isf(0.05 / 2 / len(report))] * len(report)
    assert [critical(one, num_units - 1) for one in report] == pytest.approx(expected, rel=1e-9)


def test_one_pair_has_nearly_the_interval_of_t():
    a, b = np.random.default_rng(6).gamma(0.5, size=(2, 12))
    (one,) = compare(Evaluation.from_arrays({"A": a, "B": b}), **OPTIONS)
    assert near_level(1 - 2 * stats.norm.sf(critical(one, 11)))


def test_proportions_have_score_intervals_at_the_level_of_a_normal_law():
    """The level of each is that of the largest normal deviate; where no answer varies, one more that is independent."""
    rng = np.random.default_rng(8)
    answers = (rng.random((3, 40)) < 0.7).astype(int)
    answers[2] = 1
    report = compare(Evaluation.from_arrays(dict(zip("ABC", answers, strict=True)), metric="accuracy"), **OPTIONS)
    moves = answers - answers.mean(axis=1, keepdims=True)
    law = stats.multivariate_normal(np.zeros(2), np.corrcoef(moves[:2]), seed=1)
    for_scores = {one.name: one.interval.low for one in report.systems}
    level = level_of(lambda level: wilson_interval(np.array([40]), 40, level)[0][0], for_scores["C"])
    c = stats.norm.ppf((1 + level) / 2)
    assert near_level(law.cdf(np.full(2, c), lower_limit=np.full(2, -c)) * level)
    ends = wilson_interval(answers.sum(axis=1), 40, level)
    assert [for_scores[name] for name in "ABC"] == pytest.approx(ends[0].tolist(), rel=1e-9)
    pair = report.comparisons[0]
    only = [int((x > y).sum()) for x, y in (answers[:2], answers[1::-1])]
    level = level_of(lambda level: tango_interval(*only, 40, level)[0], pair.interval.low)
    assert tuple(pair.interval) == pytest.approx([float(end) for end in tango_interval(*only, 40, level)], rel=1e-9)
    assert 0.975 < level < 0.99


def level_of(end, found):
    """The level at which an end, which falls with the level, is what was found."""
    low, middle, high = 0.0, 0.5, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if end(middle) > found else (low, middle)
    return middle


def test_draws_are_standard_normal():
    """Of one target the largest is its size: half-normal; and independent of how many targets there are."""
    moves = np.random.default_rng(10).normal(size=(3, 50))
    found = normal_maxima(moves, np.array([[0, 3]]), 5000, seed=1)
    assert stats.kstest(found, stats.halfnorm.cdf).pvalue > 1e-3
    more = normal_maxima(moves, np.array([[0, 3], [1, 3], [0, 1]]), 5000, seed=1)
    assert (more >= found).all()
    assert joint_level(more, 0.9) > joint_level(found, 0.9)
    assert joint_level(found, 0.9, others=10**6) == pytest.approx(0.9**1e-6)


@pytest.mark.parametrize(("num_systems", "num_units"), [(5, 8), (20, 10), (30, 12)])
@pytest.mark.slow
def test_intervals_of_many_systems_on_few_units_hold_together(num_systems, num_units):
    """Equal systems of normal numbers: no delta excludes 0 in nine of ten data sets, within binomial error."""
    rng, trials, missed = np.random.default_rng(12), 300, 0
    members = np.array(list(combinations(range(num_systems), 2)), np.int32)
    settings = Settings(interval="simultaneous", confidence_level=0.9, resamples=999)
    for _ in range(trials):
        values = rng.normal(size=(num_systems, num_units))
        evaluation = Evaluation.from_arrays({str(place): each for place, each in enumerate(values)})
        problem = SumsProblem.of(make_units(evaluation), evaluation.metric, members, settings)
        missed += any(not low <= 0.0 <= high for _, low, high in jackknife_intervals(problem)[num_systems:])
    assert missed / trials <= 0.1 + 2.5 * math.sqrt(0.1 * 0.9 / trials)
    assert missed > 0


def test_pairs_that_do_not_vary_are_left_out():
    """Equal systems, one that is another and a constant; and one that is the sum of two others leaves a root."""
    a, c = np.random.default_rng(7).gamma(0.5, size=(2, 30))
    report = compare(Evaluation.from_arrays({"A": a, "same": a, "more": a + 1.0, "C": c}), **OPTIONS)
    alone = compare(Evaluation.from_arrays({"A": a, "C": c}), **OPTIONS).comparisons[0]
    found = {(each.a, each.b): each for each in report}
    assert found["A", "same"].interval == (0.0, 0.0)
    assert found["A", "more"].interval == (-1.0, -1.0)
    assert near_level(1 - 2 * stats.norm.sf(critical(found["A", "C"], 29)))
    assert list(found["A", "C"].interval) == pytest.approx(list(alone.interval), rel=2e-2)
    joined = compare(Evaluation.from_arrays({"A": a, "C": c, "sum": a + c}), **OPTIONS)
    assert all(math.isfinite(critical(one, 29)) for one in joined)


def test_the_seed_says_which_draws():
    evaluation = with_covariance(np.eye(4), 20, 9)
    one, again, other = (compare(evaluation, seed=seed, **OPTIONS).comparisons[0] for seed in (1, 1, 2))
    assert one == again
    assert one.interval != other.interval
    assert one.standard_error == other.standard_error


@pytest.mark.slow
def test_no_interval_is_shorter_than_by_itself():
    """With one pair, and with several that are one, draws would put the level just below as often as above."""
    a, b = np.random.default_rng(9).normal(size=(2, 12))
    for seed in range(20):
        for systems in ({"A": a, "B": b}, {"A": a, "same": a, "B": b}):
            report = compare(Evaluation.from_arrays(systems), **OPTIONS | {"resamples": 1000, "seed": seed})
            alone = compare(Evaluation.from_arrays({"A": a, "B": b}), resamples=1000)
            assert report.comparisons[-1].interval.low <= alone.comparisons[0].interval.low + 1e-12


FAMILYWISE = [name for name, each in CORRECTIONS.items() if each.bounds == "familywise"]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_deltas_have_the_level_that_fits_the_correction(correction):
    """Bonferroni's, by SciPy's t and normal laws; and the scores, and pairs of other corrections, have theirs alone."""
    rng, together = np.random.default_rng(3), correction in FAMILYWISE
    level = 1.0 - 0.05 / 6 if together else 0.95
    answers = Evaluation.from_arrays({name: rng.integers(0, 2, 40) for name in "abcd"}, metric="accuracy")
    report = compare(answers, correction=correction, resamples=200)
    assert {one.joint_pairs for one in report} == {6 if together else 1}
    for one in report:
        a, b = (answers.stats[answers.systems.index(name), :, 0] for name in (one.a, one.b))
        expected = tango_interval(np.array([(a > b).sum()]), np.array([(b > a).sum()]), 40, level)
        assert one.interval == pytest.approx([float(end[0]) for end in expected], abs=1e-12)
    for one in report.systems:
        expected = wilson_interval(np.array([round(40 * one.score)]), 40, 0.95)
        assert one.interval == pytest.approx([float(end[0]) for end in expected], abs=1e-12)
    numbers = with_covariance(np.eye(4), 30, 4)
    for one in compare(numbers, correction=correction, resamples=200):
        nearer = min(one.interval.high - one.delta, one.delta - one.interval.low)
        assert nearer / one.standard_error == pytest.approx(stats.t.isf((1.0 - level) / 2, 29), rel=1e-9)


def test_the_family_is_that_of_the_correction():
    """With all metrics in one family, all their deltas hold together; pairs of other instances count as well."""
    rng = np.random.default_rng(5)
    columns = random_counts(rng, 3, 25)
    evaluations = [Evaluation.from_arrays(columns, metric=metric) for metric in ("fscore", "precision")]
    for family, expected in (("metric", 3), ("report", 6)):
        report = compare(evaluations, family=family, method="montecarlo", resamples=200)
        assert {one.joint_pairs for one in report} == {expected}
    ragged = {name: {f"x{i}": int(i % (3 + k) > 0) for i in range(k, 20)} for k, name in enumerate("abc")}
    report = compare(Evaluation.from_arrays(ragged, metric="accuracy", missing="pairwise"))
    assert {one.joint_pairs for one in report} == {3}
    assert {one.joint_pairs for one in compare(columns, read={"metric": "fscore"}, baseline="1")} == {2}


def test_by_name_intervals_are_for_each_pair_alone():
    evaluation = with_covariance(np.eye(3), 30, 4)
    for interval, joint in (("percentile", 1), ("bca", 1), ("simultaneous", 3)):
        assert {one.joint_pairs for one in compare(evaluation, interval=interval, resamples=300)} == {joint}
    assert {one.joint_pairs for one in compare(evaluation, interval="none")} == {None}


def test_deltas_of_whole_columns_hold_together_and_scores_stay():
    """The deltas are those of "simultaneous", the scores those of "percentile"."""
    rng = np.random.default_rng(8)
    values = {name: rng.normal(size=31) for name in "abc"}
    metric = SampleMetric("median", lambda x: np.median(x, axis=-1), ("x",))
    first, *others = (
        compare(Evaluation.from_arrays(values, metric=metric), interval=each, resamples=500, progress=False)
        for each in ("auto", "simultaneous", "percentile")
    )
    assert [one.interval for one in first] == [one.interval for one in others[0]]
    assert [one.interval for one in first.systems] == [one.interval for one in others[1].systems]
    assert {(one.interval_kind, one.joint_pairs) for one in first} == {("simultaneous", 3)}
    assert {one.interval_kind for one in first.systems} == {"percentile"}


def test_whole_columns_of_two_metrics_have_the_level_of_bonferroni_between_them():
    """Each metric by itself at half the error; scores are each alone."""
    values = dict(zip("abc", np.random.default_rng(8).normal(size=(3, 31)), strict=True))
    own = [SampleMetric(name, function, ("x",)) for name, function in (("median", np.median), ("largest", np.max))]
    both = [Evaluation.from_arrays(values, metric=metric) for metric in own]
    together = compare(both, family="report", resamples=500, progress=False)
    apart = [compare(each, confidence_level=0.975, resamples=500, progress=False) for each in both]
    alone = [compare(each, resamples=500, progress=False) for each in both]
    assert [one.interval for one in together] == [one.interval for report in apart for one in report]
    assert [one.interval for one in together.systems] == [one.interval for report in alone for one in report.systems]


@pytest.mark.parametrize("correction", [name for name in FAMILYWISE if not CORRECTIONS[name].is_resampled])
def test_an_interval_excludes_0_only_if_adjusted_p_is_small(correction):
    """Exact where the test is that of the interval, McNemar's by the normal law and t; the adjusted p are SciPy's and
    ours. Permutation tests may differ in the last pairs: then a note names them."""
    rng = np.random.default_rng(11)
    for _ in range(12):
        num_systems, num_units = int(rng.integers(3, 9)), int(rng.integers(20, 200))
        chances = rng.uniform(0.4, 0.9, num_systems)
        ease = rng.normal(size=num_units)
        bits = (rng.random((num_systems, num_units)) < stats.norm.cdf(stats.norm.ppf(chances)[:, None] + ease)) * 1
        data = Evaluation.from_arrays({f"s{k}": row for k, row in enumerate(bits)}, metric="accuracy")
        report = compare(data, correction=correction, progress=False)
        b = np.array([((bits[int(o.a[1:])] > bits[int(o.b[1:])]).sum()) for o in report])
        c = np.array([((bits[int(o.a[1:])] < bits[int(o.b[1:])]).sum()) for o in report])
        p = stats.chi2.sf((b - c) ** 2 / np.maximum(b + c, 1), 1)
        excludes = np.array([one.interval.low > 0 or one.interval.high < 0 for one in report])
        assert not (excludes & (adjust(p, correction) >= 0.05)).any()
        wrong = [one for one, out in zip(report, excludes, strict=True) if out and one.p_adjusted >= 0.05]
        noted = [note for note in report.notes if "interval without 0" in note]
        assert len(noted) == bool(wrong)
        assert all(f"{one.a} - {one.b}" in noted[0] for one in wrong[:10])


def test_a_pair_that_still_contradicts_is_named():
    """Ten units cannot be significant among 45 pairs by permutation, but t excludes 0."""
    rng = np.random.default_rng(2)
    values = {f"s{k}": 10.0 * k + rng.normal(size=10) for k in range(10)}
    report = compare(values, progress=False)
    (note,) = [note for note in report.notes if "interval without 0" in note]
    assert "adjusted p not below 0.05: s0 - s1, " in note
    assert not [note for note in compare(values, correction="bh").notes if "interval without 0" in note]


def test_intervals_and_p_that_are_adjusted_alike_contradict_and_others_do_not():
    """Five units: the least p is 1/16. Percentile intervals are of one pair each, adjusted p of three."""
    rng = np.random.default_rng(5)
    values = {f"s{k}": 10.0 * k + rng.normal(size=5) for k in range(3)}
    two = {name: values[name] for name in ("s0", "s1")}

    def noted(data, **options):
        report = compare(data, device="numpy", progress=False, **options)
        assert all(one.interval.high < 0 and one.p_adjusted >= 1 / 16 for one in report)
        return sum("interval without 0, but" in note for note in report.notes)

    assert noted(two) == noted(two, interval="percentile") == 1
    assert noted(values) == 1
    assert noted(values, interval="percentile") == 0
