"""Time swap and bootstrap against SciPy and against NumPy written by hand, in one run, after checking equal answers.

    python benchmarks/resampling.py [--quick] [--output FILE.json] [--device cpu|gpu]

Exits with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

from baselines import bootstrap, numpy_bootstrap, numpy_swap, scipy_bootstrap, scipy_swap, swap
from checks import (
    Check,
    bootstrap_checks,
    bootstrap_reference,
    check_records,
    require,
    require_equal_counts,
    swap_checks,
    swap_reference,
)
from commands import RESAMPLES, command_line
from timing import Row, machine, options, print_verdicts, rows_table, save, time_in_turn, timed, verdict
from workloads import INSTANCES, NUM_PAIRS, SYSTEMS, Workload, accuracy_workload, f1_workload

import sigjax
from sigjax.records import Device

SCIPY_BATCHES = (100, 300, 1000, 3000)
DISTINCT = 1000.0
"""Gold items an instance with which no rows of a pair are equal."""
AIMS = {
    ("swap", "NumPy by hand"): {"0/1 accuracy": 10.0, "F1": 10.0, "F1, distinct rows": 10.0},
    ("swap", "SciPy"): {"0/1 accuracy": 150.0, "F1": 150.0, "F1, distinct rows": 150.0},
    ("bootstrap", "NumPy by hand"): {"F1, distinct rows": 3.0},
    ("bootstrap", "SciPy"): {"0/1 accuracy": 15.0, "F1, distinct rows": 4.0},
}
"""Test and baseline -> data -> times faster per resample, at least."""


@dataclass(frozen=True)
class Sizes:
    """Resamples of each method (slow ones get fewer: the time grows in proportion) and repeats."""

    jax: int
    numpy: int
    """Of sigjax on NumPy and of NumPy by hand."""
    scipy: int
    all_pairs: int
    repeats: int
    command_repeats: int


FULL = Sizes(jax=10**6, numpy=10**5, scipy=10**4, all_pairs=10**5, repeats=7, command_repeats=15)
QUICK = Sizes(jax=10**4, numpy=2000, scipy=500, all_pairs=1000, repeats=1, command_repeats=1)


class Outcome(NamedTuple):
    """What a part of the benchmark gives."""

    rows: list[Row]
    checks: list[Check]


class Test(NamedTuple):
    """One test in three forms, and how their answers are compared."""

    name: str
    ours: Callable[..., sigjax.Report]
    by_hand: Callable[..., Any]
    scipy: Callable[..., Any]
    checks: Callable[..., list[Check]]
    reference: Callable[..., list[Check]]


SWAP = Test("swap", swap, numpy_swap, scipy_swap, swap_checks, swap_reference)
BOOTSTRAP = Test("bootstrap", bootstrap, numpy_bootstrap, scipy_bootstrap, bootstrap_checks, bootstrap_reference)


def one_pair(test: Test, workload: Workload, sizes: Sizes, device: Device) -> Outcome:
    """Time a test of one pair with all methods."""
    ours = partial(test.ours, workload.evaluation)
    cold, report = timed(partial(ours, resamples=sizes.jax, device=device))
    require_equal_counts(report, ours(resamples=sizes.jax, device="numpy"))
    (comparison,) = report
    scipy = partial(test.scipy, workload.pair, resamples=sizes.scipy)
    batch = _best_batch(scipy, sizes.scipy)
    others = {
        "NumPy by hand": (sizes.numpy, partial(test.by_hand, workload.pair, resamples=sizes.numpy)),
        f"SciPy, batch={batch}": (sizes.scipy, partial(scipy, batch=batch)),
    }
    checks = test.reference(workload, comparison)
    for name, (resamples, call) in others.items():
        checks += test.checks(f"{test.name}, {workload.name}, {name}", workload, comparison, call(), resamples)
    require(checks)
    calls = _ours_calls(ours, sizes.jax, sizes.numpy, device) | others
    rows = _timed_rows(test, workload, calls, sizes)
    return Outcome([Row(test.name, workload.name, _first(device), sizes.jax, (cold,)), *rows], checks)


def all_pairs(test: Test, workload: Workload, sizes: Sizes, device: Device) -> Outcome:
    """Time a test of all pairs; by hand, one pair is timed and multiplied."""
    ours = partial(test.ours, workload.evaluation)
    cold, report = timed(partial(ours, resamples=sizes.all_pairs, device=device))
    require_equal_counts(report, ours(resamples=sizes.all_pairs, device="numpy"))
    names = workload.evaluation.systems[:2]
    comparison = next(each for each in report if (each.a, each.b) == names)
    by_hand = partial(test.by_hand, workload.pair, resamples=sizes.numpy)
    what = f"{test.name}, {workload.name}, first pair, NumPy by hand"
    checks = test.checks(what, workload, comparison, by_hand(), sizes.numpy)
    require(checks)
    calls = _ours_calls(ours, sizes.all_pairs, sizes.all_pairs, device)
    calls[f"NumPy by hand, one pair x {NUM_PAIRS} (scaled)"] = (sizes.numpy, by_hand)
    *rows, last = _timed_rows(test, workload, calls, sizes)
    scaled = Row(last.task, last.data, last.method, last.resamples, last.seconds, scale=NUM_PAIRS)
    return Outcome([Row(test.name, workload.name, _first(device), sizes.all_pairs, (cold,)), *rows, scaled], checks)


def _ours_calls(
    ours: Callable[..., sigjax.Report], on_jax: int, on_numpy: int, device: Device
) -> dict[str, tuple[int, Callable[[], object]]]:
    """Name -> resamples and call."""
    return {
        f"sigjax, JAX on {device}": (on_jax, partial(ours, resamples=on_jax, device=device)),
        "sigjax, NumPy": (on_numpy, partial(ours, resamples=on_numpy, device="numpy")),
    }


def _first(device: Device) -> str:
    return f"sigjax, JAX on {device}, first call"


def _timed_rows(
    test: Test, workload: Workload, calls: dict[str, tuple[int, Callable[[], object]]], sizes: Sizes
) -> list[Row]:
    seconds = time_in_turn({name: call for name, (_, call) in calls.items()}, repeats=sizes.repeats)
    return [Row(test.name, workload.name, name, resamples, seconds[name]) for name, (resamples, _) in calls.items()]


def _best_batch(call: Callable[..., object], resamples: int) -> int:
    """The `batch` with which SciPy is fastest."""
    batches = [batch for batch in SCIPY_BATCHES if batch <= resamples]
    seconds = {batch: min(timed(partial(call, batch=batch))[0] for _ in range(2)) for batch in batches}
    return min(seconds, key=seconds.__getitem__)


def verdicts(rows: list[Row], device: Device) -> list[dict[str, Any]]:
    """The ratios that the project aims at, with yes or no."""
    units = {(row.task, row.data, row.method.partition(",")[0]): row.unit for row in rows if row.task != "command line"}
    ours = {(row.task, row.data): row.unit for row in rows if row.method == f"sigjax, JAX on {device}"}
    found = []
    for (test, baseline), aims in AIMS.items():
        for data, least in aims.items():
            ratio = units[test, data, baseline] / ours[test, data]
            found.append(verdict(f"{test}, {data}: times faster than {baseline}", ratio, at_least=least))
    commands = [row for row in rows if row.task == "command line"]
    for command, scipy in zip(commands[::2], commands[1::2], strict=True):
        what = f'command line, {command.data}: part of the time of python -c "import scipy.stats"'
        found.append(verdict(what, command.median / scipy.median, at_most=1.0))
    return found


def main() -> None:
    """Run all parts, print their tables, write the JSON."""
    chosen = options(__doc__)
    sizes, device = QUICK if chosen.quick else FULL, chosen.device
    print(json.dumps(on := machine(device), indent=2))
    pairs = [accuracy_workload(), f1_workload(), f1_workload(gold_items=DISTINCT)]
    parts = [partial(one_pair, test, pair, sizes, device) for test in (SWAP, BOOTSTRAP) for pair in pairs]
    parts += [partial(all_pairs, test, f1_workload(SYSTEMS), sizes, device) for test in (SWAP, BOOTSTRAP)]
    parts += [lambda: Outcome(command_line(sizes.command_repeats), [])]
    rows: list[Row] = []
    checks: list[Check] = []
    for part in parts:
        outcome = part()
        print(f"\n{outcome.rows[0].task}\n\n{rows_table(outcome.rows)}", flush=True)
        rows += outcome.rows
        checks += outcome.checks
    farthest = max(check.distance for check in checks)
    print(f"\n{len(checks)} answers agree, the farthest {farthest:.1f} Monte Carlo standard errors apart")
    targets = verdicts(rows, device)
    more = asdict(sizes) | {"instances": INSTANCES, "systems": SYSTEMS, "command": RESAMPLES}
    save(chosen.output, on, rows, sizes=more, checks=check_records(checks), targets=targets)
    print_verdicts(targets)


if __name__ == "__main__":
    main()
