"""One-sample tests: test the score of each system against a number, or give only its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.analysis import run_tests
from sigjax.comparison.checks import check_units, named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions
from sigjax.formats.reading import is_array
from sigjax.metrics.ratios import ACCURACY, mean_score
from sigjax.records import (
    Device,
    EvaluationRecord,
    Hint,
    InputError,
    Interval,
    Metric,
    SampleMetric,
    Settings,
)
from sigjax.records.display import SciPyNames, ShortRepr
from sigjax.records.options import check, option, takes, values
from sigjax.report.document import Document
from sigjax.report.sections import Table
from sigjax.run.backend import host_scope
from sigjax.run.context import Context
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
    with_adjusted_p,
)
from sigjax.testing.columns import ColumnsProblem
from sigjax.testing.intervals import right_or_wrong
from sigjax.testing.jackknife import degrees_of_freedom, influences
from sigjax.testing.problem import SumsProblem
from sigjax.testing.skewed_t import skewed_tail, skewness
from sigjax.testing.special import log_upper
from sigjax.testing.tests import problem_of
from sigjax.testing.winner import SKEWED, winner_interval


def _of_columns(
    sample: EvaluationRecord, settings: Settings, context: Context
) -> tuple[ColumnsProblem, float | None, Interval | None]:
    """Return the data of one system for a test, and the bootstrap standard error and interval of its score.

    This is for metrics that are not functions of sums. Resamples and results are the same as in `compare` with the same
    seed.
    """
    problem = problem_of(sample, settings, np.zeros((0, 2), np.int32))
    assert isinstance(problem, ColumnsProblem)
    _, systems = run_tests(problem, context.at(sample.metric.name))
    return problem, systems.values("standard_error")[0], systems.values("interval")[0]


OneSampleTest = Literal["none", "binomial", "sign-flip", "t"]
_ROUNDING = Fraction(1, 10**15)
"""Tolerance when distances from a number are compared, because a double cannot represent numbers such as 1/3: 4/15 and
6/15 must be equally far from 1/3."""


def _is_right_or_wrong(samples: Sequence[EvaluationRecord], against: float | None) -> bool:
    """Whether 0 and 1 mean wrong and right answers, instead of ratings that happen to be 0 or 1.

    The result is true exactly if all numbers are 0 or 1, and the number `against` (if given) is above 0 and below 1.
    For the metric accuracy, a number `against` that is not between 0 and 1 raises an error.
    """
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
    return score + float(Fraction(repr(offset)) - Fraction(repr(against)))  # the decimals of users are exact


def _are_proportions(sample: EvaluationRecord, *, binary: bool) -> bool:
    """Whether the two statistics of each unit can be a number of right answers and a number of answers."""
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


def _sign_flip_notes(
    sample: EvaluationRecord, problem: SumsProblem, error: float | None, against: float, p_value: float
) -> tuple[str, ...]:
    """Return warnings about a sign-flip test of a score against the number `against`.

    One warning appears if all results are 0 or 1, but the number is not from 0 to 1. Another warning appears if the t
    test gives another decision. Unlike the sign-flip test, the t test does not need symmetric differences. `error` is
    the standard error of the score, and `p_value` the p-value of the sign-flip test.
    """
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
    """Return the result of the t test of a score against a number. It agrees with the interval of the score.

    `error` is the standard error of the score.
    """
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
class OneSample(SciPyNames, ShortRepr):
    """Result of `one_sample` for one system: its score, and the test against a number.

    Attributes:
        against: the number. If no number was given, it is None, there is no test, and delta and all p are None.
        units: number of units (instances, or clusters if there are some).
        delta: score - against.
        log10_p: base-10 logarithm of p. Except for t, it is accurate even if `p_value` is below the smallest double.
        p_interval: interval of p if p is sampled; bounds of p if only bounds are known; else None.
        p_adjusted: p_value adjusted for all systems.
        test: "binomial", "sign-flip" or "t"; see `one_sample`. "none" without a number.
        method: "exact", "montecarlo" or "t"; "none" without a number.
        exceed: number of resamples at least as extreme as observed; None if p is not sampled.
        standard_error: standard error of the score by the jackknife. If the metric is not a function of sums (AUC,
            correlation, median), it comes from the bootstrap. None for one unit.
        interval: confidence interval of the score: Wilson's interval for right-or-wrong answers; the percentile
            interval of the bootstrap if the metric is not a function of sums, as in `compare`; else the t interval.
            None for one unit.
        best_of: number of systems among which this system was chosen as the best, if its interval accounts for the
            choice; else None.
        notes: what a reader of the numbers should know.
        settings: seed, resamples, alternative, level and correction; and interval="percentile" if `interval` comes from
            the bootstrap.
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
    best_of: int | None
    notes: tuple[str, ...]
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class OneSampleOptions(SamplesOptions):
    """The options of tests against a number."""

    against: float | None = option(
        None,
        "The number to test against, on the scale of the metric; default: no test, only score and interval.",
        group="Main options",
    )
    best: bool = option(
        False,
        "The interval of the best system also counts that it was chosen among all.",
        "By the zoom correction of Zrnic and Fithian (2024), see `testing.winner`. It needs the same instances of all "
        "systems, and a metric of sums.",
        group="Main options",
    )


