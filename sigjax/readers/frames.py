"""Tables with typed columns: data frames, Parquet files, spreadsheets, and JSON (one object per line, or a list).

Frames of pandas, polars and pyarrow are read with narwhals (extra `dataframe`). Nulls and NaN are missing cells. A
pandas index becomes the first columns, unless it only counts rows. This holds for frames, Parquet files that pandas
wrote, and pyarrow tables.

pyarrow reads Parquet files. polars does not read them here, because it ends the process if a page is damaged.
"""

import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from io import BytesIO
from itertools import pairwise
from typing import Any
from zipfile import ZipFile

import numpy as np

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.join import directed
from sigjax.readers.json_files import (
    JsonObject,
    at_path,
    entries_of,
    item_at,
    parse_json,
    parse_json_lines,
    record_paths,
    records_at,
    records_question,
)
from sigjax.readers.layouts import read_table, read_tables
from sigjax.readers.options import Options, ReadOptions, check_meant, check_options, listing, quote, suggest
from sigjax.readers.table import (
    LARGEST_SPARSE,
    DataColumn,
    DataTable,
    LazyColumns,
    Numbers,
    NumberText,
    check_characters,
    check_filled,
    is_missing,
    is_text,
    table_of,
    with_numbers,
)
from sigjax.records import EvaluationRecord, Hint, InputError
from sigjax.records.display import visible
from sigjax.records.metric import AnyMetric
from sigjax.records.options import options_of, values
from sigjax.run.files import ZIP_MAGIC, growth_limit, is_spreadsheet, naming, read_bytes, read_text
from sigjax.version import install_command

FRAME = "data frame"


_OF_FILES = frozenset(("filter", "input", "reader", "records", "unit"))
"""Options of `read` that have no meaning for a data frame."""


def read_frame(frame: Any, metric: AnyMetric | None, options: ReadOptions, **more: Any) -> EvaluationRecord:
    """Read a data frame, and evaluate it by a metric. `more` holds further fields of `Options`."""
    own = Options(**values(options, Options, **more), metric="mean" if metric is None else metric)
    check_options(own)
    check_meant(options, f"the {FRAME}", options_of(ReadOptions).keys() - _OF_FILES)
    return directed(read_table(frame_table(frame, own), own)(own), own)


def frame_table(frame: Any, options: Options, *, file: str = FRAME) -> DataTable:
    """Turn a data frame into a table. Messages call the frame `file`."""
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError(f"data frames need narwhals; run: {install_command('narwhals')}") from None
    index = ()
    if narwhals.dependencies.is_pandas_dataframe(frame):
        frame, index = _plain_pandas(frame)
        refuse_repeats(file, frame.columns)
    elif narwhals.dependencies.is_pyarrow_table(frame):
        refuse_repeats(file, frame.column_names)
        index = _kept_index(frame)
    try:
        wrapped = narwhals.from_native(frame, eager_only=True)
    except TypeError:
        got = f"{type(frame).__name__}; collect it, or make one of it, first"
        raise InputError(f"expected a path or a data frame of pandas, polars or pyarrow, got {got}") from None
    filled = np.zeros(len(wrapped), bool)
    for name in wrapped.columns:
        if not filled[-1:].any():  # empty rows at the end are left out, as in text files
            filled |= ~wrapped.get_column(name).is_null().to_numpy().astype(bool)
    wrapped = wrapped.head(len(filled) - int(np.argmax(filled[::-1])) if filled.any() else 0)
    if len(wrapped) == 0:
        raise InputError(f"{file}: has no rows; expected one row per instance")
    columns = LazyColumns(dict.fromkeys([*index, *wrapped.columns]), partial(_cells, file, wrapped))
    return with_numbers(DataTable(file, columns, range(1, len(wrapped) + 1), "row", index=index), options)


