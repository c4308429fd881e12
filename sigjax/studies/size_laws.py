"""Thresholds by the size of the test set, and the laws that they follow, fitted on the log scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigjax.records import Test
from sigjax.studies.thresholds import Gained, ends_of


@dataclass(frozen=True)
class ThresholdAt:
    """A threshold at one size of the test set; see `Threshold` in `sigjax.studies.thresholds`.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range" or "normal", as in `gains`.
        order: which order of the instances, from 0; initial segments have one.
        size: number of instances (or clusters).
        threshold: the quantile of the gains; None where no pair is in the range.
        low: lower end of its interval for other systems like these; None as there.
        high: upper end; None as there.
        num_pairs: number of pairs behind it.
        effective_pairs: how many independent pairs would say as much.
    """

    metric: str
    test: Test
    by: Gained
    order: int
    size: int
    threshold: float | None
    low: float | None
    high: float | None
    num_pairs: int
    effective_pairs: float


@dataclass(frozen=True)
class Fitted:
    """A number from thresholds.

    Attributes:
        value: the number.
        error: its standard error: the standard deviation over the draws of systems (ddof = 1).
        low: lower end of its interval for other systems like these on the same instances; None where fewer than half of
            the draws give the number, and for an exponent where a threshold behind it has no upper end.
        high: upper end; None as for `low`, and always where a threshold behind it has no upper end.
    """

    value: float
    error: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SizeLaw:
    r"""How thresholds t fall with the size n.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range" or "normal", as in `gains`.
        constant: c of the law $t = c / \sqrt n$, the geometric mean of $t \sqrt n$.
        misfit: root mean square of $\log t - \log(c / \sqrt n)$, about the relative error of this law.
        exponent: e of the law $t = c' n^e$, by least squares of log t on log n; None with one size.
        free_constant: c' of that law; None with one size.
        gain: the gain that is to be significant; None where no system is better than another.
        needed: the size at which the threshold is this gain by the first law, $(c / gain)^2$; None without gain.
    """

    metric: str
    test: Test
    by: Gained
    constant: Fitted
    misfit: float
    exponent: Fitted | None
    free_constant: float | None
    gain: float | None
    needed: Fitted | None


class Drawn(NamedTuple):
    """A threshold, and what it is on each draw of systems."""

    point: ThresholdAt
    drawn: np.ndarray
    """[draw]"""


def fit_law(series: Sequence[Drawn], gain: float | None, level: float) -> SizeLaw | None:
    """The laws of some thresholds; None where there is none."""
    used = [each for each in series if each.point.threshold]
    if not used:
        return None
    first, sizes = used[0].point, np.array([each.point.size for each in used], float)
    observed = np.array([[each.point.threshold for each in used]], float)
    drawn = np.stack([each.drawn for each in used], axis=1)
    bounded = all(each.point.high is not None for each in used)

    def fitted(value: np.ndarray, on_draws: np.ndarray, *, slope: bool = False) -> Fitted:
        low, high = ends_of(on_draws, level)
        low = low if bounded or not slope else None
        defined = on_draws[np.isfinite(on_draws)]
        error = float(np.std(defined, ddof=1)) if len(defined) > 1 else math.nan
        return Fitted(float(value[0]), error, low, high if bounded else None)

    constant, constants = root_law(sizes, observed), root_law(sizes, drawn)
    several = len(set(sizes.tolist())) > 1
    exponent, exponents = (power_law(sizes, each) if several else None for each in (observed, drawn))
    return SizeLaw(
        metric=first.metric,
        test=first.test,
        by=first.by,
        constant=fitted(constant, constants),
        misfit=float(np.sqrt(np.mean(np.log(observed * np.sqrt(sizes) / constant) ** 2))),
        exponent=None if exponent is None or exponents is None else fitted(exponent[0], exponents[0], slope=True),
        free_constant=None if exponent is None else float(exponent[1][0]),
        gain=gain,
        needed=None if gain is None else fitted((constant / gain) ** 2, (constants / gain) ** 2),
    )


def root_law(sizes: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    r"""The constant c of $t = c / \sqrt n$ by least squares of log t, `[row]`; thresholds `[row, size]` may be NaN.

    Example:
        >>> root_law(np.array([100.0, 400.0]), np.array([[0.3, 0.15], [np.nan, 0.2]])).round(6)
        array([3., 4.])
    """
    logs = np.log(np.where(thresholds > 0.0, thresholds, np.nan)) + 0.5 * np.log(sizes)
    return np.exp(_mean(logs))


def power_law(sizes: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""E and c of $t = c n^e$ by least squares of log t on log n, each `[row]`; NaN with fewer than two sizes.

    Example:
        >>> power_law(np.array([10.0, 20.0, 40.0]), np.array([[8.0, 4.0, 2.0]]))[0].round(6)
        array([-1.])
    """
    logs = np.log(np.where(thresholds > 0.0, thresholds, np.nan))
    at = np.where(np.isnan(logs), np.nan, np.log(sizes))
    middle, mean = _mean(at), _mean(logs)
    apart = at - middle[:, None]
    spread = np.nansum(apart**2, axis=1)
    slope = np.nansum(apart * (logs - mean[:, None]), axis=1) / np.where(spread > 0.0, spread, np.nan)
    return slope, np.exp(mean - slope * middle)


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean of each row without NaN, which is NaN where there is nothing else."""
    count = np.count_nonzero(~np.isnan(values), axis=1)
    return np.nansum(values, axis=1) / np.where(count > 0, count, np.nan)
