"""The exact p-value of a pair: the probability of all sums whose difference of scores is as extreme as observed.

The score is evaluated on every value that the random-sign sum S can take, so any metric will do: it need not be linear
or even monotone. Exchanging the systems turns S into -S and delta into -delta, so half of the values are enough
(`settle`).

**Bounds.** Where the score is monotone in S, the extreme sums are those from some edge on, so the p-value is a tail
probability P(S >= edge), or 1 minus one. For real numbers, and decimals too fine for a grid, the differences d_i are
rounded to multiples k_i of a step h, d_i = h (k_i + r_i). So S = h (S_k + R): the distribution of S_k, the sum of e_i
k_i, is exact on a grid, and the remainder R, the sum of e_i r_i, is small. Little happens outside of R = mean -+ x. For
a tilt theta that makes the edge y likely, with that mean of R, Hoeffding's inequality gives

    P(S >= y, R > mean + x)                  <= M(theta) exp(-theta y) exp(-x^2 / (2 sum r_i^2))
    P(h (S_k + mean - x) >= y, R < mean - x) <= M_k(theta h) exp(-theta (y - h mean + h x)) exp(-x^2 / (2 sum r_i^2))

and P(S >= y) lies between P(h (S_k + mean - x) >= y) less the second and P(h (S_k + mean + x) >= y) plus the first.
Rounding to the nearest multiple, rather than all up or all down, narrows the bounds by the square root of the number
of units.

**Few units.** `sign_sums` lists the sums of all 2^n sign vectors, for any number of statistics and any score.
`count_from` counts on one axis by meeting in the middle: the sums of one half of the units are sorted, and each sum of
the other half is looked up. So n units take 2^(n/2) steps, and the count is a whole number, whatever the differences.
References: Horowitz and Sahni (1974), "Computing partitions with applications to the knapsack problem"; as the split-up
algorithm for permutation tests, van de Wiel (2001). `count_extreme` counts the few that are as extreme where one system
is ahead nearly everywhere, of any number of units. `sign_distribution` gives the probability of every value.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from sigjax.exact.digits import PValue, outward, settled
from sigjax.exact.distributions import (
    DEVIATIONS,
    EPSILON,
    fft_length,
    grid_lengths,
    line_tilts,
    log_moment,
    plane_probabilities,
    rounding,
    significant_spectrum,
    window_mass,
)
from sigjax.exact.lattice import MOST_AXES, Lattice, plane_axes
from sigjax.records import Alternative
from sigjax.resample.extreme import Extreme, size
from sigjax.run.costs import LISTED_DELTA, Cost

BOUNDS_WIDTH = 0.01
"""Bounds count as exact when they are at most this fraction of the upper one apart."""
_AIM = 0.6 * BOUNDS_WIDTH
"""The width that the step is chosen for."""
_SPARE = math.log(1e4 / BOUNDS_WIDTH) + 8.0
"""x makes the last factor above exp(-_SPARE); exp(-8) allows for the gap between Chernoff's bound and the
probability."""
DifferenceOfScores = Callable[[np.ndarray], np.ndarray]
"""Values of S `[value]` -> differences of scores `[value]`."""
Tail = Callable[[float], "TailBounds"]
"""edge > 0 -> bounds of P(S >= edge)."""
_POINTS = 1025
"""Values of S at which monotonicity of the score is checked."""
_SMALLEST = 1e-300
_FAN = 65
"""Values of S evaluated at once in a search."""


class TailBounds(NamedTuple):
    """Natural logarithms of a lower and an upper bound on a p-value."""

    log_low: float
    log_high: float


def choose_step(lattice: Lattice, edge: float) -> tuple[float, int]:
    """The coarsest step h that makes the bounds of P(S >= edge) narrow enough, and how many values its grid has."""
    steps, multiplicity = lattice.rows[:, 0].astype(np.float64), lattice.multiplicity
    deviation = math.sqrt(float((steps**2) @ multiplicity))
    theta = _tilt(steps, multiplicity, edge)
    # Rounding errors are uniform; the tail falls by theta a unit, and by about 1 / deviation where theta is 0.
    slack = math.sqrt(2.0 * _SPARE * lattice.coins / 12.0)
    step = _AIM / (2.0 * slack * (theta + 1.0 / deviation))
    return step, fft_length(int(min(DEVIATIONS * deviation, lattice.reach[0]) / step) + 2)


def bound_tail(lattice: Lattice, edge: float, step: float) -> TailBounds:
    """Bounds of P(S >= edge), edge > 0, by differences rounded to multiples of a step.

    >>> lattice = few_units(np.array([[314159], [271828], [141421], [173205]]), np.zeros((4, 1), int))
    >>> low, high = bound_tail(lattice, 600_000.0, choose_step(lattice, 600_000.0)[0])
    >>> low <= math.log(2 / 16) <= high and high - low < BOUNDS_WIDTH
    True
    """
    steps, multiplicity = lattice.rows[:, 0].astype(np.float64), lattice.multiplicity
    whole = np.rint(steps / step)
    left = steps / step - whole
    spread = float((np.abs(left) + EPSILON * whole) ** 2 @ multiplicity)
    slack = math.sqrt(2.0 * _SPARE * spread)
    theta = _tilt(steps, multiplicity, edge)
    mean, mean_of_sum = (float(multiplicity @ (np.tanh(theta * of) * left)) for of in (step * whole, steps))
    above = float(log_moment(theta * steps, multiplicity)) - theta * edge
    above -= max(slack + mean - mean_of_sum, 0.0) ** 2 / (2.0 * spread) if spread else math.inf
    below = float(log_moment(theta * step * whole, multiplicity)) - _SPARE
    below -= theta * (edge - step * (mean - slack))
    coarse = _coarse(whole.astype(np.int64), multiplicity)
    middle = edge / step - mean
    (high, error), (low, doubt) = _grid_tails(coarse, middle - slack, middle + slack)
    high = float(np.logaddexp.reduce([high, error, above]))
    doubt = float(np.logaddexp(doubt, below if spread else -math.inf))
    return TailBounds(low + math.log1p(-math.exp(doubt - low)) if doubt < low else -math.inf, min(high, 0.0))


def _tilt(steps: np.ndarray, multiplicity: np.ndarray, edge: float) -> float:
    """The tilt that makes the edge the mean of S."""
    largest = float(steps.max())
    mean = min(edge, float(steps @ multiplicity))
    return float(line_tilts(steps[None] / largest, multiplicity[None], np.array([mean / largest]))[0]) / largest


def _grid_tails(lattice: Lattice, low: float, high: float) -> list[tuple[float, float]]:
    """Logarithms of P(S_k >= edge) and of its error for two edges close to each other, `low` down and `high` up a bit.

    Tilted probabilities of S_k = first + 2k are a sum of waves in k, few of which count. Their weights exp(-2 theta k)
    make every wave a geometric series.
    """
    steps, multiplicity, reach = lattice.rows[None, :, 0], lattice.multiplicity[None], int(lattice.reach[0])
    parity, (length,) = reach % 2, grid_lengths(lattice)
    # A part in 10^12 covers the roundings of the edges.
    nudged = (edge + sign * 1e-12 * (abs(edge) + 1.0) for edge, sign in ((low, -1.0), (high, 1.0)))
    edges = [parity + 2 * max(math.ceil((edge - parity) / 2.0), 0) for edge in nudged]
    first = min(edges[0], reach)
    theta = line_tilts(steps, multiplicity, np.array([float(first)]))
    begins = np.array([(first + reach) // 2])
    (frequencies,), waves = significant_spectrum(lattice.rows, lattice.multiplicity, theta, begins, (length,))
    tilt, moment = 2.0 * float(theta[0]), float(log_moment(theta * steps, multiplicity)[0])
    both = np.where(2 * frequencies % length == 0, 1.0, 2.0)  # a frequency and its mirror image
    size = math.sqrt(float((both * np.abs(waves) ** 2).sum()) / length)
    # What is beyond reach, or beyond the half of a window, has come round from below the edge.
    end = ((reach if length > reach else min(reach, first + length)) - first) // 2 + 1

    def exponents(k: int) -> np.ndarray:
        return -tilt * k + (2j * math.pi / length) * (frequencies * k % length)

    found: list[tuple[float, float]] = []
    for begin in ((edge - first) // 2 for edge in edges):
        if (count := end - begin) <= 0:
            found.append((-math.inf, -math.inf))
            continue
        series = np.exp(exponents(begin)) * _geometric(exponents(1), exponents(count), count)
        mass = float((both * (waves * series).real).sum()) / length
        norm = math.exp(-tilt * begin) * math.sqrt(_geometric(np.float64(-2.0 * tilt), -2.0 * tilt * count, count))
        # The change of measure subtracts two large numbers.
        noise = max(mass, 0.0) * 4e-16 * (abs(moment) + 0.5 * tilt * first)
        noise += float(rounding(lattice.coins, (length,))) * size * norm + float(window_mass(lattice.reach, length)[0])
        scale = moment - 0.5 * tilt * first
        log_mass, log_noise = (math.log(each) + scale if each > 0.0 else -math.inf for each in (mass, noise))
        found.append((log_mass, log_noise))
    return found


def _geometric(step: Any, whole: Any, count: int) -> Any:
    """The sum of exp(step k) over k = 0 ... count - 1; `whole` is step times count, up to whole turns."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(step == 0.0, count, np.expm1(whole) / np.expm1(step))


