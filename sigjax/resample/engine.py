"""The engine runs all resamples, tile by tile and in bounded memory, on NumPy or on the devices of JAX.

A row is one resample, and a tile is a number of consecutive rows. A kernel is a function that computes small results
from the rows of a tile. `stream` compiles a kernel (by `backend`) and runs it on all tiles. Results do not depend on
tile size, device or number of devices, for three reasons: the random numbers of a row depend only on the row, counts
are integers, and scores are computed row by row in float64. There are three kernels: counts of extreme swaps, scores on
bootstrap resamples, and sums over swapped units.
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
"""Function `(rows, valid, *data, **static)` that returns the results of one tile (some consecutive resamples). `rows`
[row, 3] are as in `draws.rows_of`. `valid` [row] is false for rows that are only padding. `data` are arrays, and
`static` the arguments that are fixed when the function is compiled."""
Static = tuple[tuple[str, Any], ...]
"""Keyword arguments that are fixed when a kernel is compiled."""

_TILE_ELEMENTS = {"numpy": 2**20, "cpu": 2**19, "gpu": 2**27}
"""A tile (some consecutive resamples) has at most this many weights, and at most a quarter as many numbers to be
scored. On a CPU, this many fit into the cache; on a GPU, they keep it busy."""
_FEWEST_ROWS, _LARGEST_TILE = 64, 2**25
_MOST_ROWS = {"numpy": 2**20, "cpu": 2**12, "gpu": 2**22}
"""A tile has at most this many rows (resamples). More rows would not be faster, and a run with few resamples would
compute many rows that are only padding."""
_TILES_PER_CALL, _ROWS_PER_CALL = 32, 2**19
"""In one call, a device runs at most `_TILES_PER_CALL` tiles and at most `_ROWS_PER_CALL` rows (resamples). So there
are few calls, but enough of them to move a progress bar."""


class Task(NamedTuple):
    """The arrays that the computation of every tile (some consecutive resamples) needs."""

    key: np.ndarray
    """[2] uint32: the key that is made from the seed."""
    resamples: np.ndarray
    """[] int64: the number of resamples. Rows from this number on are only padding."""
    data: tuple[Any, ...]
    """The arrays that the kernel (see `TileKernel`) takes as arguments after `rows` and `valid`."""


def stream(
    kernel: TileKernel, static: Static, data: tuple[Any, ...], run: Run, *, size: int, wide_vectors: bool = True
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Run a kernel on all resamples of `run`, tile by tile, and yield the results in order.

    A tile is some consecutive resamples. Each yield is for some tiles: the index of the first resample, and the results
    of the kernel, each an array `[tile, ...]`. `static` and `data` are arguments of the kernel. `size` is how many
    numbers a resample needs for computing scores.

    If a tile does not fit into the memory of the device, the remaining tiles have half as many rows. For
    `wide_vectors`, see `compiled`.
    """
    rows_per_tile, done = tile_rows(data[0].projection, size, run.backend.platform), run.start
    task = Task(seed_key(run.seed), np.array(run.resamples), data)
    if run.backend.devices:
        task = on_all_devices(run.backend.devices, task)
    while done < run.resamples:  # with more processes than resamples, a process may have none
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
    """Run all tiles, some tiles in each call of the program.

    `_num_workers` calls run at once; if results stay on the device, one call. A tile is `rows_per_tile` consecutive
    resamples. The same program is used for every number of resamples, because it skips tiles that begin after the last
    resample. `static` are the keyword arguments with which the kernel is compiled. As in `stream`, each yield has two
    values: the index of the first resample of the call, and the results of the kernel, each `[tile, ...]`.
    """
    num_tiles = -(-(run.resamples - run.start) // rows_per_tile)
    workers = 1 if run.stays else _num_workers(run.backend)  # the device has a queue, so one worker suffices
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
        # Scores that are not finite are counted. Later, they raise an error with the names of the systems.
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
    """Return how many calls of the program run at once.

    With several calls, all cores are used even if one call leaves some idle, and no device waits for the host.
    """
    if backend.platform == "cpu":
        return max(1, num_cores() // len(backend.devices))
    return 2 if backend.devices else 1


def tile_rows(projection: Projection, size: int, platform: str) -> int:
    """Return the number of resamples (rows) that are computed together as a tile: a power of two.

    It does not depend on the number of resamples, so that one program can be used for all numbers of resamples. `size`
    is how many numbers a resample needs for computing scores.
    """
    within = _TILE_ELEMENTS[platform] // max(projection.width, 4 * size)
    # With few rows in a tile, a matrix product would read the matrix too often. So if rows are long, a tile may be
    # larger than the cache.
    within = max(within, min(_FEWEST_ROWS, _LARGEST_TILE // projection.width))
    return min(2 ** (max(within, 1).bit_length() - 1), _MOST_ROWS[platform])


def _tiles(first: Array, task: Task, *, kernel: TileKernel, rows_per_tile: int, **static: Any) -> tuple[Array, ...]:
    """Return the results `[tile, ...]` of the kernel for the tiles that start with the resamples `first` `[tile]`.

    A tile is `rows_per_tile` consecutive resamples. The kernel does not run for tiles that begin after the last
    resample.
    """
    expect(task.key, (2,), np.uint32)
    xp = first.__array_namespace__()

    def of_tile(first: Array) -> tuple[Array, ...]:
        resamples = first + xp.arange(rows_per_tile)
        return kernel(rows_of(task.key, resamples), resamples < task.resamples, *task.data, **static)

    return map_items(lambda start: only_if(start < task.resamples, of_tile, start), first)


_PAIR_STATS = 2048
"""Pairs are scored in blocks; a block (of several pairs) has at most this many values in memory per resample."""


class ScaledProjection(NamedTuple):
    """A projection, and the divisors that convert its sums (whole numbers) to sums of the statistics."""

    projection: Projection
    divisors: np.ndarray | None
    """[stat] float64: sums are divided by these; None if no sum needs to be divided, because all statistics are whole
    numbers."""


def count_swaps(
    scaled: ScaledProjection,
    pairs: tally.Pairs | tally.SuccessiveMaxima | tally.StudentizedPairs,
    run: Run,
    *,
    metric: Metric,
    alternative: Alternative,
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Run the permutation test of all pairs on the same swaps, piece by piece.

    A piece is some consecutive resamples. Yields three values for each piece: the index of its first resample; on how
    many of its resamples the pair's statistic is at least as extreme as observed, `[pair]` int64; and whether every
    delta was finite, `[pair]` bool. For `SuccessiveMaxima`, this statistic is the largest one of the pair and all pairs
    before it.
    """
    count = len(pairs.left)
    blocks = type(pairs)(*tally.in_blocks(pairs, min(count, max(1, _PAIR_STATS // pairs.width))))
    static = (("score", metric.score), ("alternative", alternative))
    # A program for a CPU reads statistics one by one, so that only the deltas need memory.
    by_deltas = run.backend.platform == "cpu" and blocks.width == blocks.left.shape[2]
    held = blocks.left.shape[1] * (1 if by_deltas else blocks.width)
    tiles = stream(_swap_tile, static, (scaled, blocks), run, size=held, wide_vectors=metric.portable)
    for start, (counts, ok) in tiles:
        yield start, counts.sum(axis=0).ravel()[:count], ok.all(axis=0).ravel()[:count]


class ScoreSpec(NamedTuple):
    """What is needed to compute the scores of all systems by one metric from the sums of a resample."""

    indices: ColumnIndices
    """For each statistic of each system, the index of the column with its sum, and a constant to add to this sum."""
    divisors: np.ndarray | None
    """[stat] float64: sums are divided by these before they are scored; None if all statistics are whole numbers."""
    score: Score
    on_host: bool
    """Whether NumPy computes the scores, so that the device computes only the sums. This is for scores that a device
    rounds differently: otherwise, the last digits of intervals would depend on the device."""


def replicates(
    projection: Projection, metrics: Sequence[ScoreSpec], run: Run
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Yield the scores of all systems by some metrics on the same resamples, piece by piece.

    A piece is some consecutive resamples. Yields the index of its first resample, and for each metric its scores
    `[system, resample]` (float64). If `run.stays`, the scores are JAX arrays on the device, which have the same length
    for all pieces. But if NumPy computes the scores of any metric, all scores are on the host.
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
    del valid  # rows that are only padding come last, and `replicates` removes them
    sums = scaled.projection.sums(rows)
    return tuple(
        sums if score is None else tally.replicate_scores(sums, indices, divisors, score=score)
        for score, (indices, divisors) in zip(scores, metrics, strict=True)
    )


def swapped_sums(scaled: ScaledProjection, run: Run) -> np.ndarray:
    """Return sums over the swapped units, `[column, resample]` (float64), for the resamples of `run`.

    A column is one statistic of one system; the sums are whole numbers.
    """
    pieces = [
        np.concatenate(list(tiles), axis=1)[:, : run.resamples - start]
        for start, (tiles,) in stream(_sums_tile, (), (scaled,), run, size=0)
    ]
    return np.concatenate(pieces, axis=1).astype(np.float64, copy=False)


def deltas_of(
    sums: np.ndarray, pairs: tally.Pairs, index: int, divisors: np.ndarray | None, score: Score
) -> np.ndarray:
    """Return delta `[resample]` of the pair `index`, from sums `[column, resample]` over swapped units.

    A column is one statistic of one system. NumPy computes delta, so it is the same on every device.
    """
    one = tally.Pairs(*(part[index : index + 1] for part in pairs))
    with np.errstate(all="ignore"):  # deltas that are not finite raise an error later
        return np.asarray(tally.swapped_deltas(sums, one, divisors, score)[0])


def _sums_tile(rows: Array, valid: Array, scaled: ScaledProjection) -> tuple[Array, ...]:
    del valid  # rows that are only padding come last and are removed later
    return (scaled.projection.sums(rows),)
