"""Metrics that are not functions of sums: variance, median, interquartile mean, areas under curves, three correlations.

Each function takes columns `[instance]` and weights `[..., instance]` (how often each instance is drawn), and returns
scores `[...]`. Weights do not change the order of the values. So functions that depend on the order sort the values
once for all resamples. The counts that they add are whole numbers, so these sums are exact, and equal scores tie.

For any `SampleMetric` (also a user's), this module computes the scores on the data and bounds on their rounding errors.
It checks that the metric has the properties that it declares.

A metric may declare a standardization that does not change its scores: deviations from the mean, z-scores, or ranks.
Then the columns of each system are standardized before a permutation test exchanges numbers of two systems. The
computation starts from the decimals as they are written, and rounds once at the end. So equal numbers stay equal, also
between systems, whatever constant is added to them.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from math import isqrt, lcm
from typing import Any, get_args

import numpy as np

from sigjax.metrics.ratios import refuse_where
from sigjax.records import Array, InputError, SampleMetric
from sigjax.records.metric import Standard

_EPSILON = float(np.finfo(np.float64).eps)
_NUM_RESAMPLES = 8
"""Number of random resamples on which rounding errors are measured."""
_MARGIN = 64.0
"""Safety factor: the bound on rounding errors is the measured error multiplied by this number."""
_MOST_ROUNDING = 2.0**-20
"""A metric raises an error if the rounding error of its score exceeds this fraction of the score.

