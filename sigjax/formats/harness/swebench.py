# logs hold: "leaderboards" or _ids" or "no_logs" or "no_generation" or "resolved"
"""SWE-bench: reports of its harness, leaderboards of its web site, and results.json of its repository of experiments.

A report or `per_instance_details.json` names all instances. `results.json` of the experiments names only the resolved
instances, and instances without a prediction or a log. Even all systems together need not name every instance. So
`results.json` is read together with a list of all instances.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from sigjax.formats.declarations import FORMATS, looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog, choose
from sigjax.readers.join import Sources, Tasks
from sigjax.readers.json_files import JsonObject, item_at, load_item, parse_json, parse_json_lines, text, type_of
from sigjax.readers.options import Options, quote
from sigjax.records import Hint, InputError, Line
from sigjax.run.files import files_inside, naming, read_head, read_text

FORMAT = harness(
    __name__,
    "reports, leaderboards.json or details of SWE-bench",
    looks_like(
        rb'(?s)\A(?!.*"is_resolved"\s*:)\s*\{(?:(?:\s*"leaderboards"'
        rb'|.*"(submitted_ids|completed_ids|resolved_ids|no_generation|no_logs)")\s*:\s*\['
        rb'|\s*"(resolved"\s*:\s*\[|[\w.-]{1,99}__[\w.-]{1,199}"\s*:\s*\{[^{}]*"resolved"\s*:))'
    ),
    options=frozenset({"filter"}),
)
_RESOLVED = "resolved"
"""Name of the main score (leaderboards also have cost and calls), and of the field in results.json that lists resolved
instances."""
_WITHOUT = ("no_generation", "no_logs")
_ID = "instance_id"
_LIST = "one id per line, or JSON with instance_id, such as all_preds.jsonl"


def _results(file: str, options: Options) -> list[SystemLog]:
    found = load_item(file)
    if "leaderboards" in found.fields:
        return _leaderboard(file, found, options)
    if options.filter is not None:
        raise InputError(
            f"{file}: {Hint('filter')} names a board of leaderboards.json; a report has none; leave it out"
        )
    if "submitted_ids" in found.fields:
        return [_report(file, found)]
    if isinstance(found.get(_RESOLVED), list):
        raise InputError(
            f"{file}: lists the instances that are resolved, but not the others; give a list of all first "
            f"({_LIST}): {Hint('sigjax compare', 'ALL', '-i', file, '...')}"
        )
    if not found.fields or any(isinstance(value, list) for value in found.fields.values()):
        found.value("submitted_ids")  # raises the error for a missing field
    return [SystemLog(file, _issues(found))]


def _report(file: str, report: JsonObject) -> SystemLog:
    submitted, resolved = report.texts("submitted_ids"), report.texts("resolved_ids")
    stray = set(resolved).difference(submitted)
    if stray:
        raise InputError(f"{file}: {quote(min(stray))} is resolved, but not among the submitted ids; repair the report")
    if not submitted:
        raise InputError(f"{file}: no instance is submitted; expected at least one")
    without = len(report.texts("incomplete_ids", []))
    what = "instances were not submitted; --missing zero counts them as unresolved"
    lacking = without, len(submitted) + without, what
    return SystemLog(file, _outcomes(submitted, resolved), lacking=lacking)


def _outcomes(ids: Sequence[str], resolved: Sequence[str]) -> list[InstanceLog]:
    known = set(resolved)
    return [_issue({_RESOLVED: float(id in known)}, id) for id in ids]


def _leaderboard(file: str, leaderboards: JsonObject, options: Options) -> list[SystemLog]:
    """Return the systems of one leaderboard that have results for single instances."""
    boards: dict[str, list[JsonObject]] = {}
    for board in leaderboards.items("leaderboards", "board"):
        entries = board.items("results", f"{quote(board.text('name'))}, system")
        detailed = [entry for entry in entries if entry.get("per_instance_details")]
        if detailed:
            boards[board.text("name")] = detailed
    if not boards:
        raise InputError(f"{file}: no board holds the results of single instances (per_instance_details)")
    systems = boards[choose(file, boards, options.filter, "board")]
    names = [system.text("name") for system in systems]
    if len(set(names)) < len(names):
        names = [system.text("folder") for system in systems]
    return [
        SystemLog(file, _issues(system.item("per_instance_details")), name)
        for name, system in zip(names, systems, strict=True)
    ]


def _issues(details: JsonObject) -> list[InstanceLog]:
    rows = []
    for id, own in details.fields.items():
        with naming(details.where):
            text(id)
        issue = item_at((details.at, id), own)
        rows.append(_issue(issue.numbers(), id))
    return rows


def _issue(scores: dict[str, float], id: str) -> InstanceLog:
    return InstanceLog(scores, id, labels={"repository": id.rpartition("-")[0] or id})


LOG = Log(results=_results, main=_RESOLVED)


def _instances(file: str) -> list[str]:
    """Return the distinct ids of all instances from a list of them.

    The list has one id per line, or JSON with ids or with objects that have an id.
    """
    content = read_text(file)
    start = content.lstrip()[:1]
    if start not in ("[", "{"):
        return list(dict.fromkeys(line.strip() for line in content.split("\n") if line.strip()))
    ids = dict[str, None]()
    values = parse_json(file, content) if start == "[" else [item.fields for item in parse_json_lines(file, content)]
    for i, value in enumerate(values, start=1):
        if not isinstance(value, str | dict):
            raise InputError(f"{Line(file, i, 'entry')}: expected an id, or an object with {_ID}, got {type_of(value)}")
        entry = value if isinstance(value, dict) else {_ID: value}
        ids[JsonObject((file, "entry", i), entry).text(_ID)] = None
    return list(ids)


def _system_of_results(all_file: str, ids: Sequence[str], file: str, _: Options) -> list[SystemLog]:
    """Return the log of a system from its results.json; an instance that this file does not list is not resolved.

    `ids` are the ids of all instances, from the file `all_file`.
    """
    found = load_item(file)
    resolved, without = found.texts(_RESOLVED), [found.texts(name, []) for name in _WITHOUT]
    stray = set(chain(resolved, *without)).difference(ids)
    if stray:
        raise InputError(
            f"{file}: lists {quote(min(stray))}, which {all_file} does not have; expected a list of all instances"
        )
    what = "instances have no prediction or no log; they count as not resolved"
    return [SystemLog(file, _outcomes(ids, resolved), lacking=(len(set(chain(*without))), len(ids), what))]


def read_listed(sources: Sources, options: Options) -> Tasks:
    """Read a list of all instances, and a file results.json for each system."""
    gold = sources.gold()
    results = partial(_system_of_results, gold, _instances(gold))
    return Log(results=results, main=_RESOLVED).read(replace(sources, files=()), options)


def are_listed(_: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether each system is given by a results.json, or by a folder with this file."""
    inside = [
        next(iter(files_inside(file, FORMATS["swebench-results"].folder)), file) if os.path.isdir(file) else file
        for file in outputs
    ]
    return all(FORMATS["swebench"].fits(*read_head(file)) for file in inside)


def sample(values: Sequence[Any], **fields: Any) -> str:
    """Make a report. `values` says for each instance whether it is resolved."""
    ids = [f"org__repo{i // 2}-{i}" for i in range(len(values))]
    resolved = [id for id, value in zip(ids, values, strict=True) if value]
    report = {"total_instances": len(ids), "submitted_instances": len(ids), "completed_ids": ids, "incomplete_ids": []}
    return json.dumps(report | {"submitted_ids": ids, "resolved_ids": resolved} | fields, indent=4)


SAMPLE = ExampleLogs(file="report.json", make=sample, records=("submitted_ids",), cluster="repository")
