"""What of a report is drawn: distributions, and figures: which kinds there are, which suits it, and their panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, get_args

import numpy as np

from sigjax.records import Comparisons, Distribution, InputError, Settings, SystemScore, Test
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
MOST_PAIRS = 10
"""Pairs whose distributions a report holds when none are named."""
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


class Drawn:
    """The part of a `Report` that is drawn."""

    systems: tuple[SystemScore, ...]
    comparisons: Comparisons
    settings: Settings
    distributions: tuple[Distribution, ...]
    laws: Callable[[str, str, str, Test], Distribution | None] | None

    def distribution(self, a: str, b: str, *, metric: str | None = None, test: Test = "permutation") -> Distribution:
        """How the delta of two systems varies: under the null hypothesis, or (`test="bootstrap"`) on resamples.

        Taken from `distributions`, or else computed from the data: exactly where that is quick, or from the first
        resamples of the seed (at most 8,192, about a second).

        Args:
            a: the first system.
            b: the second.
            metric: the metric; needed where the report has several.
            test: "permutation" or "bootstrap", whether the report has this test or not.

        Raises:
            InputError: the report does not have the pair, or has neither the distribution nor the data, or there is
                none (no bootstrap of one unit, of trained models and of responses).

        Example:
            >>> from sigjax import compare
            >>> report = compare({"A": [1, 1, 1], "B": [0, 0, 0]}, metric="accuracy")
            >>> found = report.distribution("A", "B")
            >>> [round(share, 6) for share in found.shares], round(sum(found.extreme), 6), report[0].p_value
            ([0.125, 0.375, 0.375, 0.125], 0.25, 0.25)
        """
        narrower = (self.settings.tests[0],) if metric is None else (metric, self.settings.tests[0])
        one = self.comparisons[(a, b, *narrower)]
        found = self._distribution(one.metric, a, b, test)
        if found is None:
            raise InputError("there is no bootstrap of a single unit, of trained models and of responses")
        return found

    def with_distributions(self, pairs: Sequence[tuple[str, str]] | None = None) -> Self:
        """The same report with the distributions of some pairs, by all metrics and both tests, for its JSON to hold.

        Args:
            pairs: of two systems each; when left out all pairs, or of more than ten the first ten of the best system
                (or of the baseline).

        Raises:
            InputError: see `distribution`.
        """
        metrics, first = list(dict.fromkeys(system.metric for system in self.systems)), self.settings.tests[0]
        for metric, (a, b) in ((metric, pair) for metric in metrics for pair in pairs or ()):
            self.comparisons[a, b, metric, first]  # refuses names in words
        found = [
            self._distribution(metric, a, b, test)
            for metric in metrics
            for a, b in (self.first_pairs(metric) if pairs is None else pairs)
            for test in get_args(Test)
        ]
        return replace(self, distributions=tuple(each for each in found if each is not None))  # pyright: ignore[reportArgumentType]

    def first_pairs(self, metric: str) -> list[tuple[str, str]]:
        """All pairs of a metric, the better system first, or of more than ten those of the best or of the baseline.

        One-sided tests are of pairs in the order of the data.
        """
        ranked, baseline = [system.name for system in self.systems if system.metric == metric], self.settings.baseline
        if baseline is not None:
            return [(one, baseline) for one in ranked if one != baseline][:MOST_PAIRS]
        pairs = list(islice(combinations(ranked, 2), MOST_PAIRS))
        if self.settings.alternative == "two-sided":
            return pairs
        in_order = set(zip(*(column.tolist() for column in self.comparisons.columns("a", "b")), strict=True))
        return [pair if pair in in_order else (pair[1], pair[0]) for pair in pairs]

    def plot(
        self,
        kind: FigureKind | None = None,
        *,
        metric: str | None = None,
        test: Test | None = None,
        pair: tuple[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """The report as a matplotlib figure (extra `plot`), one row of panels per metric.

        Args:
            kind: "scores" with intervals; "forest", differences to the baseline or else to the best system; "heatmap",
                adjusted p of all pairs; "groups" of systems no two of which differ significantly; "null" or
                "bootstrap", the distribution of the delta of one pair, see `distribution`; "gain", differences of all
                pairs against 1 - p. When left out "null" of a single pair (or "forest", where data and distribution
                are not there), "forest" with a baseline, "scores" of at most 12 systems, else "heatmap".
            metric: this one alone.
            test: this one alone.
            pair: the two systems of "null" or "bootstrap"; the two best when left out.
            ax: the axes to draw one panel into; a new figure when left out, sized for one or two columns of a paper.

        Raises:
            InputError: matplotlib is not installed, no such kind, metric, test or pair, or it is not for this report.
        """
        report: Report = self  # pyright: ignore[reportAssignmentType]
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

    def _distribution(self, metric: str, a: str, b: str, test: Test) -> Distribution | None:
        """Of a pair that the report has; None where there is no bootstrap."""
        for each in self.distributions:
            if (each.metric, each.test) == (metric, test) and {each.a, each.b} == {a, b}:
                return each if each.a == a else each.turned()
        if self.laws is None:
            raise InputError(
                f"this report holds no {test} distribution of {a!r} and {b!r}, and no data: write it anew with "
                "--distributions, or in Python by `report.with_distributions()`"
            )
        return self.laws(metric, a, b, test)


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
