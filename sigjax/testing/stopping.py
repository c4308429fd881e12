r"""`resamples="auto"`: when a Monte Carlo test may stop, what it then knows of p, and which p-value it reports.

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

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sigjax.records import Settings
from sigjax.records.corrections import adjust
from sigjax.testing.tails import clopper_pearson

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
