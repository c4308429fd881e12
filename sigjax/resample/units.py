"""Convert an evaluation to units whose statistics are whole numbers. Also, add floats in a fixed order.

A unit is what a test resamples: an instance with all its runs, or a cluster of instances that depend on each other. Its
statistics are int64 multiples of a small step (fixed point), so that every later sum is exact, whatever the order, the
device or the number of threads. Equal inputs give equal sums, so ties remain ties. Floats are always added in the same
order (`total`), because the results of NumPy's own sums depend on its version and on the layout of memory.

A system that was run several times has one output per unit and run. Some designs treat runs separately: they exchange
(crossed) or draw (nested) outputs within a unit, or exchange whole runs (models). In all other designs, the statistics
of a unit are the sums over its outputs.

For metrics that are not functions of sums, a `Sample` contains the inputs of the metric and the unit of each instance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from sigjax.metrics import check_score
from sigjax.records import DESIGNS, Design, EvaluationRecord, Hint, InputError, Metric

_ROWS = 32
"""Number of rows in which `total` arranges numbers."""
_MOST_DECIMALS = 15
_LARGEST_EXPONENT = 1023


def total(values: np.ndarray) -> np.ndarray:
    """Return sums `[...]` of float64 numbers `[..., n]`, the same to the last bit on all machines.

    The result depends neither on the version of NumPy nor on the processor. The numbers are arranged in 32 rows, which
    are added from the first to the last. This is repeated with the sum of the rows, until at most 32 numbers are left.
    The rounding error grows with the logarithm of n, as in pairwise summation.

    >>> total(np.full((2, 1000), 0.125))
    array([125., 125.])
    """
    while (width := values.shape[-1]) > _ROWS:
        step = -(-width // _ROWS)
        whole = width // step * step
        # Along the slow axis, NumPy adds each row to the sum of the rows before it.
        added = np.add.reduce(values[..., :whole].reshape(*values.shape[:-1], -1, step), axis=-2)
        added[..., : width - whole] += values[..., whole:]
        values = added
    return np.add.accumulate(values, axis=-1)[..., -1]


class PiecewiseTotal:
    """Adds numbers that come in order, in pieces; the sum is bit for bit the result of `total`.

    For every 32 numbers, one partial sum is kept in memory.

    >>> piecewise = PiecewiseTotal(1000)
    >>> piecewise.add(0, np.full(7, 0.1))
    >>> piecewise.add(7, np.full(993, 0.1))
    >>> piecewise.total() == total(np.full(1000, 0.1))
    np.True_
    """

    def __init__(self, count: int) -> None:
        self._added = np.empty(-(-count // _ROWS))

    def add(self, start: int, values: np.ndarray) -> None:
        """Add the next `values`; `start` is the index of the first value among all numbers."""
        while len(values):
            row, place = divmod(start, len(self._added))
            part = self._added[place : place + len(values)]
            if row:
                part += values[: len(part)]
            else:
                part[:] = values[: len(part)]
            start, values = start + len(part), values[len(part) :]

    def total(self) -> np.ndarray:
        """Return the sum, after all numbers have been added."""
        return total(self._added)


def variance(values: np.ndarray) -> np.ndarray:
    """Return variances `[...]` (ddof = 1) of float64 numbers `[..., n]`, with sums computed by `total`.

    >>> float(variance(np.array([1.0, 2.0, 3.0])))
    1.0
    """
    count = values.shape[-1]
    apart = values - (total(values) / count)[..., None]
    return total(np.square(apart, out=apart)) / (count - 1)


def norms(rows: np.ndarray) -> np.ndarray:
    """Return the 2-norms `[...]` of rows `[..., number]`, even if squares are beyond the range of a double.

    >>> norms(np.array([[3e200, 4e200], [0.0, 0.0]]))
    array([5.e+200, 0.e+000])
    """
    # Scale by powers of two, which causes no rounding errors.
    exponents = np.frexp(np.abs(rows).max(axis=-1))[1]
    return np.ldexp(np.sqrt(total(np.square(np.ldexp(rows, -exponents[..., None])))), exponents)


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """One statistic in fixed point, that is, as integer multiples of a step."""

    values: np.ndarray
    """[system, instance] int64: the statistic as whole numbers of steps of 1 / divisor."""
    divisor: float
    error: np.ndarray
    """[system]: bound on the relative rounding error of the statistic's sum; 0 if nothing was rounded."""


