"""One axis: probabilities of sets of values of the sum, for many pairs at once.

S is symmetric, so a set below 0 is taken as its mirror image above. What lies above is summed from its lowest value
upwards under a tilt whose mean is there, so that every term is of ordinary size.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigjax.exact.charfun import grid_lengths, line_probabilities, rounding, window_mass
from sigjax.exact.lattice import Lattice
from sigjax.exact.tilt import line_tilts, log_moment


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
    """Logarithms of a probability and of a bound on its error."""

    log_p: np.ndarray
    """[pair]; -inf for an empty set."""
    log_error: np.ndarray
    """[pair]."""


def join_lines(lattices: Sequence[Lattice]) -> Lines:
    """Put pairs with one axis on a common grid, rows padded to the longest."""
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
    """Values of S from 0 or 1 up to `farthest` `[pair]`, then repeating the last: `[pair, value]`."""
    lowest = lines.reach % 2
    count = int(((farthest - lowest) // 2).max()) + 1
    return np.minimum(lowest[:, None] + 2 * np.arange(count), farthest[:, None])


def upper_mass(lines: Lines, hit: np.ndarray) -> Mass:
    """Probability of a set of values `hit` `[pair, value]` out of `line_values`, repetitions not hit."""
    start = hit.argmax(axis=1)
    edge = lines.reach % 2 + 2 * start
    theta = line_tilts(lines.steps, lines.multiplicity, edge.astype(np.float64))
    tilted = line_probabilities(lines.steps, lines.multiplicity, theta, lines.length, (edge + lines.reach) // 2)
    # What is beyond reach, or beyond the half of a window, has come round from below the edge.
    last = np.where(lines.length > lines.reach, lines.reach - edge, np.minimum(lines.reach - edge, lines.length)) // 2
    place = start[:, None] + np.arange(lines.length)
    counted = np.take_along_axis(hit, np.minimum(place, hit.shape[1] - 1), axis=1)
    counted &= (place < hit.shape[1]) & (np.arange(lines.length) <= last[:, None])
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
