"""CSV and data frames of the pairs and the systems of a report. Every number is as it is, never rounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sigjax.records import FIELDS, Comparisons, InputError, Interval, Library, SystemScore
from sigjax.records.visible import visible
from sigjax.report.programs import PAIR_KEYS, SCORE_KEYS, SYSTEM_KEYS

if TYPE_CHECKING:
    from sigjax.report.report import Report

Rows = Literal["pairs", "systems"]
_BLOCK = 2**12
"""Pairs that are written together."""
COLUMNS = (*PAIR_KEYS[:4], *SCORE_KEYS, "delta", "better", *PAIR_KEYS[5:])
"""The fields of a comparison in CSV and data frames, in order; intervals become `_low` and `_high`."""
_INTERVALS = ("interval", "rank_interval", "bootstrap_ranks")
"""The fields of a system that are intervals."""
_WHERE_THERE = ("standard_error_unclustered", "bootstrap_ranks")
"""The fields of a system that have columns only where some system has them."""
WHOLE: tuple[str, ...] = (
    *("resamples", "exceed", "resamples_needed", "cluster"),
    *(f"{name}_{end}" for name in _INTERVALS[1:] for end in ("low", "high")),
)
TEXT: tuple[str, ...] = (
    *("a", "b", "metric", "test", "better", "method", "reason", "interval_kind"),
    *("name", "letters"),
)
TRUTH: tuple[str, ...] = ("settled", "in_top_group")
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""Spreadsheets run what begins with one of these (also in full width); the quote makes the escape reversible."""


def csv_pieces(report: Report, of: Rows = "pairs") -> Iterator[str]:
    """The pairs or the systems as CSV, in pieces as JSON; what is missing is an empty field."""
    for start, columns in enumerate(_blocks(report, of)):
        writer = csv.writer(stream := io.StringIO(), lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        writer.writerows(zip(*map(_escaped, columns.values()), strict=True))
        yield stream.getvalue()


def escape_csv(name: str) -> str:
    r"""A name that no spreadsheet runs as a formula, and that shows its control characters.

    Backslashes are doubled and control characters are written as in Python's strings. Then a name that begins with `=`,
    `+`, `-`, `@` or `'`, spaces aside, gets a single quote before it, as OWASP advises (CSV Injection). To read a name
    back, drop one leading quote and undo the backslashes.

    Example:
        >>> print(escape_csv("=1+1"), escape_csv("a-b"), escape_csv("\x1b[31m"), escape_csv(r"a\b"))
        '=1+1 a-b \x1b[31m a\\b
    """
    shown = visible(name.replace("\\", "\\\\"))
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def _escaped(column: list[Any]) -> list[Any]:
    """A column with its names escaped, each once."""
    escapes = {value: escape_csv(value) for value in set(column) if isinstance(value, str)}
    return [escapes.get(value, value) for value in column] if escapes else column


def _blocks(report: Report, of: Rows, size: int = _BLOCK) -> Iterator[dict[str, list[Any]]]:
    """The columns of CSV and data frames, for `size` pairs at a time, or for all systems."""
    if of not in get_args(Rows):
        raise InputError(f"of must be one of {', '.join(get_args(Rows))}, got {of!r}")
    if of == "systems":
        yield _system_columns(report.systems)
        return
    unclustered = not bool(np.isnan(report.comparisons.column("standard_error_unclustered")).all())
    for block in report.comparisons.blocks(size):
        yield _pair_columns(block, unclustered=unclustered)


def _pair_columns(comparisons: Comparisons, *, unclustered: bool) -> dict[str, list[Any]]:
    """The columns of pairs; `unclustered` is whether standard errors without the clusters are there."""
    columns: dict[str, list[Any]] = {}
    for name in COLUMNS:
        if FIELDS[name] == "interval":
            columns |= _ends(name, comparisons.values(name))
        elif unclustered or name != "standard_error_unclustered":
            columns[name] = comparisons.values(name)
    return columns


def _system_columns(systems: Sequence[SystemScore]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for name in SYSTEM_KEYS:
        values = [getattr(system, name) for system in systems]
        if name in _WHERE_THERE and all(value is None for value in values):
            continue
        columns |= _ends(name, values) if name in _INTERVALS else {name: values}
    return columns


def _ends(name: str, intervals: Iterable[tuple[Any, Any] | None]) -> dict[str, list[Any]]:
    """A column of intervals as one of their low and one of their high ends."""
    ends = [each or (None, None) for each in intervals]
    return {f"{name}_low": [low for low, _ in ends], f"{name}_high": [high for _, high in ends]}


def to_dataframe(report: Report, library: Library | None = None, of: Rows = "pairs") -> Any:
    """The pairs or the systems as a data frame; what is missing is null (in pandas NaN for reals).

    Raises:
        InputError: the library, or narwhals where it is not pandas, is not installed.
    """
    known = get_args(Library)
    if library is not None and library not in known:
        raise InputError(f"library: expected one of {', '.join(known)}, got {library!r}")
    chosen = library or next((name for name in known if _is_installed(name)), None)
    if chosen is None:
        raise InputError(
            "a data frame needs pandas, polars or pyarrow, none of which is installed; run: pip install pandas"
        )
    if not _is_installed(chosen):
        raise InputError(f"a data frame of {chosen} needs {chosen}, which is not installed; run: pip install {chosen}")
    (columns,) = _blocks(report, of, max(1, len(report)))
    return _of_pandas(columns) if chosen == "pandas" else _by_narwhals(columns, chosen)


def rows_to_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A data frame of pandas from the records of a study; intervals become `_low` and `_high`.

    Raises:
        InputError: pandas is not installed.
    """
    if not _is_installed("pandas"):
        raise InputError("the data frame of a study needs pandas, which is not installed; run: pip install pandas")
    import pandas

    return pandas.DataFrame([dict(cell for item in row.items() for cell in _cells(*item)) for row in rows])


def _cells(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Interval):
        return zip((f"{name}_low", f"{name}_high"), value, strict=True)
    return [(name, value)]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # raised by find_spec for a module that is blocked
        return False


def _of_pandas(columns: dict[str, list[Any]]) -> Any:
    import pandas

    kinds = dict.fromkeys(WHOLE, "Int64") | dict.fromkeys(TRUTH, "boolean")
    return pandas.DataFrame(columns).astype({name: kinds.get(name, "float64") for name in columns if name not in TEXT})


def _by_narwhals(columns: dict[str, list[Any]], library: Library) -> Any:
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError(f'a data frame of {library} needs narwhals; run: pip install "sigjax[dataframe]"') from None
    kinds = dict.fromkeys(WHOLE, narwhals.Int64) | dict.fromkeys(TRUTH, narwhals.Boolean)
    kinds |= dict.fromkeys(TEXT, narwhals.String)
    schema = {name: kinds.get(name, narwhals.Float64)() for name in columns}
    return narwhals.from_dict(columns, schema=schema, backend=library).to_native()
