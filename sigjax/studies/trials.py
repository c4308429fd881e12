"""Trials: simulated test sets made from the units of an evaluation. Each trial is tested as a user would test it.

A trial draws units of the evaluation with replacement, or swaps the outputs of two systems on random units. The random
numbers of trials are independent of the random numbers of their tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sigjax.comparison.analysis import run_tests
from sigjax.comparison.checks import check_evaluations, check_together, check_units
from sigjax.exact.plans import Plan
from sigjax.formats.reading import read_data
from sigjax.metrics import check_score, shifted
from sigjax.metrics.ratios import mean_score
from sigjax.readers.options import ReadOptions
from sigjax.records import (
    Alternative,
    Comparisons,
    Device,
    EvaluationRecord,
    Hint,
    InputError,
    Metric,
    Missing,
    Settings,
    Test,
)
from sigjax.records.options import given_as, option, same, values
from sigjax.resample.draws import STREAMS, Draws, swap
from sigjax.resample.units import Units, make_units
from sigjax.run.backend import host_scope
from sigjax.run.context import Context, NotTraceable, progress_bar
from sigjax.studies.formulas import check_resamples
from sigjax.studies.study import StudyOptions
from sigjax.testing.permutation import plan_exact
from sigjax.testing.problem import NotFinite, SumsProblem

Labels = Literal["clusters", "strata", "runs"]
Handled = Literal["metrics", Labels]
"""What data may contain and some studies do not use: several metrics, and labels of instances."""
LABELS: Mapping[Labels, str] = {"clusters": "cluster", "strata": "strata", "runs": "runs"}
"""Dict from a kind of labels of instances to the option of reading that gives these labels."""
ALL: frozenset[Handled] = frozenset(("metrics", *LABELS))
"""The argument `handles` of `study_data` for studies that report on all metrics and use all kinds of labels."""
Maker = Callable[[np.ndarray], np.ndarray]
"""A function that makes trials. It maps the positions of trials `[trial]` (from 0) to their statistics
`[trial, system, unit, stat]`, which are int64 with the same fixed point as the units of the pilot."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """The systems and units from which trials are made."""

    names: tuple[str, ...]
    metric: Metric
    units: Units


def study_data(
    data: Any, read: ReadOptions | Mapping[str, Any] | None, handles: Collection[Handled], **how: Any
) -> list[EvaluationRecord]:
    """Read the data of a study with `read_data`. All studies read their data with this function.

    `handles` names what the study can handle: several metrics, clusters, strata, runs. If the data contain one of these
    and the study does not handle it, an error is raised here. So no study ignores it in silence. `how` are further
    arguments of `read_data`.
    """
    evaluations = read_data(data, read, **how)
    refuse_unused(evaluations, handles)
    return evaluations


def refuse_unused(
    evaluations: Sequence[EvaluationRecord], handles: Collection[Handled], study: str = "this study"
) -> None:
    """Raise an error if the data contain something that the study does not handle.

    `handles` names what the study can handle: several metrics, clusters, strata, runs. `study` is the name of the study
    for the message.
    """
    if "metrics" not in handles and len(evaluations) != 1:
        raise InputError(f"{study} takes one metric, got {len(evaluations)}; name one ({Hint('metric', 'NAME')})")
    for labels, name in LABELS.items():
        if labels not in handles and any(getattr(each, labels) is not None for each in evaluations):
            raise InputError(f"{study} makes no use of {labels}; leave out {Hint(name)}")


def by_one_metric(
    data: Any, read: ReadOptions | Mapping[str, Any] | None, handles: Collection[Handled], **how: Any
) -> EvaluationRecord:
    """Read the data of a study that takes one metric; several metrics raise an error.

    The arguments are the same as for `study_data`.
    """
    (evaluation,) = study_data(data, read, handles, **how)
    return evaluation


def instance_ids(evaluation: EvaluationRecord) -> Sequence[str]:
    """Return names that identify the instances: ids; without ids, positions. All runs of an instance have one name."""
    return evaluation.ids or tuple(f"number {number}" for number in range(1, evaluation.num_instances + 1))


def shown_fields(data: Any, fields: Sequence[str], read: ReadOptions, **how: Any) -> dict[str, EvaluationRecord]:
    """Read the fields whose texts are shown beside the instances.

    Return a dict from the name of each field to an evaluation whose strata are the values of this field. `how` are
    further arguments of `read_data`.
    """
    given = data if isinstance(data, list | tuple) else [data]
    if fields and any(isinstance(each, EvaluationRecord) for each in given):
        raise InputError(f"{Hint('show')} reads fields of files, and these are read already; give their paths")
    with given_as("strata", "show"):
        return {name: by_one_metric(data, replace(read, strata=name), LABELS, **how) for name in fields}


def texts_by_id(texts: Mapping[str, EvaluationRecord], ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return a dict from each field to its texts for the instances `ids`; `texts` is the result of `shown_fields`."""
    known = {name: dict(zip(instance_ids(each), each.strata or (), strict=True)) for name, each in texts.items()}
    return {name: tuple(own[id] for id in ids) for name, own in known.items()}


