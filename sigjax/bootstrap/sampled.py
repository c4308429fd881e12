"""The paired bootstrap: all systems on the same resamples of the units.

Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 2; Efron and Tibshirani (1993).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Percentile, Pieces, Spread, targets_of
from sigjax.bootstrap.registry import KINDS
from sigjax.bootstrap.replicates import Told, Wanted, packed, tell_all, unpacked
from sigjax.bootstrap.simultaneous import Simultaneous
from sigjax.bootstrap.summary import tell_summary
from sigjax.records import Repeated, Settings
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.tally import Deltas
from sigjax.run.checkpoint import State
from sigjax.run.share import Share
from sigjax.testing.p_values import Outcomes, montecarlo_p
from sigjax.testing.problem import Case, NotFinite, SampleCase, raise_together


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
    if isinstance(by, Simultaneous) and not kept:
        told = told._replace(spreads=_drawn_again(told.spreads, pieces, by, run))
    run.stage.finish(run.resamples, **packed(told))
    return told


def _drawn_again(spreads: list[Spread], pieces: Callable[[Run], Pieces], by: Simultaneous, run: Run) -> list[Spread]:
    """Simultaneous intervals from replicates that are drawn once more: by now their standard errors are known."""
    run = run._replace(stage=run.stage.part("maxima"))
    maxima, done = np.zeros((2, run.resamples)), 0
    if state := run.stage.state():
        done = state.done
        maxima[:, :done] = state.arrays["maxima"]
    for part in rounds(range(done, run.resamples), run):
        for start, piece in _finite(pieces(run.part(part)), run.share):
            keep(run, start, maxima=maxima[:, :start])
            maxima[:, start : start + piece.shape[1]] = by.largest_deviations(piece, spreads)
        run.share.complete(maxima[:, part.start : part.stop])
        keep_round(run, part.stop, maxima=maxima[:, : part.stop])
    return by.joined(spreads, maxima)


def _finite(pieces: Pieces, share: Share) -> Iterator[tuple[int, np.ndarray]]:
    """The same pieces.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    error = None
    for start, piece in pieces:
        finite = np.isfinite(piece).all(axis=1)
        if not finite.all():
            error = NotFinite((int(np.argmin(finite)),))
            break
        yield start, piece
    raise_together(error, share)
