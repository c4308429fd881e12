"""Columns on a common scale, which systems exchange where a score does not depend on the scale of a system.

Numbers are taken as the decimals they are written as, and the arithmetic is exact up to one final rounding: equal
numbers stay equal, also between systems, whatever the offset.
"""

from collections.abc import Callable
from decimal import Decimal
from math import isqrt, lcm
from typing import get_args

import numpy as np

from sigjax.records import InputError, SampleMetric
from sigjax.records.metric import Standard

_BITS = 60
"""Fractional bits of a z-score."""
_WORDS: dict[Standard, str] = {"center": "deviations from the mean", "zscore": "z-scores", "rank": "ranks"}


def standardized(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """Columns `[system, input, instance]` as the metric standardizes them.

    Reference: PERM-BOTH of Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics
    Using Resampling Methods", TACL 9, section 4.2; for ranks and areas Bandos, Rockette and Gur (2005), "A permutation
    test sensitive to differences in areas for comparing ROC curves from a paired design".

    Raises:
        InputError: `standardize` does not have one known word for each input, or the spread of the numbers is beyond
            the range of a double.

    Example:
        >>> from sigjax.metrics import METRICS
        >>> standardized(METRICS["variance"], np.array([[[1.0, 2.0, 6.0]], [[1e12, 1e12, 1e12]]]))
        array([[[-2., -1.,  3.]],
        <BLANKLINE>
               [[ 0.,  0.,  0.]]])
    """
    ways = metric.standardize or ("none",) * len(metric.inputs)
    if isinstance(ways, str) or len(ways) != len(metric.inputs) or not set(ways) <= set(get_args(Standard)):
        raise InputError(
            f"metric {metric.name!r}: standardize must be one of {', '.join(get_args(Standard))} for each of "
            f"{', '.join(metric.inputs)}, got {metric.standardize!r}"
        )
    found = columns.copy()
    for place, (name, way) in enumerate(zip(metric.inputs, ways, strict=True)):
        if way != "none":
            for row in found[:, place]:
                row[:] = _changed(row, name, way)
    return found


def what_is_exchanged(metric: SampleMetric) -> str:
    """The words that a permutation test adds to its reason.

    Example:
        >>> from sigjax.metrics import METRICS
        >>> what_is_exchanged(METRICS["auc"]), what_is_exchanged(METRICS["median"])
        ('; ranks within each system are exchanged', '')
    """
    words = [_WORDS[way] for way in dict.fromkeys(metric.standardize) if way != "none"]
    return f"; {' and '.join(words)} within each system are exchanged" if words else ""


def _changed(column: np.ndarray, name: str, way: Standard) -> np.ndarray:
    """One column `[instance]`, standardized value by value."""
    values, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    try:
        return np.array(_WAYS[way](values.tolist(), counts.tolist()))[place]
    except OverflowError:
        raise InputError(f"{name}: the spread of the numbers is beyond the range of a double; rescale them") from None


def _centred(values: list[float], counts: list[int]) -> list[float]:
    apart, unit = _deviations(values, counts)
    return [each / unit for each in apart]  # whole numbers: the quotient is rounded once


def _zscores(values: list[float], counts: list[int]) -> list[float]:
    r"""$(x_i - \bar x) / \sqrt{\sum_j (x_j - \bar x)^2 / n}$, rounded towards 0 to a fixed grid; 0 for equal values.

    On a grid equal numbers are rounded alike, whatever quotients they come from.
    """
    apart, _ = _deviations(values, counts)
    squares = sum(count * each * each for each, count in zip(apart, counts, strict=True))
    sizes = [isqrt((each * each * sum(counts) << 2 * _BITS) // (squares or 1)) for each in apart]
    return [(size if each > 0 else -size) / 2**_BITS for each, size in zip(apart, sizes, strict=True)]


def _midranks(_: list[float], counts: list[int]) -> list[float]:
    """Ranks from 1; equal values have the mean of their ranks."""
    up_to = np.cumsum(counts)
    return ((2 * up_to - counts + 1) / 2.0).tolist()


def _deviations(values: list[float], counts: list[int]) -> tuple[list[int], int]:
    """Deviations from the mean as whole numbers of steps of 1 / unit, and the unit."""
    ratios = [Decimal(repr(value)).as_integer_ratio() for value in values]
    unit = lcm(*(bottom for _, bottom in ratios))
    whole = [top * (unit // bottom) for top, bottom in ratios]
    number, total = sum(counts), sum(count * each for each, count in zip(whole, counts, strict=True))
    return [number * each - total for each in whole], number * unit


_WAYS: dict[Standard, Callable[[list[float], list[int]], list[float]]] = {
    "center": _centred,
    "zscore": _zscores,
    "rank": _midranks,
}
