"""Strict parsing of JSON files; each error message names the file and the line or field.

`number` and `text` check a value only when it is used, because logs often have NaN or infinity in other fields. They
say what is wrong with the value. `JsonObject` and `naming` add its place in the file. In this module, "refuse" means:
raise an `InputError`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.options import listing, quote, suggest
from sigjax.readers.table import check_characters, parse_number
from sigjax.records import Hint, InputError, Line, Message
from sigjax.run.files import naming, read_text

Object = dict[str, Any]
JsonPath = str | tuple[Any, ...]
"""The place of a value. It is a text (the file), or a pair (place of the object, name of the field), or a triple (place
of the list, word for its items, number of the item)."""
_Checked = TypeVar("_Checked")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object with its place in the file.

    A method returns the value of a field, and refuses a value of another type. If the field is missing or null, the
    method returns the default. Without a default, it refuses the object.

    >>> entry = JsonObject("a.json, entry 1", {"name": "x", "stats": [{"sum": 2}]})
    >>> entry.text("name"), entry.text("trial", 0), [stat.number("sum") for stat in entry.items("stats", "stat")]
    ('x', '0', [2.0])
    >>> entry.number("name")
    Traceback (most recent call last):
    ...
    sigjax.InputError: a.json, entry 1, field 'name': expected a number, got the text 'x'
    """

    at: JsonPath
    fields: Object

    @property
    def where(self) -> str:
        """The place of the object in the file, for messages."""
        return _path_in_words(self.at)

    def field(self, name: str) -> str:
        """Return the place of a field, for messages."""
        return _path_in_words((self.at, name))

    def get(self, name: str) -> Any:
        """Return the unchecked value of a field; None if the field is missing."""
        return self.fields.get(name)

    def value(self, name: str, default: Any = None) -> Any:
        """Return the unchecked value of a field. If it is null or missing, return the default.

        A missing field without a default is refused; null without a default is None.
        """
        value = self.fields.get(name)
        if value is None and default is None and name not in self.fields:
            raise InputError(f"{self.where}: no field {quote(name)}; {suggest(name, self.fields, 'fields')}")
        return default if value is None else value

    def name(self, path: str) -> str:
        """Return the text at a path of nested fields, such as `adapter_spec.model?`.

        If the path ends with ?, the text is empty if the field is missing.
        """
        *holders, field = path.removesuffix("?").split(".")
        item = self
        for holder in holders:
            item = item.item(holder, {})
        return item.text(field) if item.get(field) or not path.endswith("?") else ""

    def number(self, name: str) -> float:
        """Return the value of a field that must be a finite number."""
        return self._checked(name, number)

    def numbers(self) -> dict[str, float]:
        """Return all fields that are not null, as name -> number."""
        return {name: self.number(name) for name, value in self.fields.items() if value is not None}

    def text(self, name: str, default: str | int | None = None) -> str:
        """Return the value of a field that must be a name: a text or an integer."""
        return self._checked(name, text, default)

    def texts(self, name: str, default: list[str] | None = None) -> list[str]:
        """Return the value of a field that must be a list of names."""
        return self._checked(name, lambda value: list(map(text, _as_list(value))), default)

    def item(self, name: str, default: Object | None = None) -> JsonObject:
        """Return the value of a field that must be an object."""
        return JsonObject((self.at, name), self._checked(name, as_object, default))

    def items(self, name: str, word: str, default: list[Any] | None = None) -> Iterator[JsonObject]:
        """Return the objects of a field that must be a list of objects. Messages call them `word` 1, `word` 2, ..."""
        return _numbered(self._checked(name, _as_list, default), self.at, word)

    def _checked(self, name: str, check: Callable[[Any], _Checked], default: Any = None) -> _Checked:
        value = self.fields.get(name)
        if value is None:
            value = self.value(name, default)
        try:
            return check(value)
        except InputError as error:  # `naming` would take several times as long
            raise InputError(f"{self.field(name)}: ", error.message) from None


