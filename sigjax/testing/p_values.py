r"""Tails and quantiles of known laws, accurate to 1e-12 of themselves: tails by SciPy, quantiles by Newton's method.

Quantiles are ours, with the same digits whatever is installed: small comparisons do without SciPy, whose import takes
longer than they; two thirds of the last digits of `scipy.special.betaincinv` differ between SciPy 1.14 and 1.17, and
1.17 is off by 2e-6 for 999 of 10,000,000.

So are the normal law and its quantiles, correctly rounded: `NormalDist.cdf` changes with Python 3.14 and with glibc.

Let $e^v = x / (1 - x)$ be the odds and $S = P(X \ge k) / P(X = k)$. Then $\log P(X \ge k)$ has the derivative $k (1 -
x) / S$ in v, and is concave in v, as the density of v is log-concave. So Newton's method, wherever it starts, is
below the solution after one step and then rises towards it: no bracket is needed.

p-values: the outcomes of a test for one pair and for many, and intervals of Monte Carlo p-values.

`resamples="auto"`: when a Monte Carlo test may stop, what it then knows of p, and which p-value it reports.

The test looks at its counts after `LOOKS` resamples; the last look is the cap. S is the number of hits (resamples at
least as extreme as observed) that a pair has among the first n.

**The rule** is MMCTest (Gandy and Hahn 2014) at fixed looks. At each look a sampled pair gets a Clopper-Pearson
interval for p, the share of hits among infinitely many resamples, with error `ERROR` / (pairs * looks). A pair stops
when the lower and the upper ends of all pairs, put through the correction, lie on the same side of alpha for it.

*Its error.* Given the data, S is binomial with share p. By the union bound over pairs and looks, all intervals hold
their p with probability 1 - `ERROR`. No adjusted p-value falls when some p rises, so the adjusted p-values of
infinitely many resamples then lie between the adjusted ends, as do the reported ones, for which the ends are widened if
need be. The probability that any settled decision of a test is wrong is at most `ERROR`, whatever the p-values are.
Exact p-values of other pairs enter as they are. (Gandy 2009 bounds the same risk for one hypothesis.)

*Several metrics, adjusted together.* They are sampled one after another. The pairs of metrics before enter with their
bounds, those of metrics to come with 0 and 1; each has its part of `ERROR`. Which decisions are settled is known when
all are (see `sigjax.multiple.decision`).

**The p-value** cannot be (S + 1) / (n + 1): n was chosen by looking at S, and at the other pairs, about which the null
hypothesis of this one says nothing. It must be valid at all looks at once, so that stopping may depend on anything. By
stochastic curtailment (Lan, Simon and Halperin 1982) it is

    p = q / CONFIDENCE,  q = the least value that (S + 1) / (N + 1) at the cap N stays within, with probability
                             CONFIDENCE under the null hypothesis, given S now

so at the cap 1.005 (S + 1) / (N + 1), and before it an upper bound of what it will be there.

*Proof that P(p <= u at any look) <= u.* Under the null hypothesis the observed delta and its resamples are
exchangeable. Ties only add hits, and p rises with S; so let there be none. Then the final count S_N is uniform on 0..N,
and given S_N all orders of hits are equally likely. For a whole number B let M_n = P(S_N <= B | the first n resamples)
= P(S_N <= B | S). This is a martingale with mean (B + 1) / (N + 1), so Ville's inequality gives P(M_n >= CONFIDENCE at
any look) <= (B + 1) / (N + 1) / CONFIDENCE. Take the largest B for which the right side is at most u: then p <= u at a
look says just that M_n >= CONFIDENCE there. QED

P(S_N <= B | S): mark the B + 1 largest of all N + 1 deltas. The observed one is the (S + 1)-th largest of the n + 1
known so far, so it is marked (S_N <= B) when more than S of those are: a hypergeometric tail.

References: Gandy (2009), JASA 104, 1504-1511; Gandy and Hahn (2014), Scandinavian Journal of Statistics 41, 1083-1101;
Lan, Simon and Halperin (1982), Sequential Analysis 1, 207-219; Fischer and Ramdas (2025), "Sequential Monte Carlo
testing by betting", on p-values that are valid at any time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from functools import lru_cache, partial
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.records import Alternative, Repeated, Settings
from sigjax.records.corrections import adjust

_CLOSE = 1e-7
"""An error of the log probability from which one more step suffices, as its error is about the square."""
_MOST_STEPS = 50
"""Four or five suffice, but from 1e10 trials on, rounding may keep the log probability from being close."""
_NODES = [(math.exp(y - math.exp(-y)), 0.125 * (1.0 + math.exp(-y))) for y in (k / 8.0 for k in range(-28, 31))]
"""Points x at which an integral from 0 on is evaluated, and their weights divided by x."""
_log1p, _exp = np.vectorize(math.log1p, otypes=[float]), np.vectorize(math.exp, otypes=[float])  # NumPy's own vary

_DIGITS = Context(prec=40)
_ROOT = _DIGITS.sqrt(Decimal("6.28318530717958647692528676655900576839433879875021"))
_FARTHEST = 8.0
"""A normal variable is farther out with a probability of 1e-15."""


def normal_below(z: float) -> float:
    """Probability of a normal variable below z, correctly rounded up to |z| = 8, beyond 0 or 1.

    Example:
        >>> normal_below(0.0), normal_below(-1.0), normal_below(1e9)
        (0.5, 0.15865525393145705, 1.0)
    """
    return float(_normal(z)[1]) if abs(z) <= _FARTHEST else float(z > 0.0)


@lru_cache
def normal_quantile(p: float) -> float:
    """The z below which a normal variable is with probability p, correctly rounded up to |z| = 8.

    A step of Newton's method doubles the 15 digits of `NormalDist.inv_cdf`.

    Example:
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
    r"""Density of the normal law at z and probability below it, by arithmetic alone.

    $\Phi(z) = 1/2 + \varphi(z) (z + z^3 / 3 + z^5 / (3 \cdot 5) + \dots)$. Reference: Marsaglia (2004), "Evaluating the
    normal distribution".
    """
    with localcontext(_DIGITS):
        term = Decimal(z)
        square, total, odd = term * term, Decimal(0), 1
        density = (-square / 2).exp() / _ROOT
        while total + term != total:
            total, odd = total + term, odd + 2
            term *= square / odd
        return density, Decimal("0.5") + density * total


