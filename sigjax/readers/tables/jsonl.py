"""JSON lines: one flat object a line, a field a column; a field that a line lacks is an empty cell."""

import json
from collections.abc import Collection

from sigjax.readers.options import show
from sigjax.readers.table import Table, check_filled
from sigjax.records import InputError

WORDS = {True: "true", False: "false", None: ""}


def parse_jsonl(file: str, text: str, *, ignore: Collection[str]) -> Table:
    r"""A JSON lines file as a table; fields named in `ignore` may hold anything.

    Example:
        >>> parse_jsonl("t.jsonl", '{"id": "x", "A": 1}\n{"A": 0.5, "id": "y"}\n', ignore=()).columns["A"]
        ['1', '0.5']
    """
    lines, rows = [], []
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            lines.append(line)
            rows.append(_parse_line(f"{file}, line {line}", content, ignore=ignore))
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise InputError(f"{file}: the objects have no fields; expected one field a system")
    filled = sum(map(len, rows))
    check_filled(file, filled=filled, rows=len(rows), columns=len(names), what="lines by different fields")
    return Table(file, {name: [row.get(name, "") for row in rows] for name in names}, lines)


def _parse_line(where: str, content: str, *, ignore: Collection[str]) -> dict[str, str]:
    """One object as name -> cell; numbers keep their spelling."""
    try:
        # The hook gives objects as tuples, so that they differ from lists and repeated keys are seen.
        pairs = json.loads(content, object_pairs_hook=tuple, parse_float=str, parse_int=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}: not readable as JSON: {error.msg} (character {error.pos + 1}); expected one object a line"
        ) from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply; expected one flat object a line") from None
    if not isinstance(pairs, tuple):
        raise InputError(f'{where}: expected an object such as {{"id": "x", "A": 1}}, got {show(content.strip())}')
    row: dict[str, str] = {}
    for name, value in pairs:
        if name in row:
            raise InputError(f"{where}: field {show(name)} occurs twice; expected each name once")
        row[name] = "" if name in ignore else _cell(where, name, value)
    if "\\u" in content:
        _check_encodable(where, row)
    return row


def _cell(where: str, name: str, value: object) -> str:
    if isinstance(value, list | tuple):
        kind = "a list" if isinstance(value, list) else "an object"
        raise InputError(
            f"{where}, field {show(name)}: expected a text, a number, true, false or null, got {kind}; "
            "leave it out with --ignore NAME"
        )
    return value if isinstance(value, str) else WORDS[value]  # type: ignore[index]


def _check_encodable(where: str, row: dict[str, str]) -> None:
    r"""Refuse halves of characters (a lone \ud800), which no report could print."""
    for name, cell in row.items():
        try:
            f"{name}{cell}".encode()
        except UnicodeEncodeError:
            raise InputError(f"{where}, field {show(name)}: holds half a character (surrogate); repair it") from None
