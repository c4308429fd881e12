"""Gains and thresholds: against the normal distribution, enumeration, single comparisons and lists of drawn systems."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import sigjax
from sigjax import Evaluation, InputError
from sigjax.readers.options import system_groups
from sigjax.report.plots import TWO_COLUMNS
from sigjax.studies import gains
from sigjax.studies.thresholds import PairsOptions, make_threshold, system_draws
from sigjax.studies.thresholds import weighted_quantiles as quantiles


def alike(systems=24, instances=200, step=0.015, seed=0):
    """Systems whose differences all have the same standard deviation, sqrt(2), and means that are steps apart."""
    columns = np.random.default_rng(seed).normal(size=(instances, systems))
    orthogonal, _ = np.linalg.qr(columns - columns.mean(axis=0))
    values = np.sqrt(instances) * orthogonal + step * np.arange(systems)
    return Evaluation.from_arrays({f"s{k}": values[:, k] for k in range(systems)}), math.sqrt(2 / instances)


def tagged(systems=5, instances=80, seed=1, **labels):
    """Counts for F1."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 8, instances)
    arrays = {}
    for k in range(systems):
        tp = rng.binomial(gold, 0.6 + 0.02 * k)
        arrays[f"s{k}"] = np.stack([tp, tp + rng.integers(0, 3, instances), gold], axis=1)
    return Evaluation.from_arrays(arrays, metric="fscore", **labels)


@pytest.mark.parametrize(("alternative", "z", "sides"), [("one-sided", 1.645, 1), ("two-sided", 1.96, 2)])
def test_gains_of_normal_means_are_so_many_standard_errors(alternative, z, sides):
    evaluation, error = alike()
    study = gains(evaluation, alternative=alternative, resamples=20_000, p_range=[0.03, 0.07], device="numpy")
    assert len(study.pairs) == 24 * 23 / 2
    for pair in study.pairs:
        known = min(1.0, sides * stats.norm.sf(pair.gain / error))
        assert pair.p_value == pytest.approx(known, abs=4.5 * math.sqrt(known / 20_000) + 0.006)
    in_range, moved = (one.thresholds[0] for one in study.thresholds)
    close = [pair.gain for pair in study.pairs if 0.03 <= pair.p_value <= 0.07]
    assert in_range.num_pairs == len(close) > 10
    assert in_range.gain == pytest.approx(np.quantile(close, 0.95))
    assert stats.norm.isf(0.07 / sides) - 0.05 < in_range.gain / error < stats.norm.isf(0.03 / sides) + 0.05
    assert moved.num_pairs > 3 * in_range.num_pairs
    assert moved.gain / error == pytest.approx(z, rel=0.06)


@pytest.mark.parametrize("variant", ["shift", "flip"])
def test_p_is_that_of_all_draws_and_all_swaps(variant):
    values = np.random.default_rng(3).integers(0, 6, (3, 6))
    evaluation = Evaluation.from_arrays(dict(zip("abc", values, strict=True)))
    study = gains(evaluation, test=["bootstrap", "permutation"], variant=variant)
    assert [pair.test for pair in study.pairs] == ["bootstrap"] * 3 + ["permutation"] * 3
    for pair in study.pairs:
        differences = values["abc".index(pair.winner)] - values["abc".index(pair.loser)]
        assert pair.gain == pytest.approx(differences.mean())
        if pair.test == "permutation":
            signs = np.array(list(itertools.product([1, -1], repeat=6)))
            known = (signs @ differences >= differences.sum()).mean()
        else:
            sums = np.array(list(itertools.product(differences, repeat=6))).sum(axis=1)
            known = (sums >= 2 * differences.sum() if variant == "shift" else sums <= 0).mean()
        assert (pair.method, pair.p_value) == ("exact", pytest.approx(known, rel=1e-9))


