r"""Standard errors by the jackknife, and intervals by Student's t that hold for few units and for unequal clusters.

**Standard error.** Leave unit i of stratum h out, and let the other $n_h - 1$ units of the stratum stand for all $n_h$:
the score becomes $\hat\theta_{(i)}$, and unit i has the influence $u_i = \sqrt{(n_h - 1) / n_h} (\hat\theta -
\hat\theta_{(i)})$. Then $s^2 = \sum_i u_i^2$ ("JKn" of surveys; of clusters in a regression, CR3). For the mean of n
instances, s is their standard deviation (ddof = 1) divided by $\sqrt n$. The influences on a delta are those on its two
scores, subtracted.

**Degrees of freedom**, by Satterthwaite's rule: those of the chi-square law with the mean and variance that $s^2$ would
have if the sum of a cluster of m instances were normal with variance $m^2$. They are n - 1 for n units of equal size,
and far fewer where a few clusters hold most of the instances. Strata add up as if each were a sample of its own.

**Interval.** Student's t with Hall's transformation, $g = \sum_i u_i^3 / s^3$ in place of the skewness of
$\hat\theta$: all $\theta$ with $|x + g x^2 / 3 + g^2 x^3 / 27 + g / 6| \le t$, $x = (\hat\theta - \theta) / s$.
On the side of the long tail the end is kept between t s and 2 t s from $\hat\theta$, on the other, of a score, between
t s / 2 and t s, so that an interval is at most 1.5 times as long as that of t. The cubic has slope 0 at $x = -3 / g$:
its inverse is infinitely steep where |g| t is near 1, and one end of nine numbers could be 4.1 t s away. At a level of
95%, bounds are met where the skewness of the units themselves, $g \sqrt n$, is above 1.2 of 9 units, 2.4 of 30 and 4.5
of 100. `closed` cuts intervals at the bounds of the metric, which no score exceeds.

Of a delta, the end on the other side stays t s away. Much of what makes an instance hard cancels in a delta, so that
differences are often symmetric, with heavy tails, or few of them are not 0: g is noise then, and follows the outlier
that has moved $\hat\delta$, too. Taking the other end nearer misses such deltas in 7 to 10% with 10 to 50 units, and of
50 units of which 3 differ in 20%, where t misses 3 to 5%. Moved outwards only, intervals never miss more often than
those of t, and of differences like lognormal numbers 10, 7 and 5% in place of 16, 12 and 9% (10, 30 and 100 units).

**Level at which all intervals hold together.** Scores and deltas are jointly normal, nearly, with covariances
$\sum_i u_{ki} u_{li}$ of systems k and l. Draws of such normal variables, which all pairs share, give the quantile c
of the largest $|Z|$ at the level asked for; each interval is then of the level $P(|Z| \le c)$ of one of them, narrower
than Bonferroni's by some 3%. Covariances are taken as known, which is too bold with fewer than ten units, or fewer than
systems (with 25 systems of ten normal numbers some delta was missed in 9%): `closed` uses Bonferroni's level there, at
which intervals hold together if each of them holds.

References: Wolter (2007), "Introduction to variance estimation", chapter 4; Bell and McCaffrey (2002), "Bias reduction
in standard errors for linear regression with multi-stage samples"; Pustejovsky and Tipton (2018), "Small-sample methods
for cluster-robust variance estimation"; Hall (1992), "On the removal of skewness by transformation"; Hothorn, Bretz and
Westfall (2008), "Simultaneous inference in general parametric models".
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sigjax.records import Alternative
from sigjax.resample.bits import row_keys, words
from sigjax.testing.problem import Case, check_finite
from sigjax.testing.tails import t_tail
from sigjax.units.sums import norms, total

_NUMBERS = 2**21
"""Influences of pairs, or statistics without one unit at a time, that are held at once."""
_ROWS = 2**10
"""Normal draws that are held at a time."""
_STRETCH = 2.0
"""How many times as far from the score as by t, or how many times nearer, an end corrected for skewness may be; of a
delta no end is nearer."""
_RIDGE = 1e-12
"""Part of each variance that is added to it: the covariance of systems that are sums of others has a root then."""


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
    units, observed = case.units, np.array(case.question.scores)[:, None]
    sizes = np.bincount(units.strata)[units.strata][:, None].astype(np.float64)
    stands_for = sizes / np.maximum(sizes - 1.0, 1.0)
    starts = np.searchsorted(units.strata, np.arange(int(units.strata[-1]) + 1))
    found, step = np.empty(units.values.shape[:2]), max(1, _NUMBERS // units.values[0].size)
    for part in (slice(start, start + step) for start in range(0, len(found), step)):
        values = units.values[part]
        of_stratum = np.add.reduceat(values, starts, axis=1)[:, units.strata]
        sums = (units.totals[part, None] - of_stratum) + stands_for * (of_stratum - values)
        with np.errstate(all="ignore"):
            found[part] = observed[part] - case.scores(sums)
    check_finite(found)
    return np.where(sizes[:, 0] > 1.0, found / np.sqrt(stands_for[:, 0]), 0.0)


def system_errors(moves: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Standard errors `[system]` of scores, from influences `[system, unit]`; 0 where none is above `rounding`."""
    return np.where(np.abs(moves).max(axis=1) > rounding, norms(moves), 0.0)


