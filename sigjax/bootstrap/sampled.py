"""The paired bootstrap: all systems on the same resamples of the units.

Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 2; Efron and Tibshirani (1993).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sigjax.bootstrap.intervals import Spread, basic_spread
from sigjax.bootstrap.jackknife import bca_terms
from sigjax.bootstrap.replicates import Pieces, Told, Wanted, deviations, packed, tell_all, unpacked
from sigjax.bootstrap.shared_draws import system_replicates
from sigjax.bootstrap.simultaneous import Joint, simultaneous_spreads
from sigjax.bootstrap.studentized import num_columns, studentize, studentized_spreads
from sigjax.bootstrap.summary import PILOT, tell_summary
from sigjax.records import InputError, Repeated, Settings
from sigjax.resample.engine import Run, keep, keep_round, rounds
from sigjax.resample.tally import Deltas
from sigjax.run.checkpoint import State
from sigjax.run.host import fits, gib, memory_for
from sigjax.run.share import Share
from sigjax.testing.p_values import montecarlo_p
from sigjax.testing.problem import Case, NotFinite, SampleCase, raise_together
from sigjax.testing.result import Outcomes


def sampled_bootstrap(
    case: Case | SampleCase,
    run: Run,
    pieces: Callable[[Run], Pieces],
    tested: np.ndarray,
    reason: str,
    *,
    spreads: bool,
) -> tuple[Outcomes, list[Spread], list[Spread]]:
    """Outcomes of the pairs at the places `tested`, and spreads of systems and of all pairs.

    `reason` is why they are sampled.

    `pieces` gives the scores of all systems on the same resamples, piece by piece, for a part of the run.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: the memory is too small for studentized or simultaneous intervals.
    """
    settings, question = case.settings, case.question
    num_systems = len(question.scores)
    deltas = Deltas(question.members[tested], question.deltas[tested], question.rounding[tested])
    systems = np.stack([np.arange(num_systems), np.full(num_systems, num_systems)], axis=1)
    targets = np.concatenate([systems, question.members]).astype(np.int32) if spreads else np.zeros((0, 2), np.int32)
    bca = bca_terms(case, targets) if settings.interval == "bca" and spreads else None
    shape = (num_systems, run.resamples)
    by_t = None
    if settings.interval == "studentized" and spreads and isinstance(case, Case):
        shape = (num_systems + len(targets), run.resamples)
        _check_memory(case, shape)
        by_t = studentize(case, targets)
        pieces, targets = by_t.pieces, _with_t(targets, num_systems)
    kept = by_t is not None or fits(gib(shape), settings) or run.resamples < PILOT
    joint = _joint(case, targets) if settings.interval == "simultaneous" and spreads else None
    if joint is not None and not kept:
        _check_maxima(run.resamples, settings)
    wanted = Wanted(deltas, settings.alternative, settings.variant, targets, settings.level, bca, joint=joint)
    told = tell(pieces, wanted, shape, run, kept=kept)
    exceed = np.array(told.exceed, np.int64)
    p_values = np.asarray(montecarlo_p(exceed, run.resamples))
    outcomes = Outcomes.sampled(exceed, p_values, Repeated.constant(reason, len(exceed)))
    found, observed = told.spreads, [*question.scores, *question.deltas.tolist()]
    if by_t:
        found = studentized_spreads(found, observed, by_t.standard_errors())
    if settings.interval == "basic" and spreads:
        found = [basic_spread(*each) for each in zip(found, observed, strict=True)]
    return outcomes, found[:num_systems], found[num_systems:]


def kept_replicates(
    case: Case | SampleCase, run: Run, sampled: Callable[[SampleCase, Run], Pieces]
) -> np.ndarray | None:
    """Scores `[system, resample]` of all systems on the same resamples; None where the memory does not hold them.

    `sampled` gives those of a metric that is no function of sums.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    shape = (len(case.question.scores), run.resamples)
    if not fits(gib(shape), case.settings):
        return None
    values, part = np.empty(shape), run.part(range(run.resamples))
    pieces = sampled(case, part) if isinstance(case, SampleCase) else system_replicates(case, part)
    for start, piece in _finite(pieces, run.share):
        values[:, start : start + piece.shape[1]] = piece
    run.share.complete(values)
    return values