def _plain_pandas(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """Make a pandas frame plain; return the frame, and the names of the columns that were its index.

    The names of columns become text. The index becomes columns, unless it only counts rows.
    """
    names, index = [str(name) for name in frame.columns], ()
    if any(name is not None for name in frame.index.names) or type(frame.index).__name__ != "RangeIndex":
        levels = enumerate(frame.index.names)
        index = tuple(f"__index_level_{k}__" if name is None else str(name) for k, name in levels)
        frame = frame.set_axis(range(len(names)), axis=1).rename_axis(index=[f"{name} " for name in index])
        frame = frame.reset_index()
    return frame.set_axis([*index, *names], axis=1), index


def _kept_index(table: Any) -> tuple[str, ...]:
    """Return the columns of a pyarrow table that were the index of a pandas frame, according to its metadata."""
    try:
        names = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return ()
    return tuple(name for name in table.column_names if name in (names if isinstance(names, list) else ()))


def _cells(file: str, frame: Any, name: str) -> DataColumn:
    """Return a column of the frame. Numbers and truth values are kept; other values become text."""
    import narwhals

    series = frame.get_column(name)
    if series.dtype.is_nested():
        return DataColumn([f"({type(series.dtype).__name__.lower()})"] * len(series), nested=True)
    missing = series.is_null().to_numpy().astype(bool)
    if series.dtype == narwhals.Boolean:
        return Numbers(series.fill_null(value=False).to_numpy(), missing)
    if series.dtype.is_numeric():
        numbers = (series.cast(narwhals.Float64) if series.dtype.is_decimal() else series).fill_null(0).to_numpy()
        exact = not series.dtype.is_decimal() or np.all(np.abs(numbers) < LARGEST_WHOLE)
        if numbers.dtype.kind in "iuf" and exact:
            return Numbers(numbers, missing | np.isnan(numbers))
    try:
        cells = ["" if gone else str(value) for value, gone in zip(series.to_list(), missing.tolist(), strict=True)]
    except UnicodeDecodeError:
        raise InputError(f"{file}, column {quote(name)}: expected UTF-8 text; repair it") from None
    with naming(f"{file}, column {quote(name)}"):
        check_characters(f"{name}{''.join(cells)}")
    return DataColumn(cells)


def refuse_repeats(file: str, names: Iterable[str]) -> None:
    """Refuse columns that have the same name."""
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise InputError(f"{file}: two columns are named {quote(repeated)}; rename one")


_WORDS = {True: "true", False: "false", None: ""}


def _records(file: str, value: Any, path: str) -> list[JsonObject]:
    """Return the records at a path in a JSON value; a path that does not exist is refused."""
    found = records_at(value, path)
    if not found:
        fields = value if isinstance(value, dict) else {}
        meant = suggest(path.partition("[")[0], fields, "fields")
        raise InputError(f"{file}: {Hint('records')}: nothing stands at {quote(path)}; {meant}")
    return [item_at((file, "record", i), own) for i, own in enumerate(found, start=1)]


def _oriented(value: Any, options: Options) -> Any:
    """Return the records (one object per row) of a JSON value that pandas wrote by `to_json`; keep other values.

    pandas has several layouts for a table, which it calls orients. MLflow and Weights & Biases write tables in the
    orient "split".

    >>> _oriented({"columns": ["id", "score"], "data": [["x", 1], ["y", 0]]}, Options())
    [{'id': 'x', 'score': 1}, {'id': 'y', 'score': 0}]
    >>> _oriented({"A": {"q1": 1, "q2": 0}, "B": {"q1": 1, "q2": 1}}, Options())
    [{'__index_level_0__': 'q1', 'A': 1, 'B': 1}, {'__index_level_0__': 'q2', 'A': 0, 'B': 1}]
    """
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        raise InputError("holds rows without names; write them with the names of columns (orient records of pandas)")
    if not isinstance(value, dict):
        return value
    rows, names = value.get("data"), value.get("columns")
    if isinstance(value.get("schema"), dict) and isinstance(rows, list):
        return _of_schema(value["schema"], rows)
    if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return _of_split(names, rows, value.get("index"))
    if value and all(map(_is_plain, value.values())):
        return _of_objects(value, options)
    if paths := record_paths(value):
        raise InputError(records_question(paths))
    return value


def _is_plain(value: Any) -> bool:
    """Whether a value is a nonempty object without objects or lists inside."""
    return isinstance(value, dict) and bool(value) and not any(isinstance(own, list | dict) for own in value.values())


def _of_schema(schema: dict[str, Any], rows: list[Any]) -> list[Any]:
    """Return the records (one object per row) of a table that pandas wrote in the orient "table".

    `schema` describes the columns. An index that only counts rows is dropped.
    """
    counts = [row.get("index") for row in rows if isinstance(row, dict)] == _counted(rows)
    if schema.get("primaryKey") != ["index"] or not counts:
        return rows
    return [{name: own for name, own in row.items() if name != "index"} for row in rows]


def _of_split(names: Sequence[Any], rows: Sequence[list[Any]], index: Any) -> list[dict[str, Any]]:
    """Return the records (one object per row) of a table that pandas wrote in the orient "split".

    `names` are the columns, `rows` hold their values, and `index` the labels of the rows. An index that only counts
    rows is dropped.
    """
    repeated = [name for i, name in enumerate(names) if not isinstance(name, str) or name in names[:i]]
    if repeated or any(len(row) != len(names) for row in rows):
        raise InputError("expected different names as columns, and as many cells in each row of data; repair it")
    made = [dict(zip(names, row, strict=True)) for row in rows]
    if not isinstance(index, list) or len(index) != len(made) or index == _counted(index):
        return made
    return [{_INDEX: id, **row} for id, row in zip(index, made, strict=True)]


_INDEX = "__index_level_0__"
"""The name that pandas gives to an index without a name, also in Parquet files."""


def _counted(rows: Sequence[Any]) -> list[str]:
    return [str(i) for i in range(len(rows))]


def _of_objects(value: dict[str, dict[str, Any]], options: Options) -> list[dict[str, Any]]:
    """Return the records of an object of objects: its values are columns (orient "columns") or rows (orient "index").

    The parameter `orient` of the format decides. Without it, sigjax looks for names that are consecutive numbers, also
    after a common word (row1, row2): such names are labels of rows. If this does not decide, rows are recognized
    because they hold both texts and numbers. If this does not decide either, the user is asked.
    """
    outer, inner = [*value], [*dict.fromkeys(name for own in value.values() for name in own)]
    filled = sum(map(len, value.values()))
    check_filled("object of objects", filled=filled, rows=len(inner), columns=len(outer), what="columns by rows")
    (told,) = options.parameters.get("orient", ("",))
    across = ([own[name] for own in value.values() if name in own] for name in inner)
    mixed = {"columns": any(map(_is_mixed, across)), "index": any(_is_mixed(own.values()) for own in value.values())}
    rows = {"columns": _are_rows(inner), "index": _are_rows(outer)}
    evidence = rows if sum(rows.values()) == 1 else mixed
    likely = [each for each in evidence if evidence[each]]
    if not told and len(likely) != 1:
        ways = " or ".join(str(Hint("reader", f"json(orient={each})")) for each in ("columns", "index"))
        raise InputError(f"are {listing(outer, 3)} columns or rows? give {ways}; orient is that of to_json in pandas")
    counted = outer == _counted(outer)
    if (told or likely[0]) == "index":
        return [own if counted else {_INDEX: id, **own} for id, own in value.items()]
    counted = inner == _counted(inner)
    columns = {name: own for name, own in value.items()}
    made = [{name: own.get(id) for name, own in columns.items()} for id in inner]
    return made if counted else [{_INDEX: id, **own} for id, own in zip(inner, made, strict=True)]


def _are_rows(names: Sequence[str]) -> bool:
    """Whether names look like labels of rows: consecutive integers, also after a common word (row1, row2)."""
    words = [name.rstrip("0123456789") for name in names]
    numbers = [name[len(word) :][-18:] for name, word in zip(names, words, strict=True)]
    if len(names) < 2 or len({*words}) > 1 or not all(numbers):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(numbers))


