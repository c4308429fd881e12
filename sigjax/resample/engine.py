"""The engine: tiles of resamples, in order and in bounded memory, on NumPy or on the devices of JAX.

A kernel takes a tile of rows and gives small results; the engine compiles it (through `backend`), maps it over all
resamples and adds or places what comes back. Results do not depend on the tile size, the device or the number of
devices: the rows carry their own random numbers, counts are integers, and scores are computed row by row in float64.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.bits import rows_of, seed_key
from sigjax.resample.fused import FusedDraws, FusedSwap
from sigjax.resample.plans import padded_units
from sigjax.resample.project import CrossedProduct, NestedProduct, Projection, SwapBytes
from sigjax.run.backend import Backend, jax_scope, jitted
from sigjax.run.checkpoint import NO_STAGE, Stage
from sigjax.run.host import ahead, num_cores
from sigjax.run.share import ALONE, Share

Kernel = Callable[..., tuple[Array, ...]]
"""(rows [row, 3], valid [row], *data, **static) -> results of one tile."""
Static = tuple[tuple[str, Any], ...]
"""Keyword arguments of a kernel that it is compiled for."""
Call = Callable[[np.ndarray], tuple[np.ndarray, ...]]
"""The first resample of each tile `[tile]` (int64) -> results `[tile, ...]`."""
Advance = Callable[[int], object]
"""Told how many resamples are done so far."""

_TILE_ELEMENTS = {"numpy": 2**20, "cpu": 2**19, "gpu": 2**27}
"""Weights, or statistics of pairs, that one tile may hold: what stays in cache, or fills a GPU."""
_FUSED_ELEMENTS = 32
"""What a row counts for where no weights are made: vectors of some thousand rows stay in cache."""
_FEWEST_ROWS, _LARGEST_TILE = 64, 2**25
_FIRST_ROUND = 2**13
"""Resamples of each process in the first round."""
_ROUND_SECONDS = 5.0
"""What a round is to take."""
_TILES_PER_CALL = 32
"""Tiles that a device runs in one call: few calls, yet a progress bar that moves."""


class Task(NamedTuple):
    """What every tile needs."""

    key: np.ndarray
    """[2] uint32: of the seed."""
    resamples: np.ndarray
    """[] int64: rows of later resamples are padding."""
    data: tuple
    """Arguments of the kernel after rows and valid."""


class Run(NamedTuple):
    """How to run: everything but the data."""

    resamples: int
    seed: int
    backend: Backend
    advance: Advance = lambda done: None
    start: int = 0
    """Resamples before this one are left out."""
    stage: Stage = NO_STAGE
    """Where the state is kept."""
    share: Share = ALONE
    """Of several processes."""

    def part(self, resamples: range) -> Run:
        """What this process does of these resamples; the others do as much in the same time."""
        mine = self.share.part(resamples)

        def advance(done: int) -> None:
            self.advance(resamples.start + (done - mine.start) * self.share.count)

        return self._replace(start=mine.start, resamples=mine.stop, advance=advance)


def stream(
    kernel: Kernel, static: Static, data: tuple, run: Run, *, size: int
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Yield (first resample, results `[tile, ...]`) in order; a resample holds `size` numbers to be scored."""
    rows_per_tile = tile_rows(data[0].projection, size, run)
    num_tiles = -(-(run.resamples - run.start) // rows_per_tile)
    if num_tiles == 0:
        return  # there are more processes than resamples
    num_devices = len(run.backend.devices)
    workers = _num_workers(run.backend)
    per_call = num_devices * min(_TILES_PER_CALL, -(-num_tiles // (workers * num_devices))) if num_devices else 1
    make = _jax_call if num_devices else _numpy_call
    task = Task(seed_key(run.seed), np.array(run.resamples), data)
    call = make(kernel, (*static, ("rows_per_tile", rows_per_tile)), task, run.backend.devices)
    tiles = [run.start + (np.arange(per_call) + tile) * rows_per_tile for tile in range(0, num_tiles, per_call)]
    for first, outputs in zip(tiles, ahead(call, tiles, workers), strict=True):
        yield int(first[0]), outputs
        run.advance(min(int(first[0]) + per_call * rows_per_tile, run.resamples))


def _num_workers(backend: Backend) -> int:
    """Calls that run at a time: a program leaves cores idle in some of its steps, and no device waits for the host."""
    if backend.platform == "cpu":
        return max(1, num_cores() // len(backend.devices))
    return 2 if backend.devices else 1


def tile_rows(projection: Projection, size: int, run: Run) -> int:
    """Rows a tile: a power of two within the budget, and not many more than there are resamples."""
    if isinstance(projection, FusedSwap | FusedDraws):
        a_row = _FUSED_ELEMENTS
    elif isinstance(projection, CrossedProduct | NestedProduct):
        a_row = projection.width
    else:
        a_row = padded_units(len(projection.draws.size)) // (4 if isinstance(projection, SwapBytes) else 1)
    within = _TILE_ELEMENTS[run.backend.platform] // max(a_row, 4 * size)
    # A product with few rows would read the matrix too often, so that long rows may leave the cache.
    within = max(within, min(_FEWEST_ROWS, _LARGEST_TILE // a_row))
    return 2 ** min(max(within, 1).bit_length() - 1, (run.resamples - run.start - 1).bit_length())


def _tile(kernel: Kernel, first: Array, task: Task, *, rows_per_tile: int, **static: Any) -> tuple[Array, ...]:
    """Results of the tile that starts with the resample `first`."""
    xp = first.__array_namespace__()
    resamples = first + xp.arange(rows_per_tile)
    rows, valid = rows_of(task.key, resamples), resamples < task.resamples
    return kernel(rows, valid, *task.data, **static)


def _numpy_call(kernel: Kernel, static: Static, task: Task, devices: tuple[Any, ...]) -> Call:
    del devices

    def call(first: np.ndarray) -> tuple[np.ndarray, ...]:
        # What is not finite is counted, and refused later with the systems' names.
        with np.errstate(all="ignore"):
            return tuple(output[None] for output in _tile(kernel, first[0], task, **dict(static)))

    return call


def _jax_call(kernel: Kernel, static: Static, task: Task, devices: tuple[Any, ...]) -> Call:
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    compiled, mesh = _compile(kernel, static, devices)
    with jax_scope():
        on_devices = jax.device_put(task, NamedSharding(mesh, PartitionSpec()))

    def call(first: np.ndarray) -> tuple[np.ndarray, ...]:
        with jax_scope():
            return tuple(np.asarray(output) for output in compiled(first, on_devices))

    return call


@lru_cache(maxsize=64)
def _compile(kernel: Kernel, static: Static, devices: tuple[Any, ...]) -> tuple[Any, Any]:
    """Compile `kernel` for these static arguments and devices: each device maps over its share of the tiles."""
    import chex
    import jax
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(np.array(devices), ("tile",))

    def tiles(first: Array, task: Task) -> tuple[Array, ...]:
        chex.assert_shape(task.key, (2,))
        return jax.lax.map(lambda tile: _tile(kernel, tile, task, **dict(static)), first)

    shared_out = PartitionSpec("tile")
    specs = (shared_out, PartitionSpec())
    return jitted(jax.shard_map(tiles, mesh=mesh, in_specs=specs, out_specs=shared_out), devices[0].platform), mesh


def rounds(resamples: range, run: Run) -> Iterator[range]:
    """These resamples in parts, after each of which the processes add up; one part where nothing is kept or shared."""
    if run.share.count == 1 or not run.stage.kept:
        if resamples:
            yield resamples
        return
    start, size = resamples.start, _FIRST_ROUND * run.share.count
    while start < resamples.stop:
        began = time.monotonic()
        yield range(start, min(start + size, resamples.stop))
        start += size
        # All of them go by one clock, since they must agree on what comes next.
        seconds = time.monotonic() - began if run.share.index == 0 else 0.0
        (milliseconds,) = run.share.total(np.array([round(1000.0 * seconds)])).tolist()
        size = round(size * min(max(1000.0 * _ROUND_SECONDS / max(milliseconds, 1), 0.5), 2.0))


def keep_round(run: Run, done: int, **arrays: np.ndarray) -> None:
    """Keep the state after a round that is not the last: what is made of all of them is kept after that."""
    if done < run.resamples:
        run.stage.save(done, **arrays)


def keep(run: Run, done: int, **arrays: np.ndarray) -> None:
    """Keep the state in the midst of a round, which is the state of the run where nobody shares it."""
    if run.share.count == 1:
        run.stage.save(done, **arrays)
