"""`sigjax rank`, which keeps no pairs: seconds and memory beside the plain product of the answers with themselves.

    python benchmarks/rank.py [--quick] [--output FILE.json] [--large]

First, the decisions on a small board are those of `compare`, which keeps all pairs. Then boards of growing size, each
in a process of its own, beside one product of tiles of the same size in float32, without anything else; `--large` is
the board of 20,000 systems and 10,000 instances. Exits with 1 where decisions differ; never because of a time.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from timing import Row, machine, markdown_table, options, print_verdicts, save, timed, verdict

import sigjax

SIZES = [(1000, 2000), (2000, 5000)]
LARGE = (20_000, 10_000)
TILE = 1024


def answers(systems: int, instances: int) -> dict[str, np.ndarray]:
    """Systems from 40 to 80 % right, some instances harder than others."""
    rng = np.random.default_rng(0)
    harder = rng.normal(0.0, 0.2, instances).astype(np.float32)
    rates = np.linspace(0.4, 0.8, systems)
    return {f"system {i + 1}": rng.random(instances, dtype=np.float32) < rates[i] + harder for i in range(systems)}


def check() -> None:
    """The decisions are those of `compare`.

    Raises:
        AssertionError: they are not.
    """
    data = answers(200, 1000)
    board = sigjax.studies.rank(data)
    report = sigjax.compare(data, metric="accuracy", interval="none", progress=False)
    ranks = {each.name: each.rank_interval for each in report.systems}
    significant = sum(each.p_adjusted < 0.05 for each in report)
    if board.num_significant != significant or any(each.rank_interval != ranks[each.system] for each in board.systems):
        raise AssertionError(f"{board.num_significant} pairs differ significantly, and by compare {significant}")


def product(data: dict[str, np.ndarray]) -> float:
    """The products of all tiles, once: what one pass cannot do without."""
    values = np.stack(list(data.values())).view(np.uint8)
    parts = [slice(start, start + TILE) for start in range(0, len(values), TILE)]
    total = 0.0
    for i, first in enumerate(parts):
        left = values[first].astype(np.float32)
        total += sum(float((left @ values[second].T.astype(np.float32))[0, 0]) for second in parts[i:])
    return total


def measured(systems: int, instances: int) -> tuple[float, float, float]:
    """Seconds of `rank` and of the product, and the peak memory in GiB of the process until `rank` has ended."""
    data = answers(systems, instances)
    seconds, _ = timed(lambda: sigjax.studies.rank(data))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    bare, _ = timed(lambda: product(data))
    return seconds, bare, peak


def in_a_process(size: tuple[int, int]) -> tuple[float, float, float]:
    """`measured` in a process of its own."""
    command = [sys.executable, __file__, "--board", *map(str, size)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()).stdout
    return tuple(json.loads(out))


def main() -> None:
    """Check, then measure the boards, one after the other."""
    board: dict[str, Any] = {"type": int, "nargs": 2, "default": None, "help": "what a process of its own does"}
    given = options(__doc__, board=board, large={"action": "store_true"})
    if given.board:
        print(json.dumps(measured(*given.board)))
        return
    check()
    on, rows, lines, verdicts = machine(given.device), [], [], []
    for size in [(200, 500)] if given.quick else [*SIZES, *([LARGE] if given.large else [])]:
        seconds, bare, peak = in_a_process(size)
        name = f"{size[0]:,} x {size[1]:,}"
        rows += [Row("rank", name, what, None, (each,)) for what, each in (("rank", seconds), ("product", bare))]
        lines.append((name, f"{seconds:.3g}", f"{bare:.3g}", f"{seconds / bare:.2f}", f"{peak:.2f}"))
        verdicts.append(verdict(f"rank of {name}: times the bare product", seconds / bare, at_most=6.0))
        if size == LARGE:
            verdicts += [
                verdict(f"seconds of rank of {name}", seconds, at_most=180.0),
                verdict(f"GiB of rank of {name}", peak, at_most=4.0),
            ]
    header = ("board", "seconds", "product", "ratio", "peak GiB")
    print(markdown_table(header, lines))
    print_verdicts(verdicts)
    save(given.output, on, rows, table=[dict(zip(header, line, strict=True)) for line in lines], aims=verdicts)


if __name__ == "__main__":
    main()
