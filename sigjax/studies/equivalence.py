"""Equivalence: are two systems alike up to a margin, or is one not worse than the other by more than that?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sigjax.bootstrap.registry import in_closed_form
from sigjax.comparison.data import list_evaluations
from sigjax.comparison.metric_kinds import make_case
from sigjax.comparison.options import BootstrapOptions, CompareOptions
from sigjax.comparison.validate import baseline_of, check_evaluations, check_units, named_errors
from sigjax.metrics import evaluation_from_arrays
from sigjax.records import Device, Evaluation, InputError, Settings, Variant
from sigjax.records.corrections import PValueCorrection, adjust
from sigjax.records.metric import AnyMetric
from sigjax.records.options import check, option, required, same, values
from sigjax.records.signatures import takes
from sigjax.run.backend import host_scope
from sigjax.studies.formulas import share_interval
from sigjax.studies.records import Claim, Equivalence, EquivalenceMethod
from sigjax.studies.tost import Tested, bootstrap_tests, closed_tests, interval_level
from sigjax.testing.problem import Case, Pair, SampleCase
from sigjax.testing.runner import Runner


@dataclass(frozen=True, kw_only=True)
class EquivalenceOptions:
    """The options of both functions."""

    margin: float = required(
        "Largest score difference that does not matter; fix it beforehand.", above=0, group="Main options"
    )
    claim: Claim = option(
        "equivalence", "Equivalence; or non-inferiority: the first system is not worse by the margin."
    )
    method: EquivalenceMethod = option(
        "auto",
        "Tests: auto, or bootstrap tests for every metric.",
        'With "auto", those of the intervals that `compare` gives by default, and bootstrap tests for a '
        "`SampleMetric`. Bootstrap tests find equivalence too often with fewer than 30 units.",
    )
    resamples: int = same(Settings, "resamples", doc="Number of bootstrap resamples.", more="")
    level: float = same(
        Settings, "level", doc="1 - alpha; intervals have the level 1 - 2 alpha.", above=0.5, group="Test"
    )
    variant: Variant = same(
        Settings,
        "variant",
        doc="Null of the bootstrap tests: delta* - delta (shift) or delta - delta* (flip).",
        more="With shift, intervals are the basic ones. With flip, the counts are "
        r"$\delta^* \le -m$ and $\delta^* \ge m$, and intervals are the percentile ones.",
    )
    seed: int = same(Settings, "seed")
    device: Device = same(CompareOptions, "device")


@dataclass(frozen=True, kw_only=True)
class EquivalencePairOptions(EquivalenceOptions):
    """The options of `equivalence_test`."""

    metric: AnyMetric = same(BootstrapOptions, "metric")


@dataclass(frozen=True, kw_only=True)
class EquivalencePairsOptions(EquivalenceOptions):
    """The options of `equivalence`."""

    baseline: str | None = same(Settings, "baseline")
    correction: PValueCorrection = same(
        Settings, "correction", more='Not "maxt" or "minp", which need the permutation test.'
    )


@takes(EquivalencePairOptions)
def equivalence_test(a: Any, b: Any, options: EquivalencePairOptions) -> Equivalence:
    r"""Test that two systems are alike up to a margin: two one-sided paired tests (TOST).

    The null hypotheses are $\delta \le -m$ and $\delta \ge m$. Rejecting both shows equivalence, so p is the larger of
    the two p-values, without correction (an intersection-union test). The tests agree with the default intervals of
    `compare`: Tango's score tests for answers right or wrong; t tests for other metrics of sums, $(\delta + m) / s$ and
    $(m - \delta) / s$ with the jackknife standard error s, corrected for skewness where that makes p larger. Bootstrap
    tests move their null distribution to the margin: $p = (c + 1) / (K + 1)$, where c counts $\delta^* - \delta - m \ge
    \delta$, or $\delta^* - \delta + m \le \delta$, among K resamples, ties included. They reject too often with fewer
    than 30 units. A large p of a test for differences does not show equivalence.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: the same instances, in the same order, of the second system.
        options: see `EquivalencePairOptions`.

    Raises:
        InputError: a margin that is not above 0, an option outside its domain, one instance, data or a metric that
            cannot be used.

    Reference: Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach"; Tango
    (1998), "Equivalence test and confidence interval for the difference in proportions for the paired-sample design";
    Efron and Tibshirani (1993), chapter 25.

    Example:
        >>> result = equivalence_test([5, 4, 6, 5, 4, 5, 6, 5], [5, 5, 5, 5, 5, 4, 6, 5], margin=1.0)
        >>> result.delta, round(result.interval.high, 3), round(result.p_value, 4), result.holds
        (0.0, 0.506, 0.0036, True)
    """
    evaluation = evaluation_from_arrays({"a": a, "b": b}, metric=options.metric)
    (one,) = equivalence(evaluation, **values(options, EquivalenceOptions))
    return one


@takes(EquivalencePairsOptions)
def equivalence(
    evaluation: Evaluation | Sequence[Evaluation], options: EquivalencePairsOptions
) -> tuple[Equivalence, ...]:
    """`equivalence_test` of all pairs of systems, or of each system against a baseline, on the same resamples.

    Args:
        evaluation: see `compare`.
        options: see `EquivalencePairsOptions`.

    Raises:
        InputError: see `equivalence_test`.

    Example:
        >>> from sigjax import Evaluation
        >>> scores = {"A": [5, 4, 6, 5, 4, 5, 6, 5], "B": [5, 5, 5, 5, 5, 4, 6, 5], "C": [9, 9, 8, 9, 7, 9, 9, 9]}
        >>> [(each.a, each.b, each.holds) for each in equivalence(Evaluation.from_arrays(scores), margin=1.0)]
        [('A', 'B', True), ('A', 'C', False), ('B', 'C', False)]
    """
    evaluations = list_evaluations(evaluation)
    check(options)
    if options.variant != "shift" and options.method != "bootstrap":
        raise InputError(f"variant {options.variant} belongs to bootstrap tests; ask for method bootstrap with it")
    settings = Settings(test="bootstrap", **values(options, Settings, method="montecarlo"))
    check_evaluations(evaluations, settings)
    settings = replace(settings, baseline=baseline_of(evaluations[0].systems, settings))
    with host_scope():
        return tuple(one for each in evaluations for one in _of_metric(each, settings, options))


def _of_metric(evaluation: Evaluation, settings: Settings, options: EquivalencePairsOptions) -> list[Equivalence]:
    margin, runner = float(options.margin), Runner(settings, options.device)
    with named_errors([evaluation], runner):
        case = make_case(evaluation, settings)
        check_units(len(case.units.strata), "equivalence")
        if isinstance(case, Case) and options.method == "auto" and in_closed_form(case.metric, settings):
            method, tests = closed_tests(case, margin)
        else:
            method, tests = bootstrap_tests(case, margin, runner)
    pairs = zip(case.question.pairs, tests, strict=True)
    records = [_record(case, evaluation.systems, pair, tested, method, options) for pair, tested in pairs]
    adjusted = adjust(np.array([each.p_value for each in records]), settings.correction).tolist()
    return [replace(each, p_adjusted=p, holds=p < settings.alpha) for each, p in zip(records, adjusted, strict=True)]


def _record(
    case: Case | SampleCase,
    systems: tuple[str, ...],
    pair: Pair,
    tested: Tested,
    method: str,
    options: EquivalencePairsOptions,
) -> Equivalence:
    """The record of one pair, before adjustment."""
    settings, scores = case.settings, case.observed_scores
    if options.claim == "equivalence":
        upper = tested.p_upper > tested.p_lower
    else:
        upper = not case.metric.higher_is_better
    p_value = tested.p_upper if upper else tested.p_lower
    exceed = None if tested.exceed is None else tested.exceed[upper]
    return Equivalence(
        a=systems[pair[0]],
        b=systems[pair[1]],
        metric=case.metric.name,
        claim=options.claim,
        margin=float(options.margin),
        score_a=scores[pair[0]],
        score_b=scores[pair[1]],
        delta=case.question.delta(pair),
        p_lower=tested.p_lower,
        p_upper=tested.p_upper,
        p_value=p_value,
        p_interval=None if exceed is None else share_interval(exceed, settings.fixed_resamples, settings.level),
        p_adjusted=p_value,
        holds=p_value < settings.alpha,
        interval=tested.interval,
        interval_level=interval_level(settings),
        standard_error=tested.standard_error,
        exceed=exceed,
        method=method,
        settings=settings,
    )
