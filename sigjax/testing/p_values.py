"""p-values: the outcomes of a test for one pair and for many, and intervals of Monte Carlo p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.records import Repeated, Settings
from sigjax.testing.tails import clopper_pearson

Way = Literal["exact", "dp", "tree", "montecarlo"]


class Outcome(NamedTuple):
    """The p-value of one pair and the method behind it."""

    p_value: float
    log10_p: float
    method: Way
    reason: str
    exceed: int | None
    """None when exact."""
    error_bound: float | None = None
    """Bound on the relative error of an exact p-value."""
    bracket: tuple[float, float] | None = None
    """Certain bounds of an exact p-value that is not known more closely; or see `stopping`."""
    resamples: int | None = None
    """Where a test with resamples="auto" stopped; None for the number in the settings."""


class Outcomes(NamedTuple):
    """The outcomes of many pairs, in columns; every array is `[pair]`."""

    p_value: np.ndarray
    log10_p: np.ndarray
    method: Repeated
    reason: Repeated
    exceed: np.ndarray
    """int64: -1 when exact."""
    error_bound: np.ndarray
    """NaN where there is none."""
    bracket: np.ndarray
    """[pair, 2]: NaN where there is none."""
    resamples: np.ndarray
    """int64: -1 for the number in the settings, and when exact."""

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Outcomes:
        """The columns of some outcomes.

        Example:
            >>> Outcomes.of([Outcome(0.5, -0.3, "exact", "one statistic differs", None)]).exceed
            array([-1])
        """
        fields = zip(*outcomes, strict=True) if outcomes else ((),) * len(Outcome._fields)
        p_value, log10_p, method, reason, exceed, error, bracket, resamples = fields

        def column(values: Sequence[Any], none: Any) -> np.ndarray:
            return np.array([none if value is None else value for value in values], np.asarray(none).dtype)

        return cls(
            column(p_value, np.nan),
            column(log10_p, np.nan),
            Repeated.of(method),
            Repeated.of(reason),
            column(exceed, np.int64(-1)),
            column(error, np.nan),
            column(bracket, (np.nan, np.nan)).reshape(-1, 2),
            column(resamples, np.int64(-1)),
        )

    @classmethod
    def sampled(cls, exceed: np.ndarray, p_value: np.ndarray, reasons: Repeated) -> Outcomes:
        """Monte Carlo tests, from counts and p-values `[pair]`, and why each pair is sampled."""
        return cls(
            p_value,
            np.fromiter(map(math.log10, p_value.tolist()), np.float64),
            Repeated.constant("montecarlo", len(exceed)),
            reasons,
            exceed,
            np.broadcast_to(np.nan, exceed.shape),
            np.broadcast_to(np.nan, (len(exceed), 2)),
            np.broadcast_to(-1, exceed.shape),
        )

    @property
    def is_sampled(self) -> np.ndarray:
        """Whether resamples estimate the p-value."""
        return self.exceed >= 0

    def at(self, rows: np.ndarray | slice) -> Outcomes:
        """The outcomes of some pairs."""
        columns: list[Any] = [each.at(rows) if isinstance(each, Repeated) else each[rows] for each in self]
        return Outcomes(*columns)

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """One part after the other."""
        if len(parts) == 1:
            return parts[0]
        columns: list[Any] = [
            Repeated.joined(each) if isinstance(each[0], Repeated) else np.concatenate(each)
            for each in map(list, zip(*parts, strict=True))
        ]
        return cls(*columns)


Draw = Callable[[np.ndarray, Repeated, np.ndarray], Outcomes]
"""(positions of pairs, why each is sampled, exact p-values of the others) -> outcomes of these pairs."""


def completed(found: Sequence[Outcome | NotEligible], which: np.ndarray, draw: Draw) -> Outcomes:
    """The outcomes of all pairs: the exact ones, and those of a test that samples the other pairs.

    Args:
        found: the exact outcome of each problem, or why there is none.
        which: `[pair]` the problem of each pair.
        draw: samples the pairs whose problems have no outcome.
    """
    is_exact = np.array([isinstance(each, Outcome) for each in found])
    exact = Outcomes.of([each for each in found if isinstance(each, Outcome)])
    if is_exact.all():
        return exact.at(which)
    # Index of each exact problem among the outcomes, and of each other problem among the reasons.
    rank = np.where(is_exact, np.cumsum(is_exact), np.cumsum(~is_exact)) - 1
    reasons = Repeated.of(each.reason for each in found if isinstance(each, NotEligible))
    known, places = np.flatnonzero(is_exact[which]), np.flatnonzero(~is_exact[which])
    of_known = exact.at(rank[which[known]])
    drawn = draw(places, reasons.at(rank[which[places]]), of_known.p_value)
    order = np.empty(len(which), np.int64)
    order[known], order[places] = np.arange(len(known)), len(known) + np.arange(len(places))
    return Outcomes.joined([of_known, drawn]).at(order)


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$: never 0, and valid at every level.

    `exceed` `[...]` counts resamples at least as extreme as observed, ties included. Reference: Davison and Hinkley
    (1997), section 4.2; Yeh (2000), section 3.1.

    Example:
        >>> montecarlo_p(np.array([0, 9]), 999)
        array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)


def p_intervals(outcomes: Outcomes, settings: Settings) -> np.ndarray:
    """Bounds `[pair, 2]` of p-values: those of the tests, else Clopper-Pearson for Monte Carlo ones, else NaN."""
    found = outcomes.bracket.copy()
    unknown = outcomes.is_sampled & np.isnan(found[:, 0])
    if unknown.any():
        ends = clopper_pearson(outcomes.exceed[unknown], settings.fixed_resamples, settings.level)
        found[unknown] = np.stack(ends, axis=1)
    return found
