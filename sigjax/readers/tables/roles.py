"""Which columns of a table are instance ids, systems, or neither: by their names, and by what they hold.

Names that only ids have (`id`, `doc_id`, `__index_level_0__`) are believed wherever the column stands. Names that
systems may have, too (`topic`, `length`), are believed where the numbers are unlike those of the other columns. Whole
numbers unlike the others (counted up, distinct, of another size) are asked about: none becomes a system by accident.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sigjax.readers.numerals import is_missing, is_text
from sigjax.readers.options import Options, listing, show
from sigjax.readers.table import Nested, Numbers, Table, is_words, place, readable_numbers
from sigjax.readers.tables.refused import SHOWN, check_labels, check_names, spelled
from sigjax.readers.tables.spread import FEWEST, Spread
from sigjax.readers.tables.vocabulary import (
    is_fold,
    is_gold,
    is_id_name,
    is_numbering,
    is_plain_property,
    is_property,
    is_sure_id,
)
from sigjax.records import InputError

_COMPARED = 100
"""Columns that a column is compared with, at most."""
_FOLD = re.compile(r"([a-zA-Z]+[ _.-]?)?\d{1,3}(\.0)?")
_MOST_FOLDS = 100


def unused(table: Table, options: Options, taken: Iterable[str | None] = ()) -> list[str]:
    """The columns that are not taken, and that no option names."""
    others = {options.cluster, options.strata, options.runs, *options.ignore, *taken}
    return [name for name in table.columns if name not in others]


@dataclass(frozen=True)
class Roles:
    """What the columns of a wide table are, but those that options name."""

    ids: str | None
    """The column of instance ids; None where rows are counted."""
    systems: tuple[str, ...]
    others: tuple[str, ...]
    """Columns that are neither."""


@dataclass(frozen=True)
class _Evidence:
    """What is known of a column beside its name."""

    spread: Spread | None
    """Of its numbers; None where it holds words."""
    indexed: bool
    """Whether it is the index of a data frame."""
    unlike: bool
    """Whether its whole numbers are unlike those of the other columns."""
    among: bool
    """Whether there are columns that may hold scores."""

    @property
    def whole(self) -> bool:
        """Whether all of its numbers are whole."""
        return self.spread is not None and self.spread.whole == 1

    @property
    def counted(self) -> bool:
        """Whether whole numbers tell all rows apart."""
        return self.whole and self.spread is not None and self.spread.distinct == self.spread.values.size


_Role = Literal["about", "text", "unclear", "system"]
"""Of the instances (ids, properties); words; to be asked about; a system."""
_RULES: tuple[tuple[_Role, Callable[[str, _Evidence], bool]], ...] = (
    ("about", lambda name, own: own.indexed or (own.spread is None and is_id_name(name))),
    ("text", lambda name, own: own.spread is None),
    ("about", lambda name, own: own.counted if is_numbering(name) else own.whole and is_sure_id(name)),
    ("about", lambda name, own: own.unlike and is_property(name) and not is_sure_id(name)),
    ("unclear", lambda name, own: own.unlike),
    ("system", lambda name, own: not own.among or is_numbering(name)),
    ("unclear", lambda name, own: is_sure_id(name) or is_plain_property(name)),
    ("unclear", lambda name, own: own.whole and own.spread is not None and own.spread.size > 1 and is_id_name(name)),
    ("system", lambda name, own: True),
)
"""The first rule that holds says the role of a column of a wide table."""


def wide_roles(table: Table, options: Options) -> Roles:
    """The roles of the columns of a table with one row per instance and one column per system.

    Raises:
        InputError: it is unclear whether a column is a system, or the columns hold something else than systems.
    """
    chosen, free = options.systems or (), unused(table, options, [options.id])
    found = _evidence(
        table, [name for name in free if options.systems is None or is_property(name) or name in table.index]
    )
    roles = {name: next(role for role, holds in _RULES if holds(name, own)) for name, own in found.items()}
    about = [name for name in free if roles.get(name) == "about"]
    ids = options.id or _wide_ids(table, options, [name for name in about if name not in chosen])
    if options.systems is not None:
        return Roles(ids, tuple(chosen), tuple(name for name in free if name not in (ids, *chosen)))
    rest, about = [name for name in free if name != ids], [name for name in about if name != ids]
    systems = [name for name in rest if roles[name] in ("system", "unclear")]
    numbers = {*(systems if len(systems) > 1 else rest)}
    others = [name for name in free if name in numbers or (name == ids and is_gold(name))]
    check_labels(table.file, {name: found[name].spread for name in others})
    if len(systems) < 2 and not about:
        systems = rest  # reading them says what is wrong with their cells
    if len(systems) > 1 or options.single:
        check_names(table.file, systems)
    unclear = [name for name in systems if roles[name] == "unclear"]
    if ids is None and rest and _is_numbered(table, rest[0]):
        unclear = rest[:1]
    if len(systems) < 2:
        unclear += about
    if unclear:
        raise _unclear(table, unclear[0], [name for name in systems if name not in unclear])
    return Roles(ids, tuple(systems), tuple(name for name in rest if name not in systems))


def _evidence(table: Table, names: Sequence[str]) -> dict[str, _Evidence]:
    """The evidence on each column."""
    spreads = {name: None if is_words(table, name) else Spread(readable_numbers(table, name)) for name in names}
    about = {name for name in names if is_property(name) or name in table.index}
    scores = [own for name, own in spreads.items() if own is not None and own.values.size and name not in about]
    return {
        name: _Evidence(own, name in table.index, own is not None and own.is_unlike(scores[:_COMPARED]), bool(scores))
        for name, own in spreads.items()
    }


def _is_numbered(table: Table, name: str) -> bool:
    """Whether rows are numbered from 0 or 1."""
    values = readable_numbers(table, name)
    return len(values) == len(table.lines) >= FEWEST and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def _unclear(table: Table, name: str, systems: Sequence[str]) -> InputError:
    return InputError(
        f"{table.file}: column {show(name)} looks like ids or a property of the instances, not like a system; give "
        f"--ignore {show(name)} to leave it out, --id {show(name)} to use it as ids, or all systems: "
        f"--systems {spelled(systems)}"
    )


def _wide_ids(table: Table, options: Options, believed: Sequence[str]) -> str | None:
    """The column of instance ids in a wide table; the first column may be it without a name of ids."""
    first = unused(table, options)[:1]
    if first and (first[0] in (options.systems or ()) or not (is_id_name(first[0]) or _is_text(table, first[0]))):
        first = []
    if first and first[0] in table.index and is_numbering(first[0]):
        first = []  # rows of frames that were joined may have the same numbers
    return find_ids(table, options, first, believed)


def find_ids(
    table: Table, options: Options, first: Sequence[str], named: Sequence[str], systems: Sequence[str] = ()
) -> str | None:
    """The column of instance ids: one that tells all rows apart, else the first column, which is refused then.

    Args:
        table: the table.
        options: `runs` names the column that tells rows of one instance apart.
        first: the first column, if it may be it.
        named: other columns that may be it, because of their names.
        systems: `[row]` in a long table, in which every system has the same ids.
    """
    named = [name for name in named if is_id_name(name) or name in table.index]
    must = [*first, *(name for name in named if name.strip().lower() == "id")]
    sure = [name for name in named if name in table.index or is_sure_id(name)]
    plain = [name for name in dict.fromkeys([*must, *sure, *named]) if not is_numbering(name)]
    must = [name for name in must if name in plain]
    good = [name for name in (*plain, *filter(is_numbering, named)) if tells_apart(table, name, options, systems)]
    return next(iter([*(name for name in good if name in plain), *must, *good, *first]), None)


def tells_apart(table: Table, name: str, options: Options, systems: Sequence[str] = ()) -> bool:
    """Whether no two rows, of the same system and run, have the same name in a column."""
    runs = [] if options.runs is None else [table.columns[options.runs]]
    keys = [table.columns[name], *runs, *([systems] if systems else [])]
    return len(set(zip(*keys, strict=True))) == len(table.lines)


def _is_text(table: Table, first: str) -> bool:
    """Whether the first column holds text; a typing error among numbers must not turn a system into ids silently."""
    cells = table.columns[first]
    if isinstance(cells, Numbers | Nested):
        return False
    texts = [row for row, cell in enumerate(cells) if is_text(cell) and not is_missing(cell)]
    if texts and 2 * len(texts) < len(table.lines):
        raise InputError(
            f"{place(table, texts[0], first)}: expected a number as in most of the column, got "
            f"{show(cells[texts[0]])}; repair it, or give --id NAME if the column holds the instance ids"
        )
    return bool(texts)


def fold_notes(table: Table) -> tuple[str, ...]:
    """A warning if rows are of the folds of a cross-validation."""
    return tuple(
        f"warning: column {show(name)}: folds share training data, so that results on them depend on each other, "
        "p-values are too small and intervals too short; compare on a separate test set, or on several data sets"
        for name in table.columns
        if is_fold(name) and _are_folds(table.columns[name])
    )


def _are_folds(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers of folds, such as 3 or Fold3: at least two, and not many."""
    numbers = {*cells} if not isinstance(cells, Nested) else set[str]()
    return 1 < len(numbers) <= _MOST_FOLDS and all(_FOLD.fullmatch(each.strip()) for each in numbers)


def ids_from(column: str | None) -> str:
    """Where the instance ids are from, for a note."""
    if column is None:
        return "are the numbers of the rows"
    return f"from column {show(column)}" if column else "from the column without a name"


def columns_note(about: Mapping[str, str], others: Sequence[str], options: str) -> str:
    """One line on what was taken from which columns.

    Example:
        >>> columns_note({"ids": "'id'", "systems": "'A', 'B'"}, ["length"], "id, systems, ignore")
        "read from the table: ids 'id'; systems 'A', 'B'; not used 'length' (options: id, systems, ignore)"
    """
    parts = [f"{what} {names}" for what, names in about.items()]
    parts += [f"not used {listing(others, SHOWN)}"] if others else []
    return f"read from the table: {'; '.join(parts)} (options: {options})"
