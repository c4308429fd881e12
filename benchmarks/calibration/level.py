"""Do tests keep their level where there is nothing to find, and do intervals hold what they are about?

    python benchmarks/calibration/level.py [--quick] [--output FILE.json] [--figure FILE.png]

Nothing is timed. Exits with 1 when a permutation test does not reject as often as it must, beyond binomial error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from populations import KINDS, TARGETS
from rates import (
    BOOTSTRAP,
    GROUP,
    IGNORED,
    INTERVAL_RESAMPLES,
    KEPT,
    LEVEL,
    LEVELS,
    OF_PAIRS,
    OF_SCIPY,
    OF_SYSTEM,
    RESAMPLES,
    SAMPLED,
    Counts,
    Held,
    coverage_of,
    sizes_of,
)
from scipy import stats
from shared import FALSE_ALARMS, SEPARATOR, begin, cores, finish, markdown_table, shares

from sigjax.studies.classical import UNPAIRED

FULL = ({30: 100, 100: 100, 1000: 100}, {30: 100, 100: 100, 1000: 50})
"""Units -> groups of data sets: for tests, and for intervals."""
QUICK = ({30: 2, 100: 1}, {30: 2, 100: 1})
_PIECE = 20
"""Groups that a process takes at a time."""


class Size(NamedTuple):
    """How often a test rejects at a level."""

    kind: str
    units: int
    test: str
    level: float
    trials: int
    rejected: int
    share: float
    interval: tuple[float, float]
    """Clopper-Pearson, 95%."""
    attainable: float | None
    """The largest size that the test can have on these data, where it is known."""


class Coverage(NamedTuple):
    """How often an interval holds the truth, or those of all pairs do together."""

    target: str
    truths: tuple[float, ...]
    units: int
    kind: str
    trials: int
    covered: int
    below: int
    above: int
    none: int
    share: float
    interval: tuple[float, float]
    """Clopper-Pearson, 95%."""


Part = tuple[str, str, int, range]
"""What is measured (size or coverage), of what, with how many units, on which groups."""


def main() -> None:
    """Measure, check, print and draw."""
    chosen = begin(__doc__, figure={"type": Path, "help": "draw sizes and coverages into this file"})
    sizes, coverages = measured(*(QUICK if chosen.quick else FULL))
    show(sizes, coverages)
    about = {"interval_level": LEVEL, "interval_resamples": INTERVAL_RESAMPLES, "group": GROUP}
    parts = {"sizes": [each._asdict() for each in sizes], "coverages": [each._asdict() for each in coverages]}
    finish(chosen, levels=LEVELS, resamples=RESAMPLES, **about, **parts)
    if chosen.figure:
        draw(sizes, coverages, chosen.figure)
    print(checked(sizes))


def show(sizes: Sequence[Size], coverages: Sequence[Coverage]) -> None:
    """Print all tables."""
    units = SEPARATOR.join(f"{size:,}" for size in dict.fromkeys(each.units for each in sizes))
    print(f"\nrejections at 5%, %, for {units} units\n\n{summary_table(sizes, 0.05)}")
    for kind in KINDS:
        print(f"\n{kind}: rejections, % (95% interval)\n\n{sizes_table([each for each in sizes if each.kind == kind])}")
    alone = [each for each in coverages if len(each.truths) == 1]
    print(f"\n{LEVEL:.0%} intervals that hold the truth, % (95% interval)\n\n{coverages_table(alone)}")
    together = coverages_table([each for each in coverages if len(each.truths) > 1])
    print(f"\n{LEVEL:.0%} intervals of all pairs that hold the truths together, % (95% interval)\n\n{together}\n")


def measured(for_tests: Mapping[int, int], for_intervals: Mapping[int, int]) -> tuple[list[Size], list[Coverage]]:
    """All sizes and coverages, on all cores: one thread a process, since products of matrices would take all."""
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    parts = [*_parts("size", KINDS, for_tests), *_parts("coverage", TARGETS, for_intervals)]
    tests: dict[tuple[str, int, str], Counts] = {}
    intervals: dict[tuple[str, int, str], Held] = {}
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        for (what, name, units, _), found in zip(parts, pool.map(_of_part, parts), strict=True):
            together = tests if what == "size" else intervals
            for each, counts in found.items():
                together[name, units, each] = counts.plus(together.get((name, units, each)))
    sizes = [size for key, counts in tests.items() for size in _sizes(key, counts)]
    return sizes, [_coverage(key, held) for key, held in intervals.items()]


def _parts(what: str, names: Mapping[str, object], groups: Mapping[int, int]) -> Iterator[Part]:
    for name, (units, number) in product(names, groups.items()):
        for start in range(0, number, _PIECE):
            yield what, name, units, range(start, min(start + _PIECE, number))


def _of_part(part: Part) -> Mapping[str, Any]:
    what, name, units, groups = part
    return (sizes_of if what == "size" else coverage_of)(name, units, groups)


def _sizes(key: tuple[str, int, str], counts: Counts) -> Iterator[Size]:
    for level, rejected, attainable in zip(LEVELS, counts.rejected.tolist(), counts.attainable.tolist(), strict=True):
        known = None if np.isnan(attainable) else attainable / counts.trials
        yield Size(*key, level, counts.trials, rejected, *shares(rejected, counts.trials), known)


def _coverage(key: tuple[str, int, str], held: Held) -> Coverage:
    name, units, kind = key
    head = (name, TARGETS[name].truths, units, kind)
    return Coverage(*head, held.trials, held.covered, *held[1:], *shares(held.covered, held.trials))


class Expected(NamedTuple):
    """A share that theory knows."""

    what: str
    trials: int
    found: int
    share: float

    def tail(self) -> float:
        """The chance of a number as far from what is expected, on the same side."""
        law = stats.binom(self.trials, self.share)
        return float(min(law.cdf(self.found), law.sf(self.found - 1)))


def checked(sizes: Sequence[Size]) -> str:
    """Check that permutation tests reject as often as they can; says how close it was.

    Given the deltas that swaps may give, the attainable sizes are the probabilities of rejections. Far from the mean
    the tails of the sum of such events are at most the binomial ones of their mean probability (Hoeffding 1956). The
    probability of a false alarm is shared out over all tails.

    Raises:
        AssertionError: one of them does not.
    """
    every = list(_expected_rejections(sizes))
    smallest = FALSE_ALARMS / (2 * len(every))
    for each in every:
        if each.tail() < smallest:
            raise AssertionError(
                f"{each.what}: {each.found / each.trials:.3%}, expected {each.share:.3%}; the chance of that is "
                f"{each.tail():.2g}, below {smallest:.2g}"
            )
    least = min(each.tail() for each in every)
    return (
        f"{len(every)} shares of permutation tests agree with theory: the smallest of "
        f"{2 * len(every)} tails is {least:.2g}, and {smallest:.2g} would have been refused"
    )


def _expected_rejections(sizes: Sequence[Size]) -> Iterator[Expected]:
    for each in sizes:
        if each.test in KEPT:
            assert each.attainable is not None
            what = f"{each.test}, {each.kind}, {each.units} units, at {each.level:.0%}"
            yield Expected(what, each.trials, each.rejected, min(each.attainable, each.level))


_KINDS = tuple(dict.fromkeys((*OF_SYSTEM, *OF_PAIRS, OF_SCIPY)))


def summary_table(sizes: Sequence[Size], level: float) -> str:
    """A line a test, a column a kind of data; in each cell the numbers of units in turn."""
    units = list(dict.fromkeys(each.units for each in sizes))
    cells = {(each.test, each.kind, each.units): each for each in sizes if each.level == level}

    def line(test: str, name: str, number: Callable[[Size], float | None]) -> list[str]:
        found = ([cells.get((test, kind, size)) for size in units] for kind in KINDS)
        texts = ([_one_digit(None if each is None else number(each)) for each in row] for row in found)
        return [name, *("" if set(row) == {"-"} else SEPARATOR.join(row) for row in texts)]

    lines = []
    for test in sorted(dict.fromkeys(test for test, _, _ in cells), key=place_in_tables):
        lines.append(line(test, test, lambda each: each.share))
        if test in KEPT:
            lines.append(line(test, "... attainable", lambda each: each.attainable))
    return markdown_table(["test", *KINDS], lines)


def _one_digit(share: float | None) -> str:
    return "-" if share is None else f"{100.0 * share:.1f}"


def sizes_table(sizes: Sequence[Size]) -> str:
    """A line a test, a column a level and a number of units; of one kind of data."""
    columns = list(dict.fromkeys((each.units, each.level) for each in sizes))
    cells = {(each.test, each.units, each.level): each for each in sizes}
    lines = []
    for test in sorted(dict.fromkeys(each.test for each in sizes), key=place_in_tables):
        found = [cells.get((test, *column)) for column in columns]
        lines.append([test, *("" if each is None else _percent(each.share, each.interval) for each in found)])
        if test in KEPT:
            lines.append(["... attainable", *("" if each is None else f"{each.attainable:.2%}" for each in found)])
    return markdown_table(["test", *(f"n = {units:,}, {level:.0%}" for units, level in columns)], lines)


def coverages_table(coverages: Sequence[Coverage]) -> str:
    """A line a target and a number of units, a column a kind of interval; empty where it does not apply."""
    cells = {(each.target, each.units, each.kind): each for each in coverages}
    kinds = [kind for kind in _KINDS if any(each.kind == kind for each in coverages)]
    lines = []
    for target, units in dict.fromkeys((each.target, each.units) for each in coverages):
        found = [cells.get((target, units, kind)) for kind in kinds]
        texts = ("" if each is None else _percent(each.share, each.interval) for each in found)
        lines.append([f"{target}, n = {units:,}", *texts])
    return markdown_table(["", *kinds], lines)


def _percent(share: float, interval: tuple[float, float]) -> str:
    low, high = (f"{100.0 * end:.1f}" for end in interval)
    return f"{100.0 * share:.1f} ({low}-{high})"


_COLORS = ("#2a75b3", "#c1272d", "#3a9a5b", "#e08e45", "#7a4fa3", "#222222", "#17a2b8", "#b5698f", "#8c6d31", "#888888")
_MARKERS = {"circle": "o", "triangle": "^", "square": "s"}
"""Of levels, the smallest first."""
_WIDEST, _LOWEST = 0.25, 0.8
"""Sizes and coverages beyond are drawn at the edge: an arrow, and the number."""
_BAND = 0.8
"""Part of a row that its points take."""


class Point(NamedTuple):
    """One dot with its error bar."""

    row: str
    series: str
    """The colour, and the place within the row."""
    marker: str
    share: float
    interval: tuple[float, float]


def draw(sizes: Sequence[Size], coverages: Sequence[Coverage], path: Path) -> None:
    """Draw both into a file."""
    from matplotlib.figure import Figure

    sizes = sorted(sizes, key=lambda each: place_in_tables(each.test))
    levels, units = _distinct(each.level for each in sizes), _distinct(each.units for each in sizes)
    marker = dict(zip(levels, _MARKERS.values(), strict=True))
    figure = Figure(figsize=(13.0, 16.5), dpi=110, layout="constrained")
    above, below = figure.subplots(2, len(units), sharey="row", height_ratios=(3.3, 1.6))

    def of_sizes(number: int) -> list[Point]:
        found = [each for each in sizes if each.units == number]
        return [Point(s.test, s.kind, marker[s.level], s.share, s.interval) for s in found]

    def of_coverages(number: int) -> list[Point]:
        found = [each for each in coverages if each.units == number]
        return [Point(each.target, each.kind, "o", each.share, each.interval) for each in found]

    _row(above, units, of_sizes, nominal=levels, limits=(0.0, _WIDEST), ticks=[*levels, 0.15, 0.2, _WIDEST])
    _row(below, units, of_coverages, nominal=[0.95], limits=(_LOWEST, 1.0), ticks=[_LOWEST, 0.85, 0.9, 0.95, 1.0])
    shapes = ", ".join(f"{level:.0%} ({shape})" for level, shape in zip(levels, _MARKERS, strict=True))
    for panel, number in zip(above, units, strict=True):
        panel.set_title(f"{number:,} units")
        panel.set_xlabel(f"rejections at {shapes}", fontsize=8)
    for panel in below:
        panel.set_xlabel("95% intervals that hold the truth (10 deltas: all ten)", fontsize=8)
    figure.savefig(path)


def place_in_tables(test: str) -> tuple[bool, bool, bool]:
    """Tests that sample first, then the others; those that take systems for independent, and units, come last."""
    return IGNORED in test, test in UNPAIRED, not test.startswith((SAMPLED, BOOTSTRAP))


def _row(
    panels: Any,
    units: Sequence[int],
    points: Callable[[int], list[Point]],
    *,
    nominal: Sequence[float],
    limits: tuple[float, float],
    ticks: Sequence[float],
) -> None:
    """Panels that share their rows, and a legend to the right."""
    every = [point for number in units for point in points(number)]
    rows, series = _distinct(point.row for point in every), _distinct(point.series for point in every)
    there = {point[:2] for point in every}
    within = {row: [each for each in series if (row, each) in there] for row in rows}
    spare = 0.02 * (limits[1] - limits[0])
    for panel, number in zip(panels, units, strict=True):
        for level in nominal:
            panel.axvline(level, color="0.5", linewidth=0.9, zorder=1)
        for place in range(0, len(rows), 2):
            panel.axhspan(place - 0.5, place + 0.5, color="0.955", zorder=0)
        for point in points(number):
            others = within[point.row]
            lower = others.index(point.series) - (len(others) - 1) / 2.0
            height = rows.index(point.row) + lower * _BAND / len(series)
            _dot(panel, point, height, _COLORS[series.index(point.series)], limits)
        panel.set_yticks(range(len(rows)), rows, fontsize=8)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.set_xlim(limits[0] - spare, limits[1] + spare)
        panel.set_xticks(ticks, [f"{share:.0%}" for share in ticks])
        panel.tick_params(axis="x", labelsize=8)
        panel.spines[["top", "right"]].set_visible(False)
    handles = [panels[-1].plot([], [], "o", color=color, markersize=4)[0] for color in _COLORS[: len(series)]]
    panels[-1].legend(handles, series, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _dot(panel: Any, point: Point, height: float, color: str, limits: tuple[float, float]) -> None:
    """A dot and its bar; at the edge where it lies beyond."""
    lowest, highest = limits
    if not lowest <= point.share <= highest:
        edge = highest if point.share > highest else lowest
        beyond = point.share > highest
        panel.plot([edge], [height], ">" if beyond else "<", color=color, markersize=5, zorder=3)
        beside, side = ((-6, 0), "right") if beyond else ((6, 0), "left")
        panel.annotate(
            f"{point.share:.0%}",
            (edge, height),
            beside,
            textcoords="offset points",
            ha=side,
            va="center_baseline",
            fontsize=6,
            color=color,
        )
        return
    panel.plot(point.interval, [height, height], color=color, linewidth=1.0, zorder=2)
    panel.plot([point.share], [height], point.marker, color=color, markersize=3, zorder=3)


def _distinct(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


if __name__ == "__main__":
    main()
