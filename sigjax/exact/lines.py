"""Exact p-values of pairs with one axis, many at once: probabilities of sets of values of the random-sign sum S.

S is symmetric, so half of the values are enough. A set above 0 is summed from its lowest value upwards under a tilt
whose mean is there, so that every term is of ordinary size; sets below 0 are mirrored.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.charfun import DEVIATIONS, fft_length, grid_values, line_probabilities, rounding, window_mass
from sigjax.exact.lattice import Lattice
from sigjax.exact.null import Criterion, Delta, ExactP, Mass, sets_of, settle
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


def line_ps(
    lattices: Sequence[Lattice], delta: Delta, criterion: Criterion, platform: str | None = None
) -> list[ExactP]:
    """Exact p-values of pairs with one axis, together on a common grid.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> lattice = pair_lattice(np.array([[1], [1], [1]]), np.array([[0], [0], [0]]), ("value",))
        >>> criterion = Criterion(np.array([3.0]), np.array([1e-9]), "greater")
        >>> line_ps([lattice], lambda values: values, criterion)[0].p_value
        0.125
    """
    lines = _join_lines(lattices, platform)
    observed = np.array([abs(int(lattice.observed[0])) for lattice in lattices])
    farthest = np.minimum(lines.reach, observed + 2 * np.ceil(DEVIATIONS * lines.deviation / 2).astype(np.int64))
    values = _line_values(lines, farthest)
    valid = np.ones(values.shape, bool)
    valid[:, 1:] = values[:, 1:] > values[:, :-1]

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        above, other = _upper_mass(lines, hit), (hit != mirrored).any(axis=1)
        below = _upper_mass(lines, mirrored & other[:, None]) if other.any() else above
        below = Mass(*(np.where(other, *both) for both in zip(below, above, strict=True)))
        return Mass(np.logaddexp(above.log_p, below.log_p), np.logaddexp(above.log_error, below.log_error))

    return settle(mass, sets_of(delta(values), criterion, valid=valid, mirrored=valid & (values > 0)), lines.coins)


def _join_lines(lattices: Sequence[Lattice], platform: str | None = None) -> Lines:
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


def _line_values(lines: Lines, farthest: np.ndarray) -> np.ndarray:
    """Values of S `[pair, value]` from 0 or 1 up to `farthest` `[pair]`, then repeating the last."""
    lowest = lines.reach % 2
    count = int(((farthest - lowest) // 2).max()) + 1
    return np.minimum(lowest[:, None] + 2 * np.arange(count), farthest[:, None])


def _upper_mass(lines: Lines, hit: np.ndarray) -> Mass:
    """Probability of the values `hit` `[pair, value]` among `_line_values`; repetitions are not hit."""
    some = np.asarray(hit.any(axis=1))
    if not some.all():
        found = np.full((2, len(hit)), -np.inf)
        if some.any():
            found[:, some] = _upper_mass(lines.at(some), hit[some])
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
