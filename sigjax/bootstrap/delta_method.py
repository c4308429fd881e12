r"""Standard errors by the delta method, without resamples: for new units, or for new units and new runs ("two-way").

**Units.** $\sqrt{\sum_h \sum_{i \in h} (g \cdot (s_i - \bar s_h))^2}$, where g is the gradient of the score at the
sums, by central differences in NumPy, so that no number depends on the device. If the score were linear, infinitely
many bootstrap resamples of the units would give the same; for a mean, it is the standard deviation (ddof = 0) divided
by the root of the number of units. References: Efron and Tibshirani (1993), section 21; Davison and Hinkley (1997),
section 2.7.2.

**Units and runs**, where runs are trained models: x[u, r] is the influence g . s of run r of unit u. Its variance has a
part that all runs of a unit share, one that all units of a run share, and a rest. With U units and R runs, row sums
x[u, .] and column sums x[., r], and sums of squares about the means,

    V_units = U / (U - 1) sum_u (x[u, .] - mean)^2       V_rest = UR / ((U - 1) (R - 1)) sum_ur (residual of x[u, r])^2
    V_runs  = R / (R - 1) sum_r (x[., r] - mean)^2       V = max(V_units + V_runs - V_rest, V_units, V_runs)

V_units and V_runs both contain the rest, so it is subtracted once: the estimate by the method of moments of a linear
mixed model with crossed random effects. For a delta, x[u, .] are differences, since both systems saw the same units,
while V_runs and V_rest are those of system a plus those of system b, whose runs are taken to be independent. V_units is
a sum over strata, each with its own mean and number of units.

The interval is score +- t sqrt(V), where t has the degrees of freedom of Satterthwaite (1946), V^2 / sum_k V_k^2 / f_k
over the parts: U - 1 for the units, R - 1 for the runs of each system, and (U - 1) (R - 1) for each rest; but at least
the smaller of U - 1 and R - 1, which subtracting V_rest may fall short of where units are few.

A two-way bootstrap (Owen 2007) would hold its level less well: with R runs its variance is (R - 1) / R times too small,
and it has no t. References: Searle, Casella and McCulloch (1992), "Variance components"; Cameron, Gelbach and Miller
(2011), "Robust inference with multiway clustering".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sigjax.bootstrap.intervals import Spread
from sigjax.records import Array, Interval
from sigjax.testing.problem import Case, Pair, check_finite
from sigjax.testing.tails import t_quantile
from sigjax.units.sums import norms, total, variance
from sigjax.units.units import Units

STEP = 2.0**-17
"""Relative step of the differences: truncation and rounding are both about 1e-10 of a gradient."""
NO_VARIANCE = 2.0**-40
"""A variance below this part of its terms is rounding."""


def slope(score: Callable[[np.ndarray], np.ndarray], at: np.ndarray, stat: int, step: float) -> np.ndarray:
    """The derivative of a score of sums `[stat, row]` -> `[row]` by a statistic, `[row]`, as a central difference.

    Example:
        >>> slope(lambda sums: sums[0] / sums[1], np.array([[3.0], [4.0]]), 0, 2.0**-17)
        array([0.25])
    """
    moved = np.zeros((len(at), 1))
    moved[stat] = step
    ahead, here, behind = (score(at + sign * moved) for sign in (1.0, 0.0, -1.0))
    # At the edge of the domain of the score, a one-sided difference.
    lower, upper = (np.where(np.isfinite(each), each, here) for each in (behind, ahead))
    width = (np.isfinite(behind) * step + np.isfinite(ahead) * step).clip(min=step)
    return (upper - lower) / width


def delta_method_errors(
    values: np.ndarray, strata: np.ndarray, score: Callable[[Array], Array], pairs: Sequence[Pair]
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of the scores of systems `[system]`, and of the deltas of pairs `[pair]`.

    Args:
        values: `[system, unit, stat]` float64, units of a stratum together.
        strata: `[unit]` codes, ascending from 0.
        score: sums `[..., stat]` -> `[...]`.
        pairs: positions (a, b).

    Example:
        >>> values = np.array([[[1.0], [2], [3], [6]], [[1], [1], [2], [8]]])
        >>> strata, mean = np.zeros(4, int), lambda sums: sums[..., 0] / 4
        >>> of_systems, of_pairs = delta_method_errors(values, strata, mean, [(0, 1)])
        >>> of_systems.round(6), of_pairs.round(6)
        (array([0.935414, 1.457738]), array([0.612372]))
    """
    apart, largest = influences(values, strata, score)
    of_systems = np.array([_error(row, bound) for row, bound in zip(apart, largest, strict=True)])
    return of_systems, np.array([_error(apart[a] - apart[b], largest[a] + largest[b]) for a, b in pairs])


def influences(
    values: np.ndarray, strata: np.ndarray, score: Callable[[Array], Array]
) -> tuple[np.ndarray, np.ndarray]:
    """The influence of each unit on each score, `[system, unit]`; and the 2-norm of each row if no terms cancelled."""
    starts = np.searchsorted(strata, np.arange(int(strata[-1]) + 1))
    # Relative to the first unit of each stratum, what does not vary is exactly 0.
    apart = values - values[:, starts][:, strata]
    sizes = np.bincount(strata)[:, None]
    apart = apart - (np.add.reduceat(apart, starts, axis=1) / sizes)[:, strata]
    by_stat = values.swapaxes(1, 2)
    totals, steps = total(by_stat), STEP * total(np.abs(by_stat))
    found, bounds = np.zeros(values.shape[:2]), np.zeros(values.shape[:2])
    with np.errstate(all="ignore"):
        for system, at in enumerate(totals[:, :, None]):
            for stat in np.flatnonzero(steps[system]).tolist():
                gradient = slope(lambda sums: score(sums.T), at, stat, float(steps[system, stat]))
                term = gradient * apart[system, :, stat]
                found[system] += term
                bounds[system] += np.abs(term)
    return found, norms(bounds)


