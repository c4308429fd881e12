"""Boards of record: documented leaderboards, made from a TOML file. `board` makes the page, tables, figures and JSON.

The file gives a title, the source and the licence of the results, their files, and options of `compare` by name. An
unknown key or a wrong value is an error. The board contains the comparison, a lower bound on the number of real
differences (pairs of systems that truly differ), and the audit of the test set (by `items`). The JSON of the board
contains the comparison, so `show`, `diff` and `verify` can read it.

A board with very many systems does not keep the results of pairs. `rank` then tests all pairs exactly, and the board
has the decisions, the ranks, and the differences between neighbours in the ranking.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sigjax.comparison.compare import compare
from sigjax.comparison.options import RunOptions
from sigjax.formats.doctor import shell_command
from sigjax.multiple.discoveries import RealDifferences, real_differences
from sigjax.readers.options import ReadOptions, given_name, quote, suggest
from sigjax.records import EvaluationRecord, Hint, InputError, Note, Settings, SystemScore
from sigjax.records.options import (
    OTHER_OPTIONS,
    StrPath,
    check,
    option,
    options_of,
    required,
    same,
    split_parameters,
    takes,
    values,
)
from sigjax.records.settings import CORRECTIONS
from sigjax.report.data import json_record
from sigjax.report.document import Block, Document, document_of
from sigjax.report.plots import FIGURES
from sigjax.report.report import Report, Result
from sigjax.report.sections import Table, blocks, named_headlines
from sigjax.report.words import metric_title, number_spec, percent, real_sentence
from sigjax.run.context import with_progress
from sigjax.run.files import read_bytes
from sigjax.studies.formulas import detectable_effect
from sigjax.studies.item_analysis import Items, ItemsOptions, items_of
from sigjax.studies.ranking import RankedSystem, Ranking, RankOptions, rank
from sigjax.studies.trials import ALL, study_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PAIRS = 1_000_000
"""If right-or-wrong answers give more pairs than this, `rank` tests the pairs, and the board keeps none of them."""
_POWER = 0.8
_NAMES = ("title", "source", "licence")
"""The keys of a board's file that describe the board. All three are required."""
_FREE = frozenset(("correction", "confidence_level", "seed", "resamples"))
"""Settings that may differ from their defaults although `rank` tests the pairs. `rank` has the same `correction` and
`confidence_level`, and exact tests use neither `seed` nor `resamples`."""


@dataclass(frozen=True, kw_only=True)
class BoardFile(Settings, ReadOptions):
    """The keys of a board's TOML file: its description, its files, and all options of reading and comparing."""

    title: str = required("The name of the board.", group="Main options")
    source: str = required("Where the results are from, such as an address with a version.", group="Main options")
    licence: str = required("The licence of the results, such as CC0-1.0.", group="Main options")
    files: Sequence[str] = option((), "The files of results, as for `compare`.", group="Main options")
    input: Any = same(ReadOptions, "input")  # a list or a table, see `_check_texts`


