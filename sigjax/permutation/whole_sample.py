"""Metrics that are not functions of sums: every resample is computed anew, by calling the function.

The permutation test swaps the columns of two systems, standardized where the metric says so; the bootstrap draws
instances for all systems at once. Where few units differ, all swaps are tried. Reference: Efron and Tibshirani (1993),
chapters 6 and 15.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Criterion, outcomes_p
from sigjax.exact.signs import MOST_SIGNS
from sigjax.metrics import pair_rounding, what_is_exchanged
from sigjax.permutation.exact import over_budget
from sigjax.permutation.montecarlo import add_up
from sigjax.resample.engine import Run
from sigjax.resample.gathered import (
    Function,
    Pieces,
    can_compile,
    drawn_scores,
    outcome_scores,
    sorts_long,
    swap_scores,
)
from sigjax.resample.tally import extreme
from sigjax.testing.p_values import Outcome
from sigjax.testing.problem import NotExact, Pair, SampleCase, check_finite
from sigjax.testing.stopping import Count

NOT_SUMS = "the metric is not a function of sums"
_SMALL_WORK_SECONDS = 2.0
"""Work that NumPy finishes sooner than this is not worth compiling."""
_CALL, _INSTANCE, _TOGETHER = 2e-5, 2e-8, 1.5e-8
"""Nominal seconds of a call in NumPy, and for each number that it gets, one by one or many resamples together."""


class SamplePlan(NamedTuple):
    """Which pairs are tested without sampling, and how the function is called."""

    function: Function
    coins: dict[Pair, np.ndarray]
    """For each pair tested without sampling, the units that differ."""
    sampled: dict[Pair, NotEligible]
    """For each other pair, why it is sampled."""
    seconds: float
    """Nominal."""


def plan_sample(case: SampleCase, *, draws: bool) -> SamplePlan:
    """Plan the permutation test, and the calls of the function; `draws` are bootstrap resamples.

    Raises:
        NotExact: an exact method was asked for, and a pair has no exact test.
    """
    settings, permuted = case.settings, "permutation" in case.settings.tests
    coins = {pair: _differing(case, pair) for pair in case.question.pairs if permuted}
    sampled = {pair: why for pair, each in coins.items() if (why := _why_sampled(case, pair, len(each)))}
    calls = sum(2.0 * settings.fixed_resamples if pair in sampled else 2.0 ** len(coins[pair]) for pair in coins)
    calls += float(_num_draws(case)) if draws else 0.0
    function = _function(case, calls)
    a_call = _call_seconds(case, together=function.compiled or function.vectorized)
    costs = {pair: 2.0 ** len(each) * a_call for pair, each in coins.items() if pair not in sampled}
    sampled |= over_budget(costs, settings)
    coins = {pair: each for pair, each in coins.items() if pair not in sampled}
    return SamplePlan(function, coins, sampled, calls * a_call)


def exact_sample(case: SampleCase, plan: SamplePlan) -> list[Outcome | NotEligible]:
    """The test of each pair without sampling, or why there is none; reasons say what is exchanged.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    exchanged = what_is_exchanged(case.metric)
    found = [_exact(case, plan, pair) if pair in plan.coins else plan.sampled[pair] for pair in case.question.pairs]
    return [each._replace(reason=each.reason + exchanged) for each in found]


def sample_counter(case: SampleCase, plan: SamplePlan, tested: np.ndarray, run: Run) -> Count:
    """As `montecarlo.swap_counter`."""
    sampled = [case.question.pair(place) for place in tested]
    deltas, tolerances = case.question.deltas[tested], np.array([_tolerance(case, pair) for pair in sampled])

    def count(places: np.ndarray, start: int, end: int) -> np.ndarray:
        pairs = [sampled[place] for place in places]
        delta, tolerance = deltas[places, None], tolerances[places, None]

        def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
            mine = range(part.start, part.resamples)
            scored = swap_scores(plan.function, case.units, pairs, run.seed, range(start, end), mine)
            for begin, scores in _advancing(scored, part):
                found = scores[:, 0] - scores[:, 1]
                check_finite(found, pairs)
                yield begin, extreme(found, delta, tolerance, case.settings.alternative).sum(axis=1)

        return add_up(pieces, len(pairs), start, end, run)

    return count


