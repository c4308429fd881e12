"""Tagged tokens in columns: gold and system tags are read, aligned, and counted per sentence or per span.

**Columns.** A file has one token per line, and an empty line after each sentence; `<utt>` (MBT) also ends a sentence.
Columns are separated by tabs if the line of the first token has tabs and no blank in its last column; else by runs of
blanks and tabs. All lines have the same number of columns. A line `-DOCSTART-` starts a document. A line that begins
with `# ` is a comment if its number of columns differs from the tokens', or if it has a `=` (`# id = 3`, `# id x
domain=en`). A file of conlleval has gold tag and guess as its last columns. Otherwise there is a gold file, and a
tagged file per system.

**HIPE** (entities in historical newspapers). A file has one token per line and one column per kind of tag; the first
line names the columns. A line is a comment if it begins with "#" and its other columns are empty; `#
hipe2022:document_id = NAME` starts a document. `EndOfSentence` in the column MISC ends a sentence, and so does an empty
line. Documents and sentences are taken from the gold file; systems must have the same tokens. As in the campaign's
scorer, types are compared without case, "_" and "-" mean O, and an entity may cross the end of a sentence, but not of a
document.

**Spans** are entities and chunks. As in conlleval, one rule reads IOB1, IOB2, IOE1, IOE2, BIOES, BILOU and BMES: a
token is outside, or in a span of its type. A new span starts at B, S or U, and after E, L, S or U. It also starts if
the token before is outside, has another type, or is in another sentence. So an I after O starts a span in every scheme.
Reference: Tjong Kim Sang and Buchholz (2000), "Introduction to the CoNLL-2000 shared task: chunking".

**Matching.** With match=strict, a span is right if a gold span has the same type, first and last token; with exact, if
a gold span has the same tokens, whatever its type. The other rules go through the spans of a system in order. They
compare each span with its free gold spans: those that share a token with it, and that no earlier span has taken.

- partial: the span takes the first free gold span, and counts 1 for the same tokens, else 1/2.
- fuzzy (as in the scorer of HIPE): the span takes the first free gold span, and counts 1 for the same type.
- type: the span takes the free gold span of its type with the closest ends, and counts 1; if there is none, it takes
  the first free gold span, and counts 0.

Exact, partial and type are the rules of nervaluate, after MUC. Reference: Ehrmann et al. (2022), "Extended Overview of
HIPE-2022: Named Entity Recognition and Linking in Multilingual Historical Documents".

**Morpheme segmentation** is in the format of SIGMORPHON 2022: `word<TAB>morph @@morph ...`; gold files may have a third
column. An instance is a line. As in the shared task's evaluate.py, the correct morphemes are a longest common
subsequence of the two segmentations. Reference: Batsuren et al. (2022), "The SIGMORPHON 2022 Shared Task on Morpheme
Segmentation".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from sigjax.metrics import TOKEN_ACCURACY, parameterized
from sigjax.readers.join import Reading, Sheet, Sources, count_responses, join_sheets, matching_lines, read_lines
from sigjax.readers.options import Options, chosen_metric, quote, suggest
from sigjax.records import EvaluationRecord, Hint, InputError, Line, Match
from sigjax.run.files import naming, read_text

OUTSIDE = frozenset(("O", "_", "-"))
_TAG = re.compile(r"([BIESLUM])(?:-(.*))?", re.DOTALL)


def is_span_tag(tag: str) -> bool:
    """Whether a tag is O (or "_" or "-"), or B, I, E, S, L, U or M, alone or with "-" and a type.

    >>> [is_span_tag(tag) for tag in ("B-PER", "I", "O", "NN")]
    [True, True, True, False]
    """
    return tag in OUTSIDE or _TAG.fullmatch(tag) is not None


def tag_table(tags: Sequence[str]) -> np.ndarray:
    """Decode distinct tags of spans, such as B-PER. Types are compared as they are written.

    Returns:
        `[3, tag]`: for each tag, the number of its type (-1 for outside), whether it always starts a span, and whether
        it always ends a span.

    >>> tag_table(["O", "B-PER", "I-PER", "S-LOC"])[0]
    array([-1,  0,  0,  1])
    """
    parts = [("O", None) if tag in OUTSIDE else (tag[0], tag[2:]) for tag in tags]
    numbers: dict[str | None, int] = {None: -1}
    for _, name in parts:
        numbers.setdefault(name, len(numbers) - 1)
    return np.array([(numbers[name], prefix in "BSU", prefix in "ELSU") for prefix, name in parts], np.int64).T


def find_spans(codes: np.ndarray, table: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Return the spans in a sequence of tokens; no span crosses a position of `breaks`.

    `codes` `[token]` are the tags, as columns of `table` (from `tag_table`).

    Returns:
        `[3, span]`: for each span, its first token, the token after its last token, and the number of its type.

    >>> tags = ["O", "B-PER", "I-PER", "I-LOC"]
    >>> find_spans(np.array([3, 1, 2, 2, 0]), tag_table(tags), np.array([0, 3])).tolist()
    [[0, 1, 3], [1, 3, 4], [1, 0, 0]]
    """
    types, opens, closes = table[:, codes]
    fresh = opens == 1
    fresh[1:] |= (closes[:-1] == 1) | (types[1:] != types[:-1])
    fresh[breaks] = True
    inside = types >= 0
    (starts,) = np.nonzero(inside & fresh)
    stops = np.append(np.flatnonzero(~inside | fresh), len(codes))
    return np.stack([starts, stops[np.searchsorted(stops, starts, side="right")], types[starts]])


