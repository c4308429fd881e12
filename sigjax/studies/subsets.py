"""Flips and slices: which instances decide between two systems? Does the difference change between slices?"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.checks import named_errors
from sigjax.comparison.compare import compare
from sigjax.comparison.options import BootstrapOptions
from sigjax.metrics import shifted
from sigjax.metrics.ratios import mean_score
from sigjax.multiple.discoveries import Wins, wins
from sigjax.readers.options import reading
from sigjax.records import (
    Comparison,
    EvaluationRecord,
    Hint,
    InputError,
    Interval,
    Method,
    Metric,
    Settings,
)
from sigjax.records.options import check, given_as, option, same, takes, values
from sigjax.records.settings import CORRECTIONS, PValueCorrection
from sigjax.report.document import Block, Document
from sigjax.report.panels import BLUE, BLUES, GREY, intervals, label_rows, row_height, set_words
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.resample.draws import STREAMS
from sigjax.resample.units import make_units, units_of_instances
from sigjax.run.backend import host_scope
from sigjax.run.context import with_progress
from sigjax.studies.association import shuffled
from sigjax.studies.study import StudyOptions, caption, grouped, plot_panels, study_signature, with_adjusted_p
from sigjax.studies.trials import (
    LABELS,
    by_one_metric,
    check_pair,
    instance_ids,
    on_instances,
    shown_fields,
    signed_data,
    texts_by_id,
)
from sigjax.testing.delta_method import delta_method_influences
from sigjax.testing.tests import problem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP, _SHOWN = (1, 2, 5, 10), 20
"""`_TOP`: the comparison is always repeated without the 1, 2, 5 and 10 most influential instances. `_SHOWN`: the text
shows at most this many instances."""


@dataclass(frozen=True, kw_only=True)
class FlipsOptions(StudyOptions):
    """The options of `flips`."""

    most: int = option(100, "Leave out at most this many instances.", least=1, most=2**31, group="Main options")
    show: Sequence[str] = option(
        (), "Columns or fields to show beside each instance, such as question target.", group="Main options"
    )
    method: Method = same(Settings, "method")
    resamples: int = same(BootstrapOptions, "resamples")
    seed: int = same(Settings, "seed")
    confidence_level: float = same(Settings, "confidence_level")


@dataclass(frozen=True)
class Flip:
    """An instance on which two systems have different statistics.

    Attributes:
        id: id of the instance (with all its runs); without ids its number, from 1.
        a: score of the first system on this instance alone; None if the score is not defined.
        b: score of the second system on this instance alone; None if the score is not defined.
        part: contribution of the instance to delta, see `flips`.
    """

    id: str
    a: float | None
    b: float | None
    part: float


@dataclass(frozen=True)
class WithoutTop:
    """The comparison of two systems without the instances that favour the leading system most.

    Attributes:
        removed: number of instances that are left out; 0 for the comparison on all instances.
        interval: interval of delta; None if there is none.
        p_value: p-value of the permutation test.
    """

    removed: int
    delta: float
    interval: Interval | None
    p_value: float


@dataclass(frozen=True, repr=False)
class Flips(Result):
    """Result of `flips`: the instances that decide between two systems.

    Attributes:
        additive: whether the contributions (`part`) of all instances add up to delta.
        flips: the instances on which the systems differ, the largest |part| first, then in the order of the data.
        left_out: the comparison on all instances, and without the instances that favour the leading system most.
        fewest_not_significant: how many of the instances that favour the leading system most must be left out until the
            difference is not significant, or changes its sign. None if the difference on all instances is not
            significant, or if it stays significant when `bound` instances are left out.
        fewest_no_lead: how many of these instances must be left out until delta is 0 or changes its sign. None if delta
            on all instances is 0, or if it keeps its sign when `bound` instances are left out.
        bound: at most this many instances are left out.
        confidence_level: confidence level of the intervals; a difference is significant if p < 1 - level.
        texts: dict from each column or field to show to its text for each of `flips`.
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
    confidence_level: float
    signature: str
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """Say which system leads, on how many instances the systems differ, and how few instances decide."""
        every, alpha = self.left_out[0], round(1.0 - self.confidence_level, 12)
        differ = f"{len(self.flips):,} of {words.count(self.num_instances, 'instance')} differ"
        if every.delta == 0.0:
            return f"{self.a} and {self.b} have the same score: {differ}."
        ahead, behind = (self.a, self.b) if (every.delta > 0.0) != self.lower_is_better else (self.b, self.a)
        ahead_on = [(one.a - one.b) * every.delta for one in self.flips if one.a is not None and one.b is not None]
        wins, losses = (sum(sign * each > 0.0 for each in ahead_on) for sign in (1, -1))
        by, p = words.number_spec([every.delta]), words.format_p(every.p_value, threshold=alpha)
        text = f"{ahead} is ahead of {behind} by {abs(every.delta):{by}} ({words.p_is(p)}): {differ}"
        neither = len(self.flips) - wins - losses
        end = f", {losses:,} against it and {neither:,} for neither" if neither else f" and {losses:,} against it"
        text += f", {wins:,} for it{end}." if wins or losses else "."  # MCC has no scores of single instances
        few, none = self.fewest_not_significant, self.fewest_no_lead
        if not self.bound:  # at most two instances: none can be left out
            too_few = "They are too few to leave one out", "Without that one no difference is left"
            return f"{text} {too_few[len(self.flips) == 1]}."
        if few is None and every.p_value < alpha:
            return f"{text} Without the {self.bound:,} most influential, p stays below {alpha:g}."
        most, without = none or self.bound, "even without" if none is None else "without"
        lead = f"{ahead} {'still leads' if none is None else 'does not lead'}."
        if few in (None, none):
            return f"{text} {without.capitalize()} {most:,}, {lead}"
        then = "even then" if few == most else f"{without} {most:,},"
        return f"{text} Leaving out the {few:,} most influential makes p {alpha:g} or more; {then} {lead}"

    def document(self) -> Document:
        """The document has the comparisons without the most influential instances, and the first of the `flips`."""
        return self._document(_SHOWN)

    def whole_document(self) -> Document:
        """The document with all instances on which the systems differ."""
        return self._document(len(self.flips))

    def _document(self, most: int) -> Document:
        spec, alpha = words.number_spec([one.delta for one in self.left_out]), round(1.0 - self.confidence_level, 12)
        interval, means = (
            f"{words.percent(self.confidence_level)} interval",
            f"{caption(self)}; delta is {self.a} - {self.b}",
        )
        columns = {
            "left out": [f"{one.removed:,}" if one.removed else "none" for one in self.left_out],
            "delta": [f"{one.delta:+{spec}}" for one in self.left_out],
            interval: [words.format_interval(one.interval, f"+{spec}") for one in self.left_out],
            "p": [words.format_p(one.p_value, threshold=alpha) for one in self.left_out],
        }
        heading = f"{means}; left out are the instances that speak most for its sign:"
        details = [*self.instances(most), self.signature]
        left = [heading, Table.of(columns, names=(0,))]
        return Document("Flips", caption(self), self.headline, left, details, holds_texts=True)

    def instances(self, most: int = _SHOWN, others: str = "Files (-o) have") -> list[Block]:
        """Return a table of the first `most` instances on which the systems differ.

        For right-or-wrong answers, return only the names of these instances. `others` are words that say where the
        other instances are.
        """
        answers = self.additive and not self.lower_is_better and all({one.a, one.b} == {0.0, 1.0} for one in self.flips)
        if answers and not self.texts:
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
        columns |= {name: list(texts[:most]) for name, texts in self.texts.items()}
        texts = tuple(range(len(columns) - len(self.texts), len(columns)))
        means = "all parts add up to delta" if self.additive else "part: how much smaller delta is without it"
        means = f"a: {self.a}; b: {self.b}; {means}." + f" {others} {more:,} more." * (more > 0)
        return ["Instances that differ, the largest part first:", Table.of(columns, names=(0, *texts)), means]

    def with_texts(self, texts: Mapping[str, EvaluationRecord]) -> Flips:
        """Return the result with the texts of fields, to show beside each instance.

        `texts` maps the name of each field to an evaluation whose strata are the values of this field.
        """
        return replace(self, texts=texts_by_id(texts, [one.id for one in self.flips]))

    def _rows(self) -> list[dict[str, Any]]:
        texts = ({name: own[i] for name, own in self.texts.items()} for i in range(len(self.flips)))
        return [row | own for row, own in zip(super()._rows(), texts, strict=True)]


