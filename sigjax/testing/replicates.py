r"""Kinds of intervals that need more than two quantiles of bootstrap replicates (`uncertainty` has the other kinds).

`summaries` computes quantiles and standard errors of replicates (scores or deltas on resamples). The results are the
same on every device, and for every division of the resamples into pieces. This file has what three kinds of intervals
need in addition:

- `Simultaneous` intervals need the replicates of all pairs at once.
- `Bca` intervals are percentile intervals whose levels are corrected for bias, and for a standard error that changes
  with the score.
- `Studentized` (bootstrap-t) intervals need a standard error on every resample. It comes from the delta method, so the
  score must be a function of sums. A score has about the variance of its linear part: let g be the gradient of the
  score at the sums, and let unit i have the statistics $s_i$, with the mean $\bar s_h$ in its stratum h. Then the unit
  has the influence $g \cdot (s_i - \bar s_h)$. The variance of these influences on a resample follows from sums of
  statistics and of products of two statistics. So one matrix product gives both the scores and the standard errors of
  all resamples. Gradients are central differences in NumPy, so that no number depends on the device.

References: Efron (1987), "Better bootstrap confidence intervals"; Efron and Tibshirani (1993), sections 12.5, 14.3 and
21; Davison and Hinkley (1997), sections 2.7.2 and 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement, starmap
from operator import itemgetter

import numpy as np

from sigjax.records import Hint, InputError
from sigjax.records.settings import bonferroni_level
from sigjax.resample.draws import draws_from_strata
from sigjax.resample.engine import ScoreSpec, replicates
from sigjax.resample.projection import ColumnIndices, draws_projection
from sigjax.resample.units import total
from sigjax.run.backend import most_bytes
from sigjax.run.context import Run, fits, gib, in_threads, memory_for
from sigjax.testing.delta_method import NO_VARIANCE, STEP, slope
from sigjax.testing.problem import Problem, SumsProblem, check_finite
from sigjax.testing.special import normal_below, normal_quantile
from sigjax.testing.uncertainty import Percentile, Pieces, Targets, quantile_levels

_CACHED = 2**16
"""Replicates of targets are processed in blocks of about this many numbers, which stay in the cache."""


def kept_replicates(pieces: Callable[[Run], Pieces], num_rows: int, run: Run) -> np.ndarray:
    """Return all replicates `[row, resample]` of this shard of a run.

    The `num_rows` rows are systems and, for studentized intervals, the t of each score and delta. Replicates in the
    checkpoint are not drawn again. `pieces` yields the other replicates, piece by piece.
    """
    checkpoint = run.checkpoint
    tally, stop = checkpoint.begin(range(run.resamples), values=np.empty((num_rows, 0)))
    values, first = tally.arrays["values"], tally.start
    if tally.done < stop:
        values = np.empty((num_rows, stop - first))
        values[:, : tally.done - first] = tally.arrays["values"]
        for start, piece in pieces(replace(run, start=tally.done, resamples=stop)):
            checkpoint.save(first, start, values=values[:, : start - first])
            check_finite(piece)
            values[:, start - first : start - first + piece.shape[1]] = piece
    if checkpoint.is_part:
        checkpoint.finish(first, stop, values=values)
    return values


def map_targets(
    function: Callable[[np.ndarray, slice], np.ndarray], values: np.ndarray, members: np.ndarray
) -> np.ndarray:
    """Call `function(replicates, block)` for blocks of targets (scores and deltas), and return its joined results.

    `values` `[system, resample]` are scores. `block` is the slice of the block's targets, as many as fit into the
    cache. `replicates` `[target, resample]` is a new array. A target (a, b) of `members` `[target, 2]` has the
    replicates `values[a] - values[b]`. If b is the number of rows of `values`, it has the replicates `values[a]`.
    """
    num_rows = max(1, _CACHED // values.shape[1])
    blocks = [slice(start, min(start + num_rows, len(members))) for start in range(0, len(members), num_rows)]

    def of_block(block: slice) -> np.ndarray:
        rows = np.empty((block.stop - block.start, values.shape[1]), values.dtype)
        for row, (a, b) in zip(rows, members[block].tolist(), strict=True):
            np.subtract(values[a], values[b] if b < len(values) else values.dtype.type(0), out=row)
        return function(rows, block)

    return np.concatenate(in_threads(of_block, blocks))


class Simultaneous(Percentile):
    r"""Simultaneous intervals: $\hat\theta_j \pm c\,s_j$ for all pairs j of a metric.

    Here $\hat\theta_j$ is the observed delta of pair j, $\theta^*_j$ its delta on a resample, and $s_j$ its bootstrap
    standard error. Take the largest $|\theta^*_j - \hat\theta_j| / s_j$ of all pairs on each resample: c is the
    quantile of these maxima at the confidence level. Resamples are the same for all pairs, so c accounts for how pairs
    depend on each other, and is smaller than Bonferroni's factor. The intervals of the scores of all systems are
    simultaneous in the same way, with another c. Pairs or scores that do not vary ($s_j$ is 0, or only rounding) are
    left out of the maximum.

    References: Romano and Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing";
    Westfall and Young (1993), "Resampling-based multiple testing"; Davison and Hinkley (1997), section 5.2.
    """

    takes_largest = True

    def levels(self, below: np.ndarray, block: slice) -> np.ndarray:
        """Return NaN instead of quantile levels, because these intervals need no quantiles of single targets."""
        return np.full_like(super().levels(below, block), np.nan)

    def with_all(self, found: np.ndarray, largest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the standard errors and the interval ends of all targets (scores and deltas), `[target, 3]`.

        The standard errors s are the first column of `found`. `largest(s)` returns, for each group (scores, deltas),
        the largest |replicate - observed| / s on each resample. For each group, c is the quantile of these maxima at
        the confidence level. The ends are the observed value minus and plus c s.
        """
        errors = found[:, 0]
        observed, factors = self.targets.observed, np.zeros(len(errors))
        for maxima, group in zip(largest(errors), self.groups(), strict=True):
            factors[group] = np.quantile(maxima, self.level)
        return np.stack([errors, observed - factors * errors, observed + factors * errors], axis=1)


