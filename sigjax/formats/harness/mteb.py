# logs hold: "mteb_version" or model_meta.json
"""MTEB: one folder per model, with model_meta.json and one file per task. Tasks are the instances."""

import json
import os
from collections.abc import Sequence
from pathlib import PurePath

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import InstanceLog, Log, SystemLog, choose
from sigjax.readers.json_files import load_item
from sigjax.readers.options import Options
from sigjax.records import InputError
from sigjax.run.files import files_inside

FORMAT = harness(
    __name__,
    "results of MTEB, folders with model_meta.json",
    looks_like(rb'"mteb_version"\s*:', rb'"scores"\s*:\s*\{', ending="model_meta.json"),
    options=frozenset({"filter"}),
    folder="*/model_meta.json",
)
_META = "model_meta.json"
_USUAL_SPLIT = "test"
"""The split that is used if a task has several splits and `--filter` names none."""


def _results(file: str, options: Options) -> list[SystemLog]:
    if not _is_meta(file):
        return [SystemLog(file, [_task_log(file, options)])]  # the file of one task
    tasks = [each for each in files_inside(os.path.dirname(file) or ".", "*.json") if not _is_meta(each)]
    if not tasks:
        raise InputError(f"{file}: no results of tasks (TASK.json) stand beside it")
    return [SystemLog(file, [_task_log(each, options) for each in tasks], load_item(file).name("name?"))]


def _is_meta(file: str) -> bool:
    return PurePath(file).name.removesuffix(".gz") == _META


def _task_log(file: str, options: Options) -> InstanceLog:
    """Return the result on a task: the mean of the main score over the subsets (languages), as in MTEB."""
    found = load_item(file)
    scores = found.item("scores")
    asked = options.filter or (_USUAL_SPLIT if _USUAL_SPLIT in scores.fields else None)
    split = choose(file, scores.fields, asked, "split")
    values = [one.number("main_score") for one in scores.items(split, f"{split}, subset")]
    if not values:
        raise InputError(f"{scores.field(split)}: is empty; expected scores")
    return InstanceLog({"main_score": sum(values) / len(values)}, found.text("task_name"))


LOG = Log(results=_results)


def sample(values: Sequence[float], *, task: str = "STS", **subsets: float) -> str:
    """Make the file of a task. `values` has one value per subset, or `subsets` has named values.

    A validation split comes before the test split with these values.
    """
    named = subsets or {f"subset{i}": value for i, value in enumerate(values)}
    parts = [{"hf_subset": name, "main_score": own} for name, own in named.items()]
    scores = {"validation": [{"hf_subset": "default", "main_score": 0.0}], "test": parts}
    return json.dumps({"dataset_revision": "0", "mteb_version": "1.0", "scores": scores, "task_name": task}, indent=2)


SAMPLE = ExampleLogs(file="STS.json", make=sample)
