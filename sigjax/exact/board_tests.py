"""Correctly rounded p-values of all pairs of a board (pairs tested together), from tail probabilities of delta.

The distribution of delta is symmetric. So every p-value is a tail P(delta >= t) or P(delta > t) with t >= 0, twice such
a tail, or 1 minus such a tail. If the error bound of float64 does not determine the last digit of p, the pair is
computed again with long doubles (if the machine has such numbers).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.board import Board, Tails
from sigjax.exact.digits import PValue, round_p_values
from sigjax.exact.grids import grid_tails
from sigjax.exact.lattice import Lattice
from sigjax.exact.null import Delta, UncertainP, rounded_p_value
from sigjax.exact.tails import WIDE, line_tails, plane_tails
from sigjax.resample.extreme import Extreme

TailsOf = Callable[[np.ndarray, np.ndarray, bool], Tails]
"""Function that returns the tail probabilities of delta, `Tails` `[tail]` (logarithms and error bounds). It takes pairs
`[tail]` (indices), thresholds `[tail]` (>= 0) and a bool `strict`. It returns P(delta >= threshold) or, if `strict`,
P(delta > threshold)."""


def p_values_of_tails(criterion: Extreme, tails: TailsOf) -> Tails:
    """Return the logarithms of the p-values `[pair]`, and bounds on the relative errors of the p-values.

    `criterion` defines which deltas are extreme, and `tails` computes the tail probabilities of delta.
    """
    parts = [_tail_or_complement(criterion, tails, beyond=False)]
    if criterion.mid_p:
        parts.append(_tail_or_complement(criterion, tails, beyond=True))
    share = 1.0 / len(parts)
    whole = share * sum(part.whole for part in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.array([part.tail.log_p for part in parts])
        signed = share * sum(part.sign * np.exp(part.tail.log_p) for part in parts)
        small = np.logaddexp.reduce(logs) + math.log(share)
        log_p = np.where(whole == 0.0, small, np.where(whole == 1.0, np.log1p(signed), np.log(whole + signed)))
        errors = np.array([part.tail.log_p + np.log(part.tail.error) for part in parts])
        error = np.exp(np.logaddexp.reduce(errors) + math.log(share) - log_p)
        # If p is near 1, log p is about p - 1. So log p has the relative error of 1 - p.
        rounded = 32.0 * float(np.finfo(log_p.dtype).eps) * np.where(whole == 1.0, np.abs(log_p), 1.0)
        error = (1.001 * error + rounded).astype(np.float64)
    # If all tails are known without error and p is 1, p is exactly 1.
    known = np.all([part.tail.error == 0.0 for part in parts], axis=0)
    return Tails(log_p, np.where(known & (log_p == 0.0), 0.0, error))


class _TailOrComplement(NamedTuple):
    """For each pair, the probability of an extreme delta (or a more extreme one), written as `whole + sign * tail`.

    It is a tail probability (`whole` = 0, `sign` = 1), or 1 minus a tail probability (`whole` = 1, `sign` = -1).
    """

    whole: np.ndarray
    sign: np.ndarray
    tail: Tails


def _tail_or_complement(criterion: Extreme, tails: TailsOf, *, beyond: bool) -> _TailOrComplement:
    """Return the probability that delta is at least as extreme as observed or, if `beyond`, more extreme.

    For each pair, it is returned as a tail, or as 1 minus a tail. For a two-sided test, the tail is twice a one-sided
    tail. `criterion` defines which deltas are extreme, and `tails` computes the tail probabilities of delta.
    """
    count, two_sided = len(criterion.observed), criterion.alternative == "two-sided"
    edge = np.asarray(criterion.beyond if beyond else criterion.least)
    # By symmetry, P(delta >= edge) = 1 - P(delta > -edge). If the edge is negative, the right-hand side is computed.
    rest = edge < 0.0
    if two_sided:
        rest = np.zeros(count, bool) if beyond else edge <= 0.0
    log_p, error = np.full(count, -np.inf, np.longdouble), np.zeros(count)
    real: Any = np.float64
    for strict in (False, True):
        some = np.flatnonzero((rest != beyond) == strict)
        if two_sided:
            some = some[~rest[some]]
        if some.size:
            found_tails = tails(some, np.abs(edge[some]), strict)
            real = found_tails.log_p.dtype
            log_p[some] = found_tails.log_p + (np.log(real.type(2.0)) if two_sided else 0.0)
            error[some] = found_tails.error
    return _TailOrComplement(rest.astype(np.float64), np.where(rest, -1.0, 1.0), Tails(log_p.astype(real), error))


def board_p_values(
    board: Board,
    delta_of: Callable[[np.ndarray], Delta],
    criterion: Extreme,
    device: str | None = None,
    *,
    monotone: bool = True,
) -> tuple[np.ndarray, Tails]:
    """Return the p-values `[3, pair]` (p, log10 p, error bound) of a board, and the unrounded `Tails` of all pairs.

    The p-values are rounded by `round_p_values`. A p-value is NaN if its last digit remains uncertain. The `Tails` hold
    log p and its error bounds. `delta_of` takes indices of pairs, and returns a function that computes the deltas
    (differences of scores) of these pairs from their random-sign sums S. `criterion` defines which deltas are extreme.
    `device` is a platform of JAX, or None for NumPy. `monotone` says that the score is monotone in each statistic.
    """
    num_signs = board.counts.sum(axis=1)
    tail_function = (line_tails if board.axes == 1 else plane_tails) if monotone else grid_tails
    found = _p_values_by(tail_function, board, delta_of, criterion, device, np.float64)
    columns = round_p_values(*found, num_signs)
    # Long doubles help if rounding errors are too large. Wider windows help if the probability outside is too large.
    near, of_wide = found.error < NEARLY_ROUNDED, partial(plane_tails, deviations=WIDE)
    far = ~near & np.isfinite(found.log_p) if tail_function is plane_tails else np.zeros(len(near), bool)
    for tails, which in ((tail_function, near), (of_wide, far)) if monotone and _IS_LONG else ():
        open_ = np.flatnonzero(np.isnan(columns[0]) & which)
        if not len(open_):
            continue
        some = Extreme(criterion.observed[open_], criterion.tolerance[open_], criterion.alternative, criterion.mid_p)
        again = _p_values_by(
            tails, board.subset(open_), partial(_of_subset, delta_of, open_), some, None, np.longdouble
        )
        columns[:, open_] = round_p_values(*again, num_signs[open_])
        if which is far:
            found.log_p[open_], found.error[open_] = again
    return columns, found


def _of_subset(delta_of: Callable[[np.ndarray], Delta], which: np.ndarray, some: np.ndarray) -> Delta:
    return delta_of(which[some])


def pair_p(lattice: Lattice, delta: Delta, criterion: Extreme, *, monotone: bool) -> PValue | UncertainP:
    """Return the exact p-value of one pair, tested as a board (a set of pairs) that contains only this pair.

    `delta` is the difference of scores as a function of the random-sign sum S. `monotone` says that the score is
    monotone in each statistic. Returns `UncertainP` if the last digit of p is uncertain.

    >>> lattice = Lattice(np.array([[1]]), np.array([3]), np.array([3]), np.array([[1]]))
    >>> pair_p(lattice, lambda s: s, Extreme(np.array([3.0]), np.full(1, 1e-9), "greater"), monotone=True)[0]
    0.125
    """
    board, delta = _by_statistics(lattice, delta)
    monotone &= (board.basis != 0).sum() == board.axes  # in each statistic, not only on each axis
    columns, found = board_p_values(board, lambda _: delta, criterion, monotone=monotone)
    return rounded_p_value(columns, float(found.log_p[0]), float(found.error[0]))


def long_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue | None:
    """Return the p-value of one pair with a monotone score, in long doubles; None if the last digit stays uncertain."""
    if not _IS_LONG:
        return None
    board, delta = _by_statistics(lattice, delta)
    tail_function = line_tails if board.axes == 1 else plane_tails
    found = _p_values_by(tail_function, board, lambda _: delta, criterion, None, np.longdouble)
    known = round_p_values(*found, board.counts.sum(axis=1))
    return None if math.isnan(known[0, 0]) else tuple(known[:, 0].tolist())


def _by_statistics(lattice: Lattice, delta: Delta) -> tuple[Board, Delta]:
    """Return a board with only this pair, and `delta` as a function of the sums of the board.

    If there are two axes and exactly two statistics differ, these statistics become the axes of the board.
    """
    rows, counts, observed, basis = lattice.rows, lattice.multiplicity, lattice.observed, lattice.basis
    varying = np.flatnonzero(basis.any(axis=0))
    if lattice.axes == 1 or len(varying) > 2:
        return Board(rows, counts[None], observed[None], basis), delta
    square = basis[:, varying]
    (a, b), (c, d) = square.tolist()
    scale = np.gcd.reduce(rows @ square, axis=0)
    of_statistics = np.zeros_like(basis)
    of_statistics[[0, 1], varying] = scale
    inverse, whole = scale[:, None] * np.array([[d, -b], [-c, a]]), a * d - b * c

    def moved(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return delta(*((first * one + second * other) / whole for one, other in inverse.T.tolist()))

    return Board(rows @ square // scale, counts[None], observed[None] @ square // scale, of_statistics), moved


_IS_LONG = bool(np.finfo(np.longdouble).eps < 1e-18)
"""Whether long doubles have more digits than doubles."""
NEARLY_ROUNDED = 1e-10
"""Limit for the relative error of p. If the error is smaller and the last digit is still uncertain, p must be computed
with more digits. A test with several tilts (`planes`) would not help."""


def _p_values_by(
    tail_function: Callable[..., Tails],
    board: Board,
    delta_of: Callable[[np.ndarray], Delta],
    criterion: Extreme,
    device: str | None,
    real: Any,
) -> Tails:
    def tails(pairs: np.ndarray, thresholds: np.ndarray, strict: bool) -> Tails:  # noqa: FBT001
        def own(some: np.ndarray) -> Delta:
            return delta_of(pairs[some])

        return tail_function(board.subset(pairs), own, thresholds, device, real, strict=strict)

    return p_values_of_tails(criterion, tails)
