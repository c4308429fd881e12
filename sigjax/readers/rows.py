"""Reshape tables as options say, then read rows as the sheets of systems.

`--where` keeps some rows. `--id-column A,B` joins several columns to one id. `--transpose` exchanges rows and columns.
`--melt` takes columns as runs, and makes one row per run. If several files hold the same systems, for example one file
per data set, they become one table.

This module reads long tables, which have a column of systems, and single tables of systems. An option may name the
column for a role (ids, scores, ...). Without the option, the names of the columns decide, then their values. The
reading records this evidence (`evidence`). Rows are joined by their numbers only if no column can be ids. The user is
asked if a column holds names of metrics, or if all files name the same system. Steps of a run are refused (an
`InputError` is raised).
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import sigjax.readers.lexicon as lexicon
import sigjax.readers.roles as roles
from sigjax.metrics import MEAN, known_metric, score_named
from sigjax.metrics.registry import LARGEST_WHOLE
from sigjax.readers.evidence import (
    FILE,
    Evidence,
    Question,
    Role,
    TableReading,
    chosen_ids,
    distinguishes_rows,
    find_ids,
    holds_row_numbers,
    ids_from,
    note_reading,
    role,
    step_notes,
    unused,
    with_parts,
)
from sigjax.readers.join import Reading, Sheet, join_sheets, refuse_texts
from sigjax.readers.lexicon import is_data_set, is_fold, is_trial, may_be_system, metrics_in
from sigjax.readers.options import ROWS, Options, check_named, chosen_metric, listing, quote, with_score
from sigjax.readers.predictions import label_columns, read_labelled
from sigjax.readers.table import DataColumn, DataTable, LazyColumns, as_float, is_text, number_column
from sigjax.records import EvaluationRecord, Hint, InputError, Line, Metric, SampleMetric

_BETWEEN = " | "
"""The separator between the parts of an id."""
_RUN, _SCORE, _DATA = "run", "score", "data set"
"""The names of columns that sigjax adds: for runs, for scores, and for a single data set."""


def reshape_table(table: DataTable, options: Options) -> tuple[DataTable, Options, tuple[str, ...]]:
    """Reshape a table as the options say; return the table, the options that remain, and notes on the changes."""
    notes: list[str] = [*table.notes]
    if settings := _of_settings(table, options):
        table, options, note = settings
        notes.append(note)
    table = _joined(table, "system_column", options.system_column)
    if options.transpose:
        table, options, left_out = _transposed(table, options)
        notes.append(f"rows and columns are exchanged: rows are the systems{left_out}")
    if options.where is not None:
        kept = rows_where(table, options.where)
        notes.append(f"rows where {options.where}: {np.count_nonzero(kept):,} of {len(kept):,}")
        table = _rows(table, np.flatnonzero(kept))
    if options.melt is not None:
        table = _melted(table, options.melt)
        notes.append(f"runs are the columns {listing(options.melt, 4)}")
        options = replace(options, runs=options.runs or _RUN, score_column=options.score_column or _SCORE)
    if options.folds:
        table, options = _of_folds(table, options)
    for name in ("id_column", "runs"):
        table = _joined(table, name, getattr(options, name))
    return table, options, tuple(notes)


_SPLIT = re.compile(r"split(\d+)_test_(.+)")
_SETTING = re.compile(r"param_(.+)")


def _of_settings(table: DataTable, options: Options) -> tuple[DataTable, Options, str] | None:
    """Turn scikit-learn's `cv_results_` into one row per setting and fold; return the table, the options and a note.

    Returns None for other tables. The settings are the systems. They are named after the parameters that differ. Each
    metric has a column of scores.
    """
    found = [match for name in table.columns if (match := _SPLIT.fullmatch(name))]
    folds, metrics = (list(dict.fromkeys(match[k] for match in found)) for k in (1, 2))
    if len(folds) < 2 or len(found) != len(folds) * len(metrics) or options.melt:
        return None
    parameters = {match[1]: table.columns[name] for name in table.columns if (match := _SETTING.fullmatch(name))}
    told = options.system_column
    if told is not None:
        check_named(table.file, "system_column", [told], table.columns)
        names = [*table.columns[told]]
    elif parameters:
        differing = {name: own for name, own in parameters.items() if len({*own}) > 1} or parameters
        rows = zip(*differing.values(), strict=True)
        names = [", ".join(f"{name}={cell}" for name, cell in zip(differing, row, strict=True)) for row in rows]
    else:
        names = [f"setting {row + 1}" for row in range(len(table.lines))]
    if repeated := next((name for i, name in enumerate(names) if name in names[:i]), None):
        how = f"name them by a column with {Hint('system_column', 'NAME')}"
        raise InputError(f"{table.file}: two rows are the setting {quote(repeated)}; {how}")
    count = len(names)
    columns = {
        "system": DataColumn(names * len(folds)),
        "fold": DataColumn([fold for fold in folds for _ in range(count)]),
    }
    for metric in metrics:
        columns[metric] = DataColumn([cell for fold in folds for cell in table.columns[f"split{fold}_test_{metric}"]])
    made = replace(table, columns=columns, lines=[*table.lines] * len(folds), index=())
    kept = [name for name in options.ignore if name not in table.columns]
    note = f"{count} settings of cv_results_ are the systems; scores are those of {len(folds)} folds"
    return made, replace(options, system_column="system", id_column=options.id_column or "fold", ignore=kept), note


def _rows(table: DataTable, rows: np.ndarray) -> DataTable:
    """Keep some rows of a table."""
    chosen = rows.tolist()
    columns = {
        name: DataColumn([column[row] for row in chosen], nested=column.nested)
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns, lines=[table.lines[row] for row in chosen])


def _of_folds(table: DataTable, options: Options) -> tuple[DataTable, Options]:
    """In a table of folds, use folds and repeats as runs, and data sets as instances; return table and options."""
    fold = next(filter(is_fold, table.columns), None)
    if fold is None or options.runs is not None:
        return table, options
    repeats = [name for name in table.columns if is_trial(name) and name != options.system_column]
    repeats = [name for name in repeats if _crosses(table.names[name], table.names[fold])]
    labels = [*repeats[:1], fold]
    cells = map(_BETWEEN.join, zip(*(table.names[name] for name in labels), strict=True))
    columns = {name: own for name, own in table.columns.items() if name not in labels}
    table = replace(table, columns={**columns, ",".join(labels): DataColumn([*cells])})
    kept = [name for name in options.ignore if name not in labels]
    options = replace(options, runs=",".join(labels), ignore=kept)
    if not {*(options.id_column or fold).split(",")} <= {*labels}:
        return table, options
    data = next(filter(is_data_set, table.columns), _DATA)
    if data not in table.columns:
        table = replace(table, columns={**table.columns, data: DataColumn([_DATA] * len(table.lines))})
    return table, replace(options, id_column=data)


def _crosses(repeats: np.ndarray, folds: np.ndarray) -> bool:
    """Whether each label in `repeats` occurs with several folds. Seeds that differ in each fold are not repeats."""
    of_repeat: dict[str, set[str]] = {}
    for repeat, fold in zip(repeats.tolist(), folds.tolist(), strict=True):
        of_repeat.setdefault(repeat, set()).add(fold)
    return min(map(len, of_repeat.values())) > 1


def _joined(table: DataTable, option: str, given: str | None) -> DataTable:
    """If the value `given` of an option names several columns (A,B), add a column "A,B" with their joined values."""
    names = (given or "").split(",")
    if given is None or len(names) < 2 or given in table.columns:
        return table
    names = [name if name in table.columns else name.strip() for name in names]
    check_named(table.file, option, names, table.columns)
    cells = zip(*(table.names[name] for name in names), strict=True)
    return replace(table, columns={**table.columns, given: DataColumn([*map(_BETWEEN.join, cells)])})


def _transposed(table: DataTable, options: Options) -> tuple[DataTable, Options, str]:
    """Exchange rows and columns; return the table, the changed options, and a phrase that lists the omitted columns.

    The phrase is empty if no column is omitted.
    """
    words = [name for name in table.columns if table.columns[name].is_words() and name not in options.ignore]
    usual = [name for name in words if may_be_system(name)]
    named = options.system_column or next(iter([*usual, *words]), None)
    if named is None:
        raise InputError(f"{table.file}: {Hint('transpose')}: no column holds the names of the systems")
    parts = {named, *named.split(",")} if options.system_column else {named}
    left_out = [name for name in table.columns if name in options.ignore or (name in words and name not in parts)]
    instances = [name for name in table.columns if name not in {*parts, *left_out}]
    systems = table.names[named].tolist()
    if repeated := next((name for i, name in enumerate(systems) if name in systems[:i]), None):
        first, second = [row for row, name in enumerate(systems) if name == repeated][:2]
        rows = f"({table.row_word}s {table.lines[first]} and {table.lines[second]})"
        said = f"two rows are named {quote(repeated)} {rows}; {_repeated_names_advice(table, named)}"
        raise InputError(f"{table.file}: {Hint('transpose')}: {said}")
    cells = [list(table.columns[name]) for name in instances]
    columns = {"id": DataColumn(instances)}
    columns |= {name: DataColumn([column[row] for column in cells]) for row, name in enumerate(systems)}
    about = f" (left out: {listing(left_out, 4)})" if left_out else ""
    metrics = {metric for name in instances for metric in metrics_in(name)} if all(map(metrics_in, instances)) else ()
    if options.systems is None and (options.system_column or named in usual):
        chosen = [name for name in systems if name not in options.ignore]
        options = replace(options, systems=chosen)  # these systems may have any names
    if len(metrics) == 1 and options.direction is None and lexicon.lexicon().direction(*metrics) == "lower":
        options = replace(options, lower_is_better=True)
    options = replace(options, ignore=[name for name in options.ignore if name not in left_out], system_column=None)
    return DataTable(table.file, columns, range(1, len(instances) + 1), "row"), options, about


def _repeated_names_advice(table: DataTable, named: str) -> str:
    """Advise what to do about rows with the same name in the column `named`; another column may tell them apart."""
    others = [name for name in table.columns if name != named and not table.columns[name].nested]
    for name in sorted(others, key=lambda name: not table.columns[name].is_words()):
        column = table.columns[name]
        is_fraction = not column.is_words() and any(as_float(cell) % 1 > 0 for cell in column)
        if not is_fraction and len({*zip(table.columns[named], column, strict=True)}) == len(table.lines):
            return f"give {Hint('system_column', quote(f'{named},{name}'))}, which tells them apart, or rename one"
    return f"rename one, or take some rows ({Hint('where')})"


def _melted(table: DataTable, names: Sequence[str]) -> DataTable:
    check_named(table.file, "melt", names, table.columns)
    count, runs = len(table.lines), len(names)
    columns = {name: DataColumn([*own] * runs) for name, own in table.columns.items() if name not in names}
    columns[_RUN] = DataColumn([name for name in names for _ in range(count)])
    columns[_SCORE] = DataColumn([cell for name in names for cell in table.columns[name]])
    return replace(table, columns=columns, lines=[*table.lines] * runs, index=())


_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
}


def rows_where(table: DataTable, condition: str) -> np.ndarray:
    """Return a mask `[row]` of the rows that meet a condition.

    A condition compares columns with numbers, quoted texts, true and false, or lists of these. `and`, `or` and `not`
    combine comparisons. A column name that is not a Python name must be between backquotes. The condition is parsed,
    never executed. If a cell is not a number, every comparison with a number is false, except !=.

    >>> columns = {"task": DataColumn(["x", "y", "x"]), "n": DataColumn(["1", "2", "10"])}
    >>> table = DataTable("t.csv", columns, [2, 3, 4])
    >>> rows_where(table, "task == 'x' and n > 5").tolist(), rows_where(table, "`n` in [1, 2]").tolist()
    ([False, False, True], [True, True, False])
    """
    quoted: list[str] = []
    stem = "quoted"
    while stem in condition:
        stem += "_"

    def named(match: re.Match[str]) -> str:
        quoted.append(match[1])
        return f"{stem}{len(quoted) - 1}"

    def met(node: ast.AST) -> np.ndarray:
        match node:
            case ast.BoolOp():
                both = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                return both.reduce([met(part) for part in node.values])
            case ast.UnaryOp(ast.Not()):
                return ~met(node.operand)
            case ast.Compare(ast.Name() | ast.Attribute() | ast.Subscript(), [how], [right]):
                name = ast.unparse(node.left)
                for index in reversed(range(len(quoted))):  # name 10 before name 1
                    name = name.replace(f"{stem}{index}", quoted[index])
                check_named(table.file, "where", [name], table.columns)
                return _cells_that_satisfy(table.columns[name], how, ast.literal_eval(right))
        raise ValueError

    try:
        kept = met(ast.parse(re.sub(r"`([^`]*)`", named, condition), mode="eval").body)
    except InputError:
        raise
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        raise InputError(
            f"{table.file}: {Hint('where')}: {quote(condition)} is not understood; expected comparisons of columns "
            "with numbers and texts in quotes, such as \"task == 'x' and length > 5\": ==, !=, <, <=, >, >=, in, and, "
            "or, not"
        ) from None
    if not kept.any():
        raise InputError(f"{table.file}: {Hint('where')}: no row meets {condition}")
    return kept


def _cells_that_satisfy(cells: DataColumn, how: ast.cmpop, value: Any) -> np.ndarray:
    """Return a mask `[row]` of the cells for which the comparison `how` with `value` holds.

    An unknown comparison raises `ValueError` or `KeyError`.
    """
    if isinstance(how, ast.In | ast.NotIn) and isinstance(value, list | tuple | set):
        found = np.zeros(len(cells), bool)
        for each in value:
            found |= _cells_that_satisfy(cells, ast.Eq(), each)
        return ~found if isinstance(how, ast.NotIn) else found
    compare = _COMPARED[type(how)]
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise InputError(
            f"{Hint('where')}: whole numbers beyond 2**53 are not exact, got {quote(str(value))}; write it in quotes, "
            "or compare with a rounded number such as 1e20"
        )
    if isinstance(value, bool | int | float):
        numbers = np.array([as_float(cell) for cell in cells])
        return np.asarray(compare(numbers, float(value)))
    if isinstance(value, str) and isinstance(how, ast.Eq | ast.NotEq):
        return np.array([compare(cell.strip(), value) for cell in cells], bool)
    raise ValueError  # texts and numbers have no common order


def join_tables(tables: Mapping[str, DataTable], options: Options) -> tuple[DataTable, Options, tuple[str, ...]] | None:
    """Join several tables with the same column of systems to one table; None if each table holds one system.

    Returns the table, the changed options, and notes. If ids repeat in several files, the file becomes a part of the
    id.
    """
    system = options.system_column or _common_systems(list(tables.values()), options)
    if system is None or not all(system in table.columns for table in tables.values()):
        return None
    names = list(dict.fromkeys(name for table in tables.values() for name in table.columns))
    columns: dict[str, list[str]] = {name: [] for name in names}
    of_file: list[str] = []
    for label, table in tables.items():
        of_file += [label] * len(table.lines)
        for name, cells in columns.items():
            cells += table.columns[name] if name in table.columns else [""] * len(table.lines)
    nested = {name for table in tables.values() for name in table.columns if table.columns[name].nested}
    made = {name: DataColumn(cells, nested=name in nested) for name, cells in columns.items()}
    made.setdefault(FILE, DataColumn(of_file))
    first, notes = next(iter(tables.values())), tuple(note for table in tables.values() for note in table.notes)
    file = f"{first.file} and {len(tables) - 1} more"
    table = DataTable(file, made, range(1, len(of_file) + 1), "row", notes=notes)
    options = replace(options, system_column=system)
    if options.id_column is None:
        free = [name for name in unused(first, options, [system]) if not first.columns[name].nested]
        own = find_ids(table, options, [], free, system)
        unique = own is not None and distinguishes_rows(table, own, options, system)
        options = replace(options, id_column=own if unique else ",".join(filter(None, (FILE, own))))
        table = _joined(table, "id_column", options.id_column)
    return table, options, (f"{len(tables)} files are one table: systems are from column {quote(system)}",)


def _common_systems(tables: Sequence[DataTable], options: Options) -> str | None:
    """Find a column whose name may mean systems, and that has at least two labels which occur in all tables."""
    for name in unused(tables[0], options, [options.id_column, options.score_column]):
        if may_be_system(name) and all(name in table.columns and table.columns[name].is_words() for table in tables):
            common = set.intersection(*({*table.columns[name]} for table in tables))
            if len(common) > 1:
                return name
    return None


NO_HEADER = "is this a row without a header? add a line with the names of the columns"
_HINT = f"name the metric's columns with {Hint('counts')}"


def sheet_of(
    system: str,
    table: DataTable,
    numbers: Mapping[str, np.ndarray],
    ids: np.ndarray | None,
    id_column: str | None,
    runs: str | None = None,
    rows: np.ndarray | None = None,
) -> Sheet:
    """Make the sheet of a system: its numbers, and the ids, runs and labels of its `rows` (None: of all rows)."""
    if rows is None:
        names, lines = table.names, table.lines
    else:
        names, lines = LazyColumns(table.columns, lambda name: table.names[name][rows]), np.array(table.lines)[rows]
        ids = None if ids is None else ids[rows]
    count, lines = len(lines), lines if table.row_word == "line" else None
    runs_of = None if runs is None else names[runs]
    return Sheet(system, table.file, numbers, names, ids, runs_of, lines, id_column, rows=count)


def read_long(table: DataTable, options: Options, system: str) -> Reading:
    """Read a table whose column `system` holds the systems."""
    rows_of = _rows_of(table.names[system])
    _check_metrics([table], options, system)
    if len(rows_of) == len(table.lines) and len(rows_of) > 1:
        roles.check_turned(table, [name for name in table.columns if name != system])
        _refuse_one_row(table, options, system)
    return read_rows([(name, table, rows) for name, rows in rows_of.items()], options, system)


def read_several(tables: Mapping[str, DataTable], options: Options) -> Reading:
    """Read one table per system: `tables` maps the name of each system to its table."""
    asked = (options.score_column, *(options.counts or {}).values())
    labelled = {name: (table, label_columns(table, options, alone=False)) for name, table in tables.items()}
    known = {name: (table, labels) for name, (table, labels) in labelled.items() if labels is not None}
    if len(known) == len(tables):
        return read_labelled(known, options)
    _check_metrics([*tables.values()], options, None)
    _check_one_system([*tables.values()], options)
    for table in tables.values():
        names = [name for name in table.columns if name not in asked]
        if table.header is not None and not all(map(is_text, names[1:])):
            where = Line(table.file, table.header)
            raise InputError(f"{where}: the columns would be named {listing(names)}; {NO_HEADER}")
    return read_rows([(name, table, None) for name, table in tables.items()], options, None)


def read_rows(
    rows_of: Sequence[tuple[str, DataTable, np.ndarray | None]], options: Options, system: str | None
) -> Reading:
    """Read the rows of each system, from a table with a column of systems, or from one table per system.

    `rows_of` lists for each system its name, its table, and the indices of its rows (None: all rows). `system` is the
    column of systems; None if each system has a table.
    """
    tables = list(dict.fromkeys(table for _, table, _ in rows_of))
    numbers = {table: LazyColumns(table.columns, partial(number_column, table, hint=_HINT)) for table in tables}

    runs = None if options.runs == ROWS and ROWS not in tables[0].columns else options.runs

    @cache
    def join(found: "tuple[RowRoles, ...]", reading: TableReading) -> Reading:
        columns = dict(zip(tables, found, strict=True))
        for table, own in columns.items():
            roles.check_measures(table, own.ids, options)

        def sheet(name: str, table: DataTable, rows: np.ndarray | None) -> Sheet:
            ids, score = columns[table].ids, columns[table].score
            inputs = ["value"] if score else [column for column in table.columns if column not in (system, ids)]
            own = LazyColumns(inputs, lambda column: numbers[table][score or column][... if rows is None else rows])
            made = sheet_of(name, table, own, None if ids is None else table.names[ids], ids, runs, rows)
            return replace(made, reading=reading)

        sheets, order = [sheet(*own) for own in rows_of], None
        if runs is None and options.runs is not None:
            return join_sheets(numbered(sheets), options)
        if system is not None:  # the order of the rows
            names = tables[0].names
            order = names[found[0].ids or ""]
            order = order if runs is None else zip(order, names[runs], strict=True)
        return join_sheets(sheets, options, order=order)

    def evaluate(options: Options) -> EvaluationRecord:
        told = options.score_column is not None
        known = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
        if column := named_column(tables, known, options):
            options = replace(options, metric=replace(MEAN, name=column), score_column=column)  # its mean
        options = with_score(tables[0].file, options, metric := chosen_metric(options))
        refuse_texts(tables[0].file, metric, options.counts or {}, known)
        found = _roles(tables, options, metric, system)
        first = found[0]
        options, taken = _with_only_column(tables, options, metric, (system, first.ids))
        counts = options.counts or {}
        scores = [first.score] if first.score else [counts.get(name, name) for name in metric.inputs]
        held = [name for name in scores if name in tables[0].columns]
        if not held and metric.name == MEAN.name:
            _ask_for_scores(tables, options, metric, (system, first.ids))
        of = scores if lexicon.says_direction(scores) else named_measure(tables, options, (system, *scores)) or scores
        metric, direction = direction_of(tables[0].file, metric, of, options)
        reading = TableReading(
            layout="files" if system is None else "long",
            system=role(
                [system] if system else [], options.system_column, named=True, phrase=_FILES if not system else ""
            ),
            id=Role((first.ids,) if first.ids else (), first.evidence, _ids_phrase(tables[0], first, system)),
            score=role(held, told or counts, named=all(map(lexicon.is_score, held)), phrase=_score_source(held)),
            metric=metric.name,
            direction=direction,
            run=role([options.runs] if options.runs else [], told=True),
            cluster=role([options.cluster] if options.cluster else [], told=True),
            ignored=tuple(unused(tables[0], options, [system, first.ids, *scores])),
            options="system_column, id_column, score_column",
        )
        reading = with_parts(reading, first.ids, options.runs)
        evaluation = join(found, reading)(replace(options, metric=metric))
        note_reading(options, reading)
        if first.score is not None and all(other.score == first.score for other in found):
            roles.check_common(evaluation, tables[0].file, first.score)
        unit = options.cluster or (options.runs and first.ids)
        about_table = roles.table_notes(tables[0], scores, unit)
        steps = step_notes(first.ids) if options.id_column else ()
        by_row = _joined_by_row(first, tables) if system is None and len(tables) > 1 else ()
        return replace(evaluation, notes=(*by_row, *steps, reading.note(), *taken, *about_table, *evaluation.notes))

    return evaluate


_FILES = "are the files"


def _score_source(columns: Sequence[str]) -> str:
    """Say in a note which columns hold the scores; empty if there are no such columns."""
    return f"from {listing(columns)}" if columns else ""


def _ask_for_scores(
    tables: Sequence[DataTable], options: Options, metric: Metric | SampleMetric, taken: Sequence[str | None]
) -> None:
    """If several columns are named like scores, ask which of them holds the scores.

    `taken` are columns with other roles.
    """
    free = [name for name in unused(tables[0], options, taken) if not tables[0].columns[name].nested]
    named = [name for name in score_columns(tables[0], free) if lexicon.is_score(name) or lexicon.metrics_in(name)]
    kinds = {name: lexicon.speaks_against(name) for name in named}
    ways = [
        {"score_column": name}
        for name, kind in kinds.items()
        if kind != "cost" and not lexicon.is_other_aggregate(name)
    ]
    if ways:
        (lacking,) = metric.inputs
        which = f"{tables[0].file}: metric {metric.name!r} needs {lacking}: which of {listing(free)}?"
        raise Question(which, ways, f"say so with {Hint('score_column', 'NAME')}", needed=True)


def _ids_phrase(table: DataTable, own: "RowRoles", system: str | None) -> str:
    """Say in a note where the instance ids come from."""
    by_row = own.ids is not None and own.evidence != "told" and holds_row_numbers(table, own.ids, system)
    return f"{ids_from(own.ids)}{', which numbers the rows' * by_row}"


def _joined_by_row(own: "RowRoles", tables: Sequence[DataTable]) -> tuple[str, ...]:
    """Return a warning if files are joined by row number, although they have columns besides the scores."""
    if own.evidence == "told" or not (own.ids is None or holds_row_numbers(tables[0], own.ids, None)):
        return ()
    others = [name for name in tables[0].columns if name not in (own.ids, own.score)]
    if not others:
        return ()
    return (
        "warning: joined by row number: no column that files have in common tells instances apart; name one "
        "(--id-column) if rows are in another order in some file",
    )


def numbered(sheets: Sequence[Sheet]) -> list[Sheet]:
    """Use the repeated rows of an instance as its runs, and number them.

    Each instance needs the same number of rows.
    """
    made, number = list[Sheet](), None
    for sheet in sheets:
        if sheet.ids is None:
            raise InputError(f"{sheet.file}: {Hint('runs', ROWS)} numbers the rows of an instance: name its ids")
        seen, runs = dict[str, int](), list[str]()
        for key in map(str, sheet.ids):
            seen[key] = seen.get(key, 0) + 1
            runs.append(str(seen[key]))
        for key, count in seen.items():
            number = number or count
            if count != number:
                raise InputError(
                    f"{sheet.file}: {Hint('runs', ROWS)}: instance {quote(key)} of system {quote(sheet.system)} has "
                    f"{count} rows, and others have {number}; expected as many of each"
                )
        made.append(replace(sheet, runs=runs))
    return made


_OF_NUMBERS = ("mean", "median", "iqm", "accuracy")
"""Metrics with one input, whose direction (whether higher or lower is better) depends on the name of the input's
column."""


def direction_of(
    file: str, metric: Metric | SampleMetric, columns: Sequence[str], options: Options
) -> tuple[Metric | SampleMetric, str]:
    """Decide whether higher or lower scores are better, by an option or by the names of the columns of scores.

    Returns the metric with this direction, and a phrase about the direction for a note.
    """
    if options.direction is not None:
        return metric, f"{options.direction} is better, as told"
    if len(metric.inputs) != 1 or metric.name not in (*_OF_NUMBERS, *columns):
        return metric, f"{'higher' if metric.higher_is_better else 'lower'} is better"
    found = {lexicon.lexicon().direction(name) for name in columns}
    if "ask" in found:
        raise Question(
            f"{file}: column {quote(columns[0])}: are lower or higher scores better?",
            [{"lower_is_better": True}, {"higher_is_better": True}],
        )
    if found != {"lower"}:
        return metric, f"higher is better{', by its name' * (found == {'higher'})}"
    name = columns[0] if metric.name == MEAN.name and len({*columns}) == 1 else metric.name
    return replace(metric, name=name, higher_is_better=False), "lower is better, by its name"


def named_measure(tables: Sequence[DataTable], options: Options, taken: Sequence[str | None]) -> list[str]:
    """If a column holds the same name of a metric in all rows, return this name in a list; else an empty list.

    The name of the metric must say which scores are better. `taken` are columns with other roles.
    """
    for name in unused(tables[0], options, taken):
        if lexicon.names_measures(name) and all(name in table.columns for table in tables):
            labels = list({cell.strip() for table in tables for cell in map(str, table.columns[name])})
            if len(labels) == 1 and lexicon.says_direction(labels):
                return labels
    return []


def _check_metrics(tables: Sequence[DataTable], options: Options, system: str | None) -> None:
    """If a column holds the names of several metrics, ask which metric to take."""
    counts = (options.counts or {}).values()
    taken = [system, *(options.id_column or "").split(","), options.id_column, options.score_column, *counts]
    for name in unused(tables[0], options, taken):
        if not all(name in table.columns and table.columns[name].is_words() for table in tables):
            continue
        cells = dict.fromkeys(cell for table in tables for cell in dict.fromkeys(table.columns[name]))
        labels = list(dict.fromkeys(cell.strip() for cell in cells if cell.strip()))
        if not 1 < len(labels) < sum(len(table.lines) for table in tables):
            continue
        if lexicon.names_measures(name) or (len(labels) <= _MOST_METRICS and lexicon.are_measures(labels)):
            column = name if name.isidentifier() else f"`{name}`"
            given = f"({options.where}) and " if options.where else ""
            raise Question(
                f"{tables[0].file}: column {quote(name)} holds metrics ({listing(labels, 4)}), whose scores have no "
                "mean in common; take one",
                [{"where": f"{given}{column} == {label!r}"} for label in labels],
                f"for others, {Hint('where')} with their names" if len(labels) > _MOST_SHOWN else "",
            )


_MOST_METRICS, _MOST_SHOWN = 60, 3


def _refuse_one_row(table: DataTable, options: Options, system: str) -> None:
    """Refuse a table with one row per system if no column can be ids."""
    others = unused(table, options, [system])
    counts = {*(options.counts or {}).values(), options.score_column}
    if options.id_column is not None or len(others) < 2 or any(table.columns[name].is_words() for name in others):
        return
    if not any(lexicon.is_id_name(name) for name in others if name not in counts):
        told = {*others} & counts or any(map(lexicon.speaks_against, others))
        raise Question(
            f"{table.file}: column {quote(system)} has one row per system: a test takes the results of each system on "
            "several instances, and not their mean",
            [] if told else [{"transpose": True}],
        )


def _check_one_system(tables: Sequence[DataTable], options: Options) -> None:
    """If a column names the same system in all files, ask whether the files are systems."""
    for name in unused(tables[0], options, [options.id_column, options.score_column, options.system_column]):
        if not lexicon.may_be_system(name) or not all(name in table.columns for table in tables):
            continue
        labels = {cell.strip() for table in tables for cell in table.columns[name]}
        if len(tables) < 2 or len(labels) != 1 or not all(table.columns[name].is_words() for table in tables):
            continue
        differs = [
            other
            for other in tables[0].columns
            if lexicon.is_data_set(other) and all(len({*table.columns.get(other, ())}) == 1 for table in tables)
        ]
        several = [other for other in differs if len({next(iter(table.columns[other])) for table in tables}) > 1]
        of = f" ({quote(several[0])} differs)" if several else ""
        raise Question(
            f"{tables[0].file}: column {quote(name)} is {quote(labels.pop())} in all files, so that these are results "
            f"of one system{of}; give files of two systems",
            [] if several else [{"ignore": [*options.ignore, name]}],
        )


def named_column(tables: Sequence[DataTable], known: Sequence[str], options: Options) -> str | None:
    """Find the column of numbers that is named like the metric; None if there is no such column.

    Also None if the metric has one input, or if columns for all inputs of the metric exist. `known` are the columns
    that all tables have.
    """
    if not isinstance(options.metric, str):
        return None
    if (name := score_named(options.metric, known)) is None:
        return None
    found, counts = known_metric(options.metric), options.counts or {}
    is_counted = found is not None and all(counts.get(each, each) in known for each in found.inputs)
    return None if is_counted or not all(own.columns[name].is_numeric() for own in tables) else name


def _with_only_column(
    tables: Sequence[DataTable], options: Options, metric: Metric | SampleMetric, others: Sequence[str | None]
) -> tuple[Options, tuple[str, ...]]:
    """If exactly one required input of a metric has no column, take the only remaining column of numbers for it.

    This is done for metrics that also have optional inputs. `others` are columns with other roles. Returns the options,
    and a note if the column was taken.
    """
    optional, counts = getattr(metric, "optional_inputs", ()), options.counts or {}
    lacking = [name for name in metric.inputs if not all(counts.get(name, name) in own.columns for own in tables)]
    taken = [*others, *(counts.get(name, name) for name in metric.inputs)]
    free = [name for name in unused(tables[0], options, taken) if all(name in own.columns for own in tables)]
    numeric = [name for name in free if tables[0].columns[name].is_numeric() and not lexicon.is_property(name)]
    if not optional or len(lacking) != 1 or lacking[0] in optional or len(numeric) != 1:
        return options, ()
    note = f"{metric.name}: {lacking[0]} is column {quote(numeric[0])}, the only one of numbers that is left"
    return replace(options, counts={**counts, lacking[0]: numeric[0]}), (note,)


def _rows_of(systems: np.ndarray) -> dict[str, np.ndarray]:
    index = {name: k for k, name in enumerate(dict.fromkeys(systems))}
    codes = np.fromiter(map(index.__getitem__, systems), np.int64, len(systems))
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(index, rows, strict=True))


class RowRoles(NamedTuple):
    """The roles of columns in a table in which each row is a result of one system."""

    ids: str | None
    """The column of instance ids; None if rows are joined by row number."""
    evidence: Evidence
    score: str | None
    """The only column of scores; None if several columns may hold scores, or if columns are named like the metric's
    inputs."""


def _roles(
    tables: Sequence[DataTable], options: Options, metric: Metric | SampleMetric, system: str | None
) -> tuple[RowRoles, ...]:
    counts = options.counts or {}
    inputs = [*counts.values(), *(counts.get(name, name) for name in metric.inputs)]
    free, scores = list[list[str]](), list[str | None]()
    for table in tables:
        names = [n for n in unused(table, options, [system, *inputs]) if not table.columns[n].nested]
        free.append([name for name in names if lexicon.is_trial(name) or not lexicon.is_system(name)])
    ids, evidence = chosen_ids(tables, free, options, system)
    only, *others = metric.inputs
    if options.counts or others or any(only in table.columns for table in tables):
        return tuple(RowRoles(own, evidence, None) for own in ids)
    for table, names, own in zip(tables, free, ids, strict=True):
        numeric = score_columns(table, [name for name in names if name != own and not lexicon.is_system(name)])
        scores.append(numeric[0] if len(numeric) == 1 else None)
    usual = next((name for name in scores if name is not None), None)  # a typo may turn scores into text
    for index, table in enumerate(tables):
        if scores[index] is None and usual in table.columns:
            scores[index] = usual
    if usual is not None and set(scores) == {usual}:
        roles.check_scores(tables, usual)
    return tuple(RowRoles(own, evidence, score) for own, score in zip(ids, scores, strict=True))


def score_columns(table: DataTable, free: Sequence[str]) -> list[str]:
    """Return the columns that may hold scores, among the columns in `free` (without a role) that hold numbers.

    If exactly one column is named "score", "value" or "result", only this column is returned. Else, if exactly one is
    not named like a property of instances, only that column is returned. Otherwise, all columns of numbers are
    returned; row numbers are left out if there are other columns.
    """
    numeric = [name for name in free if table.columns[name].is_numeric()]
    numeric = [name for name in numeric if not (lexicon.is_order(name) and holds_row_numbers(table, name))] or numeric
    for chosen in (
        [n for n in numeric if lexicon.is_plain_score(n)],
        [n for n in numeric if not lexicon.is_property(n)],
    ):
        if len(chosen) == 1:
            return chosen
    return numeric
