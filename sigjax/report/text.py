"""Text: it says everything without colour; on a terminal no row of a table is wider, and files have everything."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rich.cells import cell_len, set_cell_size

from sigjax.records import Comparison, ReportRecord, Settings
from sigjax.records.display import visible
from sigjax.report.sections import (
    MAX_GRID,
    SIGNS,
    PairFamily,
    Section,
    Table,
    blocks,
    mark,
    peer_lines,
    tasks_table,
    thresholds,
)
from sigjax.report.words import column_numbers, filled, is_warning, left_out, short_names
from sigjax.run.host import is_terminal

WHOLE = sys.maxsize
"""The width of files: sentences take `WIDTH_OF_SENTENCES`, rows of tables all they need."""
WIDTH_OF_SENTENCES = 100
MAX_NUMBERS = 8
"""Systems whose p-values still fit side by side; beyond, the grid is drawn in symbols."""
MAX_SECTIONS = 8
"""Tasks whose sections are read on a terminal."""
GAP = "  "
MIN_NAME = 12
MAX_GRID_NAME = 30
SYMBOLS = "█▓▒"
BOLD, GREEN = "1", "1;32"


@dataclass(frozen=True)
class Page:
    """Lines of text, and sentences, which are broken into lines when all is drawn."""

    width: int
    """Columns that sentences may take."""
    room: int
    """Columns that rows of tables may take."""
    color: bool
    lines: list[tuple[str, str, bool]] = field(default_factory=list)
    """Text, its style, and whether it is a sentence."""

    def add(self, line: str = "", style: str = "") -> None:
        """Add a line, which is not broken."""
        self.lines.append((line, style, False))

    def sentence(self, line: str, style: str = "") -> None:
        """Add a sentence in lines that fit; a word that is longer than a line is not broken."""
        self.lines.append((line, style, True))

    def __str__(self) -> str:
        """Return the text; sentences are made visible."""
        sentences = iter(list(map(visible, [text for text, _, is_sentence in self.lines if is_sentence])))
        parts: list[str] = []
        for text, style, is_sentence in self.lines:
            lines = filled(next(sentences).split(" "), self.width, gap=" ") if is_sentence else [text]
            parts += [self.styled(line, style) if line and style else line for line in lines]
        return "\n".join(line.rstrip() for line in parts) + "\n"

    def styled(self, text: str, style: str) -> str:
        """The text in a style, if the page has colours."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text


def to_text(report: ReportRecord, *, width: int | None = None, color: bool = False) -> str:
    """The report as text; see `sigjax.report.to_text`."""

    def draw(page: Page) -> None:
        for note in filter(is_warning, report.notes):
            page.sentence(note, style=BOLD)
            page.add()
        sections = list(blocks(report))
        for section in _tasks(page, sections) if report.measured and len(sections) > 1 else sections:
            _section(page, section)
        for note in report.notes:
            if not is_warning(note):
                page.sentence(f"note: {note}")
        page.add(visible(report.signature))

    return rendered(draw, width, color=color)


def rendered(draw: Callable[[Page], None], width: int | None, *, color: bool) -> str:
    """What `draw` prints on a page of this width, by default that of the terminal, or of files."""
    room = room_for(width)
    page = Page(WIDTH_OF_SENTENCES if room == WHOLE else room, room, color)
    draw(page)
    return str(page)


def room_for(width: int | None) -> int:
    """Columns of text: `width`, by default those of the terminal, or all that there are for files."""
    return width or (shutil.get_terminal_size((80, 0)).columns if is_terminal(sys.stdout) else WHOLE)


def _section(page: Page, section: Section) -> None:
    """One metric: first what was decided, then the systems and the pairs."""
    page.sentence(section.caption, style=BOLD)
    for family in section.families:
        of_which = f"{family.heading.partition(',')[0]}: " if len(section.families) > 1 else ""
        for sentence in filter(None, (family.conclusion, family.warning)):
            names_test = family.only is not None and sentence == family.conclusion
            page.sentence(sentence if names_test else of_which + sentence)
    draw_table(page, section.table)
    if section.key:
        page.sentence(section.key)
        page.add()
    for family in section.families:
        _family(page, family)


