# logs hold: "num_trials" or "reward"
"""tau-bench and tau2-bench: the trials of tasks by an agent and a simulated user.

A log of tau-bench is a list. A log of tau2-bench has `simulations`, or `simulation_index` if each simulation has its
own file. Simulations that failed because of the infrastructure have no result, as in the metrics of tau2.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, item_at, load_entries, parse_json
from sigjax.run.files import read_text

FORMAT = harness(
    __name__,
    "results of tau-bench or tau2-bench",
    looks_like(
        rb'\A\s*(\{(?s:.{0,999}?)"info"\s*:\s*\{[^{}]*?"num_trials"\s*:'
        rb'|\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:\s*[-\d.]+\s*,\s*"info"\s*:\s*\{)'
    ),
    b"{",
    b"[",
    folder="results.json",
)


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Return the whole log, and its trials (simulations)."""
    loaded = parse_json(file, read_text(file))
    if isinstance(loaded, list):
        return JsonObject(file, {}), load_entries(file)
    whole = item_at(file, loaded)
    name = "simulation_index" if not whole.get("simulations") and whole.get("simulation_index") else "simulations"
    return whole, whole.items(name, "simulation")


def _scores(trial: JsonObject) -> dict[str, float]:
    if trial.get("termination_reason") == "infrastructure_error":
        return {}
    holder = trial if trial.get("reward_info") is None else trial.item("reward_info")
    if holder.get("reward") is None:
        return {}
    reward = holder.number("reward")
    return {"reward": reward, "success": float(abs(reward - 1) <= 1e-6)}


LOG = Log(
    load=_load,
    scores=_scores,
    id="task_id",
    trial="trial",
    system="/info.agent_info.llm?",
    facts={"domain": "/info.environment_info.domain_name?", "simulated user": "/info.user_info.llm?"},
    must_agree={"domain": "compare agents on the same tasks"},
    lacking=(lambda trial: not _scores(trial), "simulations have no reward; they are missing results, as in tau2"),
    main="reward",
)


def sample(values: Sequence[Any], **fields: Any) -> str:
    """Make a log of tau-bench. `values` has for each task one value, or a list of values, one per trial."""
    return json.dumps(
        [
            {"task_id": i, "reward": value, "info": {"task": {"user_id": "u"}}, "traj": [], "trial": trial} | fields
            for i, value in enumerate(values)
            for trial, value in enumerate(value if isinstance(value, list) else [value])
        ],
        indent=1,
    )


def sample2(
    values: Sequence[Any],
    *,
    model: str = "gpt",
    domain: str = "airline",
    index: bool = False,
    user: str = "u",
    **fields: Any,
) -> str:
    """Make a log of tau2-bench from `values`; the value None means no reward.

    If `index`, the log is an index of simulations, each of which has a file of its own.
    """
    info = {"git_commit": "0", "num_trials": 1, "max_steps": 9, "user_info": {"implementation": "u", "llm": user}}
    info |= {"agent_info": {"implementation": "a", "llm": model}, "environment_info": {"domain_name": domain}}
    trials = [
        {"id": f"{i}-{trial}", "task_id": str(i), "trial": trial, "termination_reason": "user_stop"}
        | ({"reward": value} if index else {"reward_info": None if value is None else {"reward": value}})
        for i, value in enumerate(values)
        for trial, value in enumerate(value if isinstance(value, list) else [value])
    ]
    found = {"timestamp": "2026-01-01", "info": info, "tasks": []}
    return json.dumps(found | ({"simulation_index": trials} if index else {"simulations": trials}), indent=2)


SAMPLE = ExampleLogs(file="results.json", make=sample, records=(), more=(sample2, partial(sample2, index=True)))
