"""Two arrays of two systems -> the comparison of one pair, in the manner of SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sigjax.comparison.compare import compare
from sigjax.metrics import evaluation_from_arrays
from sigjax.records import (
    DEFAULT_LEVEL,
    DEFAULT_MEMORY,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Alternative,
    Array,
    Comparison,
    Device,
    IntervalKind,
    Method,
    Metric,
    Resamples,
    SampleMetric,
    Variant,
)


def permutation_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | SampleMetric | Callable[[Array], Array] = "mean",
    method: Method = "auto",
    alternative: Alternative = "two-sided",
    resamples: Resamples = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    mid_p: bool = False,
    budget: float | None = None,
    memory: float = DEFAULT_MEMORY,
    device: Device = "auto",
) -> Comparison:
    r"""Paired permutation test (approximate or exact randomization) of two systems.

    Under the null hypothesis the two outputs of an instance may be swapped; p is the probability, over all swaps, of a
    delta at least as extreme as observed, ties included. Equivalent to `scipy.stats.permutation_test(...,
    permutation_type="samples")` for a difference of scores, but exact where few units or two statistics differ.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        metric: a name, a `Metric`, a `SampleMetric`, or a function of sums `[..., stat] -> [...]`.
        method: see `compare`.
        alternative: see `compare`.
        resamples: see `compare`.
        seed: see `compare`.
        mid_p: see `compare`.
        budget: see `compare`.
        memory: see `compare`.
        device: see `compare`.

    Returns:
        The `Comparison` of systems "a" and "b", without intervals of the scores.

    Raises:
        InputError: see `compare`.

    Reference: Yeh (2000), "More accurate tests for the statistical significance of result differences"; Zmigrod et al.
    (2022), "Exact paired-permutation testing for structured test statistics".

    Example:
        >>> permutation_test([3, 2, 4, 5], [1, 1, 1, 1], alternative="greater").p_value
        0.0625
    """
    evaluation = evaluation_from_arrays({"a": a, "b": b}, metric=metric)
    (comparison,) = compare(
        evaluation,
        method=method,
        alternative=alternative,
        resamples=resamples,
        seed=seed,
        interval="none",
        mid_p=mid_p,
        budget=budget,
        memory=memory,
        device=device,
        progress=False,
    )
    return comparison


def bootstrap_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | SampleMetric | Callable[[Array], Array] = "mean",
    method: Literal["auto", "exact", "montecarlo"] = "auto",
    alternative: Alternative = "two-sided",
    resamples: int = DEFAULT_RESAMPLES,
    level: float = DEFAULT_LEVEL,
    interval: IntervalKind = "percentile",
    variant: Variant = "shift",
    seed: int = DEFAULT_SEED,
    device: Device = "auto",
) -> Comparison:
    r"""Paired bootstrap test of two systems, with the standard error and an interval of delta.

    Instances are drawn with replacement, the same for both systems; the null distribution is $\delta^* - \delta$:
    two-sided $|\delta^* - \delta| \ge |\delta|$, greater $\delta^* - \delta \ge \delta$, less $\delta^* - \delta \le
    \delta$.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        metric: a name, a `Metric`, a `SampleMetric`, or a function of sums `[..., stat] -> [...]`.
        method: see `compare`.
        alternative: see `compare`.
        resamples: see `compare`.
        level: see `compare`.
        interval: see `compare`.
        variant: see `compare`.
        seed: see `compare`.
        device: see `compare`.

    Returns:
        The `Comparison` of systems "a" and "b".

    Raises:
        InputError: see `compare`; also for a single instance.

    Reference: Berg-Kirkpatrick et al. (2012), "An empirical investigation of statistical significance in NLP".

    Example:
        >>> result = bootstrap_test([3, 2, 4, 5], [1, 1, 1, 1])
        >>> result.delta, result.interval
        (2.5, Interval(low=1.5, high=3.5))
    """
    evaluation = evaluation_from_arrays({"a": a, "b": b}, metric=metric)
    (comparison,) = compare(
        evaluation,
        test="bootstrap",
        method=method,
        alternative=alternative,
        resamples=resamples,
        level=level,
        interval=interval,
        variant=variant,
        seed=seed,
        device=device,
        progress=False,
    )
    return comparison
