"""Compile the kernels of sigjax for GPUs that need not be there, and bound their speed. Nothing is run.

    python benchmarks/gpu_compile.py [--output benchmarks/results/gpu-compiled.json] [--only NAME] [--chip H100]

XLA compiles for a GPU from its description alone, where JAX's CUDA packages are installed (`pip install
"jax[cuda12]"`, 5 GB). From the optimised HLO (see `hlo`) come the bytes that each resample moves and its operations,
and from these, with the peaks of the chip, the least time that a resample can take: that of the largest part, if
all parts overlap, and their sum, if none do. A program also needs time to begin, which is left out: tiles are large.
"""

from __future__ import annotations

import os

os.environ |= {
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "JAX_PLATFORMS": "cpu",
    "CUDA_VISIBLE_DEVICES": "-1",
    "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false",
}

import argparse
import datetime
import json
import math
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from chips import CHIPS, Chip
from hlo import work_of
from jax.experimental import topologies
from recorded import Program, programs
from workloads import SYSTEMS, f1_workload, translations

import sigjax
from sigjax.run.backend import jax_scope, program, sharding


class Case(NamedTuple):
    """A kernel, and a call that uses it."""

    name: str
    call: Callable[[], object]
    kernel: str
    """The name of its function."""
    which: int = 0
    """Which of its programs."""


