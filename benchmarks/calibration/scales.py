"""Do permutation tests of correlations keep their level where two metrics have scales of their own?

    python benchmarks/calibration/scales.py [--quick]

Nothing is timed. Each test is compared with the one that exchanges the numbers as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from shared import SEPARATOR, begin, markdown_table

import sigjax
from sigjax.metrics import METRICS
from sigjax.records import SampleMetric

LEVEL, RESAMPLES, UNITS = 0.05, 499, (10, 30, 100)
_SEED = 2027

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""(random numbers, instances) -> what two systems say, and gold."""


class World(NamedTuple):
    """Data of two systems, for some metrics."""

    name: str
    metrics: tuple[str, ...]
    draw: Draw


def _correlated(first: float, second: float, change: Callable[[np.ndarray], np.ndarray]) -> Draw:
    """Normal numbers with correlations `first` and `second` with gold, the second changed."""

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        gold, *noise = rng.standard_normal((3, size))
        a, b = (r * gold + np.sqrt(1.0 - r * r) * own for r, own in zip((first, second), noise, strict=True))
        return a, change(b), gold

    return draw


def _skewed(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlations of 0.5 with gold for both, one with normal errors, the other with exponential ones."""
    gold, noise = rng.standard_normal((2, size))
    own = np.sqrt(0.75) * (rng.standard_exponential(size) - 1.0)
    return 0.5 * gold + np.sqrt(0.75) * noise, 3.0 + 10.0 * (0.5 * gold + own), gold


def _spreads(ratio: float) -> Draw:
    """Normal numbers about 0, and about 5 with `ratio` times their standard deviation; correlated."""

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shared, *own = rng.standard_normal((3, size))
        a, b = (0.6 * shared + 0.8 * each for each in own)
        return a, 5.0 + ratio * b, shared

    return draw


_OF_GOLD = ("correlation", "spearman", "kendall", "auc")
WORLDS = (
    World("equal, one scale", _OF_GOLD, _correlated(0.5, 0.5, lambda x: x)),
    World("equal, 10 x + 3", _OF_GOLD, _correlated(0.5, 0.5, lambda x: 10.0 * x + 3.0)),
    World("equal, 10 x + 3, skewed", ("correlation",), _skewed),
    World("0.8 and 0.5, one scale", _OF_GOLD, _correlated(0.8, 0.5, lambda x: x)),
    World("0.8 and 0.5, 10 x + 3", _OF_GOLD, _correlated(0.8, 0.5, lambda x: 10.0 * x + 3.0)),
    World("equal, mean 5 more", ("variance",), _spreads(1.0)),
    World("sd 1.5 times, mean 5 more", ("variance",), _spreads(1.5)),
)


def rejected(world: World, metric: SampleMetric, size: int, sets: int) -> float:
    """The share of data sets on which the test rejects."""
    rng, count = np.random.default_rng((_SEED, WORLDS.index(world), size)), 0
    for seed in range(sets):
        a, b, gold = world.draw(rng, size)
        shared = {"variance": [], "auc": [(gold > 0).astype(float)]}.get(metric.name, [gold])
        if shared and metric.name == "auc" and np.ptp(shared[0]) == 0.0:
            continue
        tables = [np.column_stack([column, *shared]) for column in (a, b)]
        result = sigjax.permutation_test(
            *tables, metric=metric, method="montecarlo", resamples=RESAMPLES, seed=seed, device="numpy"
        )
        count += result.p_value <= LEVEL + 1e-12
    return count / sets


def main() -> None:
    """Print the share of rejections in each world."""
    sets = 20 if begin(__doc__).quick else 600
    lines = []
    for world in WORLDS:
        for name in world.metrics:
            metric = METRICS[name]
            assert isinstance(metric, SampleMetric)
            ways = metric, replace(metric, standardize=())
            shares = [[f"{rejected(world, way, size, sets):.1%}" for size in UNITS] for way in ways]
            lines.append((world.name, name, *(SEPARATOR.join(each) for each in shares)))
    header = ("world", "metric", "as sigjax does", "numbers as they are")
    print(f"\nRejections at {LEVEL:.0%} for n = {SEPARATOR.join(map(str, UNITS))}, {sets:,} data sets\n")
    print(markdown_table(header, lines))


if __name__ == "__main__":
    main()
