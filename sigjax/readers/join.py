"""Sheets, which hold the results of one system in a file, and the join of all systems' sheets to an evaluation.

Each format has a reader. The reader takes `Sources`, the files of a comparison, and returns a function that evaluates
their content. A sheet has one column of numbers per input of the metric, and one row per instance. Sheets are joined by
id, or by position if there are no ids. If a system lacks an instance, the instance is refused, dropped for all systems,
counted as 0, or left out for the pairs of this system. Rows that summarize other rows (mean, total, overall) are
refused (an `InputError` is raised), because they would count as instances. Python mappings, `{"A": {"x": 0.5}, "B":
{...}}`, become sheets, too.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from sigjax.metrics import (
    CLASS_METRICS,
    MEAN,
    METRICS,
    TEXT_METRICS,
    evaluation_from_arrays,
    known_metric,
    resolve_metric,
    score_named,
    unknown_metric,
)
from sigjax.metrics.registry import as_numbers
from sigjax.readers.evidence import Question, TableReading
from sigjax.readers.lexicon import (
    is_fold,
    is_id_name,
    is_order,
    is_property,
    is_statistic_name,
    is_summary,
    is_text_name,
    is_trial,
    lexicon,
    may_be_system,
    names_measures,
)
from sigjax.readers.options import (
    LONGEST_TEXT,
    ROWS,
    Options,
    check_named,
    check_options,
    chosen_metric,
    listing,
    quote,
    select_systems,
    ways_of_missing,
    why_zero_is_best,
)
from sigjax.readers.table import as_float, check_filled
from sigjax.records import Array, EvaluationRecord, Hint, InputError, Line, Metric, Missing, Note, SampleMetric
from sigjax.records.options import COMMAND
from sigjax.run.files import is_file, naming, read_text

Reading = Callable[[Options], EvaluationRecord]
"""Function that evaluates the content of files: options (with one metric) -> evaluation."""
Tasks = Callable[[Options], EvaluationRecord | dict[str, EvaluationRecord | None]]
"""Function that evaluates files with several tasks: options -> {task: evaluation}. The value is None for a task that
does not have the metric."""


@dataclass(frozen=True)
class Sources:
    """The files of a comparison."""

    files: tuple[str, ...]
    """The file with all systems, or the gold files; empty if each system has a file and there is no gold file."""
    systems: Mapping[str, str]
    """System -> its file. Empty if one file holds all systems."""
    named: frozenset[str] = frozenset()
    """The systems that the user named; all other systems are named after their files."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """System -> its files, one per task. A system with a single file is not listed."""

    def gold(self) -> str:
        """Return the gold file; a second gold file is refused."""
        first, *others = self.files
        if others:
            raise InputError(f"{others[0]}: is a second gold file; expected one, and systems' files with {Hint('i')}")
        return first

    def by_file(self) -> dict[str, str]:
        """File -> the system to which the file belongs."""
        return {file: name for name, first in self.systems.items() for file in self.parts.get(name, (first,))}

    def chosen(self, options: Options) -> dict[str, str]:
        """Return system -> file for the systems to compare, so that files of other systems are not read."""
        names = select_systems(next(iter(self.systems.values())), list(self.systems), options)
        return {name: self.systems[name] for name in names}


@dataclass(frozen=True, eq=False)
class Sheet:
    """The results of one system in a file: one row per instance and run."""

    system: str
    file: str
    numbers: Mapping[str, np.ndarray]
    """Name of an input of the metric, or of a column of scores -> its numbers `[row]`, float64; NaN if a number is
    missing."""
    labels: Mapping[str, Sequence[str] | np.ndarray] = field(default_factory=dict)
    """Name of a column -> its labels `[row]`. `--cluster` and `--strata` choose such a column."""
    ids: Sequence[Any] | np.ndarray | None = None
    """`[row]` ids of the instances; None if instances have only a position."""
    runs: Sequence[str] | np.ndarray | None = None
    """`[row]` the run of each row; None if each instance was run once."""
    lines: Sequence[int] | np.ndarray | None = None
    """`[row]` the number of each row's line in the file; None if messages give the number of the row instead."""
    id_column: str | None = None
    """The name of the column that holds the ids, for messages."""
    reading: TableReading | None = None
    """The roles of the table's columns; None if the file is not a table."""
    rows: int | None = None
    """The number of rows; None if it is the number of ids, or of numbers per input."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        if self.rows is not None:
            return self.rows
        return len(next(iter(self.numbers.values()), ()) if self.ids is None else self.ids)

    def line(self, row: int) -> Line:
        """Return the place of a row in the file, for a message."""
        return Line(self.file, row + 1, "row") if self.lines is None else Line(self.file, int(self.lines[row]))


def directed(evaluation: EvaluationRecord, options: Options) -> EvaluationRecord:
    """Set the direction of the metric if `lower_is_better` or `higher_is_better` is given."""
    if options.direction is None:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=options.direction == "higher"))


def select(evaluation: EvaluationRecord, systems: Sequence[str] | None) -> EvaluationRecord:
    """Keep only the named systems of an evaluation, in the given order; None keeps all."""
    names = evaluation.systems if systems is None else tuple(systems)
    if not names or len(set(names)) < len(names):
        raise InputError(
            f"name one or more different systems ({Hint('only', 'A', 'B')}), got {', '.join(names) or 'none'}"
        )
    for name in names:
        if name not in evaluation.systems:
            raise InputError(f"{name!r} is not a system; expected some of {', '.join(evaluation.systems[:12])}")
    rows = [evaluation.systems.index(name) for name in names]
    present = None if evaluation.present is None else evaluation.present[rows]
    return replace(evaluation, systems=names, stats=evaluation.stats[rows], present=present)


def read_lines(file: str, *, at_least: int = 0) -> list[str]:
    """Return the lines of a text file. Empty lines at its end are dropped, but at least `at_least` lines are kept."""
    lines = read_text(file).removesuffix("\n").split("\n")
    while len(lines) > at_least and not lines[-1]:
        lines.pop()
    return lines


def matching_lines(file: str, *, gold: str, count: int) -> list[str]:
    """Return the lines of a system's file. Refuse the file unless it has `count` lines, like the gold file `gold`."""
    lines = read_lines(file, at_least=count)
    if len(lines) != count:
        raise InputError(f"{file}: has {len(lines)} lines, but {gold} has {count}; expected one for each gold line")
    return lines


