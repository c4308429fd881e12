"""Figures of reports: which kinds there are (`FIGURES`), which suits a report, and how each is drawn.

Sizes are those of one and two columns of a paper, and colours those that everyone can tell apart. A kind draws the
inside of a panel; titles, the legend and the room for names are the same for all (`draw_panels`).
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

import numpy as np

import sigjax.report.words as words
from sigjax.metrics import meant_among
from sigjax.multiple.ranks import letter_groups
from sigjax.records import (
    Comparison,
    Distribution,
    Hint,
    InputError,
    Interval,
    ReportRecord,
    Settings,
    SystemScore,
    Test,
)
from sigjax.records.display import meant, visible
from sigjax.report.sections import MAX_NUMBERS, PairFamily, Section, blocks, decided, mark, oriented, thresholds
from sigjax.version import install_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


ONE_COLUMN, TWO_COLUMNS = 3.35, 6.9
"""Inches of one and of both columns of the usual classes."""
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito (2008): they differ for all kinds of colour vision."""
BLUE, VERMILION, GREY = *PALETTE[:2], "0.55"
LOOKS = tuple(zip(PALETTE, "o^sDvPX", strict=True))
"""A colour and a marker, so that points differ in print, too."""
UNDECIDED = "#F3C98B"
"""Of pairs that more resamples could decide."""
BLUES = (BLUE, "#6FB1D6", "#C5E0EE")
"""Shades that differ in lightness, too."""
FONT = 7
_ROW, _PAGE, _SMALLEST_ROW = 0.19, 8.6, 0.06
"""Inches of a row, of the rows that fit a page, and of a row with the smallest letters that print (4 points)."""
_DPI = 200
"""Pixels of an inch, unless a file is saved with others: notebooks then show letters of 19 pixels."""
_MISSING = 5
"""Characters that a warning names."""
_METADATA = {"pdf": ("Subject", "CreationDate"), "svg": ("Description", "Date"), "png": ("Description", None)}
"""Where files say what they are about, and when they were made."""
NAME, _FEWEST = 60, 12
"""Columns for a name; few are longer. And columns that a name gets in any figure."""
_NAMES_SHARE = 2 / 3
"""The most of a panel's width that names and numbers beside it take."""
_INNER = 0.775
"""The share of its place that matplotlib gives a panel before the layout makes room for names."""


def empty_figure(width: float, height: float, about: str = "") -> Figure:
    """A figure of so many inches; nothing global is touched, so save it with `.savefig`.

    Files say what it is `about` in their metadata, and the same figure makes the same file; PDF files embed fonts as
    publishers ask for (TrueType).
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        command = install_command("matplotlib")
        raise InputError(f"figures need matplotlib, which is not installed; run: {command}") from None

    said = set[str]()

    class ReportFigure(Figure):
        """A figure that notebooks show without pyplot, which would keep it in a global list."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png")
            return stream.getvalue()

        def draw(self, renderer: Any) -> None:
            with _in_our_words(said):
                super().draw(renderer)

        def savefig(self, fname: Any, **how: Any) -> None:
            ending = str(how.get("format") or str(fname).rpartition(".")[2]).lower()
            key, date = _METADATA.get(ending, (None, None))
            if key is not None:
                known = {key: visible(about) or None} | ({date: None} if date else {})
                how["metadata"] = known | how.get("metadata", {})
            with rc_context({"pdf.fonttype": 42, "svg.hashsalt": "sigjax"}):
                super().savefig(fname, **how)

    return ReportFigure(figsize=(width, height), layout="constrained", dpi=_DPI)


