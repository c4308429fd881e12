"""The paired bootstrap: all systems share the same resamples of the units. If scores are linear, it needs no sampling.

`draw_all` draws the replicates (scores on resamples) of all metrics of a report at once; `sampled_bootstrap` makes
tests, standard errors and intervals from them. Suppose a score is linear in one statistic, and the other statistics do
not vary. Then replicates of the score and of delta are linear functions of the resampled sum of this statistic. The
distribution of this sum is known: see `plan_bootstrap` and the functions after it. Means and accuracies of instances
are such scores. Ratios are not such scores, and neither are means if clusters have unequal sizes.

Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 2; Efron and Tibshirani (1993).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.exact.bootstrap import (
    DrawLattice,
    below,
    bootstrap_p,
    draw_lattice,
    grid_length,
    quantile,
    standard_error,
    sum_distribution,
    tilt,
)
from sigjax.exact.digits import PValue
from sigjax.exact.lattice import NotEligible
from sigjax.exact.plans import NOT_KNOWN, Pair
from sigjax.records import Column, Columns
from sigjax.resample.draws import draws_from_strata
from sigjax.resample.engine import ScoreSpec, replicates
from sigjax.resample.projection import (
    ColumnIndices,
    DrawsProduct,
    Projection,
    distinct_columns,
    drawn_columns,
    draws_projection,
    nested_projection,
)
from sigjax.resample.tally import Deltas
from sigjax.run.backend import most_bytes, room
from sigjax.run.context import Run, fits, gib
from sigjax.run.costs import DRAWS, DRAWS_VALUE, Cost
from sigjax.testing.intervals import INTERVALS
from sigjax.testing.problem import EquivalentPairs, Problem, SumsProblem, exact_columns, scores_at, slope_in
from sigjax.testing.replicates import JointDeltas, accelerations, bca_levels
from sigjax.testing.summaries import summarize
from sigjax.testing.uncertainty import Percentile, Pieces, quantile_levels, targets_of


def draw_all(problems: Sequence[SumsProblem], run: Run) -> dict[str, np.ndarray]:
    """Draw the scores of several metrics on the same resamples; return a dict from metric to `[system, resample]`.

    The dict is empty if the scores do not fit into memory, stay on the device, or are kept in a checkpoint. It is also
    empty if one of the metrics alone would use another type of arithmetic than all metrics together. Then each metric
    draws separately (`replicate_pieces`), with the same results.
    """
    shape = sum(len(problem.units.values) for problem in problems), run.resamples
    if run.checkpoint.is_kept or room(run.backend) or not fits(gib(shape), problems[0].settings):
        return {}
    projection, metrics = _projected(problems, run)
    if {_arithmetic(_projected([problem], run)[0]) for problem in problems} != {_arithmetic(projection)}:
        return {}
    scores = {problem.metric.name: np.empty((len(problem.units.values), run.resamples)) for problem in problems}
    for start, pieces in replicates(projection, metrics, run):
        for values, piece in zip(scores.values(), pieces, strict=True):
            values[:, start : start + piece.shape[1]] = piece
    return scores


def replicate_pieces(problem: SumsProblem, run: Run) -> Pieces:
    """Yield the bootstrap scores of all systems in pieces: the index of the first resample, and scores.

    The scores of a piece are `[system, resample]`.
    """
    return ((start, scores) for start, (scores,) in replicates(*_projected([problem], run), run))


def _arithmetic(projection: Projection) -> tuple[object, ...]:
    return type(projection), projection.matrix.dtype if isinstance(projection, DrawsProduct) else None


def _projected(problems: Sequence[SumsProblem], run: Run) -> tuple[Projection, list[ScoreSpec]]:
    """Return the projection from the weights of units to the sums of all metrics, and a record of each metric's score.

    If several metrics share a statistic, it is one column of the projection.
    """
    draws, compiled = draws_from_strata(problems[0].units.strata), bool(run.backend.devices)
    in_bytes = most_bytes(run.backend, counts=True)
    outputs = [each.units.outputs for each in problems if each.units.outputs and each.draws == "outputs"]
    if outputs:
        columns, (column, offset) = distinct_columns(np.concatenate([each.values for each in outputs], axis=2))
        sizes = outputs[0].sizes
        projection = nested_projection(columns, draws, sizes, compiled=compiled, most_bytes=in_bytes)
    else:
        columns, (column, offset) = drawn_columns(np.concatenate([each.units.values for each in problems], axis=2))
        projection = draws_projection(columns, draws, compiled=compiled, most_bytes=in_bytes)
    metrics: list[ScoreSpec] = []
    start = 0
    for each in problems:
        stats = slice(start, start := start + each.units.values.shape[2])
        # A compiler may merge the division by divisors with a division of the metric, which changes the rounding. So
        # NumPy computes such scores.
        on_host = not each.metric.portable or each.units.divisors is not None
        indices = ColumnIndices(column[:, stats], offset[:, stats])
        metrics.append(ScoreSpec(indices, each.units.divisors, each.metric.score, on_host))
    return projection, metrics


def sampled_bootstrap(
    problem: Problem,
    run: Run,
    pieces: Callable[[Run], Pieces],
    tested: np.ndarray,
    *,
    uncertain: bool,
    joint_pairs: int = 1,
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Test pairs on bootstrap resamples, and compute standard errors and intervals of all scores and deltas.

    `pieces(run)` yields the scores of all systems on the same resamples, piece by piece. The pairs at the positions
    `tested` are tested. `uncertain` requests standard errors and intervals. `joint_pairs` is the number of deltas, over
    all problems, whose intervals are simultaneous.

    Returns:
        Three arrays: the number of extreme resamples of each tested pair, `[pair]`; the standard errors and interval
        ends of all scores, then of all deltas, `[target, 3]`, or None if they are not requested; and the scores
        `[system, resample]`, or None if they were not all kept.
    """
    settings, hypotheses = problem.settings, problem.hypotheses
    deltas = Deltas(hypotheses.members[tested], hypotheses.deltas[tested], hypotheses.rounding[tested])
    method = INTERVALS[settings.interval]
    targets = targets_of(hypotheses, needed=uncertain)
    by = (method.of_replicates if uncertain else Percentile)(problem, targets)
    if uncertain and method.fits_correction and joint_pairs > 1:
        by = JointDeltas(problem, targets, joint_pairs)
    exceed, spreads, values = summarize(by.pieces(pieces), deltas, by, run, settings)
    scores = None if values is None else values[: len(hypotheses.scores)]
    return exceed, by.finished(spreads) if uncertain else None, scores


