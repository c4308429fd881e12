"""Where what is extreme begins on the second of two axes, for each place on the first one of a grid.

What is not extreme is convex. So the line between two points where the score crosses the threshold is below where it
crosses between them, and the lines through the points next to these are above it. Where all agree, which is so at most
places, nothing is scored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sigjax.exact.null import Delta
from sigjax.run.context import ahead

DeltasAt = Callable[[np.ndarray], Delta]
_SCORED = 2**15
"""Values of S scored at a time, to stay in the cache."""
_APART = 16
"""Places between those where edges are searched for; the others' are between lines through them, or next to these."""
_SEARCHED = 2**11
"""Places up to which all are searched for."""
_NEAR = 2.0**-22
"""Half-width, in places, of the intervals in which scores cross the threshold between two places."""
_FROM_LINES = 2.0**-16
"""Far more than lines through such points are off, in places."""
_SPARE = 128.0
"""What lines keep from the ends of what scores are asked of."""


def is_beyond(deltas: np.ndarray, thresholds: np.ndarray, *, strict: bool) -> np.ndarray:
    """Whether deltas are at thresholds or above, or above alone."""
    return deltas > thresholds if strict else deltas >= thresholds


@dataclass(frozen=True, eq=False)
class Window:
    """The places of a grid, in coordinates after a shear."""

    lengths: tuple[int, ...]
    start: np.ndarray
    """[pair, axis]: the first values of S; the next ones are larger by 2."""
    reach: np.ndarray
    """[pair, axis]: of S before the shear. Scores move larger values to it."""
    shear: np.ndarray
    """[axis, axis]: of values of S, as rows; the first stays."""

    def places(self, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values of S on the first axis `[pair, place]`, and the first on the second `[pair, 1]`."""
        low = self.start[some]
        return low[:, :1] + 2 * np.arange(self.lengths[0]), low[:, 1:]

    def holds(self, some: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Which values of S `[pair, value]` no score moves, nor others near by."""
        sign = self.shear[1, 1]
        one, other = self.reach[some].T[:, :, None]
        return (np.abs(first) <= one) & (np.abs(sign * (second - self.shear[0, 1] * first)) <= other - _SPARE)


def find_edges(window: Window, scored: DeltasAt, thresholds: np.ndarray, workers: int, *, strict: bool) -> np.ndarray:
    """The first place on the second axis that is extreme, for each place on the first, `[pair, place]`."""
    batch = max(1, _SCORED // window.lengths[0])
    parts = [np.arange(begin, min(begin + batch, len(thresholds))) for begin in range(0, len(thresholds), batch)]
    of_some = partial(_edges, window, scored, thresholds[:, None], strict)
    return np.concatenate(list(ahead(of_some, parts, workers if len(parts) > 1 else 1)))


def _edges(
    window: Window,
    scored: DeltasAt,
    thresholds: np.ndarray,
    strict: bool,  # noqa: FBT001
    some: np.ndarray,
) -> np.ndarray:
    """Those of some pairs."""
    (width, height), (values, low) = window.lengths, window.places(some)
    is_met, delta = partial(is_beyond, thresholds=thresholds[some], strict=strict), scored(some)
    apart = _APART if values.size > _SEARCHED else 1
    few = np.unique(np.append(np.arange(0, width, apart), width - 1))
    nodes = values[:, few]

    def at(place: np.ndarray) -> np.ndarray:
        return delta(nodes, low + 2 * place)

    # Lines go through what is crossed beyond the window, too.
    more = 0 if apart == 1 else height
    under, over = np.full(nodes.shape, -1 - more), np.full(nodes.shape, height + more)
    while (over - under).max() > 1:
        middle, open_ = (under + over) // 2, over - under > 1
        holds = is_met(at(middle))
        under, over = np.where(open_ & ~holds, middle, under), np.where(open_ & holds, middle, over)
    if apart == 1:
        return over
    rise, crossed = np.maximum(at(over) - at(over - 1), 1e-300), over.astype(np.float64)
    for _ in range(3):
        crossed = np.clip(crossed - (at(crossed) - thresholds[some]) / rise, over - 1, over)
    below, above = (is_met(at(crossed + near)) for near in (-_NEAR, _NEAR))
    inside = window.holds(some, nodes, low + 2 * crossed)
    edge, open_ = _between(window, few, crossed, ~below & above & inside, (over == height + more) & inside)
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


def _between(
    window: Window, few: np.ndarray, crossed: np.ndarray, known: np.ndarray, never: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The edges `[pair, place]` by lines through what is `crossed` at `few` places, and which of them are open."""
    width, height = window.lengths
    places = np.arange(width)
    left = np.minimum(places // _APART, len(few) - 2)
    slopes, both = np.diff(crossed, axis=1) / np.diff(few), known[:, 1:] & known[:, :-1]
    # Lines through the next two points on either side, where these are known.
    before = np.pad(np.where(both, slopes, np.inf)[:, :-1], ((0, 0), (1, 0)), constant_values=np.inf)
    after = np.pad(np.where(both, slopes, -np.inf)[:, 1:], ((0, 0), (0, 1)), constant_values=-np.inf)
    on, short = places - few[left], few[left + 1] - places
    least = crossed[:, left] + on * slopes[:, left]
    with np.errstate(invalid="ignore"):  # of no step along no line
        most = np.fmin(crossed[:, left] + on * before[:, left], crossed[:, left + 1] - short * after[:, left])
    ends = least - _FROM_LINES, np.nan_to_num(most, nan=np.inf) + _FROM_LINES
    edge, last = (np.clip(np.ceil(each), 0, height).astype(np.int64) for each in ends)
    return edge, ~(both[:, left] & (edge == last) | never[:, left] & never[:, left + 1])
