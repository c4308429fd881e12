"""Systems one by one, each with the instances that it has: against a number, or on different instances."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.analysis import run_tests
from sigjax.comparison.checks import baseline_of, check_units, named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.formats.reading import are_paths, is_array, read_data
from sigjax.metrics import evaluation_from_arrays, shared_shift, shifted_by
from sigjax.metrics.ratios import ACCURACY, mean_score
from sigjax.readers.join import select
from sigjax.readers.options import Options, ReadOptions, metric_of_arrays, name_systems, reading, select_systems
from sigjax.records import (
    Alternative,
    Device,
    EvaluationRecord,
    Hint,
    InputError,
    Interval,
    Missing,
    SampleMetric,
    Settings,
)
from sigjax.records.display import Brief, SciPyNames
from sigjax.records.options import check, option, same, takes, values
from sigjax.records.settings import PValueCorrection
from sigjax.report.document import Document
from sigjax.report.sections import Table
from sigjax.resample.units import make_units
from sigjax.run.backend import host_scope
from sigjax.run.context import Context, with_progress
from sigjax.studies.formulas import proportion_interval
from sigjax.studies.study import (
    StudyRows,
    adjusted_p,
    signature_line,
    table_of,
    with_adjusted_p,
)
from sigjax.studies.tests import ClassicalTest, rank_sum
from sigjax.studies.tost import EquivalencePairsOptions
from sigjax.studies.trials import by_one_metric, on_instances
from sigjax.testing.closed import jackknife_intervals
from sigjax.testing.columns import ColumnsProblem
from sigjax.testing.jackknife import degrees_of_freedom, influences
from sigjax.testing.permutation import two_sample_test
from sigjax.testing.problem import SumsProblem
from sigjax.testing.proportions import right_or_wrong
from sigjax.testing.skewed_t import skewed_tail, skewness
from sigjax.testing.special import log_upper
from sigjax.testing.tests import problem_of


def samples_of(
    data: Any, options: SamplesOptions, *, what: str, missing: Missing = "error", instead: str | None = None
) -> dict[str, EvaluationRecord]:
    """The evaluation of each system alone, by name; `what` is the test, for messages.

    Metrics that are not functions of sums are refused where there is something to do `instead`.

    Data are what `compare` takes; or of systems one by one, which may have other instances, a list of paths or a dict:
    name of each system -> path, `Evaluation`, numbers, or numbers by id.
    """
    if isinstance(data, Sequence) and not isinstance(data, str) and are_paths(data) and len(data) > 1:
        data = name_systems(list(map(os.fspath, data)))[0]
    if isinstance(data, Mapping):
        read, named = reading(options.read), {str(name): given for name, given in data.items()}
        names = select_systems(what, list(named), Options(only=read.only, single=True)) if named else ()
        alone = replace(read, only=None, progress=read.progress and options.progress)
        samples = {name: _single(name, named[name], alone) for name in names}
    else:
        evaluation = by_one_metric(data, options.read, single=True, missing=missing, progress=options.progress)
        if evaluation.ids is None and len(evaluation.systems) > 1:  # joined by position
            evaluation = replace(evaluation, ids=tuple(map(str, range(1, evaluation.num_instances + 1))))
        samples = {name: _alone(evaluation, name) for name in evaluation.systems}
    if not samples:
        raise InputError(f"{what}: there is no system")
    first = next(iter(samples.values())).metric
    for sample in samples.values():
        metric = sample.metric
        if isinstance(metric, SampleMetric) and instead is not None:
            got = f"and {metric.name!r} is not a function of sums"
            raise InputError(f"{what} takes a metric of sums, such as mean, {got}; {instead}")
        if (metric.name, metric.stat_names) != (first.name, first.stat_names):
            raise InputError(f"{what} takes one metric, got {first.name!r} and {metric.name!r}")
        if sample.unit == "response":
            advice = f"read without {Hint('unit', 'response')}"
            raise InputError(f"{what} takes instances, and these are responses; {advice}")
        if sample.weights is not None:
            raise InputError(f"{what} takes one task, and this is a suite of several")
    return samples


def _single(name: str, given: Any, read: ReadOptions) -> EvaluationRecord:
    """What is given for one system: its numbers, also by id, or all else that `compare` takes."""
    if is_array(given) or isinstance(given, Mapping):
        ids, numbers = (list(given), list(given.values())) if isinstance(given, Mapping) else (None, given)
        return evaluation_from_arrays({name: numbers}, metric=metric_of_arrays(replace(read, missing="error")), ids=ids)
    saved = not isinstance(given, str | os.PathLike) or os.fspath(given).lower().endswith(".npz")
    given, *_ = read_data(given if saved else {name: given}, read, single=True)
    if len(given.systems) > 1:
        raise InputError(f"{name}: expected one system, got {len(given.systems)} ({', '.join(given.systems[:4])})")
    return _alone(given, given.systems[0])


def _alone(evaluation: EvaluationRecord, name: str) -> EvaluationRecord:
    alone = select(evaluation, [name])
    present = np.ones(alone.num_instances, bool) if alone.present is None else alone.present[0]
    if not present.any():
        raise InputError(f"system {name!r} has no instance; leave it out ({Hint('only')})")
    notes = tuple(note for note in evaluation.notes if getattr(note, "code", "") != "pairwise")
    return on_instances(alone, present, present=None, notes=notes)


def notes_of(name: str, sample: EvaluationRecord, num_units: int, interval: Interval | None) -> tuple[str, ...]:
    """The notes of a system, what its units are where they are not its instances, and whether all are alike."""
    notes = sample.notes
    if num_units != sample.num_instances:
        whole = f"{sample.num_instances:,} runs" if sample.clusters is None else words.size_text(*sample.size)
        notes += (f"{name!r}: {words.count(num_units, 'unit')} of {whole}, taken whole",)
    if interval is not None and interval.low == interval.high:
        of_sums = not isinstance(sample.metric, SampleMetric)
        why = "all units are alike" if of_sums else "all bootstrap resamples have this score"
        notes += (f"{name!r}: an interval of zero width: {why}, which says nothing of other units",)
    return notes


def are_binary(samples: Iterable[EvaluationRecord]) -> bool:
    """Whether all numbers of all systems are 0 or 1: beside other ratings, those of a system may all be 1."""
    return all(bool(np.isin(sample.stats[0, :, 0], (0, 1)).all()) for sample in samples)


def spread_of(
    sample: EvaluationRecord, settings: Settings, *, binary: bool
) -> tuple[SumsProblem, float, Interval | None]:
    """The units of a system with its score, and the standard error and default interval of that.

    `binary`: whether 0 and 1 are answers right or wrong.
    """
    problem = problem_of(sample, settings, np.zeros((0, 2), np.int32))
    assert isinstance(problem, SumsProblem)
    offset, measured = 0.0, problem
    if problem.shifted:
        offset, measured, binary = problem.shifted.shifts[0], problem.shifted.alone, False
    elif not binary:
        measured = problem = replace(problem, metric=sample.metric)
    error, low, high = jackknife_intervals(measured, proportions=binary)[0].tolist()
    return problem, error, None if math.isnan(low) else Interval(low + offset, high + offset)


def _of_columns(
    sample: EvaluationRecord, settings: Settings, context: Context
) -> tuple[ColumnsProblem, float | None, Interval | None]:
    """The units of a system with its score by a metric that is no function of sums, with what the bootstrap says of it.

    The resamples are those of `compare` with the same seed, and so are the numbers.
    """
    problem = problem_of(sample, settings, np.zeros((0, 2), np.int32))
    assert isinstance(problem, ColumnsProblem)
    _, systems = run_tests(problem, context.at(sample.metric.name))
    return problem, systems.values("standard_error")[0], systems.values("interval")[0]


OneSampleTest = Literal["none", "binomial", "sign-flip", "t"]
_ROUNDING = Fraction(1, 10**15)
"""Of a number such as 1/3, written as a double: 4 and 6 of 15 are as far from it."""


def _is_right_or_wrong(samples: Sequence[EvaluationRecord], against: float | None) -> bool:
    """Whether 0 and 1 are answers right or wrong, and not ratings that happen to be these."""
    if against is None:
        return are_binary(samples)
    if samples[0].metric.name == ACCURACY.name and not 0 < against < 1:
        expected = "must be above 0 and below 1 for answers right or wrong"
        raise InputError(f"{Hint('against')} {expected}, got {float(against):g}")
    return are_binary(samples) and 0 < against < 1


def _distance(problem: SumsProblem, against: float) -> float:
    if not problem.shifted:
        return problem.hypotheses.scores[0] - against
    (score,), (offset,) = problem.shifted.alone.hypotheses.scores, problem.shifted.shifts
    return score + float(Fraction(repr(offset)) - Fraction(repr(against)))  # decimals, as they were written


def _are_proportions(sample: EvaluationRecord, *, binary: bool) -> bool:
    """Whether each unit has some of so many answers right."""
    right, answers = sample.stats[0, :, :2].T
    are_shares = sample.stats.dtype.kind == "i" and bool(((right >= 0) & (right <= answers)).all())
    return are_shares and (binary or bool((answers != 1).any()))


def _binomial(problem: SumsProblem, number: Fraction) -> dict[str, Any]:
    right, size = int(problem.units.values[0, :, 0].sum()), problem.units.values.shape[1]
    odds = float(number / (1 - number))
    middle, slack = size * number, size * _ROUNDING
    distance = abs(right - middle)
    if problem.settings.alternative == "greater":
        log_p = log_upper(right, size, odds)
    elif problem.settings.alternative == "less":
        log_p = log_upper(size - right, size, 1.0 / odds)
    elif distance <= slack:
        log_p = 0.0
    else:
        above, below = math.ceil(middle + distance - slack), math.floor(middle - distance + slack)
        tails = log_upper(above, size, odds), log_upper(size - below, size, 1.0 / odds)
        log_p = min(0.0, float(np.logaddexp(*tails)))
    return {"test": "binomial", "method": "exact", "log_p": log_p, "p_value": math.exp(log_p)}


def _sign_flip(sample: EvaluationRecord, number: Fraction, problem: SumsProblem, device: Device) -> dict[str, Any]:
    counts, group = np.unique(sample.stats[0, :, 1], return_inverse=True)
    sums = np.array([float(number * Fraction(count)) for count in counts.tolist()])[group]
    constant = np.stack([sums, sample.stats[0, :, 1]], axis=1)
    names = *sample.systems, f"{float(number):g} of --against"
    both = replace(sample, systems=names, stats=np.stack([sample.stats[0], constant]), notes=())
    plain: dict[str, Any] = {"interval": "none", "correction": "none", "baseline": None}
    how = values(problem.settings, CompareOptions, test="permutation", **plain)
    (flips,) = report = compare(both, device=device, **how)
    fields = {name: getattr(flips, name) for name in ("method", "p_value", "p_interval", "exceed")}
    notes = tuple(note for note in report.notes if words.is_warning(note))
    return fields | {"test": "sign-flip", "log_p": flips.log10_p * math.log(10.0), "notes": notes}


def _doubts(
    sample: EvaluationRecord, problem: SumsProblem, error: float | None, against: float, p_value: float
) -> tuple[str, ...]:
    """What speaks against sign flips: t, which needs no symmetry, decides otherwise; or a number of another scale."""
    (name,), notes, alpha = sample.systems, (), problem.settings.alpha
    if are_binary([sample]) and not 0 <= against <= 1:
        notes = (f"warning: all numbers of {name!r} are 0 or 1: is {against:g} on this scale?",)
    if error:
        by_t = _by_t(problem, error, against)["p_value"]
        if (p_value < alpha) != (by_t < alpha):
            flips, other = (words.format_p(p, threshold=alpha) for p in (p_value, by_t))
            notes += (
                f"warning: {name!r}: p is {flips} by sign flips, which take differences from {against:g} as symmetric, "
                f"but {other} by t corrected for skewness, as the interval",
            )
    return notes


def _by_t(problem: SumsProblem, error: float | None, against: float) -> dict[str, Any]:
    """The t test whose intervals are those of the score."""
    check_units(len(problem.units.strata), f"a test of {problem.metric.name} against a number")
    degrees = degrees_of_freedom(problem.units.sizes, problem.units.strata)
    if degrees == 0.0:
        raise InputError("a test against a number needs a stratum of at least two units; leave the strata out")
    if not error:
        notes = ("a test by t of units that are all alike shows nothing: p is 1",)
        return {"test": "t", "method": "t", "log_p": 0.0, "p_value": 1.0, "notes": notes}
    moves = influences(problem.shifted.alone if problem.shifted else problem)[0]
    skewed, side = float(skewness(moves, np.array(error))), problem.settings.alternative
    p_value = skewed_tail(_distance(problem, against), error, skewed, 0.0, degrees, side, nearer=True)
    log_p = math.log(p_value) if p_value > 0.0 else -math.inf
    return {"test": "t", "method": "t", "log_p": log_p, "p_value": p_value}


@dataclass(frozen=True, repr=False)
class OneSample(SciPyNames, Brief):
    """One system against a number, by one metric.

    Attributes:
        against: the number; None where there is none. Then there is no delta and no test, and all of p is None.
        units: number of units (instances, or clusters where there are some).
        delta: score - against.
        log10_p: its base-10 logarithm; right also where `p_value` is below the smallest double, except for t.
        p_interval: bounds of p where it is sampled, or not known more closely; else None.
        p_adjusted: p_value adjusted for all systems.
        test: "binomial", "sign-flip" or "t"; see `one_sample`. "none" without a number.
        method: "exact" or "montecarlo"; for t "t"; "none" without a number.
        exceed: number of resamples at least as extreme; None unless sampled.
        standard_error: of the score, by the jackknife; None for one unit. Of a metric that is no function of sums (AUC,
            correlation, median) by the bootstrap.
        interval: of the score, at the level: Wilson's for answers right or wrong, else by t; None for one unit. Of a
            metric that is no function of sums the bootstrap's percentile interval, as `compare` has it.
        notes: what a reader of the numbers should know.
        settings: seed, resamples, alternative, level and correction; interval "percentile" where it is the bootstrap's.
    """

    _first = ("system", "metric", "against", "score", "interval", "p_value", "p_adjusted", "test")

    system: str
    metric: str
    against: float | None
    units: int
    score: float
    delta: float | None
    p_value: float | None
    log10_p: float | None
    p_interval: Interval | None
    p_adjusted: float | None
    test: OneSampleTest
    method: str
    exceed: int | None
    standard_error: float | None
    interval: Interval | None
    notes: tuple[str, ...]
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class SamplesOptions:
    """The options of both tests."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")
    alternative: Alternative = same(Settings, "alternative", doc="Which differences count as extreme.", more="")
    method: Literal["auto", "exact", "montecarlo"] = same(
        Settings, "method", doc="Exact (no sampling), Monte Carlo, or auto: exact if that takes seconds.", more=""
    )
    resamples: int = same(Settings, "resamples", doc="Number of Monte Carlo resamples.", more="")
    seed: int = same(Settings, "seed")
    correction: PValueCorrection = same(EquivalencePairsOptions, "correction")
    confidence_level: float = same(Settings, "confidence_level")
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True, kw_only=True)
class OneSampleOptions(SamplesOptions):
    """The options of tests against a number."""

    against: float | None = option(
        None,
        "The number to test against, on the scale of the metric; default: no test, only score and interval.",
        group="Main options",
    )


