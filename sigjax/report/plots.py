"""Figures of reports: which kinds there are, which suits a report, and how each is drawn.

Sizes are those of one and two columns of a paper, and colours those that everyone can tell apart. A row per system:
scores, differences to one system, groups that cannot be told apart. All pairs: a heat map of adjusted p-values, and
gains against p-values. One pair: its null and bootstrap distribution.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

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
from sigjax.report.sections import MAX_NUMBERS, PairFamily, Section, blocks, decided, mark, thresholds, turned_delta
from sigjax.report.words import (
    ALTERNATIVES,
    count,
    format_adjusted_p,
    format_number,
    format_raw_p,
    interval_heading,
    is_significant,
    left_out,
    middle_cut,
    number_spec,
    percent,
    short_names,
)
from sigjax.version import install_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


ONE_COLUMN, TWO_COLUMNS = 3.35, 6.9
"""Inches of one and of both columns of the usual classes."""
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "0.55"
"""Of Okabe and Ito (2008): they differ for all kinds of colour vision."""
UNSETTLED = "#F3C98B"
"""Of pairs that more resamples could decide."""
BLUES = (BLUE, "#6FB1D6", "#C5E0EE")
"""Shades that differ in lightness, too."""
FONT = 7
_ROW, _PAGE, _SMALLEST_ROW = 0.19, 8.6, 0.06
"""Inches of a row, of the rows that fit a page, and of a row with the smallest letters that print (4 points)."""
_METADATA = {"pdf": ("Subject", "CreationDate"), "svg": ("Description", "Date"), "png": ("Description", None)}
"""Where files say what they are about, and when they were made."""
NAME = 25
"""Columns for a name."""


def empty_figure(width: float, height: float, about: str = "") -> Figure:
    """A figure of so many inches; nothing global is touched, so save it with `.savefig`.

    Files say what it is `about` in their metadata, and the same figure makes the same file; PDF files embed fonts as
    publishers ask for (TrueType).

    Raises:
        InputError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        command = install_command("matplotlib")
        raise InputError(f"figures need matplotlib, which is not installed; run: {command}") from None

    class ReportFigure(Figure):
        """A figure that notebooks show without pyplot, which would keep it in a global list."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=150)
            return stream.getvalue()

        def savefig(self, fname: Any, **how: Any) -> None:
            ending = str(how.get("format") or str(fname).rpartition(".")[2]).lower()
            key, date = _METADATA.get(ending, (None, None))
            if key is not None:
                known = {key: visible(about) or None} | ({date: None} if date else {})
                how["metadata"] = known | how.get("metadata", {})
            with rc_context({"pdf.fonttype": 42, "svg.hashsalt": "sigjax"}):
                super().savefig(fname, **how)

    return ReportFigure(figsize=(width, height), layout="constrained")


def plain(text: str) -> str:
    """Text in which matplotlib sees no mathematics, and fonts no control characters."""
    return "\n".join(map(visible, text.split("\n"))).replace("$", r"\$")


def row_height(rows: int) -> float:
    """Inches of a row: so many fit a page, as far as letters stay legible."""
    return max(_SMALLEST_ROW, min(_ROW, _PAGE / max(rows, 1)))


def row_font(rows: int) -> float:
    """Points of the labels of rows."""
    return min(FONT, 72 * 0.9 * row_height(rows))


def label_rows(axes: Axes, names: Sequence[str], right: Sequence[str] | None = None) -> None:
    """One row per name, the first on top; `right` are labels on the other side."""
    size = row_font(len(names))
    labels = [plain(name) for name in short_names(list(map(visible, names)), NAME)]
    axes.set_yticks(range(len(labels)), labels, fontsize=size)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=FONT - 1, length=2, width=0.6)
    axes.locator_params(axis="x", nbins=4)
    clear_sides(axes, "left", "right", "top")
    if right is not None:
        other = axes.secondary_yaxis("right")
        other.set_yticks(range(len(right)), [plain(each) for each in right], fontsize=size)
        other.tick_params(length=0)
        other.spines["right"].set_visible(False)


def clear_sides(axes: Axes, *sides: str) -> None:
    """Draw no line at these sides of a panel, and thin ones at the others."""
    for side, spine in axes.spines.items():
        spine.set_visible(side not in sides)
        spine.set_linewidth(0.6)


def set_words(axes: Axes, title: str, label: str, *, width: float, side: Literal["center", "right"] = "center") -> None:
    """The title of a panel of so many inches, and what is below it, in lines that fit; names leave room on the left."""
    letters = int(width * (15 if side == "right" else 14))
    above, below = (
        plain("\n".join(line for part in text.split("\n") for line in wrap(part, letters))) for text in (title, label)
    )
    axes.set_title(above, fontsize=FONT, loc=side)
    axes.set_xlabel(below, fontsize=FONT, loc=side, multialignment="center")


def legend_below(axes: Axes, **style: Any) -> None:
    """A legend below the label of the x axis."""
    from matplotlib.transforms import ScaledTranslation

    assert axes.figure is not None
    lines = axes.get_xlabel().count("\n") + bool(axes.get_xlabel())
    points = 18 + 1.3 * FONT * lines
    down = axes.transAxes + ScaledTranslation(0.0, -points / 72, axes.figure.dpi_scale_trans)
    style = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": down} | style
    legend = axes.legend(fontsize=FONT, frameon=False, borderpad=0.0, borderaxespad=0.0, **style)
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)


def intervals(axes: Axes, rows: Sequence[int], ends: Sequence[Interval | None], **style: Any) -> None:
    """An interval in each row that has one."""
    there = [(row, each) for row, each in zip(rows, ends, strict=True) if each is not None]
    if there:
        at, known = zip(*there, strict=True)
        width = min(1.6, 60 * row_height(len(rows)) / 6)
        axes.hlines(at, [each.low for each in known], [each.high for each in known], linewidth=width, **style)


MAX_ROWS = 300
"""Systems of one figure, from the best."""
_BAR = 0.11
"""Inches between the bars of groups."""


class Panel(NamedTuple):
    """What is drawn: a metric and, for kinds that show a test, a test; or one pair."""

    section: Section
    family: PairFamily
    lower_is_better: bool
    distribution: tuple[Distribution, Comparison | None] | None = None
    """How the delta of the pair varies, and what its test says, if the report has this test."""

    @property
    def systems(self) -> tuple[SystemScore, ...]:
        """Those that are drawn."""
        return self.section.systems[:MAX_ROWS]

    @property
    def caption(self) -> str:
        """The metric, what it was computed on, and what is left out."""
        shown, every = len(self.systems), len(self.section.systems)
        if shown == every:
            return self.section.caption
        return f"{self.section.caption}\n{left_out('figure', shown, every, every_pair='to_json() gives')}"

    @property
    def settings(self) -> Settings:
        """Of the report."""
        return self.family.settings


def rows_size(rows: int, width: float = ONE_COLUMN) -> tuple[float, float]:
    """Inches of a panel with so many rows."""
    return width, 0.85 + max(rows, 1) * row_height(rows)


def direction(panel: Panel) -> str:
    """That higher is better; the caption says where lower is."""
    return "" if panel.lower_is_better else "; higher is better"


def tested(panel: Panel) -> str:
    """The test and its alternative."""
    return f"{panel.family.test} test, {ALTERNATIVES[panel.settings.alternative]}"


def draw_scores(axes: Axes, panel: Panel) -> None:
    """Scores with intervals; an open point does not differ significantly from the best or the baseline."""
    systems, (reference, others) = panel.systems, panel.family.against()
    intervals(axes, range(len(systems)), [one.interval for one in systems], color=BLUES[1])
    size = _marker(len(systems))
    for row, one in enumerate(systems):
        fill = BLUE if one.name == reference else _fill(others.get(one.name))
        style = {"color": BLUE, "markerfacecolor": fill, "markeredgewidth": 0.2 * size}
        axes.plot([one.score], [row], "D" if one.name == reference else "o", markersize=size, **style)
    lettered = all(one.letters is not None and len(one.letters) <= 8 for one in systems)
    label_rows(axes, [one.name for one in systems], [one.letters or "" for one in systems] if lettered else None)
    what = "the best" if panel.settings.baseline is None else "the baseline"
    label = f"{panel.section.title}, {percent(panel.settings.level)} interval{direction(panel)}"
    label += f"\nopen: no significant difference to {what}"
    label += _key_of_unsettled([others[one.name] for one in systems if one.name in others])
    label += "\nsame letter: no significant difference" * lettered
    set_words(axes, panel.caption, label, width=ONE_COLUMN, side="right")


def draw_forest(axes: Axes, panel: Panel) -> None:
    """Differences to the baseline, or else to the best system, with intervals; a filled point is significant."""
    reference, others = panel.family.against()
    shown = {one.name: others[one.name] for one in panel.systems if one.name in others}
    deltas = [(each.delta, each.interval) if each.a == name else turned_delta(each) for name, each in shown.items()]
    axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
    intervals(axes, range(len(shown)), [interval for _, interval in deltas], color=BLUES[1])
    size = _marker(len(shown))
    for row, ((delta, _), one) in enumerate(zip(deltas, shown.values(), strict=True)):
        style = {"color": BLUE, "markerfacecolor": _fill(one), "markeredgewidth": 0.2 * size}
        axes.plot([delta], [row], "o", markersize=size, **style)
    # Else p may be of the other direction.
    directed = panel.settings.alternative == "two-sided" or panel.settings.baseline is not None
    label_rows(axes, list(shown), [format_adjusted_p(one) for one in shown.values()] if directed else None)
    p = "adjusted p" if len(panel.family.comparisons) > 1 and panel.settings.correction != "none" else "p"
    label = f"{panel.section.title}: difference to {middle_cut(reference, NAME)}"
    joint = [one.joint_pairs for one in shown.values()]
    label += f"\n{interval_heading(panel.settings, joint)}{direction(panel)}"
    label += f"\n{f'right: {p}; ' * directed}filled: significant (p < {panel.settings.alpha:g})"
    label += _key_of_unsettled(list(shown.values()))
    set_words(axes, f"{panel.caption}\n{tested(panel)}", label, width=ONE_COLUMN, side="right")


def _fill(comparison: Comparison | None) -> str:
    """Blue for a significant difference, white for none, the heat map's color where more resamples could decide."""
    if comparison is not None and is_significant(comparison):
        return BLUE
    return UNSETTLED if comparison is not None and comparison.settled is False else "white"


