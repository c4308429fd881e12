"""The paired bootstrap by sampling: all systems on the same resamples of the units.

`SharedDraws` draws replicates for all metrics of a report at once; `sampled_bootstrap` makes tests and spreads of them.
Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 2; Efron and Tibshirani (1993).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Percentile, Pieces, Spread, targets_of
from sigjax.bootstrap.registry import KINDS
from sigjax.bootstrap.replicates import Simultaneous, Told, Wanted, kept_replicates, packed, tell_all, unpacked
from sigjax.bootstrap.summary import tell_summary
from sigjax.records import Repeated, Settings
from sigjax.resample.engine import Run
from sigjax.resample.plans import draws_from_strata
from sigjax.resample.project import (
    DrawsProduct,
    Places,
    Projection,
    distinct_columns,
    drawn_columns,
    draws_projection,
    nested_projection,
)
from sigjax.resample.sampling import Scored, replicates
from sigjax.resample.tally import Deltas
from sigjax.run.backend import most_bytes
from sigjax.run.checkpoint import State
from sigjax.run.host import fits, gib
from sigjax.run.share import Share
from sigjax.testing.p_values import Outcomes, montecarlo_p
from sigjax.testing.problem import Case, NotFinite, SampleCase, check_finite, raise_together


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
        whole = run.start == 0 and run.share.count == 1 and not run.stage.kept
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
    """How to make the sums of these metrics; statistics that they share are columns that they share."""
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
        places, on_host = Places(column[:, stats], offset[:, stats]), not rounds_alike(each)
        metrics.append(Scored(places, each.units.divisors, each.metric.score, on_host))
    return projection, metrics


class Sampled(NamedTuple):
    """What bootstrap resamples say."""

    outcomes: Outcomes
    """Of the pairs that were tested."""
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
    """Outcomes of some pairs, and spreads of systems and of all pairs.

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
    outcomes = Outcomes.sampled(exceed, p_values, Repeated.constant(reason, len(exceed)))
    found, num_systems = by.finished(told.spreads), len(question.scores)
    values = None if told.values is None else told.values[:num_systems]
    return Sampled(outcomes, found[:num_systems], found[num_systems:], values)


def all_replicates(pieces: Callable[[Run], Pieces], shape: tuple[int, int], run: Run) -> np.ndarray:
    """Scores of all systems on the same resamples, `shape` [system, resample], drawn by all processes.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    values = np.empty(shape)
    for start, piece in _finite(pieces(run.part(range(run.resamples))), run.share):
        values[:, start : start + piece.shape[1]] = piece
    run.share.complete(values)
    return values


def tell(pieces: Callable[[Run], Pieces], wanted: Wanted, run: Run, settings: Settings) -> Told:
    """What replicates say, by keeping them all or a summary; from where the stage stands.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: the memory is too small for the kind of intervals.
    """
    by, state = wanted.intervals, run.stage.state() or State(0, {})
    kept = by.keeps(run.resamples, settings)
    if state.done == run.resamples:
        return unpacked(state.arrays)

    def finite(resamples: range) -> Pieces:
        return _finite(pieces(run.part(resamples)), run.share)

    told = tell_all(finite, wanted, run) if kept else tell_summary(finite, wanted, run)
    if isinstance(by, Simultaneous) and not kept:  # replicates are drawn once more: now their standard errors are known
        spreads = told.spreads
        maxima = kept_replicates(
            lambda resamples: ((start, by.largest_deviations(piece, spreads)) for start, piece in finite(resamples)),
            2,
            run._replace(stage=run.stage.part("maxima")),
        )
        told = told._replace(spreads=by.joined(spreads, maxima))
    run.stage.finish(run.resamples, **packed(told))
    return told


def _finite(pieces: Pieces, share: Share) -> Iterator[tuple[int, np.ndarray]]:
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
    raise_together(error, share)
