"""Tables as text, with tabs, commas, semicolons or blanks between columns; and lines of numbers without header or ids.

`numbers`: one file per system, one number per line, or the two or four of smartschat/art. `paired-perm`: both systems
in one file, as rycolab/paired-perm-test writes it.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NoReturn

import numpy as np

from sigjax.metrics import METRICS
from sigjax.readers.join import Reading, Sheet, Sources, join_sheets, refuse_texts
from sigjax.readers.layouts import read_tables
from sigjax.readers.options import Options, chosen_metric, quote
from sigjax.readers.table import DataColumn, DataTable, is_missing, is_text, parse_number, parse_numbers
from sigjax.records import EvaluationRecord, Hint, InputError, Line
from sigjax.run.files import naming, read_text

DELIMITERS = {"tsv": "\t", "csv": ","}
_COMMA = re.compile(r"\s*[-+]?(\d+(,\d*)?|,\d+)([eE][-+]?\d+)?\s*")
"""A number that may have a decimal comma."""
_GROUPS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(,\d{3})+\s*")
"""A number whose comma may stand between thousands."""


def parse_delimited(file: str, text: str, *, dialect: str, alone: bool = True) -> DataTable:
    r"""A table as text: tsv, csv (with semicolons, too, and then with decimal commas), or blanks between columns.

    In csv a field in double quotes may hold commas and line breaks, as usual. In tsv a field is what stands between two
    tabs; quotes count only where they surround it (texts hold single quotes of their own). Left out are blank lines,
    comments (lines that begin with # and are no rows), and the empty rows that spreadsheets leave at the end. `alone`
    is whether the file has all systems, and so more than one column.

    >>> parse_delimited("t.csv", "id,A\nx,1\n", dialect="csv").columns["A"].cells
    ['1']
    >>> parse_delimited("t.csv", "id;A\n\nx;0,5\n", dialect="csv").columns["A"].cells
    ['0.5']
    >>> parse_delimited("t.csv", "# made by x\nid,A\n# half\nx,1\n,\n", dialect="csv").lines
    [4]
    """
    if dialect == "spaces":
        return parse_delimited(file, _with_tabs(text), dialect="tsv", alone=alone)
    lines = text.rstrip("\n").split("\n")
    first = next((line for line in lines if line.strip(" ") and not line.startswith("#")), lines[0])
    semicolons = dialect == "csv" and ";" in first and "," not in first
    delimiter = ";" if semicolons else DELIMITERS[dialect]
    header = _header_at(lines, first, delimiter)
    lines[:header] = [""] * header
    quoted = dialect == "csv" and '"' in text
    records = csv_records(file, "\n".join(lines), delimiter) if quoted else _plain_records(lines, delimiter)
    table = parse_records(file, records, dialect=dialect, alone=alone)
    return replace(table, columns=_with_points(file, table.columns)) if semicolons else table


def _header_at(lines: Sequence[str], first: str, delimiter: str) -> int:
    """The index of the header: of the `first` line without #, or of one with # before it that has as many fields."""
    at = lines.index(first)
    *before, width = (_width(line, delimiter) for line in lines[: at + 1])
    return before.index(width) if width in before and not (width == 1 and is_text(first)) else at


def _width(line: str, delimiter: str) -> int:
    """The number of fields of a line; quotes are not looked at if a field is too long for a reader of CSV."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return line.count(delimiter) + 1


def _plain_records(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields, none of which holds a delimiter, of each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if line.strip(" "):
            yield number, [*map(unquote, line.split(delimiter))] if '"' in line else line.split(delimiter)


def parse_records(file: str, records: Iterator[tuple[int, list[str]]], *, dialect: str, alone: bool) -> DataTable:
    """The table of the fields of each line but comments; where # begins rows, it begins no comments."""
    header, first = next(records, (1, []))
    names = [name.strip() for name in first]
    width, lines, cells, comments = len(names), [header], list[str](), list[tuple[int, list[str]]]()
    for line, fields in records:
        if len(fields) == width:
            lines.append(line)
            cells += fields
        elif fields[0].startswith("#") and (len(fields) == 1 or fields[0][1:2] in ("", " ")):
            comments.append((line, fields))
        else:
            _refuse_width(file, line, fields, width)
    if comments and any(cell.startswith("#") for cell in cells[::width]):
        _refuse_width(file, *comments[0], width)
    while len(lines) > 1 and not any(map(str.strip, cells[-width:])):
        lines.pop()
        del cells[-width:]
    _check_header(file, names, lines, dialect=dialect, alone=alone)
    columns = {name: DataColumn(cells[j::width]) for j, name in enumerate(names)}
    return DataTable(file, columns, lines[1:], header=header)


def _with_tabs(text: str) -> str:
    """The same table with tabs between its columns; a header without a name for the first column is that of R."""
    rows = ["\t".join(re.findall(r'"[^"]*"|\S+', row)) for row in text.split("\n")]
    given = [i for i, row in enumerate(rows) if row and not row.startswith("#")]
    widths = {rows[i].count("\t") for i in given[1:]}
    if given and widths == {rows[given[0]].count("\t") + 1}:
        rows[given[0]] = f"\t{rows[given[0]]}"
    return "\n".join(rows)


def _with_points(file: str, columns: Mapping[str, DataColumn]) -> dict[str, DataColumn]:
    """Columns with decimal points where they have decimal commas."""
    found = {
        name: [cell for cell in cells if "," in cell]
        for name, cells in columns.items()
        if all(is_missing(cell) or _COMMA.fullmatch(cell) for cell in cells)
    }
    commas = [cell for cells in found.values() for cell in cells]
    if commas and all(map(_GROUPS.fullmatch, commas)):
        raise InputError(
            f"{file}: is {quote(commas[0].strip())} {commas[0].strip().replace(',', '.')} or "
            f"{commas[0].strip().replace(',', '')}? write decimal points, and no commas between thousands"
        )
    return {
        name: DataColumn([cell.replace(",", ".") for cell in cells]) if found.get(name) else cells
        for name, cells in columns.items()
    }


def _refuse_width(file: str, line: int, fields: Sequence[str], width: int) -> NoReturn:
    raise InputError(f"{Line(file, line)}: expected {width} fields as in the header, got {len(fields)}")


def csv_records(file: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each record that is not blank."""
    reader = csv.reader(io.StringIO(text), strict=True, delimiter=delimiter)
    line = 1
    try:
        for fields in reader:
            if len(fields) > 1 or any(map(str.strip, fields)):
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{Line(file, line)}: not readable as csv: {error}; check the quotes, or write JSON lines"
        ) from None


def unquote(field: str) -> str:
    """A field without the quotes that surround all of it."""
    inner = field[1:-1]
    if len(field) < 2 or not field.startswith('"') or not field.endswith('"') or '"' in inner.replace('""', ""):
        return field
    return inner.replace('""', '"')


def _check_header(file: str, names: list[str], lines: Sequence[int], *, dialect: str, alone: bool) -> None:
    if not names:
        raise InputError(f"{file}, line 1: expected the names of the columns, got an empty line; remove it")
    if len(names) == 1 and (alone or any(mark in names[0] for mark in "\t,;")):
        between, other = ("tabs", "csv") if dialect == "tsv" else ("commas", "tsv")
        raise InputError(
            f"{Line(file, lines[0])}: found one column, {quote(names[0])}; expected {between} between columns "
            f"({Hint('reader', other)} reads the other kind)"
        )
    if len(names) == 1 and lines[-1] - lines[0] >= len(lines):
        raise InputError(f"{file}: has blank lines, and no ids; write NaN where a result is missing")
    if len(lines) == 1:
        raise InputError(f"{file}: has a header but no rows; expected one row per instance")
    if not any(is_text(name) for name in names):
        raise InputError(
            f"{Line(file, lines[0])}: expected the names of the columns, got numbers; add a line with the names "
            f"({Hint('reader', 'paired-perm')} reads numbers of two systems without names)"
        )
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if not name and index:
            raise InputError(f"{Line(file, lines[0])}: column {index + 1} has no name; name it")
        if (first := seen.setdefault(name, index)) < index:
            remedy = "rename one" if is_text(name) else "is this a row without a header? add a line with the names"
            both = f"columns {first + 1} and {index + 1} are both named {quote(name)}"
            raise InputError(f"{Line(file, lines[0])}: {both}; {remedy}")


def _parse_file(dialect: str, file: str, _: Options, *, alone: bool) -> DataTable:
    return parse_delimited(file, read_text(file), dialect=dialect, alone=alone)


read_tsv, read_csv, read_spaces = (
    partial(read_tables, partial(_parse_file, dialect)) for dialect in ("tsv", "csv", "spaces")
)

_BY_WIDTH = {2: "ratio", 4: "fscore-ratios"}
"""How many numbers a line has -> their metric by default, where it is not the mean."""
_PAIRED = {2: "fscore-errors"}


def read_numbers(sources: Sources, _: Options) -> Reading:
    """One file per system, with as many numbers on each line."""
    tables = {name: (file, _numbers(file, str.split)) for name, file in sources.systems.items()}
    return partial(_evaluate, tables, _BY_WIDTH)


def read_paired(sources: Sources, _: Options) -> Reading:
    """One file with the numbers of the systems A and B."""
    (file,) = sources.files
    table = _numbers(file, _between_marks)
    if table.shape[1] not in (2, 4):
        raise InputError(
            f"{file}, line 1: expected 2 numbers (correct of A and of B) or 4 (correct and incorrect of A, then of B), "
            f"got {table.shape[1]}"
        )
    a, b = np.split(table, 2, axis=1)
    return partial(_evaluate, {"A": (file, a), "B": (file, b)}, _PAIRED)


def _evaluate(
    tables: Mapping[str, tuple[str, np.ndarray]], usual: Mapping[int, str], options: Options
) -> EvaluationRecord:
    """The evaluation of numbers `[line, number]` of each system, by default as `usual` says for so many."""
    (first, table), *others = tables.values()
    width = table.shape[1]
    for file, other in others:
        if other.shape[1] != width:
            raise InputError(f"{file}: has {other.shape[1]} numbers per line, but {first} has {width}")
    metric = METRICS[usual[width]] if options.metric == "mean" and width in usual else chosen_metric(options)
    refuse_texts(first, metric, {}, metric.inputs, what="these are numbers")
    takes = len(metric.inputs)
    if takes != width:
        raise InputError(f"{first}: metric {metric.name!r} takes {takes} numbers per line and system, got {width}")
    options = replace(options, metric=metric)
    sheets = [Sheet(name, file, dict(zip(metric.inputs, own.T, strict=True))) for name, (file, own) in tables.items()]
    return join_sheets(sheets, options)(options)


def _between_marks(line: str) -> list[str]:
    """What stands between commas, or else between tabs, which may be several."""
    parts = [list(filter(None, map(str.strip, part.split("\t")))) for part in line.split(",")]
    return [field for part in parts for field in part or [""]]


def _numbers(file: str, fields_of: Callable[[str], list[str]]) -> np.ndarray:
    """Numbers `[line, number]`, as many on each line."""
    lines = read_text(file).removesuffix("\n").split("\n")
    rows = list(map(fields_of, lines))
    width = len(rows[0])
    for line, row in enumerate(rows, start=1):
        if len(row) != width or not row:
            raise InputError(f"{Line(file, line)}: expected {width or 'a'} number(s) as on line 1, got {len(row)}")
    fields = [field for row in rows for field in row]
    values = parse_numbers(fields)
    if values is None:
        values = np.empty(len(fields))
        for i, field in enumerate(fields):
            with naming(f"{Line(file, i // width + 1)}"):
                values[i] = parse_number(field)
    return values.reshape(len(rows), width)
