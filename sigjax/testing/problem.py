"""What a report asks of one metric: a problem of sums or one of columns, two classes that answer alike.

A problem has units, a metric, hypotheses and settings. It says what needs no sampling (`exact_permutation`,
`bootstrap_plan`), counts swaps (`swap_counter`), draws bootstrap scores (`replicates`), and how long that takes
(`sized`). Nothing else asks which of the two it is.

Metrics that are not sums: every resample is computed anew, by calling the function. The permutation test swaps the
columns of two systems, standardized where the metric says so; the bootstrap draws instances for all systems at once.
Where few units differ, all swaps are tried. Reference: Efron and Tibshirani (1993), chapters 6 and 15.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar, cast

import numpy as np

from sigjax.exact.bootstrap import sum_distribution
from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice
from sigjax.exact.null import MOST_SIGNS, ExactP, few_units, listing_seconds, outcomes_p, sign_distribution
from sigjax.metrics import (
    MEAN,
    Origins,
    check_score,
    check_standards,
    check_weights,
    origins,
    pair_rounding,
    sample_scores,
    standardized,
    system_roundings,
    what_is_exchanged,
)
from sigjax.records import CORRECTIONS, Comparisons, EvaluationRecord, InputError, Metric, SampleMetric, Settings
from sigjax.resample.engine import deltas_of, swapped_sums
from sigjax.resample.extreme import Extreme
from sigjax.resample.gathered import (
    Function,
    can_compile,
    drawn_scores,
    outcome_scores,
    sorts_long,
    swap_scores,
)
from sigjax.resample.units import Sample, check_steps, make_sample, make_units
from sigjax.run.context import Context, Run
from sigjax.testing.bootstrap import BootstrapPlan, plan_bootstrap, replicate_pieces
from sigjax.testing.hypotheses import (
    EquivalentPairs,
    Hypotheses,
    NotExact,
    Pair,
    PairedProblem,
    Recentred,
    SumsData,
    check_digits,
    check_finite,
    scores_at,
)
from sigjax.testing.intervals import INTERVALS, draws_intervals, in_closed_form
from sigjax.testing.p_values import Count, exact_columns
from sigjax.testing.permutation import (
    add_up,
    exact_budget,
    exact_table,
    exchanged_deltas,
    exchanged_tests,
    over_budget,
    pair_deltas,
    sign_tests,
    studentizes,
    swap_counter,
    swap_problem,
)
from sigjax.testing.tilted import beyond_floor
from sigjax.testing.uncertainty import Pieces, ScoresAndDeltas

_FEW_COLUMNS = 6
"""Up to this many columns are added up as masks are drawn."""
STUDENTIZED = "a studentized statistic is sampled"
NOT_SUMS = "the metric is not a function of sums"
_SMALL_WORK_SECONDS = 2.0
"""Work that NumPy finishes sooner than this is not worth compiling."""
_CALL, _INSTANCE, _TOGETHER = 2e-5, 2e-8, 1.5e-8
"""Nominal seconds of a call in NumPy, and for each number that it gets, one by one or many resamples together."""


_MOST_RESAMPLES, _FEWEST, _OF_SAMPLES = 2**13, 2**10, 2**10
"""Resamples of a distribution of deltas; of a metric that is not a sum the last number."""
_SECONDS = 1.0
"""Nominal seconds of NumPy per distribution."""
_EXACT_SECONDS = 0.1
"""Nominal seconds to list all deltas: a million values."""
_FEW_COINS = 13
"""Units whose swaps are all tried for a metric that is not a sum."""


@dataclass(frozen=True, eq=False, slots=True)
class DeltaDistribution:
    """The delta of a pair under the null hypothesis or on bootstrap resamples: values and their chances."""

    deltas: np.ndarray
    """[value]"""
    chances: np.ndarray
    """[value]; 1 for each resample."""
    resamples: int | None
    """None where all values are known."""


def drawn(deltas: np.ndarray) -> DeltaDistribution:
    """The distribution of one delta per resample."""
    return DeltaDistribution(deltas, np.ones(len(deltas)), len(deltas))


def problem_of(evaluation: EvaluationRecord, settings: Settings, members: np.ndarray | None = None) -> Problem:
    """What is asked of the units of an evaluation, with the observed scores: of all pairs, or `members` `[pair, 2]`."""
    members = pairs_of(evaluation, settings) if members is None else members
    make = ColumnsProblem.of_evaluation if isinstance(evaluation.metric, SampleMetric) else SumsProblem.of_evaluation
    return make(evaluation, settings, members)


def pairs_of(evaluation: EvaluationRecord, settings: Settings) -> np.ndarray:
    """Positions (a, b) `[pair, 2]` int32: all pairs in the order of the data, or each system against the baseline.

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
    """How many instances two systems have in common `[system, system]`, of those that each has `[system, instance]`."""
    has = present.astype(np.float64)  # sums are whole
    return (has @ has.T).astype(np.int64)


