r"""Tail probabilities of all pairs of a board, from geometric series that start at an edge, under shared tilts.

S is the sum of a pair's differences with random signs. The extreme values of S are all values from some value on, the
edge. (The sign of S is chosen so that delta increases with S.) A tilt theta multiplies P(S = s) by exp(theta s), up to
a constant (see `distributions`).

**Tilts.** Every tilt gives correct probabilities, but the errors are smallest if the mean of the sum S under the tilt
is near the edge of the extreme values. So each pair uses a tilt near its best tilt, from a net of tilts that pairs
share. From one tilt of the net to the next, the mean moves by at most about one standard deviation (half of this with
two axes). Pairs with the same tilt and similar standard deviations are computed together.

**One axis.** The extreme values are t, t + 2, ..., where t is the edge. Then $P(S \ge t) = M(\theta) e^{-\theta t}
\sum_f \varphi(f) W(f)$. Here $M(\theta) = E e^{\theta S}$ is the moment-generating function, and $\varphi(f)$ is the
characteristic function of (S - t) / 2 under the tilt, at the frequency f of L frequencies. The weight W(f) is 1 / L
times a geometric series in $\exp(-2 \theta - 2 \pi i f / L)$, so neither an FFT nor a grid is needed.

**Two axes.** For each value of the first axis, the extreme values begin at an edge on the second axis (`edges`). For a
fixed value of the first axis, the weights from the edge on are again a geometric series. A table contains the sum of
this series for each possible edge. A DFT of these sums along the first axis, as a matrix product, then gives the
weights W(f) of the extreme region.

**Any score.** If the score is not monotone, there is no edge; see `grids`.

**Errors** are worst cases, with the assumptions in `characteristic`; u is the unit roundoff. Under any tilt, the
probability outside the window (the sums that are computed) is below $2 e^{-81/2}$ per axis (Hoeffding's inequality). A
sum s outside has a weight proportional to $e^{-\theta s}$, which undoes the tilt. With two axes, `_log_outside` bounds
the weights of extreme sums outside. If these weights are large, a wider window is used (`board_tests`). Rounding errors
are bounded for each frequency by the sum of two terms: the relative error of $\varphi(f)$ times $|\varphi(f) W(f)|$,
and the error of W(f) times $|\varphi(f)|$. The error of a sum of n terms is at most n u times the sum of their moduli
(Higham 2002, section 4.2).

If the last digit remains uncertain because of these errors, the pair is computed again (`digits`). If a common grid is
slower than separate grids (`board.grid_is_faster`), the result for a pair is NaN, and `planes` tests it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigjax.exact.board import Board, Tails, grid_is_faster, shared_line_is_faster
from sigjax.exact.characteristic import (
    LONG_NEGLIGIBLE,
    NEGLIGIBLE,
    PI,
    CharacteristicTables,
    Frequencies,
    Real,
    all_angles,
    characteristic_functions,
    characteristic_tables,
    find_angles,
    find_frequencies,
    log_moments,
    pi,
    unit,
)
from sigjax.exact.distributions import DEVIATIONS, fft_length, line_tilts
from sigjax.exact.edges import DeltaOfPairs, Window, find_edges, is_extreme
from sigjax.exact.null import Delta
from sigjax.resample.units import total
from sigjax.run.backend import compiled
from sigjax.run.context import ahead, num_cores

_SIZE_RATIO = 1.25
"""Limit for the ratio of two standard deviations of the sum S in the same group (pairs are tested in groups)."""
OUTSIDE = 2.0 * math.exp(-(DEVIATIONS**2) / 2.0)
"""Bound on the probability that the sum S is outside the usual window of `DEVIATIONS` standard deviations, for each
axis."""
WIDE = 11.0
"""Half-width, in standard deviations, of a wider window of sums. It is used if the border between extreme and other
sums is so strongly curved that extreme sums outside the usual window have large weights. (A weight undoes the tilt at a
sum: it multiplies the sum's tilted probability.)"""
TERMS = 2**18
"""A batch of pairs has at most this many complex numbers in memory at a time."""
_LEFT_OUT, _LONG_LEFT_OUT = 30.0, 34.0
"""With one axis (S is one number), the frequencies that are left out change a tilted probability by at most
exp(-`_LEFT_OUT`) = 9e-14. For long doubles, the limit is exp(-`_LONG_LEFT_OUT`)."""
_IN_CACHE = 2**14
"""The host computes at most this many angles (rows times frequencies) at a time, so that they stay in the cache."""


def groups_of_equal(*keys: np.ndarray) -> Iterator[np.ndarray]:
    """Yield groups of positions; within a group, each of the `keys` `[position]` has only one value."""
    order = np.lexsort(keys[::-1])
    stacked = np.stack(keys)[:, order]
    ends = np.flatnonzero((stacked[:, 1:] != stacked[:, :-1]).any(axis=0)) + 1
    yield from np.split(order, ends)


def size_classes(deviation: np.ndarray) -> np.ndarray:
    """Return a class number 0, 1, ... for each standard deviation.

    The number grows by 1 if the standard deviation is multiplied by `_SIZE_RATIO`. So similar standard deviations have
    the same class number.
    """
    return np.floor(np.log(deviation / deviation.min()) / math.log(_SIZE_RATIO)).astype(np.int64)


def line_tails(
    board: Board, delta_of: DeltaOfPairs, thresholds: np.ndarray, device: Any, real: Real, *, strict: bool
) -> Tails:
    """Return P(delta >= threshold), or P(delta > threshold) if `strict`, for pairs with one axis (S is one number).

    The result contains the logarithms of these probabilities `[pair]`, and bounds on their relative errors `[pair]`. S
    is the sum of a pair's differences with random signs. `delta_of` takes indices of pairs, and returns the function
    from S to delta, the difference of scores. `thresholds` are `[pair]`. `device` is a platform of JAX, or None for
    NumPy. `real` is the type of the numbers.
    """
    steps = board.rows[:, 0].astype(np.float64)
    reach = board.counts @ board.rows[:, 0]
    deviation = np.sqrt(board.counts @ steps**2)
    edge = _line_edges(board, delta_of, thresholds, reach, strict=strict)
    found = Tails(np.full(len(board), -np.inf, real), np.zeros(len(board)))
    half = (edge == 1) & (reach % 2 == 1)  # by symmetry
    found.log_p[half] = -np.log(real(2.0))
    inside = np.flatnonzero((edge <= reach) & ~half)
    if not inside.size:
        return found
    # Compute a lower bound on the tilt under which the mean is the edge. It is a good approximation unless the edge is
    # near the reach (the largest sum).
    with np.errstate(divide="ignore"):
        theta = np.arctanh(np.minimum(edge / reach, 1.0 - 1e-12)) * reach / deviation**2
    far = inside[edge[inside] > 0.3 * reach[inside]]
    if far.size:
        theta[far] = line_tilts(np.tile(board.rows[:, 0], (far.size, 1)), board.counts[far], edge[far].astype(float))
    theta = np.maximum(theta, 0.0)
    size = size_classes(deviation[inside])
    step = 1.0 / (deviation[inside].min() * _SIZE_RATIO ** (size + 1.0))
    net = np.floor(theta[inside] / step).astype(np.int64)
    for group in groups_of_equal(size, net):
        pairs = inside[group]
        tilt = float(_with_few_bits(net[group[0]] * step[group[0]]))
        log_p, error = _line_group(board, pairs, edge[pairs], reach[pairs], deviation[pairs], tilt, device, real)
        found.log_p[pairs], found.error[pairs] = log_p, error
    return found


def _line_edges(
    board: Board, delta_of: DeltaOfPairs, thresholds: np.ndarray, reach: np.ndarray, *, strict: bool
) -> np.ndarray:
    """Return the edges `[pair]`: the smallest extreme value of the sum S, or a number above the reach if there is none.

    The sign of S is chosen so that delta increases with S. `reach` `[pair]` is the largest value of S.
    """
    every = np.arange(len(board))
    delta = delta_of(every)
    ends = delta(np.stack([-reach, reach], axis=1))
    sign = np.where(ends[:, 1] >= ends[:, 0], 1, -1)

    def met(values: np.ndarray) -> np.ndarray:
        deltas = delta((sign * np.minimum(values, reach))[:, None])[:, 0]
        return (values > reach) | ((values >= -reach) & is_extreme(deltas, thresholds, strict=strict))

    # Usually the edge is the observed sum or the next possible sum.
    guess = np.abs(board.observed[:, 0]) + 2 * strict
    low, high = np.where(met(guess - 2), -reach - 2, guess - 2), np.where(met(guess), guess, reach + 2)
    low = np.minimum(low, high - 2)
    while (open_ := high - low > 2).any():
        middle = low + (high - low) // 4 * 2
        holds = met(middle)
        low, high = np.where(open_ & ~holds, middle, low), np.where(open_ & holds, middle, high)
    return high


def _line_group(
    board: Board,
    pairs: np.ndarray,
    edge: np.ndarray,
    reach: np.ndarray,
    deviation: np.ndarray,
    tilt: float,
    device: Any,
    real: Real,
) -> Tails:
    """Return the tail probabilities (logarithms and error bounds) of `pairs` (indices), which have the same tilt.

    For these pairs, `edge` is the smallest extreme value of the sum S, `reach` the largest value, and `deviation` the
    standard deviation, all `[pair]`.
    """
    rows, counts = board.rows, board.counts[pairs]
    used = counts.any(axis=0)
    rows, counts = rows[used], counts[:, used]
    theta = np.array([tilt])
    mean_signs = np.tanh(rows[:, 0] * tilt)
    mean = counts @ (rows[:, 0] * mean_signs)
    first = (edge + reach) // 2
    # All pairs have a window of the same length, which ends at the same distance above the edge.
    count = max(int(np.ceil(((mean + DEVIATIONS * deviation - edge) / 2.0).max())) + 1, 1)
    length = fft_length(count + max(int(np.ceil(((edge - mean + DEVIATIONS * deviation) / 2.0).max())), 0) + 1)
    total = float(_geometric(math.exp(-2.0 * tilt), count))
    negligible = (_LEFT_OUT if real == np.float64 else _LONG_LEFT_OUT) + math.log(total)
    frequencies = find_frequencies(
        rows, counts.min(axis=0) * 0.25 * (1.0 - mean_signs * mean_signs), (length,), negligible
    )
    if len(pairs) > 1 and not shared_line_is_faster(len(pairs), len(rows), len(frequencies)):
        alone = [
            _line_group(board, one, edge[i], reach[i], deviation[i], tilt, device, real)
            for i, one in ((slice(i, i + 1), pairs[i : i + 1]) for i in range(len(pairs)))
        ]
        return Tails(*map(np.concatenate, zip(*alone, strict=True)))
    summed, spread, known = *np.zeros((2, len(pairs)), real), all_angles(rows, frequencies, real)
    # On the host, compute tables for few frequencies at a time, so that they stay in the cache.
    block = max(1, _IN_CACHE // len(rows)) if device is None else len(frequencies)
    sum_error = real(unit(real) * (block + len(frequencies) / block + 1.0 + _SERIES_ERROR))
    for begin in range(0, len(frequencies), block):
        few = replace(frequencies, number=frequencies.number[:, begin : begin + block])
        angles = find_angles(rows, few, real, known)
        characteristic = characteristic_tables(rows, theta.astype(real), angles)
        series = _series(real(tilt), few.number[0], length, count) * (few.weights.astype(real) / length)
        arrays = characteristic, few.phase_steps[0].astype(real), series.real, series.imag, sum_error
        batch = max(1, TERMS // len(few))
        for start in range(0, len(pairs), batch):
            part = slice(start, start + batch)
            pair_arrays = counts[part].astype(real), first[part].astype(real)
            sums = run_kernel(device, _line_kernel, (("half_turn", few.half_turn),), pair_arrays, arrays, batch)
            summed[part] += sums[0]
            spread[part] += sums[1]
    absolute = spread + total * frequencies.left_out + OUTSIDE
    return _untilted(summed, absolute, counts, rows, edge[:, None], theta.astype(real))


def _untilted(
    summed: np.ndarray, absolute: np.ndarray, counts: np.ndarray, rows: np.ndarray, point: np.ndarray, theta: np.ndarray
) -> Tails:
    """Undo the tilt theta: turn tilted sums `summed` `[pair]` into logarithms of tail probabilities, and error bounds.

    A tilted sum adds up P_theta(S = s) exp(theta.(point - s)) over the extreme values s of the sum S, for a fixed value
    `point` of S (`[pair, axis]`). Multiplied by M(theta) exp(-theta.point), it is the tail probability, where M(theta)
    is E exp(theta.S). `absolute` `[pair]` bounds the errors of the tilted sums. Returns the logarithms of the products,
    and bounds on the relative errors of the products. (A tilt has few bits, so that its product with an integer is
    exact.)
    """
    moments = log_moments(rows @ theta)
    exact, rest = (counts @ part for part in moments)
    roundoff, num_rows = unit(exact.dtype), len(rows)
    log_scale = exact - point @ theta
    rounded = 32.0 * unit(np.longdouble) * exact + roundoff * num_rows * (counts @ np.abs(moments[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(np.maximum(summed, 0.0)) + rest + log_scale
        logs = np.abs(np.log(np.maximum(summed, 0.0)))
        rounded += roundoff * (16.0 + 10.0 * logs + 3.0 * (np.abs(log_p) + np.abs(log_scale)) + 2.0 * exact)
        # The factor 1.001 covers rounding errors of the bounds themselves, and second-order terms.
        error = (1.001 * (absolute / np.maximum(summed, 0.0) + rounded)).astype(np.float64)
    return Tails(np.minimum(log_p, 0.0), error)


_TILT_BITS = 12


def _with_few_bits(theta: np.ndarray) -> np.ndarray:
    """Truncate each number to its `_TILT_BITS` leading bits."""
    fraction, exponent = np.frexp(theta)
    return np.ldexp(np.trunc(np.ldexp(fraction, _TILT_BITS)), exponent - _TILT_BITS)


def _geometric(ratio: float, count: int) -> float:
    return float(count) if ratio == 1.0 else (1.0 - ratio**count) / (1.0 - ratio)


def _series(tilt: Any, number: np.ndarray, length: int, count: int) -> NDArray[np.complexfloating[Any, Any]]:
    """Return the sum of exp(-2 j (tilt + pi i f / length)) over j < count, for each f in `number`; nothing cancels."""
    below, _, still = _one_minus_exponential(tilt, number, length)
    above, *_ = _one_minus_exponential(tilt * count, count * number, length)
    return np.where(still, count, above / np.where(still, 1.0, below))


def _one_minus_exponential(tilt: Any, number: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 1 - exp(-2 (tilt + pi i f / length)) for each f in `number`, without cancellation.

    Returns three arrays with one element for each f: this number, the same number for the tilt 0, and whether this
    number is 0. With r = exp(-2 tilt) and x = pi f / length, the number is 1 - r e^{-2ix} = (1 - r) + r (1 - e^{-2ix}),
    where 1 - e^{-2ix} = 2 sin x (sin x + i cos x). Because nothing cancels, the relative error is below 48 units of
    roundoff.
    """
    angle = ((number + length // 2) % length - length // 2) * (pi(type(tilt)) / length)
    sine = np.sin(angle)
    rest = 2.0 * sine * (sine + 1j * np.cos(angle))
    return -np.expm1(-2.0 * tilt) + np.exp(-2.0 * tilt) * rest, rest, (number % length == 0) & (tilt == 0.0)


_SERIES_ERROR = 128.0
"""Bound on the relative error of a geometric series, and of its product with a root of unity, in multiples of the unit
roundoff."""


def _line_kernel(
    counts: Any,
    first: Any,
    tables: CharacteristicTables,
    phase_steps: Any,
    real: Any,
    imaginary: Any,
    sum_error: Any,
    *,
    half_turn: int,
) -> tuple[Any, Any]:
    """Return the tilted tail probabilities of pairs with one axis, and bounds on their rounding errors, both `[pair]`.

    `counts` `[pair, row]` are the numbers of units with each difference row. `first` `[pair]` is the smallest extreme
    value of K = (S + sum of all rows) / 2. `phase_steps` `[frequency]` is as in `Frequencies`. `real` and
    `imaginary` `[frequency]` are the weights W(f) of the module's text. `sum_error` bounds the relative errors of these
    weights and of the sum over frequencies.
    """
    xp = counts.__array_namespace__()
    re, im, modulus, error = characteristic_functions(xp, counts, first[:, None] * phase_steps, tables, half_turn)
    size = modulus * xp.sqrt(real * real + imaginary * imaginary)
    return (re * real - im * imaginary).sum(axis=1), (size * (error + sum_error)).sum(axis=1)


def run_kernel(
    device: Any,
    kernel: Callable[..., Any],
    static: tuple[tuple[str, Any], ...],
    first: tuple[np.ndarray, ...],
    tables: tuple[Any, ...],
    batch: int,
) -> Any:
    """Run a kernel (a function of arrays) for a batch of pairs, on NumPy or a device, and return its results.

    The kernel is called with the arrays `first` `[pair, ...]`, the `tables` that all pairs share, and the keyword
    arguments `static`. On a device, programs are compiled for full batches of `batch` pairs, so the last batch is
    padded.
    """
    if device is None:
        return kernel(*first, *tables, **dict(static))
    count = len(first[0])
    size = batch if count > batch // 2 else max(1 << (count - 1).bit_length(), 1)
    filled = [np.concatenate([each, np.repeat(each[-1:], size - count, axis=0)]) for each in first]
    return tuple(np.asarray(part)[:count] for part in compiled(kernel, static, device)(*filled, *tables))


def plane_tails(
    board: Board,
    delta_of: DeltaOfPairs,
    thresholds: np.ndarray,
    device: Any,
    real: Real,
    *,
    strict: bool,
    deviations: float = DEVIATIONS,
) -> Tails:
    """Return P(delta >= threshold), or P(delta > threshold) if `strict`, for pairs with two axes (S is two numbers).

    The arguments and the result (log probabilities and error bounds) are as in `line_tails`. S is the sum of a pair's
    differences with random signs. The logarithm is NaN for pairs for which a common grid would be slower than separate
    tests. The window of sums that are computed has a half-width of `deviations` standard deviations.
    """
    found = Tails(np.full(len(board), np.nan, real), np.full(len(board), np.inf))
    unsheared, delta_of_unsheared, squares = board, delta_of, board.rows.astype(np.float64) ** 2
    # For a single pair, decide before the shear, because `planes` would use a smaller box with reduced axes.
    if len(board) == 1 and not grid_is_faster(board, np.sqrt(board.counts @ squares), _FEWEST_FREQUENCIES, 1, real):
        return found
    board, delta_of, shear = _sheared(board, delta_of)
    reach = unsheared.counts @ np.abs(unsheared.rows)
    deviation = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2)
    # With long doubles, pairs are tested one by one, on all cores.
    one_by_one = real == np.longdouble
    groups = np.arange(len(board))[:, None] if one_by_one else list(groups_of_equal(*map(size_classes, deviation.T)))
    workers = 1 if device or one_by_one else num_cores()
    negligible = (LONG_NEGLIGIBLE if one_by_one else NEGLIGIBLE) + 0.5 * (deviations - DEVIATIONS) ** 2
    known = _plane_tilts(board, delta_of, thresholds, deviation) if one_by_one and len(board) > 1 else None
    summed, level, (tilts, points) = *np.full((2, len(board)), np.nan), np.zeros((2, len(board), 2))

    def test_group(group: np.ndarray) -> None:
        members, delta_of_group = board.subset(group).without_unused_rows(), partial(_of_subset, delta_of, group)
        if not grid_is_faster(members, deviation[group], _FEWEST_FREQUENCIES, 1, real):
            return
        if known is None:
            points[group], theta = _plane_tilts(members, delta_of_group, thresholds[group], deviation[group])
        else:
            points[group], theta = (each[group] for each in known)
        theta[:, 1] = np.maximum(theta[:, 1], 0.0)
        most = deviation[group].max(axis=0)
        cells = np.rint(theta * most / _CELL).astype(np.int64)
        tilts[group], parts = _with_few_bits(cells * _CELL / most), list(groups_of_equal(*cells.T))
        frequencies = _plane_frequencies(members, tilts[group], most * deviations, negligible)
        if not grid_is_faster(members, deviation[group], len(frequencies), len(parts), real):
            return
        grid = _Grid(members, tilts[group], deviation[group], frequencies, real, deviations)
        window = Window(frequencies.lengths, grid.start, reach[group], shear)
        edges = find_edges(window, delta_of_group, thresholds[group], workers, strict=strict)
        tails_of_cell = partial(grid.tails, edges, points[group], device)
        for cell, (tails, *rest) in zip(parts, ahead(tails_of_cell, parts, workers), strict=True):
            found.log_p[group[cell]], found.error[group[cell]] = tails
            summed[group[cell]], level[group[cell]] = rest

    for _ in ahead(test_group, groups, num_cores() if one_by_one and len(board) > 1 else 1):
        pass
    done = np.flatnonzero(~np.isnan(summed))
    if done.size:
        given = thresholds[done], level[done], tilts[done] @ shear.T, deviations
        outside = _log_outside(unsheared.subset(done), partial(_of_subset, delta_of_unsheared, done), *given)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.error[done] += 1.001 * np.exp(outside) / np.maximum(summed[done], 0.0)
    return found


def _of_subset(delta_of: DeltaOfPairs, group: np.ndarray, pairs: np.ndarray) -> Delta:
    return delta_of(group[pairs])


_LOG_WEIGHTS = 2.0, 3.0, 5.0, 8.0, 15.0, 25.0, 40.0
"""Candidates for a bound on the logarithms of the weights of extreme sums that are just outside the window. (A weight
undoes the tilt at a sum: it multiplies the sum's tilted probability.) `_log_outside` tries the candidates in this
order, and uses the first one that it can show to be a bound."""
_FRAME_RATIO = 1.25
"""`_log_outside` divides the plane outside the window into frames, the areas between two boxes of growing size. The
outer box of a frame is wider than its inner box by this factor."""


def _log_outside(
    board: Board,
    delta_of: DeltaOfPairs,
    thresholds: np.ndarray,
    level: np.ndarray,
    theta: np.ndarray,
    deviations: float,
) -> np.ndarray:
    """Bound the part of a tilted tail probability that belongs to extreme points s outside the window.

    A point is a value of the random-sign sum S, and the window contains the sums that are computed. Returns log bounds
    `[pair]` on the sum of exp(level - theta.s) P_theta(S = s) over these points; infinity if no bound is known. `theta`
    `[pair, axis]` are the tilts. `level` `[pair]` is theta.nearest from `_Grid.tails`. The weight of a point s is
    exp(level - theta.s).

    The plane outside the window is divided into frames around the window: the areas between two boxes of growing size.
    Outer frames have less probability (Hoeffding's inequality) and larger weights. Suppose that in a frame, no point
    with a weight above some limit is extreme. Then the limit times the probability of the frame is a bound for this
    frame. Points have a weight above the limit if theta.s is below some number. In the outer box of a frame, these
    points form a polygon. The points that are not extreme form a convex set, because scores are ratios of sums. So if
    no corner of the polygon is extreme, no point in the polygon is extreme.
    """
    deviation, reach = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2), board.counts @ np.abs(board.rows)
    mean = (board.counts * np.tanh(theta @ board.rows.T)) @ board.rows
    most = float(((np.abs(mean) + reach) / deviation).max()) / deviations
    frame = np.arange(max(math.ceil(math.log(most) / math.log(_FRAME_RATIO)), 1))
    inner, outer = (deviations * _FRAME_RATIO ** (frame + more) for more in (0, 1))
    low, high = (
        np.clip(
            (mean + sign * deviation * outer[:, None, None]).transpose(2, 1, 0), -reach.T[..., None], reach.T[..., None]
        )
        for sign in (-1.0, 1.0)
    )
    found, open_ = np.full(len(board), np.inf), np.arange(len(board))
    for log_weight in _LOG_WEIGHTS:
        x, y = (np.stack([low[axis, open_], high[axis, open_]], axis=2) for axis in (0, 1))
        slope, slopes = (theta[open_, axis, None, None] for axis in (0, 1))
        # The limits of theta.s are chosen so that the bound falls by a factor of e from one frame to the next.
        below = level[open_, None] - log_weight - 0.5 * (inner**2 - deviations**2) + frame
        with np.errstate(divide="ignore", invalid="ignore"):
            across, along = (below[..., None] - slope * x) / slopes, (below[..., None] - slopes * y) / slope
            # The corners of the box, and the points at which the line theta.s = below crosses the sides of the box.
            first = np.concatenate([np.repeat(x, 2, axis=2), x, along], axis=2)
            second = np.concatenate([np.tile(y, 2), across, y], axis=2)
            kept = (x[..., :1] <= first) & (first <= x[..., 1:]) & (y[..., :1] <= second) & (second <= y[..., 1:])
            kept &= slope * first + slopes * second <= (below + 1e-9 * (np.abs(below) + 1.0))[..., None]
        inside = (np.where(kept, each, 0.0).reshape(len(open_), -1) for each in (first, second))
        extreme = (delta_of(open_)(*inside) >= thresholds[open_, None]).reshape(kept.shape)
        is_met = (kept & extreme).any(axis=(1, 2))
        found[open_[~is_met]], open_ = log_weight, open_[is_met]
        if not open_.size:
            break
    return found + math.log(8.0) - 0.5 * deviations**2


def _sheared(board: Board, delta_of: DeltaOfPairs) -> tuple[Board, DeltaOfPairs, np.ndarray]:
    """Write the sums S of a board (pairs tested together) in sheared coordinates, which are less correlated.

    S is the random-sign sum of a pair's difference rows, with two axes. A multiple of the first coordinate is
    subtracted from the second. Returns three things: the board with sheared rows, the differences of scores as
    functions of sheared sums, and the shear matrix. Sums that differ only in the second coordinate still differ only in
    the second coordinate after the shear. So delta is still monotone along the second axis. If needed, this axis is
    reversed, so that delta increases along it. Sums beyond the largest possible value (the reach) are replaced by it.
    """
    rows, reach = board.rows, board.counts @ np.abs(board.rows)
    products = board.counts @ (rows[:, :1] * rows)
    times = int(np.rint(np.median(products[:, 1] / np.maximum(products[:, 0], 1))))
    second = np.sqrt(board.counts @ (rows[:, 1] - times * rows[:, 0]).astype(np.float64) ** 2)
    ends = np.clip(second[:, None] * np.array([-1.0, 1.0]), -reach[:, 1:], reach[:, 1:])
    deltas = delta_of(np.arange(len(board)))(0.0 * ends, ends)
    sign = 1 if (deltas[:, 1] - deltas[:, 0]).sum() >= 0.0 else -1

    def sheared(pairs: np.ndarray) -> Delta:
        delta, most = delta_of(pairs), reach[pairs][:, :, None]

        def rising(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            first = np.clip(first, -most[:, 0], most[:, 0])
            return delta(first, np.clip(sign * second + times * first, -most[:, 1], most[:, 1]))

        return rising

    shear = np.array([[1, -sign * times], [0, sign]])
    return replace(board, rows=rows @ shear), sheared, shear


_CELL = 0.5
"""Spacing of the net of tilts with two axes, in standard deviations: the means of the sum S under neighbouring tilts
differ by about this."""
_SUM_BLOCK = 32
"""Terms are added in blocks of this many terms, so that rounding errors stay small."""
_LEAST_LOG_WEIGHT = -200.0
"""Logarithm of the smallest weight that is not set to 0. (Weights exp(-theta.s) undo the tilt at the sums s.)"""
_NEWTON_STEPS = 4


def _plane_tilts(
    board: Board, delta_of: DeltaOfPairs, thresholds: np.ndarray, deviation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the approximately likeliest extreme point of each pair, and the tilt under which it is the mean of S.

    A point is a value of S, the random-sign sum of a pair's differences. Returns the points and the tilts, both as
    arrays `[pair, axis]`.
    """
    counts, rows = board.counts.astype(np.float64), board.rows.astype(np.float64)
    reach = counts @ np.abs(rows)
    delta, point = delta_of(np.arange(len(board))), np.zeros(deviation.shape)
    squares = rows[:, :, None] * rows[:, None, :]
    covariance = np.einsum("pv,vij->pij", counts, squares)
    steps = np.array([[0, 0], [-0.5, 0], [0.5, 0], [0, -0.5], [0, 0.5]]) * deviation[:, None]
    for _ in range(_NEWTON_STEPS):
        near = point[:, None] + steps
        here, left, right, below, above = delta(near[..., 0], near[..., 1]).T
        slope = np.stack([right - left, above - below], axis=1) / deviation
        ascent = np.einsum("pij,pj->pi", covariance, slope)
        square = np.maximum((ascent * slope).sum(axis=1), 1e-300)
        point = ascent * ((thresholds - here + (slope * point).sum(axis=1)) / square)[:, None]
        point = np.clip(point, -0.98 * reach, 0.98 * reach)
    theta = _solve(covariance, point)
    for _ in range(_NEWTON_STEPS):
        mean_signs = np.tanh(theta @ rows.T)
        residual = point - (counts * mean_signs) @ rows
        curvature = np.einsum("pv,vij->pij", counts * (1.0 - mean_signs * mean_signs), squares)
        curvature += (1e-9 * np.trace(curvature, axis1=1, axis2=2) + 1e-200)[:, None, None] * np.eye(2)
        step = _solve(curvature, residual)
        theta = theta + step / np.maximum(1.0, np.abs(step @ rows.T).max(axis=1))[:, None]
    return point, theta


def _solve(matrices: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the solutions `[pair, axis]` of linear equations, one set of equations for each pair.

    `matrices` are `[pair, axis, axis]`, and the right-hand sides `sides` `[pair, axis]`.
    """
    return np.asarray(np.linalg.solve(matrices, sides[..., None]))[..., 0]


_PAIRS_FOR_LONG_TABLES = 64
"""Smallest number of pairs for which tables of sines are computed with long doubles. (For fewer pairs, they are not
worth the time.)"""
_FEWEST_FREQUENCIES = 1000
"""Number of frequencies at which the characteristic function is not negligible, as assumed before they are known. It is
the number for a normal distribution and windows of 9 standard deviations per axis. Usually there are more."""


def _plane_frequencies(board: Board, tilts: np.ndarray, most: np.ndarray, negligible: float) -> Frequencies:
    """Return the frequencies at which a characteristic function is not negligible, for a grid that all pairs share.

    `tilts` `[pair, axis]` are the tilts of the pairs. `most` `[axis]` is the largest half-width of the pairs' windows.
    Frequencies at which all characteristic functions are below exp(-negligible) are left out.
    """
    lengths = tuple(2 * (int(each) // 2 + 2) for each in most)
    mean_signs = np.tanh(np.unique(tilts, axis=0) @ board.rows.T)
    weight = board.counts.min(axis=0) * 0.25 * (1.0 - mean_signs * mean_signs).min(axis=0)
    return find_frequencies(board.rows, weight, lengths, negligible)


class _Grid:
    """The grid of sums, the frequencies and the DFT matrix that pairs with similar standard deviations share."""

    def __init__(
        self,
        board: Board,
        tilts: np.ndarray,
        deviation: np.ndarray,
        frequencies: Frequencies,
        real: Real,
        deviations: float,
    ) -> None:
        self.board, self.tilts, self.frequencies, self.real = board, tilts, frequencies, real
        known = all_angles(board.rows, frequencies, real, precise=len(board) >= _PAIRS_FOR_LONG_TABLES)
        self.angles = find_angles(board.rows, frequencies, real, known)
        (width, height), (first, second) = frequencies.lengths, frequencies.number
        # Opposite frequencies have conjugate roots of unity, and so have places at equal distances from the middle. So
        # half of the DFT suffices.
        rows, row = np.unique(np.abs(first), return_inverse=True)
        self.second, column = np.unique(second, return_inverse=True)
        self.flat = 2 * len(self.second) * row + column
        self.column, self.sign = column, np.sign(first).astype(real)
        from_middle = 2 * np.arange(width // 2) + 1 - width
        roots = _as_complex(_roots_of_unity(2 * width), real)[np.outer(rows, from_middle) % (2 * width)]
        self.dft = np.ascontiguousarray(roots.real), np.ascontiguousarray(-roots.imag)
        self.middle = (frequencies.half_turn // width * (width - 1) * first).astype(real)
        self.phase_factors = _as_complex(_roots_of_unity(height), real)[
            np.outer(np.arange(height + 1), self.second) % height
        ]
        self.num_terms = height - np.arange(height + 1)
        _, rest, _ = _one_minus_exponential(np.longdouble(0.0), np.arange(height), height)
        self.one_minus_roots = _as_complex(rest, real)[np.outer(self.num_terms, self.second) % height]
        self.totals = board.counts @ board.rows
        mean_signs = np.tanh(tilts @ board.rows.T)
        mean = (board.counts * mean_signs) @ board.rows
        self.low = np.floor((mean - deviations * deviation + self.totals) / 2.0).astype(np.int64)
        self.outside = 8.0 * math.exp(-0.5 * deviations**2)
        self.start = 2 * self.low - self.totals

    def tails(
        self, edges: np.ndarray, points: np.ndarray, device: Any, pairs: np.ndarray
    ) -> tuple[Tails, np.ndarray, np.ndarray]:
        """Return the tail probabilities of `pairs` (indices), which have the same tilt theta, and their tilted sums.

        `edges` `[pair, place]` are the edges of `find_edges`, and `points` `[pair, axis]` the pairs' likeliest extreme
        points (values of the sum S). Let `nearest` be the grid point nearest to a pair's likeliest extreme point. The
        tilted sum of a pair adds up P_theta(S = s) exp(theta.(nearest - s)) over the extreme values s of the grid.
        Returns three results: the tail probabilities (logarithms and error bounds), the tilted sums `[pair]`, and
        theta.nearest `[pair]`.
        """
        frequencies, real, theta = self.frequencies, self.real, self.tilts[pairs[0]]
        characteristic, (width, height) = (
            characteristic_tables(self.board.rows, theta.astype(real), self.angles),
            frequencies.lengths,
        )
        counts, low, start = self.board.counts[pairs].astype(real), self.low[pairs], self.start[pairs]
        # Weights are divided by the weight of `nearest`, the grid point nearest to the likeliest extreme point.
        steps = np.clip(np.rint((points[pairs] - start) / 2.0), 0, np.array([width, height]) - 1)
        nearest = start + 2 * steps.astype(np.int64)
        series, sums = self._series(real(theta[1]))
        table = np.concatenate([series.real, series.imag], axis=1)
        scale = frequencies.weights.astype(real) / (width * height)
        phase_steps = frequencies.phase_steps.astype(real)
        tables = characteristic, phase_steps, self.middle, scale
        tables += self.sign, *self.dft, table, np.abs(series).max(axis=0), self.flat, self.column
        summed, absolute = np.empty((2, len(pairs)), real)
        weights_error = 1.5 * (_SUM_BLOCK + 0.5 * width / _SUM_BLOCK + 2.0) + _TABLE_ERROR
        batch = max(1, TERMS // (width * len(self.second)))
        for begin in range(0, len(pairs), batch):
            part = slice(begin, begin + batch)
            edge = edges[pairs[part]]
            first = start[part, :1] + 2 * np.arange(width) - nearest[part, :1]
            second = start[part, 1:] + 2 * edge - nearest[part, 1:]
            exponent = -real(theta[0]) * first - real(theta[1]) * second
            # Set small weights to 0, because operations on denormal numbers take a hundred times as long.
            counted = (edge < height) & (exponent > _LEAST_LOG_WEIGHT)
            weight = np.where(counted, np.exp(np.clip(exponent, _LEAST_LOG_WEIGHT, -_LEAST_LOG_WEIGHT)), 0.0)
            noise = unit(real) * (weight * (weights_error + np.abs(np.maximum(exponent, _LEAST_LOG_WEIGHT)))).sum(
                axis=1
            )
            arrays = counts[part], low[part].astype(real), edge, weight, noise
            parts, spread = run_kernel(
                device, _plane_kernel, (("half_turn", frequencies.half_turn),), arrays, tables, batch
            )
            summed[part] = total(parts)
            absolute[part] = spread + (weight * sums[edge]).sum(axis=1) * frequencies.left_out
            absolute[part] += self.outside * weight.max(axis=1)
        tails = _untilted(summed, absolute, counts, self.board.rows, nearest, theta.astype(real))
        return tails, summed, nearest @ theta

    def _series(self, tilt: Any) -> tuple[NDArray[np.complexfloating[Any, Any]], np.ndarray]:
        """Return the sum of weights over the places from an edge to the end of the second axis, for each possible edge.

        A place is an index on the second axis, and an edge is the first extreme place. The weight is 1 at the edge, and
        falls by a factor of exp(-2 tilt) from place to place. Returns two arrays. In the first array `[edge,
        frequency]`, each weight is multiplied by the Fourier term of its place at the frequency. The second array
        `[edge]` has the sums without Fourier terms.
        """
        steep = -2.0 * np.longdouble(tilt)
        below, _, still = _one_minus_exponential(np.longdouble(tilt), self.second, len(self.num_terms) - 1)
        lost, kept = (
            each.astype(self.real) for each in (-np.expm1(steep * self.num_terms), np.exp(steep * self.num_terms))
        )
        above = lost[:, None] + kept[:, None] * self.one_minus_roots
        above *= _as_complex(1.0 / np.where(still, 1.0, below), self.real)
        above[:, still] = self.num_terms[:, None]
        plain = lost / -np.expm1(-2.0 * tilt) if tilt else self.num_terms.astype(self.real)
        return self.phase_factors * above, plain


def _roots_of_unity(length: int) -> NDArray[np.complexfloating[Any, Any]]:
    """Return the roots of unity exp(-2 pi i j / length) for j = 0, 1, ..., as long doubles."""
    angle = np.arange(length) * (np.longdouble(2.0) * PI / length)
    return np.cos(angle) - 1j * np.sin(angle)


def _as_complex(numbers: Any, real: Real) -> NDArray[np.complexfloating[Any, Any]]:
    """Convert to complex numbers whose parts have the type `real`."""
    return numbers.astype(np.result_type(real, np.complex64))


_TABLE_ERROR = 40.0 if unit(np.longdouble) < unit(np.float64) / 64.0 else _SERIES_ERROR
"""Bound on the relative error of a geometric series, in multiples of the unit roundoff, for series in a table. The
table is computed with long doubles; if these hardly have more digits than doubles, the bound is `_SERIES_ERROR`. The
bound includes the error of weights, but not the errors of their exponents."""


def _plane_kernel(
    counts: Any,
    low: Any,
    edge: Any,
    weight: Any,
    noise: Any,
    tables: CharacteristicTables,
    phase_steps: Any,
    middle: Any,
    scale: Any,
    sign: Any,
    cosines: Any,
    sines: Any,
    series: Any,
    largest: Any,
    flat: Any,
    column: Any,
    *,
    half_turn: int,
) -> tuple[Any, Any]:
    """Return parts `[pair, part]` whose sums are tilted tail probabilities with two axes, and error bounds `[pair]`.

    A part is the sum of at most `_SUM_BLOCK` terms of a Fourier sum over frequencies. The caller adds the parts. The
    error bounds are for rounding errors of the whole sum. All arguments are made in `_Grid.tails`: `counts` to `noise`
    have one row per pair, and all pairs share the other arrays.
    """
    xp, roundoff = counts.__array_namespace__(), unit(counts.dtype)
    re, im, modulus, error = characteristic_functions(xp, counts, low @ phase_steps + middle, tables, half_turn)
    even, odd = (each.reshape(len(counts), -1) for each in _transforms(xp, (cosines, sines), series, edge, weight))
    real = xp.take(even, flat, axis=1) + sign * xp.take(odd, flat + len(largest), axis=1)
    imaginary = xp.take(even, flat + len(largest), axis=1) - sign * xp.take(odd, flat, axis=1)
    terms, modulus = scale * (re * real - im * imaginary), scale * modulus
    size = modulus * xp.sqrt(real * real + imaginary * imaginary)
    # Add blocks of 32 terms here. NumPy adds their sums later, again in blocks of 32.
    levels = math.ceil(math.log(max(len(scale), 2)) / math.log(_SUM_BLOCK))
    error, whole_parts = error + roundoff * (_SUM_BLOCK * levels + 16.0), len(scale) // _SUM_BLOCK * _SUM_BLOCK
    parts = terms[:, :whole_parts].reshape(len(terms), -1, _SUM_BLOCK).sum(axis=2)
    parts = xp.concatenate([parts, terms[:, whole_parts:].sum(axis=1)[:, None]], axis=1)
    return parts, (size * error).sum(axis=1) + noise * (modulus * largest[column]).sum(axis=1)


def _transforms(xp: Any, roots: tuple[Any, Any], series: Any, edge: Any, weight: Any) -> tuple[Any, Any]:
    """Return the DFT along the first axis of tail sums along the second axis, as an even part and an odd part.

    A place is an index on the first axis. Its edge, from `edge` `[pair, place]`, is an index on the second axis. Its
    tail sum adds up the weights from the edge to the end of the second axis. `series` `[edge, column]` has the tail
    sum of each possible edge, for the weight 1 at the edge. It is multiplied by the true weight at the edge, from
    `weight` `[pair, place]`. A column is the real or the imaginary part of a tail sum at a frequency on the second
    axis.

    Both parts are `[pair, frequency, column]`. Two places are opposite each other if they have the same distance from
    the middle of the first axis. The even part adds up, over pairs of opposite places, a cosine times the sum of the
    two tail sums. The odd part adds up a sine times the difference of the two tail sums. `roots` are the cosines and
    the sines. Terms are added in blocks, so that rounding errors stay small. In NumPy, this also keeps
    arrays in the cache, and BLAS on one thread.
    """
    half = edge.shape[1] // 2
    if xp is not np:
        held = series[edge] * weight[..., None]
        front, back = held[:, :half], held[:, : half - 1 : -1]
        return _product(xp, roots[0], front + back), _product(xp, roots[1], front - back)
    even, odd = (np.zeros((len(edge), len(each), series.shape[1]), series.dtype) for each in roots)
    mirrored, opposite = edge[:, ::-1], weight[:, ::-1]
    for part in (slice(begin, min(begin + _SUM_BLOCK, half)) for begin in range(0, half, _SUM_BLOCK)):
        front, back = (np.take(series, places[:, part], axis=0, mode="clip") for places in (edge, mirrored))
        front *= weight[:, part, None]
        back *= opposite[:, part, None]
        even += roots[0][:, part] @ (front + back)
        front -= back
        odd += roots[1][:, part] @ front
    return even, odd


def _product(xp: Any, roots: Any, held: Any) -> Any:
    """Return the matrix product `[pair, frequency, column]` of `roots` and `held`, with terms added in blocks.

    `roots` are `[frequency, place]`, and `held` `[pair, place, column]`. NumPy uses loops in `_transforms` instead.
    """
    rest = -roots.shape[1] % _SUM_BLOCK
    roots, held = xp.pad(roots, ((0, 0), (0, rest))), xp.pad(held, ((0, 0), (0, rest), (0, 0)))
    cut = roots.reshape(len(roots), -1, _SUM_BLOCK), held.reshape(len(held), -1, _SUM_BLOCK, held.shape[2])
    return xp.einsum("wik,pikc->ipwc", *cut).sum(axis=0)
