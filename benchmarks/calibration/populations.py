"""Data of `calibration.py`: pairs of systems of which none is better, and populations whose scores are known.

Systems are correlated as real ones are: what is hard for one is hard for the other. Given what both share, their
results are drawn independently from one law, so that the outputs of a unit could be exchanged: the null hypothesis of
a permutation test holds exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

_SHARED, _OWN = 0.8, 0.6
"""Standard deviations of logarithms: of what both systems share, and of each system's own; 1 together."""
_SHIFT = 0.2
"""Distance of the means of two systems that differ: in logarithms, or as it is."""
_SHIFTS = (0.4, 0.3, 0.2, 0.1, 0.0)
"""Five systems: what is added to the logarithms, or to the normal scale of a chance."""
_EASE, _SPREAD = 0.8, 1.2
"""The chance to be right is Phi(_EASE + _SPREAD normal)."""
_LARGEST_CLUSTER = 9


class Kind(NamedTuple):
    """A kind of data without a difference between two systems."""

    name: str
    metric: str
    draw: Callable[[np.random.Generator, int, int], np.ndarray]
    """(random numbers, data sets, units) -> inputs of the metric `[data set, 2, instance, input]`."""
    clusters: Callable[[int], np.ndarray] | None = None
    """Units -> the cluster of each instance `[instance]`."""


