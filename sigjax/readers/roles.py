"""What tells whole numbers that instances have (their ids, lengths, years) from scores of systems.

What would pass for systems on instances: metrics, gold labels, predictions, totals, exchanged axes.

Which columns of a table are instance ids, systems, or neither: by their names, and by what they hold.

Names that only ids have (`id`, `doc_id`, `__index_level_0__`) are believed wherever the column stands. Names that
systems may have, too (`topic`, `length`), are believed where the numbers are unlike those of the other columns. Whole
numbers unlike the others (counted up, distinct, of another size) are asked about: none becomes a system by accident.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, repeat
from string import digits
from typing import Any, Literal

import numpy as np

from sigjax.readers.options import Options, listing, show
from sigjax.readers.table import Nested, Numbers, Table, is_missing, is_text, is_words, place, readable_numbers
from sigjax.readers.vocabulary import (
    are_measures,
    is_fold,
    is_gold,
    is_id_name,
    is_numbering,
    is_only_gold,
    is_only_predicted,
    is_paired_gold,
    is_plain_property,
    is_predicted,
    is_property,
    is_rated_gold,
    is_score,
    is_sure_id,
    is_target,
    may_be_system,
    names_measures,
)
from sigjax.records import Evaluation, Hint, InputError

FEWEST = 3
"""Rows from which numbers may be unlike those of the other columns."""
_FEWEST_SURE = 8
"""Rows from which it is no accident that numbers are counted up, are distinct, or have no fractions."""
_SCALE = 10
"""Scores of one metric are rarely so many times larger in one system than in every other."""


class Spread:
    """What the numbers of a column tell from those of others: `values` `[row]`, finite float64."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.low, self.high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
        self.size = max(abs(self.low), abs(self.high))
        self.whole = float(np.mean(values == np.floor(values))) if values.size else 0.0

    @cached_property
    def distinct(self) -> int:
        """How many different numbers there are."""
        return len(np.unique(self.values))

    @cached_property
    def median(self) -> float:
        """The median size."""
        return float(np.median(np.abs(self.values)))

    @cached_property
    def counts_up(self) -> bool:
        """Whether each number is one more than the one before."""
        return bool(np.all(np.diff(self.values) == 1))

    def is_like(self, other: "Spread") -> bool:
        """Whether these whole numbers may be scores of the same metric as those of another column."""
        outside = self.low < other.low or self.high > other.high
        constant = self.distinct == 1 and self.low > 1 >= other.size
        if self.median > _SCALE * max(1, other.size) or constant or (outside and self.counts_up):
            return False
        if self.values.size < _FEWEST_SURE or self.distinct <= 2:
            return True
        above = self.low >= 1 >= other.high
        rarer = self.distinct == self.values.size > 2 * other.distinct
        return not (self.counts_up or above or rarer or other.whole < 0.5)

    def is_unlike(self, others: Sequence["Spread"]) -> bool:
        """Whether these are whole numbers unlike those of all other columns, or of two with scores of 0 to 1."""
        if self.whole < 1 or self.values.size < FEWEST or self.size <= 1:
            return False
        unlike = [other for other in others if other is not self and not self.is_like(other)]
        few = sum(other.size <= 1 or other.whole < 0.5 for other in unlike)
        return few >= 2 or 0 < len(unlike) == len(others) - (self in others)


_AS_FILES = (
    "labels are compared as files, gold first: "
    f"{Hint('sigjax compare', 'GOLD', '-i', 'A', 'B', '--reader', 'id-labels', '-m', 'accuracy')}"
)
_SCORES_OR_LABELS = f"expected scores of each system (1 for right and 0 for wrong, or errors); {_AS_FILES}"
"""What to give in place of gold labels and predictions."""
SHOWN = 4
_MOST_CLASSES = 20
"""More whole numbers than this are no classes."""
FEWEST_TURNED = 4
"""Columns from which q1, q2, ... are taken for instances, where there are half as many rows or fewer."""
_LONGEST = 18
"""Digits of a number that is counted up, such as a time stamp."""
_INSTANCES = frozenset(
    "doc document ex example id instance item q query question seg segment sent sentence topic".split()
)
"""Words that instances, but no systems, are numbered after: q1, q2 are instances however many rows there are."""


