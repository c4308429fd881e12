"""Summaries of replicates that stay on a device: sums, counts and order statistics, bit for bit as in NumPy.

For JAX. Replicates `[row, place]` are padded with NaN to a power of two, so that few programs serve all numbers of
resamples. A target is a pair of row indices, and means the difference of the two rows. For a single row, the second
index is the number of rows. Targets come in blocks `[block, target, 2]`: a GPU handles one block at a time.

Three rules keep results equal to the last bit. Sums are added in the order of `units.total`, one addition after the
other. Squares are computed in a separate program, since a compiler would join a product and a sum into one operation
that rounds once. Divisors are arrays as long as the dividends, since a compiler would replace a single divisor by its
reciprocal.
"""

from collections.abc import Callable

import numpy as np

from sigjax.records import Array
from sigjax.run.loops import barrier, expect, keys, map_items, numbers, put_at, scan, slice_last, while_any

_ROWS = 32
"""Number of rows that are added at a time, as in `units.total`."""
_LARGEST = np.uint64(2**64 - 1)
_PIVOTS = 7
"""Number of pivots of each rank in one pass. They divide the range into eight parts; a pass finds the right part."""


def joined(tiles: Array) -> Array:
    """Replicates `[row, place]` from tiles `[tile, row, place]`."""
    xp = tiles.__array_namespace__()
    return xp.moveaxis(tiles, 0, 1).reshape(tiles.shape[1], -1)


def nothing(value: Array, *, rows: int, places: int) -> Array:
    """An array `[row, place]` that holds the same number for all replicates."""
    return value.__array_namespace__().full((rows, places), value)


def placed(values: Array, piece: Array, start: Array, count: Array) -> tuple[Array, Array]:
    """All replicates with a piece put at `start`, and NaN from `count` on; and which rows of the piece are finite.

    The number of places is a power of two, for the pieces from a device and for the array of all replicates. So no
    piece reaches beyond the array.
    """
    xp, piece = values.__array_namespace__(), piece[:, : values.shape[1]]
    is_there = start + xp.arange(piece.shape[1]) < count
    finite = xp.all(xp.isfinite(piece) | ~is_there, axis=1)
    return put_at(values, xp.where(is_there, piece, xp.nan), start), finite


def of_targets(values: Array, members: Array) -> Array:
    """Replicates `[target, place]` of targets `[target, 2]`."""
    expect(values, (None, None), np.float64)
    expect(members, (None, 2), np.int32)
    xp, first, second = values.__array_namespace__(), members[:, 0], members[:, 1]
    subtracted = values[xp.minimum(second, len(values) - 1)]
    return values[first] - xp.where((second < len(values))[:, None], subtracted, 0.0)


