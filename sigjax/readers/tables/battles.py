"""Tables of pairwise battles, one row each: `model_a`, `model_b` and `winner`, as Chatbot Arena writes them.

A battle is an instance that only its two systems have: the winner gets 1 and the other one 0, or each gets 1/2 in a
tie. So the win rate of a system is its mean, delta of a pair is its win rate minus that of the other in their own
battles, and swapping the two results of a battle, as the permutation test does, is what a coin decides where both are
equally good: the sign test, where nothing is tied.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sigjax.readers.formats import Reading, Sheet
from sigjax.readers.join import join_sheets
from sigjax.readers.numerals import is_missing
from sigjax.readers.options import Options, listing, select_systems, show
from sigjax.readers.table import Lazy, Nested, Table, is_words, label_column, number_column, place
from sigjax.readers.tables.refused import SHOWN
from sigjax.readers.tables.roles import columns_note, ids_from
from sigjax.records import Evaluation, InputError

WIN_RATE = "win_rate"
_SIDES = [re.compile(rf"(model|system|player|bot)[_ ]?(name[_ ]?)?({side})") for side in ("a|1", "b|2")]
_WINNERS = ("winner", "win", "preference", "verdict")
_SPLIT = ("winner_model_a", "winner_model_b", "winner_tie")
"""Three columns in place of one, of which a row has 1 in one and 0 in the others."""
_TIES = frozenset(("tie", "tied", "draw", "both", "neither", "bothbad", "both_bad", "tie (bothbad)", "tie(bothbad)"))
_ASIDE = {"a": 1.0, "b": 0.0, "1": 1.0, "2": 0.0, "left": 1.0, "right": 0.0}


class Columns(NamedTuple):
    """The columns of a table of battles."""

    a: str
    b: str
    winner: tuple[str, ...]
    """One, or the three of `_SPLIT`."""


def battle_columns(table: Table) -> Columns | None:
    """The columns of a table of battles; None where the table is none, or its sides hold numbers.

    Example:
        >>> columns = {"question_id": ["1"], "model_a": ["x"], "model_b": ["y"], "winner": ["tie"]}
        >>> battle_columns(Table("t.csv", columns, [2]))
        Columns(a='model_a', b='model_b', winner=('winner',))
        >>> battle_columns(Table("t.csv", columns | {"model_a": ["0.5"]}, [2]))
    """
    lower = {name.strip().lower(): name for name in table.columns}
    sides = [[own for low, own in lower.items() if side.fullmatch(low)] for side in _SIDES]
    if any(len(own) != 1 or not is_words(table, own[0]) for own in sides):
        return None
    if all(name in lower for name in _SPLIT):
        winner = tuple(lower[name] for name in _SPLIT)
    else:
        winner = tuple(lower[name] for name in _WINNERS if name in lower)[:1]
    return Columns(sides[0][0], sides[1][0], winner) if winner else None


def read_battles(table: Table, columns: Columns, options: Options) -> Reading:
    """The reading of battles: a sheet of each system has its own."""
    for option in ("runs", "score", "counts"):
        if getattr(options, option):
            raise InputError(f"{table.file}: --{option} means nothing for battles of two systems; leave it out")
    sides = [label_column(table, name) for name in (columns.a, columns.b)]
    names = list(dict.fromkeys(name for pair in zip(*sides, strict=True) for name in pair))
    systems = select_systems(table.file, names, options)
    values = _results(table, columns, sides)
    chosen = {name: k for k, name in enumerate(systems)}
    a, b = (np.array([chosen.get(name, -1) for name in side]) for side in sides)
    among = (a >= 0) & (b >= 0)
    rows = np.flatnonzero(among & (a != b) & ~np.isnan(values))
    empty = np.flatnonzero(among & (a != b) & np.isnan(values))
    if empty.size and options.missing != "drop":
        raise InputError(
            f"{place(table, int(empty[0]), columns.winner[0])}: has no winner; use --missing drop to leave such "
            "battles out"
        )
    ids = [str(row + 1) for row in range(len(values))] if options.id is None else label_column(table, options.id)
    labels = Lazy(table.columns, lambda name: label_column(table, name))
    lines = table.lines if table.row_word == "line" else None

    def sheet(system: int) -> Sheet:
        own = rows[(a[rows] == system) | (b[rows] == system)]
        numbers = {WIN_RATE: np.where(a[own] == system, values[own], 1.0 - values[own])}
        at: list[int] = own.tolist()
        own_labels = Lazy(table.columns, lambda name: [labels[name][row] for row in at])
        own_lines = None if lines is None else [lines[row] for row in at]
        return Sheet(systems[system], table.file, numbers, own_labels, [ids[row] for row in at], lines=own_lines)

    sheets = list(map(sheet, range(len(systems))))
    for each in sheets:
        if not each.num_rows:
            raise InputError(
                f"{table.file}: system {show(each.system)} has no battle to take; leave it out (--systems)"
            )
    notes = _notes(columns, options, systems, values[rows], int(empty.size), int((among & (a == b)).sum()))
    reading = join_sheets(
        sheets, replace(options, missing="pairwise"), scores=True, order=[ids[row] for row in rows.tolist()]
    )

    def evaluate(options: Options) -> Evaluation:
        if options.metric == "mean":
            options = replace(options, metric=WIN_RATE)
        return replace(reading(replace(options, missing="pairwise")), notes=notes)

    return evaluate


def _notes(
    columns: Columns, options: Options, systems: Sequence[str], values: np.ndarray, empty: int, alone: int
) -> tuple[str, ...]:
    """What was read, what was left out, and what scores mean."""
    about = {"battles of": f"{show(columns.a)} and {show(columns.b)}", "winners": f"from {listing(columns.winner)}"}
    about |= {"ids": ids_from(options.id), "systems": listing(systems, SHOWN)}
    notes = [columns_note(about, (), "id, systems")]
    left_out = ((empty, "battles without a winner"), (alone, "battles of a system against itself"))
    notes += [f"left out {what}: {count:,}" for count, what in left_out if count]
    ties = int(np.count_nonzero(values == 0.5))
    notes.append(
        f"{ties:,} of {len(values):,} battles are ties, which count half; a system is scored on all its battles, "
        "whoever the others are, and a pair on its own: there a win rate of 1/2 is a delta of 0"
    )
    return tuple(notes)


def _results(table: Table, columns: Columns, sides: Sequence[Sequence[str]]) -> np.ndarray:
    """What the first system of each battle gets `[row]`: 1, 1/2 or 0; NaN where there is no winner."""
    if len(columns.winner) == 3:
        return _split_results(table, columns.winner)
    cells = table.columns[columns.winner[0]]
    if isinstance(cells, Nested):
        raise InputError(f"{table.file}, column {show(columns.winner[0])}: expected winners, got lists or objects")
    given = list(cells)
    known = {cell: _result(cell, columns) for cell in dict.fromkeys(given)}
    values = np.empty(len(given))
    for row, (cell, a, b) in enumerate(zip(given, *sides, strict=True)):
        value, name = known[cell], cell.strip()
        if a != b and name in (a, b):
            named = float(name == a)
            if value not in (None, named):
                raise InputError(
                    f"{place(table, row, columns.winner[0])}: {show(cell)} names a side, and the system of the other "
                    f"side; write {columns.a} or {columns.b}"
                )
            value = named
        if value is None:
            raise InputError(
                f"{place(table, row, columns.winner[0])}: expected {columns.a}, {columns.b}, tie, or the name of one "
                f"of the two, got {show(cell)}"
            )
        values[row] = value
    return values


def _split_results(table: Table, names: Sequence[str]) -> np.ndarray:
    """The same from the three columns of `_SPLIT`."""
    marks = np.array([number_column(table, name, hint="expected 0 or 1") for name in names])
    empty = np.isnan(marks).any(axis=0)
    wrong = np.flatnonzero(~empty & ~(np.isin(marks, (0, 1)).all(axis=0) & (marks.sum(axis=0) == 1)))
    if wrong.size:
        raise InputError(
            f"{place(table, int(wrong[0]), names[0])}: expected 1 in one of {listing(names)}, and 0 in the others"
        )
    return np.where(empty, np.nan, marks[0] + 0.5 * marks[2])


def _result(cell: str, columns: Columns) -> float | None:
    """What a winner says that names a side, or none; None where it says something else."""
    word = cell.strip().lower()
    sides: Mapping[str, float] = {columns.a.strip().lower(): 1.0, columns.b.strip().lower(): 0.0} | _ASIDE
    sides |= {"model_a": 1.0, "model_b": 0.0}
    if word in _TIES:
        return 0.5
    return sides.get(word, np.nan if is_missing(word) else None)
