r"""Exact p-values, correctly rounded to ten significant digits, so that all machines report the same bytes.

The last digits of FFTs, matrix products and logarithms depend on the machine, the device and the versions of libraries.
So p and log10 p are rounded by Ziv's strategy, as in libraries of elementary functions. A bound on the error of p gives
an interval. If both ends of the interval round to the same number, this number is reported (`round_p_values`). If not
(for about one pair in a hundred), the pair is computed again: with long doubles and then, on a small grid, with as many
digits as needed (`reference_p`). If this takes too long, the middle of the interval is rounded (`nearest_p`). Then the
last digit may be wrong, and the error bound of the p-value includes this.

The error bounds in `characteristic` and `tails` are worst cases. In `planes` and for sign tests, they are estimates. In
36 checked cases, the true error was below a fiftieth of the estimate.

**More digits.** `reference_p` tilts the sum as in `distributions`. It computes the characteristic function and the
roots of unity with integers, which stand for multiples of $2^{-bits}$. Let each possible sum (point) s count 0, 1/2
(mid-p) or 1 times, with the weight $\exp(-\theta s)$, and let $\hat W$ be the transform of these weighted counts. Then
$p = M(\theta)\, L^{-1} \sum_f \varphi_\theta(f) \hat W(f)$, where L is the number of grid points and $\varphi_\theta$
the characteristic function under the tilt $\theta$. The sum is over the few frequencies f where $\varphi_\theta$ is
above $e^{-bits / 2}$. Along the last axis, neighbouring points with equal counts form runs. Their weights are geometric
series, so only the ends of runs are computed. p is an integer, divided by 2^(n + 1) for n random signs. If the error of
p is small enough to determine this integer, p is exact.

Reference: Ziv (1991), "Fast evaluation of elementary mathematical functions with correctly rounded last bit".
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.distributions import covariance, fft_length, log_moment, plane_tilt, sum_exponents
from sigjax.exact.lattice import Lattice, hull

DIGITS = 10
_BOUND_DIGITS = 6
"""Number of significant digits to which bounds of p are rounded."""
MOST_EXACT_SIGNS = 50
"""Limit for exact numbers of outcomes: if the systems differ on at most this many units (num_signs), a double can hold
the integer p times 2^num_signs."""
_MOST_HALF_OUTCOMES = 2.0**38
"""Limit for the number of extreme half outcomes. If there are fewer, and the systems differ on few units, p is reported
as an exact quotient. (An outcome is one assignment of random signs to the units. A half outcome stands for half of its
probability. With mid-p, a tie counts as one half outcome.)

