"""Audit: do the tests keep their level on the user's own data?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.studies.study as study
import sigjax.studies.trials as trials
from sigjax.records import Interval, Settings, Test
from sigjax.records.display import ShortRepr
from sigjax.records.options import check, same, takes
from sigjax.report.document import Block, Document
from sigjax.report.panels import PALETTE, label_rows, set_words
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.words import count, format_p, metric_title, middle_cut, percent
from sigjax.run.context import with_progress
from sigjax.studies.formulas import PROPORTION_LEVEL, proportion_interval, uniformity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHAS = (0.01, 0.05, 0.10)
_LEVEL_LOOKS = (("black", "o"), (PALETTE[2], "s"), (PALETTE[3], "^"))
"""The colour and the marker of the levels 1%, 5% and 10%, in this order."""
_TITLE_NAME = 26
"""In a title, longer names of systems are cut to this number of characters."""
_BAND = 1.358
"""The 95% quantile of the Kolmogorov distance of n uniform p-values, times the square root of n."""


@dataclass(frozen=True, kw_only=True)
class AuditOptions(trials.TrialOptions):
    """The options of `audit`."""

    test: Test | Sequence[Test] = same(trials.TrialOptions, "test", ("permutation", "bootstrap"))


@dataclass(frozen=True)
class ErrorRate:
    """The type-I error rate of a test at one level.

    Attributes:
        alpha: the level.
        rejected: number of repetitions with p <= alpha.
        rate: rejected / repetitions.
        interval: Clopper-Pearson interval (95%) of the rate for infinitely many repetitions.
    """

    alpha: float
    rejected: int
    rate: float
    interval: Interval


@dataclass(frozen=True, repr=False)
class AuditedTest(ShortRepr):
    """One test by one metric, audited over all repetitions.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        methods: dict from a method ("exact", "montecarlo") to its number of repetitions.
        errors: type-I error rate at the levels 1%, 5% and 10%.
        excess: the largest F(p) - p, where F(p) is the share of p-values at or below p; 0 if none is positive.
        excess_p: upper bound on the probability of such an excess if the test is valid; see
            `sigjax.studies.formulas.uniformity`.
        deficit: the largest p - F(p), or 0.
        p_values: the p-values `[repetition]`.
    """

    metric: str
    test: str
    methods: dict[str, int]
    errors: tuple[ErrorRate, ...]
    excess: float
    excess_p: float
    deficit: float
    p_values: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Words that say whether the test has too many false positives."""
        above = [percent(rate.alpha) for rate in self.errors if rate.interval.low > rate.alpha]
        below = [percent(rate.alpha) for rate in self.errors if rate.interval.high < rate.alpha]
        if above:
            return f"too many false positives at {', '.join(above)}"
        text = "exceeds none of these levels significantly"
        text += f", conservative at {', '.join(below)}" if below else ""
        return text + ("; elsewhere p-values are too small" if self.excess_p < 0.01 else "")


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """Type-I error rates of tests on pairs for which the null hypothesis is true.

    Attributes:
        systems: the two systems whose outputs were swapped.
        tests: one entry for each metric and test.
        repetitions: number of tested pairs.
        num_instances: number of instances.
        num_units: number of units (clusters if there are some, else instances).
        settings: settings of the tests.
        signature: one line that reproduces the numbers.
    """

    systems: tuple[str, ...]
    tests: tuple[AuditedTest, ...]
    repetitions: int
    num_instances: int
    num_units: int
    settings: Settings
    signature: str

    def _rows(self) -> list[dict[str, Any]]:
        """Return one row per test and level."""
        return [{"metric": one.metric, "test": one.test} | asdict(error) for one in self.tests for error in one.errors]

    def document(self) -> Document:
        """The document has the verdict on the false positive rates, and the table of rates."""
        names, size = " and ".join(self.systems), study.in_units(self)
        lines: list[Block] = [
            f"audit of {names}: {size}",
            f"{count(self.repetitions, 'pair')} by random swaps of the outputs of {names}: neither is better, and they "
            "are as similar as the systems are",
            "false-positive rate, with 95% intervals:",
            _error_table(self.tests),
        ]
        if study.unit_of(self) == "instance":
            lines.append(
                "made instance by instance: whether instances depend on each other (sentences of a document) cannot be "
                "seen here; where they do, true rates are higher: --cluster"
            )
        lines += [
            "",
            "excess: how far p-values are below a uniform distribution at most (Kolmogorov distance; by chance "
            f"about {0.6267 / self.repetitions**0.5:.3f}), with its p",
            self.signature,
        ]
        verdict, *others = _verdicts(self.tests)
        return Document("Audit", size, verdict, [*others, *lines])

    plot = study.plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """Yield two panels for each metric: the distributions of p, and the type-I error rates of the tests."""
        largest = max(rate.interval.high for one in self.tests for rate in one.errors)
        a, b = (middle_cut(name, _TITLE_NAME) for name in self.systems)
        for tests in study.grouped(self.tests, "metric"):
            title = f"{metric_title(tests[0].metric)}, outputs of {a} and {b} swapped at random"
            yield study.PANEL, partial(_draw_distributions, tests=tests, title=title)
            yield study.PANEL, partial(_draw_errors, tests=tests, largest=largest)


