"""Time sigjax on a GPU, after its counts have been found equal to those of the CPU.

    python benchmarks/gpu.py [--quick] [--output FILE.json] [--device gpu|cpu]

Each case is timed with 10^6 and 10^7 resamples: wall time, the time in compiled programs, their calls, and the bytes
that they return. The JSON is written after every case. `--device cpu --quick` only shows that it works. Without a GPU
the JSON says so. Exits with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import jax
import leaderboard150
import mt
from baselines import TESTS
from checks import require_equal_counts
from timing import Row, machine, markdown_table, options, save, timed
from workloads import SYSTEMS, f1_workload, translations

import sigjax
from sigjax.records import Comparison
from sigjax.run import backend

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


class Programs(NamedTuple):
    """What one call did in compiled programs."""

    seconds: float
    """In which at least one program ran."""
    calls: int
    returned: int
    """Bytes of results."""


@contextmanager
def recorded() -> Iterator[list[tuple[float, float, int]]]:
    """Start, end and returned bytes of every call of a program; programs are waited for, one by one."""
    calls: list[tuple[float, float, int]] = []
    original = backend._compiled

    def watched(*given: Any) -> Callable[..., Any]:
        program = original(*given)

        def call(*arrays: Any) -> Any:
            start = perf_counter()
            outputs = jax.block_until_ready(program(*arrays))
            calls.append((start, perf_counter(), sum(each.nbytes for each in jax.tree.leaves(outputs))))
            return outputs

        return call

    backend._compiled = watched
    try:
        yield calls
    finally:
        backend._compiled = original


def in_programs(call: Callable[[], object]) -> Programs:
    """One more call, of which programs are recorded."""
    with recorded() as calls:
        call()
    seconds, end = 0.0, 0.0
    for start, stop, _ in sorted(calls):  # those of several threads overlap
        seconds, end = seconds + max(0.0, stop - max(start, end)), max(end, stop)
    return Programs(seconds, len(calls), sum(each for *_, each in calls))


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


def measure_case(case: Case, sizes: Sizes, device: str) -> tuple[list[Row], list[list[str]]]:
    """Check a case against the CPU (NumPy, where the CPU itself is timed), then time it; rows, and lines of a table."""
    reference = "cpu" if device == "gpu" else "numpy"
    require_equal(*(case.call(resamples=sizes.checked, device=each) for each in (device, reference)))
    rows, lines = list[Row](), list[list[str]]()
    for resamples in sizes.resamples:
        if resamples <= case.most:
            call = partial(case.call, resamples=resamples, device=device)
            cold, _ = timed(call)
            later = Row(
                case.test, case.data, "later calls", resamples, tuple(timed(call)[0] for _ in range(sizes.repeats))
            )
            rows += [Row(case.test, case.data, "first call", resamples, (cold,)), later]
            inside = in_programs(call)
            milliseconds = (f"{1000.0 * each:.3g}" for each in (cold, later.median, inside.seconds))
            lines.append([f"{resamples:,}", *milliseconds, f"{inside.calls:,}", f"{inside.returned / 1e6:.3g}"])
    return rows, lines


_HEADER = ("resamples", "first call, ms", "later, ms", "in programs, ms", "calls", "MB returned")


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
    rows, tables = list[Row](), dict[str, list[dict[str, str]]]()
    for case in cases(quick=chosen.quick):
        part, lines = measure_case(case, sizes, device)
        print(
            f"\n{case.test}, {case.data}: counts equal to those of the CPU\n\n{markdown_table(_HEADER, lines)}",
            flush=True,
        )
        rows += part
        tables[f"{case.test}, {case.data}"] = [dict(zip(_HEADER, line, strict=True)) for line in lines]
        save(chosen.output, on, rows, sizes=sizes._asdict(), programs=tables)


if __name__ == "__main__":
    main()
