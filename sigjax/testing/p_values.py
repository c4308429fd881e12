"""Monte Carlo p-values and their intervals."""

import numpy as np

from sigjax.records import Alternative, Settings, Variant
from sigjax.resample.tally import extreme, null_replicates
from sigjax.testing.binomial import lower_odds
from sigjax.testing.result import Outcomes


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