@takes(OneSampleOptions)
def one_sample(data: Any, options: OneSampleOptions) -> StudyRows[OneSample]:
    r"""Score each system, with an interval, and test it against a number: 1/2, the middle of a scale, a published one.

    The number is taken for certain: a published score that has an error of its own is compared by its outputs.

    - `binomial`: answers right or wrong, one per unit. Exact: the right ones are binomial with the number as
      probability. Two-sided counts scores at least as far from it, $|\hat p^* - c| \ge |\hat p - c|$ (SciPy and R those
      no more likely: the same at 1/2). Not where another system has other numbers, or the number is not between 0
      and 1: ratings may all be 1.
    - `sign-flip`: means of other numbers, and shares of right answers of clusters, runs or tokens against 1/2. The
      permutation test against a system that has the number on every instance flips the signs of $x_i - c$, of clusters
      those of their sums: exact where $x_i$ is symmetric about c under the null hypothesis, nearly so for many units.
      Of few skewed numbers p is often too small; a note says where t would decide otherwise.
    - `t`: such shares against any other number, and metrics that are no mean (F1, BLEU): Student's t by the jackknife,
      corrected for skewness, the test whose intervals `interval` gives.

    A metric that is no function of sums (AUC, correlation, median) has a score with the standard error and percentile
    interval of the bootstrap, those of `compare`, and no test: percentile intervals invert none.

    Args:
        data: an array `[instance]` or `[instance, input]`; a dict of one per system (or id -> number); or what
            `compare` takes, of one system or more.
        options: see `OneSampleOptions`.

    Raises:
        InputError: a number for a metric that is no function of sums; a number that is not finite, or for accuracies
            not between 0 and 1; an option outside its domain; no exact test for method="exact".

    Reference: Fisher (1935), "The design of experiments", section 21; Hall (1992), "On the removal of skewness by
    transformation".

    Example:
        >>> (one,) = one_sample([1, 1, 1, 0, 1, 1, 1, 1], against=0.5, read={"metric": "accuracy"})
        >>> one.test, one.score, round(one.p_value, 4)
        ('binomial', 0.875, 0.0703)
        >>> (one,) = one_sample([4, 5, 3, 4, 5], against=3)
        >>> one.test, one.p_value
        ('sign-flip', 0.125)
        >>> (one,) = one_sample([1, 1, 1, 0, 1, 1, 1, 1], read={"metric": "accuracy"})
        >>> one.score, [round(end, 3) for end in one.interval]
        (0.875, [0.529, 0.978])
    """
    check(options)
    settings = Settings(**values(options, Settings))
    instead = f"leave out {Hint('against')} for its interval by the bootstrap, or test two systems (`sigjax compare`)"
    samples = samples_of(
        {"a": data} if is_array(data) else data,
        options,
        what="a test against a number",
        instead=None if options.against is None else instead,
    )
    binary = _is_right_or_wrong([*samples.values()], options.against)
    with host_scope():
        results = [_test(name, sample, settings, options, binary=binary) for name, sample in samples.items()]
    results = results if options.against is None else with_adjusted_p(results, settings.correction)
    return StudyRows(results, "one-sample", "systems", _one_sample_document)


