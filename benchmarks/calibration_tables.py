"""The tables of `calibration.py`: sizes of tests, coverages of intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from calibration_figure import place_in_tables
from intervals import OF_PAIRS, OF_SCIPY, OF_SYSTEM
from nulls import KINDS
from sizes import KEPT
from timing import markdown_table

if TYPE_CHECKING:
    from calibration import Coverage, Size

SEPARATOR = " / "
"""Between the numbers of a cell."""
_KINDS = tuple(dict.fromkeys((*OF_SYSTEM, *OF_PAIRS, OF_SCIPY)))


def summary_table(sizes: Sequence[Size], level: float) -> str:
    """A line a test, a column a kind of data; in each cell the numbers of units in turn."""
    units = list(dict.fromkeys(each.units for each in sizes))
    cells = {(each.test, each.kind, each.units): each for each in sizes if each.level == level}

    def line(test: str, name: str, number: Callable[[Size], float | None]) -> list[str]:
        found = ([cells.get((test, kind, size)) for size in units] for kind in KINDS)
        texts = ([_one_digit(None if each is None else number(each)) for each in row] for row in found)
        return [name, *("" if set(row) == {"-"} else SEPARATOR.join(row) for row in texts)]

    lines = []
    for test in sorted(dict.fromkeys(test for test, _, _ in cells), key=place_in_tables):
        lines.append(line(test, test, lambda each: each.share))
        if test in KEPT:
            lines.append(line(test, "... attainable", lambda each: each.attainable))
    return markdown_table(["test", *KINDS], lines)


def _one_digit(share: float | None) -> str:
    return "-" if share is None else f"{100.0 * share:.1f}"


def sizes_table(sizes: Sequence[Size]) -> str:
    """A line a test, a column a level and a number of units; of one kind of data."""
    columns = list(dict.fromkeys((each.units, each.level) for each in sizes))
    cells = {(each.test, each.units, each.level): each for each in sizes}
    lines = []
    for test in sorted(dict.fromkeys(each.test for each in sizes), key=place_in_tables):
        found = [cells.get((test, *column)) for column in columns]
        lines.append([test, *("" if each is None else _percent(each.share, each.interval) for each in found)])
        if test in KEPT:
            lines.append(["... attainable", *("" if each is None else f"{each.attainable:.2%}" for each in found)])
    return markdown_table(["test", *(f"n = {units:,}, {level:.0%}" for units, level in columns)], lines)


def coverages_table(coverages: Sequence[Coverage]) -> str:
    """A line a target and a number of units, a column a kind of interval; empty where it does not apply."""
    cells = {(each.target, each.units, each.kind): each for each in coverages}
    kinds = [kind for kind in _KINDS if any(each.kind == kind for each in coverages)]
    lines = []
    for target, units in dict.fromkeys((each.target, each.units) for each in coverages):
        found = [cells.get((target, units, kind)) for kind in kinds]
        texts = ("" if each is None else _percent(each.share, each.interval) for each in found)
        lines.append([f"{target}, n = {units:,}", *texts])
    return markdown_table(["", *kinds], lines)


def _percent(share: float, interval: tuple[float, float]) -> str:
    low, high = (f"{100.0 * end:.1f}" for end in interval)
    return f"{100.0 * share:.1f} ({low}-{high})"
