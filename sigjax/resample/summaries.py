"""Sums, counts and order statistics of replicates that stay on a device, bit for bit the same as in NumPy.

These functions are for JAX. A row contains the replicates of one system; each place in it is a resample. Replicates
`[row, place]` are padded with NaN to a power of two, so that few programs are compiled for all numbers of resamples. A
target is what is summarized: the difference of two rows, given by two row indices, or a single row. For a single row,
the second index is the number of rows. Targets are in blocks `[block, target, 2]`, because a GPU handles one block at a
time.

Three rules keep results equal to the last bit. Numbers are added in the same order as in `units.total`. Squares are
computed in a separate program, because a compiler would join a product and a sum into one operation that rounds only
once. Divisors are arrays as long as the dividends, because a compiler would multiply by the reciprocal of a single
divisor.
"""

from collections.abc import Callable

import numpy as np

from sigjax.records import Array
from sigjax.run.loops import (
    barrier,
    expect,
    map_items,
    numbers_from_keys,
    order_keys,
    put_at,
    scan,
    slice_last,
    while_any,
)

_ROWS = 32
"""Number of rows in which a list of numbers is arranged, to add the rows to each other, as in `units.total`."""
_LARGEST = np.uint64(2**64 - 1)
_PIVOTS = 7
"""Number of pivots per pass of the search for an order statistic. They divide the range of values into eight parts, and
a pass finds the part that contains the order statistic."""


def joined(tiles: Array) -> Array:
    """Join tiles of replicates `[tile, row, place]` into one array `[row, place]`.

    A row is a system, and a place is a resample.
    """
    xp = tiles.__array_namespace__()
    return xp.moveaxis(tiles, 0, 1).reshape(tiles.shape[1], -1)


def filled(value: Array, *, rows: int, places: int) -> Array:
    """Return an array `[row, place]` for the replicates of `rows` systems, in which all numbers are `value`."""
    return value.__array_namespace__().full((rows, places), value)


def placed(values: Array, piece: Array, start: Array, count: Array) -> tuple[Array, Array]:
    """Write a piece of replicates into the array `values` of all replicates `[row, place]`, from the place `start` on.

    A row is a system, and a place is a resample. Places from `count` on become NaN. Returns the array, and a mask
    `[row]`: whether all replicates of the row in this piece are finite. The number of places is a power of two, both in
    a piece and in the array, so no piece extends beyond the end of the array.
    """
    xp, piece = values.__array_namespace__(), piece[:, : values.shape[1]]
    is_there = start + xp.arange(piece.shape[1]) < count
    finite = xp.all(xp.isfinite(piece) | ~is_there, axis=1)
    return put_at(values, xp.where(is_there, piece, xp.nan), start), finite


def target_replicates(values: Array, members: Array) -> Array:
    """Return the replicates `[target, place]` of targets.

    A target is the difference of two systems, or a single system. `values` `[row, place]` are the replicates of the
    systems (rows) on the resamples (places). `members` `[target, 2]` are the indices of a target's two rows. For a
    single system, the second index is the number of rows.
    """
    expect(values, (None, None), np.float64)
    expect(members, (None, 2), np.int32)
    xp, first, second = values.__array_namespace__(), members[:, 0], members[:, 1]
    subtracted = values[xp.minimum(second, len(values) - 1)]
    return values[first] - xp.where((second < len(values))[:, None], subtracted, 0.0)


def row_totals(rows: Array, count: Array) -> Array:
    """Return the sum of the first `count` numbers of each row `[..., place]`, as `units.total` does."""
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
    """Return the sum of the first `count` replicates of each target, `[block, target]`.

    A target is a pair of rows (systems) whose replicates are subtracted, or a single row. `members` are
    `[block, target, 2]`.
    """
    return map_items(lambda block: row_totals(target_replicates(values, block), count), members)


def squares(values: Array, members: Array, means: Array) -> Array:
    """Return the squares `[target, place]` of the distances of replicates from the `means` `[target]`.

    A target is a pair of rows (systems) whose replicates are subtracted, or a single row. A place is a resample.
    """
    apart = target_replicates(values, members) - means[:, None]
    return apart * apart


