"""What to do with instances that some system lacks: refuse them, drop them for all, or count them as 0."""

from collections.abc import Callable, Sequence

import numpy as np

from sigjax.readers.options import show
from sigjax.records import InputError, Metric, Missing, SampleMetric

MOST_SYSTEMS = 3
"""Systems named in a message about missing instances."""
Name = Callable[..., str]
"""(instance[, system]) -> the id of an instance, and its line in a system's file, for a message."""


def settle_missing(
    values: np.ndarray, systems: Sequence[str], name: Name, metric: Metric | SampleMetric, missing: Missing
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Numbers without holes, the instances they are of, and what was done.

    Args:
        values: `[system, instance, input]`; NaN where a system lacks the instance.
        systems: `[system]` names.
        name: names an instance.
        metric: says which inputs belong to the instance, not to the system.
        missing: what to do.
    """
    absent = np.asarray(np.isnan(values).any(axis=2))
    everything = np.arange(values.shape[1])
    if not absent.any():
        return values, everything, ()
    lacks = _lacks(absent, systems, name)
    if missing == "error":
        raise InputError(f"systems have different instances: {lacks}; use --missing drop or --missing zero")
    if missing == "drop":
        kept = np.flatnonzero(~absent.any(axis=0))
        if not kept.size:
            raise InputError(f"no instance is left that all systems have: {lacks}")
        note = f"dropped {len(everything) - len(kept)} of {len(everything)} instances that some system lacks"
        return values[:, kept], kept, (note,)
    count = np.count_nonzero(absent)
    note = f"counted {count} missing {'result' if count == 1 else 'results'} as 0: {lacks}"
    return _filled(values, absent, name, metric), everything, (note,)


def _filled(values: np.ndarray, absent: np.ndarray, name: Name, metric: Metric | SampleMetric) -> np.ndarray:
    """Zero for what belongs to the system; what belongs to the instance is copied from a system that has it."""
    filled = np.where(absent[:, :, None], 0.0, values)
    for j, input in enumerate(metric.inputs):
        if input in metric.shared_inputs:
            filled[:, :, j] = np.where(absent, _shared(values[:, :, j], absent, name, input), filled[:, :, j])
    return filled


def _shared(values: np.ndarray, absent: np.ndarray, name: Name, input: str) -> np.ndarray:
    """An input of each instance `[instance]`, which the systems that have the instance must agree on."""
    low = np.where(absent, np.inf, values).min(axis=0)
    high = np.where(absent, -np.inf, values).max(axis=0)
    wrong = np.flatnonzero(absent.any(axis=0) & (low != high))
    if wrong.size:
        i = int(wrong[0])
        instance = name(i)
        if absent[:, i].all():
            raise InputError(f"no system has instance {instance}, so its {input} is unknown; use --missing drop")
        raise InputError(
            f"{input} of instance {instance} is {low[i]:g} for one system and {high[i]:g} for another, so it cannot be "
            "filled in; use --missing drop"
        )
    return high


def _lacks(absent: np.ndarray, systems: Sequence[str], name: Name) -> str:
    """Which systems lack how many instances, and the first of each."""
    lacking = np.flatnonzero(absent.any(axis=1)).tolist()
    parts = [
        f"{show(systems[k])} lacks {np.count_nonzero(absent[k])} of {absent.shape[1]} "
        f"(first: {name(int(np.argmax(absent[k])), k)})"
        for k in lacking[:MOST_SYSTEMS]
    ]
    more = len(lacking) - MOST_SYSTEMS
    return ", ".join(parts) + (f" and {more} more system(s)" if more > 0 else "")
