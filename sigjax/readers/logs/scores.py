"""Scores of logs: rows of named values -> the columns of a sheet, and what the sheets of a comparison must share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sigjax.readers.formats import Sources
from sigjax.readers.options import Options, listing, show, suggest
from sigjax.readers.sheets import Sheet
from sigjax.records import InputError


@dataclass(frozen=True)
class Unusable:
    """A value that is no number, and the refusal it leads to when its score is asked for."""

    refusal: str


Row = Mapping[str, float | Unusable]
"""Name of each score of an instance -> its value; a score that is left out is missing."""


def score_columns(file: str, rows: Sequence[Row], options: Options) -> dict[str, np.ndarray]:
    """Columns of numbers `[row]`, NaN where a score is missing.

    A score that is no number somewhere is left out, and refused only when it is asked for or nothing else is there.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    refusals: dict[str, str] = {}
    columns: dict[str, np.ndarray] = {}
    for name in names:
        column = [row.get(name, np.nan) for row in rows]
        wrong = next((value for value in column if isinstance(value, Unusable)), None)
        if wrong is None:
            columns[name] = np.array(column, np.float64)
        else:
            refusals[name] = wrong.refusal
    asked = [options.metric, *(options.counts or {}).values()]
    refused = next((name for name in refusals if name in asked or not columns), None)
    if refused is not None:
        raise InputError(refusals[refused])
    if not columns:
        raise InputError(f"{file}: holds no scores of single instances; expected at least one")
    return columns


def choose(file: str, found: Sequence[str], chosen: str | None, what: str) -> str:
    """The one of several kinds of results to take: the only one, or the one that `--filter` names."""
    if not found:
        raise InputError(f"{file}: holds no results; expected those of at least one instance")
    if chosen is not None and chosen not in found:
        raise InputError(f"{file}: --filter: no {what} {show(chosen)}; {suggest(chosen, found, what + 's')}")
    if chosen is None and len(found) > 1:
        raise InputError(f"{file}: holds results of the {what}s {listing(found)}; say which with --filter NAME")
    return chosen if chosen is not None else found[0]


def name_by_model(sheets: Sequence[Sheet], sources: Sources) -> list[Sheet]:
    """Sheets whose systems were named after models in the files; after the files where models would be confused.

    A name that a person wrote (NAME=FILE) stays, unless its file holds several models.
    """
    names = {file: name for name, file in sources.systems.items()}
    files = [sheet.file for sheet in sheets]
    alone = [files.count(file) == 1 for file in files]
    given = [names[file] in sources.named for file in files]
    models = [sheet.system for sheet in sheets]
    clear = len(set(models)) == len(models)
    return [
        replace(sheet, system=names[sheet.file] if own and (written or not clear) else sheet.system)
        for sheet, own, written in zip(sheets, alone, given, strict=True)
    ]


def check_same_content(sheets: Sequence[Sheet], contents: Sequence[Sequence[str | None]], what: str) -> None:
    """Refuse instances of one id that differ in content, by the hashes `[sheet][row]` where files hold them."""
    known: dict[str, tuple[str, str]] = {}
    for sheet, hashes in zip(sheets, contents, strict=True):
        for id, hashed in zip(sheet.ids or (), hashes, strict=True):
            if hashed is None:
                continue
            file, other = known.setdefault(id, (sheet.file, hashed))
            if other != hashed:
                raise InputError(
                    f"{sheet.file}: instance {show(id)} has another {what} than in {file}; compare results on the "
                    "same version of the data"
                )


def differing(what: str, values: Mapping[str, str | None]) -> tuple[str, ...]:
    """A note where the systems differ in something that should be one (system -> value)."""
    known = dict.fromkeys(value for value in values.values() if value)
    return (f"the systems differ in the {what}: {listing(known)}",) if len(known) > 1 else ()


def with_runs(sheets: Sequence[Sheet], notes: tuple[str, ...]) -> tuple[list[Sheet], tuple[str, ...]]:
    """Sheets with their runs: none where there is one of each instance; their mean where the systems' runs differ."""
    trials = [set(sheet.runs or ()) for sheet in sheets]
    if all(len(each) <= 1 for each in trials):
        return [replace(sheet, runs=None) for sheet in sheets], notes
    if all(each == trials[0] for each in trials):
        return list(sheets), notes
    note = "the systems have different runs (epochs, trials): took the mean of each instance"
    return [_mean_of_runs(sheet) for sheet in sheets], (*notes, note)


def _mean_of_runs(sheet: Sheet) -> Sheet:
    places = {id: i for i, id in enumerate(dict.fromkeys(sheet.ids or ()))}
    rows = np.array([places[id] for id in sheet.ids or ()], np.int64)
    firsts = np.unique(rows, return_index=True)[1]

    def mean(column: np.ndarray) -> np.ndarray:
        there = ~np.isnan(column)
        counts = np.bincount(rows[there], minlength=len(places))
        totals = np.bincount(rows[there], column[there], minlength=len(places))
        return np.divide(totals, counts, out=np.full(len(places), np.nan), where=counts > 0)

    return replace(
        sheet,
        numbers={name: mean(column) for name, column in sheet.numbers.items()},
        labels={name: [labels[i] for i in firsts] for name, labels in sheet.labels.items()},
        ids=list(places),
        runs=None,
    )
