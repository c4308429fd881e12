"""Logs of evaluation programs: from the scores in each log to one evaluation per task.

A format makes one `SystemLog` for each system in a file. If a file has one record per instance, the format only
declares the fields of a record; else it has a function `results(file, options)`. `Log` does the common work: it names
the systems, checks that they agree, selects the tasks and runs that all systems have, makes notes, and joins the
systems.
"""

from __future__ import annotations

import math
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, NoReturn, TypeVar

import numpy as np

from sigjax.metrics import MEAN, trial_metric
from sigjax.readers.join import Reading, Sheet, Sources, Tasks, join_sheets
from sigjax.readers.json_files import JsonObject, load_item, text
from sigjax.readers.options import Options, listing, quote, suggest
from sigjax.readers.roles import SHOWN
from sigjax.records import EvaluationRecord, Hint, InputError, Metric, SampleMetric
from sigjax.run.files import is_file, naming

_Value = TypeVar("_Value")
_Key = TypeVar("_Key", bound=Hashable)

UNKNOWN = "unknown"
_SUCCESS_SCORE = "success"
"""Name of the score that says whether a run passes, if there are several scores."""
TOLERANCE = 1e-9
"""Largest difference between a mean and the published mean for which they agree, as a share of the published mean. If
the published mean is between -1 and 1, it is the difference itself."""
LogScores = Mapping[str, float | InputError]
"""Dict from the name of a score to its value, or to an error, which is raised if the score is used. Missing scores are
left out."""


@dataclass(frozen=True, slots=True)
class InstanceLog:
    """The scores and labels of one instance in a log."""

    scores: LogScores
    id: str | None = None
    """Id of the instance; None if the format identifies instances by position."""
    run: str | None = None
    """The run (trial, epoch, seed), if an instance has several runs."""
    labels: Any = None
    """An object with labels of the instance. `--cluster` and `--strata` may name a field of it that is neither a list
    nor an object."""
    content: object = None
    """A value that must be equal for all systems, such as a hash of the question; None if the log has no such value."""


