"""Seeded synthetic data, in the form of sigjax and in that of the baselines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from baselines import Pair

import sigjax

INSTANCES = 2000
SYSTEMS = 25
NUM_PAIRS = SYSTEMS * (SYSTEMS - 1) // 2


class Workload(NamedTuple):
    """Systems to compare; the baselines get the first two of them."""

    name: str
    evaluation: sigjax.Evaluation
    pair: Pair
    step: float
    """Distance between neighbouring values of delta; 0 where they lie dense."""


def accuracy_workload() -> Workload:
    """Right (1) or wrong (0) on each instance; chances of 0.78 and 0.76 to be right."""
    rng = np.random.default_rng(7)
    a, b = ((rng.random(INSTANCES) < chance).astype(np.int64) for chance in (0.78, 0.76))
    evaluation = sigjax.Evaluation.from_arrays({"a": a, "b": b}, metric="accuracy")
    return Workload("0/1 accuracy", evaluation, Pair(a[:, None], b[:, None], _mean), 1.0 / INSTANCES)


def f1_workload(num_systems: int = 2) -> Workload:
    """Counts of systems that find 80%, 79.6%, 79.2%, ... of the gold items, with false alarms.

    The baselines get two columns a system, as F1 = 2 tp / (predicted + gold).
    """
    rng = np.random.default_rng(6)
    gold = rng.poisson(3.0, INSTANCES) + 1
    stats = {}
    for i in range(num_systems):
        tp = rng.binomial(gold, 0.80 - 0.004 * i)
        stats[f"system {i + 1}"] = np.stack([tp, tp + rng.poisson(0.5, INSTANCES), gold], axis=-1)
    evaluation = sigjax.Evaluation.from_arrays(stats, metric="fscore")
    a, b = (np.stack([2 * tp, predicted + gold], axis=-1) for tp, predicted, _ in evaluation.stats[:2].swapaxes(1, 2))
    name = "F1" if num_systems == 2 else f"F1, {num_systems} systems"
    return Workload(name, evaluation, Pair(a, b, _ratio), 0.0)


def tables() -> dict[str, str]:
    """Two systems as text tables for the command line: 0/1, and decimals with six digits."""
    rng = np.random.default_rng(11)
    right = (rng.random((INSTANCES, 2)) < (0.78, 0.76)).astype(int)
    graded = rng.beta((4.0, 3.9), 2.0, (INSTANCES, 2))
    return {
        "0/1": _table([f"{a}\t{b}" for a, b in right]),
        "six-digit decimals": _table([f"{a:.6f}\t{b:.6f}" for a, b in graded]),
    }


def _table(cells: list[str]) -> str:
    lines = [f"q{i + 1}\t{cell}" for i, cell in enumerate(cells)]
    return "\n".join(["id\tA\tB", *lines, ""])


def _mean(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / INSTANCES


def _ratio(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / sums[..., 1]
