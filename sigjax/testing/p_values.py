"""The columns of p-values that every test writes: exact ones, and those of counts of resamples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import ExactP
from sigjax.records import Column, Comparisons

ExceedCounter = Callable[[np.ndarray, int, int], np.ndarray]
"""(indices of some pairs `[pair]`, first resample, end) -> number of hits among these resamples, `[pair]` int64."""
_NONE = ExactP(math.nan, math.nan, math.nan)
"""Stands where there is no exact test."""


def exact_columns(results: Sequence[ExactP | NotEligible]) -> Comparisons:
    """The columns of exact tests; those that there are none of have no p-value, and the reason is why.

    >>> exact_columns([ExactP(0.5, -0.3, reason="few units differ")]).column("exceed").tolist()
    [None]
    """
    never, rows = np.zeros(len(results), bool), [each if isinstance(each, ExactP) else _NONE for each in results]
    p_value, log10_p, error_bound = np.array([row[:3] for row in rows], np.float64).reshape(-1, 3).T
    bounds = np.array([row.bounds or (math.nan, math.nan) for row in rows], np.float64).reshape(-1, 2)
    methods, reasons = [row.method for row in rows], [each.reason for each in results]
    none = Column(never.astype(np.int64), never)
    return Comparisons(
        {
            "p_value": Column.unless_nan(p_value),
            "log10_p": Column.unless_nan(log10_p),
            "p_interval": Column.unless_nan(bounds),
            "error_bound": Column.unless_nan(error_bound),
            "method": Column.of(methods),
            "reason": Column.of(reasons),
            "exceed": none,
            "resamples": none,
        }
    )


def sampled_columns(
    exceed: np.ndarray,
    p_values: np.ndarray,
    resamples: int | np.ndarray,
    reasons: Column,
    bounds: np.ndarray | None = None,
) -> Comparisons:
    """The same columns of Monte Carlo tests, all `[pair]`.

    `exceed` are the resamples at least as extreme, and `bounds` `[pair, 2]` those of the p-values of infinitely many
    resamples by which a test has stopped.
    """
    count = len(exceed)
    none, never = np.full((count, 2), np.nan), np.zeros(count, bool)
    return Comparisons(
        {
            "p_value": Column(p_values),
            "log10_p": Column(np.fromiter(map(math.log10, p_values.tolist()), np.float64)),
            "p_interval": Column(none, never) if bounds is None else Column(bounds),
            "error_bound": Column(none[:, 0], never),
            "method": Column.constant("montecarlo", count),
            "reason": reasons,
            "exceed": Column(exceed),
            "resamples": Column(np.full(count, resamples)),
        }
    )


def completed(pairs: Comparisons, sample: Callable[[np.ndarray, Comparisons], Comparisons]) -> Comparisons:
    """The columns of all pairs: of the exact tests, and of a test that samples the others.

    `sample` takes the indices of the other pairs, and the columns of all, and gives the columns of those pairs.
    """
    is_exact = pairs.column("p_value").where_present
    if is_exact.all():
        return pairs
    known, others = np.flatnonzero(is_exact), np.flatnonzero(~is_exact)
    order = np.argsort(np.concatenate([known, others]))
    return Comparisons.joined([pairs.at(known), sample(others, pairs)]).at(order)


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$: never 0, and valid at every level.

    `exceed` `[...]` counts resamples at least as extreme as observed, ties included. Reference: Davison and Hinkley
    (1997), section 4.2; Yeh (2000), section 3.1.

    >>> montecarlo_p(np.array([0, 9]), 999)
    array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)
