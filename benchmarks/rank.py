"""`sigjax rank`, which keeps no pairs: seconds and memory beside the plain product of the answers with themselves.

    python benchmarks/rank.py [--quick] [--output FILE.json] [--large]

First, the decisions on a small board are those of `compare`, which keeps all pairs. Then boards of growing size, each
in a process of its own: the first call, in which JAX compiles, a later one, NumPy
alone, and one product of tiles in float32, without anything else. `--large` is the board of 20,000 systems and 10,000
instances, without NumPy alone. Exits with 1 where decisions differ; never because of a time.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timing import Row, machine, markdown_table, options, print_verdicts, save, timed, verdict

import sigjax
from sigjax.records import Device

SIZES = [(1000, 2000), (2000, 5000), (5000, 10_000)]
LARGE = (20_000, 10_000)
TILE = 1024
HEADER = ("board", "first call", "later call", "NumPy", "product", "later / product", "peak GiB")


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
    report = sigjax.compare(data, read={"metric": "accuracy"}, interval="none", progress=False)
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


class Measured(NamedTuple):
    """Seconds, and GiB."""

    first: float
    later: float
    numpy: float | None
    product: float
    peak: float
    """Memory of the process until `rank` has ended."""


def measured(systems: int, instances: int, device: Device) -> Measured:
    """Seconds of `rank` and of the product.

    Raises:
        AssertionError: NumPy gives another board.
    """
    data = answers(systems, instances)
    first, board = timed(lambda: sigjax.studies.rank(data, device=device))
    later, _ = timed(lambda: sigjax.studies.rank(data, device=device))
    peak, numpy = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, None
    if (systems, instances) != LARGE:
        numpy, same = timed(lambda: sigjax.studies.rank(data, device="numpy"))
        if same != board:
            raise AssertionError(f"NumPy gives another board of {systems} x {instances}")
    return Measured(first, later, numpy, timed(lambda: product(data))[0], peak)


def in_a_process(size: tuple[int, int], device: Device) -> Measured:
    """`measured` in a process of its own."""
    command = [sys.executable, __file__, "--device", device, "--board", *map(str, size)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()).stdout
    return Measured(*json.loads(out))


def main() -> None:
    """Check, then measure the boards, one after the other."""
    board: dict[str, Any] = {"type": int, "nargs": 2, "default": None, "help": "what a process of its own does"}
    given = options(__doc__, board=board, large={"action": "store_true"})
    if given.board:
        systems, instances = given.board
        print(json.dumps(measured(systems, instances, given.device)))
        return
    check()
    on, rows, lines, verdicts = machine(given.device), [], [], []
    for size in [(200, 500)] if given.quick else [*SIZES, *([LARGE] if given.large else [])]:
        found = in_a_process(size, given.device)
        name, (*seconds, peak) = f"{size[0]:,} x {size[1]:,}", found
        timings = {what: each for what, each in zip(HEADER[1:5], seconds, strict=True) if each is not None}
        rows += [Row("rank", name, what, None, (each,)) for what, each in timings.items()]
        ratio = found.later / found.product
        lines.append((name, *(f"{timings[what]:.3g}" if what in timings else "" for what in HEADER[1:5])))
        lines[-1] += (f"{ratio:.2f}", f"{peak:.2f}")
        if size == LARGE:
            verdicts += [
                verdict(f"seconds of rank of {name}", found.first, at_most=120.0),
                verdict(f"rank of {name}: times the bare product", ratio, at_most=1.0),
                verdict(f"GiB of rank of {name}", peak, at_most=4.0),
            ]
    print(markdown_table(HEADER, lines))
    print_verdicts(verdicts)
    save(given.output, on, rows, table=[dict(zip(HEADER, line, strict=True)) for line in lines], aims=verdicts)


if __name__ == "__main__":
    main()