def row_totals(rows: Array, count: Array) -> Array:
    """The sums of the first `count` numbers of each row `[..., place]`, as by `units.total`."""
    xp = rows.__array_namespace__()
    while rows.shape[-1] > 1:
        size = -(-rows.shape[-1] // _ROWS)
        step = -(-count // _ROWS)
        padded = xp.concatenate([rows, xp.zeros_like(rows[..., :size])], axis=-1)
        place = xp.arange(size)
        added = padded[..., :size]
        for row in range(1, _ROWS):
            part = slice_last(padded, row * step, size)
            added = xp.where((place < step) & (row * step + place < count), added + part, added)
        rows, count = added, step
    return rows[..., 0]


def totals(values: Array, members: Array, count: Array) -> Array:
    """The sums of the replicates of each target, `[block, target]`."""
    return map_items(lambda block: row_totals(of_targets(values, block), count), members)


def squares(values: Array, members: Array, means: Array) -> Array:
    """Squares `[target, place]` of the distances from the means `[target]`."""
    apart = of_targets(values, members) - means[:, None]
    return apart * apart


def shares(values: Array, members: Array, low: Array, high: Array) -> Array:
    """The number of replicates below `low` plus the number up to `high`, both bounds `[block, target]`."""
    xp = values.__array_namespace__()

    def of_block(block: tuple[Array, ...]) -> Array:
        rows, (low, high) = of_targets(values, block[0]), block[1:]
        below = xp.sum(rows < low[:, None], axis=1, dtype=xp.int64)
        return below + xp.sum(rows <= high[:, None], axis=1, dtype=xp.int64)

    return map_items(of_block, (members, low, high))


def order_statistics(values: Array, members: Array, ranks: Array) -> tuple[Array, Array]:
    """The replicates with these ranks (from 0) `[block, target, rank]`, and the replicates with the next ranks.

    Each pass chooses seven pivots between the bounds of the wanted value, and counts the replicates up to each pivot.
    So an eighth of the range is left. The passes end when both bounds are equal.
    """

    def of_block(block: tuple[Array, ...]) -> tuple[Array, Array]:
        found, following = _order_statistics(keys(of_targets(values, block[0])), block[1])
        return numbers(found), numbers(following)

    return map_items(of_block, (members, ranks))


def _order_statistics(rows: Array, ranks: Array) -> tuple[Array, Array]:
    """`order_statistics` of whole numbers `[target, place]`.

    Unlike floats, whole numbers are never flushed to 0, and there is only one 0.
    """
    xp, one = rows.__array_namespace__(), np.uint64(1)

    def each(function: Callable[[Array], Array], limits: Array) -> Array:
        """Apply a function to the limits `[target, 1]` of each rank, and stack the results: `[target, rank]`."""
        return xp.stack([function(of_rank[:, None]) for of_rank in limits.T], axis=1)

    def up_to(limit: Array) -> Array:
        return xp.sum(rows <= limit, axis=1, dtype=xp.int64)

    def next_above(limit: Array) -> Array:
        return xp.min(xp.where(rows > limit, rows, _LARGEST), axis=1)

    def last_up_to(limit: Array) -> Array:
        return xp.max(xp.where(rows <= limit, rows, np.uint64(0)), axis=1)

    def narrowed(state: tuple[Array, ...]) -> tuple[Array, ...]:
        """Narrow the bounds: the wanted value is above `low` and at most `high`."""
        low, high, *_ = state
        least, largest = each(next_above, low), each(last_up_to, high)
        step = xp.maximum((high - low) // np.uint64(_PIVOTS + 1), one)
        above, until = xp.maximum(low, least - one), xp.minimum(high, largest)
        for number in range(1, _PIVOTS + 1):
            pivot = xp.minimum(low + step * np.uint64(number), high)
            is_low = each(up_to, pivot) <= ranks
            above, until = (
                xp.where(is_low, xp.maximum(above, pivot), above),
                xp.where(is_low, until, xp.minimum(until, pivot)),
            )
        return above, until, least, largest

    zeros = xp.zeros(ranks.shape, xp.uint64)
    start = zeros, zeros | keys(xp.full(ranks.shape, xp.inf)), zeros, ~zeros
    found = while_any(lambda state: state[2] < state[3], narrowed, start)[2]
    return found, xp.where(each(up_to, found) > ranks + 1, found, each(next_above, found))


def largest_deviations(values: Array, members: Array, observed: Array, errors: Array) -> Array:
    """The largest distance `[place]` of any target from its observed value, in standard errors (if these are not 0)."""
    xp = values.__array_namespace__()

    def of_block(found: Array, block: tuple[Array, ...]) -> tuple[Array, tuple[()]]:
        rows, (observed, errors) = of_targets(values, block[0]), block[1:]
        by = barrier(xp.broadcast_to(errors[:, None], rows.shape))
        apart = xp.abs(rows - observed[:, None]) / by
        return xp.maximum(found, xp.max(xp.where(by > 0.0, apart, 0.0), axis=0)), ()

    return scan(of_block, xp.zeros(values.shape[1]), (members, observed, errors))[0]
