"""Power: how likely is a test to detect the difference seen in pilot data, with more or fewer instances?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigjax.comparison.checks import check_evaluations, check_together
from sigjax.comparison.compare import compare
from sigjax.comparison.options import list_evaluations
from sigjax.records import Device, Evaluation, InputError, Settings, Test
from sigjax.records.options import check, option, required, same, takes, values
from sigjax.studies.formulas import (
    SHARE_LEVEL,
    check_resamples,
    detectable_effect,
    is_attainable,
    normal_power,
    share_interval,
    simulated_effect,
)
from sigjax.studies.records import PilotDelta, Power, PowerAt
from sigjax.studies.trials import (
    Pilot,
    StudyOptions,
    Trials,
    allotted,
    drawn,
    make_pilot,
    of_strata,
    run_trials,
    select_pair,
)
from sigjax.testing.uncertainty import standard_errors
from sigjax.version import __version__

_PILOT_RESAMPLES = 10_000


@dataclass(frozen=True, kw_only=True)
class PowerOptions(StudyOptions):
    """The options of `power`."""

    repetitions: int = same(StudyOptions, "repetitions", 500, least=2)
    instances: Sequence[int] = required(
        "Numbers of instances (or clusters) to draw.", group="Main options", least=2, most=10_000_000
    )
    level: float = same(Settings, "level", doc="Differences with p up to 1 - level are significant.", group="Test")
    target: float = option(0.8, "The power that detectable differences are for.", above=0, below=1)


@takes(PowerOptions)
def power(evaluation: Evaluation | Sequence[Evaluation], options: PowerOptions) -> Power:
    r"""Estimate the power of tests for other numbers of instances, and the smallest difference that they detect.

    Each repetition draws this number of instances from the pilot data, with replacement (from each stratum its share),
    and tests them. Power is the share of repetitions with $p \le 1 - level$. It is the power for exactly the pilot's
    difference, and no more certain than that: if the pilot's p is 0.05, the power at the pilot's own size is about one
    half. The detectable difference depends on the pilot's spread, not on its delta. The spread is taken as known; with
    few instances a test needs a little more.

    Args:
        evaluation: the pilot data of the systems, or several evaluations of the same systems, one per metric.
        options: see `PowerOptions`.

    Raises:
        InputError: an option or the data cannot be used, a metric that is no function of sums, or a single unit.

    Reference: Efron and Tibshirani (1993), section 25.4; Card et al. (2020), "With little power comes great
    responsibility".

    Example:
        >>> from sigjax import Evaluation
        >>> pilot = Evaluation.from_arrays({"A": [1, 1, 1, 0, 1, 0] * 10, "B": [1, 0, 1, 0, 0, 1] * 10})
        >>> study = power(pilot, instances=[60, 240], repetitions=200)
        >>> [round(at.power, 1) for at in study.points], [round(at.normal_power, 1) for at in study.points]
        ([0.3, 0.9], [0.5, 1.0])
    """
    evaluations = list_evaluations(evaluation)
    check(options)
    settings = Settings(interval="none", **values(options, Settings))
    check_together(settings)
    check_resamples(settings.fixed_resamples, settings.alpha)
    check_evaluations(evaluations, settings)
    if evaluations[0].unit == "response":
        raise InputError("power draws instances, but these are responses; read the files without unit response")
    if not settings.alpha < options.target:
        raise InputError(f"target must be a number between {settings.alpha:g} and 1, got {options.target!r}")
    pairs = [select_pair(each, options.systems) for each in evaluations]
    pilots, points = [], []
    for each in pairs:
        pilot = make_pilot(each)
        pilots.append(_pilot_delta(each, settings.seed, options.device))
        points += _points(pilot, pilots[-1], settings, options)
    num_units = len(make_pilot(pairs[0]).units.strata)
    signature = (
        f"study:power|metric:{'+'.join(pilot.metric for pilot in pilots)}|test:{'+'.join(settings.tests)}"
        f"|instances:{','.join(map(str, sorted(options.instances)))}|repetitions:{options.repetitions}"
        f"|n:{settings.resamples}|seed:{settings.seed}|alt:{settings.alternative}|level:{settings.level:g}"
        f"|units:{num_units}{of_strata(evaluations[0])}|sigjax:{__version__}"
    )
    return Power(
        systems=(pairs[0].systems[0], pairs[0].systems[1]),
        pilots=tuple(pilots),
        points=tuple(points),
        target=options.target,
        repetitions=options.repetitions,
        num_instances=pairs[0].num_instances,
        num_units=num_units,
        settings=settings,
        signature=signature,
    )


def _pilot_delta(evaluation: Evaluation, seed: int, device: Device) -> PilotDelta:
    options = {"test": "bootstrap", "resamples": _PILOT_RESAMPLES, "seed": seed, "device": device, "progress": False}
    (one,) = compare(evaluation, **options)
    return PilotDelta(evaluation.metric.name, one.delta, one.standard_error or 0.0)


def _points(pilot: Pilot, observed: PilotDelta, settings: Settings, options: PowerOptions) -> list[PowerAt]:
    """Power test by test and size by size; all tests of a size have the same trials."""
    trials = {}
    for size in sorted(options.instances):
        strata = allotted(pilot.units.strata, size)
        parts = pilot, drawn(pilot, settings.seed, strata), strata, options.repetitions
        trials[size] = run_trials(*parts, settings, options.device, progress=options.progress)
    return [
        _point(pilot, observed, trials[size], test, size, settings, options.target)
        for test in settings.tests
        for size in trials
    ]


def _point(
    pilot: Pilot, observed: PilotDelta, trials: Trials, test: Test, size: int, settings: Settings, target: float
) -> PowerAt:
    alpha, alternative, repetitions = settings.alpha, settings.alternative, len(trials.deltas)
    error = observed.standard_error * math.sqrt(len(pilot.units.strata) / size)
    rejected = int(np.count_nonzero(trials.p_values[test] <= alpha))
    down = observed.delta < 0 if alternative == "two-sided" else alternative == "less"
    errors = (trials.deltas - observed.delta) * (-1.0 if down else 1.0)
    attainable = test == "bootstrap" or is_attainable(alpha, size, alternative)
    return PowerAt(
        metric=observed.metric,
        test=test,
        instances=size,
        rejected=rejected,
        power=rejected / repetitions,
        interval=share_interval(rejected, repetitions, SHARE_LEVEL),
        normal_power=normal_power(observed.delta, error, alpha, alternative),
        standard_error=error,
        simulated_error=float(standard_errors(trials.deltas[None])[0]),
        detectable=detectable_effect(error, alpha, target, alternative) if attainable else None,
        simulated_detectable=simulated_effect(errors, alpha, target, alternative) if attainable else None,
        methods=trials.methods[test],
    )