def count_spans(
    gold: np.ndarray, predicted: np.ndarray, sentences: np.ndarray, match: Match = "strict"
) -> dict[str, np.ndarray]:
    """Return the counts tp, predicted and gold `[sentence]`; a span belongs to the sentence of its first token.

    `gold` and `predicted` `[3, span]` are spans, as `find_spans` returns them, and `match` is the rule that says which
    spans are right. A right span of a system belongs to the sentence of its gold span, so that no sentence has more
    right spans than gold spans. `sentences` `[sentence]` has the position (from 0) of the first token of each sentence;
    no sentence is empty.

    >>> table, start = tag_table(["O", "B-PER", "I-PER"]), np.array([0])
    >>> gold, guess = (find_spans(np.array(codes), table, start) for codes in ([1, 2, 0, 1], [1, 0, 0, 1]))
    >>> count_spans(gold, guess, start)
    {'tp': array([1.]), 'predicted': array([2.]), 'gold': array([2.])}
    >>> count_spans(gold, guess, start, "partial")["tp"]
    array([1.5])
    """
    credit, starts = (_credit_equal_spans if match in ("strict", "exact") else _credit_overlaps)(gold, predicted, match)
    found = {"tp": (starts, credit), "predicted": (starts, None), "gold": (gold[0], None)}
    return {
        name: np.bincount(np.searchsorted(sentences, of, side="right") - 1, weights, len(sentences)).astype(float)
        for name, (of, weights) in found.items()
    }


def _credit_equal_spans(gold: np.ndarray, predicted: np.ndarray, match: Match) -> tuple[np.ndarray, np.ndarray]:
    """Compare spans by the rules strict and exact. Return two arrays `[predicted]`, one value for each predicted span.

    `gold` and `predicted` `[3, span]` are spans, as `find_spans` returns them. The first returned array is the credit
    of the span: 1 if the span is right, else 0. The second array is its first token.
    """
    known = np.zeros((2, max(gold[0].max(initial=0), predicted[0].max(initial=0)) + 1), np.int64)
    known[:, gold[0]] = gold[1:]
    same = known[:, predicted[0]] == predicted[1:]
    return (same.all(axis=0) if match == "strict" else same[0]).astype(float), predicted[0]


