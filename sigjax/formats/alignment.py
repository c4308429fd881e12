"""Word alignments: counts of links from a gold file and one file per system, in the format Pharaoh (TALP) or NAACL.

A Pharaoh file has one line per sentence, with links such as `0-0 2-1 3p3` (source-target). A p or ? instead of - marks
a link that is only possible. A NAACL file has one line per link, such as `0001 1 1 S 0.9`: sentence, source and target
(counted from 1), then a letter (S for sure or P for possible) and a confidence. The letter and the confidence may be
missing. Links to word 0 (NULL) are left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.readers.join import Reading, Sheet, Sources, join_sheets
from sigjax.readers.options import Options, quote, suggest
from sigjax.records import InputError, Line
from sigjax.run.files import read_text

_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")
_LINKS = re.compile(r"(?:[0-9]{1,9}+[-p?][0-9]{1,9}+(?=\s|\Z)|\s)*+", re.ASCII)
_NAACL = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SsPp]))?(?:\s+([-+]?[0-9.][-+.eE0-9]*))?\s*")
_TOKEN = re.compile(r"\S+", re.ASCII)
_NO_SIGNS = str.maketrans("-p?", "   ")
_INPUTS = ("sure_matched", "possible_matched", "predicted", "sure")
_BITS = 16
_WORD = 2**_BITS - 1
"""Largest position of a word in a sentence; positions take `_BITS` bits."""
_MOST_SENTENCES = 2**20
"""Largest sentence number in a NAACL file. A larger number raises an error, because some arrays have an element for
each number and would become too large."""
_MOST_LACKING = 10
"""Limit for the number of sentences of a gold file without links: this number, or a tenth of all sentences if that is
larger. Above the limit, a sentence number must be wrong."""


@dataclass(frozen=True, eq=False)
class _Links:
    keys: np.ndarray
    """`[link]` int64: sentence, source and target (each from 0), packed into the bits of one number."""
    is_sure: np.ndarray
    """`[link]` bool: whether the link is sure, not only possible."""
    lines: np.ndarray
    """`[link]` int64: the line number in the file."""
    num_sentences: int | None
    """Number of sentences; None for a NAACL file, which need not mention every sentence."""

    @property
    def last_sentence(self) -> int:
        """The number (from 1) of the last sentence with a link."""
        return int((self.keys >> 2 * _BITS).max(initial=-1)) + 1


def read_alignment(sources: Sources, options: Options) -> Reading:
    """Read word alignments as counts of links per sentence, or per link with `unit="response"`."""
    gold_file, files = sources.gold(), sources.chosen(options)
    swapped, one_based = _swapped(sources, options.parameters.get("swap", ())), options.has("one_based")
    gold = _parse(gold_file, one_based=one_based)
    num_sentences = gold.num_sentences or gold.last_sentence
    sure, possible = np.unique(gold.keys[gold.is_sure]), np.unique(gold.keys)
    if not sure.size:
        raise InputError(f"{gold_file}: has no sure links; expected some to compare with")
    links, notes = {}, [*_check_numbering(gold_file, gold)]
    for name, file in files.items():
        system = _parse(file, one_based=one_based)
        _check_length(file, system, gold_file, num_sentences)
        if gold.is_sure.all() and not system.is_sure.all():
            notes.append(f"{file} has links that are only possible, but the gold standard has none: are they swapped?")
        links[name] = np.unique(_transposed_links(system.keys) if name in swapped else system.keys)
        notes += _reading_notes(name, links[name], possible, options)
    instances = np.unique(np.concatenate([sure, *links.values()])) if options.unit == "response" else None
    ids = None
    if instances is not None:
        ids = [f"{(key >> 2 * _BITS) + 1}: {key >> _BITS & _WORD}-{key & _WORD}" for key in instances.tolist()]
    sheets = []
    for name, own in links.items():
        counted = (_common_links(own, sure), _common_links(own, possible), own, sure)
        numbers = {name: _count(each, instances, num_sentences) for name, each in zip(_INPUTS, counted, strict=True)}
        sheets.append(Sheet(name, files[name], numbers, ids=ids))
    return join_sheets(sheets, options, notes=tuple(notes))


def _count(keys: np.ndarray, instances: np.ndarray | None, num_sentences: int) -> np.ndarray:
    """Return how many of the links `keys` are in each sentence.

    If `instances` (links) are given, return for each instance 1 if it is among `keys`, else 0. A link is packed into
    one number.
    """
    rows = keys >> 2 * _BITS if instances is None else np.searchsorted(instances, keys)
    return np.bincount(rows, minlength=num_sentences if instances is None else len(instances)).astype(np.float64)


def _swapped(sources: Sources, names: Sequence[str]) -> frozenset[str]:
    """Return the systems whose files have target-source pairs: `names`, or all systems if `names` is ["all"]."""
    if list(names) == ["all"]:
        return frozenset(sources.systems)
    for name in names:
        if name not in sources.systems:
            raise InputError(f"swap={name}: no system {quote(name)}; {suggest(name, sources.systems, 'systems')}")
    return frozenset(names)


def _check_length(file: str, system: _Links, gold_file: str, num_sentences: int) -> None:
    if system.num_sentences is not None and system.num_sentences != num_sentences:
        raise InputError(
            f"{file}: has {system.num_sentences} lines, but {gold_file} has {num_sentences} sentences; expected one "
            "line per sentence (empty where there are no links)"
        )
    if system.last_sentence > num_sentences:
        raise InputError(
            f"{file}: has links in sentence {system.last_sentence}, but {gold_file} has {num_sentences} sentences; "
            "expected links of those only"
        )


def _transposed_links(keys: np.ndarray) -> np.ndarray:
    """Exchange source and target in each of the links `keys`, which are packed into one number each."""
    return (keys >> 2 * _BITS << 2 * _BITS) | ((keys & _WORD) << _BITS) | (keys >> _BITS & _WORD)


def _common_links(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the links in `keys` that are also in `known`; no link may occur twice in either."""
    return keys[np.isin(keys, known, assume_unique=True)]


