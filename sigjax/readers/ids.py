"""Which column holds the ids of instances: rows of the systems are joined by it.

The column is told by an option; else it is named like ids; else it has words that are unique in each system and shared
by the systems. A column that counts rows is used only if there is no other. The steps of one run are no instances.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import sigjax.readers.lexicon as lexicon
from sigjax.readers.evidence import Evidence
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
from sigjax.records import Hint, InputError

FEWEST = 3
"""Rows from which a column may be said to count them."""


def unused(table: DataTable, options: Options, taken: Iterable[str | None] = ()) -> list[str]:
    """The columns that are not used, and that no option names, alone or as a part of the ids."""
    others = {options.cluster, options.strata, options.runs, *options.ignore, *taken}
    others |= {part.strip() for name in others if name is not None and "," in name for part in name.split(",")}
    return [name for name in table.columns if name not in others]


def ids_from(column: str | None) -> str:
    """The source of the instance ids, for a note."""
    if column is None:
        return "are the numbers of the rows"
    return f"from column {quote(column)}" if column else "from the column without a name"


def find_ids(
    table: DataTable, options: Options, first: Sequence[str], named: Sequence[str], system: str | None = None
) -> str | None:
    """The column of instance ids: one that tells all rows apart, else the first column, which is refused then.

    `first` holds the first column, if it may be it, and `named` others, because of their names; `system` is the column
    of systems in a long table, in which every system has the same ids.
    """
    if options.runs is not None and (fixed := options.strata) in table.columns:
        if tells_apart(table, fixed or "", options, system):
            return fixed  # runs within tasks
    named = [name for name in named if is_id_name(name) or name in table.index]
    must = [*first, *(name for name in named if name.strip().lower() == "id")]
    sure = [name for name in named if name in table.index or is_sure_id(name)]
    plain = [name for name in dict.fromkeys([*must, *sure, *named]) if not is_numbering(name)]
    must = [name for name in must if name in plain]
    good = [name for name in (*plain, *filter(is_numbering, named)) if tells_apart(table, name, options, system)]
    return next(iter([*(name for name in good if name in plain), *must, *good, *first]), None)


def tells_apart(table: DataTable, name: str, options: Options, system: str | None = None) -> bool:
    """Whether no two rows, of the same system and run, have the same name in a column."""
    keys = [table.columns[key] for key in (name, options.runs, system) if key is not None and key in table.columns]
    return len(set(zip(*keys, strict=True))) == len(table.lines)


def numbers_rows(table: DataTable, name: str, system: str | None = None) -> bool:
    """Whether a column counts rows from 0 or 1, in the table or for each system: by its name, in any order.

    >>> from sigjax.readers.table import DataColumn
    >>> table = DataTable("t.csv", {"a": DataColumn(["0", "1", "2"]), "rank": DataColumn(["2", "1", "3"])}, [2, 3, 4])
    >>> numbers_rows(table, "a"), numbers_rows(table, "rank")
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
        return bool(len(own) >= FEWEST and own[0] in (0, 1) and np.all(np.diff(own) == 1))

    if counts(values):
        return True
    if system is None:
        return False
    _, codes = np.unique(np.array(table.names[system], str), return_inverse=True)
    parts = [values[codes == code] for code in range(codes.max() + 1)]
    return all(map(counts, parts)) or (any_order and bool(np.all(np.diff(values) == 1)))


class CommonWords(NamedTuple):
    """Columns of words that tell the rows of each system apart."""

    shared: str | None
    """The one whose words systems have in common, best named like ids."""
    other: str | None
    """One of which they have none in common; None if there is a shared one."""


def common_words(tables: Sequence[DataTable], free: Sequence[str], options: Options, system: str | None) -> CommonWords:
    """The columns of words whose values may be instance ids."""
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
        if not all(tells_apart(table, name, options, system) for table in tables):
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


def same_pairs(tables: Sequence[DataTable], ids: Sequence[str], name: str, system: str | None) -> bool:
    """Whether rows of systems that ids join have the same word in another column."""
    known: dict[str, str] = {}
    return all(
        known.setdefault(key, word) == word
        for table, own in zip(tables, ids, strict=True)
        for key, word in zip(table.columns[own], table.columns[name], strict=True)
    )


