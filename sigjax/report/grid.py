"""The grid of pairs: which comparison stands where, and how dark its cell is."""

from typing import NamedTuple

from sigjax.records import Comparison, Settings
from sigjax.report.numbers import alpha
from sigjax.report.sections import Family, Section

MAX_GRID = 60
"""Systems in one printed grid; beyond this a grid is no longer read."""


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


def pair_grid(section: Section, family: Family) -> list[list[Comparison | None]]:
    """`[system][system]` in score order; None on and below the diagonal, and where a pair was not compared.

    A one-sided p-value belongs to row minus column, so it stands where its first system is the row, also below the
    diagonal.
    """
    names = [system.name for system in section.systems]
    if first_column(family.comparisons[0].settings) == 0:
        directed = {(one.a, one.b): one for one in family.comparisons}
        return [[directed.get((row, column)) for column in names] for row in names]
    pairs = {frozenset((one.a, one.b)): one for one in family.comparisons}
    return [
        [pairs.get(frozenset((row, column))) if j > i else None for j, column in enumerate(names)]
        for i, row in enumerate(names)
    ]
