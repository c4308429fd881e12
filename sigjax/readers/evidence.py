"""Find the role of each column of a table (ids, systems, scores, ...), with the evidence for it.

There are three kinds of evidence for a role: "told" (an option names the column), "named" (the lexicon knows the
column's name) and "shaped" (the column's values fit the role). If the roles are unclear, a `Question` proposes options.
For each option, it says which systems and rows would be compared. In this module, "refuse" means: raise an
`InputError`.

**Ids** join the rows of systems. An option names their column. Without the option, it is a column that is named like
ids, or a column of words that are unique in each system and common to the systems. A column that counts rows is used
only if there is no other column. The steps of a run are refused as instances.

**Derived columns** follow from other columns: they are the mean, sum or difference of other columns, their ranks, 1
minus a column, or a column in another unit. A derived column is not a system. As a system, it would be compared with
the columns from which it was computed. Columns whose ranges do not overlap may belong to different metrics.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

import sigjax.readers.lexicon as lexicon
from sigjax.readers.lexicon import (
    is_fold,
    is_id_name,
    is_numbering,
    is_only_predicted,
    is_order,
    is_property,
    is_step,
    is_sure_id,
    is_text_name,
    is_trial,
    may_be_system,
)
from sigjax.readers.options import Options, listing, quote
from sigjax.readers.table import DataTable
from sigjax.records import EvaluationRecord, Hint, InputError, Message

Evidence = Literal["told", "named", "shaped"]
SHOWN = 4
LAYOUTS = {
    "wide": "one row per instance, one column per system",
    "long": "one row per system and instance",
    "files": "one table per system",
    "predictions": "gold labels and predictions",
    "battles": "battles of two systems",
}
"""Name of a layout -> its description."""


@dataclass(frozen=True)
class Role:
    """The columns that have a role, and the evidence for it.

    Attributes:
        columns: the names of the columns; empty if no column has the role.
        evidence: "told" (by an option), "named" (by the lexicon) or "shaped" (by the values of the columns).
        phrase: what a note says about the role. If it is empty, the note lists the columns.
    """

    columns: tuple[str, ...] = ()
    evidence: Evidence = "shaped"
    phrase: str = ""

    def __str__(self) -> str:
        """Return what a note says about the role, such as "from column 'id'"."""
        return self.phrase or f"from {'column ' * (len(self.columns) == 1)}{listing(self.columns, SHOWN)}"


def role(names: Sequence[str], told: object = None, *, named: bool = False, phrase: str = "") -> Role:
    """Make the role of the columns `names`, and grade the evidence for it.

    The evidence is "told" if `told` is true (an option names the columns), else "named" if `named` is true (the lexicon
    knows their names), else "shaped" (only their values fit the role). `phrase` is what a note says about the role.
    """
    return Role(tuple(names), "told" if told else "named" if named else "shaped", phrase)


@dataclass(frozen=True, kw_only=True)
class TableReading:
    """How a table is read: its layout and the roles of its columns.

    Attributes:
        layout: "wide" (a column per system), "long" (a column of systems), "files" (one table per system),
            "predictions" or "battles".
        system: the columns of the systems.
        id: the columns of the instance ids.
        score: the columns of the scores.
        metric: the name of the metric.
        direction: a phrase that says whether higher or lower scores are better, and how sigjax knows it.
        run: the column of runs.
        fold: the columns of folds.
        cluster: the column of clusters.
        task: the columns of tasks.
        others: further roles of the layout, by name: gold labels, predictions, winners.
        ignored: columns that are not used.
        options: the names of the options with which the user can change these roles.
    """

    layout: str
    system: Role
    id: Role
    score: Role = Role()
    metric: str = "mean"
    direction: str = ""
    run: Role = Role()
    fold: Role = Role()
    cluster: Role = Role()
    task: Role = Role()
    others: tuple[tuple[str, Role], ...] = ()
    ignored: tuple[str, ...] = ()
    options: str = ""

    def roles(self) -> Iterator[tuple[str, Role]]:
        """Yield (name, `Role`) for each role that has columns or a phrase.

        The phrase is what a note says about the role.
        """
        named = {"systems": self.system, "ids": self.id, "scores": self.score, "runs": self.run, "folds": self.fold}
        for name, own in (*self.others, *named.items(), ("clusters", self.cluster), ("tasks", self.task)):
            if own.columns or own.phrase:
                yield name, own

    def note(self) -> str:
        """Return a note that says which columns were used for which roles."""
        about = [*self.others, ("systems", self.system), ("instance ids", self.id), ("scores", self.score)]
        parts = [f"{what} {own}" for what, own in about if own.columns or own.phrase]
        parts += [self.direction] * bool(self.direction)
        parts += [f"not used {listing(self.ignored, SHOWN)}"] if self.ignored else []
        return f"read from the table: {'; '.join(parts)} (options: {self.options})"


def with_parts(reading: TableReading, ids: str | None, runs: str | None) -> TableReading:
    """Add the roles of folds and tasks to a reading.

    `ids` and `runs` each name one column, or several columns that are joined ("task,item"). If the name of one of these
    columns means folds ("fold"), it holds the folds. If there are runs or several columns of ids, a column in `ids`
    holds the tasks if its name means data sets ("dataset", "task"), or if it is the added column of files (`FILE`).

    >>> reading = TableReading(layout="long", system=Role(), id=Role())
    >>> [(name, own.columns) for name, own in with_parts(reading, "task,item", "fold").roles()]
    [('folds', ('fold',)), ('tasks', ('task',))]
    """
    names, several = (ids or "").split(","), runs is not None or "," in (ids or "")
    folds = [name for name in dict.fromkeys([*(runs or "").split(","), *names]) if lexicon.is_fold(name)]
    tasks = [name for name in names if several and (lexicon.is_data_set(name) or name == FILE)]
    return replace(reading, fold=role(folds, named=True), task=role(tasks, named=True))


FILE = "file"
"""The name of the column that is added if several files become one table. It holds the file of each row."""


def note_reading(options: Options, reading: TableReading) -> None:
    """Store `reading` in all sheets of `options.seen`. It replaces the reading of an earlier metric."""
    if options.seen:
        options.seen[:] = [replace(sheet, reading=reading) for sheet in options.seen]


class Asked(InputError):
    """Error that asks the user to choose an option.

    `ways` holds the options that its message proposes, the likeliest first. sigjax has tried them. Each option makes a
    comparison possible, or at least leads to a further question.
    """

    ways: Sequence[Mapping[str, Any]] = ()


class Question(InputError):
    """Error: the data can be read in several ways. `ways` holds options that may decide, the likeliest first."""

    def __init__(
        self, text: str, ways: Sequence[Mapping[str, Any]] = (), otherwise: str = "", *, needed: bool = False
    ) -> None:
        """Make the question; `answered` tries its options and writes the message.

        Args:
            text: what is unclear.
            ways: options that may settle the question, each as option -> value.
            otherwise: advice if none of the options works.
            needed: whether the user must choose an option in any case. Then options are proposed even if they lead to
                another error.
        """
        super().__init__(f"{text}; {otherwise}" if otherwise else text)
        self.text, self.ways, self.otherwise = text, ways, otherwise
        self.needed = needed or not otherwise


MOST_WAYS = 3
"""Largest number of options that an error message proposes."""


def answered(question: Question, attempt: Callable[[Options], EvaluationRecord], options: Options) -> Asked:
    """Try the options that a question proposes, and return the error that asks the user to choose one of them.

    `attempt` evaluates the data with given options. For each option that works, the message says which systems and rows
    would be compared. If no option works, the message proposes options that lead to a further question or error.
    """
    given, further = list[tuple[Mapping[str, Any], str]](), list[Mapping[str, Any]]()
    for way in question.ways:
        seen: list[Any] = []
        own = replace(options, **way, seen=seen, tried=True)
        try:
            made = attempt(own)
            given.append((way, f"{_typed(way)} ({compared(made, seen)})"))
        except Question as next_one:
            if next_one.text != question.text:
                further.append(way)
        except InputError as error:
            if question.needed and error.message != Message.of(question.text):
                further.append(way)
            else:  # perhaps the only fault is that results are missing
                with suppress(InputError):
                    attempt(replace(own, missing="drop"))
                    further.append(way)
        if len(given) == MOST_WAYS:
            break
    if not given and further:
        given = [(way, _typed(way)) for way in further[:MOST_WAYS]]
        given[-1] = (given[-1][0], f"{given[-1][1]} (more is asked then)")
    *first, last = [phrase for _, phrase in given] or [""]
    either = f"{', '.join(first)} or {last}" if first else last
    parts = [question.text, f"give {either}" if last else "", question.otherwise]
    asked = Asked("; ".join(filter(None, parts)).replace("?; ", "? "))
    asked.ways = [way for way, _ in given]
    return asked


def _typed(way: Mapping[str, Any]) -> str:
    """Write some options as the user types them; `way` maps their names to their values."""
    return " ".join(
        str(Hint(name) if value is True else Hint(name, *map(quote, [value] if isinstance(value, str) else value)))
        for name, value in way.items()
    )


def compared(evaluation: EvaluationRecord, sheets: Sequence[Any]) -> str:
    """Describe the comparison in one line: "2 systems: 'A', 'B'; 40 rows joined by 'task'"."""
    count, rows = len(evaluation.systems), evaluation.num_instances
    column = sheets[0].id_column if sheets else None
    by = "row number" if column is None or lexicon.is_numbering(column) else quote(column)
    some = listing(evaluation.systems, SHOWN - 1)
    return f"{count} system{'s' * (count != 1)}: {some}; {rows:,} row{'s' * (rows != 1)} joined by {by}"


FEWEST_ROWS = 3
"""Fewest rows of a table in which a column of consecutive integers is taken for row numbers."""


def unused(table: DataTable, options: Options, taken: Iterable[str | None] = ()) -> list[str]:
    """Return the columns that are neither in `taken` nor named by the options `cluster`, `strata`, `runs` or `ignore`.

    An option or an entry of `taken` may name several columns ("task,item").
    """
    others = {options.cluster, options.strata, options.runs, *options.ignore, *taken}
    others |= {part.strip() for name in others if name is not None and "," in name for part in name.split(",")}
    return [name for name in table.columns if name not in others]


def ids_from(column: str | None) -> str:
    """Say in a note where the instance ids come from: from a column, or (None) from the numbers of the rows."""
    if column is None:
        return "are the numbers of the rows"
    return f"from column {quote(column)}" if column else "from the column without a name"


def find_ids(
    table: DataTable, options: Options, first: Sequence[str], named: Sequence[str], system: str | None = None
) -> str | None:
    """Return the column of instance ids: if possible, a column whose values are unique in each system and run.

    If no column has unique values, the column "id" or the first column is returned, and its repeated ids are refused
    later. None if no column may hold ids.

    Args:
        table: the table.
        options: the options of reading.
        first: a list with the first column if it may hold ids, else an empty list.
        named: other columns that may hold ids because of their names.
        system: the column of systems in a long table, else None.
    """
    if options.runs is not None and (fixed := options.strata) in table.columns:
        if distinguishes_rows(table, fixed or "", options, system):
            return fixed  # `strata` names tasks, and `runs` the runs within each task
    named = [name for name in named if is_id_name(name) or name in table.index]
    must = [*first, *(name for name in named if name.strip().lower() == "id")]
    sure = [name for name in named if name in table.index or is_sure_id(name)]
    plain = [name for name in dict.fromkeys([*must, *sure, *named]) if not is_numbering(name)]
    must = [name for name in must if name in plain]
    good = [name for name in (*plain, *filter(is_numbering, named)) if distinguishes_rows(table, name, options, system)]
    return next(iter([*(name for name in good if name in plain), *must, *good, *first]), None)


def distinguishes_rows(table: DataTable, name: str, options: Options, system: str | None = None) -> bool:
    """Whether the rows of the same system and run all have different values in the column `name`."""
    keys = [table.columns[key] for key in (name, options.runs, system) if key is not None and key in table.columns]
    return len(set(zip(*keys, strict=True))) == len(table.lines)


def holds_row_numbers(table: DataTable, name: str, system: str | None = None) -> bool:
    """Whether a column counts the rows of the table, or of each system, from 0 or 1.

    If the column is named like an order (rank, step), its integers may be in any order.

    >>> from sigjax.readers.table import DataColumn
    >>> table = DataTable("t.csv", {"a": DataColumn(["0", "1", "2"]), "rank": DataColumn(["2", "1", "3"])}, [2, 3, 4])
    >>> holds_row_numbers(table, "a"), holds_row_numbers(table, "rank")
    (True, True)
    """
    values = table.columns[name].parsed
    if name not in table.columns or table.columns[name].nested or values is None or np.isnan(values).any():
        return is_numbering(name)
    if not len(values) or values.min() not in (0, 1):
        return False
    any_order = is_order(name)

    def counts(own: np.ndarray) -> bool:
        own = np.sort(own) if any_order else own
        return bool(len(own) >= FEWEST_ROWS and own[0] in (0, 1) and np.all(np.diff(own) == 1))

    if counts(values):
        return True
    if system is None:
        return False
    _, codes = np.unique(np.array(table.names[system], str), return_inverse=True)
    parts = [values[codes == code] for code in range(codes.max() + 1)]
    return all(map(counts, parts)) or (any_order and bool(np.all(np.diff(values) == 1)))


class CommonWords(NamedTuple):
    """Two candidates for the column of ids. Each holds words that are unique in each system."""

    shared: str | None
    """A column in which each system has words in common with the system that has the fewest words, preferably a column
    named like ids; None if there is no such column."""
    other: str | None
    """If `shared` is None: a column in which one system has no word in common with another system, so that it cannot
    join the rows of all systems. None if `shared` is given, or if there is no such column."""


def common_words(tables: Sequence[DataTable], free: Sequence[str], options: Options, system: str | None) -> CommonWords:
    """Find columns of words that may be instance ids.

    `free` lists the columns that have no role yet. `system` is the column of systems in a long table, else None.
    """
    shares: dict[str, float] = {}
    for name in free:
        if not all(name in table.columns and table.columns[name].is_words() for table in tables):
            continue
        if (
            is_text_name(name)
            or may_be_system(name)
            or is_only_predicted(name)
            or any(table.columns[name].nested for table in tables)
        ):
            continue
        if not all(distinguishes_rows(table, name, options, system) for table in tables):
            continue
        cells = [table.columns[name] for table in tables]
        if not all(cell.strip() for own in cells for cell in own):
            continue
        sets = [{*own} for own in cells]
        if system is not None:
            by_system: dict[str, set[str]] = {}
            for label, cell in zip(tables[0].names[system].tolist(), cells[0], strict=True):
                by_system.setdefault(label, set()).add(cell)
            sets = list(by_system.values())
        first, *others = sorted(sets, key=len)
        shares[name] = min((len(first & other) / len(first) for other in others), default=1.0)
    shared = max((n for n in shares if shares[n] > 0), key=lambda n: (is_id_name(n), shares[n]), default=None)
    return CommonWords(shared, next(iter(shares), None) if shared is None else None)


def has_one_word_per_id(tables: Sequence[DataTable], ids: Sequence[str], name: str, system: str | None) -> bool:
    """Whether an id has the same word in the column `name` wherever it occurs.

    `ids` lists the column of ids of each table.
    """
    known: dict[str, str] = {}
    return all(
        known.setdefault(key, word) == word
        for table, own in zip(tables, ids, strict=True)
        for key, word in zip(table.columns[own], table.columns[name], strict=True)
    )


def step_notes(ids: str | None) -> tuple[str, ...]:
    """Return a warning if the user gave the steps of a run as ids."""
    if ids is None or not is_step(ids):
        return ()
    return (
        f"warning: column {quote(ids)}: steps of one run depend on each other, so that p-values are too small and "
        "intervals too short; compare several runs, or results on instances",
    )


def chosen_ids(
    tables: Sequence[DataTable], free: Sequence[Sequence[str]], options: Options, system: str | None
) -> tuple[list[str | None], Evidence]:
    """Choose the instance ids; return the column of ids in each table, and the evidence for this role.

    The column is None if rows are joined by row number. `free` lists, for each table, the columns that have no role
    yet. `system` is the column of systems in a long table, else None.
    """
    if options.id_column is not None:
        return [options.id_column] * len(tables), "told"
    named: list[str | None] = []
    for table, names in zip(tables, free, strict=True):
        names = [name for name in names if not is_numbering(name) or all(name in other.columns for other in tables)]
        first = [name for name in names[:1] if lexicon.is_id_name(name) or _may_name_rows(table, name)]
        named.append(find_ids(table, options, first, names, system))
    weak = [
        own is None
        or holds_row_numbers(table, own, system)
        or not distinguishes_rows(table, own, options, system)
        or not (lexicon.is_id_name(own) or own in table.index)
        for table, own in zip(tables, named, strict=True)
    ]
    if not any(weak):
        _refuse_steps(tables[0], named[0], free[0], system)
        return named, "named"
    common = common_words(tables, free[0], options, system)
    if common.shared is not None:
        keys = [own for own in named if own is not None]
        sure = len(keys) == len(tables) and all(
            lexicon.is_sure_id(own) and not lexicon.is_numbering(own) for own in keys
        )
        unique = all(distinguishes_rows(t, own, options, system) for t, own in zip(tables, keys, strict=False))
        if not (sure and unique and has_one_word_per_id(tables, keys, common.shared, system)):
            return [common.shared] * len(tables), "named" if lexicon.is_id_name(common.shared) else "shaped"
    if common.other is not None and (system is not None or len(tables) > 1) and not _are_all_id_names(named):
        raise InputError(
            f"{tables[0].file}: column {quote(common.other)} tells the rows of each system apart, but systems have no "
            f"value of it in common, and rows are not joined by their numbers then; expected results on the same "
            f"instances (other instances: `sigjax unpaired`), or leave it out if it holds texts ({Hint('ignore')})"
        )
    if all(own is None for own in named):
        repeated = _repeated_ids(tables, free[0], options, system)
        if repeated is not None:
            return [repeated] * len(tables), "named" if is_id_name(repeated) else "shaped"
        known = _unnamed_ids(tables, free[0], system, options)
        if known is None and system is not None:
            listed = listing(tables[0].columns)
            raise InputError(f"{tables[0].file}: no column is left for the instance ids; columns: {listed}")
        named = [known] * len(tables)
    _refuse_steps(tables[0], named[0], free[0], system)
    return named, "named" if named[0] is not None and lexicon.is_id_name(named[0]) else "shaped"


def _may_name_rows(table: DataTable, name: str) -> bool:
    """Whether the first column, `name`, may hold ids although it is not named like ids.

    It must hold words, and it must not be named like systems. Except in tables with one or two rows, it must hold at
    least two distinct words.
    """
    words = table.columns[name]
    return words.is_words() and not may_be_system(name) and (len(table.lines) < FEWEST_ROWS or len({*words}) > 1)


def _are_all_id_names(named: Sequence[str | None]) -> bool:
    """Whether all names are known (not None) and are names of ids, but none is a name for row numbers."""
    return all(own is not None and is_id_name(own) and not is_numbering(own) for own in named)


def _repeated_ids(tables: Sequence[DataTable], free: Sequence[str], options: Options, system: str | None) -> str | None:
    """Find a column whose values repeat, but are unique within each run or fold. None if there is none.

    The column is taken for the ids. Because the ids repeat, the user is later asked about the runs. `free` lists the
    columns that have no role yet. `system` is the column of systems in a long table, else None.
    """
    trials = [name for name in unused(tables[0], options, [system]) if is_trial(name) or is_fold(name)]
    found: dict[str, bool] = {}
    for name in free:
        if name in trials or not (is_id_name(name) or tables[0].columns[name].is_words()):
            continue
        if all(name in table.columns and not table.columns[name].nested for table in tables) and not is_text_name(name):
            for trial in trials:
                asked = replace(options, runs=trial)
                if all(trial in t.columns and distinguishes_rows(t, name, asked, system) for t in tables):
                    found[name] = is_id_name(name)
    return max(found, key=lambda name: found[name], default=None)


def _unnamed_ids(tables: Sequence[DataTable], free: Sequence[str], system: str | None, options: Options) -> str | None:
    """Find a column of ids by its values alone; None means that rows are joined by their position.

    Among the columns with unique values in each system, the column with the fewest distinct values is chosen, because
    systems share their ids, but differ in their scores. If each system has a file, all files must have the same values.
    If a table with a column of systems has no column with unique values, the first column of words (except texts) is
    chosen, else the first column in `free`.

    `free` lists the columns that have no role yet. `system` is the column of systems in a long table, else None.
    """
    if len(free) < 2 and system is None:
        return None
    most = max(len(table.lines) for table in tables)
    distinct = {
        name: len({cell for table in tables for cell in table.columns[name]})
        for name in free
        if len(tables) == 1 or is_fold(name) or is_trial(name) or not is_property(name, beside_ids=True)
        if all(name in table.columns for table in tables)
        and all(distinguishes_rows(table, name, options, system) for table in tables)
    }
    fewest = min(distinct, key=distinct.__getitem__, default=None)
    if system is not None:
        words = [name for name in free if tables[0].columns[name].is_words() and not is_text_name(name)]
        return fewest if fewest is not None and len(free) > 1 else next(iter([*words, *free]), None)
    return fewest if fewest is not None and distinct[fewest] == most else None


def _refuse_steps(table: DataTable, ids: str | None, free: Sequence[str], system: str | None) -> None:
    """Refuse ids that are the steps of one run, because the results of steps depend on each other.

    This is not called if the user named the steps as ids. If rows are joined by row number, the columns in `free`
    (without a role) are checked. `system` is the column of systems in a long table, else None.
    """
    by_row = ids is None or holds_row_numbers(table, ids, system)
    steps = [ids] if ids is not None and is_step(ids) else [name for name in free if by_row and is_step(name)]
    for ids in (name for name in steps if not table.columns[name].is_words() and len({*table.columns[name]}) > 1):
        raise InputError(
            f"{table.file}: column {quote(ids)} counts the steps of one run, which depend on each other: a curve is "
            "one result; expected the results of systems on several instances, or of several runs "
            f"(a column of tasks and one of seeds: {Hint('id_column')}, {Hint('runs')})"
        )


_MOST_COINCIDENCE = 0.05
"""A column counts as derived from other columns if the probability that it agrees with them by chance is at most this.
Likewise, columns without numbers other than 0 and 1 count as unlike the other columns if the probability that such
numbers are missing by chance is at most this.

