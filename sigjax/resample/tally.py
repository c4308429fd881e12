"""Tally: the sums of a tile of resamples -> scores, and counts of those at least as extreme as observed.

With U the projected sums and T the totals, a swap gives a* = T_a - U_a + U_b and b* = T_b + U_a - U_b, so pairs of
systems never touch the instances.
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Alternative, Array, Score, Variant
from sigjax.resample.projection import ColumnIndices
from sigjax.run.loops import count_hits, expect, map_items, running_maximum, scan, stack_last

_LANES = 64
"""Counts added up side by side: a few vectors, and no memory in between."""
_CACHED_SYSTEMS = 64
"""Systems that NumPy scores at a time on some hundred resamples, so that its passes stay in the cache."""


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

    def start(self, sums: Array) -> Any:
        """What is carried from block to block: nothing."""
        del sums
        return ()

    def hits(self, deltas: Array, alternative: Alternative, carried: Any) -> tuple[Array, Any]:
        """Which `deltas` `[pair, row]` are at least as extreme as observed, and what is carried on."""
        return extreme(deltas, self.delta[:, None], self.tolerance[:, None], alternative), carried


class Ladder(NamedTuple):
    """What successive maxima need of each pair, the pair with the smallest observed statistic first."""

    left: np.ndarray
    """As in `Pairs`, like the next three."""
    right: np.ndarray
    totals_a: np.ndarray
    totals_b: np.ndarray
    scale: np.ndarray
    """[pair] float64: statistic = scale times delta."""
    limit: np.ndarray
    """[pair] float64: maxima from here on are at least as extreme as the observed statistic."""

    def start(self, sums: Array) -> Any:
        """The largest statistic `[row]` before the first pair, made of sums `[column, row]`.

        So JAX knows that it lies on the same devices.
        """
        return sums.__array_namespace__().minimum(sums[0], -np.inf)

    def hits(self, deltas: Array, alternative: Alternative, carried: Any) -> tuple[Array, Any]:
        """Where the largest statistic up to a pair is as extreme as observed, `[pair, row]`; and the largest of all."""
        steps = statistic(deltas, alternative) * self.scale[:, None]
        maxima = deltas.__array_namespace__().maximum(running_maximum(steps), carried)
        return maxima >= self.limit[:, None], maxima[-1]


def scores(score: Score, sums: Array, divisors: Array | None) -> Array:
    """Scores `[...]` of fixed-point sums `[..., stat]` (float64) in units of 1 / divisors `[stat]`; None means 1."""
    values = score(sums if divisors is None else sums / divisors)
    return np.asarray(values, np.float64) if isinstance(sums, np.ndarray) else values


def extreme(delta: Array, observed: Array | float, tolerance: Array | float, alternative: Alternative) -> Array:
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


def statistic(delta: Array, alternative: Alternative) -> Array:
    """A number that is large where delta is extreme.

    Example:
        >>> statistic(np.array([-0.2, 0.1]), "two-sided"), statistic(np.array([-0.2, 0.1]), "less")
        (array([0.2, 0.1]), array([ 0.2, -0.1]))
    """
    return abs(delta) if alternative == "two-sided" else delta if alternative == "greater" else -delta


def swap_exceed(
    sums: Array,
    valid: Array,
    pairs: Pairs | Ladder,
    divisors: Array | None,
    *,
    score: Score,
    alternative: Alternative,
) -> tuple[Array, Array]:
    """Count the swaps at least as extreme as the observed delta; on a ladder, those whose largest statistic is.

    Args:
        sums: `[column, row]` float64, from a projection.
        valid: `[row]` bool; rows that are padding do not count.
        pairs: the pairs, in blocks `[block, pair]`. On a ladder the largest statistic is that over a pair and all
            before it: rows carry their maxima from block to block; maxima do not round.
        divisors: `[stat]` float64, or None for ones.
        score: the metric's score, sums `[..., stat]` -> `[...]`.
        alternative: which deltas are extreme.

    Returns:
        `[block, pair]` int64 counts, and `[block, pair]` bool: every delta was finite.
    """
    expect(sums, (None, len(valid)), np.float64)
    expect(valid, (None,), bool)
    expect(pairs.left, (None, None, None), np.int32)
    expect(pairs.totals_a, pairs.left.shape, np.float64)

    def of_block(carried: Any, block: Pairs | Ladder) -> tuple[Any, tuple[Array, Array]]:
        deltas = swapped_deltas(sums, block, divisors, score)
        hits, carried = block.hits(deltas, alternative, carried)
        return carried, count_hits(hits & valid[None, :], deltas)

    return scan(of_block, pairs.start(sums), pairs)[1]


def swapped_deltas(sums: Array, pairs: Pairs | Ladder, divisors: Array | None, score: Score) -> Array:
    """Delta `[pair, row]` of each pair on each swap, from sums `[column, row]`."""
    shifts = [sums[left] - sums[right] for left, right in zip(pairs.left.T, pairs.right.T, strict=True)]
    swapped_a = stack_last([total[:, None] - shift for total, shift in zip(pairs.totals_a.T, shifts, strict=True)])
    swapped_b = stack_last([total[:, None] + shift for total, shift in zip(pairs.totals_b.T, shifts, strict=True)])
    return scores(score, swapped_a, divisors) - scores(score, swapped_b, divisors)


def in_blocks(columns: tuple[np.ndarray, ...], size: int) -> tuple[np.ndarray, ...]:
    """Columns `[pair, ...]` of pairs as `[block, pair, ...]`, the last block padded with the last pair."""
    count = len(columns[0])
    index = np.minimum(np.arange(-(-count // size) * size), count - 1).reshape(-1, size)
    return tuple(column[index] for column in columns)


def replicate_scores(sums: Array, indices: ColumnIndices, divisors: Array | None, *, score: Score) -> Array:
    """Score `[system, row]` (float64) of every system on every resample, from sums `[column, row]`."""
    expect(sums, (None, None), float)
    expect(indices.column, (None, None), np.int32)
    expect(indices.offset, indices.column.shape, np.float64)
    xp = sums.__array_namespace__()

    def of_systems(column: Array, offset: Array) -> Array:
        by_stat = zip(column.T, offset.T, strict=True)
        stats = [sums[of_stat].astype(xp.float64) + added[:, None] for of_stat, added in by_stat]
        return scores(score, stack_last(stats), divisors)

    if not isinstance(sums, np.ndarray):
        return of_systems(*indices)
    blocks = [slice(start, start + _CACHED_SYSTEMS) for start in range(0, len(indices.column), _CACHED_SYSTEMS)]
    return np.concatenate([of_systems(indices.column[block], indices.offset[block]) for block in blocks])


def null_replicates(replicates: Array, delta: Array | float, variant: Variant) -> Array:
    """Bootstrap replicates of delta, centred at 0 by one or the other variant."""
    return replicates - delta if variant == "shift" else delta - replicates


class Deltas(NamedTuple):
    """What the bootstrap test needs of each pair of systems (a, b)."""

    pairs: np.ndarray
    """[pair, 2] int32: positions of a and b."""
    delta: np.ndarray
    """[pair] float64: the observed score_a - score_b."""
    tolerance: np.ndarray
    """[pair] float64: deltas closer than this are ties."""


def count_extreme(replicates: Array, *deltas: Array, alternative: Alternative, variant: Variant) -> Array:
    """How many bootstrap replicates `[system, row]` are as extreme as each of the `Deltas` `[pair]`: `[pair]` int64.

    For JAX; the number of rows is a multiple of 64.
    """
    expect(replicates, (None, None), np.float64)
    expect(deltas[0], (None, 2), np.int32)
    expect(deltas[1], (len(deltas[0]),), np.float64)
    xp, columns = replicates.__array_namespace__(), _in_lanes(replicates)

    def of_pair(of: tuple[Array, ...]) -> Array:
        pair, delta, tolerance = of
        null = null_replicates(columns[pair[0]] - columns[pair[1]], delta, variant)
        in_lane = xp.sum(extreme(null, delta, tolerance, alternative), axis=0, dtype=xp.int32)
        return xp.sum(in_lane, dtype=xp.int64)

    return map_items(of_pair, deltas)


def _in_lanes(values: Array) -> Array:
    """Values `[system, row]` as `[system, row of lanes, lane]`: counts of 32 bits, one a lane, fill wide vectors."""
    return values.reshape(len(values), -1, _LANES)
