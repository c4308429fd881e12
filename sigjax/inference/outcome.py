"""What a test says of one pair, before names and corrections."""

from typing import Literal, NamedTuple

from sigjax.records import Metric, Settings
from sigjax.units import Units

Pair = tuple[int, int]
"""(a, b), positions of two systems."""


class Outcome(NamedTuple):
    """The p-value of one pair and how it was found."""

    p_value: float
    log10_p: float
    method: Literal["exact", "dp", "tree", "montecarlo"]
    reason: str
    exceed: int | None
    """None when exact."""
    error_bound: float | None = None
    """Bound on the relative error of an exact p-value."""
    bracket: tuple[float, float] | None = None
    """What an exact p-value certainly lies between, where it is not known more closely."""


class Question(NamedTuple):
    """Which pairs to test, by position of the systems, and the observed differences."""

    pairs: tuple[Pair, ...]
    scores: tuple[float, ...]
    """[system]: observed scores."""
    tolerances: tuple[float, ...]
    """[system]: rounding error of a score."""

    def delta(self, pair: Pair) -> float:
        """Observed score_a - score_b."""
        return self.scores[pair[0]] - self.scores[pair[1]]

    def tolerance(self, pair: Pair) -> float:
        """Differences between deltas below this are rounding: the deltas are ties."""
        return 2.0 * (self.tolerances[pair[0]] + self.tolerances[pair[1]])


class Case(NamedTuple):
    """One evaluation and what is asked of it."""

    units: Units
    metric: Metric
    question: Question
    settings: Settings


class NotExact(ValueError):
    """An exact method was asked for and `pair` (positions; None for the bootstrap of all) has no exact test."""

    def __init__(self, pair: Pair | None, reason: str) -> None:
        super().__init__(reason)
        self.pair = pair
        self.reason = reason


class NotFinite(ValueError):
    """The metric gave NaN or infinity on resamples of the system or systems at these positions."""

    def __init__(self, systems: tuple[int, ...]) -> None:
        super().__init__(f"score is not finite for systems {systems}")
        self.systems = systems


class NotTraceable(ValueError):
    """The metric cannot run on the device that was asked for, because JAX cannot compile it."""
