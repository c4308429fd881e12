"""Seeded synthetic data, in the form of sigjax and in that of the baselines."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from baselines import Pair

import sigjax

INSTANCES = 2000
SYSTEMS = 25
NUM_PAIRS = SYSTEMS * (SYSTEMS - 1) // 2
TRANSLATORS, SEGMENTS = 12, 557
"""Systems and segments of the data set wmt23_ende."""


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


def f1_workload(num_systems: int = 2, *, instances: int = INSTANCES, gold_items: float = 3.0) -> Workload:
    """Counts of systems that find 80%, 79.6%, 79.2%, ... of the gold items, with false alarms.

    With 3 gold items an instance many instances are alike; with 1,000 they differ. The baselines get two columns a
    system, as F1 = 2 tp / (predicted + gold).
    """
    rng = np.random.default_rng(6)
    gold = rng.poisson(gold_items, instances) + 1
    stats = {}
    for i in range(num_systems):
        tp = rng.binomial(gold, 0.80 - 0.004 * i)
        stats[f"system {i + 1}"] = np.stack([tp, tp + rng.poisson(gold_items / 6, instances), gold], axis=-1)
    evaluation = sigjax.Evaluation.from_arrays(stats, metric="fscore")
    a, b = (np.stack([2 * tp, predicted + gold], axis=-1) for tp, predicted, _ in evaluation.stats[:2].swapaxes(1, 2))
    distinct = len(np.unique(np.concatenate([a, b], axis=1), axis=0)) > 0.99 * instances
    name = f"F1, {num_systems} systems" if num_systems > 2 else "F1, distinct rows" if distinct else "F1"
    return Workload(name, evaluation, Pair(a, b, _ratio), 0.0)


def translations() -> dict[str, Workload]:
    """BLEU and chrF of 12 systems: of wmt23_ende, where `SIGJAX_DATA` names its parent, else synthetic counts.

    The baselines get the first two systems, and scores that are written in another way than those of sigjax.
    """
    if real := _wmt23():
        name, reference = "wmt23_ende", real.pop("reference")
        found = _from_texts(real, reference)
    else:
        bleu = bleu_counts(TRANSLATORS, SEGMENTS)
        found, name = {"bleu": bleu, "chrf": _chrf_counts(bleu)}, "synthetic counts"
        systems = [f"system {i + 1}" for i in range(TRANSLATORS)]
        found = {metric: named_counts(systems, counts, metric) for metric, counts in found.items()}
    scores = {"bleu": bleu_by_logarithms, "chrf": chrf_by_orders}
    return {
        metric: Workload(f"{name}, {metric}", each, Pair(each.stats[0], each.stats[1], scores[metric]), 0.0)
        for metric, each in found.items()
    }


def named_counts(systems: Sequence[str], counts: np.ndarray, metric: str) -> sigjax.Evaluation:
    """Counts `[system, segment, stat]` as an evaluation."""
    return sigjax.Evaluation.from_arrays(dict(zip(systems, counts, strict=True)), metric=metric)


def _from_texts(outputs: Mapping[str, list[str]], reference: list[str]) -> Mapping[str, sigjax.Evaluation]:
    return {
        metric: sigjax.Evaluation.from_texts(outputs, reference, metric=metric, cache=False, progress=False)
        for metric in ("bleu", "chrf")
    }


def texts(num_systems: int, num_segments: int) -> tuple[str, dict[str, list[str]]]:
    """Name of the data, and lines of text: the reference first, then the systems.

    Of wmt23_ende as in `translations`; else synthetic: words w1, w2, ... by Zipf's law, of which a system has 75%, 73%,
    71%, ... right, and others wrong.
    """
    if real := _wmt23():
        chosen = list(real)[: num_systems + 1]
        return "wmt23_ende", {each: real[each][:num_segments] for each in chosen}
    rng = np.random.default_rng(17)
    lengths = np.maximum(1, np.rint(rng.normal(25.0, 12.0, num_segments))).astype(int)
    words = rng.zipf(1.3, lengths.sum()) % 20_000
    found = {"reference": words} | {
        f"system{i + 1}": np.where(rng.random(len(words)) < 0.75 - 0.02 * i, words, rng.zipf(1.3, len(words)) % 20_000)
        for i in range(num_systems)
    }
    segments = {name: np.split(each, np.cumsum(lengths)[:-1]) for name, each in found.items()}
    return "synthetic texts", {
        name: [" ".join(f"w{word}" for word in segment) for segment in each] for name, each in segments.items()
    }


def _wmt23() -> dict[str, list[str]]:
    """Lines of the reference and of each system, where `SIGJAX_DATA` names the folder above; else nothing."""
    folder = Path(os.environ.get("SIGJAX_DATA", ""), "wmt23_ende")
    if "SIGJAX_DATA" not in os.environ or not folder.is_dir():
        return {}
    files = {"reference": folder / "refA.txt.gz"}
    files |= {path.name.removesuffix(".txt.gz"): path for path in sorted(folder.glob("systems/*.txt.gz"))}
    return {name: _lines(path) for name, path in files.items()}


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("utf-8").removesuffix("\n").split("\n")


def bleu_counts(num_systems: int, num_segments: int) -> np.ndarray:
    """Counts of BLEU `[system, segment, stat]`, in the order of sacrebleu: lengths, matches and n-grams of 4 orders.

    Lengths of references are normal(25, 12), rounded, at least 1, and those of systems differ from them by Poisson(1) -
    Poisson(1). Of the words of a system that the reference has room for, 65% match, with a deviation of 10% from
    segment to segment; 60%, 65% and 70% of the n-grams that begin where a shorter one matches do. Each system is a
    little worse than the one before.
    """
    rng = np.random.default_rng(150)
    shape = num_systems, num_segments
    gold = np.maximum(1, np.rint(rng.normal(25.0, 12.0, num_segments))).astype(np.int64)
    words = np.maximum(1, gold + rng.poisson(1.0, shape) - rng.poisson(1.0, shape))
    totals = [np.maximum(0, words - n) for n in range(4)]
    ease = rng.normal(0.0, 0.1, num_segments) - 0.05 * np.arange(num_systems)[:, None] / num_systems
    correct = [np.minimum(words, gold)]
    for total, chance in zip(totals, (0.65, 0.60, 0.65, 0.70), strict=True):
        correct.append(rng.binomial(np.minimum(correct[-1], total), np.clip(chance + ease, 0.0, 1.0)))
    return np.stack([words, np.broadcast_to(gold, shape), *correct[1:], *totals], axis=-1)


def _chrf_counts(bleu: np.ndarray) -> np.ndarray:
    """Counts of chrF for the same segments: 5 characters a word, and matches of 85%, 80%, ... of the characters."""
    rng = np.random.default_rng(6)
    words, gold, right = (bleu[..., stat].astype(np.int64) for stat in (0, 1, 2))
    counts = []
    for n in range(6):
        hyp, ref = np.maximum(0, 5 * words - n), np.maximum(0, 5 * gold - n)
        match = np.minimum(np.minimum(hyp, ref), 4 * right + rng.binomial(words, 0.5) - n * right // 3)
        counts += [hyp, ref, np.maximum(0, match)]
    return np.stack(counts, axis=-1)


def tagged_words(num_sentences: int, num_systems: int = 2, *, step: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Words `[sentence]`, and how many of them each tagger has right `[system, sentence]`.

    The generator of Zmigrod et al. (2022), section 5 and Table 1: lengths are normal(12.08, 10.60), rounded and at
    least 1, and the share of right words normal(0.9543, 0.1116), clipped. Their taggers are equally good; `step` is
    what the mean accuracy loses from one tagger to the next.
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


def bleu_by_logarithms(sums: np.ndarray) -> np.ndarray:
    """BLEU as sacrebleu computes it by default, of sums `[..., stat]` in its order; every n-gram order was put out."""
    correct, totals = sums[..., 2:6], sums[..., 6:10]
    smoothed = np.where(correct == 0, 0.5 ** np.cumsum(correct == 0, axis=-1), correct)
    precision = np.exp(np.log(smoothed / totals).mean(axis=-1))
    return 100.0 * precision * np.exp(np.minimum(0.0, 1.0 - sums[..., 1] / sums[..., 0]))


def chrf_by_orders(sums: np.ndarray) -> np.ndarray:
    """chrF2 of sums `[..., stat]` in sacrebleu's order; every order was put out and is in the reference."""
    hyp, ref, match = (sums[..., first::3] for first in range(3))
    precision, recall = (match / hyp).mean(axis=-1), (match / ref).mean(axis=-1)
    return 100.0 * 5.0 * precision * recall / (4.0 * precision + recall)


def num_columns(stats: np.ndarray) -> int:
    """How many different columns statistics `[system, instance, stat]` have, those of zeros left out.

    A product with the weights of a resample needs no more.
    """
    columns = {column.tobytes() for of_system in stats for column in of_system.T}
    return len(columns - {np.zeros_like(stats[0, :, 0]).tobytes()})
