"""The problem of a test (systems, units, metric, hypotheses), the budget, and the columns that the test writes.

Problems hold data, and tests take problems. There are two kinds: problems of metrics that are sums, and problems of
metrics that take whole columns (`columns.ColumnsProblem`). `tests` has the tests of both kinds.

Suppose systems differ in one statistic of two values, such as right-or-wrong answers. Count the units on which only the
first system of a pair has the higher value, and the units on which only the second system has it. Pairs with the same
two counts have the same test, because their differences are the same in another order. A thousand systems on 200 units
have half a million pairs, but only some thousand different problems.

**The budget** limits the nominal seconds of tests without sampling. Costs follow from the table in `run.costs`.

**The columns** have exact p-values, or p-values from counts of resamples.
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
"""Counts of fewer units are exact in single precision."""
_BLOCK = 2**20
"""Number of pairs that are counted in one block."""
_NUM_SUMS = 129
"""Number of sums at which linearity is checked."""
_LINEAR = 1e-11
"""Largest deviation from a line, relative to the largest score, that counts as rounding."""

_EPSILON = float(np.finfo(np.float64).eps)
_FEW_STEPS = 2.0**26
"""If sums of integers stay below this, the rounding of a score is far smaller than the effect of a step of 1."""
_STEP = 2.0**-20
"""Relative step of slopes."""
_CANCELLED = 2.0**-28
"""If the effects of a unit's statistics cancel, rounding may leave this share of them."""
_DIGITS = 2.0**16
"""Differences must be this many times larger than their rounding error."""


