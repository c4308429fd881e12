"""What every study can do: text, JSON, a data frame and a figure; other results have the first two."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sigjax.files.writing import text_or_file
from sigjax.records.brief import Brief, html_text
from sigjax.report.programs import json_lines
from sigjax.report.tables import rows_to_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Result(Brief):
    """The base of results that have a text and JSON."""

    @property
    def _kind(self) -> str:
        """Names the text and the drawing of a study (in `studies.show`) and the schema: "audit" for an `Audit`."""
        return type(self).__name__.lower()

    def _repr_html_(self) -> str:
        """The same text for notebooks."""
        return html_text(str(self))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """All of it as JSON, of the schema `sigjax-KIND/1`, such as `sigjax-audit/1`.

        Args:
            path: as in all these methods: the file to write, whose path is then returned instead of the text.

        Raises:
            InputError: the file cannot be written.
        """
        return text_or_file(json_lines(f"sigjax-{self._kind}/1", asdict(self)), path)


@dataclass(frozen=True, repr=False)
class Study(Result):
    """The base of all results of studies, which have a `signature` besides: one line that reproduces the numbers.

    Attributes:
        rows: the field whose records are the rows of the data frame.
    """

    rows: ClassVar[str]

    def __str__(self) -> str:
        """Return the study as text for a terminal."""
        from sigjax.studies.show import SHOWN  # rich takes long to import

        return SHOWN[self._kind].text(self)

    def to_frame(self) -> Any:
        """The rows of the study as a data frame of pandas; intervals become `_low` and `_high`.

        Raises:
            InputError: pandas is not installed.
        """
        return rows_to_frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(row) for row in getattr(self, self.rows)]

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Figure:
        """The study as a matplotlib figure (extra `plot`).

        Args:
            ax: the axes to draw into, as many as the study has panels (row by row); a new figure when left out.

        Raises:
            InputError: matplotlib is not installed, or another number of axes.
        """
        from sigjax.studies.show import plotted

        return plotted(self, ax)
