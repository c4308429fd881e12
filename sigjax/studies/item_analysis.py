r"""Item analysis: are the instances of a test set any good, and which differences can the test set resolve?

**Mis-keyed instances.** If weaker systems solve an instance and stronger systems do not, its answer key may be wrong.
The item-rest correlation is the correlation between the systems' scores on this instance and their total scores on all
other instances. Under the null hypothesis, the scores on the instance are assigned to the systems at random. p is the
share of all orders of these scores whose correlation is as low or lower. All distinct orders are listed if they are
few; else orders are drawn at random.

**Reliability.** The N instances are the sample. On each instance, a system's score deviates from the mean over all
systems. The mean of these deviations has a standard error. The relative error variance V is the mean of its square over
systems (with the divisor systems - 1). $S^2$ is the variance of the systems' mean scores. The coefficient $1 - V / S^2$
is Cronbach's alpha (KR-20 for right-or-wrong answers), and also the generalizability coefficient of systems x
instances. With clusters, V uses sums of deviations within clusters; Cronbach's alpha does not. The interval is Feldt's,
from the F distribution. The dependability $\Phi$ also counts the differences in difficulty between instances as error.

**Resolution.** With the requested power, a paired test detects a true difference of $(z_{1-\alpha/2} + z_{power})$
standard errors of delta. For two neighbours in the ranking, q is N divided by the number of instances needed to detect
a true difference as large as their delta. If q is at least 1, the test set is large enough to detect such a difference.
For right-or-wrong answers, the number of instances needed is the number that the exact test needs (see
`power_analysis.planned_power`), unless it is very large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.report.words as words
from sigjax.comparison.options import CompareOptions
from sigjax.metrics.ratios import mean_score
from sigjax.readers.options import reading
from sigjax.records import EvaluationRecord, Hint, InputError, Interval, Settings
from sigjax.records.options import check, same, takes, values
from sigjax.records.settings import CORRECTIONS, PValueCorrection, adjust
from sigjax.report.document import Block, Document
from sigjax.report.plots import BLUE, TWO_COLUMNS, VERMILION, label_rows, row_height, set_words
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.resample.draws import STREAMS
from sigjax.resample.units import codes, units_of_instances
from sigjax.run.context import progress_bar, with_progress
from sigjax.studies.association import shuffled
from sigjax.studies.formulas import detectable_effect, instances_needed, instances_to_detect
from sigjax.studies.power_analysis import PowerOptions
from sigjax.studies.study import caption, more_in_json, plot_panels, study_signature
from sigjax.studies.subsets import FlipsOptions, all_assignments
from sigjax.studies.trials import LABELS, by_one_metric, instance_ids, refuse_unused, shown_fields, texts_by_id

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST_SYSTEMS = 3
"""`items` needs at least this many systems. With only two systems, every correlation is 1 or -1."""
_SHOWN, _FIRST = 12, 5
"""`_SHOWN`: a table or list in the text has at most this many entries. `_FIRST`: the text shows at least this many
suspicious instances (or all, if there are fewer), even if none is significant."""
_NUMBERS = 2**22
"""About this many numbers are in memory at a time."""
_FIRST_LOOK, _ENOUGH = 2_000, 200
"""If at least `_ENOUGH` of the first `_FIRST_LOOK` orders have a correlation as low as observed, no more orders are
drawn for the instance."""
_MOST_EXACT = 2_000
"""If more instances than this are needed, the normal approximation gives their number, which is 1% to 5% too small."""
_ROUNDING = 2.0**-40
"""The relative rounding error of a sum of products. Differences within this error count as ties."""


@dataclass(frozen=True, kw_only=True)
class ItemsOptions:
    """The options of `items`."""

    read: Mapping[str, Any] | None = same(CompareOptions, "read")
    show: Sequence[str] = same(FlipsOptions, "show")
    correction: PValueCorrection = same(Settings, "correction", "bh", doc="How p is adjusted over instances.")
    target: float = same(PowerOptions, "target")
    resamples: int = same(Settings, "resamples", doc="Orders drawn, if there are more than 65,536.", more="")
    seed: int = same(Settings, "seed")
    confidence_level: float = same(Settings, "confidence_level")
    progress: bool = same(CompareOptions, "progress")


@dataclass(frozen=True)
class ItemStatistics:
    """Statistics of one instance, with all its runs.

    Attributes:
        id: id of the instance; without ids its number, from 1.
        score: mean score of all systems on the instance.
        correlation: item-rest correlation, between the systems' scores on this instance and on all other instances.
            None if the scores on either side are the same for all systems.
        p_value: probability of a correlation as low or lower if the scores on this instance are assigned to the systems
            at random; None without a correlation.
        p_adjusted: p_value adjusted over all instances with a p-value.
        share: contribution of the instance to the variance of the systems' scores; all contributions add up to 1. None
            if all scores are equal.
        moves: number of pairs of systems that would change their order (or tie) without the instance.
    """

    id: str
    score: float
    correlation: float | None
    p_value: float | None
    p_adjusted: float | None
    share: float | None
    moves: int


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring systems in the ranking.

    Attributes:
        delta: by how much a is better than b, at least 0.
        standard_error: standard error of delta.
        detectable: the smallest true difference that a test of this pair alone detects with the target power; None if
            all instances have the same difference.
        needed: number of units (instances, or clusters) that detect a true difference as large as delta; None for equal
            scores. For up to 2,000 right or wrong answers, it is for the exact test, as in `power --detect`; else it
            comes from the normal approximation.
        q: number of units of this test set, divided by `needed`; 0 for equal scores.
    """

    a: str
    b: str
    delta: float
    standard_error: float
    detectable: float | None
    needed: int | None
    q: float


