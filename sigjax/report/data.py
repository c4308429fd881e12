"""Reports as data: JSON of the schema `sigjax/1`, written and read back, CSV and data frames; JSON of studies.

Numbers are never rounded. The keys of JSON, and its JSON Schema, follow from the records. A JSON report may come from
anywhere. So `report_fields` checks, once, everything on which the output formats rely: the type and the domain of every
value (from the records), and that all names are known.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache, reduce
from importlib.util import find_spec
from itertools import pairwise
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from sigjax.metrics import known_metric
from sigjax.metrics.suites import suite_of
from sigjax.records import (
    FIELDS,
    Column,
    Comparison,
    Comparisons,
    EvaluationRecord,
    InputError,
    Interval,
    KeepScores,
    Library,
    Measured,
    Metric,
    ReportRecord,
    SampleMetric,
    Settings,
    SystemScore,
    Unit,
)
from sigjax.records.display import visible, visible_json
from sigjax.records.metric import NoteData, data_hash, facts_of, with_facts
from sigjax.records.options import Option, check, options_of, types_of
from sigjax.records.results import Headline
from sigjax.records.settings import Bounds, Hash, Number
from sigjax.report.sections import headlines
from sigjax.run.files import naming, read_bytes
from sigjax.run.shards import CHECKSUM, DEFAULTS, SCHEMA, Checksum, check_unchanged, checksum_of, parse_report
from sigjax.version import install_command

_BLOCK = 2**12
"""This many pairs are formatted at a time."""
COLUMNS = tuple(name for name in FIELDS if name != "settings")
"""The fields of a comparison in CSV and data frames, in order. An interval becomes two columns, with the endings `_low`
and `_high`."""
SCORE_KEYS = ("score_a", "score_b")
"""Fields of pairs that are in JSON only if different pairs have different instances (missing="pairwise")."""
PAIR_KEYS = tuple(name for name in COLUMNS if name not in (*SCORE_KEYS, "better"))
"""Fields of pairs in JSON. `SCORE_KEYS` and the better system are left out, because they follow from the systems."""
SYSTEM_KEYS = tuple(field.name for field in fields(SystemScore))
_ROWS = ("headlines", "systems", "facts", "measured", "statistics")
"""Keys of the JSON whose values are lists that are written with one record per line, like the list of pairs."""
_WHERE_THERE = ("standard_error_unclustered", "bootstrap_ranks")
"""Fields that are columns only if at least one pair or system has a value."""


def json_pieces(report: ReportRecord, keep_scores: KeepScores = "auto") -> Iterator[str]:
    """Yield the report as JSON of the schema `sigjax/1`; missing values are null, and NaN cannot occur.

    The text comes in pieces, so that the JSON of a large report is never in memory as a whole. For `keep_scores`, see
    `Report.to_json`. The last key is a checksum of all other keys (`check_unchanged`).
    """
    if keep_scores not in get_args(KeepScores):
        raise InputError(f"keep_scores must be one of {', '.join(get_args(KeepScores))}, got {keep_scores!r}")
    keys, checksum, before = _pair_keys(report), Checksum(), "{\n"
    for key, value in _json_values(report, keep_scores).items():
        if value is report.comparisons:
            pieces = _lines(_pairs(block, keys) for block in report.comparisons.blocks(_BLOCK))
        else:
            pieces = _lines(map(visible_json, value)) if key in _ROWS else [visible_json(value)]
        yield f'{before}  "{key}": '
        checksum.begin(key)
        for piece in pieces:
            checksum.add(piece)
            yield piece
        before = ",\n"
    yield f'{before}  "{CHECKSUM}": "{checksum.value}"\n}}\n'


def json_record(report: ReportRecord) -> dict[str, Any]:
    """Return the report as an object, the same that `json_pieces` writes.

    Results that contain a report put this object into their own JSON.
    """
    values, keys = _json_values(report, "auto"), _pair_keys(report)
    columns = [report.comparisons.values(key) for key in keys]
    values["pairs"] = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    return {**values, CHECKSUM: checksum_of(values)}


def _json_values(report: ReportRecord, keep_scores: KeepScores) -> dict[str, Any]:
    """Return a dict from the keys of the JSON to their values; the value of "pairs" is still a table."""
    values = {"schema": SCHEMA, "settings": report.settings_dict()} | {name: getattr(report, name) for name in TEXTS}
    values["headlines"] = list(map(asdict, headlines(report)))
    values["systems"] = [{key: getattr(system, key) for key in SYSTEM_KEYS} for system in report.systems]
    values["pairs"] = report.comparisons
    packed = _packed(report, keep_scores)
    for name, records in {"facts": facts_of(report.notes), "measured": report.measured, "statistics": packed}.items():
        if records:
            values[name] = list(map(asdict, records))
    return values


def _pair_keys(report: ReportRecord) -> Sequence[str]:
    """Return the names of the columns of pairs in JSON.

    `SCORE_KEYS` are left out if the scores of all pairs equal the scores in the records of the systems.
    """
    return PAIR_KEYS if _same_scores(report) else PAIR_KEYS + SCORE_KEYS


def _lines(rows: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a JSON array, one row per line. Each text of `rows` contains one or several rows."""
    before = "[\n    "
    for row in rows:
        yield before + row
        before = ",\n    "
    yield "[]" if before.startswith("[") else "\n  ]"


