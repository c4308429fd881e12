r"""Standard errors by the delta method, $\sqrt{\sum_h \sum_{i \in h} (g \cdot (s_i - \bar s_h))^2}$, without resamples.

g is the gradient of the score at the sums, by central differences in NumPy, so that no number depends on the device. If
the score were linear, infinitely many bootstrap resamples of the units would give the same; for a mean, it is the
standard deviation (ddof = 0) divided by the root of the number of units. References: Efron and Tibshirani (1993),
section 21; Davison and Hinkley (1997), section 2.7.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sigjax.records import Array
from sigjax.testing.problem import Pair
from sigjax.units.sums import total

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
    error = float(norms(influences[None])[0])
    return error if error > math.sqrt(NO_VARIANCE) * largest else 0.0


def norms(rows: np.ndarray) -> np.ndarray:
    """2-norms `[row]` of rows `[row, number]`, also where squares leave the range of a double."""
    exponents = np.frexp(np.abs(rows).max(axis=1))[1]
    return np.ldexp(np.sqrt(total(np.square(np.ldexp(rows, -exponents[:, None])))), exponents)
