"""Projection: weights of all resamples times statistics of all systems, exactly.

Statistics are whole numbers (see `units`), so sums are exact in any order while they stay within the whole numbers of
the type, which is chosen from that bound. Few columns are added up as weights are drawn (see `fused`);
for many, weights are multiplied with all columns at once. A projection has `sums`, and a `width`: how many numbers one
row holds at a time, from which tiles get their size.
"""

from typing import NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.by_bytes import Bytes, Floats, bytes_of, floats_of
from sigjax.resample.fused import FusedDraws, FusedSwap, fused_draws, fused_swap
from sigjax.resample.outputs import Choice, NestedDraws, crossed, nested_draws, outputs_left, padded_outputs
from sigjax.resample.plans import Draws, padded_draws, padded_units, swap
from sigjax.run.loops import ZERO_COUNT

Matrix = Floats | Bytes


class Places(NamedTuple):
    """The column of each system's statistics."""

    column: np.ndarray
    """[system, stat] int32: the column of each statistic of each system."""
    offset: np.ndarray
    """[system, stat] float64: added to the column's sum."""


def places_in(column: np.ndarray) -> Places:
    """Columns `[system, stat]` without offsets."""
    return Places(column, np.zeros(column.shape))


class SwapProduct(NamedTuple):
    """Swap sums by a matrix product."""

    draws: Draws
    matrix: Matrix

    @property
    def width(self) -> int:
        """Numbers that a row holds at a time."""
        return self.matrix.width

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` float64 over the units that the mask of each row `[row, 3]` marks."""
        return self.matrix.sums(swap(rows, self.draws, self.matrix.dtype)).astype(np.float64)


class DrawsProduct(NamedTuple):
    """Bootstrap sums by a matrix product: of units, or of outputs drawn within drawn units."""

    draws: Draws | NestedDraws
    matrix: Matrix

    @property
    def width(self) -> int:
        """Numbers that a row holds at a time: its random words, or its counts."""
        return max(self.draws.num_words, self.matrix.width)

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` of some type of floats over what each row `[row, 3]` draws."""
        return self.matrix.drawn(self.draws.drawn, rows)


class CrossedProduct(NamedTuple):
    """Sums of outputs exchanged within units, by a matrix product."""

    left: np.ndarray
    """[slot, unit], see `outputs_left`."""
    matrix: Matrix
    """Of slots and units."""

    @property
    def width(self) -> int:
        """Random words of a row."""
        return 2 * self.left.size

    def sums(self, rows: Array) -> Array:
        """Sums `[2 * padded column, row]` float64 over the outputs that leave, then over those that replace them."""
        xp = rows.__array_namespace__()
        masks = (xp.moveaxis(mask, 1, 0).reshape(len(rows), -1) for mask in crossed(rows, self.left))
        return xp.concatenate([self.matrix.sums(mask.astype(self.matrix.dtype)) for mask in masks]).astype(np.float64)


Projection = SwapProduct | DrawsProduct | Choice | CrossedProduct | FusedSwap | FusedDraws


def distinct_columns(values: np.ndarray) -> tuple[np.ndarray, Places]:
    """Distinct columns `[column, unit]` of statistics `[system, unit, stat]` (int64), and where each system's are.

    Equal ones (gold sizes, equal systems) are kept once.
    """
    seen: dict[bytes, int] = {}
    places = np.empty((len(values), values.shape[2]), np.int32)
    kept = []
    for system, stat in np.ndindex(*places.shape):
        column = np.ascontiguousarray(values[system, :, stat])
        index = seen.setdefault(column.tobytes(), len(kept))
        if index == len(kept):
            kept.append(column)
        places[system, stat] = index
    return np.stack(kept), places_in(places)


def drawn_columns(values: np.ndarray) -> tuple[np.ndarray, Places]:
    """Distinct columns `[column, unit]` for draws of a known number: columns that differ by a constant are one.

    So are the n-gram totals of all orders if no text is shorter than the order.

    Example:
        >>> columns, places = drawn_columns(np.array([[[3, 2], [5, 4]], [[1, 0], [7, 6]]]))
        >>> columns.tolist(), places.column.tolist(), places.offset.tolist()
        ([[0, 2], [0, 6]], [[0, 0], [1, 1]], [[6.0, 4.0], [2.0, 0.0]])
    """
    least = values.min(axis=1)
    columns, places = distinct_columns(values - least[:, None])
    return columns, places._replace(offset=least.astype(np.float64) * values.shape[1])


def swap_projection(
    columns: np.ndarray, draws: Draws, *, compiled: bool, most_bytes: int = 0
) -> FusedSwap | SwapProduct:
    """The fastest swap projection of columns `[column, unit]` (int64), in NumPy or `compiled`.

    `most_bytes` as the backend says.
    """
    if (fused := fused_swap(columns, compiled=compiled)) is not None:
        return fused
    return SwapProduct(padded_draws(draws), _mask_matrix(columns, most_bytes, padded_units(columns.shape[1])))


def draws_projection(
    columns: np.ndarray, draws: Draws, *, compiled: bool, most_bytes: int = 0
) -> FusedDraws | DrawsProduct:
    """The fastest bootstrap projection of columns `[column, unit]` (int64), in NumPy or `compiled`.

    Fused, NumPy would write and read memory for every step of every word; counting is faster there (measured).
    """
    if compiled and (fused := fused_draws(columns, draws)) is not None:
        return fused
    count = columns.shape[1]
    matrix = _count_matrix(columns, most_bytes, padded_units(count), most=count)
    return DrawsProduct(padded_draws(draws) if compiled else draws, matrix)


def crossed_projection(
    columns: np.ndarray, sizes: np.ndarray, *, compiled: bool, most_bytes: int = 0
) -> CrossedProduct:
    """Exchanges of columns `[column, output]` (int64) within units with `sizes` `[unit]` outputs."""
    count = len(sizes)
    left = outputs_left(sizes, padded_units(count) if compiled else count)
    grid = np.zeros((len(columns), *left.shape), np.int64)
    grid.swapaxes(1, 2)[:, left.T > 0] = columns  # outputs are ordered by unit
    return CrossedProduct(left, _mask_matrix(grid.reshape(len(columns), -1), most_bytes, left.size))


def nested_projection(
    columns: np.ndarray, draws: Draws, sizes: np.ndarray, *, compiled: bool, most_bytes: int = 0
) -> DrawsProduct:
    """Nested draws of columns `[column, output]` (int64) of units with `sizes` `[unit]` outputs."""
    count = len(sizes)
    drawn = nested_draws(draws, sizes, padded_units(count) if compiled else count)
    most = count * int(sizes.max())
    return DrawsProduct(drawn, _count_matrix(columns, most_bytes, padded_outputs(drawn), most=most))


def _mask_matrix(columns: np.ndarray, most_bytes: int, padded: int) -> Matrix:
    """The matrix of a product with masks `padded` wide."""
    in_bytes = bytes_of(columns, most_bytes, largest=1, padded=padded)
    return in_bytes or floats_of(columns, int(np.abs(columns).sum(axis=1).max()), padded)


def _count_matrix(columns: np.ndarray, most_bytes: int, padded: int, *, most: int) -> Matrix:
    """The matrix of a product with counts `padded` wide that add up to `most`."""
    in_bytes = bytes_of(columns, most_bytes, largest=-ZERO_COUNT, padded=padded)
    return in_bytes or floats_of(columns, most * int(np.abs(columns).max()), padded)
