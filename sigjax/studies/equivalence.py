"""Equivalence: are two systems alike up to a margin, or is one not worse than the other by more than that?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sigjax.bootstrap.closed import closed_spreads
from sigjax.bootstrap.intervals import Spread, standard_error
from sigjax.bootstrap.registry import in_closed_form, interval_kinds
from sigjax.bootstrap.sampled import all_replicates
from sigjax.bootstrap.shared_draws import SharedDraws
from sigjax.comparison.compare import CompareOptions
from sigjax.comparison.errors import check_units, named_errors
from sigjax.comparison.metric_kinds import kind_of, make_case
from sigjax.comparison.paired import BootstrapOptions
from sigjax.comparison.validate import check_evaluations
from sigjax.metrics import evaluation_from_arrays
from sigjax.records import Correction, Device, Evaluation, InputError, Settings, Variant
from sigjax.records.metric import AnyMetric
from sigjax.records.options import check, option, required, same, takes, values
from sigjax.run.backend import host_scope
from sigjax.studies.records import Claim, Equivalence, EquivalenceMethod
from sigjax.studies.tost import dual_interval, margin_exceed, margin_tails
from sigjax.studies.trials import share_interval
from sigjax.testing.p_values import adjust, montecarlo_p
from sigjax.testing.problem import Case, SampleCase
from sigjax.testing.runner import Runner


@dataclass(frozen=True, kw_only=True)
class EquivalenceOptions:
    """The options of both functions."""

    margin: float = field(
        metadata=required(
            "Largest score difference that does not matter; fix it beforehand.", above=0, group="Main options"
        )
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
    correction: Correction = same(Settings, "correction", more='Not "maxt" or "minp", which need the permutation test.')


@takes(EquivalencePairOptions)
def equivalence_test(a: Any, b: Any, options: EquivalencePairOptions) -> Equivalence:
    r"""Test that two systems are alike up to a margin: two one-sided paired tests (TOST).

    The null hypotheses are $\delta \le -m$ and $\delta \ge m$; equivalence is shown where both are rejected, so that
    p is the larger of their p-values, without correction (an intersection-union test). The tests are those of the
    intervals that `compare` gives by default: of answers right or wrong Tango's score tests, of other metrics of sums
    t tests with the standard error s of the jackknife, $(\delta + m) / s$ and $(m - \delta) / s$. Bootstrap tests,
    which reject too often with fewer than 30 units, have their null distribution moved to the margin: $p = (c + 1) / (K
    + 1)$ with the counts $\delta^* - \delta - m \ge \delta$ and $\delta^* - \delta + m \le \delta$ of K resamples, ties
    included. A large p of a test for differences shows nothing of the kind.

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
    (found,) = equivalence(evaluation, **values(options, EquivalenceOptions))
    return found


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
    evaluations = [evaluation] if isinstance(evaluation, Evaluation) else list(evaluation)
    check(options)
    if options.variant != "shift" and options.method != "bootstrap":
        raise InputError(f"variant {options.variant} belongs to bootstrap tests; ask for method bootstrap with it")
    if options.correction in ("maxt", "minp"):
        raise InputError(
            f"correction {options.correction} belongs to the permutation test; use holm, hochberg or bonferroni here"
        )
    settings = Settings(test="bootstrap", **values(options, Settings, method="montecarlo"))
    check_evaluations(evaluations, settings)
    asked = _Asked(float(options.margin), options.claim, options.method, settings)
    with host_scope():
        return tuple(found for each in evaluations for found in _of_metric(each, asked, options.device))


class _Asked(NamedTuple):
    margin: float
    claim: Claim
    method: EquivalenceMethod
    settings: Settings


class _Tested(NamedTuple):
    """What the tests of one pair say."""

    p_lower: float
    p_upper: float
    spread: Spread
    exceed: tuple[int, int] | None
    """Resamples behind both p-values, where there are some."""


