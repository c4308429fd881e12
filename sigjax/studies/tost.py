"""Equivalence tests: are two systems equal up to a margin? Non-inferiority: is a system worse by less than a margin?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from sigjax.comparison.checks import baseline_of, check_evaluations, check_units, named_errors
from sigjax.comparison.options import BootstrapOptions, CompareOptions, RunOptions
from sigjax.metrics import evaluation_from_arrays
from sigjax.records import EvaluationRecord, InputError, Interval, Settings
from sigjax.records.display import SciPyNames, ShortRepr
from sigjax.records.metric import AnyMetric
from sigjax.records.options import check, option, required, same, takes, values
from sigjax.records.settings import PValueCorrection
from sigjax.report.document import Block, Document
from sigjax.report.sections import Table
from sigjax.report.words import count, first_of, format_interval, format_p, metric_title, number_spec, p_is, percent
from sigjax.resample.extreme import Extreme
from sigjax.run.backend import host_scope
from sigjax.run.context import Context, with_progress
from sigjax.studies.formulas import proportion_interval
from sigjax.studies.study import StudyRows, adjusted_p, signature_line, with_adjusted_p
from sigjax.studies.trials import ALL, study_data
from sigjax.testing.intervals import in_closed_form, interval_names, jackknife_intervals, tango_tail
from sigjax.testing.jackknife import degrees_of_freedom, influences, map_pairs
from sigjax.testing.problem import Problem, SumsProblem, montecarlo_p
from sigjax.testing.replicates import kept_replicates
from sigjax.testing.skewed_t import skewed_tail, skewness
from sigjax.testing.tests import problem_of, replicates, sized_context
from sigjax.testing.uncertainty import Basic, quantile_levels, quantiles, standard_errors

Claim = Literal["equivalence", "non-inferiority"]
Tests = tuple[float, float, Interval, float, tuple[int, int] | None]
"""Results of both one-sided tests of a pair: the p-value against delta <= -margin, the p-value against delta >= margin,
the interval of delta, the standard error of delta, and the numbers of extreme resamples for both p-values (None if no
resamples were drawn)."""
_MOST_NAMED = 3
_TITLES = {
    "conservative-t": "t by the jackknife, corrected for skewness",
    "tango": "Tango's score tests",
    "bootstrap": "bootstrap",
}
_ALL_EQUAL = "the interval has zero width: all units differ alike, which says nothing about other units; p is 1"


def _interval_level(settings: Settings) -> float:
    """Return 1 - 2 alpha. An interval at this level agrees with both one-sided tests at level alpha."""
    return round(2.0 * settings.confidence_level - 1.0, 12)


def _closed_tests(problem: SumsProblem, margin: float) -> tuple[str, list[Tests]]:
    """Return the name of the method, and the tests of each pair, for metrics that are functions of sums.

    The tests are Tango's score tests for right-or-wrong answers, else t tests. They agree with `jackknife_intervals`.
    """
    at_level = replace(problem.settings, confidence_level=_interval_level(problem.settings))
    spreads = jackknife_intervals(replace(problem, settings=at_level))[len(problem.hypotheses.scores) :]
    errors, method = spreads[:, 0], interval_names(problem).pairs or ""
    influence, tests = influences(problem.influence_problem), []
    skewed = map_pairs(skewness, influence, problem.hypotheses.members, errors).tolist()
    degrees = degrees_of_freedom(problem.units.sizes, problem.units.strata)
    for pair, (error, *ends), g in zip(problem.hypotheses.pairs, spreads.tolist(), skewed, strict=True):
        if math.isnan(ends[0]):
            raise InputError("equivalence needs a stratum of at least two units; leave the strata out")
        if method == "tango":
            a, b = problem.units.values[list(pair), :, 0]
            only_a, only_b = int((a > b).sum()), int((b > a).sum())
            tails = tango_tail(only_a, only_b, len(a), -margin), tango_tail(only_b, only_a, len(a), -margin)
        elif error == 0.0:  # all units have the same difference: no information about other units
            tails = 1.0, 1.0
        else:
            of_delta = problem.hypotheses.delta(pair), error, g
            lower = skewed_tail(*of_delta, -margin, degrees, "greater", nearer=False)
            tails = lower, skewed_tail(*of_delta, margin, degrees, "less", nearer=False)
        tests.append((*tails, Interval(*ends), error, None))
    return method, tests


def _bootstrap_tests(problem: Problem, margin: float, context: Context) -> tuple[str, list[Tests]]:
    """Return "bootstrap", and the bootstrap tests of each pair.

    Both tests of a pair reject if and only if the basic bootstrap interval lies within the margins.

    Reference: Davison and Hinkley (1997), "Bootstrap methods and their application", section 5.2.
    """
    settings, tests, levels = problem.settings, [], quantile_levels(_interval_level(problem.settings))
    shape = len(problem.hypotheses.scores), settings.fixed_resamples
    with sized_context(problem, context, draws=True).run("bootstrap", shape[1], settings.seed) as run:
        scores = kept_replicates(partial(replicates, problem), shape[0], run)
    observed = (column.tolist() for column in problem.hypotheses.observed(problem.hypotheses.members))
    for (a, b), delta, tolerance in zip(problem.hypotheses.pairs, *observed, strict=True):
        deltas, slack = scores[a] - scores[b], np.float64(tolerance)
        above = Extreme(np.float64(delta + margin), slack, "greater").met(deltas - delta)
        below = Extreme(np.float64(delta - margin), slack, "less").met(deltas - delta)
        exceed = int(np.count_nonzero(above)), int(np.count_nonzero(below))
        lower, upper = (float(montecarlo_p(count, settings.fixed_resamples)) for count in exceed)
        ends = Basic.turned(np.concatenate(quantiles(deltas[None].copy(), levels)), delta).tolist()
        interval, error = Interval(*ends), float(standard_errors(deltas[None])[0])
        tests.append((lower, upper, interval, error, exceed))
    return "bootstrap", tests


@dataclass(frozen=True, repr=False)
class Equivalence(SciPyNames, ShortRepr):
    """Result of an equivalence or non-inferiority test of one pair, by one metric.

    Attributes:
        claim: "equivalence": the true |score_a - score_b| is below the margin; or "non-inferiority": a is not worse
            than b by the margin or more.
        margin: the margin, on the scale of the metric.
        p_lower: p-value against delta <= -margin.
        p_upper: p-value against delta >= margin.
        p_value: p-value of the claim. Equivalence: the larger of p_lower and p_upper. Non-inferiority: p_lower, or
            p_upper if lower scores are better.
        p_interval: Clopper-Pearson interval, at the confidence level, for the p of infinitely many resamples; None
            without resamples.
        p_adjusted: p_value adjusted for all pairs of the same metric.
        holds: whether the claim is shown: p_adjusted < 1 - level.
        interval: confidence interval of delta, at the level 1 - 2 alpha. Equivalence is shown (without adjustment) if
            this interval lies within the margins, up to Monte Carlo error for bootstrap tests. There is one exception:
            if all units have the same difference, the t interval has zero width, but p is 1.
        interval_level: the level of this interval.
        standard_error: standard error of delta by the jackknife; for bootstrap tests, by the bootstrap (ddof = 1).
        exceed: number of extreme resamples from which p_value is computed; None without resamples.
        method: kind of the tests: "tango", "conservative-t" or "bootstrap".
        settings: resamples, seed, level and correction.
    """

    _first = ("a", "b", "metric", "claim", "margin", "delta", "interval", "p_value", "p_adjusted", "holds")

    a: str
    b: str
    metric: str
    claim: Claim
    margin: float
    score_a: float
    score_b: float
    delta: float
    p_lower: float
    p_upper: float
    p_value: float
    p_interval: Interval | None
    p_adjusted: float
    holds: bool
    interval: Interval
    interval_level: float
    standard_error: float
    exceed: int | None
    method: str
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class EquivalenceOptions(RunOptions):
    """The options that `equivalence` and `equivalence_test` share."""

    margin: float = required(
        "Largest score difference that does not matter; fix it beforehand.", above=0, group="Main options"
    )
    claim: Claim = option(
        "equivalence", "Equivalence; or non-inferiority: the first system is not worse by the margin."
    )
    method: Literal["auto", "bootstrap"] = option(
        "auto", "Tests: auto, or bootstrap tests for every metric, as auto has them for a `SampleMetric`."
    )
    resamples: int = same(Settings, "resamples", doc="Number of bootstrap resamples.", more="")
    confidence_level: float = same(
        Settings, "confidence_level", doc="1 - alpha; intervals have the level 1 - 2 alpha.", above=0.5, group="Test"
    )
    seed: int = same(Settings, "seed")


@dataclass(frozen=True, kw_only=True)
class EquivalencePairOptions(EquivalenceOptions):
    """The options of `equivalence_test`."""

    metric: AnyMetric = same(BootstrapOptions, "metric")


@dataclass(frozen=True, kw_only=True)
class EquivalencePairsOptions(EquivalenceOptions):
    """The options of `equivalence`."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")
    baseline: str | None = same(Settings, "baseline")
    correction: PValueCorrection = same(Settings, "correction", more='Not "maxt", which needs the permutation test.')


