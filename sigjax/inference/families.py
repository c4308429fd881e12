"""Families: the hypotheses whose p-values are adjusted together, within a metric or over all metrics of a report.

Each test has its own. The pairs of all metrics are one family where the settings say "report": then the correction
bounds the errors of all statements of a test together, which is what a table of several metrics is read for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from sigjax.checkpoint import Stage
from sigjax.inference.answer import Answers
from sigjax.inference.corrections import adjust
from sigjax.inference.joint import joint_maxt, num_columns
from sigjax.inference.minp import minp
from sigjax.inference.outcome import Case, Outcome
from sigjax.inference.stopping import agree
from sigjax.progress import progress_bar
from sigjax.records import Device, Interval, Settings, Test
from sigjax.resample.backend import choose_backend, numpy_seconds
from sigjax.resample.engine import Run
from sigjax.resample.share import current_share

Adjusted = dict[Test, np.ndarray]
"""For each test of a metric, adjusted p-values `[pair]`."""
_WORTH_A_BAR = 1.0
"""Seconds of work from which a progress bar is drawn."""
_STATISTIC = 1.5e-8
"""Seconds that NumPy takes for a statistic of a pair on a resample."""


def others_of(before: Sequence[Answers], num_metrics: int, num_pairs: int, settings: Settings) -> tuple[Interval, ...]:
    """Bounds of the permutation p-values of the other metrics of the family, when those `before` are known."""
    if settings.family == "metric":
        return ()
    known = [_bounds(outcome) for answers in before for outcome in answers.outcomes.get("permutation", ())]
    to_come = (num_metrics - len(before) - 1) * num_pairs
    return (*known, *[Interval(0.0, 1.0)] * to_come)


def settled_together(found: Sequence[Answers], settings: Settings) -> list[Answers]:
    """The answers with what is settled now that the bounds of all metrics are known."""
    if settings.family == "metric" or settings.resamples != "auto":
        return list(found)
    outcomes = [answers.outcomes["permutation"] for answers in found]
    low, high = np.array([_bounds(each) for of_metric in outcomes for each in of_metric]).T
    settled = iter(agree(low, high, settings.correction, settings.alpha).tolist())
    more = []
    for answers, of_metric in zip(found, outcomes, strict=True):
        looked_at = zip(of_metric, settled, strict=False)
        again = [each if each.settled is None else each._replace(settled=now) for each, now in looked_at]
        more.append(answers._replace(outcomes=answers.outcomes | {"permutation": again}))
    return more


def adjusted(found: Sequence[Answers], settings: Settings) -> list[Adjusted]:
    """Adjusted p-values of each metric, within the families of the settings.

    Where resamples have adjusted them already, an exact p-value may be just above what comes from resamples.
    """
    p_values: list[Adjusted] = [
        {test: np.array([each.p_value for each in of_test]) for test, of_test in answers.outcomes.items()}
        for answers in found
    ]
    if settings.correction in ("maxt", "minp"):
        return [
            {test: np.maximum(p, answers.adjusted) for test, p in of_metric.items() if answers.adjusted is not None}
            for of_metric, answers in zip(p_values, found, strict=True)
        ]
    if settings.family == "metric":
        return [{test: adjust(p, settings.correction) for test, p in of_metric.items()} for of_metric in p_values]
    ends = list(accumulate(len(next(iter(of_metric.values()))) for of_metric in p_values))
    joined: dict[Test, list[np.ndarray]] = {
        test: np.split(adjust(np.concatenate([each[test] for each in p_values]), settings.correction), ends[:-1])
        for test in settings.tests
    }
    return [{test: p[metric] for test, p in joined.items()} for metric in range(len(found))]


def resampled_together(
    cases: Sequence[Case], settings: Settings, device: Device, *, progress: bool, stage: Stage
) -> list[np.ndarray]:
    """p-values `[pair]` of each metric, adjusted over all of them by maxt or minp.

    Raises:
        NotFinite: a metric gave NaN or infinity.
        InputError: for maxt, a delta that single units do not change; for minp, too little memory.
    """
    resamples = settings.fixed_resamples
    seconds = numpy_seconds(
        resamples=resamples, units=len(cases[0].units.strata), columns=num_columns(cases), scored=0, counted=False
    )
    backend = choose_backend(device, numpy_seconds=seconds)
    seconds += _STATISTIC * resamples * sum(len(case.question.pairs) for case in cases)
    with progress_bar(settings.correction, resamples, shown=progress and seconds > _WORTH_A_BAR) as advance:
        stage, share = stage.part(settings.correction), current_share()
        run = Run(resamples, settings.seed, backend, advance, stage=stage, share=share)
        return (minp if settings.correction == "minp" else joint_maxt)(cases, run)


def _bounds(outcome: Outcome) -> Interval:
    """What a p-value lies between: itself, if it is exact."""
    if outcome.settled is None or outcome.bracket is None:
        return Interval(outcome.p_value, outcome.p_value)
    return Interval(*outcome.bracket)
