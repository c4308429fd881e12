r"""Compute scores from the sums of a tile of resamples, and count resamples at least as extreme as observed.

For a pair of systems a and b, let T_a and T_b be their sums over all units, and U_a and U_b their sums over the swapped
units. After the swap, the sums are a* = T_a - U_a + U_b and b* = T_b + U_a - U_b. So pairs of systems need only sums,
not the instances. A tile is a number of consecutive resamples (rows).

**Studentized deltas** are z = delta* / s*, where s* is the standard error of delta* on the swapped data. Let a and b be
the statistics of the two systems on a unit. A swap does not change S = a + b. It multiplies D = a - b by the sign e =
-1. So the unit has a* = (S + e D) / 2 and b* = (S - e D) / 2, with e = 1 if it is not swapped. Let g_a and g_b be the
gradients of the score at the swapped sums over all units, p = g_a + g_b and m = g_a - g_b. Then the influence of the
unit on delta* is

$$u = g_a \cdot a^* - g_b \cdot b^* = (m \cdot S + e \, p \cdot D) / 2,$$
$$4 s^{*2} = 4 \sum (u - \bar u)^2
= \sum_{jk} (m_j m_k \sum S_j S_k + p_j p_k \sum D_j D_k + 2 m_j p_k \sum e S_j D_k) - (2 \sum u)^2 / n.$$

Here j and k are statistics, n is the number of units, and the sums are over units. Since e^2 = 1, $\sum S_j S_k$ and
$\sum D_j D_k$ are the same for all swaps. $\sum e S_j D_k$ is computed like the sum of any statistic: it is T - 2 U,
where T is the sum of $S_j D_k$ over all units and U the sum over swapped units. So s* needs only one column for each
product S_j D_k, not the units.

Let A* and B* be the swapped sums over all units. Influences add up to $\sum u = g_a \cdot A^* - g_b \cdot B^*$, which
is 0 for ratios (Euler's theorem). For other scores, the mean of the influences is subtracted. If the score is linear, m
= 0 and $4 s^{*2} = \sum (p \cdot D)^2 - 4 \delta^{*2} / n$. Then z increases with delta*, so the p-value is the same as
for delta. Reference: Chung and Romano (2013), "Exact and asymptotically robust permutation tests".
"""

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Alternative, Array, Score, Variant
from sigjax.resample.extreme import Extreme, size
from sigjax.resample.projection import ColumnIndices
from sigjax.run.loops import count_hits, expect, map_items, running_maximum, scan, stack_last

_LANES = 64
"""Number of counts that are added up in parallel. This many counts fill a few vector registers."""
_CACHED_SYSTEMS = 64
"""NumPy computes the scores of at most this many systems at a time, so that its arrays stay in the cache."""


class Pairs(NamedTuple):
    """What the swap test needs for each pair of systems (a, b)."""

    left: np.ndarray
    """[pair, stat]: the index of the column with a's statistic, among the columns whose sums are computed."""
    right: np.ndarray
    """[pair, stat]: the index of the column with b's statistic, among the columns whose sums are computed."""
    totals_a: np.ndarray
    """[pair, stat] float64: the sums of a's statistics over all units."""
    totals_b: np.ndarray
    """[pair, stat] float64: the sums of b's statistics over all units."""
    delta: np.ndarray
    """[pair] float64: the observed score_a - score_b."""
    tolerance: np.ndarray
    """[pair] float64: a delta is a tie if it differs from the observed delta by at most this."""

    @property
    def width(self) -> int:
        """Number of values in memory per pair and resample."""
        return self.left.shape[-1]

    def start(self, sums: Array) -> Any:
        """Return what this test carries into the first block of pairs: nothing, so an empty tuple."""
        del sums
        return ()

    def statistics(self, sums: Array, divisors: Array | None, score: Score) -> Array:
        """Return delta `[pair, row]` on each resample (row), which the test compares with the observed delta."""
        return swapped_deltas(sums, self, divisors, score)

    def hits(self, deltas: Array, alternative: Alternative, carried: Any) -> tuple[Array, Any]:
        """Return a mask `[pair, row]` of `deltas` that are at least as extreme as observed, and `carried`, unchanged.

        `carried` is what a test carries from one block of pairs to the next. This test carries nothing: an empty tuple.
        """
        return Extreme(self.delta, self.tolerance, alternative).met(deltas), carried


