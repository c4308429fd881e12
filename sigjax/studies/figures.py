"""Figures of studies: p-values beside the uniform distribution, power against the number of instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sigjax.report.figure import BLUES, plain
from sigjax.report.names import middle_cut
from sigjax.report.words import percent
from sigjax.studies.formulas import detectable_effect, normal_power
from sigjax.studies.text import audit_text, power_text, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sigjax.studies.records import Audit, AuditedTest, PilotDelta, Power, PowerAt

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
