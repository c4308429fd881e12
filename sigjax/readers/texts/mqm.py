"""Errors of translations as raters mark them (MQM): one row per error in a tsv file -> the score of each segment.

As `score_mqm.py` of mt-metrics-eval, without its minus: a rater's errors are added up by the weights of Google, and
raters averaged. Reference: Freitag et al. (2021), "Experts, errors, and context: a large-scale study of human
evaluation for machine translation".
"""

from collections.abc import Iterator

from sigjax.files.opening import read_text
from sigjax.readers.formats import Format
from sigjax.readers.logs.driver import Result, Row, log_reader
from sigjax.readers.options import Options, listing, show
from sigjax.records import InputError

_SCORE = "mqm"
_NEEDED = ("system", "rater", "category", "severity")
_SEGMENTS = ("doc_id", "docsegid", "doc_seg_id", "seg_id", "globalsegid", "segment_id")
"""Names of the number of a segment, in its document where the file has documents."""
_TENTHS = {"major": 50, "minor": 10, "neutral": 0, "no-error": 0, "no error": 0}
"""Ten times the weight of an error of each severity."""
_PARTICULAR = {("major", "non-translation"): 250, ("minor", "fluency/punctuation"): 1}
"""Those of some categories and what is below them."""
_ATTENTION = "hotw"
"""Severities that begin so say how raters did on errors that were planted."""


def _mqm(file: str, _: Options) -> Iterator[Result]:
    header, *rows = read_text(file).rstrip("\n").split("\n")
    names = _names(header)
    lacking = [name for name in _NEEDED if name not in names]
    segment = next((name for name in _SEGMENTS if name in names), None)
    if lacking or segment is None:
        raise InputError(f"{file}, line 1: no column {show((lacking or ['seg_id'])[0])}; columns: {listing(names)}")
    columns = [names.index(name) for name in ("system", segment, "rater", "category", "severity")]
    document = names.index("doc") if "doc" in names else None
    tenths: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
    for line, row in enumerate(rows, start=2):
        cells = row.split("\t")
        if len(cells) != len(names):
            if not row.strip():
                continue
            raise InputError(f"{file}, line {line}: expected {len(names)} fields as in the header, got {len(cells)}")
        system, number, rater, category, severity = (cells[j].strip() for j in columns)
        within = "" if document is None else cells[document].strip()
        if not (system and number and rater) or (document is not None and not within):
            raise InputError(f"{file}, line {line}: expected a system, a segment and a rater, got an empty field")
        raters = tenths.setdefault(system, {}).setdefault((within, number), {})
        raters[rater] = raters.get(rater, 0) + _weight(f"{file}, line {line}", category, severity)
    if not tenths:
        raise InputError(f"{file}: has a header but no rows; expected one per error")
    for system, segments in tenths.items():
        rows = [_row(*key, raters) for key, raters in segments.items()]
        yield Result(file, rows, system, published=lambda score, _: ([], score == _SCORE))  # lower is better


def _names(header: str) -> list[str]:
    return [name.strip().lower() for name in header.split("\t")]


def _weight(place: str, category: str, severity: str) -> int:
    """Ten times the weight of an error."""
    kind, about = severity.lower(), f"{category.lower().replace('!', '')}/"
    if kind.startswith(_ATTENTION):
        return 0
    if kind not in _TENTHS:
        raise InputError(
            f"{place}: no weight for the severity {show(severity)}; the weights are for major, minor, neutral and "
            "no-error (give other scores as a table)"
        )
    found = (tenths for (own, part), tenths in _PARTICULAR.items() if own == kind and about.startswith(f"{part}/"))
    return next(found, _TENTHS[kind])


def _row(document: str, number: str, raters: dict[str, int]) -> Row:
    """The score of a segment, the mean over its raters."""
    labels = {"document": document} if document else None
    id = f"{document}: {number}" if document else number
    return Row({_SCORE: sum(raters.values()) / (10 * len(raters))}, id, labels=labels)


def _looks(_: str, head: bytes) -> bool:
    return {*_NEEDED} <= {*_names(head.partition(b"\n")[0].decode("utf-8", "replace"))}


MQM = Format(
    "mqm",
    "errors marked by raters of translations (MQM)",
    "file",
    log_reader(_mqm),
    _looks,
    (_SCORE, "mean"),
)
