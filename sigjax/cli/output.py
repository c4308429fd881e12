"""Where results go: files are checked before the work, then reports are written to a file or the terminal."""

from __future__ import annotations

import codecs
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, Literal

from sigjax.cli.figures import Figures, write_figure
from sigjax.cli.formats import REPORTS, Format, outputs
from sigjax.files.writing import check_place, same_file, text_or_file
from sigjax.readers.names import given_name
from sigjax.records import InputError
from sigjax.records.options import option, same
from sigjax.records.visible import visible
from sigjax.run.host import is_terminal

if TYPE_CHECKING:
    from sigjax.report.report import Report
    from sigjax.studies.diff_records import Diff
    from sigjax.studies.study import Study

_WRITTEN = ("output", "figure", "checkpoint", "families")
_COLUMNS = 80
_PLAIN_SIGNS = str.maketrans({**dict(zip("─–…·█▓▒†‡", "--~.#%++-", strict=True)), "↓": "(lower is better)"})


@dataclass(frozen=True, kw_only=True)
class Output(Figures):
    """Where a report goes, and its figures."""

    format: Format | None = option(
        None,
        "How to write the report [default: by the ending of -o, else text].",
        group="Main options",
    )
    output: Sequence[Path] = option(
        (), "Write to this file instead of the terminal; repeat for more files.", group="Main options"
    )

    def files(self) -> list[tuple[str, Path | None]]:
        """The format of each file, see `outputs`."""
        return outputs(self.format, self.output, REPORTS)

    def write(self, report: Report) -> None:
        """Write a report, and draw its figures."""
        report = self.with_distributions(report)
        for format, path in self.files():
            _write_pieces(_pieces(report, format, path), format, path)
        self.draw(report)


@dataclass(frozen=True, kw_only=True)
class Results:
    """Where results other than a `Report` go."""

    format: Literal["text", "json"] | None = same(Output, "format")
    output: Sequence[Path] = same(Output, "output")

    def files(self) -> list[tuple[str, Path | None]]:
        """The format of each file, see `outputs`."""
        return outputs(self.format, self.output, ("text", "json"))

    def write(self, text: Callable[[], str], json: Callable[[], str]) -> None:
        """Write in the formats asked for."""
        for format, path in self.files():
            write_text(json() if format == "json" else text(), format, path)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Where the result of `diff` goes."""

    format: Literal["text", "json", "markdown", "md", "github"] | None = same(Output, "format")
    output: Sequence[Path] = same(Output, "output")

    def files(self) -> list[tuple[str, Path | None]]:
        """The format of each file, see `outputs`."""
        return outputs(self.format, self.output, ("text", "json", "markdown", "github"))

    def write(self, changes: Diff) -> None:
        """Write in the formats asked for."""
        from sigjax.studies.diff_show import diff_text

        for format, path in self.files():
            renderers = {"json": changes.to_json, "markdown": changes.to_markdown, "github": changes.to_github}
            options = text_options(to_file=path is not None)
            write_text(renderers[format]() if format in renderers else diff_text(changes, **options), format, path)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Where the figure of a study goes."""

    figure: Path | None = option(
        None, "Draw a figure to this file, too (.png, .pdf, .svg; needs matplotlib).", group="Output"
    )


def write_study(study: Study, results: Results, figure: Figure) -> None:
    """Write a study as text or JSON, and draw it, if asked."""
    results.write(study.__str__, study.to_json)
    if figure.figure is not None:
        write_figure(study.plot(), figure.figure)


def check_outputs(read: Sequence[str | Path], *records: object, here: bool = True) -> None:
    """Refuse, before the work, files that cannot be written, or would be written over what is read or each other.

    Args:
        read: the files that the command reads.
        records: options, among them `output`, `figure` and `checkpoint`, the files that the command writes.
        here: whether this process writes them.

    Raises:
        InputError: naming the file.
    """
    inputs = [path for path in (given_name(str(file))[1] for file in read) if os.path.exists(path)]
    earlier: list[tuple[str, Path]] = []
    for flag, path in _written(records):
        if any(same_file(path, file) for file in inputs):
            raise InputError(f"{path}: is read and would be written over; give another {flag}")
        for other, taken in earlier:
            if same_file(path, taken):
                times = "twice" if other == flag else f"for {other} and"
                raise InputError(f"{path}: is given {times} for {flag}; give another {flag}")
        earlier.append((flag, path))
        if here:
            check_place(path)
    for record in records:
        if isinstance(record, Output):
            record.check_figures()
        if isinstance(record, Output | Results | Changes):
            record.files()
    if here and sys.stdout is None and "--output" not in dict(earlier):
        raise InputError("standard output is closed; give --output FILE")


