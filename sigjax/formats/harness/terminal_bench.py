# logs hold: "is_resolved"
"""terminal-bench: results.json of `tb run`, one file per run."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, load_item

FORMAT = harness(
    __name__,
    "results.json of terminal-bench",
    looks_like(rb'"results"\s*:\s*\[\s*\{[^{}]{0,999}?"(trial_name|task_id)"', rb'"is_resolved"'),
    folder="*/results.json",
    tasks=True,
)


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Return the whole file, and its trials."""
    whole = load_item(file)
    return whole, whole.items("results", "trial")


LOG = Log(
    load=_load,
    scores=lambda trial: {"resolved": 0.0 if trial.get("is_resolved") is None else trial.number("is_resolved")},
    id="task_id",
    trial="#",
    lacking=(
        lambda trial: trial.value("is_resolved") is None,
        "trials have no outcome (is_resolved null); they count as not resolved",
    ),
    files_are_runs=True,
    main="resolved",
)


def sample(values: Sequence[Any], **fields: Any) -> str:
    """Make a log. `values` has for each task one value, or a list of values, one per trial.

    The value None means a trial without an outcome.
    """
    trials = [
        {"id": f"{i}-{k}", "trial_name": f"task{i}.{k}-of-1.run", "task_id": f"task{i}", "instruction": "Do it."}
        | {"is_resolved": None if value is None else bool(value), "failure_mode": "unset"}
        for i, value in enumerate(values)
        for k, value in enumerate(value if isinstance(value, list) else [value], start=1)
    ]
    resolved = [trial["task_id"] for trial in trials if trial["is_resolved"]]
    about = {"n_resolved": len(resolved), "resolved_ids": resolved, "accuracy": len(resolved) / len(trials)}
    return json.dumps({"id": "x", "results": trials} | about | fields, indent=1)


SAMPLE = ExampleLogs(file="results.json", make=sample, records=("results",))
