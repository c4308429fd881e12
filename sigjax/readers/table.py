"""Tables of any format: columns of text or numbers and their lines, and numbers as files spell them.

Nothing becomes a number that a double does not hold; what stands for a missing one is known here alone.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.options import MISSING, hint_for_number, quote
from sigjax.records import InputError, Line
from sigjax.run.files import naming

TRUTH = {"true": 1.0, "false": 0.0}
_WHOLE = re.compile(r"\s*[+-]?(\d+)(?:\.0*)?\s*")
_MOST_DIGITS = 309
"""Digits of the largest double before the point; Python makes no number of more than 4,300."""
_TINY = "." + "0" * 300
"""A fraction without an exponent starts like this before it is too small for a double."""


def parse_number(text: str, *, hint: str = "repair it", missing: str = "repair it") -> float:
    """A finite number, as the double that it stands for.

    Args:
        text: what the file says.
        hint: what to do about text, for messages.
        missing: what to do about NaN and infinity, for messages.

    Raises:
        InputError: not a number; a whole number beyond 2**53, which may not be exact; or not 0, but too small for a
            double. `files.opening.naming` adds the place to the message.

    Example:
        >>> parse_number(" -2.5e1")
        -25.0
        >>> parse_number("1_000")
        Traceback (most recent call last):
        ...
        sigjax.InputError: expected a number, got '1_000'; repair it
    """
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or "_" in text:
        raise InputError(f"expected a number, got {quote(text)}; {hint_for_number(text) or hint}")
    if 0 < abs(value) < LARGEST_WHOLE:
        return value
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {quote(text)}; {missing}")
    if value == 0 and _is_more_than_zero(text):
        raise InputError(f"the number {quote(text)} is too small for a double; write 0, or rescale the numbers")
    whole = _WHOLE.fullmatch(text)
    if whole and int(whole[1][-_MOST_DIGITS:]) > LARGEST_WHOLE:
        raise InputError(
            f"whole numbers beyond 2**53 are not exact, got {quote(text)}; rescale the numbers (divide by 1000, say)"
        )
    return value


def parse_numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Numbers as `parse_number` reads them, `[cell]`, all at once; None if some cell needs `parse_number`."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    if not np.all(np.abs(values) < LARGEST_WHOLE):
        return None
    joined = "".join(cells)
    if "_" in joined:
        return None
    if "e-" in joined or "E-" in joined or _TINY in joined:
        zeros = {cells[i] for i in np.flatnonzero(values == 0).tolist()}
        if any(map(_is_more_than_zero, zeros)):
            return None
    return values


def _is_more_than_zero(text: str) -> bool:
    """Whether a digit before the exponent is not 0."""
    return any(int(digit) for digit in re.split("[eE]", text)[0] if digit.isdecimal())


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no result: it is empty, or `NaN`, `NA`, `n/a`, `None`, `null`, `-`, `?`.

    Example:
        >>> [is_missing(cell) for cell in ("", " N/A ", "nan", "0", "no")]
        [True, True, True, False, False]
    """
    return cell.strip().lower() in MISSING


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number of any kind, nor true or false, nor empty."""
    try:
        float(cell)
    except ValueError:
        return bool(cell.strip()) and cell.strip().lower() not in TRUTH
    return False


def as_float(cell: str) -> float:
    """A cell as a number, NaN where it is none."""
    try:
        return TRUTH[cell.strip().lower()] if cell.strip().lower() in TRUTH else float(cell)
    except ValueError:
        return math.nan


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
class DataTable:
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


def locate(table: DataTable, row: int, column: str) -> str:
    """Where a cell is, for a message."""
    return f"{Line(table.file, table.lines[row], table.row_word)}, column {quote(column)}"


def label_column(table: DataTable, name: str) -> Sequence[str]:
    """A column of names; empty ones are refused."""
    column = table.columns[name]
    if isinstance(column, Nested):
        raise InputError(f"{table.file}, column {quote(name)}: expected names, got lists or objects")
    cells = list(column)
    if not all(map(str.strip, cells)):
        row = next(row for row, cell in enumerate(cells) if not cell.strip())
        raise InputError(f"{locate(table, row, name)}: expected a name, got an empty cell; fill it in")
    return cells


def number_column(table: DataTable, name: str, *, hint: str) -> np.ndarray:
    """A column of numbers, float64 `[row]`, NaN where a cell is empty; `hint` says what to do about text."""
    cells = table.columns[name]
    if isinstance(cells, Numbers):
        return _ready_numbers(table, name, cells)
    values = table.parsed[name]
    return _numbers_slowly(table, name, hint=hint) if values is None else values


def readable_numbers(table: DataTable, name: str) -> np.ndarray:
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


def is_words(table: DataTable, name: str) -> bool:
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


def _ready_numbers(table: DataTable, name: str, cells: Numbers) -> np.ndarray:
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


def _numbers_slowly(table: DataTable, name: str, *, hint: str) -> np.ndarray:
    """As `number_column`, cell by cell, so that the culprit can be named."""
    values = np.empty(len(table.columns[name]))
    for row, cell in enumerate(table.columns[name]):
        word = cell.strip().lower()
        if word in TRUTH or word in MISSING:
            values[row] = TRUTH.get(word, np.nan)
        else:
            values[row] = _number(table, row, name, cell, hint=hint)
    return values


def _number(table: DataTable, row: int, name: str, cell: str, *, hint: str) -> float:
    with naming(locate(table, row, name)):
        return parse_number(cell, hint=hint, missing="repair it")
