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


def tagged_words(num_sentences: int, num_systems: int = 2, *, step: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Words `[sentence]`, and how many of them each tagger has right `[system, sentence]`.

    The generator of Zmigrod et al. (2022), section 5 and Table 1: lengths normal(12.08, 10.60), rounded, at least 1;
    the accuracy of each tagger on each sentence normal(0.9543, 0.1116), clipped to [0, 1]; right words rounded. Their
    taggers are equally good; `step` is what the mean accuracy loses from one tagger to the next.
    """
    rng = np.random.default_rng(22)
    words = np.maximum(1, np.rint(rng.normal(12.08, 10.60, num_sentences))).astype(np.int64)
    mean = 0.9543 - step * np.arange(num_systems)
    accuracy = np.clip(rng.normal(mean[:, None], 0.1116, (num_systems, num_sentences)), 0.0, 1.0)
    return words, np.rint(words * accuracy).astype(np.int64)


def matched_words(num_sentences: int, num_systems: int = 2, *, step: float = 0.0) -> np.ndarray:
    """The same with words that are made up or missed: tp, predicted and gold `[system, sentence, stat]`.

    gold = words; predicted = gold + Poisson(0.5) - Poisson(0.5), at least 1; tp = right words, at most predicted.
    """
    gold, right = tagged_words(num_sentences, num_systems, step=step)
    rng = np.random.default_rng(23)
    predicted = np.maximum(1, gold + rng.poisson(0.5, right.shape) - rng.poisson(0.5, right.shape))
    return np.stack([np.minimum(right, predicted), predicted, np.broadcast_to(gold, right.shape)], axis=-1)


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