@takes(EquivalencePairOptions)
def equivalence_test(a: Any, b: Any, options: EquivalencePairOptions) -> Equivalence:
    r"""Test that two systems are equal up to a margin: two one-sided paired tests (TOST).

    The null hypotheses are $\delta \le -m$ and $\delta \ge m$ with the margin m. Rejecting both shows equivalence. So p
    is the larger of the two p-values, without correction (an intersection-union test). A large p of a test for
    differences does not show equivalence.

    The tests agree with the default intervals of `compare`. For right-or-wrong answers they are Tango's score tests.
    For other metrics of sums they are t tests, $(\delta + m) / s$ and $(m - \delta) / s$ with the jackknife standard
    error s, corrected for skewness if that makes p larger. For metrics that are not functions of sums (or with
    method="bootstrap") they are bootstrap tests, with the null distribution shifted to the margin. Then $p = (c + 1) /
    (K + 1)$ for each null hypothesis. For $\delta \le -m$, c is the number of the K resamples with $\delta^* - \delta -
    m \ge \delta$; for $\delta \ge m$, with $\delta^* - \delta + m \le \delta$ (ties included). Bootstrap tests reject
    too often with fewer than 30 units.

    Args:
        a: `[instance]` or `[instance, input]` numbers of the first system.
        b: numbers of the second system, for the same instances in the same order.
        options: the fields of `EquivalencePairOptions`, as keyword arguments.

    Raises:
        InputError: the margin is not above 0, an option is outside its domain, there is only one instance, or the data
            or the metric cannot be used.

    Reference: Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach"; Tango
    (1998), "Equivalence test and confidence interval for the difference in proportions for the paired-sample design";
    Efron and Tibshirani (1993), chapter 25.

    Example:
        >>> result = equivalence_test([5, 4, 6, 5, 4, 5, 6, 5], [5, 5, 5, 5, 5, 4, 6, 5], margin=1.0)
        >>> result.delta, round(result.interval.high, 3), round(result.p_value, 4), result.holds
        (0.0, 0.506, 0.0036, True)
    """
    evaluation = evaluation_from_arrays({"a": a, "b": b}, metric=options.metric)
    return equivalence(evaluation, **values(options, EquivalenceOptions))[0]