def normal_tail(z: float, alternative: Alternative) -> float:
    """Probability of a normal variable at least as extreme as z.

    Example:
        >>> round(normal_tail(1.96, "two-sided"), 4)
        0.05
    """
    from scipy.special import ndtr

    return _tail(ndtr, z, alternative)


def t_tail(t: float, degrees: float, alternative: Alternative) -> float:
    """Probability of a variable of Student's t law at least as extreme as t; degrees of freedom may be fractions.

    Example:
        >>> round(t_tail(2.2622, 9.0, "two-sided"), 4), t_tail(0.0, 2.5, "greater")
        (0.05, 0.5)
    """
    from scipy.special import stdtr

    return _tail(lambda x: stdtr(degrees, x), t, alternative)


@lru_cache
def t_quantile(level: float, degrees: float) -> float:
    r"""The t that a variable of Student's t law exceeds in size with probability 1 - level.

    With $t = \sqrt n \sinh u$ for n degrees of freedom, the density of u is in proportion to $\cosh^{-n} u$, so the
    logarithm of the tail is concave in u: Newton's method from 0 is beyond the solution after one step, and then falls.

    Example:
        >>> round(t_quantile(0.95, 9.0), 4), round(t_quantile(0.95, 2.5), 4)
        (2.2622, 3.5747)
    """
    u, whole = 0.0, _t_ratio(0.0, degrees)
    for _ in range(_MOST_STEPS):
        ratio = _t_ratio(math.tanh(u), degrees)
        log_tail = math.log(ratio / whole) - degrees * math.log1p(2.0 * math.sinh(0.5 * u) ** 2)
        step = ratio * (log_tail - math.log(1.0 - level))
        u += step
        if abs(step) <= 0.01 * _CLOSE * u:
            break
    return math.sqrt(degrees) * math.sinh(u)


def _t_ratio(slope: float, degrees: float) -> float:
    """The tail of cosh^-n beyond u divided by its value there, where tanh u is `slope`.

    That is the integral over s of (cosh s + slope sinh s)^-n, by the double-exponential rule (Takahasi and Mori 1974).
    """
    scale = 1.0 / degrees + 1.0 / math.sqrt(degrees)
    return scale * math.fsum(
        weight * math.exp(-degrees * math.log1p(2.0 * math.sinh(0.5 * s) ** 2 + slope * math.sinh(s)))
        for s, weight in ((scale * x, x * weight) for x, weight in _NODES)
    )


