"""Where each system stands on bootstrap resamples: intervals of its rank, and the model confidence set."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.replicates import in_threads
from sigjax.bootstrap.sampled import kept_replicates
from sigjax.ranking.mcs import mcs_p
from sigjax.records import Device
from sigjax.resample.engine import Run
from sigjax.run.backend import NUMPY, choose_backend, numpy_seconds
from sigjax.run.checkpoint import Stage
from sigjax.run.host import WORTH_A_BAR, progress_bar
from sigjax.run.share import current_share
from sigjax.testing.outcome import Case, SampleCase
from sigjax.testing.whole_sample import sample_replicates

_CACHED = 2**18
"""Replicates that are compared together."""


class Position(NamedTuple):
    """What bootstrap resamples say of one system, as in `SystemScore`; None where there are none to look at."""

    bootstrap_ranks: tuple[int, int] | None = None
    mcs_p: float | None = None
    in_confidence_set: bool | None = None


def positions(case: Case | SampleCase, device: Device, *, progress: bool, stage: Stage) -> list[Position] | None:
    """The position of each system, or None where there is one unit, or where the replicates do not fit into memory.

    The replicates are those of the bootstrap intervals, drawn once more.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    settings, question = case.settings, case.question
    if len(case.units.strata) == 1:
        return None
    seconds, backend = 0.0, NUMPY
    if isinstance(case, Case):
        num_systems, num_units, num_stats = case.units.values.shape
        columns = num_systems * num_stats
        seconds = numpy_seconds(
            resamples=settings.fixed_resamples, units=num_units, columns=columns, scored=columns, counted=True
        )
        backend = choose_backend(device, numpy_seconds=seconds)
    with progress_bar("leaderboard", settings.fixed_resamples, shown=progress and seconds > WORTH_A_BAR) as advance:
        share = current_share()
        run = Run(settings.fixed_resamples, settings.seed, backend, advance, stage=stage, share=share)
        if state := stage.state():
            ranks, p_values = state.arrays["ranks"], state.arrays["mcs_p"].tolist()
        else:
            values = kept_replicates(case, run, sample_replicates)
            if values is None:
                return None
            unit = _unit(values)
            factor = unit if case.metric.higher_is_better else -unit
            values *= factor
            goodness, rounding = factor * np.array(question.scores), unit * np.array(question.tolerances)
            ranks = rank_quantiles(values, rounding, settings.level)
            p_values = mcs_p(np.subtract(values, goodness[:, None], out=values), goodness, rounding)
            stage.finish(run.resamples, ranks=ranks, mcs_p=np.array(p_values))
    return [
        Position((low, high), p, p >= settings.alpha) for (low, high), p in zip(ranks.tolist(), p_values, strict=True)
    ]


def _unit(values: np.ndarray) -> float:
    """A power of two that brings the largest value near 1, so that no square leaves the range of a double.

    Example:
        >>> _unit(np.array([[3.0, -5.0]]))
        0.125
    """
    exponent = math.frexp(max(float(values.max()), -float(values.min())))[1]
    return math.ldexp(1.0, min(max(-exponent, -1000), 1000))


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