def _key_of_unsettled(comparisons: Sequence[Comparison]) -> str:
    return "\norange: not settled, more resamples could tell" * (UNSETTLED in map(_fill, comparisons))


def _marker(rows: int) -> float:
    """Points of a marker."""
    return min(4.0, 72 * 0.5 * row_height(rows))


def groups_size(panel: Panel) -> tuple[float, float]:
    """Inches of `draw_groups`."""
    names = min(NAME, max(len(one.name) for one in panel.systems))
    width = max(2.5, 1.2 + 0.06 * names + _BAR * len(_bars(_groups(panel))))
    return rows_size(len(panel.systems), min(TWO_COLUMNS, width))


def draw_groups(axes: Axes, panel: Panel) -> None:
    """Bars join systems no two of which differ significantly; a bar is thin where it passes others."""
    columns = _bars(_groups(panel))
    wide = min(3.0, 1.2 * _marker(len(panel.systems)))
    for x, groups in enumerate(columns):
        for members in groups:
            axes.vlines(x, members[0], members[-1], color=BLUES[1], linewidth=0.4)
            runs = np.split(members, np.flatnonzero(np.diff(members) > 1) + 1)
            low, high = [run[0] - 0.3 for run in runs], [run[-1] + 0.3 for run in runs]
            axes.vlines([x] * len(runs), low, high, color=BLUE, linewidth=wide)
    spec = number_spec(one.score for one in panel.systems)
    label_rows(axes, [one.name for one in panel.systems], [format_number(one.score, spec) for one in panel.systems])
    axes.set_xlim(-0.7, len(columns) - 0.3)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    p = f"{'' if panel.settings.correction == 'none' else 'adjusted '}p < {panel.settings.alpha:g}"
    label = f"on a bar: no two differ significantly\n({panel.family.test} test, {p})"
    set_words(axes, panel.caption, label, width=min(ONE_COLUMN, groups_size(panel)[0]), side="right")


