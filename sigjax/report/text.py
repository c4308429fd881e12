"""Text: a headline and a table for each metric. Files and verbose output also have all details.

Colours add no information. On a terminal, no row of a table is wider than the terminal.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size

import sigjax.report.words as words
from sigjax.records import ReportRecord
from sigjax.records.display import visible
from sigjax.report.sections import (
    MAX_GRID,
    PairFamily,
    Section,
    Table,
    blocks,
    metrics_table,
    named_headlines,
    tasks_table,
)
from sigjax.run.context import is_terminal

WHOLE = sys.maxsize
"""The width of a page without a limit, as in files: rows of tables are never broken, and sentences are broken at
`WIDTH_OF_SENTENCES`."""
WIDTH_OF_SENTENCES = 100
MAX_NUMBERS = 8
"""On a terminal, the p-values of at most this many systems fit side by side."""
GAP = "  "
MIN_NAME = 12
MAX_GRID_NAME = 30
BOLD, DIM, GREEN, YELLOW = "1", "2", "1;32", "1;33"
MAX_LINES = 3
"""A name in a table has at most this many lines. The rest of the name is cut."""
MAX_TOGETHER = 12
"""The scores by several metrics are shown in one table if there are at most this many systems."""


@dataclass(frozen=True)
class Page:
    """A page of text. Its sentences are broken into lines of `width` characters when the page is finished.

    `room` is the largest width of a table. An entry of `lines` is a text, its style, and whether it is a sentence. A
    `short` page has p-values in the form for screens.
    """

    width: int
    room: int
    color: bool
    short: bool
    lines: list[tuple[str, str, bool]] = field(default_factory=list)

    def add(self, line: str = "", style: str = "") -> None:
        """Add a line that must not be broken."""
        self.lines.append((line, style, False))

    def sentence(self, line: str, style: str = "") -> None:
        """Add a sentence, which `__str__` breaks into lines that fit. Only words longer than a line do not fit."""
        self.lines.append((words.without_digits(line) if self.short else line, style, True))

    def gap(self) -> None:
        """Add an empty line, unless the last line is empty."""
        if self.lines and self.lines[-1][0]:
            self.add()

    def __str__(self) -> str:
        """Return the text of the page. Control characters in sentences become visible."""
        parts: list[str] = []
        for text, style, is_sentence in self.lines:
            lines = words.filled(visible(text).split(" "), self.width, gap=" ") if is_sentence else [text]
            parts += [self.styled(line, style) if line and style else line for line in lines]
        return "\n".join(line.rstrip() for line in parts) + "\n"

    def styled(self, text: str, style: str) -> str:
        """Return the text with the escape codes of a style if the page has colours; else the text alone."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text


_SHOWN_NOTES = ("noise", "discoveries", "wins")
"""The codes of the notes that are shown even on a screen without --verbose."""


def to_text(
    report: ReportRecord,
    *,
    width: int | None = None,
    color: bool = False,
    verbose: bool = False,
    more: str = "--verbose or -o FILE",
) -> str:
    """Return the report in lines of at most `width` characters.

    By default, this is the width of the terminal. If there is no terminal, lines of tables have any width.

    `verbose` adds all pairs, letters, standard errors, the method, notes and the signature. Otherwise a line says that
    `more` (an option or a method) shows all of this.
    """

    def draw(page: Page) -> None:
        for note in filter(words.is_warning, report.notes):
            page.sentence(note, style=YELLOW)
            page.add()
        sections = list(blocks(report))
        titles = {one.metric: one.title for one in report.measured}
        if any(one.in_suite for one in report.measured) and len(sections) > 1:
            sections = _tasks(page, sections, verbose=verbose)
        elif not verbose and _draw_together(page, sections, titles):
            sections = []
        for section in sections:
            page.gap()
            _section(page, section, verbose=verbose)
        notes = [note for note in report.notes if not words.is_warning(note)]
        if verbose:
            page.gap()
            for note in notes:
                page.sentence(f"note: {note}", style=DIM)
            page.add(visible(report.signature), style=DIM)
            return
        shown = [note for note in notes if getattr(note, "code", "") in _SHOWN_NOTES or words.IDENTICAL in note]
        if 0 < len(shown) <= MAX_LINES:  # there may be one note for each task
            notes = [note for note in notes if note not in shown]
            for note in shown:
                page.sentence(f"{note[0].upper()}{note[1:]}{'' if note.endswith('.') else '.'}")
        in_files = len(report.comparisons) > 1 and len({one.name for one in report.systems}) <= MAX_GRID
        has = ["all pairs"] * in_files + [words.count(len(notes), "note")] * bool(notes) + ["method", "signature"]
        page.sentence(f"More: {more} ({', '.join(has)})", style=DIM)

    return rendered(draw, width, color=color, short=not verbose)


