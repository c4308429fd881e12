"""HELM: per_instance_stats.json of a run, with the model in run_spec.json beside it."""

import os
import re
from pathlib import PurePath
from typing import Any

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Sources
from sigjax.readers.json_files import Object, as_list, as_object, member, number, parse_json, text
from sigjax.readers.logs.scores import Unusable, choose, differing, name_by_model, score_columns, with_runs
from sigjax.readers.options import Options, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.records import Evaluation

_START = re.compile(rb'\s*\[\s*\{\s*"instance_id"\s*:')


def _read(sources: Sources, options: Options) -> Evaluation:
    read = [_read_run(name, file, options) for name, file in sources.systems.items()]
    sheets = name_by_model([sheet for sheet, _ in read], sources)
    notes = differing("scenario", {sheet.file: scenario for sheet, scenario in read})
    if any(set(sheet.labels["perturbation"]) != {"none"} for sheet in sheets):
        notes += ("perturbed instances count as instances; --cluster instance keeps each with its original",)
    sheets, notes = with_runs(sheets, notes)
    return join_sheets(sheets, options, scores=True, notes=notes)(options)


def _read_run(name: str, file: str, options: Options) -> tuple[Sheet, str | None]:
    """The sheet of a run, under the name of its model, and its scenario."""
    entries = as_list(parse_json(file, decode_text(file, read_bytes(file))), file)
    ids: list[str] = []
    runs: list[str] = []
    rows: list[dict[str, float | Unusable]] = []
    labels: dict[str, list[str]] = {"split": [], "instance": [], "perturbation": []}
    for i, entry in enumerate(entries, start=1):
        where = f"{file}, entry {i}"
        found = as_object(entry, where)
        instance = text(member(found, "instance_id", where), f"{where}, field 'instance_id'")
        perturbation = _name(found.get("perturbation") or {"name": "none"}, f"{where}, field 'perturbation'")
        split, scores = _stats(found, where)
        if options.filter is None or split == options.filter:
            ids.append(instance if perturbation == "none" else f"{instance}/{perturbation}")
            runs.append(text(found.get("train_trial_index", 0), f"{where}, field 'train_trial_index'"))
            rows.append(scores)
        for label, value in (("split", split), ("instance", instance), ("perturbation", perturbation)):
            labels[label].append(value)
    splits = labels["split"]
    # HELM publishes a score a split: one of all together has to be asked for, by their shares.
    if options.filter is not None or "split" not in (options.strata, options.cluster):
        chosen = choose(file, list(dict.fromkeys(splits)), options.filter, "split")
        kept = [i for i, split in enumerate(splits) if split == chosen]
        labels = {label: [values[i] for i in kept] for label, values in labels.items()}
    model, scenario = _spec(file)
    return Sheet(model or name, file, score_columns(file, rows, options), labels, ids, runs), scenario


def _stats(entry: Object, where: str) -> tuple[str, dict[str, float | Unusable]]:
    """The split of an instance, and the mean of each statistic that has been counted."""
    scores: dict[str, float | Unusable] = {}
    split = "none"
    for stat in as_list(member(entry, "stats", where), f"{where}, field 'stats'"):
        found = as_object(stat, f"{where}, field 'stats'")
        about = as_object(member(found, "name", where), f"{where}, field 'name'")
        name = "/".join([_name(about, where), *([str(about["sub_split"])] if about.get("sub_split") else [])])
        place = f"{where}, stat {show(name)}"
        split = text(about.get("split") or split, place)
        count = number(member(found, "count", place), f"{place}, field 'count'")
        if name in scores:
            scores[name] = Unusable(f"{place}: occurs twice in an entry; expected each statistic once")
        elif count > 0:
            scores[name] = number(member(found, "sum", place), f"{place}, field 'sum'") / count
    return split, scores


def _name(value: Any, where: str) -> str:
    return text(member(as_object(value, where), "name", where), f"{where}, field 'name'")


def _spec(file: str) -> tuple[str | None, str | None]:
    """The model and the scenario that run_spec.json beside the file names."""
    spec = str(PurePath(file).with_name("run_spec.json"))
    if not os.path.isfile(spec):
        return None, None
    found = as_object(parse_json(spec, decode_text(spec, read_bytes(spec))), spec)
    adapter = as_object(found.get("adapter_spec") or {}, f"{spec}, field 'adapter_spec'")
    model = adapter.get("model")
    scenario = found.get("scenario_spec")
    named = text(model, f"{spec}, field 'model'") if model else None
    return named, None if scenario is None else str(scenario)


def _looks(name: str, head: bytes) -> bool:
    return _START.match(head) is not None and (PurePath(name).name == "per_instance_stats.json" or b'"stats"' in head)


HELM = Format(
    "helm",
    "per_instance_stats.json of HELM",
    "systems",
    _read,
    _looks,
    options=frozenset({"filter"}),
    folder="per_instance_stats.json",
)
