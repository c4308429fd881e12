# logs hold: "metric_per_case"
"""nnU-Net (version 2): summary.json of a validation, with the metrics of each class in each case (image).

Scores are named METRIC/CLASS, such as Dice/1. Dice and IoU also have the mean over the classes of a case. If neither
reference nor prediction has a class, nnU-Net writes NaN; such a class is left out of all means. The name of the
reference file identifies a case, without its folder, because folders differ between machines.
"""

import json
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sigjax.formats.declarations import looks_like
from sigjax.formats.harness import ExampleLogs, harness
from sigjax.formats.logs import TOLERANCE, InstanceLog, Log, SystemLog
from sigjax.readers.json_files import JsonObject, load_item
from sigjax.readers.options import Options

FORMAT = harness(
    __name__,
    "summary.json of nnU-Net",
    looks_like(rb'"metric_per_case"\s*:\s*\[\s*\{', rb'"metrics"\s*:\s*\{'),
    folder="summary.json",
)
_MEANS = ("Dice", "IoU")
_ERRORS = ("FP", "FN")
_BACKGROUND = "0"


def _results(file: str, _: Options) -> Iterator[SystemLog]:
    whole = load_item(file)
    cases = list(whole.items("metric_per_case", "case"))
    paths = [case.text("reference_file") for case in cases]
    names = [path.replace("\\", "/").rpartition("/")[2] for path in paths]
    ids = names if len({*names}) == len(names) else paths
    rows = [InstanceLog(_scores(case.item("metrics")), id) for case, id in zip(cases, ids, strict=True)]
    yield SystemLog(file, rows, published=partial(_published, file, whole.item("foreground_mean", {})))


def _scores(metrics: JsonObject) -> dict[str, float]:
    """Return the scores of all classes, and their means over all classes but the background."""
    scores, means = dict[str, float](), dict[str, list[float]]()
    for label in metrics.fields:
        own = metrics.item(label)
        for name, value in own.fields.items():
            if value is None or (isinstance(value, float) and math.isnan(value)):
                continue
            scores[f"{name}/{label}"] = own.number(name)
            if name in _MEANS and label != _BACKGROUND:
                means.setdefault(name, []).append(own.number(name))
    return {name: sum(values) / len(values) for name, values in means.items()} | scores


def _published(file: str, means: JsonObject, score: str, mean: float) -> tuple[list[str], bool]:
    """Return notes, and whether lower values of the score are better.

    There is a note if nnU-Net's mean differs from `mean`. nnU-Net averages first over cases, then over classes.
    """
    published = means.get(score)
    same = not isinstance(published, int | float) or math.isclose(mean, published, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    note = f"{file}: the mean of {score} over cases is {mean:.6g}; that of classes is {published} in foreground_mean"
    return [] if same else [note], score.startswith(_ERRORS)


LOG = Log(results=_results, main=_MEANS[0])


def sample(values: Sequence[Any], *, labels: Sequence[str] = ("1", "2"), folder: str = "/data", **fields: Any) -> str:
    """Make a log. `values` has for each case the Dice of its first class, or None if this class does not occur."""
    cases = [
        {
            "metrics": {
                label: {
                    "Dice": math.nan if value is None and k == 1 else (value or 0) / k,
                    "IoU": 0.5,
                    "FP": 2,
                    "FN": 1,
                }
                for k, label in enumerate(labels, 1)
            },
            "prediction_file": f"out/case_{i}.nii.gz",
            "reference_file": f"{folder}/case_{i}.nii.gz",
        }
        for i, value in enumerate(values)
    ]
    return json.dumps({"foreground_mean": {}, "mean": {}, "metric_per_case": cases} | fields, indent=4)


SAMPLE = ExampleLogs(file="summary.json", make=sample, records=("metric_per_case",))
