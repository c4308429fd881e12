"""What a file format is: its name, how files of it are recognized, and how they become an `Evaluation`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

from sigjax.metrics.matches import FBETA
from sigjax.readers.options import Options, select_systems
from sigjax.records import Evaluation, InputError

Takes = Literal["file", "systems", "gold"]
"""One file with all systems; one file per system; or gold files and then one file per system."""
Reading = Callable[[Options], Evaluation]
"""What files hold: a function of the options, with one metric, that gives the evaluation."""


@dataclass(frozen=True)
class Sources:
    """The files of a comparison."""

    files: tuple[str, ...]
    """The one file with all systems, or the gold files; none if each system has a file and there is no gold."""
    systems: Mapping[str, str]
    """Name of each system -> its file; empty if one file holds all systems."""
    named: frozenset[str] = frozenset()
    """Systems named by the user; the others are named after their files."""

    def gold(self) -> str:
        """The only gold file."""
        first, *others = self.files
        if others:
            raise InputError(f"{others[0]}: is a second gold file; expected one, and the systems' files after -i")
        return first

    def chosen(self, options: Options) -> dict[str, str]:
        """Name of each system to compare -> its file; the files of others are not read."""
        names = select_systems(next(iter(self.systems.values())), list(self.systems), options.systems)
        return {name: self.systems[name] for name in names}


def looks_like(pattern: bytes = rb"(?!)", *, ending: str | tuple[()] = ()) -> Callable[[str, bytes], bool]:
    r"""A `Format.looks`: whether the name has an ending, or the first bytes hold a pattern; by default, neither.

    Example:
        >>> looks = looks_like(rb"^\s*\(", ending=".mrg")
        >>> looks("a.mrg", b""), looks("a.txt", b"(TOP (X a))"), looks("a.txt", b"a (X a)")
        (True, True, False)
    """
    return lambda name, head: name.endswith(ending) or re.search(pattern, head) is not None


NO_ENDING = r"\.?[^.]*"
"""The names of files without an ending."""


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
        folder: pattern of the name of the file that is read where a system is given by its folder; "" where it is not.
        offers: tells further names of metrics, where `metrics` cannot list them all.
        names: regular expression of the names of its files, without the folder and in lower case.
        begins: what its files begin with after white space, one of these.
    """

    name: str
    title: str
    takes: Takes
    read: Callable[[Sources, Options], Reading]
    looks: Callable[[str, bytes], bool]
    metrics: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    folder: str = ""
    certain: bool = True
    offers: Callable[[str], bool] = lambda name: False
    names: str = ".*"
    begins: tuple[bytes, ...] = (b"",)

    def fits(self, name: str, head: bytes) -> bool:
        """Whether a file of this name and first bytes looks like one of this format."""
        may = re.fullmatch(self.names, PurePath(name).name, re.DOTALL) and head.lstrip().startswith(self.begins)
        return bool(may) and self.looks(name, head)

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


def directed(evaluation: Evaluation, options: Options) -> Evaluation:
    """The evaluation with the direction of its metric as in `lower_is_better`."""
    if not options.lower_is_better:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=False))
