"""Ratings of translations (DA, SQM, ESA) as Appraise exports them: one row per rating in a csv file without header.

As `humeval/tools.py` of WMT24 reads them: checks, tutorials and fillers are left out, of a segment that an annotator
rated again the last rating counts, and annotators are averaged. Reference: Kocmi et al. (2024), "Error span annotation:
a balanced approach for human evaluation of machine translation".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from sigjax.files.opening import naming, read_text
from sigjax.readers.formats import Format, lines_like
from sigjax.readers.logs.driver import Result, Row, choose, log_reader
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import Options
from sigjax.readers.tables.text import csv_records
from sigjax.records import InputError

_SCORE = "score"
_WITHOUT_DOCUMENTS = (9,)
"""Numbers of fields: annotator, system, item, type, two languages, score, start and end."""
_WITH_DOCUMENTS = (11, 12, 13, 14)
"""The same with a document, and whether the row rates all of it, before start; next error spans; two of the batch."""
_MARKS = {"#incomplete": "a filler", "#dup": "a filler", "#bad": "an attention check"}
"""What WMT appends to the names of documents that do not count -> what their ratings are."""
_LONGEST = 18
"""Digits of the number of an item."""


class _Rating(NamedTuple):
    annotator: str
    system: str
    document: str
    """Without what WMT appends to its name; empty where there are no documents."""
    item: str
    pair: str
    score: float
    end: str
    """Seconds, or a date and a time: both sort as text."""
    why_not: str
    """Why the rating does not count; empty where it does."""


def _ratings(file: str) -> Iterator[_Rating]:
    for line, row in csv_records(file, read_text(file), ","):
        fields, place = [field.strip() for field in row], f"{file}, line {line}"
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


def _why_not(kind: str, system: str, document: str) -> str:
    if kind != "TGT":
        return "an attention check"
    if "tutorial" in system:
        return "a tutorial"
    return next((reason for mark, reason in _MARKS.items() if mark in document), "")


def _appraise(file: str, options: Options) -> list[Result]:
    ratings = list(_ratings(file))
    pair = choose(file, [each.pair for each in ratings], options.filter, "language pair")
    ratings = [each for each in ratings if each.pair == pair]
    left_out = Counter(each.why_not for each in ratings if each.why_not)
    kept = [each for each in ratings if not each.why_not]
    notes = [f"left out {number} ratings of {reason}" for reason, number in left_out.items()]
    items = {document: _items(own) for document, own in _grouped(kept, "document").items()}
    if _in_batches(items):
        kept, note = _by_place(kept, items)
        notes.append(note)
    if not kept:
        raise InputError(f"{file}: holds no ratings of translations that count ({'; '.join(notes)})")
    last: dict[tuple[str, str, str, str], _Rating] = {}
    for each in sorted(kept, key=lambda each: each.end):
        last[each.system, each.document, each.item, each.annotator] = each
    if again := len(kept) - len(last):
        notes.append(f"{again} ratings were given again by the same annotator: the last one counts")
    by_system = {system: _grouped(own, "document", "item") for system, own in _grouped(last.values(), "system").items()}
    several = sum(len(own) > 1 for segments in by_system.values() for own in segments.values())
    if several:
        notes.append(f"{several} translations have several annotators: took the mean of their scores")
    return [
        Result(file, [_row(document, item, own) for (document, item), own in segments.items()], system, tuple(notes))
        for system, segments in by_system.items()
    ]


def _grouped(ratings: Iterable[_Rating], name: str, *more: str) -> dict[Any, list[_Rating]]:
    """The ratings of each value of a field, or of several."""
    groups: dict[Any, list[_Rating]] = {}
    key = attrgetter(name, *more)
    for each in ratings:
        groups.setdefault(key(each), []).append(each)
    return groups


_Items = dict[tuple[str, str], list[str]]
"""System and annotator -> the items of a document, in order."""


def _items(ratings: Sequence[_Rating]) -> _Items:
    return {
        key: sorted({each.item for each in own}, key=lambda item: (len(item), item))
        for key, own in _grouped(ratings, "system", "annotator").items()
    }


def _in_batches(items: Mapping[str, _Items]) -> bool:
    """Whether items are numbered in batches: then most documents have other numbers for each system."""
    several = [own for document, own in items.items() if document and len({system for system, _ in own}) > 1]
    return 2 * sum(map(_is_shifted, several)) > len(several)


def _is_shifted(items: _Items) -> bool:
    """Whether each annotator has consecutive items of a document, and systems have different ones."""
    systems: dict[str, set[str]] = {}
    for (system, _), own in items.items():
        if not all(each.isdecimal() and len(each) <= _LONGEST for each in own):
            return False
        if int(own[-1]) - int(own[0]) + 1 != len(own):
            return False
        systems.setdefault(system, set()).update(own)
    return 2 * len(set().union(*systems.values())) >= 3 * max(map(len, systems.values()))


def _by_place(ratings: Sequence[_Rating], items: Mapping[str, _Items]) -> tuple[list[_Rating], str]:
    """The ratings with the place in the document as item, and a note; documents of which parts were rated have none."""
    whole = {document for document, own in items.items() if len(set(map(len, own.values()))) == 1}
    placed = [
        each._replace(item=str(items[each.document][each.system, each.annotator].index(each.item) + 1))
        for each in ratings
        if each.document in whole
    ]
    said = "item numbers are those of batches, so segments are joined by their place in the document"
    parts = len(items) - len(whole)
    return placed, said + f"; left out {parts} documents that some annotator rated in part" * bool(parts)


def _row(document: str, item: str, ratings: Sequence[_Rating]) -> Row:
    labels = {"annotator": "+".join(sorted(each.annotator for each in ratings))}
    if document:
        labels["document"] = document
    score = sum(each.score for each in ratings) / len(ratings)
    return Row({_SCORE: score}, f"{document}: {item}" if document else item, labels=labels)


APPRAISE = Format(
    "appraise",
    "ratings of translations exported by Appraise (DA, ESA)",
    "file",
    log_reader(_appraise),
    lines_like(rb"[^,]+,[^,]+,[^,]+,(TGT|CHK|BAD|REF),[^,]*,[^,]*,-?\d{1,9}(\.\d+)?,.*"),
    (_SCORE, "mean"),
    frozenset({"filter"}),
)
