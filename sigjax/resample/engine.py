"""The engine: tiles of resamples, in order and in bounded memory, on NumPy or on the devices of JAX.

A kernel takes a tile of rows and gives small results; the engine compiles it (through `backend`), maps it over all
resamples and adds or places what comes back. Results do not depend on the tile size, the device or the number of
devices: the rows carry their own random numbers, counts are integers, and scores are computed row by row in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Alternative, Array
from sigjax.resample.bits import rows_of, seed_key
from sigjax.resample.fused import FusedDraws, FusedSwap
from sigjax.resample.maxima import Ladder, swap_maxima
from sigjax.resample.plans import padded_units
from sigjax.resample.project import CrossedProduct, NestedProduct, Places, Projection, SwapBytes
from sigjax.resample.tally import Pairs, in_blocks, replicate_scores, swap_exceed
from sigjax.run.backend import Backend, jitted
from sigjax.run.checkpoint import NO_STAGE, Stage
from sigjax.run.scope import jax_scope
from sigjax.run.share import ALONE, Share
from sigjax.run.threads import ahead, num_cores

Score = Callable[[Array], Array]
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
_PAIR_STATS = 2048
"""Statistics of pairs that are scored together."""
_TILES_PER_CALL = 32
"""Tiles that a device runs in one call: few calls, yet a progress bar that moves."""


class Problem(NamedTuple):
    """Arrays that every tile needs."""

    projection: Projection
    divisors: np.ndarray | None
    """[stat] float64; None where every statistic is a whole number as it stands."""


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


def count_swaps(
    problem: Problem, pairs: Pairs | Ladder, run: Run, *, score: Score, alternative: Alternative
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Run the permutation test of all pairs on the same swaps, piece by piece.

    Yields:
        The first resample of a piece; `[pair]` int64, how many of its resamples are at least as extreme as observed,
        by the pair alone or, on a ladder, by the largest statistic so far; `[pair]` bool, every delta was finite.
    """
    kernel = _swap_tile if isinstance(pairs, Pairs) else _maxima_tile
    count, num_stats = pairs.left.shape
    blocks = type(pairs)(*in_blocks(pairs, min(count, max(1, _PAIR_STATS // num_stats))))
    static = (("score", score), ("alternative", alternative))
    # Compiled for a CPU, statistics go into scores one by one: only deltas are held.
    held = blocks.left[0, :, 0].size if run.backend.platform == "cpu" else blocks.left[0].size
    for start, (counts, ok) in stream(kernel, static, (problem, blocks), run, size=held):
        yield start, counts.sum(axis=0).ravel()[:count], ok.all(axis=0).ravel()[:count]


class Scored(NamedTuple):
    """What to make of the sums of a resample: the scores of all systems by one metric."""

    places: Places
    """Where the statistics of each system are."""
    divisors: np.ndarray | None
    """As in `Problem`."""
    score: Score
    on_host: bool
    """Leave the scores, but not the sums, to NumPy: a score that rounds differently on a device would show in the last
    digits of intervals."""


def replicates(
    projection: Projection, metrics: Sequence[Scored], run: Run
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Scores of all systems by some metrics on the same resamples, piece by piece.

    Yields:
        The first resample of a piece, and for each metric scores `[system, resample]` (float64).
    """
    in_kernel = tuple(None if each.on_host else each.score for each in metrics)
    size = sum(0 if each.on_host else each.places.column.size for each in metrics)
    data = Problem(projection, None), tuple((each.places, each.divisors) for each in metrics)
    for start, outputs in stream(_scores_tile, (("scores", in_kernel),), data, run, size=size):
        found = (_on_host(each, tiles) if each.on_host else tiles for each, tiles in zip(metrics, outputs, strict=True))
        yield start, tuple(np.concatenate(list(tiles), axis=1)[:, : run.resamples - start] for tiles in found)


def _on_host(metric: Scored, tiles: np.ndarray) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return [replicate_scores(sums, metric.places, metric.divisors, score=metric.score) for sums in tiles]


def _swap_tile(
    rows: Array, valid: Array, problem: Problem, pairs: Pairs, *, score: Score, alternative: Alternative
) -> tuple[Array, ...]:
    sums = problem.projection.sums(rows)
    return swap_exceed(sums, valid, pairs, problem.divisors, score=score, alternative=alternative)


def _maxima_tile(
    rows: Array, valid: Array, problem: Problem, ladder: Ladder, *, score: Score, alternative: Alternative
) -> tuple[Array, ...]:
    sums = problem.projection.sums(rows)
    return swap_maxima(sums, valid, ladder, problem.divisors, score=score, alternative=alternative)


def _scores_tile(
    rows: Array, valid: Array, problem: Problem, metrics: tuple[Any, ...], *, scores: tuple[Score | None, ...]
) -> tuple[Array, ...]:
    del valid  # rows that are padding come last and are cut off by `replicates`
    sums = problem.projection.sums(rows)
    return tuple(
        sums if score is None else replicate_scores(sums, places, divisors, score=score)
        for score, (places, divisors) in zip(scores, metrics, strict=True)
    )


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