def _same_scores(report: ReportRecord) -> bool:
    scores = {(system.metric, system.name): system.score for system in report.systems}
    return all(
        (
            pairs.column(name).mapped(lambda system, by=metric: scores[by, system])
            == pairs.column(f"score_{name}").values
        ).all()
        for (metric, _), pairs in report.comparisons.groups().items()
        for name in "ab"
    )


def _pairs(block: Comparisons, keys: Sequence[str]) -> str:
    line = "{" + ", ".join(f'"{key}": %s' for key in keys) + "}"
    return ",\n    ".join(map(line.__mod__, zip(*(_texts(block.column(key)) for key in keys), strict=True)))


def _texts(column: Column) -> list[str]:
    """Return the values of a column as texts, as `json` would write them."""
    if column.labels is not None:
        return column.mapped(visible_json).tolist()
    values = column.values
    if column.present is not None:
        values = np.where(column.present if values.ndim == 1 else column.present[:, None], values, 0)
    if values.ndim == 1:
        texts = _of_numbers(values)
    else:
        texts = [f"[{low}, {high}]" for low, high in zip(*map(_of_numbers, values.T), strict=True)]
    if column.present is None:
        return texts
    return [text if there else "null" for text, there in zip(texts, column.present.tolist(), strict=True)]


def _of_numbers(values: np.ndarray) -> list[str]:
    """Return numbers as texts. Each distinct number is formatted only once, because many pairs have equal numbers."""
    different, which = np.unique(np.ascontiguousarray(values).view(np.int64), return_inverse=True)
    numbers = different.view(values.dtype)
    # For finite numbers, `repr` gives the same text as `json`; for other numbers, `json` raises an error.
    texts = list(map(repr if np.isfinite(numbers).all() else visible_json, numbers.tolist()))
    return [texts[index] for index in which.tolist()]


