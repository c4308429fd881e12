"""Probabilities of sets of values of the random-sign sum S, on one axis (many pairs at once) or two (one pair).

S is symmetric, so half of the values are enough. On one axis, a set above 0 is summed from its lowest value upwards
under a tilt whose mean is there, so that every term is of ordinary size; sets below 0 are mirrored.

On two axes, a point counts twice where its mirror image is in the set too. The set is covered by one tilt or a few.
Each gives all points of a window around its mean, with an error that grows with the distance on the near side, and
Chernoff's bound P(S = s) <= M(theta) exp(-theta.s) elsewhere, all of which counts as error. While the error is too
large, one more tilt has its mean at the worst point.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.charfun import (
    EPSILON,
    fft_length,
    grid_lengths,
    line_probabilities,
    plane_probabilities,
    rounding,
    window_mass,
)
from sigjax.exact.lattice import Lattice, plane_values
from sigjax.exact.tilt import line_tilts, log_moment, plane_tilt, spread, windows

_ACCURACY = 1e-9
"""Relative error from which one more tilt is worth its time."""
_MOST_TILTS = 12
_SEARCHES = 8
_LARGEST_EXPONENT = 600.0
_NEAR = 2.0
"""Rates below this need no tilt: probabilities of one in ten."""
_NEGLIGIBLE = 70.0
"""Points whose Chernoff bound is below exp(-70) of the likeliest point's are left out and counted as error."""
_WINDOW = 41.0
"""The mass outside a window is below exp(-41) = 2e-18 on each side."""


class Lines(NamedTuple):
    """Several pairs with one axis each, on a common grid."""

    steps: np.ndarray
    """[pair, row] int64; padding is 0."""
    multiplicity: np.ndarray
    """[pair, row]; 0 for padding."""
    reach: np.ndarray
    """[pair] int64."""
    coins: np.ndarray
    """[pair]."""
    length: int
    outside: np.ndarray
    """[pair]: bound on the mass outside the grid."""


class Mass(NamedTuple):
    """Natural logarithms of a probability (-inf for an empty set) and of a bound on its error."""

    log_p: Any
    """[pair], or a number for one pair."""
    log_error: Any


def join_lines(lattices: Sequence[Lattice]) -> Lines:
    """Pairs with one axis on a common grid, rows padded to the longest."""
    most = max(len(lattice.rows) for lattice in lattices)
    steps, multiplicity = np.zeros((2, len(lattices), most), np.int64)
    for pair, lattice in enumerate(lattices):
        steps[pair, : len(lattice.rows)] = lattice.rows[:, 0]
        multiplicity[pair, : len(lattice.rows)] = lattice.multiplicity
    (length,) = max(grid_lengths(lattice) for lattice in lattices)
    return Lines(
        steps,
        multiplicity,
        reach=np.array([int(lattice.reach[0]) for lattice in lattices]),
        coins=np.array([lattice.coins for lattice in lattices]),
        length=length,
        outside=np.array([window_mass(lattice, (length,)) for lattice in lattices]),
    )


