# logs hold: "metricsData"
"""DeepEval: a test run, also .deepeval/.latest_test_run.json, with test cases of one turn and conversations."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, load_item

FORMAT = harness(
    __name__,
    "test runs of DeepEval",
    looks_like(rb'"(testCases|conversationalTestCases)"\s*:\s*\[\s*\{', rb'"metricsData"\s*:'),
)
_SUCCESS_SCORE = "success"
"""Name of the score from which DeepEval computes pass rates. The other scores are kept, too."""


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Return the test run, and its test cases: the cases of one turn, then the conversations."""
    run = load_item(file)
    if run.get("testRunData") is not None:
        run = run.item("testRunData")
    conversations = run.items("conversationalTestCases", "conversation", [])
    return run, chain(run.items("testCases", "test case", []), conversations)


def _scores(case: JsonObject) -> dict[str, float]:
    """Return a dict from each metric that ran without an error to its score; "success" says whether the case passed."""
    metrics = [metric for metric in case.items("metricsData", "metric", []) if metric.get("score") is not None]
    scores = {metric.text("name"): metric.number("score") for metric in metrics}
    return scores if case.get("success") is None else scores | {_SUCCESS_SCORE: case.number("success")}


LOG = Log(
    load=_load,
    scores=_scores,
    id="name",
    labels="metadata",
    same=("input", "scenario"),
    content="input",
    main=_SUCCESS_SCORE,
)


def sample(values: Sequence[Any], *, wrapped: bool = False, **fields: Any) -> str:
    """Make a log. `values` says for each test case whether it passed; None stands for a metric that failed to run.

    If `wrapped`, the test run is a field of an outer object.
    """
    cases = [
        {"name": f"test_case_{i}", "input": f"q{i}", "actualOutput": "x", "success": value == 1, "order": i}
        | {"metadata": {"topic": f"t{i // 2}"}}
        | {"metricsData": [{"name": "Faithfulness", "threshold": 0.5, "success": value == 1, "score": value}]}
        | fields
        for i, value in enumerate(values)
    ]
    run = {"testCases": cases, "conversationalTestCases": [], "metricsScores": [], "runDuration": 1.0}
    return json.dumps({"testRunData": run} if wrapped else run, indent=2)


SAMPLE = ExampleLogs(file="run.json", make=sample, records=("testCases",), cluster="topic")
