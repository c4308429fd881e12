"""A finished `Report` becomes text, JSON, Markdown, LaTeX, CSV, HTML, a data frame or a figure.

For people, `sections` cuts a report by metric and families of pairs by test, with their tables and sentences, in the
names and numbers of `words`. All tables are one record, `Table`; `text`, `markup` (Markdown, or a `Dialect` of another
language), `latex`, `html` (notebooks and whole pages) and `plots` only escape, set and draw; `methods` writes for
papers. For programs, `data` writes every number as it is (JSON, CSV, data frames), and reads JSON back. Nothing here
computes a statistic, and nothing heavy is imported before its format is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sigjax.report.data import csv_pieces as csv_pieces
from sigjax.report.data import json_pieces as json_pieces
from sigjax.report.data import to_dataframe as to_dataframe
from sigjax.report.report import Report as Report

if TYPE_CHECKING:
    from sigjax.report.html import to_html as to_html
    from sigjax.report.latex import to_latex as to_latex
    from sigjax.report.markup import to_markdown as to_markdown
    from sigjax.report.text import to_text as to_text

_RENDERERS = {"to_html": "html", "to_latex": "latex", "to_markdown": "markup", "to_text": "text"}


def __getattr__(name: str) -> object:
    """Import a renderer when it is first used."""
    if name not in _RENDERERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_RENDERERS[name]}"), name)
