"""How much of an evaluation would `monitor` have saved? Finished results are replayed in random orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sigjax.report.words as words
import sigjax.resample.draws as draws
from sigjax.comparison.compare import compare
from sigjax.metrics.ratios import ACCURACY
from sigjax.records import Interval, Settings
from sigjax.records.options import check, option, same, takes
from sigjax.report.document import Block, Document
from sigjax.report.panels import BLUE, GREY, set_words
from sigjax.report.report import Result
from sigjax.report.sections import Table
from sigjax.run.context import progress_bar
from sigjax.studies.best import CAUTION, Goal
from sigjax.studies.formulas import PROPORTION_LEVEL, proportion_interval
from sigjax.studies.monitored_pairs import OF_INVERSE, MonitorCorrection
from sigjax.studies.sequential import Monitor, MonitorOptions
from sigjax.studies.study import PANEL, in_units, plot_panels, study_signature
from sigjax.studies.trials import mean_scores, signed_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 50
RATES: dict[Goal, str] = {"pairs": "", "best": "probability that a best system is dropped (see help best)"}


@dataclass(frozen=True, kw_only=True)
class StoppingOptions:
    """The options of `stopping`."""

    read: Mapping[str, Any] | None = same(MonitorOptions, "read")
    confidence_level: float = same(MonitorOptions, "confidence_level")
    correction: MonitorCorrection = same(MonitorOptions, "correction")
    goal: Goal = same(MonitorOptions, "goal")
    keep: int = same(MonitorOptions, "keep")
    baseline: str | None = same(Settings, "baseline")
    orders: int = option(100, "Random orders.", least=1, most=100_000, group="Main options")
    cost: float | None = option(
        None, "Cost of one system on one instance, in any currency.", above=0, group="Main options"
    )
    seed: int = same(Settings, "seed")
    progress: bool = same(MonitorOptions, "progress")


@dataclass(frozen=True, repr=False)
class Stopping(Result):
    """Result of `stopping`: what a monitor would have saved and found, averaged over random orders.

    Attributes:
        num_units: number of units: clusters if there are some, else instances.
        needed: mean share of all results that the monitor needs. A result is one system on one instance.
        at_settling: mean share of the units after which a pair is settled; for goal="best", after which a system is
            dropped. None if this never happens.
        found: number of pairs with a significant permutation test on all instances. For goal="best", number of systems
            with the `keep` best scores on all instances, ties included.
        kept: mean share of the `found` pairs that the monitor settles; for goal="best", of the `found` systems that the
            monitor does not drop. None if `found` is 0.
        at_end: mean share of the `found` pairs that count as differences when the monitor stops, including findings of
            closed e-BH; None if `found` is 0, and for goal="best".
        left: mean number of systems that are left at the end, for goal="best"; else None.
        false_stops: number of orders with a false decision, if the outputs of all systems are swapped at random. A
            false decision means that any pair is settled or counts as a difference at the end. Without correction, it
            means that the first pair is settled; for goal="best", that the first system is dropped.
        false_interval: Clopper-Pearson interval (95%) of false_stops / orders; the nominal rate is at most alpha.
        cost: cost of all results; None if no cost is given.
        saved: mean cost that is saved.
        curve: mean share of the `found` pairs that are settled after 1/50, 2/50, ... of the units; for goal="best",
            mean share of all systems that are dropped.
    """

    systems: tuple[str, ...]
    metric: str
    num_instances: int
    num_units: int
    orders: int
    needed: float
    at_settling: float | None
    found: int
    kept: float | None
    at_end: float | None
    left: float | None
    false_stops: int
    false_interval: Interval
    cost: float | None
    saved: float | None
    curve: tuple[float, ...]
    alpha: float
    correction: MonitorCorrection
    goal: Goal
    keep: int
    signature: str

    def document(self) -> Document:
        """Return a document with the mean share of all results that the monitor needs, and with its findings."""
        rows, event = [("results needed", f"{self.needed:.0%}")], "the first system is dropped"
        caution: list[Block] = [] if self.found else ["The full test finds no difference."]
        if self.left is None:
            event = f"{'the first' if self.correction == 'none' else 'any'} pair is settled"
            rows += [(f"differences found, of {self.found:,}", f"{self.kept:.0%}")] if self.kept is not None else []
            more = (self.at_end or 0.0) > (self.kept or 0.0)
            rows += [("the same, with closed e-BH at the end", f"{self.at_end:.0%}")] if more else []
        else:
            best = "the best system" if self.found == 1 else f"the best {self.found} systems"
            rows += [(f"orders that keep {best}", f"{self.kept:.0%}"), ("systems left", f"{self.left:.3g}")]
            if (self.kept or 0.0) < 1.0 - 2.0 * self.alpha:
                caution = [f"warning: it keeps {best} in {self.kept:.0%} of the orders. {CAUTION}"]
        if self.at_settling is not None:
            rows.append((f"instances until {'settled' if self.left is None else 'dropped'}", f"{self.at_settling:.0%}"))
        if self.saved is not None:
            rows.append((f"cost saved, of {self.cost:,.2f}", f"{self.saved:,.2f}"))
        rows.append(("false stops", f"{self.false_stops / self.orders:.1%}"))
        size = f"{words.metric_title(self.metric)} on {in_units(self)}, {words.count(len(self.systems), 'system')}"
        nominal = f"{RATES[self.goal] or OF_INVERSE[self.correction][1]} at most {self.alpha:.3g}"
        low, high = self.false_interval
        lines: list[Block] = [
            f"{size}; means over {words.count(self.orders, 'random order')}",
            f"Nominal: {nominal}",
            *caution,
            Table.of(dict(zip(("what", "mean"), zip(*rows, strict=True), strict=True)), names=(0,)),
            f"False stops: the outputs of all systems are swapped at random, and still {event}. "
            f"95% interval from {low:.1%} to {high:.1%}; nominal: at most {self.alpha:.3g}.",
            "",
            self.signature,
        ]
        return Document("Stopping", size, f"The monitor needs {self.needed:.0%} of the results.", lines)

    plot = plot_panels

    def _panels(self) -> Iterator[tuple[float, Callable[[Axes], None]]]:
        yield PANEL, self._draw

    def _draw(self, axes: Axes) -> None:
        at, label = np.arange(_STEPS + 1) / _STEPS, "dropped" if self.goal == "best" else "differences settled"
        axes.step(at, [0.0, *self.curve], where="post", color=BLUE, linewidth=1.2, label=label)
        axes.axvline(self.needed, color=GREY, linewidth=0.8, linestyle="--", label="share of results needed")
        axes.set_ylim(0.0, 1.02)
        what = "differences of the full test that the monitor has settled"
        what, of = (
            (what, "differences") if self.goal == "pairs" else ("systems that the monitor has dropped", "systems")
        )
        set_words(axes, f"{words.metric_title(self.metric)}: {what}", "share of the instances", f"share of {of}")


@takes(StoppingOptions)
def stopping(data: Any, options: StoppingOptions) -> Stopping:
    """Replay an evaluation in random orders: what would `monitor` have found, and how many results would it need?

    Each order is replayed twice. In the first replay, no more results of a system are collected once all its pairs are
    settled, that is, decided by the monitor. In the second replay, the outputs of all systems are swapped at random on
    each unit. Then all systems are equally good, so each decision is false.

    Args:
        data: what `compare` takes, with a metric that is a mean over instances.
        options: the fields of `StoppingOptions`, as keyword arguments.

    Raises:
        InputError: the metric is not a mean over instances, or there are several metrics.

    Example:
        >>> answers = {"A": [1] * 90 + [0] * 10, "B": [1] * 10 + [0] * 90, "C": [1] * 12 + [0] * 88}
        >>> study = stopping(answers, read={"metric": "accuracy"}, orders=20, progress=False)
        >>> study.found, study.kept, study.at_settling < 0.2
        (2, 1.0, True)
    """
    check(options)
    evaluation, values, labels = mean_scores(data, options, "stopping", missing="error")
    evaluation.check_complete()
    codes = np.arange(values.shape[1]) if labels is None else np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(codes)
    units, number = np.stack([np.bincount(codes, scores) for scores in values]), len(sizes)
    rates = {"baseline": options.baseline, "confidence_level": options.confidence_level, "seed": options.seed}
    alpha = Settings(confidence_level=options.confidence_level).alpha
    made = {"alpha": alpha, "correction": options.correction, "baseline": options.baseline, "largest": number}
    made |= {"binary": evaluation.metric.name == ACCURACY.name and labels is None}
    made |= {"goal": options.goal, "keep": options.keep, "higher_is_better": evaluation.metric.higher_is_better}
    new: Callable[[], Monitor] = partial(Monitor, evaluation.systems, **made)
    best = options.goal == "best"
    if best:
        totals = units.sum(axis=1) * (1.0 if evaluation.metric.higher_is_better else -1.0)
        least = np.sort(totals)[-options.keep]
        names: list[tuple[str, ...]] = [(name,) for name in evaluation.systems]
        wanted = totals >= least - 1e-9 * np.abs(totals).max()
    else:
        correction = OF_INVERSE[options.correction][0]
        full = compare(evaluation, correction=correction, interval="none", progress=False, **rates)
        finds = {frozenset((each.a, each.b)) for each in full if words.is_significant(each)}
        names = [(each.a, each.b) for each in new().pairs]
        wanted = np.array([frozenset(pair) in finds for pair in names])
    times, used, false_stops, at_end = np.empty((options.orders, len(names))), 0, 0, 0
    with progress_bar("orders", options.orders, visible=options.progress) as advance:
        for r in range(options.orders):
            keys = draws.STREAMS["orders"].keys(options.seed, 2 * r + np.arange(2))
            order = np.argsort(draws.words(keys[:1], number + number % 2)[0, :number])
            replay = new()
            replay.update(units[:, order])
            if best:
                gone = {each.system: each.dropped_at or np.inf for each in replay.standings}
                times[r] = [gone[name] for name in evaluation.systems]
                last = max((time for time in times[r] if time < np.inf), default=np.inf)
                if (times[r] == np.inf).sum() <= options.keep:  # then no system needs more results
                    until = np.minimum(times[r], last)
                else:
                    until = times[r]
            else:  # a system runs until its last pair is settled
                pairs = replay.pairs
                times[r] = [each.settled_at or np.inf for each in pairs]
                at_end += int((wanted & [each.finding for each in pairs]).sum())
                of_pairs = [*zip(times[r], names, strict=True)]
                until = [max(time for time, pair in of_pairs if name in pair) for name in evaluation.systems]
            used += sum(int(sizes[order[: int(min(each, number))]].sum()) for each in until)
            chance = draws.words(keys[1:], units.size + units.size % 2)[0, : units.size].reshape(units.shape)
            swapped = np.take_along_axis(units, np.argsort(chance, axis=0), axis=0)
            stops = (null := new()).update(swapped[:, order])
            if best:
                first = evaluation.systems[0]
                false_stops += any(each.dropped_at for each in null.standings if each.system == first)
            else:
                false_stops += (
                    names[0] in stops if options.correction == "none" else any(each.finding for each in null.pairs)
                )
            advance(r + 1)
    settled, found = np.isfinite(times), int(wanted.sum())
    needed, drawn = used / (options.orders * values.size), times if best else times[:, wanted]
    steps = np.arange(1, _STEPS + 1) / _STEPS * number
    cost, runs = None if options.cost is None else options.cost * values.size, signed_data(evaluation)["runs"]
    return Stopping(
        systems=evaluation.systems,
        metric=evaluation.metric.name,
        num_instances=evaluation.size.instances,
        num_units=number,
        orders=options.orders,
        needed=needed,
        at_settling=float(times[settled].mean() / number) if settled.any() else None,
        found=found,
        kept=float((settled != best)[:, wanted].mean()) if found else None,
        at_end=at_end / (options.orders * found) if found and not best else None,
        left=float((~settled).sum(axis=1).mean()) if best else None,
        false_stops=false_stops,
        false_interval=proportion_interval(false_stops, options.orders, PROPORTION_LEVEL),
        cost=cost,
        saved=None if cost is None else (1.0 - needed) * cost,
        curve=tuple(float((drawn <= step).mean()) if drawn.size else 0.0 for step in steps),
        alpha=alpha,
        correction=options.correction,
        goal=options.goal,
        keep=options.keep,
        signature=study_signature(
            "stopping",
            options,
            metric=evaluation.metric.name,
            correction=None if best else options.correction,  # the goal "best" needs no correction
            units=number,
            runs=runs,
        ),
    )
