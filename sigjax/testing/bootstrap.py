"""A summary of more bootstrap replicates than fit into memory: some whole numbers for each system and pair.

It is the same on every device and for every grouping of the resamples. Its intervals are near those of all replicates,
not equal: exact ones would take too long. For 11,175 pairs and 10^6 resamples of BLEU, a run with a summary takes 2.8
times as long as the matrix product that it needs. Kept in a mapped file, and with quantiles of all pairs taken from it,
the replicates take 1.7 times the processor time (72 against 43 s, on two cores) and 1.7 against 0.6 GiB.

The paired bootstrap by sampling: all systems on the same resamples of the units.

`SharedDraws` draws replicates for all metrics of a report at once; `sampled_bootstrap` makes tests and spreads of them.
Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 2; Efron and Tibshirani (1993).

The bootstrap without sampling: for scores that are linear in one statistic, while the others do not vary.

Then a replicate of a score, or of delta, is a number times the resampled sum of one statistic, whose law is known.
Means and accuracies of instances are such scores; with clusters of unequal size they are not, nor are ratios of sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from sigjax.exact.bootstrap import (
    DrawLattice,
    below,
    bootstrap_p,
    draw_lattice,
    grid_length,
    law,
    quantile,
    standard_error,
    tilt,
)
from sigjax.exact.lattice import NotEligible
from sigjax.exact.null import ExactP
from sigjax.records import Column, Comparisons, Interval, Settings
from sigjax.resample.draws import draws_from_strata
from sigjax.resample.engine import Scored, replicates
from sigjax.resample.projection import (
    ColumnIndices,
    DrawsProduct,
    Projection,
    distinct_columns,
    drawn_columns,
    draws_projection,
    nested_projection,
)
from sigjax.resample.tally import Deltas, count_at_most, products
from sigjax.resample.units import total
from sigjax.run.backend import Backend, compiled, most_bytes
from sigjax.run.checkpoint import State
from sigjax.run.context import Run
from sigjax.run.host import fits, gib, in_threads, on_all_cores
from sigjax.run.shards import Shard
from sigjax.testing.intervals import KINDS
from sigjax.testing.p_values import montecarlo_p, sampled_columns
from sigjax.testing.problem import (
    Alike,
    Case,
    NotFinite,
    Pair,
    SampleCase,
    check_finite,
    raise_together,
    scores_at,
    slope_in,
)
from sigjax.testing.replicates import (
    PIECE,
    Simultaneous,
    Told,
    Wanted,
    accelerations,
    bca_levels,
    count_against,
    kept_replicates,
    of_targets,
    packed,
    tell_all,
    unpacked,
)
from sigjax.testing.uncertainty import PILOT, Percentile, Pieces, Spread, quantile_levels, standard_errors, targets_of

_THRESHOLDS = 4
"""For each of two quantiles. For BCa intervals there are two more: below the observed score, and at it."""
_DEVIATIONS = 5.0
"""Half-width of the thresholds around a quantile, in standard deviations of its rank among the pilots."""
_STEPS = 2.0**20
"""Steps to a standard error of the system that varies least, or half or twice as many."""
_FARTHEST = 2.0**26
"""Steps from the centre, at most."""
_WIDEST = 2.0**22
"""Steps to a standard error of the system that varies most, at most."""
_COARSE = 2.0**6
"""Covariances are added up in coarser steps, whose products have sums that a double holds exactly."""


def tell_summary(pieces: Callable[[range], Pieces], wanted: Wanted, run: Run) -> Told:
    r"""Summarise replicates as they come: first those of `PILOT` resamples, then the others.

    Covariances of all systems are added up in whole steps, which makes standard errors accurate to 1e-5 of themselves.

    A quantile of rank q lies between two of 4 thresholds: order statistics of the M = `PILOT` first replicates, up to 5
    standard deviations of its rank among them to either side. How many of all K replicates are at most each threshold
    is counted, and the quantile is interpolated where the normal scores of these counts are its own. That is exact for
    a normal distribution but for what the replicates between two thresholds do by chance: as thresholds are
    $\frac{10}{3} \sqrt{q (1 - q) / M}$ of the distribution apart, the error has a standard deviation of at most
    $\sqrt{5/6} \, (q (1 - q) M)^{-1/4}$ of that which the quantile itself has as resamples are random: a sixth of it at
    the level 0.95, a quarter at 0.99.

    For BCa intervals the levels of the quantiles come from the replicates, too: thresholds are set by the pilots' share
    below the observed score, twice as far apart, since it is random, and the quantiles are taken at the levels that
    belong to the share of all replicates. Replicates within 2 steps of the observed score are ties.

    `pieces` gives the shard of this process of some resamples, from the checkpoint on.
    """
    if state := run.checkpoint.state():
        summary = _Summary(wanted, run.backend, state.done, state.arrays)
    else:
        pilot = np.empty((wanted.intervals.num_rows, PILOT))
        for start, piece in pieces(range(PILOT)):
            pilot[:, start : start + piece.shape[1]] = piece
        run.shard.complete(pilot)
        summary = _Summary(wanted, run.backend, 0, _begun(pilot, wanted))
        for start in range(0, PILOT, PIECE):
            summary.add(pilot[:, start : start + PIECE])
        del pilot
    for part in run.rounds(range(summary.resamples, run.resamples)):
        known = summary.resamples, dict(summary.counts)
        for piece in _of_size(pieces(part)):
            run.save(summary.resamples, **summary.arrays())
            summary.add(piece)
        summary.add_others(*known, run.shard)
        run.save_round(summary.resamples, **summary.arrays())
    return summary.tell()


def _begun(pilot: np.ndarray, wanted: Wanted) -> dict[str, np.ndarray]:
    """The arrays of a `_Summary` to which nothing is added yet; `pilot` is [system, resample]."""
    by, members = wanted.intervals, wanted.intervals.targets.members
    centre, scale = total(pilot)[:, None] / PILOT, _scale(standard_errors(pilot))
    width = (2.0 if by.by_share else 1.0) * _DEVIATIONS
    observed = _observed_ends(wanted, centre, scale) if by.by_share else np.zeros((len(members), 0), np.int32)

    def of_rows(rows: np.ndarray, places: slice) -> list[np.ndarray]:
        found = []
        for place, row in enumerate(np.sort(rows, axis=1), places.start):
            below = np.searchsorted(row, observed[place], side="right").sum() / (2.0 * PILOT)
            levels = by.levels(place, float(below)) or quantile_levels(by.level)
            found.append(np.concatenate([row[_pilot_ranks(np.array(levels), width)], observed[place]]))
        return found

    found = of_targets(of_rows, _in_steps(pilot, centre, scale), members)
    thresholds = np.array(found, np.int32).reshape(len(found), 2 * _THRESHOLDS + observed.shape[1])
    return {
        "centre": centre,
        "scale": np.array(scale),
        "thresholds": thresholds,
        "sums": np.zeros(len(pilot), np.int64),
        "products": np.zeros((len(pilot), len(pilot)), np.int64),
        "exceed": np.zeros(len(wanted.tested.delta), np.int64),
        "at_most": np.zeros(thresholds.shape, np.int64),
    }


class _Summary:
    """Sums and counts over resamples; all are whole numbers, so that their order does not matter."""

    def __init__(self, wanted: Wanted, backend: Backend, resamples: int, arrays: Mapping[str, np.ndarray]) -> None:
        self.wanted, self.backend, self.resamples = wanted, backend, resamples
        self.centre, self.scale, self.thresholds = arrays["centre"], float(arrays["scale"]), arrays["thresholds"]
        self.counts = {name: arrays[name] for name in ("sums", "products", "exceed", "at_most")}

    def arrays(self) -> dict[str, np.ndarray]:
        """All numbers except that of the resamples."""
        fixed = {"centre": self.centre, "scale": np.array(self.scale), "thresholds": self.thresholds}
        return fixed | self.counts

    def add(self, piece: np.ndarray) -> None:
        """Add replicates `[system, resample]`."""
        steps = _in_steps(piece, self.centre, self.scale)
        coarse = np.rint(steps[:-1] / _COARSE)
        self.resamples += piece.shape[1]
        more = {
            "sums": coarse.sum(axis=1).astype(np.int64),
            "products": self._products(coarse).astype(np.int64),
            "exceed": count_against(piece, self.wanted, self.backend),
            "at_most": self._count_at_most(steps),
        }
        # New arrays: a checkpoint holds the old ones, and may write them once more.
        self.counts = {name: old + more[name] for name, old in self.counts.items()}

    def add_others(self, resamples: int, known: dict[str, np.ndarray], shard: Shard) -> None:
        """Add what the other processes have added to the counts that all of them had."""
        self.resamples = resamples + int(shard.total(np.array(self.resamples - resamples)))
        self.counts = {name: old + shard.total(self.counts[name] - old) for name, old in known.items()}

    def tell(self) -> Told:
        """What all replicates say that were added."""
        errors = [self._standard_error(*target) for target in self.wanted.intervals.targets.members.tolist()]
        spreads = [Spread(error, interval) for error, interval in zip(errors, self._intervals(), strict=True)]
        return Told(self.counts["exceed"].tolist(), spreads)

    def _products(self, coarse: np.ndarray) -> np.ndarray:
        # A library with threads of its own would wait long for cores on which JAX computes.
        on_device = self.backend.devices and coarse.shape[1] == PIECE
        return np.asarray((compiled(products, (), self.backend.platform) if on_device else products)(coarse))

    def _count_at_most(self, steps: np.ndarray) -> np.ndarray:
        members, thresholds = self.wanted.intervals.targets.members, self.thresholds
        if len(members) and self.backend.devices and steps.shape[1] == PIECE:
            return on_all_cores(compiled(count_at_most, (), self.backend.platform), steps, members, thresholds)

        def of_target(place: int) -> list[int]:
            a, b = members[place]
            delta = steps[a] - steps[b]
            return [int(np.count_nonzero(delta <= limit)) for limit in thresholds[place]]

        return np.array(in_threads(of_target, range(len(members))), np.int64).reshape(thresholds.shape)

    def _standard_error(self, a: int, b: int) -> float:
        variance = self._covariance(a, a)
        if b < len(self.centre):
            variance += self._covariance(b, b) - 2 * self._covariance(a, b)
        # Whole numbers of any length until here: nothing has cancelled.
        return math.sqrt(variance / (self.resamples * (self.resamples - 1))) * _COARSE / self.scale

    def _covariance(self, a: int, b: int) -> int:
        """Covariance of two systems in coarse steps, times K (K - 1)."""
        sums = self.counts["sums"]
        return self.resamples * int(self.counts["products"][a, b]) - int(sums[a]) * int(sums[b])

    def _intervals(self) -> Iterator[Interval | None]:
        # The replicate of rank r, from 0, is the first that has r + 1 at most as large.
        levels = self._levels()
        wanted = _normal_scores(np.nan_to_num(levels) * (self.resamples - 1) + 1.0, self.resamples)
        shape = len(self.thresholds), 2, _THRESHOLDS
        limits, counts = (
            part[:, : 2 * _THRESHOLDS].reshape(shape) for part in (self.thresholds, self.counts["at_most"])
        )
        found = _normal_scores(counts, self.resamples)
        centre = [*self.centre[:, 0].tolist(), 0.0]
        members = self.wanted.intervals.targets.members.tolist()
        each = zip(members, np.isnan(levels[:, 0]), wanted, found, limits, strict=True)
        for (a, b), none, *ends in each:
            ends = zip(*ends, strict=True)
            low, high = (float(np.interp(*end)) / self.scale + (centre[a] - centre[b]) for end in ends)
            yield None if none else Interval(low, high)

    def _levels(self) -> np.ndarray:
        """Which quantiles are the ends of the intervals, `[target, 2]`; NaN where there is none."""
        below = self.counts["at_most"][:, 2 * _THRESHOLDS :].sum(axis=1) / (2.0 * self.resamples)
        found = [self.wanted.intervals.levels(*each) or (math.nan, math.nan) for each in enumerate(below.tolist())]
        return np.array(found).reshape(-1, 2)


def _observed_ends(wanted: Wanted, centre: np.ndarray, scale: float) -> np.ndarray:
    """The last steps below the observed score of each target and at it, `[target, 2]`."""
    members, observed, *_ = wanted.intervals.targets
    centre = np.append(centre, 0.0)
    steps = np.rint((observed - (centre[members[:, 0]] - centre[members[:, 1]])) * scale)
    return np.clip(steps, -_FARTHEST, _FARTHEST)[:, None].astype(np.int32) + np.array([-3, 2], np.int32)


def _in_steps(replicates: np.ndarray, centre: np.ndarray, scale: float) -> np.ndarray:
    """Distances from the centre `[system + 1, resample]` int32; the last row is 0."""
    steps = np.zeros((len(replicates) + 1, replicates.shape[1]), np.int32)
    steps[:-1] = np.clip(np.rint((replicates - centre) * scale), -_FARTHEST, _FARTHEST)
    return steps


def _scale(spread: np.ndarray) -> float:
    """Steps to a unit of the score, from the spread of each system; a power of two, which scales without rounding."""
    some = spread[spread > 0.0]
    return float(2.0 ** np.rint(np.log2(min(_STEPS / some.min(), _WIDEST / some.max())))) if some.size else 1.0


def _pilot_ranks(levels: np.ndarray, deviations: float) -> np.ndarray:
    """Ranks among the pilots of the thresholds around the lower quantile, then of those around the upper one."""
    ends = levels[:, None]
    width = deviations * np.sqrt(PILOT * ends * (1.0 - ends)) + 2.0
    ranks = ends * (PILOT - 1) + width * np.linspace(-1.0, 1.0, _THRESHOLDS)
    return np.clip(np.rint(ranks), 0, PILOT - 1).astype(np.int64).ravel()


def _normal_scores(counts: np.ndarray, resamples: int) -> np.ndarray:
    """Quantiles of the normal distribution for counts of 0 to K replicates, of the same shape."""
    return np.vectorize(NormalDist().inv_cdf, otypes=[float])((counts + 0.5) / (resamples + 1.0))


def _of_size(pieces: Pieces) -> Iterator[np.ndarray]:
    """The same replicates in pieces of `PIECE` resamples, but for the last."""
    waiting: list[np.ndarray] = []
    held = 0
    for _, piece in pieces:
        waiting.append(piece)
        held += piece.shape[1]
        if held >= PIECE:
            joined = np.concatenate(waiting, axis=1)
            whole = held // PIECE * PIECE
            yield from np.split(joined[:, :whole], whole // PIECE, axis=1)
            waiting, held = [joined[:, whole:]], held - whole
    if held:
        yield np.concatenate(waiting, axis=1)


class SharedDraws:
    """The draws of the metrics `cases` of a report, whose units are the same.

    The metric that comes first is scored with all others, and their replicates wait for them, where all of them fit
    into memory, nothing is kept in a file or shared with other processes, and the sums are made in the same way as for
    each metric by itself. Otherwise each metric draws by itself; the numbers are the same.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self._to_come = list(cases)
        self._waiting: dict[str, np.ndarray] = {}

    def pieces(self, case: Case, run: Run) -> Pieces:
        """Scores of all systems by one metric on the resamples of the run, piece by piece."""
        name = case.metric.name
        self._to_come = [each for each in self._to_come if each.metric.name != name]
        if (found := self._waiting.pop(name, None)) is not None:
            yield 0, found
            run.advance(run.resamples)
            return
        cases = [case, *self._to_come]
        num_rows = len(cases) * len(case.units.values)
        whole = run.start == 0 and run.shard.count == 1 and not run.checkpoint.is_kept
        if not (whole and fits(gib((num_rows, run.resamples)), case.settings)):
            cases = [case]
        projection, metrics = _scored(cases, run)
        shape = len(case.units.values), run.resamples
        others = {each.metric.name: np.empty(shape) for each in cases[1 : len(metrics)]}
        for start, (own, *more) in replicates(projection, metrics, run):
            for kept, piece in zip(others.values(), more, strict=True):
                kept[:, start : start + piece.shape[1]] = piece
            yield start, own
        self._waiting = others


