"""Decided pairs: against all p-values within the intervals, exact tests, and the laws of binomial counts."""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, norm
from statsmodels.stats.multitest import multipletests

from sigjax import Evaluation, compare
from sigjax.multiple.decisions import ERROR, MOST_RESAMPLES, StepDown, adjusted_pairs
from sigjax.records import CORRECTIONS, Column, Comparisons, Metric, Settings
from sigjax.records.settings import adjust
from sigjax.testing.problem import exact_columns, sampled_columns

pytestmark = pytest.mark.slow

OF_P_VALUES = [name for name, each in CORRECTIONS.items() if not each.is_resampled]
RESAMPLES = 2000
COUNTS = st.lists(st.sampled_from([0, 1, 3, 10, 30, 60, 100, 130, 200, 900, RESAMPLES]), min_size=1, max_size=3)


class Decided(NamedTuple):
    """What is said of one pair."""

    decided: bool | None
    resamples_needed: int | None


def decide(tests, step_down, asked):
    """The decisions on a family, pair by pair."""
    found = adjusted_pairs(Comparisons.joined(tests), asked, step_down)
    return [Decided(*each) for each in zip(*map(found.values, Decided._fields), strict=True)]


def sampled(exceed, resamples=RESAMPLES):
    counts = np.array([exceed])
    return sampled_columns(counts, (counts + 1) / (resamples + 1), resamples, Column.constant("", 1))


def exact(p):
    return exact_columns([(p, 0.0, 0.0)], Column.constant("", 1))


def p_values_of(tests):
    return Comparisons.joined(tests).column("p_value").values


def ends(hits, resamples, level):
    """Clopper-Pearson intervals by beta quantiles, also of parts of a hit."""
    hits, tail = np.asarray(hits, float), (1.0 - level) / 2.0
    with np.errstate(invalid="ignore"):
        low, high = beta.ppf(tail, hits, resamples - hits + 1), beta.isf(tail, hits + 1, resamples - hits)
    return np.where(hits == 0, 0.0, low), np.where(hits == resamples, 1.0, high)


def intervals(exceed, level):
    """Of SciPy, widened to hold the reported p-values."""
    (low, high), p = ends(exceed, RESAMPLES, level), (np.asarray(exceed) + 1) / (RESAMPLES + 1)
    return np.column_stack([np.minimum(low, p), np.maximum(high, p)])


def within(box):
    """Grid points of a box of p-values, its corners among them: `[point, pair]`."""
    return np.array(list(product(*(np.linspace(low, high, 5) for low, high in box))))


def step_down(order, p_values):
    """The largest of the p-values of the steps down to each pair; `order` has the smallest statistic first."""
    found, largest = np.empty(len(order)), 0.0
    for place in order[::-1]:
        found[place] = largest = max(largest, p_values[place])
    return found


def tilted(p, deviation, level):
    """A p-value whose logarithm has this standard deviation, with its interval."""
    low, high = (p * np.exp(sign * norm.ppf(0.5 + level / 2) * deviation) for sign in (-1, 1))
    replaced = {
        "p_value": Column(np.array([p])),
        "p_interval": Column(np.array([[low, high]])),
        "method": Column(np.ones(1, np.int8), None, ("montecarlo", "tilted")),
    }
    return sampled(0).with_columns(replaced)


@pytest.mark.parametrize("others", [0, 1, 30])
@pytest.mark.parametrize("deviation", [0.05, 0.3])
def test_tilted_p_values_share_the_error_of_the_family(others, deviation):
    """One is decided if alpha is beyond its normal interval at the error over the numbers that were estimated."""
    reach = norm.isf(ERROR / (2 * (others + 1))) * deviation
    for part, decided in [(-1.02, True), (-0.98, False), (0.0, False), (0.98, False), (1.02, True)]:
        asked = Settings(resamples=RESAMPLES, confidence_level=1.0 - 1e-4, correction="none")
        one = tilted(1e-4 * np.exp(part * reach), deviation, asked.confidence_level)
        assert decide([one, exact(0.5), *[sampled(900)] * others], None, asked)[0].decided == decided


