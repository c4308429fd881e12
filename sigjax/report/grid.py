"""The grid of pairs: which comparison stands where, and how dark its cell is."""

from typing import NamedTuple

import numpy as np

from sigjax.records import Comparison, Comparisons, Settings
from sigjax.report.numbers import alpha
from sigjax.report.sections import Family, Section

MAX_GRID = 60
"""Systems in one printed grid; beyond this a grid is no longer read."""
MAX_LISTED = 100
"""Systems all of whose pairs are listed; beyond this the list would be too long for any page."""


class Shades(NamedTuple):
    """Thresholds for p, the darkest first; the last is the one that decides."""

    thresholds: tuple[float, ...]

    def of(self, comparison: Comparison) -> int | None:
        """The index of the first threshold that the adjusted p-value is below; None when not significant."""
        return next((i for i, limit in enumerate(self.thresholds) if comparison.p_adjusted < limit), None)


def shades(settings: Settings) -> Shades:
    """The thresholds .001 and .01 where they are stricter than the level, and the level's own.

    Example:
        >>> shades(Settings(level=0.95)).thresholds, shades(Settings(level=0.99)).thresholds
        ((0.001, 0.01, 0.05), (0.001, 0.01))
    """
    limit = alpha(settings)
    return Shades((*(stricter for stricter in (0.001, 0.01) if stricter < limit), limit))


def has_equal_scores(comparison: Comparison) -> bool:
    """Whether there is no difference to test."""
    return comparison.delta == 0 and comparison.p_value == 1


def first_column(settings: Settings) -> int:
    """The first column of the grid that is shown: the best system has no pair above the diagonal.

    Example:
        >>> first_column(Settings()), first_column(Settings(alternative="greater"))
        (1, 0)
    """
    return 1 if settings.alternative == "two-sided" else 0


def shown_pairs(section: Section, family: Family) -> Comparisons:
    """The pairs that a list of them shows: all, or those of the first `MAX_LISTED` systems.

    With a baseline there are no more pairs than systems, and all are shown.
    """
    if family.comparisons[0].settings.baseline is not None or len(section.systems) <= MAX_LISTED:
        return family.comparisons
    return _among(section, family, MAX_LISTED)


def _among(section: Section, family: Family, size: int) -> Comparisons:
    """The pairs of the first systems, so many, in score order."""
    names = {system.name for system in section.systems[:size]}
    first, second = (family.comparisons.column(name).mapped(names.__contains__) for name in ("a", "b"))
    return family.comparisons.at(np.flatnonzero(first & second))


def pair_grid(section: Section, family: Family, size: int) -> list[list[Comparison | None]]:
    """The first systems, so many, `[system][system]` in score order.

    None on and below the diagonal, and where a pair was not compared.

    A one-sided p-value belongs to row minus column, so it stands where its first system is the row, also below the
    diagonal.
    """
    names, shown = [system.name for system in section.systems[:size]], _among(section, family, size)
    if first_column(family.comparisons[0].settings) == 0:
        directed = {(one.a, one.b): one for one in shown}
        return [[directed.get((row, column)) for column in names] for row in names]
    pairs = {frozenset((one.a, one.b)): one for one in shown}
    return [
        [pairs.get(frozenset((row, column))) if j > i else None for j, column in enumerate(names)]
        for i, row in enumerate(names)
    ]