def rounds_alike(case: Case) -> bool:
    """Whether compiled scores are NumPy's: a compiler may merge the division by divisors with the metric's own."""
    return case.metric.portable and case.units.divisors is None


def _scored(cases: Sequence[Case], run: Run) -> tuple[Projection, list[Scored]]:
    """How to make the sums of all of these metrics, or of the first one, where together would take another way."""
    alone = [_joined([each], run) for each in cases]
    if len(cases) == 1:
        return alone[0]
    found = _joined(cases, run)
    return found if {_way(projection) for projection, _ in alone} == {_way(found[0])} else alone[0]


def _way(projection: Projection) -> tuple[object, ...]:
    return type(projection), projection.matrix.dtype if isinstance(projection, DrawsProduct) else None


def _joined(cases: Sequence[Case], run: Run) -> tuple[Projection, list[Scored]]:
    """How to make the sums of these metrics; statistics that they share are columns that they shard."""
    draws, compiled = draws_from_strata(cases[0].units.strata), bool(run.backend.devices)
    in_bytes = most_bytes(run.backend, counts=True)
    outputs = [each.units.outputs for each in cases if each.units.outputs and each.settings.design == "nested"]
    if outputs:
        columns, (column, offset) = distinct_columns(np.concatenate([each.values for each in outputs], axis=2))
        sizes = outputs[0].sizes
        projection = nested_projection(columns, draws, sizes, compiled=compiled, most_bytes=in_bytes)
    else:
        columns, (column, offset) = drawn_columns(np.concatenate([each.units.values for each in cases], axis=2))
        projection = draws_projection(columns, draws, compiled=compiled, most_bytes=in_bytes)
    metrics, start = [], 0
    for each in cases:
        stats = slice(start, start := start + each.units.values.shape[2])
        places, on_host = ColumnIndices(column[:, stats], offset[:, stats]), not rounds_alike(each)
        metrics.append(Scored(places, each.units.divisors, each.metric.score, on_host))
    return projection, metrics