def _coarse(sizes: np.ndarray, multiplicity: np.ndarray) -> Lattice:
    """The lattice of rounded differences, without those that round to 0, which the remainder holds."""
    steps, inverse = np.unique(sizes, return_inverse=True)
    counts = np.bincount(inverse, weights=multiplicity).astype(np.int64)
    steps, counts = steps[steps > 0], counts[steps > 0]
    return Lattice(steps[:, None], counts, np.zeros(1, np.int64), np.ones((1, 1), np.int64))


def find_edges(lattice: Lattice, score: DifferenceOfScores, criterion: Extreme) -> tuple[float, float] | None:
    """Where the extreme sums begin, in order from small to extreme, and those that are more extreme than observed.

    The criterion is of one pair, and S takes whole numbers. None where the score is not monotone in S.
    """
    tolerance, alternative = float(criterion.tolerance[0]), criterion.alternative
    reach = float(lattice.reach[0])
    differences = score(np.linspace(-reach, reach, _POINTS))
    upward = differences[-1] >= differences[0]
    if ((np.diff(differences) if upward else -np.diff(differences)) < -tolerance).any():
        return None
    sign = 1.0 if upward else -1.0

    def size_at(sums: np.ndarray) -> np.ndarray:
        """The size of the difference, which grows with the sum."""
        mirrored = -sign if alternative == "less" else sign
        return np.asarray(size(score(mirrored * sums), alternative))

    lowest = 0.0 if alternative == "two-sided" else -reach
    return (
        _first(lambda sums: size_at(sums) >= criterion.least[0], lowest, reach),
        _first(lambda sums: size_at(sums) > criterion.beyond[0], lowest, reach),
    )


