"""The pairs of one metric and one test: their table, the grid of all pairs, and the sentences about them.

Cells are rounded for people, and escaped for no format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from sigjax.records import Comparison, Comparisons, Interval, Settings, SystemScore
from sigjax.records.peers import PeerTest
from sigjax.report.peers import peer_columns
from sigjax.report.words import (
    METHODS,
    format_adjusted_p,
    format_interval,
    format_number,
    format_p_interval,
    format_raw_p,
    number_spec,
    p_interval_label,
    percent,
)

MAX_GRID = 60
"""Systems in one printed grid; nobody reads a larger one."""
MAX_NUMBERS = 12
"""Systems whose p-values still fit into the cells of a drawn grid; beyond, a cell is a shade."""
MAX_NAMED = 8
"""Systems all of whose pairs a page lists; more are described by letters, groups or shades."""


class Table(NamedTuple):
    """Cells as text; columns of names are aligned left and hold what people typed, the others hold numbers.

    Columns that are `optional`, the least important first, are left out where a line is too short.
    """

    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    names: tuple[int, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """The pairs of one metric and one test, adjusted together (or with those of the other metrics).

    Attributes:
        comparisons: the pairs, of which there is at least one.
        systems: from best to worst.
        settings: of the report.
        heading: the test, its alternative and the correction.
        method: how the p-values were computed.
        warning: which decisions are not settled; None where all are.
        only: the only pair; None where there are several.
        conclusion: what the test says of the systems, in one sentence.
        peers: the tests of other programs beside this one, where asked for.
    """

    comparisons: Comparisons
    systems: tuple[SystemScore, ...]
    settings: Settings
    heading: str
    method: str
    warning: str | None
    only: Comparison | None
    conclusion: str
    peers: tuple[PeerTest, ...] = ()

    @property
    def kind(self) -> Literal["pair", "baseline", "grid"]:
        """Which table is drawn."""
        if self.only is not None:
            return "pair"
        return "grid" if self.settings.baseline is None else "baseline"

    @property
    def star(self) -> str:
        """What a star at a p-value means."""
        return f"* p < {self.settings.alpha:g}"

    @cached_property
    def delta_spec(self) -> str:
        """The format of all deltas."""
        return _delta_spec(self.comparisons)

    @cached_property
    def table(self) -> Table:
        """The table of this kind; a grid has all systems."""
        if self.only is not None:
            return _pair_table(self.only, peer_columns(self.peers, self.settings))
        return grid_table(self) if self.kind == "grid" else _baseline_table(self)

    def against(self) -> tuple[str, dict[str, Comparison]]:
        """The baseline, or else the best system, and the comparisons of the others with it, by their names."""
        reference = self.settings.baseline or self.systems[0].name
        a, b = (column.mapped(reference.__eq__) for column in self.comparisons.columns("a", "b"))
        found = self.comparisons.at(np.flatnonzero(a | b))
        return reference, {one.b if one.a == reference else one.a: one for one in found}

    @property
    def first_column(self) -> int:
        """The first column of the grid that is not empty: for a two-sided test nothing is below the diagonal."""
        return 1 if self.settings.alternative == "two-sided" else 0

    def grid(self, size: int) -> list[list[Comparison | None]]:
        """The pairs of the first systems, `[system][system]` from best to worst, without the columns that are empty.

        None on and below the diagonal, and where a pair was not compared. A one-sided p-value belongs to row minus
        column, so it stands where its first system is the row, also below the diagonal.
        """
        names = [system.name for system in self.systems[:size]]
        pairs = {(one.a, one.b): one for one in self.among(size)}
        if self.first_column == 0:
            return [[pairs.get((row, column)) for column in names] for row in names]
        pairs |= {(b, a): one for (a, b), one in pairs.items()}
        return [
            [pairs.get((row, column)) if j > i else None for j, column in enumerate(names[1:], 1)]
            for i, row in enumerate(names)
        ]

    @cached_property
    def to_best(self) -> Table | None:
        """How far each system is behind the best; None for other kinds of tables, and for many systems."""
        if self.kind != "grid" or len(self.systems) > MAX_NAMED:
            return None
        best, pairs = self.against()
        rows = [("1", best, "best", "", "")]
        for rank, name in enumerate([system.name for system in self.systems[1:]], 2):
            if (one := pairs.get(name)) is None:
                rows.append((str(rank), name, "not compared", "", ""))
                continue
            delta, interval = (one.delta, one.interval) if one.a == name else turned_delta(one)
            cells = format_number(delta, self.delta_spec), format_interval(interval, self.delta_spec)
            rows.append((str(rank), name, *cells, format_adjusted_p(one, digits=3)))
        header = ("#", "system", "delta to the best", f"{percent(self.settings.level)} interval", "adjusted p")
        if self.settings.alternative != "two-sided":  # p may be that of the other direction
            header, rows = header[:-1], [row[:-1] for row in rows]
        return Table(header, rows, names=(1,), optional=header[4:])

    def not_listed(self) -> str | None:
        """Where to find pairs that are too many for a list or a printed grid; None where they are not."""
        if self.kind != "grid" or len(self.systems) <= MAX_NAMED:
            return None
        return f"The {len(self.comparisons):,} pairs are left out here; --format csv or json gives them all."

    def among(self, size: int) -> Comparisons:
        """The pairs of the first systems."""
        names = {system.name for system in self.systems[:size]}
        first, second = (column.mapped(names.__contains__) for column in self.comparisons.columns("a", "b"))
        return self.comparisons.at(np.flatnonzero(first & second))


def turned_delta(one: Comparison) -> tuple[float, Interval | None]:
    """The delta of the second system minus the first, and its interval."""
    return -one.delta, None if one.interval is None else Interval(-one.interval.high, -one.interval.low)


def _delta_spec(comparisons: Comparisons) -> str:
    """The format of the deltas of a table: as `number_spec`, with a sign."""
    columns = comparisons.columns("delta", "standard_error", "interval")
    return f"+{number_spec([float(np.fmax.reduce(np.abs(each), axis=None, initial=0.0)) for each in columns])}"


def _pair_table(one: Comparison, peers: Mapping[str, Sequence[str]]) -> Table:
    """One pair, one fact per row."""
    spec = number_spec([one.delta, one.standard_error, *(one.interval or ())])
    rows = [
        (f"delta ({one.a} - {one.b})", format_number(one.delta, f"+{spec}")),
        (f"{percent(one.settings.level)} interval of delta", format_interval(one.interval, f"+{spec}")),
        ("standard error of delta", format_number(one.standard_error, spec)),
    ]
    if one.standard_error_unclustered is not None:
        rows.append(("unclustered", format_number(one.standard_error_unclustered, spec)))
    rows.append(("p", format_raw_p(one)))
    if one.p_interval is not None:
        rows.append((p_interval_label(one), format_p_interval(one.p_interval)))
    if one.p_adjusted != one.p_value:
        rows.append(("adjusted p", format_adjusted_p(one)))
    return Table(("", ""), [*rows, *((name, p_value) for name, (p_value,) in peers.items())], names=(0,))


def pairs_table(families: Sequence[Family], settings: Settings) -> Table:
    """The pairs of one metric, one row per pair and test."""
    comparisons = Comparisons.joined([family.comparisons for family in families])
    spec = _delta_spec(comparisons)
    header = ("a", "b", "test", "delta (a - b)", f"{percent(settings.level)} interval", "p", "adjusted p", "method")
    rows = [(one.a, one.b, one.test, *_delta(one, spec), METHODS[one.method]) for one in comparisons]
    return Table(header, rows, names=(0, 1, 2))


def _baseline_table(family: Family) -> Table:
    """One row per system, from best to worst: its delta to the baseline."""
    header = ("#", "system", "delta to the baseline", f"{percent(family.settings.level)} interval", "p", "adjusted p")
    peers = peer_columns(family.peers, family.settings)
    theirs = dict(zip(family.comparisons.values("a"), zip(*peers.values(), strict=True), strict=False))
    ours = {name: _delta(one, family.delta_spec) for name, one in family.against()[1].items()}
    rows = [
        (str(rank), system.name, *ours.get(system.name, ("baseline", "", "", "")))
        + theirs.get(system.name, ("",) * len(peers))
        for rank, system in enumerate(family.systems, 1)
    ]
    return Table((*header, *peers), rows, names=(1,), optional=("p", *peers))


def _delta(one: Comparison, spec: str) -> tuple[str, ...]:
    delta, interval = format_number(one.delta, spec), format_interval(one.interval, spec)
    return delta, interval, format_raw_p(one), format_adjusted_p(one, digits=3)


def grid_table(family: Family, cell: Callable[[Comparison], str] = format_adjusted_p) -> Table:
    """Adjusted p-values of all pairs; rows have names, columns have the numbers of the rows."""
    size = len(family.systems)
    rows = [
        (str(rank), system.name, *("" if one is None else cell(one) for one in line))
        for rank, (system, line) in enumerate(zip(family.systems, family.grid(size), strict=True), 1)
    ]
    return Table(("#", "system", *map(str, range(family.first_column + 1, size + 1))), rows, names=(1,))


def thresholds(settings: Settings) -> tuple[float, ...]:
    """The limits of p that shades show, strictest first: .001 and .01 where they are stricter than alpha, and alpha.

    Example:
        >>> thresholds(Settings(level=0.95)), thresholds(Settings(level=0.99))
        ((0.001, 0.01, 0.05), (0.001, 0.01))
    """
    return *(limit for limit in (0.001, 0.01) if limit < settings.alpha), settings.alpha


def has_equal_scores(comparison: Comparison) -> bool:
    """Whether there is no difference to test."""
    return comparison.delta == 0 and comparison.p_value == 1


def mark(comparison: Comparison) -> int | str:
    """A pair in a grid without numbers: the first of the `thresholds` that the adjusted p is below, else a sign."""
    if has_equal_scores(comparison):
        return "="
    below = (shade for shade, limit in enumerate(thresholds(comparison.settings)) if comparison.p_adjusted < limit)
    return next(below, "?" if comparison.settled is False else "·")


SIGNS = ("· not significant", "? not settled", "= equal scores")
"""What the signs of `mark` mean."""
