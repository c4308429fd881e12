"""Text for a terminal or a file: it says everything without colour, and no row of a table is ever broken."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from sigjax.records import Comparison, Settings
from sigjax.report.blocks import blocks
from sigjax.report.pairs import MAX_GRID, SIGNS, Family, Table, left_out, mark, thresholds
from sigjax.report.words import visible
from sigjax.run.host import is_terminal

if TYPE_CHECKING:
    from sigjax.report.report import Report

WIDTH_OF_FILES = 100
MAX_NUMBERS = 8
"""Systems whose p-values still fit side by side; beyond, the grid is drawn in symbols."""
GAP = "  "
MIN_NAME = 12
MAX_GRID_NAME = 30
SYMBOLS = "█▓▒"


def to_text(report: Report, *, width: int | None = None, color: bool = False) -> str:
    """The report as text; see `sigjax.report.to_text`."""

    def draw(console: Console) -> None:
        for section in blocks(report):
            _say(console, section.caption, style="bold")
            _draw(console, section.table)
            if section.key:
                _say(console, section.key)
                console.print()
            for family in section.families:
                _family(console, family)
        for note in report.notes:
            _say(console, f"note: {note}")
        console.print(Text(visible(report.signature)), soft_wrap=True)

    return rendered(draw, width, color=color)


def rendered(draw: Callable[[Console], None], width: int | None, *, color: bool) -> str:
    """What `draw` prints on a console that is as wide as the terminal when no width is given."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width or terminal_width(),
        force_terminal=color,
        force_jupyter=False,
        no_color=not color,
        color_system="standard" if color else None,
        legacy_windows=False,
    )
    draw(console)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def terminal_width() -> int:
    """Columns of the terminal, or of files."""
    return Console().width if is_terminal(sys.stdout) else WIDTH_OF_FILES


def middle_cut(text: str, width: int) -> str:
    """Text cut in the middle to `width` columns, so that a common beginning does not hide which system it is.

    Example:
        >>> middle_cut("transformer-big-seed-3", 12)
        'transf…eed-3'
    """
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    end = text[-tail:] if tail else ""
    while cell_len(end) > tail:
        end = end[1:]
    return f"{set_cell_size(text, width - 1 - cell_len(end)).rstrip()}…{end}"


def _say(console: Console, line: str, *, style: str = "") -> None:
    console.print(Text(visible(line), style=style))


def _row(console: Console, row: Text) -> None:
    console.print(row, no_wrap=True, overflow="ignore", crop=False)


def _draw(console: Console, table: Table) -> None:
    """Print a table; columns of names share the width that the numbers leave."""
    console.print()
    for line in table_lines(table, _width_of_names(console, table)):
        _row(console, _starred(line))
    console.print()


def _width_of_names(console: Console, table: Table) -> int:
    """Columns for each column of names, so that a row fits."""
    numbers = [cells for i, cells in enumerate(zip(table.header, *table.rows, strict=True)) if i not in table.names]
    taken = sum(cell_len(_right(cells)[0]) + len(GAP) for cells in numbers)
    return (console.width - taken) // len(table.names)


def table_lines(table: Table, width_of_names: int) -> list[str]:
    """The lines of a table; names are cut in the middle to this width, or to `MIN_NAME`."""
    columns = [
        _left(cells, width_of_names) if number in table.names else _right(cells)
        for number, cells in enumerate(zip(table.header, *table.rows, strict=True))
    ]
    head, *rows = (GAP.join(cells) for cells in zip(*columns, strict=True))
    return [head, "─" * cell_len(head), *rows] if any(table.header) else rows


def _left(cells: tuple[str, ...], width: int) -> list[str]:
    cut = [middle_cut(visible(cell), max(MIN_NAME, width)) for cell in cells]
    width = max(cell_len(cell) for cell in cut)
    return [set_cell_size(cell, width) for cell in cut]


def _right(cells: tuple[str, ...]) -> list[str]:
    """Numbers under each other, the stars to their right."""
    starred = any(cell.endswith("*") for cell in cells)
    padded = [f"{cell} " if starred and not cell.endswith("*") else cell for cell in cells]
    width = max(len(cell) for cell in padded)
    return [cell.rjust(width) for cell in padded]


def _starred(line: str) -> Text:
    text = Text(line)
    text.highlight_regex(r"\S+\*(?= |$)", "bold green")
    return text


def _family(console: Console, family: Family) -> None:
    _say(console, family.heading, style="bold")
    if family.kind == "grid" and not _numbers_fit(console, family):
        _draw_symbols(console, family)
    else:
        _draw(console, family.table)
        if family.kind != "pair":
            _say(console, family.star + ("; columns are numbered like the rows" if family.kind == "grid" else ""))
    for sentence in (family.conclusion, family.warning, family.method):
        if sentence:
            _say(console, sentence)
    console.print()


def _numbers_fit(console: Console, family: Family) -> bool:
    return len(family.systems) <= MAX_NUMBERS and _width_of_names(console, family.table) >= MIN_NAME


def _draw_symbols(console: Console, family: Family) -> None:
    """The grid with one symbol per pair: two columns a cell where they fit, else one, else fewer systems."""
    size = min(len(family.systems), MAX_GRID, max(2, console.width - MIN_NAME - 4))
    cell = 2 if 2 * size + MAX_GRID_NAME + 4 <= console.width else 1
    label = max(1, min(MAX_GRID_NAME, console.width - cell * size - 4))
    names = [middle_cut(visible(system.name), label) for system in family.systems[:size]]
    label = max(cell_len(name) for name in names)
    console.print()
    for digits in _column_numbers(family.first_column + 1, size):
        _row(console, Text(" " * (label + 4) + "".join(digit.ljust(cell) for digit in digits)))
    for rank, (name, line) in enumerate(zip(names, family.grid(size), strict=True), 1):
        symbols = "".join(_symbol(one).ljust(cell) for one in line)
        _row(console, Text(f"{rank:>2} {set_cell_size(name, label)} {symbols}"))
    console.print()
    _say(console, _legend(family.settings))
    if size < len(family.systems):
        _say(console, left_out("grid", size, len(family.systems), every_pair="--format json gives"))


def _column_numbers(first: int, last: int) -> list[list[str]]:
    """The numbers of the columns written downwards, tens above units."""
    numbers = range(first, last + 1)
    tens = [[str(number // 10) if number % 10 == 0 else " " for number in numbers]] if last >= 10 else []
    return [*tens, [str(number % 10) for number in numbers]]


def _symbol(comparison: Comparison | None) -> str:
    shade = " " if comparison is None else mark(comparison)
    return shade if isinstance(shade, str) else SYMBOLS[shade]


def _legend(settings: Settings) -> str:
    keys = [f"{SYMBOLS[shade]} p < {limit:g}" for shade, limit in enumerate(thresholds(settings))]
    return "   ".join([*keys, *SIGNS])
