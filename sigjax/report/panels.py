"""Figures of panels (`draw_panels`): sizes, colours, names of rows, titles, and one legend for all panels.

Sizes fit one or two columns of a paper, and colours work for all kinds of colour vision.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import sigjax.report.words as words
from sigjax.records import Hint, InputError, Interval
from sigjax.records.display import visible
from sigjax.version import install_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

ONE_COLUMN, TWO_COLUMNS = 3.35, 6.9
"""The width in inches of one column, and of both columns, in usual two-column papers."""
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The colours of Okabe and Ito (2008), which look different with all kinds of colour vision."""
BLUE, VERMILION, GREY = *PALETTE[:2], "0.55"
LOOKS = tuple(zip(PALETTE, "o^sDvPX", strict=True))
"""Pairs of a colour and a marker. Because markers differ, points look different even if printed without colour."""
UNDECIDED = "#F3C98B"
"""The colour of pairs that more resamples could decide."""
BLUES = (BLUE, "#6FB1D6", "#C5E0EE")
"""Shades of blue, from dark to light."""
FONT = 7
ROW, _PAGE, _SMALLEST_ROW = 0.19, 8.6, 0.06
"""In inches: `ROW` is the usual height of a row, `_PAGE` is the largest height of all rows together if they are to fit
on a page, and `_SMALLEST_ROW` is the height of a row with the smallest letters (4 points)."""
_DPI = 200
"""Pixels per inch, unless the user chooses another number on saving. Letters in notebooks then have 19 pixels."""
_MISSING = 5
"""A warning names at most this many characters that no font has."""
_METADATA = {"pdf": ("Subject", "CreationDate"), "svg": ("Description", "Date"), "png": ("Description", None)}
"""Dict from a file format to the names of two metadata fields: for the subject, and for the date (None if there is no
such field)."""
NAME, _FEWEST = 60, 12
"""In a figure, names are cut to `NAME` characters (few names are longer). If there is less room, they are cut to fewer
characters, but to at least `_FEWEST`."""
NAMES_SHARE = 1 / 2
"""Names and numbers beside a panel take at most this share of its width."""
MAX_HEIGHT = 150.0
"""The largest height of a figure in inches, because viewers do not open larger files."""
_INNER = 0.775
"""The share of a panel's width that matplotlib gives to the axes, before the layout makes room for names."""