def _test(
    name: str, sample: EvaluationRecord, settings: Settings, options: OneSampleOptions, *, binary: bool
) -> OneSample:
    """The test of one system; `binary`: whether 0 and 1 are answers right or wrong."""
    against = None if options.against is None else float(options.against)
    fields: dict[str, Any] = {"p_interval": None, "exceed": None, "notes": ()}
    if isinstance(sample.metric, SampleMetric):
        settings = replace(settings, test=(), interval="percentile")
    with named_errors([sample], settings):
        if isinstance(sample.metric, SampleMetric):
            problem, error, interval = _of_columns(sample, settings, Context(options.device, options.progress))
        else:
            problem, error, interval = spread_of(sample, settings, binary=binary)
        number = Fraction(repr(against or 0.0))  # the decimal that was written: 14 of 20 is 0.7
        if against is None or isinstance(problem, ColumnsProblem):
            fields |= {"test": "none", "method": "none", "p_value": None}
        elif binary and right_or_wrong(problem):
            fields |= _binomial(problem, number)
        elif problem.metric.score is not mean_score or (against != 0.5 and _are_proportions(sample, binary=binary)):
            fields |= _by_t(problem, error, against)
        else:
            fields |= _sign_flip(sample, number, problem, options.device)
            fields["notes"] += _doubts(sample, problem, error, against, fields["p_value"])
    units = len(problem.units.strata)
    fields["notes"] = (*notes_of(name, sample, units, interval), *fields["notes"])
    return OneSample(
        system=name,
        metric=sample.metric.name,
        against=against,
        units=units,
        score=problem.observed_scores[0],
        delta=None if against is None or isinstance(problem, ColumnsProblem) else _distance(problem, against),
        log10_p=None if against is None else fields.pop("log_p") / math.log(10.0) + 0.0,
        p_adjusted=fields["p_value"],
        standard_error=error if units > 1 else None,
        interval=interval,
        settings=settings,
        **fields,
    )


