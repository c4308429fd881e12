"""Tilted probabilities of points of a plane, and their sums.

Each tilt gives all points of a window around its mean, with an error that grows with the distance on the near side. Of
the points outside only bounds are counted, as error: Chernoff's, P(S = s) <= M(theta) exp(-theta.s), or the mass
outside times the largest of these factors.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.exact.charfun import EPSILON, fft_length, plane_probabilities, plane_sums, rounding
from sigjax.exact.lattice import Lattice
from sigjax.exact.masses import Mass
from sigjax.exact.spectrum import LARGEST_EXPONENT, Points
from sigjax.exact.tilt import log_moment, windows

_BLOCK = 2**15
"""Points of a plane that are added up at a time, to stay in cache."""
_TOGETHER = 2**24
"""Points of planes, or of their windows, that a GPU gets at a time: it takes about 20 bytes for each (compiled)."""
_WINDOW = 41.0
"""The mass outside a window is below exp(-41) = 2e-18 on each side."""


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
    platform: str | None = None
    """Where JAX computes; None for NumPy."""


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
    """Bound on the rounding error of the probabilities in the 2-norm; relative to theirs while there are none."""
    outside: float = 1.0
    """Bound on the mass outside the window, which also comes round into it."""
    lengths: tuple[int, ...] = ()
    """Of the window."""
    lowest: np.ndarray = np.zeros(2, np.int64)
    """[axis]: the first value of K in the window."""

    def filled(self, lattice: Lattice, platform: str | None) -> "Tilted":
        """With the probabilities."""
        sums = lattice.rows, lattice.multiplicity, self.theta
        on_grid = plane_probabilities(*sums, self.lengths, self.lowest, platform)
        noise = min(self.noise * float(np.linalg.norm(on_grid)), 0.5)
        return self._replace(probability=on_grid, noise=noise)

    def held(self, block: Sequence[slice]) -> tuple[tuple[slice, ...], np.ndarray]:
        """The points of a block of the plane that are in the window, and their probabilities."""
        here, there = [], []
        for part, begin, length in zip(block, self.begin, self.probability.shape, strict=True):
            start = max(part.start, -begin)
            stop = max(start, min(part.stop, length - begin))
            here.append(slice(start - part.start, stop - part.start))
            there.append(slice(start + begin, stop + begin))
        return tuple(here), self.probability[tuple(there)]


class Tail(NamedTuple):
    """What is to be added up: times exp(scale) P(S = s), by one tilt."""

    plane: Plane
    times: np.ndarray
    """[first, second]: 0, 1 or 2."""
    tilted: Tilted
    """Without probabilities."""
    scale: float


def tilted_at(plane: Plane, theta: np.ndarray) -> Tilted:
    """A window around the tilted mean, still without probabilities, and Chernoff's bound elsewhere."""
    lattice, lean = plane.lattice, plane.lattice.rows @ theta
    mean, total = (lattice.multiplicity * np.tanh(lean)) @ lattice.rows, lattice.multiplicity @ lattice.rows
    below, above = windows(lattice.rows, lattice.multiplicity, theta, _WINDOW).T
    lowest = np.maximum(np.floor((mean - below + total) / 2).astype(np.int64), (total - lattice.reach) // 2)
    highest = np.minimum(np.ceil((mean + above + total) / 2).astype(np.int64), (total + lattice.reach) // 2)
    lengths = tuple(fft_length(int(count)) for count in highest - lowest + 1)
    return Tilted(
        theta,
        float(log_moment(lean, lattice.multiplicity)),
        # Neighbours are one step apart in the plane and on the grid.
        begin=tuple((np.array([plane.first[0], plane.second[0]]) + total) // 2 - lowest),
        # The change of measure subtracts large numbers.
        noise=float(rounding(lattice.coins, lengths)) + EPSILON * 2.0 * float(np.abs(theta) @ lattice.reach),
        outside=2.0 * np.count_nonzero(highest - lowest < lattice.reach) * math.exp(-_WINDOW),
        lengths=lengths,
        lowest=lowest,
    )


def add_up(tails: Sequence[Tail], platform: str | None) -> list[Mass]:
    """The mass of each, but for what is outside the box; on a GPU, those with like windows together."""
    if platform is None:
        return [_by_numpy(each) for each in tails]
    found: dict[int, Mass] = {}
    for lengths in {each.tilted.lengths for each in tails}:
        alike = [index for index, each in enumerate(tails) if each.tilted.lengths == lengths]
        most = max(math.prod(lengths), *(tails[index].times.size for index in alike))
        many = max(1, _TOGETHER // most)
        for start in range(0, len(alike), many):
            some = alike[start : start + many]
            found |= zip(some, _by_device([tails[index] for index in some], platform), strict=True)
    return [found[index] for index in range(len(tails))]


def _by_numpy(tail: Tail) -> Mass:
    return add_tilts(tail.plane, [tail.tilted.filled(tail.plane.lattice, None)], tail.times, tail.scale)


def _by_device(tails: Sequence[Tail], platform: str) -> Iterator[Mass]:
    sums, points = [], []
    for plane, times, tilted, scale in tails:
        sums.append((plane.lattice.rows, plane.lattice.multiplicity, tilted.theta, tilted.lowest))
        left, right = tilted.log_moment - tilted.theta[0] * plane.first, tilted.theta[1] * plane.second
        points.append(Points(times, left, right, scale, tilted.begin))
    for each, found in zip(tails, plane_sums(sums, tails[0].tilted.lengths, points, platform), strict=True):
        (norm, total, squares), of_tilt = found[:3].tolist(), found[3:, None]
        noise = min(each.tilted.noise * norm, 0.5)
        yield _mass(total, noise**2 * squares, np.array([each.tilted.outside]), of_tilt, each.scale)


def add_tilts(plane: Plane, tilts: Sequence[Tilted], times: np.ndarray, scale: float) -> Mass:
    """Add up the points, each by the tilt with the least bound on its error."""
    total = squares = 0.0
    inside, outside, bounded = np.zeros((3, len(tilts)))  # the largest weights, and the sum of those outside
    for block in _blocks(times):
        best = None if len(tilts) == 1 else _levels(plane, tilts, block).argmin(axis=0)
        for which, tilted in enumerate(tilts):
            weight = np.exp(np.minimum(_exponent(plane, tilted, block) - scale, LARGEST_EXPONENT))
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
    # By Cauchy's inequality, within each tilt and once more over the tilts.
    return _mass(total, len(tilts) * squares, mass, np.stack([inside, outside, bounded]), scale)


def _mass(total: float, squares: float, mass: np.ndarray, of_tilts: np.ndarray, scale: float) -> Mass:
    """The mass, and a bound on its error: rounding, and for each tilt what is outside its window and comes round."""
    inside, outside, bounded = of_tilts
    error = math.sqrt(squares) + float((np.minimum(bounded, mass * outside) + mass * inside).sum())
    with np.errstate(divide="ignore"):
        return Mass(float(np.log(max(total, 0.0)) + scale), float(np.log(error) + scale))


def worst(plane: Plane, tilts: Sequence[Tilted], times: np.ndarray) -> np.ndarray:
    """The point `[axis]` with the largest bound on its error."""
    found = []
    for block in _blocks(times):
        level = np.where(times[block] > 0, _levels(plane, tilts, block).min(axis=0), -np.inf)
        row, column = np.unravel_index(int(level.argmax()), level.shape)
        found.append((float(level[row, column]), plane.first[block[0]][row], plane.second[block[1]][column]))
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
