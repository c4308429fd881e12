"""Tally: the sums of a tile of resamples -> how many are at least as extreme, or the scores themselves.

With U the projected sums and T the totals, a swap gives a* = T_a - U_a + U_b and b* = T_b + U_a - U_b, so pairs of
systems never touch the instances.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sigjax.records import Alternative, Array


class Pairs(NamedTuple):
    """What the swap test needs of each pair of systems (a, b)."""

    left: np.ndarray
    """[pair, stat]: column of a's statistic."""
    right: np.ndarray
    """[pair, stat]: column of b's statistic."""
    totals_a: np.ndarray
    """[pair, stat] float64: sums over all units."""
    totals_b: np.ndarray
    """[pair, stat] float64."""
    delta: np.ndarray
    """[pair] float64: the observed score_a - score_b."""
    tolerance: np.ndarray
    """[pair] float64: deltas closer than this are ties."""


def scores(score: Callable[[Array], Array], sums: Array, divisors: Array | None) -> Array:
    """Scores `[...]` of fixed-point sums `[..., stat]` (float64) in units of 1 / divisors `[stat]`; None means 1."""
    found = score(sums if divisors is None else sums / divisors)
    return np.asarray(found, np.float64) if isinstance(sums, np.ndarray) else found


def extreme(delta: Array, observed: Array, tolerance: Array, alternative: Alternative) -> Array:
    """Whether `delta` is at least as extreme as `observed`; ties, within the tolerance, count.

    The null distribution of `delta` is centred at 0 (centre a bootstrap delta first). Shapes broadcast.

    Example:
        >>> extreme(np.array([-0.2, 0.1, 0.2]), np.array(0.2), np.array(1e-12), "two-sided")
        array([ True, False,  True])
    """
    if alternative == "greater":
        return delta >= observed - tolerance
    if alternative == "less":
        return delta <= observed + tolerance
    return abs(delta) >= abs(observed) - tolerance


def swap_exceed(
    sums: Array,
    valid: Array,
    pairs: Pairs,
    divisors: Array | None,
    *,
    score: Callable[[Array], Array],
    alternative: Alternative,
) -> tuple[Array, Array]:
    """Count the swaps at least as extreme as the observed delta.

    Args:
        sums: `[column, row]` float64, from `project`.
        valid: `[row]` bool; rows that are padding do not count.
        pairs: the pairs.
        divisors: `[stat]` float64, or None for ones.
        score: the metric's score, sums `[..., stat]` -> `[...]`.
        alternative: which deltas are extreme.

    Returns:
        `[pair]` int64 counts, and `[pair]` bool: every delta was finite.
    """
    xp = sums.__array_namespace__()
    shift = sums[pairs.left] - sums[pairs.right]
    swapped_a = xp.moveaxis(pairs.totals_a[:, :, None] - shift, 1, -1)
    swapped_b = xp.moveaxis(pairs.totals_b[:, :, None] + shift, 1, -1)
    delta = scores(score, swapped_a, divisors) - scores(score, swapped_b, divisors)
    hit = extreme(delta, pairs.delta[:, None], pairs.tolerance[:, None], alternative)
    counts = xp.sum(hit & valid[None, :], axis=1, dtype=xp.int64)
    return counts, xp.isfinite(xp.sum(delta, axis=1))


def replicate_scores(sums: Array, places: Array, divisors: Array | None, *, score: Callable[[Array], Array]) -> Array:
    """Score `[system, row]` of every system on every resample, from sums `[column, row]`."""
    xp = sums.__array_namespace__()
    return scores(score, xp.moveaxis(sums[places], 1, -1), divisors)
