"""Equivalence: are two systems alike up to a margin, or is one not worse than the other by more than that?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np

from sigjax.checks import as_plain, check_evaluations, check_settings
from sigjax.inference.corrections import adjust
from sigjax.inference.equivalence import dual_interval, margin_exceed
from sigjax.inference.intervals import standard_error
from sigjax.inference.outcome import Case, NotFinite, SampleCase
from sigjax.inference.pvalues import montecarlo_p
from sigjax.inference.sample import sample_replicates
from sigjax.inference.together import system_replicates
from sigjax.leaderboard import make_case
from sigjax.records import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Array,
    Correction,
    Device,
    Evaluation,
    InputError,
    Metric,
    SampleMetric,
    Settings,
    Variant,
)
from sigjax.resample.backend import NUMPY, choose_backend, numpy_seconds
from sigjax.resample.engine import Run
from sigjax.resample.scope import host_scope
from sigjax.studies.records import Claim, Equivalence
from sigjax.studies.trials import share_interval


def equivalence_test(
    a: Any,
    b: Any,
    *,
    margin: float,
    claim: Claim = "equivalence",
    metric: str | Metric | SampleMetric | Callable[[Array], Array] = "mean",
    resamples: int = DEFAULT_RESAMPLES,
    level: float = DEFAULT_LEVEL,
    variant: Variant = "shift",
    seed: int = DEFAULT_SEED,
    device: Device = "auto",
) -> Equivalence:
    r"""Test that two systems are alike up to a margin: two one-sided paired bootstrap tests (TOST).

    The null hypotheses are $\delta \le -m$ and $\delta \ge m$; equivalence is shown where both are rejected, so that
    p is the larger of their p-values, without correction (an intersection-union test). Each is the one-sided bootstrap
    test with its null distribution moved to the margin: $p = (c + 1) / (K + 1)$ with the counts $\delta^* - \delta - m
    \ge \delta$ and $\delta^* - \delta + m \le \delta$ of K resamples, ties included. A large p of a test for
    differences shows nothing of the kind.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        margin: the largest difference that does not matter, above 0, on the scale of the metric; fix it beforehand.
        claim: "equivalence", or "non-inferiority": a is not worse than b by the margin, one of the two tests.
        metric: a name, a `Metric`, a `SampleMetric`, or a function of sums `[..., stat] -> [...]`.
        resamples: number of bootstrap resamples.
        level: 1 - alpha; the interval has the level 1 - 2 alpha.
        variant: "shift" as above (its interval is the basic one), or "flip": the null distribution is that of $\delta -
            \delta^*$, the counts are $\delta^* \le -m$ and $\delta^* \ge m$, and the interval is the percentile one.
        seed: a whole number from 0; the same seed gives the same result on every device.
        device: see `compare`.

    Raises:
        InputError: a margin that is not above 0, an option outside its domain, one instance, data or a metric that
            cannot be used.

    Reference: Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach"; Efron and
    Tibshirani (1993), chapter 25.

    Example:
        >>> result = equivalence_test([5, 4, 6, 5, 4, 5, 6, 5], [5, 5, 5, 5, 5, 4, 6, 5], margin=1.0)
        >>> result.delta, result.interval, result.holds
        (0.0, Interval(low=-0.375, high=0.375), True)
    """
    evaluation = Evaluation.from_arrays({"a": a, "b": b}, metric=metric)
    (found,) = equivalence(
        evaluation,
        margin=margin,
        claim=claim,
        resamples=resamples,
        level=level,
        variant=variant,
        seed=seed,
        device=device,
    )
    return found


def equivalence(
    evaluation: Evaluation | Sequence[Evaluation],
    *,
    margin: float,
    claim: Claim = "equivalence",
    baseline: str | None = None,
    correction: Correction = "holm",
    resamples: int = DEFAULT_RESAMPLES,
    level: float = DEFAULT_LEVEL,
    variant: Variant = "shift",
    seed: int = DEFAULT_SEED,
    device: Device = "auto",
) -> tuple[Equivalence, ...]:
    """`equivalence_test` of all pairs of systems, or of each system against a baseline, on the same resamples.

    Args:
        evaluation: see `compare`.
        margin: see `equivalence_test`; the same for all pairs.
        claim: see `equivalence_test`; of non-inferiority, the first system of a pair is claimed not to be worse.
        baseline: see `compare`.
        correction: see `compare`; all but "maxt", which belongs to the permutation test.
        resamples: see `equivalence_test`.
        level: see `equivalence_test`.
        variant: see `equivalence_test`.
        seed: see `equivalence_test`.
        device: see `compare`.

    Raises:
        InputError: see `equivalence_test`.

    Example:
        >>> scores = {"A": [5, 4, 6, 5, 4, 5, 6, 5], "B": [5, 5, 5, 5, 5, 4, 6, 5], "C": [9, 9, 8, 9, 7, 9, 9, 9]}
        >>> [(each.a, each.b, each.holds) for each in equivalence(Evaluation.from_arrays(scores), margin=1.0)]
        [('A', 'B', True), ('A', 'C', False), ('B', 'C', False)]
    """
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
    resamples, level, seed, margin = map(as_plain, (resamples, level, seed, margin))
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0.0 < margin < float("inf"):
        raise InputError(f"margin must be a number above 0, on the scale of the metric, got {margin!r}")
    if claim not in get_args(Claim):
        raise InputError(f"claim must be one of {', '.join(get_args(Claim))}, got {claim!r}")
    if correction == "maxt":
        raise InputError("correction maxt belongs to the permutation test; use holm, hochberg or bonferroni here")
    settings = Settings(
        ("bootstrap",), "montecarlo", resamples, seed, baseline=baseline, correction=correction, level=level,
        variant=variant,
    )  # fmt: skip
    check_settings(settings, device)
    if level <= 0.5:
        raise InputError(f"level must be above 0.5 here, such as 0.95, got {level!r}")
    check_evaluations(evaluations, settings)
    asked = _Asked(float(margin), claim, settings)
    with host_scope():
        return tuple(found for each in evaluations for found in _of_metric(each, asked, device))


class _Asked(NamedTuple):
    margin: float
    claim: Claim
    settings: Settings


def _of_metric(evaluation: Evaluation, asked: _Asked, device: Device) -> list[Equivalence]:
    """All pairs by one metric."""
    try:
        case = make_case(evaluation, asked.settings)
        if len(case.units.strata) < 2:
            raise InputError("equivalence needs at least two units (instances, or clusters of them), got one")
        replicates = _replicates(case, device)
    except NotFinite as error:
        system = evaluation.systems[error.systems[0]]
        raise InputError(
            f"metric {evaluation.metric.name!r} is not a finite number for {system!r} on the data or a resample of it; "
            "have it return a number everywhere, also where a denominator is 0"
        ) from None
    found = [_of_pair(evaluation, case, pair, replicates, asked) for pair in case.question.pairs]
    adjusted = adjust(np.array([each.p_value for each in found]), asked.settings.correction).tolist()
    alpha = asked.settings.alpha
    return [replace(each, p_adjusted=p, holds=p < alpha) for each, p in zip(found, adjusted, strict=True)]


def _replicates(case: Case | SampleCase, device: Device) -> np.ndarray:
    """Bootstrap scores `[system, resample]`.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    resamples, seed = case.settings.fixed_resamples, case.settings.seed
    if isinstance(case, SampleCase):
        choose_backend(device, numpy_seconds=0.0)  # which must be there, but the CPU does the work
        pieces = sample_replicates(case, Run(resamples, seed, NUMPY))
    else:
        num_systems, num_units, num_stats = case.units.values.shape
        columns = num_systems * num_stats
        seconds = numpy_seconds(resamples=resamples, units=num_units, columns=columns, scored=columns, counted=True)
        pieces = system_replicates(case, Run(resamples, seed, choose_backend(device, numpy_seconds=seconds)))
    found = np.concatenate([piece for _, piece in pieces], axis=1)
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        raise NotFinite((int(np.argmin(finite)),))
    return found


