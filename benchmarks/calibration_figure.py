"""The figure of `calibration.py`: sizes of tests above, coverages of intervals below, a panel a number of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sizes import BOOTSTRAP, IGNORED, SAMPLED

from sigjax.studies.classical import UNPAIRED

if TYPE_CHECKING:
    from calibration import Coverage, Size

_COLORS = ("#2a75b3", "#c1272d", "#3a9a5b", "#e08e45", "#7a4fa3", "#222222", "#17a2b8", "#b5698f", "#8c6d31", "#888888")
_MARKERS = {"circle": "o", "triangle": "^", "square": "s"}
"""Of levels, the smallest first."""
_WIDEST, _LOWEST = 0.25, 0.8
"""Sizes and coverages beyond are drawn at the edge: an arrow, and the number."""
_BAND = 0.8
"""Part of a row that its points take."""


class Point(NamedTuple):
    """One dot with its error bar."""

    row: str
    series: str
    """The colour, and the place within the row."""
    marker: str
    share: float
    interval: tuple[float, float]


def draw(sizes: Sequence[Size], coverages: Sequence[Coverage], path: Path) -> None:
    """Draw both into a file."""
    from matplotlib.figure import Figure

    sizes = sorted(sizes, key=lambda each: place_in_tables(each.test))
    levels, units = _distinct(each.level for each in sizes), _distinct(each.units for each in sizes)
    marker = dict(zip(levels, _MARKERS.values(), strict=True))
    figure = Figure(figsize=(13.0, 16.5), dpi=110, layout="constrained")
    above, below = figure.subplots(2, len(units), sharey="row", height_ratios=(3.3, 1.6))

    def of_sizes(number: int) -> list[Point]:
        found = [each for each in sizes if each.units == number]
        return [Point(s.test, s.kind, marker[s.level], s.share, s.interval) for s in found]

    def of_coverages(number: int) -> list[Point]:
        found = [each for each in coverages if each.units == number]
        return [Point(each.target, each.kind, "o", each.share, each.interval) for each in found]

    _row(above, units, of_sizes, nominal=levels, limits=(0.0, _WIDEST), ticks=[*levels, 0.15, 0.2, _WIDEST])
    _row(below, units, of_coverages, nominal=[0.95], limits=(_LOWEST, 1.0), ticks=[_LOWEST, 0.85, 0.9, 0.95, 1.0])
    shapes = ", ".join(f"{level:.0%} ({shape})" for level, shape in zip(levels, _MARKERS, strict=True))
    for panel, number in zip(above, units, strict=True):
        panel.set_title(f"{number:,} units")
        panel.set_xlabel(f"rejections at {shapes}", fontsize=8)
    for panel in below:
        panel.set_xlabel("95% intervals that hold the truth (10 deltas: all ten)", fontsize=8)
    figure.savefig(path)


def place_in_tables(test: str) -> tuple[bool, bool, bool]:
    """Tests that sample first, then the others; those that take systems for independent, and units, come last."""
    return IGNORED in test, test in UNPAIRED, not test.startswith((SAMPLED, BOOTSTRAP))


def _row(
    panels: Any,
    units: Sequence[int],
    points: Callable[[int], list[Point]],
    *,
    nominal: Sequence[float],
    limits: tuple[float, float],
    ticks: Sequence[float],
) -> None:
    """Panels that share their rows, and a legend to the right."""
    every = [point for number in units for point in points(number)]
    rows, series = _distinct(point.row for point in every), _distinct(point.series for point in every)
    there = {point[:2] for point in every}
    within = {row: [each for each in series if (row, each) in there] for row in rows}
    spare = 0.02 * (limits[1] - limits[0])
    for panel, number in zip(panels, units, strict=True):
        for level in nominal:
            panel.axvline(level, color="0.5", linewidth=0.9, zorder=1)
        for place in range(0, len(rows), 2):
            panel.axhspan(place - 0.5, place + 0.5, color="0.955", zorder=0)
        for point in points(number):
            others = within[point.row]
            lower = others.index(point.series) - (len(others) - 1) / 2.0
            height = rows.index(point.row) + lower * _BAND / len(series)
            _dot(panel, point, height, _COLORS[series.index(point.series)], limits)
        panel.set_yticks(range(len(rows)), rows, fontsize=8)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.set_xlim(limits[0] - spare, limits[1] + spare)
        panel.set_xticks(ticks, [f"{share:.0%}" for share in ticks])
        panel.tick_params(axis="x", labelsize=8)
        panel.spines[["top", "right"]].set_visible(False)
    handles = [panels[-1].plot([], [], "o", color=color, markersize=4)[0] for color in _COLORS[: len(series)]]
    panels[-1].legend(handles, series, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _dot(panel: Any, point: Point, height: float, color: str, limits: tuple[float, float]) -> None:
    """A dot and its bar; at the edge where it lies beyond."""
    lowest, highest = limits
    if not lowest <= point.share <= highest:
        edge = highest if point.share > highest else lowest
        beyond = point.share > highest
        panel.plot([edge], [height], ">" if beyond else "<", color=color, markersize=5, zorder=3)
        beside, side = ((-6, 0), "right") if beyond else ((6, 0), "left")
        panel.annotate(
            f"{point.share:.0%}",
            (edge, height),
            beside,
            textcoords="offset points",
            ha=side,
            va="center_baseline",
            fontsize=6,
            color=color,
        )
        return
    panel.plot(point.interval, [height, height], color=color, linewidth=1.0, zorder=2)
    panel.plot([point.share], [height], point.marker, color=color, markersize=3, zorder=3)


def _distinct(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))
