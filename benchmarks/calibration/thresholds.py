"""Do the intervals of thresholds (`sigjax research gains`) hold the threshold of infinitely many systems?

    python benchmarks/calibration/thresholds.py [--quick] [--output FILE.json]

Systems are drawn at random: scores are normal, and the variances of deltas differ from system to system. One-sided p
follows from gain and standard error, without resampling. The truth is the threshold of thousands of systems. Nothing is
timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr
from shared import begin, finish, markdown_table

from sigjax.records.comparison import Column
from sigjax.studies.thresholds import PairColumns, PairsOptions, make_threshold, system_draws, weighted_quantiles

WORLDS = {"scores 1.2, variances 0.3": (1.2, 0.3), "1.2, 0.8": (1.2, 0.8), "4, 0.3": (4.0, 0.3), "4, 0.8": (4.0, 0.8)}
"""Standard deviations of scores (a standard error of delta is about 1), and of the logarithms of variances."""
SYSTEMS, TRUTH, TRIALS, DRAWS = (12, 25, 50, 100, 150), 4_000, 300, 400
OPTIONS = PairsOptions()
Points = tuple[np.ndarray, np.ndarray]
"""Members and gains of pairs, see `make_threshold`."""
P_RANGE = (0.04, 0.06)


def main() -> None:
    """Print and save the table."""
    chosen = begin(__doc__)
    found = [row for world in WORLDS for row in rows(world, quick=chosen.quick)]
    header = ["world", "systems", "gains", "pairs", "held", "open above", "pairs as independent"]
    print(markdown_table(header, [[str(row[name]) for name in header] for row in found]))
    finish(chosen, thresholds=found)


def rows(world: str, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Coverage for each number of systems, by both ways to make a threshold."""
    rng = np.random.default_rng(list(WORLDS).index(world))
    everything = systems(rng, TRUTH // 10 if quick else TRUTH, *WORLDS[world])
    truths = {by: quantile(points(everything, by)) for by in ("range", "normal")}
    for count in SYSTEMS[:2] if quick else SYSTEMS:
        trials = 10 if quick else TRIALS
        counts = {by: Counter[str]() for by in truths}
        for trial in range(trials):
            data = systems(rng, count, *WORLDS[world])
            for by, truth in truths.items():
                counts[by].update(outcome(points(data, by), truth, trial, count, rng))
        for by, each in counts.items():
            shares = {
                name: f"{100 * each[name] / trials:.0f}%" for name in ("held", "open above", "pairs as independent")
            }
            yield {"world": world, "systems": count, "gains": by, "pairs": round(each["pairs"] / trials)} | shares


def systems(rng: np.random.Generator, count: int, spread: float, uneven: float) -> PairColumns:
    """All pairs of some systems."""
    scores, variances = rng.normal(0.0, spread, count), np.exp(uneven * rng.normal(size=count))
    a, b = np.triu_indices(count, 1)
    gains = np.abs(scores[a] - scores[b])
    p_values = ndtr(-gains / np.sqrt((variances[a] + variances[b]) / 2.0))
    exceed = Column.of([None] * len(a), int)
    return PairColumns("score", "bootstrap", np.stack([a, b], axis=1), gains, p_values, [], exceed)


def points(data: PairColumns, by: Any) -> Points:
    """The gains that a threshold is made of."""
    return data.gains_near(by, P_RANGE, "one-sided", np.ones(len(data.gains), bool))


def quantile(some: Points) -> float:
    """The threshold."""
    return float(weighted_quantiles(some[1], np.ones((1, len(some[1])), int), OPTIONS.quantile)[0])


def outcome(some: Points, truth: float, trial: int, count: int, rng: np.random.Generator) -> dict[str, int]:
    """What holds for one data set."""
    number = len(some[1])
    one, _ = make_threshold("all", *some, system_draws(trial, count, DRAWS), 0, OPTIONS)
    held = (one.low is None or one.low <= truth) and (one.high is None or truth <= one.high)
    naive = False
    if number:
        drawn = rng.multinomial(number, np.full(number, 1.0 / number), DRAWS)
        low, high = np.quantile(weighted_quantiles(some[1], drawn, OPTIONS.quantile), [0.025, 0.975])
        naive = bool(low <= truth <= high)
    return {"held": held, "open above": one.high is None, "pairs as independent": naive, "pairs": number}


if __name__ == "__main__":
    main()