@contextmanager
def _in_our_words(said: set[str]) -> Iterator[None]:
    """Say which characters no font has, once; what else matplotlib warns of is its layout, which is ours to make."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    glyphs = (re.match(r"Glyph (\d+) ", str(warning.message)) for warning in caught)
    characters = dict.fromkeys(chr(int(glyph[1])) for glyph in glyphs if glyph)
    if missing := [character for character in characters if character not in said]:
        said.update(missing)
        shown = words.first_of([f"{character} (U+{ord(character):04X})" for character in missing], _MISSING)
        warnings.warn(
            f"figure: the font cannot draw {shown}; name a font that has them in matplotlib (rcParams"
            '["font.family"], or font.family in the file matplotlibrc), or rename the system',
            UserWarning,
            stacklevel=4,
        )


def plain(text: str) -> str:
    """Text in which matplotlib sees no mathematics, and fonts no control characters."""
    return "\n".join(map(visible, text.split("\n"))).replace("$", r"\$")


def row_height(rows: int) -> float:
    """Inches of a row: so many fit a page, as far as letters stay legible."""
    return max(_SMALLEST_ROW, min(_ROW, _PAGE / max(rows, 1)))


def row_font(rows: int) -> float:
    """Points of the labels of rows."""
    return min(FONT, 72 * 0.9 * row_height(rows))


def names_width(names: Sequence[str], rows: int) -> float:
    """About the inches that names take beside so many rows."""
    return _letter(rows) * max([min(len(name), NAME) for name in names], default=0)


def _letter(rows: int) -> float:
    """Inches of a letter beside so many rows."""
    return 0.0083 * row_font(rows)


def label_rows(axes: Axes, names: Sequence[str], right: Sequence[str] | None = None, *, whole: bool = False) -> None:
    """One row per name, the first on top; `right` are labels on the other side.

    Unless they are to be `whole`, names are shortened that would leave less than a third of the width.
    """
    clear_sides(axes, "left", "right", "top")
    size, columns = row_font(len(names)), NAME
    if not whole:
        place = axes.get_window_extent().width / cast("Figure", axes.figure).dpi / _INNER
        columns = int((_NAMES_SHARE * place - names_width(right or (), len(names))) / _letter(len(names)))
    shortened = words.short_names(list(map(visible, names)), max(_FEWEST, min(NAME, columns)))
    labels = [plain(name) for name in shortened]
    axes.set_yticks(range(len(labels)), labels, fontsize=size)
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    if right is not None:
        other = axes.secondary_yaxis("right")
        other.set_yticks(range(len(right)), [plain(each) for each in right], fontsize=size)
        other.tick_params(length=0)
        other.spines["right"].set_visible(False)


def clear_sides(axes: Axes, *sides: str) -> None:
    """Draw no line at these sides of a panel, thin ones at the others, and small ticks."""
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
    for side, spine in axes.spines.items():
        spine.set_visible(side not in sides)
        spine.set_linewidth(0.6)


def set_words(axes: Axes, title: str, label: str, beside: str | None = None) -> None:
    """The title of a panel, which begins where the panel does, and what is below it; `draw_panels` breaks their lines.

    A panel with two scales also has what is `beside` it, and no lines at its other sides.
    """
    axes.set_title(plain(title), fontsize=FONT, loc="left")
    axes.set_xlabel(plain(label), fontsize=FONT)
    if beside is not None:
        axes.set_ylabel(plain(beside), fontsize=FONT)
        clear_sides(axes, "right", "top")


def break_lines(figure: Figure, panels: Sequence[Axes]) -> None:
    """Titles and labels in lines as wide as their panels, which are as wide as names leave room for."""
    figure.draw_without_rendering()
    for axes in (each for panel in panels for each in (panel, *panel.child_axes)):
        letters = int(17 * max(1.2, axes.get_window_extent().width / figure.dpi))
        for text in (axes.xaxis.label, getattr(axes, "_left_title", None)):
            if text is not None:
                text.set_text("\n".join(each for line in text.get_text().split("\n") for each in wrap(line, letters)))


def draw_legend(figure: Figure, panels: Sequence[Axes], below: Axes | None = None) -> None:
    """One legend for all panels, at the bottom of the figure, or below the only one in a figure of others."""
    width = (figure if below is None else below).get_window_extent().width / figure.dpi
    keys = {
        "\n".join(wrap(name, int(17 * width - 8))): key
        for panel in panels
        for axes in cast("list[Axes]", [panel, *panel.child_axes])
        if hasattr(axes, "get_legend_handles_labels")  # second scales have none
        for key, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if not keys:
        return
    columns = int(width / (0.5 + 0.055 * max(map(len, keys))))
    style: dict[str, Any] = {"fontsize": FONT, "frameon": False, "ncols": min(len(keys), max(1, columns))}
    if below is None:
        legend = figure.legend(keys.values(), keys, loc="outside lower center", borderpad=0.2, **style)
    else:
        low = below.get_tightbbox().transformed(below.transAxes.inverted()).y0  # pyright: ignore[reportOptionalMemberAccess]
        legend = below.legend(keys.values(), keys, loc="upper center", bbox_to_anchor=(0.5, low), **style)
    for handle in filter(None, legend.legend_handles):
        handle.set_alpha(1.0)


def intervals(axes: Axes, rows: Sequence[float], ends: Sequence[Interval | None], **style: Any) -> None:
    """An interval in each row that has one."""
    if known := [(row, *each) for row, each in zip(rows, ends, strict=True) if each is not None]:
        axes.hlines(*zip(*known, strict=True), linewidth=min(1.6, 10 * row_height(len(rows))), **style)


def _marker(rows: int) -> float:
    return min(4.0, 72 * 0.5 * row_height(rows))


MAX_ROWS = 300
"""Systems of one figure, from the best."""
_LONG, _INSIDE = 60, 1.7
"""More rows stand in two columns, so that letters stay legible; and inches beside names."""
_DIAMOND = "diamond"


class Panel(NamedTuple):
    """What is drawn: a metric and, for kinds that show a test, a test; or some pairs; or a part of the rows."""

    section: Section
    family: PairFamily
    lower_is_better: bool
    distributions: tuple[tuple[Distribution, Comparison | None], ...] = ()
    """How the deltas of pairs vary, and what their tests say, if the report has this test."""
    rows: slice = slice(MAX_ROWS)

    @property
    def systems(self) -> tuple[SystemScore, ...]:
        """Those that are drawn."""
        return self.section.systems[self.rows]

    @property
    def caption(self) -> str:
        """The metric, what it was computed on, and what is left out."""
        every, (first, last, _) = len(self.section.systems), self.rows.indices(len(self.section.systems))
        if last - first == every:
            return self.section.caption
        part = f"systems {first + 1} to {last}"
        if every > MAX_ROWS and not first:
            part = words.left_out("figure", MAX_ROWS, every, every_pair="to_json() gives")
        return f"{self.section.caption}\n{part}"

    @property
    def settings(self) -> Settings:
        """Of the report."""
        return self.family.settings

    @property
    def tested(self) -> str:
        """The test and its alternative."""
        return f"{self.family.test} test, {words.ALTERNATIVES[self.settings.alternative]}"

    @property
    def reference(self) -> str:
        """What systems are compared with."""
        if len(self.distributions) == 1:
            return self.distributions[0][0].b
        return "the best" if self.settings.baseline is None else "the baseline"

    def interval(self, pairs: Sequence[Comparison | None] = ()) -> str:
        """What lines through points, or deltas, are, and which way is up; the caption says where lower is better."""
        heading = words.interval_heading(self.settings, [one.joint_pairs for one in pairs if one is not None])
        return heading + "; higher is better" * (not self.lower_is_better)


def rows_size(panel: Panel, columns: int = 0) -> tuple[float, float]:
    """Inches of a panel with one row per system, its name, and so many letters on the right."""
    rows = len(panel.systems)
    names = names_width([one.name for one in panel.systems], rows) + names_width(["0" * columns], rows)
    most = TWO_COLUMNS / 2 if len(panel.section.systems) > _LONG else TWO_COLUMNS
    width = max(ONE_COLUMN, names + _INSIDE, names / _NAMES_SHARE)
    return min(most, width), max(rows, 1) * row_height(rows)


def draw_rows(axes: Axes, panel: Panel, looks: Sequence[str], points: Sequence[tuple[float, Interval | None]]) -> None:
    """Per row a point with an interval: a diamond is what others are compared with, a filled one is significant."""
    to, size = panel.reference, _marker(len(points))
    keys = {_DIAMOND: to, BLUE: f"significant difference to {to}", "white": f"no significant difference to {to}"}
    intervals(axes, range(len(points)), [ends for _, ends in points], color=BLUES[1])
    for look, key in {**keys, UNDECIDED: "undecided: more resamples could tell"}.items():
        if at := [row for row, each in enumerate(looks) if each == look]:
            fill, marker = (BLUE, "D") if look == _DIAMOND else (look, "o")
            style = {"color": BLUE, "markerfacecolor": fill, "markeredgewidth": 0.2 * size, "label": key}
            axes.plot([points[row][0] for row in at], at, marker, markersize=size, **style)


def draw_scores(axes: Axes, panel: Panel) -> None:
    """Scores with intervals; an open point does not differ significantly from the best or the baseline."""
    systems, (reference, others) = panel.systems, panel.family.against()
    looks = [_DIAMOND if one.name == reference else _fill(others.get(one.name)) for one in systems]
    draw_rows(axes, panel, looks, [(one.score, one.interval) for one in systems])
    spec = words.number_spec(one.score for one in panel.section.systems)
    label_rows(axes, [one.name for one in systems], [words.format_number(one.score, spec) for one in systems])
    set_words(axes, panel.caption, f"score, {panel.interval()}")


def draw_forest(axes: Axes, panel: Panel) -> None:
    """Differences to the baseline, or else to the best system, with intervals; a filled point is significant."""
    reference, others = panel.family.against()
    shown = {one.name: others[one.name] for one in panel.systems if one.name in others}
    axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
    draw_rows(axes, panel, [*map(_fill, shown.values())], [oriented(each, name) for name, each in shown.items()])
    # Else p may be of the other direction.
    directed = panel.settings.alternative == "two-sided" or panel.settings.baseline is not None
    label_rows(axes, list(shown), [words.format_adjusted_p(one) for one in shown.values()] if directed else None)
    p = "adjusted p" if len(panel.family.comparisons) > 1 and panel.settings.correction != "none" else "p"
    title = f"{panel.caption}\n{panel.tested}\ndeltas to {reference}"
    set_words(axes, title, f"delta, {panel.interval([*shown.values()])}" + f"\nright: {p}" * directed)


def _fill(comparison: Comparison | None) -> str:
    """Blue for a significant difference, white for none, the heat map's color where more resamples could decide."""
    if comparison is not None and words.is_significant(comparison):
        return BLUE
    return UNDECIDED if comparison is not None and comparison.decided is False else "white"


