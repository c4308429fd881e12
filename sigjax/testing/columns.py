"""Tests for metrics that are not functions of sums: the metric's function is called on every resample.

The permutation test swaps, unit by unit, the numbers of two systems, after standardizing each system's columns if the
metric requests it. The bootstrap draws instances for all systems at once. If few units differ, all swaps are listed.
The work always runs on the CPU. Reference: Efron and Tibshirani (1993), chapters 6 and 15.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, cast

import numpy as np

from sigjax.exact.digits import PValue
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import MOST_LISTED_SIGNS, outcomes_p
from sigjax.exact.plans import NOT_KNOWN, Pair
from sigjax.metrics import (
    check_standards,
    check_weights,
    pair_rounding,
    sample_scores,
    standardized,
    system_roundings,
    what_is_exchanged,
)
from sigjax.records import Column, Columns, EvaluationRecord, SampleMetric, Settings
from sigjax.resample.extreme import Extreme
from sigjax.resample.gathered import (
    Function,
    can_compile,
    drawn_scores,
    outcome_scores,
    sorts_long,
    swap_scores,
)
from sigjax.resample.units import Sample, make_sample
from sigjax.run.context import Context, Run
from sigjax.run.costs import CALL, CALLED_NUMBER, CALLED_NUMBER_TOGETHER, COMPILING_METRIC, Cost
from sigjax.testing.intervals import bootstraps
from sigjax.testing.permutation import add_up
from sigjax.testing.problem import (
    ExceedCounter,
    Hypotheses,
    NotExact,
    Problem,
    check_finite,
    exact_columns,
    over_budget,
)
from sigjax.testing.uncertainty import Pieces

NOT_SUMS = "the metric is not a function of sums"


@dataclass(frozen=True, eq=False, slots=True)
class SamplePlan:
    """Which pairs are tested without sampling, which pairs are sampled, and how to call the metric's function."""

    function: Function
    differing: dict[Pair, np.ndarray]
    """A dict from each pair that is tested without sampling to the units on which its two systems differ."""
    sampled: dict[Pair, NotEligible]
    """A dict from each pair that is sampled to the reason why it has no exact test."""
    cost: Cost


@dataclass(frozen=True, eq=False)
class ColumnsProblem(Problem):
    """The problem of a metric that takes whole columns of numbers, and is not a function of sums."""

    units: Sample
    metric: SampleMetric
    hypotheses: Hypotheses
    settings: Settings

    @classmethod
    def of_evaluation(cls, evaluation: EvaluationRecord, settings: Settings, members: np.ndarray) -> ColumnsProblem:
        """Make the problem of an evaluation for the pairs `members` `[pair, 2]`, see `tests.problem_of`."""
        metric, given = evaluation.metric, make_sample(evaluation)
        assert isinstance(metric, SampleMetric)
        sample = replace(given, columns=standardized(metric, given.columns))
        check_standards(metric, given.columns, sample.columns)
        check_weights(metric, sample.columns)
        scores, errors = sample_scores(metric, sample.columns), system_roundings(metric, sample.columns)
        return cls(sample, metric, Hypotheses.of(members, scores, errors, evaluation.systems), settings)

    def of_pair(self, systems: Pair) -> Self:
        """The problem of only these two systems, on the same units and with the same resamples."""
        units = replace(self.units, columns=self.units.columns[list(systems)])
        return replace(self, units=units, hypotheses=self.hypotheses.of_systems(systems))

    @cached_property
    def plan(self) -> SamplePlan:
        """The plan of all calls of the metric's function."""
        return planned(self, draws=bootstraps(self))

    def jackknife_scores(self) -> np.ndarray:
        """Scores of all systems without one unit at a time, `[system, unit]`."""
        kept = (np.flatnonzero(self.units.unit != unit) for unit in range(len(self.units.strata)))
        with np.errstate(all="ignore"):
            columns = [sample_scores(self.metric, self.units.columns[:, :, instances]) for instances in kept]
        without = np.stack(columns, axis=1)
        check_finite(without)
        return without

    def swap_tolerance(self, pair: Pair) -> float:
        """Two deltas of this pair are ties if they differ by at most this, whichever units are swapped.

        The result is 4 times a bound on the rounding error of a score, because two deltas contain four rounded scores.
        """
        return 4.0 * pair_rounding(self.metric, *self.units.columns[list(pair)])