def _written(records: Sequence[object]) -> Iterator[tuple[str, Path]]:
    """The flag and path of each file that the options name."""
    for record in records:
        for name in _WRITTEN:
            given = getattr(record, name, None) or ()
            yield from ((f"--{name}", path) for path in ([given] if isinstance(given, Path) else given))


def text_width(*, to_file: bool = False) -> int:
    """The columns of text: those of the terminal if it goes there, else 80."""
    on_terminal = not to_file and is_terminal(sys.stdout)
    return shutil.get_terminal_size((_COLUMNS, 0)).columns if on_terminal else _COLUMNS


def entry(name: str, said: str, *, width: int, indent: int) -> str:
    """A name and beside it what is said of it, in lines of a width; no word is broken."""
    margin = " " * indent
    wrapper = TextWrapper(width, name.ljust(indent), margin, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.wrap(visible(said)) or [name])


def write_text(text: str, format: str, output: Path | None) -> None:
    """Write text, which ends with one line break, to a file (UTF-8) or to stdout."""
    _write_pieces([text.rstrip("\n") + "\n"], format, output)


def _write_pieces(pieces: Iterable[str], format: str, output: Path | None) -> None:
    """Write text piece by piece."""
    if output is not None:
        text_or_file(pieces, output)
        return
    try:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.writelines(encodable(piece, encoding, format) for piece in pieces)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"standard output: cannot be written ({error.strerror}); give --output FILE") from None


def encodable(text: str, encoding: str, format: str) -> str:
    r"""Text that an encoding can hold: what it lacks becomes a plain sign or an escape of the format.

    JSON and HTML are read as UTF-8, so in any other encoding they are ASCII.

    Example:
        >>> print(*(encodable("é –", "ascii", format) for format in ("text", "json", "html", "latex")), sep="\n")
        \xe9 -
        \u00e9 \u2013
        &#233; &#8211;
        \textbackslash{}xe9 \textbackslash{}u2013
    """
    if format in ("json", "html") and codecs.lookup(encoding).name != "utf-8":
        encoding = "ascii"
    if _holds(encoding, text):
        return text
    if format in ("text", "markdown", "github"):
        text = text.translate(_PLAIN_SIGNS)
    return "".join(c if _holds(encoding, c) else _ESCAPES.get(format, _escape)(c) for c in text)


def _holds(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


_ESCAPES: dict[str, Callable[[str], str]] = {
    "json": lambda character: json.dumps(character)[1:-1],
    "html": lambda character: f"&#{ord(character)};",
    **dict.fromkeys(("latex", "methods"), lambda character: r"\textbackslash{}" + _escape(character)[1:]),
}


def _pieces(report: Report, format: str, output: Path | None) -> Iterable[str]:
    """The text of a report: in pieces where it grows with the pairs, else in one; it ends with one line break."""
    from sigjax.report import csv_pieces, json_pieces, to_text

    renderers: dict[str, Callable[[], Iterable[str]]] = {
        "text": lambda: [to_text(report, **text_options(to_file=output is not None))],
        "json": lambda: json_pieces(report),
        "markdown": lambda: [report.to_markdown()],
        "latex": lambda: [report.to_latex()],
        "csv": lambda: csv_pieces(report),
        "systems-csv": lambda: [report.to_csv(of="systems")],
        "methods": lambda: [report.to_methods()],
        "sentences": lambda: [report.to_sentences()],
        "html": lambda: [report.to_html()],
    }
    return renderers[format]()


def text_options(*, to_file: bool) -> dict[str, Any]:
    """Width and colour of text: those of the terminal if it goes there; in files nothing is cut."""
    from sigjax.report.text import WHOLE

    on_terminal = not to_file and is_terminal(sys.stdout)
    return {"width": None if on_terminal else WHOLE, "color": on_terminal and "NO_COLOR" not in os.environ}