@dataclass(frozen=True, eq=False, slots=True)
class Hypotheses:
    """The pairs to test, as positions of systems, and the observed scores."""

    members: np.ndarray
    """`[pair, 2]` int32: positions (a, b) of the systems."""
    scores: tuple[float, ...]
    """`[system]` observed scores."""
    tolerances: tuple[float, ...]
    """`[system]` rounding errors of the scores."""
    systems: tuple[str, ...]
    """`[system]` names."""

    @classmethod
    def of(
        cls, members: np.ndarray, scores: np.ndarray, tolerances: np.ndarray, systems: tuple[str, ...] = ()
    ) -> Hypotheses:
        """Make hypotheses from pairs, scores and rounding errors `[system]`; systems without names get numbers."""
        check_finite(scores)
        return cls(
            members, tuple(scores.tolist()), tuple(tolerances.tolist()), systems or tuple(map(str, range(len(scores))))
        )

    @property
    def pairs(self) -> list[Pair]:
        """The pairs one by one."""
        return [(a, b) for a, b in self.members.tolist()]

    def pair(self, index: Any) -> Pair:
        """The pair at an index."""
        a, b = self.members[index].tolist()
        return a, b

    def observed(self, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Deltas of some pairs `[pair, 2]`, and the distances within which other deltas are ties, each `[pair]`.

        If b is the number of systems, the result is the score of a instead.
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
        """The distance from each pair's delta within which other deltas are ties, `[pair]`."""
        return self.observed(self.members)[1]

    def delta(self, pair: Pair) -> float:
        """Observed score_a - score_b."""
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
        """The score of each system on its own scale, `[system]`."""
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
        """The things that the permutation test exchanges."""
        return DESIGNS[self.settings.design].exchanges

    @property
    def draws(self) -> Literal["units", "outputs", None]:
        """The things that the bootstrap draws; None if there is no bootstrap."""
        return DESIGNS[self.settings.design].draws

    @abstractmethod
    def of_pair(self, systems: Pair) -> Self:
        """The problem of only these two systems, on the same units and with the same draws."""

    @abstractmethod
    def jackknife_scores(self) -> np.ndarray:
        """Scores of all systems without one unit at a time, `[system, unit]`."""

    @abstractmethod
    def swap_tolerance(self, pair: Pair) -> float:
        """The distance within which two deltas of a pair are ties, with any units swapped."""

    def with_resamples(self, resamples: int) -> Self:
        """The same problem with another number of resamples."""
        return replace(self, settings=replace(self.settings, resamples=resamples))


@dataclass(frozen=True, eq=False)
class ShiftedProblem:
    """The systems of a problem with large numbers, each shifted by its own number."""

    shifts: tuple[float, ...]
    """`[system]` numbers that are subtracted."""
    scores: tuple[float, ...]
    """`[system]` unshifted scores."""
    spreads: SumsProblem
    """The problem for the influences of units on deltas; each system is shifted by its own number."""
    alone: SumsProblem
    """The problem for scores of single systems, each shifted by its own number; it tests no pairs."""


@dataclass(frozen=True, eq=False)
class SumsProblem(Problem):
    """A problem with a metric of sums."""

    units: Units
    metric: Metric
    hypotheses: Hypotheses
    settings: Settings
    shifted: ShiftedProblem | None = None
    """Further problems for large numbers; the units of this problem are then shifted by numbers that systems share."""
    is_shifted: bool = False
    """Whether the units are shifted, by shared numbers or by numbers per system."""

    @classmethod
    def of(
        cls, units: Units, metric: Metric, members: np.ndarray, settings: Settings, systems: tuple[str, ...] = ()
    ) -> Self:
        """The problem of these pairs `[pair, 2]`; systems without names get numbers."""
        return cls(units, metric, Hypotheses.of(members, *observed_scores(units, metric), systems), settings)

    @classmethod
    def of_evaluation(cls, evaluation: EvaluationRecord, settings: Settings, members: np.ndarray) -> SumsProblem:
        """See `tests.problem_of`."""
        metric = evaluation.metric
        assert isinstance(metric, Metric)
        if (shift := shifted(evaluation)) is not None:
            with suppress(InputError):  # one system is far from the others
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
        """The problem of an evaluation with large numbers."""
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
        """See `Problem.of_pair`."""
        units, outputs = self.units, self.units.outputs
        rows = list(systems)
        outputs = outputs and replace(outputs, values=outputs.values[rows])
        errors = units.relative_error[rows]
        units = replace(units, values=units.values[rows], relative_error=errors, outputs=outputs)
        return replace(self, units=units, hypotheses=self.hypotheses.of_systems(systems))

    @property
    def observed_scores(self) -> tuple[float, ...]:
        """The score of each system on its own scale, `[system]`."""
        return self.hypotheses.scores if self.shifted is None else self.shifted.scores

    @property
    def for_spreads(self) -> SumsProblem:
        """The problem whose influences suit deltas, however large the numbers are."""
        return self if self.shifted is None else self.shifted.spreads

    @cached_property
    def counted(self) -> EquivalentPairs | None:
        """The pairs grouped by their counts, if systems differ only in counts (see `deduplicate`)."""
        return deduplicate(self)

    @cached_property
    def equivalent(self) -> EquivalentPairs:
        """The pairs grouped by test; if whole units are swapped, pairs with the same counts have the same test."""
        counted = self.counted if self.exchanges == "units" else None
        return EquivalentPairs.apart(len(self.hypotheses.members)) if counted is None else counted

    @cached_property
    def studentizes(self) -> bool:
        """Whether z replaces delta, and gives another test than delta (for means of units of one size, it does not)."""
        counts = self.units.values[:, :, -1]
        if self.settings.statistic == "delta":
            return False
        return self.metric.score is not mean_score or bool((counts != counts[0, 0]).any())

    def scores(self, sums: np.ndarray) -> np.ndarray:
        """Scores `[...]` of fixed-point sums `[..., stat]`; some may be NaN or infinite."""
        with np.errstate(all="ignore"):
            return np.asarray(self.metric.score(self.units.unscaled(sums)), np.float64)

    def swap_tolerance(self, pair: Pair) -> float:
        """See `Problem.swap_tolerance`."""
        return float(self.hypotheses.observed([pair])[1][0])

    def jackknife_scores(self) -> np.ndarray:
        """See `Problem.jackknife_scores`: scores of the totals minus the statistics of one unit at a time."""
        of_systems = zip(self.units.totals, self.units.values, strict=True)
        without = np.stack([self.scores(totals - values) for totals, values in of_systems])
        check_finite(without)
        return without


def pairs_of(evaluation: EvaluationRecord, settings: Settings) -> np.ndarray:
    """All pairs in the order of the data, or each system against the baseline: positions (a, b) `[pair, 2]` int32.

    Pairs without any instance in common are left out.
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
    """The numbers of common instances of two systems, `[system, system]`; `present` is `[system, instance]`."""
    has = present.astype(np.float64)  # sums are integers
    return (has @ has.T).astype(np.int64)


class NotExact(ValueError):
    """The user chose an exact method, and `pair` (positions; None for the bootstrap of all pairs) has no exact test."""

    def __init__(self, pair: Pair | None, reason: str) -> None:
        super().__init__(reason)
        self.pair, self.reason = pair, reason


class NotFinite(ValueError):
    """The metric is NaN or infinite, on the data or on resamples, for the system or systems at these positions.

    If several metrics are tested together, `metric` is the position of the metric. All code that computes scores may
    raise this error; `comparison.checks` writes the message.
    """

    def __init__(self, systems: tuple[int, ...], metric: int = 0) -> None:
        super().__init__(f"score is not finite for systems {systems}")
        self.systems, self.metric = systems, metric


def check_finite(scores: np.ndarray, members: Sequence[Pair] | np.ndarray | None = None, metric: int = 0) -> None:
    """Refuse scores `[row, ...]` that are NaN or infinite, or a bool array in which False marks rows with such scores.

    Row k belongs to the systems `members[k]`, by default to system k; `metric` is as in `NotFinite`.
    """
    finite = scores if scores.dtype == bool else np.isfinite(scores)
    wrong = np.flatnonzero(~finite.all(axis=tuple(range(1, finite.ndim))))
    if wrong.size:
        row = int(wrong[0])
        raise NotFinite((row,) if members is None else tuple(np.asarray(members[row]).tolist()), metric)


def check_digits(problem: SumsProblem, systems: Sequence[str]) -> None:
    """Refuse differences that are lost in rounding: scores agree in too many digits, or numbers were rounded."""
    units, (scores, _) = problem.units, observed_scores(problem.units, problem.metric)
    sizes = np.abs(units.values).sum(axis=1, dtype=np.float64)
    if units.exact and sizes.max() < _FEW_STEPS:
        return
    slopes, noise = _slopes(problem, sizes), 8.0 * _EPSILON * np.abs(scores)
    for a, b in problem.hypotheses.pairs:
        with np.errstate(all="ignore"):  # a score without a slope has sizes that are not finite: then nothing is known
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
    """How the score of each system changes with a step of a statistic, `[system, stat]`; 0 if it is not finite."""
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
    """Pairs grouped by problem."""

    first: np.ndarray
    """`[problem]` the index of the first pair of each problem."""
    which: np.ndarray
    """`[pair]` the index of the pair's problem."""
    counts: np.ndarray | None = None
    """`[problem, 2]` int64: numbers of units on which only the first system (or second) has the higher value."""
    slope: float = 0.0
    """The slope of the score in the number of units with the higher value, if there are counts."""
    stat_name: str = ""
    """The statistic that has these values."""

    @classmethod
    def apart(cls, count: int) -> EquivalentPairs:
        """The grouping of `count` pairs with different problems."""
        return cls(np.arange(count), np.arange(count))


def deduplicate(problem: SumsProblem) -> EquivalentPairs | None:
    """Group the pairs by problem; None if counts do not identify problems.

    Two counts identify a problem if systems differ in one statistic with two values, and the score is linear in it.
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
    # One product counts all pairs; it does not pay for few pairs of many systems.
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
    """The statistics in which systems differ."""
    return [stat for stat in range(values.shape[2]) if (values[1:, :, stat] != values[0, :, stat]).any()]


def _first_of_each(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ascending indices at which distinct keys first occur, and the number of each row's key among these (from 0).

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
    """The number of different problems among all pairs of systems; `ones` is the result of `ones_of`.

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
    """Floats `[system, unit]`: 1 if a system has the higher of two values, else 0; None if there are more values.

    `values` `[system, unit, stat]` are all statistics; systems must differ only in the statistic `differing`.
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
    """The slope of the score in the sum of a statistic, over all sums that N draws of units can have.

    None if the score is not linear in it. The other sums are the first system's sums.
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
    """The score for each value in `sums`, taken as the sum of `stat`; the other sums are the first system's sums."""
    table = np.tile(problem.units.totals[0], (len(sums), 1))
    table[:, stat] = sums
    return problem.scores(table)


AUTO_BUDGET = 10.0
"""Nominal seconds that method="auto" may spend on the exact tests of an evaluation."""
EXACT_BUDGET = 600.0
"""Nominal seconds for an exact method that the user chose."""
_FEW_COLUMNS = 6
"""Most columns that are added up while masks are drawn."""


def exact_budget(settings: Settings) -> float:
    """Nominal seconds that the exact tests of an evaluation may take."""
    if settings.budget is not None:
        return settings.budget
    return EXACT_BUDGET if settings.method in ("exact", "dp", "tree") else AUTO_BUDGET


def free_seconds(settings: Settings) -> float:
    """Nominal seconds that an exact test may take without charge: the cost of sampling, unless the user set a limit."""
    limited = settings.method != "auto" or settings.budget is not None or settings.resamples == "auto"
    return 0.0 if limited else (SAMPLED_PAIR * settings.fixed_resamples).seconds


def over_budget(costs: dict[Pair, Cost], settings: Settings) -> dict[Pair, NotEligible]:
    """The pairs that exceed the budget, which pays for the cheapest exact tests first."""
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
    """The cost of swapping `num_pairs` pairs in NumPy."""
    num_systems, num_units, num_stats = problem.units.values.shape
    # If outputs or runs are exchanged, they are chosen for both systems one by one, which takes about as long as
    # counting draws.
    one_by_one = problem.exchanges != "units"
    width = 2 * _num_outputs(problem) // (num_units if problem.exchanges == "runs" else 1) if one_by_one else num_units
    columns, scored = num_systems * num_stats, num_pairs * num_stats
    if problem.studentizes:  # one column more per product, and two scores more per statistic
        columns, scored = columns + scored * num_stats, scored * (2 * num_stats + 1)
    return numpy_cost(
        resamples=problem.settings.fixed_resamples,
        units=width,
        columns=columns,
        scored=scored,
        counted=one_by_one,
    )


def draw_cost(problem: SumsProblem) -> Cost:
    """The cost of drawing all systems in NumPy."""
    num_systems, num_units, num_stats = problem.units.values.shape
    width = num_units + (_num_outputs(problem) if problem.draws == "outputs" else 0)
    columns = num_systems * num_stats
    return numpy_cost(
        resamples=problem.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=True
    )


def _num_outputs(problem: SumsProblem) -> int:
    return 0 if problem.units.outputs is None else int(problem.units.outputs.sizes.sum())


def numpy_cost(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> Cost:
    """The cost in NumPy, from the costs of its parts.

    `columns` of statistics are multiplied with weights of `units`; `scored` is the number of statistics per resample
    that enter scores; `counted` is true for bootstrap counts, false for swap masks.
    """
    masked = MASKED_UNIT_OF_FEW_COLUMNS if columns <= _FEW_COLUMNS else MASKED_UNIT
    weights = COUNTED_UNIT if counted else masked
    return resamples * (RESAMPLE + units * (weights + WEIGHTED_NUMBER * columns) + SCORED_STATISTIC * scored)


ExceedCounter = Callable[[np.ndarray, int, int], np.ndarray]
"""A function: (indices of pairs, first resample, end) -> number of extreme resamples in this range, `[pair]` int64."""


def exact_columns(p_values: Sequence[PValue] | np.ndarray, reasons: Column, methods: Column | None = None) -> Columns:
    """The columns of exact tests, from p-values `[pair]` (or `[pair, 3]`); p is NaN if a pair has no test.

    `reasons` explain why there is an exact test, or why there is none.

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
    if np.isneginf(log10_p).any():  # the observed outcome is one of those that are at least as extreme
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
    """The columns of Monte Carlo tests, all `[pair]`.

    `exceed` is the number of resamples at least as extreme. If a test stopped by itself, `bounds` `[pair, 2]` are its
    bounds on the p-values of infinitely many resamples.
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
    """Complete the table of pairs after exact tests by a test that samples the pairs without a p-value.

    `sample` takes the indices of these pairs and the reasons why they have no exact test, and returns their columns.
    """
    is_open = ~pairs.column("p_value").where_present
    if not is_open.any():
        return pairs
    rows = np.flatnonzero(is_open)
    return pairs.with_rows(rows, sample(rows, pairs.column("reason").at(rows)))


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$: never 0, and valid at every level.

    `exceed` `[...]` counts resamples at least as extreme as observed, ties included. Reference: Davison and Hinkley
    (1997), section 4.2; Yeh (2000), section 3.1.

    >>> montecarlo_p(np.array([0, 9]), 999)
    array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)
