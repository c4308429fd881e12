"""The formulas of studies: power and detectable effects, the distribution of p-values, intervals of shares."""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from sigjax.records import Alternative, InputError, Interval
from sigjax.testing.tails import clopper_pearson

_NORMAL = NormalDist()
SHARE_LEVEL = 0.95
"""Level of the intervals of error rates and of power."""


def share_interval(successes: int, trials: int, level: float) -> Interval:
    """Clopper-Pearson interval of a share of trials.

    Example:
        >>> share_interval(0, 10, 0.95).high.__round__(4)
        0.3085
    """
    low, high = clopper_pearson(np.array([successes]), trials, level)
    return Interval(float(low[0]), float(high[0]))


def check_resamples(resamples: int, alpha: float) -> None:
    r"""Refuse too few resamples: the smallest Monte Carlo p-value, $1 / (K + 1)$, would be above alpha.

    Raises:
        InputError: they are too few.

    Example:
        >>> check_resamples(19, 0.05)
    """
    least = math.ceil(round(1.0 / alpha, 6)) - 1
    if resamples < least:
        raise InputError(
            f"resamples must be at least {least:,}, so that a Monte Carlo p-value can be up to {alpha:g}, "
            f"got {resamples:,}"
        )


def is_attainable(alpha: float, num_units: int, alternative: Alternative) -> bool:
    r"""Whether a permutation test of so many units can have p <= alpha: its smallest p is $2^{-n}$, twice two-sided.

    Example:
        >>> [is_attainable(0.05, num_units, "two-sided") for num_units in (4, 5, 6)]
        [False, False, True]
    """
    return math.ldexp(1.0 if alternative != "two-sided" else 2.0, -num_units) <= alpha


def normal_power(effect: float, standard_error: float, alpha: float, alternative: Alternative) -> float:
    r"""Power if delta is normal around `effect` with a known standard error.

    Two-sided $\Phi(e - z) + \Phi(-e - z)$ with $e$ the effect in standard errors and $z = z_{1-\alpha/2}$; greater
    $\Phi(e - z_{1-\alpha})$; less the same of $-e$. With a standard error of 0, the power is 1 if there is an effect.

    Example:
        >>> round(normal_power(2.8, 1.0, 0.05, "two-sided"), 3), round(normal_power(0.0, 1.0, 0.05, "less"), 3)
        (0.8, 0.05)
    """
    effect = {"two-sided": abs(effect), "greater": effect, "less": -effect}[alternative]
    if standard_error == 0.0:
        return float(effect > 0.0)
    away = effect / standard_error
    if alternative == "two-sided":
        z = _NORMAL.inv_cdf(1.0 - alpha / 2.0)
        return _NORMAL.cdf(away - z) + _NORMAL.cdf(-away - z)
    return _NORMAL.cdf(away - _NORMAL.inv_cdf(1.0 - alpha))


def detectable_effect(standard_error: float, alpha: float, power: float, alternative: Alternative) -> float:
    r"""The smallest effect that a test detects with this power: $(z_{1-\alpha/2} + z_{power})$ standard errors.

    One-sided tests have $z_{1-\alpha}$. The chance of a significant difference of the wrong sign is left out.

    Example:
        >>> round(detectable_effect(1.0, 0.05, 0.8, "two-sided"), 3)
        2.802
    """
    tail = alpha / 2.0 if alternative == "two-sided" else alpha
    return (_NORMAL.inv_cdf(1.0 - tail) + _NORMAL.inv_cdf(power)) * standard_error


def simulated_effect(errors: np.ndarray, alpha: float, power: float, alternative: Alternative) -> float:
    r"""`detectable_effect` from simulated errors $\delta_r - \delta$ `[trial]` instead of the normal distribution.

    An effect shifts their distribution. A test detects it if delta is above the $1 - \alpha$ quantile of the errors (of
    their sizes, two-sided). A share `power` of the trials is above it if the effect is that quantile minus the
    $1 - power$ quantile of the errors. As in the normal approximation, the spread is taken as known; a test estimates
    it, and needs a little more with few units.

    Args:
        errors: simulated delta minus its true value, with the sign that makes the effect positive.
        alpha: the level of the test.
        power: the share of trials in which the test is to detect the effect.
        alternative: of the test.

    Example:
        >>> simulated_effect(np.arange(-50.0, 51.0), 0.1, 0.8, "greater")
        70.0
    """
    critical = np.quantile(np.abs(errors) if alternative == "two-sided" else errors, 1.0 - alpha)
    return float(critical - np.quantile(errors, 1.0 - power))


class Uniformity(NamedTuple):
    """How far the distribution F of p-values is from uniform, on either side."""

    excess: float
    """The largest F(v) - v, or 0: more small p-values than a valid test gives."""
    excess_p: float
    """Upper bound on the probability of such an excess, if the test is valid."""
    deficit: float
    """The largest v - F(v), or 0: fewer small p-values than levels allow."""


def uniformity(p_values: np.ndarray) -> Uniformity:
    r"""Distances between v and the share F(v) of p-values `[trial]` that are at most v (Kolmogorov, one-sided).

    A valid test has $P(p \le v) \le v$ for all v. An exact permutation test attains equality at the values that its p
    can have, and at no other, so distances are taken at the p-values that occur. Sampling smears these values; p-values
    that can have few values then show a deficit, never an excess. The probability of an excess is at most that for
    uniform p-values, which Smirnov's formula gives exactly (Conover 1972: for discrete distributions it is lower). Of
    n uniform p-values either distance is about $0.63 / \sqrt n$.

    Example:
        >>> uniformity(np.array([0.25, 0.5, 0.75, 1.0]))[::2]
        (0.0, 0.0)
        >>> uniformity(np.array([0.01, 0.02, 0.03, 0.04])).excess
        0.96
    """
    from scipy.special import smirnov

    values, counts = np.unique(p_values, return_counts=True)
    apart = np.cumsum(counts) / len(p_values) - values
    excess, deficit = max(0.0, float(apart.max())), max(0.0, float(-apart.min()))
    return Uniformity(excess, float(smirnov(len(p_values), excess)), deficit)