def check_pair(evaluation: EvaluationRecord) -> EvaluationRecord:
    """Return the evaluation; raise an error unless it has exactly two systems."""
    names = evaluation.systems
    if len(names) != 2:
        raise InputError(
            f"a study takes two systems, got {len(names)} ({', '.join(names[:12])}); name two of them "
            f"({Hint('only', 'A', 'B')})"
        )
    return evaluation


def on_instances(evaluation: EvaluationRecord, chosen: np.ndarray, **changes: Any) -> EvaluationRecord:
    """Return the evaluation on the `chosen` instances (positions or a mask), with other `changes` to its fields."""
    index = np.arange(evaluation.num_instances)[chosen]
    labels = {
        name: tuple(labels[i] for i in index.tolist())
        for name in ("ids", "clusters", "strata", "runs")
        if (labels := getattr(evaluation, name)) is not None
    }
    return replace(evaluation, **({"stats": evaluation.stats[:, index]} | labels | changes))


def make_pilot(evaluation: EvaluationRecord) -> Pilot:
    """Make the pilot of an evaluation: the systems and units from which trials (simulated test sets) are made.

    Raise an error if the metric is not a function of sums, or if there is only one unit.
    """
    metric = evaluation.metric
    if not isinstance(metric, Metric):
        raise InputError(f"a study takes metrics of sums, but {metric.name!r} is computed from all instances at once")
    if (shift := shifted(evaluation)) is not None:
        evaluation = shift.deltas
    units = make_units(evaluation)
    check_units(len(units.strata), "a study")
    check_score(metric, units.unscaled(units.totals))
    return Pilot(evaluation.systems, metric, units)


def swapped(pilot: Pilot, seed: int) -> Maker:
    """Return a function that makes trials by swapping: the outputs of each unit are swapped with probability 1/2.

    In these trials, neither system is better.
    """
    values = pilot.units.values.swapaxes(0, 1)
    draws = Draws(np.zeros(len(values), np.int32), np.zeros(len(values), np.uint64))

    def make(trials: np.ndarray) -> np.ndarray:
        masks = swap(STREAMS["trials"].keys(seed, trials), draws, np.bool_)[:, : len(values)]
        return np.where(masks[:, :, None, None], values[:, ::-1], values).swapaxes(1, 2)

    return make


def drawn(pilot: Pilot, seed: int, strata: np.ndarray) -> Maker:
    """Return a function that makes trials by drawing units with replacement.

    `strata` `[unit]` (ascending) says from which stratum each unit of a trial is drawn.
    """
    start, end = (np.searchsorted(pilot.units.strata, strata, side=side) for side in ("left", "right"))
    draws = Draws(start.astype(np.int32), (end - start).astype(np.uint64))

    def make(trials: np.ndarray) -> np.ndarray:
        chosen = draws.drawn(STREAMS["trials"].keys(seed, trials))
        return pilot.units.values[:, chosen].swapaxes(0, 1)

    return make


