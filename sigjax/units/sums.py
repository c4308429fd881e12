"""Sums of floats in one order: that of NumPy depends on its version and on the layout of memory."""

import numpy as np

_ROWS = 32
"""Rows that are added at a time."""


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
