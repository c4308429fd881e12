"""Few units: all 2^n sign vectors, listed or counted; and the whole law of the random-sign sum.

`sign_sums` lists the sums, for any number of statistics and any score. `count_from` counts on one axis by meeting in
the middle: the sums of one half of the units are sorted, and each sum of the other half is looked up. So n units take
2^(n/2) steps, and the count is a whole number, whatever the differences. References: Horowitz and Sahni (1974),
"Computing partitions with applications to the knapsack problem"; as the split-up algorithm for permutation tests, van
de Wiel (2001). `count_extreme` counts the few that are as extreme where one system is ahead nearly everywhere, of any
number of units. `sign_law` gives the probability of every value, for callers that need all of them.
"""

import math

import numpy as np

from sigjax.exact.charfun import grid_lengths, plane_probabilities, rounding
from sigjax.exact.lattice import MOST_AXES, Lattice

MOST_SIGNS = 20
"""2^19 sums, and their mirror images."""
MOST_COINS = 44
"""Half of them have 2^22 sums: 32 MiB."""
MOST_EXTREME = 2**16
_MOST_POINTS = 2**22
_SECONDS = 1e-7
"""Nominal, to score a point and sort the scores."""


def few_units(a: np.ndarray, b: np.ndarray) -> Lattice | None:
    """The units on which two systems `[unit, stat]` (int64) differ, one row each; None if there are too many.

    Example:
        >>> few_units(np.array([[3, 1], [2, 2]]), np.array([[1, 4], [2, 2]])).rows
        array([[ 2, -3]])
    """
    rows = (a - b)[(a != b).any(axis=1)]
    if len(rows) > MOST_SIGNS:
        return None
    return Lattice(rows, np.ones(len(rows), np.int64), rows.sum(axis=0), np.eye(a.shape[1], dtype=np.int64))


def sign_sums(lattice: Lattice) -> np.ndarray:
    """The sums `[outcome, stat]` of all sign vectors whose first sign is +: the rest are mirror images.

    Example:
        >>> sign_sums(few_units(np.array([[3], [5], [9]]), np.zeros((3, 1), int))).ravel()
        array([-11,  -1,   7,  17])
    """
    sums = lattice.rows[:1]
    for row in lattice.rows[1:]:
        sums = np.concatenate([sums - row, sums + row])
    return sums


def count_from(lattice: Lattice, edge: int) -> int:
    """How many of the 2^coins sign vectors give S >= edge, on one axis.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> values = np.array([[3], [5], [9]])
        >>> count_from(pair_lattice(values, np.zeros_like(values), ("value",)), 7)
        3
    """
    steps = np.repeat(lattice.rows[:, 0], lattice.multiplicity)
    half = lattice.coins // 2
    one, other = _sums(steps[:half]), _sums(steps[half:])
    # Ascending order on both sides walks through memory instead of jumping.
    return int((len(one) - np.searchsorted(np.sort(one), edge - np.sort(other)[::-1])).sum())


def count_extreme(lattice: Lattice, edge: int) -> int | None:
    """`count_from` where the edge is near the reach, for any number of units: the minus signs add up to little.

    None where more than `MOST_EXTREME` sign vectors do.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> values = np.arange(1, 101)[:, None]
        >>> count_extreme(pair_lattice(values, np.zeros_like(values), ("value",)), 5050 - 2 * 3)  # none, 1, 2, 1 + 2, 3
        5
    """
    spare, sums = (int(lattice.reach[0]) - edge) // 2, np.zeros(1, np.int64)
    steps = np.sort(np.repeat(lattice.rows[:, 0], lattice.multiplicity))
    if steps[: MOST_EXTREME.bit_length()].sum() <= spare:
        return None  # any of these may have a minus sign, and there are more units: spare is at most half of all
    for step in steps.tolist():
        if step > spare or len(sums) > MOST_EXTREME:
            break
        sums = np.concatenate([sums, sums[sums <= spare - step] + step])
    return None if len(sums) > MOST_EXTREME else len(sums) * (spare >= 0)


def log_share(count: int, coins: int) -> float:
    """Natural logarithm of count / 2^coins; -inf for none."""
    return math.log(count) - coins * math.log(2.0) if count else -math.inf


def _sums(steps: np.ndarray) -> np.ndarray:
    """The sums of all sign vectors `[2^units]` int64."""
    sums = np.zeros(1, np.int64)
    for step in steps:
        sums = np.concatenate([sums - step, sums + step])
    return sums


def law_seconds(lattice: Lattice) -> float:
    """Nominal seconds to compute and score the law; infinite if it has too many values."""
    points = min(_grid_points(lattice), _num_signs(lattice))
    return points * _SECONDS if points <= _MOST_POINTS else math.inf


def sign_law(lattice: Lattice) -> tuple[np.ndarray, np.ndarray]:
    """The law of S: values `[value, axis]` (int64) and their probabilities `[value]`, with a total error near 1e-10.

    By all signs of few units, or the characteristic function on a grid, whichever has fewer values. A grid leaves out
    what lies beyond 9 standard deviations or is as small as rounding errors.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> values, chances = sign_law(pair_lattice(np.array([[1], [1], [1]]), np.zeros((3, 1), int), ("value",)))
        >>> values.ravel(), chances.round(12)
        (array([-3, -1,  1,  3]), array([0.125, 0.375, 0.375, 0.125]))
    """
    if lattice.axes == 0:
        return np.zeros((1, 0), np.int64), np.ones(1)
    if _num_signs(lattice) < _grid_points(lattice):
        units = np.repeat(lattice.rows, lattice.multiplicity, axis=0)
        half = sign_sums(Lattice(units, np.ones(len(units), np.int64), lattice.observed, lattice.basis))
        return np.concatenate([half, -half]), np.full(2 * len(half), 0.5**lattice.coins)
    lengths, total = grid_lengths(lattice), lattice.multiplicity @ lattice.rows
    first = (total - np.minimum(np.array(lengths), lattice.reach + 1) + 1) // 2
    chances = plane_probabilities(lattice.rows, lattice.multiplicity, np.zeros(lattice.axes), lengths, first)
    noise = float(rounding(lattice.coins, lengths)) * float(np.linalg.norm(chances))
    kept = np.nonzero(chances > noise)
    return 2 * (np.stack(kept, axis=1) + first) - total, chances[kept]


def _grid_points(lattice: Lattice) -> float:
    return math.prod(map(float, grid_lengths(lattice))) if lattice.axes <= MOST_AXES else math.inf


def _num_signs(lattice: Lattice) -> float:
    return 2.0**lattice.coins if lattice.coins <= MOST_SIGNS else math.inf
