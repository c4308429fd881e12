"""The largest experiment of Berg-Kirkpatrick et al. (2012): all pairs of 150 systems, BLEU, 2,034 segments, bootstrap.

    python benchmarks/leaderboard150.py [--quick] [--output FILE.json] [--device cpu|gpu] [--resamples K ...]

Counts are synthetic. A matrix product of weights and counts is what the bootstrap needs at the least; it is timed by
itself, in the same run. Each number of resamples has a process of its own, which tells its peak memory. Exits with 1
when answers differ; never because of a time.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from baselines import Pair, numpy_bootstrap
from checks import bootstrap_checks, check_records, require, require_equal_counts
from timing import Row, machine, markdown_table, options, print_verdicts, save, timed, verdict
from workloads import Workload, bleu_by_logarithms, bleu_counts, named_counts, num_columns

import sigjax
from sigjax.records import Device

WHOLE = 10**6
"""Resamples of the experiment."""
MOST_TIMES, MOST_MEMORY = 3.0, 2.0
"""Of the bare product, and GiB."""
_WARM = 2 * 10**4
_BLOCK = 2**12
"""Rows of weights that the bare product takes at a time."""
_OFF_LINE = 0.1
"""Part of a time by which it may lie off the line, for fewer resamples to stand for more."""


class Sizes(NamedTuple):
    """How large."""

    systems: int
    segments: int
    resamples: tuple[int, ...]
    checked: int
    """Resamples of the checks."""


FULL = Sizes(systems=150, segments=2034, resamples=(50_000, 100_000, 200_000), checked=20_000)
QUICK = Sizes(systems=30, segments=500, resamples=(2000, 4000, 8000), checked=1000)


class Bare(NamedTuple):
    """The product alone."""

    columns: int
    seconds: float
    """A resample."""
    flops: float
    """A second."""


class Line(NamedTuple):
    """Seconds against resamples."""

    start: float
    """With no resamples."""
    slope: float
    """A resample."""
    farthest: float
    """The largest distance of a time from the line, as a part of the time."""


def evaluation_of(sizes: Sizes) -> sigjax.Evaluation:
    """Synthetic counts of all systems."""
    names = [f"system {i + 1}" for i in range(sizes.systems)]
    return named_counts(names, bleu_counts(sizes.systems, sizes.segments), "bleu")


def bootstrap(evaluation: sigjax.Evaluation, *, resamples: int, device: Device) -> sigjax.Report:
    """All pairs: p-values, standard errors and percentile intervals.

    Replicates are kept where they fit into the memory allowed, or are few, and summarised otherwise. Memory is allowed
    in proportion here, so that 50,000 resamples take the same way as a million with the default of 1 GiB.
    """
    memory = min(1.0, resamples / WHOLE)
    return sigjax.compare(
        evaluation, test="bootstrap", resamples=resamples, device=device, memory=memory, progress=False
    )  # fmt: skip


def in_own_process(resamples: int, quick: bool, device: str) -> tuple[float, float]:  # noqa: FBT001
    """Seconds, and peak memory in GiB, of one experiment."""
    command = [sys.executable, __file__, "--alone", str(resamples), "--device", device]
    printed = subprocess.run(command + ["--quick"] * quick, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, peak = json.loads(printed)
    return seconds, peak


def alone(sizes: Sizes, resamples: int, device: Device) -> None:
    """Print seconds and peak memory of one experiment in this process, after a small one that compiles."""
    evaluation = evaluation_of(sizes)
    bootstrap(evaluation, resamples=min(_WARM, resamples), device=device)
    seconds, _ = timed(partial(bootstrap, evaluation, resamples=resamples, device=device))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 2**10)
    print(json.dumps([seconds, peak / 2**30]))


def bare_product(stats: np.ndarray, device: str) -> Bare:
    """The product of weights `[row, segment]` with all different columns, in float32 at full precision."""
    import jax

    columns = num_columns(stats)
    rng = np.random.default_rng(1)
    weights = rng.poisson(1.0, (_BLOCK, stats.shape[1])).astype(np.float32)
    matrix = np.unique(np.concatenate(list(stats), axis=1), axis=1)[:, -columns:].astype(np.float32)
    on_device = jax.device_put((weights, matrix), jax.local_devices(backend=device)[0])
    multiply = jax.jit(partial(jax.numpy.matmul, precision="highest"))
    jax.block_until_ready(multiply(*on_device))  # compiles
    seconds = min(timed(lambda: jax.block_until_ready(multiply(*on_device)))[0] for _ in range(10)) / _BLOCK
    return Bare(columns, seconds, 2.0 * stats.shape[1] * columns / seconds)


def check(evaluation: sigjax.Evaluation, sizes: Sizes, device: Device) -> list[dict[str, Any]]:
    """Equal counts on NumPy and JAX for all pairs; the first pair against NumPy by hand."""
    found = [bootstrap(evaluation, resamples=sizes.checked, device=each) for each in (device, "numpy")]
    require_equal_counts(*found)
    pair = Pair(evaluation.stats[0], evaluation.stats[1], bleu_by_logarithms)
    theirs = numpy_bootstrap(pair, resamples=sizes.checked)
    workload = Workload("BLEU", evaluation, pair, 0.0)
    checks = bootstrap_checks("first pair, NumPy by hand", workload, next(iter(found[0])), theirs, sizes.checked)
    require(checks)
    return check_records(checks)


def fitted_line(times: Mapping[int, float]) -> Line:
    """The line through the times with the least squares of relative distances."""
    resamples, seconds = np.array(list(times), float), np.array(list(times.values()))
    if len(times) == 1:
        return Line(0.0, float(seconds[0] / resamples[0]), 0.0)
    slope, start = np.polyfit(resamples, seconds, 1, w=1.0 / seconds)
    off = np.abs(start + slope * resamples - seconds) / seconds
    return Line(float(start), float(slope), float(off.max()))


def main() -> None:
    """Check and time."""
    chosen = options(
        __doc__, resamples={"type": int, "nargs": "+"}, alone={"type": int, "help": "one experiment in this process"}
    )
    sizes, device = QUICK if chosen.quick else FULL, chosen.device
    if chosen.alone:
        alone(sizes, chosen.alone, device)
        return
    on = machine(device)
    print(json.dumps(on, indent=2))
    evaluation = evaluation_of(sizes)
    checks = check(evaluation, sizes, device)
    pairs = sizes.systems * (sizes.systems - 1) // 2
    print(f"\n{sizes.systems} systems, {sizes.segments:,} segments, {pairs:,} pairs; equal answers on NumPy and JAX")
    times, peaks = {}, {}
    for resamples in chosen.resamples or sizes.resamples:
        times[resamples], peaks[resamples] = in_own_process(resamples, chosen.quick, device)
        print(f"{resamples:,}: {times[resamples]:.3g} s, {peaks[resamples]:.3g} GiB", file=sys.stderr)
    bare = bare_product(evaluation.stats, device)
    line = fitted_line(times)
    print(f"\nthe bare product has {bare.columns:,} columns and runs at {bare.flops / 1e9:.3g} GFLOP/s")
    print(f"\n{_times_table(times, peaks, bare, line)}")
    total = times.get(WHOLE, line.start + line.slope * WHOLE)
    aims = [
        verdict(f"{WHOLE:,} resamples: times the bare product", total / (bare.seconds * WHOLE), at_most=MOST_TIMES),
        verdict("farthest part of a time from the line", line.farthest, at_most=_OFF_LINE),
        verdict("peak memory, GiB", max(peaks.values()), at_most=MOST_MEMORY),
    ]
    rows = [Row("bootstrap", f"{pairs:,} pairs", f"sigjax, JAX on {device}", n, (times[n],)) for n in times]
    more = {"sizes": sizes._asdict(), "checks": checks, "peak_gib": peaks, "bare_product": bare._asdict()}
    save(chosen.output, on, rows, **more, line=line._asdict(), targets=aims)
    print_verdicts(aims)


def _times_table(times: Mapping[int, float], peaks: Mapping[int, float], bare: Bare, line: Line) -> str:
    header = ["resamples", "seconds", "on the line", "bare product, s", "times the product", "peak GiB"]
    lines = []
    for count in sorted({*times, WHOLE}):
        on_line, product = line.start + line.slope * count, bare.seconds * count
        found = [f"{times[count]:.3g}", f"{peaks[count]:.3g}"] if count in times else ["", ""]
        ratio = times.get(count, on_line) / product
        lines.append([f"{count:,}", found[0], f"{on_line:.3g}", f"{product:.3g}", f"{ratio:.3g}", found[1]])
    return markdown_table(header, lines)


if __name__ == "__main__":
    main()
