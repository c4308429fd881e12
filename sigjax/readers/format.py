"""What a file format is, the files that it takes, and the sheets that they are.

Lines of a system's file belong to those of the gold file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from sigjax.metrics.ratios import FBETA
from sigjax.readers.options import Options, select_systems
from sigjax.records import Evaluation, Hint, InputError
from sigjax.run.files import head_lines, read_text

Takes = Literal["file", "systems", "gold"]
"""One file with all systems; one file per system; or gold files and then one file per system."""
Reading = Callable[[Options], Evaluation]
"""What files hold: a function of the options, with one metric, that gives the evaluation."""
Tasks = Callable[[Options], Evaluation | dict[str, Evaluation | None]]
"""The same where files may be of several tasks: then it gives the evaluation of each that has the metric, by name."""


@dataclass(frozen=True)
class Sources:
    """The files of a comparison."""

    files: tuple[str, ...]
    """The one file with all systems, or the gold files; none if each system has a file and there is no gold."""
    systems: Mapping[str, str]
    """Name of each system -> its file; empty if one file holds all systems."""
    named: frozenset[str] = frozenset()
    """Systems named by the user; the others are named after their files."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The files of systems that have several, one per task."""

    def gold(self) -> str:
        """The only gold file."""
        first, *others = self.files
        if others:
            raise InputError(
                f"{others[0]}: is a second gold file; expected one, and the systems' files with {Hint('i')}"
            )
        return first

    def by_file(self) -> dict[str, str]:
        """Each file -> the system that it was given for."""
        return {file: name for name, first in self.systems.items() for file in self.parts.get(name, (first,))}

    def chosen(self, options: Options) -> dict[str, str]:
        """Name of each system to compare -> its file; the files of others are not read."""
        names = select_systems(next(iter(self.systems.values())), list(self.systems), options)
        return {name: self.systems[name] for name in names}


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a file says of one system: one row per instance and run."""

    system: str
    file: str
    numbers: Mapping[str, np.ndarray]
    """name -> [row] float64; NaN where there is none."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """name -> [row]: what `--cluster` and `--strata` may name."""
    ids: Sequence[Any] | None = None
    """[row]; None where instances are known by their position."""
    runs: Sequence[str] | None = None
    """[row] the trial; None where each instance was run once."""
    lines: Sequence[int] | np.ndarray | None = None
    """[row] the line of the file; None where rows are counted."""
    id_column: str | None = None
    """The column of a table that the ids are from, for messages."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.numbers.values()), ()) if self.ids is None else self.ids)

    def place(self, row: int) -> str:
        """The line or the row, for a message."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def looks_like(*patterns: bytes, ending: str | tuple[()] = ()) -> Callable[[str, bytes], bool]:
    r"""A `Format.looks`: whether the name has an ending, or the first bytes hold patterns, one after the other.

    One pattern with `.*` for what stands between would try every beginning with every end.

    Example:
        >>> looks = looks_like(rb"^\s*\(", ending=".mrg")
        >>> looks("a.mrg", b""), looks("a.txt", b"(TOP (X a))"), looks("a.txt", b"a (X a)")
        (True, True, False)
    """

    def holds(head: bytes) -> bool:
        start = 0
        for pattern in patterns:
            found = re.compile(pattern).search(head, start)
            if found is None:
                return False
            start = found.end()
        return bool(patterns)

    return lambda name, head: name.endswith(ending) or holds(head)


def lines_like(*patterns: bytes) -> Callable[[str, bytes], bool]:
    """A `Format.looks`: whether all of the first lines are of one of some patterns."""

    def looks(name: str, head: bytes) -> bool:
        lines = head_lines(head)
        return bool(lines) and any(all(re.fullmatch(kind, line) for line in lines) for kind in patterns)

    return looks


NO_ENDING = r"\.?[^.]*"  # names of files without an ending


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: its name in `--reader`.
        title: what it is, in a few words.
        takes: which files it takes.
        read: parses the files, once for all metrics, and returns a function of the options with one metric that gives
            its evaluation. Refusals are `InputError`s that name file and line.
        looks: (name of a file in lower case without .gz, its first bytes unpacked) -> whether it is of this format. It
            is asked of the first file of a comparison, if `names` and `begins` allow it.
        metrics: names of the metrics that it gives statistics for, the default first; empty where it gives numbers that
            any metric of numbers takes.
        options: names of the options of `read` that mean something here only.
        certain: whether files that look like this are nothing else, and are refused rather than taken for plain text
            where the metric does not fit.
        tasks: whether a system may have several files, one per task, so that its folder may hold them all.
        folder: pattern of the name of the file that is read where a system is given by its folder; "" where it is not.
        offers: tells further names of metrics, where `metrics` cannot list them all.
        names: regular expression of the names of its files, without the folder and in lower case.
        begins: what its files begin with after white space, one of these.
        parts: whether a file may as well have one system only, so that there is one for each.
        confirmed: (gold files, files of systems) -> whether they are of this format together, where the first alone
            cannot tell; refuses what is nearly so.
    """

    name: str
    title: str
    takes: Takes
    read: Callable[[Sources, Options], Tasks]
    looks: Callable[[str, bytes], bool]
    metrics: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    folder: str = ""
    certain: bool = True
    offers: Callable[[str], bool] = lambda name: False
    names: str = ".*"
    begins: tuple[bytes, ...] = (b"",)
    tasks: bool = False
    parts: bool = False
    confirmed: Callable[[Sequence[str], Sequence[str]], bool] = lambda files, outputs: True

    def fits(self, name: str, head: bytes) -> bool:
        """Whether a file of this name and first bytes looks like one of this format."""
        return self.may_be(name, head) and self.looks(name, head)

    def may_be(self, name: str, head: bytes) -> bool:
        """Whether files of this format may have such a name and beginning."""
        return bool(re.fullmatch(self.names, PurePath(name).name, re.S)) and head.lstrip().startswith(self.begins)

    def serves(self, metric: object) -> bool:
        """Whether it can give what a metric takes; of a record or function that is not known beforehand.

        Example:
            >>> tagged = Format("conll", "tags", "gold", ..., ..., metrics=("fscore", "accuracy"))
            >>> tagged.serves("f2"), tagged.serves("bleu")
            (True, False)
        """
        if metric is None or not self.metrics or not isinstance(metric, str):
            return True
        named = metric in self.metrics or ("fscore" in self.metrics and FBETA.fullmatch(metric) is not None)
        return named or self.offers(metric)