p is the number of extreme half outcomes divided by the number of all half outcomes. A relative error of 1e-13 in p is
small enough to determine the number of extreme half outcomes."""
_TENS = np.array([10.0**power for power in range(23)])
"""Powers of ten that doubles hold exactly."""
_LOG_TEN = 2.3025851249694824, np.longdouble("-3.1975436737857008545815635792399e-8")
"""The natural logarithm of 10, split into a number with few bits and the rest."""
_TILTED = -30.0
"""Limit for the (bound on the) log probability of the likeliest extreme point: below it, `reference_p` uses a tilt."""
_FIRST_BITS = 112
_BLOCK = 2**18
"""At most this many values of the sum S are scored at a time."""


PValue = tuple[float, ...]
"""A reported p-value, as three or four numbers. The first is p. The second is log10 p, which is accurate even if p is
below the smallest double. The third is a bound on the relative error of p (0 if p is an exact number of outcomes). If
only bounds of p are known, the first number is the upper bound, and the fourth is the lower bound."""


def round_p_values(log_p: np.ndarray, error: np.ndarray, num_signs: np.ndarray) -> np.ndarray:
    """Round p-values `[pair]`, given their logarithms `log_p` and bounds `error` on their relative errors.

    Returns `[3, pair]`: the three numbers of `PValue` (p, log10 p, error bound), or NaN if the error allows several
    results of rounding. `num_signs` `[pair]` is the number of units on which the systems differ. If it is small, p is
    not rounded to digits, but to a multiple of 1 / 2^(num_signs + 1), half the probability of one assignment of signs.

    >>> round_p_values(np.log([0.25, 1 / 3]), np.full(2, 1e-14), np.array([5, 100]))[:2]
    array([[ 0.25      ,  0.33333333],
           [-0.60205999, -0.47712125]])
    """
    unit, ten = float(np.finfo(log_p.dtype).eps), log_p.dtype.type(_LOG_TEN[0]) + log_p.dtype.type(_LOG_TEN[1])
    own = unit * (32.0 + np.abs(log_p).astype(np.float64))  # rounding errors of exp and of the logarithms
    with np.errstate(invalid="ignore"):
        p_value, certain = _decimals(log_p, error + own)
        size = -log_p / ten
        log10_p, sure = np.zeros(len(log_p)), error == 0.0
        some = size > 0.0
        logs = np.log(size[some])
        relative = error[some] / -log_p[some] + unit * (64.0 + 8.0 * np.abs(logs))
        log10_p[some], sure[some] = _decimals(logs, relative.astype(np.float64))
        bound = np.where(log10_p == 0.0, 0.0, _half_unit_error(p_value))
        outcomes = np.ldexp(np.exp(log_p.astype(np.float64)), np.minimum(num_signs, MOST_EXACT_SIGNS) + 1)
    certain, whole = certain & sure, np.rint(outcomes)
    few = (num_signs <= MOST_EXACT_SIGNS) & (whole < _MOST_HALF_OUTCOMES)
    if few.any():
        p_value[few] = np.ldexp(whole[few], -num_signs[few] - 1)
        log10_p[few] = [math.log10(each) if each else -math.inf for each in p_value[few].tolist()]
        bound[few] = 0.0
        certain[few] = (error * outcomes < 0.25)[few] & (whole[few] > 0.0)
    return np.where(certain, [p_value, -np.abs(log10_p) + 0.0, bound], np.nan)


def _half_unit_error(p_value: np.ndarray) -> np.ndarray:
    """Return half a unit in the last of ten digits of p, divided by p.

    If p is near the smallest double, returns an upper bound on this.
    """
    exponent = np.floor(np.log10(np.maximum(p_value, 1e-300)))
    unit = 10.0 ** (np.where(p_value < 1.0, exponent, -1.0) - DIGITS + 1.0)
    return np.where(p_value > 1e-290, 0.5 * unit / np.maximum(p_value, 1e-300), 0.5 * 10.0 ** (1.0 - DIGITS))


def _decimals(log_x: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round x = exp(log_x) to `DIGITS` significant digits.

    Returns two arrays: the rounded numbers, and whether all numbers within the relative `error` of x have the same
    rounded number.
    """
    exponent = np.floor(log_x.astype(np.float64) / math.log(10.0))
    scale = DIGITS - 1 - exponent
    usual = np.abs(scale) < len(_TENS)
    power = _TENS[np.where(usual, np.abs(scale), 0).astype(int)]
    # If a double cannot hold the power of ten exactly, its logarithm is added instead.
    shifted = (log_x + np.where(usual, 0.0, scale * _LOG_TEN[0])) + np.where(usual, 0.0, scale) * _LOG_TEN[1]
    x = np.exp(shifted)
    whole = np.where(usual, np.where(scale < 0, x / power, x * power), x)
    near = np.rint(whole)
    away = np.abs(whole - near).astype(np.float64)
    whole, near = whole.astype(np.float64), near.astype(np.float64)
    certain = away + whole * (error + 1e-19 * np.abs(scale)) < 0.5
    found = np.where(scale < 0, near * power, near / power)
    for i in np.flatnonzero(~usual).tolist():
        found[i] = float(f"{int(near[i])}e{-int(scale[i])}") if math.isfinite(near[i]) else math.nan
    return found, certain & np.isfinite(whole)


