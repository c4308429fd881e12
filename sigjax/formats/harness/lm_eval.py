# logs hold: "doc_id"
"""lm-evaluation-harness: samples_TASK_DATE.jsonl, one line per document and filter, beside results_DATE.json."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import TOLERANCE, InstanceLog, Log, LogScores, SystemLog, choose
from sigjax.readers.json_files import JsonObject, load_item, load_lines
from sigjax.readers.options import Options
from sigjax.records import Hint, InputError

FORMAT = harness(
    __name__,
    "samples of lm-evaluation-harness",
    looks_like(rb'\A(?:\s*\{\s*"doc_id"\s*:\s*[^,]{1,99},\s*"doc"\s*:\s*[{\[]|(?s:(?=.*"doc_id").*"filtered_resps"))'),
    options=frozenset({"filter"}),
    folder="samples_*.jsonl",
    tasks=True,
)
_LONG = frozenset("arguments resps filtered_resps".split())
_NOT_METRICS = _LONG | frozenset("doc_id doc target filter metrics doc_hash prompt_hash target_hash".split())
_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz)?")


def _labels(line: JsonObject, asked: str | None) -> object:
    """Return the fields of the document, for clusters and strata.

    If `asked` (the field for strata) is "target", the target of the document is added to its fields.
    """
    doc = line.get("doc")
    return {"target": line.get("target"), **doc} if asked == "target" and isinstance(doc, dict) else doc


def _results(file: str, options: Options) -> Iterator[SystemLog]:
    lines = list(load_lines(file, unread=_LONG))
    filters = [line.text("filter") for line in lines if "filter" in line.fields]
    unfiltered = set(filters) == {"none"}  # a suite may mix tasks with and without filters
    asked = None if unfiltered else options.filter
    chosen = choose(file, filters, asked, "filter") if filters or options.filter else None
    labels = partial(_labels, asked=options.strata)
    rows = [
        InstanceLog(_scores(line), line.text("doc_id"), None, labels(line), line.get("doc_hash") or line.get("doc"))
        for line in lines
        if chosen is None or line.get("filter") == chosen
    ]
    named = _SAMPLES.fullmatch(PurePath(file).name)
    task = named["task"] if named else ""
    means = str(PurePath(file).with_name(f"results_{named['date']}.json")) if named else ""
    published = partial(_published, file, means, task, chosen or "none") if os.path.isfile(means) else None
    lacks = unfiltered and options.filter not in (None, "none")
    notes = (f"there is no filter {options.filter}: took the only results",) if lacks else ()
    yield SystemLog(file, rows, notes=notes, task=task, published=published)


def _scores(line: JsonObject) -> LogScores:
    if isinstance(line.get("metrics"), list):
        names = line.texts("metrics")
    else:
        names = [name for name, own in line.fields.items() if name not in _NOT_METRICS and isinstance(own, float | int)]
    return {name: _value(line, name) for name in names if line.fields.get(name, 0) is not None}


def _value(line: JsonObject, name: str) -> float | InputError:
    if isinstance(line.get(name), list | dict | str):
        return InputError(
            f"{line.field(name)}: holds parts of a metric of the whole corpus, not a score of the document; name "
            f"another score with {Hint('metric', 'NAME')}, or compare the texts themselves"
        )
    return line.number(name)


def _published(samples: str, file: str, task: str, filter: str, score: str, mean: float) -> tuple[list[str], bool]:
    """Return notes, and whether lower values of a score are better, from the results in `file` beside the samples.

    `file` is results_{date}.json. There is a note if its mean differs from `mean`, the mean of the samples, or if it
    cannot be read.
    """
    try:
        results = load_item(file)
        published = results.item("results", {}).item(task, {}).get(f"{score},{filter}")
        lower_is_better = results.item("higher_is_better", {}).item(task, {}).get(score) is False
    except InputError as error:
        return [f"not checked against the published results: {error.flags}"], False
    if not isinstance(published, int | float) or abs(mean - published) <= TOLERANCE * max(1.0, abs(published)):
        return [], lower_is_better
    return [f"{samples}: the mean of {score} is {mean:.6g}, but {published:.6g} in {file}"], lower_is_better


LOG = Log(results=_results, content="document (doc_hash, or doc)")


def sample(values: Sequence[Any], *, metric: str = "acc", filters: Sequence[Any] = ("none",), **fields: Any) -> str:
    """Make a log. `values` has one value per document; each document is repeated for each filter."""
    lines = [
        {"doc_id": i, "doc": {"question": f"q{i}", "topic": f"t{i // 2}"}, "target": "A", "resps": [["A"]]}
        | {"filtered_resps": ["A"], "filter": filter, "metrics": [metric], "doc_hash": f"h{i}", metric: value}
        | fields
        for filter in filters
        for i, value in enumerate(values)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


SAMPLE = ExampleLogs(file="samples_arc_2026-01-21T03-44-18.458309.jsonl", make=sample, cluster="topic")
