"""Two samples of units, without sampling: the law of the sum that the first sample would have.

Where two systems do not differ, of all units of both samples every set of as many as the first sample has is equally
likely to be it. The law of its sum is built unit by unit on a grid (number of units chosen, their sum): all terms are
positive, so small probabilities are as precise as large ones. Of two values it is the hypergeometric law, as in
Fisher's exact test. References: Pitman (1937), "Significance tests which may be applied to samples from any
populations"; Streitberg and Roehmel (1986), "Exact distributions for permutation and rank tests".
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import ExactP

_MOST_TERMS = 5e8
"""Additions of numbers of a grid: a second or two."""
_MOST_NUMBERS = 2**24
"""Numbers of a grid."""
_UNDERFLOW = math.log(1e-280)
"""Below this, probabilities on a grid have been lost."""
_EPSILON = float(np.finfo(np.float64).eps)
_FEW_BITS = 50
"""Up to 2^50 choices, a double holds their whole number."""


class SampleLaw(NamedTuple):
    """The law of a sum."""

    sums: np.ndarray
    """[value] int64."""
    log_chances: np.ndarray
    """[value] logarithms of their probabilities."""
    choices: int | None
    """How many choices there are; None for more than 2^50."""
    error: float
    """Bound on the relative error of a probability."""
    least: float
    """Logarithms below this are not to be trusted."""

    def tail(self, hit: np.ndarray) -> ExactP | None:
        """The probability of the values `hit` `[value]`, some of which are; None where it is too small to be known.

        Example:
            >>> law = sample_law(np.array([1, 2, 3, 5]), 2)
            >>> law.tail(law.sums >= 6).p_value
            0.5
        """
        log_p = _log_sum(self.log_chances[hit])
        if log_p < self.least:
            return None
        if log_p > math.log(0.5):  # the complement is the small number, and has more digits
            log_p = math.log1p(-math.exp(_log_sum(self.log_chances[~hit]))) if not hit.all() else 0.0
        if self.choices is not None:
            share = round(math.exp(log_p) * self.choices) / self.choices
            return ExactP(share, math.log10(share))
        return ExactP(math.exp(log_p), log_p / math.log(10.0) + 0.0, self.error)


def sample_law(values: np.ndarray, size: int) -> SampleLaw | NotEligible:
    """The law of the sum of a random choice of `size` of the whole numbers `[unit]`; 0 < size < units.

    Example:
        >>> law = sample_law(np.array([1, 1, 2, 4]), 2)
        >>> law.sums, (6 * np.exp(law.log_chances)).round(12)
        (array([2, 3, 5, 6]), array([1., 2., 2., 1.]))
    """
    lowest, units, small = int(values.min()), len(values), min(size, len(values) - size)
    scale = int(np.gcd.reduce(values - lowest)) or 1
    steps = np.sort((values - lowest) // scale)
    if steps[-1] <= 1:
        sums, logs = _of_two_values(int(steps.sum()), units, small)
        # Logarithms of ratios are added up from the likeliest value on.
        error, least = _EPSILON * (4.0 * units + float(np.abs(logs).max())), -math.inf
    else:
        numbers = (small + 1.0) * float(steps[-small:].sum() + 1)
        if numbers > _MOST_NUMBERS or numbers * units > _MOST_TERMS:
            return NotEligible("the sums have too many values for an exact test")
        sums, logs = _on_grid(steps, small)
        error, least = _EPSILON * (4.0 * units + 4.0), _UNDERFLOW
    sums = sums * scale + small * lowest
    if small < size:  # the law of the sum of the others
        sums = int(values.sum()) - sums
    log_choices = math.lgamma(units + 1) - math.lgamma(size + 1) - math.lgamma(units - size + 1)
    choices = math.comb(units, size) if log_choices < _FEW_BITS * math.log(2.0) else None
    return SampleLaw(sums, logs, choices, error, least)


def _of_two_values(ones: int, units: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of ones in a choice, and the logarithms of its probabilities."""
    sums = np.arange(max(0, size - (units - ones)), min(ones, size) + 1)
    k = sums[:-1].astype(np.float64)
    ratios = np.log((ones - k) * (size - k)) - np.log((k + 1.0) * (units - ones - size + k + 1.0))
    top = int(np.count_nonzero(ratios > 0.0))
    logs = np.concatenate([-np.cumsum(ratios[:top][::-1])[::-1], [0.0], np.cumsum(ratios[top:])])
    return sums, logs - _log_sum(logs)


def _on_grid(steps: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The sums of a choice of steps `[unit]`, ascending from 0, that some choice has, and the logarithms."""
    share, width = size / len(steps), int(steps[-size:].sum()) + 1
    grid = np.zeros((size + 1, width))
    grid[0, 0], reach = 1.0, 1
    for step in steps.tolist():  # every unit is chosen with this share; in the end only `size` of them count
        reach = min(reach + step, width)
        here = grid[:, :reach]
        moved = share * here[:-1, : reach - step]
        here *= 1.0 - share
        here[1:, step:] += moved
    chances = grid[size] / grid[size].sum()
    sums = np.flatnonzero(chances)
    return sums, np.log(chances[sums])


def _log_sum(logs: np.ndarray) -> float:
    """Logarithm of the sum of exp(logs)."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))
