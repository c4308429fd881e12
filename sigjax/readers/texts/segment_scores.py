"""Scores of segments, all systems in one file: comet-score --to_json, and .seg.score files of mt-metrics-eval.

Segments are known by their position, so every system needs a score for each.
"""

from collections.abc import Mapping

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources, looks_like
from sigjax.readers.json_files import Item, load_item
from sigjax.readers.logs.driver import Result, Row, log_reader
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.sources import name_systems
from sigjax.readers.table import Table, number_column
from sigjax.records import InputError

_COMET = "COMET"
_MISSING = "None"


def _comet(file: str, options: Options) -> list[Result]:
    """comet-score: an object of file of each system -> segments with src, mt, ref and the score."""
    del options
    found = load_item(file)
    if not found.fields:
        raise InputError(f'{file}: expected an object such as {{"system.txt": [{{"{_COMET}": 0.8}}]}}')
    names, _ = name_systems(list(found.fields))
    systems = {
        name: [_segment(segment) for segment in found.items(field, f"system {show(name)}, segment")]
        for name, field in zip(names, found.fields, strict=True)
    }
    _check_lengths(file, {name: len(rows) for name, rows in systems.items()})
    return [Result(file, rows, name) for name, rows in systems.items()]


def _segment(segment: Item) -> Row:
    fields = segment.fields
    if isinstance(fields.get(_COMET), bool):
        raise InputError(f"{segment.place(_COMET)}: expected a number, got true or false")
    return Row({_COMET: segment.number(_COMET)}, content=(fields.get("src"), fields.get("ref")))


def _read_segment_scores(sources: Sources, options: Options) -> Reading:
    """mt-metrics-eval: lines `SYSTEM SCORE`, those of each system in the order of the segments."""
    (file,) = sources.files
    lines: dict[str, list[int]] = {}
    cells: dict[str, list[str]] = {}
    for line, content in enumerate(decode_text(file, read_bytes(file)).rstrip().split("\n"), start=1):
        fields = content.split()
        if len(fields) != 2:
            raise InputError(f"{file}, line {line}: expected SYSTEM SCORE, got {show(content)}")
        system, score = fields
        lines.setdefault(system, []).append(line)
        cells.setdefault(system, []).append("" if score == _MISSING else score)
    hint = f"write {_MISSING} where it is missing"
    sheets = [
        Sheet(system, file, {"score": number_column(Table(file, {"SCORE": own}, lines[system]), "SCORE", hint=hint)})
        for system, own in cells.items()
    ]
    _check_lengths(file, {sheet.system: sheet.num_rows for sheet in sheets}, hint=f", {_MISSING} where there is none")
    return join_sheets(sheets, options, scores=True)


def _check_lengths(file: str, lengths: Mapping[str, int], hint: str = "") -> None:
    (first, expected), *others = lengths.items()
    for system, length in others:
        if length != expected:
            raise InputError(
                f"{file}: system {show(system)} has {length} scores, {show(first)} has {expected}; expected one for "
                f"each segment{hint}"
            )


COMET = Format(
    "comet",
    "JSON of comet-score --to_json",
    "file",
    log_reader(_comet, content="source or reference"),
    looks_like(f'"{_COMET}"'.encode()),
    names=r".*\.json",
)
MT_METRICS_EVAL = Format(
    "mt-metrics-eval",
    "segment scores of mt-metrics-eval (.seg.score)",
    "file",
    _read_segment_scores,
    looks_like(ending=".seg.score"),
)
