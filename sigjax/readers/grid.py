"""What every format ends in: numbers of each system on each instance, with holes; and from there to an `Evaluation`."""

from dataclasses import dataclass, replace

import numpy as np

from sigjax.files.opening import naming
from sigjax.metrics import evaluation_from_arrays
from sigjax.readers.options import show
from sigjax.records import Evaluation, InputError, Metric, Missing, SampleMetric

MOST_SYSTEMS = 3
"""Systems named in a message about missing instances."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Numbers read from a file, before the missing ones are settled."""

    file: str
    systems: tuple[str, ...]
    ids: tuple[str, ...] | None
    """[instance]; None where instances are known by their position."""
    values: np.ndarray
    """[system, instance, input]; NaN where the system lacks the instance."""
    clusters: tuple[str, ...] | None
    strata: tuple[str, ...] | None
    lines: tuple[int, ...] | None
    """[instance]: the line of each instance, where it has a line of its own."""
    notes: tuple[str, ...] = ()
    runs: tuple[str, ...] | None = None
    """[instance]: as in `Evaluation`."""


def assemble(grid: Grid, *, metric: Metric | SampleMetric, missing: Missing) -> Evaluation:
    """The evaluation of a grid; what cannot be used is refused with the name of the file."""
    with naming(grid.file):
        if len(grid.systems) > 1:
            grid = settle_missing(grid, metric=metric, missing=missing)
        return evaluation_from_arrays(
            dict(zip(grid.systems, grid.values, strict=True)),
            metric=metric,
            ids=grid.ids,
            clusters=grid.clusters,
            strata=grid.strata,
            runs=grid.runs,
            notes=grid.notes,
        )


def settle_missing(grid: Grid, *, metric: Metric | SampleMetric, missing: Missing) -> Grid:
    """Refuse, drop or fill what some system lacks; the grid that comes back has no holes."""
    absent = np.asarray(np.isnan(grid.values).any(axis=2))
    if not absent.any():
        return grid
    if missing == "error":
        raise InputError(
            f"systems have different instances: {_lacks(grid, absent)}; use --missing drop or --missing zero"
        )
    if missing == "drop":
        return _drop(grid, absent)
    return _fill(grid, absent, metric=metric)


def keep_instances(grid: Grid, keep: np.ndarray) -> Grid:
    """The grid with the instances of a mask `[instance]`."""
    if keep.all():
        return grid
    kept = np.flatnonzero(keep)

    def pick(labels: tuple | None) -> tuple | None:
        return None if labels is None else tuple(labels[i] for i in kept)

    return replace(
        grid,
        ids=pick(grid.ids),
        values=grid.values[:, kept],
        clusters=pick(grid.clusters),
        strata=pick(grid.strata),
        lines=pick(grid.lines),
        runs=pick(grid.runs),
    )


def _drop(grid: Grid, absent: np.ndarray) -> Grid:
    keep = np.asarray(~absent.any(axis=0))
    if not keep.any():
        raise InputError(f"no instance is left that all systems have: {_lacks(grid, absent)}")
    note = f"dropped {np.count_nonzero(~keep)} of {len(keep)} instances that some system lacks"
    return replace(keep_instances(grid, keep), notes=(*grid.notes, note))


def _fill(grid: Grid, absent: np.ndarray, *, metric: Metric | SampleMetric) -> Grid:
    """Zero for what belongs to the system; what belongs to the instance is copied from a system that has it."""
    values = np.where(absent[:, :, None], 0.0, grid.values)
    for j, name in enumerate(metric.inputs):
        if name in metric.shared_inputs:
            values[:, :, j] = np.where(absent, _shared(grid, absent, j, name), values[:, :, j])
    count = np.count_nonzero(absent)
    results = "result" if count == 1 else "results"
    note = f"counted {count} missing {results} as 0: {_lacks(grid, absent)}"
    return replace(grid, values=values, notes=(*grid.notes, note))


def _shared(grid: Grid, absent: np.ndarray, j: int, name: str) -> np.ndarray:
    """Input j of each instance `[instance]`, which the systems that have the instance must agree on."""
    low = np.where(absent, np.inf, grid.values[:, :, j]).min(axis=0)
    high = np.where(absent, -np.inf, grid.values[:, :, j]).max(axis=0)
    wrong = np.flatnonzero(absent.any(axis=0) & (low != high))
    if wrong.size:
        i = wrong[0]
        instance = _instance(grid, int(i))
        if absent[:, i].all():
            raise InputError(f"no system has instance {instance}, so its {name} is unknown; use --missing drop")
        raise InputError(
            f"{name} of instance {instance} is {low[i]:g} for one system and {high[i]:g} for another, so it cannot be "
            "filled in; use --missing drop"
        )
    return high


def _lacks(grid: Grid, absent: np.ndarray) -> str:
    """Which systems lack how many instances, and the first of each."""
    lacking = np.flatnonzero(absent.any(axis=1))
    parts = []
    for k in lacking[:MOST_SYSTEMS]:
        first = int(np.argmax(absent[k]))
        line = "" if grid.lines is None else f", line {grid.lines[first]}"
        count = np.count_nonzero(absent[k])
        parts.append(
            f"{show(grid.systems[k])} lacks {count} of {absent.shape[1]} (first: {_instance(grid, first)}{line})"
        )
    more = len(lacking) - MOST_SYSTEMS
    return ", ".join(parts) + (f" and {more} more system(s)" if more > 0 else "")


def _instance(grid: Grid, i: int) -> str:
    """An instance by its id, or its number."""
    run = "" if grid.runs is None else f" (run {show(grid.runs[i])})"
    return str(i + 1) if grid.ids is None else show(grid.ids[i]) + run
