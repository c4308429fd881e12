"""Grammatical error correction: edits in the M2 format, compared as by `errant_compare` (correction of spans).

An edit is right if the gold standard has an edit with the same span and correction. If there are several annotators,
ERRANT chooses the best annotator for each sentence, given the sentences before. This choice is not a function of sums
over sentences. So you must choose one annotator, unless all agree. Or give the output of errant_compare -v, which
contains its choices. Reference: Bryant, Felice and Briscoe (2017), "Automatic annotation and evaluation of error types
for grammatical error correction".
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigjax.formats.conll import Parts, check_same
from sigjax.formats.logs import InstanceLog, Log, SystemLog, choose
from sigjax.readers.join import Reading, Sheet, Sources, join_sheets
from sigjax.readers.options import Options, listing, quote
from sigjax.records import Hint, InputError, Line
from sigjax.run.files import read_text

Edits = Counter[tuple[int, int, str]]
"""How often each edit of a sentence occurs: (start, end, correction) -> number."""
_NUMBER = re.compile(r"-?\d{1,9}")
_LEFT_OUT = ("noop", "UNK")
"""Types of edits that do not count: "noop" (no error) and "UNK" (an error without a known correction)."""
_HINT = "errant_parallel writes M2 from texts"


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    line: int
    edits: dict[str, Edits]
    """Dict from an annotator to this annotator's edits of the sentence."""


def _read_sentences(file: str) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    for line, row in enumerate(read_text(file).split("\n"), start=1):
        if row == "S" or row.startswith("S "):
            sentences.append(_Sentence(row[2:].strip(), line, {}))
        elif row.strip():
            if not sentences:
                raise InputError(f"{Line(file, line)}: expected 'S WORDS', got {quote(row)}; {_HINT}")
            start, end, kind, correction, annotator = _fields(f"{Line(file, line)}", row)
            own = sentences[-1].edits.setdefault(annotator, Counter())
            if kind not in _LEFT_OUT:
                own[start, end, correction] += 1
    return sentences


def _fields(where: str, row: str) -> tuple[int, int, str, str, str]:
    """Parse the line of an edit. Return its start, end, type, correction and annotator."""
    span, *others = row.removeprefix("A ").split("|||")
    numbers = [*span.split(), others[-1].strip() if others else ""]
    if not row.startswith("A ") or len(others) < 3 or len(numbers) != 3 or not all(map(_NUMBER.fullmatch, numbers)):
        expected = "an edit, 'A 1 2|||TYPE|||correction|||REQUIRED|||-NONE-|||0'"
        raise InputError(f"{where}: expected {expected}, got {quote(row)}; {_HINT}")
    start, end, annotator = map(int, numbers)
    return start, end, others[0], others[1], str(annotator)


def _edits(file: str, sentences: Sequence[_Sentence], chosen: str | None) -> list[Edits]:
    """Return the edits `[sentence]` of the chosen annotator, or of all annotators if they agree."""
    if chosen is not None:
        choose(file, (annotator for each in sentences for annotator in each.edits), chosen, "annotator")
    return [_chosen_edits(file, each, chosen) for each in sentences]


def _chosen_edits(file: str, sentence: _Sentence, chosen: str | None) -> Edits:
    known = sentence.edits
    if chosen is not None and known:
        if chosen not in known:
            raise InputError(
                f"{Line(file, sentence.line)}: annotator {chosen} has no edit of this sentence, not even noop; "
                "leave the sentence out, or choose another annotator"
            )
        return known[chosen]
    first, *others = known.values() or [Counter()]
    if any(other != first for other in others):
        raise InputError(
            f"{Line(file, sentence.line)}: the annotators {listing(sorted(known))} differ, and ERRANT's choice for a "
            "sentence depends on the others; give what errant_compare prints with -v for each system "
            f"({Hint('reader', 'errant')}), or say which to take, such as {Hint('filter', min(known))}"
        )
    return first


