"""Figures of reports: the kinds (`FIGURES`), the default kind of a report, and how to draw each kind.

Each kind draws the plotting area of a panel. For all kinds, `panels` draws titles and the legend, and makes room for
names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

import sigjax.report.words as words
from sigjax.metrics import meant_among
from sigjax.multiple.decisions import letter_groups
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
from sigjax.report.panels import (
    BLUE,
    BLUES,
    FONT,
    GREY,
    NAMES_SHARE,
    ONE_COLUMN,
    ROW,
    TWO_COLUMNS,
    UNDECIDED,
    VERMILION,
    draw_panels,
    intervals,
    label_rows,
    marker_size,
    names_width,
    row_font,
    row_height,
    set_words,
    short_labels,
)
from sigjax.report.sections import MAX_NUMBERS, PairFamily, Section, blocks, decided, mark, oriented, thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

MAX_ROWS = 300
"""If there are more systems than this, a figure shows only the best systems."""
_LONG, _INSIDE = 60, 1.7
"""`_LONG`: more rows than this are divided into two panels beside each other, so that letters stay legible. `_INSIDE`:
smallest width in inches of the plotting area of a panel, without the names beside it."""
_DIAMOND = "diamond"
_SMALLEST = 6
"""The size of the smallest letters inside a panel, in points."""
_TITLED = 36
"""In a title, longer names are cut to this number of characters."""


class Panel(NamedTuple):
    """The content of a panel: a metric, the test (if the kind of figure shows one), and the pairs or rows to draw."""

    section: Section
    family: PairFamily
    lower_is_better: bool
    distributions: tuple[tuple[Distribution, Comparison | None], ...] = ()
    """The distributions of the deltas of pairs, each with the result of its test (None if the report has no result)."""
    rows: slice = slice(MAX_ROWS)
    order: tuple[str, ...] = ()
    """The systems of the rows. If empty, the rows are the metric's systems in the order of their scores."""
    panels: int = 1
    """The number of panels beside each other that have the same rows, so that only one of them shows the names."""
    named: bool = True
    """Whether this panel shows the names."""

    @property
    def systems(self) -> tuple[SystemScore, ...]:
        """The systems that are drawn."""
        if self.order:
            system_of = {one.name: one for one in self.section.systems}
            return tuple(system_of[name] for name in self.order)
        return self.section.systems[self.rows]

    @property
    def caption(self) -> str:
        """The title of the panel: the metric, the data, and the number of systems that are left out."""
        every = len(self.section.systems)
        first, last, _ = self.rows.indices(every)
        if last - first == every:
            return self.section.caption
        part = f"systems {first + 1} to {last}"
        if every > MAX_ROWS and not first:
            part = words.left_out("figure", MAX_ROWS, every, every_pair="to_json() gives")
        return f"{self.section.caption}\n{part}"

    @property
    def settings(self) -> Settings:
        """The settings of the report."""
        return self.family.settings

    @property
    def tested(self) -> str:
        """The test and its alternative, in words."""
        return f"{self.family.test} test, {words.ALTERNATIVES[self.settings.alternative]}"

    @property
    def reference(self) -> str:
        """The name of the system with which the other systems are compared, or the words "the best", "the baseline"."""
        if len(self.distributions) == 1:
            return self.distributions[0][0].b
        return "the best" if self.settings.baseline is None else "the baseline"

    def interval(self, pairs: Sequence[Comparison | None] = ()) -> str:
        """Return words for the kind of the intervals, with "higher is better" if this is so.

        The caption has "lower is better". `pairs` are the pairs to which the intervals belong; there are none for
        intervals of scores.
        """
        heading = words.interval_heading(self.settings, [one.joint_pairs for one in pairs if one is not None])
        return heading + "; higher is better" * (not self.lower_is_better)


def rows_size(panel: Panel, columns: int = 0) -> tuple[float, float]:
    """Return the size in inches of a panel with a row for each system and its name on the left.

    `columns` is the number of letters on the right of a row.
    """
    rows = len(panel.systems)
    names = names_width([one.name for one in panel.systems], rows) + names_width(["0" * columns], rows)
    most = TWO_COLUMNS / 2 if len(panel.section.systems) > _LONG else TWO_COLUMNS / panel.panels
    width = max(ONE_COLUMN, names + _INSIDE, names / NAMES_SHARE)
    return min(most, width), max(rows, 1) * row_height(rows)


