r"""Closed testing: a lower bound on the number of real differences in a chosen set; and closed e-BH.

**The bound.** Take m null hypotheses with p-values $p_i$. An intersection of k of them is true if all k are true.
Simes' test rejects it if its j-th smallest p-value is below $j \alpha / k$ for some j. Closed testing rejects it if
Simes' test rejects the intersection of every set that contains these k hypotheses (Marcus, Peritz and Gabriel 1976). A
set S then has at least

$$d(S) = \max_{1 \le u \le |S|} \big(1 - u + |\{i \in S: h\, p_i < u \alpha\}|\big)$$

false null hypotheses, where h is the size of the largest intersection that Simes' test accepts (Goeman et al. 2019).
The bound can be wrong for some S only if the intersection of all true null hypotheses is rejected. So it holds for all
S simultaneously, with probability $1 - \alpha$, and S may be chosen after looking at the data. For a set S of a single
hypothesis, d(S) = 1 means that Hommel's correction rejects this hypothesis. Hommel's correction rejects everything that
Holm's and Hochberg's corrections reject.

**What it needs.** Simes' test must keep its level on the true null hypotheses. This is proven for independent and for
positively dependent p-values (Sarkar 1998). P-values of two-sided tests of pairs of systems need not be positively
dependent. In simulations of independent and correlated tests, and of pairs of systems, the bound was wrong in at most
5.1% of sets (benchmarks/README.md, True discoveries).

**Directions.** A small two-sided p-value shows that two systems differ, but not which is better. If p-values are
independent, at least d(S) differences in S even have the observed sign. The reason: given that the observed sign of a
test is wrong, twice its smaller one-sided p-value is still a valid p-value (Shaffer 1980). `wins` claims a direction
without independence: for "A is better", the p-values of all tests in which A does not have the better score become 1.
The bound then is the bound from one-sided tests at $\alpha / 2$. So the bounds of both directions hold simultaneously,
with probability $1 - \alpha$. The tests of all pairs are one family.

**Closed e-BH.** Let R be the set of rejected hypotheses, and e(A) the mean of the e-values of a set A of hypotheses. R
is allowed if $|A \cap R| \le \alpha |R| e(A)$ for every set A. Then the false discovery rate of R is at most $\alpha$.
The reason: let A be the set of all true null hypotheses. The share of false discoveries, $|A \cap R| / |R|$, is at most
$\alpha e(A)$, and the expectation of e(A) is at most 1, whatever the dependence. The largest allowed R contains all
discoveries of e-BH (Xu, Fischer and Ramdas 2025).

References: Goeman and Solari (2011), "Multiple testing for exploratory research"; Goeman, Meijer, Krebs and Solari
(2019), "Simultaneous control of all false discovery proportions in large-scale multiple hypothesis testing"; Sarkar
(1998), "Some probability inequalities for ordered MTP2 random variables: a proof of the Simes conjecture"; Xu, Fischer
and Ramdas (2025), "Bringing closure to false discovery rate control: beating the e-Benjamini-Hochberg procedure".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sigjax.records import CORRECTIONS, Comparisons, InputError, Settings, Test


def true_discoveries(p_values: Any, *, chosen: Any = None, confidence_level: float = 0.95) -> int:
    """A lower bound on the number of real differences among some tests, which may be chosen after looking at results.

    Give the unadjusted p-values of all tests that you looked at, and the tests that you choose. With the given
    confidence, the result is a lower bound on the number of false null hypotheses among the chosen tests, for all
    possible choices simultaneously. The bound holds if p-values are independent or positively dependent; see `sigjax
    help discoveries`.

    Args:
        p_values: `[test]` p-values of all tests.
        chosen: the indices of the chosen tests (from 0), or true or false for each test; by default, all tests.
        confidence_level: the probability that the bounds of all sets hold.

    Raises:
        InputError: there are no p-values, a p-value is outside 0 to 1, or an index is not a test or occurs twice.

    Example:
        >>> p_values = [0.001, 0.004, 0.01, 0.02, 0.03, 0.6]
        >>> true_discoveries(p_values), true_discoveries(p_values, chosen=[2, 3, 4])
        (4, 2)
    """
    if not 0.0 < confidence_level < 1.0:
        raise InputError(f"confidence_level must be a number between 0 and 1, such as 0.95, got {confidence_level!r}")
    try:
        given = np.atleast_1d(np.asarray(p_values, np.float64))
    except (TypeError, ValueError):
        given = np.empty((0, 0))
    if given.ndim != 1 or not given.size:
        raise InputError("p_values must be numbers from 0 to 1, one for each test, as a list or an array")
    if not ((given >= 0.0) & (given <= 1.0)).all():
        at = int(np.flatnonzero(~((given >= 0.0) & (given <= 1.0)))[0])
        raise InputError(f"p_values must be from 0 to 1, got {given[at]:g} at number {at}")
    return least_true(given, _mask(chosen, len(given)), Settings(confidence_level=confidence_level).alpha)


def _mask(chosen: Any, count: int) -> np.ndarray:
    """A mask `[test]` that is true for the `chosen` tests; raise `InputError` if `chosen` is wrong."""
    if chosen is None:
        return np.ones(count, bool)
    index = np.atleast_1d(np.asarray(chosen))
    if index.dtype == bool and index.shape == (count,):
        return index
    if index.size and (index.dtype.kind not in "iu" or index.ndim != 1 or index.min() < 0 or index.max() >= count):
        raise InputError(f"chosen must be numbers of tests from 0 to {count - 1}, or {count} times true or false")
    mask = np.zeros(count, bool)
    mask[index.astype(np.int64)] = True
    if mask.sum() < index.size:
        raise InputError("chosen must name each test once, and some number comes twice")
    return mask


def least_true(p_values: np.ndarray, chosen: np.ndarray, alpha: float, counts: np.ndarray | None = None) -> int:
    """The lower bound on the number of false null hypotheses among the tests `chosen` `[test]` (bool).

    It holds with probability 1 - `alpha`. `p_values` `[test]` are the p-values of all tests. If `counts` `[test]` are
    given, each p-value stands for this number of tests, which are chosen together or not at all.
    """
    counts = np.ones(len(p_values), np.int64) if counts is None else counts
    return _bound(p_values[chosen], counts[chosen], largest_accepted(p_values, alpha, counts), alpha)


def _bound(p_values: np.ndarray, counts: np.ndarray, accepted: int, alpha: float) -> int:
    """The lower bound d(S) on false null hypotheses in a set S of tests with the p-values `[value]`.

    Each p-value belongs to `counts` `[value]` tests. `accepted` is h, the size of the largest set of null hypotheses
    whose intersection Simes' test accepts. d(S) is a maximum over numbers u (see the top of this file). Only those u
    are tried at which another p-value p begins to satisfy h p < u alpha.
    """
    number = int(counts.sum())
    if accepted == 0 or not number:
        return number
    order = np.argsort(p_values)
    limits, below = accepted * p_values[order], np.cumsum(counts[order])
    least = np.floor(limits / alpha).astype(np.int64) + 1
    least -= (least > 1) & (limits < (least - 1) * alpha)  # if the quotient was rounded up
    least += limits >= least * alpha  # if it was rounded down
    return max(0, int((1 - least + below).max()))


def largest_accepted(p_values: np.ndarray, alpha: float, counts: np.ndarray | None = None) -> int:
    """The largest number h for which Simes' test accepts the intersection of the h tests with the largest p-values.

    If `counts` `[test]` are given, each p-value belongs to this number of tests.

    >>> largest_accepted(np.array([0.001, 0.004, 0.01, 0.02, 0.03, 0.6]), 0.05)
    2
    >>> largest_accepted(np.array([0.03, 0.6]), 0.05, np.array([5, 1]))
    2
    """
    order = np.argsort(p_values)
    ordered, below = p_values[order], np.cumsum(np.ones(len(order), np.int64) if counts is None else counts[order])
    number = int(below[-1]) if below.size else 0
    low, high = 0, number
    while low < high:
        size = (low + high + 1) // 2
        ranks = below - (number - size)  # the rank of the last test with each p-value
        among = ranks > 0
        accepts = bool((size * ordered[among] >= ranks[among] * alpha).all())
        low, high = (size, high) if accepts else (low, size - 1)
    return low


def family_discoveries(pairs: Comparisons, chosen: np.ndarray, settings: Settings) -> int:
    """The lower bound on the number of real differences among the pairs `chosen` `[pair]` (bool) of a family.

    A family is a set of pairs whose p-values are adjusted together. The bound comes from the p-values of the family.
    For the correction maxt, closed testing finds exactly as many real differences as there are significant differences.
    """
    if CORRECTIONS[settings.correction].is_resampled:
        return int(np.count_nonzero(pairs.column("p_adjusted").values[chosen] < settings.alpha))
    return least_true(pairs.column("p_value").values, chosen, settings.alpha)


@dataclass(frozen=True)
class RealDifferences:
    """Lower bounds on the number of real differences in a family of pairs (closed testing).

    Attributes:
        metric: the name of the metric; None if the pairs of several metrics are one family.
        significant: number of pairs that differ significantly.
        real: lower bound on the number of significant pairs that truly differ, at the confidence level.
        pairs: number of all pairs.
        real_of_all: lower bound on the number of all pairs that truly differ.
    """

    metric: str | None
    significant: int
    real: int
    pairs: int
    real_of_all: int


def real_differences(groups: Mapping[tuple[str, Test], Comparisons], settings: Settings) -> list[RealDifferences]:
    """The lower bounds for each family of pairs in the permutation test; an empty list for mid-p-values.

    A family is a set of pairs whose p-values are adjusted together. `groups` is a dict from (metric, test) to the table
    of pairs.
    """
    if "permutation" not in settings.tests or not settings.has_valid_p:
        return []
    own = {metric: pairs for (metric, test), pairs in groups.items() if test == "permutation"}
    families: dict[str | None, Comparisons] = {**own}
    if settings.family == "report" and len(own) > 1:
        families = {None: Comparisons.joined([*own.values()])}
    found: list[RealDifferences] = []
    for metric, pairs in families.items():
        significant = pairs.column("p_adjusted").values < settings.alpha
        real, of_all = (
            family_discoveries(pairs, chosen, settings) for chosen in (significant, np.ones(len(pairs), bool))
        )
        found.append(RealDifferences(metric, int(significant.sum()), real, len(pairs), of_all))
    return found


class Wins(NamedTuple):
    """For each of two systems, a and b: on how many tests it is ahead, and on how many of these it is truly better.

    A system is ahead if it has the better score. The number of tests on which it is truly better is a lower bound.
    """

    ahead_a: int
    better_a: int
    ahead_b: int
    better_b: int

    def sentence(self, a: str, b: str, where: str) -> str:
        """The result in a sentence. `a` and `b` are the names of the systems, and `where` is the noun for the tests."""
        said = [
            f"{name} is better than {other} on at least {better:,} of the {ahead:,} {where} on which it is ahead"
            for name, other, ahead, better in ((a, b, self.ahead_a, self.better_a), (b, a, self.ahead_b, self.better_b))
            if better
        ]
        return "; ".join(said)


def wins(p_values: np.ndarray, leads: np.ndarray, alpha: float) -> list[Wins]:
    """Return for each pair, from two-sided `p_values` `[pair, test]`, on how many tests each system is better.

    For each system, `Wins` has the number of tests on which it is ahead, and a lower bound on the number of these tests
    on which it is truly better. All bounds hold simultaneously with probability 1 - `alpha`. `leads` `[pair, test]` is
    1 if the first system is ahead, -1 if the second system is ahead, else 0.

    >>> wins(np.array([[0.001, 0.004, 0.01, 0.02, 0.03, 0.6]]), np.array([[1, 1, 1, 1, -1, -1]]), 0.05)
    [Wins(ahead_a=4, better_a=3, ahead_b=2, better_b=0)]
    """
    found: list[list[int]] = [[] for _ in p_values]
    for side in (1, -1):
        ahead = leads == side
        accepted = largest_accepted(np.where(ahead, p_values, 1.0).ravel(), alpha)
        for own, of_pair, chosen in zip(found, p_values, ahead, strict=True):
            own += [int(chosen.sum()), _bound(of_pair[chosen], np.ones(int(chosen.sum()), np.int64), accepted, alpha)]
    return [Wins(*each) for each in found]


_ROUNDING, _STEPS = 1e-12, 64
"""`_ROUNDING`: relative tolerance when sums of e-values are compared. `_STEPS`: the condition of closed e-BH is first
checked for sets of this many sizes, and only if all satisfy it, for sets of all sizes."""


def closed_ebh(log_e: np.ndarray, alpha: float) -> np.ndarray:
    r"""A mask `[test]` of the hypotheses that closed e-BH rejects; `log_e` `[test]` are the logs of their e-values.

    The rejected set R has the largest e-values. The top of this file has the condition for every set A. Among all sets
    A with k members of R, the worst set has the k smallest members of R, and all e-values outside R that are below $k /
    (\alpha |R|)$. For n tests, e-values above 2 n / alpha count as 2 n / alpha, so that sums cannot overflow. This
    changes no decision, because one e-value of n / alpha is enough for every set that contains it.

    >>> e_values = np.array([41.0, 30.0, 25.0, 0.5])
    >>> closed_ebh(np.log(e_values), 0.05), e_values >= 4.0 / 0.05 / np.array([1, 2, 3, 4])
    (array([ True,  True,  True, False]), array([False, False, False, False]))
    """
    count, order = len(log_e), np.argsort(log_e)
    ascending = np.exp(np.minimum(log_e[order], np.log(2.0 * count / alpha)))
    sums, rejected = np.concatenate([[0.0], np.cumsum(ascending)]), np.zeros(count, bool)

    def holds(first: int, steps: np.ndarray) -> bool:
        """Whether the worst sets A satisfy the condition of closed e-BH, for a given set R.

        R has the ascending e-values from index `first` on. Each number k in `steps` stands for the worst set with k
        members of R.
        """
        least = steps / (alpha * (count - first))
        others = np.searchsorted(ascending[:first], least)
        held = sums[first + steps] - sums[first] + sums[others]
        return bool((held >= (steps + others) * least * (1.0 - _ROUNDING)).all())

    for first in range(count):
        number = count - first
        # If a set of any size fails, a set of one of these sizes nearly always fails, too.
        some = np.linspace(1, number, min(number, _STEPS)).astype(np.int64)
        if holds(first, np.array([1, number])) and holds(first, some) and holds(first, np.arange(1, number + 1)):
            rejected[order[first:]] = True
            break
    return rejected