Response = TypeVar("Response", bound=tuple[Any, ...] | int)
NOTE = (
    "instances are responses: p assumes that they are independent, also within a sentence; they are no sample, "
    "so there are no standard errors and no intervals"
)


def _sheet_metric(sheets: Sequence[Sheet], options: Options) -> Metric | SampleMetric:
    """Return the requested metric.

    If `options.metric` names a column of numbers, such as `bleu` per sentence, the metric is the mean of this column.
    """
    name = options.metric
    known = [each for each in sheets[0].numbers if all(each in sheet.numbers for sheet in sheets)]
    if not isinstance(name, str):
        return chosen_metric(options)
    if column := name if name in known else score_named(name, known):
        return replace(MEAN, name=column, inputs=(column,), higher_is_better=lexicon().direction(column) != "lower")
    if not (found := known_metric(name)):
        every = [*known, *METRICS, *CLASS_METRICS]
        others = unknown_metric(name, every) or f"scores or metrics: {listing(every)}"
        raise InputError(f"{sheets[0].file}: {Hint('metric')}: no score or metric {quote(name)}; {others}")
    refuse_texts(sheets[0].file, found, options.counts or {}, known, what="these are scores")
    return found


def refuse_texts(
    file: str,
    metric: Metric | SampleMetric,
    counts: Mapping[str, str],
    columns: Collection[str],
    what: str = "this is a table of numbers",
) -> None:
    """Refuse a metric of texts, such as BLEU, if the data are numbers.

    It is not refused if the numbers are the inputs of the metric: the option `counts` names them, or `columns` (the
    columns of the data) do. `what` describes the data for the message.
    """
    name, inputs = metric.name.partition("(")[0], metric.inputs
    named = inputs != MEAN.inputs and all(each in columns for each in inputs)
    if name in TEXT_METRICS and not (named or {*inputs} <= {*counts}):
        how = f"give texts, one segment per line: {Hint(COMMAND, 'REF', '-i', 'A', 'B', '-m', name)}"
        raise InputError(f"{file}: metric {metric.name!r} is of texts, and {what}; {how}")


def _input_names(sheet: Sheet, metric: Metric | SampleMetric, counts: Mapping[str, str], *, scores: bool) -> list[str]:
    """Return the column for each input of the metric.

    The column is given by `--counts`, or is named like the input, or is the only column of numbers. `scores` says
    whether `--metric` may name a column.
    """
    for name, column in counts.items():
        if name not in metric.inputs:
            raise InputError(f"{Hint('counts')}: {metric.name!r} takes {', '.join(metric.inputs)}, not {quote(name)}")
        check_named(sheet.file, "counts", [column], sheet.numbers, "column of numbers")
    wanted = [counts.get(name, name) for name in metric.inputs]
    if all(name in sheet.numbers for name in wanted):
        return wanted
    if len(wanted) == len(sheet.numbers) == 1:
        return list(sheet.numbers)
    example = str(Hint("counts", *(f"{name}=NAME" for name in metric.inputs)))
    if len(wanted) == 1 and metric.name in (MEAN.name, wanted[0], "accuracy"):
        example = f"{Hint('metric', 'NAME')} for its mean" if scores else str(Hint("score_column", "NAME"))
    pairs = zip(metric.inputs, wanted, strict=True)
    lacking = " and ".join(name for name, column in pairs if column not in sheet.numbers)
    free = [name for name in sheet.numbers if name not in wanted]
    words = {name.rstrip("0123456789") for name in free}
    if len(free) > 1 and len(words) == 1 and is_trial(words.pop().strip("_-. ")):
        example = f"{Hint('melt', *map(quote, free))} if they are trials, or with {example}"
    which = f"which of {listing(free)}? say so with {example}"
    raise InputError(f"{sheet.file}: metric {metric.name!r} needs {lacking}: {which}")


