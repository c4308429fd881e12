"""The front door: Evaluation -> Report. It checks what is asked and puts the leaderboards of the metrics together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, get_args

import numpy as np

from sigjax.leaderboard import leaderboard
from sigjax.records import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Alternative,
    Array,
    Comparison,
    Correction,
    Device,
    Evaluation,
    InputError,
    IntervalKind,
    Method,
    Metric,
    Report,
    Settings,
    Test,
)
from sigjax.resample.backend import double_precision
from sigjax.version import __version__


def compare(
    evaluation: Evaluation | Sequence[Evaluation],
    *,
    test: Test | Sequence[Test] = "permutation",
    method: Method = "auto",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    alternative: Alternative = "two-sided",
    baseline: str | None = None,
    correction: Correction = "holm",
    level: float = DEFAULT_LEVEL,
    interval: IntervalKind = "percentile",
    device: Device = "auto",
    progress: bool = True,
) -> Report:
    """Test which systems differ by more than chance: all pairs, or each system against a baseline.

    Args:
        evaluation: the statistics of the systems (`sigjax.read`, `Evaluation.from_arrays`), or several evaluations of
            the same systems on the same instances, one a metric.
        test: "permutation", "bootstrap", or both.
        method: "exact" (without sampling), "montecarlo", or "auto": exact where that is possible at little cost. The
            bootstrap always samples.
        resamples: number of Monte Carlo resamples.
        seed: a whole number from 0; the same seed gives the same report on every device.
        alternative: "two-sided": |delta*| >= |delta|; "greater": delta* >= delta; "less": delta* <= delta, where delta
            is the score of the first system of a pair (in the order of the data) minus that of the second.
        baseline: compare each system (a) with this one (b) instead of all pairs.
        correction: how p-values are adjusted for the number of pairs, within each metric and test.
        level: confidence level of all intervals, between 0 and 1.
        interval: "percentile" bootstrap intervals and standard errors, or "none" to leave the bootstrap out.
        device: "auto", "numpy", "cpu" or "gpu"; changes the time, never the numbers.
        progress: whether to draw a progress bar when stderr is a terminal.

    Returns:
        A `Report`: iterate over its `Comparison` records, print it, or use its `to_...` methods.

    Raises:
        InputError: an option or the data cannot be used; the message says which and what to do.

    Example:
        >>> scores = {"A": [1, 1, 1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0, 0, 0]}
        >>> report = compare(Evaluation.from_arrays(scores, metric="accuracy"))
        >>> [(c.a, c.b, c.delta, round(c.p_value, 6), c.method) for c in report]
        [('A', 'B', 0.75, 0.03125, 'exact')]
    """
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
    tests: tuple[Test, ...] = (test,) if isinstance(test, str) else tuple(test)
    resamples, seed, level = (_plain(number) for number in (resamples, seed, level))
    settings = Settings(tests, method, resamples, seed, alternative, baseline, correction, level, interval)
    _check_settings(settings, device)
    _check_evaluations(evaluations, settings)
    with double_precision():
        boards = [leaderboard(each, settings, device, progress=progress) for each in evaluations]
    return Report(
        systems=tuple(system for board in boards for system in board.systems),
        comparisons=tuple(comparison for board in boards for comparison in board.comparisons),
        settings=settings,
        num_instances=len(evaluations[0].ids),
        num_units=boards[0].num_units,
        lower_is_better=tuple(each.metric.name for each in evaluations if not each.metric.higher_is_better),
        notes=tuple(dict.fromkeys(note for board in boards for note in board.notes)),
        signature=_signature(evaluations, settings, boards[0].num_units),
    )


def permutation_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | Callable[[Array], Array] = "mean",
    method: Method = "auto",
    alternative: Alternative = "two-sided",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    device: Device = "auto",
) -> Comparison:
    r"""Paired permutation test (approximate or exact randomization) of two systems.

    Under the null hypothesis the two outputs of an instance may be swapped; p is the probability, over all swaps, of a
    delta at least as extreme as observed, ties included. Equivalent to `scipy.stats.permutation_test(...,
    permutation_type="samples")` for a difference of scores, but exact wherever one statistic differs.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        metric: a name, a `Metric`, or a function of sums `[..., stat] -> [...]`.
        method: see `compare`.
        alternative: see `compare`.
        resamples: see `compare`.
        seed: see `compare`.
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
    evaluation = Evaluation.from_arrays({"a": a, "b": b}, metric=metric)
    (comparison,) = compare(
        evaluation,
        method=method,
        alternative=alternative,
        resamples=resamples,
        seed=seed,
        interval="none",
        device=device,
        progress=False,
    )
    return comparison


