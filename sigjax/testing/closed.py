r"""Intervals without resamples: which kind the scores and deltas of a problem get, and at which level.

**The joint level** is the level of each single interval that makes all intervals simultaneous. Scores and deltas are
nearly jointly normal, with covariances $\sum_i u_{ki} u_{li}$ of systems k and l. Draws of such normal variables,
shared by all pairs, give c, the quantile of the largest $|Z|$ at the requested level. Each interval then has the level
$P(|Z| \le c)$ of a single Z. It is narrower than Bonferroni's interval by some 3%. Covariances are taken as known, so
intervals would be too narrow with fewer than ten units, or with fewer units than systems (with 25 systems and ten units
of normal numbers, 9% of reports missed some delta). Bonferroni's level is used in such cases. Reference: Hothorn, Bretz
and Westfall (2008), "Simultaneous inference in general parametric models".
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sigjax.resample.draws import row_keys, words
from sigjax.testing.jackknife import influences, of_pairs, system_errors
from sigjax.testing.problem import SumsProblem
from sigjax.testing.proportions import errors_of_proportions, proportion_intervals, right_or_wrong
from sigjax.testing.skewed_t import skewed_t_intervals
from sigjax.testing.special import scipy_special

_FEW_UNITS = 10
"""With fewer units, or fewer units than systems, correlations of deltas are too uncertain to be used."""
_ROWS = 2**10
"""Normal draws per block."""
_RIDGE = 1e-12
"""Share of each variance that is added to it, so that covariances have a root even if a system is a sum of others."""


def jackknife_intervals(problem: SumsProblem, joint_pairs: int = 1, *, proportions: bool = True) -> np.ndarray:
    """Standard error and ends of the interval of each score, then of each delta, `[target, 3]`.

    Ends are NaN if there is no interval. Intervals of `joint_pairs` deltas, including deltas of other problems, are
    simultaneous by Bonferroni's inequality. For the kind "simultaneous", intervals of all scores are simultaneous, and
    so are intervals of all deltas. Without `proportions`, numbers that are all 0 or 1 do not count as right-or-wrong
    answers.
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
    """The level of each interval that makes the intervals of some targets `[target, 2]` simultaneous.

    The score interval of a proportion has a length even if no answer varies; it then counts as independent of the other
    intervals. With few answers, score intervals are long enough although correlations are uncertain.
    """
    settings, num_units = problem.settings, len(problem.units.strata)
    if num_units < max(_FEW_UNITS, len(influence)) and not proportions:
        return bonferroni_level(settings.confidence_level, int(varies.sum()))
    others, maxima = int((~varies).sum()) if proportions else 0, np.zeros(1)
    if varies.sum() + others <= 1:
        return settings.confidence_level
    if varies.any():
        maxima = normal_maxima(influence, targets[varies], settings.fixed_resamples, settings.seed)
    level = settings.confidence_level
    return max(joint_level(maxima, level, others), level)  # the quantile of draws may lie just below


def bonferroni_level(level: float, count: float) -> float:
    """The level of each of so many intervals that makes them simultaneous, however they depend on each other.

    >>> round(bonferroni_level(0.95, 10), 6), bonferroni_level(0.95, 1)
    (0.995, 0.95)
    """
    return level if count <= 1 else 1.0 - (1.0 - level) / count


def normal_maxima(influence: np.ndarray, targets: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """The largest |Z| over all targets, `[draw]`.

    `influence` `[system, unit]` is the influence on scores. `targets` `[target, 2]` are (a, b): the delta of two
    systems, or the score of a if b is the number of systems. All targets vary.
    """
    root = np.concatenate([_root(influence), np.zeros((1, len(influence)))])
    lengths = np.linalg.norm(root[targets[:, 0]] - root[targets[:, 1]], axis=1)
    of_first = {a: np.flatnonzero(targets[:, 0] == a) for a in np.unique(targets[:, 0]).tolist()}
    found = np.zeros(draws)
    for block, values in enumerate(_normal(root, draws, seed)):
        largest = found[block * _ROWS : (block + 1) * _ROWS]
        for a, places in of_first.items():
            sizes = np.abs(values[a] - values[targets[places, 1]]) / lengths[places, None]
            np.maximum(largest, sizes.max(axis=0), out=largest)
    return found


def normal_errors(influence: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Normal errors of scores `[system, draw]`, in blocks, with the covariances of these influences."""
    return (values * _scale(influence) for values in _normal(_root(influence), draws, seed))


def _normal(root: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Products of a root `[row, system]` with standard normal numbers, `[row, draw]`, in blocks."""
    num_systems = root.shape[1]
    num_words = num_systems + num_systems % 2
    for start in range(0, draws, _ROWS):
        rows = np.arange(start, min(start + _ROWS, draws))
        uniform = (words(row_keys(seed, rows), num_words)[:, :num_systems] + 0.5) * 2.0**-32
        yield root @ scipy_special().ndtri(uniform.T)


def _root(influence: np.ndarray) -> np.ndarray:
    """A root of the covariance matrix of scores, divided by `_scale`."""
    influence = influence / _scale(influence)
    covariance = influence @ influence.T
    variances = np.diag(covariance)
    return np.linalg.cholesky(covariance + np.diag(_RIDGE * np.where(variances > 0.0, variances, 1.0)))


def _scale(influence: np.ndarray) -> float:
    """A power of two (scaling by it does not round) that keeps squares within the range of a double."""
    return math.ldexp(1.0, math.frexp(float(np.abs(influence).max()))[1])


def joint_level(maxima: np.ndarray, level: float, others: int = 0) -> float:
    """The level of each interval that makes the intervals simultaneous at `level`.

    `maxima` `[draw]` come from `normal_maxima`; `others` is the number of further intervals, independent of these.

    >>> maxima = np.array([0.3, 0.7, 1.1, 1.5])
    >>> round(joint_level(maxima, 0.75), 3), round(joint_level(maxima, 0.75, others=1), 3)
    (0.729, 0.866)
    """
    ordered = np.sort(maxima)
    levels = np.array([math.erf(each / math.sqrt(2.0)) for each in ordered.tolist()])
    held = np.arange(1, len(ordered) + 1) / len(ordered) * levels**others
    enough = np.flatnonzero(held >= level)
    if enough.size:
        return float(levels[enough[0]])
    return max(float(levels[-1]), level ** (1.0 / max(others, 1)))
