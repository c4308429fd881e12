"""Parts that all commands share: options as flags, input files, and output formats (`OUTPUTS`).

Flags, with their help, are made from the dataclasses of options ("records" below). The names of files are checked
before a command computes anything. The format of an output is the user's choice, or follows from the file's ending.
Modules that render or draw are imported only if they are needed.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from decimal import Decimal
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from cyclopts import CoercionError, Group, Parameter

from sigjax.formats import FORMATS, read_data
from sigjax.metrics import CLASS_METRICS, METRICS
from sigjax.readers.options import ReadOptions, given_name
from sigjax.records import EvaluationRecord, Hint, InputError, KeepScores, options
from sigjax.records.display import meant, visible
from sigjax.records.options import option, options_of, same, split_parameters, types_of
from sigjax.run.backend import keep_programs
from sigjax.run.context import is_terminal, progress_bar
from sigjax.run.files import check_writable, discard_output, replacing, same_file, text_or_file

if TYPE_CHECKING:
    from sigjax.report.markup import Dialect
    from sigjax.report.plots import FigureKind
    from sigjax.report.report import Report, Result

SHORT = {"input": "-i", "metric": "-m", "output": "-o", "quiet": "-q"}
ONE_FILE_OPTIONS = {"output"}
"""Names of options whose flag takes exactly one file each time, so that input files may follow on the command line."""
RARE: set[str] = set()
"""The flags that only `--help-all` shows."""
HIDDEN = {"read", "progress", "executor", "shards"}
"""Options that only Python has. On the command line, progress is drawn unless --quiet is given. All commands read files
with the same flags (`Inputs`). Shards have their own commands."""
Command = Callable[..., int | None]
"""The function of a command. It returns the exit code; None means 0."""
_PANELS = {name: Group(name, sort_key=index) for index, name in enumerate(get_args(options.Group))}
_POWER = re.compile(r"\d{1,20}(\.\d{1,20})?[eE]\+?\d{1,2}", re.ASCII)
"""Pattern of a number with an exponent, such as 2.5e6."""
_BROKEN = re.compile(r"(?<=\S)\n *(?=\S)")
"""Pattern of a line break within a paragraph of a docstring. Such breaks are removed, since help has another width."""
_FILES = "A table; one file per system; or the gold files, with the files of the systems after -i; - is stdin."


def flags(*records: type, files: str = _FILES) -> Callable[[Command], Command]:
    """Return a decorator: it makes flags of the options in these records, and passes their values to a command.

    The command is called with the input files (if it takes files), and then with one record of each type. If several
    records have the same option, the first record gets its value. `files` is the help text for the input files.
    """
    owners = {name: record for record in reversed(records) for name in options_of(record) if name not in HIDDEN}

    def decorate(command: Command) -> Command:
        def run(*files: Path, **given: Any) -> int | None:
            made = [record(**{name: given[name] for name in given if owners[name] is record}) for record in records]
            if given.get("quiet"):
                made = [replace(one, progress=False) if "progress" in options_of(type(one)) else one for one in made]
            if "device" in owners:
                keep_programs()
            return command(*([files] if takes_files else []), *made)

        takes_files = len(inspect.signature(command).parameters) > len(records)
        parameters = [_flag(own, name) for own in records for name in options_of(own) if owners.get(name) is own]
        about = Annotated[Path, Parameter(help=files)]
        positional = [inspect.Parameter("files", inspect.Parameter.VAR_POSITIONAL, annotation=about)]
        run.__signature__ = inspect.Signature([*positional[: int(takes_files)], *parameters])  # pyright: ignore
        run.__name__, run.__doc__, run.__annotations__ = command.__name__, _BROKEN.sub(" ", command.__doc__ or ""), {}
        return run

    return decorate


def _flag(record: type, name: str) -> inspect.Parameter:
    field = options_of(record)[name]
    about: options.Option = field.metadata["option"]
    annotation, more = _type_of(name, types_of(record)[name], about.suggests)
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    if isinstance(default, tuple) and default:
        more["show_default"] = lambda values: ", ".join(map(str, values))
    elif default is False or default == () or bool in get_args(types_of(record)[name]):
        more |= {"show_default": False, "negative": ""}
    long = f"--{name.replace('_', '-')}"
    if about.rare:
        RARE.add(long)
    names = [long, SHORT[name]] if name in SHORT else [long]
    about_flag = about.shown(lambda hint: hint.flag)
    flag = Annotated[annotation, Parameter(name=names, help=about_flag, group=_PANELS[about.group], **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=flag)


def _type_of(name: str, annotation: Any, suggests: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return the type of an option on the command line, and arguments of cyclopts that say how to read its value.

    `annotation` is the option's type in Python. `suggests` are the values that a shell suggests.
    """
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    if suggests and str in members:
        return Literal[suggests] | str | None, {"show_choices": False}
    for member in members:
        if name in ONE_FILE_OPTIONS and get_origin(member) is Sequence:
            return list[Path], {"negative": ""}
        if get_origin(member) is Sequence:
            item = get_args(member)[0]
            more: dict[str, Any] = {"show_choices": False} if suggests else {}
            if item is int:
                more["converter"] = lambda _, tokens: [_whole(int, [token]) for token in tokens]
            item = Literal[suggests] | str if suggests else item
            return list[item], {"consume_multiple": True, "negative": "", "json_list": False, **more}
        if get_origin(member) is Mapping:
            return list[str], {"consume_multiple": True, "negative": "", "converter": _named_columns}
        if get_origin(member) is os.PathLike:
            return Path | None, {}
    if int in members:
        return annotation, {"converter": _whole}
    return annotation, {}