@dataclass(frozen=True, eq=False)
class SystemLog:
    """The results of one system in a log."""

    file: str
    rows: Iterable[InstanceLog]
    """The instances. They are iterated only once, so that they need not be kept in memory, where many small objects
    slow down the garbage collector."""
    system: str = ""
    """Name of the system in the log, such as a model; empty if the log does not name it."""
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str | None] = field(default_factory=dict)
    """Properties in which the systems should agree, besides the task, such as {"annotator": "gpt4"}."""
    task: str = ""
    """Name of the task in the log; empty if the log names no task."""
    lacking: tuple[int, int, str] = (0, 0, "")
    """(number of rows without a result, number of all rows, the words of a note after these two numbers)."""
    published: Callable[[str, float], tuple[list[str], bool]] | None = None
    """Function: (name of a score, its mean) -> (notes, whether lower is better). There is a note if the program
    published another mean."""
    unlisted: tuple[int, LogScores] | None = None
    """If the log lists only failures: the number of all instances, and the scores of an instance that is not listed."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """A format of logs. Its method `read` is the reader of the format.

    Attributes:
        results: function: (file, options) -> one `SystemLog` per system. If a file has one record per instance and
            trial, give `load` and `scores` instead, and the names of fields that follow.
        load: function: file -> (the whole content, its records).
        scores: function: record -> its scores.
        id: field of a record with the id of the instance.
        trial: field with the trial; "#" numbers the records of an instance.
        system: field with the name of the system. A path such as `/info.model?` is a field of the whole content; ? says
            that it may be missing.
        facts: dict from the name of a fact to its field, written as for `system`.
        labels: field with an object of labels.
        same: fields on which all systems must agree; the first field that a record has is used.
        filter: field for `--filter`, which selects the records with one value.
        lacking: (function: record -> whether its result is missing, words after the numbers of records in a note).
        content: name of `InstanceLog.content` (or `same`) in messages.
        must_agree: dict from the name of a fact to advice for the error if systems differ in it. Differences in other
            facts only make a note.
        main: the score to use for the metric "mean".
        adapt: function: (options, names of the scores) -> options with the metric to use.
        files_are_runs: whether several files of a system are its runs on the same instances.
    """

    results: Callable[[str, Options], Iterable[SystemLog]] | None = None
    load: Callable[[str], tuple[JsonObject, Iterable[JsonObject]]] = lambda file: (load_item(file), ())
    scores: Callable[[JsonObject], LogScores] = lambda _: {}
    id: str = "id"
    trial: str = ""
    system: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    labels: str = ""
    same: tuple[str, ...] = ()
    filter: str = ""
    lacking: tuple[Callable[[JsonObject], bool], str] = (lambda _: False, "")
    content: str = "content"
    must_agree: Mapping[str, str] = field(default_factory=dict)
    main: str = "mean"
    adapt: Callable[[Options, Sequence[str]], Options] = lambda options, _: options
    files_are_runs: bool = False

    def _declared(self, file: str, options: Options) -> Iterator[SystemLog]:
        """Yield the log of each system in a file, made from the declared fields."""
        whole, every = self.load(file)
        records, notes = list(every), ()
        if self.filter:
            kinds = [record.text(self.filter, UNKNOWN) for record in records]
            chosen = choose(file, kinds, options.filter, self.filter)
            records = [record for record, kind in zip(records, kinds, strict=True) if kind == chosen]
            if chosen == UNKNOWN:
                notes = (f"warning: {file} names no {self.filter}; compare results of the same one only",)

        def names(record: JsonObject) -> tuple[str, ...]:
            fields = (self.system, *self.facts.values())
            return tuple(each and (whole if each[0] == "/" else record).name(each.strip("/")) for each in fields)

        for (system, *facts), own in (grouped(records, names) or {names(whole): []}).items():
            said = {fact: value or None for fact, value in zip(self.facts, facts, strict=True)}
            lacking = sum(map(self.lacking[0], own)), len(own), self.lacking[1]
            yield SystemLog(file, self._rows(own), system, notes, said, lacking=lacking)

    def _rows(self, records: Iterable[JsonObject]) -> Iterator[InstanceLog]:
        counts = Counter[str]()
        for record in records:
            id = record.text(self.id)
            counts[id] += 1
            trial = str(counts[id]) if self.trial == "#" else self.trial and record.text(self.trial, 0)
            content = next((value for name in self.same if (value := record.get(name)) is not None), None)
            yield InstanceLog(self.scores(record), id, trial or None, record.get(self.labels), content)

    def read(self, sources: Sources, options: Options) -> Tasks:
        """Read logs; return a function from options to evaluations by task, or to one evaluation for a single task."""
        files = sources.files or tuple(sources.by_file())
        results = [result for file in files for result in (self.results or self._declared)(file, options)]
        if not results:
            raise InputError(f"{files[0]}: holds no results of instances; expected at least one")
        names = _names(results, sources, files_are_runs=self.files_are_runs)
        named = [replace(result, system=name) for result, name in zip(results, names, strict=True)]
        if self.files_are_runs:
            named = list(map(_as_runs, grouped(named, attrgetter("system")).values()))
        tasks, notes = _by_task(named, options)
        of_tasks = _options_of_tasks(options, {name or logs[0].task: logs for name, logs in tasks.items()})
        scores, readings, joined = dict[str, Collection[str]](), dict[str, Reading](), dict[str, list[Sheet]]()
        for (name, logs), own in zip(tasks.items(), of_tasks, strict=True):
            seen = joined[name] = []
            scores[name], readings[name] = self._read_task(logs, notes, replace(own, seen=seen), alone=len(tasks) == 1)
        if options.seen is not None:
            options.seen[:] = chain.from_iterable(joined.values())
        if len(readings) == 1:
            return next(iter(readings.values()))
        fields = {name: {label for sheet in seen for label in sheet.labels} for name, seen in joined.items()}
        asked = options

        def evaluate(options: Options) -> dict[str, EvaluationRecord | None]:
            having = [name for name in readings if options.metric in scores[name]] or list(readings)
            having, left_out = _having_fields(asked, files[0], {name: fields[name] for name in having})
            if left_out:
                return {name: _of_one_task(readings[name](options), left_out) for name in having}
            return {name: reading(options) if name in having else None for name, reading in readings.items()}

        return evaluate

    def _read_task(
        self, results: Sequence[SystemLog], notes: tuple[str, ...], options: Options, *, alone: bool
    ) -> tuple[Collection[str], Reading]:
        """Return the names of a task's scores, and a function that evaluates the task by a score or a metric.

        If there are several tasks (not `alone`), errors are raised only when the task is evaluated, because perhaps the
        requested metric does not exist for this task.
        """
        results, listed = _with_unlisted(results)
        sheets, contents, unusable = zip(*(_columns(result, options) for result in results), strict=True)
        notes += _differences(results, self.must_agree) + listed
        notes += tuple(dict.fromkeys(note for result in results for note in result.notes))
        notes += tuple(_missing_note(results))
        _check_content(sheets, contents, self.content)
        sheets, notes = _with_runs(sheets, notes)
        try:
            reading = join_sheets(sheets, options, scores=True, notes=notes)
        except InputError as error:
            if alone:
                raise
            return sheets[0].numbers, partial(_refuse, error)
        refusals: Mapping[object, InputError] = ChainMap(*unusable)

        def evaluate(options: Options) -> EvaluationRecord:
            if options.metric == "mean" and options.counts is None and self.main in sheets[0].numbers:
                options = replace(options, metric=self.main)
            if options.counts is None and isinstance(options.metric, str) and trial_metric(options.metric):
                passed = next((name for name in (_SUCCESS_SCORE, self.main) if name in sheets[0].numbers), None)
                options = replace(options, counts=passed and {"value": passed})
            options = self.adapt(options, list(sheets[0].numbers))
            for score in (options.metric, *(options.counts or {}).values()):
                if score in refusals:
                    raise refusals[score]
            evaluation = _compare_published(reading(options), sheets, results)
            score = _score(evaluation.metric, sheets[0]) or evaluation.metric.name
            task, *others = {result.task for result in results}
            return replace(evaluation, title=f"{task}: {score}" if task and not others else None)

        return sheets[0].numbers, evaluate


def _options_of_tasks(options: Options, logs: Mapping[str, Sequence[SystemLog]]) -> list[Options]:
    """Return the options for each task; TASK=FIELD in `cluster` and `strata` gives the field for one task.

    `logs` maps each task to its logs.

    >>> [own.cluster for own in _options_of_tasks(Options(cluster="x=topic"), {"x": [], "y": []})]
    ['topic', None]
    """
    changes: list[dict[str, str | None]] = [{} for _ in logs]
    for option in ("cluster", "strata"):
        said = [part.partition("=") for part in (getattr(options, option) or "").split(",")]
        if is_file(getattr(options, option) or "") or not all(equals for _, equals, _ in said):
            continue
        fields = {task.strip(): name.strip() for task, _, name in said}
        if unknown := [task for task in fields if task not in logs]:
            file = next(log.file for own in logs.values() for log in own)
            others = suggest(unknown[0], logs, "tasks")
            raise InputError(f"{file}: {Hint(option)}: no task {quote(unknown[0])}; {others}")
        for task, own in zip(logs, changes, strict=True):
            own[option] = fields.get(task)
    return [replace(options, **own) for own in changes]


def _having_fields(options: Options, file: str, fields: Mapping[str, Collection[str]]) -> tuple[list[str], list[str]]:
    """Return the tasks that have the fields named by `cluster` and `strata`, and the tasks that are left out.

    `fields` are the fields of each task. If some tasks lack such a field, an error is raised. Only if `options.sliced`,
    tasks without the field of `strata` are left out instead.
    """
    for option in ("cluster", "strata"):
        name = getattr(options, option)
        if name is None or "=" in name or is_file(name):
            continue
        lacking = [task for task, own in fields.items() if name not in own]
        having = [task for task in fields if task not in lacking]
        if lacking and having and option == "strata" and options.sliced:
            return having, lacking
        if lacking:
            which = ", ".join(f"{task}: {listing(sorted(own), 5) or 'none'}" for task, own in [*fields.items()][:4])
            how = f"{Hint(option, quote(f'{having[0]}={name}'))} is for that task alone; " if having else ""
            no_field = f"no field {quote(name)} in {listing(lacking, 4)}"
            raise InputError(f"{file}: {Hint(option)}: {no_field}; {how}fields of {which}")
    return list(fields), []


def _of_one_task(evaluation: EvaluationRecord, left_out: Sequence[str]) -> EvaluationRecord:
    """Name the metric of an evaluation after its task, and add a note on the tasks that are left out."""
    metric = replace(evaluation.metric, name=evaluation.title or evaluation.metric.name)
    note = f"left out task{'s' * (len(left_out) > 1)} {', '.join(left_out)}: no such field"
    return replace(evaluation, metric=metric, notes=(*evaluation.notes, note), title=None)


def _refuse(error: InputError, _: Options) -> NoReturn:
    raise error


def choose(file: str, names: Iterable[str], chosen: str | None, what: str) -> str:
    """Choose one kind of results (named `what` in messages): the only kind, or the kind that `--filter` names."""
    known = list(dict.fromkeys(names))
    if not known:
        raise InputError(f"{file}: holds no results; expected those of at least one instance")
    if chosen is not None and chosen not in known:
        raise InputError(f"{file}: {Hint('filter')}: no {what} {quote(chosen)}; {suggest(chosen, known, what + 's')}")
    if chosen is None and len(known) > 1:
        which = f"{Hint('filter', 'NAME')}, such as {Hint('filter', quote(known[0]))}"
        raise InputError(f"{file}: holds results of the {what}s {listing(known)}; say which with {which}")
    return chosen if chosen is not None else known[0]


def grouped(values: Iterable[_Value], key: Callable[[_Value], _Key]) -> dict[_Key, list[_Value]]:
    """Return a dict from each key to its values, in order; the keys are in the order of their first values."""
    groups: dict[_Key, list[_Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def _by_task(logs: Sequence[SystemLog], options: Options) -> tuple[dict[str, list[SystemLog]], tuple[str, ...]]:
    """Return two things: a dict from each task that all systems have to its logs, and notes on tasks left out.

    If no system has several tasks, the only key is "".
    """
    tasks = list(dict.fromkeys(log.task for log in logs))
    systems = list(dict.fromkeys(log.system for log in logs))
    if all(len({log.task for log in logs if log.system == name}) < 2 for name in systems):
        return {"": list(logs)}, ()
    chosen = [name for name in systems if name in (options.only or ())] or systems
    notes, having = (), {task: {log.system for log in logs if log.task == task} for task in tasks}
    for task in tasks:
        lacking = [name for name in chosen if name not in having[task]]
        if lacking and options.missing != "drop":
            raise InputError(
                f"task {quote(task)} has no results of {listing(lacking)}; {Hint('missing', 'drop')} leaves such tasks "
                "out"
            )
        if lacking:
            notes += (f"left out task {task}: no results of {listing(lacking)}",)
    groups = {task: [log for log in logs if log.task == task] for task in tasks if having[task].issuperset(chosen)}
    if not groups:
        raise InputError(f"no task has results of all systems, {listing(chosen)}; compare systems on the same tasks")
    return groups, notes


def _as_runs(logs: Sequence[SystemLog]) -> SystemLog:
    """Join the logs of a system to one log; a single log is returned as it is.

    Each file becomes one run of the joined log, or several runs if the file has several runs.
    """
    if len(logs) == 1:
        return logs[0]
    rows = [replace(row, run=f"{i}.{row.run or 1}") for i, log in enumerate(logs, 1) for row in log.rows]
    counts, totals, what = zip(*(log.lacking for log in logs), strict=True)
    notes = tuple(note for log in logs for note in log.notes)
    return replace(logs[0], rows=rows, notes=notes, lacking=(sum(counts), sum(totals), what[0]), published=None)


def _with_unlisted(logs: Sequence[SystemLog]) -> tuple[Sequence[SystemLog], tuple[str, ...]]:
    """Complete logs that list only failures: add a row for each other instance. Also return a note.

    Instances that some log lists have ids. Instances that no log lists get made-up ids, because they have the same
    score in all logs.

    >>> row = InstanceLog({"valid": 0.0}, "q1")
    >>> logs = [SystemLog("", rows, unlisted=(2, {"valid": 1.0})) for rows in ([row], [])]
    >>> [[(row.id, row.scores["valid"]) for row in log.rows] for log in _with_unlisted(logs)[0]]
    [[('q1', 0.0), ('1 of 1 that no file lists', 1.0)], [('q1', 1.0), ('1 of 1 that no file lists', 1.0)]]
    """
    if not all(log.unlisted for log in logs):
        return logs, ()
    rows = [{row.id: row for row in log.rows} for log in logs]
    ids = list(dict.fromkeys(id for own in rows for id in own))
    (count, _), *others = (log.unlisted or (0, {}) for log in logs)
    for log, (other, _) in zip(logs[1:], others, strict=True):
        if other != count:
            raise InputError(
                f"{log.file}: is of {other} instances, but {logs[0].file} of {count}; such files list failures "
                "only, so give those of the same test set"
            )
    rest = count - len(ids)
    if rest < 0:
        raise InputError(
            f"{logs[0].file}: is of {count} instances, but all files together list {len(ids)}; give those of the same "
            "test set"
        )
    ids += [f"{i} of {rest} that no file lists" for i in range(1, rest + 1)]
    whole = [
        replace(log, rows=[own.get(id) or InstanceLog((log.unlisted or (0, {}))[1], id) for id in ids])
        for log, own in zip(logs, rows, strict=True)
    ]
    return whole, (f"files list failures only: {rest:,} of {count:,} instances are in none, and passed by all",)


def _missing_note(logs: Sequence[SystemLog]) -> Iterator[str]:
    """Yield one note for each kind of missing results, with the counts of all systems.

    >>> counts = {"A": 3, "B": 0, "C": 20}
    >>> list(_missing_note([SystemLog("", (), name, lacking=(n, 80, "trials failed")) for name, n in counts.items()]))
    ['23 of 240 trials failed (A: 3, C: 20)']
    """
    for what, own in grouped(logs, lambda log: log.lacking[2]).items():
        count, total = sum(log.lacking[0] for log in own), sum(log.lacking[1] for log in own)
        lacking = [f"{log.system}: {log.lacking[0]}" for log in own if log.lacking[0]]
        more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        if lacking:
            yield f"{count} of {total} {what} ({', '.join(lacking[:SHOWN])}{more})"


def _with_runs(sheets: Sequence[Sheet], notes: tuple[str, ...]) -> tuple[list[Sheet], tuple[str, ...]]:
    """Keep the runs if all systems have the same runs; else replace the runs of each instance by their mean."""
    runs = [set(sheet.runs or ()) for sheet in sheets]
    if all(len(own) <= 1 for own in runs):
        return [replace(sheet, runs=None) for sheet in sheets], notes
    if all(own == runs[0] for own in runs):
        return list(sheets), notes
    note = "the systems have different runs (epochs, trials): took the mean of each instance"
    return [_mean_of_runs(sheet) for sheet in sheets], (*notes, note)


def _mean_of_runs(sheet: Sheet) -> Sheet:
    places = {label: i for i, label in enumerate(dict.fromkeys(sheet.ids or ()))}
    ids, rows = list(places), np.array([places[label] for label in sheet.ids or ()], np.int64)
    firsts = np.unique(rows, return_index=True)[1]

    def mean(column: np.ndarray) -> np.ndarray:
        there = ~np.isnan(column)
        totals, counts = (np.bincount(rows[there], each, len(ids)) for each in (column[there], None))
        return totals / np.where(counts > 0, counts, np.nan)

    return replace(
        sheet,
        numbers={name: mean(column) for name, column in sheet.numbers.items()},
        labels={name: [labels[i] for i in firsts] for name, labels in sheet.labels.items()},
        ids=ids,
        runs=None,
    )


def _columns(result: SystemLog, options: Options) -> tuple[Sheet, list[object], dict[str, InputError]]:
    """Return a sheet of the log, contents `[row]`, and a dict from each score that cannot be used to its error.

    A content is a value that must be equal for all systems, such as a hash of the question. A missing score is NaN.
    """
    scores: dict[str, list[float | InputError]] = {}
    ids, runs, objects, contents = [], [], [], []
    for i, row in enumerate(result.rows):
        for name, value in row.scores.items():
            column = scores.setdefault(name, [])
            column += [math.nan] * (i - len(column))
            column.append(value)
        ids.append(row.id)
        runs.append(row.run)
        objects.append(row.labels)
        contents.append(row.content)
    numbers: dict[str, np.ndarray] = {}
    unusable: dict[str, InputError] = {}
    for name, column in scores.items():
        try:
            numbers[name] = np.array(column + [math.nan] * (len(ids) - len(column)), np.float64)
        except TypeError:
            unusable[name] = next(value for value in column if isinstance(value, InputError))
    if not numbers:
        nothing = InputError(f"{result.file}: holds no scores of single instances; expected at least one")
        raise next(iter(unusable.values()), nothing)
    with naming(result.file):
        labels = _plain_labels(objects, (options.cluster, options.strata))
    ids, runs = ([each for each in column if each is not None] for column in (ids, runs))
    return Sheet(result.system, result.file, numbers, labels, ids or None, runs), contents, unusable


def _names(results: Sequence[SystemLog], sources: Sources, *, files_are_runs: bool) -> list[str]:
    """Return the names of the systems; in general, these are the names in the logs.

    If a name is missing in a log, or if names are repeated, the files give the names. A name that the user gave
    (NAME=FILE) replaces the log's name, unless the file has several systems. Raise an error if two logs still have the
    same name and task. With `files_are_runs`, this is allowed: the files are runs of a system.
    """
    by_file = sources.by_file()
    files = [result.file for result in results]
    own = [result.system or by_file.get(result.file, "") for result in results]
    repeated = len({*_tasks_and_systems(results, own)}) < len(own)
    names = []
    for file, name in zip(files, own, strict=True):
        given = by_file.get(file, "")
        takes_file = files.count(file) == 1 and given and (repeated or given in sources.named)
        names.append(given if takes_file else name)
    if files_are_runs or len({*_tasks_and_systems(results, names)}) == len(names):
        return names
    places = _tasks_and_systems(results, own if repeated else names)
    groups = grouped(zip(places, files, strict=True), itemgetter(0)).items()
    (task, name), (first, second, *_) = next((key, [file for _, file in same]) for key, same in groups if len(same) > 1)
    of_task = f" on {quote(task)}" if task else ""
    raise InputError(f"two logs of {quote(name)}{of_task}: {first} and {second}; leave one out")


def _tasks_and_systems(results: Sequence[SystemLog], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (task, system) of each log."""
    return ((result.task, name) for result, name in zip(results, names, strict=True))


