"""`sigjax items`: do adjusted p-values keep their level, are planted keys found, do intervals hold the reliability?

    python benchmarks/calibration/items.py [--quick] [--output FILE.json]

Boards of answers by chance, where any significant instance is a false one; boards by a Rasch model of slope 1.5 with
six wrong keys of 300; and boards of systems and instances drawn anew, whose reliability a large board tells. Nothing is
timed. Exits with 1 if boards by chance have a significant instance more often than 5%, beyond binomial error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from shared import Share, begin, cells_table, finish, require_at_most, share_of

from sigjax import Evaluation
from sigjax.studies import items
from sigjax.studies.item_analysis import Items

ALPHA, PLANTED, INSTANCES = 0.05, 6, 300
TRIALS, QUICK_TRIALS = 400, 20
_SEED = 2047
_LARGE = 2_000


def audit(values: np.ndarray, **options: Any) -> Items:
    """The audit of right and wrong answers `[system, instance]`."""
    data = Evaluation.from_arrays({f"s{k}": own for k, own in enumerate(values)}, metric="accuracy")
    return items(data, progress=False, **options)


def rasch(rng: np.random.Generator, systems: int, number: int, slope: float, spread: float = 1.0) -> np.ndarray:
    """Answers of systems with normal abilities to instances with normal difficulties."""
    ability, difficulty = spread * rng.normal(size=(systems, 1)), rng.normal(size=number)
    return (rng.random((systems, number)) < 1.0 / (1.0 + np.exp(slope * (difficulty - ability)))).astype(int)


def by_chance(systems: int, number: int, boards: int) -> list[Share]:
    """How many boards of coins have a significant instance, by correction."""
    wrong = dict.fromkeys(("bh", "holm"), 0)
    for board in range(boards):
        rng = np.random.default_rng((_SEED, systems, board))
        values = (rng.random((systems, number)) < rng.uniform(0.2, 0.8, number)).astype(int)
        for correction in wrong:
            wrong[correction] += bool(audit(values, correction=correction, resamples=2_000).mis_keyed)
    world = f"coins, {systems} systems x {number}"
    return [share_of(world, systems, "any is significant", each, count, boards) for each, count in wrong.items()]


def with_planted(systems: int, boards: int) -> list[Share]:
    """The share of planted keys among the first suspects, and among the significant ones; false ones among these."""
    first, found, false = 0, 0, 0
    for board in range(boards):
        rng = np.random.default_rng((_SEED, 1, systems, board))
        values = rasch(rng, systems, INSTANCES, 1.5)
        values[:, :PLANTED] ^= 1
        result, wrong = audit(values, resamples=20_000), {f"number {i + 1}" for i in range(PLANTED)}
        first += len({one.id for one in result.suspects[:PLANTED]} & wrong)
        named = {one.id for one in result.mis_keyed}
        found, false = found + len(named & wrong), false + len(named - wrong)
    world, planted = f"wrong keys, {systems} systems x {INSTANCES}", PLANTED * boards
    counts = {"among the first six": (first, planted), "significant": (found, planted)}
    counts["false of the significant"] = (false, max(found + false, 1))
    return [Share(world, systems, what, "bh", of, n, n / of, None) for what, (n, of) in counts.items()]


def of_reliability(systems: int, number: int, spread: float, boards: int) -> Share:
    """How many intervals of the reliability miss."""
    large = rasch(np.random.default_rng((_SEED, 2)), _LARGE, _LARGE, 1.0, spread)
    means = large.mean(axis=1)
    rest = large - means[:, None] - large.mean(axis=0) + large.mean()
    error = float((rest**2).sum()) / (_LARGE - 1) ** 2
    between = float(means.var(ddof=1)) - error / _LARGE
    truth, missed = between / (between + error / number), 0
    for board in range(boards):
        values = rasch(np.random.default_rng((_SEED, 3, systems, board)), systems, number, 1.0, spread)
        interval = audit(values, resamples=99).interval
        missed += interval is not None and not interval.low <= truth <= interval.high
    world = f"reliability {truth:.2f}, {systems} systems x {number}"
    return share_of(world, systems, "interval misses", "Feldt", missed, boards)


def main() -> None:
    """Simulate, print, and save."""
    chosen = begin(__doc__)
    boards = QUICK_TRIALS if chosen.quick else TRIALS
    level = [each for size in ((8, 30), (12, 100), (30, 100)) for each in by_chance(*size, boards)]
    planted = [each for systems in (15, 25, 50, 100) for each in with_planted(systems, max(boards // 10, 5))]
    sizes = ((8, 50, 0.3), (8, 50, 1.0), (20, 50, 0.3), (20, 300, 1.0), (50, 100, 0.3))
    found = [*level, *planted, *(of_reliability(*size, boards) for size in sizes)]
    print(cells_table({(each.world, each.what, each.by): f"{100.0 * each.share:.1f}%" for each in found}))
    finish(chosen, alpha=ALPHA, instances=INSTANCES, shares=[each._asdict() for each in found])
    require_at_most(ALPHA, level)


if __name__ == "__main__":
    main()
