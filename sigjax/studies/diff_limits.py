"""Old and new scores of the same systems, with confidence limits of their changes: paired, or of two reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

import numpy as np

from sigjax.bootstrap.closed import wilson_interval
from sigjax.comparison.metric_kinds import make_case
from sigjax.records import Evaluation, InputError, Interval, Settings, SystemScore
from sigjax.report.report import Report
from sigjax.run.backend import host_scope
from sigjax.studies.equivalence import equivalence
from sigjax.testing.tails import t_quantile

Key = tuple[str, str]
"""A system and a metric."""
LimitsAt = Callable[[float], Interval | None]
"""One-sided error probability -> limits of new - old, each of which errs with it; None where there are none."""
_SAME = Interval(0.0, 0.0)
_BOUNDS = (-1.0, 0.0, 1.0, 100.0)
"""Where intervals of metrics end."""


@dataclass(frozen=True)
class Scores:
    """The scores on both sides.

    Attributes:
        both: the old and the new score of each system by each metric, new - old, and what gives its limits.
        added: those that are only on the new side.
        removed: those that are only on the old side.
        lower_is_better: metrics.
        same_data: whether all results are the same.
        paired: whether limits are by the paired test.
    """

    both: Mapping[Key, tuple[float, float, float, LimitsAt]]
    added: Sequence[Key]
    removed: Sequence[Key]
    lower_is_better: tuple[str, ...]
    same_data: bool
    paired: bool


def report_scores(old: Report, new: Report) -> Scores:
    """The scores of two reports, with limits of independent results.

    Raises:
        InputError: in one report lower scores of a metric are better, and not in the other.
    """
    before, after = ({(one.name, one.metric): one for one in report.systems} for report in (old, new))
    same = old.data == new.data and all(before[key].score == after[key].score for key in before.keys() & after.keys())
    both = {}
    for key, one in before.items():
        if key in after:
            _check_direction(key[1], *(key[1] in each.lower_is_better for each in (old, new)))
            limits = partial(_unpaired, (one, old), (after[key], new))
            old_score, new_score = one.score, after[key].score
            both[key] = old_score, new_score, new_score - old_score, (lambda tail: _SAME) if same else limits
    return Scores(
        both,
        added=[key for key in after if key not in before],
        removed=[key for key in before if key not in after],
        lower_is_better=tuple(dict.fromkeys([*old.lower_is_better, *new.lower_is_better])),
        same_data=same and before.keys() == after.keys(),
        paired=False,
    )


def _check_direction(metric: str, *lower_is_better: bool) -> None:
    if len(set(lower_is_better)) > 1:
        raise InputError(f"lower scores by {metric} are better on one side only; compare both in the same way")


def _unpaired(old: tuple[SystemScore, Report], new: tuple[SystemScore, Report], tail: float) -> Interval | None:
    """Limits of new - old from the arms of both intervals, as if the results were independent."""
    arms, change = [_arms(one, report, tail) for one, report in (old, new)], new[0].score - old[0].score
    known = [each for each in arms if each is not None]
    if len(known) < 2:
        return None
    (old_below, old_above), (new_below, new_above) = known
    return Interval(change - math.hypot(new_below, old_above), change + math.hypot(new_above, old_below))


def _arms(one: SystemScore, report: Report, tail: float) -> tuple[float, float] | None:
    """How far the limits of a score that each err with this probability lie below and above it.

    Wilson's are computed anew. Others grow like the quantiles of Student's t or the normal law, whichever is wider.
    What ends at a bound of the metric does not shrink: without the bound it would end farther away.
    """
    if one.interval is None:
        return None
    units = next((each.units for each in report.measured if each.metric == one.metric), report.num_units)
    level = report.settings.level
    if one.interval_kind == "wilson":
        low, high = wilson_interval(np.array(round(one.score * units)), units, 1.0 - 2.0 * tail)
        return one.score - float(low), float(high) - one.score
    normal = NormalDist().inv_cdf(1.0 - tail) / NormalDist().inv_cdf((1.0 + level) / 2.0)
    degrees = max(units - 1, 1)
    wider = max(normal, t_quantile(1.0 - 2.0 * tail, degrees) / t_quantile(level, degrees))
    below, above = (max(wider, 1.0) if end in _BOUNDS else wider for end in one.interval)
    return below * max(one.score - one.interval.low, 0.0), above * max(one.interval.high - one.score, 0.0)


def paired_scores(old: Sequence[Evaluation], new: Sequence[Evaluation]) -> Scores:
    """The scores of evaluations of the same instances, with limits by the paired test.

    Raises:
        InputError: the instances, their clusters, strata or runs, or a metric differ.
    """
    before, after = ({(name, each.metric.name): each for each in side for name in each.systems} for side in (old, new))
    both, same = {}, before.keys() == after.keys()
    aligned = {each.metric.name: each for each in new}
    for each in old:
        if each.metric.name in aligned:
            aligned[each.metric.name] = _aligned(each, aligned[each.metric.name])
    for key in (key for key in before if key in after):
        pair = _pair(key[0], before[key], aligned[key[1]])
        with host_scope():
            case = make_case(pair, Settings(test="bootstrap", method="montecarlo"))
            new_score, old_score = case.observed_scores
        unchanged = bool((pair.stats[0] == pair.stats[1]).all())
        limits = (lambda tail: _SAME) if unchanged else partial(_paired, pair)
        both[key] = old_score, new_score, case.question.delta((0, 1)), limits
        same = same and unchanged
    return Scores(
        both,
        added=[key for key in after if key not in before],
        removed=[key for key in before if key not in after],
        lower_is_better=tuple(each.metric.name for each in old if not each.metric.higher_is_better),
        same_data=same,
        paired=True,
    )


def _pair(name: str, old: Evaluation, new: Evaluation) -> Evaluation:
    """The new and the old results of a system as two systems."""
    stats = np.stack([side.stats[side.systems.index(name)] for side in (new, old)])
    return replace(old, systems=("new", "old"), stats=stats, notes=())


def _aligned(old: Evaluation, new: Evaluation) -> Evaluation:
    """The new evaluation with its instances in the order of the old one."""
    _check_direction(old.metric.name, not old.metric.higher_is_better, not new.metric.higher_is_better)
    if old.metric.stat_names != new.metric.stat_names:
        raise InputError(f"metric {old.metric.name!r} has other statistics on both sides; extract them anew")
    keys = [_instances(each) for each in (old, new)]
    places = {key: place for place, key in enumerate(keys[1])}
    for side, other, only in ((keys[0], places.keys(), "old"), (keys[1], set(keys[0]), "new")):
        if lacking := [key for key in side if key not in other]:
            many = f"{len(lacking):,} of {len(side):,} instances"
            raise InputError(
                f"{many} are only on the {only} side (the first is {lacking[0]!r}); the paired test needs the same "
                "instances on both"
            )
    order = [places[key] for key in keys[0]]
    for what in ("clusters", "strata"):
        labels, own = getattr(new, what), getattr(old, what)
        if own != (labels and tuple(labels[place] for place in order)):
            raise InputError(f"the {what} of the instances differ; give both sides the same")
    return replace(new, stats=new.stats[:, order])


def _instances(evaluation: Evaluation) -> list[str]:
    """What tells instances apart: ids, with the run where there are some, or else their positions."""
    ids = evaluation.ids or tuple(f"number {number}" for number in range(1, evaluation.num_instances + 1))
    return (
        [f"{each} of run {run}" for each, run in zip(ids, evaluation.runs, strict=True)] if evaluation.runs else [*ids]
    )


def _paired(pair: Evaluation, tail: float) -> Interval | None:
    """Limits of new - old by `equivalence_test`; none where all units differ alike, which says nothing of others."""
    (one,) = equivalence(pair, margin=1.0, level=1.0 - tail)
    return None if one.method == "wide-t" and one.standard_error == 0.0 else one.interval
