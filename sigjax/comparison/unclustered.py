"""Standard errors as if there were no clusters, which show what the clusters cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sigjax.bootstrap.delta_method import delta_method_errors, two_way_errors
from sigjax.metrics import origins
from sigjax.records import Design, Evaluation, Metric
from sigjax.units.instances import units_of_instances
from sigjax.units.units import make_units


def unclustered_errors(evaluation: Evaluation, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors `[system]` and `[pair]` as if instances were independent; NaN where they are not finite.

    Instances are the units then, or ids with all their runs; where the design draws runs within units (nested), the
    variance between the runs of an id is added, and where runs are trained models both errors are two-way errors.

    Example:
        >>> from sigjax import Evaluation
        >>> values = {"A": [1, 1, 0, 0], "B": [0, 0, 0, 1]}
        >>> clustered = Evaluation.from_arrays(values, clusters=["x", "x", "y", "y"])
        >>> unclustered_errors(clustered, np.array([[0, 1]]), "together")[0].round(6)
        array([0.25    , 0.216506])
    """
    if (nearer := origins(evaluation)) is not None:
        return _errors(nearer.scores, members, design)[0], _errors(nearer.deltas, members, design)[1]
    return _errors(evaluation, members, design)


def _errors(evaluation: Evaluation, members: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The same of numbers that are not large."""
    metric, pairs = evaluation.metric, [(a, b) for a, b in members.tolist()]
    assert isinstance(metric, Metric)
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
    of_systems[~np.isfinite(of_systems)], of_pairs[~np.isfinite(of_pairs)] = np.nan, np.nan
    return of_systems, of_pairs


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
