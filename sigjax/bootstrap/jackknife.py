"""Scores without one unit at a time, and what BCa intervals take from them."""

from __future__ import annotations

import numpy as np

from sigjax.bootstrap.bca import Bca, acceleration
from sigjax.bootstrap.replicates import of_targets
from sigjax.metrics import sample_scores
from sigjax.resample.tally import scores
from sigjax.testing.problem import Case, NotFinite, SampleCase

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""Relative rounding error of a jackknife score, and more."""


def bca_terms(case: Case | SampleCase, targets: np.ndarray) -> Bca:
    """What BCa intervals of the targets `[target, 2]`, as `Wanted` has them, need besides replicates.

    Raises:
        NotFinite: the metric gave NaN or infinity where a unit was left out.
    """
    question, strata = case.question, case.units.strata
    observed, tolerances = (np.array([*each, 0.0]) for each in (question.scores, question.tolerances))
    first, second = targets.T
    rounding = _ROUNDING * (np.abs(observed[first]) + np.abs(observed[second]))

    def accelerations(rows: np.ndarray, places: slice) -> list[float]:
        return [acceleration(row, strata, least) for row, least in zip(rows, rounding[places].tolist(), strict=True)]

    return Bca(
        observed[first] - observed[second],
        2.0 * (tolerances[first] + tolerances[second]),
        np.array(of_targets(accelerations, jackknife_scores(case), targets)),
    )


def jackknife_scores(case: Case | SampleCase) -> np.ndarray:
    """Scores of all systems without one unit at a time, `[system, unit]`: for sums, of the totals less those of a unit.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    with np.errstate(all="ignore"):
        if isinstance(case, SampleCase):
            sample = case.units
            kept = (np.flatnonzero(sample.unit != unit) for unit in range(len(sample.strata)))
            found = np.stack([sample_scores(case.metric, sample.columns[:, :, each]) for each in kept], axis=1)
        else:
            units = case.units
            left = (total - values for total, values in zip(units.totals, units.values, strict=True))
            found = np.stack([scores(case.metric.score, sums, units.divisors) for sums in left])
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if wrong.size:
        raise NotFinite((int(wrong[0]),))
    return found
