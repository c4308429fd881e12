"""Flips: the instances on which two systems differ, and what is left of the difference without those that decide it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from sigjax.comparison.checks import named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions, ReadingOptions, evaluations_of
from sigjax.metrics.ratios import mean_score
from sigjax.records import Comparison, Device, EvaluationRecord, Hint, InputError, Interval, Method, Metric, Settings
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.sections import Table
from sigjax.report.words import (
    LOWER,
    count,
    first_of,
    format_interval,
    format_number,
    format_p,
    metric_title,
    number_spec,
    percent,
)
from sigjax.run.backend import host_scope
from sigjax.run.context import with_progress
from sigjax.studies.study import Block, BlockResult, study_signature
from sigjax.studies.trials import on_instances, select_pair
from sigjax.testing.problem import problem_of

_TOP = (1, 2, 5, 10)
"""So many of the most influential instances are left out in any case."""
_SHOWN = 20
"""Instances that a text names."""


@dataclass(frozen=True, kw_only=True)
class FlipsOptions(ReadingOptions):
    """The options of `flips`."""

    most: int = option(100, "Leave out so many instances at most.", least=1, most=2**31, group="Main options")
    method: Method = same(Settings, "method")
    resamples: int = same(Settings, "resamples", doc="Number of Monte Carlo resamples.", more="")
    seed: int = same(Settings, "seed")
    confidence_level: float = same(Settings, "confidence_level")
    device: Device = same(CompareOptions, "device")


@dataclass(frozen=True)
class Flip:
    """An instance on which the statistics of two systems differ.

    Attributes:
        id: of the instance, with its run where there are some; without ids its number, from 1.
        a: score of the first system on this instance alone; None where it has none.
        b: that of the second.
        part: its part in delta, see `flips`.
    """

    id: str
    a: float | None
    b: float | None
    part: float


@dataclass(frozen=True)
class LeftOut:
    """The comparison without the instances that speak most for the sign of delta.

    Attributes:
        removed: how many are left out; 0 is the comparison of all.
        num_instances: number of instances that are left.
        delta: score of a minus score of b on these.
        interval: of delta; None where there is none.
        p_value: of the permutation test.
    """

    removed: int
    num_instances: int
    delta: float
    interval: Interval | None
    p_value: float


@dataclass(frozen=True, repr=False)
class Flips(BlockResult):
    """The instances that decide between two systems.

    Attributes:
        a: name of the first system.
        b: name of the second.
        metric: name of the metric.
        additive: whether the parts of all instances add up to delta.
        right_or_wrong: whether each instance is right (1) or wrong (0).
        lower_is_better: whether lower scores are better.
        flips: the instances that differ; the largest |part| first, then in the order of the data.
        num_for_a: number of instances whose part is for a: above 0, or below where lower is better.
        num_for_b: number of those whose part is for b.
        left_out: all instances, and without some of those that speak most for the sign of delta.
        fewest_not_significant: how many of these have to be left out for the difference not to be significant, or to
            have another sign; None where it is not significant, or stays so without `bound` of them.
        fewest_no_lead: how many, for delta to be 0 or of the other sign; None where delta is 0, or keeps its sign.
        bound: how many were left out at most.
        level: of the intervals; a difference is significant where p < 1 - level.
        signature: one line that reproduces the numbers.
    """

    rows = "flips"

    a: str
    b: str
    metric: str
    additive: bool
    right_or_wrong: bool
    lower_is_better: bool
    flips: tuple[Flip, ...]
    num_for_a: int
    num_for_b: int
    left_out: tuple[LeftOut, ...]
    fewest_not_significant: int | None
    fewest_no_lead: int | None
    bound: int
    level: float
    signature: str

    @property
    def headline(self) -> str:
        """Who leads, on how many instances they differ, and how few of them decide."""
        every, alpha = self.left_out[0], round(1.0 - self.level, 12)
        differ = f"{len(self.flips):,} of {count(every.num_instances, 'instance')} differ"
        if every.delta == 0.0:
            return f"{self.a} and {self.b} have the same score: {differ}, {self.num_for_a:,} for {self.a}."
        sides = [(self.a, self.num_for_a), (self.b, self.num_for_b)]
        (ahead, wins), (behind, losses) = sides if (every.delta > 0.0) != self.lower_is_better else sides[::-1]
        by, p = format(abs(every.delta), number_spec([every.delta])), format_p(every.p_value, threshold=alpha)
        most, few, rest = f"without the {self.bound:,} that speak most for it", self.fewest_not_significant, []
        if few is not None:
            rest.append(f"without {few:,} of the {wins:,} p is {alpha:g} or more")
        elif every.p_value < alpha:
            rest.append(f"significant (p < {alpha:g}) even {most}")
        if self.fewest_no_lead is not None:
            rest.append(f"without {self.fewest_no_lead:,} of the {wins:,} it does not lead")
        robust = "; ".join(rest) or f"it still leads {most}"
        return (
            f"{ahead} is ahead of {behind} by {by} (p = {p}): {differ}, {wins:,} for it and {losses:,} against it. "
            f"{robust[0].upper()}{robust[1:]}."
        )

    def _blocks(self) -> tuple[list[Block], list[Block]]:
        """What is left without the instances that decide; and these."""
        spec = number_spec([each.delta for each in self.left_out])
        columns = {
            "left out": [f"{each.removed:,}" if each.removed else "none" for each in self.left_out],
            "instances": [f"{each.num_instances:,}" for each in self.left_out],
            "delta": [f"{each.delta:+{spec}}" for each in self.left_out],
            f"{percent(self.level)} interval": [format_interval(each.interval, f"+{spec}") for each in self.left_out],
            "p": [format_p(each.p_value, threshold=round(1.0 - self.level, 12)) for each in self.left_out],
        }
        caption = f"{metric_title(self.metric)}{LOWER * self.lower_is_better}; delta is {self.a} - {self.b}"
        shown = f"{caption}; left out are the instances that speak most for its sign:"
        return [shown, Table.of(columns, names=(0,))], [*self.instances(), self.signature]

    def instances(self, most: int = _SHOWN) -> list[Block]:
        """The first instances that differ: their names, where all are right or wrong, else a table."""
        if self.right_or_wrong:
            sides = {self.a: [one.id for one in self.flips if one.part > 0.0]}
            sides[self.b] = [one.id for one in self.flips if one.part < 0.0]
            return [
                f"Only {name} is right ({len(ids):,}): {first_of(ids, most)}." for name, ids in sides.items() if ids
            ]
        if not self.flips:
            return []
        shown, more = self.flips[:most], len(self.flips) - most
        spec, part = (
            number_spec(numbers)
            for numbers in ([x for one in shown for x in (one.a, one.b)], [one.part for one in shown])
        )
        columns = {
            "instance": [one.id for one in shown],
            "a": [format_number(one.a, spec) for one in shown],
            "b": [format_number(one.b, spec) for one in shown],
            "part in delta": [f"{one.part:+{part}}" for one in shown],
        }
        means = "parts of all add up to delta" if self.additive else "part: how much smaller delta is without it"
        means = f"a: {self.a}; b: {self.b}; {means}." + f" JSON has {more:,} more instances that differ." * (more > 0)
        return ["Instances that differ, the largest part first:", Table.of(columns, names=(0,)), means]


@takes(FlipsOptions)
@with_progress
def flips(data: Any, options: FlipsOptions) -> Flips:
    r"""Which instances decide between two systems, and what is left of the difference without them?

    The part of an instance in delta is $(a_i - b_i) / n$ for a mean, so that parts add up to delta, and else
    $\delta - \delta_{(i)}$, where $\delta_{(i)}$ is delta without the instance. Those whose part has the sign of delta
    are left out, the largest first: 1, 2, 5 and 10 of them, as many as it takes for p to be 1 - level or more (or the
    sign to change), and as many as it takes for delta to be 0 or of the other sign. What is left is compared anew, by
    the test and the interval of `compare`. The numbers are found by halving. For answers right or wrong without
    clusters they are the fewest of all instances, and so is the last one for every mean; else others may do with fewer.

    p-values without chosen instances are no tests of anything: they say how much rests on few instances.

    Args:
        data: what `compare` takes, of one metric and two systems (or `only` two).
        options: see `FlipsOptions`.

    Raises:
        InputError: several metrics, not two systems, a suite, results missing, and whatever `compare` refuses.

    Reference: Broderick, Giordano and Meager (2020), "An automatic finite-sample robustness metric: when can dropping a
    little data make a big difference?"

    Example:
        >>> a, b = [1] * 12 + [0] * 8, [1, 0] + [0] * 16 + [1, 1]
        >>> result = flips({"A": a, "B": b}, metric="accuracy")
        >>> result.num_for_a, result.num_for_b, result.fewest_not_significant, result.fewest_no_lead
        (11, 2, 2, 9)
        >>> [(each.removed, round(each.p_value, 4)) for each in result.left_out][:3]
        [(0, 0.0225), (1, 0.0386), (2, 0.0654)]
    """
    check(options)
    evaluation, *others = evaluations_of(data, options)
    if others:
        raise InputError(f"flips takes one metric, got {1 + len(others)}; name one ({Hint('metric')})")
    return flips_of(select_pair(evaluation, None), options)


def flips_of(pair: EvaluationRecord, options: FlipsOptions) -> Flips:
    """`flips` of an evaluation of two systems."""
    if pair.present is not None or pair.weights is not None:
        raise InputError("flips takes instances that both systems have, of one task")
    settings = Settings(**values(options, Settings))
    metric, additive = pair.metric, pair.metric.score is mean_score and bool((pair.stats[..., 1:] == 1).all())
    alone, parts = _parts(pair, settings, additive=additive)
    differ = np.flatnonzero((pair.stats[0] != pair.stats[1]).any(axis=-1))
    differ = differ[np.argsort(-np.abs(parts[differ]), kind="stable")]

    @lru_cache(None)
    def without(removed: int) -> Comparison:
        kept = np.ones(pair.num_instances, bool)
        kept[leading[:removed]] = False
        (one,) = compare(on_instances(pair, kept), **values(settings), device=options.device, progress=False)
        return one

    leading = differ[:0]
    every = without(0)
    sign = np.sign(every.delta)
    leading = differ[parts[differ] * sign > 0.0]
    bound = min(options.most, len(leading), max(pair.num_instances - 2, 0))

    def fewest(is_so: Callable[[Comparison], bool]) -> int | None:
        """How many are left out for it to be so, by halving; None if it is so from the start, or not at the bound."""
        low, high = 0, bound
        if is_so(every) or not is_so(without(bound)):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_so(without(middle)) else (middle, high)
        return high

    few = fewest(lambda one: one.p_value >= settings.alpha or one.delta * sign <= 0.0)
    none = fewest(lambda one: one.delta * sign <= 0.0)
    removed = sorted({0, *(k for k in (*_TOP, few, none) if k is not None and k <= bound)})
    kept = [(k, without(k)) for k in removed]
    ids = instance_names(pair)
    favours = parts[differ] * (1.0 if metric.higher_is_better else -1.0)
    return Flips(
        a=pair.systems[0],
        b=pair.systems[1],
        metric=metric.name,
        additive=additive,
        right_or_wrong=additive and bool(((pair.stats[..., 0] == 0) | (pair.stats[..., 0] == 1)).all()),
        lower_is_better=not metric.higher_is_better,
        flips=tuple(Flip(ids[i], alone[0][i], alone[1][i], float(parts[i])) for i in differ.tolist()),
        num_for_a=int((favours > 0.0).sum()),
        num_for_b=int((favours < 0.0).sum()),
        left_out=tuple(LeftOut(k, pair.num_instances - k, one.delta, one.interval, one.p_value) for k, one in kept),
        fewest_not_significant=few,
        fewest_no_lead=none,
        bound=bound,
        level=settings.level,
        signature=study_signature("flips", options, metric=metric.name, instances=pair.num_instances),
    )


def _parts(
    pair: EvaluationRecord, settings: Settings, *, additive: bool
) -> tuple[list[list[float | None]], np.ndarray]:
    """The scores `[system][instance]` on each instance alone, and the part `[instance]` of each in delta."""
    alone = np.full(pair.stats.shape[:2], np.nan)
    if isinstance(pair.metric, Metric):
        with np.errstate(all="ignore"):
            alone = np.asarray(pair.metric.score(pair.stats.astype(np.float64)), np.float64)
    scores = [[x if np.isfinite(x) else None for x in row] for row in alone.tolist()]
    if additive:
        return scores, (pair.stats[0, :, 0] - pair.stats[1, :, 0]) / pair.num_instances
    units = replace(pair, ids=None, clusters=None, strata=None, runs=None)
    with host_scope(), named_errors([pair], settings):
        case = problem_of(units, settings)
        left = case.jackknife_scores()
        return scores, case.hypotheses.delta((0, 1)) - (left[0] - left[1])


def instance_names(evaluation: EvaluationRecord) -> list[str]:
    """What tells instances apart: ids, with the run where there are some, or else their positions."""
    ids = evaluation.ids or tuple(f"number {number}" for number in range(1, evaluation.num_instances + 1))
    return [f"{id} of run {run}" for id, run in zip(ids, evaluation.runs, strict=True)] if evaluation.runs else [*ids]
