"""`diff`: what changed between two reports or evaluations, and are the new systems worse by a margin?

`verify`: was this report made from these data? It repeats the comparison, and checks that the numbers are the same.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from sigjax.comparison.compare import compare
from sigjax.metrics import meant_among
from sigjax.readers.options import ReadOptions, listing, reading
from sigjax.records import (
    Comparison,
    EvaluationRecord,
    Hint,
    InputError,
    Interval,
    Metric,
    Settings,
    SystemScore,
)
from sigjax.records.metric import data_hash
from sigjax.records.options import check, option, same, takes, values
from sigjax.report.data import PAIR_KEYS, SYSTEM_KEYS, report_fields
from sigjax.report.document import Block, Document
from sigjax.report.report import Report, Result
from sigjax.report.sections import Table
from sigjax.report.words import DASH, count, first_of, format_interval, format_p, metric_title, number_spec, percent
from sigjax.run.backend import host_scope
from sigjax.run.context import with_progress
from sigjax.run.shards import difference
from sigjax.studies.study import StudyOptions
from sigjax.studies.subsets import Flips, FlipsOptions, flips_of, instance_names
from sigjax.studies.tost import equivalence
from sigjax.studies.trials import ALL, study_data
from sigjax.testing.intervals import wilson_interval
from sigjax.testing.special import t_quantile
from sigjax.testing.tests import problem_of

Verdict = Literal["no worse", "worse", "cannot tell"]


@dataclass(frozen=True)
class Change:
    """The score of one system by one metric, before and after.

    Attributes:
        name: name of the system.
        old: the old score.
        new: the new score.
        change: new - old.
        limits: confidence limits of the change, see `diff`. [0, 0] if all results are the same; None without a margin,
            or if no limits can be computed.
        verdict: "no worse" if the limits exclude a loss of the margin or more. "worse" if the limits exclude every loss
            smaller than the margin. Else "cannot tell"; if the limits then exclude every gain, the text says "worse, by
            MARGIN or less?". None without a margin.
        unchanged: whether the results on all instances are known to be the same, not only the score.
    """

    name: str
    metric: str
    old: float
    new: float
    change: float
    limits: Interval | None
    verdict: Verdict | None
    unchanged: bool


@dataclass(frozen=True)
class ChangedDecision:
    """A pair of systems on which the reports decide differently.

    Attributes:
        old: the system that was significantly better; None if neither was.
        new: the system that is significantly better now; None if neither is.
        old_delta: score of a - score of b in the old report.
        new_delta: score of a - score of b in the new report.
        old_p: the adjusted p-value in the old report.
        new_p: the adjusted p-value in the new report.
    """

    a: str
    b: str
    metric: str
    test: str
    old: str | None
    new: str | None
    old_delta: float
    new_delta: float
    old_p: float
    new_p: float


@dataclass(frozen=True, repr=False)
class Diff(Result):
    """What changed between two reports, or two evaluations.

    Attributes:
        verdict: "worse" if any change is worse. "no worse" if all changes are no worse and no score was removed. Else
            "cannot tell". None without a margin.
        margin: the largest loss that does not matter; None if none was given.
        confidence_level: confidence level of the limits.
        paired: whether the limits come from the paired test.
        unpaired_reason: why the paired test was not possible; None if it was.
        same_data: whether all results of all systems are the same.
        changes: one entry for each system and metric on both sides, in the old order.
        flips: for each of the systems that changed most: the instances that changed, and the p-value without the most
            influential instances (from 10,000 resamples if it is sampled). Only if both sides contain the scores of
            instances; see `studies.flips`.
        decisions: the pairs and tests that are decided differently, at the level of each report.
        num_decisions: number of pairs and tests that both sides have; 0 for evaluations.
        added: (system, metric) of scores that only the new side has.
        removed: (system, metric) of scores that only the old side has.
        top_groups: dict from each metric whose top group (`SystemScore.in_top_group`) changed to its (old, new) group.
        settings: dict from each setting that changed to its (old, new) value; also the numbers of instances and units.
        versions: dict from each package whose version changed to its (old, new) version.
        lower_is_better: the metrics whose lower scores are better.
    """

    rows = "changes"

    verdict: Verdict | None
    margin: float | None
    confidence_level: float
    paired: bool
    unpaired_reason: str | None
    same_data: bool
    changes: tuple[Change, ...]
    flips: tuple[Flips, ...]
    decisions: tuple[ChangedDecision, ...]
    num_decisions: int
    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    top_groups: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    settings: Mapping[str, tuple[Any, Any]]
    versions: Mapping[str, tuple[Any, Any]]
    lower_is_better: tuple[str, ...]

    @property
    def headline(self) -> str:
        """One line with the verdict on all scores; without a margin, with the numbers of changes."""
        changes = self.changes
        if self.same_data and (self.margin is not None or not self.decisions):  # same data: no score was removed
            what = "Only settings" if self.settings else "Nothing"
            return f"{f'{what} changed' if self.margin is None else 'No worse'}: all results are the same."
        if self.margin is None:
            scores = f"{sum(one.change != 0.0 for one in changes):,} of {count(len(changes), 'score')} changed"
            decisions = f"; {len(self.decisions):,} of {count(self.num_decisions, 'decision')}"
            return f"{scores}{decisions if self.num_decisions else ''}."
        margin, sure = f"{self.margin:g}", f"({percent(self.confidence_level)} confidence)"
        several, named = len({one.metric for one in changes}) > 1, {verdict: [] for verdict in _ALERTS}
        for one in changes:
            named[one.verdict].append(one.name + f" ({metric_title(one.metric)})" * several)
        if worse := named["worse"]:
            return f"Worse: {first_of(worse, _MOST_NAMED)} by more than {margin} {sure}."
        if unsure := named["cannot tell"]:
            rest = len(changes) - len(unsure)
            others = f"; the other {'one is' if rest == 1 else f'{rest:,} are'} not" * (rest > 0)
            text = f"Cannot tell whether worse by {margin}: {first_of(unsure, _MOST_NAMED)}{others} {sure}."
            are_worse = [_is_surely_worse(one, lower=one.metric in self.lower_is_better) for one in changes]
            loses = [f"{one.name}{f' ({metric_title(one.metric)})' * several}" for one in compress(changes, are_worse)]
            return f"{text} Worse by some amount: {first_of(loses, _MOST_NAMED)}." if loses else text
        if self.removed:
            gone = first_of([name for name, _ in self.removed], _MOST_NAMED)
            return f"Cannot tell: {gone} has no new score; all others are no worse."
        all_of = "the score is not" if len(changes) == 1 else f"none of {len(changes):,} scores is"
        return f"No worse: {all_of} worse by {margin} {sure}."

    def document(self) -> Document:
        """The document has the headline, the tables of changed scores, and the details."""
        alert = _ALERTS[self.verdict]
        return Document("Diff", "old and new", self.headline, _scores(self), _details(self), alert, holds_texts=True)

    def brief(self) -> dict[str, Any]:
        """Return the verdict and the numbers of changes, for short displays."""
        counts = {"changes": len(self.changes), "decisions": len(self.decisions)}
        return {"verdict": self.verdict, "margin": self.margin, "same_data": self.same_data} | counts


SystemMetric = tuple[str, str]
"""The key of a score: the names of its system and its metric."""
LimitsAt = Callable[[float], Interval | None]
"""A function that returns the confidence limits of new - old, or None if no limits can be computed. Its argument is the
error probability of each limit."""
_BOUNDS = (-1.0, 0.0, 1.0, 100.0)
"""The smallest and the largest possible scores of common metrics. An interval that ends there may have been cut off."""
Compared = dict[SystemMetric, tuple[float, float, float, LimitsAt | None, EvaluationRecord | None]]
"""Dict from (system, metric) to five values: the old score, the new score, new - old, the function that returns the
limits of new - old, and an evaluation whose two systems "new" and "old" are the new and the old results.

