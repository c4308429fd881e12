"""Classification: gold labels and a file of labels a system, a label a line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.metrics import CLASS_METRICS, class_metric
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, chosen_metric
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.tables.delimited import looks_tabular
from sigjax.readers.tagging.tokens import encode
from sigjax.records import Evaluation, InputError

LABEL_METRICS = ("accuracy", *CLASS_METRICS, "fscore", "precision", "recall")
_MOST_NUMBERS = 2**27
"""Counts of all systems, instances and classes that fit into the memory of a small machine."""


def evaluate_labels(
    gold: Sequence[str], systems: Mapping[str, tuple[str, Sequence[str]]], options: Options
) -> Evaluation:
    """The evaluation of `systems`, file and labels `[instance]` by name; all have as many labels as `gold`."""
    codes: dict[str, int] = {}
    truth = encode(gold, codes)
    predicted = {name: encode(labels, codes) for name, (_, labels) in systems.items()}
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
    for name, (file, _) in systems.items():
        numbers = {each: _numbers(each, truth, predicted[name], classes) for each in wanted}
        sheets.append(Sheet(name, file, {each: column for each, column in numbers.items() if column is not None}))
    options = replace(options, metric=metric)
    return join_sheets(sheets, options)(options)


def _numbers(name: str, truth: np.ndarray, found: np.ndarray, classes: Mapping[str, int]) -> np.ndarray | None:
    """The numbers `[instance]` of a name: value, tp and correct are whether the label is right; None for none."""
    kind, _, label = name.partition(":")
    if not label:
        right = {"value", "tp", "correct"}
        return found == truth if name in right else np.ones(len(truth)) if name in ("predicted", "gold") else None
    if label not in classes or kind not in ("correct", "predicted", "gold"):
        return None
    code = classes[label]
    return {"correct": (found == code) & (truth == code), "predicted": found == code, "gold": truth == code}[kind]


def read_labels(file: str) -> list[str]:
    """The labels of a file, one a line, without blanks around them."""
    labels = [line.strip() for line in decode_text(file, read_bytes(file)).rstrip("\n").split("\n")]
    if not all(labels):
        raise InputError(f"{file}, line {labels.index('') + 1}: expected a label, got an empty line")
    return labels


def _read_gold(sources: Sources, options: Options) -> Reading:
    file = sources.gold()
    gold = read_labels(file)
    systems = {name: (own, read_labels(own)) for name, own in sources.systems.items()}
    for own, labels in systems.values():
        if len(labels) != len(gold):
            raise InputError(f"{own}: has {len(labels)} labels, but {file} has {len(gold)}; expected one an instance")
    return partial(evaluate_labels, gold, systems)


def _looks(name: str, head: bytes) -> bool:
    """Whether there is one word a line; labels of several words are read when the format is named."""
    lines = (head[: head.rfind(b"\n") + 1] or head).rstrip().split(b"\n")
    return all(len(line.split()) == 1 for line in lines) and not looks_tabular(name, head)


LABELS = Format("labels", "class labels, one a line", "gold", _read_gold, _looks, LABEL_METRICS, certain=False)
