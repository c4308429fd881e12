"""The execution context of a report: its device, progress bars, checkpoint and shard; nothing here changes a number.

A `Context` is made at the door and handed down to the tests. Each test asks it for a `Run`: a range of resamples under
a seed, on a backend. Several processes divide each run among them (`shards`); where a state is kept as well, they add
up what they have in rounds of a few seconds, so that any number of processes can continue from the state of a round.
"""

from __future__ import annotations

import html
import math
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sigjax.records import Device, Metric
from sigjax.run.backend import NUMPY, Backend, choose_backend, has_started, is_traceable, reason_against
from sigjax.run.checkpoint import NO_CHECKPOINT, Checkpoint
from sigjax.run.host import is_terminal
from sigjax.run.shards import Shard, current_shard

_WORTH_A_BAR = 1.0
"""Seconds of work from which a progress bar is drawn."""
_REDRAWN = 0.2
"""Seconds between two states of the bar of a notebook."""
_FIRST_ROUND = 2**13
"""Resamples of each process in the first round."""
_ROUND_SECONDS = 5.0
"""Aim for the length of a round."""
_NUMBERS, _FEWEST_RESAMPLES = 2**22, 64
"""Sums that are held at a time, and resamples that are always held together."""


class NotTraceable(ValueError):
    """The metric cannot run on the device that was asked for, because JAX cannot compile it."""

    def __init__(self, device: Device) -> None:
        super().__init__(f"cannot be compiled for {device}")
        self.device = device


