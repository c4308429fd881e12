r"""Tagged tokens in columns: conlleval's files (gold and guess in one), gold and tagged files, and those of MBT.

There is one token per line, and an empty line after each sentence; `<utt>` (MBT) ends a sentence too. Columns are
separated by tabs where the first token's line has tabs and no blank in its last column, else by runs of blanks and
tabs. All lines of a file have the same number of columns. A line `-DOCSTART-` starts a document. Lines that begin with
`# ` are comments if they have another number of columns than tokens, or hold `=` (`# id = 3`, `# id x domain=en`).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from sigjax.files.opening import read_text
from sigjax.readers.formats import Format, Reading, Sources, looks_like
from sigjax.readers.options import Options, show
from sigjax.readers.tagging.spans import OUTSIDE
from sigjax.readers.tagging.tokens import (
    TAG_METRICS,
    TAG_OPTIONS,
    Tokens,
    check_words,
    evaluate_tags,
    first_difference,
    read_tagged,
)
from sigjax.records import InputError

_DOCUMENT, _UTTERANCE = "-DOCSTART-", "<utt>"
_ENDINGS = (".conll", ".iob", ".tags")
_CHUNK_TAG = re.compile(r"[OBIESLUM]|[BIESLUM]-\S+")


class Columns(NamedTuple):
    """The columns of one file that tagging needs."""

    tokens: Tokens
    """With the first column as words and the last as tags."""
    gold: Sequence[str]
    """[token] the last column but one."""
    width: int
    """How many columns there are."""

    def gold_tokens(self) -> Tokens:
        """The tokens with their gold tags; without words where these are the first column."""
        words = self.tokens.words if self.width > 2 else [""] * len(self.gold)
        return replace(self.tokens, words=words, tags=self.gold)


def parse_columns(file: str, text: str) -> Columns:
    r"""The tokens of a file of at least two columns.

    Example:
        >>> tokens = parse_columns("t", "a O\nb B-X\n\n\nc O\n").tokens
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
            width = _first_width(file, line, row)
        if len(row) != width:
            raise InputError(f"{file}, line {line}: expected {width} columns as on line {lines[0]}, got {len(row)}")
        if fresh:
            sentences.append(len(words))
            documents.append(str(document))
            fresh = False
        # Rows are not kept: many small lists are slow to collect.
        words.append(row[0])
        gold.append(row[-2])
        tags.append(row[-1])
        lines.append(line)
    if not words:
        raise InputError(f"{file}: has no tokens; expected one token and its tag per line")
    starts, marked = np.array(sentences), documents[-1] != "0"
    return Columns(Tokens(file, words, tags, lines, starts, starts, documents if marked else None), gold, width)


def _comments(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that are comments: # is a token, too."""
    marked = {number: line for number, line in enumerate(lines, start=1) if line.startswith("# ")}
    plain = (line for line in lines if line and not line.startswith(("#", _DOCUMENT)) and len(split_blanks(line)) > 1)
    token = next(plain, "") if marked else ""
    if not token:
        return set()
    split = _splitter(token)
    width = len(split(token))
    return {number for number, line in marked.items() if len(row := split(line)) != width or "=" in "".join(row[1:])}


def head_columns(head: bytes) -> Columns | None:
    """The columns of the first whole lines of a file; None where there are none."""
    whole = head[: head.rfind(b"\n") + 1] or head
    try:
        return parse_columns("", whole.decode("utf-8", "replace").replace("\r", ""))
    except InputError:
        return None


def _splitter(line: str) -> Callable[[str], list[str]]:
    """The function that splits all lines, chosen by the first."""
    return split_blanks if " " in line.rstrip("\t ").rpartition("\t")[2].strip(" ") else _split_tabs


def _split_tabs(line: str) -> list[str]:
    """Columns between tabs, without the blanks around them."""
    fields = line.rstrip("\t ").split("\t")
    return [field.strip(" ") for field in fields] if " " in line else fields


def split_blanks(line: str) -> list[str]:
    """Columns between blanks and tabs; other white space belongs to the tokens."""
    fields = line.replace("\t", " ").strip(" ").split(" ")
    return [field for field in fields if field] if "" in fields and len(fields) > 1 else fields


def _first_width(file: str, line: int, row: Sequence[str]) -> int:
    """How many columns the first token has."""
    if len(row) < 2:
        raise InputError(
            f"{file}, line {line}: expected a token and its tag, got {show(row[0])}; for one label per line use "
            "--reader labels"
        )
    return len(row)


def _read_pairs(sources: Sources, options: Options) -> Reading:
    """Gold and guess are the last two columns of each file."""
    gold, systems = None, {}
    for name, file in sources.chosen(options).items():
        columns = parse_columns(file, read_text(file))
        truth = columns.gold_tokens()
        gold = gold or truth
        for check in (check_words, _check_sentences, _check_tags):
            check(gold, truth)
        systems[name] = columns.tokens
    assert gold is not None
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


def _check_tags(gold: Tokens, other: Tokens) -> None:
    first = first_difference(other.tags, gold.tags)
    if first is not None:
        raise InputError(
            f"{other.line_of(first)}: gold tag {show(other.tags[first])}, but {show(gold.tags[first])} on line "
            f"{gold.lines[first]} of {gold.file}; expected the gold tags in the last but one column of every file"
        )


def _check_guesses(gold: Tokens, systems: Iterable[Tokens]) -> None:
    """Refuse last columns of other annotation, such as entities after chunks: they share no type with the gold tags."""
    # Tags without types count as their own.
    truth, *guessed = (
        {tag.partition("-")[2] or tag for tag in set(tokens.tags) - OUTSIDE} for tokens in (gold, *systems)
    )
    found = set().union(*guessed)
    if truth and found and not truth & found:
        raise InputError(
            f"{gold.file}: the last column has types such as {show(min(found))}, the one before it {show(min(truth))}; "
            "expected the gold tag and the guess as the last two columns; a file of gold tags alone goes before -i"
        )


def _looks_pairs(_: str, head: bytes) -> bool:
    columns = head_columns(head)
    return columns is not None and _mark_spans({*columns.gold, *columns.tokens.tags})


def _looks_gold(name: str, head: bytes) -> bool:
    columns = head_columns(head)
    if columns is None:
        return False
    tokens = columns.tokens
    divided = len(tokens.sentences) > 1 or tokens.documents is not None
    return divided or PurePath(name).suffix in _ENDINGS or _mark_spans({*tokens.tags})


def _mark_spans(tags: set[str]) -> bool:
    """Whether these are tags of spans, some with a type."""
    return all(map(_CHUNK_TAG.fullmatch, tags)) and any("-" in tag for tag in tags)


_read_gold = partial(read_tagged, lambda file, _: parse_columns(file, read_text(file)).tokens, (_check_sentences,))
CONLL = Format(
    "conll",
    "tagged tokens, gold and guess as the last columns",
    "systems",
    _read_pairs,
    _looks_pairs,
    TAG_METRICS,
    TAG_OPTIONS,
)
_gold_tokens = partial(Format, options=TAG_OPTIONS | {"tolerant"}, certain=False)
CONLL_GOLD = _gold_tokens(
    "conll-gold", "tagged tokens, the tag as the last column", "gold", _read_gold, _looks_gold, TAG_METRICS
)
MBT = _gold_tokens(
    "mbt",
    "tagged tokens, <utt> after a sentence",
    "gold",
    _read_gold,
    looks_like(rb"(?m)^<utt>\s*$"),
    ("accuracy", *TAG_METRICS[:-1]),
)
