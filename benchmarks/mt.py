"""Time all 66 pairs of 12 translation systems by BLEU and chrF against sacrebleu's paired tests, after equal answers.

    python benchmarks/mt.py [--quick] [--output FILE.json] [--device cpu|gpu]

The data are wmt23_ende where the environment variable SIGJAX_DATA names the folder that holds it, else synthetic counts
of the same shape. Exits with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from baselines import TESTS, Pair, numpy_bootstrap, numpy_swap, sacrebleu_test
from checks import Check, bootstrap_checks, check_records, p_check, require, require_equal_counts, swap_checks
from timing import Row, machine, options, print_verdicts, rows_table, save, time_in_turn, timed, verdict
from workloads import TRANSLATORS, Workload, translations

import sigjax
from sigjax.records import Comparison, Device

PAIRS = TRANSLATORS * (TRANSLATORS - 1) // 2
DATA = f"{PAIRS} pairs, BLEU and chrF"
AIMS = {"swap": 3000.0, "bootstrap": 5000.0}
KINDS: dict[str, Literal["ar", "bs"]] = {"swap": "ar", "bootstrap": "bs"}
_CUT = 11
"""Segments whose 2^11 swaps are enumerated."""
_ROUNDING = 1e-9
"""Of scores up to 100."""


class Sizes(NamedTuple):
    """Resamples and repeats."""

    jax: int
    numpy: int
    """Of sigjax on NumPy, and of NumPy by hand."""
    sacrebleu: int
    repeats: int


FULL = Sizes(jax=10**6, numpy=2 * 10**4, sacrebleu=300, repeats=3)
QUICK = Sizes(jax=5000, numpy=10**3, sacrebleu=40, repeats=1)


class Found(NamedTuple):
    """What is found of a test."""

    rows: list[Row]
    """The last is sacrebleu's."""
    checks: list[Check]
    unit: float
    """Seconds of sigjax for a resample of all pairs."""