def pair_errors(moves: np.ndarray, members: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """The same of deltas `[pair]`, from influences on scores `[system, unit]`."""
    return np.concatenate(
        [np.zeros(0), *(system_errors(apart, rounding[part]) for part, apart in _of_pairs(moves, members))]
    )


def pair_skewness(moves: np.ndarray, members: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The skewness g of deltas with standard errors `[pair]`, from influences on scores `[system, unit]`."""
    return np.concatenate([np.zeros(0), *(skewness(apart, errors[part]) for part, apart in _of_pairs(moves, members))])


def _of_pairs(moves: np.ndarray, members: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The influences on deltas `[pair, unit]`, of so many pairs at a time as are held at once."""
    step = max(1, _NUMBERS // moves.shape[1])
    for part in (slice(start, start + step) for start in range(0, len(members), step)):
        yield part, moves[members[part, 0]] - moves[members[part, 1]]


def degrees_of_freedom(sizes: np.ndarray, strata: np.ndarray) -> float:
    """Degrees of freedom of standard errors, from the numbers of instances and the strata of units, `[unit]`.

    0 where no stratum has two units.

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


def skewed_ends(skewness: np.ndarray, quantile: float, *, nearer: bool) -> tuple[np.ndarray, np.ndarray]:
    """How many standard errors the low and the high end are below the score `[target]`, by t with Hall's correction.

    Args:
        skewness: `[target]` g.
        quantile: t, above 0.
        nearer: whether the end on the side of the short tail may be nearer than t.

    Example:
        >>> [each.round(3) for each in skewed_ends(np.array([0.0, 0.3, 0.8]), 2.26, nearer=True)]
        [array([2.26 , 1.848, 1.473]), array([-2.26 , -3.254, -4.52 ])]
        >>> [each.round(3) for each in skewed_ends(np.array([0.0, 0.3, 0.8]), 2.26, nearer=False)]
        [array([2.26, 2.26, 2.26]), array([-2.26 , -3.254, -4.52 ])]
    """
    low, high = (
        _bounded(_untransformed(end, skewness), end, farther=end * skewness < 0.0, nearer=nearer)
        for end in (quantile, -quantile)
    )
    return low, high


def skewed_tail(
    observed: float,
    error: float,
    skewness: float,
    value: float,
    degrees: float,
    alternative: Alternative,
    *,
    nearer: bool,
) -> float:
    """The p-value of the test against a value whose intervals have the ends `skewed_ends`.

    Example:
        >>> from sigjax.testing.tails import t_quantile
        >>> for nearer in (True, False):
        ...     low, high = 0.5 - 0.1 * np.array(skewed_ends(np.float64(0.3), t_quantile(0.95, 9.0), nearer=nearer))
        ...     [round(skewed_tail(0.5, 0.1, 0.3, x, 9.0, "two-sided", nearer=nearer), 12) for x in (low, high)]
        [0.05, 0.05]
        [0.05, 0.05]
    """
    x = min(max((observed - value) / error, -1e90), 1e90)  # its cube is a double
    cubic = x + skewness * x**2 / 3.0 + skewness**2 * x**3 / 27.0 + skewness / 6.0
    inner = _STRETCH if nearer else 1.0
    bound = x * inner if x * skewness > 0.0 else x / _STRETCH  # the value is nearer than an end, or farther
    return t_tail(sorted((x, cubic, bound))[1], degrees, alternative)


def _bounded(value: np.ndarray, unskewed: float, *, farther: np.ndarray, nearer: bool) -> np.ndarray:
    """The value, kept between that without skewness and twice (`farther`) or, if `nearer`, half of it."""
    bound = np.where(farther, unskewed * _STRETCH, unskewed / _STRETCH if nearer else unskewed)
    return np.clip(value, np.minimum(unskewed, bound), np.maximum(unskewed, bound))


def _untransformed(value: float, skewness: np.ndarray) -> np.ndarray:
    """The x with x + g x^2 / 3 + g^2 x^3 / 27 + g / 6 = value."""
    third = np.where(np.abs(skewness) < 1e-9, 1.0, skewness) / 3.0
    x = (np.cbrt(1.0 + 3.0 * third * (value - skewness / 6.0)) - 1.0) / third
    return np.where(np.abs(skewness) < 1e-9, value, x)


def skewness(moves: np.ndarray, errors: np.ndarray) -> np.ndarray:
    r"""$g = \sum_i (u_i / s)^3$ `[...]` of influences `[..., unit]` with standard errors s; 0 where s is 0."""
    scaled = moves / np.where(errors > 0.0, errors, math.inf)[..., None]
    return total(np.square(scaled) * scaled)


def normal_maxima(moves: np.ndarray, targets: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """The largest |Z| of all targets, `[draw]`.

    Args:
        moves: `[system, unit]` influences.
        targets: `[target, 2]` (a, b): the delta of two systems, or the score of a where b is the number of systems. All
            of them vary.
        draws: how many.
        seed: of the draws.
    """
    from scipy.special import ndtri

    num_systems = len(moves)
    covariance = moves @ moves.T
    variances = np.diag(covariance)
    ridge = np.diag(_RIDGE * np.where(variances > 0.0, variances, 1.0))
    root = np.concatenate([np.linalg.cholesky(covariance + ridge), np.zeros((1, num_systems))])
    lengths = np.linalg.norm(root[targets[:, 0]] - root[targets[:, 1]], axis=1)
    of_first = {a: np.flatnonzero(targets[:, 0] == a) for a in np.unique(targets[:, 0]).tolist()}
    num_words = num_systems + num_systems % 2
    found = np.zeros(draws)
    for start in range(0, draws, _ROWS):
        rows = np.arange(start, min(start + _ROWS, draws))
        uniform = (words(row_keys(seed, rows), num_words)[:, :num_systems] + 0.5) * 2.0**-32
        values = root @ ndtri(uniform.T)
        largest = found[start : start + len(rows)]
        for a, places in of_first.items():
            sizes = np.abs(values[a] - values[targets[places, 1]]) / lengths[places, None]
            np.maximum(largest, sizes.max(axis=0), out=largest)
    return found


def joint_level(maxima: np.ndarray, level: float, others: int = 0) -> float:
    """The level of each interval, for all of them to hold together at `level`.

    Args:
        maxima: `[draw]`, as `normal_maxima` gives them.
        level: at which all intervals hold together.
        others: how many more intervals there are, independent of these.

    Example:
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
