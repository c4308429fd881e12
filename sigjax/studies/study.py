"""What studies share: options, base classes of results with all their outputs, and helpers for texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from sigjax.comparison.options import CompareOptions, RunOptions
from sigjax.records import InputError
from sigjax.records.options import options_of, same
from sigjax.records.settings import Correction, adjust
from sigjax.report.document import Document
from sigjax.report.panels import BLUE, ONE_COLUMN, VERMILION, draw_panels
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.words import LOWER, METHODS, count, metric_title, size_text
from sigjax.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Axes = TypeVar("_Axes", bound="Axes | Sequence[Axes]")
COLORS = {"permutation": BLUE, "bootstrap": VERMILION}
PANEL = 2.0
"""The height of the plotting area of a panel, in inches."""
_SHORT = {"read": "only", "resamples": "n", "alternative": "alt", "confidence_level": "level"}
Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class StudyOptions(RunOptions):
    """The options of studies that read data themselves, and run on a device."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")


class StudyRows(tuple[Row, ...], Result):
    """A tuple of results with the same settings, one result per system or pair.

    All results together have one document and one JSON.
    """

    _about: tuple[str, str, Callable[[Sequence[Any]], Document]]

    def __new__(cls, rows: Iterable[Row] = (), *about: Any) -> StudyRows[Row]:
        """Make the tuple of `rows`.

        `about` has three parts: the name of the schema, the key of the rows in the JSON, and the function that makes
        the document from the rows.
        """
        made = super().__new__(cls, rows)
        made._about = about  # pyright: ignore[reportAttributeAccessIssue]
        return made

    def __repr__(self) -> str:
        """Show the rows as a tuple."""
        return tuple.__repr__(self)

    def document(self) -> Document:
        """Return one document for all results."""
        return self._about[2](self)

    def _fields(self) -> dict[str, Any]:
        for row in (rows := self._rows()):
            if not math.isfinite(row.get("log10_p") or 0.0):
                row["log10_p"] = None
        settings = getattr(self[0], "settings", None)
        return ({} if settings is None else {"settings": asdict(settings)}) | {self._about[1]: rows}

    def _records(self) -> Sequence[Any]:
        return self

    @property
    def _schema(self) -> str:
        return self._about[0]


@overload
def plot_panels(
    study: Any, ax: None = None, *, figsize: tuple[float, float] | None = None, title: str | None = None
) -> Figure: ...
@overload
def plot_panels(study: Any, ax: _Axes, *, title: str | None = None) -> _Axes: ...
def plot_panels(
    study: Any,
    ax: Axes | Sequence[Axes] | None = None,
    *,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
) -> Figure | Axes | Sequence[Axes]:
    """Draw the study as a matplotlib figure (needs the extra `plot`).

    Args:
        study: the result of a study. Its `_panels` are pairs, in reading order: the height of a panel in inches, and
            the function that draws the panel.
        ax: the axes to draw into, one per panel (row by row). They are returned. By default a new figure is made.
        figsize: width and height of the figure in inches; by default the width of a column of a paper, and the height
            that the panels need.
        title: your own title. It replaces the title of a single panel; several panels have it above them.

    Raises:
        InputError: matplotlib is not installed, or the number of axes is not the number of panels.
    """
    width = getattr(study, "_width", ONE_COLUMN)
    panels = [(width, *panel) for panel in study._panels()]
    into = None if ax is None else np.ravel(np.asarray(ax, object)).tolist()
    if into is not None and len(into) != len(panels):
        raise InputError(f"ax must be {len(panels)} axes of matplotlib, one per panel, got {len(into)}")
    figure = draw_panels(panels, into, study.signature, figsize=figsize, title=title)
    return figure if ax is None else ax


def signature_line(**values: object) -> str:
    """Join named values to a signature: one line that reproduces the numbers. Values that are None are left out.

    >>> signature_line(study="power", seed=1, strata=None).rpartition(":")[0]
    'study:power|seed:1|sigjax'
    """
    return "|".join(f"{name}:{value}" for name, value in {**values, "sigjax": __version__}.items() if value is not None)


def study_signature(study: str, options: object, *, metric: str, **more: object) -> str:
    """Return the signature of a study, which contains the options that change numbers.

    Values in `more` replace options of the same name, or are added.

    >>> from sigjax.studies.trials import TrialOptions
    >>> study_signature("power", TrialOptions(seed=1), metric="mean", only="A,B").rpartition("|")[0]
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
    """Make a table; `names` are the positions of the columns whose cells are names from the data.

    If the terminal is too narrow, the columns `optional` are dropped, in this order.
    """
    return Table(tuple(header), list(map(tuple, rows)), names, optional)


def more_in_json(number: int, noun: str) -> list[str]:
    """Return lines that say that a table omits `number` results, and where to find them; no lines if it omits none.

    `noun` is the word for a result, such as "pair".
    """
    return ["", f"{count(number, f'more {noun}')}: -o FILE.json has all of them."] if number > 0 else []


def caption(result: Any) -> str:
    """Return the name of the metric, with a remark if lower scores are better."""
    return f"{metric_title(result.metric)}{LOWER * result.lower_is_better}"


def grouped(records: Iterable[Row], *names: str) -> list[list[Row]]:
    """Group consecutive records that have the same values of the fields `names`."""
    return [list(some) for _, some in groupby(records, key=attrgetter(*names))]


def in_methods(methods: Mapping[str, int]) -> str:
    """Return the method in words; if there are several methods, with the number of tests by each method.

    `methods` maps the name of a method to this number.
    """
    texts = [METHODS.get(name, name) + f" {number:,}" * (len(methods) > 1) for name, number in sorted(methods.items())]
    return ", ".join(texts)


def unit_of(study: Any) -> str:
    """Return the unit that is resampled: "instance" or "cluster"."""
    return "instance" if study.num_units == study.num_instances else "cluster"


def in_units(study: Any) -> str:
    """Return the numbers of instances, runs and clusters in words."""
    found = re.search(r"\|runs:(\d+)(?:-(\d+))?\|", study.signature)
    runs = found and (int(found[1]), int(found[2] or found[1]))
    clusters = f" in {count(study.num_units, 'cluster')}" * (unit_of(study) == "cluster")
    return size_text(study.num_instances, runs) + clusters


def adjusted_p(results: Sequence[Any]) -> str:
    """Return the heading of the column of adjusted p-values; it is only "p" for a single result."""
    return "p" if len(results) == 1 else f"p ({results[0].settings.correction})"


def with_adjusted_p(results: Sequence[Any], correction: Correction) -> list[Any]:
    """Return the results with `p_adjusted`: their p-values adjusted together."""
    p_adjusted = adjust(np.array([result.p_value for result in results]), correction).tolist()
    return [replace(result, p_adjusted=p) for result, p in zip(results, p_adjusted, strict=True)]