_BYTES = 100.0
"""Bytes of memory for each possible value of a sum, while the distribution of the sum is computed."""


class BootstrapPlan(NamedTuple):
    """The exact distributions to compute if the score is linear in the sum of the statistic `stat`.

    `slope` is the change of the score per unit of this sum. `systems` has the distribution of each system's sum.
    """

    stat: int
    slope: float
    systems: tuple[DrawLattice, ...]
    pairs: dict[Pair, DrawLattice]
    """A dict from a pair to the distribution of the difference of its systems' sums. Pairs with the same test form a
    group, and the dict has the first pair of each group."""
    which: np.ndarray
    """`[pair]`: the index of the group (of pairs with the same test) to which the pair belongs."""


def plan_bootstrap(problem: SumsProblem, equivalent: EquivalentPairs, budget: float) -> BootstrapPlan | NotEligible:
    """Plan the exact bootstrap distributions of scores and deltas, or return the reason why they are impossible.

    The score must be linear, and the work must fit into the memory and take at most `budget` seconds. `equivalent` has
    groups of pairs with the same permutation test. Without strata, such pairs also have the same bootstrap test.
    """
    units = problem.units
    if problem.draws == "outputs":
        return NotEligible("outputs are drawn within units (design nested)")
    if not units.exact:
        return NotEligible("the statistics are reals, held rounded")
    score = _linear_score(problem)
    if isinstance(score, NotEligible):
        return score
    column = units.values[:, :, score[0]]
    systems = tuple(draw_lattice(values, units.strata) for values in column)
    pairs: dict[Pair, DrawLattice] = {}
    different = {_key(lattice): lattice for lattice in systems}
    cost = sum(map(draws_cost, different.values()), start=Cost())
    if units.strata[-1] > 0:
        equivalent = EquivalentPairs.apart(len(problem.hypotheses.members))
    # Intervals need one distribution of delta. A test needs two more, because each tail has its own.
    count = 3 if "bootstrap" in problem.settings.tests else 1
    for a, b in problem.hypotheses.members[equivalent.first].tolist():
        pairs[a, b] = draw_lattice(column[a] - column[b], units.strata)
        cost += count * draws_cost(pairs[a, b])
        if cost.seconds > budget:
            return NotEligible(f"without sampling it would take more than the budget of {budget:g} s")
    longest = max(_length(lattice) for lattice in (*systems, *pairs.values()))
    if longest * _BYTES > problem.settings.memory * 2**30:
        return NotEligible(f"without sampling it would take about {longest * _BYTES / 2**30:.2g} GiB")
    return BootstrapPlan(*score, systems, pairs, equivalent.which)


def _length(lattice: DrawLattice) -> int:
    return grid_length(lattice, tilt(lattice)) if lattice.values.size else 1


def draws_cost(lattice: DrawLattice) -> Cost:
    """The cost of the exact distribution of a bootstrap sum."""
    return DRAWS + DRAWS_VALUE * _length(lattice)


