"""The execution context of a report (device, progress bars and checkpoint), and the machine's threads and memory.

The public functions (`compare` and others) make a `Context` and hand it down to the tests. Each test gets a `Run` from
it: a range of resamples of a seed, on a backend (NumPy or JAX). Threads are used for work that releases the interpreter
lock, as NumPy and compiled programs do. Results keep their order, and this module changes no number.
"""

from __future__ import annotations

import html
import math
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context as Variables
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache, wraps
from threading import Event, Lock, Thread, Timer
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

import numpy as np

from sigjax.records import Array, Device, Metric, Settings
from sigjax.run.backend import NUMPY, Backend, choose_backend, devices, is_traceable
from sigjax.run.costs import Cost
from sigjax.run.shards import NO_CHECKPOINT, Checkpoint, Key, ShardFile
from sigjax.version import installed_version, versions

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


_MANY = 32
"""`in_threads` uses threads only for at least this many items, because threads save no time for fewer items."""

Item = TypeVar("Item")
Result = TypeVar("Result")
_FRACTION = 0.5
"""Replicates may take up to this share of the setting `memory`."""
_LONG = 10.0
"""Work that may take minutes is announced after this many seconds."""
_MISSING = "not installed"
_EXTRAS = {
    "mt": "sacrebleu",
    "rouge": "rouge-score",
    "ir": "pytrec-eval-terrier",
    "dataframe": "narwhals",
    "parquet": "pyarrow",
    "excel": "python-calamine",
    "plot": "matplotlib",
}


def num_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """The thread pool of this process; a forked process cannot use its parent's threads."""
    from concurrent.futures import ThreadPoolExecutor

    del process
    return ThreadPoolExecutor(num_cores(), "sigjax")