@dataclass(frozen=True, repr=False)
class Items(Result):
    """Result of `items`: the analysis of a test set by the results of several systems.

    Attributes:
        systems: names of the systems, the best first.
        scores: scores of the systems.
        items: instances in the order of the data.
        neighbours: neighbouring pairs of the ranking, the best first.
        num_units: number of units (instances, or clusters if there are some).
        solved_by_all: ids of the instances on which all systems are right; if scores are not right or wrong, ids of the
            instances on which all scores are equal.
        solved_by_none: ids of the instances on which all systems are wrong; empty if scores are not right or wrong.
        alpha_coefficient: Cronbach's alpha; for right-or-wrong answers this is KR-20. None if all scores are equal.
        generalizability: generalizability coefficient, with clusters as units. Without clusters it is equal to
            `alpha_coefficient`.
        interval: confidence interval of the generalizability coefficient.
        dependability: dependability coefficient, for scores instead of ranks: differences in difficulty between
            instances count as error.
        detectable: median over neighbours of the smallest detectable true difference; None if no pair has one.
        detectable_of_all: `detectable` if p is adjusted over all pairs of systems (Bonferroni).
        target: the power to which `detectable` refers.
        orders: largest number of orders that were drawn for an instance; None if all orders were listed.
        correction: how p is adjusted over instances.
        confidence_level: confidence level of the interval; instances with an adjusted p below 1 - level look mis-keyed.
        notes: what a reader of the numbers should know.
        signature: one line that reproduces the numbers.
        binary: whether all results are right or wrong.
        values: scores `[system, instance]` from 0 to 1, in the order of `systems` and `items`, for the figure.
        texts: dict from each column or field to show to its text for each of `items`.
    """

    rows = "items"

    metric: str
    lower_is_better: bool
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    items: tuple[ItemStatistics, ...]
    neighbours: tuple[Neighbours, ...]
    num_units: int
    solved_by_all: tuple[str, ...]
    solved_by_none: tuple[str, ...]
    alpha_coefficient: float | None
    generalizability: float | None
    interval: Interval | None
    dependability: float | None
    detectable: float | None
    detectable_of_all: float | None
    target: float
    orders: int | None
    correction: PValueCorrection
    confidence_level: float
    notes: tuple[str, ...]
    signature: str
    binary: bool
    values: np.ndarray = field(compare=False)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def num_instances(self) -> int:
        """The number of instances, each with all its runs."""
        return len(self.items)

    @property
    def suspects(self) -> tuple[ItemStatistics, ...]:
        """Instances with a negative correlation, the smallest p first. A wrong answer key makes it negative."""
        found = [one for one in self.items if one.correlation is not None and one.correlation < 0.0]
        return tuple(sorted(found, key=lambda one: (one.p_value, one.correlation)))

    @property
    def mis_keyed(self) -> tuple[ItemStatistics, ...]:
        """The `suspects` whose adjusted p is below 1 - `confidence_level`."""
        alpha = round(1.0 - self.confidence_level, 12)
        return tuple(one for one in self.suspects if one.p_adjusted is not None and one.p_adjusted < alpha)

    @property
    def _answers(self) -> bool:
        """Whether each system has one answer to each instance, and every answer is right or wrong."""
        return self.binary and bool(np.isin(self.values, (0.0, 1.0)).all())

    @property
    def _unit(self) -> str:
        return "instance" if self.num_units == self.num_instances else "cluster"

    @property
    def headline(self) -> str:
        """Return a sentence with four results of the analysis.

        They are the number of instances that look mis-keyed, the number of instances that do not distinguish any two
        systems, the reliability, and the resolution.
        """
        number, broken = words.count(self.num_instances, "instance"), len(self.mis_keyed)
        text = f"{broken:,} of {number} {'looks' if broken == 1 else 'look'} mis-keyed"
        if not broken:
            text = f"None of {number} is significantly mis-keyed"
            more = len(self.suspects)
            text += f", but weaker systems do better on {more:,}" if more else ""
        idle = len(self.solved_by_all) + len(self.solved_by_none)
        how = "all or none solve" if self.binary else "all have the same score on"
        text += f"; {idle:,} {'separates' if idle == 1 else 'separate'} no systems ({how})" if idle else ""
        if self.generalizability is not None:
            text += f". Reliability {self.generalizability:.2f}"
            text += f" {words.format_interval(self.interval, '.2f')}" if self.interval else ""
        if self.detectable is None:
            return f"{text}."
        found = f"{self.detectable:{words.number_spec([self.detectable])}} or more"
        half = f"For half of the neighbours in the ranking, this test set finds only true differences of {found}"
        return f"{text}. {half} (power {words.percent(self.target)})."

    def document(self) -> Document:
        """The document has the suspicious instances, and the neighbours that this test set can tell apart."""
        return self._document(_SHOWN)

    def whole_document(self) -> Document:
        """The document with all suspicious instances and all neighbours."""
        return self._document(max(self.num_instances, len(self.systems)))

    def _document(self, most: int) -> Document:
        return Document(
            "Items",
            f"{caption(self)} on {words.count(self.num_instances, 'instance')}, {len(self.systems):,} systems",
            self.headline,
            [*self._suspicious(most), "", *self._resolution(most)],
            [*self._details(most), *(f"note: {note}" for note in self.notes), self.signature],
            holds_texts=True,
        )

    def _suspicious(self, most: int) -> list[Block]:
        """Return the table of instances on which weaker systems do better, and its explanations."""
        shown = self.suspects[: min(most, max(_FIRST, len(self.mis_keyed)) if most == _SHOWN else most)]
        if not shown:
            return ["Better systems do better on every instance that separates systems."]
        alpha, spec = round(1.0 - self.confidence_level, 12), words.number_spec([one.score for one in shown])
        format_p, more = partial(words.format_p, threshold=alpha), len(self.suspects) - len(shown)
        columns = {
            "instance": [one.id for one in shown],
            "mean score": [f"{one.score:{spec}}" for one in shown],
            "correlation": [words.format_number(one.correlation, "+.3f") for one in shown],
            "p": [format_p(one.p_value) for one in shown if one.p_value is not None],
            "adjusted p": [
                words.format_p(one.p_adjusted, threshold=alpha) for one in shown if one.p_adjusted is not None
            ],
        }
        places = {one.id: i for i, one in enumerate(self.items)}
        columns |= {name: [texts[places[one.id]] for one in shown] for name, texts in self.texts.items()}
        names = (0, *range(len(columns) - len(self.texts), len(columns)))
        tested = sum(one.p_value is not None for one in self.items)
        drawn = "all orders" if self.orders is None else f"up to {words.count(self.orders, 'order')}"
        over = f"adjusted by {CORRECTIONS[self.correction].title} over {words.count(tested, 'instance')}"
        return [
            "Weaker systems do better on these instances. Check their answer keys first:",
            Table.of(columns, names=names, optional=("mean score",)),
            "correlation: of the systems' scores on the instance and on all others",
            f"p: of a correlation as low, if systems solve it as if by chance ({drawn}); {over}",
            *([f"and {more:,} more: files (-o) have all of them"] if more else []),
        ]

    def _resolution(self, most: int) -> list[Block]:
        """Return the table of neighbours in the ranking: their detectable difference and the sample size they need."""
        shown, power = self.neighbours[:most], words.percent(self.target)
        spec = words.number_spec([x for one in shown for x in (one.delta, one.detectable)])
        columns = {
            "better": [one.a for one in shown],
            "next": [one.b for one in shown],
            "delta": [f"{one.delta:{spec}}" for one in shown],
            "detectable": [words.format_number(one.detectable, spec) for one in shown],
            f"{self._unit}s needed": [words.format_number(one.needed, ",d") for one in shown],
            "q": [f"{one.q:.2f}" for one in shown],
        }
        enough, pairs = sum(one.q >= 1.0 for one in self.neighbours), math.comb(len(self.systems), 2)
        beside = words.count(len(self.neighbours), "pair")
        of_all = words.format_number(self.detectable_of_all, words.number_spec([self.detectable_of_all]))
        return [
            f"This test set is large enough for {enough:,} of {beside} of neighbours:",
            Table.of(columns, names=(0, 1), optional=("detectable",)),
            f"detectable: the true difference that a test of the pair finds with power {power}",
            f"needed: {self._unit}s that find a true difference as large as delta; q: {self._unit}s / needed",
            f"With p adjusted over all {words.count(pairs, 'pair')}, half of the neighbours need {of_all} or more.",
            *more_in_json(len(self.neighbours) - len(shown), "pair")[1:],
        ]

    def _details(self, most: int) -> list[Block]:
        """Return sentences on instances that separate no systems or change the ranking, and on reliability."""
        lines: list[Block] = []
        sides = (("All systems solve", self.solved_by_all), ("No system solves", self.solved_by_none))
        for text, ids in sides if self.binary else (("All systems have the same score on", self.solved_by_all),):
            lines += [f"{text} ({len(ids):,}): {words.first_of(ids, most)}."] if ids else []
        moving = sorted((one for one in self.items if one.moves), key=lambda one: -one.moves)
        said = [f"{one.id} ({one.moves:,})" for one in moving]
        lines += (
            [f"Pairs of systems that change order without an instance: {words.first_of(said, 10)}."] if said else []
        )
        if self.generalizability is None or self.alpha_coefficient is None or self.dependability is None:
            return [*lines, "All systems have the same score, so that reliability has no meaning."]
        kind, alpha = ("KR-20" if self._answers else "Cronbach's alpha"), f"{self.alpha_coefficient:.3f}"
        if self._unit == "cluster":
            lines.append(f"Reliability: generalizability coefficient, with clusters ({kind} without them: {alpha}).")
        else:
            lines.append(f"Reliability: {kind}, which is the generalizability coefficient of systems x instances.")
        lines.append(
            "It is the share of the variance of scores that other instances like these would repeat, for systems like "
            f"these. Dependability (of the scores, not the ranks): {self.dependability:.3f}."
        )
        return lines

    def with_texts(self, texts: Mapping[str, EvaluationRecord]) -> Items:
        """Return the result with the texts of fields, to show beside each instance.

        `texts` maps the name of each field to an evaluation whose strata are the values of this field.
        """
        return replace(self, texts=texts_by_id(texts, [one.id for one in self.items]))

    def _fields(self) -> dict[str, Any]:
        return {name: value for name, value in super()._fields().items() if name != "values"}

    def _rows(self) -> list[dict[str, Any]]:
        texts = ({name: own[i] for name, own in self.texts.items()} for i in range(len(self.items)))
        return [row | own for row, own in zip(super()._rows(), texts, strict=True)]

    @property
    def _width(self) -> float:
        return TWO_COLUMNS

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        yield max(len(self.systems), 4) * row_height(len(self.systems)), self._draw

    def _draw(self, axes: Axes) -> None:
        """Draw scores by system (best on top) and instance (easiest left); a good test set is dark at the top left."""
        from matplotlib.colors import LinearSegmentedColormap

        means = self.values.mean(axis=0)
        order = np.argsort(-means, kind="stable")
        shades = LinearSegmentedColormap.from_list("scores", ["white", BLUE])
        axes.imshow(self.values[:, order], aspect="auto", interpolation="nearest", cmap=shades, vmin=0.0, vmax=1.0)
        label_rows(axes, self.systems, [f"{score:{words.number_spec(self.scores)}}" for score in self.scores])
        broken = {one.id for one in self.mis_keyed}
        places = [place for place, i in enumerate(order.tolist()) if self.items[i].id in broken]
        if places:
            style = {"color": VERMILION, "markersize": 4.0, "clip_on": False, "label": "looks mis-keyed"}
            axes.plot(places, [len(self.systems) - 0.5] * len(places), "^", **style)
        axes.plot(
            [],
            [],
            "s",
            color=BLUE,
            label=("error" if self.lower_is_better else "solved") if self.binary else "highest score",
        )
        about = f"{caption(self)}, {len(self.systems):,} systems, {words.count(self.num_instances, 'instance')}"
        set_words(axes, about, "instances, the highest mean first\nright: score")


