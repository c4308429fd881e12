"""One axis and a score that is monotone in it: the extreme sums are those from some edge on.

So the p-value is a tail probability P(S >= edge), or 1 minus one, and needs no grid as fine as the differences are.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sigjax.exact.bracket import Bracket
from sigjax.exact.lattice import Lattice
from sigjax.records import Alternative

Score = Callable[[np.ndarray], np.ndarray]
"""Values of S `[value]` -> differences of scores `[value]`."""
Tail = Callable[[float], Bracket]
"""edge > 0 -> bracket of P(S >= edge)."""

_PLACES = 1025
"""Values of S at which the score is checked to be monotone."""
_FAN = 65
"""Values of S evaluated at once in a search."""


class Edges(NamedTuple):
    """Where the extreme sums begin, counted from small to extreme; S takes whole numbers."""

    extreme: float
    """The first sum that is extreme."""
    beyond: float
    """The first sum that is more extreme than observed; for mid-p."""


def find_edges(
    lattice: Lattice, score: Score, delta: float, tolerance: float, alternative: Alternative
) -> Edges | None:
    """Search for the edges; None where the score is not monotone in S."""
    reach = float(lattice.reach[0])
    differences = score(np.linspace(-reach, reach, _PLACES))
    upward = differences[-1] >= differences[0]
    if ((np.diff(differences) if upward else -np.diff(differences)) < -tolerance).any():
        return None
    sign = 1.0 if upward else -1.0

    def size(values: np.ndarray) -> np.ndarray:
        """The difference, turned so that it grows with the value and is extreme when large."""
        if alternative == "two-sided":
            return np.abs(score(values))
        return score(sign * values) if alternative == "greater" else -score(-sign * values)

    observed = {"two-sided": abs(delta), "greater": delta, "less": -delta}[alternative]
    lowest = 0.0 if alternative == "two-sided" else -reach
    return Edges(
        _first(lambda values: size(values) >= observed - tolerance, lowest, reach),
        _first(lambda values: size(values) > observed + tolerance, lowest, reach),
    )


def threshold_p(edges: Edges, tail: Tail, alternative: Alternative, *, mid_p: bool) -> Bracket:
    """Bracket of the p-value."""
    found = _from_edge(edges.extreme, tail, alternative)
    if not mid_p:
        return found
    beyond = _from_edge(edges.beyond, tail, alternative)
    return Bracket(*(float(np.logaddexp(a, b)) - math.log(2.0) for a, b in zip(found, beyond, strict=True)))


def _from_edge(edge: float, tail: Tail, alternative: Alternative) -> Bracket:
    if alternative == "two-sided":
        if edge <= 0.0:
            return Bracket(0.0, 0.0)
        low, high = tail(edge)
        return Bracket(*(min(end + math.log(2.0), 0.0) for end in (low, high)))
    if edge > 0.0:
        return tail(edge)
    # P(S >= edge) = 1 - P(S <= edge - 1), and S is symmetric.
    low, high = tail(1.0 - edge)
    return Bracket(_log_rest(high), _log_rest(low))


def _log_rest(log_p: float) -> float:
    """log(1 - p)."""
    return math.log1p(-math.exp(log_p)) if log_p < 0.0 else -math.inf


def _first(holds: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The first whole number between `low` and `high` that a monotone condition holds for; high + 1 if none."""
    high += 1.0
    while high - low > 0.5:
        places = np.unique(np.floor(np.linspace(low, high - 1.0, _FAN)))
        held = holds(places)
        if not held.any():
            low = float(places[-1]) + 1.0
        else:
            first = int(held.argmax())
            high = float(places[first])
            low = float(places[first - 1]) + 1.0 if first else low
            if not first:
                high = low
    return low
