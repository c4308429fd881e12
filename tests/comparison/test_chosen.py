"""The note on the best of many: against SciPy and `one-sample --best`, where it is left out, and its level."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from sigjax import Evaluation, Report, compare, one_sample
from sigjax.metrics import METRICS


def board(shares=(0.8, 0.75, 0.6, 0.5), size=200, seed=1):
    rng = np.random.default_rng(seed)
    return {f"s{k}": (rng.random(size) < share).astype(int) for k, share in enumerate(shares)}


def noted(data, *, metric="accuracy", labels=None, **options):
    """The values of the note; None if there is none."""
    report = compare(Evaluation.from_arrays(data, metric=metric, **(labels or {})), progress=False, **options)
    notes = [note for note in report.notes if getattr(note, "code", "") == "best"]
    assert len(notes) <= 1
    return (notes[0].values, str(notes[0])) if notes else None


def test_with_few_right_answers_it_is_clopper_and_pearsons_at_bonferronis_level():
    data = board((0.05, 0.1, 0.02, 0.04, 0.03))
    found = noted(data)
    assert found is not None
    values, text = found
    best = max(data, key=lambda name: data[name].sum())
    expected = binomtest(int(data[best].sum()), 200).proportion_ci(1.0 - 0.05 / 5, "exact")
    assert values["systems"] == 5
    assert (values["low"], values["high"]) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert text.startswith(
        f"accuracy: if you report {best} because it is the best of 5, the 95% interval of its score is"
    )
    assert len(text.split()) <= 30


@pytest.mark.parametrize("kind", ["answers", "reals", "lower"])
def test_it_is_the_interval_of_one_sample_up_to_the_number_of_draws(kind):
    rng = np.random.default_rng(3)
    data = board() if kind == "answers" else {f"s{k}": rng.normal(0.1 * k, 1.0, 200) for k in range(5)}
    metric = METRICS["accuracy" if kind == "answers" else "mean"]
    metric = replace(metric, higher_is_better=kind != "lower")
    given = Evaluation.from_arrays(data, metric=metric)
    report = compare(given, progress=False)
    (note,) = [note for note in report.notes if getattr(note, "code", "") == "best"]
    (best,) = [row for row in one_sample(given, best=True, progress=False) if row.best_of]
    assert f"if you report {best.system} because it is the best of {len(data)}" in note
    assert Report.from_json(report.to_json()) == report
    width = best.interval.high - best.interval.low
    assert (note.values["low"], note.values["high"]) == pytest.approx(tuple(best.interval), abs=0.03 * width)


LEFT_OUT = {
    "clusters": (board(), {"labels": {"clusters": [i // 4 for i in range(200)]}}),
    "strata": (board(), {"labels": {"strata": [i % 2 for i in range(200)]}}),
    "runs": (board(), {"labels": {"ids": [i // 2 for i in range(200)], "runs": [i % 2 for i in range(200)]}}),
    "a baseline": (board(), {"baseline": "s0"}),
    "another interval": (board(), {"interval": "percentile", "resamples": 200}),
    "two systems": (board((0.8, 0.6)), {}),
    "few units": (board(size=29), {}),
    "equal best systems": ({**board(), "twin": board()["s0"]}, {}),
    "a system that is always right": ({**board(), "all": np.ones(200, int)}, {}),
    "skewed": (
        {f"s{k}": np.random.default_rng(k).lognormal(0.1 * k, 2.0, 200) for k in range(4)},
        {"metric": "mean"},
    ),
    "another metric": ({f"s{k}": np.tile([1 + k, 9, 9], (200, 1)) for k in range(3)}, {"metric": "fscore"}),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_it_is_left_out_where_it_was_not_measured(case):
    data, options = LEFT_OUT[case]
    assert noted(data, **options) is None


@pytest.mark.slow
def test_it_misses_the_true_score_no_more_often_than_it_says():
    """Ten equal systems: the interval of the best score alone misses far more often."""
    missed, alone, boards = 0, 0, 200
    for seed in range(boards):
        data = board((0.6,) * 10, size=100, seed=seed)
        found = noted(data, correction="none", method="exact")
        if found is None:  # a tie of best systems
            continue
        values, text = found
        missed += not values["low"] <= 0.6 <= values["high"]
        right = int(data[text.split(" report ")[1].split()[0]].sum())
        interval = binomtest(right, 100).proportion_ci(0.95, "wilson")
        alone += not interval.low <= 0.6 <= interval.high
    assert missed <= binom.ppf(0.999, boards, 0.05)
    assert alone > missed