ERRORS = sigjax.Metric(
    "errors",
    lambda sums: (sums[..., 1] - sums[..., 0]) / sums[..., 2],
    ("tp", "predicted", "gold"),
    lambda *columns: np.stack(columns, axis=-1),
    ("tp", "predicted", "gold"),
    higher_is_better=False,
)


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
@pytest.mark.parametrize("metric", ["fscore", ERRORS])
def test_all_pairs_share_one_matrix_of_counts_and_are_what_each_pair_gives_alone(test, metric):
    higher, arrays = metric == "fscore", dict(zip(tagged().systems, tagged().stats, strict=True))
    evaluation = Evaluation.from_arrays(arrays, metric=metric)
    how = {"test": test, "method": "montecarlo", "resamples": 3_000, "device": "numpy"}
    study = gains(evaluation, **how)
    assert len(study.pairs) == 10
    scores = {one.name: one.score for one in sigjax.compare(evaluation, device="numpy", resamples=99).systems}
    for pair in study.pairs:
        delta = scores[pair.winner] - scores[pair.loser]
        assert pair.gain == pytest.approx(delta if higher else -delta)
        two = Evaluation.from_arrays({name: arrays[name] for name in (pair.winner, pair.loser)}, metric=metric)
        (alone,) = sigjax.compare(two, alternative="greater" if higher else "less", interval="none", **how)
        assert pair.p_value == alone.p_value


def test_quantiles_of_weights_are_those_of_repeated_values():
    rng = np.random.default_rng(0)
    values, weights = np.sort(rng.normal(size=9)), rng.integers(0, 4, (50, 9))
    weights[0] = 0
    for q in (0.05, 0.5, 0.95):
        known = [np.quantile(np.repeat(values, row), q) if row.any() else np.nan for row in weights]
        assert quantiles(values, weights, q) == pytest.approx(known, nan_ok=True)


def test_the_interval_is_that_of_lists_of_drawn_systems():
    study = gains(alike()[0], device="numpy", resamples=5_000, draws=300, confidence_level=0.8, p_range=[0.01, 0.2])
    one = study.thresholds[0].thresholds[0]
    drawn = system_draws(12345, 24, 300)
    assert drawn.shape == (300, 24)
    assert (drawn.sum(axis=1) == 24).all()
    assert drawn.var() == pytest.approx(23 / 24, rel=0.1)
    close = {frozenset((p.winner, p.loser)): p.gain for p in study.pairs if 0.01 <= p.p_value <= 0.2}
    found = []
    for counts in drawn:
        systems = [f"s{k}" for k in np.repeat(np.arange(24), counts)]
        among = [close.get(frozenset(pair)) for pair in itertools.combinations(systems, 2)]
        found.append(np.quantile([gain for gain in among if gain is not None], 0.95))
    assert one.num_pairs >= PairsOptions(confidence_level=0.8).least_pairs == 45
    assert [one.low, one.high] == pytest.approx(np.quantile(found, [0.1, 0.9]))


def test_groups_have_thresholds_of_their_own():
    evaluation, _ = alike()
    groups = {name: "odd" if int(name[1:]) % 2 else "even" for name in evaluation.systems}
    study = gains(evaluation, device="numpy", resamples=5_000, groups=groups, draws=200)
    for one in study.thresholds[:1]:
        assert [each.among for each in one.thresholds] == ["all", "same group", "different groups"]
        assert [each.num_all for each in one.thresholds] == [276, 132, 144]
        for each in one.thresholds[1:]:
            chosen = [
                pair.gain
                for pair in study.pairs
                if 0.04 <= pair.p_value <= 0.06
                and (groups[pair.winner] == groups[pair.loser]) == (each.among == "same group")
            ]
            assert each.num_pairs == len(chosen)
            assert each.gain == (pytest.approx(np.quantile(chosen, 0.95)) if chosen else None)
        assert one.difference is not None
        assert one.difference.difference == one.thresholds[2].gain - one.thresholds[1].gain


