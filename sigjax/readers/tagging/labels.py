"""Classification: files with one label per line, the output of TiMBL and other classifiers, and term lists.

TiMBL writes one instance per line: features, the gold label and the predicted one. Term lists are those of `art.py -r`
of CLiPS, compared as sets: an instance is a term of any list, and each system says of it 0 or 1. So terms are exchanged
one by one whatever the `unit`; "response" also says that they are no sample.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.files.opening import read_text
from sigjax.metrics import CLASS_METRICS, class_metric
from sigjax.readers.formats import Format, Reading, Sheet, Sources, looks_like, read_lines
from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, chosen_metric, listing
from sigjax.readers.tables.text import looks_tabular
from sigjax.readers.tagging.conll import head_columns, split_blanks
from sigjax.readers.tagging.tokens import encode, first_difference
from sigjax.records import Evaluation, InputError

LABEL_METRICS = ("accuracy", *CLASS_METRICS, "fscore", "precision", "recall")
_MOST_NUMBERS = 2**27
"""Counts of all systems, instances and classes that fit into the memory of a small machine."""
_BLANK, _NUMBER = re.compile(r"[ \t]"), re.compile(r"[-+.\d]*")


def evaluate_labels(
    gold: Sequence[str],
    systems: Mapping[str, tuple[str, Sequence[str | None]]],
    options: Options,
    *,
    ids: Sequence[str] | None = None,
    fields: Mapping[str, Sequence[str]] | None = None,
    notes: tuple[str, ...] = (),
) -> Evaluation:
    """The evaluation of `systems`, file and labels `[instance]` by name; a label is None where a system lacks it."""
    codes: dict[str, int] = {}
    truth = encode(gold, codes)
    answers = {name: zip(labels, gold, strict=True) for name, (_, labels) in systems.items()}
    predicted = {name: encode([own or right for own, right in pairs], codes) for name, pairs in answers.items()}
    classes = dict(sorted(codes.items()))
    known = isinstance(options.metric, str) and options.metric in CLASS_METRICS
    metric = class_metric(str(options.metric), list(classes)) if known else chosen_metric(options)
    wanted = dict.fromkeys((*metric.inputs, *(options.counts or {}).values()))
    if len(systems) * len(truth) * len(wanted) > _MOST_NUMBERS:
        raise InputError(
            f"{next(iter(systems.values()))[0]}: {len(classes)} classes are too many for the metric {metric.name!r} on "
            f"{len(truth)} instances; use accuracy, or check that the labels are classes"
        )
    sheets = []
    for name, (file, labels) in systems.items():
        absent = np.array([label is None for label in labels])
        numbers = {each: _numbers(each, truth, predicted[name], classes) for each in wanted}
        known = {each: np.where(absent, np.nan, column) for each, column in numbers.items() if column is not None}
        sheets.append(Sheet(name, file, known, fields or {}, ids))
    options = replace(options, metric=metric)
    return join_sheets(sheets, options, notes=notes)(options)


def _numbers(name: str, truth: np.ndarray, predicted: np.ndarray, classes: Mapping[str, int]) -> np.ndarray | None:
    """The numbers `[instance]` of a name: value, tp and correct are whether the label is right; None if unknown."""
    kind, _, label = name.partition(":")
    if not label:
        right = {"value", "tp", "correct"}
        return predicted == truth if name in right else np.ones(len(truth)) if name in ("predicted", "gold") else None
    if label not in classes or kind not in ("correct", "predicted", "gold"):
        return None
    code = classes[label]
    return {"correct": (predicted == code) & (truth == code), "predicted": predicted == code, "gold": truth == code}[
        kind
    ]


def _read_label_files(sources: Sources, _: Options) -> Reading:
    file = sources.gold()
    gold = read_labels(file)
    systems = {name: (own, read_labels(own)) for name, own in sources.systems.items()}
    for own, labels in systems.values():
        if len(labels) != len(gold):
            raise InputError(f"{own}: has {len(labels)} labels, but {file} has {len(gold)}; expected one per instance")
    return partial(evaluate_labels, gold, systems)


def read_labels(file: str) -> list[str]:
    """The labels of a file, one per line, without blanks around them."""
    labels = [line.strip() for line in read_text(file).rstrip("\n").split("\n")]
    if not all(labels):
        raise InputError(f"{file}, line {labels.index('') + 1}: expected a label, got an empty line")
    return labels


def _looks_like_labels(name: str, head: bytes) -> bool:
    """Whether there is one word per line; labels of several words are read when the format is named."""
    lines = (head[: head.rfind(b"\n") + 1] or head).rstrip().split(b"\n")
    return all(len(line.split()) == 1 for line in lines) and not looks_tabular(name, head)


class Instances(NamedTuple):
    """The instances of one file of a classifier."""

    file: str
    features: Sequence[str]
    """[instance] what precedes the predicted label, with the gold label."""
    gold: Sequence[str]
    predicted: Sequence[str]


def parse_instances(file: str, text: str) -> Instances:
    r"""The instances of a file, with commas between fields where the first line has no blanks, else blanks.

    Example:
        >>> found = parse_instances("t", "+,a,P,Q\n-,a,P,P\n")
        >>> found.features, found.gold, found.predicted
        (['+ a P', '- a P'], ['P', 'P'], ['Q', 'P'])
    """
    lines = text.strip("\n").split("\n")
    commas = "," in lines[0] and not _BLANK.search(lines[0].strip())
    split = _split_commas if commas else split_blanks
    width = len(split(lines[0]))
    if width < 2:
        raise InputError(f"{file}, line 1: expected features, the gold label and the predicted one, got one field")
    features: list[str] = []
    gold: list[str] = []
    predicted: list[str] = []
    for line, content in enumerate(lines, start=1):
        row = split(content)
        if len(row) != width:
            raise InputError(f"{file}, line {line}: expected {width} fields as on line 1, got {len(row)}")
        if not (row[-1] and row[-2]):
            raise InputError(f"{file}, line {line}: expected a gold label and a predicted one as the last two fields")
        predicted.append(row.pop())
        gold.append(row[-1])
        features.append(" ".join(row))
    return Instances(file, features, gold, predicted)


def _split_commas(line: str) -> list[str]:
    return [field.strip() for field in line.split(",")] if " " in line else line.split(",")


def _read_timbl(sources: Sources, _: Options) -> Reading:
    files = [parse_instances(file, read_text(file)) for file in sources.systems.values()]
    for other in files[1:]:
        _check_same(other, files[0])
    _check_header(files)
    systems = {name: (own.file, own.predicted) for name, own in zip(sources.systems, files, strict=True)}
    return partial(evaluate_labels, files[0].gold, systems)


def _check_header(files: Sequence[Instances]) -> None:
    """Refuse names of columns, which would count as an instance: two labels that no other line has."""
    first = files[0]
    names = {first.gold[0], *(each.predicted[0] for each in files)}
    others = {label for each in files for label in (*each.gold[1:], *each.predicted[1:])}
    if others and len(names) == 2 and first.gold[0] not in {each.predicted[0] for each in files} and not names & others:
        raise InputError(
            f"{first.file}, line 1: seems to hold names of columns, since no other line has the labels "
            f"{listing(sorted(names))}; leave it out"
        )


def _check_same(other: Instances, first: Instances) -> None:
    if len(other.gold) != len(first.gold):
        raise InputError(
            f"{other.file}: has {len(other.gold)} instances, but {first.file} has {len(first.gold)}; expected the same"
        )
    i = first_difference(other.features, first.features)
    if i is not None:
        raise InputError(
            f"{other.file}, line {i + 1}: differs from {first.file} before the last field; expected the same features "
            "and gold labels in the same order"
        )


def _looks_like_timbl(_: str, head: bytes) -> bool:
    """Whether all lines have as many fields, three or more; the last two are words, and the same on some line."""
    columns = head_columns(head.replace(b",", b" ") if b" " not in head.partition(b"\n")[0] else head)
    if columns is None or len(columns.tokens.sentences) > 1 or columns.width < 3:
        return False
    gold, predicted = columns.gold, columns.tokens.tags
    if any(map(_NUMBER.fullmatch, (*gold, *predicted))) or len(gold) < 2:
        return False
    return any(map(str.__eq__, gold, predicted))


def _read_terms(sources: Sources, options: Options) -> Reading:
    files = sources.chosen(options)
    lines = map(read_lines, (sources.gold(), *files.values()))
    lists = [[term for line in own if (term := line.strip())] for own in lines]
    notes = tuple(
        f"{name}: {count} of {len(own)} lines repeat a term, which counts once"
        for name, own in zip(("the gold list", *files), lists, strict=True)
        if (count := len(own) - len(set(own)))
    )
    terms = list(dict.fromkeys(term for own in lists for term in own))
    right, *returned = (np.array([term in own for term in terms], float) for own in map(frozenset, lists))
    sheets = [
        Sheet(name, file, {"tp": own * right, "predicted": own, "gold": right}, ids=terms)
        for (name, file), own in zip(files.items(), returned, strict=True)
    ]
    return join_sheets(sheets, options, notes=notes)


LABELS = Format(
    "labels",
    "class labels, one per line",
    "gold",
    _read_label_files,
    _looks_like_labels,
    LABEL_METRICS,
    certain=False,
)
TIMBL = Format(
    "timbl",
    "features, gold label and predicted label per line",
    "systems",
    _read_timbl,
    _looks_like_timbl,
    LABEL_METRICS,
)
TERMS = Format(
    "terms",
    "term lists",
    "gold",
    _read_terms,
    looks_like(ending=".terms"),
    ("fscore", "precision", "recall"),
    frozenset({"unit"}),
)
