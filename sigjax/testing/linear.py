"""Whether a score is linear in the sum of one statistic, while the others stay as they are."""

import numpy as np

from sigjax.resample.tally import scores
from sigjax.testing.outcome import Case

_PLACES = 129
"""Sums at which a score is checked to be linear."""
_LINEAR = 1e-11
"""Deviation from a line, relative to the largest score, that is put down to rounding."""


def slope_in(case: Case, stat: int) -> float | None:
    """The slope of the score in the sum of a statistic, over all sums that N draws of units can have.

    None where the score is not linear in it. The other sums are those of the first system.
    """
    column = case.units.values[:, :, stat]
    count = column.shape[1]
    sums = np.linspace(count * float(column.min()), count * float(column.max()), _PLACES)
    found = scores_at(case, stat, sums)
    if not np.isfinite(found).all():
        return None
    line = np.linspace(found[0], found[-1], _PLACES)
    if np.abs(found - line).max() > _LINEAR * np.abs(found).max():
        return None
    run = sums[-1] - sums[0]
    return float((found[-1] - found[0]) / run) if run else 0.0


def scores_at(case: Case, stat: int, sums: np.ndarray) -> np.ndarray:
    """Scores where the sum of one statistic is each of `sums`, and the others are those of the first system."""
    table = np.tile(case.units.totals[0], (len(sums), 1))
    table[:, stat] = sums
    with np.errstate(all="ignore"):
        return scores(case.metric.score, table, case.units.divisors)
