"""The engine: tiles of resamples, in order and in bounded memory, on NumPy or on the devices of JAX.

A kernel maps a tile of rows to small results; `stream` compiles it (through `backend`) and runs it over all resamples.
Results do not depend on tile size, device or number of devices: rows carry their own random numbers, counts are
integers, and scores are computed row by row in float64. There are three kernels: counts of extreme swaps, scores on
bootstrap resamples, and the sums of swapped units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Alternative, Array, Metric, Score
from sigjax.resample import summaries, tally
from sigjax.resample.draws import rows_of, seed_key
from sigjax.resample.projection import ColumnIndices, Projection
from sigjax.run.backend import Backend, compiled, on_all_devices, out_of_memory
from sigjax.run.context import Run, ahead, num_cores
from sigjax.run.loops import expect, map_items, only_if

TileKernel = Callable[..., tuple[Array, ...]]
"""(rows [row, 3], valid [row], *data, **static) -> results of one tile."""
Static = tuple[tuple[str, Any], ...]
"""Keyword arguments that are fixed when a kernel is compiled."""

_TILE_ELEMENTS = {"numpy": 2**20, "cpu": 2**19, "gpu": 2**27}
"""Most weights, or statistics of pairs, in one tile: as many as fit into the cache, or keep a GPU busy."""
_FEWEST_ROWS, _LARGEST_TILE = 64, 2**25
_MOST_ROWS = {"numpy": 2**20, "cpu": 2**12, "gpu": 2**22}
"""Most rows of a tile. With more rows, a tile gets no faster, and a run of few resamples would compute much padding."""
_TILES_PER_CALL, _ROWS_PER_CALL = 32, 2**19
"""Most tiles, and most rows, that a device runs in one call: few calls, but enough to move a progress bar."""


class Task(NamedTuple):
    """The arrays that every tile of resamples needs."""

    key: np.ndarray
    """[2] uint32: the key of the seed."""
    resamples: np.ndarray
    """[] int64: the number of resamples; rows from this resample on are padding."""
    data: tuple[Any, ...]
    """Arguments of the kernel after rows and valid."""


def stream(
    kernel: TileKernel, static: Static, data: tuple[Any, ...], run: Run, *, size: int, wide_vectors: bool = True
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Yield (first resample, results `[tile, ...]`) in order; a resample holds `size` numbers to be scored.

    If tiles do not fit into the memory of the device, the rest is done in tiles with half as many rows. For
    `wide_vectors` see `compiled`.
    """
    rows_per_tile, done = tile_rows(data[0].projection, size, run.backend.platform), run.start
    task = Task(seed_key(run.seed), np.array(run.resamples), data)
    if run.backend.devices:
        task = on_all_devices(run.backend.devices, task)
    while done < run.resamples:  # a process may have no resamples, if there are more processes than resamples
        calls = _calls(kernel, static, task, replace(run, start=done), rows_per_tile, wide_vectors)
        try:
            for first, outputs in calls:
                yield first, outputs
                done = min(first + len(outputs[0]) * rows_per_tile, run.resamples)
                run.advance(done)
        except RuntimeError as error:
            if rows_per_tile == 1 or not out_of_memory(error):
                raise
            rows_per_tile //= 2


