"""Loops and operations that are written differently in NumPy and in JAX. With them, kernels are written only once.

For NumPy arrays, each function is a Python loop or a plain call. For arrays that JAX traces, it is one operation of the
compiled program. `items` are an array, or a (named) tuple of arrays, with a common first axis.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np

from sigjax.records import Array

Carry = TypeVar("Carry")
_SIGN = 2**63
ZERO_COUNT = -128
"""The value of a signed byte that stands for a count of 0 (see `byte_counts`)."""


def expect(array: Array, shape: Sequence[int | None], dtype: Any) -> None:
    """Check the shape (None: any length) and the type of a kernel's argument, while JAX traces the kernel.

    NumPy arrays are not checked: they come from the same callers, and the check would import JAX.
    """
    if not isinstance(array, np.ndarray):
        import chex  # pyright: ignore[reportMissingTypeStubs]

        chex.assert_shape(array, shape)
        chex.assert_type(array, dtype)


def scan(
    step: Callable[[Carry, Any], tuple[Carry, Any]], carry: Carry, items: Any, *, unroll: int = 1
) -> tuple[Carry, Any]:
    """Apply `carry, result = step(carry, item)` to each item; return the last `carry` and the stacked results.

    On a GPU, `unroll` steps become one step, so that `carry` stays in registers. A CPU does each step alone, because it
    would otherwise take twice as long (measured).

    >>> scan(lambda total, item: (total + item, total * item), 0, np.array([1, 2, 3]))
    (np.int64(6), array([0, 2, 9]))
    """
    if not _of_numpy(items):
        lax = _lax()
        if unroll == 1:
            return lax.scan(step, carry, items)
        unrolled = partial(lax.scan, step, unroll=unroll)
        return lax.platform_dependent(carry, items, cpu=partial(lax.scan, step), default=unrolled)
    results: list[Any] = []
    for item in _unstacked(items):
        carry, result = step(carry, item)
        results.append(result)
    return carry, _stacked(results)


def map_items(function: Callable[[Any], Any], items: Any) -> Any:
    """The results of the function for each item, stacked along a new first axis."""

    def step(_: tuple[()], item: Any) -> tuple[tuple[()], Any]:
        return (), function(item)

    return scan(step, (), items)[1]


def only_if(needed: Array, function: Callable[[Any], Any], item: Any) -> Any:
    """Return the result of the function for an item, if `needed` is true.

    If it is false, a compiled program skips the item and returns zeros; NumPy computes every item.
    """
    if isinstance(item, (np.ndarray, np.generic)):
        return function(item)
    jax: Any = import_module("jax")

    def zeros(item: Any) -> Any:
        return jax.tree.map(jax.numpy.zeros_like, jax.eval_shape(function, item))

    return _lax().cond(needed, function, zeros, item)


def over_rows(function: Callable[..., Any], rows: Sequence[Array]) -> Array:
    """Return `function(*row)` for each row of the arrays `rows`, each `[row, ...]`, as float64 numbers `[row]`."""
    if _of_numpy(tuple(rows)):
        return np.array([function(*row) for row in zip(*rows, strict=True)], np.float64)
    from jax import vmap

    return vmap(function)(*rows).astype(np.float64)


def repeat(step: Callable[[Any, Carry], Carry], times: Array, carry: Carry) -> Carry:
    """Repeat `carry = step(i, carry)` for i = 0, ..., `times` - 1, where JAX can compile before `times` is known."""
    if not _of_numpy(carry):
        return _lax().fori_loop(0, times, step, carry)
    for i in range(int(times)):
        carry = step(np.int32(i), carry)
    return carry


def count_draws(draw: Callable[[Array], Array], rows: Array, width: int, dtype: Any) -> Array:
    """Count how often each row of `draw(rows)` `[row, draw]` contains each number below `width`: `[row, width]`.

    In JAX, the counts must not exceed 255.
    """
    xp = rows.__array_namespace__()
    if not isinstance(rows, np.ndarray):
        row = xp.arange(len(rows))[:, None]
        # Count in bytes, since more bytes fit into the cache of a core.
        return xp.zeros((len(rows), width), xp.uint8).at[row, draw(rows)].add(1).astype(dtype)

    def write(rows: np.ndarray, out: np.ndarray) -> None:
        drawn = np.asarray(draw(rows))
        drawn += np.arange(0, out.size, width, dtype=drawn.dtype)[:, None]
        out[:] = np.bincount(drawn.ravel(), minlength=out.size).reshape(out.shape)

    return in_cache(write, rows, np.empty((len(rows), width), dtype), 2**17)


def count_hits(hits: Array, values: Array) -> tuple[Array, Array]:
    """Return two arrays `[row]`: the number of true `hits`, and whether all `values` are finite.

    Both arguments are `[row, item]`.
    """
    if isinstance(hits, np.ndarray):
        return hits.sum(axis=1, dtype=np.int64), np.isfinite(np.asarray(values).sum(axis=1))
    # One sum computes both results. With two sums, XLA would write the values to the GPU's memory.
    xp, none, other = hits.__array_namespace__(), np.int64(0), np.int64(2**32)
    total = xp.sum(hits.astype(np.int64) + xp.where(xp.isfinite(values), none, other), axis=1)
    return total % other, total < other


def byte_counts(drawn: Array, width: int) -> Array:
    """Count how often each row of `drawn` `[row, draw]` contains each number below `width`: `[row, width]` int8.

    The number `ZERO_COUNT` means a count of 0, the next number a count of 1, and so on.

    This function is only for JAX. Counts must not exceed 255, and `width` is a multiple of four: a GPU adds integers of
    four bytes, not single bytes. Columns after the last unit are padding. Their counts may exceed 255, because a carry
    only changes later columns of padding.
    """
    xp = drawn.__array_namespace__()
    row = xp.arange(len(drawn))[:, None]
    one = xp.uint32(1) << ((drawn & 3) * 8).astype(xp.uint32)
    words = xp.zeros((len(drawn), width // 4), xp.uint32).at[row, drawn >> 2].add(one)
    return _lax().bitcast_convert_type(words ^ xp.uint32(0x80808080), xp.int8).reshape(len(drawn), width)


def in_cache(write: Callable[[np.ndarray, np.ndarray], None], rows: np.ndarray, out: np.ndarray, size: int) -> Array:
    """Call `write(rows, out)` for blocks of rows, so that NumPy's arrays stay in the cache; return `out`.

    A block of `out` has about `size` numbers.
    """
    step = max(1, size // max(out.shape[1], 1))
    for start in range(0, len(rows), step):
        write(rows[start : start + step], out[start : start + step])
    return out


def product(weights: Array, matrix: Array) -> Array:
    """Return `(weights @ matrix).T` `[column, row]`; it is exact if the type of the arrays can hold all sums."""
    expect(weights, (None, len(matrix)), matrix.dtype)
    xp = matrix.__array_namespace__()
    if xp is np:
        return (weights @ matrix).T
    # By default a GPU rounds the inputs of a product to ten bits, which would not be exact. Without the barrier, XLA on
    # CPU merges the transpose into the product, which then takes ten times longer.
    return barrier(xp.matmul(weights, matrix, precision="highest")).T


def byte_product(matrix: Array, weights: Array) -> Array:
    """Return `matrix @ weights.T` `[column, row]` (int32), from int8 numbers `[column, unit]` and `[row, unit]`."""
    expect(weights, (None, matrix.shape[1]), np.int8)
    if isinstance(matrix, np.ndarray):
        return matrix.astype(np.int32) @ weights.T
    return _lax().dot_general(matrix, weights, (((1,), (1,)), ((), ())), preferred_element_type=np.int32)


WORDS, _COLUMNS = 16, 256
"""`differing` compares `WORDS` words (of 64 bits) of `_COLUMNS` rows of the second array at a time. They fit into the
first-level cache (measured)."""


def differing(first: Array, second: Array, width: Array) -> Array:
    """Count the positions in which each row of `first` differs from each row of `second`: `[first, second]` (int32).

    Rows are bytes `[row, position]`: 1 or -1 up to position `width`, then 0. There are fewer than `2**24` positions. In
    a program for a CPU, rows are words of 64 bits, `[row, word]` (uint64), with one bit for each position, and the
    number of words is a multiple of `WORDS`.
    """
    if isinstance(first, np.ndarray):
        agreeing = (first.astype(np.float32) @ second.T.astype(np.float32)).astype(np.int32)
        return (width - agreeing) >> 1
    if first.dtype != np.uint64:
        return (width - byte_product(first, second)) >> 1
    xp = first.__array_namespace__()
    columns = next(size for size in (_COLUMNS, len(second)) if len(second) % size == 0)
    rows = 2 if len(first) % 2 == 0 else 1

    def of_columns(words: Array) -> Array:
        """Return the counts `[first, row]` for a block of rows of `second`, given as `words` `[group, word, row]`."""

        def of_rows(own: Array) -> Array:
            def add(found: Array, group: tuple[Array, Array]) -> tuple[Array, tuple[()]]:
                left, right = group
                for at in range(WORDS):
                    found = found + popcount(left[at][:, None] ^ right[at][None, :])
                return found, ()

            return scan(add, xp.zeros((rows, columns), xp.uint64), (own, words))[0].astype(xp.int32)

        grouped = xp.moveaxis(first.reshape(-1, rows, first.shape[1] // WORDS, WORDS), 1, 3)
        return map_items(of_rows, grouped).reshape(len(first), columns)

    by_column = xp.moveaxis(second.reshape(-1, columns, second.shape[1] // WORDS, WORDS), 1, 3)
    return xp.moveaxis(map_items(of_columns, by_column), 0, 1).reshape(len(first), len(second))


def slice_at(array: Array, start: Array, size: int) -> Array:
    """Return `array[start : start + size]`, which must be in the array; JAX can compile it before `start` is known."""
    if isinstance(array, np.ndarray):
        return array[start : start + size]
    return _lax().dynamic_slice_in_dim(array, start, size)


def slice_last(array: Array, start: Array, size: int) -> Array:
    """Return `array[..., start : start + size]`, which must lie within the array; only for JAX."""
    return _lax().dynamic_slice_in_dim(array, start, size, axis=-1)


def put_at(array: Array, part: Array, start: Array) -> Array:
    """Return the array with `part` in place of its columns from `start` on; only for JAX."""
    return _lax().dynamic_update_slice_in_dim(array, part, start, axis=-1)


def while_any(needed: Callable[[Carry], Array], step: Callable[[Carry], Carry], carry: Carry) -> Carry:
    """Repeat `carry = step(carry)` while `needed(carry)` has a true element; only for JAX."""

    def any_is(carry: Carry) -> Any:
        return needed(carry).any()

    return _lax().while_loop(any_is, step, carry)


def order_keys(numbers: Array) -> Array:
    """Map float64 numbers to whole numbers (uint64) in the same order; adjacent floats differ by 1, and NaN comes last.

    This function is only for JAX.
    """
    bits = _lax().bitcast_convert_type(numbers, np.uint64)
    is_negative = bits >= np.uint64(_SIGN)
    xp = numbers.__array_namespace__()
    return xp.where(xp.isnan(numbers), np.uint64(2**64 - 1), xp.where(is_negative, ~bits, bits | np.uint64(_SIGN)))


def numbers_from_keys(keys: Array) -> Array:
    """The float64 numbers that the function `order_keys` maps to these keys; the inverse of `order_keys`."""
    xp = keys.__array_namespace__()
    bits = xp.where(keys >= np.uint64(_SIGN), keys ^ np.uint64(_SIGN), ~keys)
    return _lax().bitcast_convert_type(bits, np.float64)


def barrier(arrays: Any) -> Any:
    """Return the arrays, and keep XLA from merging the code that makes them with the code that uses them."""
    if _of_numpy(arrays):
        return arrays
    return _lax().optimization_barrier(arrays)


def look_up(table: Array, index: Array) -> Array:
    """Return `table[index]`; the index must be within bounds, which is not checked."""
    return table[index] if isinstance(table, np.ndarray) else table.at[index].get(mode="promise_in_bounds")


def popcount(words: Array) -> Array:
    """Count the bits that are 1 in each integer of `words`."""
    if isinstance(words, np.ndarray):
        return np.bitwise_count(words)
    return _lax().population_count(words)


def running_maximum(values: Array) -> Array:
    """The largest of the values up to each index of the first axis."""
    if isinstance(values, np.ndarray):
        return np.maximum.accumulate(values, axis=0)
    return _lax().cummax(values, axis=0)


def stack_last(arrays: Sequence[Array]) -> Array:
    """Stack arrays `[...]` to one array `[..., array]`; each of them stays contiguous in memory."""
    if isinstance(arrays[0], np.ndarray):
        return np.moveaxis(np.stack(arrays), 0, -1)
    # XLA can undo a stack along the last axis, so it copies and transposes nothing.
    return arrays[0].__array_namespace__().stack(arrays, axis=-1)


def _of_numpy(items: Any) -> bool:
    """Whether these are NumPy arrays."""
    return isinstance(items[0] if isinstance(items, tuple) else items, np.ndarray)


def _lax() -> Any:
    """`jax.lax`; Any, because its types are incomplete."""
    from jax import lax

    return lax


def _unstacked(items: Any) -> Any:
    """Yield the items one by one: arrays, or tuples of the same type as the tuple of arrays."""
    if not isinstance(items, tuple):
        return items
    arrays = cast("tuple[Array, ...]", items)
    return map(getattr(arrays, "_make", tuple), zip(*arrays, strict=True))


def _stacked(results: list[Any]) -> Any:
    """Stack results, which are arrays or tuples of arrays, along a new first axis."""
    if isinstance(results[0], tuple):
        return tuple(_stacked(list(column)) for column in cast("Iterator[tuple[Any, ...]]", zip(*results, strict=True)))
    return results[0][None] if len(results) == 1 else np.stack(results)
