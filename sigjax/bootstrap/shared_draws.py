"""Bootstrap scores of several metrics on the same draws, which are made once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigjax.bootstrap.intervals import Pieces
from sigjax.resample.engine import Run
from sigjax.resample.plans import draws_from_strata
from sigjax.resample.project import (
    DrawsProduct,
    NestedProduct,
    Places,
    Projection,
    distinct_columns,
    drawn_columns,
    draws_projection,
    nested_projection,
)
from sigjax.resample.sampling import Scored, replicates
from sigjax.run.host import fits, gib
from sigjax.testing.problem import Case


class SharedDraws:
    """The draws of the metrics of a report, whose units are the same.

    The metric that comes first is scored with all others, and their replicates wait for them, where all of them fit
    into memory, nothing is kept in a file or shared with other processes, and the sums are made in the same way as for
    each metric by itself. Otherwise each metric draws by itself; the numbers are the same.

    Args:
        cases: the metrics that will draw.
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


def system_replicates(case: Case, run: Run) -> Pieces:
    """Scores of all systems on the same resamples, piece by piece."""
    return SharedDraws([]).pieces(case, run)


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
    product = isinstance(projection, DrawsProduct | NestedProduct)
    return type(projection), projection.matrix.dtype if product else None


def _joined(cases: Sequence[Case], run: Run) -> tuple[Projection, list[Scored]]:
    """How to make the sums of these metrics; statistics that they share are columns that they share."""
    draws, compiled = draws_from_strata(cases[0].units.strata), bool(run.backend.devices)
    outputs = [each.units.outputs for each in cases if each.units.outputs and each.settings.design == "nested"]
    if outputs:
        columns, (column, offset) = distinct_columns(np.concatenate([each.values for each in outputs], axis=2))
        projection = nested_projection(columns, draws, outputs[0].sizes, compiled=compiled)
    else:
        columns, (column, offset) = drawn_columns(np.concatenate([each.units.values for each in cases], axis=2))
        projection = draws_projection(columns, draws, compiled=compiled)
    metrics, start = [], 0
    for each in cases:
        stats = slice(start, start := start + each.units.values.shape[2])
        places, on_host = Places(column[:, stats], offset[:, stats]), not rounds_alike(each)
        metrics.append(Scored(places, each.units.divisors, each.metric.score, on_host))
    return projection, metrics
