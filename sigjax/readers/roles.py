"""Find the roles of columns in a wide table (instance ids, systems, other data) by their names and values.

A name is evidence for ids, properties of instances, gold labels, predictions, metrics, systems, folds or totals. Names
that suit only ids (`id`, `doc_id`, `__index_level_0__`) are always trusted. Names that also suit systems (`topic`,
`length`) are trusted if the column's numbers are unlike the numbers of other columns. If a column of integers is unlike
the other columns (consecutive, distinct, of another size), the user is asked, so that it does not become a system by
mistake. Columns that would wrongly pass for systems are refused (an `InputError` is raised): metrics, gold labels,
predictions, and instances (if rows and columns are exchanged).
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sigjax.readers.evidence import (
    FEWEST_ROWS,
    Question,
    common_words,
    distinguishes_rows,
    find_ids,
    holds_row_numbers,
    made_of_others,
    other_scales,
    unused,
)
from sigjax.readers.lexicon import (
    are_measures,
    is_aggregate,
    is_fold,
    is_gold,
    is_id_name,
    is_label_word,
    is_mean,
    is_numbering,
    is_only_gold,
    is_only_predicted,
    is_order,
    is_paired_gold,
    is_predicted,
    is_property,
    is_rated_gold,
    is_score,
    is_sure_id,
    is_target,
    is_text_name,
    is_trial,
    lexicon,
    metrics_in,
    names_measures,
    speaks_against,
    system_of_run,
    words_of,
)
from sigjax.readers.options import Options, hint_for_number, listing, quote
from sigjax.readers.table import DataTable, as_float, is_text, locate
from sigjax.records import EvaluationRecord, Hint, InputError

_FEWEST_SURE = 8
"""Fewest rows in which three facts are not taken for a coincidence: numbers are consecutive, all distinct, or without
fractions."""
_SCALE = 10
"""Limit for the ratio of two columns of numbers: the median absolute value of a column of integers, divided by the
largest absolute value of another column (or by 1, if this is larger). Above the limit, the column of integers cannot
hold scores of the same metric as the other column."""


class NumberProfile:
    """Properties by which columns of numbers are compared; `values` `[row]` are finite float64."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.low, self.high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
        self.size = max(abs(self.low), abs(self.high))
        self.whole = float(np.mean(values == np.floor(values))) if values.size else 0.0

    @cached_property
    def distinct(self) -> int:
        """The number of distinct values."""
        return len(np.unique(self.values))

    @cached_property
    def median(self) -> float:
        """The median absolute value."""
        return float(np.median(np.abs(self.values)))

    @cached_property
    def counts_up(self) -> bool:
        """Whether the values are consecutive integers, in order."""
        return bool(np.all(np.diff(self.values) == 1))

    def is_like(self, other: "NumberProfile") -> bool:
        """Whether this column of integers and the other column of numbers may hold scores of the same metric."""
        outside = self.low < other.low or self.high > other.high
        constant = self.distinct == 1 and self.low > 1 >= other.size
        if self.median > _SCALE * max(1, other.size) or constant or (outside and self.counts_up):
            return False
        if self.values.size < _FEWEST_SURE or self.distinct <= 2:
            return True
        above = self.low >= 1 >= other.high
        rarer = self.distinct == self.values.size > 2 * other.distinct
        return not (self.counts_up or above or rarer or other.whole < 0.5)

    def is_unlike(self, others: Sequence["NumberProfile"]) -> bool:
        """Whether this column of integers cannot hold scores of the same metric as the other columns.

        That is so if it is unlike every other column (`is_like` is false), or unlike at least two columns of small
        numbers. A column of small numbers has numbers up to 1, or mostly numbers with fractions.
        """
        if self.whole < 1 or self.values.size < FEWEST_ROWS or self.size <= 1:
            return False
        unlike = [other for other in others if other is not self and not self.is_like(other)]
        few = sum(other.size <= 1 or other.whole < 0.5 for other in unlike)
        return few >= 2 or 0 < len(unlike) == len(others) - (self in others)