def _whole(annotation: Any, tokens: Sequence[Any]) -> Any:
    """Convert the text of a whole number. 1e5 means 100000; 1.9 raises an error, because nothing is rounded."""
    text, words = tokens[0].value, [word for each in get_args(annotation) for word in get_args(each)]
    if text in words:
        return text
    try:
        return int(text)
    except ValueError:
        if _POWER.fullmatch(text) and (number := Decimal(text)) == (whole := int(number)):
            return whole
        words = " or ".join(["a whole number", *words])
        raise CoercionError(msg=f"expected {words}, got {text!r}", token=tokens[0]) from None


def _named_columns(_: Any, tokens: Sequence[Any]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for token in tokens:
        name, _, column = token.value.partition("=")
        if not (name and column):
            raise CoercionError(msg=f"expected NAME=COLUMN, such as tp=correct, got {token.value!r}", token=token)
        if name in columns:
            raise CoercionError(msg=f"names {name!r} twice; give it once", token=token)
        columns[name] = column
    return columns


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format of results: the possible endings of its files, and its `short` name.

    `pieces` is a function of a report, the options of `Output.options`, and the file (None for the terminal). It yields
    the text of the report in pieces, because the text may be long if there are many pairs. A markup language has a
    `dialect` (a name in report/markup.py) instead of `pieces`. `broader` is a more general format, whose endings are
    allowed, too, if the user chooses this format. Only commands that write reports have the formats with `of_reports`;
    all commands have the other formats.
    """

    endings: tuple[str, ...]
    pieces: Callable[[Report, Mapping[str, Any], Path | None], Iterable[str]] | None = None
    short: str | None = None
    broader: str | None = None
    dialect: str | None = None
    of_reports: bool = False


def _room(module: str) -> Any:
    """Import a module of `sigjax.report`, only when a report is written."""
    return import_module(f"sigjax.report.{module}")


OUTPUTS = {
    "text": OutputFormat((".txt",), lambda report, options, _: [_room("text").to_text(report, **options)]),
    "json": OutputFormat((".json",), lambda report, *_: _room("data").json_pieces(report)),
    "markdown": OutputFormat((".md", ".markdown"), dialect="MARKDOWN", short="md"),
    "rst": OutputFormat((".rst",), dialect="RST"),
    "latex": OutputFormat(
        (".tex", ".latex"),
        lambda report, options, path: [_room("latex").to_latex(report, path, **options)],
        short="tex",
    ),
    "csv": OutputFormat((".csv",), lambda report, *_: _room("data").csv_pieces(report)),
    "html": OutputFormat((".html", ".htm"), lambda report, *_: [report.to_html()]),
    "github": OutputFormat((".github.md",), lambda report, *_: [report.to_github()], broader="markdown"),
    "appendix": OutputFormat(
        (".appendix.tex",),
        lambda report, options, path: [_room("latex").to_appendix(report, path, **options)],
        broader="latex",
        of_reports=True,
    ),
    "systems-csv": OutputFormat((".systems.csv",), lambda report, *_: [report.to_csv(of="systems")], of_reports=True),
    "methods": OutputFormat(
        (".methods.tex",), lambda report, *_: [report.to_methods()], broader="latex", of_reports=True
    ),
    "bibtex": OutputFormat((".bib",), lambda report, *_: [report.to_bibtex()], short="bib", of_reports=True),
}
"""Dict from a name to the format. If a file name matches several endings, the longest ending decides."""
WRITTEN_BY = "written by compare, merge, show and demo"
REPORTS, STUDIES = tuple(OUTPUTS), tuple(name for name, each in OUTPUTS.items() if not each.of_reports)
"""Names of formats. `REPORTS`: all formats, for reports. `STUDIES`: the formats for the results of studies."""
if TYPE_CHECKING:
    OfReport = OfStudies = str
else:
    OfReport, OfStudies = (
        Literal[tuple(name for each in names for name in (each, OUTPUTS[each].short) if name)]
        for names in (REPORTS, STUDIES)
    )


def _dialect(of: OutputFormat) -> Dialect | None:
    return None if of.dialect is None else getattr(_room("markup"), of.dialect)


def _report_pieces(of: OutputFormat) -> Callable[[Report, Mapping[str, Any], Path | None], Iterable[str]]:
    """Return the function that turns a report into the text of a format (see `OutputFormat.pieces`)."""
    if (dialect := _dialect(of)) is not None:
        return lambda report, *_: [_room("markup").render(report, dialect)]
    assert of.pieces is not None
    return of.pieces


def outputs(format: str | None, paths: Sequence[Path], known: Collection[str]) -> list[tuple[str, Path | None]]:
    """Return (format, file) for each output file; (format, None) for the terminal if there are no files.

    The format is the user's choice, or else follows from the file's ending. `known` are the formats that the command
    can write.

    >>> outputs(None, [Path("a.json"), Path("a.tex"), Path("a.systems.csv")], OUTPUTS)
    [('json', PosixPath('a.json')), ('latex', PosixPath('a.tex')), ('systems-csv', PosixPath('a.systems.csv'))]
    """
    chosen = next((name for name, each in OUTPUTS.items() if format is not None and format == each.short), format)
    return [(_format_of(path, chosen, known), path) for path in paths] or [(chosen or "text", None)]


def _format_of(path: Path, chosen: str | None, known: Collection[str]) -> str:
    """Return the format of a file: the `chosen` format, or else the format of its ending.

    Raise an error if the two differ, or if the command cannot write the format. A file without an ending, such as
    /dev/stdout, may have any format.
    """
    name = path.name.lower()
    endings = {end: format for format, each in OUTPUTS.items() for end in each.endings}
    longest = max((end for end in endings if name.endswith(end)), key=len, default="")
    ending = endings.get(longest)
    if chosen is not None and ending not in (chosen, OUTPUTS[chosen].broader, None):
        raise InputError(
            f"{path}: its ending says {ending}, but --format says {chosen}; leave --format out, or rename it"
        )
    if ending is None and chosen is None and path.suffix:
        firsts = ", ".join(OUTPUTS[format].endings[0] for format in known if OUTPUTS[format].broader is None)
        raise InputError(f"{path}: its ending names no format; expected one of {firsts}, or give --format")
    named = chosen or ending or "text"
    if named not in known:
        expected = f"expected one of {', '.join(known)}" + f" ({named} is {WRITTEN_BY})" * OUTPUTS[named].of_reports
        raise InputError(f"{path}: this command does not write {named}; {expected}")
    return named


FIGURE_ENDINGS = (".png", ".pdf", ".svg")


def named_figure(path: Path) -> FigureKind:
    """Return the kind of a figure, which is the last part of its file name before the ending.

    >>> [named_figure(Path(name)) for name in ("forest.pdf", "paper/deltas.forest.svg")]
    ['forest', 'forest']
    """
    from sigjax.report.plots import FIGURES

    if path.suffix.lower() not in FIGURE_ENDINGS:
        raise InputError(f"{path}: no format of figures; expected a name that ends in {', '.join(FIGURE_ENDINGS)}")
    name = path.stem.rpartition(".")[2]
    if name in FIGURES:
        return name
    close = meant(name, FIGURES)
    example = path.with_name(f"{close[0] if close else f'{path.stem}.scores'}{path.suffix}")
    raise InputError(
        f"{path}: the name says no kind of figure; write the kind before the ending, such as {example}; "
        f"kinds: {', '.join(FIGURES)}"
    )


def write_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib figure to a file; the ending of the file gives the format."""
    try:
        with replacing(path) as file:
            figure.savefig(file, dpi=300, format=path.suffix.removeprefix(".") or "png")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another --figure") from None
    except ValueError:
        raise InputError(f"{path}: no format of figures; expected a name such as audit.png, .pdf or .svg") from None


_WRITTEN = ("output", "figure", "checkpoint", "families")
_COLUMNS = 80
_PLAIN_SIGNS = str.maketrans({**dict(zip("─–…·•†‡", "--~.*+-", strict=True)), "↓": "(lower is better)"})


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """The options that say where and how to write results."""

    format: str | None = option(
        None, "How to write the report [default: by the ending of -o, else text].", group="Main options"
    )
    output: Sequence[Path] = option(
        (), "Write to this file instead of the terminal; repeat for more files.", group="Main options"
    )
    quiet: bool = option(False, "Draw no progress bars, and say nothing of the files written.", group="Output")
    formats: ClassVar[Sequence[str]] = STUDIES

    def files(self) -> list[tuple[str, Path | None]]:
        """Return a tuple (format, file) for each output file, as `outputs` does."""
        return outputs(self.format, self.output, self.formats)

    def check(self) -> None:
        """Raise an error for wrong names of output files, before the command computes anything."""
        self.files()

    def close(self, headlines: Callable[[], Iterable[str]], figures: Sequence[Path] = ()) -> None:
        """Print the names of the written files on stderr; if the result went to files, print its headlines first."""
        files = [path for _, path in self.files() if path is not None]
        say_written(headlines if files else tuple, [*files, *figures], quiet=self.quiet)


def say_written(headlines: Callable[[], Iterable[str]], written: Sequence[Path], *, quiet: bool) -> None:
    """Print headlines and the names of written files on stderr, at the end of a command that writes files."""
    if written and not (quiet or any(map(_is_stdout, written))):
        print(*map(visible, [*headlines(), f"Written: {', '.join(map(str, written))}"]), sep="\n", file=sys.stderr)


def caption(evaluation: EvaluationRecord) -> str:
    """Say in words what an evaluation contains, such as "BLEU on 557 instances, 12 systems"."""
    from sigjax.report.words import count, metric_title, size_text

    size, systems = size_text(*evaluation.size), count(len(evaluation.systems), "system")
    return f"{metric_title(evaluation.title or evaluation.metric.name)} on {size}, {systems}"


def _is_stdout(path: Path) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError, AttributeError):  # stdout is not a file, or the path does not exist
        return False


