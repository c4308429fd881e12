"""Spans: entities and chunks of tagged tokens, and morphemes of words; how many of a system's match gold ones.

One rule reads IOB1, IOB2, IOE1, IOE2, BIOES, BILOU and BMES, as conlleval does: a token is outside, or in a span of its
type. A span starts where the token before is outside, of another type or in another sentence; at B, S or U; and after
E, L, S or U. So an I after O starts a span, whatever the scheme demands. Reference: Tjong Kim Sang and Buchholz (2000),
"Introduction to the CoNLL-2000 shared task: chunking".

A span is right when its type, first and last token are those of a gold span (strict), or when its tokens are (exact).
Otherwise each span of a system, in order, is compared with the gold spans that share a token with it and are not taken
yet. It takes the first one, and counts 1 for the same tokens, else a half (partial); or 1 for the same type (fuzzy, as
in the scorer of HIPE); or it takes the one of its type with the closest ends, counting 1, and the first of another type
if there is none (type). Exact, partial and type are those of nervaluate, after MUC. Reference: Ehrmann et al. (2022),
"Extended Overview of HIPE-2022: Named Entity Recognition and Linking in Multilingual Historical Documents".

Morpheme segmentation is that of SIGMORPHON 2022: `word<TAB>morph @@morph ...`; gold files may have a third column. An
instance is a line. Correct morphemes are a longest common subsequence of the two segmentations, as in the shared task's
evaluate.py: Batsuren et al. (2022), "The SIGMORPHON 2022 Shared Task on Morpheme Segmentation".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, quote
from sigjax.readers.sheets import Reading, Sheet, Sources, matching_lines, read_lines
from sigjax.records import InputError, Line, Match

OUTSIDE = frozenset(("O", "_", "-"))
_TAG = re.compile(r"([BIESLUM])(?:-(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TagTable:
    """What the tags of a comparison mean."""

    types: np.ndarray
    """[tag] the number of its type; -1 outside."""
    opens: np.ndarray
    """[tag] whether a span starts at it, whatever precedes."""
    closes: np.ndarray
    """[tag] whether a span ends at it, whatever follows."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans of one sequence of tokens, in order."""

    starts: np.ndarray
    """[span] the first token."""
    ends: np.ndarray
    """[span] the token after the last."""
    types: np.ndarray
    """[span] the number of the type."""

    def listed(self) -> list[tuple[int, int, int]]:
        """Start, end and type of each."""
        return list(zip(self.starts.tolist(), self.ends.tolist(), self.types.tolist(), strict=True))


def is_span_tag(tag: str) -> bool:
    """Whether a tag is O (or "_" or "-"), or B, I, E, S, L, U or M, alone or with "-" and a type.

    Example:
        >>> [is_span_tag(tag) for tag in ("B-PER", "I", "O", "NN")]
        [True, True, True, False]
    """
    return tag in OUTSIDE or _TAG.fullmatch(tag) is not None


def tag_table(tags: Sequence[str]) -> TagTable:
    """What tags `[tag]` mean, for which `is_span_tag` holds; types are compared as they are written.

    Example:
        >>> tag_table(["O", "B-PER", "I-PER", "S-LOC"]).types
        array([-1,  0,  0,  1])
    """
    parts = [("O", None) if tag in OUTSIDE else (tag[0], tag[2:]) for tag in tags]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(name for _, name in parts if name is not None))}
    return TagTable(
        np.array([-1 if name is None else numbers[name] for _, name in parts], np.int64),
        np.array([prefix in "BSU" for prefix, _ in parts], bool),
        np.array([prefix in "ELSU" for prefix, _ in parts], bool),
    )


def find_spans(codes: np.ndarray, table: TagTable, breaks: np.ndarray) -> Spans:
    """The spans of tokens with the tags `codes` `[token]`; a new sequence starts at each token of `breaks`.

    Example:
        >>> tags = ["O", "B-PER", "I-PER", "I-LOC"]
        >>> spans = find_spans(np.array([3, 1, 2, 2, 0]), tag_table(tags), np.array([0, 3]))
        >>> spans.starts, spans.ends
        (array([0, 1, 3]), array([1, 3, 4]))
    """
    types, opens, closes = table.types[codes], table.opens[codes], table.closes[codes]
    fresh = opens.copy()
    fresh[1:] |= closes[:-1] | (types[1:] != types[:-1])
    fresh[breaks] = True
    inside = types >= 0
    (starts,) = np.nonzero(inside & fresh)
    stops = np.append(np.flatnonzero(~inside | fresh), len(codes))
    return Spans(starts, stops[np.searchsorted(stops, starts, side="right")], types[starts])


