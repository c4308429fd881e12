"""The formulas of studies: power and detectable effects, the distribution of p-values, intervals of shares."""

import math
from itertools import count as count_from
from statistics import NormalDist

import numpy as np

from sigjax.records import Alternative, InputError, Interval
from sigjax.testing.closed import wilson_interval
from sigjax.testing.special import clopper_pearson

_NORMAL = NormalDist()
PROPORTION_LEVEL = 0.95
"""Level of the intervals of error rates and of power."""


def proportion_interval(successes: int, trials: int, level: float) -> Interval:
    """Clopper-Pearson interval of a share of trials.

    >>> proportion_interval(0, 10, 0.95).high.__round__(4)
    0.3085
    """
    low, high = clopper_pearson(np.array([successes]), trials, level)
    return Interval(float(low[0]), float(high[0]))


def paired_proportion(right: np.ndarray, members: np.ndarray, level: float) -> Interval:
    r"""Wilson's score interval of a share of pairs, for new systems of the same kind. Pairs may share systems.

    It takes the number of independent pairs that would have the variance of the share, $\frac{S}{S - 1} \left(\sum_k
    (\sum_{i \ni k} e_i)^2 - \sum_i e_i^2\right) / n^2$ for n pairs i of S systems k, with $e_i$ = 1 or 0 minus the
    share; but no more than n, and where all pairs are right, or none is, one per two systems. In simulations with 12 to
    60 systems, intervals of 95% hold the share in 92 to 96% of cases; those that assume independent pairs in 66 to 86%.
    `right` is `[pair]`, and `members` `[pair, 2]` are the systems, by name or position.

    Reference: Aronow, Samii and Assenova (2015), "Cluster-robust variance estimation for dyadic data".

    >>> right, members = np.array([True, True, False]), np.array([[0, 1], [2, 3], [4, 5]])
    >>> [round(end, 3) for end in paired_proportion(right, members, 0.95)]
    [0.185, 0.946]
    """
    codes = np.unique(members, return_inverse=True)[1].reshape(-1, 2)
    systems, count, share = int(codes.max()) + 1, len(right), float(right.mean())
    errors = right - share
    of_systems = np.bincount(codes.ravel(), np.repeat(errors, 2), systems)
    variance = systems / (systems - 1) * float((of_systems**2).sum() - (errors**2).sum()) / count**2
    independent = min(share * (1.0 - share) / variance, count) if variance > 0.0 else float(count)
    independent = systems // 2 if share in (0.0, 1.0) else independent
    low, high = wilson_interval(np.array([share * independent]), independent, level)
    return Interval(float(low[0]), float(high[0]))


def check_resamples(resamples: int, alpha: float) -> None:
    r"""Refuse too few resamples: the smallest Monte Carlo p-value, $1 / (K + 1)$, would be above alpha.

    >>> check_resamples(19, 0.05)
    """
    least = math.ceil(round(1.0 / alpha, 6)) - 1
    if resamples < least:
        why = f"so that a Monte Carlo p-value can be up to {alpha:g}"
        raise InputError(f"resamples must be at least {least:,}, {why}, got {resamples:,}")


def normal_power(effect: float, standard_error: float, alpha: float, alternative: Alternative) -> float:
    r"""Power if delta is normal around `effect` with a known standard error.

    Two-sided $\Phi(e - z) + \Phi(-e - z)$ with $e$ the effect in standard errors and $z = z_{1-\alpha/2}$; greater
    $\Phi(e - z_{1-\alpha})$; less the same of $-e$. With a standard error of 0, the power is 1 if there is an effect.

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

    >>> round(detectable_effect(1.0, 0.05, 0.8, "two-sided"), 3)
    2.802
    """
    tail = alpha / 2.0 if alternative == "two-sided" else alpha
    return (_NORMAL.inv_cdf(1.0 - tail) + _NORMAL.inv_cdf(power)) * standard_error


def instances_needed(
    variance: np.ndarray, effect: float, alpha: float, power: float, alternative: Alternative
) -> np.ndarray:
    r"""Instances with which a test detects the effect with this power, if one instance has this variance of delta.

    $(z_{1-\alpha/2} + z_{power})^2 \sigma^2 / effect^2 + z_{1-\alpha/2}^2 / 2$, rounded up; the last term, of Guenther
    (1981), is for the variance being estimated. No fewer than attain p = alpha when all swaps are enumerated. With R
    runs of each instance the variance is $\sigma^2_{instances} + \sigma^2_{runs} / R$, so that for costs c per instance
    and r per run $R = \sqrt{c \sigma^2_{runs} / (r \sigma^2_{instances})}$ is the cheapest (Cochran 1977, 10.6).

    >>> instances_needed(np.array([1.0, 0.01]), 0.5, 0.05, 0.8, "two-sided")
    array([34,  6])
    """
    z = detectable_effect(1.0, alpha, 0.5, alternative)
    needed = variance * (detectable_effect(1.0, alpha, power, alternative) / effect) ** 2 + z**2 / 2.0
    return np.maximum(np.ceil(needed), fewest_units(alpha, alternative)).astype(np.int64)


def fewest_units(alpha: float, alternative: Alternative) -> int:
    """The fewest units that must differ for a permutation test to have p <= alpha.

    >>> fewest_units(0.05, "two-sided"), fewest_units(0.05, "greater"), fewest_units(0.0625, "two-sided")
    (6, 5, 5)
    """
    sides = 2.0 if alternative == "two-sided" else 1.0
    return next(number for number in count_from(1) if math.ldexp(sides, -number) <= alpha)


def simulated_effect(errors: np.ndarray, alpha: float, power: float, alternative: Alternative) -> float:
    r"""`detectable_effect` from simulated errors $\delta_r - \delta$ `[trial]` instead of the normal distribution.

    A test detects an effect if delta is above the $1 - \alpha$ quantile of the errors (of their sizes, two-sided); a
    share `power` of the trials is, if the effect is that quantile minus the $1 - power$ quantile. As in the normal
    approximation, the spread is taken as known. Errors have the sign that makes the effect positive.

    >>> simulated_effect(np.arange(-50.0, 51.0), 0.1, 0.8, "greater")
    70.0
    """
    critical = np.quantile(np.abs(errors) if alternative == "two-sided" else errors, 1.0 - alpha)
    return float(critical - np.quantile(errors, 1.0 - power))


def uniformity(p_values: np.ndarray) -> tuple[float, float, float]:
    r"""Distances between v and the share F(v) of p-values `[trial]` that are at most v (Kolmogorov, one-sided).

    They are the excess, the largest F(v) - v or 0; an upper bound on the probability of such an excess if the test is
    valid; and the deficit, the largest v - F(v) or 0. A valid test has $P(p \le v) \le v$ for all v; an exact
    permutation test attains equality at the values that its p can have, so distances are taken at the p-values that
    occur. The probability of an excess is at most that for uniform p-values, which Smirnov's formula gives exactly
    (Conover 1972: for discrete distributions it is lower). Of n uniform p-values either distance is about $0.63 /
    \sqrt n$.

    >>> uniformity(np.array([0.25, 0.5, 0.75, 1.0]))[::2]
    (0.0, 0.0)
    >>> uniformity(np.array([0.01, 0.02, 0.03, 0.04]))[0]
    0.96
    """
    from scipy.special import smirnov

    values, counts = np.unique(p_values, return_counts=True)
    apart = np.cumsum(counts) / len(p_values) - values
    excess, deficit = max(0.0, float(apart.max())), max(0.0, float(-apart.min()))
    return excess, float(smirnov(len(p_values), excess)), deficit
