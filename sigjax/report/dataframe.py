"""A data frame of pandas, polars or pyarrow: one row a pair, metric and test."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

from sigjax.records import InputError, Library
from sigjax.report.sections import flat_columns, pairs_unclustered

if TYPE_CHECKING:
    from sigjax.report.report import Report

WHOLE: tuple[str, ...] = ("resamples", "exceed", "resamples_needed")
TEXT: tuple[str, ...] = ("a", "b", "metric", "test", "better", "method", "reason", "interval_kind")
TRUTH: tuple[str, ...] = ("settled",)


def to_dataframe(report: Report, library: Library | None = None) -> Any:
    """The comparisons as a data frame; numbers are not rounded, what is missing is null (in pandas NaN for reals).

    Raises:
        InputError: the library, or narwhals where it is not pandas, is not installed.
    """
    known = get_args(Library)
    if library is not None and library not in known:
        raise InputError(f"library: expected one of {', '.join(known)}, got {library!r}")
    found = library or next((name for name in known if _is_installed(name)), None)
    if found is None:
        raise InputError(
            "a data frame needs pandas, polars or pyarrow, none of which is installed; run: pip install pandas"
        )
    if not _is_installed(found):
        raise InputError(f"a data frame of {found} needs {found}, which is not installed; run: pip install {found}")
    columns = flat_columns(report.comparisons, unclustered=pairs_unclustered(report.comparisons))
    return _of_pandas(columns) if found == "pandas" else _by_narwhals(columns, found)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # what find_spec says of a module that is blocked
        return False


def _of_pandas(columns: dict[str, list[Any]]) -> Any:
    import pandas

    frame = pandas.DataFrame(columns)
    reals = (name for name in frame.columns if name not in (*WHOLE, *TEXT, *TRUTH))
    return frame.astype(
        dict.fromkeys(WHOLE, "Int64") | dict.fromkeys(reals, "float64") | dict.fromkeys(TRUTH, "boolean")
    )


def _by_narwhals(columns: dict[str, list[Any]], library: Library) -> Any:
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError(f'a data frame of {library} needs narwhals; run: pip install "sigjax[dataframe]"') from None
    kinds = (
        dict.fromkeys(WHOLE, narwhals.Int64)
        | dict.fromkeys(TEXT, narwhals.String)
        | dict.fromkeys(TRUTH, narwhals.Boolean)
    )
    schema = {name: kinds.get(name, narwhals.Float64)() for name in columns}
    return narwhals.from_dict(columns, schema=schema, backend=library).to_native()
