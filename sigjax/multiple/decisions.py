r"""Decisions on a family of pairs: adjusted p-values, decisions that more resamples cannot change, and ranks.

A family holds the hypotheses of one test whose p-values are adjusted together: the pairs of a metric, or of all metrics
of a report if the setting `family` is "report". The correction bounds the errors in all statements about the family.

**When a pair is decided.** Resamples estimate some numbers: the p-values of sampled pairs or, for the correction maxt,
the probabilities $q_j$ of its steps (see below). Each of these numbers gets a Clopper-Pearson interval with error
`ERROR` / m, where m is how many of them the family has. If one of these numbers rises, no adjusted p-value falls. So if
all these numbers are within their intervals, the adjusted p-values of infinitely many resamples lie between the
adjusted lower ends and the adjusted upper ends. A pair is decided when both of its adjusted ends lie on the same side
of alpha. The reported adjusted p-value lies on this side, too, because the intervals are widened to contain the
reported p-values. By the union bound, the probability that the decision on any decided pair differs from the decision
of infinitely many resamples is at most `ERROR`, whatever the dependence between the numbers is. For exact p-values,
both ends are the p-value itself; their pairs can be undecided too, since the correction depends on all pairs. P-values
from importance sampling (tilted) have intervals with the same error, which assume that the estimate of log p is normal.

*Decided pairs do not affect other pairs* as long as their true numbers are within their intervals. All corrections but
maxt have thresholds $c_1 \le c_2 \le \dots$, and reject the p-values below $c_k$. Here k is the largest number for
which at least k p-values are below $c_k$ (for Holm's correction: for which at least i p-values are below $c_i$, for
each i <= k). So exactly k p-values are rejected. Suppose a change of one p-value changes k. Then this p-value has
crossed a threshold $c_j$, where j is above the smaller and at most the larger of the old and the new k. So this p-value
is rejected either before or after the change, but not both: its own decision has changed, too. The correction maxt
rejects the steps before the first $q_j \ge \alpha$. If a change of one $q_j$ changes the number of these steps, the
decision on step j has changed, too. So `resamples_needed` lets only the p-values (for maxt, the $q_j$) of undecided
pairs change.

**When a test may stop** (`resamples="auto"`). The test checks its counts after each number of resamples in `LOOKS`;
such a check is called a look. The largest number, N, is the cap. S is the number of hits (resamples at least as extreme
as the observed result) of a pair among the first n resamples. The rule is MMCTest (Gandy and Hahn 2014) at fixed looks:
the intervals above, at each look, with error `ERROR` / (pairs * looks). A pair stops when these intervals decide it.
All intervals contain their p-values (those of infinitely many resamples) simultaneously with probability at least 1 -
`ERROR`. So the probability that any decision on a decided pair is wrong is at most `ERROR`, whatever the p-values are.
(Gandy 2009 bounds the same risk for a single hypothesis.) If several metrics are adjusted together, they are sampled
one after another. The p-values of pairs of earlier metrics have known bounds, and the p-values of pairs of later
metrics have the bounds 0 and 1. The number of pairs by which `ERROR` is divided includes these pairs (but no pair that
is known to have an exact p-value). So each metric uses only a part of `ERROR`, and all metrics together use at most
`ERROR`.

The p-value cannot be (S + 1) / (n + 1), because n depends on S and on the other pairs, and the null hypothesis of this
pair implies nothing about other pairs. So the p-value must be valid at all looks simultaneously; then the reason for
stopping does not matter. Stochastic curtailment (Lan, Simon and Halperin 1982) gives

    p = q / CONFIDENCE,  q = the least number with P((S_N + 1) / (N + 1) <= q) >= CONFIDENCE, where S_N is the
                             number of hits at the cap N, and P is under the null hypothesis and given S

At the cap, p is (S + 1) / (N + 1) / CONFIDENCE. Before the cap, p is an upper bound on its value at the cap, which
holds with probability at least CONFIDENCE under the null hypothesis.

*Proof that P(p <= u at any look) <= u.* Under the null hypothesis the observed delta and its resamples are
exchangeable. Ties only add hits, and p rises with S. So ties only make p larger, and we may assume that there are none.
Then the final count S_N is uniform on 0..N, and given S_N all orders of hits are equally likely. For an integer B let
M_n = P(S_N <= B | the first n resamples) = P(S_N <= B | S). This is a martingale with mean (B + 1) / (N + 1), so
Ville's inequality gives P(M_n >= CONFIDENCE at any look) <= (B + 1) / (N + 1) / CONFIDENCE. Take the largest B for
which the right side is at most u. Then p <= u at a look if and only if M_n >= CONFIDENCE there. QED

*To compute P(S_N <= B | S)*, mark the B + 1 most extreme of all N + 1 deltas (N resampled deltas and the observed
delta). Then S_N <= B if and only if the observed delta is marked. It is the (S + 1)-th most extreme of the n + 1 deltas
known so far. So it is marked if and only if more than S of these n + 1 deltas are marked. The n + 1 deltas are a random
part of all N + 1, so the probability is a hypergeometric tail.

References: Gandy (2009), JASA 104, 1504-1511; Gandy and Hahn (2014), "MMCTest: a safe algorithm for implementing
multiple Monte Carlo tests", Scandinavian Journal of Statistics 41, 1083-1101; Lan, Simon and Halperin (1982),
Sequential Analysis 1, 207-219; Fischer and Ramdas (2025), "Sequential Monte Carlo testing by betting", about p-values
that are valid at any time.

**Westfall-Young step-down maxT** adjusts p-values of all pairs together, from the same swaps. The statistic of a pair
is $t = |\delta| / s$ (in one-sided tests, $\delta / s$ or $-\delta / s$), where s is the standard deviation that delta
has under swaps, to first order:

$$s^2 = \sum_i \big(\mathrm{score}(M + D_i / 2) - \mathrm{score}(M - D_i / 2)\big)^2, \quad D_i = s_{a,i} - s_{b,i},
\quad M = (T_a + T_b) / 2$$

Here a and b are the systems of the pair, $s_{a,i}$ the statistics of system a on unit i, and $T_a$ its totals. A swap
of unit i changes the sign of $D_i$ but not M, so s is the same on every resample. If the score is linear in the sums, s
is exactly the standard deviation. Without the division by s, a maximum would hardly ever come from a pair of similar
systems, whose delta varies little.

Let the pairs be in descending order of t, let $t^*_i$ be the statistic of pair i on a resample, and let $e_j$ be the
number of resamples, among K, on which $\max_{i \ge j} t^*_i \ge t_j$. The comparison of this maximum with $t_j$ is step
j of the procedure, and $q_j$ is the probability that the maximum is at least $t_j$. The adjusted p-value of pair j is
$\max_{i \le j} (e_i + 1) / (K + 1)$, or the exact p-value of the pair if that is larger.

*What it bounds.* A resample swaps the same units of every pair. Take the pairs whose null hypotheses are true. Assume
that swapping a unit of all these pairs does not change the joint distribution of their differences (symmetry about 0).
Then the familywise error is at most alpha, for every K and whatever holds for the other pairs, because a maximum over
more pairs is never smaller (Romano and Wolf 2005). For one pair, this assumption is the null hypothesis of the pair.
For several pairs, the assumption is stronger. If it fails, the familywise error is still at most alpha in the limit of
many units, because the deltas keep their covariances on resamples.

*Several metrics.* The statistic t has no unit of measurement, so several metrics can be adjusted together. Units,
strata and seed are the same for all metrics of a report, and so are the swaps. For several metrics, the device computes
the sums, and NumPy computes the scores.

References: Westfall and Young (1993), "Resampling-based multiple testing", algorithm 4.1; Romano and Wolf (2005),
"Exact and approximate stepdown methods for multiple hypothesis testing".

**Ranks.** From the decisions on all pairs follow letters, clusters, intervals of ranks, and the top group. Bootstrap
resamples give other intervals of ranks. The systems are sorted, best first. The decisions need not be transitive.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from sigjax.exact.plans import Pair
from sigjax.records import Column, Columns, Comparisons, InputError, Settings
from sigjax.records.settings import adjust, log10_adjusted
from sigjax.resample.engine import count_swaps, deltas_of, swapped_sums
from sigjax.resample.extreme import Extreme, size
from sigjax.resample.tally import SuccessiveMaxima
from sigjax.resample.units import norms
from sigjax.run.context import Context, Run, fits, gib, in_threads
from sigjax.testing.permutation import add_up, swap_problem
from sigjax.testing.problem import (
    ExceedCounter,
    Problem,
    SumsProblem,
    check_finite,
    montecarlo_p,
    numpy_cost,
    sampled_columns,
    swap_cost,
)
from sigjax.testing.replicates import Pieces, kept_replicates
from sigjax.testing.special import clopper_pearson, normal_quantile

LOOKS = tuple(2**k for k in range(13, 21))
"""Numbers of resamples after which a pair may stop (looks): 8,192, then doubled each time, up to the cap 1,048,576."""
ERROR = 1e-3
"""Upper bound on the probability that infinitely many resamples would give another decision on at least one decided
pair of a family."""
CONFIDENCE = 0.995
"""For a pair that stops before the cap (the largest number of resamples), the reported p is, with at least this
probability, an upper bound on the p at the cap. The reported p has been divided by this number, so that it is valid
even though the bound can fail."""
MOST_RESAMPLES = 10**9
"""The largest number of resamples that is proposed to users."""
_PROPOSED = (*(m * 10**power for power in range(9) for m in (1, 2, 3, 5)), 10**9)
_LARGER_PARTS = 8
"""Resamples are counted in parts. At first, a part has as many resamples as the first of the `LOOKS`. After this many
such parts, each part is larger by this factor. There are only these two sizes, because each size needs a compiled
program."""
_ROUNDING = 1e-12
"""Relative tolerance of ties between the statistics t of two pairs, in addition to the tolerance for the rounding of
deltas. It is needed because the standard deviations s are rounded, too: without this rounding, the two t may be
equal."""
_CACHED = 2**20
"""Number of statistics in a block of units, about: `_deviation` computes scores block by block."""

Adjusted = Callable[[np.ndarray], np.ndarray]
"""A function from p-values `[pair]` (for the correction maxt, the p-values of its steps) to adjusted p-values
`[pair]`."""


def adjusted_pairs(pairs: Comparisons, settings: Settings, step_down: StepDown | None = None) -> Comparisons:
    """Add adjusted p-values, intervals for p-values, and decisions to the table of a family's pairs.

    A family is a set of pairs whose p-values are adjusted together. `step_down` has the counts of the step-down
    procedure if the correction is maxt.

    >>> exceed = np.array([0, 60])
    >>> pairs = sampled_columns(exceed, (exceed + 1) / 1000, 999, Column.constant("as asked", 2))
    >>> pairs = adjusted_pairs(pairs, Settings(resamples=999))
    >>> [pairs.column(name).tolist() for name in ("p_adjusted", "decided", "resamples_needed")]
    [[0.002, 0.061], [True, False], [None, 10000]]
    """
    names = ("p_value", "log10_p", "p_interval", "exceed", "resamples")
    p_value, log10_p, p_interval, exceed, resamples = pairs.columns(*names)
    tilted, p_values = pairs.has_method("tilted"), p_value.values
    sampled = exceed.where_present & ~tilted
    if step_down is None:
        p_adjusted = adjust(p_values, settings.correction)
    else:  # the adjusted p-value comes from resamples, and an exact p-value may be just above it
        of_steps = np.asarray(montecarlo_p(step_down.exceed, settings.fixed_resamples))
        p_adjusted = np.maximum(step_down.adjusted(of_steps), p_values)
    log10_adjusted_p = log10_adjusted(p_adjusted, log10_p.values, settings.correction)
    has_bounds = p_interval.where_present
    ends = p_interval.values
    if (sampled & ~has_bounds).any():
        ends, rows = ends.copy(), sampled & ~has_bounds
        ends[rows] = np.stack(
            clopper_pearson(exceed.values[rows], settings.fixed_resamples, settings.confidence_level), axis=1
        )
    if step_down is None and not (sampled | tilted).any():  # no p-value depends on resamples
        never, none = np.zeros(len(sampled), bool), np.zeros(len(sampled), np.int64)
        decided, needed = Column(none, never, (False, True)), Column(none, never)
    else:
        known = None  # bounds at which the test stopped
        if (sampled & has_bounds).any():
            known = np.where(sampled[:, None], p_interval.values, p_values[:, None])
        fixed = np.stack([p_values, p_values], axis=1)
        if tilted.any():  # widen the intervals of log p, which are normal, to the error of each number in the family
            tail = ERROR / (2.0 * np.count_nonzero(sampled | tilted))
            times = normal_quantile(1.0 - tail) / normal_quantile(0.5 + settings.confidence_level / 2.0)
            middle = np.maximum(p_values, np.finfo(float).tiny)
            factor = np.where(tilted, np.maximum(p_interval.values[:, 1], middle) / middle, 1.0) ** times
            fixed *= np.stack([1.0 / factor, factor], axis=1)
        decided, needed = _decisions(
            p_values, fixed, sampled, exceed.values, resamples.values, known, step_down, settings
        )
    return pairs.with_columns(
        {
            "p_adjusted": Column(p_adjusted),
            "log10_p_adjusted": Column(log10_adjusted_p),
            "p_interval": Column.unless_nan(ends),
            "decided": decided,
            "resamples_needed": needed,
        }
    )


def _decisions(
    p_values: np.ndarray,
    fixed: np.ndarray,
    sampled: np.ndarray,
    exceed: np.ndarray,
    drawn: np.ndarray,
    known: np.ndarray | None,
    step_down: StepDown | None,
    settings: Settings,
) -> tuple[Column, Column]:
    """Return two columns: whether each pair is decided, and how many resamples should suffice to decide it.

    A pair is decided if more resamples cannot change whether it is significant. The number of resamples is the smallest
    number among 1, 2, 3 and 5 times a power of ten that should suffice. It is None if the pair is decided, or if
    `MOST_RESAMPLES` would not suffice. Arrays are `[pair]`. `exceed` is the number of extreme resamples among the
    resamples `drawn`. `fixed` `[pair, 2]` bounds the `p_values` that are not `sampled`. `known` `[pair, 2]` are the
    bounds at which the test stopped by itself, if it did. `step_down` has the counts for the correction maxt.
    """
    never = np.zeros(len(sampled), bool)
    certain, adjusted = never, partial(adjust, correction=settings.correction)
    if step_down is not None:
        certain = ~sampled & (p_values >= settings.alpha)  # no adjusted p-value is below the exact p-value of its pair
        exceed, sampled, adjusted = step_down.exceed, ~never, step_down.adjusted
    if known is None:
        drawn = np.array(settings.fixed_resamples)
        low, high = _bounds_of_counts(exceed, sampled, fixed, adjusted, settings)
    else:
        low, high = known.T
    # The posterior mean of the rate of hits under the Jeffreys prior; never 0 or 1.
    estimate = np.where(sampled, (exceed + 0.5) / (drawn + 1.0), p_values)
    is_decided = agree(low, high, adjusted, settings.alpha)
    needed = _resamples_needed(estimate, sampled, int(drawn.max()), adjusted, is_decided, settings.alpha)
    is_decided |= certain
    return (
        Column(is_decided.astype(np.int8), None, (False, True)),
        Column(np.where(is_decided, 0, needed), ~is_decided & (needed > 0)),
    )


def _bounds_of_counts(
    exceed: np.ndarray, sampled: np.ndarray, fixed: np.ndarray, adjusted: Adjusted, settings: Settings
) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and the high bounds on the p-values of infinitely many resamples, as two arrays `[pair]`.

    The bounds of `sampled` pairs come from `exceed`, the counts of extreme resamples among the resamples of the
    settings. Other p-values have the bounds `fixed` `[pair, 2]`.
    """
    resamples, count = settings.fixed_resamples, max(1, int((sampled | (fixed[:, 0] < fixed[:, 1])).sum()))
    rate, reported = exceed / resamples, (exceed + 1) / (resamples + 1)

    def widened(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.minimum(low, reported), np.maximum(high, reported)
        return np.where(sampled, low, fixed[:, 0]), np.where(sampled, high, fixed[:, 1])

    # Clopper-Pearson intervals lie within Hoeffding's intervals, which cost nothing and decide most pairs.
    width = math.sqrt(math.log(2.0 * count / ERROR) / (2.0 * resamples))
    low, high = widened(np.maximum(rate - width, 0.0), np.minimum(rate + width, 1.0))
    close = sampled & ~agree(low, high, adjusted, settings.alpha)
    low[close], high[close] = bounds(exceed[close], resamples, count, (resamples,))
    return widened(low, high)


def _resamples_needed(
    estimate: np.ndarray, sampled: np.ndarray, resamples: int, adjusted: Adjusted, decided: np.ndarray, alpha: float
) -> np.ndarray:
    """The number of resamples that should decide each undecided pair, `[pair]`; 0 if no proposed number suffices.

    `estimate` `[pair]` are the p-values on which decisions depend; only `sampled` p-values change with more resamples.
    `resamples` is the largest number that was drawn so far.
    """
    needed, waiting = np.zeros(len(decided), np.int64), ~decided
    moving = waiting & sampled
    if not moving.any():
        return needed
    from scipy.special import betaincinv

    tail = ERROR / (2.0 * int(sampled.sum()))
    rates, rate_of = np.unique(estimate[moving], return_inverse=True)
    for proposed in (number for number in _PROPOSED if resamples < number <= MOST_RESAMPLES):
        low, high = estimate.copy(), estimate.copy()
        hits = rates * proposed
        low[moving] = betaincinv(hits, proposed - hits + 1.0, tail)[rate_of]
        high[moving] = betaincinv(hits + 1.0, proposed - hits, 1.0 - tail)[rate_of]
        enough = waiting & agree(low, high, adjusted, alpha)
        needed[enough], waiting[enough] = proposed, False
        if not waiting.any():
            break
    return needed


def agree(low: np.ndarray, high: np.ndarray, adjusted: Adjusted, alpha: float) -> np.ndarray:
    """Whether the decision on a pair is the same for all p-values between `low` and `high` `[pair]`, `[pair]` bool.

    `adjusted` corrects p-values `[pair]`; if some p-value rises, none of its results may fall.

    >>> holm = partial(adjust, correction="holm")
    >>> agree(np.array([0.0, 0.02, 0.5]), np.array([0.001, 0.04, 0.6]), holm, 0.05)
    array([ True, False,  True])
    """
    return (adjusted(low) < alpha) == (adjusted(high) < alpha)


def bounds(exceed: np.ndarray, resamples: int, num_pairs: int, looks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and the high ends of intervals for p-values, each `[pair]`.

    `exceed` `[pair]` are the counts of extreme resamples among the first `resamples`, which is one of the `looks`. All
    intervals of `num_pairs` pairs at all looks hold simultaneously with probability 1 - `ERROR`.

    >>> low, high = bounds(np.array([0, 82]), 8192, 1, LOOKS)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.0063]), array([0.0012, 0.0149]))
    """
    return clopper_pearson(exceed, resamples, 1.0 - ERROR / (num_pairs * len(looks)))


def most_resamples(settings: Settings) -> int:
    """The largest number of resamples of a permutation test."""
    return LOOKS[-1] if settings.resamples == "auto" else settings.resamples


def known_bounds(pairs: Comparisons) -> np.ndarray:
    """Bounds `[pair, 2]` on the p-values of infinitely many resamples, from a test that decides itself when to stop.

    The bounds of an exact p-value are the p-value itself.
    """
    stopped, ends = pairs.column("exceed").where_present, pairs.column("p_interval").values
    return np.where(stopped[:, None], ends, pairs.column("p_value").values[:, None])


def count_until_decided(
    count: ExceedCounter, reasons: Column, exact: np.ndarray, settings: Settings, others: np.ndarray | None = None
) -> Columns:
    """Count hits (extreme resamples) until every pair is decided; decided pairs are no longer counted.

    A hit is a resample at least as extreme as the observed result. `count` counts the hits of some pairs in a range of
    resamples, and `reasons` explain why these pairs have no exact test. `exact` are the exact p-values of the other
    pairs in the same table. `others` `[other, 2]` are bounds on the p-values of all other pairs in the family (the
    pairs whose p-values are adjusted together); unknown p-values have the bounds 0 and 1. Return the result columns of
    the sampled pairs, which include the bounds at which they stopped.
    """
    num_pairs = len(reasons.values)
    # All bounds that may be wrong share the allowed error, so the uncertain p-values of other metrics count as well.
    others = np.zeros((0, 2)) if others is None else others
    num_bounds = num_pairs + int((others[:, 0] < others[:, 1]).sum())
    least_rest, most_rest = np.concatenate([np.stack([exact, exact], axis=1), others]).T
    adjusted = partial(adjust, correction=settings.correction)
    exceed, resamples = np.zeros((2, num_pairs), np.int64)
    low, high = np.zeros(num_pairs), np.ones(num_pairs)
    running = np.arange(num_pairs)
    for start, look in pairwise((0, *LOOKS)):
        size = LOOKS[0] if look <= _LARGER_PARTS * LOOKS[0] else _LARGER_PARTS * LOOKS[0]
        for begin in range(start, look, size):
            exceed[running] += count(running, begin, min(begin + size, look))
        resamples[running] = look
        # All intervals hold simultaneously, so their intersection holds too, and a decided pair stays decided.
        least, most = bounds(exceed[running], look, num_bounds, LOOKS)
        low[running], high[running] = np.maximum(low[running], least), np.minimum(high[running], most)
        agreed = agree(np.append(low, least_rest), np.append(high, most_rest), adjusted, settings.alpha)
        running = running[~agreed[running]]
        if not running.size:
            break
    p_values = np.empty(num_pairs)
    for look in np.unique(resamples).tolist():
        here = resamples == look
        p_values[here] = valid_p(exceed[here], look, LOOKS)
    # A p-value close to 1 can be just above its bounds, so the bounds are widened to contain it. The decision stays the
    # same.
    ends = np.stack([np.minimum(low, p_values), np.maximum(high, p_values)], axis=1)
    return sampled_columns(exceed, p_values, resamples, reasons, ends)


def valid_p(exceed: np.ndarray, resamples: int, looks: Sequence[int]) -> np.ndarray:
    """p-values `[pair]` of pairs that stopped after this many resamples; valid whatever the reason for stopping.

    `exceed` `[pair]` are the counts of extreme resamples. `resamples` is one of the `looks`, the numbers of resamples
    after which a pair may stop. The method is explained at the top of this file.

    >>> valid_p(np.array([0, 82, 4096]), 8192, LOOKS).round(5)
    array([0.00065, 0.01326, 0.51675])
    >>> valid_p(np.array([52_428]), 1_048_576, LOOKS).round(5)
    array([0.05025])
    """
    from scipy.stats import hypergeom

    cap, exceed = looks[-1], np.asarray(exceed)
    # Bisection for a bound on the final count with the required certainty: `least` is too small, `most` large enough.
    least, most = exceed - 1, exceed + cap - resamples
    while np.any(most - least > 1):
        middle = (least + most) // 2
        certain = hypergeom.sf(exceed, cap + 1, middle + 1, resamples + 1) >= CONFIDENCE
        least, most = np.where(certain, least, middle), np.where(certain, middle, most)
    return np.minimum((most + 1) / (cap + 1) / CONFIDENCE, 1.0)


@dataclass(frozen=True, slots=True)
class StepDown:
    """Counts of the Westfall-Young step-down procedure over a family of pairs; both fields are `[pair]`.

    The pairs of several metrics follow each other, metric by metric.
    """

    exceed: np.ndarray
    """int64: the number of resamples on which the statistic of this pair, or of any less extreme pair, is at least as
    large as the observed statistic of this pair."""
    order: np.ndarray
    """Indices of the pairs, least extreme first."""

    @classmethod
    def of(cls, counts: np.ndarray, order: np.ndarray) -> StepDown:
        """Make the record from counts of extreme resamples: `counts[k]` is the count of the pair `order[k]`.

        `order` has the indices of all pairs, least extreme first. In the record, `exceed[pair]` is the pair's count.

        >>> StepDown.of(np.array([4, 0, 1]), np.array([2, 0, 1])).exceed
        array([0, 1, 4])
        """
        exceed = np.empty_like(counts)
        exceed[order] = counts
        return cls(exceed, order)

    def adjusted(self, p_values: np.ndarray) -> np.ndarray:
        """Return adjusted p-values `[pair]`: the largest `p_values` of the pair and of all more extreme pairs.

        >>> StepDown(np.array([0, 1, 4]), np.array([2, 0, 1])).adjusted(np.array([0.1, 0.2, 0.5]))
        array([0.2, 0.2, 0.5])
        """
        adjusted = np.empty(len(p_values))
        adjusted[self.order] = np.maximum.accumulate(p_values[self.order][::-1])[::-1]
        return adjusted


def maxt(problems: Sequence[SumsProblem], context: Context) -> StepDown:
    """Carry out step-down maxT over all pairs of one metric, or of several metrics (one problem per metric).

    Return the counts of the procedure. For one metric, all work is done on the device. For several metrics, the device
    computes only the sums.
    """
    first, settings, num_pairs = problems[0], problems[0].settings, len(problems[0].hypotheses.members)
    resamples, seed = settings.fixed_resamples, settings.seed
    if len(problems) == 1:
        context = context.sized(swap_cost(first, num_pairs))
        with context.run(settings.correction, resamples, seed, compiles=first.metric) as run:
            return _of_metric(first, run)
    columns, units = num_columns(problems), len(first.units.strata)
    cost = numpy_cost(resamples=resamples, units=units, columns=columns, scored=0, counted=False)
    with context.sized(cost).run(settings.correction, resamples, seed) as run:
        return _of_metrics(problems, run)


def _of_metric(problem: SumsProblem, run: Run) -> StepDown:
    hypotheses, alternative = problem.hypotheses, problem.settings.alternative
    swaps, packed = swap_problem(problem, slice(None), run)
    observed, scale, rounding = _standardised(problem)
    order, criterion = _in_order(observed, rounding)
    left, right, totals_a, totals_b = (column[order] for column in packed[:4])
    maxima = SuccessiveMaxima(left, right, totals_a, totals_b, scale[order], criterion.observed, criterion.tolerance)

    def pieces(shard: Run) -> Iterator[tuple[int, np.ndarray]]:
        counted = count_swaps(swaps, maxima, shard, metric=problem.metric, alternative=alternative)
        for begin, exceed, finite in counted:
            check_finite(finite, hypotheses.members[order])
            yield begin, exceed

    return StepDown.of(add_up(pieces, len(order), 0, run.resamples, run), order)


def _of_metrics(problems: Sequence[SumsProblem], run: Run) -> StepDown:
    swaps = [swap_problem(problem, slice(None), run) for problem in problems]
    pairs = [(metric, pair) for metric, each in enumerate(problems) for pair in range(len(each.hypotheses.members))]
    standardised = [_standardised(problem, metric) for metric, problem in enumerate(problems)]
    observed, scale, rounding = (np.concatenate(column) for column in zip(*standardised, strict=True))
    order, criterion = _in_order(observed, rounding)

    def statistics(sums: Sequence[np.ndarray], hypothesis: int) -> np.ndarray:
        """The statistics t `[resample]` of the pair with the index `hypothesis`; a large t is extreme.

        `sums` has an array of sums on the resamples for each metric.
        """
        metric, pair = pairs[hypothesis]
        problem, (projected, packed) = problems[metric], swaps[metric]
        deltas = deltas_of(sums[metric], packed, pair, projected.divisors, problem.metric.score)
        check_finite(deltas[None], [problem.hypotheses.pair(pair)], metric)
        return size(deltas, problem.settings.alternative) * scale[hypothesis]

    def pieces(shard: Run) -> Iterator[tuple[int, np.ndarray]]:
        for piece in shard.blocks(num_columns(problems)):
            # All metrics use the same swaps; only the last metric moves the progress bar.
            quiet = replace(piece, advance=lambda done: None)
            sums = [swapped_sums(projected, quiet) for projected, _ in swaps[:-1]]
            sums.append(swapped_sums(swaps[-1][0], piece))
            largest, exceed = np.full(piece.resamples - piece.start, -np.inf), np.zeros(len(order), np.int64)
            for rank, (hypothesis, least) in enumerate(zip(order.tolist(), criterion.least, strict=True)):
                np.maximum(largest, statistics(sums, hypothesis), out=largest)
                exceed[rank] = np.count_nonzero(largest >= least)
            yield piece.start, exceed

    return StepDown.of(add_up(pieces, len(order), 0, run.resamples, run), order)


def num_columns(problems: Sequence[SumsProblem]) -> int:
    """An upper bound on the number of sums per resample, for all metrics together."""
    return sum(len(problem.units.values) * problem.units.values.shape[2] for problem in problems)


def _in_order(observed: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, Extreme]:
    """Return the indices of the pairs, sorted by their observed statistics, and a criterion in the same order.

    The least extreme pair is first. The criterion has the observed statistic and the tolerance of each pair. A resample
    is extreme for a pair if the maximum over this pair and all less extreme pairs is at least the observed statistic,
    up to the tolerance. `observed` `[pair]` are the observed statistics, and `rounding` `[pair]` are their rounding
    errors.
    """
    order = np.argsort(observed, kind="stable")
    # A maximum may come from any pair so far, and has the rounding error of this pair.
    tolerance = np.maximum.accumulate(rounding[order]) + _ROUNDING * abs(observed[order])
    return order, Extreme(observed[order], tolerance, "greater")


def _standardised(problem: SumsProblem, metric: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays `[pair]`: the observed statistics t, the factors 1 / s, and the rounding errors of t.

    s is the standard deviation of delta under swaps; the factor is 0 if delta does not vary. `metric` is the index of
    the metric if there are several.
    """
    hypotheses = problem.hypotheses
    deviations = np.array([_deviation(problem, pair) for pair in hypotheses.pairs])
    check_finite(deviations, hypotheses.members, metric)
    varies = deviations > hypotheses.rounding
    if (~varies & (np.abs(hypotheses.deltas) > hypotheses.rounding)).any():
        raise InputError(
            f"correction maxt needs a score that single instances change, and {problem.metric.name!r} is none; use holm"
        )
    with np.errstate(divide="ignore"):
        scale = np.where(varies, 1.0 / deviations, 0.0)
    observed = np.asarray(size(hypotheses.deltas, problem.settings.alternative))
    return observed * scale, scale, hypotheses.rounding * scale