@takes(AuditOptions)
@with_progress
def audit(data: Any, options: AuditOptions) -> Audit:
    r"""Measure the type-I error rate of tests on the user's own data, with pairs for which the null hypothesis is true.

    Each repetition swaps the outputs of two systems on each unit with probability 1/2, and tests the two mixtures (an
    A/A test). Neither mixture is better, whatever the systems are. All else is as in the data: the metric, the sizes of
    the units, how often outputs differ, and how similar outputs are.

    Units are swapped independently. If the instances in fact depend on each other, and you do not name their `cluster`,
    the true error rate is larger than the audit shows.

    The error rate at level $\alpha$ is the share of repetitions with $p \le \alpha$. For a valid test the expected rate
    is at most $\alpha$; the interval shows the sampling error of the measured rate.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
        options: the fields of `AuditOptions`, as keyword arguments.

    Raises:
        InputError: an option or the data cannot be used, the metric is not a function of sums, or there is only one
            unit.

    Reference: Yeh (2000), section 3; Conover (1972) on Kolmogorov's distance for discrete distributions.

    Example:
        >>> from sigjax import Evaluation
        >>> evaluation = Evaluation.from_arrays({"A": [1, 1, 0, 1, 1, 0], "B": [0, 1, 1, 0, 0, 1]}, metric="accuracy")
        >>> audit(evaluation, test="permutation", repetitions=200).tests[0].errors[1].rate
        0.0
    """
    check(options)
    evaluations = trials.study_data(data, options.read, trials.ALL, progress=options.progress)
    settings = trials.checked_settings(evaluations, options, min(ALPHAS))
    audited, pilots = [], [trials.make_pilot(trials.check_pair(each)) for each in evaluations]
    for pilot in pilots:
        made = pilot, trials.swapped(pilot, settings.seed), pilot.units.strata
        tried = trials.run_trials(*made, options.repetitions, settings, options.device, progress=options.progress)
        for test in settings.tests:
            named = {"metric": pilot.metric.name, "test": test, "methods": tried.methods[test]}
            audited.append(_audited(tried.p_values[test], **named))
    names, num_units = pilots[0].names, len(pilots[0].units.strata)
    signature = study.study_signature(
        "audit",
        options,
        metric="+".join(pilot.metric.name for pilot in pilots),
        test="+".join(settings.tests),
        only=",".join(names),
        ties="ge",
        units=num_units,
        **trials.signed_data(evaluations[0]),
    )
    size = evaluations[0].size.instances
    return Audit(names, tuple(audited), options.repetitions, size, num_units, settings, signature)


