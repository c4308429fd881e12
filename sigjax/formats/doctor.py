"""How files are understood, by the decisions of `read` itself: what is in them, what is missing, what to run next."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sigjax.formats.reading import (
    choose_formats,
    formats_taking,
    given_name,
    likely_formats,
    read_as,
    sources_of,
    split_gold,
)
from sigjax.formats.table import ByTask, Format, all_formats, named_format
from sigjax.metrics import METRICS
from sigjax.readers.join import Sheet, Sources, labels_of
from sigjax.readers.options import Options
from sigjax.records import EvaluationRecord, InputError
from sigjax.run.context import with_progress
from sigjax.run.files import keeping_pipes, read_head

_FIRST = ("accuracy", "fscore", "mean")
_MOST_REFUSALS = 3
_READS = "reads them, if they are"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What `sigjax.read` makes of files.

    Attributes:
        format, title, why: the format, what it is, and what it was recognized by; None where no format reads the files.
        systems, gold: the names of the systems, and the gold files.
        instances: how many all systems have; None where the files cannot be compared as they are.
        ids: how instances are joined.
        metrics: names of the metrics that the files have numbers for, the default first.
        fields: name of each field with one label per instance -> its number of labels; clusters or strata.
        alike: groups of systems without any difference.
        notes: what was done to the data.
        missing: which systems lack which instances; None where none does.
        refusal: why the files cannot be compared; None where they can.
        tried: names of formats that come near files that none reads -> why these do not.
        options: what `sigjax compare` needs beside what was given.
    """

    format: str | None = None
    title: str = ""
    why: str = ""
    systems: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    instances: int | None = None
    ids: str = ""
    metrics: tuple[str, ...] = ()
    fields: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    missing: str | None = None
    refusal: str | None = None
    tried: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@keeping_pipes()
@with_progress
def diagnose(
    *paths: Any, input: Sequence[Any] = (), metric: str | None = None, reader: str | None = None, options: Options
) -> Diagnosis:
    """How files are understood; what is wrong is said as on the command line, never raised; see `read`."""
    diagnosis = _diagnosis(paths, input, metric, reader, options)
    if diagnosis.refusal is None or input or len(paths) < 2:
        return diagnosis
    gold, systems = split_gold([os.fsdecode(path) for path in paths])  # was -i before the systems forgotten?
    if not systems:
        return diagnosis
    other = _diagnosis([gold], systems, metric, reader, options)
    more = dict(other.options) | {"files": [gold], "input": systems}
    return replace(other, options=more) if other.refusal is None else diagnosis


@dataclass(frozen=True, eq=False)
class Parsed:
    """What files hold, read as one format."""

    tasks: ByTask
    options: Options
    """Those that they were read with, whose `seen` are the sheets that were joined."""

    @property
    def sheets(self) -> list[Sheet]:
        """What the files say of each system."""
        return self.options.seen or []

    def evaluate(self, metric: str) -> EvaluationRecord:
        """The evaluation by a metric; of several tasks that of the first."""
        by_task = self.tasks(replace(self.options, metric=metric))
        name, first = next((name, each) for name, each in by_task.items() if each is not None)
        if [*by_task] == [""]:
            return first
        return replace(first, notes=(*first.notes, f"tasks: {', '.join(by_task)}; the instances are those of {name}"))


def _diagnosis(
    paths: Sequence[Any], input: Sequence[Any], metric: str | None, reader: str | None, options: Options
) -> Diagnosis:
    try:
        sources = sources_of(paths, input)
        format, refusal = _format_of(sources, metric, reader)
        options = replace(options, parameters={} if reader is None else named_format(reader)[1])
    except InputError as error:
        return Diagnosis(refusal=error.flags) if reader is not None else _unread(paths, input, options, error.flags)
    diagnosis, _ = _read_as(format, sources, metric, options, refusal)
    if diagnosis.refusal is not None and metric is None and reader is None:
        tried = _tried(sources, options, len(all_formats()), diagnosis.refusal)
        diagnosis = replace(diagnosis, tried={name: said for name, said in tried.items() if said.startswith(_READS)})
    return replace(diagnosis, format=format.name, title=format.title, why=_why(format, sources, reader))


