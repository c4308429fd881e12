"""What would pass for systems on instances: metrics, gold labels, predictions, totals, exchanged axes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from string import digits
from typing import Any

from sigjax.readers.options import Options, listing, show
from sigjax.readers.table import Table, is_words, readable_numbers
from sigjax.readers.tables.spread import FEWEST, Spread
from sigjax.readers.tables.vocabulary import (
    are_measures,
    is_gold,
    is_only_gold,
    is_only_predicted,
    is_paired_gold,
    is_predicted,
    is_rated_gold,
    is_score,
    is_target,
    may_be_system,
    names_measures,
)
from sigjax.records import Evaluation, InputError

_AS_FILES = "labels are compared as files, gold first: sigjax compare GOLD -i A B --reader id-labels -m accuracy"
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
            "one row per instance, of one metric; give --id NAME if these are instances"
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
        files = "one column per system, of one metric: give one such file per system and --score NAME, or"
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
        f"give --systems {spelled(names)} if they are systems"
        if told == "column"
        else "rename them if they are systems"
    )


def spelled(names: Iterable[str]) -> str:
    """The first names, as an option takes them."""
    first = list(islice(names, SHOWN + 1))
    return " ".join(map(show, first[:SHOWN])) + (" ..." if len(first) > SHOWN else "")


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
                    f"table, with a column of their names as ids, and give --system {show(name)}; or --ignore "
                    f"{show(name)} if the files are the systems"
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
    file, give = tables[0].file, f"give --score {show(name)}"
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
            "system: exchange rows and columns, or give --systems with these names if they are systems"
        )