NAMES = ["s0", "s1", "s2", "s3", "s4"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p_range": [0.06, 0.04]}, r"p_range must be the lowest and the highest p, such as 0.04 0.06, got \[0.06"),
        ({"p_range": [0.05]}, "p_range must be the lowest and the highest p"),
        ({"p_range": [0.0, 0.5]}, "p_range must be one or more"),
        ({"quantile": 1.0}, "quantile must be a number between 0 and 1, such as 0.95, got 1.0"),
        ({"groups": {"s0": "x"}}, "groups: no group for 's1', 's2', 's3', 's4'; expected one for every system"),
        (
            {"groups": dict.fromkeys(["s0", "s1", "s2", "s3", "s4", "S5"], "x")},
            "groups: 'S5': no such system; systems: 's0'",
        ),
        ({"groups": dict.fromkeys(NAMES, "x")}, "groups: all systems have the group 'x'"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        gains(tagged(), **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.tsv", "a,x\n", r"g.tsv, line 1: expected a system, a tab and its group, got 'a,x'"),
        ("g.csv", "a,x\nb\n", r"g.csv, line 2: expected a system, a comma and its group, got 'b'"),
        ("g.tsv", "a\tx\n\nb\ty\n", "g.tsv, line 2: expected a system, a tab and its group, got ''"),
        ("g.tsv", "a\tx\na\ty\n", "g.tsv, line 2: system 'a' is there twice; name it once"),
        ("g.tsv", "a\tx\nc\ty\nb\tx\n", "g.tsv: 'c': no such system; systems: 'a', 'b'"),
        ("g.tsv", "a\tx\n", "g.tsv: no group for 'b'; expected one for every system"),
    ],
)
def test_refused_group_files(write, name, content, message):
    with pytest.raises(InputError, match=message):
        system_groups(str(write(name, content)), ["a", "b"])


def test_figure():
    evaluation, _ = alike()
    groups = {name: name[-1] for name in evaluation.systems}
    how = {"test": ["bootstrap", "permutation"], "method": "montecarlo"}
    figure = gains(evaluation, device="numpy", resamples=2_000, groups=groups, **how).plot()
    assert len(figure.axes) == 2
    assert len(figure.legends) == 1
    assert figure.get_figwidth() <= TWO_COLUMNS + 0.01
    panel = figure.axes[0]
    title = panel.get_title("left").replace("\n", " ")
    assert title.startswith("mean, bootstrap test, 276 pairs of 24 systems")
    assert panel.get_xlabel() == "gain of the better system"
    assert panel.get_ylabel() == "1 − p, one-sided"
    shown = {line.get_label(): len(line.get_xdata()) for line in panel.lines}
    assert shown["same group"] + shown["different groups"] == 276


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "least"), [(12, 0.95), (50, 0.95), (100, 0.9)])
def test_intervals_of_thresholds_cover_those_of_infinitely_many_systems(systems, least):
    """Systems are random, and so are the standard errors of their pairs; the truth is that of 4,000 systems."""
    rng = np.random.default_rng(systems)
    options = PairsOptions(quantile=0.95, confidence_level=0.95)

    def close_pairs(count):
        means, spreads = rng.normal(0.0, 1.2, count), np.exp(0.3 * rng.normal(size=count))
        a, b = np.triu_indices(count, 1)
        values = np.abs(means[a] - means[b])
        p_values = stats.norm.sf(values / np.sqrt((spreads[a] + spreads[b]) / 2))
        chosen = np.flatnonzero((p_values >= 0.04) & (p_values <= 0.06))
        order = chosen[np.argsort(values[chosen])]
        return np.stack([a[order], b[order]], axis=1), values[order]

    truth, hits, trials = np.quantile(close_pairs(4_000)[1], 0.95), 0, 200
    for trial in range(trials):
        one, _ = make_threshold("all", *close_pairs(systems), system_draws(trial, systems, 400), 0, options)
        hits += (one.low is None or one.low <= truth) and (one.high is None or truth <= one.high)
    assert hits / trials >= least - 3 * math.sqrt(least * (1 - least) / trials)