@takes(FlipsOptions)
@with_progress
def flips(data: Any, options: FlipsOptions) -> Flips:
    r"""Which instances decide between two systems, and what is left of the difference without them?

    An instance counts with all its runs. Its part is its contribution to delta. For a mean of n numbers it is $(a_i -
    b_i) / n$ (summed over runs), so parts add up to delta. For other metrics it is $\delta - \delta_{(i)}$, where
    $\delta_{(i)}$ is delta without instance i.

    The instances with the largest parts in favour of the leading system are left out: the first 1, 2, 5 and 10; then as
    many as it takes until p >= 1 - level (or the sign changes); and as many as it takes until delta is 0 or changes its
    sign. The systems are compared anew on the remaining instances. These p-values do not test a hypothesis, because the
    instances were chosen by their results; they show how much depends on a few instances.

    The numbers of instances are found by bisection. For right-or-wrong answers without clusters or runs, no smaller set
    of instances has the same effect. For any mean, no smaller set changes the sign. In other cases, a smaller set may
    exist.

    Args:
        data: what `compare` takes, with one metric and two systems; `read={"only": ["A", "B"]}` chooses two of several.
        options: the fields of `FlipsOptions`, as keyword arguments.

    Raises:
        InputError: there are several metrics, not exactly two systems, or missing results; or `compare` refuses the
            data.

    Reference: Broderick, Giordano and Meager (2020), "An automatic finite-sample robustness metric: when can dropping a
    little data make a big difference?"

    Example:
        >>> a, b = [1] * 12 + [0] * 8, [1, 0] + [0] * 16 + [1, 1]
        >>> result = flips({"A": a, "B": b}, read={"metric": "accuracy"})
        >>> len(result.flips), result.fewest_not_significant, result.fewest_no_lead
        (13, 2, 9)
        >>> [(each.removed, round(each.p_value, 4)) for each in result.left_out][:3]
        [(0, 0.0225), (1, 0.0386), (2, 0.0654)]
    """
    check(options)
    read, how = reading(options.read), {"progress": options.progress}
    texts = shown_fields(data, options.show, read, **how)
    found = flips_of(check_pair(by_one_metric(data, read, LABELS, **how)), options)
    return found.with_texts(texts) if texts else found