MAX_GROUPED, _BAR = 60, 0.5
"""Systems of a critical-difference diagram, half of them on either side, and rows from a bar to the next."""


def _sides(names: Sequence[str], scores: Sequence[float]) -> tuple[list[str], list[str]]:
    """Names and scores left and right of a critical-difference diagram, the outermost first; all right if long."""
    spec, half = words.number_spec(scores), len(names) // 2
    ascending = sorted(zip(scores[::-1], names[::-1], strict=True), key=lambda each: each[0])
    texts = [(visible(name), words.format_number(score, spec)) for score, name in ascending]
    if 2 * names_width([f"{name} {score}" for name, score in texts], half) + _INSIDE > TWO_COLUMNS:
        half = 0
    right = [f"{score}  {name}" for name, score in texts[half:]]
    return [f"{name}  {score}" for name, score in texts[:half]], right[::-1]


Groups = list[list[int]]
"""Positions of systems, from the best, that do not differ."""


def diagram_size(names: Sequence[str], scores: Sequence[float], groups: Groups) -> tuple[float, float]:
    """Inches of `draw_diagram`."""
    left, right = _sides(names, scores)
    height = (len(right) + _BAR * (len(_bars(groups)) + 1.5)) * row_height(len(right))
    beside = names_width(left, len(right)) + names_width(right, len(right))
    return min(TWO_COLUMNS, max(ONE_COLUMN, _INSIDE + beside)), height


