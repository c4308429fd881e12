"""The note on the best system of a comparison: the interval of its score, corrected because it was chosen as the best.

The best of many scores is too high on average. `testing.winner` computes the interval; this rule decides when a report
gives it: for means of one number per unit, if the numbers are right-or-wrong answers, or are not skewed. In simulations
of such data, the interval contains the true score as often as it should (benchmarks/README.md, The best of many).
`one-sample --best` uses more draws, and accepts other data, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sigjax.metrics.ratios import mean_score
from sigjax.records import EvaluationRecord, Interval, Note, Settings
from sigjax.report.words import format_interval, percent
from sigjax.testing.intervals import jackknife_intervals
from sigjax.testing.problem import SumsProblem
from sigjax.testing.skewed_t import skewness
from sigjax.testing.tests import problem_of
from sigjax.testing.winner import SKEWED, winner_interval

_MOST_SYSTEMS, _DRAWS = 100, 4096
"""The interval is computed for at most `_MOST_SYSTEMS` systems, from `_DRAWS` random vectors of errors. This takes a
few milliseconds."""
_FEW_UNITS, _ROUNDING = 30, 2.0**-40
"""`_FEW_UNITS`: the interval needs at least this many units. `_ROUNDING`: the relative rounding error of a mean."""


def best_of_many(evaluation: EvaluationRecord, settings: Settings) -> Iterator[str]:
    """Yield the note on the best system: the interval of its score, corrected because it was chosen as the best.

    The note is given only in cases for which simulations show that the interval is right. The score is a mean of one
    number per instance, without clusters, strata, runs or missing results. The numbers are right-or-wrong answers, or
    are not skewed. `baseline`, `interval` and `design` have their defaults.
    """
    plain = all(getattr(evaluation, name) is None for name in ("clusters", "strata", "runs", "present", "weights"))
    count, number = evaluation.stats.shape[:2]
    is_mean = getattr(evaluation.metric, "score", None) is mean_score and evaluation.stats.shape[2] == 2
    usual = (settings.baseline, settings.interval, settings.design) == (None, "auto", "together")
    if not (plain and is_mean and usual and count <= _MOST_SYSTEMS and number >= _FEW_UNITS):
        return
    values, sizes = np.moveaxis(evaluation.stats.astype(np.float64), 2, 0)
    answers, sign = bool(np.isin(values, (0.0, 1.0)).all()), 1.0 if evaluation.metric.higher_is_better else -1.0
    scores = values.mean(axis=1)
    best, limit = int(np.argmax(sign * scores)), _ROUNDING * np.abs(values).max()
    influence = (values - scores[:, None]) / math.sqrt(number * (number - 1.0))
    errors = np.sqrt((influence**2).sum(axis=1))
    if (sizes != 1.0).any() or (np.abs(scores - scores[best]) <= limit).sum() > 1 or not (errors > limit).all():
        return  # the score is not a mean of one number per unit, several systems are best, or some score does not vary
    if not answers and np.abs(skewness(influence, errors)).max() > SKEWED:
        return
    alone = replace(evaluation, systems=evaluation.systems[best : best + 1], stats=evaluation.stats[best : best + 1])

    def interval_at(level: float) -> Interval | None:
        problem = problem_of(alone, replace(settings, confidence_level=level), np.zeros((0, 2), np.int32))
        assert isinstance(problem, SumsProblem)
        if problem.shifted:
            return None
        _, low, high = jackknife_intervals(problem, proportions=False)[0].tolist()
        return Interval(low, high)

    found = winner_interval(
        scores,
        influence,
        settings.confidence_level,
        interval_at,
        sign=sign,
        right=int(values[best].sum()) if answers else None,
        draws=_DRAWS,
        seed=settings.seed,
    )
    if found is not None and all(map(math.isfinite, found)):
        name, level = evaluation.systems[best], percent(settings.confidence_level)
        said = f"if you report {name} because it is the best of {count:,}, the {level} interval of its score is"
        text = f"{said} {format_interval(found, '.3g')}, which also counts this choice (`sigjax one-sample --best`)"
        values = {"systems": count, "low": found.low, "high": found.high}
        yield Note(text, about=evaluation.metric.name, code="best", values=values)