def check_measures(table: Table, id_column: str | None, ids: Sequence[str], options: Options) -> None:
    """Refuse a table with a row for each metric instead of each instance."""
    if id_column is None or options.id is not None:
        return
    if names_measures(id_column) or are_measures(ids):
        names = list(dict.fromkeys(ids))[:3]
        raise InputError(
            f"{table.file}: column {show(id_column)} seems to hold metrics, one per row ({listing(names)}); expected "
            f"one row per instance, of one metric; give {Hint('id', 'NAME')} if these are instances"
        )


def check_systems(evaluation: Evaluation, file: str = "") -> None:
    """Refuse arrays of systems that are named like gold labels, predictions or metrics."""
    single = len(evaluation.metric.inputs) == 1
    numbers = [Spread(own[:, 0].astype(float)) if single else None for own in evaluation.stats]
    systems = dict(zip(evaluation.systems, numbers, strict=True))
    check_labels(file, systems, told="system")
    if len(systems) > 1:
        check_names(file, evaluation.systems, told="system")


def check_names(file: str, systems: Iterable[str], *, told: str = "column") -> None:
    """Refuse systems that are all named like metrics."""
    if are_measures(systems):
        files = f"one column per system, of one metric: give one such file per system and {Hint('score', 'NAME')}, or"
        expected = files if told == "column" else "numbers of systems, by one metric;"
        raise InputError(
            f"{_place(file)}{told}s {listing(systems)} seem to hold metrics; expected {expected} "
            f"{_if_meant(systems, told)}"
        )


def check_labels(file: str, columns: Mapping[str, Spread | None], *, told: str = "column") -> None:
    """Refuse gold labels and predictions where systems are expected.

    Args:
        file: for messages.
        columns: name -> its numbers, None where it holds words, of what may be systems.
        told: what they are: columns or systems.
    """
    numbers = [name for name, own in columns.items() if own is not None]
    gold, predicted = ([name for name in columns if named(name)] for named in (is_gold, is_predicted))
    predicted = [name for name in predicted if name not in gold]
    if gold and predicted:
        named, what = [*gold, *predicted], "gold labels and predictions, not like two systems"
    elif sure := [name for name in gold if _is_no_system(name, columns[name])]:
        named, what = sure, "gold labels, not like a system"
    elif len(columns) > 1 and all(map(is_only_predicted, columns)):
        named, what = list(columns), "predictions, not like scores"
    else:
        return
    look = f"{told}s {listing(named)} look" if len(named) > 1 else f"{told} {show(named[0])} looks"
    raise InputError(f"{_place(file)}{look} like {what}; {_SCORES_OR_LABELS}; {_if_meant(numbers or named, told)}")


def _place(file: str) -> str:
    return f"{file}: " * bool(file)


def _if_meant(names: Iterable[str], told: str) -> str:
    """What to do where names mislead."""
    return (
        f"give {Hint('systems', *spelled(names))} if they are systems"
        if told == "column"
        else "rename them if they are systems"
    )


def spelled(names: Iterable[str]) -> list[str]:
    """The first names, as an option takes them."""
    first = list(islice(names, SHOWN + 1))
    return [*map(show, first[:SHOWN]), *["..."] * (len(first) > SHOWN)]


def _is_no_system(name: str, spread: Spread | None) -> bool:
    """Whether numbers named like gold labels are no scores: by the name alone, or since they are those of classes."""
    if spread is None or is_only_gold(name):
        return spread is not None
    if is_paired_gold(name) or spread.whole < 1 or spread.distinct < 2:
        return False
    return spread.size <= 1 if is_rated_gold(name) else spread.distinct <= _MOST_CLASSES


def check_groups(tables: Sequence[Table], free: Sequence[str]) -> None:
    """Refuse files each of which has the same systems in a column: each is of a game or a data set, not of a system."""
    for name in free:
        if may_be_system(name) and all(name in table.columns and is_words(table, name) for table in tables):
            common = set.intersection(*({*table.columns[name]} for table in tables))
            if len(tables) > 1 and len(common) > 1:
                raise InputError(
                    f"{tables[0].file}: column {show(name)} seems to hold the systems, {listing(sorted(common), 3)}, "
                    "which are in all files, so that files would be compared, not systems; put the files into one "
                    f"table, with a column of their names as ids, and give {Hint('system', show(name))}; or "
                    f"{Hint('ignore', show(name))} if the files are the systems"
                )