@dataclass(frozen=True, repr=False)
class BoardOfRecord(Result):
    """Result of `board`: a board of record, that is, a documented leaderboard.

    Attributes:
        title: the name of the board.
        source: where the results are from.
        licence: the licence of the results.
        keys: the keys of the TOML file, with their values.
        report: the comparison; None if there are so many pairs that the board keeps none.
        ranking: the decisions on all pairs; None if the board keeps its pairs.
        real: for each metric, lower bounds on the number of real differences (pairs of systems that truly differ);
            empty if the tests allow no such bound.
        items: audits of the test set by `items`, one per metric that is a mean over instances.
        notes: sentences on what is missing in the board, and why.
    """

    rows = "systems"

    title: str
    source: str
    licence: str
    keys: Mapping[str, Any]
    report: Report | None
    ranking: Ranking | None
    real: tuple[RealDifferences, ...]
    items: tuple[Items, ...]
    notes: tuple[str, ...]

    @property
    def _schema(self) -> str:
        return "board"

    @property
    def systems(self) -> tuple[SystemScore, ...] | tuple[RankedSystem, ...]:
        """The systems, metric by metric, from best to worst."""
        return self.ranking.systems if self.report is None else self.report.systems  # pyright: ignore

    @property
    def signature(self) -> str:
        """A line with all that is needed to reproduce the numbers of the comparison."""
        return self.ranking.signature if self.report is None else self.report.signature  # pyright: ignore

    @property
    def headline(self) -> str:
        """A sentence that says which systems are best."""
        return self._compared().verdict

    def document(self) -> Document:
        """The document has the comparison, the real differences, the audit of the test set, and source and licence."""
        compared, audits = self._compared(), [one.document() for one in self.items]
        checks = self._checks(compared, "-o board.html has all pairs, the methods and all notes.")
        return self._document(compared, audits, checks)

    def whole_document(self) -> Document:
        """The document with all pairs, all suspicious instances, all neighbours, and notes."""
        of_report = () if self.report is None else self.report.notes
        compared, audits, details = self._compared(), [one.document() for one in self.items], list[Block]()
        for part in compared.blocks:
            if isinstance(part, Table) and part.details:
                shown = {part.names[0], *part.details}
                details += ["More columns:", part.without({*range(len(part.header))} - shown)]
        details += [*self._keys(), *compared.details]
        if self.ranking is not None:
            details += ["All systems:", self.ranking.table(self.ranking.systems)]
        for one, short in zip(self.items, audits, strict=True):
            whole = one.whole_document()
            if more := list(_not_in(short.blocks, whole.blocks)):
                details += ["All suspicious instances and all neighbours of the test set:", *more]
            details += [part for part in whole.details if part not in [f"note: {note}" for note in of_report]]
        return self._document(compared, audits, [*details, *self._checks(compared)])

    def _checks(self, compared: Document, *more: str) -> list[Block]:
        """Return the notes, the command that checks the board, further sentences (`more`), and the signature.

        The signature is left out if it is in `compared`, the document of the comparison.
        """
        said = [f"Note: {note}" for note in self.notes]
        if command := self.verifying():
            said.append(f"To check this board, save it (-o board.json), and run: {command}")
        return [*said, *more, *([] if self.signature in compared.blocks else [self.signature])]

    def _compared(self) -> Document:
        """The document of the comparison without its note on real differences, because the board shows them itself."""
        if self.report is not None:
            notes = [each for each in self.report.notes if not (isinstance(each, Note) and each.code == "discoveries")]
            return document_of(replace(self.report, notes=tuple(notes)))
        assert self.ranking is not None
        return self.ranking.document()

    def _document(self, compared: Document, audits: Sequence[Document], details: Sequence[Block]) -> Document:
        verdicts = [] if self.report is None else named_headlines(list(blocks(self.report)))[1:]  # of other metrics
        shown: list[Block] = [*verdicts, f"Source: {self.source}", f"Licence of the results: {self.licence}", ""]
        repeated = [*verdicts, compared.about, *self._keys()]
        repeated += [] if self.ranking is None else self.ranking.real_sentence()
        shown += [
            part.without(part.details) if isinstance(part, Table) else part
            for part in compared.blocks
            if part not in repeated
        ]
        shown += ["", *self._real_sentences(), *self._resolution()]
        for one, audit in zip(self.items, audits, strict=True):
            of_metric = f" ({metric_title(one.metric)})" * (len(self.items) > 1)
            shown += ["", f"The test set{of_metric}: {audit.verdict}", *audit.blocks]
        return Document(self.title, compared.about, compared.verdict, shown, details, compared.alert)

    def _keys(self) -> list[str]:
        """Return the explanations of columns that only the detailed tables contain."""
        return [] if self.report is None else list(dict.fromkeys(each.key for each in blocks(self.report) if each.key))

    def _real_sentences(self) -> Iterator[str]:
        for one in self.real:
            of_metric = "" if one.metric is None or len(self.real) == 1 else f" ({metric_title(one.metric)})"
            level = self.ranking.confidence_level if self.report is None else self.report.settings.confidence_level  # pyright: ignore
            yield f"Real differences{of_metric}: {real_sentence(one, level)}."

    def _resolution(self) -> Iterator[str]:
        """Yield a sentence on the smallest detectable difference for each metric without an audit of the test set."""
        if self.report is None:
            return
        audited = {one.metric for one in self.items}
        for metric in dict.fromkeys(system.metric for system in self.report.systems):
            if metric not in audited and (found := detectable(self.report, metric)) is not None:
                yield (
                    f"What this test set resolves ({metric_title(metric)}): for half of the neighbours in the "
                    f"ranking, only true differences of {found:{number_spec([found])}} or more are found "
                    f"(power {percent(_POWER)})."
                )

    def verifying(self) -> str:
        """Return the command that checks the board's JSON against its files; empty if the board keeps no pairs."""
        if self.report is None:
            return ""
        options = {name: self.keys[name] for name in ReadOptions.__dataclass_fields__ if name in self.keys}
        return shell_command(["verify", "board.json", *self.keys.get("files", ())], options)

    def plot(self, kind: str | None = None, *, metric: str | None = None) -> Figure:
        """A figure of the board (needs the extra `plot`).

        Args:
            kind: a kind of `Report.plot`, or "items" for a figure of systems x instances. The default is the default
                figure of the report, or "items" if the board keeps no pairs.
            metric: the metric to show; by default, all metrics of the figure.

        Raises:
            InputError: matplotlib is not installed, or the board has no such figure.
        """
        if kind == "items" or (kind is None and self.report is None):
            audit = next((one for one in self.items if metric in (None, one.metric)), None)
            if audit is None:
                raise InputError("this board has no audit of its test set, and so no figure of it; name another kind")
            return audit.plot()
        if self.report is None:
            raise InputError(f"a board with so many systems keeps no pairs, so that it has no figure {kind!r}")
        if kind is not None and kind not in FIGURES:
            raise InputError(f"kind must be one of {', '.join((*FIGURES, 'items'))}, got {kind!r}")
        return self.report.plot(kind, metric=metric)  # pyright: ignore[reportArgumentType, reportReturnType]

    def _fields(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _NAMES},
            "keys": dict(self.keys),
            "real": [vars(one) for one in self.real],
            "notes": list(self.notes),
            "ranking": None if self.ranking is None else self.ranking._json_record(),
            "items": [one._json_record() for one in self.items],
            "report": None if self.report is None else json_record(self.report),
        }


