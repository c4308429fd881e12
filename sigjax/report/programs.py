"""Formats for programs: JSON, CSV and data frames. Every number is as it is, never rounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from sigjax.records import FIELDS, Comparisons, InputError, Interval, Library, Repeated
from sigjax.report.words import visible, visible_json
from sigjax.run.checkpoint import SCHEMA
from sigjax.version import versions

if TYPE_CHECKING:
    from sigjax.report.report import Report

_BLOCK = 2**12
"""Pairs that are written together."""
SYSTEM_KEYS = (
    *("name", "metric", "score", "standard_error", "standard_error_unclustered", "interval", "interval_kind"),
    *("rank_interval", "letters", "cluster"),
    *("bootstrap_ranks", "mcs_p", "in_confidence_set"),
)
PAIR_KEYS = (
    *("a", "b", "metric", "test", "delta", "p_value", "log10_p", "p_interval", "p_adjusted"),
    *("log10_p_adjusted", "error_bound"),
    *("method", "reason", "resamples", "exceed", "settled", "resamples_needed"),
    *("standard_error", "standard_error_unclustered", "interval", "interval_kind"),
)
COLUMNS = (
    *("a", "b", "metric", "test", "score_a", "score_b", "delta", "better", "p_value", "log10_p", "p_interval"),
    *("p_adjusted", "log10_p_adjusted", "error_bound", "method", "reason", "resamples", "exceed"),
    *("settled", "resamples_needed"),
    *("standard_error", "standard_error_unclustered", "interval", "interval_kind"),
)
"""The fields of a comparison in CSV and data frames, in order; intervals become `_low` and `_high`."""
WHOLE: tuple[str, ...] = ("resamples", "exceed", "resamples_needed")
TEXT: tuple[str, ...] = ("a", "b", "metric", "test", "better", "method", "reason", "interval_kind")
TRUTH: tuple[str, ...] = ("settled",)
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""Spreadsheets run what begins with one of these (also in full width); the quote makes the escape reversible."""


def to_json(report: Report) -> str:
    """The report as JSON of the schema `sigjax/1`; what is missing is null, NaN cannot occur."""
    return "".join(json_pieces(report))


def json_pieces(report: Report) -> Iterator[str]:
    """The same in pieces, so that a large report can be written without holding its text."""
    systems = ({key: getattr(system, key) for key in SYSTEM_KEYS} for system in report.systems)
    parts: dict[str, Iterable[str]] = {
        "schema": [visible_json(SCHEMA)],
        "settings": [visible_json(report.settings_dict())],
        "signature": [visible_json(report.signature)],
        "versions": [visible_json(versions())],
        "notes": [visible_json(report.notes)],
        "systems": _lines(map(visible_json, systems)),
        "pairs": _lines(_pairs(block) for block in report.comparisons.blocks(_BLOCK)),
    }
    before = "{\n"
    for key, pieces in parts.items():
        yield f'{before}  "{key}": '
        yield from pieces
        before = ",\n"
    yield "\n}\n"


def _lines(rows: Iterable[str]) -> Iterator[str]:
    """An array with one row per line, from rows or several rows joined."""
    before = "[\n    "
    for row in rows:
        yield before + row
        before = ",\n    "
    yield "[]" if before.startswith("[") else "\n  ]"


def _pairs(block: Comparisons) -> str:
    """One line per pair."""
    line = "{" + ", ".join(f'"{key}": %s' for key in PAIR_KEYS) + "}"
    return ",\n    ".join(map(line.__mod__, zip(*(_texts(block, key) for key in PAIR_KEYS), strict=True)))


def _texts(block: Comparisons, key: str) -> list[str]:
    """The values of a field as JSON."""
    column = block.column(key)
    if isinstance(column, Repeated):
        texts = [visible_json(value) for value in column.values]
        return [texts[code] for code in column.codes.tolist()]
    return [_number(value) for value in block.values(key)]


def _number(value: float | Interval | None) -> str:
    """A number, an interval or none, as `json` writes them but in a third of the time."""
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"[{_number(value[0])}, {_number(value[1])}]"
    return repr(value) if abs(value) < float("inf") else visible_json(value)


def json_lines(schema: str, fields: dict[str, Any]) -> str:
    """The JSON of a study: one line per field, or per record where a field is a list of records."""
    lines = []
    for key, value in {"schema": schema, **fields}.items():
        if isinstance(value, tuple | list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {visible_json(item)}" for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {visible_json(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def to_csv(report: Report) -> str:
    """The comparisons as CSV, one row per pair, metric and test; what is missing is an empty field."""
    return "".join(csv_pieces(report))


def csv_pieces(report: Report) -> Iterator[str]:
    """The same in pieces, so that a large report can be written without holding its text."""
    unclustered = _has_unclustered(report.comparisons)
    for start, block in enumerate(report.comparisons.blocks(_BLOCK)):
        columns = _columns(block, unclustered=unclustered)
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


def _has_unclustered(comparisons: Comparisons) -> bool:
    return not bool(np.isnan(comparisons.column("standard_error_unclustered")).all())


def _columns(comparisons: Comparisons, *, unclustered: bool) -> dict[str, list[Any]]:
    """The columns of CSV and data frames; `unclustered` is whether standard errors without the clusters are there."""
    columns: dict[str, list[Any]] = {}
    for name in COLUMNS:
        if FIELDS[name] == "interval":
            ends = [each or (None, None) for each in comparisons.values(name)]
            columns |= {f"{name}_low": [low for low, _ in ends], f"{name}_high": [high for _, high in ends]}
        elif unclustered or name != "standard_error_unclustered":
            columns[name] = comparisons.values(name)
    return columns


def to_dataframe(report: Report, library: Library | None = None) -> Any:
    """The comparisons as a data frame; what is missing is null (in pandas NaN for reals).

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
    columns = _columns(report.comparisons, unclustered=_has_unclustered(report.comparisons))
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
    reals = (name for name in columns if name not in (*WHOLE, *TEXT, *TRUTH))
    return pandas.DataFrame(columns).astype(kinds | dict.fromkeys(reals, "float64"))


def _by_narwhals(columns: dict[str, list[Any]], library: Library) -> Any:
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError(f'a data frame of {library} needs narwhals; run: pip install "sigjax[dataframe]"') from None
    kinds = dict.fromkeys(WHOLE, narwhals.Int64) | dict.fromkeys(TRUTH, narwhals.Boolean)
    kinds |= dict.fromkeys(TEXT, narwhals.String)
    schema = {name: kinds.get(name, narwhals.Float64)() for name in columns}
    return narwhals.from_dict(columns, schema=schema, backend=library).to_native()