def check_scores(
    tables: Sequence[Table],
    name: str,
    ids: Sequence[str | None],
    systems: Sequence[Sequence[str]],
    others: Sequence[str],
) -> None:
    """Refuse gold labels and predictions as the column of scores, which nobody named.

    Args:
        tables: one for each system, or one of all.
        name: the column that would be taken for the scores.
        ids: that of the instances, of each table; None where they are joined by position.
        systems: `[row]` of each table, where it has a column of them.
        others: columns of the first table that nothing is taken from.
    """
    file, give = tables[0].file, f"give {Hint('score', show(name))}"
    if is_gold(name) or is_only_predicted(name) or (is_predicted(name) and any(map(is_gold, tables[0].columns))):
        what = "gold labels" if is_gold(name) else "predictions"
        raise InputError(
            f"{file}: column {show(name)} looks like {what}, not like scores; {_SCORES_OR_LABELS}; {give} if it holds "
            "scores"
        )
    if is_score(name):
        return
    if len(tables) > 1 and (is_target(name) or all(_is_yes_or_no(table, name) for table in tables)):
        raise InputError(
            f"{file}: column {show(name)} may hold scores or predictions: {give} if it holds scores (1 for right and 0 "
            f"for wrong); {_AS_FILES}"
        )
    parts = [part for every in zip(tables, ids, systems, strict=True) for part in _rows_by_system(*every)]
    others = [each for each in others if each != name and all(each in table.columns for table in tables)]
    if len(parts) > 1 and _is_common(parts, name) and not all(_is_common(parts, each) for each in others):
        raise InputError(
            f"{file}: column {show(name)} is the same for all systems, as gold labels are, and scores are not; "
            f"{_SCORES_OR_LABELS}; {give} if it holds scores"
        )


def _rows_by_system(
    table: Table, id_column: str | None, systems: Sequence[str]
) -> Iterator[tuple[Table, dict[Any, int]]]:
    """The rows of each system of a table, by the ids of instances, or by their positions."""
    keys = range(len(table.lines)) if id_column is None else table.columns[id_column]
    rows: dict[str, dict[Any, int]] = {}
    for row, (system, key) in enumerate(zip(systems or repeat("", len(keys)), keys, strict=True)):
        rows.setdefault(system, {})[key] = row
    for own in rows.values():
        yield table, own


def _is_common(parts: Sequence[tuple[Table, Mapping[Any, int]]], name: str) -> bool:
    """Whether all systems have the same in a column, in more rows than would tell."""
    cells = {table: list(table.columns[name]) for table in dict.fromkeys(table for table, _ in parts)}
    (first, rows), *others = parts
    for table, own in others:
        shared = rows.keys() & own.keys()
        if len(shared) < FEWEST or any(cells[first][rows[key]] != cells[table][own[key]] for key in shared):
            return False
    return True


def _is_yes_or_no(table: Table, name: str) -> bool:
    """Whether a column holds 0 and 1, in more rows than would tell."""
    values = readable_numbers(table, name)
    return len(values) >= FEWEST and {*values.tolist()} <= {0.0, 1.0}


def check_turned(table: Table, systems: Sequence[str]) -> None:
    """Refuse columns that are numbered one after the other (q1, q2, ...), as instances are, and systems seldom."""
    names = [name.strip() for name in systems]
    words = {name.rstrip(digits) for name in names}
    numbers = [name[len(name.rstrip(digits)) :] for name in names]
    if len(words) > 1 or not all(0 < len(number) <= _LONGEST for number in numbers):
        return
    numbered = list(map(int, numbers)) == [*range(int(numbers[0]), int(numbers[0]) + len(numbers))]
    few = len(systems) >= FEWEST_TURNED and 2 * len(table.lines) <= len(systems)
    if numbered and (few or words.pop().strip("_-. ").lower() in _INSTANCES):
        raise InputError(
            f"{table.file}: columns {listing(systems[:3])}{', ...' if len(systems) > 3 else ''} are numbered like "
            f"instances, in a table of {len(table.lines)} rows; expected one row per instance and one column per "
            f"system: exchange rows and columns, or give {Hint('systems')} with these names if they are systems"
        )


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
        f"{Hint('ignore', show(name))} to leave it out, {Hint('id', show(name))} to use it as ids, or all systems: "
        f"{Hint('systems', *spelled(systems))}"
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
            f"{show(cells[texts[0]])}; repair it, or give {Hint('id', 'NAME')} if the column holds the instance ids"
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
