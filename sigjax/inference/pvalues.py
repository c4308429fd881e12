"""Monte Carlo p-values and how sure we are of them."""

import math
from statistics import NormalDist

import numpy as np

from sigjax.inference.outcome import Outcomes
from sigjax.records import Alternative, Settings, Variant
from sigjax.resample.tally import extreme, null_replicates


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

    Equivalent to `scipy.stats.binomtest(...).proportion_ci(level, method="exact")`; written here because small
    comparisons must not wait for SciPy to load.

    Example:
        >>> low, high = clopper_pearson(np.array([0, 5]), 10, 0.95)
        >>> low.round(4), high.round(4)
        (array([0.    , 0.1871]), array([0.3085, 0.8129]))
    """
    successes, inverse = np.unique(np.asarray(successes, np.float64), return_inverse=True)
    tail = (1.0 - level) / 2.0
    low = _beta_quantile(tail, np.maximum(successes, 0.5), trials - successes + 1.0)
    high = _beta_quantile(1.0 - tail, successes + 1.0, np.maximum(trials - successes, 0.5))
    return np.where(successes == 0, 0.0, low)[inverse], np.where(successes == trials, 1.0, high)[inverse]


def _beta_quantile(probability: float, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x with I_x(a, b) = probability, by Newton's method within a bracket (I is increasing in x)."""
    low, high = np.zeros_like(a), np.ones_like(a)
    # Starting at the normal approximation, three or four steps suffice.
    mean = a / (a + b)
    x = mean + NormalDist().inv_cdf(probability) * np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    x = np.where((x > 0.0) & (x < 1.0), x, mean)
    for _ in range(60):
        value, density = _beta_distribution(x, a, b)
        below = value < probability
        low, high = np.where(below, x, low), np.where(below, high, x)
        newton = x - (value - probability) / np.maximum(density, 1e-300)
        after = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        settled = np.abs(after - x) <= 1e-8 * x  # the error of `after` is about the square of this step
        x = after
        if np.all(settled):
            break
    return x


def _beta_distribution(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Regularised incomplete beta function I_x(a, b), by continued fraction (NIST DLMF 8.17.22), and its density."""
    log_gamma = np.vectorize(math.lgamma, otypes=[float])
    log_power = a * np.log(x) + b * np.log1p(-x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    density = np.exp(log_power - np.log(x) - np.log1p(-x))
    flip = x > (a + 1.0) / (a + b + 2.0)
    x, a, b = np.where(flip, 1.0 - x, x), np.where(flip, b, a), np.where(flip, a, b)
    value = np.exp(log_power) / a * _continued_fraction(x, a, b)
    return np.where(flip, 1.0 - value, value), density


def _continued_fraction(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """1 / (1 + d1 / (1 + d2 / ...)) by the modified Lentz method."""
    c = np.ones_like(x)
    d = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        change = np.ones_like(x)
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            change = change * c * d
        value = value * change
        if np.all(np.abs(change - 1.0) < 1e-13):
            break
    return value


def _away_from_zero(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < 1e-300, 1e-300, x)


def p_intervals(outcomes: Outcomes, settings: Settings) -> np.ndarray:
    """What tests know of their p-values, `[pair, 2]`, or Clopper-Pearson intervals of Monte Carlo ones, or NaN."""
    found = outcomes.bracket.copy()
    unknown = outcomes.is_sampled & np.isnan(found[:, 0])
    if unknown.any():
        ends = clopper_pearson(outcomes.exceed[unknown], settings.fixed_resamples, settings.level)
        found[unknown] = np.stack(ends, axis=1)
    return found