def sample_replicates(case: SampleCase, run: Run, plan: SamplePlan | None = None) -> Pieces:
    """Scores of all systems on the same bootstrap resamples, piece by piece, as `SharedDraws.pieces` gives them."""
    function = _function(case, float(_num_draws(case))) if plan is None else plan.function
    whole, mine = range(case.settings.fixed_resamples), range(run.start, run.resamples)
    return _advancing(drawn_scores(function, case.units, run.seed, whole, mine), run)


def _differing(case: SampleCase, pair: Pair) -> np.ndarray:
    """The units on which two systems differ."""
    a, b = case.units.columns[list(pair)]
    return np.unique(case.units.unit[(a != b).any(axis=0)])


def _why_sampled(case: SampleCase, pair: Pair, num_coins: int) -> NotEligible | None:
    method = case.settings.method
    if method == "montecarlo":
        return NotEligible("as asked")
    if num_coins <= MOST_SIGNS and method in ("auto", "exact"):
        return None
    reason = NOT_SUMS if method in ("dp", "tree") else f"{NOT_SUMS}, and more than {MOST_SIGNS} units differ"
    if method != "auto":
        raise NotExact(pair, reason)
    return NotEligible(reason)


def _exact(case: SampleCase, plan: SamplePlan, pair: Pair) -> Outcome:
    """The test of a pair from all swaps of the few units that differ."""
    coins = plan.coins[pair]
    if not coins.size:
        return Outcome(1.0, 0.0, "exact", "the systems are identical", None, 0.0)
    pieces = [scores for _, scores in outcome_scores(plan.function, case.units, pair, coins)]
    a, b = np.concatenate(pieces, axis=1)
    check_finite((a - b)[None], [pair])
    # The observed delta as the same program computes it: it is as extreme as itself.
    observed, tolerance = a[:1] - b[:1], np.array([_tolerance(case, pair)])
    asked = Criterion(observed, tolerance, case.settings.alternative, case.settings.mid_p)
    found = outcomes_p((a - b)[None], asked, coins.size)
    first, second = case.units.columns[list(pair)]
    names = np.array(case.metric.inputs)[(first != second).any(axis=1)]
    reason = f"few units differ ({', '.join(names)})"
    return Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound)


def _tolerance(case: SampleCase, pair: Pair) -> float:
    """Deltas of two systems closer than this, with any instances exchanged, are ties: four scores were rounded."""
    return 4.0 * pair_rounding(case.metric, *case.units.columns[list(pair)])


def _num_draws(case: SampleCase) -> int:
    """How often the function is called for bootstrap resamples."""
    return case.settings.fixed_resamples * len(case.units.columns)


def _function(case: SampleCase, calls: float) -> Function:
    """The function, compiled where so many calls are worth it and JAX takes it."""
    metric = case.metric
    call = metric.function if isinstance(metric.function, Hashable) else partial(metric.function)
    num_arrays, num_instances = len(metric.inputs) + metric.weighted, case.units.columns.shape[2]
    much = calls * _call_seconds(case, together=False) > _SMALL_WORK_SECONDS
    vectorized = metric.weighted and metric.vectorized
    compiled = much and can_compile(call, num_arrays, num_instances, vectorized=vectorized)
    if much and not (compiled or vectorized):
        warnings.warn(
            f"JAX cannot compile the metric {metric.name!r}; calling it resample by resample. Array operators alone "
            "would be faster",
            RuntimeWarning,
            stacklevel=2,
        )
    if compiled and not metric.weighted and sorts_long(call, num_arrays, num_instances):
        compiled = False
    return Function(call, metric.weighted, compiled, vectorized)


def _call_seconds(case: SampleCase, *, together: bool) -> float:
    """Nominal seconds of the score of one resample, by one call or by that of many resamples together."""
    numbers = math.prod(case.units.columns.shape[1:])
    return _TOGETHER * numbers if together else _CALL + _INSTANCE * numbers


def _advancing(pieces: Pieces, run: Run) -> Pieces:
    """The same pieces; progress is reported after each."""
    for start, scores in pieces:
        yield start, scores
        run.advance(start + scores.shape[-1])
