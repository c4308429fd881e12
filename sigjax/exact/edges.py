"""The edge of the extreme region on the second of two axes, for each place on the first axis of a grid.

The points that are not extreme form a convex set. So its edge lies between two lines: above the line through the
crossings at two places, and below the lines through the crossings next to them. At most places both lines give the same
grid point, and no score is computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigjax.exact.null import Delta
from sigjax.run.context import ahead

DeltaOfPairs = Callable[[np.ndarray], Delta]
_SCORED_AT_ONCE = 2**15
"""Values of S that are scored at a time, to stay in the cache."""
_SPACING = 16
"""Edges are searched for at every 16th place; lines through these give the others, or nearly so."""
_MOST_SEARCHED = 2**11
"""Up to this many places, the edge is searched for at every one."""
_BRACKET = 2.0**-22
"""Half-width, in places, of the interval in which the score is shown to cross the threshold."""
_LINE_ERROR = 2.0**-16
"""Far more than the error, in places, of lines through such crossings."""
_MARGIN = 128.0
"""Lines are used only this far from where S is clipped."""


def is_extreme(deltas: np.ndarray, thresholds: np.ndarray, *, strict: bool) -> np.ndarray:
    """Whether deltas are at least the thresholds; above them if `strict`."""
    return deltas > thresholds if strict else deltas >= thresholds


@dataclass(frozen=True, eq=False)
class Window:
    """The places of a grid, in coordinates after a shear."""

    lengths: tuple[int, ...]
    start: np.ndarray
    """[pair, axis]: the first values of S; the next ones are larger by 2."""
    reach: np.ndarray
    """[pair, axis]: the largest S before the shear. Larger values are clipped to it."""
    shear: np.ndarray
    """[axis, axis]: multiplies values of S from the right; the first axis stays."""

    def axis_values(self, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of S on the first axis `[pair, place]`, and the first value on the second axis `[pair, 1]`."""
        low = self.start[some]
        return low[:, :1] + 2 * np.arange(self.lengths[0]), low[:, 1:]

    def unclipped(self, some: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Which values of S `[pair, value]`, and their neighbours, are not clipped."""
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

    # Lines go through crossings beyond the window, too.
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
    # Lines through the next two points on either side, where these are known.
    before = np.pad(np.where(both, slopes, np.inf)[:, :-1], ((0, 0), (1, 0)), constant_values=np.inf)
    after = np.pad(np.where(both, slopes, -np.inf)[:, 1:], ((0, 0), (0, 1)), constant_values=-np.inf)
    on, short = places - node_places[left], node_places[left + 1] - places
    least = crossed[:, left] + on * slopes[:, left]
    with np.errstate(invalid="ignore"):  # of no step along no line
        most = np.fmin(crossed[:, left] + on * before[:, left], crossed[:, left + 1] - short * after[:, left])
    ends = least - _LINE_ERROR, np.nan_to_num(most, nan=np.inf) + _LINE_ERROR
    edge, last = (np.clip(np.ceil(each), 0, height).astype(np.int64) for each in ends)
    return edge, ~(both[:, left] & (edge == last) | never[:, left] & never[:, left + 1])
