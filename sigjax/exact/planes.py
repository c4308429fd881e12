"""The exact p-value of a pair with two axes by itself, of any score.

The score is evaluated on the points of a box around 0 that holds all but a negligible mass. S is symmetric, so half of
the plane is enough: a point counts twice where its mirror image is in the set too, and each stands for whichever of
both the tilt makes likelier. The probabilities of a set come from one tilt, rarely from more: while the error is too
large, one more tilt has its mean at the worst point. Each tilt gives all points of a window around its mean, with an
error that grows with the distance on the near side. Of the points outside only bounds are counted, as error:
Chernoff's, P(S = s) <= M(theta) exp(-theta.s), or the mass outside times the largest of these factors.
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
    log_moment,
    plane_probabilities,
    plane_tilt,
    rounding,
    windows,
)
from sigjax.exact.lattice import Lattice, plane_axes
from sigjax.exact.null import Delta, Mass, Sets, Unsettled, sets_of, settle
from sigjax.resample.extreme import Extreme

_SPARE = 30.0
"""The mass outside the box is below exp(-30) = 1e-13 of the p-value."""
_FAR = 40.0
"""The first box serves p-values above exp(-50)."""
_BLOCK = 2**15
"""Points of a plane that are scored or added up at a time, to stay in cache."""
_WINDOW = 41.0
"""The mass outside a window is below exp(-41) = 2e-18 on each side."""
_ACCURACY = 1e-11
"""Relative error from which one more tilt is worth its time."""
_MOST_TILTS = 12
_SEARCHES = 8
_LARGEST_EXPONENT = 600.0
"""Of weights, which might overflow."""
_NEAR = 2.0
"""Rates below this need no tilt: probabilities of one in ten."""


class Plane(NamedTuple):
    """The points that S can reach in half a box around 0."""

    lattice: Lattice
    first: np.ndarray
    """[first] int64: every other value from 0 or 1 on."""
    second: np.ndarray
    """[second] int64: every other value from minus to plus the half-width."""
    inside: np.ndarray
    """[first, second] bool: whether S can be there."""
    log_outside: float
    """Logarithm of a bound on the mass outside the box."""


class Tilted(NamedTuple):
    """A plane under one tilt: probabilities in a window, and Chernoff's bound everywhere."""

    theta: np.ndarray
    """[axis]"""
    log_moment: float
    probability: np.ndarray = np.zeros((0, 0))
    """P_theta(S = s) in the window."""
    begin: tuple[int, int] = (0, 0)
    """Where the plane begins in the window."""
    noise: float = 1.0
    """Bound on the rounding error of the probabilities in the 2-norm."""
    outside: float = 1.0
    """Bound on the mass outside the window, which also comes round into it."""

    def held(self, block: Sequence[slice]) -> tuple[tuple[slice, ...], np.ndarray]:
        """The points of a block of the plane that are in the window, and their probabilities."""
        here: list[slice] = []
        there: list[slice] = []
        for part, begin, length in zip(block, self.begin, self.probability.shape, strict=True):
            start = max(part.start, -begin)
            stop = max(start, min(part.stop, length - begin))
            here.append(slice(start - part.start, stop - part.start))
            there.append(slice(start + begin, stop + begin))
        return tuple(here), self.probability[tuple(there)]


def plane_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue | Unsettled:
    """Exact p-value of a pair with two axes."""
    # The first box serves the p-value that the observed sum suggests.
    theta = plane_tilt(lattice.rows, lattice.multiplicity, lattice.observed.astype(np.float64))
    rate = float(theta @ lattice.observed - log_moment(lattice.rows @ theta, lattice.multiplicity))
    exponent = _SPARE + min(rate, _FAR) + 10.0
    while True:
        plane = _make_plane(lattice, exponent)
        sets, needed = _score(plane, delta, criterion), math.inf
        if sets is not None:
            found = settle(partial(_mass, plane), sets, lattice.coins)
            log_p = found.log_p if isinstance(found, Unsettled) else found[1] * math.log(10.0)
            # Close to 1 the complement is the small number.
            needed = _SPARE - (log_p if log_p < math.log(0.5) else math.log(max(-math.expm1(log_p), 1e-300)))
            if plane.log_outside < -needed:
                return found
        exponent = min(2.0 * exponent, needed + 2.0)


