"""Wide tables: a row an instance, a column a system.

Every column is a system except the instance ids, the columns of `--cluster` and `--strata`, and those of `--ignore`.
The ids are the column of `--id`; else the first of the other columns when it is named like ids (`is_id_name`) or holds
text; else there are none and the instances are numbered from 1. A column named like systems (`SYSTEM_NAMES`) is refused
there: its table has one row per system.
"""

import numpy as np

from sigjax.readers.grid import Grid, assemble
from sigjax.readers.labels import instances_of, table_labels
from sigjax.readers.options import Options, chosen_metric, select_systems, show
from sigjax.readers.table import Table, check_column, is_text, number_column, place
from sigjax.readers.tables.turned import check_header, check_measures, check_systems, is_id_name
from sigjax.records import Evaluation, InputError

MOST_SYSTEMS = 10_000
"""A table with more columns than this is turned round."""
SYSTEM_NAMES = frozenset(("system", "systems", "model", "models"))
FEWEST_NUMBERED = 3
"""Rows from which 1, 2, 3, ... in the first column is taken for instance numbers."""


def read_wide(table: Table, options: Options) -> Evaluation:
    """The evaluation of a wide table."""
    metric = chosen_metric(options)
    if len(metric.inputs) != 1:
        raise InputError(
            f"{table.file}: metric {metric.name!r} takes {len(metric.inputs)} numbers an instance, which a column a "
            f"system cannot hold; give a long table with the columns: system, id, {', '.join(metric.inputs)}"
        )
    if options.counts:
        raise InputError(f"{table.file}: --counts is for long tables; this one has no column named 'system'")
    for name in options.ignore:
        check_column(table, name, "--ignore")
    if options.runs is not None:
        check_column(table, options.runs, "--runs")
    id_column = _id_column(table, options)
    others = {id_column, options.cluster, options.strata, options.runs, *options.ignore}
    systems = select_systems(table.file, [name for name in table.columns if name not in others], options.systems)
    if len(systems) > MOST_SYSTEMS:
        raise InputError(
            f"{table.file}: has {len(systems)} columns of systems, expected at most {MOST_SYSTEMS}: a row is an "
            "instance and a column a system; turn the table round, or name the columns with --systems"
        )
    check_header(table, id_column, systems, options)
    check_systems(table, systems, options)
    first = _first_column(table, options)
    if options.systems is None and first is not None and first in systems:
        _refuse_numbering(table, first)
    rows = np.arange(len(table.lines))
    ids, runs = _ids_and_runs(table, id_column, options.runs)
    check_measures(table, id_column, ids, options)
    hint = "a column that is no system is left out with --ignore NAME or used with --cluster NAME or --strata NAME"
    values = [number_column(table, name, hint=hint) for name in systems]
    grid = Grid(
        table.file,
        systems,
        ids,
        np.array(values).reshape(len(systems), len(ids), 1),
        table_labels(table, options.cluster, option="--cluster", instances=rows, num_instances=len(ids)),
        table_labels(table, options.strata, option="--strata", instances=rows, num_instances=len(ids)),
        tuple(table.lines) if table.row_word == "line" else None,
        runs=runs,
    )
    return assemble(grid, metric=metric, missing=options.missing)


def _id_column(table: Table, options: Options) -> str | None:
    if options.id is not None:
        check_column(table, options.id, "--id")
        return options.id
    first = _first_column(table, options)
    if first is None or first in (options.systems or ()):
        return None
    if first.lower() in SYSTEM_NAMES:
        raise InputError(
            f"{table.file}: column {show(first)} seems to hold the systems, a row each; expected a row an instance and "
            "a column a system (a long table names its column 'system'); give --id NAME if it holds the instance ids"
        )
    if is_id_name(first):
        return first
    texts = [row for row, cell in enumerate(table.columns[first]) if is_text(cell)]
    if not texts:
        return None
    if 2 * len(texts) < len(table.lines):
        # A typing error among numbers must not turn a system into ids without a word.
        raise InputError(
            f"{place(table, texts[0], first)}: expected a number as in most of the column, got "
            f"{show(table.columns[first][texts[0]])}; repair it, or give --id NAME if the column holds the instance ids"
        )
    return first


def _first_column(table: Table, options: Options) -> str | None:
    """The first column that has no other use."""
    others = {options.cluster, options.strata, options.runs, *options.ignore}
    return next((name for name in table.columns if name not in others), None)


def _refuse_numbering(table: Table, first: str) -> None:
    """Instance numbers under a name that we do not know would pass for a system."""
    num_rows = len(table.lines)
    if num_rows < FEWEST_NUMBERED:
        return
    cells = [cell.strip() for cell in table.columns[first]]
    if any(cells == [str(start + row) for row in range(num_rows)] for start in (0, 1)):
        raise InputError(
            f"{table.file}: column {show(first)} looks like instance numbers, not like a system; "
            "give --id NAME to use it as ids or --ignore NAME to leave it out"
        )


def _ids_and_runs(
    table: Table, id_column: str | None, runs: str | None
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Ids and runs `[instance]`; no two rows may have the same."""
    if id_column is None:
        if runs is not None:
            raise InputError(f"{table.file}: --runs: which runs are of the same instance? name the ids with --id NAME")
        return tuple(str(row + 1) for row in range(len(table.lines))), None
    ids, trials, codes = instances_of(table, id_column, runs)
    if len(ids) < len(codes):
        row = next(row for row, code in enumerate(codes.tolist()) if code < row)
        other, label = table.lines[codes[row]], table.columns[id_column][row]
        what = "ids must be unique (--id NAME takes another column)"
        if runs is not None:
            what = f"with the same {show(runs)}; each run of an instance must be there once"
        raise InputError(
            f"{place(table, row, id_column)}: instance id {show(label)} is on {table.row_word} {other} too; {what}"
        )
    return ids, trials