_SCORES = "expected scores of each system (1 for right and 0 for wrong, or errors)"
_BY_GOLD = f"predictions are scored with {Hint('gold', 'COLUMN')} (or a file) and {Hint('prediction', 'COLUMN')}"
SHOWN = 4
MOST_CLASSES = 20
"""Largest number of distinct integers in a column that may hold classes."""
_FEWEST_TURNED = 4
"""Fewest numbered columns (x1, x2, ...) that are taken for instances in a table with few rows."""
_NUMBERED = re.compile(r"(.*?)(\d{1,18})")
_INSTANCES = frozenset(
    "doc document ex example id instance item q query question seg segment sent sentence topic".split()
)
"""Words that, with a number, name instances and not systems. For example, columns named q1 and q2 are taken for
instances, whatever the number of rows."""


def check_measures(table: DataTable, id_column: str | None, options: Options) -> None:
    """Refuse a table with one row per metric instead of one row per instance: its column of ids holds metrics."""
    if id_column is None or options.id_column is not None:
        return
    if names_measures(id_column) or are_measures(table.names[id_column]):
        names = list(dict.fromkeys(table.names[id_column]))[:3]
        raise InputError(
            f"{table.file}: column {quote(id_column)} seems to hold metrics, one per row ({listing(names)}); expected "
            f"one row per instance, of one metric; give {Hint('id_column', 'NAME')} if these are instances"
        )


def check_systems(evaluation: EvaluationRecord, *, predicted: bool = False) -> None:
    """Refuse systems named like gold labels, predictions or metrics, and instances named like metrics.

    If the data are predictions (`predicted`), systems may have names such as pred_bert.
    """
    if evaluation.ids and are_measures(evaluation.ids):
        raise InputError(
            f"instances are named like metrics, {listing(evaluation.ids)}: a score of each metric is no result on an "
            "instance; give the results on each instance, of one metric"
        )
    systems = evaluation.systems
    if predicted:  # systems may have names such as pred_bert
        if gold := [name for name in systems if is_only_gold(name)]:
            raise InputError(f"system {quote(gold[0])} looks like gold labels; leave it out, or rename it")
        systems = []
    single = len(evaluation.metric.inputs) == 1
    numbers = [NumberProfile(own[:, 0].astype(float)) if single else None for own in evaluation.stats]
    check_labels(dict(zip(systems, numbers, strict=False)), noun="system")
    if len(evaluation.systems) > 1:
        check_names(evaluation.systems, noun="system")


def check_names(systems: Iterable[str], *, where: str = "", noun: str = "column") -> None:
    """Refuse the systems if all of them are named like metrics.

    In the message, `where` stands first, and `noun` says what the names are.
    """
    if are_measures(systems):
        give = Hint("score_column", "NAME")
        files = f"one column per system, of one metric: give one such file per system and {give}"
        expected = f"{files}, or" if noun == "column" else "numbers of systems, by one metric;"
        seem = f"{noun}s {listing(systems)} seem to hold metrics"
        raise InputError(f"{where}{seem}; expected {expected} {_if_meant(noun)}")


def check_labels(columns: Mapping[str, NumberProfile | None], *, where: str = "", noun: str = "column") -> None:
    """Raise an error if possible systems are really gold labels or predictions.

    `columns` maps the name of each possible system to its numbers, or to None if its values are words. The message
    begins with `where`. `noun` is what the message calls a possible system, such as "column".
    """
    gold = [name for name in columns if is_gold(name) or is_target(name) or is_label_word(name)]
    predicted = [name for name in columns if is_predicted(name) and name not in gold]
    if gold and predicted:
        named, what = [*gold, *predicted], "gold labels and predictions, not like two systems"
    elif sure := [
        name
        for name in gold
        if _is_no_system(name, columns[name]) or (noun == "column" and _has_all_classes(name, columns))
    ]:
        named, what = sure, "gold labels, not like a system"
    elif len(columns) > 1 and (sure := [name for name in columns if is_only_predicted(name)]):
        named = list(columns) if all(map(is_predicted, columns)) else sure
        what = "predictions, not like scores"
    else:
        return
    look = f"{noun}s {listing(named)} look" if len(named) > 1 else f"{noun} {quote(named[0])} looks"
    one = len(gold) == 1 and not predicted
    by_name = f"if the others are predictions, give {Hint('gold', quote(gold[0]))}" if one else _BY_GOLD
    how = by_name if noun == "column" else "Evaluation.from_predictions scores predictions"
    how += " (of one system, sigjax one-sample)" * (len(predicted) == 1)
    raise InputError(f"{where}{look} like {what}; {_SCORES}; {how}; {_if_meant(noun)}")


