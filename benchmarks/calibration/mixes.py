"""Has the cheapest mix of instances and runs the power that it promises, and how much does a small pilot cost?

    python benchmarks/calibration/mixes.py [--quick] [--output FILE.json]

Two systems whose runs are samples, and a pilot of them, from which `sigjax.power` makes a mix. Its power is simulated,
by the paired t test of the means of instances. Nothing is timed. Exits with 1 where the mix from the true components
has another power than the target, beyond binomial error and 2 points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import ndtr
from shared import begin, finish, markdown_table

import sigjax
from sigjax.comparison.analysis import run_variances
from sigjax.studies.formulas import instances_needed

ALPHA, TARGET = 0.05, 0.8
INSTANCE_COST, RUN_COST = 20.0, 1.0
PILOTS = ((50, 4), (100, 4), (300, 8))
"""Instances and runs of the pilots."""
REPETITIONS, QUICK = (300, 4000), (10, 1000)
"""Pilots; and data sets by which the power of a mix is simulated, a tenth for that of each pilot."""
_SEED = 2032
_LARGE = 10**6


class World(NamedTuple):
    """Two systems, the second better by about `effect`, in standard deviations of what makes an instance hard."""

    effect: float
    tastes: float
    """Standard deviation of what a system is better by on an instance, whatever the run."""
    noise: float = 0.0
    """Standard deviation of a run; 0 for answers right or wrong, which are right with chance Phi(0.3 + latent)."""

    def means(self, rng: np.random.Generator, sets: int, instances: int, runs: int) -> np.ndarray:
        """Differences of the means of the runs `[set, instance]`."""
        latent = self._latent(rng, (sets, 1, instances))
        if self.noise:
            found = latent + rng.standard_normal(latent.shape) * self.noise / math.sqrt(runs)
        else:
            found = rng.binomial(runs, ndtr(0.3 + latent)) / runs
        return found[:, 1] - found[:, 0]

    def pilot(self, rng: np.random.Generator, instances: int, runs: int) -> sigjax.Evaluation:
        """All runs of both systems."""
        latent = self._latent(rng, (1, 1, instances))[0, :, :, None]
        shape = (2, instances, runs)
        noisy = (
            latent + self.noise * rng.standard_normal(shape) if self.noise else rng.random(shape) < ndtr(0.3 + latent)
        )
        ids, labels = np.indices(shape[1:]).reshape(2, -1).tolist()
        systems = dict(zip("ab", noisy.astype(float).reshape(2, -1), strict=True))
        return sigjax.Evaluation.from_arrays(systems, ids=ids, runs=labels)

    def truth(self, rng: np.random.Generator) -> tuple[float, float, float]:
        """The difference, and the variances of instances and of one run in it."""
        latent = self._latent(rng, (1, 1, _LARGE))[0]
        chances = latent if self.noise else ndtr(0.3 + latent)
        within = 2.0 * self.noise**2 if self.noise else float((chances * (1.0 - chances)).mean(axis=1).sum())
        apart = chances[1] - chances[0]
        return float(apart.mean()), float(apart.var()), within

    def _latent(self, rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        """What makes the systems right, `[set, system, instance]`."""
        systems = rng.standard_normal((shape[0], 2, shape[2])) * self.tastes
        return rng.standard_normal(shape) + systems + np.array([0.0, self.effect])[:, None]


WORLDS = {
    "scores, much from runs": World(0.25, 0.3, noise=1.0),
    "scores, much from instances": World(0.25, 0.7, noise=0.5),
    "0/1, much from runs": World(0.35, 0.3),
    "0/1, much from instances": World(0.35, 1.0),
}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    pilots, sets = QUICK if chosen.quick else REPETITIONS
    found, rows, wrong = [], [], []
    for index, (name, world) in enumerate(WORLDS.items()):
        rng = np.random.default_rng((_SEED, index))
        difference, instances, runs = world.truth(rng)
        best = cheapest(difference, instances, runs)
        share = power_of(world, rng, sets, best)
        if abs(share - TARGET) > 0.02 + 4.0 * math.sqrt(TARGET * (1.0 - TARGET) / sets):
            wrong.append(f"{name}: power {share:.3f}")
        cells = [name, f"{best[0]} x {best[1]}", f"{share:.2f}"]
        for size in PILOTS:
            for most in (2 * size[1], 100):
                mixes = [mix_of(world.pilot(rng, *size), difference, most) for _ in range(pilots)]
                powers = [power_of(world, rng, sets // 10, mix) for mix in mixes]
                expense = float(np.mean([cost(*mix) for mix in mixes])) / cost(*best)
                low, high = np.quantile(powers, (0.1, 0.9)).tolist()
                cells.append(f"{np.mean(powers):.2f} ({low:.2f}), {expense:.2f}")
                about = {"world": name, "pilot": size, "most": most, "power": float(np.mean(powers)), "cost": expense}
                found.append(about | {"range": [low, high], "best": best, "power of the best": share})
        rows.append(cells)
    header = ["", "best mix", "power", *(f"pilot {n} x {r}{up}" for n, r in PILOTS for up in ("", ", any runs"))]
    print(f"\npower {TARGET:.0%}: of the mix; of mixes of pilots (10% have less than), and their cost\n")
    print(markdown_table(header, rows))
    about = {"worlds": {name: world._asdict() for name, world in WORLDS.items()}, "pilots": pilots, "sets": sets}
    finish(chosen, alpha=ALPHA, target=TARGET, **about, mixes=found)
    if wrong:
        raise AssertionError("; ".join(wrong))


def cost(instances: int, runs: int) -> float:
    """What a mix costs, with the runs of both systems."""
    return instances * (INSTANCE_COST + 2.0 * RUN_COST * runs)


def cheapest(difference: float, instances: float, runs: float, most: int = 100) -> tuple[int, int]:
    """Instances and runs of the cheapest mix, by these components, with at most so many runs."""
    numbers = np.arange(1, most + 1)
    needed = instances_needed(instances + runs / numbers, difference, ALPHA, TARGET, "two-sided")
    i = int(np.argmin([cost(n, r) for n, r in zip(needed.tolist(), numbers.tolist(), strict=True)]))
    return int(needed[i]), i + 1


def mix_of(pilot: sigjax.Evaluation, difference: float, most: int) -> tuple[int, int]:
    """The mix that `sigjax.power` recommends, if `most` is twice the runs of the pilot."""
    found = run_variances(pilot)
    assert found is not None
    return cheapest(difference, max(found.instances_of_delta, 0.0), 2.0 * found.runs, most)


def power_of(world: World, rng: np.random.Generator, sets: int, mix: tuple[int, int]) -> float:
    """The share of data sets of this mix that the paired t test finds."""
    _, p_values = np.asarray(stats.ttest_1samp(world.means(rng, sets, *mix), 0.0, axis=1))
    return float(np.mean(p_values <= ALPHA))


if __name__ == "__main__":
    main()
