"""All tests of one evaluation: what can be exact, where the rest runs, and the outcomes in the order of the pairs."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from sigjax.exact.lattice import Lattice, NotEligible
from sigjax.inference.bootstrap import bootstrap_outcome, system_replicates
from sigjax.inference.outcome import NotTraceable, Outcome, Pair, Question
from sigjax.inference.permutation import exact_outcome, montecarlo_outcomes, plan_exact
from sigjax.records import Device, Metric, Settings, Test
from sigjax.resample.backend import NUMPY, Backend, choose_backend, is_traceable, numpy_seconds
from sigjax.resample.engine import Run
from sigjax.resample.progress import progress_bar
from sigjax.units import Units

_WORTH_A_BAR = 1.0
"""Seconds of work from which a progress bar is drawn."""


class Answers(NamedTuple):
    """What the tests say."""

    outcomes: dict[Test, list[Outcome]]
    """For each test, one outcome a pair, in the order of the question."""
    replicates: np.ndarray | None
    """[system, resample] bootstrap scores; None where nothing asks for them, or there is one unit."""


def answer(
    units: Units, metric: Metric, question: Question, settings: Settings, device: Device, *, progress: bool
) -> Answers:
    """Run the tests that the settings ask for."""
    plans: dict[Pair, Lattice | NotEligible] = {}
    if "permutation" in settings.tests:
        plans = {pair: plan_exact(units, metric, pair, settings.method) for pair in question.pairs}
    sampled = {pair: plan for pair, plan in plans.items() if isinstance(plan, NotEligible)}
    bootstrap = units.values.shape[1] > 1 and ("bootstrap" in settings.tests or settings.interval != "none")
    seconds = _numpy_seconds(units, settings.resamples, num_sampled=len(sampled), bootstrap=bootstrap)
    backend = choose_backend(device, numpy_seconds=seconds)
    shown = progress and seconds > _WORTH_A_BAR

    by_pair: dict[Pair, Outcome] = {}
    if sampled:
        with progress_bar("permutation", settings.resamples, shown=shown) as advance:
            run = Run(settings.resamples, settings.seed, _traceable(backend, metric, device), advance)
            by_pair = montecarlo_outcomes(units, metric, question, sampled, settings.alternative, run)
    for pair, plan in plans.items():
        if isinstance(plan, Lattice):
            by_pair[pair] = exact_outcome(units, metric, question, pair, plan, settings.alternative)
    replicates = None
    if bootstrap:
        with progress_bar("bootstrap", settings.resamples, shown=shown) as advance:
            replicates = system_replicates(units, metric, Run(settings.resamples, settings.seed, backend, advance))

    outcomes: dict[Test, list[Outcome]] = {}
    for test in settings.tests:
        if test == "permutation":
            outcomes[test] = [by_pair[pair] for pair in question.pairs]
        elif replicates is not None:
            outcomes[test] = [
                bootstrap_outcome(replicates, question, pair, settings.alternative) for pair in question.pairs
            ]
    return Answers(outcomes, replicates)


def _numpy_seconds(units: Units, resamples: int, *, num_sampled: int, bootstrap: bool) -> float:
    num_systems, num_units, num_stats = units.values.shape
    columns = num_systems * num_stats
    seconds = 0.0
    if num_sampled:
        seconds += numpy_seconds(
            resamples=resamples, units=num_units, columns=columns, scored=num_sampled * num_stats, counted=False
        )
    if bootstrap:
        seconds += numpy_seconds(resamples=resamples, units=num_units, columns=columns, scored=columns, counted=True)
    return seconds


def _traceable(backend: Backend, metric: Metric, device: Device) -> Backend:
    """The backend, or NumPy where the device is ours to choose and JAX cannot compile the metric."""
    if not backend.devices or is_traceable(metric.score, len(metric.stat_names)):
        return backend
    if device != "auto":
        raise NotTraceable
    warnings.warn(
        f"JAX cannot compile the metric {metric.name!r}; running on NumPy. Array operators alone would be faster",
        RuntimeWarning,
        stacklevel=2,
    )
    return NUMPY
