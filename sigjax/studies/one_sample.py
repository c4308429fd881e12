"""One system against a number: is its accuracy above 0.5, its mean rating above 3, its win rate not 1/2?"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sigjax.comparison.options import CompareOptions
from sigjax.comparison.validate import named_errors
from sigjax.records import Alternative, Device, Evaluation, Interval, Settings
from sigjax.records.brief import Brief, SciPyNames
from sigjax.records.corrections import PValueCorrection, adjust
from sigjax.records.metric import AnyMetric
from sigjax.records.options import check, option, required, same, values
from sigjax.records.signatures import takes
from sigjax.run.backend import host_scope
from sigjax.studies.against import OneSampleTest, against_number, distance, takes_answers
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.samples import notes_of, samples_of, spread_of
from sigjax.testing.runner import Runner

_WHAT = "a test against a number"


@dataclass(frozen=True, repr=False)
class OneSample(SciPyNames, Brief):
    """One system against a number, by one metric.

    Attributes:
        system: name of the system.
        metric: name of the metric.
        against: the number.
        units: number of units (instances, or clusters where there are some).
        score: score of the system.
        delta: score - against.
        p_value: of the test.
        log10_p: its base-10 logarithm; right also where `p_value` is below the smallest double, except for t.
        p_interval: bounds of p where it is sampled, or not known more closely; else None.
        p_adjusted: p_value adjusted for all systems.
        test: "binomial", "sign-flip" or "t"; see `one_sample`.
        method: "exact" or "montecarlo"; for t "t".
        exceed: number of resamples at least as extreme; None unless sampled.
        standard_error: of the score, by the jackknife; None for one unit.
        interval: of the score, at the level: Wilson's for answers right or wrong, else by t; None for one unit.
        notes: what a reader of the numbers should know.
        settings: seed, resamples, alternative, level and correction.
    """

    _first = ("system", "metric", "against", "score", "interval", "p_value", "p_adjusted", "test")

    system: str
    metric: str
    against: float
    units: int
    score: float
    delta: float
    p_value: float
    log10_p: float
    p_interval: Interval | None
    p_adjusted: float
    test: OneSampleTest
    method: str
    exceed: int | None
    standard_error: float | None
    interval: Interval | None
    notes: tuple[str, ...]
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class OneSampleOptions:
    """The options of tests against a number."""

    against: float = required("The number to test against, on the scale of the metric.", group="Main options")
    alternative: Alternative = same(
        Settings, "alternative", doc="Which differences (score minus number) count as extreme.", more=""
    )
    method: Literal["auto", "exact", "montecarlo"] = same(
        Settings, "method", doc="Of sign flips: exact (no sampling), Monte Carlo, or auto.", more=""
    )
    resamples: int = same(Settings, "resamples", doc="Number of Monte Carlo resamples.", more="")
    seed: int = same(Settings, "seed")
    correction: PValueCorrection = same(
        EquivalencePairsOptions, "correction", doc="How p is adjusted for several systems."
    )
    level: float = same(Settings, "level")
    device: Device = same(CompareOptions, "device")


@dataclass(frozen=True, kw_only=True)
class OneSampleDataOptions(OneSampleOptions):
    """The options of `one_sample`."""

    metric: AnyMetric | None = option(
        None, 'Metric of arrays and files: a name ("mean" when left out), a `Metric`, or a function of sums.'
    )


@takes(OneSampleDataOptions)
def one_sample(data: Any, options: OneSampleDataOptions) -> tuple[OneSample, ...]:
    r"""Test the score of each system against a number, such as 1/2, the middle of a scale, or a published figure.

    The number is taken for certain: a published score that has an error of its own is compared by its outputs.

    - `binomial`: answers right or wrong, one per unit. Exact: the right ones are binomial with the number as
      probability. Two-sided counts scores at least as far from it, $|\hat p^* - c| \ge |\hat p - c|$ (SciPy and R those
      no more likely: the same at 1/2). Not where another system has other numbers, or the number is not between 0
      and 1: ratings may all be 1.
    - `sign-flip`: means of other numbers. The number stands as a system that has it on every instance, and the
      permutation test of the two flips the signs of $x_i - c$, of clusters those of their sums: exact where $x_i$ is
      symmetric about c under the null hypothesis, nearly so for many units. Of few skewed numbers p is often too small;
      a note says where t would decide otherwise. Also shares of right answers of clusters,
      repeated runs or tokens, against 1/2, where right and wrong may change places.
    - `t`: such shares against any other number, which are not symmetric about it, and metrics that are no mean, of
      which the number has no statistics to exchange (F1, BLEU): Student's t by the jackknife, corrected for skewness,
      the test whose intervals `interval` gives.

    Args:
        data: an array `[instance]` or `[instance, input]`; a dict of one per system (or id -> number, or an
            `Evaluation` of one system); an `Evaluation`; or the path of a file.
        options: see `OneSampleDataOptions`.

    Raises:
        InputError: a metric of whole columns; a number that is not finite, or for accuracies not between 0 and 1; an
            option outside its domain; no exact test for method="exact".

    Reference: Fisher (1935), "The design of experiments", section 21; Hall (1992), "On the removal of skewness
    by transformation".

    Example:
        >>> (one,) = one_sample([1, 1, 1, 0, 1, 1, 1, 1], against=0.5, metric="accuracy")
        >>> one.test, one.score, round(one.p_value, 4)
        ('binomial', 0.875, 0.0703)
        >>> (one,) = one_sample([4, 5, 3, 4, 5], against=3)
        >>> one.test, one.p_value
        ('sign-flip', 0.125)
    """
    check(options)
    if not isinstance(data, Evaluation | Mapping | str | os.PathLike):
        data = {"a": data}
    settings = Settings(**values(options, Settings))
    samples = samples_of(data, options.metric, what=_WHAT)
    answers = takes_answers(samples.values(), options.against)
    with host_scope():
        found = [_test(name, one, settings, options, answers=answers) for name, one in samples.items()]
    adjusted = adjust(np.array([one.p_value for one in found]), settings.correction).tolist()
    return tuple(replace(one, p_adjusted=p) for one, p in zip(found, adjusted, strict=True))


def _test(name: str, sample: Evaluation, settings: Settings, options: OneSampleOptions, *, answers: bool) -> OneSample:
    against = float(options.against)
    with named_errors([sample], Runner(settings, "numpy")):
        case, spread = spread_of(sample, settings, answers=answers)
        found = against_number(sample, case, spread, against, options.device, answers=answers)
    (score,) = case.observed_scores
    units = len(case.units.strata)
    return OneSample(
        *(name, sample.metric.name, against, units, score, distance(case, against)),
        *(found.p_value, found.log_p / math.log(10.0) + 0.0, found.p_interval, found.p_value),
        *(found.test, found.method, found.exceed, spread.standard_error if units > 1 else None, spread.interval),
        *((*notes_of(name, sample, units, spread.interval), *found.notes), settings),
    )
