"""Texts with one segment per line, references and then one file per system; and scores of segments, all in one file.

Scores are those of comet-score --to_json, and the .seg.score files of mt-metrics-eval. Segments are known by their
position, so every system needs a score for each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

from sigjax.files.opening import read_segments, read_text
from sigjax.metrics import METRICS, TEXT_METRICS, evaluation_from_texts
from sigjax.metrics.texts import check_lengths
from sigjax.readers.columns import asked_labels, file_labels
from sigjax.readers.formats import Format, Reading, Sheet, Sources, looks_like
from sigjax.readers.join import join_sheets
from sigjax.readers.json_files import Item, load_item
from sigjax.readers.logs.driver import Result, Row, log_reader
from sigjax.readers.names import name_systems
from sigjax.readers.options import Options, select_systems, show
from sigjax.readers.table import Table, number_column
from sigjax.readers.tables.text import looks_tabular
from sigjax.records import Evaluation, InputError


def read_texts(sources: Sources, options: Options) -> Reading:
    """Texts by a metric of texts; clusters and strata come from files with one label per line."""
    first = sources.files[0]
    chosen = select_systems(first, tuple(sources.systems), options)
    before = [*sources.files, *filter(None, [options.source])]
    files = [*before, *(sources.systems[name] for name in chosen)]
    texts = _texts(files)
    gold, outputs = texts[: len(sources.files)], texts[len(before) :]
    source = texts[len(gold)] if options.source else None
    labels = asked_labels(options, partial(file_labels, first, known=(), num_instances=len(gold[0])))

    def evaluate(options: Options) -> Evaluation:
        metric = metric_name(options)
        by_file = {sources.systems[name]: own for name, own in zip(chosen, outputs, strict=True)}
        check_lengths(metric, dict(zip(sources.files, gold, strict=True)), by_file, place="line")
        evaluation = count_texts(dict(zip(chosen, outputs, strict=True)), gold, options, source=source, **labels)
        return replace(evaluation, notes=(*evaluation.notes, *_marks(files, texts)))

    return evaluate


def _texts(files: Sequence[str]) -> list[list[str]]:
    """The segments of each file; all files must have the same number."""
    texts = [read_segments(file) for file in files]
    for file, segments in zip(files, texts, strict=True):
        if len(segments) != len(texts[0]):
            raise InputError(
                f"{file}: has {len(segments)} lines, but {files[0]} has {len(texts[0])}; expected one segment per "
                "line, in the same order"
            )
    return texts


def _marks(files: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Notes on files that start with a byte order mark, which lowers scores a little, published ones as well."""
    return tuple(
        f"{PurePath(file).name} starts with a byte order mark, which is scored as a character, as sacrebleu does"
        for file, segments in zip(files, texts, strict=True)
        if segments[0].startswith("\ufeff")
    )


def metric_name(options: Options) -> str:
    """The name of the metric, given by name or as one of our records."""
    for name in TEXT_METRICS:
        if options.metric in (name, METRICS[name]):
            return name
    raise InputError(f"a format of texts takes no metric of your own; it gives {', '.join(TEXT_METRICS)}")


def count_texts(
    systems: Mapping[str, Sequence[str]], references: Sequence[Any], options: Options, **more: Any
) -> Evaluation:
    """The evaluation of texts by the metric, and otherwise as the options say."""
    same = {name: getattr(options, name) for name in ("tokenize", "lowercase", "cache", "progress")}
    return evaluation_from_texts(systems, references, metric=metric_name(options), **same, **more)


def _looks(name: str, head: bytes) -> bool:
    """Any text but tables; reading says whatever else is wrong with it."""
    return b"\0" not in head and not looks_tabular(name, head)


TEXTS = Format(
    "texts",
    "references and outputs, one segment per line",
    "gold",
    read_texts,
    _looks,
    metrics=tuple(TEXT_METRICS),
    options=frozenset({"tokenize", "lowercase", "source"}),
)


_COMET = "COMET"
_MISSING = "None"


def _comet(file: str, _: Options) -> list[Result]:
    """comet-score: an object of file of each system -> segments with src, mt, ref and the score."""
    found = load_item(file)
    if not found.fields:
        raise InputError(f'{file}: expected an object such as {{"system.txt": [{{"{_COMET}": 0.8}}]}}')
    names = name_systems(list(found.fields))[0]
    systems = {
        name: [_segment(segment) for segment in found.items(field, f"system {show(name)}, segment")]
        for name, field in zip(names, found.fields, strict=True)
    }
    _check_lengths(file, {name: len(rows) for name, rows in systems.items()})
    return [Result(file, rows, name) for name, rows in systems.items()]


def _segment(segment: Item) -> Row:
    fields = segment.fields
    if isinstance(fields.get(_COMET), bool):
        raise InputError(f"{segment.place(_COMET)}: expected a number, got true or false")
    return Row({_COMET: segment.number(_COMET)}, content=(fields.get("src"), fields.get("ref")))


def _read_segment_scores(sources: Sources, options: Options) -> Reading:
    """mt-metrics-eval: lines `SYSTEM SCORE`, those of each system in the order of the segments."""
    (file,) = sources.files
    lines: dict[str, list[int]] = {}
    cells: dict[str, list[str]] = {}
    for line, content in enumerate(read_text(file).rstrip().split("\n"), start=1):
        fields = content.split()
        if len(fields) != 2:
            raise InputError(f"{file}, line {line}: expected SYSTEM SCORE, got {show(content)}")
        system, score = fields
        lines.setdefault(system, []).append(line)
        cells.setdefault(system, []).append("" if score == _MISSING else score)
    hint = f"write {_MISSING} where it is missing"
    sheets = [
        Sheet(system, file, {"score": number_column(Table(file, {"SCORE": own}, lines[system]), "SCORE", hint=hint)})
        for system, own in cells.items()
    ]
    _check_lengths(file, {sheet.system: sheet.num_rows for sheet in sheets}, hint=f", {_MISSING} where there is none")
    return join_sheets(sheets, options, scores=True)


def _check_lengths(file: str, lengths: Mapping[str, int], hint: str = "") -> None:
    (first, expected), *others = lengths.items()
    for system, length in others:
        if length != expected:
            raise InputError(
                f"{file}: system {show(system)} has {length} scores, {show(first)} has {expected}; expected one for "
                f"each segment{hint}"
            )


COMET = Format(
    "comet",
    "JSON of comet-score --to_json",
    "file",
    log_reader(_comet, content="source or reference"),
    looks_like(f'"{_COMET}"'.encode()),
    names=r".*\.json",
)
MT_METRICS_EVAL = Format(
    "mt-metrics-eval",
    "segment scores of mt-metrics-eval (.seg.score)",
    "file",
    _read_segment_scores,
    looks_like(ending=".seg.score"),
)
