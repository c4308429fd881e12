"""Families: the hypotheses whose p-values are adjusted together, within a metric or over all metrics of a report.

Each test has its own. The pairs of all metrics are one family where the settings say "report": then the correction
bounds the errors of all statements of a test together, which is what a table of several metrics is read for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from sigjax.comparison.run_tests import Answers
from sigjax.multiple.decision import Decisions, decisions, known_bounds
from sigjax.multiple.maxt import StepDown, joint_maxt, maxt, num_columns
from sigjax.multiple.minp import minp
from sigjax.records import Settings, Test
from sigjax.run.backend import numpy_seconds
from sigjax.testing.p_values import Outcomes, adjust, log10_adjusted, montecarlo_p
from sigjax.testing.problem import Case
from sigjax.testing.runner import Runner, swap_seconds

_STATISTIC = 1.5e-8
"""Seconds of NumPy per pair and resample."""


class Adjusted(NamedTuple):
    """Adjusted p-values and decisions of one metric by one test."""

    p_adjusted: np.ndarray
    """[pair]"""
    log10_adjusted: np.ndarray
    """[pair]"""
    decisions: Decisions


def others_of(before: Sequence[Answers], num_metrics: int, num_pairs: int, settings: Settings) -> np.ndarray:
    """Bounds `[other, 2]` of the permutation p-values of the other metrics of the family, those `before` known."""
    if settings.family == "metric" or "permutation" not in settings.tests:
        return np.zeros((0, 2))
    to_come = (num_metrics - len(before) - 1) * num_pairs
    known = [known_bounds(answers.outcomes["permutation"]) for answers in before]
    return np.concatenate([*known, np.tile([0.0, 1.0], (to_come, 1))])


def adjust_all(family: Sequence[Answers], counted: StepDown | None, settings: Settings) -> list[dict[Test, Adjusted]]:
    """Adjusted p-values and decisions of a family, by metric and test.

    `counted` holds the counts of maxt or minp over the family, where that is the correction.
    """
    ends = list(accumulate(len(answers.pairs) for answers in family))
    found: list[dict[Test, Adjusted]] = [{} for _ in family]
    for test in settings.tests:
        outcomes = Outcomes.joined([answers.outcomes[test] for answers in family])
        p_adjusted = _adjusted(outcomes, counted, settings)
        log10 = log10_adjusted(p_adjusted, outcomes.log10_p, settings.correction)
        decided = decisions(outcomes, counted, settings)
        for of_metric, (start, end) in zip(found, pairwise([0, *ends]), strict=True):
            some = Decisions(*(column[start:end] for column in decided))
            of_metric[test] = Adjusted(p_adjusted[start:end], log10[start:end], some)
    return found


def _adjusted(outcomes: Outcomes, counted: StepDown | None, settings: Settings) -> np.ndarray:
    """Adjusted p-values `[pair]` of a family."""
    p_values = outcomes.p_value
    if counted is None:
        return adjust(p_values, settings.correction)
    # An exact p-value may be just above the adjusted one, which comes from resamples.
    return np.maximum(counted.adjusted(np.asarray(montecarlo_p(counted.exceed, settings.fixed_resamples))), p_values)


def step_down(cases: Sequence[Case], runner: Runner) -> StepDown:
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