def _has_all_classes(name: str, columns: Mapping[str, NumberProfile | None]) -> bool:
    """Whether a column is named like labels, and its values include all numbers of the other columns.

    Its values must be integers, with 3 to `MOST_CLASSES` distinct values. Two values are enough if its name, such as y,
    means gold labels only beside predictions. They are not enough if its name and the name of some other column are
    both single letters.
    """
    own, others = columns[name], [each for other, each in columns.items() if other != name and each is not None]
    is_letter = len(name) == 1 and any(other != name and len(other) == 1 and other.islower() for other in columns)
    least = 2 if is_paired_gold(name) and not is_letter else 3
    named = is_label_word(name) or is_paired_gold(name)
    if own is None or not (named and others and own.whole == 1 and least <= own.distinct <= MOST_CLASSES):
        return False
    return all(np.isin(each.values, own.values).all() for each in others)


def _if_meant(noun: str) -> str:
    """Return advice for a message that refuses columns (or another `noun`): what to do if they are in fact systems."""
    how = f"name them with {Hint('systems')}" if noun == "column" else "rename them"
    return f"{how} if they are systems"


def has_classes(table: DataTable, name: str) -> bool:
    """Whether a column holds integers that may be classes, with at least two distinct values.

    >>> from sigjax.readers.table import DataColumn
    >>> [has_classes(DataTable("t.csv", {"y": DataColumn(y)}, [2, 3]), "y") for y in (["0", "7"], ["0.5", "1"])]
    [True, False]
    """
    column = table.columns[name]
    numbers = NumberProfile(column.readable()) if column.is_numeric() else None
    return numbers is not None and numbers.whole == 1 and 2 <= numbers.distinct <= MOST_CLASSES


def _is_no_system(name: str, numbers: NumberProfile | None) -> bool:
    """Whether a column named like gold labels cannot hold scores.

    The reason is its name (used only for gold labels), or that its numbers are classes.
    """
    if numbers is None or is_only_gold(name):
        return numbers is not None
    if is_paired_gold(name) or numbers.whole < 1 or numbers.distinct < 2:
        return False
    return numbers.size <= 1 if is_rated_gold(name) else numbers.distinct <= MOST_CLASSES


def check_scores(tables: Sequence[DataTable], name: str) -> None:
    """Refuse a column of scores that looks like gold labels or predictions, unless the user named it."""
    file, give = tables[0].file, f"give {Hint('score_column', quote(name))}"
    if is_gold(name) or is_only_predicted(name) or (is_predicted(name) and any(map(is_gold, tables[0].columns))):
        what = "gold labels" if is_gold(name) else "predictions"
        raise InputError(
            f"{file}: column {quote(name)} looks like {what}, not like scores; {_SCORES}; {_BY_GOLD}; {give} if it "
            "holds scores"
        )
    bits = not (is_score(name) or lexicon().direction(name) == "ask") and all(
        _is_yes_or_no(table, name) for table in tables
    )
    if len(tables) > 1 and (bits or is_target(name)):
        raise InputError(
            f"{file}: column {quote(name)} may hold scores or predictions: {give} if it holds scores (1 for right and "
            f"0 for wrong), or {Hint('gold', 'FILE')}, of ids and labels, if it holds predictions"
        )


def check_common(evaluation: EvaluationRecord, file: str, name: str) -> None:
    """Refuse numbers that are the same for all systems, as gold labels are, unless their column is named like scores.

    This is not called if the user chose the column. `name` is the name of the column.
    """
    stats = evaluation.stats
    alike = len(stats) > 1 and len(stats[0]) >= FEWEST_ROWS and evaluation.present is None and (stats == stats[0]).all()
    if alike and not is_score(name):
        raise InputError(
            f"{file}: column {quote(name)} is the same for all systems, as gold labels are, and scores are not; "
            f"{_SCORES}; {_BY_GOLD}; give {Hint('score_column', quote(name))} if it holds scores"
        )


def _is_yes_or_no(table: DataTable, name: str) -> bool:
    """Whether a column holds only 0 and 1, and has at least a few rows."""
    values = table.columns[name].readable()
    return not table.columns[name].verdicts and len(values) >= FEWEST_ROWS and {*values.tolist()} <= {0.0, 1.0}


