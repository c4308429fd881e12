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
swapping any unit, of all of them together, leaves the joint distribution of their differences as it is (symmetry about
0), the familywise error is at most alpha, for every K and whatever holds of the other pairs, because a maximum over
more pairs is never smaller (Romano and Wolf 2005). For one pair that is just its null hypothesis. For several it asks
for more, and where it does not hold, the error is alpha but for what vanishes with the number of units: on resamples
the deltas have the covariances that they have.

*Several metrics.* The statistics have no unit, so metrics of any scale go together. Units, strata and seed are the same
for all metrics of a report, and so are the swaps. Sums then come from the device, and scores from NumPy.

References: Westfall and Young (1993), "Resampling-based multiple testing", algorithm 4.1; Romano and Wolf (2005),
"Exact and approximate stepdown methods for multiple hypothesis testing".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.records import InputError
from sigjax.resample.engine import count_swaps, deltas_of, swapped_sums
from sigjax.resample.tally import Ladder, statistic
from sigjax.resample.units import norms
from sigjax.run.context import Context, Run
from sigjax.testing.hypotheses import Pair, check_finite
from sigjax.testing.permutation import add_up, swap_problem
from sigjax.testing.problem import SumsProblem, numpy_seconds

_ROUNDING = 1e-12
"""Statistics of two pairs that differ by less than this part of themselves are ties: the scales are rounded, too. For
few units the rounding of deltas is more than that; for many, a tie with another pair is no resample's."""
_CACHED = 2**20
"""Numbers of units that are scored together."""


@dataclass(frozen=True, slots=True)
class StepDown:
    """Counts of the step-down procedure over a family; every field `[pair]`, metric by metric."""

    exceed: np.ndarray
    """int64: on how many resamples the most extreme of this pair and all less extreme ones reaches this pair."""
    order: np.ndarray
    """Indices of the pairs, the least extreme one first."""

    @classmethod
    def of(cls, counts: np.ndarray, order: np.ndarray) -> "StepDown":
        """Counts by pair, from counts in ascending order of the statistics.

        >>> StepDown.of(np.array([4, 0, 1]), np.array([2, 0, 1])).exceed
        array([0, 1, 4])
        """
        exceed = np.empty_like(counts)
        exceed[order] = counts
        return cls(exceed, order)

    def adjusted(self, p_values: np.ndarray) -> np.ndarray:
        """The largest of the p-values `[pair]` of the steps down to each pair, `[pair]`.

        >>> StepDown(np.array([0, 1, 4]), np.array([2, 0, 1])).adjusted(np.array([0.1, 0.2, 0.5]))
        array([0.2, 0.2, 0.5])
        """
        adjusted = np.empty(len(p_values))
        adjusted[self.order] = np.maximum.accumulate(p_values[self.order][::-1])[::-1]
        return adjusted


def maxt(cases: Sequence[SumsProblem], context: Context) -> StepDown:
    """Step-down maxT over all pairs of one metric (on the device), or of several (sums on the device)."""
    first, settings, num_pairs = cases[0], cases[0].settings, len(cases[0].hypotheses.members)
    resamples, seed = settings.fixed_resamples, settings.seed
    if len(cases) == 1:
        context = context.sized(first.swap_seconds(num_pairs))
        with context.run(settings.correction, resamples, seed, compiles=first.metric) as run:
            return _of_metric(first, run)
    columns, units = num_columns(cases), len(first.units.strata)
    seconds = numpy_seconds(resamples=resamples, units=units, columns=columns, scored=0, counted=False)
    with context.sized(seconds).run(settings.correction, resamples, seed) as run:
        return _of_metrics(cases, run)


def _of_metric(case: SumsProblem, run: Run) -> StepDown:
    hypotheses, alternative = case.hypotheses, case.settings.alternative
    problem, packed = swap_problem(case, slice(None), run)
    observed, scale, rounding = _standardised(case)
    order, limit = _in_order(observed, rounding)
    left, right, totals_a, totals_b = (column[order] for column in packed[:4])
    ladder = Ladder(left, right, totals_a, totals_b, scale[order], limit)

    def pieces(shard: Run) -> Iterator[tuple[int, np.ndarray]]:
        counted = count_swaps(problem, ladder, shard, metric=case.metric, alternative=alternative)
        for begin, exceed, finite in counted:
            check_finite(finite, hypotheses.members[order])
            yield begin, exceed

    return StepDown.of(add_up(pieces, len(order), 0, run.resamples, run), order)


