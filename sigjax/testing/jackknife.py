r"""Standard errors by the jackknife, and their degrees of freedom.

**Standard error.** Leave unit i of stratum h out, and weight the other $n_h - 1$ units of the stratum so that they
stand for all $n_h$ units. Then the score $\hat\theta$ becomes $\hat\theta_{(i)}$, and unit i has the influence $u_i =
\sqrt{(n_h - 1) / n_h} (\hat\theta - \hat\theta_{(i)})$. The standard error is s, with $s^2 = \sum_i u_i^2$. For surveys
this estimate is called JKn, and for clusters in a regression CR3. For the mean of n instances, s is their standard
deviation (ddof = 1) divided by $\sqrt n$. The influence on a delta is the difference of the influences on its two
scores.

**Degrees of freedom** follow Satterthwaite's rule: $s^2$ is treated as a multiple of a chi-square variable with these
degrees of freedom, which has the mean and the variance of $s^2$. For this, the sum of a cluster of m instances is
assumed normal with a variance proportional to $m^2$. Degrees of freedom are n - 1 for n units of equal size, and far
fewer if a few clusters have most of the instances. Strata are independent samples, so their means and variances add up.

References: Wolter (2007), "Introduction to variance estimation", chapter 4; Bell and McCaffrey (2002), "Bias reduction
in standard errors for linear regression with multi-stage samples"; Pustejovsky and Tipton (2018), "Small-sample methods
for cluster-robust variance estimation".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sigjax.resample.units import norms, total
from sigjax.testing.problem import SumsProblem, check_finite

_NUMBERS = 2**18
"""A block of an array has at most this many numbers (influences on deltas, or sums that leave out one unit)."""


def influences(problem: SumsProblem) -> np.ndarray:
    """The influence of each unit on each score, `[system, unit]`; 0 for the only unit of a stratum.

    It is the change of the score if the unit is left out, scaled so that the sum of squares is the squared standard
    error.

    >>> from sigjax import Evaluation
    >>> from sigjax.records import Settings
    >>> from sigjax.testing.tests import problem_of
    >>> evaluation = Evaluation.from_arrays({"A": [1, 2, 3, 6], "B": [1, 1, 1, 1]})
    >>> influences(problem_of(evaluation, Settings())).round(4)
    array([[-0.5774, -0.2887,  0.    ,  0.866 ],
           [ 0.    ,  0.    ,  0.    ,  0.    ]])
    """
    units, observed = problem.units, np.array(problem.hypotheses.scores)[:, None]
    sizes = np.bincount(units.strata)[units.strata][:, None].astype(np.float64)
    stands_for = sizes / np.maximum(sizes - 1.0, 1.0)
    starts = np.searchsorted(units.strata, np.arange(int(units.strata[-1]) + 1))
    found, step = np.empty(units.values.shape[:2]), max(1, _NUMBERS // units.values[0].size)
    for part in (slice(start, start + step) for start in range(0, len(found), step)):
        values = units.values[part]
        of_stratum = np.add.reduceat(values, starts, axis=1)[:, units.strata]
        sums = (units.totals[part, None] - of_stratum) + stands_for * (of_stratum - values)
        with np.errstate(all="ignore"):
            found[part] = observed[part] - problem.scores(sums)
    check_finite(found)
    return np.where(sizes[:, 0] > 1.0, found / np.sqrt(stands_for[:, 0]), 0.0)


def system_errors(influence: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Standard errors of scores `[system]`, from influences `[system, unit]`; 0 if no influence exceeds `rounding`."""
    return np.where(np.abs(influence).max(axis=1) > rounding, norms(influence), 0.0)


def map_pairs(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    influence: np.ndarray,
    members: np.ndarray,
    known: np.ndarray,
) -> np.ndarray:
    """Call `function(influences on deltas, known)` for blocks of pairs, and return its joined results `[pair]`.

    Influences on deltas `[pair, unit]` are differences of the influences on scores, `influence` `[system, unit]`.
    `members` `[pair, 2]` are the pairs, and `known` `[pair]` are further numbers for `function`. Blocks limit the
    memory.
    """
    step = max(1, _NUMBERS // influence.shape[1])
    parts = [slice(start, start + step) for start in range(0, len(members), step)]
    found = (function(influence[members[part, 0]] - influence[members[part, 1]], known[part]) for part in parts)
    return np.concatenate([np.zeros(0), *found])


def degrees_of_freedom(sizes: np.ndarray, strata: np.ndarray) -> float:
    """Degrees of freedom of jackknife standard errors, from the sizes and the strata of units, each `[unit]`.

    The size of a unit is its number of instances. The result is 0 if no stratum has two units.

    >>> sizes = [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [9, 9, 1, 1, 1, 1, 1, 1, 1, 1]]
    >>> [round(degrees_of_freedom(np.array(each), np.zeros(10, int)), 3) for each in sizes]
    [9.0, 1.35]
    """
    count = np.bincount(strata)[strata]
    several = count > 1
    sizes, strata, count = sizes[several] / float(sizes.max()), strata[several], count[several]
    if not sizes.size:
        return 0.0
    share = sizes / np.bincount(strata, sizes)[strata]
    # If sums are normal with variances m^2, influences in a stratum have the covariance diag(d) - u v' - v u' + W u u',
    # where W is the sum of these variances.
    scale = np.sqrt((count - 1.0) / count) / (1.0 - share)
    variance = sizes**2
    u, v, d = scale * share, scale * variance, scale**2 * variance
    whole, uu, uv, vv = (np.bincount(strata, each) for each in (variance, u * u, u * v, v * v))
    rest = whole[strata] * u * u - 2.0 * u * v
    trace = total(np.bincount(strata, d + rest))
    square = (
        np.bincount(strata, d * d + 2.0 * d * rest) + 2.0 * (uu * vv + uv**2) + whole**2 * uu**2 - 4.0 * whole * uu * uv
    )
    return float(trace**2 / total(square))