The function is None if the results are known to be the same. The evaluation is None unless both sides contain scores of
instances."""


def _of_reports(old: Report, new: Report) -> tuple[Compared, bool]:
    """Compare reports. The confidence limits of a change are computed as if old and new results were independent.

    Return two things: the old and new scores (see `Compared`), and whether all results are the same.
    """
    before, after = ({(one.name, one.metric): one for one in report.systems} for report in (old, new))
    same = old.data == new.data and all(before[key].score == after[key].score for key in before.keys() & after.keys())
    compared = {}
    for key, a in before.items():
        if (b := after.get(key)) is not None:
            _check_direction(key[1], *(key[1] in report.lower_is_better for report in (old, new)))
            limits = None if same else partial(_unpaired, (a, old), (b, new))
            compared[key] = a.score, b.score, b.score - a.score, limits, None
    return compared, same


def _check_paired(old: Report, new: Report) -> None:
    for side, report in (("old", old), ("new", new)):
        if not report.evaluations:
            advice = f"write it anew with {Hint('keep_scores', 'always')}"
            raise InputError(f"the {side} report holds no scores of instances; {advice}")
        if report.settings.design != "together":
            raise InputError(f"the paired test knows no design {report.settings.design}")
        if report.evaluations[0].unit == "response":
            raise InputError("responses are no sample of instances")


def _check_direction(metric: str, *lower_is_better: bool) -> None:
    if len(set(lower_is_better)) > 1:
        raise InputError(f"lower scores by {metric} are better on one side only; compare both in the same way")


def _unpaired(old: tuple[SystemScore, Report], new: tuple[SystemScore, Report], tail: float) -> Interval | None:
    """Return limits of new - old as if the two results were independent, from the widths of both intervals.

    `tail` is the error probability of each limit. `diff` has the formula.
    """
    before, after = old[0].interval, new[0].interval
    if before is None or after is None:
        return None
    (old_below, old_above), (new_below, new_above) = _arms(*old, before, tail), _arms(*new, after, tail)
    change = new[0].score - old[0].score
    limits = Interval(change - math.hypot(new_below, old_above), change + math.hypot(new_above, old_below))
    if not all(map(math.isfinite, limits)):
        raise InputError(f"the scores of {new[0].name!r} by {new[0].metric!r} are too large for limits; rescale them")
    return limits


def _arms(system: SystemScore, report: Report, interval: Interval, tail: float) -> tuple[float, float]:
    """Return the distances from a score to its lower and its upper limit; each limit errs with probability `tail`.

    Wilson intervals are computed anew. Other intervals are rescaled from the report's level to `tail`, with the
    quantiles of Student's t or of the normal distribution, whichever gives wider limits. An interval that ends at a
    bound of the metric (such as 0 or 1) does not shrink, because the bound may have cut it off.
    """
    units = next((each.units for each in report.measured if each.metric == system.metric), report.num_units)
    if system.interval_kind == "wilson":
        low, high = wilson_interval(np.array(round(system.score * units)), units, 1.0 - 2.0 * tail)
        return system.score - float(low), float(high) - system.score
    normal, degrees, level = NormalDist(), max(units - 1, 1), report.settings.confidence_level
    by_normal = normal.inv_cdf(1.0 - tail) / normal.inv_cdf((1.0 + level) / 2.0)
    wider = max(by_normal, t_quantile(1.0 - 2.0 * tail, degrees) / t_quantile(level, degrees))
    below, above = (max(wider, 1.0) if end in _BOUNDS else wider for end in interval)
    return below * max(system.score - interval.low, 0.0), above * max(interval.high - system.score, 0.0)


def _of_evaluations(old: Sequence[EvaluationRecord], new: Sequence[EvaluationRecord]) -> tuple[Compared, bool]:
    """Compare evaluations of the same instances. The confidence limits of a change come from the paired test.

    Return two things: the old and new scores (see `Compared`), and whether all results are the same.
    """
    compared, same, by_metric = {}, True, {side.metric.name: side for side in new}
    for before in (each for each in old if each.metric.name in by_metric):
        metric = before.metric.name
        after = _aligned(before, by_metric[metric])
        for name in (name for name in before.systems if name in after.systems):
            stats = np.stack([side.stats[side.systems.index(name)] for side in (after, before)])
            pair = replace(before, systems=("new", "old"), stats=stats, notes=())
            with host_scope():
                problem = problem_of(pair, Settings(test="bootstrap", method="montecarlo"))
                new_score, old_score = problem.observed_scores
            limits = None if (stats[0] == stats[1]).all() else partial(_paired, pair)
            change, rounding = problem.hypotheses.delta((0, 1)), float(problem.hypotheses.rounding[0])
            compared[name, metric] = old_score, new_score, change * (abs(change) > rounding), limits, pair
            same = same and limits is None
    return compared, same


def _aligned(old: EvaluationRecord, new: EvaluationRecord) -> EvaluationRecord:
    """Return the new evaluation with its instances in the order of the old evaluation."""
    _check_direction(old.metric.name, not old.metric.higher_is_better, not new.metric.higher_is_better)
    if old.metric.stat_names != new.metric.stat_names:
        raise InputError(f"metric {old.metric.name!r} has other statistics on both sides; extract them anew")
    keys = [instance_names(each) for each in (old, new)]
    index = {key: position for position, key in enumerate(keys[1])}
    for side, other, only in ((keys[0], index.keys(), "old"), (keys[1], set(keys[0]), "new")):
        if lacking := [key for key in side if key not in other]:
            what = "instances" if old.runs is None else "runs of instances"
            where = f"{len(lacking):,} of {len(side):,} {what} are only on the {only} side"
            first = f"the first is {lacking[0]!r}"
            raise InputError(f"{where} ({first}); the paired test needs the same instances on both")
    order = [index[key] for key in keys[0]]
    for what in ("clusters", "strata"):
        before, after = getattr(old, what), getattr(new, what)
        if before != (after and tuple(after[position] for position in order)):
            raise InputError(f"the {what} of the instances differ; give both sides the same")
    return replace(new, stats=new.stats[:, order])


def _paired(pair: EvaluationRecord, tail: float) -> Interval | None:
    """Return confidence limits of new - old from `equivalence_test`; each limit has the error probability `tail`.

    Return None if there are too few units, or if all units differ by the same number.
    """
    try:
        (one,) = equivalence(pair, margin=1.0, confidence_level=1.0 - tail)
    except InputError:
        return None
    return None if one.method == "conservative-t" and one.standard_error == 0.0 else one.interval


@dataclass(frozen=True, kw_only=True)
class DiffOptions:
    """The options of `diff`."""

    margin: float | None = option(
        None,
        "The largest loss that you accept; fix it before you look. Without it, no test.",
        above=0,
        group="Main options",
    )
    confidence_level: float = same(
        Settings, "confidence_level", doc="Confidence level of the limits of changes.", above=0.5, group="Main options"
    )
    metric: Sequence[str] = option((), "Compare only the scores by these metrics.", group="Main options")
    only: Sequence[str] | None = same(ReadOptions, "only", more="")
    flips: int = option(
        3, "For this many systems that changed most, show the instances that changed.", most=2**31, group="Main options"
    )


@takes(DiffOptions)
def diff(old: Any, new: Any, options: DiffOptions) -> Diff:
    r"""What changed between two reports, and with a margin: are the new systems worse by the margin or more?

    Systems are matched by name. A change is new - old. It is "no worse" if its limit on the side of a loss lies within
    the margin, and "worse" if its other limit lies beyond the margin; else sigjax "cannot tell".

    The limit on the side of a loss has the confidence level for each change alone; the other limits are simultaneous
    for all changes (Bonferroni). This controls both errors, each with a probability of at most 1 - level: that all
    changes are called no worse although one system is worse by the margin or more; and that any change is called worse
    although no system is worse by the margin. If a score is missing on the new side, the verdict is "cannot tell" at
    best.

    If both sides hold results of the same instances, the limits come from the paired `equivalence_test`. Instances are
    the same if they have the same ids (or no ids, and the same number and order), clusters and strata. Else the limits
    are for independent results, which are wider: with d = new - old, and with the distances l and u from each score to
    the lower and the upper end of its interval, they are $d - \sqrt{l_{new}^2 + u_{old}^2}$ and $d + \sqrt{u_{new}^2 +
    l_{old}^2}$. If all results are the same, nothing is worse.

    Args:
        old: a `Report`, or the path of its JSON; or an `Evaluation`, a list of one per metric, or the path of an .npz
            file.
        new: the new results, in one of the same forms.
        options: the fields of `DiffOptions`, as keyword arguments.

    Raises:
        InputError: a report is given with an evaluation, no system and metric is on both sides, or the instances of two
            evaluations differ.

    Reference: Zou and Donner (2008), "Construction of confidence limits about effect measures: a general approach"; for
    right-or-wrong answers, Newcombe (1998), "Interval estimation for the difference between independent proportions".

    Example:
        >>> from sigjax import Evaluation
        >>> old = Evaluation.from_arrays({"A": [5, 4, 6, 5, 4, 5, 6, 5], "B": [5, 5, 5, 5, 5, 4, 6, 5]})
        >>> new = Evaluation.from_arrays({"A": [5, 4, 6, 5, 4, 5, 6, 4], "B": [5, 5, 5, 5, 5, 4, 6, 5]})
        >>> [(one.name, one.change, one.verdict) for one in diff(old, new, margin=1.0).changes]
        [('A', -0.125, 'no worse'), ('B', 0.0, 'no worse')]
    """
    check(options)
    before, after, unpaired_reason = _side(old, "old"), _side(new, "new"), None
    options = replace(options, metric=[meant_among(name, _metrics_of(before)) for name in options.metric or ()])
    of_reports: dict[str, Any] = {"decisions": (), "num_decisions": 0, "top_groups": {}, "settings": {}, "versions": {}}
    if isinstance(before, Report) and isinstance(after, Report):
        keys = [[(one.name, one.metric) for one in report.systems] for report in (before, after)]
        lower = dict.fromkeys([*before.lower_is_better, *after.lower_is_better])
        (compared, same), of_reports = _of_reports(before, after), _report_fields(before, after, options)
        if not same:
            try:
                _check_paired(before, after)
                compared, same = _of_evaluations(before.evaluations, after.evaluations)
            except InputError as error:
                unpaired_reason = error.flags
    elif isinstance(before, list) and isinstance(after, list):
        keys = [[(name, each.metric.name) for each in side for name in each.systems] for side in (before, after)]
        lower = [each.metric.name for each in before if not each.metric.higher_is_better]
        compared, same = _of_evaluations(before, after)
    else:
        raise InputError("old is a report and new is not, or the other way round; give two reports, or two evaluations")
    compared = _chosen(compared, options)
    old_keys, new_keys = ([key for key in side if _is_chosen(key, options)] for side in keys)
    changes = _changes(compared, lower, options)
    removed = tuple(key for key in old_keys if key not in new_keys)
    verdicts = {None if options.margin is None else "cannot tell"} if removed else set[str | None]()
    verdicts |= {one.verdict for one in changes}
    return Diff(
        verdict=next(verdict for verdict in _ALERTS if verdict in verdicts),
        margin=options.margin,
        confidence_level=options.confidence_level,
        paired=unpaired_reason is None,
        unpaired_reason=unpaired_reason,
        same_data=same and set(keys[0]) == set(keys[1]),
        changes=changes,
        flips=_flips(compared, options),
        added=tuple(key for key in new_keys if key not in old_keys),
        removed=removed,
        lower_is_better=tuple(lower),
        **of_reports,
    )


def _side(given: Any, name: str) -> Report | list[EvaluationRecord]:
    if isinstance(given, str | os.PathLike):
        return (
            study_data(given, None, ALL, metrics=()) if os.fspath(given).endswith(".npz") else Report.from_json(given)
        )
    if isinstance(given, Report):
        return given
    evaluations = given if isinstance(given, list | tuple) else [given]
    if not evaluations or not all(isinstance(each, EvaluationRecord) for each in evaluations):
        raise InputError(f"{name} must be a Report, an Evaluation, or the path of one (.json, .npz), got {given!r:.40}")
    return list(evaluations)


def _metrics_of(side: Report | list[EvaluationRecord]) -> set[str]:
    return {one.metric for one in side.systems} if isinstance(side, Report) else {one.metric.name for one in side}


def _chosen(compared: Compared, options: DiffOptions) -> Compared:
    for index, (what, names) in enumerate((("system", options.only), ("metric", options.metric))):
        known = list(dict.fromkeys(key[index] for key in compared))
        for name in names or ():
            if name not in known:
                raise InputError(f"no {what} {name!r} on both sides; those on both are {listing(known)}")
    if not (chosen := {key: scores for key, scores in compared.items() if _is_chosen(key, options)}):
        raise InputError("no system with a score by the same metric is on both sides; systems are known by their names")
    return chosen


def _is_chosen(key: SystemMetric, options: DiffOptions) -> bool:
    return key[0] in (options.only or key) and key[1] in (options.metric or key)


def _changes(compared: Compared, lower_is_better: Collection[str], options: DiffOptions) -> tuple[Change, ...]:
    alpha, many, margin, changes = 1.0 - options.confidence_level, len(compared), options.margin, []
    for (name, metric), (old, new, change, limits_at, _) in compared.items():
        limits, verdict, lower = None, None, metric in lower_is_better
        if margin is not None:
            verdict: Verdict | None = "cannot tell"
            each, together = (limits_at(tail) if limits_at else Interval(0.0, 0.0) for tail in (alpha, alpha / many))
            if each is not None and together is not None:
                limits = Interval(together.low, each.high) if lower else Interval(each.low, together.high)
                least, most = (-limits.high, -limits.low) if lower else limits
                verdict = "no worse" if least > -margin else "worse" if most < -margin else "cannot tell"
        changes.append(Change(name, metric, old, new, change, limits, verdict, limits_at is None))
    return tuple(changes)


def _flips(compared: Compared, options: DiffOptions) -> tuple[Flips, ...]:
    changed = sorted(compared.items(), key=lambda item: -abs(item[1][2]))
    pairs = [
        replace(pair, systems=(f"{name} (new)", f"{name} (old)"))
        for (name, _), (*_, limits_at, pair) in changed
        if pair is not None and limits_at is not None and isinstance(pair.metric, Metric) and pair.weights is None
    ]
    how = FlipsOptions(resamples=_FLIP_RESAMPLES, confidence_level=options.confidence_level)
    flips = list[Flips]()
    for pair in pairs[: options.flips]:
        with suppress(InputError):  # without some instances, the metric may be infinite or undefined
            flips.append(flips_of(pair, how))
    return tuple(flips)


def _report_fields(old: Report, new: Report, options: DiffOptions) -> dict[str, Any]:
    """Return the fields of `Diff` that need two reports.

    If the option `only` names systems, only decisions on pairs with at least one of these systems are kept.
    """
    decided = [_decisions(report) for report in (old, new)]
    chosen, metrics = {*(options.only or [one.name for one in old.systems])}, options.metric
    sides = [(key, before, decided[1][key]) for key, before in decided[0].items() if key in decided[1]]
    sides = [each for each in sides if chosen & {*each[0][:2]} and each[0][2] in (metrics or each[0])]
    changed = [ChangedDecision(*key, a[0], b[0], a[1], b[1], a[2], b[2]) for key, a, b in sides if a[0] != b[0]]
    top: list[dict[str, tuple[str, ...]]] = [{}, {}]
    for groups, report in zip(top, (old, new), strict=True):
        for one in report.systems:
            if one.in_top_group and one.metric in (metrics or [one.metric]):
                groups[one.metric] = (*groups.get(one.metric, ()), one.name)
    settings = [report.settings_dict() for report in (old, new)]
    return {
        "decisions": tuple(changed),
        "num_decisions": len(sides),
        "top_groups": {} if options.only else _changed(*top),
        "settings": _changed(
            {name: own for name, own in ({"runs": None} | settings[0]).items() if name != "data"}, settings[1]
        ),
        "versions": _changed(old.versions, new.versions),
    }


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the values that differ: a dict from a key of `old` to the pair (old value, new value)."""
    return {name: (value, new.get(name)) for name, value in old.items() if value != new.get(name)}


