"""The heat map: adjusted p-values of all pairs, systems from best to worst."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sigjax.records import InputError
from sigjax.report.figure import (
    BLUES,
    FONT,
    ONE_COLUMN,
    TWO_COLUMNS,
    UNSETTLED,
    clear_sides,
    legend_below,
    plain,
    row_font,
    row_height,
    say,
)
from sigjax.report.names import short_names
from sigjax.report.pairs import MAX_NUMBERS, mark, thresholds
from sigjax.report.plot_rows import Panel
from sigjax.report.words import format_adjusted_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

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
    say(axes, title, "", width=heatmap_size(panel)[0], side="right")


def _label(axes: Axes, names: list[str], first: int) -> None:
    """Names and numbers at rows; at columns, which are on top, as many numbers as do not touch."""
    count, size = len(names), row_font(len(names))
    labels = [f"{plain(name)}  {row}" for row, name in enumerate(short_names(names, _NAME), 1)]
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
