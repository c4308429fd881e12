"""Unpaired tests: do systems differ that were tested on different instances?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from sigjax.classical.tests import ClassicalTest
from sigjax.classical.unpaired import rank_sum
from sigjax.comparison.options import CompareOptions
from sigjax.comparison.validate import baseline_of, named_errors
from sigjax.metrics import less
from sigjax.metrics.ratios import mean_score
from sigjax.permutation.two_samples import two_sample_test
from sigjax.records import Alternative, Device, Evaluation, InputError, Interval, Settings
from sigjax.records.brief import Brief, SciPyNames
from sigjax.records.corrections import PValueCorrection, adjust
from sigjax.records.metric import AnyMetric
from sigjax.records.options import check, option, same, values
from sigjax.records.signatures import takes
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.formulas import share_interval
from sigjax.studies.one_sample import OneSampleDataOptions
from sigjax.studies.samples import are_answers, common_offset, notes_of, samples_of, spread_of
from sigjax.testing.problem import Case
from sigjax.testing.runner import Runner
from sigjax.units.units import make_units

_WHAT = "an unpaired test"


@dataclass(frozen=True, repr=False)
class Unpaired(SciPyNames, Brief):
    r"""One pair of systems on different instances, by one metric.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        units_a: number of units (instances, or clusters where there are some) of a.
        units_b: those of b.
        score_a: score of a.
        score_b: score of b.
        delta: score_a - score_b.
        p_value: of the permutation test.
        log10_p: its base-10 logarithm; right also where `p_value` is below the smallest double.
        p_interval: Clopper-Pearson interval, at the level, for the p-value of infinitely many resamples; None if exact.
        p_adjusted: p_value adjusted for all pairs.
        method: "exact" or "montecarlo".
        reason: why this method was used.
        exceed: number of resamples at least as extreme; None if exact.
        standard_error: of delta: $\sqrt{s_a^2 + s_b^2}$ by the jackknife. None where a system has one unit.
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
class UnpairedOptions:
    """The options of unpaired tests."""

    overlap: bool = option(
        False,
        "Also test systems with instances in common, as if they were different ones.",
        "p is then usually too large. Where both have the same instances, `compare` has more power.",
        group="Main options",
    )
    alternative: Alternative = same(Settings, "alternative")
    method: Literal["auto", "exact", "montecarlo"] = same(
        Settings, "method", doc="Exact (no sampling), Monte Carlo, or auto: exact if that takes seconds.", more=""
    )
    resamples: int = same(Settings, "resamples", doc="Number of Monte Carlo resamples.", more="")
    seed: int = same(Settings, "seed")
    baseline: str | None = same(Settings, "baseline")
    correction: PValueCorrection = same(EquivalencePairsOptions, "correction")
    level: float = same(Settings, "level")
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True, kw_only=True)
class UnpairedDataOptions(UnpairedOptions):
    """The options of `unpaired`."""

    metric: AnyMetric | None = same(OneSampleDataOptions, "metric")


@takes(UnpairedDataOptions)
def unpaired(data: Any, options: UnpairedDataOptions) -> tuple[Unpaired, ...]:
    r"""Permutation and rank-sum tests of systems that were tested on different instances.

    Under the null hypothesis the instances of both systems are one sample: of all $n_a + n_b$, every set of $n_a$ is as
    likely to be the first system's. p is the probability that the scores of such a set and of the others differ as much
    as observed, $|\delta^*| \ge |\delta|$, ties included; sampled, it is (exceed + 1) / (resamples + 1). The sizes may
    differ, clusters are exchanged whole, and the metric may be any of sums. For answers right or wrong, one-sided it is
    Fisher's exact test; two-sided it counts tables with as large a difference, and SciPy and R those with no larger a
    probability. What both systems would find hard or easy alike is not taken out, so `compare`, on the same instances,
    has more power. The test asks whether the two laws are one: with unequal sizes a small p may come from unequal
    spread, too. The rank-sum test beside it is exact where counting ranks (ties share them) takes seconds; two-sided it
    is twice the smaller tail.

    Args:
        data: a dict of one array per system, `[instance]` or `[instance, input]` (or id -> number, or an `Evaluation`
            of one system); an `Evaluation` read with missing="pairwise"; or the path of a table.
        options: see `UnpairedDataOptions`.

    Raises:
        InputError: systems have instances, or clusters, in common (see `overlap`); strata; a metric of whole columns;
            an option outside its domain; no exact test for method="exact".

    Reference: Pitman (1937), "Significance tests which may be applied to samples from any populations"; Mann and
    Whitney (1947), "On a test of whether one of two random variables is stochastically larger than the other"; for the
    interval Newcombe (1998), "Interval estimation for the difference between independent proportions", method 10.

    Example:
        >>> (one,) = unpaired({"A": [5, 4, 5, 5], "B": [2, 3, 4]})
        >>> round(one.delta, 2), round(one.p_value * 35), round(one.rank_sum.p_value * 35)
        (1.75, 3, 4)
    """
    check(options)
    samples = samples_of(data, options.metric, what=_WHAT)
    names = tuple(samples)
    if len(names) < 2:
        one = "`sigjax one-sample` tests one against a number"
        raise InputError(f"{_WHAT} needs at least two systems, got {len(names)}; {one}")
    settings = Settings(**values(options, Settings))
    settings = replace(settings, baseline=baseline_of(names, settings))
    base, runner = settings.baseline, Runner(settings, options.device, options.progress)
    pairs = list(combinations(names, 2)) if base is None else [(name, base) for name in names if name != base]
    notes = {(a, b): _check_pair(a, b, samples, options) for a, b in pairs}
    found = [_test((a, b), (samples[a], samples[b]), runner, notes[a, b]) for a, b in pairs]
    adjusted = adjust(np.array([one.p_value for one in found]), settings.correction).tolist()
    return tuple(replace(one, p_adjusted=p) for one, p in zip(found, adjusted, strict=True))


