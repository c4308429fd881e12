"""A picture for each concept of the manual, drawn from results of sigjax when the site is built.

`PICTURES` names them by the page that shows them. Each function returns a figure of matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import sigjax
from sigjax.report.panels import BLUE, BLUES, GREY, VERMILION, empty_figure, intervals, label_rows, set_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOARD = files("sigjax") / "data" / "examples" / "board.tsv"
_PAIR = "cedar", "lark"


class Picture(NamedTuple):
    """A picture, what it shows to people who cannot see it, what it says, and the heading that it stands below."""

    name: str
    draw: Callable[[], Figure]
    alt: str
    caption: str
    below: str = ""


@cache
def board(cluster: str | None = None, **options: Any) -> sigjax.Report:
    """The comparison of the bundled board, by question or by document."""
    return sigjax.compare(sigjax.read(_BOARD, metric="accuracy", cluster=cluster), progress=False, **options)


def _panels(width: float, height: float, columns: int) -> tuple[Figure, list[Axes]]:
    figure = empty_figure(width, height)
    figure.set_layout_engine("constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    return figure, list(axes)


def swapped() -> Figure:
    """The answers of two systems, as they are and with some rows swapped."""
    right = np.array([[1, 1, 0, 1, 1, 1, 0, 1], [0, 1, 0, 0, 1, 1, 1, 0]])
    rows = [0, 3, 6]
    mixed = right.copy()
    mixed[:, rows] = right[::-1, rows]
    figure, axes = _panels(4.4, 2.3, 2)
    for panel, answers, title in zip(axes, (right, mixed), ("observed", "questions 1, 4 and 7 swapped"), strict=True):
        for (system, row), answer in np.ndenumerate(answers):
            moved = panel is axes[1] and row in rows
            panel.text(system, row, "right" if answer else "wrong", ha="center", va="center", fontsize=7,
                       color=VERMILION if moved else "black")  # fmt: skip
        delta = (answers[0].sum() - answers[1].sum()) / answers.shape[1]
        panel.set_xlim(-0.6, 1.6)
        panel.set_ylim(7.6, -0.6)
        panel.set_xticks([0, 1], ["A", "B"])
        panel.set_yticks(range(8), [f"question {row}" for row in range(1, 9)] if panel is axes[0] else [""] * 8)
        panel.tick_params(length=0, labelsize=7)
        panel.spines[:].set_visible(False)
        set_words(panel, title, f"A − B = {delta:+.3f}")
    return figure


def null() -> Figure:
    """The null distribution of a pair, with p as its shaded part."""
    figure, (axes,) = _panels(4.4, 2.3, 1)
    board().plot("null", pair=_PAIR, ax=axes)
    return figure


def clusters() -> Figure:
    """The null distribution by question and by document."""
    figure, axes = _panels(6.4, 2.3, 2)
    for panel, cluster in zip(axes, (None, "document"), strict=True):
        board(cluster).plot("null", pair=("iris", "jade"), ax=panel)
        panel.get_legend().remove()
        units = "24 documents swapped" if cluster else "240 questions swapped"
        p = board(cluster)["iris", "jade"].p_value
        set_words(panel, f"{units}: p = {p:.2g}", "iris − jade under the null hypothesis", "probability")
    low, high = zip(*(panel.get_xlim() for panel in axes), strict=True)
    for panel in axes:
        panel.set_xlim(min(low), max(high))
    return figure


def joint() -> Figure:
    """Intervals of differences to the best system, for each pair alone and for all pairs at once."""
    alone, together = (board("document", correction=name) for name in ("none", "holm"))
    names = [system.name for system in together.systems]
    figure, (axes,) = _panels(4.4, 2.7, 1)
    axes.axvline(0.0, color=GREY, linewidth=0.6)
    for report, color, shift in ((together, BLUES[1], 0.15), (alone, BLUE, -0.15)):
        pairs = [report[name, names[0]] for name in names[1:]]
        intervals(axes, [row + shift for row in range(len(pairs))], [pair.interval for pair in pairs], color=color)
        label = "simultaneous for 66 pairs" if report is together else "for one pair alone"
        axes.plot([pair.delta for pair in pairs], [row + shift for row in range(len(pairs))], "o", color=color,
                  markersize=2.5, label=label)  # fmt: skip
    label_rows(axes, names[1:])
    axes.legend(fontsize=6, frameon=False, loc="upper left")
    set_words(axes, "95% intervals", f"difference to {names[0]}")
    return figure


def ranks() -> Figure:
    """The ranks that are possible for each system."""
    systems = board("document").systems
    figure, (axes,) = _panels(4.4, 2.4, 1)
    for row, system in enumerate(systems):
        low, high = system.rank_interval or (row + 1, row + 1)
        best = system.in_top_group
        axes.hlines(row, low - 0.3, high + 0.3, color=VERMILION if best else BLUE, linewidth=5)
    label_rows(axes, [system.name for system in systems])
    axes.set_xticks(range(1, len(systems) + 1))
    axes.tick_params(labelsize=7)
    set_words(axes, "red: the best group", "possible ranks")
    return figure


def holm() -> Figure:
    """Sorted p-values beside the limits of Holm's steps."""
    report = sigjax.compare(
        sigjax.read(_BOARD, metric="accuracy", cluster="document", only=["amber", "fjord", "lark", "grove", "birch"]),
        progress=False,
    )
    pairs = sorted(report, key=lambda pair: pair.p_value)
    steps = np.arange(1, len(pairs) + 1)
    limits = 0.05 / (len(pairs) + 1 - steps)
    figure, (axes,) = _panels(4.4, 2.4, 1)
    axes.step(steps, limits, where="mid", color=GREY, linewidth=1, label="limit: 0.05 / (pairs left)")
    for decided, color, label in ((True, VERMILION, "significant"), (False, BLUE, "not significant")):
        some = [(step, pair.p_value) for step, pair in zip(steps, pairs, strict=True)
                if (pair.p_adjusted < 0.05) == decided]  # fmt: skip
        axes.plot(*zip(*some, strict=True), "o", color=color, markersize=4, label=label)
    axes.set_yscale("log")
    axes.set_xticks(steps)
    axes.tick_params(labelsize=7)
    axes.legend(fontsize=6, frameon=False)
    set_words(axes, "Holm stops at the first p above its limit", "pairs, the smallest p first", "p")
    return figure