def cases() -> list[Case]:
    """Every kernel that runs on a GPU. Metrics that are not sums are computed on the CPU."""
    pair, board = (f1_workload(systems).evaluation for systems in (2, SYSTEMS))
    texts = [each.evaluation for each in translations().values()]
    stats = np.random.default_rng(3).integers(0, 9, (6, 1200, 3)) + [0, 8, 16]
    ids, numbers = (np.arange(1200) // 4).tolist(), (np.arange(1200) % 4).tolist()
    runs = sigjax.Evaluation.from_arrays(
        dict(zip("abcdef", stats, strict=True)), metric="fscore", ids=ids, runs=numbers
    )
    swaps = {"test": "permutation", "interval": "none", "resamples": 2**20}
    draws = {"test": "bootstrap", "interval": "percentile", "resamples": 2**20}

    def compare(data: Any, options: dict[str, Any]) -> Callable[[], object]:
        return partial(sigjax.compare, data, method="montecarlo", device="gpu", **options)

    def exact(stats: np.ndarray, metric: Any) -> Callable[[], object]:
        data = sigjax.Evaluation.from_arrays(dict(zip(board.systems, stats, strict=True)), metric=metric)
        return partial(sigjax.compare, data, method="exact", device="gpu", interval="none", progress=False)

    found, few = board.stats[..., 0], board.stats[:, :200, :2]
    samples = {name: each for name, each in zip("ab", pair.stats, strict=True)}
    options = {"method": "montecarlo", "device": "gpu", "resamples": 2**20}
    unpaired = partial(sigjax.unpaired, samples, read={"metric": "fscore"}, **options)
    return [
        Case("swap, 2 systems", compare(pair, swaps), "_swap_tile"),
        Case(f"swap, {SYSTEMS} systems", compare(board, swaps), "_swap_tile"),
        Case("swap, 12 systems, BLEU", compare(texts[0], swaps), "_swap_tile"),
        Case("swap, 12 systems, chrF", compare(texts[1], swaps), "_swap_tile"),
        Case(f"swap, maxT, {SYSTEMS} systems", compare(board, swaps | {"correction": "maxt"}), "_swap_tile", -1),
        Case("swap, crossed runs", compare(runs, swaps | {"design": "crossed"}), "_swap_tile"),
        Case("unpaired, F1", unpaired, "_sums_tile"),
        Case("bootstrap, 2 systems", compare(pair, draws), "_scores_tile"),
        Case(f"bootstrap, {SYSTEMS} systems", compare(board, draws), "_scores_tile"),
        Case("bootstrap, 12 systems, BLEU and chrF", compare(texts, draws), "_scores_tile"),
        Case("bootstrap, nested runs", compare(runs, draws | {"design": "nested"}), "_scores_tile"),
        Case("tally of replicates", compare(board, draws | {"resamples": 2**17}), "count_extreme"),
        *(Case(f"summaries: {name}", compare(board, draws | {"interval": "bca"}), name) for name in _SUMMARIES),
        Case(f"exact, {SYSTEMS} systems, one axis", exact(found, "mean"), "_line_kernel"),
        Case(f"exact, {SYSTEMS} systems, F1", exact(board.stats, "fscore"), "_plane_kernel"),
        Case(f"exact, {SYSTEMS} systems, any score", exact(few, _any_score), "_grid_kernel"),
    ]


_SUMMARIES = "placed", "totals", "squares", "row_totals", "doubled_mid_ranks"
"""Kernels for replicates that stay on the device; order statistics need numbers that are not made up."""


def _any_score(sums: Any) -> Any:
    """A score that is monotone in nothing."""
    return 0.001 * sums[..., 1] - (0.02 * sums[..., 0]) ** 2


def compile_for(chip: Chip, devices: int, found: Program) -> tuple[Any, float]:
    """The compiled program, and the seconds it took."""
    topology = topologies.get_topology_desc(platform="cuda", target_config=chip.target(), topology=f"1x1x{devices}")
    there = tuple(topology.devices)[:devices]
    split, whole = (sharding(there, split=each) for each in (found.split, False))
    first, *others = found.shapes
    if found.split:  # as many tiles on each device
        first = jax.ShapeDtypeStruct((devices * first.shape[0], *first.shape[1:]), first.dtype)
    placed = [_placed(first, split), *(jax.tree.map(partial(_placed, where=whole), each) for each in others)]
    function = program(found.kernel, found.static, there if found.split else ())
    start = time.perf_counter()
    with jax_scope():
        result = jax.jit(function).trace(*placed).lower(lowering_platforms=("cuda",)).compile()
    return result, time.perf_counter() - start


def _placed(shape: Any, where: Any) -> Any:
    return jax.ShapeDtypeStruct(shape.shape, shape.dtype, sharding=where)


def bounded(chip: Chip, found: Program, devices: int) -> dict[str, Any]:
    """What a program is compiled to, and the bounds of one resample (of one call, where it has no resamples)."""
    result, seconds = compile_for(chip, devices, found)
    work = work_of(result.as_text(), found.steps)
    parts = {name: each / found.rows for name, each in chip.seconds(work).items()}
    largest = max(parts, key=lambda name: parts[name])
    return {
        "chip": chip.name,
        "devices": devices,
        "compile_seconds": round(seconds, 1),
        "rows": found.rows,
        "temporary_bytes": result.memory_analysis().temp_size_in_bytes,
        "fusions": work.fusions,
        "loops": work.loops,
        "calls": dict(work.calls),
        "scatters": dict(work.scatters),
        "bytes": work.bytes / found.rows,
        "operations": {name: each / found.rows for name, each in work.operations.items()},
        "bound": largest,
        "seconds": parts,
        "largest": parts[largest],
        "sum": sum(parts.values()),
    }


def table(rows: dict[str, dict[str, Any]]) -> str:
    """The table of benchmarks/README.md, for one chip and one device."""
    lines = [
        "| kernel | bytes | operations | library calls, scatters | bound | ns if all overlaps / if nothing does |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        operations = ", ".join(f"{_short(each)} {kind}" for kind, each in sorted(row["operations"].items()))
        named = [f"{kind.split('$')[-1]}" for kind in row["calls"]] + [f"{kind} scatter" for kind in row["scatters"]]
        times = f"{1e9 * row['largest']:.3g} / {1e9 * row['sum']:.3g}"
        lines.append(
            f"| {name} | {_short(row['bytes'])} | {operations} | {', '.join(named)} | {row['bound']} | {times} |"
        )
    return "\n".join(lines)


def _short(number: float) -> str:
    power = min(int(math.log10(max(number, 1))) // 3, 4)
    return f"{number / 1000**power:.3g}{['', 'k', 'M', 'G', 'T'][power]}"


def _json(about: dict[str, Any], results: dict[str, dict[str, Any]]) -> str:
    """A line for each kernel, with four digits."""
    lines = [
        f"  {json.dumps(where)}: {{\n"
        + ",\n".join(f"   {json.dumps(kernel)}: {json.dumps(_rounded(row))}" for kernel, row in rows.items())
        + "\n  }"
        for where, rows in results.items()
    ]
    return json.dumps(about, indent=1)[:-2] + ',\n "results": {\n' + ",\n".join(lines) + "\n }\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main() -> None:
    """Compile everything; print the tables, and write them as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--only", default="", help="kernels whose name has this part")
    parser.add_argument("--chip", choices=list(CHIPS), action="append")
    chosen = parser.parse_args()
    try:
        topologies.get_topology_desc(platform="cuda", target_config=CHIPS["H100"].target(), topology="1x1x1")
    except Exception as error:
        raise SystemExit(f'JAX cannot compile for CUDA here ({error}); pip install "jax[cuda12]"') from None
    found = {case.name: programs(case.call)[case.kernel][case.which] for case in cases() if chosen.only in case.name}
    results: dict[str, Any] = {}
    for name in chosen.chip or CHIPS:
        for devices in (1, 8):
            rows = {
                kernel: bounded(CHIPS[name], each, devices)
                for kernel, each in found.items()
                if devices == 1 or each.split
            }
            where = f"{name}, {devices} device{'s' * (devices > 1)}"
            results[where] = rows
            print(f"\n{where}: compiled, not run; for each resample\n\n{table(rows)}", flush=True)
    if chosen.output:
        about = {
            "what": "compiled, not run",
            "command": f"python benchmarks/gpu_compile.py --output {chosen.output}",
            "date": datetime.date.today().isoformat(),
            "versions": {"python": platform.python_version(), "jax": jax.__version__, "sigjax": sigjax.__version__},
            "chips": {name: chip._asdict() for name, chip in CHIPS.items()},
        }
        chosen.output.write_text(_json(about, results))


if __name__ == "__main__":
    main()
