"""Numbers that are large beside their differences, shifted to near 0 before anything rounds.

Time stamps in microseconds differ in their last digits. A double has 16 digits, and what a score loses by rounding is
relative to the score: too much for the difference of two. But a mean moves with its numbers. With $x_i - o_i c_i$ in
place of $x_i$, for counts $c_i$, no difference of two scores changes, on any resample, where systems share counts and
shifts $o_i$; and a score becomes less by o where all $o_i$ are o.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sigjax.metrics.ratios import mean_score, ratio_score
from sigjax.records import EvaluationRecord

_SMALL, _TIES = 2.0**22, 2.0**42
"""Up to the first sum of whole numbers, rounding is far below a step; from the second on, ties may be taken for it."""
_LARGE = 2.0**16
"""Numbers are large from this many times the size of what tells systems, or instances, apart."""
_ROUNDING = 2.0**-51
"""If real numbers vary by less than this part of their size, it is rounding."""
_LARGEST_DECIMAL = 2.0**51
"""Decimals of more steps than this do not differ from their neighbours among doubles."""
_MOST_DECIMALS, _FEW = 15, 16
_ANY = (-math.inf, math.inf)
"""Bounds of scores: others stay where they are."""


class Shifted(NamedTuple):
    """An evaluation with large numbers, shifted in three ways (to keep digits)."""

    deltas: EvaluationRecord
    """Every instance is shifted by a number that all systems share: deltas stay the same."""
    spreads: EvaluationRecord
    """The evaluation with each system shifted by its own number; deltas vary as before."""
    scores: EvaluationRecord
    """Every system is shifted by its own number: scores are smaller by `shifts`."""
    shifts: np.ndarray
    """[system] float64."""
    means: np.ndarray
    """[system] float64: the unshifted scores; for whole numbers and decimals they are rounded only once."""


def shifted(evaluation: EvaluationRecord) -> Shifted | None:
    """An evaluation shifted to near 0; None if its numbers are not large, or its score does not move with them.

    >>> from sigjax.metrics import evaluation_from_arrays
    >>> evaluation = evaluation_from_arrays({"A": [10**15 + 3, 10**15 + 1], "B": [10**15, 10**15]}, metric="mean")
    >>> found = shifted(evaluation)
    >>> found.deltas.stats[..., 0].tolist(), found.scores.stats[..., 0].tolist(), found.shifts.tolist()
    ([[3, 1], [0, 0]], [[1, -1], [0, 0]], [1000000000000002.0, 1000000000000000.0])
    """
    metric = evaluation.metric
    if metric.score is None or metric.score not in (mean_score, ratio_score) or metric.bounds != _ANY:
        return None
    stats = evaluation.stats
    if stats.dtype.kind == "i" and float(np.abs(stats[..., 0]).max()) * stats.shape[1] < _SMALL:
        return None
    if (stats[..., 1] <= 0).any():
        return None
    numbers = _numbers_of(evaluation)
    if not _are_large(numbers):
        return None
    values, counts, _ = numbers
    own = _middles(values, counts)
    shared = _shared(evaluation, values, counts)
    shared = own[:1] * counts if shared is None else shared
    shifts, scores = own[:, 0] / numbers.scale, _subtracted(evaluation, numbers, own * counts)
    if values.dtype.kind == "i" == counts.dtype.kind:
        sums = ((sum(top.tolist()), sum(bottom.tolist())) for top, bottom in zip(values, counts, strict=True))
        means = np.array([float(Fraction(top, bottom * numbers.scale)) for top, bottom in sums])
    else:
        means = shifts + metric.score(scores.stats.sum(axis=1))
    left = values - shared
    spreads = _subtracted(evaluation, numbers, shared + _middles(left, counts) * counts)
    return Shifted(_subtracted(evaluation, numbers, shared), spreads, scores, shifts, means)


def _shared(evaluation: EvaluationRecord, values: np.ndarray, counts: np.ndarray) -> np.ndarray | None:
    """A shift `[instance]` by what all systems have on an instance, whatever the run; None if counts differ."""
    if (counts != (counts[:1] if evaluation.runs is None else 1)).any():
        return None
    place = (len(values) - 1) // 2
    middle = np.partition(values, place, axis=0)[place]
    if evaluation.runs is None:
        return middle
    # Designs that treat runs separately exchange outputs of an instance, or whole runs.
    _, first, which = np.unique(np.array(evaluation.ids), return_index=True, return_inverse=True)
    return middle[first][which]


def shared_shift(evaluations: Sequence[EvaluationRecord]) -> float:
    """What all numbers of evaluations by one mean are shifted by: near those of one; 0 if none are large.

    Each can be shifted by it without rounding: if one has whole numbers, this is one, too.
    """
    found = (shifted(each) for each in evaluations)
    near = next((float(each.shifts[0]) for each in found if each is not None), 0.0)
    numbers = map(_numbers_of, evaluations if near else ())
    coarsest = min((each.scale for each in numbers if each.values.dtype.kind == "i"), default=None)
    return near if coarsest is None else round(near * coarsest) / coarsest


def shifted_by(evaluation: EvaluationRecord, shift: float) -> EvaluationRecord:
    """An evaluation by a mean, every number less by `shift`: one that `shifted` or `shared_shift` finds."""
    numbers = _numbers_of(evaluation)
    step = np.rint(shift * numbers.scale).astype(np.int64) if numbers.values.dtype.kind == "i" else shift
    return _subtracted(evaluation, numbers, step * numbers.counts)


class _Numbers(NamedTuple):
    """What a mean is of: values over counts, each `[system, instance]`."""

    values: np.ndarray
    """int64, in steps of 1 / scale, where all are whole numbers or decimals; else float64."""
    counts: np.ndarray
    """int64 if all are whole, else float64."""
    scale: int


def _numbers_of(evaluation: EvaluationRecord) -> _Numbers:
    values, counts = np.moveaxis(evaluation.stats, -1, 0)
    if (counts == np.rint(counts)).all():
        counts = counts.astype(np.int64)
    if values.dtype.kind == "i":
        return _Numbers(values, counts, 1)
    largest = float(np.abs(values).max())
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10**decimals
        if largest * scale > _LARGEST_DECIMAL:
            break
        # Few instances rule out most.
        if all(np.array_equal(np.rint(some * scale) / scale, some) for some in (values[:, :_FEW], values)):
            return _Numbers(np.rint(values * scale).astype(np.int64), counts, scale)
    return _Numbers(values, counts, 1)


def _middles(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A number near the mean of each system, `[system, 1]`; 0 if its products with counts would round."""
    if counts.dtype.kind != "i":
        return np.zeros((len(values), 1))
    if values.dtype.kind == "i":
        means = values.astype(np.float64).sum(axis=1, keepdims=True) / counts.sum(axis=1, keepdims=True)
        return np.rint(means).astype(np.int64)
    if (counts != 1).any():
        return np.zeros((len(values), 1))
    place = (values.shape[1] - 1) // 2
    return np.partition(values, place, axis=1)[:, place : place + 1]


