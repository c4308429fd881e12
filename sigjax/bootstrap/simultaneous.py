r"""Simultaneous intervals: $\hat\theta_j \pm c\,s_j$ for all pairs j of a metric, which hold together at the level.

s are the bootstrap standard errors, and c is the quantile at the level, over resamples, of the largest
$|\theta^*_j - \hat\theta_j| / s_j$ of all pairs. Resamples are the same for all pairs, so that c takes account of how
they depend on each other, and is smaller than Bonferroni's. The scores of all systems have a c of their own. What does
not vary (s is 0, or rounding) is left out of the maximum.

Where replicates do not all fit into memory, they are drawn twice: a summary of the first time gives standard errors
(right to 1e-5 of themselves), and the second time gives the maxima, all of which are kept.

Reference: Romano and Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing"; Westfall
and Young (1993), "Resampling-based multiple testing"; Davison and Hinkley (1997), section 5.2, for one interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Spread
from sigjax.records import Interval


class Joint(NamedTuple):
    """What simultaneous intervals need besides replicates: systems come first among the targets, then pairs."""

    observed: np.ndarray
    """[target] float64: scores and deltas on all units."""
    tolerance: np.ndarray
    """[target] float64: standard errors up to this are rounding."""
    num_systems: int

    def groups(self) -> tuple[slice, slice]:
        """Places of the targets whose intervals hold together."""
        return slice(0, self.num_systems), slice(self.num_systems, len(self.observed))


def largest_deviations(values: np.ndarray, targets: np.ndarray, errors: np.ndarray, joint: Joint) -> np.ndarray:
    r"""$\max_j |\theta^*_j - \hat\theta_j| / s_j$ `[group, resample]` over the systems, then over the pairs.

    Args:
        values: `[system, resample]` replicates of the scores.
        targets: `[target, 2]`, as `Wanted` has them.
        errors: `[target]` standard errors s.
        joint: what was observed.

    Example:
        >>> joint = Joint(np.array([0.0, 0.0, 0.0]), np.zeros(3), 2)
        >>> targets, errors = np.array([[0, 2], [1, 2], [0, 1]]), np.array([1.0, 2.0, 0.5])
        >>> largest_deviations(np.array([[1.0, 0.0], [1.0, -4.0]]), targets, errors, joint)
        array([[1., 2.],
               [0., 8.]])
    """
    found = np.zeros((2, values.shape[1]))
    varies = errors > joint.tolerance
    for largest, group in zip(found, joint.groups(), strict=True):
        for place in np.flatnonzero(varies[group]) + group.start:
            a, b = targets[place]
            apart = (values[a] - values[b] if b < len(values) else values[a]) - joint.observed[place]
            np.maximum(largest, np.abs(apart) / errors[place], out=largest)
    return found


def simultaneous_spreads(errors: np.ndarray, maxima: np.ndarray, joint: Joint, level: float) -> list[Spread]:
    """Standard errors with simultaneous intervals, of systems and then of pairs.

    The quantile interpolates as `numpy.quantile` does.

    Args:
        errors: `[target]` standard errors.
        maxima: `[group, resample]`, as `largest_deviations` has them.
        joint: what was observed.
        level: confidence level.

    Example:
        >>> joint = Joint(np.array([0.5, 0.25, 0.25]), np.zeros(3), 2)
        >>> errors, maxima = np.array([0.125, 0.125, 0.25]), np.array([[1.0, 2.0, 3.0], [1.0, 1.5, 2.0]])
        >>> [tuple(each.interval) for each in simultaneous_spreads(errors, maxima, joint, 0.5)]
        [(0.25, 0.75), (0.0, 0.5), (-0.125, 0.625)]
    """
    factors = np.zeros(len(errors))
    for of_group, group in zip(maxima, joint.groups(), strict=True):
        factors[group] = np.quantile(of_group, level)
    half = factors * errors
    found = zip(errors.tolist(), (joint.observed - half).tolist(), (joint.observed + half).tolist(), strict=True)
    return [Spread(error, Interval(low, high)) for error, low, high in found]
