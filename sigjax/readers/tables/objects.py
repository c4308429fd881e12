"""Tables as JSON: one object per line (jsonl), or a list of objects (json)."""

from collections.abc import Collection, Iterable, Sequence

from sigjax.files.opening import naming, read_text
from sigjax.readers.formats import NO_ENDING, looks_like
from sigjax.readers.json_files import Item, load_entries, parse_json_lines
from sigjax.readers.options import Options
from sigjax.readers.table import Nested, Table, check_characters, check_filled
from sigjax.readers.tables.layouts import table_format
from sigjax.records import InputError

_WORDS = {True: "true", False: "false", None: ""}


def parse_jsonl(file: str, text: str, *, ignore: Collection[str]) -> Table:
    r"""JSON lines as a table: one object per line, one field per column; a field that a line lacks is empty.

    Fields that hold lists or objects are no numbers and no names. Those named in `ignore` may hold anything.

    Example:
        >>> parse_jsonl("t.jsonl", '{"id": "x", "A": 1}\n{"A": 0.5, "id": "y"}\n', ignore=()).columns["A"]
        ['1', '0.5']
    """
    lines = [line for line, content in enumerate(text.split("\n"), start=1) if content.strip()]
    return _table(file, parse_json_lines(file, text, spelled=True), lines, "line", ignore)


def _table(
    file: str, objects: Iterable[Item], lines: Sequence[int] | None, word: str, ignore: Collection[str]
) -> Table:
    nested: dict[str, Item] = {}
    rows = [
        {name: "" if name in ignore else _cell(item, name, value, nested) for name, value in item.fields.items()}
        for item in objects
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise InputError(f"{file}: the objects have no fields; expected one field per system")
    filled = sum(map(len, rows))
    check_filled(file, filled=filled, rows=len(rows), columns=len(names), what=f"{word}s by different fields")
    columns = {name: [row.get(name, "") for row in rows] for name in names}
    for name, item in nested.items():
        if not {*columns[name]} <= {"", "(list)", "(object)"}:
            raise InputError(
                f"{item.place(name)}: expected a text, a number, true, false or null, as other objects have, got a "
                "list or an object; leave it out with --ignore NAME"
            )
        columns[name] = Nested(columns[name])
    return Table(file, columns, range(1, len(rows) + 1) if lines is None else lines, word)


def _cell(item: Item, name: str, value: object, nested: dict[str, Item]) -> str:
    """A value of JSON as text; numbers keep their spelling."""
    if isinstance(value, list | dict):
        nested.setdefault(name, item)
        return "(list)" if isinstance(value, list) else "(object)"
    cell = value if isinstance(value, str) else _WORDS[value]  # type: ignore[index]
    if not (name.isascii() and cell.isascii()):
        with naming(item.place(name)):
            check_characters(name + cell)
    return cell


def _parse_lines(file: str, options: Options, *, alone: bool) -> Table:
    return parse_jsonl(file, read_text(file), ignore=options.ignore)


def _parse_list(file: str, options: Options, *, alone: bool) -> Table:
    return _table(file, load_entries(file, spelled=True), None, "row", options.ignore)


JSONL = table_format(
    "jsonl",
    "table, one JSON object per line",
    _parse_lines,
    looks_like(rb"^\s*\{", ending=".jsonl"),
    rf"{NO_ENDING}|.*\.jsonl",
)
JSON = table_format(
    "json", "table, a JSON list of objects", _parse_list, looks_like(rb"^\s*\[\s*\{"), rf"{NO_ENDING}|.*\.json"
)
