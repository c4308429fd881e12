"""Logs with one JSON line or row of Parquet per instance: lm-evaluation-harness, Every Eval Ever, lighteval."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

from sigjax.files.opening import files_inside, read_bytes, read_head
from sigjax.readers.formats import NO_ENDING, Format, looks_like
from sigjax.readers.json_files import Item, item_at, load_item, load_lines
from sigjax.readers.logs.driver import Result, Row, Scores, Unusable, choose, log_reader
from sigjax.readers.options import Options, listing, show
from sigjax.readers.tables.frames import refuse_repeats
from sigjax.readers.tables.parquet import is_flat, parquet_columns, refusing_damage
from sigjax.records import InputError

_LONG = frozenset("arguments resps filtered_resps".split())
_NOT_METRICS = _LONG | frozenset("doc_id doc target filter metrics doc_hash prompt_hash target_hash".split())
_FIRST_LINE = re.compile(rb'\s*\{\s*"doc_id"\s*:\s*[^,]{1,99},\s*"doc"\s*:\s*[{\[]')
_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz)?")
_MEANS = re.compile(r"results_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.json(\.gz)?")
_DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.parquet(\.gz)?")
_TOLERANCE = 1e-9


def _lm_eval(file: str, options: Options) -> Iterator[Result]:
    lines = list(load_lines(file, unread=_LONG))
    filters = [line.text("filter") for line in lines if "filter" in line.fields]
    unfiltered = set(filters) == {"none"}  # no filter is another than itself: a suite has such tasks beside others
    asked = None if unfiltered else options.filter
    chosen = choose(file, filters, asked, "filter") if filters or options.filter else None
    rows = [
        Row(_lm_eval_scores(line), line.text("doc_id"), labels=line.get("doc"), content=line.get("doc_hash"))
        for line in lines
        if chosen is None or line.get("filter") == chosen
    ]
    named = _SAMPLES.fullmatch(PurePath(file).name)
    task = named["task"] if named else ""
    lacks = unfiltered and options.filter not in (None, "none")
    notes = (f"there is no filter {options.filter}: took the only results",) if lacks else ()
    yield Result(file, rows, notes=notes, published=partial(_published, file, chosen or "none"), task=task)


def _lm_eval_scores(line: Item) -> Scores:
    if isinstance(line.get("metrics"), list):
        names = line.texts("metrics")
    else:
        names = [
            name for name, value in line.fields.items() if name not in _NOT_METRICS and isinstance(value, float | int)
        ]
    return {name: _lm_eval_value(line, name) for name in names if line.fields.get(name, 0) is not None}


def _lm_eval_value(line: Item, name: str) -> float | Unusable:
    if isinstance(line.get(name), list | dict | str):
        return Unusable(
            f"{line.place(name)}: holds parts of a metric of the whole corpus, not a score of the document; name "
            "another score with --metric NAME, or compare the texts themselves"
        )
    return line.number(name)


def _published(samples: str, filter: str, score: str, mean: float) -> tuple[list[str], bool]:
    """A note where results_{date}.json beside the samples has another mean, and whether lower is better there."""
    path = PurePath(samples)
    named = _SAMPLES.fullmatch(path.name)
    file = str(path.with_name(f"results_{named['date']}.json")) if named else ""
    if named is None or not os.path.isfile(file):
        return [], False
    try:
        results = load_item(file).fields
    except InputError as error:
        return [f"not checked against the published results: {error.neutral}"], False
    published = _below(results, "results", named["task"], f"{score},{filter}")
    lower_is_better = _below(results, "higher_is_better", named["task"], score) is False
    if not isinstance(published, int | float) or abs(mean - published) <= _TOLERANCE * max(1.0, abs(published)):
        return [], lower_is_better
    return [f"{samples}: the mean of {score} is {mean:.6g}, but {published:.6g} in {file}"], lower_is_better


def _below(value: object, *names: str) -> object:
    """What an object holds below names, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _looks_lm_eval(name: str, head: bytes) -> bool:
    return _FIRST_LINE.match(head) is not None or (b'"doc_id"' in head and b'"filtered_resps"' in head)