class StudentizedPairs(NamedTuple):
    """What the studentized swap test needs for each pair of systems (a, b).

    The test compares z, delta divided by its standard error. On each unit, S_j is the sum a + b of the two systems'
    statistic j, and D_k the difference a - b of their statistic k; see the text of the module.
    """

    left: np.ndarray
    """[pair, stat]: the index of the column with a's statistic. This field and the next three fields are as in
    `Pairs`."""
    right: np.ndarray
    totals_a: np.ndarray
    totals_b: np.ndarray
    delta: np.ndarray
    """[pair] float64: the observed statistic. In this class it is z (score_a - score_b, divided by the standard error
    of this difference), although the field has the same name as in `Pairs`."""
    tolerance: np.ndarray
    """[pair] float64: a value of z is a tie if it differs from the observed z by at most this."""
    rounding: np.ndarray
    """[pair] float64: a difference score_a - score_b counts as 0 if its absolute value is at most this."""
    steps: np.ndarray
    """[pair, stat] float64: the step by which the sum of a statistic is changed, up and down, to compute the slope of
    the score by a finite difference. It is the same for all swaps."""
    lowest: np.ndarray
    """[pair, stat] float64: the lower limit for the sum of a statistic after it was changed by its step: 0 if the
    statistic is never negative, else minus infinity."""
    product_scales: np.ndarray
    """[pair, stat] float64: before products are computed, each statistic is divided by this power of two (and
    rounded)."""
    columns: np.ndarray
    """[pair, stat * stat]: the index of the column with the product S_j D_k, for all statistics j and k. (S_j is the
    sum of the two systems' statistic j on a unit, D_k the difference of their statistic k, both divided by
    `product_scales`.)"""
    crossed: np.ndarray
    """[pair, stat, stat] float64: the sum of S_j D_k over the units, as observed. (S_j is the sum of the two systems'
    statistic j on a unit, D_k the difference of their statistic k, both divided by `product_scales`.)"""
    of_sums: np.ndarray
    """[pair, stat, stat] float64: the sum of S_j S_k over the units. (S_j is the sum of the two systems' statistic j on
    a unit, divided by `product_scales`.)"""
    of_differences: np.ndarray
    """[pair, stat, stat] float64: the sum of D_j D_k over the units. (D_j is the difference of the two systems'
    statistic j on a unit, divided by `product_scales`.)"""
    num_units: np.ndarray
    """[pair] float64: the number of all units of the test."""

    @property
    def width(self) -> int:
        """Number of values in memory per pair and resample."""
        return self.columns.shape[-1] + 8 * self.left.shape[-1]

    start, hits = Pairs.start, Pairs.hits

    def statistics(self, sums: Array, divisors: Array | None, score: Score) -> Array:
        """Return z `[pair, row]` on each resample (row), which the test compares with the observed z."""
        return studentized_deltas(sums, self, divisors, score)


class SuccessiveMaxima(NamedTuple):
    """What the swap test needs for each pair, if it compares successive maxima.

    The pair with the smallest observed statistic comes first. On each resample, a pair is compared by the largest
    statistic of this pair and all pairs before it.
    """

    left: np.ndarray
    """[pair, stat]: the index of the column with a's statistic. This field and the next three fields are as in
    `Pairs`."""
    right: np.ndarray
    totals_a: np.ndarray
    totals_b: np.ndarray
    scale: np.ndarray
    """[pair] float64: the statistic of a pair is this factor times the size of delta (see `extreme.size`)."""
    observed: np.ndarray
    """[pair] float64: the statistic of the observed delta."""
    tolerance: np.ndarray
    """[pair] float64: a maximum is a tie if it differs from the observed statistic by at most this."""

    width, statistics = Pairs.width, Pairs.statistics

    def start(self, sums: Array) -> Any:
        """Return what this test carries into the first block of pairs: the largest statistic so far, `[row]`.

        Before the first pair, it is minus infinity. It is computed from the sums, so that JAX places it on the same
        devices as the sums.
        """
        return sums.__array_namespace__().minimum(sums[0], -np.inf)

    def hits(self, deltas: Array, alternative: Alternative, carried: Any) -> tuple[Array, Any]:
        """Return a mask `[pair, row]` of extreme resamples, and the largest statistic so far, `[row]`.

        On a resample (row), the largest statistic of the pair and all pairs before it is compared with the pair's
        observed statistic. `carried` `[row]` is the largest statistic of the pairs in earlier blocks. The second result
        includes the pairs of this block.
        """
        steps = size(deltas, alternative) * self.scale[:, None]
        maxima = deltas.__array_namespace__().maximum(running_maximum(steps), carried)
        return Extreme(self.observed, self.tolerance, "greater").met(maxima), maxima[-1]


