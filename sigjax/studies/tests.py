"""Classical tests of two systems, on arrays: paired tests, and tests of independent systems.

The record of a test says what the test assumes, in addition to independent units. Paired tests take one difference per
unit, system a - system b. Differences are integers (fixed point), so that zeros and ties are exact. If all differences
are 0, p = 1 for every alternative.

Results of two systems on the same test set are correlated: an instance that is hard for one system is hard for the
other. So the variance of their difference is smaller than the sum of their variances, and tests of independent systems
lose power. They are included for comparison only. Reference: Yeh (2000), section 2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sigjax.exact.choices import sample_distribution
from sigjax.exact.distributions import dp_null
from sigjax.exact.lattice import Lattice, NotEligible
from sigjax.records import Alternative
from sigjax.records.display import SciPyNames
from sigjax.resample.units import total, variance
from sigjax.testing.special import binomial_upper, chi_square_tail, normal_tail, t_tail

MOST_RANKS = 500
"""For up to this many nonzero differences, the Wilcoxon test is exact. It takes a few hundredths of a second."""


@dataclass(frozen=True)
class ClassicalTest(SciPyNames):
    """Result of one classical test of two systems.

    Attributes:
        name: name of the test.
        statistic: t, z or chi-square. For the sign test and the exact McNemar tests, the number of units on which a is
            ahead; for the Wilcoxon test, the sum of the ranks of these units.
        p_value: the p-value.
        assumes: one line that says what the p-value assumes, in addition to independent units.
        paired: False for tests that assume independent systems.
    """

    name: str
    statistic: float
    p_value: float
    assumes: str
    paired: bool = True


@dataclass(frozen=True)
class InapplicableTest:
    """A test that does not apply to these data, and why."""

    name: str
    reason: str


PAIRED_T, WALD, SIGN, WILCOXON = "paired t", "Wald z", "sign (exact)", "Wilcoxon signed rank"
CLUSTER_T, TWO_SAMPLE_T, BINOMIAL_Z = "paired t over clusters", "two-sample t", "binomial z"
CHI_SQUARE = "chi-square (relevant, spurious)"
MCNEMAR = ("McNemar (exact)", "McNemar (mid-p)", "McNemar (chi-square)", "McNemar (chi-square, corrected)")
PAIRED, UNPAIRED = (PAIRED_T, WALD, SIGN, WILCOXON, *MCNEMAR), (TWO_SAMPLE_T, BINOMIAL_Z, CHI_SQUARE)
ONE_UNIT = "it takes two units or more, got one"
ALL_EQUAL = "all differences are equal: their standard deviation is 0"
TWO_SIDED_ONLY = "chi-square has no direction; take two-sided, or another test"


def paired_t(
    differences: np.ndarray, alternative: Alternative, *, name: str = PAIRED_T, assumes: str = "", rounding: float = 0.0
) -> ClassicalTest | InapplicableTest:
    r"""Paired t test, $t = \bar d / (s_d / \sqrt n)$ with n - 1 degrees of freedom; $s_d$ has ddof = 1.

    `differences` `[unit]` may also be differences of folds. `name` and `assumes` are fields of the result. If no two
    differences are more than `rounding` apart, they count as equal. Same as `scipy.stats.ttest_rel`. Reference: Yeh
    (2000), section 3.1.

    >>> result = paired_t(np.array([1, 2, 3]), "two-sided")
    >>> round(result.statistic, 4), round(result.p_value, 4)
    (3.4641, 0.0742)
    """
    assumes = assumes or "differences are normal, or many"
    return _of_mean(differences, rounding, name, assumes, lambda t: t_tail(t, len(differences) - 1, alternative))


def wald_z(
    differences: np.ndarray, alternative: Alternative, *, rounding: float = 0.0
) -> ClassicalTest | InapplicableTest:
    r"""Wald z test, $z = \bar d / (s_d / \sqrt n)$ with the normal distribution; $s_d$ has ddof = 1.

    `differences` is `[unit]`; `rounding` as in `paired_t`. Reference: Wasserman (2004), "All of statistics", section
    10.1.

    >>> round(wald_z(np.array([1, 2, 3]), "two-sided").p_value, 6)
    0.000532
    """
    return _of_mean(differences, rounding, WALD, "differences are many", lambda z: normal_tail(z, alternative))


def sign_test(differences: np.ndarray, alternative: Alternative) -> ClassicalTest:
    r"""Exact sign test: among nonzero differences, the number of positive differences is binomial with probability 1/2.

    `differences` is `[unit]`; two-sided is twice the smaller tail, at most 1. Same as `scipy.stats.binomtest(above,
    above + below)`. Reference: Yeh (2000), section 3.1.

    >>> sign_test(np.array([1, 2, 3, 0, 4]), "two-sided").p_value
    0.125
    """
    above, below = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    assumes = f"sizes do not count; {_left_out(len(differences) - above - below)}"
    return ClassicalTest(SIGN, float(above), _binomial_tail(above, below, alternative), assumes)


def wilcoxon(differences: np.ndarray, alternative: Alternative, *, rounding: float = 0) -> ClassicalTest:
    r"""Wilcoxon signed-rank test; the statistic is the sum of the ranks of the positive differences.

    `differences` is `[unit]`. Zeros are left out (`zero_method="wilcox"`). Equal absolute differences get their mean
    rank; sorted neighbours that are at most `rounding` apart count as equal. For up to 500 nonzero differences, p is
    exact, also with ties. For more differences, p is from the normal distribution with the variance $\sum r_i^2 / 4$ of
    the tied ranks, without continuity correction, as in `scipy.stats.wilcoxon(method="asymptotic")`. Two-sided is twice
    the smaller tail, at most 1. Reference: Pratt and Gibbons (1981), "Concepts of nonparametric theory", chapter 3.

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


