"""Tilted swaps: enumeration of all swaps, exact tests down to 1e-150, and where reports take them."""

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sigjax import Evaluation, InputError, compare, permutation_test
from sigjax.report.methods import to_methods
from sigjax.testing.tilted import _NOISIEST, TiltedSwaps, draw_uniforms


def swaps_of(a, b, score, signs=1):
    """All swaps of outputs `[unit, stat]`, where the signs `[unit]` of the observed swap are -1 for swapped units."""
    swapped = np.broadcast_to(signs, len(a))[:, None] < 0
    values = np.stack([np.where(swapped, b, a), np.where(swapped, a, b)])
    problem: Any = SimpleNamespace(units=SimpleNamespace(values=values, totals=values.sum(axis=1)), scores=score)
    return TiltedSwaps(problem, (0, 1))


def deltas_of(a, b, score, signs):
    """Delta of swaps `[swap, unit]` by the definition."""
    first = np.where(signs[..., None] > 0.0, a, b).sum(axis=-2)
    return score(first) - score((a + b).sum(axis=0) - first)


def bleu(s):
    """Two precisions and a brevity penalty, which has a kink."""
    shorter = np.exp(np.minimum(0.0, 1.0 - s[..., 4] / s[..., 1]))
    return np.sqrt(s[..., 0] / s[..., 1] * s[..., 2] / s[..., 3]) * shorter


def macro(s):
    return sum(2.0 * s[..., 3 * k] / (s[..., 3 * k + 1] + s[..., 3 * k + 2]) for k in range(3)) / 3.0


def skewed(s):
    return s[..., 0] ** 2 / (s[..., 1] + 1.0) - np.sqrt(s[..., 2])


def outputs(name, rng, units):
    """Statistics `[unit, stat]` of one system."""
    if name == "bleu":
        lengths = rng.integers(3, 12, units)
        matches = rng.binomial(lengths, 0.6)
        pairs = rng.binomial(np.maximum(matches - 1, 0), 0.7)
        return np.stack([matches + 1, lengths + 1, pairs + 1, lengths, np.full(units, 8)], axis=1)
    if name == "macro":
        gold, labels = np.arange(units) % 3, rng.integers(0, 3, units)
        labels = np.where(rng.random(units) < 0.5, gold, labels)
        counts = [((gold == k) & (labels == k), labels == k, gold == k) for k in range(3)]
        return 1 + np.concatenate([np.stack(each, axis=1) * (1 + np.arange(units) % 4)[:, None] for each in counts], 1)
    return np.stack([rng.integers(1, 9, units), rng.integers(5, 12, units), rng.integers(0, 5, units)], axis=1)


SCORES = {"bleu": bleu, "macro": macro, "skewed": skewed}


def check_levels(name, alternative, vectors, paths=1, units=8, seeds=2):
    """Over all swaps as the observed one, P(p <= a) <= a for every a, but for the error of some seeds for each."""
    rng = np.random.default_rng(3)
    a, b = outputs(name, rng, units), outputs(name, rng, units)
    p_values = []
    for k, signs in enumerate(itertools.product([1.0, -1.0], repeat=units)):
        swaps = swaps_of(a, b, SCORES[name], signs)
        assert len(swaps.paths) == paths
        two_sided = [math.exp(swaps.p(*draw_uniforms(7 * k + seed, vectors, units), 1e-12)[0]) for seed in range(seeds)]
        below = 0.5 if deltas_of(a, b, SCORES[name], np.array(signs)) > 0.0 else 1.0 / min(two_sided)
        p_values += [p * (1.0 if alternative == "two-sided" else below) for p in two_sided]
    p_values = np.array(p_values)
    for level in np.exp(np.linspace(math.log(0.5**units), 0.0, 40)):
        share = np.mean(p_values <= level)
        assert share <= level + 4.0 * math.sqrt(level / len(p_values))


@pytest.mark.parametrize(("alternative", "vectors"), [("two-sided", 1), ("two-sided", 12), ("greater", 3)])
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.slow
def test_p_keeps_every_level_over_all_swaps(name, alternative, vectors):
    check_levels(name, alternative, vectors)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "units"), [("bleu", 10), ("macro", 10), ("skewed", 10)])
def test_p_keeps_every_level_over_all_swaps_of_many_units(name, units):
    check_levels(name, "two-sided", 4, units=units, seeds=1)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.slow
