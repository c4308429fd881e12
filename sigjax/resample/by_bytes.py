"""Columns of statistics as matrices: in floating point, or as bytes, whose products 32-bit integers add up."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.run.loops import ZERO_COUNT, byte_counts, byte_product, counts, product

_LAST_SUM = 2**31
_LAST_WHOLE = 2**24
"""Of float32, which holds this one, too; sums stay below it all the same."""
_COLUMN_MULTIPLE = 4
"""Columns are zero-padded to a multiple of this: XLA on CPU takes ten times longer for one to three columns."""
Draw = Callable[[Array], Array]
"""Rows `[row, 3]` -> what each draws `[row, draw]` (int32)."""


class Floats(NamedTuple):
    """Columns of whole numbers in floating point; sums are exact in their type."""

    matrix: np.ndarray
    """[padded unit, column] float32 or float64, zeros for padding."""

    @property
    def dtype(self) -> np.dtype:
        """Of weights."""
        return self.matrix.dtype

    @property
    def num_columns(self) -> int:
        """With padding."""
        return self.matrix.shape[1]

    @property
    def width(self) -> int:
        """Numbers of 32 bits (or more) that the weights of a row take."""
        return len(self.matrix)

    def sums(self, weights: Array) -> Array:
        """Sums `[column, row]` from weights `[row, padded unit]`, of the matrix's type."""
        return product(weights, self.matrix)

    def drawn(self, draw: Draw, rows: Array) -> Array:
        """Sums `[column, row]` over what each row draws."""
        return self.sums(counts(draw, rows, len(self.matrix), self.dtype))


class Bytes(NamedTuple):
    """Columns of whole numbers as bytes, for products that are added up in 32-bit integers."""

    matrix: np.ndarray
    """[digit and column, padded unit] int8, zeros for padding: digits of base 256, from -128 to 127, the lowest of all
    columns first. On the left of the weights it gives each column's sums contiguously, which is fastest in XLA on CPU
    (measured)."""
    worth: np.ndarray
    """[digit] int64: powers of 256."""
    totals: np.ndarray
    """[column] int64: over all units."""

    @property
    def dtype(self) -> np.dtype:
        """Of weights."""
        return self.matrix.dtype

    @property
    def num_columns(self) -> int:
        """With padding."""
        return len(self.totals)

    @property
    def width(self) -> int:
        """Numbers of 32 bits that the weights of a row take."""
        return self.matrix.shape[1] // 4

    def sums(self, weights: Array) -> Array:
        """Sums `[column, row]` from weights `[row, padded unit]` int8: int32, or int64 of several digits."""
        sums = byte_product(self.matrix, weights)
        if len(self.worth) == 1:
            return sums
        of_digits = sums.reshape(len(self.worth), -1, len(weights)).astype(np.int64)
        return (of_digits * self.worth[:, None, None]).sum(axis=0)

    def drawn(self, draw: Draw, rows: Array) -> Array:
        """Sums `[column, row]` float64 over what each row draws."""
        sums = self.sums(byte_counts(draw(rows), self.matrix.shape[1])).astype(np.int64)
        return (sums - ZERO_COUNT * self.totals[:, None]).astype(np.float64)


def bytes_of(columns: np.ndarray, most: int, *, largest: int, padded: int) -> Bytes | None:
    """Columns `[column, unit]` (int64) as at most so many bytes each, for weights `padded` wide and up to `largest`.

    None where they do not fit, or their sums could pass 32 bits.

    Example:
        >>> bytes_of(np.array([[1, 300], [-2, 128]]), 2, largest=1, padded=64).matrix[[0, 1, 4, 5], :2].tolist()
        [[1, 44], [-2, -128], [0, 1], [0, 1]]
    """
    digits, rest = [], columns
    while rest.any() or not digits:
        digits.append((rest + 128) % 256 - 128)
        rest = (rest - digits[-1]) // 256
        if len(digits) > most or largest * np.abs(digits[-1]).sum(axis=1).max() >= _LAST_SUM:
            return None
    matrix = np.concatenate([_padded(digit, np.int8, padded) for digit in digits])
    totals = np.zeros(len(matrix) // len(digits), np.int64)
    totals[: len(columns)] = columns.sum(axis=1)
    return Bytes(matrix, 256 ** np.arange(len(digits)), totals)


def floats_of(columns: np.ndarray, bound: int, padded: int) -> Floats:
    """Columns `[column, unit]` (int64) for weights `padded` wide, with sums up to `bound`."""
    return Floats(np.ascontiguousarray(_padded(columns, np.float32 if bound < _LAST_WHOLE else np.float64, padded).T))


def _padded(columns: np.ndarray, dtype: Any, padded: int) -> np.ndarray:
    count, num_units = columns.shape
    found = np.zeros((-(-count // _COLUMN_MULTIPLE) * _COLUMN_MULTIPLE, padded), dtype)
    found[:count, :num_units] = columns
    return found