@dataclass(frozen=True, slots=True)
class Run:
    """A range of resamples under a seed, and how they are drawn: everything but the data."""

    resamples: int
    """The end of the range."""
    seed: int
    backend: Backend = NUMPY
    advance: Callable[[int], object] = lambda done: None
    """Takes how many resamples are done so far."""
    start: int = 0
    """Resamples before this one are left out."""
    checkpoint: Checkpoint = NO_CHECKPOINT
    shard: Shard = Shard()

    def shard_of(self, resamples: range) -> Run:
        """The run of this process's shard of these resamples; the other processes do as much in the same time."""
        shard = self.shard.of(resamples)

        def advance(done: int) -> None:
            self.advance(resamples.start + (done - shard.start) * self.shard.count)

        return replace(self, start=shard.start, resamples=shard.stop, advance=advance)

    def blocks(self, num_columns: int) -> Iterator[Run]:
        """The run in blocks of which sums of so many columns are held at a time."""
        size = 2 ** max(_FEWEST_RESAMPLES, _NUMBERS // num_columns).bit_length() // 2
        for start in range(self.start, self.resamples, size):
            yield replace(self, start=start, resamples=min(start + size, self.resamples))

    def rounds(self, resamples: range) -> Iterator[range]:
        """These resamples in rounds, after each of which processes add up; one round where no state is kept or shared.

        The state kept after a round is that of a single process.
        """
        if self.shard.count == 1 or not self.checkpoint.is_kept:
            if resamples:
                yield resamples
            return
        start, size = resamples.start, _FIRST_ROUND * self.shard.count
        while start < resamples.stop:
            began = time.monotonic()
            yield range(start, min(start + size, resamples.stop))
            start += size
            # All go by one clock, since they must agree on what comes next.
            seconds = time.monotonic() - began if self.shard.index == 0 else 0.0
            (milliseconds,) = self.shard.total(np.array([round(1000.0 * seconds)])).tolist()
            size = round(size * min(max(1000.0 * _ROUND_SECONDS / max(milliseconds, 1), 0.5), 2.0))

    def save(self, done: int, **arrays: np.ndarray) -> None:
        """Checkpoint mid-round (single-process runs only)."""
        if self.shard.count == 1:
            self.checkpoint.save(done, **arrays)

    def save_round(self, done: int, **arrays: np.ndarray) -> None:
        """Checkpoint after a round, except the last, whose results are kept by the caller."""
        if done < self.resamples:
            self.checkpoint.save(done, **arrays)


@dataclass(frozen=True, slots=True)
class Context:
    """What the runs of a report, or of one of its metrics, have in common."""

    device: Device
    progress: bool = False
    """Whether progress bars may be drawn."""
    checkpoint: Checkpoint = NO_CHECKPOINT
    shard: Shard = field(default_factory=current_shard)
    """The work of this process, of several."""
    backend: Backend = NUMPY
    seconds: float = 0.0
    """About how long NumPy takes."""
    label: str = ""
    """Which metric of how many, for the bar."""

    def at(self, name: str) -> Context:
        """The context of one metric, or of some other group of runs: its states are kept under this name."""
        return replace(self, checkpoint=self.checkpoint.at(name))

    def sized(self, seconds: float, *, on_host: bool = False) -> Context:
        """The same on the backend for so much work; `on_host` on NumPy, though the device must be there.

        Raises:
            InputError: there is no such device.
        """
        backend = choose_backend(self.device, numpy_seconds=0.0 if on_host else seconds)
        return replace(self, backend=NUMPY if on_host else backend, seconds=seconds)

    def gpu(self) -> str | None:
        """The platform for what only a GPU does faster than NumPy; None without one, or where JAX has not started.

        Raises:
            InputError: a GPU was asked for, and there is none.
        """
        if self.device == "gpu" or (self.device == "auto" and has_started() and not reason_against()):
            platform = choose_backend(self.device, numpy_seconds=math.inf).platform
            return platform if platform == "gpu" else None
        return None

    @contextmanager
    def run(
        self, name: str, resamples: int, seed: int, *, compiles: Metric | None = None
    ) -> Generator[Run, None, None]:
        """A run, with a progress bar.

        Args:
            name: of the bar, and of the state that is kept.
            resamples: how many.
            seed: of the random words.
            compiles: the metric whose score the device has to compile.

        Raises:
            NotTraceable: the device was asked for by name, and cannot run the metric.
        """
        label = " ".join(filter(None, (*self.checkpoint.key, self.label, name)))
        visible = self.progress and self.seconds > _WORTH_A_BAR
        with progress_bar(label, resamples, visible=visible, compiles=bool(self.backend.devices)) as advance:
            backend = self.backend if compiles is None else self._traceable(compiles)
            yield Run(resamples, seed, backend, advance, checkpoint=self.checkpoint.at(name), shard=self.shard)

    def _traceable(self, metric: Metric) -> Backend:
        """The backend, or NumPy where the device is ours to choose and JAX cannot compile the metric."""
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


@contextmanager
def progress_bar(
    label: str, total: int, *, visible: bool, compiles: bool = False
) -> Generator[Callable[[int], object], None, None]:
    """Yield a function that takes how many are done so far; the bar is drawn in a terminal (stderr) or a notebook.

    It says "compiling" until something is done, where that `compiles`.
    """
    if visible and _in_notebook():
        yield from _notebook_bar(label, total)
        return
    if not (visible and is_terminal(sys.stderr)):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{label}: compiling" if compiles else label, total=total)
        yield lambda done: bar.update(task, completed=done, description=label if done else None)


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _notebook_bar(label: str, total: int) -> Iterator[Callable[[int], object]]:
    """The bar of a notebook, redrawn a few times per second at most and removed at the end; needs no widgets."""
    from IPython.display import HTML, display  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    handle: Any = display(HTML(""), display_id=True)
    drawn = -math.inf

    def advance(done: int) -> None:
        nonlocal drawn
        if time.monotonic() - drawn > _REDRAWN:
            drawn = time.monotonic()
            bar = f'<progress value="{done}" max="{total}" aria-label="{html.escape(label)}"></progress>'
            handle.update(HTML(f"{html.escape(label)} {bar} {done:,} of {total:,}"))

    try:
        yield advance
    finally:
        handle.update(HTML(""))
