"""Gains, for all pairs of systems: how large is a significant gain, and do winners also win on other instances?"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sigjax.comparison.checks import named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import BootstrapOptions
from sigjax.readers.join import select
from sigjax.records import (
    Alternative,
    Design,
    EvaluationRecord,
    InputError,
    Interval,
    Method,
    Settings,
    Test,
    Variant,
)
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.document import Block, Document
from sigjax.report.panels import LOOKS, set_words
from sigjax.report.plots import draw_points, limit_gains
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.report.words import count, format_interval, format_number, metric_title, number_spec, percent
from sigjax.resample.units import units_of_instances
from sigjax.run.context import progress_bar, with_progress
from sigjax.run.files import naming
from sigjax.studies.formulas import PROPORTION_LEVEL, paired_proportion
from sigjax.studies.study import PANEL, StudyOptions, grouped, in_units, plot_panels, table_of, unit_of
from sigjax.studies.trials import ALL, checked_settings, on_instances, study_data
from sigjax.testing.problem import Hypotheses
from sigjax.testing.tests import problem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Side = Literal["one-sided", "two-sided"]
_SIDES: dict[Side, Alternative] = {"one-sided": "greater", "two-sided": "two-sided"}
"""Dict from the value of the option `alternative` to the alternative of the test. A one-sided test is in favour of the
winner of a pair."""
_LOWEST, _HIGHEST = 0.001, 0.25
"""The threshold is computed from the pairs with p from `_LOWEST` to `_HIGHEST`."""
_FEWEST = 9
"""A Monte Carlo p is used for the threshold only if at least this many resamples are extreme."""
_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class GainsOptions(StudyOptions):
    """The options of `gains`."""

    sizes: Sequence[int] | None = option(
        None,
        "Also test on the first so many instances (or clusters), and see whether winners win on the others.",
        group="Main options",
        least=2,
    )
    other: Any | os.PathLike[str] | None = option(
        None,
        "Another test set of the same systems, on which winners may win, too: a table or saved evaluation.",
        "Or what `data` may be. It is in place of the other instances of `sizes`.",
        group="Main options",
    )
    test: Test | Sequence[Test] = same(Settings, "test", "bootstrap")
    resamples: int = same(BootstrapOptions, "resamples")
    seed: int = same(Settings, "seed")
    p_range: Sequence[float] = option(
        (0.04, 0.06),
        "Lowest and highest p of the pairs whose winners are followed; thresholds are for the middle.",
        above=0,
        below=0.5,
    )
    quantile: float = option(0.95, "The threshold is this quantile of gains.", above=0, below=1)
    alternative: Side = option("one-sided", "One-sided p-values are those of the better system of each pair.")
    variant: Variant = same(Settings, "variant")
    method: Method = same(Settings, "method")
    design: Design = same(Settings, "design")
    budget: float | None = same(Settings, "budget")
    memory: float = same(Settings, "memory")


@dataclass(frozen=True)
class PairGain:
    """One pair of systems on one test set, by one metric and test.

    Attributes:
        size: number of units of the test set.
        winner: the system with the better score; if scores are equal, the system that comes first in the data.
        loser: the other system.
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        gain: |score of the winner - score of the loser|, on the scale of the metric.
        p_value: the p-value.
        method: "exact", "dp" or "tree" (exact too), or "montecarlo".
        wins_elsewhere: whether the winner also has the better score on the other test set or the other instances; None
            if there are none.
    """

    size: int
    winner: str
    loser: str
    metric: str
    test: Test
    gain: float
    p_value: float
    method: str
    wins_elsewhere: bool | None


@dataclass(frozen=True)
class GainsAt:
    """Summary of all pairs on one test set, by one metric and test.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        size: number of units of the test set.
        num_pairs: number of pairs with p from 0.001 to 0.25 (a Monte Carlo p also needs nine extreme resamples). Their
            gains are rescaled to the p in the middle of `p_range`.
        median: median of the rescaled gains; None without such pairs.
        threshold: `quantile` of the rescaled gains; None without such pairs.
        near: number of pairs with p in `p_range` and with different scores.
        wins: number of these pairs whose winner also wins elsewhere; None if there are no other instances.
        share: wins / near; None if `near` is 0 or there are no other instances.
        interval: 95% confidence interval of the share, for other systems of this kind; see
            `formulas.paired_proportion`.
    """

    metric: str
    test: Test
    size: int
    num_pairs: int
    median: float | None
    threshold: float | None
    near: int
    wins: int | None
    share: float | None
    interval: Interval | None


@dataclass(frozen=True, repr=False)
class Gains(Result):
    """Result of `gains`: gain against 1 - p for all pairs of systems, thresholds, and whether winners win elsewhere.

    Attributes:
        systems: all systems, in the order of the data.
        pairs: one entry for each size of the test set, metric, test and pair, in this order.
        points: one summary for each size of the test set, metric and test, in this order.
        p_range: lowest and highest p of the pairs whose winners are counted elsewhere (`GainsAt.near` and `wins`).
        quantile: the threshold is this quantile of the rescaled gains.
        elsewhere: where winners may also win: "the other instances" or "the other test set"; empty if there are none.
        num_instances: number of instances.
        num_units: number of units (instances, or clusters if there are some).
        alternative: "one-sided" (in favour of the winner) or "two-sided".
        notes: what a reader of the numbers should know.
        settings: settings of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "pairs"

    systems: tuple[str, ...]
    pairs: tuple[PairGain, ...]
    points: tuple[GainsAt, ...]
    p_range: tuple[float, float]
    quantile: float
    elsewhere: str
    num_instances: int
    num_units: int
    alternative: Side
    notes: tuple[str, ...]
    settings: Settings
    signature: str

    def document(self) -> Document:
        """The document has the verdict, and a table of thresholds for each metric and test."""
        (low, high), noun, share = self.p_range, unit_of(self), percent(self.quantile)
        size, middle = f"gains of {count(len(self.systems), 'system')}: {in_units(self)}", (low + high) / 2.0
        lines, verdict = list[Block]([size]), ""
        for points in _by_test(self.points):
            last, spec = points[-1], number_spec(number for at in points for number in (at.median, at.threshold))
            text = f"{metric_title(last.metric)}, {last.test} test"
            if last.threshold is not None:
                at_p = f"{self.alternative} p < {middle:g}"
                gain = f"a gain above {last.threshold:{spec}} is significant ({at_p})"
                verdict = verdict or f"For {share} of these pairs, {gain}: {text}."
                text += f": for {share} of pairs {gain}"
            lines += ["", text, "", self._table(points, spec)]
            known = np.array([(at.size, at.threshold) for at in points if at.threshold], float)
            if len(known) > 1:
                sizes, thresholds = np.log(known).T
                exponent = np.polyfit(sizes, thresholds, 1)[0]
                lines += ["", f"threshold: as {noun}s to the power {exponent:.2f}; of means, -0.50 is expected"]
        lines += [
            "",
            f"pairs: p from {_LOWEST:g} to {_HIGHEST:g}, gains moved to p = {middle:g} by the normal distribution",
            f"threshold: the gain that {share} of these pairs do not exceed; median: half of them",
            f"near: p from {low:g} to {high:g}",
        ]
        if self.elsewhere:
            lines += [f"win: the winner has the better score on {self.elsewhere}, too"]
            lines += ["interval: of the share, for other systems like these"]
        lines += [*(f"note: {note}" for note in self.notes), self.signature]
        none = f"No pair has p from {_LOWEST:g} to {_HIGHEST:g}, so that no gain can be said"
        return Document("Gains", in_units(self), verdict or none, lines)

    def _table(self, points: list[GainsAt], spec: str) -> Table:
        """Return the table of one metric and test, with one row per size."""
        header = [f"{unit_of(self)}s", "pairs", "median", "threshold", "near"]
        header += ["win", "share", f"{percent(PROPORTION_LEVEL)} interval"] * bool(self.elsewhere)
        rows = [
            (f"{at.size:,}", f"{at.num_pairs:,}", format_number(at.median, spec), format_number(at.threshold, spec))
            + (f"{at.near:,}", format_number(at.wins, ",d"), format_number(at.share, ".3f"))
            + (format_interval(at.interval, ".3f"),)
            for at in points
        ]
        return table_of(header, [row[: len(header)] for row in rows])

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """Return an iterator over the height and the drawing function of each panel, one per metric and test."""
        return ((PANEL, partial(self._draw, points)) for points in _by_test(self.points))

    def _draw(self, points: list[GainsAt], axes: Axes) -> None:
        """Draw 1 - p against gain for each size, with the thresholds."""
        (low, high), metric, test = self.p_range, points[0].metric, points[0].test
        axes.axhspan(1.0 - high, 1.0 - low, color="0.85", linewidth=0, zorder=0, label=f"p from {low:g} to {high:g}")
        axes.plot([], [], color="black", linewidth=1.2, linestyle="--", label="threshold")
        title = f"{metric_title(metric)}, {test} test, {count(len(self.systems), 'system')}\nthresholds: "
        title += ", ".join(format_number(at.threshold, ".3g") for at in points)
        shown = {}
        for at, (color, marker) in zip(points, cycle(LOOKS), strict=False):
            pairs = [pair for pair in self.pairs if (pair.metric, pair.test, pair.size) == (metric, test, at.size)]
            columns = np.array([(pair.gain, pair.p_value) for pair in pairs]).T
            shown[color, marker, count(at.size, unit_of(self))] = tuple(columns)
            axes.axvline(np.nan if at.threshold is None else at.threshold, color=color, linewidth=1.2, linestyle="--")
        draw_points(axes, shown)
        limit_gains(axes, *np.concatenate([*shown.values()], axis=1))
        set_words(axes, title, "gain of the better system", f"1 − p, {self.alternative}")