@takes(ItemsOptions)
@with_progress
def items(data: Any, options: ItemsOptions) -> Items:
    r"""Analyse the instances of a test set: which look mis-keyed, which separate no systems, what can the set resolve?

    The item-rest correlation of an instance is the correlation between the systems' scores on the instance and their
    total scores on all other instances. Under the null hypothesis, all orders of the instance's scores over the systems
    are equally likely. p is the probability of a correlation as low or lower, ties included; it is adjusted over
    instances.

    The test takes systems as independent: if there are several variants of a model, keep one. If m of n systems solve
    the instance, p is at least $1 / \binom{n}{m}$.

    Args:
        data: what `compare` takes, of one metric that is a mean over instances, and three systems or more.
        options: the fields of `ItemsOptions`, as keyword arguments.

    Raises:
        InputError: the metric is not a mean over instances, there are several metrics, fewer than three systems, fewer
            than three instances, or missing results.

    References: Kuder and Richardson (1937), "The theory of the estimation of test reliability"; Feldt (1965), "The
    approximate sampling distribution of Kuder-Richardson reliability coefficient twenty"; Brennan (2001),
    "Generalizability theory".

    Example:
        >>> answers = {name: [1] * k + [0] * (9 - k) + [k < 5] for k, name in enumerate("ABCDEFGHI", start=1)}
        >>> audit = items(answers, read={"metric": "accuracy"}, correction="none")
        >>> [(one.id, round(one.correlation, 2), round(one.p_adjusted, 3)) for one in audit.mis_keyed]
        [('number 10', -0.87, 0.008)]
    """
    check(options)
    read = reading(options.read)
    texts = shown_fields(data, options.show, read, progress=options.progress)
    found = items_of(by_one_metric(data, read, LABELS, progress=options.progress), options)
    return found.with_texts(texts) if texts else found