def check_turned(table: DataTable, systems: Sequence[str]) -> None:
    """Refuse consecutively numbered columns (q1, q2, ...) that are probably instances and not systems."""
    found = [match for name in systems if (match := _NUMBERED.fullmatch(name.strip()))]
    words, numbers = {match[1] for match in found}, [int(match[2]) for match in found]
    if len(numbers) < len(systems) or len(words) > 1 or not np.all(np.diff(numbers) == 1):
        return
    few = len(systems) >= _FEWEST_TURNED and 2 * len(table.lines) <= len(systems)
    if few or words.pop().strip("_-. ").lower() in _INSTANCES:
        raise InputError(
            f"{table.file}: columns {listing(systems[:3])}{', ...' if len(systems) > 3 else ''} are numbered like "
            f"instances, in a table of {len(table.lines)} rows; expected one row per instance and one column per "
            f"system: exchange rows and columns ({Hint('transpose')}), or name them with {Hint('systems')} if they are "
            "systems"
        )


def check_runs(table: DataTable, systems: Sequence[str]) -> None:
    """Refuse columns that are named like the runs of systems (A_seed1, A_seed2, B_seed1)."""
    found = [system for name in systems if (system := system_of_run(name))]
    if len(found) == len(systems) > len({*found}):
        raise InputError(
            f"{table.file}: columns {listing(systems, SHOWN)} are named like runs of systems, and would be compared "
            f"like systems; expected a table with a column of systems, one of runs ({Hint('runs')}) "
            f"and one of scores, or name them with {Hint('systems')} if they are systems"
        )


_COMPARED = 100
"""Largest number of other columns with which a column is compared."""
_FOLD_NUMBER = re.compile(r"([a-zA-Z]+[ _.-]?)?\d{1,3}(\.0)?")
_MOST_FOLDS = 100


def wide_roles(table: DataTable, options: Options) -> "WideRoles":
    """Decide which column of a wide table holds the instance ids, and which columns are systems."""
    free = unused(table, options, [options.id_column])
    told = options.systems or (options.only if {*(options.only or ())} <= {*table.columns} else None)
    if options.systems is not None or options.only is not None:
        told = told or options.only or ()
        profiles = _profiles(table, [name for name in free if is_property(name) or name in table.index])
        about = [name for name, (role, _) in _roles(table, profiles).items() if role == "about"]
        ids = options.id_column or _wide_ids(table, options, [name for name in about if name not in told], told)
        return WideRoles(ids, tuple(told), [name for name in free if name not in (ids, *told)])
    roles = _roles(table, profiles := _profiles(table, free))
    counted = [
        name for name in free if is_order(name) and profiles[name] is not None and holds_row_numbers(table, name)
    ]
    roles |= {name: ("about", _NUMBERS_ROWS) for name in counted if len(free) > len(counted) + 1}
    ids = options.id_column or _wide_ids(table, options, [name for name in free if roles[name][0] == "about"])
    columns = [name for name in free if name != ids]
    about = [name for name in columns if roles[name][0] == "about"]
    systems = [name for name in columns if roles[name][0] in ("system", "unclear")]
    labels = systems if len(systems) > 1 else columns
    labels = [name for name in free if name in labels or (name == ids and is_gold(name))]
    check_labels({name: profiles[name] for name in labels}, where=f"{table.file}: ")
    if len(free) > 1 and all(own is None for own in profiles.values()) and not (ids and is_id_name(ids)):
        raise InputError(
            f"{table.file}: columns {listing(free, SHOWN)} hold words, and no scores; {_SCORES}; if they are labels, "
            f"give gold ones, too: {_BY_GOLD}"
        )
    if len(systems) < 2 and not about:
        systems = columns  # later, reading their cells raises a clear error
    if len(systems) > 1 or options.single:
        check_names(systems, where=f"{table.file}: ")
    unclear = {name: roles[name][1] for name in systems if roles[name][0] == "unclear"}
    if ids is None and columns and _is_numbered(table, columns[0]):
        unclear = {columns[0]: _NUMBERS_ROWS}
    elif ids is None and columns and [name for name in columns if _goes_in_steps(table, name)] == columns[:1]:
        unclear |= {columns[0]: _IN_STEPS}
    if len(systems) < 2:
        unclear |= {name: roles[name][1] for name in about}
    if len(systems) > 1 and any(map(speaks_against, systems)):
        check_alike({name: profiles[name] for name in systems}, table, systems, unclear)
    for name, reason in unclear.items():
        others = [each for each in systems if each != name]
        told = {"systems": others} if {*others} & {*unclear} else {}
        ways: list[dict[str, Any]] = [{"ignore": [*options.ignore, name], **told}, {"id_column": name, **told}]
        several = sum(not is_property(each) for each in systems) > 1
        ways = [{"systems": systems}] * (reason == _NAMED_SO and several and _may_be_called(name)) + ways
        raise Question(
            f"{table.file}: column {quote(name)} looks like ids or a property of the instances, not like a system: it "
            f"{reason}",
            ways,
            f"{Hint('systems')} names the columns of systems",
        )
    if len(systems) > 1:
        check_alike({name: profiles[name] for name in systems}, table, systems)
    return WideRoles(ids, tuple(systems), [name for name in columns if name not in systems])