def mcnemar(above: int, below: int, alternative: Alternative) -> list[ClassicalTest | InapplicableTest]:
    r"""McNemar's test of 0/1 results: exact, mid-p, and chi-square without and with continuity correction.

    Let b = `above` be the number of units on which only the first system is right, and c = `below` the number of units
    on which only the second system is right. The exact p is binomial. mid-p counts outcomes that are exactly as extreme
    as b with half of their weight. The chi-square statistic is $(b - c)^2 / (b + c)$; with correction it is $\max(|b -
    c| - 1, 0)^2 / (b + c)$, so that b = c gives p = 1. The chi-square tests are only two-sided. If b + c = 0, all p are
    1. Exact and chi-square results are as in statsmodels' `mcnemar`, except that its correction gives p < 1 for b = c.
    Reference: Fagerland et al. (2013), "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better
    than exact conditional".

    >>> [round(test.p_value, 4) for test in mcnemar(9, 1, "two-sided")]
    [0.0215, 0.0117, 0.0114, 0.0269]
    >>> mcnemar(1, 1, "two-sided")[1].p_value
    0.75
    >>> [test.p_value for test in mcnemar(0, 0, "two-sided")]
    [1.0, 1.0, 1.0, 1.0]
    """
    both = above + below
    tests: list[ClassicalTest | InapplicableTest] = [
        ClassicalTest(MCNEMAR[0], float(above), _binomial_tail(above, below, alternative), "results are 0 or 1"),
        ClassicalTest(
            MCNEMAR[1], float(above), _mid_p(above, below, alternative), "as exact; ties count half: less strict"
        ),
    ]
    for name, size in zip(MCNEMAR[2:], (abs(above - below), max(abs(above - below) - 1, 0)), strict=True):
        if alternative != "two-sided":
            tests.append(InapplicableTest(name, TWO_SIDED_ONLY))
        else:
            statistic = size**2 / both if both else 0.0
            few = "as exact; 25 units or more differ"
            tests.append(ClassicalTest(name, statistic, chi_square_tail(statistic), few))
    return tests


def paired_tests(
    differences: np.ndarray, alternative: Alternative, *, binary: bool, rounding: int
) -> list[ClassicalTest | InapplicableTest]:
    """Run all paired tests on differences `[unit]`. McNemar's tests apply only to right-or-wrong answers (`binary`).

    Two differences that are at most `rounding` apart count as equal.
    """
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    not_binary = [InapplicableTest(name, "it takes one 0 or 1 per unit") for name in MCNEMAR]
    return [
        paired_t(differences, alternative, rounding=rounding),
        wald_z(differences, alternative, rounding=rounding),
        sign_test(differences, alternative),
        wilcoxon(differences, alternative, rounding=rounding),
        *(mcnemar(above, below, alternative) if binary else not_binary),
    ]


