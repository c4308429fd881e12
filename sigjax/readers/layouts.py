"""Turn tables into sheets: a table is wide, long, or a table of battles; other layouts are refused.

**Wide**: one row per instance, one column per system. `roles` decides which columns are the systems and the ids.

**Long**: one row per system and instance, or one file per system with one row per instance. The systems are in the
column of `--system-column`, or in a column with a usual name (`system`, `model`, `run`, ...). If there is one file per
system, the files are the systems. The ids are in the column of `--id-column`. Without this option, they are in a column
that is named like ids, else in a column with the same values for all systems. `--runs` names the column that
distinguishes several runs of the same instance. The inputs of the metric are the columns of `--counts` or
`--score-column`, else the columns with the inputs' names. A metric with one input takes the only remaining column of
numbers.

**Battles**: one row per battle, with `model_a`, `model_b` and `winner`, as Chatbot Arena writes them. A battle is an
instance of its two systems only. The winner gets 1 and the loser 0; in a tie, both get 1/2. So a system's mean is its
win rate. The delta of a pair is the difference of the two win rates in the battles between these systems. The
permutation test swaps the two results of a battle: if both systems are equally good, a fair coin decides who wins.
Without ties this is the sign test.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import sigjax.readers.lexicon as lexicon
import sigjax.readers.roles as roles
from sigjax.metrics import CLASS_METRICS, MEAN, METRICS, canonical, known_metric
from sigjax.readers.evidence import (
    Question,
    Role,
    TableReading,
    answered,
    ids_from,
    note_reading,
    role,
    step_notes,
    unused,
    with_parts,
)
from sigjax.readers.join import Reading, Sheet, Sources, directed, join_sheets, refuse_texts
from sigjax.readers.options import (
    ROWS,
    Options,
    check_named,
    chosen_metric,
    listing,
    name_systems,
    quote,
    select_systems,
)
from sigjax.readers.predictions import OF_NUMBERS, label_columns, read_labelled, with_gold
from sigjax.readers.rows import (
    NO_HEADER,
    direction_of,
    join_tables,
    named_column,
    named_measure,
    numbered,
    read_long,
    read_rows,
    read_several,
    reshape_table,
    score_columns,
    sheet_of,
)
from sigjax.readers.table import DataTable, LazyColumns, is_missing, is_text, locate, number_column
from sigjax.records import EvaluationRecord, Hint, InputError, Line
from sigjax.run.files import is_file

MOST_SYSTEMS = 10_000
"""Largest number of systems in a wide table. If a table has more columns, its rows and columns are probably
exchanged."""
_UNUSED_COLUMN = (
    f"a column that is not a system is left out with {Hint('ignore', 'NAME')} or used with {Hint('cluster', 'NAME')} "
    f"or {Hint('strata', 'NAME')}"
)


def read_tables(parse: Callable[..., DataTable], sources: Sources, options: Options) -> Reading:
    """Read one table with all systems, or one table per system.

    `parse` reads a file as a table. Its argument `alone` says whether the file holds all systems.
    """
    if not sources.systems:
        table = parse(sources.files[0], options, alone=True)
        (table,), options = _with_gold(parse, [table], options)
        return read_table(table, options)
    return _read_or_ask(partial(_read_files, parse, sources), options)


def _read_or_ask(read: Callable[[Options], Reading], options: Options) -> Reading:
    """Read a table with the function `read`. If its layout is unclear, raise an error that proposes options.

    sigjax first reads the table with each option, so that the error can say which systems and rows would be compared.
    """

    def ask(question: Question, given: Options) -> InputError:
        return answered(question, lambda changed: read(changed)(replace(changed, metric=given.metric)), given)

    try:
        with lexicon.using(options.lexicon):
            reading = read(options)
    except Question as question:
        if options.tried:
            raise
        raise ask(question, options) from None

    def evaluate(given: Options) -> EvaluationRecord:
        try:
            with lexicon.using(options.lexicon):
                return reading(given)
        except Question as question:
            if options.tried:
                raise
            raise ask(question, given) from None

    return evaluate


def _read_files(parse: Callable[..., DataTable], sources: Sources, options: Options) -> Reading:
    """Read one file per system; if each file holds the same systems, read the files as one table.

    `parse` reads a file as a table.
    """
    chosen = sources.systems if options.system_column else sources.chosen(options)
    tables = {name: parse(file, options, alone=False) for name, file in chosen.items()}
    labelled, options = _with_gold(parse, [*tables.values()], options)
    tables = dict(zip(tables, labelled, strict=True))
    if found := join_tables(tables, options):
        table, own, notes = found
        return _with_options(read_table(table, own), own, notes)
    made = [reshape_table(table, options) for table in tables.values()]
    own, notes = made[0][1:]
    notes = (*(note for table in [*tables.values()][1:] for note in table.notes), *notes)
    tables = dict(zip(tables, (table for table, _, _ in made), strict=True))
    for table in tables.values():
        check_columns(table, own)
    return _with_options(read_several(tables, own), own, notes)


def _with_options(reading: Reading, own: Options, notes: Sequence[str]) -> Reading:
    """Return a reading that takes only the metric from the options that it gets later; `own` are its other options.

    `notes` are put before the notes of the evaluation.
    """

    def evaluate(options: Options) -> EvaluationRecord:
        evaluation = reading(replace(own, metric=options.metric))
        if own.direction != options.direction:  # known from the names of rows, which are now columns
            evaluation = directed(evaluation, own)
        return replace(evaluation, notes=(*notes, *evaluation.notes))

    return evaluate


def _with_gold(
    parse: Callable[..., DataTable], tables: Sequence[DataTable], options: Options
) -> tuple[Sequence[DataTable], Options]:
    """If `--gold` is a file and not a column, add its gold labels to the tables; return the tables and the options.

    `parse` reads a file as a table.
    """
    if options.gold is None or any(options.gold in table.columns for table in tables) or not is_file(options.gold):
        return tables, options
    gold = parse(options.gold, options, alone=True)
    (first, *others), options = with_gold(tables, gold, options)
    return [replace(first, notes=(*gold.notes, *first.notes)), *others], options


def read_table(table: DataTable, options: Options) -> Reading:
    """Read a table with all systems.

    It is read as gold labels and predictions, as battles, or as a long table (if a column holds the systems); else as a
    wide table.
    """
    return _read_or_ask(partial(_read_table, table), options)


def _read_table(table: DataTable, options: Options) -> Reading:
    table, options, notes = reshape_table(table, options)
    check_columns(table, options)
    if labels := label_columns(table, options):
        check_named(table.file, "runs", [options.runs], table.columns)
        reading = read_labelled({"": (table, labels)}, options)
    elif options.systems is not None:
        reading = _read_wide(table, options)
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
    """Refuse options that name columns which do not exist, and options that contradict `systems`."""
    check_named(table.file, "ignore", options.ignore, table.columns)
    check_named(table.file, "systems", options.systems or (), table.columns)
    if options.systems is not None and (others := [o for o in _NOT_WIDE if getattr(options, o)]):
        told = f"{Hint('systems')} names a column for each system, and {Hint(others[0])} is for tables of other shapes"
        raise InputError(f"{table.file}: {told}; leave one of them out")
    for option in ("id_column", "runs", "system_column", "score_column"):
        known = (*table.columns, ROWS) if option == "runs" else table.columns
        check_named(table.file, option, [getattr(options, option)], known)


_NOT_WIDE = ("system_column", "score_column", "counts", "gold", "prediction")


def _read_wide(table: DataTable, options: Options) -> Reading:
    @cache
    def columns() -> TableReading:
        return _wide_columns(table, options)

    @cache
    def join(reading: TableReading) -> Reading:
        (id_column,) = reading.id.columns or (None,)
        if id_column is None and options.runs is not None:
            how = f"name the ids with {Hint('id_column', 'NAME')}"
            raise InputError(f"{table.file}: {Hint('runs')}: which runs are of the same instance? {how}")
        ids = table.row_numbers() if id_column is None else table.names[id_column]
        roles.check_measures(table, id_column, options)
        systems = reading.system.columns
        runs = None if options.runs == ROWS and ROWS not in table.columns else options.runs

        def sheet(name: str) -> Sheet:
            numbers = LazyColumns(["value"], lambda _: number_column(table, name, hint=_UNUSED_COLUMN))
            return replace(sheet_of(name, table, numbers, ids, id_column, runs), reading=reading)

        unit = options.cluster or (options.runs and id_column)
        counted = [name for name in reading.ignored if lexicon.is_step(name)] if id_column is None else [id_column]
        steps = step_notes(next(iter(counted), None))
        notes = (*steps, reading.note(), *roles.table_notes(table, systems, unit))
        sheets = list(map(sheet, systems))
        sheets = numbered(sheets) if runs is None and options.runs is not None else sheets
        return join_sheets(sheets, options, notes=notes)

    one = read_rows([(next(iter(name_systems([table.file])[0])), table, None)], options, None)

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
        reading = columns()
        metrics = {tuple(lexicon.metrics_in(name)) for name in reading.system.columns}
        of = [metrics.pop()[0]] if len(metrics) == 1 and () not in metrics else []
        of = of or named_measure([table], options, reading.system.columns)
        metric, direction = direction_of(table.file, metric, of, options)
        reading = replace(reading, metric=metric.name, direction=direction)
        evaluation = join(reading)(replace(options, metric=metric))
        note_reading(options, reading)
        return evaluation

    return evaluate


def _is_of_one_system(table: DataTable, options: Options) -> bool:
    """Whether a table holds one system: its columns are the metric's inputs, or a column has the metric's name.

    Such a table is refused if the user asked for a comparison.
    """
    if options.only is not None or options.systems is not None:  # systems are columns
        return False
    column, counts = named_column([table], [*table.columns], options), options.counts or {}
    if column is None and options.score_column is None:
        metric = options.metric if not isinstance(options.metric, str) else known_metric(options.metric)
        names, optional = getattr(metric, "inputs", tuple(counts)), getattr(metric, "optional_inputs", ())
        if len(names) < 2 and not counts:
            return False
        if not all(counts.get(name, name) in table.columns for name in names if name not in optional):
            return False
    if options.single or options.score_column is not None or counts:
        return options.single
    what = f"column {quote(column)} has the name" if column else "columns are the inputs"
    raise InputError(
        f"{table.file}: {what} of the metric, so the table holds one system, and a comparison needs at least two; give "
        "one such file per system (sigjax one-sample scores one)"
    )


def _wide_columns(table: DataTable, options: Options) -> TableReading:
    """Decide on the roles of the columns in a wide table."""
    if options.only is None and options.systems is None and (count := len(unused(table, options))) > MOST_SYSTEMS:
        raise InputError(
            f"{table.file}: has {count} columns of systems, expected at most {MOST_SYSTEMS}: one row per instance and "
            f"one column per system; exchange rows and columns ({Hint('transpose')}), or name some: {Hint('only')}"
        )
    id_column, systems, others = roles.wide_roles(table, options)
    known = systems if options.only is None else options.systems or unused(table, options, [id_column])
    systems = select_systems(table.file, known, options)
    told = options.systems is not None or options.only is not None
    named = options.id_column is not None or told or lexicon.is_id_name(id_column)
    if table.header is not None and not named and not any(map(is_text, systems)):
        where, right = Line(table.file, table.header), f"or give {Hint('only')} with these names if they are right"
        raise InputError(f"{where}: the systems would be named {listing(systems)}; {NO_HEADER}, {right}")
    if not told:
        roles.check_turned(table, systems)
        roles.check_runs(table, systems)
    reading = TableReading(
        layout="wide",
        system=role(systems, told, phrase=listing(systems, roles.SHOWN)),
        id=role(
            [] if id_column is None else [id_column],
            options.id_column,
            named=lexicon.is_id_name(id_column),
            phrase=ids_from(id_column),
        ),
        run=role([options.runs] if options.runs else [], told=True),
        cluster=role([options.cluster] if options.cluster else [], told=True),
        ignored=tuple(others),
        options="id_column, systems, ignore",
    )
    return with_parts(reading, id_column, options.runs)


_INPUTS = frozenset(name for metric in METRICS.values() for name in metric.inputs)


def system_column(table: DataTable, options: Options) -> str | None:
    """Find the column that holds the systems of a long table, by an option or its name; None if the table is not long.

    If several columns may hold the systems, the user is asked.
    """
    exact = next((name for name in table.columns if name.lower() == "system"), None)
    if options.system_column or exact:
        free = unused(table, options)
        told = options.system_column or options.id_column or options.score_column or options.counts
        if not (told or options.single) and exact in free and _one_row_each(table, free) == exact:
            roles.check_turned(table, [name for name in table.columns if name != exact])
            raise _systems_in_rows(table, exact or "", options)
        return options.system_column or exact
    free = unused(table, options, [options.id_column, *(options.only or ())])
    usual = [name for name in free if lexicon.is_system(name) and len(set(table.columns[name])) > 1]
    worded = any(lexicon.may_be_system(name) and table.columns[name].is_words() for name in free)
    usual = [
        name
        for name in usual
        if table.columns[name].is_words() or (name == free[0] and not worded and not lexicon.is_trial(name))
    ]
    if not usual:
        return None if options.single else _likely_system(table, options, free)
    usual = _without_other_names(table, usual)
    ids = [name for name in table.columns if name not in usual and lexicon.is_id_name(name)]
    count = len(table.lines)
    repeated = [name for name in usual if any(len(set(table.columns[each])) < count for each in (name, *ids))]
    scores = score_columns(table, [name for name in free if name not in usual])
    if len(repeated) == 1 and lexicon.is_group(repeated[0]):
        repeated = _without_other_names(table, [*_repeated_labels(table, free), *repeated])
    if len(repeated) == 1 and (len(scores) == 1 or options.score_column or options.counts or _INPUTS & {*free}):
        return repeated[0]
    if len(repeated) > 1:
        raise Question(
            f"{table.file}: which column holds the systems, {listing(repeated)}?",
            [{"system_column": name} for name in repeated],
        )
    if len(repeated) == 1 and len(scores) > 1:
        raise _which_scores(table, repeated[0], scores)
    raise _systems_in_rows(table, usual[0], options)


def _systems_in_rows(table: DataTable, name: str, options: Options) -> Question:
    """Make the question about a table with one row per system; the column `name` holds the systems.

    The other columns may be instances (data sets) or metrics.
    """
    numeric = [each for each in unused(table, options, [name]) if table.columns[each].is_numeric()]
    against = {each: "property" if lexicon.is_property(each) else lexicon.speaks_against(each) for each in numeric}
    instances = [each for each, kind in against.items() if kind is None]
    if not instances and len(groups := roles.of_one_metric([n for n in numeric if against[n] == "metric"])) == 1:
        instances = groups[0]
    ignored = [each for each in numeric if each not in instances]
    if len(instances) < 2 or any(against[each] in ("metric", "score") and not _is_mean(each) for each in ignored):
        return Question(
            f"{table.file}: column {quote(name)} seems to hold the systems, one per row; expected one row per instance "
            "and one column per system, or a row per system and instance: a test takes results on several instances, "
            "and not their mean",
            otherwise=f"{Hint('transpose')} if columns are instances, {Hint('id_column', quote(name))} if rows are",
        )
    turned: dict[str, Any] = {"transpose": True}
    if ignored:
        turned["ignore"] = [*options.ignore, *ignored]
    return Question(
        f"{table.file}: column {quote(name)} seems to hold the systems, one per row; expected one row per instance and "
        "one column per system, or a row per system and instance",
        [turned, {"id_column": name}] if lexicon.is_group(name) else [turned],
        f"{Hint('transpose')} takes columns of numbers as instances; {Hint('id_column', quote(name))} takes rows",
    )


def _is_mean(name: str) -> bool:
    """Whether a column is named like a mean, such as "Avg. WER"."""
    return any(map(lexicon.is_mean, lexicon.words_of(name)))


def _which_scores(table: DataTable, system: str, scores: Sequence[str]) -> Question:
    """Make the question about a long table with several columns of numbers: which of them holds the scores?

    The column `system` holds the systems, and `scores` are the columns of numbers.
    """
    named = [name for name in scores if lexicon.is_score(name) and not lexicon.lexicon().is_cost(name)]
    return Question(
        f"{table.file}: column {quote(system)} seems to hold the systems; which column holds the scores, "
        f"{listing(scores)}?",
        [{"system_column": system, "score_column": name} for name in named or scores],
        f"{Hint('ignore', quote(system))} if these are the systems",
        needed=True,
    )


def _without_other_names(table: DataTable, names: Sequence[str]) -> list[str]:
    """Return `names` without columns that name the same systems in another way (of model and model_id, keep model)."""
    kept: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        codes: dict[str, int] = {}
        kept.setdefault(tuple(codes.setdefault(cell, len(codes)) for cell in table.columns[name]), []).append(name)
    return [min(own, key=lambda name: (not lexicon.is_system(name), len(name))) for own in kept.values()]


def _likely_system(table: DataTable, options: Options, free: Sequence[str]) -> str | None:
    """Find a column of systems by a name that may also mean a property of instances; None if the table may be wide.

    `free` lists the columns that have no role yet.
    """
    if {*table.columns} & {*(options.only or ())}:
        return None  # systems are columns
    found = _without_other_names(table, _repeated_labels(table, free))
    scores = score_columns(table, [name for name in free if name not in found])
    is_scored = len(scores) == 1 or bool(options.score_column or options.counts)
    if len(found) > 1 and is_scored:
        raise Question(
            f"{table.file}: which column holds the systems, {listing(found)}?",
            [{"system_column": name} for name in found],
        )
    if len(found) == 1 and not is_scored and len(scores) > 1 and any(map(lexicon.speaks_against, scores)):
        raise _which_scores(table, found[0], scores)
    if not found and options.id_column is None and (alone := _one_row_each(table, free)):
        raise _systems_in_rows(table, alone, options)
    return found[0] if len(found) == 1 and is_scored else None


def _repeated_labels(table: DataTable, free: Sequence[str]) -> list[str]:
    """Find columns among `free` whose names may mean systems, or a property of instances.

    The columns must hold at least two distinct words, and some word must occur in several rows.
    """
    found = [name for name in free if lexicon.may_be_system(name) and not lexicon.is_system(name)]
    found = [name for name in found if table.columns[name].is_words()]
    return [name for name in found if 1 < len(set(table.columns[name])) < len(table.lines)]


def _one_row_each(table: DataTable, free: Sequence[str]) -> str | None:
    """Find the only column among `free` whose name may mean systems and that has a different word in each row.

    None if there is no such column, if the name of another column means ids (not row numbers), or if there are fewer
    than two columns of numbers.
    """
    words = [name for name in free if table.columns[name].is_words() and not lexicon.is_text_name(name)]
    unique = [name for name in words if len({*table.columns[name]}) == len(table.lines) > 1]
    found = [name for name in unique if lexicon.may_be_system(name)]
    named = any(lexicon.is_id_name(name) and not lexicon.is_numbering(name) for name in free)
    numeric = [name for name in free if table.columns[name].is_numeric()]
    return found[0] if len(found) == 1 and len(numeric) > 1 and not named else None


WIN_RATE = "win_rate"
_SIDES = [re.compile(rf"(model|system|player|bot)[_ ]?(name[_ ]?)?({side})") for side in ("a|1", "b|2")]
_WINNERS = ("winner", "win", "preference", "verdict")
_SPLIT = ("winner_model_a", "winner_model_b", "winner_tie")
"""Three columns that may replace the column of winners. In each row, one of them is 1, and the other two are 0."""
_COUNTS = ("wins", "losses", "ties")
_TIES = frozenset(("tie", "tied", "draw", "both", "neither", "bothbad", "both_bad", "tie (bothbad)", "tie(bothbad)"))
_ASIDE = {"a": 1.0, "b": 0.0, "1": 1.0, "2": 0.0, "left": 1.0, "right": 0.0}


def battle_columns(table: DataTable, *, counts: bool = False) -> list[str]:
    """Find the columns of battles: the columns of the two systems, then the column of winners.

    Three columns (winner_model_a, winner_model_b, winner_tie) may replace the column of winners. If `counts` is true,
    the columns wins, losses and ties (or only wins and losses) may also replace it. The result is empty if the table
    has no such columns, or if the columns of the systems hold numbers.

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
    """The battles between the systems to compare.

    Attributes:
        systems: the names of the systems.
        rows: `[battle]` the row of the table.
        a: `[battle]` the first system, as an index into `systems`.
        b: `[battle]` the second system, as an index into `systems`.
        outcomes: `[battle, 3]` the numbers of wins, ties and losses of the first system.
        left_out: notes on battles that were left out.
    """

    systems: tuple[str, ...]
    rows: np.ndarray
    a: np.ndarray
    b: np.ndarray
    outcomes: np.ndarray
    left_out: tuple[str, ...]


