"""Data frames of pandas, polars and pyarrow, and Parquet files: tables whose columns are numbers already.

Frames are read with narwhals (extra `dataframe`). Nulls are missing cells, and so is NaN in a pandas column that has no
other null; any other NaN is refused, as in files. A named index of pandas is read as columns.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sigjax.files.opening import naming, read_bytes
from sigjax.metrics.arrays import LARGEST_WHOLE
from sigjax.readers.formats import Format, Reading, Sources, directed, looks_like
from sigjax.readers.json_files import check_characters
from sigjax.readers.options import Options, check_options, show
from sigjax.readers.table import Lazy, Nested, Numbers, Table
from sigjax.readers.tables.parquet import parquet_frame, refuse_repeats
from sigjax.readers.tables.tables import read_table
from sigjax.records import Evaluation, InputError
from sigjax.records.metric import AnyMetric

FRAME = "data frame"


def read_frame(frame: Any, metric: AnyMetric | None, options: Options) -> Evaluation:
    """The evaluation of a data frame; the options have no metric yet."""
    options = replace(options, metric="mean" if metric is None else metric)
    check_options(options)
    return directed(read_table(frame_table(frame), options)(options), options)


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
        raise InputError(f"{file}: has no rows; expected one row per instance")
    return Table(file, Lazy(wrapped.columns, partial(_cells, file, wrapped)), range(1, len(wrapped) + 1), "row")


def _plain_pandas(frame: Any) -> Any:
    """A frame of pandas whose named index is columns, and whose names are text."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _cells(file: str, frame: Any, name: str) -> Sequence[str]:
    """A column of numbers or truth values as it is, any other as text."""
    import narwhals

    series = frame.get_column(name)
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
    with naming(f"{file}, column {show(name)}"):
        check_characters(f"{name}{''.join(cells)}")
    return cells


def _read_parquet(sources: Sources, options: Options) -> Reading:
    (file,) = sources.files
    return read_table(frame_table(parquet_frame(file, read_bytes(file)), file=file), options)


PARQUET = Format(
    "parquet",
    "table of Apache Parquet",
    "file",
    _read_parquet,
    looks_like(rb"^PAR1", ending=".parquet"),
    options=frozenset({"runs"}),
)
