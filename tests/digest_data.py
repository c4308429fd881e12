"""Small evaluations for the digests, by Python's own generator, whose draws are the same in every version."""

import math
from random import Random
from typing import Any

import numpy as np

from sigjax import Evaluation, SampleMetric, read


def answers(systems: int = 3, instances: int = 120, **options: Any) -> Evaluation:
    """Right or wrong."""
    chance = Random(1)
    values = {f"s{k}": [int(chance.random() < 0.6 + 0.03 * k) for _ in range(instances)] for k in range(systems)}
    return Evaluation.from_arrays(values, metric="accuracy", **options)


def counts(systems: int = 3, instances: int = 120, metric: Any = "fscore", **options: Any) -> Evaluation:
    """True positives, predicted and gold."""
    chance = Random(2)
    gold = [chance.randint(1, 8) for _ in range(instances)]
    values = {f"s{k}": [_matched(size, k, chance) for size in gold] for k in range(systems)}
    return Evaluation.from_arrays(values, metric=metric, **options)


def _matched(gold: int, system: int, chance: Random) -> tuple[int, int, int]:
    tp = sum(chance.random() < 0.7 + 0.02 * system for _ in range(gold))
    return tp, tp + chance.randint(0, 2), gold


def reals(systems: int = 3, instances: int = 90, metric: Any = "mean", **options: Any) -> Evaluation:
    """Numbers with too many digits for decimals."""
    chance = Random(3)
    values = {f"s{k}": [chance.random() ** 2 + 0.05 * k for _ in range(instances)] for k in range(systems)}
    return Evaluation.from_arrays(values, metric=metric, **options)


def decimals(systems: int = 3, instances: int = 90, metric: Any = "mean", **options: Any) -> Evaluation:
    """Numbers with one digit after the point, many of them equal."""
    chance = Random(4)
    values = {f"s{k}": [round(5 * chance.random() + 0.1 * k, 1) for _ in range(instances)] for k in range(systems)}
    return Evaluation.from_arrays(values, metric=metric, **options)


def judged(metric: Any, systems: int = 3, instances: int = 70, **options: Any) -> Evaluation:
    """A number per system beside one of the gold standard, with ties; for `auc` that is 0 or 1."""
    chance = Random(5)
    gold = [chance.randint(0, 1 if metric == "auc" else 9) for _ in range(instances)]
    values = {f"s{k}": [(round(g + chance.random() * (4 + k), 1), g) for g in gold] for k in range(systems)}
    return Evaluation.from_arrays(values, metric=metric, **options)


def integers(columns: int, metric: Any, **options: Any) -> Evaluation:
    """Several whole numbers per instance; each is at most the one after it."""
    chance = Random(6)
    gold = [chance.randint(3, 9) for _ in range(80)]
    values = {}
    for k in range(3):
        rows = [[size] for size in gold]
        for row in rows:
            for _ in range(columns - 1):
                row.insert(0, row[0] - int(chance.random() < 0.35 - 0.05 * k) * (row[0] > 1))
        values[f"s{k}"] = rows
    return Evaluation.from_arrays(values, metric=metric, **options)


def texts(metric: str, **options: Any) -> Evaluation:
    """Outputs of three systems."""
    chance, words = Random(7), "the a cat dog sat ran on under mat tree and then , .".split()
    references = [" ".join(chance.choices(words, k=chance.randint(4, 12))) for _ in range(60)]
    outputs = {f"s{k}": [_worse(text, 0.2 + 0.03 * k, chance) for text in references] for k in range(3)}
    more = [references, [_worse(text, 0.1, chance) for text in references]] if options.pop("two", False) else references
    return Evaluation.from_texts(outputs, more, metric=metric, cache=False, **options)


def _worse(text: str, share: float, chance: Random) -> str:
    return " ".join("It" if chance.random() < share else word for word in text.split())


def retrieval(measure: str) -> Evaluation:
    """Judgments and two runs on 20 topics."""
    chance = Random(8)
    with open("qrels.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{topic} 0 d{k} {chance.randint(0, 2)}\n" for topic in range(20) for k in range(12))
    for name in "ab":
        with open(f"{name}.run", "w", encoding="utf-8") as file:
            file.writelines(f"{topic} Q0 d{k} 1 {chance.random()} x\n" for topic in range(20) for k in range(12))
    return read("qrels.txt", input=["a.run", "b.run"], metric=measure)


def clusters(instances: int = 120) -> list[str]:
    """37 documents of unequal size."""
    return [f"c{i % 37}" for i in range(instances)]


def strata(instances: int = 120) -> list[str]:
    """Two, of whole clusters."""
    return ["even" if i % 37 % 2 else "odd" for i in range(instances)]


def trials(instances: int = 120, runs: int = 4) -> dict[str, list[int]]:
    """Instances that were run several times."""
    return {"ids": [i // runs for i in range(instances)], "runs": [i % runs for i in range(instances)]}


def f_half(sums: Any) -> Any:
    """A function of sums: F with beta 0.5."""
    return 1.25 * sums[..., 0] / (sums[..., 1] + 0.25 * sums[..., 2])


def odds(sums: Any) -> Any:
    """A function of sums that is not bounded."""
    return sums[..., 0] / (sums[..., 2] - sums[..., 0] + 1.0)


def spread(x: Any) -> Any:
    """A function of columns, not of sums that JAX can trace."""
    return x.max() - x.min()


def weighted_mean(x: Any, weights: Any) -> Any:
    """The same with weights."""
    return (x * weights).sum() / weights.sum()


def looped(x: Any) -> float:
    """A function of columns, not of sums that only Python can run."""
    return math.fsum(sorted(float(each) for each in x)[10:-10])


def sorted_mean(x: Any, weights: Any) -> Any:
    """The mean of the lower half, for many resamples at once."""
    order = np.argsort(x, kind="stable")
    drawn = np.cumsum(weights[..., order], axis=-1)
    half = drawn[..., -1:] / 2
    kept = np.minimum(drawn, half) - np.minimum(drawn - weights[..., order], half)
    return (kept * x[order]).sum(axis=-1) / half[..., 0]


SPREAD = SampleMetric("spread", spread, ("x",), higher_is_better=False)
FUNCTIONS = {
    "traced": SPREAD,
    "weighted": SampleMetric("mean", weighted_mean, ("x",), weighted=True),
    "looped": SampleMetric("looped", looped, ("x",)),
    "vectorized": SampleMetric("lower half", sorted_mean, ("x",), weighted=True, vectorized=True),
    "centered": SampleMetric("spread", spread, ("x",), standardize=("center",)),
}
