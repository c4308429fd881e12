"""Pairs whose exact tests are the same problem, so that each problem is computed once.

Systems that are right or wrong on each unit (or differ in one statistic of two values) leave few problems: where two
pairs have equally many units on which only the first, and only the second, system has the higher value, their
differences are the same in another order. A thousand systems on 200 units have half a million pairs but some thousand
problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigjax.resample.tally import scores
from sigjax.testing.problem import Case, Pair

_LARGEST = 2**24
"""Units up to which counts are exact in single precision."""
_BLOCK = 2**20
"""Pairs that are counted together."""
_PLACES = 129
"""Number of sums at which linearity is checked."""
_LINEAR = 1e-11
"""Deviation from a line, relative to the largest score, that counts as rounding."""


class Alike(NamedTuple):
    """Pairs sorted by problem."""

    first: list[Pair]
    """[problem] its first pair, which represents all."""
    which: np.ndarray
    """[pair] the problem of each pair."""


def alike(case: Case) -> Alike:
    """Sort the pairs of a case by problem; where counting does not identify problems, each pair is its own.

    A problem is the number of units on which the first system has the higher value, and on which the second has. It
    decides the law of delta where systems differ in one statistic that takes two values, and the score is linear in it.
    """
    question = case.question
    ones = _ones_of_case(case)
    if ones is None:
        return Alike(question.pairs, np.arange(len(question.members)))
    # All pairs are one product; few pairs of many systems are not worth it.
    both = ones @ ones.T if len(question.members) > len(ones) else None
    totals = ones.sum(axis=1).astype(np.int64)
    keys = np.empty(len(question.members), np.int64)
    for start in range(0, len(keys), _BLOCK):
        a, b = question.members[start : start + _BLOCK].T
        shared = np.einsum("pu,pu->p", ones[a], ones[b]) if both is None else both[a, b]
        shared = shared.astype(np.int64)
        keys[start : start + _BLOCK] = (totals[a] - shared) * _LARGEST + (totals[b] - shared)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)  # problems in the order of their first pairs
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Alike([question.pair(pair) for pair in first[order]], place[which].astype(np.int32))


def num_problems(ones: np.ndarray) -> int:
    """How many different problems all pairs of systems have, from `ones_of` their statistics.

    Example:
        >>> num_problems(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]], np.float32))
        2
    """
    totals, num_units = ones.sum(axis=1).astype(np.int64), ones.shape[1]
    met = np.zeros((num_units + 1, num_units + 1), bool)
    for first, row in enumerate(ones[:-1]):
        shared = (ones[first + 1 :] @ row).astype(np.int64)
        met[totals[first] - shared, totals[first + 1 :] - shared] = True
    return int(met.sum())


def ones_of(values: np.ndarray) -> np.ndarray | None:
    """1 where a system has the higher of two values, `[system, unit]` float32; None where there are more.

    `values` `[system, unit, stat]` are all statistics; systems must differ in one of them only.
    """
    differing = np.flatnonzero((values != values[:1]).any(axis=(0, 1)))
    if differing.size != 1 or values.shape[1] >= _LARGEST:
        return None
    column = values[:, :, differing[0]]
    low, high = column.min(), column.max()
    return (column == high).astype(np.float32) if ((column == low) | (column == high)).all() else None


def _ones_of_case(case: Case) -> np.ndarray | None:
    """`ones_of` the units, where the score is linear in the statistic, and whole units are swapped."""
    values = case.units.values
    ones = None if case.settings.design in ("crossed", "models") else ones_of(values)
    if ones is None:
        return None
    stat = int(np.argmax((values != values[:1]).any(axis=(0, 1))))
    return None if slope_in(case, stat) is None else ones


def slope_in(case: Case, stat: int) -> float | None:
    """The slope of the score in the sum of a statistic, over all sums that N draws of units can have.

    None where the score is not linear in it. The other sums are those of the first system.
    """
    column = case.units.values[:, :, stat]
    count = column.shape[1]
    sums = np.linspace(count * float(column.min()), count * float(column.max()), _PLACES)
    found = scores_at(case, stat, sums)
    if not np.isfinite(found).all():
        return None
    line = np.linspace(found[0], found[-1], _PLACES)
    if np.abs(found - line).max() > _LINEAR * np.abs(found).max():
        return None
    run = sums[-1] - sums[0]
    return float((found[-1] - found[0]) / run) if run else 0.0


def scores_at(case: Case, stat: int, sums: np.ndarray) -> np.ndarray:
    """Scores where the sum of one statistic is each of `sums`, and the others are those of the first system."""
    table = np.tile(case.units.totals[0], (len(sums), 1))
    table[:, stat] = sums
    with np.errstate(all="ignore"):
        return scores(case.metric.score, table, case.units.divisors)
