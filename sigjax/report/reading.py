"""JSON of the schema `sigjax/1` -> the fields of a report, every value as it was written.

A report comes from anywhere, so everything that formats rely on is checked here, once: the type and the domain of every
value, by the records, and that names belong together.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

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
from sigjax.records.domains import Domain
from sigjax.records.options import check
from sigjax.records.peers import PeerTest
from sigjax.report.programs import PAIR_KEYS, SCORE_KEYS
from sigjax.report.schema import OPTIONAL, PARTS, TEXTS, USED_ON, PeerRow, bare, kinds_of
from sigjax.run.resume import parse_report

_WRITTEN = "expected a report as this version of sigjax writes it"
Scores = dict[tuple[str, str], float]
"""The score of each metric and system."""


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
        for part in parsed.keys() - {*PARTS, *OPTIONAL}:
            raise InputError(f"has {part!r}; {_WRITTEN}")
        parts = {key: _value(parsed, key, kind) for key, kind in TEXTS.items()}
        used_on, settings = _settings(_value(parsed, "settings", dict))
        systems = _records(_value(parsed, "systems", list[dict]), SystemScore, "systems")
        rows = _value(parsed, "pairs", list[dict])
        given = {part: _value({part: [], **parsed}, part, list[dict]) for part in OPTIONAL}
        more = {part: _records(given[part], kind, part) for part, kind in OPTIONAL.items()}
        scores = _scores(systems, settings, parts["lower_is_better"], more["measured"])
        comparisons = _comparisons(rows, scores, settings, parts["lower_is_better"])
        _check_distributions(more["distributions"], scores)
        return {
            "systems": systems,
            "comparisons": comparisons,
            "settings": settings,
            "num_instances": used_on["instances"],
            "num_units": used_on["units"],
            "data": used_on["data"],
            "measured": more["measured"],
            "compat": _peers(more["compat"], comparisons),
            "distributions": more["distributions"],
            **parts,
        }


def _settings(given: Mapping[str, Any]) -> tuple[dict[str, Any], Settings]:
    """What the settings were used on, and the settings."""
    names = {field.name for field in fields(Settings)}
    for name in sorted(given.keys() ^ (names | USED_ON.keys())):
        is_there = "has no option" if name in given else "expected the option"
        raise InputError(f"settings: this version of sigjax {is_there} {name!r}; compare anew with it")
    tests = _value(given, "tests", list[str], "settings")
    settings = Settings(test=tests, **{name: given[name] for name in names - {"tests"}})
    with naming("settings"):
        check(settings)
    return {name: _value(given, name, kind, "settings") for name, kind in USED_ON.items()}, settings


def _scores(
    systems: Sequence[SystemScore], settings: Settings, lower_is_better: Sequence[str], measured: Sequence[Measured]
) -> Scores:
    """The scores, by names that are there once and to which all others belong."""
    scores: Scores = {}
    for entry, one in enumerate(systems, 1):
        if (one.metric, one.name) in scores:
            raise InputError(f"systems, entry {entry}: {one.name!r} has a second score by {one.metric!r}")
        scores[one.metric, one.name] = one.score
    metrics, names = {one.metric for one in systems}, {one.name for one in systems}
    if not metrics:
        raise InputError(f"'systems' is empty; {_WRITTEN}")
    if settings.baseline is not None and settings.baseline not in names:
        raise InputError(f"settings: baseline {settings.baseline!r} has no score in systems")
    for part, named in (("lower_is_better", lower_is_better), ("measured", [one.metric for one in measured])):
        if unknown := [each for each in named if each not in metrics]:
            raise InputError(f"{part!r}: {unknown[0]!r} has no score in systems")
    for entry, (one, after) in enumerate(pairwise(systems), 2):
        better = (after.score < one.score) if one.metric in lower_is_better else (after.score > one.score)
        if one.metric == after.metric and better:
            found = f"{after.name!r} is better than the one before, by 'lower_is_better'; expected the best first"
            raise InputError(f"systems, entry {entry}: {found}")
    return scores


def _comparisons(
    rows: list[dict[str, Any]], scores: Scores, settings: Settings, lower_is_better: tuple[str, ...]
) -> Comparisons:
    kinds = kinds_of(Comparison)
    apart = SCORE_KEYS if rows and SCORE_KEYS[0] in rows[0] else ()  # missing pairwise
    columns = {key: _column(rows, key, kinds[key], "pairs") for key in (*PAIR_KEYS, *apart)}
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
    return Comparisons({name: column_of(columns[name], kind) for name, kind in FIELDS.items()})


def _check_pairs(pairs: Sequence[tuple[str, str, str, str]], scores: Scores, settings: Settings) -> None:
    """Refuse pairs (metric, a, b, test) of systems without a score, of other tests, and those that are there twice."""
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


def _check_distributions(distributions: Sequence[Distribution], scores: Scores) -> None:
    """Refuse distributions of unknown systems, and bins without edges."""
    for entry, one in enumerate(distributions, 1):
        for name in (one.a, one.b):
            if (one.metric, name) not in scores:
                raise InputError(f"distributions, entry {entry}: {name!r} has no score by {one.metric!r} in systems")
        if {len(one.shares), len(one.extreme)} != {len(one.edges) - 1}:
            raise InputError(f"distributions, entry {entry}: expected a share for each bin, and one edge more")
        if not all(low < high for low, high in pairwise(one.edges)):
            raise InputError(f"distributions, entry {entry}: 'edges' do not ascend; {_WRITTEN}")


def _peers(rows: Sequence[PeerRow], comparisons: Comparisons) -> tuple[PeerTest, ...]:
    """The tests of other programs, whose pairs are ours."""
    groups = {key: [*zip(*map(each.values, "ab"), strict=True)] for key, each in comparisons.groups().items()}
    found: dict[tuple[str, str, str], PeerTest] = {}
    for entry, row in enumerate(rows, 1):
        if (row.name, row.metric, row.test) in found:
            raise InputError(f"compat, entry {entry}: {row.name!r} is there twice for this metric and test")
        ours = groups.get((row.metric, row.test))
        if ours is None or (row.pairs and [(one.a, one.b) for one in row.pairs] != ours):
            raise InputError(f"compat, entry {entry}: expected all pairs of this metric and test, in order, or none")
        p_values = tuple([one.p_value for one in row.pairs])
        found[row.name, row.metric, row.test] = PeerTest(row.name, row.metric, row.test, row.about, p_values)
    return tuple(found.values())


def _records(rows: list[dict[str, Any]], kind: type, part: str) -> tuple[Any, ...]:
    """The records of a kind, from the objects of a part."""
    columns = {key: _column(rows, key, each, part) for key, each in kinds_of(kind).items()}
    _refuse_more(rows, columns, part)
    return tuple(kind(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _refuse_more(rows: list[dict[str, Any]], known: Mapping[str, Any], part: str) -> None:
    """Refuse keys that are not known, in rows that have all that are."""
    entry, row = next(((entry, row) for entry, row in enumerate(rows, 1) if len(row) != len(known)), (0, {}))
    for key in row.keys() - known.keys():
        raise InputError(f"{part}, entry {entry}: has {key!r}; {_WRITTEN}")


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
        raise InputError(f"{place}has no {key!r}; {_WRITTEN}")
    try:
        return _reader(kind)(given[key])
    except ValueError:
        shown = repr(given[key])
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        raise InputError(f"{place}{key!r} is {shown}; expected {_words(kind)}") from None


def _words(kind: Any, domain: Domain = Domain()) -> str:  # noqa: B008
    """A type and its domain in words."""
    origin, members = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(*bare(kind))
    if origin is Literal:
        return f"one of {', '.join(members)}"
    if origin in (Union, UnionType):
        return " or ".join(map(_words, members))
    plain = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "null"}
    if kind is Interval or (origin is tuple and members[-1] is not Ellipsis):
        return "[low, high]"
    if origin in (list, tuple):
        of = {str: "text", float: "numbers"}.get(bare(members[0])[0], "objects")
        return f"a list of {of}"
    ends = {"from": domain.least, "to": domain.most, "like": domain.pattern}
    return " ".join([plain.get(kind, "an object"), *(f"{word} {end}" for word, end in ends.items() if end is not None)])


def _reader(kind: Any, domain: Domain = Domain()) -> Callable[[Any], Any]:  # noqa: B008
    """What makes a value of a type from that of JSON, or raises ValueError."""
    origin, members = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _reader(*bare(kind))
    if origin in (Union, UnionType):
        (read,) = (_reader(member) for member in members if member is not NoneType)
        return lambda value: None if value is None else read(value)
    if kind is Interval or (origin is tuple and members[-1] is not Ellipsis):
        end, made = (_reader(float, domain), Interval._make) if kind is Interval else (_reader(members[0]), tuple)
        return lambda value: made(_ascending(_list(value, end)))
    if origin in (list, tuple):
        read = _reader(members[0])
        return lambda value: origin(_list(value, read))
    if origin is dict:
        read = _reader(members[1])
        return lambda value: dict(zip(_of(value, dict), _list([*value.values()], read), strict=True))
    if origin is Literal:
        return lambda value: _of(value, str, members.__contains__)
    if is_dataclass(kind):
        readers = {name: _reader(each) for name, each in kinds_of(kind).items()}  # pyright: ignore[reportArgumentType]
        return lambda value: _record(value, kind, readers)
    if kind in (int, float):
        return _number(kind, domain)
    return lambda value: _of(value, kind, None if domain.pattern is None else re.compile(domain.pattern).fullmatch)


def _number(kind: type, domain: Domain) -> Callable[[Any], Any]:
    """What takes the numbers of a domain alone; floats may be written as whole numbers."""
    largest = sys.float_info.max if kind is float else 2**63 - 1
    low = -largest if domain.least is None else domain.least
    high = largest if domain.most is None else domain.most

    def read(value: Any) -> Any:
        if type(value) not in (int, kind) or not low <= value <= high:
            raise ValueError
        return kind(value)

    return read


def _of(value: Any, kind: type, holds: Callable[[Any], Any] | None = None) -> Any:
    if type(value) is not kind or (holds is not None and not holds(value)):
        raise ValueError
    return value


def _list(value: Any, read: Callable[[Any], Any]) -> list[Any]:
    return [read(each) for each in _of(value, list)]


def _ascending(ends: list[Any]) -> list[Any]:
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ValueError
    return ends


def _record(value: Any, kind: Any, readers: Mapping[str, Callable[[Any], Any]]) -> Any:
    if _of(value, dict).keys() != readers.keys():
        raise ValueError
    return kind(**{name: read(value[name]) for name, read in readers.items()})