@takes(GainsOptions)
@with_progress
def gains(data: Any, options: GainsOptions) -> Gains:
    r"""Relate the gain of one system over another to its p-value, for all pairs of systems on the same resamples.

    If scores are means of normally distributed values, the gain at one-sided p = 0.05 is 1.645 standard errors of delta
    (two-sided: 1.960). Each pair with p from 0.001 to 0.25 gives an estimate of this gain: its gain g is rescaled to $g
    z_{0.05} / z_p$. The threshold is the 95th percentile of these estimates (option `quantile`). On such data, a
    larger gain is almost always significant. The threshold describes these systems. For other systems it may be larger,
    especially if there are only few systems here.
    A Monte Carlo p-value is used only if at least nine resamples are extreme.

    A p-value is not the probability that the winner is worse. How often winners with p near 0.05 win elsewhere depends
    on the true differences of the systems. If true differences of all sizes are equally frequent, 95% of these winners
    are truly better, but only 88% win again on equally many other instances of the same kind. On another domain,
    winners may win no more often than by chance. Other instances of the same data set cannot show this, because they
    share its special features, such as the domain.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
        options: the fields of `GainsOptions`, as keyword arguments.

    Raises:
        InputError: an option or the data cannot be used, a size is larger than the data, or the other test set lacks a
            system or a metric.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), "An empirical investigation of statistical significance in
    NLP", sections 3 and 4.

    Example:
        >>> from sigjax import Evaluation
        >>> scores = {"A": [3, 4, 5, 3, 5, 4], "B": [2, 4, 4, 3, 3, 4], "C": [3, 4, 4, 3, 5, 3]}
        >>> study = gains(Evaluation.from_arrays(scores), test="permutation")
        >>> [(one.winner, one.loser, round(one.gain, 3), one.p_value) for one in study.pairs]
        [('A', 'C', 0.333, 0.25), ('A', 'B', 0.667, 0.125), ('C', 'B', 0.333, 0.375)]
        >>> round(study.points[0].median, 3)
        0.883
    """
    check(options)
    evaluations = study_data(data, options.read, ALL, progress=options.progress)
    if len(options.p_range) != 2 or not options.p_range[0] < options.p_range[1]:
        raise InputError(f"p_range must be the lowest and the highest p, such as 0.04 0.06, got {options.p_range!r}")
    how = {"alternative": _SIDES[options.alternative], "correction": "none"}
    settings = checked_settings(evaluations, options, options.p_range[0], drawing="gains" * bool(options.sizes), **how)
    others = _other_test_set(evaluations, options)
    unit, strata = units_of_instances(evaluations[0])
    first = np.unique(unit, return_index=True)[1]
    place, num_units = np.argsort(np.argsort(first))[unit], len(strata)
    if options.sizes and max(options.sizes) > num_units:
        raise InputError(f"sizes must be at most the {num_units:,} units of the data, got {max(options.sizes):,}")
    pairs, signature = list[PairGain](), ""
    sizes = sorted({num_units, *(options.sizes or ())})
    with progress_bar("gains", len(sizes) if len(sizes) > 1 else None, visible=options.progress) as advance:
        for done, size in enumerate(sizes, start=1):
            parts = [on_instances(each, place < size) for each in evaluations]
            rest = [on_instances(each, place >= size) for each in evaluations] * (size < num_units)
            found, signature = _compared(parts, others or rest, size, settings, options)
            pairs += found
            advance(done)
    points = tuple(_gains_at(some, settings, options) for some in grouped(pairs, "size", "metric", "test"))
    low, high = options.p_range
    elsewhere = "the other test set" if others else "the other instances" if len(sizes) > 1 else ""
    about = f"sizes:{','.join(map(str, sizes))}|p:{low:g}-{high:g}|quantile:{options.quantile:g}"
    about += f"|other:{others[0].size.instances} instances" if others else ""
    return Gains(
        systems=evaluations[0].systems,
        pairs=tuple(pairs),
        points=points,
        p_range=(low, high),
        quantile=options.quantile,
        elsewhere=elsewhere,
        num_instances=evaluations[0].size.instances,
        num_units=num_units,
        alternative=options.alternative,
        notes=(
            *dict.fromkeys(note for each in evaluations for note in each.notes),
            *_few_pairs_note(points, options.quantile),
        ),
        settings=settings,
        signature=f"study:gains|{about}|{signature}",
    )


