"""Counts, standard errors and intervals from bootstrap replicates, computed on the device that holds the replicates.

A replicate is a score or delta on one resample. A target is a score or delta that needs a standard error and an
interval. Replicates on the host are kept if they fit into memory, and summarised target by target in the cache.
Replicates on a GPU stay there: programs count, add up and select (`resample.summaries`), and only results come back.
Replicates that do not fit into memory are drawn twice, piece by piece. The first draw counts them and adds them up. The
second draw adds up squares, and keeps replicates near a quantile; the first replicates serve as a sample that locates
the quantile. All three ways give the same numbers to the last bit: sums use one order (`units.total`), and order
statistics do not round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from sigjax.records import Alternative, Hint, InputError, Settings, Variant
from sigjax.resample import summaries
from sigjax.resample.extreme import Extreme
from sigjax.resample.tally import Deltas, count_extreme, in_blocks, null_replicates
from sigjax.resample.units import PiecewiseTotal
from sigjax.run.backend import Backend, compiled, room
from sigjax.run.context import Run, fits, gib, in_threads, memory_for, on_all_cores
from sigjax.testing.permutation import add_up
from sigjax.testing.problem import check_finite
from sigjax.testing.replicates import kept_replicates, map_targets
from sigjax.testing.uncertainty import Percentile, Pieces, between, standard_errors, unsafe

_PIECE = {"cpu": 2**13, "gpu": 2**18}
"""A dict from the platform to the number of resamples per call of a compiled kernel. Few resamples stay in the cache of
a CPU; many resamples keep the number of calls of a GPU small."""
_ALWAYS_KEPT = 2**15
"""Limit for the number of resamples: below it, all replicates are kept, however little memory there is."""
_MANY = 32
"""Smallest number of pairs for which a compiled kernel on all cores counts extreme resamples."""
_COLUMNS = 2**11
"""The largest |replicate - observed| / standard error over targets (scores or deltas) is computed for this many
resamples at a time, which stay in the cache."""
_LANES = 64
"""`tally.count_extreme` adds up this many counts side by side, so the number of replicates on a device is a multiple of
this number."""
_MOST_TARGETS, _MOST_REPLICATES = 32, 2**25
"""A GPU processes targets (scores or deltas) in blocks. A block has at most `_MOST_TARGETS` targets, and if it has
several, at most `_MOST_REPLICATES` replicates."""


def summarize(
    pieces: Callable[[Run], Pieces], tested: Deltas, by: Percentile, run: Run, settings: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Compute counts, standard errors and intervals from replicates, continued from the checkpoint.

    `pieces(run)` yields the index of the first resample and the replicates `[row, resample]`, piece by piece. `tested`
    are the pairs to test. `by` makes the standard errors and intervals of its targets (scores and deltas). Return three
    arrays: the number of extreme resamples for each pair `tested`, `[pair]` int64; standard errors and interval ends of
    the targets, `[target, 3]`; and the replicates, or None if they were not all kept on the host. A shard keeps its
    replicates or counts for a merge; its standard errors and interval ends are NaN.
    """
    tally = run.checkpoint.tally(exceed=len(tested.delta), spreads=len(by.targets.members))
    if tally is not None:
        return tally.arrays["exceed"], tally.arrays["spreads"], None
    shape, values, spreads = (by.num_rows, run.resamples), None, np.full((len(by.targets.members), 3), np.nan)
    if not run.checkpoint.is_kept and gib(shape) <= room(run.backend):
        exceed, spreads = _on_device(pieces, tested, by, run, settings)
    elif run.resamples < _ALWAYS_KEPT or fits(gib(shape), settings):
        values = kept_replicates(pieces, by.num_rows, run)
        if run.checkpoint.is_part:
            return np.zeros(len(tested.delta), np.int64), spreads, values
        if len(spreads):
            largest = partial(_largest_deviations, by, values)
            spreads = by.with_all(map_targets(by.uncertainties, values, by.targets.members), largest)
        exceed = _count_against(values, tested, settings, run.backend)
    else:
        if len(spreads) and run.checkpoint.is_part:
            raise InputError(
                f"shards keep {run.resamples:,} replicates of {by.num_rows:,} scores for intervals by the bootstrap; "
                f"give {Hint('memory', f'{memory_for(gib(shape)):g}')} (GiB) or more, fewer resamples, or "
                f"{Hint('interval', 'none')}"
            )
        again = _DrawnAgain(pieces, by, run, settings)

        def counted(subrun: Run) -> Iterator[tuple[int, np.ndarray]]:
            for start, piece in pieces(subrun):
                check_finite(piece)
                again.add(start, piece)
                yield start, _count_against(piece, tested, settings, subrun.backend)

        exceed = add_up(counted, len(tested.delta), 0, run.resamples, run)
        if run.checkpoint.is_part:
            return exceed, spreads, None
        if len(spreads):
            spreads = again.spreads()
    run.checkpoint.finish(0, run.resamples, exceed=exceed, spreads=spreads)
    return exceed, spreads, values