class JointDeltas(Simultaneous):
    """Percentile intervals of scores, which are not simultaneous, and simultaneous intervals of deltas.

    The intervals of m deltas (`joint_pairs`) must be simultaneous at the confidence level 1 - alpha, and k of these
    deltas belong to this problem. Their intervals are simultaneous at the level 1 - alpha k / m, so by Bonferroni's
    inequality the intervals of all m deltas are simultaneous at 1 - alpha. The targets must be all systems and pairs.
    """

    def __init__(self, problem: Problem, targets: Targets, joint_pairs: int) -> None:
        super().__init__(problem, targets)
        self.level_of_scores, num_pairs = self.level, len(targets.members) - targets.num_systems
        self.level = bonferroni_level(self.level, max(joint_pairs, num_pairs) / num_pairs)

    def levels(self, below: np.ndarray, block: slice) -> np.ndarray:
        """Return the quantile levels `[target, 2]` of a block of targets: NaN for deltas, which need no quantiles."""
        levels = super().levels(below, block)
        levels[: max(0, self.targets.num_systems - block.start)] = quantile_levels(self.level_of_scores)
        return levels

    def with_all(self, found: np.ndarray, largest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the standard errors and the interval ends of all targets (scores and deltas), `[target, 3]`.

        The intervals of scores come from `found`, and the intervals of deltas are simultaneous. `largest` takes the
        standard errors `[target]`, and returns the largest |replicate - observed| / standard error of all pairs on each
        resample, `[1, resample]`.
        """
        num_systems = self.targets.num_systems
        return np.concatenate([found[:num_systems], super().with_all(found, largest)[num_systems:]])

    def groups(self) -> tuple[slice, ...]:
        """Return a single group, which has all pairs."""
        return (super().groups()[1],)


_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""The relative rounding error of a score that leaves out one unit is at most this."""


class Bca(Percentile):
    """BCa intervals: percentile intervals at levels that are corrected for bias and acceleration (see `bca_levels`)."""

    takes_shares = True

    def __init__(self, problem: Problem, targets: Targets) -> None:
        super().__init__(problem, targets)
        self.accelerations = accelerations(problem, targets.members)

    def levels(self, below: np.ndarray, block: slice) -> np.ndarray:
        """Return the corrected quantile levels `[target, 2]` of a block of targets.

        They are NaN if all replicates of a target are on one side of the observed value.
        """
        each = zip(below.tolist(), self.accelerations[block], strict=True)
        corrected = (bca_levels(share, acceleration, self.level) for share, acceleration in each)
        return np.array([ends or (math.nan, math.nan) for ends in corrected]).reshape(-1, 2)


def accelerations(problem: Problem, members: np.ndarray) -> np.ndarray:
    """Return the `acceleration` of each target (score or delta), `[target]`.

    A row of `members` `[target, 2]` is (a, b) for the delta of two systems, and (a, number of systems) for the score of
    a.
    """
    observed, strata = np.abs([*problem.hypotheses.scores, 0.0]), problem.units.strata
    rounding = _ROUNDING * (observed[members[:, 0]] + observed[members[:, 1]])

    def of_rows(rows: np.ndarray, block: slice) -> np.ndarray:
        each = zip(rows, rounding[block].tolist(), strict=True)
        return np.array([acceleration(row, strata, least) for row, least in each])

    return map_targets(of_rows, problem.jackknife_scores(), members)


def acceleration(jackknife: np.ndarray, strata: np.ndarray, rounding: float = 0.0) -> float:
    r"""The acceleration of BCa intervals: how fast the standard error changes with the score.

    Let stratum h have $n_h$ units, and let $\theta_{(i)}$ be the score without unit i, with the mean $\bar\theta_h$
    over the stratum. With $U_i = (n_h - 1)(\bar\theta_h - \theta_{(i)})$, the acceleration is $a = \frac{1}{6} \sum_i
    U_i^3 n_h^{-3} / (\sum_i U_i^2 n_h^{-2})^{3/2}$. It is 0 if all scores are equal. Equivalent to
    `scipy.stats.bootstrap(method="BCa")`, if each stratum is passed as one sample. Reference: Efron and Tibshirani
    (1993), equation 14.15; for strata Davison and Hinkley (1997), section 5.4.

    `jackknife` `[unit]` are the scores $\theta_{(i)}$; if all $|U_i| / n_h$ are at most `rounding`, the acceleration is
    0. `strata` `[unit]` are the numbers of the units' strata, ascending from 0.

    >>> round(acceleration(np.array([1.0, 1.0, 1.0, 0.0]), np.zeros(4, int)), 6)
    0.096225
    """
    sizes = np.bincount(strata)
    first = jackknife[np.searchsorted(strata, strata)]
    apart = jackknife - first  # equal scores differ by exactly 0, but they may differ from their mean by rounding
    apart = ((np.bincount(strata, apart) / sizes)[strata] - apart) * ((sizes - 1.0) / sizes)[strata]
    largest = float(np.abs(apart).max())
    if largest <= rounding:
        return 0.0
    apart /= largest  # cubes of very small numbers would leave the range of a double
    squares = apart * apart  # products and roots round alike everywhere, powers do not
    cubes, spread = float(total(squares * apart)), float(total(squares))
    return cubes / (6.0 * spread * math.sqrt(spread))


def bca_levels(below: float, acceleration: float, level: float) -> tuple[float, float] | None:
    r"""The quantile levels of the low and the high end of a BCa interval; None if there is no interval.

    The levels are $\Phi(z_0 + \frac{z_0 + z}{1 - a (z_0 + z)})$, where z is each of the two normal quantiles of the
    confidence level, a is the acceleration, and $z_0 = \Phi^{-1}$ of `below`. `below` is the share of the replicates
    below the observed score, ties counted half (mid-rank). If all replicates are on one side of the observed score,
    $z_0$ is infinite, and there is no interval.

    >>> [round(each, 6) for each in bca_levels(0.5, 0.0, 0.95)]
    [0.025, 0.975]
    """
    if not 0.0 < below < 1.0:
        return None
    bias = normal_quantile(below)
    half = normal_quantile((1.0 + level) / 2.0)
    low, high = (_corrected(bias, bias + z, acceleration) for z in (-half, half))
    return low, high


def _corrected(bias: float, z: float, acceleration: float) -> float:
    """Return the BCa level: `bias` is z_0, and `z` is z_0 plus the normal quantile of the level (see `bca_levels`).

    If the denominator of the formula is not positive, return the limit of the level as the denominator falls to 0,
    which is 0 or 1.
    """
    shrink = 1.0 - acceleration * z
    return normal_below(bias + z / shrink) if shrink > 0.0 else float(z > 0.0)


_LARGEST_SUM = 2.0**53
_INFINITE, _LARGEST = 1e300, 1e200
"""t is (replicate - observed) / standard error. `_INFINITE`: the size of t if the standard error is 0. `_LARGEST`: an
interval is missing if one of its two quantiles of t is this large."""
_NUMBERS, _FEWEST_ROWS = 2**24, 64
"""Resamples are drawn in blocks. A block has at most `_NUMBERS` sums, but at least `_FEWEST_ROWS` resamples."""

Variables = list[tuple[int, int, float]]
"""The statistics on which a score or delta depends. For each statistic, there is a tuple: the index of the system, the
index of the statistic, and the sign of the system's score (-1 for the second system of a delta)."""


class Studentized(Percentile):
    """Studentized (bootstrap-t) intervals; all replicates are kept in memory.

    The targets are all scores and deltas, followed by the t of each score and delta: (replicate - observed) / standard
    error. Scores and standard errors come from the sums of `columns` `[column, unit]` int64. Three attributes hold
    indices of columns:

    - `totals` `[system, stat]`: the columns of the statistics.
    - `centred`: a dict from (system, statistic), for statistics that vary, to a list of columns. The list has a column
      for each stratum: the statistic minus about its mean in the stratum, and 0 outside the stratum.
    - `products`: a dict from two keys of `centred` to the column of the product of both centred statistics.

    Centred statistics are integer multiples of steps `coarse` `[stat]`. These steps are large enough that a double
    holds sums of products exactly. Slopes of scores are central differences with the half widths `steps`
    `[system, stat]`.
    """

    def __init__(self, problem: Problem, targets: Targets) -> None:
        super().__init__(problem, targets)
        assert isinstance(problem, SumsProblem)
        self.problem, self.score_targets = problem, targets
        self.num_rows += len(targets.members)
        _check_memory(problem, self.num_rows)
        self._lay_out()
        # The number of rows stands for "no second system". Rows of t follow the rows of scores, so this number grows.
        rows, none = np.arange(targets.num_systems, self.num_rows), np.full(len(targets.members), self.num_rows)
        members = np.where(targets.members == targets.num_systems, self.num_rows, targets.members)
        of_t = np.stack([rows, none], axis=1)
        self.targets = targets._replace(members=np.concatenate([members, of_t]).astype(np.int32))

    def _lay_out(self) -> None:
        """Make the columns whose sums give scores and standard errors; equal columns are kept only once."""
        units, values = self.problem.units, self.problem.units.values
        self.sizes, kept = np.bincount(units.strata), dict[bytes, tuple[int, np.ndarray]]()

        def index_of(column: np.ndarray) -> int:
            return kept.setdefault(column.tobytes(), (len(kept), column))[0]

        stats = list(np.ndindex(values.shape[0], values.shape[2]))
        totals = [index_of(values[k, :, j].copy()) for k, j in stats]
        self.totals = np.array(totals, np.int32).reshape(len(values), -1)
        centred, self.coarse = _centred(values, units.strata, self.sizes)
        varying = {(k, j): centred[k, :, j] for k, j in stats if centred[k, :, j].any()}
        self.products: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
        for target in self.score_targets.members.tolist():
            involved = [each[:2] for each in _variables(target, self.totals.shape) if each[:2] in varying]
            for first, second in starmap(_in_order, combinations_with_replacement(involved, 2)):
                if (first, second) not in self.products:
                    self.products[first, second] = index_of(varying[first] * varying[second])
        masks = [units.strata == stratum for stratum in range(len(self.sizes))]
        self.centred = {each: [index_of(column * mask) for mask in masks] for each, column in varying.items()}
        self.steps = STEP * np.maximum(np.abs(values).sum(axis=1, dtype=np.float64), 1.0)
        self.columns = np.stack([column for _, column in kept.values()])

    def finished(self, found: np.ndarray) -> np.ndarray:
        r"""Return bootstrap standard errors and intervals $[\hat\theta - t_{high} s, \hat\theta - t_{low} s]$.

        Here $\hat\theta$ is the observed score or delta, s its standard error by the delta method, and $t_{low}$ and
        $t_{high}$ are quantiles of t = (replicate - observed) / standard error on the resample. `found` has the
        standard errors and quantiles of all scores and deltas, then of all t.
        """
        errors, t = found[: len(self.score_targets.members), :1], found[len(self.score_targets.members) :, 1:]
        ends = self.score_targets.observed[:, None] - t[:, ::-1] * self.standard_errors()[:, None]
        return np.concatenate([errors, np.where(np.abs(t).max(axis=1, keepdims=True) < _LARGEST, ends, np.nan)], axis=1)

    def standard_errors(self) -> np.ndarray:
        r"""Standard errors by the delta method `[target]`: $\sqrt{\sum_h \sum_{i \in h} (g \cdot (s_i - \bar s_h))^2}$.

        Here g is the gradient of the score or delta at the sums, $s_i$ are the statistics of unit i, and $\bar s_h$ is
        their mean in stratum h. If the score is linear, the bootstrap standard error approaches this number as the
        number of resamples grows.
        """
        return self._errors(self.columns.sum(axis=1, dtype=np.float64)[:, None])[:, 0]

    def pieces(self, pieces: Callable[[Run], Pieces]) -> Callable[[Run], Pieces]:
        """Return a function that yields the scores of all systems, then t of all scores and deltas, in pieces.

        t is (replicate - observed) / standard error on the resample. The argument is not used, because the standard
        errors need sums that only this class draws.
        """
        del pieces
        return self._pieces

    def _pieces(self, run: Run) -> Pieces:
        columns, units = self.columns, self.problem.units
        draws, in_bytes = draws_from_strata(units.strata), most_bytes(run.backend, counts=True)
        projection = draws_projection(columns, draws, compiled=bool(run.backend.devices), most_bytes=in_bytes)
        indices = ColumnIndices.of(np.arange(len(columns), dtype=np.int32)[:, None])
        metric = ScoreSpec(indices, None, itemgetter((..., 0)), on_host=True)
        size = max(_FEWEST_ROWS, _NUMBERS // len(columns))
        for first in range(run.start, run.resamples, size):
            part = replace(run, start=first, resamples=min(first + size, run.resamples))
            for start, (sums,) in replicates(projection, [metric], part):
                yield start, self._scores_and_t(sums)

    def _scores_and_t(self, sums: np.ndarray) -> np.ndarray:
        first, second = self.score_targets.members.T
        observed, tolerance = (each[:, None] for each in (self.score_targets.observed, self.score_targets.tolerance))
        with np.errstate(all="ignore"):
            found = np.stack([*(self._score(sums[of_system]) for of_system in self.totals), np.zeros(sums.shape[1])])
            apart = found[first] - found[second] - observed
            t = apart / self._errors(sums)
        t = np.where(np.abs(apart) <= tolerance, 0.0, np.nan_to_num(t, posinf=_INFINITE, neginf=-_INFINITE))
        return np.concatenate([found[:-1], t])

    def _score(self, sums: np.ndarray) -> np.ndarray:
        """Scores of resamples `[row]` from sums `[stat, row]`."""
        return self.problem.scores(np.moveaxis(sums, 0, -1))

    def _errors(self, sums: np.ndarray) -> np.ndarray:
        """Standard errors of all scores and deltas on resamples, `[target, row]`, from the sums `[column, row]`."""
        with np.errstate(all="ignore"):
            gradients = self._gradients(sums)
        # Squares of very large or very small numbers leave the range of a double; scaling by a power of two is exact.
        sizes = (float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in gradients.values())
        exponent = math.frexp(max(sizes, default=0.0))[1]
        scaled = {each: np.ldexp(gradient, -exponent) for each, gradient in gradients.items()}
        variables = (_variables(target, self.totals.shape) for target in self.score_targets.members.tolist())
        return np.ldexp(np.sqrt([self._variance(sums, scaled, each) for each in variables]), exponent)

    def _gradients(self, sums: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
        """Return the slopes of scores: a dict from (system, statistic) to the slope on each resample, `[row]`.

        The keys are the statistics that vary over units. A slope is the change of the system's score per step `coarse`
        of the statistic.
        """
        found: dict[tuple[int, int], np.ndarray] = {}
        for system, stat in self.centred:
            at = sums[self.totals[system]]
            step = self.steps[system, stat]
            found[system, stat] = slope(self._score, at, stat, step) * self.coarse[stat]
        return found

    def _variance(
        self, sums: np.ndarray, gradients: dict[tuple[int, int], np.ndarray], variables: Variables
    ) -> np.ndarray:
        """Return the delta-method variance of a score or delta on each resample, `[row]`; 0 if it is only rounding.

        `sums` `[column, row]` are the sums of columns on each resample, `gradients` come from `_gradients`, and
        `variables` are the statistics on which the score or delta depends.
        """
        total, size = np.zeros(sums.shape[1]), np.zeros(sums.shape[1])
        weighted = [(each[:2], each[2] * gradients[each[:2]]) for each in variables if each[:2] in gradients]
        for index, (one, weight) in enumerate(weighted):
            for other, other_weight in weighted[: index + 1]:
                term = weight * other_weight * sums[self.products[_in_order(one, other)]]
                total += term if one == other else 2.0 * term
                size += np.abs(term)
        for stratum, count in enumerate(self.sizes.tolist()):
            mean = sum((weight * sums[self.centred[one][stratum]] for one, weight in weighted), np.zeros(1))
            total -= mean**2 / count
        return np.where(total > NO_VARIANCE * size, total, 0.0)


def _variables(target: list[int], shape: tuple[int, ...]) -> Variables:
    signs = zip(target, (1.0, -1.0), strict=True)
    return [(system, stat, sign) for system, sign in signs if system < shape[0] for stat in range(shape[1])]


def _in_order(first: tuple[int, int], second: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    return (first, second) if first <= second else (second, first)


def _check_memory(problem: SumsProblem, num_rows: int) -> None:
    """Raise `InputError` if the replicates and all products of statistics do not fit into memory.

    The replicates have `num_rows` rows: the scores of systems, then t of each score and delta.
    """
    num_systems, _, num_stats = problem.units.values.shape
    num_strata = int(problem.units.strata[-1]) + 1
    products = len(problem.hypotheses.members) * num_stats**2 + num_systems * num_stats * (num_stats + 1) // 2
    num_columns = products + num_systems * num_stats * (1 + num_strata)
    needed = gib((num_rows, problem.settings.fixed_resamples)) + 2.0 * gib((num_columns, len(problem.units.strata)))
    if not fits(needed, problem.settings):
        raise InputError(
            f"studentized intervals need all replicates of {num_rows} scores and quotients at once, and products of "
            f"the statistics of each pair; give {Hint('memory', f'{memory_for(needed):g}')} (GiB) or more, "
            f"fewer resamples, or {Hint('interval', 'bca')}"
        )


def _centred(values: np.ndarray, strata: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays: centred statistics `[system, unit, stat]` as multiples of a step, and the steps `[stat]`.

    From each statistic, its rounded mean in the stratum is subtracted. `sizes` `[stratum]` are the numbers of units.
    """
    starts = np.searchsorted(strata, np.arange(len(sizes)))
    means = np.rint(np.add.reduceat(values.astype(np.float64), starts, axis=1) / sizes[:, None])
    apart = values - means[:, strata]
    largest = np.abs(apart).max(axis=(0, 1))
    bound = math.sqrt(_LARGEST_SUM / (2.0 * values.shape[1]))
    coarse = 2.0 ** np.ceil(np.log2(np.maximum(largest / bound, 1.0)))
    return np.rint(apart / coarse).astype(np.int64), coarse