def items_of(evaluation: EvaluationRecord, options: ItemsOptions) -> Items:
    """Do the work of `items`, for data that are already read."""
    refuse_unused([evaluation], ("clusters", "runs"), "the audit of the test set")
    evaluation.check_complete()
    settings, metric = Settings(**values(options, Settings)), evaluation.metric
    ids, scores, sizes, unit = _by_instance(evaluation)
    names, number, num_units = evaluation.systems, len(ids), int(unit.max()) + 1
    if len(names) < _FEWEST_SYSTEMS:
        raise InputError(f"items needs {_FEWEST_SYSTEMS} systems or more, got {len(names)}; add systems")
    if number < 3 or num_units < 2:
        raise InputError(f"items needs three instances or more, in two clusters or more, got {number} in {num_units}")
    largest = float(np.abs(scores).max())  # scaled by a power of two, which is exact, so that squares do not overflow
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
    scores = scores / scale
    totals = scores.sum(axis=1)
    correlations = _item_rest_correlations(scores, totals)
    tested = np.flatnonzero(np.isfinite(correlations))
    with progress_bar("items", options.resamples, visible=options.progress) as advance:
        p_values, drawn = mis_keyed_p(scores[:, tested], totals, settings.fixed_resamples, options.seed, advance)
    adjusted = adjust(p_values, options.correction) if tested.size else p_values
    p_of = dict(zip(tested.tolist(), zip(p_values.tolist(), adjusted.tolist(), strict=True), strict=True))
    variance, means = float(totals.var(ddof=1)), scores.mean(axis=0) / sizes * scale
    shares = (scores * (totals - totals.mean())[:, None]).sum(axis=0) / (len(names) - 1)
    moves, alike = _moves(scores, totals), scores.min(axis=0) == scores.max(axis=0)
    shares[alike] = 0.0
    binary = bool(np.isin(evaluation.stats[..., 0], (0.0, 1.0)).all())
    all_right = alike & (not binary or means == float(metric.higher_is_better))
    reliability = _reliability(scores, unit, settings.confidence_level)
    better = 1.0 if metric.higher_is_better else -1.0
    order = np.argsort(-better * totals, kind="stable")
    parts, answers = scores[order] * (better * scale) / sizes.sum(), binary and num_units == int(sizes.sum())
    neighbours, detectable = _neighbours(parts, unit, options, settings.alpha, answers=answers)
    low, high = float((scores / sizes).min()), float((scores / sizes).max())
    return Items(
        metric=metric.name,
        lower_is_better=not metric.higher_is_better,
        systems=tuple(names[k] for k in order.tolist()),
        scores=tuple((totals[order] / sizes.sum() * scale).tolist()),
        items=tuple(
            ItemStatistics(
                id=ids[i],
                score=float(means[i]),
                correlation=float(correlations[i]) if i in p_of else None,
                p_value=p_of[i][0] if i in p_of else None,
                p_adjusted=p_of[i][1] if i in p_of else None,
                share=float(shares[i]) / variance if variance > 0.0 else None,
                moves=int(moves[i]),
            )
            for i in range(number)
        ),
        neighbours=tuple(Neighbours(names[order[k]], names[order[k + 1]], *one) for k, one in enumerate(neighbours)),
        num_units=num_units,
        solved_by_all=tuple(ids[i] for i in np.flatnonzero(all_right).tolist()),
        solved_by_none=tuple(ids[i] for i in np.flatnonzero(alike & ~all_right).tolist()),
        **reliability,
        detectable=detectable[0],
        detectable_of_all=detectable[1],
        target=options.target,
        orders=options.resamples if drawn else None,
        correction=options.correction,
        confidence_level=settings.confidence_level,
        notes=(*evaluation.notes, *_notes(names, scores[:, tested], options, settings, drawn=drawn)),
        signature=study_signature(
            "items", options, metric=metric.name, show=None, n=options.resamples if drawn else None,
            instances=number, systems=len(names), clusters=num_units if num_units < number else None,
        ),
        binary=binary,
        values=(scores[order] / sizes - low) / (high - low or 1.0),
    )  # fmt: skip


