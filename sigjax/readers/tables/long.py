"""Long tables: a row a system and instance, with one column or more of numbers.

A table is long when it has a column named `system`. The instance ids are the column of `--id`, else the first column
that is nothing else; where systems were run several times on the same instances, the column of `--runs` tells the
trials apart. The inputs of the metric are the columns of `--counts`, else columns of the very name; a metric
with one input takes the only column of numbers that is left. Other columns are of no concern.
"""

import numpy as np

from sigjax.readers.grid import Grid, assemble, keep_instances
from sigjax.readers.labels import instances_of, table_labels
from sigjax.readers.options import Options, chosen_metric, select_systems, show
from sigjax.readers.table import (
    Table,
    check_column,
    check_filled,
    codes_of,
    is_numeric,
    label_column,
    list_columns,
    number_column,
)
from sigjax.readers.tables.turned import check_measures
from sigjax.records import Evaluation, InputError, Metric, SampleMetric


def system_column(table: Table) -> str | None:
    """The column that makes a table long, in any case of letters."""
    return next((name for name in table.columns if name.lower() == "system"), None)


def read_long(table: Table, options: Options, *, system: str) -> Evaluation:
    """The evaluation of a long table whose systems are in the column `system`."""
    metric = chosen_metric(options)
    _check_names(table, options, metric)
    id_column = options.id if options.id is not None else _id_column(table, options, metric, system=system)
    inputs = _input_columns(table, options, metric, taken={system, id_column})
    names, system_codes = codes_of(label_column(table, system))
    ids, runs, instance_codes = instances_of(table, id_column, options.runs)
    check_measures(table, id_column, ids, options)
    systems = select_systems(table.file, names, options.systems)
    _refuse_repeats(table, system, (id_column, options.runs), system_codes * len(ids) + instance_codes)
    hint = f"give the metric's columns with {_counts_example(metric)}"
    numbers = np.stack([number_column(table, name, hint=hint) for name in inputs], axis=-1)
    what = f"systems by instances of the columns {show(system)} and {show(id_column)}"
    check_filled(table.file, filled=len(table.lines), rows=len(names), columns=len(ids), what=what)
    values = np.full((len(names), len(ids), len(inputs)), np.nan)
    values[system_codes, instance_codes] = numbers
    positions = {name: k for k, name in enumerate(names)}
    chosen = [positions[name] for name in systems]
    grid = Grid(
        table.file,
        systems,
        ids,
        values[chosen],
        table_labels(table, options.cluster, option="--cluster", instances=instance_codes, num_instances=len(ids)),
        table_labels(table, options.strata, option="--strata", instances=instance_codes, num_instances=len(ids)),
        None,
        runs=runs,
    )
    # Instances that only other systems have are no part of the comparison; a row with empty cells is.
    grid = keep_instances(grid, np.isin(np.arange(len(ids)), instance_codes[np.isin(system_codes, chosen)]))
    return assemble(grid, metric=metric, missing=options.missing)


def _check_names(table: Table, options: Options, metric: Metric | SampleMetric) -> None:
    for name in options.ignore:
        check_column(table, name, "--ignore")
    for option, column in (("--id", options.id), ("--runs", options.runs)):
        if column is not None:
            check_column(table, column, option)
    for name, column in (options.counts or {}).items():
        if name not in metric.inputs:
            raise InputError(f"--counts: metric {metric.name!r} takes {', '.join(metric.inputs)}, not {show(name)}")
        check_column(table, column, "--counts")


def _id_column(table: Table, options: Options, metric: Metric | SampleMetric, *, system: str) -> str:
    counts = options.counts or {}
    inputs = (counts.get(name, name) for name in metric.inputs)
    others = (system, options.cluster, options.strata, options.runs)
    taken = {*others, *options.ignore, *counts.values(), *inputs}
    for name in table.columns:
        if name not in taken:
            return name
    raise InputError(f"{table.file}: no column is left for the instance ids; add one; {list_columns(table)}")


def _input_columns(table: Table, options: Options, metric: Metric | SampleMetric, *, taken: set[str]) -> list[str]:
    """The columns that hold the metric's inputs, in their order."""
    counts = options.counts or {}
    columns = [counts.get(name, name) for name in metric.inputs]
    lacking = [name for name, column in zip(metric.inputs, columns, strict=True) if column not in table.columns]
    if not lacking:
        return columns
    if len(metric.inputs) == 1:
        claimed = taken | {options.cluster, options.strata, options.runs, *options.ignore}
        numeric = [name for name, cells in table.columns.items() if name not in claimed and is_numeric(cells)]
        if len(numeric) == 1:
            return numeric
    raise InputError(
        f"{table.file}: which column is {', '.join(lacking)} of metric {metric.name!r}? {list_columns(table)}; "
        f"say so with {_counts_example(metric)}"
    )


def _counts_example(metric: Metric | SampleMetric) -> str:
    return "--counts " + " ".join(f"{name}=COLUMN" for name in metric.inputs)


def _refuse_repeats(table: Table, system: str, names: tuple[str, str | None], cells: np.ndarray) -> None:
    """Refuse two rows `[row]` for the same cell of system by instance; `names` are the columns of ids and of runs."""
    in_order = np.sort(cells)
    if np.all(in_order[1:] != in_order[:-1]):
        return
    _, first, inverse = np.unique(cells, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[inverse] != np.arange(len(cells)))
    if repeated.size:
        row = int(repeated[0])
        id_column, runs = names
        lines = f"{table.lines[int(first[inverse][row])]} and {table.lines[row]}"
        again = (
            f" (column {show(id_column)}); ids must be unique (--id NAME takes another column, and --runs NAME the one "
            "that tells trials of an instance apart)"
            if runs is None
            else f" in run {show(table.columns[runs][row])} (columns {show(id_column)} and {show(runs)}); give it once"
        )
        raise InputError(
            f"{table.file}: {table.row_word}s {lines}: system {show(table.columns[system][row])} has instance "
            f"{show(table.columns[id_column][row])} twice{again}"
        )
