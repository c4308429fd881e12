"""JSON of the schema `sigjax/1` -> the fields of a report, every value as it was written."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sigjax.files.opening import naming, read_bytes
from sigjax.records import (
    FIELDS,
    Comparison,
    Comparisons,
    Distribution,
    InputError,
    Interval,
    Measured,
    Settings,
    SystemScore,
    column_of,
)
from sigjax.records.options import check, types_of
from sigjax.report.peers import peers_from
from sigjax.report.programs import PAIR_KEYS, SCORE_KEYS, SYSTEM_KEYS
from sigjax.run.resume import parse_report

_USED_ON = {"instances": int, "units": int, "data": str}
"""What stands beside the options in the settings of a report."""
_OTHERS = {"signature": str, "versions": dict[str, str | None], "notes": tuple[str, ...]}
_OTHERS |= {"lower_is_better": tuple[str, ...], "settings": dict, "systems": list[dict], "pairs": list[dict]}


def report_fields(source: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of a report by name, from its JSON: a path, or the text itself.

    Raises:
        InputError: naming the file, and the part of it that is not as sigjax writes it.
    """
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"expected the path of a report, or its JSON, got {type(source).__name__}")
    if isinstance(source, str) and source.lstrip().startswith("{"):
        name, content = "the text", source
    else:
        name, content = os.fspath(source), read_bytes(source)
    parsed = parse_report(name, content)
    with naming(name):
        parts = {key: _value(parsed, key, kind) for key, kind in _OTHERS.items()}
        used_on, settings = _settings(parts["settings"])
        systems = _records(parts["systems"], SystemScore, SYSTEM_KEYS, "systems")
        more = {name: _value({name: [], **parsed}, name, list[dict]) for name in ("distributions", "measured")}
        distributions = _records(more["distributions"], Distribution, types_of(Distribution), "distributions")
        for row, each in enumerate(distributions):
            if {len(each.shares), len(each.extreme)} != {len(each.edges) - 1}:
                raise InputError(f"distributions, entry {row + 1}: expected a share for each bin, and one edge more")
        return {
            "systems": systems,
            "comparisons": _comparisons(parts["pairs"], systems, settings, parts["lower_is_better"]),
            "settings": settings,
            "num_instances": used_on["instances"],
            "num_units": used_on["units"],
            "data": used_on["data"],
            "measured": _records(more["measured"], Measured, types_of(Measured), "measured"),
            "compat": peers_from(parsed.get("compat", ())),
            "distributions": distributions,
            **{key: parts[key] for key in ("lower_is_better", "notes", "signature", "versions")},
        }


def _settings(given: Mapping[str, Any]) -> tuple[dict[str, Any], Settings]:
    """What the settings were used on, and the settings."""
    names = {field.name for field in fields(Settings)}
    for name in sorted(given.keys() ^ (names | _USED_ON.keys())):
        is_there = "has no option" if name in given else "expected the option"
        raise InputError(f"settings: this version of sigjax {is_there} {name!r}; compare anew with it")
    tests = _value(given, "tests", list[str], "settings")
    settings = Settings(test=tests, **{name: given[name] for name in names - {"tests"}})
    with naming("settings"):
        check(settings)
    return {name: _value(given, name, kind, "settings") for name, kind in _USED_ON.items()}, settings


def _records(rows: list[dict[str, Any]], kind: type, keys: Iterable[str], part: str) -> tuple[Any, ...]:
    """The records of a kind, from the objects of a part."""
    columns = {key: _column(rows, key, types_of(kind)[key], part) for key in keys}
    return tuple(kind(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _comparisons(
    rows: list[dict[str, Any]], systems: Iterable[SystemScore], settings: Settings, lower_is_better: tuple[str, ...]
) -> Comparisons:
    columns = {key: _column(rows, key, types_of(Comparison)[key], "pairs") for key in PAIR_KEYS}
    scores = {(system.metric, system.name): system.score for system in systems}
    pairs = list(zip(*(columns[key] for key in ("metric", "a", "b", "delta")), strict=True))
    for row, (metric, *names, _) in enumerate(pairs):
        for name in names:
            if (metric, name) not in scores:
                raise InputError(f"pairs, entry {row + 1}: {name!r} has no score by {metric!r} in systems")
    columns["score_a"] = [scores[metric, a] for metric, a, _, _ in pairs]
    columns["score_b"] = [scores[metric, b] for metric, _, b, _ in pairs]
    if rows and SCORE_KEYS[0] in rows[0]:  # missing pairwise
        columns |= {key: _column(rows, key, float, "pairs") for key in SCORE_KEYS}
    columns["better"] = [
        None if delta == 0 else a if (delta > 0) != (metric in lower_is_better) else b for metric, a, b, delta in pairs
    ]
    columns["settings"] = [settings] * len(rows)
    return Comparisons({name: column_of(columns[name], kind) for name, kind in FIELDS.items()})


def _column(rows: list[dict[str, Any]], key: str, kind: Any, part: str) -> list[Any]:
    """The values of a key of all rows."""
    read, values = _reader(kind), []
    try:
        for row in rows:
            values.append(read(row[key]))
    except (KeyError, ValueError):
        _value(rows[len(values)], key, kind, f"{part}, entry {len(values) + 1}")
    return values


def _value(given: Mapping[str, Any], key: str, kind: Any, part: str = "") -> Any:
    """The value of a key, refused where it is not of its type."""
    place = f"{part}: " if part else ""
    if key not in given:
        raise InputError(f"{place}has no {key!r}; expected a report as this version of sigjax writes it")
    try:
        return _reader(kind)(given[key])
    except ValueError:
        shown = repr(given[key])
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        raise InputError(f"{place}{key!r} is {shown}; expected {_words(kind)}") from None


def _words(kind: Any) -> str:
    plain = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "null"}
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_words, get_args(kind)))
    if kind is Interval or get_args(kind) == (int, int):
        return "[low, high]"
    if kind == list[dict]:
        return "a list of objects"
    return plain.get(kind) or ("an object" if dict in (kind, get_origin(kind)) else "a list of text")


def _reader(kind: Any) -> Callable[[Any], Any]:
    """What makes a value of a type from that of JSON, or raises ValueError."""
    origin, members = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (read,) = (_reader(member) for member in members if member is not NoneType)
        return lambda value: None if value is None else read(value)
    if kind is Interval:
        return lambda value: Interval(*_list(value, _real, 2))
    if origin is tuple:
        read, size = _reader(members[0]), None if members[-1] is Ellipsis else len(members)
        return lambda value: tuple(_list(value, read, size))
    if origin is list:
        return lambda value: _list(value, _reader(members[0]))
    if origin is dict:
        return lambda value: dict(zip(_of(value, dict), _list([*value.values()], _reader(members[1])), strict=True))
    if origin is Literal:
        return lambda value: _of(value, str, members)
    if kind is int:
        return lambda value: _of(value, int, range(2**63))
    return _real if kind is float else lambda value: _of(value, kind)


def _of(value: Any, kind: type, among: Any = None) -> Any:
    if type(value) is not kind or (among is not None and value not in among):
        raise ValueError
    return value


def _real(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _list(value: Any, read: Callable[[Any], Any], size: int | None = None) -> list[Any]:
    if type(value) is not list or size not in (None, len(value)):
        raise ValueError
    return [read(each) for each in value]