def draw_diagram(
    axes: Axes, names: Sequence[str], scores: Sequence[float], groups: Groups, title: str, key: str
) -> None:
    """A critical-difference diagram: systems on a scale of scores, and bars that join those that do not differ.

    Reference: Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", section 3.2.4, whose
    scale is of average ranks.
    """
    bars = _bars(groups)
    top, wide = -_BAR * (len(bars) + 1.5), min(2.5, _marker(len(names)))
    for y, on_level in zip(top + _BAR * np.arange(1.0, len(bars) + 1.0), bars, strict=True):
        for members in on_level:
            runs = np.split(members, np.flatnonzero(np.diff(members) > 1) + 1)
            axes.hlines(y, scores[members[0]], scores[members[-1]], color=BLUES[1], linewidth=0.5)
            ends = np.array([[scores[run[0]], scores[run[-1]]] for run in runs])
            axes.hlines([y] * len(runs), ends[:, 0], ends[:, 1], color=BLUE, linewidth=wide, capstyle="projecting")
    margin = 0.04 * (max(scores) - min(scores)) or 0.5
    axes.set_xlim(min(scores) - margin, max(scores) + margin)
    left, right = _sides(names, scores)
    outermost = sorted(scores)[: len(left)], sorted(scores, reverse=True)[: len(right)]
    for side, end in zip(outermost, axes.get_xlim(), strict=True):
        for row, score in enumerate(side):
            axes.plot([score, score, end], [top, row, row], color=GREY, linewidth=0.5, zorder=0)
    label_rows(axes, left, right, whole=True)
    axes.set_ylim(len(right) - 0.5, top)
    axes.xaxis.tick_top()
    axes.spines["top"].set_visible(True)
    axes.spines["bottom"].set_visible(False)
    axes.plot([], [], color=BLUE, linewidth=wide, label=f"{key}; a bar is thin where it passes others")
    set_words(axes, title, "")


def draw_groups(axes: Axes, panel: Panel) -> None:
    """`draw_diagram` of the scores of a report."""
    p = f"{'' if panel.settings.correction == 'none' else 'adjusted '}p < {panel.settings.alpha:g}"
    key = f"systems on one bar do not differ significantly ({panel.family.test} test, {p})"
    draw_diagram(axes, *_grouped(panel), panel.caption + "; higher is better" * (not panel.lower_is_better), key)


def _grouped(panel: Panel) -> tuple[list[str], list[float], Groups]:
    settings, row_of = panel.settings, {one.name: row for row, one in enumerate(panel.systems)}
    if settings.baseline is not None or settings.alternative != "two-sided":
        raise InputError("figure groups: needs a two-sided test of all pairs; use forest or scores")
    if len(row_of) > MAX_GROUPED:
        raise InputError(
            f"figure groups: at most {MAX_GROUPED} systems can be read, and these are {len(row_of)}; use scores, or "
            "heatmap for all pairs"
        )
    differs = np.zeros((len(row_of), len(row_of)), bool)
    for one, other in decided(panel.family.comparisons, settings):
        differs[row_of[one], row_of[other]] = differs[row_of[other], row_of[one]] = True
    groups = [members for members in letter_groups(differs) if len(members) > 1]
    return [*row_of], [one.score for one in panel.systems], groups


def _bars(groups: Groups) -> list[Groups]:
    """The groups in levels, in none of which bars touch."""
    levels: list[Groups] = []
    for members in groups:
        level = next((level for level in levels if level[-1][-1] < members[0]), None)
        if level is None:
            levels.append(level := [])
        level.append(members)
    return levels


NOT_SIGNIFICANT, EQUAL = "#EBEBEB", "#BDBDBD"


def heatmap_size(panel: Panel) -> tuple[float, float]:
    """Inches of `draw_heatmap`."""
    number, names = len(panel.systems), names_width([one.name for one in panel.systems], len(panel.systems))
    width = max(ONE_COLUMN, 0.5 * number + names) if number <= 5 else TWO_COLUMNS
    return width, number * (0.3 if number <= MAX_NUMBERS else row_height(number))


