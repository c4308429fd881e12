"""Sums of swapped units on the host, for what needs all pairs, or all resamples, at once."""

from collections.abc import Callable, Iterator

import numpy as np

from sigjax.records import Array
from sigjax.resample.engine import Problem, Run, stream
from sigjax.resample.tally import Pairs, swapped_deltas

_PIECE = 2**22
"""Sums that are held at a time."""
_FEWEST = 64


def swapped_sums(problem: Problem, run: Run) -> np.ndarray:
    """Sums `[column, resample]` (float64, whole numbers) over the swapped units, for the resamples of the run."""
    found = [
        np.concatenate(list(tiles), axis=1)[:, : run.resamples - start]
        for start, (tiles,) in stream(_sums_tile, (), (problem,), run, size=0)
    ]
    return np.concatenate(found, axis=1).astype(np.float64, copy=False)


def pieces_of(run: Run, num_columns: int) -> Iterator[Run]:
    """The run in pieces of which sums of so many columns are held at a time."""
    size = 2 ** max(_FEWEST, _PIECE // num_columns).bit_length() // 2
    for start in range(run.start, run.resamples, size):
        yield run._replace(start=start, resamples=min(start + size, run.resamples))


def deltas_of(
    sums: np.ndarray, pairs: Pairs, place: int, divisors: np.ndarray | None, score: Callable[[Array], Array]
) -> np.ndarray:
    """Delta `[resample]` of one of the pairs, from sums `[column, resample]`; scored by NumPy, so alike everywhere."""
    one = Pairs(*(part[place : place + 1] for part in pairs))
    with np.errstate(all="ignore"):  # what is not finite is refused with the systems' names
        return swapped_deltas(sums, one, divisors, score)[0]


def _sums_tile(rows: Array, valid: Array, problem: Problem) -> tuple[Array, ...]:
    del valid  # rows that are padding come last and are cut off
    return (problem.projection.sums(rows),)