@dataclass(frozen=True, kw_only=True)
class Output(WriteOptions):
    """The options that say where to write a report and its figures."""

    format: OfReport | None = same(WriteOptions, "format")
    figure: Sequence[Path] = option(
        (),
        "Draw forest.pdf, or scores, estimation, heatmap, groups, null, bootstrap, gain (png, svg); repeat for more.",
        "The kind stands before the ending, as in table3.forest.pdf. See `Report.plot`.",
        group="Output",
    )
    verbose: bool = option(
        False,
        "Also show all pairs, letters, standard errors, method, notes and signature; files have them.",
        group="Output",
    )
    pair: Sequence[str] = option(
        (), "The two systems of an estimation, null or bootstrap figure.", group="Output", rare=True
    )
    caption: str | None = option(
        None, "The caption of a .tex table, in LaTeX [default: sizes, marks and the test].", group="Output", rare=True
    )
    label: str | None = option(
        None, "The label of a .tex table, with which those of .appendix.tex begin.", group="Output", rare=True
    )
    keep_scores: KeepScores = option(
        "auto",
        "Whether JSON has the scores of instances, which `diff` pairs; auto: up to 1 MB.",
        group="Output",
        rare=True,
    )
    formats = REPORTS

    def files(self) -> list[tuple[str, Path | None]]:
        """Return a tuple (format, file) for each output file, as `outputs` does.

        If a paragraph on methods is written, its citations are written to a second file beside it, with the ending
        .bib.
        """
        return [*WriteOptions.files(self), *(("bibtex", path) for path in self.cited())]

    def cited(self) -> list[Path]:
        """Return the .bib files to write: one beside each paragraph on methods, for its citations."""
        named = self.format == "methods"
        methods = [each for each in self.output if each.suffix and (named or each.name.endswith(".methods.tex"))]
        return [path for each in methods if (path := each.with_suffix(".bib")) not in self.output]

    def check(self) -> None:
        """Raise an error for wrong options of output, before the command computes anything.

        Files and figures must have a known format or kind, and an option must not be given without the file that it is
        for.
        """
        for path in self.figure:
            from sigjax.report.panels import empty_figure

            named_figure(path)
            empty_figure(1.0, 1.0)
        formats = [format for format, _ in self.files()]
        for name in ("caption", "label"):
            if getattr(self, name) is not None and not any(name in self.options(format, None) for format in formats):
                raise InputError(f"{Hint(name)}: is for the table in LaTeX; give -o FILE.tex, or leave it out")
        if len(self.pair) not in (0, 2):
            raise InputError(f"--pair: expected the names of two systems, got {len(self.pair)}")
        if self.pair and not self.figure:
            raise InputError("--pair: names the pair of a figure; add --figure null.pdf, or use --only A B")
        super().check()

    def options(self, format: str, path: Path | None) -> dict[str, Any]:
        """Return the further arguments that a format needs, besides the report and its file."""
        if format == "latex":
            return {"caption": self.caption, "label": self.label}
        if format == "appendix":
            return {"label": self.label}
        return text_options(to_file=path is not None) | {"verbose": self.verbose or path is not None}

    def write(self, report: Report) -> None:
        """Write a report, and draw its figures."""
        from sigjax.report.data import json_pieces

        warned: list[str] = []
        pair = (self.pair[0], self.pair[1]) if self.pair else None
        for format, path in self.files():
            pieces = _report_pieces(OUTPUTS[format])
            options = self.options(format, path)
            with progress_bar(f"write {path}", visible=path is not None and not self.quiet):
                text = json_pieces(report, self.keep_scores) if format == "json" else pieces(report, options, path)
                if format in _LATEX:
                    text = list(text)
                    warned += [f"{path}: {line[2:]}" for line in text[0].splitlines()[:2] if line.startswith(_WARNED)]
                _write_pieces(text, format, path)
        for path in self.figure:
            from sigjax.report.plots import DISTRIBUTIONS

            with progress_bar(f"draw {path}", visible=not self.quiet):
                kind = named_figure(path)
                write_figure(report.plot(kind, pair=pair if kind in DISTRIBUTIONS else None), path)
        self.close(lambda: [*_headlines(report), *warned], self.figure)