def _may_be_called(name: str) -> bool:
    """Whether a system may have this name, although it is the name of a property of instances.

    A system may be called "Batch". It may not have a name for ids, orders, folds or trials, such as "fold".
    """
    return not (is_sure_id(name) or is_order(name) or is_fold(name) or is_trial(name))


class WideRoles(NamedTuple):
    """The roles of columns in a wide table."""

    ids: str | None
    """The column of instance ids; None if row numbers are the ids."""
    systems: tuple[str, ...]
    others: list[str]


def check_alike(
    profiles: Mapping[str, NumberProfile | None],
    table: DataTable,
    systems: Sequence[str],
    unclear: Collection[str] = (),
) -> None:
    """Ask which columns are systems, if the name or the numbers of a column in `systems` suggest another role.

    `profiles` maps each of these columns to its numbers, or to None for words. The columns `unclear` are not proposed
    as systems.
    """
    known = {name: own for name, own in profiles.items() if own is not None}
    numbers = {name: table.columns[name].numbers(lambda _, cell: as_float(cell)) for name in known}
    numbers = {name: np.where(np.isfinite(own), own, np.nan) for name, own in numbers.items()}
    named = {name: kind for name in systems if (kind := speaks_against(name))}
    if 2 * len(named) < len(systems) and {*named.values()} == {"score"} and max(map(len, named)) <= _SHORT:
        named = {}  # a system may have a short name such as "ok"
    made = made_of_others({name: own for name, own in numbers.items() if name not in named})
    scales = None if named or made else other_scales(numbers)
    if not (named or made or scales):
        return
    ranked = len(made) == len(systems) and all(own.ranks for own in made.values())
    kinds: dict[str, list[str]] = {}
    for name, kind in named.items():
        kinds.setdefault(kind, []).append(name)
    against = [f"{listing(own, SHOWN)} named like {_KINDS[kind][len(own) > 1]}" for kind, own in kinds.items()]
    if ranked:
        against, made = ["they hold the ranks of each other, the best of which is 1"], {}
    against += [f"{quote(name)} {own.relation}" for name, own in list(made.items())[:SHOWN]]
    against += [scales] if scales else []
    free = [] if ranked else [n for n in systems if n not in named and n not in made and n not in unclear]
    alone = {name: numbers[name] for name in free if name in numbers}
    sure = (
        len(free) > 1
        and all(own.sure for own in made.values())
        and not {"metric", "score"} & {*kinds}
        and not scales
        and not other_scales(alone)
    )
    ways: list[dict[str, Any]] = [{"systems": free}] * sure
    ways += [{"systems": [*systems], "lower_is_better": True}] * ranked
    for group in of_one_metric([*named]):
        inside = {name: numbers[name] for name in group if name in numbers}
        if not made_of_others(inside) and not other_scales(inside):
            ways.append({"systems": group})
    scores = [name for name in named if name in numbers and named[name] in ("metric", "score")]
    if not ways and (column := _shaped_systems(table, unused(table, Options()))):
        ways = [{"system_column": column, "score_column": name} for name in scores]
    files = "" if ways else f"; of one system, give one such file per system and {Hint('score_column', 'NAME')}"
    raise Question(
        f"{table.file}: which columns are systems, {listing(systems, SHOWN)}? against it: {'; '.join(against)}",
        ways,
        f"{Hint('systems')} names them{files}",
    )