def count_spans(gold: Spans, predicted: Spans, sentences: np.ndarray, match: Match = "strict") -> dict[str, np.ndarray]:
    """The counts tp, predicted and gold `[sentence]`; a span belongs to the sentence of its first token.

    A span that counts belongs to the sentence of its gold span, so that no sentence has more right spans than gold
    ones. `sentences` `[sentence]` are their first tokens, from 0; none is empty.

    Example:
        >>> table, start = tag_table(["O", "B-PER", "I-PER"]), np.array([0])
        >>> gold, guess = (find_spans(np.array(codes), table, start) for codes in ([1, 2, 0, 1], [1, 0, 0, 1]))
        >>> count_spans(gold, guess, start)
        {'tp': array([1.]), 'predicted': array([2.]), 'gold': array([2.])}
        >>> count_spans(gold, guess, start, "partial")["tp"]
        array([1.5])
    """
    credit, starts = (_same_spans if match in ("strict", "exact") else _overlapping)(gold, predicted, match)
    found = {"tp": (starts, credit), "predicted": (starts, None), "gold": (gold.starts, None)}
    return {
        name: np.bincount(np.searchsorted(sentences, of, side="right") - 1, weights, len(sentences)).astype(float)
        for name, (of, weights) in found.items()
    }


def _same_spans(gold: Spans, predicted: Spans, match: Match) -> tuple[np.ndarray, np.ndarray]:
    """What each span `[predicted]` counts, and its first token; strict and exact."""
    length = max((spans.starts[-1] + 1 for spans in (gold, predicted) if len(spans.starts)), default=0)
    end_of, type_of = np.zeros((2, length), np.int64)
    end_of[gold.starts], type_of[gold.starts] = gold.ends, gold.types
    right = end_of[predicted.starts] == predicted.ends
    if match == "strict":
        right &= type_of[predicted.starts] == predicted.types
    return right.astype(float), predicted.starts


def _overlapping(gold: Spans, predicted: Spans, match: Match) -> tuple[np.ndarray, np.ndarray]:
    """What each span `[predicted]` counts, and the first token of the gold span that it counts for, or its own."""
    first = np.searchsorted(gold.ends, predicted.starts, side="right")
    last = np.searchsorted(gold.starts, predicted.ends)
    truth, own = (spans.listed() for spans in (gold, predicted))
    taken, credit, starts = set(), np.zeros(len(own)), predicted.starts.copy()
    for k, (start, end, kind) in enumerate(own):
        free = [i for i in range(first[k], last[k]) if i not in taken]
        if not free:
            continue
        alike = [i for i in free if truth[i][2] == kind] if match == "type" else []
        best = min(alike, key=lambda i: abs(truth[i][0] - start) + abs(truth[i][1] - end)) if alike else free[0]
        taken.add(best)
        if match == "partial":
            credit[k] = 1.0 if truth[best][:2] == (start, end) else 0.5
        else:
            credit[k] = truth[best][2] == kind
        if credit[k]:
            starts[k] = truth[best][0]
    return credit, starts


_WIDTHS = (2, 3)
_MOST_DIFFERENT = 0.01
"""Share of lines whose word may differ from the gold file's."""


def common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of a longest common subsequence, in the time of `len(right)` sums of `len(left)` bits.

    Reference: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".

    Example:
        >>> common_length(["un", "disc", "ount", "ed"], ["un", "discount", "ed"])
        2
    """
    bits: dict[str, int] = {}
    for i, item in enumerate(left):
        bits[item] = bits.get(item, 0) | 1 << i
    everything = (1 << len(left)) - 1
    row = everything
    for item in right:
        matched = row & bits.get(item, 0)
        row = ((row + matched) | (row - matched)) & everything
    return len(left) - row.bit_count()


def split_morphemes(segmentation: str) -> list[str]:
    """The morphemes of a segmentation; an empty one is one empty morpheme, as in evaluate.py.

    Example:
        >>> split_morphemes("un @@discount @@ed"), split_morphemes("")
        (['un', 'discount', 'ed'], [''])
    """
    return segmentation.replace(" @@", " ").split(" ")


def read_segmentations(sources: Sources, options: Options) -> Reading:
    """The right morphemes of each word."""
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


def _count_morphemes(gold: Sequence[str], system: Sequence[str]) -> dict[str, np.ndarray]:
    """Counts `[word]` of correct, predicted and gold morphemes, and whether all are right."""
    sizes = [np.array([each.count(" ") + 1 for each in side], dtype=np.float64) for side in (gold, system)]
    correct = sizes[0].copy()
    for i, (right, other) in enumerate(zip(gold, system, strict=True)):
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
                f"{Line(file, i + 1)}: expected a word, a tab and morphemes as in {example}, got {quote(line)}"
            )
        if line.count("\t") != width - 1:
            raise InputError(
                f"{Line(file, i + 1)}: expected {width} fields between tabs as in line 1, got {quote(line)}"
            )
    cells = "\t".join(lines).split("\t")
    return [cells[k::width] for k in range(width)]


def _check_words(file: str, system: list[str], reference: str, words: list[str]) -> str:
    """Refuse other words than in the gold file; a note where a few differ: a spreadsheet made '#NAME?' of '-st'."""
    wrong = [i for i, (word, expected) in enumerate(zip(system, words, strict=True)) if word != expected]
    if not wrong:
        return ""
    first = wrong[0]
    right, other = quote(words[first]), quote(system[first])
    if len(wrong) > _MOST_DIFFERENT * len(words):
        raise InputError(
            f"{Line(file, first + 1)}: expected the word {right}, as in {reference}, got {other}; lines must be in "
            "the order of the gold file"
        )
    example = f"line {first + 1}: {other}, not {right}"
    return f"{len(wrong)} of {len(words)} lines have another word than the gold file ({example})"