def _decisions(report: Report) -> dict[tuple[str, str, str, str], tuple[str | None, float, float]]:
    """Return a dict from (a, b, metric, test) to the significantly better system (or None), delta, and adjusted p.

    The systems a and b of each pair are in alphabetical order.
    """
    decisions, alpha = {}, report.settings.alpha
    names = ("a", "b", "metric", "test", "delta", "better", "p_adjusted")
    for a, b, metric, test, delta, better, p in zip(*map(report.comparisons.values, names), strict=True):
        key, delta = ((a, b), delta) if a <= b else ((b, a), 0.0 - delta)
        decisions[*key, metric, test] = better if p < alpha else None, delta, p
    return decisions


_ALERTS = {"worse": "CAUTION", "cannot tell": "WARNING", "no worse": "TIP", None: "NOTE"}
"""Dict from a verdict to the kind of GitHub alert that shows it. Tables list the verdicts in this order."""
_MOST_NAMED, _MOST_DECISIONS, _MOST_INSTANCES, _FLIP_RESAMPLES = 5, 20, 10, 10_000
_NO_LIMITS = {True: "few units, or all differ alike, which says nothing of others", False: "a report without intervals"}
"""Why a change has no limits, if the limits come from the paired test (True) and if they do not (False)."""


def _scores(diff: Diff) -> list[Block]:
    """Return a table of changes for each metric; with a margin, the worst change comes first."""
    metrics, parts = list(dict.fromkeys(one.metric for one in diff.changes)), []
    for metric in metrics:
        lower = metric in diff.lower_is_better
        parts += [f"{metric_title(metric)}{' (lower is better)' * lower}:"] if lower or len(metrics) > 1 else []
        of_metric = [one for one in diff.changes if one.metric == metric]
        if changed := [one for one in of_metric if not one.unchanged]:
            if diff.margin is not None:
                order = list(_ALERTS)
                changed.sort(key=lambda one, sign=1.0 - 2.0 * lower: (order.index(one.verdict), sign * one.change))
            spec = number_spec([value for one in changed for value in (one.old, one.new, one.change)])
            columns = {
                "system": [one.name for one in changed],
                "old": [format(one.old, spec) for one in changed],
                "new": [format(one.new, spec) for one in changed],
                "change": [format(one.change, f"+{spec}") for one in changed],
            }
            if diff.margin is not None:
                columns["limits"] = [format_interval(one.limits, f"+{spec}") for one in changed]
                open_by = f"worse, by {diff.margin:g} or less?"
                columns["verdict"] = [
                    open_by if _is_surely_worse(one, lower=lower) else one.verdict or "" for one in changed
                ]
            parts.append(Table.of(columns, names=(0,), optional=("old", "new")))
        if same := [one.name for one in of_metric if one.unchanged]:
            names = f": {', '.join(same)}" if len(same) <= _MOST_NAMED else ""
            parts.append(f"Unchanged on every instance: {count(len(same), 'system')}{names}.")
    return parts


