"""Figures: which files, of which kind, and how they are written. What draws is imported when there is any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sigjax.files.writing import replacing
from sigjax.records import InputError
from sigjax.records.names import meant
from sigjax.records.options import option

if TYPE_CHECKING:
    from sigjax.report.plots import FigureKind
    from sigjax.report.report import Report

FIGURES = (".png", ".pdf", ".svg")


def figure_kind(path: Path) -> FigureKind | None:
    """The kind of a figure by the name of its file, the part before the ending; None where it names none.

    Raises:
        InputError: an unknown ending, or a part that looks like a kind.

    Example:
        >>> [figure_kind(Path(name)) for name in ("forest.pdf", "paper/deltas.forest.svg", "figure1.png")]
        ['forest', 'forest', None]
    """
    from sigjax.report.plots import KINDS

    if path.suffix.lower() not in FIGURES:
        raise InputError(f"{path}: no format of figures; expected a name that ends in {', '.join(FIGURES)}")
    _, dot, name = path.stem.rpartition(".")
    if name in KINDS:
        return name
    if dot and (close := meant(name, KINDS)):
        raise InputError(f"{path}: no kind of figure {name!r}; did you mean {close[0]!r}?")
    return None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of a report."""

    figure: Sequence[Path] = option(
        (),
        "Draw forest.pdf, or scores, heatmap, groups, null, bootstrap, gain (png, pdf, svg); repeat for more.",
        "The kind stands before the ending, as in table3.forest.pdf; other names get what suits the report. See "
        "`Report.plot`.",
        group="Output",
    )
    pair: Sequence[str] = option((), "The two systems of a null or bootstrap figure.", group="Output", rare=True)
    distributions: bool = option(
        False,
        "Keep the distributions of the deltas of ten pairs, or of --pair, in JSON and HTML.",
        group="Output",
        rare=True,
    )

    def check_figures(self) -> None:
        """Refuse, before the work, names of figures, and a pair, that cannot be drawn.

        Raises:
            InputError: see `figure_kind`; or matplotlib is not installed, or there are not two systems.
        """
        for path in self.figure:
            from sigjax.report.figure import empty_figure

            figure_kind(path)
            empty_figure(1.0, 1.0)
        if len(self.pair) not in (0, 2):
            raise InputError(f"--pair: expected the names of two systems, got {len(self.pair)}")

    def with_distributions(self, report: Report) -> Report:
        """The report with the distributions that JSON and HTML are to have."""
        pairs = [(self.pair[0], self.pair[1])] if self.pair else None
        return report.with_distributions(pairs) if self.distributions else report

    def draw(self, report: Report) -> None:
        """Draw the figures; the pair is for the kinds that show one."""
        for path in self.figure:
            from sigjax.report.plots import KINDS, kind_of

            kind = figure_kind(path) or kind_of(report)
            pair = (self.pair[0], self.pair[1]) if self.pair and KINDS[kind].law else None
            write_figure(report.plot(kind, pair=pair), path)


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib, in the format of the file's name."""
    try:
        with replacing(path) as file:
            figure.savefig(file, dpi=300, format=path.suffix.removeprefix(".") or "png")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another --figure") from None
    except ValueError:
        raise InputError(f"{path}: no format of figures; expected a name such as audit.png, .pdf or .svg") from None
