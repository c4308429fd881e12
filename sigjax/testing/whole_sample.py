"""How metrics that are no functions of sums are scored: every resample is computed anew, by calling the function."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable
from functools import partial

from sigjax.resample.engine import Run
from sigjax.resample.gathered import Function, Pieces, can_compile, drawn_scores, sorts_long
from sigjax.testing.problem import SampleCase

_SMALL_WORK_SECONDS = 2.0
"""Work that NumPy finishes sooner than this is not worth compiling."""
_CALL, _INSTANCE, _TOGETHER = 2e-5, 2e-8, 1.5e-8
"""Nominal seconds of a call in NumPy, and for each number that it gets, one by one or many resamples together."""


def sample_replicates(case: SampleCase, run: Run) -> Pieces:
    """Scores of all systems on the same bootstrap resamples, piece by piece, as `system_replicates` gives them."""
    calls = case.settings.fixed_resamples * len(case.units.columns)
    return drawn_pieces(case, function_of(case, float(calls)), run)


def drawn_pieces(case: SampleCase, function: Function, part: Run) -> Pieces:
    """The same by a function that was made before."""
    whole, mine = range(case.settings.fixed_resamples), range(part.start, part.resamples)
    return advancing(drawn_scores(function, case.units, part.seed, whole, mine), part)


def function_of(case: SampleCase, calls: float) -> Function:
    """The function, compiled where so many calls are worth it and JAX takes it."""
    metric = case.metric
    call = metric.function if isinstance(metric.function, Hashable) else partial(metric.function)
    num_arrays, num_instances = len(metric.inputs) + metric.weighted, case.units.columns.shape[2]
    much = calls * call_seconds(case, together=False) > _SMALL_WORK_SECONDS
    vectorized = metric.weighted and metric.vectorized
    compiled = much and can_compile(call, num_arrays, num_instances, vectorized=vectorized)
    if much and not (compiled or vectorized):
        warnings.warn(
            f"JAX cannot compile the metric {metric.name!r}; calling it resample by resample. Array operators alone "
            "would be faster",
            RuntimeWarning,
            stacklevel=2,
        )
    if compiled and not metric.weighted and sorts_long(call, num_arrays, num_instances):
        compiled = False
    return Function(call, metric.weighted, compiled, vectorized)


def call_seconds(case: SampleCase, *, together: bool) -> float:
    """Nominal seconds of the score of one resample, by one call or by that of many resamples together."""
    numbers = math.prod(case.units.columns.shape[1:])
    return _TOGETHER * numbers if together else _CALL + _INSTANCE * numbers


def advancing(pieces: Pieces, run: Run) -> Pieces:
    """The same pieces, of which the run is told."""
    for start, scores in pieces:
        yield start, scores
        run.advance(start + scores.shape[-1])
