"""Do intervals hold the truth with few units, unequal clusters and proportions near 1, and do tests of equivalence?

    python benchmarks/calibration/few.py [--quick] [--output FILE.json]

Five systems per data set, whose scores in the population are known. Nothing is timed. Exits with 1 when the t test of
equivalence finds it among normal numbers more often than it may, beyond binomial error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from shared import Share, begin, cells_table, finish, require_at_most, share_of

import sigjax
from sigjax.comparison.analysis import spreads_of
from sigjax.records import IntervalKind, Settings
from sigjax.run.context import Context
from sigjax.testing.tests import problem_of

LEVEL, RESAMPLES = 0.95, 999
TRIALS, QUICK_TRIALS = 550, 20
SHIFTS = (0.4, 0.3, 0.2, 0.1, 0.0)
"""What is added to the logarithms, or to the normal scale of a chance, of each system."""
RIGHT = (0.8, 0.85, 0.9, 0.95, 1.0)
"""The chance of each system to be right."""
LARGEST = 200
"""Instances of a cluster: the logarithm of their number plus one is uniform up to that of this plus one."""
HARDER = 0.35
"""What the logarithm of the size takes off the normal scale of a chance, or the logarithm of a number."""
KINDS: tuple[IntervalKind, ...] = ("percentile", "auto", "simultaneous")
_SEED = 2029
_SPREAD = 1.2
_SHARED, _OWN = 0.6, 0.7
"""Standard deviations of clusters: what all systems share, and each system's own."""
_INSTANCE = 0.8


class Sample(NamedTuple):
    """One data set: values by system `[system, instance]`, and clusters `[instance]`."""

    values: np.ndarray
    clusters: np.ndarray | None = None


class World(NamedTuple):
    """A population of five systems."""

    draw: Callable[[np.random.Generator, int], Sample]
    truths: tuple[float, ...]
    units: tuple[int, ...]
    extra: float = 3.0
    """What is added to the best system for tests of equivalence, so that the other margin is far away."""


def _normal(rng: np.random.Generator, size: int) -> Sample:
    return Sample(rng.standard_normal((1, size)) + rng.standard_normal((5, size)) + np.array(SHIFTS)[:, None])


def _lognormal(rng: np.random.Generator, size: int) -> Sample:
    own = _INSTANCE * rng.standard_normal((1, size)) + 0.6 * rng.standard_normal((5, size))
    return Sample(np.exp(own + np.array(SHIFTS)[:, None]))


def _exponential(rng: np.random.Generator, size: int) -> Sample:
    halves = rng.standard_exponential((1, size)) + rng.standard_exponential((5, size))
    return Sample(0.5 * halves + np.array(SHIFTS)[:, None])


def _answers(rng: np.random.Generator, size: int) -> Sample:
    latent = ndtri(RIGHT)[:, None] * math.hypot(1.0, _SPREAD) + _SPREAD * rng.standard_normal((1, size))
    return Sample((rng.random((5, size)) < ndtr(latent)).astype(np.int64))


def _clusters(rng: np.random.Generator, size: int, shifts: Sequence[float], *, answers: bool) -> Sample:
    """Right or wrong, or lognormal numbers; larger clusters are harder."""
    sizes = np.floor(np.exp(rng.uniform(0.0, math.log(LARGEST + 1.0), size))).astype(int)
    of_cluster = _SHARED * rng.standard_normal((1, size)) + _OWN * rng.standard_normal((5, size))
    of_cluster += _INSTANCE + np.array(shifts)[:, None] - HARDER * np.log(sizes)
    codes = np.repeat(np.arange(size), sizes)
    latent = of_cluster[:, codes] + _INSTANCE * rng.standard_normal((1, len(codes)))
    if answers:
        return Sample((rng.random(latent.shape) < ndtr(latent)).astype(np.int64), codes)
    return Sample(np.exp(0.5 * (latent + 0.6 * rng.standard_normal(latent.shape))), codes)


def _cluster_truths(shifts: Sequence[float], *, answers: bool) -> tuple[float, ...]:
    """Scores of the population of clusters: one has m instances with a probability of log((m + 1) / m) / log 201."""
    size = np.arange(1, LARGEST + 1)
    share = size * np.log1p(1.0 / size)
    variance = _SHARED**2 + _OWN**2 + _INSTANCE**2
    means = [_INSTANCE + shift - HARDER * np.log(size) for shift in shifts]
    if answers:
        of_size = [ndtr(mean / math.sqrt(1.0 + variance)) for mean in means]
    else:
        of_size = [np.exp(0.5 * mean + 0.125 * (variance + 0.36)) for mean in means]
    return tuple(float((share * each).sum() / share.sum()) for each in of_size)


_ALIKE = (0.0,) * 5
_FEW, _CLUSTERS = (10, 15, 30, 100), (10, 20, 40, 60)
_MEANS = tuple(math.exp(0.5 * (_INSTANCE**2 + 0.36) + shift) for shift in SHIFTS)


