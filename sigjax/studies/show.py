"""Studies as text, and results that have their settings in common as JSON.

Figures of studies: p-values beside the uniform distribution, power against the number of instances.

Shares of right winners by p, on test sets of one population and on others, as text and as figures.

Thresholds of gains, and by the size of the test set, as text and as figures.

How each kind of study is shown: its text and its drawing, one line each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.cells import cell_len

from sigjax.records import InputError
from sigjax.records.display import visible
from sigjax.report.data import json_lines
from sigjax.report.plots import BLUE, BLUES, VERMILION, Look, draw_points, empty_figure, limit_gains, plain
from sigjax.report.sections import Table
from sigjax.report.text import GAP, table_lines
from sigjax.report.words import (
    DASH,
    METHODS,
    count,
    format_interval,
    format_number,
    format_p,
    middle_cut,
    number_spec,
    percent,
)
from sigjax.studies.formulas import detectable_effect, normal_power
from sigjax.studies.thresholds import WIDE
from sigjax.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sigjax.studies.calibration import CalibratedRange, Calibration
    from sigjax.studies.domain import Domain, DomainRange
    from sigjax.studies.gains import Gains, GainThresholds, PairGain
    from sigjax.studies.records import Audit, AuditedTest, Equivalence, ErrorRate, PilotDelta, Power, PowerAt
    from sigjax.studies.size import Size
    from sigjax.studies.thresholds import Fitted, Gained, SizeLaw, ThresholdAt


NAME = 32
"""Columns for a name."""
WIDTH = 80
"""Columns of a text."""
TOO_OFTEN = "too many false positives"
NULLS = {
    "swaps": "by random swaps of the outputs of {}: neither is better, and they are as similar as the systems are",
    "splits": "of random halves of the units of {}: neither is better, and they are independent",
}
_ALIKE = "the interval has no length: all units differ alike, which says nothing about other units; p is 1"
_TESTS = {
    "wide-t": "t by the jackknife, corrected for skewness",
    "tango": "Tango's score tests",
    "bootstrap": "bootstrap",
}


def joined_lines(lines: Sequence[str]) -> str:
    """Lines, each with its end; no character of a name breaks a line."""
    return "\n".join(map(visible, lines)) + "\n"


def _in_methods(methods: dict[str, int]) -> str:
    """The method, with numbers where there are several."""
    if len(methods) == 1:
        return METHODS.get(name := next(iter(methods)), name)
    return ", ".join(f"{METHODS[name]} {number:,}" for name, number in sorted(methods.items()))


def unit_of(study: Audit | Power | Gains | Size | Calibration) -> str:
    """What is resampled."""
    return "instance" if study.num_units == study.num_instances else "cluster"


def in_units(study: Audit | Power | Gains | Size) -> str:
    """How many instances, and clusters where there are some."""
    clusters = "" if unit_of(study) == "instance" else f" in {count(study.num_units, 'cluster')}"
    return count(study.num_instances, "instance") + clusters


def audit_text(audit: Audit) -> str:
    """Type-I errors as tables, one per way to make pairs, and what they say."""
    names = " and ".join(audit.systems)
    lines = [f"audit of {names}: {in_units(audit)}"]
    for null, system in dict.fromkeys((one.null, one.system) for one in audit.tests):
        tests = [one for one in audit.tests if (one.null, one.system) == (null, system)]
        of = names if system is None else system
        lines += [
            "",
            f"{count(audit.repetitions, 'pair')} {NULLS[null].format(of)}",
            "false-positive rate, with 95% intervals:",
            "",
            *table_lines(_error_table(tests), NAME),
            "",
            *_verdicts(tests),
        ]
    lines += [
        "",
        "excess: largest amount by which the share of p-values up to v exceeds v "
        f"(uniform p-values: about {0.6267 / audit.repetitions**0.5:.3f}), with its p",
        audit.signature,
    ]
    return joined_lines(lines)


def _error_table(tests: list[AuditedTest]) -> Table:
    header = ("metric", "test", "method", *(f"p <= {rate.alpha:g}" for rate in tests[0].errors), "excess", "p")
    rows = [
        (one.metric, one.test, _in_methods(one.methods), *map(_rate, one.errors))
        + (f"{one.excess:.3f}", format_p(one.excess_p))
        for one in tests
    ]
    return Table(header, rows, names=(0, 1, 2))


def _rate(rate: ErrorRate) -> str:
    low, high = (100.0 * end for end in rate.interval)
    return f"{100.0 * rate.rate:.1f}% [{low:.1f}, {high:.1f}]"


def _verdicts(tests: list[AuditedTest]) -> list[str]:
    """One line for all tests of which the errors say the same."""
    names: dict[str, list[str]] = {}
    several = len({one.metric for one in tests}) > 1
    for one in tests:
        names.setdefault(_verdict(one), []).append(f"{one.metric}, {one.test}" if several else one.test)
    return [f"{verdict}: {('; ' if several else ', ').join(tests)}" for verdict, tests in names.items()]


def _verdict(one: AuditedTest) -> str:
    above = [percent(rate.alpha) for rate in one.errors if rate.interval.low > rate.alpha]
    below = [percent(rate.alpha) for rate in one.errors if rate.interval.high < rate.alpha]
    if above:
        return f"{TOO_OFTEN} at {', '.join(above)}"
    text = "exceeds none of these levels significantly"
    text += f", conservative at {', '.join(below)}" if below else ""
    return text + ("; elsewhere p-values are too small" if one.excess_p < 0.01 else "")


def power_text(power: Power) -> str:
    """Power and detectable differences, one table per metric and test."""
    (a, b), noun = power.systems, f"{unit_of(power)}s"
    lines = [
        f"power for {a} - {b}: pilot of {in_units(power)}",
        f"share of {count(power.repetitions, 'sample')} with p <= {power.settings.alpha:g}, and its 95% interval",
    ]
    for pilot in power.pilots:
        spec = number_spec([pilot.delta, pilot.standard_error])
        lines += ["", f"{pilot.metric}: delta {pilot.delta:+{spec}}, standard error {pilot.standard_error:{spec}}"]
        for test in power.settings.tests:
            points = [at for at in power.points if (at.metric, at.test) == (pilot.metric, test)]
            header = (noun, "power", "interval", "normal", "standard error", "simulated", "detectable", "simulated")
            table = Table((*header, "method"), [_power_row(at, spec) for at in points])
            lines += ["", f"{test} test, {power.settings.alternative}", "", *table_lines(table, NAME)]
    lines += [
        "",
        f"detectable: the difference detected with power {percent(power.target)}, by the normal approximation and by",
        "simulated deltas; both take the spread as known: with few units a test needs a little more",
        *_none_found(power),
        "the power is for exactly the pilot's difference, and is no more certain than that difference",
        power.signature,
    ]
    return joined_lines(lines)


def _none_found(power: Power) -> list[str]:
    """What dashes mean, where there are some."""
    few = sorted({at.instances for at in power.points if at.detectable is None})
    if not few:
        return []
    sizes = ", ".join(f"{size:,}" for size in few)
    return [
        f"{DASH}: with {sizes} units no permutation test has p <= {power.settings.alpha:g}, whatever the difference"
    ]


def _power_row(at: PowerAt, spec: str) -> tuple[str, ...]:
    errors = (at.standard_error, at.simulated_error, at.detectable, at.simulated_detectable)
    shares = (f"{at.power:.3f}", format_interval(at.interval, ".3f"), f"{at.normal_power:.3f}")
    return f"{at.instances:,}", *shares, *(format_number(error, spec) for error in errors), _in_methods(at.methods)


def equivalence_text(results: Sequence[Equivalence]) -> str:
    """Claims and whether they are shown."""
    first, settings = results[0], results[0].settings
    spec = number_spec([number for one in results for number in (one.score_a, one.score_b, one.delta, one.margin)])
    inside = f"|delta| < {first.margin:g}"
    claim = inside if first.claim == "equivalence" else f"a is not worse than b by {first.margin:g}"
    interval = f"{percent(first.interval_level)} interval"
    header = ("a", "b", "metric", "delta", interval, "p (lower)", "p (upper)", adjusted_p(results), "holds")
    rows = [
        (one.a, one.b, one.metric, format(one.delta, f"+{spec}"), format_interval(one.interval, f"+{spec}"))
        + (format_p(one.p_lower), format_p(one.p_upper), format_p(one.p_adjusted), "yes" if one.holds else "not shown")
        for one in results
    ]
    methods = list(dict.fromkeys(one.method for one in results))
    drawn = f"|n:{settings.resamples}|seed:{settings.seed}|null:{settings.variant}|ties:ge"
    lines = [
        f"{first.claim} test ({', '.join(_TESTS[each] for each in methods)}): {claim}",
        "",
        *table_lines(Table(header, rows, names=(0, 1, 2)), NAME),
        "",
        f"holds: p < {settings.alpha:g}; not shown does not mean that there is a difference",
        *([_ALIKE] if any(one.method == "wide-t" and one.standard_error == 0.0 for one in results) else []),
        f"study:equivalence|metric:{'+'.join(dict.fromkeys(one.metric for one in results))}|claim:{first.claim}"
        f"|margin:{first.margin!r}|method:{'+'.join(methods)}{drawn if 'bootstrap' in methods else ''}"
        f"|correction:{settings.correction}|level:{settings.level:g}|sigjax:{__version__}",
    ]
    return joined_lines(lines)


def adjusted_p(results: Sequence[Any]) -> str:
    """The name of adjusted p-values, which are p where nothing is adjusted for."""
    return "p" if len(results) == 1 else f"p ({results[0].settings.correction})"


def results_json(kind: str, name: str, results: Sequence[Any]) -> str:
    """The settings once, and the results under a name."""
    rows = [{key: value for key, value in asdict(one).items() if key != "settings"} for one in results]
    for row in rows:
        if not math.isfinite(row.get("log10_p", 0.0)):
            row["log10_p"] = None
    return json_lines(f"sigjax-{kind}/1", {"settings": asdict(results[0].settings), name: rows})


equivalence_json = partial(results_json, "equivalence", "pairs")


COLORS = {"permutation": BLUES[0], "bootstrap": "#c4601d"}
_MORE = ("#2a8f5b", "#8a5fb0", "#b08a1e", "#b03060", "#4a8fa0", "#7a7a7a")
_LEVELS = ("#1f5fa8", "#2a8f5b", "#c4601d")
"""Colours of 1%, 5% and 10%."""
_NAME = 26
"""Columns for a name in a title."""
_TEST_HEIGHT = 0.33  # inches
_STEPS = 200
"""Points of a curve."""
_BAND = 1.358
"""95% quantile of the Kolmogorov distance of n uniform p-values, times the root of n."""


class Layout(NamedTuple):
    """The size of a figure in inches, and its panels."""

    width: float
    heights: Sequence[float]
    """[row]"""
    columns: int = 1


class Drawing(NamedTuple):
    """How a kind of study is shown."""

    text: Callable[[Any], str]
    layout: Callable[[Any], Layout]
    draw: Callable[[Any, np.ndarray], None]
    """Takes the study and axes `[row, column]`."""


def label(axes: Axes, x: str, y: str, title: str = "") -> None:
    """The words of a panel, and small ticks."""
    axes.set_xlabel(plain(x), fontsize=8)
    axes.set_ylabel(plain(y), fontsize=8)
    axes.set_title(plain(title), fontsize=9)
    axes.tick_params(labelsize=7)


def _groups(audit: Audit) -> list[list[AuditedTest]]:
    """The tests by metric and way to make pairs."""
    return [list(tests) for _, tests in groupby(audit.tests, key=lambda one: (one.metric, one.null, one.system))]


def _draw_audit(audit: Audit, axes: np.ndarray) -> None:
    """One row per metric and way to make pairs: distributions of p, and type-I errors test by test."""
    for line, tests in zip(axes, _groups(audit), strict=True):
        _band(line[0], audit.repetitions)
        _distributions(line[0], tests, f"{tests[0].metric}: {_null(tests[0], audit)}")
        _errors(line[1], tests)
        line[1].set_xlim(0.0, 1.03 * max(rate.interval.high for one in audit.tests for rate in one.errors))


def _null(test: AuditedTest, audit: Audit) -> str:
    """How the pairs were made, in two lines."""
    if test.system is not None:
        return f"random halves of units\n{middle_cut(test.system, _NAME)}"
    a, b = (middle_cut(name, _NAME) for name in audit.systems)
    return f"outputs swapped at random\n{a} and {b}"


def _band(axes: Axes, count: int) -> None:
    """The band that holds 95% of the distributions of uniform p-values."""
    line, width = np.array([0.0, 1.0]), _BAND / count**0.5
    axes.fill_between(line, line - width, line + width, color="0.93", label="95% of uniform samples", linewidth=0)


def _style(index: int, test: str) -> dict[str, Any]:
    """Solid lines for resampling tests, dashed ones for others, dotted ones where these repeat colours."""
    if test in COLORS:
        return {"color": COLORS[test], "linewidth": 2}
    color, dashed = _MORE[index % len(_MORE)], index < len(_MORE)
    return {"color": color, "linewidth": 1.2, "linestyle": "--" if dashed else (0, (1, 1))}


def _distributions(axes: Axes, tests: list[AuditedTest], title: str) -> None:
    """Shares of p-values up to each value."""
    axes.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1)
    for index, one in enumerate(sorted(tests, key=lambda one: one.test in COLORS)):  # resampling tests on top
        values = np.sort(one.p_values)
        shares = np.arange(1, len(values) + 1) / len(values)
        axes.step([0.0, *values, 1.0], [0.0, *shares, 1.0], where="post", label=one.test, **_style(index, one.test))
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    label(axes, "p", "share of pairs with a p-value up to p", title)
    axes.legend(fontsize=7, loc="upper left", frameon=False)


def _errors(axes: Axes, tests: list[AuditedTest]) -> None:
    """Type-I errors with their intervals, one line per test; dotted lines are the levels."""
    levels = [rate.alpha for rate in tests[0].errors]
    for level, color in zip(levels, _LEVELS, strict=True):
        axes.axvline(level, color=color, linewidth=1, linestyle=":")
    for row, one in enumerate(tests):
        for shift, (rate, color) in enumerate(zip(one.errors, _LEVELS, strict=True)):
            height, label = row + 0.2 * (shift - 1), f"p ≤ {percent(rate.alpha)}" if row == 0 else None
            axes.plot(rate.interval, [height] * 2, color=color, linewidth=2, alpha=0.5)
            axes.plot([rate.rate], [height], "o", color=color, markersize=4, label=label, clip_on=False)
    axes.set_yticks(range(len(tests)), [one.test for one in tests], fontsize=8)
    axes.set_ylim(len(tests) - 0.4, -0.6)
    axes.set_xticks(levels, [percent(level) for level in levels], fontsize=7)
    axes.set_xlabel("type-I error (false-positive rate), 95% intervals", fontsize=8)
    axes.legend(fontsize=7, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, borderpad=0.0)


def _draw_power(power: Power, axes: np.ndarray) -> None:
    """One row per metric: power and detectable differences against the number of instances."""
    for line, pilot in zip(axes, power.pilots, strict=True):
        points = [at for at in power.points if at.metric == pilot.metric]
        for test in power.settings.tests:
            _power(line[0], [at for at in points if at.test == test])
        alike = [at for at in points if at.test == power.settings.tests[0]]
        _normal(line, power, pilot, alike)
        _detectable(line[1], alike, abs(pilot.delta))
        line[0].axhline(power.target, color="0.8", linewidth=1)
        line[0].set_ylim(0.0, 1.02)
        label(line[0], f"{unit_of(power)}s", "power", f"{pilot.metric}: power for delta = {pilot.delta:.4g}")
        detected = f"difference detected with power {percent(power.target)}"
        label(line[1], f"{unit_of(power)}s", f"difference of {pilot.metric}", detected)
        for panel in line:
            panel.legend(fontsize=8, frameon=False)


def _power(axes: Axes, points: list[PowerAt]) -> None:
    sizes, color = [at.instances for at in points], COLORS[points[0].test]
    axes.plot(sizes, [at.power for at in points], "o", color=color, markersize=4, label=points[0].test)
    for at in points:
        axes.plot([at.instances] * 2, at.interval, color=color, linewidth=2, alpha=0.6)


def _normal(panels: np.ndarray, power: Power, pilot: PilotDelta, points: list[PowerAt]) -> None:
    """The normal approximation, also between the numbers of instances of the points."""
    first, last = points[0].instances, points[-1].instances
    sizes = np.linspace(*((first, last) if first < last else (0.5 * first, 1.5 * first)), _STEPS)
    alpha, alternative = power.settings.alpha, power.settings.alternative
    errors = (points[0].standard_error * np.sqrt(first / sizes)).tolist()
    powers = [normal_power(pilot.delta, error, alpha, alternative) for error in errors]
    effects = [detectable_effect(error, alpha, power.target, alternative) for error in errors]
    for panel, values in zip(panels, (powers, effects), strict=True):
        panel.plot(sizes, values, color="0.5", linewidth=1, label="normal approximation")


def _detectable(axes: Axes, points: list[PowerAt], observed: float) -> None:
    shown = [(at.instances, at.simulated_detectable) for at in points if at.simulated_detectable is not None]
    axes.plot(*np.array(shown).reshape(-1, 2).T, "o", color=BLUES[0], markersize=4, label="simulated")
    axes.axhline(observed, color="0.8", linewidth=1, label="the pilot's delta")
    axes.set_ylim(bottom=0.0)


AUDIT = Drawing(
    audit_text,
    lambda audit: Layout(10.4, [max(3.6, 1.0 + _TEST_HEIGHT * len(tests)) for tests in _groups(audit)], 2),
    _draw_audit,
)
POWER = Drawing(power_text, lambda power: Layout(9.4, [3.6] * len(power.pilots), 2), _draw_power)


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


def _share_groups(study: Calibration) -> list[list[CalibratedRange]]:
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
    for ranges in _share_groups(study):
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
        groups = [ranges for ranges in _share_groups(study) if ranges[0].metric == metric]
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


_THRESHOLD_LOOKS = {
    None: Look(BLUE, "o", "pair"),
    True: Look(BLUE, "o", "same group"),
    False: Look(VERMILION, "^", "different groups"),
}
_COLORS = {"range": BLUES[0], "normal": "#d55e00"}
_THRESHOLD_MARKERS = {"range": "o", "normal": "^"}
_THRESHOLD_STEPS = 100
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
        kinds = {look: [pair for pair in pairs if pair.same_group is same] for same, look in _THRESHOLD_LOOKS.items()}
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
        color = _THRESHOLD_LOOKS[same_group].color
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
        panel.plot(shown[:, 0], shown[:, 1], _THRESHOLD_MARKERS[by], color=color, markersize=5, label=name)
        bounded = ~np.isnan(shown).any(axis=1)
        panel.vlines(shown[bounded, 0], shown[bounded, 2], shown[bounded, 3], color=color, linewidth=1.5, alpha=0.6)


def _curves(panel: Axes, law: SizeLaw, sizes: list[int]) -> None:
    """The square-root law, and the one with a free exponent."""
    at, color = np.geomspace(min(sizes), max(sizes), _THRESHOLD_STEPS), _COLORS[law.by]
    label = f"{law.constant.value:.3g} / sqrt(n)"
    panel.plot(at, law.constant.value / np.sqrt(at), color=color, linewidth=1, label=label)
    if law.exponent is not None and law.free_constant is not None:
        label, free = f"free exponent {law.exponent.value:.2f}", law.free_constant * at**law.exponent.value
        panel.plot(at, free, color=color, linewidth=1, linestyle=":", label=label)


SIZE = Drawing(size_text, lambda study: Layout(7.2, [4.2] * len(_size_panels(study))), _draw_size)
GAINS = Drawing(gains_text, lambda study: Layout(7.2, [4.2] * len(_gains_panels(study))), _draw_gains)


SHOWN: dict[str, Drawing] = {
    "audit": AUDIT,
    "calibration": CALIBRATION,
    "domain": DOMAIN,
    "gains": GAINS,
    "power": POWER,
    "size": SIZE,
}
_LETTERS = 23
"""Letters of a signature per inch."""


def plotted(study: Any, ax: Any) -> Figure:
    """The study drawn into these axes, or into a new figure.

    Raises:
        InputError: matplotlib is not installed, or another number of axes than panels.
    """
    drawing = SHOWN[study._kind]
    width, heights, columns = drawing.layout(study)
    shape = len(heights), columns
    if ax is None:
        figure = empty_figure(width, 0.5 + sum(heights))
        axes = figure.subplots(*shape, squeeze=False, height_ratios=heights)
        signature = "\n".join(wrap(study.signature.replace("|", "| "), int(_LETTERS * width))).replace("| ", "|")
        figure.supxlabel(plain(signature), fontsize=6, color="0.4")
    else:
        axes = np.ravel(np.asarray(ax, object))
        if axes.size != math.prod(shape):
            raise InputError(f"ax must be {math.prod(shape)} axes of matplotlib, one per panel, got {axes.size}")
        axes = axes.reshape(shape)
    drawing.draw(study, axes)
    return axes[0, 0].figure
