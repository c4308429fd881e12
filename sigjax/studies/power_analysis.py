"""Power: which difference does a test detect with n instances, and how often does it detect the pilot's difference?"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.studies.trials as trials
from sigjax.comparison.analysis import run_variances
from sigjax.comparison.compare import compare
from sigjax.metrics.ratios import ACCURACY
from sigjax.records import EvaluationRecord, Hint, InputError, Interval, Metric, Settings, Test
from sigjax.records.options import check, option, same, takes
from sigjax.report.document import Block, Document
from sigjax.report.panels import GREY, set_words
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.words import DASH, count, format_interval, format_number, metric_title, number_spec, percent
from sigjax.run.context import with_progress
from sigjax.studies.formulas import (
    BINOMIAL_TAIL,
    PROPORTION_LEVEL,
    detectable_difference,
    detectable_effect,
    fewest_units,
    instances_needed,
    instances_to_detect,
    normal_power,
    proportion_interval,
    simulated_effect,
)
from sigjax.studies.study import (
    COLORS,
    PANEL,
    in_methods,
    in_units,
    plot_panels,
    study_signature,
    table_of,
    unit_of,
)
from sigjax.testing.special import scipy_special
from sigjax.testing.uncertainty import standard_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PILOT_RESAMPLES = 10_000
_STEPS = 200
"""The curve in the figure has this many points."""
_SHOWN_RUNS = (1, 2, 3, 4, 5, 8, 16, 32)
"""The table shows these numbers of runs (up to the largest number), and also the cheapest and the largest number."""
_RUN_COST = 1.0


@dataclass(frozen=True, kw_only=True)
class PowerOptions(trials.TrialOptions):
    """The options of `power`."""

    repetitions: int = same(trials.TrialOptions, "repetitions", 500, least=2, more="Each size has this many.")
    instances: Sequence[int] | None = option(
        None,
        "Numbers of instances (or clusters) to draw [default: those that --detect needs].",
        group="Main options",
        least=2,
        most=10_000_000,
    )
    detect: float | None = option(
        None,
        "How many instances are needed to find this true difference, such as 0.3 BLEU?",
        "With repeated runs, the cheapest mix of instances and runs is for it, too (else for the pilot's difference).",
        group="Main options",
        above=0,
    )
    confidence_level: float = same(
        Settings, "confidence_level", doc="Differences with p up to 1 - level are significant.", group="Test"
    )
    pairs: int = option(
        1, "Pairs that `compare` will adjust p for: 66 for all pairs of 12 systems.", least=1, most=10_000_000
    )
    target: float = option(0.8, "The power that detectable differences are for.", above=0, below=1)
    instance_cost: float = option(0.0, "Cost of an instance, for the cheapest mix.", least=0)
    run_cost: float = option(_RUN_COST, "Cost of a run of one system on an instance, for the cheapest mix.", above=0)


@dataclass(frozen=True)
class PilotDelta:
    """The observed difference in the pilot data.

    Attributes:
        delta: score of the first system - score of the second system; power is computed as if it were the true
            difference.
        standard_error: bootstrap standard error of delta (ddof = 1).
        differ: share of the units on which the systems differ; 1 if runs are exchanged.
    """

    metric: str
    delta: float
    standard_error: float
    differ: float


@dataclass(frozen=True)
class PowerAt:
    """Power of one test at one number of instances.

    Attributes:
        instances: number of instances (of units, if there are clusters or runs).
        rejected: number of repetitions with p <= alpha.
        power: rejected / repetitions.
        interval: Clopper-Pearson interval (95%) of the power for infinitely many repetitions, given the pilot data.
        normal_power: power from the normal approximation with `standard_error`.
        standard_error: standard error of the pilot, times the square root of (pilot instances / instances).
        simulated_error: standard deviation (ddof = 1) of delta over the repetitions.
        detectable: smallest true difference that is detected with the target power, from the normal approximation. None
            if there are so few units that no permutation test can have p <= alpha.
        simulated_detectable: the detectable difference from the simulated deltas; see
            `sigjax.studies.formulas.simulated_effect`.
        methods: dict from a method ("exact", "montecarlo") to its number of repetitions.
    """

    metric: str
    test: Test
    instances: int
    rejected: int
    power: float
    interval: Interval
    normal_power: float
    standard_error: float
    simulated_error: float
    detectable: float | None
    simulated_detectable: float | None
    methods: dict[str, int]


@dataclass(frozen=True)
class SampleSizeNeeded:
    """The number of instances that a test needs to find a true difference with the target power.

    It comes from the normal approximation. For right-or-wrong answers and up to 100,000 instances, the power of the
    permutation test is computed exactly (see `planned_power`).

    Attributes:
        difference: the true difference.
        instances: number of instances (of units, if there are clusters or runs); None if the pilot has the same
            difference on every unit, so that no estimate is possible.
    """

    metric: str
    test: Test
    difference: float
    instances: int | None


@dataclass(frozen=True)
class Allocation:
    """The number of instances that detects a difference with the target power, for one number of runs per instance.

    It comes from the normal approximation.

    Attributes:
        difference: the true difference.
        runs: runs of each system on each instance.
        cost: cost of these instances, with the runs of both systems.
        cheapest: whether this is the cheapest number of runs, up to twice the runs of the pilot. Larger numbers depend
            on the small variance between instances, which a pilot cannot estimate well.
        below_0: whether the estimated variance between instances was negative, and was replaced by 0.
    """

    metric: str
    difference: float
    runs: int
    instances: int
    cost: float
    cheapest: bool
    below_0: bool


@dataclass(frozen=True, repr=False)
class Power(Result):
    """Result of `power`: the power of tests at several numbers of instances.

    Attributes:
        systems: the two systems.
        pilots: the observed differences in the pilot data, one per metric.
        points: the power, one entry for each metric, test and number of instances, in this order.
        target: the power to which detectable differences refer.
        pairs: number of pairs for which p is adjusted.
        repetitions: number of samples drawn from the pilot for each number of instances.
        num_units: number of units of the pilot (instances, or clusters if there are some).
        settings: settings of the tests.
        mixes: for repeated runs without clusters, the number of instances needed for each metric and number of runs.
        needed: the sample size for each metric and test, if a difference to `detect` was given.
    """

    rows = "points"

    systems: tuple[str, str]
    pilots: tuple[PilotDelta, ...]
    points: tuple[PowerAt, ...]
    target: float
    pairs: int
    repetitions: int
    num_instances: int
    num_units: int
    settings: Settings
    signature: str
    mixes: tuple[Allocation, ...] = ()
    needed: tuple[SampleSizeNeeded, ...] = ()

    def document(self) -> Document:
        """The document has the verdict, and a table for each metric and test."""
        a, b = self.systems
        adjusted = f"{self.settings.alpha:g} over {count(self.pairs, 'pair')}; Holm rejects no fewer"
        alone = "for one pair; for more pairs the detectable difference is larger: --pairs N"
        lines: list[Block] = [
            *map(self._instances_to_detect_by, self.needed[1:]),
            f"power for {a} - {b}: pilot of {in_units(self)}",
            f"significant: p <= {self._alpha:.3g} ({alone if self.pairs == 1 else adjusted})",
            f"detectable: the true difference that the test finds with power {percent(self.target)}, by the normal "
            "approximation and by simulated deltas; with few units it is a little larger",
        ]
        for pilot in self.pilots:
            spec = number_spec([pilot.delta, pilot.standard_error])
            for test in self.settings.tests:
                lines += ["", f"{metric_title(pilot.metric)}, {test} test, {self.settings.alternative}", ""]
                lines.append(self._table(pilot.metric, test, spec))
            known = f"{pilot.delta:+{spec}}, that of the pilot, which has a standard error of"
            lines += ["", f"power: if the true difference is {known} {pilot.standard_error:{spec}}"]
            lines += self._cheapest([mix for mix in self.mixes if mix.metric == pilot.metric], spec)
        lines.append(f"interval: of 95%, for the share of {count(self.repetitions, 'sample')} of the pilot")
        if few := sorted({at.instances for at in self.points if at.detectable is None}):
            sizes = ", ".join(f"{size:,}" for size in few)
            lines.append(f"{DASH}: with {sizes} units no permutation test has p <= {self._alpha:.3g}")
        if rare := sorted({at.instances for at in self.points if self._too_few_differ(at)}):
            sizes = ", ".join(f"{size:,}" for size in rare)
            lines.append(
                f"{DASH}: of {sizes} units too few would differ, if as many do as in the pilot: p <= {self._alpha:.3g} "
                f"in a permutation test needs {self._fewest_units}"
            )
        return Document("Power", in_units(self), self._verdict(), [*lines, self.signature])

    def _verdict(self) -> str:
        """Say which sample size detects the given difference; if none is given, what the largest size detects."""
        if self.needed:
            return self._instances_to_detect_by(self.needed[0])
        at = max(self._points(self.pilots[0].metric, self.settings.tests[0]), key=lambda each: each.instances)
        size, name = count(at.instances, unit_of(self)), metric_title(at.metric)
        if self.pilots[0].standard_error == 0.0:
            return self._cannot_tell(at.metric)
        if at.detectable is None:
            return f"With {size} no permutation test has p <= {self._alpha:.3g}."
        if self._too_few_differ(at):
            rare = f"no difference in {percent(self.target)} of cases"
            return f"With {size} you would find {rare}: too few would differ ({name}, permutation test)."
        spec = number_spec([self.pilots[0].delta, self.pilots[0].standard_error])
        found = f"a true difference of {at.detectable:{spec}} ({name}) in {percent(self.target)} of cases"
        return f"With {size} you would find {found} ({at.test} test)."

    def _instances_to_detect_by(self, one: SampleSizeNeeded) -> str:
        """Return a sentence with the number of units that are needed to detect a difference."""
        if one.instances is None:
            return self._cannot_tell(one.metric)
        size, name = count(one.instances, unit_of(self)), metric_title(one.metric)
        found = f"a true difference of {one.difference:.6g} ({name}) in {percent(self.target)} of cases"
        return f"You need {size} to find {found} ({one.test} test). The pilot has {self.num_units:,}."

    def _cannot_tell(self, metric: str) -> str:
        same = f"its difference is the same on every {unit_of(self)}"
        return f"The pilot cannot tell: {same} ({metric_title(metric)})."

    def _cheapest(self, mixes: Sequence[Allocation], spec: str) -> list[Block]:
        if not mixes:
            return []
        best = next(mix for mix in mixes if mix.cheapest)
        mix = f"{count(best.instances, 'instance')} with {count(best.runs, 'run')} of each system"
        what = f"cheapest mix for a difference of {best.difference:{spec}} and power {percent(self.target)}:"
        rows = [(f"{each.runs}", f"{each.instances:,}", f"{each.cost:,.6g}") for each in mixes]
        table = table_of(("runs", "instances", "cost"), rows)
        zero = ["", "the variance of instances was estimated below 0, and is taken as 0"] * best.below_0
        return ["", what, f"{mix}, cost {best.cost:,.6g}", "", table, *zero, ""]

    @property
    def _alpha(self) -> float:
        return self.settings.alpha / self.pairs

    @property
    def _fewest_units(self) -> int:
        return fewest_units(self._alpha, self.settings.alternative)

    def _too_few_differ(self, at: PowerAt) -> bool:
        """Whether too few units are likely to differ for a permutation test to have the target power."""
        (differ,) = {pilot.differ for pilot in self.pilots if pilot.metric == at.metric}
        if at.test != "permutation" or at.instances < self._fewest_units or differ == 1.0:
            return False
        return bool(scipy_special().bdtrc(self._fewest_units - 1, at.instances, differ) < self.target)

    def _table(self, metric: str, test: Test, spec: str) -> Table:
        header = (
            "detectable",
            "simulated",
            "standard error",
            "simulated error",
            "power",
            "interval",
            "normal",
            "method",
        )
        rows = []
        for at in self._points(metric, test):
            found = (None, None) if self._too_few_differ(at) else (at.detectable, at.simulated_detectable)
            errors = (*found, at.standard_error, at.simulated_error)
            shares = (f"{at.power:.3f}", format_interval(at.interval, ".3f"), f"{at.normal_power:.3f}")
            numbers = (format_number(error, spec) for error in errors)
            rows.append((f"{at.instances:,}", *numbers, *shares, in_methods(at.methods)))
        return table_of((f"{unit_of(self)}s", *header), rows, optional=(4, 2, 7))

    def _points(self, metric: str, test: Test) -> list[PowerAt]:
        return [at for at in self.points if (at.metric, at.test) == (metric, test)]

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        for pilot in self.pilots:
            yield PANEL, partial(self._draw_detectable, pilot)
            yield PANEL, partial(self._draw_power, pilot)

    def _draw_power(self, pilot: PilotDelta, axes: Axes) -> None:
        for test, marker in zip(self.settings.tests, "os", strict=False):
            points, color = self._points(pilot.metric, test), COLORS[test]
            sizes = [at.instances for at in points]
            axes.plot(sizes, [at.power for at in points], marker, color=color, markersize=3.5, label=test)
            axes.vlines(sizes, *np.array([at.interval for at in points]).T, color=color, linewidth=1.2, alpha=0.6)
        self._draw_normal(axes, pilot, lambda *how: normal_power(pilot.delta, *how))
        axes.axhline(self.target, color=GREY, linewidth=0.6, linestyle=":", label=f"power {percent(self.target)}")
        axes.set_ylim(0.0, 1.02)
        title = f"{metric_title(pilot.metric)}, power if delta is {pilot.delta:.4g}"
        set_words(axes, title, f"number of {unit_of(self)}s", "power")

    def _draw_detectable(self, pilot: PilotDelta, axes: Axes) -> None:
        points = self._points(pilot.metric, self.settings.tests[0])
        shown = [(at.instances, at.simulated_detectable) for at in points if at.simulated_detectable is not None]
        axes.plot(*np.array(shown).reshape(-1, 2).T, "s", color="black", markersize=3.5, label="simulated")
        self._draw_normal(axes, pilot, lambda error, alpha, *how: detectable_effect(error, alpha, self.target, *how))
        axes.axhline(abs(pilot.delta), color=GREY, linewidth=0.6, linestyle="--", label="delta of the pilot")
        axes.set_ylim(bottom=0.0)
        set_words(axes, f"delta found with power {percent(self.target)}", f"number of {unit_of(self)}s", "delta")

    def _draw_normal(self, axes: Axes, pilot: PilotDelta, curve: Callable[..., float]) -> None:
        """Draw the curve of the normal approximation over the range of sample sizes."""
        points = self._points(pilot.metric, self.settings.tests[0])
        first, last = points[0].instances, points[-1].instances
        sizes = np.linspace(*((first, last) if first < last else (0.5 * first, 1.5 * first)), _STEPS)
        errors = (points[0].standard_error * np.sqrt(first / sizes)).tolist()
        values = [curve(error, self._alpha, self.settings.alternative) for error in errors]
        axes.plot(sizes, values, color=GREY, linewidth=1, label="normal approximation", zorder=1)


@takes(PowerOptions)
@with_progress
def power(data: Any, options: PowerOptions) -> Power:
    r"""Find the smallest difference that tests detect with other numbers of instances, and the power of the tests.

    The detectable difference depends only on the standard error of the pilot, which is taken as known. With few
    instances, a test needs a slightly larger difference. The option `detect` answers the reverse question: how many
    instances does a given difference need?

    Power is computed for one true difference, the pilot's delta. Each repetition draws the given number of instances
    from the pilot data with replacement (in proportion from each stratum) and tests them. Power is the share of
    repetitions with $p \le (1 - confidence\_level) / pairs$. If p is this small, the corrections of Bonferroni, Holm
    and Hochberg all reject.

    The pilot's delta is only an estimate. So the power at the pilot's own size says nothing beyond its p: if p is 0.05,
    the power is about one half (Hoenig and Heisey 2001). Choose the number of instances by the smallest difference that
    matters to you.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
        options: the fields of `PowerOptions`, as keyword arguments.

    Raises:
        InputError: an option or the data cannot be used, the metric is not a function of sums, or there is only one
            unit.

    Reference: Efron and Tibshirani (1993), section 25.4; Card et al. (2020), "With little power comes great
    responsibility"; Hoenig and Heisey (2001), "The abuse of power".

    Example:
        >>> from sigjax import Evaluation
        >>> pilot = Evaluation.from_arrays({"A": [1, 1, 1, 0, 1, 0] * 10, "B": [1, 0, 1, 0, 0, 1] * 10})
        >>> study = power(pilot, instances=[60, 240], repetitions=200)
        >>> [round(at.power, 1) for at in study.points], [round(at.normal_power, 1) for at in study.points]
        ([0.3, 0.9], [0.5, 1.0])
    """
    check(options)
    evaluations = trials.study_data(data, options.read, trials.ALL, progress=options.progress)
    level = (1.0 - options.confidence_level) / options.pairs
    settings = trials.checked_settings(evaluations, options, level, drawing="power")
    if not settings.alpha < options.target:
        raise InputError(f"target must be a number between {settings.alpha:g} and 1, got {options.target!r}")
    if not options.instances and options.detect is None:
        raise InputError(
            f"give {Hint('instances')}, numbers of instances such as 100 400, or {Hint('detect')}, a true difference"
        )
    chosen = list(map(trials.check_pair, evaluations))
    pilots, points, needed = [], [], list[SampleSizeNeeded]()
    for each in chosen:
        pilot = trials.make_pilot(each)
        how = {"resamples": _PILOT_RESAMPLES, "seed": settings.seed, "device": options.device, "progress": False}
        (one,) = compare(each, test="bootstrap", **how)
        values = pilot.units.values
        differ = 1.0 if pilot.units.outputs is not None else float((values[0] != values[1]).any(axis=-1).mean())
        pilots.append(PilotDelta(each.metric.name, one.delta, one.standard_error or 0.0, differ))
        own = list(_sample_sizes(pilot, pilots[-1], settings, options))
        sizes = options.instances or _shown_sizes(own, len(pilot.units.strata))
        points += _points(pilot, pilots[-1], settings, options, sorted(sizes))
        needed += own
    num_units = len(trials.make_pilot(chosen[0]).units.strata)
    mixes = [mix for own, pilot in zip(chosen, pilots, strict=True) for mix in _allocations(own, pilot, level, options)]
    if not mixes and (options.instance_cost or options.run_cost != _RUN_COST):
        raise InputError(
            "instance_cost and run_cost are for the mix of instances and runs, which needs repeated runs "
            f"({Hint('runs')}), no clusters, and a metric of single runs; leave them out"
        )
    signature = study_signature(
        "power",
        options,
        metric="+".join(pilot.metric for pilot in pilots),
        test="+".join(settings.tests),
        instances=",".join(map(str, sorted({at.instances for at in points}))),
        pairs=options.pairs if options.pairs > 1 else None,
        **({} if mixes else dict.fromkeys(("instance_cost", "run_cost"))),
        only=",".join(chosen[0].systems),
        units=num_units,
        **trials.signed_data(evaluations[0]),
    )
    return Power(
        systems=(chosen[0].systems[0], chosen[0].systems[1]),
        pilots=tuple(pilots),
        points=tuple(points),
        target=options.target,
        pairs=options.pairs,
        repetitions=options.repetitions,
        num_instances=chosen[0].size.instances,
        num_units=num_units,
        settings=settings,
        signature=signature,
        mixes=tuple(mixes),
        needed=tuple(needed),
    )


_MOST_DRAWN, _MOST_EXACT, _BEYOND = 20_000, 10**5, 10**15
"""`_MOST_DRAWN`: larger sample sizes are not simulated by default. `_MOST_EXACT`: the power is computed exactly up to
this many units. `_BEYOND`: if more instances than this are needed, `power` raises an error."""


def _sample_sizes(
    pilot: trials.Pilot, observed: PilotDelta, settings: Settings, options: PowerOptions
) -> Iterator[SampleSizeNeeded]:
    """Yield the sample size for each test; nothing if no difference to `detect` is given.

    For a permutation test of up to `_MOST_EXACT` right-or-wrong answers, the sample size comes from the exact power. In
    all other cases, it comes from the normal approximation; for a permutation test it is also so large that enough
    units are likely to differ.
    """
    if options.detect is None:
        return
    alpha, ratio, least = settings.alpha / options.pairs, observed.standard_error / options.detect, 0.0
    low, high = pilot.metric.bounds if isinstance(pilot.metric, Metric) else (-math.inf, math.inf)
    most, such = high - low, f"scores from {low:g} to {high:g}"
    if is_answers := pilot.metric.name == ACCURACY.name and bool((pilot.units.sizes == 1).all()):
        # For right-or-wrong answers, the variance depends on the difference: a smaller difference has a larger
        # variance.
        most, such = observed.differ, "one system alone is right on that share of the instances"
        least = observed.differ / options.detect**2 - 1.0
    if options.detect > most:
        raise InputError(f"{Hint('detect')}: {options.detect:g} cannot be: expected at most {most:.4g} ({such})")
    variance = max(ratio * ratio * len(pilot.units.strata), least)  # of one unit, divided by `detect` squared
    if variance > _BEYOND:
        raise InputError(f"{Hint('detect')}: {options.detect:g} needs more than {_BEYOND:,} instances")
    for test in settings.tests:
        number = None
        if observed.standard_error:
            how = (alpha, options.target, options.alternative)
            (number,) = instances_needed(np.array([variance]), 1.0, *how).tolist()
            if test == "permutation" and is_answers and number <= _MOST_EXACT:
                # A one-sided test at level alpha equals a two-sided test at level 2 alpha, except for the tail on the
                # other side, which is negligible.
                level = alpha if options.alternative == "two-sided" else min(2.0 * alpha, 1.0)
                number = instances_to_detect(options.detect, options.target, observed.differ, (0.0, most), level)
            elif test == "permutation" and observed.differ < 1.0:
                number = max(number, _units_until_enough_differ(observed.differ, alpha, options))
        yield SampleSizeNeeded(observed.metric, test, options.detect, number)


def _units_until_enough_differ(differ: float, alpha: float, options: PowerOptions) -> int:
    """Return the smallest number of units with which a permutation test can be expected to reach p <= alpha.

    Only units that differ make p small. With the returned number of units, enough units differ with a probability of at
    least `options.target`. `differ` is the share of the units that differ.
    """
    least = fewest_units(alpha, options.alternative)
    sizes = range(least, math.ceil((BINOMIAL_TAIL + math.sqrt(least)) ** 2 / differ) + least)
    return bisect_left(sizes, options.target, key=lambda size: scipy_special().bdtrc(least - 1, size, differ)) + least


def _shown_sizes(needed: Sequence[SampleSizeNeeded], pilot: int) -> list[int]:
    """Return the sample sizes to simulate by default: the needed sizes up to `_MOST_DRAWN`, else the pilot's size."""
    sizes = {one.instances for one in needed if one.instances is not None and one.instances <= _MOST_DRAWN}
    return sorted(sizes) or [pilot]


