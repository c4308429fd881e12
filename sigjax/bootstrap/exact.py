"""The bootstrap without sampling: for scores that are linear in one statistic, while the others do not vary.

Then a replicate of a score, or of delta, is a number times the resampled sum of one statistic, whose law is known.
Means and accuracies of instances are such scores; with clusters of unequal size they are not, nor are ratios of sums.
"""

import math
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.bca import accelerations, bca_levels
from sigjax.bootstrap.intervals import Spread, quantile_levels
from sigjax.bootstrap.registry import KINDS
from sigjax.exact.bootstrap import below, bootstrap_p, grid_length, law, quantile
from sigjax.exact.draws import DrawLattice, draw_lattice, standard_error, tilt
from sigjax.exact.lattice import NotEligible
from sigjax.records import Interval
from sigjax.testing.p_values import Outcome
from sigjax.testing.problem import Alike, Case, Pair, scores_at, slope_in

_BYTES = 100.0
"""Memory for each value of a grid."""


class LinearScore(NamedTuple):
    """A score that is linear in the sum of one statistic."""

    stat: int
    slope: float


class BootstrapPlan(NamedTuple):
    """Laws to compute, for an evaluation."""

    score: LinearScore
    systems: tuple[DrawLattice, ...]
    pairs: dict[Pair, DrawLattice]
    """Of the first pair of each problem."""
    which: np.ndarray
    """[pair] the problem of each pair."""


def plan_bootstrap(case: Case, problems: Alike, budget: float) -> BootstrapPlan | NotEligible:
    """The laws of all systems and pairs, if the score is linear and they fit memory and budget (nominal seconds).

    `problems` are those of the permutation test: pairs that are alike in it are so here, if there are no strata.
    """
    units = case.units
    if case.settings.design == "nested":
        return NotEligible("outputs are drawn within units (design nested)")
    if not units.exact:
        return NotEligible("the statistics are reals, held rounded")
    score = _linear_score(case)
    if isinstance(score, NotEligible):
        return score
    column = units.values[:, :, score.stat]
    systems = tuple(draw_lattice(values, units.strata) for values in column)
    pairs: dict[Pair, DrawLattice] = {}
    seconds = _seconds(tuple({_key(lattice): lattice for lattice in systems}.values()))
    if units.strata[-1] > 0:
        problems = Alike(case.question.pairs, np.arange(len(case.question.members)))
    # The law of a pair's delta, and that of each tail.
    laws = 3 if "bootstrap" in case.settings.tests else 1
    for a, b in problems.first:
        pairs[a, b] = draw_lattice(column[a] - column[b], units.strata)
        seconds += laws * _seconds((pairs[a, b],))
        if seconds > budget:
            return NotEligible(f"without sampling it would take more than the budget of {budget:g} s")
    longest = max(_length(lattice) for lattice in (*systems, *pairs.values()))
    if longest * _BYTES > case.settings.memory * 2**30:
        return NotEligible(f"without sampling it would take about {longest * _BYTES / 2**30:.2g} GiB")
    return BootstrapPlan(score, systems, pairs, problems.which)


def _length(lattice: DrawLattice) -> int:
    return grid_length(lattice, tilt(lattice)) if lattice.values.size else 1


def _seconds(lattices: tuple[DrawLattice, ...]) -> float:
    return sum(1e-3 + 4e-7 * _length(lattice) for lattice in lattices)


def _key(lattice: DrawLattice) -> tuple[bytes | int, ...]:
    """What two lattices of the same law have in common."""
    return *(column.tobytes() for column in lattice[:3]), lattice.offset, lattice.scale


def _linear_score(case: Case) -> LinearScore | NotEligible:
    """The one statistic that varies over units, if the score is linear in it and the others are alike."""
    units = case.units
    totals = units.totals
    first = np.searchsorted(units.strata, units.strata)  # the first unit of each unit's stratum
    varying = np.flatnonzero((units.values != units.values[:, first]).any(axis=(0, 1)))
    if varying.size > 1:
        names = ", ".join(case.metric.stat_names[stat] for stat in varying)
        return NotEligible(f"{varying.size} statistics vary ({names})")
    stat = int(varying[0]) if varying.size else 0
    if (np.delete(totals, stat, axis=1) != np.delete(totals[:1], stat, axis=1)).any():
        return NotEligible("the systems differ in a statistic that does not vary")
    slope = slope_in(case, stat)
    if slope is None:
        return NotEligible(f"the score is not linear in {case.metric.stat_names[stat]}")
    return LinearScore(stat, slope)


def linear_spreads(case: Case, plan: BootstrapPlan) -> tuple[list[Spread], list[Spread]]:
    """Spread of each system's score, and of each pair's delta, as infinitely many resamples give it."""
    pairs, none = list(plan.pairs), len(plan.systems)
    lattices = [*plan.systems, *plan.pairs.values()]
    turned = [0.0] * len(lattices)
    if case.settings.interval == "bca":
        targets = np.array([*((system, none) for system in range(none)), *pairs], np.int32)
        # In the direction of the sum, which the score may turn around.
        turned = (np.sign(plan.score.slope) * np.array(accelerations(case, targets))).tolist()
    found, known = [], {}
    for place, (lattice, acceleration) in enumerate(zip(lattices, turned, strict=True)):
        origin, key = np.zeros(0 if place < none else 1), (place < none, acceleration, *_key(lattice))
        if key not in known:
            known[key] = _spread(case, plan.score, lattice, origin, acceleration)
        found.append(known[key])
    return found[:none], [found[none + problem] for problem in plan.which.tolist()]


def _spread(case: Case, score: LinearScore, lattice: DrawLattice, origin: np.ndarray, acceleration: float) -> Spread:
    """The spread of score(sum), or of score(sum) - score(origin) for a difference of sums."""
    level, kind = case.settings.level, case.settings.interval
    of_sum = law(lattice)
    levels = quantile_levels(level)
    if kind == "bca":
        levels = bca_levels(below(of_sum, lattice.total), acceleration, level) or levels
    ends = np.array([*(quantile(of_sum, each) for each in levels), lattice.total], np.float64)
    found = scores_at(case, score.stat, np.concatenate([ends, origin]))
    *ends, observed = (found[:3] - (found[3] if origin.size else 0.0)).tolist()
    interval = KINDS[kind].of_replicates.turned(Interval(*sorted(ends)), observed)
    return Spread(abs(score.slope) * standard_error(lattice), interval)


def bootstrap_outcomes(case: Case, plan: BootstrapPlan) -> list[Outcome | NotEligible]:
    """The bootstrap test of each problem, as infinitely many resamples give it; none where p is 0."""
    outcomes: list[Outcome | NotEligible] = []
    for lattice in plan.pairs.values():
        if plan.score.slope < 0.0:
            lattice = lattice.mirrored()
        found = bootstrap_p(lattice, lattice.total, case.settings.alternative, case.settings.variant)
        if found.log10_p == -math.inf:
            outcomes.append(NotEligible("no resample at all is as extreme"))
            continue
        reason = f"the score is linear in {case.metric.stat_names[plan.score.stat]}"
        outcomes.append(Outcome(found.p_value, found.log10_p, "exact", reason, None, found.error_bound))
    return outcomes
