"""The whole law of the random-sign sum of a pair, for what asks how likely each of its values is, not one of them."""

import math
from typing import NamedTuple

import numpy as np

from sigjax.exact.charfun import grid_lengths, plane_probabilities, rounding
from sigjax.exact.lattice import MOST_AXES, Lattice
from sigjax.exact.signs import MOST_SIGNS, sign_sums

_MOST_POINTS = 2**22
_SECONDS = 1e-7
"""Nominal, for a point: to score it and to sort the scores."""


class SignLaw(NamedTuple):
    """Values that S takes, and how likely they are."""

    values: np.ndarray
    """[value, axis] int64."""
    chances: np.ndarray
    """[value] float64, right up to 1e-10 or so in all."""


def law_seconds(lattice: Lattice) -> float:
    """Nominal seconds that the law and scores of its values take; infinite where it has too many values."""
    points = min(_grid_points(lattice), _num_signs(lattice))
    return points * _SECONDS if points <= _MOST_POINTS else math.inf


def sign_law(lattice: Lattice) -> SignLaw:
    """The law of S: all signs of few units, or the characteristic function on a grid, whichever has fewer values.

    What a grid leaves out lies beyond 9 standard deviations, or is as small as rounding.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> law = sign_law(pair_lattice(np.array([[1], [1], [1]]), np.zeros((3, 1), int), ("value",)))
        >>> law.values.ravel(), law.chances.round(12)
        (array([-3, -1,  1,  3]), array([0.125, 0.375, 0.375, 0.125]))
    """
    if lattice.axes == 0:
        return SignLaw(np.zeros((1, 0), np.int64), np.ones(1))
    if _num_signs(lattice) < _grid_points(lattice):
        units = np.repeat(lattice.rows, lattice.multiplicity, axis=0)
        half = sign_sums(Lattice(units, np.ones(len(units), np.int64), lattice.observed, lattice.basis))
        return SignLaw(np.concatenate([half, -half]), np.full(2 * len(half), 0.5**lattice.coins))
    lengths, total = grid_lengths(lattice), lattice.multiplicity @ lattice.rows
    first = (total - np.minimum(np.array(lengths), lattice.reach + 1) + 1) // 2
    chances = plane_probabilities(lattice.rows, lattice.multiplicity, np.zeros(lattice.axes), lengths, first)
    noise = float(rounding(lattice.coins, lengths)) * float(np.linalg.norm(chances))
    kept = np.nonzero(chances > noise)
    return SignLaw(2 * (np.stack(kept, axis=1) + first) - total, chances[kept])


def _grid_points(lattice: Lattice) -> float:
    return math.prod(map(float, grid_lengths(lattice))) if lattice.axes <= MOST_AXES else math.inf


def _num_signs(lattice: Lattice) -> float:
    return 2.0**lattice.coins if lattice.coins <= MOST_SIGNS else math.inf
