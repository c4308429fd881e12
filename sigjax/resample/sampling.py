"""What is sampled: counts of extreme swaps, scores on bootstrap resamples, and the sums of swapped units.

Each is one kernel for a tile of resamples, streamed by `engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Alternative, Array
from sigjax.resample.engine import Run, stream
from sigjax.resample.project import Places, Projection
from sigjax.resample.tally import Ladder, Pairs, in_blocks, replicate_scores, swap_exceed, swapped_deltas

Score = Callable[[Array], Array]

_PAIR_STATS = 2048
"""Statistics of pairs that are scored together."""
_PIECE = 2**22
"""Sums that are held at a time."""
_FEWEST = 64


class Problem(NamedTuple):
    """Arrays that every tile needs."""

    projection: Projection
    divisors: np.ndarray | None
    """[stat] float64; None where every statistic is a whole number as it stands."""


def count_swaps(
    problem: Problem, pairs: Pairs | Ladder, run: Run, *, score: Score, alternative: Alternative
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Run the permutation test of all pairs on the same swaps, piece by piece.

    Yields:
        The first resample of a piece; `[pair]` int64, how many of its resamples are at least as extreme as observed,
        by the pair alone or, on a ladder, by the largest statistic so far; `[pair]` bool, every delta was finite.
    """
    count, num_stats = pairs.left.shape
    blocks = type(pairs)(*in_blocks(pairs, min(count, max(1, _PAIR_STATS // num_stats))))
    static = (("score", score), ("alternative", alternative))
    # Compiled for a CPU, statistics go into scores one by one: only deltas are held.
    held = blocks.left[0, :, 0].size if run.backend.platform == "cpu" else blocks.left[0].size
    for start, (counts, ok) in stream(_swap_tile, static, (problem, blocks), run, size=held):
        yield start, counts.sum(axis=0).ravel()[:count], ok.all(axis=0).ravel()[:count]


class Scored(NamedTuple):
    """What to make of the sums of a resample: the scores of all systems by one metric."""

    places: Places
    """Where the statistics of each system are."""
    divisors: np.ndarray | None
    """As in `Problem`."""
    score: Score
    on_host: bool
    """Leave the scores, but not the sums, to NumPy: a score that rounds differently on a device would show in the last
    digits of intervals."""


def replicates(
    projection: Projection, metrics: Sequence[Scored], run: Run
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Scores of all systems by some metrics on the same resamples, piece by piece.

    Yields:
        The first resample of a piece, and for each metric scores `[system, resample]` (float64).
    """
    in_kernel = tuple(None if each.on_host else each.score for each in metrics)
    size = sum(0 if each.on_host else each.places.column.size for each in metrics)
    data = Problem(projection, None), tuple((each.places, each.divisors) for each in metrics)
    for start, outputs in stream(_scores_tile, (("scores", in_kernel),), data, run, size=size):
        scored = (
            _on_host(each, tiles) if each.on_host else tiles for each, tiles in zip(metrics, outputs, strict=True)
        )
        yield start, tuple(np.concatenate(list(tiles), axis=1)[:, : run.resamples - start] for tiles in scored)


def _on_host(metric: Scored, tiles: np.ndarray) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return [replicate_scores(sums, metric.places, metric.divisors, score=metric.score) for sums in tiles]


def _swap_tile(
    rows: Array, valid: Array, problem: Problem, pairs: Pairs | Ladder, *, score: Score, alternative: Alternative
) -> tuple[Array, ...]:
    sums = problem.projection.sums(rows)
    return swap_exceed(sums, valid, pairs, problem.divisors, score=score, alternative=alternative)


def _scores_tile(
    rows: Array, valid: Array, problem: Problem, metrics: tuple[Any, ...], *, scores: tuple[Score | None, ...]
) -> tuple[Array, ...]:
    del valid  # rows that are padding come last and are cut off by `replicates`
    sums = problem.projection.sums(rows)
    return tuple(
        sums if score is None else replicate_scores(sums, places, divisors, score=score)
        for score, (places, divisors) in zip(scores, metrics, strict=True)
    )


def swapped_sums(problem: Problem, run: Run) -> np.ndarray:
    """Sums `[column, resample]` (float64, whole numbers) over the swapped units, for the resamples of the run."""
    pieces = [
        np.concatenate(list(tiles), axis=1)[:, : run.resamples - start]
        for start, (tiles,) in stream(_sums_tile, (), (problem,), run, size=0)
    ]
    return np.concatenate(pieces, axis=1).astype(np.float64, copy=False)


def pieces_of(run: Run, num_columns: int) -> Iterator[Run]:
    """The run in pieces of which sums of so many columns are held at a time."""
    size = 2 ** max(_FEWEST, _PIECE // num_columns).bit_length() // 2
    for start in range(run.start, run.resamples, size):
        yield run._replace(start=start, resamples=min(start + size, run.resamples))


def deltas_of(
    sums: np.ndarray, pairs: Pairs, index: int, divisors: np.ndarray | None, score: Callable[[Array], Array]
) -> np.ndarray:
    """Delta `[resample]` of one of the pairs, from sums `[column, resample]`; scored by NumPy, so alike everywhere."""
    one = Pairs(*(part[index : index + 1] for part in pairs))
    with np.errstate(all="ignore"):  # what is not finite is refused with the systems' names
        return swapped_deltas(sums, one, divisors, score)[0]


def _sums_tile(rows: Array, valid: Array, problem: Problem) -> tuple[Array, ...]:
    del valid  # rows that are padding come last and are cut off
    return (problem.projection.sums(rows),)
