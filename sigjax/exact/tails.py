r"""Tails of all pairs of a board: geometric series from an edge on, under tilts that pairs share.

**Tilts.** Any tilt is valid. Pairs take theirs from a net whose spacing is about half a standard deviation, so that the
tilted mean is near what is extreme, and those with the same tilt, and standard deviations of about the same size, are
computed together.

**One axis.** What is extreme is S >= edge, and $P(S \ge s) = M(\theta) e^{-\theta s} \sum_f \varphi(f) W(f)$; W(f) is
a geometric series in $\exp(-2 \theta - 2 \pi i f / L)$: neither an FFT nor a grid is needed.

**Two axes.** For each value of the first axis, what is extreme begins at an edge on the second (`edges`). The weights
beyond it are a geometric series again, of which a table holds one for each place of the edge; a matrix DFT along the
first axis makes of these the transform W of what is extreme.

**Any score.** Without an edge the score is asked of all points of a grid, whose probabilities one inverse FFT gives:
`jnp.fft` on a device (`grid_tails`).

**Errors** are worst cases (`waves` has the model). Under any tilt the mass outside the window is below $2 e^{-81/2}$ an
axis (Hoeffding), and its weights are bounded (`_log_outside`); if they are large, a wider window is taken (`boards`).
Roundings are bounded wave by wave: the relative error of $\varphi(f)$ times $|\varphi(f) W(f)|$, and the error of W(f)
times $|\varphi(f)|$. Sums of n terms in any order err by n u times the sum of their moduli, FFTs of n numbers by 7 u
log2(n) of their 2-norm (Higham 2002, section 4.2 and theorem 24.2). Pairs whose digits these leave open are computed
again (`digits`). So are pairs for which a common grid does not pay (`board.pays`): they get no number here, and go by
`planes`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigjax.exact.board import Board, Tails, pays, pays_on_line
from sigjax.exact.distributions import DEVIATIONS, fft_length, line_tilts
from sigjax.exact.edges import DeltasAt, Window, find_edges, is_beyond
from sigjax.exact.lattice import Lattice, hull
from sigjax.exact.null import Delta
from sigjax.exact.waves import (
    LONG_NEGLIGIBLE,
    NEGLIGIBLE,
    PI,
    Frequencies,
    Real,
    all_angles,
    find_angles,
    find_frequencies,
    log_moments,
    make_waves,
    pi,
    spectrum,
    unit,
)
from sigjax.resample.units import total
from sigjax.run.backend import compiled
from sigjax.run.context import ahead, num_cores

_OCTAVE = 1.25
"""Standard deviations within a group differ by less than this factor."""
_OUTSIDE = 2.0 * math.exp(-(DEVIATIONS**2) / 2.0)
WIDE = 11.0
"""Half-width of windows for pairs whose edge is so curved that weights beyond the usual ones are large."""
_TERMS = 2**18
"""Complex numbers that are held at a time."""
_LEFT_OUT, _LONG_LEFT_OUT = 30.0, 34.0
"""With one axis, frequencies left out add at most exp(-30) = 9e-14 to a tilted sum, with long doubles exp(-34)."""
_IN_CACHE = 2**14
"""Angles of rows at frequencies that the host computes at a time."""


def _groups(*keys: np.ndarray) -> Iterator[np.ndarray]:
    """The positions that agree in all whole numbers."""
    order = np.lexsort(keys[::-1])
    stacked = np.stack(keys)[:, order]
    ends = np.flatnonzero((stacked[:, 1:] != stacked[:, :-1]).any(axis=0)) + 1
    yield from np.split(order, ends)


def _sizes(deviation: np.ndarray) -> np.ndarray:
    """Which standard deviations are of about the same size."""
    return np.floor(np.log(deviation / deviation.min()) / math.log(_OCTAVE)).astype(np.int64)


def line_tails(
    board: Board, scored: DeltasAt, thresholds: np.ndarray, device: Any, real: Real, *, strict: bool
) -> Tails:
    """P(delta >= threshold), or above it where `strict`, of pairs with one axis."""
    steps = board.rows[:, 0].astype(np.float64)
    reach = board.counts @ board.rows[:, 0]
    deviation = np.sqrt(board.counts @ steps**2)
    edge = _line_edges(board, scored, thresholds, reach, strict=strict)
    found = Tails(np.full(len(board), -np.inf, real), np.zeros(len(board)))
    half = (edge == 1) & (reach % 2 == 1)  # by symmetry
    found.log_p[half] = -np.log(real(2.0))
    inside = np.flatnonzero((edge <= reach) & ~half)
    if not inside.size:
        return found
    # A lower bound on the tilt that makes the edge the mean, which is near it unless the edge is near the reach.
    with np.errstate(divide="ignore"):
        theta = np.arctanh(np.minimum(edge / reach, 1.0 - 1e-12)) * reach / deviation**2
    far = inside[edge[inside] > 0.3 * reach[inside]]
    if far.size:
        theta[far] = line_tilts(np.tile(board.rows[:, 0], (far.size, 1)), board.counts[far], edge[far].astype(float))
    theta = np.maximum(theta, 0.0)
    size = _sizes(deviation[inside])
    step = 1.0 / (deviation[inside].min() * _OCTAVE ** (size + 1.0))
    net = np.floor(theta[inside] / step).astype(np.int64)
    for group in _groups(size, net):
        some = inside[group]
        tilt = float(_short(net[group[0]] * step[group[0]]))
        log_p, error = _line_group(board, some, edge[some], reach[some], deviation[some], tilt, device, real)
        found.log_p[some], found.error[some] = log_p, error
    return found


def _line_edges(
    board: Board, scored: DeltasAt, thresholds: np.ndarray, reach: np.ndarray, *, strict: bool
) -> np.ndarray:
    """The least |S| that is extreme, with the parity of the reach; beyond the reach if none is."""
    every = np.arange(len(board))
    delta = scored(every)
    ends = delta(np.stack([-reach, reach], axis=1))
    sign = np.where(ends[:, 1] >= ends[:, 0], 1, -1)

    def met(values: np.ndarray) -> np.ndarray:
        deltas = delta((sign * np.minimum(values, reach))[:, None])[:, 0]
        return (values > reach) | ((values >= -reach) & is_beyond(deltas, thresholds, strict=strict))

    # Mostly the observed sum itself, or the next value.
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
    some: np.ndarray,
    edge: np.ndarray,
    reach: np.ndarray,
    deviation: np.ndarray,
    tilt: float,
    device: Any,
    real: Real,
) -> Tails:
    """Tails of pairs with the same tilt."""
    rows, counts = board.rows, board.counts[some]
    used = counts.any(axis=0)
    rows, counts = rows[used], counts[:, used]
    theta = np.array([tilt])
    lean = np.tanh(rows[:, 0] * tilt)
    mean = counts @ (rows[:, 0] * lean)
    first = (edge + reach) // 2
    # The window of each pair is of the same length, and ends as far beyond its edge.
    count = max(int(np.ceil(((mean + DEVIATIONS * deviation - edge) / 2.0).max())) + 1, 1)
    length = fft_length(count + max(int(np.ceil(((edge - mean + DEVIATIONS * deviation) / 2.0).max())), 0) + 1)
    total = float(_geometric(math.exp(-2.0 * tilt), count))
    negligible = (_LEFT_OUT if real == np.float64 else _LONG_LEFT_OUT) + math.log(total)
    frequencies = find_frequencies(rows, counts.min(axis=0) * 0.25 * (1.0 - lean * lean), (length,), negligible)
    if len(some) > 1 and not pays_on_line(len(some), len(rows), len(frequencies)):
        alone = [
            _line_group(board, one, edge[i], reach[i], deviation[i], tilt, device, real)
            for i, one in ((slice(i, i + 1), some[i : i + 1]) for i in range(len(some)))
        ]
        return Tails(*map(np.concatenate, zip(*alone, strict=True)))
    summed, spread, known = *np.zeros((2, len(some)), real), all_angles(rows, frequencies, real)
    # On the host, tables of few frequencies stay in the cache.
    block = max(1, _IN_CACHE // len(rows)) if device is None else len(frequencies)
    of_sum = real(unit(real) * (block + len(frequencies) / block + 1.0 + _OF_SERIES))
    for begin in range(0, len(frequencies), block):
        few = replace(frequencies, number=frequencies.number[:, begin : begin + block])
        angles = find_angles(rows, few, real, known)
        waves = make_waves(rows, theta.astype(real), angles)
        series = _series(real(tilt), few.number[0], length, count) * (few.both.astype(real) / length)
        arrays = waves.logs, waves.error, waves.angles, waves.of_angles, angles.phases, few.shifts[0].astype(real)
        arrays += series.real, series.imag, of_sum
        batch = max(1, _TERMS // len(few))
        for start in range(0, len(some), batch):
            part = slice(start, start + batch)
            own = counts[part].astype(real), first[part].astype(real)
            sums = _on(device, _line_kernel, (("whole", few.whole),), own, arrays, batch)
            summed[part] += sums[0]
            spread[part] += sums[1]
    absolute = spread + total * frequencies.left_out + _OUTSIDE
    return _measured(summed, absolute, counts, rows, edge[:, None], theta.astype(real))


def _measured(
    summed: np.ndarray, absolute: np.ndarray, counts: np.ndarray, rows: np.ndarray, point: np.ndarray, theta: np.ndarray
) -> Tails:
    """Logarithms and relative errors of tilted sums: times M(theta) exp(-theta.s), for the points s `[pair, axis]`.

    A tilt has few bits, so that its product with a whole number is exact.
    """
    moments = log_moments(rows @ theta)
    exact, rest = (counts @ part for part in moments)
    own, many = unit(exact.dtype), len(rows)
    log_scale = exact - point @ theta
    rounded = 32.0 * unit(np.longdouble) * exact + own * many * (counts @ np.abs(moments[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(np.maximum(summed, 0.0)) + rest + log_scale
        logs = np.abs(np.log(np.maximum(summed, 0.0)))
        rounded += own * (16.0 + 10.0 * logs + 3.0 * (np.abs(log_p) + np.abs(log_scale)) + 2.0 * exact)
        # A thousandth is for the roundings of bounds, and what is of second order.
        error = (1.001 * (absolute / np.maximum(summed, 0.0) + rounded)).astype(np.float64)
    return Tails(np.minimum(log_p, 0.0), error)


_FEW_BITS = 12


def _short(theta: np.ndarray) -> np.ndarray:
    """Numbers of few bits, next to these towards 0."""
    fraction, exponent = np.frexp(theta)
    return np.ldexp(np.trunc(np.ldexp(fraction, _FEW_BITS)), exponent - _FEW_BITS)


def _geometric(ratio: float, count: int) -> float:
    return float(count) if ratio == 1.0 else (1.0 - ratio**count) / (1.0 - ratio)


def _series(tilt: Any, number: np.ndarray, length: int, count: int) -> NDArray[np.complexfloating[Any, Any]]:
    """The sum over j < count of exp(-2 j (tilt + pi i number / length)), `[number]`, without loss of digits."""
    below, _, still = _one_less(tilt, number, length)
    above, *_ = _one_less(tilt * count, count * number, length)
    return np.where(still, count, above / np.where(still, 1.0, below))


def _one_less(tilt: Any, number: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1 - exp(-2 (tilt + pi i number / length)), the same without tilt, and where it is 0, `[number]` each.

    1 - r e^{-2ix} = (1 - r) + r (1 - e^{-2ix}), and 1 - e^{-2ix} = 2 sin x (sin x + i cos x). Nothing cancels: the
    relative error is below 48 roundings.
    """
    angle = ((number + length // 2) % length - length // 2) * (pi(type(tilt)) / length)
    sine = np.sin(angle)
    rest = 2.0 * sine * (sine + 1j * np.cos(angle))
    return -np.expm1(-2.0 * tilt) + np.exp(-2.0 * tilt) * rest, rest, (number % length == 0) & (tilt == 0.0)


_OF_SERIES = 128.0
"""Bound, in units of roundoff, on the relative error of a geometric series, and of its product with a wave."""


def _line_kernel(
    counts: Any,
    first: Any,
    logs: Any,
    of_logs: Any,
    angles: Any,
    of_angles: Any,
    phases: Any,
    shift: Any,
    real: Any,
    imaginary: Any,
    of_sum: Any,
    *,
    whole: int,
) -> tuple[Any, Any]:
    """The tilted sums of pairs, and bounds on their roundings."""
    xp = counts.__array_namespace__()
    tables = logs, of_logs, angles, of_angles, phases
    re, im, modulus, error = spectrum(xp, counts, first[:, None] * shift, tables, whole)
    size = modulus * xp.sqrt(real * real + imaginary * imaginary)
    return (re * real - im * imaginary).sum(axis=1), (size * (error + of_sum)).sum(axis=1)


def _on(
    device: Any,
    kernel: Callable[..., Any],
    static: tuple[tuple[str, Any], ...],
    first: tuple[np.ndarray, ...],
    tables: tuple[Any, ...],
    batch: int,
) -> Any:
    """A kernel of the arrays `[pair, ...]` of some pairs and tables that all share, on NumPy or a device.

    Programs are compiled for whole batches: the last one is filled up.
    """
    if device is None:
        return kernel(*first, *tables, **dict(static))
    count = len(first[0])
    size = batch if count > batch // 2 else max(1 << (count - 1).bit_length(), 1)
    filled = [np.concatenate([each, np.repeat(each[-1:], size - count, axis=0)]) for each in first]
    return tuple(np.asarray(part)[:count] for part in compiled(kernel, static, device)(*filled, *tables))


def plane_tails(
    board: Board,
    scored: DeltasAt,
    thresholds: np.ndarray,
    device: Any,
    real: Real,
    *,
    strict: bool,
    deviations: float = DEVIATIONS,
) -> Tails:
    """P(delta >= threshold), or above it where `strict`, of pairs with two axes; NaN where a grid does not pay.

    Windows have a half-width of so many `deviations`.
    """
    found = Tails(np.full(len(board), np.nan, real), np.full(len(board), np.inf))
    straight, asked, squares = board, scored, board.rows.astype(np.float64) ** 2
    # Of one pair, a shear makes the box smaller.
    if len(board) == 1 and not pays(board, np.sqrt(board.counts @ squares), _FEWEST, 1, real):
        return found
    board, scored, shear = _sheared(board, scored)
    reach = straight.counts @ np.abs(straight.rows)
    deviation = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2)
    # With long doubles each pair by itself, on all cores.
    apart = real == np.longdouble
    groups = np.arange(len(board))[:, None] if apart else list(_groups(*map(_sizes, deviation.T)))
    workers = 1 if device or apart else num_cores()
    negligible = (LONG_NEGLIGIBLE if apart else NEGLIGIBLE) + 0.5 * (deviations - DEVIATIONS) ** 2
    known = _plane_tilts(board, scored, thresholds, deviation) if apart and len(board) > 1 else None
    summed, level, (tilts, points) = *np.full((2, len(board)), np.nan), np.zeros((2, len(board), 2))

    def fill(group: np.ndarray) -> None:
        members, own = board.at(group).used(), partial(_some, scored, group)
        if not pays(members, deviation[group], _FEWEST, 1, real):
            return
        if known is None:
            points[group], theta = _plane_tilts(members, own, thresholds[group], deviation[group])
        else:
            points[group], theta = (each[group] for each in known)
        theta[:, 1] = np.maximum(theta[:, 1], 0.0)
        most = deviation[group].max(axis=0)
        cells = np.rint(theta * most / _CELL).astype(np.int64)
        tilts[group], parts = _short(cells * _CELL / most), list(_groups(*cells.T))
        frequencies = _plane_frequencies(members, tilts[group], most * deviations, negligible)
        if not pays(members, deviation[group], len(frequencies), len(parts), real):
            return
        grid = _Grid(members, tilts[group], deviation[group], frequencies, real, deviations)
        window = Window(frequencies.lengths, grid.start, reach[group], shear)
        edges = find_edges(window, own, thresholds[group], workers, strict=strict)
        of_cell = partial(grid.tails, edges, points[group], device)
        for cell, (tails, *rest) in zip(parts, ahead(of_cell, parts, workers), strict=True):
            found.log_p[group[cell]], found.error[group[cell]] = tails
            summed[group[cell]], level[group[cell]] = rest

    for _ in ahead(fill, groups, num_cores() if apart and len(board) > 1 else 1):
        pass
    done = np.flatnonzero(~np.isnan(summed))
    if done.size:
        given = thresholds[done], level[done], tilts[done] @ shear.T, deviations
        outside = _log_outside(straight.at(done), partial(_some, asked, done), *given)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.error[done] += 1.001 * np.exp(outside) / np.maximum(summed[done], 0.0)
    return found


def _some(scored: DeltasAt, group: np.ndarray, some: np.ndarray) -> Delta:
    return scored(group[some])


_LOOSE = 2.0, 3.0, 5.0, 8.0, 15.0, 25.0, 40.0
"""Logarithms of weights near the window that are tried as bounds."""
_FRAME = 1.25
"""How much wider than the one before a frame is."""


def _log_outside(
    board: Board, scored: DeltasAt, thresholds: np.ndarray, level: np.ndarray, theta: np.ndarray, deviations: float
) -> np.ndarray:
    """Logarithms `[pair]` of bounds on the sum of exp(level - theta.s) over extreme s outside the window; inf for none.

    The rest of the plane is cut into frames around the window, each with less mass (Hoeffding) and larger weights.
    Scores are ratios of sums, so what is not extreme is convex: no point s of a box with theta.s below some level is
    extreme if no corner of that polygon is.
    """
    deviation, reach = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2), board.counts @ np.abs(board.rows)
    mean = (board.counts * np.tanh(theta @ board.rows.T)) @ board.rows
    most = float(((np.abs(mean) + reach) / deviation).max()) / deviations
    frame = np.arange(max(math.ceil(math.log(most) / math.log(_FRAME)), 1))
    inner, outer = (deviations * _FRAME ** (frame + more) for more in (0, 1))
    low, high = (
        np.clip(
            (mean + sign * deviation * outer[:, None, None]).transpose(2, 1, 0), -reach.T[..., None], reach.T[..., None]
        )
        for sign in (-1.0, 1.0)
    )
    found, open_ = np.full(len(board), np.inf), np.arange(len(board))
    for loose in _LOOSE:
        x, y = (np.stack([low[axis, open_], high[axis, open_]], axis=2) for axis in (0, 1))
        slope, slopes = (theta[open_, axis, None, None] for axis in (0, 1))
        # The sums of the frames fall by a factor of e from one to the next.
        below = level[open_, None] - loose - 0.5 * (inner**2 - deviations**2) + frame
        with np.errstate(divide="ignore", invalid="ignore"):
            across, along = (below[..., None] - slope * x) / slopes, (below[..., None] - slopes * y) / slope
            # The corners of the box, and where the line crosses the lines through its sides.
            first = np.concatenate([np.repeat(x, 2, axis=2), x, along], axis=2)
            second = np.concatenate([np.tile(y, 2), across, y], axis=2)
            kept = (x[..., :1] <= first) & (first <= x[..., 1:]) & (y[..., :1] <= second) & (second <= y[..., 1:])
            kept &= slope * first + slopes * second <= (below + 1e-9 * (np.abs(below) + 1.0))[..., None]
        inside = (np.where(kept, each, 0.0).reshape(len(open_), -1) for each in (first, second))
        extreme = (scored(open_)(*inside) >= thresholds[open_, None]).reshape(kept.shape)
        is_met = (kept & extreme).any(axis=(1, 2))
        found[open_[~is_met]], open_ = loose, open_[is_met]
        if not open_.size:
            break
    return found + math.log(8.0) - 0.5 * deviations**2


