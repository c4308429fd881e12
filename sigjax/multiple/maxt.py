r"""Westfall-Young step-down maxT: p-values of all pairs adjusted together, from the same swaps.

The statistic of a pair is $t = |\delta| / s$ (with its sign in one-sided tests), where s is the standard deviation that
delta has under swaps, to first order:

$$s^2 = \sum_i \big(\mathrm{score}(M + D_i / 2) - \mathrm{score}(M - D_i / 2)\big)^2, \quad D_i = s_{a,i} - s_{b,i},
\quad M = (T_a + T_b) / 2$$

A swap of unit i changes the sign of $D_i$ and leaves M alone, so s is the same on every resample; for means this is
exact. Dividing by it lets a pair of alike systems, whose delta varies little, count as much as a pair of unlike ones.

With the pairs in descending order of t, $e_j$ is the number of K resamples on which $\max_{k \ge j} t^*_k \ge t_j$, and
the adjusted p-value is $\max_{i \le j} (e_i + 1) / (K + 1)$.

*What it bounds.* A resample swaps the same units of every pair. Take the pairs whose null hypotheses are true: if
swapping any unit, of all of them together, leaves the joint law of their differences as it is (symmetry about 0), the
familywise error is at most alpha, for every K and whatever holds of the other pairs, because a maximum over more pairs
is never smaller (Romano and Wolf 2005). For one pair that is just its null hypothesis. For several it asks for more,
and where it does not hold, the error is alpha but for what vanishes with the number of units: on the resamples the
deltas have the covariances that they have.

*Several metrics.* The statistics have no unit, so metrics of any scale go together. Units, strata and seed are the same
for all metrics of a report, and so are the swaps. Sums then come from the device, and scores from NumPy.

References: Westfall and Young (1993), "Resampling-based multiple testing", algorithm 4.1; Romano and Wolf (2005),
"Exact and approximate stepdown methods for multiple hypothesis testing".
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.permutation.montecarlo import add_up, swap_problem
from sigjax.records import InputError
from sigjax.resample.engine import Run
from sigjax.resample.sampling import Problem, count_swaps, deltas_of, pieces_of, swapped_sums
from sigjax.resample.tally import Ladder, Pairs, statistic
from sigjax.testing.problem import Case, Pair, check_finite
from sigjax.units.sums import norms

_ROUNDING = 1e-12
"""Statistics of two pairs that differ by less than this part of themselves are ties: the scales are rounded, too. For
few units the rounding of deltas is more than that; for many, a tie with another pair is no resample's."""
_CACHED = 2**20
"""Numbers of units that are scored together."""


class StepDown(NamedTuple):
    """What a step-down procedure counts over a family; every field `[pair]`, metric by metric."""

    exceed: np.ndarray
    """int64: on how many resamples the most extreme of this pair and all less extreme ones reaches this pair."""
    order: np.ndarray
    """Positions of the pairs, the least extreme one first."""

    def adjusted(self, p_values: np.ndarray) -> np.ndarray:
        """The largest of the p-values `[pair]` of the steps down to each pair, `[pair]`.

        Example:
            >>> StepDown(np.array([0, 1, 4]), np.array([2, 0, 1])).adjusted(np.array([0.1, 0.2, 0.5]))
            array([0.2, 0.2, 0.5])
        """
        found = np.empty(len(p_values))
        found[self.order] = np.maximum.accumulate(p_values[self.order][::-1])[::-1]
        return found


def maxt(case: Case, run: Run) -> StepDown:
    """What step-down maxT counts over the pairs of one metric, all on the device.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: a delta that single units do not change.
    """
    question, alternative = case.question, case.settings.alternative
    problem, packed = swap_problem(case, slice(None), run)
    steps = standardised(case)
    order, limit = in_order(steps)
    left, right, totals_a, totals_b = (part[order] for part in packed[:4])
    ladder = Ladder(left, right, totals_a, totals_b, steps.scale[order], limit)

    def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
        found = count_swaps(problem, ladder, part, score=case.metric.score, alternative=alternative)
        for begin, exceed, finite in found:
            check_finite(finite, question.members[order])
            yield begin, exceed

    return step_down(add_up(pieces, len(order), 0, run.resamples, run), order)


class Steps(NamedTuple):
    """What makes the statistic of each pair; every field `[pair]` float64."""

    observed: np.ndarray
    """The observed statistic."""
    scale: np.ndarray
    """1 / standard deviation of delta under swaps, or 0 where there is none."""
    rounding: np.ndarray
    """Rounding error of a statistic."""


def standardised(case: Case, metric: int = 0) -> Steps:
    """The statistics of all pairs of a metric, whose position among several is `metric`.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: a delta that single units do not change.
    """
    question, deviations = case.question, _deviations(case, metric)
    with np.errstate(divide="ignore"):
        scale = np.where(deviations > 0.0, 1.0 / deviations, 0.0)
    return Steps(statistic(question.deltas, case.settings.alternative) * scale, scale, question.rounding * scale)