def _is_mixed(values: Iterable[Any]) -> bool:
    """Whether some values are texts and others are numbers. At this point, numbers are kept as text."""
    kinds = {is_text(value) for value in values if isinstance(value, str) and not is_missing(value)}
    return len(kinds) > 1


def _paths_named(options: Options) -> list[str]:
    """Return the columns that options name by a path into nested objects, such as `parsed.score`."""
    names = [*(options.id_column or "").split(","), options.system_column, options.score_column, options.runs]
    names += [options.cluster, options.strata, options.gold, *(options.prediction or ()), *(options.melt or ())]
    names += [*(options.counts or {}).values(), *re.findall(r"`([^`]*)`", options.where or "")]
    names += re.findall(r"[A-Za-z_][\w.\[\]]*", options.where or "")
    return [name.strip() for name in dict.fromkeys(names) if name and re.search(r"[.\[]", name)]


def _table(file: str, objects: Iterable[JsonObject], lines: Sequence[int] | None, options: Options) -> DataTable:
    """Turn objects into a table with one column per field; a missing field is an empty cell.

    A field that holds lists or objects can be used neither as numbers nor as names. Fields in the option `ignore` may
    hold any values. `lines` are the line numbers of the objects; None if messages count rows instead.
    """
    nested: dict[str, JsonObject] = {}
    rows: list[dict[str, str]] = []
    paths, ignore, word = _paths_named(options), options.ignore, "row" if lines is None else "line"
    for item in objects:
        below = {path: at_path(item.fields, path) for path in paths}
        fields = {path: value for path, value in below.items() if value is not None} | dict(item.fields)
        rows.append({name: "" if name in ignore else _cell(item, name, own, nested) for name, own in fields.items()})
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise InputError(f"{file}: the objects have no fields; expected one field per system")
    filled = sum(map(len, rows))
    check_filled(file, filled=filled, rows=len(rows), columns=len(names), what=f"{word}s by different fields")
    columns = {name: DataColumn([row.get(name, "") for row in rows]) for name in names}
    for name, item in nested.items():
        if not {*columns[name]} <= {"", "(list)", "(object)"}:
            expected = "expected a text, a number, true, false or null, as other objects have, got a list or an object"
            raise InputError(f"{item.field(name)}: {expected}; leave it out with {Hint('ignore', 'NAME')}")
        columns[name] = DataColumn(columns[name].cells, nested=True)
    table = DataTable(file, columns, range(1, len(rows) + 1) if lines is None else lines, word)
    return with_numbers(table, options, texts=())