def _sheared(board: Board, scored: DeltasAt) -> tuple[Board, DeltasAt, np.ndarray]:
    """The board in coordinates that are less correlated, in the second of which deltas rise, and the change of axes.

    The second axis keeps its direction, along which the score is monotone. Values that S cannot reach are moved to the
    nearest that it might.
    """
    rows, reach = board.rows, board.counts @ np.abs(board.rows)
    products = board.counts @ (rows[:, :1] * rows)
    times = int(np.rint(np.median(products[:, 1] / np.maximum(products[:, 0], 1))))
    second = np.sqrt(board.counts @ (rows[:, 1] - times * rows[:, 0]).astype(np.float64) ** 2)
    ends = np.clip(second[:, None] * np.array([-1.0, 1.0]), -reach[:, 1:], reach[:, 1:])
    deltas = scored(np.arange(len(board)))(0.0 * ends, ends)
    sign = 1 if (deltas[:, 1] - deltas[:, 0]).sum() >= 0.0 else -1

    def moved(some: np.ndarray) -> Delta:
        delta, most = scored(some), reach[some][:, :, None]

        def rising(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            first = np.clip(first, -most[:, 0], most[:, 0])
            return delta(first, np.clip(sign * second + times * first, -most[:, 1], most[:, 1]))

        return rising

    shear = np.array([[1, -sign * times], [0, sign]])
    return replace(board, rows=rows @ shear), moved, shear


_CELL = 0.5
"""Spacing of the net of tilts with two axes, in standard deviations."""
_PART = 32
"""Terms that are added up at a time."""
_LEAST = -200.0
"""Logarithm of the least weight that counts."""
_PULLED = 4


def _plane_tilts(
    board: Board, scored: DeltasAt, thresholds: np.ndarray, deviation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest point that is extreme, about, and the tilt that makes it the mean, `[pair, axis]` each."""
    counts, rows = board.counts.astype(np.float64), board.rows.astype(np.float64)
    reach = counts @ np.abs(rows)
    delta, point = scored(np.arange(len(board))), np.zeros(deviation.shape)
    squares = rows[:, :, None] * rows[:, None, :]
    covariance = np.einsum("pv,vij->pij", counts, squares)
    steps = np.array([[0, 0], [-0.5, 0], [0.5, 0], [0, -0.5], [0, 0.5]]) * deviation[:, None]
    for _ in range(_PULLED):
        near = point[:, None] + steps
        here, left, right, below, above = delta(near[..., 0], near[..., 1]).T
        slope = np.stack([right - left, above - below], axis=1) / deviation
        pulled = np.einsum("pij,pj->pi", covariance, slope)
        square = np.maximum((pulled * slope).sum(axis=1), 1e-300)
        point = pulled * ((thresholds - here + (slope * point).sum(axis=1)) / square)[:, None]
        point = np.clip(point, -0.98 * reach, 0.98 * reach)
    theta = _solved(covariance, point)
    for _ in range(_PULLED):
        lean = np.tanh(theta @ rows.T)
        short = point - (counts * lean) @ rows
        own = np.einsum("pv,vij->pij", counts * (1.0 - lean * lean), squares)
        own += (1e-9 * np.trace(own, axis1=1, axis2=2) + 1e-200)[:, None, None] * np.eye(2)
        step = _solved(own, short)
        theta = theta + step / np.maximum(1.0, np.abs(step @ rows.T).max(axis=1))[:, None]
    return point, theta


def _solved(matrices: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """The solutions `[pair, axis]` of linear equations."""
    return np.asarray(np.linalg.solve(matrices, sides[..., None]))[..., 0]


_MANY = 64
"""Pairs from which tables with longer numbers pay."""
_FEWEST = 1000
"""Frequencies that count at least: those of a normal distribution of 9 standard deviations an axis."""


def _plane_frequencies(board: Board, tilts: np.ndarray, most: np.ndarray, negligible: float) -> Frequencies:
    """Those of a grid for all pairs, with the largest half-width of a window `[axis]`."""
    lengths = tuple(2 * (int(each) // 2 + 2) for each in most)
    lean = np.tanh(np.unique(tilts, axis=0) @ board.rows.T)
    weight = board.counts.min(axis=0) * 0.25 * (1.0 - lean * lean).min(axis=0)
    return find_frequencies(board.rows, weight, lengths, negligible)


class _Grid:
    """What pairs with standard deviations of about the same size share: a grid, its frequencies, and a DFT."""

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
        known = all_angles(board.rows, frequencies, real, precise=len(board) >= _MANY)
        self.angles = find_angles(board.rows, frequencies, real, known)
        (width, height), (first, second) = frequencies.lengths, frequencies.number
        # Waves with the opposite sign are conjugate, and are those of places on the other side of the middle.
        rows, row = np.unique(np.abs(first), return_inverse=True)
        self.second, column = np.unique(second, return_inverse=True)
        self.flat = 2 * len(self.second) * row + column
        self.column, self.sign = column, np.sign(first).astype(real)
        from_middle = 2 * np.arange(width // 2) + 1 - width
        turns = _rounded(_turns(2 * width), real)[np.outer(rows, from_middle) % (2 * width)]
        self.dft = np.ascontiguousarray(turns.real), np.ascontiguousarray(-turns.imag)
        self.middle = (frequencies.whole // width * (width - 1) * first).astype(real)
        self.waves = _rounded(_turns(height), real)[np.outer(np.arange(height + 1), self.second) % height]
        self.left = height - np.arange(height + 1)
        _, rest, _ = _one_less(np.longdouble(0.0), np.arange(height), height)
        self.rest = _rounded(rest, real)[np.outer(self.left, self.second) % height]
        self.totals = board.counts @ board.rows
        lean = np.tanh(tilts @ board.rows.T)
        mean = (board.counts * lean) @ board.rows
        self.low = np.floor((mean - deviations * deviation + self.totals) / 2.0).astype(np.int64)
        self.outside = 8.0 * math.exp(-0.5 * deviations**2)
        self.start = 2 * self.low - self.totals

    def tails(
        self, edges: np.ndarray, points: np.ndarray, device: Any, own: np.ndarray
    ) -> tuple[Tails, np.ndarray, np.ndarray]:
        """The tails of the pairs `own` of the group, which have one tilt; what is extreme is near `points`.

        Also what they come from: sums of weights exp(theta.(nearest - s)), and theta.nearest.
        """
        frequencies, real, theta = self.frequencies, self.real, self.tilts[own[0]]
        waves, (width, height) = make_waves(self.board.rows, theta.astype(real), self.angles), frequencies.lengths
        counts, low, start = self.board.counts[own].astype(real), self.low[own], self.start[own]
        # Weights are relative to that of a value of S near the likeliest point.
        steps = np.clip(np.rint((points[own] - start) / 2.0), 0, np.array([width, height]) - 1)
        nearest = start + 2 * steps.astype(np.int64)
        series, sums = self._series(real(theta[1]))
        table = np.concatenate([series.real, series.imag], axis=1)
        scale = frequencies.both.astype(real) / (width * height)
        shifts = frequencies.shifts.astype(real)
        tables = waves.logs, waves.error, waves.angles, waves.of_angles, self.angles.phases, shifts, self.middle, scale
        tables += self.sign, *self.dft, table, np.abs(series).max(axis=0), self.flat, self.column
        summed, absolute = np.empty((2, len(own)), real)
        of_weights = 1.5 * (_PART + 0.5 * width / _PART + 2.0) + _OF_TABLE
        batch = max(1, _TERMS // (width * len(self.second)))
        for begin in range(0, len(own), batch):
            part = slice(begin, begin + batch)
            edge = edges[own[part]]
            first = start[part, :1] + 2 * np.arange(width) - nearest[part, :1]
            second = start[part, 1:] + 2 * edge - nearest[part, 1:]
            exponent = -real(theta[0]) * first - real(theta[1]) * second
            # Numbers near the smallest double would take a hundred times as long.
            counted = (edge < height) & (exponent > _LEAST)
            weight = np.where(counted, np.exp(np.clip(exponent, _LEAST, -_LEAST)), 0.0)
            noise = unit(real) * (weight * (of_weights + np.abs(np.maximum(exponent, _LEAST)))).sum(axis=1)
            arrays = counts[part], low[part].astype(real), edge, weight, noise
            parts, spread = _on(device, _plane_kernel, (("whole", frequencies.whole),), arrays, tables, batch)
            summed[part] = total(parts)
            absolute[part] = spread + (weight * sums[edge]).sum(axis=1) * frequencies.left_out
            absolute[part] += self.outside * weight.max(axis=1)
        tails = _measured(summed, absolute, counts, self.board.rows, nearest, theta.astype(real))
        return tails, summed, nearest @ theta

    def _series(self, tilt: Any) -> tuple[NDArray[np.complexfloating[Any, Any]], np.ndarray]:
        """Sums from an edge to the end of the window of waves `[edge, number]`, and without `[edge]`.

        They are weighted by exp(-2 tilt) for each place from the edge on.
        """
        steep = -2.0 * np.longdouble(tilt)
        below, _, still = _one_less(np.longdouble(tilt), self.second, len(self.left) - 1)
        lost, kept = (each.astype(self.real) for each in (-np.expm1(steep * self.left), np.exp(steep * self.left)))
        above = lost[:, None] + kept[:, None] * self.rest
        above *= _rounded(1.0 / np.where(still, 1.0, below), self.real)
        above[:, still] = self.left[:, None]
        plain = lost / -np.expm1(-2.0 * tilt) if tilt else self.left.astype(self.real)
        return self.waves * above, plain


def _turns(length: int) -> NDArray[np.complexfloating[Any, Any]]:
    """The roots of unity exp(-2 pi i j / length), as long doubles."""
    angle = np.arange(length) * (np.longdouble(2.0) * PI / length)
    return np.cos(angle) - 1j * np.sin(angle)


def _rounded(numbers: Any, real: Real) -> NDArray[np.complexfloating[Any, Any]]:
    """Complex numbers with parts of this kind."""
    return numbers.astype(np.result_type(real, np.complex64))


_OF_TABLE = 40.0 if unit(np.longdouble) < unit(np.float64) / 64.0 else _OF_SERIES
"""The same as `_OF_SERIES` where what stands in tables came from long doubles, and of weights up to their exponents."""


def _plane_kernel(
    counts: Any,
    low: Any,
    edge: Any,
    weight: Any,
    noise: Any,
    logs: Any,
    of_logs: Any,
    angles: Any,
    of_angles: Any,
    phases: Any,
    shifts: Any,
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
    whole: int,
) -> tuple[Any, Any]:
    """The tilted sums of pairs, and bounds on their roundings."""
    xp, own = counts.__array_namespace__(), unit(counts.dtype)
    tables = logs, of_logs, angles, of_angles, phases
    re, im, modulus, error = spectrum(xp, counts, low @ shifts + middle, tables, whole)
    even, odd = (each.reshape(len(counts), -1) for each in _transforms(xp, (cosines, sines), series, edge, weight))
    real = xp.take(even, flat, axis=1) + sign * xp.take(odd, flat + len(largest), axis=1)
    imaginary = xp.take(even, flat + len(largest), axis=1) - sign * xp.take(odd, flat, axis=1)
    terms, modulus = scale * (re * real - im * imaginary), scale * modulus
    size = modulus * xp.sqrt(real * real + imaginary * imaginary)
    # The sums of parts are added by NumPy, 32 at a time.
    levels = math.ceil(math.log(max(len(scale), 2)) / math.log(_PART))
    error, whole_parts = error + own * (_PART * levels + 16.0), len(scale) // _PART * _PART
    parts = terms[:, :whole_parts].reshape(len(terms), -1, _PART).sum(axis=2)
    parts = xp.concatenate([parts, terms[:, whole_parts:].sum(axis=1)[:, None]], axis=1)
    return parts, (size * error).sum(axis=1) + noise * (modulus * largest[column]).sum(axis=1)


def _transforms(xp: Any, turns: tuple[Any, Any], series: Any, edge: Any, weight: Any) -> tuple[Any, Any]:
    """Products `[pair, wave, column]` with what is the same, and the opposite, on both sides of the middle.

    They are summed by parts: so roundings are few, and on NumPy arrays stay in the cache and BLAS wakes no threads.
    """
    half = edge.shape[1] // 2
    if xp is not np:
        held = series[edge] * weight[..., None]
        front, back = held[:, :half], held[:, : half - 1 : -1]
        return _product(xp, turns[0], front + back), _product(xp, turns[1], front - back)
    even, odd = (np.zeros((len(edge), len(each), series.shape[1]), series.dtype) for each in turns)
    mirrored, opposite = edge[:, ::-1], weight[:, ::-1]
    for part in (slice(begin, min(begin + _PART, half)) for begin in range(0, half, _PART)):
        front, back = (np.take(series, places[:, part], axis=0, mode="clip") for places in (edge, mirrored))
        front *= weight[:, part, None]
        back *= opposite[:, part, None]
        even += turns[0][:, part] @ (front + back)
        front -= back
        odd += turns[1][:, part] @ front
    return even, odd


def _product(xp: Any, turns: Any, held: Any) -> Any:
    """The product `[pair, wave, column]` on a device."""
    rest = -turns.shape[1] % _PART
    turns, held = xp.pad(turns, ((0, 0), (0, rest))), xp.pad(held, ((0, 0), (0, rest), (0, 0)))
    cut = turns.reshape(len(turns), -1, _PART), held.reshape(len(held), -1, _PART, held.shape[2])
    return xp.einsum("wik,pikc->ipwc", *cut).sum(axis=0)


def grid_tails(
    board: Board, scored: DeltasAt, thresholds: np.ndarray, device: Any, real: Real, *, strict: bool
) -> Tails:
    """P(delta >= threshold), or above it where `strict`, for any score: on all of a grid, by one inverse FFT a pair.

    Probabilities far below 1e-16 are noise; the errors say so.
    """
    deviation = np.sqrt(board.counts @ board.rows.astype(np.float64) ** 2)
    reach = board.counts @ np.abs(board.rows)
    found = Tails(np.full(len(board), -np.inf, real), np.zeros(len(board)))
    for group in _groups(*map(_sizes, deviation.T)):
        most = np.minimum(DEVIATIONS * deviation[group].max(axis=0), reach[group].max(axis=0))
        lengths = tuple(fft_length(int(each) + 2) for each in most)
        frequencies = find_frequencies(board.rows, board.counts[group].min(axis=0) * 0.25, lengths)
        angles = find_angles(board.rows, frequencies, np.float64)
        waves = make_waves(board.rows, np.zeros(board.axes), angles)
        place = np.full((*lengths[:-1], lengths[-1] // 2 + 1), len(frequencies))
        place[tuple(frequencies.number)] = np.arange(len(frequencies))
        shifts, scale = frequencies.shifts.astype(np.float64), frequencies.both / math.prod(lengths)
        tables = waves.logs, waves.error, waves.angles, waves.of_angles, angles.phases, shifts, scale
        tables += (place.reshape(-1),)
        static = ("whole", frequencies.whole), ("lengths", lengths)
        batch = max(1, _TERMS // math.prod(lengths))
        for some in (group[begin : begin + batch] for begin in range(0, len(group), batch)):
            counts = board.counts[some]
            totals = counts @ board.rows
            low = (totals - np.array(lengths)) // 2
            hit = _hits(board.at(some), scored(some), 2 * low - totals, lengths, thresholds[some], strict=strict)
            arrays = counts.astype(np.float64), low.astype(np.float64), hit.astype(np.float64)
            of_rows, noise = _on(device, _grid_kernel, static, arrays, tables, batch)
            summed, points = of_rows.sum(axis=1), hit.sum(axis=(1, 2))
            absolute = noise * np.sqrt(points) + frequencies.left_out * points + 2.0 * _OUTSIDE
            absolute += unit(real) * sum(hit.shape[1:]) * np.abs(of_rows).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                found.log_p[some] = np.log(summed)
                found.error[some] = 1.001 * (absolute / np.maximum(summed, 0.0) + 16.0 * unit(real))
    return found


def _hits(
    board: Board, delta: Delta, start: np.ndarray, lengths: tuple[int, ...], thresholds: np.ndarray, *, strict: bool
) -> np.ndarray:
    """Which values of S are extreme, `[pair, first, second]` bool; the score is asked only of what S can reach."""
    first, second = (
        start[:, axis, None] + 2 * np.arange(length)
        for axis, length in zip((0, -1), (lengths[0], lengths[-1]), strict=True)
    )
    if board.axes == 1:
        inside = np.abs(first) <= (board.counts @ np.abs(board.rows[:, 0]))[:, None]
        met = is_beyond(delta(np.where(inside, first, board.observed)), thresholds[:, None], strict=strict)
        return (met & inside)[:, None]
    inside = np.empty((len(board), *lengths), bool)
    for pair, (values, others) in enumerate(zip(first, second, strict=True)):
        used = board.counts[pair] > 0
        lattice = Lattice(board.rows[used], board.counts[pair, used], board.observed[pair], board.basis)
        order = np.abs(values) <= lattice.reach[0]
        lowest, highest = hull(lattice, values)
        inside[pair] = order[:, None] & (others >= lowest[:, None]) & (others <= highest[:, None])
    values = [
        np.where(inside, each, board.observed[:, axis, None, None])
        for axis, each in enumerate((first[:, :, None], second[:, None, :]))
    ]
    return is_beyond(delta(*values), thresholds[:, None, None], strict=strict) & inside


_OF_TRANSFORM = 7.0
"""Bound, in units of roundoff, on the error of an FFT relative to its 2-norm, for each doubling of its length."""


def _grid_kernel(
    counts: Any,
    low: Any,
    hit: Any,
    logs: Any,
    of_logs: Any,
    angles: Any,
    of_angles: Any,
    phases: Any,
    shifts: Any,
    scale: Any,
    place: Any,
    *,
    whole: int,
    lengths: Any,
) -> tuple[Any, Any]:
    """The probability of the points hit in each row of the grid, and a bound on the 2-norm of all errors."""
    xp = counts.__array_namespace__()
    re, im, modulus, error = spectrum(xp, counts, low @ shifts, (logs, of_logs, angles, of_angles, phases), whole)
    error = error + unit(counts.dtype) * _OF_TRANSFORM * math.log2(math.prod(lengths))
    noise = xp.sqrt((scale * (modulus * error) ** 2).sum(axis=1))
    # The other sign stands in the exponent of inverse FFTs.
    parts = (xp.concatenate([part, 0.0 * part[:, :1]], axis=1)[:, place] for part in (re, -im))
    real, imaginary = (xp.asarray(part, dtype=xp.complex128) for part in parts)
    waves = real + 1j * imaginary
    waves = waves.reshape(len(counts), *lengths[:-1], -1)
    chances = xp.fft.irfft(waves if len(lengths) == 1 else xp.fft.ifft(waves, axis=1), lengths[-1])
    return (chances.reshape(hit.shape) * hit).sum(axis=2), noise
