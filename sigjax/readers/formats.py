"""What a file format is: its name, how files of it are recognized, and how they become an `Evaluation`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sigjax.files.opening import decode_text, read_bytes
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
            is asked of the first file of a comparison.
        metrics: names of the metrics that it gives statistics for, the default first; empty where it gives numbers that
            any metric of numbers takes.
        options: names of the options of `read` that mean something here only.
        certain: whether files that look like this are nothing else, and are refused rather than taken for plain text
            where the metric does not fit.
        folder: pattern of the name of the file that is read where a system is given by its folder; "" where it is not.
        offers: tells further names of metrics, where `metrics` cannot list them all.
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

    def check_options(self, options: Options, what: str) -> None:
        """Refuse options that mean nothing for `what`, which is of this format."""
        for name in ("filter", "swap", "one_based", "runs", "tokenize", "lowercase"):
            if getattr(options, name) and name not in self.options:
                raise InputError(f"--{name.replace('_', '-')} means nothing for the {what}; leave it out")
        if options.unit == "response" and "unit" not in self.options:
            raise InputError(f"--unit response needs spans, links, brackets or terms; the {what} has none")


def directed(evaluation: Evaluation, options: Options) -> Evaluation:
    """The evaluation with the direction of its metric as in `lower_is_better`."""
    if not options.lower_is_better:
        return evaluation
    return replace(evaluation, metric=replace(evaluation.metric, higher_is_better=False))


def read_lines(file: str, *, at_least: int = 0) -> list[str]:
    """The lines of a text file; empty lines at its end are dropped, down to `at_least` lines."""
    lines = decode_text(file, read_bytes(file)).removesuffix("\n").split("\n")
    while len(lines) > at_least and not lines[-1]:
        lines.pop()
    return lines


def matching_lines(file: str, *, gold: str, count: int) -> list[str]:
    """The lines of a system's file, which must have as many as the gold file."""
    lines = read_lines(file, at_least=count)
    if len(lines) != count:
        raise InputError(f"{file}: has {len(lines)} lines, but {gold} has {count}; expected one for each gold line")
    return lines
