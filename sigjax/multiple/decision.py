"""Would infinitely many resamples change the decision on a pair, and how many resamples are enough?

**The rule.** Every number that resamples estimate (the p-value of a sampled pair; for maxt the probability q of each
step) gets a Clopper-Pearson interval with error `ERROR` / (numbers of the family: the pairs of one metric, or of all
metrics of the report, as the settings say). No adjusted p-value falls when one of these numbers rises, so the adjusted
p-values of infinitely many resamples lie between the adjusted lower ends and the adjusted upper ends. A decision is
settled when both lie on the same side of alpha, and so does the reported one, which the intervals are widened to hold.

*Its error.* By the union bound, the probability that any settled decision of a family differs from that of infinitely
many resamples is at most `ERROR`, however the numbers depend on each other. `resamples="auto"` promises the same; its
intervals are those by which the test stopped. Exact p-values enter as they are; their decisions can be unsettled too,
as the correction takes all pairs.

*Settled pairs do nothing to others* as long as their numbers stay within their intervals. All corrections reject the k
smallest p-values, where k is the largest number for which certain counts "how many p-values are at most c_j" are large
enough (maxt: all steps before the first q from alpha on). If a move of one p-value changed k, it crossed a c_j between
the two k, and with it its own decision. So only pairs that are not settled are drawn more often in `resamples_needed`.

Reference: Gandy and Hahn (2014), "MMCTest: a safe algorithm for implementing multiple Monte Carlo tests".
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.multiple.westfall_young import StepDown
from sigjax.records import Settings
from sigjax.records.corrections import adjust
from sigjax.testing.p_values import ERROR, Outcomes, agree, bounds

MOST_RESAMPLES = 10**9
"""Numbers of resamples beyond this are not proposed."""
_MANTISSAS = (1, 2, 3, 5)
SETTLED = (False, True, None)


class Decisions(NamedTuple):
    """Which decisions are settled."""

    settled: np.ndarray
    """[pair] int8: index into `SETTLED`; None where the decision does not depend on resamples."""
    resamples_needed: np.ndarray
    """[pair] int64: the least of 1, 2, 3 and 5 times a power of ten that is expected to settle it; -1 where it is
    settled, or where `MOST_RESAMPLES` would not, and as above."""


class _Known(NamedTuple):
    """Bounds and estimates of the numbers that decide; arrays are `[pair]`."""

    low: np.ndarray
    high: np.ndarray
    estimate: np.ndarray
    sampled: np.ndarray
    """bool: whether the number is estimated from resamples."""
    resamples: int
    """The largest number of resamples behind an estimate."""
    adjusted: Callable[[np.ndarray], np.ndarray]
    """Numbers -> adjusted p-values."""


def decisions(outcomes: Outcomes, step_down: StepDown | None, settings: Settings) -> Decisions:
    """Whether the decisions of one family are settled, pair by pair (see the top of this file).

    `step_down` holds the counts of maxt over the family, where that is the correction.

    Example:
        >>> from sigjax.testing.p_values import Outcome
        >>> outcomes = Outcomes.of([Outcome((n + 1) / 1000, 0.0, "montecarlo", "", n) for n in (0, 60)])
        >>> decisions(outcomes, None, Settings(resamples=999))
        Decisions(settled=array([1, 0], dtype=int8), resamples_needed=array([   -1, 10000]))
    """
    sampled, p_values = outcomes.is_sampled, outcomes.p_value
    if step_down is None and not sampled.any():
        return Decisions(np.full(len(sampled), SETTLED.index(None), np.int8), np.full(len(sampled), -1))
    certain = np.zeros(len(sampled), bool)
    if step_down is not None:
        certain = ~sampled & (p_values >= settings.alpha)  # no adjusted p-value is below an exact one
        known = _of_counts(step_down.exceed, np.ones(len(sampled), bool), p_values, step_down.adjusted, settings)
    else:
        exceed = np.maximum(outcomes.exceed, 0)
        adjusted = partial(adjust, correction=settings.correction)
        if (outcomes.resamples >= 0).any():
            known = _of_stops(outcomes, adjusted)
        else:
            known = _of_counts(exceed, sampled, p_values, adjusted, settings)
    settled = agree(known.low, known.high, known.adjusted, settings.alpha)
    needed, settled = _needed(known, settled, settings.alpha), settled | certain
    return Decisions(settled.astype(np.int8), np.where(settled, -1, needed))


def known_bounds(outcomes: Outcomes) -> np.ndarray:
    """Bounds `[pair, 2]` of the p-values that infinitely many resamples would give; an exact one bounds itself."""
    return np.where((outcomes.resamples >= 0)[:, None], outcomes.bracket, outcomes.p_value[:, None])


def _of_stops(outcomes: Outcomes, adjusted: Callable[[np.ndarray], np.ndarray]) -> _Known:
    """The bounds by which a test has stopped."""
    sampled, resamples = outcomes.is_sampled, np.maximum(outcomes.resamples, 0)
    low, high = known_bounds(outcomes).T
    estimate = np.where(sampled, _estimate(np.maximum(outcomes.exceed, 0), resamples), outcomes.p_value)
    return _Known(low, high, estimate, sampled, int(resamples.max()), adjusted)


def _of_counts(
    exceed: np.ndarray,
    sampled: np.ndarray,
    p_values: np.ndarray,
    adjusted: Callable[[np.ndarray], np.ndarray],
    settings: Settings,
) -> _Known:
    """Intervals from the counts `[pair]` of a fixed number of resamples; other p-values are known."""
    resamples, count = settings.fixed_resamples, int(sampled.sum())
    share, reported = exceed / resamples, (exceed + 1) / (resamples + 1)

    def held(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.minimum(low, reported), np.maximum(high, reported)
        return np.where(sampled, low, p_values), np.where(sampled, high, p_values)

    # Clopper-Pearson intervals are within those of Hoeffding, which cost nothing and settle most pairs.
    width = math.sqrt(math.log(2.0 * count / ERROR) / (2.0 * resamples))
    low, high = held(np.maximum(share - width, 0.0), np.minimum(share + width, 1.0))
    close = sampled & ~agree(low, high, adjusted, settings.alpha)
    low[close], high[close] = bounds(exceed[close], resamples, count, (resamples,))
    low, high = held(low, high)
    estimate = np.where(sampled, _estimate(exceed, resamples), p_values)
    return _Known(low, high, estimate, sampled, resamples, adjusted)


def _estimate(exceed: np.ndarray, resamples: np.ndarray | int) -> np.ndarray:
    """Posterior mean of the share of hits under the Jeffreys prior; never 0 or 1."""
    return (exceed + 0.5) / (resamples + 1.0)


def _needed(known: _Known, settled: np.ndarray, alpha: float) -> np.ndarray:
    """Numbers of resamples `[pair]` expected to settle the open decisions; -1 for none."""
    found, waiting = np.full(len(settled), -1), ~settled
    moving = waiting & known.sampled
    if not waiting.any():
        return found
    from scipy.special import betaincinv

    tail = ERROR / (2.0 * int(known.sampled.sum()))
    for resamples in _numbers(known.resamples):
        low, high = known.estimate.copy(), known.estimate.copy()
        hits = known.estimate[moving] * resamples
        low[moving] = betaincinv(hits, resamples - hits + 1.0, tail)
        high[moving] = betaincinv(hits + 1.0, resamples - hits, 1.0 - tail)
        enough = waiting & agree(low, high, known.adjusted, alpha)
        found[enough], waiting[enough] = resamples, False
        if not waiting.any():
            break
    return found


def _numbers(above: int) -> Iterator[int]:
    """Numbers of resamples to propose, ascending."""
    power = 10 ** (len(str(above)) - 1)
    while power <= MOST_RESAMPLES:
        yield from (number for m in _MANTISSAS if above < (number := m * power) <= MOST_RESAMPLES)
        power *= 10
