"""Probabilities of sets of values of the random-sign sum S on one axis, for many pairs at once.

S is symmetric, so half of the values are enough. A set above 0 is summed from its lowest value upwards under a tilt
whose mean is there, so that every term is of ordinary size; sets below 0 are mirrored.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.charfun import fft_length, grid_values, line_probabilities, rounding, window_mass
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
    deviation: np.ndarray
    """[pair]: the standard deviation of S."""
    length: int
    outside: np.ndarray
    """[pair]: bound on the mass outside the grid."""
    platform: str | None = None
    """Where JAX computes; None for NumPy."""

    def at(self, pairs: np.ndarray) -> "Lines":
        """Some of the pairs, on the same grid."""
        columns: list[Any] = [each[pairs] if isinstance(each, np.ndarray) else each for each in self]
        return Lines(*columns)


class Mass(NamedTuple):
    """Natural logarithms of a probability (-inf for an empty set) and of a bound on its error."""

    log_p: Any
    """[pair], or a number for one pair."""
    log_error: Any


def join_lines(lattices: Sequence[Lattice], platform: str | None = None) -> Lines:
    """Pairs with one axis on a common grid, rows padded to the longest."""
    most = max(len(lattice.rows) for lattice in lattices)
    steps, multiplicity = np.zeros((2, len(lattices), most), np.int64)
    for pair, lattice in enumerate(lattices):
        steps[pair, : len(lattice.rows)] = lattice.rows[:, 0]
        multiplicity[pair, : len(lattice.rows)] = lattice.multiplicity
    reach = (steps * multiplicity).sum(axis=1)
    deviation = np.sqrt((multiplicity * steps.astype(np.float64) ** 2).sum(axis=1))
    length = fft_length(int(grid_values(reach, deviation).max()))
    return Lines(
        steps, multiplicity, reach, multiplicity.sum(axis=1), deviation, length, window_mass(reach, length), platform
    )


def line_values(lines: Lines, farthest: np.ndarray) -> np.ndarray:
    """Values of S `[pair, value]` from 0 or 1 up to `farthest` `[pair]`, then repeating the last."""
    lowest = lines.reach % 2
    count = int(((farthest - lowest) // 2).max()) + 1
    return np.minimum(lowest[:, None] + 2 * np.arange(count), farthest[:, None])


def upper_mass(lines: Lines, hit: np.ndarray) -> Mass:
    """Probability of the values `hit` `[pair, value]` among `line_values`; repetitions are not hit."""
    some = np.asarray(hit.any(axis=1))
    if not some.all():
        found = np.full((2, len(hit)), -np.inf)
        if some.any():
            found[:, some] = upper_mass(lines.at(some), hit[some])
        return Mass(*found)
    start = hit.argmax(axis=1)
    edge = lines.reach % 2 + 2 * start
    theta = line_tilts(lines.steps, lines.multiplicity, edge.astype(np.float64))
    first = (edge + lines.reach) // 2
    tilted = line_probabilities(lines.steps, lines.multiplicity, theta, lines.length, first, lines.platform)
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
        log_p = np.where(mass > 0, np.log(np.maximum(mass, 0.0)) + log_scale, -np.inf)
        return Mass(log_p, np.log(noise + lines.outside) + log_scale)
