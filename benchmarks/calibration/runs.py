"""Do tests of repeated runs keep their level, and do their intervals hold the truth? All designs, two kinds of runs.

    python benchmarks/calibration/runs.py [--quick] [--output FILE.json]

Runs are samples of a decoder, which vary anew on each instance, or trained models, good or bad on all instances at
once. Nothing is timed. Exits with 1 when the exchange of whole runs rejects, or its interval misses the truth, more
often than it may, beyond binomial error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from shared import Share, begin, cells_table, finish, require_at_most, share_of, summed

import sigjax
from sigjax.comparison.analysis import run_tests
from sigjax.records import Design, IntervalKind, Method, Metric, Settings, Test
from sigjax.resample.units import make_units
from sigjax.run.context import Context
from sigjax.testing.problem import SumsProblem

ALPHA, RESAMPLES, GROUP = 0.05, 499, 20
"""Data sets of a group share their resamples."""
INSTANCES, RUNS = 1000, (3, 4, 5, 10)
GROUPS, QUICK_GROUPS = 100, 1
INTERVALS: dict[Design, IntervalKind] = {
    "together": "percentile",
    "crossed": "none",  # those of "together"
    "nested": "percentile",
    "models": "two-way",
}
TWO_WAY_BOOTSTRAP = "two-way bootstrap"
_SEED = 2028
_EASE, _SPREAD = 0.8, 1.2
"""The chance to be right is Phi(_EASE + _SPREAD difficulty + model)."""


class World(NamedTuple):
    """Two systems that are equally good on average over runs and instances."""

    models: tuple[float, float]
    """Standard deviation of what a run is better by on all instances, of each system."""
    tastes: float = 0.0
    """Standard deviation of what a system is better by on an instance, whatever the run."""
    answers: bool = False
    """Right or wrong, instead of scores."""

    def draw(self, rng: np.random.Generator, runs: int) -> np.ndarray:
        """Results `[data set, system, instance, run]`; scores have three decimals."""
        shape = (GROUP, 2, INSTANCES, runs)
        model = np.array(self.models)[:, None, None] * rng.standard_normal((GROUP, 2, 1, runs))
        taste = self.tastes * rng.standard_normal((GROUP, 2, INSTANCES, 1))
        latent = rng.standard_normal((GROUP, 1, INSTANCES, 1))
        if self.answers:
            return (rng.random(shape) < ndtr(_EASE + _SPREAD * latent + model + taste)).astype(np.int64)
        return (latent + model + taste + rng.standard_normal(shape)).round(3)


WORLDS = {
    "samples, scores": World((0.0, 0.0)),
    "samples, 0/1": World((0.0, 0.0), answers=True),
    "models, scores": World((0.15, 0.15)),
    "models, 0/1": World((0.15, 0.15), answers=True),
    "models, unequal": World((0.05, 0.25)),
    "models, tastes": World((0.15, 0.15), tastes=0.3),
}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    found = [
        share
        for name, runs in product(WORLDS, RUNS)
        for share in measured(name, runs, QUICK_GROUPS if chosen.quick else GROUPS)
    ]
    for what in ("rejects", "misses"):
        print(f"\n{what} at {ALPHA:.0%}, %, for {' / '.join(map(str, RUNS))} runs\n\n{table(found, what)}")
    about = {"instances": INSTANCES, "group": GROUP, "worlds": {k: v._asdict() for k, v in WORLDS.items()}}
    finish(chosen, alpha=ALPHA, resamples=RESAMPLES, **about, shares=[each._asdict() for each in found])
    own = [each for each in found if each.by == "models" and len(set(WORLDS[each.world].models)) == 1]
    require_at_most(ALPHA, own)


def measured(name: str, runs: int, groups: int) -> Iterator[Share]:
    """The shares of all designs in a world with so many runs."""
    generators = (np.random.default_rng((_SEED, list(WORLDS).index(name), runs, group)) for group in range(groups))
    counts = summed(each for rng in generators for each in _of_group(WORLDS[name].draw(rng, runs), rng))
    for (what, by), number in counts.items():
        yield share_of(name, runs, what, by, number, groups * GROUP)


def _of_group(values: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[tuple[str, str], int]]:
    """How many of the data sets each design rejects, and how many of its intervals miss 0."""
    seed = int(rng.integers(2**62))
    for design in INTERVALS:
        # Nested draws are the bootstrap's; its permutation test is that of "together".
        test: Test = "bootstrap" if design == "nested" else "permutation"
        method: Method = "auto" if design == "models" else "montecarlo"
        settings = Settings(
            test=test, method=method, resamples=RESAMPLES, seed=seed, interval=INTERVALS[design], design=design
        )
        found = run_tests(_case(values, settings), Context("numpy"))[0][test]
        yield ("rejects", design), int((found.column("p_value").values <= ALPHA * (1.0 + 1e-9)).sum())
        ends = [each for each in found.values("interval") if each is not None]
        if ends:
            yield ("misses", design), sum(not low <= 0.0 <= high for low, high in ends)
    yield ("misses", TWO_WAY_BOOTSTRAP), sum(not low <= 0.0 <= high for low, high in _two_way_bootstrap(values, rng))


def _case(values: np.ndarray, settings: Settings) -> SumsProblem:
    """The data sets as systems 0 and 1, 2 and 3, ... of one comparison."""
    systems = {str(place): each.ravel() for place, each in enumerate(values.reshape(-1, *values.shape[2:]))}
    ids, runs = np.indices(values.shape[2:]).reshape(2, -1).tolist()
    evaluation = sigjax.Evaluation.from_arrays(systems, ids=ids, runs=runs)
    assert isinstance(evaluation.metric, Metric)
    units = make_units(evaluation, settings.design)
    pairs = np.arange(len(systems), dtype=np.int32).reshape(-1, 2)
    return SumsProblem.of(units, evaluation.metric, pairs, settings)


def _two_way_bootstrap(values: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Percentile intervals of data sets, of draws of instances and, independently, of the runs of each system."""
    num_instances, num_runs = values.shape[2:]
    instances = rng.multinomial(num_instances, np.full(num_instances, 1.0 / num_instances), RESAMPLES)
    for systems in values:
        runs = rng.multinomial(num_runs, np.full(num_runs, 1.0 / num_runs), (2, RESAMPLES))
        a, b = ((instances @ table * drawn).sum(axis=1) for table, drawn in zip(systems, runs, strict=True))
        yield np.quantile(a - b, (ALPHA / 2.0, 1.0 - ALPHA / 2.0))


def table(found: Sequence[Share], what: str) -> str:
    """One line per world, one column per design; in each cell the numbers of runs in turn."""
    own = [each for each in found if each.what == what]
    return cells_table({(each.world, each.by, each.units): f"{100.0 * each.share:.1f}" for each in own})


if __name__ == "__main__":
    main()
