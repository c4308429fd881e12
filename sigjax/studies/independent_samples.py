"""Systems on different instances: unpaired permutation and rank-sum tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.checks import baseline_of, named_errors
from sigjax.metrics import shared_shift, shifted_by
from sigjax.metrics.ratios import mean_score
from sigjax.records import (
    EvaluationRecord,
    Hint,
    InputError,
    Interval,
    Settings,
)
from sigjax.records.display import SciPyNames, ShortRepr
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.document import Document
from sigjax.report.sections import Table
from sigjax.resample.units import make_units
from sigjax.run.context import Context, with_progress
from sigjax.studies.formulas import proportion_interval
from sigjax.studies.samples import (
    MOST_NAMED,
    SamplesOptions,
    are_binary,
    methods_of_results,
    notes_of,
    p_columns,
    sample_document,
    samples_of,
    spread_of,
)
from sigjax.studies.study import (
    StudyRows,
    table_of,
    with_adjusted_p,
)
from sigjax.studies.tests import ClassicalTest, rank_sum
from sigjax.testing.permutation import two_sample_test
from sigjax.testing.problem import SumsProblem

_UNPAIRED_WHAT = "an unpaired test"


@dataclass(frozen=True, repr=False)
class Unpaired(SciPyNames, ShortRepr):
    r"""Unpaired comparison of two systems, by one metric.

    Attributes:
        units_a: number of units (instances, or clusters if there are some) of system a; `units_b` likewise.
        delta: score_a - score_b.
        p_value: p-value of the permutation test.
        log10_p: base-10 logarithm of p; accurate also if `p_value` is below the smallest double.
        p_interval: Clopper-Pearson interval, at the confidence level, for the p-value of infinitely many resamples;
            None if p is exact.
        p_adjusted: p_value adjusted for all pairs.
        method: "exact" or "montecarlo".
        reason: why this method was used.
        exceed: number of resamples at least as extreme as observed; None if p is exact.
        standard_error: standard error of delta, $\sqrt{s_a^2 + s_b^2}$ with jackknife standard errors of the scores;
            None if a system has only one unit.
        interval: confidence interval of delta, from the intervals of both scores. Its lower end is delta -
            sqrt((score_a - low_a)^2 + (high_b - score_b)^2); the upper end likewise. None if a score has no interval.
        rank_sum: the Wilcoxon-Mann-Whitney test; None unless the score is the mean of one number per unit.
        notes: what a reader of the numbers should know.
        settings: seed, resamples, alternative, level and correction.
    """

    _first = ("a", "b", "metric", "units_a", "units_b", "delta", "interval", "p_value", "p_adjusted", "method")

    a: str
    b: str
    metric: str
    units_a: int
    units_b: int
    score_a: float
    score_b: float
    delta: float
    p_value: float
    log10_p: float
    p_interval: Interval | None
    p_adjusted: float
    method: str
    reason: str
    exceed: int | None
    standard_error: float | None
    interval: Interval | None
    rank_sum: ClassicalTest | None
    notes: tuple[str, ...]
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class UnpairedOptions(SamplesOptions):
    """The options of unpaired tests."""

    overlap: bool = option(
        False,
        "Also test systems with instances in common, as if they were different ones.",
        "p is then usually too large. Where both have the same instances, `compare` has more power.",
        group="Main options",
    )
    baseline: str | None = same(Settings, "baseline")


@takes(UnpairedOptions)
@with_progress
def unpaired(data: Any, options: UnpairedOptions) -> StudyRows[Unpaired]:
    r"""Permutation and rank-sum tests of systems that were tested on different instances.

    Under the null hypothesis, the instances of both systems come from one distribution: every set of $n_a$ of all $n_a
    + n_b$ instances is equally likely to be the set of system a. p is the probability that the scores on the two sets
    differ at least as much as observed, $|\delta^*| \ge |\delta|$, ties included. If p is sampled, it is (exceed + 1) /
    (resamples + 1). Clusters are exchanged as a whole. The metric may be any function of sums.

    For right-or-wrong answers, the one-sided test is Fisher's exact test. The two-sided p is the probability of all
    tables with at least as large a difference. SciPy and R take all tables that are at most as probable instead. If
    sample sizes differ, a small p may also come from unequal variances, because the null hypothesis is equal
    distributions. If systems have the same instances, `compare` has more power, because some instances are hard for
    both systems.

    The rank-sum test is exact if the distribution of rank sums can be computed within seconds; ties get their mean
    rank. Its two-sided p is twice the smaller tail.

    Args:
        data: one file per system, as a list or a dict; a dict of one array per system, `[instance]` or `[instance,
            input]` (or id -> number, a data frame, or an `Evaluation` of one system); or what `compare` takes. In a
            table, each system may have its own instances (missing="pairwise").
        options: the fields of `UnpairedOptions`, as keyword arguments.

    Raises:
        InputError: systems have instances or clusters in common (see `overlap`), there are strata, the metric is not a
            function of sums, an option is outside its domain, or there is no exact test for method="exact".

    Reference: Pitman (1937), "Significance tests which may be applied to samples from any populations"; Mann and
    Whitney (1947), "On a test of whether one of two random variables is stochastically larger than the other"; for the
    interval Newcombe (1998), "Interval estimation for the difference between independent proportions", method 10.

    Example:
        >>> (one,) = unpaired({"A": [5, 4, 5, 5], "B": [2, 3, 4]})
        >>> round(one.delta, 2), round(one.p_value * 35), round(one.rank_sum.p_value * 35)
        (1.75, 3, 4)
    """
    check(options)
    instead = (
        "`sigjax one-sample` gives the interval of each score, and `sigjax compare` tests systems on the same instances"
    )
    samples = samples_of(data, options, what=_UNPAIRED_WHAT, missing="pairwise", instead=instead)
    names = tuple(samples)
    if len(names) < 2:
        advice = "`sigjax one-sample` tests one against a number"
        raise InputError(f"{_UNPAIRED_WHAT} needs at least two systems, got {len(names)}; {advice}")
    settings = Settings(**values(options, Settings))
    settings = replace(settings, baseline=baseline_of(names, settings))
    base, context = settings.baseline, Context(options.device, options.progress)
    pairs = list(combinations(names, 2)) if base is None else [(name, base) for name in names if name != base]
    notes = [_check_pair(a, b, samples, options) for a, b in pairs]
    results = [_unpaired_test(pair, samples, settings, context) for pair in pairs]
    results = [replace(row, notes=(*said, *row.notes)) for row, said in zip(results, notes, strict=True)]
    return StudyRows(with_adjusted_p(results, settings.correction), "unpaired", "pairs", _unpaired_document)


def _check_pair(a: str, b: str, samples: dict[str, EvaluationRecord], options: UnpairedOptions) -> tuple[str, ...]:
    """Raise an error if systems a and b have common instances or clusters; with `overlap`, return a warning instead.

    If both systems have equally many instances without ids, return a note that recommends `compare`.
    """
    first, second = samples[a], samples[b]
    if first.strata is not None or second.strata is not None:
        raise InputError(f"{_UNPAIRED_WHAT} exchanges instances of all strata; leave out {Hint('strata')}")
    for labels, what in (("ids", "instances"), ("clusters", "clusters")):
        of_a, of_b = getattr(first, labels), getattr(second, labels)
        shared = len(set(of_a or ()) & set(of_b or ()))
        common = f"{a!r} and {b!r} have {shared:,} {what} in common"
        if shared and not options.overlap:
            raise InputError(
                f"systems {common}, so their results depend on each other: compare them on these, which has more power "
                f"(`sigjax compare` with {Hint('missing', 'drop')}); or if {labels} only look alike, give "
                f"{Hint('overlap')}"
            )
        if shared:
            return (f"warning: {common}, taken for different ones",)
    if first.ids is None and second.ids is None and first.num_instances == second.num_instances:
        alike = "if these are the same in the same order, `sigjax compare` has more power"
        return (f"{a!r} and {b!r} have as many instances without ids: {alike}",)
    return ()


def _unpaired_test(
    names: tuple[str, str], of: Mapping[str, EvaluationRecord], settings: Settings, context: Context
) -> Unpaired:
    samples = [of[name] for name in names]
    offset = shared_shift(samples)
    binary = are_binary(samples)
    near = [shifted_by(sample, offset) if offset else sample for sample in samples]
    both = _joined_samples(names, near)
    with named_errors([both], settings):
        problem = SumsProblem.of(make_units(both), both.metric, np.array([[0, 1]], np.int32), settings)  # pyright: ignore
        (alone, error_a, in_a), (other, error_b, in_b) = (spread_of(each, settings, binary=binary) for each in near)
        first, second = len(alone.units.strata), len(other.units.strata)
        test = two_sample_test(problem, first, context)
    error = math.hypot(error_a, error_b) if min(first, second) > 1 else None
    about = zip(names, samples, (first, second), (in_a, in_b), strict=True)
    notes = tuple(note for each in about for note in notes_of(*each))
    score_a, score_b = problem.hypotheses.scores
    columns = (test.column(name) for name in ("p_value", "log10_p", "method", "reason", "exceed"))
    p_value, log10_p, method, reason, exceed = (column.tolist()[0] for column in columns)
    ends = None if exceed is None else proportion_interval(exceed, settings.fixed_resamples, settings.confidence_level)
    return Unpaired(
        *(*names, both.metric.name, first, second, score_a + offset, score_b + offset, score_a - score_b),
        *(p_value, log10_p, ends, p_value, method, reason, exceed, error),
        *(_difference(score_a, in_a, score_b, in_b), _ranks(problem, first), notes, settings),
    )


def _joined_samples(names: tuple[str, str], samples: Sequence[EvaluationRecord]) -> EvaluationRecord:
    """Return one evaluation of both systems, in which each system has zeros on the instances of the other system.

    The units of system a come first.
    """
    a, b = samples
    nothing = [np.zeros_like(sample.stats) for sample in samples]
    rows = [np.concatenate([a.stats, nothing[1]], axis=1), np.concatenate([nothing[0], b.stats], axis=1)]
    labels: list[str] = []
    for side, sample in enumerate(samples):
        named = sample.unit_labels
        labels += [f"{side}:{label}" for label in named or map(str, range(sample.num_instances))]
    return EvaluationRecord(names, np.concatenate(rows), None, a.metric, clusters=tuple(labels))


def _difference(a: float, of_a: Interval | None, b: float, of_b: Interval | None) -> Interval | None:
    if of_a is None or of_b is None:
        return None
    below, above = math.hypot(a - of_a.low, of_b.high - b), math.hypot(of_a.high - a, b - of_b.low)
    return Interval(a - b - below, a - b + above)


def _ranks(problem: SumsProblem, first: int) -> ClassicalTest | None:
    units = problem.units.values.sum(axis=0)
    if problem.metric.score is not mean_score or (units[:, 1] != (units[0, 1])).any():
        return None
    a, b = np.split(units[:, 0], [first])
    return rank_sum(a, b, problem.settings.alternative, rounding=0 if problem.units.exact else 2)


_UNPAIRED = (
    "unpaired: this test cannot use that some instances are harder than others, so it has less power than sigjax "
    "compare on the same instances; with unequal n, a small p may also come from different variances"
)


def _unpaired_document(results: Sequence[Unpaired]) -> Document:
    settings, systems = results[0].settings, dict[str, tuple[int, float]]()
    spec = words.number_spec([number for row in results for number in (row.score_a, row.score_b, row.delta)])
    for row in results:
        systems |= {row.a: (row.units_a, row.score_a), row.b: (row.units_b, row.score_b)}
    scores = [(name, f"{units:,}", words.format_number(score, spec)) for name, (units, score) in systems.items()]
    ranks, alpha = [row.rank_sum for row in results], settings.alpha
    interval = f"{words.percent(settings.confidence_level)} interval"
    columns = {
        "a": [row.a for row in results],
        "b": [row.b for row in results],
        "delta": [format(row.delta, f"+{spec}") for row in results],
        interval: [words.format_interval(row.interval, f"+{spec}") for row in results],
        **p_columns(results),
        "rank-sum p": [words.DASH if each is None else words.format_p(each.p_value, threshold=alpha) for each in ranks],
    }
    methods = dict.fromkeys(each.assumes.rsplit("; ", 1)[1] for each in ranks if each is not None)
    return sample_document(
        results,
        "unpaired",
        _unpaired_verdict(results),
        f"{words.metric_title(results[0].metric)}, systems on different instances: unpaired tests, "
        f"{words.ALTERNATIVES[settings.alternative]}",
        [table_of(("system", "n", "score"), scores, (0,)), Table.of(columns, names=(0, 1), optional=("rank-sum p",))],
        [
            f"p: permutation of instances between the systems ({methods_of_results(results)})",
            f"rank-sum: Wilcoxon-Mann-Whitney ({', '.join(methods) or 'of one number per instance only'})",
            _UNPAIRED,
        ],
    )


def _unpaired_verdict(results: Sequence[Unpaired]) -> str:
    """Say which system has the significantly higher score; for several pairs, how many differences are significant."""
    (first, *others), settings = results, results[0].settings
    significant = [row for row in results if row.p_adjusted < settings.alpha]
    adjusted = f"adjusted p < {settings.alpha:g}"
    if others:
        verb = "is" if len(significant) == 1 else "are"
        named = words.first_of([f"{row.a} - {row.b}" for row in significant], MOST_NAMED)
        number = f"{len(significant):,} of {words.count(len(results), 'difference')} {verb} significant ({adjusted})"
        return f"{number}: {named}." if named else f"{number}."
    p = words.format_p(first.p_value, log10_p=first.log10_p, threshold=settings.alpha)
    if not significant:
        return f"No significant difference between {first.a} and {first.b} ({words.p_is(p)})."
    high, low = (first.a, first.b) if first.delta > 0.0 else (first.b, first.a)
    return f"{high} is significantly above {low} ({words.p_is(p)})."