def doubled_mid_ranks(values: Array, members: Array, low: Array, high: Array) -> Array:
    """Return the number of replicates below `low` plus the number of replicates up to `high`, `[block, target]`.

    A target is a pair of rows (systems) whose replicates are subtracted, or a single row. `low` and `high` are
    `[block, target]`. If they are equal, half of the result is the number of smaller replicates plus half of the number
    of ties.
    """
    xp = values.__array_namespace__()

    def of_block(block: tuple[Array, ...]) -> Array:
        rows, (low, high) = target_replicates(values, block[0]), block[1:]
        below = xp.sum(rows < low[:, None], axis=1, dtype=xp.int64)
        return below + xp.sum(rows <= high[:, None], axis=1, dtype=xp.int64)

    return map_items(of_block, (members, low, high))


def order_statistics(values: Array, members: Array, ranks: Array) -> tuple[Array, Array]:
    """Return the replicates with these `ranks` (from 0), and the replicates with the next ranks.

    `ranks` and both results are `[block, target, rank]`. A target is a pair of rows (systems) whose replicates are
    subtracted, or a single row. The search keeps a lower and an upper bound of each replicate that is searched for.
    Each pass chooses seven pivots between these bounds, and counts the replicates up to each pivot. So an eighth of the
    range is left. The passes end when both bounds are equal.
    """

    def of_block(block: tuple[Array, ...]) -> tuple[Array, Array]:
        found, following = _order_statistics(order_keys(target_replicates(values, block[0])), block[1])
        return numbers_from_keys(found), numbers_from_keys(following)

    return map_items(of_block, (members, ranks))


def _order_statistics(rows: Array, ranks: Array) -> tuple[Array, Array]:
    """Return `order_statistics` of one block, as two arrays `[target, rank]`, for replicates coded as integers.

    `rows` `[target, place]` are the codes (uint64): integers in the same order as the replicates (floats). A place is a
    resample. Integers are used because a device may replace tiny floats by 0, and because floats have two zeros (0 and
    -0).
    """
    xp, one = rows.__array_namespace__(), np.uint64(1)

    def each(function: Callable[[Array], Array], limits: Array) -> Array:
        """Call the function for one rank after another, and return its results as `[target, rank]`.

        For each rank, its argument is a column `[target, 1]` of `limits` `[target, rank]`.
        """
        return xp.stack([function(of_rank[:, None]) for of_rank in limits.T], axis=1)

    def up_to(limit: Array) -> Array:
        return xp.sum(rows <= limit, axis=1, dtype=xp.int64)

    def next_above(limit: Array) -> Array:
        return xp.min(xp.where(rows > limit, rows, _LARGEST), axis=1)

    def last_up_to(limit: Array) -> Array:
        return xp.max(xp.where(rows <= limit, rows, np.uint64(0)), axis=1)

    def narrowed(state: tuple[Array, ...]) -> tuple[Array, ...]:
        """Do one pass: narrow the bounds of each order statistic, which is above `low` and at most `high`.

        `state` contains four arrays `[target, rank]`: `low` and `high`, and the smallest and the largest replicate
        between them before the last pass. Returns the new state.
        """
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
    start = zeros, zeros | order_keys(xp.full(ranks.shape, xp.inf)), zeros, ~zeros
    found = while_any(lambda state: state[2] < state[3], narrowed, start)[2]
    return found, xp.where(each(up_to, found) > ranks + 1, found, each(next_above, found))


def largest_deviations(values: Array, members: Array, observed: Array, errors: Array) -> Array:
    """Return the largest distance of any target from its observed value, for each resample `[place]`.

    A target is a pair of systems whose replicates are subtracted, or a single system. Distances are in standard errors
    (`errors`). Targets with a standard error of 0 are left out. The arguments except `values` are in blocks of targets.
    """
    xp = values.__array_namespace__()

    def of_block(found: Array, block: tuple[Array, ...]) -> tuple[Array, tuple[()]]:
        rows, (observed, errors) = target_replicates(values, block[0]), block[1:]
        by = barrier(xp.broadcast_to(errors[:, None], rows.shape))
        apart = xp.abs(rows - observed[:, None]) / by
        return xp.maximum(found, xp.max(xp.where(by > 0.0, apart, 0.0), axis=0)), ()

    return scan(of_block, xp.zeros(values.shape[1]), (members, observed, errors))[0]