def _cell(item: JsonObject, name: str, value: object, nested: dict[str, JsonObject]) -> str:
    """Return the value of the field `name` of an object as text.

    `nested` collects, for each field that holds lists or objects, the first object with such a value.
    """
    if isinstance(value, list | dict):
        nested.setdefault(name, item)
        return "(list)" if isinstance(value, list) else "(object)"
    cell = value if isinstance(value, str) else _WORDS[value]  # type: ignore[index]
    if not (name.isascii() and cell.isascii()):
        with naming(item.field(name)):
            check_characters(name + cell)
    return cell


def _parse_lines(file: str, options: Options, *, alone: bool) -> DataTable:
    text = read_text(file)
    items = parse_json_lines(file, text, spelled=_spelling(options))
    if (path := options.records) is not None:
        return _table(file, [own for item in items for own in _records(file, item.fields, path)], None, options)
    return _table(file, items, [i for i, line in enumerate(text.split("\n"), start=1) if line.strip()], options)


def _spelling(options: Options) -> type[str]:
    """Return the class of text in which numbers of a JSON file are kept: `NumberText` or str.

    If the user gave the option `decimal` or `thousands`, return `NumberText`. These options leave numbers in
    `NumberText` alone, so they change only the strings of the file. Otherwise return str.
    """
    return str if options.decimal is options.thousands is None else NumberText


def _parse_list(file: str, options: Options, *, alone: bool) -> DataTable:
    loaded = parse_json(file, read_text(file), spelled=_spelling(options))
    if options.records is not None:
        entries = _records(file, loaded, options.records)
    else:
        with naming(file):
            entries = entries_of(_oriented(loaded, options), file)
    table = _table(file, entries, None, options)
    return replace(table, index=tuple(name for name in (_INDEX,) if name in table.columns))


read_jsonl, read_json = partial(read_tables, _parse_lines), partial(read_tables, _parse_list)