def flips_of(pair: EvaluationRecord, options: FlipsOptions) -> Flips:
    """Do the work of `flips`, for an evaluation of two systems."""
    pair.check_complete()
    settings, metric = Settings(**values(options, Settings)), pair.metric
    single = replace(pair, clusters=None, strata=None)  # then a unit is an instance with all its runs
    owners = of_sums = units_of_instances(single)[0]
    sums, number = pair.stats, int(owners.max()) + 1
    if pair.runs is not None and isinstance(metric, Metric):
        units, of_sums = make_units(single), np.arange(number)
        sums = units.unscaled(units.values.astype(float))
    of_one = (pair.stats[..., 1] == 1).all() or (sums[..., 1] == sums[0, 0, 1]).all()
    if additive := metric.score is mean_score and bool(of_one):
        parts = (sums[0, :, 0] - sums[1, :, 0]) / sums[0, :, 1].sum()
    else:
        with host_scope(), named_errors([pair], settings):
            problem = problem_of(single, settings)
            without_one = problem.jackknife_scores()
            parts = problem.hypotheses.delta((0, 1)) - (without_one[0] - without_one[1])
    differ = np.unique(of_sums[(sums[0] != sums[1]).any(axis=-1)])
    differ = leading = differ[np.argsort(-np.abs(parts[differ]), kind="stable")]

    @lru_cache(None)
    def without(removed: int) -> Comparison:
        left = on_instances(pair, ~np.isin(owners, leading[:removed]))
        return compare(left, **values(settings), device=options.device, progress=False).comparisons[0]

    sign = np.sign(without(0).delta)
    leading = differ[np.argsort(-sign * parts[differ], kind="stable")]
    if additive or sign == 0.0:  # parts of other metrics do not add up, so even negative parts may matter
        leading = leading[sign * parts[leading] > 0.0]
    bound = min(options.most, len(leading), max(number - 2, 0))

    def fewest(is_so: Callable[[Comparison], bool]) -> int | None:
        """Find by bisection how many instances must be left out until `is_so` holds for the comparison.

        None if `is_so` already holds on all instances, or if it does not even hold when the largest number of instances
        (`bound`) is left out.
        """
        if is_so(without(0)) or not is_so(without(bound)):
            return None
        return 1 + bisect_left(range(1, bound), 1, key=lambda removed: is_so(without(removed)))

    few = fewest(lambda one: one.p_value >= settings.alpha or one.delta * sign <= 0.0)
    none = fewest(lambda one: one.delta * sign <= 0.0)
    removed = sorted({0, *(k for k in (*_TOP, few, none) if k is not None and k <= bound)})
    alone, ids = np.full((2, number), np.nan), [*dict.fromkeys(instance_ids(pair))]
    if isinstance(metric, Metric):
        with np.errstate(all="ignore"):
            alone = np.asarray(metric.score(sums.astype(np.float64)), np.float64)
    of_a, of_b = ([x if np.isfinite(x) else None for x in row] for row in alone.tolist())
    runs = signed_data(pair)["runs"]
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
        confidence_level=settings.confidence_level,
        signature=study_signature("flips", options, metric=metric.name, instances=number, runs=runs),
    )


