"""All evaluations: test their pairs, adjust p-values family by family, and make a leaderboard of each metric.

A family holds the hypotheses whose p-values are adjusted together; each test has its own. The pairs of all metrics are
one family where the settings say "report": then the correction bounds the errors of all statements of a test together,
which is what a table of several metrics is read for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.sampled import SharedDraws
from sigjax.comparison.assemble import (
    Adjusted,
    Leaderboard,
    Tested,
    comparisons_by,
    described,
    leaderboard,
    wanting_of,
)
from sigjax.comparison.metric_kinds import MetricKind, OfSums, kind_of, make_case
from sigjax.comparison.parts import Part, parts_of
from sigjax.comparison.reach import out_of_reach, too_few_runs, too_few_units
from sigjax.comparison.run_tests import run_tests
from sigjax.comparison.validate import check_units, named_errors
from sigjax.metrics.suites import is_part
from sigjax.multiple.decision import Decisions, decisions, known_bounds
from sigjax.multiple.maxt import StepDown, joint_maxt, maxt, num_columns
from sigjax.multiple.minp import minp
from sigjax.records import CORRECTIONS, Comparisons, Evaluation, Settings, Test
from sigjax.records.corrections import adjust, log10_adjusted
from sigjax.testing.p_values import Outcomes, montecarlo_p, p_intervals
from sigjax.testing.problem import Case, SampleCase
from sigjax.testing.runner import Runner, numpy_seconds, swap_seconds

_STATISTIC = 1.5e-8
"""Seconds of NumPy per pair and resample."""


class Family(NamedTuple):
    """The pairs whose p-values are adjusted together."""

    members: list[tuple[Evaluation, list[Tested]]]
    """The evaluations, and what the tests say of the parts of each."""
    outcomes: dict[Test, Outcomes]
    """Of all pairs, by test."""
    adjusted: list[list[dict[Test, Adjusted]]]
    """The same by evaluation and part, adjusted."""


def leaderboards(evaluations: Sequence[Evaluation], runner: Runner) -> list[Leaderboard]:
    """Test the pairs of all evaluations, and then adjust their p-values.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    settings, families = runner.settings, _families(evaluations, runner)
    reach = _reach(families, settings)
    return [
        leaderboard(each, settings, own, of_tests, reach)
        for family in families
        for (each, own), of_tests in zip(family.members, family.adjusted, strict=True)
    ]


def comparisons_of(evaluation: Evaluation, runner: Runner) -> Comparisons:
    """The comparisons of the pairs of one evaluation by the first test, without ranks and notes.

    Raises:
        InputError: as `leaderboards`.
    """
    ((((_, tested),), _, (adjusted,)),) = _families([evaluation], runner)
    return comparisons_by(tested, adjusted, runner.settings.tests[0], runner.settings)


def _families(evaluations: Sequence[Evaluation], runner: Runner) -> list[Family]:
    """All tests of all evaluations."""
    settings = runner.settings
    parts = [parts_of(each, settings) for each in evaluations]
    kinds = [_kind(own[0], own[0].evaluation, runner) if own[0].number is None else None for own in parts]
    shared = [kind.case for kind in kinds if isinstance(kind, OfSums) and kind.shares_draws]
    draws = SharedDraws([] if is_part(evaluations[0]) else shared)  # tasks have other instances
    found: list[list[Tested]] = []
    for number, (own, kind) in enumerate(zip(parts, kinds, strict=True), 1):
        at = runner._replace(which=f"({number} of {len(kinds)})" if len(kinds) > 1 else "")
        tested: list[Tested] = []
        found.append(tested)
        for part in own:
            mates = (found, parts) if settings.family == "report" else ([tested], [own])
            others = others_of([one.outcomes for each in mates[0] for one in each], _to_come(*mates), settings)
            tested.append(_tested(part, kind, at, draws, others))
    members = list(zip(evaluations, found, strict=True))
    families = [members] if settings.family == "report" else [[each] for each in members]
    joined = [_joined([one for _, own in family for one in own], settings) for family in families]
    return [
        Family(family, outcomes, _adjust_all([own for _, own in family], outcomes, _steps(family, runner), settings))
        for family, outcomes in zip(families, joined, strict=True)
    ]