def _allocations(
    evaluation: EvaluationRecord, pilot: PilotDelta, alpha: float, options: PowerOptions
) -> Iterator[Allocation]:
    """Yield the number of instances needed, for several numbers of runs per instance; mark the cheapest number of runs.

    The largest number of runs is twice the largest number in the data. The others are `_SHOWN_RUNS` up to this number,
    and the cheapest number. Yield nothing if there are no repeated runs or no variance of runs, if there are clusters,
    or if the difference to detect is 0.
    """
    difference, found = options.detect or abs(pilot.delta), run_variances(evaluation)
    if found is None or evaluation.clusters is not None or not difference:
        return
    runs = np.arange(1, 2 * max(Counter(evaluation.ids).values()) + 1)
    variance = max(found.instances_of_delta, 0.0) + 2.0 * found.runs / runs
    instances = instances_needed(variance, difference, alpha, options.target, options.alternative)
    costs = instances * (options.instance_cost + 2.0 * options.run_cost * runs)
    best = int(np.argmin(costs))
    for i in sorted({best, len(runs) - 1, *(number - 1 for number in _SHOWN_RUNS if number < len(runs))}):
        about = i == best, found.instances_of_delta < 0.0
        yield Allocation(pilot.metric, difference, i + 1, int(instances[i]), float(costs[i]), *about)


