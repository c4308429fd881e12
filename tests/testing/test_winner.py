"""The interval of the best score: by its definition on a grid of true scores, by simulation, and through one_sample."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr
from scipy.stats import norm

from sigjax import Evaluation, InputError, one_sample
from sigjax.metrics import METRICS
from sigjax.testing.winner import winner_levels, winner_radii

LEVEL = 0.95


def drawn(systems, correlation=0.0, draws=4000, seed=1):
    rng = np.random.default_rng(seed)
    shared, own = rng.standard_normal(draws), rng.standard_normal((systems, draws))
    return math.sqrt(correlation) * shared + math.sqrt(1.0 - correlation) * own


def by_definition(scores, sizes, errors, t, rng):
    """Whether some true scores with t for the winner are accepted: the least favourable ones, and others at random."""
    winner, largest = int(np.argmax(scores)), sizes.max()

    def accepts(truth):
        slack = (truth.max() - truth) / (sizes + largest)
        off = np.abs(scores - truth) / sizes
        # r is the least radius; an error is allowed if it is at most r, or the slack
        needed = np.where(off > slack * (1.0 + 1e-9), off, 0.0).max()
        inside = (errors <= np.maximum(slack[:, None], needed * (1.0 - 1e-9))).all(axis=0).mean()
        return inside < LEVEL or needed == 0.0

    gaps = np.maximum(0.0, t - scores) * (sizes + largest) / (2.0 * sizes + largest)
    gaps[winner] = 0.0
    candidates = [t - gaps]
    for _ in range(60):
        truth = scores + sizes * rng.normal(0.0, rng.choice([0.5, 1.0, 3.0]), len(scores))
        truth[winner] = t
        candidates.append(truth)
    return accepts(candidates[0]), any(map(accepts, candidates[1:]))


@pytest.mark.parametrize("correlation", [0.0, 0.7])
@pytest.mark.parametrize("ahead", [0.5, 4.0, 9.0, 20.0])
def test_ends_are_those_of_the_test_that_is_inverted(ahead, correlation):
    rng, errors = np.random.default_rng(2), np.abs(drawn(6, correlation))
    scores, sizes = np.array([ahead, 0.0, -0.3, -1.0, -4.0, 0.2]), np.array([1.0, 0.8, 1.2, 1.0, 1.1, 0.9])
    below, above = winner_radii(scores, sizes, errors, LEVEL)
    for t in np.linspace(ahead - 4.0, ahead + 4.0, 81):
        inside = ahead - below <= t <= ahead + above
        near = min(abs(t - ahead + below), abs(t - ahead - above)) < 0.02
        least_favourable, others = by_definition(scores, sizes, errors, t, rng)
        assert near or inside == least_favourable
        assert near or inside or not others  # no other true scores make the interval longer


def test_it_is_between_the_interval_alone_and_the_simultaneous_one():
    errors = np.abs(drawn(20, draws=20_000))
    joint, alone = np.quantile(errors.max(axis=0), LEVEL, method="higher"), norm.ppf(0.975)
    before = (math.inf, math.inf)
    for ahead in (0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 30.0):
        radii = winner_radii(np.array([ahead] + [0.0] * 19), np.ones(20), errors, LEVEL)
        assert all(alone - 0.06 <= own <= min(joint, last) for own, last in zip(radii, before, strict=True))
        before = radii
    assert max(before) < alone + 0.06
    assert winner_radii(np.zeros(20), np.ones(20), errors, LEVEL)[0] == joint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "correlation", "sizes"),
    [
        (np.zeros(12), 0.0, np.ones(12)),
        (np.zeros(12), 0.8, np.ones(12)),
        (np.linspace(0.0, 6.0, 12), 0.3, np.ones(12)),
        (np.array([16.0] + [0.0] * 11), 0.0, np.ones(12)),
        (np.zeros(12), 0.0, np.array([4.0] + [1.0] * 11)),
    ],
    ids=["equal", "correlated", "spread", "one ahead", "one noisy"],
)
def test_it_holds_the_true_score_of_the_winner(truth, correlation, sizes):
    known, boards, missed = np.abs(drawn(12, correlation, seed=3)), 400, 0
    for error in drawn(12, correlation, boards, seed=4).T:
        scores = truth + sizes * error
        below, above = winner_radii(scores, sizes, known, LEVEL)
        missed += not -above <= error[int(scores.argmax())] <= below
    assert missed <= 0.05 * boards + 3.5 * math.sqrt(0.0475 * boards)


def answers(systems=15, size=200, ahead=0.0, seed=5):
    rng = np.random.default_rng(seed)
    chance = ndtr(rng.normal(0.3, 1.0, size)) + ahead * (np.arange(systems) == 0)[:, None]
    return {f"s{k}": row.astype(int) for k, row in enumerate(rng.random((systems, size)) < chance)}


def test_one_sample_corrects_the_best_and_no_other():
    data, how = answers(), {"read": {"metric": "accuracy"}}
    plain, corrected = one_sample(data, **how), one_sample(data, best=True, **how)
    scores = [row.score for row in plain]
    best = scores.index(max(scores))
    for number, (own, other) in enumerate(zip(plain, corrected, strict=True)):
        if number != best:
            assert own == other
            assert own.best_of is None
    row = corrected[best]
    assert row.best_of == 15
    assert row.interval.low < plain[best].interval.low < plain[best].interval.high < row.interval.high
    influence = np.stack([(x - x.mean()) / math.sqrt(200.0 * 199.0) for x in map(np.asarray, data.values())])
    low, high = winner_levels(np.array(scores), influence, 0.95, 100_000, 12345)
    right = stats.binomtest(int(data[f"s{best}"].sum()), 200)
    for end, level, which in ((row.interval.low, low, "low"), (row.interval.high, high, "high")):
        assert end == pytest.approx(getattr(right.proportion_ci(level, "exact"), which), rel=1e-9)
    text = " ".join(corrected.to_text().split())
    assert f"Best of 15 systems: s{best} ({row.score:.4f}). Its 95% interval for new instances, which counts" in text
    assert [each["best_of"] for each in json.loads(corrected.to_json())["systems"]].count(15) == 1


@pytest.mark.parametrize(("size", "share"), [(50, 0.02), (50, 0.1), (100, 0.95)])
@pytest.mark.slow
def test_the_best_of_many_with_few_right_or_wrong_answers_misses_rarely(size, share):
    """By enumeration: of 30 systems with independent answers, only the number of right ones of the best counts."""
    counts, chosen = np.arange(size + 1), stats.binom(size, share)
    of_best = np.diff(np.concatenate([[0.0], chosen.cdf(counts) ** 30]))
    likely = np.flatnonzero(of_best > 1e-4)
    missed = 0.0
    for right in likely.tolist():
        rows = {
            f"s{k}": (np.arange(size) < (right if k == 0 else min(right, size // 50))).astype(int) for k in range(30)
        }
        rows = {name: np.roll(row, k) for k, (name, row) in enumerate(rows.items())}
        (best,) = [row for row in one_sample(rows, best=True, read={"metric": "accuracy"}) if row.system == "s0"]
        missed += of_best[right] * (not best.interval.low <= share <= best.interval.high)
    assert missed <= 0.05


def test_skewed_scores_and_equal_bests_are_named():
    rng = np.random.default_rng(2)
    losses = {f"s{k}": rng.lognormal(sigma=1.5, size=30) for k in range(5)}
    losses["again"] = losses[max(losses, key=lambda name: losses[name].mean())]
    (best,) = [row for row in one_sample(losses, best=True) if row.best_of]
    assert any(note.startswith("warning: the scores of instances are skewed") for note in best.notes)
    assert "again has the same score" in best.notes
    even = {f"s{k}": rng.normal(size=100) for k in range(5)}
    (best,) = [row for row in one_sample(even, best=True) if row.best_of]
    assert not any("skewed" in note for note in best.notes)


def test_lower_is_better_chooses_the_smallest_and_turns_the_ends():
    rng = np.random.default_rng(6)
    scores = {f"s{k}": rng.normal(k == 0, 1.0, 60) for k in range(8)}
    up = one_sample(Evaluation.from_arrays(scores, metric="mean"), best=True)
    lower = replace(METRICS["mean"], higher_is_better=False)
    down = one_sample(Evaluation.from_arrays({name: -row for name, row in scores.items()}, metric=lower), best=True)
    (one,), (other,) = ([row for row in each if row.best_of] for each in (up, down))
    assert one.system == other.system == "s0"
    assert (one.interval.low, one.interval.high) == pytest.approx((-other.interval.high, -other.interval.low))


def test_few_units_take_bonferroni():
    influence = np.random.default_rng(7).standard_normal((12, 11))
    assert winner_levels(np.arange(12.0), influence, 0.95, 1000, 1) == pytest.approx((1.0 - 0.05 / 12,) * 2)


def test_what_it_refuses():
    data = answers(3, 20)
    with pytest.raises(InputError, match="chooses among systems"):
        one_sample({"A": [1, 0, 1]}, best=True)
    with pytest.raises(InputError, match="same instances"):
        one_sample({"A": {"x": 1, "y": 0, "z": 1}, "B": {"x": 1, "y": 0, "w": 1}}, best=True)
    with pytest.raises(InputError, match="metric of sums"):
        one_sample(Evaluation.from_arrays(data, metric="median"), best=True)
