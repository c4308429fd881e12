r"""Tail probabilities and quantiles of known distributions, accurate to 1e-12.

SciPy computes most tails. sigjax computes quantiles itself, by Newton's method, so that digits do not depend on
installed packages. Small comparisons then work without SciPy, whose import takes longer than the comparison. In
`scipy.special.betaincinv`, two thirds of the last digits differ between SciPy 1.14 and 1.17. With SciPy 1.17, the upper
end of the 99% Clopper-Pearson interval for 999 successes in 10,000,000 trials has a relative error of 2e-6.

sigjax also computes the normal distribution and its quantiles, correctly rounded: `NormalDist.cdf` differs between
versions of Python (3.14) and of glibc.

**Odds for a binomial tail** (`lower_odds`). Let X be binomial with n trials and the probability x of a success, let
$e^v = x / (1 - x)$ be the odds, and $S = P(X \ge k) / P(X = k)$. The result is the odds at which $P(X \ge k)$ has a
given value. The function $\log P(X \ge k)$ has the derivative $h = k (1 - x) / S$ in v, and the second derivative $h (k
- (n + 1) x - h)$. The second derivative is negative: as a function of v, P(X >= k) is a distribution function with a
log-concave density, so its logarithm is concave. Halley's method finds v with both derivatives. S is a continued
fraction of positive terms, so it loses no digits. S is computed with IEEE 754 operations only, so the result is the
same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from importlib import import_module
from statistics import NormalDist
from typing import Any

import numpy as np

from sigjax.records import Alternative

_CLOSE = 1e-9
"""Largest relative step after which Newton's method ends. The error after the step is about the square of the step."""
_CLOSE_CUBED = 1e-5
"""Largest error (in the log probability) before a step of Halley's method after which the method ends. The error after
the step is about the cube of the error before it."""
_MOST_STEPS = 50
"""Largest number of steps of Newton's and Halley's methods. Four or five suffice, but from 1e10 trials on, rounding may
keep the log probability from converging."""
_NODES = [(math.exp(y - math.exp(-y)), 0.125 * (1.0 + math.exp(-y))) for y in (k / 8.0 for k in range(-28, 31))]
"""Points x at which the function under an integral from 0 to infinity is evaluated, and their weights divided by x."""
# The last digits of NumPy's functions differ between builds.
_log1p, _exp = np.vectorize(math.log1p, otypes=[float]), np.vectorize(math.exp, otypes=[float])
_DIGITS = Context(prec=40)
_ROOT = _DIGITS.sqrt(Decimal("6.28318530717958647692528676655900576839433879875021"))
_FARTHEST = 8.0
"""Largest |z| for which results are correctly rounded. A normal variable is farther from 0 with probability 1e-15."""


def normal_below(z: float) -> float:
    """The probability that a normal variable is below z, correctly rounded if |z| <= 8. For larger |z| it is 0 or 1.

    >>> normal_below(0.0), normal_below(-1.0), normal_below(1e9)
    (0.5, 0.15865525393145705, 1.0)
    """
    return float(_normal(z)[1]) if abs(z) <= _FARTHEST else float(z > 0.0)


@lru_cache
def normal_quantile(p: float) -> float:
    """The z such that a normal variable is below z with probability p, correctly rounded if |z| <= 8.

    `NormalDist.inv_cdf` gives about 15 digits, and a step of Newton's method doubles their number.

    >>> normal_quantile(0.5), normal_quantile(0.975)
    (0.0, 1.9599639845400538)
    """
    z = NormalDist().inv_cdf(p)
    if abs(z) > _FARTHEST:
        return z
    density, below = _normal(z)
    with localcontext(_DIGITS):
        return float(Decimal(z) + (Decimal(p) - below) / density)


def _normal(z: float) -> tuple[Decimal, Decimal]:
    r"""Return the density of the normal distribution at z and the probability below z, by basic arithmetic only.

    With the density $\varphi$, the probability is $\Phi(z) = 1/2 + \varphi(z) (z + z^3 / 3 + z^5 / (3 \cdot 5) +
    \dots)$. Reference: Marsaglia (2004), "Evaluating the normal distribution".
    """
    with localcontext(_DIGITS):
        term = Decimal(z)
        square, total, odd = term * term, Decimal(0), 1
        density = (-square / 2).exp() / _ROOT
        while total + term != total:
            total, odd = total + term, odd + 2
            term *= square / odd
        return density, Decimal("0.5") + density * total


