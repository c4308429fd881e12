r"""The kinds of confidence intervals, each declared once with the code that makes it; and intervals in closed form.

These records also decide which options are refused, and what notes, methods paragraph and help page say about
intervals.

To add a kind that uses bootstrap replicates, add its name to `records.settings.IntervalKind`, and write a subclass of
`Percentile` (example: `Basic`) and its record. Add the BibTeX entry that the record cites to `data/references.bib`.

**The rule** for the kind `auto`, and for the kind `simultaneous`, which uses the same intervals at a joint level:

- Answers that are right or wrong, one per unit, without strata: Wilson's score interval for a score, Tango's score
  interval for a delta.
- Other metrics of sums: Student's t with the jackknife's standard error, corrected for skewness. For deltas, the
  correction moves ends only outwards.
- Metrics that are not functions of sums, and runs drawn within units (design nested): the bootstrap (percentile
  intervals for `auto`).
- Runs that are trained models (design models): `two-way` intervals.

**Simultaneous or not.** A row with "[-0.07, -0.01], adjusted p 1" contradicts itself. So if the correction for multiple
comparisons bounds the family-wise error, `auto` and `two-way` make the intervals of the m deltas that are adjusted
together simultaneous, at a joint level. In closed form, each interval has Bonferroni's level, 1 - alpha / m; from
replicates, the largest deviation gives the level (`JointDeltas`). An interval at Bonferroni's level excludes 0 only if
the test that the interval inverts gives p < alpha / m (rounding apart). If the test that was run gives p < alpha / m,
too, Bonferroni, Holm and Hochberg all reject. So an interval that excludes 0 contradicts the adjusted p only if the
inverted test differs from the test that was run, or if a sampled p cannot be that small; a note names such pairs.
Intervals of the kind `simultaneous` are narrower by 3%, and need draws of normal variables. They contradict Holm's
decisions for several times as many pairs, because the quantile of the maximum is below Bonferroni's quantile. With
other corrections, and with all other kinds that the user chose, each interval is for its pair alone. Intervals of
scores are simultaneous only for the kind `simultaneous`.

**Score intervals** are Wilson's interval for a score and Tango's interval for a delta. If 20 of 20 answers are right,
the bootstrap never draws a wrong answer, so its intervals are [1, 1]. A score test uses the variance under the tested
proportion, not the observed variance. Both intervals invert a score test, so they have a positive length. References:
Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Tango (1998), "Equivalence test
and confidence interval for the difference in proportions for the paired-sample design"; Fagerland, Lydersen and Laake
(2014), "Recommended tests and confidence intervals for paired binomial proportions".

**The joint level** is the level of each single interval that makes all intervals simultaneous. Scores and deltas are
nearly jointly normal. The scores of systems k and l have the covariance $\sum_i u_{ki} u_{li}$, where $u_{ki}$ is the
influence of unit i on the score of system k. For each interval, let Z be a normal variable with mean 0 and variance 1;
the Z of all intervals have the correlations of the scores and deltas. Draws of these variables give c, the quantile of
the largest $|Z|$ at the requested level. Each interval then has the level $P(|Z| \le c)$ of a single Z. It is narrower
than Bonferroni's interval by about 3%. Covariances are treated as known, although they are estimated. So intervals
would be too narrow with fewer than ten units, or with fewer units than systems: with 25 systems and ten units of normal
numbers, at least one interval missed the true delta in 9% of reports. Bonferroni's level is used in such cases.
Reference: Hothorn, Bretz and Westfall (2008), "Simultaneous inference in general parametric models".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sigjax.metrics.ratios import mean_score
from sigjax.records import CORRECTIONS, DESIGNS, Metric, SampleMetric, Settings
from sigjax.records.settings import DesignMethod, IntervalName, bonferroni_level
from sigjax.resample.draws import row_keys, words
from sigjax.testing.jackknife import influences, map_pairs, system_errors
from sigjax.testing.problem import Problem, SumsProblem
from sigjax.testing.replicates import Bca, Simultaneous, Studentized
from sigjax.testing.skewed_t import skewed_t_intervals
from sigjax.testing.special import normal_quantile, scipy_special
from sigjax.testing.two_way import two_way_intervals
from sigjax.testing.uncertainty import Basic, Percentile

_FEW_UNITS = 10
"""Smallest number of units for which the level of simultaneous t intervals uses correlations. There must also be at
least as many units as systems. (For score intervals, the level always uses correlations.)"""
_ROWS = 2**10
"""A draw has one random normal number per system; a block has at most this many draws."""
_RIDGE = 1e-12
"""Each variance is increased by this share, so that the covariance matrix has a Cholesky root even if a system's scores
are a sum of other systems' scores."""


