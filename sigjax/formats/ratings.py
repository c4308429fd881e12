"""Human ratings of translations: errors that raters mark (MQM), and scores (DA, SQM, ESA) exported by Appraise.

MQM is a tsv file with one row per error. It is scored as by `score_mqm.py` of mt-metrics-eval, but without the minus
sign: the errors of a rater are added up with Google's weights, and raters are averaged. Reference: Freitag et al.
(2021), "Experts, errors, and context: a large-scale study of human evaluation for machine translation".

Appraise writes a csv file without a header, with one row per rating. It is read as by `humeval/tools.py` of WMT24:
attention checks, tutorials and fillers are left out. If an annotator rated a segment again, the last rating counts.
Annotators are averaged. Reference: Kocmi et al. (2024), "Error span annotation: a balanced approach for human
evaluation of machine translation".
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from sigjax.formats.logs import InstanceLog, Log, SystemLog, choose, grouped
from sigjax.readers.options import Options, listing, quote
from sigjax.readers.plain import csv_records, parse_delimited
from sigjax.readers.table import parse_number
from sigjax.records import InputError, Line
from sigjax.run.files import naming, read_text

_SCORE = "mqm"
_NEEDED = ("system", "rater", "category", "severity")
_SEGMENTS = ("doc_id", "docsegid", "doc_seg_id", "seg_id", "globalsegid", "segment_id")
"""Possible names of the column with the number of a segment (in its document, if the file has documents)."""
_TENTHS = {"major": 50, "minor": 10, "neutral": 0, "no-error": 0, "no error": 0}
"""Dict from the severity of an error to ten times its weight, which is an integer."""
_CATEGORY_TENTHS = {("major", "non-translation"): 250, ("minor", "fluency/punctuation"): 1}
"""Dict from (severity, category) to ten times the weight, for categories whose weight differs from `_TENTHS`. The
weight also holds for their subcategories."""
_ATTENTION = "hotw"
"""First letters of the severity of errors that were planted to check the attention of raters."""


def _mqm(file: str, _: Options) -> Iterator[SystemLog]:
    table = parse_delimited(file, read_text(file), dialect="tsv")
    columns = {name.lower(): list(map(str.strip, column)) for name, column in table.columns.items()}
    lacking = [name for name in _NEEDED if name not in columns]
    segment = next((name for name in _SEGMENTS if name in columns), None)
    if lacking or segment is None:
        raise InputError(f"{file}, line 1: no column {quote((lacking or ['seg_id'])[0])}; columns: {listing(columns)}")
    tenths: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
    used = [columns[name] for name in ("doc", segment, "system", "rater", "category", "severity") if name in columns]
    for line, *key, category, severity in zip(table.lines, *used, strict=True):
        if not all(key):
            raise InputError(f"{Line(file, line)}: expected a system, a segment and a rater, got an empty field")
        document, number, system, rater = ("", *key)[-4:]
        raters = tenths.setdefault(system, {}).setdefault((document, number), {})
        raters[rater] = raters.get(rater, 0) + _weight(f"{Line(file, line)}", category, severity)
    for system, segments in tenths.items():
        # The mean over raters.
        scores = {key: sum(raters.values()) / (10 * len(raters)) for key, raters in segments.items()}
        rows = [_segment(*key, {_SCORE: score}) for key, score in scores.items()]
        yield SystemLog(file, rows, system, published=lambda score, _: ([], score == _SCORE))  # lower is better


def _weight(where: str, category: str, severity: str) -> int:
    """Return ten times the weight of an error; the product is a whole number."""
    kind, about = severity.lower(), f"{category.lower().replace('!', '')}/"
    if kind.startswith(_ATTENTION):
        return 0
    if kind not in _TENTHS:
        raise InputError(
            f"{where}: no weight for the severity {quote(severity)}; the weights are for major, minor, neutral and "
            "no-error (give other scores as a table)"
        )
    found = (tenths for (own, part), tenths in _CATEGORY_TENTHS.items() if own == kind and about.startswith(f"{part}/"))
    return next(found, _TENTHS[kind])


def _segment(document: str, number: str, scores: dict[str, float], **labels: str) -> InstanceLog:
    """Make the log of a segment. Its id is its number, after the name of the document if there is one."""
    labels |= {"document": document} if document else {}
    return InstanceLog(scores, f"{document}: {number}" if document else number, labels=labels)


MQM = Log(results=_mqm)


_APPRAISE_SCORE = "score"
_WITHOUT_DOCUMENTS = (9,)
"""Possible number of fields in a row if there are no documents: annotator, system, item, type, two languages, score,
start, end."""
_WITH_DOCUMENTS = (11, 12, 13, 14)
"""Possible numbers of fields in a row if there are documents. The name of the document, and a flag (whether the whole
document is rated), come before the field "start". Error spans and two fields on the batch may come at the end."""
_MARKS = {"#incomplete": "a filler", "#dup": "a filler", "#bad": "an attention check"}
"""Dict from a mark in the name of a document to the reason why its ratings do not count."""
_LONGEST = 18
"""Largest number of digits of an item number."""


@dataclass(frozen=True, slots=True)
class _Rating:
    annotator: str
    system: str
    document: str
    """The name of the document without the mark that WMT adds; empty if there are no documents."""
    item: str
    pair: str
    score: float
    end: str
    """The end time as text: seconds, or date and time. In both forms, the texts sort in the order of time."""
    why_not: str
    """The reason why the rating does not count; empty if it counts."""


def _ratings(file: str) -> Iterator[_Rating]:
    for line, row in csv_records(file, read_text(file), ","):
        fields, place = [field.strip() for field in row], f"{Line(file, line)}"
        documents = len(fields) in _WITH_DOCUMENTS and fields[8] in ("True", "False")
        if not documents and len(fields) not in (*_WITHOUT_DOCUMENTS, 11):
            raise InputError(f"{place}: expected 9 fields, or 11 to 14 with documents, got {len(fields)}")
        annotator, system, item, kind, source, target, score = fields[:7]
        document, end = (fields[7], fields[10 + (len(fields) % 2 == 0)]) if documents else ("", fields[8])
        if not (annotator and system and item and (document or not documents)):
            raise InputError(f"{place}: expected an annotator, a system, an item and its document, got an empty field")
        with naming(place):
            value = parse_number(score, hint="expected a score", missing="leave the row out")
        why_not = "a whole document" if documents and fields[8] == "True" else _why_not(kind, system, document)
        name = document.partition("#")[0]
        yield _Rating(annotator, system, name, item, f"{source}-{target}", value, end, why_not)


def _why_not(item_type: str, system: str, document: str) -> str:
    if item_type != "TGT":
        return "an attention check"
    if "tutorial" in system:
        return "a tutorial"
    return next((reason for mark, reason in _MARKS.items() if mark in document), "")


def _appraise(file: str, options: Options) -> list[SystemLog]:
    ratings = list(_ratings(file))
    pair = choose(file, [each.pair for each in ratings], options.filter, "language pair")
    ratings = [each for each in ratings if each.pair == pair]
    left_out = Counter(each.why_not for each in ratings if each.why_not)
    kept = [each for each in ratings if not each.why_not]
    notes = [f"left out {number} ratings of {reason}" for reason, number in left_out.items()]
    items = {document: _items(own) for document, own in grouped(kept, attrgetter("document")).items()}
    if _in_batches(items):
        kept, note = _by_position(kept, items)
        notes.append(note)
    if not kept:
        raise InputError(f"{file}: holds no ratings of translations that count ({'; '.join(notes)})")
    last: dict[tuple[str, str, str, str], _Rating] = {}
    for each in sorted(kept, key=lambda each: each.end):
        last[each.system, each.document, each.item, each.annotator] = each
    if again := len(kept) - len(last):
        notes.append(f"{again} ratings were given again by the same annotator: the last one counts")
    translations = grouped(last.values(), attrgetter("system", "document", "item"))
    if several := sum(len(own) > 1 for own in translations.values()):
        notes.append(f"{several} translations have several annotators: took the mean of their scores")
    rows: dict[str, list[InstanceLog]] = {}
    for (system, document, item), own in translations.items():
        score = {_APPRAISE_SCORE: sum(each.score for each in own) / len(own)}
        annotators = "+".join(sorted(each.annotator for each in own))
        rows.setdefault(system, []).append(_segment(document, item, score, annotator=annotators))
    return [SystemLog(file, own, system, tuple(notes)) for system, own in rows.items()]


_Items = dict[tuple[str, str], list[str]]
"""Dict from (system, annotator) to the items of one document, in order."""


def _items(ratings: Sequence[_Rating]) -> _Items:
    return {
        key: sorted({each.item for each in own}, key=lambda item: (len(item), item))
        for key, own in grouped(ratings, attrgetter("system", "annotator")).items()
    }


def _in_batches(items: Mapping[str, _Items]) -> bool:
    """Whether translations (items) are numbered within batches of the annotators, and not within documents.

    If so, more than half of the documents with several systems have different item numbers for different systems.
    """
    several = [own for document, own in items.items() if document and len({system for system, _ in own}) > 1]
    return 2 * sum(map(_is_shifted, several)) > len(several)


def _is_shifted(items: _Items) -> bool:
    """Whether the item numbers of a document seem to come from batches.

    Two conditions must hold. The numbers of each annotator are consecutive. All systems together have at least 1.5
    times as many different numbers as any single system.
    """
    systems: dict[str, set[str]] = {}
    for (system, _), own in items.items():
        if not all(each.isdecimal() and len(each) <= _LONGEST for each in own):
            return False
        if int(own[-1]) - int(own[0]) + 1 != len(own):
            return False
        systems.setdefault(system, set()).update(own)
    return 2 * len(set().union(*systems.values())) >= 3 * max(map(len, systems.values()))


def _by_position(ratings: Sequence[_Rating], items: Mapping[str, _Items]) -> tuple[list[_Rating], str]:
    """Replace item numbers by positions in the document, because they were counted within batches; also return a note.

    Documents that some annotator rated in part are left out, and the note mentions them. `items` maps each document to
    the items that each annotator rated for each system.
    """
    whole = {document for document, own in items.items() if len(set(map(len, own.values()))) == 1}
    placed = [
        replace(each, item=str(items[each.document][each.system, each.annotator].index(each.item) + 1))
        for each in ratings
        if each.document in whole
    ]
    said = "item numbers are those of batches, so segments are joined by their place in the document"
    parts = len(items) - len(whole)
    return placed, said + f"; left out {parts} documents that some annotator rated in part" * bool(parts)


APPRAISE = Log(results=_appraise)
