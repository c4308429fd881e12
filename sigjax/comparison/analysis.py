"""All tests of one evaluation: what can be exact, what is sampled, and the columns of all pairs.

**Missing results, pair by pair.** A pair is tested on the instances that both systems have, and a system is scored on
those that it has. What is on the same instances is one subset, an evaluation like any other: its pairs are tested
together, with the resamples that these instances have in every comparison. An evaluation without missing results is its
own and only subset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import ExactP
from sigjax.metrics.suites import in_suite
from sigjax.multiple.adjustment import count_until_settled, most_resamples
from sigjax.multiple.ranks import bootstrap_ranks
from sigjax.records import CORRECTIONS, Comparisons, EvaluationRecord, InputError, Settings, Test
from sigjax.run.context import Context, Run
from sigjax.testing.bootstrap import Sampled, bootstrap_outcomes, linear_intervals, sampled_bootstrap
from sigjax.testing.exact import exact_budget
from sigjax.testing.hypotheses import NotExact
from sigjax.testing.intervals import INTERVALS, Names, draws_intervals, interval_kinds
from sigjax.testing.p_values import completed, exact_columns, montecarlo_p, sampled_columns
from sigjax.testing.problem import Problem, SumsProblem, pairs_of
from sigjax.testing.uncertainty import Pieces, Uncertainty


@dataclass(frozen=True, eq=False)
class Subset:
    """The pairs and systems that are on the same instances."""

    whole: EvaluationRecord
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
    def evaluation(self) -> EvaluationRecord:
        """Its systems on its instances, made anew each time."""
        if self.number is None:
            return self.whole
        bits = np.unpackbits(np.frombuffer(self.instances, np.uint8), count=self.whole.num_instances)
        return _on(self.whole, self.systems, np.flatnonzero(bits))


def common(evaluation: EvaluationRecord, a: str, b: str) -> EvaluationRecord:
    """The evaluation of two systems on the instances that both have."""
    systems = [evaluation.systems.index(name) for name in (a, b)]
    present = np.ones((1, evaluation.num_instances)) if evaluation.present is None else evaluation.present[systems]
    return _on(evaluation, systems, np.flatnonzero(present.all(axis=0)))


def _on(evaluation: EvaluationRecord, systems: list[int], places: np.ndarray) -> EvaluationRecord:
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


def subsets_of(evaluation: EvaluationRecord, settings: Settings) -> list[Subset]:
    """The subsets of an evaluation, those with pairs first, in the order of the pairs.

    Raises:
        InputError: no two systems have an instance in common.

    Example:
        >>> from sigjax import Evaluation
        >>> numbers = {"A": {"x": 1, "y": 0}, "B": {"x": 0, "y": 1}, "C": {"y": 1}}
        >>> for subset in subsets_of(Evaluation.from_arrays(numbers, missing="pairwise"), Settings()):
        ...     print(subset.evaluation.ids, subset.evaluation.systems, subset.members.tolist(), subset.scored)
        ('x', 'y') ('A', 'B') [[0, 1]] [0, 1]
        ('y',) ('A', 'B', 'C') [[0, 2], [1, 2]] [2]
    """
    members = pairs_of(evaluation, settings)
    if evaluation.present is None:
        every = list(range(len(evaluation.systems)))
        return [Subset(evaluation, every, members, np.arange(len(members)), every, settings)]
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
    subsets = []
    for number, instances in enumerate(dict.fromkeys((*pairs, *scored))):
        rows, own = np.array(pairs.get(instances, ()), np.int64), scored.get(instances, [])
        systems = sorted({*members[rows].ravel().tolist(), *own})
        at = np.searchsorted(systems, members[rows]).astype(np.int32) if len(rows) else np.zeros((1, 2), np.int32)
        places, share = np.searchsorted(systems, own).tolist(), len(rows) / len(members)
        subsets.append(
            Subset(evaluation, systems, at, rows, places, _settings(settings, share), share, instances, number)
        )
    return subsets


def _settings(settings: Settings, share: float) -> Settings:
    """The settings of a subset with this share of the pairs; one without pairs tests nothing."""
    if not share:
        return replace(settings, test=())
    return replace(settings, budget=exact_budget(settings) * share) if share < 1.0 else settings


def check_subsets(evaluations: Sequence[EvaluationRecord], settings: Settings, *, extends: bool, peers: bool) -> None:
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
        (in_suite(evaluations[0]) and "a suite of tasks", "read one task"),
    ):
        if refused:
            raise InputError(
                f"{refused} needs all pairs on the same instances, and with missing pairwise each has its own; "
                f"{instead}, or use missing drop or zero"
            )


CostIfExact = tuple[float, float] | None
"""Nominal seconds and GiB with which sampled tests would be exact; None where nothing makes them so."""


@dataclass(frozen=True, slots=True)
class TestResults:
    """Results of the tests of one case."""

    pairs_by: dict[Test, Comparisons]
    """For each test, its columns of all pairs, in the order of the pairs."""
    systems: list[Uncertainty]
    """How the score of each system varies."""
    pairs: list[Uncertainty]
    """How the delta of each pair varies, in the order of the pairs."""
    interval_kinds: Names = Names(None, None)
    """Of which kinds the intervals are."""
    ranks: list[tuple[int, int]] | None = None
    """The interval of the rank of each system on bootstrap resamples, where these are asked for and fit into memory."""
    costs_if_exact: tuple[CostIfExact, ...] = ()
    """What would make all permutation tests exact, where some are sampled: one entry, or none."""


class _Bootstrap(NamedTuple):
    """What the bootstrap says."""

    systems: list[Uncertainty]
    pairs: list[Uncertainty]
    sampled: NotEligible | None
    """Why there are resamples; None where there are none."""
    tested: Comparisons | None
    """The columns of the test without sampling; None where there is none."""


def run_tests(
    problem: Problem, context: Context, drawn: np.ndarray | None = None, others: np.ndarray | None = None
) -> TestResults:
    """Run the tests that the settings ask for.

    Args:
        problem: what is tested.
        context: how to run.
        drawn: bootstrap scores `[system, resample]`, where they have been drawn with those of other metrics.
        others: `[other, 2]` bounds of the p-values of other metrics that are adjusted together with these.

    Raises:
        NotExact: an exact method was asked for and cannot be had.
        NotFinite: the metric gave NaN or infinity.
        NotTraceable: the device cannot run the metric.
        InputError: there is no such device, or the memory is too small.
    """
    settings = problem.settings
    pairs_by: dict[Test, Comparisons] = {}
    exact: list[ExactP | NotEligible] = []
    refused = np.zeros(0, bool)
    if "permutation" in settings.tests:
        exact, which = problem.exact_permutation(context.gpu())
        columns = exact_columns(exact)
        pairs_by["permutation"] = columns if which is None else columns.at(which)
        refused = np.array([isinstance(each, NotEligible) for each in exact])
        refused = refused if which is None else refused[which]
    bootstrap = _without_sampling(problem)
    num_swapped = int(refused.sum())
    context = problem.sized(context, num_swapped, draws=bootstrap.sampled is not None and drawn is None)
    pieces = problem.replicates if drawn is None else lambda run: iter([(run.start, drawn)])
    if num_swapped:

        def swapped(rows: np.ndarray, known: Comparisons) -> Comparisons:
            reasons, p_values = known.column("reason").at(rows), known.column("p_value").known_values()
            with context.run("permutation", most_resamples(settings), settings.seed, compiles=problem.compiles) as run:
                count = problem.swap_counter(rows, run)
                if settings.resamples == "auto":
                    return count_until_settled(count, reasons, p_values, settings, others)
                exceed = count(np.arange(len(rows)), 0, settings.resamples)
            return sampled_columns(
                exceed, np.asarray(montecarlo_p(exceed, settings.resamples)), settings.resamples, reasons
            )

        pairs_by["permutation"] = completed(pairs_by["permutation"], swapped)
    systems, pairs, sampled = bootstrap.systems, bootstrap.pairs, None
    if bootstrap.sampled is not None:
        sampled = _sample(problem, context, pieces, bootstrap, bootstrap.sampled.reason)
        systems, pairs = sampled.systems or systems, sampled.pairs or pairs
    systems, pairs = problem.closed_intervals() or (systems, pairs)
    kinds = interval_kinds(problem)
    if "bootstrap" in settings.tests:
        columns = bootstrap.tested
        if sampled is not None:
            columns = sampled.tested if columns is None else completed(columns, lambda *_: sampled.tested)
        assert columns is not None
        pairs_by["bootstrap"] = columns
    ranks = _ranks(problem, context, pieces, sampled) if settings.leaderboard else None
    if problem.own_scales and problem.recentred:
        own = run_tests(problem.own_scales, context.at("alone")).systems
        systems = [spread.moved(offset) for spread, offset in zip(own, problem.recentred.offsets, strict=True)]
    by_test: dict[Test, Comparisons] = {test: pairs_by[test] for test in settings.tests}
    costs = (_cost_if_exact(exact),) if num_swapped else ()
    return TestResults(by_test, systems, pairs, kinds, ranks, costs)


def _cost_if_exact(exact: list[ExactP | NotEligible]) -> CostIfExact:
    """What would make all of these exact."""
    costs = [each.cost for each in exact if isinstance(each, NotEligible)]
    known = np.array([cost for cost in costs if cost])
    if not costs or len(known) < len(costs):
        return None
    seconds, gib = known.max(axis=0).tolist()
    return seconds, gib


def _without_sampling(problem: Problem) -> _Bootstrap:
    """What the bootstrap says without sampling, and why the rest of it samples."""
    settings, num_pairs = problem.settings, len(problem.hypotheses.members)
    systems, pairs = [Uncertainty()] * len(problem.hypotheses.scores), [Uncertainty()] * num_pairs
    found = _Bootstrap(systems, pairs, None, None)
    if not problem.bootstraps or INTERVALS[settings.interval].needs == "runs":
        return found
    if settings.method == "montecarlo":
        return found._replace(sampled=NotEligible("as asked"))
    plan, tested, must = problem.bootstrap_plan, "bootstrap" in settings.tests, settings.method == "exact"
    if isinstance(plan, NotEligible):
        if tested and must:
            raise NotExact(None, plan.reason)
        return found._replace(sampled=plan)
    assert isinstance(problem, SumsProblem)
    sampled = None
    if tested:
        results = bootstrap_outcomes(problem, plan)
        found = found._replace(tested=exact_columns(results).at(plan.which))
        refused = (each for each in zip(plan.pairs, results, strict=True) if isinstance(each[1], NotEligible))
        pair, sampled = next(refused, (None, None))
        if sampled and must:
            raise NotExact(pair, sampled.reason)
    if INTERVALS[settings.interval].samples:
        return found._replace(sampled=sampled or NotEligible(f"{settings.interval} intervals need resamples"))
    if draws_intervals(problem.metric, settings):
        systems, pairs = linear_intervals(problem, plan)
        found = found._replace(systems=systems, pairs=pairs)
    return found._replace(sampled=sampled)


def _sample(
    problem: Problem, context: Context, pieces: Callable[[Run], Pieces], exact: _Bootstrap, reason: str
) -> Sampled:
    """The bootstrap test of the pairs that have no exact one, and spreads where there are none without resamples."""
    settings = problem.settings
    tested = np.arange(len(problem.hypotheses.members) if "bootstrap" in settings.tests else 0)
    if exact.tested is not None:
        tested = np.flatnonzero(~exact.tested.column("p_value").where_present)
    spreads = draws_intervals(problem.metric, settings) and exact.systems[0] == Uncertainty()
    with context.run("bootstrap", settings.fixed_resamples, settings.seed) as run:
        return sampled_bootstrap(problem, run, pieces, tested, reason, spreads=spreads)


def _ranks(
    problem: Problem, context: Context, pieces: Callable[[Run], Pieces], sampled: Sampled | None
) -> list[tuple[int, int]] | None:
    """Intervals of the ranks of systems on bootstrap resamples; None with one unit, or too little memory."""
    if len(problem.units.strata) == 1:
        return None
    drawn = None if sampled is None else sampled.replicates
    settings, context = problem.settings, problem.sized(context, 0, draws=True)
    with context.run("leaderboard", settings.fixed_resamples, settings.seed) as run:
        return bootstrap_ranks(problem, run, drawn, pieces)