def _groups(panel: Panel) -> list[list[int]]:
    """The groups, as positions of systems.

    Raises:
        InputError: not all pairs were tested, in both directions.
    """
    settings, row_of = panel.settings, {one.name: row for row, one in enumerate(panel.systems)}
    if settings.baseline is not None or settings.alternative != "two-sided":
        raise InputError("figure groups: needs a two-sided test of all pairs; use forest or scores")
    differs = np.zeros((len(row_of), len(row_of)), bool)
    for one, other in decided(panel.family.comparisons, settings):
        if one in row_of and other in row_of:
            differs[row_of[one], row_of[other]] = differs[row_of[other], row_of[one]] = True
    return letter_groups(differs)


def _bars(groups: Sequence[list[int]]) -> list[list[list[int]]]:
    """The groups in columns, in none of which bars touch."""
    columns: list[list[list[int]]] = []
    for members in groups:
        free = (column for column in columns if column[-1][-1] < members[0])
        column = next(free, None)
        if column is None:
            columns.append([members])
        else:
            column.append(members)
    return columns


NOT_SIGNIFICANT, EQUAL = "#EBEBEB", "#BDBDBD"
_NAME = 34
"""Columns for a name."""
_FEW = 5
"""Systems of a figure for one column."""


def heatmap_size(panel: Panel) -> tuple[float, float]:
    """Inches of `draw_heatmap`."""
    count = len(panel.systems)
    height = 0.3 if count <= MAX_NUMBERS else row_height(count)
    return ONE_COLUMN if count <= _FEW else TWO_COLUMNS, 1.0 + 0.3 * (count <= _FEW) + count * height


