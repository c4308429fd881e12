"""The classical tests that take two systems to be independent, and what that costs.

Systems run on one test set are correlated: what is hard for one is hard for the other. The variance of their difference
is then smaller than the sum of their variances, and these tests lose power. They are here for comparison. Reference:
Yeh (2000), section 2.
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.classical.tests import ONE_UNIT, TWO_SIDED_ONLY, ClassicalTest, LeftOut, doubled_ranks
from sigjax.exact.lattice import NotEligible
from sigjax.exact.samples import sample_law
from sigjax.records import Alternative
from sigjax.testing.tails import chi_square_tail, normal_tail, t_tail
from sigjax.units.sums import total, variance

TWO_SAMPLE_T, BINOMIAL_Z = "two-sample t", "binomial z"
CHI_SQUARE = "chi-square (relevant, spurious)"
RANK_SUM = "Wilcoxon-Mann-Whitney"
_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)


class Dependence(NamedTuple):
    """How two systems depend on each other."""

    correlation: float | None
    """r12; None where a system does not vary."""
    factor: float | None
    """s_d-ind / s_d: how many times too large independence makes the standard deviation of the difference."""


def two_sample_t(a: np.ndarray, b: np.ndarray, alternative: Alternative) -> ClassicalTest | LeftOut:
    r"""Two-sample t test with equal variances, $t = (\bar a - \bar b) / \sqrt{(s_a^2 + s_b^2) / n}$, 2n - 2 degrees.

    `a` and `b` are `[unit]`, of the same units. Same as `scipy.stats.ttest_ind`. Reference: Yeh (2000), section 2.1.

    Example:
        >>> round(two_sample_t(np.array([2, 4, 6]), np.array([1, 2, 3]), "two-sided").p_value, 4)
        0.1963
    """
    if len(a) < 2:
        return LeftOut(TWO_SAMPLE_T, ONE_UNIT)
    assumes = "systems are independent, with equal variances"
    if np.array_equal(a, b):
        return ClassicalTest(TWO_SAMPLE_T, 0.0, 1.0, assumes, paired=False)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return LeftOut(TWO_SAMPLE_T, "neither system varies: the standard deviation is 0")
    error = math.sqrt((variance(a) + variance(b)) / len(a))
    t = (float(total(a)) - float(total(b))) / len(a) / error
    return ClassicalTest(TWO_SAMPLE_T, t, t_tail(t, 2 * len(a) - 2, alternative), assumes, paired=False)


def binomial_z(
    successes: tuple[int, int], trials: tuple[int, int], alternative: Alternative
) -> ClassicalTest | LeftOut:
    r"""Test of two proportions with the pooled variance, $z = (x_1 - x_2) / \sqrt{x (1 - x) (1/n_1 + 1/n_2)}$.

    Same as `statsmodels.stats.proportion.proportions_ztest`. Reference: Yeh (2000), section 2.1.

    Example:
        >>> test = binomial_z((47, 25), (95, 39), "two-sided")
        >>> round(test.statistic**2, 2)
        2.38
    """
    if 0 in trials:
        return LeftOut(BINOMIAL_Z, "a system has a proportion of nothing")
    assumes = "systems are independent, and items; many items"
    if successes[0] * trials[1] == successes[1] * trials[0]:
        return ClassicalTest(BINOMIAL_Z, 0.0, normal_tail(0.0, alternative), assumes, paired=False)
    x = sum(successes) / sum(trials)
    error = math.sqrt(x * (1.0 - x) * (1.0 / trials[0] + 1.0 / trials[1]))
    z = (successes[0] / trials[0] - successes[1] / trials[1]) / error
    return ClassicalTest(BINOMIAL_Z, z, normal_tail(z, alternative), assumes, paired=False)


def chi_square(
    relevant: tuple[int, int], spurious: tuple[int, int], alternative: Alternative
) -> ClassicalTest | LeftOut:
    r"""Chi-square test of the table of relevant and spurious items found by each system, a test of precision.

    One degree of freedom, no correction; the square of `binomial_z`. Same as `scipy.stats.chi2_contingency(...,
    correction=False)`; where all items are relevant, or all spurious, p = 1. Reference: Yeh (2000), section 2.2.

    Example:
        >>> test = chi_square((47, 25), (48, 14), "two-sided")
        >>> round(test.statistic, 2), round(test.p_value, 2)
        (2.38, 0.12)
    """
    if alternative != "two-sided":
        return LeftOut(CHI_SQUARE, TWO_SIDED_ONLY)
    found = (relevant[0] + spurious[0], relevant[1] + spurious[1])
    if 0 in found:
        return LeftOut(CHI_SQUARE, "a system found nothing")
    assumes = "as binomial z; it tests precision"
    product = relevant[0] * spurious[1] - relevant[1] * spurious[0]
    margins = found[0] * found[1] * sum(relevant) * sum(spurious)
    statistic = sum(found) * product**2 / margins if product else 0.0
    return ClassicalTest(CHI_SQUARE, statistic, chi_square_tail(statistic), assumes, paired=False)


def dependence(a: np.ndarray, b: np.ndarray) -> Dependence:
    r"""Correlation $r_{12}$ of two systems and the factor $s_{d-ind} / s_d$ that independence costs.

    $s_d^2 = s_1^2 + s_2^2 - 2 r_{12} s_1 s_2$ and $s_{d-ind}^2 = s_1^2 + s_2^2$. `a` and `b` `[unit]` are the scores
    without each unit in turn (jackknife): for a mean, r12 is then the correlation of the results of units, for other
    metrics that of their contributions. Reference: Yeh (2000), section 2.1.

    Example:
        >>> result = dependence(np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
        >>> round(result.correlation, 4), round(result.factor, 4)
        (0.5774, 1.5275)
    """
    if len(a) < 2:
        return Dependence(None, None)
    largest = float(max(np.abs(a).max(), np.abs(b).max()))
    # Squares of very large or very small numbers leave the range of a double; scaling by a power of two is exact.
    a, b = (np.ldexp(each, -math.frexp(largest)[1]) for each in (a, b))
    rounding = _ROUNDING * float(max(np.abs(a).max(), np.abs(b).max()))
    first, second, both = (math.sqrt(variance(each)) for each in (a, b, a - b))
    independent = math.hypot(first, second)
    factor = independent / both if both > rounding else None
    if min(first, second) <= rounding:
        return Dependence(None, factor)
    return Dependence(float(np.clip(np.corrcoef(a, b)[0, 1], -1.0, 1.0)), factor)


def rank_sum(a: np.ndarray, b: np.ndarray, alternative: Alternative, *, rounding: int = 0) -> ClassicalTest:
    r"""Wilcoxon-Mann-Whitney test; the statistic is $U_a$, the number of pairs of units in which a is ahead.

    Ties share ranks (and count half in $U_a$). Where their sums can be counted in a second or two, up to some 200
    units, p is exact for the ranks as they are; beyond, normal with the variance of tied ranks and a correction for
    continuity, as `scipy.stats.mannwhitneyu(method="asymptotic")`. Two-sided is twice the smaller tail, at most 1. `a`
    and `b` are `[unit]`, whole numbers, of different units; those that differ by at most `rounding` are equal.
    Reference: Mann and Whitney (1947), "On a test of whether one of two random variables is stochastically larger than
    the other".

    Example:
        >>> test = rank_sum(np.array([3, 4, 5]), np.array([1, 2]), "two-sided")
        >>> test.statistic, test.p_value
        (6.0, 0.2)
    """
    doubled = doubled_ranks(np.concatenate([a, b]), rounding)
    observed, law = int(doubled[: len(a)].sum()), sample_law(doubled, len(a))
    tails = []
    if not isinstance(law, NotEligible):
        hits = {"greater": law.sums >= observed, "less": law.sums <= observed}
        tails = [law.tail(hit) for side, hit in hits.items() if alternative in (side, "two-sided")]
    known = [tail.p_value for tail in tails if tail is not None]
    statistic = observed / 2.0 - len(a) * (len(a) + 1) / 2.0
    if known and len(known) == len(tails):
        p_value, how = min(1.0, len(known) * min(known)), "exact"
    else:
        from scipy.stats import mannwhitneyu

        ranks = doubled[: len(a)], doubled[len(a) :]
        p_value, how = float(mannwhitneyu(*ranks, alternative=alternative, method="asymptotic").pvalue), "normal"
    assumes = f"systems are independent, with one law where they do not differ; ties share ranks; {how}"
    return ClassicalTest(RANK_SUM, statistic, p_value, assumes, paired=False)
