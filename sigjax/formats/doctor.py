"""`doctor`: how `read` understands data, what is missing, and which command to run next."""

from __future__ import annotations

import os
import shlex
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from sigjax.formats.declarations import ByTask, Format, named_format
from sigjax.formats.reading import (
    files_of,
    formats_of,
    likely_formats,
    read_as,
    reader_for,
    sources_of,
    split_gold,
)
from sigjax.metrics import CLASS_METRICS, MEAN, METRICS
from sigjax.readers.evaluation import Evaluation
from sigjax.readers.evidence import LAYOUTS, Asked, TableReading
from sigjax.readers.frames import frame_table
from sigjax.readers.join import Sheet, Sources, directed, labels_of
from sigjax.readers.layouts import read_table
from sigjax.readers.lexicon import is_fold, is_trial
from sigjax.readers.options import Options, ReadOptions, listed_metrics, listing, quote
from sigjax.records import EvaluationRecord, Hint, InputError, Metric
from sigjax.records.display import entry, html_text, visible, visible_json
from sigjax.records.options import Message, options_of, takes, values
from sigjax.run.context import with_progress
from sigjax.run.files import keeping_pipes

_FIRST = ("accuracy", "fscore", "mean", "auc")
_INDENT = 11
_MOST_NAMED = 8
_ORDER = {"input": 0, "metric": 2}
_SHORT = {"input": "-i", "metric": "-m"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Diagnosis:
    """How `sigjax.read` understands data. Printed, it is the output of `sigjax doctor`.

    Attributes:
        format, title, why: the format, its description, and how it was recognized; None if no format reads the files.
        systems, gold: the names of the systems, and the gold files.
        reading: how a table is read: the columns of each role, and the evidence for them; None for other formats.
        instances: number of instances that all systems have; None if the data cannot be compared as they are.
        runs: the fewest and the most runs of an instance; None if each instance was run once.
        ids: how instances are joined.
        metrics: names of the metrics for which the data have numbers, the default first.
        fields: field with one label per instance -> number of labels; for clusters or strata.
        alike: groups of systems that have the same results on all instances.
        notes: what was done to the data.
        missing: which systems lack which instances; None if no results are missing.
        refusal: why the data cannot be compared; None if they can.
        options: the options that `compare` needs besides the given options.
        proposals: other analyses that suit the data: their purpose, the command, and the options that differ.
        command: the command that compares the files (or a Python call for other data); None if nothing can be compared
            yet.
        others: purpose of another analysis (such as tests with clusters) -> its command or Python call.
    """

    format: str | None = None
    title: str = ""
    why: str | Message = ""
    systems: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    reading: TableReading | None = None
    instances: int | None = None
    runs: tuple[int, int] | None = None
    ids: str = ""
    metrics: tuple[str, ...] = ()
    fields: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str | Message, ...] = ()
    missing: str | Message | None = None
    refusal: str | Message | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    proposals: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    command: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the content, what is missing, and the command to run, as text for a terminal."""
        return self.text(80, _keyword)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the text as HTML, for notebooks."""
        return html_text(str(self))

    def text(self, width: int, spelling: Callable[[Hint], str]) -> str:
        """Return the diagnosis as text; lines have at most `width` characters, except commands, which are not broken.

        `spelling` renders the names of options in messages.
        """
        lines = [entry(word, said, width=width, indent=_INDENT) for word, said in _rows(self, spelling)]
        if self.command is None:
            return "\n".join(lines)
        others = [f"# {about}:\n{visible(command)}" for about, command in self.others.items()]
        return "\n".join([*lines, "", "Next:", visible(self.command), *others])

    def to_json(self) -> str:
        """Return the whole diagnosis as JSON."""
        return visible_json({name: each for name, each in asdict(self).items() if name not in _INNER}, indent=2)

    def spelled(self, spelling: Callable[[Hint], str]) -> Diagnosis:
        """Return the diagnosis with its messages as plain text; `spelling` renders the names of options in them."""

        def said(text: str | Message) -> str:
            return Message.of(text).shown(spelling)

        known = {name: text for name in ("why", "missing", "refusal") if (text := getattr(self, name))}
        return replace(self, **{name: said(text) for name, text in known.items()}, notes=tuple(map(said, self.notes)))


