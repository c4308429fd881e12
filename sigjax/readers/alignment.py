"""Word alignments: a gold file and a file a system, as Pharaoh (also called TALP) or NAACL files -> counts of links.

A Pharaoh file has a line a sentence with links such as `0-0 2-1 3p3` (source-target; p or ? instead of - for a link
that is only possible). A NAACL file has a line a link, `0001 1 1 S 0.9`: sentence, source and target from 1, then
whether it is sure (S) or possible (P), and a confidence; both may be missing, and links to word 0 (NULL) are left out.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.readers.files import decode_text, head_lines, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.options import Options, chosen_metric, select_systems, show, suggest
from sigjax.readers.responses import all_responses, join_responses, times_given
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

ALL = "all"
"""What `--swap` takes for every system."""
_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")
_NAACL = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SsPp]))?(?:\s+([-+]?[0-9.][-+.eE0-9]*))?\s*")
_LABELLED = re.compile(rb"\s*[0-9]+\s+[0-9]+\s+[0-9]+(\s+[SP](\s.*)?)?\s*")
_PHARAOH = re.compile(rb"\s*([0-9]+[-p?][0-9]+(\s+|$))*")
_LINKS = re.compile(r"(?:[0-9]{1,9}+[-p?][0-9]{1,9}+(?=\s|\Z)|\s++)*+", re.ASCII)
_TOKEN = re.compile(r"\S+", re.ASCII)
_NO_SIGNS = str.maketrans("-p?", "   ")
_BITS = 16
_WORD = 2**_BITS - 1
"""The last word of a sentence: a longer one is no sentence. Positions fit into `_BITS` bits."""
_MOST_SENTENCES = 2**20
"""A larger number of a sentence is an error in a NAACL file, and not a reason to count up to it."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """What one file holds."""

    keys: np.ndarray
    """[link] int64: sentence, source and target, each from 0, in the bits of one number."""
    is_sure: np.ndarray
    """[link]."""
    num_sentences: int | None
    """None where a file need not mention every sentence."""


def read_alignment(sources: Sources, options: Options) -> Evaluation:
    """The evaluation of word alignments by `Options.metric`, by position of the sentences."""
    if len(sources.files) != 1:
        raise InputError(f"{sources.files[1]}: expected one gold alignment before -i, got {len(sources.files)} files")
    swapped = _swapped(sources, options.swap)
    gold_file = sources.files[0]
    gold = parse_alignment(gold_file, one_based=options.one_based)
    num_sentences = gold.num_sentences or _last(gold)
    sure, possible = np.unique(gold.keys[gold.is_sure]), np.unique(gold.keys)
    if not sure.size:
        raise InputError(f"{gold_file}: has no sure links; expected some to compare with")
    links, notes = {}, []
    for name, file in sources.systems.items():
        system = parse_alignment(file, one_based=options.one_based)
        _check_length(file, system, gold_file, num_sentences)
        links[name] = own = np.unique(_turned(system.keys) if name in swapped else system.keys)
        if options.systems is None or name in options.systems:
            notes += _doubts(name, own, possible, options)
    if options.unit == "response":
        names = select_systems(gold_file, list(links), options.systems)
        files, chosen = {name: sources.systems[name] for name in names}, {name: links[name] for name in names}
        return join_responses(_link_sheets(files, chosen, sure, possible), options, notes=tuple(notes))
    sheets = []
    for name, own in links.items():
        numbers = {
            "sure_matched": _by_sentence(own[_among(own, sure)], num_sentences),
            "possible_matched": _by_sentence(own[_among(own, possible)], num_sentences),
            "predicted": _by_sentence(own, num_sentences),
            "sure": _by_sentence(sure, num_sentences),
        }
        sheets.append(Sheet(name, sources.systems[name], numbers))
    return join_sheets(sheets, chosen_metric(options), options, notes=tuple(notes))


def _link_sheets(
    files: Mapping[str, str], links: Mapping[str, np.ndarray], sure: np.ndarray, possible: np.ndarray
) -> list[Sheet]:
    """A sheet a system whose rows are links: those of the systems, and the sure ones."""
    given = {name: Counter(own.tolist()) for name, own in links.items()}
    keys = all_responses((*given.values(), sure.tolist()))
    is_sure, is_possible = (times_given(keys, Counter(each.tolist())) for each in (sure, possible))
    ids = [f"{(key >> 2 * _BITS) + 1}: {key >> _BITS & _WORD}-{key & _WORD}" for key in keys]
    sheets = []
    for name, file in files.items():
        own = times_given(keys, given[name])
        numbers = {"sure_matched": own * is_sure, "possible_matched": own * is_possible}
        sheets.append(Sheet(name, file, numbers | {"predicted": own, "sure": is_sure}, ids=ids))
    return sheets


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
    return Alignment(keys, letters[between] == ord("-"), len(lines))


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
    return Alignment(_keys(file, *columns[:4]), columns[4] == 1, None)


def _keys(file: str, line: np.ndarray, sentence: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """One number for each link, all `[link]`; what is no word of a sentence is refused."""
    wrong = np.flatnonzero((np.minimum(source, target) < 0) | (np.maximum(source, target) > _WORD))
    if wrong.size:
        i = wrong[0]
        if min(source[i], target[i]) < 0:
            raise InputError(f"{file}, line {line[i]}: a link has word 0, but with --one-based words count from 1")
        raise InputError(
            f"{file}, line {line[i]}: a word has number {max(source[i], target[i])}; expected at most {_WORD}"
        )
    return (sentence << 2 * _BITS) | (source << _BITS) | target


def _swapped(sources: Sources, names: Sequence[str]) -> frozenset[str]:
    """The systems whose files hold target-source pairs."""
    if list(names) == [ALL]:
        return frozenset(sources.systems)
    for name in names:
        if name not in sources.systems:
            raise InputError(f"--swap: no system {show(name)}; {suggest(name, sources.systems, 'systems')}")
    return frozenset(names)


def _last(alignment: Alignment) -> int:
    """The number of sentences up to the last that has a link."""
    return int((alignment.keys >> 2 * _BITS).max(initial=-1)) + 1


def _check_length(file: str, system: Alignment, gold_file: str, num_sentences: int) -> None:
    if system.num_sentences is not None and system.num_sentences != num_sentences:
        raise InputError(
            f"{file}: has {system.num_sentences} lines, but {gold_file} has {num_sentences} sentences; expected one "
            "line a sentence (empty where there are no links)"
        )
    if _last(system) > num_sentences:
        raise InputError(
            f"{file}: has links in sentence {_last(system)}, but {gold_file} has {num_sentences} sentences; expected "
            "links of those only"
        )


def _turned(keys: np.ndarray) -> np.ndarray:
    """Links with source and target exchanged."""
    return (keys >> 2 * _BITS << 2 * _BITS) | ((keys & _WORD) << _BITS) | (keys >> _BITS & _WORD)


def _among(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which links `[link]` are among others, which are sorted and not empty."""
    return known[np.minimum(np.searchsorted(known, keys), known.size - 1)] == keys


