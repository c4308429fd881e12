"""Reduce the statistics of two systems to the smallest problem with the same null distribution.

Let a* and b* be the sums of the statistics of the two systems after random swaps. Swapping a unit i exchanges its
statistics s_a,i and s_b,i. So a* + b* never changes, and a* - b* is the sum over units of e_i D_i, with D_i = s_a,i -
s_b,i and a random sign e_i = +1 or -1.

Columns of D that are zero (such as gold sizes) are left out. The rows of D generate a lattice: the set of all their
integer combinations. Each row is written as coordinates in a basis of this lattice, with one axis for each basis
vector. If there is only one column, this divides it by its greatest common divisor. Proportional columns need only one
axis. If columns are correlated, the basis is chosen so that the coordinates are less correlated. Then the box that
contains the likely sums is smaller. If one or two axes suffice, the null distribution of any score is computed without
sampling.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

MOST_AXES = 2
_MOST_NAMES = 4
"""Largest number of statistics that are named in the reason why a pair has no exact test. (Text metrics have many.)"""
_LARGEST_KEY = 2**62
_LARGEST_SUM = 2.0**53
_NO_OVERFLOW = 2**30
"""Limit for the differences as int64: products of two smaller numbers cannot overflow. If a number is not below this,
all numbers are converted to Python integers."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """The distinct differences v of two systems, and for each v the number c_v of units.

    They define the random-sign sum S: the sum over all units of their differences with random signs. Its axes are
    coordinates of the differences (see `basis`).
    """

    rows: np.ndarray
    """`[row, axis]` int64: the distinct nonzero differences of units, with 0 to 2 axes. A difference and its negative
    are stored as one row."""
    multiplicity: np.ndarray
    """`[row]` int64: number of units whose difference is this row or its negative."""
    observed: np.ndarray
    """`[axis]` int64: the observed sum of all differences. It is the value of the random-sign sum S without swaps."""
    basis: np.ndarray
    """`[axis, stat]` int64: if S `[axis]` is a sum of differences, S @ basis is the difference of the systems in each
    statistic."""

    @cached_property
    def reach(self) -> np.ndarray:
        """`[axis]` int64: the largest value of the random-sign sum S. All values on an axis have the same parity."""
        return self.multiplicity @ np.abs(self.rows)

    @cached_property
    def num_signs(self) -> int:
        """Number of units on which the systems differ. Each of them has a random sign."""
        return int(self.multiplicity.sum())

    @cached_property
    def deviation(self) -> np.ndarray:
        """`[axis]`: the standard deviation of the random-sign sum S."""
        return np.sqrt((self.rows.astype(np.float64) ** 2).T @ self.multiplicity)

    @property
    def axes(self) -> int:
        """Number of axes (numbers per difference), 0 to 2; it is 0 for identical systems."""
        return self.rows.shape[1]


@dataclass(frozen=True, slots=True)
class NotEligible:
    """The reason why a pair, or the bootstrap, has no exact test."""

    reason: str


_TOO_LARGE = NotEligible("the differences of the statistics are too large for an exact test")


def pair_lattice(a: np.ndarray, b: np.ndarray, stat_names: tuple[str, ...]) -> Lattice | NotEligible:
    """Reduce the statistics `[unit, stat]` (int64) of two systems to a lattice: their distinct differences.

    Returns `NotEligible` if a difference needs more than two coordinates (axes), or if the numbers are too large.

    >>> a = np.array([[1, 1], [1, 1], [0, 1]])
    >>> b = np.array([[0, 1], [1, 1], [4, 1]])
    >>> lattice = pair_lattice(a, b, ("value", "count"))
    >>> lattice.rows.tolist(), lattice.multiplicity.tolist(), lattice.observed.tolist(), lattice.basis.tolist()
    ([[1], [4]], [1, 1], [-3], [[1, 0]])
    """
    # The unit axis, which is long, comes last, because operations along a short last axis are many times slower.
    columns = np.ascontiguousarray((a - b).T)
    varying = np.flatnonzero(columns.any(axis=1))
    columns = columns[varying]
    columns = columns[:, columns.any(axis=0)]
    rows, multiplicity = _distinct_rows(columns.T)
    # The sum of all differences is also in the lattice. Its coordinates are the observed S.
    try:
        written = coordinates(np.vstack([rows, columns.sum(axis=1)]), np.append(multiplicity, 0))
    except OverflowError:
        return _TOO_LARGE
    if written is None:
        more = f" and {len(varying) - _MOST_NAMES} more" if len(varying) > _MOST_NAMES else ""
        names = ", ".join(stat_names[int(i)] for i in varying[:_MOST_NAMES]) + more
        return NotEligible(f"more than two statistics differ between the systems ({names}), on more than a few units")
    values, of_varying = written
    basis = np.zeros((len(of_varying), a.shape[1]), np.int64)
    basis[:, varying] = of_varying
    values, observed = np.abs(values[:-1]) if len(basis) == 1 else values[:-1], values[-1]
    if (np.abs(values).astype(np.float64).T @ multiplicity).max(initial=0.0) > _LARGEST_SUM:
        return _TOO_LARGE
    return Lattice(values, multiplicity, observed, basis)


def _distinct_rows(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of `differences` `[unit, stat]`, and how often each row occurs.

    A row and its negative count as equal. The sign of a row is chosen so that its first nonzero number is positive.
    Rows are in ascending order.
    """
    if differences.shape[1] == 1:
        values, counts = np.unique(np.abs(differences[:, 0]), return_counts=True)
        return values[:, None], counts
    if not len(differences):
        return differences, np.zeros(0, np.int64)
    lead = differences[np.arange(len(differences)), (differences != 0).argmax(axis=1)]
    rows = differences * np.sign(lead)[:, None]
    low = rows.min(axis=0)
    spans = [int(span) + 1 for span in rows.max(axis=0) - low]
    if np.prod(np.array(spans, object)) >= _LARGEST_KEY:
        values, counts = np.unique(rows, axis=0, return_counts=True)
        return values, counts
    # Encode each row as one integer, because sorting integers is much faster.
    keys, counts = np.unique(np.ravel_multi_index(tuple((rows - low).T), spans), return_counts=True)
    return np.stack(np.unravel_index(keys, spans), axis=1) + low, counts


