"""Permutation tests by Monte Carlo (approximate randomization).

**Paired**: all pairs are tested on the same swaps. Under the null hypothesis, the two outputs of a unit may be swapped.
Reference: Yeh (2000), section 3.

**Unpaired**: which of all units were the first system's? Without sampling where that is quick, or by random choices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sigjax.exact.choices import chosen_sums, find_choices, sample_distribution
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import Criterion, ExactP
from sigjax.records import Column, Comparisons
from sigjax.resample.draws import draws_from_strata
from sigjax.resample.engine import ScaledProjection, count_swaps, swapped_sums
from sigjax.resample.projection import Projection, choice, crossed_projection, distinct_columns, swap_projection
from sigjax.resample.tally import Pairs
from sigjax.resample.units import whole_runs
from sigjax.run.backend import most_bytes
from sigjax.run.checkpoint import State
from sigjax.run.context import Context, Run
from sigjax.testing.hypotheses import NotExact, NotFinite, SumsData, check_finite, raise_together
from sigjax.testing.p_values import Count, exact_columns, montecarlo_p, sampled_columns

_FEW, _STEP = 16, 8
"""Few pairs all go on; of more, programs for fewer pairs are compiled only when `_STEP` times fewer are left."""


def swap_counter(case: SumsData, tested: np.ndarray, run: Run) -> Count:
    """Count the swaps at least as extreme as observed, for some of the pairs at the positions `tested`."""
    metric, settings = case.metric, case.settings
    problem, packed = swap_problem(case, tested, run)

    def count(indices: np.ndarray, start: int, end: int) -> np.ndarray:
        some = Pairs(*(column[_few_sizes(indices, len(tested), run)] for column in packed))
        members = case.hypotheses.members[tested[indices]]

        def pieces(subrun: Run) -> Iterator[tuple[int, np.ndarray]]:
            found = count_swaps(problem, some, subrun, score=metric.score, alternative=settings.alternative)
            for begin, exceed, finite in found:
                check_finite(finite[: len(indices)], members)
                yield begin, exceed[: len(indices)]

        return add_up(pieces, len(indices), start, end, run)

    return count


def swap_problem(case: SumsData, indices: np.ndarray | slice, run: Run) -> tuple[ScaledProjection, Pairs]:
    """The arrays that the engine needs to swap the pairs at these positions."""
    units, hypotheses = case.units, case.hypotheses
    projection, of_first, of_second = _projection(case, run)
    (a, b), delta = hypotheses.members[indices].T, hypotheses.deltas[indices]
    # The system with the higher score is the first, so that no p-value depends on the order of the data.
    turned = (delta < 0.0)[:, None]
    packed = Pairs(
        left=np.where(turned, of_second[a], of_first[a]),
        right=np.where(turned, of_first[b], of_second[b]),
        totals_a=units.totals[a],
        totals_b=units.totals[b],
        delta=delta,
        tolerance=hypotheses.rounding[indices],
    )
    return ScaledProjection(projection, units.divisors), packed


def _projection(case: SumsData, run: Run) -> tuple[Projection, np.ndarray, np.ndarray]:
    """The projection to the sums that the first system of a pair gives away, and gets, and the columns of each.

    Both column indices are `[system, stat]`; they are the same where whole units are swapped.
    """
    units, compiled, in_bytes = case.units, bool(run.backend.devices), most_bytes(run.backend)
    if units.outputs is None or case.exchanges == "units":
        # Swaps see differences only: measured from the first system, columns that all systems share vanish.
        columns, (indices, _) = distinct_columns(units.values - units.values[:1])
        draws = draws_from_strata(units.strata)
        projection = swap_projection(columns, draws, compiled=compiled, most_bytes=in_bytes)
        return projection, indices, indices
    outputs = whole_runs(units.outputs) if case.exchanges == "runs" else units.outputs
    values, sizes = outputs.values, outputs.sizes
    # As many outputs go as come: what all outputs of a unit have in common (gold sizes) vanishes, too.
    first = (np.cumsum(sizes) - sizes)[outputs.unit]
    columns, (indices, _) = distinct_columns(values - values[:1, first])
    projection = crossed_projection(columns, sizes, compiled=compiled, most_bytes=in_bytes)
    return projection, indices, indices + projection.matrix.num_columns


def add_up(
    pieces: Callable[[Run], Iterator[tuple[int, np.ndarray]]], num_pairs: int, start: int, end: int, run: Run
) -> np.ndarray:
    """Counts `[pair]` over the resamples from `start` to `end`, going on from the checkpoint.

    `pieces` yields the first resample of a piece and its counts `[pair]`, for a part of the run.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    checkpoint = run.checkpoint.at(f"from {start}")
    state = checkpoint.state() or State(start, {"counts": np.zeros(num_pairs, np.int64)})
    counts, error = state.arrays["counts"], None
    if state.done == end:
        return counts
    run = replace(run, checkpoint=checkpoint)
    for part in run.rounds(range(state.done, end)):
        added = np.zeros(num_pairs, np.int64)
        try:
            for first, piece in pieces(run.shard_of(part)):
                run.save(first, counts=counts + added)
                added += piece
        except NotFinite as found:
            error = found
        raise_together(error, run.shard)
        counts = counts + run.shard.total(added)
        run.save_round(part.stop, counts=counts)
    checkpoint.finish(end, counts=counts)
    return counts


