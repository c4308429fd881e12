"""Pairs whose tests without sampling are the same problem, so that each is computed once.

Systems that are right or wrong on each unit (or differ in one statistic of two values) leave few problems: two pairs
with as many units on which only the first, and only the second, system has the higher value have the same differences
but for their order. A thousand systems on 200 units have half a million pairs and some thousand problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigjax.inference.linear import slope_in
from sigjax.inference.outcome import Case, Pair

_LARGEST = 2**24
"""Units up to which counts are exact in single precision."""
_BLOCK = 2**20
"""Pairs whose counts are looked up together."""


class Alike(NamedTuple):
    """Pairs sorted by problem."""

    first: list[Pair]
    """[problem] its first pair, which stands for all."""
    which: np.ndarray
    """[pair] the problem of each pair."""


def alike(case: Case) -> Alike:
    """Sort the pairs of a case by problem; each has its own where problems cannot be told apart by counting.

    A problem is the number of units on which the first system has the higher value, and on which the second has. It
    decides the law of delta where systems differ in one statistic that takes two values, and the score is linear in it.
    """
    question = case.question
    ones = _ones(case)
    if ones is None:
        return Alike(question.pairs, np.arange(len(question.members)))
    both, totals = ones @ ones.T, ones.sum(axis=1).astype(np.int64)
    keys = np.empty(len(question.members), np.int64)
    for start in range(0, len(keys), _BLOCK):
        a, b = question.members[start : start + _BLOCK].T
        shared = both[a, b].astype(np.int64)
        keys[start : start + _BLOCK] = (totals[a] - shared) * _LARGEST + (totals[b] - shared)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)  # problems in the order of their first pairs
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Alike([question.pair(pair) for pair in first[order]], place[which].astype(np.int32))


def _ones(case: Case) -> np.ndarray | None:
    """`[system, unit]` float32: 1 where a system has the higher of two values; None where there are more."""
    units = case.units
    differing = np.flatnonzero((units.values != units.values[:1]).any(axis=(0, 1)))
    if case.settings.design in ("crossed", "models") or differing.size != 1 or units.values.shape[1] >= _LARGEST:
        return None
    column = units.values[:, :, differing[0]]
    low, high = column.min(), column.max()
    if not ((column == low) | (column == high)).all() or slope_in(case, int(differing[0])) is None:
        return None
    return (column == high).astype(np.float32)