def _is_surely_worse(one: Change, *, lower: bool) -> bool:
    """Whether the verdict is "cannot tell" although the limits exclude any gain: only the size of the loss is open.

    `lower`: whether lower scores are better.
    """
    if one.verdict != "cannot tell" or one.limits is None:
        return False
    return one.limits.low > 0.0 if lower else one.limits.high < 0.0


def _details(diff: Diff) -> list[Block]:
    parts, level = list[Block](), percent(diff.confidence_level)
    if diff.margin is not None and not diff.same_data:
        hold = f"the limit on the side of a loss holds with {level} confidence for each system, the other limit for all"
        verdicts = "No worse: the limit of a loss is within the margin. Worse: the other limit is beyond it."
        if len(diff.changes) == 1:
            hold, verdicts = f"{level} confidence each", "Worse: both beyond the margin; no worse: both within it."
        parts.append(f"limits of new - old: {hold}. {verdicts}")
        if not diff.paired:
            so = "So the limits are those of independent results; on the same instances they are wider than need be."
            parts.append(f"Not paired: {diff.unpaired_reason}. {so}")
        parts += [f"{DASH}: {_NO_LIMITS[diff.paired]}."] if any(one.limits is None for one in diff.changes) else []
    for one in diff.flips:
        parts += [f"{metric_title(one.metric)}, what changed {one.a.removesuffix(' (new)')}:", one.headline]
        parts += one.instances(_MOST_INSTANCES, "JSON has")
    for side, keys in (("old", diff.removed), ("new", diff.added)):
        names = first_of([f"{name} ({metric_title(metric)})" for name, metric in keys], _MOST_NAMED)
        parts += [f"Only on the {side} side: {names}."] if keys else []
    for metric, (old, new) in diff.top_groups.items():
        for names, others, did in ((new or (), old, "joined"), (old, new or (), "left")):
            if moved := [name for name in names if name not in others]:
                parts.append(f"Top group ({metric_title(metric)}): {first_of(moved, _MOST_NAMED)} {did}.")
    for what, changed in (("Settings", diff.settings), ("Versions", diff.versions)):
        if changed:
            values = (f"{name} {_value(old)} -> {_value(new)}" for name, (old, new) in changed.items())
            parts.append(f"{what} changed: {'; '.join(values)}.")
    return [*parts, *_decision_lines(diff)]


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "none" if value is None else str(value)


