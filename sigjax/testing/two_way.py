r"""Two-way intervals: confidence intervals for new units and new runs, if runs are trained models.

Let x[u, r] be the influence that the result of run r on unit u has on a score: g . s, where s are the statistics of
this result, and g is the gradient of the score with respect to the sums of statistics. The variance of x[u, r] has
three parts: a part that all runs of a unit share, a part that all units of a run share, and a rest. Let there be U
units and R runs, with the row sums x[u, .] and the column sums x[., r]. The residual of x[u, r] is what remains after
subtracting the means of its row and of its column, and adding the mean of all x. The parts of the variance V of the
score are estimated from sums of squares:

    V_units = U / (U - 1) sum_u (x[u, .] - mean)^2       V_rest = UR / ((U - 1) (R - 1)) sum_ur (residual of x[u, r])^2
    V_runs  = R / (R - 1) sum_r (x[., r] - mean)^2       V = max(V_units + V_runs - V_rest, V_units, V_runs)

V_units and V_runs both contain the rest, so it is subtracted once. This is the estimate by the method of moments for a
linear mixed model with crossed random effects. For a delta, x[u, .] are differences between the two systems, because
both systems saw the same units. V_runs and V_rest are sums over both systems, because runs of different systems are
assumed independent. If there are strata, V_units and V_rest are sums over strata, each with its own means and its own
number of units in place of U.

The interval is score +- t sqrt(V), where t has the degrees of freedom of Satterthwaite (1946), V^2 / sum_k (V_k^2 /
f_k) over the parts k. f_k is U - 1 for the units, R - 1 for the runs of each system, and (U - 1) (R - 1) for the rest
of each system. With strata, U - 1 becomes U minus the number of strata. Because V_rest is subtracted, this formula can
give too few degrees of freedom if there are few units. So at least the smaller of U - 1 and R - 1 is used. The variance
of a two-way bootstrap (Owen 2007) is too small by the factor 1 - 1 / R, and its intervals are not based on t.
References: Searle, Casella and McCulloch (1992), "Variance components"; Cameron, Gelbach and Miller (2011), "Robust
inference with multiway clustering".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sigjax.records import Score
from sigjax.records.settings import bonferroni_level
from sigjax.resample.units import Units, total, variance
from sigjax.testing.delta_method import NO_VARIANCE, delta_method_influences, sample_factors
from sigjax.testing.problem import Pair, SumsProblem, check_finite
from sigjax.testing.special import t_quantile


def two_way_intervals(problem: SumsProblem, joint_pairs: int = 1) -> np.ndarray:
    """Return the standard error and the interval ends of each score, then of each delta, `[target, 3]`.

    The intervals of deltas are at a level that makes `joint_pairs` of them simultaneous, by Bonferroni's inequality.
    """
    hypotheses, level = problem.hypotheses, problem.settings.confidence_level
    of_systems, of_pairs = two_way_errors(problem.units, problem.metric.score, hypotheses.pairs)
    check_finite(of_systems[:, :1])

    def around(observed: np.ndarray, found: np.ndarray, level: float) -> np.ndarray:
        """Return standard errors and t intervals around the `observed` values, `[target, 3]`.

        `found` `[target, 2]` are the standard errors with their degrees of freedom.
        """
        widths = np.array([error * t_quantile(level, freedom) if error else 0.0 for error, freedom in found.tolist()])
        return np.stack([found[:, 0], observed - widths, observed + widths], axis=1)

    of_deltas = around(hypotheses.deltas, of_pairs, bonferroni_level(level, joint_pairs))
    return np.concatenate([around(np.array(hypotheses.scores), of_systems, level), of_deltas])


@np.errstate(all="ignore")
def two_way_errors(units: Units, score: Score, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """Return standard errors with their degrees of freedom: `[system, 2]` for scores, and `[pair, 2]` for deltas.

    `score` computes scores from sums `[..., stat]`. Every unit must have a result of every run. A standard error is not
    finite if the slope of the score is not finite. A standard error of 0 has infinitely many degrees of freedom.

    >>> from sigjax import Evaluation
    >>> from sigjax.resample.units import make_units
    >>> arrays = {"A": [3, 5, 1, 3], "B": [0, 0, 0, 4]}
    >>> evaluation = Evaluation.from_arrays(arrays, ids=["x", "x", "y", "y"], runs=[1, 2, 1, 2])
    >>> both = two_way_errors(make_units(evaluation, "models"), evaluation.metric.score, [(0, 1)])
    >>> np.concatenate(both).round(6).tolist()
    [[1.414214, 2.0], [1.0, 1.0], [2.236068, 1.315789]]
    """
    assert units.outputs is not None
    num_runs, strata = int(units.outputs.sizes[0]), units.strata
    cells = units.unscaled(units.outputs.values.astype(np.float64))
    found, largest = delta_method_influences(cells, np.repeat(strata, num_runs), score)
    scale = 2.0 ** math.frexp(float(np.abs(found).max()))[1]  # squares stay within the range of a double
    table = (found / scale).reshape(len(found), len(strata), num_runs)
    of_units, (of_runs, of_rest) = total(table), _of_runs(table, strata)
    freedom = len(strata) - len(np.unique(strata))

    def error(influence: np.ndarray, systems: list[int]) -> tuple[float, float]:
        runs, rest = of_runs[systems], of_rest[systems]  # V_runs and V_rest of these systems
        own = float(total(np.square(influence - _stratum_means(influence, strata)) * sample_factors(strata)))
        square = max(own + runs.sum() - rest.sum(), own, runs.sum())
        if square <= NO_VARIANCE * (largest[systems].sum() / scale) ** 2:
            return 0.0, math.inf
        less = max(freedom, 1)  # with one unit in each stratum, V_units is 0
        spread = own**2 / less + (runs**2).sum() / (num_runs - 1) + (rest**2).sum() / (less * (num_runs - 1))
        # At least the degrees of freedom of the smallest part: fewer can only come from subtracting V_rest.
        fewest = min(num_runs - 1, less)
        return math.sqrt(square) * scale, max(float(square**2 / spread), float(fewest))

    of_systems = np.array([error(of_system, [system]) for system, of_system in enumerate(of_units)])
    return of_systems, np.array([error(of_units[a] - of_units[b], [a, b]) for a, b in pairs]).reshape(-1, 2)


def _of_runs(table: np.ndarray, strata: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two parts of the variance of each score, `[system]`: the part V_runs of the runs, and the rest V_rest.

    `table` `[system, unit, run]` are the influences on scores. The formulas are at the top of this file.
    """
    num_systems, num_units, num_runs = table.shape
    by_run = table.swapaxes(1, 2)
    of_runs = total(by_run)
    within = by_run - (total(table) / num_runs)[:, None]
    rest = np.square(within - _stratum_means(within, strata)) * sample_factors(strata)
    factor = num_runs / (num_runs - 1)
    return num_runs * variance(of_runs), factor * total(rest.reshape(num_systems, num_units * num_runs))


def _stratum_means(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Return for each unit the mean of `values` `[..., unit]` in its stratum, `[..., unit]`."""
    ends = np.cumsum(np.bincount(strata))
    parts = np.split(values, ends[:-1], axis=-1)
    return np.stack([total(part) / part.shape[-1] for part in parts], axis=-1)[..., strata]
