"""The exact p-value of a single pair with two axes, for any score.

The score is evaluated on the points of a box around 0. The probability outside the box is negligible. S is symmetric,
so half of the plane suffices. A point counts twice if its mirror image is also in the set. Under a tilt, the likelier
of a point and its mirror image stands for both.

One tilt usually gives the probability of a set. If its error is too large, another tilt is added, whose mean is at the
point with the largest error. Each tilt gives the probabilities in a window around its mean; their relative error grows
towards the origin. Points outside all windows count as error. Their probability is bounded by Chernoff's bound P(S = s)
<= M(theta) exp(-theta.s), or by the mass outside the window times the largest of these factors.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigjax.exact.digits import PValue
from sigjax.exact.distributions import (
    EPSILON,
    covariance,
    fft_length,
    grid_probabilities,
    log_moment,
    plane_tilt,
    rounding_error,
    windows,
)
from sigjax.exact.lattice import Lattice, plane_axes
from sigjax.exact.null import Delta, LogProbability, OutcomeSets, UncertainP, outcome_sets, p_value_of_sets
from sigjax.resample.extreme import Extreme

_OUTSIDE_BOX = 30.0
"""The probability outside the box is below exp(-30) = 1e-13 times the p-value."""
_LARGEST_FIRST_RATE = 40.0
"""The first box is large enough for p-values above exp(-50)."""
_BLOCK = 2**15
"""Most points of a plane that are scored or added at a time, to stay in the cache."""
_WINDOW = 41.0
"""The probability outside a window is below exp(-41) = 2e-18 on each side."""
_ACCURACY = 1e-11
"""If the relative error is larger, another tilt is added."""
_MOST_TILTS = 12
_SEARCHES = 8
_LARGEST_EXPONENT = 600.0
"""Largest exponent of a weight; larger weights might overflow."""
_RATE_WITHOUT_TILT = 2.0
"""If the rate is smaller (p above about 0.1), no tilt is needed."""


class Plane(NamedTuple):
    """The points of half a box around 0."""

    lattice: Lattice
    first: np.ndarray
    """`[first]` int64: every second value, from 0 or 1 on."""
    second: np.ndarray
    """`[second]` int64: every second value, from minus to plus the half-width."""
    inside: np.ndarray
    """`[first, second]` bool: whether the point is a possible value of S."""
    log_outside: float
    """Logarithm of a bound on the probability outside the box."""


class TiltedPlane(NamedTuple):
    """A plane under one tilt: probabilities in a window, and Chernoff's bound elsewhere."""

    theta: np.ndarray
    """`[axis]` the tilt."""
    log_moment: float
    probability: np.ndarray = np.zeros((0, 0))
    """P_theta(S = s) in the window."""
    begin: tuple[int, int] = (0, 0)
    """The position in the window of the first point of the plane."""
    noise: float = 1.0
    """Bound on the 2-norm of the rounding errors of the probabilities."""
    outside: float = 1.0
    """Bound on the probability outside the window, which the periodic FFT also adds inside the window."""

    def overlap(self, block: Sequence[slice]) -> tuple[tuple[slice, ...], np.ndarray]:
        """The part of a block of the plane that is in the window, and the probabilities of its points."""
        here: list[slice] = []
        there: list[slice] = []
        for part, begin, length in zip(block, self.begin, self.probability.shape, strict=True):
            start = max(part.start, -begin)
            stop = max(start, min(part.stop, length - begin))
            here.append(slice(start - part.start, stop - part.start))
            there.append(slice(start + begin, stop + begin))
        return tuple(here), self.probability[tuple(there)]


