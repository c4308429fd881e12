"""Where results go: files are checked before the work, then reports are written to a file or the terminal."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sigjax.files.writing import check_place, replacing, same_file
from sigjax.readers.formats import given_name
from sigjax.records import InputError
from sigjax.records.options import option, same
from sigjax.report.report import Report
from sigjax.run.host import is_terminal
from sigjax.studies.study import Study

Format = Literal["text", "json", "markdown", "latex", "csv", "html"]
_WRITTEN = ("output", "figure", "checkpoint", "families")
_PLAIN_SIGNS = str.maketrans("─–…·█▓▒", "--~.#%+")


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where a report goes."""

    format: Format = option("text", "How to write the report.", group="Main options")
    output: Path | None = option(None, "Write to this file instead of the terminal.", group="Main options")

    def write(self, report: Report) -> None:
        """Write a report."""
        _write_pieces(_pieces(report, self.format, self.output), self.format, self.output)


@dataclass(frozen=True, kw_only=True)
class Results:
    """Where results other than a `Report` go."""

    format: Literal["text", "json"] = same(Output, "format")
    output: Path | None = same(Output, "output")

    def write(self, text: Callable[[], str], json: Callable[[], str]) -> None:
        """Write in the format asked for."""
        write_text(json() if self.format == "json" else text(), self.format, self.output)


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
    files = {
        f"--{name}": getattr(record, name, None) for record in records for name in _WRITTEN if hasattr(record, name)
    }
    earlier: dict[str, Path] = {}
    for flag, path in files.items():
        if path is None:
            continue
        if any(same_file(path, file) for file in inputs):
            raise InputError(f"{path}: is read and would be written over; give another {flag}")
        for other, taken in earlier.items():
            if same_file(path, taken):
                raise InputError(f"{path}: is given for {other} and for {flag}; give another {flag}")
        earlier[flag] = path
        if here:
            check_place(path)
    if here and "--output" not in earlier and sys.stdout is None:
        raise InputError("standard output is closed; give --output FILE")


def write_text(text: str, format: Format, output: Path | None) -> None:
    """Write text, which ends with one line break, to a file (UTF-8) or to stdout."""
    _write_pieces([text.rstrip("\n") + "\n"], format, output)


def _write_pieces(pieces: Iterable[str], format: Format, output: Path | None) -> None:
    """Write text piece by piece."""
    try:
        if output is None:
            encoding = sys.stdout.encoding or "utf-8"
            sys.stdout.writelines(encodable(piece, encoding, format) for piece in pieces)
            sys.stdout.flush()
        else:
            with replacing(output) as file:
                file.writelines(piece.encode() for piece in pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = "standard output" if output is None else output
        raise InputError(f"{place}: cannot be written ({error.strerror}); give another --output") from None


def encodable(text: str, encoding: str, format: Format) -> str:
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
    if format in ("text", "markdown"):
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


_ESCAPES: dict[Format, Callable[[str], str]] = {
    "json": lambda character: json.dumps(character)[1:-1],
    "html": lambda character: f"&#{ord(character)};",
    "latex": lambda character: r"\textbackslash{}" + _escape(character)[1:],
}


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib, in the format of the file's name."""
    try:
        with replacing(path) as file:
            figure.savefig(file, dpi=150, format=path.suffix.removeprefix(".") or "png")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another --figure") from None
    except ValueError:
        raise InputError(f"{path}: no format of figures; expected a name such as audit.png, .pdf or .svg") from None


def _pieces(report: Report, format: Format, output: Path | None) -> Iterable[str]:
    """The text of a report: in pieces where it grows with the pairs, else in one; it ends with one line break."""
    from sigjax.report import csv_pieces, json_pieces, to_text

    renderers: dict[Format, Callable[[], Iterable[str]]] = {
        "text": lambda: [to_text(report, **text_options(output))],
        "json": lambda: json_pieces(report),
        "markdown": lambda: [report.to_markdown()],
        "latex": lambda: [report.to_latex()],
        "csv": lambda: csv_pieces(report),
        # Without it browsers guess the encoding of names and dashes.
        "html": lambda: ['<meta charset="utf-8">\n', report.to_html()],
    }
    return renderers[format]()


def text_options(output: Path | None) -> dict[str, Any]:
    """Width and colour of text: those of the terminal if it goes there; in files nothing is cut."""
    from sigjax.report.text import WHOLE

    on_terminal = output is None and is_terminal(sys.stdout)
    return {"width": None if on_terminal else WHOLE, "color": on_terminal and "NO_COLOR" not in os.environ}