def step_notes(ids: str | None) -> tuple[str, ...]:
    """A warning if the ids that a person named are the steps of one run."""
    if ids is None or not is_step(ids):
        return ()
    return (
        f"warning: column {quote(ids)}: steps of one run depend on each other, so that p-values are too small and "
        "intervals too short; compare several runs, or results on instances",
    )


def chosen_ids(
    tables: Sequence[DataTable], free: Sequence[Sequence[str]], options: Options, system: str | None
) -> tuple[list[str | None], Evidence]:
    """The columns of instance ids and their evidence: told, named, or words that the systems share."""
    if options.id_column is not None:
        return [options.id_column] * len(tables), "told"
    named: list[str | None] = []
    for table, names in zip(tables, free, strict=True):
        names = [name for name in names if not is_numbering(name) or all(name in other.columns for other in tables)]
        first = [name for name in names[:1] if lexicon.is_id_name(name) or _may_name_rows(table, name)]
        named.append(find_ids(table, options, first, names, system))
    weak = [
        own is None
        or numbers_rows(table, own, system)
        or not tells_apart(table, own, options, system)
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
        unique = all(tells_apart(t, own, options, system) for t, own in zip(tables, keys, strict=False))
        if not (sure and unique and same_pairs(tables, keys, common.shared, system)):
            return [common.shared] * len(tables), "named" if lexicon.is_id_name(common.shared) else "shaped"
    if common.other is not None and (system is not None or len(tables) > 1) and not _named_so(named):
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
    """Whether the words of the first column may be ids: not names of systems, and not the same word in all rows."""
    words = table.columns[name]
    return words.is_words() and not may_be_system(name) and (len(table.lines) < FEWEST or len({*words}) > 1)


def _named_so(named: Sequence[str | None]) -> bool:
    """Whether columns are named like ids, and not like row numbers."""
    return all(own is not None and is_id_name(own) and not is_numbering(own) for own in named)


def _repeated_ids(tables: Sequence[DataTable], free: Sequence[str], options: Options, system: str | None) -> str | None:
    """The column of ids that repeat in the trials, or the folds, of another column: which is asked about then."""
    trials = [name for name in unused(tables[0], options, [system]) if is_trial(name) or is_fold(name)]
    found: dict[str, bool] = {}
    for name in free:
        if name in trials or not (is_id_name(name) or tables[0].columns[name].is_words()):
            continue
        if all(name in table.columns and not table.columns[name].nested for table in tables) and not is_text_name(name):
            for trial in trials:
                asked = replace(options, runs=trial)
                if all(trial in t.columns and tells_apart(t, name, asked, system) for t in tables):
                    found[name] = is_id_name(name)
    return max(found, key=lambda name: found[name], default=None)


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
        if len(tables) == 1 or is_fold(name) or is_trial(name) or not is_property(name, beside_ids=True)
        if all(name in table.columns for table in tables)
        and all(tells_apart(table, name, options, system) for table in tables)
    }
    fewest = min(distinct, key=distinct.__getitem__, default=None)
    if system is not None:
        words = [name for name in free if tables[0].columns[name].is_words() and not is_text_name(name)]
        return fewest if fewest is not None and len(free) > 1 else next(iter([*words, *free]), None)
    return fewest if fewest is not None and distinct[fewest] == most else None


def _refuse_steps(table: DataTable, ids: str | None, free: Sequence[str], system: str | None) -> None:
    """Refuse the steps of one run as instances, which nobody said they are."""
    by_row = ids is None or numbers_rows(table, ids, system)
    steps = [ids] if ids is not None and is_step(ids) else [name for name in free if by_row and is_step(name)]
    for ids in (name for name in steps if not table.columns[name].is_words() and len({*table.columns[name]}) > 1):
        raise InputError(
            f"{table.file}: column {quote(ids)} counts the steps of one run, which depend on each other: a curve is "
            "one result; expected the results of systems on several instances, or of several runs "
            f"(a column of tasks and one of seeds: {Hint('id_column')}, {Hint('runs')})"
        )