def _bootstraps(problem: PairedProblem) -> bool:
    """Whether the bootstrap has a part: the test, or intervals and standard errors that take it. One unit has none."""
    settings = problem.settings
    needed = "bootstrap" in settings.tests or draws_intervals(problem.metric, settings)
    return needed and len(problem.units.strata) > 1


@dataclass(frozen=True, eq=False)
class SumsProblem(SumsData):
    """A problem by a metric of sums."""

    unshifted: SumsProblem | None = None
    """Where numbers are large, the systems alone, each measured from its offset (see `recentred`); it tests nothing."""
    bootstraps = cached_property(_bootstraps)

    @classmethod
    def of_evaluation(cls, evaluation: EvaluationRecord, settings: Settings, members: np.ndarray) -> SumsProblem:
        """As `problem_of`."""
        metric = evaluation.metric
        assert isinstance(metric, Metric)
        if (nearer := origins(evaluation)) is not None:
            with suppress(InputError):  # one system is far from the others
                return cls._measured(nearer, members, settings)
        units = make_units(evaluation, settings.design)
        check_steps(evaluation, units)
        check_score(metric, units.unscaled(units.totals))
        if (
            metric.score is MEAN.score
            and settings.interval != "none"
            and ((answers := evaluation.stats[..., 0]) == answers.astype(bool)).all()
        ):
            metric = replace(metric, bounds=(0.0, 1.0))  # of answers right or wrong
        problem = cls.of(units, metric, members, settings)
        if nearer is not None or metric.score is not MEAN.score:  # means that are not large have been looked at
            check_digits(problem, evaluation.systems)
        return problem

    @classmethod
    def _measured(cls, nearer: Origins, members: np.ndarray, settings: Settings) -> SumsProblem:
        """The problem of an evaluation whose numbers are large."""
        metric, systems = nearer.deltas.metric, nearer.deltas.systems
        assert isinstance(metric, Metric)
        untested = np.zeros((1, 2), np.int32), replace(settings, test=(), leaderboard=False)
        unshifted = replace(cls.of(make_units(nearer.scores, settings.design), metric, *untested), moved=True)
        centred = cls.of(make_units(nearer.centred, settings.design), metric, members, settings)
        problem = cls.of(make_units(nearer.deltas, settings.design), metric, members, settings)
        check_steps(nearer.deltas, problem.units)
        check_digits(problem, systems)
        numbers = tuple(nearer.offsets.tolist()), tuple(nearer.means.tolist())
        return replace(problem, recentred=Recentred(*numbers, centred), unshifted=unshifted, moved=True)

    def of_pair(self, systems: Pair) -> SumsProblem:
        """The problem of two systems alone, on the same units and with the same draws."""
        units, outputs = self.units, self.units.outputs
        rows = list(systems)
        outputs = outputs and replace(outputs, values=outputs.values[rows])
        errors = units.relative_error[rows]
        units = replace(units, values=units.values[rows], relative_error=errors, outputs=outputs)
        return replace(self, units=units, hypotheses=self.hypotheses.of_systems(systems))

    @cached_property
    def equivalent(self) -> EquivalentPairs:
        """Which pairs have the same test: those with identical counts, where whole units are swapped."""
        counted = self.counted if self.exchanges == "units" else None
        return EquivalentPairs.apart(len(self.hypotheses.members)) if counted is None else counted

    @cached_property
    def bootstrap_plan(self) -> BootstrapPlan | NotEligible:
        """How the bootstrap goes without sampling, or why it does not."""
        return plan_bootstrap(self, self.equivalent, exact_budget(self.settings))

    @cached_property
    def studentizes(self) -> bool:
        """Whether swaps are judged by z, and not by delta."""
        return studentizes(self)

    @property
    def draws_jointly(self) -> bool:
        """Whether the bootstrap samples scores, which can be drawn with those of other metrics."""
        interval = INTERVALS[self.settings.interval]
        if not self.bootstraps or interval.samples or interval.needs == "runs":
            return False
        return self.settings.method == "montecarlo" or isinstance(self.bootstrap_plan, NotEligible)

    def exact_permutation(self, context: Context) -> Comparisons:
        """The columns of the exact tests of all pairs; where there is none, the reason says why."""
        if self.exchanges != "units":
            return exact_columns(exchanged_tests(self, context))
        if self.studentizes:
            if self.settings.method not in ("auto", "montecarlo"):
                raise NotExact(self.hypotheses.pair(0), STUDENTIZED)
            return exact_columns([NotEligible(STUDENTIZED)] * len(self.hypotheses.members))
        tested = sign_tests(self, self.equivalent)
        if tested is None:
            tested = exact_table(self, self.hypotheses.members[self.equivalent.first], context)
        equivalent = self.equivalent
        return tested if len(equivalent.first) == len(equivalent.which) else tested.at(equivalent.which)

    def closed_intervals(self, joint_pairs: int = 1) -> ScoresAndDeltas | None:
        """Standard errors and intervals of all scores and of all deltas where they need no resamples.

        Intervals of `joint_pairs` deltas, those of other problems included, hold together.
        """
        interval = INTERVALS[self.settings.interval]
        needed = interval.needs == "runs" or in_closed_form(self.metric, self.settings)
        if interval.closed is None or not needed or len(self.units.strata) == 1:
            return None
        return interval.closed(self, joint_pairs)

    def sized(self, context: Context, num_swapped: int, *, draws: bool) -> Context:
        """The context for so many pairs to be swapped, and for draws."""
        seconds = self.swap_seconds(num_swapped) if num_swapped else 0.0
        return context.sized(seconds + (self.draw_seconds() if draws else 0.0))

    def swap_seconds(self, num_pairs: int) -> float:
        """About how long NumPy takes to swap so many pairs."""
        num_systems, num_units, num_stats = self.units.values.shape
        # Where outputs or runs are exchanged, those of both systems are chosen one by one, which takes about as long
        # as counting draws.
        one_by_one = self.exchanges != "units"
        width = 2 * self._num_outputs // (num_units if self.exchanges == "runs" else 1) if one_by_one else num_units
        columns, scored = num_systems * num_stats, num_pairs * num_stats
        if self.studentizes:  # a column per product, and two scores more per statistic
            columns, scored = columns + scored * num_stats, scored * (2 * num_stats + 1)
        return numpy_seconds(
            resamples=self.settings.fixed_resamples,
            units=width,
            columns=columns,
            scored=scored,
            counted=one_by_one,
        )

    def draw_seconds(self) -> float:
        """About how long NumPy takes to draw all systems."""
        num_systems, num_units, num_stats = self.units.values.shape
        width = num_units + (self._num_outputs if self.draws == "outputs" else 0)
        columns = num_systems * num_stats
        return numpy_seconds(
            resamples=self.settings.fixed_resamples, units=width, columns=columns, scored=columns, counted=True
        )

    @property
    def _num_outputs(self) -> int:
        return 0 if self.units.outputs is None else int(self.units.outputs.sizes.sum())

    @property
    def compiles(self) -> Metric | None:
        """The metric whose score the device has to compile."""
        return self.metric

    def swap_counter(self, indices: np.ndarray, run: Run) -> Count:
        """Counts the swaps that are as extreme as observed, for the pairs at these indices."""
        return swap_counter(self, indices, run)

    def beyond_floor(self, sampled: Comparisons, rows: np.ndarray, context: Context) -> Comparisons:
        """The columns of the sampled pairs at these positions, by tilted swaps where no plain one was extreme."""
        plain = self.settings.method != "auto" or CORRECTIONS[self.settings.correction].is_resampled
        if plain or self.studentizes or self.exchanges != "units" or context.checkpoint.is_part:
            return sampled  # shards leave it to the merge
        return beyond_floor(self, sampled, rows, context)

    def replicates(self, run: Run) -> Pieces:
        """Bootstrap scores of all systems, piece by piece."""
        return replicate_pieces(self, run)

    def null_deltas(self) -> DeltaDistribution:
        """Deltas of the only pair over swaps, or exchanges of outputs or runs."""
        if (listed := self._listed_deltas()) is not None:
            return DeltaDistribution(*listed, None)
        problem = self._affordable(self.swap_seconds(1))
        run = problem._host_run
        swaps, packed = swap_problem(problem, np.array([0]), run)
        return drawn(deltas_of(swapped_sums(swaps, run), packed, 0, swaps.divisors, self.metric.score))

    def _listed_deltas(self) -> tuple[np.ndarray, np.ndarray] | None:
        """All deltas and their chances; None where they are too many, or not to be listed."""
        if self.settings.method == "montecarlo":
            return None
        if self.exchanges != "units":
            return exchanged_deltas(self, (0, 1), _EXACT_SECONDS)
        a, b = self.units.values
        for lattice in (pair_lattice(a, b, self.metric.stat_names), few_units(a, b)):
            if isinstance(lattice, Lattice) and listing_seconds(lattice) <= _EXACT_SECONDS:
                values, chances = sign_distribution(lattice)
                return pair_deltas(self, [(0, 1)], lattice.basis[None])(*values.T[:, None])[0], chances
        return None

    def bootstrap_deltas(self, systems: Pair) -> DeltaDistribution:
        """Deltas of two systems on bootstrap resamples: without drawing any, or those of systems drawn together."""
        pair = self.of_pair(systems)
        plan = NotEligible("as asked")
        if self.settings.method != "montecarlo":
            plan = plan_bootstrap(pair, pair.equivalent, _SECONDS)
        if isinstance(plan, NotEligible):
            of_a, of_b = self._first_replicates[list(systems)]
            return drawn(of_a - of_b)
        of_sum = sum_distribution(plan.pairs[0, 1])
        values = of_sum.first + of_sum.step * np.arange(len(of_sum.probabilities), dtype=np.float64)
        *scores, origin = scores_at(pair, plan.stat, np.append(values, 0.0))
        return DeltaDistribution(np.array(scores) - origin, of_sum.probabilities, None)

    @cached_property
    def _first_replicates(self) -> np.ndarray:
        """Scores `[system, resample]` on as many bootstrap resamples as NumPy draws in about a second."""
        problem = self._affordable(self.draw_seconds())
        pieces = replicate_pieces(problem, problem._host_run)
        return np.concatenate([scores for _, scores in pieces], axis=1)

    def _affordable(self, seconds: float) -> SumsProblem:
        """The problem with as many resamples as fit the time, where those of its settings take so many seconds."""
        resamples, a_resample = _MOST_RESAMPLES, seconds / self.settings.fixed_resamples
        while resamples > _FEWEST and resamples * a_resample > _SECONDS:
            resamples //= 2
        return _with_resamples(self, min(resamples, self.settings.fixed_resamples))

    @property
    def _host_run(self) -> Run:
        return Run(self.settings.fixed_resamples, self.settings.seed)


