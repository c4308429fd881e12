"""Long tables: one row per system and instance, with one or more columns of numbers.

A table is long if it has a column named `system`. The instance ids are the column of `--id`, else the first column
that is nothing else; if systems were run several times on the same instances, the column of `--runs` tells the trials
apart. The inputs of the metric are the columns of `--counts`, else the columns with their names; a metric with one
input takes the only column of numbers that is left. Other columns do not matter.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from sigjax.readers.formats import Reading
from sigjax.readers.options import Options, chosen_metric, listing
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.table import Lazy, Table, check_columns, is_numeric, label_column, number_column
from sigjax.readers.tables.turned import check_measures
from sigjax.records import Evaluation, InputError, Metric, SampleMetric


def system_column(table: Table) -> str | None:
    """The column that makes a table long, in any case of letters."""
    return next((name for name in table.columns if name.lower() == "system"), None)


def read_long(table: Table, options: Options, *, system: str) -> Reading:
    """The reading of a long table whose systems are in the column `system`."""
    for option, names in (("--ignore", options.ignore), ("--id", [options.id]), ("--runs", [options.runs])):
        check_columns(table, names, option)
    numbers = Lazy(
        table.columns, lambda name: number_column(table, name, hint="name the metric's columns with --counts")
    )

    names = Lazy(table.columns, lambda name: np.array(label_column(table, name), object))
    lines = np.array(table.lines) if table.row_word == "line" else None
    rows_of = _rows_of(label_column(table, system))

    @cache
    def join(id_column: str) -> Reading:
        ids, runs = names[id_column], None if options.runs is None else names[options.runs]
        check_measures(table, id_column, list(dict.fromkeys(ids)), options)
        sheets = [
            Sheet(
                name,
                table.file,
                Lazy(numbers, lambda column, rows=rows: numbers[column][rows]),
                Lazy(names, lambda column, rows=rows: names[column][rows].tolist()),
                ids[rows].tolist(),
                None if runs is None else runs[rows].tolist(),
                None if lines is None else lines[rows],
                id_column,
            )
            for name, rows in rows_of.items()
        ]
        return join_sheets(sheets, options, order=ids if runs is None else list(zip(ids, runs, strict=True)))

    def evaluate(options: Options) -> Evaluation:
        metric = chosen_metric(options)
        id_column = options.id if options.id is not None else _id_column(table, options, metric, system=system)
        counts = _only_column(table, options, metric, taken={system, id_column}) or options.counts
        return join(id_column)(replace(options, counts=counts, metric=metric))

    return evaluate


def _rows_of(systems: Sequence[str]) -> dict[str, np.ndarray]:
    """Name of each system -> its rows."""
    index = {name: k for k, name in enumerate(dict.fromkeys(systems))}
    codes = np.fromiter(map(index.__getitem__, systems), np.int64, len(systems))
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(index, rows, strict=True))


def _id_column(table: Table, options: Options, metric: Metric | SampleMetric, *, system: str) -> str:
    counts = options.counts or {}
    inputs = (counts.get(name, name) for name in metric.inputs)
    others = (system, options.cluster, options.strata, options.runs)
    taken = {*others, *options.ignore, *counts.values(), *inputs}
    for name in table.columns:
        if name not in taken:
            return name
    raise InputError(
        f"{table.file}: no column is left for the instance ids; add one; columns: {listing(table.columns)}"
    )


def _only_column(
    table: Table, options: Options, metric: Metric | SampleMetric, *, taken: set[str]
) -> dict[str, str] | None:
    """The only column of numbers that has no other use, for a metric with one input that is nowhere named."""
    (name, *others) = metric.inputs
    if others or options.counts or name in table.columns:
        return None
    taken = taken | {*options.ignore} | {each for each in (options.cluster, options.strata, options.runs) if each}
    numeric = [each for each, cells in table.columns.items() if each not in taken and is_numeric(cells)]
    return {name: numeric[0]} if len(numeric) == 1 else None