@takes(ReadOptions)
def doctor(*data: Any, options: ReadOptions) -> Diagnosis:
    """Show how data are understood, and which command compares them; problems are reported, not raised.

    Args:
        data: files, as `read` takes them; or what `compare` takes: a data frame, a dict of arrays, an `Evaluation`.
        options: the fields of `ReadOptions`, as keyword arguments.

    Raises:
        TypeError: there is no such option.

    Example:
        >>> diagnosis = doctor({"A": [1, 1, 0, 1], "B": [1, 0, 0, 1]})
        >>> diagnosis.metrics[:2], diagnosis.command
        (('accuracy', 'mean'), "sigjax.compare(sigjax.read(data, metric='accuracy'))")
        >>> print(diagnosis)  # doctest: +ELLIPSIS
        systems    2: A, B
        instances  4
        ids        none: instances are joined by their order
        metrics    accuracy, mean
        missing    ...
    """
    return diagnose(*data, options=options).spelled(_keyword)


@keeping_pipes()
@with_progress
def diagnose(*data: Any, options: ReadOptions) -> Diagnosis:
    """Make the diagnosis of `doctor`, but leave the names of options in its messages unrendered.

    If there are several metrics, only the first is used.
    """
    try:
        metrics = listed_metrics(options.metric)
    except InputError as error:
        return Diagnosis(refusal=error.message)
    options = replace(options, metric=metrics[0])
    (first,) = data if len(data) == 1 else (None,)
    several = list(first.values() if isinstance(first, Mapping) else first) if isinstance(first, _SEVERAL) else ()
    if several and all(isinstance(each, _PATH) for each in several):  # `compare` takes a list or dict of paths, too
        if isinstance(first, Mapping):
            data, options = (), replace(options, input=first)
        else:
            data = tuple(several)
    elif len(data) == 1 and not isinstance(first, _PATH):
        diagnosis = _diagnosis_of_data(first, options)
        return _with_commands(diagnosis, partial(_python_call, _needed_options(options, diagnosis, metrics)))
    diagnosis = _diagnosis(data, options)
    if diagnosis.refusal is not None and not options.input and len(data) > 1:
        gold, systems = split_gold([os.fsdecode(path) for path in data])  # perhaps -i is missing
        if systems and (other := _diagnosis([gold], replace(options, input=systems))).refusal is None:
            data, options, diagnosis = (gold,), replace(options, input=systems), other
    return _with_commands(diagnosis, partial(_typed, data, _needed_options(options, diagnosis, metrics)))


def _with_commands(diagnosis: Diagnosis, spelled: Callable[[str, Mapping[str, Any]], str]) -> Diagnosis:
    """Add the commands that suit the data; add none if the data cannot be compared.

    `spelled` writes a command from the name of the analysis and its options.
    """
    if diagnosis.refusal is not None:
        return diagnosis
    others = {about: spelled(command, more) for about, command, more in diagnosis.proposals}
    return replace(diagnosis, command=spelled("compare", {}), others=others)


_CALLS = {"compare": "sigjax.compare", "rl": "sigjax.studies.rl", "classical": "sigjax.classical_tests"}


def _python_call(given: Mapping[str, Any], command: str, more: Mapping[str, Any]) -> str:
    """Write the analysis `command` as a Python call with the options `given`, changed by `more`.

    Options that are None in `more` are left out.
    """
    chosen = {name: f"{name}={value!r}" for name, value in {**given, **more}.items() if value is not None}
    of_read = [said for name, said in chosen.items() if name in options_of(ReadOptions)]
    data = f"sigjax.read({', '.join(['data', *of_read])})" if of_read else "data"
    own = [said for name, said in chosen.items() if name not in options_of(ReadOptions)]
    return f"{_CALLS[command]}({', '.join([data, *own])})"


def _typed(files: Sequence[Any], given: Mapping[str, Any], command: str, more: Mapping[str, Any]) -> str:
    """Write the analysis `command` as a shell command with the options `given`, changed by `more`.

    Options that are None in `more` are left out.
    """
    chosen = sorted({**given, **more}.items(), key=lambda item: _ORDER.get(item[0], 1))
    return shell_command([command, *map(os.fsdecode, files)], dict(chosen))


