"""Dependency trees in CoNLL-U: a gold file and one file per system, whose words and sentences may be others.

An instance is a gold sentence. A word of a system belongs to the sentence of the gold word that it matches, else to the
one that holds its first character. Words match as in the CoNLL 2018 shared task: when they cover the same characters of
the text without blanks. Where multiword tokens of either side overlap, they make a stretch of text: the words within it
match by a longest common subsequence of their forms in lower case, and words that stick out of it do not match.
"""

import re
from collections.abc import Sequence

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sheet, Sources, looks_like
from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, chosen_metric, show
from sigjax.readers.parsing.treebank import ROOT, Treebank, parse_conllu
from sigjax.records import Evaluation, InputError
from sigjax.records.visible import shared_length

METRICS = ("las", "uas", "upos", "xpos", "ufeats", "alltags", "lemmas", "clas", "mlas", "blex")
_OF_CONTENT = frozenset(("clas", "mlas", "blex"))
_COMMENT = re.compile(r"#\s*(?:(sent_id)\s*=|(newdoc)\b(?:\s+id\s*=)?)\s*(.*)")
_FIRST_ROW = rb"\A(?:#[^\n]*\n|\r?\n)*1(?:-\d+)?\t(?:[^\t\n]*\t){8}[^\t\n]*\n"
_EXCERPT = 20
"""Characters of a text that differs, in a message."""
UNMATCHED = -2
"""Other than `ROOT`, so that no head is right because it is unknown."""
_LARGEST_TABLE = 2**22
"""Gold words times system words of one stretch; larger ones are no multiword tokens."""


def count_words(gold: Treebank, system: Treebank) -> dict[str, np.ndarray]:
    """Counts `[gold sentence]`: right words by the name of each metric; all words, and those with content relations.

    Raises:
        InputError: the texts differ.
    """
    if system.text != gold.text:
        raise _different_text(gold, system)
    found = match_words(gold, system)
    own = np.flatnonzero(found != UNMATCHED)
    of_character = np.searchsorted(gold.starts, system.starts, side="right") - 1
    sentences = gold.sentences[np.where(found == UNMATCHED, of_character, found)]
    counted = {name: sentences[own[right]] for name, right in _right_words(gold, system, found, own).items()}
    counted |= {"predicted": sentences, "gold": gold.sentences}
    counted |= {"content_predicted": sentences[system.content], "content_gold": gold.sentences[gold.content]}
    size = int(gold.sentences[-1]) + 1
    return {name: np.bincount(each, minlength=size).astype(np.float64) for name, each in counted.items()}


def _right_words(gold: Treebank, system: Treebank, found: np.ndarray, own: np.ndarray) -> dict[str, np.ndarray]:
    """Whether each of the matched words `own` is right, by metric."""
    other = found[own]

    def same(name: str) -> np.ndarray:
        return (getattr(system, name)[own] == getattr(gold, name)[other]).astype(bool)

    head = np.append(found, ROOT)[system.heads[own]] == gold.heads[other]
    labelled = head & same("relations")
    upos, xpos, features = map(same, ("upos", "xpos", "features"))
    lemma = same("lemmas") | (gold.lemmas[other] == "_")  # gold words without lemmas demand none
    content, tagged = labelled & gold.content[other], labelled & upos & features
    # Function words of a word match in order, so that all are right where as many are right as there are on each side.
    right = _children(system, own[tagged & gold.functional[other]])[own]
    complete = right == _children(system, np.flatnonzero(system.functional))[own]
    complete &= right == _children(gold, np.flatnonzero(gold.functional))[other]
    return {
        "las": labelled,
        "uas": head,
        "upos": upos,
        "xpos": xpos,
        "ufeats": features,
        "alltags": upos & xpos & features,
        "lemmas": lemma,
        "clas": content,
        "mlas": content & tagged & complete,
        "blex": content & lemma,
    }


def _children(side: Treebank, words: np.ndarray) -> np.ndarray:
    """How many of some words are children of each word `[word]`."""
    return np.bincount(side.heads[words], minlength=len(side.heads))


