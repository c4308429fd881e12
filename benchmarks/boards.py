"""Boards of many systems that are right or wrong on 200 instances: time and peak memory of each stage.

    python benchmarks/boards.py [--quick] [--output FILE.json] [--systems K ...]

Each board has a process of its own, which tells its peak memory: all pairs with percentile intervals, then its JSON,
streamed to a file, its text and its HTML. Exits with 1 when p-values differ from SciPy's; never because of a time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timing import Row, machine, markdown_table, options, print_verdicts, save, timed, verdict

import sigjax
from sigjax.report import json_pieces, to_html, to_text

INSTANCES = 200
OPTIONS: dict[str, Any] = {"interval": "percentile", "memory": 4.0, "progress": False}
"""The columns of 5,000 systems take 2.9 GiB."""
MOST_MICROSECONDS = 20.0
"""Of a pair, for the comparison and its JSON."""
_CHECKED = 50


class Stage(NamedTuple):
    """What one stage took."""

    name: str
    seconds: float
    cpu: float
    """Seconds of processors, which depend less on what else the machine does."""
    peak: float
    """GiB of the process until its end."""
    output: int
    """Bytes or characters written."""


def board(systems: int) -> sigjax.Evaluation:
    """Results of systems from 40 to 80 % right, some instances harder than others."""
    rng = np.random.default_rng(0)
    harder, right = rng.normal(0.0, 0.2, INSTANCES), np.linspace(0.4, 0.8, systems)
    return sigjax.Evaluation.from_arrays(
        {f"system {i + 1}": (rng.random(INSTANCES) < right[i] + harder).astype(int) for i in range(systems)},
        metric="accuracy",
    )


def stages(systems: int) -> list[Stage]:
    """Compare all pairs of a board, and write the report."""
    evaluation = board(systems)
    comparing, report = _stage("compare", lambda: sigjax.compare(evaluation, **OPTIONS))
    check(evaluation, report)
    with tempfile.TemporaryFile("w", encoding="utf-8") as file:
        writing, _ = _stage("JSON", lambda: file.writelines(json_pieces(report)))
        found = [comparing, writing._replace(output=os.fstat(file.fileno()).st_size)]
    for name, write in (("text", lambda: to_text(report, width=100)), ("HTML", lambda: to_html(report))):
        stage, text = _stage(name, write)
        found.append(stage._replace(output=len(text)))
    return found


def _stage(name: str, work: Callable[[], Any]) -> tuple[Stage, Any]:
    """What a stage took, and its result."""
    before = time.process_time()
    seconds, result = timed(work)
    return Stage(name, seconds, time.process_time() - before, _peak(), 0), result


def check(evaluation: sigjax.Evaluation, report: sigjax.Report) -> None:
    """p-values of some pairs are those of SciPy's sign test.

    Raises:
        AssertionError: they are not.
    """
    from scipy.stats import binomtest

    place = {name: place for place, name in enumerate(evaluation.systems)}
    values = evaluation.stats[:, :, 0]
    for chosen in np.random.default_rng(1).integers(len(report), size=_CHECKED).tolist():
        one = report.comparisons[chosen]
        a, b = values[place[one.a]], values[place[one.b]]
        ahead, behind = int((a > b).sum()), int((b > a).sum())
        expected = float(binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0
        if abs(one.p_value - expected) > 1e-9 * expected:
            raise AssertionError(f"p of {one.a} and {one.b}: {one.p_value}, and by SciPy {expected}")


def in_a_process(systems: int) -> list[Stage]:
    """`stages`, measured in a process of their own."""
    command = [sys.executable, __file__, "--stages", str(systems)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()).stdout
    return [Stage(*each) for each in json.loads(out)]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Measure the boards, one after the other."""
    sizes: dict[str, Any] = {"type": int, "nargs": "+", "default": None}
    given = options(__doc__, systems=sizes, stages={"type": int, "help": "what a process of its own does"})
    if given.stages:
        print(json.dumps(stages(given.stages)))
        return
    on, rows, lines, verdicts = machine(given.device), [], [], []
    for systems in given.systems or ([50, 100] if given.quick else [1000, 5000]):
        pairs, found = systems * (systems - 1) // 2, in_a_process(systems)
        for each in found:
            rows.append(Row("board", f"{systems:,} systems", each.name, None, (each.seconds,)))
            figures = (f"{each.seconds:.3g}", f"{each.cpu:.3g}", f"{each.cpu / pairs * 1e6:.3g}", f"{each.peak:.2f}")
            lines.append((f"{systems:,}", f"{pairs:,}", each.name, *figures, f"{each.output / 1e6:,.1f}"))
        spent = (found[0].cpu + found[1].cpu) / pairs * 1e6
        verdicts.append(
            verdict(f"us of processors for a pair of {systems:,} systems, with JSON", spent, at_most=MOST_MICROSECONDS)
        )
    header = ("systems", "pairs", "stage", "seconds", "CPU seconds", "CPU us a pair", "peak GiB", "MB written")
    print(markdown_table(header, lines))
    print_verdicts(verdicts)
    save(given.output, on, rows, table=[dict(zip(header, line, strict=True)) for line in lines], aims=verdicts)


if __name__ == "__main__":
    main()
