"""Tables of any format: find the header, and turn the rows of cells below it into columns of text or numbers.

The header is the first line of names that has columns of numbers below it. Titles above the header and notes below the
table are skipped, and the evaluation's notes mention them. A header in two lines (merged cells, a pandas MultiIndex) is
joined. Empty columns and empty last rows are left out. A number that a double cannot hold exactly is refused (an
`InputError` is raised) when it is used.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from typing import Any, NoReturn

import numpy as np

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.lexicon import is_id_name
from sigjax.readers.options import MISSING, Options, hint_for_number, listing, quote
from sigjax.records import Hint, InputError, Line
from sigjax.run.files import naming

TRUTH = {"true": 1.0, "false": 0.0}
_VERDICTS: dict[str, dict[str, float]] = {
    pair: dict(zip(pair.split("/"), (1.0, 0.0), strict=True))
    for pair in ("correct/wrong", "correct/incorrect", "right/wrong", "pass/fail", "passed/failed")
}
"""Pairs of words that are read as 1 and 0 if a column holds no other words. The pair "yes" and "no" is left out,
because these words may be answers."""
_MAYBE = frozenset("correct incorrect right wrong pass passed fail failed yes no y n t f".split())
_WHOLE = re.compile(r"\s*[+-]?(\d+)(?:\.0*)?\s*")
_MOST_DIGITS = 309
"""The number of digits of the largest double. Longer texts are cut, because int() refuses more than 4,300 digits."""


def parse_number(text: str, *, hint: str = "repair it", missing: str = "repair it") -> float:
    """Parse a finite number that a double holds exactly. The error advises `hint` for text, and `missing` for NaN.

    >>> parse_number(" -2.5e1")
    -25.0
    >>> parse_number("1_000")
    Traceback (most recent call last):
    ...
    sigjax.InputError: expected a number, got '1_000'; repair it
    """
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        raise InputError(f"expected a number, got {quote(text)}; {hint_for_number(text) or hint}") from None
    if 0 < abs(value) < LARGEST_WHOLE:
        return value
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {quote(text)}; {missing}")
    if value == 0 and _is_more_than_zero(text):
        raise InputError(f"the number {quote(text)} is too small for a double; write 0, or rescale the numbers")
    whole = _WHOLE.fullmatch(text)
    if whole and int(whole[1][-_MOST_DIGITS:]) > LARGEST_WHOLE:
        raise InputError(f"whole numbers beyond 2**53 are not exact, got {quote(text)}; rescale the numbers")
    return value


def parse_numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Parse numbers `[cell]` fast, all at once. None if some cell must be parsed by `parse_number`."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    if not np.all(np.abs(values) < LARGEST_WHOLE):
        return None
    zeros = {cells[i] for i in np.flatnonzero(values == 0).tolist()}
    return None if "_" in "".join(cells) or any(map(_is_more_than_zero, zeros)) else values


def _is_more_than_zero(text: str) -> bool:
    """Whether some digit before the exponent is not 0."""
    return any(int(digit) for digit in re.split("[eE]", text)[0] if digit.isdecimal())


def is_missing(cell: str) -> bool:
    """Whether a cell means a missing result: it is empty, or `NaN`, `NA`, `n/a`, `None`, `null`, `-`, `?`.

    >>> [is_missing(cell) for cell in ("", " N/A ", "nan", "0", "no")]
    [True, True, True, False, False]
    """
    return cell.strip().lower() in MISSING


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number, nor true or false, nor empty."""
    try:
        float(cell)
    except ValueError:
        return bool(cell.strip()) and cell.strip().lower() not in TRUTH
    return False


def may_be_number(cell: str) -> bool:
    """Whether a cell holds a number in any spelling, or a word for a missing number.

    >>> [cell for cell in ("1.5", "1.234,5", "1 234", "50 %", "1.2.3", "case 1", "n/a") if may_be_number(cell)]
    ['1.5', '1.234,5', '1 234', '50 %', 'n/a']
    """
    cell = cell.strip()
    if not is_text(cell) or hint_for_number(cell) is not None:
        return True
    return not cell[0].isalpha() and any(_spelling(*each).fullmatch(cell) for each in _NOTATIONS)


