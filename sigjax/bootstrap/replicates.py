"""What bootstrap replicates say, where all of them fit into memory; and simultaneous intervals, which need all at once.

Quantiles and standard errors are those of NumPy, the same on every device and for every grouping of the resamples. More
replicates are summarised, see `summary`.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from sigjax.bootstrap.intervals import Percentile, Pieces, Spread, standard_errors, with_ends
from sigjax.records import Alternative, InputError, Interval, Settings, Variant
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.tally import Deltas, count_extreme, extreme, null_replicates
from sigjax.run.backend import Backend, compiled
from sigjax.run.host import fits, gib, in_threads, memory_for, shared_out

PIECE = 2**13
"""Resamples that compiled kernels count at a time."""
_MANY = 32
"""Items from which threads pay."""
_COLUMNS = 2**11
"""Resamples whose maxima are taken together, as many as stay in the cache."""
_CACHED = 2**16
"""Differences that are processed together."""

Found = TypeVar("Found")


class Wanted(NamedTuple):
    """What to find out from replicates."""

    tested: Deltas
    alternative: Alternative
    variant: Variant
    intervals: Percentile
    """Their targets, and how spreads are made."""


class Told(NamedTuple):
    """What replicates say."""

    exceed: list[int]
    """For each pair tested, how many replicates speak against the observed delta."""
    spreads: list[Spread]
    """For each target."""
    values: np.ndarray | None = None
    """The replicates themselves, `[row, resample]`, where all of them were kept in this run."""


def packed(told: Told) -> dict[str, np.ndarray]:
    """The numbers of a `Told`, as arrays."""
    none = (math.nan, math.nan)
    spreads = [(spread.standard_error, *(spread.interval or none)) for spread in told.spreads]
    return {"exceed": np.array(told.exceed, np.int64), "spreads": np.array(spreads, np.float64).reshape(-1, 3)}


def unpacked(arrays: Mapping[str, np.ndarray]) -> Told:
    """The `Told` whose numbers these are."""
    found = arrays["spreads"].tolist()
    spreads = [Spread(error, None if math.isnan(low) else Interval(low, high)) for error, low, high in found]
    return Told(arrays["exceed"].tolist(), spreads)


def kept_replicates(pieces: Callable[[range], Pieces], num_rows: int, run: Run) -> np.ndarray:
    """All replicates `[row, resample]` of a run, of which each process makes a part; from where the stage stands.

    `pieces` gives the share of this process of some resamples.
    """
    values, done = np.empty((num_rows, run.resamples)), 0
    if state := run.stage.state():
        done = state.done
        values[:, :done] = state.arrays["values"]
    for part in rounds(range(done, run.resamples), run):
        for start, piece in pieces(part):
            keep(run, start, values=values[:, :start])
            values[:, start : start + piece.shape[1]] = piece
        run.share.complete(values[:, part.start : part.stop])
        keep_round(run, part.stop, values=values[:, : part.stop])
    return values


def tell_all(pieces: Callable[[range], Pieces], wanted: Wanted, run: Run) -> Told:
    """Keep all replicates, as above: standard errors (ddof = 1) and quantiles are those of NumPy."""
    by = wanted.intervals
    values = kept_replicates(pieces, by.num_rows, run)
    spreads = by.with_all(of_targets(by.spreads, values, by.targets.members), values)
    return Told(count_against(values, wanted, run.backend).tolist(), spreads, values)


def of_targets(
    function: Callable[[np.ndarray, slice], list[Found]], values: np.ndarray, members: np.ndarray
) -> list[Found]:
    """The function of the replicates `[target, resample]` of some targets and of their places, for all of them.

    Replicates are new arrays, of as many targets as stay in the cache: differences of two rows of `values`, or one row
    of it where the second of `members` `[target, 2]` is the number of rows.
    """
    num_rows = max(1, _CACHED // values.shape[1])
    blocks = [slice(start, min(start + num_rows, len(members))) for start in range(0, len(members), num_rows)]

    def of_block(block: slice) -> list[Found]:
        rows = np.empty((block.stop - block.start, values.shape[1]), values.dtype)
        for row, (a, b) in zip(rows, members[block].tolist(), strict=True):
            np.subtract(values[a], values[b] if b < len(values) else values.dtype.type(0), out=row)
        return function(rows, block)

    return [found for part in in_threads(of_block, blocks) for found in part]


def bootstrap_exceed(
    replicates: np.ndarray, delta: float, tolerance: float, alternative: Alternative, variant: Variant
) -> int:
    r"""Count bootstrap resamples that speak against the observed delta.

    The null distribution is that of $\delta^* - \delta$ (`shift`, Berg-Kirkpatrick et al. 2012, section 2) or $\delta
    - \delta^*$ (`flip`). Two-sided: $|\delta^* - \delta| \ge |\delta|$, centred before the absolute value, the same for
    both; greater, shift: $\delta^* - \delta \ge \delta$, their $\delta^* > 2\delta$ with ties counted; greater, flip:
    $\delta^* \le 0$; less: the other way round.

    Args:
        replicates: `[resample]` bootstrap scores of system a minus those of system b on the same resamples.
        delta: the observed score_a - score_b.
        tolerance: differences smaller than this are ties.
        alternative: which deltas are extreme.
        variant: shift or flip.

    Example:
        >>> bootstrap_exceed(np.array([0.2, 0.5]), 0.2, 1e-12, "two-sided", "shift")
        1
    """
    null = null_replicates(replicates, np.float64(delta), variant)
    return int(np.count_nonzero(extreme(null, np.float64(delta), np.float64(tolerance), alternative)))


def count_against(values: np.ndarray, wanted: Wanted, backend: Backend) -> np.ndarray:
    """For each pair tested, how many replicates `[system, resample]` speak against its delta: `[pair]` int64."""
    # For few pairs NumPy has counted before threads have started.
    compiles = bool(backend.devices) and len(wanted.tested.delta) >= _MANY
    whole = values.shape[1] // PIECE * PIECE if compiles else 0
    rest = values[:, whole:]

    def count(place: int) -> int:
        (a, b), delta, tolerance = (part[place] for part in wanted.tested)
        return bootstrap_exceed(rest[a] - rest[b], delta, tolerance, wanted.alternative, wanted.variant)

    counts = np.array(in_threads(count, range(len(wanted.tested.delta))), np.int64)
    kernel = (("alternative", wanted.alternative), ("variant", wanted.variant))
    for start in range(0, whole, PIECE):
        piece = values[:, start : start + PIECE]
        counts += shared_out(compiled(count_extreme, kernel, backend.platform), piece, *wanted.tested)
    return counts


class Simultaneous(Percentile):
    r"""Simultaneous intervals: $\hat\theta_j \pm c\,s_j$ for all pairs j of a metric, which hold together at the level.

    s are the bootstrap standard errors, and c is the quantile at the level, over resamples, of the largest
    $|\theta^*_j - \hat\theta_j| / s_j$ of all pairs. Resamples are the same for all pairs, so c accounts for how they
    depend on each other and is smaller than Bonferroni's. The scores of all systems have a c of their own. What does
    not vary (s is 0, or rounding) is left out of the maximum.

    Replicates that do not fit into memory are drawn twice: a summary of the first time gives standard errors (accurate
    to 1e-5 of themselves), the second time gives the maxima, all of which are kept.

    References: Romano and Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing";
    Westfall and Young (1993), "Resampling-based multiple testing"; Davison and Hinkley (1997), section 5.2.
    """

    def keeps(self, resamples: int, settings: Settings) -> bool:
        """As for other kinds, but the maxima must fit.

        Raises:
            InputError: they do not.
        """
        kept, needed = super().keeps(resamples, settings), gib((2, resamples))
        if not (kept or fits(needed, settings)):
            raise InputError(
                f"simultaneous intervals keep two numbers a resample; give --memory {memory_for(needed):g} (GiB) or "
                "more, or fewer resamples"
            )
        return kept

    def spreads(self, rows: np.ndarray, places: slice) -> list[Spread]:
        """Standard errors alone."""
        del places
        return [Spread(error) for error in standard_errors(rows).tolist()]

    def with_all(self, spreads: list[Spread], values: np.ndarray) -> list[Spread]:
        """Intervals, from the standard errors and all replicates."""
        return self.joined(spreads, self.largest_deviations(values, spreads))

    def largest_deviations(self, values: np.ndarray, spreads: list[Spread]) -> np.ndarray:
        r"""$\max_j |\theta^*_j - \hat\theta_j| / s_j$ `[group, resample]` over the systems, then over the pairs.

        From replicates `[system, resample]` of the scores, and spreads with standard errors s of all targets.
        """
        errors, (members, observed, tolerance, _) = _errors(spreads), self.targets

        def of_piece(start: int) -> np.ndarray:
            piece = values[:, start : start + _COLUMNS]
            found = np.zeros((2, piece.shape[1]))
            for largest, group in zip(found, self._groups(), strict=True):
                for place in np.flatnonzero((errors > tolerance)[group]) + group.start:
                    a, b = members[place]
                    apart = (piece[a] - piece[b] if b < len(piece) else piece[a]) - observed[place]
                    np.maximum(largest, np.abs(apart) / errors[place], out=largest)
            return found

        return np.concatenate(in_threads(of_piece, range(0, values.shape[1], _COLUMNS)), axis=1)

    def joined(self, spreads: list[Spread], maxima: np.ndarray) -> list[Spread]:
        """The same standard errors with simultaneous intervals, from `maxima` `[group, resample]`."""
        errors, observed = _errors(spreads), self.targets.observed
        factors = np.zeros(len(errors))
        for of_group, group in zip(maxima, self._groups(), strict=True):
            factors[group] = np.quantile(of_group, self.level)
        return with_ends(errors, observed - factors * errors, observed + factors * errors)

    def _groups(self) -> tuple[slice, slice]:
        """Systems and pairs among the targets: each group's intervals hold together."""
        return slice(0, self.targets.num_systems), slice(self.targets.num_systems, len(self.targets.members))


def _errors(spreads: list[Spread]) -> np.ndarray:
    return np.array([spread.standard_error for spread in spreads])