def _by_instance(evaluation: EvaluationRecord) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return four things: the ids of the instances, the sums of scores, the numbers of runs, and the units.

    The scores `[system, instance]` are summed over the runs of each instance. The number of runs, and the unit
    (numbered from 0) to which each instance belongs, are `[instance]`.
    """
    metric, stats = evaluation.metric, evaluation.stats
    if getattr(metric, "score", None) is not mean_score or evaluation.weights is not None or (stats[..., 1] != 1).any():
        raise InputError(
            f"items takes a mean over instances, such as accuracy, but {metric.name!r} is another metric; choose one "
            f"({Hint('metric', 'NAME')})"
        )
    of_result = codes(evaluation.ids or ()) if evaluation.runs is not None else np.arange(evaluation.num_instances)
    number = int(of_result.max()) + 1
    scores = np.stack([np.bincount(of_result, row, number) for row in stats[..., 0].astype(float)])
    ids = [*dict.fromkeys(instance_ids(evaluation))] if evaluation.runs is not None else [*instance_ids(evaluation)]
    unit = np.zeros(number, np.int64)
    unit[of_result] = units_of_instances(replace(evaluation, strata=None))[0]
    return ids, scores, np.bincount(of_result).astype(float), unit


def _item_rest_correlations(scores: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the item-rest correlation of each instance, `[instance]`; NaN if it is not defined.

    It is the correlation over systems between `scores` `[system, instance]` on this instance and the sums of the scores
    on all other instances. It is not defined if either of these is the same for all systems. `totals` `[system]` are
    the sums of `scores` over all instances.
    """
    rest = totals[:, None] - scores
    parts = [each - each.mean(axis=0) for each in (scores, rest)]
    flat = [np.ptp(each, axis=0) <= _ROUNDING * np.abs(each).max(axis=0) for each in (scores, rest)]
    with np.errstate(all="ignore"):
        found = (parts[0] * parts[1]).sum(axis=0) / np.sqrt(np.prod([(each**2).sum(axis=0) for each in parts], axis=0))
    return np.where(flat[0] | flat[1], np.nan, np.clip(found, -1.0, 1.0))


