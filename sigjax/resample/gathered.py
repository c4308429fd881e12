"""Resamples of instances for functions of whole columns: the function gets weights, or gathered (copied) instances.

Masks, counts and draws come from `draws`, for all kinds of metrics. A function that takes weights gets the same columns
for all resamples; other functions get gathered columns. A function that takes the weights of many resamples is called
on tiles of them; other functions are mapped over resamples. If JAX can trace a function, it is compiled for the CPU,
whatever the device. Otherwise it is called with NumPy arrays. This choice depends on the metric and the work only. Each
resample is computed independently. So the numbers depend on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Array
from sigjax.resample.draws import bootstrap, draws_from_strata, row_keys, swap
from sigjax.resample.units import Sample
from sigjax.run.backend import check_callable, compiled, host_scope, imported_jax, is_traceable
from sigjax.run.context import ahead, num_cores
from sigjax.run.loops import expect, over_rows

_TILE_ELEMENTS = 2**19
"""Most weights in one tile, or most numbers in one of its columns: as many as fit into the cache."""
_FEWEST_ROWS, _LARGEST_TILE = 32, 2**23
"""For long columns: fewest rows and most weights of a tile. It may exceed the cache, so a sort serves several rows."""
_LONG_SORT = 128
"""From this length on, NumPy sorts faster than a compiled CPU program (1,000 numbers: ten times faster, measured)."""

ScorePieces = Iterator[tuple[int, np.ndarray]]
"""For each piece, its first resample, and its scores `[..., row]` (float64)."""


class Function(NamedTuple):
    """A function of columns `[instance]`, and how it is called."""

    call: Callable[..., Any]
    """The function; it is hashable, because it is a key of compiled programs."""
    weighted: bool
    """If true, it is called as `call(*columns, weights)`; else as `call(*columns)`."""
    compiled: bool
    vectorized: bool = False
    """Whether it takes the weights `[row, instance]` of many resamples."""

    @property
    def workers(self) -> int:
        """The number of threads that call the function; 1 if it has its own threads, or may not be thread-safe."""
        return num_cores() if self.vectorized and not self.compiled else 1


def can_compile(call: Callable[..., Any], num_arrays: int, num_instances: int, *, vectorized: bool) -> bool:
    """Whether a function of arrays `[instance]` can be compiled for the CPU, and mapped over resamples if needed."""
    jax = imported_jax()
    check_callable()
    try:
        jax.local_devices(backend="cpu")
    except (RuntimeError, AssertionError):  # JAX is set to use another platform only
        return False
    if vectorized:
        return is_traceable(call, *((num_instances,),) * (num_arrays - 1), (2, num_instances))
    return is_traceable(jax.vmap(call), *((2, num_instances),) * num_arrays)


def sorts_long(call: Callable[..., Any], num_arrays: int, num_instances: int) -> bool:
    """Whether a function is slower if compiled, because it sorts long columns for every resample."""
    jax = imported_jax()
    if num_instances < _LONG_SORT:
        return False
    columns = (np.zeros(num_instances),) * num_arrays
    with host_scope(), np.errstate(all="ignore"):
        by_jax = isinstance(call(*columns), jax.Array)  # then it sorts in JAX, even if not compiled
        return not by_jax and " sort[" in str(jax.make_jaxpr(call)(*columns))


def swap_scores(
    function: Function, sample: Sample, pairs: Sequence[tuple[int, int]], seed: int, resamples: range, shard: range
) -> ScorePieces:
    """Scores `[pair, side, row]` of pairs of systems on the same swaps of whole units, for a shard of the resamples."""
    draws = draws_from_strata(sample.strata)

    def scores(rows: np.ndarray) -> list[np.ndarray]:
        swapped = swap(row_keys(seed, rows), draws, np.bool_)[:, sample.unit]
        return [_run(_swapped, function, swapped, sample.columns[a], sample.columns[b]) for a, b in pairs]

    return _pieces(function, scores, resamples, 2 * len(sample.unit), shard)


def outcome_scores(function: Function, sample: Sample, pair: tuple[int, int], differing: np.ndarray) -> ScorePieces:
    """Scores `[side, row]` of two systems on all swaps of the units `differing` that keep the first unit in place.

    The other swaps are their mirror images. In the first row, no unit is swapped.
    """
    outcomes = range(2 ** (len(differing) - 1))
    a, b = sample.columns[list(pair)]

    def scores(rows: np.ndarray) -> np.ndarray:
        masks = np.zeros((len(rows), len(sample.strata)), bool)
        masks[:, differing[1:]] = rows[:, None] >> np.arange(len(differing) - 1) & 1
        return _run(_swapped, function, masks[:, sample.unit], a, b)

    return _pieces(function, scores, outcomes, 2 * len(sample.unit), outcomes)


def drawn_scores(function: Function, sample: Sample, seed: int, resamples: range, shard: range) -> ScorePieces:
    """Scores `[system, row]` of all systems on the same bootstrap resamples of whole units, for a shard of them."""
    draws = draws_from_strata(sample.strata)
    one_length = (sample.sizes == sample.sizes[0]).all()
    if not (function.weighted or one_length):
        # Do not compile: each number of drawn instances would need its own program.
        function = function._replace(compiled=False)

    def scores(rows: np.ndarray) -> list[np.ndarray]:
        keys = row_keys(seed, rows)
        if function.weighted:
            kernel, choice = _weighed, bootstrap(keys, draws, np.int32)[:, sample.unit]
        else:
            drawn = np.asarray(draws.drawn(keys))
            ends = np.cumsum(sample.sizes[drawn].sum(axis=1))
            instances = np.split(sample.instances(drawn.ravel()), ends[:-1])
            kernel, choice = _gathered, np.array(instances) if one_length else instances
        return [_run(kernel, function, choice, of_system) for of_system in sample.columns]

    return _pieces(function, scores, resamples, len(sample.unit), shard)


def _pieces(function: Function, scores: Callable[..., Any], resamples: range, width: int, shard: range) -> ScorePieces:
    """Yield `scores(rows)` of the shard, tile by tile. The tile size does not depend on the shard.

    Compiled programs take tiles of one size, so the last tile may have surplus rows.
    """
    within = max(_TILE_ELEMENTS // width, min(_FEWEST_ROWS, _LARGEST_TILE // width), 1)
    size: int = 2 ** min(within.bit_length() - 1, (len(resamples) - 1).bit_length())

    def of_tile(start: int) -> tuple[int, np.ndarray]:
        rows = np.arange(start, start + size if function.compiled else min(start + size, shard.stop))
        return start, np.stack(scores(rows))[..., : shard.stop - start]

    return ahead(of_tile, shard[::size], function.workers)


def _swapped(swapped: Array, a: Array, b: Array, *, function: Function) -> Array:
    """Scores `[side, row]` with the instances marked in `swapped` `[row, instance]` exchanged."""
    expect(swapped, (None, a.shape[-1]), bool)
    expect(b, a.shape, np.float64)
    xp = swapped.__array_namespace__()
    if function.weighted:
        # One table holds the instances of both systems; each side takes an instance from one of the two systems.
        table = tuple(xp.concatenate([a, b], axis=1))
        kept = xp.concatenate([~swapped, swapped], axis=1)
        return xp.stack([_over_rows(function, table, (side.astype(xp.float64),)) for side in (kept, ~kept)])
    sides = ((b, a), (a, b))
    columns = [[xp.where(swapped, *pair) for pair in zip(*side, strict=True)] for side in sides]
    return xp.stack([_over_rows(function, (), of_side) for of_side in columns])


def _weighed(counts: Array, columns: Array, *, function: Function) -> Array:
    """Scores `[row]` for counts `[row, instance]`."""
    expect(counts, (None, columns.shape[-1]), np.int32)
    weights = counts.astype(counts.__array_namespace__().float64)
    return _over_rows(function, tuple(columns), (weights,))


def _gathered(instances: Array, columns: Array, *, function: Function) -> Array:
    """Scores `[row]` of the instances `[row, draw]`; in NumPy, rows may differ in length."""
    if not function.compiled:
        return np.array([function.call(*columns[:, of_row]) for of_row in instances], np.float64)
    return _over_rows(function, (), [column[instances] for column in columns])


def _over_rows(function: Function, same: Sequence[Array], varying: Sequence[Array]) -> Array:
    """`call(*same [instance], *varying [row, instance])` for each row."""
    if function.vectorized:
        return function.call(*same, *varying)
    return over_rows(partial(function.call, *same), varying)


def _run(kernel: Callable[..., Array], function: Function, *arrays: Any) -> np.ndarray:
    if not function.compiled:
        # Scores that are not finite are refused later, by a message with the names of systems.
        with np.errstate(all="ignore"):
            return np.asarray(kernel(*arrays, function=function))
    return np.asarray(compiled(kernel, (("function", function),), "cpu")(*arrays))  # CPU even if there is a GPU
