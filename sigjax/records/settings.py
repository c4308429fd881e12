"""The options of a comparison, their defaults, and the error for what cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Array = Any
"""An array of NumPy or of JAX (possibly traced): whatever has `__array_namespace__`."""

Test = Literal["permutation", "bootstrap"]
Method = Literal["auto", "exact", "montecarlo", "dp", "tree"]
Alternative = Literal["two-sided", "greater", "less"]
Correction = Literal["holm", "hochberg", "bonferroni", "bh", "by", "maxt", "minp", "none"]
Family = Literal["metric", "report"]
IntervalKind = Literal[
    "auto", "percentile", "basic", "bca", "studentized", "inversion", "simultaneous", "two-way", "none"
]
Variant = Literal["shift", "flip"]
Design = Literal["together", "crossed", "nested", "models"]
Missing = Literal["error", "drop", "zero"]
Unit = Literal["instance", "response"]
Device = Literal["auto", "numpy", "cpu", "gpu"]
Library = Literal["pandas", "polars", "pyarrow"]
Resamples = int | Literal["auto"]

DEFAULT_SEED = 12345
DEFAULT_RESAMPLES = 100_000
DEFAULT_LEVEL = 0.95
DEFAULT_MEMORY = 1.0


class InputError(ValueError):
    """What a person gave cannot be used: the message names the place, what was expected and what to do."""

    __module__ = "sigjax"  # tracebacks name it as people import it


class Interval(NamedTuple):
    """An interval `[low, high]` on the scale of the number that it belongs to."""

    low: float
    high: float


@dataclass(frozen=True)
class Settings:
    """Everything that determines a report, given the data."""

    tests: tuple[Test, ...] = ("permutation",)
    method: Method = "auto"
    resamples: Resamples = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    alternative: Alternative = "two-sided"
    baseline: str | None = None
    correction: Correction = "holm"
    level: float = DEFAULT_LEVEL
    interval: IntervalKind = "auto"
    variant: Variant = "shift"
    """Null replicates of the bootstrap test: delta* - delta (shift) or delta - delta* (flip)."""
    mid_p: bool = False
    budget: float | None = None
    """Nominal seconds that exact tests may take; None for the default of the method."""
    memory: float = DEFAULT_MEMORY
    """GiB that an exact test of a pair may take, and bootstrap replicates half of it."""
    family: Family = "metric"
    """What p-values are adjusted over: the pairs of a metric, or the pairs of all metrics of the report."""
    leaderboard: bool = False
    """Whether bootstrap resamples are asked for the rank of each system and for the model confidence set."""
    design: Design = "together"
    """What becomes of repeated runs: a unit has them all, or they are exchanged (crossed) or drawn (nested) within, or
    they are trained models, which are exchanged whole (models)."""

    @property
    def alpha(self) -> float:
        """The threshold for p that belongs to the level."""
        return round(1 - self.level, 12)  # 1 - 0.95 is a little more than 0.05, and p = 0.05 would pass

    @property
    def fixed_resamples(self) -> int:
        """Number of resamples of what cannot stop by itself, such as the bootstrap: for "auto" the default number."""
        return DEFAULT_RESAMPLES if self.resamples == "auto" else self.resamples
