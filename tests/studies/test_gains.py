"""Gains: against the normal distribution, enumeration, single comparisons, NumPy's quantiles and scores of the rest."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import sigjax
from sigjax import Evaluation, InputError
from sigjax.cli import _run
from sigjax.report.panels import TWO_COLUMNS
from sigjax.studies import gains
from sigjax.studies.formulas import paired_proportion


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


def answers(systems, size, seed, **labels):
    """Right and wrong answers of systems that are alike."""
    rng = np.random.default_rng(seed)
    skills = 0.5 + 0.02 * np.arange(systems)
    values = (rng.random((systems, size)) < skills[:, None]).astype(int)
    return Evaluation.from_arrays({f"s{k}": own for k, own in enumerate(values)}, metric="accuracy", **labels)


@pytest.mark.parametrize(("alternative", "z", "sides"), [("one-sided", 1.645, 1), ("two-sided", 1.96, 2)])
def test_gains_of_normal_means_are_so_many_standard_errors(alternative, z, sides):
    evaluation, error = alike()
    study = gains(evaluation, alternative=alternative, resamples=20_000, device="numpy")
    assert len(study.pairs) == 24 * 23 / 2
    for pair in study.pairs:
        known = min(1.0, sides * stats.norm.sf(pair.gain / error))
        assert pair.p_value == pytest.approx(known, abs=4.5 * math.sqrt(known / 20_000) + 0.006)
    (at,) = study.points
    used = [pair for pair in study.pairs if 0.001 <= pair.p_value <= 0.25]
    moved = [pair.gain * stats.norm.isf(0.05 / sides) / stats.norm.isf(pair.p_value / sides) for pair in used]
    assert at.num_pairs == len(used) > 30
    assert (at.median, at.threshold) == pytest.approx(tuple(np.quantile(moved, [0.5, 0.95])))
    assert (at.threshold / error, at.median / error) == (pytest.approx(z, rel=0.06), pytest.approx(z, rel=0.04))
    assert at.near == sum(0.04 <= pair.p_value <= 0.06 for pair in study.pairs) > 3
    assert (at.wins, at.share, at.interval, study.elsewhere) == (None, None, None, "")


def test_a_sampled_p_of_few_resamples_moves_no_gain():
    """Of 199 resamples, 9 at least as extreme give p = 0.05."""
    study = gains(alike()[0], resamples=199, device="numpy")
    assert study.points[0].num_pairs == sum(0.05 <= pair.p_value <= 0.25 for pair in study.pairs)
    assert any(pair.p_value == 0.045 for pair in study.pairs)


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


@pytest.mark.parametrize("clustered", [False, True])
def test_sizes_are_first_units_and_winners_are_followed_to_the_others(clustered):
    """Each size is the study of its instances; scores on the rest are means of NumPy."""
    labels = {"clusters": [f"c{i // 4}" for i in range(200)]} if clustered else {}
    evaluation = answers(8, 200, seed=5, **labels)
    values, size = evaluation.stats[:, :, 0], 10 if clustered else 40
    how = {"test": ["permutation", "bootstrap"], "p_range": [0.02, 0.3], "resamples": 2000, "device": "numpy"}
    study = gains(evaluation, sizes=[size], **how)
    assert [(at.size, at.test) for at in study.points] == [
        (n, test) for n in (size, 50 if clustered else 200) for test in how["test"]
    ]
    first = {"clusters": labels["clusters"][:40]} if clustered else {}
    part = Evaluation.from_arrays(
        dict(zip(evaluation.systems, values[:, :40], strict=True)), metric="accuracy", **first
    )
    alone = gains(part, **how)
    small = [pair for pair in study.pairs if pair.size == size]
    assert [replace(pair, wins_elsewhere=None) for pair in small] == list(alone.pairs)
    means = values[:, 40:].mean(axis=1)
    for pair in small:
        winner, loser = int(pair.winner[1:]), int(pair.loser[1:])
        assert pair.wins_elsewhere == (pair.gain > 0 and means[winner] > means[loser])
    assert {pair.wins_elsewhere for pair in study.pairs if pair.size != size} == {None}
    for at in study.points[:2]:
        inside = [p for p in small if p.test == at.test and 0.02 <= p.p_value <= 0.3 and p.gain > 0]
        assert (at.near, at.wins) == (len(inside), sum(bool(p.wins_elsewhere) for p in inside))
        assert at.share == at.wins / at.near
        assert at.interval.low < at.share <= at.interval.high
    assert study.document().verdict.endswith(" is significant (one-sided p < 0.16): accuracy, permutation test.")
    assert "gains moved to p = 0.16 by the normal distribution" in str(study)


def test_thresholds_of_normal_means_fall_with_the_root_of_the_size():
    values = np.random.default_rng(0).normal(size=(16, 800)) + 0.05 * np.arange(16)[:, None]
    evaluation = Evaluation.from_arrays({f"s{k}": own for k, own in enumerate(values)})
    study = gains(evaluation, sizes=[50, 100, 200, 400], resamples=4_000, device="numpy")
    sizes, thresholds = np.array([(at.size, at.threshold) for at in study.points]).T
    # The 95th percentile of estimated standard errors is a little above the true one, most on few instances.
    known = 1.645 * np.sqrt(2 / sizes)
    assert thresholds == pytest.approx(known, rel=0.25)
    assert thresholds[-1] == pytest.approx(known[-1], rel=0.12)
    slope = stats.linregress(np.log(sizes), np.log(thresholds)).slope
    assert slope == pytest.approx(-0.5, abs=0.08)
    assert f"threshold: as instances to the power {slope:.2f};" in str(study)


@pytest.mark.slow
def test_winners_are_the_better_systems_as_often_as_normal_means_say():
    """The share of right winners with p near 0.05 is that of normal skills and normal errors."""
    rng, effect, size, hits = np.random.default_rng(1), 1.5, 400, []
    how = {"test": "permutation", "method": "montecarlo", "p_range": [0.03, 0.07], "resamples": 999, "device": "numpy"}
    for _ in range(12):
        skills = effect / math.sqrt(size) * np.sqrt(2) * rng.normal(size=40)
        values = rng.normal(size=(40, size)) + skills[:, None]
        data, truth = (
            Evaluation.from_arrays({f"s{k}": own for k, own in enumerate(columns)})
            for columns in (values, skills[:, None] * np.ones((1, 2)))
        )
        study = gains(data, other=truth, **how)
        hits.append((study.points[0].near, study.points[0].wins))
    # Differences of skills over standard errors of delta are normal with SD s: P(d > 0 | z) = Phi(z s / sqrt(1 + s^2)).
    spread = effect * math.sqrt(2)
    known = stats.norm.cdf(stats.norm.isf(0.05) * spread / math.sqrt(1 + spread**2))
    near, wins = np.array(hits).sum(axis=0)
    assert near > 250
    assert wins / near == pytest.approx(known, abs=0.04)


def test_another_test_set_is_one_evaluation_or_file_of_the_same_systems(tmp_path, as_in_python):
    news, mail = answers(12, 150, 1), answers(13, 200, 2)
    study = gains(news, other=mail, p_range=[0.05, 0.3])
    means = mail.stats[:, :, 0].mean(axis=1)
    for pair in study.pairs:
        winner, loser = int(pair.winner[1:]), int(pair.loser[1:])
        assert pair.wins_elsewhere == (pair.gain > 0 and means[winner] > means[loser])
    for name, each in (("news", news), ("mail", mail)):
        each.save(tmp_path / f"{name}.npz")
    command = ["research", "gains", str(tmp_path / "news.npz"), "--other", str(tmp_path / "mail.npz")]
    *texts, _ = as_in_python([*command, "--p-range", "0.05", "0.3"], study).splitlines()
    assert max(map(len, texts)) <= 80
    assert any("the winner has the better score on the other test set, too" in line for line in texts)
    assert "|other:200 instances|" in study.signature


def test_lower_is_better():
    """The same shares by errors as by right answers."""
    sets = {"news": answers(8, 150, 1), "mail": answers(8, 200, 2)}
    wrong = {
        name: replace(each, stats=each.stats * (-1, 1) + (1, 0), metric=replace(each.metric, higher_is_better=False))
        for name, each in sets.items()
    }
    right = gains(sets["news"], other=sets["mail"], test="permutation", p_range=[0.05, 0.3])
    turned = gains(wrong["news"], other=wrong["mail"], test="permutation", p_range=[0.05, 0.3])
    assert right.points[0].near == turned.points[0].near > 3
    assert right.points[0].wins == turned.points[0].wins


def test_the_interval_is_that_of_pairs_that_share_systems():
    """Wilson's interval for the independent pairs that give the variance, over pairs with a common system."""
    rng = np.random.default_rng(4)
    members = np.array(list(itertools.combinations(range(9), 2)))[rng.random(36) < 0.7] * 2
    right = rng.random(len(members)) < 0.7
    errors, systems = right - right.mean(), len(np.unique(members))
    variance = sum(
        errors[i] * errors[j]
        for i, j in itertools.product(range(len(members)), repeat=2)
        if set(members[i]) & set(members[j])
    ) / len(members) ** 2  # fmt: skip
    variance *= systems / (systems - 1)
    trials = min(right.mean() * (1 - right.mean()) / variance, len(members))
    expected = proportion_confint(trials * right.mean(), trials, alpha=0.1, method="wilson")
    assert paired_proportion(right, members, 0.9) == pytest.approx(expected)
    alone = np.arange(8).reshape(-1, 2)
    assert paired_proportion(np.ones(4, bool), alone, 0.95) == pytest.approx(proportion_confint(4, 4, method="wilson"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p_range": [0.06, 0.04]}, r"p_range must be the lowest and the highest p, such as 0.04 0.06, got \[0.06"),
        ({"p_range": [0.05]}, "p_range must be the lowest and the highest p"),
        ({"p_range": [0.0, 0.4]}, "p_range must be one or more"),
        ({"p_range": [0.1, 0.6]}, "p_range must be one or more"),
        ({"quantile": 1.0}, "quantile must be a number between 0 and 1, such as 0.95, got 1.0"),
        ({"resamples": 9}, "resamples must be at least 24"),
        ({"sizes": [40, 81]}, "sizes must be at most the 80 units of the data, got 81"),
        ({"sizes": [1]}, "sizes must be one or more whole numbers"),
        ({"other": tagged(4)}, "other: lacks 's4'; expected all systems and metrics of the data"),
        ({"other": Evaluation.from_arrays({"s0": [1, 0], "s1": [1, 1]})}, "other: lacks 'fscore'"),
        ({"other": 3}, "other: data must be an Evaluation"),
        ({"design": "nested"}, "design nested needs repeated runs"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        gains(tagged(), **options)


def test_few_pairs_are_noted():
    assert "fewer than 20 pairs" in str(gains(tagged(), test="permutation"))
    first = next(at for at in gains(tagged(), test="permutation").points if at.threshold)
    said = f"For 95% of these pairs, a gain above {first.threshold:.4f}"
    assert gains(tagged(), test="permutation").headline.startswith(said)
    study = gains({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]})
    assert (study.points[0].num_pairs, study.points[0].threshold) == (0, None)
    assert "no threshold where no pair has p from 0.001 to 0.25" in " ".join(str(study).split())


def test_figure_and_json():
    evaluation, _ = alike()
    how = {"test": ["bootstrap", "permutation"], "method": "montecarlo", "sizes": [100]}
    study = gains(evaluation, device="numpy", resamples=2_000, **how)
    figure = study.plot()
    assert len(figure.axes) == 2
    assert len(figure.legends) == 1
    assert figure.get_figwidth() <= TWO_COLUMNS + 0.01
    panel = figure.axes[0]
    title = panel.get_title("left").replace("\n", " ")
    assert title.startswith("mean, bootstrap test, 24 systems thresholds: ")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("gain of the better system", "1 − p, one-sided")
    (near,) = [patch.get_extents() for patch in panel.patches if patch.get_label().startswith("p from ")]
    ends = panel.transData.inverted().transform(near)[:, 1]
    assert sorted(1.0 - ends) == pytest.approx(study.p_range)
    shown = {line.get_label(): len(line.get_xdata()) for line in panel.lines}
    assert shown["100 instances"] == shown["200 instances"] == 276
    assert len(json.loads(study.to_json())["pairs"]) == len(study.to_dataframe()) == 4 * 276


def test_the_command_takes_sizes(tmp_path, capsys):
    evaluation = answers(5, 60, 3)
    evaluation.save(tmp_path / "five.npz")
    command = ["research", "gains", str(tmp_path / "five.npz"), "--sizes", "20", "40", "--format", "json"]
    assert _run(command, debug=False) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["points"] == json.loads(gains(evaluation, sizes=[20, 40]).to_json())["points"]
    assert [at["size"] for at in written["points"]] == [20, 40, 60]