def shell_command(words: Sequence[str], options: Mapping[str, Any]) -> str:
    """Write the command `sigjax WORDS` with options, which have their Python names; options that are None are left out.

    >>> shell_command(["compare", "-a.csv"], {"only": ["-a", "b c"], "transpose": True, "lower_is_better": False})
    "sigjax compare ./-a.csv --only=-a '--only=b c' --transpose --lower-is-better=false"
    """
    typed = ["sigjax", *(f"./{word}" if word.startswith("-") else word for word in words)]
    for name, value in options.items():
        long = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            typed.append(long if value else f"{long}=false")
        elif value is not None and (texts := _texts(value)):
            with_equals = [f"{long}={text}" for text in texts]  # no value is mistaken for an option
            plain = [_SHORT.get(name, long), *texts]
            typed += with_equals if any(text.startswith("-") for text in texts) else plain
    return shlex.join(typed)


def _texts(value: Any) -> list[str]:
    """Return the words that give an option's value on the command line; a dict gives words NAME=VALUE."""
    if isinstance(value, Mapping):
        return [f"{name}={each}" for name, each in value.items()]
    return list(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else [str(value)]


_keyword = attrgetter("keyword")
_INNER = ("options", "proposals")
"""Names of attributes that JSON leaves out, because `command` and `others` give the same information."""
_PATH = str | os.PathLike | bytes
_SEVERAL = Mapping | list | tuple


def _needed_options(options: ReadOptions, diagnosis: Diagnosis, metrics: Sequence[Any]) -> dict[str, Any]:
    """Return the options that `compare` needs: the given options, and options that the diagnosis adds."""
    fields = {name: each for name, each in options_of(ReadOptions).items() if name != "progress"}
    chosen = {name: value for name, each in fields.items() if (value := getattr(options, name)) != each.default}
    given = {name: value for name, value in chosen.items() if value not in ((), [], {})} | dict(diagnosis.options)
    return given | ({"metric": [*metrics]} if len(metrics) > 1 else {})


def _rows(diagnosis: Diagnosis, spelling: Callable[[Hint], str]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the diagnosis, each as (first word, such as "systems", and the text after it)."""
    if diagnosis.format is not None:
        why = Message.of(diagnosis.why).shown(spelling)
        yield "format", f"{diagnosis.format}: {diagnosis.title} ({why})"
    if diagnosis.gold:
        yield "gold", ", ".join(diagnosis.gold)
    if diagnosis.systems:
        yield "systems", f"{len(diagnosis.systems)}: {_named(diagnosis.systems)}"
    if diagnosis.instances is not None:
        runs = "" if diagnosis.runs is None else f" with {' to '.join(map(str, dict.fromkeys(diagnosis.runs)))} runs"
        yield "instances", f"{diagnosis.instances:,}{runs}"
    if diagnosis.ids:
        yield "ids", diagnosis.ids
    if diagnosis.reading is not None:
        yield from _evidence(diagnosis.reading)
    if diagnosis.metrics:
        yield "metrics", ", ".join(diagnosis.metrics)
    if diagnosis.fields:
        yield "fields", _named([f"{name} ({number:,} labels)" for name, number in diagnosis.fields.items()])
    own = diagnosis.reading and diagnosis.reading.note()
    yield from (("note", Message.of(note).shown(spelling)) for note in diagnosis.notes if note != own)
    yield from (("alike", f"{_named(group)}: the same on all instances") for group in diagnosis.alike)
    yield from (("missing", said) for said in _missing(diagnosis, spelling))
    if diagnosis.refusal is not None:
        yield "refused", Message.of(diagnosis.refusal).shown(spelling)


def _evidence(reading: TableReading) -> Iterator[tuple[str, str]]:
    """Yield lines on how a table is read: the columns of each role, with the evidence for them."""
    said = [f"{name} {own} ({own.evidence})" for name, own in reading.roles()]
    yield "read as", "; ".join([LAYOUTS[reading.layout], *said])
    if reading.direction:
        yield "better", reading.direction
    if reading.ignored:
        yield "not used", _named([*map(quote, reading.ignored)])


def _missing(diagnosis: Diagnosis, spelling: Callable[[Hint], str]) -> Iterator[str]:
    """Yield texts on missing results, ids and clusters, and on what these mean for the comparison."""
    if diagnosis.missing is not None:
        yield f"results: {Message.of(diagnosis.missing).shown(spelling)}"
    if diagnosis.instances is None:
        return
    if diagnosis.ids.startswith("none"):
        yield "ids: if one file or column has lost a line, every later line is compared with the wrong one"
    if not diagnosis.fields:
        yield (
            "clusters: if instances belong together (sentences of a document), give "
            f"{spelling(Hint('cluster', 'FILE'))} with one label per line, else p and intervals are too small"
        )
    elif (cluster := _cluster(diagnosis.fields, diagnosis.instances)) is not None:
        yield (
            f"clusters: if instances with one label depend on each other, add {spelling(Hint('cluster'))}, such as "
            f"{spelling(Hint('cluster', cluster))}"
        )


def _cluster(fields: Mapping[str, int], instances: int) -> str | None:
    """Return the field that most likely names clusters; None if there is none.

    Fields of runs or folds are never taken. `fields` maps each field to its number of labels.
    """
    usable = {name: labels for name, labels in fields.items() if not (is_trial(name) or is_fold(name))}
    # Clusters should be small, but hold several instances: a field that is nearly an id would change nothing.
    small = [name for name, labels in usable.items() if 2 * labels <= instances]
    return max(small or usable, key=usable.__getitem__, default=None)


_MOST_TASKS = 100
"""Largest number of tasks for which the data may be a benchmark of agents. If there are more tasks, they count as the
instances of a test set."""
_Proposals = tuple[tuple[str, str, Mapping[str, Any]], ...]
"""For each analysis: (purpose, command, options that differ from the options for `compare`). If the value of an option
is None, the analysis does without this option."""


def _proposals(
    fields: Mapping[str, int],
    evaluation: EvaluationRecord,
    id_column: str | None,
    runs: str | None,
    given: str | None,
) -> _Proposals:
    """Return other analyses that suit the data: with clusters, for runs of agents on tasks, or for folds.

    `fields` maps each field that may name clusters to its number of labels. `given` is the field or file of clusters
    that the user gave.
    """
    made, count = list[tuple[str, str, Mapping[str, Any]]](), len({*(evaluation.ids or ())})
    if given is None and (cluster := _cluster(fields, count or evaluation.num_instances)) is not None:
        about = f"if instances with one {cluster!r} depend on each other"
        made.append((about, "compare", {"cluster": cluster}))
    folds = [name for name in (runs, id_column) if name is not None and is_fold(name)]
    if folds:
        whole = {"design": "folds", "runs": None, "metric": None}
        made.append(("the corrected t test, since folds share training data", "classical", whole))
    elif runs is not None and id_column is not None and count <= _MOST_TASKS and not _is_right_or_wrong(evaluation):
        within = {"strata": id_column, "runs": runs}
        made.append(("all aggregates of runs of agents on fixed tasks", "rl", {**within, "metric": None}))
        made.append(("p-values of runs of agents on fixed tasks", "compare", {**within, "metric": ["iqm"]}))
    return tuple(made)


def _is_right_or_wrong(evaluation: EvaluationRecord) -> bool:
    """Whether all statistics of an evaluation are 0 or 1."""
    return bool(np.isin(evaluation.stats, (0.0, 1.0)).all())


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


_Parsed = tuple[ByTask, Options]
"""(function that evaluates the data, options of reading); `Options.seen` has the sheets that were joined."""


def _evaluated(parsed: _Parsed, metric: Any) -> EvaluationRecord:
    """Return the evaluation by a metric; if there are several tasks, the evaluation of the first task."""
    by_task = parsed[0](replace(parsed[1], metric=metric))
    name, first = next((name, each) for name, each in by_task.items() if each is not None)
    if [*by_task] == [""]:
        return first
    return replace(first, notes=(*first.notes, f"tasks: {', '.join(by_task)}; the instances are those of {name}"))


def _diagnosis_of_data(data: Any, options: ReadOptions) -> Diagnosis:
    """Make the diagnosis of a data frame, of arrays or of evaluations."""
    evaluations: Sequence[Any] = data if isinstance(data, list | tuple) else [data]
    is_read = all(isinstance(each, EvaluationRecord) for each in evaluations)
    by_name: dict[Any, EvaluationRecord] = {each.metric.name: each for each in evaluations} if is_read else {}

    arrays: Any = data

    def evaluation(own: Options) -> EvaluationRecord:
        if by_name and own.metric not in by_name:
            raise InputError(f"evaluations are read already, by {listing(by_name)}; leave out {Hint('metric')}")
        return by_name.get(own.metric) or Evaluation.from_arrays(arrays, metric=own.metric, missing=own.missing)

    def reading(own: Options) -> ByTask:
        if options.input or options.reader is not None:
            raise InputError(f"{Hint('input')} and {Hint('reader')} are for files; leave them out")
        evaluate = evaluation if by_name or isinstance(data, Mapping) else read_table(frame_table(data, own), own)
        return lambda own: {"": directed(evaluate(own), own)}

    own = Options(**values(options, Options))
    diagnosis = _read_as(reading, options.metric, own, tuple(by_name), in_table=True)
    needed = dict(diagnosis.options)
    if names := needed.pop("metric", None):  # evaluations keep their metric
        needed |= {} if by_name else {"metric": options.metric or names[0]}
    return replace(diagnosis, options=needed)


def _diagnosis(paths: Sequence[Any], given: ReadOptions) -> Diagnosis:
    metric, reader, options = given.metric, given.reader, Options(**values(given, Options))
    try:
        sources = sources_of(paths, given.input)
        format, refusal = _format_of(sources, metric, reader_for(sources, reader, options.records))
        options = replace(options, parameters={} if reader is None else named_format(reader)[1])
    except InputError as error:
        for proposed in _proposed(error, options) if reader is None else ():
            diagnosis = _diagnosis(paths, replace(given, **proposed))
            if diagnosis.systems:
                return replace(diagnosis, options=proposed | dict(diagnosis.options))
        return Diagnosis(refusal=error.message)
    diagnosis = _read_as(
        partial(read_as, format, sources), metric, options, format.metrics, refusal, in_table=format.takes == "file"
    )
    gold = tuple(sources.files) if format.takes == "gold" else ()
    return replace(
        diagnosis, gold=gold, format=format.name, title=format.title, why=_recognized_by(format, sources, reader)
    )


def _format_of(sources: Sources, metric: Any, reader: str | None) -> tuple[Format, InputError | None]:
    """Return the format of the files, and the error if this format does not have the requested metric (else None)."""
    try:
        return formats_of(sources, reader, [metric])[0], None
    except InputError as error:
        likely = [] if reader is not None else likely_formats(*files_of(sources))
        if not likely:
            raise
        (format,) = formats_of(sources, None, likely[0].metrics[:1] or [None])
        return format, None if metric is None else error


def _recognized_by(format: Format, sources: Sources, reader: str | None) -> str | Message:
    """Say in words how a format was recognized."""
    if reader is not None:
        return Message(("named by ", Hint("reader")))
    first = next(chain(*files_of(sources)))
    by_name = os.path.isdir(first) or format.fits(first.lower().removesuffix(".gz"), b"")
    return f"recognized by its {'name' if by_name else 'first lines'}"


def _read_as(
    reading: Callable[[Options], ByTask],
    metric: Any,
    options: Options,
    metrics: Sequence[str],
    unserved: InputError | None = None,
    *,
    in_table: bool,
) -> Diagnosis:
    """Try to read the data, and make the diagnosis.

    If the requested metric cannot be used (`unserved` is the error), try the format's usual metric. `in_table` says
    whether the data are a table, so that ids may be row numbers.
    """
    usual = (metric if unserved is None else None) or (metrics[0] if metrics else "mean")
    parsed, evaluation, refusal = _tolerant(reading, usual, options)
    missing, needed, tried = None, dict[str, Any](), ()
    if refusal is not None and evaluation is None:
        for proposed in _proposed(refusal, options):
            again = _tolerant(reading, usual, replace(options, **proposed))
            if again[0] is not None and (again[1] is not None or metric is None):
                tried = (Message.of("what is proposed is done, for otherwise: ", refusal.message),)
                (parsed, evaluation, refusal), needed = again, proposed
                break
    if evaluation is not None and refusal is not None:  # readable only without instances that some system lacks
        missing, refusal, needed = refusal.message, None, needed | {"missing": "drop"}
    if parsed is not None and not metrics:
        metrics = _possible(parsed, usual if evaluation is None else evaluation.metric.name)
        which = refusal is not None and any(hint.option == "score_column" for hint in refusal.hints)
        if evaluation is None and metric is None and metrics and not (which and metrics[0] not in METRICS):
            with suppress(InputError):
                evaluation, refusal = _evaluated(parsed, metrics[0]), None
    refusal = unserved or refusal
    chosen = metrics[0] if metric is None and metrics else metric
    if evaluation is not None and chosen is not None and not isinstance(chosen, str):
        chosen = evaluation.metric.name
    if chosen is not None and refusal is None and parsed is not None:
        metrics = (chosen, *(name for name in metrics if name != chosen))
        named = _metrics_of_tasks(*parsed, metrics) if metric is None else [chosen]
        needed |= {"metric": named}
    if evaluation is not None and parsed is not None and chosen is not None:
        with suppress(InputError):  # evaluate again, so that `seen` holds the sheets of the chosen metric
            _evaluated(parsed, chosen)
    sheets = (parsed and parsed[1].seen) or []
    size = None if evaluation is None else evaluation.size
    of_runs = needed.get("runs", options.runs)
    fields = _fields(sheets, (of_runs, *(() if evaluation is None else evaluation.metric.inputs)))
    id_column = sheets[0].id_column if sheets else None
    return Diagnosis(
        systems=tuple(dict.fromkeys(sheet.system for sheet in sheets)) or (evaluation.systems if evaluation else ()),
        instances=size and size.instances,
        runs=size and size.runs,
        reading=sheets[0].reading if sheets else None,
        ids=_ids(sheets, evaluation, in_table=in_table),
        metrics=tuple(metrics),
        fields=fields,
        alike=_equal_systems(evaluation),
        notes=() if evaluation is None else (*tried, *evaluation.notes),
        missing=missing,
        refusal=None if refusal is None else refusal.message,
        options=needed,
        proposals=() if evaluation is None else _proposals(fields, evaluation, id_column, of_runs, options.cluster),
    )


_SHAPES = ("transpose", "melt", "runs", "id_column", "records", "filter")


def _proposed(refusal: InputError, options: Options) -> Iterator[dict[str, Any]]:
    """Yield the options (name -> value) that the message of an error proposes about the layout of a table.

    Options that the user gave are left out. An `Asked` error proposes combinations of options, and each combination is
    yielded. For another error, each option is yielded alone.
    """
    if isinstance(refusal, Asked):
        for way in refusal.ways:
            if {*way} & {*_SHAPES} and {*way} <= {*_SHAPES, "ignore"} and not any(getattr(options, n) for n in way):
                yield dict(way)
        return
    for hint in refusal.hints:
        if hint.option in _SHAPES and not getattr(options, hint.option):
            values = [literal_eval(value) for value in hint.values if value.startswith(("'", '"'))]
            if values or hint.option == "transpose":
                yield {hint.option: values if hint.option == "melt" else values[0] if values else True}


def _tolerant(
    reading: Callable[[Options], ByTask], metric: Any, options: Options
) -> tuple[_Parsed | None, EvaluationRecord | None, InputError | None]:
    """Read and evaluate data; if this fails, try again without the instances that some system lacks.

    Returns three things: what was read (or None), the evaluation (None if both attempts fail), and the error of the
    first attempt (None if it succeeds).
    """
    known, refusal, sheets = None, None, list[Sheet]()
    for missing in dict.fromkeys((options.missing, "drop")):
        own = replace(options, missing=missing, seen=sheets)
        try:
            known = reading(own), own
            return known, _evaluated(known, metric), refusal
        except InputError as error:
            refusal = refusal or error
    return known, None, refusal


def _possible(parsed: _Parsed, usual: str) -> tuple[str, ...]:
    """Return the metrics that suit files of numbers, found by trying all metrics.

    The format's usual metric comes first. For plain numbers this is accuracy if numbers are right or wrong, and F1 if
    they are counts. If only some rows have human labels, the metric for such labels comes first. Metrics that are
    useless for right-or-wrong numbers are left out.
    """
    counts = {name for metric in METRICS.values() if len(metric.inputs) > 1 for name in metric.inputs}
    scores = dict.fromkeys(name for sheet in parsed[1].seen or () for name in sheet.numbers if name not in counts)
    possible: dict[Any, str] = {}  # leave out metrics that differ only in their names
    first = (*filter(partial(_fills_some, parsed[1].seen or ()), METRICS), *(_FIRST if usual == "mean" else [usual]))
    for name in dict.fromkeys((*first, *scores, *METRICS, *CLASS_METRICS)):
        with suppress(InputError):
            evaluation = _evaluated(parsed, name)
            metric = evaluation.metric
            if metric.name in _OF_REALS and _is_right_or_wrong(_evaluated(parsed, MEAN.name)):
                continue
            of = metric.score if isinstance(metric, Metric) else metric.function
            possible.setdefault((metric.inputs, metric.extract, of), metric.name)
    return tuple(possible.values())


_OF_REALS = ("variance", "median", "iqm", "optimality-gap")
"""Names of metrics of real numbers. These metrics are useless if all numbers are 0 or 1."""


def _fills_some(sheets: Sequence[Sheet], name: str) -> bool:
    """Whether all systems have columns for the optional inputs of the metric `name`, and some cells are missing.

    For example, only some rows have human labels. False for a metric without optional inputs.
    """
    optional = getattr(METRICS[name], "optional_inputs", ())
    columns = [sheet.numbers[each] for sheet in sheets for each in optional if each in sheet.numbers]
    return bool(optional) and len(columns) == len(sheets) * len(optional) and any(np.isnan(c).any() for c in columns)


def _metrics_of_tasks(reading: ByTask, options: Options, metrics: Sequence[str]) -> list[str]:
    """Choose metrics until each task has one: the first metric, then each metric that suits a task without a metric.

    `metrics` lists the possible metrics in order, and `reading` evaluates all tasks by a metric.
    """
    chosen, without = list(metrics[:1]), None
    for name in metrics:
        with suppress(InputError):
            by_task = reading(replace(options, metric=name))
            lacking = {task for task, evaluation in by_task.items() if evaluation is None}
            if without is not None and not without <= lacking:
                chosen.append(name)
            without = lacking if without is None else without & lacking
            if not without:
                break
    return chosen


def _ids(sheets: Sequence[Sheet], evaluation: EvaluationRecord | None, *, in_table: bool) -> str:
    """Say in words how instances are joined.

    If the data are a table (`in_table`), and the ids are its row numbers, it counts as having no ids.
    """
    if not sheets and evaluation is None:
        return ""
    if sheets and sheets[0].id_column is not None:
        return f"the column {sheets[0].id_column!r}"
    ids = sheets[0].ids if sheets else evaluation and evaluation.ids
    if ids is None or (in_table and list(map(str, ids)) == [str(row + 1) for row in range(len(ids))]):
        return "none: instances are joined by their order"
    return "those of the files"


def _fields(sheets: Sequence[Sheet], others: Sequence[str | None]) -> dict[str, int]:
    """Return the number of labels of each field that can name clusters or strata.

    The fields in `others` have another role and are left out.
    """
    fields: dict[str, int] = {}
    left_out = {*others, *(sheet.system for sheet in sheets), *(sheet.id_column for sheet in sheets)}
    for name in dict.fromkeys(name for sheet in sheets for name in sheet.labels if name not in left_out):
        with suppress(InputError):
            labels = labels_of(sheets, name)
            if 1 < (count := len(set(labels))) < len(labels):
                fields[name] = count
    return fields


def _equal_systems(evaluation: EvaluationRecord | None) -> tuple[tuple[str, ...], ...]:
    """Return groups of systems whose statistics are the same on all instances."""
    groups: dict[bytes, list[str]] = {}
    for name, own in () if evaluation is None else zip(evaluation.systems, evaluation.stats, strict=True):
        groups.setdefault(own.tobytes(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
