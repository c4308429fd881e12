"""Sums that do not depend on their order: numbers as whole multiples of a small step, and floats in one order.

NumPy's own sums of floats depend on its version and on the layout of memory.
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.records import InputError

_ROWS = 32
"""Rows that are added at a time."""
_MOST_DECIMALS = 15
_LARGEST_EXPONENT = 1023


def total(values: np.ndarray) -> np.ndarray:
    """Sums `[...]` of float64 numbers `[..., n]`, the same to the last bit with every NumPy and processor.

    The numbers are laid out in 32 rows, which are added from the first to the last, and so on until 32 numbers are
    left. The rounding error grows with the logarithm of n, as in pairwise summation.

    Example:
        >>> total(np.full((2, 1000), 0.125))
        array([125., 125.])
    """
    while (width := values.shape[-1]) > _ROWS:
        step = -(-width // _ROWS)
        whole = width // step * step
        # Along the slow axis, NumPy adds each row to the sum of those before it.
        added = np.add.reduce(values[..., :whole].reshape(*values.shape[:-1], -1, step), axis=-2)
        added[..., : width - whole] += values[..., whole:]
        values = added
    return np.add.accumulate(values, axis=-1)[..., -1]


def variance(values: np.ndarray) -> np.ndarray:
    """Variances `[...]` (ddof = 1) of float64 numbers `[..., n]`, summed by `total`; else as `numpy.var`.

    Example:
        >>> float(variance(np.array([1.0, 2.0, 3.0])))
        1.0
    """
    count = values.shape[-1]
    apart = values - (total(values) / count)[..., None]
    return total(np.square(apart, out=apart)) / (count - 1)


def norms(rows: np.ndarray) -> np.ndarray:
    """2-norms `[...]` of rows `[..., number]`, also where squares leave the range of a double.

    Example:
        >>> norms(np.array([[3e200, 4e200], [0.0, 0.0]]))
        array([5.e+200, 0.e+000])
    """
    # Scaling by a power of two rounds nothing.
    exponents = np.frexp(np.abs(rows).max(axis=-1))[1]
    return np.ldexp(np.sqrt(total(np.square(np.ldexp(rows, -exponents[..., None])))), exponents)


class FixedPoint(NamedTuple):
    """One statistic as whole numbers."""

    values: np.ndarray
    """[system, instance] int64, in steps of 1 / divisor."""
    divisor: float
    error: np.ndarray
    """[system]: bound on the relative rounding error of a sum; 0 where nothing was rounded."""


def fixed_point(column: np.ndarray, limit: int) -> FixedPoint:
    """One statistic `[system, instance]`: as exact decimals if possible, else rounded to a grid of powers of two.

    The sum of absolute values of any system stays below `limit`.
    """
    with np.errstate(over="ignore"):
        sizes = total(np.abs(column).astype(np.float64))
    if not np.isfinite(sizes).all():
        raise InputError("the sum of the numbers is beyond the range of a double; rescale them")
    largest = float(sizes.max())
    if column.dtype.kind == "i" and largest < limit:
        return FixedPoint(column, 1.0, np.zeros(len(column)))
    for decimals in range(_MOST_DECIMALS + 1):
        divisor = 10.0**decimals
        if largest * divisor >= limit:
            break
        whole = np.rint(column * divisor)
        if np.array_equal(whole / divisor, column):
            return FixedPoint(whole.astype(np.int64), divisor, np.zeros(len(column)))
    divisor = 2.0 ** min(math.frexp(limit)[1] - 1 - math.frexp(largest)[1], _LARGEST_EXPONENT)
    whole = np.rint(column * divisor)
    # A value moves by at most half a step, and only where it was rounded: without bound, where all are below any step.
    moved = np.count_nonzero(whole / divisor != column, axis=1) * 0.5
    with np.errstate(divide="ignore", over="ignore"):
        error = np.divide(moved, sizes * divisor, out=np.zeros(len(column)), where=moved > 0)
    return FixedPoint(whole.astype(np.int64), divisor, error)
