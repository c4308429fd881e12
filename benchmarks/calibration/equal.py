"""How often do tests reject where two systems have equal scores, but their outputs cannot be exchanged?

    python benchmarks/calibration/equal.py [--quick] [--output FILE.json]

Two systems of equal true F1, one precise, one of high recall; and two of equal means, whose differences are skewed or
of which one varies more. Nothing is timed. Exits with 1 when the default intervals of F1 with 1,000 units or more, or
where differences are symmetric, miss 0 more often than 6%, beyond binomial error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from shared import Share, begin, cells_table, finish, require_at_most, share_of, summed

import sigjax
from sigjax.comparison.analysis import run_tests
from sigjax.records import Metric, Settings, Test
from sigjax.resample.units import make_units
from sigjax.run.context import Context
from sigjax.testing.problem import SumsProblem

ALPHA, RESAMPLES, ALLOWED = 0.05, 999, 0.06
GROUP, GROUPS, QUICK_GROUPS = 20, 200, 1
"""Data sets that share their resamples; groups of each world and number of units."""
_SEED = 2031
_GOLD = 4.0
"""Gold items of a unit, on average."""
Draw = Callable[[np.random.Generator, int], np.ndarray]


class World(NamedTuple):
    """Two systems of equal score in the population."""

    draw: Draw
    """(random numbers, units) -> inputs of the metric `[data set, system, unit, input]`."""
    metric: str = "mean"
    units: tuple[int, ...] = (15, 30, 100, 300)
    symmetric: bool = False


def _found(rng: np.random.Generator, gold: np.ndarray, recall: float, precision: float, bursts: float) -> np.ndarray:
    """tp, predicted and gold of one system; false alarms come on a part of the units, `bursts`."""
    tp = rng.binomial(gold, recall)
    alarms = _GOLD * recall * (1.0 - precision) / precision / bursts
    alarmed = rng.poisson(alarms, gold.shape) * (rng.random(gold.shape) < bursts)
    return np.stack([tp, tp + alarmed, gold], axis=-1)


def _f1(low: float, high: float, bursts: float = 1.0) -> World:
    """One system has this low recall and this high precision, the other the reverse: F1 is the same."""

    def draw(rng: np.random.Generator, units: int) -> np.ndarray:
        gold = 1 + rng.poisson(_GOLD - 1.0, (GROUP, units))
        both = _found(rng, gold, low, high, 1.0), _found(rng, gold, high, low, bursts)
        return np.stack(both, axis=1)

    return World(draw, "fscore", (30, 100, 1000, 2000))


def _differences(
    distribution: Callable[[np.random.Generator, tuple[int, int]], np.ndarray], *, symmetric: bool = False
) -> World:
    """Numbers of a system whose differences from the other, which is 0 everywhere, have a mean of 0."""

    def draw(rng: np.random.Generator, units: int) -> np.ndarray:
        values = distribution(rng, (GROUP, units))
        return np.stack([values, np.zeros_like(values)], axis=1)[..., None]

    return World(draw, symmetric=symmetric)


WORLDS = {
    "F1, 0.60 and 0.95": _f1(0.6, 0.95),
    "F1, 0.60 and 0.95, bursts": _f1(0.6, 0.95, bursts=0.1),
    "F1, 0.40 and 0.98": _f1(0.4, 0.98),
    "F1, 0.40 and 0.98, bursts": _f1(0.4, 0.98, bursts=0.1),
    "differences lognormal": _differences(lambda rng, shape: rng.lognormal(0.0, 1.0, shape) - math.exp(0.5)),
    "differences exponential": _differences(lambda rng, shape: rng.standard_exponential(shape) - 1.0),
    "one system varies 3 times as much": _differences(
        lambda rng, shape: 3.0 * rng.laplace(size=shape) - rng.laplace(size=shape), symmetric=True
    ),
}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    found = [
        share
        for name, world in WORLDS.items()
        for units in world.units
        for share in measured(name, units, QUICK_GROUPS if chosen.quick else GROUPS)
    ]
    for metric, what in (("fscore", "F1"), ("mean", "means")):
        own = [each for each in found if WORLDS[each.world].metric == metric]
        sizes = " / ".join(f"{units:,}" for units in dict.fromkeys(each.units for each in own))
        print(f"\n{what}: rejections at {ALPHA:.0%} and misses of 95% intervals, %, for {sizes} units\n\n{table(own)}")
    finish(chosen, alpha=ALPHA, resamples=RESAMPLES, group=GROUP, shares=[each._asdict() for each in found])
    held = [
        each
        for each in found
        if each.what == "misses" and (WORLDS[each.world].symmetric or (each.units >= 1000 and "F1" in each.world))
    ]
    require_at_most(ALLOWED, held)


def measured(name: str, units: int, groups: int) -> Iterator[Share]:
    """How often tests reject, and intervals miss 0, in a world with so many units."""
    generators = (np.random.default_rng((_SEED, list(WORLDS).index(name), units, group)) for group in range(groups))
    counts = summed(each for rng in generators for each in _of_group(WORLDS[name], units, rng))
    for (what, by), number in counts.items():
        yield share_of(name, units, what, by, number, groups * GROUP)


def _of_group(world: World, units: int, rng: np.random.Generator) -> Iterator[tuple[tuple[str, str], int]]:
    """How many of the data sets each test rejects, and how many default intervals miss 0."""
    inputs, metric, seed = world.draw(rng, units), world.metric, int(rng.integers(2**62))
    tests: tuple[Test, ...] = ("permutation", "bootstrap")
    for test in tests:
        settings = Settings(
            test=test,
            method="montecarlo",
            resamples=RESAMPLES,
            seed=seed,
            interval="auto" if test == "permutation" else "none",
            correction="none",
        )
        found = run_tests(_problem(inputs, metric, settings), Context("numpy"))[0][test]
        yield ("rejects", test), int((found.column("p_value").values <= ALPHA * (1.0 + 1e-9)).sum())
        ends = [each for each in found.values("interval") if each is not None]
        if ends:
            yield ("misses", "interval"), sum(not low <= 0.0 <= high for low, high in ends)


def _problem(inputs: np.ndarray, metric: str, settings: Settings) -> SumsProblem:
    """The data sets as systems 0 and 1, 2 and 3, ... of one comparison."""
    systems = {str(index): each for index, each in enumerate(inputs.reshape(-1, *inputs.shape[2:]))}
    evaluation = sigjax.Evaluation.from_arrays(systems, metric=metric)
    assert isinstance(evaluation.metric, Metric)
    pairs = np.arange(len(systems), dtype=np.int32).reshape(-1, 2)
    return SumsProblem.of(make_units(evaluation, settings.design), evaluation.metric, pairs, settings)


def table(found: Sequence[Share]) -> str:
    """One line per world, one column per test; in each cell the numbers of units in turn."""
    return cells_table({(each.world, each.by, each.units): f"{100.0 * each.share:.1f}" for each in found})


if __name__ == "__main__":
    main()
