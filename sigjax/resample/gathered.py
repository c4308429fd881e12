"""Resamples of instances for metrics that are functions of whole columns, such as correlations.

A column is an input of the function, with one number for each instance. The resamples are the same as for other
metrics: masks, counts and draws are made by `draws`. If a function has an argument for weights, it is called with the
original columns and the weights of a resample. Other functions are called with gathered columns: copies of the drawn
instances. If a function accepts the weights of many resamples at once, it is called for a tile (many resamples) at a
time. Other functions are called for one resample at a time.

If JAX can trace a function, the function is compiled for the CPU, whatever the device. Otherwise it is called with
NumPy arrays. This choice depends only on the metric and the amount of work. Each resample is computed independently of
the others. So scores do not depend on the device, tiles or shards.
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
"""A tile (some resamples that are computed together) has at most this many weights, or this many numbers in one
gathered column, so that they fit into the cache."""
_FEWEST_ROWS, _LARGEST_TILE = 32, 2**23
"""If columns are long, a tile has at least `_FEWEST_ROWS` resamples, but at most `_LARGEST_TILE` weights. It may then
be larger than the cache, so that one sort of a column is used for several resamples."""
_LONG_SORT = 128
"""Smallest length of columns that NumPy sorts faster than a compiled program on a CPU does. (Measured: for 1,000
numbers, NumPy is ten times faster.)"""

ScorePieces = Iterator[tuple[int, np.ndarray]]
"""Iterator over pieces (some consecutive resamples). For each piece, it yields two values: the index of the first
resample, and the scores `[..., row]` (float64) of the resamples (rows)."""


class Function(NamedTuple):
    """A metric's function of columns `[instance]`, and how it is called."""

    call: Callable[..., Any]
    """The metric's function. It is hashable, because compiled programs are looked up by it."""
    weighted: bool
    """If true, the function is called as `call(*columns, weights)`, else as `call(*columns)`."""
    compiled: bool
    vectorized: bool = False
    """Whether the function takes the weights `[row, instance]` of many resamples at once."""

    @property
    def workers(self) -> int:
        """The number of threads that call the function: one per core if `vectorized` and not `compiled`, else 1.

        A compiled function uses several threads itself. A function that is not vectorized may not be thread-safe.
        """
        return num_cores() if self.vectorized and not self.compiled else 1


def can_compile(call: Callable[..., Any], num_arrays: int, num_instances: int, *, vectorized: bool) -> bool:
    """Whether a function of arrays `[instance]` can be compiled for the CPU.

    A function that is not `vectorized` must also work under `jax.vmap`, which maps it over resamples.
    """
    jax = imported_jax()
    check_callable()
    try:
        jax.local_devices(backend="cpu")
    except (RuntimeError, AssertionError):  # JAX is configured for other platforms only
        return False
    if vectorized:
        return is_traceable(call, *((num_instances,),) * (num_arrays - 1), (2, num_instances))
    return is_traceable(jax.vmap(call), *((2, num_instances),) * num_arrays)


def sorts_long(call: Callable[..., Any], num_arrays: int, num_instances: int) -> bool:
    """Whether a function would be slower if it were compiled, because it sorts long columns for every resample."""
    jax = imported_jax()
    if num_instances < _LONG_SORT:
        return False
    columns = (np.zeros(num_instances),) * num_arrays
    with host_scope(), np.errstate(all="ignore"):
        by_jax = isinstance(call(*columns), jax.Array)  # if true, it sorts in JAX even without compiling
        return not by_jax and " sort[" in str(jax.make_jaxpr(call)(*columns))


def swap_scores(
    function: Function, sample: Sample, pairs: Sequence[tuple[int, int]], seed: int, resamples: range, shard: range
) -> ScorePieces:
    """Yield the scores of pairs of systems on the same swaps of units, for a shard (a range) of the resamples.

    Each yield is for some resamples (rows): the index of the first resample, and the scores `[pair, side, row]`. `side`
    is 0 for the first system of the pair, and 1 for the second system. All instances of a unit are swapped together.
    """
    draws = draws_from_strata(sample.strata)

    def scores(rows: np.ndarray) -> list[np.ndarray]:
        swapped = swap(row_keys(seed, rows), draws, np.bool_)[:, sample.unit]
        return [_run(_swapped, function, swapped, sample.columns[a], sample.columns[b]) for a, b in pairs]

    return _pieces(function, scores, resamples, 2 * len(sample.unit), shard)


