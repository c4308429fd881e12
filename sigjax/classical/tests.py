"""The classical tests of paired results: one difference per unit, system a minus system b.

What each assumes beyond independent units is in its record. Where all differences are 0, p = 1, whatever the
alternative. Differences should be whole numbers (fixed point), so that zeros and ties are exact.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sigjax.records import Alternative
from sigjax.records.brief import SciPyNames
from sigjax.testing.tails import binomial_upper, chi_square_tail, normal_tail, t_tail
from sigjax.units.sums import total, variance

MOST_RANKS = 500
"""Up to this many differences other than 0, the Wilcoxon test is exact (takes some hundredths of a second)."""


@dataclass(frozen=True)
class ClassicalTest(SciPyNames):
    """One classical test of two systems.

    Attributes:
        name: the test.
        statistic: t, z or chi-square; for the sign test and the exact McNemar tests the number of units on which a is
            ahead; for the Wilcoxon test the sum of their ranks.
        p_value: the p-value.
        assumes: what the p-value needs beyond independent units, in one line.
        paired: False for the tests that take the two systems to be independent.
    """

    name: str
    statistic: float
    p_value: float
    assumes: str
    paired: bool = True


@dataclass(frozen=True)
class LeftOut:
    """A test that does not apply to these data, and why."""

    name: str
    reason: str


PAIRED_T, WALD, SIGN, WILCOXON = "paired t", "Wald z", "sign (exact)", "Wilcoxon signed rank"
MCNEMAR = ("McNemar (exact)", "McNemar (mid-p)", "McNemar (chi-square)", "McNemar (chi-square, corrected)")
ONE_UNIT = "it takes two units or more, got one"
ALL_EQUAL = "all differences are equal: their standard deviation is 0"
TWO_SIDED_ONLY = "chi-square has no direction; take two-sided, or another test"


def paired_t(
    differences: np.ndarray, alternative: Alternative, *, name: str = PAIRED_T, assumes: str = "", rounding: float = 0.0
) -> ClassicalTest | LeftOut:
    r"""Paired t test, $t = \bar d / (s_d / \sqrt n)$ with n - 1 degrees of freedom; $s_d$ has ddof = 1.

    `differences` `[unit]` may be those of folds, too. Differences within `rounding` of each other are equal. Same as
    `scipy.stats.ttest_rel`. Reference: Yeh (2000), section 3.1.

    Example:
        >>> result = paired_t(np.array([1, 2, 3]), "two-sided")
        >>> round(result.statistic, 4), round(result.p_value, 4)
        (3.4641, 0.0742)
    """
    assumes = assumes or "differences are normal, or many"
    return _of_mean(differences, rounding, name, assumes, lambda t: t_tail(t, len(differences) - 1, alternative))


def wald_z(
    differences: np.ndarray,
    alternative: Alternative,
    *,
    name: str = WALD,
    assumes: str = "differences are many",
    rounding: float = 0.0,
) -> ClassicalTest | LeftOut:
    r"""Wald test, $z = \bar d / (s_d / \sqrt n)$ by the normal distribution; $s_d$ has ddof = 1.

    `differences` is `[unit]`; `rounding` as in `paired_t`. Reference: Wasserman (2004), "All of statistics", section
    10.1.

    Example:
        >>> round(wald_z(np.array([1, 2, 3]), "two-sided").p_value, 6)
        0.000532
    """
    return _of_mean(differences, rounding, name, assumes, lambda z: normal_tail(z, alternative))


def sign_test(differences: np.ndarray, alternative: Alternative) -> ClassicalTest:
    r"""Exact sign test: the differences above 0 are binomial with probability 1/2 among those that are not 0.

    `differences` is `[unit]`; two-sided is twice the smaller tail, at most 1. Same as `scipy.stats.binomtest(above,
    above + below)`. Reference: Yeh (2000), section 3.1.

    Example:
        >>> sign_test(np.array([1, 2, 3, 0, 4]), "two-sided").p_value
        0.125
    """
    above, below = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    assumes = f"sizes do not count; {_left_out(len(differences) - above - below)}"
    return ClassicalTest(SIGN, float(above), _binomial_tail(above, below, alternative), assumes)


def wilcoxon(differences: np.ndarray, alternative: Alternative, *, rounding: int = 0) -> ClassicalTest:
    r"""Wilcoxon signed-rank test; the statistic is the sum of the ranks of the differences above 0.

    Zeros are left out (`zero_method="wilcox"`) and equal sizes get their mean rank. Up to 500 differences that are not
    0, p is exact for the ranks as they are, ties included; beyond, normal with the variance $\sum r_i^2 / 4$ of the
    tied ranks and no continuity correction, as `scipy.stats.wilcoxon(method="asymptotic")`. Two-sided is twice the
    smaller tail, at most 1. `differences` is `[unit]`; sizes that differ by at most `rounding` are equal. Reference:
    Pratt and Gibbons (1981), "Concepts of nonparametric theory", chapter 3.

    Example:
        >>> result = wilcoxon(np.array([1, 2, -1, 0, 4]), "greater")
        >>> result.statistic, result.p_value
        (8.5, 0.1875)
    """
    kept = differences[differences != 0]
    doubled = doubled_ranks(np.abs(kept), rounding)
    sum_above, zeros = int(doubled[kept > 0].sum()), len(differences) - len(kept)
    if len(kept) <= MOST_RANKS:
        how, p_value = "exact", _exact_ranks(doubled, sum_above, alternative)
    else:
        z = (sum_above - doubled.sum() / 2.0) / (0.5 * math.sqrt(float((doubled.astype(np.float64) ** 2).sum())))
        how, p_value = "normal approximation", normal_tail(z, alternative)
    assumes = f"differences are symmetric; {_left_out(zeros)}, ties share ranks; {how}"
    return ClassicalTest(WILCOXON, sum_above / 2.0, p_value, assumes)


def mcnemar(above: int, below: int, alternative: Alternative) -> list[ClassicalTest | LeftOut]:
    r"""McNemar's test of 0/1 results: exact, mid-p, and chi-square without and with correction.

    On `above` = b units only system a is right, on `below` = c only system b. The exact p is binomial; mid-p gives the
    outcomes exactly as extreme as b half their weight; chi-square is $(b - c)^2 / (b + c)$, corrected
    $\max(|b - c| - 1, 0)^2 / (b + c)$, so that b = c gives p = 1. Without differences p = 1. As statsmodels' `mcnemar`,
    whose correction gives p < 1 for b = c. Reference: Fagerland et al. (2013), "The McNemar test for binary
    matched-pairs data: mid-p and asymptotic are better than exact conditional".

    Example:
        >>> [round(test.p_value, 4) for test in mcnemar(9, 1, "two-sided")]
        [0.0215, 0.0117, 0.0114, 0.0269]
        >>> mcnemar(1, 1, "two-sided")[1].p_value
        0.75
        >>> [test.p_value for test in mcnemar(0, 0, "two-sided")]
        [1.0, 1.0, 1.0, 1.0]
    """
    both = above + below
    tests: list[ClassicalTest | LeftOut] = [
        ClassicalTest(MCNEMAR[0], float(above), _binomial_tail(above, below, alternative), "results are 0 or 1"),
        ClassicalTest(
            MCNEMAR[1], float(above), _mid_p(above, below, alternative), "as exact; ties count half: less strict"
        ),
    ]
    for name, size in zip(MCNEMAR[2:], (abs(above - below), max(abs(above - below) - 1, 0)), strict=True):
        if alternative != "two-sided":
            tests.append(LeftOut(name, TWO_SIDED_ONLY))
        else:
            statistic = size**2 / both if both else 0.0
            few = "as exact; 25 units or more differ"
            tests.append(ClassicalTest(name, statistic, chi_square_tail(statistic), few))
    return tests


def _of_mean(
    differences: np.ndarray, rounding: float, name: str, assumes: str, tail: Callable[[float], float]
) -> ClassicalTest | LeftOut:
    """The test of the mean divided by its standard error."""
    if len(differences) < 2:
        return LeftOut(name, ONE_UNIT)
    if not differences.any():
        return ClassicalTest(name, 0.0, 1.0, assumes)
    if differences.max() - differences.min() <= rounding:
        return LeftOut(name, ALL_EQUAL)
    mean = float(total(differences)) / len(differences)
    statistic = mean / math.sqrt(variance(differences) / len(differences))
    return ClassicalTest(name, statistic, tail(statistic), assumes)


def _left_out(zeros: int) -> str:
    return "no zeros" if zeros == 0 else f"{zeros:,} {'zero is' if zeros == 1 else 'zeros are'} left out"


def _binomial_tail(above: int, below: int, alternative: Alternative) -> float:
    both = above + below
    if alternative == "two-sided":
        # For neighbours the tail is one half, which the incomplete beta function misses by rounding.
        return 1.0 if abs(above - below) <= 1 else 2.0 * binomial_upper(max(above, below), both)
    return binomial_upper(above if alternative == "greater" else below, both)


def _mid_p(above: int, below: int, alternative: Alternative) -> float:
    both = above + below
    if both == 0:
        return 1.0
    if alternative == "two-sided" and above == below:
        # Every outcome is as extreme, and b = c is one outcome, not two: 1 - P(X = b) / 2.
        return 0.5 + binomial_upper(above + 1, both)
    if alternative == "two-sided":
        return binomial_upper(max(above, below), both) + binomial_upper(max(above, below) + 1, both)
    ahead = above if alternative == "greater" else below
    return 0.5 * (binomial_upper(ahead, both) + binomial_upper(ahead + 1, both))


def doubled_ranks(sizes: np.ndarray, rounding: int) -> np.ndarray:
    """Twice the mean ranks `[unit]` of sizes, as whole numbers; neighbours within `rounding` are tied."""
    order = np.argsort(sizes, kind="stable")
    group = np.zeros(len(sizes), np.int64)
    group[order[1:]] = np.cumsum(np.diff(sizes[order]) > rounding)
    counts = np.bincount(group)
    return (2 * np.cumsum(counts) - counts + 1)[group]


def _exact_ranks(doubled: np.ndarray, sum_above: int, alternative: Alternative) -> float:
    """The tail of the sum of ranks, each of which counts with probability 1/2: the law is built rank by rank."""
    total = int(doubled.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reach = 0
    for rank in np.sort(doubled).tolist():
        reach += rank
        chance[: reach + 1] *= 0.5
        chance[rank : reach + 1] += chance[: reach + 1 - rank].copy()
    # The law is symmetric: small tails are sums of small terms.
    if alternative == "two-sided":
        return min(1.0, 2.0 * float(chance[: min(sum_above, total - sum_above) + 1].sum()))
    return float(chance[: (total - sum_above if alternative == "greater" else sum_above) + 1].sum())
