"""The distribution of delta for two systems, under the null hypothesis or on bootstrap resamples.

The distribution is exact if it can be computed quickly. Else it comes from the first resamples of the seed, as many as
NumPy draws in about a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sigjax.exact.bootstrap import sum_distribution
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import few_units, listing_cost, sign_distribution
from sigjax.records import Test
from sigjax.resample.engine import deltas_of, swapped_sums
from sigjax.resample.extreme import Extreme
from sigjax.resample.gathered import outcome_scores, swap_scores
from sigjax.resample.tally import null_replicates
from sigjax.run.context import Run
from sigjax.run.costs import Cost
from sigjax.testing.bootstrap import plan_bootstrap
from sigjax.testing.columns import ColumnsProblem, planned
from sigjax.testing.permutation import exchanged_deltas, pair_deltas, swap_problem
from sigjax.testing.problem import Problem, SumsProblem, draw_cost, scores_at, swap_cost
from sigjax.testing.tests import replicates

_MOST_RESAMPLES, _FEWEST_RESAMPLES, _OF_SAMPLES = 2**13, 2**10, 2**10
"""A sampled distribution of deltas has at most `_MOST_RESAMPLES` and at least `_FEWEST_RESAMPLES` resamples (fewer if
the settings request fewer). If the metric is not a function of sums, it has at most `_OF_SAMPLES` resamples."""
_SECONDS = 1.0
"""Sampling a distribution may take at most this many nominal seconds (the estimated time of NumPy on one slow core)."""
_EXACT_SECONDS = 0.1
"""Listing all deltas may take at most this many nominal seconds (the estimated time of NumPy on one slow core), enough
for a million values."""
_FEW_DIFFERING = 13
"""Limit for listing all swaps if the metric is not a function of sums: the systems differ on at most this many
units."""


_BINS, _MOST_BINS = 48, 192
"""The middle 99.8% of a histogram of deltas has about `_BINS` bins; the whole histogram has at most about
`_MOST_BINS`."""
_MIDDLE = 0.001
_NEGLIGIBLE = 1e-9
"""At each end of a distribution, the deltas outside the bins have at most this probability in total."""
_SAME = 1e-9
"""Deltas that differ by less than this, relative to the largest delta, count as one value."""


@dataclass(frozen=True, eq=False, slots=True)
class DeltaDistribution:
    """The distribution of a pair's delta, under the null hypothesis or on bootstrap resamples."""

    deltas: np.ndarray
    """`[value]` the possible deltas (score_a - score_b); if deltas are sampled, the delta of each resample."""
    chances: np.ndarray
    """`[value]` the probability of each delta. If deltas are sampled, each resample has the weight 1 instead."""
    resamples: int | None
    """The number of resamples; None if the distribution is exact."""


def sampled_distribution(deltas: np.ndarray) -> DeltaDistribution:
    """The distribution of sampled `deltas` `[resample]`, in which each resample counts equally."""
    return DeltaDistribution(deltas, np.ones(len(deltas)), len(deltas))


def null_deltas(problem: Problem) -> DeltaDistribution:
    """The distribution of delta under swaps, or under exchanges of outputs or runs, for a problem with one pair."""
    if isinstance(problem, ColumnsProblem):
        return _of_columns(problem)
    assert isinstance(problem, SumsProblem)
    if (listed := _listed_deltas(problem)) is not None:
        return DeltaDistribution(*listed, None)
    problem = _affordable(problem, swap_cost(problem, 1))
    run = _host_run(problem)
    swaps, packed = swap_problem(problem, np.array([0]), run)
    return sampled_distribution(deltas_of(swapped_sums(swaps, run), packed, 0, swaps.divisors, problem.metric.score))


def _of_columns(problem: ColumnsProblem) -> DeltaDistribution:
    problem = problem.with_resamples(min(_OF_SAMPLES, problem.settings.fixed_resamples))
    plan, every = planned(problem, draws=False), range(problem.settings.fixed_resamples)
    differing = plan.differing.get((0, 1))
    if differing is not None and 0 < len(differing) <= _FEW_DIFFERING:
        pieces = outcome_scores(plan.function, problem.units, (0, 1), differing)
        half = np.concatenate([scores[0] - scores[1] for _, scores in pieces])
        return DeltaDistribution(np.append(half, -half), np.full(2 * len(half), 0.5 / len(half)), None)
    pieces = swap_scores(plan.function, problem.units, [(0, 1)], problem.settings.seed, every, every)
    return sampled_distribution(np.concatenate([scores[0, 0] - scores[0, 1] for _, scores in pieces]))


def _listed_deltas(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray] | None:
    """All deltas and their probabilities, each `[value]`; None if there are too many, or if they cannot be listed."""
    if problem.settings.method == "montecarlo":
        return None
    if problem.exchanges != "units":
        return exchanged_deltas(problem, (0, 1), _EXACT_SECONDS)
    a, b = problem.units.values
    for lattice in (pair_lattice(a, b, problem.metric.stat_names), few_units(a, b)):
        if isinstance(lattice, Lattice) and listing_cost(lattice).seconds <= _EXACT_SECONDS:
            values, chances = sign_distribution(lattice)
            return pair_deltas(problem, [(0, 1)], lattice.basis[None])(*values.T[:, None])[0], chances
    return None