def columns() -> int | None:
    """Return the width of stdout in characters; None if it is unknown. All code that prints text uses this function.

    The width comes from the environment variable `COLUMNS` (even if stdout is a pipe), else from the terminal.
    """
    given = os.environ.get("COLUMNS", "")
    if is_terminal(sys.stdout) or (given.isdecimal() and int(given) > 0):
        return shutil.get_terminal_size((80, 0)).columns
    return None


def rendered(
    draw: Callable[[Page], None],
    width: int | None,
    *,
    color: bool,
    sentences: int = WIDTH_OF_SENTENCES,
    short: bool | None = None,
) -> str:
    """Return the text that `draw` adds to a page of this `width`; by default, this is the width of the terminal.

    If there is no terminal, lines of tables have any width, and sentences have at most the width `sentences`. Then
    p-values have all digits, unless the page is `short`.
    """
    room = width or columns() or WHOLE
    page = Page(sentences if room == WHOLE else room, room, color, room < WHOLE if short is None else short)
    draw(page)
    return str(page)


def _section(page: Page, section: Section, *, verbose: bool) -> None:
    """Draw one metric: the headline and its basis, then the table, and in verbose output the pairs."""
    page.sentence(section.caption)
    page.gap()
    _conclusions(page, [section])
    shown = _draw_systems(page, section, verbose=verbose)
    _legend(page, [section], shown, every_pair=verbose)
    if verbose and section.key:
        page.sentence(section.key)
    for family in section.families:
        # In a one-sided test, p is for one order of the two systems. Among the tables, only the grid shows this order.
        if verbose or (family.layout == "grid" and family.settings.alternative != "two-sided"):
            _family(page, family)


