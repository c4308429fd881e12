"""Figures of a report: which kinds there are, which suits a report, and the panels of a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from sigjax.records import InputError, Test
from sigjax.records.names import meant
from sigjax.report.blocks import Section, blocks
from sigjax.report.figure import ONE_COLUMN, TWO_COLUMNS, empty_figure
from sigjax.report.plot_grid import draw_heatmap, heatmap_size
from sigjax.report.plot_pairs import draw_gain, draw_law
from sigjax.report.plot_rows import Panel, draw_forest, draw_groups, draw_scores, groups_size, rows_size, test_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sigjax.report.report import Report

FigureKind = Literal["scores", "forest", "heatmap", "groups", "null", "bootstrap", "gain"]
MANY = 12
"""More systems are drawn as a heat map when no kind is asked for."""

MAX_HEIGHT = 150.0  # inches; beyond, the file would be larger than viewers open


class Kind(NamedTuple):
    """How a kind of figure is made."""

    size: Callable[[Panel], tuple[float, float]]
    """Inches."""
    draw: Callable[[Axes, Panel], None]
    law: Test | None = None
    """The distribution that it shows."""
    tests: bool = True
    """Whether each test has a panel."""


KINDS: dict[FigureKind, Kind] = {
    "scores": Kind(lambda panel: rows_size(len(panel.systems)), draw_scores, tests=False),
    "forest": Kind(lambda panel: rows_size(len(panel.systems) - 1), draw_forest),
    "heatmap": Kind(heatmap_size, draw_heatmap),
    "groups": Kind(groups_size, draw_groups),
    "null": Kind(lambda panel: (ONE_COLUMN, 2.6), draw_law, law="permutation", tests=False),
    "bootstrap": Kind(lambda panel: (ONE_COLUMN, 2.6), draw_law, law="bootstrap", tests=False),
    "gain": Kind(lambda panel: (ONE_COLUMN, 2.7), draw_gain),
}


def to_figure(
    report: Report,
    kind: FigureKind | None = None,
    *,
    metric: str | None = None,
    test: Test | None = None,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """See `Report.plot`."""
    chosen = kind_of(report) if kind is None else check_kind(kind)
    if pair is not None and KINDS[chosen].law is None:
        raise InputError(f"figure {chosen}: shows all systems, not a pair; --pair is for null and bootstrap")
    panels = [_panels(report, section, chosen, test, pair) for section in _sections(report, metric)]
    draw, size = KINDS[chosen].draw, KINDS[chosen].size
    if ax is not None:
        if sum(map(len, panels)) != 1:
            raise InputError("ax is for one panel: give --metric, and --test where the report has several")
        draw(ax, panels[0][0])
        return ax.figure  # pyright: ignore[reportReturnType]
    sizes = np.array([[size(panel) for panel in line] for line in panels])
    if sizes[..., 0].max(axis=0).sum() > TWO_COLUMNS:  # tests below each other
        panels, sizes = [[panel] for line in panels for panel in line], sizes.reshape(-1, 1, 2)
    widths, heights = sizes[..., 0].max(axis=0), sizes[..., 1].max(axis=1)
    if heights.sum() > MAX_HEIGHT:
        raise InputError(f"{len(panels)} panels of so many systems do not fit into one figure; give --metric")
    figure = empty_figure(sum(widths), sum(heights), report.signature)
    axes = figure.subplots(len(heights), len(widths), squeeze=False, height_ratios=heights, width_ratios=widths)
    for line, row in zip(axes, panels, strict=True):
        for each, panel in zip(line, row, strict=True):
            draw(each, panel)
    return figure


def kind_of(report: Report) -> FigureKind:
    """What suits a report: the distribution of a pair, scores, differences to a baseline, or all pairs."""
    if len(report.comparisons.groups()) == len(report.comparisons):
        return "null" if report.laws is not None or report.distributions else "forest"
    if report.settings.baseline is not None:
        return "forest"
    return "scores" if len({one.name for one in report.systems}) <= MANY else "heatmap"


def check_kind(kind: str) -> FigureKind:
    """Refuse an unknown kind."""
    known = get_args(FigureKind)
    if kind not in known:
        close = " or ".join(map(repr, meant(kind, known)))
        hint = f"did you mean {close}?" if close else f"expected one of {', '.join(known)}"
        raise InputError(f"no kind of figure {kind!r}; {hint}")
    return kind  # pyright: ignore[reportReturnType]


def _sections(report: Report, metric: str | None) -> Iterator[Section]:
    names = list(dict.fromkeys(system.metric for system in report.systems))
    if metric is not None and metric not in names:
        raise InputError(f"the report has no metric {metric!r}; expected one of {', '.join(names)}")
    return (section for section in blocks(report) if metric in (None, section.metric))


def _panels(
    report: Report, section: Section, kind: FigureKind, test: Test | None, pair: tuple[str, str] | None
) -> list[Panel]:
    """The panels of one metric."""
    families = [each for each in section.families if test in (None, test_of(each))]
    if not families:
        tests = ", ".join(map(test_of, section.families))
        raise InputError(
            f"the report has no {test} test of {section.metric}; it has {tests}" if tests else "the report has no pairs"
        )
    law = KINDS[kind].law
    of_pair = None
    if law is not None:
        a, b = report.first_pairs(section.metric)[0] if pair is None else pair
        found = report.distribution(a, b, metric=section.metric, test=law)
        tested = law in report.settings.tests
        of_pair = found, report.comparisons[a, b, section.metric, law] if tested else None
        families = [each for each in section.families if test_of(each) == law] or families
    lower = section.metric in report.lower_is_better
    shown = families if KINDS[kind].tests else families[:1]
    return [Panel(section, family, lower, of_pair) for family in shown]
