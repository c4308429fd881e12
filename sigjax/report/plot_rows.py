"""Figures with one row per system: scores, differences to one system, and groups that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sigjax.ranking.significance_ranks import alike_groups
from sigjax.records import Comparison, Distribution, InputError, Settings, SystemScore, Test
from sigjax.report.blocks import Section
from sigjax.report.figure import (
    BLUE,
    BLUES,
    GREY,
    NAME,
    ONE_COLUMN,
    TWO_COLUMNS,
    UNSETTLED,
    intervals,
    label_rows,
    row_height,
    say,
)
from sigjax.report.names import middle_cut
from sigjax.report.pairs import Family, turned_delta
from sigjax.report.sentences import decided
from sigjax.report.words import (
    ALTERNATIVES,
    format_adjusted_p,
    format_number,
    is_significant,
    left_out,
    number_spec,
    percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS = 300
"""Systems of one figure, from the best."""
_BAR = 0.11
"""Inches between the bars of groups."""


class Panel(NamedTuple):
    """What is drawn: a metric and, for kinds that show a test, a test; or one pair."""

    section: Section
    family: Family
    lower_is_better: bool
    law: tuple[Distribution, Comparison | None] | None = None
    """How the delta of the pair varies, and what its test says, if the report has this test."""

    @property
    def systems(self) -> tuple[SystemScore, ...]:
        """Those that are drawn."""
        return self.section.systems[:MAX_ROWS]

    @property
    def caption(self) -> str:
        """The metric, what it was computed on, and what is left out."""
        shown, every = len(self.systems), len(self.section.systems)
        if shown == every:
            return self.section.caption
        return f"{self.section.caption}\n{left_out('figure', shown, every, every_pair='to_json() gives')}"

    @property
    def settings(self) -> Settings:
        """Of the report."""
        return self.family.settings


def rows_size(rows: int, width: float = ONE_COLUMN) -> tuple[float, float]:
    """Inches of a panel with so many rows."""
    return width, 0.85 + max(rows, 1) * row_height(rows)


def direction(panel: Panel) -> str:
    """That higher is better; the caption says where lower is."""
    return "" if panel.lower_is_better else "; higher is better"


def test_of(family: Family) -> Test:
    """The test of all its pairs."""
    return family.comparisons.column("test").present()[0]


def tested(panel: Panel) -> str:
    """The test and its alternative."""
    return f"{test_of(panel.family)} test, {ALTERNATIVES[panel.settings.alternative]}"


def draw_scores(axes: Axes, panel: Panel) -> None:
    """Scores with intervals; an open point does not differ significantly from the best or the baseline."""
    systems, (reference, others) = panel.systems, panel.family.against()
    intervals(axes, range(len(systems)), [one.interval for one in systems], color=BLUES[1])
    size = _marker(len(systems))
    for row, one in enumerate(systems):
        fill = BLUE if one.name == reference else _fill(others.get(one.name))
        style = {"color": BLUE, "markerfacecolor": fill, "markeredgewidth": 0.2 * size}
        axes.plot([one.score], [row], "D" if one.name == reference else "o", markersize=size, **style)
    lettered = all(one.letters is not None and len(one.letters) <= 8 for one in systems)
    label_rows(axes, [one.name for one in systems], [one.letters or "" for one in systems] if lettered else None)
    what = "the best" if panel.settings.baseline is None else "the baseline"
    label = f"{panel.section.metric}, {percent(panel.settings.level)} interval{direction(panel)}"
    label += f"\nopen: no significant difference to {what}"
    label += _key_of_unsettled([others[one.name] for one in systems if one.name in others])
    label += "\nsame letter: no significant difference" * lettered
    say(axes, panel.caption, label, width=ONE_COLUMN, side="right")


def draw_forest(axes: Axes, panel: Panel) -> None:
    """Differences to the baseline, or else to the best system, with intervals; a filled point is significant."""
    reference, others = panel.family.against()
    shown = {one.name: others[one.name] for one in panel.systems if one.name in others}
    deltas = [(each.delta, each.interval) if each.a == name else turned_delta(each) for name, each in shown.items()]
    axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
    intervals(axes, range(len(shown)), [interval for _, interval in deltas], color=BLUES[1])
    size = _marker(len(shown))
    for row, ((delta, _), one) in enumerate(zip(deltas, shown.values(), strict=True)):
        style = {"color": BLUE, "markerfacecolor": _fill(one), "markeredgewidth": 0.2 * size}
        axes.plot([delta], [row], "o", markersize=size, **style)
    # Else p may be of the other direction.
    directed = panel.settings.alternative == "two-sided" or panel.settings.baseline is not None
    label_rows(axes, list(shown), [format_adjusted_p(one) for one in shown.values()] if directed else None)
    p = "adjusted p" if len(panel.family.comparisons) > 1 and panel.settings.correction != "none" else "p"
    label = f"{panel.section.metric}: difference to {middle_cut(reference, NAME)}"
    label += f"\n{percent(panel.settings.level)} interval{direction(panel)}"
    label += f"\n{f'right: {p}; ' * directed}filled: significant (p < {panel.settings.alpha:g})"
    label += _key_of_unsettled(list(shown.values()))
    say(axes, f"{panel.caption}\n{tested(panel)}", label, width=ONE_COLUMN, side="right")


def _fill(comparison: Comparison | None) -> str:
    """Blue for a significant difference, white for none, the heat map's color where more resamples could decide."""
    if comparison is not None and is_significant(comparison):
        return BLUE
    return UNSETTLED if comparison is not None and comparison.settled is False else "white"


