"""Logs of tests of prompts: `promptfoo eval -o`, with all prompts and providers in one file; test runs of DeepEval."""

import json
from collections.abc import Sequence
from hashlib import sha256

from sigjax.readers.formats import Format, looks_like
from sigjax.readers.json_files import Item, load_item
from sigjax.readers.logs.driver import Result, Row, log_reader
from sigjax.readers.options import Options
from sigjax.records import InputError

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