@takes(OneSampleOptions)
def one_sample(data: Any, options: OneSampleOptions) -> StudyRows[OneSample]:
    r"""Score each system with an interval, and test it against a number: 1/2, the middle of a scale, a published score.

    The number is taken as known exactly. If a published score has a sampling error of its own, compare the outputs of
    both systems instead. The test depends on the data:

    - `binomial`: for right-or-wrong answers, one per unit. The test is exact: under the null hypothesis, the number of
      right answers is binomial, and its probability is the given number c. The two-sided test counts proportions at
      least as far from c, $|\hat p^* - c| \ge |\hat p - c|$. (SciPy and R count the outcomes that are at most as
      probable; at c = 1/2 these are the same.) It is not used if the scores of any system are not all 0 or 1, or if c
      is not between 0 and 1, because then scores may be ratings.
    - `sign-flip`: for means of other numbers; also for shares of right answers in clusters, runs or tokens if c = 1/2.
      It is the permutation test against a system with the score c on every instance. It flips the signs of $x_i - c$,
      or of the sums of a cluster. It is exact if $x_i$ is symmetric about c under the null hypothesis, and nearly exact
      for many units. With few skewed numbers, p is often too small; if the t test disagrees, a note says so.
    - `t`: for shares of right answers in clusters, runs or tokens if c is not 1/2, and for metrics that are not a mean
      (F1, BLEU). It is Student's t test with the jackknife, corrected for skewness. It agrees with the interval.

    If the metric is not a function of sums (AUC, correlation, median), the standard error and percentile interval come
    from the bootstrap, as in `compare`. There is no test, because no test corresponds to a percentile interval.

    Args:
        data: an array `[instance]` or `[instance, input]`; a dict from system to such an array (or to id -> number); or
            what `compare` takes, with one or more systems.
        options: the fields of `OneSampleOptions`, as keyword arguments.

    Raises:
        InputError: `against` or `best` is given, but the metric is not a function of sums; `against` is not finite, or
            not between 0 and 1 for accuracies; `best` is given, but systems have different instances; an option is
            outside its domain; there is no exact test for method="exact".

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
        if options.best:
            results = _with_best(results, samples, settings, binary=binary)
    results = results if options.against is None else with_adjusted_p(results, settings.correction)
    return StudyRows(results, "one-sample", "systems", _one_sample_document)


def _test(
    name: str, sample: EvaluationRecord, settings: Settings, options: OneSampleOptions, *, binary: bool
) -> OneSample:
    """Score and test the system `name`. `binary`: whether 0 and 1 mean wrong and right answers."""
    against = None if options.against is None else float(options.against)
    fields: dict[str, Any] = {"p_interval": None, "exceed": None, "notes": ()}
    if isinstance(sample.metric, SampleMetric):
        settings = replace(settings, test=(), interval="percentile")
    with named_errors([sample], settings):
        if isinstance(sample.metric, SampleMetric):
            problem, error, interval = _of_columns(sample, settings, Context(options.device, options.progress))
        else:
            problem, error, interval = spread_of(sample, settings, binary=binary)
        number = Fraction(repr(against or 0.0))  # the exact decimal that the user wrote, so that 14 of 20 is 0.7
        if against is None or isinstance(problem, ColumnsProblem):
            fields |= {"test": "none", "method": "none", "p_value": None}
        elif binary and right_or_wrong(problem):
            fields |= _binomial(problem, number)
        elif problem.metric.score is not mean_score or (against != 0.5 and _are_proportions(sample, binary=binary)):
            fields |= _by_t(problem, error, against)
        else:
            fields |= _sign_flip(sample, number, problem, options.device)
            fields["notes"] += _sign_flip_notes(sample, problem, error, against, fields["p_value"])
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
        best_of=None,
        settings=settings,
        **fields,
    )


def _with_best(
    results: Sequence[OneSample], samples: Mapping[str, EvaluationRecord], settings: Settings, *, binary: bool
) -> list[OneSample]:
    """Return the results; the interval of the best system is corrected, because this system was chosen as the best."""
    every, first = [*samples.values()], next(iter(samples.values()))
    if len(every) < 2:
        raise InputError(f"{Hint('best')} chooses among systems, and there is one; leave it out")
    if not isinstance(first.metric, Metric):
        raise InputError(f"{Hint('best')} takes a metric of sums, and {first.metric.name!r} is none; leave it out")
    for name, sample in samples.items():
        if any(getattr(sample, what) != getattr(first, what) for what in ("ids", "clusters", "strata", "runs")) or (
            sample.num_instances != first.num_instances
        ):
            raise InputError(
                f"{Hint('best')} needs the same instances of all systems, and those of {name!r} are others; compare "
                f"them on common ones, with {Hint('missing', 'drop')}"
            )
    sign = 1.0 if first.metric.higher_is_better else -1.0
    problems = [spread_of(sample, settings, binary=binary)[0] for sample in every]
    spreads = [influences(problem.shifted.alone if problem.shifted else problem)[0] for problem in problems]
    scores, influence = sign * np.array([row.score for row in results]), sign * np.stack(spreads)
    best = int(np.argmax(scores))
    row, problem = results[best], problems[best]
    right = round(row.score * row.units) if binary and right_or_wrong(problem) else None
    interval = winner_interval(
        sign * scores,
        sign * influence,
        settings.confidence_level,
        lambda level: spread_of(every[best], replace(settings, confidence_level=level), binary=binary)[2],
        sign=sign,
        right=right,
        draws=settings.fixed_resamples,
        seed=settings.seed,
    )
    notes = [f"{row.system!r}: the best of {len(every):,} systems; its interval also counts that it was chosen"]
    if tied := [each.system for number, each in enumerate(results) if scores[number] == scores[best] and each != row]:
        notes.append(f"{words.first_of(tied, MOST_NAMED)} {'has' if len(tied) == 1 else 'have'} the same score")
    sizes = np.sqrt((influence**2).sum(axis=1))
    if right is None and (skewed := float(np.abs(skewness(influence, sizes)).max())) > SKEWED:
        notes.append(
            f"warning: the scores of instances are skewed (skewness of a mean: {skewed:.2g}): the interval of the best "
            f"misses more often than in {words.percent(1.0 - settings.confidence_level)}; more instances help"
        )
    corrected = replace(row, interval=interval, best_of=len(every), notes=(*row.notes, *notes))
    return [corrected if number == best else each for number, each in enumerate(results)]


_TESTS = {
    "binomial": "binomial: exact, for answers right or wrong; two-sided, scores at least as far from the number",
    "sign-flip": "sign-flip: permutation test of the differences from the number ({}); assumes that they are symmetric "
    "about 0 if the system is exactly as good as the number",
    "t": "t: by the jackknife, corrected for skewness, as the interval of the score; approximate for few units",
}
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
    chosen, explained = "", list[str]()
    for row in (row for row in results if row.best_of and row.interval):
        score, ends = words.format_number(row.score, spec), words.format_interval(row.interval, spec)
        chosen = f"Best of {row.best_of:,} systems: {row.system} ({score}). Its "
        chosen += f"{words.percent(settings.confidence_level)} interval for new instances, "
        chosen += f"which counts that it was chosen, is {ends}."
        columns["best of"] = [f"{each.best_of:,}" if each.best_of else "" for each in results]
        explained = ["best of: the interval counts that the system was chosen among so many"]
    if first.against is None:
        title = f"{words.metric_title(first.metric)}: scores, without a test"
        drawn = settings.interval == "percentile"
        verdict = f"Scores of {words.count(len(results), 'system')}; nothing is tested."
        verdict = chosen or verdict
        return sample_document(
            results, "one-sample", verdict, title, [Table.of(columns, names=(0,))], explained + [_OF_COLUMNS] * drawn
        )
    del columns["std. error"]
    columns |= {"delta": [words.format_number(row.delta, f"+{spec}") for row in results], **p_columns(results)}
    columns["test"] = [row.test for row in results]
    tests = {row.test: [each for each in results if each.test == row.test] for row in results}
    made = sample_document(
        results,
        "one-sample",
        f"{_one_sample_verdict(results)} {chosen}".rstrip(),
        f"{words.metric_title(first.metric)} against {first.against:g}, {words.ALTERNATIVES[settings.alternative]}",
        [Table.of(columns, names=(0,), optional=("delta", "n"))],
        [
            *explained,
            *(_TESTS[test].format(methods_of_results(tests[test])) for test in tests),
            f"{first.against:g} is treated as a known constant",
        ],
    )
    *others, signature = made.blocks
    return replace(made, blocks=[*others, f"{signature}|against:{first.against!r}"])


def _one_sample_verdict(results: Sequence[OneSample]) -> str:
    """Say whether the system is significantly above or below the number; for several systems, how many of them are."""
    (first, *others), settings = results, results[0].settings
    significant = [row for row in results if row.p_adjusted is not None and row.p_adjusted < settings.alpha]
    than = {"greater": "above", "less": "below", "two-sided": "different from"}[settings.alternative]
    if others:
        verb = "is" if len(significant) == 1 else "are"
        number = f"{len(significant):,} of {words.count(len(results), 'system')}"
        named = words.first_of([row.system for row in significant], MOST_NAMED)
        said = f"{number} {verb} significantly {than} {first.against:g} (adjusted p < {settings.alpha:g})"
        return f"{said}: {named}." if named else f"{said}."
    p = words.format_p(first.p_value or 0.0, log10_p=first.log10_p, threshold=settings.alpha)
    if not significant:
        return f"{first.system} is not significantly {than} {first.against:g} ({words.p_is(p)})."
    side = "above" if (first.delta or 0.0) > 0.0 else "below"
    return f"{first.system} is significantly {side} {first.against:g} ({words.p_is(p)})."
