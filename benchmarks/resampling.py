"""Time swap and bootstrap against SciPy and against NumPy written by hand, in one run, after checking equal answers.

    python benchmarks/resampling.py [--quick] [--output FILE.json] [--device cpu|gpu]

Exits with 1 when answers differ; never because of a time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from baselines import numpy_bootstrap, numpy_swap, scipy_bootstrap, scipy_swap
from checks import (
    Check,
    bootstrap_checks,
    bootstrap_reference,
    require,
    require_equal_counts,
    swap_checks,
    swap_reference,
)
from timing import Row, machine, row_record, rows_table, time_in_turn, timed
from workloads import INSTANCES, NUM_PAIRS, SYSTEMS, Workload, accuracy_workload, f1_workload, tables

import sigjax
from sigjax.records import Device

SCIPY_BATCHES = (100, 300, 1000, 3000)
COMMAND_RESAMPLES = 10_000
TARGET = 50.0


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
QUICK = Sizes(jax=10**4, numpy=10**4, scipy=10**3, all_pairs=2 * 10**3, repeats=2, command_repeats=3)


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


def swap(workload: Workload, *, resamples: int, device: Device) -> sigjax.Report:
    """The Monte Carlo permutation test, without the bootstrap intervals that a report has by default."""
    evaluation = workload.evaluation
    return sigjax.compare(
        evaluation, method="montecarlo", interval="none", resamples=resamples, device=device, progress=False
    )


def bootstrap(workload: Workload, *, resamples: int, device: Device) -> sigjax.Report:
    """The bootstrap test, with standard errors and intervals."""
    return sigjax.compare(workload.evaluation, test="bootstrap", resamples=resamples, device=device, progress=False)


SWAP = Test("swap", swap, numpy_swap, scipy_swap, swap_checks, swap_reference)
BOOTSTRAP = Test("bootstrap", bootstrap, numpy_bootstrap, scipy_bootstrap, bootstrap_checks, bootstrap_reference)


def one_pair(test: Test, workload: Workload, sizes: Sizes, device: Device) -> Outcome:
    """Time a test of one pair with all methods."""
    ours = partial(test.ours, workload)
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
    ours = partial(test.ours, workload)
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


def command_line(sizes: Sizes) -> Outcome:
    """Time whole commands: a comparison of two systems, and the import of scipy.stats."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tables().items():
            table = Path(folder) / "table.tsv"
            table.write_text(text)
            command = [sys.executable, "-m", "sigjax", "compare", str(table), "--resamples", str(COMMAND_RESAMPLES)]
            _require_same_report(command, table)
            calls = {
                f"sigjax compare TABLE --resamples {COMMAND_RESAMPLES}": partial(_run, command),
                'python -c "import scipy.stats"': partial(_run, [sys.executable, "-c", "import scipy.stats"]),
            }
            seconds = time_in_turn(calls, repeats=sizes.command_repeats)
            rows += [Row("command line", name, method, None, each) for method, each in seconds.items()]
    return Outcome(rows, [])


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


def _run(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _require_same_report(command: list[str], table: Path) -> None:
    """The command line and the Python interface give the same numbers."""
    printed = json.loads(_run([*command, "--format", "json"]))["pairs"]
    expected = json.loads(sigjax.compare(sigjax.read(table), resamples=COMMAND_RESAMPLES).to_json())["pairs"]
    if printed != expected:
        raise AssertionError(f"the command line and the Python interface differ: {printed} and {expected}")


def verdicts(rows: list[Row], device: Device) -> list[dict[str, Any]]:
    """The ratios that the project aims at, with yes or no."""
    found = []
    for data in ("0/1 accuracy", "F1"):
        of_data = {row.method: row for row in rows if row.task == "swap" and row.data == data}
        scipy = next(row for method, row in of_data.items() if method.startswith("SciPy"))
        ratio = scipy.unit / of_data[f"sigjax, JAX on {device}"].unit
        what = f"swap, one pair, {data}: times faster per resample than SciPy; at least {TARGET:g} times"
        found.append({"what": what, "ratio": ratio, "met": ratio >= TARGET})
    commands = [row for row in rows if row.task == "command line"]
    for ours, scipy in zip(commands[::2], commands[1::2], strict=True):
        what = f'command line, {ours.data}: part of the time of python -c "import scipy.stats"; less than 1'
        found.append({"what": what, "ratio": ours.median / scipy.median, "met": ours.median < scipy.median})
    return found


def main() -> None:
    """Run all parts, print their tables, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu", help="the JAX platform to time")
    options = parser.parse_args()
    sizes, device = QUICK if options.quick else FULL, options.device
    on = machine(device)
    print(json.dumps(on, indent=2))
    pairs = [accuracy_workload(), f1_workload()]
    parts = [partial(one_pair, test, pair, sizes, device) for test in (SWAP, BOOTSTRAP) for pair in pairs]
    parts += [partial(all_pairs, test, f1_workload(SYSTEMS), sizes, device) for test in (SWAP, BOOTSTRAP)]
    parts += [partial(command_line, sizes)]
    rows: list[Row] = []
    checks: list[Check] = []
    for part in parts:
        outcome = part()
        print(f"\n{outcome.rows[0].task}\n\n{rows_table(outcome.rows)}", flush=True)
        rows += outcome.rows
        checks += outcome.checks
    farthest = max(check.distance for check in checks)
    print(f"\n{len(checks)} answers agree, the farthest {farthest:.1f} Monte Carlo standard errors apart\n")
    targets = verdicts(rows, device)
    if options.output:
        record = {
            "schema": "sigjax-benchmark/1",
            "machine": on,
            "sizes": asdict(sizes) | {"instances": INSTANCES, "systems": SYSTEMS, "command": COMMAND_RESAMPLES},
            "rows": [row_record(row) for row in rows],
            "checks": [check._asdict() | {"distance": check.distance} for check in checks],
            "targets": targets,
        }
        options.output.write_text(json.dumps(record, indent=2) + "\n")
    for target in targets:
        print(f"{target['what']}: {target['ratio']:.3g}, {'yes' if target['met'] else 'no'}")


if __name__ == "__main__":
    main()
