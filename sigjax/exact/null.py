"""The exact p-value of a pair: the probability of all sums whose score is at least as extreme as observed.

The score is evaluated on every value that the sum can take within the window, so any metric will do: it need not be
linear or even monotone in the sum.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sigjax.exact.charfun import upper_tail, window
from sigjax.exact.lattice import Lattice

_FEW_COINS = 36
"""With so few coins the number of extreme outcomes is a whole number that float64 rounding cannot blur."""


class ExactP(NamedTuple):
    """An exact p-value and its logarithm, which stays right below the smallest double."""

    p_value: float
    log10_p: float


def exact_p(lattice: Lattice, is_extreme: Callable[[np.ndarray], np.ndarray]) -> ExactP:
    """Probability that the random-sign sum S is extreme.

    Args:
        lattice: the pair.
        is_extreme: values of S `[s]` (int64) -> `[s]` bool. The observed value must be extreme.

    Returns:
        The p-value, in (0, 1], and its base-10 logarithm.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> lattice = pair_lattice(np.array([[1], [1], [1]]), np.array([[0], [0], [0]]), ("value",))
        >>> exact_p(lattice, lambda s: s >= 3).p_value
        0.125
    """
    if lattice.reach == 0:
        return ExactP(1.0, 0.0)
    farthest = min(lattice.reach, abs(lattice.observed) + window(lattice))
    farthest -= (lattice.reach - farthest) % 2
    values = np.arange(-farthest, farthest + 1, 2)
    hit = is_extreme(values)
    if hit.all():
        return ExactP(1.0, 0.0)
    above = _log_mass(lattice, values[hit & (values >= 0)])
    below = _log_mass(lattice, -values[hit & (values < 0)][::-1])
    log_p = min(float(np.logaddexp(above, below)), 0.0)
    coins = int(lattice.multiplicity.sum())
    if coins <= _FEW_COINS:
        p_value = round(math.exp(log_p) * 2**coins) / 2**coins
        return ExactP(p_value, math.log10(p_value))
    return ExactP(math.exp(log_p), log_p / math.log(10.0))


def _log_mass(lattice: Lattice, values: np.ndarray) -> float:
    """Logarithm of P(S in values), for ascending values >= 0; S is symmetric, so a lower tail is an upper one."""
    if not values.size:
        return -math.inf
    tail = upper_tail(lattice, int(values[0]))
    place = (values - tail.edge) // 2
    place = place[place < len(tail.probabilities)]
    mass = float((np.exp(-2.0 * tail.theta * place) * tail.probabilities[place]).sum())
    # Values that no combination of signs reaches have mass 0, or rounding noise around it.
    return tail.log_scale + math.log(mass) if mass > 0.0 else -math.inf
