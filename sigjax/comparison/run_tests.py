"""All tests of one evaluation: what can be exact, what is sampled, and the outcomes in the order of the pairs."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.exact import bootstrap_outcomes, linear_spreads
from sigjax.bootstrap.intervals import Spread
from sigjax.bootstrap.inversion import degree, inverted_intervals
from sigjax.bootstrap.registry import KINDS, Names, draws_intervals, in_closed_form, interval_kinds
from sigjax.bootstrap.sampled import Sampled, SharedDraws, sampled_bootstrap
from sigjax.comparison.metric_kinds import MetricKind, OfSums
from sigjax.exact.lattice import NotEligible
from sigjax.permutation.montecarlo import counted_outcomes
from sigjax.ranking.bootstrap_ranks import bootstrap_ranks
from sigjax.records import Repeated, Test
from sigjax.testing.p_values import Outcome, Outcomes, completed
from sigjax.testing.problem import Alone, Case, NotExact
from sigjax.testing.runner import Runner
from sigjax.testing.stopping import most_resamples


class Answers(NamedTuple):
    """What the tests say."""

    outcomes: dict[Test, Outcomes]
    """For each test, those of all pairs, in the order of the question."""
    systems: list[Spread]
    """How the score of each system varies."""
    pairs: list[Spread]
    """How the delta of each pair varies, in the order of the question."""
    interval_kinds: Names = Names(None, None)
    """Of which kinds the intervals are."""
    ranks: list[tuple[int, int]] | None = None
    """The interval of the rank of each system on bootstrap resamples, where these are asked for and fit into memory."""
    wanting: tuple[float, float] | None = None
    """Nominal seconds and GiB with which all permutation tests would be exact; None where they are or cannot be."""


class _Bootstrap(NamedTuple):
    """What the bootstrap says."""

    systems: list[Spread]
    pairs: list[Spread]
    sampled: NotEligible | None
    """Why there are resamples; None where there are none."""
    found: list[Outcome | NotEligible]
    """[problem] the test without sampling, or why there is none."""
    which: np.ndarray
    """[pair] the problem of each pair."""


def run_tests(
    kind: MetricKind, runner: Runner, draws: SharedDraws | None = None, others: np.ndarray | None = None
) -> Answers:
    """Run the tests that the settings ask for.

    Args:
        kind: the case, and what its kind of metric gives.
        runner: how to run.
        draws: of all metrics of the report; None to draw for this one alone.
        others: `[other, 2]` bounds of the p-values of other metrics that are adjusted together with these.

    Raises:
        NotExact: an exact method was asked for and cannot be had.
        NotFinite: the metric gave NaN or infinity.
        NotTraceable: the device cannot run the metric.
        InputError: there is no such device, or the memory is too small.
    """
    case, draws = kind.case, draws or SharedDraws([])
    settings, num_pairs = case.settings, len(case.question.members)
    interval = KINDS[settings.interval]
    permuted = "permutation" in settings.tests
    exact, which = kind.exact_permutation(runner.gpu()) if permuted else ([], np.zeros(num_pairs, np.int8))
    bootstrap = _without_sampling(kind)
    refused = np.array([isinstance(each, NotEligible) for each in exact], bool)
    num_swapped = int(refused[which].sum()) if permuted else 0
    power = degree(case) if interval.needs == "swaps" and isinstance(case, Case) else None
    runner = kind.sized(runner, num_swapped, draws=bootstrap.sampled is not None)

    def swapped(places: np.ndarray, reasons: Repeated, exact: np.ndarray) -> Outcomes:
        compiles = case.metric if isinstance(case, Case) else None
        with runner.run("permutation", most_resamples(settings), compiles=compiles) as run:
            return counted_outcomes(kind.counter(places, run), reasons, exact, settings, others)

    outcomes: dict[Test, Outcomes] = {}
    if permuted:
        outcomes["permutation"] = completed(exact, which, swapped)
    systems, pairs, sampled = bootstrap.systems, bootstrap.pairs, None
    if bootstrap.sampled is not None:
        sampled = _sample(kind, runner, draws, bootstrap, bootstrap.sampled.reason)
        systems, pairs = sampled.systems or systems, sampled.pairs or pairs
    if isinstance(case, Case) and len(case.units.strata) > 1:
        if power is not None:
            pairs = _inverted(case, runner, power, pairs)
        if interval.closed and (interval.needs == "runs" or in_closed_form(case.metric, settings)):
            systems, pairs = interval.closed(case)
    kinds = interval_kinds(case)
    if "bootstrap" in settings.tests:
        none = Outcomes.of([]) if sampled is None else sampled.outcomes
        outcomes["bootstrap"] = completed(bootstrap.found, bootstrap.which, lambda *_: none)
    ranks = _ranks(kind, runner, draws, sampled) if settings.leaderboard else None
    if isinstance(case, Case) and case.alone is not None:
        systems = _alone(case.alone, runner)
    return Answers({test: outcomes[test] for test in settings.tests}, systems, pairs, kinds, ranks, _wanting(exact))


def _alone(alone: Alone, runner: Runner) -> list[Spread]:
    """How the scores of systems vary that are measured from offsets."""
    spreads = run_tests(OfSums(alone.case), runner.part("alone")).systems
    return [spread.moved(offset) for spread, offset in zip(spreads, alone.offsets, strict=True)]


def _wanting(exact: list[Outcome | NotEligible]) -> tuple[float, float] | None:
    """What would make all tests exact, as in `Answers`."""
    refused = [each for each in exact if isinstance(each, NotEligible)]
    if not refused or any(each.seconds == 0.0 for each in refused):
        return None
    return max(each.seconds for each in refused), max(each.gib for each in refused)


def _without_sampling(kind: MetricKind) -> _Bootstrap:
    """What the bootstrap says without sampling, and why the rest of it samples."""
    case, settings, num_pairs = kind.case, kind.case.settings, len(kind.case.question.members)
    systems, pairs = [Spread()] * len(case.question.scores), [Spread()] * num_pairs
    found = _Bootstrap(systems, pairs, None, [NotEligible("")], np.zeros(num_pairs, np.int8))
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
        found = found._replace(found=bootstrap_outcomes(case, plan), which=plan.which)
        refused = (each for each in zip(plan.pairs, found.found, strict=True) if isinstance(each[1], NotEligible))
        pair, sampled = next(refused, (None, None))
        if sampled and must:
            raise NotExact(pair, sampled.reason)
    if KINDS[settings.interval].samples:
        return found._replace(sampled=sampled or NotEligible(f"{settings.interval} intervals need resamples"))
    if draws_intervals(case.metric, settings):
        systems, pairs = linear_spreads(case, plan)
        found = found._replace(systems=systems, pairs=pairs)
    return found._replace(sampled=sampled)


def _sample(kind: MetricKind, runner: Runner, draws: SharedDraws, exact: _Bootstrap, reason: str) -> Sampled:
    """The bootstrap test of the pairs that have no exact one, and spreads where there are none without resamples."""
    case, settings = kind.case, kind.case.settings
    refused = np.array([isinstance(each, NotEligible) for each in exact.found])
    tested = np.flatnonzero(refused[exact.which] & ("bootstrap" in settings.tests))
    spreads = draws_intervals(case.metric, settings) and exact.systems[0] == Spread()
    with runner.run("bootstrap") as run:
        return sampled_bootstrap(case, run, partial(kind.replicates, draws=draws), tested, reason, spreads=spreads)


def _inverted(case: Case, runner: Runner, power: int, pairs: list[Spread]) -> list[Spread]:
    """The same with intervals by inversion."""
    with runner.run("inversion") as run:
        intervals = inverted_intervals(case, run, power)
    return [each._replace(interval=interval) for each, interval in zip(pairs, intervals, strict=True)]


def _ranks(
    kind: MetricKind, runner: Runner, draws: SharedDraws, sampled: Sampled | None
) -> list[tuple[int, int]] | None:
    """Intervals of the ranks of systems on bootstrap resamples; None with one unit, or too little memory."""
    if len(kind.case.units.strata) == 1:
        return None
    drawn = None if sampled is None else sampled.replicates
    with kind.sized(runner, 0, draws=True).run("leaderboard") as run:
        return bootstrap_ranks(kind.case, run, drawn, partial(kind.replicates, draws=draws))