def _shaped_systems(table: DataTable, free: Sequence[str]) -> str | None:
    """Find the only column of words that looks like systems by its values; None if there is no such column.

    Each of its labels occurs exactly once with each word of another column.
    """
    words = {name: [*table.columns[name]] for name in free if table.columns[name].is_words()}
    words = {name: cells for name, cells in words.items() if not is_text_name(name) and all(map(str.strip, cells))}
    found: list[str] = []
    for name, labels in words.items():
        few = {*labels}
        if not 1 < len(few) <= len(labels) // 2:
            continue
        for other, cells in words.items():
            pairs = {*zip(labels, cells, strict=True)}
            if other != name and len({*cells}) >= len(few) and len(pairs) == len(few) * len({*cells}) == len(labels):
                found.append(name)
                break
    return found[0] if len(found) == 1 else None


_SHORT = 4
_KINDS = {
    "metric": ("a metric", "metrics"),
    "aggregate": ("what is made of others", "what is made of others"),
    "cost": ("a cost", "costs"),
    "score": ("scores", "scores"),
}


def of_one_metric(systems: Sequence[str]) -> list[list[str]]:
    """Group the columns whose names contain the same metric (or a mean), such as acc_svm and acc_mlp.

    Groups of a single column are left out.
    """
    groups: dict[str, list[str]] = {}
    for name in systems:
        marks = [*metrics_in(name), *filter(is_mean, words_of(name))]
        others = [word for word in words_of(name) if word not in marks]
        if len(marks) == 1 and others and not any(map(is_aggregate, others)):
            groups.setdefault(marks[0], []).append(name)
    return [own for own in groups.values() if len(own) > 1]


def _profiles(table: DataTable, names: Sequence[str]) -> dict[str, NumberProfile | None]:
    """Return a dict from each of `names` to the profile of the column's numbers, or to None for a column of words."""
    columns = {name: table.columns[name] for name in names}
    numeric = {name for name, own in columns.items() if not own.is_words()}
    if all(is_property(name) or _is_numbered(table, name) for name in numeric):  # otherwise, words are not scores
        numeric |= {name for name, own in columns.items() if own.verdicts}
    return {name: NumberProfile(own.readable()) if name in numeric else None for name, own in columns.items()}


def _roles(table: DataTable, profiles: Mapping[str, NumberProfile | None]) -> dict[str, tuple[str, str]]:
    """Return name -> (role, reason) for each column of a wide table.

    The role is "about" (an id or a property of instances), "text" (words), "system", or "unclear" (the user is asked).
    `profiles` maps a column to its numbers, or to None for words.
    """
    numbers = [(name, own) for name, own in profiles.items() if own is not None and own.values.size]
    scores = [own for name, own in numbers if not (is_property(name) or name in table.index)]
    return {
        name: ("about", "is the index of the data frame") if name in table.index else _role(name, own, scores)
        for name, own in profiles.items()
    }


_NUMBERS_ROWS, _NAMED_SO = "numbers the rows", "is named like ids or a property of instances"
_IN_STEPS = "goes in equal steps, as settings do"


def _role(name: str, numbers: NumberProfile | None, scores: Sequence[NumberProfile]) -> tuple[str, str]:
    """Return the role of a column, and the reason as the end of a message ("it holds words").

    The role is "about" (the column holds ids or a property of instances), "text" (it holds words), "system", or
    "unclear" (the user is asked). The first rule that applies decides. `numbers` is None for a column of words.
    `scores` are the columns of numbers that may hold scores.
    """
    if numbers is None:
        return ("about", "holds words and is named like ids") if is_id_name(name) else ("text", "holds words")
    whole = numbers.whole == 1
    if whole and numbers.distinct == numbers.values.size and is_numbering(name):
        return "about", _NUMBERS_ROWS
    if whole and is_sure_id(name) and not is_numbering(name):
        return "about", "is named like ids"
    if numbers.is_unlike(scores[:_COMPARED]):
        reason = "has whole numbers unlike those of other columns"
        if is_property(name) and not is_sure_id(name):
            return "about", f"is named like a property of instances, and {reason}"
        return "unclear", reason
    if scores and not is_numbering(name):
        if is_sure_id(name) or is_property(name, beside_ids=True) or is_order(name):
            return "unclear", _NAMED_SO
        if whole and numbers.size > 1 and is_id_name(name):
            return "unclear", "has whole numbers and is named like ids"
    return "system", "may hold scores"