def match_words(gold: Treebank, system: Treebank) -> np.ndarray:
    """The gold word `[system word]` of each, or `UNMATCHED`; both have the same text."""
    matched = np.full(len(system.starts), UNMATCHED)
    stretches = _stretches(gold, system)
    plain_gold, plain_system = (np.flatnonzero(~_touching(side, stretches)) for side in (gold, system))
    length = len(gold.text) + 1
    keys = [side.starts[i] * length + side.ends[i] for side, i in ((gold, plain_gold), (system, plain_system))]
    _, at_gold, at_system = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    matched[plain_system[at_system]] = plain_gold[at_gold]
    for start, end in stretches.tolist():
        own, other = _within(gold, start, end), _within(system, start, end)
        if len(own) * len(other) > _LARGEST_TABLE:
            line = system.lines[other[0]]
            raise InputError(f"{system.file}, line {line}: {len(other)} words in multiword tokens that overlap")
        for i, j in common_subsequence([gold.forms[i].lower() for i in own], [system.forms[j].lower() for j in other]):
            matched[other[j]] = own[i]
    return matched


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence; of several, the one that leaves out early items of `one` first.

    Example:
        >>> common_subsequence(["in", "dem", "a"], ["dem", "in", "a"])
        [(1, 0), (2, 2)]
    """
    rest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            equal = one[i] == other[j]
            rest[i][j] = rest[i + 1][j + 1] + 1 if equal else max(rest[i + 1][j], rest[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rest[i][j] == rest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _stretches(gold: Treebank, system: Treebank) -> np.ndarray:
    """Start and end `[stretch, 2]` of the multiword tokens of both, joined where they overlap."""
    sides = [np.stack([side.starts, side.ends], axis=-1)[side.multiword] for side in (gold, system)]
    spans = np.unique(np.concatenate(sides), axis=0)
    if not len(spans):
        return spans
    reach = np.maximum.accumulate(spans[:, 1])
    fresh = np.append(True, spans[1:, 0] >= reach[:-1])
    last = np.append(np.flatnonzero(fresh)[1:] - 1, len(spans) - 1)
    return np.stack([spans[fresh, 0], reach[last]], axis=-1)


def _touching(side: Treebank, stretches: np.ndarray) -> np.ndarray:
    """Which words `[word]` share a character with a stretch."""
    before = np.searchsorted(stretches[:, 0], side.ends)
    return np.append(0, stretches[:, 1])[before] > side.starts


def _within(side: Treebank, start: int, end: int) -> range:
    """The words that lie in a stretch of text."""
    return range(int(np.searchsorted(side.starts, start)), int(np.searchsorted(side.ends, end, side="right")))


def _different_text(gold: Treebank, system: Treebank) -> InputError:
    place = shared_length([gold.text, system.text])
    lines = [side.lines[max(int(np.searchsorted(side.starts, place, side="right")) - 1, 0)] for side in (gold, system)]
    texts = [show(side.text[place : place + _EXCERPT]) for side in (gold, system)]
    return InputError(
        f"{system.file}, line {lines[1]}: the text is not that of {gold.file}, line {lines[0]}: expected {texts[0]}, "
        f"got {texts[1]} (blanks left out); both must be of the same raw text"
    )


def _sentence_names(text: str, num_sentences: int) -> tuple[list[str] | None, list[str] | None]:
    """Names `[sentence]` by `# sent_id`, if all have different ones, and documents by `# newdoc id`, if there are."""
    ids, documents = [""] * num_sentences, [""] * num_sentences
    document, number, rows, num_documents = "", 0, 0, 0
    for line in text.split("\n"):
        if line.startswith("#"):
            match = _COMMENT.match(line)
            if match and match[1]:
                ids[min(number, num_sentences - 1)] = match[3].strip()
            elif match:
                num_documents += 1
                document = match[3].strip() or str(num_documents)
        elif line:
            rows += 1
            documents[number] = document
        elif rows:
            number, rows = number + 1, 0
    unique = all(ids) and len(set(ids)) == num_sentences
    return ids if unique else None, documents if num_documents else None


def _read(sources: Sources, options: Options) -> Reading:
    file = sources.gold()
    data = read_bytes(file)
    gold = parse_conllu(file, data)
    ids, documents = _sentence_names(decode_text(file, data), int(gold.sentences[-1]) + 1)
    files = sources.chosen(options)
    counts = {name: count_words(gold, parse_conllu(path, read_bytes(path))) for name, path in files.items()}
    labels = {} if documents is None else {"document": documents}

    def evaluate(options: Options) -> Evaluation:
        name = chosen_metric(options).name
        right = name if name in METRICS else METRICS[0]
        sheets = [
            Sheet(system, files[system], _columns(own, right), labels=labels, ids=ids) for system, own in counts.items()
        ]
        return join_sheets(sheets, options)(options)

    return evaluate


def _columns(counts: dict[str, np.ndarray], metric: str) -> dict[str, np.ndarray]:
    """All counts, with those of a metric as tp, predicted and gold."""
    total = "content_" if metric in _OF_CONTENT else ""
    own = {"tp": metric, "predicted": f"{total}predicted", "gold": f"{total}gold"}
    return counts | {name: counts[key] for name, key in own.items()}


CONLLU = Format("conllu", "dependency trees, CoNLL-U", "gold", _read, looks_like(_FIRST_ROW, ending=".conllu"), METRICS)