def planned(problem: ColumnsProblem, *, draws: bool) -> SamplePlan:
    """Plan the permutation tests and the calls of the metric's function.

    If `draws` is true, the calls by the bootstrap are included.
    """
    settings, permuted = problem.settings, "permutation" in problem.settings.tests
    differing = {pair: _differing(problem, pair) for pair in problem.hypotheses.pairs if permuted}
    sampled = {pair: why for pair, units in differing.items() if (why := _why_sampled(problem, pair, len(units)))}
    calls = sum(
        2.0 * settings.fixed_resamples if pair in sampled else 2.0 ** len(differing[pair]) for pair in differing
    )
    calls += float(_num_draws(problem)) if draws else 0.0
    function = _function(problem, calls)
    a_call = _call_cost(problem, together=function.compiled or function.vectorized)
    costs = {pair: a_call * 2.0 ** len(units) for pair, units in differing.items() if pair not in sampled}
    sampled |= over_budget(costs, settings)
    differing = {pair: units for pair, units in differing.items() if pair not in sampled}
    return SamplePlan(function, differing, sampled, a_call * calls)


def exact_permutation(problem: ColumnsProblem, context: Context) -> Columns:
    """The result columns of the exact tests of all pairs.

    A text for each pair says why it has, or has not, an exact test, and what a swap exchanges.
    """
    exchanged, sampled = what_is_exchanged(problem.metric), problem.plan.sampled
    p_values, reasons = list[PValue](), list[str]()
    with context.progress_bar("exact tests", len(problem.hypotheses.pairs)) as advance:
        for pair in problem.hypotheses.pairs:
            why = sampled.get(pair)
            p_value, reason = (NOT_KNOWN, why.reason) if why else _exact(problem, pair)
            p_values.append(p_value)
            reasons.append(reason + exchanged)
            advance(len(reasons))
    return exact_columns(p_values, Column.of(reasons))


def swap_counter(problem: ColumnsProblem, indices: np.ndarray, run: Run) -> ExceedCounter:
    """Return a function that counts extreme swaps, for the pairs at these positions in the problem.

    A swap is extreme if its delta is at least as extreme as the observed delta.
    """
    sampled = [problem.hypotheses.pair(index) for index in indices]
    deltas, tolerances = (
        problem.hypotheses.deltas[indices],
        np.array([problem.swap_tolerance(pair) for pair in sampled]),
    )

    def count(indices: np.ndarray, start: int, end: int) -> np.ndarray:
        pairs = [sampled[int(index)] for index in indices]
        criterion = Extreme(deltas[indices], tolerances[indices], problem.settings.alternative)

        def pieces(subrun: Run) -> Iterator[tuple[int, np.ndarray]]:
            mine = range(subrun.start, subrun.resamples)
            scored = swap_scores(problem.plan.function, problem.units, pairs, run.seed, range(start, end), mine)
            for begin, scores in _advancing(scored, subrun):
                found = scores[:, 0] - scores[:, 1]
                check_finite(found, pairs)
                yield begin, np.asarray(criterion.met(found)).sum(axis=1)

        return add_up(pieces, len(pairs), start, end, run)

    return count


def replicates(problem: ColumnsProblem, run: Run) -> Pieces:
    """Yield the bootstrap scores of all systems, piece by piece, as (first resample, scores `[system, resample]`)."""
    function = problem.plan.function if bootstraps(problem) else _function(problem, float(_num_draws(problem)))
    whole, mine = range(problem.settings.fixed_resamples), range(run.start, run.resamples)
    return _advancing(drawn_scores(function, problem.units, run.seed, whole, mine), run)


