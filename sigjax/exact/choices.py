"""All choices of half of the runs of two systems, one by one: what the first system's sums would be.

Unlike `patterns`, which merges equal sums of many units, this lists every choice, so that sums may be of any size and
number of statistics, and the score any function of them.
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible

_MOST_CHOICES = 1_000_000
"""Up to 11 runs of each system have so few."""
_A_SUM = 1e-7
"""Nominal seconds: a sum of one statistic, listed and scored."""


class Choices(NamedTuple):
    """What listing all choices takes."""

    number: int
    seconds: float
    """Nominal."""
    num_bytes: float


def find_choices(num_runs: int, num_stats: int) -> Choices | NotEligible:
    """Plan for so many runs of each of two systems, with so many statistics.

    Example:
        >>> find_choices(4, 1).number, find_choices(11, 1).number
        (70, 705432)
        >>> find_choices(12, 1)
        NotEligible(reason='there are more than 1,000,000 choices of 12 of 24 runs')
    """
    number = math.comb(2 * num_runs, num_runs)
    if number > _MOST_CHOICES:
        return NotEligible(f"there are more than {_MOST_CHOICES:,} choices of {num_runs} of {2 * num_runs} runs")
    return Choices(number, number * num_stats * _A_SUM, number * (40.0 * num_stats + 80.0))


def half_sums(runs: np.ndarray) -> np.ndarray:
    """The sums of every choice of half of the rows of `runs` `[run of both, stat]`, `[choice, stat]`.

    Example:
        >>> half_sums(np.array([[1], [2], [10], [20]])).ravel()
        array([ 3, 11, 12, 21, 22, 30])
    """
    half = len(runs) // 2
    sums = {0: np.zeros((1, runs.shape[1]), runs.dtype)}
    for place, run in enumerate(runs):
        # So many must be chosen by now that the runs left can make up the half.
        least, most = max(0, half - (len(runs) - place - 1)), min(half, place + 1)
        sums = {
            chosen: np.concatenate(
                [*([sums[chosen]] if chosen in sums else []), *([sums[chosen - 1] + run] if chosen - 1 in sums else [])]
            )
            for chosen in range(least, most + 1)
        }
    return sums[half]