The limit weighs two errors. A needless question to the user costs a minute. A missing question lets sigjax compare a
mean as if it were a system."""
_MOST_SURE_COINCIDENCE = 0.6
"""If two columns add up to the same number in every row, the second column is taken as the complement of the first
(such as wrong and right), unless the probability of this by chance is above this limit. The limit is larger than
`_MOST_COINCIDENCE`, because the scores of two systems hardly ever add up to the same number in every row: both systems
are right on easy instances."""
_FEWEST_RELATED = 3
"""Fewest rows in which relations between columns are sought. In a single row, every column is a multiple of every other
column."""
_FEWEST_ALIKE = 5
"""Fewest rows for three conclusions, which could be due to chance in fewer rows. The first is that columns hold ranks
with ties. The second is that columns have the same sum in all rows, by the weaker limit `_MOST_SURE_COINCIDENCE`. The
third is that columns are on different scales (`other_scales`)."""
_MOST_COLUMNS, _MOST_ROWS = 24, 1000
"""Largest numbers of columns and rows in which relations are sought. Relations other than ranks are sought among the
first `_MOST_COLUMNS` columns. All relations are sought in at most `_MOST_ROWS` rows, at equal distances."""
_DECIMALS = range(1, 7)


class DerivedColumn(NamedTuple):
    """How a column is related to other columns."""

    relation: str
    """The relation as the end of a sentence that begins with the column's name: "is the mean of 'A' and 'B'"."""
    sure: bool
    """Whether this column is certainly the derived one. False if each column of the relation may be the derived one, as
    in A + B = C."""
    ranks: bool = False
    """Whether the column holds ranks, that is, the rank of one system among several systems on each instance."""