def _audited(p_values: np.ndarray, **named: Any) -> AuditedTest:
    repetitions, errors = len(p_values), []
    for alpha in ALPHAS:
        rejected = int(np.count_nonzero(p_values <= alpha))
        interval = proportion_interval(rejected, repetitions, PROPORTION_LEVEL)
        errors.append(ErrorRate(alpha, rejected, rejected / repetitions, interval))
    distances = dict(zip(("excess", "excess_p", "deficit"), uniformity(p_values), strict=True))
    return AuditedTest(errors=tuple(errors), p_values=tuple(p_values.tolist()), **distances, **named)


def _error_table(tests: Sequence[AuditedTest]) -> Table:
    header = ("metric", "test", "method", *(f"p <= {rate.alpha:g}" for rate in tests[0].errors), "excess", "p")
    rows = []
    for one in tests:
        ends = ((100.0 * rate.rate, *(100.0 * end for end in rate.interval)) for rate in one.errors)
        rates = [f"{rate:.1f}% [{low:.1f}, {high:.1f}]" for rate, low, high in ends]
        named = metric_title(one.metric), one.test, study.in_methods(one.methods)
        rows.append((*named, *rates, f"{one.excess:.3f}", format_p(one.excess_p)))
    return study.table_of(
        header, rows, (0, 1, 2), (len(header) - 2, len(header) - 1, 2, *[0] * (len({one.metric for one in tests}) == 1))
    )


def _verdicts(tests: Sequence[AuditedTest]) -> list[str]:
    """Return one sentence for each distinct verdict, with the tests that have this verdict.

    Sentences on too many false positives come first.
    """
    names: dict[str, list[str]] = {}
    several = len({one.metric for one in tests}) > 1
    for one in sorted(tests, key=lambda one: not one.verdict.startswith("too many")):
        names.setdefault(one.verdict, []).append(f"{metric_title(one.metric)}, {one.test}" if several else one.test)
    said = (f"{('; ' if several else ', ').join(alike)}: {verdict}" for verdict, alike in names.items())
    return [f"{text[0].upper()}{text[1:]}" for text in said]


def _draw_distributions(axes: Axes, tests: list[AuditedTest], title: str) -> None:
    """Draw the distribution functions of the p-values, and the 95% band for uniform p-values."""
    line, width = np.array([0.0, 1.0]), _BAND / len(tests[0].p_values) ** 0.5
    axes.fill_between(line, line - width, line + width, color="0.9", label="95% of uniform samples", linewidth=0)
    axes.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1)
    for one in tests:
        p_values = np.sort(one.p_values)
        shares = np.arange(1, len(p_values) + 1) / len(p_values)
        style: dict[str, Any] = {"where": "post", "color": study.COLORS[one.test], "linewidth": 1.6}
        axes.step([0.0, *p_values, 1.0], [0.0, *shares, 1.0], label=one.test, **style)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    set_words(axes, title, "p", "share of p-values up to p")


def _draw_errors(axes: Axes, tests: list[AuditedTest], largest: float) -> None:
    """Draw type-I error rates with intervals, one line per test; dotted lines are the levels.

    `largest` is the highest end of all intervals.
    """
    levels = [rate.alpha for rate in tests[0].errors]
    for shift, (level, (color, marker)) in enumerate(zip(levels, _LEVEL_LOOKS, strict=True)):
        heights, rates = np.arange(len(tests)) + 0.2 * (shift - 1), [one.errors[shift] for one in tests]
        axes.axvline(level, color=color, linewidth=0.8, linestyle=":")
        axes.hlines(heights, *np.array([rate.interval for rate in rates]).T, color=color, linewidth=1.2, alpha=0.5)
        style: dict[str, Any] = {"markersize": 3, "clip_on": False, "label": f"p ≤ {percent(level)}"}
        axes.plot([rate.rate for rate in rates], heights, marker, color=color, **style)
    label_rows(axes, [one.test for one in tests])
    axes.set_xlim(0.0, 1.03 * largest)
    axes.set_xticks(levels, [percent(level) for level in levels])
    set_words(axes, "", "type-I error, 95% interval")
