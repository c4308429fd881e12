"""The outputs of units: a system that was run several times has one output per unit and run.

Designs that keep runs apart exchange (crossed) or draw (nested) outputs within a unit, or exchange whole runs, the
outputs of all units (models). For the design "together" a unit is the sum of its outputs.
"""

from typing import NamedTuple

import numpy as np

from sigjax.records import Evaluation, InputError


class Outputs(NamedTuple):
    """The outputs of all systems on the units of a test."""

    values: np.ndarray
    """[system, output, stat] int64, in the fixed point of the units; outputs of a unit are adjacent."""
    sizes: np.ndarray
    """[unit] int64: how many outputs each system has on it, one per run."""

    @property
    def unit(self) -> np.ndarray:
        """[output] int64: its unit."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def outputs_of(evaluation: Evaluation, values: np.ndarray, unit: np.ndarray) -> Outputs:
    """Sum statistics `[system, instance, stat]` over the instances of each unit `[instance]` and run.

    The outputs of a unit are in the order in which their runs first appear in the data.

    Raises:
        InputError: the instances of a cluster have different runs.

    Example:
        >>> from sigjax import Evaluation
        >>> arrays = {"A": [1, 2, 4, 8], "B": [0, 0, 0, 0]}
        >>> evaluation = Evaluation.from_arrays(arrays, ids="xyxy", runs=[1, 1, 2, 2])
        >>> outputs_of(evaluation, evaluation.stats, np.array([0, 1, 0, 1])).values[0, :, 0]
        array([1, 4, 2, 8])
    """
    order: dict[str, int] = {}
    run = np.array([order.setdefault(label, len(order)) for label in evaluation.runs or ()])
    found, place = np.unique(unit * len(order) + run, return_inverse=True)
    summed = np.zeros((len(found), len(values), values.shape[2]), np.int64)
    np.add.at(summed, place, values.swapaxes(0, 1))
    sizes = np.bincount(found // len(order))
    _check_runs(evaluation, unit, sizes)
    return Outputs(summed.swapaxes(0, 1), sizes)


def whole_runs(outputs: Outputs) -> Outputs:
    """Sums over all units for each run: the outputs of one unit, the test set. Every unit must have every run.

    Example:
        >>> whole_runs(Outputs(np.array([[[1], [4], [2], [8]]]), np.array([2, 2]))).values[0, :, 0]
        array([ 3, 12])
    """
    by_run = outputs.values.reshape(len(outputs.values), len(outputs.sizes), -1, outputs.values.shape[2])
    return Outputs(by_run.sum(axis=1), outputs.sizes[:1])


def _check_runs(evaluation: Evaluation, unit: np.ndarray, sizes: np.ndarray) -> None:
    """Refuse a cluster in which some instance lacks a run of the cluster."""
    names, instance = np.unique(np.array(evaluation.ids), return_inverse=True)
    num_instances = np.bincount(np.unique(unit * len(names) + instance) // len(names))
    # No run of an instance occurs twice, so that there are at most instances times runs rows.
    wrong = np.flatnonzero(np.bincount(unit) != num_instances * sizes)
    if wrong.size:
        label = (evaluation.clusters or ())[int((unit == wrong[0]).argmax())]
        raise InputError(
            f"cluster {label!r}: its instances have different runs; a design that keeps runs apart takes clusters in "
            "which every instance has the same runs (or leave the clusters out)"
        )