def outcome_scores(function: Function, sample: Sample, pair: tuple[int, int], differing: np.ndarray) -> ScorePieces:
    """Yield the scores of two systems on all swaps of the units `differing[1:]`.

    `differing` are the units on which the systems differ. `differing[0]` is never swapped, because such a swap gives
    the scores of another swap with the two sides exchanged. Each row is one swap; in the first row, no unit is swapped.
    Each yield is for some rows: the index of the first row, and the scores `[side, row]`. `side` is 0 for the first
    system of the pair, and 1 for the second system.
    """
    outcomes = range(2 ** (len(differing) - 1))
    a, b = sample.columns[list(pair)]

    def scores(rows: np.ndarray) -> np.ndarray:
        masks = np.zeros((len(rows), len(sample.strata)), bool)
        masks[:, differing[1:]] = rows[:, None] >> np.arange(len(differing) - 1) & 1
        return _run(_swapped, function, masks[:, sample.unit], a, b)

    return _pieces(function, scores, outcomes, 2 * len(sample.unit), outcomes)


def drawn_scores(function: Function, sample: Sample, seed: int, resamples: range, shard: range) -> ScorePieces:
    """Yield the scores of all systems on the same bootstrap resamples of units, for a shard (a range) of the resamples.

    Each yield is for some resamples (rows): the index of the first resample, and the scores `[system, row]`. If a unit
    is drawn, all its instances are in the resample.
    """
    draws = draws_from_strata(sample.strata)
    one_length = (sample.sizes == sample.sizes[0]).all()
    if not (function.weighted or one_length):
        # Do not compile the function, because each number of drawn instances would need another program.
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
    """Yield the scores of the resamples of the shard, tile by tile (some consecutive resamples at a time).

    Each yield has two values: the index of the first resample of the tile, and the scores `[..., row]` of its resamples
    (rows). `scores` computes them from the indices of the resamples. `width` is the number of weights or gathered
    instances per row. The tile size does not depend on the shard. Compiled programs need tiles of one size, so the last
    tile may have additional rows, whose scores are removed.
    """
    within = max(_TILE_ELEMENTS // width, min(_FEWEST_ROWS, _LARGEST_TILE // width), 1)
    size: int = 2 ** min(within.bit_length() - 1, (len(resamples) - 1).bit_length())

    def of_tile(start: int) -> tuple[int, np.ndarray]:
        rows = np.arange(start, start + size if function.compiled else min(start + size, shard.stop))
        return start, np.stack(scores(rows))[..., : shard.stop - start]

    return ahead(of_tile, shard[::size], function.workers)


def _swapped(swapped: Array, a: Array, b: Array, *, function: Function) -> Array:
    """Return scores `[side, row]` of systems `a` and `b` after swaps of the instances `swapped` `[row, instance]`.

    `a` and `b` are the columns `[input, instance]` of the two systems. A row is a resample.
    """
    expect(swapped, (None, a.shape[-1]), bool)
    expect(b, a.shape, np.float64)
    xp = swapped.__array_namespace__()
    if function.weighted:
        # Both sides use the same columns, which contain the instances of both systems. The weights of a side are 1 for
        # the instances that the side has after the exchange, else 0.
        table = tuple(xp.concatenate([a, b], axis=1))
        kept = xp.concatenate([~swapped, swapped], axis=1)
        return xp.stack([_over_rows(function, table, (side.astype(xp.float64),)) for side in (kept, ~kept)])
    sides = ((b, a), (a, b))
    columns = [[xp.where(swapped, *pair) for pair in zip(*side, strict=True)] for side in sides]
    return xp.stack([_over_rows(function, (), of_side) for of_side in columns])


def _weighed(counts: Array, columns: Array, *, function: Function) -> Array:
    """Return the scores `[row]` of one system on bootstrap resamples.

    `counts` `[row, instance]` is how often each resample contains each instance. `columns` `[input, instance]` are the
    arguments of the function (the inputs of the metric).
    """
    expect(counts, (None, columns.shape[-1]), np.int32)
    weights = counts.astype(counts.__array_namespace__().float64)
    return _over_rows(function, tuple(columns), (weights,))


def _gathered(instances: Array, columns: Array, *, function: Function) -> Array:
    """Return the scores `[row]` of one system on the drawn `instances` `[row, draw]` of each resample.

    If the function is not compiled, rows may have different lengths.
    """
    if not function.compiled:
        return np.array([function.call(*columns[:, of_row]) for of_row in instances], np.float64)
    return _over_rows(function, (), [column[instances] for column in columns])


def _over_rows(function: Function, same: Sequence[Array], varying: Sequence[Array]) -> Array:
    """Call the function for each resample, with the arrays `same` `[instance]` and one row of each array of `varying`.

    The arrays of `varying` are `[row, instance]`; a row is a resample.
    """
    if function.vectorized:
        return function.call(*same, *varying)
    return over_rows(partial(function.call, *same), varying)


def _run(kernel: Callable[..., Array], function: Function, *arrays: Any) -> np.ndarray:
    if not function.compiled:
        # Scores that are not finite raise an error later, with the names of the systems.
        with np.errstate(all="ignore"):
            return np.asarray(kernel(*arrays, function=function))
    return np.asarray(compiled(kernel, (("function", function),), "cpu")(*arrays))  # CPU even if there is a GPU