def _is_numbered(table: DataTable, name: str) -> bool:
    """Whether a column counts the rows in order, from 0 or 1."""
    values = table.columns[name].readable()
    return len(values) == len(table.lines) >= FEWEST_ROWS and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def _goes_in_steps(table: DataTable, name: str) -> bool:
    """Whether a column has four or more numbers in equal steps or factors: 0.1, 0.2, 0.3, ..., or 1, 10, 100, ...

    >>> from sigjax.readers.table import DataColumn
    >>> columns = {"n": DataColumn(["0.01", "0.1", "1", "10"]), "A": DataColumn(["0.5", "0.6", "0.62", "0.7"])}
    >>> [_goes_in_steps(DataTable("t.csv", columns, [2, 3, 4, 5]), name) for name in columns]
    [True, False]
    """
    values = table.columns[name].readable()
    if len(values) != len(table.lines) or len(values) <= FEWEST_ROWS or not np.isfinite(values).all():
        return False
    steps = np.diff(values)
    if np.ptp(steps) <= 1e-9 * np.abs(values).max() and steps[0] != 0:
        return True
    ratios = values[1:] / values[:-1] if (values > 0).all() else np.ones(1)
    return bool(ratios[0] != 1 and np.ptp(ratios) <= 1e-6 * ratios[0])


def _wide_ids(table: DataTable, options: Options, believed: Sequence[str], told: Sequence[str] = ()) -> str | None:
    """Find the column of instance ids in a wide table; None if there is none.

    The first column may be ids if it is named like ids or holds text. `believed` are further columns that may hold ids.
    `told` are systems that the user named.
    """
    first = unused(table, options)[:1]
    if first and (first[0] in told or not (is_id_name(first[0]) or _is_text(table, first[0]))):
        first = []
    if first and first[0] in table.index and is_numbering(first[0]):
        first = []  # if frames were concatenated, row numbers repeat
    own = find_ids(table, options, first, believed)
    counts = own is not None and holds_row_numbers(table, own) and not (is_sure_id(own) and not is_numbering(own))
    if own is None or counts or not distinguishes_rows(table, own, options):
        words = [name for name in unused(table, options, told) if not table.columns[name].nested]
        return common_words([table], words, options, None).shared or own
    return own


def _is_text(table: DataTable, first: str) -> bool:
    """Whether the first column holds text.

    If fewer than half of its cells are texts, a text is refused as a typing error.
    """
    cells = table.columns[first]
    if cells.nested or cells.parsed is not None or cells.verdicts:
        return False
    texts = [row for row, cell in enumerate(cells) if is_text(cell) and hint_for_number(cell) is None]
    if texts and 2 * len(texts) < len(table.lines):
        expected = f"expected a number as in most of the column, got {quote(cells[texts[0]])}"
        how = f"repair it, or give {Hint('id_column', 'NAME')} if the column holds the instance ids"
        raise InputError(f"{locate(table, texts[0], first)}: {expected}; {how}")
    return bool(texts)


def table_notes(table: DataTable, scores: Iterable[str], unit: str | None) -> tuple[str, ...]:
    """Make notes on words that are read as 0 and 1, and a warning if folds of a cross-validation are resampled.

    `scores` are the columns of scores. `unit` names the column whose values are resampled whole: the clusters, or the
    ids if there are runs. There is no warning if several units (such as data sets) contain several folds each.
    """
    verdicts = dict.fromkeys(table.columns[name].verdicts for name in scores if name in table.columns)
    read = [f"{yes!r} is read as 1 and {no!r} as 0" for yes, _, no in (pair.partition("/") for pair in verdicts) if yes]
    named = {name: {*table.columns[name]} for name in table.columns if is_fold(name)}
    folds = [
        f"warning: column {quote(name)}: folds share training data, so that results on them depend on each other, "
        "p-values are too small and intervals too short; compare on a separate test set, or on several data sets; "
        "`sigjax classical --design folds` has a test of folds"
        for name, numbers in named.items()
        if 1 < len(numbers) <= _MOST_FOLDS and all(_FOLD_NUMBER.fullmatch(each.strip()) for each in numbers)
        if unit is None or unit not in table.columns or not _are_within(table.names[name], table.names[unit])
    ]
    return (*read, *folds)


def _are_within(folds: np.ndarray, units: np.ndarray) -> bool:
    """Whether there are several units, and the rows of each unit belong to several folds.

    `folds` and `units` `[row]` are the labels of the rows.
    """
    of_unit: dict[str, set[str]] = {}
    for fold, unit in zip(folds.tolist(), units.tolist(), strict=True):
        of_unit.setdefault(unit, set()).add(fold)
    return len(of_unit) > 1 and min(map(len, of_unit.values())) > 1