Otherwise rounding could hide differences. If the score is 0 except for rounding, the limit is the square of this
fraction, multiplied by min(1, s, s^2), where s is the largest absolute value in the data."""
_UNEQUAL = 2.0**20
"""Limit for the distance of two values, in rounding errors. Above it, the two values certainly differ."""


def sample_scores(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """Return the scores `[system]` of columns `[system, input, instance]`.

    >>> from sigjax.metrics import METRICS
    >>> sample_scores(METRICS["median"], np.array([[[1.0, 4.0, 3.0]], [[2.0, 2.0, 0.0]]]))
    array([3., 2.])
    """
    weights = np.ones(columns.shape[2])
    return np.array([_call(metric, of_system, weights) for of_system in columns])


def system_roundings(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """Return a bound on the rounding error of each system's score, `[system]`; columns are `[system, input, instance]`.

    >>> from sigjax.metrics import METRICS
    >>> system_roundings(METRICS["median"], np.array([[[10.0**15, 3.0]], [[2.0, 2.0]]]))  # of whole numbers: none
    array([0., 0.])
    """
    if metric.rounding is not None:
        return np.array([metric.rounding(*of_system) for of_system in columns])
    rng, number = np.random.default_rng(0), columns.shape[2]
    draws: list[np.ndarray] = [np.arange(number), *rng.integers(number, size=(_NUM_RESAMPLES, number))]
    return np.array([_measured(metric, [of_system[:, draw] for draw in draws]) for of_system in columns])


def pair_rounding(metric: SampleMetric, a: np.ndarray, b: np.ndarray) -> float:
    """Return a bound on the rounding error of a score, after any swap of instances' outputs between two systems.

    `a` and `b` are the columns `[input, instance]` of the two systems.
    """
    if metric.rounding is not None:
        return metric.rounding(*np.concatenate([a, b], axis=1))
    masks = np.random.default_rng(0).integers(2, size=(_NUM_RESAMPLES, a.shape[1])) == 1
    return _measured(metric, [np.where(mask, *pair) for mask in masks for pair in ((a, b), (b, a))])


def _measured(metric: SampleMetric, tables: Sequence[np.ndarray]) -> float:
    """Measure the rounding error of scores: score each table `[input, instance]` in two orders of the instances.

    Only the order changes, not the numbers, because a metric's function may do anything with them, such as compare
    them. Return `_MARGIN` times the largest error.
    """
    rng, largest, moved = np.random.default_rng(1), 0.0, 0.0
    weights, size = np.ones(tables[0].shape[1]), float(np.abs(tables).max())
    for table in tables:
        orders = (table, rng.permutation(table, axis=1))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score, again = (_call(metric, each, weights) for each in orders)
        except InputError:  # the score is undefined on this resample; if undefined on the data, it is refused elsewhere
            continue
        if np.isfinite(score) and np.isfinite(again):
            largest, moved = max(largest, abs(score)), max(moved, abs(score - again))
    if moved > _MOST_ROUNDING * max(largest, _MOST_ROUNDING * min(1.0, size, size * size)):
        raise InputError(
            f"metric {metric.name!r} differs by {moved:.3g} between two orders of the same instances; it must not "
            "depend on their order, nor lose its digits in rounding"
        )
    return _MARGIN * (moved + _EPSILON * largest)


def check_standards(metric: SampleMetric, columns: np.ndarray, standard: np.ndarray) -> None:
    """Raise an error if the standardization that a metric declares changes its scores.

    `columns` `[system, input, instance]` are the data, and `standard` the same data after standardization.

    >>> mean = SampleMetric("mean", lambda x: x.mean(), ("value",), standardize=("center",))
    >>> check_standards(mean, np.array([[[1.0, 3.0]]]), np.array([[[-1.0, 1.0]]]))
    Traceback (most recent call last):
        ...
    sigjax.InputError: metric 'mean' gives 2 for the numbers of a system, but 0 once they are standardized
    (center); leave standardize out
    """
    if not metric.standardize or metric.rounding is not None:  # a stated rounding was analysed by its author
        return
    tolerances = _UNEQUAL * (system_roundings(metric, columns) + system_roundings(metric, standard))
    scores = sample_scores(metric, columns), sample_scores(metric, standard)
    for as_given, changed, tolerance in zip(*scores, tolerances, strict=True):
        if abs(as_given - changed) > tolerance:
            raise InputError(
                f"metric {metric.name!r} gives {as_given:g} for the numbers of a system, but {changed:g} once they are "
                f"standardized ({', '.join(metric.standardize)}); leave standardize out"
            )


def check_weights(metric: SampleMetric, columns: np.ndarray) -> None:
    """Raise an error if a metric's function gives another value with weights than with repeated instances.

    `columns` are `[system, input, instance]`.

    >>> half = SampleMetric("half", lambda x, w: (w * x).sum() / len(x) / 2.0, ("value",), weighted=True)
    >>> check_weights(half, np.array([[[1.0, 4.0, 3.0, 4.0]]]))  # divides by the instances, not by the weights
    Traceback (most recent call last):
        ...
    sigjax.InputError: metric 'half' gives 1.625 for the weights 2, 0, 1, ..., but 1.3 for instances
    repeated so often; weights are how often each instance is drawn
    """
    if not metric.weighted:
        return
    weights = np.resize(np.array([2, 0, 1]), columns.shape[2])
    repeated: np.ndarray = np.repeat(columns, weights, axis=2)
    tolerances = _UNEQUAL * system_roundings(metric, columns)
    for of_system, of_repeated, tolerance in zip(columns, repeated, tolerances, strict=True):
        by_weights = _call(metric, of_system, weights.astype(np.float64))
        by_repeats = _call(metric, of_repeated, np.ones(int(weights.sum())))
        if metric.vectorized:
            _check_rows(metric, of_system, np.stack([weights] * 3).astype(np.float64), by_weights, tolerance)
        if abs(by_weights - by_repeats) > tolerance:  # a value that is NaN (perhaps by rounding) proves nothing
            raise InputError(
                f"metric {metric.name!r} gives {by_weights:g} for the weights 2, 0, 1, ..., but {by_repeats:g} for "
                "instances repeated so often; weights are how often each instance is drawn"
            )


def _check_rows(
    metric: SampleMetric, columns: np.ndarray, weights: np.ndarray, expected: float, tolerance: float
) -> None:
    """Raise an error if a metric's function does not give the `expected` number for every row of `weights`.

    Weights are `[row, instance]`, and `columns` are `[input, instance]`. Rounding errors up to `tolerance` are allowed.
    """
    try:
        with np.errstate(all="ignore"):
            value: Any = np.asarray(metric.function(*columns, weights))
    except Exception:  # a user's function may fail in any way
        value = np.array(None)
    if value.shape != weights.shape[:1] or (np.abs(value - expected) > tolerance).any():
        raise InputError(
            f"metric {metric.name!r} must turn weights [..., instance] into scores [...], each as for one row of "
            "weights; leave vectorized out"
        )


def _call(metric: SampleMetric, columns: Sequence[np.ndarray] | np.ndarray, weights: np.ndarray) -> float:
    """The value of the metric for the columns `[input, instance]` of one system, with weights `[instance]`."""
    arrays = [*columns, weights] if metric.weighted else [*columns]
    names = ", ".join([*metric.inputs, "weights"] if metric.weighted else metric.inputs)
    try:
        with np.errstate(all="ignore"):
            value: Any = np.asarray(metric.function(*(array.copy() for array in arrays)))
    except Exception as error:  # a user's function may fail in any way
        raise InputError(
            f"metric {metric.name!r} failed on float64 arrays [instance] ({names}) ({type(error).__name__}: "
            f"{' '.join(str(error).split())})"
        ) from error
    if value.dtype.kind not in "iuf" or value.shape != ():
        raise InputError(
            f"metric {metric.name!r} must turn arrays [instance] ({names}) into one real number, got "
            f"{value.dtype.name} of shape {value.shape}"
        )
    return float(value)


_BITS = 60
"""A z-score is rounded to this many bits after the binary point."""
_WORDS: dict[Standard, str] = {"center": "deviations from the mean", "zscore": "z-scores", "rank": "ranks"}


def standardized(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """Return the columns `[system, input, instance]`, standardized for each system as the metric declares.

    Reference: PERM-BOTH of Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics
    Using Resampling Methods", TACL 9, section 4.2; for ranks and areas Bandos, Rockette and Gur (2005), "A permutation
    test sensitive to differences in areas for comparing ROC curves from a paired design".

    >>> from sigjax.metrics import METRICS
    >>> standardized(METRICS["variance"], np.array([[[1.0, 2.0, 6.0]], [[1e12, 1e12, 1e12]]]))
    array([[[-2., -1.,  3.]],
    <BLANKLINE>
           [[ 0.,  0.,  0.]]])
    """
    methods = metric.standardize or ("none",) * len(metric.inputs)
    if isinstance(methods, str) or len(methods) != len(metric.inputs) or not set(methods) <= set(get_args(Standard)):
        raise InputError(
            f"metric {metric.name!r}: standardize must be one of {', '.join(get_args(Standard))} for each of "
            f"{', '.join(metric.inputs)}, got {metric.standardize!r}"
        )
    result = columns.copy()
    for i, method in enumerate(methods):
        for row in result[:, i] if method != "none" else ():
            different, inverse, counts = np.unique(row, return_inverse=True, return_counts=True)
            row[:] = np.array(_STANDARDIZE[method](different.tolist(), counts.tolist()))[inverse]
    return result


def what_is_exchanged(metric: SampleMetric) -> str:
    """Return a phrase that says what a permutation test exchanges, if not the numbers; else an empty text.

    >>> from sigjax.metrics import METRICS
    >>> what_is_exchanged(METRICS["auc"]), what_is_exchanged(METRICS["median"])
    ('; ranks within each system are exchanged', '')
    """
    words = [_WORDS[method] for method in dict.fromkeys(metric.standardize) if method != "none"]
    return f"; {' and '.join(words)} within each system are exchanged" if words else ""


def _centred(values: list[float], counts: list[int]) -> list[float]:
    apart, unit = _deviations(values, counts)
    return [deviation / unit for deviation in apart]  # whole numbers: the quotient is rounded once


def _zscores(values: list[float], counts: list[int]) -> list[float]:
    r"""z-scores, $(x_i - \bar x) / \sqrt{\sum_j (x_j - \bar x)^2 / n}$, rounded towards 0 to multiples of $2^{-60}$.

    `values` are the distinct numbers $x_i$, and `counts` says how often each number occurs. Because of the fixed
    multiples, equal z-scores are rounded to the same number, even if they come from different quotients. If all numbers
    are equal, the z-scores are 0.
    """
    apart, _ = _deviations(values, counts)
    squares = sum(count * each * each for each, count in zip(apart, counts, strict=True))
    sizes = [isqrt((each * each * sum(counts) << 2 * _BITS) // (squares or 1)) for each in apart]
    return [(size if each > 0 else -size) / 2**_BITS for each, size in zip(apart, sizes, strict=True)]


def _midranks(_: list[float], counts: list[int]) -> list[float]:
    """Return the rank (from 1) of each distinct value, in ascending order.

    `counts` says how often each value occurs. Equal values get the mean of their ranks.
    """
    up_to = np.cumsum(counts)
    return ((2 * up_to - counts + 1) / 2.0).tolist()


def _deviations(values: list[float], counts: list[int]) -> tuple[list[int], int]:
    """Return two things: the deviations of `values` from their mean, multiplied by a whole number d; and d.

    d makes the deviations whole numbers. `counts` says how often each value occurs.
    """
    ratios = [Decimal(repr(value)).as_integer_ratio() for value in values]
    unit = lcm(*(bottom for _, bottom in ratios))
    whole = [top * (unit // bottom) for top, bottom in ratios]
    number, total = sum(counts), sum(count * each for each, count in zip(whole, counts, strict=True))
    return [number * each - total for each in whole], number * unit


_STANDARDIZE: dict[Standard, Callable[[list[float], list[int]], list[float]]] = {
    "center": _centred,
    "zscore": _zscores,
    "rank": _midranks,
}


_LARGEST = 2.0**52
"""Limit for whole numbers: a double holds the sum of two smaller whole numbers exactly."""


def variance(value: Array, weights: Array) -> Array:
    r"""Sample variance, $\sum_i w_i (x_i - \bar x)^2 / (n - 1)$ with $n = \sum_i w_i$ (ddof = 1).

    $w_i$ (`weights`) says how often the value $x_i$ is drawn. Equal to `numpy.var(ddof=1)` of the repeated instances;
    NaN for one instance.

    >>> float(variance(np.array([1.0, 3.0, 9.0]), np.array([1.0, 1.0, 0.0])))
    2.0
    """
    centred = _centre(value, weights)
    return (weights * centred * centred).sum(axis=-1) / (weights.sum(axis=-1) - 1.0)


def correlation(prediction: Array, gold: Array, weights: Array) -> Array:
    r"""Pearson's correlation of predictions with gold values, $s_{pg} / \sqrt{s_{pp} s_{gg}}$.

    $s_{pg} = \sum_i w_i (p_i - \bar p)(g_i - \bar g)$ for predictions $p_i$ and gold values $g_i$; $w_i$ (`weights`)
    says how often instance i is drawn. Reference: Pearson (1895), "Note on regression and inheritance in the case of
    two parents".

    Scores are in [-1, 1] and equal `scipy.stats.pearsonr`; NaN if all drawn values of a column are equal.

    >>> float(correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 1.0]), np.ones(3)))
    0.0
    """
    p, g = _centre(prediction, weights), _centre(gold, weights)
    xp = weights.__array_namespace__()
    # Use two roots, because the product of two sums of squares may overflow or underflow.
    together, of_p, of_g = ((weights * left * right).sum(axis=-1) for left, right in ((p, g), (p, p), (g, g)))
    return together / xp.sqrt(of_p) / xp.sqrt(of_g)


def median(value: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Median, the middle value or the mean of the two middle values; equal to `numpy.median` of the repeated instances.

    `weights` `[..., instance]` say how often each value is drawn.

    >>> float(median(np.array([5.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0])))
    1.5
    """
    order = np.argsort(value)
    reached = sums_before(np.take(weights, order, axis=-1))[..., 1:]
    number = reached[..., -1:]
    # Ranks (from 1) of the two middle values; both are the same if the number is odd.
    first, second = (number + 1) // 2, number // 2 + 1
    low, high = (value[order[np.sum(reached < rank, axis=-1)]] for rank in (first, second))
    return (low + high) / 2.0