def _of_metrics(cases: Sequence[SumsProblem], run: Run) -> StepDown:
    swaps = [swap_problem(case, slice(None), run) for case in cases]
    pairs = [(metric, pair) for metric, case in enumerate(cases) for pair in range(len(case.hypotheses.members))]
    standardised = [_standardised(case, metric) for metric, case in enumerate(cases)]
    observed, scale, rounding = (np.concatenate(column) for column in zip(*standardised, strict=True))
    order, limit = _in_order(observed, rounding)

    def statistics(sums: Sequence[np.ndarray], hypothesis: int) -> np.ndarray:
        """The statistic of one hypothesis, `[resample]`: large where delta is extreme."""
        metric, pair = pairs[hypothesis]
        case, (problem, packed) = cases[metric], swaps[metric]
        deltas = deltas_of(sums[metric], packed, pair, problem.divisors, case.metric.score)
        check_finite(deltas[None], [case.hypotheses.pair(pair)], metric)
        return statistic(deltas, case.settings.alternative) * scale[hypothesis]

    def pieces(shard: Run) -> Iterator[tuple[int, np.ndarray]]:
        for piece in shard.blocks(num_columns(cases)):
            # All metrics meet the same swaps, and the last one moves the progress bar.
            quiet = replace(piece, advance=lambda done: None)
            sums = [swapped_sums(problem, quiet) for problem, _ in swaps[:-1]]
            sums.append(swapped_sums(swaps[-1][0], piece))
            largest, exceed = np.full(piece.resamples - piece.start, -np.inf), np.zeros(len(order), np.int64)
            for rank, hypothesis in enumerate(order.tolist()):
                np.maximum(largest, statistics(sums, hypothesis), out=largest)
                exceed[rank] = np.count_nonzero(largest >= limit[rank])
            yield piece.start, exceed

    return StepDown.of(add_up(pieces, len(order), 0, run.resamples, run), order)


def num_columns(cases: Sequence[SumsProblem]) -> int:
    """The largest number of sums per resample, over all metrics."""
    return sum(len(case.units.values) * case.units.values.shape[2] for case in cases)


def _in_order(observed: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the pairs, ascending by statistic `[pair]`, and in this order what a maximum must reach."""
    order = np.argsort(observed, kind="stable")
    # A maximum may come from any pair so far, and is as uncertain as that one.
    return order, observed[order] - np.maximum.accumulate(rounding[order]) - _ROUNDING * abs(observed[order])


def _standardised(case: SumsProblem, metric: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observed statistics, 1 / standard deviations of delta under swaps (0 where there is none), and rounding errors.

    Each is `[pair]`; `metric` is the index of the metric among several.
    """
    hypotheses = case.hypotheses
    deviations = np.array([_deviation(case, pair) for pair in hypotheses.pairs])
    check_finite(deviations, hypotheses.members, metric)
    varies = deviations > hypotheses.rounding
    if (~varies & (np.abs(hypotheses.deltas) > hypotheses.rounding)).any():
        raise InputError(
            f"correction maxt needs a score that single instances change, and {case.metric.name!r} is none; use holm"
        )
    with np.errstate(divide="ignore"):
        scale = np.where(varies, 1.0 / deviations, 0.0)
    observed = np.asarray(statistic(hypotheses.deltas, case.settings.alternative))
    return observed * scale, scale, hypotheses.rounding * scale


def _deviation(case: SumsProblem, pair: Pair) -> float:
    """Standard deviation of delta under swaps, to first order."""
    units, (a, b) = case.units, pair
    middle, num_units = (units.totals[a] + units.totals[b]) / 2.0, units.values.shape[1]
    width = max(1, _CACHED // units.values.shape[2])
    steps = np.empty(num_units)
    for start in range(0, num_units, width):
        block = slice(start, start + width)
        half = (units.values[a, block] - units.values[b, block]) / 2.0
        high, low = case.scores(np.stack([middle + half, middle - half]))
        with np.errstate(all="ignore"):
            steps[block] = high - low
    return float(norms(steps))
