"""What is taken from sheets: the columns of a metric, labels of instances, and responses as instances."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sigjax.files.opening import read_text
from sigjax.metrics import MEAN, METRICS, known_metric
from sigjax.readers.formats import Sheet
from sigjax.readers.options import Options, chosen_metric, listing, show, suggest
from sigjax.records import InputError, Metric, SampleMetric

Response = TypeVar("Response", bound=tuple[Any, ...] | int)
NOTE = (
    "instances are responses: p takes them for independent of each other, also within a sentence; they are no sample, "
    "so there are no standard errors and no intervals"
)


def sheet_metric(sheets: Sequence[Sheet], options: Options) -> Metric | SampleMetric:
    """The metric asked for; the name of a column of numbers (`bleu` of single sentences, say) asks for its mean."""
    name = options.metric
    known = [each for each in sheets[0].numbers if all(each in sheet.numbers for sheet in sheets)]
    if isinstance(name, str) and name in known:
        return replace(MEAN, name=name, inputs=(name,))
    if not isinstance(name, str) or known_metric(name):
        return chosen_metric(options)
    meant = suggest(name, [*known, *METRICS], "scores and metrics")
    raise InputError(f"{sheets[0].file}: no score or metric {show(name)}; {meant}")


def metric_columns(
    sheets: Sequence[Sheet], metric: Metric | SampleMetric, options: Options, *, scores: bool
) -> list[list[np.ndarray]]:
    """The numbers of each system that the metric takes, which have the same names in all sheets."""
    names = [_input_names(sheet, metric, options.counts or {}, scores=scores) for sheet in sheets]
    for sheet, own in zip(sheets, names, strict=True):
        if own != names[0]:
            raise InputError(
                f"{sheet.file}: holds the numbers {listing(own)}, but {sheets[0].file} holds {listing(names[0])}; "
                "expected the same in all files"
            )
    return [[sheet.numbers[name] for name in own] for sheet, own in zip(sheets, names, strict=True)]


def _input_names(sheet: Sheet, metric: Metric | SampleMetric, counts: Mapping[str, str], *, scores: bool) -> list[str]:
    """The columns that the metric takes: by `--counts`, by name, or the only one there is."""
    for name, column in counts.items():
        if name not in metric.inputs:
            raise InputError(f"--counts: metric {metric.name!r} takes {', '.join(metric.inputs)}, not {show(name)}")
        if column not in sheet.numbers:
            meant = suggest(column, sheet.numbers, "columns")
            raise InputError(f"{sheet.file}: --counts: no column {show(column)} of numbers; {meant}")
    wanted = [counts.get(name, name) for name in metric.inputs]
    if all(name in sheet.numbers for name in wanted):
        return wanted
    if len(wanted) == len(sheet.numbers) == 1:
        return list(sheet.numbers)
    example = "--counts " + " ".join(f"{name}=NAME" for name in metric.inputs)
    if scores and len(wanted) == 1:
        example = "--metric NAME for its mean"
    lacking = [name for name, column in zip(metric.inputs, wanted, strict=True) if column not in sheet.numbers]
    free = [name for name in sheet.numbers if name not in wanted]
    raise InputError(
        f"{sheet.file}: metric {metric.name!r} needs {' and '.join(lacking)}: which of {listing(free)}? "
        f"say so with {example}"
    )


def asked_labels(options: Options, labels: Callable[[str, str], Sequence[str]]) -> dict[str, Sequence[str]]:
    """The labels, by (name, option), of the clusters and strata that are asked for."""
    asked = {"clusters": (options.cluster, "--cluster"), "strata": (options.strata, "--strata")}
    return {field: labels(name, option) for field, (name, option) in asked.items() if name is not None}


def instance_labels(
    sheets: Sequence[Sheet], keys: Sequence[Any], rows: Sequence[np.ndarray], used: np.ndarray, name: str, option: str
) -> Sequence[str]:
    """Labels `[instance]` that the sheets hold under a name, or those of a file; `used` instances need one."""
    if not any(name in sheet.labels for sheet in sheets):
        known = dict.fromkeys(label for sheet in sheets for label in sheet.labels)
        return file_labels(sheets[0].file, name, option, known=known, num_instances=len(keys))
    labels = np.full(len(keys), "", object)
    seen = np.zeros(len(keys), bool)
    done = set[tuple[int, int]]()
    for sheet, own in zip(sheets, rows, strict=True):
        column = sheet.labels.get(name)
        if column is None or (id(column), id(own)) in done:
            continue
        done.add((id(column), id(own)))  # columns of a table share their labels
        found = np.array(column, object)
        wrong = np.flatnonzero(seen[own] & (labels[own] != found))
        if wrong.size:
            row, i = int(wrong[0]), int(own[wrong[0]])
            raise InputError(
                f"{sheet.file}, {sheet.place(row)}: {show(name)} of instance {show_key(sheet, keys[i])} is "
                f"{show(column[row])}, but {show(str(labels[i]))} elsewhere; {option} takes one label per instance"
            )
        labels[own], seen[own] = found, True
    for i in used.tolist():
        if not str(labels[i]).strip():
            raise InputError(f"{sheets[0].file}: {option}: instance {show_key(sheets[0], keys[i])} has no {show(name)}")
    return labels.tolist()


def show_key(sheet: Sheet, key: Any) -> str:
    """An instance, and its run if there are several, for a message."""
    if sheet.ids is None:
        return str(key)
    if sheet.runs is None:
        return show(str(key))
    id, run = key
    return f"{show(str(id))} (run {show(str(run))})"


def file_labels(file: str, name: str, option: str, *, known: Iterable[str], num_instances: int) -> tuple[str, ...]:
    """Labels `[instance]` from a file with one label per line, in the order of the instances."""
    try:
        is_file = Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise InputError(f"{file}: {option}: no column and no file {show(name)}; {suggest(name, known, 'columns')}")
    labels = read_text(name).removesuffix("\n").split("\n")
    if len(labels) != num_instances:
        raise InputError(f"{name}: expected {num_instances} lines, one label per instance, got {len(labels)}")
    for line, label in enumerate(labels, start=1):
        if not label.strip():
            raise InputError(f"{name}, line {line}: expected a label, got an empty line; fill it in")
    return tuple(labels)


def count_responses(
    gold: Counter[Response], systems: Mapping[str, Counter[Response]]
) -> tuple[list[Response], dict[str, dict[str, np.ndarray]]]:
    """The distinct responses of all sides, in order, and of each system its counts tp, predicted and gold `[response]`.

    An instance is a distinct response of any system, or an item of the gold standard that none gave. Between two
    systems only responses of exactly one of them differ, so that swapping instances moves these from one system to the
    other, and leaves what both or neither gave where it is. Sums, and so scores, are those of sentences. What a
    response counts for must not depend on other responses: a bracket that a tree has twice is one response that counts
    twice. Reference: Yeh (2000), "More accurate tests for the statistical significance of result differences", 3.3.

    Example:
        >>> responses, counts = count_responses(Counter("ab"), {"A": Counter("bbc")})
        >>> responses, counts["A"]["tp"], counts["A"]["predicted"]
        (['a', 'b', 'c'], array([0., 1., 0.]), array([0., 2., 1.]))
    """
    responses = sorted(set(gold).union(*systems.values()))
    right, *columns = (np.array([own[each] for each in responses], float) for own in (gold, *systems.values()))
    return responses, {
        name: {"tp": np.minimum(own, right), "predicted": own, "gold": right}
        for name, own in zip(systems, columns, strict=True)
    }