def _other_test_set(evaluations: Sequence[EvaluationRecord], options: GainsOptions) -> list[EvaluationRecord]:
    """Read the other test set, and return one evaluation per metric; the list is empty if no test set is given."""
    if options.other is None:
        return []
    with naming("other"):
        metrics = [each.metric for each in evaluations]
        read = study_data(options.other, options.read, ALL, metrics=metrics, progress=options.progress)
    others, names = {each.metric.name: each for each in read}, [each.metric.name for each in evaluations]
    systems = evaluations[0].systems
    if lacking := [*({*names} - {*others}), *(name for name in systems if name not in read[0].systems)]:
        raise InputError(f"other: lacks {lacking[0]!r}; expected all systems and metrics of the data")
    return [others[name] for name in names]


def _compared(
    evaluations: Sequence[EvaluationRecord],
    elsewhere: Sequence[EvaluationRecord],
    size: int,
    settings: Settings,
    options: GainsOptions,
) -> tuple[list[PairGain], str]:
    """Test all pairs on one test set, by each metric and with each test; also return the signature of the tests.

    `elsewhere` are the results on the other test set or the other instances, for `PairGain.wins_elsewhere` (empty if
    there are none). `size` is the number of units of the test set.

    A one-sided test must be in the direction of the observed difference, but `compare` tests whether the score of the
    first system of a pair is larger. So the systems are sorted by score before the comparison, the largest score first.
    Systems with equal scores stay in the order of the data.
    """
    pairs, reports, how = list[PairGain](), [], {"device": options.device}
    how |= {"progress": options.progress and not options.sizes}
    for index, evaluation in enumerate(evaluations):
        order = np.argsort(-np.array(_hypotheses(evaluation, settings).scores), kind="stable")
        systems = [evaluation.systems[i] for i in order.tolist()]
        reports.append(compare(select(evaluation, systems), **values(settings, **how)))
        there = _hypotheses(select(elsewhere[index], systems), Settings()) if elsewhere else None
        tests, position = np.array(reports[-1].comparisons.values("test")), {name: i for i, name in enumerate(systems)}
        for test in settings.tests:
            columns = reports[-1].comparisons.at(tests == test)
            members = np.stack([columns.column(name).mapped(position.__getitem__) for name in ("a", "b")], axis=1)
            gains, p_values = columns.arrays("delta", "p_value")
            wins: list[bool | None] = [None] * len(gains)
            if there is not None:
                deltas, ties = there.observed(members)
                wins = ((gains > 0.0) & (deltas > ties)).tolist()
            turned = (gains > 0.0) & (not evaluation.metric.higher_is_better)
            members = np.where(turned[:, None], members[:, ::-1], members)
            rows = zip(members.tolist(), gains.tolist(), p_values.tolist(), columns.values("method"), wins, strict=True)
            for (winner, loser), gain, p_value, method, win in rows:
                named = systems[winner], systems[loser], evaluation.metric.name, test
                pairs.append(PairGain(size, *named, gain, p_value, method, win))
    rest = reports[0].signature.split("|", 1)[1].replace("|alt:greater|", "|alt:one-sided|")
    return pairs, f"metric:{'+'.join(each.metric.name for each in evaluations)}|{rest}"


