"""Standard errors as they were if instances were independent, beside those of clusters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sigjax.bootstrap.delta_method import delta_method_errors
from sigjax.bootstrap.two_way import two_way_errors
from sigjax.records import Comparisons, Design, Evaluation, SampleMetric, SystemScore
from sigjax.units.units import make_units, units_of_instances


def with_unclustered(
    evaluation: Evaluation, systems: tuple[SystemScore, ...], comparisons: Comparisons, design: Design
) -> tuple[tuple[SystemScore, ...], Comparisons]:
    """The records with `standard_error_unclustered`, where there are clusters and standard errors, of a metric of sums.

    Instances are the units then, or ids with all their runs; where the design draws runs within units (nested), the
    variance between the runs of an id is added, and where runs are trained models both errors are two-way errors.

    Example:
        >>> from sigjax import Evaluation
        >>> from sigjax import compare
        >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
        >>> report = compare(Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"]))
        >>> [(round(each.standard_error_unclustered, 6), round(each.standard_error, 6)) for each in report.systems]
        [(0.25, 0.5), (0.216506, 0.25)]
    """
    metric = evaluation.metric
    if evaluation.clusters is None or isinstance(metric, SampleMetric) or systems[0].standard_error is None:
        return systems, comparisons
    places = {name: place for place, name in enumerate(evaluation.systems)}
    first, second = (comparisons.column(name).mapped(places.__getitem__).tolist() for name in ("a", "b"))
    tested = list(zip(first, second, strict=True))
    pairs = list(dict.fromkeys(tested))
    if design == "models":
        alone = make_units(replace(evaluation, clusters=None), design)
        of_systems, of_pairs = (
            np.array([one.standard_error for one in found]) for found in two_way_errors(alone, metric.score, pairs)
        )
    else:
        of_systems, of_pairs = delta_method_errors(*_independent(evaluation), metric.score, pairs)
    if design == "nested":
        within = delta_method_errors(*_within(evaluation), metric.score, pairs)
        of_systems, of_pairs = np.hypot(of_systems, within[0]), np.hypot(of_pairs, within[1])
    errors = dict(zip(pairs, np.where(np.isfinite(of_pairs), of_pairs, np.nan).tolist(), strict=True))
    return (
        tuple(replace(one, standard_error_unclustered=_finite(of_systems[places[one.name]])) for one in systems),
        comparisons.changed(standard_error_unclustered=np.array([errors[pair] for pair in tested])),
    )


def _independent(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, unit, stat]` and strata `[unit]` without the clusters, units of a stratum together."""
    unit, strata = units_of_instances(replace(evaluation, clusters=None))
    stats = evaluation.stats
    values = np.zeros((stats.shape[0], len(strata), stats.shape[2]))
    np.add.at(values.swapaxes(0, 1), unit, stats.swapaxes(0, 1))
    return values, strata


def _within(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, output, stat]`, and the id `[output]` of each as its stratum, outputs of an id together."""
    unit, _ = units_of_instances(replace(evaluation, clusters=None, strata=None))
    order = np.argsort(unit, kind="stable")
    return evaluation.stats[:, order].astype(np.float64), unit[order]


def _finite(error: float) -> float | None:
    return float(error) if math.isfinite(error) else None
