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

from sigjax.formats.logs import Log, Row, SystemLog, choose, grouped, inside
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
"""The score that the pass rates of promptfoo and DeepEval are means of; others are beside it."""
_ERROR = 2
"""The `failureReason` of a row that the provider gave no answer for."""


def _promptfoo(file: str) -> tuple[Item, Iterator[Item]]:
    """Tests with their system, a column of promptfoo's table: a provider, and its prompt where there are several.

    One that is repeated has the same content, and the first number as id.
    """
    outer = load_item(file)
    if not isinstance(outer.get("results"), dict) or not isinstance(outer.item("results").get("results"), list):
        raise InputError(f"{file}: expected results.results, as promptfoo writes them since version 3 of its format")
    tests = list(outer.item("results").items("results", "result"))
    tests.sort(key=lambda test: (int(test.number("promptIdx")), test.number("testIdx")))
    columns = grouped(tests, lambda test: int(test.number("promptIdx"))).values()
    prompts = [" ".join(_label(own[0], "prompt", "raw").split()) for own in columns]
    names, records = list[str](), list[Item]()
    for prompt, own in zip(prompts, columns, strict=True):
        names.append(_label(own[0], "provider", "id") + f": {prompt}" * (len(set(prompts)) > 1))
        first = dict[str, str]()
        for test in own:
            content = _content(test)
            id = first.setdefault(content, test.text("testIdx"))
            records.append(Item(test.at, test.fields | {"system": names[-1], "id": id, "content": content}))
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"{file}: several columns are {quote(repeated[0])}; give each provider a label of its own")
    return outer, iter(records)


def _content(test: Item) -> str:
    """A hash of what is tested: the variables, and the description and the assertions of the test."""
    case = test.item("testCase", {})
    parts = [test.get("vars"), case.get("description"), case.get("assert")]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _label(test: Item, field: str, other: str) -> str:
    """The label of a provider or a prompt, or else another name that it has."""
    if isinstance(test.get(field), str):
        return test.text(field)
    return test.name(f"{field}.label?") or test.item(field).text(other)


def _promptfoo_scores(test: Item) -> dict[str, float]:
    score = {} if test.get("score") is None else {"score": test.number("score")}
    return test.item("namedScores", {}).numbers() | {_SUCCESS: test.number("success")} | score


PROMPTFOO = Log(
    load=_promptfoo,
    scores=_promptfoo_scores,
    trial="#",
    system="system",
    labels="vars",
    same=("content",),
    content="variables or assertions",
    lacking=(
        lambda test: test.get("failureReason") == _ERROR,
        "results are errors of the provider; they count as failed, as in promptfoo",
    ),
    main=_SUCCESS,
)


def _deepeval(file: str) -> tuple[Item, Iterator[Item]]:
    """Test cases of one turn, and conversations, of a test run or of .deepeval/.latest_test_run.json."""
    run = load_item(file)
    if run.get("testRunData") is not None:
        run = run.item("testRunData")
    conversations = run.items("conversationalTestCases", "conversation", [])
    return run, chain(run.items("testCases", "test case", []), conversations)


def _deepeval_scores(case: Item) -> dict[str, float]:
    """Those of the metrics that did not fail to run, and whether the case passed."""
    metrics = [metric for metric in case.items("metricsData", "metric", []) if metric.get("score") is not None]
    scores = {metric.text("name"): metric.number("score") for metric in metrics}
    return scores if case.get("success") is None else scores | {_SUCCESS: case.number("success")}


DEEPEVAL = Log(
    load=_deepeval,
    scores=_deepeval_scores,
    id="name",
    labels="metadata",
    same=("input", "scenario"),
    content="input",
    main=_SUCCESS,
)

# results.json of `tb run`, one per run.
TERMINAL_BENCH = Log(
    load=inside("results", "trial"),
    scores=lambda trial: {"resolved": 0.0 if trial.get("is_resolved") is None else trial.number("is_resolved")},
    id="task_id",
    trial="#",
    lacking=(
        lambda trial: trial.value("is_resolved") is None,
        "trials have no outcome (is_resolved null); they count as not resolved",
    ),
    published=("resolved", "accuracy"),
    files_are_runs=True,
    main="resolved",
)


def _tau(file: str) -> tuple[Item, Iterator[Item]]:
    """The trials: of tau-bench a list; of tau2-bench `simulations`, or `simulation_index` where each has a file."""
    loaded = parse_json(file, read_text(file))
    if isinstance(loaded, list):
        return Item(file, {}), load_entries(file)
    whole = item_at(file, loaded)
    name = "simulations" if whole.get("simulations") else "simulation_index"
    if not whole.get(name):
        raise InputError(f"{whole.field('simulations')}: is empty; expected trials")
    return whole, whole.items(name, "simulation")


def _tau_scores(trial: Item) -> dict[str, float]:
    holder = trial if trial.get("reward_info") is None else trial.item("reward_info")
    if holder.get("reward") is None:
        return {}
    reward = holder.number("reward")
    return {"reward": reward, "success": float(abs(reward - 1) <= 1e-6)}


TAU = Log(
    load=_tau,
    scores=_tau_scores,
    id="task_id",
    trial="trial",
    system="/info.agent_info.llm?",
    facts={"domain": "/info.environment_info.domain_name?", "simulated user": "/info.user_info.llm?"},
    must_agree={"domain": "compare agents on the same tasks"},
    lacking=(lambda trial: not _tau_scores(trial), "simulations have no reward; they are missing results, as in tau2"),
    main="reward",
)


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
        rows.append(_issue(issue.numbers(), id))
    return rows


def _issue(scores: dict[str, float], id: str) -> Row:
    return Row(scores, id, labels={"repository": id.rpartition("-")[0] or id})


SWEBENCH = Log(results=_swebench, main=_RESOLVED)


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
    return Log(results=results, main=_RESOLVED).read(replace(sources, files=()), options)


def are_listed(_: Sequence[str], outputs: Sequence[str]) -> bool:
    """Whether the systems' files, or those in their folders, are results.json."""
    inside = [
        next(iter(files_inside(file, FORMATS["swebench-results"].folder)), file) if os.path.isdir(file) else file
        for file in outputs
    ]
    return all(FORMATS["swebench"].fits(*read_head(file)) for file in inside)
