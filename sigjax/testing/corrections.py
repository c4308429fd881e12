"""p-values adjusted for many comparisons: compare the adjusted p-value with alpha, as if it were alone."""

import math
from collections.abc import Callable

import numpy as np

from sigjax.records import Correction

_SMALLEST = 1e-300
"""Below this doubles lose digits."""


def adjust(p_values: np.ndarray, correction: Correction) -> np.ndarray:
    r"""Adjusted p-values `[pair]`, in the order of `p_values` `[pair]`.

    `holm`: family-wise error, $\max_{j \le i} \min(1, (m - j + 1) p_{(j)})$ (Holm 1979), valid under any dependence.
    `hochberg`: the same error, $\min_{j \ge i} \min(1, (m - j + 1) p_{(j)})$ (Hochberg 1988), never above Holm's, under
    independence or positive dependence, which two-sided tests of all pairs need not have. `bonferroni`: $\min(1, m p)$,
    under any dependence. `bh`: false discovery rate (Benjamini and Hochberg 1995), under independence or positive
    dependence. `by`: the same under any dependence (Benjamini and Yekutieli 2001). `none`: as they are.

    `maxt` and `minp` are no functions of p-values; see the files of these names.

    Example:
        >>> adjust(np.array([0.04, 0.01, 0.03]), "holm")
        array([0.06, 0.03, 0.06])
        >>> adjust(np.array([0.04, 0.01, 0.03]), "hochberg")
        array([0.04, 0.03, 0.04])
    """
    return _adjusted(p_values, correction, lambda p, over, under: p * over / under, 1.0)


def log10_adjusted(p_adjusted: np.ndarray, log10_p: np.ndarray, correction: Correction) -> np.ndarray:
    """Base-10 logarithms `[pair]` of adjusted p-values `[pair]`, right also where these are too small for a double.

    There the correction is that of the logarithms of the p-values `[pair]`.

    Example:
        >>> log10_adjusted(np.array([0.0, 0.02]), np.array([-400.0, np.log10(0.02)]), "holm").round(3)
        array([-399.699,   -1.699])
    """
    found = np.array([math.log10(p) if p > _SMALLEST else -math.inf for p in p_adjusted.tolist()])
    if (tiny := found == -math.inf).any():
        in_logs = _adjusted(log10_p, correction, lambda log10, over, under: log10 + np.log10(over / under), 0.0)
        found[tiny] = in_logs[tiny]
    return found


def _adjusted(values: np.ndarray, correction: Correction, times: Callable[..., np.ndarray], one: float) -> np.ndarray:
    """`adjust` for p-values or their logarithms: `times` multiplies them by a fraction, and `one` stands for p = 1."""
    if correction in ("maxt", "minp"):
        raise ValueError(f"{correction} needs resamples of all pairs together; see {correction}.py")
    count = len(values)
    if correction == "none" or count == 0:
        return values.copy()
    if correction == "bonferroni":
        return np.minimum(one, times(values, count, 1))
    order = np.argsort(values, kind="stable")
    ascending, rank = values[order], np.arange(1, count + 1)
    if correction == "holm":
        adjusted = np.maximum.accumulate(times(ascending, count - rank + 1, 1))
    elif correction == "hochberg":
        adjusted = np.minimum.accumulate(times(ascending, count - rank + 1, 1)[::-1])[::-1]
    else:
        factor = np.sum(1.0 / rank) if correction == "by" else 1.0
        adjusted = np.minimum.accumulate(times(times(ascending, count, 1), factor, rank)[::-1])[::-1]
    out = np.empty_like(values)
    out[order] = np.minimum(one, adjusted)
    return out
