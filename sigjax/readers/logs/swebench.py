"""SWE-bench: the report of its harness (a file a system), or leaderboards.json (all systems of a board in one file)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.json_files import Object, as_list, as_object, member, number, parse_json, text
from sigjax.readers.logs.scores import choose, score_columns
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation, InputError

_REPORT = re.compile(rb'\s*\{.*"(submitted_ids|completed_ids|resolved_ids)"\s*:\s*\[', re.DOTALL)
_RESOLVED = "resolved"
"""The score, beside which boards tell cost and calls."""
_BOARDS = re.compile(rb'\s*\{\s*"leaderboards"\s*:\s*\[')


def _read(sources: Sources, options: Options) -> Evaluation:
    sheets: list[Sheet] = []
    notes: tuple[str, ...] = ()
    for name, file in sources.systems.items():
        found = as_object(parse_json(file, decode_text(file, read_bytes(file))), file)
        if "leaderboards" in found:
            sheets += _board(file, found, options)
        elif options.filter is not None:
            raise InputError(f"{file}: --filter names a board of leaderboards.json; a report has none; leave it out")
        else:
            sheet, lacking = _report(name, file, found)
            sheets.append(sheet)
            if lacking:
                notes += (f"{file}: {lacking} instances were not submitted; --missing zero counts them as unresolved",)
    if options.metric == "mean" and options.counts is None:
        options = replace(options, metric=_RESOLVED)
    return join_sheets(sheets, options, scores=True, notes=notes)(options)


def _report(name: str, file: str, report: Object) -> tuple[Sheet, int]:
    """The sheet of a report of the harness, and how many instances were not submitted."""
    submitted = _ids(file, report, "submitted_ids")
    resolved = set(_ids(file, report, "resolved_ids"))
    stray = resolved.difference(submitted)
    if stray:
        raise InputError(f"{file}: {show(min(stray))} is in resolved_ids, but not in submitted_ids; repair the report")
    if not submitted:
        raise InputError(f"{file}, field 'submitted_ids': is empty; expected instances")
    numbers = {_RESOLVED: np.array([id in resolved for id in submitted], np.float64)}
    lacking = len(_ids(file, report, "incomplete_ids")) if "incomplete_ids" in report else 0
    return Sheet(name, file, numbers, _labels(submitted), submitted), lacking


def _ids(file: str, report: Object, field: str) -> list[str]:
    where = f"{file}, field {field!r}"
    return [text(id, where) for id in as_list(member(report, field, file), where)]


def _board(file: str, found: Object, options: Options) -> list[Sheet]:
    """The sheets of the systems of one board that tell the results of single instances."""
    boards = [as_object(each, f"{file}, board") for each in as_list(found["leaderboards"], f"{file}, leaderboards")]
    results: dict[str, list[Object]] = {}
    for board in boards:
        name = text(member(board, "name", f"{file}, board"), f"{file}, board")
        where = f"{file}, board {show(name)}"
        entries = [as_object(each, where) for each in as_list(member(board, "results", where), where)]
        detailed = [entry for entry in entries if entry.get("per_instance_details")]
        if detailed:
            results[name] = detailed
    if not results:
        raise InputError(f"{file}: no board holds the results of single instances (per_instance_details)")
    chosen = choose(file, list(results), options.filter, "board")
    where = f"{file}, board {show(chosen)}"
    names = [text(member(entry, "name", where), f"{where}, field 'name'") for entry in results[chosen]]
    if len(set(names)) < len(names):
        names = [text(member(entry, "folder", where), f"{where}, field 'folder'") for entry in results[chosen]]
    return [_entry(name, file, entry, options) for name, entry in zip(names, results[chosen], strict=True)]


def _entry(name: str, file: str, entry: Object, options: Options) -> Sheet:
    where = f"{file}, system {show(name)}"
    details = as_object(entry["per_instance_details"], where)
    ids = [text(id, where) for id in details]
    rows = [_details(as_object(each, f"{where}, {show(id)}"), f"{where}, {show(id)}") for id, each in details.items()]
    return Sheet(name, file, score_columns(file, rows, options), _labels(ids), ids)


def _details(found: dict[str, Any], where: str) -> dict[str, float]:
    """What is told of an instance: resolved, and cost and calls where they are there."""
    return {name: number(value, f"{where}, field {show(name)}") for name, value in found.items() if value is not None}


def _labels(ids: Sequence[str]) -> dict[str, list[str]]:
    return {"repository": [id.rpartition("-")[0] or id for id in ids]}


def _looks(name: str, head: bytes) -> bool:
    return _BOARDS.match(head) is not None or _REPORT.match(head) is not None


SWEBENCH = Format(
    "swebench",
    "reports or leaderboards.json of SWE-bench",
    "systems",
    _read,
    _looks,
    options=frozenset({"filter"}),
)