def _credit_overlaps(gold: np.ndarray, predicted: np.ndarray, match: Match) -> tuple[np.ndarray, np.ndarray]:
    """Compare spans by the rules partial, fuzzy and type. Return two arrays, one value for each predicted span.

    `gold` and `predicted` `[3, span]` are spans, as `find_spans` returns them. The first returned array is the credit
    of the span, from 0 to 1. The second array is the first token of the gold span that it takes; for a span without
    credit, its own first token.
    """
    first = np.searchsorted(gold[1], predicted[0], side="right")
    last = np.searchsorted(gold[0], predicted[1])
    truth, own = ([*map(tuple, spans.T.tolist())] for spans in (gold, predicted))
    taken, credit, starts = set(), np.zeros(len(own)), predicted[0].copy()
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
"""Limit for the share of lines whose word differs from the word in the gold file. Above the limit, an error is raised.
Up to the limit, a note is made."""
_LARGEST_TABLE = 2**22
"""Largest product of the lengths of two sequences that are aligned. If the product is larger, an error is raised; real
words have far fewer parts."""


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return index pairs of a longest common subsequence of `left` and `right`.

    If there are several longest subsequences, return the subsequence that skips early items of `left`.

    >>> common_subsequence(["in", "dem", "a"], ["dem", "in", "a"])
    [(1, 0), (2, 2)]
    """
    if len(left) * len(right) > _LARGEST_TABLE:
        raise InputError(f"{len(left)} and {len(right)} parts of one word or stretch of text are too many to align")
    rest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            equal = left[i] == right[j]
            rest[i][j] = rest[i + 1][j + 1] + 1 if equal else max(rest[i + 1][j], rest[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rest[i][j] == rest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def read_segmentations(sources: Sources, options: Options) -> Reading:
    """Read segmentations, and count the right morphemes of each word."""
    file = sources.gold()
    words, gold, *more = _segmentation_columns(file, read_lines(file))
    labels = {"category": more[0]} if more else {}
    sheets, notes = [], []
    for name, path in sources.chosen(options).items():
        own_words, own, *_ = _segmentation_columns(path, matching_lines(path, gold=file, count=len(words)))
        if note := _check_segmented_words(path, own_words, file, words):
            notes.append(f"{name}: {note}")
        with naming(path):
            sheets.append(Sheet(name, path, _count_morphemes(gold, own), labels=labels))
    return join_sheets(sheets, options, notes=tuple(notes))


def _count_morphemes(gold: Sequence[str], system: Sequence[str]) -> dict[str, np.ndarray]:
    """Return counts `[word]` of correct, predicted and gold morphemes, and whether all of them are right."""
    sizes = [np.array([each.count(" ") + 1 for each in side], dtype=np.float64) for side in (gold, system)]
    correct = sizes[0].copy()
    for i, (right, other) in enumerate(zip(gold, system, strict=True)):
        if right != other:
            # As in evaluate.py, an empty segmentation is one empty morpheme.
            correct[i] = len(common_subsequence(*(each.replace(" @@", " ").split(" ") for each in (right, other))))
    exact = (correct == sizes[0]) & (correct == sizes[1])
    return {"tp": correct, "predicted": sizes[1], "gold": sizes[0], "value": exact.astype(np.float64)}


def _segmentation_columns(file: str, lines: list[str]) -> list[list[str]]:
    """Return the columns of a file: words, segmentations and (if line 1 has three fields) categories."""
    width = lines[0].count("\t") + 1
    for i, line in enumerate(lines):
        if width not in _WIDTHS or line.startswith("\t") or line.count("\t") != width - 1:
            expected = f"{width if i else '2 or 3'} fields: a word, a tab and morphemes as in 'undone<TAB>un @@done'"
            raise InputError(f"{Line(file, i + 1)}: expected {expected}, got {quote(line)}")
    cells = "\t".join(lines).split("\t")
    return [cells[k::width] for k in range(width)]


def _check_segmented_words(file: str, system: list[str], reference: str, words: list[str]) -> str:
    """Raise an error if the words of a file (`system`) differ from the words of the gold file.

    If the words differ on at most 1% of the lines, return a note instead, because spreadsheets turn '-st' into
    '#NAME?'. `reference` is the gold file, and `words` are its words.
    """
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


_MATCHES: dict[Match, str] = {
    "exact": "the same tokens, whatever the type",
    "partial": "the same tokens, and a half for a common token, whatever the type",
    "type": "the same type and a common token, by nervaluate's rule",
    "fuzzy": "the same type and a common token, by the rule of HIPE's scorer",
}
_SPANS, _TOKENS = ("tp", "predicted", "gold"), ("correct", "tokens")


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of one file."""

    file: str
    words: Sequence[str]
    """The word of each token, `[token]`; `tags` and `lines` have the same axis."""
    tags: Sequence[str]
    lines: Sequence[int]
    sentences: np.ndarray
    """The position of the first token of each sentence, `[sentence]`; no sentence is empty."""
    breaks: np.ndarray
    """The positions of the tokens that no span may cross: the first tokens of sentences, or of documents (HIPE)."""
    documents: Sequence[str] | None = None
    """The document of each sentence, `[sentence]`; None if the file marks no documents."""
    next_to_last: Sequence[str] = ()
    """The cells of the next to last column, `[token]`: gold tags if the file has gold tags and guesses."""
    num_columns: int = 0

    def line_of(self, i: int) -> str:
        """File and line of a token, for messages."""
        return f"{Line(self.file, self.lines[i])}"


