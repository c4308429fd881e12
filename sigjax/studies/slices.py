"""Slices: the same comparison in every slice of the instances, and does the difference change from slice to slice?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions, ReadingOptions
from sigjax.metrics import origins
from sigjax.records import Device, EvaluationRecord, Hint, InputError, Interval, Method, Metric, Settings
from sigjax.records.options import check, given_as, option, same, takes, values
from sigjax.records.settings import CORRECTIONS, PValueCorrection
from sigjax.report.plots import BLUE, BLUES, GREY, intervals, label_rows, row_height, set_words
from sigjax.report.sections import Table
from sigjax.resample.draws import row_keys
from sigjax.resample.units import make_units
from sigjax.run.context import with_progress
from sigjax.studies.association import shuffled
from sigjax.studies.equivalence import EquivalencePairsOptions
from sigjax.studies.study import Block, BlockResult, Study, caption, grouped, study_signature, with_adjusted_p
from sigjax.studies.trials import by_one_metric, on_instances, signed_data
from sigjax.testing.jackknife import two_way_influences

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FIRST_ROW = 2**41 + 2**39
"""Permutation r of labels has the random words of resample 2^41 + 2^39 + r, which no test reaches."""
_MOST_LISTED, _MOST_UNITS = 2**16, 64
"""So many assignments of labels, to so many units, are listed."""
_NUMBERS = 2**21
"""Labels, and counts of them, in memory at a time."""
_ROUNDING, _RELATIVE = 2.0**-44, 2.0**-30
"""Relative errors of a score, and of a sum of squares."""
_SHOWN = 12
"""Pairs that a text or a figure shows, and small slices that are named."""


@dataclass(frozen=True, kw_only=True)
class SlicesOptions(ReadingOptions):
    """The options of `slices`."""

    by: str | None = option(
        None, "The slices: a column or field, or a file of labels; default: the strata.", group="Main options"
    )
    least: int = option(10, "Test slices of so many instances or more; others are named.", least=1, most=2**53)
    permutations: int = option(9999, "Permutations of labels for the test of interaction.", least=1, most=10**9)
    baseline: str | None = same(Settings, "baseline")
    correction: PValueCorrection = same(EquivalencePairsOptions, "correction", doc="How p is adjusted over slices.")
    method: Method = same(Settings, "method")
    resamples: int = same(Settings, "resamples", doc="Number of Monte Carlo resamples.", more="")
    seed: int = same(Settings, "seed")
    confidence_level: float = same(Settings, "confidence_level")
    device: Device = same(CompareOptions, "device")


@dataclass(frozen=True)
class SliceDelta:
    """A pair of systems in one slice.

    Attributes:
        slice: its label; None for all instances of the slices that are tested.
        a: name of the first system.
        b: name of the second.
        num_instances: number of instances in the slice, each with all its runs.
        score_a: score of a there.
        score_b: score of b there.
        delta: score_a - score_b.
        interval: of this delta alone; None where there is none.
        p_value: of the permutation test in this slice.
        p_adjusted: the same, adjusted over all slices and pairs; of all instances over the pairs.
    """

    slice: str | None
    a: str
    b: str
    num_instances: int
    score_a: float
    score_b: float
    delta: float
    interval: Interval | None
    p_value: float
    p_adjusted: float


@dataclass(frozen=True)
class Interaction:
    """Whether the delta of a pair differs between slices.

    Attributes:
        a: name of the first system.
        b: name of the second.
        statistic: sum of squares between slices, weighted by their precision; see `slices`.
        p_value: of the permutation test of the labels of slices.
        p_adjusted: the same, adjusted over pairs.
        permutations: number of permutations that were drawn; None where all were listed.
    """

    a: str
    b: str
    statistic: float
    p_value: float
    p_adjusted: float
    permutations: int | None


@dataclass(frozen=True, repr=False)
class Slices(BlockResult, Study):
    """A comparison in every slice.

    Attributes:
        by: what the slices are.
        metric: name of the metric.
        lower_is_better: whether lower scores are better.
        slices: pair by pair: all instances, then slice by slice in the order of the data.
        interactions: pair by pair; empty where there is no test.
        no_interaction: why there is none; else None.
        small: the slices that are too small to be tested, and left out, with their numbers of instances.
        correction: how p is adjusted.
        level: of the intervals; differences with an adjusted p below 1 - level are significant.
        signature: one line that reproduces the numbers.
    """

    rows = "slices"

    by: str
    metric: str
    lower_is_better: bool
    slices: tuple[SliceDelta, ...]
    interactions: tuple[Interaction, ...]
    no_interaction: str | None
    small: Mapping[str, int]
    correction: PValueCorrection
    level: float
    signature: str

    def _pairs(self) -> list[list[SliceDelta]]:
        return grouped(self.slices, "a", "b")

    def _p(self, one: SliceDelta) -> str:
        """The adjusted p; that of all instances, where there is one pair, is not adjusted."""
        raw = one.slice is None and len(self._pairs()) == 1 and self.correction != "none"
        return words.format_p(one.p_adjusted) + " (raw)" * raw

    def _is_significant(self, one: SliceDelta | Interaction) -> bool:
        return one.p_adjusted < round(1.0 - self.level, 12)

    @property
    def headline(self) -> str:
        """How many differences in slices are significant, and whether differences change from slice to slice."""
        pairs, tested = self._pairs(), [one for one in self.slices if one.slice is not None]
        significant, changing = (sum(map(self._is_significant, each)) for each in (tested, self.interactions))
        number = words.count(len(tested), "difference")
        text = f"{significant:,} of {number} significant in {len(pairs[0]) - 1:,} slices by {self.by}"
        if len(self.interactions) > 1:
            return f"{text}; {changing:,} of {len(pairs):,} pairs differ more in some slices than in others."
        if self.interactions:
            text += f"; it is {'' if changing else 'not '}shown that the difference changes from slice to slice"
            text += f" (p = {words.format_p(self.interactions[0].p_value, threshold=round(1.0 - self.level, 12))})"
        return f"{text}."

    def _blocks(self) -> tuple[list[Block], list[Block]]:
        """A table for each pair; and how it was made."""
        pairs, blocks, interval = self._pairs(), list[Block](), f"{words.percent(self.level)} interval"
        for index, rows in enumerate(pairs[:_SHOWN]):
            spec = words.number_spec([x for one in rows for x in (one.score_a, one.score_b)])
            columns = {
                self.by: [one.slice or "all" for one in rows],
                "instances": [f"{one.num_instances:,}" for one in rows],
                "a": [f"{one.score_a:{spec}}" for one in rows],
                "b": [f"{one.score_b:{spec}}" for one in rows],
                "delta": [f"{one.delta:+{spec}}" for one in rows],
                interval: [words.format_interval(one.interval, f"+{spec}") for one in rows],
                "adjusted p": [self._p(one) for one in rows],
            }
            text = f"{caption(self)}; a: {rows[0].a}, b: {rows[0].b}"
            for test in self.interactions[index : index + 1]:
                how = "exact" if test.permutations is None else words.count(test.permutations, "permutation")
                text += f"; same delta in all slices: adjusted p = {words.format_p(test.p_adjusted)} ({how})"
            blocks += [f"{text}:", Table.of(columns, names=(0,), optional=("a", "b"))]
        title, number = CORRECTIONS[self.correction].title, len(self.slices) - len(pairs)
        notes = [f"p adjusted by {title} over {number:,} slices and pairs; intervals are each for its slice alone."]
        unsure = [one.interval for one in self.slices if one.slice and one.interval and not self._is_significant(one)]
        if apart := sum(low > 0.0 or high < 0.0 for low, high in unsure):
            why = "it is for the slice alone, by another method, and p is adjusted"
            notes.append(f"In {words.count(apart, 'row')} the interval excludes 0 and p does not reject: {why}.")
        if self.small:
            small = words.first_of([f"{name} ({size:,})" for name, size in self.small.items()], _SHOWN)
            notes.append(f"Too small, and left out: {small}.")
        notes += [f"No test of whether delta is the same: {self.no_interaction}."] if self.no_interaction else []
        notes += [f"JSON has {words.count(len(pairs) - _SHOWN, 'more pair')}."] if len(pairs) > _SHOWN else []
        return blocks, [*notes, self.signature]

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        """A forest for each pair."""
        pairs = self._pairs()
        if len(pairs) > _SHOWN:
            raise InputError(f"a figure shows {_SHOWN} pairs at most, got {len(pairs)}; give {Hint('baseline')}")
        for rows in pairs:
            yield len(rows) * row_height(len(rows)), partial(self._draw, rows)

    def _draw(self, rows: Sequence[SliceDelta], axes: Axes) -> None:
        """Deltas with intervals, all instances on top; a filled point is significant."""
        axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
        intervals(axes, range(len(rows)), [one.interval for one in rows], color=BLUES[1])
        for fill, name in ((BLUE, "significant difference"), ("white", "no significant difference")):
            if points := [(one.delta, i) for i, one in enumerate(rows) if self._is_significant(one) == (fill == BLUE)]:
                style = {"markerfacecolor": fill, "markersize": 4.0, "markeredgewidth": 0.8, "label": name}
                axes.plot(*zip(*points, strict=True), "o", color=BLUE, **style)
        names = [f"{one.slice or 'all'} ({one.num_instances:,})" for one in rows]
        label_rows(axes, names, [self._p(one) for one in rows])
        label = f"delta, {words.percent(self.level)} interval, each alone\nright: adjusted p"
        set_words(axes, f"{caption(self)}\n{rows[0].a} − {rows[0].b}, by {self.by}", label)


@takes(SlicesOptions)
@with_progress
def slices(data: Any, options: SlicesOptions) -> Slices:
    r"""The comparison in every slice of the instances, and a test of whether delta is the same in all slices.

    Pairs are compared in each slice as `compare` does it on files of the slice alone; p is adjusted over all slices and
    pairs. The test of interaction permutes the labels of slices over units (instances, or clusters). Its statistic is
    $\sum_g w_g (\delta_g - \bar\delta)^2$, $\bar\delta = \sum_g w_g \delta_g / \sum_g w_g$; $1 / w_g$ is the variance
    of $\delta_g$ by the delta method: for the mean of $n_g$ differences $(Q_g + s^2) / n_g^2$, with their sum of
    squares $Q_g$ about their mean and the variance $s^2$ of all, which keeps it above 0. The test is exact where units
    of all slices have one distribution, and holds for many units where only delta is the same (equal weights rejected
    in 28% of cases in place of 5%). All assignments of labels are listed where they are few; else
    p = (exceed + 1) / (permutations + 1). Ties, and permutations on which the metric is not finite, count as extreme.

    Args:
        data: what `compare` takes, of one metric; of an `Evaluation` the slices are its strata, which `by` names.
        options: see `SlicesOptions`.

    Raises:
        InputError: several metrics, no labels, or several of one instance (of its runs), fewer than two slices of
            `least` instances, results missing, and whatever `compare` refuses.

    Reference: Pauly, Brunner and Konietschke (2015), "Asymptotic permutation tests in general factorial designs".

    Example:
        >>> from sigjax import Evaluation
        >>> labels = ["short"] * 10 + ["long"] * 10
        >>> scores = {"A": [1] * 8 + [0] * 12, "B": [0] * 12 + [1] * 8}
        >>> result = slices(Evaluation.from_arrays(scores, strata=labels, metric="accuracy"))
        >>> [(one.slice, one.delta, round(one.p_adjusted, 4)) for one in result.slices]
        [(None, 0.0, 1.0), ('short', 0.8, 0.0156), ('long', -0.8, 0.0156)]
        >>> result.interactions[0].p_value < 0.001
        True
    """
    check(options)
    is_read = any(isinstance(each, EvaluationRecord) for each in (data if isinstance(data, list | tuple) else [data]))
    if not is_read and None not in (options.by, options.strata):
        raise InputError(f"slices are strata: give {Hint('by')} or {Hint('strata')}, not both")
    changes = {} if is_read or options.by is None else {"strata": options.by}
    with given_as("strata", "by" if changes else "strata"):
        evaluation = by_one_metric(data, replace(options, **changes))
    evaluation.check_complete()
    if evaluation.strata is None:
        raise InputError(f"slices needs a label for each instance: give {Hint('by')}, a field or a file of labels")
    names = evaluation.ids or () if evaluation.runs else range(evaluation.num_instances)
    labels, places = np.array(evaluation.strata), dict.fromkeys(zip(names, evaluation.strata, strict=True))
    if crossing := [name for name, slices_of in Counter(name for name, _ in places).items() if slices_of > 1]:
        raise InputError(
            f"{Hint('by')}: the runs of instance {crossing[0]!r} lie in different slices; take a field that is the "
            "same in all runs of an instance"
        )
    sizes = Counter(label for _, label in places)
    small = {name: size for name, size in sizes.items() if size < options.least}
    tested = [name for name in sizes if name not in small]
    if len(tested) < 2:
        raise InputError(
            f"slices needs two slices of {options.least:,} instances or more, got {len(tested)} among "
            f"{words.count(len(sizes), 'label')}; take a field of fewer labels, or a smaller {Hint('least')}"
        )
    every = on_instances(evaluation, np.isin(labels, tested))
    overall = with_adjusted_p(_compared(every, None, options), options.correction)
    in_slices = [_compared(on_instances(evaluation, labels == name), name, options) for name in tested]
    by_pair = [one for of_pair in zip(*in_slices, strict=True) for one in of_pair]
    of_pairs = grouped(with_adjusted_p(by_pair, options.correction), "a", "b")
    pairs, owners = [(one.a, one.b) for one in overall], every.clusters
    reason = None if isinstance(every.metric, Metric) else "the metric is not a function of sums"
    if owners and len({*zip(owners, every.strata or (), strict=True)}) > len({*owners}):
        reason = reason or "some clusters lie in several slices"
    tests = [] if reason else with_adjusted_p(_interactions(every, pairs, options), options.correction)
    about = {"instances": overall[0].num_instances, "runs": signed_data(every)["runs"], "slices": len(tested)}
    return Slices(
        by=options.by or "stratum",
        metric=evaluation.metric.name,
        lower_is_better=not evaluation.metric.higher_is_better,
        slices=tuple(one for whole, parts in zip(overall, of_pairs, strict=True) for one in (whole, *parts)),
        interactions=tuple(tests),
        no_interaction=reason,
        small=small,
        correction=options.correction,
        level=options.confidence_level,
        signature=study_signature("slices", options, metric=evaluation.metric.name, **about),
    )


def _compared(evaluation: EvaluationRecord, name: str | None, options: SlicesOptions) -> list[SliceDelta]:
    """All pairs in a slice, which errors name; p is not adjusted yet."""
    how, size = values(options, Settings, correction="none"), evaluation.brief()["instances"]
    try:
        report = compare(replace(evaluation, strata=None), **how, device=options.device, progress=False)
    except InputError as error:
        raise InputError(f"{'all slices' if name is None else f'slice {name!r}'}: {error.neutral}") from None
    after_size = ("score_a", "score_b", "delta", "interval", "p_value", "p_adjusted")
    return [SliceDelta(name, one.a, one.b, size, *(getattr(one, key) for key in after_size)) for one in report]


def _interactions(
    evaluation: EvaluationRecord, pairs: Sequence[tuple[str, str]], options: SlicesOptions
) -> list[Interaction]:
    """The test of interaction of all pairs, on the same permutations."""
    names = list(evaluation.systems)
    a, b = ([names.index(name) for name in side] for side in zip(*pairs, strict=True))
    if (nearer := origins(evaluation)) is not None:
        evaluation = nearer.deltas
    units, metric = make_units(evaluation), evaluation.metric
    assert isinstance(metric, Metric)
    codes, (num_systems, number, num_stats) = units.strata, units.values.shape
    moves = two_way_influences(units.unscaled(units.values.astype(float)), np.zeros(number, int), metric.score)[0]
    moves = (moves[a] - moves[b]).T
    variances, counts = moves.var(axis=0, ddof=1), np.stack([np.ones(number), units.sizes], axis=1)
    by_unit = units.values.swapaxes(0, 1).reshape(number, -1)
    rows = np.concatenate([by_unit, counts, moves, moves**2], axis=1, dtype=float)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)  # few, where answers are right or wrong
    num_slices, num_distinct, ends = int(codes[-1]) + 1, len(distinct), np.cumsum([by_unit.shape[1], 1, 1, len(pairs)])

    def squares(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares between slices `[row, pair]` of labels `[row, unit]`, and how far rounding moves them."""
        shape = len(labels), num_slices, num_distinct
        cells = (np.arange(len(labels))[:, None] * num_slices + labels) * num_distinct + which.ravel()
        tables = np.bincount(cells.ravel(), minlength=math.prod(shape)).reshape(-1, num_distinct).astype(float)
        sums = (tables @ distinct).reshape(*shape[:2], -1)  # one product, not one per row
        stats, units_in, sizes, first, second = np.split(sums, ends, axis=-1)
        with np.errstate(all="ignore"):
            scores = metric.score(units.unscaled(stats.reshape(*stats.shape[:2], num_systems, num_stats)))
            deltas = scores[..., a] - scores[..., b]
            within = np.maximum(second - np.square(first) / units_in, 0.0) + variances
            weights = np.square(sizes / units.sizes.sum()) / within
            whole, error = weights.sum(axis=1), _ROUNDING * np.abs(scores).max(axis=(1, 2))[:, None]
            means = (weights * deltas).sum(axis=1) / whole
            between = (weights * np.square(deltas - means[:, None])).sum(axis=1)
            rounding = whole * error**2 + 2.0 * error * np.sqrt(whole * between) + _RELATIVE * between
            return between, np.where(variances > 0.0, rounding, math.inf)

    (observed,), (slack,) = squares(codes[None])
    listed, exceed = _listed(np.bincount(codes)), np.zeros(len(pairs), int)
    step = max(1, _NUMBERS // (number + num_slices * num_distinct))
    total = options.permutations if listed is None else len(listed)
    for start in range(0, total, step):
        rows = np.arange(start, min(start + step, total))
        drawn = shuffled(codes, row_keys(options.seed, _FIRST_ROW + rows)) if listed is None else listed[rows]
        exceed += (~(squares(drawn)[0] < observed - slack)).sum(axis=0)
    one_more = float(listed is None)  # the observed labels are among those that are listed
    p_values, drawn = ((exceed + one_more) / (total + one_more)).tolist(), total if listed is None else None
    statistics = np.where(variances > 0.0, observed, 0.0).tolist()  # 0 / 0 where all units differ alike
    return [Interaction(*pair, x, p, p, drawn) for pair, x, p in zip(pairs, statistics, p_values, strict=True)]


def _listed(sizes: np.ndarray) -> np.ndarray | None:
    """All assignments of labels to units `[assignment, unit]`, so many of each; None where they are too many.

    >>> _listed(np.array([2, 1])).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    log_number = math.lgamma(sizes.sum() + 1.0) - sum(math.lgamma(size + 1.0) for size in sizes.tolist())
    if sizes.sum() > _MOST_UNITS or log_number > math.log(_MOST_LISTED):
        return None
    rows, left = np.zeros((1, 0), int), sizes[None]
    for _ in range(int(sizes.sum())):
        at, codes = np.nonzero(left)
        rows = np.concatenate([rows[at], codes[:, None]], axis=1)
        left = left[at] - np.eye(len(sizes), dtype=int)[codes]
    return rows
