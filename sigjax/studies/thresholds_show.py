"""Thresholds of gains, and by the size of the test set, as text and as figures."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from sigjax.report.figure import BLUE, BLUES, VERMILION
from sigjax.report.pairs import Table
from sigjax.report.plot_pairs import Look, draw_points, limit_gains
from sigjax.report.text import table_lines
from sigjax.report.words import DASH, count, format_number, number_spec, percent
from sigjax.studies.figures import Drawing, Layout, label
from sigjax.studies.text import NAME, WIDTH, in_units, joined_lines, unit_of
from sigjax.studies.thresholds import WIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.gains import Gains, GainThresholds, PairGain
    from sigjax.studies.size import Size
    from sigjax.studies.size_laws import Fitted, SizeLaw, ThresholdAt
    from sigjax.studies.thresholds import Gained

_LOOKS = {
    None: Look(BLUE, "o", "pair"),
    True: Look(BLUE, "o", "same group"),
    False: Look(VERMILION, "^", "different groups"),
}
_COLORS = {"range": BLUES[0], "normal": "#d55e00"}
_MARKERS = {"range": "o", "normal": "^"}
_STEPS = 100
"""Points of a curve."""


def _ends(low: float | None, high: float | None, spec: str) -> str:
    """An interval, also where one end is open.

    Example:
        >>> _ends(0.4, 0.6, ".2f"), _ends(0.4, None, ".2f")
        ('[0.40, 0.60]', 'at least 0.40')
    """
    if low is not None and high is not None:
        return f"[{low:{spec}}, {high:{spec}}]"
    if low is not None:
        return f"at least {low:{spec}}"
    return DASH if high is None else f"at most {high:{spec}}"


def gains_text(study: Gains) -> str:
    """The thresholds of each metric and test."""
    lines = [f"gains of {count(len(study.systems), 'system')}: {in_units(study)}", *_explained(study)]
    for one in study.thresholds:
        lines += ["", f"{one.metric}, {one.test} test: {_gained(one.by, study.p_range)}", "", *_gains_table(one, study)]
        if one.difference is not None:
            lines += ["", _difference(one)]
    lines += ["", *(line for note in study.notes for line in wrap(f"note: {note}", WIDTH)), study.signature]
    return joined_lines(lines)


def _explained(study: Gains | Size) -> list[str]:
    """What a threshold and its interval are."""
    middle = sum(study.p_range) / 2
    return [
        f"threshold: {percent(study.quantile)} of pairs gain no more at {study.alternative} p = {middle:g}",
        "intervals: for other systems like these, on the same instances",
    ]


def _gained(by: Gained, p_range: tuple[float, float]) -> str:
    """Which gains a threshold is made of."""
    low, high = p_range
    if by == "range":
        return f"pairs with p from {low:g} to {high:g}"
    return f"p from {WIDE[0]:g} to {WIDE[1]:g}, gains moved to p = {(low + high) / 2:g}"


def _spec(one: GainThresholds) -> str:
    return number_spec(number for each in one.thresholds for number in (each.gain, each.low, each.high))


def _gains_table(one: GainThresholds, study: Gains) -> list[str]:
    spec = _spec(one)
    header = ("pairs", "all", "used", "effective", "threshold", f"{percent(study.settings.level)} interval")
    rows = [
        (each.among, f"{each.num_all:,}", f"{each.num_pairs:,}", f"{int(each.effective_pairs):,}")
        + (format_number(each.gain, spec), _ends(each.low, each.high, spec))
        for each in one.thresholds
    ]
    return table_lines(Table(header, rows, names=(0,)), NAME)


def _difference(one: GainThresholds) -> str:
    assert one.difference is not None
    spec, between = f"+{_spec(one)}", one.difference
    verdict = "the thresholds differ" if between.differ else "not shown to differ"
    interval = _ends(between.low, between.high, spec)
    return f"different groups - same group: {between.difference:{spec}}, {interval}: {verdict}"


def _gains_panels(study: Gains) -> list[list[GainThresholds]]:
    """The thresholds of each metric and test."""
    return [list(some) for _, some in groupby(study.thresholds, key=lambda one: (one.metric, one.test))]


def _draw_gains(study: Gains, axes: np.ndarray) -> None:
    """One panel per metric and test: confidence against gain."""
    low, high = study.p_range
    for panel, some in zip(axes[:, 0], _gains_panels(study), strict=True):
        metric, test = some[0].metric, some[0].test
        pairs = [pair for pair in study.pairs if (pair.metric, pair.test) == (metric, test)]
        panel.axhspan(1.0 - high, 1.0 - low, color="0.85", linewidth=0, zorder=0, label=f"p from {low:g} to {high:g}")
        kinds = {look: [pair for pair in pairs if pair.same_group is same] for same, look in _LOOKS.items()}
        draw_points(panel, {look: _gains(some) for look, some in kinds.items()})
        limit_gains(panel, *_gains(pairs), WIDE[0])
        for one in some:
            _lines(panel, one, study)
        number = f"{count(len(pairs), 'pair')} of {count(len(study.systems), 'system')}"
        gain, confidence = f"gain of the better system ({metric})", f"confidence (1 - p, {study.alternative})"
        label(panel, gain, confidence, f"{metric}, {test} test: {number}")
        panel.legend(fontsize=7, loc="lower right")


def _gains(pairs: list[PairGain]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([pair.gain for pair in pairs]), np.array([pair.p_value for pair in pairs])


def _lines(panel: Axes, one: GainThresholds, study: Gains) -> None:
    """Thresholds with their intervals: dashed from the range of p, dotted by the normal law."""
    kinds = (None,) if study.groups is None else (True, False)
    style, name = ("--", "threshold") if one.by == "range" else (":", "by the normal law")
    for same_group, each in zip(kinds, one.thresholds[-len(kinds) :], strict=True):
        color = _LOOKS[same_group].color
        if each.gain is not None:
            panel.axvline(each.gain, color=color, linewidth=1.2, linestyle=style, label=f"{name}: {each.gain:.3g}")
        if each.low is not None and each.high is not None:
            panel.axvspan(each.low, each.high, color=color, alpha=0.12, linewidth=0, zorder=0)


def size_text(study: Size) -> str:
    """The thresholds and laws of each metric and test."""
    lines = [
        f"gains of {count(len(study.systems), 'system')} by the size of the test set: {in_units(study)}",
        *_explained(study),
    ]
    laws = {(law.metric, law.test, law.by): law for law in study.laws}
    for key, points in groupby(study.points, key=lambda at: (at.metric, at.test, at.by)):
        metric, test, by = key
        lines += ["", f"{metric}, {test} test: {_gained(by, study.p_range)}", "", *_size_table(list(points), study)]
        lines += _law(laws[key]) if key in laws else []
    lines += ["", *(line for note in study.notes for line in wrap(f"note: {note}", WIDTH)), study.signature]
    return joined_lines(lines)


def _size_table(points: list[ThresholdAt], study: Size) -> list[str]:
    spec = number_spec(number for at in points for number in (at.threshold, at.low, at.high))
    header = (f"{unit_of(study)}s", "pairs", "effective", "threshold", f"{percent(study.settings.level)} interval")
    rows = [
        (f"{at.size:,}", f"{at.num_pairs:,}", f"{int(at.effective_pairs):,}")
        + (format_number(at.threshold, spec), _ends(at.low, at.high, spec))
        for at in sorted(points, key=lambda at: (at.size, at.order))
    ]
    return table_lines(Table(header, rows), NAME)


def _law(law: SizeLaw) -> list[str]:
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
    interval = "" if number.low is None and number.high is None else f", {_ends(number.low, number.high, spec)}"
    return f"standard error {number.error:{spec}}{interval}"


def _size_panels(study: Size) -> list[tuple[str, str]]:
    """The metric and the test of each panel."""
    return list(dict.fromkeys((at.metric, at.test) for at in study.points))


def _draw_size(study: Size, axes: np.ndarray) -> None:
    """One panel per metric and test: thresholds against sizes, both on log scales, with the laws."""
    for panel, (metric, test) in zip(axes[:, 0], _size_panels(study), strict=True):
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


SIZE = Drawing(size_text, lambda study: Layout(7.2, [4.2] * len(_size_panels(study))), _draw_size)
GAINS = Drawing(gains_text, lambda study: Layout(7.2, [4.2] * len(_gains_panels(study))), _draw_gains)