def scipy_special() -> Any:
    """`scipy.special`, imported on demand: the import takes longer than small comparisons."""
    return import_module("scipy.special")


def normal_tail(z: float, alternative: Alternative) -> float:
    """The probability that a normal variable is at least as extreme as z.

    >>> round(normal_tail(1.96, "two-sided"), 4)
    0.05
    """
    return _tail(scipy_special().ndtr, z, alternative)


def t_tail(t: float, degrees: float, alternative: Alternative) -> float:
    """The probability that a Student's t variable is at least as extreme as t; `degrees` need not be a whole number.

    >>> round(t_tail(2.2622, 9.0, "two-sided"), 4), t_tail(0.0, 2.5, "greater")
    (0.05, 0.5)
    """
    return _tail(lambda x: scipy_special().stdtr(degrees, x), t, alternative)


@lru_cache
def t_quantile(level: float, degrees: float) -> float:
    r"""The t that the absolute value of a Student's t variable exceeds with probability 1 - level.

    Let $t = \sqrt n \sinh u$ for n degrees of freedom. Then the density of u is proportional to $\cosh^{-n} u$, so the
    logarithm of the tail is concave in u. Therefore Newton's method from 0 passes the solution in the first step, and
    then falls towards it.

    >>> round(t_quantile(0.95, 9.0), 4), round(t_quantile(0.95, 2.5), 4)
    (2.2622, 3.5747)
    """
    u, whole = 0.0, _t_ratio(0.0, degrees)
    for _ in range(_MOST_STEPS):
        ratio = _t_ratio(math.tanh(u), degrees)
        log_tail = math.log(ratio / whole) - degrees * math.log1p(2.0 * math.sinh(0.5 * u) ** 2)
        step = ratio * (log_tail - math.log(1.0 - level))
        u += step
        if abs(step) <= _CLOSE * u:
            break
    return math.sqrt(degrees) * math.sinh(u)


def _t_ratio(slope: float, degrees: float) -> float:
    """The integral of cosh^-n from u to infinity, divided by cosh^-n at u; n is `degrees`, and tanh u is `slope`.

    The ratio is the integral over s from 0 to infinity of (cosh s + slope sinh s)^-n. It is computed with the
    double-exponential rule (Takahasi and Mori 1974).
    """
    scale = 1.0 / degrees + 1.0 / math.sqrt(degrees)
    return scale * math.fsum(
        weight * math.exp(-degrees * math.log1p(2.0 * math.sinh(0.5 * s) ** 2 + slope * math.sinh(s)))
        for s, weight in ((scale * x, x * weight) for x, weight in _NODES)
    )


def chi_square_tail(statistic: float) -> float:
    """The probability that a chi-square variable with one degree of freedom is at least `statistic`.

    >>> round(chi_square_tail(3.8415), 4)
    0.05
    """
    return float(scipy_special().chdtrc(1, statistic))


def binomial_upper(successes: int, trials: int) -> float:
    """P(X >= successes) for a binomial X with `trials` trials and the success probability 1/2.

    >>> binomial_upper(3, 3), binomial_upper(0, 3), binomial_upper(4, 3)
    (0.125, 1.0, 0.0)
    """
    if not 0 < successes <= trials:
        return float(successes <= 0)
    return float(scipy_special().betainc(successes, trials - successes + 1, 0.5))


def _tail(cdf: Callable[[float], float], x: float, alternative: Alternative) -> float:
    """The probability of values at least as extreme as x, for a distribution that is symmetric about 0."""
    if alternative == "two-sided":
        return float(2.0 * cdf(-abs(x)))
    return float(cdf(-x if alternative == "greater" else x))


