"""JSON objects that know where they stand, so that every refusal names the file and the field."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.json_files import Object, as_list, as_object, member, number, parse_json, parse_json_lines, text


class Item(NamedTuple):
    """A JSON object.

    A field that is missing, or null, is the default where one is given, and refused elsewhere.

    Example:
        >>> entry = Item("a.json, entry 1", {"name": "x", "stats": [{"sum": 2}]})
        >>> entry.text("name"), entry.text("trial", 0), [stat.number("sum") for stat in entry.items("stats", "stat")]
        ('x', '0', [2.0])
        >>> entry.number("name")
        Traceback (most recent call last):
        ...
        sigjax.InputError: a.json, entry 1, field 'name': expected a number, got the text 'x'
    """

    where: str
    fields: Object

    def get(self, name: str) -> Any:
        """A field as it is; None where it is missing."""
        return self.fields.get(name)

    def place(self, name: str) -> str:
        """Where a field stands."""
        return f"{self.where}, field {name!r}"

    def value(self, name: str, default: Any = None) -> Any:
        """A field as it is."""
        value = self.fields.get(name)
        if value is not None:
            return value
        return default if default is not None else member(self.fields, name, self.where)

    def number(self, name: str) -> float:
        """A finite number."""
        return number(self.value(name), self.place(name))

    def text(self, name: str, default: str | int | None = None) -> str:
        """A text or whole number that names something."""
        return text(self.value(name, default), self.place(name))

    def texts(self, name: str, default: list[str] | None = None) -> list[str]:
        """A list of names."""
        where = self.place(name)
        return [text(each, where) for each in as_list(self.value(name, default), where)]

    def item(self, name: str, default: Object | None = None) -> Item:
        """An object."""
        where = self.place(name)
        return Item(where, as_object(self.value(name, default), where))

    def items(self, name: str, word: str, default: list[Any] | None = None) -> Iterator[Item]:
        """A list of objects, each of which a message calls by a word and its number."""
        return _numbered(as_list(self.value(name, default), self.place(name)), self.where, word)


def load_item(file: str) -> Item:
    """A JSON file that holds one object."""
    return Item(file, as_object(_load(file), file))


def load_entries(file: str) -> Iterator[Item]:
    """A JSON file that holds a list of objects."""
    return _numbered(as_list(_load(file), file), file, "entry")


def load_lines(file: str, *, unread: Collection[str]) -> Iterator[Item]:
    """A file with one object per line; fields in `unread`, which may be long, are not kept."""
    for where, fields in parse_json_lines(file, decode_text(file, read_bytes(file)), unread=unread):
        yield Item(where, fields)


def _load(file: str) -> Any:
    return parse_json(file, decode_text(file, read_bytes(file)))


def _numbered(values: list[Any], where: str, word: str) -> Iterator[Item]:
    for i, value in enumerate(values, start=1):
        place = f"{where}, {word} {i}"
        yield Item(place, as_object(value, place))