def draw_heatmap(axes: Axes, panel: Panel) -> None:
    """A cell per pair, shaded by its adjusted p-value, with the number where it fits.

    Raises:
        InputError: there is a baseline.
    """
    from matplotlib.colors import to_rgba

    family, count = panel.family, len(panel.systems)
    if family.settings.baseline is not None:
        raise InputError("figure heatmap: needs all pairs, and this report has a baseline; use forest or scores")
    shades = [*BLUES[: len(thresholds(family.settings)) - 1], BLUES[-1]]
    colors = dict(enumerate(shades)) | {"·": NOT_SIGNIFICANT, "?": UNSETTLED, "=": EQUAL}
    image, first, seen = np.zeros((count, count, 4)), family.first_column, set()
    numbers: list[Text] = []
    for i, line in enumerate(family.grid(count)):
        for j, one in enumerate(line, first):
            if one is None:
                continue
            seen.add(shade := mark(one))
            image[i, j] = to_rgba(colors[shade])
            if count <= MAX_NUMBERS:
                ink = "white" if shade == 0 else "black"
                numbers.append(axes.text(j, i, format_adjusted_p(one), ha="center", va="center", color=ink))
    names = 0.3 + 0.055 * max(min(len(one.name), _NAME) for one in panel.systems)
    points = 72 * (heatmap_size(panel)[0] - names) / max(count - first, 1)
    for number in numbers:
        number.set_fontsize(min(FONT - 1, points / (0.68 * max(len(each.get_text()) for each in numbers))))
    axes.imshow(image, aspect="auto", interpolation="nearest")
    _label(axes, [one.name for one in panel.systems], first)
    _legend(axes, panel, colors, seen)
    title = f"{panel.caption}\n{family.heading}"
    set_words(axes, title, "", width=heatmap_size(panel)[0], side="right")


