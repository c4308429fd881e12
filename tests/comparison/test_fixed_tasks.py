"""Runs within tasks that are fixed, as in rliable: against SciPy, enumeration, and the numbers of rliable 1.2."""

import gzip
from itertools import product

import numpy as np
import pytest
from scipy.stats import trim_mean

import sigjax
from sigjax import Evaluation

GAMES, RUNS = np.repeat(["pong", "qbert", "venture"], 4), np.tile([1, 2, 3, 4], 3)
ARRAYS = {"A": np.random.default_rng(0).lognormal(size=12), "B": np.random.default_rng(1).lognormal(size=12)}
RLIABLE = {  # of the scores by DQN's mean: IQM, its 95% interval by 20,000 resamples, mean, optimality gap
    "C51": (1.3919780649, (1.3755, 1.4086), 6.3780521660, 0.0299001657),
    "DQN": (1.0026442682, (0.9904, 1.0148), 1.0000000000, 0.1517957049),
    "IQN": (1.9395759268, (1.8909, 1.9858), 8.0625066000, 0.0156731386),
    "Rainbow": (1.9916785498, (1.9444, 2.0417), 8.5180841298, 0.0117321197),
}
FIXED = {"strata": "game", "runs": "run", "score_column": "normalized"}


def of_runs(metric="iqm", **labels):
    return Evaluation.from_arrays(ARRAYS, metric=metric, **({"ids": GAMES, "strata": GAMES, "runs": RUNS} | labels))


def long_table(path, *, head="system"):
    lines = [f"game,run,{head},score"]
    lines += [
        f"{game},{run},{name},{score}"
        for name, scores in ARRAYS.items()
        for game, run, score in zip(GAMES, RUNS, scores.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("head", ["system", "algo", "agent"])
def test_a_long_table_works_as_typed(head, tmp_path):
    report = sigjax.compare(
        long_table(tmp_path / "runs.csv", head=head), read={"metric": "iqm", "strata": "game", "runs": "run"}
    )
    for system in report.systems:
        assert system.score == pytest.approx(trim_mean(ARRAYS[system.name], 0.25), rel=1e-14)
    assert report[0].p_value == sigjax.compare(of_runs())[0].p_value
    assert any("runs are the units" in note and "3 strata" in note for note in report.notes)


def test_a_wide_table_is_read_alike(tmp_path):
    path = tmp_path / "runs.csv"
    rows = zip(GAMES, RUNS, ARRAYS["A"].tolist(), ARRAYS["B"].tolist(), strict=True)
    path.write_text("game,seed,A,B\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    wide = sigjax.compare(path, read={"metric": "iqm", "strata": "game", "runs": "seed"})
    assert wide[0].p_value == sigjax.compare(of_runs())[0].p_value
    assert not any("trained" in note for note in wide.notes)


def test_runs_are_drawn_within_their_tasks():
    report = sigjax.compare(of_runs("mean"), test="bootstrap", interval="percentile", resamples=40_000)
    for system in report.systems:
        variances = ARRAYS[system.name].reshape(3, 4).var(axis=1)
        assert system.standard_error == pytest.approx(np.sqrt(variances.sum() / 4) / 3, rel=0.02)


@pytest.mark.parametrize("metric", ["iqm", "mean"])
def test_p_is_over_all_swaps_of_runs_within_tasks(metric):
    a, b = ARRAYS.values()
    score = {"iqm": lambda x: trim_mean(x, 0.25, axis=1), "mean": lambda x: x.mean(axis=1)}[metric]
    swapped = np.array(list(product((False, True), repeat=12)))
    deltas = score(np.where(swapped, b, a)) - score(np.where(swapped, a, b))
    assert sigjax.compare(of_runs(metric))[0].p_value == np.mean(abs(deltas) >= abs(deltas[0]) - 1e-12)


def test_strata_of_several_tasks_keep_the_runs_of_each_together():
    evaluation = of_runs(strata=np.where(GAMES == "pong", "ball", "other"))
    assert (evaluation.runs, len(set(evaluation.ids))) == (tuple(map(str, RUNS)), 3)


def test_the_gap_is_that_to_one():
    report = sigjax.compare(of_runs("optimality-gap"))
    scores = {system.name: system.score for system in report.systems}
    assert scores == {name: pytest.approx(1 - np.minimum(ARRAYS[name], 1).mean()) for name in "AB"}
    assert report[0].better == min(scores, key=scores.__getitem__)


def test_numbers_are_those_of_rliable_on_atari(data, tmp_path):
    path = tmp_path / "atari.csv"
    path.write_bytes(gzip.decompress((data / "dopamine_atari" / "last_iteration.csv.gz").read_bytes()))
    evaluations = [sigjax.read(path, metric=metric, **FIXED) for metric in ("iqm", "mean", "optimality-gap")]
    reports = [sigjax.compare(each, test="bootstrap", resamples=20_000, progress=False) for each in evaluations]
    scores = {(system.name, system.metric): system for report in reports for system in report.systems}
    for name, (iqm, interval, mean, gap) in RLIABLE.items():
        assert scores[name, "iqm"].score == pytest.approx(iqm, abs=2e-10)
        assert scores[name, "iqm"].interval == pytest.approx(interval, abs=0.002)
        assert scores[name, "mean"].score == pytest.approx(mean, abs=2e-9)
        assert scores[name, "optimality-gap"].score == pytest.approx(gap, abs=2e-10)
