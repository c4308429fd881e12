"""Commands on reports that were written as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sigjax.cli.flags import flags
from sigjax.cli.output import Changes, Files, Inputs, Output, check_outputs
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.readers import Evaluation
from sigjax.records import Device, EvaluationRecord, InputError
from sigjax.records.display import visible
from sigjax.records.options import option, same, values
from sigjax.report.data import PAIR_KEYS, SYSTEM_KEYS
from sigjax.report.report import Report
from sigjax.run.backend import host_scope
from sigjax.run.shards import data_hash, difference
from sigjax.studies.diff import DiffOptions
from sigjax.studies.diff import diff as run_diff
from sigjax.testing.problem import problem_of

DIFFERENT = 3
"""The exit code of `verify` where something differs."""
CODES = {None: 0, "no worse": 0, "worse": 3, "cannot tell": 4}
"""The exit code of `diff` by its verdict."""
_ROUNDING = {"rel_tol": 1e-9, "abs_tol": 1e-12}
"""Versions of libraries and processors round functions such as exp differently."""


@dataclass(frozen=True, kw_only=True)
class Rerun:
    """Where the comparison is run again."""

    device: Device = same(CompareOptions, "device")
    quiet: bool = option(False, "Draw no progress bars.", group="Output")


@flags(Output, files="REPORT.json, as `sigjax compare -o REPORT.json` writes it.")
def show(paths: Files, output: Output) -> None:
    """Show a report again, or write it in other formats, from its JSON: nothing is computed."""
    if len(paths) != 1:
        raise InputError(f"expected one report, REPORT.json, got {len(paths)}")
    check_outputs(paths, output)
    output.write(Report.from_json(paths[0]))


@flags(Inputs, Rerun, files="REPORT.json, and then the files that it was made of, as for `sigjax compare`.")
def verify(paths: Files, inputs: Inputs, rerun: Rerun) -> int:
    """Is a report that of these files? The same data, and, when compared again, the same numbers.

    Give the options that say how files are read; the metrics and all settings are those of the report. The exit code is
    0 if everything is the same, 3 if anything differs, and 2 if the files or the report cannot be read.
    """
    if not paths:
        raise InputError("expected REPORT.json, and then the files that it was made of")
    inputs.check(paths)
    code, said = _verified(paths[0], paths[1:], inputs, rerun.device)
    print(visible(f"{paths[0]}: {said}"))
    return code


@flags(DiffOptions, Changes, files="OLD NEW: two reports in JSON, or two files of `sigjax extract` (.npz).")
def diff(paths: Files, options: DiffOptions, changes: Changes) -> int:
    """What changed between two reports, and with --margin: is any system worse by more than that?

    The exit code is 0 if no system is worse by the margin (or there is none), 3 if one is, 4 if the data cannot tell,
    and 2 for bad input. Two reports are judged as if their results were independent; two files of `sigjax extract`
    (.npz) by the paired test, which can tell much smaller changes.
    """
    if len(paths) != 2:
        raise InputError(f"expected two reports, OLD.json and NEW.json, or two .npz files, got {len(paths)}")
    check_outputs(paths, changes)
    result = run_diff(*paths, **values(options))
    changes.write(result)
    return CODES[result.verdict]


def _verified(path: Path, files: Files, inputs: Inputs, device: Device) -> tuple[int, str]:
    """The exit code, and what was found."""
    report = Report.from_json(path)
    names = [one.title.rpartition(": ")[2] for one in report.measured if one.title == one.metric]  # of a suite
    metrics = inputs.metric or tuple(dict.fromkeys(names or [system.metric for system in report.systems]))
    evaluations = replace(inputs, metric=metrics).evaluations(files, tasks=True)
    if data_hash(evaluations) != report.data:
        return DIFFERENT, f"other data: {'; '.join(_other_data(report, evaluations))}"
    again = compare(evaluations, **values(report.settings, device=device, progress=inputs.progress))
    if again == replace(report, compat=()):  # other programs' tests are no part of it
        return 0, "the same data, and the same numbers to the last bit"
    differs = next(_differences(report, again), None)
    if differs is None:
        return 0, "the same data, and the same numbers up to rounding (1e-9)"
    return DIFFERENT, f"the same data, but other numbers: {differs}"


def _other_data(report: Report, evaluations: Sequence[Evaluation]) -> Iterator[str]:
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
