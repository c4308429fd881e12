"""The whole null distribution by convolution: Algorithms 3 and 4 of Zmigrod, Vieira and Cotterell (2022).

Both compute the law of K = (S + reach) / 2. A unit with row v adds max(v, 0) to K for one sign and max(-v, 0) for the
other, on each axis.

`dp_null` (Algorithm 3) adds one unit after another. Two axes are packed into one (Kronecker substitution): the point
(k0, k1) has the index k0 (reach_1 + 1) + k1, so the first sign of a unit lies a constant v0 (reach_1 + 1) + v1 above
the second. K stays in its range whatever the signs, so an index never leaves the array.

`tree_null` (Algorithm 4) multiplies polynomials (x^max(v, 0) + x^max(-v, 0)) / 2, in two variables for two axes: in
pairs by FFT, the products in pairs again, up to the root. All polynomials of a level are stacked: at level l their
degrees are below 2^l, so a product of two belongs to level l + 1. A unit enters at the level of its own degree. Equal
units thus give the paper's halving, and a few large units do not lengthen the polynomials of many small ones.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.lattice import Lattice
from sigjax.records import Array
from sigjax.run.backend import compiled
from sigjax.run.loops import cut, expect, scan

_SMALLEST_SIZE = 64
"""Arrays have at least this length, so that small problems share one program."""


def dp_null(lattice: Lattice) -> np.ndarray:
    """Probabilities of all values of the random-sign sum S, one unit after another.

        F_n(k) = (F_{n-1}(k) + F_{n-1}(k - d_n)) / 2

    Only positive numbers are added, so small probabilities keep their digits until they underflow: with n units, a
    computed P is off by at most n eps P + n 2^-1022, where eps = 2^-52. It needs `dp_cost` additions and a few arrays
    of the size of the result.

    Returns:
        P(S = 2k - reach) for every k (float64), `[reach_0 + 1]` or `[reach_0 + 1, reach_1 + 1]`; `[]` without an axis.

    Example:
        >>> one = np.ones(1, np.int64)
        >>> dp_null(Lattice(np.array([[1], [2]]), np.array([2, 1]), observed=4 * one, basis=one[:, None]))
        array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    shape = tuple((lattice.reach + 1).tolist())
    size = math.prod(shape)
    start, moves = _packed(lattice, shape)
    before = np.zeros(padded_size(size))
    before[start] = 1.0
    # Padding units move by 0, which averages the distribution with itself: exact.
    padded_moves = np.zeros(padded_size(len(moves)), np.int64)
    padded_moves[: len(moves)] = moves
    after = np.asarray(compiled(_add_units)(before, padded_moves))
    return after[:size].reshape(shape)


def dp_cost(lattice: Lattice) -> int:
    """Additions of `dp_null`: units times points of the grid."""
    return int(lattice.multiplicity.sum()) * math.prod((lattice.reach + 1).tolist())


def _add_units(before: Array, moves: Array) -> Array:
    """Add units that move `[unit]` points upwards or not at all to a distribution `[point]`."""
    expect(before, (None,), np.float64)
    expect(moves, (None,), np.int64)
    xp = before.__array_namespace__()

    def add(distribution: Array, move: Array) -> tuple[Array, Any]:
        room = xp.concatenate([xp.zeros_like(distribution), distribution])
        return 0.5 * (distribution + cut(room, len(distribution) - move, len(distribution))), ()

    return scan(add, before, moves)[0]


def _packed(lattice: Lattice, shape: tuple[int, ...]) -> tuple[int, np.ndarray]:
    """The index at which every unit has its second sign, and how far its first sign moves up, `[unit]`, all > 0."""
    strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
    moves = lattice.rows @ strides
    # A row stands for either of its signs: the first is the one with the larger index.
    below = np.maximum(-np.sign(moves)[:, None] * lattice.rows, 0) @ strides
    return int(below @ lattice.multiplicity), np.repeat(np.abs(moves), lattice.multiplicity)


