"""The formats of tables: all systems in one file, wide or long."""

from collections.abc import Collection
from functools import partial

from sigjax.files.opening import ZIP_MAGIC, decode_text, naming, read_bytes
from sigjax.readers.formats import NO_ENDING, Format, Reading, Sources, looks_like
from sigjax.readers.json_files import Item, check_characters, parse_json_lines
from sigjax.readers.options import Options
from sigjax.readers.table import Table, check_filled
from sigjax.readers.tables.delimited import DELIMITERS, parse_delimited
from sigjax.readers.tables.long import read_long, system_column
from sigjax.readers.tables.npz import load_npz, read_npz
from sigjax.readers.tables.saved import is_saved, saved_metrics
from sigjax.readers.tables.wide import read_wide
from sigjax.records import InputError

_RUNS = frozenset({"runs"})
_WORDS = {True: "true", False: "false", None: ""}


def read_table(table: Table, options: Options) -> Reading:
    """The reading of a table: long if it has a column named `system`, else wide."""
    system = system_column(table)
    return read_wide(table, options) if system is None else read_long(table, options, system=system)


def _delimited(kind: str) -> Format:
    def read(sources: Sources, options: Options) -> Reading:
        (file,) = sources.files
        return read_table(parse_delimited(file, decode_text(file, read_bytes(file)), kind=kind), options)

    def looks(name: str, head: bytes) -> bool:
        if name.endswith(f".{kind}"):
            return True
        first_line = head.lstrip(b"\n").partition(b"\n")[0].lstrip()
        others = [delimiter for other, delimiter in DELIMITERS.items() if other == "tsv" and kind != "tsv"]
        return (
            DELIMITERS[kind].encode() in first_line
            and not any(other.encode() in first_line for other in others)
            and not first_line.startswith((b"[", b"{", b"PK"))
        )

    between, other = ("tabs", "csv") if kind == "tsv" else ("commas", "tsv")
    return Format(
        kind, f"table, {between} between columns", "file", read, looks, options=_RUNS, names=rf"(?!.*\.{other}$).*"
    )


def _read_jsonl(sources: Sources, options: Options) -> Reading:
    (file,) = sources.files
    return read_table(parse_jsonl(file, decode_text(file, read_bytes(file)), ignore=options.ignore), options)


def parse_jsonl(file: str, text: str, *, ignore: Collection[str]) -> Table:
    r"""JSON lines as a table: one flat object per line, one field per column; a field that a line lacks is empty.

    Fields named in `ignore` may hold anything.

    Example:
        >>> parse_jsonl("t.jsonl", '{"id": "x", "A": 1}\n{"A": 0.5, "id": "y"}\n', ignore=()).columns["A"]
        ['1', '0.5']
    """
    rows = [
        {name: "" if name in ignore else _cell(line, name, value) for name, value in line.fields.items()}
        for line in parse_json_lines(file, text, spelled=True)
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise InputError(f"{file}: the objects have no fields; expected one field per system")
    filled = sum(map(len, rows))
    check_filled(file, filled=filled, rows=len(rows), columns=len(names), what="lines by different fields")
    lines = [line for line, content in enumerate(text.split("\n"), start=1) if content.strip()]
    return Table(file, {name: [row.get(name, "") for row in rows] for name in names}, lines)


def _cell(line: Item, name: str, value: object) -> str:
    """A value of JSON as text; numbers keep their spelling."""
    if isinstance(value, list | dict):
        raise InputError(
            f"{line.place(name)}: expected a text, a number, true, false or null, got "
            f"{'a list' if isinstance(value, list) else 'an object'}; leave it out with --ignore NAME"
        )
    cell = value if isinstance(value, str) else _WORDS[value]  # type: ignore[index]
    if not (name.isascii() and cell.isascii()):
        with naming(line.place(name)):
            check_characters(name + cell)
    return cell


def _read_npz(sources: Sources, options: Options) -> Reading:
    del options
    (file,) = sources.files
    return partial(read_npz, file, load_npz(file, read_bytes(file)))


def saved_names(file: str) -> tuple[str, ...]:
    """Names of the metrics of a file of saved statistics; none for other archives."""
    arrays = load_npz(file, read_bytes(file))
    return saved_metrics(file, arrays) if is_saved(arrays) else ()


TSV, CSV = _delimited("tsv"), _delimited("csv")
JSONL = Format(
    "jsonl",
    "table, one JSON object per line",
    "file",
    _read_jsonl,
    looks_like(rb"^\s*\{", ending=".jsonl"),
    options=_RUNS,
    names=rf"{NO_ENDING}|.*\.jsonl",
)
NPZ = Format(
    "npz",
    "NumPy arrays, or what `sigjax extract` saves",
    "file",
    _read_npz,
    looks_like(b"^" + ZIP_MAGIC, ending=".npz"),
    names=rf"{NO_ENDING}|.*\.npz",
)
