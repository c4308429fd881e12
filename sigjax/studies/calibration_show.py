"""Calibration as text, and as a figure: the share of right winners against p."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from sigjax.report.pairs import Table
from sigjax.report.text import table_lines
from sigjax.report.words import METHODS, count, format_interval
from sigjax.studies.figures import COLORS, Drawing, Layout, label
from sigjax.studies.text import NAME, joined_lines, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.calibration import CalibratedRange, Calibration

_MARKERS = {None: "o", "shift": "s", "flip": "^"}
_SIDES = {"one-sided": "one-sided, for the winner on the test set", "two-sided": "two-sided"}
_LEAST_P = 0.0004
"""Where the curve begins."""


def _groups(study: Calibration) -> list[list[CalibratedRange]]:
    """The ranges by metric and test; the range asked for is the first of each."""
    return [list(one) for _, one in groupby(study.ranges, key=lambda one: (one.metric, one.test, one.variant))]


def _title(first: CalibratedRange) -> str:
    variant = "" if first.variant is None else f" ({first.variant})"
    return f"{first.test}{variant}"


def calibration_text(study: Calibration) -> str:
    """A table for each metric and test."""
    noun = unit_of(study)
    drawn = count(study.repetitions, "test set")
    lines = [
        f"calibration of {count(len(study.systems), 'system')}: {drawn} of {count(study.instances, noun)}, drawn",
        f"with replacement from {study.num_units:,}; p is {_SIDES[study.alternative]}",
    ]
    for ranges in _groups(study):
        first = ranges[0]
        way = f"{first.metric}, {first.test}" + ("" if first.variant is None else f" {first.variant}")
        methods = ", ".join(f"{METHODS[name]} {number:,}" for name, number in sorted(study.methods[way].items()))
        table = Table(("p", "tests", "right", "share", "95% interval", "1 - p"), [_row(one) for one in ranges])
        lines += [
            "",
            f"{first.metric}, {_title(first)}: {methods}",
            "",
            *table_lines(table, NAME),
        ]
    equal = {metric: study.num_pairs - pairs for metric, pairs in study.pairs.items()}
    lines += [
        "",
        f"right: the winner on the test set is also the winner on all {noun}s",
        "1 - p: its mean, p one-sided; about the share right where true differences vary",
        *(f"{metric}: {count(each, 'pair')} with equal scores left out" for metric, each in equal.items() if each),
        study.signature,
    ]
    return joined_lines(lines)


def _row(one: CalibratedRange) -> tuple[str, ...]:
    ends = f"{one.low:g} to {one.high:g}"
    if one.share is None:
        return ends, "0", "", "", "", ""
    interval = format_interval(one.interval, ".3f")
    return ends, f"{one.tests:,}", f"{one.right:,}", f"{one.share:.3f}", interval, f"{one.nominal:.3f}"


def _draw(study: Calibration, axes: np.ndarray) -> None:
    """One panel per metric: shares of right winners, test by test, beside 1 - p."""
    for panel, metric in zip(axes[:, 0], study.pairs, strict=True):
        p = np.geomspace(_LEAST_P, 0.5, 200)
        sides = 2.0 if study.alternative == "two-sided" else 1.0
        panel.plot(p * sides, 1.0 - p, color="0.6", linewidth=1, label="1 - p, p one-sided")
        panel.axhline(0.5, color="0.85", linewidth=1)
        groups = [ranges for ranges in _groups(study) if ranges[0].metric == metric]
        for index, ranges in enumerate(groups):
            _shares(panel, ranges, 1.07 ** (index - (len(groups) - 1) / 2.0), sides)
        panel.set_xscale("log")
        at = f"p on the test set, {_SIDES[study.alternative].partition(',')[0]}"
        drawn = f"{count(study.repetitions, 'test set')} of {study.instances:,} from {study.num_units:,}"
        label(panel, at, "share of winners that are right", f"{metric}: {drawn}")
        panel.legend(fontsize=8, frameon=False, loc="lower left")


def _shares(axes: Axes, ranges: list[CalibratedRange], shift: float, sides: float) -> None:
    """The ranges of one test, but for the one asked for, each at its mean p."""
    first = ranges[0]
    color, marker = COLORS[first.test], _MARKERS[first.variant]
    shown = [one for one in ranges[1:] if one.nominal is not None]
    at = np.array([max(sides * (1.0 - (one.nominal or 0.0)), 0.3 * one.high) for one in shown]) * shift
    style = {"color": color, "markersize": 4, "markerfacecolor": "white" if first.variant == "flip" else color}
    axes.plot(at, [one.share or 0.0 for one in shown], marker, label=_title(first), **style)
    for x, one in zip(at, shown, strict=True):
        axes.plot([x, x], one.interval or (), color=color, linewidth=1.5, alpha=0.5)


CALIBRATION = Drawing(calibration_text, lambda study: Layout(8.0, [4.2] * len(study.pairs)), _draw)
