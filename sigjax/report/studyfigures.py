"""Figures of studies: p-values beside the uniform distribution, power against the number of instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sigjax.inference.power import detectable_effect, normal_power
from sigjax.report.figure import BLUES, empty_figure, plain
from sigjax.report.numbers import percent
from sigjax.report.text import middle_cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sigjax.studies.records import Audit, AuditedTest, PilotDelta, Power, PowerAt

_COLORS = {"permutation": BLUES[0], "bootstrap": "#c4601d"}
_NAME = 26
"""Columns for a name in a title."""
_ZOOM = 0.13
_STEPS = 200
"""Points of a curve."""
_BAND = 1.358
"""95% of the distances of n uniform p-values are below this, divided by the root of n (Kolmogorov)."""


def audit_figure(audit: Audit) -> Figure:
    """One row a metric: the distributions of p, and their lower ends with the errors at the usual levels.

    Raises:
        InputError: matplotlib is not installed.
    """
    metrics = list(dict.fromkeys(one.metric for one in audit.tests))
    figure = empty_figure(9.4, 0.5 + 3.9 * len(metrics))
    axes = figure.subplots(len(metrics), 2, squeeze=False)
    for line, metric in zip(axes, metrics, strict=True):
        tests = [one for one in audit.tests if one.metric == metric]
        _band(line[0], audit.repetitions)
        for panel, end in zip(line, (1.0, _ZOOM), strict=True):
            _distributions(panel, tests, end)
        a, b = (middle_cut(name, _NAME) for name in audit.systems)
        line[0].set_title(plain(f"{metric}: outputs swapped at random\n{a} and {b}"), fontsize=9)
        line[0].legend(fontsize=8, loc="upper left", frameon=False)
        _errors(line[1], tests)
    figure.supxlabel(plain(audit.signature), fontsize=6, color="0.4")
    return figure


def _band(axes: Axes, count: int) -> None:
    """The band that 95% of the distributions of uniform p-values stay in."""
    line, width = np.array([0.0, 1.0]), _BAND / count**0.5
    axes.fill_between(line, line - width, line + width, color="0.93", label="95% of uniform samples", linewidth=0)


def _distributions(axes: Axes, tests: list[AuditedTest], end: float) -> None:
    """Shares of p-values up to each value."""
    axes.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1)
    for one in tests:
        values = np.sort(one.p_values)
        shares = np.arange(1, len(values) + 1) / len(values)
        axes.step([0.0, *values, 1.0], [0.0, *shares, 1.0], where="post", color=_COLORS[one.test], label=one.test)
    axes.set_xlim(0.0, end)
    axes.set_ylim(0.0, 1.0 if end == 1.0 else 1.6 * end)
    axes.set_xlabel("p", fontsize=8)
    axes.set_ylabel("share of pairs with a p-value up to p", fontsize=8)
    axes.tick_params(labelsize=7)


def _errors(axes: Axes, tests: list[AuditedTest]) -> None:
    """Type-I errors with their intervals, side by side where tests share a level."""
    for place, one in enumerate(tests):
        shift = 0.0015 * (2 * place - len(tests) + 1)
        for rate in one.errors:
            axes.plot([rate.alpha + shift] * 2, rate.interval, color=_COLORS[one.test], linewidth=2, alpha=0.6)
            axes.plot([rate.alpha + shift], [rate.rate], "o", color=_COLORS[one.test], markersize=4)
    levels = [rate.alpha for rate in tests[0].errors]
    axes.set_xticks(levels, [percent(level) for level in levels])
    axes.set_yticks(levels, [percent(level) for level in levels])
    axes.set_title("type-I error, 95% intervals", fontsize=9)


def power_figure(power: Power) -> Figure:
    """One row a metric: power, and detectable differences, against the number of instances.

    Raises:
        InputError: matplotlib is not installed.
    """
    figure = empty_figure(9.4, 0.5 + 3.6 * len(power.pilots))
    axes = figure.subplots(len(power.pilots), 2, squeeze=False)
    for line, pilot in zip(axes, power.pilots, strict=True):
        points = [at for at in power.points if at.metric == pilot.metric]
        for test in power.settings.tests:
            _power(line[0], [at for at in points if at.test == test])
        alike = [at for at in points if at.test == power.settings.tests[0]]
        _normal(line, power, pilot, alike)
        _detectable(line[1], alike, abs(pilot.delta))
        line[0].axhline(power.target, color="0.8", linewidth=1)
        line[0].set_ylim(0.0, 1.02)
        line[0].set_title(plain(f"{pilot.metric}: power for delta = {pilot.delta:.4g}"), fontsize=9)
        line[1].set_title(f"difference found with power {percent(power.target)}", fontsize=9)
        for panel in line:
            panel.set_xlabel("instances" if power.num_units == power.num_instances else "clusters", fontsize=8)
            panel.tick_params(labelsize=7)
            panel.legend(fontsize=8, frameon=False)
    figure.supxlabel(plain(power.signature), fontsize=6, color="0.4")
    return figure


def _power(axes: Axes, points: list[PowerAt]) -> None:
    sizes, color = [at.instances for at in points], _COLORS[points[0].test]
    axes.plot(sizes, [at.power for at in points], "o", color=color, markersize=4, label=points[0].test)
    for at in points:
        axes.plot([at.instances] * 2, at.interval, color=color, linewidth=2, alpha=0.6)


def _normal(panels: np.ndarray, power: Power, pilot: PilotDelta, points: list[PowerAt]) -> None:
    """The normal approximation, at all numbers of instances between those that were asked for."""
    first, last = points[0].instances, points[-1].instances
    sizes = np.linspace(*((first, last) if first < last else (0.5 * first, 1.5 * first)), _STEPS)
    alpha, alternative = power.settings.alpha, power.settings.alternative
    errors = (points[0].standard_error * np.sqrt(first / sizes)).tolist()
    powers = [normal_power(pilot.delta, error, alpha, alternative) for error in errors]
    effects = [detectable_effect(error, alpha, power.target, alternative) for error in errors]
    for panel, values in zip(panels, (powers, effects), strict=True):
        panel.plot(sizes, values, color="0.5", linewidth=1, label="normal approximation")


def _detectable(axes: Axes, points: list[PowerAt], observed: float) -> None:
    found = [(at.instances, at.simulated_detectable) for at in points if at.simulated_detectable is not None]
    axes.plot(*np.array(found).reshape(-1, 2).T, "o", color=BLUES[0], markersize=4, label="simulated")
    axes.axhline(observed, color="0.8", linewidth=1, label="the pilot's delta")
    axes.set_ylim(bottom=0.0)
