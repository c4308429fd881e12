"""What one more number of resamples costs: the first call with it, and the calls after it, in one process on the CPU.

    python benchmarks/programs.py [--before FOLDER]

Two systems and 25, F1 on 2,000 instances, `method="montecarlo"`: wall time of the first call with each number of
resamples, and the median of five calls after it. `--before` names an older checkout, which is timed before this one.
The counts of both must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

CALLS = {
    "swap, 2 systems": (2, {"interval": "none"}),
    "swap, 25 systems": (25, {"interval": "none"}),
    "bootstrap, 2 systems": (2, {"test": "bootstrap"}),
    "bootstrap, 25 systems": (25, {"test": "bootstrap"}),
}
RESAMPLES = (50_000, 1000, 20_000, 100_000)


def measure() -> dict[str, object]:
    """Milliseconds of the first call and of later ones, and counts, by name; for the checkout that is imported."""
    from workloads import f1_workload

    from sigjax import compare

    found: dict[str, object] = {}
    for name, (systems, options) in CALLS.items():
        evaluation = f1_workload(systems).evaluation
        for resamples in RESAMPLES:
            call = partial(compare, evaluation, device="cpu", method="montecarlo", resamples=resamples, **options)
            seconds = []
            for _ in range(6):
                start = perf_counter()
                report = call()
                seconds.append(1000.0 * (perf_counter() - start))
            exceed = [pair.exceed for pair in report]  # pyright: ignore[reportPossiblyUnboundVariable]
            found[f"{name}, {resamples:,}"] = [seconds[0], statistics.median(seconds[1:]), exceed]
    return found


def main() -> None:
    """Print a table of both checkouts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure()))
        return
    here = Path(__file__).resolve().parent
    checkouts = [each for each in (arguments.before, here.parent) if each]
    results = []
    for checkout in checkouts:
        path = os.pathsep.join([str(checkout.resolve()), str(here)])
        kept = {name: text for name, text in os.environ.items() if not name.startswith("JAX_COMPILATION")}
        command = [sys.executable, str(Path(__file__)), "--measure"]
        done = subprocess.run(command, env=kept | {"PYTHONPATH": path}, check=True, capture_output=True, text=True)
        results.append(json.loads(done.stdout))
    for name in results[0]:
        if any(result[name][2] != results[0][name][2] for result in results):
            raise SystemExit(f"{name}: other counts")
        print(
            name,
            *(f"first {first:.0f} ms, then {later:.1f} ms" for first, later, _ in (r[name] for r in results)),
            sep=" | ",
        )


if __name__ == "__main__":
    main()