def _error(influences: np.ndarray, largest: float) -> float:
    """The 2-norm, 0 where it is rounding."""
    error = float(norms(influences))
    return error if error > math.sqrt(NO_VARIANCE) * largest else 0.0


class Error(NamedTuple):
    """A standard error and its degrees of freedom."""

    standard_error: float
    freedom: float
    """Infinite where the standard error is 0."""


def two_way_spreads(case: Case) -> tuple[list[Spread], list[Spread]]:
    """Standard error and interval of each system's score, and of each pair's delta.

    Raises:
        NotFinite: the slope of the metric is infinite at the sums of a system.
    """
    question, level = case.question, case.settings.level
    of_systems, of_pairs = two_way_errors(case.units, case.metric.score, question.pairs)
    check_finite(np.array([[error.standard_error] for error in of_systems]))
    systems, pairs = (
        [_spread(*each, level) for each in zip(observed, errors, strict=True)]
        for observed, errors in ((question.scores, of_systems), (question.deltas.tolist(), of_pairs))
    )
    return systems, pairs


@np.errstate(all="ignore")
def two_way_errors(
    units: Units, score: Callable[[Array], Array], pairs: Sequence[Pair]
) -> tuple[list[Error], list[Error]]:
    """The errors of the scores of all systems, and of the deltas of pairs; every unit has every run.

    An error is not finite where the slope of the score is not.

    Example:
        >>> from sigjax import Evaluation
        >>> from sigjax.units.units import make_units
        >>> arrays = {"A": [3, 5, 1, 3], "B": [0, 0, 0, 4]}
        >>> evaluation = Evaluation.from_arrays(arrays, ids=["x", "x", "y", "y"], runs=[1, 2, 1, 2])
        >>> of_systems, of_pairs = two_way_errors(make_units(evaluation, "models"), evaluation.metric.score, [(0, 1)])
        >>> [(round(one.standard_error, 6), round(one.freedom, 6)) for one in (*of_systems, *of_pairs)]
        [(1.414214, 2.0), (1.0, 1.0), (2.236068, 1.315789)]
    """
    assert units.outputs is not None
    num_runs, strata = int(units.outputs.sizes[0]), units.strata
    cells = units.unscaled(units.outputs.values.astype(np.float64))
    found, largest = influences(cells, np.repeat(strata, num_runs), score)
    scale = 2.0 ** math.frexp(float(np.abs(found).max()))[1]  # squares stay within the range of a double
    table = (found / scale).reshape(len(found), len(strata), num_runs)
    of_units, (of_runs, of_rest) = total(table), _of_runs(table, strata)
    freedom = len(strata) - len(np.unique(strata))

    def error(influence: np.ndarray, systems: list[int]) -> Error:
        own, runs, rest = _of_units(influence, strata), of_runs[systems], of_rest[systems]
        square = max(own + runs.sum() - rest.sum(), own, runs.sum())
        if square <= NO_VARIANCE * (largest[systems].sum() / scale) ** 2:
            return Error(0.0, math.inf)
        less = max(freedom, 1)  # with one unit in each stratum, its part is 0
        spread = own**2 / less + (runs**2).sum() / (num_runs - 1) + (rest**2).sum() / (less * (num_runs - 1))
        fewest = min(num_runs - 1, less)  # of a part by itself; below it, only because the rest was taken off
        return Error(math.sqrt(square) * scale, max(float(square**2 / spread), float(fewest)))

    return (
        [error(of_system, [system]) for system, of_system in enumerate(of_units)],
        [error(of_units[a] - of_units[b], [a, b]) for a, b in pairs],
    )


def _of_units(influence: np.ndarray, strata: np.ndarray) -> float:
    """V_units of influences `[unit]`."""
    return float(total(np.square(influence - _stratum_means(influence, strata)) * _sample_factors(strata)))


def _of_runs(table: np.ndarray, strata: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V_runs and V_rest `[system]` of influences `[system, unit, run]`."""
    num_systems, num_units, num_runs = table.shape
    by_run = table.swapaxes(1, 2)
    of_runs = total(by_run)
    within = by_run - (total(table) / num_runs)[:, None]
    rest = np.square(within - _stratum_means(within, strata)) * _sample_factors(strata)
    factor = num_runs / (num_runs - 1)
    return num_runs * variance(of_runs), factor * total(rest.reshape(num_systems, num_units * num_runs))


def _sample_factors(strata: np.ndarray) -> np.ndarray:
    """Number of units of its stratum over that number less 1, `[unit]`; 1 where there is one, whose part is 0."""
    sizes = np.bincount(strata)[strata]
    return sizes / np.maximum(sizes - 1, 1)


def _stratum_means(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """The mean over its stratum of each unit, `[..., unit]`."""
    ends = np.cumsum(np.bincount(strata))
    parts = np.split(values, ends[:-1], axis=-1)
    return np.stack([total(part) / part.shape[-1] for part in parts], axis=-1)[..., strata]


def _spread(observed: float, error: Error, level: float) -> Spread:
    """The t interval around the observed score."""
    width = error.standard_error
    if width:
        width *= t_quantile(level, error.freedom)
    return Spread(error.standard_error, Interval(observed - width, observed + width))
