"""Helpers of `one_sample` and `unpaired`: read systems, and show the results.

Different systems may have different instances.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.options import BootstrapOptions
from sigjax.formats.reading import are_paths, is_array
from sigjax.metrics import evaluation_from_arrays
from sigjax.readers.join import select
from sigjax.readers.options import Options, ReadOptions, metric_of_arrays, name_systems, reading, select_systems
from sigjax.records import (
    Alternative,
    EvaluationRecord,
    Hint,
    InputError,
    Interval,
    Missing,
    SampleMetric,
    Settings,
)
from sigjax.records.options import same
from sigjax.records.settings import PValueCorrection
from sigjax.report.document import Document
from sigjax.report.sections import Table
from sigjax.studies.study import (
    StudyOptions,
    adjusted_p,
    signature_line,
)
from sigjax.studies.trials import LABELS, by_one_metric, on_instances
from sigjax.testing.intervals import jackknife_intervals
from sigjax.testing.problem import SumsProblem
from sigjax.testing.tests import problem_of


def samples_of(
    data: Any, options: SamplesOptions, *, what: str, missing: Missing = "error", instead: str | None = None
) -> dict[str, EvaluationRecord]:
    """Read the data, and return a dict from each system to the evaluation of this system alone.

    The data are what `compare` takes. Or systems are given one by one, possibly with different instances: a list of
    paths, or a dict from system to a path, an `Evaluation`, numbers, or a dict from id to number. `what` names the test
    in messages, and `missing` says how to treat missing results. If `instead` is given, a metric that is not a function
    of sums raises an error with this advice.
    """
    if isinstance(data, Sequence) and not isinstance(data, str) and are_paths(data) and len(data) > 1:
        data = name_systems(list(map(os.fspath, data)))[0]
    if isinstance(data, Mapping):
        read, named = reading(options.read), {str(name): given for name, given in data.items()}
        names = select_systems(what, list(named), Options(only=read.only, single=True)) if named else ()
        alone = replace(read, only=None, progress=read.progress and options.progress)
        samples = {name: _one_system(name, named[name], alone) for name in names}
    else:
        evaluation = by_one_metric(data, options.read, LABELS, single=True, missing=missing, progress=options.progress)
        if evaluation.ids is None and len(evaluation.systems) > 1:  # without ids, position identifies an instance
            evaluation = replace(evaluation, ids=tuple(map(str, range(1, evaluation.num_instances + 1))))
        samples = {name: _system_alone(evaluation, name) for name in evaluation.systems}
    if not samples:
        raise InputError(f"{what}: there is no system")
    first = next(iter(samples.values())).metric
    for sample in samples.values():
        metric = sample.metric
        if isinstance(metric, SampleMetric) and instead is not None:
            got = f"and {metric.name!r} is not a function of sums"
            raise InputError(f"{what} takes a metric of sums, such as mean, {got}; {instead}")
        if (metric.name, metric.stat_names) != (first.name, first.stat_names):
            raise InputError(f"{what} takes one metric, got {first.name!r} and {metric.name!r}")
        if sample.unit == "response":
            advice = f"read without {Hint('unit', 'response')}"
            raise InputError(f"{what} takes instances, and these are responses; {advice}")
        if sample.weights is not None:
            raise InputError(f"{what} takes one task, and this is a suite of several")
    return samples


def _one_system(name: str, given: Any, read: ReadOptions) -> EvaluationRecord:
    """Read the data of one system: an array of numbers, a dict from id to number, or other data as for `compare`."""
    if is_array(given) or isinstance(given, Mapping):
        ids, numbers = (list(given), list(given.values())) if isinstance(given, Mapping) else (None, given)
        return evaluation_from_arrays({name: numbers}, metric=metric_of_arrays(replace(read, missing="error")), ids=ids)
    saved = not isinstance(given, str | os.PathLike) or os.fspath(given).lower().endswith(".npz")
    given = by_one_metric(given if saved else {name: given}, read, LABELS, single=True)
    if len(given.systems) > 1:
        raise InputError(f"{name}: expected one system, got {len(given.systems)} ({', '.join(given.systems[:4])})")
    return _system_alone(given, given.systems[0])


def _system_alone(evaluation: EvaluationRecord, name: str) -> EvaluationRecord:
    alone = select(evaluation, [name])
    present = np.ones(alone.num_instances, bool) if alone.present is None else alone.present[0]
    if not present.any():
        raise InputError(f"system {name!r} has no instance; leave it out ({Hint('only')})")
    notes = tuple(note for note in evaluation.notes if getattr(note, "code", "") != "pairwise")
    return on_instances(alone, present, present=None, notes=notes)


def notes_of(name: str, sample: EvaluationRecord, num_units: int, interval: Interval | None) -> tuple[str, ...]:
    """Return notes on a system: the notes from reading, and notes on its units and its interval.

    A note says what the units are if they are not instances. Another note warns of an interval of zero width.
    """
    notes = sample.notes
    if num_units != sample.num_instances:
        whole = f"{sample.num_instances:,} runs" if sample.clusters is None else words.size_text(*sample.size)
        notes += (f"{name!r}: {words.count(num_units, 'unit')} of {whole}, taken whole",)
    if interval is not None and interval.low == interval.high:
        of_sums = not isinstance(sample.metric, SampleMetric)
        why = "all units are alike" if of_sums else "all bootstrap resamples have this score"
        notes += (f"{name!r}: an interval of zero width: {why}, which says nothing of other units",)
    return notes


def are_binary(samples: Iterable[EvaluationRecord]) -> bool:
    """Whether all numbers of all systems are 0 or 1.

    One system is not enough to tell, because all its ratings may be 1 by chance.
    """
    return all(bool(np.isin(sample.stats[0, :, 0], (0, 1)).all()) for sample in samples)


def spread_of(
    sample: EvaluationRecord, settings: Settings, *, binary: bool
) -> tuple[SumsProblem, float, Interval | None]:
    """Return the data of one system as a `SumsProblem` (units and score), and the score's standard error and interval.

    The interval is the default interval of `compare`. `binary`: whether 0 and 1 mean wrong and right answers.
    """
    problem = problem_of(sample, settings, np.zeros((0, 2), np.int32))
    assert isinstance(problem, SumsProblem)
    offset, measured = 0.0, problem
    if problem.shifted:
        offset, measured, binary = problem.shifted.shifts[0], problem.shifted.alone, False
    elif not binary:
        measured = problem = replace(problem, metric=sample.metric)
    error, low, high = jackknife_intervals(measured, proportions=binary)[0].tolist()
    return problem, error, None if math.isnan(low) else Interval(low + offset, high + offset)


@dataclass(frozen=True, kw_only=True)
class SamplesOptions(StudyOptions):
    """The options that `one_sample` and `unpaired` share."""

    alternative: Alternative = same(Settings, "alternative", doc="Which differences count as extreme.", more="")
    method: Literal["auto", "exact", "montecarlo"] = same(
        Settings, "method", doc="Exact (no sampling), Monte Carlo, or auto: exact if that takes seconds.", more=""
    )
    resamples: int = same(BootstrapOptions, "resamples")
    seed: int = same(Settings, "seed")
    correction: PValueCorrection = same(Settings, "correction")
    confidence_level: float = same(Settings, "confidence_level")


SampleResults = Sequence[Any]
"""A sequence of results, either of `one_sample` or of `unpaired`."""
_MOST_NOTES, MOST_NAMED = 6, 3


def sample_document(
    results: SampleResults, test: str, verdict: str, title: str, tables: Sequence[Table], explained: list[str]
) -> Document:
    """Return the document: verdict, warnings, title, tables, explanations (`explained`), notes and signature."""
    settings = results[0].settings
    draws = settings.interval == "percentile" or any(row.exceed is not None for row in results)
    drawn = {"n": settings.resamples, "seed": settings.seed} if draws else {}
    signature = signature_line(
        test=test,
        metric=results[0].metric,
        alt=settings.alternative,
        **drawn,
        ties="ge",
        baseline=settings.baseline,
        correction=settings.correction,
        level=f"{settings.confidence_level:g}",
    )
    blocks = [*_notes(results, warnings=True), title, *tables, *explained, *_notes(results), signature]
    return Document(test.capitalize(), title, verdict, blocks)


def p_columns(results: SampleResults) -> dict[str, Sequence[str]]:
    """Return columns of a table: p and, if there are several results, adjusted p."""
    alpha = results[0].settings.alpha
    columns: dict[str, Sequence[str]] = {
        "p": [words.format_p(row.p_value, log10_p=row.log10_p, threshold=alpha) for row in results]
    }
    if len(results) > 1:
        columns[adjusted_p(results)] = [words.format_p(row.p_adjusted, threshold=alpha) for row in results]
    return columns


def methods_of_results(results: SampleResults) -> str:
    """Return the methods of the p-values in words; for Monte Carlo, with the half-width of the widest interval of p."""
    methods: dict[str, None] = dict.fromkeys(row.method for row in results)
    text = ", ".join(words.METHODS.get(method, method) for method in methods)
    drawn = [(row.p_value or 0.0, row.p_interval) for row in results if row.exceed is not None and row.p_interval]
    if not drawn:
        return text
    widest = max(max(ends.high - p, p - ends.low) for p, ends in drawn)
    return (
        f"{text}, with a {words.percent(results[0].settings.confidence_level)} interval of p ±{words.format_p(widest)}"
    )


def _notes(results: SampleResults, *, warnings: bool = False) -> list[str]:
    notes = list(dict.fromkeys(note for row in results for note in row.notes if words.is_warning(note) == warnings))
    if more := len(notes[_MOST_NOTES:]):
        notes[_MOST_NOTES:] = [f"{'warning: ' if warnings else ''}{more} more like these; --format json has them all"]
    return [note if warnings else f"note: {note}" for note in notes]
