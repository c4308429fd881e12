# logs hold: "eval"
"""EvalPlus: eval_results.json, with the samples (solutions) for each task of HumanEval+ or MBPP+."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from sigjax.formats.declarations import either, looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, load_item
from sigjax.readers.options import quote
from sigjax.records import InputError

FORMAT = harness(
    __name__,
    "eval_results.json of EvalPlus",
    either(
        looks_like(rb'"eval"\s*:\s*\{\s*"[^"]{1,99}"\s*:\s*\[\s*\{\s*"task_id"', rb'(?<!\\)"base_status"\s*:'),
        looks_like(rb'"eval"\s*:\s*\{\s*"[^"]{1,99}"\s*:\s*\{\s*"(nfiles|base)"'),
    ),
)


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Return the whole file, and the samples of all tasks.

    Since version 0.2.2, each sample is an object. Before, each task had two lists of samples (base and plus), in which
    a sample is a list that begins with a status.
    """
    whole = load_item(file)
    tasks = whole.item("eval")

    def samples() -> Iterator[JsonObject]:
        for task, held in tasks.fields.items():
            if isinstance(held, list):
                found = tasks.items(task, f"{quote(task)}, sample")
            else:
                own = tasks.item(task)
                lists = [own.value("base"), own.get("plus") or []]
                pairs = zip_longest(*(each if isinstance(each, list) else [each] for each in lists))
                both = ([each[0] if isinstance(each, list) and each else each for each in pair] for pair in pairs)
                found = (
                    JsonObject((own.at, "sample", i), {"base_status": base, "plus_status": plus})
                    for i, (base, plus) in enumerate(both, start=1)
                )
            yield from (JsonObject(sample.at, sample.fields | {"task": task}) for sample in found)

    return whole, samples()


def _scores(sample: JsonObject) -> dict[str, float]:
    """Return whether a sample passes the tests of HumanEval or MBPP (base), and also the tests of EvalPlus (plus)."""
    passed = {"base": _passes(sample, "base_status")}
    if sample.get("plus_status") is None:
        return passed
    return passed | {"plus": min(passed["base"], _passes(sample, "plus_status"))}


def _passes(sample: JsonObject, field: str) -> float:
    status = sample.text(field)
    if status not in _STATUS:
        raise InputError(f"{sample.field(field)}: expected one of {', '.join(_STATUS)}, got {quote(status)}")
    return _STATUS[status]


_STATUS = {"pass": 1.0, "success": 1.0, "fail": 0.0, "failed": 0.0, "timeout": 0.0}
LOG = Log(
    load=_load,
    scores=_scores,
    id="task",
    trial="#",
    facts={"hash of the data": "/hash?"},
    must_agree={"hash of the data": "compare results on the same version of the data"},
    main="plus",
)


def sample(values: Sequence[Any], *, old: bool = False, hash: str = "0", **fields: Any) -> str:
    """Make a log. `values` says for each task whether its only sample passes.

    If `old`, the log has the format before version 0.2.2.
    """
    tasks = {}
    for i, value in enumerate(values):
        status = ("success" if value else "failed") if old else ("pass" if value else "fail")
        new = {"task_id": f"H/{i}", "solution": "x", "base_status": status, "plus_status": status} | fields
        tasks[f"H/{i}"] = {"nfiles": 1, "base": [[status, [1]]], "plus": [[status, [1]]]} if old else [new]
    return json.dumps({"date": "2026-01-01", "hash": hash, "eval": tasks}, indent=2)


SAMPLE = ExampleLogs(file="eval_results.json", make=sample, records=("eval",), more=(partial(sample, old=True),))
