"""Thresholds of gains: how large are the gains of pairs whose p is near 0.05, and how sure is that?

Pairs share systems, so they are no independent sample. The interval of a threshold is that of new systems: systems are
drawn with replacement, and a pair of two different systems counts as often as both are drawn, $m_a m_b$ times (the
bootstrap of a U-statistic; Bickel and Freedman 1981). The p-values stay those of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from sigjax.resample.bits import row_keys
from sigjax.resample.plans import Draws, drawn_units

_FIRST_ROW = 2**41 + 2**40
"""Draw r of the systems has the random words of resample 2^41 + 2^40 + r, which neither tests nor trials reach."""
_PART = 2**22
"""Weights in memory at a time."""

WIDE = (0.001, 0.25)
"""Lowest and highest p of pairs whose gains are moved."""
FEWEST = 9
"""Resamples at least as extreme behind a sampled p that moves a gain; with fewer, p says little of how large it is."""
_NORMAL = NormalDist()

Among = Literal["all", "same group", "different groups"]
Gained = Literal["range", "normal"]
"""Which gains a threshold is made of: those of pairs in the range of p, or of more pairs, moved to it."""


@dataclass(frozen=True)
class Threshold:
    """The gain that most pairs with p near 0.05 do not exceed.

    Attributes:
        among: the pairs: "all", those of the "same group", or those of "different groups".
        gain: the quantile of the gains of the pairs in the range of p; None where no pair is there.
        low: lower end of its interval for other systems like these; None where fewer than half of the draws of systems
            have a pair in the range.
        high: upper end; None as for `low`, and where effective pairs are fewer than `Law.least_pairs`.
        num_pairs: number of pairs that it is made of.
        effective_pairs: how many independent pairs would say as much; fewer, since pairs share systems.
        num_systems: number of systems in these pairs.
        num_all: number of pairs at any p.
    """

    among: Among
    gain: float | None
    low: float | None
    high: float | None
    num_pairs: int
    effective_pairs: float
    num_systems: int
    num_all: int


@dataclass(frozen=True)
class ThresholdDifference:
    """By how much the threshold of pairs of different groups is above that of pairs of the same group.

    Attributes:
        difference: threshold of different groups minus threshold of the same group.
        low: lower end of its interval, from the same draws of systems; None where that of a threshold that it depends
            on is None.
        high: upper end, in the same way.
        differ: whether the interval leaves out 0.
    """

    difference: float
    low: float | None
    high: float | None
    differ: bool


class Points(NamedTuple):
    """The pairs that a threshold is made of, by ascending gain."""

    members: np.ndarray
    """[pair, 2] positions of systems."""
    gains: np.ndarray
    """[pair]"""


def system_draws(seed: int, num_systems: int, count: int) -> np.ndarray:
    """How often each system is drawn, `[draw, system]`: as many draws with replacement as there are systems."""
    draws = Draws(np.zeros(num_systems, np.int32), np.full(num_systems, num_systems, np.uint64))
    drawn = drawn_units(row_keys(seed, _FIRST_ROW + np.arange(count)), draws)
    rows = np.arange(count)[:, None] * num_systems
    return np.bincount((rows + drawn).ravel(), minlength=count * num_systems).reshape(count, num_systems)


def on_draws(points: Points, draws: np.ndarray, quantile: float, gain: float) -> tuple[np.ndarray, np.ndarray]:
    """The quantile of the gains, and the share of those up to `gain`, on each draw of systems `[draw, system]`.

    Each is `[draw]`; NaN where no pair was drawn.
    """
    (a, b), upto = points.members.T, int(np.searchsorted(points.gains, gain, side="right"))
    quantiles, shares, step = np.empty(len(draws)), np.empty(len(draws)), max(1, _PART // len(a))
    for start in range(0, len(draws), step):
        part = slice(start, start + step)
        weights = draws[part, a] * draws[part, b]
        total = weights.sum(axis=1)
        quantiles[part] = weighted_quantiles(points.gains, weights, quantile)
        shares[part] = weights[:, :upto].sum(axis=1) / np.where(total > 0, total, np.nan)
    return quantiles, shares


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, quantile: float) -> np.ndarray:
    """The quantile of ascending values `[value]`, each counted as often as its weight `[row, value]` says: `[row]`.

    It lies between two values in order, as in `numpy.quantile`; NaN in rows without weight.

    Example:
        >>> weighted_quantiles(np.array([1.0, 2.0, 4.0]), np.array([[1, 1, 1], [2, 0, 1], [0, 0, 0]]), 0.75)
        array([3. , 2.5, nan])
    """
    cumulative = np.cumsum(weights, axis=1)
    rank = quantile * (cumulative[:, -1] - 1.0)
    low, high = (
        values[np.minimum((cumulative <= each[:, None]).sum(axis=1), len(values) - 1)]
        for each in (np.floor(rank), np.ceil(rank))
    )
    return np.where(rank < 0.0, np.nan, low + (rank - np.floor(rank)) * (high - low))


def ends_of(drawn: np.ndarray, level: float) -> tuple[float | None, float | None]:
    """The percentile interval of a number on draws `[draw]`; no ends where more than half of them are NaN."""
    defined = drawn[~np.isnan(drawn)]
    if 2 * len(defined) < len(drawn):
        return None, None
    low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return low, high


class Law(NamedTuple):
    """Which quantile is the threshold, and the level of its interval."""

    quantile: float
    level: float

    @property
    def least_pairs(self) -> int:
        r"""The number of pairs from which one of them is likely to be above the true quantile.

        Of n independent pairs none is above it with probability $q^n$. Unless that is at most half of what the interval
        may miss, no interval made of the gains has an upper end that is high enough, and the interval is left open.

        Example:
            >>> Law(0.95, 0.95).least_pairs
            72
        """
        return math.ceil(math.log((1.0 - self.level) / 2.0) / math.log(self.quantile))


def make_threshold(
    among: Among, points: Points, draws: np.ndarray, num_all: int, law: Law
) -> tuple[Threshold, np.ndarray]:
    """The threshold of some pairs, and what it is on each draw of systems, `[draw]`."""
    num_pairs = len(points.gains)
    if not num_pairs:
        return Threshold(among, None, None, None, 0, 0.0, 0, num_all), np.full(len(draws), np.nan)
    gain = float(weighted_quantiles(points.gains, np.ones((1, num_pairs), int), law.quantile)[0])
    drawn, shares = on_draws(points, draws, law.quantile, gain)
    effective = effective_pairs(points.gains <= gain, shares)
    low, high = ends_of(drawn, law.level)
    high = high if effective >= law.least_pairs else None
    return Threshold(among, gain, low, high, num_pairs, effective, len(np.unique(points.members)), num_all), drawn


def effective_pairs(upto: np.ndarray, shares: np.ndarray) -> float:
    r"""How many independent pairs would say as much: $s (1 - s) / v$, and not more than there are.

    Args:
        upto: `[pair]` whether a gain is at most the threshold; s is their share.
        shares: `[draw]` this share on draws of systems; v is its variance.

    Example:
        >>> effective_pairs(np.arange(100) < 95, np.array([0.93, 0.95, 0.97]))
        100.0
        >>> round(effective_pairs(np.arange(100) < 95, np.array([0.85, 0.95, 1.0])), 1)
        12.2
    """
    share, defined = float(upto.mean()), shares[~np.isnan(shares)]
    variance = float(np.var(defined)) if len(defined) else 0.0
    most = float(len(upto))
    return most if share * (1.0 - share) >= most * variance else share * (1.0 - share) / variance


def difference_of(
    same: Threshold, different: Threshold, drawn: tuple[np.ndarray, np.ndarray], law: Law
) -> ThresholdDifference | None:
    """How two thresholds differ, from the thresholds `[draw]` of both on the same draws; None where one is missing."""
    if same.gain is None or different.gain is None:
        return None
    low, high = ends_of(drawn[1] - drawn[0], law.level)
    low, high = low if same.high is not None else None, high if different.high is not None else None
    differ = (low is not None and low > 0.0) or (high is not None and high < 0.0)
    return ThresholdDifference(different.gain - same.gain, low, high, differ)


def moved_gains(gains: np.ndarray, p_values: np.ndarray, p: float, sides: int) -> np.ndarray:
    r"""The gains that pairs would need for this p by the normal law, `[pair]`: $g z_p / z_{p'}$ for a gain g with p'.

    This is $z_p$ standard errors of delta. Two-sided, $z$ is that of half of p.

    Example:
        >>> moved_gains(np.array([2.326348]), np.array([0.01]), 0.05, 1).round(3)
        array([1.645])
    """
    z = np.array([-_NORMAL.inv_cdf(each / sides) for each in p_values.tolist()])
    return gains * -_NORMAL.inv_cdf(p / sides) / z


def few_pairs(numbers: Sequence[float], law: Law) -> list[str]:
    """What a reader should know of thresholds made of such numbers of effective pairs."""
    notes = []
    if 0 in numbers:
        notes.append("no threshold where no pair has a p in the range: widen it (--p-range), or take more systems")
    if any(0 < number < law.least_pairs for number in numbers):
        notes.append(
            f"a threshold of fewer than {law.least_pairs} effective pairs tends to be too low, and its interval has no "
            "upper end"
        )
    return notes
