# logs hold: "scores"
"""Braintrust: the events of an experiment, as JSON lines, as a list, or as its API returns them.

Only the root events of a trace are used. As in Braintrust, the `input` identifies a test case, because each experiment
has new ids of events. Several events with the same input are trials of one test case.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, load_entries, load_item, load_lines
from sigjax.run.files import read_head

_EVENTS = re.compile(rb'\A\s*\{\s*"(events|data)"\s*:\s*\[')
FORMAT = harness(
    __name__,
    "events of an experiment of Braintrust",
    looks_like(
        rb'\A(?=(?s:.*)"scores"\s*:\s*(?:\{|null))(?=(?s:.*)"input"\s*:)'
        rb'(?=(?s:.*)"expected"\s*:)(?=(?s:.*)(?:"(?:span_attributes|root_span_id|experiment_id|_xact_id)"\s*:'
        rb'|"metrics"\s*:\s*\{[^{}]{0,400}"(?:start|end|duration|tokens|prompt_tokens|completion_tokens)"))'
    ),
    b"{",
    b"[",
)
_LONG = frozenset("output expected context".split())


def _load(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    """Return an empty object (no fields outside the events are used), and the root events.

    The field `id` of each event is replaced by the input of its test case.
    """
    _, head = read_head(file)
    if found := _EVENTS.match(head):
        events = load_item(file).items(found[1].decode(), "event")
    else:
        events = load_entries(file) if head.lstrip().startswith(b"[") else load_lines(file, unread=_LONG)
    whole = (event for event in events if event.get("is_root") is not False and not event.get("span_parents"))
    return JsonObject(file, {}), (JsonObject(event.at, {**event.fields, "id": _tested(event)}) for event in whole)


def _tested(event: JsonObject) -> str:
    given = event.value("input")
    return given if isinstance(given, str) and given.strip() else json.dumps(given, sort_keys=True)


def _scores(event: JsonObject) -> dict[str, float]:
    return event.item("scores", {}).numbers()


LOG = Log(
    load=_load,
    scores=_scores,
    trial="#",
    labels="metadata",
    lacking=(
        lambda event: not any(value is not None for value in event.item("scores", {}).fields.values()),
        "events have no score; they are missing results",
    ),
)


def sample(values: Sequence[Any], *, as_list: bool = False, **fields: Any) -> str:
    """Make a log. `values` has for each test case one value, or a list of values, one per trial.

    If `as_list`, the log is a JSON list instead of JSON lines.
    """
    trials = chain(*([(i, own) for own in (v if isinstance(v, list) else [v])] for i, v in enumerate(values)))
    events = [
        {"id": f"e{number}", "input": {"q": f"question {i}"}, "output": "x", "expected": "y"}
        | {"scores": {"Factuality": value}, "metrics": {"duration": 1.5}, "metadata": {"topic": f"t{i // 2}"}}
        | fields
        for number, (i, value) in enumerate(trials)
    ]
    return json.dumps(events, indent=1) if as_list else "".join(json.dumps(event) + "\n" for event in events)


SAMPLE = ExampleLogs(
    file="experiment.jsonl", make=sample, cluster="topic", more=(lambda values: sample(values, as_list=True),)
)