def mis_keyed_p(
    scores: np.ndarray, totals: np.ndarray, resamples: int, seed: int, advance: Callable[[int], object] = lambda _: None
) -> tuple[np.ndarray, bool]:
    """Return p-values `[instance]` of the item-rest correlations, and whether orders were drawn for some instances.

    p is the share of orders of an instance's scores (a column of `scores` `[system, instance]`) whose correlation with
    the scores on all other instances is as low or lower. `totals` `[system]` are the sums of `scores`. `advance` is
    called with the number of drawn orders, to show progress. If orders are drawn, p = (exceed + 1) / (orders + 1),
    where exceed is the number of drawn orders with a correlation as low or lower.

    If p is above 0.1 after 2,000 orders, no more orders are drawn for this instance. This keeps p valid (Besag and
    Clifford 1991). A result of at most 0.1 is always the p of all orders. For a level above 0.1, the result is at most
    this level only if the p of the first 2,000 orders is, too. Columns with the same values, in any order, use the same
    drawn orders. So right-or-wrong answers need only one matrix product for all instances on which equally many systems
    are right.

    >>> scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> mis_keyed_p(scores, np.array([5.0, 4.0, 1.0]), 99, 1)[0].round(3)
    array([1.   , 0.333])
    """
    rest = totals[:, None] - scores
    limits = (scores * rest).sum(axis=0) + _ROUNDING * np.abs(scores * rest).sum(axis=0)
    if not scores.size:
        return np.ones(0), False
    kinds, kind_of = np.unique(np.sort(scores, axis=0), axis=1, return_inverse=True)
    listing = lru_cache(None)(lambda *counts: all_assignments(np.array(counts)))
    p_values, to_draw, drawn = np.ones(scores.shape[1]), list[tuple[np.ndarray, np.ndarray]](), False
    for kind in range(kinds.shape[1]):
        members = np.flatnonzero(kind_of.ravel() == kind)
        levels, counts = np.unique(kinds[:, kind], return_counts=True)
        listed = listing(*counts.tolist())
        if listed is None:
            to_draw.append((members, kinds[:, kind]))
        else:
            step, exceed = max(1, _NUMBERS // (len(scores) + len(members))), np.zeros(len(members))
            for start in range(0, len(listed), step):
                part = levels[listed[start : start + step]]
                exceed += (part @ rest[:, members] <= limits[members]).sum(axis=0)
            p_values[members] = exceed / len(listed)
    exceed, drawn_before = np.zeros(scores.shape[1], np.int64), 0
    for total in dict.fromkeys((min(_FIRST_LOOK, resamples), resamples)):
        if not to_draw:
            break
        step = max(1, _NUMBERS // (len(scores) + max(len(members) for members, _ in to_draw)))
        for start in range(drawn_before, total, step):
            rows = np.arange(start, min(start + step, total))
            orders = shuffled(np.arange(len(scores)), STREAMS["labels"].keys(seed, rows))
            for members, own in to_draw:
                exceed[members] += (own[orders] @ rest[:, members] <= limits[members]).sum(axis=0)
            advance(int(rows[-1]) + 1)
        for members, _ in to_draw:
            p_values[members] = (exceed[members] + 1.0) / (total + 1.0)
        going_on = [(members[exceed[members] < _ENOUGH], own) for members, own in to_draw]
        to_draw, drawn_before, drawn = [(members, own) for members, own in going_on if members.size], total, True
    return p_values, drawn


def _moves(scores: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return for each instance the number of pairs of systems whose order (or tie) changes without the instance."""
    widest, slack = float(np.ptp(scores, axis=0).max()), _ROUNDING * float(np.abs(scores).sum(axis=1).max())
    a, b = np.triu_indices(len(totals), 1)
    near = np.abs(totals[a] - totals[b]) <= widest + slack
    a, b, moves = a[near], b[near], np.zeros(scores.shape[1], np.int64)
    sign = partial(_signs, slack=slack)
    for start in range(0, len(a), step := max(1, _NUMBERS // scores.shape[1])):
        first, second = a[start : start + step], b[start : start + step]
        deltas = (totals[first] - totals[second])[:, None]
        moves += (sign(deltas - (scores[first] - scores[second])) != sign(deltas)).sum(axis=0)
    return moves


def _signs(deltas: np.ndarray, slack: float) -> np.ndarray:
    return np.where(np.abs(deltas) <= slack, 0.0, np.sign(deltas))


def _reliability(scores: np.ndarray, unit: np.ndarray, level: float) -> dict[str, Any]:
    """Return the reliability coefficients of `Items`, from scores `[system, instance]` and the units `[instance]`."""
    from sigjax.testing.special import scipy_special

    systems, number = scores.shape
    totals = scores.sum(axis=1)
    variance = float(totals.var(ddof=1))
    if variance <= _ROUNDING * float(np.abs(totals).max()) ** 2:
        return dict.fromkeys(("alpha_coefficient", "generalizability", "interval", "dependability"))
    of_system = scores - totals[:, None] / number
    relative = of_system - of_system.mean(axis=0)
    alone, units = np.arange(number), int(unit.max()) + 1
    errors = [_error(relative, each) * systems / (systems - 1) for each in (alone, unit)]
    alpha, general = (1.0 - error / variance for error in errors)
    degrees = systems - 1, (systems - 1) * (units - 1)
    tails = (1.0 + level) / 2.0, (1.0 - level) / 2.0
    ends = (1.0 - (1.0 - general) * float(scipy_special().fdtri(*degrees, tail)) for tail in tails)
    between = max(variance - errors[1], 0.0)
    absolute = _error(of_system, unit)
    dependability = between / (between + absolute) if between + absolute > 0.0 else 1.0
    return {
        "alpha_coefficient": alpha,
        "generalizability": general,
        "interval": Interval(*ends),
        "dependability": dependability,
    }


def _error(deviations: np.ndarray, unit: np.ndarray) -> float:
    """Return the squared standard error of the sum of a system's `deviations`, as a mean over the systems.

    `deviations` are `[system, instance]`. `unit` `[instance]` is the unit of each instance; units are independent of
    each other.
    """
    units = int(unit.max()) + 1
    sums = np.stack([np.bincount(unit, row, units) for row in deviations])
    return float((sums**2).sum(axis=1).mean()) * units / (units - 1)


def _neighbours(
    parts: np.ndarray, unit: np.ndarray, options: ItemsOptions, alpha: float, *, answers: bool
) -> tuple[list[tuple[Any, ...]], tuple[float | None, float | None]]:
    """Return the fields of `Neighbours` for each pair of neighbours, and two median detectable differences.

    The first median is for tests of one pair alone, the second for p adjusted over all pairs. `parts`
    `[system, instance]` add up to the scores; the best system comes first. `answers`: whether each unit is one answer,
    right or wrong. If so, the number of units needed is for the exact test.
    """
    differences = parts[:-1] - parts[1:]
    deltas = differences.sum(axis=1)
    slack = _ROUNDING * float(np.abs(parts).sum(axis=1).max())
    deltas = np.where(np.abs(deltas) <= slack, 0.0, deltas)
    units, pairs = int(unit.max()) + 1, math.comb(len(parts), 2)
    centred = differences - deltas[:, None] / parts.shape[1]
    errors = np.sqrt([_error(row[None], unit) for row in centred])
    errors = np.where(errors <= slack, 0.0, errors)
    detect = partial(detectable_effect, power=options.target, alternative="two-sided")
    rows, differ = list[tuple[Any, ...]](), (np.abs(differences) * units > 0.5).sum(axis=1)  # numbers of answers
    exact = lru_cache(None)(
        lambda ahead, number: instances_to_detect(
            ahead / units, options.target, number / units, (0.0, number / units), alpha
        )
    )
    for delta, error, number in zip(deltas.tolist(), errors.tolist(), differ.tolist(), strict=True):
        needed = None
        if delta > 0.0:
            variance = np.array([units * error**2])
            needed = int(instances_needed(variance, delta, alpha, options.target, "two-sided")[0])
            needed = exact(round(delta * units), number) if answers and needed <= _MOST_EXACT else needed
        found = detect(error, alpha) if error > 0.0 else None
        rows.append((delta, error, found, needed, units / needed if needed else 0.0))
    if not errors.any():
        return rows, (None, None)
    middle = float(np.median(errors[errors > 0.0]))
    return rows, (detect(middle, alpha), detect(middle, alpha / pairs))


def _notes(
    names: Sequence[str], scores: np.ndarray, options: ItemsOptions, settings: Settings, *, drawn: bool
) -> Iterator[str]:
    """Yield notes: systems must be independent, and p may have a lower bound that makes significance impossible.

    `scores` are `[system, instance]`, of the instances with a p-value. `drawn`: whether orders were drawn.
    """
    systems, tested = scores.shape
    if not tested:
        return
    same: dict[bytes, list[str]] = {}
    for name, own in zip(names, scores, strict=True):
        same.setdefault((own + 0.0).tobytes(), []).append(name)
    copies = [" = ".join(group) for group in same.values() if len(group) > 1]
    if copies:
        yield (
            f"identical on every instance: {words.first_of(copies, 4)}. Each counts as a system of its own, so p is "
            "too small: keep one of them (--only)"
        )
    yield "p takes systems for independent: of several variants of one model, keep one (--only)"
    least = 1.0 / _most_orders(scores)
    if tested * least > settings.alpha:
        text = f"with {systems:,} systems p is {least:.2g} or more: one instance of {tested:,} is never significant"
        if np.isin(scores, (0.0, 1.0)).all():
            enough = next(n for n in range(3, 10_000) if tested <= settings.alpha * math.comb(n, n // 2))
            text += f" (it takes {enough:,} systems)"
        yield f"{text}; go by the order of the list"
    elif drawn and tested > settings.alpha * (options.resamples + 1):
        yield (
            f"p is {1.0 / (options.resamples + 1):.2g} or more: one instance of {tested:,} is never significant; "
            f"give --resamples {math.ceil(tested / settings.alpha)} or more"
        )


def _most_orders(scores: np.ndarray) -> float:
    """Return the largest number of distinct orders that the `scores` `[system, instance]` of one instance have."""
    most = 0.0
    for column in scores.T:
        counts = np.unique(column, return_counts=True)[1]
        log_number = math.lgamma(len(column) + 1.0) - sum(math.lgamma(count + 1.0) for count in counts.tolist())
        most = max(most, math.exp(min(log_number, 700.0)))
    return round(most) if most < 2**52 else most
