"""Calibration: how often is the winner of a test with p near 0.05 the better system of the whole population?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sigjax.comparison.checks import check_evaluations, check_together
from sigjax.comparison.options import CompareOptions, list_evaluations
from sigjax.records import Device, Evaluation, InputError, Interval, Settings, Test, Variant
from sigjax.records.options import check, option, required, same, takes, values
from sigjax.studies.formulas import SHARE_LEVEL, check_resamples, clustered_share
from sigjax.studies.records import Study
from sigjax.studies.thresholds import SIDES, Side, TestedOptions, check_range, table_ranges
from sigjax.studies.trials import (
    StudyOptions,
    Trials,
    allotted,
    drawn,
    make_pilot,
    of_strata,
    run_trials,
    select,
    winners,
)
from sigjax.version import __version__


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The options of `calibration`."""

    instances: int = required(
        "Number of instances (or clusters) of a test set.", group="Main options", least=2, most=10_000_000
    )
    repetitions: int = same(
        StudyOptions, "repetitions", 200, doc="Number of test sets, drawn with replacement.", more="", least=2
    )
    systems: Sequence[str] | None = option(None, "Names of the systems; all when left out.", group="Main options")
    test: Test | Sequence[Test] = same(
        Settings, "test", ("permutation", "bootstrap"), more="The permutation test is exact where that takes seconds."
    )
    variant: Variant | Sequence[Variant] = same(Settings, "variant", ("shift", "flip"))
    alternative: Side = same(TestedOptions, "alternative")
    p_range: Sequence[float] = same(TestedOptions, "p_range", doc="Lowest and highest p of the tests in question.")
    resamples: int = same(StudyOptions, "resamples", 9999, more="")
    seed: int = same(Settings, "seed")
    device: Device = same(CompareOptions, "device")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True)
class CalibratedRange:
    """Tests with p in one range.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        variant: of the bootstrap test, "shift" or "flip"; None for the permutation test.
        low: lower end of the range, which belongs to the range asked for, not to those of Table 1.
        high: upper end, which belongs to it.
        tests: number of pairs on test sets with p in the range.
        right: how many of them have the same winner on the whole data.
        share: right / tests; None without tests.
        interval: 95% interval of the share for infinitely many test sets; see `formulas.clustered_share`.
        nominal: mean of 1 - p, p one-sided: the share that people expect who read 1 - p as the probability that the
            winner is better.
    """

    metric: str
    test: Test
    variant: Variant | None
    low: float
    high: float
    tests: int
    right: int
    share: float | None
    interval: Interval | None
    nominal: float | None