def _deviation(problem: SumsProblem, pair: Pair) -> float:
    """The standard deviation s of a pair's delta under swaps, to first order (see the top of this file)."""
    units, (a, b) = problem.units, pair
    middle, num_units = (units.totals[a] + units.totals[b]) / 2.0, units.values.shape[1]
    width = max(1, _CACHED // units.values.shape[2])
    steps = np.empty(num_units)
    for start in range(0, num_units, width):
        block = slice(start, start + width)
        half = (units.values[a, block] - units.values[b, block]) / 2.0
        high, low = problem.scores(np.stack([middle + half, middle - half]))
        with np.errstate(all="ignore"):
            steps[block] = high - low
    return float(norms(steps))


_COMPARED = 2**18
"""Number of scores in a block of resamples, about: `rank_quantiles` compares the scores of systems block by block."""


def bootstrap_ranks(
    problem: Problem, run: Run, drawn: np.ndarray | None, pieces: Callable[[Run], Pieces]
) -> list[tuple[int, int]] | None:
    """Return the interval of each system's rank; None if the replicates (scores on resamples) do not fit into memory.

    `drawn` are the bootstrap scores `[system, resample]` if they are already available; they are overwritten. Otherwise
    `pieces(run)` yields them, piece by piece. A shard returns None, too, because it has only a part of the resamples.
    """
    settings, hypotheses = problem.settings, problem.hypotheses
    tally = run.checkpoint.tally(ranks=len(hypotheses.scores))
    if tally is not None:
        ranks = tally.arrays["ranks"]
    else:
        shape = (len(hypotheses.scores), run.resamples)
        if not fits(gib(shape), settings):
            return None
        values = kept_replicates(pieces, shape[0], run) if drawn is None else drawn
        if run.checkpoint.is_part:
            return None
        values *= 1.0 if problem.metric.higher_is_better else -1.0
        ranks = rank_quantiles(values, np.array(hypotheses.tolerances), settings.confidence_level)
        run.checkpoint.finish(0, run.resamples, ranks=ranks)
    return [(low, high) for low, high in ranks.tolist()]


def rank_quantiles(values: np.ndarray, rounding: np.ndarray, level: float) -> np.ndarray:
    r"""Percentile intervals of ranks, `[system, 2]`, from scores on resamples `[system, resample]`; larger is better.

    On each resample, a system has a best rank, which is 1 + the number of better systems. Its worst rank is the number
    of systems that are not worse; the two ranks differ if there are ties. The low end is the quantile (1 - level) / 2
    of the best ranks. The high end is the quantile (1 + level) / 2 of the worst ranks. If a quantile lies between two
    ranks, it is rounded outwards. `rounding` `[system]` is the rounding error of scores.

    >>> rank_quantiles(np.array([[3.0, 3.0], [2.0, 4.0], [1.0, 1.0]]), np.zeros(3), 0.95)
    array([[1, 2],
           [1, 2],
           [3, 3]])
    """
    levels = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    width = max(1, _COMPARED // len(values))

    def of_system(system: int) -> tuple[int, int]:
        tolerance = 2.0 * (rounding + rounding[system])[:, None]
        best, worst = np.empty((2, values.shape[1]), np.int64)
        for start in range(0, values.shape[1], width):
            some = slice(start, start + width)
            ahead = values[:, some] - values[system, some]
            best[some] = 1 + np.count_nonzero(ahead > tolerance, axis=0)
            worst[some] = np.count_nonzero(ahead >= -tolerance, axis=0)
        return (int(np.quantile(best, levels[0], method="lower")), int(np.quantile(worst, levels[1], method="higher")))

    return np.array(in_threads(of_system, range(len(values))))


LETTERS = string.ascii_letters
_LETTERED = 100
"""Largest number of systems that get letters. Letters for more systems are unreadable, and take long to find."""


DECIDED = ("rank_interval", "letters", "rank_cluster", "in_top_group")
"""The fields of `SystemScore` that follow from the decisions on pairs: the interval of the rank, the letters, the
cluster, and whether the system is in the top group."""


def significance_ranks(better: np.ndarray, worse: np.ndarray, count: int) -> dict[str, Sequence[Any]]:
    """Return the rank intervals, letters, clusters and top group of `count` systems, sorted best first.

    The result is a dict from each name in `DECIDED` to the values `[system]`. For each pair that differs significantly,
    `better` `[pair]` has the index of the better system, and `worse` `[pair]` the index of the worse system.
    """
    beats = np.zeros((count, count), bool)
    beats[better, worse] = True
    letters = compact_letters(beats | beats.T) if count <= _LETTERED else None
    of_systems = rank_intervals(beats), letters or [None] * count, significance_clusters(beats), top_group(beats)
    return dict(zip(DECIDED, of_systems, strict=True))


def compact_letters(differs: np.ndarray) -> tuple[str, ...] | None:
    r"""Compact letter display: two systems share a letter if and only if they do not differ significantly.

    Each letter stands for a clique: a group in which no two systems differ. Every pair that does not differ must be in
    some clique. While some pairs are not in any clique yet, a new clique starts with one of these pairs: the best
    system that is in such a pair, and the worst of the systems with which it forms such a pair. Further systems are
    added to the clique, better systems first. In the end, a clique is removed if other cliques contain all its pairs.
    If two systems differ exactly when their scores are far enough apart, the number of letters is minimal; in general
    it may be larger.
    `differs` is `[system, system]`, symmetric. Letters `[system]` are in alphabetic order, a to z and then A to Z; None
    if these 52 do not suffice.

    Reference: Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons"; Gramm et al.
    (2007), "Algorithms for compact letter displays", with this method of clique growing.

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ('a', 'ab', 'b')
    """
    cliques = letter_groups(differs)
    if len(cliques) > len(LETTERS):
        return None
    letters = [""] * len(differs)
    for letter, clique in zip(LETTERS, cliques, strict=False):
        for system in clique:
            letters[system] += letter
    return tuple(letters)


def letter_groups(differs: np.ndarray) -> list[list[int]]:
    """For each letter of `compact_letters`, the list of the indices of its systems, better systems first.

    `differs` `[system, system]` is true for systems that differ significantly.
    """
    alike = ~differs.astype(bool) | np.eye(len(differs), dtype=bool)
    missing, cliques = np.triu(alike), list[list[int]]()
    for best in range(len(alike)):
        while missing[best].any():
            # A system and itself also count as a pair. So a system that differs from all others gets its own clique.
            worst = int(np.flatnonzero(missing[best])[-1])
            members, candidates = {best, worst}, alike[best] & alike[worst]
            candidates[[best, worst]] = False
            while candidates.any():
                member = int(candidates.argmax())
                members.add(member)
                candidates &= alike[member]
                candidates[member] = False
            cliques.append(sorted(members))
            missing[np.ix_(cliques[-1], cliques[-1])] = False
    return sorted(_needed(cliques))


def _needed(cliques: list[list[int]]) -> list[list[int]]:
    """Remove each clique (smallest first) whose pairs are all in other cliques, and return the remaining cliques."""
    held = Counter(pair for clique in cliques for pair in combinations_with_replacement(clique, 2))
    kept = []
    for clique in sorted(cliques, key=len):
        pairs = list(combinations_with_replacement(clique, 2))
        if all(held[pair] > 1 for pair in pairs):
            held.subtract(pairs)
        else:
            kept.append(clique)
    return kept


def significance_clusters(beats: np.ndarray) -> tuple[int, ...]:
    """The number of each system's cluster, `[system]`, from 1.

    Every system is significantly better than all systems of later clusters. The number of clusters is as large as
    possible, as in the rankings of the Conference on Machine Translation (WMT). `beats` `[a, b]` is true if system a is
    significantly better than system b.

    >>> significance_clusters(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool))
    (1, 1, 2)
    """
    not_beaten = np.triu(~beats.astype(bool))
    last = np.maximum.accumulate(len(beats) - 1 - not_beaten[:, ::-1].argmax(axis=1))
    return tuple(np.cumsum([1, *(last[:-1] < np.arange(1, len(beats)))]).tolist())


def rank_intervals(beats: np.ndarray) -> tuple[tuple[int, int], ...]:
    r"""Confidence intervals of ranks, `[system]`; the rank is 1 + the number of systems that are truly better.

    For n systems, the interval is $[1 + \#\{\text{significantly better}\},\; n - \#\{\text{significantly worse}\}]$. An
    interval can miss the rank only if some decision is wrong. So all intervals are right simultaneously if no decision
    is wrong. The probability of no wrong decision is at least the confidence level, if the tests keep their level and
    the correction bounds the familywise error (including significant differences in the wrong direction). Quantiles of
    bootstrap ranks are too narrow if systems are nearly equal. `beats` `[a, b]` is true if system a is significantly
    better than system b. Reference: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications
    to mobility across neighbourhoods and academic achievement across countries", section 3.

    >>> rank_intervals(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool))
    ((1, 2), (1, 3), (2, 3))
    """
    low, high = 1 + beats.sum(axis=0), len(beats) - beats.sum(axis=1)
    return tuple(zip(low.tolist(), high.tolist(), strict=True))


def top_group(beats: np.ndarray) -> tuple[bool, ...]:
    """Whether each system `[system]` may be the best, because no system is significantly better.

    The rank interval of such a system begins at 1. If no decision is wrong, the group contains all truly best systems
    (see `rank_intervals`). The group is empty only if each system is significantly worse than some other system, which
    can happen only if pairs have different instances. `beats` `[a, b]` is true if system a is significantly better than
    system b.

    >>> top_group(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool))
    (True, True, False)
    """
    return tuple(np.logical_not(beats.any(axis=0)).tolist())