def fixed_point(column: np.ndarray, limit: int) -> FixedPoint:
    """Convert one statistic `[system, instance]` to fixed point.

    The step is a power of ten if this represents all numbers exactly. Otherwise, it is a power of two, and numbers are
    rounded. For every system, the sum of absolute values (in steps) is below `limit`.
    """
    if column.dtype.kind == "i" and float(np.abs(column).max(initial=0)) * column.shape[1] < limit:
        return FixedPoint(column, 1.0, np.zeros(len(column)))
    with np.errstate(over="ignore"):
        sizes = total(np.abs(column).astype(np.float64))
    if not np.isfinite(sizes).all():
        raise InputError("the sum of the numbers is beyond the range of a double; rescale them")
    largest = float(sizes.max())
    if column.dtype.kind == "i" and largest < limit:
        return FixedPoint(column, 1.0, np.zeros(len(column)))
    for decimals in range(_MOST_DECIMALS + 1):
        divisor = 10.0**decimals
        if largest * divisor >= limit:
            break
        whole = np.rint(column * divisor)
        if np.array_equal(whole / divisor, column):
            return FixedPoint(whole.astype(np.int64), divisor, np.zeros(len(column)))
    divisor = 2.0 ** min(math.frexp(limit)[1] - 1 - math.frexp(largest)[1], _LARGEST_EXPONENT)
    whole = np.rint(column * divisor)
    # A value that was rounded changes by at most half a step. If all values are below the step, the relative error has
    # no bound.
    moved = np.count_nonzero(whole / divisor != column, axis=1) * 0.5
    with np.errstate(divide="ignore", over="ignore"):
        error = np.divide(moved, sizes * divisor, out=np.zeros(len(column)), where=moved > 0)
    return FixedPoint(whole.astype(np.int64), divisor, error)