def as_float(cell: str) -> float:
    """Return a cell as a number; true and false are 1 and 0, and any other text is NaN."""
    try:
        return TRUTH[cell.strip().lower()] if cell.strip().lower() in TRUTH else float(cell)
    except ValueError:
        return math.nan


LARGEST_SPARSE = 10_000_000
"""Largest number of cells of a table that may be almost empty. A larger table must be at least 1% full, because an
almost empty table could exhaust the memory."""


class DataColumn(Sequence[str]):
    """A column of text; the text may be numbers."""

    def __init__(self, cells: Sequence[str], *, nested: bool = False) -> None:
        """Take the cells `[row]`. If `nested`, they stand for lists or objects, which are neither numbers nor names."""
        self.cells, self.nested = cells, nested

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.cells)

    def __getitem__(self, row: Any) -> Any:
        """Return the text of a row, or the texts of a slice of rows."""
        return self.cells[row]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts of the rows."""
        return iter(self.cells)

    @cached_property
    def parsed(self) -> np.ndarray | None:
        """The numbers `[row]` float64; None if `parse_numbers` cannot parse all cells."""
        return parse_numbers(self.cells)

    @cached_property
    def verdicts(self) -> str:
        """The words for 1 and 0, such as "correct/wrong", if the column holds only these two words; else an empty text.

        >>> DataColumn(["Pass", "", "fail"]).verdicts, DataColumn(["pass", "abstain"]).verdicts
        ('pass/fail', '')
        """
        first = next((cell.strip().lower() for cell in self.cells if not is_missing(cell)), "")
        for pair, numbers in _VERDICTS.items():
            if first in numbers and all(is_missing(cell) or cell.strip().lower() in numbers for cell in self.cells):
                return pair
        return ""

    def numbers(self, number: Callable[[int, str], float]) -> np.ndarray:
        """Return the cells as numbers `[row]`; NaN if a number is missing.

        `number(row, cell)` parses or refuses a cell that is neither missing nor a word for 1 or 0.
        """
        if self.parsed is not None:
            return self.parsed
        values, truth = np.empty(len(self)), _VERDICTS.get(self.verdicts, TRUTH)
        for row, cell in enumerate(self.cells):
            word = cell.strip().lower()
            known = word in truth or word in MISSING
            values[row] = truth.get(word, np.nan) if known else number(row, cell)
        return values

    def readable(self) -> np.ndarray:
        """Return the finite numbers among the cells, `[number]` float64. Text is ignored."""
        values = self.numbers(lambda row, cell: as_float(cell))
        return values[np.isfinite(values)]

    def is_numeric(self) -> bool:
        """Whether the column holds numbers (or words for 1 and 0), and no other text."""
        if self.parsed is not None:
            return not np.isnan(self.parsed).all()
        given = [cell for cell in self.cells if not is_missing(cell)]
        return bool(given) and (bool(self.verdicts) or not any(map(is_text, given)))

    def is_words(self) -> bool:
        """Whether the column holds text, lists or objects, and no cell that may be meant as a number."""
        if self.nested or self.parsed is not None:
            return self.nested
        given = {cell for cell in {*self.cells} if not is_missing(cell)}
        return bool(given) and not any(map(may_be_number, given))


class Numbers(DataColumn):
    """A column of numbers from a file with types. Its numbers become text only if the column is used for names."""

    nested = False

    def __init__(self, values: np.ndarray, missing: np.ndarray) -> None:
        """Take numbers or truth values `[row]`, and the mask `missing` `[row]` of values to ignore."""
        self.values, self.missing = values, missing

    @cached_property
    def cells(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The numbers `[row]` as text."""
        cells = zip(self.values.tolist(), self.missing.tolist(), strict=True)
        return ["" if missing else str(value) for value, missing in cells]

    @cached_property
    def parsed(self) -> np.ndarray | None:
        """The numbers `[row]`, NaN if missing; None if some number is infinite, or is not exact as float64."""
        if self.values.dtype.kind in "iu":
            usable = (self.values <= LARGEST_WHOLE) & (self.values >= -LARGEST_WHOLE)
        else:
            usable = np.isfinite(self.values)
        return np.where(self.missing, np.nan, self.values.astype(np.float64)) if (usable | self.missing).all() else None