def draw_rows(axes: Axes, panel: Panel, looks: Sequence[str], points: Sequence[tuple[float, Interval | None]]) -> None:
    """Draw a point with an interval in each row, from `points`. `looks` are the colours that fill the points.

    The reference system is a diamond. Differences from it are significant if their points are filled.
    """
    to, size = panel.reference, marker_size(len(points))
    keys = {_DIAMOND: to, BLUE: f"significant difference to {to}", "white": f"no significant difference to {to}"}
    intervals(axes, range(len(points)), [ends for _, ends in points], color=BLUES[1])
    for look, key in {**keys, UNDECIDED: "undecided: more resamples could tell"}.items():
        if at := [row for row, each in enumerate(looks) if each == look]:
            fill, marker = (BLUE, "D") if look == _DIAMOND else (look, "o")
            style = {"color": BLUE, "markerfacecolor": fill, "markeredgewidth": 0.2 * size, "label": key}
            axes.plot([points[row][0] for row in at], at, marker, markersize=size, **style)


def draw_scores(axes: Axes, panel: Panel) -> None:
    """Draw scores with intervals. Open points do not differ significantly from the best system or the baseline."""
    systems, (reference, others) = panel.systems, panel.family.against()
    looks = [_DIAMOND if one.name == reference else _fill(others.get(one.name)) for one in systems]
    draw_rows(axes, panel, looks, [(one.score, one.interval) for one in systems])
    spec = words.number_spec(one.score for one in panel.section.systems)
    scores = [words.format_number(one.score, spec) for one in systems]
    label_rows(axes, [one.name for one in systems], scores, panels=panel.panels, named=panel.named)
    set_words(axes, panel.caption, f"score, {panel.interval()}")


def draw_forest(axes: Axes, panel: Panel) -> None:
    """Draw differences from the baseline, or else from the best system, with intervals.

    A difference is significant if its point is filled.
    """
    reference, others = panel.family.against()
    names = [one.name for one in panel.systems if one.name in others or panel.order]
    shown = {name: others[name] for name in names if name in others}
    looks = [_fill(shown[name]) if name in shown else _DIAMOND for name in names]
    axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
    points = [oriented(shown[name], name) if name in shown else (0.0, None) for name in names]
    draw_rows(axes, panel, looks, points)
    # If `directed` is false, p may be for the other direction than the delta that is drawn, so p is not shown.
    directed = panel.settings.alternative == "two-sided" or panel.settings.baseline is not None
    numbers = [words.format_adjusted_p(shown[name]) if name in shown else "" for name in names] if directed else None
    label_rows(axes, names, numbers, panels=panel.panels, named=panel.named)
    p = "adjusted p" if len(panel.family.comparisons) > 1 and panel.settings.correction != "none" else "p"
    to = "the best" if reference in panel.order else words.middle_cut(visible(reference), _TITLED)
    title = f"{panel.caption}\n{panel.tested}\ndeltas to {to}" if panel.named else panel.caption
    set_words(axes, title, f"delta, {panel.interval([*shown.values()])}" + f"\nright: {p}" * directed)


def _fill(comparison: Comparison | None) -> str:
    """Return the colour that fills a point: blue if the difference is significant.

    Else it is `UNDECIDED` if more resamples could make the difference significant, and white if not, or if there is no
    comparison.
    """
    if comparison is not None and words.is_significant(comparison):
        return BLUE
    return UNDECIDED if comparison is not None and comparison.decided is False else "white"


MAX_GROUPED, _BAR = 60, 0.5
"""`MAX_GROUPED`: a critical-difference diagram has at most this many systems (half on each side). `_BAR`: distance
between two bars, in rows."""


def _sides(names: Sequence[str], scores: Sequence[float]) -> tuple[list[str], list[str]]:
    """Return two lists of labels (name and score): left and right of a critical-difference diagram.

    The outermost label comes first. If names are long, all labels are on the right.
    """
    spec, half = words.number_spec(scores), len(names) // 2
    ascending = sorted(zip(scores[::-1], names[::-1], strict=True), key=lambda each: each[0])
    numbers = [words.format_number(score, spec) for score, _ in ascending]
    labels = [visible(name) for _, name in ascending]
    texts = list(zip(labels, numbers, strict=True))
    if 2 * names_width([f"{name} {score}" for name, score in texts], half) > NAMES_SHARE * TWO_COLUMNS:
        half = 0
        short = short_labels(labels, TWO_COLUMNS, len(labels), names_width([f"{numbers[0]}  "], len(labels)))
        texts = list(zip(short, numbers, strict=True))
    right = [f"{score}  {name}" for name, score in texts[half:]]
    return [f"{name}  {score}" for name, score in texts[:half]], right[::-1]


Groups = list[list[int]]
"""Groups of systems that do not differ significantly. A system is its position in the order from best to worst."""


