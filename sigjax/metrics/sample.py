"""A `SampleMetric` on the data: its scores, how far rounding moves them, and whether it is what it declares."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sigjax.records import InputError, SampleMetric

_EPSILON = float(np.finfo(np.float64).eps)
_LOOKS = 8
"""Random resamples on which rounding is measured."""
_MARGIN = 64.0
"""Rounding elsewhere may be this many times what these show."""
_DROWNED = 2.0**-20
"""Rounding of this share of the score is refused: differences would drown in it. Where a score should be 0 and is not
quite, the square of this share of the numbers, or of their squares, is refused."""
_UNEQUAL = 2.0**20
"""Values further apart than this many rounding errors are different beyond doubt."""


def sample_scores(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """Scores `[system]` of columns `[system, input, instance]`.

    Raises:
        InputError: the function fails, or does not give a number.

    Example:
        >>> from sigjax.metrics import METRICS
        >>> sample_scores(METRICS["median"], np.array([[[1.0, 4.0, 3.0]], [[2.0, 2.0, 0.0]]]))
        array([3., 2.])
    """
    weights = np.ones(columns.shape[2])
    return np.array([_call(metric, of_system, weights) for of_system in columns])


def system_roundings(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """How far rounding can move the score of each system `[system]`, on columns `[system, input, instance]`.

    Raises:
        InputError: the score depends on the order of the instances.

    Example:
        >>> from sigjax.metrics import METRICS
        >>> system_roundings(METRICS["median"], np.array([[[10.0**15, 3.0]], [[2.0, 2.0]]]))  # of whole numbers: none
        array([0., 0.])
    """
    if metric.rounding is not None:
        return np.array([metric.rounding(*of_system) for of_system in columns])
    rng, number = np.random.default_rng(0), columns.shape[2]
    draws = [np.arange(number), *rng.integers(number, size=(_LOOKS, number))]
    return np.array([_measured(metric, [of_system[:, draw] for draw in draws]) for of_system in columns])


def pair_rounding(metric: SampleMetric, a: np.ndarray, b: np.ndarray) -> float:
    """How far rounding can move scores of two systems `[input, instance]` after exchanges of instances.

    Raises:
        InputError: the score depends on the order of the instances.
    """
    if metric.rounding is not None:
        return metric.rounding(*np.concatenate([a, b], axis=1))
    masks = np.random.default_rng(0).integers(2, size=(_LOOKS, a.shape[1])) == 1
    return _measured(metric, [np.where(mask, *pair) for mask in masks for pair in ((a, b), (b, a))])


def _measured(metric: SampleMetric, tables: Sequence[np.ndarray]) -> float:
    """How far rounding moves scores on tables `[input, instance]` like these, measured by reordering the instances.

    Nothing is assumed about the function; the numbers stay as they are, since it may compare them.
    """
    rng, largest, moved = np.random.default_rng(1), 0.0, 0.0
    weights, size = np.ones(tables[0].shape[1]), float(np.abs(tables).max())
    for table in tables:
        orders = (table, rng.permutation(table, axis=1))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score, again = (_call(metric, each, weights) for each in orders)
        except InputError:  # undefined on this resample; on the data it is refused elsewhere
            continue
        if np.isfinite(score) and np.isfinite(again):
            largest, moved = max(largest, abs(score)), max(moved, abs(score - again))
    if moved > _DROWNED * max(largest, _DROWNED * min(1.0, size, size * size)):
        raise InputError(
            f"metric {metric.name!r} differs by {moved:.3g} between two orders of the same instances; it must not "
            "depend on their order, nor lose its digits in rounding"
        )
    return _MARGIN * (moved + _EPSILON * largest)


def check_standards(metric: SampleMetric, columns: np.ndarray, standard: np.ndarray) -> None:
    """Refuse a function that changes with the standardization that its metric declares.

    Raises:
        InputError: naming both numbers.

    Example:
        >>> mean = SampleMetric("mean", lambda x: x.mean(), ("value",), standardize=("center",))
        >>> check_standards(mean, np.array([[[1.0, 3.0]]]), np.array([[[-1.0, 1.0]]]))
        Traceback (most recent call last):
            ...
        sigjax.InputError: metric 'mean' gives 2 for the numbers of a system, but 0 once they are standardized
        (center); leave standardize out
    """
    if not metric.standardize or metric.rounding is not None:  # such metrics have been analysed
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
    """Refuse a function whose value for weights is not that for instances repeated as often as the weights say.

    Raises:
        InputError: naming both numbers.

    Example:
        >>> half = SampleMetric("half", lambda x, w: (w * x).sum() / len(x) / 2.0, ("value",), weighted=True)
        >>> check_weights(half, np.array([[[1.0, 4.0, 3.0, 4.0]]]))  # divides by the instances, not by the weights
        Traceback (most recent call last):
            ...
        sigjax.InputError: metric 'half' gives 1.625 for the weights 2, 0, 1, ..., but 1.3 for instances
        repeated so often; weights are how often each instance is drawn
    """
    if not metric.weighted:
        return
    weights = (2 + np.arange(columns.shape[2])) % 3
    repeated = np.repeat(columns, weights, axis=2)
    tolerances = _UNEQUAL * system_roundings(metric, columns)
    for of_system, of_repeated, tolerance in zip(columns, repeated, tolerances, strict=True):
        by_weights = _call(metric, of_system, weights.astype(np.float64))
        by_repeats = _call(metric, of_repeated, np.ones(weights.sum()))
        if metric.vectorized:
            _check_rows(metric, of_system, np.stack([weights] * 3).astype(np.float64), by_weights, tolerance)
        if abs(by_weights - by_repeats) > tolerance:  # NaN of both, or of one by rounding, proves nothing
            raise InputError(
                f"metric {metric.name!r} gives {by_weights:g} for the weights 2, 0, 1, ..., but {by_repeats:g} for "
                "instances repeated so often; weights are how often each instance is drawn"
            )


def _check_rows(
    metric: SampleMetric, columns: np.ndarray, weights: np.ndarray, expected: float, tolerance: float
) -> None:
    """Refuse a function that does not give the expected number for every row of weights `[row, instance]`."""
    try:
        with np.errstate(all="ignore"):
            found: Any = np.asarray(metric.function(*columns, weights))
    except Exception:  # a user's function may fail in any way
        found = np.array(None)
    if found.shape != weights.shape[:1] or (np.abs(found - expected) > tolerance).any():
        raise InputError(
            f"metric {metric.name!r} must turn weights [..., instance] into scores [...], each as for one row of "
            "weights; leave vectorized out"
        )


def _call(metric: SampleMetric, columns: Sequence[np.ndarray] | np.ndarray, weights: np.ndarray) -> float:
    """The number for columns `[input, instance]` of one system."""
    arrays = [*columns, weights] if metric.weighted else [*columns]
    names = ", ".join([*metric.inputs, "weights"] if metric.weighted else metric.inputs)
    try:
        with np.errstate(all="ignore"):
            found: Any = np.asarray(metric.function(*(array.copy() for array in arrays)))
    except Exception as error:  # a user's function may fail in any way
        raise InputError(
            f"metric {metric.name!r} failed on float64 arrays [instance] ({names}) ({type(error).__name__}: "
            f"{' '.join(str(error).split())})"
        ) from error
    if found.dtype.kind not in "iuf" or found.shape != ():
        raise InputError(
            f"metric {metric.name!r} must turn arrays [instance] ({names}) into one real number, got "
            f"{found.dtype.name} of shape {found.shape}"
        )
    return float(found)
