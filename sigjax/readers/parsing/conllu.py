"""Dependency trees in CoNLL-U: a gold file and a file a system, whose words and sentences may differ from the gold's.

An instance is a sentence of the gold standard. A word of a system belongs to the sentence of the gold word that it
stands for, else to the one that holds its first character.
"""

import os
import re

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, chosen_metric, show
from sigjax.readers.parsing.treebank import ROOT, Treebank, parse_conllu
from sigjax.readers.parsing.wordmatch import UNMATCHED, match_words
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

METRICS = ("las", "uas", "upos")
_COMMENT = re.compile(r"#\s*(?:(sent_id)\s*=|(newdoc)\b(?:\s+id\s*=)?)\s*(.*)")
_FIRST_ROW = re.compile(rb"(?:#[^\n]*\n|\n)*1(?:-\d+)?\t(?:[^\t\n]*\t){8}[^\t\n]*\n")
_EXCERPT = 20
"""Characters of a text that differs, in a message."""


def count_words(gold: Treebank, system: Treebank) -> dict[str, np.ndarray]:
    """Counts `[gold sentence]` by name: right words as las, uas and upos, and all words as predicted and gold.

    Raises:
        InputError: the texts differ.
    """
    if system.text != gold.text:
        raise _different_text(gold, system)
    found = match_words(gold, system)
    own = np.flatnonzero(found != UNMATCHED)
    other = found[own]
    right_head = np.append(found, ROOT)[system.heads[own]] == gold.heads[other]
    right = {
        "las": right_head & (system.relations[own] == gold.relations[other]),
        "uas": right_head,
        "upos": system.tags[own] == gold.tags[other],
    }
    of_character = np.searchsorted(gold.starts, system.starts, side="right") - 1
    sentences = gold.sentences[np.where(found == UNMATCHED, of_character, found)]
    size = int(gold.sentences[-1]) + 1
    counts = {name: np.bincount(sentences[own[mask.astype(bool)]], minlength=size) for name, mask in right.items()}
    counts["predicted"] = np.bincount(sentences, minlength=size)
    counts["gold"] = np.bincount(gold.sentences, minlength=size)
    return {name: values.astype(np.float64) for name, values in counts.items()}


def _different_text(gold: Treebank, system: Treebank) -> InputError:
    place = len(os.path.commonprefix([gold.text, system.text]))
    lines = [side.lines[max(int(np.searchsorted(side.starts, place, side="right")) - 1, 0)] for side in (gold, system)]
    texts = [show(side.text[place : place + _EXCERPT]) for side in (gold, system)]
    return InputError(
        f"{system.file}, line {lines[1]}: the text is not that of {gold.file}, line {lines[0]}: expected {texts[0]}, "
        f"got {texts[1]} (blanks left out); both must be of the same raw text"
    )


def _sentence_names(text: str, num_sentences: int) -> tuple[list[str] | None, list[str] | None]:
    """Names `[sentence]` by `# sent_id`, where all are there and different, and documents by `# newdoc id`."""
    ids, documents = [""] * num_sentences, [""] * num_sentences
    document, number, rows = "", 0, 0
    num_documents = 0
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


def read_conllu(sources: Sources, options: Options) -> Reading:
    """The evaluation of parsers by a gold treebank."""
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
            Sheet(system, files[system], {"tp": own[right], **own}, labels=labels, ids=ids)
            for system, own in counts.items()
        ]
        return join_sheets(sheets, options)(options)

    return evaluate


def _looks_conllu(name: str, head: bytes) -> bool:
    return name.endswith(".conllu") or _FIRST_ROW.match(head.replace(b"\r", b"")) is not None


CONLLU = Format("conllu", "dependency trees, CoNLL-U", "gold", read_conllu, _looks_conllu, METRICS)
