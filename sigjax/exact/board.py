r"""A board: pairs of systems that share their difference rows, so that one matrix product tests all pairs exactly.

A difference row v holds the difference of the two systems on a unit, with one number for each axis. An axis is a
statistic in which the systems differ (one or two). Pairs share their distinct difference rows. Let C `[pair, row]` be
the number of units with each row, and w a frequency. Then `C @ log|cos(w.v)|` is the logarithm of the modulus of each
pair's characteristic function. Under a tilt theta (see `distributions`) this logarithm is
`C @ log|cos(w.v) + i tanh(theta.v) sin(w.v)|`. The angle of the characteristic function is
`C @ arctan(tanh(theta.v) tan(w.v))` plus a known angle. So logarithms and arctangents are computed only once per row
and frequency of the board. `Board` holds rows and counts. `characteristic` computes the logarithms and angles, `tails`
and `grids` the tail probabilities, and `board_tests` the p-values.

**Which pairs.** A board contains pairs that differ in one or two statistics with few different values. If the score is
monotone in each statistic, the extreme sums are the sums on one side of a border (the edge). The distribution of delta
is symmetric. So every p-value is a tail $P(\Delta \ge t)$ or $P(\Delta > t)$ with $t \ge 0$, twice such a tail, or 1
minus such a tail.

References: Zmigrod, Vieira and Cotterell (2022). Tails by tilted transforms: Peres, Lee and Keich (2020), "Exactly
computing the tail of the Poisson-binomial distribution" (ShiftConvolve, arXiv 2004.07429). Exact tests on a GPU:
Ekvall, Hoehle and Kaell (2021), "Parallelized calculation of permutation tests" (btaa1007).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.distributions import DEVIATIONS, MANY_SIGNS
from sigjax.run import costs
from sigjax.run.costs import Cost

_MOST_CODES = 2**13
"""Largest number of possible difference rows for which a board is made. (A difference row is the difference of two
systems on a unit, one number per axis. A row and its negative count once.)"""
_TOGETHER = 2**17
"""At most this many differences (pairs times units) are counted at a time, so that they stay in the cache."""
_MOST_PARTS = 2.0**50
"""Limit for the number of equal parts of a turn, times the largest possible sum of differences. Angles are whole
numbers of such parts; below the limit, float64 holds these whole numbers exactly."""


@dataclass(frozen=True, eq=False)
class Board:
    """Pairs of systems tested together: their distinct differences, and the number of units with each difference."""

    rows: np.ndarray
    """`[row, axis]` int64: the distinct nonzero difference rows. A row is the difference of two systems on a unit, one
    number per axis (see `basis`). A row and its negative are stored as one row."""
    counts: np.ndarray
    """`[pair, row]` int32: number of units on which the pair's difference is this row or its negative."""
    observed: np.ndarray
    """`[pair, axis]` int64: the sum of the pair's differences over all units, as observed (without random signs)."""
    basis: np.ndarray
    """`[axis, stat]` int64: if S `[axis]` is a sum of difference rows, S @ basis is the difference of the systems in
    each statistic."""

    @property
    def axes(self) -> int:
        """The number of axes (numbers per difference row): 1 or 2."""
        return self.rows.shape[1]

    def subset(self, pairs: np.ndarray) -> "Board":
        """Return the board of the pairs with the indices `pairs`."""
        return replace(self, counts=self.counts[pairs], observed=self.observed[pairs])

    def without_unused_rows(self) -> "Board":
        """Return the board without the rows that have count 0 for every pair."""
        some = self.counts.any(axis=0)
        return replace(self, rows=self.rows[some], counts=self.counts[:, some])

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.counts)


