"""One sheet a system: what its file says of each instance. Joined by id, or by position, they are an `Evaluation`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sigjax.metrics import MEAN, METRICS, known_metric
from sigjax.readers.formats import Reading
from sigjax.readers.grid import Grid, assemble
from sigjax.readers.labels import file_labels
from sigjax.readers.options import Options, chosen_metric, listing, select_systems, show, suggest
from sigjax.readers.responses import NOTE
from sigjax.records import Evaluation, InputError, Metric, SampleMetric


@dataclass(frozen=True, eq=False)
class Sheet:
    """What one file says of one system."""

    system: str
    file: str
    numbers: Mapping[str, np.ndarray]
    """name -> [row] float64; NaN where there is none."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """name -> [row]: what `--cluster` and `--strata` may name."""
    ids: Sequence[str] | None = None
    """[row]; None where instances are known by their position."""
    runs: Sequence[str] | None = None
    """[row]: which of several trials on its instance a row is; None where there is one of each."""

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.numbers.values()), ()))


def join_sheets(
    sheets: Sequence[Sheet], options: Options, *, scores: bool = False, notes: tuple[str, ...] = ()
) -> Reading:
    """Join one sheet per system by id, or by position where there are no ids; the result evaluates any metric.

    Args:
        sheets: those of all systems; `options.systems` says which to compare.
        options: where they come from; the metric is left to the result.
        scores: whether `metric` may name a column of numbers, of which the mean is taken.
        notes: for the evaluation.
    """
    names = [sheet.system for sheet in sheets]
    repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is not None:
        file = sheets[names.index(repeated)].file
        raise InputError(f"{file}: another file holds the system {show(repeated)} too; leave one out")
    chosen = select_systems(sheets[0].file, names, options.systems)
    if len(chosen) < 2:
        raise InputError(
            f"{sheets[0].file}: holds one system; a comparison takes at least two: give one file per system"
        )
    sheets = [sheets[names.index(name)] for name in chosen]
    keys = _keys(sheets)
    places = {key: i for i, key in enumerate(dict.fromkeys(key for each in keys for key in each))}
    clusters = _labels(sheets, keys, places, options.cluster, "--cluster")
    strata = _labels(sheets, keys, places, options.strata, "--strata")

    def evaluate(options: Options) -> Evaluation:
        metric = sheet_metric(sheets, options) if scores else chosen_metric(options)
        columns = _input_columns(sheets, metric, options)
        values = np.full((len(sheets), len(places), len(metric.inputs)), np.nan)
        for k, (own, inputs) in enumerate(zip(keys, columns, strict=True)):
            values[k, [places[key] for key in own]] = np.stack(inputs, axis=-1)
        grid = Grid(
            file=sheets[0].file,
            systems=chosen,
            ids=None if sheets[0].ids is None else tuple(id for id, _ in places),
            values=values,
            clusters=clusters,
            strata=strata,
            lines=None,
            notes=notes,
            runs=None if sheets[0].runs is None else tuple(run for _, run in places),
        )
        evaluation = assemble(grid, metric=metric, missing=options.missing)
        if options.unit == "response":
            return replace(evaluation, unit="response", notes=(*evaluation.notes, NOTE))
        return evaluation

    return evaluate


def sheet_metric(sheets: Sequence[Sheet], options: Options) -> Metric | SampleMetric:
    """The metric asked for; the name of a column of numbers (`bleu` of single sentences, say) asks for its mean."""
    name = options.metric
    known = [each for each in sheets[0].numbers if all(each in sheet.numbers for sheet in sheets)]
    if isinstance(name, str) and name in known:
        return replace(MEAN, name=name, inputs=(name,))
    if not isinstance(name, str) or known_metric(name):
        return chosen_metric(options)
    meant = suggest(name, [*known, *METRICS], "scores and metrics")
    raise InputError(f"{sheets[0].file}: no score or metric {show(name)}; {meant}")


def _input_columns(sheets: Sequence[Sheet], metric: Metric | SampleMetric, options: Options) -> list[list[np.ndarray]]:
    """The numbers of each system that the metric takes, which must have the same names in all files."""
    names = [_input_names(sheet, metric, options) for sheet in sheets]
    for sheet, own in zip(sheets, names, strict=True):
        if own != names[0]:
            raise InputError(
                f"{sheet.file}: holds the numbers {listing(own)}, but {sheets[0].file} holds {listing(names[0])}; "
                "expected the same in all files"
            )
    return [[sheet.numbers[name] for name in own] for sheet, own in zip(sheets, names, strict=True)]


def _input_names(sheet: Sheet, metric: Metric | SampleMetric, options: Options) -> list[str]:
    """The columns that the metric takes: by `--counts`, by name, or the only one there is."""
    counts = options.counts or {}
    for name, column in counts.items():
        if name not in metric.inputs:
            raise InputError(f"--counts: metric {metric.name!r} takes {', '.join(metric.inputs)}, not {show(name)}")
        if column not in sheet.numbers:
            raise InputError(
                f"{sheet.file}: --counts: no numbers {show(column)}; {suggest(column, sheet.numbers, 'numbers')}"
            )
    wanted = [counts.get(name, name) for name in metric.inputs]
    if all(name in sheet.numbers for name in wanted):
        return wanted
    if len(wanted) == len(sheet.numbers) == 1:
        return list(sheet.numbers)
    counts_example = "--counts " + " ".join(f"{name}=NAME" for name in metric.inputs)
    example = "--metric NAME for its mean" if len(wanted) == 1 else counts_example
    raise InputError(
        f"{sheet.file}: which of {listing(sheet.numbers)} is {', '.join(metric.inputs)} of metric {metric.name!r}? "
        f"say so with {example}"
    )


def _keys(sheets: Sequence[Sheet]) -> list[list[tuple[str, str]]]:
    """(id, run) of each row of each sheet; without ids, positions, of which all must have as many."""
    for sheet in sheets[1:]:
        if (sheet.ids is None) != (sheets[0].ids is None):
            one, other = (sheets[0], sheet) if sheet.ids is None else (sheet, sheets[0])
            raise InputError(
                f"{other.file}: has no instance ids, but {one.file} has; expected ids in all files or in none"
            )
        if sheet.ids is None and sheet.num_rows != sheets[0].num_rows:
            raise InputError(
                f"{sheet.file}: has {sheet.num_rows} instances, but {sheets[0].file} has {sheets[0].num_rows}; without "
                "ids they are joined by position, so expected as many"
            )
    keys = []
    for sheet in sheets:
        ids = [str(i + 1) for i in range(sheet.num_rows)] if sheet.ids is None else sheet.ids
        own = list(zip(ids, sheet.runs or [""] * len(ids), strict=True))
        _refuse_repeats(sheet, own)
        keys.append(own)
    return keys


def _refuse_repeats(sheet: Sheet, keys: list[tuple[str, str]]) -> None:
    if len(set(keys)) == len(keys):
        return
    seen: dict[tuple[str, str], int] = {}
    for row, key in enumerate(keys):
        if seen.setdefault(key, row) != row:
            run = f" (run {show(key[1])})" if key[1] else ""
            raise InputError(
                f"{sheet.file}: instance {show(key[0])}{run} occurs twice, as rows {seen[key] + 1} and {row + 1}; "
                "ids must be unique"
            )


def _labels(
    sheets: Sequence[Sheet],
    keys: list[list[tuple[str, str]]],
    places: Mapping[tuple[str, str], int],
    name: str | None,
    option: str,
) -> tuple[str, ...] | None:
    """Labels `[instance]` that the files hold under a name, or those of a file with one label a line."""
    if name is None:
        return None
    if not any(name in sheet.labels for sheet in sheets):
        known = dict.fromkeys(label for sheet in sheets for label in sheet.labels)
        return file_labels(sheets[0].file, name, option=option, known=known, num_instances=len(places))
    found: dict[int, str] = {}
    for sheet, own in zip(sheets, keys, strict=True):
        for key, label in zip(own, sheet.labels.get(name, ()), strict=name in sheet.labels):
            if found.setdefault(places[key], label) != label:
                raise InputError(
                    f"{sheet.file}: {show(name)} of instance {show(key[0])} is {show(label)}, but "
                    f"{show(found[places[key]])} for another system; {option} takes one label an instance"
                )
    lacking = next((key for key, place in places.items() if not found.get(place, "").strip()), None)
    if lacking is not None:
        raise InputError(f"{sheets[0].file}: {option}: instance {show(lacking[0])} has no {show(name)}")
    return tuple(found[i] for i in range(len(places)))