def _make_plane(lattice: Lattice, exponent: float) -> Plane:
    """The box outside which less than exp(-exponent) lies on each side, or all that S can reach."""
    reach = lattice.reach
    widest = windows(lattice.rows, lattice.multiplicity, np.zeros(2), exponent).max(axis=1)
    half = np.minimum(reach, np.ceil(widest).astype(np.int64) // 2 * 2 + reach % 2)
    cut = int((half < reach).sum())
    log_outside = math.log(2.0 * cut) - exponent if cut else -math.inf
    return Plane(lattice, *plane_axes(lattice, half), log_outside)


def _score(plane: Plane, delta: Delta, criterion: Extreme) -> Sets | None:
    """What is extreme among the points of a box; None where no point of it is."""
    height, width = len(plane.first), len(plane.second)
    both, at_all = criterion._replace(alternative="two-sided"), False
    blocks: list[Sets] = []
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        block = slice(start, start + rows)
        first, inside = plane.first[block, None], plane.inside[block]
        if inside.all():
            deltas = delta(first[None], plane.second[None, None])[0]
        else:  # a score need not be a number where S cannot be
            deltas, at = np.full(inside.shape, np.nan), np.nonzero(inside)
            deltas[at] = delta(first[None, at[0], 0], plane.second[None, at[1]])[0]
        blocks.append(sets_of(deltas, criterion, valid=inside, mirrored=inside & (first > 0)))
        at_all |= bool(both.met(deltas).any())
    if not at_all:
        return None
    return {
        name: (np.concatenate([each[name][0] for each in blocks]), np.concatenate([each[name][1] for each in blocks]))
        for name in blocks[0]
    }


def _mass(plane: Plane, hit: np.ndarray, mirrored: np.ndarray) -> Mass:
    """The probability of the points hit and of the mirror images of the others, by as many tilts as its error needs."""
    times, lattice = hit.view(np.int8) + mirrored.view(np.int8), plane.lattice
    if not times.any():
        return Mass(np.array([-math.inf]), np.array([plane.log_outside]))
    count = int(np.count_nonzero(times))
    theta, start = _likeliest(plane, np.flatnonzero(times))
    scale, (plane, times) = -float(theta @ _at(plane, start)), _ahead(plane, times, theta)
    tilts = [_tilted_at(plane, theta)]
    scale += tilts[0].log_moment
    log_p, log_error = _add_tilts(plane, tilts, times, scale)
    while len(tilts) < _MOST_TILTS and not log_error < log_p + math.log(_ACCURACY):
        mean = _worst(plane, tilts, times)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
        # Where Chernoff's bound alone makes the points negligible, their probabilities are not needed.
        moment = float(log_moment(lattice.rows @ theta, lattice.multiplicity))
        most = moment - float(theta @ mean) + math.log(count)
        negligible = most < log_p + math.log(0.1 * _ACCURACY)
        tilts.append(Tilted(theta, moment) if negligible else _tilted_at(plane, theta))
        log_p, log_error = _add_tilts(plane, tilts, times, scale)
    return Mass(np.array([log_p]), np.logaddexp([log_error], plane.log_outside))


def _ahead(plane: Plane, times: np.ndarray, theta: np.ndarray) -> tuple[Plane, np.ndarray]:
    """The whole plane, with points that the tilt makes less likely than their mirror images replaced by these."""
    front = times * (theta[0] * plane.first[:, None] >= -theta[1] * plane.second)
    back = (times - front)[::-1, ::-1]
    if plane.first[0] == 0:
        front[0] += back[-1]
        back = back[:-1]
    first = np.concatenate([-plane.first[::-1][: len(back)], plane.first])
    return plane._replace(first=first), np.concatenate([back, front])


def _at(plane: Plane, position: Any) -> np.ndarray:
    """The points `[axis, ...]` at flat positions."""
    row, column = np.divmod(position, len(plane.second))
    return np.stack([plane.first[row], plane.second[column]]).astype(np.float64)


def _likeliest(plane: Plane, counted: np.ndarray) -> tuple[np.ndarray, int]:
    """The first tilt and the position of its mean, that of the `counted` ones with the lowest rate.

    The rate is replaced by its quadratic approximation at the last point until the point stays. There is no tilt where
    the lowest rate is near 0.
    """
    lattice, theta, found, mean = plane.lattice, np.zeros(2), -1, np.zeros(2)
    for _ in range(_SEARCHES):
        inverse = np.linalg.pinv(covariance(lattice.rows, lattice.multiplicity, theta), hermitian=True)
        some = _closest(plane, counted, mean, theta, inverse)
        x, y = (each - middle for each, middle in zip(_at(plane, some), mean, strict=True))
        rate = x * (theta[0] + 0.5 * inverse[0, 0] * x + inverse[0, 1] * y) + y * (theta[1] + 0.5 * inverse[1, 1] * y)
        least = int(rate.argmin())
        before, found = found, int(some[least])
        if found == before or (before < 0 and rate[least] < _NEAR):
            break
        mean = _at(plane, found)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
    return theta, found


def _closest(plane: Plane, counted: np.ndarray, mean: np.ndarray, theta: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """The positions among which the quadratic rate has its minimum: in each row, those next to that of the row."""
    if not inverse[1, 1] > 0.0:
        return counted
    width = len(plane.second)
    lowest = mean[1] - (theta[1] + inverse[0, 1] * (plane.first - mean[0])) / inverse[1, 1]
    column: NDArray[np.int64] = np.clip((lowest - plane.second[0]) / 2.0, -1.0, width).astype(np.int64)
    middle = np.searchsorted(counted, np.arange(len(plane.first)) * width + column)
    return counted[np.unique(np.clip(middle[:, None] + np.arange(-2, 3), 0, len(counted) - 1))]


def _tilted_at(plane: Plane, theta: np.ndarray) -> Tilted:
    """Probabilities in a window around the tilted mean, and Chernoff's bound elsewhere."""
    lattice, lean = plane.lattice, plane.lattice.rows @ theta
    mean, total = (lattice.multiplicity * np.tanh(lean)) @ lattice.rows, lattice.multiplicity @ lattice.rows
    below, above = windows(lattice.rows, lattice.multiplicity, theta, _WINDOW).T
    lowest = np.maximum(np.floor((mean - below + total) / 2).astype(np.int64), (total - lattice.reach) // 2)
    highest = np.minimum(np.ceil((mean + above + total) / 2).astype(np.int64), (total + lattice.reach) // 2)
    lengths = tuple(fft_length(int(count)) for count in highest - lowest + 1)
    probability = plane_probabilities(lattice.rows, lattice.multiplicity, theta, lowest, lengths)
    # The change of measure subtracts large numbers.
    noise = float(rounding(lattice.coins, lengths)) + EPSILON * 2.0 * float(np.abs(theta) @ lattice.reach)
    return Tilted(
        theta,
        float(log_moment(lean, lattice.multiplicity)),
        probability,
        # Neighbours are one step apart in the plane and on the grid.
        begin=tuple((np.array([plane.first[0], plane.second[0]]) + total) // 2 - lowest),
        noise=min(noise * float(np.linalg.norm(probability)), 0.5),
        outside=2.0 * np.count_nonzero(highest - lowest < lattice.reach) * math.exp(-_WINDOW),
    )


def _add_tilts(plane: Plane, tilts: Sequence[Tilted], times: np.ndarray, scale: float) -> tuple[float, float]:
    """Logarithms of the mass and of a bound on its error: each point counts by the tilt with the least bound."""
    total = squares = 0.0
    inside, outside, bounded = np.zeros((3, len(tilts)))  # the largest weights, and the sum of those outside
    for block in _blocks(times):
        best = None if len(tilts) == 1 else _levels(plane, tilts, block).argmin(axis=0)
        for which, tilted in enumerate(tilts):
            weight = np.exp(np.minimum(_exponent(plane, tilted, block) - scale, _LARGEST_EXPONENT))
            weight *= times[block] if best is None else times[block] * (best == which)
            window, probability = tilted.held(block)
            held = weight[window]
            if held.size:
                total += float(np.einsum("ij,ij->", held, probability))
                squares += tilted.noise**2 * float(np.einsum("ij,ij->", held, held))
                inside[which] = max(inside[which], held.max())
                held[...] = 0.0
            outside[which], bounded[which] = max(outside[which], weight.max()), bounded[which] + weight.sum()
    mass = np.array([tilted.outside for tilted in tilts])
    # What is outside a window also comes round into it. By Cauchy's inequality, within each tilt and over the tilts.
    error = math.sqrt(len(tilts) * squares) + float((np.minimum(bounded, mass * outside) + mass * inside).sum())
    return float(np.log(max(total, 0.0)) + scale), float(np.log(error) + scale)


def _worst(plane: Plane, tilts: Sequence[Tilted], times: np.ndarray) -> np.ndarray:
    """The point `[axis]` with the largest bound on its error."""
    found: list[tuple[float, float, float]] = []
    for block in _blocks(times):
        level = np.where(times[block] > 0, _levels(plane, tilts, block).min(axis=0), -np.inf)
        row, column = np.unravel_index(int(level.argmax()), level.shape)
        first, second = plane.first[block[0]][row], plane.second[block[1]][column]
        found.append((float(level[row, column]), float(first), float(second)))
    return np.array(max(found)[1:], np.float64)


def _levels(plane: Plane, tilts: Sequence[Tilted], block: tuple[slice, slice]) -> np.ndarray:
    """Log of a bound on the error of each point of a block under each tilt."""
    levels = np.stack([_exponent(plane, tilted, block) for tilted in tilts])
    for level, tilted in zip(levels, tilts, strict=True):
        level[tilted.held(block)[0]] += math.log(tilted.noise + tilted.outside)
    return levels


def _exponent(plane: Plane, tilted: Tilted, block: tuple[slice, slice]) -> np.ndarray:
    """Log of M(theta) exp(-theta.s) for the points of a block."""
    first, second = plane.first[block[0]], plane.second[block[1]]
    return (tilted.log_moment - tilted.theta[0] * first)[:, None] - tilted.theta[1] * second


def _blocks(times: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """Blocks that hold all points that count, each small enough to stay in cache."""
    height, width = times.shape
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        part = slice(start, min(start + rows, height))
        columns = np.flatnonzero(times[part].any(axis=0))
        if columns.size:
            yield part, slice(int(columns[0]), int(columns[-1]) + 1)
