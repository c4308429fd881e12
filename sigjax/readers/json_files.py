"""JSON of other programs: parsed strictly, every refusal naming the file and the line or field; nothing is executed.

Only the values that are used are checked, by `number` and `text`: logs hold NaN and infinity where they do not matter.
These say what is wrong with a value; an `Item`, which knows where it stands, or `naming` says where.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.options import quote, suggest
from sigjax.readers.table import check_characters, parse_number
from sigjax.records import InputError, Line
from sigjax.run.files import naming, read_text

Object = dict[str, Any]
JsonPath = str | tuple[Any, ...]
"""A text, or (place of the holder, field), or (place of the holder, word, number); put into words only for messages."""
_Checked = TypeVar("_Checked")


@dataclass(frozen=True, slots=True)
class Item:
    """A JSON object that knows where it stands.

    A field that is missing, or null, is the default where one is given, and refused elsewhere.

    >>> entry = Item("a.json, entry 1", {"name": "x", "stats": [{"sum": 2}]})
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
        """Where it stands."""
        return _worded(self.at)

    def field(self, name: str) -> str:
        """Where a field stands."""
        return _worded((self.at, name))

    def get(self, name: str) -> Any:
        """A field as it is; None where it is missing."""
        return self.fields.get(name)

    def value(self, name: str, default: Any = None) -> Any:
        """A field as it is."""
        value = self.fields.get(name)
        if value is None and default is None and name not in self.fields:
            raise InputError(f"{self.where}: no field {quote(name)}; {suggest(name, self.fields, 'fields')}")
        return default if value is None else value

    def name(self, path: str) -> str:
        """The text of a field below others, as in `adapter_spec.model?`: empty where there is none, if ? allows it."""
        *holders, field = path.removesuffix("?").split(".")
        item = self
        for holder in holders:
            item = item.item(holder, {})
        return item.text(field) if item.get(field) or not path.endswith("?") else ""

    def number(self, name: str) -> float:
        """A finite number."""
        return self._checked(name, number)

    def numbers(self) -> dict[str, float]:
        """All fields but those that are null, which must be numbers."""
        return {name: self.number(name) for name, value in self.fields.items() if value is not None}

    def text(self, name: str, default: str | int | None = None) -> str:
        """A text or whole number that names something."""
        return self._checked(name, text, default)

    def texts(self, name: str, default: list[str] | None = None) -> list[str]:
        """A list of names."""
        return self._checked(name, lambda value: list(map(text, _as_list(value))), default)

    def item(self, name: str, default: Object | None = None) -> Item:
        """An object."""
        return Item((self.at, name), self._checked(name, as_object, default))

    def items(self, name: str, word: str, default: list[Any] | None = None) -> Iterator[Item]:
        """A list of objects, each of which a message calls by a word and its number."""
        return _numbered(self._checked(name, _as_list, default), self.at, word)

    def _checked(self, name: str, check: Callable[[Any], _Checked], default: Any = None) -> _Checked:
        value = self.fields.get(name)
        if value is None:
            value = self.value(name, default)
        try:
            return check(value)
        except InputError as error:  # `naming` would take several times as long
            raise InputError(f"{self.field(name)}: {error.neutral}") from None


def load_item(file: str) -> Item:
    """A JSON file that holds one object."""
    return item_at(file, parse_json(file, read_text(file)))


def load_entries(file: str) -> Iterator[Item]:
    """A JSON file that holds a list of objects."""
    loaded = parse_json(file, read_text(file))
    with naming(file):
        return entries_of(loaded, file)


def entries_of(value: Any, file: str) -> Iterator[Item]:
    """The objects of a list that a file holds."""
    return _numbered(_as_list(value), file, "entry")


def load_lines(file: str, *, unread: Collection[str]) -> Iterator[Item]:
    """A file with one object per line; fields in `unread`, which may be long, are not kept."""
    for item in parse_json_lines(file, read_text(file)):
        yield Item(item.at, {name: value for name, value in item.fields.items() if name not in unread})


def item_at(at: JsonPath, value: object) -> Item:
    """A value that must be an object."""
    if not isinstance(value, dict):
        raise InputError(f"{_worded(at)}: expected an object, got {type_of(value)}")
    return Item(at, value)


def _worded(at: JsonPath) -> str:
    if isinstance(at, str):
        return at
    holder, *last = at
    if len(last) == 2 and isinstance(holder, str):
        return str(Line(holder, last[1], last[0]))
    return f"{_worded(holder)}, " + (f"field {quote(last[0])}" if len(last) == 1 else f"{last[0]} {last[1]}")


def _numbered(values: list[Any], at: JsonPath, word: str) -> Iterator[Item]:
    for i, value in enumerate(values, start=1):
        yield item_at((at, word, i), value)


class _Refused(float):
    """A number that is spelt as one that a double does not hold: refused where it is used."""

    refusal: str


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
        refused.refusal = error.neutral
        return refused


_VALUES = json.JSONDecoder(object_pairs_hook=_unique_names, parse_float=_double)


@cache
def _spelling(kind: type[str]) -> json.JSONDecoder:
    """What keeps numbers as text of some kind."""
    return json.JSONDecoder(object_pairs_hook=_unique_names, parse_float=kind, parse_int=kind, parse_constant=kind)


def parse_json(file: str, content: str, *, line: int | None = None, spelled: type[str] | None = None) -> Any:
    """The value of a JSON text: of a whole file, or of one line of it; `spelled` keeps numbers as text of that kind.

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
        raise InputError(f"{place}: {error.neutral}") from None
    except ValueError:
        raise InputError(f"{place}: holds a number of thousands of digits; repair it") from None


def parse_json_lines(file: str, content: str, *, spelled: type[str] | None = None) -> Iterator[Item]:
    """The object on each line that is not empty."""
    for line, part in enumerate(content.split("\n"), start=1):
        if part.strip():
            yield item_at((file, "line", line), parse_json(file, part, line=line, spelled=spelled))


def as_object(value: object) -> Object:
    """Refuse anything but an object."""
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {type_of(value)}")
    return value


def _as_list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"expected a list, got {type_of(value)}")
    return value


def number(value: object) -> float:
    """A finite number, true or false, as a double; anything else is refused.

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
    """A text or whole number that names something, as text."""
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
    """What a value is, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return f"the text {quote(value)}"
    return {dict: "an object", list: "a list"}.get(type(value), f"the number {value}"[:40])
