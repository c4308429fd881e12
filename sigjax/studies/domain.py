"""Domain: do the winners of tests on one test set win on others, by p?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from sigjax.comparison.options import ReadingOptions, are_paths, is_array
from sigjax.readers.options import name_systems
from sigjax.records import EvaluationRecord, Hint, InputError, Interval, Settings, Test
from sigjax.records.display import visible
from sigjax.records.options import check, option, same, takes
from sigjax.report.plots import LOOKS, plain, set_words
from sigjax.report.text import GAP
from sigjax.report.words import DASH, count, format_interval, metric_title, middle_cut, percent
from sigjax.run.context import with_progress
from sigjax.studies.formulas import paired_proportion
from sigjax.studies.study import PANEL, WIDTH, Study, draw_proportions, grouped, table_text
from sigjax.studies.thresholds import PairColumns, Side, TestedOptions, check_pairs, compared_pairs, in_ranges
from sigjax.studies.trials import by_one_metric, on_instances, select

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST_P = 1e-4
_SHORT = 14
"""Columns for the name of a test set that heads a column."""


@dataclass(frozen=True, kw_only=True)
class DomainOptions(TestedOptions, ReadingOptions):
    """The options of `domain`."""

    confidence_level: float = same(
        Settings, "confidence_level", doc="Level of the intervals of shares.", group="Intervals"
    )
    source: str | None = option(
        None, "The test set whose p-values count; the first when left out.", group="Main options"
    )
    first: int | None = option(
        None, "Take so many instances of each test set, the first ones; all when left out.", least=2, most=2**53
    )


@dataclass(frozen=True)
class DomainRange:
    """Pairs with p in one range on the source.

    Attributes:
        test: "permutation" or "bootstrap".
        other: name of the other test set.
        low: lower end of the range, which belongs to the range asked for, not to those of Table 1.
        high: upper end, which belongs to it.
        pairs: number of pairs with p in the range on the source; pairs with equal scores there are left out.
        right: how many winners on the source have the better score on the other test set.
        share: right / pairs; None without pairs.
        interval: of the share, for other systems like these; see `formulas.paired_proportion`.
    """

    test: Test
    other: str
    low: float
    high: float
    pairs: int
    right: int
    share: float | None
    interval: Interval | None


@dataclass(frozen=True)
class DomainPair:
    """One pair of systems on one test set.

    Attributes:
        test_set: name of the test set.
        test: "permutation" or "bootstrap".
        winner: the better system on this test set; of equal systems the first in the data.
        loser: the other one.
        gain: |score of the winner - score of the loser|, on the scale of the metric.
        p_value: the p-value on this test set.
    """

    test_set: str
    test: Test
    winner: str
    loser: str
    gain: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Domain(Study):
    """How often the winners on one test set win on others, by their p-value.

    Attributes:
        systems: names of the systems.
        metric: name of the metric.
        source: name of the test set whose p-values count.
        test_sets: number of instances of each test set, the source first.
        ranges: test by test and test set by test set: first the range asked for, then those of Table 1 of the paper.
        pairs: test by test, test set by test set, and pair by pair.
        level: of the intervals.
        alternative: "one-sided" (for the winner) or "two-sided".
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "ranges"

    systems: tuple[str, ...]
    metric: str
    source: str
    test_sets: dict[str, int]
    ranges: tuple[DomainRange, ...]
    pairs: tuple[DomainPair, ...]
    level: float
    alternative: Side
    settings: Settings
    signature: str

    def _lines(self) -> list[str]:
        """A table for each test, with one line per other test set and range of p."""
        sizes = [f"{name} ({count(size, 'instance')})" for name, size in self.test_sets.items()]
        lines = [
            f"{metric_title(self.metric)}: {count(len(self.systems), 'system')} on {count(len(sizes), 'test set')}",
            f"p on {sizes[0]}, {self.alternative}; winners there on the others:",
            *sizes[1:],
        ]
        low, high = self.ranges[0].low, self.ranges[0].high
        header = ("test set", "pairs", "win", "share", f"{percent(self.level)} interval")
        for ranges in grouped(self.ranges, "test"):
            test, of_sets = ranges[0].test, grouped(ranges, "other")
            near = [_near_row(first) for first, *_ in of_sets]
            lines += ["", f"{test} test, p from {low:g} to {high:g}", "", *table_text(header, near, (0,))]
            lines += ["", "shares by p", *_proportion_lines([others for _, *others in of_sets])]
        return [
            *lines,
            "",
            "win: the winner by p also has the better score on this test set",
            "intervals are for other systems like these, not for other domains",
            self.signature,
        ]

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """Of each test: the pairs on all test sets, and how often winners on the first one win on the others."""
        for test in self.settings.tests:
            yield PANEL, partial(self._draw_gains, test)
            yield PANEL, partial(self._draw_winners, test)

    def _draw_gains(self, test: Test, axes: Axes) -> None:
        """1 - p against gain."""
        for name, (color, marker) in zip(self.test_sets, cycle(LOOKS), strict=False):
            pairs = [one for one in self.pairs if (one.test_set, one.test) == (name, test)]
            points = np.array([(one.gain, 1.0 - one.p_value) for one in pairs])
            style: dict[str, Any] = {"markersize": 2.5, "alpha": 0.5, "markeredgewidth": 0, "label": plain(name)}
            axes.plot(*points.T, marker, color=color, **style)
        # Twice the largest gain with p above 0.01, where the curves bend.
        axes.set_xlim(0.0, 2.0 * max((one.gain for one in self.pairs if one.p_value > 0.01), default=0.5))
        title = f"{metric_title(self.metric)}, {test} test, all pairs on each test set"
        set_words(axes, title, "gain of the winner", f"1 − p, {self.alternative}")

    def _draw_winners(self, test: Test, axes: Axes) -> None:
        """Shares of winners against p."""
        others = list(zip(self.test_sets, cycle(LOOKS), strict=False))[1:]
        for index, (name, (color, marker)) in enumerate(others):
            ranges = [one for one in self.ranges if (one.other, one.test) == (name, test)]
            shown, shift = [one for one in ranges[1:] if one.pairs], 1.12 ** (index - (len(others) - 1) / 2.0)
            middles = [(max(one.low, _FEWEST_P) * one.high) ** 0.5 * shift for one in shown]
            draw_proportions(axes, middles, shown, name, color=color, marker=marker)
        axes.axhline(0.5, color="0.85", linewidth=0.6, zorder=0)
        axes.set_xscale("log")
        axes.set_ylim(-0.03, 1.03)
        set_words(axes, "winners on the other test sets", f"p on {self.source}, {self.alternative}", "share that win")


