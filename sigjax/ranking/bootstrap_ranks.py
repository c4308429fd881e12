r"""What bootstrap resamples say of the systems: intervals of their ranks, and the model confidence set.

The model confidence set holds the systems that may be the best, by elimination. Let g be the scores, or their negatives
where lower is better. For the systems M that are left,

$$d_i = \bar g_M - g_i, \quad t_i = d_i / s_i, \quad T = \max_{i \in M} t_i$$

where $s_i^2$ is the mean of $(d^*_i - d_i)^2$ over the bootstrap resamples, which all systems share. The p-value of the
hypothesis that all systems of M are equally good is $(e + 1) / (K + 1)$, with e the number of K resamples on which
$\max_i (d^*_i - d_i) / s_i \ge T$. The system with the largest t is then left out, and so on. Its MCS p-value is the
largest p-value so far; that of the last system is 1. The systems with a p-value of at least 1 - level are the set,
which holds the best system, or all of several best ones, with a probability of at least the level as the number of
units grows.

Systems with the same t, as identical ones have, are left out together. Where d does not vary, t is 0, or infinite where
there is a difference.

Reference: Hansen, Lunde and Nason (2011), "The model confidence set", Econometrica 79, section 3.1.2 (T_max).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.replicates import Pieces
from sigjax.bootstrap.sampled import all_replicates
from sigjax.resample.engine import Run
from sigjax.run.host import fits, gib, in_threads
from sigjax.testing.problem import Case, SampleCase
from sigjax.units.sums import total

_CACHED = 2**18
"""Replicates that are compared together."""
_ROUNDING = 1e-9
"""Statistics that differ by less than this part of themselves are ties."""


class BootstrapRank(NamedTuple):
    """What bootstrap resamples say of one system, as in `SystemScore`; None where there are none to look at."""

    bootstrap_ranks: tuple[int, int] | None = None
    mcs_p: float | None = None
    in_confidence_set: bool | None = None


def bootstrap_ranks(
    case: Case | SampleCase, run: Run, drawn: np.ndarray | None, pieces: Callable[[Run], Pieces]
) -> list[BootstrapRank] | None:
    """The rank of each system, or None where the replicates do not fit into memory.

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
        ranks, p_values = state.arrays["ranks"], state.arrays["mcs_p"].tolist()
    else:
        shape = (len(question.scores), run.resamples)
        if not fits(gib(shape), settings):
            return None
        values = all_replicates(pieces, shape, run) if drawn is None else drawn
        unit = _unit(values)
        factor = unit if case.metric.higher_is_better else -unit
        values *= factor
        goodness, rounding = factor * np.array(question.scores), unit * np.array(question.tolerances)
        ranks = rank_quantiles(values, rounding, settings.level)
        p_values = mcs_p(np.subtract(values, goodness[:, None], out=values), goodness, rounding)
        run.stage.finish(run.resamples, ranks=ranks, mcs_p=np.array(p_values))
    return [
        BootstrapRank((low, high), p, p >= settings.alpha)
        for (low, high), p in zip(ranks.tolist(), p_values, strict=True)
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


def mcs_p(deviations: np.ndarray, goodness: np.ndarray, rounding: np.ndarray) -> list[float]:
    """MCS p-value `[system]` of each system.

    Args:
        deviations: `[system, resample]`, replicates of the goodness minus what was observed.
        goodness: `[system]` scores, or their negatives where lower is better.
        rounding: `[system]` rounding error of a score.

    Example:
        >>> mcs_p(np.array([[0.1, -0.1, 0.0], [-0.1, 0.1, 0.0]]), np.array([0.9, 0.1]), np.zeros(2))
        [1.0, 0.25]
    """
    resamples = deviations.shape[1]
    found, largest, left = np.ones(len(goodness)), 0.0, np.arange(len(goodness))
    while len(left) > 1:
        behind, tolerance = goodness[left].mean() - goodness[left], 2.0 * (rounding[left] + rounding[left].max())
        spread = np.sqrt(_squares(deviations, left) / resamples)
        varies = spread > tolerance
        scale = np.divide(1.0, spread, out=np.zeros(len(left)), where=varies)
        constant = np.where(np.abs(behind) > tolerance, np.copysign(np.inf, behind), 0.0)
        t = np.where(varies, behind * scale, constant)
        limit = t.max() * (1.0 - _ROUNDING)
        worst = t >= limit
        if worst.all():
            break
        largest = max(largest, (_exceed(deviations, left, scale, limit) + 1) / (resamples + 1))
        found[left[worst]] = largest
        left = left[~worst]
    return found.tolist()


def _squares(deviations: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Sums `[left]` of squares of d* - d."""
    return sum((total(np.square(block)) for block in _blocks(deviations, left)), np.zeros(len(left)))


def _exceed(deviations: np.ndarray, left: np.ndarray, scale: np.ndarray, limit: float) -> int:
    """On how many resamples the largest t* is at least the limit."""
    blocks = _blocks(deviations, left)
    return sum(int(np.count_nonzero((block * scale[:, None]).max(axis=0) >= limit)) for block in blocks)


def _blocks(deviations: np.ndarray, left: np.ndarray) -> Iterator[np.ndarray]:
    """d* - d `[left, resample]` of some resamples at a time."""
    width = max(1, _CACHED // len(left))
    for start in range(0, deviations.shape[1], width):
        some = deviations[left, start : start + width]
        yield some.mean(axis=0) - some
