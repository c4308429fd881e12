"""Tables of any format: columns of text or numbers, and their lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from sigjax.files.opening import naming
from sigjax.metrics.arrays import LARGEST_WHOLE
from sigjax.readers.numerals import TRUTH, as_float, is_missing, is_text, parse_number, parse_numbers
from sigjax.readers.options import MISSING, hint_for_number, show
from sigjax.records import InputError

LARGEST_SPARSE = 10_000_000
"""Tables with more cells than this must be filled to 1%, so that a wrong column cannot exhaust memory."""


@dataclass(frozen=True, eq=False)
class Numbers(Sequence[str]):
    """A column of numbers; as names, it is text like any other."""

    values: np.ndarray
    """[row] numbers or truth values, anything where missing."""
    missing: np.ndarray
    """[row] bool"""

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.values)

    def __getitem__(self, row: Any) -> Any:
        """The cell of a row, or the cells of a slice of rows, as text."""
        return list(self)[row]

    def __iter__(self) -> Iterator[str]:
        """The cells as text."""
        for value, missing in zip(self.values.tolist(), self.missing.tolist(), strict=True):
            yield "" if missing else str(value)


class Lazy(Mapping[str, Any]):
    """Columns, each made at its first use and kept."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names, self._make = dict.fromkeys(names), cache(make)

    def __getitem__(self, name: str) -> Any:
        """The column."""
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __contains__(self, name: object) -> bool:
        """Whether there is such a column."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._names)

    def __len__(self) -> int:
        """The number of columns."""
        return len(self._names)


class Nested(list[str]):
    """A column of lists or objects, which are neither numbers nor names."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of text or numbers; `is_missing` says which cells are missing values."""

    file: str
    columns: Mapping[str, Sequence[str]]
    """name -> [row]"""
    lines: Sequence[int]
    """[row]: the line of the file that the row starts on, or the number of the row."""
    row_word: str = "line"
    """What `lines` count, for messages: lines or rows."""
    header: int | None = None
    """The line that names the columns, where one does; a file that lost it would lose an instance."""
    index: tuple[str, ...] = ()
    """Columns that are the index of a data frame of pandas."""

    @cached_property
    def parsed(self) -> Mapping[str, np.ndarray | None]:
        """Name -> `[row]` float64 as `parse_numbers` reads it, which has nothing missing; None for other columns."""
        return Lazy(self.columns, lambda name: parse_numbers(self.columns[name]))


def check_characters(content: str) -> None:
    r"""Refuse halves of characters (a lone \ud800), which no report could print."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise InputError("holds half a character (surrogate); repair it") from None


def place(table: Table, row: int, column: str) -> str:
    """Where a cell is, for a message."""
    return f"{table.file}, {table.row_word} {table.lines[row]}, column {show(column)}"


def label_column(table: Table, name: str) -> Sequence[str]:
    """A column of names; empty ones are refused."""
    column = table.columns[name]
    if isinstance(column, Nested):
        raise InputError(f"{table.file}, column {show(name)}: expected names, got lists or objects")
    cells = list(column)
    if not all(map(str.strip, cells)):
        row = next(row for row, cell in enumerate(cells) if not cell.strip())
        raise InputError(f"{place(table, row, name)}: expected a name, got an empty cell; fill it in")
    return cells


def number_column(table: Table, name: str, *, hint: str) -> np.ndarray:
    """A column of numbers, float64 `[row]`, NaN where a cell is empty; `hint` says what to do about text."""
    cells = table.columns[name]
    if isinstance(cells, Numbers):
        return _ready_numbers(table, name, cells)
    values = table.parsed[name]
    return _numbers_slowly(table, name, hint=hint) if values is None else values


def readable_numbers(table: Table, name: str) -> np.ndarray:
    """The finite numbers among the cells of a column, float64 `[number]`; none of text is refused."""
    cells = table.columns[name]
    if isinstance(cells, Numbers):
        values = cells.values[~cells.missing].astype(np.float64)
    elif (values := table.parsed[name]) is None:
        values = np.array([as_float(cell) for cell in cells])
    return values[np.isfinite(values)]


def is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers and no text."""
    if isinstance(cells, Numbers):
        return not bool(cells.missing.all())
    given = [cell for cell in cells if not is_missing(cell)]
    return bool(given) and not any(map(is_text, given))


def is_words(table: Table, name: str) -> bool:
    """Whether a column holds text, lists or objects, and nothing that may be meant as a number."""
    cells = table.columns[name]
    if isinstance(cells, Numbers | Nested) or table.parsed[name] is not None:
        return isinstance(cells, Nested)
    given = {cell for cell in cells if not is_missing(cell)}
    return bool(given) and all(is_text(cell) and hint_for_number(cell) is None for cell in given)


def check_filled(file: str, *, filled: int, rows: int, columns: int, what: str) -> None:
    """Refuse a table that is almost all holes."""
    if rows * columns > LARGEST_SPARSE and filled * 100 < rows * columns:
        raise InputError(
            f"{file}: {what}: {rows} by {columns}, of which only {filled} are given; check which columns are read"
        )


def _ready_numbers(table: Table, name: str, cells: Numbers) -> np.ndarray:
    """As `number_column`, of numbers that were never text."""
    values = cells.values
    if values.dtype.kind in "iu":
        usable = (values <= LARGEST_WHOLE) & (values >= -LARGEST_WHOLE)
    else:
        usable = np.isfinite(values)
    wrong = np.flatnonzero(~usable & ~cells.missing)
    for row in wrong[:1].tolist():
        _number(table, row, name, cells[row], hint="")  # says what is wrong
    return np.where(cells.missing, np.nan, values.astype(np.float64))


def _numbers_slowly(table: Table, name: str, *, hint: str) -> np.ndarray:
    """As `number_column`, cell by cell, so that the culprit can be named."""
    values = np.empty(len(table.columns[name]))
    for row, cell in enumerate(table.columns[name]):
        word = cell.strip().lower()
        if word in TRUTH or word in MISSING:
            values[row] = TRUTH.get(word, np.nan)
        else:
            values[row] = _number(table, row, name, cell, hint=hint)
    return values


def _number(table: Table, row: int, name: str, cell: str, *, hint: str) -> float:
    with naming(place(table, row, name)):
        return parse_number(cell, hint=hint, missing="repair it")