@takes(DomainOptions)
@with_progress
def domain(data: Any, options: DomainOptions) -> Domain:
    """Test all pairs on one test set, and ask how often their winners win on other test sets.

    A test says what to expect of other samples of the same population. Other domains are other populations: there
    winners may lose more often than p says, or all alike. The share of winners that win elsewhere, by their p, shows
    it. Systems are compared on the other test sets by their scores alone; p-values there are for the figure.

    Intervals are for other systems like these, since pairs share systems. They say nothing of other domains.

    Args:
        data: the test sets by name, each of them what `compare` takes, or a list of the paths of tables; or one of what
            `compare` takes with strata, each of which is a test set.
        options: see `DomainOptions`.

    Raises:
        InputError: an option or the data cannot be used, fewer than two test sets, or other systems or another metric
            on one of them.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 4.2, Table 1 and Figure 11.

    Example:
        >>> from sigjax import Evaluation
        >>> news = Evaluation.from_arrays({"A": [1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0], "C": [0, 1, 0, 1, 0, 0]})
        >>> mail = Evaluation.from_arrays({"A": [1, 1, 0, 1], "B": [0, 0, 1, 0], "C": [0, 1, 1, 1]})
        >>> study = domain({"news": news, "mail": mail}, test="permutation", p_range=[0.05, 0.3])
        >>> [(one.low, one.high, one.pairs, one.right) for one in study.ranges[:1]]
        [(0.05, 0.3, 2, 1)]
    """
    check(options)
    named = _named_sets(data, options)
    (source, evaluation), *_ = named.items()
    settings = check_pairs([evaluation], options)
    tested = {name: _tested(name, each, settings, options) for name, each in named.items()}
    ranges: list[DomainRange] = []
    for index, first in enumerate(tested[source][0]):
        for other in list(named)[1:]:
            ranges += _ranges(other, first, tested[other][0][index], options)
    systems, (low, high) = evaluation.systems, options.p_range
    sizes = {name: each.num_instances for name, each in named.items()}
    return Domain(
        systems=systems,
        metric=evaluation.metric.name,
        source=source,
        test_sets=sizes,
        ranges=tuple(ranges),
        pairs=tuple(
            pair for name, (columns, _) in tested.items() for each in columns for pair in _pairs(name, each, systems)
        ),
        level=options.confidence_level,
        alternative=options.alternative,
        settings=settings,
        signature=f"study:domain|sets:{','.join(f'{name} {size}' for name, size in sizes.items())}|p:{low:g}-{high:g}|"
        + tested[source][1],
    )