def diagram_size(names: Sequence[str], scores: Sequence[float], groups: Groups) -> tuple[float, float]:
    """Return the size of the panel of `draw_diagram` in inches."""
    left, right = _sides(names, scores)
    height = (len(right) + _BAR * (len(_bars(groups)) + 1.5)) * row_height(len(right))
    beside = names_width(left, len(right)) + names_width(right, len(right))
    return min(TWO_COLUMNS, max(ONE_COLUMN, _INSIDE + beside, beside / NAMES_SHARE)), height


def draw_diagram(
    axes: Axes, names: Sequence[str], scores: Sequence[float], groups: Groups, title: str, key: str
) -> None:
    """Draw a critical-difference diagram: systems on a scale of scores, and bars that join systems.

    Each of `groups` (systems that do not differ significantly) gets a bar. `key` is the text that explains the bars.

    Reference: Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", section 3.2.4, with
    average ranks as the scale.
    """
    bars = _bars(groups)
    top, wide = -_BAR * (len(bars) + 1.5), min(2.5, marker_size(len(names)))
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
    """Draw the scores of a report with `draw_diagram`."""
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
    """Divide the groups into rows. Each group is drawn as a bar, and the bars in one row do not touch."""
    levels: list[Groups] = []
    for members in groups:
        level = next((level for level in levels if level[-1][-1] < members[0]), None)
        if level is None:
            levels.append(level := [])
        level.append(members)
    return levels


NOT_SIGNIFICANT, EQUAL = "#EBEBEB", "#BDBDBD"


def heatmap_size(panel: Panel) -> tuple[float, float]:
    """Return the size of the panel of `draw_heatmap` in inches."""
    number, names = len(panel.systems), names_width([one.name for one in panel.systems], len(panel.systems))
    width = max(ONE_COLUMN, 0.5 * number + names) if number <= 5 else TWO_COLUMNS
    return width, number * (0.3 if number <= MAX_NUMBERS else row_height(number))


def draw_heatmap(axes: Axes, panel: Panel) -> None:
    """Draw a cell for each pair, shaded by its adjusted p-value. The p-value is written in the cell if it fits."""
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
    names = short_labels(
        [one.name for one in panel.systems], heatmap_size(panel)[0], number, names_width("9999", number)
    )
    width = heatmap_size(panel)[0] - 0.3 - names_width(names, number)
    if numbers:
        widest = 0.68 * max(len(each.get_text()) for each in numbers)
        size = 72 * width / max(number - first, 1) / widest
        for text in numbers:
            text.set(fontsize=min(FONT - 1, size), visible=size >= _SMALLEST)
    axes.imshow(image, aspect="auto", interpolation="nearest")
    _label_cells(axes, names, first)
    legend = {shade: f"p < {limit:g}" for shade, limit in enumerate(limits)} | {"·": "not significant"}
    legend |= {sign: word for sign, word in (("?", "undecided"), ("=", "equal scores")) if sign in seen}
    for shade, word in legend.items():
        axes.plot([], [], "s", markersize=FONT, color=colors[shade], label=word)
    set_words(axes, f"{panel.caption}\n{family.heading}", "")


