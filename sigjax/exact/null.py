"""The exact p-value of a pair: the probability of all sums whose difference of scores is as extreme as observed.

The random-sign sum S adds up the differences of the two systems on all units, each with a random sign (see
`distributions`). Most functions here evaluate the score on every possible value of S. So the metric need not be linear
or monotone. Exchanging the systems turns S into -S and delta into -delta, so half of the values suffice
(`p_value_of_sets`).

**Bounds.** If the score is monotone in S, the extreme sums of a one-sided test are all sums at or above some value, the
edge. (If needed, the sign of S is reversed.) Then the p-value is a tail probability P(S >= edge), or 1 minus such a
probability. A two-sided p-value is twice a tail probability, at most 1. If the differences d_i of the units are real
numbers, or decimals too fine for a grid, they are rounded: d_i = h (k_i + r_i) with a step h, an integer k_i and a
remainder r_i. Let e_i be the random signs, S_k the sum of e_i k_i, and R the sum of e_i r_i. Then S = h (S_k + R),
where R is small. The distribution of S_k is computed exactly on a grid. Let y be the edge, and theta the tilt under
which S has the mean y. Let `mean` be the mean of R if S_k is tilted by theta h, and `mean_of_sum` the mean of R if S is
tilted by theta. Choose a number x so that R is rarely outside mean -+ x under the tilt of S_k: exp(-x^2 / (2 sum
r_i^2)) is about 3e-10. Let M(theta) = E exp(theta S) and M_k(theta) = E exp(theta S_k). Hoeffding's inequality, under
the tilt of S in the first line and of S_k in the second line, gives

    P(S >= y, R > mean + x)                  <= M(theta) exp(-theta y) exp(-u^2 / (2 sum r_i^2))
    P(h (S_k + mean - x) >= y, R < mean - x) <= M_k(theta h) exp(-theta (y - h mean + h x)) exp(-x^2 / (2 sum r_i^2))

with u = max(0, x + mean - mean_of_sum). So P(S >= y) is at least P(h (S_k + mean - x) >= y) minus the second bound, and
at most P(h (S_k + mean + x) >= y) plus the first bound. Because differences are rounded to the nearest multiple of h,
the bounds are narrower than if all differences were rounded up or down, by a factor of about the square root of the
number of units.

**Few units.** n units have 2^n sign vectors. `sign_sums` lists the sums of the sign vectors whose first sign is +; the
other sums are their negatives. This works for any number of statistics and any score. `count_tail` counts sign vectors
on one axis by meeting in the middle: it sorts the sums of one half of the units. For each sum of the other half, it
looks up how many of the sorted sums are large enough to reach the edge. So n units take about 2^(n/2) steps, and the
count is exact for all integer differences. References: Horowitz and Sahni (1974), "Computing partitions with
applications to the knapsack problem"; as the split-up algorithm for permutation tests, van de Wiel (2001). If one
system is ahead on nearly all units, few sign vectors are as extreme as observed. `count_small_tail` counts them, for
any number of units. `sign_distribution` gives the probability of every value of S.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from sigjax.exact.digits import PValue, round_outwards, round_p_values
from sigjax.exact.distributions import (
    DEVIATIONS,
    EPSILON,
    fft_length,
    grid_lengths,
    grid_probabilities,
    line_tilts,
    log_moment,
    rounding_error,
    significant_spectrum,
    window_mass,
)
from sigjax.exact.lattice import MOST_AXES, Lattice, plane_axes
from sigjax.records import Alternative
from sigjax.resample.extreme import Extreme, size
from sigjax.run.costs import LISTED_DELTA, Cost

BOUNDS_WIDTH = 0.01
"""Largest value of (upper - lower) / upper for which bounds on p are accepted as an exact test."""
_AIMED_WIDTH = 0.6 * BOUNDS_WIDTH
"""The step h, to which differences are rounded, is chosen so that the relative width of the bounds on p is about
this."""
_REMAINDER_EXPONENT = math.log(1e4 / BOUNDS_WIDTH) + 8.0
"""The bounds allow for a sum R of remainders that is at most x above or below its mean (see the module's text). The
number x is chosen so that Hoeffding's bound exp(-x^2 / (2 sum r_i^2)) is exp(-`_REMAINDER_EXPONENT`). The r_i are the
remainders of the differences, after rounding to steps. The term 8 is a reserve: Hoeffding's bound is multiplied by
Chernoff's bound M(theta) exp(-theta y), which is larger than the p-value P(S >= y)."""
DifferenceOfScores = Callable[[np.ndarray], np.ndarray]
"""Function from values `[value]` of the random-sign sum S (of the differences of two systems) to differences of scores
`[value]`."""
Tail = Callable[[float], "TailBounds"]
"""Function from an edge > 0 to bounds on P(S >= edge), where S is the random-sign sum of the differences of two
systems."""
_CHECKED_POINTS = 1025
"""Number of values of the sum S at which `extreme_edges` checks that the score is monotone in S."""
_SMALLEST = 1e-300
_POINTS_AT_ONCE = 65
"""Number of values of the sum S at which `_first_true` evaluates its condition at once."""


class TailBounds(NamedTuple):
    """Natural logarithms of a lower and an upper bound on a p-value."""

    log_low: float
    log_high: float


def choose_step(lattice: Lattice, edge: float) -> tuple[float, int]:
    """Return the step h for bounds on P(S >= edge), and the number of points of a grid with this step.

    S is the random-sign sum of the lattice (one axis). Differences will be rounded to multiples of h. The step is
    chosen so that the relative width of the bounds is about `_AIMED_WIDTH`.
    """
    steps, multiplicity = lattice.rows[:, 0].astype(np.float64), lattice.multiplicity
    deviation = math.sqrt(float((steps**2) @ multiplicity))
    theta = _tilt_to(steps, multiplicity, edge)
    # Assume that rounding errors are uniform, and that the log of P(S >= edge) falls by theta + 1 / deviation if the
    # edge grows by 1.
    slack = math.sqrt(2.0 * _REMAINDER_EXPONENT * lattice.num_signs / 12.0)
    step = _AIMED_WIDTH / (2.0 * slack * (theta + 1.0 / deviation))
    return step, fft_length(int(min(DEVIATIONS * deviation, lattice.reach[0]) / step) + 2)


def bound_tail(lattice: Lattice, edge: float, step: float) -> TailBounds:
    """Return bounds on P(S >= edge) for edge > 0, from differences rounded to multiples of `step`.

    S is the random-sign sum of the lattice (one axis).

    >>> lattice = few_units(np.array([[314159], [271828], [141421], [173205]]), np.zeros((4, 1), int))
    >>> low, high = bound_tail(lattice, 600_000.0, choose_step(lattice, 600_000.0)[0])
    >>> low <= math.log(2 / 16) <= high and high - low < BOUNDS_WIDTH
    True
    """
    steps, multiplicity = lattice.rows[:, 0].astype(np.float64), lattice.multiplicity
    whole = np.rint(steps / step)
    left = steps / step - whole
    spread = float((np.abs(left) + EPSILON * whole) ** 2 @ multiplicity)
    slack = math.sqrt(2.0 * _REMAINDER_EXPONENT * spread)
    theta = _tilt_to(steps, multiplicity, edge)
    mean, mean_of_sum = (float(multiplicity @ (np.tanh(theta * of) * left)) for of in (step * whole, steps))
    above = float(log_moment(theta * steps, multiplicity)) - theta * edge
    above -= max(slack + mean - mean_of_sum, 0.0) ** 2 / (2.0 * spread) if spread else math.inf
    below = float(log_moment(theta * step * whole, multiplicity)) - _REMAINDER_EXPONENT
    below -= theta * (edge - step * (mean - slack))
    coarse = _rounded_lattice(whole.astype(np.int64), multiplicity)
    middle = edge / step - mean
    (high, error), (low, doubt) = _grid_tails(coarse, middle - slack, middle + slack)
    high = float(np.logaddexp.reduce([high, error, above]))
    doubt = float(np.logaddexp(doubt, below if spread else -math.inf))
    return TailBounds(low + math.log1p(-math.exp(doubt - low)) if doubt < low else -math.inf, min(high, 0.0))


def _tilt_to(steps: np.ndarray, multiplicity: np.ndarray, edge: float) -> float:
    """Return the tilt theta under which the random-sign sum S of the differences `steps` has the mean `edge`."""
    largest = float(steps.max())
    mean = min(edge, float(steps @ multiplicity))
    return float(line_tilts(steps[None] / largest, multiplicity[None], np.array([mean / largest]))[0]) / largest


def _grid_tails(lattice: Lattice, low: float, high: float) -> list[tuple[float, float]]:
    """Return log P(S_k >= edge) and the logarithm of its error bound, for each of two edges `low` and `high`.

    S_k is the sum of a lattice of integers with random signs (see the module's text). The edges must be close to each
    other, because they share one tilt. To allow for rounding errors of the edges, `low` is moved down and `high` up.
    Tilted probabilities of S_k = first + 2j are a Fourier sum over few frequencies. Multiplied by the weights
    exp(-2 theta j), the terms of each frequency are a geometric series in j.
    """
    steps, multiplicity, reach = lattice.rows[None, :, 0], lattice.multiplicity[None], int(lattice.reach[0])
    parity, (length,) = reach % 2, grid_lengths(lattice)
    # The relative shift by 1e-12 covers the rounding errors of the edges.
    nudged = (edge + sign * 1e-12 * (abs(edge) + 1.0) for edge, sign in ((low, -1.0), (high, 1.0)))
    edges = [parity + 2 * max(math.ceil((edge - parity) / 2.0), 0) for edge in nudged]
    first = min(edges[0], reach)
    theta = line_tilts(steps, multiplicity, np.array([float(first)]))
    begins = np.array([(first + reach) // 2])
    (frequencies,), spectrum = significant_spectrum(lattice.rows, lattice.multiplicity, theta, begins, (length,))
    tilt, moment = 2.0 * float(theta[0]), float(log_moment(theta * steps, multiplicity)[0])
    both = np.where(2 * frequencies % length == 0, 1.0, 2.0)  # a frequency also stands for its opposite
    size = math.sqrt(float((both * np.abs(spectrum) ** 2).sum()) / length)
    # The grid is periodic. So the tail ends at the reach, or after one period: the points after it are sums below the
    # edge.
    end = ((reach if length > reach else min(reach, first + length)) - first) // 2 + 1

    def exponents(k: int) -> np.ndarray:
        return -tilt * k + (2j * math.pi / length) * (frequencies * k % length)

    found: list[tuple[float, float]] = []
    for begin in ((edge - first) // 2 for edge in edges):
        if (count := end - begin) <= 0:
            found.append((-math.inf, -math.inf))
            continue
        series = np.exp(exponents(begin)) * _geometric(exponents(1), exponents(count), count)
        mass = float((both * (spectrum * series).real).sum()) / length
        norm = math.exp(-tilt * begin) * math.sqrt(_geometric(np.float64(-2.0 * tilt), -2.0 * tilt * count, count))
        # The logarithm of M(theta) exp(-theta S_k) is a difference of two large numbers, so it has a rounding error.
        noise = max(mass, 0.0) * 4e-16 * (abs(moment) + 0.5 * tilt * first)
        noise += float(rounding_error(lattice.num_signs, (length,))) * size * norm + float(
            window_mass(lattice.reach, length)[0]
        )
        scale = moment - 0.5 * tilt * first
        log_mass, log_noise = (math.log(each) + scale if each > 0.0 else -math.inf for each in (mass, noise))
        found.append((log_mass, log_noise))
    return found


def _geometric(step: Any, whole: Any, count: int) -> Any:
    """Return the sum of exp(step k) over k = 0, ..., count - 1.

    `whole` is step times count, up to a multiple of 2 pi i.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(step == 0.0, count, np.expm1(whole) / np.expm1(step))


def _rounded_lattice(sizes: np.ndarray, multiplicity: np.ndarray) -> Lattice:
    """Return the lattice (one axis) of the integers `sizes`, without zeros.

    `sizes` `[row]` are the absolute values of rounded differences, and `multiplicity` `[row]` the numbers of units.
    """
    steps, inverse = np.unique(sizes, return_inverse=True)
    counts = np.bincount(inverse, weights=multiplicity).astype(np.int64)
    steps, counts = steps[steps > 0], counts[steps > 0]
    return Lattice(steps[:, None], counts, np.zeros(1, np.int64), np.ones((1, 1), np.int64))


def extreme_edges(lattice: Lattice, score: DifferenceOfScores, criterion: Extreme) -> tuple[float, float] | None:
    """Return the smallest extreme value of the sum S, and the smallest value that is more extreme than observed.

    S is the random-sign sum of the lattice (one axis), an integer. Its sign is chosen so that larger sums are more
    extreme. If one of these two values does not exist, a number above the largest sum is returned in its place. `score`
    is the difference of scores as a function of S. `criterion` is for one pair. Returns None if the score is not
    monotone in S.
    """
    tolerance, alternative = float(criterion.tolerance[0]), criterion.alternative
    reach = float(lattice.reach[0])
    differences = score(np.linspace(-reach, reach, _CHECKED_POINTS))
    upward = differences[-1] >= differences[0]
    if ((np.diff(differences) if upward else -np.diff(differences)) < -tolerance).any():
        return None
    sign = 1.0 if upward else -1.0

    def size_at(sums: np.ndarray) -> np.ndarray:
        """Return how extreme the difference of scores is at these sums (see `size`). It increases with the sum."""
        mirrored = -sign if alternative == "less" else sign
        return np.asarray(size(score(mirrored * sums), alternative))

    lowest = 0.0 if alternative == "two-sided" else -reach
    return (
        _first_true(lambda sums: size_at(sums) >= criterion.least[0], lowest, reach),
        _first_true(lambda sums: size_at(sums) > criterion.beyond[0], lowest, reach),
    )


def threshold_p(edges: tuple[float, float], tail: Tail, alternative: Alternative, *, mid_p: bool) -> TailBounds:
    """Return bounds on the p-value of a pair whose score is monotone in the random-sign sum S.

    `edges` are the results of `extreme_edges`: the smallest extreme sum, and the smallest sum that is more extreme than
    observed. (The second number is used only for `mid_p`.) `tail` takes an edge, and returns bounds on P(S >= edge).
    """
    whole = _p_from_edge(edges[0], tail, alternative)
    if not mid_p:
        return whole
    beyond = _p_from_edge(edges[1], tail, alternative)
    return TailBounds(*(float(np.logaddexp(a, b)) - math.log(2.0) for a, b in zip(whole, beyond, strict=True)))


def _p_from_edge(edge: float, tail: Tail, alternative: Alternative) -> TailBounds:
    if alternative == "two-sided":
        if edge <= 0.0:
            return TailBounds(0.0, 0.0)
        low, high = tail(edge)
        return TailBounds(*(min(end + math.log(2.0), 0.0) for end in (low, high)))
    if edge > 0.0:
        return tail(edge)
    # P(S >= edge) = 1 - P(S <= edge - 1), and the distribution of S is symmetric.
    low, high = tail(1.0 - edge)
    return TailBounds(_log_complement(high), _log_complement(low))


def _log_complement(log_p: float) -> float:
    """Return log(1 - p)."""
    return math.log1p(-math.exp(log_p)) if log_p < 0.0 else -math.inf


def _first_true(holds: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """Return the smallest integer from `low` to `high` for which a monotone condition holds; high + 1 if none does."""
    high += 1.0
    while high - low > 0.5:
        points = np.floor(np.linspace(low, high - 1.0, _POINTS_AT_ONCE))
        held = holds(points)
        first = int(held.argmax()) if held.any() else len(points)
        if first < len(points):
            high = float(points[first])
        if first > 0:
            low = float(points[first - 1]) + 1.0
    return low


MOST_LISTED_SIGNS = 20
"""Limit for listing all sign vectors: the systems differ on at most this many units. (The list then has 2^19 sums and
their negatives.)"""
MOST_SPLIT_SIGNS = 44
"""Limit for meeting in the middle: the systems differ on at most this many units. (Each half of the units then has at
most 2^22 sums, 32 MiB.)"""
MOST_EXTREME = 2**16
_MOST_POINTS = 2**22


def few_units(a: np.ndarray, b: np.ndarray) -> Lattice | None:
    """Return the lattice of the units on which `a` and `b` differ, with one row per unit.

    `a` and `b` are the statistics `[unit, stat]` (int64) of two systems. Returns None if they differ on more than
    `MOST_LISTED_SIGNS` units.

    >>> few_units(np.array([[3, 1], [2, 2]]), np.array([[1, 4], [2, 2]])).rows
    array([[ 2, -3]])
    """
    rows = (a - b)[(a != b).any(axis=1)]
    if len(rows) > MOST_LISTED_SIGNS:
        return None
    return Lattice(rows, np.ones(len(rows), np.int64), rows.sum(axis=0), np.eye(a.shape[1], dtype=np.int64))


def sign_sums(lattice: Lattice) -> np.ndarray:
    """Return the sums `[outcome, stat]` of all sign vectors whose first sign is +; the other sums are their negatives.

    >>> sign_sums(few_units(np.array([[3], [5], [9]]), np.zeros((3, 1), int))).ravel()
    array([-11,  -1,   7,  17])
    """
    sums = lattice.rows[:1]
    for row in lattice.rows[1:]:
        sums = np.concatenate([sums - row, sums + row])
    return sums


def count_tail(lattice: Lattice, edge: int) -> int:
    """Return how many of the 2^num_signs sign vectors give a sum S of at least `edge`, for a lattice with one axis.

    >>> count_tail(few_units(np.array([[3], [5], [9]]), np.zeros((3, 1), int)), 7)
    3
    """
    steps = np.repeat(lattice.rows[:, 0], lattice.multiplicity)
    half = lattice.num_signs // 2
    one, other = _sums(steps[:half]), _sums(steps[half:])
    # Look up the sums in ascending order, because this reads memory from start to end instead of jumping.
    return int((len(one) - np.searchsorted(np.sort(one), edge - np.sort(other)[::-1])).sum())


def count_small_tail(lattice: Lattice, edge: int) -> int | None:
    """Return how many sign vectors give a sum S of at least `edge`; None if more than `MOST_EXTREME` vectors do.

    The number of units may be large. If the edge is near the largest sum, few units have a minus sign in these vectors.

    >>> one = np.ones(1, int)
    >>> lattice = Lattice(np.arange(1, 101)[:, None], np.ones(100, int), one, one[None])
    >>> count_small_tail(lattice, 5050 - 2 * 3)  # minus signs: none, 1, 2, 1 + 2, 3
    5
    """
    spare, sums = (int(lattice.reach[0]) - edge) // 2, np.zeros(1, np.int64)
    steps = np.sort(np.repeat(lattice.rows[:, 0], lattice.multiplicity))
    if steps[: MOST_EXTREME.bit_length()].sum() <= spare:
        return None  # too many sign vectors: every subset of these units may have minus signs
    for step in steps.tolist():
        if step > spare or len(sums) > MOST_EXTREME:
            break
        sums = np.concatenate([sums, sums[sums <= spare - step] + step])
    return None if len(sums) > MOST_EXTREME else len(sums) * (spare >= 0)


def _sums(steps: np.ndarray) -> np.ndarray:
    """Return the sums of `steps` with all possible signs, `[2^units]` int64."""
    sums = np.zeros(1, np.int64)
    for step in steps:
        sums = np.concatenate([sums - step, sums + step])
    return sums


def listing_cost(lattice: Lattice) -> Cost:
    """Return the cost of listing and scoring all values of the random-sign sum S.

    It is infinite if there are more than `_MOST_POINTS` values.
    """
    points = min(_grid_points(lattice), _num_sign_vectors(lattice))
    return LISTED_DELTA * (points if points <= _MOST_POINTS else math.inf)


def sign_distribution(lattice: Lattice) -> tuple[np.ndarray, np.ndarray]:
    """Return the values `[value, axis]` (int64) of the random-sign sum S, and their probabilities `[value]`.

    They are computed from all sign vectors, or with the characteristic function on a grid, whichever has fewer values.
    The total error of the probabilities is near 1e-10. With a grid, values beyond 9 standard deviations, and values
    with probabilities as small as rounding errors, are left out.

    >>> lattice = Lattice(np.array([[1]]), np.array([3]), np.array([3]), np.array([[1]]))
    >>> values, chances = sign_distribution(lattice)
    >>> values.ravel(), chances.round(12)
    (array([-3, -1,  1,  3]), array([0.125, 0.375, 0.375, 0.125]))
    """
    if lattice.axes == 0:
        return np.zeros((1, 0), np.int64), np.ones(1)
    if _num_sign_vectors(lattice) < _grid_points(lattice):
        units = np.repeat(lattice.rows, lattice.multiplicity, axis=0)
        half = sign_sums(Lattice(units, np.ones(len(units), np.int64), lattice.observed, lattice.basis))
        return np.concatenate([half, -half]), np.full(2 * len(half), 0.5**lattice.num_signs)
    lengths, total = grid_lengths(lattice), lattice.multiplicity @ lattice.rows
    first = (total - np.minimum(np.array(lengths), lattice.reach + 1) + 1) // 2
    chances = grid_probabilities(lattice.rows, lattice.multiplicity, np.zeros(lattice.axes), first, lengths)
    noise = float(rounding_error(lattice.num_signs, lengths)) * float(np.linalg.norm(chances))
    kept = np.nonzero(chances > noise)
    return 2 * (np.stack(kept, axis=1) + first) - total, chances[kept]


def _grid_points(lattice: Lattice) -> float:
    return math.prod(map(float, grid_lengths(lattice))) if lattice.axes <= MOST_AXES else math.inf


def _num_sign_vectors(lattice: Lattice) -> float:
    return 2.0**lattice.num_signs if lattice.num_signs <= MOST_LISTED_SIGNS else math.inf


Delta = Callable[..., np.ndarray]
"""Function of the random-sign sum S. It takes one array [pair, ...] for each axis of S (the arrays broadcast), and
returns differences of scores [pair, ...]."""
SetProbability = Callable[[np.ndarray, np.ndarray], "LogProbability"]
"""Function that returns the probability that the random-sign sum S is in a set. It takes two masks [pair, value]: one
marks the values in the set, the other the values v for which -v is in the set."""


class LogProbability(NamedTuple):
    """Natural logarithms `[pair]` of a probability (-inf for an empty set) and of a bound on its absolute error."""

    log_p: np.ndarray
    log_error: np.ndarray


class UncertainP(NamedTuple):
    """A p-value whose last digit is not certain: the natural logarithm of p, and a bound on the relative error of p."""

    log_p: float
    error_bound: float


def p_of_distribution(
    lattice: Lattice, probabilities: np.ndarray, error: Callable[[float], float], delta: Delta, criterion: Extreme
) -> PValue | UncertainP:
    """Return the exact p-value from the distribution of the random-sign sum S, on one or two axes.

    `probabilities` are P(S = 2k - reach) for all k, where reach `[axis]` is the largest value of S. `error` maps a sum
    of probabilities to a bound on its absolute error. `delta` is the difference of scores as a function of S.
    """
    reach = lattice.reach
    # Score only possible values of S. Rounding errors may give other values a probability, but their score may be NaN.
    if lattice.axes == 1:
        values = np.arange(int(reach[0]) % 2, int(reach[0]) + 1, 2)[:, None]
    else:
        first, second, inside = plane_axes(lattice, reach)
        values = np.stack([each[at] for each, at in zip((first, second), np.nonzero(inside), strict=True)], axis=1)
    chances = probabilities[tuple((values + reach).T // 2)]
    values, chances = values[chances > 0.0], chances[None, chances > 0.0]

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> LogProbability:
        masses = (chances * hit).sum(axis=1) + (chances * mirrored).sum(axis=1)
        return LogProbability(np.log(masses), np.log(np.array([error(float(each)) for each in masses])))

    return p_value_of_sets(
        mass, outcome_sets(delta(*values.T[:, None]), criterion, mirrored=values[:, 0] > 0), lattice.num_signs
    )


def p_of_probabilities(delta: np.ndarray, chances: np.ndarray, error: float, criterion: Extreme) -> PValue:
    """Return the p-value of one pair, from all differences of scores `[value]` and their probabilities `[value]`.

    `error` is a bound on the relative error of a probability.
    """

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> LogProbability:
        log_p = np.log((chances * hit).sum(axis=1))
        return LogProbability(log_p, log_p + math.log(error + EPSILON))

    log_p, relative = _log_mass(mass, outcome_sets(delta[None], criterion, mirrored=False))
    found = float(log_p[0])
    return math.exp(found), found / math.log(10.0) + 0.0, float(relative[0]) + EPSILON * (1.0 - found)


def signs_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue:
    """Return the exact p-value of a pair that differs on few units, computed from all sign vectors."""
    return outcomes_p(delta(*sign_sums(lattice).T[:, None]), criterion, lattice.num_signs)


def outcomes_p(delta: np.ndarray, criterion: Extreme, num_signs: int) -> PValue:
    """Return the p-value from the differences of scores `[1, outcome]` of all sign vectors whose first sign is +.

    An outcome is one sign vector. p is the number of extreme sign vectors (with mid-p, ties count one half), divided by
    2^`num_signs`, the number of all sign vectors.
    """

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> LogProbability:
        return LogProbability(np.log((hit.sum(axis=1) + mirrored.sum(axis=1)) / 2.0**num_signs), np.full(1, -np.inf))

    p_value = math.exp(float(_log_mass(mass, outcome_sets(delta, criterion))[0][0]))
    p_value = math.ldexp(round(math.ldexp(p_value, num_signs + 1)), -num_signs - 1)
    return p_value, math.log10(p_value), 0.0


def bounded_p(bounds: TailBounds) -> PValue:
    """Return the `PValue` for bounds on p: the upper bound, log10 of it, the relative width, and the lower bound.

    The relative width is (upper - lower) / upper. The lower bound is rounded down, and the upper bound up.
    """
    width = -math.expm1(bounds.log_low - bounds.log_high)
    low, high = round_outwards(math.exp(bounds.log_low), math.exp(bounds.log_high))
    if high < _SMALLEST:  # below the range of doubles, only the logarithm is informative
        _, size = round_outwards(0.0, -bounds.log_high / math.log(10.0) * 1e-9)
        return high, -size * 1e9 + 0.0, width, low
    return high, float(f"{math.log10(high):.10g}") + 0.0, 1.0 - low / high, low


OutcomeSets = dict[Literal["extreme", "rest", "ties"], tuple[np.ndarray, np.ndarray]]
"""Dict from the name of a set of values of the sum S to two masks `[pair, value]`: the values in the set, and the
values v for which -v is in the set. "extreme" contains the extreme values, "rest" all other values, and "ties" (only
for mid-p) the ties."""


def outcome_sets(delta: np.ndarray, criterion: Extreme, *, valid: Any = True, mirrored: Any = True) -> OutcomeSets:
    """Classify differences of scores at values v of the random-sign sum S: return the `OutcomeSets` of each pair.

    `delta` `[pair, value]` are the differences of scores, and `criterion` defines which of them are extreme. `valid`
    marks the possible values of S. `mirrored` marks the possible values v that also stand for their negative -v.
    """
    met = criterion.met(delta)
    image = met if criterion.alternative == "two-sided" else criterion.met(-delta)
    sets: OutcomeSets = {"extreme": (met & valid, image & mirrored), "rest": (~met & valid, ~image & mirrored)}
    if criterion.mid_p:
        hit, mirror = sets["extreme"]
        sets["ties"] = hit & criterion.tied(delta), mirror & criterion.tied(-delta)
    return sets


def p_value_of_sets(mass: SetProbability, sets: OutcomeSets, num_signs: int) -> PValue | UncertainP:
    """Return the p-value of a pair, from its sets of values of the sum S (extreme values, other values, ties).

    `mass` computes the probability of a set. `num_signs` is the number of units on which the systems differ. Returns
    `UncertainP` if the last digit of p is uncertain.
    """
    log_p, error = _log_mass(mass, sets)
    return rounded_p_value(round_p_values(log_p, error, np.array([num_signs])), float(log_p[0]), float(error[0]))


def rounded_p_value(known: np.ndarray, log_p: float, error: float) -> PValue | UncertainP:
    """Return the p-value of the only pair in `known`, the result of `round_p_values`.

    Returns `UncertainP` (with `log_p` and `error`) if the last digit is uncertain.
    """
    return UncertainP(log_p, error) if math.isnan(known[0, 0]) else tuple(known[:, 0].tolist())


@np.errstate(divide="ignore")  # empty sets
def _log_mass(mass: SetProbability, sets: OutcomeSets) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of p-values `[pair]` and bounds `[pair]` on the relative errors of p.

    `sets` are the sets of extreme values of the sum S, of all other values and (for mid-p) of ties. `mass` computes the
    probability of a set.
    """
    log_p, log_error = mass(*sets["extreme"])
    if (likely := np.asarray(log_p > math.log(0.5))).any():
        # If p is near 1, 1 - p is small, so it is more accurate.
        hit, image = sets["rest"]
        rest = mass(hit & likely[:, None], image & likely[:, None])
        log_p = np.where(likely, np.log1p(-np.exp(np.minimum(rest.log_p, 0.0))), log_p)
        log_error = np.where(likely, rest.log_error, log_error)
    if "ties" in sets:
        ties = mass(*sets["ties"])
        log_p = log_p + np.log1p(-0.5 * np.exp(ties.log_p - log_p))
        log_error = np.logaddexp(log_error, ties.log_error)
    with np.errstate(invalid="ignore", over="ignore"):  # log_p is -inf if all probabilities underflow
        return log_p, np.exp(log_error - log_p)
