"""Few units: count the outcomes themselves, by meeting in the middle.

The sums of all sign vectors of one half of the units are sorted; for each outcome of the other half, a search tells how
many of them bring the sum to the edge. So n units take 2^(n/2) steps, and the count is a whole number, whatever the
differences are. Reference: Horowitz and Sahni (1974), "Computing partitions with applications to the knapsack problem";
as the split-up algorithm for permutation tests, van de Wiel (2001).
"""

import math

import numpy as np

from sigjax.exact.lattice import Lattice

MOST_COINS = 44
"""Half of them have 2^22 sums: 32 MiB."""


def halves_cost(lattice: Lattice) -> int:
    """Sums to sort and to look up."""
    return 2 ** (lattice.coins // 2 + 1)


def count_from(lattice: Lattice, edge: int) -> int:
    """How many of the 2^coins sign vectors give S >= edge, for one axis.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> values = np.array([[3], [5], [9]])
        >>> count_from(pair_lattice(values, np.zeros_like(values), ("value",)), 7)
        3
    """
    steps = np.repeat(lattice.rows[:, 0], lattice.multiplicity)
    half = lattice.coins // 2
    one, other = _sums(steps[:half]), _sums(steps[half:])
    # Ascending order on both sides walks through memory instead of jumping.
    return int((len(one) - np.searchsorted(np.sort(one), edge - np.sort(other)[::-1])).sum())


def log_share(count: int, coins: int) -> float:
    """Natural logarithm of count / 2^coins; -inf for none."""
    return math.log(count) - coins * math.log(2.0) if count else -math.inf


def _sums(steps: np.ndarray) -> np.ndarray:
    """The sums of all sign vectors `[2^units]` int64."""
    sums = np.zeros(1, np.int64)
    for step in steps:
        sums = np.concatenate([sums - step, sums + step])
    return sums