def read_tagged(
    parse: Callable[[str, Options], Tokens],
    checks: Sequence[Callable[[Tokens, Tokens], None]],
    sources: Sources,
    options: Options,
) -> Reading:
    """Read a gold file and one file per system. Raise an error if their tokens differ.

    `parse` reads one file. Each function in `checks` gets the gold tokens and a system's tokens, and may raise an
    error.
    """
    gold = parse(sources.gold(), options)
    systems = {name: parse(file, options) for name, file in sources.chosen(options).items()}
    for tokens in systems.values():
        for check in (_check_words, *checks):
            check(gold, tokens)
    return partial(evaluate_tags, gold, systems)


def evaluate_tags(gold: Tokens, systems: Mapping[str, Tokens], options: Options) -> EvaluationRecord:
    """Evaluate the tags of systems against the tags of `gold`.

    Counts are per sentence, or per span with unit="response".
    """
    codes: dict[str, int] = {}
    encoded = {tokens: encode(tokens.tags, codes) for tokens in (gold, *systems.values())}
    match = _match_of(options)
    if options.unit == "response":
        return join_sheets(_span_sheets(gold, systems, encoded, codes), options)(options)
    metric = TOKEN_ACCURACY if options.metric == "accuracy" else chosen_metric(options)
    options = replace(options, metric=metric)
    wanted = {*metric.inputs, *(options.counts or {}).values()}
    # Compute only the requested numbers, because tags that mark no spans still have an accuracy.
    kinds = [kind for kind in (_SPANS, _TOKENS) if wanted & {*kind}] or [_SPANS, _TOKENS]
    numbers: dict[str, dict[str, np.ndarray]] = {name: {} for name in systems}
    if _SPANS in kinds:
        table = _table(codes, encoded)
        spans = {tokens: find_spans(found, table, gold.breaks) for tokens, found in encoded.items()}
        for name, tokens in systems.items():
            numbers[name] |= count_spans(spans[gold], spans[tokens], gold.sentences, match)
    if _TOKENS in kinds:
        sizes = np.diff(gold.sentences, append=len(gold.tags))
        for name, tokens in systems.items():
            right = encoded[tokens] == encoded[gold]
            numbers[name] |= {"correct": np.add.reduceat(right, gold.sentences, dtype=int), "tokens": sizes}
    labels = {} if gold.documents is None else {"document": gold.documents}
    sheets = [Sheet(name, tokens.file, numbers[name], labels) for name, tokens in systems.items()]
    notes = () if match == "strict" else (f"spans match as {_MATCHES[match]} (match={match})",)
    return join_sheets(sheets, options, notes=notes)(options)


def _match_of(options: Options) -> Match:
    """Return the rule that says when a span is right: the parameter `match` of the metric."""
    given = parameterized(options.metric)[2] if isinstance(options.metric, str) else {}
    match: Any = given.get("match", "strict")
    if options.unit == "response" and options.metric == "accuracy":
        raise InputError(
            f"{Hint('unit', 'response')}: accuracy is of tokens; use {Hint('metric', 'fscore')}, precision or recall"
        )
    if options.unit == "response" and match != "strict":
        raise InputError(
            f"{Hint('unit', 'response')}: with match={match} a span may take the gold span of another; leave one of "
            "them out"
        )
    return match


