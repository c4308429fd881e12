"""Distributions of the random-sign sum S, by characteristic functions (tilted for small tails) or by convolution.

S is the sum of the difference rows v of all units, each with a random sign; c_v is the number of units with the row v.

**Tilts.** A tilt gives the random signs unequal probabilities, so that the mean of the sum lies in the tail of
interest. Under the tilt theta, P_theta(S = s) = exp(theta.s) P(S = s) / M(theta). Here M(theta) = E exp(theta.S) is the
product of cosh(theta.v) over units. So P(S = s) = exp(log M(theta) - theta.s) P_theta(S = s). If the mean of S under
the tilt is near s, P_theta(S = s) is not small, and can be computed accurately. Reference: Daniels (1954), "Saddlepoint
approximations in statistics".

**Characteristic functions.** K = (S + sum of all rows) / 2 is the sum over rows v of v times Binomial(c_v, pi_v). Its
characteristic function is the product over rows of (1 - pi_v + pi_v e^{iw.v})^{c_v}. Without a tilt, pi_v = 1/2; with a
tilt, pi_v = 1 / (1 + exp(-2 theta.v)). One inverse FFT gives the probabilities: the exact test of Zmigrod, Vieira and
Cotterell (2022), without their recursion over sentences. A bound saves most of the work. Since log(1 - x) <= -x, the
modulus of the characteristic function is at most exp(-sum of c_v pi_v (1 - pi_v) (1 - cos w.v)). The exponents for all
frequencies are one matrix product. The characteristic function itself is computed only at frequencies at which this
bound is not negligible.

**Convolution.** Algorithms 3 and 4 of Zmigrod et al. compute the whole distribution of k = (S + reach) / 2, where
`reach` is the largest value of S on each axis. (So k is never negative, while K can be.) On each axis, a unit with row
v adds max(v, 0) to k if its sign is +, and max(-v, 0) if its sign is -. `dp_null` (Algorithm 3) adds one unit after
another. Two axes are packed into one (Kronecker substitution): the point k = (k0, k1) has the index k0 (reach_1 + 1) +
k1. So if the sign of a unit with the row v = (v0, v1) changes from - to +, the index changes by the constant v0
(reach_1 + 1) + v1. k is from 0 to `reach` for all signs, so an index never leaves the array. `tree_null` (Algorithm 4)
multiplies polynomials (x^max(v, 0) + x^max(-v, 0)) / 2, with two variables for two axes. It multiplies the polynomials
two at a time by FFT, then these products two at a time, and so on, up to the root of the tree. For equal units, the
product is a power, which is computed by repeated squaring. (The paper calls this halving.)
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigjax.exact.lattice import Lattice

_MOST_TILT = 18.0
"""Largest tilt theta, in multiples of 1 / (smallest difference). (Under a tilt, P(S = s) is multiplied by exp(theta s),
up to a constant.) For larger tilts, even the sign of the smallest difference is certain in float64."""
_CLOSE = 1e-6
"""Largest distance, in standard deviations, between the mean of the random-sign sum S and the wanted mean at which
Newton's method for a tilt ends."""
_MOST_STEPS = 200
_GAIN = 1e-3
"""Limit for the last step of the search for a tilt: the search ends if a step increases the large-deviation rate (see
`plane_tilt`) by less than this. An approximate tilt suffices, because every tilt gives correct probabilities."""
_PULLS = np.geomspace(0.05, 4.0, 24)
"""Candidates for the parameter u > 0 of Chernoff's bound (see `windows`), in multiples of the u that is best for a
normal distribution."""


def log_moment(steps: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
    """Return log E exp(theta.S) `[...]` for the random-sign sum S of differences.

    `steps` `[..., row]` are theta.v for the difference rows v, and `multiplicity` `[row]` is the number of units with
    each row.
    """
    size = np.abs(steps)
    # Use two formulas for log cosh, because the formula for large arguments loses digits for small arguments. These
    # errors would add up over a million units.
    small = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
    large = size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)
    return (multiplicity * np.where(size < 1.0, small, large)).sum(axis=-1)


