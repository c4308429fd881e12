"""Text for a terminal or a file: it says everything without colour, and no row of a table is ever broken."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from sigjax.records import Comparison, Settings
from sigjax.report.grid import MAX_GRID, first_column, has_equal_scores, pair_grid, shades
from sigjax.report.numbers import alpha
from sigjax.report.rows import Table, baseline_table, grid_table, pair_table, systems_table
from sigjax.report.sections import Family, Section, sections
from sigjax.report.visible import visible
from sigjax.report.words import caption, conclusion, heading, key, method_line, too_many, unsettled
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


def console_to(stream: io.StringIO, width: int | None, *, color: bool) -> Console:
    """A console that draws into `stream`, as wide as the terminal when no width is given."""
    return Console(
        file=stream,
        width=width or terminal_width(),
        force_terminal=color,
        force_jupyter=False,
        no_color=not color,
        color_system="standard" if color else None,
        legacy_windows=False,
    )


def to_text(report: Report, *, width: int | None = None, color: bool = False) -> str:
    """The report as text; see `sigjax.report.to_text`."""
    stream = io.StringIO()
    console = console_to(stream, width, color=color)
    for section in sections(report):
        _say(console, caption(section, report), style="bold")
        _draw(console, systems_table(section, report.settings))
        if meaning := key(section, report.settings):
            _say(console, meaning)
            console.print()
        for family in section.families:
            _family(console, section, family, report.settings)
    for note in report.notes:
        _say(console, f"note: {note}")
    console.print(Text(visible(report.signature)), soft_wrap=True)
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
    """Print a table; columns of names share the room that the numbers leave."""
    room = _room_for_names(console, table)
    columns = [
        _left(cells, room) if number in table.names else _right(cells)
        for number, cells in enumerate(zip(table.header, *table.rows, strict=True))
    ]
    head, *rows = (GAP.join(cells) for cells in zip(*columns, strict=True))
    lines = [head, "─" * cell_len(head), *rows] if any(table.header) else rows
    console.print()
    for line in lines:
        _row(console, _starred(line))
    console.print()


def _room_for_names(console: Console, table: Table) -> int:
    """Columns for each column of names, so that a row fits."""
    numbers = [cells for i, cells in enumerate(zip(table.header, *table.rows, strict=True)) if i not in table.names]
    taken = sum(cell_len(_right(cells)[0]) + len(GAP) for cells in numbers)
    return (console.width - taken) // len(table.names)


def _left(cells: tuple[str, ...], room: int) -> list[str]:
    cut = [middle_cut(visible(cell), max(MIN_NAME, room)) for cell in cells]
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


def _family(console: Console, section: Section, family: Family, settings: Settings) -> None:
    _say(console, heading(family, settings), style="bold")
    if len(family.comparisons) == 1:
        _draw(console, pair_table(family.comparisons[0]))
        _say(console, conclusion(family.comparisons[0]))
    elif settings.baseline is not None:
        _draw(console, baseline_table(section, family, baseline=settings.baseline))
        _say(console, f"* p < {alpha(settings):g}")
    elif _numbers_fit(console, section, family):
        _draw(console, grid_table(section, family))
        _say(console, f"* p < {alpha(settings):g}; columns are numbered as the rows are")
    else:
        _draw_symbols(console, section, family, settings)
    if warning := unsettled(family):
        _say(console, warning)
    _say(console, method_line(family))
    console.print()


def _numbers_fit(console: Console, section: Section, family: Family) -> bool:
    if len(section.systems) > MAX_NUMBERS:
        return False
    return _room_for_names(console, grid_table(section, family)) >= MIN_NAME


def _draw_symbols(console: Console, section: Section, family: Family, settings: Settings) -> None:
    """The grid with one symbol a pair: two columns a cell where they fit, else one, else fewer systems."""
    size = min(len(section.systems), MAX_GRID, max(2, console.width - MIN_NAME - 4))
    cell = 2 if 2 * size + MAX_GRID_NAME + 4 <= console.width else 1
    label = max(1, min(MAX_GRID_NAME, console.width - cell * size - 4))
    names = [middle_cut(visible(system.name), label) for system in section.systems[:size]]
    label = max(cell_len(name) for name in names)
    console.print()
    first = first_column(settings)
    for digits in _column_numbers(first, size):
        _row(console, Text(" " * (label + 4) + "".join(digit.ljust(cell) for digit in digits)))
    for rank, (name, line) in enumerate(zip(names, pair_grid(section, family, size), strict=True), 1):
        symbols = "".join(_symbol(one).ljust(cell) for one in line[first:size])
        _row(console, Text(f"{rank:>2} {set_cell_size(name, label)} {symbols}"))
    console.print()
    _say(console, _legend(settings))
    if size < len(section.systems):
        _say(console, too_many(section, size, every_pair="--format json gives"))


def _column_numbers(first: int, size: int) -> list[list[str]]:
    """The numbers of the columns written downwards, tens above units."""
    numbers = range(first + 1, size + 1)
    tens = [[str(number // 10) if number % 10 == 0 else " " for number in numbers]] if size >= 10 else []
    return [*tens, [str(number % 10) for number in numbers]]


def _symbol(comparison: Comparison | None) -> str:
    if comparison is None:
        return " "
    if has_equal_scores(comparison):
        return "="
    shade = shades(comparison.settings).of(comparison)
    if shade is None:
        return "?" if comparison.settled is False else "·"
    return SYMBOLS[shade]


def _legend(settings: Settings) -> str:
    keys = [f"{SYMBOLS[shade]} p < {limit:g}" for shade, limit in enumerate(shades(settings).thresholds)]
    return "   ".join([*keys, "· not significant", "? not settled", "= equal scores"])