def draw_heatmap(axes: Axes, panel: Panel) -> None:
    """A cell per pair, shaded by its adjusted p-value, with the number where it fits."""
    from matplotlib.colors import to_rgba

    family, number = panel.family, len(panel.systems)
    if family.settings.baseline is not None:
        raise InputError("figure heatmap: needs all pairs, and this report has a baseline; use forest or scores")
    limits = thresholds(family.settings)
    colors: dict[int | str, str] = dict(enumerate([*BLUES[: len(limits) - 1], BLUES[-1]]))
    colors |= {"·": NOT_SIGNIFICANT, "?": UNDECIDED, "=": EQUAL}
    image, first, seen = np.zeros((number, number, 4)), family.first_column, set()
    numbers: list[Text] = []
    for i, line in enumerate(family.grid(number)):
        for j, one in enumerate(line, first):
            if one is None:
                continue
            seen.add(shade := mark(one))
            image[i, j] = to_rgba(colors[shade])
            if number <= MAX_NUMBERS:
                ink = "white" if shade == 0 else "black"
                numbers.append(axes.text(j, i, words.format_adjusted_p(one), ha="center", va="center", color=ink))
    width = heatmap_size(panel)[0] - 0.3 - names_width([one.name for one in panel.systems], number)
    for text in numbers:
        widest = 0.68 * max(len(each.get_text()) for each in numbers)
        text.set_fontsize(min(FONT - 1, 72 * width / max(number - first, 1) / widest))
    axes.imshow(image, aspect="auto", interpolation="nearest")
    _label_cells(axes, [one.name for one in panel.systems], first)
    legend = {shade: f"p < {limit:g}" for shade, limit in enumerate(limits)} | {"·": "not significant"}
    legend |= {sign: word for sign, word in (("?", "undecided"), ("=", "equal scores")) if sign in seen}
    for shade, word in legend.items():
        axes.plot([], [], "s", markersize=FONT, color=colors[shade], label=word)
    set_words(axes, f"{panel.caption}\n{family.heading}", "")


def _label_cells(axes: Axes, names: list[str], first: int) -> None:
    """Names and numbers at rows; at columns, which are on top, as many numbers as do not touch."""
    number, size, short = len(names), row_font(len(names)), words.short_names(list(map(visible, names)), NAME)
    label_rows(axes, [f"{name}  {row}" for row, name in enumerate(short, 1)], whole=True)
    every = 1 if number <= 30 else 5 if number <= 110 else 10
    columns = [column for column in range(first, number) if (column + 1) % every == 0 or column == first]
    columns = [column for column in columns if column == first or column - first >= every / 2]
    axes.set_xticks(columns, [str(column + 1) for column in columns], fontsize=max(size, 5) if every > 1 else size)
    axes.xaxis.tick_top()
    axes.set_xlim(first - 0.5, number - 0.5)
    axes.tick_params(length=0, pad=2)
    axes.spines["bottom"].set_visible(False)
    if number <= 60:
        edge = np.arange(first, number + 1) - 0.5
        axes.vlines(edge, -0.5, number - 0.5, color="white", linewidth=0.8)
        axes.hlines(np.arange(number + 1) - 0.5, first - 0.5, number - 0.5, color="white", linewidth=0.8)


def draw_estimation(axes: Axes, panel: Panel) -> None:
    """Scores beside the bootstrap distributions of the differences to one system, each with its interval.

    A Cumming plot with one row per system, the one that the others are compared with first.

    Reference: Ho et al. (2019), "Moving beyond P values: data analysis with estimation graphics" (DABEST).
    """
    scores = {one.name: one for one in panel.section.systems}
    reference, systems = panel.distributions[0][0].b, [scores[drawn.a] for drawn, _ in panel.distributions]
    title = f"{panel.caption}\nshaded: bootstrap distribution of delta, {drawing(panel.distributions[0][0])}"
    if 1 < len(systems) < len(scores) - 1:
        title += f"\nthe first {len(systems) + 1} of {len(scores)} systems; forest draws all"
    axes.set_axis_off()
    axes.set(xticks=[], yticks=[])
    left, right = axes.inset_axes((0.0, 0.0, 0.47, 1.0)), axes.inset_axes((0.53, 0.0, 0.47, 1.0))
    every, pairs = [scores[reference], *systems], [comparison for _, comparison in panel.distributions]
    draw_rows(left, panel, [_DIAMOND, *map(_fill, pairs)], [(one.score, one.interval) for one in every])
    right.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
    for row, (drawn, comparison) in enumerate(panel.distributions, 1):
        shares = np.array(drawn.shares)
        right.stairs(row - 0.8 * shares / shares.max(), drawn.edges, baseline=row, fill=True, color=BLUES[2])
        right.plot([drawn.observed], [row], "o", color="black", markersize=3)
        intervals(right, [row], [comparison and oriented(comparison, drawn.a)[1]], color="black")
    label_rows(left, [one.name for one in every])
    label_rows(right, [one.name for one in every])
    right.set_yticks([])
    set_words(left, "", f"score, {panel.interval()}")
    set_words(right, "", f"delta to {panel.reference}, {panel.interval(pairs)}")
    set_words(axes, title, "")


