"""Intervals of the ranks of all systems on bootstrap resamples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sigjax.bootstrap.replicates import Pieces
from sigjax.bootstrap.sampled import all_replicates
from sigjax.resample.engine import Run
from sigjax.run.host import fits, gib, in_threads
from sigjax.testing.problem import Case, SampleCase

_CACHED = 2**18
"""Replicates that are compared together."""


def bootstrap_ranks(
    case: Case | SampleCase, run: Run, drawn: np.ndarray | None, pieces: Callable[[Run], Pieces]
) -> list[tuple[int, int]] | None:
    """The interval of the rank of each system, or None where the replicates do not fit into memory.

    Args:
        case: the case.
        run: how many resamples, and how.
        drawn: bootstrap scores `[system, resample]`, where they are at hand; they are overwritten.
        pieces: draws them, for a part of a run, piece by piece.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    settings, question = case.settings, case.question
    if state := run.stage.state():
        ranks = state.arrays["ranks"]
    else:
        shape = (len(question.scores), run.resamples)
        if not fits(gib(shape), settings):
            return None
        values = all_replicates(pieces, shape, run) if drawn is None else drawn
        values *= 1.0 if case.metric.higher_is_better else -1.0
        ranks = rank_quantiles(values, np.array(question.tolerances), settings.level)
        run.stage.finish(run.resamples, ranks=ranks)
    return [(low, high) for low, high in ranks.tolist()]


def rank_quantiles(values: np.ndarray, rounding: np.ndarray, level: float) -> np.ndarray:
    r"""Percentile intervals `[system, 2]` of the rank, from replicates `[system, resample]` of which more is better.

    On each resample a system has the best rank that ties allow, 1 + the number of better ones, and the worst, the
    number of those that are not worse. The low end is the quantile (1 - level) / 2 of the best ranks, the high end the
    quantile (1 + level) / 2 of the worst; both are ranks that occur, the outer of two. `rounding` `[system]` is that of
    scores.

    Example:
        >>> rank_quantiles(np.array([[3.0, 3.0], [2.0, 4.0], [1.0, 1.0]]), np.zeros(3), 0.95)
        array([[1, 2],
               [1, 2],
               [3, 3]])
    """
    levels = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    width = max(1, _CACHED // len(values))

    def of_system(system: int) -> tuple[int, int]:
        tolerance = 2.0 * (rounding + rounding[system])[:, None]
        best, worst = np.empty((2, values.shape[1]), np.int64)
        for start in range(0, values.shape[1], width):
            some = slice(start, start + width)
            ahead = values[:, some] - values[system, some]
            best[some] = 1 + np.count_nonzero(ahead > tolerance, axis=0)
            worst[some] = np.count_nonzero(ahead >= -tolerance, axis=0)
        return (
            int(np.quantile(best, levels[0], method="lower")),
            int(np.quantile(worst, levels[1], method="higher")),
        )

    return np.array(in_threads(of_system, range(len(values))))
