"""How a table is read, as a record: each role with its columns and its evidence; and questions, if there is none.

A role is *told* (by an option), *named* (its column has a name of the lexicon) or *shaped* (by the values of the
column). A question proposes options that were tried, each with the systems and rows that it would compare.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import sigjax.readers.lexicon as lexicon
from sigjax.readers.options import Options, listing, quote
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
"""The layouts of a table in words."""


@dataclass(frozen=True)
class Role:
    """The columns of a role, and the evidence for it.

    Attributes:
        columns: their names; none if no column has the role.
        evidence: "told" (by an option), "named" (by the lexicon) or "shaped" (by what the columns hold).
        said: what a note says of it, where that is not the names of the columns.
    """

    columns: tuple[str, ...] = ()
    evidence: Evidence = "shaped"
    said: str = ""

    def __str__(self) -> str:
        """Return its words in a note."""
        return self.said or f"from {'column ' * (len(self.columns) == 1)}{listing(self.columns, SHOWN)}"


def role(names: Sequence[str], told: object = None, *, named: bool = False, said: str = "") -> Role:
    """A role with its evidence."""
    return Role(tuple(names), "told" if told else "named" if named else "shaped", said)


@dataclass(frozen=True, kw_only=True)
class TableReading:
    """How a table is read.

    Attributes:
        layout: "wide" (a column per system), "long" (a column of systems), "files" (one table per system),
            "predictions" or "battles".
        system, id, score: which columns are the systems, the ids of instances, and the scores.
        metric: its name.
        direction: which scores are better, and by what.
        run, fold, cluster, task: the columns of these roles.
        others: roles of this layout alone, by name: gold labels, predictions, winners.
        ignored: columns that are not used.
        options: those that say it otherwise.
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
        """The roles that columns have, by name."""
        named = {"systems": self.system, "ids": self.id, "scores": self.score, "runs": self.run, "folds": self.fold}
        for name, own in (*self.others, *named.items(), ("clusters", self.cluster), ("tasks", self.task)):
            if own.columns or own.said:
                yield name, own

    def note(self) -> str:
        """A line that says which columns were used for which roles."""
        about = [*self.others, ("systems", self.system), ("instance ids", self.id), ("scores", self.score)]
        parts = [f"{what} {own}" for what, own in about if own.columns or own.said]
        parts += [self.direction] * bool(self.direction)
        parts += [f"not used {listing(self.ignored, SHOWN)}"] if self.ignored else []
        return f"read from the table: {'; '.join(parts)} (options: {self.options})"


def with_parts(reading: TableReading, ids: str | None, runs: str | None) -> TableReading:
    """The reading with the roles of folds and tasks, among the columns that ids and runs are made of.

    >>> reading = TableReading(layout="long", system=Role(), id=Role())
    >>> [(name, own.columns) for name, own in with_parts(reading, "task,item", "fold").roles()]
    [('folds', ('fold',)), ('tasks', ('task',))]
    """
    names, several = (ids or "").split(","), runs is not None or "," in (ids or "")
    folds = [name for name in dict.fromkeys([*(runs or "").split(","), *names]) if lexicon.is_fold(name)]
    tasks = [name for name in names if several and (lexicon.is_data_set(name) or name == FILE)]
    return replace(reading, fold=role(folds, named=True), task=role(tasks, named=True))


FILE = "file"
"""The column that says which file a row is of, where files are put together."""


def note_reading(options: Options, reading: TableReading) -> None:
    """Keep how a table is read with the sheets that were joined, which other metrics may have read otherwise."""
    if options.seen:
        options.seen[:] = [replace(sheet, reading=reading) for sheet in options.seen]


class Asked(InputError):
    """A question to a person, with the ways that were tried: options of reading, the likeliest first."""

    ways: Sequence[Mapping[str, Any]] = ()


class Question(InputError):
    """A refusal of data that could be read in several ways; `ways` are possible options, the likeliest first."""

    def __init__(
        self, text: str, ways: Sequence[Mapping[str, Any]] = (), otherwise: str = "", *, needed: bool = False
    ) -> None:
        """Take what is unclear, the options, what to do where none of them can be read, and whether one is `needed`.

        A way that is needed whatever else is unclear is proposed if it leads to another refusal, too.
        """
        super().__init__(f"{text}; {otherwise}" if otherwise else text)
        self.text, self.ways, self.otherwise = text, ways, otherwise
        self.needed = needed or not otherwise


MOST_WAYS = 3
"""Ways that a refusal proposes, at most."""


def answered(question: Question, attempt: Callable[[Options], EvaluationRecord], options: Options) -> Asked:
    """The refusal with the ways that worked, each with the systems and rows that it compares."""
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
            else:  # may results be missing alone?
                with suppress(InputError):
                    attempt(replace(own, missing="drop"))
                    further.append(way)
        if len(given) == MOST_WAYS:
            break
    if not given and further:
        given = [(way, _typed(way)) for way in further[:MOST_WAYS]]
        given[-1] = (given[-1][0], f"{given[-1][1]} (more is asked then)")
    *first, last = [said for _, said in given] or [""]
    either = f"{', '.join(first)} or {last}" if first else last
    parts = [question.text, f"give {either}" if last else "", question.otherwise]
    asked = Asked("; ".join(filter(None, parts)).replace("?; ", "? "))
    asked.ways = [way for way, _ in given]
    return asked


def _typed(way: Mapping[str, Any]) -> str:
    """Options as messages name them."""
    return " ".join(
        str(Hint(name) if value is True else Hint(name, *map(quote, [value] if isinstance(value, str) else value)))
        for name, value in way.items()
    )


def compared(evaluation: EvaluationRecord, sheets: Sequence[Any]) -> str:
    """What an evaluation compares, in a line: "2 systems: 'A', 'B'; 40 rows joined by 'task'"."""
    count, rows = len(evaluation.systems), evaluation.num_instances
    column = sheets[0].id_column if sheets else None
    by = "row number" if column is None or lexicon.is_numbering(column) else quote(column)
    some = listing(evaluation.systems, SHOWN - 1)
    return f"{count} system{'s' * (count != 1)}: {some}; {rows:,} row{'s' * (rows != 1)} joined by {by}"
