"""Two arrays of two systems -> the comparison of one pair, in the manner of SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sigjax.comparison.compare import CompareOptions, compare
from sigjax.metrics import evaluation_from_arrays
from sigjax.records import Alternative, Comparison, Device, IntervalKind, Method, Resamples, Variant
from sigjax.records.metric import AnyMetric
from sigjax.records.options import option, same, takes, values

METRIC = "A name, a `Metric`, a `SampleMetric`, or a function of sums `[..., stat] -> [...]`."


@dataclass(frozen=True, kw_only=True)
class PermutationOptions:
    """The options of `permutation_test`."""

    metric: AnyMetric = option("mean", METRIC)
    method: Method = same(CompareOptions, "method")
    alternative: Alternative = same(CompareOptions, "alternative")
    resamples: Resamples = same(CompareOptions, "resamples")
    seed: int = same(CompareOptions, "seed")
    mid_p: bool = same(CompareOptions, "mid_p")
    budget: float | None = same(CompareOptions, "budget")
    memory: float = same(CompareOptions, "memory")
    device: Device = same(CompareOptions, "device")


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions:
    """The options of `bootstrap_test`."""

    metric: AnyMetric = option("mean", METRIC)
    method: Literal["auto", "exact", "montecarlo"] = same(CompareOptions, "method")
    alternative: Alternative = same(CompareOptions, "alternative")
    resamples: int = same(CompareOptions, "resamples")
    level: float = same(CompareOptions, "level")
    interval: IntervalKind = same(CompareOptions, "interval", "percentile")
    variant: Variant = same(CompareOptions, "variant")
    seed: int = same(CompareOptions, "seed")
    device: Device = same(CompareOptions, "device")


@takes(PermutationOptions)
def permutation_test(a: Any, b: Any, options: PermutationOptions) -> Comparison:
    r"""Paired permutation test (approximate or exact randomization) of two systems.

    Under the null hypothesis the two outputs of an instance may be swapped; p is the probability, over all swaps, of a
    delta at least as extreme as observed, ties included. Equivalent to `scipy.stats.permutation_test(...,
    permutation_type="samples")` for a difference of scores, but exact where few units or two statistics differ.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        options: see `PermutationOptions`.

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
    return _of_pair(a, b, interval="none", **values(options))


@takes(BootstrapOptions)
def bootstrap_test(a: Any, b: Any, options: BootstrapOptions) -> Comparison:
    r"""Paired bootstrap test of two systems, with the standard error and an interval of delta.

    Instances are drawn with replacement, the same for both systems; the null distribution is $\delta^* - \delta$:
    two-sided $|\delta^* - \delta| \ge |\delta|$, greater $\delta^* - \delta \ge \delta$, less $\delta^* - \delta \le
    \delta$.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        options: see `BootstrapOptions`.

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
    return _of_pair(a, b, test="bootstrap", **values(options))


def _of_pair(a: Any, b: Any, *, metric: AnyMetric, **options: Any) -> Comparison:
    (comparison,) = compare(evaluation_from_arrays({"a": a, "b": b}, metric=metric), progress=False, **options)
    return comparison