def first_task(reading: Tasks) -> Reading:
    """The evaluation; of several tasks that of the first."""

    def read(options: Options) -> Evaluation:
        found = reading(options)
        if isinstance(found, Evaluation):
            return found
        name, first = next((name, each) for name, each in found.items() if each is not None)
        return replace(first, notes=(*first.notes, f"tasks: {', '.join(found)}; the instances are those of {name}"))

    return read


def metrics_of_tasks(reading: Tasks, options: Options, metrics: Sequence[str]) -> list[str]:
    """The first metric, and the next ones by which tasks without it have a score."""
    chosen, without = list(metrics[:1]), None
    for name in metrics:
        with suppress(InputError):
            found = reading(replace(options, metric=name))
            if isinstance(found, Evaluation):
                break
            lacking = {task for task, own in found.items() if own is None}
            if without is not None and not without <= lacking:
                chosen.append(name)
            without = lacking if without is None else without & lacking
    return chosen


def directed(evaluation: Evaluation, options: Options) -> Evaluation:
    """The evaluation with the direction of its metric as in `lower_is_better`."""
    if not options.lower_is_better:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=False))


def read_lines(file: str, *, at_least: int = 0) -> list[str]:
    """The lines of a text file; empty lines at its end are dropped, down to `at_least` lines."""
    lines = read_text(file).removesuffix("\n").split("\n")
    while len(lines) > at_least and not lines[-1]:
        lines.pop()
    return lines


def matching_lines(file: str, *, gold: str, count: int) -> list[str]:
    """The lines of a system's file, which must have as many as the gold file."""
    lines = read_lines(file, at_least=count)
    if len(lines) != count:
        raise InputError(f"{file}: has {len(lines)} lines, but {gold} has {count}; expected one for each gold line")
    return lines
