"""Sheets: what a file says of one system, and what is taken from those of all systems to evaluate a metric.

Readers of all formats take `Sources`, the files of a comparison, and give a function that evaluates what they hold.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sigjax.metrics import MEAN, METRICS, known_metric
from sigjax.readers.options import Options, chosen_metric, listing, quote, select_systems, suggest
from sigjax.records import EvaluationRecord, Hint, InputError, Line, Metric, SampleMetric
from sigjax.run.files import read_text

Reading = Callable[[Options], EvaluationRecord]
"""What files hold: a function of the options, with one metric, that gives the evaluation."""
Tasks = Callable[[Options], EvaluationRecord | dict[str, EvaluationRecord | None]]
"""The same where files may be of several tasks: then it gives the evaluation of each that has the metric, by name."""


@dataclass(frozen=True)
class Sources:
    """The files of a comparison."""

    files: tuple[str, ...]
    """The one file with all systems, or the gold files; none if each system has a file and there is no gold."""
    systems: Mapping[str, str]
    """Name of each system -> its file; empty if one file holds all systems."""
    named: frozenset[str] = frozenset()
    """Systems named by the user; the others are named after their files."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The files of systems that have several, one per task."""

    def gold(self) -> str:
        """The only gold file."""
        first, *others = self.files
        if others:
            raise InputError(
                f"{others[0]}: is a second gold file; expected one, and the systems' files with {Hint('i')}"
            )
        return first

    def by_file(self) -> dict[str, str]:
        """Each file -> the system that it was given for."""
        return {file: name for name, first in self.systems.items() for file in self.parts.get(name, (first,))}

    def chosen(self, options: Options) -> dict[str, str]:
        """Name of each system to compare -> its file; the files of others are not read."""
        names = select_systems(next(iter(self.systems.values())), list(self.systems), options)
        return {name: self.systems[name] for name in names}


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a file says of one system: one row per instance and run."""

    system: str
    file: str
    numbers: Mapping[str, np.ndarray]
    """name -> [row] float64; NaN where there is none."""
    labels: Mapping[str, Sequence[str] | np.ndarray] = field(default_factory=dict)
    """name -> [row]: what `--cluster` and `--strata` may name."""
    ids: Sequence[Any] | np.ndarray | None = None
    """[row]; None where instances are known by their position."""
    runs: Sequence[str] | np.ndarray | None = None
    """[row] the trial; None where each instance was run once."""
    lines: Sequence[int] | np.ndarray | None = None
    """[row] the line of the file; None where rows are counted."""
    id_column: str | None = None
    """The column of a table that the ids are from, for messages."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.numbers.values()), ()) if self.ids is None else self.ids)

    def line(self, row: int) -> Line:
        """The line or the row of the file, for a message."""
        return Line(self.file, row + 1, "row") if self.lines is None else Line(self.file, int(self.lines[row]))


def directed(evaluation: EvaluationRecord, options: Options) -> EvaluationRecord:
    """The evaluation with the direction of its metric as in `lower_is_better`."""
    if not options.lower_is_better:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=False))


def read_lines(file: str, *, at_least: int = 0) -> list[str]:
    """The lines of a text file; empty lines at its end are dropped, down to `at_least` lines."""
    lines = read_text(file).removesuffix("\n").split("\n")
    while len(lines) > at_least and not lines[-1]:
        lines.pop()
    return lines


def matching_lines(file: str, *, gold: str, count: int) -> list[str]:
    """The lines of a system's file, which must have as many as the gold file."""
    lines = read_lines(file, at_least=count)
    if len(lines) != count:
        raise InputError(f"{file}: has {len(lines)} lines, but {gold} has {count}; expected one for each gold line")
    return lines


Response = TypeVar("Response", bound=tuple[Any, ...] | int)
NOTE = (
    "instances are responses: p assumes that they are independent, also within a sentence; they are no sample, "
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
    raise InputError(f"{sheets[0].file}: no score or metric {quote(name)}; {meant}")


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
            raise InputError(
                f"{Hint('counts')}: metric {metric.name!r} takes {', '.join(metric.inputs)}, not {quote(name)}"
            )
        if column not in sheet.numbers:
            meant = suggest(column, sheet.numbers, "columns")
            raise InputError(f"{sheet.file}: {Hint('counts')}: no column {quote(column)} of numbers; {meant}")
    wanted = [counts.get(name, name) for name in metric.inputs]
    if all(name in sheet.numbers for name in wanted):
        return wanted
    if len(wanted) == len(sheet.numbers) == 1:
        return list(sheet.numbers)
    example = str(Hint("counts", *(f"{name}=NAME" for name in metric.inputs)))
    if scores and len(wanted) == 1:
        example = f"{Hint('metric', 'NAME')} for its mean"
    lacking = [name for name, column in zip(metric.inputs, wanted, strict=True) if column not in sheet.numbers]
    free = [name for name in sheet.numbers if name not in wanted]
    raise InputError(
        f"{sheet.file}: metric {metric.name!r} needs {' and '.join(lacking)}: which of {listing(free)}? "
        f"say so with {example}"
    )


def option_labels(options: Options, labels: Callable[[str, Hint], Sequence[str]]) -> dict[str, Sequence[str]]:
    """The labels, by (name, option), of the clusters and strata that are asked for."""
    named = {"clusters": ("cluster", options.cluster), "strata": ("strata", options.strata)}
    return {field: labels(name, Hint(option)) for field, (option, name) in named.items() if name is not None}


def instance_labels(
    sheets: Sequence[Sheet], keys: Sequence[Any], rows: Sequence[np.ndarray], used: np.ndarray, name: str, option: Hint
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
        given = np.array(column, object)
        wrong = np.flatnonzero(seen[own] & (labels[own] != given))
        if wrong.size:
            row, i = int(wrong[0]), int(own[wrong[0]])
            raise InputError(
                f"{sheet.line(row)}: {quote(name)} of instance {quote_key(sheet, keys[i])} is "
                f"{quote(column[row])}, but {quote(str(labels[i]))} elsewhere; {option} takes one label per instance"
            )
        labels[own], seen[own] = given, True
    for i in used.tolist():
        if not str(labels[i]).strip():
            raise InputError(
                f"{sheets[0].file}: {option}: instance {quote_key(sheets[0], keys[i])} has no {quote(name)}"
            )
    return labels.tolist()


def quote_key(sheet: Sheet, key: Any) -> str:
    """An instance, and its run if there are several, for a message."""
    if sheet.ids is None:
        return str(key)
    if sheet.runs is None:
        return quote(str(key))
    id, run = key
    return f"{quote(str(id))} (run {quote(str(run))})"


def file_labels(file: str, name: str, option: Hint, *, known: Iterable[str], num_instances: int) -> tuple[str, ...]:
    """Labels `[instance]` from a file with one label per line, in the order of the instances."""
    try:
        is_file = Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise InputError(f"{file}: {option}: no column and no file {quote(name)}; {suggest(name, known, 'columns')}")
    labels = read_text(name).removesuffix("\n").split("\n")
    if len(labels) != num_instances:
        raise InputError(f"{name}: expected {num_instances} lines, one label per instance, got {len(labels)}")
    for line, label in enumerate(labels, start=1):
        if not label.strip():
            raise InputError(f"{Line(name, line)}: expected a label, got an empty line; fill it in")
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
