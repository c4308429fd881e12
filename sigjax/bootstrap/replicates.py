"""What bootstrap replicates of all systems say of systems and pairs, where all of them fit into memory.

Quantiles and standard errors are those of NumPy, the same on every device and for every grouping of the resamples. Of
more replicates a summary is kept, see `summary`.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from sigjax.bootstrap.bca import Bca, bca_spreads
from sigjax.bootstrap.intervals import Ranks, Spread, ranked_spreads, replicate_spreads, standard_errors
from sigjax.bootstrap.simultaneous import Joint, largest_deviations, simultaneous_spreads
from sigjax.records import Alternative, Interval, Variant
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.tally import Deltas, count_extreme
from sigjax.run.backend import Backend, compiled
from sigjax.run.host import in_threads, shared_out
from sigjax.testing.p_values import bootstrap_exceed

PIECE = 2**13
"""Resamples that compiled kernels count at a time."""
_MANY = 32
"""Items from which threads pay."""
_CACHED = 2**16
"""Differences that are looked at together."""

_COLUMNS = 2**11
"""Resamples whose maxima over pairs are taken together."""

Pieces = Iterable[tuple[int, np.ndarray]]
"""The first resample of a piece, and scores `[system, resample]`."""
Found = TypeVar("Found")


class Wanted(NamedTuple):
    """What to find out."""

    tested: Deltas
    alternative: Alternative
    variant: Variant
    targets: np.ndarray
    """[target, 2] int32: pairs (a, b) whose spread is wanted, or (a, number of systems) for the score of a."""
    level: float
    bca: Bca | None = None
    """For BCa intervals of the targets instead of percentile intervals."""
    ranks: Ranks | None = None
    """For intervals between order statistics, of which the level tells the quantiles."""
    joint: Joint | None = None
    """For simultaneous intervals."""


class Told(NamedTuple):
    """What replicates say."""

    exceed: list[int]
    """For each pair tested, how many replicates speak against the observed delta."""
    spreads: list[Spread]
    """For each target."""


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


def tell_all(pieces: Callable[[range], Pieces], wanted: Wanted, shape: tuple[int, int], run: Run) -> Told:
    """Keep all replicates, `shape` [system, resample]: standard errors (ddof = 1) and quantiles are those of NumPy.

    `pieces` gives what this process does of some resamples, from where the stage stands.
    """
    values, done = np.empty(shape), 0
    if state := run.stage.state():
        done = state.done
        values[:, :done] = state.arrays["values"]
    for part in rounds(range(done, run.resamples), run):
        for start, piece in pieces(part):
            keep(run, start, values=values[:, :start])
            values[:, start : start + piece.shape[1]] = piece
        run.share.complete(values[:, part.start : part.stop])
        keep_round(run, part.stop, values=values[:, : part.stop])

    def spreads_of(rows: np.ndarray, places: slice) -> list[Spread]:
        if wanted.ranks is not None:
            return ranked_spreads(rows, wanted.ranks)
        if wanted.joint is not None:
            return [Spread(error) for error in standard_errors(rows).tolist()]
        if wanted.bca is None:
            return replicate_spreads(rows, wanted.level)
        return bca_spreads(rows, wanted.bca.part(places), wanted.level)

    spreads = of_targets(spreads_of, values, wanted.targets)
    if wanted.joint is not None:
        errors = np.array([spread.standard_error for spread in spreads])
        maxima = deviations(values, wanted.targets, errors, wanted.joint)
        spreads = simultaneous_spreads(errors, maxima, wanted.joint, wanted.level)
    return Told(count_against(values, wanted, run.backend).tolist(), spreads)


def deviations(values: np.ndarray, targets: np.ndarray, errors: np.ndarray, joint: Joint) -> np.ndarray:
    """The `largest_deviations` `[group, resample]` of replicates `[system, resample]`, a cached piece at a time."""

    def of_piece(start: int) -> np.ndarray:
        return largest_deviations(values[:, start : start + _COLUMNS], targets, errors, joint)

    return np.concatenate(in_threads(of_piece, range(0, values.shape[1], _COLUMNS)), axis=1)


def of_targets(
    function: Callable[[np.ndarray, slice], list[Found]], values: np.ndarray, targets: np.ndarray
) -> list[Found]:
    """The function of the replicates `[target, resample]` of some targets, and of their places, for all of them.

    Replicates are new arrays, of targets as many as stay in the cache: differences of two rows of `values`, or one row
    of it where the second is none.
    """
    num_rows = max(1, _CACHED // values.shape[1])
    blocks = [slice(start, min(start + num_rows, len(targets))) for start in range(0, len(targets), num_rows)]

    def of_block(block: slice) -> list[Found]:
        rows = np.empty((block.stop - block.start, values.shape[1]), values.dtype)
        for row, (a, b) in zip(rows, targets[block].tolist(), strict=True):
            np.subtract(values[a], values[b] if b < len(values) else values.dtype.type(0), out=row)
        return function(rows, block)

    return [found for part in in_threads(of_block, blocks) for found in part]


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
