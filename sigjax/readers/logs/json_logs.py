"""Logs that are one JSON value: HELM, AlpacaEval and MTEB."""

import os
import re
from collections.abc import Iterator
from pathlib import PurePath

from sigjax.files.opening import files_inside
from sigjax.readers.formats import Format, looks_like
from sigjax.readers.json_files import Item, load_entries, load_item
from sigjax.readers.logs.driver import Result, Row, Unusable, choose, log_reader
from sigjax.readers.options import Options, show
from sigjax.records import InputError


def _results(file: str, options: Options) -> Iterator[Result]:
    rows = [_row(entry) for entry in load_entries(file)]
    # HELM publishes one score per split: a score of all splits has to be asked for, by their shares.
    if options.filter is not None or "split" not in (options.strata, options.cluster):
        chosen = choose(file, [row.labels["split"] for row in rows], options.filter, "split")
        rows = [row for row in rows if row.labels["split"] == chosen]
    notes = ()
    if any(row.labels["perturbation"] != "none" for row in rows):
        notes = ("perturbed instances count as instances; --cluster instance keeps each with its original",)
    model, scenario, run = _spec(file)
    task = re.sub(r"(?<=[:,])model=[^,]*,?", "", run).rstrip(":,")
    yield Result(file, rows, model, notes, {"scenario": scenario}, task=task)


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


def _spec(file: str) -> tuple[str, str | None, str]:
    """The model, the scenario and the run that run_spec.json beside the file names."""
    path = str(PurePath(file).with_name("run_spec.json"))
    if not os.path.isfile(path):
        return "", None, ""
    spec = load_item(path)
    adapter = spec.item("adapter_spec", {})
    scenario = spec.get("scenario_spec")
    model = adapter.text("model") if adapter.get("model") else ""
    name = spec.get("name")
    return model, None if scenario is None else str(scenario), name if isinstance(name, str) else ""


HELM = Format(
    "helm",
    "per_instance_stats.json of HELM",
    "systems",
    log_reader(_results),
    looks_like(rb'^\s*\[\s*\{\s*"instance_id"\s*:', rb'"stats"'),
    options=frozenset({"filter"}),
    folder="per_instance_stats.json",
    begins=(b"[",),
)


_UNNAMED = "unknown"
_ANNOTATIONS = re.compile(rb"\s*\[\s*\{")
_DECIMALS = 15
"""1.9816872352 - 1 is 0.98168723520000009 in doubles; rounding gives the decimal that it stands for."""


def _alpaca_eval(file: str, options: Options) -> list[Result]:
    entries = list(load_entries(file))
    annotators = [entry.text("annotator", _UNNAMED) for entry in entries]
    chosen = choose(file, annotators, options.filter, "annotator")
    by_pair: dict[tuple[str, str], list[Row]] = {}
    for entry, annotator in zip(entries, annotators, strict=True):
        if annotator == chosen:
            pair = entry.text("generator_2"), entry.text("generator_1")
            by_pair.setdefault(pair, []).append(_preference(entry))
    notes, annotator = (), chosen
    if chosen == _UNNAMED:
        notes, annotator = (f"warning: {file} names no annotator; compare preferences of the same one only",), None
    return [
        Result(file, rows, model, notes, facts={"reference": reference, "annotator": annotator})
        for (model, reference), rows in by_pair.items()
    ]


def _preference(entry: Item) -> Row:
    """The row of an annotation; it has no score where the annotator gave no preference."""
    dataset = entry.text("dataset", "all")
    scores: dict[str, float] = {}
    if entry.value("preference") is not None:
        value = entry.number("preference")
        if not 1 <= value <= 2:
            raise InputError(f"{entry.place('preference')}: expected a number from 1 to 2, or null, got {value:g}")
        scores["win_rate"] = round(value - 1, _DECIMALS)
    return Row(scores, f"{dataset}: {entry.text('instruction')}", labels={"dataset": dataset})


def _looks_alpaca_eval(name: str, head: bytes) -> bool:
    fields = (b'"instruction"', b'"generator_', b'"output_')
    return _ANNOTATIONS.match(head) is not None and sum(field in head for field in fields) >= 2


ALPACA_EVAL = Format(
    "alpaca-eval",
    "annotations.json of AlpacaEval",
    "systems",
    log_reader(
        _alpaca_eval,
        must_agree={
            "reference": "compare models by their preferences over the same one",
            "annotator": "compare models by preferences of the same one; annotate all outputs with it",
        },
    ),
    _looks_alpaca_eval,
    options=frozenset({"filter"}),
    folder="annotations.json",
    begins=(b"[",),
)

# MTEB: a folder per model, with model_meta.json and one file per task; tasks are instances.

_META = "model_meta.json"
_USUAL_SPLIT = "test"
"""The split that is taken where a task has several, and `--filter` names none."""


def _mteb(file: str, options: Options) -> list[Result]:
    if not _is_meta(file):
        return [Result(file, [_task(file, options)])]  # one task
    tasks = [each for each in files_inside(os.path.dirname(file) or ".", "*.json") if not _is_meta(each)]
    if not tasks:
        raise InputError(f"{file}: no results of tasks (TASK.json) stand beside it")
    meta = load_item(file)
    return [Result(file, [_task(each, options) for each in tasks], meta.text("name") if meta.get("name") else "")]


def _is_meta(file: str) -> bool:
    return PurePath(file).name.removesuffix(".gz") == _META


def _task(file: str, options: Options) -> Row:
    """The mean of the main score over the subsets (languages) of a task, as MTEB takes it."""
    found = load_item(file)
    scores = found.item("scores")
    asked = options.filter or (_USUAL_SPLIT if _USUAL_SPLIT in scores.fields else None)
    split = choose(file, scores.fields, asked, "split")
    values = [one.number("main_score") for one in scores.items(split, f"{split}, subset")]
    if not values:
        raise InputError(f"{scores.place(split)}: is empty; expected scores")
    return Row({"main_score": sum(values) / len(values)}, found.text("task_name"))


_has_scores = looks_like(rb'"mteb_version"\s*:', rb'"scores"\s*:\s*\{')


def _looks_mteb(name: str, head: bytes) -> bool:
    return PurePath(name).name == _META or _has_scores(name, head)


MTEB = Format(
    "mteb",
    "results of MTEB, folders with model_meta.json",
    "systems",
    log_reader(_mteb),
    _looks_mteb,
    options=frozenset({"filter"}),
    folder=f"*/{_META}",
    begins=(b"{",),
)