def bootstrap_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | Callable[[Array], Array] = "mean",
    alternative: Alternative = "two-sided",
    resamples: int = DEFAULT_RESAMPLES,
    level: float = DEFAULT_LEVEL,
    interval: IntervalKind = "percentile",
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
        metric: a name, a `Metric`, or a function of sums `[..., stat] -> [...]`.
        alternative: see `compare`.
        resamples: see `compare`.
        level: see `compare`.
        interval: see `compare`.
        seed: see `compare`.
        device: see `compare`.

    Returns:
        The `Comparison` of systems "a" and "b".

    Raises:
        InputError: see `compare`; also for a single instance.

    Reference: Berg-Kirkpatrick et al. (2012), "An empirical investigation of statistical significance in NLP".

    Example:
        >>> result = bootstrap_test([3, 2, 4, 5], [1, 1, 1, 1], resamples=1000)
        >>> result.delta, result.interval
        (2.5, Interval(low=1.5, high=3.75))
    """
    evaluation = Evaluation.from_arrays({"a": a, "b": b}, metric=metric)
    (comparison,) = compare(
        evaluation,
        test="bootstrap",
        alternative=alternative,
        resamples=resamples,
        level=level,
        interval=interval,
        seed=seed,
        device=device,
        progress=False,
    )
    return comparison


def _plain(number: Any) -> Any:
    """A number of NumPy as one of Python; anything else as it is."""
    return number.item() if isinstance(number, np.generic) else number


def _check_settings(settings: Settings, device: Device) -> None:
    """Refuse options outside their domain."""
    choices = {
        "method": (settings.method, get_args(Method)),
        "alternative": (settings.alternative, get_args(Alternative)),
        "correction": (settings.correction, get_args(Correction)),
        "interval": (settings.interval, get_args(IntervalKind)),
        "device": (device, get_args(Device)),
    }
    for option, (value, allowed) in [*choices.items(), *(("test", (test, get_args(Test))) for test in settings.tests)]:
        if value not in allowed:
            raise InputError(f"{option} must be one of {', '.join(allowed)}, got {value!r}")
    if not settings.tests or len(set(settings.tests)) < len(settings.tests):
        raise InputError(f"test must name one or more different tests, got {settings.tests!r}")
    for option, value, least, most in (
        ("resamples", settings.resamples, 2, 2**32 * 1024),
        ("seed", settings.seed, 0, 2**64 - 1),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InputError(f"{option} must be a whole number from {least} to {most}, got {value!r}")
    if not isinstance(settings.level, float) or not 0.0 < settings.level < 1.0:
        raise InputError(f"level must be a number between 0 and 1, such as 0.95, got {settings.level!r}")
    if settings.method == "exact" and "bootstrap" in settings.tests:
        raise InputError('the bootstrap test samples; use method "auto" with it')


def _check_evaluations(evaluations: Sequence[Evaluation], settings: Settings) -> None:
    """Refuse evaluations that do not belong together, and a baseline that is not there."""
    if not all(isinstance(each, Evaluation) for each in evaluations):
        raise InputError("expected an Evaluation, as sigjax.read and Evaluation.from_arrays give it, or a list of them")
    if not evaluations:
        raise InputError("there is no evaluation to compare on")
    first = evaluations[0]
    for other in evaluations[1:]:
        same = (other.systems, other.ids, other.clusters, other.strata) == (
            first.systems,
            first.ids,
            first.clusters,
            first.strata,
        )
        if not same:
            raise InputError(
                "the evaluations differ in their systems, instances, clusters or strata; compare them apart"
            )
    names = [each.metric.name for each in evaluations]
    if len(set(names)) < len(names):
        raise InputError(f"two evaluations have the metric {max(names, key=names.count)!r}; give each metric once")
    if settings.baseline is not None and settings.baseline not in first.systems:
        close = get_close_matches(settings.baseline, first.systems) or first.systems[:12]
        raise InputError(f"baseline {settings.baseline!r} is not a system; did you mean {' or '.join(close)}?")


def _signature(evaluations: Sequence[Evaluation], settings: Settings, num_units: int) -> str:
    """One line from which the numbers can be made again, in the manner of sacrebleu."""
    unit = "instance" if evaluations[0].clusters is None else "cluster"
    parts = {
        "metric": "+".join(each.metric.name for each in evaluations),
        "test": "+".join(settings.tests),
        "method": settings.method,
        "n": settings.resamples,
        "seed": settings.seed,
        "alt": settings.alternative,
        "ties": "ge",
        "systems": len(evaluations[0].systems),
        "units": f"{num_units} {unit}s",
        "strata": None if evaluations[0].strata is None else len(set(evaluations[0].strata)),
        "baseline": settings.baseline,
        "correction": settings.correction,
        "interval": settings.interval,
        "level": settings.level,
        "sigjax": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items() if value is not None)