def _subtracted(evaluation: EvaluationRecord, numbers: _Numbers, shift: np.ndarray) -> EvaluationRecord:
    """The evaluation with shifts `[..., instance]` subtracted from its values."""
    left = numbers.values - shift
    stats = evaluation.stats.copy()
    stats[..., 0] = left if numbers.scale == 1 else left / numbers.scale
    return replace(evaluation, stats=stats)


def _are_large(numbers: _Numbers) -> bool:
    """Whether rounding of scores may show beside what tells systems, or the instances of one, apart."""
    values, counts, scale = numbers
    if whole := values.dtype.kind == "i":
        sums = np.abs(values).sum(axis=1, dtype=np.float64).max()
        if sums < _SMALL or (scale == 1 and sums >= _TIES):
            return bool(sums >= _SMALL)
    else:  # squares stay within the range of a double
        values = np.ldexp(values, -math.frexp(float(np.abs(values).max()))[1])
    least, sizes = 0.0 if whole else _ROUNDING, _norms(values)
    apart = _norms(values - _middles(values, counts) * counts)
    return bool(_is_small(apart, sizes, least).any()) or _differ_little(values, least)


def _differ_little(values: np.ndarray, least: float) -> bool:
    """Whether two systems differ, or their differences vary, by little beside the numbers `[system, instance]`."""
    values = np.stack(list({row.tobytes(): row for row in values}.values()))
    sizes = _norms(values)
    near = (values - np.partition(values, len(values) // 2, axis=0)[len(values) // 2]).astype(np.float64)
    near -= near.mean(axis=1, keepdims=True)
    # Distances by one product, with errors far below what is looked for.
    squares = near @ near.T
    lengths = np.diag(squares)
    candidates = lengths[:, None] + lengths - 2.0 * squares < (2.0 / _LARGE * np.maximum(sizes[:, None], sizes)) ** 2
    for a, b in np.argwhere(np.triu(candidates, 1)).tolist():
        between = (values[a : a + 1] - values[b]).astype(np.float64)
        both = np.concatenate([between, between - between.mean()])
        if _is_small(_norms(both), max(sizes[a], sizes[b]), np.array([0.0, least])).any():
            return True
    return False


def _norms(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows.astype(np.float64), axis=1)


def _is_small(apart: np.ndarray, size: np.ndarray | float, least: np.ndarray | float) -> np.ndarray:
    return (apart > least * size) & (apart * _LARGE < size)
