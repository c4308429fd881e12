"""The schema `sigjax/1`: what JSON of a report holds, by the records that it is made from; and this as JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from sigjax.records import Comparison, Distribution, Interval, Measured, Settings, SystemScore, Test
from sigjax.records.domains import Domain, Hash, Number, Probability
from sigjax.records.options import Option, options_of, types_of
from sigjax.records.peers import PeerName
from sigjax.report.programs import PAIR_KEYS, SCORE_KEYS
from sigjax.run.checkpoint import SCHEMA


@dataclass(frozen=True)
class PeerPair:
    """What another program's test gives for a pair."""

    a: str
    b: str
    p_value: Probability | None
    significant: bool
    same_decision: bool


@dataclass(frozen=True)
class PeerRow:
    """A test of another program, and its pairs in the order of the comparisons."""

    name: PeerName
    metric: str
    test: Test
    about: str
    pairs: tuple[PeerPair, ...]


USED_ON = {"instances": Number, "units": Number, "data": Hash}
"""What stands beside the options in the settings of a report."""
TEXTS = {
    "signature": str,
    "versions": dict[str, str | None],
    "notes": tuple[str, ...],
    "lower_is_better": tuple[str, ...],
}
OPTIONAL = {"measured": Measured, "compat": PeerRow, "distributions": Distribution}
"""Arrays that are there only where they are not empty, and the records in them."""
PARTS = ("schema", "settings", *TEXTS, "systems", "pairs")
"""What every report has."""


@cache
def kinds_of(record: type) -> dict[str, Any]:
    """The types of the fields of a record, with their domains."""
    hints = get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name] for field in fields(record)}


def bare(kind: Any) -> tuple[Any, Domain]:
    """A type without its domain, and the domain."""
    return get_args(kind) if get_origin(kind) is Annotated else (kind, Domain())


def report_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of reports."""
    pairs = kinds_of(Comparison)
    properties = {
        "schema": {"const": SCHEMA},
        "settings": _object(_of_settings() | USED_ON),
        **{name: _schema_of(kind) for name, kind in TEXTS.items()},
        "systems": _schema_of(tuple[SystemScore, ...]),
        "pairs": {"type": "array", "items": _object({key: pairs[key] for key in PAIR_KEYS + SCORE_KEYS}, SCORE_KEYS)},
        **{name: _schema_of(tuple[record, ...]) for name, record in OPTIONAL.items()},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of sigjax compare",
        "description": "The docstrings of Comparison, SystemScore and compare say what each field is.",
        "type": "object",
        "additionalProperties": False,
        "required": list(PARTS),
        "properties": properties,
    }


def _of_settings() -> dict[str, Any]:
    """The types of the settings, with their domains."""
    kinds, abouts = types_of(Settings), options_of(Settings)
    known = {name: _within(kinds[name], each.metadata["option"]) for name, each in abouts.items()}
    return {field.name: known.get(field.name, kinds[field.name]) for field in fields(Settings)}


def _within(kind: Any, about: Option) -> Any:
    """The type of an option with its domain."""
    if get_origin(kind) in (Union, UnionType):
        return reduce(or_, [_within(member, about) for member in get_args(kind)])
    if kind is int:
        return Annotated[int, Domain(least=about.least, most=about.most)]
    ends = {name: end for name in ("above", "below") if abs(end := getattr(about, name)) != float("inf")}
    return Annotated[float, Domain(**ends)] if kind is float else kind


def _object(kinds: dict[str, Any], optional: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in kinds if name not in optional],
        "properties": {name: _schema_of(kind) for name, kind in kinds.items()},
    }


def _schema_of(kind: Any, domain: Domain = Domain()) -> dict[str, Any]:  # noqa: B008
    """The JSON Schema of a type."""
    origin, members = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _schema_of(*bare(kind))
    if origin in (Union, UnionType):
        return {"anyOf": [_schema_of(member, domain) for member in members]}
    if origin is Literal:
        return {"enum": list(members)}
    if kind is Interval or (origin is tuple and members[-1] is not Ellipsis):
        ends = _schema_of(float if kind is Interval else members[0], domain)
        return {"type": "array", "items": ends, "minItems": 2, "maxItems": 2}
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": _schema_of(members[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(members[1])}
    if is_dataclass(kind):
        return _object(kinds_of(kind))  # pyright: ignore[reportArgumentType]
    plain = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}
    names = {"least": "minimum", "most": "maximum", "above": "exclusiveMinimum", "below": "exclusiveMaximum"}
    bounds = {names[name]: end for name, end in domain._asdict().items() if name in names and end is not None}
    pattern = {} if domain.pattern is None else {"pattern": f"^(?:{domain.pattern})$"}
    return {"type": plain[kind], **(bounds if kind in (int, float) else {}), **pattern}