def _key(lattice: DrawLattice) -> tuple[bytes | int, ...]:
    """A key for the distribution of a bootstrap sum: sums with the same distribution have equal keys."""
    return *(column.tobytes() for column in lattice[:3]), lattice.offset, lattice.scale


def _linear_score(problem: SumsProblem) -> tuple[int, float] | NotEligible:
    """Return the index of the only statistic that varies over units, and the slope of the score in its sum.

    Return `NotEligible` if several statistics vary, if systems differ in a statistic that does not vary, or if the
    score is not linear.
    """
    units = problem.units
    totals = units.totals
    first = np.searchsorted(units.strata, units.strata)  # the first unit of each unit's stratum
    varying = np.flatnonzero((units.values != units.values[:, first]).any(axis=(0, 1)))
    if varying.size > 1:
        names = ", ".join(problem.metric.stat_names[stat] for stat in varying)
        return NotEligible(f"{varying.size} statistics vary ({names})")
    stat = int(varying[0]) if varying.size else 0
    if (np.delete(totals, stat, axis=1) != np.delete(totals[:1], stat, axis=1)).any():
        return NotEligible("the systems differ in a statistic that does not vary")
    slope = slope_in(problem, stat)
    if slope is None:
        return NotEligible(f"the score is not linear in {problem.metric.stat_names[stat]}")
    return stat, slope


def linear_intervals(problem: SumsProblem, plan: BootstrapPlan) -> np.ndarray:
    """Return the standard error and the interval ends of each score, then of each delta, `[target, 3]`.

    Results from bootstrap resamples approach these numbers as the number of resamples grows.
    """
    pairs, none = list(plan.pairs), len(plan.systems)
    lattices = [*plan.systems, *plan.pairs.values()]
    turned = [0.0] * len(lattices)
    if problem.settings.interval == "bca":
        targets = np.array([*((system, none) for system in range(none)), *pairs], np.int32)
        # These are accelerations of sums: if the slope of the score is negative, the sign is reversed.
        turned = (np.sign(plan.slope) * accelerations(problem, targets)).tolist()
    found, known = list[np.ndarray](), dict[tuple[object, ...], np.ndarray]()
    for index, (lattice, acceleration) in enumerate(zip(lattices, turned, strict=True)):
        origin, key = np.zeros(0 if index < none else 1), (index < none, acceleration, *_key(lattice))
        if key not in known:
            known[key] = _uncertainty(problem, plan, lattice, origin, acceleration)
        found.append(known[key])
    spreads = np.array(found)
    return np.concatenate([spreads[:none], spreads[none + plan.which]])


def _uncertainty(
    problem: SumsProblem, plan: BootstrapPlan, lattice: DrawLattice, origin: np.ndarray, acceleration: float
) -> np.ndarray:
    """Return the standard error and the interval ends of one score or delta, `[3]`, without sampling.

    `lattice` describes the distribution of the bootstrap sum, from which the score or delta follows. For a score, this
    is the sum of the system's statistic, and `origin` is empty. For a delta, it is the difference of both systems'
    sums, and delta is score(sum) - score(`origin`). `acceleration` is for BCa intervals.
    """
    level, kind = problem.settings.confidence_level, problem.settings.interval
    of_sum = sum_distribution(lattice)
    levels = quantile_levels(level)
    if kind == "bca":
        levels = bca_levels(below(of_sum, lattice.total), acceleration, level) or levels
    ends = np.array([*(quantile(of_sum, each) for each in levels), lattice.total], np.float64)
    found = scores_at(problem, plan.stat, np.concatenate([ends, origin]))
    *ends, observed = (found[:3] - (found[3] if origin.size else 0.0)).tolist()
    ends = INTERVALS[kind].of_replicates.turned(np.sort(ends), observed)
    return np.append(abs(plan.slope) * standard_error(lattice), ends)


def exact_bootstrap_tests(problem: SumsProblem, plan: BootstrapPlan) -> Columns:
    """Return the result columns of the bootstrap tests of all pairs, as with infinitely many resamples.

    If no possible resample is at least as extreme as observed (p = 0), a pair gets no p-value here, and is sampled
    later.
    """
    reasons = f"the score is linear in {problem.metric.stat_names[plan.stat]}", "no resample at all is as extreme"
    p_values = list[PValue]()
    for lattice in plan.pairs.values():
        if plan.slope < 0.0:
            lattice = lattice.mirrored()
        p_value = bootstrap_p(lattice, lattice.total, problem.settings.alternative, problem.settings.variant)
        p_values.append(NOT_KNOWN if p_value[1] == -math.inf else p_value)
    is_open = np.array([math.isnan(p_value[0]) for p_value in p_values])
    return exact_columns(p_values, Column(is_open.astype(np.int8), None, reasons)).at(plan.which)
