"""The neutral table that formats become: columns of text (or numbers) with line numbers, and numbers out of them."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigjax.readers.options import listing, show, suggest
from sigjax.records import InputError

LARGEST_WHOLE = 2**53
"""Doubles hold every whole number up to here."""
LARGEST_SPARSE = 10_000_000
"""Tables with more cells than this must be filled to 1 %, so that a wrong column cannot exhaust the memory."""
TRUTH = {"true": 1.0, "false": 0.0}
WHOLE = re.compile(r"\s*[+-]?\d+\s*")


@dataclass(frozen=True, eq=False)
class Numbers(Sequence[str]):
    """A column that is numbers already; where names are asked for, it is text like any other."""

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


class Nested(list[str]):
    """A column of lists or objects, which are neither numbers nor names."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of text or numbers. An empty cell is a missing value."""

    file: str
    columns: Mapping[str, Sequence[str]]
    """name -> [row]"""
    lines: Sequence[int]
    """[row]: the line of the file that the row starts on, or the number of the row."""
    row_word: str = "line"
    """What `lines` count, for messages: lines or rows."""


def check_column(table: Table, name: str, option: str) -> None:
    """Refuse a column that is not there."""
    if name not in table.columns:
        raise InputError(f"{table.file}: {option}: no column {show(name)}; {suggest(name, table.columns, 'columns')}")


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


def codes_of(labels: Sequence[Hashable]) -> tuple[list[Any], np.ndarray]:
    """Distinct labels in order of appearance, and the position `[row]` of each row's label among them.

    Example:
        >>> codes_of(["x", "y", "x"])
        (['x', 'y'], array([0, 1, 0]))
    """
    places = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return list(places), np.fromiter(map(places.__getitem__, labels), np.int64, len(labels))


def number_column(table: Table, name: str, *, hint: str) -> np.ndarray:
    """A column of numbers, float64 `[row]`, NaN where a cell is empty; `hint` says what to do about text."""
    cells = table.columns[name]
    if isinstance(cells, Numbers):
        return _ready_numbers(table, name, cells)
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return _numbers_slowly(table, name, hint=hint)
    # float() takes more than a table should hold; only then is every cell looked at.
    if not np.all(np.abs(values) < LARGEST_WHOLE) or "_" in "".join(cells):
        return _numbers_slowly(table, name, hint=hint)
    return values


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number of any kind, nor true or false, nor empty."""
    try:
        float(cell)
    except ValueError:
        return bool(cell.strip()) and cell.strip().lower() not in TRUTH
    return False


def is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers and no text."""
    if isinstance(cells, Numbers):
        return not bool(cells.missing.all())
    return not any(map(is_text, cells)) and any(cell.strip() for cell in cells)


def check_filled(file: str, *, filled: int, rows: int, columns: int, what: str) -> None:
    """Refuse a table that is almost all holes."""
    if rows * columns > LARGEST_SPARSE and filled * 100 < rows * columns:
        raise InputError(
            f"{file}: {what}: {rows} by {columns}, of which only {filled} are given; check which columns are read"
        )


def list_columns(table: Table) -> str:
    """The columns, for a message."""
    return f"columns: {listing(table.columns)}"


def _ready_numbers(table: Table, name: str, cells: Numbers) -> np.ndarray:
    """As `number_column`, of numbers that were never text."""
    values = cells.values
    if values.dtype.kind in "iu":
        usable = (values <= LARGEST_WHOLE) & (values >= -LARGEST_WHOLE)
    else:
        usable = np.isfinite(values)
    wrong = np.flatnonzero(~usable & ~cells.missing)
    if wrong.size:
        raise InputError(f"{place(table, int(wrong[0]), name)}: {_problem(cells[int(wrong[0])], hint='')}")
    return np.where(cells.missing, np.nan, values.astype(np.float64))


def _numbers_slowly(table: Table, name: str, *, hint: str) -> np.ndarray:
    """As `number_column`, cell by cell, so that the culprit can be named."""
    values = np.empty(len(table.columns[name]))
    for row, cell in enumerate(table.columns[name]):
        word = cell.strip().lower()
        if not word or word in TRUTH:
            values[row] = TRUTH.get(word, np.nan)
            continue
        problem = _problem(cell, hint=hint)
        if problem:
            raise InputError(f"{place(table, row, name)}: {problem}")
        values[row] = float(cell)
    return values


def _problem(cell: str, *, hint: str) -> str | None:
    """What is wrong with a cell that should be a number."""
    if is_text(cell) or "_" in cell:
        return f"expected a number, got {show(cell)}; {hint}"
    if not np.isfinite(float(cell)):
        return f"expected a finite number, got {show(cell)}; repair it, or leave the cell empty where it is missing"
    if WHOLE.fullmatch(cell) and abs(int(cell)) > LARGEST_WHOLE:
        return (
            f"whole numbers beyond 2**53 are not exact, got {show(cell)}; rescale the column (divide it by 1000, say)"
        )
    return None