def parquet_table(file: str, data: bytes, choose: Callable[[Any], list[str] | None]) -> Any:
    """Read a Parquet file from its bytes.

    `choose` takes the schema of the file, and returns the dotted paths of the columns to read, or None for all columns.
    """
    from pyarrow import BufferReader  # pyright: ignore[reportMissingImports]
    from pyarrow.parquet import ParquetFile  # pyright: ignore[reportMissingImports]

    parquet = ParquetFile(BufferReader(data))
    refuse_repeats(file, parquet.schema_arrow.names)
    return parquet.read(columns=choose(parquet.schema_arrow))


@contextmanager
def refusing_damage(
    file: str,
    what: str = "Parquet",
    libraries: Sequence[str] = ("pyarrow", "narwhals"),
    remedy: str = "write the file again",
) -> Iterator[None]:
    """In a with block, turn each error of a library into an `InputError`: the file is damaged, or a package is missing.

    Args:
        file: the name of the file.
        what: the kind of file, for the message.
        libraries: the packages to install; the first one reads the file.
        remedy: what else the user can do.
    """
    try:
        yield
    except InputError:
        raise
    except ModuleNotFoundError:
        command = install_command(*libraries)
        raise InputError(f"{file}: is {what}, which {libraries[0]} reads; run: {command}; or {remedy}") from None
    except BaseException as error:  # damaged files raise a dozen types of errors; calamine panics
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = visible(" ".join(str(error)[:1000].split())[:200]) or type(error).__name__
        raise InputError(f"{file}: is {what}, but cannot be read: {reason}; {remedy}") from None


def _parse_parquet(file: str, options: Options, *, alone: bool) -> DataTable:
    with refusing_damage(file):
        table = parquet_table(file, read_bytes(file), lambda schema: None)
    return frame_table(table, options, file=file)


read_parquet = partial(read_tables, _parse_parquet)


def _parse_sheet(file: str, options: Options, *, alone: bool) -> DataTable:
    """Read the only nonempty sheet of a spreadsheet, or the sheet that the user names by `excel(sheet=NAME)`."""
    data = read_bytes(file)
    if not is_spreadsheet(file, data):
        raise InputError(f"{file}: is no spreadsheet, as other files are; save all as CSV")
    with refusing_damage(file, "a spreadsheet (Excel, LibreOffice)", ["python-calamine"], "save it as CSV"):
        from python_calamine import CalamineWorkbook  # pyright: ignore[reportMissingImports]

        if data.startswith(ZIP_MAGIC):
            with ZipFile(BytesIO(data)) as archive:
                size, limit = sum(member.file_size for member in archive.infolist()), growth_limit(len(data))
                if size > limit:
                    message = f"{len(data)} bytes unpack to more than {limit}; save it as CSV if it is data"
                    raise InputError(f"{file}: {message}")
                for name in archive.namelist():
                    if name.startswith("xl/worksheets/") and name.endswith((".xml", ".bin")):
                        _check_extent(file, name, archive.read(name))
        book = CalamineWorkbook.from_filelike(BytesIO(data))
        every = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
        sheets = {name: rows for name, sheet in every.items() if (rows := sheet.to_python())}
    (named,) = options.parameters.get("sheet", ("",))
    if named not in sheets and (named or len(sheets) != 1):
        example = Hint("reader", f"excel(sheet={next(iter(sheets), 'NAME')})")
        raise InputError(f"{file}: which sheet, {listing(sheets)}? say so with {example}")
    name = named or next(iter(sheets))
    (top, left), cells = every[name].start or (0, 0), sheets[name]
    filled = _fill_merged(cells, every[name].merged_cell_ranges or (), top, left)
    texts = {cell for row in cells for cell in row if type(cell) is str and "." in cell}
    spell = _sheet_cell if options.decimal is options.thousands is None else _spelled_cell
    rows = [[*map(spell, row)] for row in cells]
    width = 0
    for row in rows:
        width = max(width, next((j for j in range(len(row), width, -1) if row[j - 1]), 0))
    records = ((number, row[:width]) for number, row in enumerate(rows, start=top + 1))
    table = table_of(file, records, word="row", alone=False, gaps=False)
    notes = (*table.notes, *[f"{file}: merged cells have the text of their first one in every row"] * filled)
    return with_numbers(replace(table, header=None, notes=notes), options, texts=texts)