def make_board(values: np.ndarray, pairs: np.ndarray) -> Board | None:
    """Make the board of `pairs` `[pair, 2]` (indices of systems) from the statistics `[system, unit, stat]` (int64).

    `values` are the statistics of all systems. Returns None unless one or two statistics differ between the systems,
    with at most `_MOST_CODES` possible differences.

    >>> answers = np.array([[[1], [1], [0]], [[0], [1], [4]], [[0], [3], [0]]])
    >>> board = make_board(answers, np.array([[0, 1], [0, 2]]))
    >>> board.rows.tolist(), board.counts.tolist(), board.observed.tolist()
    ([[1], [2], [4]], [[1, 0, 1], [1, 1, 0]], [[-3], [-1]])
    """
    apart = values - values[:1]
    varying = np.flatnonzero(apart.any(axis=(0, 1)))
    if not 1 <= varying.size <= 2:
        return None
    columns = np.moveaxis(apart[:, :, varying], 2, 0)
    scale = np.gcd.reduce(columns.reshape(len(columns), -1), axis=1)
    columns = columns // scale[:, None, None]
    spans = [int(np.ptp(column)) for column in columns]
    # Encode a difference row as one integer, whose sign is the sign of its first nonzero number.
    radix = 2 * spans[1] + 1 if len(spans) == 2 else 1
    width = spans[0] * radix + (spans[1] if len(spans) == 2 else 0) + 1
    if width > _MOST_CODES:
        return None
    codes = columns[0] * radix + (columns[1] if len(spans) == 2 else 0)
    codes = codes.astype(np.int32)
    counts = np.empty((len(pairs), width), np.int32)
    together = max(1, _TOGETHER // codes.shape[1])
    offsets = width * np.arange(together, dtype=np.int32)[:, None]
    for start in range(0, len(pairs), together):
        a, b = pairs[start : start + together].T
        keys = np.abs(codes[a] - codes[b])
        keys += offsets[: len(a)]
        counts[start : start + len(a)] = np.bincount(keys.ravel(), minlength=width * len(a)).reshape(-1, width)
    used = np.flatnonzero(counts[:, 1:].any(axis=0)) + 1
    first = (used + radix // 2) // radix
    rows = np.stack([first, used - first * radix], axis=1)[:, : len(spans)]
    totals = columns.sum(axis=2)
    basis = np.zeros((len(spans), values.shape[2]), np.int64)
    basis[np.arange(len(spans)), varying] = scale
    observed = (totals[:, pairs[:, 0]] - totals[:, pairs[:, 1]]).T
    return Board(rows, counts[:, used], observed, basis)


def eligible_pairs(board: Board) -> np.ndarray:
    """Return a mask `[pair]` of the pairs that the board can test: the systems differ, and no angle is rounded.

    (For angles, see `_MOST_PARTS`.) With two axes, a pair is excluded if all its difference rows are multiples of one
    row, or nearly so.
    """
    num_signs, reach = board.counts.sum(axis=1), board.counts @ np.abs(board.rows)
    deviation: np.ndarray = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2)
    # Angles are integer numbers of parts of a turn. They must be exact in float64.
    box = math.prod((2.0 * DEVIATIONS * deviation.max(axis=0, initial=0.0) + 16.0).tolist())
    parts: np.ndarray = box * (num_signs + reach.sum(axis=1))
    held: np.ndarray = (num_signs > 0) & (parts < _MOST_PARTS)
    if board.axes == 1:
        return held
    squares = [board.rows[:, i] * board.rows[:, j] for i, j in ((0, 0), (1, 1), (0, 1))]
    first, second, both = (board.counts @ each for each in squares)
    flat = first.astype(np.float64) * second <= both.astype(np.float64) ** 2 * (1.0 + 1e-6)
    return held & ~flat


class Tails(NamedTuple):
    """Natural logarithms of tail probabilities `[pair]`, and bounds on the relative errors of the probabilities."""

    log_p: np.ndarray
    error: np.ndarray


def pair_cost(board: Board, units: int, *, monotone: bool = True) -> Cost:
    """Return the cost of testing one pair on this board, including the counting of its differences on `units` units.

    If the score is not `monotone` in each statistic, it is computed on a whole grid of sums, which costs more.
    """
    deviation = np.sqrt((board.counts @ board.rows.astype(np.float64) ** 2).max(axis=0))
    widths = DEVIATIONS * deviation
    counted = (costs.BOARD_LINE if board.axes == 1 else costs.BOARD_PLANE) + costs.BOARD_UNIT * units
    if not monotone:
        return counted + costs.BOARD_POINT * math.prod(widths.tolist())
    return counted + (costs.BOARD_ROW * float(widths[0]) if board.axes == 2 else Cost())


_FEW_WAVES = 200
"""Typical number of frequencies at which the characteristic function of a single pair with one axis is not
negligible."""
_MOST_LONG = 0.1
"""Limit, in seconds per pair, for the time of one common grid with long doubles. If a grid takes longer, it is not
used."""


def grid_is_faster(board: Board, deviation: np.ndarray, frequencies: int, tilts: int, real: Any) -> bool:
    """Whether pairs with two axes are tested faster on one common grid of sums than one by one (`planes`).

    `deviation` `[pair, axis]` holds the standard deviations of the sums, and `real` is the type of the numbers.
    `frequencies` is the number of frequencies of the grid at which the characteristic functions are not negligible.
    `tilts` is the number of different tilts (changes of the signs' probabilities, see `distributions`) of the pairs.

    If most differences are common to all pairs and tilts are small, most frequencies are negligible. For example, with
    a common grid, 300 pairs compared by F1 on 2,000 units take 0.3 s instead of 4.6 s. If each pair has differences of
    its own (such as sums of clusters), or p is tiny, few frequencies are negligible. Then a common grid is slower: 10
    such pairs take 5.2 s instead of 0.17 s.
    """
    count, terms = len(board), frequencies * (len(board.rows) * tilts + len(board))
    if real == np.longdouble:
        return (costs.LONG_GRID_PAIR * count + costs.LONG_WAVE * terms).seconds < _MOST_LONG * count
    points, own_rows = DEVIATIONS**2 * deviation.max(axis=0).prod(), (board.counts > 0).sum(axis=1).mean()
    many = bool(board.counts.sum(axis=1).min() >= MANY_SIGNS)
    a_term = costs.OWN_TERM_OF_MANY if many else costs.OWN_TERM
    alone = costs.OWN_GRID + (costs.OWN_POINT + a_term * float(own_rows)) * float(points)
    shared = costs.SHARED_GRID + costs.SHARED_GRID_PAIR * count + costs.SHARED_WAVE * terms
    return shared.seconds < (alone * count).seconds


def shared_line_is_faster(pairs: int, rows: int, frequencies: int) -> bool:
    """Whether pairs with one axis (S is one number) and the same tilt are tested faster together than one by one.

    S is the sum of a pair's differences with random signs. `pairs` is the number of pairs, and `rows` the number of
    distinct differences. `frequencies` is the number of frequencies at which the characteristic functions of the pairs
    are not negligible. A tilt is a change of the signs' probabilities.
    """
    own = costs.OWN_LINE + costs.SHARED_WAVE * (_FEW_WAVES * rows)
    return (costs.SHARED_WAVE * (frequencies * (rows + pairs))).seconds < (own * pairs).seconds