def _points(
    pilot: trials.Pilot, observed: PilotDelta, settings: Settings, options: PowerOptions, sizes: Sequence[int]
) -> list[PowerAt]:
    """Return the power of each test at each of the sample `sizes`. All tests at one size use the same trials.

    Trials are drawn from the `pilot`, whose `observed` difference counts as the true difference.
    """
    tried = {}
    for size in sizes:
        strata = trials.allotted(pilot.units.strata, size)
        made = pilot, trials.drawn(pilot, settings.seed, strata), strata, options.repetitions
        tried[size] = trials.run_trials(*made, settings, options.device, progress=options.progress)
    alpha, alternative, points = settings.alpha / options.pairs, settings.alternative, []
    down = observed.delta < 0 if alternative == "two-sided" else alternative == "less"
    fewest = fewest_units(alpha, alternative)
    for test, size in product(settings.tests, tried):
        error = observed.standard_error * math.sqrt(len(pilot.units.strata) / size)
        deltas, rejected = tried[size].deltas, int(np.count_nonzero(tried[size].p_values[test] <= alpha))
        detected = detectable_effect(error, alpha, options.target, alternative)
        errors = (deltas - observed.delta) * (-1.0 if down else 1.0)
        simulated = simulated_effect(errors, alpha, options.target, alternative)
        attainable = test == "bootstrap" or size >= fewest
        points.append(
            PowerAt(
                metric=observed.metric,
                test=test,
                instances=size,
                rejected=rejected,
                power=rejected / len(deltas),
                interval=proportion_interval(rejected, len(deltas), PROPORTION_LEVEL),
                normal_power=normal_power(observed.delta, error, alpha, alternative),
                standard_error=error,
                simulated_error=float(standard_errors(deltas[None])[0]),
                detectable=detected if attainable else None,
                simulated_detectable=simulated if attainable else None,
                methods=tried[size].methods[test],
            )
        )
    return points


