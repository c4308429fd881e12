"""Gains as text and as a figure."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from sigjax.report.figure import BLUE, VERMILION
from sigjax.report.pairs import Table
from sigjax.report.plot_pairs import Look, draw_points, limit_gains
from sigjax.report.text import table_lines
from sigjax.report.words import DASH, count, format_number, number_spec, percent
from sigjax.studies.figures import Drawing, Layout, label
from sigjax.studies.text import NAME, in_units, joined_lines
from sigjax.studies.thresholds import WIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.gains import Gains, GainThresholds, PairGain
    from sigjax.studies.size import Size
    from sigjax.studies.thresholds import Gained

WIDTH = 80
"""Columns of a text."""
_LOOKS = {
    None: Look(BLUE, "o", "pair"),
    True: Look(BLUE, "o", "same group"),
    False: Look(VERMILION, "^", "different groups"),
}


def ends(low: float | None, high: float | None, spec: str) -> str:
    """An interval, also where one end is open.

    Example:
        >>> ends(0.4, 0.6, ".2f"), ends(0.4, None, ".2f")
        ('[0.40, 0.60]', 'at least 0.40')
    """
    if low is not None and high is not None:
        return f"[{low:{spec}}, {high:{spec}}]"
    if low is not None:
        return f"at least {low:{spec}}"
    return DASH if high is None else f"at most {high:{spec}}"


def gains_text(study: Gains) -> str:
    """The thresholds of each metric and test."""
    lines = [
        f"gains of {count(len(study.systems), 'system')}: {in_units(study)}",
        *explained(study),
    ]
    for one in study.thresholds:
        lines += ["", f"{one.metric}, {one.test} test: {gained(one.by, study.p_range)}", "", *_table(one, study)]
        if one.difference is not None:
            lines += ["", _difference(one)]
    lines += ["", *(line for note in study.notes for line in wrap(f"note: {note}", WIDTH)), study.signature]
    return joined_lines(lines)


def explained(study: Gains | Size) -> list[str]:
    """What a threshold and its interval are."""
    middle = sum(study.p_range) / 2
    return [
        f"threshold: {percent(study.quantile)} of pairs gain no more at {study.alternative} p = {middle:g}",
        "intervals: for other systems like these, on the same instances",
    ]


def gained(by: Gained, p_range: tuple[float, float]) -> str:
    """Which gains a threshold is made of."""
    low, high = p_range
    if by == "range":
        return f"pairs with p from {low:g} to {high:g}"
    return f"p from {WIDE[0]:g} to {WIDE[1]:g}, gains moved to p = {(low + high) / 2:g}"


def _spec(one: GainThresholds) -> str:
    return number_spec(number for each in one.thresholds for number in (each.gain, each.low, each.high))


def _table(one: GainThresholds, study: Gains) -> list[str]:
    spec = _spec(one)
    header = ("pairs", "all", "used", "effective", "threshold", f"{percent(study.settings.level)} interval")
    rows = [
        (each.among, f"{each.num_all:,}", f"{each.num_pairs:,}", f"{int(each.effective_pairs):,}")
        + (format_number(each.gain, spec), ends(each.low, each.high, spec))
        for each in one.thresholds
    ]
    return table_lines(Table(header, rows, names=(0,)), NAME)


def _difference(one: GainThresholds) -> str:
    assert one.difference is not None
    spec, between = f"+{_spec(one)}", one.difference
    verdict = "the thresholds differ" if between.differ else "not shown to differ"
    interval = ends(between.low, between.high, spec)
    return f"different groups - same group: {between.difference:{spec}}, {interval}: {verdict}"


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
    """Gains and p-values."""
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


GAINS = Drawing(gains_text, lambda study: Layout(7.2, [4.2] * len(_panels(study))), _draw)