def in_order(steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the pairs, ascending by statistic, and in this order what a maximum must reach."""
    order = np.argsort(steps.observed, kind="stable")
    # A maximum may come from any pair so far, and is as uncertain as that one.
    rounding = np.maximum.accumulate(steps.rounding[order])
    observed = steps.observed[order]
    return order, observed - rounding - _ROUNDING * abs(observed)


def step_down(counts: np.ndarray, order: np.ndarray) -> StepDown:
    """Counts by pair, from counts in ascending order of the statistics.

    Example:
        >>> step_down(np.array([4, 0, 1]), np.array([2, 0, 1])).exceed
        array([0, 1, 4])
    """
    exceed = np.empty_like(counts)
    exceed[order] = counts
    return StepDown(exceed, order)


def _deviations(case: Case, metric: int) -> np.ndarray:
    """Standard deviations `[pair]` of delta under swaps, to first order; 0 where they are mere rounding."""
    question = case.question
    deviations = np.array([_deviation(case, pair) for pair in question.pairs])
    check_finite(deviations, question.members, metric)
    varies = deviations > question.rounding
    if (~varies & (np.abs(question.deltas) > question.rounding)).any():
        raise InputError(
            f"correction maxt needs a score that single instances change, and {case.metric.name!r} is none; use holm"
        )
    return np.where(varies, deviations, 0.0)


def _deviation(case: Case, pair: Pair) -> float:
    units, (a, b) = case.units, pair
    middle, num_units = (units.totals[a] + units.totals[b]) / 2.0, units.values.shape[1]
    width = max(1, _CACHED // units.values.shape[2])
    steps = np.empty(num_units)
    for start in range(0, num_units, width):
        part = slice(start, start + width)
        half = (units.values[a, part] - units.values[b, part]) / 2.0
        high, low = case.scores(np.stack([middle + half, middle - half]))
        with np.errstate(all="ignore"):
            steps[part] = high - low
    return float(norms(steps))


class Swapped(NamedTuple):
    """All pairs of several metrics, and what swaps them."""

    cases: Sequence[Case]
    problems: list[Problem]
    """[metric]"""
    pairs: list[Pairs]
    """[metric]"""
    places: list[tuple[int, int]]
    """[hypothesis] (metric, position of the pair), metric by metric."""

    def sums(self, run: Run) -> list[np.ndarray]:
        """Sums `[column, resample]` of each metric, on the same swaps."""
        *others, last = self.problems
        quiet = run._replace(advance=lambda done: None)
        return [*(swapped_sums(problem, quiet) for problem in others), swapped_sums(last, run)]

    def statistics(self, sums: Sequence[np.ndarray], hypothesis: int) -> np.ndarray:
        """The statistic of one hypothesis, `[resample]`: large where delta is extreme.

        Raises:
            NotFinite: the metric gave NaN or infinity.
        """
        metric, place = self.places[hypothesis]
        case, problem = self.cases[metric], self.problems[metric]
        deltas = deltas_of(sums[metric], self.pairs[metric], place, problem.divisors, case.metric.score)
        check_finite(deltas[None], [case.question.pair(place)], metric)
        return statistic(deltas, case.settings.alternative)


def num_columns(cases: Sequence[Case]) -> int:
    """The largest number of sums per resample, over all metrics."""
    return sum(len(case.units.values) * case.units.values.shape[2] for case in cases)


def swapped(cases: Sequence[Case], run: Run) -> Swapped:
    """All pairs of these metrics, to be swapped together."""
    found = [swap_problem(case, slice(None), run) for case in cases]
    places = [(metric, place) for metric, case in enumerate(cases) for place in range(len(case.question.members))]
    return Swapped(cases, [problem for problem, _ in found], [pairs for _, pairs in found], places)


def joint_maxt(cases: Sequence[Case], run: Run) -> StepDown:
    """What step-down maxT counts over the pairs of several metrics.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        InputError: a delta that single units do not change.
    """
    together = swapped(cases, run)
    of_metrics = [standardised(case, metric) for metric, case in enumerate(cases)]
    steps = Steps(*map(np.concatenate, zip(*of_metrics, strict=True)))
    order, limit = in_order(steps)

    def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
        for piece in pieces_of(part, num_columns(cases)):
            sums, exceed = together.sums(piece), np.zeros(len(order), np.int64)
            largest = np.full(piece.resamples - piece.start, -np.inf)
            for rank, hypothesis in enumerate(order.tolist()):
                found = together.statistics(sums, hypothesis) * steps.scale[hypothesis]
                np.maximum(largest, found, out=largest)
                exceed[rank] = np.count_nonzero(largest >= limit[rank])
            yield piece.start, exceed

    return step_down(add_up(pieces, len(order), 0, run.resamples, run), order)
