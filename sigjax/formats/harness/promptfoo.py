# logs hold: "results"
"""promptfoo: the JSON that `promptfoo eval -o` writes, version 3 or newer; each column of its table is a system."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log, grouped
from sigjax.readers.json_files import JsonObject, load_item
from sigjax.readers.options import quote
from sigjax.records import InputError

FORMAT = harness(__name__, "JSON of promptfoo eval -o", looks_like(rb'"results"\s*:\s*\{\s*"version"\s*:\s*\d'))

_SUCCESS_SCORE = "success"
"""Name of the score from which promptfoo computes pass rates. The other scores are kept, too."""
_ERROR = 2
"""The `failureReason` of a row whose provider gave no answer."""


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Return the whole file, and its test cases with the name of the system in each.

    The system is the provider (and the prompt, if there are several). Test cases with the same content are repetitions
    of one instance; its id is the number of the first of these test cases.
    """
    outer = load_item(file)
    tests = list(outer.item("results").items("results", "result"))
    tests.sort(key=lambda test: (int(test.number("promptIdx")), test.number("testIdx")))
    columns = grouped(tests, lambda test: int(test.number("promptIdx"))).values()
    prompts = [" ".join(_label(own[0], "prompt", "raw").split()) for own in columns]
    names, records = list[str](), list[JsonObject]()
    for prompt, own in zip(prompts, columns, strict=True):
        names.append(_label(own[0], "provider", "id") + f": {prompt}" * (len(set(prompts)) > 1))
        first = dict[str, str]()
        for test in own:
            content = _content(test)
            id = first.setdefault(content, test.text("testIdx"))
            records.append(JsonObject(test.at, test.fields | {"system": names[-1], "id": id, "content": content}))
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"{file}: several columns are {quote(repeated[0])}; give each provider a label of its own")
    return outer, iter(records)


def _content(test: JsonObject) -> str:
    """Return a hash of the variables, description and assertions of a test case."""
    case = test.item("testCase", {})
    parts = [test.get("vars"), case.get("description"), case.get("assert")]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _label(test: JsonObject, field: str, other: str) -> str:
    """Return the label of the object `field`, which is the provider or the prompt of a test case.

    If the object has no label, return its field `other`. If `field` holds a string, return the string.
    """
    if isinstance(test.get(field), str):
        return test.text(field)
    return test.name(f"{field}.label?") or test.item(field).text(other)


def _scores(test: JsonObject) -> dict[str, float]:
    score = {} if test.get("score") is None else {"score": test.number("score")}
    return test.item("namedScores", {}).numbers() | {_SUCCESS_SCORE: test.number("success")} | score


LOG = Log(
    load=_load,
    scores=_scores,
    trial="#",
    system="system",
    labels="vars",
    same=("content",),
    content="variables or assertions",
    lacking=(
        lambda test: test.get("failureReason") == _ERROR,
        "results are errors of the provider; they count as failed, as in promptfoo",
    ),
    main=_SUCCESS_SCORE,
)


def sample(
    values: Sequence[Any], *, provider: str = "p", prompts: Sequence[Any] = ("Say {{word}}",), **fields: Any
) -> str:
    """Make a log. `values` has for each test case one value, or a list of values, one per repetition.

    The value -1 means an error of the provider.
    """
    repeats = [value if isinstance(value, list) else [value] for value in values]
    rounds = [(i, own[k]) for k in range(max(map(len, repeats))) for i, own in enumerate(repeats) if k < len(own)]
    results = [
        {"promptIdx": column, "testIdx": number, "vars": {"word": f"w{i}", "topic": f"t{i // 2}"}}
        | {"testCase": {"assert": [{"type": "contains", "value": f"w{i}"}]}, "prompt": {"raw": prompt, "label": prompt}}
        | {"provider": {"id": provider, "label": ""}, "success": value == 1, "score": 1 if value == 1 else 0.25}
        | {"failureReason": 2 if value < 0 else 1 - value, "namedScores": {"tone": 0.5 * max(value, 0)}}
        | fields
        for number, (i, value) in enumerate(rounds)
        for column, prompt in enumerate(prompts)
    ]
    found = {"version": 3, "timestamp": "2026-01-01", "prompts": [], "results": results, "stats": {}}
    return json.dumps({"evalId": "eval-x", "results": found, "config": {}}, indent=2)


SAMPLE = ExampleLogs(
    file="output.json",
    make=sample,
    records=("results", "results"),
    cluster="topic",
    other={"provider": "b"},
    more=(partial(sample, prompts=("x", "y")),),
)
