"""Is the bound of true discoveries right in 95% of sets, also for two-sided tests of pairs that share systems?

    python benchmarks/calibration/discoveries.py [--quick] [--output FILE.json]

Standard normal statistics z with known means, two-sided p, closed testing with Simes at 5%. The bound is too large for
some set of a draw just when the bound for all true null hypotheses is above 0. Where means are 0.001, signs are nearly
chance: there also counts a bound that is above the number of differences seen in the right direction, for some set.
Beside it the mean number of pairs that Holm finds, and the bound for all pairs. Nothing is timed. Exits with 1 where a
bound is wrong in more than 5%, beyond binomial error.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from shared import Share, begin, finish, markdown_table, require_at_most, share_of

ALPHA = 0.05
SETS, QUICK_SETS, TOGETHER = 100_000, 200, 5000
_SEED, _NEAR = 2047, 1e-3


class World(NamedTuple):
    """Tests: `means` are those of the statistics, or of systems whose pairs are tested, with errors `errors`."""

    means: list[float]
    correlation: float = 0.0
    errors: list[float] | None = None
    """Standard errors of systems, all pairs of which are tested; None where tests are single ones."""


WORLDS = {
    "40 independent tests, no difference": World([0.0] * 40),
    "40 independent, 20 of them differ by 3": World([0.0] * 20 + [3.0] * 20),
    "40 independent, 20 by 3, 20 by 0.001": World([_NEAR] * 20 + [3.0] * 20),
    "40 tests, correlation 0.5, no difference": World([0.0] * 40, 0.5),
    "40, correlation 0.5, 20 differ by 3": World([0.0] * 20 + [3.0] * 20, 0.5),
    "40, correlation 0.5, 20 by 3, 20 by 0.001": World([_NEAR] * 20 + [3.0] * 20, 0.5),
    "pairs of 3 equal systems": World([0.0] * 3, 0.0, [1.0] * 3),
    "pairs of 10 equal systems": World([0.0] * 10, 0.0, [1.0] * 10),
    "the same, errors 1, 2, 4, ..., 512": World([0.0] * 10, 0.0, [2.0**k for k in range(10)]),
    "pairs of 10, two groups of 5": World([0.0] * 5 + [8.0] * 5, 0.0, [1.0] * 10),
    "pairs of 10, 5 equal and 5 apart": World([0.0] * 5 + [4.0, 8.0, 12.0, 16.0, 20.0], 0.0, [1.0] * 10),
    "pairs of 10, five groups of 2": World([8.0 * (k // 2) for k in range(10)], 0.0, [1.0] * 10),
    "pairs of 10, 0.001 apart": World([_NEAR * k for k in range(10)], 0.0, [1.0] * 10),
    "pairs of 10, 1 apart": World([float(k) for k in range(10)], 0.0, [1.0] * 10),
}


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    sets = QUICK_SETS if chosen.quick else SETS
    lines, found = [], list[Share]()
    for number, (name, world) in enumerate(WORLDS.items()):
        wrong, other_way, holm, bound = measured(world, sets, number).tolist()
        found += [share_of(name, sets, what, "simes", count, sets) for what, count in
                  (("differ", wrong), ("direction", other_way))]  # fmt: skip
        lines.append([name, f"{100.0 * wrong / sets:.2f}", f"{100.0 * other_way / sets:.2f}", f"{holm / sets:.1f}",
                      f"{bound / sets:.1f}"])  # fmt: skip
    header = ("", "bound wrong, %", "also of directions, %", "found by Holm", "bound for all")
    print(f"\n{sets:,} sets\n\n{markdown_table(header, lines)}")
    finish(chosen, alpha=ALPHA, errors=[each._asdict() for each in found])
    require_at_most(ALPHA, found)


def measured(world: World, sets: int, number: int) -> np.ndarray:
    """Sets with a wrong bound, with one of directions; sums of what Holm finds, and of the bound for all."""
    total = np.zeros(4)
    for z, means in drawn(world, sets, np.random.default_rng((_SEED, number))):
        p_values, same = 2.0 * ndtr(-np.abs(z)), np.broadcast_to(means == 0.0, z.shape)
        accepted, every = largest_accepted(p_values), np.ones(z.shape, bool)
        wrong, other_way = (
            (bounds(p_values, chosen, accepted) > 0).sum() for chosen in (same, same | (np.sign(z) != np.sign(means)))
        )
        steps = np.sort(p_values, axis=1) * np.arange(z.shape[1], 0, -1) < ALPHA
        holm = np.minimum.accumulate(steps, axis=1).sum()
        total += [wrong, other_way, holm, bounds(p_values, every, accepted).sum()]
    return total.astype(int)


def drawn(world: World, sets: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Statistics `[set, test]`, a few sets at a time, and their means `[test]`."""
    means = np.array(world.means)
    for start in range(0, sets, TOGETHER):
        shape = min(TOGETHER, sets - start), len(means)
        if world.errors is None:
            shared = rng.standard_normal((shape[0], 1)) * np.sqrt(world.correlation)
            yield means + shared + rng.standard_normal(shape) * np.sqrt(1.0 - world.correlation), means
        else:
            a, b = np.array(list(combinations(range(len(means)), 2))).T
            errors, own = np.array(world.errors), rng.standard_normal(shape)
            of_pairs, apart = np.hypot(errors[a], errors[b]), means[a] - means[b]
            yield (own[:, a] * errors[a] - own[:, b] * errors[b] + apart) / of_pairs, apart / of_pairs


def largest_accepted(p_values: np.ndarray) -> np.ndarray:
    """How many of the largest p-values of each set `[set, test]` Simes' test accepts together, size by size."""
    ordered, found = np.sort(p_values, axis=1), np.zeros(len(p_values), int)
    for size in range(1, p_values.shape[1] + 1):
        found += (size * ordered[:, -size:] >= np.arange(1, size + 1) * ALPHA).all(axis=1)
    return found


def bounds(p_values: np.ndarray, chosen: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """The bound `[set]` for the tests that are chosen in each."""
    own, found = np.where(chosen, p_values, 1e9) * accepted[:, None], np.zeros(len(p_values), int)
    for step in range(1, p_values.shape[1] + 1):
        found = np.maximum(found, 1 - step + (own < step * ALPHA).sum(axis=1))
    return np.where(accepted == 0, chosen.sum(axis=1), found)


if __name__ == "__main__":
    main()
