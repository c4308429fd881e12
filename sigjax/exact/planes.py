"""The exact p-value of a single pair whose sum S has two axes (is two numbers), for any score.

The score is evaluated on the points (values of the random-sign sum S) of a box around 0. The probability outside the
box is negligible. The points whose probabilities are added up are called the set: for example, the extreme points. The
distribution of S is symmetric: a point s and its mirror image -s have the same probability. So half of the plane
suffices, and a point counts twice if its mirror image is also in the set. Under a tilt (see `distributions`), a point
and its mirror image have different probabilities. Then the likelier point of the two is counted for both.

One tilt usually suffices to compute the probability of a set. Each tilt gives the probabilities of the points in a
window around its mean. The relative errors of these probabilities grow towards the origin. Each point uses the tilt
with the smallest error bound. If the total error is too large, another tilt is added, whose mean is the point with the
largest error bound.

Points outside all windows count as error. Chernoff's bound for their probability is P(S = s) <= M(theta) exp(-theta.s).
Another bound, for all of them together, is the tilted probability outside the window times the largest factor M(theta)
exp(-theta.s) of these points. The smaller bound is used.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigjax.exact.digits import PValue
from sigjax.exact.distributions import (
    EPSILON,
    covariance,
    fft_length,
    grid_probabilities,
    log_moment,
    plane_tilt,
    rounding_error,
    windows,
)
from sigjax.exact.lattice import Lattice, plane_axes
from sigjax.exact.null import Delta, LogProbability, OutcomeSets, UncertainP, outcome_sets, p_value_of_sets
from sigjax.resample.extreme import Extreme

_OUTSIDE_BOX = 30.0
"""The score is evaluated in a box of sums. The box is so large that the probability outside it is below exp(-30) =
9e-14 times the p-value."""
_LARGEST_FIRST_RATE = 40.0
"""Largest rate that determines the size of the first box (the sums at which the score is evaluated). The rate is the
large-deviation rate of the observed sum (about -log p); larger rates are replaced by this number. The first box
suffices for p-values above exp(-rate - 10). If p is smaller, a larger box follows."""
_BLOCK = 2**15
"""At most this many points (values of the sum S) are scored or added at a time, so that they stay in the cache."""
_WINDOW = 41.0
"""Under a tilt, probabilities are computed in a window of sums around the mean. The probability outside the window is
at most exp(-41) = 1.6e-18 on each side of each axis."""
_ACCURACY = 1e-11
"""Largest accepted relative error of the probability of a set of sums. If the error is larger, the probability is
computed again with one more tilt (a change of the signs' probabilities that moves the mean, see the module's text)."""
_MOST_TILTS = 12
_SEARCHES = 8
_LARGEST_EXPONENT = 600.0
"""Largest logarithm of the weight of a point s (a value of the sum S). The weight M(theta) exp(-theta.s) undoes the
tilt theta, where M(theta) is E exp(theta.S). Larger logarithms are replaced by this number, because exp might
overflow."""
_RATE_WITHOUT_TILT = 2.0
"""Limit for the lowest large-deviation rate of an extreme sum (about -log of its probability). Below it (for p above
about 0.1), no tilt (a change of the signs' probabilities) is needed."""


class Plane(NamedTuple):
    """The points (values of the random-sign sum S, which has two axes) at which the score is evaluated: half of a box.

    The box is centred at 0, and S is outside it only with a negligible probability. The half box suffices, because each
    point of the other half is the negative of a point of this half. (`_oriented` makes planes of whole boxes.)
    """

    lattice: Lattice
    first: np.ndarray
    """`[first]` int64: values of the random-sign sum S on the first axis: every second integer, from 0 or 1 on."""
    second: np.ndarray
    """`[second]` int64: values of the random-sign sum S on the second axis: every second integer, from minus to plus
    the half-width of the box."""
    inside: np.ndarray
    """`[first, second]` bool: whether each point of the grid is a possible value of the random-sign sum S."""
    log_outside: float
    """Logarithm of a bound on the probability that S is outside the whole box."""


class TiltedPlane(NamedTuple):
    """The distribution of the random-sign sum S under one tilt theta, in a window of points, and its error bounds.

    A point is a value s of S. Some error bounds are for the points of the window, others for all points outside it.
    """

    theta: np.ndarray
    """`[axis]`: the tilt theta, which multiplies P(S = s) by exp(theta.s), up to a constant."""
    log_moment: float
    probability: np.ndarray = np.zeros((0, 0))
    """`[first, second]`: the tilted probability P_theta(S = s) for each point s of the window; empty if only Chernoff's
    bound is used."""
    begin: tuple[int, int] = (0, 0)
    """On each axis, the index in the window that belongs to the first point of the plane. So the point with index i in
    the plane has index i + `begin` in the window. It is negative if the plane begins before the window."""
    noise: float = 1.0
    """Bound on the 2-norm of the rounding errors of `probability`."""
    outside: float = 1.0
    """Bound on the tilted probability outside the window. Because the FFT is periodic, this probability is also added
    to points in the window."""

    def overlap(self, block: Sequence[slice]) -> tuple[tuple[slice, ...], np.ndarray]:
        """Return the part of a block that is in the window, and the probabilities `[row, column]` of its points.

        `block` contains a slice of the plane for each axis. The part is returned as slices relative to the start of the
        block.
        """
        here: list[slice] = []
        there: list[slice] = []
        for part, begin, length in zip(block, self.begin, self.probability.shape, strict=True):
            start = max(part.start, -begin)
            stop = max(start, min(part.stop, length - begin))
            here.append(slice(start - part.start, stop - part.start))
            there.append(slice(start + begin, stop + begin))
        return tuple(here), self.probability[tuple(there)]


def plane_p(lattice: Lattice, delta: Delta, criterion: Extreme) -> PValue | UncertainP:
    """Return the exact p-value of a pair whose random-sign sum S has two axes (is two numbers).

    `delta` is the difference of scores as a function of S. Returns `UncertainP` if the last digit of p is uncertain.
    """
    # Choose the first box for a p-value of about exp(-rate), where `rate` is the large-deviation rate of the observed
    # sum.
    theta = plane_tilt(lattice.rows, lattice.multiplicity, lattice.observed.astype(np.float64))
    rate = float(theta @ lattice.observed - log_moment(lattice.rows @ theta, lattice.multiplicity))
    exponent = _OUTSIDE_BOX + min(rate, _LARGEST_FIRST_RATE) + 10.0
    while True:
        plane = _make_plane(lattice, exponent)
        sets, needed = _extreme_sets(plane, delta, criterion), math.inf
        if sets is not None:
            found = p_value_of_sets(partial(_set_probability, plane), sets, lattice.num_signs)
            log_p = found.log_p if isinstance(found, UncertainP) else found[1] * math.log(10.0)
            # If p is near 1, 1 - p must be accurate.
            needed = _OUTSIDE_BOX - (log_p if log_p < math.log(0.5) else math.log(max(-math.expm1(log_p), 1e-300)))
            if plane.log_outside < -needed:
                return found
        exponent = min(2.0 * exponent, needed + 2.0)


def _make_plane(lattice: Lattice, exponent: float) -> Plane:
    """Return the plane of a box around 0, so large that S is outside it with a negligible probability.

    S is the random-sign sum. On each side of each axis, the probability outside the box is at most exp(-exponent). The
    box is never larger than the range of S. The plane contains the points (values of S) in one half of the box.
    """
    reach = lattice.reach
    widest = windows(lattice.rows, lattice.multiplicity, np.zeros(2), exponent).max(axis=1)
    half = np.minimum(reach, np.ceil(widest).astype(np.int64) // 2 * 2 + reach % 2)
    cut = int((half < reach).sum())
    log_outside = math.log(2.0 * cut) - exponent if cut else -math.inf
    return Plane(lattice, *plane_axes(lattice, half), log_outside)


def _extreme_sets(plane: Plane, delta: Delta, criterion: Extreme) -> OutcomeSets | None:
    """Return the `OutcomeSets` of the points of the plane, with masks `[first, second]`; None if no point is extreme.

    The sets are the extreme points, all other points and, for mid-p, the ties. `delta` is the difference of scores as a
    function of the sum S, and `criterion` defines which differences of scores are extreme.
    """
    height, width = len(plane.first), len(plane.second)
    both, at_all = criterion._replace(alternative="two-sided"), False
    blocks: list[OutcomeSets] = []
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        block = slice(start, start + rows)
        first, inside = plane.first[block, None], plane.inside[block]
        if inside.all():
            deltas = delta(first[None], plane.second[None, None])[0]
        else:  # score only possible values, because other scores may be NaN
            deltas, at = np.full(inside.shape, np.nan), np.nonzero(inside)
            deltas[at] = delta(first[None, at[0], 0], plane.second[None, at[1]])[0]
        blocks.append(outcome_sets(deltas, criterion, valid=inside, mirrored=inside & (first > 0)))
        at_all |= bool(both.met(deltas).any())
    if not at_all:
        return None
    return {
        name: (np.concatenate([each[name][0] for each in blocks]), np.concatenate([each[name][1] for each in blocks]))
        for name in blocks[0]
    }


def _set_probability(plane: Plane, extreme: np.ndarray, mirrored: np.ndarray) -> LogProbability:
    """Return the probability of the points in `extreme` and of the mirror images of the points in `mirrored`.

    Both are masks `[first, second]` of the plane. The mirror image of a point s (a value of the sum S) is -s. The
    probability is computed under one tilt; as long as its error bound is too large, another tilt is added.
    """
    counts, lattice = extreme.view(np.int8) + mirrored.view(np.int8), plane.lattice
    if not counts.any():
        return LogProbability(np.array([-math.inf]), np.array([plane.log_outside]))
    count = int(np.count_nonzero(counts))
    theta, start = _dominating_point(plane, np.flatnonzero(counts))
    scale, (plane, counts) = -float(theta @ _points_at(plane, start)), _oriented(plane, counts, theta)
    tilts = [_tilted_plane(plane, theta)]
    scale += tilts[0].log_moment
    log_p, log_error = _combine_tilts(plane, tilts, counts, scale)
    while len(tilts) < _MOST_TILTS and not log_error < log_p + math.log(_ACCURACY):
        mean = _worst_point(plane, tilts, counts)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
        # If Chernoff's bound shows that all points together are negligible, their probabilities are not needed.
        moment = float(log_moment(lattice.rows @ theta, lattice.multiplicity))
        most = moment - float(theta @ mean) + math.log(count)
        negligible = most < log_p + math.log(0.1 * _ACCURACY)
        tilts.append(TiltedPlane(theta, moment) if negligible else _tilted_plane(plane, theta))
        log_p, log_error = _combine_tilts(plane, tilts, counts, scale)
    return LogProbability(np.array([log_p]), np.logaddexp([log_error], plane.log_outside))


def _oriented(plane: Plane, counts: np.ndarray, theta: np.ndarray) -> tuple[Plane, np.ndarray]:
    """Return the plane of the whole box, and for each of its points how often it counts.

    `counts` `[first, second]` say how often each point of the half box counts. If a point is less likely under the tilt
    theta than its mirror image (the negative point), its count is moved to the mirror image.
    """
    front = counts * (theta[0] * plane.first[:, None] >= -theta[1] * plane.second)
    back = (counts - front)[::-1, ::-1]
    if plane.first[0] == 0:
        front[0] += back[-1]
        back = back[:-1]
    first = np.concatenate([-plane.first[::-1][: len(back)], plane.first])
    return plane._replace(first=first), np.concatenate([back, front])


def _points_at(plane: Plane, position: Any) -> np.ndarray:
    """Return the points `[axis, ...]` (values of the sum S) of a plane (a grid of points) at these positions.

    A position is an index into the flattened array `[first, second]` of the plane.
    """
    row, column = np.divmod(position, len(plane.second))
    return np.stack([plane.first[row], plane.second[column]]).astype(np.float64)


def _dominating_point(plane: Plane, extreme_points: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the first tilt, and the position in the plane of its mean: the likeliest extreme point.

    This point has the lowest large-deviation rate (about -log of the probability of a point). The search starts at the
    point 0. In each step, the rate is approximated by a quadratic function around the last point, and the extreme point
    with the lowest value of this function is the next point. The search ends when the point no longer changes. If the
    lowest rate is near 0, the tilt is 0.
    """
    lattice, theta, found, mean = plane.lattice, np.zeros(2), -1, np.zeros(2)
    for _ in range(_SEARCHES):
        inverse = np.linalg.pinv(covariance(lattice.rows, lattice.multiplicity, theta), hermitian=True)
        some = _candidates(plane, extreme_points, mean, theta, inverse)
        x, y = (each - middle for each, middle in zip(_points_at(plane, some), mean, strict=True))
        rate = x * (theta[0] + 0.5 * inverse[0, 0] * x + inverse[0, 1] * y) + y * (theta[1] + 0.5 * inverse[1, 1] * y)
        least = int(rate.argmin())
        before, found = found, int(some[least])
        if found == before or (before < 0 and rate[least] < _RATE_WITHOUT_TILT):
            break
        mean = _points_at(plane, found)
        theta = plane_tilt(lattice.rows, lattice.multiplicity, mean)
    return theta, found


def _candidates(
    plane: Plane, extreme_points: np.ndarray, mean: np.ndarray, theta: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Return the positions (in the flattened plane) of extreme points that may have the lowest approximate rate.

    The rate is the large-deviation rate of a point (about -log of its probability). It is approximated by a quadratic
    function around `mean` (see `_dominating_point`). In each row of the plane (points with the same value on the first
    axis), the function is lowest at one point of the real line. The candidates are the extreme points nearest to it.
    """
    if not inverse[1, 1] > 0.0:
        return extreme_points
    width = len(plane.second)
    lowest = mean[1] - (theta[1] + inverse[0, 1] * (plane.first - mean[0])) / inverse[1, 1]
    column: NDArray[np.int64] = np.clip((lowest - plane.second[0]) / 2.0, -1.0, width).astype(np.int64)
    middle = np.searchsorted(extreme_points, np.arange(len(plane.first)) * width + column)
    return extreme_points[np.unique(np.clip(middle[:, None] + np.arange(-2, 3), 0, len(extreme_points) - 1))]


def _tilted_plane(plane: Plane, theta: np.ndarray) -> TiltedPlane:
    """Return the distribution of the random-sign sum S under the tilt theta `[axis]`, in a window around its mean."""
    lattice, half_logits = plane.lattice, plane.lattice.rows @ theta
    mean, total = (lattice.multiplicity * np.tanh(half_logits)) @ lattice.rows, lattice.multiplicity @ lattice.rows
    below, above = windows(lattice.rows, lattice.multiplicity, theta, _WINDOW).T
    lowest = np.maximum(np.floor((mean - below + total) / 2).astype(np.int64), (total - lattice.reach) // 2)
    highest = np.minimum(np.ceil((mean + above + total) / 2).astype(np.int64), (total + lattice.reach) // 2)
    lengths = tuple(fft_length(int(count)) for count in highest - lowest + 1)
    probability = grid_probabilities(lattice.rows, lattice.multiplicity, theta, lowest, lengths)
    # The exponent of the factor M(theta) exp(-theta.s) is a difference of large numbers, so it has a rounding error.
    noise = float(rounding_error(lattice.num_signs, lengths)) + EPSILON * 2.0 * float(np.abs(theta) @ lattice.reach)
    return TiltedPlane(
        theta,
        float(log_moment(half_logits, lattice.multiplicity)),
        probability,
        # S differs by 2 between neighbours, both in the plane and in the window. So one offset for each axis suffices.
        begin=tuple((np.array([plane.first[0], plane.second[0]]) + total) // 2 - lowest),
        noise=min(noise * float(np.linalg.norm(probability)), 0.5),
        outside=2.0 * np.count_nonzero(highest - lowest < lattice.reach) * math.exp(-_WINDOW),
    )


def _combine_tilts(plane: Plane, tilts: Sequence[TiltedPlane], counts: np.ndarray, scale: float) -> tuple[float, float]:
    """Return the log of the total probability of all points, and the logarithm of the error bound of this probability.

    `counts` `[first, second]` say how often each point counts. The probability of a point is computed with the tilt
    that has the smallest error bound for this point. Weights M(theta) exp(-theta.s), which undo the tilt at the point
    s, are divided by exp(scale), so that they do not overflow.
    """
    total = squares = 0.0
    inside, outside, bounded = np.zeros((3, len(tilts)))  # weights by tilt: largest inside, largest and sum outside
    for block in _blocks(counts):
        best = None if len(tilts) == 1 else _log_error_bounds(plane, tilts, block).argmin(axis=0)
        for which, tilted in enumerate(tilts):
            weight = np.exp(np.minimum(_log_weight(plane, tilted, block) - scale, _LARGEST_EXPONENT))
            weight *= counts[block] if best is None else counts[block] * (best == which)
            window, probability = tilted.overlap(block)
            held = weight[window]
            if held.size:
                total += float(np.einsum("ij,ij->", held, probability))
                squares += tilted.noise**2 * float(np.einsum("ij,ij->", held, held))
                inside[which] = max(inside[which], held.max())
                held[...] = 0.0
            outside[which], bounded[which] = max(outside[which], weight.max()), bounded[which] + weight.sum()
    mass = np.array([tilted.outside for tilted in tilts])
    # The first term bounds the rounding errors by the Cauchy-Schwarz inequality. Because the FFT is periodic, the
    # probability outside a window is also added to points in the window.
    error = math.sqrt(len(tilts) * squares) + float((np.minimum(bounded, mass * outside) + mass * inside).sum())
    return float(np.log(max(total, 0.0)) + scale), float(np.log(error) + scale)


def _worst_point(plane: Plane, tilts: Sequence[TiltedPlane], counts: np.ndarray) -> np.ndarray:
    """Return the point `[axis]` with the largest error bound under its best tilt, among points with a nonzero count."""
    found: list[tuple[float, float, float]] = []
    for block in _blocks(counts):
        level = np.where(counts[block] > 0, _log_error_bounds(plane, tilts, block).min(axis=0), -np.inf)
        row, column = np.unravel_index(int(level.argmax()), level.shape)
        first, second = plane.first[block[0]][row], plane.second[block[1]][column]
        found.append((float(level[row, column]), float(first), float(second)))
    return np.array(max(found)[1:], np.float64)


def _log_error_bounds(plane: Plane, tilts: Sequence[TiltedPlane], block: tuple[slice, slice]) -> np.ndarray:
    """Return the logarithms `[tilt, row, column]` of error bounds for the probabilities of points, one for each tilt.

    The points are those of a block of the plane (a slice of its rows and a slice of its columns). Each bound is for the
    error of a point's probability, if this is computed from the point's probability under the tilt.
    """
    levels = np.stack([_log_weight(plane, tilted, block) for tilted in tilts])
    for level, tilted in zip(levels, tilts, strict=True):
        level[tilted.overlap(block)[0]] += math.log(tilted.noise + tilted.outside)
    return levels


def _log_weight(plane: Plane, tilted: TiltedPlane, block: tuple[slice, slice]) -> np.ndarray:
    """Return the log weights log M(theta) - theta.s `[row, column]` of the points s of a block.

    A point s is a value of the sum S, and M(theta) is E exp(theta.S). The tilted probability of s, multiplied by its
    weight, is the probability without a tilt.
    """
    first, second = plane.first[block[0]], plane.second[block[1]]
    return (tilted.log_moment - tilted.theta[0] * first)[:, None] - tilted.theta[1] * second


def _blocks(counts: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """Yield blocks that cover all points with a nonzero count; each block is small enough for the cache."""
    height, width = counts.shape
    rows = max(1, _BLOCK // width)
    for start in range(0, height, rows):
        part = slice(start, min(start + rows, height))
        columns = np.flatnonzero(counts[part].any(axis=0))
        if columns.size:
            yield part, slice(int(columns[0]), int(columns[-1]) + 1)