@takes(EquivalencePairsOptions)
@with_progress
def equivalence(data: Any, options: EquivalencePairsOptions) -> StudyRows[Equivalence]:
    """Apply `equivalence_test` to all pairs of systems, or to each system and a baseline, on the same resamples.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
        options: the fields of `EquivalencePairsOptions`, as keyword arguments.

    Raises:
        InputError: see `equivalence_test`.

    Example:
        >>> from sigjax import Evaluation
        >>> scores = {"A": [5, 4, 6, 5, 4, 5, 6, 5], "B": [5, 5, 5, 5, 5, 4, 6, 5], "C": [9, 9, 8, 9, 7, 9, 9, 9]}
        >>> [(each.a, each.b, each.holds) for each in equivalence(Evaluation.from_arrays(scores), margin=1.0)]
        [('A', 'B', True), ('A', 'C', False), ('B', 'C', False)]
    """
    check(options)
    evaluations = study_data(data, options.read, ALL, progress=options.progress)
    settings = Settings(test="bootstrap", **values(options, Settings, method="montecarlo"))
    check_evaluations(evaluations, settings)
    settings = replace(settings, baseline=baseline_of(evaluations[0].systems, settings))
    with host_scope():
        results = [row for each in evaluations for row in _of_metric(each, settings, options)]
    return StudyRows(results, "equivalence", "pairs", _document)


