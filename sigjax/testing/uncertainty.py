"""Standard errors and intervals from replicates: percentile and basic intervals, and the base class of all kinds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple

import numpy as np

from sigjax.resample.units import variance
from sigjax.run.context import Run
from sigjax.testing.problem import Hypotheses, Problem

_SAFE = 1e-140
"""Limit for standard errors: above it, the square of a standard error has full precision as a double."""

Pieces = Iterable[tuple[int, np.ndarray]]
"""Pieces of replicates. A piece is a tuple: the index of its first resample, and the scores `[system, resample]`."""


class Targets(NamedTuple):
    """The targets: the scores and deltas that need intervals, first all scores, then all deltas."""

    members: np.ndarray
    """`[target, 2]` int32: (a, b) for the delta of two systems; (a, number of systems) for the score of system a."""
    observed: np.ndarray
    """`[target]` float64: observed scores and deltas, on all units."""
    tolerance: np.ndarray
    """`[target]` float64: replicates that differ from `observed` by at most this are ties, and a standard error of at
    most this counts as 0, because it may be only a rounding error."""
    num_systems: int


def targets_of(hypotheses: Hypotheses, *, needed: bool = True) -> Targets:
    """Return the targets: the scores of all systems and the deltas of all pairs; none if `needed` is false."""
    num_systems = len(hypotheses.scores)
    scores = np.stack([np.arange(num_systems), np.full(num_systems, num_systems)], axis=1)
    members = np.concatenate([scores, hypotheses.members]).astype(np.int32)[: None if needed else 0]
    return Targets(members, *hypotheses.observed(members), num_systems)


class Percentile:
    """Percentile intervals of targets (scores and deltas) from replicates; other kinds are subclasses.

    Results are arrays `[target, 3]`: the standard error, the low end and the high end; NaN if there is no interval. A
    subclass overrides `turned` to transform percentile intervals (`Basic`), or `levels` for other quantiles (`Bca`). It
    overrides `with_all` if it needs all pairs at once (`Simultaneous`), and `pieces` and `finished` if it needs more
    than scores (`Studentized`). The exact bootstrap calls only `turned`. If a kind needs quantiles that the exact
    bootstrap does not compute, it is declared with `samples=True` in `intervals.INTERVALS`.

    Quantiles interpolate linearly between order statistics, as `numpy.quantile` and
    `scipy.stats.bootstrap(method="percentile")` do. Reference: Efron and Tibshirani (1993), chapter 13.
    """

    takes_shares: ClassVar[bool] = False
    """Whether `levels` uses the shares of replicates below the observed values."""
    takes_largest: ClassVar[bool] = False
    """Whether `with_all` uses, for each resample, the largest |replicate - observed| / standard error over targets."""

    def __init__(self, problem: Problem, targets: Targets) -> None:
        self.targets, self.level, self.num_rows = targets, problem.settings.confidence_level, targets.num_systems

    def pieces(self, pieces: Callable[[Run], Pieces]) -> Callable[[Run], Pieces]:
        """Return a function that yields replicates `[row, resample]`, piece by piece.

        The argument `pieces` is a function that yields the scores of all systems, piece by piece. `Percentile` returns
        this function unchanged, so its replicates are the scores; a subclass may override this method. The replicates
        of a target (a, b) in `targets.members` are row a minus row b. If b is the number of rows, they are row a.
        """
        return pieces

    def levels(self, below: np.ndarray, block: slice) -> np.ndarray:
        """Return the quantile levels `[target, 2]` of a block of targets; NaN for a target without an interval.

        `block` is the slice of the block's targets. `below` `[target]` is the share of the replicates below the
        observed value, where ties count half; NaN if this kind of intervals does not use it.
        """
        del block
        return np.tile(quantile_levels(self.level), (len(below), 1))

    def uncertainties(self, rows: np.ndarray, block: slice) -> np.ndarray:
        """Return the standard errors and interval ends of a block of targets, `[target, 3]`.

        `rows` `[target, resample]` are the replicates, which this method may reorder. `block` is the slice of the
        block's targets.
        """
        errors, below = standard_errors(rows), np.full(len(rows), np.nan)  # quantiles lose the order
        if self.takes_shares:
            limits = zip(self.targets.observed[block].tolist(), self.targets.tolerance[block].tolist(), strict=True)
            below[:] = [fraction_below(row, *of_row) for row, of_row in zip(rows, limits, strict=True)]
        levels, ends = self.levels(below, block), np.full((2, len(rows)), np.nan)
        if (levels == levels[0]).all():
            ends[:] = quantiles(rows, tuple(levels[0].tolist()))
        else:
            for place in np.flatnonzero(~np.isnan(levels[:, 0])).tolist():
                ends[:, place] = np.concatenate(quantiles(rows[place : place + 1], tuple(levels[place].tolist())))
        return np.stack([errors, *ends], axis=1)

    def with_all(self, found: np.ndarray, largest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the final standard errors and interval ends `[target, 3]`, from the results `found` of all blocks.

        `largest` takes the standard errors `[target]`. It returns, for each of the `groups` and each resample, the
        largest |replicate - observed value| / standard error, `[group, resample]`.
        """
        del largest
        return found

    def groups(self) -> tuple[slice, ...]:
        """Return groups of targets as slices: all scores, and all deltas.

        A kind of intervals may make the intervals of a group simultaneous.
        """
        return slice(0, self.targets.num_systems), slice(self.targets.num_systems, len(self.targets.members))

    def finished(self, found: np.ndarray) -> np.ndarray:
        """Return the standard errors and interval ends of scores and deltas, `[target, 3]`.

        `found` `[target, 3]` has the standard error and the two quantiles of each target. The quantiles become interval
        ends.
        """
        return np.concatenate([found[:, :1], self.turned(found[:, 1:], self.targets.observed[:, None])], axis=1)

    @staticmethod
    def turned(ends: np.ndarray, observed: np.ndarray | float) -> np.ndarray:
        """The ends `[..., 2]` of intervals of this kind, from the ends of percentile intervals (sampled or exact).

        `observed` are the observed scores or deltas.
        """
        del observed
        return ends


