"""Logs of agents and of tests of prompts: terminal-bench, tau-bench, SWE-bench, promptfoo and DeepEval.

A task may have several trials, which are its runs. A file of promptfoo (`promptfoo eval -o`) has all its prompts and
providers, each a system.

SWE-bench has reports of its harness, boards of its web site, and the results of its repository of experiments. A report
or `per_instance_details.json` says which instances there were. `results.json` of the experiments lists those that are
resolved and, where something went wrong, those without a prediction or a log, but not the others: not even all systems
together name all instances. So it is read after a list of all.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain

from sigjax.formats.logs import Log, Row, SystemLog, choose, grouped
from sigjax.formats.table import FORMATS
from sigjax.readers.json_files import (
    Item,
    item_at,
    load_entries,
    load_item,
    parse_json,
    parse_json_lines,
    text,
    type_of,
)
from sigjax.readers.options import Options, quote
from sigjax.readers.sheets import Sources, Tasks
from sigjax.records import Hint, InputError, Line
from sigjax.run.files import files_inside, naming, read_head, read_text

_SUCCESS = "success"
"""The score that promptfoo's pass rate is the mean of; `score` and named scores are beside it."""
_ERROR = 2
"""The `failureReason` of a row that the provider gave no answer for."""


def _promptfoo(file: str, _: Options) -> list[SystemLog]:
    """One system for each column of promptfoo's table: a prompt and a provider."""
    outer = load_item(file)
    if not isinstance(outer.get("results"), dict) or not isinstance(outer.item("results").get("results"), list):
        raise InputError(f"{file}: expected results.results, as promptfoo writes them since version 3 of its format")
    tests = outer.item("results").items("results", "result")
    columns = grouped(tests, lambda test: int(test.number("promptIdx")))
    prompts = {_prompt(own[0]) for own in columns.values()}
    return [_column(file, columns[number], several=len(prompts) > 1) for number in sorted(columns)]


def _column(file: str, tests: Sequence[Item], *, several: bool) -> SystemLog:
    """One column; a test that is repeated has the same variables and assertions, and its first number as id."""
    known: dict[str, list[str]] = {}
    rows, failed = [], 0
    for test in sorted(tests, key=lambda test: test.number("testIdx")):
        failed += test.get("failureReason") == _ERROR
        content = _content(test)
        trials = known.setdefault(content, [])
        trials.append(test.text("testIdx"))
        rows.append(Row(_scores(test), trials[0], str(len(trials)), test.get("vars"), content))
    lacking = failed, len(rows), "results are errors of the provider; they count as failed, as in promptfoo"
    name = f"{_provider(tests[0])}: {_prompt(tests[0])}" if several else _provider(tests[0])
    return SystemLog(file, rows, name, lacking=lacking)


def _scores(test: Item) -> dict[str, float]:
    scores = {_SUCCESS: test.number("success")}
    if test.get("score") is not None:
        scores["score"] = test.number("score")
    named = test.item("namedScores", {})
    return {name: named.number(name) for name, value in named.fields.items() if value is not None} | scores


def _content(result: Item) -> str:
    """A hash of what is tested: the variables, and the description and the assertions of the test."""
    test = result.item("testCase", {})
    parts = [result.get("vars"), test.get("description"), test.get("assert")]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _provider(test: Item) -> str:
    """The provider's label, or else its id."""
    if not isinstance(test.get("provider"), dict):
        return test.text("provider")
    provider = test.item("provider")
    return provider.text("label") if provider.get("label") else provider.text("id")


def _prompt(test: Item) -> str:
    """The prompt's label, on one line."""
    prompt = test.item("prompt")
    return " ".join((prompt.text("label") if prompt.get("label") else prompt.text("raw")).split())


PROMPTFOO = Log(_promptfoo, content="variables or assertions", main=_SUCCESS)

# DeepEval: a test run, with its test cases (of one turn, or conversations) and their metrics.


def _deepeval(file: str, _: Options) -> list[SystemLog]:
    run = load_item(file)
    if run.get("testRunData") is not None:  # as in .deepeval/.latest_test_run.json
        run = run.item("testRunData")
    cases = [*run.items("testCases", "test case", []), *run.items("conversationalTestCases", "conversation", [])]
    return [SystemLog(file, [_case(one) for one in cases])]


def _case(case: Item) -> Row:
    """The row of a test case; a metric that failed to run has no score."""
    metrics = list(case.items("metricsData", "metric", []))
    scores = {metric.text("name"): metric.number("score") for metric in metrics if metric.get("score") is not None}
    if case.get("success") is not None:
        scores[_SUCCESS] = case.number("success")
    return Row(
        scores, case.text("name"), labels=case.get("metadata"), content=case.get("input") or case.get("scenario")
    )


DEEPEVAL = Log(_deepeval, content="input", main=_SUCCESS)


_TOLERANCE = 1e-9


# terminal-bench: results.json of `tb run`, one per run; a trial without an outcome (is_resolved null) is not resolved.


