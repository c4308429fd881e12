"""Whether a report is that of some data: the same data, and, when these are compared again, the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions, ReadingOptions, evaluations_of
from sigjax.records import Device, EvaluationRecord
from sigjax.records.options import same, takes, values
from sigjax.report.data import PAIR_KEYS, SYSTEM_KEYS
from sigjax.report.report import Report
from sigjax.run.backend import host_scope
from sigjax.run.context import with_progress
from sigjax.run.shards import data_hash, difference
from sigjax.studies.study import StudyResult
from sigjax.testing.problem import problem_of

_ROUNDING = {"rel_tol": 1e-9, "abs_tol": 1e-12}
"""Versions of libraries and processors round functions such as exp differently."""


@dataclass(frozen=True, repr=False)
class Verification(StudyResult):
    """Whether a report is that of some data.

    Attributes:
        text: the answer in one line.
        same_data: whether the data are the same.
        differences: what differs, in words; of numbers the first difference. Empty where everything is the same.
    """

    _first = ("text",)

    text: str
    same_data: bool = True
    differences: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether data and numbers are the same, up to rounding."""
        return not self.differences

    def _lines(self) -> list[str]:
        return [self.text]

    def _fields(self) -> dict[str, Any]:
        return {"same": self.same} | super()._fields()


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(ReadingOptions):
    """The options of `verify`."""

    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@takes(VerifyOptions)
@with_progress
def verify(report: Any, data: Any, options: VerifyOptions) -> Verification:
    """Is a report that of these data? The same data, and, when compared again, the same numbers.

    Give the options that say how data are read; the metrics and all settings are those of the report.

    Args:
        report: a `Report`, or the path of its JSON.
        data: what `compare` took.
        options: see `VerifyOptions`.

    Raises:
        InputError: the report or the data cannot be read.

    Example:
        >>> answers = {"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 0, 1]}
        >>> report = compare(answers, metric="accuracy")
        >>> print(verify(report, answers).text)
        the same data, and the same numbers to the last bit
        >>> print(verify(report, answers | {"B": [0, 1, 0, 0, 0, 0]}).text[:35])
        other data: numbers differ: 'B on i
    """
    report = report if isinstance(report, Report) else Report.from_json(report)
    evaluations = evaluations_of(data, options, metrics=[options.metric] if options.metric else metrics_of(report))
    if data_hash(evaluations) != report.data:
        differences = tuple(_other_data(report, evaluations))
        return Verification(f"other data: {'; '.join(differences)}", same_data=False, differences=differences)
    again = compare(evaluations, **values(report.settings, device=options.device, progress=options.progress))
    if again == report:
        return Verification("the same data, and the same numbers to the last bit")
    differs = next(_differences(report, again), None)
    if differs is None:
        return Verification("the same data, and the same numbers up to rounding (1e-9)")
    return Verification(f"the same data, but other numbers: {differs}", differences=(differs,))


def metrics_of(report: Report) -> list[str]:
    """The metrics by which the data of a report are read; of a suite those of its tasks."""
    of_tasks = [one.title.rpartition(": ")[2] for one in report.measured if one.title == one.metric]
    return list(dict.fromkeys(of_tasks or [system.metric for system in report.systems]))


def _other_data(report: Report, evaluations: Sequence[EvaluationRecord]) -> Iterator[str]:
    """Which of names, ids, clusters, other labels and numbers differ, in words, each once."""
    said = 0
    if report.evaluations:
        sides = [_contents(side) for side in (report.evaluations, evaluations)]
    else:
        scores = [(one.metric, one.name, one.score) for one in report.systems], []
        for each in evaluations:
            with host_scope():
                observed = problem_of(each, report.settings).observed_scores
            scores[1].extend((each.metric.name, *scored) for scored in zip(each.systems, observed, strict=True))
        numbers = [report.num_instances], [evaluations[0].num_instances]
        sides = [
            {
                "metrics": list(dict.fromkeys(metric for metric, _, _ in side)),
                "names": sorted({name for _, name, _ in side}),
                "instances": [f"{number:,}" for number in of_side],
                "scores": sorted(f"{score:.9g} of {name} by {metric}" for metric, name, score in side),
            }
            for side, of_side in zip(scores, numbers, strict=True)
        ]
    for what in sides[0]:
        if differs := difference({what: sides[0][what]}, {what: sides[1][what]}):
            said += 1
            yield differs
    if not report.evaluations:
        yield "the report holds no scores of instances, so that ids, clusters and strata cannot be compared"
    elif not said:
        yield "the same numbers are held in another way"


def _contents(evaluations: Sequence[EvaluationRecord]) -> dict[str, list[str]]:
    """What evaluations hold, in words; only the names and ids are in their order."""
    contents: dict[str, list[str]] = {"metrics": [each.metric.name for each in evaluations]}
    for kind in ("names", "ids", "clusters", "strata", "runs", "numbers"):
        contents[kind] = []
    for each in evaluations:
        ids = each.ids or [f"instance {number}" for number in range(1, each.num_instances + 1)]
        contents["names"] += (name for name in each.systems if name not in contents["names"])
        contents["ids"] += ids
        for kind in ("clusters", "strata", "runs"):
            contents[kind] += (f"{one} in {label}" for one, label in zip(ids, getattr(each, kind) or (), strict=False))
        for name, stats in zip(each.systems, each.stats.tolist(), strict=True):
            rows = zip(ids, stats, strict=True)
            contents["numbers"] += (f"{name} on {one} by {each.metric.name}: {numbers}" for one, numbers in rows)
    return contents | {kind: sorted(contents[kind]) for kind in ("clusters", "strata", "runs", "numbers")}


def _differences(there: Report, here: Report) -> Iterator[str]:
    """What differs by more than rounding, in words."""
    if (len(there.systems), len(there)) != (len(here.systems), len(here)):
        yield f"{len(there.systems)} systems and {len(there)} pairs there, {len(here.systems)} and {len(here)} here"
        return
    for old, new in zip(there.systems, here.systems, strict=True):
        for key in SYSTEM_KEYS:
            if not _is_equal(before := getattr(old, key), after := getattr(new, key)):
                yield f"{key} of {old.name!r} by {old.metric} is {before} there and {after} here"
    for old, new in zip(there, here, strict=True):
        for key in PAIR_KEYS:
            if not _is_equal(before := getattr(old, key), after := getattr(new, key)):
                what = f"{key} of {old.a!r} and {old.b!r} by {old.metric} ({old.test})"
                yield f"{what} is {before} there and {after} here"


def _is_equal(old: Any, new: Any) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return all(map(_is_equal, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, **_ROUNDING)
    return old == new