class Basic(Percentile):
    r"""Basic (reverse percentile) intervals $[2 \hat\theta - q_{high}, 2 \hat\theta - q_{low}]$.

    They assume that $\theta^* - \hat\theta$ has the distribution of $\hat\theta - \theta$. Equivalent to
    `scipy.stats.bootstrap(method="basic")`. Reference: Davison and Hinkley (1997), section 5.2.
    """

    @staticmethod
    def turned(ends: np.ndarray, observed: np.ndarray | float) -> np.ndarray:
        """Percentile intervals `[..., 2]`, mirrored at the observed scores.

        >>> Basic.turned(np.array([0.25, 1.0]), 0.5)
        array([0.  , 0.75])
        """
        return 2.0 * observed - ends[..., ::-1]


def quantile_levels(level: float) -> tuple[float, float]:
    """The quantile levels of both ends of a percentile interval with this confidence level."""
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def standard_errors(replicates: np.ndarray) -> np.ndarray:
    """Bootstrap standard errors `[target]`: the standard deviations (ddof = 1) of replicates `[target, resample]`.

    >>> standard_errors(np.array([[1.0, 2.0, 3.0]]))
    array([1.])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.sqrt(variance(replicates))
    if (wrong := unsafe(errors)).any():
        # Squares of very large or very small numbers leave the range of a double; scaling by a power of two is exact.
        rows = replicates[wrong]
        exponents = np.frexp(np.abs(rows).max(axis=1))[1]
        errors[wrong] = np.ldexp(np.sqrt(variance(np.ldexp(rows, -exponents[:, None]))), exponents)
    return errors


def unsafe(errors: np.ndarray) -> np.ndarray:
    """A mask: true for standard errors whose squares are outside the range of a double, or nearly outside."""
    return ~((_SAFE < errors) & (errors < math.inf))


def quantiles(values: np.ndarray, levels: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return two quantiles `[target]`, the lower first, of `values` `[target, resample]`, and reorder `values`.

    >>> quantiles(np.arange(101.0)[None], quantile_levels(0.5))
    (array([25.]), array([75.]))
    """
    low, high = (level * (values.shape[1] - 1) for level in levels)
    return of_rank(values, low, 0), of_rank(values, high, math.floor(low))


def of_rank(values: np.ndarray, rank: float, start: int) -> np.ndarray:
    """The values `[target]` at a rank, counted from 0, interpolated as in `numpy.quantile`.

    Before the call, the first `start` columns of `values` `[target, resample]` must contain the `start` lowest values
    of each row. The call reorders the other columns. After it, the first `floor(rank)` columns contain the
    `floor(rank)` lowest values of each row, ready for a call with a higher rank. Each of the two quantiles of an
    interval has its own call, because NumPy partitions several times faster by a single rank than by two ranks.
    """
    whole = math.floor(rank)
    values[:, start:].partition(whole - start, axis=1)
    low = values[:, whole].copy()
    high = values[:, whole + 1 :].min(axis=1) if whole + 1 < values.shape[1] else low
    return between(low, high, rank - whole)


def between(low: np.ndarray, high: np.ndarray, part: np.ndarray | float) -> np.ndarray:
    """Interpolate from `low` to `high` by the fraction `part`, exactly as NumPy does, to the last bit."""
    return np.where(np.less(part, 0.5), low + (high - low) * part, high - (high - low) * (1.0 - part))


def fraction_below(replicates: np.ndarray, observed: float, tolerance: float) -> float:
    """The share of the replicates `[resample]` below the observed score, where ties count half (mid-rank).

    Replicates that differ from `observed` by at most `tolerance` are ties.

    >>> fraction_below(np.array([1.0, 2.0, 2.0, 3.0, 5.0]), 2.0, 1e-12)
    0.4
    """
    less = np.count_nonzero(replicates < observed - tolerance)
    return float(less + np.count_nonzero(replicates <= observed + tolerance)) / (2.0 * len(replicates))