def _of_pair(
    evaluation: Evaluation, case: Case | SampleCase, pair: tuple[int, int], replicates: np.ndarray, asked: _Asked
) -> Equivalence:
    settings, (a, b), delta = asked.settings, pair, case.question.delta(pair)
    deltas = replicates[a] - replicates[b]
    counts = margin_exceed(deltas, delta, asked.margin, case.question.tolerance(pair), settings.variant)
    above, below = (float(montecarlo_p(count, settings.fixed_resamples)) for count in counts)
    if asked.claim == "equivalence":
        exceed = max(counts)
    else:
        exceed = counts[0] if evaluation.metric.higher_is_better else counts[1]
    p_value = float(montecarlo_p(exceed, settings.fixed_resamples))
    interval_level = round(2.0 * settings.level - 1.0, 12)
    return Equivalence(
        a=evaluation.systems[a],
        b=evaluation.systems[b],
        metric=evaluation.metric.name,
        claim=asked.claim,
        margin=asked.margin,
        score_a=case.question.scores[a],
        score_b=case.question.scores[b],
        delta=delta,
        p_lower=above,
        p_upper=below,
        p_value=p_value,
        p_interval=share_interval(exceed, settings.fixed_resamples, settings.level),
        p_adjusted=p_value,
        holds=p_value < settings.alpha,
        interval=dual_interval(deltas, delta, interval_level, settings.variant),
        interval_level=interval_level,
        standard_error=standard_error(deltas),
        exceed=exceed,
        settings=settings,
    )
