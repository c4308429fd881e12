"""CoNLL-U: text -> arrays of words, checked as by the script of the CoNLL 2018 shared task.

Each line has ten columns between tabs: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC; an empty line follows each
sentence; comments begin with #. The range 3-4 is a multiword token, whose words follow; 8.1 is an empty node, which is
no part of the tree and left out. Every tree has one root and no cycle.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from sigjax.files.opening import decode_text
from sigjax.readers.options import show
from sigjax.records import InputError

ROOT = -1
"""The head of the root."""
_BLANKS = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_WHOLE_NUMBERS = re.compile(r"(?:[0-9]{1,9}\t)*")
_COLUMNS = 10
_UNIVERSAL = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite".split()
)
"""The features of the shared task; all others are of single languages."""
_CONTENT = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl amod "
    "conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
_FUNCTIONAL = frozenset("aux cop mark det clf case cc".split())


@dataclass(frozen=True, eq=False)
class Treebank:
    """The words and trees of a file."""

    file: str
    text: str
    """The characters of all tokens, without blanks."""
    starts: np.ndarray
    """[word] where the word's token begins in the text; words of a multiword token share its span."""
    ends: np.ndarray
    """[word] where it ends."""
    multiword: np.ndarray
    """[word] whether the word is part of a multiword token."""
    forms: Sequence[str]
    """[word]"""
    lemmas: np.ndarray
    """[word] LEMMA."""
    upos: np.ndarray
    """[word] UPOS."""
    xpos: np.ndarray
    """[word] XPOS."""
    features: np.ndarray
    """[word] the universal ones of FEATS, sorted."""
    relations: np.ndarray
    """[word] DEPREL up to the colon."""
    content: np.ndarray
    """[word] whether the relation is one of content words."""
    functional: np.ndarray
    """[word] whether the relation is one of function words, and the word is not the root."""
    heads: np.ndarray
    """[word] the word that is its head, or `ROOT`."""
    sentences: np.ndarray
    """[word] the number of its sentence, from 0."""
    lines: np.ndarray
    """[word] its line in the file, from 1."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """The lines that are neither comments nor empty, as columns."""

    file: str
    lines: np.ndarray
    sentences: np.ndarray
    ids: list[str]
    forms: list[str]
    cells: list[str]

    def refuse(self, row: SupportsIndex, reason: str) -> InputError:
        return InputError(f"{self.file}, line {self.lines[row]}: {reason}")


def parse_conllu(file: str, data: bytes) -> Treebank:
    """The words and trees of CoNLL-U data.

    Raises:
        InputError: a line without ten columns, IDs out of order, a HEAD that is no word of the sentence, a cycle, no
            root or several; the message names the line.
    """
    rows = _split_rows(file, decode_text(file, data).split("\n"))
    ranges, empty = (np.array([mark in id for id in rows.ids], dtype=bool) for mark in "-.")
    words = np.flatnonzero(~(ranges | empty))
    if not words.size:
        raise InputError(f"{file}: has no words; expected CoNLL-U")
    first = _first_words(rows, words)
    covered = _covered_words(rows, words, first, np.flatnonzero(ranges))
    is_token = ranges.copy()
    is_token[words[~covered]] = True
    tokens = np.flatnonzero(is_token)
    forms = _clean_forms(rows, tokens)
    ends = np.cumsum([len(form) for form in forms])
    token_of = (np.cumsum(is_token) - 1)[words]  # the words of a range follow it at once
    sentences, heads = rows.sentences[words], _heads(rows, words, first)
    relations = [cell.partition(":")[0] for cell in _column(rows, 7, words)]
    return Treebank(
        file=file,
        text="".join(forms),
        starts=np.append(0, ends)[token_of],
        ends=ends[token_of],
        multiword=covered,
        forms=[rows.forms[row] for row in words],
        lemmas=_column(rows, 2, words),
        upos=_column(rows, 3, words),
        xpos=_column(rows, 4, words),
        features=_universal(_column(rows, 5, words)),
        relations=np.array(relations, dtype=object),
        content=np.array([each in _CONTENT for each in relations]),
        functional=np.array([each in _FUNCTIONAL for each in relations]) & (heads != ROOT),
        heads=heads,
        sentences=sentences,
        lines=rows.lines[words],
    )


def _split_rows(file: str, lines: list[str]) -> _Rows:
    """The rows of all sentences; each has ten columns."""
    places = [i for i, line in enumerate(lines) if line and line[0] != "#"]
    for i in places:
        if lines[i].count("\t") != _COLUMNS - 1:
            found = lines[i].count("\t") + 1
            raise InputError(f"{file}, line {i + 1}: expected {_COLUMNS} columns between tabs, got {found}")
    empty = [i for i, line in enumerate(lines) if not line]
    cells = "\t".join([lines[i] for i in places]).split("\t") if places else []
    _, sentences = np.unique(np.searchsorted(np.array(empty, int), places), return_inverse=True)
    return _Rows(file, np.array(places, int) + 1, sentences, cells[0::_COLUMNS], cells[1::_COLUMNS], cells)


def _column(rows: _Rows, number: int, words: np.ndarray) -> np.ndarray:
    """The cells `[word]` of a column."""
    return np.array(rows.cells[number::_COLUMNS], dtype=object)[words]


def _universal(cells: np.ndarray) -> np.ndarray:
    """The universal features `[word]` of cells such as Number=Sing|Typo=Yes."""
    kept = {
        cell: "|".join(sorted(each for each in cell.split("|") if each.partition("=")[0] in _UNIVERSAL))
        for cell in set(cells)
    }
    return np.array([kept[cell] for cell in cells], dtype=object)


def _whole_numbers(rows: _Rows, words: np.ndarray, cells: Sequence[str], name: str) -> np.ndarray:
    """Cells `[word]` as numbers."""
    if not _WHOLE_NUMBERS.fullmatch("\t".join([*cells, ""])):
        wrong = next(i for i, cell in enumerate(cells) if not _WHOLE_NUMBERS.fullmatch(cell + "\t"))
        raise rows.refuse(words[wrong], f"expected a whole number as {name}, got {show(cells[wrong])}")
    return np.fromiter(map(int, cells), np.int64, len(cells))


def _first_words(rows: _Rows, words: np.ndarray) -> np.ndarray:
    """The first word `[word]` of each word's sentence; IDs count from there."""
    numbers = _whole_numbers(rows, words, [rows.ids[row] for row in words], "ID")
    sentences = rows.sentences[words]
    first = np.searchsorted(sentences, sentences)
    expected = np.arange(len(words)) - first + 1
    wrong = np.flatnonzero(numbers != expected)
    if wrong.size:
        i = wrong[0]
        raise rows.refuse(words[i], f"expected the ID {expected[i]}, got {numbers[i]}; an empty line ends a sentence")
    return first


