"""The edge of the extreme sums along the second of two axes, for each place (grid index) on the first axis.

The sum S has two axes (numbers), and a point is a value of S. At each place on the first axis, the points on the second
axis are extreme from some place on. This place is the edge. The scores are ratios of sums, and the threshold for deltas
is not negative. Then the points that are not extreme form a convex set, so lines give bounds for the edge. A crossing
is the position on the second axis, between two places, at which the difference of scores equals the threshold. Suppose
that the crossings are known at some places of the first axis. Take a place between two neighbouring crossings. The edge
at this place is not below the line through these two crossings. It is not above the line through the two nearest
crossings on its left, extended to the right, and not above the line through the two nearest crossings on its right,
extended to the left. At nearly all places, the lower and the upper bound give the same grid point, so no score needs to
be computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigjax.exact.null import Delta
from sigjax.run.context import ahead

DeltaOfPairs = Callable[[np.ndarray], Delta]
_SCORED_AT_ONCE = 2**15
"""At most this many values of the sum S are scored at a time, so that they stay in the cache."""
_SPACING = 16
"""If the grids of a batch have more than `_MOST_SEARCHED` places (indices) on the first axis, the edge is searched with
scores only at every 16th place (node). There, the exact position at which the score equals the threshold (the crossing)
is found, too. Lines through these crossings give all or nearly all other edges."""
_MOST_SEARCHED = 2**11
"""Largest number of places (indices on the first axis, added up over the grids of a batch of pairs) for which the edge
of the extreme sums is searched at every place. With more places, most edges follow from lines between places (see
`_SPACING`)."""
_BRACKET = 2.0**-22
"""Half-width, in grid steps, of the interval around a crossing (the position at which the score equals the threshold).
The score is computed at both ends, to check that it crosses the threshold between them."""
_LINE_ERROR = 2.0**-16
"""A safe bound on the error, in grid steps, of lines through crossings (positions at which the score equals the
threshold)."""
_MARGIN = 128.0
"""Grid points outside the range of possible sums S are scored as if they were at the end of the range. So a crossing
(the position at which the score equals the threshold) is used for lines only if it is inside this range, and at least
this far from its ends on the second axis."""


def is_extreme(deltas: np.ndarray, thresholds: np.ndarray, *, strict: bool) -> np.ndarray:
    """Whether deltas are at least the thresholds or, if `strict`, above the thresholds."""
    return deltas > thresholds if strict else deltas >= thresholds


@dataclass(frozen=True, eq=False)
class Window:
    """The grid of values of the sum S on which edges are searched, with one position for each pair.

    The grid has sheared coordinates: a multiple of the first coordinate of S is subtracted from the second, so that the
    two are less correlated. A place is an index on an axis of the grid.
    """

    lengths: tuple[int, ...]
    start: np.ndarray
    """`[pair, axis]`: the coordinates of the sum S at index 0 of each axis of the grid, after the shear (a multiple of
    the first coordinate is subtracted from the second). A coordinate grows by 2 from one index to the next."""
    reach: np.ndarray
    """`[pair, axis]`: the largest possible absolute value of the sum S on each axis, before the shear (see `shear`).
    Grid points beyond it are scored as if they were at this value."""
    shear: np.ndarray
    """`[axis, axis]`: the matrix that turns a sum S into sheared coordinates, S @ shear: it subtracts a multiple of the
    first coordinate from the second, and may reverse the second. The first coordinate is not changed."""

    def axis_values(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of S on the first axis `[pair, place]`, and the first value on the second axis `[pair, 1]`.

        `pairs` are the indices of the pairs.
        """
        low = self.start[pairs]
        return low[:, :1] + 2 * np.arange(self.lengths[0]), low[:, 1:]

    def unclipped(self, pairs: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return a mask `[pair, value]` of the grid points that are possible values of S on both axes.

        `first` and `second` `[pair, value]` are the sheared coordinates of the points. A coordinate is possible if its
        absolute value before the shear is at most `reach`. On the second axis, this absolute value must be at most
        `reach` - `_MARGIN`.
        """
        sign = self.shear[1, 1]
        one, other = self.reach[pairs].T[:, :, None]
        return (np.abs(first) <= one) & (np.abs(sign * (second - self.shear[0, 1] * first)) <= other - _MARGIN)


def find_edges(
    window: Window, delta_of: DeltaOfPairs, thresholds: np.ndarray, workers: int, *, strict: bool
) -> np.ndarray:
    """Return the edges `[pair, place]`: for each place on the first axis, the first extreme place on the second axis.

    A place is a grid index. If no place on the second axis is extreme, the edge is the length of this axis. `delta_of`
    takes indices of pairs, and returns the function from sums S to differences of scores. A difference of scores is
    extreme if it is at least the pair's threshold in `thresholds` `[pair]` (or above it, if `strict`).
    """
    batch = max(1, _SCORED_AT_ONCE // window.lengths[0])
    parts = [np.arange(begin, min(begin + batch, len(thresholds))) for begin in range(0, len(thresholds), batch)]
    of_some = partial(_edges, window, delta_of, thresholds[:, None], strict)
    return np.concatenate(list(ahead(of_some, parts, workers if len(parts) > 1 else 1)))


def _edges(
    window: Window,
    delta_of: DeltaOfPairs,
    thresholds: np.ndarray,
    strict: bool,  # noqa: FBT001
    pairs: np.ndarray,
) -> np.ndarray:
    """Return the edges `[pair, place]` (see `find_edges`) of the pairs with the indices `pairs`.

    `thresholds` are `[all pairs, 1]`; all other arguments are as in `find_edges`.
    """
    (width, height), (values, low) = window.lengths, window.axis_values(pairs)
    is_met, delta = partial(is_extreme, thresholds=thresholds[pairs], strict=strict), delta_of(pairs)
    spacing = _SPACING if values.size > _MOST_SEARCHED else 1
    node_places = np.unique(np.append(np.arange(0, width, spacing), width - 1))
    nodes = values[:, node_places]

    def at(place: np.ndarray) -> np.ndarray:
        return delta(nodes, low + 2 * place)

    # Lines also need crossings that lie beyond the window.
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
        crossed = np.clip(crossed - (at(crossed) - thresholds[pairs]) / rise, over - 1, over)
    below, above = (is_met(at(crossed + near)) for near in (-_BRACKET, _BRACKET))
    inside = window.unclipped(pairs, nodes, low + 2 * crossed)
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
    """Return the edges that follow from lines, and a mask of edges that remain uncertain, both `[pair, place]`.

    Nodes are some places on the first axis: `node_places` `[node]`. A node's crossing in `crossed` `[pair, node]` is
    the position on the second axis at which the score equals the threshold. The lines go through neighbouring
    crossings, and give a lower and an upper bound of each edge (see the module's text). An edge is uncertain if these
    bounds differ, or if a crossing was not checked. `known` `[pair, node]` marks crossings that were checked. `never`
    `[pair, node]` marks nodes at which no point is extreme; between two of them, no edge is uncertain.
    """
    width, height = window.lengths
    places = np.arange(width)
    left = np.minimum(places // _SPACING, len(node_places) - 2)
    slopes, both = np.diff(crossed, axis=1) / np.diff(node_places), known[:, 1:] & known[:, :-1]
    # Slopes of the lines through the two nearest crossings on the left, and on the right, if these are known.
    before = np.pad(np.where(both, slopes, np.inf)[:, :-1], ((0, 0), (1, 0)), constant_values=np.inf)
    after = np.pad(np.where(both, slopes, -np.inf)[:, 1:], ((0, 0), (0, 1)), constant_values=-np.inf)
    on, short = places - node_places[left], node_places[left + 1] - places
    least = crossed[:, left] + on * slopes[:, left]
    with np.errstate(invalid="ignore"):  # 0 times infinity is NaN, which fmin ignores
        most = np.fmin(crossed[:, left] + on * before[:, left], crossed[:, left + 1] - short * after[:, left])
    ends = least - _LINE_ERROR, np.nan_to_num(most, nan=np.inf) + _LINE_ERROR
    edge, last = (np.clip(np.ceil(each), 0, height).astype(np.int64) for each in ends)
    return edge, ~(both[:, left] & (edge == last) | never[:, left] & never[:, left + 1])
