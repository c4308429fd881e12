# logs hold: "stats"
"""HELM: per_instance_stats.json of a run, beside run_spec.json, which names the model and the scenario.

HELM publishes one score per split. Perturbed instances count as separate instances.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog, choose
from sigjax.readers.json_files import JsonObject, load_entries, load_item
from sigjax.readers.options import Options, quote
from sigjax.records import InputError

FORMAT = harness(
    __name__,
    "per_instance_stats.json of HELM",
    looks_like(rb'^\s*\[\s*\{\s*"instance_id"\s*:', rb'"stats"'),
    b"[",
    options=frozenset({"filter"}),
    folder="per_instance_stats.json",
)


def _results(file: str, options: Options) -> Iterator[SystemLog]:
    rows = [_row(entry) for entry in load_entries(file)]
    # HELM publishes one score per split. So all splits are used together only if --strata or --cluster names the split.
    if options.filter is not None or "split" not in (options.strata, options.cluster):
        chosen = choose(file, [row.labels["split"] for row in rows], options.filter, "split")
        rows = [row for row in rows if row.labels["split"] == chosen]
    notes = ()
    if any(row.labels["perturbation"] != "none" for row in rows):
        notes = ("perturbed instances count as instances; --cluster instance keeps each with its original",)
    path = str(PurePath(file).with_name("run_spec.json"))
    spec = load_item(path) if os.path.isfile(path) else JsonObject(path, {})
    task = re.sub(r"(?<=[:,])model(_deployment)?=[^,]*,?", "", spec.name("name?")).rstrip(":,")
    facts = {"scenario": str(spec.get("scenario_spec") or "")}
    yield SystemLog(file, rows, spec.name("adapter_spec.model?"), notes, facts, task=task)


def _row(entry: JsonObject) -> InstanceLog:
    instance = entry.text("instance_id")
    perturbation = "none" if entry.get("perturbation") is None else entry.item("perturbation").text("name")
    split, scores = _scores(entry)
    labels = {"split": split, "instance": instance, "perturbation": perturbation}
    id = instance if perturbation == "none" else f"{instance}/{perturbation}"
    return InstanceLog(scores, id, entry.text("train_trial_index", 0), labels)


def _scores(entry: JsonObject) -> tuple[str, dict[str, float | InputError]]:
    """Return the split of an instance, and the mean of each of its statistics with a count above 0."""
    scores: dict[str, float | InputError] = {}
    split = "none"
    for entry_stat in entry.items("stats", "stat"):
        about = entry_stat.item("name")
        name, split = about.text("name"), about.text("split", split)
        if about.get("sub_split"):
            name += f"/{about.get('sub_split')}"
        count = entry_stat.number("count")
        if name in scores:
            scores[name] = InputError(f"{entry_stat.where}: {quote(name)} occurs twice in an entry; expected it once")
        elif count > 0:
            scores[name] = entry_stat.number("sum") / count
    return split, scores


LOG = Log(results=_results)


def sample(
    values: Sequence[Any],
    *,
    metric: str = "exact_match",
    split: str = "test",
    perturbations: Sequence[Any] = (None,),
    trials: Sequence[Any] = (0,),
) -> str:
    """Make a log. `values` has one value per instance."""
    return json.dumps(
        [
            {"instance_id": f"id{i}", "train_trial_index": trial}
            | ({"perturbation": {"name": perturbation}} if perturbation else {})
            | {"stats": [{"name": {"name": metric, "split": split}, "count": 2, "sum": 2 * value, "mean": value}]}
            for i, value in enumerate(values)
            for perturbation in perturbations
            for trial in trials
        ],
        indent=2,
    )


SAMPLE = ExampleLogs(file="per_instance_stats.json", make=sample, records=(), cluster="instance")
