"""Reports to a file or the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sigjax.readers.naming import given_name
from sigjax.records import InputError, Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format = Literal["text", "json", "markdown", "latex", "csv", "html"]


def write(report: Report, format: Format, output: Path | None) -> None:
    """Write a report to a file (UTF-8) or to stdout."""
    write_pieces(_pieces(report, format), output)


def write_text(text: str, output: Path | None) -> None:
    """Write text, which ends with one line break, to a file (UTF-8) or to stdout."""
    write_pieces([text.rstrip("\n") + "\n"], output)


def write_pieces(pieces: Iterable[str], output: Path | None) -> None:
    """Write the pieces of a text, one after the other, to a file (UTF-8) or to stdout."""
    if output is None:
        sys.stdout.writelines(pieces)
        sys.stdout.flush()
        return
    try:
        with output.open("w", encoding="utf-8") as file:
            file.writelines(pieces)
    except OSError as error:
        raise InputError(f"{output}: cannot be written ({error.strerror}); give another --output") from None


def check_output(output: Path | None, files: Sequence[str | Path]) -> None:
    """Refuse to write over a file that is read."""
    if output is None or not output.exists():
        return
    for file in files:
        path = given_name(str(file))[1]
        if os.path.exists(path) and output.samefile(path):
            raise InputError(f"{output}: is read and would be written over; give another --output")


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure of matplotlib, in the format of the file's name."""
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another --figure") from None
    except ValueError:
        raise InputError(f"{path}: no format of figures; expected a name such as audit.png, .pdf or .svg") from None


def _pieces(report: Report, format: Format) -> Iterable[str]:
    """The text of a report: in pieces where it grows with the pairs, else in one."""
    from sigjax.report import csv_pieces, json_pieces

    renderers: dict[Format, Callable[[], Iterable[str]]] = {
        "text": lambda: [_text(report)],
        "json": lambda: json_pieces(report),
        "markdown": lambda: [report.to_markdown()],
        "latex": lambda: [report.to_latex()],
        "csv": lambda: csv_pieces(report),
        # A browser that opens the file must know how names and dashes are written.
        "html": lambda: ['<meta charset="utf-8">\n', report.to_html()],
    }
    return renderers[format]()


def _text(report: Report) -> str:
    from sigjax.report import to_text

    return to_text(report, color=in_color())


def in_color() -> bool:
    """Whether standard output is a terminal that may show colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
