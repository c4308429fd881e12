"""Thresholds by the size of the test set as text and as a figure."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from sigjax.report.figure import BLUES
from sigjax.report.pairs import Table
from sigjax.report.text import table_lines
from sigjax.report.words import count, format_number, number_spec, percent
from sigjax.studies.figures import Drawing, Layout, label
from sigjax.studies.gains_show import WIDTH, ends, explained, gained
from sigjax.studies.text import NAME, in_units, joined_lines, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.size import Size
    from sigjax.studies.size_laws import Fitted, SizeLaw, ThresholdAt

_COLORS = {"range": BLUES[0], "normal": "#d55e00"}
_MARKERS = {"range": "o", "normal": "^"}
_STEPS = 100
"""Points of a curve."""


def size_text(study: Size) -> str:
    """The thresholds and laws of each metric and test."""
    lines = [
        f"gains of {count(len(study.systems), 'system')} by the size of the test set: {in_units(study)}",
        *explained(study),
    ]
    laws = {(law.metric, law.test, law.by): law for law in study.laws}
    for key, points in groupby(study.points, key=lambda at: (at.metric, at.test, at.by)):
        metric, test, by = key
        lines += ["", f"{metric}, {test} test: {gained(by, study.p_range)}", "", *_table(list(points), study)]
        lines += _law(laws[key]) if key in laws else []
    lines += ["", *(line for note in study.notes for line in wrap(f"note: {note}", WIDTH)), study.signature]
    return joined_lines(lines)


def _table(points: list[ThresholdAt], study: Size) -> list[str]:
    spec = number_spec(number for at in points for number in (at.threshold, at.low, at.high))
    header = (f"{unit_of(study)}s", "pairs", "effective", "threshold", f"{percent(study.settings.level)} interval")
    rows = [
        (f"{at.size:,}", f"{at.num_pairs:,}", f"{int(at.effective_pairs):,}")
        + (format_number(at.threshold, spec), ends(at.low, at.high, spec))
        for at in sorted(points, key=lambda at: (at.size, at.order))
    ]
    return table_lines(Table(header, rows), NAME)


def _law(law: SizeLaw) -> list[str]:
    """What the laws say."""
    spec = number_spec([law.constant.value])
    lines = ["", f"threshold = {law.constant.value:{spec}} / sqrt(n), {_sure(law.constant, spec)}"]
    lines.append(f"thresholds are {percent(round(law.misfit, 3))} off this law")
    if law.exponent is not None:
        lines.append(f"with a free exponent: n to the power {law.exponent.value:.2f}, {_sure(law.exponent, '.2f')}")
    if law.gain is not None and law.needed is not None:
        lines.append(f"a gain of {law.gain:.4g} needs n = {law.needed.value:,.0f}, {_sure(law.needed, ',.0f')}")
    return lines


def _sure(number: Fitted, spec: str) -> str:
    """The standard error and the interval."""
    interval = "" if number.low is None and number.high is None else f", {ends(number.low, number.high, spec)}"
    return f"standard error {number.error:{spec}}{interval}"


def _panels(study: Size) -> list[tuple[str, str]]:
    """The metric and the test of each panel."""
    return list(dict.fromkeys((at.metric, at.test) for at in study.points))


def _draw(study: Size, axes: np.ndarray) -> None:
    """One panel per metric and test: thresholds against sizes, both on log scales, with the laws."""
    for panel, (metric, test) in zip(axes[:, 0], _panels(study), strict=True):
        own = [at for at in study.points if (at.metric, at.test) == (metric, test)]
        _points(panel, [at for at in own if at.threshold])
        laws = [law for law in study.laws if (law.metric, law.test) == (metric, test)]
        for law in laws:
            _curves(panel, law, [at.size for at in own])
        if laws and laws[0].gain is not None:
            panel.axhline(laws[0].gain, color="0.6", linewidth=1, label=f"gain {laws[0].gain:.3g}")
        panel.set_xscale("log")
        panel.set_yscale("log", subs=[1.5, 2, 3, 5, 7])
        panel.yaxis.set_major_formatter("{x:.3g}")
        panel.yaxis.set_minor_formatter("{x:.3g}")
        sizes = sorted({at.size for at in own})
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        panel.set_xticks([], minor=True)
        title = f"{metric}, {test} test: {count(len(study.systems), 'system')}"
        size, threshold = f"number of {unit_of(study)}s ({study.subsets})", f"threshold of the gain ({metric})"
        label(panel, size, threshold, title)
        panel.tick_params(labelsize=7, which="minor")
        panel.legend(fontsize=7)


def _points(panel: Axes, points: list[ThresholdAt]) -> None:
    """Thresholds, with the intervals that have two ends."""
    for by, some in groupby(points, key=lambda at: at.by):
        shown = np.array([(at.size, at.threshold, at.low or np.nan, at.high or np.nan) for at in some], float)
        color, name = _COLORS[by], "p in the range" if by == "range" else "by the normal law"
        panel.plot(shown[:, 0], shown[:, 1], _MARKERS[by], color=color, markersize=5, label=name)
        bounded = ~np.isnan(shown).any(axis=1)
        panel.vlines(shown[bounded, 0], shown[bounded, 2], shown[bounded, 3], color=color, linewidth=1.5, alpha=0.6)


def _curves(panel: Axes, law: SizeLaw, sizes: list[int]) -> None:
    """The square-root law, and the one with a free exponent."""
    at, color = np.geomspace(min(sizes), max(sizes), _STEPS), _COLORS[law.by]
    label = f"{law.constant.value:.3g} / sqrt(n)"
    panel.plot(at, law.constant.value / np.sqrt(at), color=color, linewidth=1, label=label)
    if law.exponent is not None and law.free_constant is not None:
        label, free = f"free exponent {law.exponent.value:.2f}", law.free_constant * at**law.exponent.value
        panel.plot(at, free, color=color, linewidth=1, linestyle=":", label=label)


SIZE = Drawing(size_text, lambda study: Layout(7.2, [4.2] * len(_panels(study))), _draw)