def _span_sheets(
    gold: Tokens, systems: Mapping[str, Tokens], encoded: Mapping[Tokens, np.ndarray], codes: Mapping[str, int]
) -> list[Sheet]:
    """Make one sheet per system; its rows are all spans that any system or `gold` has.

    `encoded` are the tags of each file as codes `[token]`, and `codes` maps each tag to its code.
    """
    table = _table(codes, encoded)
    types = dict(zip(table[0].tolist(), (tag[2:] for tag in codes), strict=True))
    spans = dict[Tokens, Counter[tuple[int, int, str]]]()
    for tokens, tags in encoded.items():
        listed = find_spans(tags, table, gold.breaks).T.tolist()
        spans[tokens] = Counter((start, end, types[number]) for start, end, number in listed)
    responses, numbers = count_responses(spans[gold], {name: spans[tokens] for name, tokens in systems.items()})
    ids = [f"{gold.lines[start]}-{gold.lines[end - 1]} {name}".rstrip() for start, end, name in responses]
    return [Sheet(name, tokens.file, numbers[name], ids=ids) for name, tokens in systems.items()]


def encode(labels: Sequence[str], codes: dict[str, int]) -> np.ndarray:
    """Return the code of each label, `[label]`; a label that is not in `codes` is added with the next code.

    >>> codes = {"B": 0}
    >>> encode(["O", "B"], codes), codes
    (array([1, 0]), {'B': 0, 'O': 1})
    """
    for label in dict.fromkeys(labels):
        codes.setdefault(label, len(codes))
    return np.fromiter(map(codes.__getitem__, labels), np.int64, len(labels))


def _table(codes: Mapping[str, int], encoded: Mapping[Tokens, np.ndarray]) -> np.ndarray:
    """Return the `tag_table` of all tags: their types, and whether they always start or end a span.

    If a tag cannot mark a span, raise an error that names the line. `codes` maps each tag to its code, and `encoded`
    are the tags of each file as codes `[token]`.
    """
    wrong = [code for tag, code in codes.items() if not is_span_tag(tag)]
    for tokens, found in encoded.items() if wrong else ():
        places = np.flatnonzero(np.isin(found, wrong))
        if places.size:
            i = int(places[0])
            raise InputError(
                f"{tokens.line_of(i)}: expected a tag such as B-PER, I-PER or O, got {quote(tokens.tags[i])}; "
                "the metric accuracy takes any tags"
            )
    return tag_table(list(codes))


def _check_words(gold: Tokens, other: Tokens) -> None:
    check_same("token", (other.file, other.lines, other.words), (gold.file, gold.lines, gold.words))


Parts = tuple[str, Sequence[int], Sequence[str]]
"""(file, line numbers, texts) of the tokens of a file, or of other parts of it, such as sentences."""


def check_same(what: str, own: Parts, gold: Parts) -> None:
    """Raise an error if the parts of a file (such as its tokens) differ from the parts of the gold file.

    Messages call a part `what`, such as "token".
    """
    (file, lines, parts), (gold_file, gold_lines, expected) = own, gold
    if parts == expected:
        return
    i = next((i for i, (one, other) in enumerate(zip(parts, expected, strict=False)) if one != other), None)
    if i is None:
        raise InputError(f"{file}: has {len(parts)} {what}s, but {gold_file} has {len(expected)}; expected the same")
    raise InputError(
        f"{Line(file, lines[i])}: {what} {quote(parts[i])}, but {quote(expected[i])} on line {gold_lines[i]} of "
        f"{gold_file}; expected the same {what}s in the same order"
    )


_DOCUMENT, _UTTERANCE = "-DOCSTART-", "<utt>"
_ENDINGS = (".conll", ".iob", ".tags")
_CHUNK_TAG = re.compile(r"[OBIESLUM]|[BIESLUM]-\S+")