def _reading_notes(name: str, keys: np.ndarray, possible: np.ndarray, options: Options) -> list[str]:
    """Return notes if a system's links agree better with the gold standard when they are read in another way.

    Other ways are to exchange source and target, and to count words from 1. `keys` are the links of the system, and
    `possible` the possible links of the gold standard, each packed into one number.
    """
    readings = {f"swap={name}": _transposed_links(keys)}
    if not options.has("one_based"):
        readings["one_based=true"] = keys[((keys >> _BITS & _WORD) > 0) & ((keys & _WORD) > 0)] - ((1 << _BITS) + 1)
    count = len(_common_links(keys, possible))
    return [
        f"system {name!r}: {better} instead of {count} links match the gold when read the other way; check the reader "
        f"alignment({parameter})"
        for parameter, reading in readings.items()
        if (better := len(_common_links(reading, possible))) > count
    ]


def _parse(file: str, *, one_based: bool) -> _Links:
    """Read the links of a file in either format; the first line shows the format.

    `one_based` says that words in Pharaoh files count from 1.
    """
    lines = read_text(file).removesuffix("\n").split("\n")
    number, first = next((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if _NAACL.fullmatch(first):
        return _parse_naacl(file, lines)
    if _LINK.fullmatch(first.split()[0]):
        return _parse_pharaoh(file, lines, one_based=one_based)
    raise InputError(
        f"{Line(file, number)}: expected links such as '0-0 2-1 3p3', or '1 4 5 S' (sentence, source, target), got "
        f"{quote(first)}"
    )


def _parse_pharaoh(file: str, lines: Sequence[str], *, one_based: bool) -> _Links:
    text = "\n".join(lines)
    if _LINKS.fullmatch(text) is None:
        number, token = next(
            (number, token)
            for number, line in enumerate(lines, start=1)
            for token in _TOKEN.findall(line)
            if not _LINK.fullmatch(token)
        )
        expected = "a link such as 0-3, or 0p3 for a possible one"
        raise InputError(f"{Line(file, number)}: expected {expected}, got {quote(token)}")
    letters = np.frombuffer(text.encode(), np.uint8)
    between = np.flatnonzero(np.isin(letters, np.frombuffer(b"-p?", np.uint8)))
    sentence = np.cumsum(letters == ord("\n"))[between]
    words = np.fromstring(text.translate(_NO_SIGNS), np.int64, sep=" ") - (1 if one_based else 0)
    keys = _keys(file, sentence + 1, sentence, words[::2], words[1::2])
    return _Links(keys, letters[between] == ord("-"), sentence + 1, len(lines))


def _parse_naacl(file: str, lines: Sequence[str]) -> _Links:
    links = []
    for number, line in [each for each in enumerate(lines, start=1) if each[1].strip()]:
        match = _NAACL.fullmatch(line)
        if match is None:
            raise InputError(
                f"{Line(file, number)}: expected a link as '1 4 5 S 0.9' (sentence, source and target from 1; S or P, "
                f"and a confidence, may be missing), got {quote(line)}"
            )
        sentence, source, target = int(match[1]), int(match[2]), int(match[3])
        if not 1 <= sentence <= _MOST_SENTENCES:
            expected = f"the number of a sentence from 1 to {_MOST_SENTENCES}"
            raise InputError(f"{Line(file, number)}: expected {expected}, got {sentence}")
        if source and target:
            links.append((number, sentence - 1, source - 1, target - 1, match[4] not in ("P", "p")))
    columns = np.array(links, np.int64).reshape(-1, 5).T
    return _Links(_keys(file, *columns[:4]), columns[4] == 1, columns[0], None)


def _keys(file: str, line: np.ndarray, sentence: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Pack sentence, source and target `[link]` into one number per link.

    Raise an error if the number of a word is out of range. `line` `[link]` is the line of each link, for the message.
    """
    wrong = np.flatnonzero((np.minimum(source, target) < 0) | (np.maximum(source, target) > _WORD))
    if wrong.size:
        i = wrong[0]
        if min(source[i], target[i]) < 0:
            raise InputError(
                f"{Line(file, int(line[i]))}: a link has word 0, but with one_based=true words count from 1"
            )
        highest = max(source[i], target[i])
        raise InputError(f"{Line(file, int(line[i]))}: a word has number {highest}; expected at most {_WORD}")
    return (sentence << 2 * _BITS) | (source << _BITS) | target


def _check_numbering(file: str, gold: _Links) -> list[str]:
    """Return a note on sentences without links, for a gold file with sentence numbers.

    If too many sentences have no links, raise an error, because a sentence number must then be wrong.
    """
    if gold.num_sentences is not None or not gold.keys.size:
        return []
    sentences, count = gold.keys >> 2 * _BITS, gold.last_sentence
    present = np.unique(sentences)
    jumps = np.diff(present, prepend=-1) - 1
    lacking, widest = count - len(present), int(jumps.argmax())
    first = int(present[widest])
    if lacking > max(_MOST_LACKING, count // 10):
        line = gold.lines[np.flatnonzero(sentences == first)[0]]
        raise InputError(
            f"{Line(file, int(line))}: sentence {first + 1} comes after {jumps[widest]} sentences without any link; "
            "expected consecutive numbers: repair it, or leave sentences that nobody annotated out of all files"
        )
    return [f"{file}: {lacking} of {count} sentences have no link, such as sentence {first}"] if lacking else []
