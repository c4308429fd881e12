"""Tables -> sheets. A table is wide, long, one of several systems' tables, or one of battles; others are refused.

Wide: one row per instance, one column per system; `roles` says which columns are the systems and the instance ids.

Long: one row per system and instance, or one file per system with one row per instance. The systems are the column of
`--system-column`, or one with a usual name (`system`, `model`, `run`, ...), or the files. The instance ids are the
column of `--id-column`, else one named like ids, else one that has the same names for all systems; `--runs` tells apart
several trials of the same instance. The inputs of the metric are the columns of `--counts`, or `--score-column`, else
those with their names; a metric with one input takes the only column of numbers that is left.

Battles: one row each, with `model_a`, `model_b` and `winner`, as Chatbot Arena writes them. A battle is an instance
that only its two systems have: the winner gets 1 and the other one 0, or each gets 1/2 in a tie. So the win rate of a
system is its mean, delta of a pair is its win rate minus that of the other in their own battles, and swapping the two
results of a battle, as the permutation test does, is what a coin decides where both are equally good: the sign test,
where nothing is tied.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

import sigjax.readers.roles as roles
from sigjax.metrics import CLASS_METRICS, MEAN, METRICS, canonical, known_metric
from sigjax.readers.join import Reading, Sheet, Sources, join_sheets, refuse_texts, score_named
from sigjax.readers.options import (
    Options,
    check_named,
    chosen_metric,
    listing,
    name_systems,
    quote,
    select_systems,
    with_score,
)
from sigjax.readers.predictions import OF_NUMBERS, label_columns, read_labelled, with_gold
from sigjax.readers.shapes import shaped, together
from sigjax.readers.table import DataTable, Lazy, is_missing, is_text, locate, number_column
from sigjax.records import EvaluationRecord, Hint, InputError, Line, Metric, SampleMetric
from sigjax.run.files import is_file

_NO_HEADER = "is this a row without a header? add a line with the names of the columns"
MOST_SYSTEMS = 10_000
"""A table with more columns than this has rows and columns exchanged."""
_UNUSED_COLUMN = (
    f"a column that is not a system is left out with {Hint('ignore', 'NAME')} or used with {Hint('cluster', 'NAME')} "
    f"or {Hint('strata', 'NAME')}"
)


def read_tables(parse: Callable[..., DataTable], sources: Sources, options: Options) -> Reading:
    """The reading of one table of all systems, or of one for each.

    `parse` takes a file, the options and whether it is `alone`, with all systems in it.
    """
    if not sources.systems:
        table = parse(sources.files[0], options, alone=True)
        return read_table(_with_gold(parse, [table], options)[0], options)
    chosen = sources.systems if options.system_column else sources.chosen(options)
    tables = {name: parse(file, options, alone=False) for name, file in chosen.items()}
    tables = dict(zip(tables, _with_gold(parse, [*tables.values()], options), strict=True))
    if found := together(tables, options):
        table, own, notes = found
        return _with_options(read_table(table, own), own, notes)
    made = [shaped(table, options) for table in tables.values()]
    own, notes = made[0][1:]
    tables = dict(zip(tables, (table for table, _, _ in made), strict=True))
    for table in tables.values():
        check_columns(table, own)
    return _with_options(read_several(tables, own), own, notes)


def _with_options(reading: Reading, own: Options, notes: Sequence[str]) -> Reading:
    """The reading with the options that a shape has changed, and notes; the metric alone is given later."""

    def evaluate(options: Options) -> EvaluationRecord:
        evaluation = reading(replace(own, metric=options.metric))
        return replace(evaluation, notes=(*notes, *evaluation.notes))

    return evaluate


def _with_gold(parse: Callable[..., DataTable], tables: Sequence[DataTable], options: Options) -> Sequence[DataTable]:
    """The tables with the gold labels of `--gold`, if that is a file and no column of theirs."""
    if options.gold is None or any(options.gold in table.columns for table in tables) or not is_file(options.gold):
        return tables
    return with_gold(tables, parse(options.gold, options, alone=True), options)


def read_table(table: DataTable, options: Options) -> Reading:
    """The reading of a table of all systems: of battles, long if a column holds the systems, else wide."""
    table, options, notes = shaped(table, options)
    check_columns(table, options)
    if labels := label_columns(table, options):
        reading = read_labelled({"": (table, labels)}, options)
    elif not options.system_column and (battles := battle_columns(table)):
        reading = read_battles(table, battles, options)
    elif not options.system_column and (counted := battle_columns(table, counts=True)):
        raise InputError(
            f"{table.file}: columns {listing(counted)} count battles of two systems, and no instance is known; "
            "`sigjax battles` ranks the systems"
        )
    elif system := system_column(table, options):
        reading = read_long(table, options, system)
    else:
        reading = _read_wide(table, options)
    return _with_options(reading, options, notes)


def check_columns(table: DataTable, options: Options) -> None:
    """Refuse options that name columns that are not there."""
    check_named(table.file, "ignore", options.ignore, table.columns)
    for option in ("id_column", "runs", "system_column", "score_column"):
        check_named(table.file, option, [getattr(options, option)], table.columns)


def _sheet(
    system: str,
    table: DataTable,
    numbers: Mapping[str, np.ndarray],
    ids: np.ndarray | None,
    id_column: str | None,
    runs: str | None = None,
    rows: np.ndarray | None = None,
) -> Sheet:
    """The sheet of a system: its numbers, and the ids, runs and labels of its rows; by default, these are all."""
    if rows is None:
        names, lines = table.names, table.lines
    else:
        names, lines = Lazy(table.columns, lambda name: table.names[name][rows]), np.array(table.lines)[rows]
        ids = None if ids is None else ids[rows]
    lines = lines if table.row_word == "line" else None
    return Sheet(system, table.file, numbers, names, ids, None if runs is None else names[runs], lines, id_column)


def _read_wide(table: DataTable, options: Options) -> Reading:
    @cache
    def join() -> Reading:
        id_column, systems, note = _wide_columns(table, options)
        if id_column is None and options.runs is not None:
            how = f"name the ids with {Hint('id_column', 'NAME')}"
            raise InputError(f"{table.file}: {Hint('runs')}: which runs are of the same instance? {how}")
        ids = table.row_numbers() if id_column is None else table.names[id_column]
        roles.check_measures(table, id_column, options)

        def sheet(name: str) -> Sheet:
            numbers = Lazy(["value"], lambda _: number_column(table, name, hint=_UNUSED_COLUMN))
            return _sheet(name, table, numbers, ids, id_column, options.runs)

        unit = options.cluster or (options.runs and id_column)
        return join_sheets(list(map(sheet, systems)), options, notes=(note, *roles.table_notes(table, systems, unit)))

    one = _read_rows([(next(iter(name_systems([table.file])[0])), table, None)], options, None)

    def evaluate(options: Options) -> EvaluationRecord:
        if _is_of_one_system(table, options):
            return one(options)
        name = canonical(str(options.metric))
        if name in OF_NUMBERS or (name in CLASS_METRICS and not known_metric(name)):
            how = f"name them with {Hint('gold', 'COLUMN')} and {Hint('prediction', 'COLUMN')}"
            raise InputError(f"{table.file}: metric {name!r} takes predictions and gold labels: {how}")
        metric = chosen_metric(options)
        refuse_texts(table.file, metric, options.counts or {}, ())
        if len(metric.inputs) != 1:
            takes = f"takes {len(metric.inputs)} numbers per instance, but a wide table has one per system"
            how = f"give a long table with the columns: system, id, {', '.join(metric.inputs)}"
            raise InputError(f"{table.file}: metric {metric.name!r} {takes}; {how}")
        if option := "counts" if options.counts else "score_column" if options.score_column else "":
            raise InputError(f"{table.file}: {Hint(option)} is for long tables; see {Hint('system_column')}")
        return join()(replace(options, metric=metric))

    return evaluate


def _is_of_one_system(table: DataTable, options: Options) -> bool:
    """Whether a table has a row per instance of one system: columns are its inputs of the metric, or its scores by it.

    A comparison of one is refused.
    """
    if options.only is not None:  # they are columns
        return False
    column, counts = _named_column([table], [*table.columns], options), options.counts or {}
    if column is None and options.score_column is None:
        metric = options.metric if not isinstance(options.metric, str) else known_metric(options.metric)
        names = getattr(metric, "inputs", tuple(counts))
        needed = [name for name in names if name not in getattr(metric, "optional_inputs", ())]
        several = len(names) > 1 or bool(counts)
        if not several or not all(counts.get(name, name) in table.columns for name in needed):
            return False
    if options.single or options.score_column is not None or counts:
        return options.single
    what = f"column {quote(column)} has the name" if column else "columns are the inputs"
    raise InputError(
        f"{table.file}: {what} of the metric, so the table holds one system, and a comparison needs at least two; give "
        "one such file per system (sigjax one-sample scores one)"
    )


def _wide_columns(table: DataTable, options: Options) -> tuple[str | None, Sequence[str], str]:
    """The column of instance ids, those of the systems to compare, and the note on them."""
    if options.only is None and (count := len(roles.unused(table, options))) > MOST_SYSTEMS:
        raise InputError(
            f"{table.file}: has {count} columns of systems, expected at most {MOST_SYSTEMS}: one row per instance and "
            f"one column per system; exchange rows and columns ({Hint('transpose')}), or name some: {Hint('only')}"
        )
    id_column, systems, others = roles.wide_roles(table, options)
    known = systems if options.only is None else roles.unused(table, options, [id_column])
    systems = select_systems(table.file, known, options)
    named = options.id_column is not None or options.only is not None or roles.is_id_name(id_column)
    if table.header is not None and not named and not any(map(is_text, systems)):
        where, right = Line(table.file, table.header), f"or give {Hint('only')} with these names if they are right"
        raise InputError(f"{where}: the systems would be named {listing(systems)}; {_NO_HEADER}, {right}")
    if options.only is None:
        roles.check_turned(table, systems)
    about = {"instance ids": roles.ids_from(id_column), "systems": listing(systems, roles.SHOWN)}
    return id_column, systems, roles.columns_note(about, others, "id_column, only, ignore")


_INPUTS = frozenset(name for metric in METRICS.values() for name in metric.inputs)
_HINT = f"name the metric's columns with {Hint('counts')}"


def system_column(table: DataTable, options: Options) -> str | None:
    """The column that holds the systems of a long table, if there is one."""
    exact = next((name for name in table.columns if name.lower() == "system"), None)
    if options.system_column or exact:
        return options.system_column or exact
    free = roles.unused(table, options, [options.id_column, *(options.only or ())])
    usual = [name for name in free if roles.is_system(name) and len(set(table.columns[name])) > 1]
    usual = [name for name in usual if table.columns[name].is_words() or name == free[0]]
    if not usual:
        return None if options.single else _likely_system(table, options, free)
    ids = [name for name in table.columns if name not in usual and roles.is_id_name(name)]
    count = len(table.lines)
    repeated = [name for name in usual if any(len(set(table.columns[each])) < count for each in (name, *ids))]
    scores = _score_columns(table, [name for name in free if name not in usual])
    if len(repeated) == 1 and (len(scores) == 1 or options.score_column or options.counts or _INPUTS & {*free}):
        return repeated[0]
    if len(repeated) == 1 and len(scores) > 1:
        raise InputError(
            f"{table.file}: column {quote(usual[0])} seems to hold the systems; which column holds the scores, "
            f"{listing(scores)}? say so with {Hint('score_column', 'NAME')}, or give {Hint('ignore', quote(usual[0]))} "
            f"if these are the systems"
        )
    raise InputError(
        f"{table.file}: column {quote(usual[0])} seems to hold the systems, one per row; expected one row per instance "
        f"and one column per system (give {Hint('transpose')}), or a long table: name its columns with "
        f"{Hint('system_column', 'NAME')} and {Hint('score_column', 'NAME')}; give {Hint('id_column', 'NAME')} if this "
        f"one holds instance ids, or {Hint('ignore', 'NAME')}"
    )


def _likely_system(table: DataTable, options: Options, free: Sequence[str]) -> str | None:
    """The column of systems by a name that a property may have, too, where the table cannot be wide."""
    found = [name for name in free if roles.may_be_system(name) and table.columns[name].is_words()]
    if {*table.columns} & {*(options.only or ())}:
        return None  # they are columns
    if len(found) != 1 or not 1 < len(set(table.columns[found[0]])) < len(table.lines):
        return None
    scores = _score_columns(table, [name for name in free if name not in found])
    return found[0] if len(scores) == 1 or options.score_column or options.counts else None


def read_long(table: DataTable, options: Options, system: str) -> Reading:
    """The reading of a table whose column `system` holds the systems."""
    rows_of = _rows_of(table.names[system])
    if len(rows_of) == len(table.lines):
        roles.check_turned(table, [name for name in table.columns if name != system])
    return _read_rows([(name, table, rows) for name, rows in rows_of.items()], options, system)


def read_several(tables: Mapping[str, DataTable], options: Options) -> Reading:
    """The reading of one table per system."""
    asked = (options.score_column, *(options.counts or {}).values())
    labelled = {name: (table, label_columns(table, options, alone=False)) for name, table in tables.items()}
    known = {name: (table, labels) for name, (table, labels) in labelled.items() if labels is not None}
    if len(known) == len(tables):
        return read_labelled(known, options)
    for table in tables.values():
        names = [name for name in table.columns if name not in asked]
        if table.header is not None and not all(map(is_text, names[1:])):
            where = Line(table.file, table.header)
            raise InputError(f"{where}: the columns would be named {listing(names)}; {_NO_HEADER}")
    return _read_rows([(name, table, None) for name, table in tables.items()], options, None)


def _read_rows(
    rows_of: Sequence[tuple[str, DataTable, np.ndarray | None]], options: Options, system: str | None
) -> Reading:
    """The reading of the rows of each system: some, in one table with a column of systems, or all, each in its own."""
    tables = list(dict.fromkeys(table for _, table, _ in rows_of))
    numbers = {table: Lazy(table.columns, partial(number_column, table, hint=_HINT)) for table in tables}

    @cache
    def join(found: tuple[_LongRoles, ...]) -> Reading:
        columns = dict(zip(tables, found, strict=True))
        for table, (ids, _) in columns.items():
            roles.check_measures(table, ids, options)

        def sheet(name: str, table: DataTable, rows: np.ndarray | None) -> Sheet:
            ids, score = columns[table]
            inputs = ["value"] if score else [column for column in table.columns if column not in (system, ids)]
            own = Lazy(inputs, lambda column: numbers[table][score or column][... if rows is None else rows])
            return _sheet(name, table, own, None if ids is None else table.names[ids], ids, options.runs, rows)

        order = None
        if system is not None:  # that of the rows
            names = tables[0].names
            order = names[found[0][0] or ""]
            order = order if options.runs is None else zip(order, names[options.runs], strict=True)
        return join_sheets([sheet(*own) for own in rows_of], options, order=order)

    def evaluate(options: Options) -> EvaluationRecord:
        known = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
        if column := _named_column(tables, known, options):
            options = replace(options, metric=replace(MEAN, name=column), score_column=column)  # the mean of a column
        options = with_score(tables[0].file, options, metric := chosen_metric(options))
        refuse_texts(tables[0].file, metric, options.counts or {}, known)
        found = _roles(tables, options, metric, system)
        options, taken = _with_only_column(tables, options, metric, (system, found[0][0]))
        evaluation = join(found)(replace(options, metric=metric))
        (ids, score), *others = found
        if score is not None and all(other == score for _, other in others):
            roles.check_common(evaluation, tables[0].file, score)
        counts = options.counts or {}
        scores = [score] if score else [counts.get(name, name) for name in metric.inputs]
        about = {"systems": "are the files" if system is None else f"from column {quote(system)}"}
        about |= {"instance ids": roles.ids_from(ids), "scores": f"from {listing(scores)}"}
        rest = roles.unused(tables[0], options, [system, ids, *scores])
        note = roles.columns_note(about, rest, "system_column, id_column, score_column")
        unit = options.cluster or (options.runs and ids)
        about_table = roles.table_notes(tables[0], scores, unit)
        return replace(evaluation, notes=(note, *taken, *about_table, *evaluation.notes))

    return evaluate


def _named_column(tables: Sequence[DataTable], known: Sequence[str], options: Options) -> str | None:
    """The column of numbers named like the metric, unless that is a metric of one number, or of counts, here."""
    if not isinstance(options.metric, str):
        return None
    name, found, counts = score_named(options.metric, known), known_metric(options.metric), options.counts or {}
    is_counted = found is not None and all(counts.get(each, each) in known for each in found.inputs)
    if name is None or is_counted or not all(own.columns[name].is_numeric() for own in tables):
        return None
    return name


def _with_only_column(
    tables: Sequence[DataTable], options: Options, metric: Metric | SampleMetric, others: Sequence[str | None]
) -> tuple[Options, tuple[str, ...]]:
    """The options, with the only column of numbers as the input that a metric with optional ones lacks; and a note."""
    optional, counts = getattr(metric, "optional_inputs", ()), options.counts or {}
    lacking = [name for name in metric.inputs if not all(counts.get(name, name) in own.columns for own in tables)]
    taken = [*others, *(counts.get(name, name) for name in metric.inputs)]
    free = [name for name in roles.unused(tables[0], options, taken) if all(name in own.columns for own in tables)]
    numeric = [name for name in free if tables[0].columns[name].is_numeric() and not roles.is_property(name)]
    if not optional or len(lacking) != 1 or lacking[0] in optional or len(numeric) != 1:
        return options, ()
    note = f"{metric.name}: {lacking[0]} is column {quote(numeric[0])}, the only one of numbers that is left"
    return replace(options, counts={**counts, lacking[0]: numeric[0]}), (note,)


def _rows_of(systems: np.ndarray) -> dict[str, np.ndarray]:
    index = {name: k for k, name in enumerate(dict.fromkeys(systems))}
    codes = np.fromiter(map(index.__getitem__, systems), np.int64, len(systems))
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(index, rows, strict=True))


_LongRoles = tuple[str | None, str | None]
"""The column of instance ids, if there is one, and the only one of scores; None where they go by their names."""


def _roles(
    tables: Sequence[DataTable], options: Options, metric: Metric | SampleMetric, system: str | None
) -> tuple[_LongRoles, ...]:
    counts = options.counts or {}
    inputs = [*counts.values(), *(counts.get(name, name) for name in metric.inputs)]
    free, ids, scores = list[list[str]](), list[str | None](), list[str | None]()
    for table in tables:
        names = [n for n in roles.unused(table, options, [system, *inputs]) if not table.columns[n].nested]
        free.append([name for name in names if system is not None or not roles.is_system(name)])
        first = [name for name in free[-1][:1] if roles.is_id_name(name) or table.columns[name].is_words()]
        ids.append(options.id_column or roles.find_ids(table, options, first, free[-1], system))
    if all(own is None for own in ids):
        known = _unnamed_ids(tables, free[0], system, options)
        if known is None and system is not None:
            listed = listing(tables[0].columns)
            raise InputError(f"{tables[0].file}: no column is left for the instance ids; columns: {listed}")
        ids = [known] * len(tables)
    only, *others = metric.inputs
    if options.counts or others or any(only in table.columns for table in tables):
        return tuple((own, None) for own in ids)
    for table, names, own in zip(tables, free, ids, strict=True):
        numeric = _score_columns(table, [name for name in names if name != own])
        scores.append(numeric[0] if len(numeric) == 1 else None)
    usual = next((name for name in scores if name is not None), None)  # a typing error makes a column text
    for index, table in enumerate(tables):
        if scores[index] is None and usual in table.columns:
            scores[index] = usual
    if usual is not None and set(scores) == {usual}:
        roles.check_scores(tables, usual)
    return tuple(zip(ids, scores, strict=True))


def _unnamed_ids(tables: Sequence[DataTable], free: Sequence[str], system: str | None, options: Options) -> str | None:
    """The column that tells apart the rows of each system and differs the least between systems: others are scores.

    Files without ids are joined by position, so that they need the same ids.
    """
    if len(free) < 2 and system is None:
        return None
    most = max(len(table.lines) for table in tables)
    distinct = {
        name: len({cell for table in tables for cell in table.columns[name]})
        for name in free
        if all(name in table.columns for table in tables)
        and all(roles.tells_apart(table, name, options, system) for table in tables)
    }
    fewest = min(distinct, key=distinct.__getitem__, default=None)
    if system is not None:
        return fewest if fewest is not None and len(free) > 1 else next(iter(free), None)
    return fewest if fewest is not None and distinct[fewest] == most else None


def _score_columns(table: DataTable, free: Sequence[str]) -> list[str]:
    """The columns that may hold the scores: named so, else of numbers that are named like nothing else."""
    numeric = [name for name in free if table.columns[name].is_numeric()]
    for chosen in ([n for n in numeric if roles.is_plain_score(n)], [n for n in numeric if not roles.is_property(n)]):
        if len(chosen) == 1:
            return chosen
    return numeric


WIN_RATE = "win_rate"
_SIDES = [re.compile(rf"(model|system|player|bot)[_ ]?(name[_ ]?)?({side})") for side in ("a|1", "b|2")]
_WINNERS = ("winner", "win", "preference", "verdict")
_SPLIT = ("winner_model_a", "winner_model_b", "winner_tie")
"""Three columns in place of one, of which a row has 1 in one and 0 in the others."""
_COUNTS = ("wins", "losses", "ties")
_TIES = frozenset(("tie", "tied", "draw", "both", "neither", "bothbad", "both_bad", "tie (bothbad)", "tie(bothbad)"))
_ASIDE = {"a": 1.0, "b": 0.0, "1": 1.0, "2": 0.0, "left": 1.0, "right": 0.0}


def battle_columns(table: DataTable, *, counts: bool = False) -> list[str]:
    """The columns of a table of battles: the two sides, then the winner, or the three of `_SPLIT`; or counts, if taken.

    There are none where the table is none of battles, or its sides hold numbers.

    >>> from sigjax.readers.table import DataColumn
    >>> columns = {"model_a": DataColumn(["x"]), "model_b": DataColumn(["y"]), "winner": DataColumn(["tie"])}
    >>> battle_columns(DataTable("t.csv", columns, [2]))
    ['model_a', 'model_b', 'winner']
    >>> battle_columns(DataTable("t.csv", columns | {"model_a": DataColumn(["0.5"])}, [2]))
    []
    """
    lower = {name.strip().lower(): name for name in table.columns}
    sides = [[name for low, name in lower.items() if side.fullmatch(low)] for side in _SIDES]
    results = [*[_COUNTS, _COUNTS[:2]] * counts, _SPLIT, *((name,) for name in _WINNERS)]
    names = next((names for names in results if lower.keys() >= {*names}), None)
    if names is None or any(len(side) != 1 or not table.columns[side[0]].is_words() for side in sides):
        return []
    return [sides[0][0], sides[1][0], *(lower[name] for name in names)]


class BattleRows(NamedTuple):
    """The battles to take: their rows, indices of both systems, wins, ties and losses of the first `[row, 3]`."""

    systems: tuple[str, ...]
    rows: np.ndarray
    a: np.ndarray
    b: np.ndarray
    outcomes: np.ndarray
    left_out: tuple[str, ...]


def battle_rows(table: DataTable, columns: Sequence[str], options: Options) -> BattleRows:
    """The battles of a table with these columns, see `battle_columns`."""
    counted = columns[2].strip().lower() == _COUNTS[0]
    if counted:
        outcomes = np.zeros((len(table.lines), 3))
        for name, outcome in zip(columns[2:], (0, 2, 1), strict=False):
            numbers = outcomes[:, outcome] = number_column(table, name, hint="expected how many battles")
            if (wrong := np.flatnonzero(~((numbers >= 0) & (numbers == np.rint(numbers))))).size:
                raise InputError(f"{locate(table, int(wrong[0]), name)}: expected whole numbers of battles from 0")
    else:
        outcomes = (_results(table, columns)[:, None] == [1.0, 0.5, 0.0]).astype(float)
    sides = [table.names[name] for name in columns[:2]]
    systems = select_systems(table.file, list(dict.fromkeys(np.stack(sides, axis=1).ravel().tolist())), options)
    chosen = {name: k for k, name in enumerate(systems)}
    a, b = (np.array([chosen.get(name, -1) for name in side]) for side in sides)
    among, alone, fought = (a >= 0) & (b >= 0), a == b, outcomes.any(axis=1)
    rows, unknown = (np.flatnonzero(among & ~alone & some) for some in (fought, ~fought))
    if unknown.size and options.missing != "drop" and not counted:
        where = locate(table, int(unknown[0]), columns[2])
        raise InputError(f"{where}: has no winner; use {Hint('missing', 'drop')} to leave such battles out")
    if lacking := sorted({*range(len(systems))} - {*a[rows].tolist(), *b[rows].tolist()}):
        name = quote(systems[lacking[0]])
        raise InputError(f"{table.file}: system {name} has no battle to take; leave it out ({Hint('only')})")
    numbers = {"without a winner": 0 if counted else unknown.size, "of a system against itself": (among & alone).sum()}
    left_out = tuple(f"left out battles {what}: {number:,}" for what, number in numbers.items() if number)
    return BattleRows(systems, rows, a[rows], b[rows], outcomes[rows], left_out)


def read_battles(table: DataTable, columns: Sequence[str], options: Options) -> Reading:
    """The reading of battles: a sheet of each system has its own."""
    for option in ("runs", "score_column", "counts"):
        if getattr(options, option):
            raise InputError(f"{table.file}: {Hint(option)} means nothing for battles of two systems; leave it out")
    systems, rows, a, b, outcomes, left_out = battle_rows(table, columns, options)
    values, ties = outcomes @ [1.0, 0.5, 0.0], np.count_nonzero(outcomes[:, 1])
    ids = table.row_numbers() if options.id_column is None else table.names[options.id_column]
    sheets: list[Sheet] = []
    for k, name in enumerate(systems):
        own = np.flatnonzero((a == k) | (b == k))
        numbers = {WIN_RATE: np.where(a[own] == k, values[own], 1.0 - values[own])}
        sheets.append(_sheet(name, table, numbers, ids, None, rows=rows[own]))
    about = {"battles of": f"{quote(columns[0])} and {quote(columns[1])}", "winners": f"from {listing(columns[2:])}"}
    about |= {"ids": roles.ids_from(options.id_column), "systems": listing(systems, roles.SHOWN)}
    means = (
        f"{ties:,} of {len(values):,} battles are ties, which count half; a system is scored on all its battles, "
        "whoever the others are, and a pair on its own: there a win rate of 1/2 is a delta of 0"
    )
    notes = (roles.columns_note(about, (), "id_column, only"), *left_out, means)
    reading = join_sheets(sheets, replace(options, missing="pairwise"), scores=True, order=ids[rows])

    def evaluate(options: Options) -> EvaluationRecord:
        if options.metric in (MEAN.name, WIN_RATE):
            options = replace(options, metric=WIN_RATE)
        else:
            refuse_texts(table.file, chosen_metric(options), {}, ())
        return replace(reading(replace(options, missing="pairwise")), notes=notes)

    return evaluate


def _results(table: DataTable, columns: Sequence[str]) -> np.ndarray:
    """What the first system of each battle gets `[row]`: 1, 1/2 or 0; NaN where there is no winner."""
    first, second, *winner = columns
    if len(winner) > 1:
        return _split_results(table, winner)
    cells = table.columns[winner[0]]
    if cells.nested:
        raise InputError(f"{table.file}, column {quote(winner[0])}: expected winners, got lists or objects")
    given = list(cells)
    known = {cell: _result(cell, first, second) for cell in dict.fromkeys(given)}
    values = np.empty(len(given))
    for row, (cell, a, b) in enumerate(zip(given, table.names[first], table.names[second], strict=True)):
        name = cell.strip()
        found = {known[cell], float(name == a) if a != b and name in (a, b) else None} - {None}
        if len(found) != 1:
            also = ", which is a side and the name of the other" if found else ""
            raise InputError(
                f"{locate(table, row, winner[0])}: expected {first}, {second}, tie, or the name of one of the two, got "
                f"{quote(cell)}{also}"
            )
        (values[row],) = found
    return values


def _split_results(table: DataTable, names: Sequence[str]) -> np.ndarray:
    """The same from the three columns of `_SPLIT`."""
    marks = np.array([number_column(table, name, hint="expected 0 or 1") for name in names])
    empty = np.isnan(marks).any(axis=0)
    wrong = np.flatnonzero(~empty & ~(np.isin(marks, (0, 1)).all(axis=0) & (marks.sum(axis=0) == 1)))
    if wrong.size:
        raise InputError(f"{locate(table, int(wrong[0]), names[0])}: expected 1 in one of {listing(names)}, else 0")
    return np.where(empty, np.nan, marks[0] + 0.5 * marks[2])


def _result(cell: str, first: str, second: str) -> float | None:
    """What a winner says that names a side, or none; None where it says something else."""
    word = cell.strip().lower()
    sides: Mapping[str, float] = {first.strip().lower(): 1.0, second.strip().lower(): 0.0} | _ASIDE
    sides |= {"model_a": 1.0, "model_b": 0.0}
    if word in _TIES:
        return 0.5
    return sides.get(word, np.nan if is_missing(word) else None)