def jackknife_intervals(problem: SumsProblem, joint_pairs: int = 1, *, proportions: bool = True) -> np.ndarray:
    """Return the standard error and the interval ends of each score, then of each delta, `[target, 3]`.

    Ends are NaN if there is no interval. `joint_pairs` is the number of deltas, over all problems, whose intervals are
    made simultaneous by Bonferroni's inequality. If the kind of interval in the settings is "simultaneous", the
    intervals of all scores are simultaneous, and so are the intervals of all deltas. If `proportions` is false, numbers
    that are all 0 or 1 get the same kind of interval as other numbers.
    """
    hypotheses, settings, proportions = problem.hypotheses, problem.settings, proportions and right_or_wrong(problem)
    influence, errors = np.zeros((0, 0)), errors_of_proportions(problem) if proportions else None
    if errors is None or settings.interval == "simultaneous":
        influence = influences(problem.influence_problem)
    if errors is None:
        known = problem.influence_problem.hypotheses
        errors = (
            system_errors(influence, 2.0 * np.array(known.tolerances)),
            map_pairs(system_errors, influence, known.members, known.rounding),
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
    """The level of each single interval that makes the intervals of some targets simultaneous.

    `targets` `[target, 2]` are scores (a, number of systems) or deltas (a, b), and `influence` `[system, unit]` are the
    influences on scores. `varies` `[target]` is false for a score or delta whose standard error is 0. If `proportions`
    is true, such a score or delta has a score interval with a positive length, which counts as independent of the other
    intervals. If units are few, correlations are uncertain. Then the level is Bonferroni's, except if `proportions` is
    true, because score intervals are long enough.
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


def normal_maxima(influence: np.ndarray, targets: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Return, for each of `draws` random draws, the largest |Z| over all targets (scores and deltas), `[draw]`.

    Z is the normal error of a score or delta, divided by its standard error. `influence` `[system, unit]` are the
    influences on scores. A row of `targets` `[target, 2]` is (a, b) for the delta of two systems, and (a, number of
    systems) for the score of a. No target may have a standard error of 0.
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
    """Yield random normal errors of scores, `[system, draw]`, in blocks; `draws` is the number of all draws.

    Their covariances come from the influences `influence` `[system, unit]` on scores.
    """
    return (values * _scale(influence) for values in _normal(_root(influence), draws, seed))


def _normal(root: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Yield products `[row, draw]`, in blocks: the matrix `root` `[row, system]` times standard normal numbers."""
    num_systems = root.shape[1]
    num_words = num_systems + num_systems % 2
    for start in range(0, draws, _ROWS):
        rows = np.arange(start, min(start + _ROWS, draws))
        uniform = (words(row_keys(seed, rows), num_words)[:, :num_systems] + 0.5) * 2.0**-32
        yield root @ scipy_special().ndtri(uniform.T)


def _root(influence: np.ndarray) -> np.ndarray:
    """The Cholesky root `[system, system]` of the scores' covariances; influences are first divided by `_scale`."""
    influence = influence / _scale(influence)
    covariance = influence @ influence.T
    variances = np.diag(covariance)
    return np.linalg.cholesky(covariance + np.diag(_RIDGE * np.where(variances > 0.0, variances, 1.0)))


def _scale(influence: np.ndarray) -> float:
    """A power of two. Dividing influences by it does not round, and keeps squares within the range of a double."""
    return math.ldexp(1.0, math.frexp(float(np.abs(influence).max()))[1])


def joint_level(maxima: np.ndarray, level: float, others: int = 0) -> float:
    """The level of each single interval that makes all intervals simultaneous at `level`.

    `maxima` `[draw]` are the largest |Z| of all intervals on each draw (see `normal_maxima`). `others` is the number of
    further intervals, which are independent of these.

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


_CACHED = 2**12
"""The ends of this many intervals are computed in one block."""
_TANGO_WIDTH = 1e-14
"""The absolute precision of the ends of Tango's intervals, which lie between -1 and 1."""


def right_or_wrong(problem: SumsProblem) -> bool:
    """Whether each unit is one answer, 0 or 1, and the score is the share of ones, without strata."""
    units = problem.units
    if problem.is_shifted or problem.metric.score is not mean_score or units.divisors is not None or units.strata.any():
        return False
    answers, counts = units.values[:, :, 0], units.values[:, :, 1]
    return bool((counts == 1).all() and ((answers == 0) | (answers == 1)).all())


def proportion_intervals(
    problem: SumsProblem, errors: tuple[np.ndarray, np.ndarray], levels: tuple[float, ...]
) -> np.ndarray:
    """Return standard errors and interval ends `[target, 3]`: Wilson's for each score, then Tango's for each delta.

    `errors` are the standard errors of scores and of deltas, and `levels` the confidence levels of their intervals.
    """
    num_units, (only_a, only_b, which) = problem.units.values.shape[1], _only(problem)
    pairs = [ends[which] for ends in tango_interval(only_a, only_b, num_units, levels[1])]
    systems = wilson_interval(problem.units.totals[:, 0].astype(np.float64), num_units, levels[0])
    return np.concatenate([np.stack([errors[0], *systems], axis=1), np.stack([errors[1], *pairs], axis=1)])


def _only(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays: two counts of instances `[group]`, and the group of each pair `[pair]`.

    Pairs with the same two counts are a group. The counts are the number of instances on which only system a is right,
    and the number on which only system b is right.
    """
    counted = problem.equal_count_pairs
    if counted is None:  # no two systems differ
        return np.zeros(1), np.zeros(1), np.zeros(len(problem.hypotheses.members), np.int64)
    assert counted.counts is not None
    only_a, only_b = counted.counts.T.astype(np.float64)
    return only_a, only_b, counted.which


def errors_of_proportions(problem: SumsProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard errors of scores `[system]` and of deltas `[pair]`, for right-or-wrong answers.

    They are computed from counts, so that sums of squares are exact integers.
    """
    num_units, (only_a, only_b, which) = float(problem.units.values.shape[1]), _only(problem)
    right = problem.units.totals[:, 0]
    scale = num_units**2 * max(num_units - 1.0, 1.0)
    pair_errors = np.sqrt((num_units * (only_a + only_b) - (only_a - only_b) ** 2) / scale)
    return np.sqrt(right * (num_units - right) / scale), pair_errors[which]


def wilson_interval(successes: np.ndarray, trials: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Wilson's score interval for a proportion.

    The interval contains all $p$ with $|\hat p - p| \le z \sqrt{p (1 - p) / n}$, for $\hat p$ = successes / $n$ and the
    normal quantile $z$. `successes` `[...]` and `trials` (n, at least 1) are counts. Return the low ends and the high
    ends, each `[...]`, which are between 0 and 1.

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
    r"""Tango's score interval for the difference of two proportions on the same instances.

    The interval contains all $\delta$ with $|b - c - n \delta| \le z \sqrt{n (2 q + \delta (1 - \delta))}$. Here n is
    `trials` (at least 1), $b$ is the number of instances on which only system a is right (`only_a` `[...]`), and $c$
    the number on which only system b is right (`only_b` `[...]`). $q$ is the maximum-likelihood probability that only
    system b is right, given $\delta$: the root of $2 n q^2 - (b + c - (2 n + c - b) \delta) q - c \delta (1 - \delta)$
    that is a probability. The interval excludes 0 exactly if McNemar's chi-square test, uncorrected, rejects. Return
    the low ends and the high ends of the difference a - b, each `[...]`, which are between -1 and 1.

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
    """The least delta that Tango's test does not reject, from the counts b and c of `tango_interval`, in n trials.

    z is the normal quantile of the level. The method is inverse quadratic interpolation if it is safe, else bisection.
    Reference: Chandrupatla (1997), "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
    function without using derivatives".
    """

    def excess(delta: np.ndarray) -> np.ndarray:
        return b - c - n * delta - z * _tango_deviation(b, c, n, delta)

    last, other, step = (b - c) / n, np.full(b.shape, -1.0), 0.5
    at_last, at_other = excess(last), excess(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        while True:
            new = last + step * (other - last)
            at_new = excess(new)
            kept = (at_new > 0.0) == (at_last > 0.0)  # the root is between the new point and the last point
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
            # Ends that are found stay fixed, so that an end does not depend on the other intervals of its block.
            step = np.where(width <= _TANGO_WIDTH, 0.0, np.clip(np.where(safe, guess, 0.5), least, 1.0 - least))


def _tango_deviation(b: np.ndarray | float, c: np.ndarray | float, n: int, delta: np.ndarray | float) -> np.ndarray:
    """The standard deviation of b - c (see `tango_interval`) if the true difference is `delta`, between -1 and 1."""
    linear = b + c - (2 * n - b + c) * delta
    product = delta * (1.0 - delta)
    q = (np.sqrt(np.maximum(linear * linear + 8.0 * n * c * product, 0.0)) + linear) / (4 * n)
    return np.sqrt(np.maximum(n * (2.0 * q + product), 0.0))


def tango_tail(only_a: int, only_b: int, trials: int, delta: float) -> float:
    r"""The one-sided p-value of Tango's score test of the null hypothesis that the difference is at most delta.

    $1 - \Phi((b - c - n \delta) / \sqrt{n (2 q + \delta (1 - \delta))})$, with the symbols of `tango_interval`: b is
    `only_a`, c is `only_b`, and n is `trials`. A difference of proportions cannot be below -1 or above 1, so p is 0 if
    delta is below -1, and 1 if delta is above 1.

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


@dataclass(frozen=True, slots=True)
class IntervalMethod:
    """A kind of confidence interval.

    Attributes:
        name: the name of the kind for users; for kinds that only `auto` chooses, the name in reports.
        words: words for the methods paragraph, with citations.
        about: text of the help page; empty if users cannot choose this kind.
        needs: what the intervals are computed from. For metrics that are not functions of sums, and in design nested,
            replicates replace the jackknife.
        of_replicates: the class that makes the intervals from replicates.
        closed: a function that makes the intervals without resamples. It takes the problem and the number of
            simultaneous deltas, and returns the standard error and the interval ends of each score, then of each delta,
            `[target, 3]`.
        fits_correction: whether intervals of deltas are simultaneous if the correction for multiple comparisons bounds
            the family-wise error.
        of_sums: whether the kind is only for metrics that are functions of sums.
        whole: whether the kind needs whole instances to be drawn, so that it does not fit design nested, which draws
            runs within instances.
        samples: whether the kind needs resamples even if the distribution of all resamples is known.
        missing: why a score or a delta may have no such interval.
        note: a sentence about the kind for every report.
    """

    name: str
    words: str = ""
    about: str = ""
    needs: Literal["replicates", "jackknife", "runs", "nothing"] = "replicates"
    of_replicates: type[Percentile] = Percentile
    closed: Callable[[SumsProblem, int], np.ndarray] | None = None
    fits_correction: bool = False
    of_sums: bool = False
    whole: bool = False
    samples: bool = False
    missing: str = ""
    note: str = ""

    def reason_against(self, design: DesignMethod) -> str | None:
        """The reason why this kind of interval does not fit a design; None if it fits."""
        if self.whole and design.draws == "outputs":
            return f"interval {self.name} takes whole instances; use percentile with design {design.name}"
        if design.draws is None and self.needs not in ("runs", "nothing"):
            return f"interval {self.name} is not for trained models; use two-way with design {design.name}"
        if design.draws is not None and self.needs == "runs":
            return f"interval {self.name} is for runs that are trained models; use it with design models"
        return None


_ONE_UNIT = "no stratum has two units"
INTERVALS: dict[str, IntervalMethod] = {
    each.name: each
    for each in (
        IntervalMethod(
            "auto",
            about="The default, see below. Needs no resamples, and holds for few units and for clusters of unequal "
            "size. Intervals of deltas are simultaneous if p is adjusted.",
            needs="jackknife",
            closed=jackknife_intervals,
            fits_correction=True,
            missing=_ONE_UNIT,
        ),
        IntervalMethod(
            "simultaneous",
            r"simultaneous bootstrap intervals~\cite{hothorn2008}",
            "The same, but simultaneous for all deltas of a metric, and for all its scores: by draws, or "
            "Bonferroni's for few units.",
            "jackknife",
            Simultaneous,
            jackknife_intervals,
            missing=_ONE_UNIT,
            note="intervals are simultaneous: for all scores of a metric, and for the deltas of all pairs",
        ),
        IntervalMethod(
            "percentile",
            r"bootstrap percentile intervals~\cite{efron1993}",
            "Quantiles of bootstrap replicates: too narrow for few units and unequal clusters, and [1, 1] where "
            "all answers are right.",
        ),
        IntervalMethod(
            "basic",
            r"basic bootstrap intervals~\cite{davison1997}",
            "The same, reflected at the observed value: poor for proportions near 0 or 1.",
            of_replicates=Basic,
        ),
        IntervalMethod(
            "bca",
            r"BCa bootstrap intervals~\cite{efron1987}",
            "Quantiles at levels corrected for bias and skewness: too narrow for few units with heavy tails.",
            of_replicates=Bca,
            whole=True,
            missing="all resamples lie on one side of what was observed",
        ),
        IntervalMethod(
            "studentized",
            r"studentized bootstrap intervals~\cite{davison1997}",
            "By the delta-method standard error of every resample: nearest to its level for means of skewed numbers; "
            "smooth metrics of sums.",
            of_replicates=Studentized,
            of_sums=True,
            whole=True,
            samples=True,
            missing="too many resamples have a standard error of 0",
        ),
        IntervalMethod(
            "two-way",
            r"$t$ with the variances of instances and of runs and Satterthwaite's degrees of freedom"
            r"~\cite{satterthwaite1946}",
            "delta +/- t s, s from the variance of runs and of instances: for trained models (--design models), and "
            "no other design.",
            "runs",
            closed=two_way_intervals,
            fits_correction=True,
            note="p is for new runs on these instances; standard errors and intervals are for new runs on new ones",
        ),
        IntervalMethod("none", about="No intervals.", needs="nothing"),
        IntervalMethod("wilson", r"Wilson's score interval~\cite{wilson1927}", needs="jackknife"),
        IntervalMethod("tango", r"Tango's score interval~\cite{tango1998}", needs="jackknife"),
        IntervalMethod(
            "hall-t",
            r"Student's $t$ with the jackknife's standard error~\cite{efron1993}, corrected for "
            r"skewness (Hall's correction~\cite{hall1992}, with bounds)",
            needs="jackknife",
        ),
        IntervalMethod(
            "conservative-t",
            r"Student's $t$ with the jackknife's standard error~\cite{efron1993}, lengthened on the side "
            r"of the long tail (a modification of Hall's correction~\cite{hall1992})",
            needs="jackknife",
        ),
    )
}


class IntervalNames(NamedTuple):
    """The names of two kinds of intervals, for all scores and for all deltas; None if there are no intervals."""

    systems: IntervalName | None
    pairs: IntervalName | None


def in_closed_form(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals come from the jackknife, without resamples."""
    of_sums = isinstance(metric, Metric) and DESIGNS[settings.design].draws == "units"
    return of_sums and INTERVALS[settings.interval].needs == "jackknife"


def draws_intervals(metric: Metric | SampleMetric, settings: Settings) -> bool:
    """Whether standard errors and intervals need bootstrap resamples, or the exact bootstrap distribution."""
    return INTERVALS[settings.interval].needs != "nothing" and not in_closed_form(metric, settings)


def bootstraps(problem: Problem) -> bool:
    """Whether the bootstrap is used: for the test, or for intervals and standard errors.

    It needs more than one unit.
    """
    settings = problem.settings
    needed = "bootstrap" in settings.tests or draws_intervals(problem.metric, settings)
    return needed and INTERVALS[settings.interval].needs != "runs" and len(problem.units.strata) > 1


def closed_intervals(problem: Problem, joint_pairs: int = 1) -> np.ndarray | None:
    """Return the standard error and the interval ends of each score, then of each delta, `[target, 3]`.

    Return None if the intervals need resamples. `joint_pairs` is the number of deltas, over all problems, whose
    intervals are simultaneous.
    """
    interval = INTERVALS[problem.settings.interval]
    if interval.closed is None or not isinstance(problem, SumsProblem) or len(problem.units.strata) == 1:
        return None
    needed = interval.needs == "runs" or in_closed_form(problem.metric, problem.settings)
    return interval.closed(problem, joint_pairs) if needed else None


def joint_pairs(settings: Settings, num_pairs: int, family_size: int) -> int:
    """The number of deltas whose intervals are simultaneous; 1 if each interval is for its pair alone.

    `num_pairs` is the number of pairs of the metric. `family_size` is the number of pairs whose p-values are adjusted
    together.
    """
    if settings.interval == "simultaneous":
        return num_pairs
    fits = INTERVALS[settings.interval].fits_correction and CORRECTIONS[settings.correction].bounds == "familywise"
    return family_size if fits else 1


def interval_names(problem: Problem, joint: int = 1) -> IntervalNames:
    """Return the kinds of intervals that scores and deltas get, by the rule at the top of this file.

    The rule is for `auto` and `simultaneous`. If the user chose another kind, scores and deltas get this kind. `joint`
    is the number of deltas whose intervals are simultaneous.
    """
    name = problem.settings.interval
    if name == "none":
        return IntervalNames(None, None)
    if isinstance(problem, SumsProblem) and in_closed_form(problem.metric, problem.settings):
        return (
            IntervalNames("wilson", "tango") if right_or_wrong(problem) else IntervalNames("hall-t", "conservative-t")
        )
    drawn = "percentile" if name == "auto" else name
    return IntervalNames(drawn, "simultaneous" if name == "auto" and joint > 1 else drawn)
