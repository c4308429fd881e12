r"""Standard errors and intervals without resamples: Student's t by the jackknife, two-way t, and score intervals.

**Standard error.** Leave unit i of stratum h out, and let the other $n_h - 1$ units of the stratum stand for all $n_h$:
the score becomes $\hat\theta_{(i)}$, and unit i has the influence $u_i = \sqrt{(n_h - 1) / n_h} (\hat\theta -
\hat\theta_{(i)})$. Then $s^2 = \sum_i u_i^2$ ("JKn" of surveys; of clusters in a regression, CR3). For the mean of n
instances, s is their standard deviation (ddof = 1) divided by $\sqrt n$. The influences on a delta are those on its two
scores, subtracted.

**Degrees of freedom**, by Satterthwaite's rule: those of the chi-square distribution with the mean and variance that
$s^2$ would have if the sum of a cluster of m instances were normal with variance $m^2$. They are n - 1 for n units of
equal size, and far fewer where a few clusters hold most of the instances. Strata add up as if each were a sample.

**Interval.** Student's t with Hall's transformation, $g = \sum_i u_i^3 / s^3$ in place of the skewness of
$\hat\theta$: all $\theta$ with $|x + g x^2 / 3 + g^2 x^3 / 27 + g / 6| \le t$, $x = (\hat\theta - \theta) / s$.
On the side of the long tail the end is kept between t s and 2 t s from $\hat\theta$, on the other, of a score, between
t s / 2 and t s: the cubic has slope 0 at $x = -3 / g$, so its inverse is infinitely steep where |g| t is near 1, and
one end of nine numbers could be 4.1 t s away. At 95%, bounds are met where the skewness of the units themselves,
$g \sqrt n$, is above 1.2 of 9 units, 2.4 of 30 and 4.5 of 100. Intervals are cut at the bounds of the metric.

Of a delta, the end on the other side stays t s away. Differences of two systems are often symmetric, with heavy tails,
or few of them are not 0: g is noise then, and follows the outlier that has moved $\hat\delta$, too. Taking the other
end nearer misses such deltas in 7 to 10% with 10 to 50 units, and of 50 units of which 3 differ in 20%, where t misses
3 to 5%. Moved outwards only, intervals never miss more often than those of t, and of lognormal differences 10, 7 and 5%
in place of 16, 12 and 9% (10, 30 and 100 units).

**Level at which all intervals hold together.** Scores and deltas are jointly normal, nearly, with covariances $\sum_i
u_{ki} u_{li}$ of systems k and l. Draws of such normal variables, which all pairs share, give the quantile c of the
largest $|Z|$ at the level asked for; each interval is then of the level $P(|Z| \le c)$ of one of them, narrower than
Bonferroni's by some 3%. Covariances are taken as known, so intervals would be too narrow with fewer than ten units, or
fewer than systems (with 25 systems of ten normal numbers some delta was missed in 9%): there, Bonferroni's level is
used. References: Wolter (2007), "Introduction to variance estimation", chapter 4; Bell and McCaffrey (2002), "Bias
reduction in standard errors for linear regression with multi-stage samples"; Pustejovsky and Tipton (2018),
"Small-sample methods for cluster-robust variance estimation"; Hall (1992), "On the removal of skewness by
transformation"; Hothorn, Bretz and Westfall (2008), "Simultaneous inference in general parametric models".

**Delta method.** Standard errors for new units, or for new units and new runs ("two-way"). For units, $\sqrt{\sum_h
\sum_{i \in h} (g \cdot (s_i - \bar s_h))^2}$, where g is the gradient of the score at the sums, by central differences
in NumPy, so that no number depends on the device. If the score were linear, infinitely many bootstrap resamples of the
units would give the same; for a mean, it is the standard deviation (ddof = 0) divided by the root of the number of
units. Beside the jackknife's errors of clusters, those of instances have its factor $n_h / (n_h - 1)$ (ddof = 1).
References: Efron and Tibshirani (1993), section 21; Davison and Hinkley (1997), section 2.7.2.

**Units and runs**, where runs are trained models: x[u, r] is the influence g . s of run r of unit u. Its variance has a
part that all runs of a unit share, one that all units of a run share, and a rest. With U units and R runs, row sums
x[u, .] and column sums x[., r], and sums of squares about the means,

    V_units = U / (U - 1) sum_u (x[u, .] - mean)^2       V_rest = UR / ((U - 1) (R - 1)) sum_ur (residual of x[u, r])^2
    V_runs  = R / (R - 1) sum_r (x[., r] - mean)^2       V = max(V_units + V_runs - V_rest, V_units, V_runs)

V_units and V_runs both contain the rest, so it is subtracted once: the estimate by the method of moments of a linear
mixed model with crossed random effects. For a delta, x[u, .] are differences, since both systems saw the same units,
while V_runs and V_rest are those of system a plus those of system b, whose runs are taken to be independent. V_units is
a sum over strata, each with its own mean and number of units. The interval is score +- t sqrt(V), where t has the
degrees of freedom of Satterthwaite (1946), V^2 / sum_k V_k^2 / f_k over the parts: U - 1 for the units, R - 1 for the
runs of each system, and (U - 1) (R - 1) for each rest; but at least the smaller of U - 1 and R - 1, which subtracting
V_rest may fall short of where units are few. A two-way bootstrap (Owen 2007) has a variance that is (R - 1) / R times
too small, and no t. References: Searle, Casella and McCulloch (1992), "Variance components"; Cameron, Gelbach and
Miller (2011), "Robust inference with multiway clustering".

**Proportions**, of answers right or wrong, have score intervals. A bootstrap of 20 right answers out of 20 never draws
a wrong one, so all its intervals are [1, 1]. A score test takes the variance that the proportion in question would
have, not the observed one, and has no such end: Wilson's interval of a score and Tango's of a delta invert it.
References: Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Tango (1998),
"Equivalence test and confidence interval for the difference in proportions for the paired-sample design"; Fagerland,
Lydersen and Laake (2014), "Recommended tests and confidence intervals for paired binomial proportions".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from sigjax.metrics.ratios import mean_score
from sigjax.records import Alternative, Score
from sigjax.resample.draws import row_keys, words
from sigjax.resample.units import Units, norms, total, variance
from sigjax.testing.p_values import normal_quantile, special, t_quantile, t_tail
from sigjax.testing.problem import Pair, SumsProblem, check_finite

_NUMBERS = 2**18
"""Influences of pairs, or statistics without one unit at a time, that are held at once."""
_ROWS = 2**10
"""Normal draws that are held at a time."""
_STRETCH = 2.0
"""How many times as far from the score as by t, or how many times nearer, an end corrected for skewness may be; of a
delta no end is nearer."""
_RIDGE = 1e-12
"""Part of each variance that is added to it: the covariance of systems that are sums of others has a root then."""


def influences(problem: SumsProblem) -> np.ndarray:
    """The influence of each unit on the score of each system, `[system, unit]`; 0 for the only unit of a stratum.

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


