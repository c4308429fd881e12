"""Logs of tests of prompts: `promptfoo eval -o`, with all prompts and providers in one file; test runs of DeepEval.

Logs of agents: terminal-bench, tau-bench and tau2-bench; a task may have several trials, which are its runs.

SWE-bench: reports of its harness, boards of its web site, and the results of its repository of experiments.

A report or `per_instance_details.json` says which instances there were. `results.json` of the experiments lists those
that are resolved and, where something went wrong, those without a prediction or a log, but not the others: not even all
systems together name all instances. So it is read after a list of all.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain

from sigjax.formats.logs import Result, Row, choose, log_reader
from sigjax.readers.format import Format, Sources, Tasks, lines_like, looks_like
from sigjax.readers.json_files import (
    Item,
    item_at,
    kind_of,
    load_entries,
    load_item,
    parse_json,
    parse_json_lines,
    text,
)
from sigjax.readers.options import Options, show
from sigjax.records import Hint, InputError
from sigjax.run.files import files_inside, naming, read_head, read_text

_SUCCESS = "success"
"""The score that promptfoo's pass rate is the mean of; `score` and named scores are beside it."""
_ERROR = 2
"""The `failureReason` of a row that the provider gave no answer for."""


def _promptfoo(file: str, _: Options) -> list[Result]:
    """One system for each column of promptfoo's table: a prompt and a provider."""
    outer = load_item(file)
    if not isinstance(outer.get("results"), dict) or not isinstance(outer.item("results").get("results"), list):
        raise InputError(f"{file}: expected results.results, as promptfoo writes them since version 3 of its format")
    columns: dict[int, list[Item]] = {}
    for one in outer.item("results").items("results", "result"):
        columns.setdefault(int(one.number("promptIdx")), []).append(one)
    prompts = {_prompt(own[0]) for own in columns.values()}
    return [_column(file, columns[number], several=len(prompts) > 1) for number in sorted(columns)]


def _column(file: str, found: Sequence[Item], *, several: bool) -> Result:
    """One column; a test that is repeated has the same variables and assertions, and its first number as id."""
    known: dict[str, list[str]] = {}
    rows, failed = [], 0
    for one in sorted(found, key=lambda one: one.number("testIdx")):
        failed += one.get("failureReason") == _ERROR
        content = _content(one)
        trials = known.setdefault(content, [])
        trials.append(one.text("testIdx"))
        rows.append(Row(_scores(one), trials[0], str(len(trials)), one.get("vars"), content))
    notes = (f"{file}: {failed} results are errors of the provider; they count as failed, as in promptfoo",)
    name = f"{_provider(found[0])}: {_prompt(found[0])}" if several else _provider(found[0])
    return Result(file, rows, name, notes if failed else ())


def _scores(one: Item) -> dict[str, float]:
    scores = {_SUCCESS: one.number("success")}
    if one.get("score") is not None:
        scores["score"] = one.number("score")
    named = one.item("namedScores", {})
    return {name: named.number(name) for name, value in named.fields.items() if value is not None} | scores


def _content(one: Item) -> str:
    """A hash of what is tested: the variables, and the description and the assertions of the test."""
    test = one.item("testCase", {})
    parts = [one.get("vars"), test.get("description"), test.get("assert")]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _provider(one: Item) -> str:
    """The provider's label, or else its id."""
    if not isinstance(one.get("provider"), dict):
        return one.text("provider")
    provider = one.item("provider")
    return provider.text("label") if provider.get("label") else provider.text("id")


def _prompt(one: Item) -> str:
    """The prompt's label, on one line."""
    prompt = one.item("prompt")
    return " ".join((prompt.text("label") if prompt.get("label") else prompt.text("raw")).split())


PROMPTFOO = Format(
    "promptfoo",
    "JSON of promptfoo eval -o",
    "systems",
    log_reader(_promptfoo, content="variables or assertions", main=_SUCCESS),
    looks_like(rb'"results"\s*:\s*\{\s*"version"\s*:\s*\d'),
    begins=(b"{",),
)

# DeepEval: a test run, with its test cases (of one turn, or conversations) and their metrics.


def _deepeval(file: str, _: Options) -> list[Result]:
    run = load_item(file)
    if run.get("testRunData") is not None:  # as in .deepeval/.latest_test_run.json
        run = run.item("testRunData")
    cases = [*run.items("testCases", "test case", []), *run.items("conversationalTestCases", "conversation", [])]
    return [Result(file, [_case(one) for one in cases])]


def _case(one: Item) -> Row:
    """The row of a test case; a metric that failed to run has no score."""
    found = list(one.items("metricsData", "metric", []))
    scores = {metric.text("name"): metric.number("score") for metric in found if metric.get("score") is not None}
    if one.get("success") is not None:
        scores[_SUCCESS] = one.number("success")
    return Row(scores, one.text("name"), labels=one.get("metadata"), content=one.get("input") or one.get("scenario"))