def _calls(
    kernel: TileKernel,
    static: Static,
    task: Task,
    run: Run,
    rows_per_tile: int,
    wide_vectors: bool,  # noqa: FBT001
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Run some tiles in each call, and as many calls at once as there are workers.

    One program serves every number of resamples: it skips tiles that begin after the last resample.
    """
    num_tiles = -(-(run.resamples - run.start) // rows_per_tile)
    workers = 1 if run.stays else _num_workers(run.backend)  # the device queues the programs, so one worker suffices
    static = (("kernel", kernel), ("rows_per_tile", rows_per_tile), *static)
    num_devices, used, slots = max(len(run.backend.devices), 1), 1, 1
    program = partial(_tiles, **dict(static))
    if devices := run.backend.devices:
        slots = min(_TILES_PER_CALL, max(1, _ROWS_PER_CALL // rows_per_tile))
        used = slots if run.stays else min(slots, -(-num_tiles // (workers * num_devices)))
        program = compiled(_tiles, static, devices=devices, wide_vectors=wide_vectors)
    in_call = np.arange(num_devices * used).reshape(num_devices, used)

    def call(tile: int) -> tuple[Any, ...]:
        first = np.full((num_devices, slots), run.resamples)
        first[:, :used] = run.start + (tile + in_call) * rows_per_tile
        # Scores that are not finite are counted, and refused later by a message with the names of systems.
        with np.errstate(all="ignore"):
            if run.stays:
                return program(first.ravel(), task)
            outputs = (np.asarray(output) for output in program(first.ravel(), task))
            shaped = (output.reshape(num_devices, slots, *output.shape[1:])[:, :used] for output in outputs)
            return tuple(output.reshape(-1, *output.shape[2:])[: num_tiles - tile] for output in shaped)

    tiles = range(0, num_tiles, in_call.size)
    for tile, outputs in zip(tiles, ahead(call, tiles, workers), strict=True):
        yield run.start + tile * rows_per_tile, outputs


def _num_workers(backend: Backend) -> int:
    """Calls that run at once: a program leaves cores idle in some steps, and no device waits for the host."""
    if backend.platform == "cpu":
        return max(1, num_cores() // len(backend.devices))
    return 2 if backend.devices else 1


def tile_rows(projection: Projection, size: int, platform: str) -> int:
    """Rows per tile: a power of two that does not depend on the number of resamples, so that one program serves all."""
    within = _TILE_ELEMENTS[platform] // max(projection.width, 4 * size)
    # With few rows, a product would read the matrix too often. So tiles of long rows may exceed the cache.
    within = max(within, min(_FEWEST_ROWS, _LARGEST_TILE // projection.width))
    return min(2 ** (max(within, 1).bit_length() - 1), _MOST_ROWS[platform])


def _tiles(first: Array, task: Task, *, kernel: TileKernel, rows_per_tile: int, **static: Any) -> tuple[Array, ...]:
    """Results `[tile, ...]` of the tiles that start with the resamples `first` `[tile]`."""
    expect(task.key, (2,), np.uint32)
    xp = first.__array_namespace__()

    def of_tile(first: Array) -> tuple[Array, ...]:
        resamples = first + xp.arange(rows_per_tile)
        return kernel(rows_of(task.key, resamples), resamples < task.resamples, *task.data, **static)

    return map_items(lambda start: only_if(start < task.resamples, of_tile, start), first)


_PAIR_STATS = 2048
"""Most statistics of pairs that are scored together."""


class ScaledProjection(NamedTuple):
    """A projection, and the divisors of its sums."""

    projection: Projection
    divisors: np.ndarray | None
    """[stat] float64; None if all statistics are whole numbers already."""


def count_swaps(
    scaled: ScaledProjection,
    pairs: tally.Pairs | tally.SuccessiveMaxima | tally.StudentizedPairs,
    run: Run,
    *,
    metric: Metric,
    alternative: Alternative,
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Run the permutation test of all pairs on the same swaps, piece by piece.

    For each piece, yields three values. First, the index of its first resample. Second, `[pair]` int64: how many of its
    resamples are at least as extreme as observed, by the pair alone or (for `SuccessiveMaxima`) by the largest
    statistic so far. Third, `[pair]` bool: whether every delta was finite.
    """
    count = len(pairs.left)
    blocks = type(pairs)(*tally.in_blocks(pairs, min(count, max(1, _PAIR_STATS // pairs.width))))
    static = (("score", metric.score), ("alternative", alternative))
    # A program for a CPU reads statistics one by one, so only the deltas are held in memory.
    by_deltas = run.backend.platform == "cpu" and blocks.width == blocks.left.shape[2]
    held = blocks.left.shape[1] * (1 if by_deltas else blocks.width)
    tiles = stream(_swap_tile, static, (scaled, blocks), run, size=held, wide_vectors=metric.portable)
    for start, (counts, ok) in tiles:
        yield start, counts.sum(axis=0).ravel()[:count], ok.all(axis=0).ravel()[:count]


class ScoreSpec(NamedTuple):
    """The data for computing the scores of all systems by one metric from the sums of a resample."""

    indices: ColumnIndices
    """The columns of each system's statistics."""
    divisors: np.ndarray | None
    """As in `ScaledProjection`."""
    score: Score
    on_host: bool
    """Whether NumPy computes the scores, and the device only the sums. Else, if a score rounds differently on a device,
    the last digits of intervals would differ."""


def replicates(
    projection: Projection, metrics: Sequence[ScoreSpec], run: Run
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Scores of all systems by some metrics on the same resamples, piece by piece.

    Yields the first resample of a piece, and for each metric scores `[system, resample]` (float64). If scores stay on
    the device, pieces are JAX arrays of one length. But scores that NumPy computes are on the host.
    """
    run = replace(run, stays=run.stays and not any(each.on_host for each in metrics))
    in_kernel = tuple(None if each.on_host else each.score for each in metrics)
    size = sum(0 if each.on_host else each.indices.column.size for each in metrics)
    data = ScaledProjection(projection, None), tuple((each.indices, each.divisors) for each in metrics)
    for start, outputs in stream(_scores_tile, (("scores", in_kernel),), data, run, size=size):
        if run.stays:
            yield start, tuple(compiled(summaries.joined, devices=())(tiles) for tiles in outputs)
            continue
        scored = (
            _on_host(each, tiles) if each.on_host else tiles for each, tiles in zip(metrics, outputs, strict=True)
        )
        yield start, tuple(np.concatenate(list(tiles), axis=1)[:, : run.resamples - start] for tiles in scored)


def _on_host(metric: ScoreSpec, tiles: np.ndarray) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return [
            np.asarray(tally.replicate_scores(sums, metric.indices, metric.divisors, score=metric.score))
            for sums in tiles
        ]


def _swap_tile(
    rows: Array,
    valid: Array,
    scaled: ScaledProjection,
    pairs: tally.Pairs | tally.SuccessiveMaxima | tally.StudentizedPairs,
    *,
    score: Score,
    alternative: Alternative,
) -> tuple[Array, ...]:
    sums = scaled.projection.sums(rows)
    return tally.swap_exceed(sums, valid, pairs, scaled.divisors, score=score, alternative=alternative)


def _scores_tile(
    rows: Array, valid: Array, scaled: ScaledProjection, metrics: tuple[Any, ...], *, scores: tuple[Score | None, ...]
) -> tuple[Array, ...]:
    del valid  # padding rows come last, and `replicates` cuts them off
    sums = scaled.projection.sums(rows)
    return tuple(
        sums if score is None else tally.replicate_scores(sums, indices, divisors, score=score)
        for score, (indices, divisors) in zip(scores, metrics, strict=True)
    )


def swapped_sums(scaled: ScaledProjection, run: Run) -> np.ndarray:
    """Sums `[column, resample]` (float64, whole numbers) over the swapped units, for the resamples of the run."""
    pieces = [
        np.concatenate(list(tiles), axis=1)[:, : run.resamples - start]
        for start, (tiles,) in stream(_sums_tile, (), (scaled,), run, size=0)
    ]
    return np.concatenate(pieces, axis=1).astype(np.float64, copy=False)


def deltas_of(
    sums: np.ndarray, pairs: tally.Pairs, index: int, divisors: np.ndarray | None, score: Score
) -> np.ndarray:
    """Delta `[resample]` of one pair, from sums `[column, resample]`; by NumPy, so the same on every device."""
    one = tally.Pairs(*(part[index : index + 1] for part in pairs))
    with np.errstate(all="ignore"):  # deltas that are not finite are refused later, with names of systems
        return np.asarray(tally.swapped_deltas(sums, one, divisors, score)[0])


def _sums_tile(rows: Array, valid: Array, scaled: ScaledProjection) -> tuple[Array, ...]:
    del valid  # padding rows come last and are cut off later
    return (scaled.projection.sums(rows),)
