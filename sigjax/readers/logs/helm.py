"""HELM: per_instance_stats.json of a run, with the model in run_spec.json beside it."""

import os
import re
from collections.abc import Iterator
from pathlib import PurePath

from sigjax.readers.formats import Format
from sigjax.readers.json_files import Item, load_entries, load_item
from sigjax.readers.logs.driver import Result, Row, Unusable, choose, log_reader
from sigjax.readers.options import Options, show

_START = re.compile(rb'\s*\[\s*\{\s*"instance_id"\s*:')


def _results(file: str, options: Options) -> Iterator[Result]:
    rows = [_row(entry) for entry in load_entries(file)]
    # HELM publishes one score per split: a score of all splits has to be asked for, by their shares.
    if options.filter is not None or "split" not in (options.strata, options.cluster):
        chosen = choose(file, [row.labels["split"] for row in rows], options.filter, "split")
        rows = [row for row in rows if row.labels["split"] == chosen]
    notes = ()
    if any(row.labels["perturbation"] != "none" for row in rows):
        notes = ("perturbed instances count as instances; --cluster instance keeps each with its original",)
    model, scenario = _spec(file)
    yield Result(file, rows, model, notes, {"scenario": scenario})


def _row(entry: Item) -> Row:
    instance = entry.text("instance_id")
    perturbation = "none" if entry.get("perturbation") is None else entry.item("perturbation").text("name")
    split, scores = _stats(entry)
    labels = {"split": split, "instance": instance, "perturbation": perturbation}
    id = instance if perturbation == "none" else f"{instance}/{perturbation}"
    return Row(scores, id, entry.text("train_trial_index", 0), labels)


def _stats(entry: Item) -> tuple[str, dict[str, float | Unusable]]:
    """The split of an instance, and the mean of each statistic that has been counted."""
    scores: dict[str, float | Unusable] = {}
    split = "none"
    for stat in entry.items("stats", "stat"):
        about = stat.item("name")
        name, split = about.text("name"), about.text("split", split)
        if about.get("sub_split"):
            name += f"/{about.get('sub_split')}"
        count = stat.number("count")
        if name in scores:
            scores[name] = Unusable(f"{stat.where}: {show(name)} occurs twice in an entry; expected it once")
        elif count > 0:
            scores[name] = stat.number("sum") / count
    return split, scores


def _spec(file: str) -> tuple[str, str | None]:
    """The model and the scenario that run_spec.json beside the file names."""
    path = str(PurePath(file).with_name("run_spec.json"))
    if not os.path.isfile(path):
        return "", None
    spec = load_item(path)
    adapter = spec.item("adapter_spec", {})
    scenario = spec.get("scenario_spec")
    return adapter.text("model") if adapter.get("model") else "", None if scenario is None else str(scenario)


def _looks(name: str, head: bytes) -> bool:
    return _START.match(head) is not None and (PurePath(name).name == "per_instance_stats.json" or b'"stats"' in head)


HELM = Format(
    "helm",
    "per_instance_stats.json of HELM",
    "systems",
    log_reader(_results),
    _looks,
    options=frozenset({"filter"}),
    folder="per_instance_stats.json",
    begins=(b"[",),
)