def parse_columns(file: str, text: str) -> Tokens:
    r"""Parse a file with at least two columns to tokens; the first column has words, the last column has tags.

    >>> tokens = parse_columns("t", "a O\nb B-X\n\n\nc O\n")
    >>> tokens.words, tokens.tags, tokens.lines, tokens.sentences
    (['a', 'b', 'c'], ['O', 'B-X', 'O'], [1, 2, 5], array([0, 2]))
    """
    words: list[str] = []
    gold: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    sentences: list[int] = []
    documents: list[str] = []
    content_lines = text.split("\n")
    comments = _comments(content_lines)
    split, width, document, fresh = split_blanks, 0, 0, True
    for line, content in enumerate(content_lines, start=1):
        if line in comments:
            continue
        row = split(content)
        if len(row) < 2 and row[0] in ("", _UTTERANCE):
            fresh = True
            continue
        if row[0] == _DOCUMENT:
            document, fresh = document + 1, True
            continue
        if not words:
            split = _splitter(content)
            row = split(content)
            width = len(row)
            if width < 2:
                raise InputError(
                    f"{Line(file, line)}: expected a token and its tag, got {quote(row[0])}; for one label per line "
                    f"use {Hint('reader', 'labels')}"
                )
        if len(row) != width:
            raise InputError(f"{Line(file, line)}: expected {width} columns as on line {lines[0]}, got {len(row)}")
        if fresh:
            sentences.append(len(words))
            documents.append(str(document))
            fresh = False
        # Do not keep the rows: many small lists are slow for the garbage collector.
        words.append(row[0])
        gold.append(row[-2])
        tags.append(row[-1])
        lines.append(line)
    if not words:
        raise InputError(f"{file}: has no tokens; expected one token and its tag per line")
    starts, marked = np.array(sentences), documents[-1] != "0"
    return Tokens(file, words, tags, lines, starts, starts, documents if marked else None, gold, width)


def _comments(lines: Sequence[str]) -> set[int]:
    """Return the line numbers of comments. A # alone does not mark a comment, because it may be a token."""
    marked = {number: line for number, line in enumerate(lines, start=1) if line.startswith("# ")}
    plain = (line for line in lines if line and not line.startswith(("#", _DOCUMENT)) and len(split_blanks(line)) > 1)
    token = next(plain, "") if marked else ""
    if not token:
        return set()
    split = _splitter(token)
    width = len(split(token))
    return {number for number, line in marked.items() if len(row := split(line)) != width or "=" in "".join(row[1:])}


def head_tokens(head: bytes) -> Tokens | None:
    """Return the tokens in the complete lines of a file's first bytes; None if there are none."""
    whole = head[: head.rfind(b"\n") + 1] or head
    try:
        return parse_columns("", whole.decode("utf-8", "replace").replace("\r", ""))
    except InputError:
        return None


def _splitter(line: str) -> Callable[[str], list[str]]:
    """Return the function that splits lines into columns: at tabs or at blanks, as the first token's line shows."""
    return split_blanks if " " in line.rstrip("\t ").rpartition("\t")[2].strip(" ") else _split_tabs


def _split_tabs(line: str) -> list[str]:
    """Split a line at its tabs, and strip blanks from the columns."""
    fields = line.rstrip("\t ").split("\t")
    return [field.strip(" ") for field in fields] if " " in line else fields


def split_blanks(line: str) -> list[str]:
    """Split a line at blanks and tabs; other white space belongs to the tokens."""
    fields = line.replace("\t", " ").strip(" ").split(" ")
    return [field for field in fields if field] if "" in fields and len(fields) > 1 else fields


def read_pairs(sources: Sources, options: Options) -> Reading:
    """Read files with the gold tag and the guess as the last two columns."""
    systems = {name: parse_columns(file, read_text(file)) for name, file in sources.chosen(options).items()}
    # A file with only two columns has no words: its first column has the gold tags.
    words = [own.words if own.num_columns > 2 else [""] * len(own.next_to_last) for own in systems.values()]
    truths = [replace(own, words=its, tags=own.next_to_last) for own, its in zip(systems.values(), words, strict=True)]
    gold = truths[0]
    for truth in truths:
        _check_words(gold, truth)
        _check_sentences(gold, truth)
        check_same("gold tag", (truth.file, truth.lines, truth.tags), (gold.file, gold.lines, gold.tags))
    _check_guesses(gold, systems.values())
    return partial(evaluate_tags, gold, systems)


def _check_sentences(gold: Tokens, other: Tokens) -> None:
    different = np.setxor1d(gold.sentences, other.sentences)
    if different.size:
        first = int(different[0])
        does, expected = ("starts", "does not") if first in other.sentences else ("does not start", "does")
        raise InputError(
            f"{other.line_of(first)}: a sentence {does} here, but in {gold.file} it {expected} (line "
            f"{gold.lines[first]}); expected empty lines at the same places"
        )


