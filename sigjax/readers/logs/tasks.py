"""What the systems of logs have in common: the tasks that all were tested on, and the runs of each instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.readers.formats import Sheet
from sigjax.readers.options import Options, listing, show
from sigjax.records import InputError


def by_task(logs: Sequence[Any], options: Options) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    """The logs of each task that all systems have, and notes; all together where no system has several.

    Raises:
        InputError: a system lacks a task (dropped, if asked for), or no task is left.
    """
    tasks = list(dict.fromkeys(log.task for log in logs))
    systems = list(dict.fromkeys(log.system for log in logs))
    if all(len({log.task for log in logs if log.system == name}) < 2 for name in systems):
        return {"": list(logs)}, ()
    chosen = [name for name in systems if name in (options.systems or ())] or systems
    notes, having = (), {task: {log.system for log in logs if log.task == task} for task in tasks}
    for task in tasks:
        lacking = [name for name in chosen if name not in having[task]]
        if lacking and options.missing != "drop":
            raise InputError(
                f"task {show(task)} has no results of {listing(lacking)}; --missing drop leaves such tasks out"
            )
        if lacking:
            notes += (f"left out task {task}: no results of {listing(lacking)}",)
    groups = {task: [log for log in logs if log.task == task] for task in tasks if having[task].issuperset(chosen)}
    if not groups:
        raise InputError(f"no task has results of all systems, {listing(chosen)}; compare systems on the same tasks")
    return groups, notes


def files_as_runs(logs: Sequence[Any]) -> list[Any]:
    """The logs of each system as one, each of whose files is a run, or several."""
    by_system: dict[str, list[Any]] = {}
    for log in logs:
        by_system.setdefault(log.system, []).append(log)
    return [_as_runs(own) if len(own) > 1 else own[0] for own in by_system.values()]


def _as_runs(logs: Sequence[Any]) -> Any:
    """The first log with the rows of all."""
    rows = [row._replace(run=f"{i}.{row.run or 1}") for i, log in enumerate(logs, 1) for row in log.rows]
    return replace(logs[0], rows=rows, notes=tuple(note for log in logs for note in log.notes), published=None)


def with_runs(sheets: Sequence[Sheet], notes: tuple[str, ...]) -> tuple[list[Sheet], tuple[str, ...]]:
    """Sheets with runs only if each system has the same several; where they differ, the mean of each instance."""
    runs = [set(sheet.runs or ()) for sheet in sheets]
    if all(len(own) <= 1 for own in runs):
        return [replace(sheet, runs=None) for sheet in sheets], notes
    if all(own == runs[0] for own in runs):
        return list(sheets), notes
    note = "the systems have different runs (epochs, trials): took the mean of each instance"
    return [_mean_of_runs(sheet) for sheet in sheets], (*notes, note)


def _mean_of_runs(sheet: Sheet) -> Sheet:
    places = {label: i for i, label in enumerate(dict.fromkeys(sheet.ids or ()))}
    ids, rows = list(places), np.array([places[label] for label in sheet.ids or ()], np.int64)
    firsts = np.unique(rows, return_index=True)[1]

    def mean(column: np.ndarray) -> np.ndarray:
        there = ~np.isnan(column)
        counts = np.bincount(rows[there], minlength=len(ids))
        totals = np.bincount(rows[there], column[there], minlength=len(ids))
        return np.divide(totals, counts, out=np.full(len(ids), np.nan), where=counts > 0)

    return replace(
        sheet,
        numbers={name: mean(column) for name, column in sheet.numbers.items()},
        labels={name: [labels[i] for i in firsts] for name, labels in sheet.labels.items()},
        ids=ids,
        runs=None,
    )