def _of_metric(evaluation: Evaluation, asked: _Asked, device: Device) -> list[Equivalence]:
    """All pairs by one metric."""
    runner = Runner(asked.settings, device)
    with named_errors([evaluation], runner):
        case = make_case(evaluation, asked.settings)
        check_units(len(case.units.strata), "equivalence")
        method, tested = _closed(case, asked) if _is_closed(case, asked) else _bootstrap(case, asked, runner)
    pairs = zip(case.question.pairs, tested, strict=True)
    found = [_of_pair(evaluation, case, pair, of_pair, method, asked) for pair, of_pair in pairs]
    adjusted = adjust(np.array([each.p_value for each in found]), asked.settings.correction).tolist()
    alpha = asked.settings.alpha
    return [replace(each, p_adjusted=p, holds=p < alpha) for each, p in zip(found, adjusted, strict=True)]


def _interval_level(settings: Settings) -> float:
    return round(2.0 * settings.level - 1.0, 12)


def _is_closed(case: Case | SampleCase, asked: _Asked) -> bool:
    return asked.method == "auto" and in_closed_form(case.metric, case.settings)


def _closed(case: Case | SampleCase, asked: _Asked) -> tuple[str, list[_Tested]]:
    """The tests of all pairs without resamples, and their name.

    Raises:
        NotFinite: the metric gave NaN or infinity.
        InputError: no stratum has two units.
    """
    assert isinstance(case, Case)
    _, spreads = closed_spreads(case._replace(settings=replace(case.settings, level=_interval_level(case.settings))))
    if spreads[0].interval is None:
        raise InputError("equivalence needs a stratum of at least two units; leave the strata out")
    return interval_kinds(case).pairs or "", [
        _Tested(*margin_tails(case, pair, spread.standard_error or 0.0, asked.margin), spread, None)
        for pair, spread in zip(case.question.pairs, spreads, strict=True)
    ]


def _bootstrap(case: Case | SampleCase, asked: _Asked, runner: Runner) -> tuple[str, list[_Tested]]:
    """The bootstrap tests of all pairs, and their name.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    settings, replicates, tested = asked.settings, _replicates(case, runner), []
    for a, b in case.question.pairs:
        deltas, delta = replicates[a] - replicates[b], case.question.delta((a, b))
        counts = margin_exceed(deltas, delta, asked.margin, case.question.tolerance((a, b)), settings.variant)
        above, below = (float(montecarlo_p(count, settings.fixed_resamples)) for count in counts)
        interval = dual_interval(deltas, delta, _interval_level(settings), settings.variant)
        tested.append(_Tested(above, below, Spread(standard_error(deltas), interval), counts))
    return "bootstrap", tested


def _replicates(case: Case | SampleCase, runner: Runner) -> np.ndarray:
    """Bootstrap scores `[system, resample]`.

    Raises:
        NotFinite: the metric gave NaN or infinity.
    """
    kind, shape = kind_of(case), (len(case.question.scores), case.settings.fixed_resamples)
    with kind.sized(runner, 0, draws=True).run("bootstrap") as run:
        return all_replicates(partial(kind.replicates, draws=SharedDraws([])), shape, run)


def _of_pair(
    evaluation: Evaluation, case: Case | SampleCase, pair: tuple[int, int], tested: _Tested, method: str, asked: _Asked
) -> Equivalence:
    settings, (a, b) = asked.settings, pair
    assert tested.spread.interval is not None
    assert tested.spread.standard_error is not None
    if asked.claim == "equivalence":
        upper = tested.p_upper > tested.p_lower
    else:
        upper = not evaluation.metric.higher_is_better
    p_value = tested.p_upper if upper else tested.p_lower
    exceed = None if tested.exceed is None else tested.exceed[upper]
    return Equivalence(
        a=evaluation.systems[a],
        b=evaluation.systems[b],
        metric=evaluation.metric.name,
        claim=asked.claim,
        margin=asked.margin,
        score_a=case.question.scores[a],
        score_b=case.question.scores[b],
        delta=case.question.delta(pair),
        p_lower=tested.p_lower,
        p_upper=tested.p_upper,
        p_value=p_value,
        p_interval=None if exceed is None else share_interval(exceed, settings.fixed_resamples, settings.level),
        p_adjusted=p_value,
        holds=p_value < settings.alpha,
        interval=tested.spread.interval,
        interval_level=_interval_level(settings),
        standard_error=tested.spread.standard_error,
        exceed=exceed,
        method=method,
        settings=settings,
    )