def scores(score: Score, sums: Array, divisors: Array | None) -> Array:
    """Return the scores `[...]` of sums `[..., stat]` (float64), which are divided by `divisors` `[stat]` first.

    None means that all divisors are 1, because the statistics are whole numbers.
    """
    values = score(sums if divisors is None else sums / divisors)
    return np.asarray(values, np.float64) if isinstance(sums, np.ndarray) else values


def swap_exceed(
    sums: Array,
    valid: Array,
    pairs: Pairs | SuccessiveMaxima | StudentizedPairs,
    divisors: Array | None,
    *,
    score: Score,
    alternative: Alternative,
) -> tuple[Array, Array]:
    """Count the swaps on which a pair's statistic is at least as extreme as observed.

    The statistic is delta (for `Pairs`), z (for `StudentizedPairs`), or the largest statistic of the pair and all pairs
    before it (for `SuccessiveMaxima`). `sums` `[column, row]` (float64) come from a projection. `valid` `[row]` is
    false for rows that are only padding. The fields of `pairs` are in blocks, `[block, pair, ...]`. The score's
    argument is an array of sums `[..., stat]`, divided by `divisors` `[stat]`. Returns two arrays `[block, pair]`: the
    counts (int64), and whether every delta was finite.
    """
    expect(sums, (None, len(valid)), np.float64)
    expect(valid, (None,), bool)
    expect(pairs.left, (None, None, None), np.int32)
    expect(pairs.totals_a, pairs.left.shape, np.float64)

    def of_block(carried: Any, block: Pairs | SuccessiveMaxima | StudentizedPairs) -> tuple[Any, tuple[Array, Array]]:
        deltas = block.statistics(sums, divisors, score)
        hits, carried = block.hits(deltas, alternative, carried)
        return carried, count_hits(hits & valid[None, :], deltas)

    return scan(of_block, pairs.start(sums), pairs)[1]


def swapped_deltas(sums: Array, pairs: Pairs | SuccessiveMaxima, divisors: Array | None, score: Score) -> Array:
    """Return delta `[pair, row]` of each pair for each swap, from sums `[column, row]` over swapped units."""
    swapped_a, swapped_b = _swapped_totals(sums, pairs)
    return scores(score, swapped_a, divisors) - scores(score, swapped_b, divisors)


def _swapped_totals(sums: Array, pairs: Pairs | SuccessiveMaxima | StudentizedPairs) -> tuple[Array, Array]:
    """Return the sums of both systems of each pair after the swaps, as two arrays `[pair, row, stat]` for a and b.

    `sums` `[column, row]` are the sums over the swapped units of each resample (row).
    """
    shifts = [sums[left] - sums[right] for left, right in zip(pairs.left.T, pairs.right.T, strict=True)]
    swapped_a = stack_last([total[:, None] - shift for total, shift in zip(pairs.totals_a.T, shifts, strict=True)])
    swapped_b = stack_last([total[:, None] + shift for total, shift in zip(pairs.totals_b.T, shifts, strict=True)])
    return swapped_a, swapped_b


_NO_VARIANCE = 2.0**-36
"""A variance below this fraction of its largest possible terms counts as 0, because it may be only a rounding error."""
_LARGEST = 2.0**100
"""The absolute value of z if delta is not 0, but its standard error is 0."""


