"""Formulas for studies: power, detectable effects, sample sizes, uniformity of p-values, intervals of proportions.

Power comes from the normal distribution; for McNemar's test, it is exact.
"""

import math
from collections.abc import Callable
from itertools import count as count_from
from statistics import NormalDist

import numpy as np

from sigjax.records import Alternative, Hint, InputError, Interval
from sigjax.testing.intervals import wilson_interval
from sigjax.testing.special import clopper_pearson, scipy_special

_NORMAL = NormalDist()
PROPORTION_LEVEL = 0.95
"""The confidence level of the intervals of error rates and of power."""
BINOMIAL_TAIL, _HALVINGS = 8.0, 40
"""`BINOMIAL_TAIL`: sums over a binomial count extend to this many standard deviations on each side of its mean.
`_HALVINGS`: number of steps of a bisection."""
_MOST_PLANNED = 10_000_000


def proportion_interval(successes: int, trials: int, level: float) -> Interval:
    """Return the Clopper-Pearson interval of the proportion of `successes` among `trials`, at the confidence `level`.

    >>> proportion_interval(0, 10, 0.95).high.__round__(4)
    0.3085
    """
    low, high = clopper_pearson(np.array([successes]), trials, level)
    return Interval(float(low[0]), float(high[0]))


def paired_proportion(right: np.ndarray, members: np.ndarray, level: float) -> Interval:
    r"""Wilson's score interval of a proportion of pairs of systems, if pairs share systems and so are dependent.

    `right` `[pair]` says which pairs count in the proportion. `members` `[pair, 2]` are the two systems of each pair,
    by name or position. The interval is for new systems of the same kind.

    The interval uses an effective number of pairs: this many independent pairs would have the same variance. With n
    pairs i and S systems k, the variance is $\frac{S}{S - 1} \left(\sum_k (\sum_{i \ni k} e_i)^2 - \sum_i e_i^2\right)
    / n^2$. $e_i$ is 1 or 0 minus the proportion, and $i \ni k$ are the pairs with system k. The effective number is at
    most n. If the proportion is 0 or 1, the effective number is S / 2, rounded down. In simulations with 12 to 60
    systems, 95% intervals covered the proportion in 92 to 96% of cases; intervals that assume independent pairs covered
    it in 66 to 86%.

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
    r"""Raise an error if K resamples are too few, because the smallest Monte Carlo p, $1 / (K + 1)$, is above alpha.

    >>> check_resamples(19, 0.05)
    """
    least = math.ceil(round(1.0 / alpha, 6)) - 1
    if resamples < least:
        why = f"so that a Monte Carlo p-value can be up to {alpha:g}"
        raise InputError(f"resamples must be at least {least:,}, {why}, got {resamples:,}")


def normal_power(effect: float, standard_error: float, alpha: float, alternative: Alternative) -> float:
    r"""Power if delta is normally distributed around `effect` with a known standard error.

    Let $e$ be the effect divided by the standard error. Two-sided: $\Phi(e - z) + \Phi(-e - z)$ with $z =
    z_{1-\alpha/2}$; greater: $\Phi(e - z_{1-\alpha})$; less: $\Phi(-e - z_{1-\alpha})$. If the standard error is 0, the
    power is 1 for an effect in the direction of the alternative (two-sided: for any effect except 0), else 0.

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

    For one-sided tests, $z_{1-\alpha}$ replaces $z_{1-\alpha/2}$. The probability of a significant difference with the
    wrong sign is neglected.

    >>> round(detectable_effect(1.0, 0.05, 0.8, "two-sided"), 3)
    2.802
    """
    tail = alpha / 2.0 if alternative == "two-sided" else alpha
    return (_NORMAL.inv_cdf(1.0 - tail) + _NORMAL.inv_cdf(power)) * standard_error


def instances_needed(
    variance: np.ndarray, effect: float, alpha: float, power: float, alternative: Alternative
) -> np.ndarray:
    r"""Sample size: the number of instances with which a test detects the effect with this power.

    `variance` is $\sigma^2$, the variance of the difference on one instance. The result is $(z_{1-\alpha/2} +
    z_{power})^2 \sigma^2 / effect^2 + z_{1-\alpha/2}^2 / 2$, rounded up, and at least `fewest_units`. For one-sided
    tests, $z_{1-\alpha}$ replaces $z_{1-\alpha/2}$. The last summand is Guenther's correction (1981), because the
    variance is estimated.

    With R runs of each instance, $\sigma^2 = \sigma^2_{instances} + \sigma^2_{runs} / R$. If an instance costs c and a
    run costs r, $R = \sqrt{c \sigma^2_{runs} / (r \sigma^2_{instances})}$ is the cheapest choice (Cochran 1977, section
    10.6).

    >>> instances_needed(np.array([1.0, 0.01]), 0.5, 0.05, 0.8, "two-sided")
    array([34,  6])
    """
    z = detectable_effect(1.0, alpha, 0.5, alternative)
    needed = variance * (detectable_effect(1.0, alpha, power, alternative) / effect) ** 2 + z**2 / 2.0
    return np.maximum(np.ceil(needed), fewest_units(alpha, alternative)).astype(np.int64)


def fewest_units(alpha: float, alternative: Alternative) -> int:
    """The smallest number of differing units with which a permutation test can reach p <= alpha.

    >>> fewest_units(0.05, "two-sided"), fewest_units(0.05, "greater"), fewest_units(0.0625, "two-sided")
    (6, 5, 5)
    """
    sides = 2.0 if alternative == "two-sided" else 1.0
    return next(number for number in count_from(1) if math.ldexp(sides, -number) <= alpha)


def simulated_effect(errors: np.ndarray, alpha: float, power: float, alternative: Alternative) -> float:
    r"""Like `detectable_effect`, but from simulated `errors` `[trial]` instead of the normal distribution.

    The error of trial r is $\delta_r - \delta$, its delta minus the true delta. A test detects an effect if delta is
    above the $1 - \alpha$ quantile of the errors (two-sided: of their absolute values). This happens in a share `power`
    of the trials if the effect is this quantile minus the $1 - power$ quantile of the errors. As in the normal
    approximation, the spread is taken as known. The signs of the errors must be such that the effect is positive.

    >>> simulated_effect(np.arange(-50.0, 51.0), 0.1, 0.8, "greater")
    70.0
    """
    critical = np.quantile(np.abs(errors) if alternative == "two-sided" else errors, 1.0 - alpha)
    return float(critical - np.quantile(errors, 1.0 - power))


def instances_to_detect(detect: float, target: float, disagree: float, ends: tuple[float, float], level: float) -> int:
    """Find by bisection how many instances give at least the power `target`, while one instance fewer does not.

    `detect` is the true difference of accuracies. `disagree` is the share of instances on which exactly one system is
    right. `ends` are the smallest and the largest difference that is possible with this share. `level` is alpha.
    """
    if not ends[0] <= detect <= ends[1]:
        differ = f"systems that disagree so differ by {ends[0]:.6g} to {ends[1]:.6g}"
        raise InputError(f"{Hint('detect')}: {differ}, got {detect:g}; give a smaller difference")
    low, high = 1, 2
    while mcnemar_power(high, disagree, level)(detect) < target:
        low, high = high, 2 * high
        if high > _MOST_PLANNED:
            raise InputError(f"{Hint('detect')}: {detect:g} needs more than {_MOST_PLANNED // 2:,} instances")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mcnemar_power(middle, disagree, level)(detect) >= target else (middle, high)
    return high


def mcnemar_power(instances: int, disagree: float, level: float) -> Callable[[float], float]:
    """Return the power of the exact two-sided McNemar test as a function of the true difference (see `planned_power`).

    `disagree` is the share of instances on which exactly one system is right, and `level` is alpha.

    >>> round(mcnemar_power(6, 1.0, 0.05)(1.0), 6)  # six wins of six
    1.0
    """
    scipy = scipy_special()
    spread = BINOMIAL_TAIL * math.sqrt(instances * disagree * (1.0 - disagree)) + BINOMIAL_TAIL**2
    low, high = (max(0, min(instances, round(instances * disagree + sign * spread))) for sign in (-1.0, 1.0))
    decided = np.arange(low, high + 1)
    log_chances = scipy.xlogy(decided, disagree) + scipy.xlog1py(instances - decided, -disagree)
    for number in (decided, instances - decided):
        log_chances -= scipy.gammaln(number + 1.0)
    chances = np.exp(log_chances + scipy.gammaln(instances + 1.0))
    # The test rejects if w wins have P(Bin(m, 1/2) >= w) <= level / 2; `least` is the smallest such w. bdtrik is
    # inexact, so its result is corrected.
    least = np.floor(scipy.bdtrik(1.0 - level / 2.0, np.maximum(decided, 1.0), 0.5)).astype(int)
    for _ in range(3):
        least = np.where(_upper(least, decided, 0.5) <= level / 2.0, least, least + 1)
    for _ in range(3):
        least = np.where((least > 0) & (_upper(least - 1, decided, 0.5) <= level / 2.0), least - 1, least)

    def power(difference: float) -> float:
        wins = (1.0 + difference / disagree) / 2.0
        rejected = _upper(least, decided, wins) + _upper(least, decided, 1.0 - wins)
        return float(min(1.0, (chances * rejected).sum()))

    return power


def _upper(wins: np.ndarray, trials: np.ndarray, share: float) -> np.ndarray:
    """Return P(Bin(trials, share) >= wins), elementwise; it is 0 for more wins than trials."""
    inside = scipy_special().betainc(np.maximum(wins, 1), np.maximum(trials - wins + 1, 1), share)
    return np.where(wins <= 0, 1.0, np.where(wins > trials, 0.0, inside))


def detectable_difference(
    instances: int, disagree: float, ends: tuple[float, float], level: float, target: float
) -> float | None:
    """Return the smallest difference that the exact McNemar test detects with power `target`; None if there is none.

    The difference is a true difference of accuracies. `ends` are the smallest and the largest difference to consider.
    `disagree` is the share of the `instances` on which exactly one system is right, and `level` is alpha.
    """
    power, (low, high) = mcnemar_power(instances, disagree, level), ends
    if high <= 0.0 or power(high) < target:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


def uniformity(p_values: np.ndarray) -> tuple[float, float, float]:
    r"""Measure how far p-values `[trial]` are from uniform: return the excess, the p-value of the excess, the deficit.

    The excess and the deficit are one-sided Kolmogorov distances. Let F(v) be the share of p-values that are at most v.
    The excess is the largest F(v) - v, or 0; the deficit is the largest v - F(v), or 0. The maximum is taken over the
    p-values v that occur, because an exact test attains $P(p \le v) = v$ only at possible p-values.

    A valid test has $P(p \le v) \le v$ for all v. So the probability of an excess is at most the probability for
    uniform p-values, which Smirnov's formula gives exactly. For discrete p-values, the probability is lower (Conover
    1972). For n uniform p-values, each distance is about $0.63 / \sqrt n$ on average.

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