def system_errors(moves: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Standard errors `[system]` of scores, from influences `[system, unit]`; 0 where none is above `rounding`."""
    return np.where(np.abs(moves).max(axis=1) > rounding, norms(moves), 0.0)


def of_pairs(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], moves: np.ndarray, members: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """The function of influences on deltas `[pair, unit]` and of what is `known` `[pair]` of them, for all pairs.

    `moves` `[system, unit]` are influences on scores; so many pairs at a time are held at once.
    """
    step = max(1, _NUMBERS // moves.shape[1])
    parts = [slice(start, start + step) for start in range(0, len(members), step)]
    found = (function(moves[members[part, 0]] - moves[members[part, 1]], known[part]) for part in parts)
    return np.concatenate([np.zeros(0), *found])


def degrees_of_freedom(sizes: np.ndarray, strata: np.ndarray) -> float:
    """Degrees of freedom of standard errors, from the numbers of instances and the strata of units, `[unit]`.

    0 where no stratum has two units.

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
    whole, uu, uv, vv = (np.bincount(strata, each) for each in (variance, u * u, u * v, v * v))
    rest = whole[strata] * u * u - 2.0 * u * v
    trace = total(np.bincount(strata, d + rest))
    square = (
        np.bincount(strata, d * d + 2.0 * d * rest) + 2.0 * (uu * vv + uv**2) + whole**2 * uu**2 - 4.0 * whole * uu * uv
    )
    return float(trace**2 / total(square))


def skewed_ends(skewness: np.ndarray, quantile: float, *, nearer: bool) -> tuple[np.ndarray, np.ndarray]:
    """How many standard errors the low and the high end are below the score `[target]`, by t with Hall's correction.

    `skewness` `[target]` is g, and `quantile` t, above 0; `nearer`: the end on the side of the short tail may be nearer
    than t.

    >>> [each.round(3) for each in skewed_ends(np.array([0.0, 0.3, 0.8]), 2.26, nearer=True)]
    [array([2.26 , 1.848, 1.473]), array([-2.26 , -3.254, -4.52 ])]
    >>> [each.round(3) for each in skewed_ends(np.array([0.0, 0.3, 0.8]), 2.26, nearer=False)]
    [array([2.26, 2.26, 2.26]), array([-2.26 , -3.254, -4.52 ])]
    """
    is_small = np.abs(skewness) < 1e-9
    third = np.where(is_small, 1.0, skewness) / 3.0

    def end(t: float) -> np.ndarray:
        """The x with x + g x^2 / 3 + g^2 x^3 / 27 + g / 6 = t, between t and twice, or half, of it."""
        x = (np.cbrt(1.0 + 3.0 * third * (t - skewness / 6.0)) - 1.0) / third
        bound = np.where(t * skewness < 0.0, t * _STRETCH, t / _STRETCH if nearer else t)
        return np.clip(np.where(is_small, t, x), np.minimum(t, bound), np.maximum(t, bound))

    return end(quantile), end(-quantile)


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

    >>> from sigjax.testing.p_values import t_quantile
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


def skewness(moves: np.ndarray, errors: np.ndarray) -> np.ndarray:
    r"""$g = \sum_i (u_i / s)^3$ `[...]` of influences `[..., unit]` with standard errors s; 0 where s is 0."""
    scaled = moves / np.where(errors > 0.0, errors, math.inf)[..., None]
    return total(np.square(scaled) * scaled)


def normal_maxima(moves: np.ndarray, targets: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """The largest |Z| of all targets, `[draw]`.

    `moves` `[system, unit]` are influences, and `targets` `[target, 2]` (a, b): the delta of two systems, or the score
    of a where b is the number of systems. All of them vary.
    """
    num_systems = len(moves)
    # Squares stay within the range of a double; a power of two rounds nothing.
    moves = np.ldexp(moves, -math.frexp(float(np.abs(moves).max()))[1])
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
        values = root @ special().ndtri(uniform.T)
        largest = found[start : start + len(rows)]
        for a, places in of_first.items():
            sizes = np.abs(values[a] - values[targets[places, 1]]) / lengths[places, None]
            np.maximum(largest, sizes.max(axis=0), out=largest)
    return found


def joint_level(maxima: np.ndarray, level: float, others: int = 0) -> float:
    """The level of each interval, for all of them to hold together at `level`.

    `maxima` `[draw]` are those of `normal_maxima`; `others` are intervals that are independent of these.

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


STEP = 2.0**-17
"""Relative step of the differences: truncation and rounding are both about 1e-10 of a gradient."""
NO_VARIANCE = 2.0**-40
"""A variance below this part of its terms is rounding."""


def slope(score: Callable[[np.ndarray], np.ndarray], at: np.ndarray, stat: int, step: float) -> np.ndarray:
    """The derivative of a score of sums `[stat, row]` -> `[row]` by a statistic, `[row]`, as a central difference.

    >>> slope(lambda sums: sums[0] / sums[1], np.array([[3.0], [4.0]]), 0, 2.0**-17)
    array([0.25])
    """
    moved = np.zeros((len(at), 1))
    moved[stat] = step
    ahead, here, behind = (score(at + sign * moved) for sign in (1.0, 0.0, -1.0))
    # At the edge of the domain of the score, a one-sided difference.
    lower, upper = (np.where(np.isfinite(each), each, here) for each in (behind, ahead))
    width = (np.isfinite(behind) * step + np.isfinite(ahead) * step).clip(min=step)
    return (upper - lower) / width


def delta_method_errors(
    values: np.ndarray, strata: np.ndarray, score: Score, pairs: Sequence[Pair], *, ddof: Literal[0, 1] = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of the scores of systems `[system]`, and of the deltas of pairs `[pair]`.

    With `ddof` = 1 squares are divided by the units of a stratum less one, as in variances of samples. `values` are
    `[system, unit, stat]` float64, units of a stratum together; `strata` `[unit]` ascend from 0; the score takes sums
    `[..., stat]`.

    >>> values = np.array([[[1.0], [2], [3], [6]], [[1], [1], [2], [8]]])
    >>> strata, mean = np.zeros(4, int), lambda sums: sums[..., 0] / 4
    >>> systems, deltas = delta_method_errors(values, strata, mean, [(0, 1)])
    >>> systems.round(6), deltas.round(6)
    (array([0.935414, 1.457738]), array([0.612372]))
    """
    moves, largest = two_way_influences(values, strata, score)
    moves = moves * np.sqrt(sample_factors(strata)) if ddof else moves
    members = np.array(pairs, np.int64).reshape(-1, 2)
    return _errors(moves, largest), of_pairs(_errors, moves, members, largest[members].sum(axis=1))


def two_way_influences(values: np.ndarray, strata: np.ndarray, score: Score) -> tuple[np.ndarray, np.ndarray]:
    """The influence of each unit on each score, `[system, unit]`; and the 2-norm of each row if no terms cancelled."""
    starts = np.searchsorted(strata, np.arange(int(strata[-1]) + 1))
    # Relative to the first unit of each stratum, what does not vary is exactly 0.
    apart = values - values[:, starts][:, strata]
    sizes = np.bincount(strata)[:, None]
    apart = apart - (np.add.reduceat(apart, starts, axis=1) / sizes)[:, strata]
    by_stat = values.swapaxes(1, 2)
    totals, steps = total(by_stat), STEP * total(np.abs(by_stat))
    found, bounds = np.zeros(values.shape[:2]), np.zeros(values.shape[:2])
    with np.errstate(all="ignore"):
        for system, at in enumerate(totals[:, :, None]):
            for stat in np.flatnonzero(steps[system]).tolist():
                gradient = slope(lambda sums: np.asarray(score(sums.T)), at, stat, float(steps[system, stat]))
                term = gradient * apart[system, :, stat]
                found[system] += term
                bounds[system] += np.abs(term)
    return found, norms(bounds)


def _errors(moves: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """The 2-norms `[row]`, 0 where they are rounding."""
    errors = norms(moves)
    return np.where(errors > math.sqrt(NO_VARIANCE) * largest, errors, 0.0)


def two_way_intervals(problem: SumsProblem, joint_pairs: int = 1) -> np.ndarray:
    """Standard error and ends of the interval of each score, then of each delta, `[target, 3]`.

    Intervals of `joint_pairs` deltas hold together.
    """
    hypotheses, level = problem.hypotheses, problem.settings.level
    of_systems, of_pairs = two_way_errors(problem.units, problem.metric.score, hypotheses.pairs)
    check_finite(of_systems[:, :1])

    def around(observed: np.ndarray, found: np.ndarray, level: float) -> np.ndarray:
        """The t intervals around the observed numbers."""
        widths = np.array([error * t_quantile(level, freedom) if error else 0.0 for error, freedom in found.tolist()])
        return np.stack([found[:, 0], observed - widths, observed + widths], axis=1)

    of_deltas = around(hypotheses.deltas, of_pairs, bonferroni_level(level, joint_pairs))
    return np.concatenate([around(np.array(hypotheses.scores), of_systems, level), of_deltas])


@np.errstate(all="ignore")
def two_way_errors(units: Units, score: Score, pairs: Sequence[Pair]) -> _Both:
    """Standard errors and their degrees of freedom, `[system, 2]` and `[pair, 2]`; every unit has every run.

    An error is not finite where the slope of the score is not. A standard error of 0 has infinitely many degrees.

    >>> from sigjax import Evaluation
    >>> from sigjax.resample.units import make_units
    >>> arrays = {"A": [3, 5, 1, 3], "B": [0, 0, 0, 4]}
    >>> evaluation = Evaluation.from_arrays(arrays, ids=["x", "x", "y", "y"], runs=[1, 2, 1, 2])
    >>> both = two_way_errors(make_units(evaluation, "models"), evaluation.metric.score, [(0, 1)])
    >>> np.concatenate(both).round(6).tolist()
    [[1.414214, 2.0], [1.0, 1.0], [2.236068, 1.315789]]
    """
    assert units.outputs is not None
    num_runs, strata = int(units.outputs.sizes[0]), units.strata
    cells = units.unscaled(units.outputs.values.astype(np.float64))
    found, largest = two_way_influences(cells, np.repeat(strata, num_runs), score)
    scale = 2.0 ** math.frexp(float(np.abs(found).max()))[1]  # squares stay within the range of a double
    table = (found / scale).reshape(len(found), len(strata), num_runs)
    of_units, (of_runs, of_rest) = total(table), _of_runs(table, strata)
    freedom = len(strata) - len(np.unique(strata))

    def error(influence: np.ndarray, systems: list[int]) -> tuple[float, float]:
        runs, rest = of_runs[systems], of_rest[systems]  # and V_units
        own = float(total(np.square(influence - _stratum_means(influence, strata)) * sample_factors(strata)))
        square = max(own + runs.sum() - rest.sum(), own, runs.sum())
        if square <= NO_VARIANCE * (largest[systems].sum() / scale) ** 2:
            return 0.0, math.inf
        less = max(freedom, 1)  # with one unit in each stratum, its part is 0
        spread = own**2 / less + (runs**2).sum() / (num_runs - 1) + (rest**2).sum() / (less * (num_runs - 1))
        fewest = min(num_runs - 1, less)  # of a part by itself; below it, only because the rest was taken off
        return math.sqrt(square) * scale, max(float(square**2 / spread), float(fewest))

    of_systems = np.array([error(of_system, [system]) for system, of_system in enumerate(of_units)])
    return of_systems, np.array([error(of_units[a] - of_units[b], [a, b]) for a, b in pairs]).reshape(-1, 2)


def _of_runs(table: np.ndarray, strata: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V_runs and V_rest `[system]` of influences `[system, unit, run]`."""
    num_systems, num_units, num_runs = table.shape
    by_run = table.swapaxes(1, 2)
    of_runs = total(by_run)
    within = by_run - (total(table) / num_runs)[:, None]
    rest = np.square(within - _stratum_means(within, strata)) * sample_factors(strata)
    factor = num_runs / (num_runs - 1)
    return num_runs * variance(of_runs), factor * total(rest.reshape(num_systems, num_units * num_runs))


def sample_factors(strata: np.ndarray) -> np.ndarray:
    """Number of units of its stratum over that number less 1, `[unit]`; 1 where there is one, whose part is 0."""
    sizes = np.bincount(strata)[strata]
    return sizes / np.maximum(sizes - 1, 1)


def _stratum_means(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """The mean over its stratum of each unit, `[..., unit]`."""
    ends = np.cumsum(np.bincount(strata))
    parts = np.split(values, ends[:-1], axis=-1)
    return np.stack([total(part) / part.shape[-1] for part in parts], axis=-1)[..., strata]


_FEW_UNITS = 10
"""With fewer, or fewer than systems, correlations of deltas are too uncertain to be used."""
_Both = tuple[np.ndarray, np.ndarray]
"""Numbers of all scores `[system]`, and of all deltas `[pair]`."""
_CACHED = 2**12
"""Intervals whose ends are sought together."""
_TANGO_WIDTH = 1e-14
"""How near their ends are known, of differences from -1 to 1."""


def right_or_wrong(problem: SumsProblem) -> bool:
    """Whether each unit is one answer, 0 or 1, and the score is the share of ones, without strata."""
    units = problem.units
    if problem.moved or problem.metric.score is not mean_score or units.divisors is not None or units.strata.any():
        return False
    answers, counts = units.values[:, :, 0], units.values[:, :, 1]
    return bool((counts == 1).all() and ((answers == 0) | (answers == 1)).all())


def bonferroni_level(level: float, count: float) -> float:
    """The level of each of so many intervals, for all of them to hold together however they depend on each other.

    >>> round(bonferroni_level(0.95, 10), 6), bonferroni_level(0.95, 1)
    (0.995, 0.95)
    """
    return level if count <= 1 else 1.0 - (1.0 - level) / count


def jackknife_intervals(problem: SumsProblem, joint_pairs: int = 1, *, proportions: bool = True) -> np.ndarray:
    """Standard error and ends of the interval of each score, then of each delta, `[target, 3]`.

    Ends are NaN where there is no interval. Intervals of `joint_pairs` deltas, those of other problems included, hold
    together by Bonferroni's inequality; for "simultaneous" those of all scores do, and those of all deltas. Without
    `proportions`, numbers that are all 0 or 1 are not taken for answers right or wrong.
    """
    hypotheses, settings, proportions = problem.hypotheses, problem.settings, proportions and right_or_wrong(problem)
    moves, errors = np.zeros((0, 0)), _errors_of_proportions(problem) if proportions else None
    if errors is None or settings.interval == "simultaneous":
        moves = influences(problem.centred)
    if errors is None:
        known = problem.centred.hypotheses
        errors = (
            system_errors(moves, 2.0 * np.array(known.tolerances)),
            of_pairs(system_errors, moves, known.members, known.rounding),
        )
    levels = settings.level, bonferroni_level(settings.level, joint_pairs)
    if settings.interval == "simultaneous":
        systems = np.stack([np.arange(len(moves)), np.full(len(moves), len(moves))], axis=1)
        levels = tuple(
            _joint_level(problem, moves, targets, of_targets > 0.0, proportions=proportions)
            for targets, of_targets in zip((systems, hypotheses.members), errors, strict=True)
        )
    return _of_proportions(problem, errors, levels) if proportions else _by_t(problem, moves, errors, levels)


def _joint_level(
    problem: SumsProblem, moves: np.ndarray, targets: np.ndarray, varies: np.ndarray, *, proportions: bool
) -> float:
    """The level at which all intervals of some targets `[target, 2]` hold together.

    A score interval of a proportion has a length also where no answer varies: it counts as independent of the others.
    Those of few answers are long enough for correlations that are uncertain.
    """
    settings, num_units = problem.settings, len(problem.units.strata)
    if num_units < max(_FEW_UNITS, len(moves)) and not proportions:
        return bonferroni_level(settings.level, int(varies.sum()))
    others, maxima = int((~varies).sum()) if proportions else 0, np.zeros(1)
    if varies.sum() + others <= 1:
        return settings.level
    if varies.any():
        maxima = normal_maxima(moves, targets[varies], settings.fixed_resamples, settings.seed)
    return max(joint_level(maxima, settings.level, others), settings.level)  # draws may put it just below


def _of_proportions(problem: SumsProblem, errors: _Both, levels: tuple[float, ...]) -> np.ndarray:
    """Wilson's intervals of all scores and Tango's of all deltas."""
    num_units, (only_a, only_b, which) = problem.units.values.shape[1], _only(problem)
    pairs = [ends[which] for ends in tango_interval(only_a, only_b, num_units, levels[1])]
    systems = wilson_interval(problem.units.totals[:, 0].astype(np.float64), num_units, levels[0])
    return np.concatenate([np.stack([errors[0], *systems], axis=1), np.stack([errors[1], *pairs], axis=1)])


def _only(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of instances that only a, and only b, has right, `[problem]` float64; and the problem of each pair."""
    counted = problem.counted
    if counted is None:  # no system differs from another
        return np.zeros(1), np.zeros(1), np.zeros(len(problem.hypotheses.members), np.int64)
    assert counted.counts is not None
    only_a, only_b = counted.counts.T.astype(np.float64)
    return only_a, only_b, counted.which


def _errors_of_proportions(problem: SumsProblem) -> _Both:
    """Standard errors from counts: the sums of squares of differences, and of their mean, are whole numbers."""
    num_units, (only_a, only_b, which) = float(problem.units.values.shape[1]), _only(problem)
    right = problem.units.totals[:, 0]
    scale = num_units**2 * max(num_units - 1.0, 1.0)
    of_pairs = np.sqrt((num_units * (only_a + only_b) - (only_a - only_b) ** 2) / scale)
    return np.sqrt(right * (num_units - right) / scale), of_pairs[which]


def _by_t(problem: SumsProblem, moves: np.ndarray, errors: _Both, levels: tuple[float, ...]) -> np.ndarray:
    """Intervals by t of all scores and deltas, corrected for skewness and cut at the bounds of the metric.

    There are none where no stratum has two units.
    """
    hypotheses, degrees = problem.hypotheses, degrees_of_freedom(problem.units.sizes, problem.units.strata)
    if degrees == 0.0:
        known = np.concatenate(errors)
        return np.stack([known, *np.full((2, len(known)), math.nan)], axis=1)
    (lowest, highest), scores = problem.metric.bounds, np.array(hypotheses.scores)
    low, high = skewed_ends(skewness(moves, errors[0]), t_quantile(levels[0], degrees), nearer=True)
    ends = np.maximum(scores - errors[0] * low, np.minimum(lowest, scores))
    systems = errors[0], ends, np.minimum(scores - errors[0] * high, np.maximum(highest, scores))
    deltas, largest = hypotheses.deltas, highest - lowest
    skewed = of_pairs(skewness, moves, hypotheses.members, errors[1])
    low, high = skewed_ends(skewed, t_quantile(levels[1], degrees), nearer=False)
    low, high = deltas - errors[1] * low, deltas - errors[1] * high
    pairs = errors[1], np.maximum(low, -largest), np.minimum(high, largest)
    return np.concatenate([np.stack(systems, axis=1), np.stack(pairs, axis=1)])


def wilson_interval(successes: np.ndarray, trials: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Wilson's score interval of a proportion.

    All $p$ with $|\hat p - p| \le z \sqrt{p (1 - p) / n}$, for $\hat p$ = successes / $n$ and the normal quantile $z$.
    Successes and both ends are `[...]`; trials are 1 or more, and ends in [0, 1].

    >>> low, high = wilson_interval(np.array([10, 20]), 20, 0.95)
    >>> low.round(4), high.round(4)
    (array([0.2993, 0.8389]), array([0.7007, 1.    ]))
    """
    z = normal_quantile((1.0 + level) / 2.0)
    square = z * z
    failures = trials - successes
    middle = successes + square / 2.0
    half = np.sqrt(square * (successes * (failures / trials) + square / 4.0))
    low = np.where(successes == 0, 0.0, (middle - half) / (trials + square))
    high = np.where(failures == 0, 1.0, (middle + half) / (trials + square))
    return low, high


def tango_interval(only_a: np.ndarray, only_b: np.ndarray, trials: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Tango's score interval of the difference of two proportions on the same instances.

    All $\delta$ with $|b - c - n \delta| \le z \sqrt{n (2 q + \delta (1 - \delta))}$, where $b$ and $c$ are the numbers
    of instances that only a and only b has right, and $q$ is the maximum-likelihood probability of the latter, given
    $\delta$: the root of $2 n q^2 - (b + c - (2 n - b + c) \delta) q - c \delta (1 - \delta)$ that is a probability. It
    excludes 0 exactly where McNemar's chi-square, uncorrected, rejects. Counts and both ends are `[...]`; trials n are
    1 or more, and ends, of a - b, in [-1, 1].

    >>> low, high = tango_interval(np.array([0, 1]), np.array([0, 7]), 21, 0.95)
    >>> low.round(4), high.round(4)
    (array([-0.1546, -0.5172]), array([ 0.1546, -0.026 ]))
    """
    z = normal_quantile((1.0 + level) / 2.0)
    only_a, only_b = np.broadcast_arrays(np.asarray(only_a, np.float64), np.asarray(only_b, np.float64))
    low, high = np.empty(only_a.shape), np.empty(only_a.shape)
    for at in range(0, max(only_a.size, 1), _CACHED):
        b, c = (each.ravel()[at : at + _CACHED] for each in (only_a, only_b))
        low.ravel()[at : at + _CACHED] = _tango_low(b, c, trials, z)
        high.ravel()[at : at + _CACHED] = -_tango_low(c, b, trials, z)
    return low, high


def _tango_low(b: np.ndarray, c: np.ndarray, n: int, z: float) -> np.ndarray:
    """The least delta that is not rejected: the test statistic falls as delta grows.

    By inverse quadratic interpolation where it is safe, else by bisection. Reference: Chandrupatla (1997), "A new
    hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives".
    """

    def excess(delta: np.ndarray) -> np.ndarray:
        return b - c - n * delta - z * _tango_deviation(b, c, n, delta)

    last, other, step = (b - c) / n, np.full(b.shape, -1.0), 0.5
    at_last, at_other = excess(last), excess(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        while True:
            new = last + step * (other - last)
            at_new = excess(new)
            kept = (at_new > 0.0) == (at_last > 0.0)  # the root is between the new point and this one of the old ones
            before, at_before = np.where(kept, last, other), np.where(kept, at_last, at_other)
            other, at_other = np.where(kept, other, last), np.where(kept, at_other, at_last)
            last, at_last = new, at_new
            width = np.abs(other - last)
            if (width <= _TANGO_WIDTH).all():
                return np.where(np.abs(at_last) < np.abs(at_other), last, other)
            x, y = (last - other) / (before - other), (at_last - at_other) / (at_before - at_other)
            guess = at_last / (at_other - at_last) * at_before / (at_other - at_before)
            guess += (
                at_last / (at_before - at_last) * at_other / (at_before - at_other) * (before - last) / (other - last)
            )
            safe = (1.0 - np.sqrt(1.0 - x) < y) & (y < np.sqrt(x)) & np.isfinite(guess)
            least = np.minimum(0.5 * _TANGO_WIDTH / width, 0.5)
            # Those that are found stay, so that an end does not depend on which others are sought with it.
            step = np.where(width <= _TANGO_WIDTH, 0.0, np.clip(np.where(safe, guess, 0.5), least, 1.0 - least))


def _tango_deviation(b: np.ndarray | float, c: np.ndarray | float, n: int, delta: np.ndarray | float) -> np.ndarray:
    """The standard deviation of b - c, given a difference of delta from -1 to 1."""
    linear = b + c - (2 * n - b + c) * delta
    product = delta * (1.0 - delta)
    q = (np.sqrt(np.maximum(linear * linear + 8.0 * n * c * product, 0.0)) + linear) / (4 * n)
    return np.sqrt(np.maximum(n * (2.0 * q + product), 0.0))


def tango_tail(only_a: int, only_b: int, trials: int, delta: float) -> float:
    r"""The one-sided p-value of Tango's score test, of a difference of at most delta.

    $1 - \Phi((b - c - n \delta) / \sqrt{n (2 q + \delta (1 - \delta))})$, as in `tango_interval`; 0 for a delta
    below -1, which no difference can have, and 1 for one above 1.

    >>> round(tango_tail(1, 7, 21, -0.5172), 3), tango_tail(0, 0, 21, 0.0)
    (0.025, 1.0)
    """
    if abs(delta) > 1.0:
        return float(delta > 0.0)
    distance = only_a - only_b - trials * delta
    deviation = float(_tango_deviation(only_a, only_b, trials, delta))
    if deviation == 0.0:
        return float(distance <= 0.0)
    return 0.5 * math.erfc(distance / deviation / math.sqrt(2.0))