def _accuracy(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Right or wrong, 70% right; the chance of both systems is Phi(0.8 + 1.2 normal)."""
    chance = ndtr(_EASE + _SPREAD * rng.standard_normal((sets, 1, size, 1)))
    return (rng.random((sets, 2, size, 1)) < chance).astype(np.int64)


def _counts(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Poisson, with an exponential rate of mean 2 for both systems."""
    rate = rng.exponential(2.0, (sets, 1, size, 1))
    return rng.poisson(np.broadcast_to(rate, (sets, 2, size, 1)))


def _lognormal(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """exp(0.8 shared + 0.6 own) of standard normal numbers: the skewness is 6.2."""
    shared, own = rng.standard_normal((sets, 1, size, 1)), rng.standard_normal((sets, 2, size, 1))
    return np.exp(_SHARED * shared + _OWN * own)


def cluster_codes(size: int) -> np.ndarray:
    """The cluster of each instance `[instance]`, of `size` clusters: their sizes are 1 to 9, in turn."""
    sizes = 1 + np.arange(size) * 4 % _LARGEST_CLUSTER
    return np.repeat(np.arange(size), sizes)


def _clustered(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Right or wrong: chances are Phi(0.8 + 0.8 instance + 0.6 cluster + 0.7 cluster and system)."""
    codes = cluster_codes(size)
    of_instance = rng.standard_normal((sets, 1, len(codes)))
    of_cluster = 0.6 * rng.standard_normal((sets, 1, size)) + 0.7 * rng.standard_normal((sets, 2, size))
    chance = ndtr(0.8 + 0.8 * of_instance + of_cluster[:, :, codes])
    return (rng.random(chance.shape) < chance).astype(np.int64)[..., None]


def _f1(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """tp, predicted and gold: 1 + Poisson(3) gold items, found with Phi(0.9 + 0.6 normal); false alarms Poisson."""
    gold = 1 + rng.poisson(3.0, (sets, 1, size)) + np.zeros((sets, 2, size), np.int64)
    tp = rng.binomial(gold, ndtr(0.9 + 0.6 * rng.standard_normal((sets, 1, size))))
    alarms = rng.poisson(0.6 * np.exp(0.5 * rng.standard_normal((sets, 1, size))), gold.shape)
    return np.stack([tp, tp + alarms, gold], axis=-1)


def _bleu(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Counts of BLEU in the order of sacrebleu: those of `workloads.bleu_counts`, of two systems alike.

    Lengths of references, and how easy a segment is, are shared; lengths of outputs and matches are each system's own.
    """
    shape = sets, 2, size
    gold = np.maximum(1, np.rint(rng.normal(25.0, 12.0, (sets, 1, size)))).astype(np.int64)
    words = np.maximum(1, gold + rng.poisson(1.0, shape) - rng.poisson(1.0, shape))
    totals = [np.maximum(0, words - n) for n in range(4)]
    ease = rng.normal(0.0, 0.1, (sets, 1, size))
    correct = [np.minimum(words, gold)]
    for total, chance in zip(totals, (0.65, 0.60, 0.65, 0.70), strict=True):
        correct.append(rng.binomial(np.minimum(correct[-1], total), np.clip(chance + ease, 0.0, 1.0)))
    return np.stack([words, np.broadcast_to(gold, shape), *correct[1:], *totals], axis=-1)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("0/1 accuracy", "accuracy", _accuracy),
        Kind("counts", "mean", _counts),
        Kind("lognormal", "mean", _lognormal),
        Kind("clustered 0/1", "accuracy", _clustered, cluster_codes),
        Kind("F1", "fscore", _f1),
        Kind("BLEU", "bleu", _bleu),
    )
}


Statistic = Callable[..., np.ndarray]
"""A number as SciPy wants it: (inputs `[..., unit]` of all systems, axis of the units) -> `[...]`."""


class Target(NamedTuple):
    """Numbers of a population, of which a sample is drawn: one, or more that intervals must hold together."""

    name: str
    metric: str
    truths: tuple[float, ...]
    draw: Callable[[np.random.Generator, int, int], np.ndarray]
    """(random numbers, data sets, units) -> inputs `[data set, system, unit, input]`: one system, or more for delta."""
    statistic: Statistic | None = None
    """The one number; None for more."""


def _exponential(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    return rng.standard_exponential((sets, 1, size, 1))


def _one_lognormal(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    return rng.lognormal(0.0, 1.0, (sets, 1, size, 1))


def _proportion(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    return (rng.random((sets, 1, size, 1)) < 0.9).astype(np.int64)


def _found(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """tp, predicted and gold: 1 + Poisson(3) gold items, each found with 0.8, and Poisson(0.6) false alarms."""
    gold = 1 + rng.poisson(3.0, (sets, 1, size))
    tp = rng.binomial(gold, 0.8)
    return np.stack([tp, tp + rng.poisson(0.6, gold.shape), gold], axis=-1)


def _apart(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """The systems of `_lognormal`, the first multiplied by exp(0.2)."""
    return _lognormal(rng, sets, size) * np.exp([_SHIFT, 0.0])[None, :, None, None]


def _symmetric(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """The systems of `_lognormal` and 0.2 more for the first: differences are symmetric about 0.2, with heavy tails."""
    return _lognormal(rng, sets, size) + np.array([_SHIFT, 0.0])[None, :, None, None]


def _five_accuracies(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Right or wrong, five systems as in `_accuracy`, each with its shift."""
    shared = _EASE + _SPREAD * rng.standard_normal((sets, 1, size, 1))
    chance = ndtr(shared + np.array(_SHIFTS)[None, :, None, None])
    return (rng.random(chance.shape) < chance).astype(np.int64)


def _five_lognormals(rng: np.random.Generator, sets: int, size: int) -> np.ndarray:
    """Five systems as in `_lognormal`, each with its shift of the logarithms."""
    shared, own = rng.standard_normal((sets, 1, size, 1)), rng.standard_normal((sets, len(_SHIFTS), size, 1))
    return np.exp(_SHARED * shared + _OWN * own + np.array(_SHIFTS)[None, :, None, None])


def _deltas(scores: Iterable[float]) -> tuple[float, ...]:
    """Those of all pairs, in the order of `itertools.combinations`."""
    return tuple(a - b for a, b in combinations(scores, 2))


def _f1_of_columns(tp: np.ndarray, predicted: np.ndarray, gold: np.ndarray, axis: int) -> np.ndarray:
    return 2.0 * tp.sum(axis=axis) / (predicted.sum(axis=axis) + gold.sum(axis=axis))


def _difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
    return a.mean(axis=axis) - b.mean(axis=axis)


_MEAN = math.exp((_SHARED**2 + _OWN**2) / 2.0)
_FIVE_ACCURACIES = [float(ndtr((_EASE + shift) / math.hypot(1.0, _SPREAD))) for shift in _SHIFTS]
_FIVE_MEANS = [_MEAN * math.exp(shift) for shift in _SHIFTS]

TARGETS = {
    target.name: target
    for target in (
        Target("mean, exponential", "mean", (1.0,), _exponential, np.mean),
        Target("mean, lognormal", "mean", (math.exp(0.5),), _one_lognormal, np.mean),
        Target("proportion 0.9", "accuracy", (0.9,), _proportion, np.mean),
        Target("F1", "fscore", (2.0 * 3.2 / (3.2 + 0.6 + 4.0),), _found, _f1_of_columns),
        Target("delta, lognormal", "mean", (math.expm1(_SHIFT) * _MEAN,), _apart, _difference),
        Target("delta, symmetric", "mean", (_SHIFT,), _symmetric, _difference),
        Target("10 deltas, 0/1", "accuracy", _deltas(_FIVE_ACCURACIES), _five_accuracies),
        Target("10 deltas, lognormal", "mean", _deltas(_FIVE_MEANS), _five_lognormals),
    )
}
"""Truths in closed form; F1 is that of endless data, 2 E[tp] / (E[predicted] + E[gold])."""
