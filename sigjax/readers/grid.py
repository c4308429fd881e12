"""Rows of cells, as a file of any kind holds them -> a table: where its header is, and what is no row of it.

The header is the first line of names over columns of numbers. Titles above it and notes below the rows are skipped,
and said. Two lines of header, as merged cells and a MultiIndex of pandas make them, are joined to one. Columns and last
rows that hold nothing are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NoReturn

from sigjax.readers.options import listing, quote
from sigjax.readers.roles import is_id_name
from sigjax.readers.table import DataColumn, DataTable, is_missing, is_text, may_be_number
from sigjax.records import Hint, InputError, Line

NumberedRows = Iterable[tuple[int, list[str]]]
"""The number of each line or row, and its cells."""
_HEAD = 50
"""Rows that tell where the header is."""
_MOST_TITLES = 5
_MOST_NOTES = 3
_MARKED = re.compile(
    r"\s*([*†‡§¹²³]|\(?(notes?|n\.?b\.?|sources?|legend|comments?|abbreviations|remarks?|nota|fuente|fonte|quelle|"
    r"anmerkung|hinweis|remarque)\s*:)",
    re.IGNORECASE,
)
"""How notes below a table begin."""


def is_rule(line: str) -> bool:
    """Whether a line is that below the header of a table of Markdown, such as |---|:-:|."""
    return "-" in line and "|" in line and {*line} <= {*" \t\r:|-"}


@dataclass(frozen=True)
class _Header:
    """The names of the columns, the index of the first row below them, and what was done for them."""

    line: int
    names: list[str]
    below: int
    notes: tuple[str, ...] = ()


def table_of(
    file: str, rows: NumberedRows, *, word: str = "line", kind: str = "csv", alone: bool, gaps: bool
) -> DataTable:
    """The table of rows of cells.

    Args:
        file: its name.
        rows: the rows but blank ones.
        word: what their numbers count.
        kind: the format that they were read as.
        alone: whether the file has all systems, and so more than one column.
        gaps: whether a number that is left out is that of a blank line.

    Raises:
        InputError: names are missing or repeated, there are no rows, or a row has fewer or more cells than the header.
    """
    rows = iter(rows)
    head = list(islice(rows, _HEAD))
    header = _find_header(file, head, word)
    width, lines, cells, comments = len(header.names), [header.line], list[str](), list[tuple[int, list[str]]]()
    pending = list[tuple[int, list[str]]]()
    for line, fields in chain(head[header.below :], rows):
        if len(fields) != width:
            last = lines[-1] if len(lines) > 1 else head[header.below - 1][0]
            if fields[0].startswith("#") and (len(fields) == 1 or fields[0][1:2] in ("", " ")):
                comments.append((line, fields))
            elif len(own := _fitted(fields, header.names)) == width and not pending:
                lines.append(line)
                cells += own
            elif pending or _MARKED.match(fields[0]) or (gaps and width > 1 and len(fields) == 1 and line > last + 1):
                pending.append((line, fields))
            else:
                _refuse_width(file, line, fields, width, word)
            continue
        if pending:
            _refuse_width(file, *pending[0], width, word)
        lines.append(line)
        cells += fields
    if comments and any(cell.startswith("#") for cell in cells[::width]):
        _refuse_width(file, *comments[0], width, word)
    below = [(line, ", ".join(fields)) for line, fields in pending]
    below = _without_last(lines, cells, width, gaps=gaps) + below
    _check_header(file, header.names, lines, word=word, kind=kind, alone=alone)
    named = {j: name for j, name in enumerate(header.names) if name or any(map(str.strip, cells[j::width]))}
    _check_names(file, named, header.line, word)
    columns = {name: DataColumn(cells[j::width]) for j, name in named.items()}
    said = [_said(file, line, word, "a note below the table", text) for line, text in below[:_MOST_NOTES]]
    more = [f"{said.pop()}, and {len(below) - _MOST_NOTES} {word}s below it"] if len(below) > _MOST_NOTES else []
    notes = (*header.notes, *said, *more)
    return DataTable(file, columns, lines[1:], word, header=header.line, notes=notes)


def _fitted(fields: list[str], names: Sequence[str]) -> list[str]:
    """The cells of a row without empty ones beyond the names, or with those that columns without names lack."""
    width = len(names)
    if len(fields) > width > 1:
        return fields[:width] if not any(map(str.strip, fields[width:])) else fields
    return [*fields, *names[len(fields) :]] if not any(names[len(fields) :]) else fields


def _without_last(lines: list[int], cells: list[str], width: int, *, gaps: bool) -> list[tuple[int, str]]:
    """Take empty rows and notes from the end of a table; the notes, with their lines."""
    notes = list[tuple[int, str]]()
    while len(lines) > 1:
        first, *others = cells[-width:]
        is_empty = not first.strip()
        if any(map(str.strip, others)) or (width == 1 and not is_empty):
            break
        if not is_empty:
            before = cells[-2 * width : -width]
            apart = not any(map(str.strip, before)) or (gaps and lines[-1] > lines[-2] + 1)
            if len(lines) < 3 or not is_text(first) or not (apart or _MARKED.match(first)):
                break
            notes.insert(0, (lines[-1], first))
        lines.pop()
        del cells[-width:]
    return notes


def _said(file: str, line: int, word: str, what: str, text: str) -> str:
    return f"{Line(file, line, word)}: taken for {what}: {quote(text.strip())}"


def _find_header(file: str, head: Sequence[tuple[int, list[str]]], word: str) -> _Header:
    """The header among the first rows; the first of them if no other is."""
    if not head:
        return _Header(1, [], 0)
    rows = [list(map(str.strip, fields)) for _, fields in head]
    filled = [sum(map(bool, row)) for row in rows]
    start = next((i for i, count in enumerate(filled) if count), 0)
    first, titles = start, list[int]()
    while start < min(len(rows) - 1, first + _MOST_TITLES) and (not filled[start] or _is_title(rows, start)):
        titles += [start] * bool(filled[start])
        start += 1
    if titles and not _is_header(rows, start):
        start, titles = first, []
    names, depth, notes = rows[start], 1, list[str]()
    if joined := _joined(rows, start):
        names, depth = joined, 2
        depth += len(rows) > start + 2 and not filled[start + 2]  # as pandas writes an index without a name
        which = f"{file}, {word}s {head[start][0]} and {head[start + 1][0]}"
        notes.append(f"{which}: names in two {word}s are joined: {listing(names, 4)}")
    if _names_index(rows, start + depth, two=depth > 1):
        names = [rows[start + depth][0], *names[1:]]
        depth += 1
    _refuse_second(file, head, rows, start + depth, word)
    below = [row for row in rows[start + depth :] if any(row)]
    if below and {len(row) for row in below} == {len(names) + 1} and all(row[-1] for row in below):
        ids = [row[0] for row in below]
        names = ["", *names] if len({*ids}) == len(ids) and all(map(is_text, names)) else names  # as R writes it
    notes = [_said(file, head[i][0], word, "a title", " ".join(filter(None, rows[i]))) for i in titles] + notes
    return _Header(head[start][0], names, start + depth, tuple(notes))


def _is_title(rows: Sequence[Sequence[str]], i: int) -> bool:
    """Whether a row has one text, or a text with a colon and its value, where those below have more cells."""
    row, widths = rows[i], Counter(map(len, rows[i + 1 :]))
    width = max(widths, key=lambda width: (widths[width], width))
    given = [cell for cell in row if cell]
    if width < 2 or not is_text(given[0]):
        return False
    if len(given) == 1:
        return bool(row[0]) or width > 2
    short = len(row) < width and all(map(is_text, given))
    return width > 2 and ((len(given) == 2 and given[0].endswith(":")) or short)


def _numeric(rows: Sequence[Sequence[str]], start: int) -> list[int]:
    """The columns that hold numbers alone from a row on."""
    width = max(map(len, rows))
    below = [[row[j] for row in rows[start:] if j < len(row) and row[j]] for j in range(width)]
    return [j for j, cells in enumerate(below) if not all(map(is_missing, cells)) and all(map(may_be_number, cells))]


def _is_header(rows: Sequence[Sequence[str]], start: int) -> bool:
    """Whether a row below titles holds names over a column of numbers, in one line or two."""
    names = [cell for cell in rows[start] if cell]
    if len(names) < 2 and len(rows[start]) > 2:
        return _joined(rows, start) is not None
    over = [j for j in _numeric(rows, start + 1) if j < len(rows[start]) and rows[start][j]]
    return (bool(over) and all(map(is_text, names))) or _joined(rows, start) is not None


def _joined(rows: Sequence[Sequence[str]], start: int) -> list[str] | None:
    """The names of two lines of header, of which the first has empty or repeated cells; None if there are not two."""
    if len(rows) < start + 3:
        return None
    above, below = rows[start], rows[start + 1]
    if len(above) != len(below) or not all(is_text(cell) for cell in (*above, *below) if cell):
        return None
    over = [j for j in _numeric(rows, start + 2) if j < len(below)]
    named = [j for j in over if below[j]]
    partial = [j for j in named if not above[j] or above[j] in above[:j] or above[j] in above[j + 1 :]]
    if not partial or not any(above[j] for j in over) or not all(above[j] or below[j] for j in over):
        return None
    spread = list(above)
    for j in range(1, len(spread)):
        spread[j] = spread[j] or (spread[j - 1] if below[j] and j in over else "")
    if len({spread[j] for j in named}) == 1:  # a name of the whole table
        spread = ["" if j in named else name for j, name in enumerate(spread)]
    return ["_".join(dict.fromkeys(filter(None, pair))) for pair in zip(spread, below, strict=True)]


def _names_index(rows: Sequence[Sequence[str]], i: int, *, two: bool) -> bool:
    """Whether a row only names the index, as pandas writes it below the names of columns."""
    if len(rows) < i + 2 or len(rows[i]) < 2 or any(rows[i][1:]) or not is_text(rows[i][0]):
        return False
    return two or is_id_name(rows[i][0])


def _refuse_second(
    file: str, head: Sequence[tuple[int, list[str]]], rows: Sequence[Sequence[str]], i: int, word: str
) -> None:
    """Refuse a first row of words over columns of numbers, such as units, which would be one instance."""
    if len(rows) < i + 3:
        return
    over = _numeric(rows, i + 1)
    words = [j for j in over if j < len(rows[i]) and not may_be_number(rows[i][j])]
    if len(words) > 1 and words == over:
        shown = ", ".join(quote(rows[i][j]) for j in words[:3])
        raise InputError(
            f"{Line(file, head[i][0], word)}: expected numbers as in the rows below, got {shown}; if these are units, "
            f"or names in a second line, delete this {word}, or write one line of names"
        )


def _refuse_width(file: str, line: int, fields: Sequence[str], width: int, word: str) -> NoReturn:
    raise InputError(f"{Line(file, line, word)}: expected {width} fields as in the header, got {len(fields)}")


def _check_header(file: str, names: Sequence[str], lines: Sequence[int], *, word: str, kind: str, alone: bool) -> None:
    if not names:
        raise InputError(f"{file}, line 1: expected the names of the columns, got an empty line; remove it")
    if len(names) == 1 and (alone or any(mark in names[0] for mark in "\t,;|")):
        between = {"tsv": "tabs", "spaces": "blanks"}.get(kind, "commas")
        raise InputError(
            f"{Line(file, lines[0], word)}: found one column, {quote(names[0])}; expected {between} between columns"
            f"{_other_reader(names[0], kind)}"
        )
    if len(names) == 1 and lines[-1] - lines[0] >= len(lines):
        raise InputError(f"{file}: has blank lines, and no ids; write NaN where a result is missing")
    if len(lines) == 1:
        raise InputError(f"{file}: has a header but no rows; expected one row per instance")
    if not any(is_text(name) for name in names):
        raise InputError(
            f"{Line(file, lines[0], word)}: expected the names of the columns, got numbers; add a line with the names "
            f"({Hint('reader', 'paired-perm')} reads numbers of two systems without names)"
        )


def _other_reader(line: str, kind: str) -> str:
    """The format that would find several columns in a line."""
    readers = {"tsv": "\t" in line, "csv": any(mark in line for mark in ",;|"), "spaces": len(line.split()) > 1}
    other = next((name for name, finds in readers.items() if finds and name != kind), None)
    return f"; {Hint('reader', other)} reads the others" if other else "; give ids and scores, or one column per system"


def _check_names(file: str, names: Mapping[int, str], line: int, word: str) -> None:
    seen: dict[str, int] = {}
    for index, name in names.items():
        if not name and index > min(names):
            raise InputError(f"{Line(file, line, word)}: column {index + 1} has no name; name it")
        if (first := seen.setdefault(name, index)) < index:
            remedy = "rename one" if is_text(name) else "is this a row without a header? add a line with the names"
            both = f"columns {first + 1} and {index + 1} are both named {quote(name)}"
            raise InputError(f"{Line(file, line, word)}: {both}; {remedy}")