def instance_names(evaluation: EvaluationRecord) -> list[str]:
    """Return the names of the instances: ids (with the run, if there are runs); without ids, positions."""
    ids = instance_ids(evaluation)
    return [f"{id} of run {run}" for id, run in zip(ids, evaluation.runs, strict=True)] if evaluation.runs else [*ids]


_MOST_LISTED, _MOST_UNITS, _NUMBERS = 2**16, 64, 2**21
"""All assignments of labels are listed if there are at most `_MOST_LISTED` assignments and `_MOST_UNITS` units.
`_NUMBERS`: about this many labels and counts are in memory at a time."""
_ROUNDING, _RELATIVE = 2.0**-44, 2.0**-30
"""`_ROUNDING`: relative rounding error of a score. `_RELATIVE`: relative rounding error of a sum of squares."""
_SHOWN_PAIRS = 12
"""A text or figure shows at most this many pairs, and a text names at most this many small slices."""


@dataclass(frozen=True, kw_only=True)
class SlicesOptions(StudyOptions):
    """The options of `slices`."""

    by: str | None = option(
        None, "The slices: a column or field, or a file of labels; default: the strata.", group="Main options"
    )
    least: int = option(10, "Skip slices with fewer instances (they are listed).", least=1, most=2**53)
    permutations: int = option(9999, "Permutations of labels for the test of interaction.", least=1, most=10**9)
    baseline: str | None = same(Settings, "baseline")
    correction: PValueCorrection = same(Settings, "correction", doc="How p is adjusted over slices.")
    method: Method = same(Settings, "method")
    resamples: int = same(BootstrapOptions, "resamples")
    seed: int = same(Settings, "seed")
    confidence_level: float = same(Settings, "confidence_level")