class Sampled(NamedTuple):
    """What bootstrap resamples say."""

    tested: Comparisons
    """The columns of the pairs that were tested."""
    systems: list[Spread]
    pairs: list[Spread]
    """These and those of systems are empty where they were not asked for."""
    replicates: np.ndarray | None
    """Scores `[system, resample]`, where all of them were kept."""


def sampled_bootstrap(
    case: Case | SampleCase,
    run: Run,
    pieces: Callable[[Run], Pieces],
    tested: np.ndarray,
    reason: str,
    *,
    spreads: bool,
) -> Sampled:
    """The test of some pairs, and spreads of systems and of all pairs.

    Args:
        case: the case.
        run: how many resamples, and how.
        pieces: gives the scores of all systems on the same resamples, piece by piece, for a part of the run.
        tested: positions of the pairs that are tested.
        reason: why they are sampled.
        spreads: whether spreads are asked for.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: the memory is too small for studentized or simultaneous intervals.
    """
    settings, question = case.settings, case.question
    deltas = Deltas(question.members[tested], question.deltas[tested], question.rounding[tested])
    kind = KINDS[settings.interval].of_replicates if spreads else Percentile
    by = kind(case, targets_of(question, systems=spreads, pairs=spreads))
    told = tell(by.pieces(pieces), Wanted(deltas, settings.alternative, settings.variant, by), run, settings)
    exceed = np.array(told.exceed, np.int64)
    p_values = np.asarray(montecarlo_p(exceed, run.resamples))
    columns = sampled_columns(exceed, p_values, run.resamples, Column.constant(reason, len(exceed)))
    found, num_systems = by.finished(told.spreads), len(question.scores)
    values = None if told.values is None else told.values[:num_systems]
    return Sampled(columns, found[:num_systems], found[num_systems:], values)


