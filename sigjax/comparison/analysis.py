"""From an evaluation to a case, and what each kind of metric gives to its tests: exact p-values, swaps, replicates.

The third thing that kinds do in their own way, scores without one unit at a time, is in `bootstrap.bca`.

Missing results, pair by pair: the parts of an evaluation in which every system has every instance.

A pair is tested on the instances that both systems have, and a system is scored on those that it has. What is on the
same instances is one part, an evaluation like any other: its pairs are tested together, with the resamples that these
instances have in every comparison. An evaluation without missing results is its own and only part.

All tests of one evaluation: what can be exact, what is sampled, and the outcomes in the order of the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import ExactP
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
from sigjax.metrics.suites import is_part
from sigjax.multiple.adjustment import count_until_settled, most_resamples
from sigjax.multiple.ranks import bootstrap_ranks
from sigjax.records import CORRECTIONS, Comparisons, Evaluation, InputError, Metric, SampleMetric, Settings, Test
from sigjax.resample.units import check_steps, make_sample, make_units
from sigjax.run.context import Context, Run
from sigjax.testing.bootstrap import (
    BootstrapPlan,
    Sampled,
    bootstrap_outcomes,
    linear_spreads,
    plan_bootstrap,
    replicate_pieces,
    sampled_bootstrap,
)
from sigjax.testing.exact import exact_budget, exact_tests, exchanged_tests
from sigjax.testing.intervals import KINDS, Names, draws_intervals, in_closed_form, interval_kinds
from sigjax.testing.p_values import Count, completed, exact_columns, montecarlo_p, sampled_columns
from sigjax.testing.permutation import (
    NOT_SUMS,
    SamplePlan,
    exact_sample,
    plan_sample,
    sample_counter,
    sample_replicates,
    swap_counter,
)
from sigjax.testing.problem import (
    Alike,
    Alone,
    Case,
    NotExact,
    Question,
    SampleCase,
    alike,
    check_digits,
    draw_seconds,
    swap_seconds,
)
from sigjax.testing.uncertainty import Pieces, Spread


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
        """Whether the bootstrap samples scores, which can be drawn with those of other metrics."""
        settings = self.case.settings
        interval = KINDS[settings.interval]
        if not self.bootstraps or interval.samples or interval.needs == "runs":
            return False
        return settings.method == "montecarlo" or isinstance(self.bootstrap_plan, NotEligible)

    def exact_permutation(self, platform: str | None) -> tuple[list[ExactP | NotEligible], np.ndarray | None]:
        """The exact permutation test of each problem, or why there is none; and the problem of each pair."""
        if self.case.settings.design in ("crossed", "models"):
            return exchanged_tests(self.case), None
        return exact_tests(self.case, self.problems.first, platform), self.problems.which

    def sized(self, context: Context, num_swapped: int, *, draws: bool) -> Context:
        """The context for so many pairs to be swapped, and for draws."""
        seconds = swap_seconds(self.case, num_swapped) if num_swapped else 0.0
        seconds += draw_seconds(self.case) if draws else 0.0
        return context.sized(seconds)

    def counter(self, places: np.ndarray, run: Run) -> Count:
        """Counts the swaps that are as extreme as observed, for the pairs at these positions."""
        return swap_counter(self.case, places, run)

    def replicates(self, run: Run) -> Pieces:
        """Bootstrap scores of all systems, piece by piece."""
        return replicate_pieces(self.case, run)


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

    def exact_permutation(self, platform: str | None) -> tuple[list[ExactP | NotEligible], np.ndarray | None]:
        """As `OfSums` has it."""
        del platform  # NumPy's
        return exact_sample(self.case, self.plan), None

    def sized(self, context: Context, num_swapped: int, *, draws: bool) -> Context:
        """As `OfSums` has it; the device must be there."""
        del num_swapped, draws  # the plan knows
        return context.sized(self.plan.seconds, on_host=True)

    def counter(self, places: np.ndarray, run: Run) -> Count:
        """As `OfSums` has it."""
        return sample_counter(self.case, self.plan, places, run)

    def replicates(self, run: Run) -> Pieces:
        """As `OfSums` has it."""
        return sample_replicates(self.case, run, self.plan if self.bootstraps else None)


MetricKind = OfSums | OfColumns


def kind_of(case: Case | SampleCase) -> MetricKind:
    """The kind of a case."""
    return OfSums(case) if isinstance(case, Case) else OfColumns(case)


@dataclass(frozen=True, eq=False)
class Part:
    """The pairs and systems that are on the same instances."""

    whole: Evaluation
    systems: list[int]
    """Positions of its systems, all of which have the instances."""
    members: np.ndarray
    """[pair, 2] positions among its systems; where there is no pair, that of the first system with itself."""
    pairs: np.ndarray
    """[pair] the position of each among all pairs."""
    scored: list[int]
    """Positions among its systems of those that have no other instances."""
    settings: Settings
    """With its share of the budget."""
    share: float = 1.0
    """Of all pairs."""
    instances: bytes = b""
    """Which instances, a bit each."""
    number: int | None = None
    """None where it is the whole evaluation."""

    @property
    def evaluation(self) -> Evaluation:
        """Its systems on its instances, made anew each time."""
        if self.number is None:
            return self.whole
        bits = np.unpackbits(np.frombuffer(self.instances, np.uint8), count=self.whole.num_instances)
        return _on(self.whole, self.systems, np.flatnonzero(bits))


def common(evaluation: Evaluation, a: str, b: str) -> Evaluation:
    """The evaluation of two systems on the instances that both have."""
    systems = [evaluation.systems.index(name) for name in (a, b)]
    present = np.ones((1, evaluation.num_instances)) if evaluation.present is None else evaluation.present[systems]
    return _on(evaluation, systems, np.flatnonzero(present.all(axis=0)))


def _on(evaluation: Evaluation, systems: list[int], places: np.ndarray) -> Evaluation:
    """The evaluation of some systems on the instances at some positions, which they all have."""
    labels = {
        name: tuple(own[i] for i in places.tolist())
        for name in ("ids", "clusters", "strata", "runs")
        if (own := getattr(evaluation, name)) is not None
    }
    stats, names = (
        evaluation.stats[np.ix_(systems, places.tolist())],
        tuple(evaluation.systems[system] for system in systems),
    )
    return replace(evaluation, systems=names, stats=stats, present=None, notes=(), **labels)


def parts_of(evaluation: Evaluation, settings: Settings) -> list[Part]:
    """The parts of an evaluation, those with pairs first, in the order of the pairs.

    Raises:
        InputError: no two systems have an instance in common.

    Example:
        >>> from sigjax import Evaluation
        >>> numbers = {"A": {"x": 1, "y": 0}, "B": {"x": 0, "y": 1}, "C": {"y": 1}}
        >>> for part in parts_of(Evaluation.from_arrays(numbers, missing="pairwise"), Settings()):
        ...     print(part.evaluation.ids, part.evaluation.systems, part.members.tolist(), part.scored)
        ('x', 'y') ('A', 'B') [[0, 1]] [0, 1]
        ('y',) ('A', 'B', 'C') [[0, 2], [1, 2]] [2]
    """
    members = pairs_of(evaluation, settings)
    if evaluation.present is None:
        every = list(range(len(evaluation.systems)))
        return [Part(evaluation, every, members, np.arange(len(members)), every, settings)]
    if not len(members):
        whom = "no two systems have" if settings.baseline is None else f"no system and {settings.baseline!r} have"
        raise InputError(f"{whom} an instance in common; there is nothing to compare")
    present = np.packbits(evaluation.present, axis=1)
    pairs: dict[bytes, list[int]] = {}
    for pair, (a, b) in enumerate(members.tolist()):
        pairs.setdefault((present[a] & present[b]).tobytes(), []).append(pair)
    scored: dict[bytes, list[int]] = {}
    for system, own in enumerate(present):
        scored.setdefault(own.tobytes(), []).append(system)
    parts = []
    for number, instances in enumerate(dict.fromkeys((*pairs, *scored))):
        rows, own = np.array(pairs.get(instances, ()), np.int64), scored.get(instances, [])
        systems = sorted({*members[rows].ravel().tolist(), *own})
        at = np.searchsorted(systems, members[rows]).astype(np.int32) if len(rows) else np.zeros((1, 2), np.int32)
        places, share = np.searchsorted(systems, own).tolist(), len(rows) / len(members)
        parts.append(Part(evaluation, systems, at, rows, places, _settings(settings, share), share, instances, number))
    return parts


def _settings(settings: Settings, share: float) -> Settings:
    """The settings of a part with this share of the pairs; one without pairs tests nothing."""
    if not share:
        return replace(settings, test=())
    return replace(settings, budget=exact_budget(settings) * share) if share < 1.0 else settings


def check_parts(evaluations: Sequence[Evaluation], settings: Settings, *, extends: bool, peers: bool) -> None:
    """Refuse what needs all pairs on the same instances.

    Raises:
        InputError: naming the option, and what to use instead.
    """
    if all(each.present is None for each in evaluations):
        return
    for refused, instead in (
        (CORRECTIONS[settings.correction].is_resampled and f"correction {settings.correction}", "use holm"),
        (settings.interval == "simultaneous" and "interval simultaneous", "use auto"),
        (settings.leaderboard and "the leaderboard", "leave it out"),
        (settings.design != "together" and f"design {settings.design}", "use together"),
        (extends and "an extended report", "compare anew"),
        (peers and "compat", "leave it out"),
        (is_part(evaluations[0]) and "a suite of tasks", "read one task"),
    ):
        if refused:
            raise InputError(
                f"{refused} needs all pairs on the same instances, and with missing pairwise each has its own; "
                f"{instead}, or use missing drop or zero"
            )


@dataclass(frozen=True, slots=True)
class TestResults:
    """Results of the tests of one case."""

    pairs_by: dict[Test, Comparisons]
    """For each test, its columns of all pairs, in the order of the question."""
    systems: list[Spread]
    """How the score of each system varies."""
    pairs: list[Spread]
    """How the delta of each pair varies, in the order of the question."""
    interval_kinds: Names = Names(None, None)
    """Of which kinds the intervals are."""
    ranks: list[tuple[int, int]] | None = None
    """The interval of the rank of each system on bootstrap resamples, where these are asked for and fit into memory."""
    cost_if_exact: tuple[float, float] | None = None
    """Nominal seconds and GiB with which all permutation tests would be exact; None where they are or cannot be."""


class _Bootstrap(NamedTuple):
    """What the bootstrap says."""

    systems: list[Spread]
    pairs: list[Spread]
    sampled: NotEligible | None
    """Why there are resamples; None where there are none."""
    tested: Comparisons
    """The columns of the test without sampling; without p-values where there is none."""


def run_tests(
    kind: MetricKind, context: Context, drawn: np.ndarray | None = None, others: np.ndarray | None = None
) -> TestResults:
    """Run the tests that the settings ask for.

    Args:
        kind: the case, and what its kind of metric gives.
        context: how to run.
        drawn: bootstrap scores `[system, resample]`, where they have been drawn with those of other metrics.
        others: `[other, 2]` bounds of the p-values of other metrics that are adjusted together with these.

    Raises:
        NotExact: an exact method was asked for and cannot be had.
        NotFinite: the metric gave NaN or infinity.
        NotTraceable: the device cannot run the metric.
        InputError: there is no such device, or the memory is too small.
    """
    case, settings = kind.case, kind.case.settings
    interval = KINDS[settings.interval]
    pairs_by: dict[Test, Comparisons] = {}
    exact: list[ExactP | NotEligible] = []
    if "permutation" in settings.tests:
        exact, which = kind.exact_permutation(context.gpu())
        columns = exact_columns(exact)
        pairs_by["permutation"] = columns if which is None else columns.at(which)
    bootstrap = _without_sampling(kind)
    num_swapped = int((~pairs_by["permutation"].column("p_value").where_present).sum()) if exact else 0
    context = kind.sized(context, num_swapped, draws=bootstrap.sampled is not None and drawn is None)
    pieces = kind.replicates if drawn is None else lambda run: iter([(run.start, drawn)])
    if num_swapped:
        compiles = case.metric if isinstance(case, Case) else None

        def swapped(rows: np.ndarray, known: Comparisons) -> Comparisons:
            reasons, p_values = known.column("reason").at(rows), known.column("p_value").found()
            with context.run("permutation", most_resamples(settings), settings.seed, compiles=compiles) as run:
                count = kind.counter(rows, run)
                if settings.resamples == "auto":
                    return count_until_settled(count, reasons, p_values, settings, others)
                exceed = count(np.arange(len(rows)), 0, settings.resamples)
            return sampled_columns(
                exceed, np.asarray(montecarlo_p(exceed, settings.resamples)), settings.resamples, reasons
            )

        pairs_by["permutation"] = completed(pairs_by["permutation"], swapped)
    systems, pairs, sampled = bootstrap.systems, bootstrap.pairs, None
    if bootstrap.sampled is not None:
        sampled = _sample(kind, context, pieces, bootstrap, bootstrap.sampled.reason)
        systems, pairs = sampled.systems or systems, sampled.pairs or pairs
    if isinstance(case, Case) and len(case.units.strata) > 1:
        if interval.closed and (interval.needs == "runs" or in_closed_form(case.metric, settings)):
            systems, pairs = interval.closed(case)
    if "bootstrap" in settings.tests:
        columns = bootstrap.tested
        pairs_by["bootstrap"] = columns if sampled is None else completed(columns, lambda *_: sampled.tested)
    ranks = _ranks(kind, context, pieces, sampled) if settings.leaderboard else None
    if isinstance(case, Case) and case.alone is not None:
        systems = _alone(case.alone, context)
    by_test: dict[Test, Comparisons] = {test: pairs_by[test] for test in settings.tests}
    return TestResults(by_test, systems, pairs, interval_kinds(case), ranks, _cost_if_exact(exact))


def _alone(alone: Alone, context: Context) -> list[Spread]:
    """How the scores of systems vary that are measured from offsets."""
    spreads = run_tests(OfSums(alone.case), context.at("alone")).systems
    return [spread.moved(offset) for spread, offset in zip(spreads, alone.offsets, strict=True)]


def _cost_if_exact(exact: list[ExactP | NotEligible]) -> tuple[float, float] | None:
    """As in `TestResults`."""
    refused = [each for each in exact if isinstance(each, NotEligible)]
    if not refused or any(each.seconds == 0.0 for each in refused):
        return None
    return max(each.seconds for each in refused), max(each.gib for each in refused)


def _without_sampling(kind: MetricKind) -> _Bootstrap:
    """What the bootstrap says without sampling, and why the rest of it samples."""
    case, settings, num_pairs = kind.case, kind.case.settings, len(kind.case.question.members)
    systems, pairs = [Spread()] * len(case.question.scores), [Spread()] * num_pairs
    untested = exact_columns([NotEligible("")]).at(np.zeros(num_pairs, np.int8))
    found = _Bootstrap(systems, pairs, None, untested)
    if not kind.bootstraps or KINDS[settings.interval].needs == "runs":
        return found
    if settings.method == "montecarlo":
        return found._replace(sampled=NotEligible("as asked"))
    plan, tested, must = kind.bootstrap_plan, "bootstrap" in settings.tests, settings.method == "exact"
    if isinstance(plan, NotEligible):
        if tested and must:
            raise NotExact(None, plan.reason)
        return found._replace(sampled=plan)
    assert isinstance(case, Case)
    sampled = None
    if tested:
        results = bootstrap_outcomes(case, plan)
        found = found._replace(tested=exact_columns(results).at(plan.which))
        refused = (each for each in zip(plan.pairs, results, strict=True) if isinstance(each[1], NotEligible))
        pair, sampled = next(refused, (None, None))
        if sampled and must:
            raise NotExact(pair, sampled.reason)
    if KINDS[settings.interval].samples:
        return found._replace(sampled=sampled or NotEligible(f"{settings.interval} intervals need resamples"))
    if draws_intervals(case.metric, settings):
        systems, pairs = linear_spreads(case, plan)
        found = found._replace(systems=systems, pairs=pairs)
    return found._replace(sampled=sampled)


def _sample(
    kind: MetricKind, context: Context, pieces: Callable[[Run], Pieces], exact: _Bootstrap, reason: str
) -> Sampled:
    """The bootstrap test of the pairs that have no exact one, and spreads where there are none without resamples."""
    case, settings = kind.case, kind.case.settings
    tested = np.flatnonzero(~exact.tested.column("p_value").where_present & ("bootstrap" in settings.tests))
    spreads = draws_intervals(case.metric, settings) and exact.systems[0] == Spread()
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        return sampled_bootstrap(case, run, pieces, tested, reason, spreads=spreads)


def _ranks(
    kind: MetricKind, context: Context, pieces: Callable[[Run], Pieces], sampled: Sampled | None
) -> list[tuple[int, int]] | None:
    """Intervals of the ranks of systems on bootstrap resamples; None with one unit, or too little memory."""
    if len(kind.case.units.strata) == 1:
        return None
    drawn = None if sampled is None else sampled.replicates
    settings, context = kind.case.settings, kind.sized(context, 0, draws=True)
    with context.run("leaderboard", settings.fixed_resamples, settings.seed) as run:
        return bootstrap_ranks(kind.case, run, drawn, pieces)
