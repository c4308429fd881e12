"""Base classes of study results with all their outputs, and helpers for the text of studies."""

from __future__ import annotations

import math
import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

import numpy as np

from sigjax.records import InputError, Library
from sigjax.records.display import ShortRepr, html_text
from sigjax.records.options import options_of
from sigjax.records.settings import Correction, adjust
from sigjax.report import document
from sigjax.report.data import json_lines, rows_csv, rows_to_dataframe
from sigjax.report.document import Document
from sigjax.report.markup import MARKDOWN, RST
from sigjax.report.panels import BLUE, ONE_COLUMN, VERMILION, draw_panels
from sigjax.report.sections import Table
from sigjax.report.words import LOWER, METHODS, count, metric_title, size_text
from sigjax.run.files import text_or_file
from sigjax.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Axes = TypeVar("_Axes", bound="Axes | Sequence[Axes]")
COLORS = {"permutation": BLUE, "bootstrap": VERMILION}
PANEL = 2.0
"""Height of the plotting area of a panel, in inches."""
_SHORT = {"read": "only", "resamples": "n", "alternative": "alt", "confidence_level": "level"}
_USUAL = frozenset(
    "a b id part slice system winner loser name other null metric test by claim margin against alpha instances size "
    "low high score old new delta change gain interval_low interval_high limits_low limits_high rate power detectable "
    "threshold pairs tests statistic correlation p_value p_adjusted moves settled_at better needed found kept saved "
    "holds verdict wins_elsewhere text".split()
)
"""Columns of data frames with columns="usual"."""