def battle_rows(table: DataTable, columns: Sequence[str], options: Options) -> BattleRows:
    """Return the battles of a table between the systems to compare. `columns` is the result of `battle_columns`."""
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
    """Read battles; each system gets a sheet with its results in its battles."""
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
        sheets.append(sheet_of(name, table, numbers, ids, None, rows=rows[own]))
    sides = Role((columns[0], columns[1]), "named", f"{quote(columns[0])} and {quote(columns[1])}")
    winners = Role(tuple(columns[2:]), "named", f"from {listing(columns[2:])}")
    how = TableReading(
        layout="battles",
        system=Role(phrase=listing(systems, roles.SHOWN)),
        id=role([options.id_column] if options.id_column else [], told=True, phrase=ids_from(options.id_column)),
        metric=WIN_RATE,
        others=(("battles of", sides), ("winners", winners)),
        options="id_column, only",
    )
    sheets = [replace(sheet, reading=how) for sheet in sheets]
    means = (
        f"{ties:,} of {len(values):,} battles are ties, which count half; a system is scored on all its battles, "
        "whoever the others are, and a pair on its own: there a win rate of 1/2 is a delta of 0"
    )
    notes = (how.note(), *left_out, means)
    reading = join_sheets(sheets, replace(options, missing="pairwise"), scores=True, order=ids[rows])

    def evaluate(options: Options) -> EvaluationRecord:
        if options.metric in (MEAN.name, WIN_RATE):
            options = replace(options, metric=WIN_RATE)
        else:
            refuse_texts(table.file, chosen_metric(options), {}, ())
        return replace(reading(replace(options, missing="pairwise")), notes=notes)

    return evaluate


