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
from sigjax.multiple.maxt import StepDown, joint_maxt, num_columns
from sigjax.multiple.minp import minp
from sigjax.records import Device, Settings, Test
from sigjax.resample.engine import Run
from sigjax.run.backend import choose_backend, numpy_seconds
from sigjax.run.checkpoint import Stage
from sigjax.run.host import WORTH_A_BAR, progress_bar
from sigjax.run.share import current_share
from sigjax.testing.corrections import adjust, log10_adjusted
from sigjax.testing.p_values import montecarlo_p
from sigjax.testing.problem import Case
from sigjax.testing.result import Outcomes

_STATISTIC = 1.5e-8
"""Seconds that NumPy takes for a statistic of a pair on a resample."""


class Adjusted(NamedTuple):
    """What is said of the pairs of one metric by one test, after the correction."""

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
    """What each metric of a family says of its pairs, test by test, when all are adjusted together.

    `counted` is what maxt or minp has counted over the family, where that is the correction.
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


def resampled_together(
    cases: Sequence[Case], settings: Settings, device: Device, *, progress: bool, stage: Stage
) -> StepDown:
    """What maxt or minp counts over the pairs of several metrics together.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        InputError: for maxt, a delta that single units do not change; for minp, too little memory.
    """
    resamples = settings.fixed_resamples
    seconds = numpy_seconds(
        resamples=resamples, units=len(cases[0].units.strata), columns=num_columns(cases), scored=0, counted=False
    )
    backend = choose_backend(device, numpy_seconds=seconds)
    seconds += _STATISTIC * resamples * sum(len(case.question.members) for case in cases)
    with progress_bar(settings.correction, resamples, shown=progress and seconds > WORTH_A_BAR) as advance:
        stage, share = stage.part(settings.correction), current_share()
        run = Run(resamples, settings.seed, backend, advance, stage=stage, share=share)
        return (minp if settings.correction == "minp" else joint_maxt)(cases, run)
