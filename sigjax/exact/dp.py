"""The null distribution by dynamic programming: Algorithm 3 of Zmigrod, Vieira and Cotterell (2022).

One unit after another joins the random-sign sum S. Count K = (S + reach) / 2: a unit with row v adds max(v, 0) to K for
one sign and max(-v, 0) for the other, on each axis. Two axes are packed into one (Kronecker substitution): the point
(k0, k1) has the index k0 (reach_1 + 1) + k1, so the first sign of a unit stands a constant v0 (reach_1 + 1) + v1 above
the second. K stays in its range whatever the signs, and so an index never leaves the array.
"""

import math

import numpy as np

from sigjax.exact.lattice import Lattice
from sigjax.records import Array
from sigjax.run.backend import compiled

_SMALLEST_SIZE = 64
"""Arrays are padded to at least this length: small problems share one program."""


def dp_null(lattice: Lattice) -> np.ndarray:
    """Probabilities of all values of the random-sign sum S, one unit after another.

        F_n(k) = (F_{n-1}(k) + F_{n-1}(k - d_n)) / 2

    Only positive numbers are added, so small probabilities keep their digits until they underflow: with n units, a
    computed P is off by at most n eps P + n 2^-1022, where eps = 2^-52. The work is that of `dp_cost`, the memory that
    of a few arrays of the size of the result.

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
    before = np.zeros(_padded(size))
    before[start] = 1.0
    # The units added to round up their number move by 0, which averages the distribution with itself: exact.
    padded_moves = np.zeros(_padded(len(moves)), np.int64)
    padded_moves[: len(moves)] = moves
    after = np.asarray(compiled(_add_units)(before, padded_moves))
    return after[:size].reshape(shape)


def dp_cost(lattice: Lattice) -> int:
    """Additions that `dp_null` makes: units times points of the grid."""
    return int(lattice.multiplicity.sum()) * math.prod((lattice.reach + 1).tolist())


def _add_units(before: Array, moves: Array) -> Array:
    """Add units that move `[unit]` points upwards or not at all to a distribution `[point]`."""
    import jax.numpy as jnp
    from jax import lax

    size = before.shape[0]

    def add(distribution: Array, move: Array) -> tuple[Array, None]:
        room = jnp.concatenate([jnp.zeros_like(distribution), distribution])
        return 0.5 * (distribution + lax.dynamic_slice(room, (size - move,), (size,))), None

    return lax.scan(add, before, moves)[0]


def _packed(lattice: Lattice, shape: tuple[int, ...]) -> tuple[int, np.ndarray]:
    """The index where every unit has its second sign, and how far up the first sign of each is, `[unit]`, all > 0."""
    strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
    moves = lattice.rows @ strides
    # A row stands for either of its signs: the first is the one with the larger index.
    below = np.maximum(-np.sign(moves)[:, None] * lattice.rows, 0) @ strides
    return int(below @ lattice.multiplicity), np.repeat(np.abs(moves), lattice.multiplicity)


def _padded(size: int) -> int:
    """The next of the sizes 4, 5, 6 and 7 times a power of two, so that few programs are compiled."""
    step = 2 ** max(0, size.bit_length() - 3)
    return max(_SMALLEST_SIZE, -(-size // step) * step)
