"""What the command `tests` takes beside files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sigjax.classical.classical import classical_tests
from sigjax.cli.options import Whole, WholeOrAuto
from sigjax.cli.output import text_options, write_text
from sigjax.records import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Alternative,
    Device,
    Evaluation,
    Resamples,
)


@Parameter(name="*")
@dataclass(frozen=True)
class TestQuestions:
    """What to ask of two systems."""

    alternative: Alternative = "two-sided"
    """Which differences (first system minus second) count as extreme."""
    method: Literal["auto", "exact", "montecarlo"] = "auto"
    """Of the resampling tests: exact, Monte Carlo, or auto."""
    resamples: Annotated[Resamples, WholeOrAuto] = DEFAULT_RESAMPLES
    """Number of Monte Carlo resamples, or auto."""
    seed: Annotated[int, Whole] = DEFAULT_SEED
    """Monte Carlo tests run with this seed and, as a check, with the next."""
    device: Device = "auto"
    """Changes the time, never the numbers."""
    format: Literal["text", "json"] = "text"
    """How to write the tests."""
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write to this file instead of the terminal."""

    def answer(self, evaluations: Sequence[Evaluation]) -> None:
        """Run all tests, metric by metric, and write them."""
        results = [
            classical_tests(
                each,
                alternative=self.alternative,
                method=self.method,
                resamples=self.resamples,
                seed=self.seed,
                device=self.device,
                progress=True,
            )
            for each in evaluations
        ]
        from sigjax.classical.text import to_json, to_text  # rich takes longer to import than most tests to run

        if self.format == "json":
            write_text(to_json(results), "json", self.output)
        else:
            options = text_options(self.output)
            write_text("\n".join(to_text(each, **options) for each in results), "text", self.output)
