"""Word alignments of one file, as Pharaoh (also called TALP) or NAACL: text -> links.

A Pharaoh file has a line a sentence with links such as `0-0 2-1 3p3` (source-target; p or ? instead of - for a link
that is only possible). A NAACL file has a line a link, `0001 1 1 S 0.9`: sentence, source and target from 1, then
whether it is sure (S) or possible (P), and a confidence; both may be missing, and links to word 0 (NULL) are left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.options import show
from sigjax.records import InputError

_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")
_NAACL = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SsPp]))?(?:\s+([-+]?[0-9.][-+.eE0-9]*))?\s*")
_LINKS = re.compile(r"(?:[0-9]{1,9}+[-p?][0-9]{1,9}+(?=\s|\Z)|\s++)*+", re.ASCII)
_TOKEN = re.compile(r"\S+", re.ASCII)
_NO_SIGNS = str.maketrans("-p?", "   ")
BITS = 16
WORD = 2**BITS - 1
"""The last word of a sentence: a longer one is no sentence. Positions fit into `BITS` bits."""
_MOST_SENTENCES = 2**20
"""A larger number of a sentence is an error in a NAACL file, and not a reason to count up to it."""
_MOST_LACKING = 10
"""Sentences without links that a gold file may have, or a tenth of all: more come from a wrong number."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """What one file holds."""

    keys: np.ndarray
    """[link] int64: sentence, source and target, each from 0, in the bits of one number."""
    is_sure: np.ndarray
    """[link]."""
    lines: np.ndarray
    """[link] int64: the line of the file."""
    num_sentences: int | None
    """None where a file need not mention every sentence."""


def parse_alignment(file: str, *, one_based: bool) -> Alignment:
    """A file of either kind, which its first line tells; `one_based` is about Pharaoh files."""
    lines = decode_text(file, read_bytes(file)).removesuffix("\n").split("\n")
    number, first = next((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    is_naacl = _NAACL.fullmatch(first) is not None
    if not is_naacl and not _LINK.fullmatch(first.split()[0]):
        raise InputError(
            f"{file}, line {number}: expected links such as '0-0 2-1 3p3', or '1 4 5 S' (sentence, source, target), "
            f"got {show(first)}"
        )
    return _naacl_links(file, lines) if is_naacl else _pharaoh_links(file, lines, one_based=one_based)


def _pharaoh_links(file: str, lines: Sequence[str], *, one_based: bool) -> Alignment:
    text = "\n".join(lines)
    if _LINKS.fullmatch(text) is None:
        number, token = next(
            (number, token)
            for number, line in enumerate(lines, start=1)
            for token in _TOKEN.findall(line)
            if not _LINK.fullmatch(token)
        )
        raise InputError(
            f"{file}, line {number}: expected a link such as 0-3, or 0p3 for a possible one, got {show(token)}"
        )
    letters = np.frombuffer(text.encode(), np.uint8)
    between = np.flatnonzero(np.isin(letters, np.frombuffer(b"-p?", np.uint8)))
    sentence = np.cumsum(letters == ord("\n"))[between]
    words = np.fromstring(text.translate(_NO_SIGNS), np.int64, sep=" ") - (1 if one_based else 0)
    keys = _keys(file, sentence + 1, sentence, words[::2], words[1::2])
    return Alignment(keys, letters[between] == ord("-"), sentence + 1, len(lines))


def _naacl_links(file: str, lines: Sequence[str]) -> Alignment:
    links = []
    for number, line in enumerate(lines, start=1):
        match = _NAACL.fullmatch(line)
        if match is None:
            if not line.strip():
                continue
            raise InputError(
                f"{file}, line {number}: expected a link as '1 4 5 S 0.9' (sentence, source and target from 1; S or P, "
                f"and a confidence, may be missing), got {show(line)}"
            )
        sentence, source, target = int(match[1]), int(match[2]), int(match[3])
        if not 1 <= sentence <= _MOST_SENTENCES:
            raise InputError(
                f"{file}, line {number}: expected the number of a sentence from 1 to {_MOST_SENTENCES}, got {sentence}"
            )
        if source and target:
            links.append((number, sentence - 1, source - 1, target - 1, match[4] not in ("P", "p")))
    columns = np.array(links, np.int64).reshape(-1, 5).T
    return Alignment(_keys(file, *columns[:4]), columns[4] == 1, columns[0], None)


def _keys(file: str, line: np.ndarray, sentence: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """One number for each link, all `[link]`; what is no word of a sentence is refused."""
    wrong = np.flatnonzero((np.minimum(source, target) < 0) | (np.maximum(source, target) > WORD))
    if wrong.size:
        i = wrong[0]
        if min(source[i], target[i]) < 0:
            raise InputError(f"{file}, line {line[i]}: a link has word 0, but with --one-based words count from 1")
        raise InputError(
            f"{file}, line {line[i]}: a word has number {max(source[i], target[i])}; expected at most {WORD}"
        )
    return (sentence << 2 * BITS) | (source << BITS) | target


def last_sentence(alignment: Alignment) -> int:
    """The number of sentences up to the last that has a link."""
    return int((alignment.keys >> 2 * BITS).max(initial=-1)) + 1


def check_numbering(file: str, gold: Alignment) -> tuple[str, ...]:
    """Notes on the numbers of sentences in a gold file that may be wrong, where a file has such numbers.

    Raises:
        InputError: more than a tenth of the sentences up to the last have no link.
    """
    if gold.num_sentences is not None or not gold.keys.size:
        return ()
    sentences = gold.keys >> 2 * BITS
    present, count = np.unique(sentences), last_sentence(gold)
    jumps = np.diff(present, prepend=-1) - 1
    lacking = count - len(present)
    widest = int(jumps.argmax())
    first = int(present[widest])
    if lacking > max(_MOST_LACKING, count // 10):
        line = gold.lines[np.flatnonzero(sentences == first)[0]]
        raise InputError(
            f"{file}, line {line}: sentence {first + 1} comes after {jumps[widest]} sentences without any link; "
            "expected consecutive numbers: repair it, or leave sentences that nobody annotated out of all files"
        )
    notes = ()
    if lacking:
        notes += (f"{file}: {lacking} of {count} sentences have no link, such as sentence {first}",)
    before, here, after = sentences[:-2], sentences[1:-1], sentences[2:]
    odd = 1 + np.flatnonzero((before <= after) & ((here < before) | (here > after)))
    # Where many are out of order, the file is not sorted.
    if 0 < len(odd) <= max(1, len(sentences) // 100):
        i = odd[0]
        between = f"between links of {sentences[i - 1] + 1} and {sentences[i + 1] + 1}"
        notes += (f"{file}, line {gold.lines[i]}: a link of sentence {sentences[i] + 1} stands {between}; check it",)
    return notes