def ahead(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield the results of the function for each item, in the order of the items.

    Meanwhile, `workers` threads compute the next results. If there is one worker, no threads are used.

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
            # Keep one more task than threads, so that no thread idles while the caller uses a result.
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return the results of the function for each item, computed on all cores if there are many items."""
    cores = num_cores()
    if cores == 1 or len(items) < _MANY:
        return [function(item) for item in items]
    size = -(-len(items) // cores)

    def of_block(start: int) -> list[Result]:
        return [function(item) for item in items[start : start + size]]

    return [result for block in _pool(os.getpid()).map(of_block, range(0, len(items), size)) for result in block]


def on_all_cores(kernel: Callable[..., Array], values: np.ndarray, *items: np.ndarray) -> np.ndarray:
    """Return `kernel(values, *items)`, computed on all cores: each core processes a part of the items.

    `items` and the result are arrays `[item, ...]`; the kernel is compiled.
    """
    count, cores = len(items[0]), num_cores()
    if not count:
        return np.zeros(0, np.int64)
    index = np.minimum(np.arange(-(-count // cores) * cores), count - 1).reshape(cores, -1)

    def of_block(block: np.ndarray) -> np.ndarray:
        return np.asarray(kernel(values, *(item[block] for item in items)))

    return np.concatenate(list(_pool(os.getpid()).map(of_block, index)))[:count]


def gib(shape: tuple[int, int]) -> float:
    """The memory, in GiB, of float64 replicates `[row, resample]` of this shape."""
    return math.prod(shape) * 8 / 2**30


def fits(needed: float, settings: Settings) -> bool:
    """Whether the setting `memory` allows replicates of this many GiB (`needed`)."""
    return needed <= _FRACTION * settings.memory


def memory_for(needed: float) -> float:
    """The smallest setting `memory`, in GiB to two decimals, that allows replicates of this many GiB (`needed`).

    >>> memory_for(0.123)
    0.25
    """
    return math.ceil(100.0 * needed / _FRACTION) / 100.0


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; False if it is None or closed."""
    return stream is not None and not stream.closed and stream.isatty()


def installed() -> dict[str, str]:
    """Return a dict of texts about this installation: versions of packages, devices, and extras."""
    extras = [f"{extra} ({installed_version(package) or _MISSING})" for extra, package in _EXTRAS.items()]
    packages = versions() | {"jaxlib": installed_version("jaxlib")}
    named = {name: version or _MISSING for name, version in packages.items()}
    return named | devices() | {"extras": ", ".join(extras)}


_DELAY, _REDRAWN = 1.0, 0.1
"""`_DELAY`: a progress bar appears after this many seconds of work. `_REDRAWN`: seconds between two updates of the
bar."""
_NUMBERS, _FEWEST_RESAMPLES = 2**22, 64
"""Limits for the blocks of `Run.blocks`: at most `_NUMBERS` sums, but at least `_FEWEST_RESAMPLES` resamples."""


class NotTraceable(ValueError):
    """Raised if the metric cannot run on the requested device, because JAX cannot compile it."""

    def __init__(self, device: Device) -> None:
        super().__init__(f"cannot be compiled for {device}")
        self.device = device


@dataclass(frozen=True, slots=True)
class Run:
    """A range of resamples of a seed, with the backend, the progress and the checkpoint for drawing them."""

    resamples: int
    """The end of the range of resamples; as in `range`, it is not included."""
    seed: int
    backend: Backend = NUMPY
    advance: Callable[[int], object] = lambda done: None
    """A function that the run calls with the number of resamples done so far."""
    start: int = 0
    """The index of the first resample of the range."""
    checkpoint: Checkpoint = NO_CHECKPOINT
    stays: bool = False
    """Whether replicates stay on the device. If so, the last columns of a piece of replicates may be padding."""

    def blocks(self, num_columns: int) -> Iterator[Run]:
        """Yield the run in parts with a limited number of sums each; a resample has `num_columns` sums."""
        size = 2 ** max(_FEWEST_RESAMPLES, _NUMBERS // num_columns).bit_length() // 2
        for start in range(self.start, self.resamples, size):
            yield replace(self, start=start, resamples=min(start + size, self.resamples))


@dataclass(frozen=True, slots=True)
class Context:
    """The device, progress bars and checkpoint that all tests of a report, or of one of its metrics, share."""

    device: Device
    progress: bool = False
    """Whether progress bars may be drawn."""
    file: ShardFile | None = None
    """The file that keeps results of resamples (tallies), and tells which part of the resamples (shard) to draw. If
    None, all resamples are drawn, and no tallies are kept."""
    backend: Backend = NUMPY
    label: str = ""
    """A text for the progress bar: the position of the metric and the number of metrics."""
    key: Key = ()
    """The names under which results of resamples (tallies) are kept: the metric, then a part of its work (such as a
    subset of the instances), if any."""

    def at(self, name: str) -> Context:
        """The context of one metric, or of a part of its work, whose results are kept under this `name`."""
        return replace(self, key=(*self.key, name))

    @property
    def is_part(self) -> bool:
        """Whether this process draws only a part (shard) of the resamples, so that it has no final results."""
        return self.file is not None and self.file.shard.count > 1

    def checkpoint(self, name: str) -> Checkpoint:
        """The checkpoint that keeps the results of the run with this name."""
        return NO_CHECKPOINT if self.file is None else Checkpoint(self.file, (*self.key, name))

    def sized(self, cost: Cost, *, on_host: bool = False) -> Context:
        """The same context, with the backend (NumPy or JAX) that suits work of this cost.

        If `on_host` is true, the backend is NumPy; but the requested device must exist.
        """
        backend = choose_backend(self.device, Cost() if on_host else cost)
        return replace(self, backend=NUMPY if on_host else backend)

    @contextmanager
    def run(
        self, name: str, resamples: int, seed: int, *, compiles: Metric | None = None
    ) -> Generator[Run, None, None]:
        """A context manager that shows a progress bar and yields a `Run`.

        `name` is the name of the run for the progress bar and the checkpoint.

        Raises:
            NotTraceable: the user chose the device, and JAX cannot compile the score of the metric `compiles`.
        """
        own = range(resamples) if self.file is None else self.file.shard.of(range(resamples))
        with self.progress_bar(name, len(own), compiles=bool(self.backend.devices)) as advance:
            backend = self.backend if compiles is None else self._traceable(compiles)
            yield Run(
                resamples, seed, backend, lambda done: advance(done - own.start), checkpoint=self.checkpoint(name)
            )

    def progress_bar(
        self, name: str, total: int | None = None, *, compiles: bool = False
    ) -> AbstractContextManager[Callable[[int], object]]:
        """Return a context manager that shows a progress bar for the run `name` of this metric.

        `total` is the number of items, if known. If `compiles` is true, the bar shows "compiling" until the first item
        is done.
        """
        label = " ".join(filter(None, (*self.key, self.label, name)))
        return progress_bar(label, total, visible=self.progress, compiles=compiles)

    def _traceable(self, metric: Metric) -> Backend:
        """Return the backend, or NumPy with a warning if JAX cannot compile the metric."""
        if not self.backend.devices or is_traceable(metric.score, (2, len(metric.stat_names))):
            return self.backend
        if self.device != "auto":
            raise NotTraceable(self.device)
        warnings.warn(
            f"JAX cannot compile the metric {metric.name!r}; running on NumPy. Array operators alone would be faster",
            RuntimeWarning,
            stacklevel=2,
        )
        return NUMPY


@dataclass(eq=False, slots=True)
class _Step:
    """A piece of work that is running, and how much of it is done."""

    label: str
    total: int | None
    compiles: bool
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    context: Variables = field(default_factory=copy_context)
    """The context variables of the caller. From them, a notebook finds the cell below which it draws the bar."""
    ended: Event = field(default_factory=Event)

    def advance(self, done: int) -> None:
        """Store the number of items done so far. This is the only work that a progress bar adds to a loop."""
        self.done = done

    def __str__(self) -> str:
        """The progress as a text: "3 of 10", or the time so far if the total is unknown."""
        if self.compiles and not self.done:
            return "compiling"
        if self.total is None:
            return str(timedelta(seconds=int(time.monotonic() - self.began)))
        return f"{self.done:,} of {self.total:,}"


_STEPS: list[_Step] = []
"""The pieces of work that are running in this process, outermost first. The progress bar shows the last piece."""
_BUSY, _DRAWING = Event(), Lock()
"""`_BUSY`: an event that is set while `_STEPS` is not empty. `_DRAWING`: a lock that the drawing thread holds until its
line is erased."""


@contextmanager
def progress_bar(
    label: str, total: int | None = None, *, visible: bool, compiles: bool = False, advice: str = ""
) -> Generator[Callable[[int], object], None, None]:
    """A context manager that shows a progress bar with a label.

    It yields a function that takes the number of items done so far.

    If `visible` is true, a bar appears in the terminal (stderr) or the notebook after a second of work. `total` is the
    number of items.

    Nested bars share one line. If `compiles` is true, the bar shows "compiling" until the first item is done. `advice`
    is for work that may take minutes: if no bar can be drawn, as in a log, one line on stderr names the work and gives
    the advice after some seconds.
    """
    if not (visible and (_in_notebook() or is_terminal(sys.stderr))):
        line = None
        if visible and advice and sys.stderr is not None:
            line = Timer(_LONG, _say_long, (label, total, advice))
            line.daemon = True
            line.start()
        try:
            yield lambda done: None
        finally:
            if line is not None:
                line.cancel()
        return
    step = _Step(label, total, compiles)
    _STEPS.append(step)
    _BUSY.set()
    _start_drawing()
    try:
        yield step.advance
    finally:
        step.ended.set()
        if step is _STEPS[0]:
            with _DRAWING:  # the lock is free only after the bar's line is erased
                pass
        _STEPS.remove(step)
        if not _STEPS:
            _BUSY.clear()


def _say_long(label: str, total: int | None, advice: str) -> None:
    """Print a line on stderr that names the work under way and gives the advice."""
    of_all = "" if total is None else f" ({total:,})"
    print(f"sigjax: still at {label}{of_all} after {_LONG:.0f} s; {advice}", file=sys.stderr)


Keywords = ParamSpec("Keywords")


def with_progress(function: Callable[Keywords, Result]) -> Callable[Keywords, Result]:
    """A decorator of a public function: show a progress bar with its name if `progress` is set in its `options`."""

    @wraps(function)
    def working(*args: Keywords.args, **keywords: Keywords.kwargs) -> Result:
        options: Any = keywords["options"]
        with progress_bar(function.__name__, visible=options.progress):
            return function(*args, **keywords)

    return working


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@lru_cache(maxsize=1)
def _start_drawing() -> None:
    """Start the drawing thread, once per process, since starting a thread takes longer than a small test."""
    Thread(target=_draw_steps, name="sigjax-progress", daemon=True).start()


def _draw_steps() -> None:
    while True:
        _BUSY.wait()
        time.sleep(_REDRAWN)
        outermost = next(iter(_STEPS), None)
        if outermost is not None and time.monotonic() - outermost.began > _DELAY:
            with _DRAWING:
                outermost.context.run(_draw_within, outermost)


def _draw_within(outermost: _Step) -> None:
    """Draw the progress of the innermost piece of work repeatedly, until the outermost piece ends."""
    if outermost.ended.is_set():
        return
    with _cell() if _in_notebook() else _line() as draw:
        while not outermost.ended.wait(_REDRAWN):
            draw(_STEPS[-1])


@contextmanager
def _line() -> Generator[Callable[[_Step], None], None, None]:
    """Yield a function that draws a progress bar in one line of the terminal; at the end, the line is erased.

    Until then, other output to stderr appears above the line.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    words = (TextColumn(f"{{task.{name}}}", markup=False) for name in ("description", "fields[step]"))
    columns = next(words), BarColumn(), *words, TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False) as bar:

        def draw(step: _Step) -> None:
            if [task.fields["step"] for task in bar.tasks] != [step]:
                for former in bar.task_ids:
                    bar.remove_task(former)
                bar.add_task(step.label, total=step.total, step=step)
            bar.update(bar.task_ids[0], completed=step.done, refresh=True)

        yield draw


@contextmanager
def _cell() -> Generator[Callable[[_Step], None], None, None]:
    """Yield a function that draws a progress bar below a notebook cell; at the end, the bar is removed.

    The bar needs no widgets.
    """
    from IPython.display import HTML, display  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    handle: Any = display(HTML(""), display_id=True)

    def draw(step: _Step) -> None:
        label = html.escape(step.label)
        known = "" if step.total is None else f' value="{step.done}" max="{step.total}"'
        handle.update(HTML(f'{label} <progress{known} aria-label="{label}"></progress> {step}'))

    try:
        yield draw
    finally:
        handle.update(HTML(""))