def _differences(results: Sequence[SystemLog], must_agree: Mapping[str, str]) -> tuple[str, ...]:
    """Return notes on facts (such as the name of the judge) in which the systems differ.

    `must_agree` maps the name of a fact to advice. If the systems differ in such a fact, raise an error with this
    advice.
    """
    notes = ()
    facts = [{"task": result.task, **result.facts} for result in results]
    for fact in dict.fromkeys(fact for own in facts for fact in own):
        values = dict.fromkeys(value for own in facts if (value := own.get(fact)))
        if len(values) < 2:
            continue
        difference = f"the systems differ in the {fact}: {listing(values)}"
        if fact in must_agree:
            raise InputError(f"{results[0].file}: {difference}; {must_agree[fact]}")
        notes += (difference,)
    return notes


def _check_content(sheets: Sequence[Sheet], contents: Iterable[Sequence[object]], what: str) -> None:
    known: dict[str, tuple[str, object]] = {}
    for sheet, own in zip(sheets, contents, strict=True):
        for id, content in zip(sheet.ids or map(str, range(1, len(own) + 1)), own, strict=True):
            if content is None:
                continue
            system, expected = known.setdefault(id, (sheet.system, content))
            if content != expected:
                raise InputError(
                    f"{sheet.file}: instance {quote(id)} of {quote(sheet.system)} has another {what} than of "
                    f"{quote(system)}; compare results on the same version of the data"
                )