def _few_sizes(indices: np.ndarray, num_pairs: int, run: Run) -> np.ndarray:
    """Pad positions `[pair]` to one of a few sizes, so that few shapes are compiled."""
    size = num_pairs if run.backend.devices else len(indices)
    while size > _FEW and len(indices) <= size // _STEP:
        size //= _STEP
    return np.resize(indices, size)


_SECONDS = 1e-8
"""That NumPy takes to choose or leave a unit (measured)."""


def two_sample_test(case: SumsData, first: int, context: Context) -> Comparisons:
    """The columns of the permutation test of two systems on different units, exact if it can be, else Monte Carlo.

    `case` is of both systems on the units of both, those of the first system before the others; a system has nothing on
    the units of the other.

    Raises:
        NotExact: an exact test was asked for, and there is none.
        NotFinite: the metric gave NaN or infinity.
    """
    units = case.units.values.sum(axis=0)
    exact = NotEligible("as asked") if case.settings.method == "montecarlo" else _exact_unpaired(case, units, first)
    if isinstance(exact, ExactP):
        return exact_columns([exact])
    if case.settings.method == "exact":
        raise NotExact((0, 1), exact.reason)
    return _montecarlo(case, units, first, context, exact.reason)


def _deltas(case: SumsData, sums: np.ndarray) -> np.ndarray:
    """Differences of scores `[row]` where the first system has the sums `[row, stat]`."""
    both = case.units.totals.sum(axis=0)
    with np.errstate(all="ignore"):
        found = case.scores(sums) - case.scores(both - sums)
    check_finite(found[None], [(0, 1)])
    return found


def _criterion(case: SumsData) -> Criterion:
    return Criterion(*case.hypotheses.observed([(0, 1)]), case.settings.alternative)


def _exact_unpaired(case: SumsData, units: np.ndarray, first: int) -> ExactP | NotEligible:
    """The exact test of units `[unit, stat]`: by the distribution of one statistic, else by all choices of units."""
    varying = np.flatnonzero((units != units[0]).any(axis=0))
    if not varying.size:
        return ExactP(1.0, 0.0, 0.0, reason="no unit differs")
    of_sum = NotEligible("") if varying.size > 1 else sample_distribution(units[:, varying[0]], first)
    if not isinstance(of_sum, NotEligible):
        sums = np.tile(first * units[0].astype(np.float64), (len(of_sum.sums), 1))
        sums[:, varying[0]] = of_sum.sums
        found = of_sum.tail(_criterion(case).met(_deltas(case, sums)[None])[0])
        if found is None:
            return NotEligible("the p-value is too small for sums of probabilities")
        return found._replace(reason=f"one statistic differs ({case.metric.stat_names[varying[0]]})")
    plan = find_choices(first, len(units), units.shape[1], "units")
    if isinstance(plan, NotEligible):
        return of_sum if of_sum.reason else plan
    if plan.num_bytes > case.settings.memory * 2**30:
        return NotEligible(f"an exact test takes more than {case.settings.memory:,.3g} GiB")
    deltas = _deltas(case, chosen_sums(units, first).astype(np.float64))
    p_value = int(_criterion(case).met(deltas[None]).sum()) / plan.number
    return ExactP(p_value, math.log10(p_value), 0.0, reason=f"all {plan.number:,} choices of units")


def _montecarlo(case: SumsData, units: np.ndarray, first: int, context: Context, reason: str) -> Comparisons:
    """The test by random choices of units.

    What is chosen is the smaller sample, from sorted units: neither the order of the systems nor that of their units
    changes the two-sided p.
    """
    resamples, criterion, fewer = case.settings.fixed_resamples, _criterion(case), min(first, len(units) - first)
    both, sorted_units = case.units.totals.sum(axis=0), units[np.lexsort(units.T)]
    problem = ScaledProjection(choice(fewer, sorted_units), None)
    with context.sized(_SECONDS * resamples * len(units)).run("choices of units", resamples, case.settings.seed) as run:
        sums = (swapped_sums(problem, piece).T for piece in run.blocks(units.shape[1]))
        deltas = (_deltas(case, of_fewer if fewer == first else both - of_fewer) for of_fewer in sums)
        exceed = sum(int(criterion.met(of_piece[None]).sum()) for of_piece in deltas)
    counts = np.array([exceed])
    p_values = np.asarray(montecarlo_p(counts, resamples))
    return sampled_columns(counts, p_values, resamples, Column.constant(reason, 1))