def _draw_systems(page: Page, section: Section, *, verbose: bool) -> list[str]:
    """Draw the table of a metric, with headers of one line. Return the headers of the columns that are shown."""
    table = section.table if verbose else section.table.without(section.table.details)
    header = [_JOINT.sub(r"joint \1", title).removesuffix(", each pair alone") for title in table.header]
    in_best = [row for row, one in enumerate(section.systems) if one.in_top_group]
    shown, size = max([_SHOWN_SYSTEMS, *(row + 1 + _SHOWN_SYSTEMS // 2 for row in in_best[-1:])]), len(table.rows)
    rows = table.rows
    if in_best and page.short and page.room < WHOLE and shown + _LEAST_HIDDEN < size:
        rows = [*rows[:shown], rows[-1]]
    dropped = draw_table(page, replace(table, header=tuple(header), rows=rows))
    if len(rows) < size:
        page.sentence(f"{size - len(rows):,} systems between the last two rows are left out; --verbose has them.", DIM)
    return list((Counter(header) - Counter(dropped)).elements())


_SHOWN_SYSTEMS, _LEAST_HIDDEN = 20, 5
"""If a table has many systems, a screen shows the first `_SHOWN_SYSTEMS` systems and the last system. The systems in
between are hidden only if there are at least `_LEAST_HIDDEN` of them."""
_JOINT = re.compile(r"^(\S+ interval), joint \(.*\)$")


def _conclusions(page: Page, sections: Sequence[Section]) -> None:
    """Draw the results of each metric, and the warnings about undecided pairs, each sentence once."""
    styled = dict.fromkeys(named_headlines(sections), BOLD)
    for section in sections:
        metric = f"{section.title}: " if len(sections) > 1 else ""
        for family in section.families:
            test = f"{family.test} test: " if len(section.families) > 1 else ""
            styled |= {f"{metric}{test}{family.warning}": YELLOW} if family.warning else {}
    for sentence, style in styled.items():
        page.sentence(sentence, style)
    pairs = [family.only for section in sections for family in section.families]
    if page.short and len(pairs) == 1 and (pair := pairs[0]) is not None and pair.delta:
        if not words.is_significant(pair) and pair.settings.alternative == "two-sided":
            page.sentence(_NOT_EQUAL)


_NOT_EQUAL = (
    "This does not show that they are equally good (sigjax equivalence). More instances could tell them apart "
    "(sigjax power)."
)


def _legend(
    page: Page, sections: Sequence[Section], columns: Collection[str] = (), *, every_pair: bool = False
) -> None:
    """Draw the meaning of the shown columns and of p, and the confidence of ranks, each sentence once.

    `columns` are the headers of the columns that are shown. `every_pair`: whether all pairs are shown.
    """
    cells = [cell for section in sections for row in section.table.rows for cell in row]
    is_marked = every_pair or any(isinstance(cell, words.PText) and cell.endswith("?") for cell in cells)
    # The intervals of scores are dropped before the intervals of deltas. So if any interval is shown, deltas have one.
    has_deltas = any(title.endswith("interval") for title in columns)
    families = [family for section in sections for family in section.families if family.only is None]
    lines: list[tuple[str, str]] = []
    if "rank" in columns:
        lines.append(("rank", "the ranks that the tests leave. Systems of the best group can have rank 1"))
    for family in families if columns else []:
        joint = [number for number in family.comparisons.values("joint_pairs") if number is not None]
        if joint and has_deltas:
            alone = "of the delta, for each pair alone"
            together = f"of the delta, simultaneous for {words.count(max(joint), 'pair')}"
            lines.append(("interval", together if max(joint) > 1 else alone))
    for family in families:
        unsure = "; ? undecided" * (family.warning is not None and is_marked)
        lines.append(("p", f"{family.heading}; {family.star}{unsure}"))
    for name, text in dict.fromkeys(lines):
        page.sentence(f"{name}: {text}", DIM)
    for family in families if columns else []:
        for text in filter(None, (family.promise, family.contradiction if has_deltas else "")):
            page.sentence(f"{text[0].upper()}{text[1:]}.", DIM)


def _draw_together(page: Page, sections: Sequence[Section], measured: Mapping[str, str]) -> bool:
    """Draw several metrics of few systems in one table, if they fit; return whether they fit.

    `measured` is a dict from a metric to its title, which names its task.
    """
    if len(sections) < 2 or len(sections[0].systems) > MAX_TOGETHER:
        return False
    full = [measured.get(section.metric, section.title) for section in sections]
    ends = (words.LOWER, words.HIGHER)
    shown = [
        next((one.caption.removesuffix(end) for end in ends if one.caption.endswith(end)), one.caption)
        for one in sections
    ]
    on = [caption.removeprefix(title) for caption, title in zip(shown, full, strict=True)]
    tasks = {measured.get(section.metric, "").rpartition(": ")[0] for section in sections}
    if len({*on}) > 1 or len(tasks) > 1:
        return False
    families = [family for section in sections for family in section.families]
    one_test = all(len(section.families) == 1 for section in sections)
    if not one_test or families[0].settings.alternative != "two-sided":
        return False
    table, dropped = metrics_table(sections), []
    # If the names do not fit, drop the intervals of all metrics, not only of some metrics.
    if width_of_names(page.room, table) < _longest_name(table):
        table, dropped = table.without(table.optional), [table.header[i] for i in table.optional]
    if width_of_names(page.room, table) < MIN_NAME:
        return False
    lower = [section.caption.endswith(words.LOWER) for section in sections]
    titles = [
        f"{section.title} (lower is better)" if own and not all(lower) else section.title
        for section, own in zip(sections, lower, strict=True)
    ]
    task = "".join(f"{task}: " for task in filter(None, tasks))
    page.sentence(f"{task}{words.joined(titles)}{on[0]}{words.LOWER * all(lower)}")
    page.gap()
    _conclusions(page, sections)
    draw_table(page, table, dropped)
    _legend(page, sections)
    return True


def _tasks(page: Page, sections: list[Section], *, verbose: bool) -> list[Section]:
    """Draw a suite (a mean over tasks) and the scores of its tasks. Return the sections that are left to draw.

    No section is left unless `verbose`.
    """
    _section(page, sections[0], verbose=verbose)
    every, longest = len(sections[0].systems), max(cell_len(visible(section.title)) for section in sections)
    most = max(2, (page.room - min(longest, MAX_GRID_NAME)) // 8)  # a score and its gap take 8 characters
    names = [visible(one.name) for one in sections[0].systems]
    if min(longest, MAX_GRID_NAME) + sum(max(cell_len(name), 6) + len(GAP) for name in names) <= min(page.room, 120):
        page.sentence("Scores of all tasks")
        table = tasks_table(sections, every)
        draw_table(page, replace(table, header=(table.header[0], *names)))
    else:
        of_all = f"the first {most} of {every}" if most < every else "the"
        page.sentence(f"Scores of {of_all} systems, in the order of the table above")
        draw_table(page, tasks_table(sections, most))
    return sections[1:] if verbose else []


def draw_table(page: Page, table: Table, dropped: Sequence[str] = (), *, most: int = WHOLE) -> Sequence[str]:
    """Draw a table; return the titles of all columns that are left out.

    `dropped` are the titles of columns that the table no longer has; they count as left out. `most` is the largest
    width of a column of names, in characters. Columns of names get the width that the other columns leave.

    If the table is too wide, optional columns are dropped until the names fit. If this is not enough, the beginning and
    the end that all names have in common are left out. Then names are broken into lines, and finally cut.
    """
    if page.short:
        shown = [[cell.short if isinstance(cell, words.PText) else cell for cell in row] for row in table.rows]
        table = replace(table, rows=list(map(tuple, shown)))
    ends = words.shared_ends([row[i] for row in table.rows for i in table.names])
    titles = max((cell_len(table.header[i]) for i in table.names), default=0)
    needed = max(titles, _longest_name(table) - sum(map(cell_len, ends)))
    # If there are several columns of names, names may be broken before optional columns are dropped.
    needed = min(needed, most if len(table.names) == 1 else MIN_NAME)
    dropped = list(dropped)
    while table.optional and width_of_names(page.room, table) < needed:
        dropped.append(table.header[table.optional[0]])
        table = table.without(table.optional[:1])
    width = min(width_of_names(page.room, table), most)
    page.add()
    if any(ends) and width < _longest_name(table) and page.room < WHOLE:
        common = " and ".join([repr(end) for end in ends if end])
        page.sentence(f"names without their common {common}", style=DIM)
        cut = slice(len(ends[0]), -len(ends[1]) or None)
        rows = [tuple([cell[cut] if i in table.names else cell for i, cell in enumerate(row)]) for row in table.rows]
        table = replace(table, rows=rows)
    for line in table_lines(table, width):
        page.add(" ".join(page.styled(cell, GREEN) if cell.endswith(("*", "*?")) else cell for cell in line.split(" ")))
    page.add()
    if dropped:
        hidden = ", ".join(dict.fromkeys(map(_full_title, dropped)))
        page.sentence(f"Left out on this terminal: {hidden}; -o FILE has all columns.", style=DIM)
    return dropped


def _full_title(title: str) -> str:
    """Return the title of a column in full, for a text in which no other columns explain a short title."""
    first, joint, _ = title.partition(", ")
    is_of_deltas = joint or first.startswith("joint ")
    return f"{first} of {'deltas' if is_of_deltas else 'scores'}" if first.endswith(" interval") else title


def _longest_name(table: Table) -> int:
    return max((cell_len(row[i]) for row in table.rows for i in table.names), default=0)


def width_of_names(room: int, table: Table) -> int:
    """Return the width of each column of names with which a row fits into `room`.

    If there are no columns of names, return the part of `room` that the other columns leave.
    """
    parts = zip(*_headings(table), *table.rows, strict=True)
    numbers = [cells for i, cells in enumerate(parts) if i not in table.names]
    taken = sum(cell_len(_right(cells)[0]) + len(GAP) for cells in numbers)
    return (room - taken - len(GAP) * (len(table.names) - 1)) // max(1, len(table.names))


def table_lines(table: Table, width_of_names: int) -> list[str]:
    """Return the lines of a table. Names are broken into lines of this width and cut after `MAX_LINES` lines.

    A width below `MIN_NAME` counts as `MIN_NAME`.
    """
    names, width = list(dict.fromkeys(row[i] for row in table.rows for i in table.names)), max(MIN_NAME, width_of_names)
    short = dict(zip(names, words.short_names(names, MAX_LINES * width), strict=True))
    rows: list[tuple[str, ...]] = []
    for row in table.rows:
        cells = [words.wrapped_name(short[cell], width) if i in table.names else [cell] for i, cell in enumerate(row)]
        rows += zip_longest(*cells, fillvalue="")
    headings = _headings(table)
    columns: list[list[str]] = []
    for number, cells in enumerate(zip(*headings, *rows, strict=True)):
        longest = max(map(cell_len, cells))
        columns.append([set_cell_size(cell, longest) for cell in cells] if number in table.names else _right(cells))
    lines = [GAP.join(cells) for cells in zip(*columns, strict=True)]
    at = len(headings)
    return [*lines[:at], "─" * cell_len(lines[0]), *lines[at:]] if any(table.header) else lines[at:]


def _headings(table: Table) -> list[tuple[str, ...]]:
    """Return the lines of the header. Titles are broken after commas, and aligned at the bottom."""
    cells = [cell.replace(", ", ",\n").split("\n") for cell in table.header]
    most = max(map(len, cells), default=1)
    return list(zip(*([""] * (most - len(lines)) + lines for lines in cells), strict=True))


def _right(cells: tuple[str, ...]) -> list[str]:
    stars = [len(cell) - len(cell.rstrip("*?")) for cell in cells]
    padded = [cell + " " * (max(stars) - own) for cell, own in zip(cells, stars, strict=True)]
    width = max(len(cell) for cell in padded)
    return [cell.rjust(width) for cell in padded]


def _family(page: Page, family: PairFamily) -> None:
    page.gap()
    page.sentence(family.heading, style=BOLD)
    if family.layout == "grid":
        most = MAX_GRID if page.room == WHOLE else MAX_NUMBERS
        if len(family.systems) <= most and width_of_names(page.room, family.table) >= MIN_NAME:
            page.sentence(f"{family.p_title} of all pairs; columns are numbered like the rows")
            draw_table(page, family.table)
        else:
            page.sentence(family.pairs_elsewhere)
    elif family.only is not None:
        draw_table(page, family.table)
    page.sentence(family.method)
    page.add()