def round_outwards(low: float, high: float) -> tuple[float, float]:
    """Round a lower bound down and an upper bound up to `_BOUND_DIGITS` digits; all machines give the same results.

    >>> round_outwards(0.12345678, 0.12345678)
    (0.123456, 0.123457)
    """
    down, up = (Context(prec=_BOUND_DIGITS, rounding=rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    # The factors 1 -+ 1e-12 cover the differences between machines.
    return float(down.create_decimal(low * (1.0 - 1e-12))), min(float(up.create_decimal(high * (1.0 + 1e-12))), 1.0)


_MOST_POINTS = 2.0**15
"""Largest number of grid points (values of the sum S) for which `reference_p` takes a few seconds at most."""


def has_small_grid(lattice: Lattice, log_p: float) -> bool:
    """Whether `reference_p` takes a few seconds at most for the pair of this lattice.

    `log_p` is the approximate logarithm of the pair's p-value.
    """
    spread = math.sqrt(2.0 * (-log_p + 0.5 * _FIRST_BITS))
    sides = np.minimum(lattice.reach + 1.0, lattice.deviation * spread + 1.0)
    return float(np.prod(sides)) <= _MOST_POINTS


def nearest_p(log_p: float, error: float) -> PValue:
    """Return the p-value rounded to ten digits; the last digit may be wrong. `error` bounds the relative error of p.

    >>> nearest_p(math.log(1 / 3), 1e-12)[:2]
    (0.3333333333, -0.4771212547)
    """
    p_value, log10_p = math.exp(log_p), log_p / math.log(10.0)
    p_value, log10_p = (float(f"{each:.{DIGITS}g}") + 0.0 for each in (p_value, log10_p))
    return p_value, log10_p, error + float(_half_unit_error(np.array([p_value]))[0])


def reference_p(lattice: Lattice, score: Any, criterion: Any, log_p: float) -> PValue:
    """Return the correctly rounded p-value of one pair; `log_p` is its approximate logarithm.

    The pair has one or two axes (S is one number or two). `score` maps values of the random-sign sum S, one array `[1,
    ...]` per axis, to differences of scores. `criterion` defines which differences of scores are extreme.
    """
    bits, rest = _FIRST_BITS, log_p > math.log(0.5)  # if p is near 1, compute 1 - p
    needed = -math.log(max(-math.expm1(log_p), 1e-300)) if rest else -log_p
    while True:
        with localcontext(Context(prec=int(0.302 * bits + needed / 2.3) + 40, Emin=-(10**9), Emax=10**9)):
            found = _p_with_bits(lattice, score, criterion, needed, bits, rest=rest)
        if found is not None:
            return found
        bits *= 2


class _ExtremePoints(NamedTuple):
    """The points of a box around 0 (values of the random-sign sum S), and how often each point counts in p."""

    values: tuple[np.ndarray, np.ndarray]
    """The values of the random-sign sum S on the first axis and on the second axis of the box."""
    doubled_counts: np.ndarray
    """`[first, second]` int8: how many halves of each point's probability count in p: 0 (not extreme), 1 (a tie in
    mid-p) or 2."""
    outside: float
    """Bound on the probability that the random-sign sum S is outside the box."""


def _p_with_bits(
    lattice: Lattice, score: Any, criterion: Any, needed: float, bits: int, *, rest: bool
) -> PValue | None:
    """Compute the p-value with `bits` bits, and round it; None if more bits are needed to round it.

    If `rest`, p is computed as 1 minus the probability of the outcomes that are not extreme. `needed` is minus the
    approximate log of the probability that is computed.
    """
    plane = lattice if lattice.axes == 2 else with_zero_axis(lattice)
    points = _extreme_points(lattice, plane, score, criterion, needed + 0.5 * bits, rest=rest)
    if points.doubled_counts.any():
        mass, error = _probability(plane, points, bits)
    else:
        mass, error = Decimal(0), Decimal(0)
    error += Decimal(points.outside)
    ends = [(1 - mass - error, 1 - mass + error) if rest else (mass - error, mass + error)][0]
    outcomes = 2 ** (lattice.num_signs + 1)
    with localcontext() as context:
        context.prec += int(0.302 * lattice.num_signs)
        if error * outcomes < Decimal("0.25"):
            whole = round((ends[0] + ends[1]) / 2 * outcomes)
            exact = Decimal(whole) / outcomes
            ends = exact, exact
    if not 0 < ends[0] or (rest and ends[0] != ends[1] and not mass > error):
        return None
    return _rounded_interval(ends, lattice.num_signs)


_MOST_DIGITS = 400


def p_of_outcomes(number: int, num_signs: int) -> PValue:
    """Return the p-value of `number` extreme half outcomes: number / 2^(num_signs + 1).

    A half outcome is half of one assignment of signs to the `num_signs` units on which the systems differ.

    >>> p_of_outcomes(3, 10)[0], p_of_outcomes(3, 100)[0]
    (0.00146484375, 1.183291358e-30)
    """
    with localcontext(Context(prec=min(num_signs + 40, _MOST_DIGITS), Emin=-(10**9), Emax=10**9)):
        p_value = Decimal(number) / Decimal(2) ** (num_signs + 1)
        found = _rounded_interval((p_value, p_value), num_signs)
    assert found is not None  # an interval of zero width
    return found


def _rounded_interval(ends: tuple[Decimal, Decimal], num_signs: int) -> PValue | None:
    """Return the number to which both ends of an interval for p are rounded; None if they give different numbers."""
    if num_signs <= MOST_EXACT_SIGNS and round(ends[0] * 2 ** (num_signs + 1)) < _MOST_HALF_OUTCOMES:
        p_value = float(ends[0])
        return (p_value, math.log10(p_value), 0.0) if ends[0] == ends[1] else None
    short = Context(prec=DIGITS, Emin=-(10**9), Emax=10**9)
    p_values = {short.plus(end) for end in ends}
    logs = {short.plus(end.log10()) for end in ends}
    if len(p_values) > 1 or len(logs) > 1:
        return None
    p_value, log10_p = float(p_values.pop()), float(logs.pop())
    return p_value, log10_p + 0.0, float(_half_unit_error(np.array([p_value]))[0]) if log10_p else 0.0


def with_zero_axis(lattice: Lattice) -> Lattice:
    """Return a lattice with one axis as a lattice with two axes; the sum S is then always 0 on the first axis."""
    rows = np.concatenate([0 * lattice.rows, lattice.rows], axis=1)
    return Lattice(rows, lattice.multiplicity, np.append(0, lattice.observed), np.eye(2, dtype=np.int64))


def _extreme_points(
    lattice: Lattice, plane: Lattice, score: Any, criterion: Any, exponent: float, *, rest: bool
) -> _ExtremePoints:
    """Find the extreme points (values of the random-sign sum S) in a box around 0.

    Outside the box, the probability is below exp(-exponent) on each side. If `rest`, find the points that are not
    extreme. `plane` is `lattice` written with two axes. `score` is the difference of scores as a function of S.
    """
    reach = plane.reach
    half = np.minimum(reach, np.ceil(plane.deviation * math.sqrt(2.0 * exponent)).astype(np.int64) // 2 * 2 + reach % 2)
    first, second = (np.arange(-int(each), int(each) + 1, 2) for each in half)
    lowest, highest = hull(plane, first)
    counts = np.zeros((len(first), len(second)), np.int8)
    rows = max(1, _BLOCK // len(second))
    for start in range(0, len(first), rows):
        part = slice(start, start + rows)
        inside = (second >= lowest[part, None]) & (second <= highest[part, None])
        at = np.nonzero(inside)
        axes = (first[part][at[0]], second[at[1]])[-lattice.axes :]
        deltas = score(*(axis[None] for axis in axes))
        met = criterion.met(deltas)
        doubled = 2 * met.astype(np.int8)
        if criterion.mid_p:
            doubled -= (met & criterion.tied(deltas)).astype(np.int8)
        counts[part][at] = 2 - doubled[0] if rest else doubled[0]
    cut = int((half < reach).sum())
    return _ExtremePoints(
        (first, second), counts, 2.0 * cut * math.exp(-min(exponent, 740.0)) if exponent < 740.0 else 0.0
    )


def _probability(lattice: Lattice, points: _ExtremePoints, bits: int) -> tuple[Decimal, Decimal]:
    """Return the sum over points of probability times count, and a bound on the error of this sum.

    A point counts 1 or, if it is a tie in mid-p, 1/2. `bits` is the precision.
    """
    (first, second), counts = points.values, points.doubled_counts
    theta, best = _tilt(lattice, points)
    if theta.any():  # the likelier of a point and its mirror image is counted for both
        level = theta[0] * first[:, None] + theta[1] * second
        counts = np.where(level > 0.0, counts + counts[::-1, ::-1], np.where(level == 0.0, counts, 0)).astype(np.int8)
    rows, multiplicity = lattice.rows, lattice.multiplicity
    total, spread = multiplicity @ rows, math.sqrt(float(bits))
    mean = (multiplicity * np.tanh(rows @ theta)) @ rows
    # Find the window: under the tilt, S is outside it with a probability below 2 exp(-bits / 2) on each axis.
    low = np.maximum(
        np.floor((mean - spread * lattice.deviation + total) / 2).astype(np.int64), (total - lattice.reach) // 2
    )
    high = np.minimum(
        np.ceil((mean + spread * lattice.deviation + total) / 2).astype(np.int64), (total + lattice.reach) // 2
    )
    lengths = tuple(fft_length(count) if count > 1 else 1 for count in (high - low + 1).tolist())
    spans = [(axis + shift) // 2 for axis, shift in zip((first, second), total, strict=True)]
    held = tuple((span >= least) & (span <= most) for span, least, most in zip(spans, low, high, strict=True))
    inner = counts[held[0]][:, held[1]]
    columns, places = spans[1][held[1]] - low[1], spans[0][held[0]] - low[0]
    # Logarithms of the weights, after division by the weight of the likeliest point.
    weight = -(theta[0] * (first - best[0]))[:, None] - theta[1] * (second - best[1])
    largest = float(np.where(counts > 0, weight, -np.inf).max())
    of_inner = weight[held[0]][:, held[1]]
    summed = float((inner * np.exp(np.where(inner > 0, of_inner - largest, -np.inf))).sum())
    z = [Decimal(float(np.exp(2.0 * each))) for each in theta]
    odds = [z[0] ** int(row[0]) * z[1] ** int(row[1]) for row in rows]
    moment = Decimal(1)
    for each, count in zip(odds, multiplicity.tolist(), strict=True):
        moment *= ((1 + each) / 2) ** count
    star = [int((point + shift) // 2) - int(least) for point, shift, least in zip(best, total, low, strict=True)]
    found = _transformed(lattice, odds, z, inner, places, columns, star, low, lengths, bits)
    scale = moment
    for each, least, point in zip(z, low, star, strict=True):
        scale /= each ** (int(least) + point)
    # The error of a probability has two parts: rounding errors, for each sign and for products with roots of unity; and
    # the frequencies that are left out.
    each_error = math.exp(-0.5 * bits) + 2.0**-bits * (64.0 * lattice.num_signs + 64.0)
    outside = 8.0 * math.exp(-0.5 * bits) * (4.0 if (high - low < lattice.reach).any() else 0.0)
    error = Decimal(summed * each_error + outside) * Decimal(largest).exp() + (lengths[0] + 16) * Decimal(2) ** (
        4 - bits
    )
    return scale * found / 2, scale * error / 2


def _tilt(lattice: Lattice, points: _ExtremePoints) -> tuple[np.ndarray, np.ndarray]:
    """Return a tilt `[axis]`, and the likeliest of the points `[axis]`, which is the mean of the sum S under this tilt.

    If the likeliest point has a probability bound above exp(`_TILTED`), returns the tilt 0 and the middle of the box.
    """
    (first, second), (row, column) = points.values, np.nonzero(points.doubled_counts)
    some = np.stack([first[row], second[column]]).astype(np.float64)
    theta, best = np.zeros(2), np.zeros(2)
    for _ in range(4):
        inverse = np.linalg.pinv(covariance(lattice.rows, lattice.multiplicity, theta), hermitian=True)
        x, y = some[0] - best[0], some[1] - best[1]
        rate = theta[0] * x + theta[1] * y
        rate += 0.5 * inverse[0, 0] * x * x + inverse[0, 1] * x * y + 0.5 * inverse[1, 1] * y * y
        best = some[:, int(rate.argmin())]
        theta = plane_tilt(lattice.rows, lattice.multiplicity, best)
        theta[lattice.reach == 0] = 0.0
    if log_moment(lattice.rows @ theta, lattice.multiplicity) - theta @ best > _TILTED:
        return np.zeros(2), np.array([first[len(first) // 2], second[len(second) // 2]])
    return theta, best


def _transformed(
    lattice: Lattice,
    odds: list[Decimal],
    z: list[Decimal],
    counts: np.ndarray,
    places: np.ndarray,
    columns: np.ndarray,
    star: list[int],
    low: np.ndarray,
    lengths: tuple[int, ...],
    bits: int,
) -> Decimal:
    """Return the sum over points of count times weight times tilted probability, as a Fourier sum with `bits` bits.

    A point is a value of K = (S + sum of all rows) / 2, where S is the random-sign sum. Probabilities are computed in a
    window, a range of K with `lengths` values on its axes, which begins at `low`. The place of a point is its index in
    the window, `places` `[row]` on the first axis and `columns` `[column]` on the second axis. `counts` `[row, column]`
    are the counts of the points. `star` is the place of a reference point (usually the likeliest point). The weight of
    a point is the product over axes of z^(star - place), so the reference point has the weight 1. `z` `[axis]` is exp(2
    theta) under the tilt theta. `odds` are the odds of the sign +, exp(2 theta.v), for each difference row v.
    """
    chances = [each / (1 + each) for each in odds]
    weight = lattice.multiplicity * np.array([float(each * (1 - each)) for each in chances])
    every = np.arange(-(lengths[0] // 2), lengths[0] - lengths[0] // 2), np.arange(lengths[1] // 2 + 1)
    kept = sum_exponents(lattice.rows, weight, lengths, every) < 0.5 * bits
    some = [each[kept.any(axis=1 - axis)] for axis, each in enumerate(every)]
    chosen = np.nonzero(kept[kept.any(axis=1)][:, kept.any(axis=0)])
    roots = [_roots(length, bits) for length in lengths]
    frequencies = [each[at] for each, at in zip(some, chosen, strict=True)]
    one, phi = 1 << bits, _Complex.real(1 << bits, len(chosen[0]))
    for row, count, chance in zip(lattice.rows, lattice.multiplicity.tolist(), chances, strict=True):
        share = int(chance * one)
        wave = roots[1].at(frequencies[1] * row[1])
        wave = wave.times(roots[0].at(frequencies[0] * row[0]), bits) if row[0] else wave
        phi = phi.times(
            _Complex(one - share + (share * wave.re >> bits), share * wave.im >> bits).power(count, bits), bits
        )
    for axis in (0, 1):
        phi = phi.times(roots[axis].at(-frequencies[axis] * int(low[axis])), bits)
    # Weights may be large along one axis and small along the other axis, so their product needs more bits.
    wide = bits + 16
    if lengths[0] > 1:
        wide += math.ceil(sum(abs(math.log2(float(each))) * length for each, length in zip(z, lengths, strict=True)))
    counted = np.flatnonzero(counts.any(axis=1))
    waves = _runs(counts[counted], columns, z[1], star[1], some[1], lengths[1], wide)
    scales = np.array([int(z[0] ** (star[0] - int(place)) * (1 << wide)) for place in places[counted]], object)
    waves = _Complex(waves.re * scales[:, None] >> 2 * wide - bits, waves.im * scales[:, None] >> 2 * wide - bits)
    turn = roots[0].at(-np.outer(some[0], places[counted]))
    most = bits + 2 + max(0, *(int(abs(part).max()).bit_length() - bits for part in waves))
    both = np.concatenate(list(waves))
    left = np.concatenate([turn.re, -turn.im], axis=1), np.concatenate([turn.im, turn.re], axis=1)
    spectrum = _Complex(*(_product(part, both, most) >> bits for part in left))
    real = phi.re * spectrum.re[chosen] - phi.im * spectrum.im[chosen]
    # A frequency also stands for its opposite, which is not in the list.
    twice = np.where(2 * frequencies[1] % lengths[1] == 0, 1, 2).astype(object)
    return Decimal(int((real * twice).sum())) / (math.prod(lengths) << 2 * bits)


class _Complex(NamedTuple):
    """Complex numbers in fixed point: integers that stand for multiples of 2^-bits."""

    re: Any
    im: Any

    @classmethod
    def real(cls, number: int, count: int) -> "_Complex":
        """Return an array with `count` copies of a real number: the integer `number`, as a multiple of 2^-bits."""
        return cls(np.full(count, number, object), np.zeros(count, int).astype(object))

    def times(self, other: "_Complex", bits: int) -> "_Complex":
        """Return the elementwise product of two arrays."""
        real = self.re * other.re - self.im * other.im
        return _Complex(real >> bits, self.re * other.im + self.im * other.re >> bits)

    def power(self, count: int, bits: int) -> "_Complex":
        """Return the power with exponent `count`, computed by repeated squaring."""
        found, square = None, self
        while count:
            if count & 1:
                found = square if found is None else found.times(square, bits)
            count >>= 1
            square = square.times(square, bits) if count else square
        assert found is not None
        return found

    def at(self, index: np.ndarray) -> "_Complex":
        """Return the numbers at these indices; the indices are taken modulo the number of elements."""
        index = np.asarray(index) % len(self.re)
        return _Complex(self.re[index], self.im[index])


@lru_cache(maxsize=64)
def _roots(length: int, bits: int) -> _Complex:
    """Return the roots of unity exp(2 pi i j / length) for j = 0, 1, ..., in fixed point with `bits` bits."""
    inner = bits + 16 + 2 * length.bit_length()
    angle = 2 * _pi(inner) // length
    cosine, sine, term, k = 0, 0, 1 << inner, 0
    while term:
        signed = term if k % 4 < 2 else -term
        cosine, sine = (cosine + signed, sine) if k % 2 == 0 else (cosine, sine + signed)
        k += 1
        term = (term * angle >> inner) // k
    cosines, sines = [1 << inner], [0]
    for _ in range(length - 1):
        x, y = cosines[-1], sines[-1]
        cosines.append(x * cosine - y * sine >> inner)
        sines.append(x * sine + y * cosine >> inner)
    table = _Complex(np.array(cosines, object), np.array(sines, object))
    return _Complex(table.re >> inner - bits, table.im >> inner - bits)


def _pi(bits: int) -> int:
    """Return pi in fixed point with `bits` bits, by Machin's formula."""

    def arctan(inverse: int) -> int:
        total = term = (1 << bits + 16) // inverse
        k, sign = 3, -1
        while term:
            term //= inverse * inverse
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    return 4 * (4 * arctan(5) - arctan(239)) >> 16


def _runs(
    counts: np.ndarray, columns: np.ndarray, z: Decimal, star: int, frequencies: np.ndarray, length: int, bits: int
) -> _Complex:
    """Return the Fourier transform `[row, frequency]` of the weighted counts of points, along the second axis.

    `counts` `[row, column]` are the counts of the points. The place of a point is its index in the window on the second
    axis, `columns` `[column]`; `star` is the place of a reference point, as in `_transformed`. The weight of a point is
    z^(star - place). A term of the transform is the count times the weight times a root of unity. For equal counts, the
    terms from place 0 to some place are a geometric series. So the sum over a run (neighbouring points with equal
    counts) is the difference of two such series.
    """
    edge = np.zeros((len(counts), counts.shape[1] + 1), int)
    edge[:, :-1] = counts
    edge[:, 1:] -= counts
    row, column = np.nonzero(edge)
    ends, which = np.unique(np.append(columns, columns[-1] + 1)[column], return_inverse=True)
    spare = bits + 2 * length.bit_length()
    one, roots = 1 << spare, _roots(length, spare)
    step, turn = int(one / z), roots.at(-frequencies)
    re, im = one - (step * turn.re >> spare), -(step * turn.im >> spare)
    still = (re == 0) & (im == 0)  # without a tilt, at frequency 0
    square = np.where(still, 1, re * re + im * im)
    inverse = _Complex((re << 2 * spare) // square, (-im << 2 * spare) // square)
    weights = np.array([int(z ** (star - end) * one) for end in ends.tolist()], object)[:, None]
    turn = roots.at(-np.outer(ends, frequencies))
    # The constant term 1 / (1 - r) of the series with ratio r is left out, because it cancels in differences.
    series = _Complex(-(weights * turn.re >> spare), -(weights * turn.im >> spare)).times(inverse, spare)
    series.re[:, still], series.im[:, still] = ends.astype(object)[:, None] * one, 0
    sizes, found = edge[row, column].astype(object)[:, None], _Complex.real(0, len(counts) * len(frequencies))
    out = [part.reshape(len(counts), -1) for part in found]
    for table, part in zip(series, out, strict=True):
        np.subtract.at(part, row, sizes * (table[which] >> spare - bits))
    return _Complex(*out)


def _product(left: np.ndarray, right: np.ndarray, bits: int) -> np.ndarray:
    """Return the matrix product of integers with `bits` bits, from exact products of their parts in floats."""
    size = (53 - len(right).bit_length()) // 2
    count = bits // size + 1

    def limbs(number: np.ndarray) -> list[np.ndarray]:
        parts = [(number >> size * i) & (1 << size) - 1 for i in range(count - 1)]
        return [part.astype(np.float64) for part in (*parts, number >> size * (count - 1))]

    sums = np.zeros((2 * count - 1, len(left), right.shape[1]), np.int64)
    others = limbs(right)
    for i, one in enumerate(limbs(left)):
        for j, other in enumerate(others):
            sums[i + j] += (one @ other).astype(np.int64)
    total = sums[0].astype(object)
    for i, part in enumerate(sums[1:], 1):
        total = total + (part.astype(object) << size * i)
    return total
