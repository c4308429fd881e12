"""Tables of any format: columns of text or numbers and their lines, and numbers as files spell them.

Nothing becomes a number that a double does not hold; what stands for a missing one is known here alone.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.options import MISSING, hint_for_number, quote
from sigjax.records import Hint, InputError, Line
from sigjax.run.files import naming

TRUTH = {"true": 1.0, "false": 0.0}
_VERDICTS: dict[str, dict[str, float]] = {
    pair: dict(zip(pair.split("/"), (1.0, 0.0), strict=True))
    for pair in ("correct/wrong", "correct/incorrect", "right/wrong", "pass/fail", "passed/failed")
}
"""Words for 1 and 0, where a column holds nothing else; yes and no may be answers as well."""
_MAYBE = frozenset("correct incorrect right wrong pass passed fail failed yes no y n t f".split())
_WHOLE = re.compile(r"\s*[+-]?(\d+)(?:\.0*)?\s*")
_MOST_DIGITS = 309
"""Digits of the largest double before the point; Python makes no number of more than 4,300."""


def parse_number(text: str, *, hint: str = "repair it", missing: str = "repair it") -> float:
    """A finite number, as the double that it stands for; messages say what to do about text, and about NaN.

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
    """Numbers as `parse_number` reads them, `[cell]`, all at once; None if some cell needs `parse_number`."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    if not np.all(np.abs(values) < LARGEST_WHOLE):
        return None
    zeros = {cells[i] for i in np.flatnonzero(values == 0).tolist()}
    return None if "_" in "".join(cells) or any(map(_is_more_than_zero, zeros)) else values


def _is_more_than_zero(text: str) -> bool:
    """Whether a digit before the exponent is not 0."""
    return any(int(digit) for digit in re.split("[eE]", text)[0] if digit.isdecimal())


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no result: it is empty, or `NaN`, `NA`, `n/a`, `None`, `null`, `-`, `?`.

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


class DataColumn(Sequence[str]):
    """A column of text, some of which may spell numbers."""

    def __init__(self, cells: Sequence[str], *, nested: bool = False) -> None:
        """Take cells `[row]`; `nested` ones stand for lists or objects, which are neither numbers nor names."""
        self.cells, self.nested = cells, nested

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.cells)

    def __getitem__(self, row: Any) -> Any:
        """The cell of a row, or the cells of a slice of rows, as text."""
        return self.cells[row]

    def __iter__(self) -> Iterator[str]:
        """The cells as text."""
        return iter(self.cells)

    @cached_property
    def parsed(self) -> np.ndarray | None:
        """The cells `[row]` float64, if `parse_numbers` reads all of them."""
        return parse_numbers(self.cells)

    @cached_property
    def verdicts(self) -> str:
        """The words that stand for 1 and 0, such as "correct/wrong", where it holds nothing else; else empty.

        >>> DataColumn(["Pass", "", "fail"]).verdicts, DataColumn(["pass", "abstain"]).verdicts
        ('pass/fail', '')
        """
        first = next((cell.strip().lower() for cell in self.cells if not is_missing(cell)), "")
        for pair, numbers in _VERDICTS.items():
            if first in numbers and all(is_missing(cell) or cell.strip().lower() in numbers for cell in self.cells):
                return pair
        return ""

    def numbers(self, number: Callable[[int, str], float]) -> np.ndarray:
        """The cells as numbers, NaN where one is missing; `number` reads, or refuses, that of a row."""
        if self.parsed is not None:
            return self.parsed
        values, truth = np.empty(len(self)), _VERDICTS.get(self.verdicts, TRUTH)
        for row, cell in enumerate(self.cells):
            word = cell.strip().lower()
            known = word in truth or word in MISSING
            values[row] = truth.get(word, np.nan) if known else number(row, cell)
        return values

    def readable(self) -> np.ndarray:
        """The finite numbers among the cells, float64 `[number]`; no text is refused."""
        values = self.numbers(lambda row, cell: as_float(cell))
        return values[np.isfinite(values)]

    def is_numeric(self) -> bool:
        """Whether it holds numbers and no text."""
        if self.parsed is not None:
            return not np.isnan(self.parsed).all()
        given = [cell for cell in self.cells if not is_missing(cell)]
        return bool(given) and (bool(self.verdicts) or not any(map(is_text, given)))

    def is_words(self) -> bool:
        """Whether it holds text, lists or objects, and nothing that may be meant as a number."""
        if self.nested or self.parsed is not None:
            return self.nested
        given = {cell for cell in {*self.cells} if not is_missing(cell)}
        return bool(given) and all(is_text(cell) and hint_for_number(cell) is None for cell in given)


class Numbers(DataColumn):
    """A column of numbers; as names, it is text like any other."""

    nested = False

    def __init__(self, values: np.ndarray, missing: np.ndarray) -> None:
        """Take numbers or truth values `[row]`, anything where missing `[row]`."""
        self.values, self.missing = values, missing

    @cached_property
    def cells(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The numbers as text."""
        cells = zip(self.values.tolist(), self.missing.tolist(), strict=True)
        return ["" if missing else str(value) for value, missing in cells]

    @cached_property
    def parsed(self) -> np.ndarray | None:
        """The numbers `[row]`, NaN where one is missing; None if any is not finite, or not exact."""
        if self.values.dtype.kind in "iu":
            usable = (self.values <= LARGEST_WHOLE) & (self.values >= -LARGEST_WHOLE)
        else:
            usable = np.isfinite(self.values)
        return np.where(self.missing, np.nan, self.values.astype(np.float64)) if (usable | self.missing).all() else None


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


@dataclass(frozen=True, eq=False)
class DataTable:
    """Columns of text or numbers; `is_missing` says which cells are missing values."""

    file: str
    columns: Mapping[str, DataColumn]
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
    def names(self) -> Mapping[str, np.ndarray]:
        """Columns of names, name -> `[row]` (object); empty names are refused."""
        return Lazy(self.columns, partial(_name_column, self))

    def row_numbers(self) -> np.ndarray:
        """The numbers of the rows as names, `[row]` (object)."""
        return np.array([str(row + 1) for row in range(len(self.lines))], object)


def check_characters(content: str) -> None:
    r"""Refuse halves of characters (a lone \ud800), which no report could print."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise InputError("holds half a character (surrogate); repair it") from None


def locate(table: DataTable, row: int, column: str) -> str:
    """Where a cell is, for a message."""
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
    """A column of numbers, float64 `[row]`, NaN where a cell is empty; `hint` says what to do about text."""

    def number(row: int, cell: str) -> float:
        words = "write 1 for right and 0 for wrong" if cell.strip().lower() in _MAYBE else hint
        if cell == "(object)" and table.columns[name].nested:
            words = f"{hint}, or a field of it with {Hint('score_column', f'{name}.FIELD')}"
        with naming(locate(table, row, name)):
            return parse_number(cell, hint=words, missing="repair it")

    return table.columns[name].numbers(number)


def check_filled(
    file: str, *, filled: int, rows: int, columns: int, what: str, remedy: str = "check the columns"
) -> None:
    """Refuse a table that is almost all holes."""
    if rows * columns > LARGEST_SPARSE and filled * 100 < rows * columns:
        raise InputError(f"{file}: {what}: {rows} by {columns}, of which only {filled} are given; {remedy}")