def load_item(file: str) -> JsonObject:
    """Load a JSON file that holds one object."""
    return item_at(file, parse_json(file, read_text(file)))


def load_entries(file: str) -> Iterator[JsonObject]:
    """Load a JSON file that holds a list of objects."""
    loaded = parse_json(file, read_text(file))
    with naming(file):
        return entries_of(loaded, file)


def entries_of(value: Any, file: str) -> Iterator[JsonObject]:
    """Check that a value from a file is a list, and yield its objects."""
    return _numbered(_as_list(value), file, "entry")


def load_lines(file: str, *, unread: Collection[str]) -> Iterator[JsonObject]:
    """Load a file with one object per line. The fields in `unread` are dropped, because they may be long."""
    for item in parse_json_lines(file, read_text(file)):
        yield JsonObject(item.at, {name: value for name, value in item.fields.items() if name not in unread})


def item_at(at: JsonPath, value: object) -> JsonObject:
    """Return the object `value` with its place `at` in the file; raise an error if it is not an object."""
    if not isinstance(value, dict):
        raise InputError(f"{_path_in_words(at)}: expected an object, got {type_of(value)}")
    return JsonObject(at, value)


def _path_in_words(at: JsonPath) -> str:
    if isinstance(at, str):
        return at
    holder, *last = at
    if len(last) == 2 and isinstance(holder, str):
        return str(Line(holder, last[1], last[0]))
    return f"{_path_in_words(holder)}, " + (f"field {quote(last[0])}" if len(last) == 1 else f"{last[0]} {last[1]}")


def _numbered(values: list[Any], at: JsonPath, word: str) -> Iterator[JsonObject]:
    for i, value in enumerate(values, start=1):
        yield item_at((at, word, i), value)


class _Refused(float):
    """A number that a double cannot hold exactly. Reading keeps it; only `number`, which uses it, refuses it."""

    refusal: Message