def test_several_paths_keep_every_level(name, monkeypatch):
    monkeypatch.setattr("sigjax.testing.tilted._BENDS", (1.5, 2.0))
    monkeypatch.setattr("sigjax.testing.tilted._BENT", 0.01)
    check_levels(name, "two-sided", 3, paths=4, units=7)


def test_without_the_vector_of_the_observed_swap_the_level_is_lost(monkeypatch):
    def not_drawn(swaps, uniforms):
        return np.log(uniforms[swaps.units] / (1.0 - uniforms[swaps.units]))[None]

    monkeypatch.setattr(TiltedSwaps, "_through_observed", not_drawn)
    with pytest.raises((AssertionError, RuntimeWarning)):  # where no vector reaches what was observed, p is 0
        check_levels("bleu", "two-sided", 1)


@pytest.mark.parametrize("name", SCORES)
def test_p_is_that_of_all_swaps(name):
    rng = np.random.default_rng(5)
    a, b = outputs(name, rng, 12), outputs(name, rng, 12)
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=12)))
    deltas = deltas_of(a, b, SCORES[name], signs)
    for k in np.argsort(-np.abs(deltas))[[0, 2, 10, 40, 150]]:
        log_p, error = swaps_of(a, b, SCORES[name], signs[k]).p(*draw_uniforms(2, 1024, 12), 1e-12)
        exact = np.mean(np.abs(deltas) >= abs(deltas[k]) - 1e-12)
        assert error < 0.05
        assert abs(log_p - math.log(exact)) < 5.0 * error


def random_set(name, rng, units):
    """Statistics `[unit, stat]` of two systems, and a score: monotone, periodic, with kinks, or flat in places."""
    columns = {"sin": 1, "slow sin": 1, "lognormal": 1, "clip": 1}.get(name, 3 if name in ("norm", "most of 3") else 2)
    scales = np.exp(rng.normal(size=columns))
    a, b = rng.normal(size=(2, units, columns)) * scales
    if name == "lognormal":
        a, b = rng.lognormal(sigma=2, size=(2, units, 1))
    if name == "ratio":
        a, b = rng.exponential(size=(2, units, 2))
    offset = rng.normal(size=columns) * 1.4 * scales.max() * math.sqrt(units)
    scores = {
        "sin": lambda s: np.sin(s[..., 0]),
        "slow sin": lambda s: np.sin(s[..., 0] / 8.0),
        "clip": lambda s: np.clip(s[..., 0], -2.0, 2.0),
        "lognormal": lambda s: s[..., 0],
        "ratio": lambda s: s[..., 0] / s[..., 1],
        "product": lambda s: s[..., 0] * s[..., 1],
        "least": lambda s: (s + offset).min(axis=-1),
        "most": lambda s: (s + offset).max(axis=-1),
        "most of 3": lambda s: (s + offset).max(axis=-1),
        "norm": lambda s: np.sqrt((s**2).sum(axis=-1)),
        "rectified": lambda s: np.maximum(s + offset, 0.0).sum(axis=-1),
    }
    return a, b, scores[name]


def intervals_against_enumeration(name, units, sets, tests=4):
    """How many of the p-values of random sets have an interval, how many of these miss p of all swaps, and by what."""
    signs = np.array([(1.0, *rest) for rest in itertools.product([1.0, -1.0], repeat=units - 1)])
    missed, kept, farthest = 0, 0, 0.0
    for number in range(sets):
        a, b, score = random_set(name, np.random.default_rng([number, units]), units)
        half, apart = 0.5 * (a + b).sum(axis=0), 0.5 * (a - b)
        deltas = np.abs(score(half + signs @ apart) - score(half - signs @ apart))
        tolerance = 1e-12 * deltas.max()
        order = np.argsort(-deltas)
        for rank in np.unique(np.geomspace(1, 0.03 * len(deltas), tests).astype(int) - 1):
            observed = order[rank]
            exact = float(np.mean(deltas >= deltas[observed] - tolerance))
            swaps = swaps_of(a, b, score, signs[observed])
            if exact > 0.03 or not swaps.paths:
                continue
            log_p, error = swaps.p(*draw_uniforms(number * 97 + int(rank), 512, units), tolerance)
            if error <= _NOISIEST / math.sqrt(512):
                apart_by = abs(log_p - math.log(exact))
                kept, missed, farthest = kept + 1, missed + (apart_by > 1.96 * error + 1e-9), max(farthest, apart_by)
    return kept, missed, farthest


