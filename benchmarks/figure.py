"""What `exact.py` shows: the table of times, the shares of the steps, the aims, the figure; and that of `curves.py`."""

from __future__ import annotations

import cProfile
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, cast

from timing import Curve, Row, markdown_table, timed

_TARGET, _F1_TARGET = 150.0, 1.0
_STEPS = {
    "arrays to an Evaluation": [("arrays", "evaluation_from_arrays")],
    "units and their sums": [("units", "make_units"), ("units", "totals")],
    "lattice": [("lattice", "pair_lattice"), ("counted", "_counted")],
    "tilts and windows": [("tilt", "line_tilts"), ("tilt", "plane_tilt"), ("tilt", "windows")],
    "bound on the characteristic function": [("charfun", "_exponents")],
    "characteristic function": [("spectrum", "characteristic")],
    "FFT": [("_pocketfft", "_raw_fft")],
    "score on the grid": [("exact", "delta")],
    "Clopper-Pearson intervals": [("tails", "clopper_pearson")],
}
"""Step -> its functions (file, name), none of which calls another."""
_ON_GRID = ("lines", "planes", "null")
"""Files whose own time is that of choosing values of S and adding up their probabilities."""

_COLORS = {
    "charfun": "#c1272d",
    "dp": "#e08e45",
    "tree": "#7a4fa3",
    "tree in SciPy": "#222222",
    "Monte Carlo, 5,000": "#7ab6da",
    "Monte Carlo, 10,000": "#4f9bcb",
    "Monte Carlo, 20,000": "#2a75b3",
    "Monte Carlo, 40,000": "#08519c",
}
_LARGEST = 10_000
_LEAST_GAP = 1.27
"""Factor of time between neighbouring labels, so that they do not overlap."""


def times_table(rows: Sequence[Row]) -> str:
    """Median seconds, a line a method and a column a size; first calls at the end."""
    columns = list(dict.fromkeys(row.data for row in rows))
    methods = sorted(dict.fromkeys(row.method for row in rows), key=lambda method: method.endswith("first call"))
    medians = {(row.method, row.data): f"{row.median:.3g}" for row in rows}
    lines = [[method, *(medians.get((method, data), "") for data in columns)] for method in methods]
    return markdown_table(["method", *columns], lines)


def shares(call: Callable[[], object]) -> dict[str, float]:
    """Median seconds of a call, and what part of its time under Python's profiler each step takes."""
    repeats = max(1, min(30, int(1.0 / timed(call)[0])))
    seconds = statistics.median(timed(call)[0] for _ in range(repeats))
    with cProfile.Profile(builtins=False) as profile:
        for _ in range(repeats):
            call()
    own: dict[tuple[str, str], float] = {}
    with_callees: dict[tuple[str, str], float] = {}
    for entry in profile.getstats():
        code = cast(CodeType, entry.code)  # text only for built-in functions
        key = (Path(code.co_filename).stem, code.co_name)
        own[key] = own.get(key, 0.0) + entry.inlinetime
        with_callees[key] = with_callees.get(key, 0.0) + entry.totaltime
    total = sum(own.values())
    parts = {step: sum(with_callees.get(key, 0.0) for key in keys) / total for step, keys in _STEPS.items()}
    parts["choosing and adding values of S"] = sum(own[key] for key in own if key[0] in _ON_GRID) / total
    return {"seconds": seconds} | parts | {"the rest": 1.0 - sum(parts.values())}


def shares_table(profiled: Mapping[str, Mapping[str, float]]) -> str:
    """A line a step, a column a call."""
    lines = [["seconds", *(f"{each['seconds']:.3g}" for each in profiled.values())]]
    steps = [step for step in next(iter(profiled.values())) if step != "seconds"]
    lines += [[step, *(f"{each[step]:.0%}" for each in profiled.values())] for step in steps]
    return markdown_table(["step", *profiled], lines)


def verdicts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What the project aims at, with yes or no."""
    one = {row.method: row.median for row in rows if (row.task, row.data) == ("one statistic", "N = 10,000")}
    (seconds,) = (row.median for row in rows if (row.task, row.data, row.method) == ("F1", "N = 2,000", "charfun"))
    found = []
    for tree in ("tree in SciPy", "tree in SciPy, short products direct"):
        for ours in ("charfun", "charfun, without the rest of a call"):
            what = f"one statistic, N = 10,000, {ours}: times faster than {tree}; at least {_TARGET:g}"
            found.append({"what": what, "value": one[tree] / one[ours], "met": one[tree] / one[ours] >= _TARGET})
    what = f"F1, N = 2,000, charfun: seconds; less than {_F1_TARGET:g}"
    return [*found, {"what": what, "value": seconds, "met": seconds < _F1_TARGET}]


def draw(rows: Sequence[Row], path: Path) -> None:
    """Seconds against sentences for one statistic, as Figure 1 of Zmigrod et al. (2022)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), dpi=150, layout="constrained")
    axes = figure.subplots()
    ends = {}
    for method, color in _COLORS.items():
        points = [(_sentences(row), row.median) for row in rows if (row.task, row.method) == ("one statistic", method)]
        points = [point for point in points if point[0] <= _LARGEST]
        axes.plot(*zip(*points, strict=True), "o-", color=color, markersize=3, linewidth=1.4, clip_on=False)
        ends[method] = points[-1]
    places = _spread({method: seconds for method, (_, seconds) in ends.items()})
    for method, place in places.items():
        axes.annotate(
            method,
            ends[method],
            (1.02, place),
            textcoords=axes.get_yaxis_transform(),
            color=_COLORS[method],
            fontsize=8,
            va="center",
        )
    axes.set_yscale("log")
    axes.set_xlim(0, _LARGEST)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("sentences N")
    axes.set_ylabel("seconds a test, median")
    axes.grid(visible=True, axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def draw_curves(curves: Sequence[Curve], path: Path) -> None:
    """Seconds against each axis, a panel an axis and a line a test, with slopes."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(curve.axis for curve in curves))
    figure = Figure(figsize=(7.2, 5.4), dpi=150, layout="constrained")
    for axis, panel in zip(names, figure.subplots(2, 2).flat, strict=True):
        for color, curve in zip(("#2a75b3", "#c1272d"), [each for each in curves if each.axis == axis], strict=True):
            label = curve.test if curve.slope is None else f"{curve.test}, slope {curve.slope:.2f}"
            panel.plot(curve.sizes, curve.seconds, "o-", color=color, markersize=3, linewidth=1.4, label=label)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel("pairs without the first system" if axis == "pairs" else axis)
        panel.set_ylabel("seconds, median")
        panel.grid(visible=True, color="0.9")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def _sentences(row: Row) -> int:
    return int(row.data.removeprefix("N = ").replace(",", ""))


def _spread(seconds: Mapping[str, float]) -> dict[str, float]:
    """Heights of labels, each at its line or as far above as the one below needs."""
    places: dict[str, float] = {}
    lowest = 0.0
    for method in sorted(seconds, key=lambda method: seconds[method]):
        places[method] = max(seconds[method], lowest)
        lowest = places[method] * _LEAST_GAP
    return places