def _decision_lines(diff: Diff) -> list[Block]:
    if not diff.decisions:
        return [f"Decisions that changed: none of {count(diff.num_decisions, 'pair')}."] * (diff.num_decisions > 0)
    shown = diff.decisions[:_MOST_DECISIONS]
    names = ["a", "b", *(name for name in ("metric", "test") if len({getattr(one, name) for one in shown}) > 1)]
    columns = {name: [getattr(one, name) for one in shown] for name in names}
    columns |= {"metric": list(map(metric_title, columns["metric"]))} if "metric" in columns else {}
    for when in ("old", "new"):
        columns[when] = [{one.a: "a", one.b: "b", None: "none"}[getattr(one, when)] for one in shown]
        columns[f"{when} p"] = [format_p(getattr(one, f"{when}_p")) for one in shown]
    heading = f"Decisions that changed, {len(diff.decisions):,} of {count(diff.num_decisions, 'pair')}:"
    table = Table.of(columns, names=tuple(range(len(names))), optional=("old p", "new p"))
    more = f" JSON has {len(diff.decisions) - len(shown):,} more." * (len(diff.decisions) > len(shown))
    return [heading, table, f"a: a is significantly better; b: b is; none: neither. p is adjusted.{more}"]


_ROUNDING = {"rel_tol": 1e-9, "abs_tol": 1e-12}
"""Numbers within this tolerance are equal, because libraries and processors round functions such as exp differently."""


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Result of `verify`: whether a report was made from these data.

    Attributes:
        text: the answer in one line.
        same_data: whether the data are the same.
        differences: what differs, in words; for numbers, only the first difference. Empty if everything is the same.
    """

    _first = ("text",)

    text: str
    same_data: bool = True
    differences: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether data and numbers are the same, up to rounding."""
        return not self.differences

    def document(self) -> Document:
        """The document has only the answer, in one line."""
        return Document("Verification", "report and data", self.text, [])

    def _fields(self) -> dict[str, Any]:
        return {"same": self.same} | super()._fields()