class StudyResult(ShortRepr):
    """Base class of study results; all outputs are made from the document and the records of a result."""

    rows: ClassVar[str] = ""
    """Name of the field whose records are the rows of data frames and CSV; empty if the result is one row."""
    exit_code = 0
    """The exit code of the command."""

    @abstractmethod
    def document(self) -> Document:
        """The document (title, verdict, texts, tables) from which all text outputs are made."""

    def whole_document(self) -> Document:
        """The document for files, with long lists in full."""
        return self.document()

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.document().verdict

    def _fields(self) -> dict[str, Any]:
        return asdict(self)  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        """Return the result as text for a terminal."""
        return self.to_text()

    def to_text(self, *, width: int | None = None, color: bool = False, whole: bool = False) -> str:
        """The result as text with lines of `width` columns; by default the width of the terminal, or of files.

        `color`: print the headline in bold. `whole`: show long lists in full, as in files.
        """
        made = self.whole_document() if whole else self.document()
        return document.to_text(made, width=width, color=color)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """The result as Markdown, with long lists in full.

        In this and the following methods, if `path` is given, the text is written to this file, and the path is
        returned.
        """
        return text_or_file(document.to_markup(self.whole_document(), MARKDOWN), path)

    def to_rst(self, path: str | os.PathLike[str] | None = None) -> str:
        """The result as reStructuredText, with long lists in full."""
        return text_or_file(document.to_markup(self.whole_document(), RST), path)

    def to_latex(self, path: str | os.PathLike[str] | None = None) -> str:
        """The tables as LaTeX for a paper (packages booktabs and longtable); sentences become comments."""
        return text_or_file(document.to_latex(self.whole_document(), path), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The result as a self-contained web page, with the details folded."""
        return text_or_file(document.to_html(self.whole_document()), path)

    def to_github(self, path: str | os.PathLike[str] | None = None) -> str:
        """The result as a comment for a pull request: the headline, the main rows, and the details folded."""
        return text_or_file(document.to_github(self.document()), path)

    def _repr_html_(self) -> str:
        """Show the text in notebooks."""
        return html_text(str(self))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The whole result as JSON, with the schema `sigjax-KIND/1`, such as `sigjax-audit/1`."""
        return text_or_file(json_lines(f"sigjax-{self._schema}/1", self._fields()), path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The result as CSV, one row per record, such as a pair; texts that a spreadsheet would run are escaped."""
        return text_or_file(rows_csv(self._rows()), path)

    if not TYPE_CHECKING:  # type checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Tell users of other libraries where to find p-values."""
            said = ""
            if name in ("pvalue", "p_value") and (rows := self._records()) and rows[0] is not self:
                names = [own for own in asdict(rows[0]) if own.endswith(("p_value", "_p", "p_adjusted"))]
                said = f"; each row has {' and '.join(names)}: see {self.rows or 'its rows'}" if names else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{said}", name=name, obj=self)

    @property
    def _schema(self) -> str:
        return type(self).__name__.lower()

    def to_dataframe(self, library: Library | None = None, *, columns: Literal["usual", "all"] = "usual") -> Any:
        """The result as a data frame, one row per record, such as a pair; see `Report.to_dataframe`."""
        return rows_to_dataframe(self._rows(), library, columns, _USUAL)

    def _rows(self) -> list[dict[str, Any]]:
        return [{key: value for key, value in asdict(row).items() if key != "settings"} for row in self._records()]

    def _records(self) -> Sequence[Any]:
        return getattr(self, self.rows) if self.rows else [self]


Row = TypeVar("Row")


class StudyRows(tuple[Row, ...], StudyResult):
    """A tuple of results with the same settings, one per system or pair; it has one document and JSON for all."""

    _about: tuple[str, str, Callable[[Sequence[Any]], Document]]

    def __new__(cls, rows: Iterable[Row] = (), *about: Any) -> StudyRows[Row]:
        """Make the tuple; `about`: the schema, the key of the rows in JSON, the function that makes the document."""
        made = super().__new__(cls, rows)
        made._about = about  # pyright: ignore[reportAttributeAccessIssue]
        return made

    def __repr__(self) -> str:
        """Show the rows as a tuple."""
        return tuple.__repr__(self)

    def document(self) -> Document:
        """The document of all results."""
        return self._about[2](self)

    def _fields(self) -> dict[str, Any]:
        for row in (rows := self._rows()):
            if not math.isfinite(row.get("log10_p") or 0.0):
                row["log10_p"] = None
        return {"settings": asdict(self[0].settings), self._about[1]: rows}  # pyright: ignore[reportAttributeAccessIssue]

    def _records(self) -> Sequence[Any]:
        return self

    @property
    def _schema(self) -> str:
        return self._about[0]


@dataclass(frozen=True, repr=False)
class Study(StudyResult):
    """Base class of results with a figure; they also have a `signature`, one line that reproduces the numbers."""

    @abstractmethod
    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """The panels of the figure in reading order: height in inches, and the function that draws the panel."""

    @property
    def _width(self) -> float:
        """Width of a panel, in inches."""
        return ONE_COLUMN

    @overload
    def plot(
        self, ax: None = None, *, figsize: tuple[float, float] | None = None, title: str | None = None
    ) -> Figure: ...
    @overload
    def plot(self, ax: _Axes, *, title: str | None = None) -> _Axes: ...
    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Figure | Axes | Sequence[Axes]:
        """Draw the study as a matplotlib figure (needs the extra `plot`).

        Args:
            ax: the axes to draw into, one per panel (row by row). They are returned. By default a new figure is made.
            figsize: width and height of the figure in inches; by default the width of a column of a paper, and the
                height that the panels need.
            title: your own title; it replaces the title of a single panel, or stands above several panels.

        Raises:
            InputError: matplotlib is not installed, or the number of axes is not the number of panels.
        """
        panels = [(self._width, *panel) for panel in self._panels()]
        into = None if ax is None else np.ravel(np.asarray(ax, object)).tolist()
        if into is not None and len(into) != len(panels):
            raise InputError(f"ax must be {len(panels)} axes of matplotlib, one per panel, got {len(into)}")
        signature: str = self.signature  # pyright: ignore[reportAttributeAccessIssue]
        figure = draw_panels(panels, into, signature, figsize=figsize, title=title)
        return figure if ax is None else ax


def signature_line(**values: object) -> str:
    """Join named values to a signature, one line that reproduces the numbers; None is left out.

    >>> signature_line(study="power", seed=1, strata=None).rpartition(":")[0]
    'study:power|seed:1|sigjax'
    """
    return "|".join(f"{name}:{value}" for name, value in {**values, "sigjax": __version__}.items() if value is not None)


def study_signature(study: str, options: object, *, metric: str, **more: object) -> str:
    """The signature of a study: the options that change numbers; values in `more` replace options of the same name.

    >>> from sigjax.studies.trials import StudyOptions
    >>> study_signature("power", StudyOptions(seed=1), metric="mean", only="A,B").rpartition("|")[0]
    'study:power|metric:mean|test:permutation|n:1999|seed:1|only:A,B|repetitions:1000|alt:two-sided'
    """
    given = dict[str, object]()
    for name in options_of(type(options)):
        value = None if name == "read" else getattr(options, name)
        if name in ("device", "progress", "show") or value is False:
            continue  # None is kept: `more` may give a value at this position
        value = ",".join(map(str, value)) if isinstance(value, list | tuple) else value
        given[_SHORT.get(name, name)] = f"{value:g}" if isinstance(value, float) else value
    return signature_line(**{"study": study, "metric": metric, **given, **more})


def table_of(
    header: Sequence[str], rows: Sequence[Sequence[str]], names: tuple[int, ...] = (), optional: tuple[int, ...] = ()
) -> Table:
    """Make a table of rows; if the terminal is too narrow, `optional` columns are dropped in this order."""
    return Table(tuple(header), list(map(tuple, rows)), names, optional)


def more_in_json(number: int, noun: str) -> list[str]:
    """A line that says how many results a table omits, and where to find them; empty if it omits none."""
    return ["", f"{count(number, f'more {noun}')}: -o FILE.json has all of them."] if number > 0 else []


def caption(result: Any) -> str:
    """The metric's name, with a remark if lower scores are better."""
    return f"{metric_title(result.metric)}{LOWER * result.lower_is_better}"


def grouped(records: Iterable[Row], *names: str) -> list[list[Row]]:
    """Group consecutive records with the same values of these fields."""
    return [list(some) for _, some in groupby(records, key=attrgetter(*names))]


def in_methods(methods: Mapping[str, int]) -> str:
    """The method in words; if there are several methods, each with its number."""
    texts = [METHODS.get(name, name) + f" {number:,}" * (len(methods) > 1) for name, number in sorted(methods.items())]
    return ", ".join(texts)


def unit_of(study: Any) -> str:
    """The unit that is resampled: "instance" or "cluster"."""
    return "instance" if study.num_units == study.num_instances else "cluster"


def in_units(study: Any) -> str:
    """The numbers of instances, runs and clusters, in words."""
    found = re.search(r"\|runs:(\d+)(?:-(\d+))?\|", study.signature)
    runs = found and (int(found[1]), int(found[2] or found[1]))
    clusters = f" in {count(study.num_units, 'cluster')}" * (unit_of(study) == "cluster")
    return size_text(study.num_instances, runs) + clusters


def adjusted_p(results: Sequence[Any]) -> str:
    """The heading of the column of adjusted p-values; just "p" for a single result."""
    return "p" if len(results) == 1 else f"p ({results[0].settings.correction})"


def with_adjusted_p(results: Sequence[Any], correction: Correction) -> list[Any]:
    """Adjust the p-values of all results together."""
    p_adjusted = adjust(np.array([result.p_value for result in results]), correction).tolist()
    return [replace(result, p_adjusted=p) for result, p in zip(results, p_adjusted, strict=True)]