def _hypotheses(evaluation: EvaluationRecord, settings: Settings) -> Hypotheses:
    """Return the hypotheses of all pairs of systems, together with the score of each system."""
    with named_errors([evaluation], settings):
        return problem_of(evaluation, settings).hypotheses


def _gains_at(pairs: Sequence[PairGain], settings: Settings, options: GainsOptions) -> GainsAt:
    """Summarize the pairs on one test set, by one metric and test."""
    gains, p_values = np.array([(pair.gain, pair.p_value) for pair in pairs]).T
    exact = np.array([pair.method != "montecarlo" for pair in pairs])
    known = exact | (p_values * (settings.fixed_resamples + 1) > _FEWEST + 0.5)  # p = (exceed + 1) / (K + 1)
    used = (p_values >= _LOWEST) & (p_values <= _HIGHEST) & known
    (low, high), sides = options.p_range, 1.0 if options.alternative == "one-sided" else 2.0
    moved = moved_gains(gains[used], p_values[used] / sides, (low + high) / 2.0 / sides)
    median, threshold = np.quantile(moved, [0.5, options.quantile]).tolist() if len(moved) else (None, None)
    near = [pair for pair in pairs if low <= pair.p_value <= high and pair.gain > 0.0]
    wins = share = interval = None
    if pairs[0].wins_elsewhere is not None:
        right = np.array([bool(pair.wins_elsewhere) for pair in near])
        wins = int(right.sum())
        if near:
            members = np.array([(pair.winner, pair.loser) for pair in near])
            share, interval = wins / len(near), paired_proportion(right, members, PROPORTION_LEVEL)
    at = pairs[0].metric, pairs[0].test, pairs[0].size
    return GainsAt(*at, len(moved), median, threshold, len(near), wins, share, interval)