_MOST_HEADLINES = 3
_LATEX, _WARNED = ("latex", "appendix", "methods"), "% warning: "
"""`_LATEX`: formats whose text begins with a comment if pdflatex cannot print some characters. `_WARNED`: how this
comment begins."""


def _headlines(report: Report) -> Iterator[str]:
    from sigjax.report.sections import blocks
    from sigjax.report.words import is_warning

    for section in islice(blocks(report), _MOST_HEADLINES):
        yield section.caption
        yield from (f"  {family.conclusion}" for family in section.families)
    yield from filter(is_warning, report.notes)


@dataclass(frozen=True, kw_only=True)
class Results(WriteOptions):
    """The options that say where to write results other than a `Report`."""

    format: OfStudies | None = same(WriteOptions, "format")

    def write(self, result: Result, figures: Sequence[Path] = ()) -> None:
        """Write the result in the chosen formats."""
        for format, path in self.files():
            if format == "text":
                text = result.to_text(**text_options(to_file=path is not None), whole=path is not None)
            elif format == "latex":
                text = _room("document").to_latex(result.whole_document(), path)
            elif (dialect := _dialect(OUTPUTS[format])) is not None:
                text = _room("document").to_markup(result.whole_document(), dialect)
            else:
                text = getattr(result, f"to_{format}")()
            write_text(text, format, path)
        self.close(lambda: [result.headline], figures)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The option for the figure file of a study."""

    figure: Path | None = option(
        None, "Draw a figure to this file, too (.png, .pdf, .svg; needs matplotlib).", group="Output"
    )


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The option for the figure files of a board (a leaderboard, as `sigjax board` makes it)."""

    figure: Sequence[Path] = option(
        (),
        "Draw scores.pdf, or forest, estimation, heatmap, groups, gain, items (png, svg); repeat for more.",
        "The kind stands before the ending, as in board.heatmap.png; without a kind, the usual figure of the board.",
        group="Output",
    )

    @staticmethod
    def kind(path: Path) -> str | None:
        """Return the kind of figure in a file name, such as "heatmap" for board.heatmap.png; None if there is none."""
        from sigjax.report.plots import FIGURES

        name = path.stem.rpartition(".")[2]
        return name if name in (*FIGURES, "items") else None


