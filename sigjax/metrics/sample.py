"""What a `SampleMetric` gives on the data: scores, how far rounding can move them, and whether it is what it says."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sigjax.records import InputError, SampleMetric

ROUNDING = 256 * float(np.finfo(np.float64).eps)
"""Relative rounding error granted to a function: sums over many instances, in an order that is not ours."""
_STEP = 2.0**-20
"""Relative step of the finite differences."""
_UNEQUAL = 2.0**20
"""So many times the rounding error make two values different beyond doubt."""


def sample_scores(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """Scores `[system]` of columns `[system, input, instance]`.

    Raises:
        InputError: the function fails, or gives something else than a number.

    Example:
        >>> from sigjax.metrics import METRICS
        >>> sample_scores(METRICS["median"], np.array([[[1.0, 4.0, 3.0]], [[2.0, 2.0, 0.0]]]))
        array([3., 2.])
    """
    weights = np.ones(columns.shape[2])
    return np.array([_call(metric, of_system, weights) for of_system in columns])


def sample_tolerances(metric: SampleMetric, columns: np.ndarray) -> np.ndarray:
    """How far rounding can move the score of each system, `[system]`.

    A relative error of each input is carried through the function by finite differences, from the sizes of the numbers,
    so that the bound does not vanish where numbers of opposite sign happen to cancel.
    """
    scores = sample_scores(metric, columns)
    scale = np.abs(scores)
    for i in range(columns.shape[1]):
        moved = columns.copy()
        moved[:, i] += _STEP * np.abs(columns[:, i])
        with np.errstate(all="ignore"):
            change = np.abs(sample_scores(metric, moved) - scores) / _STEP
        scale += np.where(np.isfinite(change), change, 0.0)
    return ROUNDING * scale


def check_weights(metric: SampleMetric, columns: np.ndarray) -> None:
    """Refuse a function of weights that differs from itself on instances repeated as often as the weights say.

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
    tolerances = _UNEQUAL * sample_tolerances(metric, columns)
    for of_system, of_repeated, tolerance in zip(columns, repeated, tolerances, strict=True):
        by_weights = _call(metric, of_system, weights.astype(np.float64))
        by_repeats = _call(metric, of_repeated, np.ones(weights.sum()))
        if abs(by_weights - by_repeats) > tolerance:  # NaN for both, or for one by rounding, is no proof
            raise InputError(
                f"metric {metric.name!r} gives {by_weights:g} for the weights 2, 0, 1, ..., but {by_repeats:g} for "
                "instances repeated so often; weights are how often each instance is drawn"
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