def clopper_pearson(successes: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact binomial confidence intervals for proportions: return the low ends and the high ends, each `[...]`.

    Equivalent to `scipy.stats.binomtest(...).proportion_ci(level, method="exact")`.

    >>> low, high = clopper_pearson(np.array([0, 5]), 10, 0.95)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.1871]), array([0.3085, 0.8129]))
    """
    counts, inverse = np.unique(np.asarray(successes, np.int64), return_inverse=True)
    tail, some, others = (1.0 - level) / 2.0, counts > 0, counts < trials
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    odds = lower_odds(np.concatenate([counts[some], trials - counts[others]]), trials, tail)
    of_low, of_high = np.split(odds, [np.count_nonzero(some)])
    low[some], high[others] = of_low / (1.0 + of_low), 1.0 / (1.0 + of_high)
    return low[inverse], high[inverse]


def lower_odds(successes: np.ndarray, trials: int, tail: float) -> np.ndarray:
    """The odds of a success at which `successes` or more successes in `trials` have the probability `tail`, `[count]`.

    `successes` `[count]` are integers from 1 to `trials`; each result depends only on its own element. The relative
    error is below 1e-11 up to 1e9 trials.

    >>> odds = lower_odds(np.array([5, 10]), 10, 0.025)
    >>> (odds / (1.0 + odds)).round(6)
    array([0.187086, 0.691503])
    """
    odds, some = np.empty(len(successes)), successes < trials
    odds[~some] = 1.0 / math.expm1(-math.log(tail) / trials)
    odds[some] = _exp(_halley(successes[some].astype(np.float64), float(trials), tail))
    return odds


def _halley(k: np.ndarray, trials: float, tail: float) -> np.ndarray:
    """The logarithms of the odds of `lower_odds` `[count]` by Halley's method, for k successes with 0 < k < trials."""
    highest, v = _log_highest(k, trials), _start(k, trials, tail)
    running = np.arange(len(k))
    for _ in range(_MOST_STEPS):
        here, rest = k[running], trials - k[running]
        odds = _exp(v[running])
        ratio = _tail_ratio(here, rest, odds)
        beyond = _log_tail(highest[running], here, rest, odds, ratio) - math.log(tail)
        slope = here / ((1.0 + odds) * ratio)
        bend = (here - (rest + 1.0) * odds) / (1.0 + odds) - slope
        v[running] -= 2.0 * beyond / (2.0 * slope - beyond * bend)
        running = running[abs(beyond) > _CLOSE_CUBED]
        if not running.size:
            break
    return v


def _log_tail(highest: np.ndarray, k: np.ndarray, rest: np.ndarray, odds: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """The logarithm of P(X >= k) for a binomial X with k + `rest` trials and these odds of a success.

    `highest` is the result of `_log_highest`, and `ratio` the result of `_tail_ratio`.
    """
    log_tail = highest + k * (_log1p(rest / k) - _log1p(1.0 / odds))
    return log_tail + (rest * (_log1p(k / rest) - _log1p(odds)) + _log1p(ratio - 1.0))


def log_upper(successes: int, trials: int, odds: float) -> float:
    """The logarithm of P(X >= successes) for a binomial X with `trials` trials and these odds of a success.

    >>> [round(math.exp(log_upper(*each)), 12) for each in ((3, 3, 1.0), (1, 2, 3.0), (4, 3, 1.0))]
    [0.125, 0.9375, 0.0]
    """
    if successes <= 0 or successes > trials:
        return 0.0 if successes <= 0 else -math.inf
    if successes == trials:
        return -trials * math.log1p(1.0 / odds)
    if successes * (1.0 + odds) <= trials * odds:  # the complement P(X < successes) is smaller, so it has more digits
        return math.log1p(-math.exp(log_upper(trials - successes + 1, trials, 1.0 / odds)))
    k, rest, ratio = (np.array([float(each)]) for each in (successes, trials - successes, odds))
    return float(_log_tail(_log_highest(k, float(trials)), k, rest, ratio, _tail_ratio(k, rest, ratio))[0])


_CELLS = 2**15
"""Continued fractions are computed in blocks of at most this many terms, which stay in the cache."""


def _tail_ratio(k: np.ndarray, rest: np.ndarray, odds: np.ndarray) -> np.ndarray:
    """P(X >= k) / P(X = k) `[count]` for a binomial X with k + `rest` trials and these odds of a success.

    k must not be below the mean of X. Each element is a continued fraction with as many terms as it needs. An error
    below 1e-14 needs at most 3 terms per standard deviation of X, and at most 360 / z^2 terms if k is z standard
    deviations above the mean (measured up to 1e9 trials).
    """
    above, variance = k - rest * odds, (k + rest) * odds
    with np.errstate(divide="ignore"):
        needed = np.minimum(360.0 * variance / (above * above), 3.0 * np.sqrt(variance) / (1.0 + odds))
    needed = np.ceil(needed) + 12.0
    order, found, start = np.argsort(needed), np.empty_like(k), 0
    terms = np.cumsum(needed[order])
    while start < len(k):
        before = terms[start - 1] if start else 0.0
        part = order[start : max(int(np.searchsorted(terms, before + _CELLS, "right")), start + 1)]
        found[part] = _fraction(k[part], rest[part], odds[part], needed[part])
        start += len(part)
    return found


def _fraction(k: np.ndarray, rest: np.ndarray, odds: np.ndarray, terms: np.ndarray) -> np.ndarray:
    r"""P(X >= k) / P(X = k) `[count]` as the even part of a continued fraction with this many `terms` `[count]`.

    It is the continued fraction of the incomplete beta function $I_x(k, n - k + 1)$. Reference: Didonato and Morris
    (1992), "Algorithm 708: Significant digit computation of the incomplete beta function ratios" (BFRAC).
    """
    m = np.arange(1.0, terms.max() + 1.0)[:, None]
    failure = 1.0 / (1.0 + odds)
    success = odds * failure
    ahead = (k - (rest + 1.0) * odds) * failure + 1.0
    above = k + m
    odd = above + (m - 1.0)
    share = success / odd * (np.maximum((rest + 1.0) - m, 0.0) * m)
    numerators = share * (above - 1.0) * (above + rest) * (success / odd) * (m <= terms)
    denominators = above / (odd + 2.0) * (m * (1.0 + failure) + ahead) + share + m
    tail = denominators[-1]
    for numerator, denominator in zip(numerators[:0:-1], denominators[-2::-1], strict=True):
        tail = denominator + numerator / tail
    return k * failure / (k / (k + 1.0) * ahead + numerators[0] / tail)


def _log_highest(k: np.ndarray, trials: float) -> np.ndarray:
    """The logarithm of P(X = k) if the probability of a success is k / trials, which makes P(X = k) largest."""
    rest = trials - k
    stirling = _stirling_error(np.full(1, trials)) - (_stirling_error(k) + _stirling_error(rest))
    return stirling + 0.5 * np.array([math.log(each) for each in (trials / (2.0 * math.pi * k * rest)).tolist()])


def _stirling_error(n: np.ndarray) -> np.ndarray:
    """The error of Stirling's formula for log n!: log n! - log((2 pi n)^(1/2) (n / e)^n).

    Reference: Loader (2000), "Fast and accurate binomial probabilities".
    """
    inverse = 1.0 / (n * n)
    series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0)))) / n
    return np.where(n < len(_SMALL), _SMALL[np.minimum(n, len(_SMALL) - 1).astype(int)], series)