class LazyColumns(Mapping[str, Any]):
    """Columns by name. A column is made when it is first used, and then kept."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names, self._make = dict.fromkeys(names), cache(make)

    def __getitem__(self, name: str) -> Any:
        """Return the column with this name."""
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __contains__(self, name: object) -> bool:
        """Whether there is a column with this name."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._names)

    def __len__(self) -> int:
        """Count the columns."""
        return len(self._names)


@dataclass(frozen=True, eq=False)
class DataTable:
    """A table: columns of text or numbers, with their places in the file."""

    file: str
    columns: Mapping[str, DataColumn]
    """Name -> cells `[row]`."""
    lines: Sequence[int]
    """`[row]` the line of the file on which the row begins, or the number of the row."""
    row_word: str = "line"
    """What `lines` counts, for messages: "line" or "row"."""
    header: int | None = None
    """The number of the line with the names of the columns; None if the format has no such line."""
    index: tuple[str, ...] = ()
    """Columns that were the index of a pandas data frame."""
    notes: tuple[str, ...] = ()
    """Notes on the parsing: titles that were skipped, header lines that were joined."""

    @cached_property
    def names(self) -> Mapping[str, np.ndarray]:
        """Name of a column -> its cells `[row]` as labels (object).

        A column with empty cells is refused at its first use.
        """
        return LazyColumns(self.columns, partial(_name_column, self))

    def row_numbers(self) -> np.ndarray:
        """Return the numbers of the rows as labels, `[row]` (object)."""
        return np.array([str(row + 1) for row in range(len(self.lines))], object)