def _on_device(
    pieces: Callable[[Run], Pieces], tested: Deltas, by: Percentile, run: Run, settings: Settings
) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of extreme resamples `[pair]`, and standard errors with interval ends `[target, 3]`.

    They are computed on the device that holds the replicates. The arguments are as in `summarize`.
    """
    values, count = _kept_on_device(pieces, by.num_rows, run)
    spreads = np.full((len(by.targets.members), 3), np.nan)
    if len(spreads):
        size = max(1, min(_MOST_TARGETS, _MOST_REPLICATES // values.shape[1]))
        spreads = by.with_all(_spreads(values, count, by, size), partial(_largest_on_device, by, values, count, size))
    static = (("alternative", settings.alternative), ("variant", settings.variant))
    exceed = compiled(count_extreme, static)(values, *tested) if len(tested.delta) else np.zeros(0, np.int64)
    return np.asarray(exceed), spreads


def _kept_on_device(pieces: Callable[[Run], Pieces], num_rows: int, run: Run) -> tuple[Any, np.ndarray]:
    """Return two arrays: replicates `[row, column]` on the device, and the number of resamples (a scalar).

    A row belongs to a system (or, for studentized intervals, to the t of a score or delta). A column is a resample, and
    the last columns are padding (NaN). `pieces` yields the replicates of `num_rows` rows, piece by piece.
    """
    values, finite, count = None, list[Any](), np.array(run.resamples)
    for start, part in pieces(replace(run, stays=True)):
        piece, most = part, max(run.resamples, 2 * _LANES)
        if not hasattr(part, "sharding"):  # pad an array from the host, because each length needs a compiled program
            length = 2 ** (part.shape[1] - 1).bit_length()
            piece, most = np.pad(part, ((0, 0), (0, length - part.shape[1]))), most + length
        if values is None:
            static = (("rows", num_rows), ("places", 2 ** (most - 1).bit_length()))
            values = compiled(summaries.filled, static, run.backend.platform)(np.array(np.nan))
        values, ok = compiled(summaries.placed)(values, piece, np.array(start), count)
        finite.append(ok)
    check_finite(np.logical_and.reduce([np.asarray(ok) for ok in finite]))
    return values, count


def _spreads(values: Any, count: np.ndarray, by: Percentile, size: int) -> np.ndarray:
    """Standard errors and interval ends of all targets (scores and deltas), `[target, 3]`, from replicates on a device.

    `values` and `count` are from `_kept_on_device`, `by` is the kind of intervals with its targets, and `size` is the
    number of targets per block. The results are the same as from `Percentile.uncertainties`.
    """
    members, observed, tolerance, _ = by.targets
    found, number, resamples = np.full((len(members), 3), np.nan), len(members), int(count)
    (blocks,) = in_blocks((members,), size)
    means = np.asarray(compiled(summaries.totals)(values, blocks, count)) / resamples
    squares = [
        compiled(summaries.row_totals)(compiled(summaries.squares)(values, block, mean), count)
        for block, mean in zip(blocks, means, strict=True)
    ]
    with np.errstate(over="ignore", invalid="ignore"):
        found[:, 0] = np.sqrt(np.concatenate(squares)[:number] / (resamples - 1))
    for place in np.flatnonzero(unsafe(found[:, 0])).tolist():
        rows = np.asarray(compiled(summaries.target_replicates)(values, members[place : place + 1]))[:, :resamples]
        found[place, 0] = standard_errors(rows).item()
    below = np.full(number, np.nan)
    if by.takes_shares:
        limits = in_blocks((members, observed - tolerance, observed + tolerance), size)
        below = np.asarray(compiled(summaries.doubled_mid_ranks)(values, *limits)).ravel()[:number] / (2.0 * resamples)
    ranks = by.levels(below, slice(0, number)) * (resamples - 1)
    some = np.flatnonzero(~np.isnan(ranks[:, 0]))
    if some.size:
        ranks = ranks[some]
        whole = np.floor(ranks).astype(np.int64)
        selected = compiled(summaries.order_statistics)(values, *in_blocks((members[some], whole), size))
        low, high = (np.asarray(each).reshape(-1, 2)[: some.size] for each in selected)
        found[some, 1:] = between(low, np.where(whole + 1 < resamples, high, low), ranks - whole)
    return found


def _largest_on_device(by: Percentile, values: Any, count: np.ndarray, size: int, errors: np.ndarray) -> np.ndarray:
    members, observed, tolerance, _ = by.targets
    errors = np.where(errors > tolerance, errors, 0.0)
    found = [
        compiled(summaries.largest_deviations)(values, *in_blocks((members[of], observed[of], errors[of]), size))
        for of in by.groups()
    ]
    return np.stack([np.asarray(each)[: int(count)] for each in found])


def bootstrap_exceed(
    replicates: np.ndarray, delta: float, tolerance: float, alternative: Alternative, variant: Variant
) -> int:
    r"""Count the bootstrap resamples that are at least as extreme as the observed delta.

    Let $\delta$ be the observed delta and $\delta^*$ the delta of a resample. The null distribution is the distribution
    of $\delta^* - \delta$ for the variant `shift` (Berg-Kirkpatrick et al. 2012, section 2), and of $\delta - \delta^*$
    for the variant `flip`. A resample counts if:

    - two-sided: $|\delta^* - \delta| \ge |\delta|$, for both variants;
    - greater, `shift`: $\delta^* - \delta \ge \delta$ (the paper has $\delta^* > 2\delta$, without ties);
    - greater, `flip`: $\delta^* \le 0$.

    For "less", the inequalities are reversed. `replicates` `[resample]` are bootstrap deltas. The two sides of an
    inequality count as equal if they differ by at most `tolerance`.

    >>> bootstrap_exceed(np.array([0.2, 0.5]), 0.2, 1e-12, "two-sided", "shift")
    1
    """
    null = null_replicates(replicates, np.float64(delta), variant)
    return int(np.count_nonzero(Extreme(np.float64(delta), np.float64(tolerance), alternative).met(null)))


def _count_against(values: np.ndarray, tested: Deltas, settings: Settings, backend: Backend) -> np.ndarray:
    """The number of extreme resamples of each `tested` pair, `[pair]` int64.

    `values` `[system, resample]` are the scores of the resamples.
    """
    size = _PIECE.get(backend.platform, 0)
    # For few pairs, NumPy finishes before threads have started.
    if not size or len(tested.delta) < _MANY or values.shape[1] < min(_PIECE.values()):

        def count(pair: int) -> int:
            (a, b), delta, tolerance = (column[pair] for column in tested)
            return bootstrap_exceed(values[a] - values[b], delta, tolerance, settings.alternative, settings.variant)

        return np.array(in_threads(count, range(len(tested.delta))), np.int64)
    static = (("alternative", settings.alternative), ("variant", settings.variant))
    kernel = compiled(count_extreme, static, backend.platform, wide_vectors=True)
    counts = np.zeros(len(tested.delta), np.int64)
    for start in range(0, values.shape[1], size):
        piece = values[:, start : start + size]
        if (lacking := size - piece.shape[1]) > 0:
            piece = np.pad(piece, ((0, 0), (0, lacking)), constant_values=np.nan)  # comparisons with NaN are false
        counts += (
            on_all_cores(kernel, piece, *tested) if backend.platform == "cpu" else np.asarray(kernel(piece, *tested))
        )
    return counts


def _largest_deviations(by: Percentile, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    r"""Return the largest $|\theta^*_j - \hat\theta_j| / s_j$ of all targets j in each group, `[group, resample]`.

    A target is a score or delta; `by.groups()` has the groups, such as all deltas. $\theta^*_j$ is a replicate of
    target j, $\hat\theta_j$ its observed value, and $s_j$ its standard error, from `errors` `[target]`. `values`
    `[system, resample]` are the scores of the resamples.
    """
    return np.concatenate(
        in_threads(
            lambda start: _largest_of_piece(by, values[:, start : start + _COLUMNS], errors),
            range(0, values.shape[1], _COLUMNS),
        ),
        axis=1,
    )


def _largest_of_piece(by: Percentile, piece: np.ndarray, errors: np.ndarray) -> np.ndarray:
    members, observed, tolerance, _ = by.targets
    groups = by.groups()
    found = np.zeros((len(groups), piece.shape[1]))
    for largest, group in zip(found, groups, strict=True):
        for place in np.flatnonzero((errors > tolerance)[group]) + group.start:
            apart = _row(piece, members[place]) - observed[place]
            np.maximum(largest, np.abs(apart) / errors[place], out=largest)
    return found


def _row(piece: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the replicates `[resample]` of one target from the scores `piece` `[row, resample]`.

    `members` is (a, b) for the delta of two systems, and (a, number of rows) for the score of a.
    """
    a, b = members.tolist()
    return piece[a] - (piece[b] if b < len(piece) else 0.0)