def _label(axes: Axes, names: list[str], first: int) -> None:
    """Names and numbers at rows; at columns, which are on top, as many numbers as do not touch."""
    count, size = len(names), row_font(len(names))
    short = short_names(list(map(visible, names)), _NAME)
    labels = [f"{plain(name)}  {row}" for row, name in enumerate(short, 1)]
    axes.set_yticks(range(count), labels, fontsize=size)
    every = 1 if count <= 50 else 5 if count <= 110 else 10
    columns = [column for column in range(first, count) if (column + 1) % every == 0 or column == first]
    columns = [column for column in columns if column == first or column - first >= every / 2]
    axes.set_xticks(columns, [str(column + 1) for column in columns], fontsize=max(size, 5) if every > 1 else size)
    axes.xaxis.tick_top()
    axes.set_xlim(first - 0.5, count - 0.5)
    axes.tick_params(length=0, pad=2)
    clear_sides(axes, "left", "right", "top", "bottom")
    if count <= 60:
        edge = np.arange(first, count + 1) - 0.5
        axes.vlines(edge, -0.5, count - 0.5, color="white", linewidth=0.8)
        axes.hlines(np.arange(count + 1) - 0.5, first - 0.5, count - 0.5, color="white", linewidth=0.8)


def _legend(axes: Axes, panel: Panel, colors: dict[int | str, str], seen: set[int | str]) -> None:
    """What the shades mean: in the empty half of the grid, or below where it is full or too small."""
    from matplotlib.patches import Patch

    words: dict[int | str, str] = {shade: f"p < {limit:g}" for shade, limit in enumerate(thresholds(panel.settings))}
    words |= {"·": "not significant"}
    words |= {sign: word for sign, word in (("?", "not settled"), ("=", "equal scores")) if sign in seen}
    keys = [Patch(color=colors[shade], label=word) for shade, word in words.items()]
    if panel.family.first_column == 1 and len(panel.systems) > _FEW + 2:
        axes.legend(loc="lower left", bbox_to_anchor=(0.01, 0.01), handles=keys, fontsize=FONT, frameon=False)
    else:
        legend_below(axes, handles=keys, ncols=2 if len(panel.systems) <= _FEW else 5)


MANY = 1000
"""More points are drawn as an image, and faint."""


def draw_distribution(axes: Axes, panel: Panel) -> None:
    """A histogram whose shaded part is as extreme as the observed delta."""
    assert panel.distribution is not None
    (drawn, comparison), settings = panel.distribution, panel.settings
    edges, shares, extreme = (np.array(each) for each in (drawn.edges, drawn.shares, drawn.extreme))
    axes.stairs(shares, edges, fill=True, color=BLUES[1], linewidth=0)
    axes.stairs(extreme, edges, fill=True, color=VERMILION, linewidth=0, label=_tail(drawn, comparison, settings))
    top = 1.12 * shares.max()
    axes.axvline(drawn.observed, color="black", linewidth=1.0)
    if drawn.test == "bootstrap":
        axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":", label="no difference")
        if comparison is not None and comparison.interval is not None:
            name = f"{interval_heading(settings, [comparison.joint_pairs])} of delta"
            axes.hlines(0.94 * top, *comparison.interval, color=BLUE, linewidth=2.0, label=name)
    elif settings.alternative == "two-sided" and drawn.observed:
        axes.axvline(-drawn.observed, color="black", linewidth=0.8, linestyle="--", label="as far on the other side")
    axes.set_xlim(*_range(drawn))
    axes.set_ylim(0.0, top)
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
    axes.set_ylabel("share of resamples" if drawn.resamples else "probability", fontsize=FONT)
    above, spec = axes.secondary_xaxis("top"), f"+{number_spec([drawn.observed, drawn.edges[-1]])}"
    above.set_xticks([drawn.observed], [f"observed {drawn.observed:{spec}}".replace("-", "−")], fontsize=FONT)
    above.tick_params(length=2)
    above.spines["top"].set_visible(False)
    clear_sides(axes, "right", "top")
    how = f"first {drawn.resamples:,} resamples" if drawn.resamples else "exact"
    what = "null hypothesis" if drawn.test == "permutation" else "bootstrap"
    a, b = (middle_cut(name, NAME) for name in (drawn.a, drawn.b))
    set_words(axes, panel.caption, f"{a} − {b}\n{what}, {how}", width=ONE_COLUMN)
    legend_below(axes)