def _label_cells(axes: Axes, names: list[str], first: int) -> None:
    """Label rows with names and numbers, and columns (on top) with numbers. Labels that would touch are left out.

    `first` is the position in `names` of the system of the first column.
    """
    number, size = len(names), row_font(len(names))
    label_rows(axes, [f"{name}  {row}" for row, name in enumerate(names, 1)], whole=True)
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
    """Draw the scores of systems, and beside them the bootstrap distributions of their differences to one system.

    Scores have intervals, and so have differences whose comparison is in the report. This is a Cumming plot with one
    row per system. The reference system, to which the other systems are compared, comes first.

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
"""If there are more points than this, they are drawn faint, and as an image."""


def draw_distribution(axes: Axes, panel: Panel) -> None:
    """Draw a histogram of deltas. The shaded part is at least as extreme as the observed delta."""
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
    a, b = words.short_names([visible(drawn.a), visible(drawn.b)], 2 * _TITLED // 3)
    title = f"{panel.caption}\n{a} − {b}\n{drawn.observed:{spec}}, {p}"
    title = title.replace("p = <", "p < ").replace("p = >", "p > ")
    set_words(axes, title, f"delta {where}, {drawing(drawn)}", beside)


def drawing(drawn: Distribution) -> str:
    """Return a text that says how the distribution was computed."""
    return f"first {drawn.resamples:,} resamples" if drawn.resamples else "exact"


def draw_gain(axes: Axes, panel: Panel) -> None:
    """Draw a point for each pair: the gain of the better system, and 1 - p."""
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
    """Draw sets of points: a dict from (colour, marker, name) of a set to its gains and p-values `[pair]`.

    The smallest set is drawn on top.
    """
    every = sum(len(gains) for gains, _ in points.values())
    for (color, marker, name), (gains, p_values) in points.items():
        if len(gains):
            style = {"color": color, "marker": marker, "label": name, "rasterized": every > MANY}
            style |= {"alpha": 0.25 if len(gains) > MANY else 0.7, "markersize": 3.5, "markeredgewidth": 0}
            axes.plot(gains, 1.0 - np.asarray(p_values), linewidth=0, zorder=2.5 - len(gains) / every, **style)


def limit_gains(axes: Axes, gains: np.ndarray, p_values: np.ndarray) -> None:
    """Limit the axes to the gains and p-values of the pairs with p >= 0.001 and a gain above 0.

    If p is below 0.001, a gain is significant at all usual levels. The axis of gains ends at 1.5 times the largest gain
    of these pairs. A text says how many larger gains, and how many gains of 0, are not shown.
    """
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
"""If there are more systems than this, the default figure is a heat map."""


_NARROW = ("scores", "forest", "null", "bootstrap", "gain")
"""Kinds of narrow panels: three of them fit beside each other into two text columns."""
MOST_PAIRS = 10
"""An estimation plot shows at most this many pairs."""
DISTRIBUTIONS: dict[str, Test] = {"estimation": "bootstrap", "null": "permutation", "bootstrap": "bootstrap"}
"""Dict from the kinds of figures that show distributions of deltas to the test that computes the distribution."""
FIGURES: dict[FigureKind, tuple[Callable[[Panel], tuple[float, float]], Callable[[Axes, Panel], None]]] = {
    "scores": (lambda panel: rows_size(panel, 8), draw_scores),
    "estimation": (lambda panel: (TWO_COLUMNS, 1.6 * ROW * (len(panel.distributions) + 1)), draw_estimation),
    "forest": (lambda panel: rows_size(panel, 7), draw_forest),
    "heatmap": (heatmap_size, draw_heatmap),
    "groups": (lambda panel: diagram_size(*_grouped(panel)), draw_groups),
    "null": (lambda panel: (ONE_COLUMN, 1.5), draw_distribution),
    "bootstrap": (lambda panel: (ONE_COLUMN, 1.5), draw_distribution),
    "gain": (lambda panel: (ONE_COLUMN, 1.8), draw_gain),
}
"""Dict from a kind of figure to two functions. The first function returns the width and the height of a panel in inches
(the width includes the names of rows). The second function draws the panel."""


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
    """Draw the report, and return the figure; if `ax` is given, draw into `ax` and return it. See `Report.plot`.

    `name` is the kind of figure; None for the default kind of the report.
    """
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
    is_split = bool(panels[-1].rows.start)  # the panels show parts of the same rows
    columns = 2 if len(panels) == 4 or is_split or chosen not in _NARROW else 3
    if len(panels) > 1 and not is_split and chosen in ("scores", "forest"):
        panels = _sharing(panels, min(columns, len(panels)), chosen)
    size, draw = FIGURES[chosen]
    if ax is not None and len(panels) != 1:
        raise InputError(f"ax is for one panel: give {Hint('metric')}, and {Hint('test')} where there are several")
    sizes = [size(panel) for panel in panels]
    if len(panels) >= columns == 3:
        sizes = [(min(width, TWO_COLUMNS / 3), height) for width, height in sizes]
    sized = [(*each, lambda axes, panel=panel: draw(axes, panel)) for each, panel in zip(sizes, panels, strict=True)]
    into = None if ax is None else [ax]
    figure = draw_panels(sized, into, report.signature, columns, share_x=is_split, figsize=figsize, title=title)
    return figure if ax is None else ax


def _sharing(panels: Sequence[Panel], columns: int, chosen: FigureKind) -> list[Panel]:
    """Return the panels, with the same order of rows in all of them if all have the same systems.

    This is the order of the systems in the first panel. Then only the first of the `columns` panels beside each other
    shows the names. `chosen` is the kind of figure.

    A forest shows differences from a reference system. If the reference is the same system for all metrics, it has no
    row. Else it has a row, and its point is at 0 in the panels in which it is the reference.
    """
    order, compared = [one.name for one in panels[0].systems], {panel.family.against()[0] for panel in panels}
    if any({one.name for one in panel.systems} != set(order) for panel in panels):
        return list(panels)
    if chosen == "forest" and len(compared) == 1:
        order = [name for name in order if name not in compared]
    return [
        panel._replace(order=tuple(order), panels=columns, named=not place % columns)
        for place, panel in enumerate(panels)
    ]


def default_figure(report: ReportRecord) -> FigureKind:
    """Return the default kind of figure for a report; `Report.plot` describes the rule."""
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
    """Yield the distribution of a pair's delta (by default, of the two best systems), with the result of its test.

    For "estimation", yield the distributions of the best systems minus the reference system.
    """
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