_SAMPLE, _FAR = 2**16, 6.0
"""`_SAMPLE`: a quantile is first located in a sample, which has this many replicates. `_FAR`: replicates are kept if
they are at most this many standard errors (of a quantile of the sample) away from the sample's quantile. The quantile
of all replicates is farther away with probability 2e-9."""
_BYTES = 0.5
"""Bytes of memory for each target (score or delta) and each resample, if replicates are drawn twice. They hold partial
sums (one for every 32 resamples, in each draw), and the replicates near quantiles, with room to sort them."""


class _Draw(Protocol):
    """An object that collects numbers while replicates are drawn, piece by piece."""

    def add(self, start: int, piece: np.ndarray) -> None:
        """Add the replicates `piece` `[row, resample]` to the collected numbers.

        `start` is the index of the first resample of the piece.
        """
        ...


class _FirstDraw:
    """Numbers about the replicates of one target (score or delta), collected in the first of two draws.

    Replicates that do not fit into memory are drawn twice, piece by piece. The numbers are the sum of the replicates,
    the largest absolute value, the share below the observed value, and a sample: the first replicates.
    """

    def __init__(self, by: Percentile, target: int, resamples: int, exponent: int = 0) -> None:
        """Prepare to collect the numbers of the target (score or delta) with the index `target`.

        Replicates are summed in units of 2 ** `exponent`. `by` has the observed values of all targets.
        """
        self.place, self.members, self.exponent, self.resamples = (
            target,
            by.targets.members[target],
            exponent,
            resamples,
        )
        observed, tolerance = (float(column[target]) for column in (by.targets.observed, by.targets.tolerance))
        self._limits, self._below = (observed - tolerance, observed + tolerance), 0
        self._added, self.largest, self._sample = PiecewiseTotal(resamples), 0.0, np.empty(min(_SAMPLE, resamples))

    def add(self, start: int, piece: np.ndarray) -> None:
        row = _row(piece, self.members)
        here = self._sample[start : start + len(row)]
        here[:] = row[: len(here)]
        self.largest = max(self.largest, float(np.abs(row).max()))
        self._below += np.count_nonzero(row < self._limits[0]) + np.count_nonzero(row <= self._limits[1])
        self._added.add(start, self.scaled(row))

    def scaled(self, row: np.ndarray) -> np.ndarray:
        return np.ldexp(row, -self.exponent) if self.exponent else row

    @property
    def below(self) -> float:
        return self._below / (2.0 * self.resamples)

    @property
    def mean(self) -> float:
        return float(self._added.total()) / self.resamples

    @cached_property
    def ordered(self) -> np.ndarray:
        return np.sort(self._sample)