KINDS = {"monotone": ("lognormal", "ratio", "product"), "periodic": ("sin", "slow sin", "clip")}
KINDS |= {"kinks": ("least", "most", "most of 3", "norm", "rectified")}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_p_of_all_swaps_or_there_is_none(kind):
    """Scores whose extreme swaps lie in several directions, or nearer than others that are not extreme."""
    kept, missed, farthest = np.array([intervals_against_enumeration(name, 12, 40) for name in KINDS[kind]]).T
    allowed = 0.05 * kept + 3.0 * np.sqrt(0.05 * 0.95 * kept)
    assert (missed <= allowed).all()
    assert missed.sum() <= 0.05 * kept.sum() + 3.0 * math.sqrt(0.05 * 0.95 * kept.sum())
    assert farthest.max() < 0.6
    if kind == "monotone":
        assert (kept > 120).all()


@pytest.mark.parametrize("name", ["rectified", "most of 3", "sin"])
@pytest.mark.slow
def test_swaps_that_no_path_leads_to_are_missed_by_no_interval(name):
    """Their p was e^-3.9 of the true one, with an error of 1%."""
    kept, missed, farthest = intervals_against_enumeration(name, 14, 12)
    assert missed <= 0.05 * kept + 3.0 * math.sqrt(0.05 * 0.95 * kept)
    assert farthest < 0.6


def test_scores_that_are_not_monotone_keep_the_floor():
    """The sine of a sum is as far from 0 after a few swaps as after many; and a note says that p can be no smaller."""
    a, b = np.random.default_rng(0).normal(size=(2, 40))
    a, b = a + (1.5 - a.sum()) / 40, b + (-1.5 - b.sum()) / 40
    options = {"resamples": 15, "interval": "none", "device": "numpy"}
    report = compare({"A": a, "B": b}, read={"metric": lambda s: np.sin(s[..., 0])}, **options)
    assert (report[0].method, report[0].p_value, report[0].exceed) == ("montecarlo", 1 / 16, 0)
    assert any("cannot become significant at 0.05" in note and "--budget" not in note for note in report.notes)


