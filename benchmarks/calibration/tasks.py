"""Runs within tasks that are fixed: do tests of the interquartile mean keep their level, do intervals hold the truth?

    python benchmarks/calibration/tasks.py [DATA_SETS]

Twenty tasks on scales that are lognormal, with normal runs whose standard deviation is a fifth of the mean. Two systems
are equally good. Exits with 1 where the permutation test rejects more often than 5% allows (0.1%, binomial).
"""

import sys
from time import perf_counter

import numpy as np
from scipy.stats import binom

import sigjax

TASKS, RESAMPLES = 20, 999


def rates(runs: int, data_sets: int) -> dict[str, float]:
    """Shares of data sets that are rejected, or missed by intervals."""
    rng = np.random.default_rng(10 * runs + 1)
    means = np.exp(rng.normal(size=(TASKS, 1)))
    task, run = np.repeat(np.arange(TASKS), runs).tolist(), np.tile(np.arange(runs), TASKS).tolist()

    def drawn() -> np.ndarray:
        return means * (1 + 0.2 * rng.normal(size=(TASKS, runs)))

    counts = dict.fromkeys(("permutation", "bootstrap", "interval of delta", "interval of means"), 0)
    for _ in range(data_sets):
        arrays = {name: drawn().ravel() for name in "AB"}
        options = {"resamples": RESAMPLES, "device": "numpy", "progress": False}
        for metric in ("iqm", "mean"):
            made = sigjax.Evaluation.from_arrays(arrays, metric=metric, ids=task, strata=task, runs=run)
            report = sigjax.compare(made, test=["permutation", "bootstrap"], **options)
            low, high = report[0].interval or (0.0, 0.0)
            if metric == "mean":
                counts["interval of means"] += not low <= 0.0 <= high
                continue
            for pair in report:
                counts[pair.test] += pair.p_value <= 0.05
            counts["interval of delta"] += not low <= 0.0 <= high
    return {name: number / data_sets for name, number in counts.items()}


def main() -> int:
    """Print all shares, in per cent."""
    data_sets, wrong = int(sys.argv[1]) if len(sys.argv) > 1 else 600, 0
    for runs in (3, 5, 10):
        found = rates(runs, data_sets)
        print(f"{runs} runs: " + ", ".join(f"{name} {100 * share:.1f}" for name, share in found.items()), flush=True)
        wrong += binom.sf(round(found["permutation"] * data_sets) - 1, data_sets, 0.05) < 0.001
    games, labels = np.repeat(np.arange(48), 5).tolist(), np.tile(np.arange(5), 48).tolist()
    scores = np.random.default_rng(0).lognormal(size=(4, 240))
    made = sigjax.Evaluation.from_arrays(
        dict(zip("ABCD", scores, strict=True)), metric="iqm", ids=games, strata=games, runs=labels
    )
    start = perf_counter()
    for _ in range(2):
        start = perf_counter()
        sigjax.compare(made, test="bootstrap", resamples=20_000, progress=False)
    print(f"20,000 resamples of 4 systems with 240 scores: {perf_counter() - start:.2f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