def padded_size(size: int) -> int:
    """The next of 4, 5, 6 and 7 times a power of two, so that few programs are compiled."""
    step = 2 ** max(0, size.bit_length() - 3)
    return max(_SMALLEST_SIZE, -(-size // step) * step)


class Level(NamedTuple):
    """Polynomials of one length: products from the level below, and units that enter here."""

    lengths: tuple[int, ...]
    """[axis]: coefficients of each polynomial, powers of two."""
    products: int
    """Polynomials from the level below."""
    entering: np.ndarray
    """[unit, axis] int64: rows of the units that enter."""

    @property
    def nodes(self) -> int:
        """Number of polynomials."""
        return self.products + len(self.entering)


def tree_null(lattice: Lattice) -> np.ndarray:
    """Probabilities of all values of the random-sign sum S, by FFT products of ever larger groups of units.

    The error is absolute (`tree_error`): probabilities far below 1e-16 are noise, and those that come out below 0 are
    set to 0. A result of P numbers takes O(P log^2 P) time at most and memory for about forty such results. For N units
    of size at most G on one axis, P is at most GN + 1; units of equal size take the paper's O(GN log GN log N).

    Returns:
        P(S = 2k - reach) for every k (float64), `[reach_0 + 1]` or `[reach_0 + 1, reach_1 + 1]`; `[]` without an axis.

    Example:
        >>> one = np.ones(1, np.int64)
        >>> tree_null(Lattice(np.array([[1], [2]]), np.array([2, 1]), observed=4 * one, basis=one[:, None])).round(9)
        array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    shape = tuple((lattice.reach + 1).tolist())
    levels = _levels(lattice)
    if not levels:
        return np.ones(shape)
    products = np.zeros((0, *levels[0].lengths))
    for level, above in pairwise(levels):
        stack = _stacked(products, level, above.lengths)
        products = np.asarray(compiled(_multiply)(stack[0::2], stack[1::2]))[: above.products]
    root = _stacked(products, levels[-1], levels[-1].lengths)[0]
    return np.maximum(root[tuple(slice(length) for length in shape)], 0.0)


def tree_cost(lattice: Lattice) -> int:
    """Operations of `tree_null`: n log2 n for each product of n coefficients, padding included."""
    levels = _levels(lattice)
    return sum(
        _padded_nodes(level.nodes) // 2 * math.prod(above.lengths) * _doublings(above)
        for level, above in pairwise(levels)
    )


def tree_error(lattice: Lattice) -> float:
    """Bound on the sum of all absolute errors of `tree_null`, so also on the error of any p-value made from it.

        sum over products of n coefficients of 12 eps sqrt(n) log2(n)

    A transform of n numbers has a relative error of at most 3.5 eps log2(n) in the 2-norm (Higham 2002, Theorem 24.2);
    three of them make a product, sqrt(n) leads to the 1-norm, and there an error does not grow on its way to the root,
    since it is only multiplied with distributions. This is the worst case, where errors never cancel. In practice most
    do: the sum of errors is thousands of times smaller, and single probabilities are off by a few eps.
    """
    eps = float(np.finfo(np.float64).eps)
    return sum(
        above.products * 12.0 * eps * _doublings(above) * math.sqrt(math.prod(above.lengths))
        for above in _levels(lattice)
    )


def _levels(lattice: Lattice) -> list[Level]:
    """The levels from the smallest units up to the root, a level of one polynomial; none without units."""
    rows = np.repeat(lattice.rows, lattice.multiplicity, axis=0)
    if not len(rows):
        return []
    bits = np.frexp(np.abs(rows).max(axis=1))[1]  # for whole numbers the binary exponent is the bit length
    # No product of distinct units has a degree above the reach: longer axes would hold zeros.
    longest = [2 ** max(1, int(reach).bit_length()) for reach in lattice.reach]
    levels: list[Level] = []
    size = int(bits.min())
    while not levels or levels[-1].nodes > 1 or size <= bits.max():
        lengths = tuple(min(2**size, length) for length in longest)
        levels.append(Level(lengths, -(-levels[-1].nodes // 2) if levels else 0, rows[bits == size]))
        size += 1
    return levels


def _stacked(products: np.ndarray, level: Level, lengths: tuple[int, ...]) -> np.ndarray:
    """All polynomials `[node, coefficient...]` of a level, with zeros up to `lengths` and ones up to a power of two."""
    stack = np.zeros((_padded_nodes(level.nodes), *lengths))
    stack[(slice(level.products), *(slice(length) for length in level.lengths))] = products
    entering = np.arange(level.products, level.nodes)
    stack[(entering, *np.maximum(level.entering, 0).T)] += 0.5
    stack[(entering, *np.maximum(-level.entering, 0).T)] += 0.5
    stack[(slice(level.nodes, None), *(0 for _ in lengths))] = 1.0
    return stack


def _multiply(left: Array, right: Array) -> Array:
    """Products of polynomials `[node, coefficient...]` whose lengths are even and hold the products."""
    expect(left, right.shape, np.float64)
    fft, axes = left.__array_namespace__().fft, tuple(range(1, left.ndim))
    return fft.irfftn(fft.rfftn(left, axes=axes) * fft.rfftn(right, axes=axes), axes=axes)


def _padded_nodes(nodes: int) -> int:
    """The next power of two, at least 2, so that few programs are compiled."""
    return 2 ** max(1, (nodes - 1).bit_length())


def _doublings(level: Level) -> int:
    """Base-2 logarithm of the number of coefficients of a polynomial."""
    return sum(length.bit_length() - 1 for length in level.lengths)
