# logs hold: "generator_
"""AlpacaEval: annotations.json, an annotator's preferences between the outputs of a model and of a reference model."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import Log
from sigjax.readers.json_files import JsonObject, load_entries
from sigjax.records import InputError

_FIELDS = (b'"instruction"', b'"generator_', b'"output_')
FORMAT = harness(
    __name__,
    "annotations.json of AlpacaEval",
    lambda _, head: re.match(rb"\s*\[\s*\{", head) is not None and sum(field in head for field in _FIELDS) >= 2,
    b"[",
    options=frozenset({"filter"}),
    folder="annotations.json",
)
_DECIMALS = 15
"""Preferences are rounded to this many decimals: in doubles, 1.9816872352 - 1 is 0.9816872351999999."""


def _win_rate(entry: JsonObject) -> dict[str, float]:
    """Return the preference for the model, from 0 to 1; empty if the annotator gave no preference."""
    if entry.value("preference") is None:
        return {}
    value = entry.number("preference")
    if not 1 <= value <= 2:
        raise InputError(f"{entry.field('preference')}: expected a number from 1 to 2, or null, got {value:g}")
    return {"win_rate": round(value - 1, _DECIMALS)}


def _annotations(file: str) -> tuple[JsonObject, Iterator[JsonObject]]:
    def instance(entry: JsonObject) -> JsonObject:
        dataset = entry.text("dataset", "all")
        about = {"id": f"{dataset}: {entry.text('instruction')}", "labels": {"dataset": dataset}}
        return JsonObject(entry.at, entry.fields | about)

    return JsonObject(file, {}), map(instance, load_entries(file))


LOG = Log(
    load=_annotations,
    scores=_win_rate,
    system="generator_2",
    facts={"reference": "generator_1", "annotator": "annotator?"},
    must_agree={
        "reference": "compare models by their preferences over the same one",
        "annotator": "compare models by preferences of the same one; annotate all outputs with it",
    },
    labels="labels",
    filter="annotator",
)


def sample(
    values: Sequence[Any],
    *,
    model: str = "a",
    reference: str = "gpt4",
    datasets: Sequence[Any] = ("koala", "vicuna"),
    **fields: Any,
) -> str:
    """Make a log. `values` has one preference per instruction, from 0 to 1, or None if there is none."""
    return json.dumps(
        [
            {"dataset": datasets[i % len(datasets)], "instruction": f"say {i}", "output_1": "x"}
            | {"generator_1": reference, "output_2": "y", "generator_2": model, "annotator": "judge"}
            | {"preference": None if value is None else value + 1}
            | fields
            for i, value in enumerate(values)
        ],
        indent=4,
    )


SAMPLE = ExampleLogs(file="annotations.json", make=sample, records=(), cluster="dataset", other={"model": "b"})