def _files(sources: Sources) -> tuple[Sequence[str], Sequence[str]]:
    """The files before -i and after it."""
    return [given_name(file)[1] for file in sources.files], tuple(sources.systems.values())


def _format_of(sources: Sources, metric: str | None, reader: str | None) -> tuple[Format, InputError | None]:
    """The format of files, and why it does not give the metric."""
    files, outputs = _files(sources)
    try:
        return choose_formats(files, outputs, reader=reader, metrics=[metric])[0], None
    except InputError as error:
        likely = [] if reader is not None else likely_formats(files, outputs)
        if not likely:
            raise
        (format,) = choose_formats(files, outputs, reader=None, metrics=likely[0].metrics[:1] or [None])
        return format, None if metric is None else error


def _why(format: Format, sources: Sources, reader: str | None) -> str:
    """What a format is recognized by."""
    if reader is not None:
        return "named by --reader"
    first = next(chain(*_files(sources)))
    by_name = os.path.isdir(first) or format.fits(first.lower().removesuffix(".gz"), b"")
    return f"recognized by its {'name' if by_name else 'first lines'}"


def _read_as(
    format: Format, sources: Sources, metric: str | None, options: Options, unserved: InputError | None = None
) -> tuple[Diagnosis, InputError | None]:
    """What files of a format hold, and why they are refused; by the usual metric, where the one asked for is."""
    metrics = format.metrics
    usual = (metric if unserved is None else None) or (metrics[0] if metrics else "mean")
    parsed, evaluation, refusal = _tolerant(format, sources, usual, options)
    missing, needed = None, dict[str, Any]()
    if evaluation is not None and refusal is not None:  # only without what some system lacks
        missing, refusal, needed = refusal.flags, None, {"missing": "drop"}
    if parsed is not None and not metrics:
        metrics = _possible(parsed, usual if evaluation is None else evaluation.metric.name)
        if evaluation is None and metric is None and metrics:
            with suppress(InputError):
                evaluation, refusal = parsed.evaluate(metrics[0]), None
    refusal = unserved or refusal
    chosen = metrics[0] if metric is None and metrics else metric
    if chosen is not None and refusal is None and parsed is not None:
        metrics = (chosen, *(name for name in metrics if name != chosen))
        named = _metrics_of_tasks(parsed.tasks, parsed.options, metrics) if metric is None else [chosen]
        needed |= {"metric": named}
    sheets = [] if parsed is None else parsed.sheets
    diagnosis = Diagnosis(
        systems=tuple(dict.fromkeys(sheet.system for sheet in sheets)) or (evaluation.systems if evaluation else ()),
        gold=tuple(sources.files) if format.takes == "gold" else (),
        instances=None if evaluation is None else evaluation.num_instances,
        ids=_ids(sheets, evaluation, in_table=format.takes == "file"),
        metrics=metrics,
        fields=_fields(sheets, () if evaluation is None else evaluation.metric.inputs),
        alike=_equal_systems(evaluation),
        notes=() if evaluation is None else evaluation.notes,
        missing=missing,
        refusal=None if refusal is None else refusal.flags,
        options=needed,
    )
    return diagnosis, refusal


def _tolerant(
    format: Format, sources: Sources, metric: str, options: Options
) -> tuple[Parsed | None, EvaluationRecord | None, InputError | None]:
    """What files hold, and the first refusal; where they are refused, without what some system lacks."""
    known, refusal, sheets = None, None, list[Sheet]()
    for missing in dict.fromkeys((options.missing, "drop")):
        own = replace(options, missing=missing, seen=sheets)
        try:
            known = Parsed(read_as(format, sources, own), own)
            return known, known.evaluate(metric), refusal
        except InputError as error:
            refusal = refusal or error
    return known, None, refusal


