"""A problem (the systems, units, metric and hypotheses of a test), the budget, and the result columns of tests.

Problems hold data, and tests take problems. There are two kinds: `SumsProblem`, if the metric is a function of the
statistics summed over units, and `columns.ColumnsProblem`, if the metric takes whole columns of numbers. `tests` has
the tests of both kinds.

Suppose systems differ in one statistic that has only two values, such as right-or-wrong answers. Count the units on
which only the first system of a pair has the higher value, and the units on which only the second system has the higher
value. Pairs with the same two counts have the same test, because the same differences occur in another order. A
thousand systems on 200 units have half a million pairs, but only a few thousand different tests.

**The budget** limits the nominal seconds of tests without sampling. Costs follow from the table in `run.costs`.

**The result columns** contain exact p-values, or p-values from counts of resamples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from sigjax.exact.digits import PValue
from sigjax.exact.lattice import NotEligible
from sigjax.exact.plans import Pair
from sigjax.metrics import MEAN, Shifted, shifted
from sigjax.metrics.ratios import mean_score
from sigjax.records import (
    DESIGNS,
    Column,
    Columns,
    Comparisons,
    EvaluationRecord,
    Hint,
    InputError,
    Metric,
    SampleMetric,
    Settings,
)
from sigjax.resample.units import Sample, Units, check_steps, make_units, observed_scores
from sigjax.run.costs import (
    COUNTED_UNIT,
    MASKED_UNIT,
    MASKED_UNIT_OF_FEW_COLUMNS,
    RESAMPLE,
    SAMPLED_PAIR,
    SCORED_STATISTIC,
    WEIGHTED_NUMBER,
    Cost,
)

_LARGEST = 2**24
"""Limit for the number of units: below it, counts of units are exact in single precision."""
_BLOCK = 2**20
"""Pairs are processed in blocks of at most this size, when the units on which their systems differ are counted."""
_NUM_SUMS = 129
"""Number of values of a sum at which `slope_in` checks that the score is linear in this sum."""
_LINEAR = 1e-11
"""Largest deviation of a linear score from a line, relative to the largest score."""

_EPSILON = float(np.finfo(np.float64).eps)
_FEW_STEPS = 2.0**26
"""Limit for sums of integers. If all sums are below it, a change of a sum by 1 changes the score by far more than
rounding does."""
_STEP = 2.0**-20
"""Slopes of a score are central differences. Half their width is this share of the sum of a statistic's absolute
values."""
_CANCELLED = 2.0**-28
"""Limit for the effect of a unit on the score, as a share of the sum of its absolute terms. (The effect is a sum with
one term per statistic.) A smaller effect is only rounding."""
_DIGITS = 2.0**16
"""Smallest allowed ratio of the size of the difference between two systems to its rounding error (see
`check_digits`)."""


@dataclass(frozen=True, eq=False, slots=True)
class Hypotheses:
    """The pairs to test, as positions of systems, and the observed scores."""

    members: np.ndarray
    """`[pair, 2]` int32: the positions (a, b) of each pair's systems among all systems."""
    scores: tuple[float, ...]
    """`[system]` the observed scores."""
    tolerances: tuple[float, ...]
    """`[system]` bounds on the rounding errors of the scores."""
    systems: tuple[str, ...]
    """`[system]` the names of the systems."""

    @classmethod
    def of(
        cls, members: np.ndarray, scores: np.ndarray, tolerances: np.ndarray, systems: tuple[str, ...] = ()
    ) -> Hypotheses:
        """Make hypotheses from pairs `[pair, 2]`, and from scores and their rounding errors `[system]`.

        Without `systems`, the names are numbers.
        """
        check_finite(scores)
        return cls(
            members, tuple(scores.tolist()), tuple(tolerances.tolist()), systems or tuple(map(str, range(len(scores))))
        )

    @property
    def pairs(self) -> list[Pair]:
        """The pairs as a list of tuples (a, b)."""
        return [(a, b) for a, b in self.members.tolist()]

    def pair(self, index: Any) -> Pair:
        """The pair (a, b) at this index."""
        a, b = self.members[index].tolist()
        return a, b

    def observed(self, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the deltas of some pairs (a, b), `[pair, 2]`, and their tolerances, as two arrays `[pair]`.

        The delta of a resample is a tie if it differs from the observed delta by at most the tolerance. If b is the
        number of systems, there is no second system: the arrays then have the score of a, and its tolerance.
        """
        a, b = np.asarray(pairs).T
        scores, tolerances = (np.array([*numbers, 0.0]) for numbers in (self.scores, self.tolerances))
        return scores[a] - scores[b], 2.0 * (tolerances[a] + tolerances[b])

    @property
    def deltas(self) -> np.ndarray:
        """Observed score_a - score_b, `[pair]`."""
        return self.observed(self.members)[0]

    @property
    def rounding(self) -> np.ndarray:
        """The tolerance `[pair]`: a delta is a tie if it differs from the observed delta by at most this."""
        return self.observed(self.members)[1]

    def delta(self, pair: Pair) -> float:
        """The observed delta of a pair, score_a - score_b."""
        return self.scores[pair[0]] - self.scores[pair[1]]

    def of_systems(self, systems: Pair) -> Hypotheses:
        """The hypothesis that two systems do not differ, for a problem with only these two systems."""
        a, b = systems
        of_both = ((of_systems[a], of_systems[b]) for of_systems in (self.scores, self.tolerances, self.systems))
        return Hypotheses(np.array([[0, 1]], np.int32), *of_both)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, eq=False)
class Problem(ABC):
    """Pairs of systems on the same units, with a metric and the settings: the argument of every test."""

    units: Units | Sample
    metric: Metric | SampleMetric
    hypotheses: Hypotheses
    settings: Settings

    @property
    def observed_scores(self) -> tuple[float, ...]:
        """The observed scores `[system]`, before any constants are subtracted (see `ShiftedProblem`)."""
        return self.hypotheses.scores

    @cached_property
    def pairs(self) -> Comparisons:
        """The table of the pairs before any test: names, scores, delta (0 if it is rounding), and the better system."""
        members, names, scores = self.hypotheses.members, self.hypotheses.systems, np.array(self.observed_scores)
        a, b = members[:, 0], members[:, 1]
        deltas, rounding = self.hypotheses.observed(members)
        deltas = np.where(np.abs(deltas) <= rounding, 0.0, deltas)
        better = np.where((deltas > 0) == self.metric.higher_is_better, a, b)
        return Comparisons(
            {
                "a": Column(a, None, names),
                "b": Column(b, None, names),
                "metric": Column.constant(self.metric.name, len(deltas)),
                "score_a": Column(scores[a]),
                "score_b": Column(scores[b]),
                "delta": Column(deltas),
                "better": Column(better, deltas != 0, names),
            }
        )

    @property
    def exchanges(self) -> Literal["units", "outputs", "runs"]:
        """What the permutation test exchanges: whole units, single outputs, or whole runs."""
        return DESIGNS[self.settings.design].exchanges

    @property
    def draws(self) -> Literal["units", "outputs", None]:
        """What the bootstrap draws: units, or outputs within units; None if there is no bootstrap."""
        return DESIGNS[self.settings.design].draws

    @abstractmethod
    def of_pair(self, systems: Pair) -> Self:
        """The problem of only these two systems, on the same units and with the same resamples."""

    @abstractmethod
    def jackknife_scores(self) -> np.ndarray:
        """Scores of all systems without one unit at a time, `[system, unit]`."""

    @abstractmethod
    def swap_tolerance(self, pair: Pair) -> float:
        """Two deltas of this pair are ties if they differ by at most this, whichever units are swapped."""

    def with_resamples(self, resamples: int) -> Self:
        """The same problem with another number of resamples."""
        return replace(self, settings=replace(self.settings, resamples=resamples))


@dataclass(frozen=True, eq=False)
class ShiftedProblem:
    """Further versions of a problem whose numbers are so large that differences would lose digits.

    In these versions, a constant is subtracted from all numbers of a system; each system has its own constant.
    """

    shifts: tuple[float, ...]
    """`[system]` the constants that are subtracted from the numbers of each system in the problem `alone`."""
    scores: tuple[float, ...]
    """`[system]` the scores of the original numbers, from which no constant is subtracted."""
    spreads: SumsProblem
    """The version of the problem from which the influences of units on deltas are computed."""
    alone: SumsProblem
    """The version of the problem for the intervals of single systems' scores; it tests no pairs."""


@dataclass(frozen=True, eq=False)
class SumsProblem(Problem):
    """A problem whose metric is a function of the statistics summed over units."""

    units: Units
    metric: Metric
    hypotheses: Hypotheses
    settings: Settings
    shifted: ShiftedProblem | None = None
    """Further versions of the problem, if numbers are large. Then the numbers of this problem are shifted, too: on each
    unit, the same number is subtracted for all systems. None if no numbers are shifted."""
    is_shifted: bool = False
    """Whether the numbers of this problem are shifted: constants are subtracted from them. It stays false in
    `ShiftedProblem.spreads`, although its numbers are shifted, because only influences are computed from them."""

    @classmethod
    def of(
        cls, units: Units, metric: Metric, members: np.ndarray, settings: Settings, systems: tuple[str, ...] = ()
    ) -> Self:
        """Make the problem of the pairs `members` `[pair, 2]`. Without `systems`, the names are numbers."""
        return cls(units, metric, Hypotheses.of(members, *observed_scores(units, metric), systems), settings)

    @classmethod
    def of_evaluation(cls, evaluation: EvaluationRecord, settings: Settings, members: np.ndarray) -> SumsProblem:
        """Make the problem of an evaluation for the pairs `members` `[pair, 2]`, see `tests.problem_of`."""
        metric = evaluation.metric
        assert isinstance(metric, Metric)
        if (shift := shifted(evaluation)) is not None:
            with suppress(InputError):  # if one system is far from the others, numbers are not shifted
                return cls._of_shifted(shift, members, settings)
        units = make_units(evaluation, settings.design)
        check_steps(evaluation, units)
        if (
            metric.score is MEAN.score
            and settings.interval != "none"
            and ((answers := evaluation.stats[..., 0]) == answers.astype(bool)).all()
        ):
            metric = replace(metric, bounds=(0.0, 1.0))  # right-or-wrong answers
        problem = cls.of(units, metric, members, settings, evaluation.systems)
        if shift is not None or metric.score is not MEAN.score:  # a mean without large numbers is checked elsewhere
            check_digits(problem, evaluation.systems)
        return problem

    @classmethod
    def _of_shifted(cls, shift: Shifted, members: np.ndarray, settings: Settings) -> SumsProblem:
        """The problem of an evaluation with large numbers, which are shifted (see the field `shifted`).

        `members` `[pair, 2]` are the pairs of the problem.
        """
        metric, systems = shift.deltas.metric, shift.deltas.systems
        assert isinstance(metric, Metric)
        untested = np.zeros((1, 2), np.int32), replace(settings, test=(), leaderboard=False)
        alone = replace(cls.of(make_units(shift.scores, settings.design), metric, *untested), is_shifted=True)
        spreads = cls.of(make_units(shift.spreads, settings.design), metric, members, settings)
        problem = cls.of(make_units(shift.deltas, settings.design), metric, members, settings, systems)
        check_steps(shift.deltas, problem.units)
        check_digits(problem, systems)
        numbers = tuple(shift.shifts.tolist()), tuple(shift.means.tolist())
        return replace(problem, shifted=ShiftedProblem(*numbers, spreads, alone), is_shifted=True)

    def of_pair(self, systems: Pair) -> Self:
        """The problem of only these two systems, on the same units and with the same resamples."""
        units, outputs = self.units, self.units.outputs
        rows = list(systems)
        outputs = outputs and replace(outputs, values=outputs.values[rows])
        errors = units.relative_error[rows]
        units = replace(units, values=units.values[rows], relative_error=errors, outputs=outputs)
        return replace(self, units=units, hypotheses=self.hypotheses.of_systems(systems))

    @property
    def observed_scores(self) -> tuple[float, ...]:
        """The observed scores `[system]`, before any constants are subtracted (see `ShiftedProblem`)."""
        return self.hypotheses.scores if self.shifted is None else self.shifted.scores

    @property
    def influence_problem(self) -> SumsProblem:
        """The problem from which the influences of units on deltas are computed.

        If numbers are large, it is a version from which constants are subtracted (see `ShiftedProblem`).
        """
        return self if self.shifted is None else self.shifted.spreads

    @cached_property
    def equal_count_pairs(self) -> EquivalentPairs | None:
        """The pairs, in groups that have the same test; None if two counts of units do not decide the test.

        The counts are the number of units on which only the first system has the higher of two values, and the number
        on which only the second system has it (see `deduplicate`).
        """
        return deduplicate(self)

    @cached_property
    def equivalent_pairs(self) -> EquivalentPairs:
        """The pairs, in groups that have the same test.

        Suppose whole units are swapped, and systems differ in one statistic with two values. Then two counts decide the
        test: the units on which only the first system has the higher value, and the units on which only the second
        system has it. Pairs with the same two counts are a group (`deduplicate` has the exact conditions). Otherwise
        every pair is a group of its own.
        """
        counted = self.equal_count_pairs if self.exchanges == "units" else None
        return EquivalentPairs.apart(len(self.hypotheses.members)) if counted is None else counted

    @cached_property
    def studentizes(self) -> bool:
        """Whether the test uses the studentized statistic z = delta / standard error.

        For means over units with equally many instances, z and delta give the same test, so the result is False.
        """
        counts = self.units.values[:, :, -1]
        if self.settings.statistic == "delta":
            return False
        return self.metric.score is not mean_score or bool((counts != counts[0, 0]).any())

    def scores(self, sums: np.ndarray) -> np.ndarray:
        """Return the scores `[...]` of sums `[..., stat]` of statistics; some may be NaN or infinite.

        Statistics are in fixed point: whole numbers of a small step.
        """
        with np.errstate(all="ignore"):
            return np.asarray(self.metric.score(self.units.unscaled(sums)), np.float64)

    def swap_tolerance(self, pair: Pair) -> float:
        """Two deltas of this pair are ties if they differ by at most this, whichever units are swapped."""
        return float(self.hypotheses.observed([pair])[1][0])

    def jackknife_scores(self) -> np.ndarray:
        """Scores of all systems without one unit at a time, `[system, unit]`: its statistics are left out of sums."""
        of_systems = zip(self.units.totals, self.units.values, strict=True)
        without = np.stack([self.scores(totals - values) for totals, values in of_systems])
        check_finite(without)
        return without


def pairs_of(evaluation: EvaluationRecord, settings: Settings) -> np.ndarray:
    """All pairs of systems, or each system and the baseline: positions (a, b) of the systems, `[pair, 2]` int32.

    Pairs are in the order of the data. Two systems without any instance in common are not a pair.
    """
    count = len(evaluation.systems)
    if settings.baseline is None:
        systems, others = np.arange(count, dtype=np.int32), np.arange(count - 1, -1, -1)
        behind = np.concatenate([np.zeros((0,), np.int32), *(systems[a:] for a in range(1, count))])
        pairs = np.stack([np.repeat(systems, others), behind], axis=1)
    else:
        others, base = np.arange(count, dtype=np.int32), evaluation.systems.index(settings.baseline)
        pairs = np.stack([np.delete(others, base), np.full(count - 1, base, np.int32)], axis=1)
    return pairs if evaluation.present is None else pairs[in_common(evaluation.present)[tuple(pairs.T)] > 0]


def in_common(present: np.ndarray) -> np.ndarray:
    """The number of instances that two systems have in common, for all pairs of systems, `[system, system]`.

    `present` `[system, instance]` is true if the system has a result for the instance.
    """
    has = present.astype(np.float64)  # sums are exact, because they are integers
    return (has @ has.T).astype(np.int64)


class NotExact(ValueError):
    """Raised if the user chose an exact method and there is no exact test.

    `pair` has the positions of the two systems; it is None if the bootstrap of all pairs has no exact test.
    """

    def __init__(self, pair: Pair | None, reason: str) -> None:
        super().__init__(reason)
        self.pair, self.reason = pair, reason


class NotFinite(ValueError):
    """Raised if the metric is NaN or infinite on the data or on a resample.

    `systems` has the position of the system, or the positions of the two systems of a pair. If several metrics are
    tested together, `metric` is the position of the metric. Any code that computes scores may raise this error;
    `comparison.checks` writes the message for the user.
    """

    def __init__(self, systems: tuple[int, ...], metric: int = 0) -> None:
        super().__init__(f"score is not finite for systems {systems}")
        self.systems, self.metric = systems, metric


def check_finite(scores: np.ndarray, members: Sequence[Pair] | np.ndarray | None = None, metric: int = 0) -> None:
    """Raise `NotFinite` if any of the scores `[row, ...]` is NaN or infinite.

    Instead of the scores, `scores` may be a bool array that is false where a score is NaN or infinite. Row k belongs to
    the systems `members[k]`, by default to system k. `metric` is passed on to `NotFinite`.
    """
    finite = scores if scores.dtype == bool else np.isfinite(scores)
    wrong = np.flatnonzero(~finite.all(axis=tuple(range(1, finite.ndim))))
    if wrong.size:
        row = int(wrong[0])
        raise NotFinite((row,) if members is None else tuple(np.asarray(members[row]).tolist()), metric)


def check_digits(problem: SumsProblem, systems: Sequence[str]) -> None:
    """Raise `InputError` if the difference of two systems is lost in rounding.

    The size of the difference is the norm, over units, of the effects of the units' differences on the score. The
    difference is lost if its size is not far larger than the rounding errors of the two scores, or than the rounding
    errors of the numbers. `systems` `[system]` are the names for the message.
    """
    units, (scores, _) = problem.units, observed_scores(problem.units, problem.metric)
    sizes = np.abs(units.values).sum(axis=1, dtype=np.float64)
    if units.exact and sizes.max() < _FEW_STEPS:
        return
    slopes, noise = _slopes(problem, sizes), 8.0 * _EPSILON * np.abs(scores)
    for a, b in problem.hypotheses.pairs:
        with np.errstate(all="ignore"):  # after an overflow, `size` is not finite, and the pair passes the check
            differences = (units.values[a] - units.values[b]).astype(np.float64)
            terms = differences * slopes[a]
            effects, largest = terms.sum(axis=1), np.abs(terms).sum(axis=1)
            effects[np.abs(effects) < _CANCELLED * largest] = 0.0
            size = float(np.linalg.norm(effects))
            coarse = float(np.linalg.norm((differences != 0.0) @ (np.abs(slopes[a]) * units.rounded)))
        if 0.0 < size < _DIGITS * max(noise[a] + noise[b], coarse):
            raise InputError(
                f"metric {problem.metric.name!r}: systems {systems[a]!r} and {systems[b]!r} differ by too little "
                "beside the numbers, and their difference would be rounding; subtract from the numbers what all "
                f"systems share, or compare these two apart ({Hint('only')})"
            )


def _slopes(problem: SumsProblem, sizes: np.ndarray) -> np.ndarray:
    """Return the slope of each system's score in each statistic, `[system, stat]`; 0 if a slope is not finite.

    `sizes` `[system, stat]` are the sums of the absolute values of the statistics.
    """
    steps = _STEP * sizes
    ahead, behind = (
        problem.scores(np.stack([problem.units.totals + sign * steps * one for one in np.eye(steps.shape[1])]))
        for sign in (1.0, -1.0)
    )
    with np.errstate(all="ignore"):
        found = ((ahead - behind) / (2.0 * steps.T)).T
    return np.where(np.isfinite(found), found, 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class EquivalentPairs:
    """Pairs in groups. All pairs of a group have the same test, and so the same results."""

    first: np.ndarray
    """`[group]` the index of the first pair of each group (pairs that have the same test)."""
    which: np.ndarray
    """`[pair]` the index of the group to which the pair belongs."""
    counts: np.ndarray | None = None
    """`[group, 2]` int64: the number of units on which only the first system has the higher of two values, and the
    number of units on which only the second system has it; None if the groups have no such counts."""
    slope: float = 0.0
    """The change of a system's score when one more unit has the higher of the two values; 0 without `counts`."""
    stat_name: str = ""
    """The name of the only statistic in which systems differ, which has two values; empty without `counts`."""

    @classmethod
    def apart(cls, count: int) -> EquivalentPairs:
        """The grouping of `count` pairs in which each pair is a group of its own."""
        return cls(np.arange(count), np.arange(count))


def deduplicate(problem: SumsProblem) -> EquivalentPairs | None:
    """Group the pairs that have the same two counts of units, and so the same test; None if counts do not decide it.

    The counts are the number of units on which only the first system has the higher of two values, and the number on
    which only the second system has it. They decide the test if systems differ in one statistic with two values, and
    the score is linear in the sum of this statistic.
    """
    members, values = problem.hypotheses.members, problem.units.values
    differing = differing_stats(values)
    ones = ones_of(values, differing)
    if ones is None:
        return None
    (stat,) = differing
    slope = slope_in(problem, stat)
    if slope is None:
        return None
    # One matrix product counts for all pairs of systems; it does not pay for few pairs of many systems.
    both = ones @ ones.T if len(members) > len(ones) else None
    totals, width = ones.sum(axis=1).astype(np.int64), values.shape[1] + 1
    keys = np.empty(len(members), np.int64)
    for start in range(0, len(keys), _BLOCK):
        a, b = members[start : start + _BLOCK].T
        shared = (np.einsum("pu,pu->p", ones[a], ones[b]) if both is None else both[a, b]).astype(np.int64)
        keys[start : start + _BLOCK] = (totals[a] - shared) * width + (totals[b] - shared)
    first, which = _first_of_each(keys)
    counts = np.stack(np.divmod(keys[first], width), axis=1)
    return EquivalentPairs(
        first, which, counts, slope * float(np.ptp(values[:, :, stat])), problem.metric.stat_names[stat]
    )


def differing_stats(values: np.ndarray) -> list[int]:
    """The indices of the statistics in which systems differ."""
    return [stat for stat in range(values.shape[2]) if (values[1:, :, stat] != values[0, :, stat]).any()]


def _first_of_each(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays: the indices of the first row of each different key, ascending; and the group of each row.

    Rows with the same key are a group. Groups are numbered from 0, in the order of their first rows.

    >>> _first_of_each(np.array([7, 3, 7, 5, 3]))
    (array([0, 1, 3]), array([0, 1, 0, 2, 1], dtype=int32))
    """
    if len(keys) == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int32)
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)) >> (63 - bits):
        places = np.unique(keys, return_index=True, return_inverse=True)[1:]
        first = places[0][places[1]]
    else:
        # Sorting combined numbers of key and row is several times faster than sorting rows by keys.
        ordered = np.sort(keys << bits | np.arange(len(keys)))
        rows, starts = ordered & (1 << bits) - 1, np.diff(ordered >> bits, prepend=-1) != 0
        first = np.empty_like(rows)
        first[rows] = rows[starts][np.cumsum(starts) - 1]
    is_first = first == np.arange(len(keys))
    return np.flatnonzero(is_first), (np.cumsum(is_first, dtype=np.int32) - 1)[first]


def num_problems(ones: np.ndarray) -> int:
    """The number of different tests among all pairs of systems; `ones` is the result of `ones_of`.

    Example:
        >>> num_problems(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]], np.float32))
        2
    """
    totals, num_units = ones.sum(axis=1).astype(np.int64), ones.shape[1]
    met = np.zeros((num_units + 1, num_units + 1), bool)
    for first, row in enumerate(ones[:-1]):
        shared = (ones[first + 1 :] @ row).astype(np.int64)
        met[totals[first] - shared, totals[first + 1 :] - shared] = True
    return int(met.sum())


def ones_of(values: np.ndarray, differing: list[int] | None = None) -> np.ndarray | None:
    """Return floats `[system, unit]`: 1 if a system has the higher of two values, else 0.

    `values` `[system, unit, stat]` are all statistics, and `differing` are the indices of the statistics in which
    systems differ. Return None if systems differ in no statistic, in several statistics, or in a statistic with more
    than two values.
    """
    differing = differing_stats(values) if differing is None else differing
    if len(differing) != 1:
        return None
    column = values[:, :, differing[0]]
    low, high = column.min(), column.max()
    is_high = column == high
    if np.count_nonzero(is_high) + np.count_nonzero(column == low) < column.size:
        return None
    return is_high.astype(np.float32 if values.shape[1] < _LARGEST else np.float64)


def slope_in(problem: SumsProblem, stat: int) -> float | None:
    """Return the slope of the score in the sum of a statistic; None if the score is not linear in this sum.

    The score is computed over the range of values that the sum can have if n of the n units are drawn with replacement.
    The sums of the other statistics are the sums of the first system.
    """
    column = problem.units.values[:, :, stat]
    count, is_mean = len(problem.units.strata), problem.metric.score is mean_score and stat == 0
    ends = count * float(column.min()), count * float(column.max())
    sums = np.array(ends) if is_mean else np.linspace(*ends, _NUM_SUMS)
    found = scores_at(problem, stat, sums)
    if not np.isfinite(found).all():
        return None
    if not is_mean:
        line = np.linspace(float(found[0]), float(found[-1]), _NUM_SUMS)
        if np.abs(found - line).max() > _LINEAR * np.abs(found).max():
            return None
    run = sums[-1] - sums[0]
    return float((found[-1] - found[0]) / run) if run else 0.0


def scores_at(problem: SumsProblem, stat: int, sums: np.ndarray) -> np.ndarray:
    """Return the scores `[value]` if the sum of the statistic `stat` has the values `sums`.

    The sums of the other statistics are the sums of the first system.
    """
    table = np.tile(problem.units.totals[0], (len(sums), 1))
    table[:, stat] = sums
    return problem.scores(table)


AUTO_BUDGET = 10.0
"""Largest total cost of an evaluation's exact tests for method="auto", in nominal seconds (the estimated time of NumPy
on one slow core)."""
EXACT_BUDGET = 600.0
"""Largest total cost of an evaluation's exact tests if the user chose an exact method, in nominal seconds (the
estimated time of NumPy on one slow core)."""
_FEW_COLUMNS = 6
"""Largest number of columns (statistics of systems) that are added up while swap masks are drawn, which takes less
time."""


def exact_budget(settings: Settings) -> float:
    """Return the budget for the exact tests of an evaluation: their largest total cost, in nominal seconds.

    Nominal seconds are the estimated time of NumPy on one slow core.
    """
    if settings.budget is not None:
        return settings.budget
    return EXACT_BUDGET if settings.method in ("exact", "dp", "tree") else AUTO_BUDGET


def free_seconds(settings: Settings) -> float:
    """Return the cost up to which an exact test is free: it does not count against the budget.

    It is the time that sampling the pair would take, in nominal seconds (the estimated time of NumPy on one slow core).
    It is 0 if the user chose a method, a budget, or automatic resamples.
    """
    limited = settings.method != "auto" or settings.budget is not None or settings.resamples == "auto"
    return 0.0 if limited else (SAMPLED_PAIR * settings.fixed_resamples).seconds


def over_budget(costs: dict[Pair, Cost], settings: Settings) -> dict[Pair, NotEligible]:
    """Return the pairs whose exact tests exceed the budget, each with the reason.

    `costs` are the costs of the exact tests. The budget is spent on the cheapest tests first. Raise `NotExact` if the
    user chose an exact method.
    """
    budget, seconds = exact_budget(settings), {pair: cost.seconds for pair, cost in costs.items()}
    refused: dict[Pair, NotEligible] = {}
    free, spent = free_seconds(settings), 0.0
    if sum(each for each in seconds.values() if each > free) <= budget:
        return refused
    for pair in sorted(seconds, key=lambda pair: seconds[pair]):
        spent += seconds[pair] if seconds[pair] > free else 0.0
        if spent <= budget:
            continue
        if settings.method != "auto":
            tests = "an exact test takes" if len(costs) == 1 else "the exact tests take"
            raise NotExact(pair, f"{tests} about {sum(seconds.values()):,.3g} s, over the budget of {budget:g} s")
        others = "" if seconds[pair] > budget else " with those of cheaper pairs"
        reason = f"an exact test takes about {seconds[pair]:,.2g} s,{others} over the budget of {budget:g} s"
        refused[pair] = NotEligible(reason)
    return refused


def swap_cost(problem: SumsProblem, num_pairs: int) -> Cost:
    """The cost of testing `num_pairs` pairs by random swaps in NumPy."""
    num_systems, num_units, num_stats = problem.units.values.shape
    # If outputs or runs are exchanged, they are chosen for both systems one by one, which takes about as long as
    # counting draws.
    one_by_one = problem.exchanges != "units"
    width = 2 * _num_outputs(problem) // (num_units if problem.exchanges == "runs" else 1) if one_by_one else num_units
    columns, scored = num_systems * num_stats, num_pairs * num_stats
    if problem.studentizes:  # each product of statistics needs a column, and each slope needs two scores
        columns, scored = columns + scored * num_stats, scored * (2 * num_stats + 1)
    return numpy_cost(
        resamples=problem.settings.fixed_resamples,
        units=width,
        columns=columns,
        scored=scored,
        counted=one_by_one,
    )


def draw_cost(problem: SumsProblem) -> Cost:
    """The cost of drawing bootstrap scores of all systems in NumPy."""
    num_systems, num_units, num_stats = problem.units.values.shape
    width = num_units + (_num_outputs(problem) if problem.draws == "outputs" else 0)
    columns = num_systems * num_stats
    return numpy_cost(
        resamples=problem.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=True
    )


def _num_outputs(problem: SumsProblem) -> int:
    return 0 if problem.units.outputs is None else int(problem.units.outputs.sizes.sum())


def numpy_cost(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> Cost:
    """The cost of resampling in NumPy.

    On each resample, the weights of `units` units are drawn, and multiplied by `columns` columns of statistics.
    `scored` is the number of statistics per resample from which scores are computed. `counted` is true if weights are
    bootstrap counts, and false if they are swap masks.
    """
    masked = MASKED_UNIT_OF_FEW_COLUMNS if columns <= _FEW_COLUMNS else MASKED_UNIT
    weights = COUNTED_UNIT if counted else masked
    return resamples * (RESAMPLE + units * (weights + WEIGHTED_NUMBER * columns) + SCORED_STATISTIC * scored)


ExceedCounter = Callable[[np.ndarray, int, int], np.ndarray]
"""Type of a function that takes three arguments: the indices of pairs, and the first resample and the end of a range of
resamples. It returns for each pair how many resamples of this range are at least as extreme as the observed result,
`[pair]` int64."""


def exact_columns(p_values: Sequence[PValue] | np.ndarray, reasons: Column, methods: Column | None = None) -> Columns:
    """The result columns of exact tests; p is NaN if a pair has no exact test.

    `p_values` are a sequence of `PValue`, or an array `[pair, 3]` of p, log10 p, and the bound on the relative error of
    p. `reasons` explain why there is an exact test, or why there is none. `methods` are the names of the methods, by
    default all "exact".

    >>> exact_columns([(0.5, -0.3, 0.0)], Column.of(["few units differ"])).column("exceed").tolist()
    [None]
    """
    count = len(p_values)
    bounds, never = np.full((count, 2), np.nan), np.zeros(count, bool)
    if not isinstance(p_values, np.ndarray):
        for row, (high, _, _, *low) in enumerate(p_values):
            bounds[row] = (*low, high) if low else np.nan
        p_values = np.array([each[:3] for each in p_values], np.float64)
    p_value, log10_p, error_bound = p_values.reshape(-1, 3).T
    if np.isneginf(log10_p).any():  # impossible, because the observed outcome itself counts as extreme
        raise RuntimeError("internal error of sigjax: an exact test left out the observed outcome, so that p = 0")
    none = Column(never.astype(np.int64), never)
    return Columns(
        {
            "p_value": Column.unless_nan(p_value),
            "log10_p": Column.unless_nan(log10_p),
            "p_interval": Column.unless_nan(bounds),
            "error_bound": Column.unless_nan(error_bound),
            "method": methods or Column.constant("exact", count),
            "reason": reasons,
            "exceed": none,
            "resamples": none,
        }
    )


def sampled_columns(
    exceed: np.ndarray,
    p_values: np.ndarray,
    resamples: int | np.ndarray,
    reasons: Column,
    bounds: np.ndarray | None = None,
) -> Columns:
    """The result columns of Monte Carlo tests, all `[pair]`.

    `exceed` is the number of resamples at least as extreme as the observed result, and `reasons` explain why the pairs
    have no exact test. If a test stopped early by itself, `bounds` `[pair, 2]` are the ends of an interval for the
    p-value that infinitely many resamples would give.
    """
    count = len(exceed)
    none, never = np.full((count, 2), np.nan), np.zeros(count, bool)
    return Columns(
        {
            "p_value": Column(p_values),
            "log10_p": Column(np.fromiter(map(math.log10, p_values.tolist()), np.float64)),
            "p_interval": Column(none, never) if bounds is None else Column(bounds),
            "error_bound": Column(none[:, 0], never),
            "method": Column.constant("montecarlo", count),
            "reason": reasons,
            "exceed": Column(exceed),
            "resamples": Column(np.full(count, resamples)),
        }
    )


def completed(pairs: Comparisons, sample: Callable[[np.ndarray, Column], Columns]) -> Comparisons:
    """Complete a table of pairs after the exact tests: pairs without a p-value are tested by sampling.

    `sample` takes the indices of these pairs, and the reasons why they have no exact test. It returns their result
    columns.
    """
    is_open = ~pairs.column("p_value").where_present
    if not is_open.any():
        return pairs
    rows = np.flatnonzero(is_open)
    return pairs.with_rows(rows, sample(rows, pairs.column("reason").at(rows)))


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$ of K resamples: never 0, and valid at every level.

    `exceed` `[...]` is the number of resamples at least as extreme as the observed result, ties included; `resamples`
    is K. Reference: Davison and Hinkley (1997), section 4.2; Yeh (2000), section 3.1.

    >>> montecarlo_p(np.array([0, 9]), 999)
    array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)