class _SquaredDeviations:
    """The sum of squared deviations of one target's replicates from their mean, collected in the second of two draws.

    Replicates that do not fit into memory are drawn twice; `first` has their mean, from the first draw.
    """

    def __init__(self, first: _FirstDraw) -> None:
        self._first, self._mean, self._added = first, first.mean, PiecewiseTotal(first.resamples)

    def add(self, start: int, piece: np.ndarray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            apart = self._first.scaled(_row(piece, self._first.members)) - self._mean
            self._added.add(start, np.square(apart, out=apart))

    def standard_error(self) -> float:
        return math.sqrt(float(self._added.total()) / (self._first.resamples - 1))


class _NearRank:
    """The replicates of one target (score or delta) near a given rank, collected in the second of two draws.

    Replicates that do not fit into memory are drawn twice. The first draw gives a sample of the replicates, and two
    values of the sample, one on each side of the rank. The second draw keeps the replicates between these two values.
    Replicates equal to one of the two values are only counted.
    """

    def __init__(self, first: _FirstDraw, rank: int, far: float) -> None:
        self._members, self._resamples, self._rank = first.members, first.resamples, rank
        sample, share = first.ordered, (rank + 0.5) / first.resamples
        middle, width = share * len(sample), far * math.sqrt(share * (1.0 - share) * len(sample)) + 2.0
        below, above = math.floor(middle - width), math.ceil(middle + width)
        self._low = float(sample[below]) if below >= 0 else -math.inf
        self._high = float(sample[above]) if above < len(sample) else math.inf
        self._below, self._at_low, self._at_high, self._kept = 0, 0, 0, list[np.ndarray]()

    def add(self, start: int, piece: np.ndarray) -> None:
        del start
        row = _row(piece, self._members)
        self._below += int(np.count_nonzero(row < self._low))
        self._at_low += int(np.count_nonzero(row == self._low))
        self._at_high += int(np.count_nonzero(row == self._high)) if self._high > self._low else 0
        self._kept.append(row[(self._low < row) & (row < self._high)])

    def values(self) -> tuple[float, float]:
        """Return two replicates: at the given rank, and at the next rank.

        A replicate is NaN if its rank is outside the range between the two values of the sample.
        """
        inside = np.sort(np.concatenate(self._kept))
        first = self._below + self._at_low
        last = first + len(inside)

        def of_rank(rank: int) -> float:
            if self._below <= rank < first:
                return self._low
            if first <= rank < last:
                return float(inside[rank - first])
            return self._high if last <= rank < last + self._at_high else math.nan

        return of_rank(self._rank), of_rank(min(self._rank + 1, self._resamples - 1))


class _DrawnAgain:
    """Standard errors and intervals from replicates that do not fit into memory.

    The replicates are drawn twice for each group of targets (scores and deltas).
    """

    def __init__(self, pieces: Callable[[Run], Pieces], by: Percentile, run: Run, settings: Settings) -> None:
        self._pieces, self._by, self._run, self._settings = pieces, by, run, settings
        needed = gib((len(by.groups()), run.resamples))
        if by.takes_largest and not fits(needed, settings):
            raise InputError(
                f"simultaneous intervals keep the largest deviations of {run.resamples:,} resamples; give "
                f"{Hint('memory', f'{memory_for(needed):g}')} (GiB) or more, fewer resamples, or "
                f"{Hint('interval', 'percentile')}"
            )
        count, a_target = len(by.targets.members), _BYTES * run.resamples + 8.0 * _SAMPLE
        most = next((size for size in range(1, count) if not fits((size + 1) * a_target / 2**30, settings)), count)
        self._groups = [range(start, min(start + most, count)) for start in range(0, count, max(most, 1))]
        self._first, self._done = self._of_group(self._groups[0]) if count else [], 0

    def _of_group(self, group: range) -> list[_FirstDraw]:
        return [_FirstDraw(self._by, target, self._run.resamples) for target in group]

    def add(self, start: int, piece: np.ndarray) -> None:
        """Collect numbers from a piece of replicates that was drawn for another purpose: to count extreme resamples.

        For each group of targets, all replicates are drawn twice. If pieces from the count cover all resamples in
        order, they replace the first of the two draws for the first group.
        """
        if start == self._done:
            _add(self._first, start, piece)
            self._done += piece.shape[1]

    def spreads(self) -> np.ndarray:
        """Return the standard errors and interval ends of all targets (scores and deltas), `[target, 3]`."""
        found = np.full((len(self._by.targets.members), 3), np.nan)
        for group in self._groups:
            first, is_first = self._of_group(group), group is self._groups[0]
            if is_first and self._done == self._run.resamples:
                first = self._first
            else:
                self._draw(first)
            found[group.start : group.stop] = self._group_spreads(first)
        return self._by.with_all(found, self._largest)

    def _draw(self, items: Sequence[_Draw]) -> None:
        for start, piece in self._pieces(self._run):
            _add(items, start, piece)

    def _group_spreads(self, first: Sequence[_FirstDraw]) -> np.ndarray:
        below = np.array([each.below for each in first])
        ranks = self._by.levels(below, slice(first[0].place, first[-1].place + 1)) * (self._run.resamples - 1)
        found, squares = np.full((len(first), 3), np.nan), [_SquaredDeviations(each) for each in first]
        missing: list[tuple[int, int]] = list(zip(*np.nonzero(~np.isnan(ranks)), strict=True))
        far = _FAR
        items: list[_Draw] = [*squares]
        while items or missing:
            around = [_NearRank(first[row], math.floor(ranks[row, end]), far) for row, end in missing]
            self._draw([*items, *around])
            for (row, end), each in zip(missing, around, strict=True):
                low, high = np.array(each.values())
                found[row, 1 + end] = between(low, high, ranks[row, end] - math.floor(ranks[row, end]))
            items, missing, far = [], [(row, end) for row, end in missing if math.isnan(found[row, 1 + end])], 4.0 * far
        found[:, 0] = [each.standard_error() for each in squares]
        for row in np.flatnonzero(unsafe(found[:, 0])).tolist():
            if (largest := first[row].largest) > 0.0:
                scaled = _FirstDraw(self._by, first[row].place, self._run.resamples, math.frexp(largest)[1])
                self._draw([scaled])
                self._draw([again := _SquaredDeviations(scaled)])
                found[row, 0] = math.ldexp(again.standard_error(), scaled.exponent)
        return found

    def _largest(self, errors: np.ndarray) -> np.ndarray:
        found = np.empty((len(self._by.groups()), self._run.resamples))
        for start, piece in self._pieces(self._run):
            largest = _largest_deviations(self._by, piece, errors)
            found[:, start : start + piece.shape[1]] = largest
        return found


def _add(items: Sequence[_Draw], start: int, piece: np.ndarray) -> None:
    in_threads(lambda item: item.add(start, piece), items)
