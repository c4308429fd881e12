"""The exponential function of numbers that are not positive, the same to the last bit in NumPy and on every device."""

import math
from functools import lru_cache

import numpy as np

from sigjax.records import Array

_LOWEST = -708
"""About here and below the result is 0: what is smaller than normal numbers is 0 on some devices and not on others."""


def decay(x: Array) -> Array:
    r"""$e^x$ for $x \le 0$, within two units in the last place; 0 below -707.5.

    $e^x = e^n e^f$ with n the nearest whole number, from a table, and $e^f = 1 + f / (c - f / 2)$, where $c = z \coth z
    = 1 + z^2 / (3 + z^2 / (5 + z^2 / (7 + \dots)))$, $z = f / 2$ (Gauss's continued fraction of the hyperbolic
    tangent). Libraries and devices have exponential functions that differ in the last bit, and compilers fuse products
    with sums, which rounds once less. Here no product meets a sum, so that there is nothing to fuse.

    Args:
        x: float64 of any shape, from -infinity to 0.

    Returns:
        Numbers of the same shape, from 0 to 1.

    Example:
        >>> decay(np.array([0.0, -1.0, -800.0]))
        array([1.        , 0.36787944, 0.        ])
    """
    xp = x.__array_namespace__()
    whole = xp.rint(xp.maximum(x, float(_LOWEST)))
    rest = xp.maximum(x - whole, -0.5)
    half = 0.5 * rest
    square = half * half
    fraction = 13.0 + half  # where the fraction ends does not matter by now, but the square must not meet a sum
    for odd in (11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        fraction = odd + square / fraction
    table = xp.asarray(_powers())
    return table[(-whole).astype(xp.int32)] * (1.0 + rest / (fraction - half))


@lru_cache(maxsize=1)
def _powers() -> np.ndarray:
    """E to the power of 0, -1, ..., and then 0."""
    return np.array([*(math.exp(-n) for n in range(-_LOWEST)), 0.0])
