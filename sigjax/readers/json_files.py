"""JSON of other programs: parsed strictly, every refusal naming the file and the line or field; nothing is executed.

Only the values that are used are checked, by `number` and `text`: logs hold NaN and infinity where they do not matter.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sigjax.metrics.arrays import LARGEST_WHOLE
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import show, suggest
from sigjax.records import InputError

Object = dict[str, Any]


def _each_name_once(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((repeated, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise InputError(f"field {show(repeated)} occurs twice in an object; expected each name once")
    return found


class _Refused(float):
    """A number that is spelt as one that a double does not hold: refused where it is used."""

    refusal: str


def _double(spelling: str) -> float:
    value = float(spelling)
    if 0 < abs(value) < LARGEST_WHOLE:
        return value
    try:
        return value if math.isinf(value) else parse_number(spelling)
    except InputError as error:
        refused = _Refused(value)
        refused.refusal = str(error)
        return refused


_VALUES = json.JSONDecoder(object_pairs_hook=_each_name_once, parse_float=_double)
_SPELLED = json.JSONDecoder(object_pairs_hook=_each_name_once, parse_float=str, parse_int=str, parse_constant=str)


def parse_json(file: str, content: str, *, line: int | None = None, spelled: bool = False) -> Any:
    """The value of a JSON text: of a whole file, or of one line of it; `spelled` keeps numbers as text.

    Raises:
        InputError: it is not JSON, nests too deeply, or an object holds a name twice.

    Example:
        >>> parse_json("a.json", '{"score": 0.5}')
        {'score': 0.5}
    """
    place = file if line is None else f"{file}, line {line}"
    try:
        return (_SPELLED if spelled else _VALUES).decode(content)
    except json.JSONDecodeError as error:
        where = f"{file}, line {line or error.lineno}, character {error.colno}"
        raise InputError(f"{where}: not readable as JSON: {error.msg}; is the file cut off?") from None
    except RecursionError:
        raise InputError(f"{place}: nested too deeply; repair it") from None
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except ValueError:
        raise InputError(f"{place}: holds a number of thousands of digits; repair it") from None


def parse_json_lines(
    file: str, content: str, *, unread: Collection[str] = (), spelled: bool = False
) -> Iterator[tuple[str, Object]]:
    """(place, object) of each line that is not empty; fields in `unread`, which may be long, are not kept."""
    for line, part in enumerate(content.split("\n"), start=1):
        if part.strip():
            where = f"{file}, line {line}"
            found = as_object(parse_json(file, part, line=line, spelled=spelled), where)
            yield where, {name: value for name, value in found.items() if name not in unread}


def as_object(value: object, where: str) -> Object:
    """Refuse anything but an object."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object, got {_kind(value)}")
    return value


def as_list(value: object, where: str) -> list[Any]:
    """Refuse anything but a list."""
    if not isinstance(value, list):
        raise InputError(f"{where}: expected a list, got {_kind(value)}")
    return value


def member(holder: Mapping[str, Any], name: str, where: str) -> Any:
    """A field that must be there."""
    if name not in holder:
        raise InputError(f"{where}: no field {show(name)}; {suggest(name, holder, 'fields')}")
    return holder[name]


def number(value: object, where: str) -> float:
    """A finite number, true or false, as a double; anything else is refused.

    Example:
        >>> number(True, "a.json"), number(3, "a.json")
        (1.0, 3.0)
    """
    if not isinstance(value, int | float):
        raise InputError(f"{where}: expected a number, got {_kind(value)}")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise InputError(f"{where}: whole numbers beyond 2**53 are not exact; rescale them")
    if isinstance(value, _Refused):
        raise InputError(f"{where}: {value.refusal}")
    if not math.isfinite(value):
        raise InputError(
            f"{where}: expected a finite number, got {value}; repair it, or write null where it is missing"
        )
    return float(value)


def text(value: object, where: str) -> str:
    """A text or whole number that names something, as text."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InputError(f"{where}: expected a text or a whole number, got {_kind(value)}")
    named = str(value)
    check_characters(named, where)
    if not named.strip():
        raise InputError(f"{where}: expected a name, got an empty text")
    return named


def check_characters(content: str, where: str) -> None:
    r"""Refuse halves of characters (a lone \ud800), which no report could print."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: holds half a character (surrogate); repair it") from None


def plain_labels(objects: Sequence[object], used: Sequence[str | None]) -> dict[str, list[str]]:
    """Fields that are a text, a number, true or false in every object: name -> [row]; those in `used` are checked.

    Example:
        >>> plain_labels([{"topic": "a", "n": 1}, {"topic": "b", "n": [2]}], ["topic"])
        {'topic': ['a', 'b']}
    """
    rows = [each if isinstance(each, dict) else {} for each in objects]
    names = rows[0] if rows else {}
    labels = {
        name: [str(row[name]) for row in rows]
        for name in names
        if all(isinstance(row.get(name), str | int | float) for row in rows)
    }
    for name in used:
        for label in labels.get(name or "", ()):
            text(label, f"field {show(name or '')}")
    return labels


def _kind(value: object) -> str:
    """What a value is, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return f"the text {show(value)}"
    return {dict: "an object", list: "a list"}.get(type(value), f"the number {value}"[:40])
