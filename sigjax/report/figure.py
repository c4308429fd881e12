"""A matplotlib figure: scores with their intervals on the left, the pairs of each test on the right."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sigjax.records import Comparison, InputError, Interval, Settings
from sigjax.records.visible import visible
from sigjax.report.blocks import Section, blocks
from sigjax.report.pairs import MAX_GRID, Family, left_out, mark, thresholds
from sigjax.report.words import format_adjusted_p, is_significant, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sigjax.report.report import Report

BLUES = ("#1f5fa8", "#6fa3d8", "#c6dcf2")
NOT_SIGNIFICANT = "#eeeeee"
MAX_NUMBERS = 12
"""Systems whose p-values still fit into the cells of the grid."""
ROW_HEIGHT = 0.27  # inches
MIN_ROWS = 4
MAX_ROWS = 300
"""Systems in a figure without a grid."""
MAX_HEIGHT = 200.0  # inches; beyond, the file would be larger than viewers open


def empty_figure(width: float, height: float) -> Figure:
    """A figure of so many inches; nothing global is touched, so save it with `.savefig`.

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise InputError('figures need matplotlib, which is not installed; run: pip install "sigjax[plot]"') from None

    class ReportFigure(Figure):
        """A figure that notebooks show without pyplot, which would keep it in a global list."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=110)
            return stream.getvalue()

    return ReportFigure(figsize=(width, height), layout="constrained")


def to_figure(report: Report) -> Figure:
    """The report as a figure, one row per metric.

    Raises:
        InputError: matplotlib is not installed.
    """
    sections = tuple(blocks(report))
    panels = 1 + max((len(section.families) for section in sections), default=0)
    heights = [1.4 + ROW_HEIGHT * max(MIN_ROWS, _shown(section)) for section in sections]
    figure = empty_figure(1.5 + 4.7 * panels, min(MAX_HEIGHT, 0.3 + sum(heights)))
    axes = figure.subplots(len(sections), panels, squeeze=False, height_ratios=heights)
    for line, section in zip(axes, sections, strict=True):
        size = _shown(section)
        _scores(line[0], section, size, report.settings)
        for panel, family in zip(line[1:], section.families, strict=False):
            _pairs(panel, family, size)
        for panel in line[1 + len(section.families) :]:
            panel.set_axis_off()
    figure.supxlabel(plain(report.signature), fontsize=6, color="0.4")
    return figure


def _shown(section: Section) -> int:
    """How many systems are drawn, from the best."""
    has_grid = any(family.kind == "grid" for family in section.families)
    return min(len(section.systems), MAX_GRID if has_grid else MAX_ROWS)


def plain(text: str) -> str:
    """Text in which matplotlib sees no mathematics, and fonts no control characters."""
    return "\n".join(map(visible, text.split("\n"))).replace("$", r"\$")


def _scores(axes: Axes, section: Section, size: int, settings: Settings) -> None:
    systems, every = section.systems[:size], len(section.systems)
    _intervals(axes, range(size), [system.interval for system in systems])
    axes.plot([system.score for system in systems], range(size), "o", color=BLUES[0], markersize=4)
    _label_rows(axes, [f"{plain(system.name)}  {rank}" for rank, system in enumerate(systems, 1)])
    notes = [left_out("figure", size, every, every_pair="to_json() gives")] if size < every else []
    axes.set_title("\n".join([plain(section.caption), *notes]), fontsize=9)
    axes.set_xlabel(f"{plain(section.metric)}, {percent(settings.level)} interval", fontsize=8)


def _pairs(axes: Axes, family: Family, size: int) -> None:
    axes.set_title(family.heading.replace("; ", "\n"), fontsize=9)
    if family.kind == "grid":
        _grid(axes, family, size)
        return
    if (one := family.only) is not None:
        _label_rows(axes, [f"{plain(one.a)} - {plain(one.b)}"])
        rows = {0: one}
    else:
        _label_rows(axes, [str(rank) for rank in range(1, size + 1)])
        rows = {row: one for row, one in enumerate(family.against_baseline()[:size]) if one is not None}
    _deltas(axes, rows, family.settings)


def _deltas(axes: Axes, rows: dict[int, Comparison], settings: Settings) -> None:
    """Differences with their intervals; a filled point is significant."""
    axes.axvline(0, color="0.5", linewidth=1)
    _intervals(axes, list(rows), [one.interval for one in rows.values()])
    for row, one in rows.items():
        fill = BLUES[0] if is_significant(one) else "white"
        axes.plot([one.delta], [row], "o", color=BLUES[0], markerfacecolor=fill, markersize=5)
    baseline = "a - b" if settings.baseline is None else f"system - {plain(settings.baseline)}"
    label = f"delta ({baseline}), {percent(settings.level)} interval; filled: p < {settings.alpha:g}"
    axes.set_xlabel(label, fontsize=8)


def _grid(axes: Axes, family: Family, size: int) -> None:
    """Adjusted p-values as shades."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    image, first = np.zeros((size, size, 4)), family.first_column
    for i, line in enumerate(family.grid(size)):
        for j, one in enumerate(line, first):
            if one is None:
                continue
            shade = mark(one)
            image[i, j] = to_rgba(NOT_SIGNIFICANT if isinstance(shade, str) else BLUES[shade])
            if size <= MAX_NUMBERS:
                ink = "white" if shade == 0 else "black"
                axes.text(j, i, format_adjusted_p(one), ha="center", va="center", fontsize=6, color=ink)
    axes.imshow(image, aspect="auto", interpolation="nearest")
    _label_rows(axes, [str(row + 1) for row in range(size)])
    columns = range(first, size)
    axes.set_xticks(columns, [str(column + 1) for column in columns], fontsize=min(7, _font(size)))
    limits = thresholds(family.settings)
    keys = [Patch(color=BLUES[shade], label=f"p < {limit:g}") for shade, limit in enumerate(limits)]
    keys.append(Patch(color=NOT_SIGNIFICANT, label="not significant"))
    below = -0.25 / (ROW_HEIGHT * max(MIN_ROWS, size))
    axes.legend(
        handles=keys, loc="upper center", bbox_to_anchor=(0.5, below), ncols=len(keys), fontsize=7, frameon=False
    )
    axes.set_xticks([column - 0.5 for column in range(size)], minor=True)
    axes.set_yticks([row - 0.5 for row in range(size)], minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _intervals(axes: Axes, rows: Sequence[int], intervals: Sequence[Interval | None]) -> None:
    for row, interval in zip(rows, intervals, strict=True):
        if interval is not None:
            axes.plot(interval, [row, row], color=BLUES[1], linewidth=2, solid_capstyle="butt")


def _label_rows(axes: Axes, labels: list[str]) -> None:
    """One row per label, the first on top."""
    axes.set_yticks(range(len(labels)), labels, fontsize=_font(len(labels)))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(length=0, axis="y")
    axes.tick_params(labelsize=7, axis="x")


def _font(rows: int) -> int:
    return 8 if rows <= 30 else 6