MANY = 1000
"""More points are drawn as an image, and faint."""


def draw_distribution(axes: Axes, panel: Panel) -> None:
    """A histogram whose shaded part is as extreme as the observed delta."""
    ((drawn, comparison),), settings = panel.distributions, panel.settings
    edges, shares, extreme = (np.array(each) for each in (drawn.edges, drawn.shares, drawn.extreme))
    away = drawn.test == "bootstrap" and settings.alternative == "two-sided"
    what = "as far from observed as 0" if away else "as extreme as observed"
    axes.stairs(shares, edges, fill=True, color=BLUES[1], linewidth=0)
    axes.stairs(extreme, edges, fill=True, color=VERMILION, linewidth=0, label=what)
    top = 1.12 * shares.max()
    axes.axvline(drawn.observed, color="black", linewidth=1.0, label="observed")
    if drawn.test == "bootstrap":
        axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":", label="no difference")
        if comparison is not None and comparison.interval is not None:
            name = f"{words.interval_heading(settings, [comparison.joint_pairs])} of delta"
            axes.hlines(0.94 * top, *comparison.interval, color=BLUE, linewidth=2.0, label=name)
    elif settings.alternative == "two-sided" and drawn.observed:
        axes.axvline(-drawn.observed, color="black", linewidth=0.8, linestyle="--", label="as far on the other side")
    seen = np.flatnonzero(shares > 2e-4 * shares.max())
    mirrored = -drawn.observed if drawn.test == "permutation" else 0.0
    ends = drawn.edges[seen[0]], drawn.edges[seen[-1] + 1], drawn.observed, mirrored
    margin = 0.04 * (max(ends) - min(ends))
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_ylim(0.0, top)
    axes.locator_params(axis="x", nbins=5)
    beside = "share of resamples" if drawn.resamples else "probability"
    spec = f"+{words.number_spec([drawn.observed, drawn.edges[-1]])}"
    where = "under the null hypothesis" if drawn.test == "permutation" else "on bootstrap resamples"
    p = f"{what}: {sum(drawn.extreme):.3g}"
    if comparison is not None:
        p = f"{drawn.test} test, p = {words.format_raw_p(comparison)}"
    title = f"{panel.caption}\n{drawn.a} − {drawn.b} = {drawn.observed:{spec}}\n{p}"
    title = title.replace("p = <", "p < ").replace("p = >", "p > ")
    set_words(axes, title, f"delta {where}, {drawing(drawn)}", beside)


def drawing(drawn: Distribution) -> str:
    """How the distribution was computed."""
    return f"first {drawn.resamples:,} resamples" if drawn.resamples else "exact"


