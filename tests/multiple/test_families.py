"""Families over all metrics of a report: every correction against statsmodels or the definition, on shared masks."""

import itertools

import numpy as np
import pytest
from oracles import STATSMODELS, adjusted_p, random_counts, swapped_deltas

from sigjax import Evaluation, InputError, compare
from sigjax.multiple.decisions import ERROR, LOOKS, count_until_decided
from sigjax.records import Column, Metric, Settings
from sigjax.records.settings import adjust
from sigjax.resample.draws import draws_from_strata, row_keys, swap
from sigjax.run import context

pytestmark = pytest.mark.slow

RESAMPLES = 1500  # not a multiple of any tile
SIGNS = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


def evaluations(*, clusters=None, num_instances=70):
    """Three metrics of the same systems: counts, their precision, and reals on another scale, one with ties."""
    rng = np.random.default_rng(3)
    counts = random_counts(rng, 4, num_instances)
    reals = {name: 100 * rng.normal(size=num_instances).round(3) + 20 * k for k, name in enumerate(counts)}
    labels = {"clusters": clusters}
    return [
        Evaluation.from_arrays(counts, metric="fscore", **labels),
        Evaluation.from_arrays(counts, metric="precision", **labels),
        Evaluation.from_arrays(reals, metric="mean", **labels),
    ]


def run(data, **options):
    options = {"method": "montecarlo", "resamples": RESAMPLES, "interval": "none", "family": "report"} | options
    return compare(data, progress=False, **options)


@pytest.mark.parametrize("correction", STATSMODELS)
def test_p_values_of_all_metrics_are_adjusted_together(correction):
    """As statsmodels does for all of them at once; each test has its own family."""
    report = run(evaluations(), correction=correction, test=["bootstrap", "permutation"])
    for test in ("bootstrap", "permutation"):
        rows = [one for one in report if one.test == test]
        p = [one.p_value for one in rows]
        assert len(rows) == 18
        assert p != sorted(p)
        expected = adjusted_p(p, correction)
        np.testing.assert_allclose([one.p_adjusted for one in rows], expected, rtol=1e-12)


@pytest.mark.parametrize("correction", ["holm", "maxt"])
def test_one_metric_is_a_family_of_its_own(correction):
    (one, *_) = evaluations()
    whole = run(one, correction=correction)
    alone = run(one, correction=correction, family="metric")
    assert [each.p_adjusted for each in whole] == [each.p_adjusted for each in alone]


def deltas(masks, evaluation, pair):
    """Deltas, observed and on each mask `[resample, unit]`, and their first-order standard deviation under swaps."""
    score = evaluation.metric.score
    a, b = (units(evaluation, stats) for stats in pair)
    observed = float(score(a.sum(axis=0)) - score(b.sum(axis=0)))
    half, middle = (a - b) / 2, (a + b).sum(axis=0) / 2
    steps = [float(score(middle + h) - score(middle - h)) for h in half]
    found = swapped_deltas(masks[:, : len(a)], a, b, score)
    return np.array([observed, *found]), np.sqrt(np.sum(np.square(steps)))


def units(evaluation, stats):
    if evaluation.clusters is None:
        return stats.astype(float)
    labels = list(dict.fromkeys(evaluation.clusters))
    rows = np.array([labels.index(each) for each in evaluation.clusters])
    return np.array([stats[rows == row].sum(axis=0) for row in range(len(labels))], float)


def maxt_by_definition(statistics):
    """Adjusted p-values from statistics `[hypothesis, 1 + resample]`, the observed ones first."""
    observed, drawn = statistics[:, 0], statistics[:, 1:]
    order, found, largest = np.argsort(-observed, kind="stable"), np.empty(len(observed)), 0.0
    for rank, place in enumerate(order):
        exceed = (drawn[order[rank:]].max(axis=0) >= observed[place] - 1e-9).sum()
        largest = max(largest, (exceed + 1) / (drawn.shape[1] + 1))
        found[place] = largest
    return found


@pytest.mark.parametrize("alternative", SIGNS)
@pytest.mark.parametrize("clusters", [None, tuple(f"d{i // 3}" for i in range(70))])
def test_maxt_over_metrics_is_that_of_the_definition_on_the_same_masks(alternative, clusters):
    """All metrics meet the same masks, which are drawn here once for all of them."""
    data = evaluations(clusters=clusters)
    num_units = 70 if clusters is None else 24
    masks = swap(row_keys(12345, np.arange(RESAMPLES)), draws_from_strata(np.zeros(num_units, int)), np.dtype(float))
    found = [deltas(masks, each, pair) for each in data for pair in itertools.combinations(each.stats, 2)]
    statistics = np.array([SIGNS[alternative](values) / sd for values, sd in found])
    report = run(data, correction="maxt", alternative=alternative)
    np.testing.assert_allclose([one.p_adjusted for one in report], maxt_by_definition(statistics), rtol=1e-12)
    within = run(data, correction="maxt", alternative=alternative, family="metric")
    assert all(one.p_adjusted >= other.p_adjusted for one, other in zip(report, within, strict=True))
    assert [one.p_adjusted for one in report] != [one.p_adjusted for one in within]