def allotted(strata: np.ndarray, size: int) -> np.ndarray:
    """Allot `size` units to strata, in proportion to `strata` `[unit]` (ascending); return their strata `[size]`.

    Numbers are rounded down; the units that are left go to the strata with the largest remainders (Hamilton's method).

    >>> allotted(np.array([0, 0, 0, 1]), 6)
    array([0, 0, 0, 0, 0, 1])
    """
    whole, rest = np.divmod(np.bincount(strata) * size, len(strata))
    whole[np.argsort(-rest, kind="stable")[: size - whole.sum()]] += 1
    return np.repeat(np.arange(len(whole)), whole)


_GROUP_VALUES = 2**23
"""About this many statistics of trials are in memory at a time."""
_EXACT_SECONDS, _NO_LIMIT = 2.0, 1e9
"""`_EXACT_SECONDS`: if the exact tests of all trials together would take more nominal seconds than this, all tests are
sampled. `_NO_LIMIT`: a budget that no exact test exceeds."""


@dataclass(frozen=True, kw_only=True)
class TrialOptions(StudyOptions):
    """The options that studies with trials share."""

    test: Test | Sequence[Test] = same(
        Settings, "test", more="The permutation test is exact where that takes seconds in all."
    )
    repetitions: int = option(1000, "Number of simulated test sets.", least=1, most=100_000)
    resamples: int = same(
        Settings,
        "resamples",
        1999,
        doc="Number of Monte Carlo resamples of each test.",
        more="1999 lets p attain 1%, 5% and 10%.",
    )
    seed: int = same(Settings, "seed")
    alternative: Alternative = same(Settings, "alternative")


def checked_settings(
    evaluations: Sequence[EvaluationRecord], options: Any, least_p: float, *, drawing: str = "", **changes: Any
) -> Settings:
    """Make and check the settings of a study's tests.

    There must be enough resamples for p-values as small as `least_p`. `drawing` names a study that draws instances;
    data of single responses are then an error. `changes` replace options.
    """
    settings = Settings(interval="none", **values(options, Settings, **changes))
    check_together(settings)
    check_resamples(settings.fixed_resamples, least_p)
    check_evaluations(evaluations, settings)
    if drawing and evaluations[0].unit == "response":
        raise InputError(f"{drawing} draws instances, but these are responses; read the files without unit response")
    return settings


@dataclass(frozen=True, slots=True)
class Trials:
    """Results of all trials: deltas `[trial]`, p-values `[trial]` of each test, and the methods of each test.

    `methods` has for each test a dict from method to number of trials.
    """

    deltas: np.ndarray
    p_values: dict[Test, np.ndarray]
    methods: dict[Test, dict[str, int]]


