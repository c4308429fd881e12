"""Parquet files, decoded within bounds on what they unpack to, however little they store.

Only columns with one value per row are decoded, batch by batch, and text stays in its dictionary until the size of all
cells is known. The metadata of column chunks is left alone, since pyarrow ends the process where it is damaged; polars,
which ends it where a page is, reads no files here (its frames are taken like others).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sigjax.files.opening import growth_limit, read_bytes
from sigjax.readers.formats import looks_like
from sigjax.readers.options import Options, show
from sigjax.readers.table import Table
from sigjax.readers.tables.frames import frame_table, refuse_repeats
from sigjax.readers.tables.layouts import check_width, table_format
from sigjax.records import InputError
from sigjax.records.visible import visible

_MOST_ROWS = 2**16
"""Rows of a batch."""
_WIDEST = 32
"""Bytes of a number of any type."""


def parquet_frame(file: str, data: bytes, check: Callable[[Sequence[str]], None] = lambda names: None) -> Any:
    """A Parquet table as a table of pyarrow; columns of lists and objects are there as lists that are null.

    Args:
        file: for messages.
        data: the content of the file.
        check: refuses names of columns before any is decoded.

    Raises:
        InputError: pyarrow is not installed, the file is damaged, text is not UTF-8, or it unpacks to far more than its
            size.
    """
    names: list[str] = []

    def flat(schema: Any) -> list[str]:
        refuse_repeats(file, schema.names)
        check(schema.names)
        names.extend(schema.names)
        return [field.name for field in schema if is_flat(field.type)]

    with refusing_damage(file):
        decoded = parquet_columns(file, data, flat)
        if not decoded.num_columns:
            raise InputError(f"{file}: no column holds numbers or text; expected one column per system")
        return _plain(decoded, names)


def parquet_columns(file: str, data: bytes, choose: Callable[[Any], list[str]]) -> Any:
    """The columns with one value per row that are chosen by the schema of pyarrow, as a table of pyarrow.

    Args:
        file: for messages.
        data: the content of the file.
        choose: schema -> dotted paths of columns, of which none holds lists.

    Raises:
        InputError: as `parquet_frame`, within `refusing_damage`.
    """
    from pyarrow import BufferReader, Table  # pyright: ignore[reportMissingImports]
    from pyarrow.parquet import ParquetFile  # pyright: ignore[reportMissingImports]

    plain = ParquetFile(BufferReader(data))
    paths = choose(plain.schema_arrow)
    num_columns = len(plain.schema)
    wanted = frozenset(paths)
    leaves = [leaf for leaf in map(plain.schema.column, range(num_columns)) if leaf.path in wanted]
    if any(leaf.max_repetition_level for leaf in leaves) or len(leaves) != len(paths):
        raise InputError(f"{file}: names of columns cannot be told apart; rename those with dots")
    limit = growth_limit(len(data))
    groups = map(plain.metadata.row_group, range(plain.metadata.num_row_groups))
    width = max(num_columns, sum(leaf.length for leaf in leaves))
    claimed = max(plain.metadata.num_rows * width, sum(group.total_byte_size for group in groups))
    _check_size(file, data, claimed)
    # As dictionaries, repeated texts take no more memory than once.
    parquet = ParquetFile(BufferReader(data), metadata=plain.metadata, read_dictionary=paths)
    most_rows = min(_MOST_ROWS, limit // max(1, sum(max(_WIDEST, leaf.length) for leaf in leaves)) + 1)
    batches, size = [], 0
    for batch in parquet.iter_batches(most_rows, columns=paths):
        size += sum(_decoded_size(file, name, batch.column(i)) for i, name in enumerate(batch.schema.names))
        _check_size(file, data, size)
        batches.append(batch)
    return Table.from_batches(batches, None if batches else parquet.schema_arrow)


@contextmanager
def refusing_damage(file: str) -> Iterator[None]:
    """Refuse a damaged file in one line, whatever is raised, or say what to install."""
    try:
        yield
    except InputError:
        raise
    except ModuleNotFoundError:
        raise InputError(
            f'{file}: Parquet is read by pyarrow, which is not installed; run: pip install "sigjax[parquet]"'
        ) from None
    except Exception as error:  # pyarrow and Python have a dozen kinds for damaged files
        reason = visible(" ".join(str(error)[:1000].split())[:200]) or type(error).__name__
        raise InputError(f"{file}: not readable as Parquet: {reason}; write the file again") from None


def is_flat(kind: Any) -> bool:
    """Whether a type of pyarrow has one value per row that is a number, a truth value, text, bytes or a time."""
    from pyarrow import BaseExtensionType, types  # pyright: ignore[reportMissingImports]

    return not types.is_nested(kind) and not isinstance(kind, BaseExtensionType)


def _plain(decoded: Any, names: Sequence[str]) -> Any:
    """A decoded table without dictionaries, with all columns that the file names."""
    from pyarrow import Table, large_string, list_, null, nulls, types  # pyright: ignore[reportMissingImports]

    columns = dict(zip(decoded.column_names, decoded.columns, strict=True))
    for name, column in columns.items():
        if types.is_dictionary(column.type):
            kind = column.type.value_type
            columns[name] = column.cast(large_string() if types.is_string(kind) else kind)
    # One by one, the columns before each would be copied for it.
    absent = nulls(decoded.num_rows, list_(null()))
    given = [columns.get(name, absent) for name in names]
    return Table.from_arrays(given, names=names, metadata=decoded.schema.metadata)


def _decoded_size(file: str, name: str, column: Any) -> int:
    """The bytes of a column of a batch without dictionaries; text that is not UTF-8 is refused."""
    from pyarrow import ArrowInvalid, compute, types  # pyright: ignore[reportMissingImports]

    if types.is_struct(column.type):
        fields = [field.name for field in column.type]
        return sum(_decoded_size(file, f"{name}.{field}", column.field(i)) for i, field in enumerate(fields))
    try:
        column.validate(full=True)
    except ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        raise InputError(f"{file}, column {show(name)}: expected UTF-8 text; write the file again as UTF-8") from None
    if not types.is_dictionary(column.type):
        return max(column.nbytes, 8 * len(column))  # every number becomes a double
    lengths = compute.call_function("binary_length", [column.dictionary]).cast("int64").take(column.indices)
    return 8 * len(column) + (compute.call_function("sum", [lengths]).as_py() or 0)


def _check_size(file: str, data: bytes, size: int) -> None:
    limit = growth_limit(len(data))
    if size > limit:
        raise InputError(
            f"{file}: {len(data)} bytes unpack to more than {limit}: this is no data; write it as csv if it is"
        )


def _parse_parquet(file: str, options: Options, *, alone: bool) -> Table:
    def check(names: Sequence[str]) -> None:
        if alone and options.system is None:
            check_width(file, len(names), options)

    return frame_table(parquet_frame(file, read_bytes(file), check), file=file)


PARQUET = table_format("parquet", "table of Apache Parquet", _parse_parquet, looks_like(rb"^PAR1", ending=".parquet"))