def others_of(before: Sequence[dict[Test, Outcomes]], to_come: int, settings: Settings) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of other pairs of the family, those `before` known."""
    if "permutation" not in settings.tests:
        return np.zeros((0, 2))
    known = [known_bounds(outcomes["permutation"]) for outcomes in before if outcomes]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def _to_come(found: Sequence[Sequence[Tested]], parts: Sequence[Sequence[Part]]) -> int:
    """How many pairs of some parts are tested after the part that is next."""
    done = sum(map(len, found))
    return sum(len(part.pairs) for part in [part for own in parts for part in own][done + 1 :])


def _kind(part: Part, evaluation: Evaluation, runner: Runner) -> MetricKind:
    """The case of a part, whose evaluation is this."""
    with named_errors([evaluation], runner):
        return kind_of(make_case(evaluation, part.settings, part.members))


def _tested(part: Part, whole: MetricKind | None, runner: Runner, draws: SharedDraws, others: np.ndarray) -> Tested:
    """The tests of a part; `whole` is the case of the part that is a whole evaluation."""
    evaluation = part.evaluation
    kind = whole or _kind(part, evaluation, runner)
    own = runner.part(evaluation.metric.name)
    if part.number is not None:
        own = own.part(f"instances {part.number + 1}")
    with named_errors([evaluation], runner):
        _check(evaluation, kind.case, own)
        answers = run_tests(kind, own, draws if whole else None, others)
    return described(part, evaluation, kind.case, answers)


def _check(evaluation: Evaluation, case: Case | SampleCase, runner: Runner) -> None:
    """Refuse what cannot be tested, or is not what the run that is to go on has tested."""
    by_name = sorted(range(len(evaluation.systems)), key=evaluation.systems.__getitem__)
    runner.stage.part("scores").check_scores(np.array(case.observed_scores)[by_name])
    if "bootstrap" in case.settings.tests:
        check_units(len(case.units.strata), "the bootstrap test", "; use --test permutation")


def _joined(family: Sequence[Tested], settings: Settings) -> dict[Test, Outcomes]:
    """The outcomes of a family, by test."""
    return {test: Outcomes.joined([one.outcomes[test] for one in family if one.outcomes]) for test in settings.tests}


def _reach(families: Sequence[Family], settings: Settings) -> list[str]:
    """Notes on significance that is out of reach, of which few units and runs are those of the first family."""
    members = families[0].members
    first, num_hypotheses = members[0][0], sum(len(one.pairs) for _, own in members for one in own)
    of_what = "pairs" if len(members) == 1 else "pairs of all metrics"
    notes = []
    for family, outcomes, _ in families:
        notes += out_of_reach(outcomes, of_what, settings, wanting_of([one for _, own in family for one in own]))
    for family in families if is_part(first) else families[:1]:
        num_units = min(one.precision.num_units for _, own in family.members for one in own if one.outcomes)
        named = f"warning: {family.members[0][0].metric.name}: " if len(families) > 1 else "warning: "
        few = too_few_units(num_units, num_hypotheses, settings)
        notes += [note.replace("warning: ", named) for note in few] if is_part(first) else few
    if settings.design == "models":
        notes += too_few_runs(len(set(first.runs or ())), num_hypotheses, settings)
    return notes


def _steps(family: Sequence[tuple[Evaluation, Sequence[Tested]]], runner: Runner) -> StepDown | None:
    """What maxt or minp counts over the pairs of a family; None for other corrections."""
    settings = runner.settings
    if not CORRECTIONS[settings.correction].is_resampled:
        return None
    cases = [one.case for _, own in family for one in own if isinstance(one.case, Case)]
    own = runner.part(family[0][0].metric.name) if settings.family == "metric" else runner
    with named_errors([each for each, _ in family], runner):
        return _step_down(cases, own)


def _adjust_all(
    family: Sequence[Sequence[Tested]], joined: dict[Test, Outcomes], counted: StepDown | None, settings: Settings
) -> list[list[dict[Test, Adjusted]]]:
    """Adjusted p-values, intervals of p-values and decisions of a family, by metric, part and test.

    `counted` holds the counts of maxt or minp over the family, where that is the correction.
    """
    ends = list(accumulate(len(one.pairs) for own in family for one in own))
    found: list[dict[Test, Adjusted]] = [{} for _ in ends]
    for test, outcomes in joined.items():
        p_adjusted = _adjusted(outcomes, counted, settings)
        log10 = log10_adjusted(p_adjusted, outcomes.log10_p, settings.correction)
        intervals = p_intervals(outcomes, settings)
        decided = decisions(outcomes, counted, settings)
        for of_part, (start, end) in zip(found, pairwise([0, *ends]), strict=True):
            some = Decisions(*(column[start:end] for column in decided))
            of_part[test] = Adjusted(p_adjusted[start:end], log10[start:end], intervals[start:end], some)
    parts = iter(found)
    return [list(islice(parts, len(own))) for own in family]


def _adjusted(outcomes: Outcomes, counted: StepDown | None, settings: Settings) -> np.ndarray:
    """Adjusted p-values `[pair]` of a family."""
    p_values = outcomes.p_value
    if counted is None:
        return adjust(p_values, settings.correction)
    # An exact p-value may be just above the adjusted one, which comes from resamples.
    return np.maximum(counted.adjusted(np.asarray(montecarlo_p(counted.exceed, settings.fixed_resamples))), p_values)


def _step_down(cases: Sequence[Case], runner: Runner) -> StepDown:
    """The counts of maxt or minp over the pairs of a family.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        NotTraceable: the device cannot run the metric.
        InputError: for maxt, a delta that single units do not change; for minp, too little memory.
    """
    correction, first = runner.settings.correction, cases[0]
    if correction == "maxt" and len(cases) == 1:
        runner = runner.sized(swap_seconds(first, len(first.question.members)))
        with runner.run(correction, compiles=first.metric) as run:
            return maxt(first, run)
    resamples, num_pairs = runner.settings.fixed_resamples, len(cases) * len(first.question.members)
    seconds = numpy_seconds(
        resamples=resamples, units=len(first.units.strata), columns=num_columns(cases), scored=0, counted=False
    )
    # The device makes the sums alone; the bar is for all of the work.
    runner = runner.sized(seconds)._replace(seconds=seconds + _STATISTIC * resamples * num_pairs)
    with runner.run(correction) as run:
        return (minp if correction == "minp" else joint_maxt)(cases, run)