def _named_sets(data: Any, options: DomainOptions) -> dict[str, EvaluationRecord]:
    """The test sets by name, the source first, with the same systems in the same order."""
    if options.strata is None and not isinstance(data, Mapping) and are_paths(data):
        data = name_systems(list(map(os.fspath, data)))[0]
    if options.strata is None and isinstance(data, Mapping) and not any(map(is_array, data.values())):
        named = {str(name): by_one_metric(each, options) for name, each in data.items()}
    else:
        named = _by_strata(by_one_metric(data, options))
    if len(named) < 2:
        raise InputError(
            f"domain needs two test sets or more, got {len(named)}: give one file per test set, or {Hint('strata')} "
            "with the label of the test set of each instance"
        )
    source = next(iter(named)) if options.source is None else options.source
    if source not in named:
        raise InputError(f"source {source!r} is not a test set; expected one of {', '.join(list(named)[:12])}")
    named = {source: named[source]} | named
    first = named[source]
    for name, each in named.items():
        if each.metric.name != first.metric.name:
            raise InputError(f"{name}: has the metric {each.metric.name!r}, but {source} has {first.metric.name!r}")
        if set(each.systems) != set(first.systems):
            apart = sorted(set(each.systems) ^ set(first.systems))
            raise InputError(
                f"{name} and {source}: only one of them has the system {apart[0]!r}; name the systems that both have "
                f"({Hint('only')})"
            )
    chosen = slice(options.first)
    return {name: on_instances(select(each, first.systems), chosen) for name, each in named.items()}


def _by_strata(evaluation: EvaluationRecord) -> dict[str, EvaluationRecord]:
    """The instances of each stratum, in the order of the data."""
    strata, labels = np.array(evaluation.strata or ()), dict.fromkeys(evaluation.strata or ())
    return {label: on_instances(evaluation, np.flatnonzero(strata == label), strata=None) for label in labels}


def _tested(
    name: str, evaluation: EvaluationRecord, settings: Settings, options: DomainOptions
) -> tuple[list[PairColumns], str]:
    """All pairs on one test set, which errors name; and the signature."""
    try:
        check_pairs([evaluation], options)
        return compared_pairs([evaluation], settings, options)[:2]
    except InputError as error:
        raise InputError(f"{name}: {error.neutral}") from None


def _ranges(other: str, first: PairColumns, second: PairColumns, options: DomainOptions) -> Iterator[DomainRange]:
    """The shares on one other test set by one test."""
    ahead = {(a, b): gain > 0.0 for (a, b), gain in zip(second.members.tolist(), second.gains.tolist(), strict=True)}
    right = np.array([ahead.get((a, b), False) for a, b in first.members.tolist()])
    for low, high, within in in_ranges(first.p_values, options.p_range):
        inside = (first.gains > 0.0) & within
        pairs, hits = int(inside.sum()), int((inside & right).sum())
        share = hits / pairs if pairs else None
        interval = paired_proportion(right[inside], first.members[inside], options.confidence_level) if pairs else None
        yield DomainRange(first.test, other, low, high, pairs, hits, share, interval)


def _pairs(name: str, pairs: PairColumns, systems: tuple[str, ...]) -> Iterator[DomainPair]:
    columns = zip(pairs.members.tolist(), pairs.gains.tolist(), pairs.p_values.tolist(), strict=True)
    for (winner, loser), gain, p_value in columns:
        yield DomainPair(name, pairs.test, systems[winner], systems[loser], gain, p_value)


def _near_row(near: DomainRange) -> tuple[str, ...]:
    share = DASH if near.share is None else f"{near.share:.3f}"
    return near.other, f"{near.pairs:,}", f"{near.right:,}", share, format_interval(near.interval, ".3f")


def _proportion_lines(of_sets: list[list[DomainRange]]) -> list[str]:
    """One row per range of p, one column per other test set: tables of as many as fit side by side."""
    heads = [middle_cut(visible(ranges[0].other), _SHORT) for ranges in of_sets]
    columns = [[DASH if one.share is None else f"{one.share:.0%}" for one in ranges] for ranges in of_sets]
    before = {"p": [f"{r.low:g} to {r.high:g}" for r in of_sets[0]], "pairs": [f"{r.pairs:,}" for r in of_sets[0]]}
    taken = len(GAP) + sum(max(map(len, (name, *cells))) for name, cells in before.items())
    lines: list[str] = []
    while heads:
        widths = np.cumsum([len(GAP) + max(cell_len(head), len("100%")) for head in heads])
        fit = max(1, int((widths <= WIDTH - taken).sum()))
        rows = list(zip(*before.values(), *columns[:fit], strict=True))
        lines += ["", *table_text((*before, *heads[:fit]), rows, width=_SHORT)]
        heads, columns = heads[fit:], columns[fit:]
    return lines