_UNPAIRED_WHAT = "an unpaired test"


@dataclass(frozen=True, repr=False)
class Unpaired(SciPyNames, Brief):
    r"""One pair of systems on different instances, by one metric.

    Attributes:
        units_a: number of units (instances, or clusters where there are some) of a.
        delta: score_a - score_b.
        p_value: of the permutation test.
        log10_p: its base-10 logarithm; right also where `p_value` is below the smallest double.
        p_interval: Clopper-Pearson interval, at the level, for the p-value of infinitely many resamples; None if exact.
        p_adjusted: p_value adjusted for all pairs.
        method: "exact" or "montecarlo".
        reason: why this method was used.
        exceed: number of resamples at least as extreme; None if exact.
        standard_error: of delta: $\sqrt{s_a^2 + s_b^2}$ by the jackknife; None where a system has one unit.
        interval: of delta, by squaring and adding the distances between scores and the ends of their intervals. None
            where a score has none.
        rank_sum: the Wilcoxon-Mann-Whitney test; None unless there is one number per unit, whose mean is the score.
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

    Under the null hypothesis the instances of both systems are one sample: of all $n_a + n_b$, every set of $n_a$ is as
    likely to be the first system's. p is the probability that the scores of such a set and of the others differ as much
    as observed, $|\delta^*| \ge |\delta|$, ties included; sampled, it is (exceed + 1) / (resamples + 1). Clusters are
    exchanged whole, and the metric may be any of sums. For answers right or wrong, one-sided it is Fisher's exact test;
    two-sided it counts tables with as large a difference, and SciPy and R those with no larger a probability. The test
    asks whether results have one distribution: with unequal sizes a small p may come from unequal variance, too. What
    is hard for both systems is not taken out, so `compare`, on the same instances, has more power. The rank-sum test
    beside it is exact where counting ranks (ties share them) takes seconds; two-sided it is twice the smaller tail.

    Args:
        data: one file per system, as a list or a dict; a dict of one array per system, `[instance]` or
            `[instance, input]` (or id -> number, a data frame, or an `Evaluation` of one system); or what `compare`
            takes. Of a table, each system has the instances that it has (missing="pairwise").
        options: see `UnpairedOptions`.

    Raises:
        InputError: systems have instances, or clusters, in common (see `overlap`); strata; a metric that is no function
            of sums; an option outside its domain; no exact test for method="exact".

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
    """Refuse a pair that has instances in common, unless that is asked for; what to say of it."""
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
    both = _both(names, near)
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


def _both(names: tuple[str, str], samples: Sequence[EvaluationRecord]) -> EvaluationRecord:
    """An evaluation of both, each with nothing on the instances of the other; units of the first come first."""
    a, b = samples
    nothing = [np.zeros_like(sample.stats) for sample in samples]
    rows = [np.concatenate([a.stats, nothing[1]], axis=1), np.concatenate([nothing[0], b.stats], axis=1)]
    labels: list[str] = []
    for side, sample in enumerate(samples):
        named = sample.clusters or (None if sample.runs is None else sample.ids)
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


SampleTests = Sequence[Unpaired] | Sequence[OneSample]
_MOST_NOTES, _MOST_NAMED = 6, 3
_TESTS = {
    "binomial": "binomial: exact, for answers right or wrong; two-sided, scores at least as far from the number",
    "sign-flip": "sign-flip: permutation test of the differences from the number ({}); assumes that they are symmetric "
    "about 0 if the system is exactly as good as the number",
    "t": "t: by the jackknife, corrected for skewness, as the interval of the score; approximate for few units",
}
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
        **_p_columns(results),
        "rank-sum p": [words.DASH if each is None else words.format_p(each.p_value, threshold=alpha) for each in ranks],
    }
    methods = dict.fromkeys(each.assumes.rsplit("; ", 1)[1] for each in ranks if each is not None)
    return _document(
        results,
        "unpaired",
        _unpaired_verdict(results),
        f"{words.metric_title(results[0].metric)}, systems on different instances: unpaired tests, "
        f"{words.ALTERNATIVES[settings.alternative]}",
        [table_of(("system", "n", "score"), scores, (0,)), Table.of(columns, names=(0, 1), optional=("rank-sum p",))],
        [
            f"p: permutation of instances between the systems ({_methods(results)})",
            f"rank-sum: Wilcoxon-Mann-Whitney ({', '.join(methods) or 'of one number per instance only'})",
            _UNPAIRED,
        ],
    )


_OF_COLUMNS = "standard errors and percentile intervals are those of the bootstrap"


def _one_sample_document(results: Sequence[OneSample]) -> Document:
    first, settings = results[0], results[0].settings
    spec = words.number_spec([number for row in results for number in (row.score, row.against, row.delta)])
    columns = {
        "system": [row.system for row in results],
        "n": [f"{row.units:,}" for row in results],
        "score": [words.format_number(row.score, spec) for row in results],
        "std. error": [words.format_number(row.standard_error, spec) for row in results],
        f"{words.percent(settings.confidence_level)} interval": [
            words.format_interval(row.interval, spec) for row in results
        ],
    }
    if first.against is None:
        title = f"{words.metric_title(first.metric)}: scores, without a test"
        drawn = settings.interval == "percentile"
        verdict = f"Scores of {words.count(len(results), 'system')}; nothing is tested."
        return _document(results, "one-sample", verdict, title, [Table.of(columns, names=(0,))], [_OF_COLUMNS] * drawn)
    del columns["std. error"]
    columns |= {"delta": [words.format_number(row.delta, f"+{spec}") for row in results], **_p_columns(results)}
    columns["test"] = [row.test for row in results]
    tests = {row.test: [each for each in results if each.test == row.test] for row in results}
    made = _document(
        results,
        "one-sample",
        _one_sample_verdict(results),
        f"{words.metric_title(first.metric)} against {first.against:g}, {words.ALTERNATIVES[settings.alternative]}",
        [Table.of(columns, names=(0,), optional=("delta", "n"))],
        [
            *(_TESTS[test].format(_methods(tests[test])) for test in tests),
            f"{first.against:g} is treated as a known constant",
        ],
    )
    *others, signature = made.blocks
    return replace(made, blocks=[*others, f"{signature}|against:{first.against!r}"])


def _document(
    results: SampleTests, test: str, verdict: str, title: str, tables: Sequence[Table], explained: list[str]
) -> Document:
    """The verdict, warnings, the title, tables, what they mean, the notes and the signature."""
    settings = results[0].settings
    draws = settings.interval == "percentile" or any(row.exceed is not None for row in results)
    drawn = {"n": settings.resamples, "seed": settings.seed} if draws else {}
    signature = signature_line(
        test=test,
        metric=results[0].metric,
        alt=settings.alternative,
        **drawn,
        ties="ge",
        baseline=settings.baseline,
        correction=settings.correction,
        level=f"{settings.confidence_level:g}",
    )
    blocks = [*_notes(results, warnings=True), title, *tables, *explained, *_notes(results), signature]
    return Document(test.capitalize(), title, verdict, blocks)


def _unpaired_verdict(results: Sequence[Unpaired]) -> str:
    """Which system is significantly higher, or how many differences are significant."""
    (first, *others), settings = results, results[0].settings
    significant = [row for row in results if row.p_adjusted < settings.alpha]
    adjusted = f"adjusted p < {settings.alpha:g}"
    if others:
        verb = "is" if len(significant) == 1 else "are"
        named = words.first_of([f"{row.a} - {row.b}" for row in significant], _MOST_NAMED)
        number = f"{len(significant):,} of {words.count(len(results), 'difference')} {verb} significant ({adjusted})"
        return f"{number}: {named}." if named else f"{number}."
    p = words.format_p(first.p_value, log10_p=first.log10_p, threshold=settings.alpha)
    if not significant:
        return f"No significant difference between {first.a} and {first.b} ({words.p_is(p)})."
    high, low = (first.a, first.b) if first.delta > 0.0 else (first.b, first.a)
    return f"{high} is significantly above {low} ({words.p_is(p)})."


def _one_sample_verdict(results: Sequence[OneSample]) -> str:
    """Which system is significantly above or below the number, or how many are."""
    (first, *others), settings = results, results[0].settings
    significant = [row for row in results if row.p_adjusted is not None and row.p_adjusted < settings.alpha]
    than = {"greater": "above", "less": "below", "two-sided": "different from"}[settings.alternative]
    if others:
        verb = "is" if len(significant) == 1 else "are"
        number = f"{len(significant):,} of {words.count(len(results), 'system')}"
        named = words.first_of([row.system for row in significant], _MOST_NAMED)
        said = f"{number} {verb} significantly {than} {first.against:g} (adjusted p < {settings.alpha:g})"
        return f"{said}: {named}." if named else f"{said}."
    p = words.format_p(first.p_value or 0.0, log10_p=first.log10_p, threshold=settings.alpha)
    if not significant:
        return f"{first.system} is not significantly {than} {first.against:g} ({words.p_is(p)})."
    side = "above" if (first.delta or 0.0) > 0.0 else "below"
    return f"{first.system} is significantly {side} {first.against:g} ({words.p_is(p)})."


def _p_columns(results: Sequence[Any]) -> dict[str, Sequence[str]]:
    alpha = results[0].settings.alpha
    columns: dict[str, Sequence[str]] = {
        "p": [words.format_p(row.p_value, log10_p=row.log10_p, threshold=alpha) for row in results]
    }
    if len(results) > 1:
        columns[adjusted_p(results)] = [words.format_p(row.p_adjusted, threshold=alpha) for row in results]
    return columns


def _methods(results: SampleTests) -> str:
    """How p was computed, and the largest sampling error."""
    text = ", ".join(words.METHODS.get(method, method) for method in dict.fromkeys(row.method for row in results))
    drawn = [(row.p_value or 0.0, row.p_interval) for row in results if row.exceed is not None and row.p_interval]
    if not drawn:
        return text
    widest = max(max(ends.high - p, p - ends.low) for p, ends in drawn)
    return (
        f"{text}, with a {words.percent(results[0].settings.confidence_level)} interval of p ±{words.format_p(widest)}"
    )


def _notes(results: SampleTests, *, warnings: bool = False) -> list[str]:
    notes = list(dict.fromkeys(note for row in results for note in row.notes if words.is_warning(note) == warnings))
    if more := len(notes[_MOST_NOTES:]):
        notes[_MOST_NOTES:] = [f"{'warning: ' if warnings else ''}{more} more like these; --format json has them all"]
    return [note if warnings else f"note: {note}" for note in notes]