def _check_pair(a: str, b: str, samples: dict[str, Evaluation], options: UnpairedOptions) -> tuple[str, ...]:
    """Refuse a pair that has instances in common, unless that is asked for; what to say of it."""
    first, second = samples[a], samples[b]
    for one in (first, second):
        if one.strata is not None:
            raise InputError(f"{_WHAT} exchanges instances of all strata; leave out --strata")
    for labels, what in (("ids", "instances"), ("clusters", "clusters")):
        own, other = getattr(first, labels), getattr(second, labels)
        shared = len(set(own or ()) & set(other or ()))
        if not shared:
            continue
        if not options.overlap:
            raise InputError(
                f"systems {a!r} and {b!r} have {shared:,} {what} in common, so their results depend on each other: "
                f"compare them on these, which has more power (`sigjax compare` with --missing drop); or if {labels} "
                "only look alike, give --overlap"
            )
        return (f"warning: {a!r} and {b!r} have {shared:,} {what} in common, taken for different ones",)
    if first.ids is None and second.ids is None and first.num_instances == second.num_instances:
        return (
            f"{a!r} and {b!r} have as many instances without ids: if these are the same in the same order, "
            "`sigjax compare` has more power",
        )
    return ()


def _test(
    names: tuple[str, str], samples: tuple[Evaluation, Evaluation], runner: Runner, notes: tuple[str, ...]
) -> Unpaired:
    answers, settings, offset = are_answers(samples), runner.settings, common_offset(samples)
    near = [less(one, offset) if offset else one for one in samples]
    both = _both(names, near)
    with named_errors([both], runner):
        case = Case.of(make_units(both), both.metric, np.array([[0, 1]], np.int32), settings)  # pyright: ignore
        spreads = [spread_of(one, settings, answers=answers) for one in near]
        first, second = (len(alone.units.strata) for alone, _ in spreads)
        outcome = two_sample_test(case, first, runner)
    (of_a, in_a), (of_b, in_b) = ((own.standard_error, own.interval) for _, own in spreads)
    error = math.hypot(of_a or 0.0, of_b or 0.0) if min(first, second) > 1 else None
    about = [note for of in zip(names, samples, (first, second), (in_a, in_b), strict=True) for note in notes_of(*of)]
    score_a, score_b = case.question.scores
    exceed, resamples = outcome.exceed, settings.fixed_resamples
    ends = None if exceed is None else share_interval(exceed, resamples, settings.level)
    return Unpaired(
        *(*names, both.metric.name, first, second, score_a + offset, score_b + offset, score_a - score_b),
        *(outcome.p_value, outcome.log10_p, ends, outcome.p_value, outcome.method, outcome.reason, exceed),
        *(error, _difference(score_a, in_a, score_b, in_b), _ranks(case, first), (*notes, *about), settings),
    )


def _both(names: tuple[str, str], samples: Sequence[Evaluation]) -> Evaluation:
    """An evaluation of both, each with nothing on the instances of the other; units of the first come first."""
    a, b = samples
    nothing = [np.zeros_like(one.stats) for one in samples]
    rows = [np.concatenate([a.stats, nothing[1]], axis=1), np.concatenate([nothing[0], b.stats], axis=1)]
    labels: list[str] = []
    for place, one in enumerate(samples):
        own = one.clusters or (None if one.runs is None else one.ids)
        labels += [f"{place}:{label}" for label in own or map(str, range(one.num_instances))]
    return Evaluation(names, np.concatenate(rows), None, a.metric, clusters=tuple(labels))


def _difference(a: float, of_a: Interval | None, b: float, of_b: Interval | None) -> Interval | None:
    """The interval of a difference, from those of two independent scores."""
    if of_a is None or of_b is None:
        return None
    below, above = math.hypot(a - of_a.low, of_b.high - b), math.hypot(of_a.high - a, b - of_b.low)
    return Interval(a - b - below, a - b + above)


def _ranks(case: Case, first: int) -> ClassicalTest | None:
    units = case.units.values.sum(axis=0)
    if case.metric.score is not mean_score or (units[:, 1] != (units[0, 1])).any():
        return None
    a, b = np.split(units[:, 0], [first])
    return rank_sum(a, b, case.settings.alternative, rounding=0 if case.units.exact else 2)
