"""How the delta of two systems varies over swaps or resamples, in bins."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sigjax.records.brief import Brief
from sigjax.records.domains import Number, Size
from sigjax.records.settings import Test

_BINS, _MOST_BINS = 48, 192
"""Bins for the middle 99.8%, and of all."""
_MIDDLE = 0.001
_NEGLIGIBLE = 1e-9
"""Mass that bins may leave out at either end."""
_SAME = 1e-9
"""Deltas closer than this, relative to the largest, are one value."""


@dataclass(frozen=True, repr=False)
class Distribution(Brief):
    """The delta of two systems under the null hypothesis of the permutation test, or on bootstrap resamples.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        test: "permutation": score_a - score_b after swaps of units, so around 0; "bootstrap": on bootstrap resamples,
            so around `observed`.
        observed: score_a - score_b on the data.
        edges: ends of the bins, one more than there are bins, all of the same width. A value on an edge belongs to the
            bin above.
        shares: probability of each bin; together 1 (but for 1e-9 at either end of an exact law).
        extreme: the part of each that is as extreme as observed by the test and its alternative: where a histogram is
            shaded. Their sum is the p-value of an exact law, and exceed / resamples of resamples.
        resamples: how many were drawn, the first ones of the report's seed; None for an exact law.
    """

    a: str
    b: str
    metric: str
    test: Test
    observed: float
    edges: tuple[float, ...]
    shares: tuple[Size, ...]
    extreme: tuple[Size, ...]
    resamples: Number | None

    def turned(self) -> Distribution:
        """The same of b minus a."""
        edges, shares, extreme = (tuple(reversed(each)) for each in (self.edges, self.shares, self.extreme))
        edges = tuple(0.0 - edge for edge in edges)
        return replace(
            self, a=self.b, b=self.a, observed=0.0 - self.observed, edges=edges, shares=shares, extreme=extreme
        )


def bin_edges(deltas: np.ndarray, chances: np.ndarray, low: float, high: float) -> np.ndarray:
    """Edges `[bin + 1]` for deltas `[value]` with these chances; no bin crosses `low` or `high` where that can be.

    Deltas that are multiples of a step (differences of accuracies) have bins of as many values each.

    Example:
        >>> bin_edges(np.array([-0.5, 0.0, 0.5]), np.array([0.25, 0.5, 0.25]), -0.5, 0.5)
        array([-0.75, -0.25,  0.25,  0.75])
    """
    order = np.argsort(deltas)
    values, up_to = deltas[order], np.cumsum(chances[order]) / chances.sum()
    first, start, end, last = values[
        np.minimum(np.searchsorted(up_to, [_NEGLIGIBLE, _MIDDLE, 1.0 - _MIDDLE, 1.0 - _NEGLIGIBLE]), len(values) - 1)
    ]
    if first == last:
        half = abs(first) / 2.0 or 0.5
        return np.array([first - half, first + half])
    width = max((end - start) / _BINS, (last - first) / _MOST_BINS)
    if step := _step(values, width):
        inside = round((high - low) / step) - 1
        low += step / 2.0
        width = step * _whole_parts(inside, max(1, round(width / step)))
    elif parts := round((high - low) / width):
        width = (high - low) / parts
    below, above = int(np.ceil((low - first) / width)), int(np.floor((last - low) / width)) + 1
    return low + width * np.arange(-below, above + 1)


def _step(values: np.ndarray, width: float) -> float | None:
    """The step of which all differences of ascending values are multiples, if there are few steps in a bin."""
    scale = _SAME * max(abs(values[0]), abs(values[-1]))
    gaps = np.diff(values)
    gaps = gaps[gaps > scale]
    step = float(gaps.min())
    if step < width / _BINS:
        return None
    times = gaps / step
    return step if (abs(times - np.round(times)) < 1e-3).all() else None


def _whole_parts(inside: int, size: int) -> int:
    """A number near `size` that divides `inside`, or else `size`."""
    near = range(-(-2 * size // 3), 3 * size // 2 + 1)
    return min((each for each in near if inside % each == 0), key=lambda each: abs(each - size), default=size)
