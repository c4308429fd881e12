r"""A board: pairs of systems that share their difference rows, so that one matrix product tests all pairs exactly.

Pairs share their distinct difference rows v. Let C `[pair, row]` be the numbers of units with each row, and w a
frequency. Then `C @ log|cos(w.v)|` is the logarithm of the modulus of every pair's characteristic function. Under a
tilt theta it is `C @ log|cos(w.v) + i tanh(theta.v) sin(w.v)|`, and the angle is `C @ arctan(tanh(theta.v) tan(w.v))`
plus a known part of a turn. So logarithms and arctangents are computed only once per row and frequency of the board.
`Board` holds rows and counts. `characteristic` makes these tables, `tails` the tail probabilities, and `board_tests`
the p-values.

**Which pairs.** A board takes pairs that differ in one statistic, or in two statistics of few values. If the score is
monotone in each statistic, the extreme sums lie beyond an edge. The distribution of delta is symmetric. So every
p-value is a tail $P(\Delta \ge t)$ or $P(\Delta > t)$ with $t \ge 0$, twice such a tail, or 1 minus one.

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
"""Most possible difference rows of a board."""
_TOGETHER = 2**17
"""Most differences that are counted at a time, to stay in the cache."""
_MOST_PARTS = 2.0**50
"""Largest product of the parts of a turn and the largest sum: below this, integers are exact in float64."""


@dataclass(frozen=True, eq=False)
class Board:
    """Pairs that share their distinct difference rows."""

    rows: np.ndarray
    """`[row, axis]` int64: distinct nonzero differences; a row stands for itself and its negative."""
    counts: np.ndarray
    """`[pair, row]` int32: number of units with this difference."""
    observed: np.ndarray
    """`[pair, axis]` int64: observed sums of the differences."""
    basis: np.ndarray
    """`[axis, stat]` int64: S @ basis are the differences of the statistics."""

    @property
    def axes(self) -> int:
        """Number of axes: 1 or 2."""
        return self.rows.shape[1]

    def subset(self, pairs: np.ndarray) -> "Board":
        """The board of some of the pairs."""
        return replace(self, counts=self.counts[pairs], observed=self.observed[pairs])

    def without_unused_rows(self) -> "Board":
        """The board without rows that no pair has."""
        some = self.counts.any(axis=0)
        return replace(self, rows=self.rows[some], counts=self.counts[:, some])

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.counts)


def make_board(values: np.ndarray, pairs: np.ndarray) -> Board | None:
    """Make the board of some pairs `[pair, 2]`, from the statistics `[system, unit, stat]` (int64) of all systems.

    None if more than two statistics differ, or if they have too many values.

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
    """Mask `[pair]` of pairs that the board can test; with two axes, a pair's rows must span a plane."""
    num_signs, reach = board.counts.sum(axis=1), board.counts @ np.abs(board.rows)
    deviation: np.ndarray = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2)
    # Angles are integers (parts of a turn), which must be exact in float64.
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
    """Logarithms of tail probabilities `[pair]`, and bounds on the relative errors of the probabilities."""

    log_p: np.ndarray
    error: np.ndarray


def pair_cost(board: Board, units: int, *, monotone: bool = True) -> Cost:
    """The cost to test one pair on its board, with `units` differences to count."""
    deviation = np.sqrt((board.counts @ board.rows.astype(np.float64) ** 2).max(axis=0))
    widths = DEVIATIONS * deviation
    counted = (costs.BOARD_LINE if board.axes == 1 else costs.BOARD_PLANE) + costs.BOARD_UNIT * units
    if not monotone:
        return counted + costs.BOARD_POINT * math.prod(widths.tolist())
    return counted + (costs.BOARD_ROW * float(widths[0]) if board.axes == 2 else Cost())


_FEW_WAVES = 200
"""Typical number of significant frequencies for a single pair with one axis."""
_MOST_LONG = 0.1
"""Most seconds for a pair in long doubles."""


def grid_is_faster(board: Board, deviation: np.ndarray, frequencies: int, tilts: int, real: Any) -> bool:
    """Whether pairs with two axes are faster on a common grid than one by one (`planes`).

    If most differences are common to all pairs and tilts are small, few frequencies are significant: 300 pairs by F1 of
    2,000 units take 0.3 s instead of 4.6 s. If each pair has other differences (sums of clusters), or p is tiny, nearly
    all frequencies are significant: 10 such pairs take 5.2 s instead of 0.17 s.
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
    """Whether pairs with one axis and the same tilt are faster together than each with its own frequencies."""
    own = costs.OWN_LINE + costs.SHARED_WAVE * (_FEW_WAVES * rows)
    return (costs.SHARED_WAVE * (frequencies * (rows + pairs))).seconds < (own * pairs).seconds