def made_of_others(columns: Mapping[str, np.ndarray]) -> dict[str, DerivedColumn]:
    """Find the columns that are derived from other columns: name -> its relation to these columns.

    `columns` maps names to numbers `[row]`, NaN if a number is missing.

    >>> import numpy as np
    >>> a, b = np.array([0.4, 0.5, 0.9, 0.3]), np.array([0.2, 0.6, 0.7, 0.9])
    >>> {name: made.relation for name, made in made_of_others({"A": a, "B": b, "C": (a + b) / 2, "D": 1 - a}).items()}
    {'D': "and 'A' have the same sum in all rows", 'C': "is the mean of 'A' and 'B'"}
    """
    found: dict[str, DerivedColumn] = {}
    columns = {name: own[:: len(own) // _MOST_ROWS + 1] for name, own in columns.items()}
    full = {name: own for name, own in columns.items() if len(own) >= _FEWEST_RELATED and not np.isnan(own).any()}
    if ranks := _ranks({name: own for name, own in columns.items() if len(own) >= _FEWEST_RELATED}):
        return {
            name: DerivedColumn(f"holds ranks, as {_listing_without(ranks, name)} do", sure=True, ranks=True)
            for name in ranks
        }
    names = list(full)[:_MOST_COLUMNS]
    for name, relation, sure in _relations({name: columns[name] for name in names}):
        found.setdefault(name, DerivedColumn(relation, sure))
    return found


def _ranks(columns: Mapping[str, np.ndarray]) -> list[str]:
    """Find the columns that hold ranks: in each row, their numbers are 1, 2, 3, ..., in some order.

    Returns the names of these columns; an empty list if there are no ranks. Tied columns may have their lowest, highest
    or average rank. If there are only two columns, or few rows, the numbers of a row must all differ.

    >>> import numpy as np
    >>> _ranks({"A": np.array([1, 2, 1.5, 1, 1]), "B": np.array([3, 1, 3, 2, 3]), "C": np.array([2, 3, 1.5, 3, 2])})
    ['A', 'B', 'C']
    """
    whole = {name: own for name, own in columns.items() if np.all(np.isnan(own) | ((own >= 1) & (2 * own % 1 == 0)))}
    whole = {name: own for name, own in whole.items() if np.isfinite(own).sum() >= _FEWEST_RELATED}
    if len(whole) < 2 or not 2 <= max(float(np.nanmax(own)) for own in whole.values()) <= len(whole):
        return []
    every = np.stack(list(whole.values()))
    less = (every[None] < every[:, None]).sum(axis=1)  # comparisons with NaN are False
    alike = (every[None] == every[:, None]).sum(axis=1)
    kinds = [np.where(alike == 1, less + 1, 0)]
    if len(whole) > 2 and every.shape[1] >= _FEWEST_ALIKE:
        kinds += [less + (alike + 1) / 2, less + 1, less + alike]
    return list(whole) if any(np.all(np.isnan(every) | (every == kind)) for kind in kinds) else []


def _relations(columns: Mapping[str, np.ndarray]) -> Iterator[tuple[str, str, bool]]:
    names = list(columns)
    if len(names) < 2:
        return
    every = np.stack([columns[name] for name in names])
    rows, size = every.shape[1], np.maximum(1.0, np.abs(every).max(axis=1))
    units = np.array([_unit(own) for own in every])
    few = np.array([min(len(np.unique(own)), 4) for own in every])
    chance = np.array([len(names) * _agreement(own) ** (rows - 1) for own in every])
    tells = (chance <= _MOST_COINCIDENCE) & (few > 1)
    opposite = tells | ((chance <= _MOST_SURE_COINCIDENCE) & (few > 1) & (rows >= _FEWEST_ALIKE))

    def equal(expected: np.ndarray, those: Sequence[int]) -> np.ndarray:
        """Find the columns that equal `expected` `[row]` up to rounding; return their indices.

        The columns `those` are left out, because `expected` was computed from them.
        """
        room = 1e-9 * size + 1.01 * units
        found = np.all(np.abs(every - expected) <= room[:, None], axis=1) & (np.ptp(every, axis=1) > 4 * room) & tells
        found[list(those)] = False
        return np.flatnonzero(found) if np.ptp(expected) > 0 else np.array([], int)

    made: dict[frozenset[int], tuple[int, str, bool]] = {}
    for i, j in combinations(range(len(names)), 2):
        x, y = every[i], every[j]
        a, b = quote(names[i]), quote(names[j])
        if (
            opposite[i]
            and opposite[j]
            and np.ptp(x + y) <= 2.02 * max(units[i], units[j]) + 1e-9 * max(size[i], size[j])
        ):
            yield names[j], f"and {a} have the same sum in all rows", False
        elif tells[i] and tells[j] and few[i] > 2 and np.all(x != 0):
            ratio = y / x
            if np.ptp(ratio) <= 1e-9 * abs(ratio[0]) and ratio[0] != 1:
                yield names[j], f"is {ratio[0]:.6g} times {a}", False
        of_two = {"mean": ((x + y) / 2,), "sum": (x + y,), "difference": (x - y, y - x, np.abs(x - y))}
        for what, numbers in of_two.items() if len(names) > 2 else ():
            for k in {int(k) for own in numbers for k in equal(own, (i, j))}:
                known = made.get(frozenset((i, j, k)))
                # If each of three columns follows from the other two, the last column is taken for the derived column.
                if known is None or known[0] < k:
                    made[frozenset((i, j, k))] = k, f"is the {what} of {a} and {b}", what == "mean"
    yield from ((names[k], relation, sure) for k, relation, sure in made.values())
    for name, of in _SUMMARIES.items():
        for k in range(len(names)) if len(names) > (3 if name in ("mean", "sum") else 2) else ():
            others = [each for each in range(len(names)) if each != k]
            if k in equal(of(every[others]), others):
                yield (
                    names[k],
                    f"is the {name} of {listing([names[each] for each in others], 4)}",
                    name != "sum" and few[k] > 3,
                )


_SUMMARIES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda own: np.mean(own, axis=0),
    "sum": lambda own: np.sum(own, axis=0),
    "median": lambda own: np.median(own, axis=0),
    "largest": lambda own: np.max(own, axis=0),
    "smallest": lambda own: np.min(own, axis=0),
    "standard deviation": lambda own: np.std(own, axis=0),
    "sample standard deviation": lambda own: np.std(own, axis=0, ddof=1),
}


def _agreement(numbers: np.ndarray) -> float:
    """Estimate the probability that two numbers of a column are equal by chance.

    It is the share of equal pairs among all pairs of rows, or step / (step + range) if this is larger. The step is the
    smallest difference between numbers with the decimals of this column.

    >>> import numpy as np
    >>> _agreement(np.array([0.0, 1.0] * 50)), _agreement(np.array([1.0, 2.0, 4.0, 3.0]))
    (0.5, 0.25)
    """
    _, counts = np.unique(numbers, return_counts=True)
    alike = float(np.sum(counts * (counts - 1.0)) / (len(numbers) * (len(numbers) - 1.0)))
    step = 1.0 if np.all(numbers == np.rint(numbers)) else 2 * _unit(numbers)
    return max(alike, step / (step + float(np.ptp(numbers))))


def _listing_without(names: Sequence[str], but: str) -> str:
    return listing([name for name in names if name != but], 4)


def _unit(numbers: np.ndarray) -> float:
    """Return the largest rounding error of numbers: half a unit of their last decimal.

    It is 0 for integers, and for numbers with more than six decimals.
    """
    if np.all(numbers == np.rint(numbers)):
        return 0.0
    return next(
        (0.5 * 10.0**-d for d in _DECIMALS if np.allclose(numbers, np.round(numbers, d), rtol=0, atol=1e-12)), 0
    )


def other_scales(columns: Mapping[str, np.ndarray]) -> str | None:
    """Say why columns are unlikely to hold scores of the same metric; None if they may be on a common scale.

    `columns` maps names to numbers `[row]`, NaN if a number is missing.

    >>> import numpy as np
    >>> other_scales({"r": np.array([80.0, 120, 60, 70, 80]), "l": np.array([1351.0, 1500, 1200, 1300, 1400])})
    "no number of 'r' (60 to 120) is in the range of another column ('l', 1200 to 1500)"
    """
    given = {name: own[~np.isnan(own)] for name, own in columns.items()}
    given = {name: own for name, own in given.items() if len(own) >= _FEWEST_ALIKE}
    binary = {name: own for name, own in given.items() if np.isin(own, (0.0, 1.0)).all()}
    if len(given) < 2 or len(binary) == len(given):
        return None
    constant = {name: own[0] for name, own in given.items() if not np.ptp(own)}
    for name, value in constant.items():
        if any((own == value).any() for other, own in given.items() if other not in constant):
            continue  # other columns have the value, too, such as the 0 of a system that is always wrong
        return f"{quote(name)} is {value:.6g} in all rows"
    some = binary if any(name not in constant for name in binary) else {}  # a lone constant may be a system
    if mixed := _zeros_and_ones(some, {name: own for name, own in given.items() if name not in binary}):
        return mixed
    ranges = sorted((float(own.min()), float(own.max()), name) for name, own in given.items())
    top, groups = -np.inf, list[list[tuple[float, float, str]]]()
    for low, high, name in ranges:
        if low > top:
            groups.append([])
        groups[-1].append((low, high, name))
        top = max(top, high)
    if len(groups) == 1:
        return None
    few = min(groups, key=len)
    low, high, name = few[0]
    other = next(each for group in groups if group is not few for each in group)
    return (
        f"no number of {quote(name)} ({low:.6g} to {high:.6g}) is in the range of another column "
        f"({quote(other[2])}, {other[0]:.6g} to {other[1]:.6g})"
    )


def _zeros_and_ones(binary: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> str | None:
    """Say that the columns `binary` hold only 0 and 1, unlike `others`; None if this may be a coincidence.

    Zeros are no evidence, because a system that is always wrong has only zeros.

    >>> import numpy as np
    >>> _zeros_and_ones({"A": np.array([0.0, 1, 1, 0, 1])}, {"B": np.array([0.4, 0.7, 0.3, 0.9, 0.2])})
    "'A' has 0 and 1 alone, and 'B' has others (0.4)"
    """
    ones = sum(int(np.count_nonzero(own)) for own in binary.values())
    for name, own in others.items():
        more = own[(own != 0) & (own != 1)]
        rarely = 1 - len(more) / (np.count_nonzero(own) + 1)
        if rarely**ones <= _MOST_COINCIDENCE:
            alone = f"{listing(list(binary), 3)} {'has' if len(binary) == 1 else 'have'} 0 and 1 alone"
            return f"{alone}, and {quote(name)} has others ({more[0]:.6g})"
    return None
