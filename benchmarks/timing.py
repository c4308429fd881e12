"""Shared by the benchmarks: timing in rounds, the machine, and the table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from sigjax.run.context import installed

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One thing that was timed."""

    task: str
    data: str
    method: str
    resamples: int | None
    """None where the time is that of a whole command."""
    seconds: tuple[float, ...]
    """One a repeat, for all resamples."""
    scale: int = 1
    """What the time of one pair is multiplied by, where all pairs would take too long."""

    @property
    def median(self) -> float:
        """Median seconds, for all resamples and pairs."""
        return self.scale * statistics.median(self.seconds)

    @property
    def unit(self) -> float:
        """Median seconds per resample, or of the whole command."""
        return self.median / (self.resamples or 1)


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Seconds that one call takes, and its answer."""
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def time_in_turn(calls: Mapping[str, Callable[[], object]], *, repeats: int) -> dict[str, tuple[float, ...]]:
    """Seconds of each call, `repeats` of them; the calls take turns, so that what disturbs one disturbs all."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            seconds[name].append(timed(call)[0])
    return {name: tuple(each) for name, each in seconds.items()}


def machine(device: str) -> dict[str, Any]:
    """What the figures were taken on: processor, cores, load before the run, the JAX device, versions."""
    import jax

    return {
        "processor": _processor(),
        "cores": cores(),
        "system": platform.system(),
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "device": f"{device}: {jax.local_devices(backend=device)[0].device_kind}",
        "versions": {name: text for name, text in installed().items() if name not in ("devices", "extras")},
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    """The model of the processor as the system names it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def markdown_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, padded so that it reads well in a terminal too."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in (header, rule, *lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def rows_table(rows: Sequence[Row]) -> str:
    """The rows of one task; times are compared with the last row of the same data."""
    lines = []
    for row in rows:
        baseline = [other for other in rows if other.data == row.data][-1]
        ratio = "baseline" if row is baseline else f"{baseline.unit / row.unit:.3g}"
        spread = f"{row.scale * min(row.seconds):.3g} - {row.scale * max(row.seconds):.3g}"
        each = "" if row.resamples is None else f"{row.unit * 1e6:.3g}"
        count = "" if row.resamples is None else f"{row.resamples:,}"
        lines.append((row.data, row.method, count, f"{row.median:.3g}", spread, each, ratio))
    header = ("data", "method", "resamples", "median s", "range s", "us per resample", "times faster")
    return markdown_table(header, lines)


def row_record(row: Row) -> dict[str, Any]:
    """A row as plain values for JSON."""
    return asdict(row) | {"median_seconds": row.median, "median_seconds_per_resample_or_command": row.unit}


def verdict(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> dict[str, Any]:
    """A figure beside what the project aims at, with whether it is met."""
    met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    aim = f"at least {at_least:,g}" if at_least is not None else f"at most {at_most:,g}"
    return {"what": f"{what}; {aim}", "value": value, "met": met}


def print_verdicts(verdicts: Sequence[Mapping[str, Any]]) -> None:
    """A line each, with yes or no."""
    print()
    for each in verdicts:
        print(f"{each['what']}: {each['value']:,.3g}, {'yes' if each['met'] else 'no'}")


def save(path: Path | None, on: Mapping[str, Any], rows: Sequence[Row], **parts: object) -> None:
    """Write the JSON of a run, if there is a path."""
    if path:
        record = {"schema": "sigjax-benchmark/1", "machine": on, "rows": [*map(row_record, rows)]} | parts
        path.write_text(json.dumps(record, indent=2) + "\n")


def options(description: str | None, device: str = "cpu", **others: dict[str, Any]) -> argparse.Namespace:
    """The command line that the benchmarks share: --quick, --output, --device, and `others` (name -> keywords)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--device", choices=["cpu", "gpu"], default=device, help="the JAX platform to time")
    for name, keywords in others.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **keywords)
    return parser.parse_args()