@dataclass(frozen=True)
class SliceDelta:
    """A pair of systems compared in one slice.

    Attributes:
        slice: label of the slice; None if the pair is compared on the instances of all tested slices together.
        num_instances: number of instances in the slice, each with all its runs.
        interval: interval of delta, not simultaneous; None if there is none.
        p_value: p-value of the permutation test in this slice.
        p_adjusted: p_value adjusted over all slices and pairs; for all instances together, adjusted over pairs.
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
    """Test of whether the delta of a pair differs between slices (interaction).

    Attributes:
        statistic: weighted sum of squares between slices; see `slices`.
        p_value: p-value from permutations of the slice labels.
        p_adjusted: p_value adjusted over pairs.
        permutations: number of permutations that were drawn; None if all permutations were listed.
    """

    a: str
    b: str
    statistic: float
    p_value: float
    p_adjusted: float
    permutations: int | None


@dataclass(frozen=True)
class SliceWins:
    """Lower bounds on the number of slices in which each system of a pair is better; see `multiple.discoveries`.

    Attributes:
        ahead_a: number of tested slices in which a has the better score.
        better_a: a is truly better in at least this many slices, with the confidence level for all pairs together.
        ahead_b: number of tested slices in which b has the better score.
        better_b: b is truly better in at least this many slices, with the confidence level for all pairs together.
    """

    a: str
    b: str
    ahead_a: int
    better_a: int
    ahead_b: int
    better_b: int


@dataclass(frozen=True, repr=False)
class Slices(Result):
    """Result of `slices`: a comparison in every slice.

    Attributes:
        by: the field that defines the slices.
        slices: for each pair: all instances together, then each slice in the order of the data.
        interactions: one test per pair; empty if the test is not possible.
        wins: one entry per pair: lower bounds on the number of slices in which each system is better.
        no_interaction: why the test of interaction is not possible; else None.
        small: dict from each slice that is left out, because it is too small, to its number of instances.
        correction: how p is adjusted.
        confidence_level: confidence level of the intervals; differences with an adjusted p below 1 - level are
            significant.
    """

    rows = "slices"

    by: str
    metric: str
    lower_is_better: bool
    slices: tuple[SliceDelta, ...]
    interactions: tuple[Interaction, ...]
    wins: tuple[SliceWins, ...]
    no_interaction: str | None
    small: Mapping[str, int]
    correction: PValueCorrection
    confidence_level: float
    signature: str

    def _rows(self) -> list[dict[str, Any]]:
        """Return the rows. A row for all instances also says in how many slices each system is better."""
        won = {(each.a, each.b): each for each in self.wins}
        names = ("ahead_a", "better_a", "ahead_b", "better_b")
        return [
            row | {name: None if row["slice"] is not None else getattr(won[row["a"], row["b"]], name) for name in names}
            for row in super()._rows()
        ]

    def _pairs(self) -> list[list[SliceDelta]]:
        return grouped(self.slices, "a", "b")

    def _adjusted_p_text(self, one: SliceDelta) -> str:
        """Return the adjusted p as text.

        On all instances, p is adjusted over pairs. If there is only one pair, nothing is adjusted, and p is marked
        (raw).
        """
        raw = one.slice is None and len(self._pairs()) == 1 and self.correction != "none"
        return words.PText(words.format_p(one.p_adjusted) + " (raw)" * raw)

    def _is_significant(self, one: SliceDelta | Interaction) -> bool:
        return one.p_adjusted < round(1.0 - self.confidence_level, 12)

    @property
    def headline(self) -> str:
        """Say how many differences in slices are significant, and whether the difference changes between slices."""
        pairs, tested = self._pairs(), [one for one in self.slices if one.slice is not None]
        significant, changing = (sum(map(self._is_significant, each)) for each in (tested, self.interactions))
        number = words.count(len(tested), "difference")
        verb = "is" if significant == 1 else "are"
        text = f"{significant:,} of {number} {verb} significant in {len(pairs[0]) - 1:,} slices by {self.by}"
        if len(self.interactions) > 1:
            return f"{text}; {changing:,} of {len(pairs):,} pairs differ more in some slices than in others."
        if self.interactions:
            text += f"; it is {'' if changing else 'not '}shown that the difference changes from slice to slice"
            alpha = round(1.0 - self.confidence_level, 12)
            text += f" (p = {words.format_p(self.interactions[0].p_value, threshold=alpha)})"
        return f"{text}."

    def document(self) -> Document:
        """The document has the headline, and a table for each pair."""
        pairs, blocks, interval = self._pairs(), list[Block](), f"{words.percent(self.confidence_level)} interval"
        for index, rows in enumerate(pairs[:_SHOWN_PAIRS]):
            spec = words.number_spec([x for one in rows for x in (one.score_a, one.score_b)])
            columns = {
                self.by: [one.slice or "all" for one in rows],
                "instances": [f"{one.num_instances:,}" for one in rows],
                "a": [f"{one.score_a:{spec}}" for one in rows],
                "b": [f"{one.score_b:{spec}}" for one in rows],
                "delta": [f"{one.delta:+{spec}}" for one in rows],
                interval: [words.format_interval(one.interval, f"+{spec}") for one in rows],
                "adjusted p": [self._adjusted_p_text(one) for one in rows],
            }
            text = f"{caption(self)}; a: {rows[0].a}, b: {rows[0].b}"
            for test in self.interactions[index : index + 1]:
                how = "exact" if test.permutations is None else words.count(test.permutations, "permutation")
                text += f"; same delta in all slices: adjusted p = {words.format_p(test.p_adjusted)} ({how})"
            blocks += [f"{text}:", Table.of(columns, names=(0,), optional=("a", "b"))]
            won = self.wins[index]
            if said := Wins(won.ahead_a, won.better_a, won.ahead_b, won.better_b).sentence(won.a, won.b, "slices"):
                blocks.append(f"{said} ({words.percent(self.confidence_level)} confidence).")
            elif max(won.ahead_a, won.ahead_b) >= 3:
                blocks.append("No win on a single slice is certain: at least 0 are real. See the row of all instances.")
        title, number = CORRECTIONS[self.correction].title, len(self.slices) - len(pairs)
        notes = [f"p adjusted by {title} over {number:,} slices and pairs; intervals are each for its slice alone."]
        unsure = [one.interval for one in self.slices if one.slice and one.interval and not self._is_significant(one)]
        if apart := sum(low > 0.0 or high < 0.0 for low, high in unsure):
            why = "it is for the slice alone, by another method, and p is adjusted"
            notes.append(f"In {words.count(apart, 'row')} the interval excludes 0 and p does not reject: {why}.")
        if self.small:
            small = words.first_of([f"{name} ({size:,})" for name, size in self.small.items()], _SHOWN_PAIRS)
            notes.append(f"Too small, and left out: {small}.")
        notes += [f"No test of whether delta is the same: {self.no_interaction}."] if self.no_interaction else []
        if len(pairs) > _SHOWN_PAIRS:
            notes.append(f"JSON has {words.count(len(pairs) - _SHOWN_PAIRS, 'more pair')}.")
        return Document("Slices", caption(self), self.headline, blocks, [*notes, self.signature], holds_texts=True)

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        pairs = self._pairs()
        if len(pairs) > _SHOWN_PAIRS:
            raise InputError(f"a figure shows {_SHOWN_PAIRS} pairs at most, got {len(pairs)}; give {Hint('baseline')}")
        return ((len(rows) * row_height(len(rows)), partial(self._draw, rows)) for rows in pairs)

    def _draw(self, rows: Sequence[SliceDelta], axes: Axes) -> None:
        axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
        intervals(axes, range(len(rows)), [one.interval for one in rows], color=BLUES[1])
        for fill, name in ((BLUE, "significant difference"), ("white", "no significant difference")):
            if points := [(one.delta, i) for i, one in enumerate(rows) if self._is_significant(one) == (fill == BLUE)]:
                style = {"markerfacecolor": fill, "markersize": 4.0, "markeredgewidth": 0.8, "label": name}
                axes.plot(*zip(*points, strict=True), "o", color=BLUE, **style)
        names = [f"{one.slice or 'all'} ({one.num_instances:,})" for one in rows]
        label_rows(axes, names, [self._adjusted_p_text(one) for one in rows])
        label = f"delta, {words.percent(self.confidence_level)} interval, each alone\nright: adjusted p"
        set_words(axes, f"{caption(self)}\n{rows[0].a} − {rows[0].b}, by {self.by}", label)


@takes(SlicesOptions)
@with_progress
def slices(data: Any, options: SlicesOptions) -> Slices:
    r"""Compare systems in every slice of the instances, and test whether delta is the same in all slices.

    In each slice, pairs are compared as `compare` would compare them on the slice alone. p is adjusted over all slices
    and pairs.

    **Test of interaction.** It permutes the slice labels over units (instances, or clusters). $\delta_g$ is delta in
    slice g, and $1 / w_g$ is the variance of $\delta_g$ by the delta method. The statistic is $\sum_g w_g (\delta_g -
    \bar\delta)^2$ with $\bar\delta = \sum_g w_g \delta_g / \sum_g w_g$. For a mean of $n_g$ differences, the variance
    of $\delta_g$ is $(Q_g + s^2) / n_g^2$. $Q_g$ is the sum of squares about the slice's mean. $s^2$ is the variance of
    all differences; it is added so that the variance of $\delta_g$ is above 0.

    The test is exact if the units of all slices have the same distribution. If only delta is the same in all slices,
    the test is approximately valid for many units. If there are few assignments of labels, all are listed; else p =
    (exceed + 1) / (permutations + 1). Ties count as extreme, and so do permutations on which the metric is not finite.

    Args:
        data: what `compare` takes, with one metric. The slices of an `Evaluation` are its strata; then `by` is only a
            name.
        options: the fields of `SlicesOptions`, as keyword arguments.

    Raises:
        InputError: there are several metrics, no labels, different labels on the runs of one instance, fewer than two
            slices of `least` instances, or missing results; or `compare` refuses the data.

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
    read = reading(options.read)
    if not is_read and None not in (options.by, read.strata):
        raise InputError(f"slices are strata: give {Hint('by')} or {Hint('strata')}, not both")
    changes = {} if is_read or options.by is None else {"strata": options.by}
    with given_as("strata", "by" if changes else "strata"):
        evaluation = by_one_metric(data, replace(read, **changes), LABELS, progress=options.progress, sliced=True)
    evaluation.check_complete()
    if evaluation.strata is None:
        raise InputError(f"slices needs a label for each instance: give {Hint('by')}, a field or a file of labels")
    names = evaluation.ids or () if evaluation.runs else range(evaluation.num_instances)
    labels, places = np.array(evaluation.strata), dict.fromkeys(zip(names, evaluation.strata, strict=True))
    if crossing := [name for name, slices_of in Counter(name for name, _ in places).items() if slices_of > 1]:
        advice = "take a field that is the same in all runs of an instance"
        raise InputError(f"{Hint('by')}: the runs of instance {crossing[0]!r} lie in different slices; {advice}")
    sizes = Counter(label for _, label in places)
    small = {name: size for name, size in sizes.items() if size < options.least}
    tested = [name for name in sizes if name not in small]
    if len(tested) < 2:
        got = f"got {len(tested)} among {words.count(len(sizes), 'label')}"
        advice = f"take a field of fewer labels, or a smaller {Hint('least')}"
        raise InputError(f"slices needs two slices of {options.least:,} instances or more, {got}; {advice}")
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
        wins=_won(of_pairs, lower=not evaluation.metric.higher_is_better, options=options),
        no_interaction=reason,
        small=small,
        correction=options.correction,
        confidence_level=options.confidence_level,
        signature=study_signature("slices", options, metric=evaluation.metric.name, **about),
    )


