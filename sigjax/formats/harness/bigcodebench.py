# logs hold: "eval"
"""BigCodeBench: eval_results.json, in which each task has one or more samples (solutions), each with a status.

A sample passes if it passes all tests of its task. So `status` is the only score.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, load_item
from sigjax.readers.options import quote
from sigjax.records import InputError

FORMAT = harness(
    __name__,
    "eval_results.json of BigCodeBench",
    looks_like(
        rb'"eval"\s*:\s*\{\s*"[^"]{1,99}"\s*:\s*\[\s*\{\s*"task_id"\s*:',
        rb'(?<!\\)"status"\s*:\s*"(pass|fail|timeout)"',
    ),
    folder="*eval_results.json",
)
_STATUS = {"pass": 1.0, "fail": 0.0, "timeout": 0.0}


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    whole = load_item(file)
    tasks = whole.item("eval")
    return whole, (sample for task in tasks.fields for sample in tasks.items(task, f"{quote(task)}, sample"))


def _scores(sample: JsonObject) -> dict[str, float]:
    status = sample.text("status")
    if status not in _STATUS:
        raise InputError(f"{sample.field('status')}: expected one of {', '.join(_STATUS)}, got {quote(status)}")
    return {"pass": _STATUS[status]}


LOG = Log(load=_load, scores=_scores, id="task_id", trial="#", main="pass")


def sample(values: Sequence[Any], **fields: Any) -> str:
    """Make a log.

    `values` has for each task one value or a list of values, one per sample: whether the sample passes.
    """
    tasks = {
        f"BigCodeBench/{i}": [
            {"task_id": f"BigCodeBench/{i}", "solution": 'x = {"status": "pass"}', "status": "pass" if own else "fail"}
            | {"details": {} if own else {"test_case_1": "Traceback"}}
            | fields
            for own in (value if isinstance(value, list) else [value])
        ]
        for i, value in enumerate(values)
    }
    return json.dumps({"date": "2026-01-01 10:00", "eval": tasks}, indent=2)


SAMPLE = ExampleLogs(file="model_eval_results.json", make=sample, records=("eval",))
