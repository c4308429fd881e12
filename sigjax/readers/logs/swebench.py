"""SWE-bench: reports of its harness, boards of its web site, and the results of its repository of experiments.

A report or `per_instance_details.json` says which instances there were. `results.json` of the experiments lists those
that are resolved and, where something went wrong, those without a prediction or a log, but not the others: not even all
systems together name all instances. So it is read after a list of all.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from sigjax.files.opening import files_inside, naming, read_head, read_text
from sigjax.readers.formats import Format, Sources, Tasks, lines_like, looks_like
from sigjax.readers.json_files import Item, item_at, kind_of, load_item, parse_json, parse_json_lines, text
from sigjax.readers.logs.driver import Result, Row, choose, log_reader
from sigjax.readers.options import Options, show
from sigjax.records import InputError

_RESOLVED = "resolved"
"""The score; boards hold cost and calls beside it. Also the list of results.json."""
_WITHOUT = ("no_generation", "no_logs")
_ID = "instance_id"
_ID_LINES = lines_like(rb"\s*[\w.-]{1,99}__[\w.-]{1,199}\s*")
_ID_LIST = re.compile(rb'\s*\[\s*"[\w.-]{1,99}__')
_FOLDER = "results/results.json"
_LIST = "one id per line, or JSON with instance_id, such as all_preds.jsonl"


def _swebench(file: str, options: Options) -> list[Result]:
    found = load_item(file)
    if "leaderboards" in found.fields:
        return _board(file, found, options)
    if options.filter is not None:
        raise InputError(f"{file}: --filter names a board of leaderboards.json; a report has none; leave it out")
    if "submitted_ids" in found.fields:
        return [_report(file, found, found.texts("submitted_ids"), found.texts("resolved_ids"))]
    if "generated" in found.fields:  # results.json of the first harness, which lists all predictions
        return [_report(file, found, found.texts("generated") + found.texts(_WITHOUT[0]), found.texts(_RESOLVED))]
    if isinstance(found.get(_RESOLVED), list):
        raise InputError(
            f"{file}: lists the instances that are resolved, but not the others; give a list of all first "
            f"({_LIST}): sigjax compare ALL -i {file} ..."
        )
    if not found.fields or any(isinstance(value, list) for value in found.fields.values()):
        found.value("submitted_ids")  # refuses its absence
    return [Result(file, _issues(found))]


def _report(file: str, report: Item, submitted: Sequence[str], resolved: Sequence[str]) -> Result:
    stray = set(resolved).difference(submitted)
    if stray:
        raise InputError(f"{file}: {show(min(stray))} is resolved, but not among the submitted ids; repair the report")
    if not submitted:
        raise InputError(f"{file}: no instance is submitted; expected at least one")
    lacking = len(report.texts("incomplete_ids", []))
    note = f"{file}: {lacking} instances were not submitted; --missing zero counts them as unresolved"
    return Result(file, _outcomes(submitted, resolved), notes=(note,) if lacking else ())


def _outcomes(ids: Sequence[str], resolved: Sequence[str]) -> list[Row]:
    known = set(resolved)
    return [_issue({_RESOLVED: float(id in known)}, id) for id in ids]


def _board(file: str, found: Item, options: Options) -> list[Result]:
    """The systems of one board for which it holds the results of single instances."""
    boards: dict[str, list[Item]] = {}
    for board in found.items("leaderboards", "board"):
        entries = board.items("results", f"{show(board.text('name'))}, system")
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
        Result(file, _issues(system.item("per_instance_details")), name)
        for name, system in zip(names, systems, strict=True)
    ]


def _issues(details: Item) -> list[Row]:
    rows = []
    for id, own in details.fields.items():
        with naming(details.where):
            text(id)
        issue = item_at((details.at, id), own)
        scores = {score: issue.number(score) for score, value in issue.fields.items() if value is not None}
        rows.append(_issue(scores, id))
    return rows


def _issue(scores: dict[str, float], id: str) -> Row:
    return Row(scores, id, labels={"repository": id.rpartition("-")[0] or id})


SWEBENCH = Format(
    "swebench",
    "reports, leaderboards.json or details of SWE-bench",
    "systems",
    log_reader(_swebench, main=_RESOLVED),
    looks_like(
        rb'(?s)^\s*\{(\s*"leaderboards"|.*"(submitted_ids|completed_ids|resolved_ids|no_generation|no_logs)")\s*:\s*\['
        rb'|^\s*\{\s*"(resolved"\s*:\s*\[|[\w.-]{1,99}__[\w.-]{1,199}"\s*:\s*\{[^{}]*"resolved"\s*:)'
    ),
    options=frozenset({"filter"}),
    begins=(b"{",),
)


def _instances(file: str) -> list[str]:
    """The ids of all instances, each once."""
    content = read_text(file)
    if content.lstrip().startswith("["):
        values = parse_json(file, content)
    elif content.lstrip().startswith("{"):
        values = [item.fields for item in parse_json_lines(file, content)]
    else:
        return list(dict.fromkeys(line.strip() for line in content.split("\n") if line.strip()))
    return list(dict.fromkeys(_ids(file, values)))


def _ids(file: str, values: Sequence[object]) -> Iterator[str]:
    for i, value in enumerate(values, start=1):
        if isinstance(value, dict):
            yield item_at((file, "entry", i), value).text(_ID)
        elif isinstance(value, str):
            with naming(f"{file}, entry {i}"):
                yield text(value)
        else:
            raise InputError(f"{file}, entry {i}: expected an id, or an object with {_ID}, got {kind_of(value)}")


def _listed(all_file: str, ids: Sequence[str], file: str, _: Options) -> list[Result]:
    """A system by its results.json: what it does not list is not resolved."""
    found = load_item(file)
    resolved, without = found.texts(_RESOLVED), [found.texts(name, []) for name in _WITHOUT]
    stray = set(chain(resolved, *without)).difference(ids)
    if stray:
        raise InputError(
            f"{file}: lists {show(min(stray))}, which {all_file} does not have; expected a list of all instances"
        )
    lacking = len(set(chain(*without)))
    note = f"{file}: {lacking} of {len(ids)} instances have no prediction or no log; they count as not resolved"
    return [Result(file, _outcomes(ids, resolved), notes=(note,) if lacking else ())]


def _read_listed(sources: Sources, options: Options) -> Tasks:
    gold = sources.gold()
    results = partial(_listed, gold, _instances(gold))
    return log_reader(results, main=_RESOLVED)(replace(sources, files=()), options)


def _looks_like_ids(name: str, head: bytes) -> bool:
    return b'"instance_id"' in head or _ID_LINES(name, head) or _ID_LIST.match(head) is not None


def _is_listed(_: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether the systems' files, or those in their folders, are results.json."""
    inside = [next(iter(files_inside(file, _FOLDER)), file) if os.path.isdir(file) else file for file in outputs]
    return all(SWEBENCH.fits(*read_head(file)) for file in inside)


SWEBENCH_RESULTS = Format(
    "swebench-results",
    "results.json of SWE-bench's experiments, after a list of all ids",
    "gold",
    _read_listed,
    _looks_like_ids,
    folder=_FOLDER,
    confirmed=_is_listed,
)
