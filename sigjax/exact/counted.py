"""The lattices of many pairs: where systems differ in one statistic of few values, differences are counted together."""

from collections.abc import Iterator, Sequence

import numpy as np

from sigjax.exact.lattice import Lattice, NotEligible, pair_lattice

_MOST_SIZES = 2**8
"""Sizes of differences up to which they are counted rather than sorted."""
_TOGETHER = 2**18
"""Differences that are counted at a time."""


def pair_lattices(
    values: np.ndarray, pairs: Sequence[tuple[int, int]], stat_names: tuple[str, ...]
) -> Iterator[Lattice | NotEligible]:
    """`pair_lattice` of some pairs of systems, from the statistics `[system, unit, stat]` (int64) of all.

    Example:
        >>> answers = np.array([[[1], [1], [0]], [[0], [1], [2]], [[0], [0], [0]]])
        >>> [each.rows.ravel().tolist() for each in pair_lattices(answers, [(0, 1), (0, 2), (1, 2)], ("right",))]
        [[1, 2], [1], [1, 2]]
    """
    varying = np.flatnonzero((values != values[:1]).any(axis=(0, 1))) if len(pairs) > 1 else np.zeros(0, np.intp)
    if varying.size != 1 or np.ptp(values[:, :, varying[0]]) > _MOST_SIZES:
        yield from (pair_lattice(values[a], values[b], stat_names) for a, b in pairs)
        return
    column, basis = values[:, :, varying[0]], np.eye(values.shape[2], dtype=np.int64)[varying]
    together = max(1, _TOGETHER // column.shape[1])
    for start in range(0, len(pairs), together):
        some = pairs[start : start + together]
        for (a, b), lattice in zip(some, _counted(column, np.array(some).T, basis), strict=True):
            yield lattice or pair_lattice(values[a], values[b], stat_names)


def _counted(column: np.ndarray, pairs: np.ndarray, basis: np.ndarray) -> Iterator[Lattice | None]:
    """The lattices of pairs `[2, pair]` by one statistic `[system, unit]`; None for identical systems."""
    apart = column[pairs[0]] - column[pairs[1]]
    sizes, width = np.abs(apart), int(np.ptp(column)) + 1
    flat = (sizes + width * np.arange(len(sizes))[:, None]).ravel()
    counts = np.bincount(flat, minlength=width * len(sizes)).reshape(-1, width)[:, 1:]
    divisors = np.gcd.reduce(np.where(counts > 0, np.arange(1, width), 0), axis=1)
    pair, size = np.nonzero(counts)
    steps, multiplicity = ((size + 1) // divisors[pair])[:, None], counts[pair, size]
    ends, coins = np.searchsorted(pair, np.arange(len(sizes) + 1)).tolist(), counts.sum(axis=1).tolist()
    scale = np.maximum(divisors, 1)
    observed, reach = apart.sum(axis=1) // scale, sizes.sum(axis=1) // scale
    deviation = np.sqrt((sizes.astype(np.float64) ** 2).sum(axis=1)) / scale
    bases = {divisor: divisor * basis for divisor in np.unique(divisors).tolist()}
    for i, divisor in enumerate(divisors.tolist()):
        own, one = slice(ends[i], ends[i + 1]), slice(i, i + 1)
        lattice = Lattice(steps[own], multiplicity[own], observed[one], bases[divisor])
        # Known for all pairs together, these are not computed for each.
        vars(lattice).update(coins=coins[i], reach=reach[one], deviation=deviation[one])
        yield lattice if divisor else None