def balances(size: int = 300) -> sigjax.Report:
    """Two systems of the same expected F1: one is precise and misses whole units, the other one has high recall."""
    rng = np.random.default_rng(7)
    gold = 1 + rng.poisson(3.0, size)
    precise = gold * (rng.random(size) < 0.5)
    recalled = rng.binomial(gold, 0.9)
    counts = {
        "precise": np.stack([precise, precise + rng.poisson(0.10, size), gold], axis=1),
        "high recall": np.stack([recalled, recalled + rng.poisson(3.38, size), gold], axis=1),
    }
    return sigjax.compare(sigjax.Evaluation.from_arrays(counts, metric="fscore"), progress=False)


def exchangeable() -> Figure:
    """How the difference of two systems varies: if outputs are swapped, and on new test sets."""
    report = balances()
    figure, (axes,) = _panels(4.4, 2.4, 1)
    kinds = (("bootstrap", VERMILION, "on new test sets (bootstrap)"), ("permutation", BLUE, "with outputs swapped"))
    for test, color, label in kinds:
        drawn = report.distribution("precise", "high recall", test=test)
        edges = np.array(drawn.edges)
        middle = drawn.observed if test == "bootstrap" else 0.0
        density = np.array(drawn.shares) / np.diff(edges)
        axes.stairs(density, edges - middle, color=color, linewidth=1.2, label=label)
    axes.set_xlim(-0.12, 0.12)
    axes.tick_params(labelsize=7)
    axes.legend(fontsize=6, frameon=False, loc="upper left")
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])
    set_words(axes, "equally good, but not exchangeable", "difference of F1, around its middle", "density")
    return figure


PICTURES: dict[str, tuple[Picture, ...]] = {
    "designs": (
        Picture(
            "swapped",
            swapped,
            "Eight answers of two systems, and the same with three rows swapped between the systems",
            "What is swapped: the outputs of the two systems on some units, at random.",
        ),
        Picture(
            "clusters",
            clusters,
            "Null distribution of a difference, narrow if questions are swapped, wide if documents are",
            "Clusters against instances: questions of one document are alike, so swapping documents varies more.",
            "Which clusters?",
        ),
    ),
    "p-values": (
        Picture(
            "null",
            null,
            "Histogram of the difference under the null hypothesis, its extreme parts shaded",
            "p is the shaded part: differences at least as large as the observed one, if outputs are swapped.",
        ),
        Picture(
            "exchangeable",
            exchangeable,
            "Two histograms: the difference varies more on new test sets than with swapped outputs",
            "Exchangeable or equally good: these systems have the same F1, but not the same kind of errors. Swaps vary "
            "less than new test sets, so p is too small. `--statistic studentized` corrects this.",
            "Exchangeable, or equally good?",
        ),
    ),
    "intervals": (
        Picture(
            "joint",
            joint,
            "Intervals of the differences of eleven systems to the best one, short and long",
            "One interval alone holds in 95% of test sets; all simultaneous ones hold together in 95%.",
            "Simultaneous intervals, or one at a time",
        ),
    ),
    "corrections": (
        Picture(
            "holm",
            holm,
            "Ten sorted p-values beside a rising limit; those before the first crossing are significant",
            "Holm's steps: the smallest p must be below 0.05 / 10, the next below 0.05 / 9, and so on.",
        ),
        Picture(
            "ranks",
            ranks,
            "A bar of possible ranks for each of twelve systems; three bars begin at rank 1",
            "The ranks that the significant differences leave open.",
            "Ranks, letters and the best group",
        ),
    ),
}
"""The pictures of each page."""
