"""Tables of any format: columns of text or numbers and their lines, and numbers as files spell them.

Nothing becomes a number that a double does not hold; what stands for a missing one is known here alone.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.options import MISSING, Options, hint_for_number, quote
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


def may_be_number(cell: str) -> bool:
    """Whether a cell holds a number, in any spelling, or what stands for one.

    >>> [cell for cell in ("1.5", "1.234,5", "1 234", "50 %", "1.2.3", "case 1", "n/a") if may_be_number(cell)]
    ['1.5', '1.234,5', '1 234', '50 %', 'n/a']
    """
    cell = cell.strip()
    if not is_text(cell) or hint_for_number(cell) is not None:
        return True
    return not cell[0].isalpha() and any(_spelling(*each).fullmatch(cell) for each in _NOTATIONS)


def as_float(cell: str) -> float:
    """A cell as a number, NaN if it is none."""
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
        """The cells as numbers, NaN if one is missing; `number` reads, or refuses, that of a row."""
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
        return bool(given) and not any(map(may_be_number, given))


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
        """The numbers `[row]`, NaN if one is missing; None if any is not finite, or not exact."""
        if self.values.dtype.kind in "iu":
            usable = (self.values <= LARGEST_WHOLE) & (self.values >= -LARGEST_WHOLE)
        else:
            usable = np.isfinite(self.values)
        return np.where(self.missing, np.nan, self.values.astype(np.float64)) if (usable | self.missing).all() else None


class LazyColumns(Mapping[str, Any]):
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
    notes: tuple[str, ...] = ()
    """What was done to make the file a table: titles that were skipped, lines of the header that were joined."""

    @cached_property
    def names(self) -> Mapping[str, np.ndarray]:
        """Columns of names, name -> `[row]` (object); empty names are refused."""
        return LazyColumns(self.columns, partial(_name_column, self))

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
    """A column of numbers, float64 `[row]`, NaN if a cell is empty; `hint` says what to do about text."""

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
    """A number from a file with typed values: no options about spelling apply."""

    __slots__ = ()


_NOTATIONS = ((".", ","), (",", None), (",", "."), (".", "'"), (".", " "))
"""Spellings of numbers that are not the usual one: what stands before decimals, and between thousands."""
_LIKE_NUMBER = re.compile(r"[-+]?(?=[.,' ]*\d)[\d.,' ]+([eE][-+]?\d+)?")
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")
"""A number whose points may stand between thousands."""
_COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
_SMALL = re.compile(r"[-+]?\d{1,3}")
_REPEATED = re.compile(r".*\.(333|667|334|666|125|375|625|875)")
"""Decimals of thirds and eighths, which means of three or eight numbers have."""
_SHOWN, _FEW = 100, 100.0


@cache
def _spelling(decimal: str, thousands: str | None) -> re.Pattern[str]:
    """How numbers are spelled, with this decimal sign and what stands between thousands."""
    whole = rf"\d+|[1-9]\d{{0,2}}({re.escape(thousands)}\d{{3}})+" if thousands else r"\d+"
    return re.compile(rf"[-+]?(({whole})({re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)([eE][-+]?\d+)?")


def _as_point(cell: str, decimal: str, thousands: str | None) -> str:
    """A number with a decimal point, and nothing between its thousands."""
    return (cell.replace(thousands, "") if thousands else cell).replace(decimal, ".")


def _possible_notations(cell: str) -> str:
    """What to do about a number that is spelled in another way; empty for other cells.

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
    """The options that say how numbers are spelled."""
    told = [Hint("decimal", repr(decimal))] * (thousands != "," and decimal == ",")
    return " ".join(map(str, [*told, *([Hint("thousands", repr(thousands))] if thousands else [])]))


def with_numbers(
    table: DataTable, options: Options, *, commas: bool = False, texts: Collection[str] | None = None
) -> DataTable:
    """The table with numbers spelled with decimal points, as `decimal` and `thousands` say.

    If they say nothing, decimal commas are known where `commas` are likely, and nothing else is: what may be thousands
    or decimals is asked about. Columns that are named as no numbers stay, and so does what is `NumberText`. If the file
    knows numbers from text, only `texts` are asked about.

    Raises:
        InputError: at the first use of a column, if its numbers are spelled otherwise, or may mean something else.
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
            return _as_told(table, name, decimal, options.thousands)
        return _as_found(table, name, commas=commas, points=points, texts=texts)

    return replace(table, columns=LazyColumns(table.columns, settled))


def _as_told(table: DataTable, name: str, decimal: str, thousands: str | None) -> DataColumn:
    """A column of numbers that are spelled as options say."""
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


def _as_found(
    table: DataTable, name: str, *, commas: bool, points: Callable[[], bool], texts: Collection[str] | None
) -> DataColumn:
    """A column of numbers with the decimal commas that it has; points or commas between thousands are asked about."""
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
    """Refuse a number whose point or comma may stand before decimals, or between thousands."""
    cell = table.columns[name][row].strip()
    mark = "," if "," in cell else "."
    first, second = cell.replace(mark, "."), cell.replace(mark, "")
    ways = f"give {Hint('thousands', repr(mark))} if it is {second}, or {Hint('decimal', repr(mark))} if it is {first}"
    if cell.count(mark) > 1:
        ways = f"give {Hint('thousands', repr(mark))} if it is {second}"
    where = locate(table, row, name)
    raise InputError(f"{where}: is {quote(cell)} {first} or {second}? {ways}")


def _has_points(table: DataTable) -> bool:
    """Whether some column has decimal points that stand between no thousands."""
    some = [cell.strip() for column in table.columns.values() for cell in column[:_SHOWN] if "." in cell]
    return any(_spelling(".", None).fullmatch(cell) and not _POINTS.fullmatch(cell) for cell in some)


def check_filled(
    file: str, *, filled: int, rows: int, columns: int, what: str, remedy: str = "check the columns"
) -> None:
    """Refuse a table that is almost all holes."""
    if rows * columns > LARGEST_SPARSE and filled * 100 < rows * columns:
        raise InputError(f"{file}: {what}: {rows} by {columns}, of which only {filled} are given; {remedy}")
