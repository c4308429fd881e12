"""Calibration: how often is the winner of a test with p near 0.05 the better system of the whole population?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.studies.study as study
import sigjax.studies.trials as trials
from sigjax.comparison.options import CompareOptions, ReadingOptions, evaluations_of
from sigjax.records import Device, EvaluationRecord, InputError, Interval, Settings, Test, Variant
from sigjax.records.options import check, option, required, same, takes
from sigjax.report.plots import GREY, set_words
from sigjax.report.words import count, format_interval, metric_title
from sigjax.run.context import with_progress
from sigjax.studies.formulas import PROPORTION_LEVEL, clustered_proportion
from sigjax.studies.thresholds import SIDES, Side, TestedOptions, check_range, in_ranges

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = {None: "o", "shift": "s", "flip": "^"}
_SIDES = {"one-sided": "one-sided, for the winner on the test set", "two-sided": "two-sided"}
_LEAST_P = 0.0004
"""Where the curve begins."""


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(ReadingOptions):
    """The options of `calibration`."""

    instances: int = required(
        "Number of instances (or clusters) of a test set.", group="Main options", least=2, most=10_000_000
    )
    repetitions: int = same(
        trials.StudyOptions, "repetitions", 200, doc="Number of test sets, drawn with replacement.", more="", least=2
    )
    only: Sequence[str] | None = option(None, "Names of the systems; all when left out.", group="Main options")
    test: Test | Sequence[Test] = same(
        Settings, "test", ("permutation", "bootstrap"), more="The permutation test is exact where that takes seconds."
    )
    variant: Variant | Sequence[Variant] = same(Settings, "variant", ("shift", "flip"))
    alternative: Side = same(TestedOptions, "alternative")
    p_range: Sequence[float] = same(TestedOptions, "p_range", doc="Lowest and highest p of the tests in question.")
    resamples: int = same(trials.StudyOptions, "resamples", 9999, more="")
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
        interval: 95% interval of the share for infinitely many test sets; see `formulas.clustered_proportion`.
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
class Calibration(study.Study):
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

    def _lines(self) -> list[str]:
        """A table for each metric and test."""
        noun = study.unit_of(self)
        lines = [
            f"calibration of {count(len(self.systems), 'system')}: "
            f"{count(self.repetitions, 'test set')} of {count(self.instances, noun)}, drawn",
            f"with replacement from {self.num_units:,}; p is {_SIDES[self.alternative]}",
        ]
        for ranges in self._groups():
            metric, title = ranges[0].metric, _named(ranges[0].test, ranges[0].variant, " ({})")
            methods = self.methods[f"{metric}, {_named(ranges[0].test, ranges[0].variant)}"]
            table = study.table_text(("p", "tests", "right", "share", "95% interval", "1 - p"), list(map(_row, ranges)))
            lines += ["", f"{metric_title(metric)}, {title}: {study.with_numbers(methods)}", "", *table]
        equal = {metric_title(metric): self.num_pairs - pairs for metric, pairs in self.pairs.items()}
        return [
            *lines,
            "",
            f"right: the winner on the test set is also the winner on all {noun}s",
            "1 - p: its mean, p one-sided; the share right only if differences of all sizes were equally frequent",
            *(f"{metric}: {count(each, 'pair')} with equal scores left out" for metric, each in equal.items() if each),
            self.signature,
        ]

    def _groups(self) -> list[list[CalibratedRange]]:
        """The ranges by metric and test; the range asked for is the first of each."""
        return study.grouped(self.ranges, "metric", "test", "variant")

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """One panel per metric."""
        return ((study.PANEL, partial(self._draw, metric)) for metric in self.pairs)

    def _draw(self, metric: str, axes: Axes) -> None:
        """Shares of right winners, test by test, beside 1 - p."""
        p, sides = np.geomspace(_LEAST_P, 0.5, 200), 2.0 if self.alternative == "two-sided" else 1.0
        axes.plot(p * sides, 1.0 - p, color=GREY, linewidth=1, label="1 − p, p one-sided", zorder=1)
        axes.axhline(0.5, color="0.85", linewidth=0.6, zorder=0)
        groups = [ranges for ranges in self._groups() if ranges[0].metric == metric]
        for index, ranges in enumerate(groups):
            _draw_test(axes, ranges, 1.07 ** (index - (len(groups) - 1) / 2.0), sides)
        axes.set_xscale("log")
        at = f"p on the test set, {_SIDES[self.alternative].partition(',')[0]}"
        sets = f"{count(self.repetitions, 'test set')} of {self.instances:,} from {self.num_units:,}"
        set_words(axes, f"{metric_title(metric)}, {sets}", at, "share of winners that are right")


@takes(CalibrationOptions)
@with_progress
def calibration(data: Any, options: CalibrationOptions) -> Calibration:
    r"""Take all data as the population, draw test sets from it, and ask how often their winners are right.

    A test set is `instances` units drawn with replacement (from each stratum its share). All pairs are tested on it;
    the winner is right if it has the better score on all data, too. A p-value is no probability that the winner is
    worse. Only if true differences of all sizes around the observed one were equally frequent (a flat prior), a share
    of $1 - p$ of the winners would be right, with p one-sided. Where most are small, fewer are. All
    tests share their resamples, and pairs of one test set depend on each other: intervals are over test sets.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
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
    evaluations = evaluations_of(data, options, selects=True)
    check(options)
    check_range(options.p_range)
    how = {"variant": "shift", "alternative": SIDES[options.alternative]}
    settings = trials.checked_settings(evaluations, options, options.p_range[0], drawing="calibration", **how)
    if options.only is not None and len(options.only) == 1:
        raise InputError("calibration needs two systems or more; name another one (systems)")
    chosen = [trials.select(each, options.only) for each in evaluations]
    tests = _tests(settings, options)
    pairs: dict[str, int] = {}
    methods: dict[str, dict[str, int]] = {}
    ranges: list[CalibratedRange] = []
    for each in chosen:
        metric = each.metric.name
        for test, variant, truth, tried in _all_trials(each, tests, settings, options):
            pairs[metric] = int(np.count_nonzero(truth))
            methods[f"{metric}, {_named(test, variant)}"] = tried.methods[test]
            ranges += _ranges(metric, test, variant, truth, tried, options)
    num_units = len(trials.make_pilot(chosen[0]).units.strata)
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
        signature=study.study_signature(
            "calibration",
            options,
            metric="+".join(pairs),
            test="+".join(_named(*each) for each in tests),
            systems=len(chosen[0].systems),
            variant=None,
            p=f"{low:g}-{high:g}",
            ties="ge",
            units=num_units,
            **trials.signed_data(evaluations[0]),
        ),
    )