def iqm(value: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Interquartile mean: the mean without the lowest and the highest quarter of the values.

    $\frac{1}{n - 2k} \sum_{i = k + 1}^{n - k} x_{(i)}$ with $k = \lfloor n / 4 \rfloor$, equal to
    `scipy.stats.trim_mean(x, 0.25)` of the n drawn values ($x_{(i)}$ in ascending order). `weights` `[..., instance]`
    say how often each value is drawn. Reference: Agarwal et al. (2021), "Deep reinforcement learning at the edge of the
    statistical precipice", where $x$ are the scores of all runs on all games.

    >>> float(iqm(np.array([5.0, 1.0, 2.0, 90.0]), np.ones(4)))
    3.5
    """
    order = np.argsort(value)
    up_to = sums_before(np.take(weights, order, axis=-1))
    number = up_to[..., -1:]
    kept = np.diff(np.clip(up_to, number // 4, number - number // 4), axis=-1)
    return (kept * value[order]).sum(axis=-1) / kept.sum(axis=-1)


def auc(score: np.ndarray, label: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Area under the ROC curve: how often a positive instance scores above a negative instance; ties count half.

    $\sum_{i: y_i = 1} w_i (N_{<}(s_i) + N_{\le}(s_i)) / (2 W_1 W_0)$ for scores $s_i$ and labels $y_i$; $w_i$
    (`weights`) says how often instance i is drawn. $N_{<}$ and $N_{\le}$ count the drawn negative instances with scores
    below, and up to, $s_i$. $W_1$ and $W_0$ are the numbers of drawn positive and negative instances. The area is Mann
    and Whitney's U divided by $W_1 W_0$. Reference: Hanley and McNeil (1982), "The meaning and use of the area under a
    receiver operating characteristic (ROC) curve".

    Labels are 1 for positive instances and 0 for negative instances. The area is in [0, 1]; NaN if no positive or no
    negative instance is drawn.

    >>> float(auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4)))
    0.875
    """
    positive, negative = (np.flatnonzero(label == kind) for kind in (1, 0))
    positive, negative = (each[np.argsort(score[each])] for each in (positive, negative))
    drawn, up_to = np.take(weights, positive, axis=-1), sums_before(np.take(weights, negative, axis=-1))
    places = (np.searchsorted(score[negative], score[positive], side=side) for side in ("left", "right"))
    below, at_most = (np.take(up_to, place, axis=-1) for place in places)
    return (drawn * (below + at_most)).sum(axis=-1) / (2.0 * drawn.sum(axis=-1) * up_to[..., -1])


def average_precision(score: np.ndarray, label: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Average precision, $\sum_k (R_k - R_{k-1}) P_k$: the mean precision at the scores of positive instances.

    $P_k$ and $R_k$ are precision and recall if all instances with at least the k-th highest distinct score count as
    predicted positive. Equal to scikit-learn's `average_precision_score`.

    Labels are 1 for positive instances and 0 for negative instances; `weights` say how often each instance is drawn.
    The result is in [0, 1]; NaN if no positive instance is drawn.

    >>> round(float(average_precision(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0.0, 0, 1, 1]), np.ones(4))), 4)
    0.8333
    """
    codes = np.unique(-score, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(codes[order])), len(codes) - 1)
    drawn = np.take(weights, order, axis=-1)
    both, right = (sums_before(each)[..., ends + 1].astype(float) for each in (drawn, drawn * label[order]))
    found = np.diff(right, axis=-1, prepend=0.0)
    return (found * right / np.maximum(both, 1.0)).sum(axis=-1) / right[..., -1]


def spearman(prediction: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Spearman's correlation: Pearson's correlation of the ranks; equal values have the mean of their ranks.

    $\sum_i w_i p_i g_i / \sqrt{\sum_i w_i p_i^2 \sum_i w_i g_i^2}$, where $w_i$ (`weights`) says how often instance i
    is drawn. $p_i = N_{<}(i) + N_{\le}(i) - n$ is twice the deviation of a prediction's rank from the mean rank of the
    $n = \sum_i w_i$ drawn instances; $g_i$ is the same for the gold value. Reference: Spearman (1904), "The proof and
    measurement of association between two things".

    Scores are in [-1, 1] and equal `scipy.stats.spearmanr`; NaN if all drawn values of a column are equal.

    >>> float(spearman(np.array([1.0, 2.0, 9.0, 7.0]), np.array([1.0, 5.0, 6.0, 8.0]), np.ones(4)))
    0.8
    """
    p, g = (_doubled_ranks(column, weights) for column in (prediction, gold))
    together, of_p, of_g = ((weights * left * right).sum(axis=-1) for left, right in ((p, g), (p, p), (g, g)))
    return together / np.sqrt(of_p * of_g)


