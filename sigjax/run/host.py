"""The host: its threads, its memory, and what is installed on it.

Threads serve work that releases the interpreter lock, as NumPy and compiled programs do. They change no order.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TextIO, TypeVar

import numpy as np

from sigjax.records import Array, Settings
from sigjax.run.backend import devices
from sigjax.version import installed_version, versions

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_MANY = 32
"""Items from which threads pay."""

Item = TypeVar("Item")
Result = TypeVar("Result")
_FRACTION = 0.5
"""Of the memory, that replicates may take."""
_MISSING = "not installed"
_EXTRAS = {
    "mt": "sacrebleu",
    "rouge": "rouge-score",
    "ir": "pytrec-eval-terrier",
    "dataframe": "narwhals",
    "parquet": "pyarrow",
    "plot": "matplotlib",
}


def num_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process; a forked process has none of its parent's."""
    from concurrent.futures import ThreadPoolExecutor

    del process
    return ThreadPoolExecutor(num_cores(), "sigjax")


def ahead(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """The function of each item, in order, while `workers` threads work ahead; without threads for one worker.

    >>> list(ahead(lambda x: x * x, range(5), workers=2))
    [0, 1, 4, 9, 16]
    """
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(_pool(os.getpid()).submit(function, item))
            # One more than can run: no thread idles while a result is used.
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function of each item, on all cores if there are many items."""
    cores = num_cores()
    if cores == 1 or len(items) < _MANY:
        return [function(item) for item in items]
    size = -(-len(items) // cores)

    def of_block(start: int) -> list[Result]:
        return [function(item) for item in items[start : start + size]]

    return [result for block in _pool(os.getpid()).map(of_block, range(0, len(items), size)) for result in block]


def on_all_cores(kernel: Callable[..., Array], values: np.ndarray, *items: np.ndarray) -> np.ndarray:
    """A compiled `kernel(values, *items [item, ...]) -> [item, ...]`, in one call per core."""
    count, cores = len(items[0]), num_cores()
    if not count:
        return np.zeros(0, np.int64)
    index = np.minimum(np.arange(-(-count // cores) * cores), count - 1).reshape(cores, -1)

    def of_block(block: np.ndarray) -> np.ndarray:
        return np.asarray(kernel(values, *(item[block] for item in items)))

    return np.concatenate(list(_pool(os.getpid()).map(of_block, index)))[:count]


def gib(shape: tuple[int, int]) -> float:
    """GiB of replicates `[row, resample]` of this shape.

    >>> gib((2, 2**26))
    1.0
    """
    return math.prod(shape) * 8 / 2**30


def fits(needed: float, settings: Settings) -> bool:
    """Whether replicates of this many GiB may be kept."""
    return needed <= _FRACTION * settings.memory


def memory_for(needed: float) -> float:
    """The least `memory` setting, in GiB to two decimals, for replicates of this many GiB.

    >>> memory_for(0.123)
    0.25
    """
    return math.ceil(100.0 * needed / _FRACTION) / 100.0


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; it may be None or closed."""
    return stream is not None and not stream.closed and stream.isatty()


def installed() -> dict[str, str]:
    """Versions, devices and extras: name -> text.

    >>> list(installed())
    ['sigjax', 'python', 'numpy', 'scipy', 'jax', 'jaxlib', 'devices', 'auto', 'gpu', 'extras']
    """
    extras = [f"{extra} ({installed_version(package) or _MISSING})" for extra, package in _EXTRAS.items()]
    packages = versions() | {"jaxlib": installed_version("jaxlib")}
    named = {name: version or _MISSING for name, version in packages.items()}
    return named | devices() | {"extras": ", ".join(extras)}
