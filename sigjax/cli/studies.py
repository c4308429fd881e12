"""What the commands of studies take, and how their results are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from sigjax.cli.options import Many, Whole
from sigjax.cli.output import write_figure, write_text
from sigjax.records import DEFAULT_SEED, Alternative, Device, Test


@Parameter(name="*")
@dataclass(frozen=True)
class Trials:
    """What studies of many trials take."""

    test: Annotated[list[Test] | None, Many] = None
    """Permutation or bootstrap, or both."""
    repetitions: Annotated[int | None, Whole] = None
    """How many pairs are made and tested."""
    resamples: Annotated[int, Whole] = 1999
    """Number of Monte Carlo resamples of each test."""
    seed: Annotated[int, Whole] = DEFAULT_SEED
    """The same seed gives the same numbers on every device."""
    alternative: Alternative = "two-sided"
    """Which differences (first system minus second) count as extreme."""
    device: Device = "auto"
    """Changes the time, never the numbers."""

    def options(self) -> dict[str, Any]:
        """As keyword arguments; what was left out has the study's own default."""
        given = {"test": self.test, "repetitions": self.repetitions}
        always = {
            "resamples": self.resamples,
            "seed": self.seed,
            "alternative": self.alternative,
            "device": self.device,
        }
        return {name: value for name, value in given.items() if value is not None} | always


@Parameter(name="*")
@dataclass(frozen=True)
class Results:
    """Where the results of a study go."""

    format: Literal["text", "json"] = "text"
    """How to write the results."""
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write to this file instead of the terminal."""

    def write(self, text: Callable[[], str], json: Callable[[], str]) -> None:
        """Write in the format asked for."""
        write_text(json() if self.format == "json" else text(), self.format, self.output)


@Parameter(name="*")
@dataclass(frozen=True)
class Figures:
    """Where the figure of a study goes."""

    figure: Path | None = None
    """Draw a figure to this file, too (.png, .pdf, .svg; needs matplotlib)."""

    def write(self, study: Any) -> None:
        """Draw the study, if asked."""
        if self.figure is not None:
            write_figure(study.plot(), self.figure)