@takes(StudyOptions)
@with_progress
def verify(report: Any, data: Any, options: StudyOptions) -> Verification:
    """Check that a report was made from these data: compare again, and compare the numbers.

    Give the same options for reading the data, as `read={...}`. Metrics and settings are taken from the report.

    Args:
        report: a `Report`, or the path of its JSON.
        data: the data from which the report was made, in any form that `compare` takes.
        options: the fields of `StudyOptions`, as keyword arguments.

    Raises:
        InputError: the report or the data cannot be read.

    Example:
        >>> answers = {"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 0, 1]}
        >>> report = compare(answers, read={"metric": "accuracy"})
        >>> print(verify(report, answers).text)
        the same data, and the same numbers to the last bit
        >>> print(verify(report, answers | {"B": [0, 1, 0, 0, 0, 0]}).text[:35])
        other data: numbers differ: 'B on i
    """
    report = report if isinstance(report, Report) else Report(**report_fields(report, unchanged=False))
    given = reading(options.read)
    metrics = None if given.metric else metrics_of(report)
    evaluations = study_data(data, given, ALL, metrics=metrics, tasks=True, progress=options.progress)
    again = partial(compare, evaluations, **values(report.settings, device=options.device, progress=options.progress))
    if data_hash(evaluations) != report.data:
        differences = tuple(_other_data(report, evaluations, again))
        return Verification(f"other data: {'; '.join(differences)}", same_data=False, differences=differences)
    if (here := again()) == report:
        return Verification("the same data, and the same numbers to the last bit")
    differs = next(_differences(report, here), None)
    if differs is None:
        return Verification("the same data, and the same numbers up to rounding (1e-9)")
    return Verification(f"the same data, but other numbers: {differs}", differences=(differs,))


