"""Numbers by system and id, `{"A": {"x": 0.5, "y": 1}, "B": {...}}`, joined by id."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sigjax.metrics import evaluation_from_arrays, resolve_metric
from sigjax.metrics.arrays import LARGEST_WHOLE, check_kept
from sigjax.readers.grid import Grid, settle_missing
from sigjax.readers.options import Options, check_options, show
from sigjax.records import Array, Evaluation, InputError, Metric, Missing, SampleMetric


def evaluation_from_mappings(
    systems: Mapping[str, Mapping[object, Any]],
    *,
    metric: str | Metric | SampleMetric | Callable[[Array], Array],
    clusters: object = None,
    strata: object = None,
    missing: Missing = "error",
) -> Evaluation:
    """Join by id; see `Evaluation.from_arrays`. `clusters` and `strata` are id -> label.

    Example:
        >>> numbers = {"A": {"x": 1, "y": 0}, "B": {"y": 1}}
        >>> evaluation = evaluation_from_mappings(numbers, metric="mean", missing="drop")
        >>> evaluation.ids, evaluation.notes
        (('y',), ('dropped 1 of 2 instances that some system lacks',))
    """
    check_options(Options(metric=metric, missing=missing))
    grid = _joined(systems, clusters, strata)
    resolved = resolve_metric(metric, num_inputs=grid.values.shape[2])
    if len(systems) > 1:
        grid = settle_missing(grid, metric=resolved, missing=missing)
    return evaluation_from_arrays(
        dict(zip(systems, grid.values, strict=True)),
        metric=resolved,
        ids=grid.ids,
        clusters=grid.clusters,
        strata=grid.strata,
        notes=grid.notes,
    )


def _joined(systems: Mapping[str, Mapping[object, Any]], clusters: object, strata: object) -> Grid:
    """The numbers of all systems on all instances, in the order in which their ids first appear."""
    places = {id: i for i, id in enumerate(dict.fromkeys(id for own in systems.values() for id in own))}
    columns = {name: _numbers(str(name), own) for name, own in systems.items()}
    widths = {name: column.shape[1] for name, column in columns.items() if len(column)}
    if len(set(widths.values())) > 1:
        raise InputError(f"systems have different numbers of numbers an instance: {widths}")
    values = np.full((len(systems), len(places), next(iter(widths.values()), 1)), np.nan)
    for k, (own, column) in enumerate(zip(systems.values(), columns.values(), strict=True)):
        if len(column):
            values[k, [places[id] for id in own]] = column
    return Grid(
        file="",
        systems=tuple(str(name) for name in systems),
        ids=tuple(str(id) for id in places),
        values=values,
        clusters=_labels("clusters", clusters, places),
        strata=_labels("strata", strata, places),
        lines=None,
    )


def _numbers(system: str, own: object) -> np.ndarray:
    """Numbers `[instance, input]` of a system, none of which is missing without a word."""
    if not isinstance(own, Mapping):
        raise InputError(
            f"system {system!r}: expected numbers by id, as other systems have, got {type(own).__name__}; give all "
            "systems as id -> number, or all as arrays"
        )
    if not own:
        return np.empty((0, 1))
    try:
        column = np.array([np.asarray(value) for value in own.values()])
    except (TypeError, ValueError):
        raise InputError(f"system {system!r}: instances have different numbers of numbers") from None
    if column.dtype.kind not in "biuf" and np.can_cast(column.dtype, np.float64):  # bfloat16
        column = column.astype(np.float64)
    if column.ndim > 2:
        raise InputError(f"system {system!r}: expected a number or a list of numbers for each id")
    if column.dtype.kind not in "biuf" or not np.isfinite(column).all():
        wrong = next((id for id, value in own.items() if not _is_finite(value)), next(iter(own)))
        raise InputError(
            f"system {system!r}, instance {show(str(wrong))}: expected a finite number, got {show(str(own[wrong]))}; "
            "leave out what is missing"
        )
    if column.dtype.kind == "f":
        check_kept(f"system {system!r}", list(own.values()), column)
    elif column.dtype.kind in "iu" and (column.max() > LARGEST_WHOLE or column.min() < -LARGEST_WHOLE):
        raise InputError(f"system {system!r}: whole numbers must stay within 2**53; divide them by a common unit")
    return column.reshape(len(column), -1)


def _is_finite(value: object) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "biuf" and bool(np.isfinite(array).all())


def _labels(what: str, labels: object, places: Mapping[object, int]) -> tuple[str, ...] | None:
    """Labels `[instance]` out of id -> label."""
    if labels is None:
        return None
    if not isinstance(labels, Mapping):
        raise InputError(f"{what}: expected id -> label, as the numbers are given by id, got {type(labels).__name__}")
    lacking = next((id for id in places if str(labels.get(id, "")) in ("", "None", "nan")), None)
    if lacking is not None:
        raise InputError(f"{what}: instance {show(str(lacking))} has no label; give one")
    return tuple(str(labels[id]) for id in places)