def chi_square_tail(statistic: float) -> float:
    """Probability of a chi-square variable of one degree of freedom at least as large.

    Example:
        >>> round(chi_square_tail(3.8415), 4)
        0.05
    """
    from scipy.special import chdtrc

    return float(chdtrc(1, statistic))


def binomial_upper(successes: int, trials: int) -> float:
    """P(X >= successes) of a binomial X with probability 1/2.

    Example:
        >>> binomial_upper(3, 3), binomial_upper(0, 3), binomial_upper(4, 3)
        (0.125, 1.0, 0.0)
    """
    from scipy.special import betainc

    if not 0 < successes <= trials:
        return float(successes <= 0)
    return float(betainc(successes, trials - successes + 1, 0.5))


def _tail(cdf: Callable[[float], float], x: float, alternative: Alternative) -> float:
    """The tail of a law that is symmetric about 0."""
    if alternative == "two-sided":
        return float(2.0 * cdf(-abs(x)))
    return float(cdf(-x if alternative == "greater" else x))


def clopper_pearson(successes: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact binomial confidence interval of a proportion, `[...]` low and high.

    Equivalent to `scipy.stats.binomtest(...).proportion_ci(level, method="exact")`.

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


def lower_odds(successes: np.ndarray, trials: int, tail: float) -> np.ndarray:
    """The odds `[count]` at which so many successes (1 to `trials`, whole numbers) or more have the probability `tail`.

    Every element is computed by itself. The relative error is below 1e-11 up to 1e9 trials.

    Example:
        >>> odds = lower_odds(np.array([5, 10]), 10, 0.025)
        >>> (odds / (1.0 + odds)).round(6)
        array([0.187086, 0.691503])
    """
    odds, some = np.empty(len(successes)), successes < trials
    odds[~some] = 1.0 / math.expm1(-math.log(tail) / trials)
    odds[some] = _exp(_newton(successes[some].astype(np.float64), float(trials), tail))
    return odds


def _newton(k: np.ndarray, trials: float, tail: float) -> np.ndarray:
    """The logarithm of the odds, for 0 < k < trials."""
    scale, v = _log_scale(k, trials), _start(k, trials, tail)
    running = np.arange(len(k))
    for _ in range(_MOST_STEPS):
        here, rest = k[running], trials - k[running]
        odds = _exp(v[running])
        terms = _terms(here, rest, odds)
        short = math.log(tail) - _log_tail(scale[running], here, rest, odds, terms)
        v[running] += short * terms * (1.0 + odds) / here
        running = running[abs(short) > _CLOSE]
        if not running.size:
            break
    return v


def _log_tail(scale: np.ndarray, k: np.ndarray, rest: np.ndarray, odds: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Logarithm of P(X >= k), from `_log_scale` and `_terms`."""
    log_tail = scale + k * (_log1p(rest / k) - _log1p(1.0 / odds))
    return log_tail + (rest * (_log1p(k / rest) - _log1p(odds)) + _log1p(terms - 1.0))


def log_upper(successes: int, trials: int, odds: float) -> float:
    """The logarithm of P(X >= successes) of a binomial X with these odds of a success.

    Example:
        >>> [round(math.exp(log_upper(*each)), 12) for each in ((3, 3, 1.0), (1, 2, 3.0), (4, 3, 1.0))]
        [0.125, 0.9375, 0.0]
    """
    if successes <= 0 or successes > trials:
        return 0.0 if successes <= 0 else -math.inf
    if successes == trials:
        return -trials * math.log1p(1.0 / odds)
    if successes * (1.0 + odds) <= trials * odds:  # the complement is the small number, and has more digits
        return math.log1p(-math.exp(log_upper(trials - successes + 1, trials, 1.0 / odds)))
    k, rest, ratio = (np.array([float(each)]) for each in (successes, trials - successes, odds))
    return float(_log_tail(_log_scale(k, trials), k, rest, ratio, _terms(k, rest, ratio))[0])


def _terms(k: np.ndarray, rest: np.ndarray, odds: np.ndarray) -> np.ndarray:
    """P(X >= k) / P(X = k): a sum of falling terms, to the last that changes it."""
    total, term, j = np.ones_like(k), np.ones_like(k), 0.0
    while np.any(term > 1e-17 * total):
        term = term * ((rest - j) / (k + (j + 1.0)) * odds)
        total = total + term
        j += 1.0
    return total


def _log_scale(k: np.ndarray, trials: float) -> np.ndarray:
    """Logarithm of the largest binomial probability of k successes, which it has at the proportion k / trials."""
    return np.array([_log_peak(int(each), int(trials)) for each in k.tolist()])


def _log_peak(k: int, trials: int) -> float:
    rest = trials - k
    stirling = _stirling_error(trials) - _stirling_error(k) - _stirling_error(rest)
    return stirling + 0.5 * math.log(trials / (2.0 * math.pi * k * rest))


def _stirling_error(n: int) -> float:
    """Log n! minus log (2 pi n)^(1/2) (n / e)^n (Loader 2000, "Fast and accurate binomial probabilities")."""
    if n < 16:
        return math.log(math.factorial(n)) - 0.5 * math.log(2.0 * math.pi * n) - n * (math.log(n) - 1.0)
    inverse = 1.0 / (n * n)
    return (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0)))) / n


def _start(k: np.ndarray, trials: float, tail: float) -> np.ndarray:
    """Wilson's score interval, with a correction for continuity, of the log odds."""
    z, share = NormalDist().inv_cdf(tail), (k - 0.5) / trials
    middle = share + z * z / (2.0 * trials)
    end = middle + z * np.sqrt(share * (1.0 - share) / trials + (z / (2.0 * trials)) ** 2)
    low = np.maximum(end / (1.0 + z * z / trials), 1e-3 * share)
    return np.array([math.log(each / (1.0 - each)) for each in low.tolist()])


Way = Literal["exact", "dp", "tree", "montecarlo"]


class Outcome(NamedTuple):
    """The p-value of one pair and the method behind it."""

    p_value: float
    log10_p: float
    method: Way
    reason: str
    exceed: int | None
    """None when exact."""
    error_bound: float | None = None
    """Bound on the relative error of an exact p-value."""
    bracket: tuple[float, float] | None = None
    """Certain bounds of an exact p-value that is not known more closely; or see `stopping`."""
    resamples: int | None = None
    """Where a test with resamples="auto" stopped; None for the number in the settings."""


class Outcomes(NamedTuple):
    """The outcomes of many pairs, in columns; every array is `[pair]`."""

    p_value: np.ndarray
    log10_p: np.ndarray
    method: Repeated
    reason: Repeated
    exceed: np.ndarray
    """int64: -1 when exact."""
    error_bound: np.ndarray
    """NaN where there is none."""
    bracket: np.ndarray
    """[pair, 2]: NaN where there is none."""
    resamples: np.ndarray
    """int64: -1 for the number in the settings, and when exact."""

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Outcomes:
        """The columns of some outcomes.

        Example:
            >>> Outcomes.of([Outcome(0.5, -0.3, "exact", "one statistic differs", None)]).exceed
            array([-1])
        """
        fields = zip(*outcomes, strict=True) if outcomes else ((),) * len(Outcome._fields)
        p_value, log10_p, method, reason, exceed, error, bracket, resamples = fields

        def column(values: Sequence[Any], none: Any) -> np.ndarray:
            return np.array([none if value is None else value for value in values], np.asarray(none).dtype)

        return cls(
            column(p_value, np.nan),
            column(log10_p, np.nan),
            Repeated.of(method),
            Repeated.of(reason),
            column(exceed, np.int64(-1)),
            column(error, np.nan),
            column(bracket, (np.nan, np.nan)).reshape(-1, 2),
            column(resamples, np.int64(-1)),
        )

    @classmethod
    def sampled(cls, exceed: np.ndarray, p_value: np.ndarray, reasons: Repeated) -> Outcomes:
        """Monte Carlo tests, from counts and p-values `[pair]`, and why each pair is sampled."""
        return cls(
            p_value,
            np.fromiter(map(math.log10, p_value.tolist()), np.float64),
            Repeated.constant("montecarlo", len(exceed)),
            reasons,
            exceed,
            np.broadcast_to(np.nan, exceed.shape),
            np.broadcast_to(np.nan, (len(exceed), 2)),
            np.broadcast_to(-1, exceed.shape),
        )

    @property
    def is_sampled(self) -> np.ndarray:
        """Whether resamples estimate the p-value."""
        return self.exceed >= 0

    def at(self, rows: np.ndarray | slice) -> Outcomes:
        """The outcomes of some pairs."""
        columns: list[Any] = [each.at(rows) if isinstance(each, Repeated) else each[rows] for each in self]
        return Outcomes(*columns)

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """One part after the other."""
        if len(parts) == 1:
            return parts[0]
        columns: list[Any] = [
            Repeated.joined(each) if isinstance(each[0], Repeated) else np.concatenate(each)
            for each in map(list, zip(*parts, strict=True))
        ]
        return cls(*columns)


Draw = Callable[[np.ndarray, Repeated, np.ndarray], Outcomes]
"""(positions of pairs, why each is sampled, exact p-values of the others) -> outcomes of these pairs."""


def completed(found: Sequence[Outcome | NotEligible], which: np.ndarray, draw: Draw) -> Outcomes:
    """The outcomes of all pairs: the exact ones, and those of a test that samples the other pairs.

    Args:
        found: the exact outcome of each problem, or why there is none.
        which: `[pair]` the problem of each pair.
        draw: samples the pairs whose problems have no outcome.
    """
    is_exact = np.array([isinstance(each, Outcome) for each in found])
    exact = Outcomes.of([each for each in found if isinstance(each, Outcome)])
    if is_exact.all():
        return exact.at(which)
    # Index of each exact problem among the outcomes, and of each other problem among the reasons.
    rank = np.where(is_exact, np.cumsum(is_exact), np.cumsum(~is_exact)) - 1
    reasons = Repeated.of(each.reason for each in found if isinstance(each, NotEligible))
    known, places = np.flatnonzero(is_exact[which]), np.flatnonzero(~is_exact[which])
    of_known = exact.at(rank[which[known]])
    drawn = draw(places, reasons.at(rank[which[places]]), of_known.p_value)
    order = np.empty(len(which), np.int64)
    order[known], order[places] = np.arange(len(known)), len(known) + np.arange(len(places))
    return Outcomes.joined([of_known, drawn]).at(order)


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$: never 0, and valid at every level.

    `exceed` `[...]` counts resamples at least as extreme as observed, ties included. Reference: Davison and Hinkley
    (1997), section 4.2; Yeh (2000), section 3.1.

    Example:
        >>> montecarlo_p(np.array([0, 9]), 999)
        array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)


def p_intervals(outcomes: Outcomes, settings: Settings) -> np.ndarray:
    """Bounds `[pair, 2]` of p-values: those of the tests, else Clopper-Pearson for Monte Carlo ones, else NaN."""
    found = outcomes.bracket.copy()
    unknown = outcomes.is_sampled & np.isnan(found[:, 0])
    if unknown.any():
        ends = clopper_pearson(outcomes.exceed[unknown], settings.fixed_resamples, settings.level)
        found[unknown] = np.stack(ends, axis=1)
    return found


LOOKS = tuple(2**k for k in range(13, 21))
"""Numbers of resamples after which pairs may stop: 8,192, then twice as many each time, up to the cap 1,048,576."""
ERROR = 1e-3
"""Bound on the probability that any settled decision of a test differs from that of infinitely many resamples."""
CONFIDENCE = 0.995
"""Certainty about the p-value at the cap from which it may be reported early; the p-value is divided by it."""
_LARGER_PARTS = 8
"""Resamples are counted in parts of two sizes only, because each is a program to compile."""

Count = Callable[[np.ndarray, int, int], np.ndarray]
"""(positions of some pairs `[pair]`, first resample, end) -> number of hits among these resamples, `[pair]` int64."""


class Stopped(NamedTuple):
    """The sampled pairs when all have stopped; every field `[pair]`."""

    exceed: np.ndarray
    """int64: number of hits."""
    resamples: np.ndarray
    """int64: number of resamples at which the pair stopped."""
    p_values: np.ndarray
    low: np.ndarray
    """Lower bound of the p-value of infinitely many resamples."""
    high: np.ndarray
    """Upper bound, as above."""


def most_resamples(settings: Settings) -> int:
    """The largest number of resamples of a permutation test."""
    return LOOKS[-1] if settings.resamples == "auto" else settings.resamples


def count_until_settled(
    count: Count, num_pairs: int, exact: np.ndarray, settings: Settings, others: np.ndarray | None = None
) -> Stopped:
    """Count hits until every decision is settled, leaving out pairs whose decision is.

    Args:
        count: counts the hits of some pairs in a range of resamples.
        num_pairs: number of sampled pairs.
        exact: `[pair]` exact p-values of the other pairs of the same test, for the correction.
        settings: their correction and level.
        others: `[other, 2]` bounds of the p-values of other metrics that are adjusted together with these: known, or 0
            and 1.
    """
    # The bounds of other metrics may miss too: each has its part of the error.
    others = np.zeros((0, 2)) if others is None else others
    num_bounds = num_pairs + int((others[:, 0] < others[:, 1]).sum())
    rest = np.concatenate([np.stack([exact, exact], axis=1), others])
    exceed, resamples = np.zeros((2, num_pairs), np.int64)
    low, high = np.zeros(num_pairs), np.ones(num_pairs)
    running = np.arange(num_pairs)
    for start, look in pairwise((0, *LOOKS)):
        part = LOOKS[0] if look <= _LARGER_PARTS * LOOKS[0] else _LARGER_PARTS * LOOKS[0]
        for begin in range(start, look, part):
            exceed[running] += count(running, begin, min(begin + part, look))
        resamples[running] = look
        # All intervals hold at once, so that what they share does: a decision that is settled stays so.
        least, most = bounds(exceed[running], look, num_bounds, LOOKS)
        low[running], high[running] = np.maximum(low[running], least), np.minimum(high[running], most)
        running = running[~_agree_sampled(low, high, rest, settings)[running]]
        if not running.size:
            break
    p_values = np.empty(num_pairs)
    for look in np.unique(resamples).tolist():
        here = resamples == look
        p_values[here] = valid_p(exceed[here], look, LOOKS)
    # A p-value close to 1 can be just above its bounds. Within them, it leads to the decision that they settle.
    low, high = np.minimum(low, p_values), np.maximum(high, p_values)
    return Stopped(exceed, resamples, p_values, low, high)


def _agree_sampled(low: np.ndarray, high: np.ndarray, rest: np.ndarray, settings: Settings) -> np.ndarray:
    """`agree` for the sampled pairs, `[pair]`, among p-values with the bounds `rest` `[other, 2]`."""
    low_of_all, high_of_all = np.concatenate([low, rest[:, 0]]), np.concatenate([high, rest[:, 1]])
    return agree(low_of_all, high_of_all, partial(adjust, correction=settings.correction), settings.alpha)[: len(low)]


def bounds(exceed: np.ndarray, resamples: int, num_pairs: int, looks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Ends `[pair]`, low and high, of the intervals of p at one look, for counts `[pair]` of some of `num_pairs` pairs.

    Example:
        >>> low, high = bounds(np.array([0, 82]), 8192, 1, LOOKS)
        >>> low.round(4), high.round(4)
        (array([0.    , 0.0063]), array([0.0012, 0.0149]))
    """
    return clopper_pearson(exceed, resamples, 1.0 - ERROR / (num_pairs * len(looks)))


def agree(low: np.ndarray, high: np.ndarray, adjusted: Callable[[np.ndarray], np.ndarray], alpha: float) -> np.ndarray:
    """Whether all p-values between `low` and `high` `[pair]` lead to the same decision on a pair, `[pair]` bool.

    `adjusted` corrects p-values `[pair]`; none of its results falls when some p-value rises.

    Example:
        >>> holm = partial(adjust, correction="holm")
        >>> agree(np.array([0.0, 0.02, 0.5]), np.array([0.001, 0.04, 0.6]), holm, 0.05)
        array([ True, False,  True])
    """
    return (adjusted(low) < alpha) == (adjusted(high) < alpha)


def valid_p(exceed: np.ndarray, resamples: int, looks: Sequence[int]) -> np.ndarray:
    """p-values `[pair]` of counts `[pair]` at one look, valid however the look was chosen (see the top of this file).

    Example:
        >>> valid_p(np.array([0, 82, 4096]), 8192, LOOKS).round(5)
        array([0.00065, 0.01326, 0.51675])
        >>> valid_p(np.array([52_428]), 1_048_576, LOOKS).round(5)
        array([0.05025])
    """
    from scipy.stats import hypergeom

    cap, exceed = looks[-1], np.asarray(exceed)
    # The final count is within `most` with enough certainty, and within `least` it is not: bisection.
    least, most = exceed - 1, exceed + cap - resamples
    while np.any(most - least > 1):
        middle = (least + most) // 2
        certain = hypergeom.sf(exceed, cap + 1, middle + 1, resamples + 1) >= CONFIDENCE
        least, most = np.where(certain, least, middle), np.where(certain, middle, most)
    return np.minimum((most + 1) / (cap + 1) / CONFIDENCE, 1.0)
