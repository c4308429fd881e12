"""How each kind of study is shown: its text and its drawing, one line each."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sigjax.records import InputError
from sigjax.report.figure import empty_figure, plain
from sigjax.studies.figures import AUDIT, POWER, Drawing
from sigjax.studies.shares_show import CALIBRATION, DOMAIN
from sigjax.studies.thresholds_show import GAINS, SIZE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN: dict[str, Drawing] = {
    "audit": AUDIT,
    "calibration": CALIBRATION,
    "domain": DOMAIN,
    "gains": GAINS,
    "power": POWER,
    "size": SIZE,
}
_LETTERS = 23
"""Letters of a signature per inch."""


def plotted(study: Any, ax: Any) -> Figure:
    """The study drawn into these axes, or into a new figure.

    Raises:
        InputError: matplotlib is not installed, or another number of axes than panels.
    """
    drawing = SHOWN[study._kind]
    width, heights, columns = drawing.layout(study)
    shape = len(heights), columns
    if ax is None:
        figure = empty_figure(width, 0.5 + sum(heights))
        axes = figure.subplots(*shape, squeeze=False, height_ratios=heights)
        signature = "\n".join(wrap(study.signature.replace("|", "| "), int(_LETTERS * width))).replace("| ", "|")
        figure.supxlabel(plain(signature), fontsize=6, color="0.4")
    else:
        axes = np.ravel(np.asarray(ax, object))
        if axes.size != math.prod(shape):
            raise InputError(f"ax must be {math.prod(shape)} axes of matplotlib, one per panel, got {axes.size}")
        axes = axes.reshape(shape)
    drawing.draw(study, axes)
    return axes[0, 0].figure
