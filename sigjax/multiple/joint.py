"""Step-down maxT over the pairs of several metrics together: all of them meet the same swaps.

The statistics are those of `maxt`, which have no unit, so that metrics of any scale go together. Units, strata and
seed are the same for all metrics of a report, and so are the masks. Sums come from the device, scores from NumPy.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.multiple.maxt import StepDown, Steps, in_order, standardised, step_down
from sigjax.permutation.montecarlo import add_up, swap_problem
from sigjax.resample.engine import Run
from sigjax.resample.sampling import Problem, deltas_of, pieces_of, swapped_sums
from sigjax.resample.tally import Pairs, statistic
from sigjax.testing.outcome import Case, NotFinite


class Swapped(NamedTuple):
    """All pairs of several metrics, and what swaps them."""

    cases: Sequence[Case]
    problems: list[Problem]
    """[metric]"""
    pairs: list[Pairs]
    """[metric]"""
    places: list[tuple[int, int]]
    """[hypothesis] (metric, place of the pair), metric by metric."""

    def sums(self, run: Run) -> list[np.ndarray]:
        """Sums `[column, resample]` of each metric on the resamples of the run, which is told once they are all done.

        All metrics meet the same masks.
        """
        *others, last = self.problems
        quiet = run._replace(advance=lambda done: None)
        return [*(swapped_sums(problem, quiet) for problem in others), swapped_sums(last, run)]

    def statistics(self, sums: Sequence[np.ndarray], hypothesis: int) -> np.ndarray:
        """What is large where delta is extreme, `[resample]`, for one hypothesis.

        Raises:
            NotFinite: the metric gave NaN or infinity.
        """
        metric, place = self.places[hypothesis]
        case, problem = self.cases[metric], self.problems[metric]
        deltas = deltas_of(sums[metric], self.pairs[metric], place, problem.divisors, case.metric.score)
        if not np.isfinite(deltas).all():
            raise NotFinite(case.question.pair(place), metric)
        return statistic(deltas, case.settings.alternative)


def num_columns(cases: Sequence[Case]) -> int:
    """How many sums a resample has at most, in all metrics."""
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
    steps = Steps(*map(np.concatenate, zip(*_steps(cases), strict=True)))
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


def _steps(cases: Sequence[Case]) -> list[Steps]:
    found = []
    for metric, case in enumerate(cases):
        try:
            found.append(standardised(case))
        except NotFinite as error:
            raise NotFinite(error.systems, metric) from None
    return found
