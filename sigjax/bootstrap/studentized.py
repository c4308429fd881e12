r"""Studentized (bootstrap-t) intervals, and standard errors by the delta method, for scores that are functions of sums.

The variance of a score is that of its linear part: with the gradient g of the score at the sums, a unit with statistics
s has the influence $g \cdot (s - \bar s_h)$ in its stratum h. Sums of products of statistics are sums like others, so
that the standard errors of all resamples come from the same product as their scores. Gradients are central differences
in NumPy, so that no number depends on the device.

Reference: Efron and Tibshirani (1993), sections 12.5 and 21; Davison and Hinkley (1997), sections 2.7.2 and 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, starmap
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.delta_method import NO_VARIANCE, STEP, slope
from sigjax.bootstrap.intervals import Spread
from sigjax.records import Interval
from sigjax.resample.engine import Run
from sigjax.resample.plans import draws_from_strata
from sigjax.resample.project import draws_projection, places_in
from sigjax.resample.sampling import Scored, replicates
from sigjax.resample.tally import scores
from sigjax.testing.problem import Case

_LARGEST_SUM = 2.0**53
_ENDLESS, _LARGEST = 1e300, 1e200
"""What stands for the quotient by a standard error of 0, and the largest that an interval is made of."""
_NUMBERS, _FEWEST_ROWS = 2**24, 64
"""Sums that are held at a time, and resamples at least."""

Variables = list[tuple[int, int, float]]
"""The statistics that a target depends on: system, statistic, and -1 for the second system of a pair."""


class _Layout(NamedTuple):
    """Columns whose sums tell scores and their standard errors, and where to find them."""

    columns: np.ndarray
    """[column, unit] int64."""
    totals: np.ndarray
    """[system, stat] int32: columns of the statistics."""
    centred: dict[tuple[int, int], list[int]]
    """For each statistic of each system that varies, its columns of each stratum, less about its mean there."""
    products: dict[tuple[tuple[int, int], tuple[int, int]], int]
    """Columns of the products of two of them."""
    coarse: np.ndarray
    """[stat]: steps of the statistic to a step of those, so that their products have sums that a double holds."""
    sizes: np.ndarray
    """[stratum] units."""
    steps: np.ndarray
    """[system, stat]: steps of the differences."""


class Studentized(NamedTuple):
    """What studentized intervals need: use `standard_errors` for the data, and `pieces` for resamples."""

    case: Case
    targets: np.ndarray
    """[target, 2], as `Wanted` has them."""
    layout: _Layout

    def standard_errors(self) -> np.ndarray:
        r"""Standard errors by the delta method `[target]`: $\sqrt{\sum_h \sum_{i \in h} (g \cdot (s_i - \bar s_h))^2}$.

        That is the standard error that endless bootstrap resamples would give, if the score were linear. Equivalent to
        the standard deviation (ddof = 0) of a mean, divided by the root of the number of units.
        """
        return self._errors(self.layout.columns.sum(axis=1, dtype=np.float64)[:, None])[:, 0]

    def pieces(self, run: Run) -> Iterator[tuple[int, np.ndarray]]:
        """The first resample of a piece, and `[row, resample]`: scores of all systems, then t of all targets.

        t is the distance from the observed score or delta, divided by the standard error of the resample.
        """
        columns, units = self.layout.columns, self.case.units
        projection = draws_projection(columns, draws_from_strata(units.strata), compiled=bool(run.backend.devices))
        places = places_in(np.arange(len(columns), dtype=np.int32)[:, None])
        metric, size = Scored(places, None, _the_sum, on_host=True), max(_FEWEST_ROWS, _NUMBERS // len(columns))
        parts = (range(start, min(start + size, run.resamples)) for start in range(run.start, run.resamples, size))
        drawn = (
            piece
            for part in parts
            for piece in replicates(projection, [metric], run._replace(start=part.start, resamples=part.stop))
        )
        observed, tolerances = (
            np.array([*each, 0.0]) for each in (self.case.question.scores, self.case.question.tolerances)
        )
        first, second = self.targets.T
        tolerance = 2.0 * (tolerances[first] + tolerances[second])[:, None]
        for start, (sums,) in drawn:
            with np.errstate(all="ignore"):
                found = np.concatenate([self._scores(sums), np.zeros((1, sums.shape[1]))])
                apart = found[first] - found[second] - (observed[first] - observed[second])[:, None]
                t = apart / self._errors(sums)
            t = np.where(np.abs(apart) <= tolerance, 0.0, np.nan_to_num(t, posinf=_ENDLESS, neginf=-_ENDLESS))
            yield start, np.concatenate([found[:-1], t])

    def _scores(self, sums: np.ndarray) -> np.ndarray:
        return np.stack([self._score(sums[places]) for places in self.layout.totals])

    def _score(self, sums: np.ndarray) -> np.ndarray:
        """Scores `[row]` of sums `[stat, row]`."""
        return scores(self.case.metric.score, np.moveaxis(sums, 0, -1), self.case.units.divisors)

    def _errors(self, sums: np.ndarray) -> np.ndarray:
        """Standard errors `[target, row]` of resamples with these sums `[column, row]`."""
        with np.errstate(all="ignore"):
            gradients = self._gradients(sums)
        # Squares of very large or very small numbers leave the range of a double; a power of two rounds nothing.
        sizes = (float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in gradients.values())
        exponent = math.frexp(max(sizes, default=0.0))[1]
        scaled = {each: np.ldexp(gradient, -exponent) for each, gradient in gradients.items()}
        variables = (_variables(target, self.layout.totals.shape) for target in self.targets.tolist())
        return np.ldexp(np.sqrt([self._variance(sums, scaled, each) for each in variables]), exponent)

    def _gradients(self, sums: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
        """How the score of a system changes with a coarse step of a statistic, `[row]`, for those that vary."""
        found = {}
        for system, stat in self.layout.centred:
            at = sums[self.layout.totals[system]]
            step = self.layout.steps[system, stat]
            found[system, stat] = slope(self._score, at, stat, step) * self.layout.coarse[stat]
        return found

    def _variance(
        self, sums: np.ndarray, gradients: dict[tuple[int, int], np.ndarray], variables: Variables
    ) -> np.ndarray:
        """The variance `[row]` of a target, 0 where it is rounding."""
        layout = self.layout
        total, size = np.zeros(sums.shape[1]), np.zeros(sums.shape[1])
        weighted = [(each[:2], each[2] * gradients[each[:2]]) for each in variables if each[:2] in gradients]
        for place, (one, weight) in enumerate(weighted):
            for other, other_weight in weighted[: place + 1]:
                term = weight * other_weight * sums[layout.products[_in_order(one, other)]]
                total += term if one == other else 2.0 * term
                size += np.abs(term)
        for stratum, count in enumerate(layout.sizes.tolist()):
            mean = sum((weight * sums[layout.centred[one][stratum]] for one, weight in weighted), np.zeros(1))
            total -= mean**2 / count
        return np.where(total > NO_VARIANCE * size, total, 0.0)


def _the_sum(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0]


def _variables(target: list[int], shape: tuple[int, ...]) -> Variables:
    signs = zip(target, (1.0, -1.0), strict=True)
    return [(system, stat, sign) for system, sign in signs if system < shape[0] for stat in range(shape[1])]


def _in_order(one: tuple[int, int], other: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one, other) if one <= other else (other, one)


def num_columns(case: Case) -> int:
    """How many columns there are at most for the scores of all systems and the deltas of all pairs."""
    num_systems, _, num_stats = case.units.values.shape
    num_strata = int(case.units.strata[-1]) + 1
    products = len(case.question.members) * num_stats**2 + num_systems * num_stats * (num_stats + 1) // 2
    return products + num_systems * num_stats * (1 + num_strata)


def studentize(case: Case, targets: np.ndarray) -> Studentized:
    """What studentized intervals of the targets `[target, 2]` need.

    Example:
        >>> from sigjax import Evaluation
        >>> from sigjax.testing.problem import Question
        >>> from sigjax.metrics import METRICS
        >>> from sigjax.records import Settings
        >>> from sigjax.units.units import make_units
        >>> units = make_units(Evaluation.from_arrays({"A": [1, 2, 3, 6], "B": [1, 1, 2, 8]}))
        >>> case = Case(units, METRICS["mean"], Question(((0, 1),), (3.0, 3.0), (0.0, 0.0)), Settings())
        >>> studentize(case, np.array([[0, 2], [0, 1]])).standard_errors().round(6)
        array([0.935414, 0.612372])
    """
    units, values = case.units, case.units.values
    sizes, kept = np.bincount(units.strata), _Distinct()
    places = list(np.ndindex(values.shape[0], values.shape[2]))
    totals = np.array([kept.place(values[k, :, j].copy()) for k, j in places], np.int32).reshape(len(values), -1)
    centred, coarse = _centred(values, units.strata, sizes)
    varying = {(k, j): centred[k, :, j] for k, j in places if centred[k, :, j].any()}
    products: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
    for target in targets.tolist():
        involved = [each[:2] for each in _variables(target, (len(values), values.shape[2])) if each[:2] in varying]
        for key in starmap(_in_order, combinations_with_replacement(involved, 2)):
            if key not in products:
                products[key] = kept.place(varying[key[0]] * varying[key[1]])
    masks = [units.strata == stratum for stratum in range(len(sizes))]
    in_strata = {each: [kept.place(column * mask) for mask in masks] for each, column in varying.items()}
    steps = STEP * np.maximum(np.abs(values).sum(axis=1, dtype=np.float64), 1.0)
    layout = _Layout(np.stack(kept.columns), totals, in_strata, products, coarse, sizes, steps)
    return Studentized(case, targets, layout)


class _Distinct:
    """Columns `[unit]`, of which equal ones are kept once."""

    def __init__(self) -> None:
        self.columns: list[np.ndarray] = []
        self._places: dict[bytes, int] = {}

    def place(self, column: np.ndarray) -> int:
        """Where this column is kept."""
        place = self._places.setdefault(column.tobytes(), len(self.columns))
        if place == len(self.columns):
            self.columns.append(column)
        return place


def _centred(values: np.ndarray, strata: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Statistics `[system, unit, stat]` less about their mean in the stratum, in coarse steps `[stat]`."""
    starts = np.searchsorted(strata, np.arange(len(sizes)))
    means = np.rint(np.add.reduceat(values.astype(np.float64), starts, axis=1) / sizes[:, None])
    apart = values - means[:, strata]
    largest = np.abs(apart).max(axis=(0, 1))
    bound = math.sqrt(_LARGEST_SUM / (2.0 * values.shape[1]))
    coarse = 2.0 ** np.ceil(np.log2(np.maximum(largest / bound, 1.0)))
    return np.rint(apart / coarse).astype(np.int64), coarse


def studentized_spreads(found: list[Spread], observed: list[float], errors: np.ndarray) -> list[Spread]:
    r"""Bootstrap standard errors with studentized intervals $[\hat\theta - t_{high} s, \hat\theta - t_{low} s]$.

    Args:
        found: spreads of the scores and deltas, then those of their t.
        observed: `[target]` observed scores and deltas.
        errors: `[target]` their standard errors s.
    """
    spreads = []
    for own, of_t, score, error in zip(found, found[len(observed) :], observed, errors.tolist(), strict=False):
        low, high = of_t.interval or (math.nan, math.nan)
        bounded = max(abs(low), abs(high)) < _LARGEST
        spreads.append(own._replace(interval=Interval(score - high * error, score - low * error) if bounded else None))
    return spreads