def _compared(evaluation: EvaluationRecord, name: str | None, options: SlicesOptions) -> list[SliceDelta]:
    """Compare all pairs in one slice, without adjustment; error messages name the slice."""
    how, size = values(options, Settings, correction="none"), evaluation.size.instances
    try:
        report = compare(replace(evaluation, strata=None), **how, device=options.device, progress=False)
    except InputError as error:
        raise InputError("all slices: " if name is None else f"slice {name!r}: ", error.message) from None
    after_size = ("score_a", "score_b", "delta", "interval", "p_value", "p_adjusted")
    return [SliceDelta(name, one.a, one.b, size, *(getattr(one, key) for key in after_size)) for one in report]


def _won(pairs: Sequence[Sequence[SliceDelta]], *, lower: bool, options: SlicesOptions) -> tuple[SliceWins, ...]:
    """Return lower bounds on the number of slices in which each system of each pair is better.

    `pairs` has for each pair its results in the tested slices. `lower`: whether lower scores are better.
    """
    delta, p_values = (
        np.array([[getattr(one, key) for one in rows] for rows in pairs]) for key in ("delta", "p_value")
    )
    alpha = Settings(confidence_level=options.confidence_level).alpha
    found = wins(p_values, np.sign(delta) * (-1.0 if lower else 1.0), alpha)
    return tuple(SliceWins(rows[0].a, rows[0].b, *each) for rows, each in zip(pairs, found, strict=True))


