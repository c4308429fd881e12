"""Size: how does the gain that is needed fall with the size of the test set?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

import sigjax.studies.thresholds as thresholds
from sigjax.comparison.options import ReadingOptions, evaluations_of
from sigjax.records import EvaluationRecord, InputError, Settings, Test
from sigjax.records.options import check, option, takes
from sigjax.report.plots import FONT, GREY, LOOKS, set_words
from sigjax.report.words import count, format_number, metric_title, number_spec, percent
from sigjax.resample.draws import row_keys, words
from sigjax.resample.units import units_of_instances
from sigjax.run.context import progress_bar, with_progress
from sigjax.studies.study import PANEL, Study, in_units, table_text, unit_of
from sigjax.studies.trials import on_instances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FIRST_ROW = 2**41 + 2**39
"""Order r has the random words of resample 2^41 + 2^39 + r, which neither tests nor draws of systems reach."""
Subsets = Literal["initial", "random"]
_SIZES, _LEAST = 5, 20
"""By default so many sizes, each half of the next, of at least so many units."""
_LOOKS = {"range": (*LOOKS[0], "p in the range"), "normal": (*LOOKS[1], "by the normal distribution")}
_STEPS = 100
"""Points of a curve."""


@dataclass(frozen=True, kw_only=True)
class SizeOptions(thresholds.PairsOptions, ReadingOptions):
    """The options of `size`."""

    sizes: Sequence[int] | None = option(
        None,
        "Numbers of instances (or clusters); by default all, half of them, ... (5 sizes).",
        group="Main options",
        least=2,
    )
    subsets: Subsets = option("initial", "The first instances, or random ones.", group="Main options")
    orders: int = option(5, "Number of random orders; each size takes the first instances of each.", least=1, most=1000)
    gain: float | None = option(
        None, "The gain that is to be significant [default: of the best system over the next].", above=0
    )


@dataclass(frozen=True)
class ThresholdAt:
    """A threshold at one size of the test set; see `Threshold` in `sigjax.studies.thresholds`.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range" or "normal", as in `gains`.
        order: which order of the instances, from 0; initial segments have one.
        size: number of instances (or clusters).
        threshold: the quantile of the gains; None where no pair is in the range.
        low: lower end of its interval for other systems like these; None as there.
        high: upper end; None as there.
        num_pairs: number of pairs behind it.
        effective_pairs: how many independent pairs would say as much.
    """

    metric: str
    test: Test
    by: thresholds.Gained
    order: int
    size: int
    threshold: float | None
    low: float | None
    high: float | None
    num_pairs: int
    effective_pairs: float


Series = list[tuple[ThresholdAt, np.ndarray]]
"""Thresholds, each with what it is on each draw of systems, `[draw]`."""


@dataclass(frozen=True)
class Fitted:
    """A number from thresholds.

    Attributes:
        value: the number.
        error: its standard error: the standard deviation over the draws of systems (ddof = 1).
        low: lower end of its interval for other systems like these on the same instances; None where fewer than half of
            the draws give the number, and for an exponent where a threshold behind it has no upper end.
        high: upper end; None as for `low`, and always where a threshold behind it has no upper end.
    """

    value: float
    error: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SizeFit:
    r"""How thresholds t fall with the size n.

    Attributes:
        metric: name of the metric.
        test: "permutation" or "bootstrap".
        by: "range" or "normal", as in `gains`.
        constant: c of $t = c / \sqrt n$, the geometric mean of $t \sqrt n$.
        misfit: root mean square of $\log t - \log(c / \sqrt n)$, about the relative error of this curve.
        exponent: e of $t = c' n^e$, by least squares of log t on log n; None with one size.
        free_constant: c' of that curve; None with one size.
        gain: the gain that is to be significant; None where no system is better than another.
        needed: the size at which the threshold is this gain by the first curve, $(c / gain)^2$; None without gain.
    """

    metric: str
    test: Test
    by: thresholds.Gained
    constant: Fitted
    misfit: float
    exponent: Fitted | None
    free_constant: float | None
    gain: float | None
    needed: Fitted | None


@dataclass(frozen=True, repr=False)
class Size(Study):
    """Thresholds of gains at several sizes of the test set, and the curves that they follow.

    Attributes:
        systems: all systems, in the order of the data.
        points: metric by metric, test by test, by the range and by the normal distribution, order by order, by size.
        fits: metric by metric, test by test, by the range and by the normal distribution; none without a pair in range.
        subsets: "initial" or "random".
        p_range: lowest and highest p of the pairs that a threshold is made of.
        quantile: the threshold is this quantile of their gains.
        draws: number of draws of systems behind the intervals.
        num_instances: number of instances.
        num_units: number of units (instances, or clusters where there are some).
        alternative: "one-sided" (in favour of the winner) or "two-sided".
        notes: what a reader of the numbers should know.
        settings: of the tests.
        signature: one line that reproduces the numbers.
    """

    rows = "points"

    systems: tuple[str, ...]
    points: tuple[ThresholdAt, ...]
    fits: tuple[SizeFit, ...]
    subsets: Subsets
    p_range: tuple[float, float]
    quantile: float
    draws: int
    num_instances: int
    num_units: int
    alternative: str
    notes: tuple[str, ...]
    settings: Settings
    signature: str

    def _lines(self) -> list[str]:
        """The thresholds and fits of each metric and test."""
        lines = [
            f"gains of {count(len(self.systems), 'system')} by the size of the test set: {in_units(self)}",
            *thresholds.explained(self),
        ]
        fits = {(fit.metric, fit.test, fit.by): fit for fit in self.fits}
        for key, points in groupby(self.points, key=lambda at: (at.metric, at.test, at.by)):
            metric, test, by = key
            made = thresholds.made_of(by, self.p_range)
            lines += ["", f"{metric_title(metric)}, {test} test: {made}", "", *self._table(list(points))]
            lines += _fit_lines(fits[key]) if key in fits else []
        return [*lines, *thresholds.note_lines(self)]

    def _table(self, points: list[ThresholdAt]) -> list[str]:
        spec = number_spec(number for at in points for number in (at.threshold, at.low, at.high))
        header = (f"{unit_of(self)}s", "pairs", "effective", "threshold", f"{percent(self.settings.level)} interval")
        rows = [
            (f"{at.size:,}", f"{at.num_pairs:,}", f"{int(at.effective_pairs):,}")
            + (format_number(at.threshold, spec), thresholds.interval_text(at.low, at.high, spec))
            for at in sorted(points, key=lambda at: (at.size, at.order))
        ]
        return table_text(header, rows)

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """One panel per metric and test."""
        titles = dict.fromkeys((at.metric, at.test) for at in self.points)
        return ((PANEL, partial(self._draw, *title)) for title in titles)

    def _draw(self, metric: str, test: Test, axes: Axes) -> None:
        """Thresholds against sizes, both on log scales, with the fits, whose formulas stand in the title."""
        points = [at for at in self.points if (at.metric, at.test) == (metric, test)]
        _draw_points(axes, [at for at in points if at.threshold])
        fits = [fit for fit in self.fits if (fit.metric, fit.test) == (metric, test)]
        sizes = sorted({at.size for at in points})
        title = [f"{metric_title(metric)}, {test} test, {count(len(self.systems), 'system')}"]
        title += [_draw_fit(axes, fit, sizes) for fit in fits]
        if fits and fits[0].gain is not None:
            axes.axhline(fits[0].gain, color=GREY, linewidth=1, label="gain to be significant")
        axes.set_xscale("log")
        axes.set_yscale("log", subs=[1.5, 2, 3, 5, 7])
        axes.yaxis.set_major_formatter("{x:.3g}")
        axes.yaxis.set_minor_formatter("{x:.3g}")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        axes.set_xticks([], minor=True)
        set_words(axes, "\n".join(title), f"number of {unit_of(self)}s ({self.subsets})", "threshold of the gain")
        axes.tick_params(labelsize=FONT - 1, which="minor", length=1)


@takes(SizeOptions)
@with_progress
def size(data: Any, options: SizeOptions) -> Size:
    r"""Relate the threshold of gains (see `gains`) to the size of the test set.

    The systems are compared on growing initial segments of the instances, or on growing random subsets. If instances
    are alike, a threshold is proportional to $n^{-1/2}$: four times the instances halve it. The constant and, beside
    it, a free exponent are fitted to the thresholds on the log scale. From the constant follows the size at which
    today's gain would be as large as the threshold, and so significant for nearly all pairs with such a gain, if it
    stays what it is.

    Args:
        data: what `compare` takes: an `Evaluation` or several (one per metric), a dict of arrays, a data frame, a path.
        options: see `SizeOptions`.

    Raises:
        InputError: an option or the data cannot be used, or a size above that of the data.

    Reference: Berg-Kirkpatrick, Burkett and Klein (2012), section 4.1.

    Example:
        >>> import numpy as np
        >>> from sigjax import Evaluation
        >>> scores = np.random.default_rng(0).normal(np.linspace(0.0, 1.0, 12), 1.0, (400, 12)).T
        >>> study = size(Evaluation.from_arrays({f"s{k}": each for k, each in enumerate(scores)}), sizes=[100, 400])
        >>> [round(at.threshold, 2) for at in study.points if at.by == "normal"], study.fits[-1].exponent.value < -0.4
        ([0.25, 0.12], True)
    """
    evaluations = evaluations_of(data, options)
    check(options)
    settings = thresholds.check_pairs(evaluations, options)
    if evaluations[0].unit == "response":
        raise InputError("size takes parts of the instances, but these are responses; read without unit response")
    orders = _orders(evaluations[0], options)
    num_units, systems = len(orders[0]), evaluations[0].systems
    sizes = _sizes(options.sizes, num_units)
    series, signature = _series(evaluations, orders, sizes, settings, options)
    points = tuple(at for some in series.values() for at, _ in some)
    gains = {one.metric.name: _gain(one, settings, options) for one in evaluations}
    fits = (fit_sizes(some, gains[metric], options.confidence_level) for (metric, _, _), some in series.items())
    kind = options.subsets if options.subsets == "initial" else f"random|orders:{options.orders}"
    return Size(
        systems=systems,
        points=points,
        fits=tuple(fit for fit in fits if fit is not None),
        subsets=options.subsets,
        p_range=(options.p_range[0], options.p_range[1]),
        quantile=options.quantile,
        draws=options.draws,
        num_instances=evaluations[0].num_instances,
        num_units=num_units,
        alternative=options.alternative,
        notes=tuple(thresholds.few_pairs([at.effective_pairs for at in points], options.least_pairs)),
        settings=settings,
        signature=f"study:size|subsets:{kind}|sizes:{','.join(map(str, sizes))}|{options.signature}|{signature}",
    )


def _orders(evaluation: EvaluationRecord, options: SizeOptions) -> list[list[np.ndarray]]:
    """The instances of each unit, unit by unit in each order."""
    unit, _ = units_of_instances(evaluation)
    first = np.unique(unit, return_index=True)[1]
    instances = [np.flatnonzero(unit == each) for each in np.argsort(first)]
    if options.subsets == "initial":
        return [instances]
    random = words(row_keys(options.seed, _FIRST_ROW + np.arange(options.orders)), len(instances) + len(instances) % 2)
    order = np.argsort(random[:, : len(instances)], axis=1, kind="stable")
    return [[instances[each] for each in one] for one in order.tolist()]


def _sizes(given: Sequence[int] | None, num_units: int) -> list[int]:
    """The sizes, ascending."""
    if given is None:
        halves = (num_units >> k for k in range(_SIZES))
        return sorted({num_units, *(each for each in halves if each >= _LEAST)})
    if max(given) > num_units:
        raise InputError(f"sizes must be at most the {num_units:,} units of the data, got {max(given):,}")
    return sorted(given)


def _series(
    evaluations: Sequence[EvaluationRecord],
    orders: Sequence[Sequence[np.ndarray]],
    sizes: Sequence[int],
    settings: Settings,
    options: SizeOptions,
) -> tuple[dict[tuple[str, Test, thresholds.Gained], Series], str]:
    """The thresholds of all orders and sizes, and the signature of the largest."""
    draws = thresholds.system_draws(settings.seed, len(evaluations[0].systems), options.draws)
    series, signature = dict[tuple[str, Test, thresholds.Gained], Series](), ""
    # All orders have the same instances at the full size.
    subsets = [
        (order, size) for order, size in product(range(len(orders)), sizes) if not order or size < len(orders[0])
    ]
    with progress_bar("subsets", len(subsets), visible=options.progress) as advance:
        for done, (order, size) in enumerate(subsets, start=1):
            instances = np.sort(np.concatenate(orders[order][:size]))  # in the order of the data
            parts = [on_instances(each, instances) for each in evaluations]
            columns, of_tests, _ = thresholds.compared_pairs(parts, settings, replace(options, progress=False))
            for pairs, by in product(columns, get_args(thresholds.Gained)):
                near = pairs.gains_near(by, options.p_range, options.alternative, np.ones(len(pairs.gains), bool))
                made, drawn = thresholds.make_threshold("all", *near, draws, len(pairs.gains), options)
                ends = made.gain, made.low, made.high, made.num_pairs, made.effective_pairs
                at = ThresholdAt(pairs.metric, pairs.test, by, order, size, *ends)
                series.setdefault((pairs.metric, pairs.test, by), []).append((at, drawn))
            if size == sizes[-1]:
                signature = of_tests
            advance(done)
    return series, signature


def _gain(evaluation: EvaluationRecord, settings: Settings, options: SizeOptions) -> float | None:
    """The gain that is to be significant; None where no system is better than another."""
    if options.gain is not None:
        return options.gain
    scores = np.unique(thresholds.scores_of(evaluation, settings))
    if len(scores) < 2:
        return None
    best, second = scores[[-1, -2]] if evaluation.metric.higher_is_better else scores[[0, 1]]
    return abs(float(best - second))


def fit_sizes(series: Series, gain: float | None, level: float) -> SizeFit | None:
    """The curves of some thresholds; None where there is none."""
    used = [(at, drawn) for at, drawn in series if at.threshold]
    if not used:
        return None
    points = [at for at, _ in used]
    first, sizes = points[0], np.array([at.size for at in points], float)
    observed = np.array([[at.threshold for at in points]], float)
    drawn = np.stack([drawn for _, drawn in used], axis=1)
    bounded = all(at.high is not None for at in points)

    def fitted(value: np.ndarray, on_draws: np.ndarray, *, slope: bool = False) -> Fitted:
        low, high = thresholds.ends_of(on_draws, level)
        low = low if bounded or not slope else None
        defined = on_draws[np.isfinite(on_draws)]
        error = float(np.std(defined, ddof=1)) if len(defined) > 1 else math.nan
        return Fitted(float(value[0]), error, low, high if bounded else None)

    constant, constants = fit_root(sizes, observed), fit_root(sizes, drawn)
    several = len(set(sizes.tolist())) > 1
    exponent, exponents = (fit_power(sizes, each) if several else None for each in (observed, drawn))
    return SizeFit(
        metric=first.metric,
        test=first.test,
        by=first.by,
        constant=fitted(constant, constants),
        misfit=float(np.sqrt(np.mean(np.log(observed * np.sqrt(sizes) / constant) ** 2))),
        exponent=None if exponent is None or exponents is None else fitted(exponent[0], exponents[0], slope=True),
        free_constant=None if exponent is None else float(exponent[1][0]),
        gain=gain,
        needed=None if gain is None else fitted((constant / gain) ** 2, (constants / gain) ** 2),
    )


def fit_root(sizes: np.ndarray, observed: np.ndarray) -> np.ndarray:
    r"""The constant c of $t = c / \sqrt n$ by least squares of log t, `[row]`; thresholds `[row, size]` may be NaN.

    >>> fit_root(np.array([100.0, 400.0]), np.array([[0.3, 0.15], [np.nan, 0.2]])).round(6)
    array([3., 4.])
    """
    logs = np.log(np.where(observed > 0.0, observed, np.nan)) + 0.5 * np.log(sizes)
    return np.exp(_mean(logs))


def fit_power(sizes: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""E and c of $t = c n^e$ by least squares of log t on log n, each `[row]`; NaN with fewer than two sizes.

    >>> fit_power(np.array([10.0, 20.0, 40.0]), np.array([[8.0, 4.0, 2.0]]))[0].round(6)
    array([-1.])
    """
    logs = np.log(np.where(observed > 0.0, observed, np.nan))
    at = np.where(np.isnan(logs), np.nan, np.log(sizes))
    middle, mean = _mean(at), _mean(logs)
    apart = at - middle[:, None]
    spread = np.nansum(apart**2, axis=1)
    slope = np.nansum(apart * (logs - mean[:, None]), axis=1) / np.where(spread > 0.0, spread, np.nan)
    return slope, np.exp(mean - slope * middle)


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean of each row without NaN, which is NaN where there is nothing else."""
    count = np.count_nonzero(~np.isnan(values), axis=1)
    return np.nansum(values, axis=1) / np.where(count > 0, count, np.nan)


def _fit_lines(fit: SizeFit) -> list[str]:
    spec = number_spec([fit.constant.value])
    lines = ["", f"threshold = {fit.constant.value:{spec}} / sqrt(n), {_sure(fit.constant, spec)}"]
    lines.append(f"thresholds are {percent(round(fit.misfit, 3))} off this curve")
    if fit.exponent is not None:
        lines.append(f"with a free exponent: n to the power {fit.exponent.value:.2f}, {_sure(fit.exponent, '.2f')}")
    if fit.gain is not None and fit.needed is not None:
        lines.append(f"a gain of {fit.gain:.4g} needs n = {fit.needed.value:,.0f}, {_sure(fit.needed, ',.0f')}")
    return lines


def _sure(number: Fitted, spec: str) -> str:
    """The standard error and the interval."""
    ends = number.low, number.high
    interval = "" if ends == (None, None) else f", {thresholds.interval_text(*ends, spec)}"
    return f"standard error {number.error:{spec}}{interval}"


def _draw_points(axes: Axes, points: list[ThresholdAt]) -> None:
    """Thresholds, with the intervals that have two ends."""
    for by, some in groupby(points, key=lambda at: at.by):
        shown = np.array([(at.size, at.threshold, at.low or np.nan, at.high or np.nan) for at in some], float)
        color, marker, name = _LOOKS[by]
        axes.plot(shown[:, 0], shown[:, 1], marker, color=color, markersize=4, label=f"threshold, {name}")
        bounded = ~np.isnan(shown).any(axis=1)
        axes.vlines(shown[bounded, 0], shown[bounded, 2], shown[bounded, 3], color=color, linewidth=1.2, alpha=0.6)


def _draw_fit(axes: Axes, fit: SizeFit, sizes: list[int]) -> str:
    """Draw the square root, and the one with a free exponent; give their formulas."""
    at, (color, _, name) = np.geomspace(min(sizes), max(sizes), _STEPS), _LOOKS[fit.by]
    axes.plot(at, fit.constant.value / np.sqrt(at), color=color, linewidth=1)
    axes.plot([], [], color="black", linewidth=1, label="square root")
    text = f"{name}: {fit.constant.value:.3g} / √n"
    if fit.exponent is None or fit.free_constant is None:
        return text
    free = fit.free_constant * at**fit.exponent.value
    axes.plot(at, free, color=color, linewidth=1, linestyle=":")
    axes.plot([], [], color="black", linewidth=1, linestyle=":", label="free exponent")
    return f"{text}; exponent {fit.exponent.value:.2f}"
