"""Morpheme segmentation as in SIGMORPHON 2022: `word<TAB>morph @@morph ...`; gold files may have a third column.

An instance is a line. Correct morphemes are a longest common subsequence of the two segmentations, as in the shared
task's evaluate.py: Batsuren et al. (2022), "The SIGMORPHON 2022 Shared Task on Morpheme Segmentation".
"""

from collections.abc import Sequence

import numpy as np

from sigjax.readers.formats import Format, Reading, Sources, looks_like
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.sources import matching_lines, read_lines
from sigjax.records import InputError

_WIDTHS = (2, 3)
_MOST_DIFFERENT = 0.01
"""Share of lines whose word may differ from the gold file's."""
_FIRST_LINE = rb"^([^\t\n]+\t[^\t\n]+\t[01]{3}\r?\n|(?=(?s:.*) @@)[^\t\n]+\t[^\t\n]+(\t[^\t\n]*)?\n)"
"""With a category, or marks of boundaries in some line."""


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of a longest common subsequence, in the time of `len(other)` sums of `len(one)` bits.

    Reference: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".

    Example:
        >>> common_length(["un", "disc", "ount", "ed"], ["un", "discount", "ed"])
        2
    """
    places: dict[str, int] = {}
    for i, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << i
    everything = (1 << len(one)) - 1
    row = everything
    for item in other:
        matched = row & places.get(item, 0)
        row = ((row + matched) | (row - matched)) & everything
    return len(one) - row.bit_count()


def split_morphemes(segmentation: str) -> list[str]:
    """The morphemes of a segmentation; an empty one is one empty morpheme, as in evaluate.py.

    Example:
        >>> split_morphemes("un @@discount @@ed"), split_morphemes("")
        (['un', 'discount', 'ed'], [''])
    """
    return segmentation.replace(" @@", " ").split(" ")


def _read(sources: Sources, options: Options) -> Reading:
    file = sources.gold()
    words, gold, *more = _columns(file, read_lines(file))
    labels = {"category": more[0]} if more else {}
    sheets, notes = [], []
    for name, path in sources.chosen(options).items():
        own_words, own, *_ = _columns(path, matching_lines(path, gold=file, count=len(words)))
        if note := _check_words(path, own_words, file, words):
            notes.append(f"{name}: {note}")
        sheets.append(Sheet(name, path, _count_morphemes(gold, own), labels=labels))
    return join_sheets(sheets, options, notes=tuple(notes))


def _count_morphemes(gold: Sequence[str], own: Sequence[str]) -> dict[str, np.ndarray]:
    """Counts `[word]` of correct, predicted and gold morphemes, and whether all are right."""
    sizes = [np.array([each.count(" ") + 1 for each in side], dtype=np.float64) for side in (gold, own)]
    correct = sizes[0].copy()
    for i, (right, other) in enumerate(zip(gold, own, strict=True)):
        if right != other:
            correct[i] = common_length(split_morphemes(right), split_morphemes(other))
    exact = (correct == sizes[0]) & (correct == sizes[1])
    return {"tp": correct, "predicted": sizes[1], "gold": sizes[0], "value": exact.astype(np.float64)}


def _columns(file: str, lines: list[str]) -> list[list[str]]:
    """The columns of a file: words, segmentations and, where line 1 has three fields, categories."""
    width = lines[0].count("\t") + 1
    for i, line in enumerate(lines):
        if width not in _WIDTHS or line.startswith("\t"):
            example = "'undone<TAB>un @@done'"
            raise InputError(
                f"{file}, line {i + 1}: expected a word, a tab and morphemes as in {example}, got {show(line)}"
            )
        if line.count("\t") != width - 1:
            raise InputError(
                f"{file}, line {i + 1}: expected {width} fields between tabs as in line 1, got {show(line)}"
            )
    cells = "\t".join(lines).split("\t")
    return [cells[k::width] for k in range(width)]


def _check_words(file: str, own: list[str], reference: str, words: list[str]) -> str:
    """Refuse other words than in the gold file; a note where a few differ: a spreadsheet made '#NAME?' of '-st'."""
    wrong = [i for i, (word, expected) in enumerate(zip(own, words, strict=True)) if word != expected]
    if not wrong:
        return ""
    first = wrong[0]
    right, other = show(words[first]), show(own[first])
    if len(wrong) > _MOST_DIFFERENT * len(words):
        raise InputError(
            f"{file}, line {first + 1}: expected the word {right}, as in {reference}, got {other}; lines must be in "
            "the order of the gold file"
        )
    example = f"line {first + 1}: {other}, not {right}"
    return f"{len(wrong)} of {len(words)} lines have another word than the gold file ({example})"


SEGMENTATION = Format(
    "segmentation",
    "morpheme segmentation, SIGMORPHON 2022",
    "gold",
    _read,
    looks_like(_FIRST_LINE),
    ("fscore", "precision", "recall", "accuracy"),
)