@dataclass(frozen=True, repr=False)
class Calibration(Study):
    """How often winners on test sets are winners on the whole data, by p.

    Attributes:
        systems: names of the systems.
        ranges: metric by metric and test by test: first the range asked for, then those of Table 1 of the paper.
        repetitions: number of test sets.
        instances: number of units of a test set.
        num_pairs: number of pairs of systems.
        pairs: for each metric, the number of pairs that differ on the whole data; others are left out.
        methods: for each metric and test, the number of p-values by method.
        num_instances: number of instances of the whole data.
        num_units: number of its units (instances, or clusters where there are some).
        alternative: which p-values: "one-sided" (for the winner on the test set) or "two-sided".
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "ranges"

    systems: tuple[str, ...]
    ranges: tuple[CalibratedRange, ...]
    repetitions: int
    instances: int
    num_pairs: int
    pairs: dict[str, int]
    methods: dict[str, dict[str, int]]
    num_instances: int
    num_units: int
    alternative: Side
    settings: Settings
    signature: str


class _Way(NamedTuple):
    """A test and its variant."""

    test: Test
    variant: Variant | None

    def __str__(self) -> str:
        return self.test if self.variant is None else f"{self.test} {self.variant}"


@takes(CalibrationOptions)
def calibration(evaluation: Evaluation | Sequence[Evaluation], options: CalibrationOptions) -> Calibration:
    r"""Take all data as the population, draw test sets from it, and ask how often their winners are right.

    A test set is `instances` units drawn with replacement (from each stratum its share). All pairs are tested on it;
    the winner is right if it has the better score on all data, too. A p-value is no probability that the winner is
    worse, but for many pairs whose true differences are spread out far it comes near: then a share of about $1 - p$ of
    the winners is right, with p one-sided. Where differences are small beside their standard errors, fewer are. All
    tests share their resamples, and pairs of one test set depend on each other: intervals are over test sets.

    Args:
        evaluation: the statistics of the systems, or several evaluations of the same systems, one per metric.
        options: see `CalibrationOptions`.

    Raises:
        InputError: an option or the data cannot be used, a metric that is no function of sums, a single unit, or
            systems that all have the same score.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 4.2, with 869 of 942 right for p from 0.04 to 0.06.

    Example:
        >>> from sigjax import Evaluation
        >>> a, b = [1, 1, 1, 0, 1, 0] * 50, [1, 0, 1, 0, 0, 1] * 50
        >>> study = calibration(Evaluation.from_arrays({"A": a, "B": b}), instances=60, repetitions=100, resamples=999)
        >>> [(one.test, one.variant, one.tests, one.right) for one in study.ranges if one.high == 0.06]
        [('permutation', None, 8, 8), ('bootstrap', 'shift', 9, 9), ('bootstrap', 'flip', 9, 9)]
    """
    evaluations = list_evaluations(evaluation)
    settings = _checked(evaluations, options)
    chosen = [select(each, options.systems) for each in evaluations]
    ways = _ways(settings, options)
    pairs: dict[str, int] = {}
    methods: dict[str, dict[str, int]] = {}
    ranges: list[CalibratedRange] = []
    for each in chosen:
        metric = each.metric.name
        for way, truth, trials in _all_trials(each, ways, settings, options):
            pairs[metric], methods[f"{metric}, {way}"] = int(np.count_nonzero(truth)), trials.methods[way.test]
            ranges += _ranges(metric, way, truth, trials, options)
    num_units = len(make_pilot(chosen[0]).units.strata)
    low, high = options.p_range
    return Calibration(
        systems=chosen[0].systems,
        ranges=tuple(ranges),
        repetitions=options.repetitions,
        instances=options.instances,
        num_pairs=math.comb(len(chosen[0].systems), 2),
        pairs=pairs,
        methods=methods,
        num_instances=chosen[0].num_instances,
        num_units=num_units,
        alternative=options.alternative,
        settings=settings,
        signature=f"study:calibration|metric:{'+'.join(pairs)}|test:{'+'.join(map(str, ways))}"
        f"|instances:{options.instances}|repetitions:{options.repetitions}|p:{low:g}-{high:g}|n:{settings.resamples}"
        f"|seed:{settings.seed}|alt:{options.alternative}|ties:ge|units:{num_units}{of_strata(evaluations[0])}"
        f"|sigjax:{__version__}",
    )


def _checked(evaluations: Sequence[Evaluation], options: CalibrationOptions) -> Settings:
    """The settings of the tests, after everything is checked.

    Raises:
        InputError: an option or the data cannot be used.
    """
    check(options)
    check_range(options.p_range)
    how = {"interval": "none", "variant": "shift", "alternative": SIDES[options.alternative]}
    settings = Settings(**values(options, Settings, **how))
    check_together(settings)
    check_resamples(settings.fixed_resamples, options.p_range[0])
    check_evaluations(evaluations, settings)
    if evaluations[0].unit == "response":
        raise InputError("calibration draws instances, but these are responses; read the files without unit response")
    if options.systems is not None and len(options.systems) == 1:
        raise InputError("calibration needs two systems or more; name another one (systems)")
    return settings


def _ways(settings: Settings, options: CalibrationOptions) -> list[_Way]:
    """The tests, the bootstrap once per variant."""
    variants: tuple[Variant, ...] = (options.variant,) if isinstance(options.variant, str) else tuple(options.variant)
    of_test = {"permutation": [_Way("permutation", None)], "bootstrap": [_Way("bootstrap", each) for each in variants]}
    return [way for test in settings.tests for way in of_test[test]]


def _all_trials(
    evaluation: Evaluation, ways: Sequence[_Way], settings: Settings, options: CalibrationOptions
) -> Iterator[tuple[_Way, np.ndarray, Trials]]:
    """For each test the true signs `[pair]` and its trials, all of the same test sets."""
    pilot = make_pilot(evaluation)
    truth = winners(pilot)
    if not truth.any():
        raise InputError(f"metric {pilot.metric.name!r}: all systems have the same score, so no winner is right")
    strata = allotted(pilot.units.strata, options.instances)
    make = drawn(pilot, settings.seed, strata)
    for way in ways:
        some = replace(settings, test=way.test, variant=way.variant or "shift")
        parts = pilot, make, strata, options.repetitions, some, options.device
        yield way, truth, run_trials(*parts, progress=options.progress, winner_first=options.alternative == "one-sided")


def _ranges(
    metric: str, way: _Way, truth: np.ndarray, trials: Trials, options: CalibrationOptions
) -> Iterator[CalibratedRange]:
    """The range asked for, then those of Table 1."""
    p_values, deltas = (each.reshape(-1, len(truth)) for each in (trials.p_values[way.test], trials.deltas))
    decided = (deltas != 0.0) & (truth != 0.0)
    right = decided & (np.sign(deltas) == truth)
    for each in table_ranges(options.p_range):
        inside = decided & each.holds(p_values)
        tests, hits = int(inside.sum()), int((inside & right).sum())
        share = interval = nominal = None
        if tests:
            share = hits / tests
            interval = clustered_share((inside & right).sum(axis=1), inside.sum(axis=1), SHARE_LEVEL)
            nominal = 1.0 - float(p_values[inside].mean()) / (2.0 if options.alternative == "two-sided" else 1.0)
        yield CalibratedRange(metric, way.test, way.variant, each.low, each.high, tests, hits, share, interval, nominal)
