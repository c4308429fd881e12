"""Numbers by system and id, `{"A": {"x": 0.5, "y": 1}, "B": {...}}`, joined by id."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigjax.metrics import resolve_metric
from sigjax.metrics.arrays import LARGEST_WHOLE, check_kept
from sigjax.readers.formats import Sheet
from sigjax.readers.join import join_sheets
from sigjax.readers.options import Options, check_options, show
from sigjax.records import Array, Evaluation, InputError, Metric, Missing, SampleMetric

_WHAT = "numbers by id"


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
        (('y',), ("warning: dropped 1 of 2 instances that some system lacks: 'B' lacks 1 (1 that no other lacks)",))
    """
    options = Options(metric=metric, missing=missing)
    check_options(options)
    columns = {name: _numbers(str(name), own) for name, own in systems.items()}
    widths = {name: column.shape[1] for name, column in columns.items() if len(column)}
    if len(set(widths.values())) > 1:
        raise InputError(f"systems have different numbers of numbers per instance: {widths}")
    width = next(iter(widths.values()), 1)
    resolved = resolve_metric(metric, num_inputs=width)
    sheets = []
    for name, own in systems.items():
        numbers = columns[name].reshape(len(own), width).T
        sheets.append(Sheet(str(name), _WHAT, dict(zip(resolved.inputs, numbers, strict=True)), ids=list(own)))
    options = replace(options, metric=resolved)
    evaluation = join_sheets(sheets, options)(options)
    ids = evaluation.ids or ()
    return replace(evaluation, clusters=_labels("clusters", clusters, ids), strata=_labels("strata", strata, ids))


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


def _labels(what: str, labels: object, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Labels `[instance]` out of id -> label."""
    if labels is None:
        return None
    if not isinstance(labels, Mapping):
        raise InputError(f"{what}: expected id -> label, as the numbers are given by id, got {type(labels).__name__}")
    by_id = {str(id): str(label) for id, label in labels.items()}
    for id in ids:
        if by_id.get(id, "") in ("", "None", "nan"):
            raise InputError(f"{what}: instance {show(id)} has no label; give one")
    return tuple(map(by_id.__getitem__, ids))
