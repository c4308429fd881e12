"""The output of evalb: a table of sentences with the numbers of matched, gold and system ("test") brackets.

As in evalb's own summary, sentences with a Stat. other than 0 (errors, empty parses) are left out. An instance is a
sentence, known by its ID.
"""

import re

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources, looks_like
from sigjax.readers.options import Options, listing, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import InputError

_HEADER = re.compile(r"\s*ID\s+Len\.\s+Stat\.\s+Recal\s+Prec\.")
_ROW = re.compile(
    r"\s*(?P<id>\d{1,9})\s+\d+\s+(?P<stat>\d)\s+[\d.]+\s+[\d.]+"
    r"\s+(?P<tp>\d{1,9})\s+(?P<gold>\d{1,9})\s+(?P<predicted>\d{1,9})(?:\s+[\d.]+){4}\s*",
    re.ASCII,
)
_MESSAGE = re.compile(r"\s*\d+\s*:\s")
"""Errors of evalb, such as `12 : Length unmatch (4|5)`, which may be written to the same file."""
_COUNTS = ("tp", "predicted", "gold")


def _read(sources: Sources, options: Options) -> Reading:
    sheets, notes = [], []
    gold: dict[str, tuple[int, str]] = {}
    for name, file in sources.chosen(options).items():
        sheet, left_out = _read_sheet(name, file, gold)
        sheets.append(sheet)
        if left_out:
            sentences = f"{len(left_out)} sentence" + ("s" if len(left_out) > 1 else "")
            notes.append(f"{name}: left out {sentences} with a Stat. other than 0, as evalb does: {listing(left_out)}")
    return join_sheets(sheets, options, notes=tuple(notes))


def _read_sheet(name: str, file: str, gold: dict[str, tuple[int, str]]) -> tuple[Sheet, list[str]]:
    """The sheet of a system, and the sentences left out; `gold` collects gold sizes, and where each stands."""
    ids, counts, left_out = [], [], []
    for line, row in _table(file):
        if row["stat"] != "0":
            left_out.append(row["id"])
            continue
        tp, predicted, size = (int(row[each]) for each in _COUNTS)
        if tp > min(predicted, size):
            raise InputError(f"{file}, line {line}: {tp} matched brackets are more than there are; is it from evalb?")
        expected, place = gold.setdefault(row["id"], (size, f"{file}, line {line}"))
        if size != expected:
            raise InputError(
                f"{file}, line {line}: sentence {row['id']} has {size} gold brackets, but {expected} in {place}; "
                "expected the same gold trees and parameters for all systems"
            )
        ids.append(row["id"])
        counts.append((tp, predicted, size))
    columns = np.array(counts, dtype=np.float64).reshape(-1, len(_COUNTS)).T
    return Sheet(name, file, dict(zip(_COUNTS, columns, strict=True)), ids=ids), left_out


def _table(file: str) -> list[tuple[int, re.Match[str]]]:
    """Line and match of each row between the two lines of ====."""
    lines = decode_text(file, read_bytes(file)).split("\n")
    header = next((i for i, line in enumerate(lines) if _HEADER.match(line)), None)
    if header is None:
        raise InputError(f"{file}: has no line 'ID Len. Stat. Recal Prec. ...'; expected the output of evalb")
    rows = []
    for i in range(header + 1, len(lines)):
        match = _ROW.fullmatch(lines[i])
        if match:
            rows.append((i + 1, match))
        elif lines[i].startswith("===") and i > header + 1:
            return rows
        elif lines[i].strip() and not lines[i].startswith("===") and not _MESSAGE.match(lines[i]):
            raise InputError(
                f"{file}, line {i + 1}: expected a row of evalb's table (12 numbers), got {show(lines[i])}"
            )
    raise InputError(f"{file}: the table has no end (a line of ====); evalb was stopped, or the file is cut off")


BRACKETS = Format(
    "brackets",
    "output of evalb",
    "systems",
    _read,
    looks_like(rb"(?m)^\s*ID\s+Len\.\s+Stat\.\s+Recal\s"),
    ("fscore", "precision", "recall"),
)