_SMALL = np.array(
    [math.nan]
    + [math.log(math.factorial(n)) - 0.5 * math.log(2.0 * math.pi * n) - n * (math.log(n) - 1.0) for n in range(1, 16)]
)
"""`[n]`: the values of `_stirling_error` for small n, for which its series is less accurate."""


def log_upper_half(trials: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Logarithms `[row]` of P(X >= k), where X is the number of heads of `trials` fair coins; k is above `trials` / 2.

    The method uses the deviance n / 2 (log(1 - d^2) + 2 d atanh d) for n trials and d = 2 k / n - 1, which is 0 if k is
    n / 2.
    """
    found, some = np.where(k > trials, -math.inf, -math.log(2.0) * trials), np.flatnonzero(k < trials)
    n, here = trials[some].astype(np.float64), k[some].astype(np.float64)
    rest = n - here
    d = (here - rest) / n
    far = here * np.log(2.0 * here / n) + rest * np.log(2.0 * rest / n)
    deviance = np.where(d < 0.5, 0.5 * n * (np.log1p(-d * d) + 2.0 * d * np.arctanh(d)), far)
    of_n, of_here, of_rest = _stirling_error(np.stack([n, here, rest]))
    error = of_n - (of_here + of_rest)
    log_highest = error + 0.5 * np.log(n / (2.0 * math.pi * here * rest))
    found[some] = log_highest - deviance + np.log(_tail_ratio(here, rest, np.ones(len(some))))
    return found


def _start(k: np.ndarray, trials: float, tail: float) -> np.ndarray:
    """The log odds `[count]` at which `_halley` starts: from Wilson's score interval with a continuity correction."""
    z, share = NormalDist().inv_cdf(tail), (k - 0.5) / trials
    middle = share + z * z / (2.0 * trials)
    end = middle + z * np.sqrt(share * (1.0 - share) / trials + (z / (2.0 * trials)) ** 2)
    low = np.maximum(end / (1.0 + z * z / trials), 1e-3 * share)
    return np.array([math.log(each / (1.0 - each)) for each in low.tolist()])
