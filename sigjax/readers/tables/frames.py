"""Data frames of pandas, polars and pyarrow, and Parquet files: tables whose columns are numbers already.

They are read through narwhals (extra `dataframe`). What is null is a missing cell, and so is NaN in a column of pandas
that knows no other null; any other NaN is refused, as in files. A named index of pandas is read as columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sigjax.files.opening import read_bytes
from sigjax.metrics.arrays import LARGEST_WHOLE
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, show
from sigjax.readers.table import Nested, Numbers, Table
from sigjax.readers.tables.parquet import parquet_frame, refuse_repeats
from sigjax.readers.tables.tables import read_table
from sigjax.records import InputError

FRAME = "data frame"
_PARQUET_MAGIC = b"PAR1"


def frame_table(frame: Any, *, file: str = FRAME) -> Table:
    """A data frame as a table.

    Raises:
        InputError: narwhals is not installed, this is no data frame, two columns have the same name, or it has no rows.
    """
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError('data frames need narwhals; run: pip install "sigjax[dataframe]"') from None
    if narwhals.dependencies.is_pandas_dataframe(frame):
        frame = _plain_pandas(frame)
        refuse_repeats(file, frame.columns)
    elif narwhals.dependencies.is_pyarrow_table(frame):
        refuse_repeats(file, frame.column_names)
    try:
        wrapped = narwhals.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"expected a data frame of pandas, polars or pyarrow, got {type(frame).__name__}; collect it, or make one "
            "of it, first"
        ) from None
    if len(wrapped) == 0:
        raise InputError(f"{file}: has no rows; expected one row an instance")
    return Table(file, _Columns(file, wrapped), range(1, len(wrapped) + 1), "row")


def _plain_pandas(frame: Any) -> Any:
    """A frame of pandas whose named index is columns, and whose names are text."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


class _Columns(Mapping[str, Sequence[str]]):
    """The columns of a frame, made only when they are asked for."""

    def __init__(self, file: str, frame: Any) -> None:
        self._file, self._frame, self._known = file, frame, dict[str, Sequence[str]]()
        self._names = dict.fromkeys(frame.columns)

    def __getitem__(self, name: str) -> Sequence[str]:
        if name not in self._known:
            self._known[name] = _cells(self._file, name, self._frame.get_column(name))
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _cells(file: str, name: str, series: Any) -> Sequence[str]:
    """A column of numbers or truth values as it is, any other as text."""
    import narwhals

    if series.dtype.is_nested():
        return Nested([f"({type(series.dtype).__name__.lower()})"] * len(series))
    missing = series.is_null().to_numpy().astype(bool)
    if series.dtype == narwhals.Boolean:
        return Numbers(series.fill_null(value=False).to_numpy(), missing)
    if series.dtype.is_numeric():
        numbers = (series.cast(narwhals.Float64) if series.dtype.is_decimal() else series).fill_null(0).to_numpy()
        exact = not series.dtype.is_decimal() or np.all(np.abs(numbers) < LARGEST_WHOLE)
        if numbers.dtype.kind in "iuf" and exact:
            return Numbers(numbers, missing)
    try:
        cells = ["" if gone else str(value) for value, gone in zip(series.to_list(), missing.tolist(), strict=True)]
    except UnicodeDecodeError:
        raise InputError(f"{file}, column {show(name)}: expected UTF-8 text; repair it") from None
    try:
        f"{name}{''.join(cells)}".encode()
    except UnicodeEncodeError:
        raise InputError(f"{file}, column {show(name)}: holds half a character (surrogate); repair it") from None
    return cells


def _read_parquet(sources: Sources, options: Options) -> Reading:
    del options
    (file,) = sources.files
    return partial(read_table, frame_table(parquet_frame(file, read_bytes(file)), file=file))


def _looks_parquet(name: str, head: bytes) -> bool:
    return name.endswith(".parquet") or head.startswith(_PARQUET_MAGIC)


PARQUET = Format(
    "parquet", "table of Apache Parquet", "file", _read_parquet, _looks_parquet, options=frozenset({"runs"})
)
