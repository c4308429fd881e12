"""Runs on fixed games: against SciPy, closed forms, and the numbers of rliable 1.2 (its README's functions)."""

import gzip
from itertools import product

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, trim_mean

from sigjax import Evaluation, InputError, studies

RNG = np.random.default_rng(5)
A, B = RNG.integers(0, 9, (2, 6, 4)) / 4.0  # [game, run], with ties
GAMES, RUNS = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
PROFILES = {  # at 0.5, 1, 2 and 4, by create_performance_profile
    "DQN": (0.925, 0.5208333333, 0.0291666667, 0.0166666667),
    "C51": (0.9875, 0.8291666667, 0.2875, 0.1458333333),
    "Rainbow": (1.0, 0.9333333333, 0.4458333333, 0.1666666667),
    "IQN": (0.9958333333, 0.9291666667, 0.4666666667, 0.1875),
}
INTERVALS = {  # of median, mean and optimality gap, by 3,000 resamples
    "C51": ((1.2728, 1.3096), (5.9602, 6.7301), (0.0268, 0.0333)),
    "Rainbow": ((1.7618, 1.9282), (8.3321, 8.7132), (0.0094, 0.0146)),
}
MEDIANS = {"C51": 1.2914867928, "DQN": 1.0, "IQN": 1.8229626489, "Rainbow": 1.8455302752}


def study_of(a=A, b=B, **options):
    labels = {"ids": GAMES, "strata": GAMES, "runs": RUNS}
    return studies.rl(Evaluation.from_arrays({"A": a.ravel(), "B": b.ravel()}, **labels), **options)


def test_aggregates_are_those_of_numpy_and_scipy():
    found = {(each.system, each.metric): each.score for each in study_of(resamples=10).aggregates}
    for name, scores in (("A", A), ("B", B)):
        assert found[name, "median"] == np.median(scores.mean(axis=1))
        assert found[name, "iqm"] == pytest.approx(trim_mean(scores, 0.25, axis=None), rel=1e-14)
        assert found[name, "mean"] == pytest.approx(scores.mean(), rel=1e-14)
        assert found[name, "optimality-gap"] == pytest.approx(1 - np.minimum(scores, 1).mean(), rel=1e-14)


def test_improvement_is_the_mean_of_mann_whitney():
    (pair,) = study_of(resamples=10).improvements
    u = [mannwhitneyu(x, y).statistic / 16 for x, y in zip(A, B, strict=True)]
    assert pair.probability == pytest.approx(np.mean(u), rel=1e-14)


def test_profiles_are_fractions_above():
    study = study_of(resamples=10)
    for profile, scores in zip(study.profiles, (A, B), strict=True):
        assert profile.fractions == pytest.approx([(scores > tau).mean() for tau in study.thresholds], abs=1e-6)


def test_profiles_have_the_digits_of_doubles():
    """Fractions were single precision: 0.8333333134651184 in JSON."""
    study = study_of(resamples=50)
    for profile, scores in zip(study.profiles, (A, B), strict=True):
        assert profile.fractions == tuple((scores > at).mean() for at in study.thresholds)
        ends = np.array(profile.bands).ravel() * scores.size * 40  # quantiles of 50 lie at steps of 1/40
        np.testing.assert_allclose(ends, np.rint(ends), atol=1e-9)


def test_runs_of_two_systems_are_drawn_by_themselves():
    """Two games of two runs: all draws of both are listed."""
    a, b = np.array([[0.0, 3.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [0.0, 3.0]])
    every = list(product(range(2), repeat=2))
    of_game = [
        [np.mean(np.sign(x[list(i)][:, None] - y[list(j)]) + 1) / 2 for i, j in product(every, every)]
        for x, y in zip(a, b, strict=True)
    ]
    exact = np.add.outer(*of_game).ravel() / 2
    labels = dict.fromkeys(("ids", "strata"), [0, 0, 1, 1]) | {"runs": [0, 1, 0, 1]}
    evaluation = Evaluation.from_arrays({"A": a.ravel(), "B": b.ravel()}, **labels)
    (pair,) = studies.rl(evaluation, resamples=40_000, confidence_level=0.75).improvements
    assert pair.interval == pytest.approx(np.quantile(exact, [0.125, 0.875]), abs=1e-12)


def test_numbers_are_those_of_rliable_on_atari(data, tmp_path):
    path = tmp_path / "atari.csv"
    path.write_bytes(gzip.decompress((data / "dopamine_atari" / "last_iteration.csv.gz").read_bytes()))
    study = studies.rl(path, read={"strata": "game", "runs": "run", "score_column": "normalized"})
    found = {(each.system, each.metric): each for each in study.aggregates}
    assert {name: found[name, "median"].score for name in MEDIANS} == pytest.approx(MEDIANS, abs=1e-9)
    assert found["IQN", "iqm"].interval == pytest.approx((1.8909, 1.9858), abs=0.002)
    for name, intervals in INTERVALS.items():
        for metric, interval in zip(("median", "mean", "optimality-gap"), intervals, strict=True):
            assert found[name, metric].interval == pytest.approx(interval, rel=0.02)
    for profile in study.profiles:
        between = np.interp([1.0, 2.0, 4.0], study.thresholds, profile.fractions)
        assert between == pytest.approx(PROFILES[profile.system][1:], abs=0.03)
    pairs = {(each.a, each.b): each for each in study.improvements}
    assert 1 - pairs["DQN", "Rainbow"].probability == pytest.approx(0.9166666667, abs=1e-9)
    assert 1 - pairs["Rainbow", "IQN"].probability == pytest.approx(0.4658333333, abs=1e-9)
    assert pairs["Rainbow", "IQN"].interval == pytest.approx((1 - 0.5025, 1 - 0.4292), abs=0.004)


def test_the_text_and_the_figure_have_all_systems_and_pairs():
    study = study_of(resamples=10)
    assert "24 scores per system on 6 tasks, which are fixed" in str(study)
    profiles, pairs = study.plot().axes
    assert [line.get_label() for line in profiles.lines] == ["A", "B"]
    assert [label.get_text() for label in pairs.get_yticklabels()] == ["A > B"]
    points, chance = pairs.lines  # two equal systems improve on each other with probability 0.5
    assert list(points.get_xdata()) == [study.improvements[0].probability]
    assert list(chance.get_xdata()) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("labels", "metric", "message"),
    [
        ({}, "mean", "rl takes runs within games: name the columns of both with read={.strata.*runs"),
        ({"strata": GAMES}, "median", "rl takes one score per run, .*leave metric out"),
    ],
)
def test_other_data_are_refused(labels, metric, message):
    with pytest.raises(InputError, match=message):
        studies.rl(Evaluation.from_arrays({"A": A.ravel(), "B": B.ravel()}, metric=metric, **labels))
