"""Gains as text and as a figure."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from sigjax.report.figure import BLUES, plain
from sigjax.report.pairs import Table
from sigjax.report.text import table_lines
from sigjax.report.words import DASH, count, format_number, number_spec, percent
from sigjax.studies.figures import Drawing, Layout
from sigjax.studies.text import NAME, in_units, joined_lines
from sigjax.studies.thresholds import WIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.gains import Gains, GainThresholds, PairGain
    from sigjax.studies.thresholds import Threshold, ThresholdDifference

_LOOKS = {
    None: (BLUES[0], "o", "pair"),
    True: (BLUES[0], "o", "same group"),
    False: ("#d55e00", "^", "different groups"),
}
"""Colour, marker and name of the pairs; blue and vermilion differ for all kinds of colour vision."""


def ends(one: Threshold | ThresholdDifference, spec: str) -> str:
    """The interval, also where one end is open.

    Example:
        >>> from sigjax.studies.thresholds import Threshold
        >>> ends(Threshold("all", 0.5, 0.4, None, 10, 8, 45), ".2f")
        'at least 0.40'
    """
    if one.low is not None and one.high is not None:
        return f"[{one.low:{spec}}, {one.high:{spec}}]"
    if one.low is not None:
        return f"at least {one.low:{spec}}"
    return DASH if one.high is None else f"at most {one.high:{spec}}"


def gains_text(study: Gains) -> str:
    """The thresholds of each metric and test."""
    low, high = study.p_range
    lines = [
        f"gains of {count(len(study.systems), 'system')}: {in_units(study)}",
        f"threshold: {percent(study.quantile)} of pairs gain no more at {study.alternative} p = {(low + high) / 2:g}",
    ]
    for one in study.thresholds:
        lines += ["", f"{one.metric}, {one.test} test: {_gained(one, study)}", "", *_table(one, study)]
        if one.difference is not None:
            lines += ["", _difference(one)]
    lines += ["", *(line for note in study.notes for line in wrap(f"note: {note}", 80)), study.signature]
    return joined_lines(lines)


def _gained(one: GainThresholds, study: Gains) -> str:
    """Which gains the thresholds are made of."""
    low, high = study.p_range
    if one.by == "range":
        return f"pairs with p from {low:g} to {high:g}"
    return f"p from {WIDE[0]:g} to {WIDE[1]:g}, gains moved to p = {(low + high) / 2:g}"


def _spec(one: GainThresholds) -> str:
    return number_spec(number for each in one.thresholds for number in (each.gain, each.low, each.high))


def _table(one: GainThresholds, study: Gains) -> list[str]:
    spec = _spec(one)
    header = ("pairs", "all", "used", "systems", "threshold", f"{percent(study.settings.level)} interval")
    rows = [
        (each.among, f"{each.num_all:,}", f"{each.num_pairs:,}", f"{each.num_systems:,}")
        + (format_number(each.gain, spec), ends(each, spec))
        for each in one.thresholds
    ]
    return table_lines(Table(header, rows, names=(0,)), NAME)


def _difference(one: GainThresholds) -> str:
    assert one.difference is not None
    spec = f"+{_spec(one)}"
    verdict = "the thresholds differ" if one.difference.differ else "not shown to differ"
    return f"different groups - same group: {one.difference.difference:{spec}}, {ends(one.difference, spec)}: {verdict}"


def _layout(study: Gains) -> Layout:
    return Layout(7.2, [4.2] * len(_panels(study)))


def _panels(study: Gains) -> list[list[GainThresholds]]:
    """The thresholds of each metric and test."""
    return [list(some) for _, some in groupby(study.thresholds, key=lambda one: (one.metric, one.test))]


def _draw(study: Gains, axes: np.ndarray) -> None:
    """One panel per metric and test: confidence against gain."""
    low, high = study.p_range
    for panel, some in zip(axes[:, 0], _panels(study), strict=True):
        metric, test = some[0].metric, some[0].test
        pairs = [pair for pair in study.pairs if (pair.metric, pair.test) == (metric, test)]
        panel.axhspan(1.0 - high, 1.0 - low, color="0.85", linewidth=0, zorder=0, label=f"p from {low:g} to {high:g}")
        _points(panel, pairs)
        for one in some:
            _lines(panel, one, study)
        panel.set_xlabel(f"gain of the better system ({plain(metric)})", fontsize=8)
        panel.set_ylabel(f"confidence (1 - p, {study.alternative})", fontsize=8)
        number = f"{count(len(pairs), 'pair')} of {count(len(study.systems), 'system')}"
        panel.set_title(plain(f"{metric}, {test} test: {number}"), fontsize=9)
        panel.tick_params(labelsize=7)
        panel.legend(fontsize=7, loc="lower right")


def _points(panel: Axes, pairs: list[PairGain]) -> None:
    """The pairs, those of groups in colours and markers of their own."""
    alpha = 0.7 if len(pairs) <= 1000 else 0.25
    for same_group, (color, marker, name) in _LOOKS.items():
        chosen = [(pair.gain, 1.0 - pair.p_value) for pair in pairs if pair.same_group is same_group]
        if chosen:
            style = {"color": color, "alpha": alpha, "linewidth": 0, "marker": marker, "markersize": 3.5}
            panel.plot(*np.array(chosen).T, **style, label=name, rasterized=len(pairs) > 1000)
    panel.set_xlim(left=0.0)


def _lines(panel: Axes, one: GainThresholds, study: Gains) -> None:
    """Thresholds with their intervals: dashed from the range of p, dotted by the normal law."""
    kinds = (None,) if study.groups is None else (True, False)
    style, name = ("--", "threshold") if one.by == "range" else (":", "by the normal law")
    for same_group, each in zip(kinds, one.thresholds[-len(kinds) :], strict=True):
        color = _LOOKS[same_group][0]
        if each.gain is not None:
            panel.axvline(each.gain, color=color, linewidth=1.2, linestyle=style, label=f"{name}: {each.gain:.3g}")
        if each.low is not None and each.high is not None:
            panel.axvspan(each.low, each.high, color=color, alpha=0.12, linewidth=0, zorder=0)


GAINS = Drawing(_layout, _draw)