def _results(table: DataTable, columns: Sequence[str]) -> np.ndarray:
    """Return the score `[row]` of the first system in each battle: 1, 1/2 or 0; NaN if no winner is given.

    `columns` are the columns of the two systems, then the columns of the winners.
    """
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
    """Return the score `[row]` of the first system in each battle: 1, 1/2 or 0.

    It is read from the three columns winner_model_a, winner_model_b and winner_tie, one of which is 1 in each row.
    """
    marks = np.array([number_column(table, name, hint="expected 0 or 1") for name in names])
    empty = np.isnan(marks).any(axis=0)
    wrong = np.flatnonzero(~empty & ~(np.isin(marks, (0, 1)).all(axis=0) & (marks.sum(axis=0) == 1)))
    if wrong.size:
        raise InputError(f"{locate(table, int(wrong[0]), names[0])}: expected 1 in one of {listing(names)}, else 0")
    return np.where(empty, np.nan, marks[0] + 0.5 * marks[2])


def _result(cell: str, first: str, second: str) -> float | None:
    """Translate a word of the column of winners into the score of the first system; None if the word is unknown.

    The word may be the name of the column `first` or `second`. If the word means a missing winner, the score is NaN.
    """
    word = cell.strip().lower()
    sides: Mapping[str, float] = {first.strip().lower(): 1.0, second.strip().lower(): 0.0} | _ASIDE
    sides |= {"model_a": 1.0, "model_b": 0.0}
    if word in _TIES:
        return 0.5
    return sides.get(word, np.nan if is_missing(word) else None)
