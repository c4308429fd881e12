"""Power: how likely is it that a test finds the difference seen in pilot data, with more or fewer instances?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import standard_error
from sigjax.comparison.compare import compare
from sigjax.comparison.validate import check_evaluations, check_together
from sigjax.records import Device, Evaluation, InputError, Settings, Test
from sigjax.records.options import check, option, required, same, takes, values
from sigjax.studies.normal_power import (
    check_resamples,
    detectable_effect,
    is_attainable,
    normal_power,
    simulated_effect,
)
from sigjax.studies.pilot import Pilot, allotted, drawn, make_pilot, select_pair
from sigjax.studies.records import PilotDelta, Power, PowerAt
from sigjax.studies.trials import StudyOptions, Trials, of_strata, run_trials, share_interval
from sigjax.version import __version__

_SIZE, _LEVEL = 0.8, 0.95
"""The usual power; the level of intervals of shares."""
_PILOT_RESAMPLES = 10_000


@dataclass(frozen=True, kw_only=True)
class PowerOptions(StudyOptions):
    """The options of `power`."""

    repetitions: int = same(StudyOptions, "repetitions", 500, least=2)
    instances: Sequence[int] = field(
        metadata=required("Numbers of instances (or clusters) to draw.", group="Main options", least=2, most=10_000_000)
    )
    level: float = same(Settings, "level", doc="Differences with p up to 1 - level are significant.", group="Test")
    target: float = option(_SIZE, "The power that detectable differences are for.", above=0, below=1)


@takes(PowerOptions)
def power(evaluation: Evaluation | Sequence[Evaluation], options: PowerOptions) -> Power:
    r"""Estimate the power of tests for other numbers of instances, and the least difference that they find.

    A repetition draws as many instances from the pilot data, with replacement (of each stratum its share), and tests
    them. Power is the share of repetitions with $p \le 1 - level$. It is the power for a difference that is just that
    of the pilot, and no better known than that is: of a pilot whose p is 0.05, that for the pilot's own size is about
    one half. The detectable difference does not depend on the pilot's delta, only on its spread, which it takes for
    known: of few instances a test needs a little more.

    Args:
        evaluation: the pilot data of the systems, or several evaluations of the same systems, one a metric.
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
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
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
    asked = _Asked(tuple(sorted(options.instances)), options.repetitions, options.target, settings)
    found = [_of_metric(each, asked, options.device, progress=options.progress) for each in pairs]
    names = (pairs[0].systems[0], pairs[0].systems[1])
    num_units = found[0].num_units
    signature = (
        f"study:power|metric:{'+'.join(each.pilot.metric for each in found)}|test:{'+'.join(settings.tests)}"
        f"|instances:{','.join(map(str, asked.sizes))}|repetitions:{asked.repetitions}|n:{settings.resamples}"
        f"|seed:{settings.seed}|alt:{settings.alternative}|level:{settings.level:g}|units:{num_units}"
        f"{of_strata(evaluations[0])}|sigjax:{__version__}"
    )
    return Power(
        names,
        tuple(each.pilot for each in found),
        tuple(point for each in found for point in each.points),
        asked.target,
        asked.repetitions,
        pairs[0].num_instances,
        num_units,
        settings,
        signature,
    )


class _Asked(NamedTuple):
    sizes: tuple[int, ...]
    repetitions: int
    target: float
    settings: Settings


class _Found(NamedTuple):
    pilot: PilotDelta
    points: list[PowerAt]
    num_units: int


def _of_metric(evaluation: Evaluation, asked: _Asked, device: Device, *, progress: bool) -> _Found:
    pilot, settings = make_pilot(evaluation), asked.settings
    (seen,) = compare(
        evaluation, test="bootstrap", resamples=_PILOT_RESAMPLES, seed=settings.seed, device=device, progress=False
    )
    observed = PilotDelta(evaluation.metric.name, seen.delta, seen.standard_error or 0.0)
    trials = {}
    for size in asked.sizes:
        strata = allotted(pilot.units.strata, size)
        make = drawn(pilot, settings.seed, strata)
        trials[size] = run_trials(pilot, make, strata, asked.repetitions, settings, device, progress=progress)
    points = [
        _point(pilot, observed, trials[size], test, size, asked) for test in settings.tests for size in asked.sizes
    ]
    return _Found(observed, points, len(pilot.units.strata))


def _point(pilot: Pilot, observed: PilotDelta, trials: Trials, test: Test, size: int, asked: _Asked) -> PowerAt:
    alpha, alternative = asked.settings.alpha, asked.settings.alternative
    error = observed.standard_error * math.sqrt(len(pilot.units.strata) / size)
    rejected = int(np.count_nonzero(trials.p_values[test] <= alpha))
    down = observed.delta < 0 if alternative == "two-sided" else alternative == "less"
    errors = (trials.deltas - observed.delta) * (-1.0 if down else 1.0)
    found = test == "bootstrap" or is_attainable(alpha, size, alternative)
    return PowerAt(
        metric=observed.metric,
        test=test,
        instances=size,
        rejected=rejected,
        power=rejected / asked.repetitions,
        interval=share_interval(rejected, asked.repetitions, _LEVEL),
        normal_power=normal_power(observed.delta, error, alpha, alternative),
        standard_error=error,
        simulated_error=standard_error(trials.deltas),
        detectable=detectable_effect(error, alpha, asked.target, alternative) if found else None,
        simulated_detectable=simulated_effect(errors, alpha, asked.target, alternative) if found else None,
        methods=trials.methods[test],
    )