def _terminal_bench(file: str, _: Options) -> list[SystemLog]:
    found = load_item(file)
    seen, rows, lacking = Counter[str](), [], 0
    for trial in found.items("results", "trial"):
        task = trial.text("task_id")
        seen[task] += 1
        lacking += trial.value("is_resolved") is None
        value = 0.0 if trial.get("is_resolved") is None else trial.number("is_resolved")
        rows.append(Row({"resolved": value}, task, str(seen[task])))
    without = lacking, len(rows), "trials have no outcome (is_resolved null); they count as not resolved"
    return [SystemLog(file, rows, lacking=without, published=partial(_published, file, found))]


def _published(file: str, run: Item, score: str, mean: float) -> tuple[list[str], bool]:
    """A note where the file's own accuracy is another."""
    accuracy = run.get("accuracy")
    if score != "resolved" or not isinstance(accuracy, int | float) or abs(accuracy - mean) <= _TOLERANCE:
        return [], False
    return [f"{file}: the mean of resolved is {mean:.6g}, but its accuracy is {accuracy:.6g}"], False


TERMINAL_BENCH = Log(_terminal_bench, files_are_runs=True, main="resolved")

# tau-bench: a list of trials; tau2-bench: one object, whose simulations are the trials.


def _tau(file: str, _: Options) -> list[SystemLog]:
    loaded = parse_json(file, read_text(file))
    if isinstance(loaded, list):
        trials = list(load_entries(file))
        rows = [Row({"reward": one.number("reward")}, one.text("task_id"), one.text("trial", 0)) for one in trials]
        return [SystemLog(file, rows)]
    found = item_at(file, loaded)
    info = found.item("info")
    agent, environment = info.item("agent_info", {}), info.item("environment_info", {})
    facts = {
        "domain": environment.text("domain_name", "unknown"),
        "simulated user": info.item("user_info", {}).text("llm", "unknown"),
    }
    inside = "simulations" if found.get("simulations") else "simulation_index"
    if not found.get(inside):
        raise InputError(f"{found.field('simulations')}: is empty; expected trials")
    rows = [_simulation(one) for one in found.items(inside, "simulation")]
    without = sum(not row.scores for row in rows)
    lacking = without, len(rows), "simulations have no reward; they are missing results, as in tau2"
    return [SystemLog(file, rows, agent.text("llm") if agent.get("llm") else "", facts=facts, lacking=lacking)]


def _simulation(trial: Item) -> Row:
    """A trial: of `simulations`, or of `simulation_index`, where each has a file of its own."""
    holder = trial if trial.get("reward_info") is None else trial.item("reward_info")
    scores = {} if holder.get("reward") is None else {"reward": holder.number("reward")}
    if scores:
        scores["success"] = float(abs(scores["reward"] - 1) <= 1e-6)
    return Row(scores, trial.text("task_id"), trial.text("trial", 0))


TAU = Log(_tau, must_agree={"domain": "compare agents on the same tasks"}, main="reward")


_RESOLVED = "resolved"
"""The score; boards hold cost and calls beside it. Also the list of results.json."""
_WITHOUT = ("no_generation", "no_logs")
_ID = "instance_id"
_LIST = "one id per line, or JSON with instance_id, such as all_preds.jsonl"


def _swebench(file: str, options: Options) -> list[SystemLog]:
    found = load_item(file)
    if "leaderboards" in found.fields:
        return _leaderboard(file, found, options)
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
    return [SystemLog(file, _issues(found))]


def _report(file: str, report: Item, submitted: Sequence[str], resolved: Sequence[str]) -> SystemLog:
    stray = set(resolved).difference(submitted)
    if stray:
        raise InputError(f"{file}: {quote(min(stray))} is resolved, but not among the submitted ids; repair the report")
    if not submitted:
        raise InputError(f"{file}: no instance is submitted; expected at least one")
    without = len(report.texts("incomplete_ids", []))
    lacking = (
        without,
        len(submitted) + without,
        "instances were not submitted; --missing zero counts them as unresolved",
    )
    return SystemLog(file, _outcomes(submitted, resolved), lacking=lacking)


def _outcomes(ids: Sequence[str], resolved: Sequence[str]) -> list[Row]:
    known = set(resolved)
    return [_issue({_RESOLVED: float(id in known)}, id) for id in ids]


def _leaderboard(file: str, leaderboards: Item, options: Options) -> list[SystemLog]:
    """The systems of one board for which it holds the results of single instances."""
    boards: dict[str, list[Item]] = {}
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


SWEBENCH = Log(_swebench, main=_RESOLVED)


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
            with naming(f"{Line(file, i, 'entry')}"):
                yield text(value)
        else:
            raise InputError(f"{Line(file, i, 'entry')}: expected an id, or an object with {_ID}, got {type_of(value)}")


def _listed(all_file: str, ids: Sequence[str], file: str, _: Options) -> list[SystemLog]:
    """A system by its results.json: what it does not list is not resolved."""
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
    """A list of all instances, and results.json of each system."""
    gold = sources.gold()
    results = partial(_listed, gold, _instances(gold))
    return Log(results, main=_RESOLVED).read(replace(sources, files=()), options)


def are_listed(_: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether the systems' files, or those in their folders, are results.json."""
    inside = [
        next(iter(files_inside(file, FORMATS["swebench-results"].folder)), file) if os.path.isdir(file) else file
        for file in outputs
    ]
    return all(FORMATS["swebench"].fits(*read_head(file)) for file in inside)
