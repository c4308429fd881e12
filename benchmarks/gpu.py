"""Time sigjax on a GPU, after its counts have been found equal to those of the CPU.

    python benchmarks/gpu.py [--quick] [--output FILE.json] [--device gpu|cpu]

Each case is timed with 10^6 and 10^7 resamples. `--device cpu --quick` only shows that it works. Without a GPU the JSON
says so. Exits with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import leaderboard150
import mt
from baselines import TESTS
from checks import require_equal_counts
from timing import Row, machine, options, rows_table, save, timed
from workloads import SYSTEMS, f1_workload, translations

import sigjax
from sigjax.records import Comparison

_CLOSE = 1e-9
"""Relative: standard errors and intervals are sums and order statistics of scores in float64."""


class Case(NamedTuple):
    """One experiment."""

    test: str
    data: str
    call: Callable[..., sigjax.Report]
    """(resamples, device) -> the report."""
    most: int
    """Resamples that make sense."""


class Sizes(NamedTuple):
    """Resamples and repeats."""

    checked: int
    resamples: tuple[int, ...]
    repeats: int


FULL = Sizes(checked=20_000, resamples=(10**6, 10**7), repeats=3)
QUICK = Sizes(checked=500, resamples=(1000, 2000), repeats=1)


def cases(*, quick: bool) -> list[Case]:
    """One pair, 25 systems, 12 translation systems by two metrics, and the leaderboard of 150 systems."""
    found = []
    for systems in (2, SYSTEMS):
        workload = f1_workload(systems)
        found += [Case(test, workload.name, partial(ours, workload.evaluation), 10**7) for test, ours in TESTS.items()]
    evaluations = [each.evaluation for each in translations().values()]
    found += [Case(test, mt.DATA, partial(ours, evaluations), 10**7) for test, ours in TESTS.items()]
    sizes = leaderboard150.QUICK if quick else leaderboard150.FULL
    board, pairs = leaderboard150.evaluation_of(sizes), sizes.systems * (sizes.systems - 1) // 2
    return [*found, Case("bootstrap", f"{pairs:,} pairs, BLEU", partial(leaderboard150.bootstrap, board), 10**6)]


def require_equal(first: sigjax.Report, second: sigjax.Report) -> None:
    """Equal counts, and equal spreads but for rounding.

    Raises:
        AssertionError: they differ.
    """
    require_equal_counts(first, second)
    for one, other in zip(first, second, strict=True):
        for mine, theirs in zip(_spread(one), _spread(other), strict=True):
            if not math.isclose(mine, theirs, rel_tol=_CLOSE, abs_tol=_CLOSE):
                raise AssertionError(f"{one.a} and {one.b}: {mine!r} and {theirs!r} on two devices")


def _spread(comparison: Comparison) -> list[float]:
    if comparison.standard_error is None or comparison.interval is None:
        return []
    return [comparison.standard_error, comparison.interval.low, comparison.interval.high]


def measure_case(case: Case, sizes: Sizes, device: str) -> list[Row]:
    """Check a case against the CPU (NumPy, where the CPU itself is timed), then time it."""
    reference = "cpu" if device == "gpu" else "numpy"
    require_equal(*(case.call(resamples=sizes.checked, device=each) for each in (device, reference)))
    rows = []
    for resamples in sizes.resamples:
        if resamples <= case.most:
            call = partial(case.call, resamples=resamples, device=device)
            cold, _ = timed(call)
            rows.append(Row(case.test, case.data, "first call", resamples, (cold,)))
            seconds = tuple(timed(call)[0] for _ in range(sizes.repeats))
            rows.append(Row(case.test, case.data, "later calls", resamples, seconds))
    return rows


def main() -> None:
    """Check and time."""
    chosen = options(__doc__, device="gpu")
    sizes, device = QUICK if chosen.quick else FULL, chosen.device
    try:
        jax.local_devices(backend=device)
    except RuntimeError:
        print(f"JAX has no {device} here: nothing was measured")
        on = {"device": f"no {device} was available", "date": datetime.date.today().isoformat()}
        save(chosen.output, on, [], command="python benchmarks/gpu.py --output benchmarks/results/gpu.json")
        return
    print(json.dumps(on := machine(device), indent=2))
    rows: list[Row] = []
    for case in cases(quick=chosen.quick):
        part = measure_case(case, sizes, device)
        print(f"\n{case.test}, counts equal to those of the CPU\n\n{rows_table(part)}", flush=True)
        rows += part
    save(chosen.output, on, rows, sizes=sizes._asdict())


if __name__ == "__main__":
    main()
