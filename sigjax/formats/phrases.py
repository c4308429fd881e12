"""Phrase structure: trees in brackets, a gold file and one file per system; and the output of evalb.

Trees stand one per line, and an instance is a line. A bracket is the label and the first and last word of a
constituent. Both sides are compared as multisets: a label twice over the same words counts twice; with `unit`
"response" it is one response that counts twice. As in evalb, part-of-speech tags are no brackets, function tags
(`NP-SBJ`) are cut off and empty elements (`-NONE-`) are no words. Roots (`TOP`, `ROOT`, `S1`, no label) are no
brackets. Punctuation stays, while evalb's COLLINS.prm leaves it out. Reference: Black et al. (1991), "A procedure for
quantitatively comparing the syntactic coverage of English grammars".

The output of evalb is a table of sentences with the numbers of matched, gold and system ("test") brackets. As in its
own summary, sentences with a Stat. other than 0 (errors, empty parses) are left out.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, listing, quote
from sigjax.readers.sheets import Reading, Sheet, Sources, count_responses, matching_lines, read_lines
from sigjax.records import InputError, Line
from sigjax.run.files import naming, read_text

Brackets = Counter[tuple[str, int, int]]
"""(label, first word, word after the last) -> how often."""

ROOT_LABELS = frozenset(("TOP", "ROOT", "S1", ""))
EMPTY_ELEMENT = "-NONE-"
NOTE = "brackets without roots (TOP, ROOT, S1), function tags and empty elements (-NONE-), but with punctuation"
_TOKEN = re.compile(r"[()]|[^\s()]+")
_FUNCTION_TAG = re.compile(r"(?<=.)[-=].*")


def parse_tree(line: str) -> tuple[list[str], Brackets]:
    """The words and the brackets of a tree; none where the parser failed and wrote `(())` or nothing.

    Raises:
        InputError: the brackets do not match, or a word is in none.

    Example:
        >>> words, brackets = parse_tree("(TOP (S (NP-SBJ (PRP She)) (VP (VBD left))))")
        >>> words, sorted(brackets.elements())
        (['She', 'left'], [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)])
    """
    words: list[str] = []
    closed: list[tuple[str, int, int]] = []
    labels, starts = list[str](), list[int]()  # of what is open
    named, innermost = True, False  # whether what follows is no label; whether nothing was closed since the last (
    for token in _TOKEN.findall(line):
        if token == "(":
            labels.append("")
            starts.append(len(words))
            named, innermost = False, True
            continue
        if not starts:
            raise InputError(f"expected a tree in brackets, got {quote(token)} outside of all brackets")
        if token == ")":
            label, start = labels.pop(), starts.pop()
            if innermost and len(words) == start + 1:  # a part-of-speech tag
                if label == EMPTY_ELEMENT:
                    words.pop()
            elif start < len(words) and label not in ROOT_LABELS:
                closed.append((_FUNCTION_TAG.sub("", label), start, len(words)))
            innermost = False
        elif named:
            words.append(token)
        else:
            labels[-1] = token
        named = True
    if starts:
        raise InputError(f"expected one tree per line, got {len(starts)} opening bracket(s) without a closing one")
    return words, Counter(closed)


LineBrackets = Counter[tuple[int, int, int, str]]
"""(line, first word, word after the last, label) -> how often."""


def _read_file(file: str, lines: Sequence[str], gold: Sequence[list[str]] = ()) -> tuple[list[list[str]], LineBrackets]:
    """The words `[line]` of the trees of a file, none where there is no tree, and their brackets; `gold` are words."""
    words_of, found = list[list[str]](), LineBrackets()
    for i, line in enumerate(lines):
        with naming(f"{Line(file, i + 1)}"):
            words, brackets = parse_tree(line)
            if words and gold:
                _check_words(words, gold[i])
        words_of.append(words)
        found.update({(i, start, end, label): count for (label, start, end), count in brackets.items()})
    return words_of, found


def _check_words(words: list[str], gold: list[str]) -> None:
    if words != gold:
        pairs = zip([*gold, "the end"], [*words, "the end"], strict=False)
        expected, found = next((one, other) for one, other in pairs if one != other)
        raise InputError(f"expected the words of the gold tree, {quote(expected)} here, got {quote(found)}")


def read_trees(sources: Sources, options: Options) -> Reading:
    """The brackets of the trees of each system that are gold ones."""
    file = sources.gold()
    gold_words, gold = _read_file(file, read_lines(file))
    if not all(gold_words):
        raise InputError(f"{Line(file, gold_words.index([]) + 1)}: expected a tree, got no words")
    files, num_lines = sources.chosen(options), len(gold_words)
    words, brackets = dict[str, list[list[str]]](), dict[str, LineBrackets]()
    for name, path in files.items():
        lines = matching_lines(path, gold=file, count=num_lines)
        words[name], brackets[name] = _read_file(path, lines, gold_words)
    ids, rows = None, np.arange(num_lines)
    if options.unit == "response":
        responses, numbers = count_responses(gold, brackets)
        ids = [f"{line + 1}: {label} {start + 1}-{end}" for line, start, end, label in responses]
        rows = np.array([line for line, *_ in responses], int)
    else:
        numbers = {name: _count_lines(own, gold, num_lines) for name, own in brackets.items()}
    sheets = []
    for name, path in files.items():
        absent = np.array([not own for own in words[name]])[rows]
        columns = {key: np.where(absent, np.nan, column) for key, column in numbers[name].items()}
        sheets.append(Sheet(name, path, columns, ids=ids))
    return join_sheets(sheets, options, notes=(NOTE,))


def _count_lines(system: LineBrackets, gold: LineBrackets, num_lines: int) -> dict[str, np.ndarray]:
    counted = {"tp": system & gold, "predicted": system, "gold": gold}
    counts = {name: np.zeros(num_lines) for name in counted}
    for name, brackets in counted.items():
        for (line, *_), count in brackets.items():
            counts[name][line] += count
    return counts


_HEADER = re.compile(r"\s*ID\s+Len\.\s+Stat\.\s+Recal\s+Prec\.")
_ROW = re.compile(
    r"\s*(?P<id>\d{1,9})\s+\d+\s+(?P<stat>\d)\s+[\d.]+\s+[\d.]+"
    r"\s+(?P<tp>\d{1,9})\s+(?P<gold>\d{1,9})\s+(?P<predicted>\d{1,9})(?:\s+[\d.]+){4}\s*",
    re.ASCII,
)
_MESSAGE = re.compile(r"\s*\d+\s*:\s")
"""Errors of evalb, such as `12 : Length unmatch (4|5)`, which may be written to the same file."""
_COUNTS = ("tp", "predicted", "gold")


def read_evalb(sources: Sources, options: Options) -> Reading:
    """The counts of brackets that evalb printed for each sentence."""
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
            raise InputError(f"{Line(file, line)}: {tp} matched brackets are more than there are; is it from evalb?")
        expected, place = gold.setdefault(row["id"], (size, f"{Line(file, line)}"))
        if size != expected:
            raise InputError(
                f"{Line(file, line)}: sentence {row['id']} has {size} gold brackets, but {expected} in {place}; "
                "expected the same gold trees and parameters for all systems"
            )
        ids.append(row["id"])
        counts.append((tp, predicted, size))
    columns = np.array(counts, dtype=np.float64).reshape(-1, len(_COUNTS)).T
    return Sheet(name, file, dict(zip(_COUNTS, columns, strict=True)), ids=ids), left_out


def _table(file: str) -> list[tuple[int, re.Match[str]]]:
    """Line and match of each row between the two lines of ====."""
    lines = read_text(file).split("\n")
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
                f"{Line(file, i + 1)}: expected a row of evalb's table (12 numbers), got {quote(lines[i])}"
            )
    raise InputError(f"{file}: the table has no end (a line of ====); evalb was stopped, or the file is cut off")
