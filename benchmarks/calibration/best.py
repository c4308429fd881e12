"""The goal "best" of a monitor: how often is a given best system dropped, and what share of the results is needed?

    python benchmarks/calibration/best.py [--quick] [--output FILE.json]

Boards of systems that are equally good, or of which one is ahead; right or wrong answers, reals, ties, clusters of
unequal sizes. The rule is followed for many boards at once, by code of its own. First, on 40 boards of each world, it
drops the same systems as `Monitor`, at the same times. Nothing is timed. Exits with 1 if a best system is dropped more
often than 5%, beyond binomial error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from shared import Share, begin, cells_table, finish, require_at_most, share_of

from sigjax import Monitor
from sigjax.studies.eprocess import sides

ALPHA, UNITS, CHUNK = 0.05, 200, 200
TRIALS, QUICK_TRIALS = 20_000, 400
_SEED = 2046
EFFECTS = 4.0 * 2.0 ** (np.arange(math.ceil(math.log2(UNITS) / 2) + 1) - math.log2(UNITS) / 2)

World = Callable[[np.random.Generator, int], np.ndarray]
"""Scores `[board, system, unit]` of so many boards; the first system is a best one."""


def answers(rng: np.random.Generator, boards: int, chances: tuple[float, ...]) -> np.ndarray:
    """Right or wrong, more often right on easy units."""
    hard = rng.normal(0.0, 0.2, (boards, 1, UNITS))
    return (rng.random((boards, len(chances), UNITS)) < np.array(chances)[:, None] + hard).astype(float)


def reals(rng: np.random.Generator, boards: int, means: tuple[float, ...], *, sizes: bool = False) -> np.ndarray:
    """Normal scores; or sums over clusters of 1 to 20 instances."""
    number = rng.integers(1, 21, (boards, 1, UNITS)) if sizes else np.ones((boards, 1, UNITS))
    noise = rng.standard_normal((boards, len(means), UNITS)) + rng.standard_normal((boards, 1, UNITS))
    return np.array(means)[:, None] * number + noise * np.sqrt(number)


WORLDS: dict[str, tuple[World, bool]] = {
    "answers, 10 equal": (lambda rng, boards: answers(rng, boards, (0.6,) * 10), True),
    "answers, 2 equal": (lambda rng, boards: answers(rng, boards, (0.6,) * 2), True),
    "answers, 2 best of 10": (lambda rng, boards: answers(rng, boards, (0.7, 0.7, *(0.5,) * 8)), True),
    "answers, best of 10": (lambda rng, boards: answers(rng, boards, (0.65, *(0.6,) * 9)), True),
    "reals, 10 equal": (lambda rng, boards: reals(rng, boards, (0.0,) * 10), False),
    "reals, best of 10": (lambda rng, boards: reals(rng, boards, (0.1, *(0.0,) * 9)), False),
    "clusters, 10 equal": (lambda rng, boards: reals(rng, boards, (0.0,) * 10, sizes=True), False),
    "ratings with ties, 10 equal": (lambda rng, boards: np.clip(reals(rng, boards, (0.0,) * 10).round(), -1, 1), False),
}


def drops(scores: np.ndarray, *, binary: bool) -> np.ndarray:
    """The unit after which each system is dropped `[board, system]`, 0 for those that are left.

    E itself, not its logarithm: the largest exponents are far below those that overflow.
    """
    boards, number, _ = scores.shape
    members = np.array([*combinations(range(number), 2)])
    a, b = members.T
    of_rivals = [(column[:, None] == np.arange(number)) / (number - 1.0) for column in (b, a)]
    dropped, evidence = np.zeros((boards, number), int), np.ones((2, boards, len(members)))
    differ, square, scaled = np.zeros((3, boards, len(members)))
    spread, weights = np.zeros((len(EFFECTS), boards, len(members))), EFFECTS**-0.5 / (EFFECTS**-0.5).sum()
    for t in range(UNITS):
        left = dropped == 0
        open_ = left[:, a] & left[:, b] & (left.sum(axis=1) > 1)[:, None]
        differences = np.where(open_, scores[:, a, t] - scores[:, b, t], 0.0)
        differ += differences != 0.0
        if binary:
            scaled += differences
            both = TABLE[:, differ.astype(int), scaled.astype(int) + UNITS]
        else:
            square += differences**2
            each = differences / np.sqrt(np.where(square > 0.0, square / np.maximum(differ, 1.0), 1.0))
            scaled += each
            both = np.zeros_like(evidence)
            for effect, weight, own in zip(EFFECTS, weights, spread, strict=True):
                size = np.abs(effect * each)
                own += size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)
                both[0] += weight * np.exp(effect * scaled - own)
                both[1] += weight * np.exp(-effect * scaled - own)
        evidence = np.where(open_, both, evidence)
        against = np.where(left, evidence[0] @ of_rivals[0] + evidence[1] @ of_rivals[1], 0.0)
        over = (against >= 1.0 / ALPHA) & (left.sum(axis=1) > 1)[:, None]
        if over.any():  # if all that are left are over, the one with the least evidence stays
            lowest = against.min(axis=1, where=left, initial=np.inf)[:, None]
            over &= (against > lowest) | (~over & left).any(axis=1)[:, None]
            dropped[over] = t + 1
    return dropped


def _table() -> np.ndarray:
    """E of both sides for right or wrong answers `[side, answers that differ, wins minus losses + UNITS]`.

    All differences have one size, so sums over units follow from their numbers.
    """
    differ, scaled = np.meshgrid(np.arange(UNITS + 1.0), np.arange(-UNITS, UNITS + 1.0), indexing="ij")
    scaled = np.clip(scaled, -differ, differ).ravel()  # others cannot occur
    log_cosh = EFFECTS + np.log1p(np.exp(-2.0 * EFFECTS)) - math.log(2.0)
    log_e = sides(differ.ravel(), scaled, log_cosh[:, None] * differ.ravel(), EFFECTS, binary=True)
    return np.exp(np.minimum(log_e, 700.0)).reshape(2, *differ.shape)


TABLE = _table()


def check() -> None:
    """Refuse to go on where `Monitor` drops other systems, or at other times.

    Raises:
        AssertionError: it does.
    """
    for name, (world, binary) in WORLDS.items():
        scores = world(np.random.default_rng(_SEED), 40)
        for board, expected in zip(scores, drops(scores, binary=binary), strict=True):
            names = [str(k) for k in range(len(board))]
            monitor = Monitor(names, binary=binary, largest=UNITS, goal="best")
            monitor.update(board)
            found = {each.system: each.dropped_at or 0 for each in monitor.standings}
            if [found[each] for each in names] != expected.tolist():
                raise AssertionError(f"{name}: {found}, expected {expected}")


def of_world(name: str, boards: int) -> list[Share]:
    """How often the first system is dropped, and what share of the results is needed."""
    world, binary = WORLDS[name]
    first, needed, results = 0, 0, 0
    for chunk in range(boards // CHUNK):
        rng = np.random.default_rng((_SEED, list(WORLDS).index(name), chunk))
        dropped = drops(world(rng, CHUNK), binary=binary)
        first += int((dropped[:, 0] > 0).sum())
        alone = (dropped == 0).sum(axis=1) == 1
        until = np.where(dropped > 0, dropped, np.where(alone, dropped.max(axis=1), UNITS)[:, None])
        needed, results = needed + int(until.sum()), results + until.size * UNITS
    share = Share(name, UNITS, "results needed", "best", results, needed, needed / results, None)
    return [share_of(name, UNITS, "the best one is dropped", "best", first, boards), share]


def main() -> None:
    """Check, simulate, print, and save."""
    chosen = begin(__doc__)
    check()
    found = [each for name in WORLDS for each in of_world(name, QUICK_TRIALS if chosen.quick else TRIALS)]
    print(cells_table({(each.world, each.what, 0): f"{100.0 * each.share:.2f}%" for each in found}))
    finish(chosen, alpha=ALPHA, units=UNITS, shares=[each._asdict() for each in found])
    require_at_most(ALPHA, (each for each in found if each.interval))


if __name__ == "__main__":
    main()