def _of_clusters(shifts: Sequence[float], *, answers: bool) -> World:
    truths = _cluster_truths(shifts, answers=answers)
    extra = 0.0 if answers else 3.0
    return World(lambda rng, size: _clusters(rng, size, shifts, answers=answers), truths, _CLUSTERS, extra)


WORLDS = {
    "normal": World(_normal, SHIFTS, _FEW),
    "exponential": World(_exponential, tuple(1.0 + shift for shift in SHIFTS), _FEW),
    "lognormal": World(_lognormal, _MEANS, _FEW),
    "0/1, 80 to 100% right": World(_answers, RIGHT, (10, 20, 30, 100), 0.0),
    "clusters, 0/1, alike": _of_clusters(_ALIKE, answers=True),
    "clusters, 0/1": _of_clusters(SHIFTS, answers=True),
    "clusters, lognormal": _of_clusters(SHIFTS, answers=False),
}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    trials = QUICK_TRIALS if chosen.quick else TRIALS
    found = [miss for name, world in WORLDS.items() for units in world.units for miss in measured(name, units, trials)]
    for what in ("score", "delta", "all deltas", "equivalence"):
        print(f"\n{what}: misses, %\n\n{table(found, what)}")
    finish(chosen, level=LEVEL, resamples=RESAMPLES, misses=[each._asdict() for each in found])
    exact = [each for each in found if (each.world, each.what, each.by) == ("normal", "equivalence", "auto")]
    require_at_most(1.0 - LEVEL, exact)


def measured(name: str, units: int, trials: int) -> Iterator[Share]:
    """The shares of all kinds in a world with so many units."""
    counts: dict[tuple[str, str], np.ndarray] = {}
    for trial in range(trials):
        rng = np.random.default_rng((_SEED, list(WORLDS).index(name), units, trial))
        for key, missed in _of_sample(WORLDS[name], WORLDS[name].draw(rng, units), int(rng.integers(2**62))):
            counts[key] = counts.get(key, 0) + np.array([missed.sum(), missed.size])
    for (what, by), (missed, number) in counts.items():
        found = share_of(name, units, what, by, int(missed), int(number))
        yield found if number == trials else found._replace(interval=None)


def _of_sample(world: World, sample: Sample, seed: int) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """What the intervals of each kind miss in a data set, and whether tests find the systems farthest apart alike."""
    clusters = None if sample.clusters is None else sample.clusters.tolist()
    evaluation = sigjax.Evaluation.from_arrays(dict(zip("abcde", sample.values, strict=True)), clusters=clusters)
    problem = problem_of(
        evaluation, Settings(test=(), method="montecarlo", resamples=RESAMPLES, seed=seed, confidence_level=LEVEL)
    )
    truths = np.array(world.truths)
    first, second = np.array(list(combinations(range(5), 2))).T
    for kind in KINDS:
        settings = replace(problem.settings, interval=kind)
        ends = spreads_of(replace(problem, settings=settings), Context("numpy"))[:, 1:]
        deltas = _missed(ends[len(truths) :], truths[first] - truths[second])
        if kind != "simultaneous":
            yield ("delta", kind), deltas
        if kind in ("percentile", "auto"):
            yield ("score", kind), _missed(ends[: len(truths)], truths)
        if kind in ("percentile", "simultaneous"):
            yield ("all deltas", kind), np.array([deltas.any()])
    if np.ptp(truths) == 0.0:
        return
    two = {"a": sample.values[truths.argmax()] + world.extra, "b": sample.values[truths.argmin()]}
    margin = float(np.ptp(truths)) + world.extra  # the delta itself: equivalence never holds
    evaluation = sigjax.Evaluation.from_arrays(two, clusters=clusters)
    for method in ("bootstrap", "auto"):
        options: dict[str, Any] = {"method": method, "resamples": RESAMPLES, "seed": seed, "device": "numpy"}
        (pair,) = sigjax.equivalence(evaluation, margin=margin, **options)
        yield ("equivalence", method), np.array([pair.holds])


def _missed(ends: np.ndarray, truths: np.ndarray) -> np.ndarray:
    """Whether each interval is not there (NaN), or misses its truth."""
    return ~((ends[:, 0] <= truths + 1e-12) & (truths - 1e-12 <= ends[:, 1]))


def table(found: Sequence[Share], what: str) -> str:
    """One line per world, one column per kind; in each cell the numbers of units in turn."""
    units = {name: f"{name}, n = {' / '.join(map(str, world.units))}" for name, world in WORLDS.items()}
    own = [each for each in found if each.what == what]
    return cells_table({(units[each.world], each.by, each.units): f"{100.0 * each.share:.1f}" for each in own})


if __name__ == "__main__":
    main()