def _of_mean(
    differences: np.ndarray, rounding: float, name: str, assumes: str, tail: Callable[[float], float]
) -> ClassicalTest | InapplicableTest:
    """Return the test whose statistic is the mean difference divided by its standard error.

    `differences` are `[unit]`; if no two of them are more than `rounding` apart, they count as equal. `tail` maps the
    statistic to the p-value. `name` and `assumes` are fields of the result.
    """
    if len(differences) < 2:
        return InapplicableTest(name, ONE_UNIT)
    if not differences.any():
        return ClassicalTest(name, 0.0, 1.0, assumes)
    if differences.max() - differences.min() <= rounding:
        return InapplicableTest(name, ALL_EQUAL)
    # Scaling by a power of two is exact, and keeps squares within the range of a double.
    scaled = np.ldexp(differences.astype(np.float64), -math.frexp(float(np.abs(differences).max()))[1])
    mean = float(total(scaled)) / len(scaled)
    statistic = mean / math.sqrt(variance(scaled) / len(scaled))
    return ClassicalTest(name, statistic, tail(statistic), assumes)


def _left_out(zeros: int) -> str:
    return "no zeros" if zeros == 0 else f"{zeros:,} {'zero is' if zeros == 1 else 'zeros are'} left out"


def _binomial_tail(above: int, below: int, alternative: Alternative) -> float:
    both = above + below
    if alternative == "two-sided":
        # If above and below differ by at most 1, each tail is at least 1/2. A computed tail may be below 1/2 by a
        # rounding error.
        return 1.0 if abs(above - below) <= 1 else 2.0 * binomial_upper(max(above, below), both)
    return binomial_upper(above if alternative == "greater" else below, both)


def _mid_p(above: int, below: int, alternative: Alternative) -> float:
    both = above + below
    if both == 0:
        return 1.0
    ahead = {"greater": above, "less": below, "two-sided": max(above, below)}[alternative]
    tail = 0.5 * (binomial_upper(ahead, both) + binomial_upper(ahead + 1, both))
    if alternative != "two-sided":
        return tail
    # If above = below = b, every number X of units ahead is at least as extreme as b, and only X = b exactly as
    # extreme. So p = 1 - P(X = b) / 2.
    return 2.0 * tail if above != below else 0.5 + binomial_upper(above + 1, both)


def doubled_ranks(sizes: np.ndarray, rounding: float) -> np.ndarray:
    """Return twice the mean ranks `[unit]` of `sizes` `[unit]`. Twice a mean rank is always an integer.

    Sorted neighbours that are at most `rounding` apart are tied.
    """
    order = np.argsort(sizes, kind="stable")
    group = np.zeros(len(sizes), np.int64)
    group[order[1:]] = np.cumsum(np.diff(sizes[order]) > rounding)
    counts = np.bincount(group)
    return (2 * np.cumsum(counts) - counts + 1)[group]


def _exact_ranks(doubled: np.ndarray, sum_above: int, alternative: Alternative) -> float:
    """Return the exact p-value of the Wilcoxon signed-rank test.

    `doubled` are twice the ranks of the nonzero differences, and `sum_above` is the sum of `doubled` over the positive
    differences. Under the null hypothesis, each rank is in this sum with probability 1/2.
    """
    ranks, counts = np.unique(doubled, return_counts=True)
    chance, total = dp_null(Lattice(ranks[:, None], counts, ranks[:0], ranks[:0, None])), int(doubled.sum())
    # The distribution is symmetric. Its lower tail is summed, because small terms keep their digits.
    if alternative == "two-sided":
        return min(1.0, 2.0 * float(chance[: min(sum_above, total - sum_above) + 1].sum()))
    return float(chance[: (total - sum_above if alternative == "greater" else sum_above) + 1].sum())


RANK_SUM = "Wilcoxon-Mann-Whitney"
_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)


def two_sample_t(a: np.ndarray, b: np.ndarray, alternative: Alternative) -> ClassicalTest | InapplicableTest:
    r"""Two-sample t test with equal variances: $t = (\bar a - \bar b) / \sqrt{(s_a^2 + s_b^2) / n}$.

    It has 2n - 2 degrees of freedom. $s_a$ and $s_b$ are the standard deviations (ddof = 1) of the two systems.

    `a` and `b` are `[unit]`, of the same n units. Same as `scipy.stats.ttest_ind`. Reference: Yeh (2000), section 2.1.

    >>> round(two_sample_t(np.array([2, 4, 6]), np.array([1, 2, 3]), "two-sided").p_value, 4)
    0.1963
    """
    if len(a) < 2:
        return InapplicableTest(TWO_SAMPLE_T, ONE_UNIT)
    assumes = "systems are independent, with equal variances"
    if np.array_equal(a, b):
        return ClassicalTest(TWO_SAMPLE_T, 0.0, 1.0, assumes, paired=False)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return InapplicableTest(TWO_SAMPLE_T, "neither system varies: the standard deviation is 0")
    error = math.sqrt((variance(a) + variance(b)) / len(a))
    t = (float(total(a)) - float(total(b))) / len(a) / error
    return ClassicalTest(TWO_SAMPLE_T, t, t_tail(t, 2 * len(a) - 2, alternative), assumes, paired=False)