@pytest.mark.parametrize("correction", OF_P_VALUES)
@settings(max_examples=30)
@given(COUNTS, st.lists(st.sampled_from([0.0, 0.002, 0.015, 0.03, 0.06, 0.4]), max_size=2))
def test_decided_means_that_all_p_values_in_the_intervals_decide_alike(correction, counts, known):
    asked = Settings(correction=correction, resamples=RESAMPLES)
    tests = [sampled(count) for count in counts] + [exact(p) for p in known]
    box = [*intervals(counts, 1.0 - ERROR / len(counts)), *((p, p) for p in known)]
    decided = np.array([adjust(point, correction) < 0.05 for point in within(box)])
    found = [each.decided for each in decide(tests, None, asked)]
    assert found == (decided == decided[0]).all(axis=0).tolist()
    reported = adjust(p_values_of(tests), correction) < 0.05
    assert np.all((decided[0] == reported) | ~np.array(found))


@given(st.permutations(range(3)), st.tuples(*[st.sampled_from([0, 30, 60, 100, 130, 900])] * 3), st.booleans())
def test_decided_by_maxt_means_that_all_steps_in_the_intervals_decide_alike(order, exceed, one_exact):
    """What the pairs' own p-values are is of no account, but for exact ones above the adjusted."""
    tests = [exact(0.07) if one_exact else sampled(1999), sampled(3), sampled(0)]
    least = np.array([0.07 if one_exact else 0.0, 0.0, 0.0])
    box = intervals(exceed, 1.0 - ERROR / 3)
    decided = np.array([np.maximum(step_down(order, point), least) < 0.05 for point in within(box)])
    counted = StepDown(np.array(exceed), np.array(order))
    found = decide(tests, counted, Settings(correction="maxt", resamples=RESAMPLES))
    assert [each.decided for each in found] == (decided == decided[0]).all(axis=0).tolist()


@settings(max_examples=50)
@given(COUNTS, st.sampled_from(OF_P_VALUES))
def test_as_many_resamples_as_needed_settle_and_the_number_before_does_not(counts, correction):
    """With the same share of hits, by the intervals of SciPy; shares are counted from half a hit."""
    found = decide([sampled(count) for count in counts], None, Settings(correction=correction, resamples=RESAMPLES))
    shares = (np.array(counts) + 0.5) / (RESAMPLES + 1)
    proposed = [m * 10**k for k in range(3, 10) for m in (1, 2, 3, 5) if m * 10**k <= MOST_RESAMPLES]
    for place, each in enumerate(found):
        if each.resamples_needed is None:
            continue
        assert not each.decided
        after = proposed.index(each.resamples_needed)
        assert each.resamples_needed > RESAMPLES
        for number, expected in ((proposed[after], True), (proposed[after - 1], False)):
            if number <= RESAMPLES:
                continue
            low, high = ends(number * shares, number, 1.0 - ERROR / len(counts))
            decided = adjust(low, correction) < 0.05, adjust(high, correction) < 0.05
            assert (decided[0][place] == decided[1][place]) == expected


@pytest.mark.parametrize("correction", OF_P_VALUES)
def test_more_resamples_are_needed_than_were_drawn(correction):
    for count in range(30, 200):
        found = decide([sampled(count)] * 3, None, Settings(correction=correction, resamples=RESAMPLES))
        assert all(each.resamples_needed is None or each.resamples_needed > RESAMPLES for each in found)


@settings(max_examples=40)
@given(st.integers(10, 400), st.integers(0, 2**32), st.sampled_from(OF_P_VALUES))
def test_close_intervals_of_the_open_pairs_alone_say_what_those_of_all_do(num_pairs, seed, correction):
    rng = np.random.default_rng(seed)
    counts = rng.binomial(RESAMPLES, rng.beta(0.4, 3, num_pairs))
    low, high = (adjust(end, correction) < 0.05 for end in intervals(counts, 1.0 - ERROR / num_pairs).T)
    found = decide([sampled(n) for n in counts.tolist()], None, Settings(correction=correction, resamples=RESAMPLES))
    assert [each.decided for each in found] == (low == high).tolist()


@pytest.mark.parametrize("correction", OF_P_VALUES)
def test_decisions_on_decided_pairs_of_counts_are_wrong_with_the_stated_probability_at_most(correction, monkeypatch):
    """With an error of a tenth, and 250 families of p-values near their thresholds."""
    monkeypatch.setattr("sigjax.multiple.decisions.ERROR", 0.1)
    monkeypatch.setattr("sigjax.multiple.decisions.MOST_RESAMPLES", 0)
    rng, trials, asked = np.random.default_rng(4), 250, Settings(correction=correction, resamples=RESAMPLES)
    truth = np.array([0.0004, 0.0155, 0.0165, 0.026, 0.049, 0.2, 0.6])
    right, wrong, decided = adjust(truth, correction) < 0.05, 0, 0
    for _ in range(trials):
        tests = [sampled(count) for count in rng.binomial(RESAMPLES, truth).tolist()]
        sure = np.array([each.decided for each in decide(tests, None, asked)])
        reported = adjust(p_values_of(tests), correction) < 0.05
        wrong += bool(np.any(sure & (reported != right)))
        decided += int(sure.sum())
    assert binomtest(wrong, trials, 0.1, alternative="greater").pvalue > 1e-4
    assert 3 * trials < decided < 7 * trials


