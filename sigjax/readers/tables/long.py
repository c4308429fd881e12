"""Long tables -> sheets: one row per system and instance, or one file per system with one row per instance.

The systems are the column of `--system`, or one with a usual name (`system`, `model`, `run`, ...), or the files. The
instance ids are the column of `--id`, else one named like ids, else one that has the same names for all systems;
`--runs` tells apart several trials of the same instance. The inputs of the metric are the columns of `--counts`, or
`--score`, else those with their names; a metric with one input takes the only column of numbers that is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from sigjax.metrics import METRICS
from sigjax.readers.formats import Reading, Sheet
from sigjax.readers.join import join_sheets
from sigjax.readers.numerals import is_text
from sigjax.readers.options import Options, chosen_metric, listing, show, with_score
from sigjax.readers.table import Lazy, Nested, Table, is_numeric, is_words, label_column, number_column
from sigjax.readers.tables.refused import check_groups, check_measures, check_scores, check_turned
from sigjax.readers.tables.roles import columns_note, find_ids, fold_notes, ids_from, tells_apart, unused
from sigjax.readers.tables.vocabulary import is_id_name, is_plain_score, is_property, is_system, may_be_system
from sigjax.records import Evaluation, InputError, Metric, SampleMetric

_INPUTS = frozenset(name for metric in METRICS.values() for name in metric.inputs)
_HINT = "name the metric's columns with --counts"


def system_column(table: Table, options: Options) -> str | None:
    """The column that holds the systems of a long table, if there is one.

    Raises:
        InputError: a column is named as if it did, but the table may as well be wide.
    """
    exact = next((name for name in table.columns if name.lower() == "system"), None)
    if options.system or exact:
        return options.system or exact
    free = unused(table, options, [options.id, *(options.systems or ())])
    usual = [name for name in free if is_system(name) and len(set(table.columns[name])) > 1]
    usual = [name for name in usual if is_words(table, name) or name == free[0]]
    if not usual:
        return None if options.single else _likely_system(table, options, free)
    ids = [name for name in table.columns if name not in usual and is_id_name(name)]
    count = len(table.lines)
    repeated = [name for name in usual if any(len(set(table.columns[each])) < count for each in (name, *ids))]
    scores = _score_columns(table, [name for name in free if name not in usual])
    if len(repeated) == 1 and (len(scores) == 1 or options.score or options.counts or _INPUTS & {*free}):
        return repeated[0]
    if len(repeated) == 1 and len(scores) > 1:
        raise InputError(
            f"{table.file}: column {show(usual[0])} seems to hold the systems; which column holds the scores, "
            f"{listing(scores)}? say so with --score NAME, or give --ignore {show(usual[0])} if these are the systems"
        )
    raise InputError(
        f"{table.file}: column {show(usual[0])} seems to hold the systems, one per row; expected one row per instance "
        "and one column per system, or a long table: name its columns with --system NAME and --score NAME; give --id "
        "NAME if this one holds instance ids, or --ignore NAME"
    )


def _likely_system(table: Table, options: Options, free: Sequence[str]) -> str | None:
    """The column of systems by a name that a property may have, too, where the table cannot be wide."""
    found = [name for name in free if may_be_system(name) and is_words(table, name)]
    if {*table.columns} & {*(options.systems or ())}:
        return None  # they are columns
    if len(found) != 1 or not 1 < len(set(table.columns[found[0]])) < len(table.lines):
        return None
    scores = _score_columns(table, [name for name in free if name not in found])
    return found[0] if len(scores) == 1 or options.score or options.counts else None


def read_long(table: Table, options: Options, system: str) -> Reading:
    """The reading of a table whose column `system` holds the systems."""
    rows_of = _rows_of(label_column(table, system))
    if len(rows_of) == len(table.lines):
        check_turned(table, [name for name in table.columns if name != system])
    return _read_parts([(name, table, rows) for name, rows in rows_of.items()], options, system)


def read_several(tables: Mapping[str, Table], options: Options) -> Reading:
    """The reading of one table per system."""
    asked = (options.score, *(options.counts or {}).values())
    if options.system is not None:
        raise InputError(
            f"{next(iter(tables.values())).file}: --system is for one table of all systems, but each file is taken for "
            "one system; put the files into one table, with a column of their names, or leave --system out"
        )
    check_groups(list(tables.values()), unused(next(iter(tables.values())), options, [options.id, *asked]))
    for table in tables.values():
        names = [name for name in table.columns if name not in asked]
        if table.header is not None and not all(map(is_text, names[1:])):
            raise InputError(
                f"{table.file}, line {table.header}: the columns would be named {listing(names)}; is this a row "
                "without a header? add a line with the names of the columns"
            )
    parts = [(name, table, np.arange(len(table.lines))) for name, table in tables.items()]
    return _read_parts(parts, options, None)


def _read_parts(parts: Sequence[tuple[str, Table, np.ndarray]], options: Options, system: str | None) -> Reading:
    """The reading of the rows of each system, all in one table with a column of systems, or each in its own."""
    tables = list(dict.fromkeys(table for _, table, _ in parts))
    numbers = {table: Lazy(table.columns, partial(number_column, table, hint=_HINT)) for table in tables}
    names = {table: Lazy(table.columns, partial(_names, table)) for table in tables}

    @cache
    def join(roles: tuple[_Roles, ...]) -> Reading:
        of = dict(zip(tables, roles, strict=True))
        for table, own in of.items():
            check_measures(table, own.ids, [] if own.ids is None else names[table][own.ids], options)

        def sheet(name: str, table: Table, rows: np.ndarray) -> Sheet:
            ids, score = of[table].ids, of[table].score
            return Sheet(
                name,
                table.file,
                Lazy(
                    ["value"] if score else [each for each in table.columns if each not in (system, ids)],
                    lambda each: numbers[table][score or each][rows],
                ),
                Lazy(table.columns, lambda each: names[table][each][rows].tolist()),
                None if ids is None else names[table][ids][rows].tolist(),
                None if options.runs is None else names[table][options.runs][rows].tolist(),
                np.array(table.lines)[rows] if table.row_word == "line" else None,
                ids,
            )

        order = None
        if system is not None:  # that of the rows
            order = names[tables[0]][roles[0].ids or ""]
            order = order if options.runs is None else list(zip(order, names[tables[0]][options.runs], strict=True))
        return join_sheets([sheet(*part) for part in parts], options, order=order)

    def evaluate(options: Options) -> Evaluation:
        options = with_score(tables[0].file, options, metric := chosen_metric(options))
        roles = _roles(tables, options, metric, system)
        evaluation = join(roles)(replace(options, metric=metric))
        notes = (_note(tables[0], roles[0], options, metric, system), *fold_notes(tables[0]))
        return replace(evaluation, notes=(*notes, *evaluation.notes))

    return evaluate


def _names(table: Table, name: str) -> np.ndarray:
    return np.array(label_column(table, name), object)


def _rows_of(systems: Sequence[str]) -> dict[str, np.ndarray]:
    index = {name: k for k, name in enumerate(dict.fromkeys(systems))}
    codes = np.fromiter(map(index.__getitem__, systems), np.int64, len(systems))
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(index, rows, strict=True))


class _Roles(NamedTuple):
    """The column of instance ids, if there is one, and the only one of scores; None where they go by their names."""

    ids: str | None
    score: str | None


def _roles(
    tables: Sequence[Table], options: Options, metric: Metric | SampleMetric, system: str | None
) -> tuple[_Roles, ...]:
    counts = options.counts or {}
    inputs = [*counts.values(), *(counts.get(name, name) for name in metric.inputs)]
    free = [
        [
            name
            for name in unused(table, options, [system, *inputs])
            if not isinstance(table.columns[name], Nested) and not (system is None and is_system(name))
        ]
        for table in tables
    ]
    groups: list[Sequence[str]] = [() if system is None else label_column(table, system) for table in tables]
    ids = [
        options.id or _named_ids(table, names, own, options)
        for table, names, own in zip(tables, free, groups, strict=True)
    ]
    if all(each is None for each in ids):
        known = _unnamed_ids(tables, free[0], groups, options)
        if known is None and system is not None:
            listed = listing(tables[0].columns)
            raise InputError(f"{tables[0].file}: no column is left for the instance ids; columns: {listed}")
        ids = [known] * len(tables)
    only, *others = metric.inputs
    if options.counts or others or any(only in each.columns for each in tables):
        return tuple(_Roles(each, None) for each in ids)
    scores = [_score(table, names, own) for table, names, own in zip(tables, free, ids, strict=True)]
    usual = next((name for name in scores if name is not None), None)  # a typing error makes a column text
    scores = [
        usual if name is None and usual in each.columns else name for name, each in zip(scores, tables, strict=True)
    ]
    if usual is not None and set(scores) == {usual}:
        check_scores(tables, usual, ids, groups, [name for name in free[0] if name not in ids])
    return tuple(map(_Roles, ids, scores))


def _named_ids(table: Table, free: Sequence[str], groups: Sequence[str], options: Options) -> str | None:
    first = [name for name in free[:1] if is_id_name(name) or is_words(table, name)]
    return find_ids(table, options, first, free, groups)


def _unnamed_ids(
    tables: Sequence[Table], free: Sequence[str], groups: Sequence[Sequence[str]], options: Options
) -> str | None:
    """The column that tells apart the rows of each system and differs the least between systems: others are scores.

    Files without ids are joined by position, so that they need the same ids.
    """
    if len(free) < 2 and not any(groups):
        return None
    most = max(len(table.lines) for table in tables)
    distinct = {
        name: len({cell for table in tables for cell in table.columns[name]})
        for name in free
        if all(name in table.columns for table in tables)
        and all(tells_apart(table, name, options, own) for table, own in zip(tables, groups, strict=True))
    }
    fewest = min(distinct, key=distinct.__getitem__, default=None)
    if any(groups):
        return fewest if fewest is not None and len(free) > 1 else next(iter(free), None)
    return fewest if fewest is not None and distinct[fewest] == most else None


def _score(table: Table, free: Sequence[str], ids: str | None) -> str | None:
    """The only column of numbers that is left, for a metric with one input that is nowhere named."""
    numeric = _score_columns(table, [name for name in free if name != ids])
    return numeric[0] if len(numeric) == 1 else None


def _score_columns(table: Table, free: Sequence[str]) -> list[str]:
    """The columns that may hold the scores: named so, else of numbers that are named like nothing else."""
    numeric = [name for name in free if is_numeric(table.columns[name])]
    for chosen in ([n for n in numeric if is_plain_score(n)], [n for n in numeric if not is_property(n)]):
        if len(chosen) == 1:
            return chosen
    return numeric


def _note(table: Table, roles: _Roles, options: Options, metric: Metric | SampleMetric, system: str | None) -> str:
    counts = options.counts or {}
    scores = [roles.score] if roles.score else [counts.get(name, name) for name in metric.inputs]
    about = {"systems": "are the files" if system is None else f"from column {show(system)}"}
    about |= {"instance ids": ids_from(roles.ids), "scores": f"from {listing(scores)}"}
    others = unused(table, options, [system, roles.ids, *scores])
    return columns_note(about, others, "system, id, score")