def json_lines(record: dict[str, Any]) -> str:
    """Return the JSON of a study: one line per field, or one line per record if a field is a list of records."""
    lines = []
    for key, value in record.items():
        if isinstance(value, tuple | list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {visible_json(item)}" for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {visible_json(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


TableName = Literal["pairs", "systems"]
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""Characters with which spreadsheets begin a formula (also in full width), and the quote that escapes them."""


def csv_pieces(report: ReportRecord, of: TableName = "pairs") -> Iterator[str]:
    """Yield the pairs or the systems (`of`) as CSV, in pieces as in `json_pieces`; missing values are empty fields."""
    for start, columns in enumerate(_blocks(report, of)):
        writer = csv.writer(stream := io.StringIO(), lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        writer.writerows(zip(*map(_escaped, columns.values()), strict=True))
        yield stream.getvalue()


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV; texts are escaped, and missing values are empty."""
    writer = csv.writer(stream := io.StringIO(), lineterminator="\n")
    for row in (header, *rows):
        writer.writerow([escape_csv(value) if isinstance(value, str) else value for value in row])
    return stream.getvalue()


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of a study as CSV.

    An interval becomes two columns, with the endings `_low` and `_high`. Nested records become JSON.
    """
    cells = _by_ends({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})
    nested = (dict, list, tuple)
    plain = [[json.dumps(v, default=str) if isinstance(v, nested) else v for v in own] for own in cells.values()]
    return csv_text([*cells], zip(*plain, strict=True))


def escape_csv(name: str) -> str:
    r"""Escape a name so that no spreadsheet runs it as a formula, and its control characters are visible.

    Backslashes are doubled, and control characters are written as in Python's strings. Then a name whose first
    character except spaces is `=`, `+`, `-`, `@` or `'` gets a single quote before it, as OWASP advises (CSV
    Injection). To read a name back, drop one leading quote and undo the backslashes.

    >>> print(escape_csv("=1+1"), escape_csv("a-b"), escape_csv("\x1b[31m"), escape_csv(r"a\b"))
    '=1+1 a-b \x1b[31m a\\b
    """
    escaped = visible(name.replace("\\", "\\\\"))
    return f"'{escaped}" if escaped.lstrip().startswith(_FORMULA) else escaped


def _escaped(column: list[Any]) -> list[Any]:
    """Return a column with its names escaped. Each distinct name is escaped only once."""
    escapes = {value: escape_csv(value) for value in set(column) if isinstance(value, str)}
    return [escapes.get(value, value) for value in column] if escapes else column


def _blocks(report: ReportRecord, of: TableName, size: int = _BLOCK) -> Iterator[dict[str, list[Any]]]:
    if of not in get_args(TableName):
        raise InputError(f"of must be one of {', '.join(get_args(TableName))}, got {of!r}")
    if of == "systems":
        columns = {name: [getattr(system, name) for system in report.systems] for name in SYSTEM_KEYS}
        yield _by_ends(columns, [name for name in _WHERE_THERE if all(value is None for value in columns[name])])
        return
    unclustered = report.comparisons.column("standard_error_unclustered").known_values()
    for block in report.comparisons.blocks(size):
        yield _by_ends({name: block.values(name) for name in COLUMNS}, () if len(unclustered) else _WHERE_THERE)


def _by_ends(columns: dict[str, list[Any]], left_out: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return the columns except `left_out`; a column of intervals becomes two, of low ends and of high ends."""
    table: dict[str, list[Any]] = {}
    for name, values in columns.items():
        if name in left_out:
            continue
        first = next((value for value in values if value is not None), None)
        if name.endswith("interval") or isinstance(first, Interval) or name == "bootstrap_ranks":
            for index, end in enumerate(("low", "high")):
                table[f"{name}_{end}"] = [None if value is None else value[index] for value in values]
        else:
            table[name] = values
    return table


@cache
def _column_types() -> dict[str, str]:
    """Return a dict from each column of the tables of pairs and systems to the name of its type in JSON Schema."""
    types: dict[str, str] = {}
    for name, annotation in (field_types(Comparison) | field_types(SystemScore)).items():
        schema = _kind(annotation).schema
        schema = schema.get("anyOf", [schema])[0]
        ends = {f"{name}_{end}": schema["items"]["type"] for end in ("low", "high") if "items" in schema}
        types |= ends or {name: schema.get("type", "string")}
    return types


_USUAL = frozenset(
    "a b name metric score score_a score_b delta interval_low interval_high p_value p_adjusted in_top_group "
    "rank_interval_low rank_interval_high".split()
)
"""The columns that most people use."""


def to_dataframe(
    report: ReportRecord,
    library: Library | None = None,
    of: TableName = "pairs",
    columns: Literal["usual", "all"] = "usual",
) -> Any:
    """Return the pairs or the systems as a data frame; missing values are null (in pandas, NaN for real numbers)."""
    chosen = _checked_library(library, columns)
    (cells,) = _blocks(report, of, max(1, len(report)))
    if columns == "usual":
        several = {"test"} if len(report.settings.tests) > 1 else set[str]()
        cells = {name: own for name, own in cells.items() if name in _USUAL or name in several}
    return _frame(cells, chosen, _column_types())


def rows_to_dataframe(
    rows: Sequence[Mapping[str, Any]], library: Library | None, columns: Literal["usual", "all"], usual: Container[str]
) -> Any:
    """Return the rows of a study as a data frame. An interval becomes two columns, `_low` and `_high`.

    `usual` are the columns that columns="usual" keeps.
    """
    chosen = _checked_library(library, columns)
    cells = _by_ends({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})
    return _frame({name: own for name, own in cells.items() if columns == "all" or name in usual}, chosen)


def _checked_library(library: Library | None, columns: str) -> Library:
    known = get_args(Library)
    if library is not None and library not in known:
        raise InputError(f"library: expected one of {', '.join(known)}, got {library!r}")
    if columns not in ("usual", "all"):
        raise InputError(f"columns: expected usual or all, got {columns!r}")
    chosen = library or next((name for name in known if _is_installed(name)), None)
    if chosen is None or not _is_installed(chosen):
        needs = "needs pandas, polars or pyarrow, none of which is installed"
        needs = needs if chosen is None else f"of {chosen} needs {chosen}, which is not installed"
        raise InputError(f"a data frame {needs}; run: {install_command(chosen or 'pandas')}")
    return chosen


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # raised by find_spec for a blocked module
        return False


def _frame(columns: dict[str, list[Any]], library: Library, types: Mapping[str, str] | None = None) -> Any:
    """Return a data frame with these `columns`. `types` are the types of columns (see `_column_types`), if known."""
    if library == "pandas":
        import pandas

        names = {"integer": "Int64", "boolean": "boolean", "number": "float64"}
        known = {name: names[type] for name, type in (types or {}).items() if name in columns and type in names}
        return pandas.DataFrame(columns).astype(known)
    try:
        import narwhals
    except ModuleNotFoundError:
        raise InputError(f"a data frame of {library} needs narwhals; run: {install_command('narwhals')}") from None
    made = {"integer": "Int64", "boolean": "Boolean", "string": "String", "number": "Float64"}
    schema = {name: getattr(narwhals, made[types[name]])() for name in columns} if types else None
    return narwhals.from_dict(columns, schema=schema, backend=library).to_native()


_MOST_KEPT = 10**6
"""With keep_scores="auto", JSON contains the statistics only if they need at most this many characters."""
_LABELS = ("ids", "clusters", "strata", "runs")


@dataclass(frozen=True)
class Statistics:
    """The statistics of one metric, with which `diff` pairs old and new results.

    Labels `[instance]` and the unit are as in `Evaluation`. `numbers` is the smallest type that can represent all
    numbers. `systems` has the numbers `[instance, stat]` of each system, written row by row, little-endian, in base64.
    """

    metric: str
    stat_names: tuple[str, ...]
    ids: tuple[str, ...] | None
    clusters: tuple[str, ...] | None
    strata: tuple[str, ...] | None
    runs: tuple[str, ...] | None
    unit: Unit
    numbers: Literal["int8", "int16", "int32", "int64", "float64"]
    systems: dict[str, str]


def _packed(report: ReportRecord, keep: KeepScores) -> tuple[Statistics, ...]:
    """Return the statistics of a report for JSON; empty if they are too large, or cannot be restored from JSON."""
    kept = [each for each in report.evaluations if each.weights is None]  # a suite is computed from its tasks
    if keep == "never" or not all(each.present is None and _is_known(each.metric) for each in kept):
        return ()
    packed, size = [], 0
    for each in kept:
        of_type, low, high = each.stats.dtype, each.stats.min(initial=0), each.stats.max(initial=0)
        integers = map(np.iinfo, ("int8", "int16", "int32") if of_type.kind == "i" else ())
        numbers = next((str(each.dtype) for each in integers if each.min <= low and high <= each.max), of_type.name)
        given = {name: getattr(each, name) for name in _LABELS}
        labels = {name: of_kind and tuple(map(str, of_kind)) for name, of_kind in given.items()}
        size += each.stats.size * np.dtype(numbers).itemsize * 4 // 3
        size += sum(len(label) + 4 for of_kind in labels.values() for label in of_kind or ())
        if keep == "auto" and size > _MOST_KEPT:
            return ()
        stats = each.stats.astype(np.dtype(numbers).newbyteorder("<"))
        texts = [base64.b64encode(of_system.tobytes()).decode() for of_system in stats]
        systems = dict(zip(each.systems, texts, strict=True))
        named: dict[str, Any] = {**labels, "unit": each.unit, "numbers": numbers, "systems": systems}
        packed.append(Statistics(each.metric.name, each.metric.stat_names, **named))
    try:
        return tuple(packed) if packed and _unpacked(packed, report) else ()
    except InputError:
        return ()


def _is_known(metric: Metric | SampleMetric) -> bool:
    """Whether the metric can be found by its name when its statistics are restored from JSON."""
    known = _metric_of(metric.name, metric.stat_names)
    return known == metric if isinstance(metric, SampleMetric) else getattr(known, "score", None) is metric.score


def _metric_of(name: str, stat_names: Sequence[str]) -> Metric | SampleMetric | None:
    """Return the metric called `name`, with these statistics; None if it is unknown.

    The name may begin with the name of a task.
    """
    known = known_metric(name.rpartition(": ")[2], stat_names)
    return known and replace(known, name=name)


def _unpacked(packed: Sequence[Statistics], report: ReportRecord) -> tuple[EvaluationRecord, ...]:
    """Return the evaluations of a report, restored from their statistics in JSON (`packed`)."""
    titles, kept = {each.metric: each.title for each in report.measured}, []
    try:
        for each in packed:
            metric = _metric_of(each.metric, each.stat_names)
            assert metric is not None
            type = np.dtype(each.numbers).newbyteorder("<")
            texts = [base64.b64decode(text, validate=True) for text in each.systems.values()]
            stats = np.array([np.frombuffer(text, type) for text in texts])
            stats = stats.reshape(len(texts), -1, len(each.stat_names))
            kept.append(
                EvaluationRecord(
                    systems=tuple(each.systems),
                    stats=stats.astype(np.float64 if each.numbers == "float64" else np.int64),
                    metric=replace(metric, higher_is_better=each.metric not in report.lower_is_better),
                    **{name: getattr(each, name) for name in _LABELS},
                    unit=each.unit,
                    title=titles.get(each.metric),
                )
            )
        if len(kept) < len({system.metric for system in report.systems}):
            tasks: dict[str, list[EvaluationRecord]] = {}
            for each in kept:
                tasks.setdefault((each.title or "").rpartition(": ")[0], []).append(each)
            kept = suite_of(tasks)
        is_same = data_hash(kept) == report.data
    except (AssertionError, ValueError):
        is_same = False
    if not is_same:
        raise InputError(f"'statistics': are not those of this report; {_WRITTEN}")
    return tuple(kept)


USED_ON = {"instances": Number, "units": Number, "data": Hash, "runs": tuple[Number, Number] | None}
"""The keys in a report's settings that are not options: a dict from each key to its type."""
TEXTS: dict[str, Any] = {"signature": str, "versions": dict[str, str | None]}
TEXTS |= dict.fromkeys(("notes", "lower_is_better"), tuple[str, ...])
OPTIONAL = {"headlines": Headline, "facts": NoteData, "measured": Measured, "statistics": Statistics}
"""The arrays that JSON omits if they are empty: a dict from the key of each array to the class of its records.
Headlines in JSON are for other programs: sigjax only checks them, and computes headlines again."""
REQUIRED = ("schema", "settings", *TEXTS, "systems", "pairs")
"""Keys that every report has."""


@cache
def field_types(record: type) -> dict[str, Any]:
    """Return the types of the fields of a record, with their domains."""
    hints = get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name] for field in fields(record)}


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of reports."""
    pairs = field_types(Comparison)
    properties = {
        "schema": {"const": SCHEMA},
        "settings": _object(_of_settings() | USED_ON, ("runs",)),
        **{name: _kind(annotation).schema for name, annotation in TEXTS.items()},
        "systems": _kind(tuple[SystemScore, ...]).schema,
        "pairs": {
            "type": "array",
            "items": _object({key: pairs[key] for key in PAIR_KEYS + SCORE_KEYS}, SCORE_KEYS),
        },
        **{name: _kind(tuple[record, ...]).schema for name, record in OPTIONAL.items()},
        CHECKSUM: _kind(Hash).schema,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of sigjax compare",
        "description": "The docstrings of Comparison, SystemScore and compare say what each field is.",
        "type": "object",
        "additionalProperties": False,
        "required": list(REQUIRED),
        "properties": properties,
    }


def _of_settings() -> dict[str, Any]:
    types, abouts = types_of(Settings), options_of(Settings)
    known = {name: _within(types[name], each.metadata["option"]) for name, each in abouts.items()}
    return {field.name: known.get(field.name, types[field.name]) for field in fields(Settings)}


def _within(annotation: Any, about: Option) -> Any:
    if get_origin(annotation) in (Union, UnionType):
        return reduce(or_, [_within(member, about) for member in get_args(annotation)])
    return Annotated[annotation, Bounds(**about.bounds(annotation))] if annotation in (int, float) else annotation


def _object(types: dict[str, Any], optional: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in types if name not in optional],
        "properties": {name: _kind(annotation).schema for name, annotation in types.items()},
    }


class JsonType(NamedTuple):
    """A type in JSON: its JSON Schema, and a function that converts a value or raises ValueError."""

    schema: dict[str, Any]
    read: Callable[[Any], Any]


def _kind(annotation: Any, domain: Bounds = Bounds()) -> JsonType:  # noqa: B008
    """Return the `JsonType` (a schema and a reader) of a record's field with this type `annotation`.

    `domain` limits the values. A union must consist of one type and None.
    """
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(*members)
    if origin in (Union, UnionType):
        kinds = {member: _kind(member, domain) for member in members}
        read = next(kind.read for member, kind in kinds.items() if member is not NoneType)
        schemas = [kind.schema for kind in kinds.values()]
        return JsonType({"anyOf": schemas}, lambda value: None if value is None else read(value))
    if origin is Literal:
        return JsonType({"enum": list(members)}, lambda value: _of(value, str, members.__contains__))
    if annotation is Interval or (origin is tuple and members[-1] is not Ellipsis):
        end = _kind(float, domain) if annotation is Interval else _kind(members[0], domain)
        make = Interval._make if annotation is Interval else tuple
        schema = {"type": "array", "items": end.schema, "minItems": 2, "maxItems": 2}
        return JsonType(schema, lambda value: make(_ascending(_list(value, end.read))))
    if origin in (tuple, list, Sequence):
        item, make = _kind(members[0]), list if origin is list else tuple
        return JsonType({"type": "array", "items": item.schema}, lambda value: make(_list(value, item.read)))
    if origin is dict:
        item = _kind(members[1])
        schema = {"type": "object", "additionalProperties": item.schema}
        return JsonType(schema, lambda value: {key: item.read(each) for key, each in _of(value, dict).items()})
    if is_dataclass(annotation):
        readers = {name: _kind(each).read for name, each in field_types(annotation).items()}  # pyright: ignore[reportArgumentType]
        return JsonType(_object(field_types(annotation)), lambda value: _record(value, annotation, readers))  # pyright: ignore[reportArgumentType]
    plain = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null", dict: "object"}
    if annotation in (int, float):
        names = {"least": "minimum", "most": "maximum", "above": "exclusiveMinimum", "below": "exclusiveMaximum"}
        ends = {names[name]: end for name, end in domain._asdict().items() if name in names and end is not None}
        return JsonType({"type": plain[annotation], **ends}, _number_reading(annotation, domain))
    pattern = {} if domain.pattern is None else {"pattern": f"^(?:{domain.pattern})$"}
    matches = None if domain.pattern is None else re.compile(domain.pattern).fullmatch
    return JsonType({"type": plain[annotation], **pattern}, lambda value: _of(value, annotation, matches))


_WRITTEN = "expected a report as this version of sigjax writes it"
ScoreTable = dict[tuple[str, str], float]
"""Dict from (metric, system) to its score."""


def report_fields(source: str | os.PathLike[str], *, unchanged: bool = True) -> dict[str, Any]:
    """Read the fields of a report, by name, from JSON (a path, or the text).

    If `unchanged`, a wrong checksum is an error.
    """
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"expected the path of a report, or its JSON, got {type(source).__name__}")
    if isinstance(source, str) and source.lstrip().startswith("{"):
        name, content = "the text", source
    else:
        name, content = os.fspath(source), read_bytes(source)
    parsed = parse_report(name, content)
    with naming(name):
        # older reports also contain histograms, as "distributions"
        for key in parsed.keys() - {*REQUIRED, *OPTIONAL, CHECKSUM, "distributions"}:
            raise InputError(f"has {key!r}; {_WRITTEN}")
        texts = {key: _value(parsed, key, annotation) for key, annotation in TEXTS.items()}
        used_on, settings = _settings(_value(parsed, "settings", dict))
        systems = _records(_value(parsed, "systems", list[dict]), SystemScore, "systems")
        rows = _value(parsed, "pairs", list[dict])
        given = {key: _value({key: [], **parsed}, key, list[dict]) for key in OPTIONAL}
        more = {key: _records(given[key], record, key) for key, record in OPTIONAL.items()}
        scores = _scores(systems, settings, texts["lower_is_better"], more["measured"])
        known = {one.metric for one in systems}
        for entry, one in enumerate(more["headlines"], 1):
            if one.metric not in known or one in more["headlines"][: entry - 1]:
                raise InputError(
                    f"headlines, entry {entry}: {one.metric!r} has no score in systems, or this is there twice"
                )
        comparisons = _comparisons(rows, scores, settings, texts["lower_is_better"])
        found = {
            "systems": systems,
            "comparisons": comparisons,
            "settings": settings,
            "num_instances": used_on["instances"],
            "num_units": used_on["units"],
            "runs": used_on["runs"],
            "data": used_on["data"],
            "measured": more["measured"],
            **texts,
        }
        try:
            found["notes"] = with_facts(texts["notes"], more["facts"])
        except ValueError as error:
            raise InputError(f"'facts': {error}, which is not among the notes") from None
        if more["statistics"]:
            found["evaluations"] = _unpacked(more["statistics"], ReportRecord(**found))
        if unchanged:
            check_unchanged(parsed)
        return found


def _settings(given: Mapping[str, Any]) -> tuple[dict[str, Any], Settings]:
    given = {**DEFAULTS, "runs": None, **given}  # if a setting is newer than the report, its default applies
    for name in sorted(given.keys() - DEFAULTS.keys() - USED_ON.keys()):
        raise InputError(f"settings: this version of sigjax has no option {name!r}; compare anew with it")
    tests = _value(given, "tests", list[str], "settings")
    chosen = {name: given[name] for name in DEFAULTS.keys() - {"tests"}}
    settings = Settings(test=tests, **chosen)
    with naming("settings"):
        check(settings)
    return {name: _value(given, name, annotation, "settings") for name, annotation in USED_ON.items()}, settings


def _scores(
    systems: Sequence[SystemScore], settings: Settings, lower_is_better: Sequence[str], measured: Sequence[Measured]
) -> ScoreTable:
    """Return the scores of the systems, and check the systems.

    Each system must occur once per metric, and the best system must come first. The baseline, and the metrics in
    `lower_is_better` and `measured`, must occur in `systems`.
    """
    scores: ScoreTable = {}
    for entry, one in enumerate(systems, 1):
        if (one.metric, one.name) in scores:
            raise InputError(f"systems, entry {entry}: {one.name!r} has a second score by {one.metric!r}")
        scores[one.metric, one.name] = one.score
        if one.interval_kind == "wilson" and not 0.0 <= one.score <= 1.0:
            what = f"'interval_kind' is 'wilson', of scores from 0 to 1, but 'score' is {one.score}"
            raise InputError(f"systems, entry {entry}: {what}")
    metrics, names = {one.metric for one in systems}, {one.name for one in systems}
    if not metrics:
        raise InputError(f"'systems' is empty; {_WRITTEN}")
    if settings.baseline is not None and settings.baseline not in names:
        raise InputError(f"settings: baseline {settings.baseline!r} has no score in systems")
    for key, named in (("lower_is_better", lower_is_better), ("measured", [one.metric for one in measured])):
        if unknown := [each for each in named if each not in metrics]:
            raise InputError(f"{key!r}: {unknown[0]!r} has no score in systems")
    for entry, (one, after) in enumerate(pairwise(systems), 2):
        better = (after.score < one.score) if one.metric in lower_is_better else (after.score > one.score)
        if one.metric == after.metric and better:
            what = f"{after.name!r} is better than the one before, by 'lower_is_better'; expected the best first"
            raise InputError(f"systems, entry {entry}: {what}")
    return scores


def _comparisons(
    rows: list[dict[str, Any]], scores: ScoreTable, settings: Settings, lower_is_better: tuple[str, ...]
) -> Comparisons:
    types = field_types(Comparison)
    apart = SCORE_KEYS if rows and SCORE_KEYS[0] in rows[0] else ()  # missing="pairwise"
    columns = {key: _column(rows, key, types[key], "pairs") for key in (*PAIR_KEYS, *apart)}
    _refuse_more(rows, columns, "pairs")
    pairs = list(zip(*(columns[key] for key in ("metric", "a", "b", "test")), strict=True))
    _check_pairs(pairs, scores, settings)
    if not apart:
        columns["score_a"] = [scores[metric, a] for metric, a, _, _ in pairs]
        columns["score_b"] = [scores[metric, b] for metric, _, b, _ in pairs]
    columns["better"] = [
        None if delta == 0 else a if (delta > 0) != (metric in lower_is_better) else b
        for (metric, a, b, _), delta in zip(pairs, columns["delta"], strict=True)
    ]
    columns["settings"] = [settings] * len(rows)
    return Comparisons.of_values(columns)


def _check_pairs(pairs: Sequence[tuple[str, str, str, str]], scores: ScoreTable, settings: Settings) -> None:
    """Raise an error for pairs (metric, a, b, test) with unknown systems or tests, and for pairs that occur twice.

    A system is known if it has one of the `scores`.
    """
    known: set[tuple[str, str, str, str]] = set()
    for entry, (metric, a, b, test) in enumerate(pairs, 1):
        for name in (a, b):
            if (metric, name) not in scores:
                raise InputError(f"pairs, entry {entry}: {name!r} has no score by {metric!r} in systems")
        if test not in settings.tests:
            raise InputError(f"pairs, entry {entry}: 'test' is {test!r}, which is not in the settings")
        if a == b or (metric, a, b, test) in known or (metric, b, a, test) in known:
            raise InputError(f"pairs, entry {entry}: {a!r} and {b!r} are there twice")
        if settings.baseline not in (None, b):
            raise InputError(f"pairs, entry {entry}: 'b' is {b!r}; expected the baseline, {settings.baseline!r}")
        known.add((metric, a, b, test))


def _records(rows: list[dict[str, Any]], record: type, array: str) -> tuple[Any, ...]:
    columns = {key: _column(rows, key, annotation, array) for key, annotation in field_types(record).items()}
    _refuse_more(rows, columns, array)
    return tuple(record(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _refuse_more(rows: list[dict[str, Any]], known: Mapping[str, Any], array: str) -> None:
    """Raise an error if a row has a key that is not `known`. Each row must have all known keys.

    `array` is the name of the array, for the message.
    """
    entry, row = next(((entry, row) for entry, row in enumerate(rows, 1) if len(row) != len(known)), (0, {}))
    for key in row.keys() - known.keys():
        raise InputError(f"{array}, entry {entry}: has {key!r}; {_WRITTEN}")


def _column(rows: list[dict[str, Any]], key: str, annotation: Any, array: str) -> list[Any]:
    read, values = _kind(annotation).read, []
    try:
        for row in rows:
            values.append(read(row[key]))
    except (KeyError, ValueError):
        _value(rows[len(values)], key, annotation, f"{array}, entry {len(values) + 1}")
    return values


def _value(given: Mapping[str, Any], key: str, annotation: Any, array: str = "") -> Any:
    where = f"{array}: " if array else ""
    if key not in given:
        raise InputError(f"{where}has no {key!r}; {_WRITTEN}")
    try:
        return _kind(annotation).read(given[key])
    except ValueError:
        text = repr(given[key])
        text = text if len(text) <= 40 else f"{text[:40]}..."
        raise InputError(f"{where}{key!r} is {text}; expected {_words(_kind(annotation).schema)}") from None


def _words(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if "anyOf" in schema:
        return " or ".join(map(_words, schema["anyOf"]))
    if schema["type"] == "array":
        of = {"string": "text"}.get(schema["items"].get("type"), "objects")
        return "[low, high]" if "minItems" in schema else f"a list of {of}"
    plain = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}
    text = plain.get(schema["type"], "null" if schema["type"] == "null" else "an object")
    for word, end in {"from": "minimum", "to": "maximum", "like": "pattern"}.items():
        text += f" {word} {str(schema[end]).removeprefix('^(?:').removesuffix(')$')}" if end in schema else ""
    return text


def _number_reading(annotation: type, domain: Bounds) -> Callable[[Any], Any]:
    """Return a function that raises ValueError unless its argument is a number of the domain, and returns the number.

    A float may be written as a whole number.
    """
    largest = sys.float_info.max if annotation is float else 2**63 - 1
    low = -largest if domain.least is None else domain.least
    high = largest if domain.most is None else domain.most

    def read(value: Any) -> Any:
        if type(value) not in (int, annotation) or not low <= value <= high:
            raise ValueError
        return annotation(value)

    return read


def _of(value: Any, annotation: type, holds: Callable[[Any], Any] | None = None) -> Any:
    if type(value) is not annotation or (holds is not None and not holds(value)):
        raise ValueError
    return value


def _list(value: Any, read: Callable[[Any], Any]) -> list[Any]:
    return [read(each) for each in _of(value, list)]


def _ascending(ends: list[Any]) -> list[Any]:
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ValueError
    return ends


def _record(value: Any, annotation: Any, readers: Mapping[str, Callable[[Any], Any]]) -> Any:
    if _of(value, dict).keys() != readers.keys():
        raise ValueError
    return annotation(**{name: read(value[name]) for name, read in readers.items()})