def without_means(files: Sequence[str]) -> tuple[str, ...]:
    """Files as a pattern for a folder of lm-eval gives them, without its means: samples are checked against these.

    Raises:
        InputError: means without the samples that they are of.
    """
    runs = {(os.path.dirname(file), found["date"]) for file, found in _named(_SAMPLES, files)}
    means = {file: (os.path.dirname(file), found["date"]) for file, found in _named(_MEANS, files)}
    for file, run in means.items():
        if run not in runs and b'"results"' in read_head(file)[1]:
            raise InputError(
                f"{file}: holds the means of lm-evaluation-harness, not the scores of instances; give the files "
                "samples_*.jsonl beside it, which lm_eval writes with --log_samples"
            )
    return tuple(file for file in files if means.get(file) not in runs)


def as_folders(files: Sequence[str]) -> tuple[str, ...]:
    """Files with folders in place of all samples in them, if these are of several tasks: they are of one system."""
    tasks: dict[str, dict[str, str]] = {}
    for file, found in _named(_SAMPLES, files):
        tasks.setdefault(os.path.dirname(file), {})[found["task"]] = file
    whole: dict[str, str] = {}
    for folder, own in tasks.items():
        if folder and 1 < len(own) == len(files_inside(folder, LM_EVAL.folder)):
            whole |= dict.fromkeys(own.values(), "") | {next(iter(own.values())): folder}
    return tuple(filter(None, (whole.get(file, file) for file in files)))


def _named(pattern: re.Pattern[str], files: Sequence[str]) -> list[tuple[str, re.Match[str]]]:
    """The files whose names match."""
    return [(file, found) for file in files if (found := pattern.fullmatch(PurePath(file).name))]


LM_EVAL = Format(
    "lm-eval",
    "samples of lm-evaluation-harness",
    "systems",
    log_reader(_lm_eval, content="document (doc_hash)"),
    _looks_lm_eval,
    options=frozenset({"filter"}),
    folder="samples_*.jsonl",
    tasks=True,
    names=rf"{NO_ENDING}|.*\.jsonl?",
    begins=(b"{",),
)

# Every Eval Ever: the instance schema of that project, with one line per instance and evaluation.

_UNREAD = frozenset("input output messages answer_attribution".split())


def _every_eval(file: str, _: Options) -> Iterator[Result]:
    by_model: dict[str, list[Item]] = {}
    for line in load_lines(file, unread=_UNREAD):
        by_model.setdefault(line.text("model_id"), []).append(line)
    for model, lines in by_model.items():
        yield Result(file, _samples(lines), model)


def _samples(lines: Sequence[Item]) -> list[Row]:
    """One row per sample, with the scores of all its lines."""
    scores: dict[str, dict[str, float]] = {}
    rows: dict[str, Row] = {}
    for line, name in zip(lines, _evaluations(lines), strict=True):
        sample = line.text("sample_id")
        own = scores.setdefault(sample, {})
        if name in own:
            raise InputError(f"{line.where}: evaluation {show(name)} of sample {show(sample)} is on another line too")
        evaluation = line.item("evaluation")
        own[name] = evaluation.number("is_correct" if evaluation.get("score") is None else "score")
        rows.setdefault(sample, Row(own, sample, labels=line.get("metadata"), content=line.get("sample_hash")))
    return list(rows.values())


def _evaluations(lines: Sequence[Item]) -> list[str]:
    """What each line scores: its evaluation, or its result where an evaluation has several."""
    pairs = [(line.text("evaluation_name"), line.get("evaluation_result_id")) for line in lines]
    counts = Counter(name for name, _ in {pair for pair in pairs if isinstance(pair[1], str)})
    return [result if counts[name] > 1 and isinstance(result, str) else name for name, result in pairs]


