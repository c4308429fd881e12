"""`resamples="auto"`: its error and the validity of its p-values by exact computation, then whole reports."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import random_counts
from scipy.stats import beta, betabinom, binom

from sigjax import Evaluation, InputError, association_test, bootstrap_test, compare, permutation_test
from sigjax.multiple import decisions as stopping
from sigjax.multiple.decisions import CONFIDENCE, ERROR, LOOKS, agree, bounds, count_until_decided, valid_p
from sigjax.records import CORRECTIONS, Column, Settings
from sigjax.records.settings import adjust

pytestmark = pytest.mark.slow

OF_P_VALUES = [name for name, each in CORRECTIONS.items() if not each.is_resampled]
SHORT = (64, 128, 256, 512, 1024)
CAP = LOOKS[-1]


@pytest.mark.parametrize("num_pairs", [1, 300])
def test_bounds_miss_p_with_the_stated_probability_at_most(num_pairs):
    """Summed over the looks, by binomial tails; every probability of a miss at one look is at most its share."""
    for p in (1e-6, 1.6e-4, 0.02):
        misses = 0.0
        for look in LOOKS:
            sd = math.sqrt(look * p * (1.0 - p))
            counts = np.arange(max(0, int(look * p - 7 * sd) - 20), min(look, int(look * p + 7 * sd) + 20) + 1)
            low, high = bounds(counts, look, num_pairs, LOOKS)
            inside = counts[(low <= p) & (p <= high)]
            misses += binom.cdf(inside[0] - 1, look, p) + binom.sf(inside[-1], look, p)
        assert misses <= ERROR / num_pairs * (1 + 1e-6)


def test_bounds_are_beta_quantiles():
    tail = ERROR / (300 * len(LOOKS)) / 2
    counts = np.array([0, 1, 7, 5000, 8192])
    low, high = bounds(counts, 8192, 300, LOOKS)
    np.testing.assert_allclose(low[1:], beta.ppf(tail, counts[1:], 8193 - counts[1:]), rtol=1e-5)
    np.testing.assert_allclose(high[:-1], beta.isf(tail, counts[:-1] + 1, 8192 - counts[:-1]), rtol=1e-5)
    assert (low[0], high[-1]) == (0.0, 1.0)


def running(look, alpha):
    """Counts with which one pair goes on after a look."""
    spread = 8 * math.sqrt(look * alpha)
    counts = np.arange(max(0, int(look * alpha - spread)), int(look * alpha + spread) + 2)
    decided = agree(*bounds(counts, look, 1, LOOKS), np.copy, alpha)
    assert decided[-1]
    assert decided[0] or counts[0] == 0
    return counts[~decided]


def stopping_law(p, alpha):
    """Probabilities that one pair stops as significant, stops as not significant, and does not stop."""
    counts, mass, significant, other = np.zeros(1, int), np.ones(1), 0.0, 0.0
    for before, look in pairwise((0, *LOOKS)):
        on = running(look, alpha)
        drawn = look - before
        significant += mass @ binom.cdf(on[0] - 1 - counts, drawn, p)
        other += mass @ binom.sf(on[-1] - counts, drawn, p)
        mass = mass @ binom.pmf(on - counts[:, None], drawn, p)
        counts = on
    return significant, other, mass.sum()


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 300])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.9, 0.98, 0.9999, 1.0, 1.02, 1.1, 2.0, 15.0])
def test_a_wrong_decision_has_at_most_the_stated_probability(alpha, ratio):
    """All ways to stop, by the law of the counts from look to look; p = alpha is not significant."""
    significant, other, undecided = stopping_law(ratio * alpha, alpha)
    assert significant + other + undecided == pytest.approx(1.0, abs=1e-9)
    assert (other if ratio < 1 else significant) <= ERROR
    if ratio in (0.01, 15.0):
        assert undecided < 1e-6


def small_p_ever(u, looks):
    """P(valid_p <= u at any look) when all orders of the observed delta and its resamples are equally likely."""
    last = int(u * (looks[-1] + 1))
    counts, mass, crossed, before = np.zeros(1, int), np.ones(1), 0.0, 0
    for look in looks:
        drawn = np.arange(min(look, last) + 1)
        law = betabinom.pmf(drawn - counts[:, None], look - before, counts[:, None] + 1, before - counts[:, None] + 1)
        reached = mass @ law
        small = valid_p(drawn, look, looks) <= u
        crossed += reached[small].sum()
        counts, mass, before = drawn[~small], reached[~small], look
    return crossed


@pytest.mark.parametrize("looks", [(4, 8, 16, 32), (10, 11, 12, 90), SHORT])
def test_p_is_valid_at_any_look_for_short_runs(looks):
    attained = np.unique(np.concatenate([valid_p(np.arange(look + 1), look, looks) for look in looks]))
    for u in attained[:: max(1, len(attained) // 30)]:
        assert small_p_ever(u, looks) <= u * (1 + 1e-9)


@pytest.mark.parametrize("u", [1.02 / CAP, 1e-5, 0.05 / 300, 7e-4])
def test_p_is_valid_at_any_look_and_hardly_larger_than_needed(u):
    found = small_p_ever(u, LOOKS)
    assert found <= u * (1 + 1e-9)
    assert found > (1.0 - 1.5 * (1.0 - CONFIDENCE)) * u - 1.0 / CAP


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[4], LOOKS[-2]])
def test_p_before_the_cap_is_a_quantile_of_what_it_will_be(look):
    counts = np.unique((look * np.array([0, 1e-4, 1e-3, 0.05, 0.5, 0.95, 1.0])).astype(int))
    final = np.rint(valid_p(counts[:-1], look, LOOKS) * CONFIDENCE * (CAP + 1)).astype(int) - 1
    law = betabinom(CAP - look, counts[:-1] + 1, look - counts[:-1] + 1)
    assert np.all(law.cdf(final - counts[:-1]) >= CONFIDENCE)
    assert np.all(law.cdf(final - counts[:-1] - 1) < CONFIDENCE)
    assert valid_p(counts[-1:], look, LOOKS) == 1.0


def test_p_at_the_cap_is_hardly_larger_than_usual():
    counts = np.array([0, 10, 52_428, CAP])
    expected = np.minimum((counts + 1) / (CAP + 1) / 0.995, 1.0)
    np.testing.assert_array_equal(valid_p(counts, CAP, LOOKS), expected)


@pytest.mark.parametrize("look", LOOKS)
def test_p_lies_between_the_usual_p_value_and_the_upper_bound(look):
    """So that p is on the side of alpha on which the bounds are; far above 0.1 the bounds may be closer."""
    counts = np.unique(np.geomspace(1, look / 10, 200).astype(int)) - 1
    p_values = valid_p(counts, look, LOOKS)
    assert np.all(np.diff(p_values) > 0)
    assert np.all(p_values > (counts + 1) / (look + 1))
    assert np.all(p_values <= bounds(counts, look, 1, LOOKS)[1])


def binomial_count(shares, seed, calls):
    """Resamples that exceed with given probabilities, the same whatever pairs are asked for."""

    def count(places, start, end):
        calls.append((tuple(places.tolist()), start, end))
        drawn = np.random.default_rng([seed, start]).random((end - start, len(shares)))
        return (drawn < shares)[:, places].sum(axis=0)

    return count


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.03, 0.05, 0.1, 0.5, 1.0]), min_size=1, max_size=6),
    st.lists(st.floats(0, 1), max_size=4),
    st.sampled_from(OF_P_VALUES),
    st.integers(0, 2**32),
)
def test_pairs_stop_once_and_keep_the_decision_of_their_bounds(shares, exact, correction, seed):
    calls = []
    asked = Settings(correction=correction, confidence_level=0.9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stopping, "LOOKS", SHORT)
        reasons = Column.constant("", len(shares))
        found = count_until_decided(binomial_count(np.array(shares), seed, calls), reasons, np.array(exact), asked)
    exceed, drawn, p_values, bounds_of_p = found.arrays("exceed", "resamples", "p_value", "p_interval")
    lowest, highest = bounds_of_p.T
    ends = [end for _, _, end in calls]
    assert [start for _, start, _ in calls] == [0, *ends[:-1]]
    assert ends[-1] == max(drawn)
    for kept, _, end in calls:
        assert set(kept) == {place for place, at in enumerate(drawn) if at >= end}
    for place, resamples in enumerate(drawn.tolist()):
        every = np.arange(len(shares))
        alone = binomial_count(np.array(shares), seed, [])
        parts = [alone(every, start, end)[place] for _, start, end in calls if end <= resamples]
        assert sum(parts) == exceed[place]
    assert np.all((lowest <= p_values) & (p_values <= highest))
    ends = (np.concatenate([end, exact]) for end in (lowest, highest))
    decided = agree(*ends, partial(adjust, correction=correction), asked.alpha)[: len(shares)]
    assert np.all(decided | (drawn == SHORT[-1]))
    rng = np.random.default_rng(seed)
    for share in (0.0, 1.0, rng.random(len(shares)), rng.random(len(shares))):
        between = np.concatenate([lowest + share * (highest - lowest), exact])
        reported = np.concatenate([p_values, exact])
        same = (adjust(between, correction) < 0.1) == (adjust(reported, correction) < 0.1)
        assert np.all(same[: len(shares)] | ~decided)


def product(sums):
    """Three statistics vary, so that there is no exact test of many units."""
    return sums[..., 0] * sums[..., 1] / (1.0 + sums[..., 2])


def leaderboard():
    """Systems of rising quality: pairs from identical to very different, which stop at three looks."""
    rng = np.random.default_rng(9)
    arrays = {
        f"s{k}": np.column_stack([rng.binomial(5, 0.4 + 0.04 * k, 150), *rng.integers(3, 9, (2, 150))])
        for k in range(5)
    }
    return Evaluation.from_arrays(arrays | {"twin": arrays["s0"]}, metric=product)


def run(evaluation, resamples="auto", **options):
    return compare(evaluation, resamples=resamples, method="montecarlo", interval="none", progress=False, **options)


@pytest.fixture(scope="module")
def report():
    return run(leaderboard())


def test_counts_are_those_of_as_many_resamples(report):
    """Whatever pairs were left out on the way, the random numbers are the same."""
    stops = {c.resamples for c in report}
    assert len(stops) > 2
    for resamples in stops:
        fixed = run(leaderboard(), resamples)
        assert [c.exceed for c in report if c.resamples == resamples] == [
            other.exceed for c, other in zip(report, fixed, strict=True) if c.resamples == resamples
        ]


@pytest.mark.parametrize("correction", OF_P_VALUES)
def test_decisions_on_decided_pairs_are_those_of_exact_tests(correction):
    """Fails by chance for one seed in a thousand at most."""
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(5), 8, 60), metric="fscore")
    exact = compare(evaluation, method="exact", interval="none", correction=correction)
    decided = 0
    for one, true in zip(run(evaluation, correction=correction), exact, strict=True):
        assert one.p_interval.low <= true.p_value <= one.p_interval.high
        if one.decided:
            decided += 1
            assert (one.p_adjusted < 0.05) == (true.p_adjusted < 0.05)
    assert decided >= 20


def test_pairs_with_exact_p_values_take_part_in_the_correction():
    """Of a and b few units differ, so that they need no sampling; c differs from both everywhere."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 9, (60, 3))
    b, c = a.copy(), a + rng.integers(0, 3, (60, 3))
    b[:12, 0] += rng.integers(1, 4, 12)
    report = compare(
        Evaluation.from_arrays({"a": a, "b": b, "c": c}, metric=product), resamples="auto", interval="none"
    )
    assert {x.method for x in report} == {"exact", "montecarlo"}
    assert [x.decided for x in report] == [True] * 3  # also the exact one, which the others could have changed
    adjusted = adjust(np.array([x.p_value for x in report]), "holm")
    np.testing.assert_array_equal([x.p_adjusted for x in report], adjusted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_test([1, 2, 4], [0, 2, 1], resamples="auto"), "belongs to the permutation test"),
        (lambda: association_test([0, 1], [0, 1], resamples="auto"), "resamples must be a whole number"),
        (lambda: permutation_test([1, 2, 4], [0, 2, 1], resamples="many"), "resamples must be"),
    ],
)
def test_what_cannot_stop_by_itself_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12), st.sampled_from(OF_P_VALUES))
def test_no_adjusted_p_value_falls_when_p_values_rise(pairs, correction):
    low, high = np.sort(np.array(pairs), axis=1).T
    assert np.all(adjust(low, correction) <= adjust(high, correction))


def test_a_pair_at_the_threshold_reaches_the_cap_and_the_report_says_so(monkeypatch):
    """With alpha the exact p-value itself, nothing can settle the decision."""
    monkeypatch.setattr(stopping, "LOOKS", SHORT)
    evaluation = Evaluation.from_arrays(random_counts(np.random.default_rng(5), 2, 60), metric="fscore")
    (exact,) = compare(evaluation, method="exact", interval="none")
    report = run(evaluation, confidence_level=1.0 - exact.p_value)
    (one,) = report
    assert (one.resamples, one.decided) == (SHORT[-1], False)
    assert one.p_value == (one.exceed + 1) / (SHORT[-1] + 1) / CONFIDENCE
    assert report.notes[-1] == "fscore: undecided at 1,024 resamples: s0 - s1"
    assert "is uncertain: more resamples could change it" in " ".join(str(report).split())
    assert "99.9% interval of p" in report.to_text()


def test_a_run_goes_on_from_its_checkpoint(report, tmp_path):
    """The second run finds all counts in the file, whichever pairs each of them is of."""
    path = tmp_path / "run.ckpt"
    for _ in range(2):
        assert run(leaderboard(), checkpoint=path).to_json() == report.to_json()
