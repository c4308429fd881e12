"""Importance sampling of swaps: p against exact p, p between seeds, and seconds for each pair.

    python benchmarks/tilted.py [--quick] [--output FILE.json]

Accuracy and F1 have exact p-values, and are sampled here as if they had none. BLEU and chrF of all pairs of 12
translation systems are those of wmt23_ende, where `SIGJAX_DATA` names its parent, and else synthetic. Seconds are those
of one thread, by the clock of the process. Exits with 1 where p is further from the exact one than four of its standard
errors in more than 2 of 100 cases; never because of a time.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np
from timing import machine, markdown_table, options, print_verdicts, save, verdict
from workloads import translations

import sigjax
from sigjax.records import Settings
from sigjax.testing.problem import SumsProblem
from sigjax.testing.tests import problem_of
from sigjax.testing.tilted import TiltedSwaps, draw_uniforms

VECTORS, NUMBERS, FEWEST = 512, 2**21, 128
"""Vectors of a pair as in reports, where the budget allows it."""


def problem_of_all(evaluation: sigjax.Evaluation) -> SumsProblem:
    """The permutation tests of all its pairs."""
    found = problem_of(evaluation, Settings())
    assert isinstance(found, SumsProblem)
    return found


def p_values(problem: SumsProblem, pair: tuple[int, int], seeds: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Logarithms of p `[seed]`, their standard errors, and processor seconds of one."""
    num_units, found, seconds = problem.units.values.shape[1], [], 0.0
    for seed in range(seeds):
        uniforms = draw_uniforms(seed, min(VECTORS, max(NUMBERS // num_units, FEWEST)), num_units)
        start = time.process_time()
        found.append(TiltedSwaps(problem, pair).p(*uniforms, problem.swap_tolerance(pair)))
        seconds += time.process_time() - start
    log_p, errors = np.array(found).T
    return log_p, errors, seconds / seeds


def answers(metric: str, units: int, better: float) -> sigjax.Evaluation:
    """Two systems, the first one better: answers right or wrong, or counts of F1."""
    rng = np.random.default_rng(units)
    if metric == "accuracy":
        return sigjax.Evaluation.from_arrays(
            {name: rng.random(units) < rate for name, rate in (("A", 0.5 + better), ("B", 0.5))}, metric="accuracy"
        )
    gold = rng.integers(1, 8, units)
    systems = {}
    for name, recall in (("A", 0.6 + better), ("B", 0.6)):
        right = rng.binomial(gold, recall)
        systems[name] = np.stack([right, right + rng.poisson(1.5 * (1.0 - recall), units), gold], axis=1)
    return sigjax.Evaluation.from_arrays(systems, metric="fscore")


def against_exact(seeds: int, sizes: tuple[int, ...]) -> list[dict[str, float | str]]:
    """How far p is from the exact p, relative to it."""
    lines = []
    for metric in ("accuracy", "fscore"):
        for units in sizes:
            for better in (0.1, 0.2, 0.35) if units < 5000 else (0.1, 0.2):
                data = answers(metric, units, better)
                (exact,) = sigjax.compare(data, interval="none", progress=False)
                log_p, errors, seconds = p_values(problem_of_all(data), (0, 1), seeds)
                ratios = np.exp(log_p - exact.log10_p * math.log(10.0))
                within = np.abs(log_p - exact.log10_p * math.log(10.0)) <= 4.0 * errors
                lines.append(
                    {"metric": metric, "units": units, "log10 p": exact.log10_p, "off (rms)": rms(ratios - 1.0)}
                    | {"worst": float(np.abs(ratios - 1.0).max()), "said": float(errors.mean()), "seconds": seconds}
                    | {"cases": len(ratios), "within": int(within.sum())}
                )
    return lines


def of_translations(seeds: int) -> list[dict[str, float | str]]:
    """BLEU and chrF: pairs that 100,000 resamples leave at the floor."""
    lines = []
    for name, workload in translations().items():
        problem = problem_of_all(workload.evaluation)
        plain = sigjax.compare(workload.evaluation, method="montecarlo", interval="none", progress=False)
        at_floor = [pair for pair, one in zip(problem.hypotheses.pairs, plain, strict=True) if one.exceed == 0]
        found = [p_values(problem, pair, seeds) for pair in at_floor]
        spread = np.array([log_p.std(ddof=1) for log_p, _, _ in found])
        said = np.array([errors.mean() for _, errors, _ in found])
        least = np.array([log_p.mean() for log_p, _, _ in found]) / math.log(10.0)
        seconds = np.array([each for _, _, each in found])
        lines.append(
            {"metric": workload.name, "pairs": len(plain), "at the floor": len(at_floor), "log10 p": float(least.min())}
            | {"median log10 p": float(np.median(least)), "between seeds (rms)": rms(spread)}
            | {"largest": float(spread.max()), "said": rms(said), "seconds": float(seconds.mean())}
            | {"most seconds": float(seconds.max()), "metric id": name}
        )
    return lines


def rms(values: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(values**2)))


def table(lines: list[dict[str, float | str]], names: tuple[str, ...]) -> str:
    """The lines as a table."""
    shown = [
        [f"{line[name]:.3g}" if isinstance(line[name], float) else str(line[name]) for name in names] for line in lines
    ]
    return markdown_table(names, shown)


def main() -> None:
    """Run, print, and save."""
    given = options(__doc__)
    sizes, seeds = ((200, 557), 3) if given.quick else ((200, 557, 2000, 10_000), 20)
    exact, translated = against_exact(seeds, sizes), of_translations(2 if given.quick else 10)
    print(table(exact, ("metric", "units", "log10 p", "off (rms)", "worst", "said", "seconds")))
    names = ("metric", "pairs", "at the floor", "log10 p", "median log10 p", "between seeds (rms)", "largest", "said")
    print(table(translated, (*names, "seconds", "most seconds")))
    everything = sum(int(line["cases"]) for line in exact)
    missed = everything - sum(int(line["within"]) for line in exact)
    smooth = [line for line in (*exact, *translated) if not str(line.get("metric id", "")).startswith("bleu")]
    errors = [float(line.get("off (rms)", line.get("between seeds (rms)", 0.0))) for line in smooth]
    verdicts = [
        verdict("relative error of p, smooth scores, the worst case", max(errors), at_most=0.05),
        verdict("seconds for a pair of 557 segments, chrF", float(translated[-1]["seconds"]), at_most=0.1),
    ]
    print_verdicts(verdicts)
    save(given.output, machine("cpu"), [], exact=exact, translations=translated, missed=missed, verdicts=verdicts)
    sys.exit(int(missed > 0.02 * everything))


if __name__ == "__main__":
    main()