def moved_gains(gains: np.ndarray, p_values: np.ndarray, p: float) -> np.ndarray:
    r"""Rescale gains `[pair]` from their one-sided `p_values` to `p`: a gain g with p-value q becomes $g z_p / z_q$.

    $z_p$ is the value that a standard normal variable exceeds with probability p.

    >>> moved_gains(np.array([1.96, 1.645]), np.array([0.025, 0.05]), 0.05).round(3)
    array([1.645, 1.645])
    """
    return gains * _NORMAL.inv_cdf(p) / np.array([_NORMAL.inv_cdf(each) for each in p_values.tolist()])


def _by_test(points: Sequence[GainsAt]) -> list[list[GainsAt]]:
    """Group the summaries by metric and test."""
    groups: dict[tuple[str, Test], list[GainsAt]] = {}
    for at in points:
        groups.setdefault((at.metric, at.test), []).append(at)
    return [*groups.values()]


def _few_pairs_note(points: Sequence[GainsAt], quantile: float) -> Iterator[str]:
    """Yield warnings about thresholds (quantiles of gains) that come from too few pairs for this `quantile`."""
    numbers, least = [at.num_pairs for at in points], math.ceil(round(1.0 / (1.0 - quantile), 6))
    if 0 in numbers:
        yield f"no threshold where no pair has p from {_LOWEST:g} to {_HIGHEST:g}: take more systems"
    if any(0 < number < least for number in numbers):
        yield f"a threshold of fewer than {least} pairs is close to their largest gain; more systems show larger ones"
