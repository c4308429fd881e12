"""Numbers as whole multiples of a small step, so that every sum is exact whatever its order."""

import math
from typing import NamedTuple

import numpy as np

from sigjax.records import InputError
from sigjax.units.sums import total

_MOST_DECIMALS = 15
_LARGEST_EXPONENT = 1023


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
    # A value moves by at most half a step, and only where it was rounded.
    moved = np.count_nonzero(whole / divisor != column, axis=1) * 0.5
    error = np.divide(moved, sizes * divisor, out=np.zeros(len(column)), where=moved > 0)
    return FixedPoint(whole.astype(np.int64), divisor, error)