def metrics_of(report: Report) -> list[str]:
    """Return the names of the metrics with which the data of a report must be read again.

    For a suite (a mean over several tasks), these are the metrics of the tasks.
    """
    of_tasks = [one.title.rpartition(": ")[2] for one in report.measured if one.title == one.metric]
    return list(dict.fromkeys(of_tasks or [system.metric for system in report.systems]))


def _other_data(report: Report, evaluations: Sequence[EvaluationRecord], again: Callable[[], Report]) -> Iterator[str]:
    """Yield messages that say what differs between the data of a report and `evaluations`, the data now.

    There is at most one message for each kind of content: metrics, names, ids, clusters, strata, runs, numbers. If the
    report holds no scores of instances, `again` repeats the comparison with the data now, to find a difference.
    """
    if not report.evaluations:
        with suppress(InputError):  # the report's settings may be invalid for other data
            yield from islice(_differences(report, again()), 1)
        yield "the report holds no scores of instances, so that ids, clusters and strata cannot be compared"
        return
    there, here = _contents(report.evaluations), _contents(evaluations)
    differences = [difference({what: there[what]}, {what: here[what]}) for what in there]
    yield from filter(None, differences if any(differences) else ["the same numbers are held in another way"])


def _contents(evaluations: Sequence[EvaluationRecord]) -> dict[str, list[str]]:
    """Return the content of evaluations as lists that can be compared: a dict from each kind of content to a list.

    The kinds are metrics, names, ids, clusters, strata, runs and numbers. Metrics, names and ids keep their order. The
    other lists are sorted.
    """
    ids = [each.ids or [f"instance {number}" for number in range(1, each.num_instances + 1)] for each in evaluations]
    contents = {
        "metrics": [each.metric.name for each in evaluations],
        "names": list(dict.fromkeys(name for each in evaluations for name in each.systems)),
        "ids": list(chain(*ids)),
    }
    for kind in ("clusters", "strata", "runs"):
        labels = (zip(own, getattr(each, kind) or (), strict=False) for own, each in zip(ids, evaluations, strict=True))
        contents[kind] = sorted(f"{one} in {label}" for one, label in chain(*labels))
    contents["numbers"] = sorted(
        f"{name} on {one} by {each.metric.name}: {numbers}"
        for own, each in zip(ids, evaluations, strict=True)
        for name, rows in zip(each.systems, each.stats.tolist(), strict=True)
        for one, numbers in zip(own, rows, strict=True)
    )
    return contents


def _differences(there: Report, here: Report) -> Iterator[str]:
    if (len(there.systems), len(there)) != (len(here.systems), len(here)):
        yield f"{len(there.systems)} systems and {len(there)} pairs there, {len(here.systems)} and {len(here)} here"
        return
    for old, new in chain(zip(there.systems, here.systems, strict=True), zip(there, here, strict=True)):
        keys, name = SYSTEM_KEYS, f"{getattr(old, 'name', '')!r} by {old.metric}"
        if isinstance(old, Comparison):
            keys, name = PAIR_KEYS, f"{old.a!r} and {old.b!r} by {old.metric} ({old.test})"
        for key in keys:
            if not _is_equal(before := getattr(old, key), after := getattr(new, key)):
                yield f"{key} of {name} is {before} there and {after} here"


def _is_equal(old: Any, new: Any) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return all(map(_is_equal, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, **_ROUNDING)
    return old == new