def threshold_p(edges: tuple[float, float], tail: Tail, alternative: Alternative, *, mid_p: bool) -> TailBounds:
    """Bounds of the p-value, from the `edges` of `find_edges`."""
    whole = _from_edge(edges[0], tail, alternative)
    if not mid_p:
        return whole
    beyond = _from_edge(edges[1], tail, alternative)
    return TailBounds(*(float(np.logaddexp(a, b)) - math.log(2.0) for a, b in zip(whole, beyond, strict=True)))


def _from_edge(edge: float, tail: Tail, alternative: Alternative) -> TailBounds:
    if alternative == "two-sided":
        if edge <= 0.0:
            return TailBounds(0.0, 0.0)
        low, high = tail(edge)
        return TailBounds(*(min(end + math.log(2.0), 0.0) for end in (low, high)))
    if edge > 0.0:
        return tail(edge)
    # P(S >= edge) = 1 - P(S <= edge - 1), and S is symmetric.
    low, high = tail(1.0 - edge)
    return TailBounds(_log_rest(high), _log_rest(low))


def _log_rest(log_p: float) -> float:
    """log(1 - p)."""
    return math.log1p(-math.exp(log_p)) if log_p < 0.0 else -math.inf


def _first(holds: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The first whole number from `low` to `high` for which a monotone condition holds; high + 1 if none."""
    high += 1.0
    while high - low > 0.5:
        points = np.floor(np.linspace(low, high - 1.0, _FAN))
        held = holds(points)
        first = int(held.argmax()) if held.any() else len(points)
        if first < len(points):
            high = float(points[first])
        if first > 0:
            low = float(points[first - 1]) + 1.0
    return low


MOST_SIGNS = 20
"""2^19 sums, and their mirror images."""
MOST_COINS = 44
"""Half of them have 2^22 sums: 32 MiB."""
MOST_EXTREME = 2**16
_MOST_POINTS = 2**22


def few_units(a: np.ndarray, b: np.ndarray) -> Lattice | None:
    """The units on which two systems `[unit, stat]` (int64) differ, one row each; None if there are too many.

    >>> few_units(np.array([[3, 1], [2, 2]]), np.array([[1, 4], [2, 2]])).rows
    array([[ 2, -3]])
    """
    rows = (a - b)[(a != b).any(axis=1)]
    if len(rows) > MOST_SIGNS:
        return None
    return Lattice(rows, np.ones(len(rows), np.int64), rows.sum(axis=0), np.eye(a.shape[1], dtype=np.int64))


def sign_sums(lattice: Lattice) -> np.ndarray:
    """The sums `[outcome, stat]` of all sign vectors whose first sign is +: the rest are mirror images.

    >>> sign_sums(few_units(np.array([[3], [5], [9]]), np.zeros((3, 1), int))).ravel()
    array([-11,  -1,   7,  17])
    """
    sums = lattice.rows[:1]
    for row in lattice.rows[1:]:
        sums = np.concatenate([sums - row, sums + row])
    return sums


def count_from(lattice: Lattice, edge: int) -> int:
    """How many of the 2^coins sign vectors give S >= edge, on one axis.

    >>> count_from(few_units(np.array([[3], [5], [9]]), np.zeros((3, 1), int)), 7)
    3
    """
    steps = np.repeat(lattice.rows[:, 0], lattice.multiplicity)
    half = lattice.coins // 2
    one, other = _sums(steps[:half]), _sums(steps[half:])
    # Ascending order on both sides walks through memory instead of jumping.
    return int((len(one) - np.searchsorted(np.sort(one), edge - np.sort(other)[::-1])).sum())


def count_extreme(lattice: Lattice, edge: int) -> int | None:
    """`count_from` where the edge is near the reach, for any number of units: the minus signs add up to little.

    None where more than `MOST_EXTREME` sign vectors do.

    >>> one = np.ones(1, int)
    >>> lattice = Lattice(np.arange(1, 101)[:, None], np.ones(100, int), one, one[None])
    >>> count_extreme(lattice, 5050 - 2 * 3)  # none, 1, 2, 1 + 2, 3
    5
    """
    spare, sums = (int(lattice.reach[0]) - edge) // 2, np.zeros(1, np.int64)
    steps = np.sort(np.repeat(lattice.rows[:, 0], lattice.multiplicity))
    if steps[: MOST_EXTREME.bit_length()].sum() <= spare:
        return None  # any of these may have a minus sign, and there are more units: spare is at most half of all
    for step in steps.tolist():
        if step > spare or len(sums) > MOST_EXTREME:
            break
        sums = np.concatenate([sums, sums[sums <= spare - step] + step])
    return None if len(sums) > MOST_EXTREME else len(sums) * (spare >= 0)


def _sums(steps: np.ndarray) -> np.ndarray:
    """The sums of all sign vectors `[2^units]` int64."""
    sums = np.zeros(1, np.int64)
    for step in steps:
        sums = np.concatenate([sums - step, sums + step])
    return sums


def listing_cost(lattice: Lattice) -> Cost:
    """To compute and score all values of S; infinite if it has too many values."""
    points = min(_grid_points(lattice), _num_signs(lattice))
    return LISTED_DELTA * (points if points <= _MOST_POINTS else math.inf)


def sign_distribution(lattice: Lattice) -> tuple[np.ndarray, np.ndarray]:
    """Values of S `[value, axis]` (int64) and their probabilities `[value]`, with a total error near 1e-10.

    By all signs of few units, or the characteristic function on a grid, whichever has fewer values. A grid leaves out
    what lies beyond 9 standard deviations or is as small as rounding errors.

    >>> lattice = Lattice(np.array([[1]]), np.array([3]), np.array([3]), np.array([[1]]))
    >>> values, chances = sign_distribution(lattice)
    >>> values.ravel(), chances.round(12)
    (array([-3, -1,  1,  3]), array([0.125, 0.375, 0.375, 0.125]))
    """
    if lattice.axes == 0:
        return np.zeros((1, 0), np.int64), np.ones(1)
    if _num_signs(lattice) < _grid_points(lattice):
        units = np.repeat(lattice.rows, lattice.multiplicity, axis=0)
        half = sign_sums(Lattice(units, np.ones(len(units), np.int64), lattice.observed, lattice.basis))
        return np.concatenate([half, -half]), np.full(2 * len(half), 0.5**lattice.coins)
    lengths, total = grid_lengths(lattice), lattice.multiplicity @ lattice.rows
    first = (total - np.minimum(np.array(lengths), lattice.reach + 1) + 1) // 2
    chances = plane_probabilities(lattice.rows, lattice.multiplicity, np.zeros(lattice.axes), first, lengths)
    noise = float(rounding(lattice.coins, lengths)) * float(np.linalg.norm(chances))
    kept = np.nonzero(chances > noise)
    return 2 * (np.stack(kept, axis=1) + first) - total, chances[kept]


def _grid_points(lattice: Lattice) -> float:
    return math.prod(map(float, grid_lengths(lattice))) if lattice.axes <= MOST_AXES else math.inf


def _num_signs(lattice: Lattice) -> float:
    return 2.0**lattice.coins if lattice.coins <= MOST_SIGNS else math.inf


Delta = Callable[..., np.ndarray]
"""Values of S on each axis, of shapes [pair, ...] that broadcast -> differences of scores [pair, ...]."""
SetMass = Callable[[np.ndarray, np.ndarray], "Mass"]
"""(values hit [pair, value], values whose mirror image is hit [pair, value]) -> their mass."""


class Mass(NamedTuple):
    """Natural logarithms `[pair]` of a probability (-inf for an empty set) and of a bound on its error."""

    log_p: np.ndarray
    log_error: np.ndarray


class Unsettled(NamedTuple):
    """A p-value whose last digit its error leaves open."""

    log_p: float
    error_bound: float


def full_p(
    lattice: Lattice, probabilities: np.ndarray, error: Callable[[float], float], delta: Delta, criterion: Extreme
) -> PValue | Unsettled:
    """Exact p-value from the probabilities of all that S can reach, P(S = 2k - reach), for one or two axes.

    `error` maps a sum of them to a bound on its absolute error.
    """
    reach = lattice.reach
    # Rounding gives some impossible values a probability, and a score need not be a number there.
    if lattice.axes == 1:
        values = np.arange(int(reach[0]) % 2, int(reach[0]) + 1, 2)[:, None]
    else:
        first, second, inside = plane_axes(lattice, reach)
        values = np.stack([each[at] for each, at in zip((first, second), np.nonzero(inside), strict=True)], axis=1)
    chances = probabilities[tuple((values + reach).T // 2)]
    values, chances = values[chances > 0.0], chances[None, chances > 0.0]

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        masses = (chances * hit).sum(axis=1) + (chances * mirrored).sum(axis=1)
        return Mass(np.log(masses), np.log(np.array([error(float(each)) for each in masses])))

    return settle(mass, sets_of(delta(*values.T[:, None]), criterion, mirrored=values[:, 0] > 0), lattice.coins)


def chances_p(delta: np.ndarray, chances: np.ndarray, error: float, criterion: Extreme) -> PValue:
    """Exact p-value of one pair from all differences of scores `[value]` and their probabilities `[value]`.

    `error` is a bound on the relative error of a probability.
    """

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        log_p = np.log((chances * hit).sum(axis=1))
        return Mass(log_p, log_p + math.log(error + EPSILON))

    log_p, relative = _log_mass(mass, sets_of(delta[None], criterion, mirrored=False))
    found = float(log_p[0])
    return math.exp(found), found / math.log(10.0) + 0.0, float(relative[0]) + EPSILON * (1.0 - found)


def signs_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue:
    """Exact p-value from all sign vectors of few units."""
    return outcomes_p(delta(*sign_sums(lattice).T[:, None]), criterion, lattice.coins)


def outcomes_p(delta: np.ndarray, criterion: Extreme, coins: int) -> PValue:
    """Exact p-value from the differences of scores `[1, outcome]` of all sign vectors whose first sign is +.

    It is a whole number of outcomes, or of half of one for mid-p.
    """

    def mass(hit: np.ndarray, mirrored: np.ndarray) -> Mass:
        return Mass(np.log((hit.sum(axis=1) + mirrored.sum(axis=1)) / 2.0**coins), np.full(1, -np.inf))

    p_value = math.exp(float(_log_mass(mass, sets_of(delta, criterion))[0][0]))
    p_value = math.ldexp(round(math.ldexp(p_value, coins + 1)), -coins - 1)
    return p_value, math.log10(p_value), 0.0


def bounded_p(bounds: TailBounds) -> PValue:
    """The upper one of two bounds, rounded outwards."""
    width = -math.expm1(bounds.log_low - bounds.log_high)
    low, high = outward(math.exp(bounds.log_low), math.exp(bounds.log_high))
    if high < _SMALLEST:  # doubles end here, logarithms do not
        _, size = outward(0.0, -bounds.log_high / math.log(10.0) * 1e-9)
        return high, -size * 1e9 + 0.0, width, low
    return high, float(f"{math.log10(high):.10g}") + 0.0, 1.0 - low / high, low


Sets = dict[Literal["extreme", "rest", "ties"], tuple[np.ndarray, np.ndarray]]
"""Which values `[pair, value]` are extreme, which are not, and for mid-p which tie; and whose mirror images are."""


def sets_of(delta: np.ndarray, criterion: Extreme, *, valid: Any = True, mirrored: Any = True) -> Sets:
    """The sets of differences of scores `[pair, value]`; valid values are `mirrored` that are not their own mirror."""
    met = criterion.met(delta)
    image = met if criterion.alternative == "two-sided" else criterion.met(-delta)
    sets: Sets = {"extreme": (met & valid, image & mirrored), "rest": (~met & valid, ~image & mirrored)}
    if criterion.mid_p:
        hit, mirror = sets["extreme"]
        sets["ties"] = hit & criterion.tied(delta), mirror & criterion.tied(-delta)
    return sets


def settle(mass: SetMass, sets: Sets, coins: int) -> PValue | Unsettled:
    """The p-value of a pair; `mass` gives the mass of (values hit, values whose mirror image is)."""
    log_p, error = _log_mass(mass, sets)
    return settled_p(settled(log_p, error, np.array([coins])), float(log_p[0]), float(error[0]))


def settled_p(known: np.ndarray, log_p: float, error: float) -> PValue | Unsettled:
    """The p-value of the only pair of `settled`, or what is known of it where its error leaves the last digit open."""
    return Unsettled(log_p, error) if math.isnan(known[0, 0]) else tuple(known[:, 0].tolist())


@np.errstate(divide="ignore")  # empty sets
def _log_mass(mass: SetMass, sets: Sets) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of p-values `[pair]`, and bounds on the relative errors of p."""
    log_p, log_error = mass(*sets["extreme"])
    if (likely := np.asarray(log_p > math.log(0.5))).any():
        # Close to 1 the complement is the small number, and has more digits.
        hit, image = sets["rest"]
        rest = mass(hit & likely[:, None], image & likely[:, None])
        log_p = np.where(likely, np.log1p(-np.exp(np.minimum(rest.log_p, 0.0))), log_p)
        log_error = np.where(likely, rest.log_error, log_error)
    if "ties" in sets:
        ties = mass(*sets["ties"])
        log_p = log_p + np.log1p(-0.5 * np.exp(ties.log_p - log_p))
        log_error = np.logaddexp(log_error, ties.log_error)
    with np.errstate(invalid="ignore", over="ignore"):  # -inf where everything underflows, or nearly so
        return log_p, np.exp(log_error - log_p)
