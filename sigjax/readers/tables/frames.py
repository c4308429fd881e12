"""Data frames of pandas, polars and pyarrow: tables whose columns are numbers already.

Frames are read with narwhals (extra `dataframe`). Nulls and NaN are missing cells. An index of pandas, in a frame or as
its Parquet files and tables of pyarrow keep it, is read as columns that stand first, unless it only counts rows.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sigjax.files.opening import naming
from sigjax.metrics.arrays import LARGEST_WHOLE
from sigjax.readers.formats import directed
from sigjax.readers.options import Options, check_options, show
from sigjax.readers.table import Lazy, Nested, Numbers, Table, check_characters
from sigjax.readers.tables.layouts import read_table
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
        raise InputError(
            f"expected a path or a data frame of pandas, polars or pyarrow, got {type(frame).__name__}; collect it, or "
            "make one of it, first"
        ) from None
    wrapped = _without_empty_end(wrapped)
    if len(wrapped) == 0:
        raise InputError(f"{file}: has no rows; expected one row per instance")
    columns = Lazy(dict.fromkeys([*index, *wrapped.columns]), partial(_cells, file, wrapped))
    return Table(file, columns, range(1, len(wrapped) + 1), "row", index=index)


def _without_empty_end(frame: Any) -> Any:
    """A frame of narwhals without the last rows if these have no value at all, as in tables that are text."""
    empty = np.ones(len(frame), bool)
    for name in frame.columns:
        if not empty[-1:].any():
            return frame
        empty &= frame.get_column(name).is_null().to_numpy().astype(bool)
    filled = np.flatnonzero(~empty)
    return frame.head(int(filled[-1]) + 1 if filled.size else 0)


def _plain_pandas(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """A frame of pandas whose index is columns, unless it only counts rows, and whose names are text; and the index."""
    names, index = [str(name) for name in frame.columns], ()
    if any(name is not None for name in frame.index.names) or type(frame.index).__name__ != "RangeIndex":
        levels = enumerate(frame.index.names)
        index = tuple(f"__index_level_{k}__" if name is None else str(name) for k, name in levels)
        frame = (
            frame.set_axis(range(len(names)), axis=1).rename_axis(index=[f"{name} " for name in index]).reset_index()
        )
    return frame.set_axis([*index, *names], axis=1), index


def _kept_index(table: Any) -> tuple[str, ...]:
    """The columns of a table of pyarrow that are the index of pandas, by the metadata that pandas leaves."""
    try:
        names = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return ()
    return tuple(name for name in table.column_names if name in (names if isinstance(names, list) else ()))


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
            return Numbers(numbers, missing | np.isnan(numbers))
    try:
        cells = ["" if gone else str(value) for value, gone in zip(series.to_list(), missing.tolist(), strict=True)]
    except UnicodeDecodeError:
        raise InputError(f"{file}, column {show(name)}: expected UTF-8 text; repair it") from None
    with naming(f"{file}, column {show(name)}"):
        check_characters(f"{name}{''.join(cells)}")
    return cells


def refuse_repeats(file: str, names: Iterable[str]) -> None:
    """Refuse two columns of one name."""
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise InputError(f"{file}: two columns are named {show(repeated)}; rename one")
