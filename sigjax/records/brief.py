"""How records show themselves at a prompt and in a notebook: one short line, or a small table; never all they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sigjax.records.settings import Interval
from sigjax.records.visible import escape_html

_MOST_ITEMS = 3
_MOST_LETTERS = 60
_CELL = ' style="text-align: left; white-space: nowrap"'


class Brief:
    """The base of frozen records (with `repr=False`) that show the few fields people look at first."""

    _first = tuple[str, ...]()
    """These fields; when left out, all but those that only reproduce the numbers."""

    def brief(self) -> dict[str, Any]:
        """What is shown, by name."""
        names = (each.name for each in fields(self))  # pyright: ignore[reportArgumentType]
        shown = self._first or (name for name in names if name not in ("settings", "signature", "notes"))
        return {name: getattr(self, name) for name in shown}

    def __repr__(self) -> str:
        """One line, however large the record is."""
        values = (f"{name}={shortened(value)}" for name, value in self.brief().items())
        return f"{type(self).__name__}({', '.join(values)})"

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        rows = ((name, value if isinstance(value, str) else shortened(value)) for name, value in self.brief().items())
        return html_table((type(self).__name__, ""), rows)


class SciPyNames:
    """The base of records with a p-value that SciPy's users know under another name."""

    p_value: float

    @property
    def pvalue(self) -> float:
        """`p_value`, under the name of SciPy's results."""
        return self.p_value


def shortened(value: Any) -> str:
    """A value in a few letters.

    Example:
        >>> print(shortened(1 / 3), shortened(Interval(0.25, 1.0)), shortened(("A", "B", "C", "D")), shortened("a"))
        0.333333 [0.25, 1] ('A', 'B', 'C', ... 4 in all) 'a'
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Interval):
        return f"[{value.low:.6g}, {value.high:.6g}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {shortened(each)}' for key, each in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if value and not isinstance(value[0], str | int | float):
            return f"<{len(value):,} {type(value[0]).__name__}>"
        shown = ", ".join(map(shortened, value[:_MOST_ITEMS]))
        more = f", ... {len(value):,} in all" if len(value) > _MOST_ITEMS else "," * (len(value) == 1)
        return f"({shown}{more})"
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 4]}...{text[-1]}"


def html_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of plain text as HTML."""
    head = "".join(f"<th{_CELL}>{escape_html(cell)}</th>" for cell in header)
    lines = ("".join(f"<td{_CELL}>{escape_html(cell)}</td>" for cell in row) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


def html_text(text: str) -> str:
    """Text for a terminal as HTML that scrolls sideways instead of breaking its rows."""
    lines = "\n".join(map(escape_html, text.splitlines()))
    return f'<pre style="font-family: monospace; overflow-x: auto; white-space: pre; line-height: 1.25">{lines}</pre>\n'
