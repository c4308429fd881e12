"""Word alignments: a gold file and a file a system, as Pharaoh (also called TALP) or NAACL files -> counts of links.

`links` reads a file.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sigjax.files.opening import head_lines
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, select_systems, show, suggest
from sigjax.readers.responses import all_responses, times_given
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.texts.links import BITS, WORD, Alignment, check_numbering, last_sentence, parse_alignment
from sigjax.records import InputError

ALL = "all"
"""What `--swap` takes for every system."""
_LABELLED = re.compile(rb"\s*[0-9]+\s+[0-9]+\s+[0-9]+(\s+[SP](\s.*)?)?\s*")
_PHARAOH = re.compile(rb"\s*([0-9]+[-p?][0-9]+(\s+|$))*")


def read_alignment(sources: Sources, options: Options) -> Reading:
    """The evaluation of word alignments by `Options.metric`, by position of the sentences."""
    if len(sources.files) != 1:
        raise InputError(f"{sources.files[1]}: expected one gold alignment before -i, got {len(sources.files)} files")
    swapped = _swapped(sources, options.swap)
    gold_file = sources.files[0]
    gold = parse_alignment(gold_file, one_based=options.one_based)
    num_sentences = gold.num_sentences or last_sentence(gold)
    sure, possible = np.unique(gold.keys[gold.is_sure]), np.unique(gold.keys)
    if not sure.size:
        raise InputError(f"{gold_file}: has no sure links; expected some to compare with")
    links, notes = {}, [*check_numbering(gold_file, gold)]
    for name, file in sources.systems.items():
        system = parse_alignment(file, one_based=options.one_based)
        _check_length(file, system, gold_file, num_sentences)
        if gold.is_sure.all() and not system.is_sure.all():
            notes.append(
                f"{file} tells possible links from sure ones, and the gold standard does not: are they swapped?"
            )
        links[name] = own = np.unique(_turned(system.keys) if name in swapped else system.keys)
        if options.systems is None or name in options.systems:
            notes += _doubts(name, own, possible, options)
    if options.unit == "response":
        names = select_systems(gold_file, list(links), options.systems)
        files, chosen = {name: sources.systems[name] for name in names}, {name: links[name] for name in names}
        return join_sheets(_link_sheets(files, chosen, sure, possible), options, notes=tuple(notes))
    sheets = []
    for name, own in links.items():
        numbers = {
            "sure_matched": _by_sentence(own[_among(own, sure)], num_sentences),
            "possible_matched": _by_sentence(own[_among(own, possible)], num_sentences),
            "predicted": _by_sentence(own, num_sentences),
            "sure": _by_sentence(sure, num_sentences),
        }
        sheets.append(Sheet(name, sources.systems[name], numbers))
    return join_sheets(sheets, options, notes=tuple(notes))


def _link_sheets(
    files: Mapping[str, str], links: Mapping[str, np.ndarray], sure: np.ndarray, possible: np.ndarray
) -> list[Sheet]:
    """A sheet a system whose rows are links: those of the systems, and the sure ones."""
    given = {name: Counter(own.tolist()) for name, own in links.items()}
    keys = all_responses((*given.values(), sure.tolist()))
    is_sure, is_possible = (times_given(keys, Counter(each.tolist())) for each in (sure, possible))
    ids = [f"{(key >> 2 * BITS) + 1}: {key >> BITS & WORD}-{key & WORD}" for key in keys]
    sheets = []
    for name, file in files.items():
        own = times_given(keys, given[name])
        numbers = {"sure_matched": own * is_sure, "possible_matched": own * is_possible}
        sheets.append(Sheet(name, file, numbers | {"predicted": own, "sure": is_sure}, ids=ids))
    return sheets


def _swapped(sources: Sources, names: Sequence[str]) -> frozenset[str]:
    """The systems whose files hold target-source pairs."""
    if list(names) == [ALL]:
        return frozenset(sources.systems)
    for name in names:
        if name not in sources.systems:
            raise InputError(f"--swap: no system {show(name)}; {suggest(name, sources.systems, 'systems')}")
    return frozenset(names)


def _check_length(file: str, system: Alignment, gold_file: str, num_sentences: int) -> None:
    if system.num_sentences is not None and system.num_sentences != num_sentences:
        raise InputError(
            f"{file}: has {system.num_sentences} lines, but {gold_file} has {num_sentences} sentences; expected one "
            "line a sentence (empty where there are no links)"
        )
    if last_sentence(system) > num_sentences:
        raise InputError(
            f"{file}: has links in sentence {last_sentence(system)}, but {gold_file} has {num_sentences} sentences; "
            "expected links of those only"
        )


def _turned(keys: np.ndarray) -> np.ndarray:
    """Links with source and target exchanged."""
    return (keys >> 2 * BITS << 2 * BITS) | ((keys & WORD) << BITS) | (keys >> BITS & WORD)


def _among(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which links `[link]` are among others, which are sorted and not empty."""
    return known[np.minimum(np.searchsorted(known, keys), known.size - 1)] == keys


def _by_sentence(keys: np.ndarray, num_sentences: int) -> np.ndarray:
    """How many of some links each sentence has, `[sentence]`."""
    return np.bincount(keys >> 2 * BITS, minlength=num_sentences).astype(np.float64)


def _doubts(name: str, keys: np.ndarray, possible: np.ndarray, options: Options) -> list[str]:
    """What to say of links that agree better with the gold when they are read in another way."""
    readings = {"--swap": _turned(keys)}
    if not options.one_based:
        readings["--one-based"] = keys[((keys >> BITS & WORD) > 0) & ((keys & WORD) > 0)] - ((1 << BITS) + 1)
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
