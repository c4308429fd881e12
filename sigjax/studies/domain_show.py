"""Domains as text, and as a figure: confidence against gain on each test set, and who wins on others, by p."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len

from sigjax.records.visible import visible
from sigjax.report.figure import plain
from sigjax.report.names import middle_cut
from sigjax.report.pairs import Table
from sigjax.report.text import GAP, table_lines
from sigjax.report.words import DASH, count, format_interval, percent
from sigjax.studies.figures import Drawing, Layout, label
from sigjax.studies.text import NAME, joined_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.domain import Domain, DomainRange

_LOOKS = (
    *(("#0072b2", "o"), ("#d55e00", "^"), ("#009e73", "s"), ("#cc79a7", "D"), ("#e69f00", "v")),
    *(("#56b4e9", "P"), ("#000000", "X")),
)
"""Colours that differ for all kinds of colour vision (Okabe and Ito), and markers."""
_FEWEST_P = 1e-4
_SHORT = 14
"""Columns for the name of a test set that heads a column."""
_WIDTH = 80


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
    room = _WIDTH - max(map(len, first)) - max(map(len, second)) - len(GAP)
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
    return [
        (
            f"{low:g} to {high:g}",
            f"{of[0].pairs:,}",
            *(DASH if one.share is None else f"{one.share:.0%}" for one in of),
        )
        for (low, high), of in rows.items()
    ]


def _draw(study: Domain, axes: np.ndarray) -> None:
    """One row per test: confidence against gain, and shares of winners against p."""
    for (left, right), test in zip(axes, study.settings.tests, strict=True):
        looks = dict(zip(study.test_sets, (_LOOKS[i % len(_LOOKS)] for i in range(len(study.test_sets))), strict=True))
        for name, (color, marker) in looks.items():
            shown = np.array(
                [(one.gain, 1.0 - one.p_value) for one in study.pairs if (one.test_set, one.test) == (name, test)]
            )
            left.plot(*shown.T, marker, color=color, markersize=2.5, alpha=0.5, label=plain(name), markeredgewidth=0)
        confidence = f"confidence, 1 - p ({study.alternative})"
        label(left, f"gain of the winner ({study.metric})", confidence, f"{test} test: all pairs on each test set")
        left.set_xlim(0.0, _near(study))
        for index, (name, look) in enumerate(list(looks.items())[1:]):
            ranges = [one for one in study.ranges if (one.other, one.test) == (name, test)]
            _shares(right, ranges[1:], look, name, 1.12 ** (index - (len(looks) - 2) / 2.0))
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


def _shares(axes: Axes, ranges: list[DomainRange], look: tuple[str, str], name: str, shift: float) -> None:
    """Shares in the ranges of Table 1, each at its geometric middle."""
    color, marker = look
    shown = [(one, (max(one.low, _FEWEST_P) * one.high) ** 0.5 * shift) for one in ranges if one.pairs]
    axes.plot(
        [at for _, at in shown],
        [one.share or 0.0 for one, _ in shown],
        marker,
        color=color,
        markersize=4,
        label=plain(name),
    )
    for one, at in shown:
        axes.plot([at, at], one.interval or (), color=color, linewidth=1.2, alpha=0.5)


DOMAIN = Drawing(domain_text, lambda study: Layout(10.4, [4.2] * len(study.settings.tests), 2), _draw)
