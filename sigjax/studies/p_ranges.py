"""Ranges of p-values, into which studies sort the winners of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sigjax.records import InputError
from sigjax.records.options import option

TABLE_1 = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 1.0)
"""Ends of ranges of p: those of Table 1 of Berg-Kirkpatrick et al. (2012), and what is below and above."""

Side = Literal["greater", "two-sided"]


@dataclass(frozen=True, kw_only=True)
class RangeOptions:
    """The options of studies that sort tests by their p-values."""

    p_range: Sequence[float] = option(
        (0.04, 0.06), "Two ends of a range of p.", "Both belong to it.", above=-1e-9, below=1.0 + 1e-9
    )
    alternative: Side = option(
        "greater",
        "p of the winner on the test set: one-sided for it, as in the paper, or two-sided.",
        "One-sided p is the probability of delta* >= delta where delta is the winner's score minus the other's.",
    )

    def range(self) -> tuple[float, float]:
        """The ends of the range.

        Raises:
            InputError: not two ends, in order.
        """
        if len(self.p_range) != 2 or not self.p_range[0] < self.p_range[1]:
            raise InputError(f"p_range must be two ends, the lower first, such as 0.04 0.06, got {self.p_range!r}")
        return self.p_range[0], self.p_range[1]

    def all_ranges(self) -> list[tuple[float, float]]:
        """The range asked for, then those of Table 1."""
        return [self.range(), *zip(TABLE_1[:-1], TABLE_1[1:], strict=True)]
