"""Flips: the instances on which two systems differ, and what is left of the difference without those that decide it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.checks import named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import CompareOptions, ReadingOptions
from sigjax.metrics.ratios import mean_score
from sigjax.records import Comparison, Device, EvaluationRecord, Interval, Method, Metric, Settings
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.sections import Table
from sigjax.resample.units import make_units, units_of_instances
from sigjax.run.backend import host_scope
from sigjax.run.context import with_progress
from sigjax.studies.study import Block, BlockResult, caption, study_signature
from sigjax.studies.trials import by_one_metric, on_instances, select_pair, signed_data
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
        id: of the instance (with all its runs); without ids its number, from 1.
        a: score of the first system on this instance alone; None where it has none.
        b: that of the second.
        part: its part in delta, see `flips`.
    """

    id: str
    a: float | None
    b: float | None
    part: float


@dataclass(frozen=True)
class WithoutTop:
    """The comparison without the instances that speak most for the sign of delta.

    Attributes:
        removed: how many are left out; 0 is the comparison of all.
        delta: score of a minus score of b on the others.
        interval: of delta; None where there is none.
        p_value: of the permutation test.
    """

    removed: int
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
        lower_is_better: whether lower scores are better.
        num_instances: number of instances.
        additive: whether the parts of all instances add up to delta.
        flips: the instances that differ, the largest |part| first, then in the order of the data.
        left_out: the comparison of all instances, and without some of those that speak most for the sign of delta.
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
    lower_is_better: bool
    num_instances: int
    additive: bool
    flips: tuple[Flip, ...]
    left_out: tuple[WithoutTop, ...]
    fewest_not_significant: int | None
    fewest_no_lead: int | None
    bound: int
    level: float
    signature: str

    @property
    def headline(self) -> str:
        """Who leads, on how many instances they differ, and how few of them decide."""
        every, alpha = self.left_out[0], round(1.0 - self.level, 12)
        differ = f"{len(self.flips):,} of {words.count(self.num_instances, 'instance')} differ"
        if every.delta == 0.0:
            return f"{self.a} and {self.b} have the same score: {differ}."
        ahead, behind = (self.a, self.b) if (every.delta > 0.0) != self.lower_is_better else (self.b, self.a)
        ahead_on = [(one.a - one.b) * every.delta for one in self.flips if one.a is not None and one.b is not None]
        wins, losses = (sum(sign * each > 0.0 for each in ahead_on) for sign in (1, -1))
        by, p = words.number_spec([every.delta]), words.format_p(every.p_value, threshold=alpha)
        text = f"{ahead} is ahead of {behind} by {abs(every.delta):{by}} (p = {p}): {differ}"
        neither = len(self.flips) - wins - losses
        end = f", {losses:,} against it and {neither:,} for neither" if neither else f" and {losses:,} against it"
        text += f", {wins:,} for it{end}." if ahead_on else "."
        few, none = self.fewest_not_significant, self.fewest_no_lead
        if not self.bound:  # of two instances or one, none can be left out
            alone = len(self.flips) == 1
            return (
                f"{text} {'Without that one no difference is left' if alone else 'They are too few to leave one out'}."
            )
        if few is None and every.p_value < alpha:
            return f"{text} Without the {self.bound:,} most influential, p stays below {alpha:g}."
        most, without = none or self.bound, "even without" if none is None else "without"
        lead = f"{ahead} {'still leads' if none is None else 'does not lead'}."
        if few in (None, none):
            return f"{text} {without.capitalize()} {most:,}, {lead}"
        then = "even then" if few == most else f"{without} {most:,},"
        return f"{text} Leaving out the {few:,} most influential makes p {alpha:g} or more; {then} {lead}"

    def _blocks(self) -> tuple[list[Block], list[Block]]:
        """What is left without the instances that decide; and these."""
        spec, alpha = words.number_spec([one.delta for one in self.left_out]), round(1.0 - self.level, 12)
        interval, means = f"{words.percent(self.level)} interval", f"{caption(self)}; delta is {self.a} - {self.b}"
        columns = {
            "left out": [f"{one.removed:,}" if one.removed else "none" for one in self.left_out],
            "delta": [f"{one.delta:+{spec}}" for one in self.left_out],
            interval: [words.format_interval(one.interval, f"+{spec}") for one in self.left_out],
            "p": [words.format_p(one.p_value, threshold=alpha) for one in self.left_out],
        }
        heading = f"{means}; left out are the instances that speak most for its sign:"
        return [heading, Table.of(columns, names=(0,))], [*self.instances(), self.signature]

    def instances(self, most: int = _SHOWN) -> list[Block]:
        """The first instances that differ: their names, where all are right or wrong, else a table."""
        if self.additive and not self.lower_is_better and all({one.a, one.b} == {0.0, 1.0} for one in self.flips):
            sides = ((name, [one.id for one in self.flips if one.a == a]) for name, a in ((self.a, 1.0), (self.b, 0.0)))
            return [f"Only {name} is right ({len(ids):,}): {words.first_of(ids, most)}." for name, ids in sides if ids]
        shown, more = self.flips[:most], len(self.flips) - most
        spec, part = (words.number_spec([getattr(one, name) for one in shown]) for name in ("a", "part"))
        columns = {
            "instance": [one.id for one in shown],
            "a": [words.format_number(one.a, spec) for one in shown],
            "b": [words.format_number(one.b, spec) for one in shown],
            "part in delta": [f"{one.part:+{part}}" for one in shown],
        }
        means = "all parts add up to delta" if self.additive else "part: how much smaller delta is without it"
        means = f"a: {self.a}; b: {self.b}; {means}." + f" JSON has {more:,} more." * (more > 0)
        return ["Instances that differ, the largest part first:", Table.of(columns, names=(0,)), means]


