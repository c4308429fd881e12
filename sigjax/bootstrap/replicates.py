"""What bootstrap replicates of all systems say of systems and pairs, where all of them fit into memory.

Quantiles and standard errors are those of NumPy, the same on every device and for every grouping of the resamples. More
replicates are summarised, see `summary`.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from sigjax.bootstrap.intervals import Percentile, Pieces, Spread
from sigjax.records import Alternative, Interval, Variant
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.tally import Deltas, count_extreme, extreme, null_replicates
from sigjax.run.backend import Backend, compiled
from sigjax.run.host import in_threads, shared_out

PIECE = 2**13
"""Resamples that compiled kernels count at a time."""
_MANY = 32
"""Items from which threads pay."""
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


def tell_all(pieces: Callable[[range], Pieces], wanted: Wanted, run: Run) -> Told:
    """Keep all replicates: standard errors (ddof = 1) and quantiles are those of NumPy.

    `pieces` gives the share of this process of some resamples, from where the stage stands.
    """
    by, done = wanted.intervals, 0
    values = np.empty((by.num_rows, run.resamples))
    if state := run.stage.state():
        done = state.done
        values[:, :done] = state.arrays["values"]
    for part in rounds(range(done, run.resamples), run):
        for start, piece in pieces(part):
            keep(run, start, values=values[:, :start])
            values[:, start : start + piece.shape[1]] = piece
        run.share.complete(values[:, part.start : part.stop])
        keep_round(run, part.stop, values=values[:, : part.stop])
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
