"""Equivalence by two one-sided tests (TOST), each against a difference as large as the margin."""

import numpy as np

from sigjax.bootstrap.closed import tango_tail
from sigjax.bootstrap.intervals import percentile_interval
from sigjax.bootstrap.jackknife import effective_degrees
from sigjax.bootstrap.registry import interval_kinds
from sigjax.records import Interval, Variant
from sigjax.resample.tally import extreme, null_replicates
from sigjax.testing.problem import Case, Pair
from sigjax.testing.tails import t_tail


def margin_exceed(
    replicates: np.ndarray, delta: float, margin: float, tolerance: float, variant: Variant
) -> tuple[int, int]:
    r"""Count resamples that speak against "delta is above -margin", and against "delta is below margin".

    The null distribution of the bootstrap test, that of $\delta^* - \delta$ (`shift`) or $\delta - \delta^*$ (`flip`),
    is moved to each margin: the counts are of $\delta^* - \delta - m \ge \delta$ and $\delta^* - \delta + m \le
    \delta$, or with `flip` of $\delta^* \le -m$ and $\delta^* \ge m$. Ties count.

    Args:
        replicates: `[resample]` bootstrap scores of system a minus those of system b on the same resamples.
        delta: the observed score_a - score_b.
        margin: above 0, on the scale of delta.
        tolerance: differences smaller than this are ties.
        variant: shift or flip.

    Example:
        >>> margin_exceed(np.array([-0.4, -0.1, 0.1, 0.3]), 0.0, 0.3, 1e-12, "shift")
        (1, 1)
        >>> margin_exceed(np.array([-0.4, -0.1, 0.1, 0.3]), 0.1, 0.2, 1e-12, "shift")
        (0, 2)
    """
    null, slack = null_replicates(replicates, np.float64(delta), variant), np.float64(tolerance)
    above = extreme(null, np.float64(delta + margin), slack, "greater")
    below = extreme(null, np.float64(delta - margin), slack, "less")
    return int(np.count_nonzero(above)), int(np.count_nonzero(below))


def dual_interval(replicates: np.ndarray, delta: float, level: float, variant: Variant) -> Interval:
    """The interval that lies within the margins where both tests reject at (1 - level) / 2.

    It is the basic interval (Davison and Hinkley 1997, section 5.2) for `shift`, and the percentile one for `flip`.

    Example:
        >>> dual_interval(np.arange(101.0), 40.0, 0.5, "flip"), dual_interval(np.arange(101.0), 40.0, 0.5, "shift")
        (Interval(low=25.0, high=75.0), Interval(low=5.0, high=55.0))
    """
    low, high = percentile_interval(replicates, level)
    return Interval(low, high) if variant == "flip" else Interval(2.0 * delta - high, 2.0 * delta - low)


def margin_tails(case: Case, pair: Pair, error: float, margin: float) -> tuple[float, float]:
    """p-values against "delta is at most -margin" and "delta is at least margin", without resamples.

    Of the test whose interval `closed_spreads` gives: Tango's for answers right or wrong, else t with the standard
    error `error` of the jackknife. Where that is 0, units are all alike, which says nothing of other units: p is 1.
    """
    delta = case.question.delta(pair)
    if interval_kinds(case).pairs == "tango":
        a, b = case.units.values[list(pair), :, 0]
        only_a, only_b = int((a > b).sum()), int((b > a).sum())
        return tango_tail(only_a, only_b, len(a), -margin), tango_tail(only_b, only_a, len(a), -margin)
    if error == 0.0:
        return 1.0, 1.0
    degrees = effective_degrees(case)
    above, below = (delta + margin) / error, (margin - delta) / error
    return t_tail(above, degrees, "greater"), t_tail(below, degrees, "greater")
