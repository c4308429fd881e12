"""Rows that sum up the others (mean, total, overall), which would count as instances."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sigjax.readers.options import listing, show
from sigjax.readers.tables.vocabulary import describes, is_summary
from sigjax.records import InputError

_CLOSE = 0.1
"""Rounded means are this many standard deviations of the column from its mean, at most."""
_EXACT = 1e-9


def summary_rows(ids: Sequence[Any] | None) -> list[int]:
    """The instances that are named like sums of others, without those of tables that have nothing else.

    Example:
        >>> summary_rows(["q1", "q2", "Mean", "std"])
        [2, 3]
    """
    found = [i for i, id in enumerate(ids or ()) if is_summary(str(id))]
    if found:  # what describes columns stands beside their mean
        found = [i for i, id in enumerate(ids or ()) if i in found or describes(str(id))]
    return found if len(found) < len(ids or ()) else []


def check_totals(values: np.ndarray, rows: Sequence[int], ids: Sequence[Any], place: Callable[[int], str]) -> str:
    """Refuse rows that are the means or sums of the others; a warning where only their names say so.

    Args:
        values: `[system, instance, input]`, NaN where there is none.
        rows: the instances that `summary_rows` found.
        ids: [instance].
        place: where an instance is, for the message.
    """
    others = np.delete(values, rows, axis=1)
    for row in rows:
        for what, expected in (("mean", np.nanmean), ("sum", np.nansum)):
            if _are(expected, values[:, row], others):
                more = [str(ids[i]) for i in rows if i != row]
                also = f", and {listing(more)}" if more else ""
                raise InputError(
                    f"{place(row)} is the {what} of the other rows, and would count as an instance; delete it{also}"
                )
    last = [i for i in rows if i >= len(ids) - len(rows) and not np.isnan(values[:, i]).all()]
    if not last:
        return ""
    return (
        f"warning: the last row is named {show(str(ids[last[-1]]))}, and counts as an instance; delete it if it sums "
        "up the others"
    )


def _are(expected: Callable[..., np.ndarray], row: np.ndarray, others: np.ndarray) -> bool:
    """Whether the numbers `[system, input]` of a row are the means, or the sums, of those of the others."""
    given = ~np.isnan(row) & (~np.isnan(others)).any(axis=1)
    if not given.any():
        return False
    number, columns = row[given], others.transpose(0, 2, 1)[given].T
    spread = np.nanstd(columns, axis=0)
    size = np.nanmax(np.abs(columns), axis=0, initial=1.0) * len(columns)
    near = np.maximum(np.minimum(_last_digit(number), _CLOSE * spread), _EXACT * size)
    return bool((spread > 0).any() and (np.abs(number - expected(columns, axis=0)) <= near).all())


def _last_digit(numbers: np.ndarray) -> np.ndarray:
    """One unit of the last decimal of each number, as it is written shortest.

    Example:
        >>> _last_digit(np.array([0.25, 3.0]))
        array([0.01, 1.  ])
    """
    digits = [np.format_float_positional(number, trim="-").partition(".")[2] for number in numbers]
    return np.array([10.0 ** -len(each) for each in digits])