def coordinates(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Write rows `[row, stat]` as coordinates `[row, axis]` @ basis `[axis, stat]` (int64); return both factors.

    Returns None if more than `MOST_AXES` axes are needed. With two axes, the basis is chosen so that the coordinates
    are small numbers, above all for rows with large `weights` `[row]` (integers).

    >>> values, basis = coordinates(np.array([[2, 4], [6, 12], [10, 20]]), np.ones(3, int))
    >>> values.tolist(), basis.tolist()
    ([[1], [3], [5]], [[2, 4]])
    """
    if rows.shape[1] == 1:
        basis = np.gcd.reduce(rows, axis=0)[None]
        return rows // basis, basis
    wide = rows if np.abs(rows).max(initial=0) < _NO_OVERFLOW else rows.astype(object)
    echelon = _echelon(wide)
    if echelon is None:
        return None
    left = wide.copy()
    values: list[np.ndarray] = []
    for row in echelon:
        pivot = int(np.flatnonzero(row)[0])
        values.append(left[:, pivot] // row[pivot])
        left = left - values[-1][:, None] * row
    axes = np.array(values).reshape(len(echelon), len(rows)).T
    basis = np.array(echelon).reshape(len(echelon), rows.shape[1])
    if len(echelon) == 2:
        axes, basis = _lagrange_reduced(axes, basis, weights)
    return axes.astype(np.int64), basis.astype(np.int64)


def _echelon(rows: np.ndarray) -> list[np.ndarray] | None:
    """Return a basis of the lattice in echelon form; None if it needs more than `MOST_AXES` rows.

    Euclid's algorithm is applied to all rows at once, column by column.
    """
    basis: list[np.ndarray] = []
    for column in range(rows.shape[1]):
        while (nonzero := np.flatnonzero(rows[:, column])).size > 1:
            smallest = nonzero[np.argmin(np.abs(rows[nonzero, column]))]
            times = rows[nonzero, column] // rows[smallest, column]
            times[nonzero == smallest] = 0
            rows = rows.copy()
            rows[nonzero] -= times[:, None] * rows[smallest]
        if nonzero.size:
            if len(basis) == MOST_AXES:
                return None
            basis.append(rows[nonzero[0]])
            rows = np.delete(rows, nonzero[0], axis=0)
    return basis


def _lagrange_reduced(axes: np.ndarray, basis: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reduce two axes by Lagrange's algorithm; return the new coordinates `[row, axis]` and their basis.

    An axis has the weighted length sqrt(sum over rows of weight times squared coordinate). The result has the smallest
    product of the two lengths.
    """
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


def plane_axes(lattice: Lattice, half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of the sum S on both axes of a box around 0, and a mask of the possible values.

    Returns three arrays: the values `[first]` on the first axis, the values `[second]` on the second axis, and the mask
    `[first, second]`. `half` `[axis]` are the half-widths of the box. The mask marks the points in the convex hull of
    the possible values of S. The first axis starts at 0 or 1, because each point with a negative first value is the
    negative of another point.
    """
    widest, highest = int(half[0]), int(half[1])
    first, second = np.arange(widest % 2, widest + 1, 2), np.arange(-highest, highest + 1, 2)
    lowest, highest = hull(lattice, first)
    return first, second, (second >= lowest[:, None]) & (second <= highest[:, None])


def hull(lattice: Lattice, first: NDArray[np.int64]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value of the sum S on the second axis, for each value `first` on the first axis.

    They are two arrays `[first]`: the limits of the convex hull of the possible values of S. The hull is a polygon
    whose sides are parallel to the difference rows. Along its upper edge, the rows come in the order of decreasing
    slope.
    """
    upright = lattice.rows[:, 0] == 0
    sides = (2 * lattice.rows * np.sign(lattice.rows[:, :1]) * lattice.multiplicity[:, None])[~upright]
    sides = sides[np.argsort(-sides[:, 1] / sides[:, 0], kind="stable")]
    corners: NDArray[np.int64] = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(sides, axis=0)])
    corners = corners - sides.sum(axis=0) // 2
    lift = int(np.abs(lattice.rows[upright, 1]) @ lattice.multiplicity[upright])
    highest = np.interp(first, corners[:, 0], corners[:, 1]) + lift
    lowest = -np.interp(-first, corners[:, 0], corners[:, 1]) - lift
    spare = 1e-9 * float(lattice.reach[1])  # for rounding errors of the slopes
    return lowest - spare, highest + spare