def binomial_z(
    successes: tuple[int, int], trials: tuple[int, int], alternative: Alternative
) -> ClassicalTest | InapplicableTest:
    r"""The z test of two proportions with the pooled variance, $z = (x_1 - x_2) / \sqrt{x (1 - x) (1/n_1 + 1/n_2)}$.

    $x_1$ and $x_2$ are the proportions of successes of the two systems, $n_1$ and $n_2$ their `trials`, and x is the
    proportion of successes of both systems together. Same as `statsmodels.stats.proportion.proportions_ztest`.
    Reference: Yeh (2000), section 2.1.

    >>> test = binomial_z((47, 25), (95, 39), "two-sided")
    >>> round(test.statistic**2, 2)
    2.38
    """
    if 0 in trials:
        return InapplicableTest(BINOMIAL_Z, "a system has a proportion of nothing")
    assumes = "systems are independent, and items; many items"
    if successes[0] * trials[1] == successes[1] * trials[0]:
        return ClassicalTest(BINOMIAL_Z, 0.0, normal_tail(0.0, alternative), assumes, paired=False)
    x = sum(successes) / sum(trials)
    error = math.sqrt(x * (1.0 - x) * (1.0 / trials[0] + 1.0 / trials[1]))
    z = (successes[0] / trials[0] - successes[1] / trials[1]) / error
    return ClassicalTest(BINOMIAL_Z, z, normal_tail(z, alternative), assumes, paired=False)


def chi_square(
    relevant: tuple[int, int], spurious: tuple[int, int], alternative: Alternative
) -> ClassicalTest | InapplicableTest:
    r"""Chi-square test of precision, on the 2 x 2 table of relevant and spurious items found by each system.

    It has one degree of freedom and no correction; the statistic is the square of z in `binomial_z`. Same as
    `scipy.stats.chi2_contingency(..., correction=False)`. If all items are relevant, or all are spurious, p = 1.
    Reference: Yeh (2000), section 2.2.

    >>> test = chi_square((47, 25), (48, 14), "two-sided")
    >>> round(test.statistic, 2), round(test.p_value, 2)
    (2.38, 0.12)
    """
    if alternative != "two-sided":
        return InapplicableTest(CHI_SQUARE, TWO_SIDED_ONLY)
    predicted = (relevant[0] + spurious[0], relevant[1] + spurious[1])
    if 0 in predicted:
        return InapplicableTest(CHI_SQUARE, "a system found nothing")
    assumes = "as binomial z; it tests precision"
    product = relevant[0] * spurious[1] - relevant[1] * spurious[0]
    margins = predicted[0] * predicted[1] * sum(relevant) * sum(spurious)
    statistic = sum(predicted) * product**2 / margins if product else 0.0
    return ClassicalTest(CHI_SQUARE, statistic, chi_square_tail(statistic), assumes, paired=False)


DELONG = "DeLong"


def delong(scores: np.ndarray, label: np.ndarray, alternative: Alternative) -> ClassicalTest | InapplicableTest:
    r"""DeLong's test of two areas under the ROC curve, $z = (A_1 - A_2) / \sqrt{L S L'}$ with $L = (1, -1)$.

    `scores` are `[system, instance]`, and `label` `[instance]` is 0 or 1. S is the covariance matrix of the two areas,
    estimated from placements. The placement of a positive instance is the share of negative instances that it outranks;
    placements of negative instances are analogous. S is the covariance of the placements of positive instances divided
    by their number, plus the same for negative instances. Same as `roc.test` of pROC. Reference: DeLong, DeLong and
    Clarke-Pearson (1988), "Comparing the areas under two or more correlated receiver operating characteristic curves".

    >>> scores = np.array([[0.1, 0.4, 0.35, 0.8, 0.7], [0.2, 0.1, 0.3, 0.2, 0.9]])
    >>> test = delong(scores, np.array([0, 0, 1, 1, 1]), "two-sided")
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (-0.25, 0.8026)
    """
    from scipy.stats import rankdata

    of_label = [label == 1, label == 0]
    if min(map(np.count_nonzero, of_label)) < 2:
        return InapplicableTest(DELONG, "it takes two instances of each label or more")
    ranks, places = rankdata(scores, axis=1), []
    for own, others in zip(of_label, of_label[::-1], strict=True):
        places.append((ranks[:, own] - rankdata(scores[:, own], axis=1)) / np.count_nonzero(others))
    first, second = (np.cov(place) / place.shape[1] for place in places)
    covariance = first + second
    of_a, of_b = places[0].mean(axis=1).tolist()
    spread = float(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1])
    assumes = "areas are normal: many instances of both labels"
    if of_a == of_b:
        return ClassicalTest(DELONG, 0.0, normal_tail(0.0, alternative), assumes)
    if spread <= _ROUNDING:
        return InapplicableTest(DELONG, ALL_EQUAL)
    z = (of_a - of_b) / math.sqrt(spread)
    return ClassicalTest(DELONG, z, normal_tail(z, alternative), assumes)


