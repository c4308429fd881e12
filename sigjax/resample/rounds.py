"""Rounds: where several processes share a run that keeps its state, they add up what they know every few seconds.

The state is then that of one process, and any number of processes can go on from it.
"""

import time
from collections.abc import Iterator

import numpy as np

from sigjax.resample.engine import Run

_FIRST = 2**13
"""Resamples of each process in the first round."""
_SECONDS = 5.0
"""What a round is to take."""


def rounds(resamples: range, run: Run) -> Iterator[range]:
    """These resamples in parts, after each of which the processes add up; one part where nothing is kept or shared."""
    if run.share.count == 1 or not run.stage.kept:
        if resamples:
            yield resamples
        return
    start, size = resamples.start, _FIRST * run.share.count
    while start < resamples.stop:
        began = time.monotonic()
        yield range(start, min(start + size, resamples.stop))
        start += size
        # All of them go by one clock, since they must agree on what comes next.
        seconds = time.monotonic() - began if run.share.index == 0 else 0.0
        (milliseconds,) = run.share.total(np.array([round(1000.0 * seconds)])).tolist()
        size = round(size * min(max(1000.0 * _SECONDS / max(milliseconds, 1), 0.5), 2.0))


def keep_round(run: Run, done: int, **arrays: np.ndarray) -> None:
    """Keep the state after a round that is not the last: what is made of all of them is kept after that."""
    if done < run.resamples:
        run.stage.save(done, **arrays)


def keep(run: Run, done: int, **arrays: np.ndarray) -> None:
    """Keep the state in the midst of a round, which is the state of the run where nobody shares it."""
    if run.share.count == 1:
        run.stage.save(done, **arrays)