def _looks_every_eval(name: str, head: bytes) -> bool:
    fields = (b'"schema_version"', b'"model_id"', b'"evaluation_name"', b'"sample_id"')
    return all(field in head.partition(b"\n")[0] for field in fields)


EVERY_EVAL = Format(
    "eee",
    "instances of Every Eval Ever",
    "systems",
    log_reader(_every_eval, content="content (sample_hash)"),
    _looks_every_eval,
    folder="*_samples.jsonl",
    begins=(b"{",),
)


_DOC, _METRIC = ("doc", "__doc__"), ("metric", "__metric__")
_PART = ()
"""Stands for a metric that is a list or an object, which is not decoded."""


def _results(file: str, _: Options) -> Iterator[Result]:
    docs, metrics = _columns(file, read_bytes(file))
    places = [f"{file}, row {i}" for i in range(1, len(docs) + 1)]
    docs = [item_at(where, doc).fields for doc, where in zip(docs, places, strict=True)]
    ids = [str(doc.get("id") or "") for doc in docs]
    if not all(ids) or len(set(ids)) < len(ids):
        ids = [str(i) for i in range(1, len(docs) + 1)]
    yield Result(
        file,
        [
            Row(_scores(item_at(where, metric)), id, labels=doc, content=doc.get("query"))
            for doc, metric, where, id in zip(docs, metrics, places, ids, strict=True)
        ],
        task=named["task"] if (named := _DETAILS.fullmatch(PurePath(file).name)) else "",
    )


def _scores(metrics: Item) -> Scores:
    """The metrics of a document; those that it lacks are null."""
    found: dict[str, float | Unusable] = {}
    for name, value in metrics.fields.items():
        if isinstance(value, int | float):
            found[name] = metrics.number(name)
        elif value is not None:
            found[name] = Unusable(
                f"{metrics.place(name)}: expected a number for each document, got a part of a metric of the corpus"
            )
    return found


def _columns(file: str, data: bytes) -> tuple[list[Any], list[Any]]:
    """The documents and the metrics, as objects `[row]` of the fields with one value; other metrics are `_PART`."""
    parts: list[str] = []
    names: list[str] = []

    def choose(schema: Any) -> list[str]:
        names[:] = [next((name for name in each if name in schema.names), "") for each in (_DOC, _METRIC)]
        if not all(names):
            raise InputError(
                f"{file}: expected the columns doc and metric of lighteval's details; columns: {listing(schema.names)}"
            )
        fields = [(name, field) for name in names for field in _fields(file, name, schema.field(name).type)]
        parts[:] = [field.name for name, field in fields if name == names[1] and not is_flat(field.type)]
        return [f"{name}.{field.name}" for name, field in fields if is_flat(field.type)]

    with refusing_damage(file):
        table = parquet_columns(file, data, choose)
        lacking = [name for name in names if name not in table.column_names]
        if lacking:
            raise InputError(f"{file}, column {show(lacking[0])}: holds no values of single documents")
        docs, metrics = (table.column(name).to_pylist() for name in names)
    return docs, [dict.fromkeys(parts, _PART) | metric if metric is not None else None for metric in metrics]


def _fields(file: str, name: str, kind: Any) -> list[Any]:
    from pyarrow import types  # pyright: ignore[reportMissingImports]

    if not types.is_struct(kind):
        raise InputError(f"{file}, column {show(name)}: expected an object in each row, got {show(str(kind))}")
    refuse_repeats(file, [field.name for field in kind])
    return [kind.field(i) for i in range(kind.num_fields)]


LIGHTEVAL = Format(
    "lighteval",
    "details of lighteval, parquet",
    "systems",
    log_reader(_results, content="query"),
    looks_like(rb"^PAR1"),
    folder="details_*.parquet",
    tasks=True,
    names="details_.*",
)
