r"""Intervals by Student's t from the jackknife: they hold for few units, and for clusters of unequal size.

**Standard error.** Leave unit i of stratum h out, and let the other $n_h - 1$ units of the stratum stand for all $n_h$:
the score becomes $\hat\theta_{(i)}$, and unit i has the influence $u_i = \sqrt{(n_h - 1) / n_h} (\hat\theta -
\hat\theta_{(i)})$. Then $s^2 = \sum_i u_i^2$ ("JKn" of surveys; of clusters in a regression, CR3). For the mean of n
instances that is their standard deviation (ddof = 1) divided by $\sqrt n$. A delta has the influences of its two
scores, subtracted.

**Degrees of freedom**, by Satterthwaite's rule: those of the chi-square law with the mean and variance that $s^2$ would
have, if the sum of a cluster of m instances were normal with variance $m^2$. They are n - 1 for n units of equal size,
and far fewer where a few clusters hold most of the instances. Strata add up as if each were a sample of its own.

**Interval.** A delta gets $\hat\delta \pm t s$. Scores are skewed more often than deltas, where much of what makes an
instance hard is subtracted: they get Hall's transformation, with $g = \sum_i u_i^3 / s^3$ in place of the skewness of
$\hat\theta$: all $\theta$ with $|x + g x^2 / 3 + g^2 x^3 / 27 + g / 6| \le t$, $x = (\hat\theta - \theta) / s$.

Reference: Wolter (2007), "Introduction to variance estimation", chapter 4; Bell and McCaffrey (2002), "Bias reduction
in standard errors for linear regression with multi-stage samples"; Pustejovsky and Tipton (2018), "Small-sample methods
for cluster-robust variance estimation"; Hall (1992), "On the removal of skewness by transformation".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigjax.bootstrap.student import t_quantile
from sigjax.records import Interval
from sigjax.resample.tally import scores
from sigjax.testing.problem import Case, NotFinite
from sigjax.units.sums import total

_NUMBERS = 2**21
"""Influences of pairs that are held at a time."""


def influences(case: Case) -> np.ndarray:
    """The influence of each unit on the score of each system, `[system, unit]`; 0 for the only unit of a stratum.

    Raises:
        NotFinite: the metric gave NaN or infinity where a unit was left out.

    Example:
        >>> from sigjax import Evaluation
        >>> from sigjax.testing.problem import Question
        >>> from sigjax.metrics import METRICS
        >>> from sigjax.records import Settings
        >>> from sigjax.units.units import make_units
        >>> units = make_units(Evaluation.from_arrays({"A": [1, 2, 3, 6], "B": [1, 1, 1, 1]}))
        >>> case = Case(units, METRICS["mean"], Question(np.array([[0, 1]]), (3.0, 1.0), (1e-15, 1e-15)), Settings())
        >>> influences(case).round(4)
        array([[-0.5774, -0.2887,  0.    ,  0.866 ],
               [ 0.    ,  0.    ,  0.    ,  0.    ]])
    """
    units, observed = case.units, case.question.scores
    sizes = np.bincount(units.strata)[units.strata][:, None].astype(np.float64)
    stands_for = sizes / np.maximum(sizes - 1.0, 1.0)
    starts = np.searchsorted(units.strata, np.arange(int(units.strata[-1]) + 1))
    found = np.empty(units.values.shape[:2])
    with np.errstate(all="ignore"):
        for system, values in enumerate(units.values):
            of_stratum = np.add.reduceat(values, starts, axis=0)[units.strata]
            sums = (units.totals[system] - of_stratum) + stands_for * (of_stratum - values)
            found[system] = observed[system] - scores(case.metric.score, sums, units.divisors)
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if wrong.size:
        raise NotFinite((int(wrong[0]),))
    return np.where(sizes[:, 0] > 1.0, found / np.sqrt(stands_for[:, 0]), 0.0)


def system_errors(moves: np.ndarray, tolerances: Sequence[float]) -> np.ndarray:
    """Standard errors `[system]` of scores, from influences `[system, unit]`; 0 where all are rounding."""
    return _norms(moves, 2.0 * np.array(tolerances))


def pair_errors(moves: np.ndarray, members: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Standard errors of deltas `[pair]`, from influences `[system, unit]`; 0 where all are `rounding` `[pair]`."""
    step = max(1, _NUMBERS // moves.shape[1])
    parts = (slice(start, start + step) for start in range(0, len(members), step))
    return np.concatenate([_norms(moves[members[part, 0]] - moves[members[part, 1]], rounding[part]) for part in parts])


def _norms(rows: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """2-norms of rows `[row, unit]`, 0 where no number is above the rounding error `[row]`."""
    largest = np.abs(rows).max(axis=1)
    # Squares of very large or very small numbers leave the range of a double; a power of two rounds nothing.
    exponents = np.frexp(largest)[1]
    found = np.ldexp(np.sqrt(total(np.square(np.ldexp(rows, -exponents[:, None])))), exponents)
    return np.where(largest > rounding, found, 0.0)


def degrees_of_freedom(sizes: np.ndarray, strata: np.ndarray) -> float:
    """Degrees of freedom of standard errors of units with so many instances `[unit]`, in strata `[unit]`.

    See the top of this file; 0 where no stratum has two units.

    Example:
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
    # The covariance of influences in a stratum is diag(d) - u v' - v u' + W u u', for normal sums of variances m^2.
    scale = np.sqrt((count - 1.0) / count) / (1.0 - share)
    variance = sizes**2
    u, v, d = scale * share, scale * variance, scale**2 * variance

    def add_up(numbers: np.ndarray) -> np.ndarray:
        return np.bincount(strata, numbers)

    whole, uu, uv, vv = add_up(variance), add_up(u * u), add_up(u * v), add_up(v * v)
    rest = whole[strata] * u * u - 2.0 * u * v
    trace = total(add_up(d + rest))
    square = add_up(d * d + 2.0 * d * rest) + 2.0 * (uu * vv + uv**2) + whole**2 * uu**2 - 4.0 * whole * uu * uv
    return float(trace**2 / total(square))


def skewed_interval(observed: float, error: float, skewness: float, level: float, degrees: float) -> Interval:
    """The interval of Student's t with Hall's correction for skewness g (see the top of this file).

    Example:
        >>> [round(end, 3) for end in skewed_interval(0.5, 0.1, 0.3, 0.95, 9.0)]
        [0.315, 0.826]
    """
    quantile = t_quantile(level, degrees)
    low, high = (_untransformed(end, skewness) for end in (quantile, -quantile))
    return Interval(observed - error * low, observed - error * high)


def _untransformed(value: float, skewness: float) -> float:
    """The x with x + g x^2 / 3 + g^2 x^3 / 27 + g / 6 = value."""
    if abs(skewness) < 1e-9:
        return value
    third = skewness / 3.0
    return (float(np.cbrt(1.0 + 3.0 * third * (value - skewness / 6.0))) - 1.0) / third


def skewness(moves: np.ndarray) -> float:
    r"""$\sum_i u_i^3 / (\sum_i u_i^2)^{3/2}$ of influences `[unit]`, not all of which are 0."""
    scaled = moves / np.abs(moves).max()  # cubes of very small numbers would leave the range of a double
    squares = np.square(scaled)
    return float(total(squares * scaled) / total(squares) ** 1.5)
