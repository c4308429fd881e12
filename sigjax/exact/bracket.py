"""One axis without a grid as fine as the differences: edges of monotone scores, and certified brackets of tails.

Where the score is monotone in S, the extreme sums are those from some edge on, so the p-value is a tail probability
P(S >= edge), or 1 minus one.

For real numbers, and decimals too fine for a grid, the differences d_i are rounded to multiples k_i of a step h,
d_i = h (k_i + r_i). So S = h (S_k + R): the law of S_k, the sum of e_i k_i, is exact on a grid, and the remainder R,
the sum of e_i r_i, is small. Little happens outside of R = mean -+ x. For a tilt theta that makes the edge y likely,
with that mean of R, Hoeffding's inequality gives

    P(S >= y, R > mean + x)                  <= M(theta) exp(-theta y) exp(-x^2 / (2 sum r_i^2))
    P(h (S_k + mean - x) >= y, R < mean - x) <= M_k(theta h) exp(-theta (y - h mean + h x)) exp(-x^2 / (2 sum r_i^2))

and P(S >= y) lies between P(h (S_k + mean - x) >= y) less the second and P(h (S_k + mean + x) >= y) plus the first.
Rounding to the nearest multiple, rather than all up or all down, narrows the bracket by the square root of the number
of units.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sigjax.exact.charfun import DEVIATIONS, EPSILON, fft_length, grid_lengths, line_spectrum, rounding, window_mass
from sigjax.exact.lattice import Lattice
from sigjax.exact.tilt import line_tilts, log_moment
from sigjax.records import Alternative

BRACKET_WIDTH = 0.01
"""A bracket counts as exact when its width is at most this fraction of its upper end."""
_AIM = 0.6 * BRACKET_WIDTH
"""The width that the step is chosen for."""
_SPARE = math.log(1e4 / BRACKET_WIDTH) + 8.0
"""x makes the last factor above exp(-_SPARE); exp(-8) allows for the gap between Chernoff's bound and the
probability."""
Score = Callable[[np.ndarray], np.ndarray]
"""Values of S `[value]` -> differences of scores `[value]`."""
Tail = Callable[[float], "Bracket"]
"""edge > 0 -> bracket of P(S >= edge)."""
_POINTS = 1025
"""Values of S at which monotonicity of the score is checked."""
_FAN = 65
"""Values of S evaluated at once in a search."""


class Bracket(NamedTuple):
    """Natural logarithms of a lower and an upper bound on a p-value."""

    log_low: float
    log_high: float


class Step(NamedTuple):
    """The rounding grid."""

    size: float
    """h, in units of S."""
    length: int
    """Values of the grid."""


def choose_step(lattice: Lattice, edge: float) -> Step:
    """The coarsest step that makes the bracket of P(S >= edge) narrow enough, before anything is computed."""
    steps, multiplicity = lattice.rows[:, 0].astype(np.float64), lattice.multiplicity
    deviation = math.sqrt(float((steps**2) @ multiplicity))
    theta = _tilt(steps, multiplicity, edge)
    # Rounding errors are uniform; the tail falls by theta a unit, and by about 1 / deviation where theta is 0.
    slack = math.sqrt(2.0 * _SPARE * lattice.coins / 12.0)
    size = _AIM / (2.0 * slack * (theta + 1.0 / deviation))
    return Step(size, fft_length(int(min(DEVIATIONS * deviation, lattice.reach[0]) / size) + 2))


def bracket_tail(lattice: Lattice, edge: float, step: Step) -> Bracket:
    """Bracket of P(S >= edge), edge > 0.

    Example:
        >>> from sigjax.exact.lattice import pair_lattice
        >>> values = np.array([[314159], [271828], [141421], [173205]])
        >>> lattice = pair_lattice(values, np.zeros_like(values), ("value",))
        >>> low, high = bracket_tail(lattice, 600_000.0, choose_step(lattice, 600_000.0))
        >>> low <= math.log(2 / 16) <= high and high - low < BRACKET_WIDTH
        True
    """
    steps, multiplicity = lattice.rows[:, 0].astype(np.float64), lattice.multiplicity
    whole = np.rint(steps / step.size)
    left = steps / step.size - whole
    spread = float((np.abs(left) + EPSILON * whole) ** 2 @ multiplicity)
    slack = math.sqrt(2.0 * _SPARE * spread)
    theta = _tilt(steps, multiplicity, edge)
    mean, mean_of_sum = (float(multiplicity @ (np.tanh(theta * of) * left)) for of in (step.size * whole, steps))
    above = float(log_moment(theta * steps, multiplicity)) - theta * edge
    above -= max(slack + mean - mean_of_sum, 0.0) ** 2 / (2.0 * spread) if spread else math.inf
    below = float(log_moment(theta * step.size * whole, multiplicity)) - _SPARE
    below -= theta * (edge - step.size * (mean - slack))
    coarse = _coarse(whole.astype(np.int64), multiplicity)
    middle = edge / step.size - mean
    (high, error), (low, doubt) = _grid_tails(coarse, middle - slack, middle + slack)
    high = float(np.logaddexp.reduce([high, error, above]))
    doubt = float(np.logaddexp(doubt, below if spread else -math.inf))
    return Bracket(low + math.log1p(-math.exp(doubt - low)) if doubt < low else -math.inf, min(high, 0.0))


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
    frequencies, waves = line_spectrum(steps, multiplicity, theta, length, np.array([(first + reach) // 2]))
    tilt, moment = 2.0 * float(theta[0]), float(log_moment(theta * steps, multiplicity)[0])
    both = np.where(2 * frequencies % length == 0, 1.0, 2.0)  # a frequency and its mirror image
    size = math.sqrt(float((both * np.abs(waves) ** 2).sum()) / length)
    # What is beyond reach, or beyond the half of a window, has come round from below the edge.
    end = ((reach if length > reach else min(reach, first + length)) - first) // 2 + 1

    def exponents(k: int) -> np.ndarray:
        return -tilt * k + (2j * math.pi / length) * (frequencies * k % length)

    found = []
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
        found.append(tuple(math.log(each) + scale if each > 0.0 else -math.inf for each in (mass, noise)))
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


def find_edges(
    lattice: Lattice, score: Score, delta: float, tolerance: float, alternative: Alternative
) -> tuple[float, float] | None:
    """Where the extreme sums begin, in order from small to extreme, and those that are more extreme than observed.

    S takes whole numbers. None where the score is not monotone in S.
    """
    reach = float(lattice.reach[0])
    differences = score(np.linspace(-reach, reach, _POINTS))
    upward = differences[-1] >= differences[0]
    if ((np.diff(differences) if upward else -np.diff(differences)) < -tolerance).any():
        return None
    sign = 1.0 if upward else -1.0

    def size(values: np.ndarray) -> np.ndarray:
        """The difference, signed so that it grows with the value and is extreme when large."""
        if alternative == "two-sided":
            return np.abs(score(values))
        return score(sign * values) if alternative == "greater" else -score(-sign * values)

    observed = {"two-sided": abs(delta), "greater": delta, "less": -delta}[alternative]
    lowest = 0.0 if alternative == "two-sided" else -reach
    return (
        _first(lambda values: size(values) >= observed - tolerance, lowest, reach),
        _first(lambda values: size(values) > observed + tolerance, lowest, reach),
    )


def threshold_p(edges: tuple[float, float], tail: Tail, alternative: Alternative, *, mid_p: bool) -> Bracket:
    """Bracket of the p-value, from the `edges` of `find_edges`."""
    whole = _from_edge(edges[0], tail, alternative)
    if not mid_p:
        return whole
    beyond = _from_edge(edges[1], tail, alternative)
    return Bracket(*(float(np.logaddexp(a, b)) - math.log(2.0) for a, b in zip(whole, beyond, strict=True)))


def _from_edge(edge: float, tail: Tail, alternative: Alternative) -> Bracket:
    if alternative == "two-sided":
        if edge <= 0.0:
            return Bracket(0.0, 0.0)
        low, high = tail(edge)
        return Bracket(*(min(end + math.log(2.0), 0.0) for end in (low, high)))
    if edge > 0.0:
        return tail(edge)
    # P(S >= edge) = 1 - P(S <= edge - 1), and S is symmetric.
    low, high = tail(1.0 - edge)
    return Bracket(_log_rest(high), _log_rest(low))


def _log_rest(log_p: float) -> float:
    """log(1 - p)."""
    return math.log1p(-math.exp(log_p)) if log_p < 0.0 else -math.inf


def _first(holds: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The first whole number from `low` to `high` for which a monotone condition holds; high + 1 if none."""
    high += 1.0
    while high - low > 0.5:
        points = np.floor(np.linspace(low, high - 1.0, _FAN))
        held = holds(points)
        if not held.any():
            low = float(points[-1]) + 1.0
        else:
            first = int(held.argmax())
            high = float(points[first])
            low = float(points[first - 1]) + 1.0 if first else low
            if not first:
                high = low
    return low