def check_characters(content: str) -> None:
    r"""Refuse surrogates (\ud800 alone is half a character), because no report could print them."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise InputError("holds half a character (surrogate); repair it") from None


def locate(table: DataTable, row: int, column: str) -> str:
    """Return the place of a cell, for a message."""
    return f"{Line(table.file, table.lines[row], table.row_word)}, column {quote(column)}"


def _name_column(table: DataTable, name: str) -> np.ndarray:
    column = table.columns[name]
    if column.nested:
        raise InputError(f"{table.file}, column {quote(name)}: expected names, got lists or objects")
    cells = list(column)
    if not all(map(str.strip, cells)):
        row = next(row for row, cell in enumerate(cells) if not cell.strip())
        raise InputError(f"{locate(table, row, name)}: expected a name, got an empty cell; fill it in")
    return np.array(cells, object)


def number_column(table: DataTable, name: str, *, hint: str) -> np.ndarray:
    """Return a column of numbers, `[row]` float64, NaN if a cell is empty. The error for a text advises `hint`."""

    def number(row: int, cell: str) -> float:
        words = "write 1 for right and 0 for wrong" if cell.strip().lower() in _MAYBE else hint
        if notation := _possible_notations(cell.strip()):
            raise InputError(f"{locate(table, row, name)}: expected a number, got {quote(cell)}; {notation}")
        if cell == "(object)" and table.columns[name].nested:
            words = f"{hint}, or a field of it with {Hint('score_column', f'{name}.FIELD')}"
        with naming(locate(table, row, name)):
            return parse_number(cell, hint=words, missing="repair it")

    return table.columns[name].numbers(number)


class NumberText(str):
    """A number from a file with types. The options about the spelling of numbers do not apply to it."""

    __slots__ = ()


_NOTATIONS = ((".", ","), (",", None), (",", "."), (".", "'"), (".", " "))
"""Other spellings of numbers, as pairs: decimal sign, separator of thousands."""
_LIKE_NUMBER = re.compile(r"[-+]?(?=[.,' ]*\d)[\d.,' ]+([eE][-+]?\d+)?")
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")
"""Pattern of a number whose points may separate thousands."""
_COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
_SMALL = re.compile(r"[-+]?\d{1,3}")
_REPEATED = re.compile(r".*\.(333|667|334|666|125|375|625|875)")
"""Pattern of decimals of thirds and eighths, which occur in means of three or eight numbers."""
_SHOWN, _FEW = 100, 100.0


@cache
def _spelling(decimal: str, thousands: str | None) -> re.Pattern[str]:
    """Return the pattern of numbers with this decimal sign and this separator of thousands."""
    whole = rf"\d+|[1-9]\d{{0,2}}({re.escape(thousands)}\d{{3}})+" if thousands else r"\d+"
    return re.compile(rf"[-+]?(({whole})({re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)([eE][-+]?\d+)?")


def _as_point(cell: str, decimal: str, thousands: str | None) -> str:
    """Rewrite a number with a decimal point and without separators of thousands."""
    return (cell.replace(thousands, "") if thousands else cell).replace(decimal, ".")


def _possible_notations(cell: str) -> str:
    """Return advice for a number in another spelling; empty for other cells.

    >>> _possible_notations("0,5").partition(";")[0], _possible_notations("0.5")
    ('it has a decimal comma', '')
    """
    if not is_text(cell):
        return ""
    fitting = [each for each in _NOTATIONS if _spelling(*each).fullmatch(cell)]
    ways = dict[str, tuple[str, str | None]]()
    for each in fitting:
        ways.setdefault(_as_point(cell, *each), each)
    if len(ways) > 1:
        (first, one), (second, other) = ways.items()
        give = f"give {_spelling_options(*one)} if it is {first}, or {_spelling_options(*other)} if it is {second}"
        return f"is it {first} or {second}? {give}"
    for points, (decimal, thousands) in ways.items():
        what = "a decimal comma" if decimal == "," and "," in cell else f"{quote(thousands or '')} between thousands"
        return f"it has {what}; write decimal points, {points}, or give {_spelling_options(decimal, thousands)}"
    return ""


def _spelling_options(decimal: str, thousands: str | None) -> str:
    """Write the options for this spelling of numbers as the user types them."""
    told = [Hint("decimal", repr(decimal))] * (thousands != "," and decimal == ",")
    return " ".join(map(str, [*told, *([Hint("thousands", repr(thousands))] if thousands else [])]))


def with_numbers(
    table: DataTable, options: Options, *, commas: bool = False, texts: Collection[str] | None = None
) -> DataTable:
    """Rewrite the numbers of a table with decimal points, according to the options `decimal` and `thousands`.

    Without these options, decimal commas are recognized if `commas` says that they are likely. If a point or comma may
    separate either decimals or thousands, the user is asked. Columns that options name for ids, systems and other
    labels are not changed. Cells of type `NumberText` are not changed either. If the cells of the file have types, only
    the cells in `texts` can be ambiguous.

    Raises:
        InputError: at the first use of a column, if its numbers have another spelling or are ambiguous.
    """
    named = {options.system_column, options.cluster, options.strata, *options.ignore}
    named |= {*(options.id_column or "").split(","), *(options.runs or "").split(",")} - {""}
    points = partial(_has_points, table)

    def settled(name: str) -> DataColumn:
        column = table.columns[name]
        if type(column) is not DataColumn or column.nested or name in named:
            return column
        if options.decimal or options.thousands:
            decimal = options.decimal or ("," if options.thousands == "." else ".")
            return _rewrite_by_options(table, name, decimal, options.thousands)
        return _rewrite_by_cells(table, name, commas=commas, points=points, texts=texts)

    return replace(table, columns=LazyColumns(table.columns, settled))


def _rewrite_by_options(table: DataTable, name: str, decimal: str, thousands: str | None) -> DataColumn:
    """Rewrite the numbers of a column so that they have decimal points, and no separators of thousands.

    `decimal` and `thousands` are the marks that the cells use now.
    """
    if decimal == thousands:
        raise InputError(f"{Hint('decimal')} and {Hint('thousands')} are both {quote(decimal)}; give different ones")
    cells, spelled = table.columns[name].cells, _spelling(decimal, thousands).fullmatch
    texts = {row: cell.strip() for row, cell in enumerate(cells) if type(cell) is str and not is_missing(cell)}
    if not all(map(_LIKE_NUMBER.fullmatch, texts.values())):
        return table.columns[name]
    if (wrong := next((row for row, cell in texts.items() if not spelled(cell)), None)) is not None:
        told = _spelling_options(decimal, thousands) or Hint("decimal", repr(decimal))
        how = f"leave the column out with {Hint('ignore', quote(name))} if it holds no scores"
        where = locate(table, wrong, name)
        raise InputError(f"{where}: expected a number as {told} spells it, got {quote(cells[wrong])}; {how}")
    made = [_as_point(texts[row], decimal, thousands) if row in texts else cell for row, cell in enumerate(cells)]
    return DataColumn(made)


def _rewrite_by_cells(
    table: DataTable, name: str, *, commas: bool, points: Callable[[], bool], texts: Collection[str] | None
) -> DataColumn:
    """Replace the decimal commas of a column by points. If points or commas may separate thousands, ask the user.

    `commas` says that decimal commas are likely. `points` returns whether some column of the table has decimal points.
    If `texts` is given, only its numbers can be ambiguous.
    """
    column = table.columns[name]
    first = [cell.strip() for cell in column.cells[:_SHOWN] if not is_missing(cell)]
    if not all(map(_LIKE_NUMBER.fullmatch, first)):
        return column
    text = "".join(column.cells)
    if "," in text and commas:
        given = {row: cell.strip() for row, cell in enumerate(column.cells) if "," in cell}
        if not all(is_missing(cell) or _spelling(",", None).fullmatch(cell.strip()) for cell in column.cells):
            return column
        if all(map(_COMMAS.fullmatch, given.values())):
            _refuse_ambiguous_number(table, next(iter(given)), name)
        return DataColumn([cell.replace(",", ".") for cell in column.cells])
    if "." in text and "," not in text and all(_POINTS.fullmatch(each) or _SMALL.fullmatch(each) for each in first):
        given = {row: cell.strip() for row, cell in enumerate(column.cells) if not is_missing(cell)}
        pointed = [row for row, cell in given.items() if _POINTS.fullmatch(cell)]
        whole = [float(cell) for cell in given.values() if _SMALL.fullmatch(cell)]
        typed = texts is not None and not any(given[row] in texts for row in pointed)
        doubted = max(map(abs, whole), default=0) > _FEW and not all(_REPEATED.fullmatch(given[row]) for row in pointed)
        if not typed and pointed and len(pointed) + len(whole) == len(given) and (doubted or (commas and not points())):
            _refuse_ambiguous_number(table, pointed[0], name)
    return column


def _refuse_ambiguous_number(table: DataTable, row: int, name: str) -> None:
    """Refuse a number whose point or comma may separate either decimals or thousands."""
    cell = table.columns[name][row].strip()
    mark = "," if "," in cell else "."
    first, second = cell.replace(mark, "."), cell.replace(mark, "")
    ways = f"give {Hint('thousands', repr(mark))} if it is {second}, or {Hint('decimal', repr(mark))} if it is {first}"
    if cell.count(mark) > 1:
        ways = f"give {Hint('thousands', repr(mark))} if it is {second}"
    where = locate(table, row, name)
    raise InputError(f"{where}: is {quote(cell)} {first} or {second}? {ways}")


def _has_points(table: DataTable) -> bool:
    """Whether some column has decimal points, that is, points that cannot separate thousands."""
    some = [cell.strip() for column in table.columns.values() for cell in column[:_SHOWN] if "." in cell]
    return any(_spelling(".", None).fullmatch(cell) and not _POINTS.fullmatch(cell) for cell in some)


def check_filled(
    file: str, *, filled: int, rows: int, columns: int, what: str, remedy: str = "check the columns"
) -> None:
    """Refuse a large table that is almost empty, because it could exhaust the memory.

    `filled` is the number of cells that are not empty. `what` describes the table for the message, and `remedy` is
    advice.
    """
    if rows * columns > LARGEST_SPARSE and filled * 100 < rows * columns:
        raise InputError(f"{file}: {what}: {rows} by {columns}, of which only {filled} are given; {remedy}")


NumberedRows = Iterable[tuple[int, list[str]]]
"""For each row, a pair: the number of its line (or of the row), and its cells."""
_HEAD = 50
"""Number of rows at the beginning of a table among which the header is searched."""
_MOST_TITLES = 5
_MOST_NOTES = 3
_MARKED = re.compile(
    r"\s*([*†‡§¹²³]|\(?(notes?|n\.?b\.?|sources?|legend|comments?|abbreviations|remarks?|nota|fuente|fonte|quelle|"
    r"anmerkung|hinweis|remarque)\s*:)",
    re.IGNORECASE,
)
"""Pattern of the beginning of a note below a table."""


def is_rule(line: str) -> bool:
    """Whether a line is the rule below a Markdown header, such as |---|:-:|."""
    return "-" in line and "|" in line and {*line} <= {*" \t\r:|-"}


@dataclass(frozen=True)
class _Header:
    """The header of a table: its line, the names of the columns, the index of the first row below it, and notes."""

    line: int
    names: list[str]
    below: int
    notes: tuple[str, ...] = ()


def table_of(
    file: str, rows: NumberedRows, *, word: str = "line", kind: str = "csv", alone: bool, gaps: bool
) -> DataTable:
    """Make a table from rows of cells.

    Args:
        file: the name of the file.
        rows: the number and the cells of each nonblank row.
        word: what the numbers of the rows count: "line" or "row".
        kind: the format of the file.
        alone: whether the file holds all systems. If it does, it must have more than one column.
        gaps: whether a gap in the numbers of the rows means a blank line.

    Raises:
        InputError: names are missing or repeated, there are no rows, or a row and the header differ in their numbers of
            cells.
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
            elif len(own := _cells_under_names(fields, header.names)) == width and not pending:
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
    said = [_title_note(file, line, word, "a note below the table", text) for line, text in below[:_MOST_NOTES]]
    more = [f"{said.pop()}, and {len(below) - _MOST_NOTES} {word}s below it"] if len(below) > _MOST_NOTES else []
    notes = (*header.notes, *said, *more)
    return DataTable(file, columns, lines[1:], word, header=header.line, notes=notes)