def _tests(settings: Settings, options: CalibrationOptions) -> list[tuple[Test, Variant | None]]:
    """The tests, the bootstrap once per variant."""
    variants: tuple[Variant, ...] = (options.variant,) if isinstance(options.variant, str) else tuple(options.variant)
    return [(test, variant) for test in settings.tests for variant in (variants if test == "bootstrap" else (None,))]


def _named(test: Test, variant: Variant | None, form: str = " {}") -> str:
    """The test, and its variant if it has one."""
    return test if variant is None else test + form.format(variant)


def _all_trials(
    evaluation: EvaluationRecord,
    tests: Sequence[tuple[Test, Variant | None]],
    settings: Settings,
    options: CalibrationOptions,
) -> Iterator[tuple[Test, Variant | None, np.ndarray, trials.Trials]]:
    """For each test the true signs `[pair]` and its trials, all of the same test sets."""
    pilot = trials.make_pilot(evaluation)
    truth = trials.winners(pilot)
    if not truth.any():
        raise InputError(f"metric {pilot.metric.name!r}: all systems have the same score, so no winner is right")
    strata = trials.allotted(pilot.units.strata, options.instances)
    how_made = pilot, trials.drawn(pilot, settings.seed, strata), strata, options.repetitions
    how = {"progress": options.progress, "winner_first": options.alternative == "one-sided"}
    for test, variant in tests:
        some = replace(settings, test=test, variant=variant or "shift")
        yield test, variant, truth, trials.run_trials(*how_made, some, options.device, **how)


def _ranges(
    metric: str,
    test: Test,
    variant: Variant | None,
    truth: np.ndarray,
    tried: trials.Trials,
    options: CalibrationOptions,
) -> Iterator[CalibratedRange]:
    """The range asked for, then those of Table 1."""
    p_values, deltas = (each.reshape(-1, len(truth)) for each in (tried.p_values[test], tried.deltas))
    decided = (deltas != 0.0) & (truth != 0.0)
    right = decided & (np.sign(deltas) == truth)
    for low, high, within in in_ranges(p_values, options.p_range):
        inside = decided & within
        tests, hits = int(inside.sum()), int((inside & right).sum())
        share = interval = nominal = None
        if tests:
            share = hits / tests
            interval = clustered_proportion((inside & right).sum(axis=1), inside.sum(axis=1), PROPORTION_LEVEL)
            nominal = 1.0 - float(p_values[inside].mean()) / (2.0 if options.alternative == "two-sided" else 1.0)
        yield CalibratedRange(metric, test, variant, low, high, tests, hits, share, interval, nominal)


def _row(tested: CalibratedRange) -> tuple[str, ...]:
    ends = f"{tested.low:g} to {tested.high:g}"
    if tested.share is None:
        return ends, "0", "", "", "", ""
    interval = format_interval(tested.interval, ".3f")
    return ends, f"{tested.tests:,}", f"{tested.right:,}", f"{tested.share:.3f}", interval, f"{tested.nominal:.3f}"


def _draw_test(axes: Axes, ranges: list[CalibratedRange], shift: float, sides: float) -> None:
    """The ranges of one test, but for the one asked for, each at its mean p."""
    first, shown = ranges[0], [one for one in ranges[1:] if one.nominal is not None]
    at = [max(sides * (1.0 - (one.nominal or 0.0)), 0.3 * one.high) * shift for one in shown]
    color = study.COLORS[first.test]
    style = {"marker": _MARKERS[first.variant], "markerfacecolor": "white" if first.variant == "flip" else color}
    study.draw_proportions(axes, at, shown, _named(first.test, first.variant, " ({})"), color=color, **style)
