"""Does the best group hold every truly best system by F1, where systems balance precision and recall differently?

    python benchmarks/calibration/balances.py [--quick] [--output FILE.json]

Five systems of the same true F1, 4/6.1 = 0.656, on units of four gold items: three find all items of a unit or none
(recall 50%) with 0.1 false alarms, two find each item with 90% and have as many false alarms as that costs. Beside them
five that are all of the second kind, and so exchangeable. By the permutation test of delta and of the studentized
delta, Holm over ten pairs, by `sigjax.compare`. Nothing is timed. Exits with 1 where a best system is missing in more
than 5%, beyond binomial error, though systems are exchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from shared import Share, begin, cells_table, finish, require_at_most, share_of

import sigjax
from sigjax.records.settings import Statistic

UNITS, RESAMPLES = (50, 200, 1000), 999
BOARDS, QUICK_BOARDS = 1000, 10
ITEMS, RECALL, FALSE_ALARMS = 4, 0.9, 0.1
F1 = ITEMS / (1.5 * ITEMS + FALSE_ALARMS)
WORLDS = {"F1, two balances": 3, "F1, one balance": 0}
"""How many of the five systems find whole units or nothing."""
STATISTICS: tuple[Statistic, ...] = ("delta", "studentized")
_SEED = 2046


def main() -> None:
    """Measure, print and check."""
    chosen = begin(__doc__)
    boards = QUICK_BOARDS if chosen.quick else BOARDS
    found = [miss for name in WORLDS for units in UNITS for miss in measured(name, units, boards)]
    table = cells_table({(e.world, f"{e.what}, {e.by}", e.units): f"{100.0 * e.share:.1f}" for e in found})
    print(f"\na best system is missing, %, for n = {' / '.join(map(str, UNITS))} units\n\n{table}")
    finish(chosen, resamples=RESAMPLES, misses=[each._asdict() for each in found])
    valid = [each for each in found if not WORLDS[each.world]]
    require_at_most(0.05, valid)


def measured(name: str, units: int, boards: int) -> Iterator[Share]:
    """How often the group "best" lacks a system: all are equally good."""
    missing = dict.fromkeys(STATISTICS, 0)
    for board in range(boards):
        counts = draw(np.random.default_rng((_SEED, list(WORLDS).index(name), units, board)), units, WORLDS[name])
        evaluation = sigjax.Evaluation.from_arrays(counts, metric="fscore")
        for statistic in STATISTICS:
            settings = {"statistic": statistic, "interval": "none", "method": "montecarlo", "resamples": RESAMPLES}
            report = sigjax.compare(evaluation, seed=board, device="numpy", progress=False, **settings)
            missing[statistic] += not all(one.in_top_group for one in report.systems)
    for statistic, number in missing.items():
        yield share_of(name, units, "best group", statistic, number, boards)


def draw(rng: np.random.Generator, units: int, whole: int) -> dict[str, np.ndarray]:
    """Counts `[unit, (tp, predicted, gold)]` of five systems, of which the first ones find whole units or nothing."""
    alarms = 2.0 * RECALL * ITEMS / F1 - ITEMS - RECALL * ITEMS
    counts = {}
    for system in range(5):
        if system < whole:
            tp, false = ITEMS * rng.integers(0, 2, units), rng.poisson(FALSE_ALARMS, units)
        else:
            tp, false = rng.binomial(ITEMS, RECALL, units), rng.poisson(alarms, units)
        counts[f"s{system}"] = np.stack([tp, tp + false, np.full(units, ITEMS)], axis=1)
    return counts


if __name__ == "__main__":
    main()
