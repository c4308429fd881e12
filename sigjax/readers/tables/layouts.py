"""Wide tables -> sheets: one row per instance, one column per system; tables of something else are refused.

`roles` says which columns are the systems and which holds the instance ids. A table with a column of systems is `long`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

from sigjax.readers.formats import Format, Reading, Sheet, Sources
from sigjax.readers.join import join_sheets
from sigjax.readers.numerals import is_text
from sigjax.readers.options import Options, chosen_metric, listing, select_systems, show, suggest
from sigjax.readers.table import Lazy, Table, label_column, number_column
from sigjax.readers.tables.battles import battle_columns, read_battles
from sigjax.readers.tables.long import read_long, read_several, system_column
from sigjax.readers.tables.refused import SHOWN, check_measures, check_turned
from sigjax.readers.tables.roles import columns_note, fold_notes, ids_from, unused, wide_roles
from sigjax.readers.tables.vocabulary import is_id_name
from sigjax.records import Evaluation, InputError

MOST_SYSTEMS = 10_000
"""A table with more columns than this has rows and columns exchanged."""
_HINT = "a column that is not a system is left out with --ignore NAME or used with --cluster NAME or --strata NAME"


def table_format(
    name: str, title: str, parse: Callable[..., Table], looks: Callable[[str, bytes], bool], names: str = ".*"
) -> Format:
    """A format of tables; `parse` takes a file, the options and whether it is `alone`, with all systems in it."""
    read, options = partial(_read_tables, parse), frozenset({"runs", "system", "score"})
    return Format(name, title, "file", read, looks, options=options, names=names, parts=True)


def _read_tables(parse: Callable[..., Table], sources: Sources, options: Options) -> Reading:
    """The reading of one table of all systems, or of one for each."""
    if not sources.systems:
        (file,) = sources.files
        return read_table(parse(file, options, alone=True), options)
    tables = {name: parse(file, options, alone=False) for name, file in sources.chosen(options).items()}
    for table in tables.values():
        check_columns(table, options)
    return read_several(tables, options)


def read_table(table: Table, options: Options) -> Reading:
    """The reading of a table of all systems: of battles, long if a column holds the systems, else wide."""
    check_columns(table, options)
    if not options.system and (battles := battle_columns(table)):
        return read_battles(table, battles, options)
    system = system_column(table, options)
    return _read_wide(table, options) if system is None else read_long(table, options, system)


def check_columns(table: Table, options: Options) -> None:
    """Refuse options that name columns that are not there."""
    single = {"--id": options.id, "--runs": options.runs, "--system": options.system, "--score": options.score}
    for option, name in [*(("--ignore", name) for name in options.ignore), *single.items()]:
        if name is not None and name not in table.columns:
            meant = suggest(name, table.columns, "columns")
            raise InputError(f"{table.file}: {option}: no column {show(name)}; {meant}")


def _read_wide(table: Table, options: Options) -> Reading:
    @cache
    def join() -> Reading:
        id_column, systems, note = _wide_columns(table, options)
        if id_column is None and options.runs is not None:
            raise InputError(f"{table.file}: --runs: which runs are of the same instance? name the ids with --id NAME")
        ids = [str(row + 1) for row in range(len(table.lines))] if id_column is None else label_column(table, id_column)
        check_measures(table, id_column, ids, options)
        runs = None if options.runs is None else label_column(table, options.runs)
        labels = Lazy(table.columns, partial(label_column, table))
        lines = table.lines if table.row_word == "line" else None

        def sheet(name: str) -> Sheet:
            numbers = Lazy(["value"], lambda _: number_column(table, name, hint=_HINT))
            return Sheet(name, table.file, numbers, labels, ids, runs, lines, id_column)

        return join_sheets(list(map(sheet, systems)), options, notes=(note, *fold_notes(table)))

    def evaluate(options: Options) -> Evaluation:
        metric = chosen_metric(options)
        if len(metric.inputs) != 1:
            raise InputError(
                f"{table.file}: metric {metric.name!r} takes {len(metric.inputs)} numbers per instance, but a wide "
                f"table has one per system; give a long table with the columns: system, id, {', '.join(metric.inputs)}"
            )
        if option := "--counts" if options.counts else "--score" if options.score else "":
            raise InputError(
                f"{table.file}: {option} is for long tables; this one has no column of systems; see --system"
            )
        return join()(replace(options, metric=metric))

    return evaluate


def _wide_columns(table: Table, options: Options) -> tuple[str | None, Sequence[str], str]:
    """The column of instance ids, those of the systems to compare, and the note on them."""
    check_width(table.file, len(unused(table, options)), options)
    roles = wide_roles(table, options)
    used = {roles.ids, options.cluster, options.strata, options.runs, *options.ignore}
    known = roles.systems if options.systems is None else [name for name in table.columns if name not in used]
    systems = select_systems(table.file, known, options)
    _check_header(table, roles.ids, systems, options)
    if options.systems is None:
        check_turned(table, systems)
    about = {"instance ids": ids_from(roles.ids), "systems": listing(systems, SHOWN)}
    return roles.ids, systems, columns_note(about, roles.others, "id, systems, ignore")


def check_width(file: str, count: int, options: Options) -> None:
    """Refuse so many columns of systems that instances stand in columns."""
    if options.systems is None and count > MOST_SYSTEMS:
        raise InputError(
            f"{file}: has {count} columns of systems, expected at most {MOST_SYSTEMS}: one row per instance and one "
            "column per system; exchange rows and columns, or name the columns with --systems"
        )


def _check_header(table: Table, id_column: str | None, systems: Sequence[str], options: Options) -> None:
    """Refuse a first line that is numbers where the names of systems should be, unless it names the ids."""
    named = options.id is not None or options.systems is not None or is_id_name(id_column)
    if table.header is None or named or any(map(is_text, systems)):
        return
    raise InputError(
        f"{table.file}, line {table.header}: the systems would be named {listing(systems)}; is this a row without a "
        "header? add a line with the names of the columns, or give --systems with these names if they are right"
    )
