"""Segment scores of mt-metrics-eval: lines `SYSTEM SCORE`, those of each system in the order of the segments."""

from collections.abc import Sequence

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.table import Table, number_column
from sigjax.records import InputError

_MISSING = "None"


def read_segment_scores(sources: Sources, options: Options) -> Reading:
    """The evaluation of a `.seg.score` file by the mean; a score `None` is missing."""
    (file,) = sources.files
    rows = _rows(file, decode_text(file, read_bytes(file)))
    sheets = [_sheet(file, system, lines, cells) for system, (lines, cells) in rows.items()]
    for sheet in sheets[1:]:
        if sheet.num_rows != sheets[0].num_rows:
            raise InputError(
                f"{file}: system {show(sheet.system)} has {sheet.num_rows} scores, {show(sheets[0].system)} has "
                f"{sheets[0].num_rows}; expected one for each segment, {_MISSING} where there is none"
            )
    return join_sheets(sheets, options, scores=True)


def _rows(file: str, text: str) -> dict[str, tuple[list[int], list[str]]]:
    """Lines and cells of the scores of each system, in order."""
    rows: dict[str, tuple[list[int], list[str]]] = {}
    for line, content in enumerate(text.rstrip().split("\n"), start=1):
        fields = content.split()
        if len(fields) != 2:
            raise InputError(f"{file}, line {line}: expected SYSTEM SCORE, got {show(content)}")
        system, score = fields
        lines, cells = rows.setdefault(system, ([], []))
        lines.append(line)
        cells.append("" if score == _MISSING else score)
    return rows


def _sheet(file: str, system: str, lines: Sequence[int], cells: Sequence[str]) -> Sheet:
    table = Table(file, {"SCORE": cells}, lines)
    return Sheet(system, file, {"score": number_column(table, "SCORE", hint=f"write {_MISSING} where it is missing")})


def _looks(name: str, head: bytes) -> bool:
    return name.endswith(".seg.score")


MT_METRICS_EVAL = Format(
    "mt-metrics-eval", "segment scores of mt-metrics-eval (.seg.score)", "file", read_segment_scores, _looks
)