def tell(pieces: Callable[[Run], Pieces], wanted: Wanted, shape: tuple[int, int], run: Run, *, kept: bool) -> Told:
    """What replicates say, `shape` [row, resample], by keeping them all or a summary; from where the stage stands."""
    state = run.stage.state() or State(0, {})
    if state.done == run.resamples:
        return unpacked(state.arrays)

    def finite(resamples: range) -> Pieces:
        return _finite(pieces(run.part(resamples)), run.share)

    told = tell_all(finite, wanted, shape, run) if kept else tell_summary(finite, wanted, shape[0], run)
    if wanted.joint is not None and not kept:
        told = told._replace(spreads=_joint_spreads(told, pieces, wanted, wanted.joint, run))
    run.stage.finish(run.resamples, **packed(told))
    return told


def _joint(case: Case | SampleCase, targets: np.ndarray) -> Joint:
    """What simultaneous intervals of the targets `[target, 2]` need."""
    question = case.question
    observed, tolerances = (np.array([*each, 0.0]) for each in (question.scores, question.tolerances))
    first, second = targets.T
    return Joint(
        observed[first] - observed[second], 2.0 * (tolerances[first] + tolerances[second]), len(question.scores)
    )


def _joint_spreads(told: Told, pieces: Callable[[Run], Pieces], wanted: Wanted, joint: Joint, run: Run) -> list[Spread]:
    """Simultaneous intervals where replicates are drawn once more: by then their standard errors are known."""
    errors = np.array([spread.standard_error for spread in told.spreads])
    run = run._replace(stage=run.stage.part("maxima"))
    maxima, done = np.zeros((2, run.resamples)), 0
    if state := run.stage.state():
        done = state.done
        maxima[:, :done] = state.arrays["maxima"]
    for part in rounds(range(done, run.resamples), run):
        for start, piece in _finite(pieces(run.part(part)), run.share):
            keep(run, start, maxima=maxima[:, :start])
            maxima[:, start : start + piece.shape[1]] = deviations(piece, wanted.targets, errors, joint)
        run.share.complete(maxima[:, part.start : part.stop])
        keep_round(run, part.stop, maxima=maxima[:, : part.stop])
    return simultaneous_spreads(errors, maxima, joint, wanted.level)


def _check_maxima(resamples: int, settings: Settings) -> None:
    """Refuse simultaneous intervals of so many resamples that not even their maxima over pairs can be kept."""
    needed = gib((2, resamples))
    if not fits(needed, settings):
        raise InputError(
            f"simultaneous intervals keep two numbers a resample; give --memory {memory_for(needed):g} (GiB) or more, "
            "or fewer resamples"
        )


def _check_memory(case: Case, shape: tuple[int, int]) -> None:
    """Refuse studentized intervals of which not all replicates can be kept: their summary would need other numbers.

    Products of statistics are held as whole numbers, and once more as a matrix.
    """
    needed = gib(shape) + 2.0 * gib((num_columns(case), len(case.units.strata)))
    if not fits(needed, case.settings):
        raise InputError(
            f"studentized intervals need all replicates of {shape[0]} scores and quotients at once, and products of "
            f"the statistics of each pair; give --memory {memory_for(needed):g} (GiB) or more, "
            "fewer resamples, or --interval bca"
        )


def _with_t(targets: np.ndarray, num_systems: int) -> np.ndarray:
    """The targets `[target, 2]`, then their t, which stand after the scores of the systems; none is a row later."""
    none = num_systems + len(targets)
    own = np.where(targets == num_systems, none, targets)
    t = np.stack([np.arange(num_systems, none), np.full(len(targets), none)], axis=1)
    return np.concatenate([own, t]).astype(np.int32)


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
