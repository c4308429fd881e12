"""Raise an error for files of one training run (a learning curve, or episodes), because its steps are not instances.

The steps of a run depend on each other, and two runs share no steps. So a test on steps would only show the luck of one
seed. Compare one number per run instead. `CURVES` of `formats.declarations` recognizes such files: TensorBoard scalars
as CSV or JSON, and its event files; Weights & Biases charts and histories as CSV; monitor.csv and evaluations.npz of
Stable-Baselines3.
"""

from collections.abc import Sequence

import numpy as np

from sigjax.formats.declarations import head_lines
from sigjax.readers.saved import load_npz
from sigjax.readers.table import as_float
from sigjax.records import InputError
from sigjax.run.files import read_bytes, read_text

_WHAT = {
    "events": "an event file of TensorBoard, with the steps of one run",
    "scalar": "a scalar of TensorBoard at the steps of one run",
    "scalars": "a scalar of TensorBoard at the steps of one run",
    "chart": "a chart of Weights & Biases: steps of one run in each column",
    "history": "the history of a run of Weights & Biases: its steps",
    "monitor": "monitor.csv of Stable-Baselines3: the episodes of one run, whose scores are r",
    "evaluations": "evaluations.npz of Stable-Baselines3: one run",
}
_LAST = ", such as the last value of each"


def refuse_curve(file: str, kind: str) -> None:
    """Raise an error for a file of one training run; the message says how to compare runs.

    `kind` is the kind of the file, as in `CURVES` of `formats.declarations`.
    """
    more, number = "", _LAST
    if kind == "evaluations":
        more, number = _of_evaluations(file)
    elif kind in ("scalar", "monitor"):
        rows = head_lines(read_text(file).encode("utf-8", "replace"), most=1_000_000)
        place = 0 if kind == "monitor" else -1
        values = [as_float(row.split(b",")[place].decode("utf-8", "replace")) for row in rows[1:]]
        number = _such_as("mean r", values) if kind == "monitor" else _such_as("last Value", values[-1:])
    raise InputError(
        f"{file}: is {_WHAT[kind]}{more}; steps and episodes of a run depend on each other and are no instances: take "
        f"one number per run{number}, and give a table with a row per run: system,run,score, each run with a name of "
        "its own (`sigjax unpaired TABLE` compares them)"
    )


def _such_as(what: str, values: Sequence[float]) -> str:
    finite = [value for value in values if np.isfinite(value)]
    return f", such as its {what} ({np.mean(finite):.6g})" if finite else f", such as its {what}"


def _of_evaluations(file: str) -> tuple[str, str]:
    """Return two parts of the message for a file of `EvalCallback`: the size of the file, and a score to compare.

    The size is the numbers of evaluations and of episodes. The score is one number for the whole run, such as the mean
    of the last evaluation. The array `results` in this file is [evaluation, episode].
    """
    results = load_npz(file, read_bytes(file)).get("results", np.empty(0))
    if results.ndim != 2 or not results.size or results.dtype.kind not in "fiu":
        return "", ""
    count, episodes = results.shape
    return f", {count} times evaluated by {episodes} episodes", _such_as("mean of the last evaluation", results[-1])
