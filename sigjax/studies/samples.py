"""Systems one by one, each with the instances that it has: for tests that do not pair systems by instance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.bootstrap.closed import closed_spreads
from sigjax.bootstrap.intervals import Spread
from sigjax.comparison.metric_kinds import make_case
from sigjax.metrics import evaluation_from_arrays, origins
from sigjax.readers import read_metrics
from sigjax.readers.join import PAIRWISE
from sigjax.records import Evaluation, InputError, Interval, SampleMetric, Settings
from sigjax.records.metric import AnyMetric
from sigjax.report.words import count
from sigjax.studies.pilot import on_instances
from sigjax.testing.problem import Case


def samples_of(data: Any, metric: AnyMetric | None, *, what: str) -> dict[str, Evaluation]:
    """The evaluation of each system alone, by name.

    Args:
        data: an `Evaluation`; the path of a file; or a dict: name of each system -> `Evaluation`, numbers, or numbers
            by id.
        metric: that of numbers and files.
        what: the test, for messages.

    Raises:
        InputError: the data are something else, or of a metric that is not one of sums.

    Example:
        >>> samples = samples_of({"A": [1, 2, 3], "B": [4, 5]}, None, what="a test")
        >>> [(name, one.stats[0, :, 0].tolist()) for name, one in samples.items()]
        [('A', [1, 2, 3]), ('B', [4, 5])]
    """
    if isinstance(data, str | os.PathLike):
        metrics = [] if metric is None else [metric]
        data, *others = read_metrics(data, metrics=metrics, missing="pairwise", single=True)  # pyright: ignore
        if others:
            raise InputError(f"{what} takes one metric, got {1 + len(others)}; name one (--metric)")
        metric = None
    if isinstance(data, Evaluation):
        _refuse_metric(metric)
        if data.ids is None and len(data.systems) > 1:  # joined by position
            data = replace(data, ids=tuple(map(str, range(1, data.num_instances + 1))))
        found = {name: _alone(data, place) for place, name in enumerate(data.systems)}
    elif isinstance(data, Mapping):
        found = {str(name): _single(str(name), own, metric) for name, own in data.items()}
    else:
        raise InputError(
            f"{what} takes an Evaluation, the path of a file, or a dict of one array per system, got "
            f"{type(data).__name__}"
        )
    if not found:
        raise InputError(f"{what}: there is no system")
    _check(list(found.values()), what)
    return found


def _refuse_metric(metric: AnyMetric | None) -> None:
    if metric is not None:
        raise InputError("an Evaluation has its metric; leave out --metric")


def _single(name: str, own: Any, metric: AnyMetric | None) -> Evaluation:
    """What is given for one system."""
    if not isinstance(own, Evaluation):
        ids, numbers = (list(own), list(own.values())) if isinstance(own, Mapping) else (None, own)
        return evaluation_from_arrays({name: numbers}, metric="mean" if metric is None else metric, ids=ids)
    _refuse_metric(metric)
    if len(own.systems) > 1:
        raise InputError(f"{name}: expected one system, got {len(own.systems)} ({', '.join(own.systems[:4])})")
    return _alone(own, 0)


def _alone(evaluation: Evaluation, place: int) -> Evaluation:
    """One system, with the instances that it has."""
    rows = np.arange(evaluation.num_instances)
    if evaluation.present is not None:
        rows = np.flatnonzero(evaluation.present[place])
    if not rows.size:
        raise InputError(f"system {evaluation.systems[place]!r} has no instance; leave it out (--systems)")
    return on_instances(
        evaluation,
        rows,
        systems=(evaluation.systems[place],),
        stats=evaluation.stats[place : place + 1, rows],
        present=None,
        notes=tuple(note for note in evaluation.notes if not note.startswith(PAIRWISE)),
    )


def _check(samples: Sequence[Evaluation], what: str) -> None:
    first = samples[0].metric
    for one in samples:
        if isinstance(one.metric, SampleMetric):
            raise InputError(
                f"{what} takes a metric of sums, such as mean, and {one.metric.name!r} is computed from whole columns"
            )
        if (one.metric.name, one.metric.stat_names) != (first.name, first.stat_names):
            raise InputError(f"{what} takes one metric, got {first.name!r} and {one.metric.name!r}")
        if one.unit == "response":
            raise InputError(f"{what} takes instances, and these are responses; read without --unit=response")
        if one.weights is not None:
            raise InputError(f"{what} takes one task, and this is a suite of several")


def notes_of(name: str, sample: Evaluation, num_units: int, interval: Interval | None) -> tuple[str, ...]:
    """The notes of a system, what its units are where they are not its instances, and whether all are alike."""
    notes = sample.notes
    if num_units != sample.num_instances:
        what = "runs" if sample.clusters is None else "instances"
        notes += (f"{name!r}: {count(num_units, 'unit')} of {sample.num_instances:,} {what}, taken whole",)
    if interval is not None and interval.low == interval.high:
        notes += (f"{name!r}: an interval of no length: all units are alike, which says nothing of other units",)
    return notes


def are_answers(samples: Iterable[Evaluation]) -> bool:
    """Whether all numbers of all systems are 0 or 1: beside other ratings, those of a system may all be 1.

    Example:
        >>> are_answers(samples_of({"A": [1, 1], "B": [4, 2]}, None, what="a test").values())
        False
    """
    return all(bool(np.isin(one.stats[0, :, 0], (0, 1)).all()) for one in samples)


def spread_of(sample: Evaluation, settings: Settings, *, answers: bool) -> tuple[Case, Spread]:
    """The units of a system with its score, and the standard error and default interval of that.

    `answers`: whether 0 and 1 are answers right or wrong.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    case = make_case(sample, settings, np.zeros((0, 2), np.int32))
    assert isinstance(case, Case)
    if case.alone is not None:
        return case, closed_spreads(case.alone.case, answers=False)[0][0].moved(case.alone.offsets[0])
    if not answers:
        case = case._replace(metric=sample.metric)
    return case, closed_spreads(case, answers=answers)[0][0]


def common_offset(samples: Sequence[Evaluation]) -> float:
    """A number from which the numbers of all samples are measured; 0 where those of none are large."""
    found = (origins(one) for one in samples)
    return next((float(each.offsets[0]) for each in found if each is not None), 0.0)
