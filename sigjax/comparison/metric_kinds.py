"""From an evaluation to a case, and what each kind of metric gives to its tests: exact p-values, swaps, replicates.

The third thing that kinds do in their own way, scores without one unit at a time, is in `bootstrap.bca`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sigjax.bootstrap.exact import BootstrapPlan, plan_bootstrap
from sigjax.bootstrap.intervals import Pieces
from sigjax.bootstrap.registry import KINDS, draws_intervals
from sigjax.bootstrap.sampled import SharedDraws
from sigjax.exact.lattice import NotEligible
from sigjax.metrics import (
    MEAN,
    Origins,
    check_score,
    check_standards,
    check_weights,
    origins,
    sample_scores,
    standardized,
    system_roundings,
)
from sigjax.permutation.exact import exact_budget, exact_tests
from sigjax.permutation.exchanges import exchanged_tests
from sigjax.permutation.montecarlo import swap_counter
from sigjax.permutation.whole_sample import (
    NOT_SUMS,
    SamplePlan,
    exact_sample,
    plan_sample,
    sample_counter,
    sample_replicates,
)
from sigjax.records import Evaluation, InputError, Metric, SampleMetric, Settings
from sigjax.resample.engine import Run
from sigjax.testing.p_values import Outcome
from sigjax.testing.problem import Alike, Alone, Case, Question, SampleCase, alike, check_digits
from sigjax.testing.runner import Runner, draw_seconds, swap_seconds
from sigjax.testing.stopping import Count
from sigjax.units.instances import make_sample
from sigjax.units.units import check_steps, make_units


def make_case(evaluation: Evaluation, settings: Settings, members: np.ndarray | None = None) -> Case | SampleCase:
    """What is asked of the units of an evaluation, with the observed scores; of all pairs, or of `members` `[pair, 2]`.

    Raises:
        InputError: the metric does not work on the data.
        NotFinite: a score is NaN or infinite.
    """
    metric = evaluation.metric
    members = pairs_of(evaluation, settings) if members is None else members
    if isinstance(metric, SampleMetric):
        given = make_sample(evaluation)
        sample = replace(given, columns=standardized(metric, given.columns))
        check_standards(metric, given.columns, sample.columns)
        check_weights(metric, sample.columns)
        scores, errors = sample_scores(metric, sample.columns), system_roundings(metric, sample.columns)
        return SampleCase(sample, metric, Question.of(members, scores, errors), settings)
    if (nearer := origins(evaluation)) is not None:
        with suppress(InputError):  # one system is far from the others
            return _measured(nearer, members, settings)
    units = make_units(evaluation, settings.design)
    check_steps(evaluation, units)
    check_score(metric, units.unscaled(units.totals))
    if metric.score is MEAN.score and settings.interval != "none" and np.isin(evaluation.stats[..., 0], (0, 1)).all():
        metric = replace(metric, bounds=(0.0, 1.0))  # of answers right or wrong
    case = Case.of(units, metric, members, settings)
    if nearer is not None or metric.score is not MEAN.score:  # means that are not large have been looked at
        check_digits(case, evaluation.systems)
    return case


def _measured(nearer: Origins, members: np.ndarray, settings: Settings) -> Case:
    """The case of an evaluation whose numbers are large.

    Raises:
        InputError: numbers of one system are too large even beside those of another.
    """
    metric, systems = nearer.deltas.metric, nearer.deltas.systems
    assert isinstance(metric, Metric)
    one = np.zeros((1, 2), np.int32), replace(settings, test=(), leaderboard=False)
    own = Case.of(make_units(nearer.scores, settings.design), metric, *one)._replace(moved=True)
    spreads = Case.of(make_units(nearer.spreads, settings.design), metric, members, settings)
    case = Case.of(make_units(nearer.deltas, settings.design), metric, members, settings)
    check_steps(nearer.deltas, case.units)
    check_digits(case, systems)
    numbers = tuple(nearer.offsets.tolist()), tuple(nearer.means.tolist())
    return case._replace(alone=Alone(own, *numbers, spreads), moved=True)


def pairs_of(evaluation: Evaluation, settings: Settings) -> np.ndarray:
    """Positions (a, b) `[pair, 2]` int32: all pairs in the order of the data, or each system against the baseline.

    Pairs without any instance in common are left out.
    """
    count = len(evaluation.systems)
    if settings.baseline is None:
        pairs = np.argwhere(~np.tri(count, dtype=bool)).astype(np.int32)
    else:
        others, base = np.arange(count, dtype=np.int32), evaluation.systems.index(settings.baseline)
        pairs = np.stack([np.delete(others, base), np.full(count - 1, base, np.int32)], axis=1)
    return pairs if evaluation.present is None else pairs[in_common(evaluation.present)[tuple(pairs.T)] > 0]


def in_common(present: np.ndarray) -> np.ndarray:
    """How many instances two systems have in common `[system, system]`, of those that each has `[system, instance]`."""
    has = present.astype(np.float64)  # sums are whole
    return (has @ has.T).astype(np.int64)


def _bootstraps(kind: MetricKind) -> bool:
    """Whether the bootstrap has a part: the test, or intervals and standard errors that take it. One unit has none."""
    settings = kind.case.settings
    asked = "bootstrap" in settings.tests or draws_intervals(kind.case.metric, settings)
    return asked and len(kind.case.units.strata) > 1


@dataclass(frozen=True, eq=False)
class OfSums:
    """A metric of sums."""

    case: Case
    bootstraps = cached_property(_bootstraps)

    @cached_property
    def problems(self) -> Alike:
        """Which pairs are the same problem."""
        return alike(self.case)

    @cached_property
    def bootstrap_plan(self) -> BootstrapPlan | NotEligible:
        """How the bootstrap goes without sampling, or why it does not."""
        return plan_bootstrap(self.case, self.problems, exact_budget(self.case.settings))

    @property
    def shares_draws(self) -> bool:
        """Whether the bootstrap samples, and scores what it draws by `SharedDraws`."""
        settings = self.case.settings
        interval = KINDS[settings.interval]
        if not self.bootstraps or interval.samples or interval.needs == "runs":
            return False
        return settings.method == "montecarlo" or isinstance(self.bootstrap_plan, NotEligible)

    def exact_permutation(self, platform: str | None) -> tuple[list[Outcome | NotEligible], np.ndarray]:
        """The exact permutation test of each problem, or why there is none; and the problem of each pair."""
        if self.case.settings.design in ("crossed", "models"):
            return exchanged_tests(self.case), np.arange(len(self.case.question.members))
        return exact_tests(self.case, self.problems.first, platform), self.problems.which

    def sized(self, runner: Runner, num_swapped: int, *, draws: bool) -> Runner:
        """The runner for so many pairs to be swapped, and for draws."""
        seconds = swap_seconds(self.case, num_swapped) if num_swapped else 0.0
        seconds += draw_seconds(self.case) if draws else 0.0
        if KINDS[self.case.settings.interval].needs == "swaps":
            seconds += draw_seconds(self.case, counted=False)
        return runner.sized(seconds)

    def counter(self, places: np.ndarray, run: Run) -> Count:
        """Counts the swaps that are as extreme as observed, for the pairs at these positions."""
        return swap_counter(self.case, places, run)

    def replicates(self, run: Run, draws: SharedDraws) -> Pieces:
        """Bootstrap scores of all systems, piece by piece."""
        return draws.pieces(self.case, run)


@dataclass(frozen=True, eq=False)
class OfColumns:
    """A metric that is not a function of sums; the CPU does the work, whatever the device."""

    case: SampleCase
    bootstraps = cached_property(_bootstraps)
    bootstrap_plan = NotEligible(NOT_SUMS)
    shares_draws = False

    @cached_property
    def plan(self) -> SamplePlan:
        """How the function is called."""
        return plan_sample(self.case, draws=self.bootstraps)

    def exact_permutation(self, platform: str | None) -> tuple[list[Outcome | NotEligible], np.ndarray]:
        """As `OfSums` has it."""
        del platform  # NumPy's
        return exact_sample(self.case, self.plan), np.arange(len(self.case.question.members))

    def sized(self, runner: Runner, num_swapped: int, *, draws: bool) -> Runner:
        """As `OfSums` has it; the device must be there."""
        del num_swapped, draws  # the plan knows
        return runner.sized(self.plan.seconds, on_host=True)

    def counter(self, places: np.ndarray, run: Run) -> Count:
        """As `OfSums` has it."""
        return sample_counter(self.case, self.plan, places, run)

    def replicates(self, run: Run, draws: SharedDraws) -> Pieces:
        """As `OfSums` has it."""
        del draws
        return sample_replicates(self.case, run, self.plan if self.bootstraps else None)


MetricKind = OfSums | OfColumns


def kind_of(case: Case | SampleCase) -> MetricKind:
    """The kind of a case."""
    return OfSums(case) if isinstance(case, Case) else OfColumns(case)