def line_values(lines: Lines, farthest: np.ndarray) -> np.ndarray:
    """Values of S `[pair, value]` from 0 or 1 up to `farthest` `[pair]`, then repeating the last."""
    lowest = lines.reach % 2
    count = int(((farthest - lowest) // 2).max()) + 1
    return np.minimum(lowest[:, None] + 2 * np.arange(count), farthest[:, None])


def upper_mass(lines: Lines, hit: np.ndarray) -> Mass:
    """Probability of the values `hit` `[pair, value]` among `line_values`; repetitions are not hit."""
    start = hit.argmax(axis=1)
    edge = lines.reach % 2 + 2 * start
    theta = line_tilts(lines.steps, lines.multiplicity, edge.astype(np.float64))
    tilted = line_probabilities(lines.steps, lines.multiplicity, theta, lines.length, (edge + lines.reach) // 2)
    # What is beyond reach, or beyond the half of a window, has come round from below the edge.
    last = np.where(lines.length > lines.reach, lines.reach - edge, np.minimum(lines.reach - edge, lines.length)) // 2
    index = start[:, None] + np.arange(lines.length)
    counted = np.take_along_axis(hit, np.minimum(index, hit.shape[1] - 1), axis=1)
    counted &= (index < hit.shape[1]) & (np.arange(lines.length) <= last[:, None])
    weight = np.where(counted, np.exp(-2.0 * theta[:, None] * np.arange(lines.length)), 0.0)
    mass = (weight * tilted).sum(axis=1)
    noise = rounding(lines.coins, (lines.length,)) * np.linalg.norm(tilted, axis=1) * np.linalg.norm(weight, axis=1)
    moment = log_moment(theta[:, None] * lines.steps, lines.multiplicity)
    log_scale = moment - theta * edge
    # The change of measure subtracts two large numbers.
    noise += mass * 4e-16 * (np.abs(moment) + theta * edge)
    with np.errstate(divide="ignore"):
        log_p = np.where(hit.any(axis=1) & (mass > 0), np.log(np.maximum(mass, 0.0)) + log_scale, -np.inf)
        log_error = np.where(hit.any(axis=1), np.log(noise + lines.outside) + log_scale, -np.inf)
    return Mass(log_p, log_error)


class Plane(NamedTuple):
    """The points that S can reach in half a box around 0."""

    lattice: Lattice
    values: np.ndarray
    """[point, axis] int64: the first axis from 0 or 1, the second from minus to plus its half-width."""
    log_outside: float
    """Logarithm of a bound on the mass outside the box."""


class Tilted(NamedTuple):
    """The points of a set under one tilt, or under the best of several at each point."""

    exponent: np.ndarray
    """[point]: log of M(theta) exp(-theta.s)."""
    probability: np.ndarray
    """[point]: P_theta(S = s); 0 outside of the window."""
    noise: np.ndarray
    """[point]: bound on the rounding error of these probabilities in the 2-norm; 1 outside of the window."""
    aliased: np.ndarray
    """[point]: bound on the sum of the mass that comes into the window from outside."""


def make_plane(lattice: Lattice, exponent: float) -> Plane:
    """The box outside which less than exp(-exponent) lies on each side, or all that S can reach."""
    reach = lattice.reach
    widest = windows(lattice.rows, lattice.multiplicity, np.zeros(2), exponent).max(axis=1)
    half = np.minimum(reach, np.ceil(widest).astype(np.int64) // 2 * 2 + reach % 2)
    cut = int((half < reach).sum())
    return Plane(lattice, plane_values(lattice, half), math.log(2.0 * cut) - exponent if cut else -math.inf)


def plane_mass(plane: Plane, times: np.ndarray) -> Mass:
    """The sum of times P(S = s) over the points, `times` `[point]` being 0, 1 or 2."""
    lattice, counted = plane.lattice, np.flatnonzero(times)
    if not counted.size:
        return Mass(-math.inf, plane.log_outside)
    points, times = plane.values[counted], times[counted]
    theta, start = _likeliest(lattice, points)
    # Most points lie so far out that Chernoff's bound makes them negligible.
    exponent = _exponents(lattice, points, theta)
    near = exponent > exponent[start] - _NEGLIGIBLE
    left_out = float(exponent[start]) - _NEGLIGIBLE + math.log(2.0 * len(points))
    log_outside = float(np.logaddexp(plane.log_outside, left_out))
    points, times = points[near], times[near]
    best, used = _tilted(lattice, points, theta), 1
    while True:
        level = best.exponent + np.log(best.noise + best.aliased)
        worst = int(level.argmax())
        estimate = _sum(best, times, used, float(level[worst]))
        if used == _MOST_TILTS or estimate.log_error < estimate.log_p + math.log(_ACCURACY):
            return Mass(estimate.log_p, float(np.logaddexp(estimate.log_error, log_outside)))
        mean = points[worst].astype(np.float64)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
        # Where Chernoff's bound alone makes the points negligible, their probabilities are not needed.
        most = float(log_moment(lattice.rows @ theta, lattice.multiplicity) - theta @ mean) + math.log(len(points))
        negligible = most < estimate.log_p + math.log(0.1 * _ACCURACY)
        more = (_bounded if negligible else _tilted)(lattice, points, theta)
        better = more.exponent + np.log(more.noise + more.aliased) < level
        best, used = Tilted(*(np.where(better, new, old) for new, old in zip(more, best, strict=True))), used + 1


def _sum(best: Tilted, times: np.ndarray, used: int, scale: float) -> Mass:
    """Add up the points, each by its best tilt out of those `used`."""
    weight = times * np.exp(np.minimum(best.exponent - scale, _LARGEST_EXPONENT))
    total = float((weight * best.probability).sum())
    inside = best.noise < 1.0
    # By Cauchy's inequality, within each tilt and once more over the tilts.
    error = math.sqrt(used) * float(np.linalg.norm((weight * best.noise)[inside])) + float(weight[~inside].sum())
    error += used * float((weight * best.aliased).max())
    with np.errstate(divide="ignore"):
        return Mass(float(np.log(max(total, 0.0)) + scale), float(np.log(error) + scale))


def _likeliest(lattice: Lattice, points: np.ndarray) -> tuple[np.ndarray, int]:
    """The first tilt and the index of its mean, the point with the lowest rate; no tilt where that is near 0.

    The rate is replaced by its quadratic approximation at the last point until the point stays.
    """
    theta, index, mean = np.zeros(2), -1, np.zeros(2)
    for _ in range(_SEARCHES):
        inverse = np.linalg.pinv(spread(lattice.rows, lattice.multiplicity, theta), hermitian=True)
        x, y = points[:, 0] - mean[0], points[:, 1] - mean[1]
        rate = x * (theta[0] + 0.5 * inverse[0, 0] * x + inverse[0, 1] * y) + y * (theta[1] + 0.5 * inverse[1, 1] * y)
        before, index = index, int(rate.argmin())
        if index == before or (before < 0 and rate[index] < _NEAR):
            break
        mean = points[index].astype(np.float64)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
    return theta, index


def _exponents(lattice: Lattice, points: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Log of M(theta) exp(-theta.s) `[point]`."""
    moment = float(log_moment(lattice.rows @ theta, lattice.multiplicity))
    return moment - (theta[0] * points[:, 0] + theta[1] * points[:, 1])


def _bounded(lattice: Lattice, points: np.ndarray, theta: np.ndarray) -> Tilted:
    """Chernoff's bound alone."""
    nothing, one = np.zeros(len(points)), np.ones(len(points))
    return Tilted(_exponents(lattice, points, theta), nothing, one, nothing)


def _tilted(lattice: Lattice, points: np.ndarray, theta: np.ndarray) -> Tilted:
    """Tilted probabilities in a window around the tilted mean, Chernoff's bound elsewhere."""
    lean = lattice.rows @ theta
    mean, total = (lattice.multiplicity * np.tanh(lean)) @ lattice.rows, lattice.multiplicity @ lattice.rows
    below, above = windows(lattice.rows, lattice.multiplicity, theta, _WINDOW).T
    lowest = np.maximum(np.floor((mean - below + total) / 2).astype(np.int64), (total - lattice.reach) // 2)
    highest = np.minimum(np.ceil((mean + above + total) / 2).astype(np.int64), (total + lattice.reach) // 2)
    lengths = tuple(fft_length(int(count)) for count in highest - lowest + 1)
    on_grid = plane_probabilities(lattice.rows, lattice.multiplicity, theta, lengths, lowest)
    index = [((points[:, axis] + int(total[axis])) >> 1) - int(lowest[axis]) for axis in range(2)]
    inside = (index[0] >= 0) & (index[0] < lengths[0]) & (index[1] >= 0) & (index[1] < lengths[1])
    flat = np.where(inside, index[0] * lengths[1] + index[1], 0)
    # The change of measure subtracts large numbers.
    error = float(rounding(lattice.coins, lengths)) + EPSILON * 2.0 * float(np.abs(theta) @ lattice.reach)
    noise = min(error * float(np.linalg.norm(on_grid)), 0.5)
    cut = np.count_nonzero(highest - lowest < lattice.reach)
    return Tilted(
        _exponents(lattice, points, theta),
        np.where(inside, on_grid.ravel()[flat], 0.0),
        np.where(inside, noise, 1.0),
        np.where(inside, 2.0 * cut * math.exp(-_WINDOW), 0.0),
    )