def _tasks(page: Page, sections: list[Section]) -> list[Section]:
    """Draw the scores of several tasks; the sections to show: of many tasks on a terminal only that of the suite."""
    every, longest = len(sections[0].systems), max(cell_len(visible(section.metric)) for section in sections)
    most = max(2, (page.room - min(longest, MAX_GRID_NAME)) // 8)  # a score and its gap
    of_all = f"the first {most} of {every}" if most < every else "the"
    page.sentence(f"Scores of {of_all} systems, numbered as in the first table below", style=BOLD)
    draw_table(page, tasks_table(sections, most))
    if page.room == WHOLE or len(sections) <= MAX_SECTIONS:
        return sections
    page.sentence(f"The sections of {len(sections) - 1} tasks are left out on this terminal; --output FILE has them.")
    page.add()
    return sections[:1]


def draw_table(page: Page, table: Table) -> None:
    """Print a table; columns of names share the width that the numbers leave."""
    table, dropped = _fitting(page, table)
    page.add()
    for line in table_lines(table, _width_of_names(page, table)):
        page.add(" ".join(page.styled(cell, GREEN) if cell.endswith("*") else cell for cell in line.split(" ")))
    page.add()
    if dropped:
        page.sentence(f"Left out on this terminal: {', '.join(dropped)}; --output FILE has all columns.")


def _fitting(page: Page, table: Table) -> tuple[Table, list[str]]:
    """The table without as many of its optional columns as it takes to fit, and the names of these columns."""
    optional = list(table.optional)
    dropped: list[str] = []
    names = [row[i] for row in (table.header, *table.rows) for i in table.names]
    longest = max(map(cell_len, names), default=0)
    while optional and _width_of_names(page, table) < min(MIN_NAME, longest):
        name = optional.pop(0)
        at = table.header.index(name)
        header, *rows = [(*row[:at], *row[at + 1 :]) for row in (table.header, *table.rows)]
        table = Table(header, rows, tuple(i - (i > at) for i in table.names))
        dropped.append(name)
    return table, dropped


def _width_of_names(page: Page, table: Table) -> int:
    """Columns for each column of names, so that a row fits."""
    numbers = [cells for i, cells in enumerate(zip(table.header, *table.rows, strict=True)) if i not in table.names]
    taken = sum(cell_len(_right(cells)[0]) + len(GAP) for cells in numbers)
    return (page.room - taken - len(GAP) * (len(table.names) - 1)) // len(table.names)


def table_lines(table: Table, width_of_names: int) -> list[str]:
    """The lines of a table; names are cut to this width, or to `MIN_NAME`."""
    names = list(dict.fromkeys(row[i] for row in table.rows for i in table.names))
    short = dict(zip(names, short_names(names, max(MIN_NAME, width_of_names)), strict=True))
    columns = [
        _left((cells[0], *(short[cell] for cell in cells[1:]))) if number in table.names else _right(cells)
        for number, cells in enumerate(zip(table.header, *table.rows, strict=True))
    ]
    head, *rows = (GAP.join(cells) for cells in zip(*columns, strict=True))
    return [head, "─" * cell_len(head), *rows] if any(table.header) else rows


def _left(cells: tuple[str, ...]) -> list[str]:
    width = max(cell_len(cell) for cell in cells)
    return [set_cell_size(cell, width) for cell in cells]


def _right(cells: tuple[str, ...]) -> list[str]:
    """Numbers under each other, the stars to their right."""
    starred = any(cell.endswith("*") for cell in cells)
    padded = [f"{cell} " if starred and not cell.endswith("*") else cell for cell in cells]
    width = max(len(cell) for cell in padded)
    return [cell.rjust(width) for cell in padded]


def _family(page: Page, family: PairFamily) -> None:
    page.sentence(family.heading, style=BOLD)
    if family.to_best is not None:
        draw_table(page, family.to_best)
        page.sentence(f"{'' if family.settings.correction == 'none' else 'adjusted '}p of all pairs:")
    numbers_fit = len(family.systems) <= MAX_NUMBERS and _width_of_names(page, family.table) >= MIN_NAME
    if family.layout == "grid" and not numbers_fit:
        _draw_symbols(page, family)
    else:
        draw_table(page, family.table if family.only is None else _pair_table(page, family, family.only))
        if family.layout != "pair":
            page.sentence(family.star + ("; columns are numbered like the rows" if family.layout == "grid" else ""))
    for line in (family.method, *peer_lines(family)):
        page.sentence(line)
    page.add()


def _pair_table(page: Page, family: PairFamily, pair: Comparison) -> Table:
    """The table of the only pair; long names are replaced by the numbers of the systems."""
    width, (label, delta), rows = _width_of_names(page, family.table), family.table.rows[0], family.table.rows[1:]
    if cell_len(label) <= width:
        return family.table
    names = [system.name for system in family.systems]
    label = f"delta ({names.index(pair.a) + 1} - {names.index(pair.b) + 1})"
    return replace(family.table, rows=[(label, delta), *rows])


def _draw_symbols(page: Page, family: PairFamily) -> None:
    """The grid with one symbol per pair: two columns a cell where they fit, else one, else fewer systems."""
    every, (most, widest) = len(family.systems), (WHOLE, WHOLE) if page.room == WHOLE else (MAX_GRID, MAX_GRID_NAME)
    digits = max(2, len(str(every)))
    free = page.room - digits - 2
    size = min(every, most, max(2, free - MIN_NAME))
    cell = 2 if 2 * size + MAX_GRID_NAME <= free else 1
    names = list(map(visible, [one.name for one in family.systems[:size]]))
    names = short_names(names, max(1, min(widest, free - cell * size)))
    label = max(cell_len(name) for name in names)
    page.add()
    for line in column_numbers(family.first_column + 1, size):
        page.add(" " * (label + digits + 2) + "".join(digit.ljust(cell) for digit in line))
    for rank, (name, line) in enumerate(zip(names, family.grid(size), strict=True), 1):
        symbols = "".join(_symbol(one).ljust(cell) for one in line)
        page.add(f"{rank:>{digits}} {set_cell_size(name, label)} {symbols}")
    page.add()
    for line in filled(_keys(family.settings), page.width, gap="   "):
        page.add(line)
    if size < every:
        page.sentence(left_out("grid", size, every, every_pair="--output FILE has"))


def _symbol(comparison: Comparison | None) -> str:
    shade = " " if comparison is None else mark(comparison)
    return shade if isinstance(shade, str) else SYMBOLS[shade]


def _keys(settings: Settings) -> list[str]:
    return [*(f"{SYMBOLS[shade]} p < {limit:g}" for shade, limit in enumerate(thresholds(settings))), *SIGNS]