def _range(drawn: Distribution) -> tuple[float, float]:
    """From where to where there is something to see."""
    shares = np.array(drawn.shares)
    seen = np.flatnonzero(shares > 2e-4 * shares.max())
    points = [drawn.edges[seen[0]], drawn.edges[seen[-1] + 1], drawn.observed]
    points += [-drawn.observed] if drawn.test == "permutation" else [0.0]
    margin = 0.04 * (max(points) - min(points))
    return min(points) - margin, max(points) + margin


def _tail(drawn: Distribution, comparison: Comparison | None, settings: Settings) -> str:
    away = drawn.test == "bootstrap" and settings.alternative == "two-sided"
    what = "as far from observed as 0" if away else "as extreme as observed"
    if comparison is None:
        return f"{what}: {sum(drawn.extreme):.3g}" if sum(drawn.extreme) else f"{what}: none"
    return f"{what} ({drawn.test} test: p = {format_raw_p(comparison)})".replace("p = <", "p < ").replace(
        "p = >", "p > "
    )


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
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
    axes.set_ylabel("1 − p", fontsize=FONT)
    clear_sides(axes, "right", "top")
    title = f"{panel.caption}\n{tested(panel)}, {count(len(delta), 'pair')}"
    set_words(axes, title, f"gain of the better system ({panel.section.title})", width=ONE_COLUMN)
    legend_below(axes, ncols=2)


Look = tuple[str, str, str]
"""The colour, the marker and the name of points."""


def draw_points(axes: Axes, points: Mapping[Look, tuple[Any, Any]]) -> None:
    """Gains and p-values `[pair]` of each kind as points, the smaller set on top."""
    every = sum(len(gains) for gains, _ in points.values())
    for (color, marker, name), (gains, p_values) in points.items():
        if len(gains):
            style = {"color": color, "marker": marker, "label": name, "rasterized": every > MANY}
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


FigureKind = Literal["scores", "forest", "heatmap", "groups", "null", "bootstrap", "gain"]
MANY_SYSTEMS = 12
"""More systems are drawn as a heat map when no kind is asked for."""
MAX_HEIGHT = 150.0  # inches; beyond, the file would be larger than viewers open


DISTRIBUTIONS: dict[str, Test] = {"null": "permutation", "bootstrap": "bootstrap"}
"""The kinds that show a pair, and the test whose distribution it is."""
FIGURES: dict[FigureKind, tuple[Callable[[Panel], tuple[float, float]], Callable[[Axes, Panel], None]]] = {
    "scores": (lambda panel: rows_size(len(panel.systems)), draw_scores),
    "forest": (lambda panel: rows_size(len(panel.systems) - 1), draw_forest),
    "heatmap": (heatmap_size, draw_heatmap),
    "groups": (groups_size, draw_groups),
    "null": (lambda panel: (ONE_COLUMN, 2.6), draw_distribution),
    "bootstrap": (lambda panel: (ONE_COLUMN, 2.6), draw_distribution),
    "gain": (lambda panel: (ONE_COLUMN, 2.7), draw_gain),
}
"""The inches of a panel of each kind, and what draws it."""