@pytest.mark.parametrize("metric", ["balanced-accuracy", "macro-recall"])
def test_effects_that_cancel_are_no_effects(metric):
    """With classes of equal size both metrics are the accuracy, which has an exact test; p was 1e-5 for 3.6e-15."""
    tilted = 0
    for seed in range(9):
        rng = np.random.default_rng(seed)
        gold = np.tile(np.arange(3), 80)
        labels = {
            name: np.where(rng.random(240) < accuracy, gold, rng.integers(0, 3, 240)).astype(str)
            for name, accuracy in (("A", 0.95), ("B", 0.4))
        }
        clusters = [i // 2 for i in range(240)]
        one, exact = (
            compare(
                Evaluation.from_predictions(gold.astype(str), labels, metric=each, clusters=clusters),
                interval="none",
                device="numpy",
                resamples=999,
            )[0]
            for each in (metric, "accuracy")
        )
        assert exact.method == "exact"
        low, high = one.p_interval  # pyright: ignore
        tilted += one.method == "tilted"
        assert 0.8 * low < exact.p_value < 1.25 * high
    assert tilted >= 6


def test_weights_are_those_of_the_mixture_where_sizes_differ_most():
    """Where the means of tilts are all but equal, nodes between which weights are interpolated coincide."""
    for sigma in (1.0, 4.0, 8.0):
        rng = np.random.default_rng(int(sigma))
        a, b = rng.lognormal(sigma=sigma, size=(2, 30, 1))
        swaps = swaps_of(a, b, lambda s: s[..., 0])
        (path,) = swaps.paths
        signs = rng.choice([-1.0, 1.0], (200, 30), p=[0.1, 0.9]) * path.signs
        turned = -2.0 * path.thetas[:, None] * path.effects * signs[:, None]  # [swap, tilt, unit]
        of_tilts = (math.log(2.0) - np.logaddexp(0.0, turned)).sum(axis=2)
        logs = np.logaddexp.reduce(of_tilts, axis=1) - math.log(len(path.thetas))
        np.testing.assert_allclose(swaps.log_weights(signs @ swaps.apart), -logs, rtol=0, atol=1e-4)


@pytest.mark.parametrize("better", ["a", "b"])
def test_the_tilt_of_the_observed_swap_is_drawn_by_its_chance(better):
    """A tilt is as likely as it gives the swap in which one system wins all units, the strongest tilt most of all."""
    ones, zeros = np.ones((12, 1), int), np.zeros((12, 1), int)
    values = (ones, zeros) if better == "a" else (zeros, ones)
    swaps = swaps_of(*values, lambda sums: sums[..., 0] / 12.0)
    (path,) = swaps.paths
    below = 1.0 / (1.0 + np.exp(-2.0 * path.thetas / math.sqrt(12.0)))  # effects have norm 1
    ends = np.cumsum(below**12) / (below**12).sum()
    assert ends[-2] < 0.7
    for start, end, chance in [*zip([0.0, *ends], ends, below, strict=False)][-5:]:
        for drawn in (0.999 * start + 0.001 * end, 0.001 * start + 0.999 * end):
            logits = swaps._through_observed(np.r_[np.full(12, 0.6), drawn])[0]
            assert 1.0 / (1.0 + np.exp(-logits)) == pytest.approx(np.full(12, 0.6 * chance), rel=1e-9)


def test_paths_do_not_depend_on_the_observed_swap():
    rng = np.random.default_rng(1)
    a, b = outputs("bleu", rng, 300), outputs("bleu", rng, 300)
    signs = rng.choice([-1.0, 1.0], 300)
    first, other = swaps_of(a, b, bleu), swaps_of(a, b, bleu, signs)
    assert len(first.paths) == len(other.paths)
    for one, two in zip(first.paths, other.paths, strict=True):
        np.testing.assert_array_equal(one.thetas, two.thetas)
        np.testing.assert_array_equal(one.log_norms, two.log_norms)
        np.testing.assert_array_equal(one.effects, two.effects * signs[first.units])
        np.testing.assert_array_equal(one.signs, two.signs * signs[first.units])


def test_weights_are_those_of_the_mixture():
    rng = np.random.default_rng(2)
    a, b = outputs("skewed", rng, 40), outputs("skewed", rng, 40)
    swaps = swaps_of(a, b, skewed)
    signs = rng.choice([-1.0, 1.0], (500, len(swaps.units)), p=[0.1, 0.9]) * swaps.paths[0].signs
    logs = []
    for path in swaps.paths:
        tilts = path.thetas[:, None] * path.effects
        probabilities = 1.0 / (1.0 + np.exp(-2.0 * tilts * signs[:, None]))  # [swap, tilt, unit]
        logs.append(np.logaddexp.reduce(np.log(2.0 * probabilities).sum(axis=2), axis=1) - math.log(len(tilts)))
    expected = math.log(len(logs)) - np.logaddexp.reduce(logs)
    np.testing.assert_allclose(swaps.log_weights(signs @ swaps.apart), expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize(("units", "ahead"), [(60, 60), (200, 150), (557, 400), (557, 500), (2000, 1250)])
def test_accuracy_is_exact_to_five_percent(units, ahead):
    a, b = (np.repeat([[k], [1 - k]], [ahead, units - ahead], axis=0) for k in (1, 0))
    log_p, error = swaps_of(a, b, lambda s: s[..., 0]).p(*draw_uniforms(0, 1024, units), 1e-9)
    exact = binom.logsf(ahead - 1, units, 0.5) + math.log(2.0)
    assert error < 0.03
    assert abs(math.expm1(log_p - exact)) < 0.05


@pytest.mark.parametrize("better", [0.05, 0.1, 0.2, 0.35])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_f1_is_exact_to_five_percent(better, alternative):
    rng = np.random.default_rng(4)
    gold = rng.integers(1, 8, 600)

    def system(recall):
        found = rng.binomial(gold, recall)
        return np.stack([found, found + rng.poisson(1.5 * (1.0 - recall), 600), gold], axis=1)

    a, b = system(0.6 + better), system(0.6)
    swaps = swaps_of(a, b, lambda s: 2.0 * s[..., 0] / (s[..., 1] + s[..., 2]))
    exact = permutation_test(a, b, metric="fscore", alternative=alternative)
    log_p, error = swaps.p(*draw_uniforms(1, 1024, 600), 1e-12)
    log_p -= math.log(2.0) * (alternative != "two-sided")
    assert exact.method == "exact"
    assert error < 0.04
    assert abs(log_p - exact.log10_p * math.log(10.0)) < 4.0 * error


def evaluation(units=150):
    rng = np.random.default_rng(8)
    gold = rng.integers(0, 3, units)

    def system(accuracy):
        labels = np.where(rng.random(units) < accuracy, gold, rng.integers(0, 3, units))
        return np.concatenate([np.stack([(gold == k) & (labels == k), labels == k, gold == k], 1) for k in range(3)], 1)

    systems = {"A": system(0.95), "B": system(0.5), "C": system(0.4), "D": system(0.75)}
    return Evaluation.from_arrays({name: values.astype(int) for name, values in systems.items()}, metric=macro)


def test_only_pairs_at_the_floor_are_tilted():
    data, options = evaluation(), {"resamples": 2000, "interval": "none", "device": "numpy"}
    plain, report = compare(data, method="montecarlo", **options), compare(data, **options)
    assert {one.method for one in report} == {"montecarlo", "tilted"}
    for one, other in zip(report, plain, strict=True):
        assert (one.exceed, one.resamples) == (other.exceed, 2000)
        assert (one.method == "tilted") == (other.exceed == 0)
        if one.exceed:
            assert (one.p_value, one.p_interval) == (other.p_value, other.p_interval)
        else:
            low, high = one.p_interval or (1.0, 0.0)
            assert low < one.p_value < high < 1 / 2001
            assert one.log10_p == pytest.approx(math.log10(one.p_value), abs=1e-12)
            assert one.decided
    assert "importance sampling" in report.to_text()
    assert r"importance sampling~\cite{harrison2012}" in to_methods(report)


@pytest.mark.slow
def test_no_tilted_p_value_is_above_the_floor():
    """Some pairs have no extreme swap among 100, but more than one in 101 is as extreme: these keep the floor."""
    rng, gold = np.random.default_rng(0), np.arange(40) % 3

    def system(share):
        labels = np.where(rng.random(40) < share, gold, rng.integers(0, 3, 40))
        of_classes = [np.stack([(gold == k) & (labels == k), labels == k, gold == k], axis=1) for k in range(3)]
        return np.concatenate(of_classes, axis=1).astype(int)

    data = {f"s{k}": system(share) for k, share in enumerate(np.linspace(0.2, 0.8, 10))}
    report = compare(Evaluation.from_arrays(data, metric=macro), resamples=100, interval="none", device="numpy")
    at_floor = [one for one in report if one.exceed == 0]
    assert {one.method for one in at_floor} == {"montecarlo", "tilted"}
    for one in at_floor:
        assert one.p_value < 1 / 101 if one.method == "tilted" else one.p_value == 1 / 101


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.slow
def test_small_p_agree_with_many_plain_swaps(name):
    rng = np.random.default_rng(6)
    a, b = outputs(name, rng, 60), outputs(name, rng, 60)
    signs = rng.choice([-1.0, 1.0], (100_000, 60))
    deltas = np.abs(deltas_of(a, b, SCORES[name], signs))
    observed = int(np.argsort(-deltas)[150])
    log_p, error = swaps_of(a, b, SCORES[name], signs[observed]).p(*draw_uniforms(3, 1024, 60), 1e-12)
    assert error < 0.05
    assert abs(log_p - math.log(151 / 100_000)) < 4.0 * math.hypot(error, 151**-0.5)


@pytest.mark.slow
def test_devices_and_extended_runs_give_the_same_bits():
    data, options = evaluation(), {"resamples": 2048, "interval": "none"}
    report = compare(data, device="numpy", **options)
    assert [one.p_value for one in compare(data, device="cpu", **options)] == [one.p_value for one in report]
    earlier = compare(data, device="numpy", resamples=1000, interval="none")
    assert "tilted" in {one.method for one in earlier}
    extended = compare(data, device="numpy", extend=earlier, **options)
    assert [(one.p_value, one.exceed, one.method) for one in extended] == [
        (one.p_value, one.exceed, one.method) for one in report
    ]


@pytest.mark.parametrize("options", [{"correction": "maxt"}, {"resamples": "auto"}, {"budget": 1e-6}])
def test_what_stays_plain(options):
    report = compare(evaluation(), **{"resamples": 1000, "interval": "none", "device": "numpy"} | options)
    assert {one.method for one in report} == {"montecarlo"}


def test_a_changed_report_is_not_extended(tmp_path):
    path = tmp_path / "report.json"
    report = compare(evaluation(), resamples=1000, interval="none", device="numpy")
    path.write_text(report.to_json().replace('"exceed": 0', '"exceed": 1'))
    with pytest.raises(InputError, match="the report was changed"):
        compare(evaluation(), resamples=2000, interval="none", device="numpy", extend=path)
