"""Wide and long tables -> sheets; tables of something else than systems on instances are refused.

Wide: one row per instance, one column per system. Every column is a system except the instance ids, the columns of
`--cluster`, `--strata` and `--runs`, and those of `--ignore`. The ids are the column of `--id`; else the first of the
other columns if it is named like ids (`is_id_name`) or holds text; else instances are numbered from 1.

Long: one row per system and instance, with one or more columns of numbers, if there is a `--system` or a column of
this name. The instance ids are the column of `--id`, else the first column that is nothing else; `--runs` tells apart
several trials of the same instance. The inputs of the metric are the columns of `--counts`, or `--score`, else the
columns with their names; a metric with one input takes the only column of numbers that is left.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from sigjax.readers.formats import Reading, Sheet
from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, chosen_metric, listing, select_systems, show, suggest, with_score
from sigjax.readers.table import Lazy, Table, is_numeric, is_text, label_column, number_column, place
from sigjax.readers.tables.refused import are_measures, check_measures, check_numbering, check_turned
from sigjax.records import Evaluation, InputError, Metric, SampleMetric

ID_NAMES = frozenset(
    ("", "id", "instance", "instance_id", "sample", "item", "topic", "query", "qid", "question", "segment", "seg")
    + ("sentence", "sent", "doc", "document", "word", "name", "key", "index", "idx", "unnamed: 0")
)
SYSTEM_NAMES = frozenset(("system", "systems", "model", "models"))
MOST_SYSTEMS = 10_000
"""A table with more columns than this has rows and columns exchanged."""
_HINT = "a column that is not a system is left out with --ignore NAME or used with --cluster NAME or --strata NAME"


def read_table(table: Table, options: Options) -> Reading:
    """The reading of a table: long if it has a column named `system`, in any case of letters, else wide."""
    single = {"--id": options.id, "--runs": options.runs, "--system": options.system, "--score": options.score}
    for option, name in [*(("--ignore", name) for name in options.ignore), *single.items()]:
        if name is not None and name not in table.columns:
            meant = suggest(name, table.columns, "columns")
            raise InputError(f"{table.file}: {option}: no column {show(name)}; {meant}")
    system = options.system or next((name for name in table.columns if name.lower() == "system"), None)
    return _read_wide(table, options) if system is None else _read_long(table, options, system)


def _read_wide(table: Table, options: Options) -> Reading:
    id_column = _wide_ids(table, options)  # before the metric: a long table may name its systems otherwise

    @cache
    def join() -> Reading:
        systems = _systems(table, id_column, options)
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

        return join_sheets(list(map(sheet, systems)), options)

    def evaluate(options: Options) -> Evaluation:
        metric = chosen_metric(options)
        if len(metric.inputs) != 1:
            raise InputError(
                f"{table.file}: metric {metric.name!r} takes {len(metric.inputs)} numbers per instance, but a wide "
                f"table has one per system; give a long table with the columns: system, id, {', '.join(metric.inputs)}"
            )
        if option := "--counts" if options.counts else "--score" if options.score else "":
            raise InputError(f"{table.file}: {option} is for long tables; this one has no column named 'system'")
        return join()(replace(options, metric=metric))

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
    _check_header(table, id_column, systems, options)
    first = _first_column(table, options)
    if options.systems is None:
        if are_measures(systems):
            raise InputError(
                f"{table.file}: columns {listing(systems)} seem to hold metrics; expected one column per system, of "
                "one metric; give --systems with these names if they are systems"
            )
        if first in systems:
            check_numbering(table, first)
        check_turned(table, systems)
    return systems


def is_id_name(name: str | None) -> bool:
    """Whether a column is named like ids."""
    return name is not None and (name.lower() in ID_NAMES or name.lower().endswith(("_id", "-id")))


def _wide_ids(table: Table, options: Options) -> str | None:
    """The column of instance ids, if there is one."""
    if options.id is not None:
        return options.id
    first = _first_column(table, options)
    if first is None or first in (options.systems or ()):
        return None
    used = {options.cluster, options.strata, options.runs, *options.ignore, *(options.systems or ())}
    of_systems = [name for name in table.columns if name.lower() in SYSTEM_NAMES and name not in used]
    if of_systems and (of_systems[0] == first or any(map(is_text, table.columns[of_systems[0]]))):
        raise InputError(
            f"{table.file}: column {show(of_systems[0])} seems to hold the systems, one per row; expected one row per "
            "instance and one column per system, or a long table, where this column is named 'system': rename it; give "
            "--id NAME if it holds instance ids, or --ignore NAME"
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


def _first_column(table: Table, options: Options, taken: Iterable[str] = ()) -> str | None:
    """The first column that has no other use."""
    others = {options.cluster, options.strata, options.runs, *options.ignore, *taken}
    return next((name for name in table.columns if name not in others), None)


def _check_header(table: Table, id_column: str | None, systems: Sequence[str], options: Options) -> None:
    """Refuse a first line that is numbers where the names of systems should be, unless it names the ids."""
    named = options.id is not None or options.systems is not None or is_id_name(id_column)
    if table.header is None or named or any(map(is_text, systems)):
        return
    raise InputError(
        f"{table.file}, line {table.header}: the systems would be named {listing(systems)}; is this a row without a "
        "header? add a line with the names of the columns, or give --systems with these names if they are right"
    )


def _read_long(table: Table, options: Options, system: str) -> Reading:
    hint = "name the metric's columns with --counts"
    numbers = Lazy(table.columns, lambda name: number_column(table, name, hint=hint))
    names = Lazy(table.columns, lambda name: np.array(label_column(table, name), object))
    lines = np.array(table.lines) if table.row_word == "line" else None
    rows_of = _rows_of(label_column(table, system))
    if len(rows_of) == len(table.lines):
        check_turned(table, [name for name in table.columns if name != system])

    @cache
    def join(id_column: str) -> Reading:
        ids, runs = names[id_column], None if options.runs is None else names[options.runs]
        check_measures(table, id_column, ids, options)

        def sheet(name: str, rows: np.ndarray) -> Sheet:
            own_numbers = Lazy(numbers, lambda column: numbers[column][rows])
            labels = Lazy(names, lambda column: names[column][rows].tolist())
            own_runs = None if runs is None else runs[rows].tolist()
            own_lines = None if lines is None else lines[rows]
            return Sheet(name, table.file, own_numbers, labels, ids[rows].tolist(), own_runs, own_lines, id_column)

        sheets = [sheet(*each) for each in rows_of.items()]
        return join_sheets(sheets, options, order=ids if runs is None else list(zip(ids, runs, strict=True)))

    def evaluate(options: Options) -> Evaluation:
        options = with_score(table.file, options, metric := chosen_metric(options))
        id_column = _long_ids(table, options, metric, system)
        counts = _only_column(table, options, metric, {system, id_column}) or options.counts
        return join(id_column)(replace(options, counts=counts, metric=metric))

    return evaluate


def _rows_of(systems: Sequence[str]) -> dict[str, np.ndarray]:
    """Name of each system -> its rows."""
    index = {name: k for k, name in enumerate(dict.fromkeys(systems))}
    codes = np.fromiter(map(index.__getitem__, systems), np.int64, len(systems))
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(index, rows, strict=True))


def _long_ids(table: Table, options: Options, metric: Metric | SampleMetric, system: str) -> str:
    """The column of instance ids: the first that has no other use."""
    if options.id is not None:
        return options.id
    counts = options.counts or {}
    inputs = (counts.get(name, name) for name in metric.inputs)
    first = _first_column(table, options, {system, *counts.values(), *inputs})
    if first is None:
        raise InputError(f"{table.file}: no column is left for the instance ids; columns: {listing(table.columns)}")
    return first


def _only_column(
    table: Table, options: Options, metric: Metric | SampleMetric, taken: set[str]
) -> dict[str, str] | None:
    """The only column of numbers that has no other use, for a metric with one input that is nowhere named."""
    (name, *others) = metric.inputs
    if others or options.counts or name in table.columns:
        return None
    used = {*taken, *options.ignore, options.cluster, options.strata, options.runs}
    numeric = [each for each, cells in table.columns.items() if each not in used and is_numeric(cells)]
    return {name: numeric[0]} if len(numeric) == 1 else None