def _cells_under_names(fields: list[str], names: Sequence[str]) -> list[str]:
    """Fit a row of cells to the names of the columns.

    If the row is longer, empty cells beyond the names are cut off. If the row is shorter, empty cells are added for
    columns without a name at the end.
    """
    width = len(names)
    if len(fields) > width > 1:
        return fields[:width] if not any(map(str.strip, fields[width:])) else fields
    return [*fields, *names[len(fields) :]] if not any(names[len(fields) :]) else fields


def _without_last(lines: list[int], cells: list[str], width: int, *, gaps: bool) -> list[tuple[int, str]]:
    """Remove empty rows and notes from the end of a table; return the notes with their lines.

    `lines` are the line numbers of the rows. `cells` holds the cells of all rows, one row after the other, with `width`
    cells each. Both lists are shortened in place. `gaps` says whether a gap in `lines` means a blank line.
    """
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


def _title_note(file: str, line: int, word: str, what: str, text: str) -> str:
    return f"{Line(file, line, word)}: taken for {what}: {quote(text.strip())}"


def _find_header(file: str, head: Sequence[tuple[int, list[str]]], word: str) -> _Header:
    """Find the header among the first rows. If no row looks like a header, it is the first nonempty row."""
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
        depth += len(rows) > start + 2 and not filled[start + 2]  # pandas writes an empty row for an unnamed index
        which = f"{file}, {word}s {head[start][0]} and {head[start + 1][0]}"
        notes.append(f"{which}: names in two {word}s are joined: {listing(names, 4)}")
    if _names_index(rows, start + depth, two=depth > 1):
        names = [rows[start + depth][0], *names[1:]]
        depth += 1
    _refuse_second(file, head, rows, start + depth, word)
    below = [row for row in rows[start + depth :] if any(row)]
    if below and {len(row) for row in below} == {len(names) + 1} and all(row[-1] for row in below):
        ids = [row[0] for row in below]
        names = ["", *names] if len({*ids}) == len(ids) and all(map(is_text, names)) else names  # row names of R
    notes = [_title_note(file, head[i][0], word, "a title", " ".join(filter(None, rows[i]))) for i in titles] + notes
    return _Header(head[start][0], names, start + depth, tuple(notes))