def _unique_names(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((repeated, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise InputError(f"field {quote(repeated)} occurs twice in an object; expected each name once")
    return found


def _double(spelling: str) -> float:
    value = float(spelling)
    if 0 < abs(value) < LARGEST_WHOLE:
        return value
    try:
        return value if math.isinf(value) else parse_number(spelling)
    except InputError as error:
        refused = _Refused(value)
        refused.refusal = error.message
        return refused


_VALUES = json.JSONDecoder(object_pairs_hook=_unique_names, parse_float=_double)


@cache
def _spelling(kind: type[str]) -> json.JSONDecoder:
    """Return a decoder that keeps numbers as text of the type `kind`."""
    return json.JSONDecoder(object_pairs_hook=_unique_names, parse_float=kind, parse_int=kind, parse_constant=kind)


def parse_json(file: str, content: str, *, line: int | None = None, spelled: type[str] | None = None) -> Any:
    """Parse a whole JSON file, or one line of it. If `spelled` is given, numbers are kept as text of this type.

    >>> parse_json("a.json", '{"score": 0.5}')
    {'score': 0.5}
    """
    place = file if line is None else f"{Line(file, line)}"
    try:
        return (_spelling(spelled) if spelled else _VALUES).decode(content)
    except json.JSONDecodeError as error:
        where = f"{Line(file, line or error.lineno)}, character {error.colno}"
        raise InputError(f"{where}: not readable as JSON: {error.msg}; is the file cut off?") from None
    except RecursionError:
        raise InputError(f"{place}: nested too deeply; repair it") from None
    except InputError as error:
        raise InputError(f"{place}: ", error.message) from None
    except ValueError:
        raise InputError(f"{place}: holds a number of thousands of digits; repair it") from None


def parse_json_lines(file: str, content: str, *, spelled: type[str] | None = None) -> Iterator[JsonObject]:
    """Parse the objects of a file with one object per line; blank lines are skipped."""
    for line, part in enumerate(content.split("\n"), start=1):
        if part.strip():
            yield item_at((file, "line", line), parse_json(file, part, line=line, spelled=spelled))


def as_object(value: object) -> Object:
    """Check that a value is an object."""
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {type_of(value)}")
    return value


def _as_list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"expected a list, got {type_of(value)}")
    return value


def number(value: object) -> float:
    """Check that a value is a finite number, true or false; return it as a float.

    >>> number(True), number(3)
    (1.0, 3.0)
    """
    if type(value) is float and abs(value) < LARGEST_WHOLE:
        return value
    if not isinstance(value, int | float):
        raise InputError(f"expected a number, got {type_of(value)}")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise InputError("whole numbers beyond 2**53 are not exact; rescale them")
    if isinstance(value, _Refused):
        raise InputError(value.refusal)
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {value}; repair it, or write null where it is missing")
    return float(value)


def text(value: object) -> str:
    """Check that a value is a name (a text or an integer); return it as text."""
    if type(value) is int:
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"expected a text or a whole number, got {type_of(value)}")
    if not value.isascii():
        check_characters(value)
    if not value or value.isspace():
        raise InputError("expected a name, got an empty text")
    return value


def type_of(value: object) -> str:
    """Describe the type of a value, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return f"the text {quote(value)}"
    return {dict: "an object", list: "a list"}.get(type(value), f"the number {value}"[:40])


def record_paths(value: Any) -> list[str]:
    """Return the paths of all lists of objects in a JSON value; the longest list comes first.

    >>> record_paths({"version": 1, "results": [{"task": "x", "samples": [{"id": 1}, {"id": 2}]}]})
    ['results[*].samples', 'results']
    """

    def below(value: Any, path: str) -> list[str]:
        if isinstance(value, dict):
            return [each for name, own in value.items() for each in below(own, f"{path}.{name}")]
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            return [path, *below(value[0], f"{path}[*]")]
        return []

    paths = [path.removeprefix(".") for path in below(value, "")]
    return sorted(filter(None, paths), key=lambda path: -len(records_at(value, path)))


def records_question(paths: Sequence[str]) -> str:
    """Return a message that asks whether a JSON file is a table; `paths` are the paths of its lists of objects."""
    also = f" (lists of objects also stand at {listing(paths[1:], 3)})" if paths[1:] else ""
    return f"unknown format of JSON; is it a table at {Hint('records', quote(paths[0]))}?{also}"


def at_path(value: Any, path: str) -> Any:
    """Return the value at a path such as `parsed.score` or `scores[0].value`; None if there is no such path.

    >>> at_path({"parsed": {"scores": [1, 2]}}, "parsed.scores[1]")
    2
    """
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value


def records_at(value: Any, path: str) -> list[Any]:
    """Return the records at a path such as `results[*].samples[*]`.

    Each record also gets the fields of the objects around it, except their lists and objects.

    >>> records_at({"results": [{"task": "x", "samples": [{"id": 1}, {"id": 2}]}]}, "results[*].samples[*]")
    [{'task': 'x', 'id': 1}, {'task': 'x', 'id': 2}]
    """
    found: list[tuple[Any, dict[str, Any]]] = [(value, {})]
    for step in re.findall(r"[^.\[\]]+|\[\*\]", path):
        following: list[tuple[Any, dict[str, Any]]] = []
        for own, held in found:
            if step in ("*", "[*]"):
                each = own if isinstance(own, list) else list(own.values()) if isinstance(own, dict) else []
                following += [(one, held) for one in each]
            elif isinstance(own, dict) and step in own:
                plain = {name: one for name, one in own.items() if not isinstance(one, list | dict)}
                following.append((own[step], held | plain))
        found = following
    found = [(one, held) for own, held in found for one in (own if isinstance(own, list) else [own])]
    return [held | own if isinstance(own, dict) else own for own, held in found]