def dependence(a: np.ndarray, b: np.ndarray) -> tuple[float | None, float | None]:
    r"""Return the correlation $r_{12}$ of two systems, and the factor $s_{d-ind} / s_d$.

    The factor is the cost of assuming independence. `a` and `b` `[unit]` are the scores without each unit in turn
    (jackknife). For a mean, $r_{12}$ is the correlation of the units' results; for other metrics, of the units'
    contributions. $s_d$ is the standard deviation of the difference, with $s_d^2 = s_1^2 + s_2^2 - 2 r_{12} s_1 s_2$.
    $s_{d-ind}$ is the standard deviation if the systems are assumed to be independent, with $s_{d-ind}^2 = s_1^2 +
    s_2^2$. The correlation is None if a system does not vary. The factor is None if the difference does not vary. Both
    are None for a single unit. Reference: Yeh (2000), section 2.1.

    >>> correlation, factor = dependence(np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    >>> round(correlation, 4), round(factor, 4)
    (0.5774, 1.5275)
    """
    if len(a) < 2:
        return None, None
    largest = float(max(np.abs(a).max(), np.abs(b).max()))
    # Squares of very large or very small numbers are out of the range of a double; scaling by a power of two is exact.
    a, b = (np.ldexp(each, -math.frexp(largest)[1]) for each in (a, b))
    rounding = _ROUNDING * float(max(np.abs(a).max(), np.abs(b).max()))
    first, second, both = (math.sqrt(variance(each)) for each in (a, b, a - b))
    independent = math.hypot(first, second)
    factor = independent / both if both > rounding else None
    if min(first, second) <= rounding:
        return None, factor
    return float(np.clip(np.corrcoef(a, b)[0, 1], -1.0, 1.0)), factor


def rank_sum(a: np.ndarray, b: np.ndarray, alternative: Alternative, *, rounding: int = 0) -> ClassicalTest:
    r"""Wilcoxon-Mann-Whitney test; the statistic is $U_a$, the number of pairs of units in which a is ahead.

    `a` and `b` are `[unit]`, integers, on different units. Sorted neighbours that are at most `rounding` apart are
    tied. Ties get their mean rank, and count half in $U_a$. If the distribution of rank sums can be computed within a
    second or two (up to about 200 units), p is exact, also with ties. For more units, p is from the normal distribution
    with the variance of tied ranks and a continuity correction, as in `scipy.stats.mannwhitneyu(method="asymptotic")`.
    Two-sided is twice the smaller tail, at most 1. Reference: Mann and Whitney (1947), "On a test of whether one of two
    random variables is stochastically larger than the other".

    >>> test = rank_sum(np.array([3, 4, 5]), np.array([1, 2]), "two-sided")
    >>> test.statistic, test.p_value
    (6.0, 0.2)
    """
    doubled = doubled_ranks(np.concatenate([a, b]), rounding)
    observed, law = int(doubled[: len(a)].sum()), sample_distribution(doubled, len(a))
    tails = []
    if not isinstance(law, NotEligible):
        hits = {"greater": law.sums >= observed, "less": law.sums <= observed}
        tails = [law.tail(hit) for side, hit in hits.items() if alternative in (side, "two-sided")]
    known = [tail[0] for tail in tails if tail is not None]
    statistic = observed / 2.0 - len(a) * (len(a) + 1) / 2.0
    if known and len(known) == len(tails):
        p_value, how = min(1.0, len(known) * min(known)), "exact"
    else:
        from scipy.stats import mannwhitneyu

        ranks = doubled[: len(a)], doubled[len(a) :]
        p_value, how = float(mannwhitneyu(*ranks, alternative=alternative, method="asymptotic").pvalue), "normal"
    assumes = f"systems are independent, with one distribution where they do not differ; ties share ranks; {how}"
    return ClassicalTest(RANK_SUM, statistic, p_value, assumes, paired=False)