def _fill_merged(rows: list[list[Any]], merged: Iterable[Any], top: int, left: int) -> bool:
    """Copy the text of cells that span several rows into each of these rows; return whether there are such cells.

    `merged` lists the first and the last cell of each merged area. The cell `rows[0][0]` is in the row `top` and the
    column `left` of the sheet.
    """
    found = False
    for (first, column), (last, _) in merged:
        row, j = first - top, column - left
        if first < last and 0 <= row < len(rows) and 0 <= j < len(rows[row]) and isinstance(text := rows[row][j], str):
            for own in rows[row + 1 : last - top + 1]:
                own[j], found = text, True
    return found


_COLUMNS = re.compile(rb' r="([A-Z]{1,3})(?=[0-9])')
_ROWS = re.compile(rb' r="[A-Z]{1,3}([0-9]{1,7})"')
_CELLS = re.compile(rb"<(?:\w+:)?c\s([^<>]*)(?<!/)>(?!</)")
"""Pattern of a nonempty cell in the XML of a sheet. Group 1 holds the attributes of the cell."""
_ADDRESS = re.compile(rb'(?:^|\s)r="([A-Z]{1,3})([0-9]{1,7})"')
_MOST_ROWS = 2**20
"""Largest number of rows of an Excel sheet."""
_DIMENSION = b"\x94\x01\x10"
"""In a binary sheet (.xlsb), these bytes precede the numbers of the first and last row and column."""
_LEAST_CELL = 10
"""Smallest number of bytes of a cell in a binary Excel sheet (.xlsb)."""


def _check_extent(file: str, name: str, content: bytes) -> None:
    """Refuse an Excel sheet with a cell far away from its other cells, because calamine creates all cells in between.

    The size that an XML sheet states is often wrong, so the addresses of its cells are checked. For a binary sheet
    (.xlsb), the stated size is checked.
    """
    if name.endswith(".bin"):
        if (at := content[:1000].find(_DIMENSION)) >= 0 and len(content) >= at + 19:
            top, bottom, left, right = struct.unpack_from("<4I", content, at + 3)
            _check_size(file, name, len(content) // _LEAST_CELL, (top, bottom), (left, right))
        return
    columns = {_column_number(letters) for letters in {*_COLUMNS.findall(content)}} or {0}
    most = LARGEST_SPARSE // (max(columns) - min(columns) + 1)  # a sheet with fewer rows is small enough
    if most >= _MOST_ROWS or all(int(row) <= most for row in {*_ROWS.findall(content)}):
        return
    cells = [found.groups() for each in _CELLS.finditer(content) if (found := _ADDRESS.search(each[1]))]
    columns = {_column_number(letters) for letters, _ in cells} or {0}
    rows = {int(row) for _, row in cells} or {0}
    _check_size(file, name, len(cells), (min(rows), max(rows)), (min(columns), max(columns)))


def _check_size(file: str, name: str, filled: int, rows: tuple[int, int], columns: tuple[int, int]) -> None:
    what = f"rows by columns of a sheet ({name})"
    sizes = {"rows": rows[1] - rows[0] + 1, "columns": columns[1] - columns[0] + 1}
    check_filled(file, filled=filled, **sizes, what=what, remedy="delete the cells far away, or save it as CSV")


def _column_number(letters: bytes) -> int:
    """Return the number of a spreadsheet column from its letters: A is 1, AA is 27."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters, 0)


def _sheet_cell(cell: Any) -> str:
    """Return a cell as text. Spreadsheets store integers as doubles; they are written without a decimal point."""
    if type(cell) is str:
        return cell
    if type(cell) is float:
        return str(int(cell)) if cell.is_integer() else str(cell)
    return _WORDS[cell] if isinstance(cell, bool) else str(cell)


def _spelled_cell(cell: Any) -> str:
    """Return a cell as text. If it was a number in the file, it becomes `NumberText`.

    The options about the spelling of numbers (`decimal`, `thousands`) do not apply to `NumberText`.
    """
    return cell if type(cell) is str else NumberText(_sheet_cell(cell))


read_excel = partial(read_tables, _parse_sheet)