def plot(
    report: ReportRecord,
    name: FigureKind | None,
    metric: str | None,
    test: Test | None,
    pair: tuple[str, str] | None,
    ax: Axes | None,
) -> Figure:
    """The report as a figure; see `Report.plot`."""
    chosen = default_figure(report) if name is None else check_figure(name)
    if pair is not None and chosen not in DISTRIBUTIONS:
        raise InputError(f"figure {chosen}: shows all systems, not a pair; {Hint('pair')} is for null and bootstrap")
    panels = [_panels(report, section, chosen, test, pair) for section in _sections(report, metric)]
    size, draw = FIGURES[chosen]
    if ax is not None:
        if sum(map(len, panels)) != 1:
            raise InputError(
                f"ax is for one panel: give {Hint('metric')}, and {Hint('test')} where the report has several"
            )
        draw(ax, panels[0][0])
        return ax.figure  # pyright: ignore[reportReturnType]
    sizes = np.array([[size(panel) for panel in line] for line in panels])
    if sizes[..., 0].max(axis=0).sum() > TWO_COLUMNS:  # tests below each other
        panels, sizes = [[panel] for line in panels for panel in line], sizes.reshape(-1, 1, 2)
    widths, heights = sizes[..., 0].max(axis=0), sizes[..., 1].max(axis=1)
    if heights.sum() > MAX_HEIGHT:
        raise InputError(f"{len(panels)} panels of so many systems do not fit into one figure; give {Hint('metric')}")
    figure = empty_figure(sum(widths), sum(heights), report.signature)
    axes = figure.subplots(len(heights), len(widths), squeeze=False, height_ratios=heights, width_ratios=widths)
    for line, row in zip(axes, panels, strict=True):
        for each, panel in zip(line, row, strict=True):
            draw(each, panel)
    return figure


def default_figure(report: ReportRecord) -> FigureKind:
    """What suits a report: the distribution of a pair, scores, differences to a baseline, or all pairs."""
    if len(report.comparisons.groups()) == len(report.comparisons):
        return "null" if report.compute_distribution is not None or report.distributions else "forest"
    if report.settings.baseline is not None:
        return "forest"
    return "scores" if len({one.name for one in report.systems}) <= MANY_SYSTEMS else "heatmap"


def check_figure(name: str) -> FigureKind:
    """Refuse an unknown kind."""
    known = get_args(FigureKind)
    if name not in known:
        close = " or ".join(map(repr, meant(name, known)))
        hint = f"did you mean {close}?" if close else f"expected one of {', '.join(known)}"
        raise InputError(f"no kind of figure {name!r}; {hint}")
    return name  # pyright: ignore[reportReturnType]


def _sections(report: ReportRecord, metric: str | None) -> Iterator[Section]:
    names = list(dict.fromkeys(system.metric for system in report.systems))
    if metric is not None and metric not in names:
        raise InputError(f"the report has no metric {metric!r}; expected one of {', '.join(names)}")
    return (section for section in blocks(report) if metric in (None, section.metric))


def _panels(
    report: ReportRecord, section: Section, figure: FigureKind, test: Test | None, pair: tuple[str, str] | None
) -> list[Panel]:
    families = [each for each in section.families if test in (None, each.test)]
    if not families:
        tests = ", ".join(family.test for family in section.families)
        raise InputError(
            f"the report has no {test} test of {section.metric}; it has {tests}" if tests else "the report has no pairs"
        )
    of_pair, shown = None, DISTRIBUTIONS.get(figure)
    if shown is not None:
        a, b = report.first_pairs(section.metric)[0] if pair is None else pair
        comparison = report.comparisons[a, b, section.metric, shown] if shown in report.settings.tests else None
        of_pair = report.distribution(a, b, metric=section.metric, test=shown), comparison
        families = [each for each in section.families if each.test == shown] or families
    lower, single = section.metric in report.lower_is_better, figure == "scores" or shown is not None
    return [Panel(section, family, lower, of_pair) for family in (families[:1] if single else families)]