def _covered_words(rows: _Rows, words: np.ndarray, first: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Which words `[word]` are part of a multiword token."""
    covered = np.zeros(len(words), bool)
    sentences = rows.sentences[words]
    for row in ranges:
        match = _RANGE.fullmatch(rows.ids[row])
        low, high = map(int, match.groups()) if match else (1, 0)
        following = int(np.searchsorted(words, row))
        beyond = following + high - low
        if low > high or beyond >= len(words) or sentences[beyond] != rows.sentences[row]:
            raise rows.refuse(row, f"expected a range of the words that follow, such as 3-4, got {show(rows.ids[row])}")
        if covered[following] or following - first[following] + 1 != low:
            raise rows.refuse(
                row, f"the range {show(rows.ids[row])} must stand before its first word, in no other range"
            )
        covered[following : beyond + 1] = True
    return covered


def _clean_forms(rows: _Rows, tokens: np.ndarray) -> list[str]:
    """FORM of each token without blanks, which only one side may write."""
    forms = [rows.forms[row] for row in tokens]
    if _BLANKS.search("".join(forms)):
        forms = [_BLANKS.sub("", form) for form in forms]
    if not all(forms):
        raise rows.refuse(tokens[forms.index("")], "expected a FORM, got nothing")
    return forms


def _heads(rows: _Rows, words: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The head `[word]` of each word; every sentence must be a tree."""
    heads = _whole_numbers(rows, words, _column(rows, 6, words).tolist(), "HEAD")
    sentences = rows.sentences[words]
    sizes = np.bincount(sentences)[sentences]
    wrong = np.flatnonzero(heads > sizes)
    if wrong.size:
        i = wrong[0]
        raise rows.refuse(words[i], f"HEAD {heads[i]} is beyond the sentence, which has {sizes[i]} words")
    found = np.where(heads == 0, ROOT, first + heads - 1)
    roots = np.bincount(sentences, weights=found == ROOT)[sentences]
    wrong = np.flatnonzero(roots != 1)
    if wrong.size:
        i = wrong[0]
        raise rows.refuse(words[i], f"the sentence has {roots[i]:.0f} roots; expected one word with HEAD 0")
    above = np.append(found, ROOT)  # the root's own head is the root
    for _ in range(int(sizes.max()).bit_length()):
        above = above[above]
    wrong = np.flatnonzero(above != ROOT)
    if wrong.size:
        raise rows.refuse(words[wrong[0]], "the heads lead around in a circle; expected a tree")
    return found