@dataclass(frozen=True, kw_only=True)
class PlannedOptions:
    """Options that describe two systems before there are results."""

    disagree: float | None = option(
        None,
        "Without files: the share of instances on which one system alone is right.",
        group="Main options",
        above=0,
        most=1,
    )
    accuracy: float | None = option(
        None,
        "Without files: the accuracy of the better system, which bounds the difference.",
        group="Main options",
        above=0,
        below=1,
    )


@dataclass(frozen=True, kw_only=True)
class PlannedPowerOptions(PlannedOptions):
    """The options of `planned_power`."""

    instances: Sequence[int] | None = same(PowerOptions, "instances")
    detect: float | None = same(PowerOptions, "detect")
    confidence_level: float = same(PowerOptions, "confidence_level")
    pairs: int = same(PowerOptions, "pairs")
    target: float = same(PowerOptions, "target")


@dataclass(frozen=True)
class PlannedAt:
    """The detectable difference for one size of the test set.

    Attributes:
        instances: number of instances.
        detectable: the smallest true difference of accuracies that the exact permutation test finds with the target
            power; None if no possible difference is found with this power.
    """

    instances: int
    detectable: float | None


@dataclass(frozen=True, repr=False)
class PlannedPower(Result):
    """Result of `planned_power`: detectable differences of accuracies for several sizes of the test set.

    Attributes:
        disagree: the supposed share of instances on which one system alone is right.
        accuracy: accuracy of the better system, if it was given.
        points: one entry per size.
        target: the target power.
        pairs: number of pairs for which p is adjusted (Bonferroni).
        confidence_level: differences with p up to 1 - confidence_level are significant.
        signature: one line that reproduces the numbers.
        detect: the difference to find, if one was given.
        needed: number of instances that finds this difference with the target power.
    """

    rows = "points"

    disagree: float
    accuracy: float | None
    points: tuple[PlannedAt, ...]
    target: float
    pairs: int
    confidence_level: float
    signature: str
    detect: float | None = None
    needed: int | None = None

    def document(self) -> Document:
        """The document has the verdict, and a row for each size."""
        level = (1.0 - self.confidence_level) / self.pairs
        size = f"right or wrong answers, {self.disagree:.1%} of them right by one system alone"
        last, power = self.points[-1], percent(self.target)
        given = f"With {count(last.instances, 'instance')} you would find"
        verdict = f"{given} no difference in {power} of cases."
        if self.needed is not None:
            found = f"a true difference of {self.detect:.6g} in {power} of cases"
            verdict = f"You need {count(self.needed, 'instance')} to find {found}."
        elif last.detectable is not None:
            verdict = f"{given} a true difference of {last.detectable:.4f} in {power} of cases."
        columns = {
            "instances": [f"{at.instances:,}" for at in self.points],
            "detectable difference": [format_number(at.detectable, ".4f") for at in self.points],
        }
        blocks: list[Block] = [
            f"{size}: exact permutation test (McNemar), two-sided, p <= {level:.3g}",
            Table.of(columns),
            "To find half the difference, four times the instances are needed. If instances depend on each other "
            "(sentences of a document), more are needed: give results of a pilot, with --cluster.",
            *([f"{DASH}: none that is possible"] if any(at.detectable is None for at in self.points) else []),
            self.signature,
        ]
        return Document("Power", size, verdict, blocks)


