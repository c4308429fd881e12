"""The columns of p-values that every test writes: exact p-values, and p-values from counts of resamples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sigjax.exact.digits import PValue
from sigjax.records import Column, Columns, Comparisons

ExceedCounter = Callable[[np.ndarray, int, int], np.ndarray]
"""(indices of some pairs `[pair]`, first resample, end) -> number of hits among these resamples, `[pair]` int64."""


def exact_columns(p_values: Sequence[PValue] | np.ndarray, reasons: Column, methods: Column | None = None) -> Columns:
    """The columns of exact tests, from p-values `[pair]` (or `[pair, 3]`); p is NaN if a pair has no test.

    `reasons` explain why there is an exact test, or why there is none.

    >>> exact_columns([(0.5, -0.3, 0.0)], Column.of(["few units differ"])).column("exceed").tolist()
    [None]
    """
    count = len(p_values)
    bounds, never = np.full((count, 2), np.nan), np.zeros(count, bool)
    if not isinstance(p_values, np.ndarray):
        for row, (high, _, _, *low) in enumerate(p_values):
            bounds[row] = (*low, high) if low else np.nan
        p_values = np.array([each[:3] for each in p_values], np.float64)
    p_value, log10_p, error_bound = p_values.reshape(-1, 3).T
    if np.isneginf(log10_p).any():  # the observed outcome is one of those that are at least as extreme
        raise RuntimeError("internal error of sigjax: an exact test left out the observed outcome, so that p = 0")
    none = Column(never.astype(np.int64), never)
    return Columns(
        {
            "p_value": Column.unless_nan(p_value),
            "log10_p": Column.unless_nan(log10_p),
            "p_interval": Column.unless_nan(bounds),
            "error_bound": Column.unless_nan(error_bound),
            "method": methods or Column.constant("exact", count),
            "reason": reasons,
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
) -> Columns:
    """The columns of Monte Carlo tests, all `[pair]`.

    `exceed` is the number of resamples at least as extreme. If a test stopped by itself, `bounds` `[pair, 2]` are its
    bounds on the p-values of infinitely many resamples.
    """
    count = len(exceed)
    none, never = np.full((count, 2), np.nan), np.zeros(count, bool)
    return Columns(
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


def completed(pairs: Comparisons, sample: Callable[[np.ndarray, Column], Columns]) -> Comparisons:
    """The table of pairs after exact tests, completed by a test that samples the pairs without a p-value.

    `sample` takes the indices of these pairs and the reasons why they have no exact test, and returns their columns.
    """
    is_open = ~pairs.column("p_value").where_present
    if not is_open.any():
        return pairs
    rows = np.flatnonzero(is_open)
    return pairs.with_rows(rows, sample(rows, pairs.column("reason").at(rows)))


def montecarlo_p(exceed: np.ndarray | int, resamples: int) -> np.ndarray | float:
    r"""Monte Carlo p-value $(exceed + 1) / (K + 1)$: never 0, and valid at every level.

    `exceed` `[...]` counts resamples at least as extreme as observed, ties included. Reference: Davison and Hinkley
    (1997), section 4.2; Yeh (2000), section 3.1.

    >>> montecarlo_p(np.array([0, 9]), 999)
    array([0.001, 0.01 ])
    """
    return (exceed + 1) / (resamples + 1)
