"""What is asked: the pairs of one evaluation by one metric, and the errors that only their tests can meet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigjax.records import Metric, SampleMetric, Settings
from sigjax.run.share import Share
from sigjax.units.units import Sample, Units

Pair = tuple[int, int]
"""(a, b), positions of two systems."""


class Question(NamedTuple):
    """Which pairs to test, by position of the systems, and the observed differences."""

    members: np.ndarray
    """[pair, 2] int32: (a, b)."""
    scores: tuple[float, ...]
    """[system]: observed scores."""
    tolerances: tuple[float, ...]
    """[system]: rounding error of a score."""

    @property
    def pairs(self) -> list[Pair]:
        """The pairs one by one."""
        return [(a, b) for a, b in self.members.tolist()]

    def pair(self, place: Any) -> Pair:
        """The pair at a place."""
        a, b = self.members[place].tolist()
        return a, b

    @property
    def deltas(self) -> np.ndarray:
        """Observed score_a - score_b, `[pair]`."""
        scores = np.array(self.scores)
        return scores[self.members[:, 0]] - scores[self.members[:, 1]]

    @property
    def rounding(self) -> np.ndarray:
        """The `tolerance` of each pair, `[pair]`."""
        tolerances = np.array(self.tolerances)
        return 2.0 * (tolerances[self.members[:, 0]] + tolerances[self.members[:, 1]])

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


class SampleCase(NamedTuple):
    """One evaluation by a metric that is no function of sums, and what is asked of it."""

    units: Sample
    metric: SampleMetric
    question: Question
    settings: Settings


class NotExact(ValueError):
    """An exact method was asked for and `pair` (positions; None for the bootstrap of all) has no exact test."""

    def __init__(self, pair: Pair | None, reason: str) -> None:
        super().__init__(reason)
        self.pair = pair
        self.reason = reason


class NotFinite(ValueError):
    """The metric gave NaN or infinity on resamples of the system or systems at these positions.

    Where several metrics are tested together, `metric` is the place of the one that did.
    """

    def __init__(self, systems: tuple[int, ...], metric: int = 0) -> None:
        super().__init__(f"score is not finite for systems {systems}")
        self.systems = systems
        self.metric = metric


def check_finite(scores: np.ndarray) -> None:
    """Refuse scores `[system, ...]` that are NaN or infinite.

    Raises:
        NotFinite: some are.
    """
    wrong = np.flatnonzero(~np.isfinite(scores).all(axis=tuple(range(1, scores.ndim))))
    if wrong.size:
        raise NotFinite((int(wrong[0]),))


def raise_together(error: NotFinite | None, share: Share) -> None:
    """Raise what this process, or else another one, has met; all processes call it at the same place.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    met = np.zeros((share.count, 3), np.int64)  # 1 + positions of the metric and of systems
    if error is not None:
        met[share.index, : 1 + len(error.systems)] = 1 + np.array((error.metric, *error.systems))
    met = share.total(met)
    if met.any():
        metric, *systems = met[met.any(axis=1)][0].tolist()
        raise NotFinite(tuple(system - 1 for system in systems if system), metric - 1)


class NotTraceable(ValueError):
    """The metric cannot run on the device that was asked for, because JAX cannot compile it."""