def draw_gain(axes: Axes, panel: Panel) -> None:
    """Gains of the better system of each pair against 1 - p."""
    delta, p, adjusted = panel.family.comparisons.arrays("delta", "p_value", "p_adjusted")
    decided = adjusted < panel.settings.alpha
    by = "" if panel.settings.correction == "none" else f" ({panel.settings.correction})"
    points = {
        (VERMILION, "^", f"significant{by}"): (np.abs(delta[decided]), p[decided]),
        (BLUE, "o", "not significant"): (np.abs(delta[~decided]), p[~decided]),
    }
    draw_points(axes, points)
    limit_gains(axes, np.abs(delta), p)
    axes.axhline(1.0 - panel.settings.alpha, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    title = f"{panel.caption}\n{panel.tested}, {words.count(len(delta), 'pair')}"
    set_words(axes, title, "gain of the better system", "1 − p")


def draw_points(axes: Axes, points: Mapping[tuple[str, str, str], tuple[Any, Any]]) -> None:
    """Gains and p-values `[pair]`, by their colour, marker and name, as points; the smaller set on top."""
    every = sum(len(gains) for gains, _ in points.values())
    for (color, marker, name), (gains, p_values) in points.items():
        if len(gains):
            style = {"color": color, "marker": marker, "label": name, "rasterized": every > MANY}
            style |= {"alpha": 0.25 if len(gains) > MANY else 0.7, "markersize": 3.5, "markeredgewidth": 0}
            axes.plot(gains, 1.0 - np.asarray(p_values), linewidth=0, zorder=2.5 - len(gains) / every, **style)


def limit_gains(axes: Axes, gains: np.ndarray, p_values: np.ndarray) -> None:
    """Show the gains of pairs with p from 0.001 on, which may not be significant, and say what is not shown."""
    close = (p_values >= 0.001) & (gains > 0.0)
    right = 1.5 * float(gains[close].max() if close.any() else gains.max())
    low = float(p_values[close].max()) if close.any() else 1.0
    axes.set_xlim(-0.01 * right, right or None)
    axes.set_ylim(1.0 - low - 0.03, 1.02)
    larger, equal = int((gains > right).sum()), int(((p_values > low) & (gains == 0.0)).sum())
    notes = [f"{words.count(larger, 'larger gain')} to the right"] * (larger > 0)
    notes += [f"{words.count(equal, 'pair')} below: gain 0"] * (equal > 0)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    axes.annotate("\n".join(notes), (0.98, 0.6), xycoords="axes fraction", fontsize=FONT, ha="right", bbox=box)


FigureKind = Literal["scores", "estimation", "forest", "heatmap", "groups", "null", "bootstrap", "gain"]
MANY_SYSTEMS = 12
"""More systems are drawn as a heat map when no kind is asked for."""
MAX_HEIGHT = 150.0  # inches; beyond, the file would be larger than viewers open


MOST_PAIRS = 10
"""Pairs of an estimation plot."""
DISTRIBUTIONS: dict[str, Test] = {"estimation": "bootstrap", "null": "permutation", "bootstrap": "bootstrap"}
"""The kinds that show distributions of pairs, and the test whose they are."""
FIGURES: dict[FigureKind, tuple[Callable[[Panel], tuple[float, float]], Callable[[Axes, Panel], None]]] = {
    "scores": (lambda panel: rows_size(panel, 8), draw_scores),
    "estimation": (lambda panel: (TWO_COLUMNS, 1.6 * _ROW * (len(panel.distributions) + 1)), draw_estimation),
    "forest": (lambda panel: rows_size(panel, 7), draw_forest),
    "heatmap": (heatmap_size, draw_heatmap),
    "groups": (lambda panel: diagram_size(*_grouped(panel)), draw_groups),
    "null": (lambda panel: (ONE_COLUMN, 1.5), draw_distribution),
    "bootstrap": (lambda panel: (ONE_COLUMN, 1.5), draw_distribution),
    "gain": (lambda panel: (ONE_COLUMN, 1.8), draw_gain),
}
"""The inches of the inside of a panel of each kind (its width with names), and what draws it."""


def plot(
    report: ReportRecord,
    name: FigureKind | None,
    metric: str | None,
    test: Test | None,
    pair: tuple[str, str] | None,
    ax: Axes | None,
    *,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
) -> Figure | Axes:
    """The report as a figure, or the axes that it was drawn into; see `Report.plot`."""
    chosen, known = default_figure(report) if name is None else name, get_args(FigureKind)
    if chosen not in known:
        close = " or ".join(map(repr, meant(chosen, known)))
        hint = f"did you mean {close}?" if close else f"expected one of {', '.join(known)}"
        raise InputError(f"no kind of figure {chosen!r}; {hint}")
    if pair is not None and chosen not in DISTRIBUTIONS:
        joined = words.joined(list(DISTRIBUTIONS))
        raise InputError(f"figure {chosen}: shows all systems; {Hint('pair')} is for {joined}")
    metrics = list(dict.fromkeys(system.metric for system in report.systems))
    metric = metric if metric is None else meant_among(metric, metrics)
    if metric is not None and metric not in metrics:
        raise InputError(f"the report has no metric {metric!r}; expected one of {', '.join(metrics)}")
    sections = (section for section in blocks(report) if metric in (None, section.metric))
    panels = [each for section in sections for each in _panels(report, section, chosen, test, pair)]
    size, draw = FIGURES[chosen]
    if ax is not None and len(panels) != 1:
        raise InputError(f"ax is for one panel: give {Hint('metric')}, and {Hint('test')} where there are several")
    sized = [(*size(panel), lambda axes, panel=panel: draw(axes, panel)) for panel in panels]
    is_split = bool(panels[-1].rows.start)  # into parts of the same rows
    into = None if ax is None else [ax]
    figure = draw_panels(sized, into, report.signature, share_x=is_split, figsize=figsize, title=title)
    return figure if ax is None else ax


def draw_panels(
    panels: Sequence[tuple[float, float, Callable[[Axes], None]]],
    into: Sequence[Axes] | None,
    about: str,
    *,
    share_x: bool = False,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw panels of so many inches into axes, or into a new figure: two in a row where they fit, and one legend.

    A `figsize` is that of the figure, whatever its panels ask for; a `title` replaces that of a single panel, and is
    above several.
    """
    if figsize is not None and (np.shape(figsize) != (2,) or not all(0.0 < inches < np.inf for inches in figsize)):
        raise InputError(f"figsize: expected width and height in inches, such as (7, 4), got {figsize!r}")
    if into is not None and figsize is not None:
        raise InputError(
            "figsize: is for a new figure, and ax has one; give figsize where you make it, or leave out ax"
        )
    if into is not None and title is not None and len(into) > 1:
        raise InputError(f"title: is for one panel, and these are {len(into)}; set the titles of the axes afterwards")
    if into is None:
        return _new_figure(panels, about, share_x=share_x, figsize=figsize, title=title)
    with _in_our_words(set()):
        for each, (_, _, draw) in zip(into, panels, strict=True):
            draw(each)
            _set_title(each, title)
            break_lines(each.figure, [each])  # pyright: ignore[reportArgumentType]
            draw_legend(each.figure, [each], each)  # pyright: ignore[reportArgumentType]
    return into[0].figure  # pyright: ignore[reportReturnType]


def _set_title(axes: Axes, title: str | None) -> None:
    """Replace the title of a panel by another, if there is one."""
    if title is not None:
        axes.set_title(plain(title), fontsize=FONT, loc="left")


def _new_figure(
    panels: Sequence[tuple[float, float, Callable[[Axes], None]]],
    about: str,
    *,
    share_x: bool,
    figsize: tuple[float, float] | None,
    title: str | None,
) -> Figure:
    """Draw panels into a new figure; see `draw_panels`."""
    widest = max(width for width, _, _ in panels)
    columns = 2 if len(panels) > 1 and 2 * widest <= max(TWO_COLUMNS, figsize[0] if figsize else 0.0) else 1
    heights = [max(height for _, height, _ in panels[at : at + columns]) for at in range(0, len(panels), columns)]
    if sum(heights) > MAX_HEIGHT:
        raise InputError(f"{len(panels)} panels of so many systems do not fit into one figure; give {Hint('metric')}")
    figure = empty_figure(*(figsize or (columns * widest, 1.0 + sum(heights))), about)
    axes = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights)
    for each, (_, _, draw) in zip(axes.flat, panels, strict=False):
        draw(each)
        if share_x and each is not axes.flat[0]:
            each.sharex(axes.flat[0])
    for each in axes.flat[len(panels) :]:
        each.set_axis_off()
    if len(panels) == 1:
        _set_title(axes.flat[0], title)
    elif title:
        figure.suptitle(plain(title), fontsize=FONT + 1)
    draw_legend(figure, list(axes.flat[: len(panels)]))
    break_lines(figure, figure.axes)
    figure.draw_without_rendering()
    if figsize is None:
        inside = sum(each.get_window_extent().height for each in axes[:, 0]) / figure.dpi
        figure.set_figheight(figure.get_figheight() + sum(heights) - inside)  # as high as the panels need
    return figure


def default_figure(report: ReportRecord) -> FigureKind:
    """What suits a report: the distribution of a pair, scores, differences to a baseline, or all pairs."""
    if len(report.comparisons.groups()) == len(report.comparisons):
        return "forest" if report.compute_distribution is None else "null"
    if report.settings.baseline is not None:
        return "forest"
    return "scores" if len({one.name for one in report.systems}) <= MANY_SYSTEMS else "heatmap"


def _panels(
    report: ReportRecord, section: Section, figure: FigureKind, test: Test | None, pair: tuple[str, str] | None
) -> list[Panel]:
    families = [each for each in section.families if test in (None, each.test)]
    if not families:
        tests = ", ".join(family.test for family in section.families)
        missing = f"{test} test of {section.metric}; it has {tests}" if tests else "pairs"
        raise InputError(f"the report has no {missing}")
    panel = Panel(section, families[0], section.metric in report.lower_is_better)
    if figure in DISTRIBUTIONS:
        family = next((each for each in section.families if each.test == DISTRIBUTIONS[figure]), panel.family)
        return [panel._replace(family=family, distributions=tuple(_distributions(report, family, figure, pair)))]
    if figure in ("scores", "forest") and _LONG < len(section.systems):
        drawn = min(len(section.systems), MAX_ROWS)
        parts = [slice(0, (drawn + 1) // 2), slice((drawn + 1) // 2, drawn)]
        return [panel._replace(family=each, rows=part) for each in families[:1] for part in parts]
    return [panel._replace(family=each) for each in (families[:1] if figure == "scores" else families)]


def _distributions(
    report: ReportRecord, family: PairFamily, figure: FigureKind, pair: tuple[str, str] | None
) -> Iterator[tuple[Distribution, Comparison | None]]:
    """Of a pair, by default the two best; for "estimation" of the best systems minus the best or the baseline."""
    metric, test, (reference, others) = family.systems[0].metric, DISTRIBUTIONS[figure], family.against()
    ranked = [one.name for one in family.systems if one.name in others][:MOST_PAIRS]
    if figure != "estimation":
        if pair is None:
            first, is_directed = others[ranked[0]], report.settings.alternative != "two-sided"
            pair = (first.a, first.b) if is_directed or report.settings.baseline else (reference, ranked[0])
        comparison = report.comparisons[*pair, metric, test] if family.test == test else None
        yield report.distribution(*pair, metric=metric, test=test), comparison
        return
    if pair is not None:
        ranked, others = pair[:1], {pair[0]: report.comparisons[*pair, metric, family.test]}
    elif family.only is not None:
        ranked, others = [family.only.a], {family.only.a: family.only}
    for name in ranked:
        drawn = report.distribution(others[name].a, others[name].b, metric=metric, test=test)
        yield drawn if drawn.a == name else drawn.turned(), others[name]
