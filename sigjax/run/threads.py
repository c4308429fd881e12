"""Threads for work that lets go of the interpreter, as NumPy and compiled programs do. They change no order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import numpy as np

from sigjax.records import Array

_MANY = 32
"""Items from which threads pay."""

Given = TypeVar("Given")
Found = TypeVar("Found")


def num_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process: one that is forked has none of those of its parent."""
    del process
    return ThreadPoolExecutor(num_cores(), "sigjax")


def ahead(function: Callable[[Given], Found], items: Iterable[Given], workers: int) -> Iterator[Found]:
    """The function of each item, in order, while so many threads work ahead; without threads for one.

    Example:
        >>> list(ahead(lambda x: x * x, range(5), workers=2))
        [0, 1, 4, 9, 16]
    """
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Found]] = deque()
    try:
        for item in items:
            waiting.append(_pool(os.getpid()).submit(function, item))
            # One more than can run: nobody waits while a result is looked at.
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def in_threads(function: Callable[[Given], Found], items: Sequence[Given]) -> list[Found]:
    """The function of each item, on all cores where there are many items."""
    cores = num_cores()
    if cores == 1 or len(items) < _MANY:
        return [function(item) for item in items]
    share = -(-len(items) // cores)
    parts = [items[start : start + share] for start in range(0, len(items), share)]
    shares = _pool(os.getpid()).map(lambda part: [function(item) for item in part], parts)
    return [found for part in shares for found in part]


def shared_out(kernel: Callable[..., Array], values: np.ndarray, *items: np.ndarray) -> np.ndarray:
    """A compiled `kernel(values, *items [item, ...]) -> [item, ...]`, on all cores: each call runs on one."""
    count, cores = len(items[0]), num_cores()
    if not count:
        return np.zeros(0, np.int64)
    places = np.minimum(np.arange(-(-count // cores) * cores), count - 1).reshape(cores, -1)
    parts = _pool(os.getpid()).map(lambda part: np.asarray(kernel(values, *(item[part] for item in items))), places)
    return np.concatenate(list(parts))[:count]
