r"""Files with a token a line and columns between blanks or tabs; sentences end at an empty line.

Columns are between tabs where the first line of a token has tabs and its last column has no blanks, else between runs
of blanks and tabs. All lines of a file have as many columns. A line `-DOCSTART-` is no token: it starts a document. A
line `<utt>` (MBT) ends a sentence too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.options import show
from sigjax.readers.tagging.tokens import Tokens, document_labels
from sigjax.records import InputError

DOCUMENT, UTTERANCE = "-DOCSTART-", "<utt>"


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of one file that tagging needs."""

    file: str
    words: Sequence[str]
    """[token] the first column."""
    gold: Sequence[str]
    """[token] the last column but one."""
    tags: Sequence[str]
    """[token] the last column."""
    width: int
    """How many columns there are."""
    lines: Sequence[int]
    """[token]."""
    sentences: np.ndarray
    """[sentence] its first token."""
    documents: Sequence[str] | None
    """[sentence]."""

    def tokens(self, tags: Sequence[str], *, words: bool = True) -> Tokens:
        """The tokens with one of the columns of tags; without words where their column holds tags."""
        first = self.words if words else [""] * len(self.words)
        return Tokens(self.file, first, tags, self.lines, self.sentences, self.sentences, self.documents)


def read_columns(file: str) -> Columns:
    """The tokens of a file of at least two columns."""
    return parse_columns(file, decode_text(file, read_bytes(file)))


def parse_columns(file: str, text: str) -> Columns:
    r"""As `read_columns`, of text.

    Example:
        >>> found = parse_columns("t", "a O\nb B-X\n\n\nc O\n")
        >>> found.words, found.tags, found.lines, found.sentences
        (['a', 'b', 'c'], ['O', 'B-X', 'O'], [1, 2, 5], array([0, 2]))
    """
    words: list[str] = []
    gold: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    sentences: list[int] = []
    numbers: list[int] = []
    split, width, document, fresh = split_blanks, 0, 0, True
    for line, content in enumerate(text.split("\n"), start=1):
        row = split(content)
        if len(row) < 2 and row[0] in ("", UTTERANCE):
            fresh = True
            continue
        if row[0] == DOCUMENT:
            document, fresh = document + 1, True
            continue
        if not words:
            split = splitter(content)
            row = split(content)
            width = _first_width(file, line, row)
        if len(row) != width:
            raise InputError(f"{file}, line {line}: expected {width} columns as on line {lines[0]}, got {len(row)}")
        if fresh:
            sentences.append(len(words))
            numbers.append(document)
            fresh = False
        # Rows are not kept: many small lists are slow to collect.
        words.append(row[0])
        gold.append(row[-2])
        tags.append(row[-1])
        lines.append(line)
    if not words:
        raise InputError(f"{file}: has no tokens; expected a token and its tag a line")
    return Columns(file, words, gold, tags, width, lines, np.array(sentences), document_labels(numbers))


def head_columns(head: bytes) -> Columns | None:
    """The columns of the first whole lines of a file; None where they are no columns."""
    whole = head[: head.rfind(b"\n") + 1] or head
    try:
        return parse_columns("", whole.decode("utf-8", "replace").replace("\r", ""))
    except InputError:
        return None


def splitter(line: str) -> Callable[[str], list[str]]:
    """What splits the lines of a file into columns, found from the first."""
    tabbed = line.rstrip("\t ").split("\t")
    if len(tabbed) > 1 and " " not in tabbed[-1].strip(" "):
        return split_tabs
    return split_blanks


def split_tabs(line: str) -> list[str]:
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
            f"{file}, line {line}: expected a token and its tag, got {show(row[0])}; one label a line is read with "
            "--reader labels"
        )
    return len(row)
