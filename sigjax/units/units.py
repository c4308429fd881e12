"""Evaluation -> units, as whole numbers.

A unit is what a test resamples: an instance with all its runs, or a cluster of instances that depend on each other. Its
statistics are int64 multiples of a small step, so that every later sum is exact whatever the order, the device or the
number of threads: equal inputs give equal sums, and ties are ties.

A system that was run several times has one output per unit and run. Designs that keep runs apart exchange (crossed) or
draw (nested) outputs within a unit, or exchange whole runs (models). Otherwise a unit is the sum of its outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from sigjax.records import Design, Evaluation, InputError, Metric
from sigjax.units.instances import codes, units_of_instances
from sigjax.units.sums import fixed_point

_EPSILON = float(np.finfo(np.float64).eps)
_SCORE_ROUNDING = 32 * _EPSILON
"""Bound on the relative rounding error of a score: a few operations in float64."""
_STEP = 2.0**-20
"""Relative step of the finite differences."""
_LARGEST_SUM = 2**53
"""Sums of resamples stay below this, so that float64 holds them exactly."""
_MOST_DRAWS = 32
"""A bootstrap draws no unit more often than this (but for a chance below 1e-30), which bounds the sums."""
_FEWEST_STEPS = 2.0**16
"""Whole numbers whose sums are beyond the limit are held in steps, of which differences must be so many."""
_WORST_ERROR = 1e-7
"""Numbers are refused from this relative rounding error of a score: differences would drown in it."""


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


@dataclass(frozen=True, eq=False)
class Units:
    """Statistics of all systems on the units of a test, in fixed point."""

    values: np.ndarray
    """[system, unit, stat] int64, in steps of 1 / divisors; units of a stratum are adjacent."""
    divisors: np.ndarray | None
    """[stat] float64; None if every step is 1 (the statistics are whole numbers)."""
    strata: np.ndarray
    """[unit]: code of the stratum, ascending from 0."""
    sizes: np.ndarray
    """[unit] how many instances each unit has, or the sum of their weights."""
    relative_error: np.ndarray
    """[system]: bound on the relative error of a score: by float64 and, for reals, by the rounding to fixed point."""
    exact: bool
    """Whether the values are the statistics, whole numbers or decimals, and not rounded reals."""
    outputs: Outputs | None = None
    """The outputs whose sum each unit is, for designs that keep runs apart."""

    @cached_property
    def totals(self) -> np.ndarray:
        """Sums over all units, `[system, stat]` float64 (whole numbers, exact)."""
        return _sums(self.values)

    def unscaled(self, sums: np.ndarray) -> np.ndarray:
        """Fixed-point sums `[..., stat]` (float64) as sums of the statistics, which a score takes."""
        return sums if self.divisors is None else sums / self.divisors


def make_units(evaluation: Evaluation, design: Design = "together") -> Units:
    """Sum the statistics of each cluster (or keep the instances), in fixed point, sorted by stratum.

    Raises:
        InputError: a cluster lies in two strata, or its instances have different runs although the design keeps runs
            apart, or the numbers differ so much in size that one grid cannot hold them.

    Example:
        >>> from sigjax import Evaluation
        >>> evaluation = Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]}, clusters=["x", "x", "y"])
        >>> make_units(evaluation).values[:, :, 0]
        array([[1, 1],
               [0, 1]])
    """
    unit, strata = units_of_instances(evaluation)
    num_units = len(strata)
    most = min(evaluation.num_instances if design in ("crossed", "models") else num_units, _MOST_DRAWS)
    limit = _LARGEST_SUM // most
    if design == "nested":
        limit //= int(np.bincount(unit).max())  # a drawn unit may give the same output every time
    columns = [fixed_point(evaluation.stats[:, :, stat], limit) for stat in range(evaluation.stats.shape[2])]
    for name, column in zip(evaluation.metric.stat_names, columns, strict=True):
        if column.error.max() > _WORST_ERROR:
            raise InputError(
                f"statistic {name!r}: the numbers of system {evaluation.systems[int(column.error.argmax())]!r} are too "
                "small beside the largest numbers for exact sums; compare it apart (--systems), or rescale"
            )
    values = np.stack([column.values for column in columns], axis=-1)
    outputs = None if design == "together" else outputs_of(evaluation, values, unit)
    if num_units < len(unit):
        values = _added(values, unit)
    elif evaluation.strata is not None:
        values = values[:, np.argsort(unit)]
    divisors = np.array([column.divisor for column in columns])
    error = np.max([column.error for column in columns], axis=0)
    return Units(
        values=values,
        divisors=None if np.all(divisors == 1.0) else divisors,
        strata=strata,
        sizes=np.bincount(unit, evaluation.weights),
        relative_error=_SCORE_ROUNDING + error,
        exact=not error.any(),
        outputs=outputs,
    )


def check_steps(evaluation: Evaluation, units: Units) -> None:
    """Refuse whole numbers that `units` hold in steps above 1, if systems differ by not much more than a step.

    Raises:
        InputError: naming two systems.
    """
    if evaluation.stats.dtype.kind != "i" or units.divisors is None:
        return
    steps = 1.0 / units.divisors
    for stat, (a, b) in product(np.flatnonzero(steps > 1.0), combinations(range(len(evaluation.systems)), 2)):
        differences = evaluation.stats[a, :, stat] - evaluation.stats[b, :, stat]
        differences = differences[differences != 0].astype(np.float64)
        if differences.size and np.linalg.norm(differences) < _FEWEST_STEPS * steps[stat] * math.sqrt(differences.size):
            raise InputError(
                f"statistic {evaluation.metric.stat_names[stat]!r}: sums of the whole numbers pass 2**53, and systems "
                f"{evaluation.systems[a]!r} and {evaluation.systems[b]!r} differ by too little beside the numbers; "
                "subtract from the numbers what all systems share, or compare these two apart (--systems)"
            )


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
    run = codes(evaluation.runs or ())
    num_runs = int(run.max()) + 1
    found, place = np.unique(unit * num_runs + run, return_inverse=True)
    sizes = np.bincount(found // num_runs)
    _check_runs(evaluation, unit, sizes)
    return Outputs(_added(values, place), sizes)


def _check_runs(evaluation: Evaluation, unit: np.ndarray, sizes: np.ndarray) -> None:
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


def whole_runs(outputs: Outputs) -> Outputs:
    """Sums over all units for each run: the outputs of one unit, the test set. Every unit must have every run.

    Example:
        >>> whole_runs(Outputs(np.array([[[1], [4], [2], [8]]]), np.array([2, 2]))).values[0, :, 0]
        array([ 3, 12])
    """
    by_run = outputs.values.reshape(len(outputs.values), len(outputs.sizes), -1, outputs.values.shape[2])
    return Outputs(by_run.sum(axis=1), outputs.sizes[:1])


def _added(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Statistics `[system, instance, stat]` summed over the instances of each `place` `[instance]`."""
    summed = np.zeros((int(place.max()) + 1, len(values), values.shape[2]), np.int64)
    np.add.at(summed, place, values.swapaxes(0, 1))
    return summed.swapaxes(0, 1)


def observed_scores(units: Units, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
    """Scores on all units, and how far rounding can move each, both `[system]`.

    Finite differences carry the relative error of the sums through the score. Their steps are in proportion to sums of
    absolute values, so that the bound does not vanish where terms of opposite sign cancel.
    """
    # Outputs that cancel in the sum of a unit need not cancel when they are exchanged or drawn.
    sizes = _sums(np.abs(units.values if units.outputs is None else units.outputs.values))
    num_stats = sizes.shape[1]
    steps = np.concatenate([np.zeros((1, num_stats)), _STEP * np.eye(num_stats)])[:, None] * sizes
    with np.errstate(all="ignore"):
        scores, *moved = np.asarray(metric.score(units.unscaled(units.totals + steps)), np.float64)
        changes = np.abs(np.array(moved) - scores) / _STEP
    scale = np.abs(scores)
    for change in changes:
        scale += np.where(np.isfinite(change), change, 0.0)
    return scores, units.relative_error * scale


def _sums(values: np.ndarray) -> np.ndarray:
    """Sums over units of whole numbers `[system, unit, stat]`, as float64 (einsum is seven times faster than sum)."""
    return np.einsum("sut->st", values).astype(np.float64)