@takes(FlipsOptions)
@with_progress
def flips(data: Any, options: FlipsOptions) -> Flips:
    r"""Which instances decide between two systems, and what is left of the difference without them?

    An instance has all its runs. Its part in delta is $(a_i - b_i) / n$ for a mean of n numbers, with sums over its
    runs, so that parts add up to delta, and else $\delta - \delta_{(i)}$, where $\delta_{(i)}$ is delta without the
    instance. Those that speak most for the sign of delta are left out, the largest part first: 1, 2, 5 and 10 of them,
    as many as it takes for p to be 1 - level or more (or the sign to change), and as many as it takes for delta to be 0
    or of the other sign. What is left is compared anew as by `compare`; p-values without chosen instances are no tests
    of anything, but say how much rests on few of them. The numbers are found by halving. For answers right or wrong
    without clusters or runs they are the fewest of all instances, and so is the last one for every mean; else others
    may do with fewer.

    Args:
        data: what `compare` takes, of one metric and two systems (or `only` two).
        options: see `FlipsOptions`.

    Raises:
        InputError: several metrics, not two systems, results missing, and whatever `compare` refuses.

    Reference: Broderick, Giordano and Meager (2020), "An automatic finite-sample robustness metric: when can dropping a
    little data make a big difference?"

    Example:
        >>> a, b = [1] * 12 + [0] * 8, [1, 0] + [0] * 16 + [1, 1]
        >>> result = flips({"A": a, "B": b}, metric="accuracy")
        >>> len(result.flips), result.fewest_not_significant, result.fewest_no_lead
        (13, 2, 9)
        >>> [(each.removed, round(each.p_value, 4)) for each in result.left_out][:3]
        [(0, 0.0225), (1, 0.0386), (2, 0.0654)]
    """
    check(options)
    return flips_of(select_pair(by_one_metric(data, options), None), options)


def flips_of(pair: EvaluationRecord, options: FlipsOptions) -> Flips:
    """`flips` of an evaluation of two systems."""
    pair.check_complete()
    settings, metric = Settings(**values(options, Settings)), pair.metric
    single = replace(pair, clusters=None, strata=None)  # a unit is an instance with all its runs
    owners = of_sums = units_of_instances(single)[0]
    sums, number = pair.stats, int(owners.max()) + 1
    if pair.runs is not None and isinstance(metric, Metric):
        units, of_sums = make_units(single), np.arange(number)
        sums = units.unscaled(units.values.astype(float))
    additive = metric.score is mean_score and bool(
        (pair.stats[..., 1] == 1).all() or (sums[..., 1] == sums[0, 0, 1]).all()
    )
    if additive:
        parts = (sums[0, :, 0] - sums[1, :, 0]) / sums[0, :, 1].sum()
    else:
        with host_scope(), named_errors([pair], settings):
            case = problem_of(single, settings)
            without_one = case.jackknife_scores()
            parts = case.hypotheses.delta((0, 1)) - (without_one[0] - without_one[1])
    differ = np.unique(of_sums[(sums[0] != sums[1]).any(axis=-1)])
    differ = leading = differ[np.argsort(-np.abs(parts[differ]), kind="stable")]

    @lru_cache(None)
    def without(removed: int) -> Comparison:
        left = on_instances(pair, ~np.isin(owners, leading[:removed]))
        return compare(left, **values(settings), device=options.device, progress=False).comparisons[0]

    sign = np.sign(without(0).delta)
    leading = differ[np.argsort(-sign * parts[differ], kind="stable")]
    if additive or sign == 0.0:  # parts of other metrics do not add up: those against it may follow
        leading = leading[sign * parts[leading] > 0.0]
    bound = min(options.most, len(leading), max(number - 2, 0))

    def fewest(is_so: Callable[[Comparison], bool]) -> int | None:
        """How many are left out for it to be so, by halving; None if it is so from the start, or not at the bound."""
        if is_so(without(0)) or not is_so(without(bound)):
            return None
        return 1 + bisect_left(range(1, bound), 1, key=lambda removed: is_so(without(removed)))

    few = fewest(lambda one: one.p_value >= settings.alpha or one.delta * sign <= 0.0)
    none = fewest(lambda one: one.delta * sign <= 0.0)
    removed = sorted({0, *(k for k in (*_TOP, few, none) if k is not None and k <= bound)})
    alone, ids = np.full((2, number), np.nan), [*dict.fromkeys(pair.ids or ())] or instance_names(pair)
    if isinstance(metric, Metric):
        with np.errstate(all="ignore"):
            alone = np.asarray(metric.score(sums.astype(np.float64)), np.float64)
    of_a, of_b = ([x if np.isfinite(x) else None for x in row] for row in alone.tolist())
    return Flips(
        *pair.systems,
        metric=metric.name,
        lower_is_better=not metric.higher_is_better,
        num_instances=number,
        additive=additive,
        flips=tuple(Flip(ids[i], of_a[i], of_b[i], float(parts[i])) for i in differ.tolist()),
        left_out=tuple(WithoutTop(k, (one := without(k)).delta, one.interval, one.p_value) for k in removed),
        fewest_not_significant=few,
        fewest_no_lead=none,
        bound=bound,
        level=settings.level,
        signature=study_signature(
            "flips", options, metric=metric.name, instances=number, runs=signed_data(pair)["runs"]
        ),
    )


def instance_names(evaluation: EvaluationRecord) -> list[str]:
    """What tells instances apart: ids, with the run where there are some, or else their positions."""
    ids = evaluation.ids or tuple(f"number {number}" for number in range(1, evaluation.num_instances + 1))
    return [f"{id} of run {run}" for id, run in zip(ids, evaluation.runs, strict=True)] if evaluation.runs else [*ids]
