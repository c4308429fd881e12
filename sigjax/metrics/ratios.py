"""Ratios of two sums: the mean, accuracy and ratio; and what all metrics of counts share.

A mean is a sum of values over a sum of ones, so that it stays right when clusters of different sizes are resampled.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sigjax.records import Array, InputError, Metric


def divide(numerator: Array, denominator: Array) -> Array:
    """`numerator / denominator` `[...]`, and 0 where the denominator is 0: nothing predicted, or nothing to find.

    Example:
        >>> divide(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
        array([0.25, 0.  ])
    """
    xp = numerator.__array_namespace__()
    empty = denominator == 0
    return xp.where(empty, 0.0, numerator / xp.where(empty, 1.0, denominator))


def ratio_score(sums: Array) -> Array:
    r"""Ratio of sums, $\sum_i n_i / \sum_i d_i$, such as precision and recall; 0 where the denominator is 0.

    Sums `[..., stat]` with stat = (numerator, denominator) give scores `[...]`.

    Example:
        >>> float(ratio_score(np.array([3.0, 4.0])))
        0.75
    """
    return divide(sums[..., 0], sums[..., 1])


def mean_score(sums: Array) -> Array:
    r"""Mean, $\sum_i x_i / n$: `ratio_score` under its own name, by which intervals of proportions know means."""
    return ratio_score(sums)


def refuse_where(wrong: np.ndarray, rule: str, column: np.ndarray, advice: str = "") -> None:
    """Refuse a column `[instance]` where any number is `wrong` `[instance]`; the message shows the first.

    Example:
        >>> refuse_where(np.array([False, True]), "label must be 0 or 1", np.array([1, 2]))
        Traceback (most recent call last):
            ...
        sigjax.InputError: label must be 0 or 1, got 2 at instance 2
    """
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(f"{rule}, got {column[i]:g} at instance {i + 1}{advice}")


def stack_counts(names: Sequence[str], limits: Sequence[tuple[int, int]], *columns: np.ndarray) -> np.ndarray:
    """Columns `[instance]` -> `[instance, stat]`; columns that cannot be counts are refused.

    Args:
        names: `[stat]`.
        limits: (part, whole): indices of two columns, of which the first counts some of what the second counts.
        columns: `[stat]` columns.

    Raises:
        InputError: a number is negative or not whole, or a part is larger than its whole.

    Example:
        >>> stack_counts(("correct", "total"), [(0, 1)], np.array([1, 0]), np.array([2, 3]))
        array([[1, 2],
               [0, 3]])
    """
    for name, column in zip(names, columns, strict=True):
        refuse_where((column < 0) | (column != np.rint(column)), f"{name} must be a whole number from 0", column)
    for part, whole in limits:
        wrong = np.flatnonzero(columns[part] > columns[whole])
        if wrong.size:
            i = wrong[0]
            raise InputError(
                f"{names[part]} must not be above {names[whole]}, got {columns[part][i]:g} and {columns[whole][i]:g} "
                f"at instance {i + 1}; the columns are {', '.join(names)}"
            )
    return np.stack(columns, axis=-1)


def stack_nonnegative(names: Sequence[str], checked: Sequence[int], *columns: np.ndarray) -> np.ndarray:
    """Columns `[instance]` -> `[instance, stat]`; negative numbers in the `checked` columns are refused."""
    for i in checked:
        refuse_where(columns[i] < 0, f"{names[i]} must not be below 0", columns[i])
    return np.stack(columns, axis=-1)


def _with_ones(value: np.ndarray) -> np.ndarray:
    return np.stack([value, np.ones_like(value)], axis=-1)


def _right_or_wrong(value: np.ndarray) -> np.ndarray:
    advice = "; use the metric mean for other numbers"
    refuse_where((value != 0) & (value != 1), "accuracy takes 0 or 1 for each instance", value, advice)
    return _with_ones(value)


SHARES, PERCENT, RATES = (0.0, 1.0), (0.0, 100.0), (0.0, math.inf)
"""Bounds of scores."""
_TWO, _TOKENS = ("numerator", "denominator"), ("correct", "tokens")
RATIO = Metric("ratio", ratio_score, _TWO, partial(stack_nonnegative, _TWO, (1,)), _TWO, portable=True)
"""A denominator below 0 is refused, since the ratio of sums would jump there."""
MEAN = Metric("mean", mean_score, ("value", "count"), _with_ones, ("value",), portable=True)
ACCURACY = replace(MEAN, name="accuracy", extract=_right_or_wrong, bounds=SHARES)
TOKEN_ACCURACY = replace(
    ACCURACY, extract=partial(stack_counts, _TOKENS, [(0, 1)]), inputs=_TOKENS, shared_inputs=("tokens",)
)
"""Accuracy of tokens where the instance is a sentence."""
RATIOS = (MEAN, ACCURACY, RATIO)