def empty_figure(width: float, height: float, about: str = "") -> Figure:
    """Return an empty figure of this size in inches. Save it with `.savefig`, because pyplot does not know it.

    No global state of matplotlib changes. The metadata of files contain `about`. The same figure always gives the same
    file. PDF files embed TrueType fonts, as publishers require.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        command = install_command("matplotlib")
        raise InputError(f"figures need matplotlib, which is not installed; run: {command}") from None

    said = set[str]()

    class ReportFigure(Figure):
        """A figure that notebooks show without pyplot; pyplot would keep it in a global list."""

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
    """Context manager: if no font has some characters, one warning names these characters, instead of many warnings.

    `said` are the characters that earlier warnings named. Other warnings of matplotlib are dropped, because they are
    about the layout, which sigjax computes itself.
    """
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
    """Return the text without control characters, and so that matplotlib does not read it as math."""
    return "\n".join(map(visible, text.split("\n"))).replace("$", r"\$")


def row_height(rows: int) -> float:
    """Return the height of a row in inches: so low that all rows fit on a page while letters stay legible."""
    return max(_SMALLEST_ROW, min(ROW, _PAGE / max(rows, 1)))


def row_font(rows: int) -> float:
    """Return the size of the labels of rows in points, if the panel has this number of rows."""
    return min(FONT, 72 * 0.9 * row_height(rows))


def names_width(names: Sequence[str], rows: int) -> float:
    """Return the approximate width of the longest name in inches, if the panel has this number of rows."""
    return _letter(rows) * max([min(len(name), NAME) for name in names], default=0)


def _letter(rows: int) -> float:
    """Return the width of a letter in inches, if the panel has this number of rows."""
    return 0.0083 * row_font(rows)


def short_labels(names: Sequence[str], width: float, rows: int, beside: float = 0.0) -> list[str]:
    """Return the names, shortened so that half of the `width` (inches) stays free for the plotting area.

    Text on the other side of the panel takes `beside` inches.
    """
    columns = int((NAMES_SHARE * width - beside) / _letter(rows))
    return words.short_names(list(map(visible, names)), max(_FEWEST, min(NAME, columns)))


def label_rows(
    axes: Axes,
    names: Sequence[str],
    right: Sequence[str] | None = None,
    *,
    whole: bool = False,
    panels: int = 1,
    named: bool = True,
) -> None:
    """Label the rows with `names`, the first name at the top; `right` are labels on the other side.

    If names would take more than half of the width, they are shortened, unless `whole` is true. If several `panels`
    beside each other have the same rows, only the panel with `named` shows the names.
    """
    clear_sides(axes, "left", "right", "top")
    size, labels = row_font(len(names)), list(names)
    if not whole:
        width = panels * axes.get_window_extent().width / cast("Figure", axes.figure).dpi / _INNER
        labels = short_labels(names, width, len(names), panels * names_width(right or (), len(names)))
    axes.set_yticks(range(len(labels)), [plain(name) if named else "" for name in labels], fontsize=size)
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
    if right is not None:
        other = axes.secondary_yaxis("right")
        other.set_yticks(range(len(right)), [plain(each) for each in right], fontsize=size)
        other.tick_params(length=0)
        other.spines["right"].set_visible(False)


def clear_sides(axes: Axes, *sides: str) -> None:
    """Draw no line at these sides of a panel, thin lines at the other sides, and small ticks."""
    axes.tick_params(labelsize=FONT - 1, length=2, width=0.6)
    for side, spine in axes.spines.items():
        spine.set_visible(side not in sides)
        spine.set_linewidth(0.6)


def set_words(axes: Axes, title: str, label: str, beside: str | None = None) -> None:
    """Set the `title` of a panel and the `label` of its horizontal axis; `beside` is the label of its vertical axis.

    `draw_panels` later breaks the title and the label into lines, and moves the title to the left, to the start of the
    names. Only a panel whose vertical axis is a scale needs `beside`. Such a panel has no lines at the right and at the
    top.
    """
    axes.set_title(plain(title), fontsize=FONT, loc="left")
    axes.set_xlabel(plain(label), fontsize=FONT)
    if beside is not None:
        axes.set_ylabel(plain(beside), fontsize=FONT)
        clear_sides(axes, "right", "top")


def break_lines(figure: Figure, panels: Sequence[Axes]) -> None:
    """Break labels into lines as wide as a panel, and titles into lines as wide as a panel with its names."""
    for panel, (left, right) in _beside(figure, panels):
        for axes in (panel, *panel.child_axes):
            _break(axes.xaxis.label, axes.get_window_extent().width / figure.dpi)
        _break(_title(panel), (right - left) / figure.dpi)


def align_titles(figure: Figure, panels: Sequence[Axes]) -> None:
    """Align the titles of panels with the start of the names beside the panels."""
    for panel, (left, _) in _beside(figure, panels):
        place = panel.get_window_extent()
        _title(panel).set_x((left - place.x0) / place.width)


def _beside(figure: Figure, panels: Sequence[Axes]) -> Iterator[tuple[Axes, tuple[float, float]]]:
    """Yield for each panel its left end, including names, and its right end, including numbers beside it."""
    figure.draw_without_rendering()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # for characters that no font has, sigjax has already warned
        parts = [[each.get_tightbbox() for each in (panel.yaxis, *panel.child_axes)] for panel in panels]
    for panel, boxes in zip(panels, parts, strict=True):
        every = [panel.get_window_extent(), *(box for box in boxes if box is not None)]
        yield panel, (min(box.x0 for box in every), max(box.x1 for box in every))


def _title(panel: Axes) -> Text:
    return panel._left_title  # pyright: ignore[reportAttributeAccessIssue]


def _break(text: Text, inches: float) -> None:
    letters = int(17 * max(1.2, inches))
    lines = (wrap(line, letters, break_on_hyphens=False) for line in text.get_text().split("\n"))
    text.set_text("\n".join(each for broken in lines for each in broken))


def draw_legend(figure: Figure, panels: Sequence[Axes], below: Axes | None = None) -> None:
    """Draw one legend for all panels at the bottom of the figure; if `below` is given, below this panel.

    `below` is the only panel, in a figure of the user.
    """
    width = (figure if below is None else below).get_window_extent().width / figure.dpi
    keys = {
        "\n".join(wrap(name, int(17 * width - 8))): key
        for panel in panels
        for axes in cast("list[Axes]", [panel, *panel.child_axes])
        if hasattr(axes, "get_legend_handles_labels")  # axes for second scales have no legend
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
    """Draw the intervals `ends` in the rows `rows`. Nothing is drawn for an interval that is None."""
    if known := [(row, *each) for row, each in zip(rows, ends, strict=True) if each is not None]:
        axes.hlines(*zip(*known, strict=True), linewidth=min(1.6, 10 * row_height(len(rows))), **style)


def marker_size(rows: int) -> float:
    """Return the size of markers in points, if the panel has this number of rows."""
    return min(4.0, 72 * 0.5 * row_height(rows))


def draw_panels(
    panels: Sequence[tuple[float, float, Callable[[Axes], None]]],
    into: Sequence[Axes] | None,
    about: str,
    columns: int = 2,
    *,
    share_x: bool = False,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw panels and one legend into the axes `into`, or into a new figure with several panels per row if they fit.

    `panels` are triples: width and height of the panel in inches, and the function that draws it. `figsize` is the size
    of the figure, whatever size its panels need. `title` replaces the title of a single panel; several panels have it
    above them. `share_x`: whether all panels have the same horizontal scale. `about` is for the metadata of files.
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
        return _new_figure(panels, about, columns, share_x=share_x, figsize=figsize, title=title)
    with _in_our_words(set()):
        for each, (_, _, draw) in zip(into, panels, strict=True):
            draw(each)
            _set_title(each, title)
            break_lines(each.figure, [each])  # pyright: ignore[reportArgumentType]
            align_titles(each.figure, [each])  # pyright: ignore[reportArgumentType]
            draw_legend(each.figure, [each], each)  # pyright: ignore[reportArgumentType]
    return into[0].figure  # pyright: ignore[reportReturnType]


def _set_title(axes: Axes, title: str | None) -> None:
    """Replace the title of a panel, if `title` is given."""
    if title is not None:
        axes.set_title(plain(title), fontsize=FONT, loc="left")


def _new_figure(
    panels: Sequence[tuple[float, float, Callable[[Axes], None]]],
    about: str,
    columns: int,
    *,
    share_x: bool,
    figsize: tuple[float, float] | None,
    title: str | None,
) -> Figure:
    """Draw panels into a new figure; see `draw_panels`."""
    widest = max(width for width, _, _ in panels)
    columns = min(columns, len(panels))
    if columns * widest > max(TWO_COLUMNS, figsize[0] if figsize else 0.0) + 1e-9:
        columns = 1
    heights = [max(height for _, height, _ in panels[at : at + columns]) for at in range(0, len(panels), columns)]
    if sum(heights) > MAX_HEIGHT:
        raise InputError(f"{len(panels)} panels of so many systems do not fit into one figure; give {Hint('metric')}")
    figure = empty_figure(*(figsize or (columns * widest, 3.0 + sum(heights))), about)
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
    if figsize is None:
        figure.draw_without_rendering()
        inside = sum(each.get_window_extent().height for each in axes[:, 0]) / figure.dpi
        figure.set_figheight(figure.get_figheight() + sum(heights) - inside)  # the height that the panels need
    align_titles(figure, figure.axes)
    return figure
