"""P-values of all pairs of a board, by tails of delta, correctly rounded.

The law of delta is symmetric, so all p-values are tails P(delta >= t) or P(delta > t) with t >= 0, twice a tail, or 1
less one. What the errors of float64 leave open is computed again with long doubles, where the machine has them.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.board import Board, Tails
from sigjax.exact.digits import PValue, settled
from sigjax.exact.lattice import Lattice
from sigjax.exact.null import Delta, Unsettled, settled_p
from sigjax.exact.tails import WIDE, grid_tails, line_tails, plane_tails
from sigjax.resample.extreme import Extreme

TailsOf = Callable[[np.ndarray, np.ndarray, bool], Tails]
"""(pairs [tail], thresholds [tail] >= 0, whether delta has to be above and not at them) -> their probabilities."""


def p_of_tails(criterion: Extreme, tails: TailsOf) -> Tails:
    """P-values of all pairs, by tails of delta."""
    parts = [_part(criterion, tails, beyond=False)]
    if criterion.mid_p:
        parts.append(_part(criterion, tails, beyond=True))
    share = 1.0 / len(parts)
    whole = share * sum(part.whole for part in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.array([part.tail.log_p for part in parts])
        signed = share * sum(part.sign * np.exp(part.tail.log_p) for part in parts)
        small = np.logaddexp.reduce(logs) + math.log(share)
        log_p = np.where(whole == 0.0, small, np.where(whole == 1.0, np.log1p(signed), np.log(whole + signed)))
        errors = np.array([part.tail.log_p + np.log(part.tail.error) for part in parts])
        error = np.exp(np.logaddexp.reduce(errors) + math.log(share) - log_p)
        # Of p near 1, the logarithm has the relative error of the tail.
        rounded = 32.0 * float(np.finfo(log_p.dtype).eps) * np.where(whole == 1.0, np.abs(log_p), 1.0)
        error = (1.001 * error + rounded).astype(np.float64)
    # Where all or, by symmetry, half of the outcomes are at an edge, p is 1.
    known = np.all([part.tail.error == 0.0 for part in parts], axis=0)
    return Tails(log_p, np.where(known & (log_p == 0.0), 0.0, error))


class _Part(NamedTuple):
    """A probability `whole + sign * tail` of each pair."""

    whole: np.ndarray
    sign: np.ndarray
    tail: Tails


def _part(criterion: Extreme, tails: TailsOf, *, beyond: bool) -> _Part:
    """The probability of what is extreme, or of what is more extreme than observed."""
    count, two_sided = len(criterion.observed), criterion.alternative == "two-sided"
    edge = np.asarray(criterion.beyond if beyond else criterion.least)
    # The complement of delta >= edge has the probability of delta > -edge.
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
            of_some = tails(some, np.abs(edge[some]), strict)
            real = of_some.log_p.dtype
            log_p[some] = of_some.log_p + (np.log(real.type(2.0)) if two_sided else 0.0)
            error[some] = of_some.error
    return _Part(rest.astype(np.float64), np.where(rest, -1.0, 1.0), Tails(log_p.astype(real), error))


def board_ps(
    board: Board,
    scored: Callable[[np.ndarray], Delta],
    criterion: Extreme,
    device: str | None = None,
    *,
    monotone: bool = True,
) -> tuple[np.ndarray, Tails]:
    """P-values `[3, pair]` as `settled` has them, NaN where they are left open, and their logarithms.

    `scored` gives differences of scores as a function of S, for some of the pairs; `device` is a platform of JAX, or
    None for NumPy.
    """
    coins = board.counts.sum(axis=1)
    of_axes = (line_tails if board.axes == 1 else plane_tails) if monotone else grid_tails
    found = _board_ps(of_axes, board, scored, criterion, device, np.float64)
    columns = settled(*found, coins)
    # Long doubles help where roundings are what leaves the digits open, wider windows where it is what is beyond them.
    near, of_wide = found.error < NEAR, partial(plane_tails, deviations=WIDE)
    far = ~near & np.isfinite(found.log_p) if of_axes is plane_tails else np.zeros(len(near), bool)
    for tails, which in ((of_axes, near), (of_wide, far)) if monotone and _IS_LONG else ():
        open_ = np.flatnonzero(np.isnan(columns[0]) & which)
        if not len(open_):
            continue
        some = Extreme(criterion.observed[open_], criterion.tolerance[open_], criterion.alternative, criterion.mid_p)
        again = _board_ps(tails, board.at(open_), partial(_some, scored, open_), some, None, np.longdouble)
        columns[:, open_] = settled(*again, coins[open_])
        if which is far:
            found.log_p[open_], found.error[open_] = again
    return columns, found


def _some(scored: Callable[[np.ndarray], Delta], which: np.ndarray, some: np.ndarray) -> Delta:
    return scored(which[some])


def pair_p(lattice: Lattice, delta: Delta, criterion: Extreme, *, monotone: bool) -> PValue | Unsettled:
    """The p-value of one pair.

    >>> lattice = Lattice(np.array([[1]]), np.array([3]), np.array([3]), np.array([[1]]))
    >>> pair_p(lattice, lambda s: s, Extreme(np.array([3.0]), np.full(1, 1e-9), "greater"), monotone=True)[0]
    0.125
    """
    board, delta = _by_statistics(lattice, delta)
    monotone &= (board.basis != 0).sum() == board.axes  # in each statistic
    columns, found = board_ps(board, lambda _: delta, criterion, monotone=monotone)
    return settled_p(columns, float(found.log_p[0]), float(found.error[0]))


def long_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue | None:
    """The p-value of one pair whose score is monotone, with long doubles; None where these leave it open, too."""
    if not _IS_LONG:
        return None
    board, delta = _by_statistics(lattice, delta)
    of_axes = line_tails if board.axes == 1 else plane_tails
    found = _board_ps(of_axes, board, lambda _: delta, criterion, None, np.longdouble)
    known = settled(*found, board.counts.sum(axis=1))
    return None if math.isnan(known[0, 0]) else tuple(known[:, 0].tolist())


def _by_statistics(lattice: Lattice, delta: Delta) -> tuple[Board, Delta]:
    """The board of a pair, whose axes are the statistics if two of these vary."""
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
"""Whether long doubles are longer than doubles."""
NEAR = 1e-10
"""Relative error below which a pair that is left open needs more digits, and no other tilt."""


def _board_ps(
    of_axes: Callable[..., Tails],
    board: Board,
    scored: Callable[[np.ndarray], Delta],
    criterion: Extreme,
    device: str | None,
    real: Any,
) -> Tails:
    def tails(pairs: np.ndarray, thresholds: np.ndarray, strict: bool) -> Tails:  # noqa: FBT001
        def own(some: np.ndarray) -> Delta:
            return scored(pairs[some])

        return of_axes(board.at(pairs), own, thresholds, device, real, strict=strict)

    return p_of_tails(criterion, tails)