def _compare_published(
    evaluation: EvaluationRecord, sheets: Sequence[Sheet], results: Sequence[SystemLog]
) -> EvaluationRecord:
    """Return the evaluation, with notes if the program published other means than sigjax computes.

    If the program states that lower scores are better, this becomes the direction of the metric.
    """
    metric, notes = evaluation.metric, []
    for sheet, result in zip(sheets, results, strict=True):
        name = _score(metric, sheet)
        if name is not None and result.published is not None:
            own, lower_is_better = result.published(name, float(np.nanmean(sheet.numbers[name])))
            notes += own
            if lower_is_better:
                metric = replace(metric, higher_is_better=False)
    return replace(evaluation, metric=metric, notes=(*notes, *evaluation.notes))


def _score(metric: Metric | SampleMetric, sheet: Sheet) -> str | None:
    """Return the log's name of the score that a metric averages; None if the metric is not the mean of one score."""
    score, *others = metric.inputs
    if others or metric.stat_names != MEAN.stat_names:
        return None
    return score if score in sheet.numbers else next(iter(sheet.numbers))


def _plain_labels(objects: Sequence[object], used: Sequence[str | None]) -> dict[str, list[str]]:
    """Return the labels `[row]` of each field that is neither a list nor an object in any row.

    If a label of the fields in `used` (for clusters or strata) cannot be a name (an empty text, for example), raise an
    error.
    """
    rows = [each if isinstance(each, dict) else {} for each in objects]
    columns = {name: [row.get(name) for row in rows] for name in (rows[0] if rows else ())}
    plain = {name: all(isinstance(value, str | int | float) for value in own) for name, own in columns.items()}
    labels = {name: list(map(str, own)) for name, own in columns.items() if plain[name]}
    for name in used:
        with naming(f"field {quote(name or '')}"):
            for label in labels.get(name or "", ()):
                text(label)
    return labels
