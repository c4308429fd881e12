"""Evaluation -> units, as whole numbers.

A unit is what a test resamples: an instance with all its runs, or a cluster of instances that depend on each other. Its
statistics are int64 multiples of a small step, so that every later sum is exact whatever the order, the device or the
number of threads: equal inputs give equal sums, and ties are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sigjax.records import Design, Evaluation, InputError, Metric
from sigjax.units.fixed_point import fixed_point
from sigjax.units.outputs import Outputs, outputs_of

_EPSILON = float(np.finfo(np.float64).eps)
_SCORE_ROUNDING = 32 * _EPSILON
"""Bound on the relative rounding error of a score: a few operations in float64."""
_STEP = 2.0**-20
"""Relative step of the finite differences."""
_LARGEST_SUM = 2**53
"""Sums of resamples stay below this, so that float64 holds them exactly."""
_MOST_DRAWS = 32
"""A bootstrap draws no unit more often than this (but for a chance below 1e-30), which bounds the sums."""
_WORST_ERROR = 1e-7
"""Numbers are refused from this relative rounding error of a score: differences would drown in it."""


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
    """[unit] how many instances each unit has."""
    relative_error: float
    """Bound on the relative error of a score: by float64 and, for reals, by the rounding to fixed point."""
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
    divisors = np.array([column.divisor for column in columns])
    error = max(float(column.error.max()) for column in columns)
    return Units(
        values=_of_units(evaluation, values, unit),
        divisors=None if np.all(divisors == 1.0) else divisors,
        strata=strata,
        sizes=np.bincount(unit),
        relative_error=_SCORE_ROUNDING + error,
        exact=error == 0.0,
        outputs=None if design == "together" else outputs_of(evaluation, values, unit),
    )


def _of_units(evaluation: Evaluation, values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Statistics `[system, instance, stat]` summed over the instances of each unit."""
    if unit_labels(evaluation) is not None:
        summed = np.zeros((int(unit.max()) + 1, len(values), values.shape[2]), np.int64)
        np.add.at(summed, unit, values.swapaxes(0, 1))
        return summed.swapaxes(0, 1)
    return values if evaluation.strata is None else values[:, np.argsort(unit)]


@dataclass(frozen=True, eq=False)
class Sample:
    """The inputs of a `SampleMetric` for all systems, and the units of their instances."""

    columns: np.ndarray
    """[system, input, instance] float64; standardized where the metric says so."""
    unit: np.ndarray
    """[instance]: its unit; units are in the order of `Units`, so that they get the same random words."""
    strata: np.ndarray
    """[unit]: as in `Units`."""

    @cached_property
    def sizes(self) -> np.ndarray:
        """[unit] how many instances each unit has."""
        return np.bincount(self.unit)

    @cached_property
    def _by_unit(self) -> np.ndarray:
        return np.argsort(self.unit, kind="stable")

    def instances(self, drawn: np.ndarray) -> np.ndarray:
        """The instances of the drawn units `[draw]`, in the order of the draws.

        Example:
            >>> sample = Sample(np.zeros((2, 1, 3)), np.array([0, 1, 0]), np.array([0, 0]))
            >>> sample.instances(np.array([1, 0, 1]))
            array([1, 0, 2, 1])
        """
        sizes = self.sizes[drawn]
        before = np.cumsum(sizes) - sizes
        first = (np.cumsum(self.sizes) - self.sizes)[drawn]
        return self._by_unit[np.repeat(first - before, sizes) + np.arange(sizes.sum())]


def make_sample(evaluation: Evaluation) -> Sample:
    """The inputs of an evaluation as they are, with the units of the instances.

    Raises:
        InputError: a cluster lies in two strata.
    """
    unit, strata = units_of_instances(evaluation)
    return Sample(np.ascontiguousarray(evaluation.stats.swapaxes(1, 2), np.float64), unit, strata)


def units_of_instances(evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """The unit of each instance `[instance]`, and the stratum of each unit `[unit]`, ascending.

    Units of a stratum are in the order of their first instances.

    Raises:
        InputError: a cluster lies in two strata.
    """
    clusters = unit_labels(evaluation)
    unit = np.arange(evaluation.num_instances) if clusters is None else _codes(clusters)
    if evaluation.strata is None:
        return unit, np.zeros(int(unit.max()) + 1, np.int64)
    strata = _codes_of_units(evaluation.strata, clusters, unit)
    order = np.argsort(strata, kind="stable")
    return np.argsort(order)[unit], strata[order]


def unit_labels(evaluation: Evaluation) -> tuple[str, ...] | None:
    """[instance] label of its unit; None where every instance is its own unit."""
    if evaluation.clusters is not None:
        return evaluation.clusters
    return None if evaluation.runs is None else evaluation.ids


def observed_scores(units: Units, metric: Metric) -> np.ndarray:
    """Scores `[system]` on all units."""
    with np.errstate(all="ignore"):
        return np.asarray(metric.score(units.unscaled(units.totals)), np.float64)


def tolerances(units: Units, metric: Metric) -> np.ndarray:
    """How far rounding can move the score of each system, `[system]`.

    Finite differences carry the relative error of the sums through the score. Their steps are in proportion to sums of
    absolute values, so that the bound does not vanish where terms of opposite sign cancel.
    """
    # Outputs that cancel in the sum of a unit need not cancel when they are exchanged or drawn.
    sizes = _sums(np.abs(units.values if units.outputs is None else units.outputs.values))
    scores = observed_scores(units, metric)
    scale = np.abs(scores)
    for stat in range(sizes.shape[1]):
        moved = units.totals.copy()
        moved[:, stat] += _STEP * sizes[:, stat]
        with np.errstate(all="ignore"):
            change = np.abs(metric.score(units.unscaled(moved)) - scores) / _STEP
        scale += np.where(np.isfinite(change), change, 0.0)
    return units.relative_error * scale


def _sums(values: np.ndarray) -> np.ndarray:
    """Sums over units of whole numbers `[system, unit, stat]`, as float64 (einsum is seven times faster than sum)."""
    return np.einsum("sut->st", values).astype(np.float64)


def _codes_of_units(strata: tuple[str, ...], clusters: tuple[str, ...] | None, unit: np.ndarray) -> np.ndarray:
    """Stratum code of each unit; a cluster must lie within one stratum."""
    code = _codes(strata)
    if clusters is None:
        return code
    of_unit = np.zeros(int(unit.max()) + 1, np.int64)
    of_unit[unit] = code
    wrong = np.flatnonzero(of_unit[unit] != code)
    if wrong.size:
        raise InputError(f"cluster {clusters[wrong[0]]!r} lies in two strata; expected each cluster within one stratum")
    return np.unique(of_unit, return_inverse=True)[1]


def _codes(labels: tuple[str, ...]) -> np.ndarray:
    """Labels -> 0, 1, ... in order of first appearance."""
    places: dict[str, int] = {}
    return np.array([places.setdefault(label, len(places)) for label in labels])
