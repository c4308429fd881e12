"""Logs of Inspect (inspect_ai): .json, or .eval, which is a zip archive of the same parts.

Each sample holds a value of each scorer; the epochs of a sample are its runs. Where the log was reduced by another rule
than the mean (pass@k, a majority), the reduced values are the scores.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sigjax.files.opening import ZIP_MAGIC, decode_text, naming, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.json_files import Object, as_list, as_object, member, parse_json, plain_labels, text
from sigjax.readers.logs.archive import read_members
from sigjax.readers.logs.inspect_values import sample_scores
from sigjax.readers.logs.scores import Row, differing, name_by_model, score_columns, with_runs
from sigjax.readers.options import Options, listing
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

_START = re.compile(rb'\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
_WHOLE = ("header.json", "reductions.json")
_SAMPLE = re.compile(r"samples/.*\.json", re.DOTALL)
_READ = ("id", "epoch", "scores", "metadata")
"""What is read of a sample; the rest, its messages and events, can be long."""
_MEAN = (None, "mean")


@dataclass(frozen=True, eq=False)
class _Log:
    """One log."""

    sheet: Sheet
    task: str | None
    status: str
    reducers: tuple[str, ...]
    """Rules other than the mean by which its values were reduced; none where they are those of the epochs."""


def _read(sources: Sources, options: Options) -> Evaluation:
    logs = [_read_log(file, options) for file in sources.systems.values()]
    reduced = dict.fromkeys(log.reducers for log in logs)
    if len(reduced) > 1:
        rules = [" and ".join(rules) or "mean" for rules in reduced]
        raise InputError(
            f"{logs[0].sheet.file}: the logs are reduced over epochs by different rules: {listing(rules)}; score them "
            "with one"
        )
    sheets = name_by_model([log.sheet for log in logs], sources)
    notes = differing("task", {log.sheet.file: log.task for log in logs})
    notes += tuple(f"{log.sheet.file}: the run has the status {log.status}" for log in logs if log.status != "success")
    if logs[0].reducers:
        notes += (f"took the values reduced over epochs by {' and '.join(logs[0].reducers)}",)
    sheets, notes = with_runs(sheets, notes)
    return join_sheets(sheets, options, scores=True, notes=notes)(options)


def _read_log(file: str, options: Options) -> _Log:
    log = _parts(file, read_bytes(file))
    about = as_object(member(log, "eval", file), f"{file}, field 'eval'")
    samples = as_list(log.get("samples") or [], f"{file}, field 'samples'")
    reductions = as_list(log.get("reductions") or [], f"{file}, field 'reductions'")
    rules = dict.fromkeys(each.get("reducer") for each in reductions if isinstance(each, dict))
    others = tuple(str(rule) for rule in rules if rule not in _MEAN)
    model = about.get("model")
    system = text(model, f"{file}, field 'model'") if model else ""
    if reductions and (others or not samples):
        sheet = _reduced(system, file, reductions, several=len(rules) > 1, options=options)
    elif samples:
        sheet = _sampled(system, file, samples, options)
    else:
        raise InputError(f"{file}: holds no samples, only their aggregate; expected a log written with its samples")
    task = about.get("task")
    return _Log(sheet, task if isinstance(task, str) else None, str(log.get("status")), others)


def _parts(file: str, data: bytes) -> Object:
    """The log as one object, whatever it is packed in."""
    if not data.startswith(ZIP_MAGIC):
        return as_object(parse_json(file, decode_text(file, data)), file)
    parts: Object = {}
    samples: list[Object] = []
    for name, member_bytes in read_members(file, data, lambda name: name in _WHOLE or bool(_SAMPLE.fullmatch(name))):
        where = f"{file}, {name}"
        part = parse_json(where, decode_text(where, member_bytes))
        if name in _WHOLE:
            parts[name] = part
        else:
            found = as_object(part, where)
            samples.append({field: found[field] for field in _READ if field in found})
    if "header.json" not in parts:
        raise InputError(f"{file}: holds no header.json: the run did not end, or this is no log of Inspect")
    header = as_object(parts["header.json"], f"{file}, header.json")
    return {**header, "samples": samples, "reductions": parts.get("reductions.json", header.get("reductions"))}


def _sampled(system: str, file: str, samples: Sequence[Any], options: Options) -> Sheet:
    """One row a sample and epoch."""
    ids: list[str] = []
    runs: list[str] = []
    rows: list[Row] = []
    for i, sample in enumerate(samples, start=1):
        where = f"{file}, sample {i}"
        found = as_object(sample, where)
        ids.append(text(member(found, "id", where), f"{where}, field 'id'"))
        runs.append(text(found.get("epoch", 1), f"{where}, field 'epoch'"))
        rows.append(sample_scores(found, where))
    with naming(file):
        labels = plain_labels([sample.get("metadata") for sample in samples], (options.cluster, options.strata))
    return Sheet(system, file, score_columns(file, rows, options), labels, ids, runs)


def _reduced(system: str, file: str, reductions: Sequence[Any], *, several: bool, options: Options) -> Sheet:
    """One row a sample, of values that the log reduced; a scorer reduced by several rules has a column for each."""
    rows: dict[str, dict[str, Any]] = {}
    for i, reduction in enumerate(reductions, start=1):
        where = f"{file}, reduction {i}"
        found = as_object(reduction, where)
        scorer = text(member(found, "scorer", where), f"{where}, field 'scorer'")
        name = f"{scorer}/{found.get('reducer') or 'mean'}" if several else scorer
        for score in as_list(member(found, "samples", where), where):
            sample = as_object(score, where)
            id = text(member(sample, "sample_id", where), f"{where}, field 'sample_id'")
            scores = rows.setdefault(id, {})
            scores |= sample_scores({"scores": {name: sample}}, f"{where}, sample {id}")
    return Sheet(system, file, score_columns(file, list(rows.values()), options), {}, list(rows))


def _looks(name: str, head: bytes) -> bool:
    return (name.endswith(".eval") and head.startswith(ZIP_MAGIC)) or _START.match(head) is not None


INSPECT = Format("inspect", "logs of Inspect (inspect_ai)", "systems", _read, _looks)