def bootstrap_deltas(pair: Problem, together: Callable[[], np.ndarray]) -> DeltaDistribution:
    """The distribution of a pair's delta on bootstrap resamples, without sampling if possible.

    `pair` is a problem with one pair. `together` returns the scores `[2, resample]` of both systems, drawn together
    with the scores of other systems. If the metric is not a function of sums, only the scores of these two systems are
    drawn, because every score needs a call.
    """
    if not isinstance(pair, SumsProblem):
        of_a, of_b = first_replicates(pair)
        return sampled_distribution(of_a - of_b)
    plan = NotEligible("as asked")
    if pair.settings.method != "montecarlo":
        plan = plan_bootstrap(pair, pair.equivalent_pairs, _SECONDS)
    if isinstance(plan, NotEligible):
        of_a, of_b = together()
        return sampled_distribution(of_a - of_b)
    of_sum = sum_distribution(plan.pairs[0, 1])
    values = of_sum.first + of_sum.step * np.arange(len(of_sum.probabilities), dtype=np.float64)
    *scores, origin = scores_at(pair, plan.stat, np.append(values, 0.0))
    return DeltaDistribution(np.array(scores) - origin, of_sum.probabilities, None)


def first_replicates(problem: Problem) -> np.ndarray:
    """Scores `[system, resample]` on as many bootstrap resamples as NumPy draws in about a second."""
    if isinstance(problem, SumsProblem):
        problem = _affordable(problem, draw_cost(problem))
    else:
        problem = problem.with_resamples(min(_OF_SAMPLES, problem.settings.fixed_resamples))
    return np.concatenate([scores for _, scores in replicates(problem, _host_run(problem))], axis=1)


def _affordable(problem: SumsProblem, cost: Cost) -> SumsProblem:
    """Reduce the resamples of a problem until they take at most `_SECONDS`; `cost` is the cost before the reduction."""
    resamples, a_resample = _MOST_RESAMPLES, cost.seconds / problem.settings.fixed_resamples
    while resamples > _FEWEST_RESAMPLES and resamples * a_resample > _SECONDS:
        resamples //= 2
    return problem.with_resamples(min(resamples, problem.settings.fixed_resamples))


def _host_run(problem: Problem) -> Run:
    return Run(problem.settings.fixed_resamples, problem.settings.seed)


def binned(pair: Problem, known: DeltaDistribution, test: Test) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a histogram of a pair's deltas, whose distribution is `known`, as three arrays.

    They are the edges of the bins `[bin + 1]`, the probability of each bin `[bin]`, and the probability of those deltas
    in each bin that are extreme in the `test`, `[bin]`.
    """
    settings, (delta, tolerance) = pair.settings, pair.hypotheses.observed([(0, 1)])
    nulls, middle, far = known.deltas, 0.0, abs(float(delta[0]))
    if test == "permutation":
        tolerance = np.array([pair.swap_tolerance((0, 1))])
    else:
        nulls, middle = np.asarray(null_replicates(known.deltas, delta, settings.variant)), float(delta[0])
    mid_p = settings.mid_p and test == "permutation" and known.resamples is None
    weights = known.chances * Extreme(delta, tolerance, settings.alternative, mid_p).weight(nulls[None])[0]
    edges = bin_edges(known.deltas, known.chances, middle - far, middle + far)
    sums = (np.histogram(known.deltas, edges, weights=each)[0] for each in (known.chances, weights))
    # A distribution from an FFT may have rounding noise below 0.
    probabilities, extreme = (np.maximum(each, 0.0) / (known.resamples or 1) for each in sums)
    return edges, probabilities, extreme


def bin_edges(deltas: np.ndarray, chances: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the edges of histogram bins `[bin + 1]` for deltas `[value]` with the probabilities `chances`.

    If possible, no bin has both deltas between `low` and `high` and deltas beyond (or equal to) these limits.

    If deltas are multiples of a step (differences of accuracies), all bins have the same number of possible values.

    >>> bin_edges(np.array([-0.5, 0.0, 0.5]), np.array([0.25, 0.5, 0.25]), -0.5, 0.5)
    array([-0.75, -0.25,  0.25,  0.75])
    """
    order = np.argsort(deltas)
    values, up_to = deltas[order], np.cumsum(chances[order]) / chances.sum()
    ends = np.searchsorted(up_to, [_NEGLIGIBLE, _MIDDLE, 1.0 - _MIDDLE, 1.0 - _NEGLIGIBLE])
    first, start, end, last = values[np.minimum(ends, len(values) - 1)]
    if first == last:
        half = abs(first) / 2.0 or 0.5
        return np.array([first - half, first + half])
    width = max((end - start) / _BINS, (last - first) / _MOST_BINS)
    if step := _step(values, width):
        inside = round((high - low) / step) - 1
        low += step / 2.0
        width = step * _near_divisor(inside, max(1, round(width / step)))
    elif num_bins := round((high - low) / width):
        width = (high - low) / num_bins
    below, above = int(np.ceil((low - first) / width)), int(np.floor((last - low) / width)) + 1
    return low + width * np.arange(-below, above + 1)


def _step(values: np.ndarray, width: float) -> float | None:
    """Return the smallest difference of neighbouring `values`, if all their differences are multiples of it.

    The values are ascending. Return None if this is not so, or if the smallest difference is far smaller than the
    `width` of a bin.
    """
    scale = _SAME * max(abs(values[0]), abs(values[-1]))
    gaps = np.diff(values)
    gaps = gaps[gaps > scale]
    step = float(gaps.min())
    if step < width / _BINS:
        return None
    times = gaps / step
    return step if (abs(times - np.round(times)) < 1e-3).all() else None


def _near_divisor(inside: int, size: int) -> int:
    """Return the divisor of `inside` that is nearest to `size`; `size` if none lies between 2/3 and 3/2 of `size`."""
    near = range(-(-2 * size // 3), 3 * size // 2 + 1)
    return min((bins for bins in near if inside % bins == 0), key=lambda bins: abs(bins - size), default=size)