def _is_title(rows: Sequence[Sequence[str]], i: int) -> bool:
    """Whether row `i` is a title above a table, because later rows have more cells.

    It holds a single text; or a text with a colon, and its value; or several texts, and fewer cells than the most
    frequent number of cells in later rows.
    """
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
    """Return the columns that hold only numbers from row `start` on."""
    width = max(map(len, rows))
    below = [[row[j] for row in rows[start:] if j < len(row) and row[j]] for j in range(width)]
    return [j for j, cells in enumerate(below) if not all(map(is_missing, cells)) and all(map(may_be_number, cells))]


def _is_header(rows: Sequence[Sequence[str]], start: int) -> bool:
    """Whether a row below titles is a header, in one or two lines: it names at least one column of numbers."""
    names = [cell for cell in rows[start] if cell]
    if len(names) < 2 and len(rows[start]) > 2:
        return _joined(rows, start) is not None
    over = [j for j in _numeric(rows, start + 1) if j < len(rows[start]) and rows[start][j]]
    return (bool(over) and all(map(is_text, names))) or _joined(rows, start) is not None


def _joined(rows: Sequence[Sequence[str]], start: int) -> list[str] | None:
    """Join a header of two lines to one list of names; None if the header is one line.

    The header begins at row `start`. It has two lines if, above columns of numbers, the first line has empty or
    repeated cells where the second line has names.
    """
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
    if len({spread[j] for j in named}) == 1:  # a title of the whole table
        spread = ["" if j in named else name for j, name in enumerate(spread)]
    return ["_".join(dict.fromkeys(filter(None, pair))) for pair in zip(spread, below, strict=True)]


def _names_index(rows: Sequence[Sequence[str]], i: int, *, two: bool) -> bool:
    """Whether row `i` holds only the name of an index. pandas writes such a row below the names of the columns.

    If the header has one line (not `two`), the name must be a name of ids.
    """
    if len(rows) < i + 2 or len(rows[i]) < 2 or any(rows[i][1:]) or not is_text(rows[i][0]):
        return False
    return two or is_id_name(rows[i][0])


def _refuse_second(
    file: str, head: Sequence[tuple[int, list[str]]], rows: Sequence[Sequence[str]], i: int, word: str
) -> None:
    """Refuse a first row of words (such as units) above columns of numbers, because it would become an instance."""
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
    """Return advice for a message: a format, other than `kind`, that finds several columns in this line.

    If there is no such format, advise on the content of a table.
    """
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
