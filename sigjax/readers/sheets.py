"""The one join: a sheet per system (a column of numbers per input, a row per instance) -> evaluations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sigjax.files.opening import naming
from sigjax.metrics import MEAN, METRICS, evaluation_from_arrays, known_metric
from sigjax.readers.formats import Reading
from sigjax.readers.missing import settle_missing
from sigjax.readers.options import Options, chosen_metric, listing, select_systems, show, suggest
from sigjax.readers.responses import NOTE
from sigjax.readers.sources import file_labels
from sigjax.readers.table import check_filled
from sigjax.records import Evaluation, InputError, Metric, SampleMetric


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a file says of one system: one row per instance and run."""

    system: str
    file: str
    numbers: Mapping[str, np.ndarray]
    """name -> [row] float64; NaN where there is none."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """name -> [row]: what `--cluster` and `--strata` may name."""
    ids: Sequence[Any] | None = None
    """[row]; None where instances are known by their position."""
    runs: Sequence[str] | None = None
    """[row] the trial; None where each instance was run once."""
    lines: Sequence[int] | np.ndarray | None = None
    """[row] the line of the file; None where rows are counted."""
    id_column: str | None = None
    """The column of a table that the ids are from, for messages."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.numbers.values()), ()) if self.ids is None else self.ids)

    def place(self, row: int) -> str:
        """The line or the row, for a message."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


Key = Any
"""The id of an instance; with runs, the id and the run."""


def join_sheets(
    sheets: Sequence[Sheet],
    options: Options,
    *,
    scores: bool = False,
    notes: tuple[str, ...] = (),
    order: Iterable[Key] | None = None,
) -> Reading:
    """Join one sheet per system by id, or by position where there are no ids; the result evaluates any metric.

    Args:
        sheets: those of all systems; `options.systems` says which to compare.
        options: all but the metric, which is left to the result.
        scores: whether `metric` may name a column of numbers, whose mean is taken.
        notes: for the evaluation.
        order: the keys of all instances in their order; by default the order in which the sheets name them.
    """
    sheets = _chosen(sheets, options)
    file, systems = sheets[0].file, tuple(sheet.system for sheet in sheets)
    keys, rows = _match(sheets, order)
    check_filled(file, filled=sum(map(len, rows)), rows=len(sheets), columns=len(keys), what="systems by instances")
    used = np.flatnonzero(np.bincount(np.concatenate(rows), minlength=len(keys)))
    labels = [
        None if name is None else _labels(sheets, keys, rows, used, name, option)
        for name, option in ((options.cluster, "--cluster"), (options.strata, "--strata"))
    ]

    def evaluate(options: Options) -> Evaluation:
        metric = sheet_metric(sheets, options) if scores else chosen_metric(options)
        values = np.full((len(sheets), len(keys), len(metric.inputs)), np.nan)
        for own, index, columns in zip(values, rows, _inputs(sheets, metric, options, scores=scores), strict=True):
            own[index] = np.stack(columns, axis=-1)

        def name(instance: int, system: int | None = None) -> str:
            """The instance, and the line of a system's row."""
            named = _show(sheets[0], keys[used[instance]])
            if system is None or sheets[system].lines is None:
                return named
            row = np.flatnonzero(rows[system] == used[instance])
            return f"{named}, {sheets[system].place(row[0])}" if row.size else named

        with naming(file):
            values, kept, note = settle_missing(values[:, used], systems, name, metric, options.missing)
            instances = used[kept].tolist()
            clusters, strata = (None if each is None else [each[i] for i in instances] for each in labels)
            ids = None if sheets[0].ids is None else [keys[i] for i in instances]
            runs = None if sheets[0].runs is None else [run for _, run in ids or ()]
            evaluation = evaluation_from_arrays(
                dict(zip(systems, values, strict=True)),
                metric=metric,
                ids=ids if runs is None else [id for id, _ in ids or ()],
                clusters=clusters,
                strata=strata,
                runs=runs,
                notes=(*notes, *note),
            )
        if options.unit == "response":
            return replace(evaluation, unit="response", notes=(*evaluation.notes, NOTE))
        return evaluation

    return evaluate