def studentized_deltas(sums: Array, pairs: StudentizedPairs, divisors: Array | None, score: Score) -> Array:
    """Return studentized deltas z `[pair, row]` for each swap (row), from sums `[column, row]` over swapped units.

    If the standard error is 0, z is 0 for delta = 0. For other deltas, z is then `_LARGEST` with the sign of delta,
    which is larger than any other z. So all deltas with a standard error of 0 and the same sign are ties.
    """
    xp = sums.__array_namespace__()
    both = _swapped_totals(sums, pairs)
    here = [scores(score, totals, divisors) for totals in both]
    delta = here[0] - here[1]

    def slopes(_: tuple[()], of_stat: tuple[Array, ...]) -> tuple[tuple[()], tuple[Array, ...]]:
        steps, scales, only = of_stat
        moved = (_slope(*at, steps[:, None, None] * only) for at in zip(both, here, strict=True))
        return (), tuple(slope * scales[:, None] for slope in moved)

    def _slope(totals: Array, at: Array, step: Array) -> Array:
        above, below = totals + step, xp.maximum(totals - step, pairs.lowest[:, None])
        values = scores(score, above, divisors), scores(score, below, divisors)
        # If the score is not finite on one side, use a one-sided difference.
        upper, lower = (xp.where(xp.isfinite(value), value, at) for value in values)
        widths = xp.sum(above - totals, axis=-1), xp.sum(totals - below, axis=-1)
        width = sum(xp.where(xp.isfinite(value), each, 0.0) for value, each in zip(values, widths, strict=True))
        return (upper - lower) / xp.where(width > 0.0, width, 1.0)

    items = pairs.steps.T, pairs.product_scales.T, xp.eye(pairs.left.shape[1], dtype=xp.float64)
    of_a, of_b = (xp.moveaxis(each, 0, 1) for each in scan(slopes, (), items)[1])
    plus, minus = of_a + of_b, of_a - of_b  # [pair, stat, row]
    crossed = pairs.crossed[..., None] - 2.0 * sums[pairs.columns].reshape(*pairs.crossed.shape, -1)
    square = xp.sum(minus * xp.matmul(pairs.of_sums, minus) + plus * xp.matmul(pairs.of_differences, plus), axis=1)
    square = square + 2.0 * xp.sum(minus * xp.sum(crossed * plus[:, None], axis=2), axis=1)
    totals_a, totals_b = (xp.moveaxis(totals, 2, 1) / pairs.product_scales[..., None] for totals in both)
    added = 2.0 * xp.sum(of_a * totals_a - of_b * totals_b, axis=1)
    square = square - added * added / pairs.num_units[:, None]
    sizes = (xp.sqrt(xp.diagonal(each, axis1=1, axis2=2))[..., None] for each in (pairs.of_sums, pairs.of_differences))
    largest = xp.sum(abs(minus) * next(sizes) + abs(plus) * next(sizes), axis=1)
    varies = square > _NO_VARIANCE * largest * largest
    unvaried = xp.where(abs(delta) > pairs.rounding[:, None], xp.sign(delta) * _LARGEST, 0.0)
    return xp.where(varies, 2.0 * delta / xp.sqrt(xp.where(varies, square, 1.0)), unvaried)


def in_blocks(columns: tuple[np.ndarray, ...], size: int) -> tuple[np.ndarray, ...]:
    """Divide columns `[pair, ...]` into blocks `[block, pair, ...]` of `size` pairs.

    If the last block is not full, the last pair is repeated.
    """
    count = len(columns[0])
    index = np.minimum(np.arange(-(-count // size) * size), count - 1).reshape(-1, size)
    return tuple(column[index] for column in columns)


def replicate_scores(sums: Array, indices: ColumnIndices, divisors: Array | None, *, score: Score) -> Array:
    """Return the score `[system, row]` (float64) of every system on every resample (row), from sums `[column, row]`.

    `indices` say which column contains the sum of each statistic of each system. Sums of statistics are divided by
    `divisors` `[stat]` before they are scored; None means that all divisors are 1.
    """
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
    """Return bootstrap replicates of delta, centred at 0.

    They are replicate - delta for the `variant` "shift", and delta - replicate for "flip".
    """
    return replicates - delta if variant == "shift" else delta - replicates


class Deltas(NamedTuple):
    """What the bootstrap test needs for each pair of systems (a, b)."""

    pairs: np.ndarray
    """[pair, 2] int32: indices of a and b among the systems."""
    delta: np.ndarray
    """[pair] float64: the observed score_a - score_b."""
    tolerance: np.ndarray
    """[pair] float64: a delta is a tie if it differs from the observed delta by at most this."""


def count_extreme(replicates: Array, *deltas: Array, alternative: Alternative, variant: Variant) -> Array:
    """Count the bootstrap replicates of each pair that are at least as extreme as observed, `[pair]` int64.

    `replicates` are scores `[system, row]` on resamples; `deltas` are the fields of `Deltas`. The function is for JAX.
    The number of rows must be a multiple of 64.
    """
    expect(replicates, (None, None), np.float64)
    expect(deltas[0], (None, 2), np.int32)
    expect(deltas[1], (len(deltas[0]),), np.float64)
    xp = replicates.__array_namespace__()
    columns = replicates.reshape(len(replicates), -1, _LANES)  # 32-bit counts in parallel fill wide vectors

    def of_pair(of: tuple[Array, ...]) -> Array:
        pair, delta, tolerance = of
        null = null_replicates(columns[pair[0]] - columns[pair[1]], delta, variant)
        in_lane = xp.sum(Extreme(delta, tolerance, alternative).met(null), axis=0, dtype=xp.int32)
        return xp.sum(in_lane, dtype=xp.int64)

    return map_items(of_pair, deltas)