def _interactions(
    evaluation: EvaluationRecord, pairs: Sequence[tuple[str, str]], options: SlicesOptions
) -> list[Interaction]:
    names = list(evaluation.systems)
    a, b = ([names.index(name) for name in side] for side in zip(*pairs, strict=True))
    if (shift := shifted(evaluation)) is not None:
        evaluation = shift.deltas
    units, metric = make_units(evaluation), evaluation.metric
    assert isinstance(metric, Metric)
    codes, (num_systems, number, num_stats) = units.strata, units.values.shape
    moves = delta_method_influences(units.unscaled(units.values.astype(float)), np.zeros(number, int), metric.score)[0]
    moves = (moves[a] - moves[b]).T
    variances, counts = moves.var(axis=0, ddof=1), np.stack([np.ones(number), units.sizes], axis=1)
    by_unit = units.values.swapaxes(0, 1).reshape(number, -1)
    rows = np.concatenate([by_unit, counts, moves, moves**2], axis=1, dtype=float)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)  # few, for right-or-wrong answers
    num_slices, num_distinct, ends = int(codes[-1]) + 1, len(distinct), np.cumsum([by_unit.shape[1], 1, 1, len(pairs)])

    def squares(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of squares between slices `[assignment, pair]`, and their rounding errors.

        `labels` `[assignment, unit]` are assignments of slice labels to units.
        """
        shape = len(labels), num_slices, num_distinct
        cells = (np.arange(len(labels))[:, None] * num_slices + labels) * num_distinct + which.ravel()
        tables = np.bincount(cells.ravel(), minlength=math.prod(shape)).reshape(-1, num_distinct).astype(float)
        sums = (tables @ distinct).reshape(*shape[:2], -1)  # one product for all assignments
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
    listed, exceed = all_assignments(np.bincount(codes)), np.zeros(len(pairs), int)
    step = max(1, _NUMBERS // (number + num_slices * num_distinct))
    total = options.permutations if listed is None else len(listed)
    for start in range(0, total, step):
        rows = np.arange(start, min(start + step, total))
        drawn = shuffled(codes, STREAMS["labels"].keys(options.seed, rows)) if listed is None else listed[rows]
        exceed += (~(squares(drawn)[0] < observed - slack)).sum(axis=0)
    one_more = float(listed is None)  # a full list contains the observed labels
    p_values, drawn = ((exceed + one_more) / (total + one_more)).tolist(), total if listed is None else None
    statistics = np.where(variances > 0.0, observed, 0.0).tolist()  # 0 / 0 if all units have the same difference
    return [Interaction(*pair, x, p, p, drawn) for pair, x, p in zip(pairs, statistics, p_values, strict=True)]


def all_assignments(sizes: np.ndarray) -> np.ndarray | None:
    """List all assignments `[assignment, unit]` of labels to units, where label k is used `sizes[k]` times.

    Return None if there are too many assignments or units to list them.

    >>> all_assignments(np.array([2, 1])).tolist()
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