def check_outputs(read: Sequence[str | Path], *records: object) -> None:
    """Raise an error if an output file cannot be written, or would overwrite an input or another output.

    This check runs before the command computes anything. `records` are the records of options; their fields `output`,
    `figure` and `checkpoint` name the files that the command writes.
    """
    inputs = [path for path in (given_name(str(file))[1] for file in read) if os.path.exists(path)]
    earlier: list[tuple[str, Path]] = []
    for flag, path in _written(records):
        check_writable(path)
        if any(same_file(path, file) for file in inputs):
            raise InputError(f"{path}: is read and would be written over; give another {flag}")
        for other, taken in earlier:
            if same_file(path, taken):
                times = "twice" if other == flag else f"for {other} and"
                raise InputError(f"{path}: is given {times} for {flag}; give another {flag}")
        earlier.append((flag, path))
    for record in records:
        if isinstance(record, WriteOptions):
            record.check()
    if sys.stdout is None and "--output" not in dict(earlier):
        raise InputError("standard output is closed; give --output FILE")


def _written(records: Sequence[object]) -> Iterator[tuple[str, Path]]:
    for record in records:
        for name in _WRITTEN:
            given = getattr(record, name, None) or ()
            if name == "output" and isinstance(record, Output):
                given = [*record.output, *record.cited()]
            yield from ((f"--{name}", path) for path in ([given] if isinstance(given, Path) else given))