def _check_guesses(gold: Tokens, systems: Iterable[Tokens]) -> None:
    """Raise an error if no tag in the last column has a type of the gold tags.

    In this case, the last column holds other annotation, such as entities after chunks.
    """
    # For a tag without a type, the tag itself counts as its type.
    truth, *guessed = ({tag.partition("-")[2] or tag for tag in set(own.tags) - OUTSIDE} for own in (gold, *systems))
    found = set().union(*guessed)
    if truth and found and not truth & found:
        raise InputError(
            f"{gold.file}: the last column has types such as {quote(min(found))}, the one before it "
            f"{quote(min(truth))}; expected the gold tag and the guess as the last two columns; a file of gold tags "
            f"alone goes before {Hint('i')}"
        )


def looks_pairs(_: str, head: bytes) -> bool:
    """Whether the last two columns look like tags of spans (a gold tag and a guess)."""
    tokens = head_tokens(head)
    return tokens is not None and _mark_spans({*tokens.next_to_last, *tokens.tags})


def looks_gold(name: str, head: bytes) -> bool:
    """Whether the file has columns, and also a sign of tagged tokens.

    Signs are several sentences, documents, an ending such as .conll, or tags of spans.
    """
    tokens = head_tokens(head)
    if tokens is None:
        return False
    divided = len(tokens.sentences) > 1 or tokens.documents is not None
    return divided or PurePath(name).suffix in _ENDINGS or _mark_spans({*tokens.tags})


def _mark_spans(tags: set[str]) -> bool:
    """Whether all `tags` are tags of spans, and some of them have a type."""
    return all(map(_CHUNK_TAG.fullmatch, tags)) and any("-" in tag for tag in tags)


read_gold = partial(read_tagged, lambda file, _: parse_columns(file, read_text(file)), (_check_sentences,))


COLUMN = "NE-COARSE-LIT"
WORD, NOTES, END = "TOKEN", "MISC", "EndOfSentence"
_HIPE_DOCUMENT = "document_id"


def parse_hipe(file: str, text: str, column: str = COLUMN) -> Tokens:
    r"""Parse a HIPE file to tokens, with the tags of one column.

    >>> text = "TOKEN\tNE-COARSE-LIT\tMISC\n# hipe2022:document_id = d\nRome\tB-LOC\tEndOfSentence\nis\t_\t_\n"
    >>> tokens = parse_hipe("t.tsv", text)
    >>> tokens.tags, tokens.sentences, tokens.documents
    (['B-loc', 'O'], array([0, 1]), ['d', 'd'])
    """
    content = text.split("\n")
    header = content[0].split("\t")
    word, tag = (_hipe_column(file, header, name) for name in (WORD, column))
    notes = header.index(NOTES) if NOTES in header else None
    words: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    sentences: list[int] = []
    breaks: list[int] = []
    documents: list[str] = []
    document, fresh, begins = "", True, True
    for line, found in enumerate(content[1:], start=2):
        plain = found.strip()
        if not plain or (plain.startswith("#") and "\t" not in plain):  # spreadsheets pad both with tabs
            fresh = True
            key, _, name = plain.partition("=")
            if name and key.rstrip().endswith(_HIPE_DOCUMENT):
                document, begins = name.lstrip(), True
            continue
        row = found.split("\t")
        if len(row) != len(header):
            raise InputError(f"{Line(file, line)}: expected {len(header)} columns as in the header, got {len(row)}")
        if fresh:
            sentences.append(len(words))
            documents.append(document)
        if begins:
            breaks.append(len(words))
        fresh, begins = notes is not None and END in row[notes].split("|"), False
        words.append(row[word])
        tags.append(row[tag])
        lines.append(line)
    if not words:
        raise InputError(f"{file}: has a header but no tokens")
    # Write types in lower case, and O for no entity.
    plain = {tag: tag[:2] + tag[2:].lower() if tag not in ("_", "-") else "O" for tag in dict.fromkeys(tags)}
    labels, tags = documents if all(documents) else None, [plain[tag] for tag in tags]
    return Tokens(file, words, tags, lines, np.array(sentences), np.array(breaks), labels)


def _hipe_column(file: str, header: list[str], name: str) -> int:
    if name not in header:
        raise InputError(f"{file}, line 1: no column {quote(name)}; {suggest(name, header, 'columns')}")
    return header.index(name)


read_hipe = partial(read_tagged, lambda file, options: parse_hipe(file, read_text(file), options.filter or COLUMN), ())
