"""Loops and operations that NumPy and JAX spell differently, so that kernels are written once and never branch.

For arrays of NumPy each is a Python loop or a plain call; for arrays that JAX traces it is one operation of the
program. Items are an array, or a (named) tuple of arrays, with a common first axis.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sigjax.records import Array

ZERO_COUNT = -128
"""What stands for a count of 0 in a byte."""


def expect(array: Array, shape: Sequence[int | None], dtype: Any) -> None:
    """State the shape (None: any length) and type of a kernel's argument; JAX checks it while it traces.

    chex would load JAX: arrays of NumPy, which come from the same callers, are not checked.
    """
    if not isinstance(array, np.ndarray):
        import chex

        chex.assert_shape(array, shape)
        chex.assert_type(array, dtype)


def scan(step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, items: Any, *, unroll: int = 1) -> tuple[Any, Any]:
    """`carry, result = step(carry, item)`, item by item: the last carry, and all results stacked.

    On a GPU `unroll` steps are one, and what they carry stays in registers; a CPU would take twice as long (measured).

    Example:
        >>> scan(lambda total, item: (total + item, total * item), 0, np.array([1, 2, 3]))
        (np.int64(6), array([0, 2, 9]))
    """
    if not _of_numpy(items):
        from jax import lax

        if unroll == 1:
            return lax.scan(step, carry, items)
        unrolled = partial(lax.scan, step, unroll=unroll)
        return lax.platform_dependent(carry, items, cpu=partial(lax.scan, step), default=unrolled)
    results = []
    for item in _each(items):
        carry, result = step(carry, item)
        results.append(result)
    return carry, _stacked(results)


def map_items(function: Callable[[Any], Any], items: Any) -> Any:
    """The function of each item, results stacked."""
    return scan(lambda _, item: ((), function(item)), (), items)[1]


def over_rows(function: Callable[..., Any], rows: Sequence[Array]) -> Array:
    """`function(*row)` for each row of some arrays `[row, ...]`: numbers `[row]` (float64)."""
    if _of_numpy(tuple(rows)):
        return np.array([function(*row) for row in zip(*rows, strict=True)], np.float64)
    from jax import vmap

    return vmap(function)(*rows).astype(np.float64)


def repeat(step: Callable[[Array, Any], Any], times: Array, carry: tuple[Array, ...]) -> tuple[Array, ...]:
    """`carry = step(i, carry)` for i = 0, 1, ... `times` times; `times` need not be known when JAX compiles."""
    if not _of_numpy(carry):
        from jax import lax

        return lax.fori_loop(0, times, step, carry)
    for i in range(int(times)):
        carry = step(np.int32(i), carry)
    return carry


def counts(draw: Callable[[Array], Array], rows: Array, width: int, dtype: Any) -> Array:
    """How often `draw(rows) [row, draw]` gives each number below `width`, `[row, width]`; JAX counts up to 255."""
    xp = rows.__array_namespace__()
    if xp is not np:
        row = xp.arange(len(rows))[:, None]
        # Bytes stay closer to the core.
        return xp.zeros((len(rows), width), xp.uint8).at[row, draw(rows)].add(1).astype(dtype)

    def write(rows: np.ndarray, out: np.ndarray) -> None:
        drawn = draw(rows)
        drawn += np.arange(0, out.size, width, dtype=drawn.dtype)[:, None]
        out[:] = np.bincount(drawn.ravel(), minlength=out.size).reshape(out.shape)

    return in_cache(write, rows, np.empty((len(rows), width), dtype), 2**17)


def counted(hits: Array, values: Array) -> tuple[Array, Array]:
    """How many `hits` `[row, item]` (bool) each row has (int64), and whether all its `values` are finite."""
    if isinstance(hits, np.ndarray):
        return np.sum(hits, axis=1, dtype=np.int64), np.isfinite(np.sum(values, axis=1))
    # One sum of both: for two, XLA keeps the values in the memory of a GPU.
    xp, none, other = hits.__array_namespace__(), np.int64(0), np.int64(2**32)
    total = xp.sum(hits.astype(np.int64) + xp.where(xp.isfinite(values), none, other), axis=1)
    return total % other, total < other


def byte_counts(drawn: Array, width: int) -> Array:
    """How often each row `[row, draw]` draws each number below `width`, from `ZERO_COUNT` on: `[row, width]` int8.

    For JAX. Counts are up to 255, and `width` is a multiple of four: GPUs add no bytes in memory, but words of four.
    Larger ones of padding, which comes last, change no others.
    """
    from jax.lax import bitcast_convert_type

    xp = drawn.__array_namespace__()
    row = xp.arange(len(drawn))[:, None]
    one = xp.uint32(1) << ((drawn & 3) * 8).astype(xp.uint32)
    words = xp.zeros((len(drawn), width // 4), xp.uint32).at[row, drawn >> 2].add(one)
    return bitcast_convert_type(words ^ xp.uint32(0x80808080), xp.int8).reshape(len(drawn), width)


def in_cache(write: Callable[[np.ndarray, np.ndarray], None], rows: np.ndarray, out: np.ndarray, size: int) -> Array:
    """`write(rows, out)` a few rows at a time, `size` numbers, so that NumPy's passes stay in the cache."""
    step = max(1, size // max(out.shape[1], 1))
    for start in range(0, len(rows), step):
        write(rows[start : start + step], out[start : start + step])
    return out


def product(weights: Array, matrix: Array) -> Array:
    """`(weights @ matrix).T` `[column, row]`, exact where whole numbers are exact in the type."""
    expect(weights, (None, len(matrix)), matrix.dtype)
    xp = matrix.__array_namespace__()
    if xp is np:
        return (weights @ matrix).T
    # The default product of a GPU rounds its inputs to ten bits, which would not be exact. Without the barrier XLA on
    # CPU folds the transpose into the product, which then takes ten times longer.
    return barrier(xp.matmul(weights, matrix, precision="highest")).T


def byte_product(matrix: Array, weights: Array) -> Array:
    """`matrix @ weights.T` `[column, row]` (int32) of bytes `[column, unit]` and `[row, unit]`."""
    expect(weights, (None, matrix.shape[1]), np.int8)
    if isinstance(matrix, np.ndarray):
        return matrix.astype(np.int32) @ weights.T
    from jax.lax import dot_general

    return dot_general(matrix, weights, (((1,), (1,)), ((), ())), preferred_element_type=np.int32)


def barrier(arrays: Any) -> Any:
    """Keep XLA from joining what makes arrays, alone or in a tuple, and what uses them."""
    if _of_numpy(arrays):
        return arrays
    from jax.lax import optimization_barrier

    return optimization_barrier(arrays)


def look_up(table: Array, index: Array) -> Array:
    """`table[index]`, for an index that is in bounds."""
    return table[index] if isinstance(table, np.ndarray) else table.at[index].get(mode="promise_in_bounds")


def cut(array: Array, start: Array, size: int) -> Array:
    """`array[start : start + size]`, where `start` need not be known when JAX compiles."""
    if isinstance(array, np.ndarray):
        return array[start : start + size]
    from jax.lax import dynamic_slice

    return dynamic_slice(array, (start,), (size,))


def popcount(words: Array) -> Array:
    """How many bits of each word are set."""
    if isinstance(words, np.ndarray):
        return np.bitwise_count(words)
    from jax.lax import population_count

    return population_count(words)


def running_maximum(values: Array) -> Array:
    """Maxima along the first axis, up to each item."""
    if isinstance(values, np.ndarray):
        return np.maximum.accumulate(values, axis=0)
    from jax.lax import cummax

    return cummax(values, axis=0)


def stack_last(parts: Sequence[Array]) -> Array:
    """Arrays `[...]` as one `[..., part]`, laid out so that each part can be read in a run."""
    if isinstance(parts[0], np.ndarray):
        return np.moveaxis(np.stack(parts), 0, -1)
    # XLA cuts what was joined along the last axis apart again: no array of all parts is gathered and transposed.
    return parts[0].__array_namespace__().stack(parts, axis=-1)


def _of_numpy(items: Any) -> bool:
    return isinstance(items[0] if isinstance(items, tuple) else items, np.ndarray)


def _each(items: Any) -> Any:
    if not isinstance(items, tuple):
        return items
    return map(getattr(items, "_make", tuple), zip(*items, strict=True))


def _stacked(results: list[Any]) -> Any:
    if isinstance(results[0], tuple):
        return tuple(_stacked(list(parts)) for parts in zip(*results, strict=True))
    return results[0][None] if len(results) == 1 else np.stack(results)