def _chosen(sheets: Sequence[Sheet], options: Options) -> list[Sheet]:
    """The sheets of the systems to compare, in the order asked for."""
    by_system = {sheet.system: sheet for sheet in sheets}
    if len(by_system) < len(sheets):
        repeated = next(sheet for sheet in sheets if sheet is not by_system[sheet.system])
        raise InputError(f"{repeated.file}: another file holds the system {show(repeated.system)} too; leave one out")
    return [by_system[name] for name in select_systems(sheets[0].file, list(by_system), options.systems)]


def _match(sheets: Sequence[Sheet], order: Iterable[Key] | None) -> tuple[list[Key], list[np.ndarray]]:
    """The keys of all instances, and the instance of each row `[row]` of each sheet."""
    for sheet in sheets[1:]:
        if (sheet.ids is None) != (sheets[0].ids is None):
            one, other = (sheets[0], sheet) if sheet.ids is None else (sheet, sheets[0])
            raise InputError(
                f"{other.file}: has no instance ids, but {one.file} has; expected ids in all files or in none"
            )
        if sheet.ids is None and sheet.num_rows != sheets[0].num_rows:
            raise InputError(
                f"{sheet.file}: has {sheet.num_rows} instances, but {sheets[0].file} has {sheets[0].num_rows}; without "
                "ids they are joined by position, so expected as many"
            )
    by_ids: dict[int, Sequence[Key]] = {}
    for sheet in sheets:  # the columns of a wide table share one list of ids
        if id(sheet.ids) not in by_ids:
            by_ids[id(sheet.ids)] = _keys(sheet)
    in_order = (key for keys in by_ids.values() for key in keys) if order is None else order
    index = {key: i for i, key in enumerate(dict.fromkeys(in_order))}
    rows = {which: np.fromiter(map(index.__getitem__, keys), np.int64, len(keys)) for which, keys in by_ids.items()}
    return list(index), [rows[id(sheet.ids)] for sheet in sheets]


def _keys(sheet: Sheet) -> Sequence[Key]:
    """The key of each row of a sheet, each of them once."""
    ids = range(1, sheet.num_rows + 1) if sheet.ids is None else sheet.ids
    keys = ids if sheet.runs is None else list(zip(ids, sheet.runs, strict=True))
    if len(set(keys)) < len(keys):
        first: dict[Key, int] = {}
        row = next(row for row, key in enumerate(keys) if first.setdefault(key, row) != row)
        hint = "" if sheet.id_column is None else f" (column {show(sheet.id_column)}; see --id, and --runs for trials)"
        raise InputError(
            f"{sheet.file}, {sheet.place(row)}: instance {_show(sheet, keys[row])} of system {show(sheet.system)} is "
            f"also on {sheet.place(first[keys[row]])}; ids must be unique in each run{hint}"
        )
    return keys


def _show(sheet: Sheet, key: Key) -> str:
    """An instance, for a message."""
    if sheet.ids is None:
        return str(key)
    if sheet.runs is None:
        return show(str(key))
    id, run = key
    return f"{show(str(id))} (run {show(str(run))})"


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


def _inputs(
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


def _labels(
    sheets: Sequence[Sheet], keys: Sequence[Key], rows: Sequence[np.ndarray], used: np.ndarray, name: str, option: str
) -> Sequence[str]:
    """Labels `[instance]` that the sheets hold under a name, or those of a file; `used` instances need one."""
    if not any(name in sheet.labels for sheet in sheets):
        known = dict.fromkeys(label for sheet in sheets for label in sheet.labels)
        return file_labels(sheets[0].file, name, option=option, known=known, num_instances=len(keys))
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
                f"{sheet.file}, {sheet.place(row)}: {show(name)} of instance {_show(sheet, keys[i])} is "
                f"{show(column[row])}, but {show(str(labels[i]))} elsewhere; {option} takes one label per instance"
            )
        labels[own], seen[own] = found, True
    for i in used.tolist():
        if not str(labels[i]).strip():
            raise InputError(f"{sheets[0].file}: {option}: instance {_show(sheets[0], keys[i])} has no {show(name)}")
    return labels.tolist()
