"""The classical tests beside the resampling tests, as a table for a terminal and as JSON."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sigjax.classical.tests import ClassicalTest
from sigjax.records import Comparison
from sigjax.records.visible import visible, visible_json
from sigjax.report.programs import PAIR_KEYS
from sigjax.report.text import WHOLE, WIDTH_OF_SENTENCES, room_for
from sigjax.report.words import ALTERNATIVES, METHODS, count, format_number, format_p, format_raw_p, number_spec

if TYPE_CHECKING:
    from sigjax.classical.classical import ClassicalTests

SCHEMA = "sigjax-tests/1"
ASSUMES = {
    "permutation": "outputs for a unit may be swapped",
    "bootstrap": "units are a random sample, and many",
}
GROUPS = {True: "paired tests", False: "tests of independent systems"}
Row = tuple[str, str, str, str]


def to_text(result: ClassicalTests, *, width: int | None = None, color: bool = False) -> str:
    """The tests as text: the scores, a table of tests, the cost of assuming independence, what was left out and why."""
    stream, room = io.StringIO(), room_for(width)
    console = Console(
        file=stream,
        width=WIDTH_OF_SENTENCES if room == WHOLE else room,
        force_terminal=color,
        force_jupyter=False,
        no_color=not color,
        color_system="standard" if color else None,
        legacy_windows=False,
    )
    spec = number_spec([result.score_a, result.score_b])
    console.print(Text(visible(f"{result.metric}: {count(result.num_units, 'unit')}"), style="bold"))
    names = [visible(name) for name in (result.a, result.b)]
    widest = max(map(cell_len, names))
    for name, score in zip(names, (result.score_a, result.score_b), strict=True):
        console.print(Text(f"{set_cell_size(name, widest)}  {format_number(score, spec)}"))
    console.print(f"delta {format_number(result.delta, f'+{spec}')}, {ALTERNATIVES[result.alternative]}")
    console.print()
    console.print(_table(result))
    console.print()
    for line in (_dependence(result), *_left_out(result), *(f"note: {note}" for note in result.notes)):
        console.print(Text(visible(line)))
    console.print(Text(visible(result.signature)), soft_wrap=True)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def to_json(results: Iterable[ClassicalTests]) -> str:
    """Results, one per metric, as JSON: numbers are not rounded, what is missing is null."""
    return visible_json({"schema": SCHEMA, "results": [_plain(result) for result in results]}, indent=2)


def _plain(result: ClassicalTests) -> dict[str, Any]:
    fields = dict(result.__dict__)
    fields |= {"tests": [asdict(test) for test in result], "left_out": [asdict(each) for each in result.left_out]}
    return fields | {"comparisons": _compared(result.comparisons), "second": _compared(result.second)}


def _compared(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    return [{key: getattr(one, key) for key in PAIR_KEYS} | {"seed": one.settings.seed} for one in comparisons]


def _table(result: ClassicalTests) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), collapse_padding=True, header_style="bold")
    groups = [("resampling", _resampled(result))]
    groups += [(title, [_row(test) for test in result if test.paired == paired]) for paired, title in GROUPS.items()]
    rows = [row for _, group in groups for row in group]
    table.add_column("test", no_wrap=True, min_width=max(cell_len(row[0]) for row in rows) + 2)
    table.add_column("statistic", justify="right", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("assumes, besides independent units, that")
    for title, group in groups:
        if group:
            table.add_row(Text(title, style="italic"))
        for name, *cells in group:
            table.add_row(Text(f"  {name}"), *(Text(cell) for cell in cells))
    return table


def _resampled(result: ClassicalTests) -> list[Row]:
    """The resampling tests, each with its second run below it."""
    spec = number_spec([result.delta])
    rows: list[Row] = []
    for first in result.comparisons:
        for one in (first, *(other for other in result.second if other.test == first.test)):
            seed = f", seed {one.settings.seed}" if one.method == "montecarlo" else ""
            name = f"{one.test} ({METHODS[one.method]}{seed})"
            rows.append((name, format_number(one.delta, f"+{spec}"), format_raw_p(one), ASSUMES[one.test]))
    return rows


def _row(test: ClassicalTest) -> Row:
    rank_or_count = (2.0 * test.statistic).is_integer()
    statistic = f"{test.statistic:z,.10g}" if rank_or_count else f"{test.statistic:z.4g}"
    return test.name, statistic, format_p(test.p_value, digits=3, threshold=0.05), test.assumes


def _dependence(result: ClassicalTests) -> str:
    """The correlation of the systems, and what it costs to ignore it."""
    if result.correlation is None:
        return "r12 (correlation of the systems): none"
    text = f"r12 (correlation of the systems) = {result.correlation:z.2f}"
    if result.factor is None:
        return f"{text}; delta does not vary"
    cost = "assuming independent systems multiplies the standard deviation of delta by this factor"
    return f"{text}; s_d-ind / s_d = {result.factor:.2f}: {cost}"


def _left_out(result: ClassicalTests) -> list[str]:
    """One line for each reason."""
    reasons: dict[str, list[str]] = {}
    for each in result.left_out:
        reasons.setdefault(each.reason, []).append(each.name)
    return [f"left out: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