@pytest.mark.parametrize(("test", "needed"), [("permutation", {20_000, 300_000}), ("bootstrap", {2_000_000})])
def test_decisions_on_decided_pairs_of_reports_are_those_of_exact_tests(test, needed):
    """Fails by chance for one seed in a thousand at most."""
    rng = np.random.default_rng(3)
    values = {f"s{k}": rng.integers(0, 9, 60) + k // 2 * rng.integers(0, 2, 60) for k in range(7)}
    evaluation = Evaluation.from_arrays(values)
    options = {"test": test, "interval": "none"}
    true = compare(evaluation, **options)
    assert {one.method for one in true} == {"exact"}
    assert {(one.decided, one.resamples_needed) for one in true} == {(None, None)}
    drawn = compare(evaluation, method="montecarlo", resamples=5000, **options)
    assert {one.decided for one in drawn} == {True, False}
    for one, other in zip(drawn, true, strict=True):
        assert not one.decided or (one.p_adjusted < 0.05) == (other.p_adjusted < 0.05)
        assert one.decided is (one.resamples_needed is None)
    assert {one.resamples_needed for one in drawn} >= needed


def one_metric():
    rng = np.random.default_rng(3)
    return Evaluation.from_arrays({f"s{k}": rng.integers(0, 9, 60) + k // 2 * rng.integers(0, 2, 60) for k in range(7)})


def two_metrics():
    """Of six systems, whose p-values lie on both sides of the thresholds."""
    rng = np.random.default_rng(4)
    values = {f"s{k}": rng.integers(0, 9, 60) + k * rng.integers(0, 2, 60) for k in range(6)}
    cubes = Metric("cubes", lambda sums: sums[..., 0], ("x",), lambda x: x[:, None] ** 3, ("x",))
    return [Evaluation.from_arrays(values), Evaluation.from_arrays(values, metric=cubes)]


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
@pytest.mark.parametrize(("correction", "named"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_decisions_are_judged_within_the_family(test, correction, named):
    """By the intervals of SciPy and the corrections of statsmodels, over one metric or over all."""
    options = {"test": test, "correction": correction, "method": "montecarlo", "resamples": RESAMPLES}
    found = {}
    for family, size in (("metric", 15), ("report", 30)):
        report = compare(two_metrics(), family=family, interval="none", **options)
        expected = []
        for start in range(0, 30, size):
            counts = [one.exceed for one in report.comparisons[start : start + size]]
            low, high = (multipletests(end, method=named)[1] < 0.05 for end in intervals(counts, 1.0 - ERROR / size).T)
            expected += (low == high).tolist()
        found[family] = [one.decided for one in report]
        assert found[family] == expected
        assert not any(one.decided and one.resamples_needed for one in report)
    assert found["metric"] != found["report"]


@pytest.mark.parametrize(("data", "family"), [(one_metric, "metric"), (two_metrics, "report")])
def test_maxt_is_judged_by_its_steps(data, family):
    """Each adjusted p-value from an interval that holds alpha is open, and no other; intervals are of all pairs."""
    options = {"correction": "maxt", "method": "montecarlo", "resamples": RESAMPLES, "interval": "none"}
    report = compare(data(), family=family, **options)
    for one in report:
        count = round(one.p_adjusted * (RESAMPLES + 1)) - 1
        ((low, high),) = intervals([count], 1.0 - ERROR / len(report))
        assert one.decided is not (low < 0.05 <= high)
    assert len({one.decided for one in report}) == 2


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.data(), st.sampled_from(OF_P_VALUES))
def test_no_adjusted_p_value_falls_when_one_p_value_rises(p_values, data, correction):
    place = data.draw(st.integers(0, len(p_values) - 1))
    raised = p_values.copy()
    raised[place] = data.draw(st.floats(p_values[place], 1.0))
    corrected = partial(adjust, correction=correction)
    assert np.all(corrected(np.array(p_values)) <= corrected(np.array(raised)))