def plane_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue | UncertainP:
    """Exact p-value of a pair with two axes."""
    # Choose the first box by the p-value that the observed sum suggests.
    theta = plane_tilt(lattice.rows, lattice.multiplicity, lattice.observed.astype(np.float64))
    rate = float(theta @ lattice.observed - log_moment(lattice.rows @ theta, lattice.multiplicity))
    exponent = _OUTSIDE_BOX + min(rate, _LARGEST_FIRST_RATE) + 10.0
    while True:
        plane = _make_plane(lattice, exponent)
        sets, needed = _extreme_sets(plane, delta, criterion), math.inf
        if sets is not None:
            found = p_value_of_sets(partial(_set_probability, plane), sets, lattice.num_signs)
            log_p = found.log_p if isinstance(found, UncertainP) else found[1] * math.log(10.0)
            # If p is near 1, the complement must be accurate.
            needed = _OUTSIDE_BOX - (log_p if log_p < math.log(0.5) else math.log(max(-math.expm1(log_p), 1e-300)))
            if plane.log_outside < -needed:
                return found
        exponent = min(2.0 * exponent, needed + 2.0)


def _make_plane(lattice: Lattice, exponent: float) -> Plane:
    """A box with a probability below exp(-exponent) outside on each side, or the box of all possible values."""
    reach = lattice.reach
    widest = windows(lattice.rows, lattice.multiplicity, np.zeros(2), exponent).max(axis=1)
    half = np.minimum(reach, np.ceil(widest).astype(np.int64) // 2 * 2 + reach % 2)
    cut = int((half < reach).sum())
    log_outside = math.log(2.0 * cut) - exponent if cut else -math.inf
    return Plane(lattice, *plane_axes(lattice, half), log_outside)


def _extreme_sets(plane: Plane, delta: Delta, criterion: Extreme) -> OutcomeSets | None:
    """Masks of the extreme points in the box; None if there are none."""
    height, width = len(plane.first), len(plane.second)
    both, at_all = criterion._replace(alternative="two-sided"), False
    blocks: list[OutcomeSets] = []
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        block = slice(start, start + rows)
        first, inside = plane.first[block, None], plane.inside[block]
        if inside.all():
            deltas = delta(first[None], plane.second[None, None])[0]
        else:  # score only possible values: elsewhere a score may not be a number
            deltas, at = np.full(inside.shape, np.nan), np.nonzero(inside)
            deltas[at] = delta(first[None, at[0], 0], plane.second[None, at[1]])[0]
        blocks.append(outcome_sets(deltas, criterion, valid=inside, mirrored=inside & (first > 0)))
        at_all |= bool(both.met(deltas).any())
    if not at_all:
        return None
    return {
        name: (np.concatenate([each[name][0] for each in blocks]), np.concatenate([each[name][1] for each in blocks]))
        for name in blocks[0]
    }


def _set_probability(plane: Plane, extreme: np.ndarray, mirrored: np.ndarray) -> LogProbability:
    """The probability of a set of points and of a set of mirror images; tilts are added until the error is small."""
    counts, lattice = extreme.view(np.int8) + mirrored.view(np.int8), plane.lattice
    if not counts.any():
        return LogProbability(np.array([-math.inf]), np.array([plane.log_outside]))
    count = int(np.count_nonzero(counts))
    theta, start = _dominating_point(plane, np.flatnonzero(counts))
    scale, (plane, counts) = -float(theta @ _points_at(plane, start)), _oriented(plane, counts, theta)
    tilts = [_tilted_plane(plane, theta)]
    scale += tilts[0].log_moment
    log_p, log_error = _combine_tilts(plane, tilts, counts, scale)
    while len(tilts) < _MOST_TILTS and not log_error < log_p + math.log(_ACCURACY):
        mean = _worst_point(plane, tilts, counts)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
        # If Chernoff's bound alone shows that the points are negligible, their probabilities are not needed.
        moment = float(log_moment(lattice.rows @ theta, lattice.multiplicity))
        most = moment - float(theta @ mean) + math.log(count)
        negligible = most < log_p + math.log(0.1 * _ACCURACY)
        tilts.append(TiltedPlane(theta, moment) if negligible else _tilted_plane(plane, theta))
        log_p, log_error = _combine_tilts(plane, tilts, counts, scale)
    return LogProbability(np.array([log_p]), np.logaddexp([log_error], plane.log_outside))


def _oriented(plane: Plane, counts: np.ndarray, theta: np.ndarray) -> tuple[Plane, np.ndarray]:
    """The whole plane, and its counts after a point that is less likely under the tilt is moved to its mirror image."""
    front = counts * (theta[0] * plane.first[:, None] >= -theta[1] * plane.second)
    back = (counts - front)[::-1, ::-1]
    if plane.first[0] == 0:
        front[0] += back[-1]
        back = back[:-1]
    first = np.concatenate([-plane.first[::-1][: len(back)], plane.first])
    return plane._replace(first=first), np.concatenate([back, front])


def _points_at(plane: Plane, position: Any) -> np.ndarray:
    """The points `[axis, ...]` at positions in the flattened plane."""
    row, column = np.divmod(position, len(plane.second))
    return np.stack([plane.first[row], plane.second[column]]).astype(np.float64)


def _dominating_point(plane: Plane, extreme_points: np.ndarray) -> tuple[np.ndarray, int]:
    """The first tilt, and the position of its mean: the extreme point with the lowest large-deviation rate.

    The rate is approximated by a quadratic function around the last point, until the point no longer changes. If the
    lowest rate is near 0, the tilt is 0.
    """
    lattice, theta, found, mean = plane.lattice, np.zeros(2), -1, np.zeros(2)
    for _ in range(_SEARCHES):
        inverse = np.linalg.pinv(covariance(lattice.rows, lattice.multiplicity, theta), hermitian=True)
        some = _candidates(plane, extreme_points, mean, theta, inverse)
        x, y = (each - middle for each, middle in zip(_points_at(plane, some), mean, strict=True))
        rate = x * (theta[0] + 0.5 * inverse[0, 0] * x + inverse[0, 1] * y) + y * (theta[1] + 0.5 * inverse[1, 1] * y)
        least = int(rate.argmin())
        before, found = found, int(some[least])
        if found == before or (before < 0 and rate[least] < _RATE_WITHOUT_TILT):
            break
        mean = _points_at(plane, found)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
    return theta, found


def _candidates(
    plane: Plane, extreme_points: np.ndarray, mean: np.ndarray, theta: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Candidates for the minimum of the quadratic rate: in each row, the extreme points next to the row's minimum."""
    if not inverse[1, 1] > 0.0:
        return extreme_points
    width = len(plane.second)
    lowest = mean[1] - (theta[1] + inverse[0, 1] * (plane.first - mean[0])) / inverse[1, 1]
    column: NDArray[np.int64] = np.clip((lowest - plane.second[0]) / 2.0, -1.0, width).astype(np.int64)
    middle = np.searchsorted(extreme_points, np.arange(len(plane.first)) * width + column)
    return extreme_points[np.unique(np.clip(middle[:, None] + np.arange(-2, 3), 0, len(extreme_points) - 1))]


def _tilted_plane(plane: Plane, theta: np.ndarray) -> TiltedPlane:
    """Compute the probabilities in a window around the tilted mean."""
    lattice, half_logits = plane.lattice, plane.lattice.rows @ theta
    mean, total = (lattice.multiplicity * np.tanh(half_logits)) @ lattice.rows, lattice.multiplicity @ lattice.rows
    below, above = windows(lattice.rows, lattice.multiplicity, theta, _WINDOW).T
    lowest = np.maximum(np.floor((mean - below + total) / 2).astype(np.int64), (total - lattice.reach) // 2)
    highest = np.minimum(np.ceil((mean + above + total) / 2).astype(np.int64), (total + lattice.reach) // 2)
    lengths = tuple(fft_length(int(count)) for count in highest - lowest + 1)
    probability = grid_probabilities(lattice.rows, lattice.multiplicity, theta, lowest, lengths)
    # Undoing the tilt subtracts large numbers.
    noise = float(rounding_error(lattice.num_signs, lengths)) + EPSILON * 2.0 * float(np.abs(theta) @ lattice.reach)
    return TiltedPlane(
        theta,
        float(log_moment(half_logits, lattice.multiplicity)),
        probability,
        # Neighbours in the plane are also neighbours on the grid.
        begin=tuple((np.array([plane.first[0], plane.second[0]]) + total) // 2 - lowest),
        noise=min(noise * float(np.linalg.norm(probability)), 0.5),
        outside=2.0 * np.count_nonzero(highest - lowest < lattice.reach) * math.exp(-_WINDOW),
    )


def _combine_tilts(plane: Plane, tilts: Sequence[TiltedPlane], counts: np.ndarray, scale: float) -> tuple[float, float]:
    """Log probability of the points, and log of its error bound; each point uses the tilt with its smallest bound."""
    total = squares = 0.0
    inside, outside, bounded = np.zeros((3, len(tilts)))  # largest weights inside and outside, sum of weights outside
    for block in _blocks(counts):
        best = None if len(tilts) == 1 else _log_error_bounds(plane, tilts, block).argmin(axis=0)
        for which, tilted in enumerate(tilts):
            weight = np.exp(np.minimum(_log_weight(plane, tilted, block) - scale, _LARGEST_EXPONENT))
            weight *= counts[block] if best is None else counts[block] * (best == which)
            window, probability = tilted.overlap(block)
            held = weight[window]
            if held.size:
                total += float(np.einsum("ij,ij->", held, probability))
                squares += tilted.noise**2 * float(np.einsum("ij,ij->", held, held))
                inside[which] = max(inside[which], held.max())
                held[...] = 0.0
            outside[which], bounded[which] = max(outside[which], weight.max()), bounded[which] + weight.sum()
    mass = np.array([tilted.outside for tilted in tilts])
    # Rounding errors by the Cauchy-Schwarz inequality. The FFT is periodic: mass outside also falls into the window.
    error = math.sqrt(len(tilts) * squares) + float((np.minimum(bounded, mass * outside) + mass * inside).sum())
    return float(np.log(max(total, 0.0)) + scale), float(np.log(error) + scale)


def _worst_point(plane: Plane, tilts: Sequence[TiltedPlane], counts: np.ndarray) -> np.ndarray:
    """The point `[axis]` with the largest error bound."""
    found: list[tuple[float, float, float]] = []
    for block in _blocks(counts):
        level = np.where(counts[block] > 0, _log_error_bounds(plane, tilts, block).min(axis=0), -np.inf)
        row, column = np.unravel_index(int(level.argmax()), level.shape)
        first, second = plane.first[block[0]][row], plane.second[block[1]][column]
        found.append((float(level[row, column]), float(first), float(second)))
    return np.array(max(found)[1:], np.float64)


def _log_error_bounds(plane: Plane, tilts: Sequence[TiltedPlane], block: tuple[slice, slice]) -> np.ndarray:
    """Log error bounds `[tilt, row, column]` for the points of a block."""
    levels = np.stack([_log_weight(plane, tilted, block) for tilted in tilts])
    for level, tilted in zip(levels, tilts, strict=True):
        level[tilted.overlap(block)[0]] += math.log(tilted.noise + tilted.outside)
    return levels


def _log_weight(plane: Plane, tilted: TiltedPlane, block: tuple[slice, slice]) -> np.ndarray:
    """Log weights, log(M(theta) exp(-theta.s)), for the points s of a block."""
    first, second = plane.first[block[0]], plane.second[block[1]]
    return (tilted.log_moment - tilted.theta[0] * first)[:, None] - tilted.theta[1] * second


def _blocks(counts: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """Blocks that cover all points with a nonzero count, each small enough for the cache."""
    height, width = counts.shape
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        part = slice(start, min(start + rows, height))
        columns = np.flatnonzero(counts[part].any(axis=0))
        if columns.size:
            yield part, slice(int(columns[0]), int(columns[-1]) + 1)
