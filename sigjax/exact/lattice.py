"""From a pair's statistics to the smallest problem with the same null distribution.

Swapping a unit exchanges its two outputs, so a* + b* never changes and a* - b* is the sum of e_i D_i over units, with
D_i = s_a,i - s_b,i and e_i = +1 or -1 at random. Columns of D that are zero (gold sizes) drop out; if one column is
left, the null distribution is that of one sum of whole numbers, and it can be had without sampling.
"""

from typing import NamedTuple

import numpy as np


class Lattice(NamedTuple):
    """The random-sign sum S = sum over rows v of v times (heads minus tails of its multiplicity coins)."""

    steps: np.ndarray
    """[row] int64: distinct sizes |D_i| / scale, ascending, without 0."""
    multiplicity: np.ndarray
    """[row] int64: how many units have this size."""
    observed: int
    """The value of S in the data."""
    scale: int
    """Greatest common divisor of the differences: D = scale * S."""
    stat: int
    """The statistic that varies; -1 when none does."""

    @property
    def reach(self) -> int:
        """The largest value of S; S has the same parity as this."""
        return int((self.steps * self.multiplicity).sum())


class NotEligible(NamedTuple):
    """Why there is no exact test for a pair."""

    reason: str


def pair_lattice(a: np.ndarray, b: np.ndarray, stat_names: tuple[str, ...]) -> Lattice | NotEligible:
    """Reduce statistics `[unit, stat]` (int64) of two systems.

    Example:
        >>> a = np.array([[1, 1], [1, 1], [0, 1]])
        >>> b = np.array([[0, 1], [1, 1], [2, 1]])
        >>> pair_lattice(a, b, ("value", "count"))
        Lattice(steps=array([1, 2]), multiplicity=array([1, 1]), observed=-1, scale=1, stat=0)
    """
    differences = a - b
    varying = np.flatnonzero(differences.any(axis=0))
    if varying.size > 1:
        names = ", ".join(stat_names[i] for i in varying)
        return NotEligible(f"{varying.size} statistics differ between the systems ({names}); exact tests take one")
    if varying.size == 0:
        return Lattice(np.zeros(0, np.int64), np.zeros(0, np.int64), observed=0, scale=1, stat=-1)
    column = differences[:, varying[0]]
    column = column[column != 0]
    scale = int(np.gcd.reduce(column))
    steps, multiplicity = np.unique(np.abs(column) // scale, return_counts=True)
    return Lattice(steps, multiplicity, int(column.sum()) // scale, scale, int(varying[0]))
