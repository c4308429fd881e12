"""The lattice that whole-number rows generate: a basis of it, and coordinates in which the rows are short.

Dividing each column by its greatest common divisor is the case of one column. In general columns may be proportional to
each other (then one coordinate is enough), and correlated columns get coordinates that are less so, which makes the box
around their sum smaller.
"""

from typing import NamedTuple

import numpy as np

_SAFE = 2**30
"""Products of two numbers below this cannot overflow; larger ones are taken as Python's whole numbers."""


class Coordinates(NamedTuple):
    """Rows written in a basis of their lattice: rows = values @ basis."""

    values: np.ndarray
    """[row, axis] int64."""
    basis: np.ndarray
    """[axis, stat] int64."""


def coordinates(rows: np.ndarray, weights: np.ndarray, most_axes: int) -> Coordinates | None:
    """Write rows `[row, stat]` (int64) in a basis of the lattice they generate; None if it has more axes than asked.

    With two axes, the rows with large `weights` `[row]` (whole numbers) get the shortest coordinates.

    Example:
        >>> coordinates(np.array([[2, 4], [6, 12], [10, 20]]), np.ones(3, int), 2)
        Coordinates(values=array([[1],
               [3],
               [5]]), basis=array([[2, 4]]))
    """
    wide = rows if np.abs(rows).max(initial=0) < _SAFE else rows.astype(object)
    echelon = _echelon(wide, most_axes)
    if echelon is None:
        return None
    left, values = wide.copy(), []
    for row in echelon:
        pivot = int(np.flatnonzero(row)[0])
        values.append(left[:, pivot] // row[pivot])
        left = left - values[-1][:, None] * row
    axes = np.array(values).reshape(len(echelon), len(rows)).T
    basis = np.array(echelon).reshape(len(echelon), rows.shape[1])
    if len(echelon) == 2:
        axes, basis = _shortened(axes, basis, weights)
    return Coordinates(axes.astype(np.int64), basis.astype(np.int64))


def _echelon(rows: np.ndarray, most_axes: int) -> list[np.ndarray] | None:
    """Basis vectors in echelon form, by Euclid's algorithm on all rows at once."""
    basis: list[np.ndarray] = []
    for column in range(rows.shape[1]):
        while (places := np.flatnonzero(rows[:, column])).size > 1:
            smallest = places[np.argmin(np.abs(rows[places, column]))]
            times = rows[places, column] // rows[smallest, column]
            times[places == smallest] = 0
            rows = rows.copy()
            rows[places] -= times[:, None] * rows[smallest]
        if places.size:
            if len(basis) == most_axes:
                return None
            basis.append(rows[places[0]])
            rows = np.delete(rows, places[0], axis=0)
    return basis


def _shortened(axes: np.ndarray, basis: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lagrange's reduction: coordinates with the smallest product of weighted lengths, and their basis."""
    first, second = axes.T.astype(object)
    weights = weights.astype(object)
    of_first, of_second = basis.astype(object)
    while True:
        if (weights * first * first).sum() > (weights * second * second).sum():
            first, second, of_first, of_second = second, first, of_second, of_first
        square = (weights * first * first).sum()
        times = (2 * (weights * first * second).sum() + square) // (2 * square)
        if times == 0:
            return np.stack([first, second], axis=1), np.stack([of_first, of_second])
        second = second - times * first
        of_first = of_first + times * of_second
