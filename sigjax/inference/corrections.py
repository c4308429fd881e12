"""p-values adjusted for many comparisons: compare the adjusted p-value with alpha, as if it were alone."""

import numpy as np

from sigjax.records import Correction


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
    if correction in ("maxt", "minp"):
        raise ValueError(f"{correction} needs resamples of all pairs together; see {correction}.py")
    count = len(p_values)
    if correction == "none" or count == 0:
        return p_values.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, count * p_values)
    order = np.argsort(p_values, kind="stable")
    ascending = p_values[order]
    rank = np.arange(1, count + 1)
    if correction == "holm":
        adjusted = np.maximum.accumulate(ascending * (count - rank + 1))
    elif correction == "hochberg":
        adjusted = np.minimum.accumulate((ascending * (count - rank + 1))[::-1])[::-1]
    else:
        factor = np.sum(1.0 / rank) if correction == "by" else 1.0
        adjusted = np.minimum.accumulate((ascending * count * factor / rank)[::-1])[::-1]
    out = np.empty_like(p_values)
    out[order] = np.minimum(1.0, adjusted)
    return out
