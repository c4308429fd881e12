"""Projection: weights of all resamples times statistics of all systems, in one exact product.

Statistics are whole numbers (see `units`), so the product is exact in any order as long as no partial sum passes the
last whole number of the floating type. The type is chosen from that bound, which is known beforehand.
"""

from typing import NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.plans import padded_units

_LAST_WHOLE = {np.float32: 2**24, np.float64: 2**53}
_COLUMN_MULTIPLE = 4
"""Columns are padded with zeros to a multiple of this: XLA on CPU takes ten times longer for one to three columns."""


class Columns(NamedTuple):
    """The distinct columns of the statistics, and where each system's statistics are among them."""

    matrix: np.ndarray
    """[padded unit, column] float32 or float64; whole numbers, and zeros where there is no unit."""
    places: np.ndarray
    """[system, stat]: the column of each statistic of each system."""


def distinct_columns(values: np.ndarray, largest_weight_sum: int | None = None) -> Columns:
    """Statistics `[system, unit, stat]` (int64) -> `Columns`; equal columns (gold sizes, equal systems) are kept once.

    `largest_weight_sum` is the sum of a resample's weights where these may pass 1 (bootstrap); None means weights of at
    most 1 (swap).
    """
    num_systems, num_units, num_stats = values.shape
    seen: dict[bytes, int] = {}
    places = np.empty((num_systems, num_stats), np.int32)
    kept = []
    for system, stat in np.ndindex(num_systems, num_stats):
        column = np.ascontiguousarray(values[system, :, stat])
        place = seen.setdefault(column.tobytes(), len(kept))
        if place == len(kept):
            kept.append(column)
        places[system, stat] = place
    sizes = np.abs(np.stack(kept))
    bound = int(sizes.sum(axis=1).max() if largest_weight_sum is None else sizes.max() * largest_weight_sum)
    dtype = np.float32 if bound < _LAST_WHOLE[np.float32] else np.float64
    padded = -(-len(kept) // _COLUMN_MULTIPLE) * _COLUMN_MULTIPLE
    matrix = np.zeros((padded_units(num_units), padded), dtype)
    matrix[:num_units, : len(kept)] = np.stack(kept, axis=1)
    return Columns(matrix, places)


def project(weights: Array, matrix: Array) -> Array:
    """Sums `[column, row]` (float64, whole numbers, exact) of weights `[row, unit]` times a matrix `[unit, column]`."""
    xp = matrix.__array_namespace__()
    if xp is np:
        sums = weights @ matrix
    else:
        from jax.lax import optimization_barrier

        # The default product of a GPU rounds its inputs to ten bits, which would not be exact. Without the barrier XLA
        # on CPU folds the transpose into the product, which then takes ten times longer.
        sums = optimization_barrier(xp.matmul(weights, matrix, precision="highest"))
    return sums.T.astype(xp.float64)
