"""Probabilities of sets of values of the random-sign sum S on two axes, for one pair.

S is symmetric, so half of the plane is enough: a point counts twice where its mirror image is in the set too, and each
stands for whichever of both the tilt makes likelier. The set is covered by one tilt (see `tails`), rarely by more:
while the error is too large, one more tilt has its mean at the worst point.
"""

import math
from collections.abc import Generator
from typing import Any

import numpy as np

from sigjax.exact.lattice import Lattice, plane_axes
from sigjax.exact.masses import Mass
from sigjax.exact.tails import Plane, Tail, Tilted, add_tilts, tilted_at, worst
from sigjax.exact.tilt import log_moment, plane_tilt, spread, windows

_ACCURACY = 1e-9
"""Relative error from which one more tilt is worth its time."""
_MOST_TILTS = 12
_SEARCHES = 8
_NEAR = 2.0
"""Rates below this need no tilt: probabilities of one in ten."""


def make_plane(lattice: Lattice, exponent: float, platform: str | None = None) -> Plane:
    """The box outside which less than exp(-exponent) lies on each side, or all that S can reach."""
    reach = lattice.reach
    widest = windows(lattice.rows, lattice.multiplicity, np.zeros(2), exponent).max(axis=1)
    half = np.minimum(reach, np.ceil(widest).astype(np.int64) // 2 * 2 + reach % 2)
    cut = int((half < reach).sum())
    log_outside = math.log(2.0 * cut) - exponent if cut else -math.inf
    return Plane(lattice, *plane_axes(lattice, half), log_outside, platform)


def plane_mass(plane: Plane, times: np.ndarray) -> Generator[Tail, Mass, Mass]:
    """The sum of times P(S = s) over the points, `times` `[first, second]` being 0, 1 or 2.

    Yields what `add_up` adds up, and takes the mass.
    """
    lattice, counted = plane.lattice, np.flatnonzero(times)
    if not counted.size:
        return Mass(-math.inf, plane.log_outside)
    theta, start = _likeliest(plane, counted)
    scale, (plane, times) = -float(theta @ _at(plane, start)), _ahead(plane, times, theta)
    tilts = [tilted_at(plane, theta)]
    scale += tilts[0].log_moment
    estimate = yield Tail(plane, times, tilts[0], scale)
    while True:
        if len(tilts) == _MOST_TILTS or estimate.log_error < estimate.log_p + math.log(_ACCURACY):
            return Mass(estimate.log_p, float(np.logaddexp(estimate.log_error, plane.log_outside)))
        if len(tilts) == 1:
            tilts[0] = tilts[0].filled(lattice, plane.platform)
        mean = worst(plane, tilts, times)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
        # Where Chernoff's bound alone makes the points negligible, their probabilities are not needed.
        moment = float(log_moment(lattice.rows @ theta, lattice.multiplicity))
        most = moment - float(theta @ mean) + math.log(len(counted))
        negligible = most < estimate.log_p + math.log(0.1 * _ACCURACY)
        tilts.append(Tilted(theta, moment) if negligible else tilted_at(plane, theta).filled(lattice, plane.platform))
        estimate = add_tilts(plane, tilts, times, scale)


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
        inverse = np.linalg.pinv(spread(lattice.rows, lattice.multiplicity, theta), hermitian=True)
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
    column = np.clip((lowest - plane.second[0]) / 2.0, -1.0, width).astype(np.int64)
    middle = np.searchsorted(counted, np.arange(len(plane.first)) * width + column)
    return counted[np.unique(np.clip(middle[:, None] + np.arange(-2, 3), 0, len(counted) - 1))]