def _count(gold: Sequence[Edits], system: Sequence[Edits]) -> dict[str, np.ndarray]:
    """Count right, predicted and gold edits, `[sentence]` each.

    As in ERRANT, a right edit counts as often as it occurs in the gold standard.
    """
    right = [sum(number for edit, number in g.items() if edit in o) for g, o in zip(gold, system, strict=True)]
    wrong = [sum(number for edit, number in o.items() if edit not in g) for g, o in zip(gold, system, strict=True)]
    tp = np.array(right, float)
    return {"tp": tp, "predicted": tp + np.array(wrong), "gold": np.array([each.total() for each in gold], float)}


def read_edits(sources: Sources, options: Options) -> Reading:
    """Read the edits of all files, and count right, predicted and gold edits in each sentence."""
    file = sources.gold()
    sentences = _read_sentences(file)
    gold = _edits(file, sentences, options.filter)
    sheets = []
    for name, path in sources.chosen(options).items():
        own = _read_sentences(path)
        check_same("sentence", _parts(path, own), _parts(file, sentences))
        sheets.append(Sheet(name, path, _count(gold, _edits(path, own, None)), lines=[each.line for each in own]))
    return join_sheets(sheets, options)


def _parts(file: str, sentences: Sequence[_Sentence]) -> Parts:
    return file, [each.line for each in sentences], [each.text for each in sentences]


# The output of `errant_compare -v` has the counts for each sentence and annotator, and says which annotator was chosen.

_PAIR = re.compile(r"SENTENCE \d+ - HYP (\d{1,9}) - REF (\d{1,9})")
_LOCAL = re.compile(r"Local TP/FP/FN *: (\d{1,9}) (\d{1,9}) (\d{1,9})")
_CHOSEN = re.compile(r"\^\^ HYP (\d{1,9}), REF (\d{1,9}) chosen for sentence (\d{1,9})")
_ORIGINAL = "Original sentence "
_TOTALS = re.compile(r"(\d{1,9})\t(\d{1,9})\t(\d{1,9})(\t[\d.]+){3}")


def _errant(file: str, _: Options) -> list[SystemLog]:
    rows, sums, totals, several = list[InstanceLog](), [0, 0, 0], list[int](), False
    counts, pair, text = dict[Any, list[int]](), None, None
    for line, content in enumerate(read_text(file).split("\n"), start=1):
        if content.startswith(_ORIGINAL):
            text = content.removeprefix(_ORIGINAL)
        elif found := _PAIR.fullmatch(content):
            pair = found.groups()
        elif found := _LOCAL.fullmatch(content):
            counts[pair] = list(map(int, found.groups()))
        elif found := _CHOSEN.fullmatch(content):
            *chosen, sentence = found.groups()
            if tuple(chosen) not in counts:
                raise InputError(f"{Line(file, line)}: the counts of this choice are not above; is a part missing?")
            tp, wrong, missed = own = counts[tuple(chosen)]
            sums = [one + more for one, more in zip(sums, own, strict=True)]
            rows.append(InstanceLog({"tp": tp, "predicted": tp + wrong, "gold": tp + missed}, sentence, content=text))
            several |= len(counts) > 1
            counts, pair, text = {}, None, None
        elif found := _TOTALS.fullmatch(content):
            totals = list(map(int, found.groups()[:3]))
    _check_totals(file, sums if rows else None, totals)
    note = "annotators are those that errant_compare chose for each sentence, given the sentences before"
    return [SystemLog(file, rows, notes=(note,) if several else ())]


def _check_totals(file: str, sums: Sequence[int] | None, totals: Sequence[int]) -> None:
    if sums is None:
        raise InputError(f"{file}: has no counts of single sentences; expected what errant_compare prints with -v")
    if not totals:
        raise InputError(f"{file}: does not end with the summary of errant_compare; is it cut off?")
    if sums != totals:
        own, summary = (f"{tp} TP, {fp} FP and {fn} FN" for tp, fp, fn in (sums, totals))
        raise InputError(f"{file}: its sentences have {own}, but its summary has {summary}; is a part missing?")


ERRANT = Log(results=_errant, content="sentence")