def kendall(prediction: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Kendall's tau-b: concordant minus discordant pairs, divided by the geometric mean of numbers of untied pairs.

    $(C - D) / \sqrt{(n_0 - n_p)(n_0 - n_g)}$, where C and D are the numbers of concordant and discordant pairs of drawn
    instances. There are $n_0 = n (n - 1) / 2$ pairs; $n_p$ pairs have equal predictions, and $n_g$ pairs have equal
    gold values. `weights` say how often each instance is drawn. Scores are in [-1, 1] and equal
    `scipy.stats.kendalltau`; NaN if all drawn values of a column are equal. Inversions are counted bit by bit of the
    gold ranks, in $n \log n$ steps. Reference: Kendall (1945), "The treatment of ties in ranking problems".

    >>> float(kendall(np.array([1.0, 2.0, 3.0, 3.0]), np.array([1.0, 5.0, 6.0, 6.0]), np.ones(4)))
    1.0
    """
    whole = weights.astype(np.int64)
    p, g = (np.unique(column, return_inverse=True)[1] for column in (prediction, gold))
    both = p * len(g) + g
    squares = whole.sum(axis=-1) ** 2
    # Twice the number of pairs with different predictions (`by_p`), with different gold values (`by_g`), and with
    # different predictions or different gold values (`by_both`).
    by_p, by_g, by_both = (squares - (_counts_by_code(codes, whole) ** 2).sum(axis=-1) for codes in (p, g, both))
    order = np.argsort(both)
    difference = by_p + by_g - by_both - 4 * _inversions(g[order], np.take(whole, order, axis=-1))
    return difference / np.sqrt(by_p * 1.0 * by_g)


def _centre(value: Array, weights: Array) -> Array:
    """Values minus the mean of the drawn values; all 0 if the drawn values are equal.

    `weights` `[..., instance]` say how often each value is drawn.
    """
    xp = weights.__array_namespace__()
    # Subtract a drawn value first. Then equal values are exactly 0, and a mean far from 0 costs no digits.
    apart = value - xp.max(xp.where(weights > 0.0, value, -xp.inf), axis=-1, keepdims=True)
    return apart - (weights * apart).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)


def sums_before(values: np.ndarray) -> np.ndarray:
    """Return, for each position, the sum of the whole numbers before it; the last sum is the total.

    Numbers `[..., position]` give sums `[..., position + 1]` (int64).

    >>> sums_before(np.array([2.0, 0.0, 1.0]))
    array([0, 2, 2, 3])
    """
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1), np.int64)
    np.cumsum(values.astype(np.int64), axis=-1, out=sums[..., 1:])  # for integers, this is several times faster
    return sums


def _doubled_ranks(column: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return twice the deviation of each instance's rank from the mean rank of the drawn instances, `[..., instance]`.

    These are whole numbers. `weights` `[..., instance]` say how often each instance is drawn.
    """
    codes = np.unique(column, return_inverse=True)[1]
    up_to = sums_before(_counts_by_code(codes, weights))
    return np.take(up_to[..., :-1] + up_to[..., 1:] - up_to[..., -1:], codes, axis=-1)


def _counts_by_code(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each distinct code, in ascending order, the number of drawn instances with this code, `[..., distinct code]`.

    `codes` are `[instance]`; `weights` `[..., instance]` say how often each instance is drawn.
    """
    order = np.argsort(codes)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.add.reduceat(np.take(weights, order, axis=-1), starts, axis=-1)


def _inversions(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the number of inversions `[...]` (int64): pairs of drawn instances, the earlier with the larger code.

    `codes` are `[instance]`; `weights` `[..., instance]` say how often each instance is drawn. For each bit, count the
    pairs whose codes differ in this bit but in no higher bit, where the earlier code has the bit 1.
    """
    total = np.zeros(weights.shape[:-1], np.int64)
    for bit in range(int(codes.max()).bit_length()):
        group = codes >> (bit + 1)
        order = np.argsort(group, stable=True)
        is_one = (codes[order] >> bit & 1) == 1
        ones, zeros = order[is_one], order[~is_one]
        ones_before = np.cumsum(is_one)[~is_one]
        of_lower_groups = np.searchsorted(group[ones], group[zeros])
        drawn = sums_before(np.take(weights, ones, axis=-1))
        first = np.take(drawn, ones_before, axis=-1) - np.take(drawn, of_lower_groups, axis=-1)
        total += (np.take(weights, zeros, axis=-1) * first).sum(axis=-1)
    return total


def _of_both_labels(score: np.ndarray, label: np.ndarray) -> np.ndarray:
    refuse_where((label != 0) & (label != 1), "label must be 0 or 1", label)
    if (label == label[0]).all():
        raise InputError(f"the metric needs instances of both labels, 0 and 1; all are {label[0]:g}")
    return np.stack([score, label], axis=-1)


def _variance_rounding(value: np.ndarray) -> float:
    """Bound on the rounding error of `variance`, in whatever order its squares are added."""
    return 2.0 * (len(value) + 8) * _EPSILON * float(np.ptp(value)) ** 2


def _bounded_rounding(*columns: np.ndarray) -> float:
    """Bound on the rounding error of correlations and areas, in whatever order the instances are added.

    These scores use sums over the instances and a few further operations. The sums are either exact (sums of whole
    numbers) or about 1 in size.
    """
    return (len(columns[0]) + 1024) * _EPSILON


def _median_rounding(value: np.ndarray) -> float:
    """Bound on the rounding error of `median`: 0 for whole numbers.

    For other numbers, it is the error of reading the numbers and of one average.
    """
    largest = float(np.abs(value).max())
    return 0.0 if largest < _LARGEST and (value == np.rint(value)).all() else largest * _EPSILON


def _iqm_rounding(value: np.ndarray) -> float:
    """Bound on the rounding error of `iqm`, which is a mean of some of the values, added in ascending order."""
    return (len(value) + 8.0) * _EPSILON * float(np.abs(value).max())


_of_columns = partial(SampleMetric, weighted=True, vectorized=True)
_PAIRED = ("prediction", "gold")
VARIANCE = _of_columns(
    "variance", variance, ("value",), higher_is_better=False, standardize=("center",), rounding=_variance_rounding
)
CORRELATION = _of_columns(
    "correlation",
    correlation,
    _PAIRED,
    shared_inputs=("gold",),
    standardize=("zscore", "zscore"),
    rounding=_bounded_rounding,
    title="Pearson's r",
)
MEDIAN = _of_columns("median", median, ("value",), rounding=_median_rounding)
IQM = _of_columns("iqm", iqm, ("value",), rounding=_iqm_rounding, title="IQM")
AUC = _of_columns(
    "auc",
    auc,
    ("score", "label"),
    shared_inputs=("label",),
    extract=_of_both_labels,
    standardize=("rank", "none"),
    rounding=_bounded_rounding,
    title="AUC",
)
AVERAGE_PRECISION = replace(AUC, name="average-precision", function=average_precision, title="average precision")
_of_ranks = partial(replace, CORRELATION, standardize=("rank", "rank"))
SPEARMAN = _of_ranks(name="spearman", function=spearman, title="Spearman's rho")
KENDALL = _of_ranks(name="kendall", function=kendall, title="Kendall's tau")
COLUMNS = (VARIANCE, CORRELATION, MEDIAN, IQM, AUC, AVERAGE_PRECISION, SPEARMAN, KENDALL)
