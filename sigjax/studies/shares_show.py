"""Shares of right winners by p, on test sets of one population and on others, as text and as figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from sigjax.records.visible import visible
from sigjax.report.figure import plain
from sigjax.report.names import middle_cut
from sigjax.report.pairs import Table
from sigjax.report.text import GAP, table_lines
from sigjax.report.words import DASH, METHODS, count, format_interval, percent
from sigjax.studies.figures import COLORS, Drawing, Layout, label
from sigjax.studies.text import NAME, WIDTH, joined_lines, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.calibration import CalibratedRange, Calibration
    from sigjax.studies.domain import Domain, DomainRange

_MARKERS = {None: "o", "shift": "s", "flip": "^"}
_SIDES = {"one-sided": "one-sided, for the winner on the test set", "two-sided": "two-sided"}
_LEAST_P = 0.0004
"""Where the curve begins."""
_LOOKS = (
    *(("#0072b2", "o"), ("#d55e00", "^"), ("#009e73", "s"), ("#cc79a7", "D"), ("#e69f00", "v")),
    *(("#56b4e9", "P"), ("#000000", "X")),
)
"""Colours that differ for all kinds of colour vision (Okabe and Ito), and markers."""
_FEWEST_P = 1e-4
_SHORT = 14
"""Columns for the name of a test set that heads a column."""


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
        lines += ["", f"{first.metric}, {_title(first)}: {methods}", "", *table_lines(table, NAME)]
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


def _draw_calibration(study: Calibration, axes: np.ndarray) -> None:
    """One panel per metric: shares of right winners, test by test, beside 1 - p."""
    for panel, metric in zip(axes[:, 0], study.pairs, strict=True):
        p = np.geomspace(_LEAST_P, 0.5, 200)
        sides = 2.0 if study.alternative == "two-sided" else 1.0
        panel.plot(p * sides, 1.0 - p, color="0.6", linewidth=1, label="1 - p, p one-sided")
        panel.axhline(0.5, color="0.85", linewidth=1)
        groups = [ranges for ranges in _groups(study) if ranges[0].metric == metric]
        for index, ranges in enumerate(groups):
            _test_shares(panel, ranges, 1.07 ** (index - (len(groups) - 1) / 2.0), sides)
        panel.set_xscale("log")
        at = f"p on the test set, {_SIDES[study.alternative].partition(',')[0]}"
        drawn = f"{count(study.repetitions, 'test set')} of {study.instances:,} from {study.num_units:,}"
        label(panel, at, "share of winners that are right", f"{metric}: {drawn}")
        panel.legend(fontsize=8, frameon=False, loc="lower left")


def _test_shares(axes: Axes, ranges: list[CalibratedRange], shift: float, sides: float) -> None:
    """The ranges of one test, but for the one asked for, each at its mean p."""
    first, shown = ranges[0], [one for one in ranges[1:] if one.nominal is not None]
    at = [max(sides * (1.0 - (one.nominal or 0.0)), 0.3 * one.high) * shift for one in shown]
    color = COLORS[first.test]
    style = {"marker": _MARKERS[first.variant], "markerfacecolor": "white" if first.variant == "flip" else color}
    _draw_shares(axes, at, shown, _title(first), color=color, **style)


def _draw_shares(
    axes: Axes, at: Sequence[float], ranges: Sequence[CalibratedRange | DomainRange], name: str, **style: Any
) -> None:
    """Shares with their intervals, each range of p at one place."""
    axes.plot(at, [one.share or 0.0 for one in ranges], linestyle="none", markersize=4, label=plain(name), **style)
    for x, one in zip(at, ranges, strict=True):
        axes.plot([x, x], one.interval or (), color=style["color"], linewidth=1.5, alpha=0.5)


def domain_text(study: Domain) -> str:
    """A table for each test, with one line per other test set and range of p."""
    sizes = [f"{name} ({count(size, 'instance')})" for name, size in study.test_sets.items()]
    lines = [
        f"{study.metric}: {count(len(study.systems), 'system')} on {count(len(sizes), 'test set')}",
        f"p on {sizes[0]}, {study.alternative}; winners there on the others:",
        *sizes[1:],
    ]
    low, high = study.ranges[0].low, study.ranges[0].high
    for test, each in groupby(study.ranges, key=lambda one: one.test):
        ranges = list(each)
        near = [next(own) for _, own in groupby(ranges, key=lambda one: one.other)]
        header = ("test set", "pairs", "win", "share", f"{percent(study.level)} interval")
        lines += ["", f"{test} test, p from {low:g} to {high:g}", ""]
        lines += table_lines(Table(header, [_near_row(one) for one in near], names=(0,)), NAME)
        lines += ["", "shares by p", *_shares_lines([one.other for one in near], _shares_rows(ranges))]
    lines += [
        "",
        "win: the winner by p also has the better score on this test set",
        "intervals are for other systems like these, not for other domains",
        study.signature,
    ]
    return joined_lines(lines)


def _near_row(one: DomainRange) -> tuple[str, ...]:
    share = DASH if one.share is None else f"{one.share:.3f}"
    return one.other, f"{one.pairs:,}", f"{one.right:,}", share, format_interval(one.interval, ".3f")


def _shares_lines(others: list[str], rows: list[tuple[str, ...]]) -> list[str]:
    """Tables of as many test sets as fit side by side."""
    lines: list[str] = []
    heads = [middle_cut(visible(name), _SHORT) for name in others]
    first, second, *_ = zip(("p", "pairs", *heads), *rows, strict=True)
    room = WIDTH - max(map(len, first)) - max(map(len, second)) - len(GAP)
    while heads:
        widths = np.cumsum([len(GAP) + max(cell_len(head), len("100%")) for head in heads])
        fit = max(1, int((widths <= room).sum()))
        table = Table(("p", "pairs", *heads[:fit]), [row[: 2 + fit] for row in rows])
        lines += ["", *table_lines(table, _SHORT)]
        heads, rows = heads[fit:], [(*row[:2], *row[2 + fit :]) for row in rows]
    return lines


def _shares_rows(ranges: list[DomainRange]) -> list[tuple[str, ...]]:
    """One row per range of Table 1, one column per other test set."""
    rows: dict[tuple[float, float], list[DomainRange]] = {}
    for _, own in groupby(ranges, key=lambda one: one.other):
        for one in list(own)[1:]:
            rows.setdefault((one.low, one.high), []).append(one)
    shares = {key: [DASH if one.share is None else f"{one.share:.0%}" for one in of] for key, of in rows.items()}
    return [(f"{low:g} to {high:g}", f"{of[0].pairs:,}", *shares[low, high]) for (low, high), of in rows.items()]


def _draw_domain(study: Domain, axes: np.ndarray) -> None:
    """One row per test: confidence against gain, and shares of winners against p."""
    for (left, right), test in zip(axes, study.settings.tests, strict=True):
        looks = dict(zip(study.test_sets, (_LOOKS[i % len(_LOOKS)] for i in range(len(study.test_sets))), strict=True))
        for name, (color, marker) in looks.items():
            own = [one for one in study.pairs if (one.test_set, one.test) == (name, test)]
            shown = np.array([(one.gain, 1.0 - one.p_value) for one in own])
            left.plot(*shown.T, marker, color=color, markersize=2.5, alpha=0.5, label=plain(name), markeredgewidth=0)
        confidence = f"confidence, 1 - p ({study.alternative})"
        label(left, f"gain of the winner ({study.metric})", confidence, f"{test} test: all pairs on each test set")
        left.set_xlim(0.0, _near(study))
        for index, (name, (color, marker)) in enumerate(list(looks.items())[1:]):
            ranges = [one for one in study.ranges if (one.other, one.test) == (name, test)]
            shown, shift = [one for one in ranges[1:] if one.pairs], 1.12 ** (index - (len(looks) - 2) / 2.0)
            middles = [(max(one.low, _FEWEST_P) * one.high) ** 0.5 * shift for one in shown]
            _draw_shares(right, middles, shown, name, color=color, marker=marker)
        right.axhline(0.5, color="0.8", linewidth=1)
        right.set_xscale("log")
        right.set_ylim(-0.03, 1.03)
        share = "share of winners that win there, too"
        label(right, f"p on {study.source} ({study.alternative})", share, "winners on the other test sets")
        for panel, place in ((left, "lower right"), (right, "lower left")):
            panel.legend(fontsize=7, frameon=False, loc=place, markerscale=1.5)


def _near(study: Domain) -> float:
    """Twice the largest gain with p above 0.01, where the curves bend."""
    return 2.0 * max((one.gain for one in study.pairs if one.p_value > 0.01), default=0.5)


DOMAIN = Drawing(domain_text, lambda study: Layout(10.4, [4.2] * len(study.settings.tests), 2), _draw_domain)
CALIBRATION = Drawing(calibration_text, lambda study: Layout(8.0, [4.2] * len(study.pairs)), _draw_calibration)