DEEPEVAL = Format(
    "deepeval",
    "test runs of DeepEval",
    "systems",
    log_reader(_deepeval, content="input", main=_SUCCESS),
    looks_like(rb'"(testCases|conversationalTestCases)"\s*:\s*\[\s*\{', rb'"metricsData"\s*:'),
    begins=(b"{",),
)


_TOLERANCE = 1e-9


# terminal-bench: results.json of `tb run`, one per run; a trial without an outcome (is_resolved null) is not resolved.


def _terminal_bench(file: str, _: Options) -> list[Result]:
    found = load_item(file)
    seen, rows, lacking = Counter[str](), [], 0
    for trial in found.items("results", "trial"):
        task = trial.text("task_id")
        seen[task] += 1
        lacking += trial.value("is_resolved") is None
        value = 0.0 if trial.get("is_resolved") is None else trial.number("is_resolved")
        rows.append(Row({"resolved": value}, task, str(seen[task])))
    note = f"{file}: {lacking} of {len(rows)} trials have no outcome (is_resolved null); they count as not resolved"
    published = partial(_published, file, found)
    return [Result(file, rows, notes=(note,) if lacking else (), published=published)]


def _published(file: str, found: Item, score: str, mean: float) -> tuple[list[str], bool]:
    """A note where the file's own accuracy is another."""
    accuracy = found.get("accuracy")
    if score != "resolved" or not isinstance(accuracy, int | float) or abs(accuracy - mean) <= _TOLERANCE:
        return [], False
    return [f"{file}: the mean of resolved is {mean:.6g}, but its accuracy is {accuracy:.6g}"], False


TERMINAL_BENCH = Format(
    "terminal-bench",
    "results.json of terminal-bench",
    "systems",
    log_reader(_terminal_bench, files_are_runs=True, main="resolved"),
    looks_like(rb'"results"\s*:\s*\[\s*\{[^{}]{0,999}?"(trial_name|task_id)"', rb'"is_resolved"'),
    folder="*/results.json",
    tasks=True,
    begins=(b"{",),
)

# tau-bench: a list of trials; tau2-bench: one object, whose simulations are the trials.


def _tau(file: str, _: Options) -> list[Result]:
    loaded = parse_json(file, read_text(file))
    if isinstance(loaded, list):
        trials = list(load_entries(file))
        rows = [Row({"reward": one.number("reward")}, one.text("task_id"), one.text("trial", 0)) for one in trials]
        return [Result(file, rows)]
    found = item_at(file, loaded)
    info = found.item("info")
    agent, environment = info.item("agent_info", {}), info.item("environment_info", {})
    facts = {
        "domain": environment.text("domain_name", "unknown"),
        "simulated user": info.item("user_info", {}).text("llm", "unknown"),
    }
    inside = "simulations" if found.get("simulations") else "simulation_index"
    if not found.get(inside):
        raise InputError(f"{found.place('simulations')}: is empty; expected trials")
    rows = [_simulation(one) for one in found.items(inside, "simulation")]
    lacking = sum(not row.scores for row in rows)
    note = f"{file}: {lacking} of {len(rows)} simulations have no reward; they are missing results, as in tau2"
    return [Result(file, rows, agent.text("llm") if agent.get("llm") else "", (note,) if lacking else (), facts)]


def _simulation(one: Item) -> Row:
    """A trial: of `simulations`, or of `simulation_index`, where each has a file of its own."""
    holder = one if one.get("reward_info") is None else one.item("reward_info")
    scores = {} if holder.get("reward") is None else {"reward": holder.number("reward")}
    if scores:
        scores["success"] = float(abs(scores["reward"] - 1) <= 1e-6)
    return Row(scores, one.text("task_id"), one.text("trial", 0))


TAU = Format(
    "tau-bench",
    "results of tau-bench or tau2-bench",
    "systems",
    log_reader(_tau, must_agree={"domain": "compare agents on the same tasks"}, main="reward"),
    looks_like(
        rb'\A\s*(\{(?s:.{0,999}?)"info"\s*:\s*\{[^{}]*?"num_trials"\s*:'
        rb'|\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:\s*[-\d.]+\s*,\s*"info"\s*:\s*\{)'
    ),
    begins=(b"{", b"["),
)


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
        raise InputError(
            f"{file}: {Hint('filter')} names a board of leaderboards.json; a report has none; leave it out"
        )
    if "submitted_ids" in found.fields:
        return [_report(file, found, found.texts("submitted_ids"), found.texts("resolved_ids"))]
    if "generated" in found.fields:  # results.json of the first harness, which lists all predictions
        return [_report(file, found, found.texts("generated") + found.texts(_WITHOUT[0]), found.texts(_RESOLVED))]
    if isinstance(found.get(_RESOLVED), list):
        raise InputError(
            f"{file}: lists the instances that are resolved, but not the others; give a list of all first "
            f"({_LIST}): {Hint('sigjax compare', 'ALL', '-i', file, '...')}"
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