def run_trials(
    pilot: Pilot,
    make: Maker,
    strata: np.ndarray,
    count: int,
    settings: Settings,
    device: Device,
    *,
    progress: bool,
) -> Trials:
    """Make and test `count` trials of two systems, all on the same resamples.

    `make` makes the trials from the `pilot`. The units of a trial have these `strata` `[unit]`. Permutation tests are
    exact if that takes only seconds for all trials together. Bootstrap tests are sampled.
    """
    groups = -(-count * 2 * len(strata) * pilot.units.values.shape[2] // _GROUP_VALUES)
    size = -(-count // groups)
    deltas = np.empty(count)
    p_values: dict[Test, np.ndarray] = {test: np.empty(count) for test in settings.tests}
    methods: dict[Test, list[str]] = {test: [""] * count for test in settings.tests}
    with (
        progress_bar("trials", count if groups > 1 else None, visible=progress) as advance,
        host_scope(),
        _input_errors(pilot, device),
    ):
        for group in range(groups):
            # Groups of equal size need only one compiled program. So the last group may repeat some earlier trials.
            start = min(group * size, count - size)
            part = slice(start, start + size)
            problem = _problem(pilot, make(np.arange(start, start + size)), strata, settings)
            deltas[part] = problem.hypotheses.deltas
            for test in settings.tests:
                tested = _tested(problem, test, count, device)
                p_values[test][part] = tested.column("p_value").values
                methods[test][part] = tested.column("method").tolist()
            advance(start + size)
    return Trials(deltas, p_values, {test: dict(Counter(of_test)) for test, of_test in methods.items()})


def _problem(pilot: Pilot, values: np.ndarray, strata: np.ndarray, settings: Settings) -> SumsProblem:
    """Return many trials as one set of data, so that a test of all pairs tests each trial.

    `values` `[trial, system, unit, stat]` are the statistics of the trials, and `strata` `[unit]` the strata of their
    units. The systems 2 i and 2 i + 1 of the result are the two systems of trial i.
    """
    # A system of a trial may mix the outputs of both systems, so its error is the larger of their errors.
    errors = np.full(2 * len(values), pilot.units.relative_error.max())
    units = replace(pilot.units, values=values.reshape(-1, *values.shape[2:]), strata=strata, relative_error=errors)
    return SumsProblem.of(units, pilot.metric, np.arange(len(errors), dtype=np.int32).reshape(-1, 2), settings)


def _tested(problem: SumsProblem, test: Test, count: int, device: Device) -> Comparisons:
    """Run one test on a group of trials.

    `count` is the number of trials in all groups. A permutation test is exact if the exact tests of all these trials
    together take only seconds.
    """
    settings = replace(problem.settings, test=test, method="montecarlo")
    if test == "permutation":
        exact = replace(settings, method="auto", budget=_NO_LIMIT)
        first_trial = problem.hypotheses.pair(0)
        (plan,) = plan_exact(replace(problem, settings=exact), [first_trial]).values()
        if isinstance(plan, Plan) and plan.cost.seconds * count <= _EXACT_SECONDS:
            settings = exact
    return run_tests(replace(problem, settings=settings), Context(device))[0][test]


@contextmanager
def _input_errors(pilot: Pilot, device: Device) -> Iterator[None]:
    """Context manager that turns errors of tests into messages for users."""
    name = pilot.metric.name
    try:
        yield
    except NotFinite as error:
        system = pilot.names[error.systems[0] % len(pilot.names)]
        raise InputError(
            f"metric {name!r} is not a finite number on a trial made from {system!r}; have it return a number "
            "everywhere, also where a denominator is 0, or take more instances"
        ) from None
    except NotTraceable:
        raise InputError(
            f"metric {name!r} cannot be compiled for device {device!r}; use the device auto or numpy"
        ) from None


def signed_data(evaluation: EvaluationRecord) -> dict[str, str | int | None]:
    """Return the values of a signature that describe the data: numbers of runs and of strata, if there are any."""
    strata = None if evaluation.strata is None else len(set(evaluation.strata))
    return {"runs": str(evaluation.size) or None, "strata": strata}


def refuse_zero(missing: Missing) -> None:
    """Raise an error for missing="zero", because results that are still to come are not 0."""
    if missing == "zero":
        raise InputError(f"{Hint('missing')}: results still to come are not 0; write failures into the files as 0")


def mean_scores(
    data: Any, options: Any, what: str, missing: Missing = "pairwise"
) -> tuple[EvaluationRecord, np.ndarray, Sequence[str] | None]:
    """Read data whose metric is a mean over instances. Return the evaluation, its scores, and the labels of its units.

    Scores are `[system, instance]`. Labels are `[instance]`; None if each instance is a unit. `what` names the study in
    messages, and `missing` says how to treat missing results.
    """
    evaluation = by_one_metric(data, options.read, ("clusters", "runs"), missing=missing, progress=options.progress)
    stats, present = evaluation.stats, slice(None) if evaluation.present is None else evaluation.present
    is_mean = getattr(evaluation.metric, "score", None) is mean_score and (stats[..., 1][present] == 1).all()
    if not is_mean or evaluation.weights is not None:
        raise InputError(f"{what} takes a mean of one score per instance, and {evaluation.metric.name} is none")
    units = evaluation.unit_labels
    return evaluation, stats[..., 0].astype(np.float64), units