def all_replicates(pieces: Callable[[Run], Pieces], shape: tuple[int, int], run: Run) -> np.ndarray:
    """Scores of all systems on the same resamples, `shape` [system, resample], drawn by all processes.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    values = np.empty(shape)
    for start, piece in _finite(pieces(run.shard_of(range(run.resamples))), run.shard):
        values[:, start : start + piece.shape[1]] = piece
    run.shard.complete(values)
    return values


def tell(pieces: Callable[[Run], Pieces], wanted: Wanted, run: Run, settings: Settings) -> Told:
    """What replicates say, by keeping them all or a summary; from the checkpoint on.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: the memory is too small for the kind of intervals.
    """
    by, state = wanted.intervals, run.checkpoint.state() or State(0, {})
    kept = by.keeps(run.resamples, settings)
    if state.done == run.resamples:
        return unpacked(state.arrays)

    def finite(resamples: range) -> Pieces:
        return _finite(pieces(run.shard_of(resamples)), run.shard)

    told = tell_all(finite, wanted, run) if kept else tell_summary(finite, wanted, run)
    if isinstance(by, Simultaneous) and not kept:  # replicates are drawn once more: now their standard errors are known
        spreads = told.spreads
        maxima = kept_replicates(
            lambda resamples: ((start, by.largest_deviations(piece, spreads)) for start, piece in finite(resamples)),
            2,
            replace(run, checkpoint=run.checkpoint.at("maxima")),
        )
        told = told._replace(spreads=by.joined(spreads, maxima))
    run.checkpoint.finish(run.resamples, **packed(told))
    return told


def _finite(pieces: Pieces, shard: Shard) -> Iterator[tuple[int, np.ndarray]]:
    """The same pieces.

    Raises:
        NotFinite: the metric gave NaN or infinity, here or in another process.
    """
    error = None
    try:
        for start, piece in pieces:
            check_finite(piece)
            yield start, piece
    except NotFinite as found:
        error = found
    raise_together(error, shard)


_BYTES = 100.0
"""Memory for each value of a grid."""


class LinearScore(NamedTuple):
    """A score that is linear in the sum of one statistic."""

    stat: int
    slope: float


class BootstrapPlan(NamedTuple):
    """Laws to compute, for an evaluation."""

    score: LinearScore
    systems: tuple[DrawLattice, ...]
    pairs: dict[Pair, DrawLattice]
    """Of the first pair of each problem."""
    which: np.ndarray
    """[pair] the problem of each pair."""


def plan_bootstrap(case: Case, problems: Alike, budget: float) -> BootstrapPlan | NotEligible:
    """The laws of all systems and pairs, if the score is linear and they fit memory and budget (nominal seconds).

    `problems` are those of the permutation test: pairs that are alike in it are so here, if there are no strata.
    """
    units = case.units
    if case.settings.design == "nested":
        return NotEligible("outputs are drawn within units (design nested)")
    if not units.exact:
        return NotEligible("the statistics are reals, held rounded")
    score = _linear_score(case)
    if isinstance(score, NotEligible):
        return score
    column = units.values[:, :, score.stat]
    systems = tuple(draw_lattice(values, units.strata) for values in column)
    pairs: dict[Pair, DrawLattice] = {}
    seconds = _seconds(tuple({_key(lattice): lattice for lattice in systems}.values()))
    if units.strata[-1] > 0:
        problems = Alike(case.question.pairs, np.arange(len(case.question.members)))
    # The law of a pair's delta, and that of each tail.
    laws = 3 if "bootstrap" in case.settings.tests else 1
    for a, b in problems.first:
        pairs[a, b] = draw_lattice(column[a] - column[b], units.strata)
        seconds += laws * _seconds((pairs[a, b],))
        if seconds > budget:
            return NotEligible(f"without sampling it would take more than the budget of {budget:g} s")
    longest = max(_length(lattice) for lattice in (*systems, *pairs.values()))
    if longest * _BYTES > case.settings.memory * 2**30:
        return NotEligible(f"without sampling it would take about {longest * _BYTES / 2**30:.2g} GiB")
    return BootstrapPlan(score, systems, pairs, problems.which)


def _length(lattice: DrawLattice) -> int:
    return grid_length(lattice, tilt(lattice)) if lattice.values.size else 1


def _seconds(lattices: tuple[DrawLattice, ...]) -> float:
    return sum(1e-3 + 4e-7 * _length(lattice) for lattice in lattices)


def _key(lattice: DrawLattice) -> tuple[bytes | int, ...]:
    """What two lattices of the same law have in common."""
    return *(column.tobytes() for column in lattice[:3]), lattice.offset, lattice.scale


def _linear_score(case: Case) -> LinearScore | NotEligible:
    """The one statistic that varies over units, if the score is linear in it and the others are alike."""
    units = case.units
    totals = units.totals
    first = np.searchsorted(units.strata, units.strata)  # the first unit of each unit's stratum
    varying = np.flatnonzero((units.values != units.values[:, first]).any(axis=(0, 1)))
    if varying.size > 1:
        names = ", ".join(case.metric.stat_names[stat] for stat in varying)
        return NotEligible(f"{varying.size} statistics vary ({names})")
    stat = int(varying[0]) if varying.size else 0
    if (np.delete(totals, stat, axis=1) != np.delete(totals[:1], stat, axis=1)).any():
        return NotEligible("the systems differ in a statistic that does not vary")
    slope = slope_in(case, stat)
    if slope is None:
        return NotEligible(f"the score is not linear in {case.metric.stat_names[stat]}")
    return LinearScore(stat, slope)


def linear_spreads(case: Case, plan: BootstrapPlan) -> tuple[list[Spread], list[Spread]]:
    """Spread of each system's score, and of each pair's delta, as infinitely many resamples give it."""
    pairs, none = list(plan.pairs), len(plan.systems)
    lattices = [*plan.systems, *plan.pairs.values()]
    turned = [0.0] * len(lattices)
    if case.settings.interval == "bca":
        targets = np.array([*((system, none) for system in range(none)), *pairs], np.int32)
        # In the direction of the sum, which the score may turn around.
        turned = (np.sign(plan.score.slope) * np.array(accelerations(case, targets))).tolist()
    found, known = [], {}
    for place, (lattice, acceleration) in enumerate(zip(lattices, turned, strict=True)):
        origin, key = np.zeros(0 if place < none else 1), (place < none, acceleration, *_key(lattice))
        if key not in known:
            known[key] = _spread(case, plan.score, lattice, origin, acceleration)
        found.append(known[key])
    return found[:none], [found[none + problem] for problem in plan.which.tolist()]


def _spread(case: Case, score: LinearScore, lattice: DrawLattice, origin: np.ndarray, acceleration: float) -> Spread:
    """The spread of score(sum), or of score(sum) - score(origin) for a difference of sums."""
    level, kind = case.settings.level, case.settings.interval
    of_sum = law(lattice)
    levels = quantile_levels(level)
    if kind == "bca":
        levels = bca_levels(below(of_sum, lattice.total), acceleration, level) or levels
    ends = np.array([*(quantile(of_sum, each) for each in levels), lattice.total], np.float64)
    found = scores_at(case, score.stat, np.concatenate([ends, origin]))
    *ends, observed = (found[:3] - (found[3] if origin.size else 0.0)).tolist()
    interval = KINDS[kind].of_replicates.turned(Interval(*sorted(ends)), observed)
    return Spread(abs(score.slope) * standard_error(lattice), interval)


def bootstrap_outcomes(case: Case, plan: BootstrapPlan) -> list[ExactP | NotEligible]:
    """The bootstrap test of each problem, as infinitely many resamples give it; none where p is 0."""
    results: list[ExactP | NotEligible] = []
    for lattice in plan.pairs.values():
        if plan.score.slope < 0.0:
            lattice = lattice.mirrored()
        found = bootstrap_p(lattice, lattice.total, case.settings.alternative, case.settings.variant)
        if found.log10_p == -math.inf:
            results.append(NotEligible("no resample at all is as extreme"))
            continue
        reason = f"the score is linear in {case.metric.stat_names[plan.score.stat]}"
        results.append(found._replace(reason=reason))
    return results
