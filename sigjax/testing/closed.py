"""Intervals without resamples: which ones the scores and deltas of a problem get, and at which level."""

from __future__ import annotations

import numpy as np

from sigjax.testing.jackknife import influences, of_pairs, system_errors
from sigjax.testing.joint_level import bonferroni_level, joint_level, normal_maxima
from sigjax.testing.problem import SumsProblem
from sigjax.testing.proportions import errors_of_proportions, proportion_intervals, right_or_wrong
from sigjax.testing.skewed_t import skewed_t_intervals

_FEW_UNITS = 10
"""With fewer, or fewer than systems, correlations of deltas are too uncertain to be used."""


def jackknife_intervals(problem: SumsProblem, joint_pairs: int = 1, *, proportions: bool = True) -> np.ndarray:
    """Standard error and ends of the interval of each score, then of each delta, `[target, 3]`.

    Ends are NaN where there is no interval. Intervals of `joint_pairs` deltas, those of other problems included, hold
    together by Bonferroni's inequality; for "simultaneous" those of all scores do, and those of all deltas. Without
    `proportions`, numbers that are all 0 or 1 are not taken for answers right or wrong.
    """
    hypotheses, settings, proportions = problem.hypotheses, problem.settings, proportions and right_or_wrong(problem)
    influence, errors = np.zeros((0, 0)), errors_of_proportions(problem) if proportions else None
    if errors is None or settings.interval == "simultaneous":
        influence = influences(problem.for_spreads)
    if errors is None:
        known = problem.for_spreads.hypotheses
        errors = (
            system_errors(influence, 2.0 * np.array(known.tolerances)),
            of_pairs(system_errors, influence, known.members, known.rounding),
        )
    levels = settings.confidence_level, bonferroni_level(settings.confidence_level, joint_pairs)
    if settings.interval == "simultaneous":
        systems = np.stack([np.arange(len(influence)), np.full(len(influence), len(influence))], axis=1)
        levels = tuple(
            _joint_level(problem, influence, targets, of_targets > 0.0, proportions=proportions)
            for targets, of_targets in zip((systems, hypotheses.members), errors, strict=True)
        )
    return (
        proportion_intervals(problem, errors, levels)
        if proportions
        else skewed_t_intervals(problem, influence, errors, levels)
    )


def _joint_level(
    problem: SumsProblem, influence: np.ndarray, targets: np.ndarray, varies: np.ndarray, *, proportions: bool
) -> float:
    """The level at which all intervals of some targets `[target, 2]` hold together.

    A score interval of a proportion has a length also where no answer varies: it counts as independent of the others.
    Those of few answers are long enough for correlations that are uncertain.
    """
    settings, num_units = problem.settings, len(problem.units.strata)
    if num_units < max(_FEW_UNITS, len(influence)) and not proportions:
        return bonferroni_level(settings.confidence_level, int(varies.sum()))
    others, maxima = int((~varies).sum()) if proportions else 0, np.zeros(1)
    if varies.sum() + others <= 1:
        return settings.confidence_level
    if varies.any():
        maxima = normal_maxima(influence, targets[varies], settings.fixed_resamples, settings.seed)
    return max(
        joint_level(maxima, settings.confidence_level, others), settings.confidence_level
    )  # draws may put it just below
