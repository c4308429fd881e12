"""Median and area under the ROC curve: functions of the order of the values.

Weights leave the order alone: it is found once for all resamples.
"""

import numpy as np

from sigjax.records import InputError, SampleMetric

_EPSILON = float(np.finfo(np.float64).eps)
_LARGEST = 2.0**52
"""Sums of two whole numbers below this are exact."""
_MOST_EXACT = 2**17
"""Instances, of which the cube is below 2**53: sums of products of two ranks are exact."""


def median(value: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Median: the middle value, or the mean of the two in the middle where their number is even.

    Args:
        value: `[instance]`.
        weights: `[..., instance]` how often each instance is drawn.

    Returns:
        Numbers `[...]` in the unit of the values, as `numpy.median` of the repeated instances gives them.

    Example:
        >>> float(median(np.array([5.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0])))
        1.5
    """
    order = np.argsort(value)
    reached = sums_before(np.take(weights, order, axis=-1))[..., 1:]
    number = reached[..., -1:]
    # Ranks from 1 of the middle: the same one twice where the number is odd.
    first, second = (number + 1) // 2, number // 2 + 1
    low, high = (value[order[np.sum(reached < rank, axis=-1)]] for rank in (first, second))
    return (low + high) / 2.0


def auc(score: np.ndarray, label: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Area under the ROC curve: how often a positive instance has a higher score than a negative one, ties half.

    $\sum_{i: y_i = 1} w_i (N_{<}(s_i) + N_{\le}(s_i)) / (2 W_1 W_0)$, where $N$ counts negative instances with scores
    below, or up to, $s_i$, and $W_1$, $W_0$ all of each label: Mann and Whitney's U over $W_1 W_0$. Reference: Hanley
    and McNeil (1982), "The meaning and use of the area under a receiver operating characteristic (ROC) curve".

    Args:
        score: `[instance]`.
        label: `[instance]` 1 for positive instances, 0 for negative ones.
        weights: `[..., instance]` how often each instance is drawn.

    Returns:
        Numbers `[...]` in [0, 1]; NaN where one of the labels is not drawn.

    Example:
        >>> float(auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4)))
        0.875
    """
    positive, negative = (np.flatnonzero(label == kind) for kind in (1, 0))
    positive, negative = (each[np.argsort(score[each])] for each in (positive, negative))
    drawn, up_to = np.take(weights, positive, axis=-1), sums_before(np.take(weights, negative, axis=-1))
    places = (np.searchsorted(score[negative], score[positive], side=side) for side in ("left", "right"))
    below, at_most = (np.take(up_to, place, axis=-1) for place in places)
    return (drawn * (below + at_most)).sum(axis=-1) / (2.0 * drawn.sum(axis=-1) * up_to[..., -1])


def sums_before(values: np.ndarray) -> np.ndarray:
    """Sums `[..., place + 1]` of the whole numbers `[..., place]` before each place, from 0 to all of them: int64.

    Example:
        >>> sums_before(np.array([2.0, 0.0, 1.0]))
        array([0, 2, 2, 3])
    """
    found = np.zeros((*values.shape[:-1], values.shape[-1] + 1), np.int64)
    np.cumsum(values.astype(np.int64), axis=-1, out=found[..., 1:])  # of integers, ten times faster
    return found


def auc_extract(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    """`[instance]` scores and labels -> `[instance, input]`; labels other than 0 and 1, or of one kind, are refused."""
    wrong = np.flatnonzero((label != 0) & (label != 1))
    if wrong.size:
        raise InputError(f"label must be 0 or 1, got {label[wrong[0]]:g} at instance {wrong[0] + 1}")
    if (label == label[0]).all():
        raise InputError(f"auc needs instances of both labels, 0 and 1; all are {label[0]:g}")
    return np.stack([score, label], axis=-1)


def median_rounding(value: np.ndarray) -> float:
    """None for whole numbers; for others that of reading them, and of the mean of two."""
    largest = float(np.abs(value).max())
    return 0.0 if largest < _LARGEST and (value == np.rint(value)).all() else largest * _EPSILON


def whole_sums_rounding(*columns: np.ndarray) -> float:
    """A few operations after sums of whole numbers, which are exact up to a hundred thousand instances."""
    return (8.0 + max(0, len(columns[0]) - _MOST_EXACT)) * _EPSILON


MEDIAN = SampleMetric("median", median, ("value",), weighted=True, vectorized=True, rounding=median_rounding)
AUC = SampleMetric(
    "auc",
    auc,
    ("score", "label"),
    weighted=True,
    vectorized=True,
    shared_inputs=("label",),
    extract=auc_extract,
    standardize=("rank", "none"),
    rounding=whole_sums_rounding,
)
