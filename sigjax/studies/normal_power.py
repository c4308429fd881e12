"""Power and detectable effects of a test of delta, by the normal approximation and from simulated deltas."""

import math
from statistics import NormalDist

import numpy as np

from sigjax.records import Alternative, InputError

_NORMAL = NormalDist()


def normal_power(effect: float, standard_error: float, alpha: float, alternative: Alternative) -> float:
    r"""Power where delta is normal around `effect` with a known standard error.

    Two-sided $\Phi(e - z) + \Phi(-e - z)$ with $e$ the effect in standard errors and $z = z_{1-\alpha/2}$; greater
    $\Phi(e - z_{1-\alpha})$; less the same of $-e$. Without any spread an effect is found surely, and none never.

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
    r"""The least size of an effect that is found with this power: $(z_{1-\alpha/2} + z_{power})$ standard errors.

    One-sided tests have $z_{1-\alpha}$. The chance of a significant difference of the wrong sign is left out.

    Example:
        >>> round(detectable_effect(1.0, 0.05, 0.8, "two-sided"), 3)
        2.802
    """
    tail = alpha / 2.0 if alternative == "two-sided" else alpha
    return (_NORMAL.inv_cdf(1.0 - tail) + _NORMAL.inv_cdf(power)) * standard_error


def check_resamples(resamples: int, alpha: float) -> None:
    r"""Refuse resamples with which no Monte Carlo p-value, at least $1 / (K + 1)$, is up to alpha.

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
    r"""Whether any permutation test of so many units has a p-value up to alpha: the least is $2^{-n}$, twice two-sided.

    Example:
        >>> [is_attainable(0.05, num_units, "two-sided") for num_units in (4, 5, 6)]
        [False, False, True]
    """
    return math.ldexp(1.0 if alternative != "two-sided" else 2.0, -num_units) <= alpha


def simulated_effect(errors: np.ndarray, alpha: float, power: float, alternative: Alternative) -> float:
    r"""The same from simulated errors $\delta_r - \delta$ `[trial]` in the place of the normal distribution.

    An effect moves their distribution. It is found where its delta passes the $1 - \alpha$ quantile of the errors (of
    their sizes, two-sided), which all but a share of 1 - `power` of them must do: that quantile minus the $1 - power$
    quantile of the errors. As in the normal approximation the spread is taken for known, which a test has to estimate:
    of few units it needs a little more.

    Args:
        errors: simulated delta minus the effect that it was simulated for, with the sign that makes the effect
            positive.
        alpha: the level of the test.
        power: the share of trials in which the effect is to be found.
        alternative: of the test.

    Example:
        >>> simulated_effect(np.arange(-50.0, 51.0), 0.1, 0.8, "greater")
        70.0
    """
    critical = np.quantile(np.abs(errors) if alternative == "two-sided" else errors, 1.0 - alpha)
    return float(critical - np.quantile(errors, 1.0 - power))