@dataclass(frozen=True, eq=False, slots=True)
class SamplePlan:
    """Which pairs are tested without sampling, and how the function is called."""

    function: Function
    coins: dict[Pair, np.ndarray]
    """For each pair tested without sampling, the units that differ."""
    sampled: dict[Pair, NotEligible]
    """For each other pair, why it is sampled."""
    seconds: float
    """Nominal."""


@dataclass(frozen=True, eq=False)
class ColumnsProblem(PairedProblem):
    """A problem by a metric that is not a function of sums; the CPU does the work, whatever the device."""

    units: Sample
    metric: SampleMetric
    hypotheses: Hypotheses
    settings: Settings
    bootstraps = cached_property(_bootstraps)
    bootstrap_plan = NotEligible(NOT_SUMS)
    draws_jointly = studentizes = False
    compiles = unshifted = recentred = None

    @classmethod
    def of_evaluation(cls, evaluation: EvaluationRecord, settings: Settings, members: np.ndarray) -> ColumnsProblem:
        """As `problem_of`."""
        metric, given = evaluation.metric, make_sample(evaluation)
        assert isinstance(metric, SampleMetric)
        sample = replace(given, columns=standardized(metric, given.columns))
        check_standards(metric, given.columns, sample.columns)
        check_weights(metric, sample.columns)
        scores, errors = sample_scores(metric, sample.columns), system_roundings(metric, sample.columns)
        return cls(sample, metric, Hypotheses.of(members, scores, errors), settings)

    def of_pair(self, systems: Pair) -> ColumnsProblem:
        """As `SumsProblem` has it."""
        units = replace(self.units, columns=self.units.columns[list(systems)])
        return replace(self, units=units, hypotheses=self.hypotheses.of_systems(systems))

    @cached_property
    def plan(self) -> SamplePlan:
        """How the function is called."""
        return self.planned(draws=self.bootstraps)

    def planned(self, *, draws: bool) -> SamplePlan:
        """Plan the permutation test, and the calls of the function; `draws` are bootstrap resamples."""
        settings, permuted = self.settings, "permutation" in self.settings.tests
        coins = {pair: self._differing(pair) for pair in self.hypotheses.pairs if permuted}
        sampled = {pair: why for pair, units in coins.items() if (why := self._why_sampled(pair, len(units)))}
        calls = sum(2.0 * settings.fixed_resamples if pair in sampled else 2.0 ** len(coins[pair]) for pair in coins)
        calls += float(self._num_draws) if draws else 0.0
        function = self._function(calls)
        a_call = self._call_seconds(together=function.compiled or function.vectorized)
        costs = {pair: 2.0 ** len(units) * a_call for pair, units in coins.items() if pair not in sampled}
        sampled |= over_budget(costs, settings)
        coins = {pair: units for pair, units in coins.items() if pair not in sampled}
        return SamplePlan(function, coins, sampled, calls * a_call)

    def exact_permutation(self, context: Context) -> Comparisons:
        """As `SumsProblem` has it; reasons say what is exchanged."""
        exchanged, sampled = what_is_exchanged(self.metric), self.plan.sampled
        results: list[ExactP | NotEligible] = []
        with context.progress_bar("exact tests", len(self.hypotheses.pairs)) as advance:
            for pair in self.hypotheses.pairs:
                why = sampled.get(pair)
                result = replace(why, reason=why.reason + exchanged) if why else self._exact(pair, exchanged)
                results.append(result)
                advance(len(results))
        return exact_columns(results)

    def closed_intervals(self, joint_pairs: int = 1) -> None:
        """As `SumsProblem` has it: there are none."""

    def sized(self, context: Context, num_swapped: int, *, draws: bool) -> Context:
        """As `SumsProblem` has it; the device must be there."""
        del num_swapped, draws  # the plan knows
        return context.sized(self.plan.seconds, on_host=True)

    def swap_counter(self, indices: np.ndarray, run: Run) -> Count:
        """As `SumsProblem` has it."""
        sampled = [self.hypotheses.pair(index) for index in indices]
        deltas, tolerances = self.hypotheses.deltas[indices], np.array([self.swap_tolerance(pair) for pair in sampled])

        def count(indices: np.ndarray, start: int, end: int) -> np.ndarray:
            pairs = [sampled[int(index)] for index in indices]
            criterion = Extreme(deltas[indices], tolerances[indices], self.settings.alternative)

            def pieces(subrun: Run) -> Iterator[tuple[int, np.ndarray]]:
                mine = range(subrun.start, subrun.resamples)
                scored = swap_scores(self.plan.function, self.units, pairs, run.seed, range(start, end), mine)
                for begin, scores in _advancing(scored, subrun):
                    found = scores[:, 0] - scores[:, 1]
                    check_finite(found, pairs)
                    yield begin, np.asarray(criterion.met(found)).sum(axis=1)

            return add_up(pieces, len(pairs), start, end, run)

        return count

    def beyond_floor(self, sampled: Comparisons, *_: object) -> Comparisons:
        """As `SumsProblem` has it: all swaps are plain."""
        return sampled

    def replicates(self, run: Run) -> Pieces:
        """As `SumsProblem` has it."""
        function = self.plan.function if self.bootstraps else self._function(float(self._num_draws))
        whole, mine = range(self.settings.fixed_resamples), range(run.start, run.resamples)
        return _advancing(drawn_scores(function, self.units, run.seed, whole, mine), run)

    def null_deltas(self) -> DeltaDistribution:
        """As `SumsProblem` has it."""
        problem = _with_resamples(self, min(_OF_SAMPLES, self.settings.fixed_resamples))
        plan, every = problem.planned(draws=False), range(problem.settings.fixed_resamples)
        coins = plan.coins.get((0, 1))
        if coins is not None and 0 < len(coins) <= _FEW_COINS:
            pieces = outcome_scores(plan.function, self.units, (0, 1), coins)
            half = np.concatenate([scores[0] - scores[1] for _, scores in pieces])
            return DeltaDistribution(np.append(half, -half), np.full(2 * len(half), 0.5 / len(half)), None)
        pieces = swap_scores(plan.function, self.units, [(0, 1)], self.settings.seed, every, every)
        return drawn(np.concatenate([scores[0, 0] - scores[0, 1] for _, scores in pieces]))

    def bootstrap_deltas(self, systems: Pair) -> DeltaDistribution:
        """As `SumsProblem` has it, but drawn for these two systems alone."""
        problem = _with_resamples(self.of_pair(systems), min(_OF_SAMPLES, self.settings.fixed_resamples))
        function, every = problem._function(float(problem._num_draws)), range(problem.settings.fixed_resamples)
        pieces = drawn_scores(function, problem.units, self.settings.seed, every, every)
        of_a, of_b = np.concatenate([scores for _, scores in pieces], axis=1)
        return drawn(of_a - of_b)

    def jackknife_scores(self) -> np.ndarray:
        """Scores without the instances of one unit at a time, `[system, unit]`."""
        kept = (np.flatnonzero(self.units.unit != unit) for unit in range(len(self.units.strata)))
        with np.errstate(all="ignore"):
            columns = [sample_scores(self.metric, self.units.columns[:, :, instances]) for instances in kept]
        without = np.stack(columns, axis=1)
        check_finite(without)
        return without

    def swap_tolerance(self, pair: Pair) -> float:
        """Deltas of two systems closer than this, with any instances exchanged, are ties: four scores were rounded."""
        return 4.0 * pair_rounding(self.metric, *self.units.columns[list(pair)])

    def _differing(self, pair: Pair) -> np.ndarray:
        """The units on which two systems differ."""
        a, b = self.units.columns[list(pair)]
        return np.unique(self.units.unit[(a != b).any(axis=0)])

    def _why_sampled(self, pair: Pair, num_coins: int) -> NotEligible | None:
        method = self.settings.method
        if method == "montecarlo":
            return NotEligible("as asked")
        if num_coins <= MOST_SIGNS and method in ("auto", "exact"):
            return None
        reason = NOT_SUMS if method in ("dp", "tree") else f"{NOT_SUMS}, and more than {MOST_SIGNS} units differ"
        if method != "auto":
            raise NotExact(pair, reason)
        return NotEligible(reason)

    def _exact(self, pair: Pair, exchanged: str) -> ExactP:
        """The test of a pair from all swaps of the few units that differ."""
        plan = self.plan
        coins = plan.coins[pair]
        if not coins.size:
            return ExactP(1.0, 0.0, 0.0, reason=f"the systems are identical{exchanged}")
        pieces = [scores for _, scores in outcome_scores(plan.function, self.units, pair, coins)]
        a, b = np.concatenate(pieces, axis=1)
        check_finite((a - b)[None], [pair])
        # The observed delta as the same program computes it: it is as extreme as itself.
        observed, tolerance = a[:1] - b[:1], np.array([self.swap_tolerance(pair)])
        criterion = Extreme(observed, tolerance, self.settings.alternative, self.settings.mid_p)
        found = outcomes_p((a - b)[None], criterion, coins.size)
        first, second = self.units.columns[list(pair)]
        names = np.array(self.metric.inputs)[(first != second).any(axis=1)]
        return found._replace(reason=f"few units differ ({', '.join(names)}){exchanged}")

    @property
    def _num_draws(self) -> int:
        """How often the function is called for bootstrap resamples."""
        return self.settings.fixed_resamples * len(self.units.columns)

    def _function(self, calls: float) -> Function:
        """The function, compiled where so many calls are worth it and JAX takes it."""
        metric = self.metric
        hashable = isinstance(cast("object", metric.function), Hashable)
        call: Callable[..., Any] = metric.function if hashable else partial(metric.function)
        num_arrays, num_instances = len(metric.inputs) + metric.weighted, self.units.columns.shape[2]
        much = calls * self._call_seconds(together=False) > _SMALL_WORK_SECONDS
        vectorized = metric.weighted and metric.vectorized
        compiled = much and can_compile(call, num_arrays, num_instances, vectorized=vectorized)
        if much and not (compiled or vectorized):
            warnings.warn(
                f"JAX cannot compile the metric {metric.name!r}; calling it resample by resample. Array operators "
                "alone would be faster",
                RuntimeWarning,
                stacklevel=2,
            )
        if compiled and not metric.weighted and sorts_long(call, num_arrays, num_instances):
            compiled = False
        return Function(call, metric.weighted, compiled, vectorized)

    def _call_seconds(self, *, together: bool) -> float:
        """Nominal seconds of the score of one resample, by one call or by that of many resamples together."""
        numbers = math.prod(self.units.columns.shape[1:])
        return _TOGETHER * numbers if together else _CALL + _INSTANCE * numbers


Problem = SumsProblem | ColumnsProblem
"""Both answer the same questions."""


Problems = TypeVar("Problems", SumsProblem, ColumnsProblem)


def _with_resamples(problem: Problems, resamples: int) -> Problems:
    return replace(problem, settings=replace(problem.settings, resamples=resamples))


def _advancing(pieces: Pieces, run: Run) -> Pieces:
    """The same pieces; progress is reported after each."""
    for start, scores in pieces:
        yield start, scores
        run.advance(start + scores.shape[-1])


def numpy_seconds(*, resamples: int, units: int, columns: int, scored: int, counted: bool) -> float:
    """About how long NumPy takes, from the cost of its parts (measured, see benchmarks/README.md).

    `columns` of statistics are multiplied with weights of `units`, `scored` statistics a resample enter scores, and
    `counted` tells bootstrap counts from swap masks.
    """
    weights = 7e-9 if counted else 0.8e-9
    if columns <= _FEW_COLUMNS and not counted:
        weights = 0.3e-9
    return resamples * (0.15e-6 + units * (weights + 0.02e-9 * columns) + 6e-9 * scored)