@takes(PlannedPowerOptions)
def planned_power(options: PlannedPowerOptions) -> PlannedPower:
    r"""Which difference of accuracies does a test set detect, before there are any results?

    Let d (`disagree`) be the share of instances on which exactly one of the two systems is right. There are $m \sim
    \mathrm{Bin}(n, d)$ such instances among n. The better system wins $w \sim \mathrm{Bin}(m, (1 + \delta / d) / 2)$ of
    these. The exact permutation test of right-or-wrong answers (McNemar's test) rejects if $2 P(\mathrm{Bin}(m, 1/2)
    \ge \max(w, m - w)) \le \alpha$. Its power is a sum over m, up to 8 standard deviations from the mean. The
    detectable difference is the smallest difference at which the power reaches the target.

    Args:
        options: the fields of `PlannedPowerOptions`, as keyword arguments.

    Returns:
        The differences; `print` shows a table.

    Raises:
        InputError: `disagree` is not given, or is impossible with this accuracy.

    Reference: Miettinen (1968), "The matched pairs design in the case of all-or-none responses".

    Example:
        >>> study = planned_power(disagree=0.2, instances=[100, 400, 1600])
        >>> [round(at.detectable, 3) for at in study.points]
        [0.128, 0.064, 0.032]
    """
    check(options)
    disagree, accuracy = options.disagree, options.accuracy
    if disagree is None:
        about = (
            "" if accuracy is None else f" (independent systems: {2.0 * accuracy * (1.0 - accuracy):.2g}, others less)"
        )
        raise InputError(f"give {Hint('disagree')}, the share of instances on which one system alone is right{about}")
    if accuracy is not None and disagree > 2.0 * accuracy + 1e-12:
        raise InputError(
            f"disagree: systems that are right on {accuracy:g} of the instances at most disagree on at most "
            f"{2.0 * accuracy:.4g} of them, got {disagree:g}"
        )
    level = (1.0 - options.confidence_level) / options.pairs
    if not level < options.target:
        raise InputError(f"target must be a number between {level:g} and 1, got {options.target!r}")
    # The better system alone is right on (disagree + difference) / 2: this is at most its accuracy. The other system
    # alone is right on (disagree - difference) / 2: this is at most the share on which the better system is wrong.
    ends = (0.0, disagree)
    if accuracy is not None:
        ends = max(0.0, disagree - 2.0 * (1.0 - accuracy)), min(disagree, 2.0 * accuracy - disagree)
    needed = (
        None if options.detect is None else instances_to_detect(options.detect, options.target, disagree, ends, level)
    )
    sizes = sorted(options.instances or ([needed] if needed else _USUAL_SIZES))
    points = tuple(
        PlannedAt(size, detectable_difference(size, disagree, ends, level, options.target)) for size in sizes
    )
    signature = study_signature(
        "planned-power",
        options,
        metric="accuracy",
        instances=",".join(map(str, sizes)),
        pairs=options.pairs if options.pairs > 1 else None,
    )
    given = (options.target, options.pairs, options.confidence_level, signature, options.detect, needed)
    return PlannedPower(disagree, accuracy, points, *given)


_USUAL_SIZES = [100, 200, 500, 1000, 2000, 5000, 10_000]