def _possible(parsed: Parsed, usual: str) -> tuple[str, ...]:
    """The metrics that files of numbers can be evaluated by: all are tried.

    The usual one is the first; of plain numbers, accuracy if they are right or wrong, and F1 if they are counts.
    """
    scores = dict.fromkeys(name for sheet in parsed.sheets for name in sheet.numbers)
    possible: dict[Any, str] = {}  # a metric that only has another name for other formats is left out
    for name in dict.fromkeys((*(_FIRST if usual == "mean" else [usual]), *scores, *METRICS)):
        with suppress(InputError):
            metric = parsed.evaluate(name).metric
            possible.setdefault((metric.inputs, metric.extract, getattr(metric, "score", metric)), metric.name)
    return tuple(possible.values())


def _metrics_of_tasks(reading: ByTask, options: Options, metrics: Sequence[str]) -> list[str]:
    """The first metric, and the next ones by which tasks without it have a score."""
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
    """How instances are joined; rows of a table without ids are numbered."""
    if not sheets and evaluation is None:
        return ""
    if sheets and sheets[0].id_column is not None:
        return f"the column {sheets[0].id_column!r}"
    ids = sheets[0].ids if sheets else evaluation and evaluation.ids
    if ids is None or (in_table and list(map(str, ids)) == [str(row + 1) for row in range(len(ids))]):
        return "none: instances are joined by their order"
    return "those of the files"


def _fields(sheets: Sequence[Sheet], numbers: Sequence[str]) -> dict[str, int]:
    """The fields that can be clusters or strata, and how many labels each has."""
    fields: dict[str, int] = {}
    others = {*numbers, *(sheet.system for sheet in sheets), *(sheet.id_column for sheet in sheets)}
    for name in dict.fromkeys(name for sheet in sheets for name in sheet.labels if name not in others):
        with suppress(InputError):
            labels = labels_of(sheets, name)
            if 1 < (count := len(set(labels))) < len(labels):
                fields[name] = count
    return fields


def _equal_systems(evaluation: EvaluationRecord | None) -> tuple[tuple[str, ...], ...]:
    """Groups of systems whose statistics are the same on all instances."""
    groups: dict[bytes, list[str]] = {}
    for name, own in () if evaluation is None else zip(evaluation.systems, evaluation.stats, strict=True):
        groups.setdefault(own.tobytes(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _unread(paths: Sequence[Any], input: Sequence[Any], options: Options, refusal: str) -> Diagnosis:
    """The diagnosis of files whose format is not recognized."""
    try:
        sources = sources_of(paths, input)
        files, outputs = _files(sources)
        for file in (*files, *outputs):
            read_head(file)  # what cannot be opened is of no format
        tried = _elsewhere(files, outputs)
    except InputError:
        return Diagnosis(refusal=refusal)
    return Diagnosis(refusal=refusal, tried=tried | _tried(sources, options, _MOST_REFUSALS - len(tried), refusal))


def _tried(sources: Sources, options: Options, most: int, refusal: str) -> dict[str, str]:
    """The formats that read the files, or come nearest, and why they do not read them; that of `refusal` is known."""
    files, outputs = _files(sources)
    name, head = read_head(next(chain(files, outputs)))
    names: dict[str, list[str]] = {}
    lines: dict[str, float] = {}
    for format in formats_taking(files, outputs):
        if format.may_be(name, head):
            _, refused = _read_as(format, sources, None, options)
            said, line = (f"{_READS} {format.title}", math.inf) if refused is None else (refused.flags, refused.line)
            names.setdefault(said, []).append(format.name)
            lines[said] = line
    names.pop(refusal, None)
    nearest = sorted(names, key=lines.__getitem__, reverse=True)[:most]
    return {", ".join(names[said]): said for said in nearest}


def _elsewhere(files: Sequence[str], outputs: Sequence[str]) -> dict[str, str]:
    """The formats that the first file looks like, but that take other files beside it."""
    first = (*files, *outputs)[0]
    if files and outputs:
        looking, takes = likely_formats([first], ()), "all systems in one file, or one file per system, without -i"
    else:
        looking, takes = likely_formats([first], [first]), "gold files, and then those of the systems: GOLD -i A B"
    return {each.name: f"{first} looks like {each.title}; it takes {takes}" for each in looking}
