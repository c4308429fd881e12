"""Monte Carlo p-values, their intervals, and p-values adjusted for many comparisons."""

import math
from collections.abc import Callable

import numpy as np

from sigjax.records import Alternative, Correction, Settings, Variant
from sigjax.resample.tally import extreme, null_replicates
from sigjax.testing.binomial import lower_odds
from sigjax.testing.result import Outcomes

_SMALLEST = 1e-300
"""Below this doubles lose digits."""


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$: never 0, and valid at every level.

    `exceed` `[...]` counts resamples at least as extreme as observed, ties included. Reference: Davison and Hinkley
    (1997), section 4.2; Yeh (2000), section 3.1.

    Example:
        >>> montecarlo_p(np.array([0, 9]), 999)
        array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)


def bootstrap_exceed(
    replicates: np.ndarray, delta: float, tolerance: float, alternative: Alternative, variant: Variant
) -> int:
    r"""Count bootstrap resamples that speak against the observed delta.

    The null distribution is that of $\delta^* - \delta$ (`shift`, Berg-Kirkpatrick et al. 2012, section 2) or $\delta
    - \delta^*$ (`flip`). Two-sided: $|\delta^* - \delta| \ge |\delta|$, centred before the absolute value, the same for
    both; greater, shift: $\delta^* - \delta \ge \delta$, their $\delta^* > 2\delta$ with ties counted; greater, flip:
    $\delta^* \le 0$; less: the other way round.

    Args:
        replicates: `[resample]` bootstrap scores of system a minus those of system b on the same resamples.
        delta: the observed score_a - score_b.
        tolerance: differences smaller than this are ties.
        alternative: which deltas are extreme.
        variant: shift or flip.

    Example:
        >>> bootstrap_exceed(np.array([0.2, 0.5]), 0.2, 1e-12, "two-sided", "shift")
        1
    """
    null = null_replicates(replicates, np.float64(delta), variant)
    return int(np.count_nonzero(extreme(null, np.float64(delta), np.float64(tolerance), alternative)))


def clopper_pearson(successes: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact binomial confidence interval of a proportion, `[...]` low and high.

    Equivalent to `scipy.stats.binomtest(...).proportion_ci(level, method="exact")`, but with the same digits in all
    versions of all libraries; see `binomial`.

    Example:
        >>> low, high = clopper_pearson(np.array([0, 5]), 10, 0.95)
        >>> low.round(4), high.round(4)
        (array([0.    , 0.1871]), array([0.3085, 0.8129]))
    """
    counts, inverse = np.unique(np.asarray(successes, np.int64), return_inverse=True)
    tail, some, others = (1.0 - level) / 2.0, counts > 0, counts < trials
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    odds = lower_odds(counts[some], trials, tail)
    low[some] = odds / (1.0 + odds)
    high[others] = 1.0 / (1.0 + lower_odds(trials - counts[others], trials, tail))
    return low[inverse], high[inverse]


def p_intervals(outcomes: Outcomes, settings: Settings) -> np.ndarray:
    """Bounds `[pair, 2]` of p-values: those of the tests, else Clopper-Pearson for Monte Carlo ones, else NaN."""
    found = outcomes.bracket.copy()
    unknown = outcomes.is_sampled & np.isnan(found[:, 0])
    if unknown.any():
        ends = clopper_pearson(outcomes.exceed[unknown], settings.fixed_resamples, settings.level)
        found[unknown] = np.stack(ends, axis=1)
    return found


def adjust(p_values: np.ndarray, correction: Correction) -> np.ndarray:
    r"""Adjusted p-values `[pair]`, in the order of `p_values` `[pair]`.

    `holm`: family-wise error, $\max_{j \le i} \min(1, (m - j + 1) p_{(j)})$ (Holm 1979), valid under any dependence.
    `hochberg`: the same error, $\min_{j \ge i} \min(1, (m - j + 1) p_{(j)})$ (Hochberg 1988), never above Holm's, under
    independence or positive dependence, which two-sided tests of all pairs need not have. `bonferroni`: $\min(1, m p)$,
    under any dependence. `bh`: false discovery rate (Benjamini and Hochberg 1995), under independence or positive
    dependence. `by`: the same under any dependence (Benjamini and Yekutieli 2001). `none`: as they are.

    `maxt` and `minp` are not functions of p-values; see `sigjax.multiple`.

    Example:
        >>> adjust(np.array([0.04, 0.01, 0.03]), "holm")
        array([0.06, 0.03, 0.06])
        >>> adjust(np.array([0.04, 0.01, 0.03]), "hochberg")
        array([0.04, 0.03, 0.04])
    """
    return _adjusted(p_values, correction, lambda p, over, under: p * over / under, 1.0)


def log10_adjusted(p_adjusted: np.ndarray, log10_p: np.ndarray, correction: Correction) -> np.ndarray:
    """Base-10 logarithms `[pair]` of adjusted p-values `[pair]`, right also where these are too small for a double.

    There the correction is that of the logarithms of the p-values `[pair]`.

    Example:
        >>> log10_adjusted(np.array([0.0, 0.02]), np.array([-400.0, np.log10(0.02)]), "holm").round(3)
        array([-399.699,   -1.699])
    """
    found = np.array([math.log10(p) if p > _SMALLEST else -math.inf for p in p_adjusted.tolist()])
    if (tiny := found == -math.inf).any():
        in_logs = _adjusted(log10_p, correction, lambda log10, over, under: log10 + np.log10(over / under), 0.0)
        found[tiny] = in_logs[tiny]
    return found


def _adjusted(values: np.ndarray, correction: Correction, times: Callable[..., np.ndarray], one: float) -> np.ndarray:
    """`adjust` for p-values or their logarithms: `times` multiplies them by a fraction, and `one` stands for p = 1."""
    if correction in ("maxt", "minp"):
        raise ValueError(f"{correction} needs resamples of all pairs together; see {correction}.py")
    count = len(values)
    if correction == "none" or count == 0:
        return values.copy()
    if correction == "bonferroni":
        return np.minimum(one, times(values, count, 1))
    order = np.argsort(values, kind="stable")
    ascending, rank = values[order], np.arange(1, count + 1)
    if correction == "holm":
        adjusted = np.maximum.accumulate(times(ascending, count - rank + 1, 1))
    elif correction == "hochberg":
        adjusted = np.minimum.accumulate(times(ascending, count - rank + 1, 1)[::-1])[::-1]
    else:
        factor = np.sum(1.0 / rank) if correction == "by" else 1.0
        adjusted = np.minimum.accumulate(times(times(ascending, count, 1), factor, rank)[::-1])[::-1]
    out = np.empty_like(values)
    out[order] = np.minimum(one, adjusted)
    return out
