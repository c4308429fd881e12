"""Figures of one pair, its null and bootstrap distribution, and of the gains of all pairs against their p-values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sigjax.records import Comparison, Distribution, Settings
from sigjax.report.figure import BLUE, BLUES, FONT, GREY, NAME, ONE_COLUMN, VERMILION, clear_sides, legend_below, say
from sigjax.report.names import middle_cut
from sigjax.report.plot_rows import Panel, tested
from sigjax.report.words import count, format_raw_p, number_spec, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 1000
"""More points are drawn as an image, and faint."""


def draw_law(axes: Axes, panel: Panel) -> None:
    """A histogram whose shaded part is as extreme as the observed delta."""
    assert panel.law is not None
    law, one = panel.law
    edges, shares, extreme = (np.array(each) for each in (law.edges, law.shares, law.extreme))
    axes.stairs(shares, edges, fill=True, color=BLUES[1], linewidth=0)
    axes.stairs(extreme, edges, fill=True, color=VERMILION, linewidth=0, label=_tail(law, one, panel.settings))
    top = 1.12 * shares.max()
    axes.axvline(law.observed, color="black", linewidth=1.0)
    if law.test == "bootstrap":
        axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":", label="no difference")
        if one is not None and one.interval is not None:
            name = f"{percent(panel.settings.level)} interval of delta"
            axes.hlines(0.94 * top, *one.interval, color=BLUE, linewidth=2.0, label=name)
    elif panel.settings.alternative == "two-sided" and law.observed:
        axes.axvline(-law.observed, color="black", linewidth=0.8, linestyle="--", label="as far on the other side")
    _finish(axes, panel, law, top)


def _finish(axes: Axes, panel: Panel, law: Distribution, top: float) -> None:
    low, high = _range(law)
    axes.set_xlim(low, high)
    axes.set_ylim(0.0, top)
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
    axes.set_ylabel("share of resamples" if law.resamples else "probability", fontsize=FONT)
    above = axes.secondary_xaxis("top")
    above.set_xticks([law.observed], [f"observed {law.observed:{_spec(law)}}".replace("-", "−")], fontsize=FONT)
    above.tick_params(length=2)
    above.spines["top"].set_visible(False)
    clear_sides(axes, "right", "top")
    how = f"first {law.resamples:,} resamples" if law.resamples else "exact"
    what = "null hypothesis" if law.test == "permutation" else "bootstrap"
    a, b = (middle_cut(name, NAME) for name in (law.a, law.b))
    label = f"{a} − {b}\n{what}, {how}"
    say(axes, panel.caption, label, width=ONE_COLUMN)
    legend_below(axes)


def _spec(law: Distribution) -> str:
    return f"+{number_spec([law.observed, law.edges[-1]])}"


def _range(law: Distribution) -> tuple[float, float]:
    """From where to where there is something to see."""
    shares = np.array(law.shares)
    seen = np.flatnonzero(shares > 2e-4 * shares.max())
    points = [law.edges[seen[0]], law.edges[seen[-1] + 1], law.observed]
    points += [-law.observed] if law.test == "permutation" else [0.0]
    margin = 0.04 * (max(points) - min(points))
    return min(points) - margin, max(points) + margin


def _tail(law: Distribution, one: Comparison | None, settings: Settings) -> str:
    away = law.test == "bootstrap" and settings.alternative == "two-sided"
    what = "as far from observed as 0" if away else "as extreme as observed"
    if one is None:
        return f"{what}: {sum(law.extreme):.3g}" if sum(law.extreme) else f"{what}: none"
    return f"{what} ({law.test} test: p = {format_raw_p(one)})".replace("p = <", "p < ").replace("p = >", "p > ")


def draw_gain(axes: Axes, panel: Panel) -> None:
    """Gains of the better system of each pair against 1 - p."""
    delta, p, adjusted = panel.family.comparisons.columns("delta", "p_value", "p_adjusted")
    decided = adjusted < panel.settings.alpha
    by = "" if panel.settings.correction == "none" else f" ({panel.settings.correction})"
    points = {
        Look(VERMILION, "^", f"significant{by}"): (np.abs(delta[decided]), p[decided]),
        Look(BLUE, "o", "not significant"): (np.abs(delta[~decided]), p[~decided]),
    }
    draw_points(axes, points)
    limit_gains(axes, np.abs(delta), p)
    axes.axhline(1.0 - panel.settings.alpha, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
    axes.set_ylabel("1 − p", fontsize=FONT)
    clear_sides(axes, "right", "top")
    title = f"{panel.caption}\n{tested(panel)}, {count(len(delta), 'pair')}"
    say(axes, title, f"gain of the better system ({panel.section.metric})", width=ONE_COLUMN)
    legend_below(axes, ncols=2)


class Look(NamedTuple):
    """How points of one kind are drawn."""

    color: str
    marker: str
    name: str


def draw_points(axes: Axes, points: Mapping[Look, tuple[Any, Any]]) -> None:
    """Gains and p-values `[pair]` of each kind as points, the smaller set on top."""
    every = sum(len(gains) for gains, _ in points.values())
    for look, (gains, p_values) in points.items():
        if len(gains):
            style = {"color": look.color, "marker": look.marker, "label": look.name, "rasterized": every > MANY}
            style |= {"alpha": 0.25 if len(gains) > MANY else 0.7, "markersize": 3.5, "markeredgewidth": 0}
            axes.plot(gains, 1.0 - np.asarray(p_values), linewidth=0, zorder=2.5 - len(gains) / every, **style)


def limit_gains(axes: Axes, gains: np.ndarray, p_values: np.ndarray, smallest: float = 0.001) -> None:
    """Show the gains of pairs with p from `smallest` on, which may not be significant, and say what is not shown."""
    close = (p_values >= smallest) & (gains > 0.0)
    right = 1.5 * float(gains[close].max() if close.any() else gains.max())
    low = float(p_values[close].max()) if close.any() else 1.0
    axes.set_xlim(-0.01 * right, right or None)
    axes.set_ylim(1.0 - low - 0.03, 1.02)
    larger, equal = int((gains > right).sum()), int(((p_values > low) & (gains == 0.0)).sum())
    notes = [f"{count(larger, 'larger gain')} to the right"] * (larger > 0)
    notes += [f"{count(equal, 'pair')} below: gain 0"] * (equal > 0)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    axes.annotate("\n".join(notes), (0.98, 0.6), xycoords="axes fraction", fontsize=FONT, ha="right", bbox=box)