def option_labels(options: Options, labels: Callable[[str, Hint], Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the requested labels: "clusters" or "strata" -> labels `[instance]`.

    `labels` takes the column or file that the user named, and the option; it returns the labels.
    """
    named = {"clusters": ("cluster", options.cluster), "strata": ("strata", options.strata)}
    return {field: labels(name, Hint(option)) for field, (option, name) in named.items() if name is not None}


def _instance_labels(
    sheets: Sequence[Sheet], keys: Sequence[Any], rows: Sequence[np.ndarray], used: np.ndarray, name: str, option: Hint
) -> Sequence[str]:
    """Return labels `[instance]` from a column of the sheets, or from a file. Each instance in `used` needs a label.

    Args:
        sheets: the sheets of the systems.
        keys: the keys of all instances: the id, or the pair of id and run.
        rows: for each sheet, the index of the instance of each row.
        used: the indices of the instances for which some system has a result.
        name: the name of the column or file.
        option: the option that gave the name.
    """
    if not any(name in sheet.labels for sheet in sheets):
        known = dict.fromkeys(label for sheet in sheets for label in sheet.labels)
        return file_labels(sheets[0].file, name, option, known=known, num_instances=len(keys))
    labels, seen = np.full(len(keys), "", object), np.zeros(len(keys), bool)
    done = set[tuple[int, int]]()
    for sheet, own in zip(sheets, rows, strict=True):
        column = sheet.labels.get(name)
        if column is None or (id(column), id(own)) in done:
            continue
        done.add((id(column), id(own)))  # the systems of a wide table share their labels
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
            where = f"{sheets[0].file}: {option}"
            raise InputError(f"{where}: instance {quote_key(sheets[0], keys[i])} has no {quote(name)}")
    return labels.tolist()


def quote_key(sheet: Sheet, key: Any) -> str:
    """Return the id of an instance for a message, with the run if there are runs."""
    if sheet.ids is None:
        return str(key)
    if sheet.runs is None:
        return quote(str(key))
    id, run = key
    return f"{quote(str(id))} (run {quote(str(run))})"


def file_labels(file: str, name: str, option: Hint, *, known: Iterable[str], num_instances: int) -> tuple[str, ...]:
    """Read labels `[instance]` from the file `name`, with one label per line in the order of the instances.

    If there is no such file, the message lists the columns `known` of `file`.
    """
    if not is_file(name):
        check_named(file, option.option, [name], known, "column and no file")
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
    """Count responses for each system: return the sorted distinct responses, and tp, predicted and gold `[response]`.

    The counts are system -> name of the count -> array. A response is an item that a system gives, such as a span or a
    bracket. An instance is a distinct response of any system, or an item of the gold standard that no system gave. Two
    systems differ only in responses that exactly one of them gave. Swapping moves such a response to the other system.
    The sums over responses equal the sums over sentences, so scores are the same. The counts of a response must not
    depend on other responses: a bracket that occurs twice in a tree is one response that counts twice. Reference: Yeh
    (2000), "More accurate tests for the statistical significance of result differences", section 3.3.

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


MOST_SYSTEMS = 3
"""Largest number of systems that a message about missing instances names."""
_PAIRWISE = "each pair is tested on the instances that both have, each system scored on those that it has"
_MANY = 0.1
"""Limit for the share of dropped instances: above it, the note on dropped instances is a warning."""
Name = Callable[..., str]
"""Function that names an instance in a message: (instance[, system]) -> its id. If a system is given, the line of its
file is added."""
RowKey = Any
"""The id of an instance; if there are runs, the pair of id and run."""


def join_sheets(
    sheets: Sequence[Sheet],
    options: Options,
    *,
    scores: bool = False,
    notes: tuple[str, ...] = (),
    order: Iterable[RowKey] | None = None,
) -> Reading:
    """Join the sheets of all systems by id, or by position without ids; return a function that evaluates a metric.

    Args:
        sheets: one sheet per system; `options.only` says which systems to compare.
        options: all options except the metric; the returned function takes the options with the metric.
        scores: whether `metric` may name a column of numbers; the metric is then the mean of the column.
        notes: notes that come before the other notes of the evaluation.
        order: the keys of all instances (the id, or the pair of id and run), in order. By default, this is the order of
            the sheets. The sheets of systems that `options.only` leaves out count, too: resamples depend on the order,
            and must not depend on the choice of systems.
    """
    given, sheets = sheets, _compared_sheets(sheets, options)
    if options.seen is not None:
        options.seen[:] = sheets
    file, systems = sheets[0].file, tuple(sheet.system for sheet in sheets)
    keys, rows = _match(sheets, _ordered_keys(given, sheets) if order is None else order)
    check_filled(file, filled=sum(map(len, rows)), rows=len(sheets), columns=len(keys), what="systems by instances")
    used = np.flatnonzero(np.bincount(np.concatenate(rows), minlength=len(keys)))
    labels = option_labels(options, partial(_instance_labels, sheets, keys, rows, used))
    named = re.search("seed|model|checkpoint|ckpt|fine.?tun", options.runs or "", re.IGNORECASE)  # trained models
    models = [Note(f"runs are those of column {quote(options.runs)}", code="models")] if options.runs and named else []
    ids = None if sheets[0].ids is None else [key if sheets[0].runs is None else key[0] for key in keys]
    totals = _summary_rows(ids or ())

    def evaluate(options: Options) -> EvaluationRecord:
        metric = _sheet_metric(sheets, options) if scores else chosen_metric(options)
        values = np.full((len(sheets), len(keys), len(metric.inputs)), np.nan)
        inputs = [_input_names(sheet, metric, options.counts or {}, scores=scores) for sheet in sheets]
        for sheet, own, index, names in zip(sheets, values, rows, inputs, strict=True):
            if names != inputs[0]:
                raise InputError(
                    f"{sheet.file}: holds the numbers {listing(names)}, but {file} holds {listing(inputs[0])}; "
                    "expected the same in all files"
                )
            own[index] = np.stack([sheet.numbers[name] for name in names], axis=-1)

        def name(instance: int, system: int | None = None) -> str:
            """Return the id of an instance. If `system` is given, add the line in the system's file."""
            named = quote_key(sheets[0], keys[used[instance]])
            if system is None or sheets[system].lines is None:
                return named
            row = np.flatnonzero(rows[system] == used[instance])
            return f"{named}, {sheets[system].line(row[0]).short}" if row.size else named

        if ids and (summed := totals or _mean_row(values)):
            _check_totals(values, summed, ids, sheets, rows)
        with naming(file):
            once = sheets[0].runs is None
            values, kept, present, note = _settle_missing(values[:, used], systems, name, metric, options, once=once)
            instances = used[kept].tolist()
            runs = None if sheets[0].runs is None else [keys[i][1] for i in instances]
            evaluation = evaluation_from_arrays(
                dict(zip(systems, values, strict=True)),
                metric=metric,
                ids=ids and [ids[i] for i in instances],
                runs=runs,
                notes=(*notes, *note, *models),
                **{field: [own[i] for i in instances] for field, own in labels.items()},
            )
        if present is not None:
            stats = np.where(present[:, :, None], evaluation.stats, 0)
            evaluation = replace(evaluation, stats=stats, present=present)
        if options.unit == "response":
            return replace(evaluation, unit="response", notes=(*evaluation.notes, NOTE))
        return evaluation

    return evaluate


def _ordered_keys(given: Sequence[Sheet], chosen: Sequence[Sheet]) -> Iterable[RowKey]:
    """Return the keys of the chosen sheets, in the order of all given sheets. A key may occur several times.

    A key is the id of an instance, or the pair of id and run.
    """
    every, own = (chain.from_iterable(_distinct_keys(sheets).values()) for sheets in (given, chosen))
    named = dict.fromkeys(own)
    return [*filter(named.__contains__, every), *named]


def labels_of(sheets: Sequence[Sheet], name: str) -> Sequence[str]:
    """Return the labels `[instance]` from the column `name` of the sheets; an instance without a label is refused."""
    keys, rows = _match(sheets, _ordered_keys(sheets, sheets))
    return _instance_labels(sheets, keys, rows, np.arange(len(keys)), name, Hint("cluster"))


def _compared_sheets(sheets: Sequence[Sheet], options: Options) -> list[Sheet]:
    """Return the sheets of the systems to compare, in the requested order."""
    by_system = {sheet.system: sheet for sheet in sheets}
    if len(by_system) < len(sheets):
        repeated = next(sheet for sheet in sheets if sheet is not by_system[sheet.system])
        files = f"{repeated.file} and {by_system[repeated.system].file}"
        raise InputError(f"two files hold the system {quote(repeated.system)}: {files}; leave one out")
    return [by_system[name] for name in select_systems(sheets[0].file, list(by_system), options)]


def _match(sheets: Sequence[Sheet], order: Iterable[RowKey]) -> tuple[list[RowKey], list[np.ndarray]]:
    """Match the rows of all sheets; return the keys of all instances, and for each sheet the instance of each row.

    A key is the id of an instance, or the pair of id and run. `order` lists the keys of all instances in order, perhaps
    repeatedly. The instances of a sheet are indices `[row]` into the returned keys.
    """
    for sheet in sheets[1:]:
        if (sheet.ids is None) != (sheets[0].ids is None):
            one, other = (sheets[0], sheet) if sheet.ids is None else (sheet, sheets[0])
            raise InputError(f"{other.file}: has no instance ids, but {one.file} has; expected ids in all or in none")
        if sheet.ids is None and sheet.num_rows != sheets[0].num_rows:
            raise InputError(
                f"{sheet.file}: has {sheet.num_rows} instances, but {sheets[0].file} has {sheets[0].num_rows}; without "
                "ids they are joined by position, so expected as many"
            )
    every = list(dict.fromkeys(order))
    index = dict(zip(every, range(len(every)), strict=True))
    rows = {
        which: np.fromiter(map(index.__getitem__, keys), np.int64, len(keys))
        for which, keys in _distinct_keys(sheets).items()
    }
    systems = {sheet.system for sheet in sheets}
    for sheet in sheets:
        _check_once(sheet, every, rows[id(sheet.ids)], systems)
    return every, [rows[id(sheet.ids)] for sheet in sheets]


def _distinct_keys(sheets: Sequence[Sheet]) -> dict[int, Sequence[RowKey] | np.ndarray]:
    """Return the keys `[row]` of the sheets, as a dict from `id(sheet.ids)`. A key is an id, or the pair of id and run.

    Sheets that share their ids, like the systems of a wide table, have one entry.
    """
    distinct: dict[int, Sheet] = {}
    for sheet in sheets:
        distinct.setdefault(id(sheet.ids), sheet)
    return {which: _keys(sheet) for which, sheet in distinct.items()}


def _keys(sheet: Sheet) -> Sequence[RowKey] | np.ndarray:
    ids = range(1, sheet.num_rows + 1) if sheet.ids is None else sheet.ids
    return ids if sheet.runs is None else list(zip(ids, sheet.runs, strict=True))


def _check_once(sheet: Sheet, keys: Sequence[RowKey], rows: np.ndarray, systems: Collection[str]) -> None:
    repeated = np.flatnonzero(np.bincount(rows) > 1)
    if repeated.size:
        first, second, *_ = np.flatnonzero(rows == repeated[0]).tolist()
        said = (
            f"{sheet.line(second)}: instance {quote_key(sheet, keys[repeated[0]])} of system {quote(sheet.system)} is "
            f"also on {sheet.line(first).short}; ids must be unique in each run"
        )
        raise _repeated_id_error(said, sheet, systems, equal=len({*np.bincount(rows).tolist()} - {0}) == 1)


def _repeated_id_error(said: str, sheet: Sheet, systems: Collection[str], *, equal: bool) -> InputError:
    """Return the error for repeated ids.

    If another column distinguishes the rows with the same id, the error proposes this column. `said` is the beginning
    of the message. `equal` says whether all ids occur equally often.
    """
    other = _other_id(sheet, systems)
    if sheet.id_column is None:
        return InputError(said)
    if other is None:
        numbered = _are_numbered(sheet) or any(is_trial(name) or is_order(name) for name in sheet.labels)
        ways = [{"runs": ROWS}] * (equal and sheet.runs is None and not numbered)
        otherwise = f"(column {quote(sheet.id_column)}; see {Hint('id_column')}, and {Hint('runs')} for trials)"
        return Question(f"{said} {otherwise}", ways) if sheet.reading else InputError(f"{said} {otherwise}")
    trials = f"{Hint('runs', quote(other))} if column {quote(other)} tells trials apart"
    both = f"{sheet.id_column},{other}"
    is_run = is_trial(other) or is_fold(other)
    if not sheet.reading:
        how = trials if is_run else f"{Hint('id_column', quote(both))}, or {trials}"
        return InputError(f"{said}; give {how}")
    if is_run:
        return Question(said, [{"runs": other}])
    otherwise = f"{Hint('runs', quote(other))} if it tells trials apart"
    return Question(said, [{"id_column": both}, {"id_column": other}], otherwise)


def _other_id(sheet: Sheet, systems: Collection[str]) -> str | None:
    """Find a column of a sheet that distinguishes the rows with the same id; None if there is none.

    The values of the column must repeat. A column that is named like ids, runs or folds is preferred. Any other column
    must not have fractions, and must not be one of `systems`.
    """
    keys, found = _keys(sheet), None
    for name in sheet.labels:
        named = is_id_name(name) or is_trial(name) or is_fold(name)
        if names_measures(name) or is_text_name(name):
            continue
        if not named and (found or name in systems or is_property(name) or may_be_system(name)):
            continue
        with suppress(InputError):  # a column with empty cells, lists or objects
            cells = sheet.labels[name]
            if len(set(cells)) < len(cells) == len(set(zip(keys, cells, strict=True))):
                if named:
                    return name
                found = None if any(as_float(cell) % 1 > 0 for cell in cells) else name
    return found


def _are_numbered(sheet: Sheet) -> bool:
    """Whether some column without fractions, such as the steps of a curve, distinguishes the rows with the same id."""
    keys = _keys(sheet)
    scores = () if sheet.reading is None else sheet.reading.score.columns
    for name in (name for name in sheet.labels if name not in scores):
        with suppress(InputError):
            cells = sheet.labels[name]
            if len(set(zip(keys, cells, strict=True))) == len(cells) and not any(as_float(c) % 1 > 0 for c in cells):
                return True
    return False


def _settle_missing(
    values: np.ndarray,
    systems: Sequence[str],
    name: Name,
    metric: Metric | SampleMetric,
    options: Options,
    *,
    once: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, tuple[str, ...]]:
    """Treat missing results as `options.missing` says.

    Args:
        values: `[system, instance, input]`, NaN if a number is missing.
        systems: the names of the systems.
        name: returns the name of an instance, for messages.
        metric: the metric.
        options: the options of reading.
        once: whether each instance occurs once. If there are runs, an instance occurs once per run.

    Returns: The numbers without NaN; the indices of the instances that are kept; a mask `[system,
        instance]` of the results that exist (None unless `missing` is "pairwise"); and notes.
    """
    missing = options.missing
    optional = [name in metric.optional_inputs for name in metric.inputs]
    absent = np.asarray((np.isnan(values) & ~np.array(optional)).any(axis=2))
    absent |= np.isnan(values).all(axis=2)
    everything = np.arange(values.shape[1])
    if not absent.any():
        return values, everything, None, ()
    lacks = _missing_counts(absent, systems, name)
    if missing in ("error", "zero") and len(metric.inputs) == 1 and not np.nan_to_num(values).any():
        raise InputError(
            f"all results are 0, and systems have different instances, as if files list failures alone: {lacks}; give "
            "the results that are right, too: counted as 0, or left out, those that are missing would compare nothing"
        )
    best = why_zero_is_best(
        metric, options, negative=len(metric.inputs) == 1 and bool((np.nan_to_num(values) <= 0).all())
    )
    if missing == "zero" and best:
        raise InputError(
            f"{Hint('missing', 'zero')} can give the best score to what is missing, since {best}: {lacks}; write the "
            f"worst score into the files, or use {Hint('missing', 'drop')}"
        )
    if missing == "error":
        ways = ways_of_missing(len(systems), zero_is_best=bool(best))
        if (~absent).any(axis=1).all() and (~absent).sum(axis=0).max() == 1:
            column = Hint("id_column", "NAME")
            ways = f"no two share any: name the column they share ({column}); without one, take `sigjax unpaired`"
        raise InputError(f"systems have different instances: {lacks}; {ways}")
    if missing == "drop":
        kept = np.flatnonzero(~absent.any(axis=0))
        if not kept.size:
            raise InputError(f"no instance is left that all systems have: {lacks}; use {Hint('missing', 'pairwise')}")
        return values[:, kept], kept, None, (_dropped(absent, systems, once=once),)
    if missing == "pairwise":
        if empty := [name for name, own in zip(systems, absent, strict=True) if own.all()]:
            raise InputError(f"system {quote(empty[0])} has no instance; leave it out (see {Hint('only')})")
        kept = np.flatnonzero(~absent.all(axis=0))
        values, absent = values[:, kept], absent[:, kept]
        # Fill a missing result with the numbers of another system, because the metric accepts them. The statistics are
        # set to 0 later.
        filled = np.where(absent[:, :, None], values[np.argmin(absent, axis=0), np.arange(len(kept))], values)
        note = Note(f"{_PAIRWISE}: {lacks}", code="pairwise")
        return filled, kept, ~absent, (note,)
    count = np.count_nonzero(absent)
    said = f"counted {count} missing {'result' if count == 1 else 'results'} as 0: {lacks}"
    note = Note(said, code="filled", values={"results": int(count)})
    return _with_zeros(values, absent, name, metric), everything, None, (note,)


def _dropped(absent: np.ndarray, systems: Sequence[str], *, once: bool = True) -> Note:
    """Make a note on the number of dropped instances or runs. If many were dropped, it is a warning.

    The warning has two counts for each system (for at most `MOST_SYSTEMS` systems): the instances that it lacks, and
    the instances that only this system lacks. Systems with the largest second count come first. `absent`
    `[system, instance]` marks the missing results. `once` says whether each instance occurs once; else the note counts
    runs.

    >>> print(_dropped(np.array([[1, 1, 0, 0], [0, 1, 0, 0]], bool), ["A", "B"]))
    warning: dropped 2 of 4 instances that some system lacks:
    'A' lacks 2 (1 that no other lacks), 'B' lacks 1 (0 that no other lacks)
    """
    num_lacking = absent.sum(axis=0)
    lost, count = np.count_nonzero(num_lacking), absent.shape[1]
    values = {"dropped": int(lost), "instances" if once else "runs": count}
    said = f"dropped {lost} of {count} {'instances' if once else 'runs of instances'} that some system lacks"
    if lost <= _MANY * count:
        return Note(said, code="dropped", values=values)
    alone, all_of = (absent & (num_lacking == 1)).sum(axis=1), absent.sum(axis=1)
    worst: list[int] = [k for k in np.lexsort((-all_of, -alone)).tolist() if all_of[k]]
    parts = [f"{quote(systems[k])} lacks {all_of[k]} ({alone[k]} that no other lacks)" for k in worst[:MOST_SYSTEMS]]
    pairwise = "; --missing pairwise tests each pair on the instances that both have" if len(systems) > 2 else ""
    return Note(f"warning: {said}: {', '.join(parts)}{pairwise}", code="dropped", values=values)


def _with_zeros(values: np.ndarray, absent: np.ndarray, name: Name, metric: Metric | SampleMetric) -> np.ndarray:
    """Fill missing results: inputs of the metric that are not shared by all systems become 0.

    Inputs that all systems share, such as gold counts, are copied from another system. Optional inputs stay as they
    are, unless they are shared. `values` is `[system, instance, input]`, and `absent` `[system, instance]` marks the
    missing results.
    """
    filled = np.where(absent[:, :, None], 0.0, values)
    for j, input in enumerate(metric.inputs):
        if input in metric.optional_inputs:
            filled[:, :, j] = values[:, :, j]
        if input in metric.shared_inputs:
            filled[:, :, j] = np.where(absent, _shared_values(values[:, :, j], absent, name, input), filled[:, :, j])
    return filled


def _shared_values(values: np.ndarray, absent: np.ndarray, name: Name, input: str) -> np.ndarray:
    """Return the values `[instance]` of an input that all systems share, such as gold counts.

    If a system lacks an instance, all systems that have the instance must agree on its value. `values` is
    `[system, instance]`, and `absent` `[system, instance]` marks the missing results.
    """
    low = np.where(absent, np.inf, values).min(axis=0)
    high = np.where(absent, -np.inf, values).max(axis=0)
    wrong = np.flatnonzero(absent.any(axis=0) & (low != high))
    if wrong.size:
        i, drop = int(wrong[0]), Hint("missing", "drop")
        if absent[:, i].all():
            raise InputError(f"no system has instance {name(i)}, so its {input} is unknown; use {drop}")
        differs = f"is {low[i]:g} for one system and {high[i]:g} for another"
        raise InputError(f"{input} of instance {name(i)} {differs}, so it cannot be filled in; use {drop}")
    return high


def _missing_counts(absent: np.ndarray, systems: Sequence[str], name: Name) -> str:
    """Say for each system how many instances it lacks, and name the first missing instance.

    `absent` `[system, instance]` marks the missing results.
    """
    lacking = np.flatnonzero(absent.any(axis=1)).tolist()
    parts = [
        f"{quote(systems[k])} lacks {np.count_nonzero(absent[k])} of {absent.shape[1]} "
        f"(first: {name(int(np.argmax(absent[k])), k)})"
        for k in lacking[:MOST_SYSTEMS]
    ]
    more = len(lacking) - MOST_SYSTEMS
    return ", ".join(parts) + (f" and {more} more system(s)" if more > 0 else "")


_CLOSE = 0.1
"""Largest distance, in standard deviations of the column, up to which a row counts as the mean (or sum) of the other
rows. The row may differ from their exact mean because means are rounded."""


def _summary_rows(ids: Sequence[Any]) -> list[int]:
    """Return the indices of the ids that are named like the mean or the sum of other rows; none if all are named so."""
    found = [i for i, id in enumerate(ids) if is_summary(str(id))]
    if found:  # rows such as "std" count only beside a row such as "mean"
        found = [i for i, id in enumerate(ids) if i in found or is_statistic_name(str(id))]
    return found if len(found) < len(ids) else []


_ROUNDED = 0.0006
"""Largest rounding error up to which the last row, whatever its id, counts as the mean of the other rows."""


def _mean_row(values: np.ndarray) -> list[int]:
    """Return the index of the last instance, in a list, if it is the mean of the other instances in all systems.

    Otherwise, the list is empty. `values` is `[system, instance, input]`.
    """
    if values.shape[0] < 2 or values.shape[1] <= _FEWEST_ROWS or values.shape[2] != 1 or np.isnan(values).any():
        return []
    others, last = values[:, :-1, 0], values[:, -1, 0]
    is_mean = np.abs(last - others.mean(axis=1)) <= np.minimum(_ROUNDED, 0.01 * others.std(axis=1))
    few = np.isin(others, last[:, None]).any(axis=1)  # a number that also stands in other rows may be a plain score
    return [values.shape[1] - 1] if (is_mean & ~few).all() else []


_FEWEST_ROWS = 5


def _check_totals(
    values: np.ndarray, totals: Sequence[int], ids: Sequence[Any], sheets: Sequence[Sheet], rows: Sequence[np.ndarray]
) -> None:
    """Raise an error if a row is the mean or sum of the other rows, or if a last row is named like a mean or sum.

    Args:
        values: `[system, instance, input]`, NaN if a number is missing.
        totals: the indices of the instances that may be means or sums.
        ids: the ids of all instances.
        sheets: the sheet of each system; the message names the file and the line of the row.
        rows: for each sheet, the index of the instance of each row.
    """
    others = np.delete(values, totals, axis=1)
    for total in totals:
        what = next((what for what in ("mean", "sum") if _is_aggregate_row(what, values[:, total], others)), None)
        if what is not None:
            more = [str(ids[i]) for i in totals if i != total]
            also = f", and {listing(more)}" if more else ""
            left_out = _leaving_out(sheets[0], str(ids[total]))
            said = f"is the {what} of the other rows, and would count as an instance; delete it{also}{left_out}"
        elif total >= len(ids) - len(totals) and not np.isnan(values[:, total]).all():
            said = (
                "is the last row, and is named like the mean or the sum of the others; delete it, or rename it if it "
                "is an instance"
            )
        else:
            continue
        found = ((sheet, np.flatnonzero(own == total)) for sheet, own in zip(sheets, rows, strict=True))
        place = next(sheet.line(int(own[0])) for sheet, own in found if own.size)
        raise InputError(f"{place}: {quote(str(ids[total]))} {said}")


def _leaving_out(sheet: Sheet, id: str) -> str:
    """Return advice to leave out the rows with this id, with the option `where`; empty if the id is hard to type."""
    name = sheet.id_column
    if name is None or "`" in name or len(id) > LONGEST_TEXT or any(mark in f"{name}{id}" for mark in "'\"\\"):
        return ""
    column = name if name.isidentifier() else f"`{name}`"
    return f"; or give {Hint('where', repr(f'{column} != {id.strip()!r}'))}"


def _is_aggregate_row(what: str, row: np.ndarray, others: np.ndarray) -> bool:
    """Whether the numbers `[system, input]` of a row are the means (or sums, if `what` is "sum") of the other rows.

    `others` are the numbers of the other rows, `[system, row, input]`.
    """
    given = ~np.isnan(row) & (~np.isnan(others)).any(axis=1)
    if not given.any():
        return False
    columns = others.transpose(0, 2, 1)[given].T
    expected = (np.nanmean if what == "mean" else np.nansum)(columns, axis=0)
    spread, near = np.nanstd(columns, axis=0), 1e-9 * np.abs(expected)
    return bool((spread > 0).any() and np.all(np.abs(row[given] - expected) <= _CLOSE * spread + near))


_WHAT = "numbers by id"


def evaluation_from_mappings(
    systems: Mapping[str, Mapping[object, Any]],
    *,
    metric: str | Metric | SampleMetric | Callable[[Array], Array],
    clusters: object = None,
    strata: object = None,
    missing: Missing = "error",
) -> EvaluationRecord:
    """Join numbers by id, for `Evaluation.from_arrays`; `systems` maps each system to id -> number (or numbers).

    `clusters` and `strata` map ids to labels.

    >>> numbers = {"A": {"x": 1, "y": 0}, "B": {"y": 1}}
    >>> evaluation = evaluation_from_mappings(numbers, metric="mean", missing="drop")
    >>> evaluation.ids, evaluation.notes
    (('y',), ("warning: dropped 1 of 2 instances that some system lacks: 'B' lacks 1 (1 that no other lacks)",))
    """
    options = Options(metric=metric, missing=missing)
    check_options(options)
    columns = {name: _numbers(str(name), own) for name, own in systems.items()}
    widths = {name: column.shape[1] for name, column in columns.items() if len(column)}
    if len(set(widths.values())) > 1:
        raise InputError(f"systems have different numbers of numbers per instance: {widths}")
    width = next(iter(widths.values()), 1)
    resolved = resolve_metric(metric, num_inputs=width)
    sheets = []
    for name, own in systems.items():
        numbers = columns[name].reshape(len(own), width).T
        sheets.append(Sheet(str(name), _WHAT, dict(zip(resolved.inputs, numbers, strict=True)), ids=list(own)))
    options = replace(options, metric=resolved)
    evaluation = join_sheets(sheets, options)(options)
    ids = evaluation.ids or ()
    return replace(evaluation, clusters=_labels("clusters", clusters, ids), strata=_labels("strata", strata, ids))


def _numbers(system: str, numbers: object) -> np.ndarray:
    """Return the numbers `[instance, input]` of a system, with one column per input of the metric.

    If a number is None or NaN, raise an error that names the id.
    """
    if not isinstance(numbers, Mapping):
        raise InputError(
            f"system {system!r}: expected numbers by id, as other systems have, got {type(numbers).__name__}; give all "
            "systems as id -> number, or all as arrays"
        )
    if not numbers:
        return np.empty((0, 1))
    try:
        return as_numbers(system, [np.asarray(each) if hasattr(each, "dtype") else each for each in numbers.values()])
    except InputError as error:
        for id, value in numbers.items():
            try:
                as_numbers(system, [value])
            except InputError:
                raise InputError(error.message, f" (id {quote(str(id))})") from None
        raise


def _labels(what: str, labels: object, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Return labels `[instance]`, in the order of `ids`, from the mapping `labels` (id -> label).

    The result is None if `labels` is None. `what` names the labels in messages ("clusters" or "strata").
    """
    if labels is None:
        return None
    if not isinstance(labels, Mapping):
        raise InputError(f"{what}: expected id -> label, as the numbers are given by id, got {type(labels).__name__}")
    by_id = {str(id): str(label) for id, label in labels.items()}
    for id in ids:
        if by_id.get(id, "") in ("", "None", "nan"):
            raise InputError(f"{what}: instance {quote(id)} has no label; give one")
    return tuple(map(by_id.__getitem__, ids))