def _by_sentence(keys: np.ndarray, num_sentences: int) -> np.ndarray:
    """How many of some links each sentence has, `[sentence]`."""
    return np.bincount(keys >> 2 * _BITS, minlength=num_sentences).astype(np.float64)


def _doubts(name: str, keys: np.ndarray, possible: np.ndarray, options: Options) -> list[str]:
    """What to say of links that agree better with the gold when they are read in another way."""
    readings = {"--swap": _turned(keys)}
    if not options.one_based:
        readings["--one-based"] = keys[((keys >> _BITS & _WORD) > 0) & ((keys & _WORD) > 0)] - ((1 << _BITS) + 1)
    count = np.count_nonzero(_among(keys, possible))
    return [
        f"system {name!r}: {better} instead of {count} links match the gold when read the other way; check {option}"
        for option, reading in readings.items()
        if (better := np.count_nonzero(_among(reading, possible))) > count
    ]


def _looks(name: str, head: bytes) -> bool:
    """Whether all of the first lines are links of one kind."""
    lines = head_lines(head)
    return bool(lines) and any(all(kind.fullmatch(line) for line in lines) for kind in (_LABELLED, _PHARAOH))


ALIGNMENT = Format(
    "alignment",
    "word alignments, Pharaoh (TALP) or NAACL",
    "gold",
    read_alignment,
    _looks,
    metrics=("aer", "alignment-precision", "alignment-recall"),
    options=frozenset({"swap", "one_based", "unit"}),
)
