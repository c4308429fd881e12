"""A progress bar on stderr, only when a person is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

WORTH_A_BAR = 1.0
"""Seconds of work from which a progress bar is drawn."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees what is written to a stream; a stream that the caller has closed is None, or closed."""
    return stream is not None and not stream.closed and stream.isatty()


@contextmanager
def progress_bar(label: str, total: int, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """Give a function that takes how many are done so far; nothing is drawn unless stderr is a terminal."""
    if not (shown and is_terminal(sys.stderr)):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)
