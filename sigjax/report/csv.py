"""CSV for programs and spreadsheets: one row per pair, metric and test, numbers as they are."""

import csv
import io

from sigjax.records import Report
from sigjax.report.sections import flat_pairs
from sigjax.visible import visible

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""What spreadsheets run begins with one of these (also in full width); the quote makes the escape reversible."""


def to_csv(report: Report) -> str:
    """The comparisons as CSV; numbers are not rounded, what is missing is an empty field, names are as by `escape`."""
    rows = flat_pairs(report)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: escape(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows
    )
    return stream.getvalue()


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