def text_width(*, to_file: bool = False) -> int:
    """Return the number of columns for text: of the terminal if the text goes to stdout, else 80."""
    from sigjax.report.text import columns

    return (None if to_file else columns()) or _COLUMNS


def write_text(text: str, format: str, output: Path | None) -> None:
    """Write text, which ends with one line break, to a file (UTF-8) or to stdout."""
    _write_pieces([text.rstrip("\n") + "\n"], format, output)


def _write_pieces(pieces: Iterable[str], format: str, output: Path | None) -> None:
    if output is not None:
        text_or_file(pieces, output)
        return
    to_read = format in ("text", "markdown", "github")  # for people in this terminal; other formats are UTF-8
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding=None if to_read else "utf-8", errors="backslashreplace")
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.writelines(_plain(piece, encoding) if to_read else piece for piece in pieces)
        sys.stdout.flush()
    except BrokenPipeError:  # go on: the command has other files to write, and an exit code
        discard_output()
    except OSError as error:
        raise InputError(f"standard output: cannot be written ({error.strerror}); give --output FILE") from None


def _plain(text: str, encoding: str) -> str:
    """Replace signs such as dashes and bullets by ASCII signs, if the encoding does not have all signs of the text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN_SIGNS)
    return text


def text_options(*, to_file: bool) -> dict[str, Any]:
    """Return the options `width` and `color` for text on stdout, or for text in a file, which is never cut."""
    from sigjax.report.text import WHOLE

    on_terminal = not to_file and is_terminal(sys.stdout)
    return {
        "width": WHOLE if to_file else None,
        "color": on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
    }


Files = Sequence[Path]


@dataclass(frozen=True, kw_only=True)
class Inputs(ReadOptions):
    """The options of `read`, which all commands that read data share."""

    input: Sequence[Path] = same(ReadOptions, "input")
    metric: Sequence[str] = same(ReadOptions, "metric", (), suggests=(*METRICS, *CLASS_METRICS))
    reader: str | None = same(ReadOptions, "reader", suggests=tuple(FORMATS))

    def evaluations(
        self, paths: Files, *, tasks: bool = False, single: bool = False, folds: bool = False, sliced: bool = False
    ) -> list[EvaluationRecord]:
        """Read the files, and return one evaluation per metric (and task).

        `tasks`, `single` and `folds` say whether the command accepts several tasks, a single system, and
        cross-validation folds. With `sliced`, tasks without the field that the option `strata` names are left out.
        """
        given = tuple(paths)
        return read_data(given, self, metrics=self.metric, tasks=tasks, single=single, folds=folds, sliced=sliced)

    def check(self, paths: Files, *written: Any) -> None:
        """Raise an error if an output file cannot be written, or would overwrite an input.

        `written` are the command's other records of options, which may name output files. Files of labels and reports
        that the options name count as inputs, too.
        """
        named = (getattr(record, name, None) for record in written for name in ("extend", "groups"))
        parameters = split_parameters(self.reader or "")[1].values()
        more = [self.cluster, self.strata, *chain.from_iterable(parameters), *named]
        check_outputs([*paths, *self.input, *(each for each in more if each is not None)], *written)
