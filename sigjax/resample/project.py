"""Projection: weights of all resamples times statistics of all systems, exactly.

Statistics are whole numbers (see `units`), so sums are exact in any order while they stay within the whole numbers of
the type, which is chosen from that bound. Few columns are added up as weights are drawn (see `fused`);
for many, weights are multiplied with all columns at once. A projection has `sums`, and a `width`: how many numbers one
row holds at a time, from which tiles get their size.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.by_bytes import DrawsBytes, SwapBytes, bytes_of, padded_matrix
from sigjax.resample.fused import FusedDraws, FusedSwap, fused_draws, fused_swap
from sigjax.resample.plans import (
    Draws,
    NestedDraws,
    bootstrap,
    chosen,
    crossed,
    nested,
    nested_draws,
    outputs_left,
    padded_draws,
    padded_outputs,
    padded_units,
    swap,
)
from sigjax.run.loops import ZERO_COUNT, product

_LAST_WHOLE = {np.float32: 2**24, np.float64: 2**53}


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
    matrix: np.ndarray
    """[padded unit, column] float32 or float64: whole numbers, zeros for padding."""

    @property
    def width(self) -> int:
        """Numbers that a row holds at a time."""
        return len(self.matrix)

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` float64 over the units that the mask of each row `[row, 3]` marks."""
        return product(swap(rows, self.draws, self.matrix.dtype), self.matrix).astype(np.float64)


class DrawsProduct(NamedTuple):
    """Bootstrap sums by a matrix product."""

    draws: Draws
    matrix: np.ndarray
    """[padded unit, column] float32 or float64: whole numbers, zeros for padding."""

    @property
    def width(self) -> int:
        """Numbers that a row holds at a time."""
        return len(self.matrix)

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` of the matrix's type over the units that each row `[row, 3]` draws."""
        return product(bootstrap(rows, self.draws, self.matrix.dtype), self.matrix)


class CrossedProduct(NamedTuple):
    """Sums of outputs exchanged within units, by a matrix product."""

    left: np.ndarray
    """[slot, unit], see `outputs_left`."""
    matrix: np.ndarray
    """[slot and unit, column] float32 or float64."""

    @property
    def width(self) -> int:
        """Random words of a row."""
        return 2 * self.left.size

    def sums(self, rows: Array) -> Array:
        """Sums `[2 * padded column, row]` float64 over the outputs that leave, then over those that replace them."""
        xp = rows.__array_namespace__()
        masks = (xp.moveaxis(mask, 1, 0).reshape(len(rows), -1) for mask in crossed(rows, self.left))
        return xp.concatenate([product(mask.astype(self.matrix.dtype), self.matrix) for mask in masks]).astype(
            np.float64
        )


class ChosenProduct(NamedTuple):
    """Sums of as many units as one of two samples has, chosen among all, by a matrix product."""

    size: np.ndarray
    """[] uint64: how many units are chosen."""
    matrix: np.ndarray
    """[unit, column] float64: whole numbers."""

    @property
    def width(self) -> int:
        """An eighth of what a row holds: units are chosen one after another, for many rows at a time."""
        return -(-len(self.matrix) // 8)

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` float64 over the units that each row `[row, 3]` chooses."""
        return product(chosen(rows, self.size, len(self.matrix)).T.astype(self.matrix.dtype), self.matrix)


class NestedProduct(NamedTuple):
    """Sums of outputs drawn within drawn units, by a matrix product."""

    drawn: NestedDraws
    matrix: np.ndarray
    """[padded output, column] float32 or float64."""

    @property
    def width(self) -> int:
        """Random words of a row, or its counts."""
        return max(2 * self.drawn.lanes * len(self.drawn.draws.size), len(self.matrix))

    def sums(self, rows: Array) -> Array:
        """Sums `[column, row]` of the matrix's type over the outputs that each row `[row, 3]` draws."""
        return product(nested(rows, self.drawn, self.matrix.dtype.type), self.matrix)


Projection = (
    SwapProduct
    | SwapBytes
    | DrawsProduct
    | DrawsBytes
    | ChosenProduct
    | CrossedProduct
    | NestedProduct
    | FusedSwap
    | FusedDraws
)


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
) -> FusedSwap | SwapBytes | SwapProduct:
    """The fastest swap projection of columns `[column, unit]` (int64), in NumPy or `compiled`.

    `most_bytes` as the backend says.
    """
    if (fused := fused_swap(columns, compiled=compiled)) is not None:
        return fused
    padded = padded_draws(draws)
    if (in_bytes := bytes_of(columns, most_bytes, largest=1)) is not None:
        return SwapBytes(padded, in_bytes)
    return SwapProduct(padded, projection_matrix(columns, int(np.abs(columns).sum(axis=1).max())))


def draws_projection(
    columns: np.ndarray, draws: Draws, *, compiled: bool, most_bytes: int = 0
) -> FusedDraws | DrawsBytes | DrawsProduct:
    """The fastest bootstrap projection of columns `[column, unit]` (int64), in NumPy or `compiled`.

    Fused, NumPy would write and read memory for every step of every word; counting is faster there (measured).
    """
    matrix = partial(projection_matrix, columns, columns.shape[1] * int(np.abs(columns).max()))
    if not compiled:
        return DrawsProduct(draws, matrix())
    if (fused := fused_draws(columns, draws)) is not None:
        return fused
    padded = padded_draws(draws)
    if (in_bytes := bytes_of(columns, most_bytes, largest=-ZERO_COUNT)) is not None:
        more = len(in_bytes.matrix) // len(in_bytes.worth) - len(columns)
        return DrawsBytes(padded, in_bytes, np.pad(columns.sum(axis=1), (0, more)))
    return DrawsProduct(padded, matrix())


def crossed_projection(columns: np.ndarray, sizes: np.ndarray, *, compiled: bool) -> CrossedProduct:
    """Exchanges of columns `[column, output]` (int64) within units with `sizes` `[unit]` outputs."""
    count = len(sizes)
    left = outputs_left(sizes, padded_units(count) if compiled else count)
    bound = int(np.abs(columns).sum(axis=1).max())
    grid = np.zeros((len(columns), *left.shape), np.int64)
    grid.swapaxes(1, 2)[:, left.T > 0] = columns  # outputs are ordered by unit
    return CrossedProduct(left, projection_matrix(grid.reshape(len(columns), -1), bound, padded=left.size))


def nested_projection(columns: np.ndarray, draws: Draws, sizes: np.ndarray, *, compiled: bool) -> NestedProduct:
    """Nested draws of columns `[column, output]` (int64) of units with `sizes` `[unit]` outputs."""
    count = len(sizes)
    drawn = nested_draws(draws, sizes, padded_units(count) if compiled else count)
    bound = count * int(sizes.max()) * int(np.abs(columns).max())
    return NestedProduct(drawn, projection_matrix(columns, bound, padded=padded_outputs(drawn)))


def projection_matrix(columns: np.ndarray, bound: int, padded: int | None = None) -> np.ndarray:
    """The matrix of a product with sums up to `bound`; it has as many rows as masks are wide, or `padded`."""
    return padded_matrix(columns, np.float32 if bound < _LAST_WHOLE[np.float32] else np.float64, padded)