def small_cuts(workloads: Mapping[str, Workload]) -> list[Check]:
    """p-values of 11 segments against all their swaps, scored by sacrebleu: exact ones to 1e-9, and Monte Carlo ones.

    Raises:
        AssertionError: an exact p-value differs.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    scores = {"bleu": BLEU(), "chrf": CHRF()}
    checks = []
    for name, workload in workloads.items():
        whole = workload.evaluation
        segments = {system: stats[:_CUT] for system, stats in zip(whole.systems[:3], whole.stats, strict=False)}
        cut = sigjax.Evaluation.from_arrays(segments, metric=name)
        exact = sigjax.compare(cut, method="exact", interval="none")
        sampled = sigjax.compare(cut, method="montecarlo", interval="none")
        for one, other in zip(exact, sampled, strict=True):
            found = _enumerated(scores[name], segments[one.a], segments[one.b])
            if not np.isclose(one.p_value, found, rtol=1e-9):
                raise AssertionError(f"{name}, {one.a} and {one.b}: exact p {one.p_value!r}, enumerated {found!r}")
            checks.append(
                p_check(f"{name}, {_CUT} segments, enumerated and sampled", found, other, other.resamples or 1)
            )
    return checks


def _enumerated(metric: Any, a: np.ndarray, b: np.ndarray) -> float:
    """The share of all swaps of `[segment, stat]` that are at least as extreme."""

    def distance(swapped: np.ndarray) -> float:
        sums = [np.where(swapped[:, None], *each).sum(axis=0).tolist() for each in ((b, a), (a, b))]
        score_a, score_b = (metric._compute_score_from_stats(each).score for each in sums)
        return abs(score_a - score_b)

    distances = np.array([distance(np.array(swapped)) for swapped in product([False, True], repeat=len(a))])
    return float(np.mean(distances >= distances[0] - _ROUNDING))


def by_hand(test: str, workload: Workload, report: sigjax.Report, resamples: int) -> list[Check]:
    """The three closest pairs against NumPy by hand, with scores written in another way."""
    evaluation = workload.evaluation
    metric, stats = evaluation.metric.name, dict(zip(evaluation.systems, evaluation.stats, strict=True))
    closest = sorted((each for each in report if each.metric == metric), key=lambda each: abs(each.delta))[:3]
    checks = []
    for ours in closest:
        pair = Pair(stats[ours.a], stats[ours.b], workload.pair.score)
        what = f"{test}, {metric}, {ours.a} and {ours.b}, NumPy by hand"
        if test == "swap":
            checks += swap_checks(what, workload, ours, numpy_swap(pair, resamples=resamples), resamples)
        else:
            checks += bootstrap_checks(what, workload, ours, numpy_bootstrap(pair, resamples=resamples), resamples)
    return checks


def by_sacrebleu(workloads: Mapping[str, Workload], report: sigjax.Report, resamples: int) -> list[Check]:
    """Swap p-values of the first system and each other one against sacrebleu's.

    Its bootstrap test has another convention: there is nothing to compare.
    """
    counts = {name: each.evaluation.stats for name, each in workloads.items()}
    theirs = sacrebleu_test(counts, "ar", resamples=resamples).p_values()
    first = workloads["bleu"].evaluation.systems[0]
    checks = []
    for metric, p_values in theirs.items():
        ours: list[Comparison] = [each for each in report if each.metric == metric and each.a == first]
        for comparison, p_value in zip(ours, p_values, strict=True):
            what = f"swap, {metric}, {comparison.a} and {comparison.b}, sacrebleu"
            checks.append(p_check(what, p_value, comparison, resamples))
    return checks


def measure_test(test: str, workloads: Mapping[str, Workload], sizes: Sizes, device: Device) -> Found:
    """Check the answers of a test, then time it."""
    evaluations = [each.evaluation for each in workloads.values()]
    ours, on_device = partial(TESTS[test], evaluations), f"sigjax, JAX on {device}"
    cold, report = timed(partial(ours, resamples=sizes.jax, device=device))
    require_equal_counts(ours(resamples=sizes.numpy, device=device), ours(resamples=sizes.numpy, device="numpy"))
    checks = [check for each in workloads.values() for check in by_hand(test, each, report, sizes.numpy)]
    if test == "swap":
        checks += by_sacrebleu(workloads, report, sizes.sacrebleu)
    require(checks)
    counts = {name: each.evaluation.stats for name, each in workloads.items()}
    theirs = sacrebleu_test(counts, KINDS[test], resamples=sizes.sacrebleu)
    first = workloads["bleu"].evaluation.systems[0]
    few = partial(ours, resamples=sizes.jax, device=device, baseline=first)
    few()  # compiles
    calls: dict[str, tuple[int, Callable[[], object]]] = {
        f"{on_device}, 11 pairs": (sizes.jax, few),
        on_device: (sizes.jax, partial(ours, resamples=sizes.jax, device=device)),
        "sigjax, NumPy": (sizes.numpy, partial(ours, resamples=sizes.numpy, device="numpy")),
        f"sacrebleu --paired-{KINDS[test]}, 11 pairs x 6 (scaled)": (sizes.sacrebleu, theirs.p_values),
    }
    seconds = time_in_turn({name: call for name, (_, call) in calls.items()}, repeats=sizes.repeats)
    rows = {name: Row(test, DATA, name, count, seconds[name]) for name, (count, _) in calls.items()}
    _, of_all, *_, scaled = rows.values()
    rows[scaled.method] = replace(scaled, scale=PAIRS // theirs.num_pairs)
    first_call = Row(test, DATA, f"{on_device}, first call", sizes.jax, (cold,))
    return Found([first_call, *rows.values()], checks, of_all.unit)


def main() -> None:
    """Check and time."""
    chosen = options(__doc__)
    sizes, device = QUICK if chosen.quick else FULL, chosen.device
    print(json.dumps(on := machine(device), indent=2))
    extraction, workloads = timed(translations)
    print(f"\n{', '.join(each.name for each in workloads.values())}; {extraction:.3g} s to make them are not counted")
    require(checks := small_cuts(workloads))
    found = {test: measure_test(test, workloads, sizes, device) for test in TESTS}
    rows = [row for each in found.values() for row in each.rows]
    checks += [check for each in found.values() for check in each.checks]
    for each in found.values():
        print(f"\n{each.rows[0].task}\n\n{rows_table(each.rows)}", flush=True)
    print(
        f"\n{len(checks)} answers agree, the farthest {max(each.distance for each in checks):.1f} standard errors apart"
    )
    aims = [
        verdict(
            f"{test}: times faster per pair and resample than sacrebleu --paired-{KINDS[test]}",
            each.rows[-1].unit / each.unit,
            at_least=AIMS[test],
        )
        for test, each in found.items()
    ]
    more = {"sizes": sizes._asdict(), "data": [each.name for each in workloads.values()], "extraction": extraction}
    more |= {"checks": check_records(checks), "targets": aims}
    save(chosen.output, on, rows, **more)
    print_verdicts(aims)


if __name__ == "__main__":
    main()
