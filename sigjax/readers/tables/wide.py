"""Wide tables: one row per instance, one column per system.

Every column is a system except the instance ids, the columns of `--cluster`, `--strata` and `--runs`, and those of
`--ignore`. The ids are the column of `--id`; else the first of the other columns if it is named like ids (`is_id_name`)
or holds text; else there are none and the instances are numbered from 1. A column named like systems (`SYSTEM_NAMES`)
is refused there: its table has one row per system.
"""

from functools import partial

from sigjax.readers.formats import Reading
from sigjax.readers.options import Options, chosen_metric, select_systems, show
from sigjax.readers.sheets import Sheet, join_sheets
from sigjax.readers.table import Lazy, Table, check_columns, is_text, label_column, number_column, place
from sigjax.readers.tables.turned import check_header, check_measures, check_systems, is_id_name
from sigjax.records import Evaluation, InputError

MOST_SYSTEMS = 10_000
"""A table with more columns than this has rows and columns exchanged."""
SYSTEM_NAMES = frozenset(("system", "systems", "model", "models"))
FEWEST_NUMBERED = 3
"""Rows from which 1, 2, 3, ... in the first column is taken for instance numbers."""
_HINT = "a column that is not a system is left out with --ignore NAME or used with --cluster NAME or --strata NAME"


def read_wide(table: Table, options: Options) -> Reading:
    """The reading of a wide table."""
    for option, names in (("--ignore", options.ignore), ("--id", [options.id]), ("--runs", [options.runs])):
        check_columns(table, names, option)
    id_column = options.id if options.id is not None else _id_column(table, options)
    systems = _systems(table, id_column, options)
    if id_column is None and options.runs is not None:
        raise InputError(f"{table.file}: --runs: which runs are of the same instance? name the ids with --id NAME")
    ids = [str(row + 1) for row in range(len(table.lines))] if id_column is None else label_column(table, id_column)
    check_measures(table, id_column, ids, options)
    runs = None if options.runs is None else label_column(table, options.runs)
    labels = Lazy(table.columns, partial(label_column, table))

    def numbers(system: str) -> Lazy:
        return Lazy(["value"], lambda _: number_column(table, system, hint=_HINT))

    lines = table.lines if table.row_word == "line" else None
    sheets = [Sheet(system, table.file, numbers(system), labels, ids, runs, lines, id_column) for system in systems]
    join = join_sheets(sheets, options)

    def evaluate(options: Options) -> Evaluation:
        metric = chosen_metric(options)
        if len(metric.inputs) != 1:
            raise InputError(
                f"{table.file}: metric {metric.name!r} takes {len(metric.inputs)} numbers per instance, but a wide "
                f"table has one per system; give a long table with the columns: system, id, {', '.join(metric.inputs)}"
            )
        if options.counts:
            raise InputError(f"{table.file}: --counts is for long tables; this one has no column named 'system'")
        return join(options)

    return evaluate


def _systems(table: Table, id_column: str | None, options: Options) -> tuple[str, ...]:
    """The columns of the systems to compare."""
    others = {id_column, options.cluster, options.strata, options.runs, *options.ignore}
    systems = select_systems(table.file, [name for name in table.columns if name not in others], options.systems)
    if len(systems) > MOST_SYSTEMS:
        raise InputError(
            f"{table.file}: has {len(systems)} columns of systems, expected at most {MOST_SYSTEMS}: one row per "
            "instance and one column per system; exchange rows and columns, or name the columns with --systems"
        )
    check_header(table, id_column, systems, options)
    check_systems(table, systems, options)
    first = _first_column(table, options)
    if options.systems is None and first in systems:
        _refuse_numbering(table, first)
    return systems


def _id_column(table: Table, options: Options) -> str | None:
    first = _first_column(table, options)
    if first is None or first in (options.systems or ()):
        return None
    if first.lower() in SYSTEM_NAMES:
        raise InputError(
            f"{table.file}: column {show(first)} seems to hold the systems, one per row; expected one row per instance "
            "and one column per system (in a long table its name is 'system'); give --id NAME if it holds instance ids"
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