def _key_of_unsettled(comparisons: Sequence[Comparison]) -> str:
    return "\norange: not settled, more resamples could tell" * (UNSETTLED in map(_fill, comparisons))


def _marker(rows: int) -> float:
    """Points of a marker."""
    return min(4.0, 72 * 0.5 * row_height(rows))


def groups_size(panel: Panel) -> tuple[float, float]:
    """Inches of `draw_groups`."""
    names = min(NAME, max(len(one.name) for one in panel.systems))
    width = max(2.5, 1.2 + 0.06 * names + _BAR * len(_bars(_groups(panel))))
    return rows_size(len(panel.systems), min(TWO_COLUMNS, width))


def draw_groups(axes: Axes, panel: Panel) -> None:
    """Bars join systems no two of which differ significantly; a bar is thin where it passes others."""
    columns = _bars(_groups(panel))
    wide = min(3.0, 1.2 * _marker(len(panel.systems)))
    for x, groups in enumerate(columns):
        for members in groups:
            axes.vlines(x, members[0], members[-1], color=BLUES[1], linewidth=0.4)
            runs = np.split(members, np.flatnonzero(np.diff(members) > 1) + 1)
            low, high = [run[0] - 0.3 for run in runs], [run[-1] + 0.3 for run in runs]
            axes.vlines([x] * len(runs), low, high, color=BLUE, linewidth=wide)
    spec = number_spec(one.score for one in panel.systems)
    label_rows(axes, [one.name for one in panel.systems], [format_number(one.score, spec) for one in panel.systems])
    axes.set_xlim(-0.7, len(columns) - 0.3)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    p = f"{'' if panel.settings.correction == 'none' else 'adjusted '}p < {panel.settings.alpha:g}"
    label = f"on a bar: no two differ significantly\n({test_of(panel.family)} test, {p})"
    say(axes, panel.caption, label, width=min(ONE_COLUMN, groups_size(panel)[0]), side="right")


def _groups(panel: Panel) -> list[list[int]]:
    """The groups, as positions of systems.

    Raises:
        InputError: not all pairs were tested, in both directions.
    """
    settings, place = panel.settings, {one.name: row for row, one in enumerate(panel.systems)}
    if settings.baseline is not None or settings.alternative != "two-sided":
        raise InputError("figure groups: needs a two-sided test of all pairs; use forest or scores")
    differs = np.zeros((len(place), len(place)), bool)
    for one, other in decided(panel.family.comparisons, settings):
        if one in place and other in place:
            differs[place[one], place[other]] = differs[place[other], place[one]] = True
    return alike_groups(differs)


def _bars(groups: Sequence[list[int]]) -> list[list[list[int]]]:
    """The groups in columns, in none of which bars touch."""
    columns: list[list[list[int]]] = []
    for members in groups:
        free = (column for column in columns if column[-1][-1] < members[0])
        column = next(free, None)
        if column is None:
            columns.append([members])
        else:
            column.append(members)
    return columns
