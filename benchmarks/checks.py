"""Equal answers before any timing: equal integers, and Monte Carlo answers that agree within their sampling error."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from baselines import Spread
from scipy import stats
from workloads import Workload

from sigjax import Comparison, Report, compare

_ALLOWED = 5.0
"""Monte Carlo standard errors: about one false alarm in two million checks."""
_TAIL = 0.025


class Check(NamedTuple):
    """Two answers to one question."""

    what: str
    value: float
    reference: float
    error: float
    """Monte Carlo standard error of the difference."""
    step: float = 0.0
    """Distance between neighbouring values of delta: a quantile of a discrete law may be off by one of them."""

    @property
    def distance(self) -> float:
        """How many standard errors the answers are apart, beyond a step."""
        return max(0.0, abs(self.value - self.reference) - self.step) / self.error


def require(checks: list[Check]) -> None:
    """Stop when two answers are too far apart.

    Raises:
        AssertionError: they differ by more than five standard errors.
    """
    for check in checks:
        if not check.distance <= _ALLOWED:
            raise AssertionError(
                f"{check.what}: {check.value:.6g} and {check.reference:.6g} are {check.distance:.1f} Monte Carlo "
                f"standard errors ({check.error:.2g}) apart; expected at most {_ALLOWED:g}"
            )


def check_records(checks: list[Check]) -> list[dict[str, Any]]:
    """The checks as plain values for JSON."""
    return [check._asdict() | {"distance": check.distance} for check in checks]


def require_equal_counts(first: Report, second: Report) -> None:
    """NumPy and JAX draw the same resamples: the exceed counts are the same integers.

    Raises:
        AssertionError: a pair has different counts.
    """
    for one, other in zip(first, second, strict=True):
        if one.exceed is None or one.exceed != other.exceed:
            raise AssertionError(f"{one.a} and {one.b}: counts {one.exceed} and {other.exceed} on two devices")


def swap_checks(what: str, workload: Workload, ours: Comparison, theirs: float, resamples: int) -> list[Check]:
    """A p-value against ours, with the binomial error of both."""
    del workload
    return [p_check(what, theirs, ours, resamples)]


def swap_reference(workload: Workload, ours: Comparison) -> list[Check]:
    """For 0/1: p against our exact p, and that against the binomial test of the instances where the systems differ."""
    if workload.step == 0.0:
        return []
    (exact,) = compare(workload.evaluation, method="exact", interval="none")
    difference = (workload.pair.a - workload.pair.b)[:, 0]
    wins, differ = int(np.sum(difference > 0)), int(np.count_nonzero(difference))
    binomial = float(stats.binomtest(wins, differ).pvalue)
    if not math.isclose(exact.p_value, binomial, rel_tol=1e-9):
        raise AssertionError(f"exact p-values differ: {exact.p_value!r} (sigjax) and {binomial!r} (binomial test)")
    return [Check("sigjax and exact p: p", ours.p_value, exact.p_value, p_error(exact.p_value, _resamples(ours)))]


def bootstrap_checks(what: str, workload: Workload, ours: Comparison, theirs: Spread, resamples: int) -> list[Check]:
    """Bootstrap p, standard error and interval against ours; errors by the normal approximation to the law of delta.

    Of a standard error: `se / sqrt(2 K)`. Of the quantile q: `sqrt(q (1 - q) / K) / density`.
    """
    if ours.standard_error is None or ours.interval is None:
        raise AssertionError(f"{what}: expected a standard error and an interval")
    sampling = math.sqrt(1.0 / resamples + 1.0 / _resamples(ours))
    normal = NormalDist()
    density = normal.pdf(normal.inv_cdf(_TAIL)) / ours.standard_error
    of_end = math.sqrt(_TAIL * (1.0 - _TAIL)) * sampling / density
    return [
        p_check(what, theirs.p_value, ours, resamples),
        Check(f"{what}: standard error", theirs.standard_error, ours.standard_error, _of_spread(ours, sampling)),
        Check(f"{what}: low end", theirs.low, ours.interval.low, of_end, workload.step),
        Check(f"{what}: high end", theirs.high, ours.interval.high, of_end, workload.step),
    ]


def bootstrap_reference(workload: Workload, ours: Comparison) -> list[Check]:
    """Our standard error against the closed form, which a difference of means has."""
    if workload.step == 0.0 or ours.standard_error is None:
        return []
    difference = workload.pair.a - workload.pair.b
    closed_form = float(np.std(difference) / math.sqrt(len(difference)))
    error = _of_spread(ours, math.sqrt(1.0 / _resamples(ours)))
    return [Check("sigjax and closed form: standard error", ours.standard_error, closed_form, error)]


def p_check(what: str, p_value: float, ours: Comparison, resamples: int) -> Check:
    """A Monte Carlo p-value against ours."""
    return Check(f"{what}: p", p_value, ours.p_value, p_error(ours.p_value, resamples, _resamples(ours)))


def p_error(p_value: float, *resamples: int) -> float:
    """Standard error of the difference of Monte Carlo p-values; a p of less than one resample counts as one."""
    variance = max(p_value * (1.0 - p_value), 1.0 / min(resamples))
    return math.sqrt(variance * sum(1.0 / count for count in resamples))


def _of_spread(ours: Comparison, sampling: float) -> float:
    return (ours.standard_error or math.nan) * sampling / math.sqrt(2.0)


def _resamples(comparison: Comparison) -> int:
    if comparison.resamples is None:
        raise AssertionError("expected a Monte Carlo answer")
    return comparison.resamples
