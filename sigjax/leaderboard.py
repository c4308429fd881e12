"""One evaluation, all its pairs: from units to named, corrected records. `compare` puts several of these together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import Lattice
from sigjax.inference.bootstrap import bootstrap_outcome, system_replicates
from sigjax.inference.corrections import adjust
from sigjax.inference.intervals import percentile_interval, standard_error
from sigjax.inference.outcome import NotExact, NotFinite, Outcome, Question
from sigjax.inference.permutation import exact_outcome, montecarlo_outcomes, plan_exact
from sigjax.inference.pvalues import clopper_pearson
from sigjax.records import Comparison, Device, Evaluation, InputError, Interval, Settings, SystemScore, Test
from sigjax.resample.backend import choose_backend, numpy_seconds
from sigjax.resample.engine import Run
from sigjax.resample.progress import progress_bar
from sigjax.units import Units, make_units, observed_scores, tolerances

Pair = tuple[int, int]


class Leaderboard(NamedTuple):
    """The part of a report that comes from one evaluation."""

    systems: tuple[SystemScore, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    num_units: int


def leaderboard(evaluation: Evaluation, settings: Settings, device: Device, *, progress: bool) -> Leaderboard:
    """Test the pairs of one evaluation.

    Raises:
        InputError: no exact test for a pair, a score that is not finite, or too few units for the bootstrap.
    """
    units = make_units(evaluation)
    num_units = units.values.shape[1]
    notes = list(evaluation.notes) + _identical_systems(evaluation, units)
    if num_units == 1 and "bootstrap" in settings.tests:
        raise InputError("the bootstrap test needs at least two units, got one; use --test permutation")
    if num_units == 1:
        notes.append("one unit: no standard errors and no intervals")
    try:
        scores = observed_scores(units, evaluation.metric)
        wrong = np.flatnonzero(~np.isfinite(scores))
        if wrong.size:
            raise NotFinite((int(wrong[0]),))
        pairs = _pairs(evaluation, settings)
        question = Question(pairs, tuple(scores.tolist()), tuple(tolerances(units, evaluation.metric).tolist()))
        outcomes, replicates = _run(evaluation, units, question, settings, device, progress=progress)
    except NotExact as error:
        a, b = (evaluation.systems[i] for i in error.pair)
        raise InputError(f"no exact test for {a!r} and {b!r}: {error.reason}; use --method auto") from None
    except NotFinite as error:
        names = " and ".join(repr(evaluation.systems[i]) for i in error.systems)
        raise InputError(
            f"metric {evaluation.metric.name!r} is not a finite number for {names} on the data or on a resample of it; "
            "have it return a number where a denominator is 0"
        ) from None
    comparisons = _comparisons(evaluation, question, outcomes, replicates, settings)
    return Leaderboard(_systems(evaluation, question, replicates, settings), comparisons, tuple(notes), num_units)


def _pairs(evaluation: Evaluation, settings: Settings) -> tuple[Pair, ...]:
    """Positions (a, b): all pairs in the order of the data, or each system against the baseline."""
    count = len(evaluation.systems)
    if settings.baseline is None:
        return tuple(combinations(range(count), 2))
    base = evaluation.systems.index(settings.baseline)
    return tuple((system, base) for system in range(count) if system != base)


def _identical_systems(evaluation: Evaluation, units: Units) -> list[str]:
    """A note for each group of systems with the same statistics on every unit."""
    groups: dict[bytes, list[str]] = {}
    for name, values in zip(evaluation.systems, units.values, strict=True):
        groups.setdefault(values.tobytes(), []).append(name)
    return [
        f"identical on every unit ({evaluation.metric.name}): {', '.join(names)}"
        for names in groups.values()
        if len(names) > 1
    ]


def _run(
    evaluation: Evaluation, units: Units, question: Question, settings: Settings, device: Device, *, progress: bool
) -> tuple[dict[Test, list[Outcome]], np.ndarray | None]:
    """Outcomes of each test, and the bootstrap replicates `[system, resample]` where there are any."""
    metric, alternative = evaluation.metric, settings.alternative
    lattices = {}
    if "permutation" in settings.tests:
        lattices = {pair: plan_exact(units, metric, pair, settings.method) for pair in question.pairs}
    sampled = [(pair, why) for pair, why in lattices.items() if not isinstance(why, Lattice)]
    num_systems, num_units, num_stats = units.values.shape
    bootstrap = num_units > 1 and ("bootstrap" in settings.tests or settings.interval != "none")
    work = {"units": num_units, "columns": num_systems * num_stats, "resamples": settings.resamples}
    seconds = 0.0
    if sampled:
        seconds += numpy_seconds(**work, scored=len(sampled) * num_stats, counted=False)
    if bootstrap:
        seconds += numpy_seconds(**work, scored=num_systems * num_stats, counted=True)
    backend = choose_backend(device, numpy_seconds=seconds)

    drawn, replicates = [], None
    if sampled:
        with progress_bar("permutation", settings.resamples, shown=progress and seconds > 1.0) as advance:
            run = Run(settings.resamples, settings.seed, backend, advance)
            drawn = montecarlo_outcomes(units, metric, question, sampled, alternative, run)
    if bootstrap:
        with progress_bar("bootstrap", settings.resamples, shown=progress and seconds > 1.0) as advance:
            replicates = system_replicates(units, metric, Run(settings.resamples, settings.seed, backend, advance))

    outcomes: dict[Test, list[Outcome]] = {}
    for test in settings.tests:
        if test == "permutation":
            by_pair = dict(zip((pair for pair, _ in sampled), drawn, strict=True))
            for pair, lattice in lattices.items():
                if isinstance(lattice, Lattice):
                    by_pair[pair] = exact_outcome(units, metric, question, pair, lattice, alternative)
            outcomes[test] = [by_pair[pair] for pair in question.pairs]
        elif replicates is not None:
            outcomes[test] = [bootstrap_outcome(replicates, question, pair, alternative) for pair in question.pairs]
    return outcomes, replicates


def _spread(replicates: np.ndarray | None, settings: Settings) -> tuple[float | None, Interval | None]:
    """Standard error and interval of one row of replicates `[resample]`."""
    if replicates is None or settings.interval == "none":
        return None, None
    return standard_error(replicates), percentile_interval(replicates, settings.level)


def _systems(
    evaluation: Evaluation, question: Question, replicates: np.ndarray | None, settings: Settings
) -> tuple[SystemScore, ...]:
    """Scores with their spread, best first (ties in the order of the data)."""
    sign = -1.0 if evaluation.metric.higher_is_better else 1.0
    order = sorted(range(len(question.scores)), key=lambda system: sign * question.scores[system])
    return tuple(
        SystemScore(
            evaluation.systems[system],
            evaluation.metric.name,
            question.scores[system],
            *_spread(None if replicates is None else replicates[system], settings),
        )
        for system in order
    )


def _comparisons(
    evaluation: Evaluation,
    question: Question,
    outcomes: dict[Test, list[Outcome]],
    replicates: np.ndarray | None,
    settings: Settings,
) -> tuple[Comparison, ...]:
    """Named records of all pairs, test by test, with p-values adjusted within each test."""
    spreads = [
        _spread(None if replicates is None else replicates[a] - replicates[b], settings) for a, b in question.pairs
    ]
    records = []
    for test, of_test in outcomes.items():
        adjusted = adjust(np.array([outcome.p_value for outcome in of_test]), settings.correction)
        intervals = _p_intervals(of_test, settings)
        for pair, outcome, spread, p_adjusted, p_interval in zip(
            question.pairs, of_test, spreads, adjusted, intervals, strict=True
        ):
            a, b = (evaluation.systems[i] for i in pair)
            delta = question.delta(pair)
            records.append(
                Comparison(
                    a=a,
                    b=b,
                    metric=evaluation.metric.name,
                    test=test,
                    score_a=question.scores[pair[0]],
                    score_b=question.scores[pair[1]],
                    delta=delta,
                    better=None if delta == 0 else a if (delta > 0) == evaluation.metric.higher_is_better else b,
                    p_value=outcome.p_value,
                    log10_p=outcome.log10_p,
                    p_interval=p_interval,
                    p_adjusted=float(p_adjusted),
                    method=outcome.method,
                    reason=outcome.reason,
                    exceed=outcome.exceed,
                    resamples=None if outcome.exceed is None else settings.resamples,
                    standard_error=spread[0],
                    interval=spread[1],
                    settings=settings,
                )
            )
    return tuple(records)


def _p_intervals(outcomes: Sequence[Outcome], settings: Settings) -> list[Interval | None]:
    """Clopper-Pearson intervals of the Monte Carlo p-values; None for exact ones."""
    exceed = np.array([-1 if outcome.exceed is None else outcome.exceed for outcome in outcomes])
    low, high = clopper_pearson(np.maximum(exceed, 0), settings.resamples, settings.level)
    return [
        None if count < 0 else Interval(float(least), float(most))
        for count, least, most in zip(exceed, low, high, strict=True)
    ]