def units_of_instances(evaluation: EvaluationRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit of each instance `[instance]`, and the stratum of each unit `[unit]`, ascending.

    Within a stratum, units are in the order of their first instances.
    """
    evaluation.check_complete()
    clusters = evaluation.unit_labels
    unit = np.arange(evaluation.num_instances) if clusters is None else codes(clusters)
    strata = np.zeros(int(unit.max()) + 1, np.int64)
    if evaluation.strata is None:
        return unit, strata
    code = codes(evaluation.strata)
    strata[unit] = code
    wrong = np.flatnonzero(strata[unit] != code)
    if wrong.size:
        label = "" if clusters is None else clusters[int(wrong[0])]
        raise InputError(f"cluster {label!r} lies in two strata; expected each cluster within one stratum")
    strata = np.unique(strata, return_inverse=True)[1]
    order = np.argsort(strata, kind="stable")
    return np.argsort(order)[unit], strata[order]


def codes(labels: tuple[str, ...]) -> np.ndarray:
    """Replace labels by numbers 0, 1, ... in the order in which they first appear."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in labels])


@dataclass(frozen=True, eq=False)
class Sample:
    """The inputs of a `SampleMetric` (a function of whole columns) for all systems, and the unit of each instance."""

    columns: np.ndarray
    """[system, input, instance] float64: the inputs of the metric, standardized if the metric asks for this."""
    unit: np.ndarray
    """[instance]: index of the instance's unit. Units are in the same order as in `Units`, so that they use the same
    random words."""
    strata: np.ndarray
    """[unit]: code of the unit's stratum (0, 1, ...), ascending."""

    @cached_property
    def sizes(self) -> np.ndarray:
        """[unit]: the number of instances of each unit."""
        return np.bincount(self.unit)

    @cached_property
    def _by_unit(self) -> np.ndarray:
        return np.argsort(self.unit, kind="stable")

    def instances(self, drawn: np.ndarray) -> np.ndarray:
        """Return the instances of the drawn units `[draw]`, in the order of the draws.

        >>> sample = Sample(np.zeros((2, 1, 3)), np.array([0, 1, 0]), np.array([0, 0]))
        >>> sample.instances(np.array([1, 0, 1]))
        array([1, 0, 2, 1])
        """
        sizes = self.sizes[drawn]
        before = np.cumsum(sizes) - sizes
        first = (np.cumsum(self.sizes) - self.sizes)[drawn]
        return self._by_unit[np.repeat(first - before, sizes) + np.arange(sizes.sum())]


def make_sample(evaluation: EvaluationRecord) -> Sample:
    """Make a `Sample` of an evaluation, with the inputs of the metric as they are (not standardized)."""
    unit, strata = units_of_instances(evaluation)
    return Sample(np.ascontiguousarray(evaluation.stats.swapaxes(1, 2), np.float64), unit, strata)


_EPSILON = float(np.finfo(np.float64).eps)
_SCORE_ROUNDING = 32 * _EPSILON
"""Bound on the relative rounding error of a score that needs a few operations in float64."""
_STEP = 2.0**-20
"""Relative step of the finite differences in `observed_scores`."""
_LARGEST_SUM = 2**53
"""Sums of resamples (in steps) are below this limit, so that float64 represents them exactly."""
_MOST_DRAWS = 32
"""The bound on sums assumes that a bootstrap resample contains no unit more often than this. (For ten million units,
the probability that it contains any unit more often is below 1e-30.)"""
_FEWEST_STEPS = 2.0**16
"""Smallest allowed root mean square, in steps, of the differences between two systems, if whole numbers are rounded to
steps above 1. (They are rounded if their sums exceed `_LARGEST_SUM`.)"""
_WORST_ERROR = 1e-7
"""Largest allowed bound on the relative rounding error of a statistic. If the bound is larger, `make_units` raises an
error, because rounding could hide differences between systems."""


@dataclass(frozen=True, eq=False, slots=True)
class Outputs:
    """The outputs of all systems for the units of a test."""

    values: np.ndarray
    """[system, output, stat] int64: statistics of outputs, as the same whole numbers (fixed point) as in `Units`.
    Outputs of a unit are adjacent."""
    sizes: np.ndarray
    """[unit] int64: the number of outputs of each system for the unit, one per run."""

    @property
    def unit(self) -> np.ndarray:
        """[output] int64: the unit of each output."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


@dataclass(frozen=True, eq=False)
class Units:
    """The statistics of all systems on the units of a test, as whole numbers of small steps (fixed point)."""

    values: np.ndarray
    """[system, unit, stat] int64: statistics as whole numbers of steps of 1 / divisors. Units of a stratum are
    adjacent."""
    divisors: np.ndarray | None
    """[stat] float64: `values` are the statistics times these divisors, as whole numbers; None if all divisors are 1,
    because the statistics are whole numbers already."""
    strata: np.ndarray
    """[unit]: code of the unit's stratum (0, 1, ...), ascending."""
    sizes: np.ndarray
    """[unit]: the size of each unit: its number of instances (rows of data) or, if instances have weights in the
    score, the sum of their weights."""
    relative_error: np.ndarray
    """[system]: bound on the relative error of a score, from computing in float64 and from rounding real numbers to
    fixed point."""
    rounded: np.ndarray
    """[stat]: whether the statistic was rounded to fixed point. Whole numbers and decimals are usually exact."""
    outputs: Outputs | None = None
    """The outputs whose sums are the units' statistics; only for designs that treat runs separately."""

    @property
    def exact(self) -> bool:
        """Whether no statistic was rounded to fixed point."""
        return not self.rounded.any()

    @cached_property
    def totals(self) -> np.ndarray:
        """Sums of `values` over all units, `[system, stat]` float64. They are exact whole numbers."""
        return _sums(self.values)

    def unscaled(self, sums: np.ndarray) -> np.ndarray:
        """Convert sums of `values` `[..., stat]` (float64) to sums of the statistics, which score functions expect."""
        return sums if self.divisors is None else sums / self.divisors


def make_units(evaluation: EvaluationRecord, design: Design = "together") -> Units:
    """Make units from an evaluation: sum the statistics over the instances of each unit, in fixed point.

    >>> from sigjax import Evaluation
    >>> evaluation = Evaluation.from_arrays({"A": [1, 0, 1], "B": [0, 0, 1]}, clusters=["x", "x", "y"])
    >>> make_units(evaluation).values[:, :, 0]
    array([[1, 1],
           [0, 1]])
    """
    unit, strata = units_of_instances(evaluation)
    num_units = len(strata)
    most = min(num_units if DESIGNS[design].exchanges == "units" else evaluation.num_instances, _MOST_DRAWS)
    limit = _LARGEST_SUM // most
    if DESIGNS[design].draws == "outputs":
        limit //= int(np.bincount(unit).max())  # all draws of a unit may choose one output
    stats = evaluation.stats
    columns = [fixed_point(stats[:, :, stat], limit) for stat in range(stats.shape[2])]
    for name, column in zip(evaluation.metric.stat_names, columns, strict=True):
        if column.error.max() > _WORST_ERROR:
            raise InputError(
                f"statistic {name!r}: the numbers of system {evaluation.systems[int(column.error.argmax())]!r} are too "
                f"small beside the largest numbers for exact sums; compare it apart ({Hint('only')}), or rescale"
            )
    divisors, errors = (np.array([getattr(column, name) for column in columns]) for name in ("divisor", "error"))
    is_same = stats.dtype.kind == "i" and bool(np.all(divisors == 1.0))
    values = stats if is_same else np.stack([column.values for column in columns], axis=-1)
    outputs = None if design == "together" else outputs_of(evaluation, values, unit)
    if num_units < len(unit):
        values = _added(values, unit)
    elif evaluation.strata is not None:
        values = values[:, np.argsort(unit)]
    return Units(
        values=values,
        divisors=None if np.all(divisors == 1.0) else divisors,
        strata=strata,
        sizes=np.bincount(unit, _weights(evaluation)),
        relative_error=_SCORE_ROUNDING + errors.max(axis=0),
        rounded=(errors > 0.0).max(axis=1),
        outputs=outputs,
    )


def _weights(evaluation: EvaluationRecord) -> np.ndarray | None:
    """Return the weights `[instance]` of the data's rows in the score; None if all weights are equal."""
    metric = evaluation.metric
    if isinstance(metric, Metric) and metric.weight:
        return evaluation.stats[0, :, metric.stat_names.index(metric.weight)]
    return evaluation.weights


def check_steps(evaluation: EvaluationRecord, units: Units) -> None:
    """Raise an error if whole numbers were rounded to steps above 1, and two systems differ by too few steps.

    The root mean square of their nonzero differences must be at least `_FEWEST_STEPS` steps.
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
                f"subtract from the numbers what all systems share, or compare these two apart ({Hint('only')})"
            )


def outputs_of(evaluation: EvaluationRecord, values: np.ndarray, unit: np.ndarray) -> Outputs:
    """Sum statistics `[system, instance, stat]` over the instances with the same `unit` `[instance]` and run.

    The outputs of a unit are in the order in which their runs first appear in the data.

    >>> from sigjax import Evaluation
    >>> arrays = {"A": [1, 2, 4, 8], "B": [0, 0, 0, 0]}
    >>> evaluation = Evaluation.from_arrays(arrays, ids="xyxy", runs=[1, 1, 2, 2])
    >>> outputs_of(evaluation, evaluation.stats, np.array([0, 1, 0, 1])).values[0, :, 0]
    array([1, 4, 2, 8])
    """
    run = codes(evaluation.runs or ())
    num_runs = int(run.max()) + 1
    output, index = np.unique(unit * num_runs + run, return_inverse=True)
    sizes = np.bincount(output // num_runs)
    _check_runs(evaluation, unit, sizes)
    return Outputs(_added(values, index), sizes)


def _check_runs(evaluation: EvaluationRecord, unit: np.ndarray, sizes: np.ndarray) -> None:
    names, instance = np.unique(np.array(evaluation.ids), return_inverse=True)
    num_instances = np.bincount(np.unique(unit * len(names) + instance) // len(names))
    # An instance has at most one row per run. So if a unit has fewer rows than instances times runs, a run is missing.
    wrong = np.flatnonzero(np.bincount(unit) != num_instances * sizes)
    if wrong.size:
        label = (evaluation.clusters or ())[int((unit == wrong[0]).argmax())]
        raise InputError(
            f"cluster {label!r}: its instances have different runs; a design that keeps runs apart takes clusters in "
            "which every instance has the same runs (or leave the clusters out)"
        )


def whole_runs(outputs: Outputs) -> Outputs:
    """Return the sum over all units for each run, as outputs of a single unit (the test set).

    Every unit must have an output of every run.

    >>> whole_runs(Outputs(np.array([[[1], [4], [2], [8]]]), np.array([2, 2]))).values[0, :, 0]
    array([ 3, 12])
    """
    by_run = outputs.values.reshape(len(outputs.values), len(outputs.sizes), -1, outputs.values.shape[2])
    return Outputs(by_run.sum(axis=1), outputs.sizes[:1])


def _added(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Sum statistics `[system, instance, stat]` over the instances with the same `index` `[instance]`."""
    summed = np.zeros((int(index.max()) + 1, len(values), values.shape[2]), np.int64)
    np.add.at(summed, index, values.swapaxes(0, 1))
    return summed.swapaxes(0, 1)


def observed_scores(units: Units, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores on all units, and bounds on their rounding errors, both `[system]`.

    An error is raised if a user's function does not compute scores from the last axis. The bounds are computed by
    finite differences, from the relative error of the sums. The steps of the differences are proportional to sums of
    absolute values, so that a bound is not 0 if terms of opposite sign cancel.
    """
    # Use outputs if there are any: outputs that cancel in the sum of a unit may not cancel after they are exchanged or
    # drawn.
    sizes = _sums(np.abs(units.values if units.outputs is None else units.outputs.values))
    num_stats = sizes.shape[1]
    steps = np.concatenate([np.zeros((1, num_stats)), _STEP * np.eye(num_stats)])[:, None] * sizes
    sums = units.unscaled(units.totals + steps)
    check_score(metric, sums[0])
    with np.errstate(all="ignore"):
        scores, *moved = np.asarray(metric.score(sums), np.float64)
        changes = np.abs(np.array(moved) - scores) / _STEP
    scale = np.abs(scores)
    for change in changes:
        scale += np.where(np.isfinite(change), change, 0.0)
    return scores, units.relative_error * scale


def _sums(values: np.ndarray) -> np.ndarray:
    """Sum whole numbers `[system, unit, stat]` over the units; return float64 (by einsum, which is faster than sum)."""
    return np.einsum("sut->st", values).astype(np.float64)
