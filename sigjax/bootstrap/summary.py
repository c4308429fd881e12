"""A summary of more bootstrap replicates than fit into memory: some whole numbers for each system and pair.

It is the same on every device and for every grouping of the resamples. Its intervals are near those of all replicates,
not equal: exact ones would take too long. For 11,175 pairs and 10^6 resamples of BLEU, a run with a summary takes 2.8
times as long as the matrix product that it needs. Kept in a mapped file, and with quantiles of all pairs taken from it,
the replicates take 1.7 times the processor time (72 against 43 s, on two cores) and 1.7 against 0.6 GiB.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import NormalDist

import numpy as np

from sigjax.bootstrap.intervals import PILOT, Pieces, Spread, quantile_levels, standard_errors
from sigjax.bootstrap.replicates import PIECE, Told, Wanted, count_against, of_targets
from sigjax.records import Interval
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.tally import count_at_most, products
from sigjax.run.backend import Backend, compiled
from sigjax.run.host import in_threads, shared_out
from sigjax.run.share import Share
from sigjax.units.sums import total

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

    `pieces` gives the share of this process of some resamples, from where the stage stands.
    """
    if state := run.stage.state():
        summary = _Summary(wanted, run.backend, state.done, state.arrays)
    else:
        pilot = np.empty((wanted.intervals.num_rows, PILOT))
        for start, piece in pieces(range(PILOT)):
            pilot[:, start : start + piece.shape[1]] = piece
        run.share.complete(pilot)
        summary = _Summary(wanted, run.backend, 0, _begun(pilot, wanted))
        for start in range(0, PILOT, PIECE):
            summary.add(pilot[:, start : start + PIECE])
        del pilot
    for part in rounds(range(summary.resamples, run.resamples), run):
        known = summary.resamples, dict(summary.counts)
        for piece in _of_size(pieces(part)):
            keep(run, summary.resamples, **summary.arrays())
            summary.add(piece)
        summary.add_others(*known, run.share)
        keep_round(run, summary.resamples, **summary.arrays())
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

    def add_others(self, resamples: int, known: dict[str, np.ndarray], share: Share) -> None:
        """Add what the other processes have added to the counts that all of them had."""
        self.resamples = resamples + int(share.total(np.array(self.resamples - resamples)))
        self.counts = {name: old + share.total(self.counts[name] - old) for name, old in known.items()}

    def tell(self) -> Told:
        """What all replicates say that were added."""
        errors = [self._standard_error(*target) for target in self.wanted.intervals.targets.members.tolist()]
        spreads = [Spread(error, interval) for error, interval in zip(errors, self._intervals(), strict=True)]
        return Told(self.counts["exceed"].tolist(), spreads)

    def _products(self, coarse: np.ndarray) -> np.ndarray:
        if self.backend.devices and coarse.shape[1] == PIECE:
            # A library with threads of its own would wait long for cores on which JAX computes.
            return np.asarray(compiled(products, (), self.backend.platform)(coarse))
        return products(coarse)

    def _count_at_most(self, steps: np.ndarray) -> np.ndarray:
        members, thresholds = self.wanted.intervals.targets.members, self.thresholds
        if len(members) and self.backend.devices and steps.shape[1] == PIECE:
            return shared_out(compiled(count_at_most, (), self.backend.platform), steps, members, thresholds)

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
