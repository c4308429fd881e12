"""CSV for programs and spreadsheets: one row per pair, metric and test, numbers as they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sigjax.report.sections import flat_columns, pairs_unclustered
from sigjax.report.visible import visible

if TYPE_CHECKING:
    from sigjax.report.report import Report

_BLOCK = 2**12
"""Pairs that are written together."""
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""What spreadsheets run begins with one of these (also in full width); the quote makes the escape reversible."""


def to_csv(report: Report) -> str:
    """The comparisons as CSV; what is missing is an empty field, names are as by `escape`."""
    return "".join(csv_pieces(report))


def csv_pieces(report: Report) -> Iterator[str]:
    """The same in pieces, so that a large report can be written without holding its text."""
    unclustered = pairs_unclustered(report.comparisons)
    for start, block in enumerate(report.comparisons.blocks(_BLOCK)):
        columns = flat_columns(block, unclustered=unclustered)
        writer = csv.writer(stream := io.StringIO(), lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        writer.writerows(zip(*map(_escaped, columns.values()), strict=True))
        yield stream.getvalue()


def escape(name: str) -> str:
    r"""A name that no spreadsheet runs as a formula, and that shows its control characters.

    Backslashes are doubled and control characters are written as in Python's strings. Then a name that begins with `=`,
    `+`, `-`, `@` or `'`, spaces aside, gets a single quote before it, as OWASP advises (CSV Injection). To read a name
    back, drop one leading quote and undo the backslashes.

    Example:
        >>> print(escape("=1+1"), escape("a-b"), escape("\x1b[31m"), escape(r"a\b"))
        '=1+1 a-b \x1b[31m a\\b
    """
    shown = visible(name.replace("\\", "\\\\"))
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def _escaped(column: list[Any]) -> list[Any]:
    """A column with its names escaped, each once."""
    escapes = {value: escape(value) for value in set(column) if isinstance(value, str)}
    return [escapes.get(value, value) for value in column] if escapes else column