def test_maxt_over_metrics_is_the_same_on_every_device_and_for_every_piece(monkeypatch, tmp_path):
    data = evaluations()
    expected = run(data, correction="maxt", device="numpy").to_json()
    assert run(data, correction="maxt", device="cpu", checkpoint=tmp_path / "state").to_json() == expected
    assert run(data, correction="maxt", checkpoint=tmp_path / "state").to_json() == expected
    monkeypatch.setattr(context, "_NUMBERS", 2**10)
    assert run(data, correction="maxt", device="numpy").to_json() == expected
    half = run(data, correction="maxt", resamples=1000)
    assert run(data, correction="maxt", extend=half).to_json() == expected


def test_perfectly_dependent_metrics_cost_nothing_with_maxt():
    """A metric and a hundred times it are one hypothesis, which Holm counts twice."""
    rng = np.random.default_rng(0)
    values = {name: rng.integers(0, 9, 40) for name in "ab"}
    doubled = {name: 100 * each for name, each in values.items()}
    scaled = Metric("scaled", lambda sums: sums[..., 0] / 7.0, ("x",), lambda x: x[:, None], ("x",))
    data = [Evaluation.from_arrays(values), Evaluation.from_arrays(doubled, metric=scaled)]
    assert [one.p_adjusted for one in run(data, correction="maxt")] == [one.p_value for one in run(data)]
    assert all(one.p_adjusted == min(1, 2 * one.p_value) for one in run(data))


def test_ranks_and_letters_follow_the_family():
    """A difference that is significant within its metric, and is not among all metrics."""
    right = {"a": [1] * 7 + [0] * 23, "b": [0] * 30}
    noise = np.random.default_rng(1).integers(0, 2, (2, 30, 1))
    evaluation = [
        Evaluation.from_arrays(right, metric="accuracy"),
        *(
            Evaluation.from_arrays(
                dict(zip("ab", noise, strict=True)),
                metric=Metric(f"m{k}", lambda sums: sums[..., 0], ("x",), lambda x: x[:, None], ("x",)),
            )
            for k in range(4)
        ),
    ]
    within, whole = (compare(evaluation, family=family) for family in ("metric", "report"))
    assert [one.letters for one in within.systems[:2]] == ["a", "b"]
    assert [one.letters for one in whole.systems[:2]] == ["a", "a"]
    assert whole.comparisons[0].p_adjusted == pytest.approx(5 * 2 / 2**7)
    text = " ".join(whole.to_text().split())
    assert "p adjusted by Holm over 5 pairs of all metrics" in text
    assert "p = 0.0156, adjusted p = 0.0781. The difference is" in text
    assert "|correction:holm|family:report|" in whole.signature
    assert "family" not in within.signature


def test_stopping_knows_what_is_not_known_yet_of_other_metrics():
    """p near 0.02 is decided alone, and not among three more that may be smaller or not; nor after too few looks."""
    seen = []

    def count(places, start, end):
        seen.append(end)
        return np.full(len(places), (end - start) // 50)

    stops, bounds_of_p = [], []
    for others in (None, np.array([[0.0, 1.0]] * 3), np.array([[0.9, 0.91]] * 3)):
        found = count_until_decided(count, Column.constant("", 1), np.zeros(0), Settings(), others)
        stops += found.values("resamples")
        bounds_of_p += found.values("p_interval")
    assert stops == [LOOKS[0], LOOKS[-1], LOOKS[0]]
    assert bounds_of_p[2].low < bounds_of_p[0].low


def test_every_metric_has_its_part_of_the_error():
    """Of the pairs of all metrics, those known exactly need none; without a hit, the interval has a closed form."""
    others = np.array([[0.1, 0.3], [0.01, 0.01], [0.0, 1.0], [0.0, 1.0]])
    none = lambda places, start, end: np.zeros(len(places), int)  # noqa: E731
    (found,) = count_until_decided(none, Column.constant("", 1), np.zeros(0), Settings(), others).values("p_interval")
    assert found.high == pytest.approx(1 - (ERROR / 4 / len(LOOKS) / 2) ** (1 / LOOKS[0]), rel=1e-6)


def test_resamples_auto_settles_the_decisions_of_the_family():
    """Against exact p-values of all metrics, adjusted together; fails by chance once in a thousand seeds at most."""
    rng = np.random.default_rng(6)
    data = [
        Evaluation.from_arrays(random_counts(rng, 4, 40), metric=name) for name in ("fscore", "precision", "recall")
    ]
    exact = run(data, method="exact")
    auto = run(data, resamples="auto")
    decided = [one.decided for one in auto]
    assert sum(decided) >= 12
    for one, true in zip(auto, exact, strict=True):
        assert not one.decided or (one.p_adjusted < 0.05) == (true.p_adjusted < 0.05)
    p = np.array([one.p_value for one in auto])
    np.testing.assert_array_equal([one.p_adjusted for one in auto], adjust(p, "holm"))
    assert run(data, resamples="auto", device="cpu").to_json() == auto.to_json()


def test_a_score_that_is_not_finite_is_refused_with_its_metric():
    values = {"a": [1, 0, 1, 1], "b": [0, 1, 0, 0]}
    broken = Metric("broken", lambda s: s[..., 0] / (s[..., 0] != 4), ("x",), lambda x: x[:, None], ("x",))
    data = [Evaluation.from_arrays(values), Evaluation.from_arrays(values, metric=broken)]
    with pytest.raises(InputError, match="metric 'broken' is not a finite number"):
        run(data, correction="maxt", resamples=100, device="numpy")
