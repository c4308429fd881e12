"""lm-evaluation-harness: samples_{task}_{date}.jsonl, a line for each document and filter.

Values stand at the top level of a line, under the names in its "metrics"; older files have no such list. Documents are
joined by doc_id, and their doc_hash must agree.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.json_files import Object, member, number, parse_json, parse_json_lines, plain_labels, text
from sigjax.readers.logs.scores import Row, Unusable, check_same_content, choose, score_columns
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets, sheet_metric
from sigjax.records import Evaluation, InputError

_NO_METRICS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
_UNREAD = frozenset("arguments resps filtered_resps".split())
_FIRST_LINE = re.compile(rb'\s*\{\s*"doc_id"\s*:\s*[^,]{1,99},\s*"doc"\s*:\s*[{\[]')
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz)?")
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class _Samples:
    """One file of samples."""

    sheet: Sheet
    hashes: Sequence[str | None]
    filter: str | None


def _read(sources: Sources, options: Options) -> Evaluation:
    samples = [_read_samples(name, file, options) for name, file in sources.systems.items()]
    sheets = [each.sheet for each in samples]
    check_same_content(sheets, [each.hashes for each in samples], "document (doc_hash)")
    metric = sheet_metric(sheets, options)
    (column, *others) = metric.inputs
    notes: list[str] = []
    if not others and metric.stat_names == ("value", "count"):
        for each in samples:
            name = column if column in each.sheet.numbers else next(iter(each.sheet.numbers))
            note, lower = _published(each, name)
            notes += note
            if lower:
                metric = replace(metric, higher_is_better=False)
    return join_sheets(sheets, replace(options, metric=metric), notes=tuple(notes))(replace(options, metric=metric))


def _read_samples(system: str, file: str, options: Options) -> _Samples:
    lines = list(parse_json_lines(file, decode_text(file, read_bytes(file)), unread=_UNREAD))
    filters = dict.fromkeys(
        text(line["filter"], f"{where}, field 'filter'") for where, line in lines if "filter" in line
    )
    chosen = choose(file, list(filters), options.filter, "filter") if filters or options.filter else None
    if chosen is not None:
        lines = [(where, line) for where, line in lines if line.get("filter") == chosen]
    ids = [text(member(line, "doc_id", where), f"{where}, field 'doc_id'") for where, line in lines]
    hashes = [text(line["doc_hash"], where) if line.get("doc_hash") is not None else None for where, line in lines]
    sheet = Sheet(
        system=system,
        file=file,
        numbers=score_columns(file, [_scores(where, line) for where, line in lines], options),
        labels=plain_labels([line.get("doc") for _, line in lines], (options.cluster, options.strata)),
        ids=ids,
    )
    return _Samples(sheet, hashes, chosen)


def _scores(where: str, line: Object) -> Row:
    """The values of a line under the names of its metrics."""
    listed = line.get("metrics")
    if isinstance(listed, list):
        names = [text(name, f"{where}, field 'metrics'") for name in listed]
    else:
        names = [name for name in line if name not in _NO_METRICS and isinstance(line[name], int | float)]
    return {name: _value(member(line, name, where), where, name) for name in names if line.get(name, 0) is not None}


def _value(value: object, where: str, name: str) -> float | Unusable:
    place = f"{where}, field {show(name)}"
    if isinstance(value, list | dict | str):
        return Unusable(
            f"{place}: holds parts of a metric of the whole corpus, not a score of the document; name another score "
            "with --metric NAME, or compare the texts themselves"
        )
    return number(value, place)


def _published(samples: _Samples, column: str) -> tuple[list[str], bool]:
    """A note where results_{date}.json beside the samples has another mean; and whether lower is better there."""
    path = PurePath(samples.sheet.file)
    named = _NAME.fullmatch(path.name)
    file = str(path.with_name(f"results_{named['date']}.json")) if named else ""
    if named is None or not os.path.isfile(file):
        return [], False
    try:
        results = parse_json(file, decode_text(file, read_bytes(file)))
    except InputError as error:
        return [f"not checked against the published results: {error}"], False
    published = _at(results, "results", named["task"], f"{column},{samples.filter or 'none'}")
    lower = _at(results, "higher_is_better", named["task"], column) is False
    mean = float(np.nanmean(samples.sheet.numbers[column]))
    if not isinstance(published, int | float) or abs(mean - published) <= _TOLERANCE * max(1.0, abs(published)):
        return [], lower
    return [f"{samples.sheet.file}: the mean of {column} is {mean:.6g}, but {published:.6g} in {file}"], lower


def _at(value: object, *names: str) -> object:
    """What an object holds below names, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _looks(name: str, head: bytes) -> bool:
    if PurePath(name).suffix not in (".jsonl", ".json", ""):
        return False
    return _FIRST_LINE.match(head) is not None or (
        head.lstrip().startswith(b"{") and b'"doc_id"' in head and b'"filtered_resps"' in head
    )


LM_EVAL = Format(
    "lm-eval",
    "samples of lm-evaluation-harness",
    "systems",
    _read,
    _looks,
    options=frozenset({"filter"}),
    folder="samples_*.jsonl",
)