def _of_metric(evaluation: EvaluationRecord, settings: Settings, options: EquivalencePairsOptions) -> list[Equivalence]:
    margin = float(options.margin)
    with named_errors([evaluation], settings):
        problem = problem_of(evaluation, settings)
        check_units(len(problem.units.strata), "equivalence")
        if isinstance(problem, SumsProblem) and options.method == "auto" and in_closed_form(problem.metric, settings):
            method, tests = _closed_tests(problem, margin)
        else:
            method, tests = _bootstrap_tests(problem, margin, Context(options.device, options.progress))
    level, scores, records = _interval_level(settings), problem.observed_scores, []
    for pair, (lower, upper, interval, error, exceeds) in zip(problem.hypotheses.pairs, tests, strict=True):
        above = upper > lower if options.claim == "equivalence" else not problem.metric.higher_is_better
        p_value, exceed = (upper if above else lower), None if exceeds is None else exceeds[above]
        ends = (
            None if exceed is None else proportion_interval(exceed, settings.fixed_resamples, settings.confidence_level)
        )
        (a, b), (score_a, score_b) = (evaluation.systems[index] for index in pair), (scores[index] for index in pair)
        records.append(
            Equivalence(
                *(a, b, problem.metric.name, options.claim, margin, score_a, score_b, problem.hypotheses.delta(pair)),
                *(lower, upper, p_value, ends, p_value, False, interval, level, error, exceed, method, settings),
            )
        )
    adjusted = with_adjusted_p(records, settings.correction)
    return [replace(row, holds=row.p_adjusted < settings.alpha) for row in adjusted]


def _document(results: Sequence[Equivalence]) -> Document:
    first, settings = results[0], results[0].settings
    spec = number_spec([number for row in results for number in (row.score_a, row.score_b, row.delta, row.margin)])
    inside = f"|delta| < {first.margin:g}"
    claim = inside if first.claim == "equivalence" else f"a is not worse than b by {first.margin:g}"
    columns = {
        "a": [row.a for row in results],
        "b": [row.b for row in results],
        "metric": [metric_title(row.metric) for row in results],
        "delta": [format(row.delta, f"+{spec}") for row in results],
        f"{percent(first.interval_level)} interval": [format_interval(row.interval, f"+{spec}") for row in results],
        "p (lower)": [format_p(row.p_lower) for row in results],
        "p (upper)": [format_p(row.p_upper) for row in results],
        adjusted_p(results): [format_p(row.p_adjusted, threshold=settings.alpha) for row in results],
        "holds": ["yes" if row.holds else "not shown" for row in results],
    }
    methods = list(dict.fromkeys(row.method for row in results))
    drawn = {"n": settings.resamples, "seed": settings.seed, "null": "shift", "ties": "ge"}
    signature = signature_line(
        study="equivalence",
        metric="+".join(dict.fromkeys(row.metric for row in results)),
        claim=first.claim,
        margin=repr(first.margin),
        method="+".join(methods),
        **(drawn if "bootstrap" in methods else {}),
        baseline=settings.baseline,
        correction=settings.correction,
        level=f"{settings.confidence_level:g}",
    )
    title = f"{first.claim} test ({', '.join(_TITLES[method] for method in methods)}): {claim}"
    blocks: list[Block] = [
        title,
        "",
        Table.of(
            columns,
            names=(0, 1, 2),
            optional=(*["metric"] * (len({row.metric for row in results}) == 1), "p (upper)", "p (lower)"),
        ),
        "",
        f"holds: {adjusted_p(results)} < {settings.alpha:g}; not shown does not mean that there is a difference",
        *(["p (lower), p (upper) and intervals are each for its pair alone"] if len(results) > 1 else []),
        *([_ALL_EQUAL] if any(row.method == "conservative-t" and row.standard_error == 0.0 for row in results) else []),
        signature,
    ]
    return Document(first.claim.capitalize(), title, _verdict(results), blocks)


def _verdict(results: Sequence[Equivalence]) -> str:
    """Return the verdict, which names the pairs for which the claim is shown."""
    (first, *others), held = results, sum(row.holds for row in results)
    if others:
        said = "equivalent" if first.claim == "equivalence" else "not worse"
        verb = "is" if held == 1 else "are"
        named = first_of([f"{row.a} - {row.b}" for row in results if row.holds], _MOST_NAMED)
        number = f"{held:,} of {count(len(results), 'pair')} {verb} shown to be {said} within {first.margin:g}"
        return f"{number}: {named}." if named else f"{number}."
    p = format_p(first.p_adjusted, threshold=first.settings.alpha)
    if first.claim == "equivalence":
        shown = f"{first.a} and {first.b} are {'' if first.holds else 'not '}shown to be equivalent"
    else:
        shown = f"{first.a} is {'' if first.holds else 'not '}shown to be no worse than {first.b}"
    return f"{shown} within {first.margin:g} ({p_is(p)})."
