"""The edge of the extreme region along the second of two axes, for each place (grid value) on the first axis.

The points that are not extreme form a convex set. So its edge can be bracketed by lines. Between two places with known
crossings, it lies above the line through these crossings. It lies below the lines through crossings on either side,
extended. At most places both bounds give the same grid point, so that no score must be computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigjax.exact.null import Delta
from sigjax.run.context import ahead

DeltaOfPairs = Callable[[np.ndarray], Delta]
_SCORED_AT_ONCE = 2**15
"""Most values of S that are scored at a time, to stay in the cache."""
_SPACING = 16
"""Edges are searched for at every 16th place; lines between these give all or nearly all other edges."""
_MOST_SEARCHED = 2**11
"""Up to this many places, the edge is searched for at every place."""
_BRACKET = 2.0**-22
"""Half-width, in places, of the interval in which the score is shown to cross the threshold."""
_LINE_ERROR = 2.0**-16
"""A safe bound on the error, in places, of lines through such crossings."""
_MARGIN = 128.0
"""Lines are used only at this distance from values where S is clipped."""


def is_extreme(deltas: np.ndarray, thresholds: np.ndarray, *, strict: bool) -> np.ndarray:
    """Whether deltas are at least the thresholds; if `strict`, above the thresholds."""
    return deltas > thresholds if strict else deltas >= thresholds


@dataclass(frozen=True, eq=False)
class Window:
    """The places of a grid, in sheared coordinates."""

    lengths: tuple[int, ...]
    start: np.ndarray
    """`[pair, axis]`: the first values of S; values are 2 apart."""
    reach: np.ndarray
    """`[pair, axis]`: the largest possible S before the shear; larger values are clipped."""
    shear: np.ndarray
    """`[axis, axis]`: sheared values are S @ shear; the first axis does not change."""

    def axis_values(self, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All values of S on the first axis `[pair, place]`, and the first value on the second axis `[pair, 1]`."""
        low = self.start[some]
        return low[:, :1] + 2 * np.arange(self.lengths[0]), low[:, 1:]

    def unclipped(self, some: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Mask `[pair, value]` of values of S that are not clipped, and whose neighbours are not clipped."""
        sign = self.shear[1, 1]
        one, other = self.reach[some].T[:, :, None]
        return (np.abs(first) <= one) & (np.abs(sign * (second - self.shear[0, 1] * first)) <= other - _MARGIN)


def find_edges(
    window: Window, delta_of: DeltaOfPairs, thresholds: np.ndarray, workers: int, *, strict: bool
) -> np.ndarray:
    """The first extreme place on the second axis, for each place on the first axis, `[pair, place]`."""
    batch = max(1, _SCORED_AT_ONCE // window.lengths[0])
    parts = [np.arange(begin, min(begin + batch, len(thresholds))) for begin in range(0, len(thresholds), batch)]
    of_some = partial(_edges, window, delta_of, thresholds[:, None], strict)
    return np.concatenate(list(ahead(of_some, parts, workers if len(parts) > 1 else 1)))


def _edges(
    window: Window,
    delta_of: DeltaOfPairs,
    thresholds: np.ndarray,
    strict: bool,  # noqa: FBT001
    some: np.ndarray,
) -> np.ndarray:
    """The edges of some pairs."""
    (width, height), (values, low) = window.lengths, window.axis_values(some)
    is_met, delta = partial(is_extreme, thresholds=thresholds[some], strict=strict), delta_of(some)
    spacing = _SPACING if values.size > _MOST_SEARCHED else 1
    node_places = np.unique(np.append(np.arange(0, width, spacing), width - 1))
    nodes = values[:, node_places]

    def at(place: np.ndarray) -> np.ndarray:
        return delta(nodes, low + 2 * place)

    # Crossings beyond the window are needed, too, for lines.
    more = 0 if spacing == 1 else height
    under, over = np.full(nodes.shape, -1 - more), np.full(nodes.shape, height + more)
    while (over - under).max() > 1:
        middle, open_ = (under + over) // 2, over - under > 1
        holds = is_met(at(middle))
        under, over = np.where(open_ & ~holds, middle, under), np.where(open_ & holds, middle, over)
    if spacing == 1:
        return over
    rise, crossed = np.maximum(at(over) - at(over - 1), 1e-300), over.astype(np.float64)
    for _ in range(3):
        crossed = np.clip(crossed - (at(crossed) - thresholds[some]) / rise, over - 1, over)
    below, above = (is_met(at(crossed + near)) for near in (-_BRACKET, _BRACKET))
    inside = window.unclipped(some, nodes, low + 2 * crossed)
    edge, open_ = _edges_between(
        window, node_places, crossed, ~below & above & inside, (over == height + more) & inside
    )
    while open_.any():
        most = int(open_.sum(axis=1).max())
        places = np.argsort(~open_, axis=1, kind="stable")[:, :most]
        first, now = np.take_along_axis(values, places, axis=1), np.take_along_axis(edge, places, axis=1)
        up = ~is_met(delta(first, low + 2 * now)) & (now < height)
        down = is_met(delta(first, low + 2 * now - 2)) & (now > 0)
        np.put_along_axis(edge, places, now + (up & ~down) - down, axis=1)
        open_ = np.zeros_like(open_)
        np.put_along_axis(open_, places, up | down, axis=1)
    return edge


def _edges_between(
    window: Window, node_places: np.ndarray, crossed: np.ndarray, known: np.ndarray, never: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The edges `[pair, place]` by lines through the crossings at `node_places`, and which edges these leave open."""
    width, height = window.lengths
    places = np.arange(width)
    left = np.minimum(places // _SPACING, len(node_places) - 2)
    slopes, both = np.diff(crossed, axis=1) / np.diff(node_places), known[:, 1:] & known[:, :-1]
    # Slopes of the lines through the two next points on either side, if these are known.
    before = np.pad(np.where(both, slopes, np.inf)[:, :-1], ((0, 0), (1, 0)), constant_values=np.inf)
    after = np.pad(np.where(both, slopes, -np.inf)[:, 1:], ((0, 0), (0, 1)), constant_values=-np.inf)
    on, short = places - node_places[left], node_places[left + 1] - places
    least = crossed[:, left] + on * slopes[:, left]
    with np.errstate(invalid="ignore"):  # 0 times infinity: no step along an unknown line
        most = np.fmin(crossed[:, left] + on * before[:, left], crossed[:, left + 1] - short * after[:, left])
    ends = least - _LINE_ERROR, np.nan_to_num(most, nan=np.inf) + _LINE_ERROR
    edge, last = (np.clip(np.ceil(each), 0, height).astype(np.int64) for each in ends)
    return edge, ~(both[:, left] & (edge == last) | never[:, left] & never[:, left + 1])
