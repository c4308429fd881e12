"""The paired permutation test by Monte Carlo (approximate randomization): all pairs on the same swaps.

Under the null hypothesis, the two outputs of a unit may be swapped. Reference: Yeh (2000), section 3.
"""

from collections.abc import Callable, Iterator

import numpy as np

from sigjax.records import Repeated, Settings
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.plans import draws_from_strata
from sigjax.resample.project import Projection, crossed_projection, distinct_columns, swap_projection
from sigjax.resample.sampling import Problem, count_swaps
from sigjax.resample.tally import Pairs
from sigjax.run.backend import most_bytes
from sigjax.run.checkpoint import State
from sigjax.testing.p_values import Outcomes, montecarlo_p
from sigjax.testing.problem import Case, NotFinite, check_finite, raise_together
from sigjax.testing.stopping import Count, count_until_settled
from sigjax.units.units import whole_runs

_FEW, _STEP = 16, 8
"""Few pairs all go on; of more, programs for fewer pairs are compiled only when `_STEP` times fewer are left."""


def counted_outcomes(
    count: Count, reasons: Repeated, exact: np.ndarray, settings: Settings, others: np.ndarray | None
) -> Outcomes:
    """Outcomes of the sampled pairs: of a fixed number of resamples, or until their decisions are settled.

    Args:
        count: counts extreme resamples.
        reasons: `[pair]` why each is sampled.
        exact: p-values of the pairs that are tested exactly.
        settings: how many resamples, the correction and the level.
        others: as in `count_until_settled`.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    num_pairs = len(reasons.codes)
    if settings.resamples == "auto":
        stopped = count_until_settled(count, num_pairs, exact, settings, others)
        found = Outcomes.sampled(stopped.exceed, stopped.p_values, reasons)
        return found._replace(bracket=np.stack([stopped.low, stopped.high], axis=1), resamples=stopped.resamples)
    exceed = count(np.arange(num_pairs), 0, settings.resamples)
    return Outcomes.sampled(exceed, np.asarray(montecarlo_p(exceed, settings.resamples)), reasons)


def swap_counter(case: Case, tested: np.ndarray, run: Run) -> Count:
    """Count the swaps at least as extreme as observed, for some of the pairs at the positions `tested`."""
    metric, settings = case.metric, case.settings
    problem, packed = swap_problem(case, tested, run)

    def count(places: np.ndarray, start: int, end: int) -> np.ndarray:
        some = Pairs(*(part[_few_sizes(places, len(tested), run)] for part in packed))
        members = case.question.members[tested[places]]

        def pieces(part: Run) -> Iterator[tuple[int, np.ndarray]]:
            found = count_swaps(problem, some, part, score=metric.score, alternative=settings.alternative)
            for begin, exceed, finite in found:
                check_finite(finite[: len(places)], members)
                yield begin, exceed[: len(places)]

        return add_up(pieces, len(places), start, end, run)

    return count


def swap_problem(case: Case, places: np.ndarray | slice, run: Run) -> tuple[Problem, Pairs]:
    """The arrays that the engine needs to swap the pairs at these positions."""
    units, question = case.units, case.question
    projection, of_first, of_second = _projection(case, run)
    (a, b), delta = question.members[places].T, question.deltas[places]
    # The system with the higher score is the first, so that no p-value depends on the order of the data.
    turned = (delta < 0.0)[:, None]
    packed = Pairs(
        left=np.where(turned, of_second[a], of_first[a]),
        right=np.where(turned, of_first[b], of_second[b]),
        totals_a=units.totals[a],
        totals_b=units.totals[b],
        delta=delta,
        tolerance=question.rounding[places],
    )
    return Problem(projection, units.divisors), packed


def _projection(case: Case, run: Run) -> tuple[Projection, np.ndarray, np.ndarray]:
    """The projection to the sums that the first system of a pair gives away, and gets, and the columns of each.

    Both column indices are `[system, stat]`; they are the same where whole units are swapped.
    """
    units, compiled, in_bytes = case.units, bool(run.backend.devices), most_bytes(run.backend)
    if units.outputs is None or case.settings.design == "nested":
        # Swaps see differences only: measured from the first system, columns that all systems share vanish.
        columns, (places, _) = distinct_columns(units.values - units.values[:1])
        draws = draws_from_strata(units.strata)
        projection = swap_projection(columns, draws, compiled=compiled, most_bytes=in_bytes)
        return projection, places, places
    outputs = whole_runs(units.outputs) if case.settings.design == "models" else units.outputs
    values, sizes = outputs.values, outputs.sizes
    # As many outputs go as come: what all outputs of a unit have in common (gold sizes) vanishes, too.
    first = (np.cumsum(sizes) - sizes)[outputs.unit]
    columns, (places, _) = distinct_columns(values - values[:1, first])
    projection = crossed_projection(columns, sizes, compiled=compiled, most_bytes=in_bytes)
    return projection, places, places + projection.matrix.num_columns


def add_up(
    pieces: Callable[[Run], Iterator[tuple[int, np.ndarray]]], num_pairs: int, start: int, end: int, run: Run
) -> np.ndarray:
    """Counts `[pair]` over the resamples from `start` to `end`, going on from where the stage stands.

    `pieces` yields the first resample of a piece and its counts `[pair]`, for a part of the run.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    stage = run.stage.part(f"from {start}")
    done, arrays = stage.state() or State(start, {"counts": np.zeros(num_pairs, np.int64)})
    counts, error = arrays["counts"], None
    if done == end:
        return counts
    run = run._replace(stage=stage)
    for part in rounds(range(done, end), run):
        added = np.zeros(num_pairs, np.int64)
        try:
            for first, piece in pieces(run.part(part)):
                keep(run, first, counts=counts + added)
                added += piece
        except NotFinite as found:
            error = found
        raise_together(error, run.share)
        counts = counts + run.share.total(added)
        keep_round(run, part.stop, counts=counts)
    stage.finish(end, counts=counts)
    return counts


def _few_sizes(places: np.ndarray, num_pairs: int, run: Run) -> np.ndarray:
    """Pad positions `[pair]` to one of a few sizes, so that few shapes are compiled."""
    size = num_pairs if run.backend.devices else len(places)
    while size > _FEW and len(places) <= size // _STEP:
        size //= _STEP
    return np.resize(places, size)
