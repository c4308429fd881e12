"""What changed between two reports, or two saved evaluations, and whether the new systems are worse by a margin."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sigjax.readers import read_metrics
from sigjax.readers.options import TableOptions, listing
from sigjax.records import Evaluation, InputError, Interval, Settings
from sigjax.records.options import check, option, same
from sigjax.records.signatures import takes
from sigjax.report.report import Report
from sigjax.studies.diff_limits import Key, Scores, paired_scores, report_scores
from sigjax.studies.diff_records import Change, ChangedDecision, Diff, Verdict


@dataclass(frozen=True, kw_only=True)
class DiffOptions:
    """The options of `diff`."""

    margin: float | None = option(
        None,
        "Largest loss of score that does not matter; fix it beforehand.",
        "Without a margin nothing is tested.",
        above=0,
        group="Main options",
    )
    level: float = same(
        Settings, "level", doc="Confidence level of the limits of changes.", above=0.5, group="Main options"
    )
    metric: Sequence[str] = option((), "Compare only the scores by these metrics.", group="Main options")
    systems: Sequence[str] | None = same(TableOptions, "systems", more="")


@takes(DiffOptions)
def diff(old: Any, new: Any, options: DiffOptions) -> Diff:
    r"""What changed between two reports, and with a margin: are the new systems worse by more than that?

    Systems are known by their names. A change, new - old, is "no worse" if its limit on the side of a loss lies within
    the margin, "worse" if its other limit lies beyond it, and else one "cannot tell". The first limit holds for each
    change with the level; the second limits hold together for all changes (Bonferroni). So if any system is worse by
    the margin or more, all are called no worse with a probability of at most 1 - level; and if none is, any is called
    worse with at most that. A score that is missing on the new side leaves the verdict at "cannot tell".

    From two evaluations (`sigjax extract`, `Evaluation.save`) the limits are those of the paired test of
    `equivalence_test`. A report does not hold what both outputs of an instance have in common, and from two reports the
    limits are those of independent results: with arms $l, u$ of the intervals of both scores, $d - \sqrt{l_{new}^2 +
    u_{old}^2}$ and $d + \sqrt{u_{new}^2 + l_{old}^2}$. On the same instances they are wider than need be, since scores
    of old and new outputs rise and fall together. Where all results are the same, nothing is worse.

    Args:
        old: a `Report`, or the path of its JSON; or an `Evaluation`, several by metric, or the path of an .npz file.
        new: the same of the new results.
        options: see `DiffOptions`.

    Raises:
        InputError: something that is neither, two different things, no system and metric on both sides, evaluations of
            other instances, or an option outside its domain.

    Reference: Zou and Donner (2008), "Construction of confidence limits about effect measures: a general approach"; for
    answers right or wrong, Newcombe (1998), "Interval estimation for the difference between independent proportions".

    Example:
        >>> from sigjax import Evaluation
        >>> old = Evaluation.from_arrays({"A": [5, 4, 6, 5, 4, 5, 6, 5], "B": [5, 5, 5, 5, 5, 4, 6, 5]})
        >>> new = Evaluation.from_arrays({"A": [5, 4, 6, 5, 4, 5, 6, 4], "B": [5, 5, 5, 5, 5, 4, 6, 5]})
        >>> [(one.name, one.change, one.verdict) for one in diff(old, new, margin=1.0).changes]
        [('A', -0.125, 'no worse'), ('B', 0.0, 'no worse')]
    """
    check(options)
    before, after = _side(old, "old"), _side(new, "new")
    of_reports: dict[str, Any] = {"decisions": (), "num_decisions": 0, "settings": {}, "versions": {}}
    if isinstance(before, Report) and isinstance(after, Report):
        scores, of_reports = report_scores(before, after), _of_reports(before, after, options)
    elif isinstance(before, list) and isinstance(after, list):
        scores = paired_scores(before, after)
    else:
        raise InputError("old is a report and new is not, or the other way round; give two reports, or two evaluations")
    scores = _chosen(scores, options)
    changes = _changes(scores, options)
    verdicts: list[Verdict | None] = [each.verdict for each in changes]
    if scores.removed and options.margin is not None:
        verdicts.append("cannot tell")
    return Diff(
        verdict=next((each for each in ("worse", "cannot tell", "no worse") if each in verdicts), None),
        margin=options.margin,
        level=options.level,
        paired=scores.paired,
        same_data=scores.same_data,
        changes=changes,
        added=tuple(scores.added),
        removed=tuple(scores.removed),
        lower_is_better=scores.lower_is_better,
        **of_reports,
    )


def _side(given: Any, name: str) -> Report | list[Evaluation]:
    if isinstance(given, str | os.PathLike) and os.fspath(given).endswith(".npz"):
        return list(read_metrics(given))
    if isinstance(given, str | os.PathLike):
        return Report.from_json(given)
    if isinstance(given, Report):
        return given
    evaluations = [given] if isinstance(given, Evaluation) else list(given) if isinstance(given, list | tuple) else []
    if not evaluations or not all(isinstance(each, Evaluation) for each in evaluations):
        raise InputError(f"{name} must be a Report, an Evaluation, or the path of one (.json, .npz), got {given!r:.40}")
    return evaluations


def _chosen(scores: Scores, options: DiffOptions) -> Scores:
    """The scores of the systems and metrics that are asked for."""
    for index, (what, asked) in enumerate((("system", options.systems), ("metric", options.metric))):
        known = list(dict.fromkeys(key[index] for key in scores.both))
        for name in asked or known[:0]:
            if name not in known:
                raise InputError(f"no {what} {name!r} on both sides; those on both are {listing(known)}")
    if not scores.both:
        raise InputError("no system with a score by the same metric is on both sides; systems are known by their names")

    def kept(key: Key) -> bool:
        return key[0] in (options.systems or key) and key[1] in (options.metric or key)

    return replace(
        scores,
        both={key: one for key, one in scores.both.items() if kept(key)},
        added=list(filter(kept, scores.added)),
        removed=list(filter(kept, scores.removed)),
    )


def _changes(scores: Scores, options: DiffOptions) -> tuple[Change, ...]:
    """All changes, with limits and verdicts where there is a margin."""
    alpha, many = 1.0 - options.level, len(scores.both)
    changes = []
    for (name, metric), (old, new, change, limits_at) in scores.both.items():
        sign = -1.0 if metric in scores.lower_is_better else 1.0
        limits = verdict = None
        if options.margin is not None:
            each, together = limits_at(alpha), limits_at(alpha / many)
            if each is not None and together is not None:
                limits = Interval(each.low, together.high) if sign > 0 else Interval(together.low, each.high)
            verdict = _verdict(limits, sign, options.margin)
        changes.append(Change(name, metric, old, new, change, limits, verdict))
    return tuple(changes)


def _verdict(limits: Interval | None, sign: float, margin: float) -> Verdict:
    if limits is None:
        return "cannot tell"
    least, most = sorted((sign * limits.low, sign * limits.high))
    return "no worse" if least > -margin else "worse" if most < -margin else "cannot tell"


def _of_reports(old: Report, new: Report, options: DiffOptions) -> dict[str, Any]:
    """The fields of a `Diff` that only reports have; of pairs that hold one of the chosen systems."""
    decided = [_decisions(report) for report in (old, new)]
    chosen = options.systems or [one.name for one in old.systems]
    shared = [key for key in decided[0] if key in decided[1] and (key[0] in chosen or key[1] in chosen)]
    both = [key for key in shared if key[2] in (options.metric or key)]
    changed = []
    for key in both:
        (before, delta, p), (after, new_delta, new_p) = (each[key] for each in decided)
        if before != after:
            changed.append(ChangedDecision(*key, before, after, delta, new_delta, p, new_p))
    settings = [report.settings_dict() for report in (old, new)]
    return {
        "decisions": tuple(changed),
        "num_decisions": len(both),
        "settings": _changed({name: value for name, value in settings[0].items() if name != "data"}, settings[1]),
        "versions": _changed(old.versions, new.versions),
    }


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The entries that differ, with both values."""
    return {name: (value, new.get(name)) for name, value in old.items() if value != new.get(name)}


def _decisions(report: Report) -> dict[tuple[str, str, str, str], tuple[str | None, float, float]]:
    """a, b (sorted), metric and test of each pair -> the significantly better one, delta of a minus b, adjusted p."""
    decisions, alpha = {}, report.settings.alpha
    names = ("a", "b", "metric", "test", "delta", "better", "p_adjusted")
    for a, b, metric, test, delta, better, p in zip(*map(report.comparisons.values, names), strict=True):
        key, delta = ((a, b), delta) if a <= b else ((b, a), 0.0 - delta)
        decisions[*key, metric, test] = better if p < alpha else None, delta, p
    return decisions
