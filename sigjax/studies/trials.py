"""Trials: the tests of many pairs that are made from one pair of systems, as a user would have run them on each.

A trial is a pair of systems on units that were drawn from those of an evaluation, or whose outputs were swapped. The
random numbers of trials are those of resamples that no test reaches: under one seed, trials and tests share none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.checkpoint import NO_STAGE
from sigjax.exact.plan import Plan
from sigjax.inference.answer import answer
from sigjax.inference.exact import plan_exact
from sigjax.inference.outcome import Case, NotFinite, NotTraceable, Outcome, Question
from sigjax.inference.pvalues import clopper_pearson
from sigjax.metrics import check_score
from sigjax.progress import progress_bar
from sigjax.records import Device, Evaluation, InputError, Interval, Metric, Settings, Test
from sigjax.resample.backend import double_precision
from sigjax.resample.bits import row_keys
from sigjax.resample.plans import Draws, drawn_units, swap
from sigjax.units import Units, make_units, observed_scores, tolerances

_FIRST_ROW = 2**41
"""Trial r has the random words of this resample plus r; tests have fewer resamples."""
_GROUP_VALUES = 2**23
"""Statistics of trials that are held at a time."""
_EXACT_SECONDS, _NO_LIMIT = 2.0, 1e9
"""Nominal seconds that the exact tests of all trials may take together; beyond, all are sampled."""

Maker = Callable[[np.ndarray], np.ndarray]
"""Trials `[trial]` (int64) -> statistics `[trial, 2, unit, stat]` (int64), in the fixed point of the units."""


class Pilot(NamedTuple):
    """Two systems on the units that trials are made of."""

    names: tuple[str, str]
    metric: Metric
    units: Units


class Trials(NamedTuple):
    """What the tests say of each trial."""

    deltas: np.ndarray
    """[trial] float64."""
    p_values: dict[Test, np.ndarray]
    """For each test, `[trial]`."""
    methods: dict[Test, dict[str, int]]
    """For each test, how many trials were tested by which method."""


def select_pair(evaluation: Evaluation, systems: Sequence[str] | None) -> Evaluation:
    """The evaluation of the two systems named, or of the only two that there are.

    Raises:
        InputError: there are more or fewer than two, or a name is unknown.
    """
    names = evaluation.systems if systems is None else tuple(systems)
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            f"a study takes two systems, got {len(names)} ({', '.join(names[:12])}); name two of them (systems)"
        )
    for name in names:
        if name not in evaluation.systems:
            raise InputError(f"{name!r} is not a system; expected two of {', '.join(evaluation.systems[:12])}")
    places = [evaluation.systems.index(name) for name in names]
    return replace(evaluation, systems=names, stats=evaluation.stats[places])


def make_pilot(evaluation: Evaluation) -> Pilot:
    """The units of an evaluation of two systems.

    Raises:
        InputError: a metric that is no function of sums, or that does not work on the data.
    """
    metric, units = units_of_sums(evaluation)
    return Pilot((evaluation.systems[0], evaluation.systems[1]), metric, units)


def units_of_sums(evaluation: Evaluation) -> tuple[Metric, Units]:
    """The metric, which must be one of sums, and the units of an evaluation, of which there must be two.

    Raises:
        InputError: a metric that is no function of sums, or that does not work on the data, or one unit.
    """
    metric = evaluation.metric
    if not isinstance(metric, Metric):
        raise InputError(f"a study takes metrics of sums, but {metric.name!r} is computed from all instances at once")
    units = make_units(evaluation)
    if len(units.strata) < 2:
        raise InputError("a study needs at least two units (instances, or clusters of them), got one")
    check_score(metric, units.unscaled(units.totals))
    return metric, units


def swapped(pilot: Pilot, seed: int) -> Maker:
    """Trials in which the outputs of each unit are swapped or not, each with probability 1/2: no system is better."""
    values = pilot.units.values.swapaxes(0, 1)
    draws = Draws(np.zeros(len(values), np.int32), np.zeros(len(values), np.uint64))

    def make(trials: np.ndarray) -> np.ndarray:
        masks = swap(row_keys(seed, _FIRST_ROW + trials), draws, np.bool_)[:, : len(values)]
        return np.where(masks[:, :, None, None], values[:, ::-1], values).swapaxes(1, 2)

    return make


def drawn(pilot: Pilot, seed: int, strata: np.ndarray) -> Maker:
    """Trials of units drawn with replacement: the stratum of each is in `strata` `[unit]`, ascending."""
    own = pilot.units.strata
    start = np.searchsorted(own, strata)
    draws = Draws(start.astype(np.int32), (np.searchsorted(own, strata, side="right") - start).astype(np.uint64))

    def make(trials: np.ndarray) -> np.ndarray:
        places = drawn_units(row_keys(seed, _FIRST_ROW + trials), draws)
        return pilot.units.values[:, places].swapaxes(0, 1)

    return make


def allotted(strata: np.ndarray, size: int) -> np.ndarray:
    """The strata of `size` units, in proportion to those of `strata` `[unit]` (ascending): `[size]`, ascending.

    What whole numbers leave over goes to the strata with the largest remainders (Hamilton).

    Example:
        >>> allotted(np.array([0, 0, 0, 1]), 6)
        array([0, 0, 0, 0, 0, 1])
    """
    whole, rest = np.divmod(np.bincount(strata) * size, len(strata))
    whole[np.argsort(-rest, kind="stable")[: size - whole.sum()]] += 1
    return np.repeat(np.arange(len(whole)), whole)


def run_trials(
    pilot: Pilot, make: Maker, strata: np.ndarray, count: int, settings: Settings, device: Device, *, progress: bool
) -> Trials:
    """Test `count` trials on units of these `strata` `[unit]`; all of them meet the same resamples.

    Permutation tests are exact where that takes seconds for all trials together, and the bootstrap samples.

    Raises:
        InputError: the metric is not finite on a resample, or the device cannot run it.
    """
    values = 2 * len(strata) * pilot.units.values.shape[2]
    groups = -(-count * values // _GROUP_VALUES)
    size = -(-count // groups)
    deltas = np.empty(count)
    p_values: dict[Test, np.ndarray] = {test: np.empty(count) for test in settings.tests}
    methods: dict[Test, list[str]] = {test: [""] * count for test in settings.tests}
    with (
        progress_bar("trials", count, shown=progress and groups > 1) as advance,
        double_precision(),
        _refusals(pilot, device),
    ):
        for group in range(groups):
            # Groups of one size make programs of one shape; the last one may repeat some trials.
            start = min(group * size, count - size)
            part = slice(start, start + size)
            case = _case(pilot, make(np.arange(part.start, part.stop)), strata, settings)
            deltas[part] = [case.question.delta(pair) for pair in case.question.pairs]
            for test in settings.tests:
                found = _outcomes(case, test, count, device)
                p_values[test][part] = [outcome.p_value for outcome in found]
                methods[test][part] = [outcome.method for outcome in found]
            advance(part.stop)
    return Trials(deltas, p_values, {test: dict(Counter(of_test)) for test, of_test in methods.items()})


def _case(pilot: Pilot, values: np.ndarray, strata: np.ndarray, settings: Settings) -> Case:
    """The trials `[trial, 2, unit, stat]` as systems 0 and 1, 2 and 3, ..."""
    units = replace(pilot.units, values=values.reshape(-1, *values.shape[2:]), strata=strata)
    scores, errors = observed_scores(units, pilot.metric), tolerances(units, pilot.metric)
    if not np.isfinite(scores).all():
        raise NotFinite((int(np.argmin(np.isfinite(scores))),))
    pairs = tuple((first, first + 1) for first in range(0, len(scores), 2))
    return Case(units, pilot.metric, Question(pairs, tuple(scores.tolist()), tuple(errors.tolist())), settings)


def _outcomes(case: Case, test: Test, count: int, device: Device) -> list[Outcome]:
    settings = replace(case.settings, tests=(test,), method="montecarlo")
    if test == "permutation" and _seconds(case) * count <= _EXACT_SECONDS:
        settings = replace(settings, method="auto", budget=_NO_LIMIT)
    case = case._replace(settings=settings)
    return answer(case, device, progress=False, stage=NO_STAGE).outcomes[test]


def _seconds(case: Case) -> float:
    """Nominal seconds of the exact test of the first trial."""
    pair = case.question.pairs[0]
    first = case._replace(question=case.question._replace(pairs=(pair,)))
    plan = plan_exact(first._replace(settings=replace(case.settings, method="auto", budget=_NO_LIMIT)))[pair]
    return plan.seconds if isinstance(plan, Plan) else np.inf


@contextmanager
def _refusals(pilot: Pilot, device: Device) -> Iterator[None]:
    """What tests cannot do, as errors that people read."""
    name = pilot.metric.name
    try:
        yield
    except NotFinite as error:
        system = pilot.names[error.systems[0] % 2]
        raise InputError(
            f"metric {name!r} is not a finite number on a trial made from {system!r}; have it return a number "
            "everywhere, also where a denominator is 0, or take more instances"
        ) from None
    except NotTraceable:
        raise InputError(
            f"metric {name!r} cannot be compiled for device {device!r}; use the device auto or numpy"
        ) from None


def check_count(name: str, value: object, least: int, most: int) -> None:
    """Refuse what is no whole number within limits.

    Raises:
        InputError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{name} must be a whole number from {least:,} to {most:,}, got {value!r}")


def of_strata(evaluation: Evaluation) -> str:
    """The part of a signature that says how many strata there are, where there are some."""
    return "" if evaluation.strata is None else f"|strata:{len(set(evaluation.strata))}"


def share_interval(successes: int, trials: int, level: float) -> Interval:
    """Clopper-Pearson interval of a share of trials.

    Example:
        >>> share_interval(0, 10, 0.95).high.__round__(4)
        0.3085
    """
    low, high = clopper_pearson(np.array([successes]), trials, level)
    return Interval(float(low[0]), float(high[0]))
