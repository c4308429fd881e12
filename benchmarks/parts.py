"""Where the time of one resample goes: each kernel up to each of its steps, for one pair, F1 and 2,000 instances.

    python benchmarks/parts.py [--quick] [--output FILE.json] [--device cpu|gpu]

A step's own cost is what its line adds to the line above; XLA may merge steps, so a difference is only a guide. Beside
it stands the least time that the ceilings of the same run leave for all steps so far. Both are the best of several.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from ceilings import Ceilings, Needs, ceilings_table, least_seconds
from ceilings import measure as measure_ceilings
from timing import machine, markdown_table, options, save, time_in_turn
from workloads import INSTANCES, f1_workload

from sigjax.metrics.ratios import FSCORE
from sigjax.records import Array
from sigjax.resample.draws import Draws, bootstrap, draws_from_strata, padded_draws, padded_units, row_keys, swap, words
from sigjax.resample.engine import tile_rows
from sigjax.resample.projection import (
    ColumnIndices,
    DrawsProduct,
    Projection,
    SwapProduct,
    distinct_columns,
    drawn_columns,
    draws_projection,
    floats_of,
    swap_projection,
)
from sigjax.resample.tally import Pairs, in_blocks, replicate_scores, swap_exceed
from sigjax.resample.units import make_units
from sigjax.run.backend import compiled

RESAMPLES, REPEATS = 2**17, 15
"""Of each call on a CPU, in tiles of the engine; a GPU gets one tile where that is more."""
STATS = 6
"""Statistics of a pair that are scored for a resample."""

Step = Callable[..., Array]
"""(rows `[row, 3]`, data) -> an array."""


class Data(NamedTuple):
    """What the kernels need besides rows."""

    draws: Draws
    swap_fused: Projection
    swap_product: SwapProduct
    draws_fused: Projection
    draws_product: DrawsProduct
    places: ColumnIndices
    """Where the statistics of both systems are among the columns."""
    pairs: Pairs


def make_data() -> Data:
    """Arrays of one pair, as `sigjax.compare` makes them, and those of the products that it takes for many columns."""
    units = make_units(f1_workload().evaluation)
    draws, scores = draws_from_strata(units.strata), FSCORE.score(units.totals)
    differences, (sides, _) = distinct_columns(units.values - units.values[:1])
    columns, places = drawn_columns(units.values)
    width = padded_units(columns.shape[1])
    pairs = Pairs(
        left=sides[:1],
        right=sides[1:],
        totals_a=units.totals[:1],
        totals_b=units.totals[1:],
        delta=scores[:1] - scores[1:],
        tolerance=np.full(1, 1e-13),
    )
    return Data(
        draws,
        swap_projection(differences, draws, compiled=True),
        SwapProduct(padded_draws(draws), floats_of(differences, 2**20, width)),
        draws_projection(columns, draws, compiled=True),
        DrawsProduct(padded_draws(draws), floats_of(columns, 2**20, width)),
        places,
        pairs,
    )


def swap_words(rows: Array, data: Data) -> Array:
    """One bit for each unit."""
    return words(rows, padded_units(len(data.draws.size)) // 32)


def swap_masks(rows: Array, data: Data) -> Array:
    """The bits as numbers 0 and 1."""
    return swap(rows, data.draws, data.swap_product.matrix.dtype)


def swap_sums(rows: Array, data: Data) -> Array:
    """The product with the differences."""
    return data.swap_product.sums(rows)


def swap_fused(rows: Array, data: Data) -> Array:
    """The same sums without masks."""
    return data.swap_fused.sums(rows)


def swap_counts(rows: Array, data: Data) -> Array:
    """The scores, and how many deltas are extreme."""
    xp = rows.__array_namespace__()
    valid = xp.ones(len(rows), bool)
    sums = swap_fused(rows, data)
    return swap_exceed(
        sums, valid, Pairs(*in_blocks(data.pairs, 1)), None, score=FSCORE.score, alternative="two-sided"
    )[0]


def bootstrap_words(rows: Array, data: Data) -> Array:
    """One word for each draw."""
    return words(rows, len(data.draws.size))


def bootstrap_counts(rows: Array, data: Data) -> Array:
    """How often each unit is drawn."""
    return bootstrap(rows, data.draws, data.draws_product.matrix.dtype)


def bootstrap_sums(rows: Array, data: Data) -> Array:
    """The product with the columns of both systems."""
    return data.draws_product.sums(rows)


def bootstrap_fused(rows: Array, data: Data) -> Array:
    """The same sums without counts."""
    return data.draws_fused.sums(rows)


def bootstrap_scores(rows: Array, data: Data) -> Array:
    """The scores of both systems."""
    return replicate_scores(bootstrap_fused(rows, data), data.places, None, score=FSCORE.score)


MASKS = padded_units(INSTANCES) // 32
"""Words of a mask."""
STEPS: dict[str, tuple[Step, Needs]] = {
    "swap, product: random words": (swap_words, Needs(MASKS, (0, 0))),
    "swap, product: ... and masks": (swap_masks, Needs(MASKS, (INSTANCES, 0))),
    "swap, product: ... and sums": (swap_sums, Needs(MASKS, (INSTANCES, 2))),
    "swap, fused: sums": (swap_fused, Needs(MASKS)),
    "swap, fused: ... and tally": (swap_counts, Needs(MASKS, scores={"fscore": 2}, deltas=1)),
    "bootstrap, product: random words": (bootstrap_words, Needs(INSTANCES, (0, 0))),
    "bootstrap, product: ... and counts": (bootstrap_counts, Needs(INSTANCES, (INSTANCES, 0))),
    "bootstrap, product: ... and sums": (bootstrap_sums, Needs(INSTANCES, (INSTANCES, 5))),
    "bootstrap, fused: sums": (bootstrap_fused, Needs(INSTANCES, looked_up=INSTANCES)),
    "bootstrap, fused: ... and scores": (bootstrap_scores, Needs(INSTANCES, looked_up=INSTANCES, scores={"fscore": 2})),
}


class Times(NamedTuple):
    """Microseconds a resample, up to a step."""

    step: str
    numpy: float | None
    """None where NumPy takes another way."""
    jax: float
    least: float
    """By the ceilings."""
    most_of_it: str
    """The step that takes most of the least time."""


def tile(step: str, data: Data, platform: str) -> int:
    """Resamples that the engine puts into a tile."""
    projection = data.swap_fused if "fused" in step else data.swap_product
    return tile_rows(projection, STATS, platform)


def numpy_call(step: Step, data: Data, rows: int) -> Callable[[], object]:
    """One tile in NumPy."""
    return partial(step, row_keys(1, np.arange(rows)), data)


def jax_call(step: Step, data: Data, rows: int, tiles: int, device: str) -> Callable[[], object]:
    """Several tiles in one compiled call, as the engine does.

    Each tile's result replaces the one before as the state of a loop: so it is computed whole and written to memory,
    but memory stays small.
    """
    keys = row_keys(1, np.arange(tiles * rows)).reshape(tiles, rows, 3)
    arguments = jax.device_put((keys, data), jax.local_devices(backend=device)[0])
    shape = jax.eval_shape(step, keys[0], data)

    def run(keys: Array, on_device: Data) -> Array:
        start = jax.numpy.zeros(shape.shape, shape.dtype)
        return jax.lax.scan(lambda before, tile: (step(tile, on_device), None), start, keys)[0]

    program = compiled(run, (), device)
    return lambda: jax.block_until_ready(program(*arguments))


def measure(device: str, ceilings: Ceilings, *, quick: bool) -> list[Times]:
    """Time every step, on NumPy and on JAX in turn."""
    data, found = make_data(), []
    for name, (step, needs) in STEPS.items():
        on_numpy, rows = tile(name, data, "numpy"), tile(name, data, device)
        tiles = 1 if quick else max(1, RESAMPLES // rows)
        calls = {device: jax_call(step, data, rows, tiles, device)}
        if step not in (bootstrap_fused, bootstrap_scores):
            calls["numpy"] = numpy_call(step, data, on_numpy)
        time_in_turn(calls, repeats=1)  # compiles
        seconds = time_in_turn(calls, repeats=1 if quick else REPEATS)
        each = {on: min(times) * 1e6 for on, times in seconds.items()}
        # Tiles of weights stay in the cache: a copy through memory is no bound for them.
        least = least_seconds(needs, ceilings._replace(copied_bytes=math.inf))
        numpy = each["numpy"] / on_numpy if "numpy" in each else None
        most = max(least, key=least.__getitem__)
        found.append(Times(name, numpy, each[device] / (tiles * rows), 1e6 * sum(least.values()), most))
    return found


def table(times: list[Times], device: str) -> str:
    """A line a step."""
    header = ["us per resample up to", "NumPy", f"JAX on {device}", "least", "explained", "most of the least"]
    lines = [
        [
            each.step,
            "" if each.numpy is None else f"{each.numpy:.3g}",
            f"{each.jax:.3g}",
            f"{each.least:.3g}",
            f"{each.least / each.jax:.0%}",
            each.most_of_it,
        ]
        for each in times
    ]
    return markdown_table(header, lines)


def main() -> None:
    """Print microseconds per resample up to each step, and what the ceilings leave for them."""
    chosen = options(__doc__)
    print(json.dumps(on := machine(chosen.device), indent=2))
    ceilings = measure_ceilings(chosen.device, quick=chosen.quick)
    with jax.enable_x64(True):  # noqa: FBT003
        found = measure(chosen.device, ceilings, quick=chosen.quick)
    print(f"\n{ceilings_table(ceilings)}\n\n{table(found, chosen.device)}")
    save(chosen.output, on, [], ceilings=ceilings._asdict(), steps=[each._asdict() for each in found])


if __name__ == "__main__":
    main()