def _not_in(short: Sequence[Block], whole: Sequence[Block]) -> Iterator[Block]:
    """Yield the parts of `whole` that are not in `short`, each table with its heading."""
    for part, following in pairwise([*whole, ""]):
        heads = isinstance(part, str) and part.endswith(":") and isinstance(following, Table)
        if (following if heads else part) not in short:
            yield part


def detectable(report: Report, metric: str) -> float | None:
    """Return the true difference that the test of one pair detects with power `_POWER`; None if unknown.

    The standard error of delta is the median over all pairs of neighbours in the ranking by `metric`. The result is
    None if no such pair has a standard error.
    """
    order = [system.name for system in report.systems if system.metric == metric]
    beside = {frozenset(pair) for pair in zip(order, order[1:], strict=False)}
    errors = sorted(
        one.standard_error
        for one in report.comparisons.groups().get((metric, report.settings.tests[0]), ())
        if frozenset((one.a, one.b)) in beside and one.standard_error
    )
    if not errors:
        return None
    middle = 0.5 * (errors[len(errors) // 2] + errors[(len(errors) - 1) // 2])
    return detectable_effect(middle, report.settings.alpha, power=_POWER, alternative=report.settings.alternative)


@takes(RunOptions)
@with_progress
def board(config: Any, options: RunOptions) -> BoardOfRecord:
    """Make a board of record (a documented leaderboard) from a TOML file.

    The board has the comparison, a lower bound on the number of real differences (pairs of systems that truly differ),
    the audit of the test set (`studies.items`), the source and the licence of the results.

    Args:
        config: the path of the file, or a mapping with the same keys: `title`, `source`, `licence`, `files`, and
            options of `compare` and `sigjax.read` by their names. Files are relative to the folder of the TOML file.
        options: the fields of `RunOptions`, as keyword arguments.

    Raises:
        InputError: the file is not TOML, a key is unknown or missing, a value has a wrong type, a file is missing, or
            the data cannot be used; the message names the file and the key.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> lines = ["id,A,B,C", *(f"q{i},1,{int(i < 20)},{int(i < 9)}" for i in range(30))]
        >>> _ = (folder / "answers.csv").write_text(chr(10).join(lines))
        >>> about = {"title": "Quiz", "source": "our own", "licence": "CC0-1.0", "metric": "accuracy"}
        >>> made = board(about | {"files": [str(folder / "answers.csv")]}, progress=False)
        >>> made.real[0].real, made.items[0].num_instances
        (3, 30)
    """
    check(options)
    name, keys, folder = _keys_of(config)
    with _named(name):
        own = _checked(keys, folder)
        evaluations = study_data(tuple(own.files), own, ALL, tasks=True, progress=options.progress)
        settings = Settings(**values(own, Settings))
        notes, ranking, report = list[str](), None, None
        if _ranks(evaluations, settings):
            how = values(settings, RankOptions, device=options.device, progress=options.progress)
            ranking = rank(evaluations, **how)
            real = [ranking.real_differences]
            notes.append("the pairs of so many systems are not kept; `sigjax compare --only A B` tests one pair")
        else:
            how = values(settings, device=options.device, progress=options.progress)
            report = compare(evaluations, **how)
            real = real_differences(report.comparisons.groups(), settings)
        items = list[Items]()
        for each in evaluations:
            try:
                items.append(items_of(each, _of_items(settings, options)))
            except InputError as error:
                notes.append(f"no audit of the test set by {each.metric.name}: {_as_keys(error)}")
    if items and (settings.alternative != "two-sided" or settings.design != "together"):
        notes.append("the audit of the test set is for two-sided tests of instances (or clusters) with all their runs")
    about = {key: getattr(own, key) for key in _NAMES}
    return BoardOfRecord(
        **about, keys=keys, report=report, ranking=ranking, real=tuple(real), items=tuple(items), notes=tuple(notes)
    )


def _of_items(settings: Settings, options: RunOptions) -> ItemsOptions:
    level, seed = settings.confidence_level, settings.seed
    return ItemsOptions(confidence_level=level, seed=seed, target=_POWER, progress=options.progress)


def _ranks(evaluations: Sequence[EvaluationRecord], settings: Settings) -> bool:
    """Whether there are more pairs than a board keeps, and `rank` can test them with these `settings`."""
    first, *others = evaluations
    number, usual = len(first.systems), Settings()
    asked = {name: value for name, value in values(settings).items() if name not in _FREE}
    return (
        not others
        and number * (number - 1) // 2 > _MOST_PAIRS
        and asked == {name: value for name, value in values(usual).items() if name not in _FREE}
        and CORRECTIONS[settings.correction].adjust is not None
        and all(getattr(first, name) is None for name in ("clusters", "strata", "runs", "present", "weights"))
        and first.stats.shape[-1] == 2
        and bool(((first.stats[..., 0] == 0) | (first.stats[..., 0] == 1)).all() and (first.stats[..., 1] == 1).all())
    )


# The file of a board.


def config_files(config: StrPath) -> list[str]:
    """Return the paths of a board's TOML file and of the files that it names.

    The command line checks that no output would overwrite one of these files.
    """
    name, keys, folder = _keys_of(config)
    with _named(name):
        own = _checked(keys, folder)
    given = own.input.values() if isinstance(own.input, Mapping) else own.input
    labels = [label for label in (own.cluster, own.strata, own.lexicon) if label is not None]
    return [os.fspath(config), *own.files, *map(os.fspath, given), *labels]


def _keys_of(config: Any) -> tuple[str, Mapping[str, Any], Path]:
    """Return three things: the name of the board's file for messages, its keys with their values, and its folder."""
    if isinstance(config, Mapping):
        return "board", config, Path()
    if not isinstance(config, str | os.PathLike):
        raise InputError(f"config must be the path of a TOML file, or a mapping with its keys, got {config!r:.40}")
    name = os.fsdecode(config)
    if os.path.isdir(name):
        raise InputError(f"{name}: is a folder; expected the TOML file of a board; see `sigjax help boards`")
    try:
        return name, tomllib.loads(read_bytes(name).decode()), Path(name).parent
    except UnicodeDecodeError:
        raise InputError(f"{name}: is not UTF-8 text; expected the TOML file of a board") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f'{name}: is no TOML: {error}; expected lines such as title = "My board"') from None


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Context manager: an InputError raised inside gets a message that begins with the file `name`.

    The message calls each option by its key in the file.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {_as_keys(error)}") from None


def _as_keys(error: InputError) -> str:
    return error.message.shown(_key_of)


def _key_of(hint: Hint) -> str:
    """Return the option of a hint as the TOML file writes it, such as `missing = "drop"`, for a message."""
    plain = Hint(hint.option.removeprefix("read."), *hint.values)
    return plain.keyword.replace("=", " = ", 1) if plain.values and "(" not in plain.keyword else plain.keyword


@takes(BoardFile)
def _board_file(options: BoardFile) -> BoardFile:
    return options


@cache
def _known() -> tuple[str, ...]:
    return tuple(name for name in options_of(BoardFile) if name != "progress")


def _checked(keys: Mapping[str, Any], folder: Path) -> BoardFile:
    """Check the keys of a board's file, and return them as options. Paths are taken relative to `folder`."""
    for key in keys:
        if key not in _known():
            meant = OTHER_OPTIONS.get(key, key.replace("-", "_"))
            said = f"did you mean {meant!r}?" if meant in _known() else suggest(key, _known(), "keys")
            raise InputError(f"unknown key {quote(key)}; {said}; `sigjax help boards` shows an example")
    examples = {"title": "My board", "source": "https://example.org/results, version 1", "licence": "CC0-1.0"}
    for key, example in examples.items():
        value = keys.get(key)
        if not isinstance(value, str) or not value.strip():
            got = "is missing" if value is None else f"must be a text, got {value!r:.40}"
            raise InputError(f'{key} {got}; write {key} = "{example}"')
    if not keys.get("files") and not keys.get("input"):
        raise InputError('files is missing; write files = ["results.csv"], relative to the folder of this file')
    for key, value in keys.items():
        _check_texts(key, value)
    own = _board_file(**keys)
    check(own)
    return own if folder == Path() else _relative_to(own, folder)


def _check_texts(key: str, value: Any) -> None:
    """Raise an error if a list or table contains anything but texts, or if `metric` or `input` has a wrong type.

    `value` is the value of `key` in the board's file. The key `test` is not checked here, because its parameters are
    not texts.
    """
    if key == "metric" and not isinstance(value, str | list | tuple):
        raise InputError(f'metric must be a name, such as "accuracy", or a list of names, got {value!r:.40}')
    if key == "input" and not isinstance(value, list | tuple | Mapping):
        raise InputError(f'input must be a list of files, or a table NAME = "FILE", got {value!r:.40}')
    if key == "test" or not isinstance(value, list | tuple | Mapping):
        return
    parts = value.values() if isinstance(value, Mapping) else value
    if wrong := [part for part in parts if not isinstance(part, str)]:
        raise InputError(f"{key} must hold texts, got {wrong[0]!r:.40}")


def _relative_to(own: BoardFile, folder: Path) -> BoardFile:
    """Return the options `own` with `folder` in front of the paths of files."""

    def placed(file: str) -> str:
        name, path = given_name(file) if not (folder / file).exists() else (None, file)
        return os.fspath(folder / path) if name is None else f"{name}={folder / path}"

    def if_there(value: str | None) -> str | None:
        return os.fspath(folder / value) if value is not None and (folder / value).is_file() else value

    given, reader = own.input, own.reader
    name, parameters = split_parameters(reader or "")
    if any((folder / each).is_file() for values in parameters.values() for each in values):
        inside = (f"{key}={if_there(each)}" for key, values in parameters.items() for each in values)
        reader = f"{name}({', '.join(inside)})"
    return replace(
        own,
        files=[placed(file) for file in own.files],
        input={name: os.fspath(folder / file) for name, file in given.items()}
        if isinstance(given, Mapping)
        else [placed(os.fspath(file)) for file in given],
        lexicon=None if own.lexicon is None else os.fspath(folder / own.lexicon),
        cluster=if_there(own.cluster),
        strata=if_there(own.strata),
        reader=reader,
    )