def line_tilts(steps: np.ndarray, multiplicity: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Find the tilts theta >= 0 `[pair]` under which the sum S has the mean `mean` `[pair]`, by Newton's method.

    S is the random-sign sum of the differences v (`steps` `[pair, row]`). A difference v occurs on c_v units
    (`multiplicity` `[pair, row]`, 0 for padding). The mean of S is the sum of c_v v tanh(theta v). It is concave in
    theta, so Newton's steps never go beyond the solution. By Jensen's inequality, the mean is at most reach tanh(theta
    (sum of c_v v^2) / reach), where reach is the largest value of S. The search starts at the theta for which this
    bound equals `mean`.
    """
    smallest = np.where(multiplicity > 0, steps, np.inf).min(axis=1)
    weight = multiplicity * steps.astype(np.float64)
    reach, squares = weight.sum(axis=1), (weight * steps).sum(axis=1)
    with np.errstate(divide="ignore"):  # `mean` may be the reach
        theta = np.minimum(np.arctanh(np.minimum(mean / reach, 1.0)) * reach / squares, _MOST_TILT / smallest)
    for _ in range(_MOST_STEPS):
        mean_signs = np.tanh(theta[:, None] * steps)
        short = mean - (weight * mean_signs).sum(axis=1)
        variance = (weight * steps * (1.0 - mean_signs * mean_signs)).sum(axis=1)
        if np.all(short <= _CLOSE * np.sqrt(variance)):
            break
        theta = np.minimum(theta + np.maximum(short, 0.0) / np.maximum(variance, 1e-300), _MOST_TILT / smallest)
    return theta


def plane_tilt(rows: np.ndarray, multiplicity: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Find a tilt theta `[axis]` under which the sum S has a mean near `mean` `[axis]`, by Newton's method.

    S is the sum of the difference `rows` `[row, axis]` with random signs; `multiplicity` `[row]` units have each row.
    Such a theta maximizes theta.mean - log M(theta), a concave function, where M(theta) = E exp(theta.S). Its maximum
    is the large-deviation rate of P(S = mean). If `mean` is on the boundary of the possible values, the maximum is at
    infinity. Then the search stops when a step increases the function by too little.
    """

    def rate(theta: np.ndarray) -> float:
        return float(theta @ mean - log_moment(rows @ theta, multiplicity))

    theta = np.zeros(len(mean))
    reached = 0.0
    for _ in range(100):
        mean_signs = np.tanh(rows @ theta)
        gradient: NDArray[np.float64] = mean - (multiplicity * mean_signs) @ rows
        curvature = covariance(rows, multiplicity, theta)
        curvature += 1e-9 * float(np.trace(curvature)) * np.eye(len(mean)) + 1e-300 * np.eye(len(mean))
        step = np.linalg.solve(curvature, gradient)
        # Limit the step so that no theta.v changes by more than 1, because the quadratic model is poor farther away.
        step /= max(1.0, float(np.abs(rows @ step).max()))
        while (now := rate(theta + step)) < reached:
            step *= 0.5
            if not np.abs(step).max() > 0.0:
                return theta
        theta, gain, reached = theta + step, now - reached, now
        if gain < _GAIN:
            break
    return theta


def covariance(rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray) -> NDArray[np.float64]:
    """Return the covariance `[axis, axis]` of the random-sign sum S of the difference `rows` under the tilt theta."""
    decay = np.exp(-2.0 * np.abs(rows @ theta))
    return (rows * (multiplicity * 4.0 * decay / (1.0 + decay) ** 2)[:, None]).T @ rows


def windows(rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, exponent: float) -> np.ndarray:
    """Return half-widths `[axis, side]` of a window around the mean of the random-sign sum S under the tilt theta.

    On each side of each axis, the probability outside the window is at most exp(-exponent). This follows from
    Chernoff's bound P(S >= m + x) <= M(theta + u) / M(theta) exp(-u (m + x)) for every u > 0, where m is the mean and
    M(theta) = E exp(theta.S). For several u, the x is computed at which this bound is exp(-exponent). The smallest x is
    the half-width.
    """
    base, half_logits = log_moment(rows @ theta, multiplicity), rows @ theta
    mean, variance = (multiplicity * np.tanh(half_logits)) @ rows, np.diag(covariance(rows, multiplicity, theta))
    widths = np.empty((rows.shape[1], 2))
    for axis, step in enumerate(rows.T):
        scale = math.sqrt(2.0 * exponent / max(variance[axis], 1e-300))
        for side, sign in enumerate((-1.0, 1.0)):
            pull = sign * scale * _PULLS
            moment = log_moment(half_logits + pull[:, None] * step, multiplicity)
            widths[axis, side] = ((moment - base + exponent) / np.abs(pull) - sign * mean[axis]).min()
    return widths


def dp_null(lattice: Lattice) -> np.ndarray:
    """Return the distribution of the random-sign sum S, computed by adding one unit after another (Algorithm 3).

        F_n(k) = (F_{n-1}(k) + F_{n-1}(k - d_n)) / 2

    Here F_n is the distribution after n units, and d_n the difference on the nth unit. The result is P(S = 2k - reach)
    for every k (float64), where reach `[axis]` is the largest value of S. It has the shape `[reach_0 + 1]` for one
    axis, `[reach_0 + 1, reach_1 + 1]` for two axes, and `[]` for no axis. Only positive numbers are added, so small
    probabilities keep their digits until they underflow. With n units, the error of a probability P is at most n eps P
    + n 2^-1022, where eps = 2^-52.

    >>> one = np.ones(1, np.int64)
    >>> dp_null(Lattice(np.array([[1], [2]]), np.array([2, 1]), observed=4 * one, basis=one[:, None]))
    array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    shape = tuple((lattice.reach + 1).tolist())
    # The two signs of a row give indices that differ by `moves`. Start from the smaller index of each row.
    strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
    moves = lattice.rows @ strides
    below = np.maximum(-np.sign(moves)[:, None] * lattice.rows, 0) @ strides
    start = int(below @ lattice.multiplicity)
    chances, half, end = np.zeros(math.prod(shape)), np.empty(math.prod(shape)), start + 1
    chances[start] = 1.0
    for move in np.repeat(np.abs(moves), lattice.multiplicity).tolist():
        held = half[start:end]
        np.multiply(chances[start:end], 0.5, out=held)
        chances[start:end] = held
        chances[start + move : end + move] += held
        end += move
    return chances.reshape(shape)


def dp_cost(lattice: Lattice) -> int:
    """Return the number of additions in `dp_null`: the number of units times the number of grid points."""
    return int(lattice.multiplicity.sum()) * math.prod((lattice.reach + 1).tolist())


def tree_null(lattice: Lattice) -> np.ndarray:
    """Return the distribution of the random-sign sum S, by FFT products of groups of units (Algorithm 4).

    The groups become larger and larger. The result is P(S = 2k - reach) for every k, where reach is the largest value
    of S, as in `dp_null`. `tree_error` bounds its absolute errors: probabilities far below 1e-16 are only rounding
    errors, and negative results are set to 0. If the result has P numbers, the time is at most O(P log^2 P). For N
    units with differences of at most G on one axis, P is at most GN + 1. If all these differences have the same size,
    the time is O(GN log GN log N), as in the paper.

    >>> one = np.ones(1, np.int64)
    >>> tree_null(Lattice(np.array([[1], [2]]), np.array([2, 1]), observed=4 * one, basis=one[:, None])).round(9)
    array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    if not len(lattice.rows):
        return np.ones(lattice.reach + 1)
    return np.maximum(_convolution(lattice.rows, lattice.multiplicity), 0.0)


def tree_cost(lattice: Lattice) -> int:
    """Return the number of operations in `tree_null`: n log2 n for each product with an FFT of n numbers."""
    return int(_tree_cost_and_error(lattice.rows, lattice.multiplicity)[0]) if len(lattice.rows) else 0


def tree_error(lattice: Lattice) -> float:
    """Return a bound on the sum of all absolute errors of `tree_null`.

    A product of two polynomials, computed with an FFT of length n, adds at most

        12 eps sqrt(n) log2(n)

    to the bounds of its two factors. The result is also a bound on the absolute error of any p-value that is computed
    from `tree_null`. A transform of n numbers has a relative error of at most 3.5 eps log2(n) in the 2-norm (Higham
    2002, Theorem 24.2). A product needs three transforms. The factor sqrt(n) converts the bound to the 1-norm. In the
    1-norm, an error does not grow in later products, because it is only multiplied with distributions. The bound
    assumes the worst case, in which no errors cancel. In practice, the sum of errors is thousands of times smaller, and
    the error of a single probability is a few eps.
    """
    return EPSILON * 12.0 * _tree_cost_and_error(lattice.rows, lattice.multiplicity)[1] if len(lattice.rows) else 0.0


def _convolution(rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the probabilities of all sums of the difference `rows` `[row, axis]` with random signs.

    `counts` `[row]` are the numbers of units with each row. The probabilities are the coefficients of a polynomial. For
    several rows, it is the product of the polynomials of both halves of the rows. For a single row, it is a power of
    one unit's polynomial.
    """
    if len(rows) == 1:
        (row,), count = rows, int(counts[0])
        heads: NDArray[np.int64] = np.arange(count + 1)[:, None]
        power = np.zeros(count * np.abs(row) + 1)
        power[tuple((heads * np.maximum(row, 0) + heads[::-1] * np.maximum(-row, 0)).T)] = _binomial(count)
        return power
    lengths, axes = _fft_lengths(rows, counts), range(rows.shape[1])
    left, right = (
        np.fft.rfftn(_convolution(rows[part], counts[part]), lengths, axes) for part in _halves(len(rows) // 2)
    )
    return np.fft.irfftn(left * right, lengths, axes)[tuple(map(slice, counts @ np.abs(rows) + 1))]


def _halves(size: int) -> tuple[slice, slice]:
    return slice(size), slice(size, None)


def _binomial(count: int) -> np.ndarray:
    """Return the binomial probabilities of 0, ..., count with p = 1/2, by repeated squaring."""
    if count == 1:
        return np.array([0.5, 0.5])
    whole = 2 * (count // 2) + 1
    square = np.fft.irfft(np.fft.rfft(_binomial(count // 2), length := fft_length(whole)) ** 2, length)[:whole]
    return np.convolve(square, [0.5, 0.5]) if count % 2 else square


def _tree_cost_and_error(rows: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Return two sums over the products of polynomials in `_convolution`; n is the length of a product's FFT.

    The first sum adds up n log2(n), the number of operations. The second sum adds up sqrt(n) log2(n), for the error. A
    power is computed by squaring: its factor is computed once, but the error of the factor enters the square twice. So
    the second sum counts the products in the factor twice.
    """
    if len(rows) > 1:
        size = math.prod(_fft_lengths(rows, counts))
        (cost, error), other = (_tree_cost_and_error(rows[part], counts[part]) for part in _halves(len(rows) // 2))
        cost, error = cost + other[0], error + other[1]
    elif counts[0] > 1:
        size = fft_length(2 * int(counts[0] // 2) + 1)
        cost, error = _tree_cost_and_error(rows, counts // 2)
        error = 2.0 * error + counts[0] % 2
    else:
        return 0.0, 0.0
    return cost + size * math.log2(size), error + math.sqrt(size) * math.log2(size)


def _fft_lengths(rows: np.ndarray, counts: np.ndarray) -> list[int]:
    """Return for each axis the length of an FFT that holds all sums of the difference `rows` with random signs.

    `rows` are `[row, axis]`, and `counts` `[row]` are the numbers of units with each row.
    """
    return [fft_length(int(reach) + 1) for reach in counts @ np.abs(rows)]


MOST_HALF_LOGIT = 300.0
"""Largest value of theta.v, half of the log odds of a unit's sign. Larger values are replaced by it, because cosh would
overflow. The sign is practically certain for much smaller values already."""


def conjugate_characteristic(
    rows: np.ndarray,
    multiplicity: np.ndarray,
    half_logits: np.ndarray | None,
    first: np.ndarray,
    frequencies: np.ndarray,
    lengths: tuple[int, ...],
) -> np.ndarray:
    """Return the conjugate of the characteristic function E exp(i w.(K - first)), `[..., frequency]`.

    S is the random-sign sum of difference rows, and K = (S + sum of all rows) / 2. The leading axes `...` are for
    several sums S; for one sum, there are none. The result is the conjugate because the inverse FFT has the opposite
    sign in its exponent, and probabilities are real.

    `rows` are v `[..., row, axis]` (int64), with the counts `multiplicity` `[..., row]` (0 for padding). `half_logits`
    `[..., row]` are theta.v, half of the log odds of the sign of a unit; None means no tilt. `first` `[..., axis]` is
    the first value of K on the grid. `lengths` are the numbers of grid points on each axis. `frequencies`
    `[axis, frequency]` (float64) are whole numbers f: on an axis with L points, the frequency w is 2 pi f / L.
    """
    # Angles are fractions of a turn with the common denominator `whole`. Their numerators are integers, which are
    # reduced exactly.
    whole = math.lcm(*lengths)

    def turns(steps: np.ndarray) -> np.ndarray:
        """Return the angles w.k `[..., frequency]` for values k of K (`steps` `[..., axis]`).

        The unit of an angle is a turn divided by `whole`, the least common multiple of the lengths.
        """
        parts = [
            (steps[..., axis] % length).astype(np.float64)[..., None] * (each * float(whole // length))
            for axis, (length, each) in enumerate(zip(lengths, frequencies, strict=True))
        ]
        return centred_modulo(sum(parts[1:], parts[0]), whole)

    half_turn = turns(rows) * (math.pi / whole)
    count, tangent = multiplicity[..., None].astype(np.float64), np.tan(half_turn)
    # Let x be half of the angle w.v. Then 1 - pi_v + pi_v e^{2ix} = e^{ix} (cos x + i tanh(theta.v) sin x), with cos x
    # >= 0.
    square = tangent * tangent
    square /= 1.0 + square
    angle = (count * half_turn).sum(axis=-2) - turns(first) * (2.0 * math.pi / whole)
    if half_logits is not None:
        square *= 1.0 / np.cosh(np.minimum(np.abs(half_logits), MOST_HALF_LOGIT))[..., None] ** 2
        angle += (count * np.arctan(np.tanh(half_logits)[..., None] * tangent)).sum(axis=-2)
    with np.errstate(divide="ignore"):
        size = np.exp(0.5 * (count * np.log1p(-np.minimum(square, 1.0))).sum(axis=-2))
    return size * np.cos(angle) - 1j * (size * np.sin(angle))


def centred_modulo(number: Any, whole: int) -> np.ndarray:
    """Return integers (float64, below 2^53) modulo `whole`, as numbers between -whole / 2 and whole / 2."""
    return number - whole * np.rint(number / whole)


MANY_SIGNS = 200
"""If the systems differ on at least this many units (num_signs), estimated costs assume a shorter time per term (row
and frequency of the grid). The characteristic function is then near exp(-num_signs / 4) at nearly all frequencies, and
is not computed at them."""
DEVIATIONS = 9.0
"""Half-width of the usual window of sums S around their mean, in standard deviations of S."""
EPSILON = float(np.finfo(np.float64).eps)
_NEGLIGIBLE = 42.0
"""Frequencies at which the characteristic function is below exp(-42) = 6e-19 are left out."""
_STRIDE_GROWTH = 1.0
"""With two axes, frequencies are first searched on a coarse grid. Its spacing is such that the square root of the
exponent e changes by at most this much between two points. (exp(-e) bounds the characteristic function, see
`_significant_frequencies`.)"""
_WEIGHT_AT_FIRST = 256.0
"""The search of `line_frequencies` first uses only some difference rows v, whose weights c_v pi_v (1 - pi_v) add up to
about this number. These rows suffice to show that most frequencies are negligible."""
_ON_ONE_THREAD, _FEWEST_ROWS = 2**18, 32
"""A matrix product is computed in parts of at most `_ON_ONE_THREAD` terms, because BLAS computes such a part on one
thread, and waking other threads takes longer. It is not divided if a part would have fewer than `_FEWEST_ROWS` rows."""
_BLOCK = 2**15
"""At most this many terms of characteristic functions are computed at a time, so that they stay in the cache."""


def grid_lengths(lattice: Lattice) -> tuple[int, ...]:
    """Return the lengths of a grid that holds a window of 9 standard deviations on each side, or all values of S.

    S is the random-sign sum. A length is a number of grid points, and S differs by 2 between neighbouring points. By
    Hoeffding's inequality, the probability outside the window is at most 2 exp(-9^2 / 2) = 5.2e-18 per axis. This holds
    under any tilt, because each term keeps its range [-v, v].
    """
    return tuple(map(fft_length, grid_values(lattice.reach, lattice.deviation).tolist()))


def grid_values(reach: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return the number of values of the random-sign sum S that a grid must hold on each axis.

    It must hold `DEVIATIONS` standard deviations on each side of 0, or all values of S if these are fewer. `reach`
    `[axis]` is the largest value of S, and `deviation` `[axis]` its standard deviation.
    """
    return np.minimum(reach, np.ceil(DEVIATIONS * deviation)).astype(np.int64) + 1


def window_mass(reach: np.ndarray, length: int) -> np.ndarray:
    """Return a bound on the probability that the sum S is outside a grid with one axis and `length` points.

    `reach` is the largest value of S.
    """
    return np.where(length > reach, 0.0, 2.0 * math.exp(-(DEVIATIONS**2) / 2))


def grid_probabilities(
    rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, first: np.ndarray, lengths: tuple[int, ...]
) -> np.ndarray:
    """Return P_theta(K = first + k) for each point k of a grid with these `lengths`.

    K is (S + sum of all rows) / 2, where S is the sum of the `rows` `[row, axis]` with random signs. P_theta is the
    probability under the tilt `theta` `[axis]`, and `first` `[axis]` the first value of K on the grid. K is taken
    modulo the lengths. `rounding_error` bounds the rounding errors of the probabilities.

    >>> rows, multiplicity = np.array([[1], [2]]), np.array([2, 1])
    >>> grid_probabilities(rows, multiplicity, np.zeros(1), np.zeros(1, int), (6,))[:5].round(12)
    array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    frequencies, held = significant_spectrum(rows, multiplicity, theta, first, lengths)
    # Use only the needed part of the last axis. This saves most of the FFT along the first axis.
    spectrum = np.zeros((*lengths[:-1], int(frequencies[-1].max()) + 1), np.complex128)
    spectrum[tuple(frequencies)] = held
    return np.fft.irfft(spectrum if len(lengths) == 1 else np.fft.ifft(spectrum, axis=0), lengths[-1])


def significant_spectrum(
    rows: np.ndarray, multiplicity: np.ndarray, theta: np.ndarray, first: np.ndarray, lengths: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequencies that are not negligible, and the (conjugate) characteristic function at these frequencies.

    The frequencies `[axis, frequency]` are integers in ascending order, on the last axis from 0 to length / 2. The
    function `[frequency]` is `conjugate_characteristic`. Its inverse FFT is `grid_probabilities`.
    """
    half_logits = rows @ theta
    frequencies = _significant_frequencies(rows, multiplicity, half_logits, lengths)
    tilted = half_logits if half_logits.any() else None
    block = max(1, _BLOCK // len(rows))
    parts = (frequencies[:, start : start + block] for start in range(0, frequencies.shape[1], block))
    held = [
        conjugate_characteristic(rows, multiplicity, tilted, first, part.astype(np.float64), lengths) for part in parts
    ]
    return frequencies, np.concatenate(held)


def rounding_error(num_signs: Any, lengths: tuple[int, ...]) -> Any:
    """Return a bound on the 2-norm of rounding errors in `grid_probabilities`, relative to the 2-norm of the result.

    The bound has two parts. The error of the FFT is below a few epsilon for each doubling of its length (Higham 2002,
    theorem 24.2). The characteristic function is computed from sums of logarithms and angles over signs. At frequencies
    where it is not negligible, its rounding errors grow like the square root of the number of signs.
    """
    return EPSILON * (4.0 * math.log2(math.prod(lengths)) + 4.0 * np.sqrt(num_signs) + 16.0)


@lru_cache(2**12)
def fft_length(values: int) -> int:
    """Return a fast FFT length of at least `values`: an even number that is a power of two times 1, 9/8, 5/4 or 3/2."""
    power = 2 ** max(1, (values - 1).bit_length())
    lengths = (9 * power // 16, 5 * power // 8, 3 * power // 4, power)
    return next(length for length in lengths if length >= values and length % 2 == 0)


def _significant_frequencies(
    rows: np.ndarray, multiplicity: np.ndarray, half_logits: np.ndarray, lengths: tuple[int, ...]
) -> np.ndarray:
    """Return the frequencies `[axis, frequency]` at which the characteristic function may exceed exp(-`_NEGLIGIBLE`).

    Only one half of the spectrum is searched, because the other half is its mirror image. The modulus is at most
    exp(-e), where the exponent e is computed by `sum_exponents`. The square root of e is the 2-norm of a vector over
    rows that is proportional to the sines of the half angles w.v / 2. So its slope (the change per frequency) is
    bounded. Therefore e is first computed on a coarse grid of frequencies. Then it is computed at all frequencies near
    those at which it was small.
    """
    half = lengths[-1] // 2 + 1
    weight = multiplicity / (4.0 * np.cosh(np.minimum(np.abs(half_logits), MOST_HALF_LOGIT)) ** 2)
    if len(lengths) == 1:
        return line_frequencies(rows, weight, lengths[0], _NEGLIGIBLE)[None]
    slope = np.sqrt(0.5 * (weight @ rows.astype(np.float64) ** 2)) * 2.0 * math.pi / np.array(lengths)
    stride = np.clip(_STRIDE_GROWTH / np.maximum(slope, 1e-300), 1, lengths).astype(np.int64)
    steps: list[int] = stride.tolist()
    some = np.arange(0, lengths[0], steps[0]), np.arange(0, half, steps[1])
    limit = (math.sqrt(_NEGLIGIBLE) + float(slope @ (stride - 1))) ** 2
    near = sum_exponents(rows, weight, lengths, some) < limit
    first, second = (
        (each[near.any(axis=1 - axis)][:, None] + np.arange(steps[axis])).ravel() for axis, each in enumerate(some)
    )
    left = first[first < lengths[0]], second[second < half]
    kept = np.nonzero(sum_exponents(rows, weight, lengths, left) < _NEGLIGIBLE)
    return np.stack([left[0][kept[0]], left[1][kept[1]]])


def line_frequencies(rows: np.ndarray, weight: np.ndarray, length: int, negligible: float) -> np.ndarray:
    """Return the frequencies `[frequency]` of one axis that are not negligible, in the lower half of the spectrum.

    The modulus of the characteristic function is at most exp(-e), where the exponent e is computed by `sum_exponents`.
    A frequency is kept if e is below `negligible`. `weight` `[row]` is c_v pi_v (1 - pi_v), if c_v units have the row v
    and the sign + has the probability pi_v.

    The search has two steps, as in `_significant_frequencies`: first the multiples of a stride, then all frequencies
    near the multiples that remain. The first step uses only some of the rows. No term of e is negative, so if the sum
    over some rows is too large, e is too large. In each step, every frequency is the sum of a number from one list and
    a number from another list: two multiples of the stride, or a multiple and an offset. So `sum_exponents` computes
    the exponents of all these sums with one matrix product.
    """
    half, every = length // 2 + 1, max(1, int(weight.sum() / _WEIGHT_AT_FIRST))
    some, light = rows[::every], weight[::every]
    slope = math.sqrt(0.5 * float(light @ some[:, 0].astype(np.float64) ** 2)) * 2.0 * math.pi / length
    # At most frequencies, the cosines nearly cancel in the sum over rows, so the exponent is about the total weight.
    root = math.sqrt(negligible)
    spare = max(0.75 * math.sqrt(light.sum()) - root, 0.0)
    reach = int(min(spare / max(slope, 1e-300), half)) or math.isqrt(half) // 2
    stride = 2 * reach + 1
    count = (half + reach) // stride + 1
    low = 1 << count.bit_length() // 2
    multiples = stride * np.arange(0, count, low), stride * np.arange(low)
    near = sum_exponents(some[:, [0, 0]], light, (length, length), multiples).ravel() < (root + slope * reach) ** 2
    centres, offsets = stride * np.flatnonzero(near), np.arange(-reach, reach + 1)
    kept = sum_exponents(rows[:, [0, 0]], weight, (length, length), (centres, offsets)) < negligible
    found = (centres[:, None] + offsets)[kept]
    return found[(found >= 0) & (found < half)]


def sum_exponents(rows: np.ndarray, weight: np.ndarray, lengths: tuple[int, ...], frequencies: Any) -> np.ndarray:
    """Return the sum over rows of weight times (1 - cos w.v): exp(-sum) bounds the characteristic function's modulus.

    `rows` `[row, axis]` are the difference rows v. `lengths` are the numbers of grid points on the two axes.
    `frequencies` are two arrays of whole numbers f; on an axis with L points, the frequency w is 2 pi f / L. The result
    `[first, second]` is for each number of the first array with each number of the second. Because cos(x + y) = cos x
    cos y - sin x sin y, it is one matrix product.
    """
    left, right = (
        centred_modulo(np.outer(rows[:, axis] % length, each.astype(np.float64)), length) * (2.0 * math.pi / length)
        for axis, (length, each) in enumerate(zip(lengths, frequencies, strict=True))
    )
    left_terms = np.concatenate([weight[:, None] * np.cos(left), -weight[:, None] * np.sin(left)])
    right_terms = np.concatenate([np.cos(right), np.sin(right)])
    at_a_time = _ON_ONE_THREAD // (left_terms.shape[1] * right_terms.shape[1])
    if at_a_time < _FEWEST_ROWS:
        return weight.sum() - left_terms.T @ right_terms
    parts = (slice(start, start + at_a_time) for start in range(0, len(left_terms), at_a_time))
    return weight.sum() - sum(left_terms[part].T @ right_terms[part] for part in parts)