def _differing(problem: ColumnsProblem, pair: Pair) -> np.ndarray:
    """The units on which two systems differ."""
    a, b = problem.units.columns[list(pair)]
    return np.unique(problem.units.unit[(a != b).any(axis=0)])


def _why_sampled(problem: ColumnsProblem, pair: Pair, num_coins: int) -> NotEligible | None:
    method = problem.settings.method
    if method == "montecarlo":
        return NotEligible("as asked")
    if num_coins <= MOST_LISTED_SIGNS and method in ("auto", "exact"):
        return None
    reason = NOT_SUMS if method in ("dp", "tree") else f"{NOT_SUMS}, and more than {MOST_LISTED_SIGNS} units differ"
    if method != "auto":
        raise NotExact(pair, reason)
    return NotEligible(reason)


def _exact(problem: ColumnsProblem, pair: Pair) -> tuple[PValue, str]:
    """Return the exact p-value of a pair, and the reason why it has an exact test.

    All swaps of the few units on which the systems differ are listed.
    """
    plan = problem.plan
    differing = plan.differing[pair]
    if not differing.size:
        return (1.0, 0.0, 0.0), "the systems are identical"
    pieces = [scores for _, scores in outcome_scores(plan.function, problem.units, pair, differing)]
    a, b = np.concatenate(pieces, axis=1)
    check_finite((a - b)[None], [pair])
    # The same program computes the observed delta, so that the observed swap counts as extreme.
    observed, tolerance = a[:1] - b[:1], np.array([problem.swap_tolerance(pair)])
    criterion = Extreme(observed, tolerance, problem.settings.alternative, problem.settings.mid_p).checked()
    found = outcomes_p((a - b)[None], criterion, differing.size)
    first, second = problem.units.columns[list(pair)]
    names = np.array(problem.metric.inputs)[(first != second).any(axis=1)]
    return found, f"few units differ ({', '.join(names)})"


def _function(problem: ColumnsProblem, calls: float) -> Function:
    """The metric's function; compiled if that saves time in this many `calls`, and if JAX can trace it."""
    metric = problem.metric
    hashable = isinstance(cast("object", metric.function), Hashable)
    call: Callable[..., Any] = metric.function if hashable else partial(metric.function)
    num_arrays, num_instances = len(metric.inputs) + metric.weighted, problem.units.columns.shape[2]
    much = (_call_cost(problem, together=False) * calls).seconds > COMPILING_METRIC.seconds
    vectorized = metric.weighted and metric.vectorized
    compiled = much and can_compile(call, num_arrays, num_instances, vectorized=vectorized)
    if much and not (compiled or vectorized):
        warnings.warn(
            f"JAX cannot compile the metric {metric.name!r}; calling it resample by resample. Array operators "
            "alone would be faster",
            RuntimeWarning,
            stacklevel=2,
        )
    if compiled and not metric.weighted and sorts_long(call, num_arrays, num_instances):
        compiled = False
    return Function(call, metric.weighted, compiled, vectorized)


def _call_cost(problem: ColumnsProblem, *, together: bool) -> Cost:
    """The cost of the score of a resample: one call per resample, or (`together`) one call for many resamples."""
    numbers = math.prod(problem.units.columns.shape[1:])
    return CALLED_NUMBER_TOGETHER * numbers if together else CALL + CALLED_NUMBER * numbers


def _num_draws(problem: ColumnsProblem) -> int:
    """The number of calls of the metric's function for the bootstrap: one per system and resample."""
    return problem.settings.fixed_resamples * len(problem.units.columns)


def _advancing(pieces: Pieces, run: Run) -> Pieces:
    """Yield the same pieces of replicates, and report the progress after each piece."""
    for start, scores in pieces:
        yield start, scores
        run.advance(start + scores.shape[-1])
